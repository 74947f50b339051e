// Hashes of problems as values, for the kernel table: a warm call builds no text.
#pragma once

#include "fp8jit/problem.h"

#include <cstddef>
#include <cstdint>
#include <initializer_list>

namespace fp8jit {

/// Folds words by multiplication with 2^64 / golden ratio (Knuth, TAOCP 3, 6.4) and a shift that
/// brings the high bits down to where the table takes its index.
constexpr std::size_t hashWords(std::initializer_list<std::uint64_t> words) {
  std::uint64_t hash = 0;
  for (const std::uint64_t word : words) {
    hash = (hash ^ word) * 0x9e3779b97f4a7c15ULL;
    hash ^= hash >> 32;
  }
  return hash;
}

/// Small enumerations, one byte each, as one word.
template <typename... Enum>
constexpr std::uint64_t packEnums(Enum... values) {
  static_assert(sizeof...(values) <= 8, "eight bytes make a word");
  std::uint64_t word = 0;
  ((word = word << 8 | static_cast<std::uint8_t>(values)), ...);
  return word;
}

struct ProblemHash {
  std::size_t operator()(const GemmProblem &p) const {
    const auto word = [](std::int64_t value) { return static_cast<std::uint64_t>(value); };
    return hashWords(
        {word(p.m), word(p.n), word(p.k), packEnums(p.a, p.b, p.d, p.sa, p.sb, p.st, p.la, p.lb),
         packEnums(p.acc, p.c, p.bias, p.act, p.ta, p.tb, p.splitk),
         word(p.lda) ^ word(p.ldb) << 32, word(p.ldc) ^ word(p.ldd) << 32, word(p.batch)});
  }
  std::size_t operator()(const QuantProblem &p) const {
    return hashWords({static_cast<std::uint64_t>(p.m), static_cast<std::uint64_t>(p.n),
                      static_cast<std::uint64_t>(p.ldx),
                      packEnums(p.x, p.q, p.s, p.st, p.sc, p.round, p.out, p.l)});
  }
};

} // namespace fp8jit
