#include "runtime/ptxas_report.h"

#include <gtest/gtest.h>

namespace fp8jit {

TEST(PtxasReportTest, ReadsResourcesOfOneEntry) {
  // Written by ptxas 13.0.88 for a spilling kernel.
  const PtxasReport report = parsePtxasReport(
      "ptxas info    : 0 bytes gmem\n"
      "ptxas info    : Compiling entry function 'gemm' for 'sm_90a'\n"
      "ptxas info    : Function properties for gemm\n"
      "ptxas         .     208 bytes stack frame, 336 bytes spill stores, 340 bytes spill loads\n"
      "ptxas info    : Used 168 registers, used 16 barriers, 208 bytes cumulative stack size, 1024 "
      "bytes smem\n"
      "ptxas info    : Compile time = 269.297 ms\n");

  ASSERT_EQ(report.entries.size(), 1U);
  const PtxasEntry &entry = report.entries[0];
  EXPECT_EQ(entry.name, "gemm");
  EXPECT_EQ(entry.registers, 168);
  EXPECT_EQ(entry.stackBytes, 208);
  EXPECT_EQ(entry.spillStoreBytes, 336);
  EXPECT_EQ(entry.spillLoadBytes, 340);
  EXPECT_EQ(entry.barriers, 16);
  EXPECT_EQ(entry.staticSmemBytes, 1024);
  EXPECT_TRUE(report.advisories.empty());
}

TEST(PtxasReportTest, KeepsEntriesApart) {
  const PtxasReport report = parsePtxasReport(
      "ptxas info    : Compiling entry function 'amax' for 'sm_89'\n"
      "ptxas info    : Function properties for amax\n"
      "ptxas         .     0 bytes stack frame, 0 bytes spill stores, 0 bytes spill loads\n"
      "ptxas info    : Used 16 registers, used 1 barriers, 128 bytes smem\n"
      "ptxas info    : Compiling entry function 'cast' for 'sm_89'\n"
      "ptxas info    : Function properties for cast\n"
      "ptxas         .     0 bytes stack frame, 8 bytes spill stores, 12 bytes spill loads\n"
      "ptxas info    : Used 24 registers, used 0 barriers\n");

  ASSERT_NE(report.find("amax"), nullptr);
  ASSERT_NE(report.find("cast"), nullptr);
  EXPECT_EQ(report.find("amax")->registers, 16);
  EXPECT_EQ(report.find("amax")->spillLoadBytes, 0);
  EXPECT_EQ(report.find("cast")->registers, 24);
  EXPECT_EQ(report.find("cast")->spillLoadBytes, 12);
  EXPECT_EQ(report.find("scale"), nullptr);
}

TEST(PtxasReportTest, DoesNotTakeTheFrameOfACalledFunction) {
  const PtxasReport report = parsePtxasReport(
      "ptxas info    : Compiling entry function 'gemm' for 'sm_89'\n"
      "ptxas info    : Function properties for gemm\n"
      "ptxas         .     0 bytes stack frame, 0 bytes spill stores, 0 bytes spill loads\n"
      "ptxas info    : Used 40 registers, used 1 barriers, 16 bytes cumulative stack size\n"
      "ptxas info    : Function properties for helper\n"
      "ptxas         .     16 bytes stack frame, 4 bytes spill stores, 4 bytes spill loads\n");

  ASSERT_EQ(report.entries.size(), 1U);
  EXPECT_EQ(report.entries[0].spillStoreBytes, 0);
  EXPECT_EQ(report.entries[0].stackBytes, 16);
}

TEST(PtxasReportTest, CollectsAdvisoriesAndWarnings) {
  const PtxasReport report = parsePtxasReport(
      "ptxas info    : (C7508) Potential Performance Loss: 'setmaxnreg' ignored; unable to "
      "determine "
      "register count at entry.\n"
      "ptxas warning : Registers are spilled to local memory in function 'gemm', 336 bytes spill "
      "stores, 340 bytes spill loads\n");

  ASSERT_EQ(report.advisories.size(), 1U);
  EXPECT_EQ(report.advisories[0].code, "C7508");
  EXPECT_EQ(report.advisories[0].text,
            "Potential Performance Loss: 'setmaxnreg' ignored; unable to "
            "determine register count at entry.");
  ASSERT_EQ(report.warnings.size(), 1U);
  EXPECT_TRUE(report.entries.empty());
}

TEST(PtxasReportTest, SkipsWhatItDoesNotKnow) {
  EXPECT_TRUE(parsePtxasReport("").entries.empty());
  EXPECT_TRUE(
      parsePtxasReport("default_program(3): warning #177-D: unused (Cxx)\n").advisories.empty());
}

} // namespace fp8jit
