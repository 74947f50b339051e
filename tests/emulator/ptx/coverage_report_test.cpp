// docs/ptx-forms.md lists the table of instruction forms; this test keeps it in step and rewrites
// it when UPDATE_GOLDEN=1 is set.
#include "emulator/ptx/forms.h"
#include "tests/emulator/ptx/ptx_support.h"

#include <gtest/gtest.h>

#include <cstdlib>
#include <fstream>
#include <iterator>

namespace fp8jit::emulator {
namespace {

std::string coverageReport() {
  std::string text =
      "# PTX instruction forms of the emulator\n\n"
      "Generated from the table in `emulator/ptx/forms_*.cpp`; `emulator/ptx/forms.h` explains "
      "the\n"
      "pattern language. Write it anew with `UPDATE_GOLDEN=1 build/bin/test_emulator_ptx\n"
      "--gtest_filter=CoverageReport*`. A target behind a form is the lowest that has it: "
      "`sm_90a`\n"
      "that target alone, `sm_90a+` targets with architecture-specific features.\n\n"
      "## Supported\n\n```\n" +
      describeForms() + "```\n\n## Refused, with the reason\n\n";
  for (const Form &form : refusedForms()) {
    text += "* `" + std::string(form.mnemonic) + "`: " + std::string(form.operands) + "\n";
  }
  return text;
}

TEST(CoverageReportTest, DocumentationListsTheTable) {
  const std::string path = FP8JIT_PTX_FORMS_DOC;
  if (std::getenv("UPDATE_GOLDEN") != nullptr) {
    std::ofstream(path) << coverageReport();
  }
  std::ifstream file(path);
  const std::string found{std::istreambuf_iterator<char>(file), std::istreambuf_iterator<char>()};

  EXPECT_EQ(found, coverageReport());
}

} // namespace
} // namespace fp8jit::emulator
