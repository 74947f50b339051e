// fp8jit inspect: the generated source of a problem, its PTX, configuration or resources; for a
// device, or for an architecture without any device.
#include "cache/store.h"
#include "cli/commands.h"
#include "cli/session.h"
#include "generator/generate.h"
#include "generator/problem_text.h"
#include "runtime/engine_internals.h"
#include "runtime/kernel_builder.h"
#include "runtime/kernel_info.h"
#include "runtime/nvrtc_compiler.h"
#include "support/quote.h"

#include "llvm/ADT/StringExtras.h"

namespace fp8jit {

namespace {

enum class Shown { Source, Ptx, Config, Resources };

/// What a kernel is, wherever it came from.
struct Inspected {
  std::string target; ///< "emulator:sm_89", or "sm_89" without a device
  KernelInfo info;    ///< as much of it as is shown
};

} // namespace

static llvm::Expected<Shown> readShow(const Arguments &arguments) {
  const llvm::StringRef text = arguments.value("--show");
  if (text == "source") {
    return Shown::Source;
  }
  if (text == "ptx") {
    return Shown::Ptx;
  }
  if (text == "config") {
    return Shown::Config;
  }
  if (text == "resources") {
    return Shown::Resources;
  }
  if (text == "sass" || text == "cost" || text == "history") {
    return fail(ErrorCode::Unsupported, "flag --show: " + text +
                                            " is not in this build, which shows source, ptx, "
                                            "config and resources");
  }
  return fail(ErrorCode::InvalidArgument, "flag --show: found " + quoteText(text) +
                                              ", expected source, ptx, config or resources");
}

/// The profile of --arch. Errors: InvalidArgument, Unsupported.
static llvm::Expected<const GpuProfile *> readArch(const Arguments &arguments) {
  llvm::StringRef arch = arguments.value("--arch");
  const llvm::StringRef given = arch;
  std::vector<std::string> known;
  for (const GpuProfile &profile : kGpuProfiles) {
    known.push_back("sm_" + std::string(profile.arch));
  }
  if (!arch.consume_front("sm_") || arch.empty() || !llvm::isDigit(arch.front())) {
    return fail(ErrorCode::InvalidArgument, "flag --arch: found " + quoteText(given) +
                                                ", expected one of " + llvm::join(known, ", "));
  }
  const GpuProfile *profile = findProfileByArch(arch);
  if (profile == nullptr) {
    return fail(ErrorCode::Unsupported, "flag --arch: found " + quoteText(given) +
                                            ", this build has " + llvm::join(known, ", "));
  }
  return profile;
}

static llvm::Expected<Config> chooseConfig(const Arguments &arguments, const Problem &problem,
                                           const GpuProfile &profile) {
  if (llvm::Error error = checkSupported(problem, profile)) {
    return error;
  }
  if (!arguments.has("--config")) {
    return defaultConfig(problem, profile);
  }
  llvm::Expected<Config> config = parseConfig(arguments.value("--config"));
  if (!config) {
    return addContext(config.takeError(), "flag --config");
  }
  if (llvm::Error error = checkConfig(problem, *config, profile)) {
    return addContext(std::move(error), "flag --config");
  }
  return config;
}

static llvm::Expected<TemplateLibrary> openTemplates(const Arguments &arguments) {
  return arguments.has("--templates")
             ? TemplateLibrary::fromDirectory(arguments.value("--templates"))
             : TemplateLibrary::embedded();
}

/// Without a device: the default or forced configuration for an architecture.
static llvm::Expected<Inspected> inspectArch(const Arguments &arguments, const Problem &problem,
                                             Shown shown, Console &console) {
  llvm::Expected<const GpuProfile *> profile = readArch(arguments);
  if (!profile) {
    return profile.takeError();
  }
  llvm::Expected<Config> config = chooseConfig(arguments, problem, **profile);
  if (!config) {
    return config.takeError();
  }
  Inspected result;
  result.target = "sm_" + std::string((*profile)->arch);
  const ConfigSource configSource =
      arguments.has("--config") ? ConfigSource::Forced : ConfigSource::Default;
  if (shown == Shown::Config) {
    result.info.config = printConfig(*config);
    result.info.configSource = configSource;
    return result;
  }
  llvm::Expected<TemplateLibrary> templates = openTemplates(arguments);
  if (!templates) {
    return templates.takeError();
  }
  const auto warn = [&console](llvm::StringRef line) { console.warn(line); };
  std::shared_ptr<Store> store;
  if (shown != Shown::Source) {
    store = openUserStore(arguments.value("--cache"), warn);
  }
  KernelBuilder builder({.templates = std::move(*templates),
                         .compiler = NvrtcCompiler::create(),
                         .store = std::move(store),
                         .onWarning = warn});
  if (shown == Shown::Source) {
    llvm::Expected<GeneratedSource> source = builder.generate(problem, *config, **profile);
    if (!source) {
      return source.takeError();
    }
    result.info.source = std::move(source->text);
    return result;
  }
  llvm::Expected<std::shared_ptr<const BuiltKernel>> built =
      builder.build(problem, *config, **profile);
  if (!built) {
    return built.takeError();
  }
  const ConfigChoice choice{.config = *config,
                            .source = configSource,
                            .provenance = Provenance::Default,
                            .kernelKey = {}};
  result.info = kernelInfo(problem, choice, **built, (*built)->origin);
  return result;
}

/// On a device: what a call would run, tuned winners included.
static llvm::Expected<Inspected> inspectDevice(const Arguments &arguments, const Problem &problem,
                                               Shown shown, Console &console) {
  llvm::Expected<Engine> engine = openEngine(arguments, console);
  if (!engine) {
    return engine.takeError();
  }
  const std::string forced = arguments.value("--config").str();
  Inspected result;
  result.target = engine->device();
  if (shown == Shown::Source) {
    llvm::Expected<std::string> source = toExpected(engine->source(problem, forced));
    if (!source) {
      return source.takeError();
    }
    result.info.source = std::move(*source);
    return result;
  }
  llvm::Expected<Kernel> kernel = toExpected(engine->prepare(problem, forced));
  if (!kernel) {
    return kernel.takeError();
  }
  result.info = kernel->info();
  return result;
}

static void printResources(const Inspected &inspected, const std::string &line, Console &console) {
  Report report;
  report.addText("problem", line)
      .addText("target", inspected.target)
      .addText("config", inspected.info.config)
      .addText("config_source", nameOf(inspected.info.configSource))
      .addText("kernel_key", inspected.info.kernelKey)
      .addInteger("registers", inspected.info.registers)
      .addInteger("spills", inspected.info.spillBytes)
      .addInteger("smem_bytes", inspected.info.smemBytes);
  report.print(console);
}

static void printInspected(const Inspected &inspected, const std::string &line, Shown shown,
                           Console &console) {
  if (shown == Shown::Resources) {
    printResources(inspected, line, console);
    return;
  }
  if (!console.isJson()) {
    switch (shown) {
    case Shown::Source:
      console.print(inspected.info.source);
      return;
    case Shown::Ptx:
      console.print(inspected.info.ptx);
      return;
    case Shown::Config:
    case Shown::Resources:
      console.print(inspected.info.config + "\n");
      return;
    }
  }
  JsonObject object;
  object.addText("problem", line).addText("target", inspected.target);
  if (shown == Shown::Source) {
    object.addText("source", inspected.info.source);
  } else {
    object.addText("config", inspected.info.config)
        .addText("config_source", nameOf(inspected.info.configSource));
  }
  if (shown == Shown::Ptx) {
    object.addText("kernel_key", inspected.info.kernelKey).addText("ptx", inspected.info.ptx);
  }
  console.printLine(object);
}

static llvm::Expected<int> runInspect(const Arguments &arguments, Console &console) {
  if (!arguments.has("--show")) {
    return usageError("flag --show is missing, expected --show source, ptx, config or resources");
  }
  llvm::Expected<Problem> problem = parseAnyProblem(arguments);
  if (!problem) {
    return problem.takeError();
  }
  llvm::Expected<Shown> shown = readShow(arguments);
  if (!shown) {
    return shown.takeError();
  }
  if (arguments.has("--arch") && arguments.has("--device")) {
    return fail(ErrorCode::InvalidArgument,
                "flag --arch: found with --device, expected one of them");
  }
  llvm::Expected<Inspected> inspected = arguments.has("--arch")
                                            ? inspectArch(arguments, *problem, *shown, console)
                                            : inspectDevice(arguments, *problem, *shown, console);
  if (!inspected) {
    return inspected.takeError();
  }
  printInspected(*inspected, printProblem(*problem), *shown, console);
  return 0;
}

static llvm::ArrayRef<FlagSpec> inspectFlags() {
  static const FlagSpec kFlags[] = {
      {"--show", "WHAT", "source, ptx, config or resources"},
      {"--device", "D", "what a call on this device would run, tuned winners included"},
      {"--arch", "A", "what would be made for sm_89, without a device"},
      {"--config", "C", "this configuration instead of the winner or the default"},
  };
  return kFlags;
}

Command inspectCommand() {
  static const CommandSpec kSpec = {
      .name = "inspect",
      .operand = "\"<problem>\"",
      .isOperandRequired = true,
      .summary =
          "shows the generated CUDA source of a problem, its PTX, configuration or resources",
      .flags = inspectFlags(),
      .example = "fp8jit inspect \"gemm m=64 n=128 k=256\" --arch sm_89 --show source",
  };
  return {&kSpec, runInspect};
}

} // namespace fp8jit
