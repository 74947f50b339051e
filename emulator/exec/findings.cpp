// Texts of faults and findings.
#include "emulator/exec/findings.h"

#include "emulator/exec/block.h"

#include <bit>
#include <cstdio>

namespace fp8jit::emulator {

std::string coordinateText(const Dim3 &index) {
  char text[48];
  std::snprintf(text, sizeof(text), "(%u,%u,%u)", index.x, index.y, index.z);
  return text;
}

Dim3 threadIndex(const Dim3 &shape, std::uint32_t warpIndex, std::uint32_t lane) {
  const std::uint32_t linear = warpIndex * kLanes + lane;
  return {.x = linear % shape.x, .y = linear / shape.x % shape.y, .z = linear / shape.x / shape.y};
}

Outcome Findings::add(const Warp &warp, const Instruction &instruction, LaneMask lanes, Fault fault,
                      Severity severity, std::string_view what) {
  const auto lane = static_cast<std::uint32_t>(std::countr_zero(lanes | 0x80000000U));
  std::string text = "kernel " + request_.kernel->name + ", block " +
                     coordinateText(warp.block->index) + ", thread " +
                     coordinateText(threadIndex(request_.block, warp.index, lane)) + ", PTX line " +
                     std::to_string(instruction.line) + ": " + instructionName(instruction) + " ";
  text += what;
  if (severity == Severity::Finding && request_.strictness == EmulatorStrictness::Report) {
    ++count_;
    if (count_ <= kMaxFindings) {
      append(text);
    } else if (count_ == kMaxFindings + 1) {
      append("further findings are not listed");
    }
    return Outcome::Next;
  }
  append(text);
  fault_ = fault;
  return Outcome::Stop;
}

Outcome Findings::addFault(Fault fault, std::string_view what) {
  append("kernel " + request_.kernel->name + ": " + std::string(what));
  fault_ = fault;
  return Outcome::Stop;
}

void Findings::append(std::string_view line) {
  if (!report_.empty()) {
    report_ += '\n';
  }
  report_ += line;
}

} // namespace fp8jit::emulator
