// Tensor copies that are wrong in one way each: reported with the line of the instruction.
#include "tests/emulator/exec/tensor_kernels.h"

namespace fp8jit::emulator::testing {
namespace {

/// 16 rows of 64 bytes.
class TensorFaultTest : public ::testing::Test {
protected:
  TensorFaultTest() {
    map.address = runner.upload(std::vector<std::uint8_t>(16 * 64, 7));
    start = runner.upload(std::vector<std::uint8_t>(8)); // (0, 0)
    out = runner.memory.allocate(4096);
  }

  LaunchResult load(std::size_t bytes = 512) {
    return runner.run(loadKernel(2, bytes), encodeTensorMap(map), {out, start, 0});
  }

  LaunchResult store() {
    const std::uint64_t tile = runner.upload(std::vector<std::uint8_t>(512));
    return runner.run(storeKernel(2, 512, ""), encodeTensorMap(map), {tile, start, 0});
  }

  /// Coordinates (x, y) for the next run.
  void startAt(std::int32_t x, std::int32_t y) {
    const std::int32_t place[] = {x, y};
    std::vector<std::uint8_t> bytes(sizeof place);
    std::memcpy(bytes.data(), place, sizeof place);
    start = runner.upload(bytes);
  }

  static void expectReport(const LaunchResult &result, Fault fault, std::string_view text) {
    EXPECT_EQ(result.fault, fault) << result.report;
    EXPECT_NE(result.report.find(text), std::string::npos) << result.report;
    EXPECT_NE(result.report.find("line "), std::string::npos) << result.report;
    EXPECT_NE(result.report.find("bulk.tensor"), std::string::npos) << result.report;
  }

  TensorRunner runner;
  TensorMap map{.rank = 2, .dims = {64, 16, 1, 1, 1}, .strides = {64}, .box = {64, 8, 1, 1, 1}};
  std::uint64_t start = 0, out = 0;
};

} // namespace

TEST_F(TensorFaultTest, TheUnbrokenCopyPasses) {
  EXPECT_EQ(load().fault, Fault::None) << load().report;
  EXPECT_EQ(store().fault, Fault::None) << store().report;
}

TEST_F(TensorFaultTest, ReportsBytesThatAreNoMap) {
  const MapBytes zeros{};
  expectReport(runner.run(loadKernel(2, 512), zeros, {out, start, 0}), Fault::IllegalInstruction,
               "finds no tensor map");
}

TEST_F(TensorFaultTest, ReportsMapsThatBreakARule) {
  map.box[1] = 300;
  expectReport(load(), Fault::IllegalInstruction, "boxDim[1]: found 300");
}

TEST_F(TensorFaultTest, ReportsAnotherRank) {
  map.rank = 3;
  map.strides[1] = 1024;
  expectReport(load(), Fault::IllegalInstruction, "has 3 dimensions, expected 2");
}

TEST_F(TensorFaultTest, ReportsMisalignedSharedMemory) {
  std::string text = loadKernel(2, 512);
  text.replace(text.find("[%tile]"), 7, "[%tile+64]");
  expectReport(runner.run(text, encodeTensorMap(map), {out, start, 0}), Fault::MisalignedAddress,
               "not a multiple of 128");
}

TEST_F(TensorFaultTest, ReportsABoxOutsideSharedMemory) {
  map.dims[1] = 100;
  map.box[1] = 100;
  expectReport(load(6400), Fault::IllegalAddress, "has a box of 6400 bytes at shared address");
}

TEST_F(TensorFaultTest, ReportsATensorBeyondItsAllocation) {
  map.dims[1] = 17;
  startAt(0, 9);
  expectReport(load(), Fault::IllegalAddress, "reads 64 bytes at 0x");
}

TEST_F(TensorFaultTest, ReportsFreedMemory) {
  ASSERT_TRUE(runner.memory.release(map.address));
  expectReport(load(), Fault::IllegalAddress, "freed");
}

TEST_F(TensorFaultTest, ReportsMemoryThatWasNeverWritten) {
  map.address = runner.memory.allocate(16 * 64);
  expectReport(load(), Fault::UninitializedRead, "never written");
}

TEST_F(TensorFaultTest, ReportsNegativePlacesOfStoresOnly) {
  startAt(-1, 0);
  EXPECT_EQ(load().fault, Fault::None);
  expectReport(store(), Fault::IllegalInstruction, "at (-1,0), expected coordinates that are not");
}

TEST_F(TensorFaultTest, ReportsRowsShorterThanTheSwizzle) {
  map.swizzle = Swizzle::Bytes128;
  expectReport(load(), Fault::IllegalInstruction, "rows of 64 bytes with 128-byte swizzling");
}

TEST_F(TensorFaultTest, ReportsLayoutsThatAreNotEmulated) {
  map.rank = 3;
  map.strides[1] = 1024;
  map.interleave = TensorInterleave::Bytes16;
  expectReport(runner.run(loadKernel(3, 512), encodeTensorMap(map),
                          {out, runner.upload(std::vector<std::uint8_t>(12)), 0}),
               Fault::IllegalInstruction, "interleaved layouts are not emulated");
}

TEST_F(TensorFaultTest, ReportsReductionsThatPtxLacks) {
  const std::uint64_t tile = runner.upload(std::vector<std::uint8_t>(512));
  expectReport(runner.run(storeKernel(2, 512, "add."), encodeTensorMap(map), {tile, start, 0}),
               Fault::IllegalInstruction, "no such reduction of u8 elements");
}

TEST_F(TensorFaultTest, ReportsSharedMemoryThatWasNeverWritten) {
  const std::string text = tensorKernel(
      loadCoordinates(2) + "@%first cp.async.bulk.tensor.2d.global.shared::cta.bulk_group "
                           "[%map, {%c0, %c1}], [%tile];\n"
                           "@%first cp.async.bulk.commit_group;\n"
                           "@%first cp.async.bulk.wait_group 0;\n");
  expectReport(runner.run(text, encodeTensorMap(map), {out, start, 0}), Fault::UninitializedRead,
               "never written");
}

TEST_F(TensorFaultTest, ReportsAMissingProxyFence) {
  std::string text = storeKernel(2, 512, "");
  const std::string fence = "fence.proxy.async.shared::cta;\n";
  text.erase(text.find(fence), fence.size());
  const std::uint64_t tile = runner.upload(std::vector<std::uint8_t>(512));
  const LaunchResult result = runner.run(text, encodeTensorMap(map), {tile, start, 0});
  EXPECT_EQ(result.fault, Fault::DataRace) << result.report;
}

} // namespace fp8jit::emulator::testing
