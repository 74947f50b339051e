// Slots shared by liveness, checked by running both versions of a kernel side by side along random
// paths: a read must find what the instruction that wrote the register last has left there.
#include "tests/emulator/ptx/ptx_support.h"

#include <gtest/gtest.h>

#include <random>

namespace fp8jit::emulator {
namespace {

/// Walks through a kernel twice at once: with a slot per register and with shared slots. Predicates
/// are left out; they are never shared.
class TwinWalk {
public:
  TwinWalk(const Kernel &own, const Kernel &shared, std::uint32_t seed)
      : own_(own), shared_(shared), random_(seed), ownTags_(own.slotCount, 0),
        sharedTags_(shared.slotCount, 0) {}

  void run(int steps) {
    std::uint32_t pc = 0;
    for (int step = 1; step <= steps && pc < own_.code.size(); ++step) {
      const Instruction &instruction = own_.code[pc];
      const bool isActive = instruction.guard == kNoSlot || random_() % 2 == 0;
      if (isActive) {
        execute(pc, step);
      }
      if (::testing::Test::HasFailure()) {
        return;
      }
      pc = next(pc, isActive);
    }
  }

private:
  void execute(std::uint32_t pc, int step) {
    const Instruction &own = own_.code[pc];
    const Instruction &shared = shared_.code[pc];
    for (std::uint32_t i = own.numDst; i < std::uint32_t{own.numDst} + own.numSrc; ++i) {
      const std::uint32_t ownSlot = own_.operands[own.operands + i];
      const std::uint32_t sharedSlot = shared_.operands[shared.operands + i];
      if (ownSlot == kNoSlot || isPredicate(own, i - own.numDst) || ownTags_.size() <= ownSlot ||
          ownTags_[ownSlot] == 0) {
        continue; // absent, or never written: a constant, an undefined value
      }
      ASSERT_LT(sharedSlot, sharedTags_.size());
      EXPECT_EQ(sharedTags_[sharedSlot], ownTags_[ownSlot])
          << own_.name << " line " << own.line << " operand " << i;
    }
    if (writesPredicates(own)) {
      return;
    }
    for (std::uint32_t i = 0; i < own.numDst; ++i) {
      const std::uint32_t ownSlot = own_.operands[own.operands + i];
      if (ownSlot != kNoSlot) {
        const std::uint32_t sharedSlot = shared_.operands[shared.operands + i];
        for (std::uint32_t half = 0; half < own.dstBits / 32U; ++half) {
          ownTags_[ownSlot + half] = step;
          sharedTags_[sharedSlot + half] = step;
        }
      }
      if (own.op == Op::Shfl || own.op == Op::MatchAll) {
        return; // the second destination is a predicate
      }
    }
  }

  static bool isPredicate(const Instruction &instruction, std::uint32_t source) {
    const bool isLast = source + 1 == instruction.numSrc;
    switch (instruction.op) {
    case Op::Selp:
    case Op::BarRed:
    case Op::CpAsync:
      return isLast;
    case Op::Setp:
    case Op::Set:
      return isLast && instruction.mods.boolOp != BoolOp::None;
    case Op::VoteAll:
    case Op::VoteAny:
    case Op::VoteUni:
    case Op::VoteBallot:
      return source == 0;
    default:
      return instruction.type == Type::Pred;
    }
  }

  static bool writesPredicates(const Instruction &instruction) {
    return instruction.op == Op::Setp || instruction.op == Op::VoteAll ||
           instruction.op == Op::VoteAny || instruction.op == Op::IsSpacep ||
           instruction.op == Op::Testp || instruction.type == Type::Pred;
  }

  std::uint32_t next(std::uint32_t pc, bool isActive) {
    const Instruction &instruction = own_.code[pc];
    const bool ends = instruction.op == Op::Ret || instruction.op == Op::Exit;
    if (!isActive || (instruction.op != Op::Bra && !ends)) {
      return pc + 1;
    }
    return ends ? 0 : instruction.target; // start again with whatever the slots hold
  }

  const Kernel &own_;
  const Kernel &shared_;
  std::mt19937 random_;
  std::vector<int> ownTags_, sharedTags_;
};

void expectSharingIsSafe(const std::string &text) {
  Module own;
  Module shared;
  PtxError error;
  ASSERT_TRUE(loadModule(text, "89", {.shareSlots = false}, own, error)) << error.message;
  ASSERT_TRUE(loadModule(text, "89", {.shareSlots = true}, shared, error)) << error.message;
  constexpr std::uint32_t kSeeds = 8;
  constexpr int kSteps = 20000;
  for (std::size_t i = 0; i < own.kernels.size(); ++i) {
    for (std::uint32_t seed = 0; seed < kSeeds; ++seed) {
      TwinWalk(own.kernels[i], shared.kernels[i], seed).run(kSteps);
    }
  }
}

TEST(SlotSharingTest, KeepsEveryValueInRealKernels) {
  for (const std::string &file : testing::realPtxFiles()) {
    SCOPED_TRACE(file);
    expectSharingIsSafe(testing::readPtxFile(file));
  }
}

TEST(SlotSharingTest, KeepsValuesAroundALoop) {
  // %r1 is read at the top of the loop and written at its end; %r3 is free in between.
  expectSharingIsSafe(testing::moduleWith("mov.u32 %r1, 1;\n"
                                          "LOOP: add.u32 %r2, %r1, 1;\n"
                                          "add.u32 %r3, %r2, 1;\n"
                                          "setp.lt.u32 %p1, %r3, 9;\n"
                                          "mov.u32 %r4, 5;\n"
                                          "add.u32 %r1, %r4, 1;\n"
                                          "@%p1 bra LOOP;"));
}

TEST(SlotSharingTest, KeepsTheOldValueUnderAGuardedWrite) {
  expectSharingIsSafe(testing::moduleWith("mov.u32 %r1, 1;\n"
                                          "mov.u32 %r2, 2;\n"
                                          "add.u32 %r3, %r2, 1;\n"
                                          "@%p1 mov.u32 %r1, %r3;\n"
                                          "add.u32 %r4, %r1, 1;"));
}

TEST(SlotSharingTest, ReusesSlotsOfDeadValues) {
  std::string body;
  for (int i = 0; i < 100; ++i) {
    body += "add.u32 %r1, %r2, 1;\nadd.u32 %r3, %r1, 1;\nst.global.u32 [%rd1], %r3;\n"
            "{ .reg .b32 a; mov.u32 a, 1; st.global.u32 [%rd1], a; }\n";
  }
  Module module;
  PtxError error;
  ASSERT_TRUE(loadModule(testing::moduleWith(body), "89", module, error)) << error.message;

  // %rd1 (two slots), %r1, %r2, %r3, one for all a, the constant 1
  EXPECT_LE(module.kernels.at(0).slotCount, 8U);
}

TEST(SlotSharingTest, AWriteNeverSharesWithAReadOfItsInstruction) {
  Module module;
  PtxError error;
  ASSERT_TRUE(loadModule(testing::readPtxFile("tensor_tile.ptx"), "89", module, error));
  for (const Kernel &kernel : module.kernels) {
    for (const Instruction &instruction : kernel.code) {
      if (instruction.op != Op::LdMatrix) {
        continue; // four results, one address: none of them may overwrite it early
      }
      const std::uint32_t address = testing::operandOf(kernel, instruction, instruction.numDst);
      for (std::uint32_t i = 0; i < instruction.numDst; ++i) {
        EXPECT_NE(testing::operandOf(kernel, instruction, i), address);
      }
    }
  }
}

} // namespace
} // namespace fp8jit::emulator
