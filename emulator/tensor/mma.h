// Tensor-core arithmetic of a whole warp. Main entry: selectMma, once per decoded instruction; the
// function it returns computes mma.sync on the fragment registers of 32 lanes, bit for bit as the
// scalar model of scalar_model.h.
#pragma once

#include <cstdint>
#include <string_view>

namespace fp8jit::emulator {

/// Operand format of A and B.
enum class MmaFormat : std::uint8_t { E4M3, E5M2, F16, BF16 };

/// Format of the accumulators C and D.
enum class MmaAccumulator : std::uint8_t { F32, F16 };

/// One mma.sync shape and its formats, as the instruction spells them.
struct MmaShape {
  int m = 16, n = 8, k = 32;
  MmaFormat a = MmaFormat::E4M3;
  MmaFormat b = MmaFormat::E4M3;
  MmaAccumulator accumulator = MmaAccumulator::F32;

  bool operator==(const MmaShape &) const = default;
};

/// Most fragment registers that one operand of a supported shape has.
inline constexpr int kMaxMmaRegisters = 4;

/// The fragment registers of one warp: each pointer names 32 lanes of one 32-bit register, in the
/// order in which the instruction lists them (PTX ISA, "Matrix fragments for mma.m16n8k32" and
/// "mma.m16n8k16"): A has 4, B 2, C and D 4 with an f32 accumulator and 2 (f16 pairs) with f16.
/// D may alias C register by register, and also A or B.
struct MmaRegisters {
  const std::uint32_t *a[kMaxMmaRegisters];
  const std::uint32_t *b[2];
  const std::uint32_t *c[kMaxMmaRegisters];
  std::uint32_t *d[kMaxMmaRegisters];
};

/// Computes D = A·B + C for a full warp. Pointers need 4-byte alignment. Thread safe; the caller's
/// flush-to-zero and rounding modes must be the defaults.
using MmaFunction = void (*)(const MmaRegisters &registers);

/// The function for `shape` on the architecture `arch` ("89"), or null if that target has no such
/// instruction here. Picks the widest vector code that this processor runs. Thread safe.
MmaFunction selectMma(const MmaShape &shape, std::string_view arch);

/// As selectMma, but always the portable code (the same bits; for tests and comparison).
MmaFunction selectPortableMma(const MmaShape &shape, std::string_view arch);

} // namespace fp8jit::emulator
