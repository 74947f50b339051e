// ld and st of every space but parameters (PTX ISA, "ld", "st"). A vector access is naturally
// aligned as a whole.
#include "emulator/exec/access.h"
#include "emulator/exec/lane_ops.h"
#include "emulator/exec/quick_access.h"

#include <algorithm>
#include <cstring>
#include <emmintrin.h>

namespace fp8jit::emulator::FP8JIT_HANDLER_TARGET {

static constexpr unsigned kMaxVector = 8;

/// Loads element `e` of every lane of `span` and extends it to the register.
template <typename Element, typename Storage>
static void gather(const Span &span, unsigned e, Storage *result) {
  const std::uint8_t *data = span.data + e * sizeof(Element);
  if (span.isUniform) {
    const auto value = static_cast<Storage>(loadRelaxed<Element>(data + span.offset[0]));
    for (unsigned i = 0; i < kLanes; ++i) {
      result[i] = value;
    }
    return;
  }
  for (unsigned i = 0; i < kLanes; ++i) {
    result[i] = static_cast<Storage>(loadRelaxed<Element>(data + span.offset[i]));
  }
}

/// Loads the lanes of one span. The addresses are copied already, so that a destination may be the
/// address register.
template <typename Element, typename Storage>
static void loadSpan(Warp &warp, const Step &step, const Span &span) {
  const unsigned count = step.instruction->vector;
  for (unsigned e = 0; e < count; ++e) {
    if (step.operands[e] == kNoSlot) {
      continue;
    }
    Storage *destination = warp.lanes<Storage>(step.operands[e]);
    if (span.lanes == kAllLanes) {
      gather<Element, Storage>(span, e, destination);
      continue;
    }
    Storage part[kLanes];
    gather<Element, Storage>(span, e, part);
    storeMasked(destination, part, span.lanes);
  }
}

/// Transposes the 4x4 words of four lanes' 16 bytes.
static void transpose(__m128i (&rows)[4]) {
  const __m128i low01 = _mm_unpacklo_epi32(rows[0], rows[1]);
  const __m128i low23 = _mm_unpacklo_epi32(rows[2], rows[3]);
  const __m128i high01 = _mm_unpackhi_epi32(rows[0], rows[1]);
  const __m128i high23 = _mm_unpackhi_epi32(rows[2], rows[3]);
  rows[0] = _mm_unpacklo_epi64(low01, low23);
  rows[1] = _mm_unpackhi_epi64(low01, low23);
  rows[2] = _mm_unpacklo_epi64(high01, high23);
  rows[3] = _mm_unpackhi_epi64(high01, high23);
}

/// 16 bytes of one lane. Shared memory belongs to the running thread, so that its loads need not be
/// atomic.
static __m128i loadRow(const QuickAccess &access, unsigned lane) {
  const std::uint8_t *from = access.data + access.offset[lane];
  if (access.isShared) {
    return _mm_load_si128(reinterpret_cast<const __m128i *>(from));
  }
  return _mm_set_epi64x(static_cast<long long>(loadRelaxed<std::uint64_t>(from + 8)),
                        static_cast<long long>(loadRelaxed<std::uint64_t>(from)));
}

static void storeRow(const QuickAccess &access, unsigned lane, __m128i row) {
  std::uint8_t *to = access.data + access.offset[lane];
  if (access.isShared) {
    _mm_store_si128(reinterpret_cast<__m128i *>(to), row);
    return;
  }
  storeRelaxed(to, static_cast<std::uint64_t>(_mm_cvtsi128_si64(row)));
  storeRelaxed(to + 8, static_cast<std::uint64_t>(_mm_cvtsi128_si64(_mm_srli_si128(row, 8))));
}

/// Four 32-bit elements per lane.
static void loadFour(Warp &warp, const std::uint32_t *operands, const QuickAccess &access) {
  for (unsigned i = 0; i < kLanes; i += 4) {
    __m128i rows[4];
    for (unsigned r = 0; r < 4; ++r) {
      rows[r] = loadRow(access, i + r);
    }
    transpose(rows);
    for (unsigned e = 0; e < 4; ++e) {
      if (operands[e] != kNoSlot) {
        auto *to = warp.lanes<std::uint32_t>(operands[e]) + i;
        _mm_store_si128(reinterpret_cast<__m128i *>(to), rows[e]);
      }
    }
  }
}

static void storeFour(const Warp &warp, const std::uint32_t *operands, const QuickAccess &access) {
  for (unsigned i = 0; i < kLanes; i += 4) {
    __m128i rows[4];
    for (unsigned e = 0; e < 4; ++e) {
      const auto *from = warp.lanes<const std::uint32_t>(operands[e]) + i;
      rows[e] = _mm_load_si128(reinterpret_cast<const __m128i *>(from));
    }
    transpose(rows);
    for (unsigned r = 0; r < 4; ++r) {
      storeRow(access, i + r, rows[r]);
    }
  }
}

/// Loads all lanes of a checked access.
template <typename Element, typename Storage>
static void loadQuickly(Warp &warp, const Step &step, const QuickAccess &access) {
  const unsigned count = step.instruction->vector;
  if constexpr (sizeof(Element) == 4 && sizeof(Storage) == 4) {
    if (count == 4) {
      loadFour(warp, step.operands, access);
      return;
    }
  }
  for (unsigned e = 0; e < count; ++e) {
    if (step.operands[e] == kNoSlot) {
      continue;
    }
    Storage *to = warp.lanes<Storage>(step.operands[e]);
    const std::uint8_t *data = access.data + e * sizeof(Element);
    if (access.isUniform) {
      std::fill_n(to, kLanes, static_cast<Storage>(loadRelaxed<Element>(data)));
    } else if (sizeof(Element) == sizeof(Storage) && access.isShared && access.isContiguous &&
               count == 1) {
      std::memcpy(to, data, kLanes * sizeof(Storage));
    } else {
      for (unsigned i = 0; i < kLanes; ++i) {
        to[i] = static_cast<Storage>(loadRelaxed<Element>(data + access.offset[i]));
      }
    }
  }
}

/// Stores all lanes of a checked access.
template <typename Element, typename Storage>
static void storeQuickly(const Warp &warp, const Step &step, const QuickAccess &access) {
  const unsigned count = step.instruction->vector;
  const std::uint32_t *values = step.operands + 1;
  if constexpr (sizeof(Element) == 4 && sizeof(Storage) == 4) {
    if (count == 4) {
      storeFour(warp, values, access);
      return;
    }
  }
  for (unsigned e = 0; e < count; ++e) {
    const Storage *from = warp.lanes<const Storage>(values[e]);
    std::uint8_t *data = access.data + e * sizeof(Element);
    if (sizeof(Element) == sizeof(Storage) && access.isShared && access.isContiguous &&
        count == 1) {
      std::memcpy(data, from, kLanes * sizeof(Storage));
      continue;
    }
    for (unsigned i = 0; i < kLanes; ++i) {
      storeRelaxed<Element>(data + access.offset[i], static_cast<Element>(from[i]));
    }
  }
}

/// Accesses with a memory order take the general path, which knows what they synchronise with.
static bool isOrdered(const Instruction &instruction) {
  return instruction.mods.semantics != Semantics::None;
}

template <typename Element, typename Storage>
static Outcome load(Warp &warp, const Step &step, LaneMask mask) {
  const Instruction &instruction = *step.instruction;
  const std::uint32_t sizeBytes = static_cast<std::uint32_t>(sizeof(Element)) * instruction.vector;
  QuickAccess access;
  if (mask == kAllLanes && sizeBytes <= 16 && !isOrdered(instruction) &&
      resolveQuickly(warp, step, step.operands[instruction.numDst], AccessKind::Read, sizeBytes,
                     access)) {
    loadQuickly<Element, Storage>(warp, step, access);
    return checkRaces(warp, step, AccessKind::Read, access, sizeBytes);
  }
  AccessRequest request;
  request.space = instruction.space;
  request.kind = AccessKind::Read;
  request.sizeBytes = sizeBytes;
  readAddresses(warp, step.operands[instruction.numDst], (instruction.addressBits & 1U) != 0,
                instruction.immediate, request);
  Span span;
  for (LaneMask rest = mask; rest != 0; rest &= ~span.lanes) {
    if (resolve(warp, step, request, rest, span) == Outcome::Stop ||
        checkWritten(warp, step, span, request.sizeBytes) == Outcome::Stop) {
      return Outcome::Stop;
    }
    loadSpan<Element, Storage>(warp, step, span);
    if (checkRaces(warp, step, request.kind, span, request.sizeBytes) == Outcome::Stop) {
      return Outcome::Stop;
    }
  }
  return Outcome::Next;
}

template <typename Element, typename Storage>
static void scatter(const Span &span, unsigned e, const Storage *values) {
  std::uint8_t *data = span.data + e * sizeof(Element);
  if (span.lanes == kAllLanes) {
    for (unsigned i = 0; i < kLanes; ++i) {
      storeRelaxed<Element>(data + span.offset[i], static_cast<Element>(values[i]));
    }
    return;
  }
  for (LaneMask rest = span.lanes; rest != 0; rest &= rest - 1) {
    const auto lane = static_cast<unsigned>(std::countr_zero(rest));
    storeRelaxed<Element>(data + span.offset[lane], static_cast<Element>(values[lane]));
  }
}

template <typename Element, typename Storage>
static Outcome store(Warp &warp, const Step &step, LaneMask mask) {
  const Instruction &instruction = *step.instruction;
  const std::uint32_t sizeBytes = static_cast<std::uint32_t>(sizeof(Element)) * instruction.vector;
  QuickAccess access;
  if (mask == kAllLanes && sizeBytes <= 16 && !isOrdered(instruction) &&
      resolveQuickly(warp, step, step.operands[0], AccessKind::Write, sizeBytes, access)) {
    storeQuickly<Element, Storage>(warp, step, access);
    markWritten(access, sizeBytes);
    return checkRaces(warp, step, AccessKind::Write, access, sizeBytes);
  }
  AccessRequest request;
  request.space = instruction.space;
  request.kind = AccessKind::Write;
  request.sizeBytes = sizeBytes;
  readAddresses(warp, step.operands[0], (instruction.addressBits & 1U) != 0, instruction.immediate,
                request);
  Span span;
  for (LaneMask rest = mask; rest != 0; rest &= ~span.lanes) {
    if (resolve(warp, step, request, rest, span) == Outcome::Stop) {
      return Outcome::Stop;
    }
    for (unsigned e = 0; e < instruction.vector; ++e) {
      scatter<Element>(span, e, warp.lanes<const Storage>(step.operands[1 + e]));
    }
    markWritten(span, request.sizeBytes);
    if (checkRaces(warp, step, request.kind, span, request.sizeBytes) == Outcome::Stop) {
      return Outcome::Stop;
    }
  }
  return Outcome::Next;
}

template <typename Element>
static Handler selectAccess(const Instruction &instruction) {
  if (instruction.op == Op::Ld) {
    return instruction.dstBits == 64 ? &load<Element, std::uint64_t>
                                     : &load<Element, std::uint32_t>;
  }
  return instruction.srcBits == 64 ? &store<Element, std::uint64_t>
                                   : &store<Element, std::uint32_t>;
}

Handler selectMemory(const Instruction &instruction) {
  if ((instruction.op != Op::Ld && instruction.op != Op::St) || instruction.vector == 0 ||
      instruction.vector > kMaxVector) {
    return nullptr;
  }
  switch (instruction.type) {
  case Type::F16:
  case Type::BF16:
  case Type::E4M3x2:
  case Type::E5M2x2:
    return selectAccess<std::uint16_t>(instruction);
  case Type::F32:
  case Type::F16x2:
  case Type::BF16x2:
    return selectAccess<std::uint32_t>(instruction);
  case Type::F64:
    return selectAccess<std::uint64_t>(instruction);
  default: // integers and untyped; B128 is not known
    return forIntegers(instruction.type, [&instruction]<typename T>() -> Handler {
      return selectAccess<T>(instruction);
    });
  }
}

} // namespace fp8jit::emulator::FP8JIT_HANDLER_TARGET
