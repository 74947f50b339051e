// Loads the text that NVRTC 13.0 made of our own kernels (tests/emulator/data).
#include "tests/emulator/ptx/ptx_support.h"

#include <gtest/gtest.h>

namespace fp8jit::emulator {
namespace {

using testing::readPtxFile;

Module loadFile(const std::string &file, bool shareSlots = true) {
  Module module;
  PtxError error;
  EXPECT_TRUE(loadModule(readPtxFile(file), "89", {.shareSlots = shareSlots}, module, error))
      << file << ":" << error.line << ": " << error.message;
  return module;
}

TEST(RealPtxTest, LoadsEveryFile) {
  for (const std::string &file : testing::realPtxFiles()) {
    const Module module = loadFile(file);

    EXPECT_EQ(module.target, "sm_89") << file;
    EXPECT_EQ(module.ptxMajor, 9) << file;
    EXPECT_FALSE(module.kernels.empty()) << file;
  }
}

TEST(RealPtxTest, EveryOperandIsASlotOrAPredicateOfTheKernel) {
  for (const std::string &file : testing::realPtxFiles()) {
    const Module module = loadFile(file);
    for (const Kernel &kernel : module.kernels) {
      const std::uint32_t limit = std::max(kernel.slotCount, kernel.predicateCount);
      for (const std::uint32_t operand : kernel.operands) {
        EXPECT_TRUE(operand == kNoSlot || operand < limit) << kernel.name;
      }
      for (const Instruction &instruction : kernel.code) {
        EXPECT_NE(instruction.op, Op::Invalid) << kernel.name << " line " << instruction.line;
        EXPECT_LE(instruction.operands + instruction.numDst + instruction.numSrc,
                  kernel.operands.size());
        if (instruction.op == Op::Bra) {
          EXPECT_LT(instruction.target, kernel.code.size());
        }
      }
    }
  }
}

TEST(RealPtxTest, ReadsLaunchBoundsParametersAndMemory) {
  const Module module = loadFile("scalar.ptx");
  const Kernel &kernel = module.kernels.at(0);

  EXPECT_EQ(kernel.name, "scalarInteger");
  EXPECT_EQ(kernel.maxThreads, 128U);
  EXPECT_EQ(kernel.minBlocksPerSm, 2U);
  // three pointers, an int, a struct of char and double at its alignment of 8, a short
  ASSERT_EQ(kernel.parameters.size(), 6U);
  EXPECT_EQ(kernel.parameters[3].offset, 24U);
  EXPECT_EQ(kernel.parameters[4].offset, 32U);
  EXPECT_EQ(kernel.parameters[4].sizeBytes, 16U);
  EXPECT_EQ(kernel.parameters[5].offset, 48U);
  EXPECT_EQ(kernel.paramBytes, 50U);
  EXPECT_EQ(module.kernels.at(1).localBytes, 96U); // __local_depot1
}

TEST(RealPtxTest, ReadsTablesAndPointersToThem) {
  const Module module = loadFile("scalar.ptx");

  ASSERT_GE(module.globals.size(), 4U);
  EXPECT_TRUE(module.globals[0].isConst);
  EXPECT_EQ(module.globals[0].initial.size(), 16U);
  EXPECT_EQ(module.globals[1].initial, (std::vector<std::uint8_t>{7, 0, 0, 0}));
  EXPECT_EQ(module.globals[2].sizeBytes, 10U);
  ASSERT_EQ(module.globals[3].relocations.size(), 1U);
  EXPECT_EQ(module.globals[3].relocations[0].global, 1U);
}

TEST(RealPtxTest, KeepsStaticBelowDynamicSharedMemory) {
  const Module module = loadFile("collectives.ptx");

  EXPECT_EQ(module.kernels.at(0).staticSharedBytes, 132U);
  EXPECT_EQ(module.kernels.at(0).dynamicSharedOffset, 1024U);
}

TEST(RealPtxTest, SharingMakesTheRegisterFileSmaller) {
  const Module own = loadFile("tensor_tile.ptx", false);
  const Module shared = loadFile("tensor_tile.ptx", true);

  EXPECT_LT(shared.kernels.at(0).slotCount * 2, own.kernels.at(0).slotCount);
  EXPECT_EQ(shared.kernels.at(0).code.size(), own.kernels.at(0).code.size());
}

} // namespace
} // namespace fp8jit::emulator
