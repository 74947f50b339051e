// cluster_multicast.cu: two clusters, five tiles through two stages.
#include "tests/emulator/hopper/scenario.h"

namespace fp8jit::testing {

static std::string runClusterMulticast(Device &device) {
  constexpr int kBlocks = 4, kTiles = 5;
  constexpr std::size_t kTile = 8 * 32;
  const std::vector<float> a = randomIntegers<float>(kBlocks * kTiles * kTile, -9, 9, 3);
  const std::vector<float> b = randomIntegers<float>(kTiles * kTile, -9, 9, 4);
  std::vector<float> expected(kBlocks * kTile);
  for (std::size_t block = 0; block < kBlocks; ++block) {
    for (std::size_t i = 0; i < kTiles * kTile; ++i) {
      expected[block * kTile + i % kTile] += a[block * kTiles * kTile + i] * b[i];
    }
  }
  MatrixMap matrix = {.address = device.upload(a),
                      .rows = kBlocks * kTiles * 8,
                      .columns = 32,
                      .boxRows = 8,
                      .boxColumns = 32};
  const CUtensorMap aMap = device.encode(matrix);
  matrix.address = device.upload(b);
  matrix.rows = kTiles * 8;
  matrix.boxRows = 4;
  const CUtensorMap bMap = device.encode(matrix);
  const CUdeviceptr out = device.upload(std::vector<float>(kBlocks * kTile));

  device.launch("clusterMulticast", {.gridX = kBlocks, .block = 160}, aMap, bMap, out, kTiles);

  return firstDifference(device.download<float>(out, kBlocks * kTile), expected);
}

Scenario clusterMulticastScenario() {
  return {
      "ClusterMulticast",
      "cluster_multicast.ptx",
      runClusterMulticast,
      {
          operand("mbarrier.init", "full counts the producer", "2", "is in a deadlock",
                  "consumer waits for full"),
          operand("mbarrier.init", "empty counts the warps of the cluster", "7",
                  "no barrier orders the two", "producer loads a"),
          operand("mbarrier.init", "empty counts the warps of the cluster", "9", "is in a deadlock",
                  "producer waits for empty"),
          operand("mbarrier.init", "empty counts the warps of the cluster", "4",
                  "no wait on that mbarrier", "producer loads a"),
          removed("fence.mbarrier_init", "barriers to the cluster",
                  "no fence.proxy.async or fence.mbarrier_init", "producer loads a"),
          removed("barrier.cluster.arrive", "start: arrive",
                  "waits without a barrier.cluster.arrive", "start: wait"),
          removed("barrier.cluster.wait", "start: wait", "which has not started",
                  "producer multicasts b"),
          skippedWait("producer waits for empty", "expects 0 more", "producer expects both tiles"),
          flippedParity("producer waits for empty", "is in a deadlock"),
          operand("expect_tx", "producer expects both tiles", "2032", "is in a deadlock"),
          operand("expect_tx", "producer expects both tiles", "1536", "was never written",
                  "consumer reads"),
          operand("expect_tx", "producer expects both tiles", "2064", "is in a deadlock",
                  "consumer waits for full"),
          removed("cp.async.bulk.tensor", "producer loads a", "is in a deadlock",
                  "consumer waits for full"),
          removed("cp.async.bulk.tensor", "producer multicasts b", "is in a deadlock",
                  "consumer waits for full"),
          operand("multicast::cluster", "producer multicasts b", "1", "is in a deadlock",
                  "consumer waits for full"),
          skippedWait("consumer waits for full", "was never written", "consumer reads"),
          flippedParity("consumer waits for full", "was never written", "consumer reads"),
          removed("mbarrier.arrive", "consumer gives the stage back", "is in a deadlock",
                  "producer waits for empty"),
          removed("barrier.cluster.arrive", "end: arrive", "waits without a barrier.cluster.arrive",
                  "end: wait"),
          removed("barrier.cluster.wait", "end: wait", "which has exited",
                  "consumer gives the stage back"),
      },
      {
          // Lanes of a warp are not checked against each other: the arrivals of lanes 0 and 1 could
          // overtake the reads of the others on hardware. (A limit of the checks, not a licence.)
          removed("bar.warp.sync", "all lanes have read", ""),
      },
  };
}

} // namespace fp8jit::testing
