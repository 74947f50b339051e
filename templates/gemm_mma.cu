// D[m,n] = alpha · sum over k of (A[m,k]·sa)·(B[n,k]·sb), family mma (sm_89 and later mma.sync
// parts).
//
// A: [m, kK] E4M3 and B: [kN, kK] E4M3, both row major; D: [m, kN] row major; scales as in the
// scale part. A block computes a tileM x tileN tile of D; its warps form a warpsM x warpsN grid
// over the tile and all of them copy, load fragments and multiply. Every 128 of k gives a fresh sum
// of the tensor core, which is promoted to FP32 as the scale part says. The configuration never
// changes the order of operations, so it never changes the result.
#include "gemm/ptx.cuh"
#include "gemm/tile.cuh"
#include "slot/config.cuh"
#include "slot/epilogue.cuh"
#include "slot/load.cuh"
#include "slot/scale.cuh"

namespace fp8jit {

constexpr int kChunks = kConfig.tileK / 16;               // 16-byte chunks of a row in a stage
constexpr int kRowsPerPass = kConfig.threads() / kChunks; // rows that the block copies at once
constexpr int kTilesPerBlock = 128 / kConfig.tileK;       // pipeline steps between two promotions
constexpr int kTilesK = kScaleBlocksK * kTilesPerBlock;
constexpr int kBytesA = kConfig.tileM * kConfig.tileK; // of a stage; B follows A
constexpr int kStageBytes = kBytesA + kConfig.tileN * kConfig.tileK;

static_assert(kStageBytes * kConfig.stages == kConfig.smemBytes(),
              "the launcher reserves all stages");

/// Byte offset of a chunk in a tile. The chunks of a row are permuted by the row's 128-byte line,
/// so that eight rows of one column of chunks, which is what ldmatrix reads, lie in different
/// banks.
__device__ inline unsigned chunkOffset(int row, int chunk) {
  const int line = row * kConfig.tileK / 128;
  return row * kConfig.tileK + (chunk ^ (line & (kChunks - 1))) * 16;
}

/// Starts copying a Rows x tileK tile whose first byte is `global`; what lies beyond `rowsLeft`
/// rows or `bytesLeft` of k is cleared.
template <int Rows>
__device__ inline void copyTile(unsigned shared, const unsigned char *global, int rowsLeft,
                                int bytesLeft) {
  const int firstRow = threadIdx.x / kChunks;
  const int chunk = threadIdx.x % kChunks;
  const int valid = min(max(bytesLeft - chunk * 16, 0), 16);
#pragma unroll kCopyUnroll
  for (int pass = 0; pass < Rows / kRowsPerPass; ++pass) {
    const int row = firstRow + pass * kRowsPerPass;
    copyChunk(shared + chunkOffset(row, chunk),
              global + row * static_cast<long long>(kK) + chunk * 16, row < rowsLeft ? valid : 0);
  }
}

/// Multiplies one stage: part = A·Bᵀ over tileK, plus the part so far unless `isFirst`.
__device__ inline void multiplyStage(Sums &part, unsigned stage, int warpRow, int warpColumn,
                                     bool isFirst) {
  const int lane = threadIdx.x % 32;
#pragma unroll
  for (int step = 0; step < kConfig.tileK / 32; ++step) {
    unsigned a[kMmaM][4];
#pragma unroll
    for (int i = 0; i < kMmaM; ++i) {
      const int row = warpRow + i * 16 + lane % 16;
      loadMatrices(a[i], stage + chunkOffset(row, step * 2 + lane / 16));
    }
#pragma unroll
    for (int pair = 0; pair < kMmaN / 2; ++pair) {
      unsigned words[4]; // two column groups of 8, two halves of k each
      const int row = warpColumn + pair * 16 + lane % 8 + lane / 16 * 8;
      loadMatrices(words, stage + kBytesA + chunkOffset(row, step * 2 + lane / 8 % 2));
#pragma unroll
      for (int side = 0; side < 2; ++side) {
        const unsigned b[2] = {words[side * 2], words[side * 2 + 1]};
#pragma unroll
        for (int i = 0; i < kMmaM; ++i) {
          float(&sum)[4] = part.tile[i][pair * 2 + side];
          const float zero[4] = {};
          if (isFirst && step == 0) {
            multiply(sum, a[i], b, zero);
          } else {
            multiply(sum, a[i], b, sum);
          }
        }
      }
    }
  }
}

/// Rounds and stores the lane's results, never outside [m, kN].
__device__ inline void storeSums(const Sums &sum, const GemmParams &params,
                                 const LanePlace &place) {
#pragma unroll
  for (int i = 0; i < kMmaM; ++i) {
#pragma unroll
    for (int half = 0; half < 2; ++half) {
      const int row = i * 16 + half * 8;
      if (row < place.rowsLeft) {
        const long long offset = (place.row + row) * kN + place.column;
#pragma unroll
        for (int j = 0; j < kMmaN; ++j) {
          const float first = __fmul_rn(params.alpha, sum.tile[i][j][half * 2]);
          const float second = __fmul_rn(params.alpha, sum.tile[i][j][half * 2 + 1]);
          storePair(params.d, offset + j * 8, first, second, place.columnsLeft - j * 8);
        }
      }
    }
  }
}

extern "C" __global__ void __launch_bounds__(kConfig.threads(), 1)
    fp8jit_gemm(const __grid_constant__ GemmParams params) {
  extern __shared__ __align__(128) unsigned char stages[];
  const BlockPlace block = blockPlace(kConfig, blockIdx.x, params.m, kN);
  const int rowsLeft = params.m - block.row;
  const int columnsLeft = kN - block.column;
  const int warp = threadIdx.x / 32;
  const int lane = threadIdx.x % 32;
  const int warpRow = warp / kConfig.warpsN * kConfig.warpTileM();
  const int warpColumn = warp % kConfig.warpsN * kConfig.warpTileN();
  const int laneRow = warpRow + lane / 4;
  const int laneColumn = warpColumn + lane % 4 * 2;
  const LanePlace place = {.row = static_cast<long long>(block.row) + laneRow,
                           .column = static_cast<long long>(block.column) + laneColumn,
                           .rowsLeft = rowsLeft - laneRow,
                           .columnsLeft = columnsLeft - laneColumn};
  const unsigned char *const blockA = params.a + static_cast<long long>(block.row) * kK;
  const unsigned char *const blockB = params.b + static_cast<long long>(block.column) * kK;

  // Starts the copies of pipeline step `tile` and closes their group, also when none is left, so
  // that the number of groups tells which steps have landed.
  const auto startCopies = [&](int tile) {
    if (tile < kTilesK) {
      const int firstK = tile * kConfig.tileK;
      const unsigned stage = sharedAddress(stages) + tile % kConfig.stages * kStageBytes;
      copyTile<kConfig.tileM>(stage, blockA + firstK, rowsLeft, kK - firstK);
      copyTile<kConfig.tileN>(stage + kBytesA, blockB + firstK, columnsLeft, kK - firstK);
    }
    commitCopies();
  };

  for (int tile = 0; tile < kConfig.stages - 1; ++tile) {
    startCopies(tile);
  }
  Sums sum = {};
#pragma unroll 1
  for (int blockK = 0; blockK < kScaleBlocksK; ++blockK) {
    const BlockScales scales = loadBlockScales(params, place, blockK);
    Sums part;
#pragma unroll
    for (int step = 0; step < kTilesPerBlock; ++step) {
      const int tile = blockK * kTilesPerBlock + step;
      waitCopies<kConfig.stages - 2>(); // this thread's copies of `tile` have landed
      __syncthreads(); // so have all threads', and all are done reading the stage refilled next
      startCopies(tile + kConfig.stages - 1);
      const unsigned stage = sharedAddress(stages) + tile % kConfig.stages * kStageBytes;
      multiplyStage(part, stage, warpRow, warpColumn, step == 0);
    }
    promote(sum, part, scales);
  }
  if constexpr (kK > 0) { // without k the product is 0 whatever the scales
    applyFinalScales(sum, params, place);
  }
  storeSums(sum, params, place);
}

} // namespace fp8jit
