// References and memory places of one kernel; finish lays the register file out as registers, then
// constants, special registers and symbols.
#include "emulator/ptx/kernel_builder.h"

#include "emulator/ptx/scopes.h"
#include "emulator/ptx/slot_sharing.h"
#include "emulator/ptx/type_info.h"

#include <algorithm>
#include <set>

namespace fp8jit::emulator {

static std::uint64_t roundUp(std::uint64_t value, std::uint64_t align) {
  return (value + align - 1) / align * align;
}

std::uint32_t KernelBuilder::addRegisters(Type type, std::uint32_t count) {
  const bool isPredicate = type == Type::Pred;
  const bool is64 = typeBits(type) == 64;
  std::uint32_t &next = isPredicate ? predicates_ : is64 ? registers64_ : registers32_;
  if (count > kMaxRegisters - next) {
    return kNoSlot;
  }
  const std::uint32_t first = next;
  next += count;
  return makeRef(isPredicate ? RefKind::Predicate
                 : is64      ? RefKind::Register64
                             : RefKind::Register32,
                 first);
}

std::uint32_t KernelBuilder::addFixed(FixedKind kind, std::uint32_t index) {
  fixed_.push_back({kind, index});
  return makeRef(RefKind::Fixed, static_cast<std::uint32_t>(fixed_.size() - 1));
}

std::uint32_t KernelBuilder::addConstant(std::uint64_t bits, bool is64) {
  const auto [entry, isNew] = constants_.try_emplace({bits, is64}, 0);
  if (isNew) {
    kernel_.constants.push_back({.slot = 0, .bits = bits, .is64 = is64});
    entry->second =
        addFixed(FixedKind::Constant, static_cast<std::uint32_t>(kernel_.constants.size() - 1));
  }
  return entry->second;
}

std::uint32_t KernelBuilder::addSharedAddress(std::uint32_t offset, bool is64) {
  const auto [entry, isNew] = sharedAddresses_.try_emplace({offset, is64}, 0);
  if (isNew) {
    kernel_.sharedSymbols.push_back({.slot = 0, .offset = offset, .is64 = is64});
    entry->second =
        addFixed(FixedKind::Shared, static_cast<std::uint32_t>(kernel_.sharedSymbols.size() - 1));
  }
  return entry->second;
}

std::uint32_t KernelBuilder::addDynamicSharedAddress(std::int64_t addend, bool is64) {
  const auto [entry, isNew] = dynamicAddressRefs_.try_emplace({addend, is64}, 0);
  if (isNew) {
    const auto index = static_cast<std::uint32_t>(kernel_.sharedSymbols.size());
    kernel_.sharedSymbols.push_back({.slot = 0, .offset = 0, .is64 = is64});
    dynamicAddresses_.push_back({index, addend});
    entry->second = addFixed(FixedKind::Shared, index);
  }
  return entry->second;
}

std::uint32_t KernelBuilder::addSpecial(Special special, bool is64) {
  const auto [entry, isNew] = specials_.try_emplace({static_cast<int>(special), is64}, 0);
  if (isNew) {
    kernel_.specials.push_back({.slot = 0, .special = special, .is64 = is64});
    entry->second =
        addFixed(FixedKind::Special, static_cast<std::uint32_t>(kernel_.specials.size() - 1));
  }
  return entry->second;
}

std::uint32_t KernelBuilder::addSymbol(std::uint32_t global, std::int64_t addend) {
  const auto [entry, isNew] = symbols_.try_emplace({global, addend}, 0);
  if (isNew) {
    kernel_.symbols.push_back({.slot = 0, .global = global, .addend = addend});
    entry->second =
        addFixed(FixedKind::Symbol, static_cast<std::uint32_t>(kernel_.symbols.size() - 1));
  }
  return entry->second;
}

std::uint32_t KernelBuilder::addConstantPredicate(bool value) {
  std::uint32_t &ref = constantPredicates_[value ? 1 : 0];
  if (ref == kNoSlot) {
    ref = addRegisters(Type::Pred, 1);
    if (ref != kNoSlot) {
      kernel_.constantPredicates.push_back({.index = refNumber(ref), .value = value});
    }
  }
  return ref;
}

std::uint64_t KernelBuilder::addShared(std::uint64_t sizeBytes, std::uint64_t align) {
  const std::uint64_t offset = roundUp(sharedBytes_, align);
  sharedBytes_ = std::min(offset + sizeBytes, 2 * kMaxFrameBytes);
  return offset;
}

std::uint64_t KernelBuilder::addLocal(std::uint64_t sizeBytes, std::uint64_t align) {
  std::uint64_t &bytes = frameBytes_.back();
  const std::uint64_t offset = roundUp(bytes, align);
  bytes = std::min(offset + sizeBytes, 2 * kMaxFrameBytes);
  frameAlign_ = std::max(frameAlign_, align);
  return offset;
}

void KernelBuilder::beginFrame() {
  frameBytes_.push_back(1); // an empty frame counts as well, so that endless recursion ends
}

std::uint32_t KernelBuilder::addFrameSize() {
  const auto index = static_cast<std::uint32_t>(kernel_.constants.size());
  kernel_.constants.push_back({.slot = 0, .bits = 0, .is64 = true});
  frameSizes_.push_back({index, static_cast<std::int64_t>(frameBytes_.size() - 1)});
  return addFixed(FixedKind::Constant, index);
}

std::uint32_t KernelBuilder::stackPointer() {
  if (stackPointer_ == kNoSlot) {
    stackPointer_ = addPinnedRegister();
  }
  return stackPointer_;
}

std::uint32_t KernelBuilder::addPinnedRegister() {
  const std::uint32_t ref = addRegisters(Type::U64, 1);
  if (ref != kNoSlot) {
    pinned_.push_back(refNumber(ref));
  }
  return ref;
}

bool KernelBuilder::isTooLarge() const {
  return sharedBytes_ > kMaxFrameBytes ||
         std::any_of(frameBytes_.begin(), frameBytes_.end(),
                     [](std::uint64_t bytes) { return bytes > kMaxFrameBytes; });
}

std::uint64_t KernelBuilder::sharedOffset(const Variable &variable) {
  const auto [entry, isNew] = moduleShared_.try_emplace(&variable, 0);
  if (isNew) {
    entry->second = addShared(variable.sizeBytes, variable.align);
  }
  return entry->second;
}

void KernelBuilder::alignDynamicShared(std::uint64_t align) {
  dynamicAlign_ = std::max(dynamicAlign_, align);
}

void KernelBuilder::placeFixedSlots(std::vector<std::uint32_t> &fixedSlots) {
  for (const Fixed &fixed : fixed_) {
    const std::uint32_t slot = kernel_.slotCount;
    bool is64 = true;
    switch (fixed.kind) {
    case FixedKind::Constant:
      kernel_.constants[fixed.index].slot = slot;
      is64 = kernel_.constants[fixed.index].is64;
      break;
    case FixedKind::Special:
      kernel_.specials[fixed.index].slot = slot;
      is64 = kernel_.specials[fixed.index].is64;
      break;
    case FixedKind::Symbol:
      kernel_.symbols[fixed.index].slot = slot;
      break;
    case FixedKind::Shared:
      kernel_.sharedSymbols[fixed.index].slot = slot;
      is64 = kernel_.sharedSymbols[fixed.index].is64;
      break;
    }
    fixedSlots.push_back(slot);
    kernel_.slotCount += is64 ? 2 : 1;
  }
}

/// Sizes of shared and local memory, and the values that depend on them.
void KernelBuilder::finishMemory() {
  kernel_.staticSharedBytes = static_cast<std::uint32_t>(sharedBytes_);
  kernel_.dynamicSharedOffset = static_cast<std::uint32_t>(roundUp(sharedBytes_, dynamicAlign_));
  const auto frameSize = [&](std::size_t frame) {
    return static_cast<std::uint32_t>(roundUp(frameBytes_[frame], frameAlign_));
  };
  kernel_.localBytes = kernel_.functions.empty() ? static_cast<std::uint32_t>(frameBytes_[0])
                                                 : frameSize(0) + kStackBytes;
  for (const DynamicAddress &size : frameSizes_) {
    kernel_.constants[size.index].bits = frameSize(static_cast<std::size_t>(size.addend));
  }
  for (std::size_t i = 0; i < kernel_.functions.size(); ++i) {
    kernel_.functions[i].frameBytes = frameSize(i + 1);
  }
  for (const DynamicAddress &address : dynamicAddresses_) {
    kernel_.sharedSymbols[address.index].offset =
        kernel_.dynamicSharedOffset + static_cast<std::uint32_t>(address.addend);
  }
}

/// Which slots and predicates the recursive functions write.
void KernelBuilder::finishFunctions(const SlotMap &map) {
  for (DeviceFunction &function : kernel_.functions) {
    std::set<std::uint32_t> slots;
    std::set<std::uint32_t> wideSlots;
    std::set<std::uint32_t> predicates;
    for (std::uint32_t i = function.first; i < function.end; ++i) {
      const Instruction &instruction = kernel_.code[i];
      for (std::uint32_t d = 0; d < instruction.numDst; ++d) {
        const std::uint32_t ref = kernel_.operands[instruction.operands + d];
        const std::uint32_t number = refNumber(ref);
        if (ref == kNoSlot) {
          continue;
        }
        if (refKind(ref) == RefKind::Predicate) {
          predicates.insert(number);
        } else if (refKind(ref) == RefKind::Register32) {
          slots.insert(map.slots32[number]);
        } else if (std::find(pinned_.begin(), pinned_.end(), number) == pinned_.end()) {
          wideSlots.insert(map.slots64[number]);
        }
      }
    }
    function.slots.assign(slots.begin(), slots.end());
    function.wideSlots.assign(wideSlots.begin(), wideSlots.end());
    function.predicates.assign(predicates.begin(), predicates.end());
  }
}

Kernel KernelBuilder::finish(bool shareSlots) {
  finishMemory();
  const SlotMap map = assignSlots(kernel_, registers32_, registers64_, pinned_, shareSlots);
  finishFunctions(map);
  kernel_.slotCount = map.slotCount;
  kernel_.predicateCount = predicates_;
  std::vector<std::uint32_t> fixedSlots;
  placeFixedSlots(fixedSlots);
  for (std::uint32_t &operand : kernel_.operands) {
    if (operand == kNoSlot) {
      continue;
    }
    const std::uint32_t number = refNumber(operand);
    switch (refKind(operand)) {
    case RefKind::Register32:
      operand = map.slots32[number];
      break;
    case RefKind::Register64:
      operand = map.slots64[number];
      break;
    case RefKind::Predicate:
      operand = number;
      break;
    case RefKind::Fixed:
      operand = fixedSlots[number];
      break;
    }
  }
  return std::move(kernel_);
}

} // namespace fp8jit::emulator
