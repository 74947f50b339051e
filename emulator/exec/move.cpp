// Moves between registers, address-space conversions and parameter loads (PTX ISA, "mov", "cvta",
// "isspacep", "ld.param").
#include "emulator/exec/block.h"
#include "emulator/exec/lane_ops.h"

#include <cstring>

namespace fp8jit::emulator::FP8JIT_HANDLER_TARGET {

template <typename Storage>
static Storage copyBits(Storage value) {
  return value;
}

static Outcome movePredicate(Warp &warp, const Step &step, LaneMask mask) {
  const LaneMask source =
      warp.predicates[step.operand[1]] ^ (step.instruction->mods.negateSource ? kAllLanes : 0U);
  LaneMask &destination = warp.predicates[step.operand[0]];
  destination = (destination & ~mask) | (source & mask);
  return Outcome::Next;
}

/// Bits of a type that mov packs or unpacks.
static unsigned bitsOf(Type type) {
  switch (type) {
  case Type::B8:
  case Type::U8:
  case Type::S8:
    return 8;
  case Type::B16:
  case Type::U16:
  case Type::S16:
  case Type::F16:
  case Type::BF16:
  case Type::E4M3x2:
  case Type::E5M2x2:
    return 16;
  case Type::B64:
  case Type::U64:
  case Type::S64:
  case Type::F64:
    return 64;
  case Type::B128:
    return 128;
  default: // 32-bit types
    return 32;
  }
}

template <typename Part, typename Whole>
static Whole join(Part low, Part high) {
  return static_cast<Whole>((static_cast<Whole>(high) << (8 * sizeof(Part))) | low);
}

/// Low 32-bit words of a whole value of lane i: a B128 takes two 64-bit pairs of slots.
static std::uint32_t *wholeWord(Warp &warp, std::uint32_t operand, unsigned bits, unsigned lane,
                                unsigned word) {
  if (bits == 32) {
    return warp.lanes<std::uint32_t>(operand) + lane;
  }
  const std::uint32_t pair = operand + (word / 2) * 2 * kSlotBytes;
  return warp.lanes<std::uint32_t>(pair) + 2 * lane + word % 2;
}

/// mov.b32 {a, b} and the like, element by element in units of 16 or 32 bits.
static Outcome pack(Warp &warp, const Step &step, LaneMask mask) {
  const Instruction &instruction = *step.instruction;
  const unsigned wholeBits = bitsOf(instruction.type);
  const unsigned partBits = wholeBits / instruction.vector;
  for (unsigned lane = 0; lane < kLanes; ++lane) {
    if (((mask >> lane) & 1U) == 0) {
      continue;
    }
    std::uint32_t words[4] = {};
    for (unsigned e = 0; e < instruction.vector; ++e) {
      const std::uint32_t operand = step.operands[1 + e];
      if (partBits == 64) {
        const std::uint64_t value = warp.lanes<const std::uint64_t>(operand)[lane];
        words[(2 * e) % 4] = static_cast<std::uint32_t>(value);
        words[(2 * e + 1) % 4] = static_cast<std::uint32_t>(value >> 32);
        continue;
      }
      const std::uint32_t value = warp.lanes<const std::uint32_t>(operand)[lane];
      const std::uint32_t kept = partBits == 32 ? value : value & ((1U << partBits) - 1);
      words[e * partBits / 32] |= kept << (e * partBits % 32);
    }
    for (unsigned w = 0; w < (wholeBits + 31) / 32; ++w) {
      *wholeWord(warp, step.operand[0], wholeBits, lane, w) = words[w];
    }
  }
  return Outcome::Next;
}

static Outcome unpack(Warp &warp, const Step &step, LaneMask mask) {
  const Instruction &instruction = *step.instruction;
  const unsigned wholeBits = bitsOf(instruction.type);
  const unsigned partBits = wholeBits / instruction.vector;
  const std::uint32_t source = step.operands[instruction.numDst];
  for (unsigned lane = 0; lane < kLanes; ++lane) {
    if (((mask >> lane) & 1U) == 0) {
      continue;
    }
    std::uint32_t words[4] = {};
    for (unsigned w = 0; w < (wholeBits + 31) / 32; ++w) {
      words[w] = *wholeWord(warp, source, wholeBits, lane, w);
    }
    for (unsigned e = 0; e < instruction.vector; ++e) {
      const std::uint32_t operand = step.operands[e];
      if (operand == kNoSlot) {
        continue;
      }
      if (partBits == 64) {
        warp.lanes<std::uint64_t>(operand)[lane] =
            (std::uint64_t{words[(2 * e + 1) % 4]} << 32) | words[(2 * e) % 4];
        continue;
      }
      const std::uint32_t word = words[e * partBits / 32] >> (e * partBits % 32);
      warp.lanes<std::uint32_t>(operand)[lane] =
          partBits == 32 ? word : word & ((1U << partBits) - 1);
    }
  }
  return Outcome::Next;
}

static Outcome moveWide128(Warp &warp, const Step &step, LaneMask mask) {
  for (unsigned part = 0; part < 2; ++part) {
    const std::uint32_t offset = part * 2 * kSlotBytes;
    std::uint64_t value[kLanes];
    std::memcpy(value, warp.lanes<const std::uint64_t>(step.operand[1] + offset), sizeof(value));
    storeMasked(warp.lanes<std::uint64_t>(step.operand[0] + offset), value, mask);
  }
  return Outcome::Next;
}

static std::uint64_t windowOf(Space space) {
  switch (space) {
  case Space::Shared:
  case Space::SharedCluster:
    return kSharedWindow;
  case Space::Local:
    return kLocalWindow;
  case Space::Param:
    return kParamWindow;
  case Space::Generic:
  case Space::Global:
  case Space::Const:
    break;
  }
  return 0;
}

/// cvta in both directions; the 32-bit form of shared addresses is its low word.
template <bool IsToSpace>
static Outcome convertAddress(Warp &warp, const Step &step, LaneMask mask) {
  const Instruction &instruction = *step.instruction;
  const std::uint64_t window = windowOf(instruction.space);
  std::uint64_t value[kLanes];
  for (unsigned i = 0; i < kLanes; ++i) {
    const std::uint64_t source = instruction.srcBits == 64
                                     ? warp.lanes<const std::uint64_t>(step.operand[1])[i]
                                     : warp.lanes<const std::uint32_t>(step.operand[1])[i];
    value[i] = IsToSpace ? source - window : source + window;
  }
  if (instruction.dstBits == 64) {
    storeMasked(warp.lanes<std::uint64_t>(step.operand[0]), value, mask);
    return Outcome::Next;
  }
  std::uint32_t low[kLanes];
  for (unsigned i = 0; i < kLanes; ++i) {
    low[i] = static_cast<std::uint32_t>(value[i]);
  }
  storeMasked(warp.lanes<std::uint32_t>(step.operand[0]), low, mask);
  return Outcome::Next;
}

static Outcome isInSpace(Warp &warp, const Step &step, LaneMask mask) {
  const std::uint64_t window = windowOf(step.instruction->space);
  const std::uint64_t *address = warp.lanes<const std::uint64_t>(step.operand[1]);
  LaneMask result = 0;
  for (unsigned i = 0; i < kLanes; ++i) {
    result |= LaneMask{(address[i] & kWindowMask) == window} << i;
  }
  if (step.instruction->space == Space::Shared) { // shared::cta: the memory of its own block
    const std::uint32_t rank = warp.block->rank;
    for (unsigned i = 0; i < kLanes; ++i) {
      const bool isOwn = static_cast<std::uint32_t>(address[i]) >> SharedMemory::kRankShift == rank;
      result &= ~(LaneMask{!isOwn} << i);
    }
  }
  LaneMask &destination = warp.predicates[step.operand[0]];
  destination = (destination & ~mask) | (result & mask);
  return Outcome::Next;
}

/// Writes one element of `bits` bits to lane i of a register, extended by the sign of its type.
static void writeElement(Warp &warp, const Instruction &instruction, std::uint32_t operand,
                         unsigned lane, std::uint64_t element, unsigned bits) {
  std::uint64_t value = element;
  const bool isSigned = instruction.type == Type::S8 || instruction.type == Type::S16 ||
                        instruction.type == Type::S32;
  if (isSigned && ((element >> (bits - 1)) & 1U) != 0) {
    value |= ~std::uint64_t{0} << bits;
  }
  if (instruction.dstBits == 64) {
    warp.lanes<std::uint64_t>(operand)[lane] = value;
  } else {
    warp.lanes<std::uint32_t>(operand)[lane] = static_cast<std::uint32_t>(value);
  }
}

static Outcome loadParameter(Warp &warp, const Step &step, LaneMask mask) {
  const Instruction &instruction = *step.instruction;
  LaunchContext &launch = *warp.block->launch;
  const std::vector<std::uint8_t> &parameters = launch.parameters;
  const unsigned bits = bitsOf(instruction.type);
  const unsigned bytes = bits / 8;
  const std::uint64_t total = std::uint64_t{bytes} * instruction.vector;
  const std::uint32_t address =
      instruction.numSrc > 0 ? step.operands[instruction.numDst] : kNoSlot;
  for (unsigned lane = 0; lane < kLanes; ++lane) {
    if (((mask >> lane) & 1U) == 0) {
      continue;
    }
    std::uint64_t offset = 0;
    if (address != kNoSlot) {
      offset = (instruction.addressBits & 1U) != 0
                   ? warp.lanes<const std::uint64_t>(address)[lane] & ~kWindowMask
                   : warp.lanes<const std::uint32_t>(address)[lane];
    }
    offset += static_cast<std::uint64_t>(instruction.immediate);
    if (offset > parameters.size() || total > parameters.size() - offset) {
      return launch.findings.add(
          warp, instruction, LaneMask{1} << lane, Fault::IllegalAddress, Severity::HardwareFault,
          "reads " + std::to_string(total) + " bytes at offset " + std::to_string(offset) + " of " +
              std::to_string(parameters.size()) + " parameter bytes");
    }
    for (unsigned e = 0; e < instruction.vector; ++e) {
      std::uint64_t element = 0;
      std::memcpy(&element, parameters.data() + offset + std::uint64_t{e} * bytes, bytes);
      if (step.operands[e] != kNoSlot) {
        writeElement(warp, instruction, step.operands[e], lane, element, bits);
      }
    }
  }
  return Outcome::Next;
}

Handler selectMove(const Instruction &instruction) {
  switch (instruction.op) {
  case Op::Mov:
    if (instruction.type == Type::Pred) {
      return &movePredicate;
    }
    if (instruction.type == Type::B128) {
      return &moveWide128;
    }
    return instruction.dstBits == 64 ? &execute<&copyBits<std::uint64_t>>
                                     : &execute<&copyBits<std::uint32_t>>;
  case Op::MovPack:
    if (instruction.vector == 2 && bitsOf(instruction.type) == 32) {
      return &execute<&join<std::uint16_t, std::uint32_t>>;
    }
    if (instruction.vector == 2 && bitsOf(instruction.type) == 64) {
      return &execute<&join<std::uint32_t, std::uint64_t>>;
    }
    return &pack;
  case Op::MovUnpack:
    return &unpack;
  case Op::Cvta:
    return &convertAddress<false>;
  case Op::CvtaTo:
    return &convertAddress<true>;
  case Op::IsSpacep:
    return &isInSpace;
  case Op::LdParam:
    return bitsOf(instruction.type) <= 64 ? &loadParameter : nullptr;
  default: // the other groups
    return nullptr;
  }
}

} // namespace fp8jit::emulator::FP8JIT_HANDLER_TARGET
