#include "cli/session.h"

#include "generator/problem_text.h"
#include "runtime/device.h"

namespace fp8jit {

llvm::Error toError(const Error &error) {
  return fail(error.code, error.message, error.details);
}

llvm::Error toError(const Result<void> &result) {
  return result.ok() ? llvm::Error::success() : toError(result.error());
}

/// The name of the first emulated device; empty if there is none.
static std::string firstEmulatedDevice() {
  for (const DeviceListing &listing : listDevices()) {
    if (listing.isAvailable && listing.isEmulated) {
      return listing.name;
    }
  }
  return {};
}

llvm::Expected<Engine> openEngine(const Arguments &arguments, Console &console,
                                  EngineOptions options) {
  options.device = arguments.value("--device").str();
  options.cacheDirectory = arguments.value("--cache").str();
  options.templatesDirectory = arguments.value("--templates").str();
  options.onWarning = [&console](std::string_view line) { console.warn(line); };
  Result<Engine> engine = Engine::open(options);
  if (engine.ok() || arguments.has("--device") || engine.error().code != ErrorCode::NoDevice) {
    return toExpected(std::move(engine));
  }
  const std::string emulated = firstEmulatedDevice();
  if (emulated.empty()) {
    return toError(engine.error());
  }
  console.notice("no CUDA GPU can be used, fp8jit devices says why; using " + emulated +
                 ", whose times are modelled");
  options.device = emulated;
  return toExpected(Engine::open(options));
}

llvm::Expected<Problem> parseAnyProblem(const Arguments &arguments) {
  llvm::Expected<Problem> problem = parseProblem(arguments.operand());
  if (!problem) {
    return problem;
  }
  if (llvm::Error error = arguments.checkSupportedFlags()) {
    return error;
  }
  return problem;
}

template <typename P>
static llvm::Expected<P> parseKind(const Arguments &arguments, const char *found,
                                   const char *expected) {
  llvm::Expected<Problem> problem = parseProblem(arguments.operand());
  if (!problem) {
    return problem.takeError();
  }
  const P *held = std::get_if<P>(&*problem);
  if (held == nullptr) {
    return fail(ErrorCode::InvalidArgument,
                llvm::Twine("problem: found a ") + found + " line, expected " + expected);
  }
  if (llvm::Error error = arguments.checkSupportedFlags()) {
    return error;
  }
  return *held;
}

template <>
llvm::Expected<GemmProblem> parseProblemOf(const Arguments &arguments) {
  return parseKind<GemmProblem>(arguments, "quant", "gemm");
}

template <>
llvm::Expected<QuantProblem> parseProblemOf(const Arguments &arguments) {
  return parseKind<QuantProblem>(arguments, "gemm", "quant");
}

const char *nameOf(ConfigSource source) {
  switch (source) {
  case ConfigSource::Winner:
    return "winner";
  case ConfigSource::Default:
    return "default";
  case ConfigSource::Forced:
    return "forced";
  }
  return "";
}

const char *nameOf(Provenance provenance) {
  switch (provenance) {
  case Provenance::Measured:
    return "measured";
  case Provenance::Modelled:
    return "modelled";
  case Provenance::Default:
    return "default";
  }
  return "";
}

static const char *nameOf(CacheSource source) {
  switch (source) {
  case CacheSource::Memory:
    return "memory";
  case CacheSource::Disk:
    return "disk";
  case CacheSource::Compiled:
    return "compiled";
  }
  return "";
}

void addKernelInfo(Report &report, const Engine &engine, const KernelInfo &info) {
  report.addText("problem", info.problem)
      .addText("device", engine.device())
      .addText("arch", engine.arch())
      .addText("kernel_key", info.kernelKey)
      .addText("config", info.config)
      .addText("config_source", nameOf(info.configSource))
      .addText("provenance", nameOf(info.provenance))
      .addText("cache", nameOf(info.cache))
      .addNumber("compile_ms", info.compileMs)
      .addInteger("registers", info.registers)
      .addInteger("spills", info.spillBytes)
      .addInteger("smem_bytes", info.smemBytes);
}

void addTime(Report &report, const Engine &engine, double timeNs) {
  constexpr double kNsPerUs = 1000;
  report.addNumber("time_us", timeNs / kNsPerUs)
      .addText("time_kind", engine.isEmulated() ? "modelled" : "measured");
}

} // namespace fp8jit
