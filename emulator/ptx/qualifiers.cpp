// The keyword groups of forms.h as data, and the flags that single words set.
#include "emulator/ptx/qualifiers.h"

#include <algorithm>
#include <array>
#include <charconv>

namespace fp8jit::emulator {

namespace {

template <typename Enum>
constexpr Keyword key(std::string_view group, std::string_view name, Enum value) {
  return {group, name, static_cast<int>(value), 0};
}

constexpr Keyword direction(std::string_view name, Space to, Space from) {
  return {"direction", name, static_cast<int>(to), static_cast<int>(from)};
}

constexpr Keyword hint(std::string_view group, std::string_view name) {
  return {group, name, 0, 0};
}

constexpr std::array kKeywords = {
    key("space", "global", Space::Global),
    key("space", "shared", Space::Shared),
    key("space", "shared::cta", Space::Shared),
    key("space", "shared::cluster", Space::SharedCluster),
    key("space", "local", Space::Local),
    key("space", "const", Space::Const),
    key("space", "param", Space::Param),
    key("space", "param::entry", Space::Param),
    key("space", "param::func", Space::Param),
    key("rounding", "rn", Rounding::Rn),
    key("rounding", "rz", Rounding::Rz),
    key("rounding", "rm", Rounding::Rm),
    key("rounding", "rp", Rounding::Rp),
    key("rounding", "rna", Rounding::Rna),
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
    key("vectorHalf", "v2", 2),
    key("vectorHalf", "v4", 4),
    key("vectorHalf", "v8", 8),
    key("dimensions", "1d", 1),
    key("dimensions", "2d", 2),
    key("dimensions", "3d", 3),
    key("dimensions", "4d", 4),
    key("dimensions", "5d", 5),
    key("order", "relaxed", Semantics::Relaxed),
    key("order", "acquire", Semantics::Acquire),
    key("order", "release", Semantics::Release),
    key("order", "acq_rel", Semantics::AcqRel),
    key("order", "sc", Semantics::Sc),
    key("scope", "cta", Scope::Cta),
    key("scope", "cluster", Scope::Cluster),
    key("scope", "gpu", Scope::Gpu),
    key("scope", "sys", Scope::Sys),
    key("membar", "cta", Scope::Cta),
    key("membar", "gl", Scope::Gpu),
    key("membar", "sys", Scope::Sys),
    direction("shared.global", Space::Shared, Space::Global),
    direction("shared::cta.global", Space::Shared, Space::Global),
    direction("shared::cluster.global", Space::SharedCluster, Space::Global),
    direction("shared::cluster.shared::cta", Space::SharedCluster, Space::Shared),
    direction("global.shared::cta", Space::Global, Space::Shared),
    key("mapField", "global_address", TensormapField::GlobalAddress),
    key("mapField", "rank", TensormapField::Rank),
    key("mapField", "box_dim", TensormapField::BoxDim),
    key("mapField", "global_dim", TensormapField::GlobalDim),
    key("mapField", "global_stride", TensormapField::GlobalStride),
    key("mapField", "element_stride", TensormapField::ElementStride),
    key("mapField", "elemtype", TensormapField::ElementType),
    key("mapField", "interleave_layout", TensormapField::Interleave),
    key("mapField", "swizzle_mode", TensormapField::Swizzle),
    key("mapField", "swizzle_atomicity", TensormapField::SwizzleAtomicity),
    key("mapField", "fill_mode", TensormapField::FillMode),
    // Caches are not modelled.
    hint("cop", "ca"),
    hint("cop", "cg"),
    hint("cop", "cs"),
    hint("cop", "lu"),
    hint("cop", "cv"),
    hint("cop", "wb"),
    hint("cop", "wt"),
    hint("l1", "L1::evict_normal"),
    hint("l1", "L1::evict_unchanged"),
    hint("l1", "L1::evict_first"),
    hint("l1", "L1::evict_last"),
    hint("l1", "L1::no_allocate"),
    hint("l2", "L2::64B"),
    hint("l2", "L2::128B"),
    hint("l2", "L2::256B"),
    hint("eviction", "L2::evict_last"),
    hint("eviction", "L2::evict_normal"),
    hint("eviction", "L2::evict_first"),
    hint("eviction", "L2::evict_unchanged"),
    hint("second", "L2::evict_first"),
    hint("second", "L2::evict_unchanged"),
    hint("level", "L1"),
    hint("level", "L2"),
    hint("level", "L2::evict_last"),
    hint("level", "L2::evict_normal"),
};

} // namespace

std::span<const Keyword> keywordsOf(std::string_view group) {
  const auto isOfGroup = [group](const Keyword &keyword) { return keyword.group == group; };
  const auto first = std::find_if(kKeywords.begin(), kKeywords.end(), isOfGroup);
  const auto last = std::find_if_not(first, kKeywords.end(), isOfGroup);
  return {first, last};
}

void applyKeyword(const Keyword &keyword, Instruction &instruction) {
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
  } else if (keyword.group == "order") {
    mods.semantics = static_cast<Semantics>(keyword.value);
  } else if (keyword.group == "scope" || keyword.group == "membar") {
    mods.scope = static_cast<Scope>(keyword.value);
  } else if (keyword.group == "direction") {
    instruction.space = static_cast<Space>(keyword.value);
    instruction.srcSpace = static_cast<Space>(keyword.value2);
  } else if (keyword.group == "mapField") {
    instruction.immediate2 = keyword.value * 8;
  } else if (keyword.group == "vector" || keyword.group == "vectorHalf" ||
             keyword.group == "matrices" || keyword.group == "dimensions") {
    instruction.vector = static_cast<std::uint8_t>(keyword.value);
  }
}

static void setShape(Modifiers &mods, std::uint16_t m, std::uint16_t n, std::uint16_t k) {
  mods.m = m;
  mods.n = n;
  mods.k = k;
}

bool applyWgmmaShape(std::string_view word, std::string_view depths, Modifiers &mods) {
  constexpr std::string_view kStart = "m64n";
  if (!word.starts_with(kStart)) {
    return false;
  }
  const char *end = word.data() + word.size();
  unsigned n = 0;
  const auto columns = std::from_chars(word.data() + kStart.size(), end, n);
  if (columns.ec != std::errc() || n == 0 || n > 256 || n % 8 != 0) {
    return false;
  }
  unsigned k = 0;
  const std::string_view depth(columns.ptr, static_cast<std::size_t>(end - columns.ptr));
  if (depth != depths || std::from_chars(depth.data() + 1, end, k).ec != std::errc()) {
    return false;
  }
  setShape(mods, 64, static_cast<std::uint16_t>(n), static_cast<std::uint16_t>(k));
  return true;
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
      Flag{"noinc", &Modifiers::noInc},
      Flag{"inc", &Modifiers::increase},
      Flag{"arrive_drop", &Modifiers::drop},
      Flag{"noComplete", &Modifiers::noComplete},
      Flag{"parity", &Modifiers::parity},
      Flag{"try_wait", &Modifiers::tryWait},
      Flag{"read", &Modifiers::readOnly},
      Flag{"multicast::cluster", &Modifiers::multicast},
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
  } else if (word == "volatile" || word == "mmio") {
    mods.semantics = Semantics::Volatile;
  } else if (word == "m16n8k32") {
    setShape(mods, 16, 8, 32);
  } else if (word == "m16n8k16") {
    setShape(mods, 16, 8, 16);
  } else if (word == "m16n8k8") {
    setShape(mods, 16, 8, 8);
  } else if (word == "m16n8k4") {
    setShape(mods, 16, 8, 4);
  }
}

} // namespace fp8jit::emulator
