// One-lane building blocks of floating-point handlers: canonical NaN, flushing, saturation, and
// directed rounding. Rules: PTX ISA, "Floating Point Instructions".
#pragma once

#include <bit>
#include <cmath>
#include <cstdint>
#include <xmmintrin.h>

#ifndef FP8JIT_HANDLER_TARGET
#error "handler files are compiled per target: set FP8JIT_HANDLER_TARGET (see CMakeLists.txt)"
#endif

namespace fp8jit::emulator::FP8JIT_HANDLER_TARGET {

/// NaN results of f32 arithmetic have one pattern; payloads are not kept.
inline float canonical(float value) {
  return value == value ? value : std::bit_cast<float>(0x7fffffffU);
}
/// f64 arithmetic keeps the payload of its input on hardware; the default NaN otherwise.
inline double canonical(double value) {
  return value == value ? value : std::bit_cast<double>(0x7fffffffffffffffULL);
}

/// Sign-preserving flush of a subnormal to zero.
inline float flush(float value) {
  const auto bits = std::bit_cast<std::uint32_t>(value);
  return std::bit_cast<float>((bits & 0x7f800000U) != 0 ? bits : bits & 0x80000000U);
}

template <bool IsFlushed>
inline float flushIf(float value) {
  if constexpr (IsFlushed) {
    return flush(value);
  } else {
    return value;
  }
}

/// .sat: clamps to [0, 1]; NaN and -0 give +0.
inline float saturate(float value) {
  return value > 0.0F ? (value < 1.0F ? value : 1.0F) : 0.0F;
}
inline double saturate(double value) {
  return value > 0.0 ? (value < 1.0 ? value : 1.0) : 0.0;
}

/// Runs `operation` (no arguments, result float or double) under the SSE rounding mode `mode`
/// (_MM_ROUND_...); operands have to be read through volatile so that nothing is moved out.
template <typename Operation>
inline auto withRounding(unsigned mode, Operation operation) {
  const unsigned saved = _mm_getcsr();
  _mm_setcsr((saved & ~0x6000U) | mode);
  const volatile auto result = operation();
  _mm_setcsr(saved);
  const auto value = result;
  return value;
}

} // namespace fp8jit::emulator::FP8JIT_HANDLER_TARGET
