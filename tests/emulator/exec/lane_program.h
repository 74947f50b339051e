// Runs one PTX instruction on a table of operands, one case per thread. Main entry: runCases.
#pragma once

#include "tests/emulator/exec/kernel_runner.h"

namespace fp8jit::emulator::testing {

/// Operands and the result expected of them, as bits.
struct LaneCase {
  std::uint64_t a = 0, b = 0, c = 0;
  std::uint64_t expected = 0;
};

/// Runs `line` for every case, with the vector and the portable handlers. It reads its operands as
/// %a %b %c (32 bits), %xa.. (64), %ha.. (16), %fa.. (f32) or %da.. (f64) and writes the register
/// that `result` names: d (32 bits), x (64), h (16), f (f32), e (f64) or p (a predicate, 0 or 1):
/// %d, %xd, %hd, %fd, %dd, %p.
inline std::vector<std::uint64_t> runLine(const std::string &line, char result,
                                          const std::vector<LaneCase> &cases) {
  const std::string store = result == 'd'   ? "cvt.u64.u32 %xd, %d;"
                            : result == 'h' ? "cvt.u64.u16 %xd, %hd;"
                            : result == 'f' ? "mov.b32 %d, %fd; cvt.u64.u32 %xd, %d;"
                            : result == 'e' ? "mov.b64 %xd, %dd;"
                            : result == 'p' ? "selp.b64 %xd, 1, 0, %p;"
                                            : "";
  const std::string text = kernelText(
      ".reg .pred %p, %q; .reg .b16 %ha, %hb, %hc, %hd; .reg .b32 %a, %b, %c, %d, %e, %t;\n"
      ".reg .f32 %fa, %fb, %fc, %fd; .reg .f64 %da, %db, %dc, %dd;\n"
      ".reg .b64 %xa, %xb, %xc, %xd, %in, %offset;\n"
      "mov.u32 %t, %tid.x; mul.wide.u32 %offset, %t, 32; add.s64 %in, %pa, %offset;\n"
      "ld.global.b64 %xa, [%in]; ld.global.b64 %xb, [%in+8]; ld.global.b64 %xc, [%in+16];\n"
      "cvt.u32.u64 %a, %xa; cvt.u32.u64 %b, %xb; cvt.u32.u64 %c, %xc;\n"
      "cvt.u16.u64 %ha, %xa; cvt.u16.u64 %hb, %xb; cvt.u16.u64 %hc, %xc;\n"
      "mov.b32 %fa, %a; mov.b32 %fb, %b; mov.b32 %fc, %c;\n"
      "mov.b64 %da, %xa; mov.b64 %db, %xb; mov.b64 %dc, %xc;\n"
      "mov.b64 %xd, 0; mov.b32 %d, 0; mov.b32 %e, 0; mov.b16 %hd, 0;\n" +
      line + "\n" + store +
      "\nshr.u64 %offset, %offset, 2; add.s64 %in, %po, %offset;\nst.global.b64 [%in], %xd;");
  KernelRunner runner;
  const std::uint64_t in = runner.upload(cases);
  std::vector<std::uint64_t> results[2];
  for (const bool isPortable : {false, true}) {
    runner.request.portableHandlers = isPortable;
    const std::uint64_t out = runner.memory.allocate(cases.size() * sizeof(std::uint64_t));
    const LaunchResult run =
        runner.run(text, {in, 0, out}, {.x = static_cast<std::uint32_t>(cases.size())});
    EXPECT_EQ(run.fault, Fault::None) << line << "\n" << run.report;
    results[isPortable ? 1 : 0] = runner.download<std::uint64_t>(out, cases.size());
  }
  EXPECT_EQ(results[0], results[1]) << "vector and portable code differ: " << line;
  return results[0];
}

/// Expects each case's result; see runLine.
inline void runCases(const std::string &line, char result, const std::vector<LaneCase> &cases) {
  const std::vector<std::uint64_t> values = runLine(line, result, cases);
  for (std::size_t i = 0; i < cases.size(); ++i) {
    EXPECT_EQ(values[i], cases[i].expected)
        << line << std::hex << " a=0x" << cases[i].a << " b=0x" << cases[i].b << " c=0x"
        << cases[i].c << " gave 0x" << values[i] << ", expected 0x" << cases[i].expected;
  }
}

} // namespace fp8jit::emulator::testing
