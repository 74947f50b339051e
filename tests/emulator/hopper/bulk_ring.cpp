// bulk_ring.cu: six or seven tiles per block through three stages, so that phases wrap.
#include "tests/emulator/hopper/scenario.h"

namespace fp8jit::testing {

static std::string runBulkRing(Device &device) {
  constexpr int kTiles = 20;
  constexpr std::size_t kCount = kTiles * 512;
  const std::vector<float> in = randomIntegers<float>(kCount, -1000, 1000, 1);
  std::vector<float> expected(kCount);
  for (std::size_t i = 0; i < kCount; ++i) {
    expected[i] = 3 * in[i] + 1;
  }
  const CUdeviceptr inAddress = device.upload(in);
  const CUdeviceptr outAddress = device.upload(std::vector<float>(kCount));

  device.launch("bulkRing", {.gridX = 3, .block = 160}, inAddress, outAddress, kTiles);

  return firstDifference(device.download<float>(outAddress, kCount), expected);
}

Scenario bulkRingScenario() {
  return {
      "BulkRing",
      "bulk_ring.ptx",
      runBulkRing,
      {
          skippedWait("consumer waits for full", "was never written", "consumer reads"),
          flippedParity("consumer waits for full", "was never written", "consumer reads"),
          skippedWait("producer waits for empty", "expects 0 more", "producer expects a tile"),
          flippedParity("producer waits for empty", "is in a deadlock"),
          operand("expect_tx", "producer expects a tile", "2032", "is in a deadlock"),
          operand("expect_tx", "producer expects a tile", "2064", "is in a deadlock",
                  "consumer waits for full"),
          replaced("mbarrier.arrive.expect_tx.shared::cta.b64 _,",
                   "mbarrier.expect_tx.relaxed.cta.shared::cta.b64", "producer expects a tile",
                   "is in a deadlock", "consumer waits for full"),
          operand("mbarrier.init", "full counts the producer", "2", "is in a deadlock",
                  "consumer waits for full"),
          operand("mbarrier.init", "empty counts the consumers", "96", "no barrier orders the two",
                  "producer copies"),
          operand("mbarrier.init", "empty counts the consumers", "129", "is in a deadlock",
                  "producer waits for empty"),
          removed("mbarrier.arrive", "consumer gives the stage back", "is in a deadlock",
                  "producer waits for empty"),
          removed("fence.mbarrier_init", "barriers to the async proxy",
                  "no fence.proxy.async or fence.mbarrier_init", "producer copies"),
          removed("bar.sync", "barriers are ready", "no barrier lies between",
                  "consumer waits for full"),
          removed("cp.async.bulk.wait_group.read", "the result tile before the last has been read",
                  "no cp.async.bulk.wait_group and barrier", "consumer writes"),
          operand("cp.async.bulk.wait_group.read", "the result tile before the last has been read",
                  "2", "no cp.async.bulk.wait_group and barrier", "consumer writes"),
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
          operand("cp.async.bulk.wait_group", "all stores are done", "1",
                  "is pending while the block", "consumer stores"),
      },
      {
          // The grid's end makes global writes visible; a block only has to stay until its shared
          // memory has been read.
          replaced("wait_group", "wait_group.read", "all stores are done", ""),
      },
  };
}

} // namespace fp8jit::testing
