// The process state: devices from the GPU table, handles, settings.
#include "emulator/abi/process.h"

#include <algorithm>

namespace fp8jit::emulator {

Process &Process::instance() {
  // Never destroyed: other libraries may still call the driver while the process ends.
  static Process *const process = new Process;
  return *process;
}

ThreadState &Process::thread() {
  thread_local ThreadState state;
  return state;
}

Process::Process() {
  readEnvironment(settings);
  for (const GpuProfile &profile : kGpuProfiles) {
    const bool isFirstOfArch = findProfileByArch(profile.arch) == &profile;
    if (!isFirstOfArch) {
      continue; // one device per architecture
    }
    Device &device = devices.emplace_back();
    device.ordinal = static_cast<int>(devices.size()) - 1;
    device.profile = &profile;
    device.name = std::string(profile.name) + " (emulated)";
    const std::string text = "fp8jit-sm_" + std::string(profile.arch);
    std::copy_n(text.begin(), std::min(text.size(), device.uuid.size()), device.uuid.begin());
  }
}

Device *Process::findDevice(CUdevice ordinal) {
  const bool isKnown = ordinal >= 0 && static_cast<std::size_t>(ordinal) < devices.size();
  return isKnown ? &devices[static_cast<std::size_t>(ordinal)] : nullptr;
}

std::shared_ptr<Context> Process::currentContext() {
  const std::vector<CUcontext> &stack = thread().contextStack;
  return stack.empty() ? nullptr : contexts.find(stack.back());
}

std::shared_ptr<Stream> Process::findStream(const std::shared_ptr<Context> &context,
                                            CUstream handle) {
  if (handle == nullptr || handle == CU_STREAM_LEGACY) {
    return {context, &context->legacyStream};
  }
  if (handle == CU_STREAM_PER_THREAD) {
    return {context, &context->perThreadStream};
  }
  std::shared_ptr<Stream> stream = streams.find(handle);
  return stream != nullptr && stream->context == context ? stream : nullptr;
}

void Process::destroyContext(CUcontext handle) {
  const std::shared_ptr<Context> context = contexts.remove(handle);
  if (context == nullptr) {
    return;
  }
  streams.removeIf([&](const Stream &stream) { return stream.context == context; });
  events.removeIf([&](const Event &event) { return event.context == context; });
  functions.removeIf([&](const Function &function) { return function.module->context == context; });
  modules.removeIf([&](const LoadedModule &module) { return module.context == context; });
}

void Process::setReport(std::string report) {
  const std::lock_guard lock(reportMutex_);
  report_ = std::move(report);
}

std::string Process::report() const {
  const std::lock_guard lock(reportMutex_);
  return report_;
}

void Process::setTrace(const WarpTrace &trace) {
  const std::lock_guard lock(traceMutex_);
  trace_ = trace;
}

WarpTrace Process::trace() const {
  const std::lock_guard lock(traceMutex_);
  return trace_;
}

void advanceClock(Context &context, Stream &stream, double durationNs) {
  const std::lock_guard lock(context.clockMutex);
  const bool isLegacy = &stream == &context.legacyStream;
  const bool isBlocking = isLegacy || (stream.flags & CU_STREAM_NON_BLOCKING) == 0;
  double start = stream.clockNs;
  if (isLegacy) {
    start = std::max(start, context.blockingClockNs);
  } else if (isBlocking) {
    start = std::max(start, context.legacyStream.clockNs);
  }
  stream.clockNs = start + durationNs;
  if (durationNs > 0) { // work, not an event
    stream.overlappingWrites = nullptr;
  }
  if (isBlocking) {
    context.blockingClockNs = std::max(context.blockingClockNs, stream.clockNs);
  }
}

} // namespace fp8jit::emulator
