// gemm_cooperative.cu: two persistent blocks, two tiles each, whole numbers and scales that are
// powers of two, so that every sum is exact and the result is its bf16 rounding.
#include "tests/emulator/hopper/scenario.h"

namespace fp8jit::testing {

static constexpr int kCooperativeM = 256, kCooperativeN = 128, kCooperativeK = 512,
                     kCooperativeBlocksK = kCooperativeK / 128;

/// What the kernel's Shape holds.
struct CooperativeShape {
  int tilesM, tilesN, blocksK;
};

static std::vector<std::uint16_t> productOf(const std::vector<int> &a, const std::vector<int> &b,
                                            const std::vector<float> &scaleA,
                                            const std::vector<float> &scaleB) {
  std::vector<std::uint16_t> d(kCooperativeM * kCooperativeN);
  for (std::size_t m = 0; m < kCooperativeM; ++m) {
    for (std::size_t n = 0; n < kCooperativeN; ++n) {
      double sum = 0;
      for (std::size_t k = 0; k < kCooperativeK; ++k) {
        const double scale =
            static_cast<double>(scaleA[k / 128 * kCooperativeM + m]) * scaleB[k / 128];
        sum += scale * a[m * kCooperativeK + k] * b[n * kCooperativeK + k];
      }
      d[m * kCooperativeN + n] = bf16Code(static_cast<float>(sum));
    }
  }
  return d;
}

static std::vector<std::uint8_t> codesOf(const std::vector<int> &values, int mantissaBits) {
  std::vector<std::uint8_t> codes(values.size());
  for (std::size_t i = 0; i < values.size(); ++i) {
    codes[i] = fp8Code(values[i], mantissaBits);
  }
  return codes;
}

static std::vector<float> powersOfTwo(std::size_t count, unsigned seed) {
  std::vector<float> scales = randomIntegers<float>(count, 0, 3, seed);
  for (float &scale : scales) {
    scale = 0.25F * static_cast<float>(1 << static_cast<int>(scale));
  }
  return scales;
}

static std::string runGemmCooperative(Device &device) {
  const std::vector<int> a = randomIntegers<int>(kCooperativeM * kCooperativeK, -4, 4, 5);
  const std::vector<int> b = randomIntegers<int>(kCooperativeN * kCooperativeK, -4, 4, 6);
  const std::vector<float> scaleA = powersOfTwo(kCooperativeBlocksK * kCooperativeM, 7);
  const std::vector<float> scaleB = powersOfTwo(kCooperativeN / 128 * kCooperativeBlocksK, 8);
  MatrixMap bytes = {.type = CU_TENSOR_MAP_DATA_TYPE_UINT8,
                     .address = device.upload(codesOf(a, 3)),
                     .elementBytes = 1,
                     .rows = kCooperativeM,
                     .columns = kCooperativeK,
                     .boxRows = 128,
                     .boxColumns = 128,
                     .swizzle = CU_TENSOR_MAP_SWIZZLE_128B};
  const CUtensorMap aMap = device.encode(bytes);
  bytes.address = device.upload(codesOf(b, 3));
  bytes.rows = kCooperativeN;
  bytes.boxRows = 64;
  const CUtensorMap bMap = device.encode(bytes);
  const CUtensorMap scaleAMap = device.encode({.address = device.upload(scaleA),
                                               .rows = kCooperativeBlocksK,
                                               .columns = kCooperativeM,
                                               .boxColumns = 128});
  const CUdeviceptr d = device.upload(std::vector<std::uint16_t>(kCooperativeM * kCooperativeN));
  const CUtensorMap dMap = device.encode({.type = CU_TENSOR_MAP_DATA_TYPE_BFLOAT16,
                                          .address = d,
                                          .elementBytes = 2,
                                          .rows = kCooperativeM,
                                          .columns = kCooperativeN,
                                          .boxRows = 64,
                                          .boxColumns = 64,
                                          .swizzle = CU_TENSOR_MAP_SWIZZLE_128B});
  const CUdeviceptr scaleBAddress = device.upload(scaleB);
  const CooperativeShape shape = {kCooperativeM / 128, kCooperativeN / 64, kCooperativeBlocksK};
  const unsigned sharedBytes = 2 * 8192 + 3 * (16384 + 8192 + 512) + 2 * 3 * 8;

  device.launch("gemmCooperative", {.gridX = 2, .block = 384, .sharedBytes = sharedBytes}, aMap,
                bMap, scaleAMap, dMap, scaleBAddress, shape);

  return firstDifference(device.download<std::uint16_t>(d, kCooperativeM * kCooperativeN),
                         productOf(a, b, scaleA, scaleB));
}

Scenario gemmCooperativeScenario() {
  return {
      "GemmCooperative",
      "gemm_cooperative.ptx",
      runGemmCooperative,
      {
          operand("mbarrier.init", "full counts the producer", "2", "is in a deadlock",
                  "consumer waits for full"),
          operand("mbarrier.init", "empty counts the consumer warps", "7",
                  "no wgmma.wait_group and barrier", "producer loads a"),
          operand("mbarrier.init", "empty counts the consumer warps", "9", "is in a deadlock",
                  "producer waits for empty"),
          removed("fence.mbarrier_init", "barriers to the async proxy",
                  "no fence.proxy.async or fence.mbarrier_init", "producer loads a"),
          removed("bar.sync", "barriers are ready", "no barrier lies between",
                  "consumer waits for full"),
          removed("setmaxnreg", "producer gives registers", "is in a deadlock",
                  "consumer takes registers"),
          operand("setmaxnreg", "producer gives registers", "48", "is in a deadlock",
                  "consumer takes registers"),
          operand("setmaxnreg", "consumer takes registers", "240", "is in a deadlock"),
          skippedWait("producer waits for empty", "expects 0 more", "producer expects a stage"),
          flippedParity("producer waits for empty", "is in a deadlock"),
          operand("expect_tx", "producer expects a stage", "24576", "was never written",
                  "consumer reads scales"),
          operand("expect_tx", "producer expects a stage", "25104", "is in a deadlock",
                  "consumer waits for full"),
          removed("cp.async.bulk.tensor", "producer loads b", "is in a deadlock",
                  "consumer waits for full"),
          skippedWait("consumer waits for full", "was never written", "consumer reads scales"),
          flippedParity("consumer waits for full", "was never written", "consumer reads scales"),
          removed("wgmma.fence", "accumulators to wgmma", "needs a wgmma.fence before it",
                  "consumer multiplies"),
          removed("wgmma.commit_group", "products commit", "no wgmma.wait_group covers it",
                  "consumer gives the stage back"),
          removed("wgmma.wait_group", "products are complete", "no wgmma.wait_group covers it",
                  "consumer gives the stage back"),
          operand("wgmma.wait_group", "products are complete", "1", "no wgmma.wait_group covers it",
                  "consumer gives the stage back"),
          removed("mbarrier.arrive", "consumer gives the stage back", "is in a deadlock",
                  "producer waits for empty"),
          removed("cp.async.bulk.wait_group.read", "the last tile has been read",
                  "no cp.async.bulk.wait_group and barrier", "consumer writes"),
          operand("cp.async.bulk.wait_group.read", "the last tile has been read", "1",
                  "no cp.async.bulk.wait_group and barrier", "consumer writes"),
          removed("bar.sync", "result tile is free", "no cp.async.bulk.wait_group and barrier",
                  "consumer writes"),
          removed("fence.proxy.async", "result tile to the async proxy",
                  "no fence.proxy.async lies between", "consumer stores"),
          removed("bar.sync", "result tile is complete", "no barrier orders the two",
                  "consumer stores"),
          removed("cp.async.bulk.commit_group", "store commits",
                  "no cp.async.bulk.wait_group and barrier", "consumer writes"),
          removed("cp.async.bulk.wait_group", "all stores are done", "is pending while the block",
                  "consumer stores"),
      },
      {},
  };
}

} // namespace fp8jit::testing
