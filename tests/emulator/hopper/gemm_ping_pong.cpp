// gemm_ping_pong.cu: one block with five turns and one with four; whole numbers, exact sums.
#include "tests/emulator/hopper/scenario.h"

namespace fp8jit::testing {

/// What the kernel's Shape holds.
struct PingPongShape {
  int tilesM, tilesN, blocksK;
};

static std::string runGemmPingPong(Device &device) {
  constexpr int kM = 192, kN = 96, kK = 256;
  const std::vector<int> a = randomIntegers<int>(kM * kK, -4, 4, 9);
  const std::vector<int> b = randomIntegers<int>(kN * kK, -4, 4, 10);
  std::vector<std::uint8_t> aCodes(kM * kK), bCodes(kN * kK);
  std::vector<float> expected(kM * kN);
  for (std::size_t i = 0; i < kM * kN; ++i) {
    for (std::size_t k = 0; k < kK; ++k) {
      expected[i] += static_cast<float>(a[i / kN * kK + k] * b[i % kN * kK + k]);
    }
  }
  for (std::size_t i = 0; i < aCodes.size(); ++i) {
    aCodes[i] = fp8Code(a[i], 3);
  }
  for (std::size_t i = 0; i < bCodes.size(); ++i) {
    bCodes[i] = fp8Code(b[i], 2);
  }
  MatrixMap bytes = {.type = CU_TENSOR_MAP_DATA_TYPE_UINT8,
                     .address = device.upload(aCodes),
                     .elementBytes = 1,
                     .rows = kM,
                     .columns = kK,
                     .boxRows = 64,
                     .boxColumns = 128,
                     .swizzle = CU_TENSOR_MAP_SWIZZLE_128B};
  const CUtensorMap aMap = device.encode(bytes);
  bytes.address = device.upload(bCodes);
  bytes.rows = kN;
  bytes.boxRows = 32;
  const CUtensorMap bMap = device.encode(bytes);
  const CUdeviceptr d = device.upload(std::vector<float>(kM * kN));
  const CUtensorMap dMap = device.encode({.address = d,
                                          .rows = kM,
                                          .columns = kN,
                                          .boxRows = 64,
                                          .boxColumns = 32,
                                          .swizzle = CU_TENSOR_MAP_SWIZZLE_128B});
  const PingPongShape shape = {kM / 64, kN / 32, kK / 128};
  const unsigned sharedBytes = 8192 + 3 * (8192 + 4096) + 2 * 3 * 8;

  device.launch("gemmPingPong", {.gridX = 2, .block = 384, .sharedBytes = sharedBytes}, aMap, bMap,
                dMap, shape);

  return firstDifference(device.download<float>(d, kM * kN), expected);
}

Scenario gemmPingPongScenario() {
  return {
      "GemmPingPong",
      "gemm_ping_pong.ptx",
      runGemmPingPong,
      {
          operand("mbarrier.init", "full counts the producer", "2", "is in a deadlock",
                  "consumer waits for full"),
          operand("mbarrier.init", "empty counts the consumer warps", "3",
                  "no wgmma.wait_group and barrier", "producer loads a"),
          operand("mbarrier.init", "empty counts the consumer warps", "5", "is in a deadlock",
                  "producer waits for empty"),
          skippedWait("producer waits for empty", "expects 0 more", "producer expects a stage"),
          flippedParity("producer waits for empty", "is in a deadlock"),
          operand("expect_tx", "producer expects a stage", "8192", "no wait on that mbarrier",
                  "consumer multiplies"),
          skippedWait("consumer waits for full", "no wait on that mbarrier", "consumer multiplies"),
          flippedParity("consumer waits for full", "no wait on that mbarrier",
                        "consumer multiplies"),
          removed("wgmma.fence", "accumulators to wgmma", "needs a wgmma.fence before it",
                  "consumer multiplies"),
          removed("wgmma.commit_group", "products commit", "no wgmma.wait_group covers it",
                  "consumer writes"),
          removed("wgmma.wait_group", "products of the block before are complete",
                  "no wgmma.wait_group and barrier", "producer loads a"),
          operand("wgmma.wait_group", "products of the block before are complete", "2",
                  "no wgmma.wait_group and barrier", "producer loads a"),
          removed("wgmma.wait_group", "products are complete", "no wgmma.wait_group covers it",
                  "consumer writes"),
          operand("wgmma.wait_group", "products are complete", "1", "no wgmma.wait_group covers it",
                  "consumer writes"),
          removed("mbarrier.arrive", "consumer gives the stage back", "is in a deadlock",
                  "producer waits for empty"),
          removed("mbarrier.arrive", "consumer gives the last stage back", "is in a deadlock",
                  "producer waits for empty"),
          removed("bar.sync", "turn to multiply", "arrives twice in one phase",
                  "next turn to multiply"),
          removed("bar.arrive", "next turn to multiply", "is in a deadlock", "turn to multiply"),
          removed("bar.sync", "turn to store", "no barrier orders the two", "consumer writes"),
          removed("bar.arrive", "next turn to store", "is in a deadlock", "turn to store"),
          operand("bar.arrive", "next turn to store", "128", "is in a deadlock",
                  "producer waits for empty"),
          removed("fence.proxy.async", "result tile to the async proxy",
                  "no fence.proxy.async lies between", "consumer stores"),
          removed("bar.sync", "result tile is complete", "was never written", "consumer stores"),
          removed("cp.async.bulk.commit_group", "store commits",
                  "no cp.async.bulk.wait_group and barrier", "consumer writes"),
          removed("cp.async.bulk.wait_group.read", "result tile has been read",
                  "no cp.async.bulk.wait_group and barrier", "consumer writes"),
          operand("cp.async.bulk.wait_group.read", "result tile has been read", "1",
                  "no cp.async.bulk.wait_group and barrier", "consumer writes"),
      },
      {},
  };
}

} // namespace fp8jit::testing
