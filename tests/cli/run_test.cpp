// fp8jit gemm and quantize on the emulated device: files in, files out, JSON, and wrong files.
#include "support/float_formats.h"
#include "support/npy.h"
#include "tests/cli/command_runner.h"

#include <gtest/gtest.h>

#include <cstring>

namespace fp8jit {
namespace {

using testing::CommandResult;
using testing::CommandRunner;
using testing::numberOf;
using testing::textOf;

HostTensor floats(TensorDims dims, const std::vector<float> &values) {
  HostTensor tensor{ElementType::F32, std::move(dims), {}};
  tensor.bytes.resize(values.size() * sizeof(float));
  std::memcpy(tensor.bytes.data(), values.data(), tensor.bytes.size());
  return tensor;
}

std::vector<float> valuesOf(const HostTensor &tensor) {
  std::vector<float> values(tensor.bytes.size() / sizeof(float));
  std::memcpy(values.data(), tensor.bytes.data(), tensor.bytes.size());
  return values;
}

/// Writes `tensor` into the folder of `runner` and returns its path.
std::string save(const CommandRunner &runner, const std::string &name, const HostTensor &tensor) {
  const std::string path = runner.folder().file(name);
  EXPECT_OK(writeNpy(path, tensor));
  return path;
}

TEST(GemmCommandTest, MultipliesCodesWithScales) {
  const CommandRunner runner;
  // A = [[1, 2], [-0.5, 4]], B = [[1, 1]]; scales 2 and 0.5; alpha 3.
  const std::string a = save(
      runner, "a.npy",
      {ElementType::U8, {2, 2}, {encodeE4m3(1), encodeE4m3(2), encodeE4m3(-0.5F), encodeE4m3(4)}});
  const std::string b =
      save(runner, "b.npy", {ElementType::U8, {1, 2}, {encodeE4m3(1), encodeE4m3(1)}});
  const std::string sa = save(runner, "sa.npy", floats({1}, {2}));
  const std::string sb = save(runner, "sb.npy", floats({1}, {0.5F}));
  const std::string out = runner.folder().file("d.npy");

  const JsonValue json =
      runner.runJson({"gemm", "gemm m=2 n=1 k=2 d=f32", "--device", "emulator:sm_89", "--a", a,
                      "--b", b, "--sa", sa, "--sb", sb, "--alpha", "3", "--out", out, "--check"});

  llvm::Expected<HostTensor> d = readNpy(out);
  ASSERT_OK(d);
  EXPECT_EQ(d->type, ElementType::F32);
  EXPECT_EQ(d->dims, (TensorDims{2, 1}));
  EXPECT_EQ(valuesOf(*d), (std::vector<float>{9, 10.5F}));
  EXPECT_EQ(numberOf(json, "rel_error"), 0);
  EXPECT_EQ(numberOf(json, "nan_mismatch"), 0);
}

TEST(GemmCommandTest, ReportsTheKernelAndItsTime) {
  const CommandRunner runner;
  const std::vector<std::string> words = {"gemm", "gemm k=256 n=64 m=16", "--device",
                                          "emulator:sm_89"};
  const JsonValue first = runner.runJson(words);
  const JsonValue second = runner.runJson(words);

  EXPECT_EQ(textOf(first, "problem"),
            "gemm m=16 n=64 k=256 a=e4m3 b=e4m3 d=bf16 sa=tensor sb=tensor");
  EXPECT_EQ(textOf(first, "device"), "emulator:sm_89");
  EXPECT_EQ(textOf(first, "arch"), "sm_89");
  EXPECT_EQ(textOf(first, "kernel_key").size(), 64U);
  EXPECT_EQ(textOf(first, "config_source"), "default");
  EXPECT_EQ(textOf(first, "provenance"), "default");
  EXPECT_EQ(textOf(first, "cache"), "compiled");
  EXPECT_GT(numberOf(first, "compile_ms"), 0);
  EXPECT_EQ(textOf(first, "time_kind"), "modelled");
  EXPECT_GT(numberOf(first, "time_us"), 0);
  EXPECT_GT(numberOf(first, "registers"), 0);
  EXPECT_EQ(numberOf(first, "spills"), 0);
  EXPECT_GT(numberOf(first, "smem_bytes"), 0);
  EXPECT_EQ(textOf(second, "cache"), "disk");
  EXPECT_EQ(textOf(second, "kernel_key"), textOf(first, "kernel_key"));
}

TEST(GemmCommandTest, ChecksSeededOperandsInEveryScaleMode) {
  const CommandRunner runner;
  for (const char *scales : {"", " sa=row sb=row", " sa=1x128 sb=128x128"}) {
    const JsonValue json = runner.runJson({"gemm", std::string("gemm m=65 n=40 k=300") + scales,
                                           "--device", "emulator:sm_89", "--check"});
    EXPECT_LT(numberOf(json, "rel_error"), 6e-3) << scales;
    EXPECT_GT(numberOf(json, "rel_error"), 0) << scales;
    EXPECT_GT(numberOf(json, "tolerance"), 0) << scales;
  }
}

TEST(GemmCommandTest, QuantizesFloatingOperandsOnTheDevice) {
  const CommandRunner runner;
  const std::string a = save(runner, "a.npy", floats({1, 4}, {1, -2, 0.5F, 448}));
  const std::string b =
      save(runner, "b.npy",
           {ElementType::BF16, {1, 4}, {0x80, 0x3f, 0x80, 0x3f, 0x80, 0x3f, 0x80, 0x3f}});
  const std::string out = runner.folder().file("d.npy");

  const CommandResult result =
      runner.run({"gemm", "gemm m=1 n=1 k=4 d=f32 sa=row sb=row", "--device", "emulator:sm_89",
                  "--a", a, "--b", b, "--out", out});

  EXPECT_EQ(result.status, 0) << result.err;
  llvm::Expected<HostTensor> d = readNpy(out);
  ASSERT_OK(d);
  EXPECT_FLOAT_EQ(valuesOf(*d)[0], 447.5F);
}

TEST(GemmCommandTest, SameSeedSameResult) {
  const CommandRunner runner;
  const auto resultOf = [&](const std::string &seed) {
    const std::string out = runner.folder().file("d.npy");
    EXPECT_EQ(runner
                  .run({"gemm", "gemm m=8 n=8 k=32", "--device", "emulator:sm_89", "--seed", seed,
                        "--out", out})
                  .status,
              0);
    llvm::Expected<HostTensor> d = readNpy(out);
    EXPECT_OK(d);
    return d ? d->bytes : std::vector<std::uint8_t>();
  };

  EXPECT_EQ(resultOf("5"), resultOf("5"));
  EXPECT_NE(resultOf("5"), resultOf("6"));
}

TEST(GemmCommandTest, EmptyProblemsSucceed) {
  const CommandRunner runner;
  for (const char *problem : {"gemm m=0 n=4 k=8", "gemm m=4 n=0 k=8", "gemm m=4 n=4 k=0"}) {
    const std::string out = runner.folder().file("d.npy");
    const CommandResult result = runner.run(
        {"gemm", problem, "--device", "emulator:sm_89", "--out", out, "--check", "--json"});
    EXPECT_EQ(result.status, 0) << problem << result.err;
    llvm::Expected<HostTensor> d = readNpy(out);
    ASSERT_OK(d);
    for (const float value : valuesOf(*d)) {
      EXPECT_EQ(value, 0.0F) << problem;
    }
  }
}

TEST(GemmCommandTest, RefusesProblemsThatFillThisMachine) {
  const JsonValue json = CommandRunner().runJson(
      {"gemm", "gemm m=2147483647 n=2147483647 k=2147483647", "--device", "emulator:sm_89"}, 1);

  EXPECT_EQ(textOf(*json.find("error"), "code"), "InvalidArgument");
  EXPECT_NE(textOf(*json.find("error"), "message").find("GiB of host memory"), std::string::npos);
}

TEST(GemmCommandTest, SaysNothingOnStandardErrorWhenAllIsWell) {
  const CommandResult result =
      CommandRunner().run({"gemm", "gemm m=2 n=3 k=4", "--device", "emulator:sm_89"});

  EXPECT_EQ(result.status, 0);
  EXPECT_EQ(result.err, "");
}

TEST(GemmCommandTest, FailsOnAMissWhenAskedTo) {
  const JsonValue json = CommandRunner().runJson(
      {"gemm", "gemm m=2 n=3 k=4", "--device", "emulator:sm_89", "--on-miss", "fail"}, 1);

  EXPECT_EQ(textOf(*json.find("error"), "code"), "NotFound");
}

TEST(GemmCommandTest, FallsBackToTheEmulatorAndSaysSo) {
  const CommandRunner runner;
  const CommandResult devices = runner.run({"devices"});
  if (devices.out.find("cuda:0") != std::string::npos) {
    GTEST_SKIP() << "this machine has a CUDA GPU";
  }

  const CommandResult result = runner.run({"gemm", "gemm m=2 n=3 k=4", "--json"});

  EXPECT_EQ(result.status, 0) << result.err;
  EXPECT_NE(result.err.find("notice: "), std::string::npos) << result.err;
  EXPECT_NE(result.err.find("using emulator:sm_89"), std::string::npos) << result.err;
}

TEST(GemmCommandTest, RefusesFilesOfTheWrongTypeOrShape) {
  const CommandRunner runner;
  const std::string codes =
      save(runner, "codes.npy", {ElementType::U8, {2, 4}, {1, 2, 3, 4, 5, 6, 7, 8}});
  const std::string turned =
      save(runner, "turned.npy", {ElementType::U8, {4, 2}, {1, 2, 3, 4, 5, 6, 7, 8}});
  const std::string values = save(runner, "values.npy", floats({2, 4}, {1, 2, 3, 4, 5, 6, 7, 8}));
  const std::string integers =
      save(runner, "integers.npy", {ElementType::Int32, {2, 4}, std::vector<std::uint8_t>(32)});
  const std::string one = save(runner, "one.npy", floats({1}, {1}));
  const std::string two = save(runner, "two.npy", floats({2}, {1, 1}));
  const std::string broken = runner.folder().write("broken.npy", "no array");
  struct Case {
    std::vector<std::string> flags;
    const char *code, *messagePart;
  };
  const Case cases[] = {
      {{"--a", turned}, "InvalidArgument", "flag --a: found shape [4, 2], expected [2, 4]"},
      {{"--a", integers}, "InvalidArgument", "flag --a: found elements of int32, expected uint8"},
      {{"--a", broken}, "InvalidArgument", "not a .npy file"},
      {{"--a", runner.folder().file("absent.npy")}, "NotFound", "does not exist"},
      {{"--a", runner.folder().file("a.txt")}, "InvalidArgument", "expected FILE.npy or"},
      {{"--a", codes, "--sa", two}, "InvalidArgument", "flag --sa: found shape [2], expected [1]"},
      {{"--a", codes, "--sa", codes}, "InvalidArgument", "flag --sa: found elements of uint8"},
      {{"--a", values, "--sa", one}, "InvalidArgument", "flag --sa: found scales for --a"},
      {{"--sa", one}, "InvalidArgument", "flag --sa: found scales without --a"},
  };
  for (const Case &test : cases) {
    std::vector<std::string> words = {"gemm", "gemm m=2 n=3 k=4", "--device", "emulator:sm_89"};
    words.insert(words.end(), test.flags.begin(), test.flags.end());
    const JsonValue json = runner.runJson(words, 1);
    ASSERT_NE(json.find("error"), nullptr) << test.messagePart;
    EXPECT_EQ(textOf(*json.find("error"), "code"), test.code) << test.messagePart;
    EXPECT_NE(textOf(*json.find("error"), "message").find(test.messagePart), std::string::npos)
        << textOf(*json.find("error"), "message");
  }
}

static void quantizeOn(const char *device) {
  const CommandRunner runner;
  const std::string x = save(runner, "x.npy", floats({2, 3}, {1, -2, 4, 0, 0, 0}));
  const std::string q = runner.folder().file("q.npy");
  const std::string s = runner.folder().file("s.npy");
  const std::string amax = runner.folder().file("amax.npy");

  const JsonValue json = runner.runJson({"quantize", "quant m=2 n=3 x=f32 s=row", "--device",
                                         device, "--x", x, "--q", q, "--s", s, "--amax", amax});

  EXPECT_EQ(textOf(json, "problem"), "quant m=2 n=3 x=f32 q=e4m3 s=row");
  EXPECT_EQ(textOf(json, "time_kind"), "modelled");
  llvm::Expected<HostTensor> codes = readNpy(q);
  ASSERT_OK(codes);
  EXPECT_EQ(codes->bytes, (std::vector<std::uint8_t>{encodeE4m3(112), encodeE4m3(-224),
                                                     encodeE4m3(448), 0, 0, 0}));
  llvm::Expected<HostTensor> scales = readNpy(s);
  ASSERT_OK(scales);
  EXPECT_EQ(valuesOf(*scales), (std::vector<float>{1.0F / 112.0F, 1}));
  llvm::Expected<HostTensor> largest = readNpy(amax);
  ASSERT_OK(largest);
  EXPECT_EQ(valuesOf(*largest), (std::vector<float>{4, 0}));
}

TEST(QuantizeCommandTest, WritesCodesScalesAndAmaxOnEveryDevice) {
  for (const char *device : {"emulator:sm_89", "emulator:sm_90a"}) {
    SCOPED_TRACE(device);
    quantizeOn(device);
  }
}

TEST(QuantizeCommandTest, TakesAGivenScale) {
  const CommandRunner runner;
  const std::string x = save(runner, "x.npy", floats({1, 2}, {1, -2}));
  const std::string q = runner.folder().file("q.npy");

  const CommandResult result = runner.run({"quantize", "quant m=1 n=2 sc=given", "--device",
                                           "emulator:sm_89", "--x", x, "--q", q, "--scale", "0.5"});

  EXPECT_EQ(result.status, 0) << result.err;
  llvm::Expected<HostTensor> codes = readNpy(q);
  ASSERT_OK(codes);
  EXPECT_EQ(codes->bytes, (std::vector<std::uint8_t>{encodeE4m3(2), encodeE4m3(-4)}));
}

TEST(QuantizeCommandTest, RefusesOneFileForTwoOutputs) {
  const CommandRunner runner;
  const std::string x = save(runner, "x.npy", floats({1, 2}, {1, -2}));
  const std::string out = runner.folder().file("out.npy");

  for (const std::string &other : {out, runner.folder().path() + "/./out.npy"}) {
    const JsonValue json = runner.runJson({"quantize", "quant m=1 n=2", "--device",
                                           "emulator:sm_89", "--x", x, "--q", out, "--s", other},
                                          1);

    EXPECT_EQ(textOf(*json.find("error"), "code"), "InvalidArgument") << other;
  }
}

} // namespace
} // namespace fp8jit
