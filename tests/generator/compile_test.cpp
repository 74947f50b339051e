// Every offered configuration through NVRTC: no spills, no advisories. The templates compile alone,
// and a source compiles by the command in its own banner.
#include "generator/generate.h"
#include "runtime/nvrtc_compiler.h"
#include "runtime/ptxas_report.h"
#include "tests/generator/sample_problems.h"
#include "tests/support/matchers.h"
#include "tests/support/temporary_folder.h"

#include "llvm/Support/Program.h"
#include <gtest/gtest.h>

namespace fp8jit {

using testing::adaProfile;
using testing::problemOf;
using testing::TemporaryFolder;

namespace {

class OfferedConfigsTest : public ::testing::TestWithParam<std::string> {};

} // namespace

static void expectCleanCompile(Compiler &compiler, const Problem &problem, const Config &config,
                               PointerAlignment alignment) {
  llvm::Expected<GeneratedSource> source =
      generateSource(problem, config, adaProfile(), TemplateLibrary::embedded(), alignment);
  ASSERT_OK(source);

  llvm::Expected<CompiledProgram> program =
      compiler.compile({.source = source->text, .options = compileOptions("89")});

  ASSERT_OK(program);
  const PtxasReport report = parsePtxasReport(program->log);
  EXPECT_EQ(report.entries.size(), source->entries.size());
  EXPECT_TRUE(report.advisories.empty()) << program->log;
  EXPECT_TRUE(report.warnings.empty()) << program->log;
  for (const PtxasEntry &entry : report.entries) {
    EXPECT_EQ(entry.spillStoreBytes + entry.spillLoadBytes, 0) << program->log;
  }
}

TEST_P(OfferedConfigsTest, CompilesWithoutSpillsAndAdvisories) {
  const Problem problem = problemOf(GetParam());
  const auto compiler = NvrtcCompiler::create();
  for (const Config &config : candidateConfigs(problem, adaProfile())) {
    SCOPED_TRACE(printConfig(config));
    expectCleanCompile(*compiler, problem, config, PointerAlignment::Bytes16);
  }
  SCOPED_TRACE("buffers aligned to their element");
  expectCleanCompile(*compiler, problem, defaultConfig(problem, adaProfile()),
                     PointerAlignment::Element);
}

INSTANTIATE_TEST_SUITE_P(Gemm, OfferedConfigsTest, ::testing::ValuesIn(testing::gemmLines()));
INSTANTIATE_TEST_SUITE_P(Quant, OfferedConfigsTest, ::testing::ValuesIn(testing::quantLines()));

TEST(TemplatesTest, CompileAloneFromTheirSampleSlots) {
  const auto compiler = NvrtcCompiler::create();
  std::vector<std::string> options = compileOptions("89");
  options.push_back(std::string("-I") + FP8JIT_TEMPLATES_DIR);
  const TemplateLibrary templates = TemplateLibrary::embedded();
  for (const char *root :
       {"gemm_mma.cu", "quant_tensor.cu", "quant_tensor_given.cu", "quant_row.cu",
        "quant_row_given.cu", "quant_block1x128.cu", "quant_block128x128.cu"}) {
    llvm::Expected<llvm::StringRef> text = templates.text(root);
    ASSERT_OK(text);

    llvm::Expected<CompiledProgram> program =
        compiler->compile({.source = text->str(), .options = options});

    SCOPED_TRACE(root);
    EXPECT_OK(program);
  }
}

/// Runs `command` in `folder` by the shell; its exit status.
static int runIn(const std::string &folder, const std::string &command) {
  const llvm::ErrorOr<std::string> shell = llvm::sys::findProgramByName("sh");
  const std::string script = "cd '" + folder + "' && " + command;
  return shell ? llvm::sys::ExecuteAndWait(*shell, {*shell, "-c", script}) : -1;
}

TEST(BannerTest, CommandRebuildsTheSource) {
  if (!llvm::sys::findProgramByName("nvcc")) {
    GTEST_SKIP() << "nvcc is not on PATH";
  }
  for (const char *line :
       {"gemm m=100 n=384 k=304 sa=1x128 sb=128x128", "gemm m=1 n=1 k=1 sa=row sb=row d=f32",
        "quant m=9 n=384 s=tensor", "quant m=9 n=384 s=row sc=given", "quant m=9 n=384 s=1x128",
        "quant m=9 n=17 x=f32 s=128x128"}) {
    const Problem problem = problemOf(line);
    llvm::Expected<GeneratedSource> source = generateSource(
        problem, defaultConfig(problem, adaProfile()), adaProfile(), TemplateLibrary::embedded());
    ASSERT_OK(source);
    llvm::StringRef command = llvm::StringRef(source->text).split("// rebuild: ").second;
    command = command.take_until([](char c) { return c == '\n'; });
    const TemporaryFolder folder;
    folder.write("kernel.cu", source->text);

    EXPECT_EQ(runIn(folder.path(), command.str()), 0) << line << ": " << command.str();
    EXPECT_TRUE(llvm::sys::fs::exists(folder.file("kernel.cubin"))) << line;
  }
}

} // namespace fp8jit
