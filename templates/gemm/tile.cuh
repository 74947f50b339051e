// What a thread knows of its place, and the sums that it holds.
#pragma once

#include "slot/config.cuh"

namespace fp8jit {

static_assert(kConfig.isValid(), "the tile configuration breaks a rule of GemmConfig::isValid");

constexpr int kScaleBlocksK =
    kK == 0 ? 0 : (kK - 1) / 128 + 1; // promotions, and block scales along k
constexpr int kMmaM = kConfig.warpTileM() / 16;
constexpr int kMmaN = kConfig.warpTileN() / 8;

/// Sums of one lane: value e of tile (i, j) is row 16i + 8(e / 2), column 8j + e % 2 from the
/// lane's first element.
struct Sums {
  float tile[kMmaM][kMmaN][4];
};

/// The lane's first element of D, and how many rows and columns of D follow it (none if negative).
struct LanePlace {
  long long row;
  long long column;
  int rowsLeft;
  int columnsLeft;
};

} // namespace fp8jit
