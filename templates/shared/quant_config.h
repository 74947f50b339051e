// The configuration of a quantization kernel, compiled by the host and by NVRTC. No includes.
#pragma once

namespace fp8jit {

/// What tuning may choose for a quantization kernel. Never changes the numerics.
struct QuantConfig {
  int threads;       ///< per block
  int vectorBytes;   ///< bytes of X per load: 16, 8, 4 or 2
  int unitsPerBlock; ///< scale units of one block; with tensor scales, vectors per thread
  constexpr int threadsPerUnit() const { return threads / unitsPerBlock; } ///< share one unit
  constexpr bool isValid() const {
    return threads >= 32 && threads <= 1024 && threads % 32 == 0 && unitsPerBlock >= 1 &&
           vectorBytes >= 2 && vectorBytes <= 16 && 16 % vectorBytes == 0;
  }
};

/// The one argument of every entry, passed by value. Entries run in order on one stream.
struct QuantParams {
  const void *x;           ///< [m, n]
  unsigned char *q;        ///< [m, n] codes
  float *s;                ///< dequantization scales: output, or input with sc=given
  float *amax;             ///< one f32 per unit, or null
  unsigned int *workspace; ///< 4 bytes for tensor scaling, else unused
  int m;
};

} // namespace fp8jit
