// What the CUDA driver ABI cannot carry between the runtime and the project's own driver in
// software. The emulator answers cuGetExportTable(kEmulatorTableUuid) with an EmulatorTable; a real
// driver does not know the UUID. Plain C layout, standard headers only: shared by libraries that
// are built apart.
//
// Rule: new members are appended and `sizeBytes` grows; a member that a table is too short for is
// absent.
#pragma once

#include <cstdint>

namespace fp8jit {

/// The UUID to pass to cuGetExportTable, in the byte order of CUuuid::bytes.
inline constexpr unsigned char kEmulatorTableUuid[16] = {
    0x6b, 0x8f, 0x1d, 0x52, 0x0c, 0x3e, 0x4a, 0x77, 0x9a, 0x21, 0xf8, 0x4a, 0x17, 0x46, 0x50, 0x38};

/// Counters of one launch, summed over all warps (per-warp events unless said otherwise).
struct EmulatorCounters {
  std::uint64_t warpInstructions; ///< executed warp instructions of any kind
  std::uint64_t integerInstructions;
  std::uint64_t floatInstructions;   ///< f32 and f16 arithmetic, conversions included
  std::uint64_t mmaFlops;            ///< 2·m·n·k per executed matrix instruction
  std::uint64_t globalLoadSectors;   ///< 32-byte sectors requested by loads and cp.async
  std::uint64_t globalStoreSectors;  ///< 32-byte sectors written by stores, atomics included
  std::uint64_t sharedWavefronts;    ///< shared-memory wavefronts, bank conflicts included
  std::uint64_t sharedBankConflicts; ///< wavefronts beyond the minimum
  std::uint64_t barrierWaits;        ///< named-barrier arrivals
  std::uint64_t blocksExecuted;      ///< blocks that ran; fewer than the grid when sampling
  std::uint64_t blocksTotal;         ///< blocks of the grid

  // Version 2
  std::uint64_t bulkLoadBytes;  ///< that bulk and tensor copies brought to shared memory
  std::uint64_t bulkStoreBytes; ///< that they took from it, reductions included
};

/// Bytes of EmulatorCounters in version 1: what lastCounters writes.
inline constexpr std::uint64_t kEmulatorCountersBytesV1 = 11 * sizeof(std::uint64_t);

/// Strictness: in Strict any finding ends the launch as a fault; in Report only what hardware would
/// fault on does, the rest is printed to standard error.
enum class EmulatorStrictness : std::int32_t { Strict = 0, Report = 1 };

/// When asynchronous operations (cp.async, bulk and tensor copies, wgmma) complete: when they are
/// issued; at the wait that needs them; or at times, and with warps in an order, that follow from a
/// seed.
enum class EmulatorAsyncMode : std::int32_t { Eager = 0, Lazy = 1, Random = 2 };

/// All functions are thread safe, return 0 on success and a CUresult value otherwise, and act on
/// the whole process. Strings are owned by the emulator and live until the next call of the same
/// function on the same thread.
struct EmulatorTable {
  std::uint64_t sizeBytes; ///< sizeof(EmulatorTable) as the emulator was built
  std::uint64_t version;   ///< 2

  /// "fp8jit-emulator <version>"
  const char *(*identity)();
  int (*setStrictness)(EmulatorStrictness strictness);

  /// Tells the PTX that a cubin was compiled from, so that loading that cubin executes that PTX
  /// ("paired mode") with registers, spills and shared memory read from the cubin. The bytes are
  /// copied. A cubin that was never paired is refused with CUDA_ERROR_NO_BINARY_FOR_GPU.
  int (*pairBinary)(const void *cubin, std::uint64_t cubinBytes, const char *ptx,
                    std::uint64_t ptxBytes);

  /// Limits each following launch of the calling thread to at most `blocks` blocks spread over the
  /// grid (0: all). Counters and modelled time are scaled up to the whole grid; results of the
  /// other blocks are not written.
  int (*setBlockSample)(std::uint64_t blocks);

  /// Counters of the last launch of the calling thread, as far as version 1 has them.
  int (*lastCounters)(EmulatorCounters *counters);
  /// Modelled duration of the last launch of the calling thread in nanoseconds. Never a
  /// measurement.
  int (*lastModelledNs)(double *nanoseconds);

  /// The full report of the last fault or finding: kernel, block, thread, PTX line, what happened.
  /// Empty if none.
  const char *(*lastReport)();

  /// Fault injection for tests: the n-th following call (1 = next) of the driver entry point `name`
  /// returns `cuResult` without doing anything. `name` null clears all.
  int (*injectFault)(const char *name, std::uint64_t n, int cuResult);

  // Version 2

  /// Mode of the launches that follow, Lazy before the first call; `seed` is of Random. The
  /// environment variable FP8JIT_EMULATOR_MODE (eager, lazy, random:SEED) sets what it starts with.
  int (*setAsyncMode)(EmulatorAsyncMode mode, std::uint64_t seed);
  /// Whether launches look for races and missing fences: 0 off, 1 on, -1 only when strict (the
  /// start; FP8JIT_EMULATOR_RACES is on or off).
  int (*setRaceChecking)(int isOn);
  /// Host threads that run the clusters of a launch; 0: one per processor (the start;
  /// FP8JIT_EMULATOR_THREADS). Results do not depend on it.
  int (*setHostThreads)(std::uint32_t threads);
  /// The first `sizeBytes` bytes of the counters of the last launch of the calling thread.
  int (*readCounters)(EmulatorCounters *counters, std::uint64_t sizeBytes);
  /// Calls `sink(user, line)` for every instruction that warp `warp` of block `block` (linear)
  /// executes in the launches that follow, with the values that it reads and writes; from the
  /// thread that runs the block. Null ends it.
  int (*setTrace)(void (*sink)(void *user, const char *line), void *user, std::uint64_t block,
                  std::uint64_t warp);
};

} // namespace fp8jit
