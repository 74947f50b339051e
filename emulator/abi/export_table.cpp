// cuGetExportTable: the project's own table, for what the driver's interface cannot carry.
#include "emulator/abi/log.h"
#include "emulator/abi/process.h"
#include "entry_points.h"

#include <cstring>

namespace fp8jit::emulator {

static const char *identity() {
  return "fp8jit-emulator " FP8JIT_VERSION;
}

static int setStrictness(EmulatorStrictness strictness) {
  if (strictness != EmulatorStrictness::Strict && strictness != EmulatorStrictness::Report) {
    return CUDA_ERROR_INVALID_VALUE;
  }
  Process::instance().settings.strictness.store(strictness);
  return CUDA_SUCCESS;
}

static int pairBinary(const void *cubin, std::uint64_t cubinBytes, const char *ptx,
                      std::uint64_t ptxBytes) {
  if (cubin == nullptr || ptx == nullptr || cubinBytes == 0 || ptxBytes == 0) {
    return CUDA_ERROR_INVALID_VALUE;
  }
  std::string_view text(ptx, ptxBytes);
  text = text.substr(0, text.find('\0')); // compilers count the terminator
  Process::instance().pairedBinaries.add({static_cast<const char *>(cubin), cubinBytes}, text);
  return CUDA_SUCCESS;
}

static int setBlockSample(std::uint64_t blocks) {
  Process::thread().blockSample = blocks;
  return CUDA_SUCCESS;
}

static int readCounters(EmulatorCounters *counters, std::uint64_t sizeBytes) {
  if (counters == nullptr || sizeBytes > sizeof(EmulatorCounters)) {
    return CUDA_ERROR_INVALID_VALUE;
  }
  std::memcpy(counters, &Process::thread().lastCounters, sizeBytes);
  return CUDA_SUCCESS;
}

static int lastCounters(EmulatorCounters *counters) {
  return readCounters(counters, kEmulatorCountersBytesV1);
}

static int setAsyncMode(EmulatorAsyncMode mode, std::uint64_t seed) {
  if (mode < EmulatorAsyncMode::Eager || mode > EmulatorAsyncMode::Random) {
    return CUDA_ERROR_INVALID_VALUE;
  }
  Process::instance().settings.asyncMode.store(mode);
  Process::instance().settings.seed.store(seed);
  return CUDA_SUCCESS;
}

static int setRaceChecking(int isOn) {
  if (isOn < -1 || isOn > 1) {
    return CUDA_ERROR_INVALID_VALUE;
  }
  Process::instance().settings.raceChecking.store(isOn);
  return CUDA_SUCCESS;
}

static int setHostThreads(std::uint32_t threads) {
  Process::instance().settings.hostThreads.store(threads);
  return CUDA_SUCCESS;
}

static int setTrace(void (*sink)(void *, const char *), void *user, std::uint64_t block,
                    std::uint64_t warp) {
  Process::instance().setTrace({.sink = sink, .user = user, .block = block, .warp = warp});
  return CUDA_SUCCESS;
}

static int lastModelledNs(double *nanoseconds) {
  if (nanoseconds == nullptr) {
    return CUDA_ERROR_INVALID_VALUE;
  }
  *nanoseconds = Process::thread().lastModelledNs;
  return CUDA_SUCCESS;
}

static const char *lastReport() {
  ThreadState &thread = Process::thread();
  thread.returnedReport = Process::instance().report();
  return thread.returnedReport.c_str();
}

static int injectFault(const char *name, std::uint64_t n, int result) {
  FaultInjection &injection = Process::instance().faultInjection;
  if (name == nullptr) {
    injection.clear();
    return CUDA_SUCCESS;
  }
  return injection.arm(name, n, static_cast<CUresult>(result)) ? CUDA_SUCCESS
                                                               : CUDA_ERROR_INVALID_VALUE;
}

namespace driver {

CUresult cuGetExportTable(const void **table, const CUuuid *id) {
  static constexpr EmulatorTable kTable = {.sizeBytes = sizeof(EmulatorTable),
                                           .version = 2,
                                           .identity = identity,
                                           .setStrictness = setStrictness,
                                           .pairBinary = pairBinary,
                                           .setBlockSample = setBlockSample,
                                           .lastCounters = lastCounters,
                                           .lastModelledNs = lastModelledNs,
                                           .lastReport = lastReport,
                                           .injectFault = injectFault,
                                           .setAsyncMode = setAsyncMode,
                                           .setRaceChecking = setRaceChecking,
                                           .setHostThreads = setHostThreads,
                                           .readCounters = readCounters,
                                           .setTrace = setTrace};
  if (table == nullptr || id == nullptr) {
    return CUDA_ERROR_INVALID_VALUE;
  }
  const bool isOurs = std::memcmp(id->bytes, kEmulatorTableUuid, sizeof kEmulatorTableUuid) == 0;
  *table = isOurs ? &kTable : nullptr;
  return isOurs ? CUDA_SUCCESS : CUDA_ERROR_NOT_FOUND;
}

} // namespace driver
} // namespace fp8jit::emulator
