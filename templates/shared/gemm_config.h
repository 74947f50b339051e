// The tile configuration of a GEMM kernel and what follows from it, compiled by the host and by
// NVRTC: one source of truth for the tuner, the launcher and the kernel. No includes.
#pragma once

namespace fp8jit {

/// What tuning may choose for the family `mma`. Never changes the numerics.
struct GemmConfig {
  int tileM;  ///< rows of D per block
  int tileN;  ///< columns of D per block
  int tileK;  ///< k per pipeline stage; 64 or 128, so that 128 is a multiple
  int warpsM; ///< warps along m
  int warpsN; ///< warps along n
  int stages; ///< shared-memory stages of the cp.async pipeline
  int groupM; ///< block rows walked together before the next block column (L2 reuse)

  constexpr int warpTileM() const { return tileM / warpsM; }
  constexpr int warpTileN() const { return tileN / warpsN; }
  constexpr int threads() const { return 32 * warpsM * warpsN; }
  /// Dynamic shared memory of one block: the A and B tiles of every stage.
  constexpr int smemBytes() const { return stages * (tileM + tileN) * tileK; }
  /// Whether the kernel template accepts this configuration (limits of the device aside).
  constexpr bool isValid() const {
    return tileM > 0 && tileN > 0 && warpsM > 0 && warpsN > 0 && (tileK == 64 || tileK == 128) &&
           tileM % (16 * warpsM) == 0 && tileN % (16 * warpsN) == 0 && 128 % warpTileN() == 0 &&
           // The running and the partial sums of a thread have to stay in registers.
           warpTileM() * warpTileN() <= 64 * 32 && threads() <= 1024 &&
           // Every pass of the block over a tile fills whole rows of 16-byte chunks.
           tileM * tileK % (16 * threads()) == 0 && tileN * tileK % (16 * threads()) == 0 &&
           stages >= 2 && stages <= 8 && groupM >= 1 && groupM <= 16;
  }
  friend constexpr bool operator==(const GemmConfig &, const GemmConfig &) = default;
};

/// Blocks of a launch with m rows and n columns (one-dimensional grid, at most 2^31-1).
constexpr long long gemmGridBlocks(const GemmConfig &config, long long m, long long n) {
  return ((m + config.tileM - 1) / config.tileM) * ((n + config.tileN - 1) / config.tileN);
}

/// The first element of the tile that a block computes.
struct BlockPlace {
  int row;
  int column;
};

/// Grouped raster: groupM block rows are walked column by column, so that blocks in flight share
/// rows of A and of B in the L2 cache. `block` counts from 0 below gemmGridBlocks. Up to 16 rows of
/// tiles times 2^31 / 16 columns of them stay below 2^32.
constexpr BlockPlace blockPlace(GemmConfig config, unsigned block, int m, int n) {
  const unsigned rows = (static_cast<unsigned>(m) + config.tileM - 1) / config.tileM;
  const unsigned columns =
      n == 0 ? 1 : (static_cast<unsigned>(n) + config.tileN - 1) / config.tileN;
  const unsigned group = block / (config.groupM * columns);
  const unsigned firstRow = group * config.groupM;
  const unsigned groupRows =
      rows - firstRow < static_cast<unsigned>(config.groupM) ? rows - firstRow : config.groupM;
  const unsigned inGroup = block % (config.groupM * columns);
  return {.row = static_cast<int>((firstRow + inGroup % groupRows) * config.tileM),
          .column = static_cast<int>(inGroup / groupRows * config.tileN)};
}

/// The one argument of every GEMM kernel, passed by value. Device pointers; see docs/problems.md
/// for the layouts.
struct GemmParams {
  const unsigned char *a; ///< [m, k] codes
  const unsigned char *b; ///< [n, k] codes
  const float *sa;        ///< scales of A
  const float *sb;        ///< scales of B
  void *d;                ///< [m, n]
  int m;
  float alpha;
};

} // namespace fp8jit
