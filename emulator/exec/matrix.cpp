// ldmatrix, stmatrix, movmatrix and mma.sync (PTX ISA). The arithmetic of mma is in
// emulator/tensor.
#include "emulator/exec/access.h"
#include "emulator/exec/lane_ops.h"
#include "emulator/exec/quick_access.h"
#include "emulator/exec/tensor_function.h"
#include "emulator/tensor/mma.h"

#include <cstring>

namespace fp8jit::emulator::FP8JIT_HANDLER_TARGET {

/// A row of an 8x8 matrix of 16-bit elements is 16 bytes: the four lanes of register i that hold
/// row r are its four words, so that a row is copied as it is.
static void spreadRow(const std::uint8_t *row, std::uint32_t *destination, unsigned r) {
  std::memcpy(destination + 4 * r, row, 16);
}

/// .trans: lane L gets elements (2(L%4), L/4) and (2(L%4)+1, L/4).
static void spreadTransposed(const std::uint8_t *row, std::uint32_t *destination, unsigned r) {
  std::uint16_t elements[8];
  std::memcpy(elements, row, sizeof(elements));
  for (unsigned column = 0; column < 8; ++column) {
    std::uint32_t &word = destination[4 * column + r / 2];
    const unsigned shift = 16 * (r % 2);
    word = (word & ~(0xffffU << shift)) | (std::uint32_t{elements[column]} << shift);
  }
}

/// Spreads `count` matrices; `rowOf(i)` is the address of row i % 8 of matrix i / 8.
template <typename RowOf>
static void spreadMatrices(Warp &warp, const Step &step, unsigned count, RowOf rowOf) {
  const bool isTransposed = step.instruction->mods.transpose;
  for (unsigned matrix = 0; matrix < count; ++matrix) {
    auto *destination = warp.lanes<std::uint32_t>(step.operands[matrix]);
    if (isTransposed) {
      for (unsigned r = 0; r < 8; ++r) {
        spreadTransposed(rowOf(8 * matrix + r), destination, r);
      }
      continue;
    }
#pragma GCC unroll 8
    for (unsigned r = 0; r < 8; ++r) {
      spreadRow(rowOf(8 * matrix + r), destination, r);
    }
  }
}

static Outcome loadMatrix(Warp &warp, const Step &step, LaneMask mask) {
  const Instruction &instruction = *step.instruction;
  const Outcome converged = requireWarp(warp, step, mask);
  if (converged != Outcome::Next) {
    return converged;
  }
  const unsigned count = instruction.vector;
  const std::uint32_t address = step.operands[instruction.numDst];
  QuickAccess access;
  if (count == 4 && resolveQuickly(warp, step, address, AccessKind::Read, 16, access)) {
    spreadMatrices(warp, step, count,
                   [&access](unsigned i) { return access.data + access.offset[i]; });
    return checkRaces(warp, step, AccessKind::Read, access, 16);
  }
  AccessRequest request;
  request.space = instruction.space;
  request.kind = AccessKind::Read;
  request.sizeBytes = 16;
  readAddresses(warp, address, (instruction.addressBits & 1U) != 0, instruction.immediate, request);
  const LaneMask rows = count == 4 ? kAllLanes : (LaneMask{1} << (8 * count)) - 1;
  Span span;
  if (resolve(warp, step, request, rows, span) == Outcome::Stop ||
      checkWritten(warp, step, span, request.sizeBytes) == Outcome::Stop) {
    return Outcome::Stop;
  }
  spreadMatrices(warp, step, count, [&span](unsigned i) { return span.data + span.offset[i]; });
  return checkRaces(warp, step, request.kind, span, request.sizeBytes);
}

/// The inverse of spreadRow and spreadTransposed: row `r` of the matrix in `source`.
static void gatherRow(const std::uint32_t *source, bool isTransposed, unsigned r,
                      std::uint8_t *row) {
  if (!isTransposed) {
    std::memcpy(row, source + 4 * r, 16);
    return;
  }
  std::uint16_t elements[8];
  for (unsigned column = 0; column < 8; ++column) {
    elements[column] = static_cast<std::uint16_t>(source[4 * column + r / 2] >> (16 * (r % 2)));
  }
  std::memcpy(row, elements, sizeof(elements));
}

static Outcome storeMatrix(Warp &warp, const Step &step, LaneMask mask) {
  const Instruction &instruction = *step.instruction;
  const Outcome converged = requireWarp(warp, step, mask);
  if (converged != Outcome::Next) {
    return converged;
  }
  const unsigned count = instruction.vector;
  AccessRequest request;
  request.space = instruction.space;
  request.kind = AccessKind::Write;
  request.sizeBytes = 16;
  readAddresses(warp, step.operands[0], (instruction.addressBits & 1U) != 0, instruction.immediate,
                request);
  const LaneMask rows = count == 4 ? kAllLanes : (LaneMask{1} << (8 * count)) - 1;
  Span span;
  if (resolve(warp, step, request, rows, span) == Outcome::Stop) {
    return Outcome::Stop;
  }
  for (unsigned matrix = 0; matrix < count; ++matrix) {
    const auto *source = warp.lanes<const std::uint32_t>(step.operands[1 + matrix]);
    for (unsigned r = 0; r < 8; ++r) {
      gatherRow(source, instruction.mods.transpose, r, span.data + span.offset[8 * matrix + r]);
    }
  }
  markWritten(span, request.sizeBytes);
  return checkRaces(warp, step, request.kind, span, request.sizeBytes);
}

static Outcome transposeMatrix(Warp &warp, const Step &step, LaneMask mask) {
  const Outcome converged = requireWarp(warp, step, mask);
  if (converged != Outcome::Next) {
    return converged;
  }
  std::uint8_t rows[8][16]; // the destination may be the source
  for (unsigned r = 0; r < 8; ++r) {
    gatherRow(warp.lanes<const std::uint32_t>(step.operands[1]), true, r, rows[r]);
  }
  for (unsigned r = 0; r < 8; ++r) {
    spreadRow(rows[r], warp.lanes<std::uint32_t>(step.operands[0]), r);
  }
  return Outcome::Next;
}

static Outcome multiply(Warp &warp, const Step &step, LaneMask mask) {
  const Outcome converged = requireWarp(warp, step, mask);
  if (converged != Outcome::Next) {
    return converged;
  }
  const Instruction &instruction = *step.instruction;
  const unsigned countD = instruction.numDst;
  const unsigned countA = fragmentRegisters(instruction, instruction.mods.m);
  const unsigned countB = fragmentRegisters(instruction, instruction.mods.n);
  const std::uint32_t *operand = step.operands;
  MmaRegisters registers{};
  for (unsigned i = 0; i < countD; ++i) {
    registers.d[i] = warp.lanes<std::uint32_t>(*operand++);
  }
  for (unsigned i = 0; i < countA; ++i) {
    registers.a[i] = warp.lanes<const std::uint32_t>(*operand++);
  }
  for (unsigned i = 0; i < countB; ++i) {
    registers.b[i] = warp.lanes<const std::uint32_t>(*operand++);
  }
  for (unsigned i = 0; i < countD; ++i) {
    registers.c[i] = warp.lanes<const std::uint32_t>(*operand++);
  }
  reinterpret_cast<MmaFunction>(step.tensorFunction)(registers);
  return Outcome::Next;
}

Handler selectMatrix(const Instruction &instruction) {
  const unsigned count = instruction.vector;
  const bool isCount = count == 1 || count == 2 || count == 4;
  if (instruction.op == Op::LdMatrix || instruction.op == Op::StMatrix) {
    return !isCount ? nullptr : instruction.op == Op::LdMatrix ? &loadMatrix : &storeMatrix;
  }
  if (instruction.op == Op::MovMatrix) {
    return &transposeMatrix;
  }
  if (instruction.op != Op::Mma) {
    return nullptr;
  }
  const unsigned countA = fragmentRegisters(instruction, instruction.mods.m);
  const unsigned countB = fragmentRegisters(instruction, instruction.mods.n);
  const bool fits =
      countA <= kMaxMmaRegisters && countB <= 2 && instruction.numDst <= kMaxMmaRegisters;
  const bool isComplete = instruction.numSrc == countA + countB + instruction.numDst;
  return fits && isComplete ? &multiply : nullptr;
}

} // namespace fp8jit::emulator::FP8JIT_HANDLER_TARGET
