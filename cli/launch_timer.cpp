#include "cli/launch_timer.h"

#include "cli/session.h"

namespace fp8jit {

/// Long enough to hide the cost of the events, short enough for the largest problems.
static constexpr int kBatchLaunches = 20;

static llvm::Error launchTimes(int count, void *stream,
                               llvm::function_ref<Result<void>(Stream)> launch) {
  for (int i = 0; i < count; ++i) {
    if (llvm::Error error = toError(launch(stream))) {
      return error;
    }
  }
  return llvm::Error::success();
}

llvm::Expected<double> runTimed(Device &device, llvm::function_ref<Result<void>(Stream)> launch) {
  llvm::Expected<DeviceStream> stream = device.createStream();
  if (!stream) {
    return stream.takeError();
  }
  llvm::Expected<DeviceEvent> start = device.createEvent();
  if (!start) {
    return start.takeError();
  }
  llvm::Expected<DeviceEvent> stop = device.createEvent();
  if (!stop) {
    return stop.takeError();
  }
  const int count = device.isEmulated() ? 1 : kBatchLaunches;
  if (llvm::Error error = launchTimes(device.isEmulated() ? 0 : 1, stream->handle(), launch)) {
    return error;
  }
  if (llvm::Error error = start->record(stream->handle())) {
    return error;
  }
  if (llvm::Error error = launchTimes(count, stream->handle(), launch)) {
    return error;
  }
  if (llvm::Error error = stop->record(stream->handle())) {
    return error;
  }
  if (llvm::Error error = stream->synchronize()) {
    return error;
  }
  llvm::Expected<double> elapsedNs = stop->elapsedNsSince(*start);
  if (!elapsedNs) {
    return elapsedNs.takeError();
  }
  return *elapsedNs / count;
}

} // namespace fp8jit
