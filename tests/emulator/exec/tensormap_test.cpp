// Tensor maps that a kernel changes in device memory, with and without their fences.
#include "emulator/exec/tensormap_proxy.h"
#include "tests/emulator/exec/tensor_kernels.h"

namespace fp8jit::emulator::testing {
namespace {

constexpr const char *kRelease = "fence.proxy.tensormap::generic.release.gpu;\n";
constexpr const char *kAcquire = "fence.proxy.tensormap::generic.acquire.gpu [%a2], 128;\n";

/// Copies the map of the parameters to shared memory, replaces its address by the number at
/// %a1 + 8, publishes it at %a2 and loads the box there to %a0.
std::string patchInShared() {
  return tensorKernel(
      "shl.b32 %i, %tid, 2;\ncvt.u64.u32 %at, %i;\nadd.u64 %at, %at, %map;\n"
      "ld.param.u32 %x, [%at];\nadd.u32 %i, %i, %tile;\nst.shared.u32 [%i], %x;\nbar.sync 0;\n"
      "ld.global.u64 %at, [%a1+8];\n"
      "@%first tensormap.replace.tile.global_address.shared::cta.b1024.b64 [%tile], %at;\n"
      "bar.sync 0;\n"
      "tensormap.cp_fenceproxy.global.shared::cta.tensormap::generic.release.gpu.sync.aligned "
      "[%a2], [%tile], 128;\n" +
      std::string(kAcquire) + "bar.sync 0;\n" + loadCoordinates(1) +
      "@%first mbarrier.arrive.expect_tx.shared::cta.b64 _, [%bar], 128;\n"
      "@%first cp.async.bulk.tensor.1d.shared::cluster.global.mbarrier::complete_tx::bytes "
      "[%tile+1024], [%a2, {%c0}], [%bar];\n" +
      kWaitForBar + "add.u32 %tile, %tile, 1024;\n" + copyTileOut(128));
}

/// Replaces the address of the map at %a2 in place, and loads its box.
std::string patchInGlobal() {
  return tensorKernel(
      "ld.global.u64 %at, [%a1+8];\n"
      "@%first tensormap.replace.tile.global_address.global.b1024.b64 [%a2], %at;\n" +
      std::string(kRelease) + kAcquire + loadCoordinates(1) +
      "@%first mbarrier.arrive.expect_tx.shared::cta.b64 _, [%bar], 128;\n"
      "@%first cp.async.bulk.tensor.1d.shared::cluster.global.mbarrier::complete_tx::bytes "
      "[%tile], [%a2, {%c0}], [%bar];\n" +
      kWaitForBar + copyTileOut(128));
}

class TensormapTest : public ::testing::Test {
protected:
  TensormapTest() {
    first = runner.upload(std::vector<std::uint8_t>(128, 1));
    second = runner.upload(std::vector<std::uint8_t>(128, 2));
    map = encodeTensorMap({.address = first, .rank = 1, .dims = {128}, .box = {128}});
    std::vector<std::uint8_t> bytes(16);
    std::memcpy(bytes.data() + 8, &second, 8);
    arguments = runner.upload(bytes);
    out = runner.memory.allocate(128);
    std::vector<std::uint8_t> mapBytes(map.size());
    std::memcpy(mapBytes.data(), map.data(), map.size());
    place = runner.upload(mapBytes);
  }

  LaunchResult run(const std::string &text) {
    return runner.run(text, map, {out, arguments, place});
  }

  static std::string without(std::string text, const std::string &line) {
    text.erase(text.find(line), line.size());
    return text;
  }

  TensorRunner runner;
  MapBytes map{};
  std::uint64_t first = 0, second = 0, arguments = 0, out = 0, place = 0;
};

} // namespace

TEST_F(TensormapTest, PatchedInSharedMemoryItLoadsFromTheNewAddress) {
  const LaunchResult result = run(patchInShared());

  ASSERT_EQ(result.fault, Fault::None) << result.report;
  EXPECT_EQ(runner.download(out, 128), std::vector<std::uint8_t>(128, 2));
}

TEST_F(TensormapTest, PatchedInGlobalMemoryItLoadsFromTheNewAddress) {
  const LaunchResult result = run(patchInGlobal());

  ASSERT_EQ(result.fault, Fault::None) << result.report;
  EXPECT_EQ(runner.download(out, 128), std::vector<std::uint8_t>(128, 2));
}

TEST_F(TensormapTest, AMissingAcquireIsReported) {
  for (const std::string &text : {patchInShared(), patchInGlobal()}) {
    const LaunchResult result = run(without(text, kAcquire));

    EXPECT_EQ(result.fault, Fault::IllegalInstruction) << result.report;
    EXPECT_NE(result.report.find("without fence.proxy.tensormap::generic.acquire"),
              std::string::npos)
        << result.report;
  }
}

TEST_F(TensormapTest, AMissingReleaseIsReported) {
  const LaunchResult result = run(without(patchInGlobal(), kRelease));

  EXPECT_EQ(result.fault, Fault::IllegalInstruction) << result.report;
  EXPECT_NE(result.report.find("without fence.proxy.tensormap::generic.release"), std::string::npos)
      << result.report;
}

TEST_F(TensormapTest, ReplacingAFieldOfOtherBytesIsReported) {
  place = first; // no map
  const LaunchResult result = run(patchInGlobal());

  EXPECT_EQ(result.fault, Fault::IllegalInstruction) << result.report;
  EXPECT_NE(result.report.find("finds no tensor map"), std::string::npos) << result.report;
}

TEST(TensormapProxyTest, ChangedBytesNeedAnAcquire) {
  TensormapProxy proxy;
  TensormapProxy::Bytes bytes{};
  EXPECT_EQ(proxy.use(64, 0, bytes), "");
  EXPECT_EQ(proxy.use(64, 1, bytes), "") << "nothing changed";

  bytes[0] = std::byte{1};
  EXPECT_NE(proxy.use(64, 0, bytes), "");
  EXPECT_EQ(proxy.use(64, 0, bytes), "") << "reported once";

  bytes[0] = std::byte{2};
  proxy.acquire(64, 0, bytes);
  EXPECT_EQ(proxy.use(64, 0, bytes), "");
}

TEST(TensormapProxyTest, AnAcquireServesItsBlockOnly) {
  TensormapProxy proxy;
  const TensormapProxy::Bytes bytes{};
  proxy.change(64, 0, 10, true);
  proxy.acquire(64, 1, bytes);
  EXPECT_EQ(proxy.use(64, 1, bytes), "");
  EXPECT_NE(proxy.use(64, 0, bytes).find("line 10"), std::string::npos);
}

} // namespace fp8jit::emulator::testing
