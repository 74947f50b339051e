// Checks of a box, and its way between global memory, a dense buffer and shared memory.
#include "emulator/exec/tensor_access.h"

#include "emulator/exec/cluster.h"
#include "emulator/exec/global_bytes.h"
#include "emulator/exec/grid_dependency.h"
#include "emulator/exec/tensor_copy.h"

#include <algorithm>
#include <cinttypes>
#include <cstdio>
#include <cstring>

namespace fp8jit::emulator {

Outcome CopyIssuer::report(Fault fault, Severity severity, const std::string &text) const {
  return warp.block->launch->findings.add(warp, *step.instruction, LaneMask{1} << lane, fault,
                                          severity, text);
}

std::uint32_t CopyIssuer::source32(unsigned index) const {
  return warp.lanes<const std::uint32_t>(step.operands[step.instruction->numDst + index])[lane];
}

std::uint64_t CopyIssuer::source64(unsigned index) const {
  return warp.lanes<const std::uint64_t>(step.operands[step.instruction->numDst + index])[lane];
}

std::uint64_t CopyIssuer::address(unsigned index, unsigned number,
                                  std::int64_t displacement) const {
  const bool is64 = (step.instruction->addressBits >> number & 1U) != 0;
  const auto added = static_cast<std::uint64_t>(displacement);
  return is64 ? source64(index) + added
              : static_cast<std::uint32_t>(source32(index) + static_cast<std::uint32_t>(added));
}

std::uint64_t TensorAccess::sharedBytes() const {
  constexpr std::uint64_t kLine = 128; // within which every mode stays
  const std::uint64_t size = box().sizeBytes();
  return map.swizzle == Swizzle::None ? size : (size + kLine - 1) / kLine * kLine;
}

std::string TensorAccess::text() const {
  std::string shape;
  std::string place;
  for (unsigned d = 0; d < map.rank; ++d) {
    shape += (d == 0 ? "" : "x") + std::to_string(map.box[d]);
    place += (d == 0 ? "" : ",") + std::to_string(start[d]);
  }
  return "box of " + shape + " " + std::string(elementName(map.element)) + " at (" + place + ")";
}

static Outcome refuseMap(const CopyIssuer &issuer, const std::string &text) {
  return issuer.report(Fault::IllegalInstruction, Severity::HardwareFault,
                       "uses a tensor map that " + text);
}

Outcome readAccess(const CopyIssuer &issuer, unsigned mapIndex, unsigned firstCoordinate,
                   TensorAccess &access) {
  if (readTensorMap(issuer, issuer.source64(mapIndex), access.map) == Outcome::Stop) {
    return Outcome::Stop;
  }
  const std::uint32_t rank = issuer.step.instruction->vector;
  std::string problem = checkTensorMap(access.map);
  if (!problem.empty()) {
    return refuseMap(issuer, "breaks a rule: " + problem);
  }
  if (access.map.rank != rank) {
    return refuseMap(issuer, "has " + std::to_string(access.map.rank) + " dimensions, expected " +
                                 std::to_string(rank));
  }
  problem = unsupportedByCopies(access.map);
  if (!problem.empty()) {
    return refuseMap(issuer, "cannot be used here: " + problem);
  }
  for (unsigned d = 0; d < rank; ++d) {
    access.start[d] = static_cast<std::int32_t>(issuer.source32(firstCoordinate + d));
  }
  const std::uint32_t rowBytes = access.box().rowBytes();
  if (access.map.swizzle != Swizzle::None && rowBytes != swizzleRowBytes(access.map.swizzle)) {
    return issuer.report(Fault::IllegalInstruction, Severity::Finding,
                         "uses a tensor map whose box has rows of " + std::to_string(rowBytes) +
                             " bytes with " + std::to_string(swizzleRowBytes(access.map.swizzle)) +
                             "-byte swizzling: where such rows lie is not documented");
  }
  return Outcome::Next;
}

/// The live allocation that holds the row's bytes inside the tensor, or nothing and a report.
static std::optional<MemoryRegion> findRow(const CopyIssuer &issuer, const TensorAccess &access,
                                           const BoxRow &row, const char *verb) {
  const GlobalMemory &memory = issuer.warp.block->launch->memory;
  std::optional<MemoryRegion> region = memory.find(row.address);
  if (region && region->contains(row.address, row.insideBytes)) {
    return region;
  }
  char text[96];
  std::snprintf(text, sizeof text, "%s %u bytes at 0x%" PRIx64 " for the ", verb, row.insideBytes,
                row.address);
  const std::uint64_t last = row.address + row.insideBytes - 1;
  issuer.report(Fault::IllegalAddress, Severity::HardwareFault,
                text + access.text() + ", " + memory.describe(region ? last : row.address));
  return std::nullopt;
}

/// Calls `use(row, region)` for every row that has bytes inside the tensor; it returns an Outcome.
template <typename Use>
static Outcome forRowsInside(const CopyIssuer &issuer, const TensorAccess &access, const char *verb,
                             const Use &use) {
  const Box box = access.box();
  std::optional<MemoryRegion> region;
  for (std::uint32_t i = 0; i < box.rowCount(); ++i) {
    const BoxRow row = box.row(i);
    if (row.insideBytes == 0) {
      continue;
    }
    if (!region || !region->contains(row.address, row.insideBytes)) {
      region = findRow(issuer, access, row, verb);
    }
    if (!region || use(row, *region) == Outcome::Stop) {
      return Outcome::Stop;
    }
  }
  return Outcome::Next;
}

Outcome checkRows(const CopyIssuer &issuer, const TensorAccess &access, const char *verb) {
  LaunchContext &launch = *issuer.warp.block->launch;
  const bool isWrite = issuer.step.instruction->op != Op::TensorLoad;
  std::uint64_t &sectors = isWrite ? launch.counters.storeSectors : launch.counters.loadSectors;
  return forRowsInside(issuer, access, verb, [&](const BoxRow &row, const MemoryRegion &) {
    constexpr std::uint64_t kSectorBytes = 32;
    sectors += (row.address + row.insideBytes - 1) / kSectorBytes - row.address / kSectorBytes + 1;
    return launch.watchesGlobal ? watchGlobal(issuer.warp, issuer.step, issuer.lane, row.address,
                                              row.insideBytes, isWrite)
                                : Outcome::Next;
  });
}

Outcome checkSharedBox(const CopyIssuer &issuer, const TensorAccess &access, const Block &block,
                       std::uint32_t address) {
  char text[128];
  if (address % kBoxAlignment != 0) {
    std::snprintf(text, sizeof text,
                  "has its box at shared address 0x%x, which is not a multiple "
                  "of %u",
                  address, kBoxAlignment);
    return issuer.report(Fault::MisalignedAddress, Severity::HardwareFault, text);
  }
  const std::uint64_t offset = std::uint64_t{address} - block.shared.base;
  const std::uint64_t size = access.sharedBytes();
  if (address < block.shared.base || offset + size > block.shared.sizeBytes()) {
    std::snprintf(text, sizeof text,
                  "has a box of %" PRIu64 " bytes at shared address 0x%x, outside the %u bytes of "
                  "the block",
                  size, address, block.shared.sizeBytes());
    return issuer.report(Fault::IllegalAddress, Severity::HardwareFault, text);
  }
  return Outcome::Next;
}

Outcome loadBox(const CopyIssuer &issuer, const TensorAccess &access,
                std::vector<std::uint8_t> &bytes) {
  const Box box = access.box();
  bytes.resize(box.sizeBytes());
  for (std::uint32_t i = 0; i < box.rowCount(); ++i) {
    const BoxRow row = box.row(i);
    auto *first = reinterpret_cast<std::byte *>(bytes.data() + row.offset);
    fillOutside(access.map, {first, row.leadBytes});
    fillOutside(access.map, {first + row.leadBytes + row.insideBytes, row.tailBytes});
  }
  bool isReported = false;
  return forRowsInside(issuer, access, "reads", [&](const BoxRow &row, const MemoryRegion &region) {
    const auto *from = reinterpret_cast<const std::uint8_t *>(row.address);
    copyFromGlobal(bytes.data() + row.offset + row.leadBytes, from, row.insideBytes);
    if (region.shadow == nullptr || isReported) {
      return Outcome::Next;
    }
    const std::uint8_t *marks = region.shadow + (row.address - region.begin);
    const std::size_t unwritten = findUnwritten(marks, row.insideBytes);
    if (unwritten == row.insideBytes) {
      return Outcome::Next;
    }
    isReported = true; // one finding per copy
    char text[96];
    std::snprintf(text, sizeof text,
                  "reads global memory at 0x%" PRIx64 " that was never written, for the ",
                  row.address + unwritten);
    return issuer.report(Fault::UninitializedRead, Severity::Finding, text + access.text());
  });
}

Outcome storeBox(const CopyIssuer &issuer, const TensorAccess &access, ReduceFunction reduce,
                 const std::vector<std::uint8_t> &bytes) {
  const std::size_t elementBytes = elementBits(access.map.element) / 8;
  bool isReported = false;
  return forRowsInside(
      issuer, access, "writes", [&](const BoxRow &row, const MemoryRegion &region) {
        auto *to = reinterpret_cast<std::uint8_t *>(row.address);
        const std::uint8_t *from = bytes.data() + row.offset + row.leadBytes;
        std::uint8_t *marks =
            region.shadow == nullptr ? nullptr : region.shadow + (row.address - region.begin);
        if (reduce == nullptr) {
          copyToGlobal(to, from, row.insideBytes);
        } else {
          if (marks != nullptr && !isReported && !areWritten(marks, row.insideBytes)) {
            isReported = true;
            const Outcome outcome = issuer.report(
                Fault::UninitializedRead, Severity::Finding,
                "updates global memory that was never written, for the " + access.text());
            if (outcome == Outcome::Stop) {
              return outcome;
            }
          }
          reduce(to, from, row.insideBytes / elementBytes);
        }
        if (marks != nullptr) {
          markWritten(marks, row.insideBytes);
        }
        return Outcome::Next;
      });
}

/// Calls `use(place, position, bytes)` for the pieces of the dense box that stay together: `place`
/// is their offset in shared memory and `position` that in the box.
template <typename Use>
static void forPieces(const TensorAccess &access, std::uint32_t offset, std::size_t size,
                      const Use &use) {
  if (access.map.swizzle == Swizzle::None) {
    use(std::size_t{offset}, std::size_t{0}, size);
    return;
  }
  // Offsets are congruent to addresses modulo the period: the window begins at a multiple of 1 KiB.
  const std::size_t chunk = swizzleChunkBytes(access.map.swizzle);
  for (std::size_t position = 0; position < size; position += chunk) {
    use(std::size_t{swizzleAddress(offset + static_cast<std::uint32_t>(position),
                                   access.map.swizzle)},
        position, std::min(chunk, size - position));
  }
}

void placeBox(const TensorAccess &access, Block &block, std::uint32_t offset,
              const std::vector<std::uint8_t> &bytes) {
  SharedMemory &shared = block.shared;
  forPieces(access, offset, bytes.size(),
            [&](std::size_t place, std::size_t position, std::size_t count) {
              std::memcpy(shared.data.data() + place, bytes.data() + position, count);
              std::memset(shared.written.data() + place, 1, count);
            });
}

Outcome fetchBox(const CopyIssuer &issuer, const TensorAccess &access, Block &block,
                 std::uint32_t offset, std::vector<std::uint8_t> &bytes) {
  const SharedMemory &shared = block.shared;
  bytes.resize(access.box().sizeBytes());
  std::size_t unwritten = SIZE_MAX;
  forPieces(access, offset, bytes.size(),
            [&](std::size_t place, std::size_t position, std::size_t count) {
              std::memcpy(bytes.data() + position, shared.data.data() + place, count);
              const std::size_t found = findUnwritten(shared.written.data() + place, count);
              if (found != count) {
                unwritten = std::min(unwritten, place + found);
              }
            });
  if (unwritten == SIZE_MAX) {
    return Outcome::Next;
  }
  char text[96];
  std::snprintf(text, sizeof text, "reads shared memory at 0x%zx that was never written, for the ",
                unwritten + shared.base);
  return issuer.report(Fault::UninitializedRead, Severity::Finding, text + access.text());
}

Type reductionType(TensorElement element) {
  switch (element) {
  case TensorElement::U32:
    return Type::U32;
  case TensorElement::S32:
    return Type::S32;
  case TensorElement::U64:
    return Type::U64;
  case TensorElement::S64:
    return Type::S64;
  case TensorElement::F16:
    return Type::F16;
  case TensorElement::BF16:
    return Type::BF16;
  case TensorElement::F32:
  case TensorElement::F32Ftz:
    return Type::F32;
  case TensorElement::U8:
  case TensorElement::U16:
  case TensorElement::F64:
  case TensorElement::TF32:
  case TensorElement::TF32Ftz:
  case TensorElement::U4Align8:
  case TensorElement::U4Align16:
  case TensorElement::U6Align16:
    break;
  }
  return Type::None;
}

} // namespace fp8jit::emulator
