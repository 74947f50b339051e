// Broken text must be refused, never crash: real PTX cut off at every 37th byte, and with bytes
// changed at places that a fixed seed chooses. Under sanitizers this is the front end's memory
// test.
#include "tests/emulator/ptx/ptx_support.h"

#include <gtest/gtest.h>

#include <random>

namespace fp8jit::emulator {
namespace {

/// Loads `text`; a refusal must say where and why.
bool loads(const std::string &text, const std::string &arch = "89") {
  Module module;
  PtxError error;
  const bool isLoaded = loadModule(text, arch, module, error);
  if (!isLoaded) {
    EXPECT_GE(error.line, 1U);
    EXPECT_FALSE(error.message.empty());
  }
  return isLoaded;
}

TEST(MutationTest, RefusesTruncatedText) {
  constexpr std::size_t kStep = 37;
  for (const std::string &file : testing::realPtxFiles()) {
    const std::string text = testing::readPtxFile(file);
    const std::size_t lastFunction = text.rfind("\n{\n");
    const std::size_t header = text.find(".address_size");
    for (std::size_t size = 0; size < text.size(); size += kStep) {
      const bool isLoaded = loads(text.substr(0, size));
      // In front of the first instruction or inside the last body nothing can be complete.
      if (size < header || (size > lastFunction && size < text.rfind('}'))) {
        EXPECT_FALSE(isLoaded) << file << " cut at " << size;
      }
    }
  }
}

TEST(MutationTest, SurvivesChangedBytes) {
  constexpr int kMutants = 300;
  constexpr std::uint32_t kSeed = 20250;
  std::mt19937 random(kSeed);
  const std::string alphabet = "{}[]()<>,;:+-@!|.%_ \n\t\"0aZ9r\xff";
  for (const std::string &file : testing::realPtxFiles()) {
    const std::string text = testing::readPtxFile(file);
    for (int mutant = 0; mutant < kMutants; ++mutant) {
      std::string changed = text;
      for (unsigned i = 0; i < 1 + random() % 3; ++i) {
        changed[random() % changed.size()] = alphabet[random() % alphabet.size()];
      }
      loads(changed);
    }
  }
}

TEST(MutationTest, SurvivesChangedNumbersAndMovedLines) {
  constexpr int kMutants = 200;
  constexpr std::uint32_t kSeed = 40;
  std::mt19937 random(kSeed);
  for (const std::string &file : testing::realPtxFiles()) {
    const std::string text = testing::readPtxFile(file);
    for (int mutant = 0; mutant < kMutants; ++mutant) {
      std::string changed = text;
      const std::size_t digit = changed.find_first_of("0123456789", random() % changed.size());
      if (digit != std::string::npos) {
        changed.replace(digit, 1, "18446744073709551615");
      }
      const std::size_t from = changed.find('\n', random() % changed.size());
      const std::size_t to = from == std::string::npos ? from : changed.find('\n', from + 1);
      if (to != std::string::npos) {
        const std::string line = changed.substr(from, to - from);
        changed.erase(from, to - from);
        changed.insert(random() % changed.size(), line);
      }
      loads(changed);
    }
  }
}

TEST(MutationTest, SurvivesChangedInstructionsOfHopper) {
  const std::string text = testing::moduleWith(
      ".reg .b128 %q<3>; elect.sync _|%p1, -1; mbarrier.init.shared.b64 [tile+8], 1;\n"
      "@%p1 cp.async.bulk.tensor.2d.shared::cluster.global.mbarrier::complete_tx::bytes"
      ".multicast::cluster.L2::cache_hint [%r1+16], [%rd1+64, {%r2, 8}], [%r3+8], %h1, %rd2;\n"
      "wgmma.mma_async.sync.aligned.m64n8k16.f32.f16.f16 {%f1,%f2,%f3,%f4}, %rd1, %rd2, %p1, 1, "
      "-1, 0, 1; mov.b128 %q1, {%rd1, %rd2}; setmaxnreg.inc.sync.aligned.u32 240;\n"
      "tensormap.replace.tile.global_dim.shared::cta.b1024.b32 [%r1], 3, %r2;\n"
      "fence.proxy.tensormap::generic.acquire.gpu [%rd1+128], 128; ret;",
      "sm_90a");
  constexpr int kMutants = 4000;
  constexpr std::uint32_t kSeed = 90;
  std::mt19937 random(kSeed);
  const std::string alphabet = "{}[]()<>,;:+-@!|.%_ \n0aZ9r";

  EXPECT_TRUE(loads(text, "90a"));
  for (int mutant = 0; mutant < kMutants; ++mutant) {
    std::string changed = text;
    for (unsigned i = 0; i < 1 + random() % 3; ++i) {
      changed[random() % changed.size()] = alphabet[random() % alphabet.size()];
    }
    loads(changed, "90a");
  }
}

TEST(MutationTest, RefusesHostileText) {
  const std::string header = ".version 9.0\n.target sm_89\n.visible .entry k() {\n";
  EXPECT_FALSE(loads(header + std::string(200000, '{')));
  EXPECT_TRUE(loads(header + std::string(50000, '{') + std::string(50001, '}')));
  EXPECT_FALSE(loads(header + ".shared .b64 s[99999999999];}"));
  EXPECT_FALSE(loads(header + ".local .b8 a[1073741824]; .local .b8 b[1073741824];}"));
  EXPECT_FALSE(loads(header + ".reg .b32 %r<1048577>;}"));
  EXPECT_FALSE(loads(".version 9.0\n.target sm_89\n.global .b8 a[68719476737];"));
  EXPECT_FALSE(loads(std::string("\0\0\0", 3)));
}

TEST(MutationTest, RefusesCallsThatGrowWithoutBound) {
  // Forty functions that each call the one before twice would make 2^40 copies.
  std::string text = ".version 9.0\n.target sm_89\n.func f0() { ret; }\n";
  for (int i = 1; i <= 40; ++i) {
    const std::string callee = "f" + std::to_string(i - 1);
    text +=
        ".func f" + std::to_string(i) + "() { call " + callee + "; call " + callee + "; ret; }\n";
  }
  EXPECT_FALSE(loads(text + ".visible .entry k() { call f40; ret; }\n"));
}

} // namespace
} // namespace fp8jit::emulator
