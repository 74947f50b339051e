// runGrid: prepares a launch, runs its blocks one after another, collects counters and the report.
#include "emulator/exec/launch.h"

#include "emulator/exec/block.h"
#include "emulator/exec/handlers.h"
#include "emulator/exec/instruction_class.h"
#include "emulator/exec/race_checker.h"
#include "emulator/exec/tensor_function.h"
#include "emulator/exec/time_model.h"

#include <algorithm>
#include <xmmintrin.h>

namespace fp8jit::emulator {

// A block of a large GEMM executes a few million warp instructions; this is some seconds.
static constexpr std::uint64_t kDefaultBudget = 1'000'000'000;
static constexpr std::uint32_t kDefaultRegisters = 128;

namespace {

/// Round to nearest, no flushing of subnormals, no traps, whatever the caller had set.
class FloatingPointMode {
public:
  FloatingPointMode() : saved_(_mm_getcsr()) {
    constexpr unsigned kDefaultControl = 0x1f80;
    _mm_setcsr(kDefaultControl);
  }
  ~FloatingPointMode() { _mm_setcsr(saved_); }
  FloatingPointMode(const FloatingPointMode &) = delete;
  FloatingPointMode &operator=(const FloatingPointMode &) = delete;

private:
  const unsigned saved_;
};

} // namespace

static constexpr Instruction makeExit() {
  Instruction instruction;
  instruction.op = Op::Exit;
  return instruction;
}

// Follows the last instruction of every kernel.
static constexpr Instruction kFinalExit = makeExit();

static Step makeStep(const LaunchContext &context, const Instruction &instruction,
                     const std::uint32_t *operands) {
  Step step;
  step.instruction = &instruction;
  step.operands = operands;
  const unsigned count = instruction.numDst + instruction.numSrc;
  for (unsigned i = 0; i < Step::kInlineOperands; ++i) {
    step.operand[i] = i < count ? operands[i] : kNoSlot;
  }
  step.guard = instruction.guard;
  step.guardFlip = instruction.guardNegate ? kAllLanes : 0;
  step.handler = context.request.portableHandlers ? selectPortableHandler(instruction)
                                                  : selectHandler(instruction);
  return step;
}

/// Turns slots into byte offsets; predicate operands stay indices.
static void resolveOperands(const Kernel &kernel, const Instruction &instruction,
                            std::vector<std::uint32_t> &operands) {
  const unsigned count = instruction.numDst + instruction.numSrc;
  for (unsigned i = 0; i < count; ++i) {
    const std::uint32_t operand = kernel.operands[instruction.operands + i];
    const bool isSlot = operand != kNoSlot && !isPredicateOperand(instruction, i);
    operands.push_back(isSlot ? operand * kSlotBytes : operand);
  }
}

/// Fills context.steps; false, with a fault, if an instruction has no handler.
static bool prepareSteps(LaunchContext &context, const GpuProfile &profile) {
  const Kernel &kernel = context.kernel;
  std::vector<std::size_t> begins;
  begins.reserve(kernel.code.size());
  for (const Instruction &instruction : kernel.code) {
    begins.push_back(context.stepOperands.size());
    resolveOperands(kernel, instruction, context.stepOperands);
  }
  context.steps.reserve(kernel.code.size() + 1);
  for (std::size_t i = 0; i < kernel.code.size(); ++i) {
    const Instruction &instruction = kernel.code[i];
    Step step = makeStep(context, instruction, context.stepOperands.data() + begins[i]);
    bool isKnown = step.handler != nullptr;
    if (instruction.op == Op::Mma) {
      step.tensorFunction = findTensorFunction(instruction, profile.arch);
      isKnown &= step.tensorFunction != nullptr;
    }
    if (!isKnown) {
      context.findings.addFault(Fault::IllegalInstruction,
                                "PTX line " + std::to_string(instruction.line) + ": " +
                                    instructionName(instruction) +
                                    " in this form is not known to the interpreter");
      return false;
    }
    context.steps.push_back(step);
  }
  context.steps.push_back(makeStep(context, kFinalExit, nullptr));
  context.countChanges.assign(context.steps.size() + 1, 0);
  return true;
}

static Dim3 blockCoordinates(const Dim3 &grid, std::uint64_t linear) {
  return {.x = static_cast<std::uint32_t>(linear % grid.x),
          .y = static_cast<std::uint32_t>(linear / grid.x % grid.y),
          .z = static_cast<std::uint32_t>(linear / grid.x / grid.y)};
}

/// The blocks to run: all, or `sample` of them in even steps from the first to the last.
static std::uint64_t sampledBlock(std::uint64_t i, std::uint64_t count, std::uint64_t total) {
  if (count == total || count <= 1) {
    return i;
  }
  // i * (total - 1) / (count - 1) without overflow.
  const std::uint64_t step = (total - 1) / (count - 1);
  const std::uint64_t rest = (total - 1) % (count - 1);
  return i * step + i * rest / (count - 1);
}

/// Scales a counter of `executed` blocks to `total`.
static std::uint64_t scaleUp(std::uint64_t value, std::uint64_t executed, std::uint64_t total) {
  if (executed == 0 || executed == total) {
    return value;
  }
  return static_cast<std::uint64_t>(static_cast<double>(value) * static_cast<double>(total) /
                                    static_cast<double>(executed));
}

static EmulatorCounters collectCounters(const LaunchContext &context, std::uint64_t executed,
                                        std::uint64_t total) {
  EmulatorCounters counters{};
  std::uint64_t count = 0;
  for (std::size_t pc = 0; pc < context.kernel.code.size(); ++pc) {
    const Instruction &instruction = context.kernel.code[pc];
    count += static_cast<std::uint64_t>(context.countChanges[pc]);
    counters.warpInstructions += count;
    const InstructionClass kind = classify(instruction);
    counters.integerInstructions += kind == InstructionClass::Integer ? count : 0;
    counters.floatInstructions += kind == InstructionClass::Float ? count : 0;
    if (instruction.op == Op::Mma) {
      const Modifiers &mods = instruction.mods;
      counters.mmaFlops += count * 2 * mods.m * mods.n * mods.k;
    }
  }
  const MemoryCounters &memory = context.counters;
  counters.globalLoadSectors = memory.loadSectors;
  counters.globalStoreSectors = memory.storeSectors;
  counters.sharedWavefronts = memory.sharedWavefronts;
  counters.sharedBankConflicts = memory.sharedBankConflicts;
  counters.barrierWaits = memory.barrierWaits;
  std::uint64_t *const scaled[] = {
      &counters.warpInstructions, &counters.integerInstructions, &counters.floatInstructions,
      &counters.mmaFlops,         &counters.globalLoadSectors,   &counters.globalStoreSectors,
      &counters.sharedWavefronts, &counters.sharedBankConflicts, &counters.barrierWaits};
  for (std::uint64_t *counter : scaled) {
    *counter = scaleUp(*counter, executed, total);
  }
  counters.blocksExecuted = executed;
  counters.blocksTotal = total;
  return counters;
}

/// Runs the blocks; returns how many ended.
static std::uint64_t runBlocks(LaunchContext &context, std::uint64_t total) {
  const LaunchRequest &request = context.request;
  Block block;
  if (!block.allocate(context)) {
    context.findings.addFault(Fault::IllegalInstruction,
                              "the host has no memory for the block's registers");
    return 0;
  }
  RaceChecker race(request, context.steps, context.findings, 1, context.sharedBytes);
  block.race = RaceChecker::isWanted(request) ? &race : nullptr;
  const std::uint64_t count =
      request.blockSample == 0 ? total : std::min(request.blockSample, total);
  for (std::uint64_t i = 0; i < count; ++i) {
    const std::uint64_t linear = sampledBlock(i, count, total);
    block.start(blockCoordinates(request.grid, linear), linear);
    if (block.race != nullptr) {
      race.start();
    }
    context.budget = request.instructionBudget == 0 ? kDefaultBudget : request.instructionBudget;
    if (!block.run()) {
      return i;
    }
  }
  return count;
}

/// Checks what the driver should have checked; false with a fault otherwise.
static bool checkRequest(LaunchContext &context) {
  const LaunchRequest &request = context.request;
  const auto volume = [](const Dim3 &shape) { return std::uint64_t{shape.x} * shape.y * shape.z; };
  std::string problem;
  if (volume(request.block) == 0 || volume(request.block) > 1024) {
    problem =
        "a block has " + std::to_string(volume(request.block)) + " threads, 1 to 1024 expected";
  } else if (request.params.size() != context.kernel.paramBytes) {
    problem = "the launch has " + std::to_string(request.params.size()) + " parameter bytes, " +
              std::to_string(context.kernel.paramBytes) + " expected";
  } else if (request.globalAddresses.size() <
                 (request.module == nullptr ? 0 : request.module->globals.size()) &&
             !context.kernel.symbols.empty()) {
    problem = "the launch gives no addresses for the module's variables";
  }
  if (problem.empty()) {
    return true;
  }
  context.findings.addFault(Fault::IllegalInstruction, problem);
  return false;
}

/// Static, alignment and dynamic shared memory of a block.
static std::uint32_t sharedBytesOf(const LaunchRequest &request) {
  const Kernel &kernel = *request.kernel;
  return request.dynamicSharedBytes == 0
             ? std::max(kernel.staticSharedBytes, kernel.dynamicSharedOffset)
             : kernel.dynamicSharedOffset + request.dynamicSharedBytes;
}

LaunchResult runGrid(const LaunchRequest &request, GlobalMemory &memory,
                     const GpuProfile &profile) {
  constexpr std::uint32_t kLocalAlignment = 16; // of the widest access
  const FloatingPointMode mode;
  LaunchContext context(request, memory);
  context.parameters = request.params;
  context.smCount = static_cast<std::uint32_t>(std::max(profile.smCount, 1));
  context.localStride =
      (context.kernel.localBytes + kLocalAlignment - 1) / kLocalAlignment * kLocalAlignment;
  context.sharedBytes = sharedBytesOf(request);
  const std::uint64_t total = std::uint64_t{request.grid.x} * request.grid.y * request.grid.z;
  std::uint64_t executed = 0;
  if (checkRequest(context) && prepareSteps(context, profile)) {
    executed = runBlocks(context, total);
  }
  LaunchResult result;
  result.fault = context.findings.fault();
  result.report = context.findings.report();
  result.counters = collectCounters(context, executed, total);
  const ModelInput input{.counters = result.counters,
                         .threadsPerBlock = request.block.x * request.block.y * request.block.z,
                         .sharedBytesPerBlock = context.sharedBytes,
                         .registersPerThread = request.registersPerThread == 0
                                                   ? kDefaultRegisters
                                                   : request.registersPerThread};
  result.modelledNs = modelTime(input, profile).totalNs;
  return result;
}

} // namespace fp8jit::emulator
