// The table and the interpreter agree: whatever the front end takes has a handler.
#include "emulator/exec/handlers.h"
#include "emulator/ptx/forms.h"
#include "tests/emulator/ptx/ptx_support.h"

#include <gtest/gtest.h>

namespace fp8jit::emulator {
namespace {

TEST(HandlersTest, EveryInstructionOfRealTextHasAHandler) {
  for (const std::string &file : testing::realPtxFiles()) {
    Module module;
    PtxError error;
    ASSERT_TRUE(loadModule(testing::readPtxFile(file), "89", module, error)) << error.message;
    for (const Kernel &kernel : module.kernels) {
      for (const Instruction &instruction : kernel.code) {
        EXPECT_NE(selectHandler(instruction), nullptr) << file << ":" << instruction.line;
        EXPECT_NE(selectPortableHandler(instruction), nullptr) << file << ":" << instruction.line;
      }
    }
  }
}

/// The names of the classes that forms.h allows in a list of types.
std::vector<std::string> typesIn(const std::string &list) {
  const std::pair<std::string, std::string> kClasses[] = {{"int8", "u8,u16,u32,u64,s8,s16,s32,s64"},
                                                          {"int", "u16,u32,u64,s16,s32,s64"},
                                                          {"bits", "b16,b32,b64"}};
  std::vector<std::string> types;
  std::size_t begin = 0;
  while (begin <= list.size()) {
    const std::size_t end = std::min(list.find(',', begin), list.size());
    const std::string item = list.substr(begin, end - begin);
    begin = end + 1;
    bool isClass = false;
    for (const auto &[name, members] : kClasses) {
      if (item == name) {
        const std::vector<std::string> inner = typesIn(members);
        types.insert(types.end(), inner.begin(), inner.end());
        isClass = true;
      }
    }
    if (!isClass) {
      types.push_back(item);
    }
  }
  return types;
}

TEST(HandlersTest, EveryArithmeticTypeOfTheTableHasAHandler) {
  for (const std::span<const Form> forms : {integerForms(), floatForms()}) {
    for (const Form &form : forms) {
      const std::string qualifiers(form.qualifiers);
      const std::size_t list = qualifiers.find("T:");
      if (list == std::string::npos || qualifiers.find("S:") != std::string::npos ||
          qualifiers.find('@') < list) {
        continue; // groups and second types have their cases in forms_test.cpp
      }
      std::string prefix(form.mnemonic);
      std::size_t begin = 0;
      while (begin < list) {
        const std::size_t end = qualifiers.find(' ', begin);
        if (qualifiers[begin] != '?') {
          prefix += "." + qualifiers.substr(begin, end - begin);
        }
        begin = end + 1;
      }
      for (const std::string &type : typesIn(qualifiers.substr(list + 2))) {
        const std::string opcode = prefix + "." + type;
        std::vector<Candidate> candidates;
        std::string message;
        ASSERT_TRUE(matchOpcode(opcode, Arch{120, 0}, candidates, message)) << message;
        EXPECT_NE(selectHandler(candidates[0].instruction), nullptr) << opcode;
      }
    }
  }
}

} // namespace
} // namespace fp8jit::emulator
