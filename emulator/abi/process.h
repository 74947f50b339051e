// The state of the driver in one process: devices, live handles, settings. Main entry:
// Process::instance, the one singleton of the project, as the driver's C interface has no other
// place for it.
//
// Lock order: Device::mutex, Library::mutex, then tables, then Stream::mutex, then
// Context::clockMutex. No destructor of an object in a table takes a lock.
#pragma once

#include "emulator/abi/context.h"
#include "emulator/abi/fault_injection.h"
#include "emulator/abi/handle_table.h"
#include "emulator/abi/loaded_code.h"
#include "emulator/abi/paired_binaries.h"
#include "emulator/exec/warp_trace.h"
#include "support/abi/emulator_table.h"

#include <cuda.h>

#include <atomic>
#include <cstdint>
#include <deque>
#include <memory>
#include <mutex>
#include <string>
#include <vector>

namespace fp8jit::emulator {

/// What belongs to one host thread.
struct ThreadState {
  std::vector<CUcontext> contextStack; ///< back is current; may hold handles of dead contexts
  std::uint64_t blockSample = 0;       ///< see EmulatorTable::setBlockSample
  EmulatorCounters lastCounters{};
  double lastModelledNs = 0;
  std::string returnedReport; ///< storage of the string that lastReport returned
};

/// How launches run, as the project's own table and the environment set it. All members are thread
/// safe, mode and seed together change between launches only.
struct RunSettings {
  std::atomic<EmulatorStrictness> strictness{EmulatorStrictness::Report};
  std::atomic<EmulatorAsyncMode> asyncMode{EmulatorAsyncMode::Lazy};
  std::atomic<std::uint64_t> seed{0};
  std::atomic<int> raceChecking{-1};         ///< 0 off, 1 on, -1 only when strict
  std::atomic<std::uint32_t> hostThreads{0}; ///< 0: one per processor
};

/// Reads FP8JIT_EMULATOR_MODE, FP8JIT_EMULATOR_STRICT, FP8JIT_EMULATOR_RACES and
/// FP8JIT_EMULATOR_THREADS, for programs that do not know the table. A value that cannot be
/// understood is said on the log and ignored.
void readEnvironment(RunSettings &settings);

/// Everything the driver knows. All members are thread safe.
class Process {
public:
  /// The process's driver state; lives until the process ends.
  static Process &instance();
  /// The calling thread's state.
  static ThreadState &thread();

  std::deque<Device> devices; ///< constant after construction, but for what Device::mutex guards
  std::atomic<bool> isInitialized{false};
  RunSettings settings;
  std::atomic<unsigned long long> nextId{1}; ///< of streams and contexts

  HandleTable<Context> contexts;
  HandleTable<Stream> streams;
  HandleTable<Event> events;
  HandleTable<LoadedModule> modules;
  HandleTable<Function> functions;
  HandleTable<Library> libraries;
  HandleTable<LibraryKernel> kernels;

  PairedBinaries pairedBinaries;
  FaultInjection faultInjection;

  /// The device of an ordinal, or null.
  Device *findDevice(CUdevice ordinal);
  /// The calling thread's current context, or null if there is none or it was destroyed.
  std::shared_ptr<Context> currentContext();
  /// Resolves a stream handle, special ones included, in `context`; null for an unknown handle. The
  /// result keeps the context alive.
  std::shared_ptr<Stream> findStream(const std::shared_ptr<Context> &context, CUstream handle);
  /// Removes a context and all that belongs to it.
  void destroyContext(CUcontext handle);

  /// Keeps the report of the last fault or finding, for lastReport.
  void setReport(std::string report);
  std::string report() const;

  /// What to trace in the launches that follow.
  void setTrace(const WarpTrace &trace);
  WarpTrace trace() const;

private:
  Process();

  mutable std::mutex reportMutex_; ///< guards the one below
  std::string report_;
  mutable std::mutex traceMutex_; ///< guards the one below
  WarpTrace trace_;
};

} // namespace fp8jit::emulator
