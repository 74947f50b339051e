// What the AVX2 files share: rows of eight accumulators, and the table of their functions. Internal
// functions only: code compiled for AVX2 must not be merged with that of other files.
#pragma once

#include "emulator/tensor/mma_avx2.h"
#include "emulator/tensor/scalar_model.h"

#if defined(__AVX2__) && defined(__F16C__)

#include <cstddef>
#include <immintrin.h>

namespace fp8jit::emulator {
namespace {

constexpr int kRows = 16; // of A, C and D

/// One form of a table.
struct VectorForm {
  MmaShape shape;
  StepRule rule;
  VectorFunctions functions;
};

/// The forms of one shape with every mix of two FP8 formats.
struct FormatMixes {
  VectorForm forms[4];
};

/// As the defaulted comparison, but internal.
inline bool isSame(const VectorForm &form, const MmaShape &shape, const StepRule &rule) {
  return form.shape.m == shape.m && form.shape.n == shape.n && form.shape.k == shape.k &&
         form.shape.a == shape.a && form.shape.b == shape.b &&
         form.shape.accumulator == shape.accumulator && form.rule.groupSize == rule.groupSize &&
         form.rule.fractionBits == rule.fractionBits && form.rule.output == rule.output &&
         form.rule.path == rule.path;
}

/// The functions of `forms` for `shape` by `rule`; none if the form is unknown or this processor
/// lacks AVX2 or F16C.
template <std::size_t kCount>
VectorFunctions findForm(const VectorForm (&forms)[kCount], const MmaShape &shape,
                         const StepRule &rule) {
  if (!__builtin_cpu_supports("avx2") || !__builtin_cpu_supports("f16c")) {
    return {};
  }
  for (const VectorForm &form : forms) {
    if (isSame(form, shape, rule)) {
      return form.functions;
    }
  }
  return {};
}

/// `chosen` where the mask is set.
inline __m256 blend(__m256 otherwise, __m256 chosen, __m256i mask) {
  return _mm256_blendv_ps(otherwise, chosen, _mm256_castsi256_ps(mask));
}

/// The same bits in all lanes.
inline __m256 broadcastBits(std::uint32_t bits) {
  return _mm256_castsi256_ps(_mm256_set1_epi32(static_cast<int>(bits)));
}

/// The eight accumulators of one row, as f32.
template <bool kIsF16>
__m256 loadRow(const MmaRegisters &registers, int row) {
  const int lane = row % 8 * 4;
  if constexpr (kIsF16) {
    return _mm256_cvtph_ps(
        _mm_loadu_si128(reinterpret_cast<const __m128i *>(registers.c[row / 8] + lane)));
  }
  const std::uint32_t *const *c = registers.c + row / 8 * 2;
  const __m128i even = _mm_loadu_si128(reinterpret_cast<const __m128i *>(c[0] + lane));
  const __m128i odd = _mm_loadu_si128(reinterpret_cast<const __m128i *>(c[1] + lane));
  return _mm256_castsi256_ps(
      _mm256_set_m128i(_mm_unpackhi_epi32(even, odd), _mm_unpacklo_epi32(even, odd)));
}

/// Writes one row of results, given as f32.
template <bool kIsF16>
void storeRow(const MmaRegisters &registers, int row, __m256 values) {
  const int lane = row % 8 * 4;
  if constexpr (kIsF16) {
    _mm_storeu_si128(reinterpret_cast<__m128i *>(registers.d[row / 8] + lane),
                     _mm256_cvtps_ph(values, _MM_FROUND_TO_NEAREST_INT));
    return;
  }
  std::uint32_t *const *d = registers.d + row / 8 * 2;
  const __m128 low = _mm256_castps256_ps128(values);
  const __m128 high = _mm256_extractf128_ps(values, 1);
  _mm_storeu_si128(reinterpret_cast<__m128i *>(d[0] + lane),
                   _mm_castps_si128(_mm_shuffle_ps(low, high, 0x88)));
  _mm_storeu_si128(reinterpret_cast<__m128i *>(d[1] + lane),
                   _mm_castps_si128(_mm_shuffle_ps(low, high, 0xdd)));
}

/// The 16 bytes of `row` (0 to 7) in a fragment register.
inline __m128i loadChunk(const std::uint32_t *lanes, int row) {
  return _mm_loadu_si128(reinterpret_cast<const __m128i *>(lanes + 4 * row));
}

} // namespace
} // namespace fp8jit::emulator

#endif
