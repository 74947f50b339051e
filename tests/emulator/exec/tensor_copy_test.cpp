// Tensor copies against the rules element by element: PTX ISA, "Tiled mode" and the tables of
// "Swizzling modes".
#include "tests/emulator/exec/tensor_kernels.h"

#include <bit>
#include <random>

namespace fp8jit::emulator::testing {
namespace {

/// A map over a small tensor, where one of its boxes begins, and the tensor's bytes.
struct Sample {
  TensorMap map;
  std::vector<std::uint8_t> tensor;
  std::array<std::int32_t, 5> start{};
  std::size_t boxBytes = 0;
};

/// The place of byte `off` of the dense box: chunk c of line r changes with the mode's tables.
std::size_t swizzled(Swizzle mode, std::size_t off) {
  const std::size_t line = off / 128;
  const std::size_t chunk = off / 16 % 8;
  const std::size_t rest = off % 16;
  switch (mode) {
  case Swizzle::Bytes32:
    return line * 128 + (chunk ^ (line % 2)) * 16 + rest;
  case Swizzle::Bytes64:
    return line * 128 + (chunk ^ (line % 4)) * 16 + rest;
  case Swizzle::Bytes128:
    return line * 128 + (chunk ^ (line % 8)) * 16 + rest;
  case Swizzle::Bytes128Atom32:
    return line * 128 + (chunk ^ (line % 4 * 2)) * 16 + rest;
  case Swizzle::Bytes128Atom64:
    return line * 128 + (chunk ^ (line % 2 * 4)) * 16 + rest;
  default:
    return off;
  }
}

Sample randomSample(std::mt19937 &random, TensorRunner &runner) {
  const auto below = [&](std::size_t limit) {
    return static_cast<std::uint32_t>(random() % limit);
  };
  constexpr Swizzle kModes[] = {Swizzle::None,           Swizzle::Bytes32,
                                Swizzle::Bytes64,        Swizzle::Bytes128,
                                Swizzle::Bytes128Atom32, Swizzle::Bytes128Atom64};
  constexpr TensorElement kElements[] = {TensorElement::U8, TensorElement::BF16,
                                         TensorElement::F32};
  Sample sample;
  TensorMap &map = sample.map;
  map = {.rank = 1 + below(5), .element = kElements[below(3)], .swizzle = kModes[below(6)]};
  const unsigned elementBytes = elementBits(map.element) / 8;
  const unsigned rowBytes =
      map.swizzle == Swizzle::None ? 16 * (1 + below(8)) : swizzleRowBytes(map.swizzle);
  map.box[0] = rowBytes / elementBytes;
  map.dims[0] = 1 + below(2 * map.box[0]);
  map.fill = map.element == TensorElement::F32 ? TensorFill::NaN : TensorFill::Zero;
  std::uint64_t stride = (map.dims[0] * elementBytes + 15) / 16 * 16;
  std::size_t rows = 4096 / rowBytes;
  sample.boxBytes = rowBytes;
  for (unsigned d = 1; d < map.rank; ++d) {
    map.dims[d] = 1 + below(6);
    map.elementStrides[d] = 1 + below(2);
    map.box[d] = 1 + below(std::min<std::size_t>(rows, 8));
    const unsigned count = (map.box[d] + map.elementStrides[d] - 1) / map.elementStrides[d];
    rows /= count;
    sample.boxBytes *= count;
    map.strides[d - 1] = stride;
    stride *= map.dims[d];
  }
  for (unsigned d = 0; d < map.rank; ++d) {
    sample.start[d] = static_cast<std::int32_t>(below(map.dims[d] + 4)) - 3;
  }
  sample.tensor.resize(stride);
  for (std::uint8_t &byte : sample.tensor) {
    byte = static_cast<std::uint8_t>(random());
  }
  map.address = runner.upload(sample.tensor);
  return sample;
}

/// Calls `use(off, at, inElement)` for every byte of the dense box: `at` is its offset in the
/// tensor or -1 outside, `inElement` its number in the element.
template <typename Use>
void forBoxBytes(const Sample &sample, const Use &use) {
  const TensorMap &map = sample.map;
  const unsigned elementBytes = elementBits(map.element) / 8;
  for (std::size_t off = 0; off < sample.boxBytes; ++off) {
    std::size_t rest = off / elementBytes;
    std::int64_t at = static_cast<std::int64_t>(off % elementBytes);
    bool isInside = true;
    for (unsigned d = 0; d < map.rank; ++d) {
      const unsigned step = d == 0 ? 1 : map.elementStrides[d];
      const unsigned count = (map.box[d] + step - 1) / step;
      const std::int64_t place = sample.start[d] + static_cast<std::int64_t>(rest % count) * step;
      rest /= count;
      isInside = isInside && place >= 0 && place < static_cast<std::int64_t>(map.dims[d]);
      at += place * static_cast<std::int64_t>(d == 0 ? elementBytes : map.strides[d - 1]);
    }
    use(off, isInside ? at : -1, off % elementBytes);
  }
}

std::uint64_t uploadStart(TensorRunner &runner, const Sample &sample) {
  std::vector<std::uint8_t> bytes(sizeof sample.start);
  std::memcpy(bytes.data(), sample.start.data(), bytes.size());
  return runner.upload(bytes);
}

} // namespace

TEST(TensorCopyTest, LoadsEveryByteToItsPlace) {
  std::mt19937 random(11);
  for (int i = 0; i < 150; ++i) {
    TensorRunner runner;
    const Sample sample = randomSample(random, runner);
    ASSERT_EQ(checkTensorMap(sample.map), "") << i;
    std::vector<std::uint8_t> expected(sample.boxBytes);
    const bool isNan = sample.map.fill == TensorFill::NaN;
    bool staysInside = true;
    forBoxBytes(sample, [&](std::size_t off, std::int64_t at, std::size_t inElement) {
      const std::size_t place = swizzled(sample.map.swizzle, off);
      staysInside = staysInside && place < sample.boxBytes;
      if (place < sample.boxBytes) {
        expected[place] = at >= 0 ? sample.tensor[static_cast<std::size_t>(at)]
                          : isNan ? std::uint8_t(inElement == 3 ? 0x7f : 0xff)
                                  : std::uint8_t{0};
      }
    });
    if (!staysInside) {
      continue; // a last line that is swizzled beyond the box
    }
    const std::uint64_t out = runner.memory.allocate(sample.boxBytes);
    runner.request.asyncMode = static_cast<AsyncMode>(i % 3);
    runner.request.seed = static_cast<std::uint64_t>(i);

    const LaunchResult result =
        runner.run(loadKernel(sample.map.rank, sample.boxBytes), encodeTensorMap(sample.map),
                   {out, uploadStart(runner, sample), 0});

    ASSERT_EQ(result.fault, Fault::None) << i << ": " << result.report;
    ASSERT_EQ(runner.download(out, sample.boxBytes), expected) << i;
  }
}

TEST(TensorCopyTest, StoresOnlyWhatLiesInside) {
  std::mt19937 random(12);
  for (int i = 0; i < 100; ++i) {
    TensorRunner runner;
    Sample sample = randomSample(random, runner);
    for (std::int32_t &place : sample.start) {
      place = std::max(place, 0);
    }
    std::vector<std::uint8_t> tile((sample.boxBytes + 127) / 128 * 128);
    for (std::uint8_t &byte : tile) {
      byte = static_cast<std::uint8_t>(random());
    }
    std::vector<std::uint8_t> expected = sample.tensor;
    forBoxBytes(sample, [&](std::size_t off, std::int64_t at, std::size_t) {
      if (at >= 0) {
        expected[static_cast<std::size_t>(at)] = tile[swizzled(sample.map.swizzle, off)];
      }
    });
    runner.request.asyncMode = static_cast<AsyncMode>(i % 3);
    runner.request.seed = static_cast<std::uint64_t>(i);

    const LaunchResult result =
        runner.run(storeKernel(sample.map.rank, tile.size(), ""), encodeTensorMap(sample.map),
                   {runner.upload(tile), uploadStart(runner, sample), 0});

    ASSERT_EQ(result.fault, Fault::None) << i << ": " << result.report;
    ASSERT_EQ(runner.download(sample.map.address, expected.size()), expected) << i;
  }
}

TEST(TensorCopyTest, ReducesElementsInside) {
  TensorRunner runner;
  Sample sample;
  sample.tensor.resize(64);
  sample.start = {8};
  for (std::uint32_t i = 0; i < 16; ++i) {
    const float value = static_cast<float>(i);
    std::memcpy(sample.tensor.data() + 4 * i, &value, 4);
  }
  sample.map = {.address = runner.upload(sample.tensor),
                .rank = 1,
                .element = TensorElement::F32,
                .dims = {10},
                .box = {4}};
  std::vector<std::uint8_t> tile(16);
  for (std::uint32_t i = 0; i < 4; ++i) {
    const float value = 0.5F;
    std::memcpy(tile.data() + 4 * i, &value, 4);
  }

  const LaunchResult result = runner.run(storeKernel(1, 16, "add."), encodeTensorMap(sample.map),
                                         {runner.upload(tile), uploadStart(runner, sample), 0});

  ASSERT_EQ(result.fault, Fault::None) << result.report;
  std::array<float, 16> values{};
  std::memcpy(values.data(), runner.download(sample.map.address, 64).data(), 64);
  for (std::uint32_t i = 0; i < 16; ++i) {
    EXPECT_EQ(values[i], static_cast<float>(i) + (i == 8 || i == 9 ? 0.5F : 0.0F)) << i;
  }
  EXPECT_EQ(result.counters.bulkStoreBytes, 16U) << "the whole box";
  EXPECT_GE(result.counters.globalStoreSectors, 1U);
}

/// Block 0 of a cluster of two loads 128 bytes into the blocks of `mask`; each block waits for its
/// own barrier and copies its tile to %a0 + 128 * rank.
static std::string multicastKernel(const std::string &mask) {
  return tensorKernel(
      ".reg .b16 %mask;\n.reg .pred %issue;\nmov.u16 %mask, " + mask + ";\n" + loadCoordinates(1) +
      "@%first mbarrier.arrive.expect_tx.shared::cta.b64 _, [%bar], 128;\n"
      "barrier.cluster.arrive.aligned;\nbarrier.cluster.wait.aligned;\n"
      "mov.u32 %x, %cluster_ctarank;\n"
      "cvt.u64.u32 %at, %x;\nshl.b64 %at, %at, 7;\nadd.u64 %a0, %a0, %at;\n"
      "setp.eq.u32 %issue, %x, 0;\nand.pred %issue, %issue, %first;\n"
      "@%issue cp.async.bulk.tensor.1d.shared::cluster.global.mbarrier::complete_tx::bytes"
      ".multicast::cluster [%tile], [%map, {%c0}], [%bar], %mask;\n" +
      kWaitForBar + copyTileOut(128) +
      "barrier.cluster.arrive.aligned;\nbarrier.cluster.wait.aligned;\n");
}

static LaunchResult runMulticast(TensorRunner &runner, const std::string &mask, std::uint64_t out) {
  Sample sample;
  sample.tensor.resize(256);
  for (std::size_t i = 0; i < sample.tensor.size(); ++i) {
    sample.tensor[i] = static_cast<std::uint8_t>(i);
  }
  sample.start = {64};
  sample.map = {.address = runner.upload(sample.tensor), .rank = 1, .dims = {256}, .box = {128}};
  runner.request.grid = runner.request.cluster = {.x = 2};
  return runner.run(multicastKernel(mask), encodeTensorMap(sample.map),
                    {out, uploadStart(runner, sample), 0});
}

TEST(TensorCopyTest, MulticastReachesEveryBlockOfItsMask) {
  for (const AsyncMode mode : {AsyncMode::Eager, AsyncMode::Lazy, AsyncMode::Random}) {
    TensorRunner runner;
    runner.request.asyncMode = mode;
    const std::uint64_t out = runner.memory.allocate(256);

    const LaunchResult result = runMulticast(runner, "3", out);

    ASSERT_EQ(result.fault, Fault::None) << result.report;
    const std::vector<std::uint8_t> bytes = runner.download(out, 256);
    for (std::size_t i = 0; i < bytes.size(); ++i) {
      ASSERT_EQ(bytes[i], 64 + i % 128) << i;
    }
  }
}

TEST(TensorCopyTest, ABlockLeftOutOfTheMulticastWaitsForEver) {
  TensorRunner runner;
  const LaunchResult result = runMulticast(runner, "1", runner.memory.allocate(256));

  EXPECT_EQ(result.fault, Fault::Deadlock) << result.report;
}

TEST(TensorCopyTest, MulticastToABlockThatDoesNotExistIsReported) {
  TensorRunner runner;
  const LaunchResult result = runMulticast(runner, "5", runner.memory.allocate(256));

  EXPECT_EQ(result.fault, Fault::IllegalAddress) << result.report;
  EXPECT_NE(result.report.find("bulk.tensor"), std::string::npos) << result.report;
}

} // namespace fp8jit::emulator::testing
