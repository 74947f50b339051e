#include "runtime/launch_checks.h"

#include "support/error.h"

#include "llvm/ADT/StringRef.h"
#include "llvm/Support/FormatVariadic.h"

#include <cstdint>

namespace fp8jit {

namespace {

/// One pointer argument and what is expected of it.
struct Argument {
  const char *name;
  const void *pointer;
  unsigned alignment; ///< bytes, a power of two
  std::uint64_t sizeBytes;
};

} // namespace

static std::uint64_t area(std::int64_t rows, std::int64_t columns) {
  return static_cast<std::uint64_t>(rows) * static_cast<std::uint64_t>(columns);
}

static std::uintptr_t addressOf(const Argument &argument) {
  return reinterpret_cast<std::uintptr_t>(argument.pointer);
}

static bool isGood(const Argument &argument) {
  const std::uintptr_t address = addressOf(argument);
  return address != 0 && (address & (argument.alignment - 1)) == 0;
}

static bool doOverlap(const Argument &first, const Argument &second) {
  const std::uintptr_t a = addressOf(first);
  const std::uintptr_t b = addressOf(second);
  return a < b + second.sizeBytes && b < a + first.sizeBytes;
}

static llvm::Error pointerFailure(const Argument &argument) {
  if (argument.pointer == nullptr) {
    return fail(ErrorCode::InvalidArgument,
                llvm::formatv("argument {0} is a null pointer, expected device memory aligned to "
                              "{1} bytes",
                              argument.name, argument.alignment));
  }
  return fail(
      ErrorCode::InvalidArgument,
      llvm::formatv("argument {0} is {1:x}, which is misaligned: expected a multiple of {2} "
                    "bytes",
                    argument.name, addressOf(argument), argument.alignment));
}

static llvm::Error overlapFailure(const Argument &result, const Argument &operand) {
  return fail(ErrorCode::InvalidArgument,
              llvm::formatv("argument {0} ({1} bytes at {2:x}) overlaps {3} ({4} bytes at {5:x}), "
                            "expected separate memory",
                            result.name, result.sizeBytes, addressOf(result), operand.name,
                            operand.sizeBytes, addressOf(operand)));
}

llvm::Error checkGemmBuffers(const GemmProblem &problem, const GemmBuffers &buffers) {
  const unsigned scaleAlignment =
      problem.st == ScaleType::UE8M0 && problem.la != ScaleLayout::Packed ? 1 : 4;
  const auto bytesD = static_cast<unsigned>(elementBytes(problem.d));
  const Argument d = {"d", buffers.d, bytesD, area(problem.m, problem.n) * bytesD};
  if (!isGood(d)) {
    return pointerFailure(d);
  }
  if (problem.k == 0) {
    return llvm::Error::success(); // the product of nothing: no operand is read
  }
  const Argument a = {"a", buffers.a, 1, area(problem.m, problem.k)};
  const Argument b = {"b", buffers.b, 1, area(problem.n, problem.k)};
  const Argument sa = {"sa", buffers.sa, scaleAlignment, 0};
  const Argument sb = {"sb", buffers.sb, scaleAlignment, 0};
  for (const Argument *argument : {&a, &b, &sa, &sb}) {
    if (!isGood(*argument)) {
      return pointerFailure(*argument);
    }
  }
  for (const Argument *operand : {&a, &b}) {
    if (doOverlap(d, *operand)) {
      return overlapFailure(d, *operand);
    }
  }
  return llvm::Error::success();
}

llvm::Error checkQuantBuffers(const QuantProblem &problem, const QuantBuffers &buffers) {
  const auto bytesX = static_cast<unsigned>(elementBytes(problem.x));
  const unsigned scaleAlignment =
      problem.st == ScaleType::UE8M0 && problem.l != ScaleLayout::Packed ? 1 : 4;
  const Argument x = {"x", buffers.x, bytesX, area(problem.m, problem.n) * bytesX};
  const Argument q = {"q", buffers.q, 1, area(problem.m, problem.n)};
  const Argument s = {"s", buffers.s, scaleAlignment, 0};
  for (const Argument *argument : {&x, &q, &s}) {
    if (!isGood(*argument)) {
      return pointerFailure(*argument);
    }
  }
  const Argument amax = {"amax", buffers.amax, 4, 0};
  if (buffers.amax != nullptr && !isGood(amax)) {
    return pointerFailure(amax);
  }
  if (doOverlap(q, x)) {
    return overlapFailure(q, x);
  }
  return llvm::Error::success();
}

} // namespace fp8jit
