// Ordinary CUDA programs: every result against the same computation on the host.
#include "tests/emulator/cuda/cuda_program.h"

#include <algorithm>
#include <bit>
#include <cmath>
#include <map>
#include <numeric>
#include <random>

namespace fp8jit::testing {

static std::string architectureName(const ::testing::TestParamInfo<const char *> &info) {
  return info.param;
}

INSTANTIATE_TEST_SUITE_P(Hopper, CudaProgram, ::testing::Values("sm_90", "sm_90a"),
                         architectureName);

TEST_P(CudaProgram, SumsFloatsByShuffles) {
  std::vector<float> in(5000);
  for (std::size_t i = 0; i < in.size(); ++i) {
    in[i] = static_cast<float>(static_cast<int>(i % 17) - 8); // sums stay exact
  }
  const CUdeviceptr out = upload(std::vector<float>(4));

  check(launch("sumFloats", {4}, {256}, upload(in), out, static_cast<int>(in.size())));

  const std::vector<float> sums = download<float>(out, 4);
  EXPECT_EQ(std::accumulate(sums.begin(), sums.end(), 0.0F),
            std::accumulate(in.begin(), in.end(), 0.0F));
}

TEST_P(CudaProgram, SumsDoubles) {
  std::vector<double> in(1000);
  double expected = 0;
  for (std::size_t i = 0; i < in.size(); ++i) {
    in[i] = 0.001 * static_cast<double>(i * i % 977);
    expected += std::sqrt(in[i]) / (1.0 + in[i]);
  }
  const CUdeviceptr out = upload(std::vector<double>(1));

  check(launch("sumDoubles", {1}, {256}, upload(in), out, static_cast<int>(in.size())));

  // Terms are below 1 and exact to 2^-53 each; the order of the additions differs.
  EXPECT_NEAR(download<double>(out, 1)[0], expected, 1000 * 0x1p-53 * expected);
}

TEST_P(CudaProgram, TransposesThroughAPaddedTile) {
  const int rows = 70, columns = 45;
  std::vector<float> in(static_cast<std::size_t>(rows * columns));
  std::iota(in.begin(), in.end(), 1.0F);
  const CUdeviceptr out = upload(std::vector<float>(in.size()));

  check(launch("transpose", {2, 3}, {32, 8}, upload(in), out, rows, columns));

  const std::vector<float> found = download<float>(out, in.size());
  for (int y = 0; y < rows; ++y) {
    for (int x = 0; x < columns; ++x) {
      ASSERT_EQ(found[static_cast<std::size_t>(x * rows + y)],
                in[static_cast<std::size_t>(y * columns + x)])
          << y << ", " << x;
    }
  }
}

TEST_P(CudaProgram, FollowsDataDependentLoops) {
  const int n = 300;
  const CUdeviceptr steps = upload(std::vector<unsigned>(n));
  check(launch("collatz", {3}, {128}, steps, n));
  const std::vector<unsigned> found = download<unsigned>(steps, n);
  for (int i = 0; i < n; ++i) {
    unsigned count = 0;
    for (std::uint64_t value = static_cast<std::uint64_t>(i) + 1; value != 1; ++count) {
      value = value % 2 == 0 ? value / 2 : 3 * value + 1;
    }
    ASSERT_EQ(found[static_cast<std::size_t>(i)], count) << i + 1;
  }
}

TEST_P(CudaProgram, SearchesInSortedValues) {
  std::mt19937 random(7);
  std::vector<int> sorted(1000), keys(200);
  std::generate(sorted.begin(), sorted.end(), [&] { return static_cast<int>(random() % 5000); });
  std::generate(keys.begin(), keys.end(), [&] { return static_cast<int>(random() % 5200) - 100; });
  std::sort(sorted.begin(), sorted.end());
  const CUdeviceptr positions = upload(std::vector<int>(keys.size()));

  check(launch("lowerBound", {2}, {128}, upload(sorted), static_cast<int>(sorted.size()),
               upload(keys), positions, static_cast<int>(keys.size())));

  const std::vector<int> found = download<int>(positions, keys.size());
  for (std::size_t i = 0; i < keys.size(); ++i) {
    EXPECT_EQ(found[i], std::lower_bound(sorted.begin(), sorted.end(), keys[i]) - sorted.begin());
  }
}

TEST_P(CudaProgram, RecursesWithAStackPerThread) {
  const unsigned expected[] = {0, 1, 1, 2, 3, 5, 8, 13, 21, 34, 55, 89, 144};
  const CUdeviceptr out = upload(std::vector<unsigned>(64));
  check(launch("fibonacci", {1}, {64}, out));
  const std::vector<unsigned> found = download<unsigned>(out, 64);
  for (std::size_t i = 0; i < found.size(); ++i) {
    EXPECT_EQ(found[i], expected[i % 13]) << i;
  }
}

TEST_P(CudaProgram, SortsByRecursion) {
  const std::size_t rows = 40, length = 31;
  std::mt19937 random(11);
  std::vector<int> values(rows * length);
  std::generate(values.begin(), values.end(), [&] { return static_cast<int>(random() % 100); });
  const CUdeviceptr sorted = upload(values);

  check(launch("quicksort", {1}, {static_cast<unsigned>(rows)}, sorted, static_cast<int>(length)));

  for (std::size_t row = 0; row < rows; ++row) {
    const auto begin = values.begin() + static_cast<std::ptrdiff_t>(row * length);
    std::sort(begin, begin + static_cast<std::ptrdiff_t>(length));
  }
  EXPECT_EQ(download<int>(sorted, values.size()), values);
}

TEST_P(CudaProgram, ReportsAStackOverflow) {
  const CUdeviceptr sink = upload(std::vector<int>(1));

  EXPECT_NE(launch("overflow", {1}, {1}, sink), CUDA_SUCCESS);
}

/// The bits of a small integer as f16.
static std::uint32_t halfBits(int value) {
  if (value == 0) {
    return 0;
  }
  const auto magnitude = static_cast<unsigned>(std::abs(value));
  const auto exponent = static_cast<unsigned>(std::bit_width(magnitude)) - 1;
  const unsigned fraction = (magnitude << (10 - exponent)) & 0x3ffU;
  return (value < 0 ? 0x8000U : 0U) | ((exponent + 15) << 10) | fraction;
}

TEST_P(CudaProgram, ComputesWithPairsOfHalves) {
  std::vector<std::uint32_t> a, b, expected;
  for (int i = 0; i < 96; ++i) { // small integers, so that every step is exact
    std::uint32_t packed[3] = {};
    for (int half = 0; half < 2; ++half) {
      const int x = (i * 7 + half * 3) % 23 - 11;
      const int y = (i * 5 + half) % 19 - 9;
      const int result = x > y ? std::max(x * y + x, 0) : std::max(x, y);
      const int parts[3] = {x, y, result};
      for (int p = 0; p < 3; ++p) {
        packed[p] |= halfBits(parts[p]) << (16 * half);
      }
    }
    a.push_back(packed[0]);
    b.push_back(packed[1]);
    expected.push_back(packed[2]);
  }
  const CUdeviceptr out = upload(std::vector<std::uint32_t>(a.size()));

  check(launch("halfMath", {1}, {96}, upload(a), upload(b), out, 96));

  const std::vector<std::uint32_t> found = download<std::uint32_t>(out, a.size());
  for (std::size_t i = 0; i < a.size(); ++i) { // a zero may have either sign
    for (unsigned shift : {0U, 16U}) {
      const std::uint32_t x = (found[i] >> shift) & 0xffffU;
      const std::uint32_t y = (expected[i] >> shift) & 0xffffU;
      EXPECT_TRUE(x == y || ((x | y) & 0x7fffU) == 0) << i << " " << x << " " << y;
    }
  }
}

TEST_P(CudaProgram, CountsByAtomics) {
  std::mt19937 random(3);
  std::vector<unsigned char> in(10000);
  std::vector<unsigned> expected(256);
  for (unsigned char &value : in) {
    value = static_cast<unsigned char>(random() * random() >> 24);
    ++expected[value];
  }
  const CUdeviceptr bins = upload(std::vector<unsigned>(256));

  check(launch("histogram", {3}, {256}, upload(in), bins, static_cast<int>(in.size())));

  EXPECT_EQ(download<unsigned>(bins, 256), expected);
}

TEST_P(CudaProgram, InsertsIntoAHashTable) {
  std::mt19937 random(5);
  std::vector<unsigned> keys(700);
  std::map<unsigned, unsigned> expected;
  for (unsigned &key : keys) {
    key = static_cast<unsigned>(random() % 300 + 1);
    ++expected[key];
  }
  const CUdeviceptr slots = upload(std::vector<unsigned>(512));
  const CUdeviceptr counts = upload(std::vector<unsigned>(512));

  check(launch("hashInsert", {6}, {128}, upload(keys), slots, counts, 511U,
               static_cast<int>(keys.size())));

  std::map<unsigned, unsigned> found;
  const std::vector<unsigned> table = download<unsigned>(slots, 512);
  const std::vector<unsigned> numbers = download<unsigned>(counts, 512);
  for (std::size_t i = 0; i < table.size(); ++i) {
    if (table[i] != 0) {
      EXPECT_EQ(found.count(table[i]), 0U) << "key " << table[i] << " has two slots";
      found[table[i]] = numbers[i];
    }
  }
  EXPECT_EQ(found, expected);
}

TEST_P(CudaProgram, LanesOfAWarpTakeALockInTurn) {
  const CUdeviceptr lock = upload(std::vector<int>(1));
  const CUdeviceptr total = upload(std::vector<int>(1));

  check(launch("spinLock", {3}, {96}, lock, total));

  EXPECT_EQ(download<int>(total, 1)[0], 3 * 96);
}

static std::uint32_t reversed(std::uint64_t value, unsigned bits) {
  std::uint64_t result = 0;
  for (unsigned i = 0; i < bits; ++i) {
    result |= ((value >> i) & 1U) << (bits - 1 - i);
  }
  return static_cast<std::uint32_t>(bits == 64 ? result >> 13 : result);
}

/// bitTricks of kernels.cu, from the definitions of the intrinsics.
static std::uint32_t bitTricksOf(std::uint32_t x) {
  const std::uint64_t wide = (std::uint64_t{x} << 20) ^ x;
  const auto firstSet = [](std::uint64_t v) {
    return v == 0 ? 0U : static_cast<std::uint32_t>(std::countr_zero(v)) + 1;
  };
  auto mixed = static_cast<std::uint32_t>(std::popcount(x) + 100 * std::countl_zero(x)) +
               10000 * firstSet(x);
  const std::uint64_t pool = (std::uint64_t{~x} << 32) | x;
  std::uint32_t permuted = 0;
  for (unsigned i = 0; i < 4; ++i) {
    const unsigned byte = (0x2715U >> (4 * i)) & 7U;
    permuted |= static_cast<std::uint32_t>((pool >> (8 * byte)) & 0xffU) << (8 * i);
  }
  const unsigned shift = x & 31U;
  const auto funnel = static_cast<std::uint32_t>((pool << shift) >> 32);
  mixed ^= reversed(x, 32) ^ permuted ^ funnel;
  mixed +=
      static_cast<std::uint32_t>(std::popcount(wide) + std::countl_zero(wide)) + firstSet(wide);
  mixed += reversed(wide, 64);
  const std::uint32_t difference = x > 77U ? x - 77U : 77U - x;
  mixed ^= difference + 5 + static_cast<std::uint32_t>((std::uint64_t{x} * 0x9e3779b9U) >> 32) +
           (x & 0xffffffU) * 3;
  std::int32_t dot = 3;
  const int weights[4] = {0x7f, 2, -1, 1};
  for (unsigned i = 0; i < 4; ++i) {
    dot += static_cast<std::int8_t>(x >> (8 * i)) * weights[i];
  }
  return mixed + static_cast<std::uint32_t>(dot);
}

TEST_P(CudaProgram, PlaysBitTricks) {
  std::mt19937 random(13);
  std::vector<std::uint32_t> in(256), expected;
  for (std::size_t i = 0; i < in.size(); ++i) {
    in[i] = i == 0 ? 0 : static_cast<std::uint32_t>(random()) >> (i % 32);
    expected.push_back(bitTricksOf(in[i]));
  }
  const CUdeviceptr out = upload(std::vector<std::uint32_t>(in.size()));

  check(launch("bitTricks", {2}, {128}, upload(in), out, static_cast<int>(in.size())));

  EXPECT_EQ(download<std::uint32_t>(out, in.size()), expected);
}

/// divide of kernels.cu; sums wrap as they do on the device.
static std::int64_t divisionOf(std::int64_t a, std::int64_t b) {
  using U = std::uint64_t;
  const auto x = static_cast<std::int32_t>(a);
  const std::int32_t y = static_cast<std::int32_t>(b) | 1;
  const auto ux = static_cast<std::uint32_t>(x);
  const auto uy = static_cast<std::uint32_t>(y);
  const auto ua = static_cast<U>(a);
  const U ub = static_cast<U>(b | 1);
  U result = static_cast<U>(a / (b | 1)) + static_cast<U>(a % (b | 1)) * 3;
  result ^= ua / ub + ua % ub * 5;
  const std::uint32_t sum =
      static_cast<std::uint32_t>(x / y) + static_cast<std::uint32_t>(x % y) * 7;
  result += static_cast<U>(static_cast<std::int64_t>(static_cast<std::int32_t>(sum)));
  result ^= U{ux / uy + ux % uy * 11} << 8;
  result += static_cast<U>(a / 10) + ua % 1000003;
  return static_cast<std::int64_t>(result);
}

TEST_P(CudaProgram, DividesIntegersOfAllWidths) {
  std::mt19937_64 random(17);
  std::vector<std::int64_t> a(256), b(256), expected;
  for (std::size_t i = 0; i < a.size(); ++i) {
    // The most negative values stay out: their quotient by -1 has no result.
    a[i] = (static_cast<std::int64_t>(random()) >> (i % 60)) | 1;
    b[i] = static_cast<std::int64_t>(random()) >> (i * 7 % 62);
    expected.push_back(divisionOf(a[i], b[i]));
  }
  const CUdeviceptr out = upload(std::vector<std::int64_t>(a.size()));

  check(launch("divide", {2}, {128}, upload(a), upload(b), out, static_cast<int>(a.size())));

  EXPECT_EQ(download<std::int64_t>(out, a.size()), expected);
}

TEST_P(CudaProgram, UpdatesWideAndFloatingValuesAtomically) {
  const std::uint64_t n = 3 * 64;
  const CUdeviceptr sum = upload(std::vector<std::uint64_t>(1));
  const CUdeviceptr smallest = upload(std::vector<std::int64_t>(1, 5));
  const CUdeviceptr total = upload(std::vector<double>(1));
  const CUdeviceptr floats = upload(std::vector<float>(1));
  const CUdeviceptr wrapped = upload(std::vector<unsigned>(1));

  check(launch("atomics", {3}, {64}, sum, smallest, total, floats, wrapped));

  EXPECT_EQ(download<std::uint64_t>(sum, 1)[0], (n * (n - 1) / 2) << 33);
  EXPECT_EQ(download<std::int64_t>(smallest, 1)[0], 1 - static_cast<std::int64_t>(n));
  EXPECT_EQ(download<double>(total, 1)[0], 0.25 * static_cast<double>(n * (n - 1)));
  EXPECT_EQ(download<float>(floats, 1)[0], 0.25F * static_cast<float>(n));
  EXPECT_EQ(download<unsigned>(wrapped, 1)[0], n % 100);
}

} // namespace fp8jit::testing
