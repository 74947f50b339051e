// How a function of one lane becomes a handler for a warp. Main entry: execute<&function>.
//
// The handler files are compiled twice, for any x86-64 and for AVX2 with FMA; everything here lies
// in a namespace of its own per target so that the linker cannot mix the two.
#pragma once

#include "emulator/exec/handlers.h"
#include "emulator/exec/warp_state.h"

#include <bit>
#include <cstdint>
#include <type_traits>
#include <utility>

#ifndef FP8JIT_HANDLER_TARGET
#error "handler files are compiled per target: set FP8JIT_HANDLER_TARGET (see CMakeLists.txt)"
#endif

namespace fp8jit::emulator::FP8JIT_HANDLER_TARGET {

/// A 16-bit pattern of a floating-point format; keeps it apart from integers.
struct Half {
  std::uint16_t bits;
};
struct Bfloat {
  std::uint16_t bits;
};

/// How a value of type T stands in a register lane (program.h: 8 and 16 bits are read from the low
/// bits and written zero-extended).
template <typename T>
struct Lane {
  using Storage = std::conditional_t<sizeof(T) == 8, std::uint64_t, std::uint32_t>;
  static T load(Storage storage) {
    if constexpr (std::is_integral_v<T>) {
      return static_cast<T>(storage);
    } else if constexpr (sizeof(T) == 2) {
      return T{static_cast<std::uint16_t>(storage)};
    } else {
      return std::bit_cast<T>(storage);
    }
  }
  static Storage store(T value) {
    if constexpr (std::is_integral_v<T>) {
      return static_cast<Storage>(static_cast<std::make_unsigned_t<T>>(value));
    } else if constexpr (sizeof(T) == 2) {
      return value.bits;
    } else {
      return std::bit_cast<Storage>(value);
    }
  }
};

/// Writes result[i] to the lanes of `mask`.
template <typename Storage>
inline void storeMasked(Storage *destination, const Storage *result, LaneMask mask) {
#pragma GCC ivdep
  for (unsigned i = 0; i < kLanes; ++i) {
    destination[i] = ((mask >> i) & 1U) != 0 ? result[i] : destination[i];
  }
}

/// Writes the bits of `value` to the lanes of `mask` of a predicate; none for an absent one.
inline void writePredicate(Warp &warp, std::uint32_t index, LaneMask value, LaneMask mask) {
  if (index != kNoSlot) {
    warp.predicates[index] = (warp.predicates[index] & ~mask) | (value & mask);
  }
}

template <auto Function, typename D, typename... S, std::size_t... I>
inline void executeLanes(Warp &warp, const Step &step, LaneMask mask, std::index_sequence<I...>) {
  using Storage = typename Lane<D>::Storage;
  Storage *destination = warp.lanes<Storage>(step.operand[0]);
  const auto run = [mask](Storage *to, const auto *...from) {
    if (mask == kAllLanes) {
      // Registers of one width overlap only as a whole, where each lane is read before it is
      // written; those of 32 and of 64 bits never share slots.
#pragma GCC ivdep
      for (unsigned i = 0; i < kLanes; ++i) {
        to[i] = Lane<D>::store(Function(Lane<S>::load(from[i])...));
      }
      return;
    }
    Storage result[kLanes];
    for (unsigned i = 0; i < kLanes; ++i) {
      result[i] = Lane<D>::store(Function(Lane<S>::load(from[i])...));
    }
    storeMasked(to, result, mask);
  };
  run(destination, warp.lanes<const typename Lane<S>::Storage>(step.operand[1 + I])...);
}

template <auto Function, typename D, typename... S>
inline void executeTyped(D (*)(S...), Warp &warp, const Step &step, LaneMask mask) {
  executeLanes<Function, D, S...>(warp, step, mask, std::index_sequence_for<S...>{});
}

/// The handler that applies `Function` to the sources of each lane; its signature names the types
/// of the registers.
template <auto Function>
Outcome execute(Warp &warp, const Step &step, LaneMask mask) {
  executeTyped<Function>(Function, warp, step, mask);
  return Outcome::Next;
}

/// Calls select.operator()<T>() with the C++ type of an integer or untyped `type`.
template <typename Select>
Handler forIntegers(Type type, Select select) {
  switch (type) {
  case Type::B8:
  case Type::U8:
    return select.template operator()<std::uint8_t>();
  case Type::S8:
    return select.template operator()<std::int8_t>();
  case Type::B16:
  case Type::U16:
    return select.template operator()<std::uint16_t>();
  case Type::S16:
    return select.template operator()<std::int16_t>();
  case Type::B32:
  case Type::U32:
    return select.template operator()<std::uint32_t>();
  case Type::S32:
    return select.template operator()<std::int32_t>();
  case Type::B64:
  case Type::U64:
    return select.template operator()<std::uint64_t>();
  case Type::S64:
    return select.template operator()<std::int64_t>();
  case Type::None:
  case Type::Pred:
  case Type::B128:
  case Type::F16:
  case Type::F16x2:
  case Type::BF16:
  case Type::BF16x2:
  case Type::F32:
  case Type::F64:
  case Type::E4M3x2:
  case Type::E5M2x2:
  case Type::TF32:
  case Type::U16x2:
  case Type::S16x2:
    return nullptr;
  }
  return nullptr;
}

} // namespace fp8jit::emulator::FP8JIT_HANDLER_TARGET
