// The sizes at which tiles, warps and vectors begin and end, combined so that a short list covers
// each size in each dimension. Main entry: sizeCombinations.
#pragma once

#include <array>
#include <cstdint>
#include <vector>

namespace fp8jit::testing {

inline constexpr std::array<std::int64_t, 14> kEdgeSizes = {1,  2,   7,   16,  17,  63,  64,
                                                            65, 127, 128, 129, 255, 300, 384};

struct Sizes {
  std::int64_t m, n, k;
};

/// 14 combinations in which every size stands once in every place; another `turn` (0 to 13) gives
/// other combinations.
inline std::vector<Sizes> sizeCombinations(std::size_t turn) {
  constexpr std::size_t kCount = kEdgeSizes.size();
  std::vector<Sizes> sizes;
  for (std::size_t i = 0; i < kCount; ++i) {
    // 3 and 5 share no factor with 14, so each column runs through all sizes.
    sizes.push_back({kEdgeSizes[i], kEdgeSizes[(3 * i + turn) % kCount],
                     kEdgeSizes[(5 * i + 2 * turn + 1) % kCount]});
  }
  return sizes;
}

} // namespace fp8jit::testing
