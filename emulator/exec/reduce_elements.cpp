// Element by element with compare-and-swap; a narrow float is summed in f32, whose 24 bits make the
// second rounding harmless (2p + 2 bits suffice for a sum of two p-bit numbers).
#include "emulator/exec/reduce_elements.h"

#include "emulator/exec/float_ops.h"
#include "emulator/exec/narrow_float.h"

#include <cstring>
#include <type_traits>

namespace fp8jit::emulator {

using namespace FP8JIT_HANDLER_TARGET; // the conversions, compiled for any processor

namespace {

struct Half {
  using Bits = std::uint16_t;
  static float widen(Bits bits) { return widenF16(bits); }
  static Bits narrowed(float value) { return static_cast<Bits>(narrow<kF16>(value)); }
};
struct Bfloat {
  using Bits = std::uint16_t;
  static float widen(Bits bits) { return widenBf16(bits); }
  static Bits narrowed(float value) { return static_cast<Bits>(narrowBf16(value)); }
};
struct Single {
  using Bits = std::uint32_t;
  static float widen(Bits bits) { return std::bit_cast<float>(bits); }
  static Bits narrowed(float value) { return std::bit_cast<Bits>(canonical(value)); }
};
struct Double {
  using Bits = std::uint64_t;
  static double widen(Bits bits) { return std::bit_cast<double>(bits); }
  static Bits narrowed(double value) { return std::bit_cast<Bits>(canonical(value)); }
};

/// The sum of two elements of a floating type.
template <typename Float>
struct AddFloating {
  using Bits = typename Float::Bits;
  static Bits apply(Bits old, Bits b) {
    return Float::narrowed(Float::widen(old) + Float::widen(b));
  }
};

/// The lesser (or greater) of two narrow floats; NaN loses, -0 is below +0.
template <typename Float, bool IsMax>
struct SelectFloating {
  using Bits = typename Float::Bits;
  static Bits apply(Bits old, Bits b) {
    const auto x = Float::widen(old);
    const auto y = Float::widen(b);
    if (x != x || y != y) {
      return y == y ? b : x == x ? old : Bits{0x7fff};
    }
    if (x == y) { // zeros of either sign
      return static_cast<Bits>(IsMax ? old & b : old | b);
    }
    return (y < x) != IsMax ? b : old;
  }
};

template <typename T, AtomicOp Operation>
struct CombineIntegers {
  using Bits = std::make_unsigned_t<T>;
  static Bits apply(Bits old, Bits b) {
    switch (Operation) {
    case AtomicOp::Add:
      return old + b;
    case AtomicOp::Min:
      return static_cast<T>(b) < static_cast<T>(old) ? b : old;
    case AtomicOp::Max:
      return static_cast<T>(old) < static_cast<T>(b) ? b : old;
    case AtomicOp::Inc:
      return old >= b ? 0 : old + 1;
    case AtomicOp::Dec:
      return old == 0 || old > b ? b : old - 1;
    case AtomicOp::And:
      return old & b;
    case AtomicOp::Or:
      return old | b;
    case AtomicOp::Xor:
      return old ^ b;
    case AtomicOp::Exch:
    case AtomicOp::Cas:
    case AtomicOp::None:
      break;
    }
    return old;
  }
};

} // namespace

template <typename Kind>
static void reduce(std::uint8_t *destination, const std::uint8_t *source, std::size_t count) {
  using Bits = typename Kind::Bits;
  for (std::size_t i = 0; i < count; ++i) {
    Bits b = 0;
    std::memcpy(&b, source + i * sizeof(Bits), sizeof(Bits));
    auto *target = reinterpret_cast<Bits *>(destination) + i;
    Bits old = __atomic_load_n(target, __ATOMIC_RELAXED);
    while (!__atomic_compare_exchange_n(target, &old, Kind::apply(old, b), true, __ATOMIC_RELAXED,
                                        __ATOMIC_RELAXED)) {
    }
  }
}

template <typename T>
static ReduceFunction selectInteger(AtomicOp operation) {
  constexpr bool kCounts = std::is_same_v<T, std::uint32_t>;
  switch (operation) {
  case AtomicOp::Add:
    return reduce<CombineIntegers<T, AtomicOp::Add>>;
  case AtomicOp::Min:
    return reduce<CombineIntegers<T, AtomicOp::Min>>;
  case AtomicOp::Max:
    return reduce<CombineIntegers<T, AtomicOp::Max>>;
  case AtomicOp::Inc:
    return kCounts ? reduce<CombineIntegers<T, AtomicOp::Inc>> : nullptr;
  case AtomicOp::Dec:
    return kCounts ? reduce<CombineIntegers<T, AtomicOp::Dec>> : nullptr;
  case AtomicOp::And:
    return reduce<CombineIntegers<T, AtomicOp::And>>;
  case AtomicOp::Or:
    return reduce<CombineIntegers<T, AtomicOp::Or>>;
  case AtomicOp::Xor:
    return reduce<CombineIntegers<T, AtomicOp::Xor>>;
  case AtomicOp::Exch:
  case AtomicOp::Cas:
  case AtomicOp::None:
    break;
  }
  return nullptr;
}

template <typename Float>
static ReduceFunction selectNarrow(AtomicOp operation) {
  return operation == AtomicOp::Add   ? reduce<AddFloating<Float>>
         : operation == AtomicOp::Min ? reduce<SelectFloating<Float, false>>
         : operation == AtomicOp::Max ? reduce<SelectFloating<Float, true>>
                                      : nullptr;
}

ReduceFunction selectReduction(AtomicOp operation, Type type) {
  switch (type) {
  case Type::U32:
  case Type::B32:
    return selectInteger<std::uint32_t>(operation);
  case Type::S32:
    return selectInteger<std::int32_t>(operation);
  case Type::U64:
  case Type::B64:
    return selectInteger<std::uint64_t>(operation);
  case Type::S64:
    return selectInteger<std::int64_t>(operation);
  case Type::F16:
    return selectNarrow<Half>(operation);
  case Type::BF16:
    return selectNarrow<Bfloat>(operation);
  case Type::F32:
    return operation == AtomicOp::Add ? reduce<AddFloating<Single>> : nullptr;
  case Type::F64:
    return operation == AtomicOp::Add ? reduce<AddFloating<Double>> : nullptr;
  default:
    return nullptr;
  }
}

} // namespace fp8jit::emulator
