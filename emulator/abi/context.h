// Devices, contexts, streams and events of the driver in software.
//
// Streams execute at once, on the calling thread, in the order of the calls: a legal schedule. What
// remains of asynchrony is the modelled clock: every stream has one, launches and copies advance
// it, events read it.
#pragma once

#include "emulator/exec/byte_ranges.h"
#include "emulator/exec/global_memory.h"
#include "generator/profiles/gpu_profile.h"

#include <cuda.h>

#include <array>
#include <atomic>
#include <cstdint>
#include <memory>
#include <mutex>
#include <string>

namespace fp8jit::emulator {

struct Context;

/// One emulated GPU. Its address is the handle of its primary context.
struct Device {
  int ordinal = 0;
  const GpuProfile *profile = nullptr;
  std::string name; ///< profile name and " (emulated)"
  std::array<char, 16> uuid{};

  std::mutex mutex; ///< guards the two below
  unsigned primaryRetains = 0;
  unsigned primaryFlags = 0;

  CUcontext primaryHandle() { return reinterpret_cast<CUcontext>(this); }
};

/// A stream. Work on it is serialised by `mutex`.
struct Stream {
  std::shared_ptr<Context> context; ///< null in the two streams that the context itself holds
  unsigned flags = 0;
  int priority = 0;
  unsigned long long id = 0;
  std::mutex mutex;
  double clockNs = 0; ///< this and the next guarded by Context::clockMutex
  /// What the latest launch wrote, if launches behind it may start before it has ended; null after
  /// any other work.
  std::shared_ptr<const ByteRanges> overlappingWrites;
};

/// An event; recorded at a time of its stream's modelled clock.
struct Event {
  std::shared_ptr<Context> context;
  unsigned flags = 0;
  bool isRecorded = false; ///< this and the next guarded by Context::clockMutex
  double timeNs = 0;
};

/// A context: memory, its fault, its clocks. A reset primary context is a new object under the old
/// handle.
struct Context {
  Context(Device &owner, CUcontext ownHandle, unsigned creationFlags, unsigned long long ownId)
      : device(owner), handle(ownHandle), flags(creationFlags), id(ownId),
        memory(static_cast<std::uint64_t>(owner.profile->dramBytes)) {}

  Device &device;
  CUcontext handle; ///< constant once the context is in use
  const unsigned flags;
  const unsigned long long id;
  GlobalMemory memory;
  std::atomic<CUresult> stickyError{CUDA_SUCCESS}; ///< set by a faulting launch, never cleared

  Stream legacyStream;    ///< stream 0: ordered with every blocking stream
  Stream perThreadStream; ///< CU_STREAM_PER_THREAD, one for all threads

  std::mutex clockMutex;      ///< guards the clocks of all streams and events, and the one below
  double blockingClockNs = 0; ///< latest time of any blocking stream
};

/// Advances the modelled clock of `stream` by `durationNs`, keeping the order between the legacy
/// stream and blocking streams.
void advanceClock(Context &context, Stream &stream, double durationNs);

/// Records `event`, of the same context, at the present of `stream`.
void recordEvent(Event &event, Context &context, Stream &stream);

} // namespace fp8jit::emulator
