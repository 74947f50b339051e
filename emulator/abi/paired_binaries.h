// Cubins whose PTX was handed over: the emulator cannot run machine code, but it can run the PTX
// that the same compilation gave, and take resources from the cubin.
#pragma once

#include <cstdint>
#include <map>
#include <mutex>
#include <optional>
#include <string>
#include <string_view>

namespace fp8jit::emulator {

/// Cubins and the PTX texts that belong to them. Thread safe.
class PairedBinaries {
public:
  /// Remembers `ptx` as the source of `cubin`; the last pairing of equal bytes counts.
  void add(std::string_view cubin, std::string_view ptx);
  /// The PTX of exactly these bytes, if they were paired.
  std::optional<std::string> find(std::string_view cubin) const;

private:
  mutable std::mutex mutex_;                              ///< guards the one below
  std::map<std::string, std::string, std::less<>> texts_; ///< cubin bytes to PTX
};

} // namespace fp8jit::emulator
