// Recursive device functions: code that stands once, a stack pointer, arguments by address.
#include "tests/emulator/ptx/ptx_support.h"

#include <gmock/gmock.h>

#include <algorithm>

namespace fp8jit::emulator {
namespace {

using testing::constantIn;
using ::testing::HasSubstr;
using testing::operandOf;

/// sum(n) = n == 0 ? 0 : n + sum(n - 1), with a variable of its own in local memory.
constexpr const char *kSum =
    ".func (.param .b32 total) sum(.param .b32 n)\n"
    "{ .local .align 8 .b8 depot[24]; .reg .b32 %r<6>; .reg .b64 %rd<3>; .reg .pred %p<2>;\n"
    "mov.u64 %rd1, depot; ld.param.u32 %r1, [n]; st.local.u32 [%rd1+4], %r1;\n"
    "setp.eq.u32 %p1, %r1, 0; mov.u32 %r2, 0; @%p1 bra DONE; add.s32 %r3, %r1, -1;\n"
    "{ .param .b32 x; .param .b32 y; st.param.b32 [x], %r3; call.uni (y), sum, (x);\n"
    "ld.param.b32 %r4, [y]; }\n"
    "add.s32 %r2, %r1, %r4;\nDONE: st.param.b32 [total], %r2; ret; }\n";

constexpr const char *kEntry =
    ".visible .entry k(.param .u64 out) { .reg .b32 %r<3>; .reg .b64 %rd<2>;\n"
    "ld.param.u64 %rd1, [out];\n"
    "{ .param .b32 x; .param .b32 y; st.param.b32 [x], 5; call.uni (y), sum, (x);\n"
    "ld.param.b32 %r1, [y]; }\nst.global.u32 [%rd1], %r1; ret; }\n";

Kernel loadFunctions(const std::string &text, bool shareSlots = true) {
  Module module;
  PtxError error;
  const std::string header = ".version 9.0\n.target sm_90\n.address_size 64\n";
  EXPECT_TRUE(loadModule(header + text, "90a", {.shareSlots = shareSlots}, module, error))
      << "line " << error.line << ": " << error.message;
  return module.kernels.empty() ? Kernel{} : module.kernels[0];
}

std::vector<std::uint32_t> callsOf(const Kernel &kernel) {
  std::vector<std::uint32_t> calls;
  for (std::uint32_t i = 0; i < kernel.code.size(); ++i) {
    if (kernel.code[i].op == Op::Call) {
      calls.push_back(i);
    }
  }
  return calls;
}

TEST(RecursionTest, TheFunctionStandsOnceBehindTheKernel) {
  const Kernel kernel = loadFunctions(std::string(kSum) + kEntry);

  ASSERT_EQ(kernel.functions.size(), 1U);
  const DeviceFunction &sum = kernel.functions[0];
  EXPECT_EQ(sum.name, "sum");
  EXPECT_EQ(sum.end, kernel.code.size());
  EXPECT_EQ(kernel.code[sum.first - 1].op, Op::Ret);
  const std::vector<std::uint32_t> calls = callsOf(kernel);
  ASSERT_EQ(calls.size(), 2U);
  EXPECT_LT(calls[0], sum.first);
  EXPECT_GT(calls[1], sum.first);
  for (const std::uint32_t call : calls) {
    EXPECT_EQ(kernel.code[call].target, sum.first);
    EXPECT_EQ(kernel.code[call].immediate, 0);
  }
}

TEST(RecursionTest, FramesAreRoundedAndFollowTheKernelsOwn) {
  const Kernel kernel = loadFunctions(std::string(kSum) + kEntry);
  const std::vector<std::uint32_t> calls = callsOf(kernel);

  EXPECT_EQ(kernel.localBytes, 16U + kStackBytes); // x and y of the kernel
  EXPECT_EQ(kernel.functions[0].frameBytes,
            48U); // depot, x and y, and the byte that ends recursion
  const Instruction &set = kernel.code[calls[0] - 1];
  const Instruction &push = kernel.code[calls[1] - 1];
  const Instruction &pop = kernel.code[calls[1] + 1];
  EXPECT_EQ(set.op, Op::Mov);
  EXPECT_EQ(constantIn(kernel, operandOf(kernel, set, 1)), 16U);
  EXPECT_EQ(push.op, Op::Add);
  EXPECT_EQ(constantIn(kernel, operandOf(kernel, push, 2)), 48U);
  EXPECT_EQ(pop.op, Op::Sub);
  EXPECT_EQ(operandOf(kernel, pop, 2), operandOf(kernel, push, 2));
  EXPECT_EQ(operandOf(kernel, set, 0), operandOf(kernel, pop, 0));
}

TEST(RecursionTest, KeepsWhatTheFunctionWritesButNotTheStackPointer) {
  for (const bool shareSlots : {false, true}) {
    const Kernel kernel = loadFunctions(std::string(kSum) + kEntry, shareSlots);
    const DeviceFunction &sum = kernel.functions.at(0);
    const std::vector<std::uint32_t> calls = callsOf(kernel);
    const std::uint32_t stackPointer = operandOf(kernel, kernel.code[calls[0] - 1], 0);
    const std::uint32_t argument = operandOf(kernel, kernel.code[calls[0] - 2], 0);

    const auto isKept = [&](std::uint32_t slot) {
      return std::binary_search(sum.slots.begin(), sum.slots.end(), slot) ||
             std::binary_search(sum.wideSlots.begin(), sum.wideSlots.end(), slot);
    };
    EXPECT_FALSE(isKept(stackPointer));
    EXPECT_FALSE(isKept(argument));
    EXPECT_EQ(sum.predicates.size(), 1U);
    for (std::uint32_t i = sum.first; i < sum.end; ++i) {
      const Instruction &instruction = kernel.code[i];
      if (instruction.op == Op::Ld) {
        EXPECT_TRUE(isKept(operandOf(kernel, instruction, 0)));
      }
    }
  }
}

TEST(RecursionTest, VariablesOfTheFunctionLieAtTheStackPointer) {
  const Kernel kernel = loadFunctions(std::string(kSum) + kEntry, false);
  const std::uint32_t first = kernel.functions.at(0).first;

  // two moves of argument addresses, then the address of depot, whose offset is not 0
  EXPECT_EQ(kernel.code[first].op, Op::Mov);
  EXPECT_EQ(kernel.code[first + 1].op, Op::Mov);
  const Instruction &loadArgument =
      *std::find_if(kernel.code.begin() + first, kernel.code.end(),
                    [](const Instruction &instruction) { return instruction.op == Op::Ld; });
  EXPECT_EQ(loadArgument.space, Space::Local);
  EXPECT_EQ(loadArgument.addressBits, 1);
  EXPECT_EQ(operandOf(kernel, loadArgument, 1), operandOf(kernel, kernel.code[first + 1], 0));
}

TEST(RecursionTest, FunctionsThatReachACycleAreCalledAndTheOthersExpanded) {
  const std::string even = ".func even() ; .func odd() { call even; ret; }\n"
                           ".func even() { .reg .pred %p<2>; @%p1 call odd; call leaf; ret; }\n"
                           ".func leaf() { membar.cta; ret; }\n.func outer() { call odd; ret; }\n";
  const Kernel kernel =
      loadFunctions(even + ".visible .entry k() { call outer; call leaf; ret; }\n");

  ASSERT_EQ(kernel.functions.size(), 3U);
  EXPECT_EQ(kernel.functions[0].name, "outer");
  EXPECT_EQ(kernel.functions[1].name, "odd");
  EXPECT_EQ(kernel.functions[2].name, "even");
  EXPECT_EQ(std::count_if(kernel.code.begin(), kernel.code.end(),
                          [](const Instruction &i) { return i.op == Op::Membar; }),
            2);
}

TEST(RecursionTest, RefusesWrongArguments) {
  const std::string entry = ".visible .entry k() { { .param .b16 x; .param .b32 y; "
                            "call (y), sum, (x); } ret; }";
  EXPECT_THAT(
      testing::loadError(".version 9.0\n.target sm_90\n" + std::string(kSum) + entry, "90").message,
      HasSubstr("is not a .param variable of its size"));
}

} // namespace
} // namespace fp8jit::emulator
