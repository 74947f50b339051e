// Sample files of real GPUs in the folder that the environment variable FP8JIT_GOLDEN_DIR names.
// Records: a, b, c, d, packed, little endian. Source: MATLAB-tensor-core (Khattak and Mikaitis, BSD
// 2-Clause).
#include "tests/emulator/tensor/sample.h"

#include "gtest/gtest.h"

#include <cstdlib>
#include <cstring>
#include <fstream>
#include <iterator>
#include <string>

namespace fp8jit::emulator::testing {
namespace {

constexpr MmaAccumulator kF32 = MmaAccumulator::F32;
constexpr MmaAccumulator kF16 = MmaAccumulator::F16;

struct SampleFile {
  const char *name;
  const char *arch;
  MmaShape shape;
  std::size_t samplesK; ///< operands per record
  std::size_t records;
};

void PrintTo(const SampleFile &file, std::ostream *out) {
  *out << file.name;
}

constexpr MmaShape fp8(MmaFormat format, MmaAccumulator accumulator) {
  return {.a = format, .b = format, .accumulator = accumulator};
}

constexpr MmaShape wgmma(MmaFormat format) {
  return {.m = 64, .n = 8, .a = format, .b = format};
}

constexpr MmaShape wide(MmaFormat format, MmaAccumulator accumulator) {
  return {.k = 16, .a = format, .b = format, .accumulator = accumulator};
}

constexpr SampleFile kFiles[] = {
    {"ada_mma_e4m3_f32", "89", fp8(MmaFormat::E4M3, kF32), 32, 2000},
    {"ada_mma_e4m3_f16", "89", fp8(MmaFormat::E4M3, kF16), 32, 2000},
    {"ada_mma_e5m2_f32", "89", fp8(MmaFormat::E5M2, kF32), 32, 2000},
    {"ada_mma_e5m2_f16", "89", fp8(MmaFormat::E5M2, kF16), 32, 2000},
    {"l40s_mma_e4m3_f32", "89", fp8(MmaFormat::E4M3, kF32), 32, 2000},
    {"l40s_mma_e5m2_f32", "89", fp8(MmaFormat::E5M2, kF32), 32, 2000},
    {"h100_wgmma_e4m3_f32", "90a", wgmma(MmaFormat::E4M3), 32, 2000},
    {"h100_wgmma_e5m2_f32", "90a", wgmma(MmaFormat::E5M2), 32, 2000},
    {"h200_wgmma_e4m3_f32", "90a", wgmma(MmaFormat::E4M3), 32, 2000},
    {"h200_wgmma_e5m2_f32", "90a", wgmma(MmaFormat::E5M2), 32, 2000},
    {"h100_mma_e4m3_f16", "90a", fp8(MmaFormat::E4M3, kF16), 32, 2000},
    {"h100_mma_e5m2_f16", "90a", fp8(MmaFormat::E5M2, kF16), 32, 2000},
    {"h200_mma_e4m3_f16", "90a", fp8(MmaFormat::E4M3, kF16), 32, 2000},
    {"h200_mma_e5m2_f16", "90a", fp8(MmaFormat::E5M2, kF16), 32, 2000},
    {"b200_mma_e4m3_f16", "100a", fp8(MmaFormat::E4M3, kF16), 32, 2000},
    {"b200_mma_e5m2_f16", "100a", fp8(MmaFormat::E5M2, kF16), 32, 2000},
    {"b200_mma_e4m3_f32", "100a", fp8(MmaFormat::E4M3, kF32), 32, 2000},
    {"b200_mma_e5m2_f32", "100a", fp8(MmaFormat::E5M2, kF32), 32, 2000},
    {"a100_wmma_f16_f32", "80", wide(MmaFormat::F16, kF32), 8, 1000},
    {"a100_wmma_bf16_f32", "80", wide(MmaFormat::BF16, kF32), 8, 1000},
    {"a100_wmma_f16_f16", "80", wide(MmaFormat::F16, kF16), 8, 1000},
    {"ada_wmma_f16_f32", "89", wide(MmaFormat::F16, kF32), 8, 1000},
    {"ada_wmma_bf16_f32", "89", wide(MmaFormat::BF16, kF32), 8, 1000},
    {"ada_wmma_f16_f16", "89", wide(MmaFormat::F16, kF16), 8, 1000},
    {"l40s_wmma_f16_f32", "89", wide(MmaFormat::F16, kF32), 8, 1000},
    {"l40s_wmma_bf16_f32", "89", wide(MmaFormat::BF16, kF32), 8, 1000},
    {"l40s_wmma_f16_f16", "89", wide(MmaFormat::F16, kF16), 8, 1000},
    {"h100_wmma_f16_f32", "90a", wide(MmaFormat::F16, kF32), 16, 1000},
    {"h100_wmma_bf16_f32", "90a", wide(MmaFormat::BF16, kF32), 16, 1000},
    {"h100_wmma_f16_f16", "90a", wide(MmaFormat::F16, kF16), 16, 1000},
    {"h200_wmma_f16_f32", "90a", wide(MmaFormat::F16, kF32), 16, 1000},
    {"h200_wmma_bf16_f32", "90a", wide(MmaFormat::BF16, kF32), 16, 1000},
    {"h200_wmma_f16_f16", "90a", wide(MmaFormat::F16, kF16), 16, 1000},
    {"b200_wmma_f16_f32", "100a", wide(MmaFormat::F16, kF32), 16, 1000},
    {"b200_wmma_bf16_f32", "100a", wide(MmaFormat::BF16, kF32), 16, 1000},
    {"b200_wmma_f16_f16", "100a", wide(MmaFormat::F16, kF16), 16, 1000},
};

class GoldenFileTest : public ::testing::TestWithParam<SampleFile> {};

} // namespace

static std::vector<Sample> readSamples(const std::string &path, const SampleFile &file) {
  std::ifstream stream(path, std::ios::binary);
  const std::vector<char> bytes((std::istreambuf_iterator<char>(stream)),
                                std::istreambuf_iterator<char>());
  const auto operandBytes = static_cast<std::size_t>(bytesOf(file.shape.a));
  const std::size_t resultBytes = file.shape.accumulator == kF32 ? 4 : 2;
  const std::size_t recordBytes = 2 * file.samplesK * operandBytes + 2 * resultBytes;
  std::vector<Sample> samples;
  for (std::size_t at = 0; at + recordBytes <= bytes.size(); at += recordBytes) {
    Sample sample{.a = std::vector<std::uint32_t>(file.samplesK),
                  .b = std::vector<std::uint32_t>(file.samplesK)};
    const char *cursor = bytes.data() + at;
    for (std::vector<std::uint32_t> *operand : {&sample.a, &sample.b}) {
      for (std::uint32_t &code : *operand) {
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

TEST_P(GoldenFileTest, ReproducesEveryRecord) {
  const SampleFile file = GetParam();
  const char *folder = std::getenv("FP8JIT_GOLDEN_DIR");
  if (folder == nullptr) {
    GTEST_SKIP() << "FP8JIT_GOLDEN_DIR is unset: no sample files of real GPUs";
  }

  const std::vector<Sample> samples =
      readSamples(std::string(folder) + "/" + file.name + ".bin", file);

  ASSERT_EQ(samples.size(), file.records);
  EXPECT_EQ(countMismatches(file.shape, file.arch, samples), 0);
}

INSTANTIATE_TEST_SUITE_P(RealGpus, GoldenFileTest, ::testing::ValuesIn(kFiles),
                         [](const auto &test) { return std::string(test.param.name); });

} // namespace fp8jit::emulator::testing
