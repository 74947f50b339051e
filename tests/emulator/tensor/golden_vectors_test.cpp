// Fourteen results of real GPUs on which simpler models fail: other numbers of bits, grouping,
// rounding, or order of the accumulator. Source: MATLAB-tensor-core (Khattak and Mikaitis, BSD
// 2-Clause).
#include "tests/emulator/tensor/sample.h"

#include "gtest/gtest.h"

#include <string>

namespace fp8jit::emulator::testing {
namespace {

struct HexVector {
  const char *arch;
  MmaShape shape;
  const char *a, *b; ///< 32 codes, k = 0 first
  std::uint32_t c, d;
};

constexpr MmaShape mma(MmaFormat format, MmaAccumulator accumulator) {
  return {.a = format, .b = format, .accumulator = accumulator};
}

constexpr MmaShape wgmmaShape(MmaFormat format) {
  return {.m = 64, .n = 8, .a = format, .b = format};
}

constexpr HexVector kVectors[] = {
    {"89", mma(MmaFormat::E4M3, MmaAccumulator::F32),
     "3c3a3fc035b0ac38bb2ca9b639ba3e2635a139303230b8b9b2b0b5ab96393cb2",
     "35b3ada82a28b8b93138b52dbcbababa28a734a83b25b43235b82aac14bd30b6", 0x3f4c695d, 0xbfc52000},
    {"89", mma(MmaFormat::E4M3, MmaAccumulator::F32),
     "be291b2bb32a38a524b733a62fb93b3b36bb02c0343d28b12d3912843eaaae38",
     "b0b7c0b9a839b134b01bbb30c0b698b7311baf99a836bfbea3b940bc39b1bbb4", 0x3caefb38, 0x3eada000},
    {"89", mma(MmaFormat::E5M2, MmaAccumulator::F32),
     "b53d3ea52db0bb3738bb3e3cbfbc39b138af3a41ad3db6ba3ebc36bbb7333a38",
     "32bd3eb939b32e363a3932bd2a37b838bb31333c34bd37bc31a5bbbaba39b835", 0x3e96d4e7, 0x3f8ad800},
    {"89", mma(MmaFormat::E5M2, MmaAccumulator::F32),
     "3db837be3bbeb227333db8aab8bcbd32bc393f29b728abb839aa41bb3a3b3939",
     "3837303b3cb23a2d3cb13db9b9253bb9be3cb9bf3233bac0be3eb0b93721bd37", 0x3ebc7224, 0x3ce70000},
    // f16: the accumulator and the result are 3f298000 and 40b22000 as f32.
    {"89", mma(MmaFormat::E4M3, MmaAccumulator::F16),
     "9c3ab23536042b26c1ae301db81d9bb5282987b441b626c0b331aa30b222a8b2",
     "1db935382a302c38bbbab02d302ebf3134b4b389239ab3a7a13fba31a1a130a9", 0x394c, 0x4591},
    // f16: the accumulator and the result are 3ea00000 and bf118000 as f32.
    {"89", mma(MmaFormat::E4M3, MmaAccumulator::F16),
     "373f323db8c1b5ae38ad37b8b832af9d2ac299b32eaeb0b5c1b5b3a32e3e3c2b",
     "af36b0b5b911bf392ea61c33bd3caaadae3b2e32a1b2aab819b9b62228b9b8b7", 0x3500, 0xb88c},
    {"90a", wgmmaShape(MmaFormat::E4M3),
     "1bbd32bc26b12b1e3e3834b5b5aa3fb8af2bb28db638359e21ba9789ab26303e",
     "b62f3ab3b5a6b1b2b727adbac331a5bb07bc3227b238b8b0b0a628ae30bc2db1", 0x00000000, 0x3fe6ac00},
    {"90a", wgmmaShape(MmaFormat::E4M3),
     "19a731b8b136b509bd372bbdb237b53a392e398623b7b7338133b1b438a3ac43",
     "40abaa362738b88d10baa8adb0a8b3b03abab0b634b7b0b130b340acb8aea834", 0x00000000, 0x3fb33400},
    {"90a", wgmmaShape(MmaFormat::E5M2),
     "33b93f38b43fbd3dbd2baf21b935b7b61dba3ab6b9b83ab83bba2fbab6363cac",
     "35b432b9b43c3fbcbab823ae3dbe353d40bd3c31ba38bc3e3d3c3abab832adb3", 0x00000000, 0xbf4b1800},
    {"90a", wgmmaShape(MmaFormat::E5M2),
     "b93a30b4b7bf2abbacbcbf343dbfaab909b7343c3b3ab4b93ab83e383bab3e27",
     "3eab363b27aeae403934b63f373db4b7babe3a1c363a2fc2c0b73d3ebeaf3a2e", 0x00000000, 0x3fb94000},
    {"100a", mma(MmaFormat::E4M3, MmaAccumulator::F32),
     "3738aa3bb32a383e3635b82b0f293835b83703baaea63a3d9226b0afb333422d",
     "31b22d29bf2fbcb91bb3b540874121aab73fb231ad9db83a3d3b9b86bcac1283", 0x3f66b81c, 0x4096153c},
    {"100a", mma(MmaFormat::E4M3, MmaAccumulator::F32),
     "a824b28922b334aa291a2ab43caabd2f28b2b1b92bba1c38aa40aa36bab0aa33",
     "3833379728b6a439b1ba2e0d4039b3c1b0af3fb336b490b71cb73cc138ae33af", 0x3edd2b2c, 0xc051d1ba},
    // f16: the accumulator and the result are 3f214000 and 408d8000 as f32.
    {"90a", mma(MmaFormat::E4M3, MmaAccumulator::F16),
     "3738aa3bb32a383e3635b82b0f293835b83703baaea63a3d9226b0afb333422d",
     "31b22d29bf2fbcb91bb3b540874121aab73fb231ad9db83a3d3b9b86bcac1283", 0x390a, 0x446c},
    // f16: the accumulator and the result are 3f1f6000 and c045a000 as f32.
    {"90a", mma(MmaFormat::E4M3, MmaAccumulator::F16),
     "a824b28922b334aa291a2ab43caabd2f28b2b1b92bba1c38aa40aa36bab0aa33",
     "3833379728b6a439b1ba2e0d4039b3c1b0af3fb336b490b71cb73cc138ae33af", 0x38fb, 0xc22d},
};

} // namespace

static std::vector<std::uint32_t> bytesOfHex(const std::string &hex) {
  std::vector<std::uint32_t> bytes;
  for (std::size_t i = 0; i < hex.size(); i += 2) {
    bytes.push_back(static_cast<std::uint32_t>(std::stoul(hex.substr(i, 2), nullptr, 16)));
  }
  return bytes;
}

TEST(GoldenVectorTest, ReproducesResultsOfRealGpus) {
  for (const HexVector &vector : kVectors) {
    const std::vector<Sample> samples = {
        {bytesOfHex(vector.a), bytesOfHex(vector.b), vector.c, vector.d}};

    EXPECT_EQ(countMismatches(vector.shape, vector.arch, samples), 0)
        << "sm_" << vector.arch << ", a = " << vector.a;
  }
}

} // namespace fp8jit::emulator::testing
