// fp8jit tune on the emulated device, and what the other commands see of its winner.
#include "tests/cli/command_runner.h"

#include <gtest/gtest.h>

namespace fp8jit {
namespace {

using testing::CommandResult;
using testing::CommandRunner;
using testing::numberOf;
using testing::textOf;

constexpr const char *kGemm = "gemm m=16 n=64 k=128 sa=row sb=row";

std::vector<std::string> tuneWords(const std::string &top) {
  return {"tune", kGemm, "--device", "emulator:sm_89", "--top", top};
}

TEST(TuneCommandTest, StoresAWinnerThatOtherCommandsUse) {
  const CommandRunner runner;
  const JsonValue tuned = runner.runJson(tuneWords("2"));
  const JsonValue used = runner.runJson({"gemm", kGemm, "--device", "emulator:sm_89"});
  const JsonValue listed = runner.runJson({"cache", "list"});

  EXPECT_EQ(textOf(tuned, "problem"), "gemm m=16 n=64 k=128 a=e4m3 b=e4m3 d=bf16 sa=row sb=row");
  EXPECT_EQ(textOf(tuned, "provenance"), "modelled");
  EXPECT_GE(numberOf(tuned, "compiled"), 1);
  EXPECT_GE(numberOf(tuned, "checked"), 1);
  EXPECT_EQ(textOf(used, "config"), textOf(tuned, "winner"));
  EXPECT_EQ(textOf(used, "config_source"), "winner");
  EXPECT_EQ(textOf(used, "provenance"), "modelled");
  EXPECT_EQ(textOf(used, "cache"), "disk");
  EXPECT_EQ(textOf(listed, "config"), textOf(tuned, "winner"));
  EXPECT_EQ(textOf(listed, "provenance"), "modelled");
  EXPECT_GT(numberOf(listed, "time_us"), 0);
}

TEST(TuneCommandTest, ListsEveryCandidateWithItsStatus) {
  const JsonValue tuned = CommandRunner().runJson(tuneWords("1"));

  const JsonValue *candidates = tuned.find("candidates");
  ASSERT_NE(candidates, nullptr);
  ASSERT_FALSE(candidates->items.empty());
  EXPECT_LE(candidates->items.size(), 24U);
  int good = 0;
  for (const JsonValue &candidate : candidates->items) {
    EXPECT_FALSE(textOf(candidate, "config").empty());
    EXPECT_GT(numberOf(candidate, "model_us"), 0) << textOf(candidate, "config");
    if (textOf(candidate, "status") == "ok") {
      ++good;
      EXPECT_GT(numberOf(candidate, "time_us"), 0);
    }
  }
  EXPECT_GE(good, 1);
}

TEST(TuneCommandTest, AnswersTheSecondTimeFromTheCache) {
  const CommandRunner runner;
  const JsonValue first = runner.runJson(tuneWords("1"));
  const JsonValue second = runner.runJson(tuneWords("1"));

  EXPECT_EQ(textOf(first, "from_cache"), "no");
  EXPECT_EQ(textOf(second, "from_cache"), "yes");
  EXPECT_EQ(textOf(second, "winner"), textOf(first, "winner"));
  EXPECT_EQ(numberOf(second, "compiled"), 0);
}

TEST(TuneCommandTest, TunesEveryLineOfAFile) {
  const CommandRunner runner;
  const std::string shapes = runner.folder().write(
      "shapes.txt", "# two problems\n\n  gemm m=1 n=16 k=32\r\nquant m=4 n=128 s=1x128\n");

  const CommandResult result = runner.run(
      {"tune", "--shapes", shapes, "--device", "emulator:sm_89", "--top", "1", "--json"});

  EXPECT_EQ(result.status, 0) << result.err;
  EXPECT_EQ(llvm::StringRef(result.out).count('\n'), 2U) << result.out;
  EXPECT_EQ(numberOf(runner.runJson({"cache", "stats"}), "winners"), 2);
}

TEST(TuneCommandTest, GoesOnPastALineThatCannotBeTuned) {
  const CommandRunner runner;
  const std::string shapes = runner.folder().write(
      "shapes.txt", "gemm m=0 n=16 k=32\ngemm m=1 n=16 k=32 bias=f32\ngemm m=1 n=16 k=32\n");

  const CommandResult result =
      runner.run({"tune", "--shapes", shapes, "--device", "emulator:sm_89", "--top", "1"});

  EXPECT_EQ(result.status, 1);
  EXPECT_NE(result.err.find("m=0 n=16 k=32"), std::string::npos) << result.err;
  EXPECT_NE(result.err.find("shapes.txt line 2"), std::string::npos) << result.err;
  EXPECT_NE(result.out.find("winner"), std::string::npos) << result.out;
  EXPECT_EQ(numberOf(runner.runJson({"cache", "stats"}), "winners"), 1);
}

TEST(TuneCommandTest, NamesTheLineOfABadProblem) {
  const CommandRunner runner;
  const std::string shapes = runner.folder().write("shapes.txt", "# one\ngemm m=1 n=16\n");

  const JsonValue json = runner.runJson({"tune", "--shapes", shapes}, 1);

  EXPECT_NE(textOf(*json.find("error"), "message").find("shapes.txt line 2: key k is missing"),
            std::string::npos);
}

TEST(TuneCommandTest, GemmTunesOnAMissWhenAskedTo) {
  const JsonValue json = CommandRunner().runJson(
      {"gemm", "gemm m=1 n=16 k=32", "--device", "emulator:sm_89", "--on-miss", "tune", "--check"});

  EXPECT_EQ(textOf(json, "config_source"), "winner");
  EXPECT_EQ(textOf(json, "provenance"), "modelled");
}

TEST(TuneCommandTest, RefusesProblemsThatThisMachineCannotHold) {
  const CommandRunner runner;
  for (const char *line : {"gemm m=1 n=2147483647 k=2147483647", "gemm m=64 n=1 k=2147483647",
                           "quant m=2147483647 n=2147483647"}) {
    const JsonValue json = runner.runJson({"tune", line, "--device", "emulator:sm_89"}, 1);
    ASSERT_NE(json.find("error"), nullptr) << line;
    EXPECT_EQ(textOf(*json.find("error"), "code"), "InvalidArgument") << line;
    EXPECT_NE(textOf(*json.find("error"), "message").find("host memory"), std::string::npos);
  }
}

} // namespace
} // namespace fp8jit
