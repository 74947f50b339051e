// atom and red (PTX ISA, "atom", "red"): real host atomics, lane by lane in ascending order.
#include "emulator/exec/access.h"
#include "emulator/exec/float_ops.h"
#include "emulator/exec/lane_ops.h"
#include "emulator/exec/narrow_float.h"

namespace fp8jit::emulator::FP8JIT_HANDLER_TARGET {

/// The new value of an integer location. inc: old >= b ? 0 : old + 1; dec: old == 0 or old > b ?
/// b : old - 1.
template <typename T>
static T combine(AtomicOp operation, T old, T b, T c) {
  using U = std::make_unsigned_t<T>;
  switch (operation) {
  case AtomicOp::Add:
    return static_cast<T>(static_cast<U>(old) + static_cast<U>(b));
  case AtomicOp::Min:
    return b < old ? b : old;
  case AtomicOp::Max:
    return old < b ? b : old;
  case AtomicOp::Inc:
    return old >= b ? T{0} : static_cast<T>(old + 1);
  case AtomicOp::Dec:
    return old == 0 || old > b ? b : static_cast<T>(old - 1);
  case AtomicOp::And:
    return static_cast<T>(old & b);
  case AtomicOp::Or:
    return static_cast<T>(old | b);
  case AtomicOp::Xor:
    return static_cast<T>(old ^ b);
  case AtomicOp::Exch:
    return b;
  case AtomicOp::Cas:
    return old == b ? c : old;
  case AtomicOp::None:
    break;
  }
  return old;
}

/// Floating-point kinds of atomics, by what the location holds. Additions of f32 flush subnormal
/// inputs and results in global memory and keep them in shared memory (PTX ISA, "atom", "red").
template <bool IsFlushed>
struct AddFloat {
  using Bits = std::uint32_t;
  using Global = AddFloat<true>;
  static Bits apply(AtomicOp operation, Bits old, Bits b, Bits) {
    const float sum =
        flushIf<IsFlushed>(std::bit_cast<float>(old)) + flushIf<IsFlushed>(std::bit_cast<float>(b));
    return operation == AtomicOp::Exch ? b
                                       : std::bit_cast<Bits>(canonical(flushIf<IsFlushed>(sum)));
  }
};
struct AddDouble {
  using Bits = std::uint64_t;
  using Global = AddDouble;
  static Bits apply(AtomicOp operation, Bits old, Bits b, Bits) {
    return operation == AtomicOp::Exch ? b
                                       : std::bit_cast<Bits>(canonical(std::bit_cast<double>(old) +
                                                                       std::bit_cast<double>(b)));
  }
};
/// add, min and max of one f16 or bf16. min and max ignore a NaN, and -0 is less than +0.
template <bool IsBfloat>
static std::uint32_t combineHalf(AtomicOp operation, std::uint32_t old, std::uint32_t b) {
  const auto widened = IsBfloat ? &widenBf16 : &widenF16;
  const float x = widened(old);
  const float y = widened(b);
  if (operation == AtomicOp::Add) {
    return IsBfloat ? narrowBf16(x + y) : narrow<kF16>(x + y);
  }
  if (x != x || y != y) {
    return x != x && y != y ? 0x7fffU : x != x ? b : old;
  }
  const bool isMax = operation == AtomicOp::Max;
  if (x == y) {
    return isMax ? old & b : old | b;
  }
  return (x < y) == isMax ? b : old;
}

template <bool IsBfloat>
struct CombineHalf {
  using Bits = std::uint16_t;
  using Global = CombineHalf;
  static Bits apply(AtomicOp operation, Bits old, Bits b, Bits) {
    return static_cast<Bits>(combineHalf<IsBfloat>(operation, old, b));
  }
};
template <bool IsBfloat>
struct CombineHalves {
  using Bits = std::uint32_t;
  using Global = CombineHalves;
  static Bits apply(AtomicOp operation, Bits old, Bits b, Bits) {
    return (combineHalf<IsBfloat>(operation, old >> 16, b >> 16) << 16) |
           combineHalf<IsBfloat>(operation, old & 0xffffU, b & 0xffffU);
  }
};
template <typename T>
struct CombineInteger {
  using Bits = std::make_unsigned_t<T>;
  using Global = CombineInteger;
  static Bits apply(AtomicOp operation, Bits old, Bits b, Bits c) {
    return static_cast<Bits>(
        combine<T>(operation, static_cast<T>(old), static_cast<T>(b), static_cast<T>(c)));
  }
};

/// Applies Kind to one location; returns the old bits.
template <typename Kind>
static typename Kind::Bits update(std::uint8_t *location, AtomicOp operation, typename Kind::Bits b,
                                  typename Kind::Bits c) {
  using Bits = typename Kind::Bits;
  auto *target = reinterpret_cast<Bits *>(location);
  Bits old = __atomic_load_n(target, __ATOMIC_RELAXED);
  while (!__atomic_compare_exchange_n(target, &old, Kind::apply(operation, old, b, c), true,
                                      __ATOMIC_ACQ_REL, __ATOMIC_RELAXED)) {
  }
  return old;
}

/// Elements of the widest vector: eight of 16 bits.
static constexpr unsigned kMaxElements = 8;

/// The elements of one lane, with what they were into `old`; in global memory by Kind::Global.
template <typename Kind, typename Storage>
static void updateLane(const Instruction &instruction, const Span &span, unsigned lane,
                       const Storage *const *b, const Storage *c, Storage (*old)[kLanes]) {
  using Bits = typename Kind::Bits;
  std::uint8_t *location = span.data + span.offset[lane];
  const AtomicOp operation = instruction.mods.atomic;
  for (unsigned e = 0; e < instruction.vector; ++e, location += sizeof(Bits)) {
    const auto value = static_cast<Bits>(b[e][lane]);
    const auto other = static_cast<Bits>(c[lane]);
    old[e][lane] = span.space == Space::Global
                       ? update<typename Kind::Global>(location, operation, value, other)
                       : update<Kind>(location, operation, value, other);
  }
}

template <typename Kind>
static Outcome atomic(Warp &warp, const Step &step, LaneMask mask) {
  using Bits = typename Kind::Bits;
  using Storage = std::conditional_t<sizeof(Bits) == 8, std::uint64_t, std::uint32_t>;
  const Instruction &instruction = *step.instruction;
  const std::uint32_t *sources = step.operands + instruction.numDst;
  AccessRequest request;
  request.space = instruction.space;
  request.kind = AccessKind::Update;
  request.sizeBytes = static_cast<std::uint32_t>(sizeof(Bits) * instruction.vector);
  readAddresses(warp, sources[0], (instruction.addressBits & 1U) != 0, instruction.immediate,
                request);
  const Storage *b[kMaxElements];
  for (unsigned e = 0; e < instruction.vector; ++e) {
    b[e] = warp.lanes<const Storage>(sources[1 + e]);
  }
  const bool hasThird = instruction.mods.atomic == AtomicOp::Cas;
  const Storage *c = hasThird ? warp.lanes<const Storage>(sources[2]) : b[0];
  Storage old[kMaxElements][kLanes];
  Span span;
  for (LaneMask rest = mask; rest != 0; rest &= ~span.lanes) {
    if (resolve(warp, step, request, rest, span) == Outcome::Stop ||
        checkWritten(warp, step, span, request.sizeBytes) == Outcome::Stop ||
        checkRaces(warp, step, request.kind, span, request.sizeBytes) == Outcome::Stop) {
      return Outcome::Stop;
    }
    for (LaneMask lanes = span.lanes; lanes != 0; lanes &= lanes - 1) {
      const auto lane = static_cast<unsigned>(std::countr_zero(lanes));
      updateLane<Kind>(instruction, span, lane, b, c, old);
    }
    markWritten(span, request.sizeBytes);
  }
  for (unsigned e = 0; e < instruction.numDst; ++e) {
    if (step.operands[e] != kNoSlot) {
      storeMasked(warp.lanes<Storage>(step.operands[e]), old[e], mask);
    }
  }
  return Outcome::Next;
}

Handler selectAtomic(const Instruction &instruction) {
  if ((instruction.op != Op::Atom && instruction.op != Op::Red) ||
      instruction.vector > kMaxElements) {
    return nullptr;
  }
  const AtomicOp operation = instruction.mods.atomic;
  const bool isFloatOperation = operation == AtomicOp::Add || operation == AtomicOp::Exch;
  switch (instruction.type) {
  case Type::F32:
    return isFloatOperation ? &atomic<AddFloat<false>> : nullptr;
  case Type::F64:
    return isFloatOperation ? &atomic<AddDouble> : nullptr;
  case Type::F16:
    return &atomic<CombineHalf<false>>;
  case Type::BF16:
    return &atomic<CombineHalf<true>>;
  case Type::F16x2:
    return &atomic<CombineHalves<false>>;
  case Type::BF16x2:
    return &atomic<CombineHalves<true>>;
  default: // integers and untyped
    return forIntegers(instruction.type, []<typename T>() -> Handler {
      if constexpr (sizeof(T) == 1) {
        return nullptr;
      } else {
        return &atomic<CombineInteger<T>>;
      }
    });
  }
}

} // namespace fp8jit::emulator::FP8JIT_HANDLER_TARGET
