// Help texts, exit statuses and error reports: what needs no kernel.
#include "tests/cli/command_runner.h"

#include <gtest/gtest.h>

namespace fp8jit {
namespace {

using testing::CommandResult;
using testing::CommandRunner;
using testing::textOf;

using Words = std::vector<std::string>;

constexpr const char *kTinyGemm = "gemm m=2 n=3 k=4";

TEST(CommandUsageTest, HelpNamesEveryCommand) {
  const CommandResult result = CommandRunner().run({"--help"});

  EXPECT_EQ(result.status, 0);
  EXPECT_EQ(result.err, "");
  for (const char *name : {"devices", "gemm", "quantize", "tune", "inspect", "cache", "emulate"}) {
    EXPECT_NE(result.out.find(name), std::string::npos) << name;
  }
}

TEST(CommandUsageTest, EveryCommandHasShortHelpWithAnExample) {
  const CommandRunner runner;
  for (const char *name : {"devices", "gemm", "quantize", "tune", "inspect", "cache", "emulate"}) {
    const CommandResult result = runner.run({name, "--help"});
    EXPECT_EQ(result.status, 0) << name;
    EXPECT_NE(result.out.find(std::string("usage: fp8jit ") + name), std::string::npos) << name;
    EXPECT_NE(result.out.find(std::string("example:\n  fp8jit ") + name), std::string::npos);
    EXPECT_LT(llvm::StringRef(result.out).count('\n'), 30U) << result.out;
  }
}

TEST(CommandUsageTest, RefusesLinesThatCannotBeUnderstoodWithStatusTwo) {
  const std::pair<Words, const char *> cases[] = {
      {{}, "a command is missing"},
      {{"frobnicate"}, "unknown command 'frobnicate'"},
      {{"--frobnicate"}, "unknown command '--frobnicate'"},
      {{"gemm"}, "gemm: \"<problem>\" is missing"},
      {{"gemm", kTinyGemm, "--frobnicate"}, "gemm: unknown flag '--frobnicate', expected one of"},
      {{"gemm", kTinyGemm, "--x", "f.npy"}, "gemm: unknown flag '--x'"},
      {{"gemm", kTinyGemm, "--out"}, "flag --out: its value is missing"},
      {{"gemm", kTinyGemm, "--out", "--check"}, "flag --out: its value is missing"},
      {{"gemm", kTinyGemm, "--check=yes"}, "flag --check: found a value, expected none"},
      {{"gemm", kTinyGemm, "--seed", "1", "--seed", "2"}, "flag --seed: found twice"},
      {{"gemm", "gemm", "m=2", "n=3", "k=4"}, "gemm: found a word too many, 'm=2'"},
      {{"devices", "all"}, "devices: found a word too many"},
      {{"quantize", "quant m=2 n=3"}, "flag --x is missing"},
      {{"quantize", "quant m=2 n=3 sc=given", "--x", "x.npy"}, "flag --s is missing"},
      {{"inspect", kTinyGemm}, "flag --show is missing"},
      {{"cache"}, "path|stats|list is missing"},
      {{"cache", "frobnicate"}, "cache: found 'frobnicate', expected path, stats or list"},
      {{"tune"}, "tune: \"<problem>\" or --shapes FILE is missing"},
      {{"tune", kTinyGemm, "--shapes", "f"}, "tune: found \"<problem>\" and --shapes"},
  };
  const CommandRunner runner;
  for (const auto &[words, messagePart] : cases) {
    const CommandResult result = runner.run(words);
    EXPECT_EQ(result.status, 2) << messagePart << ": " << result.err;
    EXPECT_EQ(result.out, "") << messagePart;
    EXPECT_NE(result.err.find(std::string("error: InvalidArgument: ")), std::string::npos);
    EXPECT_NE(result.err.find(messagePart), std::string::npos) << result.err;
  }
}

struct FailureCase {
  Words words;
  const char *code;
  const char *messagePart;
};

const FailureCase kFailureCases[] = {
    {{"gemm", "gemm m=2 n=3"}, "InvalidArgument", "key k is missing"},
    {{"gemm", "gemm m=2 n=3 k=4 k=5"}, "InvalidArgument", "key k: found twice"},
    {{"gemm", "gemm m=-1 n=3 k=4"}, "InvalidArgument", "key m: found '-1'"},
    {{"gemm", ""}, "InvalidArgument", "problem is empty"},
    {{"gemm", "quant m=2 n=3"}, "InvalidArgument", "problem: found a quant line, expected gemm"},
    {{"quantize", kTinyGemm, "--x", "x.npy"}, "InvalidArgument", "problem: found a gemm line"},
    {{"gemm", kTinyGemm, "--alpha", "big"}, "InvalidArgument", "flag --alpha: found 'big'"},
    {{"gemm", kTinyGemm, "--alpha", "1e40"}, "InvalidArgument", "flag --alpha: found '1e40'"},
    {{"gemm", kTinyGemm, "--alpha", "nan"}, "InvalidArgument", "flag --alpha: found 'nan'"},
    {{"gemm", kTinyGemm, "--seed", "-1"}, "InvalidArgument", "flag --seed: found '-1'"},
    {{"gemm", kTinyGemm, "--on-miss", "never"}, "InvalidArgument", "flag --on-miss: found 'never'"},
    {{"gemm", kTinyGemm, "--config", "mma tile=7"}, "InvalidArgument", "flag --config: "},
    {{"gemm", kTinyGemm, "--out", "d.bin"}, "InvalidArgument", "expected FILE.npy as output"},
    {{"gemm", kTinyGemm, "--out", "/absent/d.npy"},
     "InvalidArgument",
     "/absent/d.npy: cannot write"},
    {{"gemm", kTinyGemm, "--bias", "f.npy"}, "Unsupported", "flag --bias is not in this build"},
    {{"gemm", kTinyGemm, "--beta", "2"}, "Unsupported", "flag --beta is not in this build"},
    {{"gemm", "gemm m=2", "--beta", "2"}, "InvalidArgument", "key n is missing"},
    {{"gemm", kTinyGemm, "--device", "emulator:sm_12"}, "NoDevice", "emulator:sm_12"},
    {{"gemm", kTinyGemm, "--device", "tpu"}, "NoDevice", "tpu"},
    {{"gemm", "ggemm m=2 n=3 k=4"}, "Unsupported", "operation ggemm is reserved"},
    {{"quantize", "quant m=2 n=3", "--x", "x.npy", "--scale", "2"},
     "InvalidArgument",
     "flag --scale: found with sc=amax"},
    {{"quantize", "quant m=2 n=3 s=row sc=given", "--x", "x.npy", "--scale", "2"},
     "InvalidArgument",
     "flag --scale: found with row units"},
    {{"quantize", "quant m=2 n=3 sc=given", "--x", "x.npy", "--scale", "2", "--s", "s.npy"},
     "InvalidArgument",
     "flag --scale: found with --s"},
    {{"quantize", "quant m=2 n=3", "--x", "x.npy", "--qt", "q.npy"}, "Unsupported", "flag --qt"},
    {{"quantize", "quant m=2 n=3", "--x", "x.npy", "--q", "/absent/q.npy"},
     "InvalidArgument",
     "/absent/q.npy: cannot write"},
    {{"inspect", kTinyGemm, "--show", "pictures"},
     "InvalidArgument",
     "flag --show: found 'pictures'"},
    {{"inspect", kTinyGemm, "--show", "sass"}, "Unsupported", "shows source, ptx, config"},
    {{"inspect", "gemm k=1", "--show", "sass"}, "InvalidArgument", "key m is missing"},
    {{"inspect", kTinyGemm, "--show", "source", "--arch", "volta"},
     "InvalidArgument",
     "flag --arch: found 'volta', expected one of sm_89"},
    {{"inspect", kTinyGemm, "--show", "source", "--arch", "sm_70"},
     "Unsupported",
     "this build has"},
    {{"inspect", kTinyGemm, "--show", "source", "--arch", "sm_90a"},
     "Unsupported",
     "target sm_90a is not supported by this build for gemm, expected sm_89"},
    {{"inspect", kTinyGemm, "--show", "source", "--arch", "sm_89", "--device", "cuda:0"},
     "InvalidArgument",
     "flag --arch: found with --device"},
    {{"inspect", "gemm m=2 n=3 k=4 a=e5m2", "--show", "source", "--arch", "sm_89"},
     "Unsupported",
     "expected a=e4m3"},
    {{"inspect", kTinyGemm, "--show", "source", "--arch", "sm_89", "--templates", "/absent"},
     "NotFound",
     "/absent"},
    {{"cache", "verify"}, "Unsupported", "cache verify is not in this build"},
    {{"cache", "stats", "--cache", "none"}, "NotFound", "there is no cache folder"},
    {{"prewarm", "--shapes", "f"}, "Unsupported", "command prewarm is not in this build"},
    {{"doctor"}, "Unsupported", "command doctor is not in this build"},
    {{"tune", "gemm m=2 n=3"}, "InvalidArgument", "key k is missing"},
    {{"tune", kTinyGemm, "--budget", "soon"}, "InvalidArgument", "flag --budget: found 'soon'"},
    {{"tune", kTinyGemm, "--top", "25"},
     "InvalidArgument",
     "flag --top: found 25, expected 1 to 24"},
    {{"tune", "--shapes", "/absent/shapes.txt"}, "NotFound", "/absent/shapes.txt"},
};

TEST(CommandUsageTest, FailuresHaveACodeAMessageAndStatusOne) {
  const CommandRunner runner;
  for (const FailureCase &test : kFailureCases) {
    const CommandResult result = runner.run(test.words);
    EXPECT_EQ(result.status, 1) << test.messagePart << ": " << result.err;
    EXPECT_EQ(result.out, "") << test.messagePart;
    EXPECT_NE(result.err.find(std::string("error: ") + test.code + ": "), std::string::npos)
        << test.messagePart << ": " << result.err;
    EXPECT_NE(result.err.find(test.messagePart), std::string::npos) << result.err;
  }
}

TEST(CommandUsageTest, FailuresAreOneJsonObject) {
  const CommandRunner runner;
  for (const FailureCase &test : kFailureCases) {
    const JsonValue json = runner.runJson(test.words, 1);
    const JsonValue *error = json.find("error");
    ASSERT_NE(error, nullptr) << test.messagePart;
    EXPECT_EQ(textOf(*error, "code"), test.code) << test.messagePart;
    EXPECT_NE(textOf(*error, "message").find(test.messagePart), std::string::npos)
        << textOf(*error, "message");
  }
}

TEST(CommandUsageTest, UsageErrorsAreJsonToo) {
  const JsonValue json = CommandRunner().runJson({"gemm", kTinyGemm, "--frobnicate"}, 2);

  ASSERT_NE(json.find("error"), nullptr);
  EXPECT_EQ(textOf(*json.find("error"), "code"), "InvalidArgument");
}

TEST(CommandUsageTest, StreamsThatCannotBeWrittenAreAFailureNotACrash) {
  if (!llvm::sys::fs::exists("/dev/full")) {
    GTEST_SKIP() << "this system has no /dev/full";
  }
  const CommandRunner runner;
  const std::string file = runner.folder().file("stream");

  EXPECT_EQ(runner.runOnto({"cache", "path"}, "/dev/full", file), 1);
  EXPECT_EQ(runner.runOnto({"gemm", "x", "--json"}, "/dev/full", file), 1);
  EXPECT_EQ(runner.runOnto({"gemm", "x", "--json"}, file, "/dev/full"), 1);
  EXPECT_EQ(runner.runOnto({"frobnicate"}, "/dev/full", "/dev/full"), 2);
}

TEST(CommandUsageTest, NothingIsLeftBehindByFailures) {
  const CommandRunner runner;
  const std::string out = runner.folder().file("d.npy");

  const CommandResult result =
      runner.run({"gemm", kTinyGemm, "--out", out, "--device", "emulator:sm_12"});

  EXPECT_EQ(result.status, 1);
  EXPECT_FALSE(llvm::sys::fs::exists(out));
}

} // namespace
} // namespace fp8jit
