// Chooses the handler groups of this processor and looks an instruction up in them.
#include "emulator/exec/handlers.h"

#include "emulator/exec/tensor_function.h"
#include "emulator/tensor/mma.h"

namespace fp8jit::emulator {

static Handler selectFrom(const HandlerGroups &groups, const Instruction &instruction) {
  Handler (*const selectors[])(const Instruction &) = {
      groups.selectNarrow,   groups.selectMove,   groups.selectInteger,  groups.selectBits,
      groups.selectFloat,    groups.selectHalf,   groups.selectCompare,  groups.selectSelection,
      groups.selectConvert,  groups.selectMemory, groups.selectAtomic,   groups.selectAsyncCopy,
      groups.selectMatrix,   &selectControl,      &selectCollective,     &selectBarrier,
      &selectClusterBarrier, &selectTensorCopy,   &selectGridDependency, &selectClusterOperation,
      &selectMbarrier,       &selectWarpgroup,    &selectBulkCopy};
  for (const auto selector : selectors) {
    if (const Handler handler = selector(instruction)) {
      return handler;
    }
  }
  return nullptr;
}

Handler selectHandler(const Instruction &instruction) {
  const bool hasVectors = __builtin_cpu_supports("avx2") && __builtin_cpu_supports("fma") &&
                          __builtin_cpu_supports("bmi2");
  return selectFrom(hasVectors ? avx2::handlerGroups() : portable::handlerGroups(), instruction);
}

Handler selectPortableHandler(const Instruction &instruction) {
  return selectFrom(portable::handlerGroups(), instruction);
}

static bool findFormat(std::uint8_t type, MmaFormat &format) {
  switch (static_cast<Type>(type)) {
  case Type::E4M3x2:
    format = MmaFormat::E4M3;
    return true;
  case Type::E5M2x2:
    format = MmaFormat::E5M2;
    return true;
  case Type::F16:
  case Type::F16x2:
    format = MmaFormat::F16;
    return true;
  case Type::BF16:
  case Type::BF16x2:
    format = MmaFormat::BF16;
    return true;
  case Type::TF32:
    format = MmaFormat::TF32;
    return true;
  default: // no operand of a matrix instruction
    return false;
  }
}

void (*findTensorFunction(const Instruction &instruction, std::string_view arch))() {
  MmaShape shape{.m = instruction.mods.m, .n = instruction.mods.n, .k = instruction.mods.k};
  shape.accumulator = instruction.type == Type::F32 ? MmaAccumulator::F32 : MmaAccumulator::F16;
  if (!findFormat(instruction.mods.formatA, shape.a) ||
      !findFormat(instruction.mods.formatB, shape.b)) {
    return nullptr;
  }
  return instruction.op == Op::Wgmma ? reinterpret_cast<void (*)()>(selectWgmma(shape, arch))
                                     : reinterpret_cast<void (*)()>(selectMma(shape, arch));
}

unsigned fragmentRegisters(const Instruction &instruction, unsigned rows) {
  MmaFormat format;
  return findFormat(instruction.mods.formatA, format)
             ? rows * instruction.mods.k * static_cast<unsigned>(bytesOf(format)) / kSlotBytes
             : 0;
}

} // namespace fp8jit::emulator
