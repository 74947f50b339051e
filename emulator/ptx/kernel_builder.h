// Collects the code of one kernel while its register, constant and memory places are not final.
// Main entries: the add functions, then finish.
//
// Until finish an operand is a reference: two tag bits (32-bit register, 64-bit register,
// predicate, fixed slot) and a number, so that a pass over the code needs no operand patterns.
// kNoSlot stays.
#pragma once

#include "emulator/ptx/program.h"

#include <cstdint>
#include <map>
#include <utility>
#include <vector>

namespace fp8jit::emulator {

struct SlotMap;  // slot_sharing.h
struct Variable; // scopes.h

enum class RefKind : std::uint32_t { Register32, Register64, Predicate, Fixed };

inline constexpr unsigned kRefKindShift = 30;
inline constexpr std::uint32_t kRefNumberMask = (1U << kRefKindShift) - 1;

constexpr std::uint32_t makeRef(RefKind kind, std::uint32_t number) {
  return (static_cast<std::uint32_t>(kind) << kRefKindShift) | number;
}

constexpr RefKind refKind(std::uint32_t ref) {
  return static_cast<RefKind>(ref >> kRefKindShift);
}

constexpr std::uint32_t refNumber(std::uint32_t ref) {
  return ref & kRefNumberMask;
}

/// Most registers of one class in a kernel, calls expanded; a text with more is refused.
inline constexpr std::uint32_t kMaxRegisters = 1U << 20;

/// Most instructions of a kernel, calls expanded.
inline constexpr std::size_t kMaxInstructions = 1U << 20;

/// Most bytes of shared, local or parameter memory that one kernel may declare.
inline constexpr std::uint64_t kMaxFrameBytes = std::uint64_t{1} << 30;

class KernelBuilder {
public:
  Kernel &kernel() { return kernel_; }

  /// Reserves `count` registers of `type` and returns a reference to the first; the others follow
  /// by number. kNoSlot when the kernel has too many.
  std::uint32_t addRegisters(Type type, std::uint32_t count);

  /// References to slots that hold a constant, a special register, the address of a global, and to
  /// a predicate that is constant. Equal ones are shared.
  std::uint32_t addConstant(std::uint64_t bits, bool is64);
  std::uint32_t addSpecial(Special special, bool is64);
  std::uint32_t addSymbol(std::uint32_t global, std::int64_t addend);
  std::uint32_t addConstantPredicate(bool value);

  /// A slot with the address of the shared byte at `offset`, of 32 or 64 bits.
  std::uint32_t addSharedAddress(std::uint32_t offset, bool is64);

  /// The same for dynamic shared memory plus `addend`, whose offset is known at finish.
  std::uint32_t addDynamicSharedAddress(std::int64_t addend, bool is64);

  /// Places a variable and returns its offset; nothing is checked but the total (see isTooLarge).
  /// A local one is placed in the current frame.
  std::uint64_t addShared(std::uint64_t sizeBytes, std::uint64_t align);
  std::uint64_t addLocal(std::uint64_t sizeBytes, std::uint64_t align);

  /// Begins the frame of a recursive function, which is then the current one. The first frame is
  /// the kernel's own.
  void beginFrame();
  /// Whether the current frame lies at the stack pointer.
  bool isOnStack() const { return frameBytes_.size() > 1; }
  /// A 64-bit slot with the size of the current frame, known at finish; the kernel's own frame ends
  /// where the stack begins.
  std::uint32_t addFrameSize();
  /// The register of the stack pointer, 64 bits.
  std::uint32_t stackPointer();
  /// Reserves a 64-bit register that shares its slots with no other; kNoSlot as addRegisters.
  std::uint32_t addPinnedRegister();

  /// The offset of a shared variable of the module, which gets its place when first asked for.
  std::uint64_t sharedOffset(const Variable &variable);

  /// Notes the alignment that an extern shared variable asks for.
  void alignDynamicShared(std::uint64_t align);

  /// Whether shared or local memory went beyond kMaxFrameBytes.
  bool isTooLarge() const;

  /// Turns references into slots and returns the kernel. `shareSlots`: registers whose values are
  /// never needed at the same time may get the same slot.
  Kernel finish(bool shareSlots);

private:
  enum class FixedKind : std::uint8_t { Constant, Special, Symbol, Shared };
  struct Fixed {
    FixedKind kind;
    std::uint32_t index;
  };
  struct DynamicAddress {
    std::uint32_t index; ///< in Kernel::sharedSymbols or Kernel::constants
    std::int64_t addend; ///< or the frame
  };

  std::uint32_t addFixed(FixedKind kind, std::uint32_t index);
  void finishMemory();
  void finishFunctions(const SlotMap &map);
  void placeFixedSlots(std::vector<std::uint32_t> &fixedSlots);

  Kernel kernel_;
  std::uint32_t registers32_ = 0, registers64_ = 0, predicates_ = 0;
  std::vector<Fixed> fixed_;
  std::map<std::pair<std::uint64_t, bool>, std::uint32_t> constants_;
  std::map<std::pair<int, bool>, std::uint32_t> specials_;
  std::map<std::pair<std::uint32_t, std::int64_t>, std::uint32_t> symbols_;
  std::map<std::pair<std::uint32_t, bool>, std::uint32_t> sharedAddresses_;
  std::map<std::pair<std::int64_t, bool>, std::uint32_t> dynamicAddressRefs_;
  std::uint32_t constantPredicates_[2] = {kNoSlot, kNoSlot};
  std::vector<DynamicAddress> dynamicAddresses_;
  std::map<const Variable *, std::uint64_t> moduleShared_;
  std::vector<std::uint64_t> frameBytes_ = {0}; ///< the kernel's own frame, then the functions'
  std::vector<DynamicAddress> frameSizes_;      ///< constants and the frames they are the size of
  std::vector<std::uint32_t> pinned_;           ///< 64-bit registers by number
  std::uint32_t stackPointer_ = kNoSlot;
  std::uint64_t sharedBytes_ = 0, dynamicAlign_ = 1, frameAlign_ = 16;
};

} // namespace fp8jit::emulator
