// tensormap.replace, tensormap.cp_fenceproxy and the fences of the tensor-map proxy.
#include "emulator/exec/cluster.h"
#include "emulator/exec/global_bytes.h"
#include "emulator/exec/tensor_access.h"
#include "emulator/exec/tensor_copy.h"
#include "emulator/tensor_map/replace.h"

#include <bit>
#include <cinttypes>
#include <cstdio>
#include <cstring>

namespace fp8jit::emulator {

using MapBytes = TensormapProxy::Bytes;

namespace {

/// 128 bytes of shared memory or of global memory, with their marks.
struct MapPlace {
  std::uint8_t *data = nullptr;
  std::uint8_t *written = nullptr; ///< null: not tracked
  std::uint64_t globalAddress = 0; ///< 0: shared memory
};

} // namespace

static std::string hexText(std::uint64_t value) {
  char text[24];
  std::snprintf(text, sizeof text, "0x%" PRIx64, value);
  return text;
}

/// Finds the 128 bytes at an address of `space`; reports addresses that cannot hold a map.
static Outcome findPlace(const CopyIssuer &issuer, Space space, std::uint64_t address,
                         MapPlace &place) {
  Block &block = *issuer.warp.block;
  const bool isGenericShared = space == Space::Generic && (address & kWindowMask) == kSharedWindow;
  if (address % kTensorMapAlignment != 0) {
    return issuer.report(Fault::MisalignedAddress, Severity::HardwareFault,
                         "accesses a tensor map at " + hexText(address) +
                             ", which is not a multiple of 64");
  }
  if (space == Space::Shared || isGenericShared) {
    const std::uint32_t offset = static_cast<std::uint32_t>(address) - block.shared.base;
    if (offset > block.shared.sizeBytes() || block.shared.sizeBytes() - offset < kTensorMapBytes) {
      return issuer.report(Fault::IllegalAddress, Severity::HardwareFault,
                           "accesses 128 bytes at shared address " + hexText(address) +
                               " outside the block's shared memory");
    }
    place = {block.shared.data.data() + offset, block.shared.written.data() + offset, 0};
    return Outcome::Next;
  }
  const std::optional<MemoryRegion> region = block.launch->memory.find(address);
  if (!region || !region->contains(address, kTensorMapBytes)) {
    return issuer.report(Fault::IllegalAddress, Severity::HardwareFault,
                         "accesses a tensor map at " + hexText(address) + ", " +
                             block.launch->memory.describe(address));
  }
  place = {reinterpret_cast<std::uint8_t *>(address),
           region->shadow == nullptr ? nullptr : region->shadow + (address - region->begin),
           address};
  return Outcome::Next;
}

/// Copies the bytes out; reports bytes that were never written.
static Outcome readBytes(const CopyIssuer &issuer, const MapPlace &place, MapBytes &bytes) {
  copyFromGlobal(reinterpret_cast<std::uint8_t *>(bytes.data()), place.data, bytes.size());
  const bool isWritten = place.written == nullptr || areWritten(place.written, kTensorMapBytes);
  return isWritten ? Outcome::Next
                   : issuer.report(Fault::UninitializedRead, Severity::Finding,
                                   "reads a tensor map that was never written");
}

static void writeBytes(const MapPlace &place, const MapBytes &bytes) {
  copyToGlobal(place.data, reinterpret_cast<const std::uint8_t *>(bytes.data()), bytes.size());
  if (place.written != nullptr) {
    markWritten(place.written, bytes.size());
  }
}

/// The bytes at the generic address of a map that a copy uses.
static Outcome readBytesOfUse(const CopyIssuer &issuer, std::uint64_t address, MapBytes &bytes) {
  Block &block = *issuer.warp.block;
  const std::uint64_t window = address & kWindowMask;
  if (window == kSharedWindow || window == kLocalWindow) {
    return issuer.report(Fault::IllegalAddress, Severity::HardwareFault,
                         "has its tensor map in shared or local memory, expected parameters, "
                         "constant or global memory");
  }
  if (window == kParamWindow) {
    const std::vector<std::uint8_t> &parameters = block.launch->parameters;
    const std::uint64_t offset = address - kParamWindow;
    if (offset % kTensorMapAlignment != 0 || offset > parameters.size() ||
        parameters.size() - offset < kTensorMapBytes) {
      return issuer.report(Fault::MisalignedAddress, Severity::HardwareFault,
                           "has a tensor map at parameter offset " + std::to_string(offset) +
                               ", expected a multiple of 64 and 128 bytes behind it");
    }
    std::memcpy(bytes.data(), parameters.data() + offset, bytes.size());
    return Outcome::Next;
  }
  MapPlace place;
  if (findPlace(issuer, Space::Global, address, place) == Outcome::Stop ||
      readBytes(issuer, place, bytes) == Outcome::Stop) {
    return Outcome::Stop;
  }
  const std::string problem = block.cluster->tensormaps.use(address, block.rank, bytes);
  return problem.empty() ? Outcome::Next
                         : issuer.report(Fault::IllegalInstruction, Severity::Finding, problem);
}

Outcome readTensorMap(const CopyIssuer &issuer, std::uint64_t address, TensorMap &map) {
  MapBytes bytes;
  if (readBytesOfUse(issuer, address, bytes) == Outcome::Stop) {
    return Outcome::Stop;
  }
  const std::optional<TensorMap> found = decodeTensorMap(bytes);
  if (!found) {
    return issuer.report(Fault::IllegalInstruction, Severity::HardwareFault,
                         "finds no tensor map at " + hexText(address));
  }
  map = *found;
  return Outcome::Next;
}

static Outcome replaceIn(const CopyIssuer &issuer) {
  const Instruction &instruction = *issuer.step.instruction;
  const std::uint64_t address = issuer.address(0, 0, instruction.immediate);
  const std::uint64_t value =
      instruction.type == Type::B64 ? issuer.source64(1) : issuer.source32(1);
  MapPlace place;
  MapBytes bytes;
  if (findPlace(issuer, instruction.space, address, place) == Outcome::Stop ||
      readBytes(issuer, place, bytes) == Outcome::Stop) {
    return Outcome::Stop;
  }
  std::optional<TensorMap> map = decodeTensorMap(bytes);
  if (!map) {
    return issuer.report(Fault::IllegalInstruction, Severity::HardwareFault,
                         "finds no tensor map at " + hexText(address));
  }
  const auto field = static_cast<TensormapField>(instruction.immediate2 / 8);
  const auto ordinal = static_cast<unsigned>(instruction.immediate2 % 8);
  const std::string problem = replaceField(*map, field, ordinal, value);
  if (!problem.empty()) {
    return issuer.report(Fault::IllegalInstruction, Severity::HardwareFault, problem);
  }
  writeBytes(place, encodeTensorMap(*map));
  if (place.globalAddress != 0) {
    issuer.warp.block->cluster->tensormaps.change(place.globalAddress, issuer.warp.block->rank,
                                                  instruction.line, false);
  }
  return Outcome::Next;
}

/// Lanes of a warp replace fields of one map one after the other.
static Outcome tensormapReplace(Warp &warp, const Step &step, LaneMask mask) {
  for (LaneMask rest = mask; rest != 0; rest &= rest - 1) {
    if (replaceIn({warp, step, static_cast<unsigned>(std::countr_zero(rest))}) == Outcome::Stop) {
      return Outcome::Stop;
    }
  }
  return Outcome::Next;
}

/// The whole warp executes it (.sync.aligned) and copies once.
static Outcome tensormapCopy(Warp &warp, const Step &step, LaneMask mask) {
  const Instruction &instruction = *step.instruction;
  const CopyIssuer issuer{warp, step, static_cast<unsigned>(std::countr_zero(mask))};
  if (mask != warp.live) {
    return issuer.report(Fault::IllegalInstruction, Severity::HardwareFault,
                         "is executed by some lanes of the warp, expected all (.aligned)");
  }
  MapPlace to;
  MapPlace from;
  MapBytes bytes;
  if (findPlace(issuer, Space::Global, issuer.address(0, 0, instruction.immediate), to) ==
          Outcome::Stop ||
      findPlace(issuer, Space::Shared, issuer.address(1, 1, instruction.immediate2), from) ==
          Outcome::Stop ||
      readBytes(issuer, from, bytes) == Outcome::Stop) {
    return Outcome::Stop;
  }
  writeBytes(to, bytes);
  warp.block->cluster->tensormaps.change(to.globalAddress, warp.block->rank, instruction.line,
                                         true);
  return Outcome::Next;
}

static Outcome fenceRelease(Warp &warp, const Step &, LaneMask) {
  warp.block->cluster->tensormaps.release(warp.block->rank);
  return Outcome::Next;
}

static Outcome fenceAcquire(Warp &warp, const Step &step, LaneMask mask) {
  for (LaneMask rest = mask; rest != 0; rest &= rest - 1) {
    const CopyIssuer issuer{warp, step, static_cast<unsigned>(std::countr_zero(rest))};
    const std::uint64_t address = issuer.address(0, 0, 0);
    MapPlace place;
    if (findPlace(issuer, Space::Global, address, place) == Outcome::Stop) {
      return Outcome::Stop;
    }
    MapBytes bytes;
    copyFromGlobal(reinterpret_cast<std::uint8_t *>(bytes.data()), place.data, bytes.size());
    warp.block->cluster->tensormaps.acquire(address, warp.block->rank, bytes);
  }
  return Outcome::Next;
}

Handler selectTensormap(const Instruction &instruction) {
  if (instruction.op == Op::TensormapReplace) {
    return tensormapReplace;
  }
  if (instruction.op == Op::TensormapCopy) {
    return tensormapCopy;
  }
  if (instruction.op != Op::FenceProxy) {
    return nullptr;
  }
  switch (static_cast<ProxyFence>(instruction.immediate)) {
  case ProxyFence::TensormapAcquire:
    return fenceAcquire;
  case ProxyFence::TensormapRelease:
    return fenceRelease;
  default:
    return nullptr;
  }
}

} // namespace fp8jit::emulator
