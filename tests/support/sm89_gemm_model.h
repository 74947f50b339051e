// A scalar model of a whole FP8 GEMM on sm_89, for comparison bit for bit: the tensor core of the
// Ada generation in exact integers, and the order of operations that the project documents. It
// shares no code with the emulator or the kernels. Main entry: modelGemm.
#pragma once

#include "fp8jit/problem.h"

#include <array>
#include <cstdint>
#include <span>
#include <vector>

namespace fp8jit::testing {

/// One element of mma.sync.m16n8k32 of E4M3 with an f32 accumulator on sm_89: c plus 32 products,
/// in two chained groups of 16 consecutive k. Each group is summed exactly after every term was cut
/// to 13 fraction bits below the largest exponent; the sum is cut to 13 fraction bits. NaN if an
/// operand is NaN. Source: measured on Ada and L40S (Khattak and Mikaitis, samples of
/// MATLAB-tensor-core). `c`: NaN, or finite and a result of such a step.
float modelSm89Step(std::span<const std::uint8_t, 32> a, std::span<const std::uint8_t, 32> b,
                    float c);

/// Operands of modelGemm: a [m, k], b [n, k], scales of layout row as the problem asks.
struct GemmModelInput {
  GemmProblem problem;
  std::span<const std::uint8_t> a;
  std::span<const std::uint8_t> b;
  std::span<const float> sa;
  std::span<const float> sb;
  float alpha = 1.0F;
};

/// D [m, n] before its final rounding (that is D itself for d=f32).
std::vector<float> modelGemm(const GemmModelInput &input);

/// `value` rounded to BF16, nearest even; every NaN becomes 0x7FFF, as cvt.rn.bf16 gives it.
std::uint16_t modelBf16(float value);

} // namespace fp8jit::testing
