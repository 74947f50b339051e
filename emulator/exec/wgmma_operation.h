// A warp's part of one wgmma between issue and completion. Main type: WgmmaOperation.
#pragma once

#include "emulator/exec/async_operation.h"
#include "emulator/exec/wgmma_operands.h"
#include "emulator/tensor/mma.h"

#include <array>
#include <cstdint>
#include <memory>

namespace fp8jit::emulator {

/// Reads its operands in shared memory when the cluster says so, and A in registers then too;
/// writes the accumulators at completion. Between the two the rules of wgmma_rules.h keep other
/// instructions away from the registers.
class WgmmaOperation final : public AsyncOperation {
public:
  static constexpr std::uint32_t kRowsA = 16;       ///< of a warp
  static constexpr std::uint32_t kMaxColumns = 256; ///< of B

  /// For a wgmma whose values are the same in all lanes. `a` is ignored if A comes from registers.
  WgmmaOperation(const AsyncIssue &issue, const OperandTile &a, const OperandTile &b,
                 bool accumulate);

  /// Reports operands outside of the block's shared memory. Stop ends the launch; what is outside
  /// always does.
  Outcome checkBounds() const;
  /// Tells the race checker what will be read; nothing where it is off.
  Outcome noteReads() const;

  void poisonDestinations() override {} // registers: guarded until the wait
  Outcome readSources() override;
  Outcome writeDestinations() override;
  bool needsBlock(const Block &block, bool sourcesAreRead) const override;

private:
  Outcome checkInside(const OperandTile &tile, const std::uint32_t *offsets,
                      const char *name) const;
  Outcome checkWritten(const OperandTile &tile, const std::uint32_t *offsets,
                       const char *name) const;
  const Instruction &instruction() const { return *issue().step->instruction; }
  bool hasTileA() const { return a_.rows != 0; }

  OperandTile a_, b_; ///< a_ has no rows where A comes from registers
  const bool accumulate_;
  std::array<std::uint32_t, 2 * kRowsA> piecesA_;
  std::array<std::uint32_t, 2 * kMaxColumns> piecesB_;
  alignas(64) std::array<std::uint32_t, kRowsA * kOperandRowBytes / 4> wordsA_;
  alignas(64) std::array<std::uint32_t, kMaxColumns * kOperandRowBytes / 4> wordsB_;
};

} // namespace fp8jit::emulator
