// The keyword groups of forms.h as data, and the flags that single words set.
#include "emulator/ptx/qualifiers.h"

#include <array>

namespace fp8jit::emulator {

namespace {

struct Keyword {
  std::string_view group;
  std::string_view name;
  int value = 0; ///< enumerator or count; its meaning depends on the group
};

template <typename Enum>
constexpr Keyword key(std::string_view group, std::string_view name, Enum value) {
  return {group, name, static_cast<int>(value)};
}

constexpr std::array kKeywords = {
    key("space", "global", Space::Global),
    key("space", "shared", Space::Shared),
    key("space", "shared::cta", Space::Shared),
    key("space", "local", Space::Local),
    key("space", "const", Space::Const),
    key("space", "param", Space::Param),
    key("space", "param::entry", Space::Param),
    key("space", "param::func", Space::Param),
    key("rounding", "rn", Rounding::Rn),
    key("rounding", "rz", Rounding::Rz),
    key("rounding", "rm", Rounding::Rm),
    key("rounding", "rp", Rounding::Rp),
    key("rounding", "rni", Rounding::Rni),
    key("rounding", "rzi", Rounding::Rzi),
    key("rounding", "rmi", Rounding::Rmi),
    key("rounding", "rpi", Rounding::Rpi),
    key("compare", "eq", Compare::Eq),
    key("compare", "ne", Compare::Ne),
    key("compare", "lt", Compare::Lt),
    key("compare", "le", Compare::Le),
    key("compare", "gt", Compare::Gt),
    key("compare", "ge", Compare::Ge),
    key("compare", "lo", Compare::Lo),
    key("compare", "ls", Compare::Ls),
    key("compare", "hi", Compare::Hi),
    key("compare", "hs", Compare::Hs),
    key("compare", "equ", Compare::Equ),
    key("compare", "neu", Compare::Neu),
    key("compare", "ltu", Compare::Ltu),
    key("compare", "leu", Compare::Leu),
    key("compare", "gtu", Compare::Gtu),
    key("compare", "geu", Compare::Geu),
    key("compare", "num", Compare::Num),
    key("compare", "nan", Compare::Nan),
    key("bool", "and", BoolOp::And),
    key("bool", "or", BoolOp::Or),
    key("bool", "xor", BoolOp::Xor),
    key("shuffle", "up", ShuffleMode::Up),
    key("shuffle", "down", ShuffleMode::Down),
    key("shuffle", "bfly", ShuffleMode::Bfly),
    key("shuffle", "idx", ShuffleMode::Idx),
    key("atomic", "add", AtomicOp::Add),
    key("atomic", "min", AtomicOp::Min),
    key("atomic", "max", AtomicOp::Max),
    key("atomic", "inc", AtomicOp::Inc),
    key("atomic", "dec", AtomicOp::Dec),
    key("atomic", "and", AtomicOp::And),
    key("atomic", "or", AtomicOp::Or),
    key("atomic", "xor", AtomicOp::Xor),
    key("atomic", "exch", AtomicOp::Exch),
    key("atomic", "cas", AtomicOp::Cas),
    key("vector", "v2", 2),
    key("vector", "v4", 4),
    key("matrices", "x1", 1),
    key("matrices", "x2", 2),
    key("matrices", "x4", 4),
    // Hints and orders: memory is sequentially consistent here, caches are not modelled.
    Keyword{"cop", "ca"},
    Keyword{"cop", "cg"},
    Keyword{"cop", "cs"},
    Keyword{"cop", "lu"},
    Keyword{"cop", "cv"},
    Keyword{"cop", "wb"},
    Keyword{"cop", "wt"},
    Keyword{"l1", "L1::evict_normal"},
    Keyword{"l1", "L1::evict_unchanged"},
    Keyword{"l1", "L1::evict_first"},
    Keyword{"l1", "L1::evict_last"},
    Keyword{"l1", "L1::no_allocate"},
    Keyword{"l2", "L2::64B"},
    Keyword{"l2", "L2::128B"},
    Keyword{"l2", "L2::256B"},
    Keyword{"level", "L1"},
    Keyword{"level", "L2"},
    Keyword{"semantics", "relaxed"},
    Keyword{"semantics", "acquire"},
    Keyword{"semantics", "release"},
    Keyword{"order", "relaxed"},
    Keyword{"order", "acquire"},
    Keyword{"order", "release"},
    Keyword{"order", "acq_rel"},
    Keyword{"fence", "sc"},
    Keyword{"fence", "acq_rel"},
    Keyword{"fence", "acquire"},
    Keyword{"fence", "release"},
    Keyword{"scope", "cta"},
    Keyword{"scope", "cluster"},
    Keyword{"scope", "gpu"},
    Keyword{"scope", "sys"},
    Keyword{"membar", "cta"},
    Keyword{"membar", "gl"},
    Keyword{"membar", "sys"},
    Keyword{"sharedDestination", "shared"},
    Keyword{"sharedDestination", "shared::cta"},
};

} // namespace

static void apply(const Keyword &keyword, Instruction &instruction) {
  Modifiers &mods = instruction.mods;
  if (keyword.group == "space") {
    instruction.space = static_cast<Space>(keyword.value);
  } else if (keyword.group == "rounding") {
    mods.rounding = static_cast<Rounding>(keyword.value);
  } else if (keyword.group == "compare") {
    mods.compare = static_cast<Compare>(keyword.value);
  } else if (keyword.group == "bool") {
    mods.boolOp = static_cast<BoolOp>(keyword.value);
  } else if (keyword.group == "shuffle") {
    mods.shuffle = static_cast<ShuffleMode>(keyword.value);
  } else if (keyword.group == "atomic") {
    mods.atomic = static_cast<AtomicOp>(keyword.value);
  } else if (keyword.group == "vector" || keyword.group == "matrices") {
    instruction.vector = static_cast<std::uint8_t>(keyword.value);
  }
}

bool applyKeyword(std::string_view group, std::string_view keyword, Instruction &instruction) {
  for (const Keyword &candidate : kKeywords) {
    if (candidate.group == group && candidate.name == keyword) {
      apply(candidate, instruction);
      return true;
    }
  }
  return false;
}

static void setShape(Modifiers &mods, std::uint16_t m, std::uint16_t n, std::uint16_t k) {
  mods.m = m;
  mods.n = n;
  mods.k = k;
}

void applyWord(std::string_view word, Instruction &instruction) {
  struct Flag {
    std::string_view word;
    bool Modifiers::*member;
  };
  constexpr std::array kFlags = {
      Flag{"ftz", &Modifiers::ftz},
      Flag{"sat", &Modifiers::sat},
      Flag{"satfinite", &Modifiers::satfinite},
      Flag{"relu", &Modifiers::relu},
      Flag{"NaN", &Modifiers::nan},
      Flag{"cc", &Modifiers::carryOut},
      Flag{"nc", &Modifiers::noncoherent},
      Flag{"trans", &Modifiers::transpose},
      Flag{"uni", &Modifiers::uniform},
      Flag{"aligned", &Modifiers::aligned},
      Flag{"xorsign", &Modifiers::xorSignAbs},
  };
  Modifiers &mods = instruction.mods;
  for (const Flag &flag : kFlags) {
    if (flag.word == word) {
      mods.*flag.member = true;
      return;
    }
  }
  if (word == "rn") {
    mods.rounding = Rounding::Rn;
  } else if (word == "popc") {
    mods.boolOp = BoolOp::Popc;
  } else if (word == "global") {
    instruction.space = Space::Global;
  } else if (word == "m16n8k32") {
    setShape(mods, 16, 8, 32);
  } else if (word == "m16n8k16") {
    setShape(mods, 16, 8, 16);
  }
}

} // namespace fp8jit::emulator
