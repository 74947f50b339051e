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

/// Floating-point kinds of atomics, by what the location holds.
struct AddFloat {
  using Bits = std::uint32_t;
  static Bits apply(AtomicOp operation, Bits old, Bits b, Bits) {
    const auto x = std::bit_cast<float>(old);
    const auto y = std::bit_cast<float>(b);
    // atom.add.f32 on global memory flushes subnormals on hardware only where it says .ftz; the
    // form without it keeps them (PTX ISA, "atom").
    return operation == AtomicOp::Exch ? b : std::bit_cast<Bits>(canonical(x + y));
  }
};
struct AddDouble {
  using Bits = std::uint64_t;
  static Bits apply(AtomicOp operation, Bits old, Bits b, Bits) {
    return operation == AtomicOp::Exch ? b
                                       : std::bit_cast<Bits>(canonical(std::bit_cast<double>(old) +
                                                                       std::bit_cast<double>(b)));
  }
};
struct AddHalves {
  using Bits = std::uint32_t;
  static Bits apply(AtomicOp, Bits old, Bits b, Bits) {
    const std::uint32_t low = narrow<kF16>(widenF16(old & 0xffffU) + widenF16(b & 0xffffU));
    return (narrow<kF16>(widenF16(old >> 16) + widenF16(b >> 16)) << 16) | low;
  }
};
struct AddBfloats {
  using Bits = std::uint32_t;
  static Bits apply(AtomicOp, Bits old, Bits b, Bits) {
    const std::uint32_t low = narrowBf16(widenBf16(old & 0xffffU) + widenBf16(b & 0xffffU));
    return (narrowBf16(widenBf16(old >> 16) + widenBf16(b >> 16)) << 16) | low;
  }
};
template <typename T>
struct CombineInteger {
  using Bits = std::make_unsigned_t<T>;
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

template <typename Kind>
static Outcome atomic(Warp &warp, const Step &step, LaneMask mask) {
  using Bits = typename Kind::Bits;
  using Storage = std::conditional_t<sizeof(Bits) == 8, std::uint64_t, std::uint32_t>;
  const Instruction &instruction = *step.instruction;
  const std::uint32_t *sources = step.operands + instruction.numDst;
  AccessRequest request;
  request.space = instruction.space;
  request.kind = AccessKind::Update;
  request.sizeBytes = sizeof(Bits);
  readAddresses(warp, sources[0], (instruction.addressBits & 1U) != 0, instruction.immediate,
                request);
  const Storage *b = warp.lanes<const Storage>(sources[1]);
  const Storage *c = instruction.numSrc > 2 ? warp.lanes<const Storage>(sources[2]) : b;
  Storage old[kLanes] = {};
  Span span;
  for (LaneMask rest = mask; rest != 0; rest &= ~span.lanes) {
    if (resolve(warp, step, request, rest, span) == Outcome::Stop ||
        checkWritten(warp, step, span, request.sizeBytes) == Outcome::Stop ||
        checkRaces(warp, step, request.kind, span, request.sizeBytes) == Outcome::Stop) {
      return Outcome::Stop;
    }
    for (LaneMask lanes = span.lanes; lanes != 0; lanes &= lanes - 1) {
      const auto lane = static_cast<unsigned>(std::countr_zero(lanes));
      old[lane] = update<Kind>(span.data + span.offset[lane], instruction.mods.atomic,
                               static_cast<Bits>(b[lane]), static_cast<Bits>(c[lane]));
    }
    markWritten(span, request.sizeBytes);
  }
  if (instruction.numDst > 0 && step.operands[0] != kNoSlot) {
    storeMasked(warp.lanes<Storage>(step.operands[0]), old, mask);
  }
  return Outcome::Next;
}

Handler selectAtomic(const Instruction &instruction) {
  if (instruction.op != Op::Atom && instruction.op != Op::Red) {
    return nullptr;
  }
  const AtomicOp operation = instruction.mods.atomic;
  const bool isFloatOperation = operation == AtomicOp::Add || operation == AtomicOp::Exch;
  switch (instruction.type) {
  case Type::F32:
    return isFloatOperation ? &atomic<AddFloat> : nullptr;
  case Type::F64:
    return isFloatOperation ? &atomic<AddDouble> : nullptr;
  case Type::F16x2:
    return operation == AtomicOp::Add ? &atomic<AddHalves> : nullptr;
  case Type::BF16x2:
    return operation == AtomicOp::Add ? &atomic<AddBfloats> : nullptr;
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
