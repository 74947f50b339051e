// Faults on demand.
#include "emulator/abi/fault_injection.h"

#include <algorithm>
#include <cctype>

namespace fp8jit::emulator {

/// "cuMemAlloc_v2" and "cuMemcpyHtoD_v2_ptds" to the plain name.
static std::string_view withoutSuffixes(std::string_view name) {
  for (const std::string_view suffix : {"_ptds", "_ptsz"}) {
    if (name.ends_with(suffix)) {
      name.remove_suffix(suffix.size());
    }
  }
  const std::size_t underscore = name.rfind("_v");
  if (underscore == std::string_view::npos || underscore + 2 == name.size()) {
    return name;
  }
  const std::string_view digits = name.substr(underscore + 2);
  const bool isVersion = std::all_of(digits.begin(), digits.end(),
                                     [](unsigned char c) { return std::isdigit(c) != 0; });
  return isVersion ? name.substr(0, underscore) : name;
}

bool FaultInjection::arm(std::string_view name, std::uint64_t n, CUresult result) {
  if (n == 0) {
    return false;
  }
  const std::lock_guard lock(mutex_);
  pending_.insert_or_assign(std::string(withoutSuffixes(name)), Pending{n, result});
  pendingCount_.store(pending_.size(), std::memory_order_release);
  return true;
}

void FaultInjection::clear() {
  const std::lock_guard lock(mutex_);
  pending_.clear();
  pendingCount_.store(0, std::memory_order_release);
}

CUresult FaultInjection::countCall(const char *name) {
  if (pendingCount_.load(std::memory_order_acquire) == 0) {
    return CUDA_SUCCESS;
  }
  const std::lock_guard lock(mutex_);
  const auto found = pending_.find(withoutSuffixes(name));
  if (found == pending_.end() || --found->second.callsLeft > 0) {
    return CUDA_SUCCESS;
  }
  const CUresult result = found->second.result;
  pending_.erase(found);
  pendingCount_.store(pending_.size(), std::memory_order_release);
  return result;
}

} // namespace fp8jit::emulator
