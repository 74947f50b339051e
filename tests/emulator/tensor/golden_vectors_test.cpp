// Results of real GPUs: six vectors kept here, and sample files in the folder that the environment
// variable FP8JIT_GOLDEN_DIR names.
// Source of all of them: MATLAB-tensor-core (Khattak and Mikaitis, BSD 2-Clause).
#include "emulator/tensor/mma.h"
#include "emulator/tensor/scalar_model.h"
#include "emulator/tensor/step_rules.h"
#include "tests/emulator/tensor/warp_harness.h"

#include "gtest/gtest.h"

#include <cstdlib>
#include <cstring>
#include <fstream>
#include <iterator>
#include <string>
#include <vector>

namespace fp8jit::emulator::testing {
namespace {

/// One dot product: operand codes, accumulator and result as bits of the accumulator's format.
struct Sample {
  std::vector<std::uint16_t> a, b;
  std::uint32_t c = 0, d = 0;
};

struct HexVector {
  MmaFormat format;
  MmaAccumulator accumulator;
  const char *a, *b;
  std::uint32_t c, d;
};

struct SampleFile {
  const char *name;
  MmaFormat format;
  MmaAccumulator accumulator;
  int samplesK; ///< operands per record
  int records;
};

void PrintTo(const SampleFile &file, std::ostream *out) {
  *out << file.name;
}

constexpr HexVector kVectors[] = {
    {MmaFormat::E4M3, MmaAccumulator::F32,
     "3c3a3fc035b0ac38bb2ca9b639ba3e2635a139303230b8b9b2b0b5ab96393cb2",
     "35b3ada82a28b8b93138b52dbcbababa28a734a83b25b43235b82aac14bd30b6", 0x3f4c695d, 0xbfc52000},
    {MmaFormat::E4M3, MmaAccumulator::F32,
     "be291b2bb32a38a524b733a62fb93b3b36bb02c0343d28b12d3912843eaaae38",
     "b0b7c0b9a839b134b01bbb30c0b698b7311baf99a836bfbea3b940bc39b1bbb4", 0x3caefb38, 0x3eada000},
    {MmaFormat::E5M2, MmaAccumulator::F32,
     "b53d3ea52db0bb3738bb3e3cbfbc39b138af3a41ad3db6ba3ebc36bbb7333a38",
     "32bd3eb939b32e363a3932bd2a37b838bb31333c34bd37bc31a5bbbaba39b835", 0x3e96d4e7, 0x3f8ad800},
    {MmaFormat::E5M2, MmaAccumulator::F32,
     "3db837be3bbeb227333db8aab8bcbd32bc393f29b728abb839aa41bb3a3b3939",
     "3837303b3cb23a2d3cb13db9b9253bb9be3cb9bf3233bac0be3eb0b93721bd37", 0x3ebc7224, 0x3ce70000},
    // The f16 values below are 3f298000, 40b22000, 3ea00000 and bf118000 as f32.
    {MmaFormat::E4M3, MmaAccumulator::F16,
     "9c3ab23536042b26c1ae301db81d9bb5282987b441b626c0b331aa30b222a8b2",
     "1db935382a302c38bbbab02d302ebf3134b4b389239ab3a7a13fba31a1a130a9", 0x394c, 0x4591},
    {MmaFormat::E4M3, MmaAccumulator::F16,
     "373f323db8c1b5ae38ad37b8b832af9d2ac299b32eaeb0b5c1b5b3a32e3e3c2b",
     "af36b0b5b911bf392ea61c33bd3caaadae3b2e32a1b2aab819b9b62228b9b8b7", 0x3500, 0xb88c},
};

constexpr SampleFile kFiles[] = {
    {"ada_mma_e4m3_f32", MmaFormat::E4M3, MmaAccumulator::F32, 32, 2000},
    {"ada_mma_e4m3_f16", MmaFormat::E4M3, MmaAccumulator::F16, 32, 2000},
    {"ada_mma_e5m2_f32", MmaFormat::E5M2, MmaAccumulator::F32, 32, 2000},
    {"ada_mma_e5m2_f16", MmaFormat::E5M2, MmaAccumulator::F16, 32, 2000},
    {"l40s_mma_e4m3_f32", MmaFormat::E4M3, MmaAccumulator::F32, 32, 2000},
    {"l40s_mma_e5m2_f32", MmaFormat::E5M2, MmaAccumulator::F32, 32, 2000},
    {"ada_wmma_f16_f32", MmaFormat::F16, MmaAccumulator::F32, 8, 1000},
    {"ada_wmma_bf16_f32", MmaFormat::BF16, MmaAccumulator::F32, 8, 1000},
    {"ada_wmma_f16_f16", MmaFormat::F16, MmaAccumulator::F16, 8, 1000},
    {"l40s_wmma_f16_f32", MmaFormat::F16, MmaAccumulator::F32, 8, 1000},
    {"l40s_wmma_bf16_f32", MmaFormat::BF16, MmaAccumulator::F32, 8, 1000},
    {"l40s_wmma_f16_f16", MmaFormat::F16, MmaAccumulator::F16, 8, 1000},
};

class GoldenFileTest : public ::testing::TestWithParam<SampleFile> {};

} // namespace

static MmaShape shapeOf(MmaFormat format, MmaAccumulator accumulator) {
  return {.k = isFp8(format) ? 32 : 16, .a = format, .b = format, .accumulator = accumulator};
}

static std::vector<std::uint16_t> bytesOf(const std::string &hex) {
  std::vector<std::uint16_t> bytes;
  for (std::size_t i = 0; i < hex.size(); i += 2) {
    bytes.push_back(static_cast<std::uint16_t>(std::stoul(hex.substr(i, 2), nullptr, 16)));
  }
  return bytes;
}

/// Runs eight samples at a time on the diagonal of a warp's tile; counts results that differ.
static int countWarpMismatches(MmaFunction function, const MmaShape &shape,
                               const std::vector<Sample> &samples) {
  int mismatches = 0;
  for (std::size_t first = 0; first < samples.size(); first += 8) {
    const std::size_t count = std::min<std::size_t>(8, samples.size() - first);
    WarpProblem problem;
    for (std::size_t i = 0; i < count; ++i) {
      const Sample &sample = samples[first + i];
      const std::size_t row = i + 8 * (first / 8 % 2); // both halves of the rows take turns
      std::copy(sample.a.begin(), sample.a.end(), problem.a[row].begin());
      std::copy(sample.b.begin(), sample.b.end(), problem.b[i].begin());
      problem.c[row][i] = sample.c;
    }
    const WarpResult result = runWarp(function, shape, problem);
    for (std::size_t i = 0; i < count; ++i) {
      mismatches += result[i + 8 * (first / 8 % 2)][i] != samples[first + i].d ? 1 : 0;
    }
  }
  return mismatches;
}

static int countScalarMismatches(const MmaShape &shape, const std::vector<Sample> &samples) {
  const StepRule *rule = findStepRule(shape, "89");
  int mismatches = 0;
  for (const Sample &sample : samples) {
    const std::uint32_t d = dotProduct(sample.c, sample.a, sample.b, shape.a, shape.b, *rule);
    mismatches += d != sample.d ? 1 : 0;
  }
  return mismatches;
}

static std::vector<Sample> readSamples(const std::string &path, const SampleFile &file) {
  std::ifstream stream(path, std::ios::binary);
  const std::vector<char> bytes((std::istreambuf_iterator<char>(stream)),
                                std::istreambuf_iterator<char>());
  const std::size_t operandBytes = isFp8(file.format) ? 1 : 2;
  const std::size_t resultBytes = file.accumulator == MmaAccumulator::F32 ? 4 : 2;
  const auto k = static_cast<std::size_t>(file.samplesK);
  const std::size_t recordBytes = 2 * k * operandBytes + 2 * resultBytes;
  std::vector<Sample> samples;
  for (std::size_t at = 0; at + recordBytes <= bytes.size(); at += recordBytes) {
    Sample sample{.a = std::vector<std::uint16_t>(k), .b = std::vector<std::uint16_t>(k)};
    const char *cursor = bytes.data() + at;
    for (std::vector<std::uint16_t> *operand : {&sample.a, &sample.b}) {
      for (std::uint16_t &code : *operand) {
        std::memcpy(&code, cursor, operandBytes);
        cursor += operandBytes;
      }
    }
    std::memcpy(&sample.c, cursor, resultBytes);
    std::memcpy(&sample.d, cursor + resultBytes, resultBytes);
    samples.push_back(std::move(sample));
  }
  return samples;
}

TEST(GoldenVectorTest, ReproducesResultsOfRealGpus) {
  for (const HexVector &vector : kVectors) {
    const MmaShape shape = shapeOf(vector.format, vector.accumulator);
    const std::vector<Sample> samples = {
        {bytesOf(vector.a), bytesOf(vector.b), vector.c, vector.d}};

    EXPECT_EQ(countScalarMismatches(shape, samples), 0) << vector.a;
    EXPECT_EQ(countWarpMismatches(selectMma(shape, "89"), shape, samples), 0) << vector.a;
    EXPECT_EQ(countWarpMismatches(selectPortableMma(shape, "89"), shape, samples), 0) << vector.a;
  }
}

TEST_P(GoldenFileTest, ReproducesEveryRecord) {
  const SampleFile file = GetParam();
  const char *folder = std::getenv("FP8JIT_GOLDEN_DIR");
  if (folder == nullptr) {
    GTEST_SKIP() << "FP8JIT_GOLDEN_DIR is unset: no sample files of real GPUs";
  }
  const MmaShape shape = shapeOf(file.format, file.accumulator);

  const std::vector<Sample> samples =
      readSamples(std::string(folder) + "/" + file.name + ".bin", file);

  ASSERT_EQ(samples.size(), static_cast<std::size_t>(file.records));
  EXPECT_EQ(countScalarMismatches(shape, samples), 0);
  EXPECT_EQ(countWarpMismatches(selectMma(shape, "89"), shape, samples), 0);
  EXPECT_EQ(countWarpMismatches(selectPortableMma(shape, "89"), shape, samples), 0);
}

INSTANTIATE_TEST_SUITE_P(Ada, GoldenFileTest, ::testing::ValuesIn(kFiles),
                         [](const auto &test) { return std::string(test.param.name); });

} // namespace fp8jit::emulator::testing
