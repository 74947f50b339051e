// Tensor-core arithmetic of a whole warp. Main entries: selectMma and selectWgmma, once per decoded
// instruction; the functions they return compute mma.sync, or a warp's quarter of wgmma, bit for
// bit as the scalar model of scalar_model.h.
#pragma once

#include <cstdint>
#include <string_view>

namespace fp8jit::emulator {

/// Operand format of A and B.
enum class MmaFormat : std::uint8_t { E4M3, E5M2, F16, BF16, TF32 };

/// Bytes of one element.
constexpr int bytesOf(MmaFormat format) {
  switch (format) {
  case MmaFormat::E4M3:
  case MmaFormat::E5M2:
    return 1;
  case MmaFormat::F16:
  case MmaFormat::BF16:
    return 2;
  case MmaFormat::TF32:
    return 4;
  }
  return 1;
}

/// Format of the accumulators C and D.
enum class MmaAccumulator : std::uint8_t { F32, F16 };

/// One shape and its formats, as the instruction spells them.
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
/// order in which the instruction lists them (PTX ISA, "Matrix fragments for mma.m16n8k32" and its
/// neighbours). C and D have 4 registers with an f32 accumulator and 2 (f16 pairs) with f16. Every
/// register of A and B holds eight rows (or columns) of 16 bytes, lane 4g + t bytes 4t to 4t + 3 of
/// row g: of A first rows 0 to 7, then 8 to 15, of the first 16 bytes of k, and the same of the
/// second 16 bytes where a row has 32. D may alias C register by register, and also A or B.
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

/// What one warp computes of a wgmma: 16 rows of D. A row of A and a column of B have 32 bytes.
struct WgmmaOperands {
  const std::uint32_t *a[kMaxMmaRegisters]; ///< as in MmaRegisters
  /// Eight columns after the other: for each the two registers of MmaRegisters::b, 64 words.
  const std::uint32_t *b;
  std::uint32_t *const *d; ///< n/2 registers of f32 or n/4 of f16 pairs; A and B do not alias them
  int n = 8;               ///< columns, a multiple of 8
  bool accumulate = true;  ///< false: D = A·B, its old value is not read
};

/// Computes D = A·B + D, or A·B. Conditions as for MmaFunction.
using WgmmaFunction = void (*)(const WgmmaOperands &operands);

/// The function for the wgmma `shape` (m = 64, any n) on `arch`, or null if there is none. Thread
/// safe.
WgmmaFunction selectWgmma(const MmaShape &shape, std::string_view arch);

/// As selectWgmma, but always the portable code.
WgmmaFunction selectPortableWgmma(const MmaShape &shape, std::string_view arch);

} // namespace fp8jit::emulator
