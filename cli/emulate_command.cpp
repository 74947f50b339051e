// fp8jit emulate: runs any kernel of a PTX file on an emulated GPU, for whoever has none at hand.
#include "cli/commands.h"
#include "cli/emulate_memory.h"
#include "cli/emulate_options.h"
#include "runtime/ptx_kernel.h"
#include "support/files.h"

#include "llvm/ADT/StringExtras.h"

namespace fp8jit {

static llvm::Expected<std::vector<KernelArgument>>
parseKernelArguments(const Arguments &arguments) {
  std::vector<KernelArgument> parsed;
  for (const std::string &text : arguments.values("--arg")) {
    llvm::Expected<KernelArgument> argument = parseKernelArgument(text);
    if (!argument) {
      return addContext(argument.takeError(), "argument " + llvm::Twine(parsed.size()));
    }
    parsed.push_back(std::move(*argument));
  }
  return parsed;
}

/// The number of an architecture: 90 of "sm_90a"; 0 if there is none.
static unsigned numberOf(llvm::StringRef arch) {
  unsigned number = 0;
  arch.consume_front("sm_");
  return arch.consumeInteger(10, number) ? 0 : number;
}

/// The emulated architecture that runs PTX for `target`: its own, or for a target that later GPUs
/// run too the next one. `target` itself if there is none.
static std::string emulatedArch(llvm::StringRef target) {
  const bool isOpen = llvm::isDigit(target.back());
  for (const GpuProfile &profile : kGpuProfiles) {
    const std::string arch = "sm_" + std::string(profile.arch);
    if (arch == target || (isOpen && numberOf(target) <= numberOf(arch))) {
      return arch;
    }
  }
  return target.str();
}

/// The architecture of --arch, else one that runs what the PTX names.
static llvm::Expected<std::string> archOf(const Arguments &arguments, llvm::StringRef ptx) {
  if (arguments.has("--arch")) {
    return arguments.value("--arch").str();
  }
  constexpr llvm::StringLiteral kDirective = ".target";
  const std::size_t at = ptx.find(kDirective);
  const llvm::StringRef target =
      ptx.drop_front(std::min(at, ptx.size() - kDirective.size()) + kDirective.size())
          .ltrim()
          .take_while([](char c) { return llvm::isAlnum(c) || c == '_'; });
  if (at == llvm::StringRef::npos || target.empty()) {
    return fail(ErrorCode::InvalidArgument, "the file has no .target line, expected PTX text");
  }
  return emulatedArch(target);
}

static std::string textOf(const Extent3 &extent) {
  return std::to_string(extent[0]) + "," + std::to_string(extent[1]) + "," +
         std::to_string(extent[2]);
}

/// What is said of every run, finished or not.
static Report describeRun(const Device &device, const EmulateOptions &options) {
  Report report;
  report.addText("kernel", options.entry)
      .addText("device", device.name())
      .addText("arch", device.arch())
      .addText("grid", textOf(options.shape.grid))
      .addText("block", textOf(options.shape.block));
  if (options.shape.cluster[0] != 0) {
    report.addText("cluster", textOf(options.shape.cluster));
  }
  report.addInteger("smem_bytes", options.shape.smemBytes)
      .addText("mode", options.modeText)
      .addText("races", options.checksRaces ? "on" : "off");
  return report;
}

/// Writes outputs and prints the result of a launch that went well.
static llvm::Error finish(const Device &device, const EmulateOptions &options,
                          const ArgumentMemory &memory, Console &console) {
  llvm::Expected<std::vector<std::string>> outputs = memory.writeOutputs();
  if (!outputs) {
    return outputs.takeError();
  }
  Report report = describeRun(device, options);
  addModelledTime(report, *device.emulator());
  if (options.showsCounters) {
    addCounters(report, *device.emulator());
  }
  report.json().addTexts("outputs", *outputs);
  report.print(console);
  for (const std::string &line : *outputs) {
    console.print(console.isJson() ? "" : "wrote " + line + "\n");
  }
  return llvm::Error::success();
}

static llvm::Expected<int> runEmulate(const Arguments &arguments, Console &console) {
  llvm::Expected<EmulateOptions> options = readEmulateOptions(arguments);
  if (!options) {
    return options.takeError();
  }
  llvm::Expected<std::vector<KernelArgument>> parsed = parseKernelArguments(arguments);
  if (!parsed) {
    return parsed.takeError();
  }
  if (llvm::Error error = ArgumentMemory::checkOutputs(*parsed)) {
    return error;
  }
  llvm::Expected<std::string> ptx = readFile(arguments.operand());
  if (!ptx) {
    return ptx.takeError();
  }
  llvm::Expected<std::string> arch = archOf(arguments, *ptx);
  if (!arch) {
    return addContext(arch.takeError(), "file " + arguments.operand());
  }
  llvm::Expected<std::shared_ptr<Device>> device = Device::open("emulator:" + *arch);
  if (!device) {
    return device.takeError();
  }
  llvm::Expected<PtxKernel> kernel = PtxKernel::load(*device, *ptx, options->entry);
  if (!kernel) {
    return addContext(kernel.takeError(), "file " + arguments.operand());
  }
  llvm::Expected<ArgumentMemory> memory = ArgumentMemory::create(*device, *parsed);
  if (!memory) {
    return memory.takeError();
  }
  if (llvm::Error error = memory->checkSizes(kernel->parameterBytes())) {
    return error;
  }
  llvm::Expected<EmulatorSettings> settings = EmulatorSettings::apply(**device, *options, *ptx);
  if (!settings) {
    return settings.takeError();
  }
  if (llvm::Error error = kernel->launch(options->shape, memory->parameters())) {
    return addContext(std::move(error), "kernel " + options->entry);
  }
  if (llvm::Error error = finish(**device, *options, *memory, console)) {
    return error;
  }
  return 0;
}

static llvm::ArrayRef<FlagSpec> emulateFlags() {
  static const FlagSpec kFlags[] = {
      {"--entry", "NAME", "the kernel to run"},
      {"--arch", "A", "sm_89 or sm_90a; default: what runs the .target of the file"},
      {"--grid", "X,Y,Z", "blocks; default 1,1,1"},
      {"--block", "X,Y,Z", "threads of a block; default 1,1,1"},
      {"--cluster", "X,Y,Z", "blocks of a cluster; default: what the kernel asks for"},
      {"--smem", "BYTES", "dynamic shared memory"},
      {.name = "--arg",
       .valueName = "SPEC",
       .help =
           "one per kernel parameter, in order: u32:7 s32:-1 u64:0x10 f32:1.5 (also 8 and 16\n"
           "                     bits, f64); memory in:FILE inout:FILE out:FILE.npy:f32:64x128\n"
           "                     zeros:TYPE:SHAPE scratch:TYPE:SHAPE; ref:N[+BYTES], the memory\n"
           "                     of argument N from 0; a tensor map over any memory:\n"
           "                     map:FILE,box=64x128,swizzle=128,fill=nan, outermost first as in\n"
           "                     numpy, also with type= shape= strides= steps= offset=",
       .isRepeatable = true},
      {"--mode", "M", "asynchronous operations complete: eager, lazy (default) or random:SEED"},
      {"--races", "on|off", "look for races and missing fences; default on"},
      {"--trace", "[B:]W",
       "print every instruction of warp W of block B (default 0) with its values"},
      {"--counters", "", "add what was executed and moved"},
  };
  return kFlags;
}

Command emulateCommand() {
  static const CommandSpec kSpec = {
      .name = "emulate",
      .operand = "FILE.ptx",
      .isOperandRequired = true,
      .summary = "runs a kernel of a PTX file on an emulated GPU and checks it strictly",
      .flags = emulateFlags(),
      .example = "fp8jit emulate kernel.ptx --entry scale --grid 4,1,1 --block 128,1,1 "
                 "--arg in:x.npy --arg out:y.npy:f32:512 --arg f32:0.5",
  };
  return {&kSpec, runEmulate};
}

} // namespace fp8jit
