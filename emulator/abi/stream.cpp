// Streams. Work on a stream is finished when the call that enqueued it returns, so that waiting for
// one only reports an earlier fault, which the guard of the entry points does.
#include "emulator/abi/process.h"
#include "entry_points.h"

#include <algorithm>

namespace fp8jit::emulator {

/// The stream behind a handle in the current context, or null.
static std::shared_ptr<Stream> findStream(CUstream handle) {
  return Process::instance().findStream(Process::instance().currentContext(), handle);
}

/// Runs `use(stream)` on a valid handle with a valid place for the answer.
template <typename Use>
static CUresult withStream(CUstream handle, const void *answer, const Use &use) {
  if (answer == nullptr) {
    return CUDA_ERROR_INVALID_VALUE;
  }
  const std::shared_ptr<Stream> stream = findStream(handle);
  if (stream == nullptr) {
    return CUDA_ERROR_INVALID_HANDLE;
  }
  use(*stream);
  return CUDA_SUCCESS;
}

static CUresult createStream(CUstream *handle, unsigned flags, int priority) {
  if (handle == nullptr || (flags & ~unsigned{CU_STREAM_NON_BLOCKING}) != 0) {
    return CUDA_ERROR_INVALID_VALUE;
  }
  Process &process = Process::instance();
  auto stream = std::make_shared<Stream>();
  stream->context = Process::instance().currentContext();
  stream->flags = flags;
  stream->priority = std::clamp(priority, -5, 0);
  stream->id = process.nextId.fetch_add(1);
  *handle = reinterpret_cast<CUstream>(process.streams.add(std::move(stream)));
  return CUDA_SUCCESS;
}

namespace driver {

CUresult cuStreamCreate(CUstream *stream, unsigned int flags) {
  return createStream(stream, flags, 0);
}

CUresult cuStreamCreateWithPriority(CUstream *stream, unsigned int flags, int priority) {
  return createStream(stream, flags, priority);
}

CUresult cuStreamDestroy_v2(CUstream stream) {
  return Process::instance().streams.remove(stream) == nullptr ? CUDA_ERROR_INVALID_HANDLE
                                                               : CUDA_SUCCESS;
}

CUresult cuStreamSynchronize(CUstream stream) {
  return findStream(stream) == nullptr ? CUDA_ERROR_INVALID_HANDLE : CUDA_SUCCESS;
}

CUresult cuStreamQuery(CUstream stream) {
  return driver::cuStreamSynchronize(stream);
}

CUresult cuStreamWaitEvent(CUstream handle, CUevent eventHandle, unsigned int) {
  const std::shared_ptr<Event> event = Process::instance().events.find(eventHandle);
  const std::shared_ptr<Stream> stream = findStream(handle);
  if (event == nullptr || stream == nullptr) {
    return CUDA_ERROR_INVALID_HANDLE;
  }
  double recordedNs = 0;
  {
    const std::lock_guard lock(event->context->clockMutex);
    recordedNs = event->isRecorded ? event->timeNs : 0;
  }
  const std::lock_guard lock(Process::instance().currentContext()->clockMutex);
  stream->clockNs = std::max(stream->clockNs, recordedNs);
  return CUDA_SUCCESS;
}

CUresult cuStreamGetFlags(CUstream stream, unsigned int *flags) {
  return withStream(stream, flags, [&](const Stream &s) { *flags = s.flags; });
}

CUresult cuStreamGetPriority(CUstream stream, int *priority) {
  return withStream(stream, priority, [&](const Stream &s) { *priority = s.priority; });
}

CUresult cuStreamGetId(CUstream stream, unsigned long long *id) {
  return withStream(stream, id, [&](const Stream &s) { *id = s.id; });
}

CUresult cuStreamGetCtx(CUstream stream, CUcontext *context) {
  return withStream(stream, context, [&](const Stream &) {
    *context = Process::instance().currentContext()->handle;
  });
}

CUresult cuStreamIsCapturing(CUstream stream, CUstreamCaptureStatus *status) {
  return withStream(stream, status,
                    [&](const Stream &) { *status = CU_STREAM_CAPTURE_STATUS_NONE; });
}

CUresult cuStreamGetCaptureInfo_v2(CUstream stream, CUstreamCaptureStatus *status, cuuint64_t *,
                                   CUgraph *, const CUgraphNode **, size_t *) {
  return driver::cuStreamIsCapturing(stream, status);
}

CUresult cuStreamGetCaptureInfo_v3(CUstream stream, CUstreamCaptureStatus *status, cuuint64_t *,
                                   CUgraph *, const CUgraphNode **, const CUgraphEdgeData **,
                                   size_t *) {
  return driver::cuStreamIsCapturing(stream, status);
}

CUresult cuThreadExchangeStreamCaptureMode(CUstreamCaptureMode *mode) {
  if (mode == nullptr) {
    return CUDA_ERROR_INVALID_VALUE;
  }
  *mode = CU_STREAM_CAPTURE_MODE_GLOBAL; // without capture no mode has an effect
  return CUDA_SUCCESS;
}

CUresult cuLaunchHostFunc(CUstream stream, CUhostFn function, void *userData) {
  if (function == nullptr) {
    return CUDA_ERROR_INVALID_VALUE;
  }
  return withStream(stream, &function, [&](const Stream &) { function(userData); });
}

} // namespace driver
} // namespace fp8jit::emulator
