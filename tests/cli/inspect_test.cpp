// fp8jit inspect, cache and devices: what they print without running a kernel.
#include "tests/cli/command_runner.h"

#include <gtest/gtest.h>

namespace fp8jit {
namespace {

using testing::CommandResult;
using testing::CommandRunner;
using testing::numberOf;
using testing::textOf;

constexpr const char *kGemm = "gemm m=64 n=128 k=256 sa=1x128 sb=128x128";

TEST(InspectCommandTest, ShowsTheSameSourceAsTextAndAsJson) {
  const CommandRunner runner;
  const CommandResult text = runner.run({"inspect", kGemm, "--arch", "sm_89", "--show", "source"});
  const JsonValue json = runner.runJson({"inspect", kGemm, "--arch", "sm_89", "--show", "source"});

  EXPECT_EQ(text.status, 0) << text.err;
  EXPECT_NE(text.out.find("extern \"C\" __global__"), std::string::npos);
  EXPECT_EQ(text.out.find("#include"), std::string::npos);
  EXPECT_EQ(textOf(json, "source"), text.out);
  EXPECT_EQ(textOf(json, "target"), "sm_89");
}

TEST(InspectCommandTest, PrintsAConfigurationThatConfigTakes) {
  const CommandRunner runner;
  const JsonValue chosen =
      runner.runJson({"inspect", kGemm, "--arch", "sm_89", "--show", "config"});
  const std::string config = textOf(chosen, "config");

  const JsonValue forced =
      runner.runJson({"inspect", kGemm, "--arch", "sm_89", "--show", "config", "--config", config});

  EXPECT_EQ(textOf(chosen, "config_source"), "default");
  EXPECT_EQ(textOf(forced, "config_source"), "forced");
  EXPECT_EQ(textOf(forced, "config"), config);
}

TEST(InspectCommandTest, CompilesWithoutADevice) {
  const CommandRunner runner;
  const CommandResult ptx = runner.run({"inspect", kGemm, "--arch", "sm_89", "--show", "ptx"});
  const JsonValue resources =
      runner.runJson({"inspect", kGemm, "--arch", "sm_89", "--show", "resources"});

  EXPECT_EQ(ptx.status, 0) << ptx.err;
  EXPECT_NE(ptx.out.find(".target sm_89"), std::string::npos);
  EXPECT_GT(numberOf(resources, "registers"), 0);
  EXPECT_EQ(numberOf(resources, "spills"), 0);
  EXPECT_GT(numberOf(resources, "smem_bytes"), 0);
  EXPECT_EQ(textOf(resources, "kernel_key").size(), 64U);
}

TEST(CacheCommandTest, LooksWithoutMakingAnything) {
  const CommandRunner runner;
  const CommandResult path = runner.run({"cache", "path"});
  const JsonValue stats = runner.runJson({"cache", "stats"});
  const CommandResult list = runner.run({"cache", "list", "--json"});

  EXPECT_EQ(path.out, runner.cacheFolder() + "/fp8jit-v1.db\n");
  EXPECT_EQ(numberOf(stats, "winners"), 0);
  EXPECT_EQ(numberOf(stats, "file_bytes"), 0);
  EXPECT_EQ(list.status, 0);
  EXPECT_EQ(list.out, "");
  EXPECT_FALSE(llvm::sys::fs::exists(runner.cacheFolder()));
}

TEST(CacheCommandTest, TheFlagComesBeforeTheEnvironment) {
  const JsonValue json = CommandRunner().runJson({"cache", "path", "--cache", "/some/where"});

  EXPECT_EQ(textOf(json, "directory"), "/some/where");
  EXPECT_EQ(textOf(json, "file"), "/some/where/fp8jit-v1.db");
}

TEST(CacheCommandTest, CountsWhatInspectCompiled) {
  const CommandRunner runner;
  ASSERT_EQ(runner.run({"inspect", kGemm, "--arch", "sm_89", "--show", "ptx"}).status, 0);

  const JsonValue stats = runner.runJson({"cache", "stats"});

  EXPECT_EQ(numberOf(stats, "binaries"), 1);
  EXPECT_GT(numberOf(stats, "file_bytes"), 0);
}

TEST(DevicesCommandTest, ListsTheEmulatorAndSaysWhyOthersAreAbsent) {
  const CommandRunner runner;
  const CommandResult text = runner.run({"devices"});
  const CommandResult lines = runner.run({"devices", "--json"});

  EXPECT_EQ(text.status, 0);
  EXPECT_NE(text.out.find("emulator:sm_89"), std::string::npos) << text.out;
  llvm::SmallVector<llvm::StringRef, 4> rows;
  llvm::StringRef(lines.out).split(rows, '\n', -1, /*KeepEmpty=*/false);
  EXPECT_GE(rows.size(), 2U);
  for (const llvm::StringRef row : rows) {
    llvm::Expected<JsonValue> json = parseJson(row);
    ASSERT_OK(json);
    ASSERT_NE(json->find("available"), nullptr);
    EXPECT_EQ(json->find("available")->boolean, textOf(*json, "reason").empty()) << row.str();
  }
}

} // namespace
} // namespace fp8jit
