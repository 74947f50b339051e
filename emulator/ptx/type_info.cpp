// One row per type, in the order of the enumeration.
#include "emulator/ptx/type_info.h"

#include <array>

namespace fp8jit::emulator {

namespace {

enum class Family : std::uint8_t { None, Pred, Bits, Integer, Half, Brain, Float };

struct TypeRow {
  Type type;
  std::string_view name;
  unsigned bits;
  Family family;
};

constexpr std::array kTypes = {
    TypeRow{Type::None, "none", 0, Family::None},
    TypeRow{Type::Pred, "pred", 1, Family::Pred},
    TypeRow{Type::B8, "b8", 8, Family::Bits},
    TypeRow{Type::B16, "b16", 16, Family::Bits},
    TypeRow{Type::B32, "b32", 32, Family::Bits},
    TypeRow{Type::B64, "b64", 64, Family::Bits},
    TypeRow{Type::B128, "b128", 128, Family::Bits},
    TypeRow{Type::U8, "u8", 8, Family::Integer},
    TypeRow{Type::U16, "u16", 16, Family::Integer},
    TypeRow{Type::U32, "u32", 32, Family::Integer},
    TypeRow{Type::U64, "u64", 64, Family::Integer},
    TypeRow{Type::S8, "s8", 8, Family::Integer},
    TypeRow{Type::S16, "s16", 16, Family::Integer},
    TypeRow{Type::S32, "s32", 32, Family::Integer},
    TypeRow{Type::S64, "s64", 64, Family::Integer},
    TypeRow{Type::F16, "f16", 16, Family::Half},
    TypeRow{Type::F16x2, "f16x2", 32, Family::Half},
    TypeRow{Type::BF16, "bf16", 16, Family::Brain},
    TypeRow{Type::BF16x2, "bf16x2", 32, Family::Brain},
    TypeRow{Type::F32, "f32", 32, Family::Float},
    TypeRow{Type::F64, "f64", 64, Family::Float},
    TypeRow{Type::E4M3x2, "e4m3x2", 16, Family::Bits},
    TypeRow{Type::E5M2x2, "e5m2x2", 16, Family::Bits},
    TypeRow{Type::TF32, "tf32", 32, Family::Bits},
    TypeRow{Type::U16x2, "u16x2", 32, Family::Integer},
    TypeRow{Type::S16x2, "s16x2", 32, Family::Integer},
};

} // namespace

static const TypeRow &rowOf(Type type) {
  return kTypes[static_cast<std::size_t>(type)];
}

std::optional<Type> typeFromName(std::string_view name) {
  for (const TypeRow &row : kTypes) {
    if (row.type != Type::None && row.name == name) {
      return row.type;
    }
  }
  if (name == "e4m3") {
    return Type::E4M3x2;
  }
  if (name == "e5m2") {
    return Type::E5M2x2;
  }
  return std::nullopt;
}

std::string_view typeName(Type type) {
  return rowOf(type).name;
}

unsigned typeBits(Type type) {
  return rowOf(type).bits;
}

Type widenedType(Type type) {
  switch (type) {
  case Type::U16:
    return Type::U32;
  case Type::S16:
    return Type::S32;
  case Type::U32:
    return Type::U64;
  case Type::S32:
    return Type::S64;
  default:
    return Type::None;
  }
}

Type bitsType(unsigned bits) {
  switch (bits) {
  case 8:
    return Type::B8;
  case 16:
    return Type::B16;
  case 32:
    return Type::B32;
  case 64:
    return Type::B64;
  case 128:
    return Type::B128;
  default:
    return Type::None;
  }
}

bool isSameFamily(Type declared, Type used) {
  const Family a = rowOf(declared).family;
  const Family b = rowOf(used).family;
  if (a == Family::Pred || b == Family::Pred) {
    return a == b;
  }
  return a == b || a == Family::Bits || b == Family::Bits;
}

} // namespace fp8jit::emulator
