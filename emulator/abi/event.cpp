// Events. An event holds a time of its stream's modelled clock, so that elapsed times are modelled
// and the same in every run.
#include "emulator/abi/process.h"
#include "entry_points.h"

namespace fp8jit::emulator {

static std::shared_ptr<Event> findEvent(CUevent handle) {
  return Process::instance().events.find(handle);
}

void recordEvent(Event &event, Context &context, Stream &stream) {
  advanceClock(context, stream, 0); // brings the clock up to what the stream waits for
  const std::lock_guard lock(context.clockMutex);
  event.isRecorded = true;
  event.timeNs = stream.clockNs;
}

namespace driver {

CUresult cuEventCreate(CUevent *handle, unsigned int flags) {
  constexpr unsigned kKnownFlags =
      CU_EVENT_BLOCKING_SYNC | CU_EVENT_DISABLE_TIMING | CU_EVENT_INTERPROCESS;
  if (handle == nullptr || (flags & ~kKnownFlags) != 0) {
    return CUDA_ERROR_INVALID_VALUE;
  }
  if ((flags & CU_EVENT_INTERPROCESS) != 0) {
    return CUDA_ERROR_NOT_SUPPORTED;
  }
  Process &process = Process::instance();
  auto event = std::make_shared<Event>();
  event->context = process.currentContext();
  event->flags = flags;
  *handle = reinterpret_cast<CUevent>(process.events.add(std::move(event)));
  return CUDA_SUCCESS;
}

CUresult cuEventDestroy_v2(CUevent event) {
  return Process::instance().events.remove(event) == nullptr ? CUDA_ERROR_INVALID_HANDLE
                                                             : CUDA_SUCCESS;
}

CUresult cuEventRecord(CUevent eventHandle, CUstream streamHandle) {
  Process &process = Process::instance();
  const std::shared_ptr<Context> context = process.currentContext();
  const std::shared_ptr<Event> event = findEvent(eventHandle);
  const std::shared_ptr<Stream> stream = process.findStream(context, streamHandle);
  if (event == nullptr || stream == nullptr || event->context != context) {
    return CUDA_ERROR_INVALID_HANDLE;
  }
  recordEvent(*event, *context, *stream);
  return CUDA_SUCCESS;
}

CUresult cuEventRecordWithFlags(CUevent event, CUstream stream, unsigned int flags) {
  return flags == CU_EVENT_RECORD_DEFAULT ? driver::cuEventRecord(event, stream)
                                          : CUDA_ERROR_NOT_SUPPORTED;
}

CUresult cuEventSynchronize(CUevent event) {
  return findEvent(event) == nullptr ? CUDA_ERROR_INVALID_HANDLE : CUDA_SUCCESS;
}

CUresult cuEventQuery(CUevent event) {
  return driver::cuEventSynchronize(event);
}

CUresult cuEventElapsedTime_v2(float *milliseconds, CUevent startHandle, CUevent endHandle) {
  constexpr double kNsPerMs = 1e6;
  const std::shared_ptr<Event> start = findEvent(startHandle);
  const std::shared_ptr<Event> end = findEvent(endHandle);
  if (milliseconds == nullptr) {
    return CUDA_ERROR_INVALID_VALUE;
  }
  if (start == nullptr || end == nullptr || start->context != end->context) {
    return CUDA_ERROR_INVALID_HANDLE;
  }
  const std::lock_guard lock(start->context->clockMutex);
  const bool isTimed = ((start->flags | end->flags) & CU_EVENT_DISABLE_TIMING) == 0;
  if (!isTimed || !start->isRecorded || !end->isRecorded) {
    return CUDA_ERROR_INVALID_HANDLE;
  }
  *milliseconds = static_cast<float>((end->timeNs - start->timeNs) / kNsPerMs);
  return CUDA_SUCCESS;
}

CUresult cuEventElapsedTime(float *milliseconds, CUevent start, CUevent end) {
  return driver::cuEventElapsedTime_v2(milliseconds, start, end);
}

} // namespace driver
} // namespace fp8jit::emulator
