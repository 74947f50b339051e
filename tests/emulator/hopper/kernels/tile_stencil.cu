// y[r][c] = x[r-1][c] + x[r+1][c] + x[r][c-1] + x[r][c+1], zero outside of x: tensor copies with
// swizzles and boxes that cross the edges.
//
// A block makes a tile of 8 rows and 16 columns of y. Its box of x is 10 rows of 32 columns (128
// bytes, 128-byte swizzle) and begins one row above and eight columns left of the tile, so that
// coordinates are negative at the first tiles; what lies outside arrives as zero. The tile of y
// (rows of 64 bytes, 64-byte swizzle) is clipped to y as it is stored.
#include "copies.cuh"

constexpr int kTileRows = 8, kTileColumns = 16;
constexpr int kBoxRows = kTileRows + 2;
constexpr int kLeft = 8; // columns of the box before the tile
constexpr int kBoxBytes = kBoxRows * 128;

struct Smem {
  alignas(1024) char x[kBoxBytes];
  alignas(512) char y[kTileRows * 64];
  u64 full;
};

/// Element of the box at `row`, `column`.
static float boxElement(u32 box, int row, int column) {
  return sharedLoad1(box + swizzle128(row * 128 + column * 4));
}

/// xMap: x as [rows, columns] f32 in boxes [10, 32], swizzle 128B; yMap: y in boxes [8, 16],
/// swizzle 64B. Block (128), grid (tiles along columns, tiles along rows).
extern "C" __global__ void __launch_bounds__(128)
    tileStencil(const __grid_constant__ TensorMap xMap, const __grid_constant__ TensorMap yMap) {
  __shared__ Smem smem;
  const int column = threadIdx.x % kTileColumns;
  const int row = threadIdx.x / kTileColumns;
  const int firstColumn = blockIdx.x * kTileColumns;
  const int firstRow = blockIdx.y * kTileRows;
  const u32 box = sharedAddress(smem.x);
  const u32 tile = sharedAddress(smem.y);
  const u32 full = sharedAddress(&smem.full);
  if (threadIdx.x == 0) {
    tensorPrefetch(&xMap);
    SITE("full counts the loader");
    barrierInit(full, 1);
    SITE("barrier to the async proxy");
    barrierInitFence();
    SITE("loader expects a box");
    barrierExpect(full, kBoxBytes);
    SITE("loader copies");
    tensorLoad(box, &xMap, full, firstColumn - kLeft, firstRow - 1);
  }
  SITE("barrier is ready");
  blockSync();
  SITE("box is complete");
  barrierWait(full, 0);
  const int boxRow = row + 1;
  const int boxColumn = column + kLeft;
  SITE("threads read");
  const float up = boxElement(box, boxRow - 1, boxColumn);
  const float down = boxElement(box, boxRow + 1, boxColumn);
  const float left = boxElement(box, boxRow, boxColumn - 1);
  const float right = boxElement(box, boxRow, boxColumn + 1);
  SITE("threads write");
  sharedStore1(tile + swizzle64(row * 64 + column * 4), up + down + left + right);
  SITE("tile to the async proxy");
  fenceAsyncShared();
  SITE("tile is complete");
  blockSync();
  if (threadIdx.x == 0) {
    SITE("storer copies");
    tensorStore(&yMap, tile, firstColumn, firstRow);
    SITE("store commits");
    bulkCommit();
    SITE("store is done");
    bulkWait<0>();
  }
}
