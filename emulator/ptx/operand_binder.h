// Fits the operands of an instruction to the operand pattern of a form (forms.h), checks their
// types and turns them into references. Main entry: OperandBinder::bind.
#pragma once

#include "emulator/ptx/forms.h"
#include "emulator/ptx/kernel_builder.h"
#include "emulator/ptx/operand.h"
#include "emulator/ptx/operand_pattern.h"

#include <string>
#include <string_view>
#include <vector>

namespace fp8jit::emulator {

class OperandBinder {
public:
  /// `isEntry`: the code belongs to a kernel's own body, so that registers in ld.param addresses
  /// point into the kernel's parameters; in an expanded call they point into local memory.
  OperandBinder(KernelBuilder &builder, const OperandList &list, bool isEntry)
      : builder_(builder), list_(list), isEntry_(isEntry) {}

  /// Completes the instruction of `candidate`, appending its operands to the kernel. `label`
  /// receives the label of a branch. Returns false with a `message` when they do not fit; the
  /// kernel's operands are then as before. `progress` tells how far it came: 0 when the number of
  /// operands is wrong, else one more than the operands that did fit.
  bool bind(const Candidate &candidate, Instruction &instruction, std::string_view &label,
            std::string &message, std::size_t &progress);

  /// What must run before the instruction of the last bind: additions of displacements to addresses
  /// that have none of their own in the instruction, moves of lower halves. The guard of the
  /// instruction is theirs too.
  const std::vector<Instruction> &additions() const { return additions_; }

private:
  /// An address whose displacement an addition takes.
  struct Displaced {
    std::uint32_t sum = kNoSlot, base = kNoSlot;
    std::int64_t displacement = 0;
    bool is64 = false;
  };

  using Item = OperandItem;

  bool bindItems(std::string_view pattern, std::size_t &progress);
  bool bindItem(const Item &item, const Operand &operand);
  bool bindChecked(const Item &item, const Operand &operand);
  bool isThere(const Item &item) const;
  std::size_t countItems(std::string_view pattern) const;
  bool bindValue(const Item &item, const Operand &operand);
  bool bindVector(const Item &item, const Operand &operand);
  bool bindElements(const Item &item, const Operand &operand);
  bool bindPredicate(const Item &item, const Operand &operand);
  void bindSpecialPredicate(const Operand &operand);
  bool bindPair(const Operand &operand);
  bool bindAddress(const Operand &operand);
  bool bindBaseAddress(const Operand &operand);
  bool bindTensor(const Operand &operand);
  bool bindParameterAddress(const Operand &operand);
  bool bindImmediate(const Item &item, const Operand &operand);
  bool resolveAddress(const Operand &operand, Space space, std::uint32_t &ref, bool &is64,
                      std::int64_t &displacement);
  std::uint32_t addDisplacement(std::uint32_t ref, bool is64, std::int64_t displacement);
  void addAdditions();
  bool checkRegister(const Item &item, Type type, const Operand &operand);
  bool addSink(Type type);
  bool addDestination(const Item &item, Type type, const Operand &operand);
  bool addSource(const Item &item, Type type, const Operand &operand);
  bool addressOf(const Operand &operand, bool is64, std::uint32_t &ref);
  bool addWide(const Operand &operand, bool isDestination);
  bool splitWide();
  bool checkAccess();
  void append(std::uint32_t ref, bool isDestination);
  Type selectType(const Item &item) const;
  bool fail(std::string text) {
    message_ = std::move(text);
    return false;
  }

  KernelBuilder &builder_;
  const OperandList &list_;
  bool isEntry_;
  const Candidate *candidate_ = nullptr;
  Instruction instruction_;
  std::string_view label_;
  std::string message_;
  std::vector<Displaced> displaced_;
  std::vector<Instruction> additions_;
  unsigned addressCount_ = 0;
  bool hasSourceWidth_ = false, hasDestinationWidth_ = false, hasKernelParameter_ = false;
};

} // namespace fp8jit::emulator
