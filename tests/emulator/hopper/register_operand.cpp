// register_operand.cu: one tile; whole numbers, exact sums, rounded once to bf16.
#include "tests/emulator/hopper/scenario.h"

namespace fp8jit::testing {

static std::string runRegisterOperand(Device &device) {
  constexpr std::size_t kRows = 64, kColumns = 32, kK = 64;
  const std::vector<int> a = randomIntegers<int>(kRows * kK, -9, 9, 31);
  const std::vector<int> b = randomIntegers<int>(kColumns * kK, -9, 9, 32);
  std::vector<std::uint16_t> aCodes(a.size()), bCodes(b.size()), expected(kRows * kColumns);
  for (std::size_t i = 0; i < a.size(); ++i) {
    aCodes[i] = bf16Code(static_cast<float>(a[i]));
  }
  for (std::size_t i = 0; i < b.size(); ++i) {
    bCodes[i] = bf16Code(static_cast<float>(b[i]));
  }
  for (std::size_t i = 0; i < expected.size(); ++i) {
    int sum = 0;
    for (std::size_t k = 0; k < kK; ++k) {
      sum -= a[i / kColumns * kK + k] * b[i % kColumns * kK + k];
    }
    expected[i] = bf16Code(static_cast<float>(sum));
  }
  const CUdeviceptr aAddress = device.upload(aCodes);
  const CUdeviceptr bAddress = device.upload(bCodes);
  const CUdeviceptr d = device.upload(std::vector<std::uint16_t>(expected.size()));

  device.launch("registerOperand", {}, aAddress, bAddress, d);

  return firstDifference(device.download<std::uint16_t>(d, expected.size()), expected);
}

Scenario registerOperandScenario() {
  return {
      "RegisterOperand",
      "register_operand.ptx",
      runRegisterOperand,
      {
          removed("fence.proxy.async", "b to the async proxy", "no fence.proxy.async lies between",
                  "group multiplies"),
          removed("bar.sync", "operands are complete", "was never written", "warps read a"),
          removed("wgmma.fence", "registers to wgmma", "needs a wgmma.fence before it",
                  "group multiplies"),
          removed("wgmma.commit_group", "products commit", "no wgmma.wait_group covers it",
                  "warps write d"),
          removed("wgmma.wait_group", "products are complete", "no wgmma.wait_group covers it",
                  "warps write d"),
          operand("wgmma.wait_group", "products are complete", "1", "no wgmma.wait_group covers it",
                  "warps write d"),
          removed("bar.sync", "d is complete", "was never written", "warps read d"),
      },
      {},
  };
}

} // namespace fp8jit::testing
