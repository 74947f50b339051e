// Runs every case of data/.
#include "emulator/exec/global_memory.h"
#include "emulator/exec/launch.h"
#include "emulator/ptx/forms.h"
#include "tests/emulator/forms/form_case.h"

#include "gtest/gtest.h"

#include <algorithm>
#include <cstring>
#include <filesystem>
#include <set>
#include <sstream>

namespace fp8jit::emulator::testing {

static std::vector<std::string> caseFiles() {
  std::vector<std::string> paths;
  for (const auto &entry : std::filesystem::directory_iterator(FP8JIT_FORM_CASES)) {
    if (entry.path().extension() == ".ptx") {
      paths.push_back(entry.path().string());
    }
  }
  std::sort(paths.begin(), paths.end());
  return paths;
}

static std::string fileTitle(const ::testing::TestParamInfo<std::string> &info) {
  return std::filesystem::path(info.param).stem().string();
}

/// A module with the case's kernel, or an empty one with a test failure.
static Module loadCase(const FormCase &formCase, unsigned &bodyLine) {
  Module module;
  PtxError error;
  const std::string text = kernelOf(formCase, bodyLine);
  if (!loadModule(text, formCase.arch, module, error)) {
    ADD_FAILURE() << formCase.where << ": line " << error.line - bodyLine + 1
                  << " of the body: " << error.message;
    return {};
  }
  return module;
}

static GpuProfile profileOf(std::string_view arch) {
  GpuProfile profile = kGpuProfiles[0];
  const GpuProfile *known = findProfileByArch(arch);
  if (known != nullptr) {
    return *known;
  }
  profile.arch = arch;
  return profile;
}

namespace {

/// Device memory of one case, and its launch.
class CaseRun {
public:
  explicit CaseRun(const FormCase &formCase)
      : case_(formCase), threads_(std::size_t{formCase.threads} * formCase.blocks) {
    std::vector<std::uint64_t> inputs;
    for (const LaneValues &input : case_.inputs) {
      for (std::size_t t = 0; t < threads_; ++t) {
        inputs.push_back(input.values[t % input.values.size()]);
      }
    }
    inputs_ = upload(inputs);
    outputs_ = upload(std::vector<std::uint64_t>(threads_ * case_.outputs.size()));
    cells_ = upload(std::vector<std::uint8_t>(threads_ * kCellBytes));
  }

  LaunchResult run(const Module &module, bool isPortable) {
    LaunchRequest request;
    request.module = &module;
    request.kernel = &module.kernels.back();
    request.grid = {.x = case_.blocks};
    request.block = {.x = case_.threads};
    request.portableHandlers = isPortable;
    request.params.resize(request.kernel->paramBytes);
    const std::uint64_t addresses[] = {inputs_, outputs_, cells_};
    std::memcpy(request.params.data(), addresses, sizeof(addresses));
    for (const GlobalVariable &variable : module.globals) {
      const std::uint64_t address = memory_.allocate(variable.sizeBytes);
      std::vector<std::uint8_t> bytes = variable.initial;
      bytes.resize(variable.sizeBytes);
      EXPECT_TRUE(memory_.copyIn(address, bytes.data(), bytes.size()));
      request.globalAddresses.push_back(address);
    }
    return runGrid(request, memory_, profileOf(case_.arch));
  }

  /// Value of an output in a thread.
  std::uint64_t output(std::size_t index, std::size_t thread) {
    std::uint64_t value = 0;
    EXPECT_TRUE(memory_.copyOut(&value, outputs_ + (index * threads_ + thread) * 8, 8));
    return value;
  }

  std::size_t threads() const { return threads_; }

private:
  template <typename T>
  std::uint64_t upload(const std::vector<T> &values) {
    const std::uint64_t address = memory_.allocate(std::max<std::size_t>(values.size(), 1) * 8);
    if (!values.empty()) {
      EXPECT_TRUE(memory_.copyIn(address, values.data(), values.size() * sizeof(T)));
    }
    return address;
  }

  GlobalMemory memory_{std::uint64_t{1} << 28};
  const FormCase &case_;
  std::size_t threads_;
  std::uint64_t inputs_ = 0, outputs_ = 0, cells_ = 0;
};

} // namespace

static bool isNan(std::uint64_t bits, const RegisterInfo &info) {
  if (info.bits == 64) {
    return (bits & 0x7fffffffffffffffU) > 0x7ff0000000000000U;
  }
  return info.bits == 32 ? (bits & 0x7fffffffU) > 0x7f800000U : (bits & 0x7fffU) > 0x7c00U;
}

static bool isExpected(const LaneValues &expected, std::size_t thread, std::uint64_t found) {
  const std::size_t i = thread % expected.values.size();
  if (expected.isAnyNan[i]) {
    return isNan(found, registerInfo(expected.name));
  }
  const std::uint64_t value = expected.values[i];
  return (found > value ? found - value : value - found) <= expected.toleranceUlps;
}

static void runCase(const FormCase &formCase) {
  unsigned bodyLine = 0;
  const Module module = loadCase(formCase, bodyLine);
  if (module.kernels.empty()) {
    return;
  }
  ASSERT_FALSE(formCase.outputs.empty()) << formCase.where << " checks nothing";
  for (const bool isPortable : {false, true}) {
    CaseRun run(formCase);
    const LaunchResult result = run.run(module, isPortable);
    ASSERT_EQ(result.fault, Fault::None) << formCase.where << ": " << result.report;
    for (std::size_t o = 0; o < formCase.outputs.size(); ++o) {
      const LaneValues &expected = formCase.outputs[o];
      for (std::size_t t = 0; t < run.threads(); ++t) {
        const std::uint64_t found = run.output(o, t);
        ASSERT_TRUE(isExpected(expected, t, found))
            << formCase.where << " " << formCase.title << ": thread " << t << ": %" << expected.name
            << " is 0x" << std::hex << found << ", expected 0x"
            << expected.values[t % expected.values.size()]
            << (isPortable ? " (portable handlers)" : "");
      }
    }
  }
}

class FormFileTest : public ::testing::TestWithParam<std::string> {};

TEST_P(FormFileTest, GivesWhatTheIsaSays) {
  std::string problem;
  const std::vector<FormCase> cases = readCases(GetParam(), problem);

  EXPECT_EQ(problem, "");
  for (const FormCase &formCase : cases) {
    runCase(formCase);
  }
}

INSTANTIATE_TEST_SUITE_P(Data, FormFileTest, ::testing::ValuesIn(caseFiles()), fileTitle);

} // namespace fp8jit::emulator::testing
