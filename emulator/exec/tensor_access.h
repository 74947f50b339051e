// What all tensor copies do: fetching and checking a tensor map, and moving the rows of its box
// between global memory, a buffer and shared memory. Main entries: TensorAccess, readTensorMap.
// Source: PTX ISA, "cp.async.bulk.tensor" and "Tensors".
#pragma once

#include "emulator/exec/findings.h"
#include "emulator/exec/reduce_elements.h"
#include "emulator/exec/warp_state.h"
#include "emulator/tensor_map/box.h"

#include <array>
#include <cstdint>
#include <string>
#include <vector>

namespace fp8jit::emulator {

struct Block;

/// The thread and the instruction that ask for a copy; what reports name.
struct CopyIssuer {
  Warp &warp;
  const Step &step;
  unsigned lane = 0;

  /// Records a finding; Stop if it ends the launch.
  Outcome report(Fault fault, Severity severity, const std::string &text) const;
  /// A source operand of this lane, by its number among the sources.
  std::uint32_t source32(unsigned index) const;
  std::uint64_t source64(unsigned index) const;
  /// The address in source `index`, which is address number `number` of the instruction.
  std::uint64_t address(unsigned index, unsigned number, std::int64_t displacement) const;
  /// The same for shared memory: generic addresses lose their window.
  std::uint32_t sharedAddress(unsigned index, unsigned number, std::int64_t displacement) const {
    return static_cast<std::uint32_t>(address(index, number, displacement));
  }
};

/// A tensor map and the place of the box in its tensor.
struct TensorAccess {
  TensorMap map;
  std::array<std::int32_t, kMaxTensorRank> start{};

  Box box() const { return {map, {start.data(), map.rank}}; }
  /// Bytes of shared memory that the box may touch: swizzled lines count as a whole.
  std::uint64_t sharedBytes() const;
  /// "box of 64x128 bf16 at (0,-3)".
  std::string text() const;
};

/// Reads the map whose generic address is source `mapIndex` and the coordinates from source
/// `firstCoordinate` on. Stop if there is no map, its fields break a rule, it has another rank than
/// the instruction, copies cannot execute it, or a change of it was not fenced.
Outcome readAccess(const CopyIssuer &issuer, unsigned mapIndex, unsigned firstCoordinate,
                   TensorAccess &access);

/// The map at a generic address, without a check of its fields. Stop if the address is no place for
/// a map or the bytes are none.
Outcome readTensorMap(const CopyIssuer &issuer, std::uint64_t address, TensorMap &map);

/// Checks that every row inside the tensor lies in live memory, and counts its sectors. `verb`:
/// "reads" or "writes".
Outcome checkRows(const CopyIssuer &issuer, const TensorAccess &access, const char *verb);

/// Checks that the box lies in the shared memory of `block` at the shared address `address`,
/// aligned.
Outcome checkSharedBox(const CopyIssuer &issuer, const TensorAccess &access, const Block &block,
                       std::uint32_t address);

/// Fills `bytes` with the dense box: global memory, and fill outside. Reports unwritten bytes.
Outcome loadBox(const CopyIssuer &issuer, const TensorAccess &access,
                std::vector<std::uint8_t> &bytes);
/// Writes the rows inside the tensor from the dense box, or reduces into them if `reduce` is set.
Outcome storeBox(const CopyIssuer &issuer, const TensorAccess &access, ReduceFunction reduce,
                 const std::vector<std::uint8_t> &bytes);

/// Writes the dense box, swizzled, to `offset` of the block's shared memory.
void placeBox(const TensorAccess &access, Block &block, std::uint32_t offset,
              const std::vector<std::uint8_t> &bytes);
/// Reads the dense box from there. Reports unwritten bytes.
Outcome fetchBox(const CopyIssuer &issuer, const TensorAccess &access, Block &block,
                 std::uint32_t offset, std::vector<std::uint8_t> &bytes);

} // namespace fp8jit::emulator
