// Cubins and their PTX.
#include "emulator/abi/paired_binaries.h"

namespace fp8jit::emulator {

void PairedBinaries::add(std::string_view cubin, std::string_view ptx) {
  const std::lock_guard lock(mutex_);
  texts_.insert_or_assign(std::string(cubin), std::string(ptx));
}

std::optional<std::string> PairedBinaries::find(std::string_view cubin) const {
  const std::lock_guard lock(mutex_);
  const auto found = texts_.find(cubin);
  return found == texts_.end() ? std::nullopt : std::optional(found->second);
}

} // namespace fp8jit::emulator
