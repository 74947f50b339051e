// cuGetProcAddress over the generated table of entry points.
#define __CUDA_API_VERSION_INTERNAL // the library's own names, old versions included
#include "emulator/abi/process.h"
#include "emulator/abi/profiler_api.h"

#include <cuda.h>

#include <algorithm>
#include <iterator>
#include <string_view>

namespace fp8jit::emulator {
namespace {

struct ProcEntry {
  std::string_view name;
  int sinceVersion = 0; ///< CUDA version in which this signature appeared
  void *function = nullptr;
};

} // namespace

/// Sorted by name, then version.
static const ProcEntry *findEntry(std::string_view name, int version, bool &isKnownName) {
#define PROC_ENTRY(entryName, version, function)                                                   \
  {entryName, version, reinterpret_cast<void *>(&::function)},
  static const ProcEntry kEntries[] = {
#include "proc_table.inc"
  };
#undef PROC_ENTRY
  const ProcEntry *best = nullptr;
  const auto *entry =
      std::lower_bound(std::begin(kEntries), std::end(kEntries), name,
                       [](const ProcEntry &row, std::string_view key) { return row.name < key; });
  isKnownName = entry != std::end(kEntries) && entry->name == name;
  for (; entry != std::end(kEntries) && entry->name == name; ++entry) {
    if (entry->sinceVersion <= version) {
      best = entry;
    }
  }
  return best;
}

namespace driver {

CUresult cuGetProcAddress_v2(const char *symbol, void **pfn, int cudaVersion, cuuint64_t flags,
                             CUdriverProcAddressQueryResult *symbolStatus) {
  constexpr cuuint64_t kBothStreams =
      CU_GET_PROC_ADDRESS_LEGACY_STREAM | CU_GET_PROC_ADDRESS_PER_THREAD_DEFAULT_STREAM;
  if (symbol == nullptr || pfn == nullptr || (flags & ~kBothStreams) != 0 ||
      flags == kBothStreams) {
    return CUDA_ERROR_INVALID_VALUE;
  }
  bool isKnownName = false;
  const ProcEntry *entry = findEntry(symbol, cudaVersion, isKnownName);
  *pfn = entry == nullptr ? nullptr : entry->function;
  if (symbolStatus != nullptr) {
    *symbolStatus = entry != nullptr ? CU_GET_PROC_ADDRESS_SUCCESS
                    : isKnownName    ? CU_GET_PROC_ADDRESS_VERSION_NOT_SUFFICIENT
                                     : CU_GET_PROC_ADDRESS_SYMBOL_NOT_FOUND;
  }
  return entry == nullptr ? CUDA_ERROR_NOT_FOUND : CUDA_SUCCESS;
}

CUresult cuGetProcAddress(const char *symbol, void **pfn, int cudaVersion, cuuint64_t flags) {
  return driver::cuGetProcAddress_v2(symbol, pfn, cudaVersion, flags, nullptr);
}

} // namespace driver
} // namespace fp8jit::emulator
