// The edits of PTX text themselves.
#include "tests/emulator/hopper/mutation.h"

#include "gtest/gtest.h"

namespace fp8jit::testing {

static const std::string kText = "// site wait\n"
                                 "mbarrier.try_wait.parity.shared::cta.b64 done, [%r1], %r2;\n"
                                 "// site fence\n"
                                 "mov.u32 %r1, 0;\n"
                                 "\tfence.proxy.async;\n"
                                 "// site fence\n"
                                 "\tfence.proxy.async;\n"
                                 "cp.async.bulk.wait_group 0;\n";

TEST(MutationTest, RemovesTheInstructionBehindEverySite) {
  EXPECT_EQ(mutate(kText, removed("fence.proxy.async", "fence", "")),
            "// site wait\n"
            "mbarrier.try_wait.parity.shared::cta.b64 done, [%r1], %r2;\n"
            "// site fence\n"
            "mov.u32 %r1, 0;\n"
            "// removed\n"
            "// site fence\n"
            "// removed\n"
            "cp.async.bulk.wait_group 0;\n");
}

TEST(MutationTest, ChangesOneLineForAnother) {
  const std::string site = "// site a\n";
  const std::string wait = "mbarrier.try_wait.parity.shared::cta.b64 done, [%r1], %r2;\n";
  EXPECT_EQ(mutate(site + wait, skippedWait("a", "")), site + "setp.eq.u32 done, 0, 0;\n");
  EXPECT_EQ(mutate(site + wait, flippedParity("a", "")),
            site + ".reg .b32 flipped; xor.b32 flipped, %r2, 1; "
                   "mbarrier.try_wait.parity.shared::cta.b64 done, [%r1], flipped;\n");
  EXPECT_EQ(mutate(site + "mbarrier.init.b64 [%r1], %r2;\n", operand("init", "a", "3", "")),
            site + "mbarrier.init.b64 [%r1], 3;\n");
  EXPECT_EQ(mutate(site + "cp.async.bulk.wait_group 0;\n", operand("wait_group", "a", "1", "")),
            site + "cp.async.bulk.wait_group 1;\n");
  EXPECT_EQ(mutate(site + "wait_group 0;\n", replaced("wait_group", "wait_group.read", "a", "")),
            site + "wait_group.read 0;\n");
}

TEST(MutationTest, RefusesWhatIsNotThere) {
  EXPECT_EQ(mutate(kText, removed("bar.sync", "fence", "")), "");
  EXPECT_EQ(mutate(kText, removed("fence.proxy.async", "wait", "")), "");
  EXPECT_EQ(mutate(kText, removed("fence.proxy.async", "no such site", "")), "");
}

TEST(MutationTest, FindsTheLinesOfASite) {
  EXPECT_TRUE(namesSite("PTX line 2: mbarrier", kText, "wait"));
  EXPECT_FALSE(namesSite("PTX line 24: mbarrier", kText, "wait"));
  EXPECT_FALSE(namesSite("PTX line 5: fence", kText, "wait"));
  EXPECT_TRUE(namesSite("PTX line 7: fence", kText, "fence"));
}

} // namespace fp8jit::testing
