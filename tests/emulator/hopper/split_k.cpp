// split_k.cu: a product of [128, 128], K = 384 in two parts; whole numbers, exact in any order.
#include "tests/emulator/hopper/scenario.h"

namespace fp8jit::testing {

static std::vector<std::uint16_t> bf16CodesOf(const std::vector<float> &values) {
  std::vector<std::uint16_t> codes(values.size());
  for (std::size_t i = 0; i < values.size(); ++i) {
    codes[i] = bf16Code(values[i]);
  }
  return codes;
}

static std::string runSplitK(Device &device) {
  constexpr int kM = 128, kN = 128, kK = 384, kSplits = 2;
  const std::vector<float> a = randomIntegers<float>(kM * kK, -9, 9, 21);
  const std::vector<float> b = randomIntegers<float>(kK * kN, -9, 9, 22);
  std::vector<float> expected = randomIntegers<float>(kM * kN, -100, 100, 23);
  const std::vector<float> before = expected;
  std::vector<float> expectedNorms(kM);
  for (std::size_t m = 0; m < kM; ++m) {
    for (std::size_t k = 0; k < kK; ++k) {
      expectedNorms[m] += a[m * kK + k];
      for (std::size_t n = 0; n < kN; ++n) {
        expected[m * kN + n] += a[m * kK + k] * b[k * kN + n];
      }
    }
  }
  MatrixMap operand = {.type = CU_TENSOR_MAP_DATA_TYPE_BFLOAT16,
                       .address = device.upload(bf16CodesOf(a)),
                       .elementBytes = 2,
                       .rows = kM,
                       .columns = kK,
                       .boxRows = 64,
                       .boxColumns = 64,
                       .swizzle = CU_TENSOR_MAP_SWIZZLE_128B};
  const CUtensorMap aMap = device.encode(operand);
  operand.address = device.upload(bf16CodesOf(b));
  operand.rows = kK;
  operand.columns = kN;
  const CUtensorMap bMap = device.encode(operand);
  const CUdeviceptr d = device.upload(before);
  const CUtensorMap dMap = device.encode({.address = d,
                                          .rows = kM,
                                          .columns = kN,
                                          .boxRows = 64,
                                          .boxColumns = 32,
                                          .swizzle = CU_TENSOR_MAP_SWIZZLE_128B});
  const CUdeviceptr norms = device.upload(std::vector<float>(kM));
  const int blocksK = kK / 64 / kSplits;
  const unsigned sharedBytes = 6 * 8192 + 256 + 2 * 8;

  device.launch("splitK",
                {.gridX = kN / 64, .gridY = kM / 64, .gridZ = kSplits, .sharedBytes = sharedBytes},
                aMap, bMap, dMap, norms, blocksK);

  const std::string inD = firstDifference(device.download<float>(d, kM * kN), expected);
  return inD.empty() ? firstDifference(device.download<float>(norms, kM), expectedNorms) : inD;
}

Scenario splitKScenario() {
  return {
      "SplitK",
      "split_k.ptx",
      runSplitK,
      {
          operand("mbarrier.init", "full counts the loader", "2", "is in a deadlock",
                  "stage is complete"),
          removed("fence.mbarrier_init", "barriers to the async proxy",
                  "no fence.proxy.async or fence.mbarrier_init", "loader copies a"),
          operand("expect_tx", "loader expects a stage", "8192", "no wait on that mbarrier",
                  "group multiplies"),
          operand("expect_tx", "loader expects a stage", "16400", "is in a deadlock",
                  "stage is complete"),
          removed("cp.async.bulk.tensor", "loader copies b", "is in a deadlock",
                  "stage is complete"),
          removed("bar.sync", "barriers are ready", "no barrier lies between", "stage is complete"),
          skippedWait("stage is complete", "no wait on that mbarrier", "group multiplies"),
          flippedParity("stage is complete", "no wait on that mbarrier", "group multiplies"),
          removed("wgmma.fence", "accumulators to wgmma", "needs a wgmma.fence before it",
                  "group multiplies"),
          removed("wgmma.commit_group", "products commit", "no wgmma.wait_group and barrier",
                  "loader copies a"),
          removed("wgmma.wait_group", "products are complete", "no wgmma.wait_group and barrier",
                  "loader copies a"),
          operand("wgmma.wait_group", "products are complete", "1",
                  "no wgmma.wait_group and barrier", "loader copies a"),
          removed("bar.sync", "stage is free", "no wait on that mbarrier", "group multiplies"),
          removed("fence.proxy.async", "result tile to the async proxy",
                  "no fence.proxy.async lies between", "adder adds the first half"),
          removed("bar.sync", "result tile is complete", "no barrier orders the two",
                  "adder adds the first half"),
          removed("cp.async.bulk.commit_group", "sums commit", "is pending while the block",
                  "adder adds the first half"),
          removed("cp.async.bulk.wait_group", "sums are read", "is pending while the block",
                  "adder adds the first half"),
      },
      {},
  };
}

} // namespace fp8jit::testing
