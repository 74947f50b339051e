// fp8jit gemm: one product from files or seeded data, optionally checked against float64.
#include "cli/commands.h"
#include "cli/gemm_check.h"
#include "cli/host_memory.h"
#include "cli/launch_timer.h"
#include "cli/operands.h"
#include "cli/progress.h"
#include "cli/session.h"
#include "cli/tensor_convert.h"
#include "generator/config.h"
#include "runtime/engine_internals.h"
#include "support/quote.h"
#include "support/tensor_file.h"
#include "tuner/test_data.h"
#include "tuner/tuner.h"

namespace fp8jit {

namespace {

/// The values of the flags, all checked.
struct GemmRequest {
  GemmProblem problem;
  float alpha = 1;
  std::uint64_t seed = 0;
  OnMiss onMiss = OnMiss::UseDefault;
  std::string config; ///< empty: not forced
};

} // namespace

static llvm::Expected<OnMiss> readOnMiss(const Arguments &arguments) {
  const llvm::StringRef text = arguments.value("--on-miss");
  if (!arguments.has("--on-miss") || text == "default") {
    return OnMiss::UseDefault;
  }
  if (text == "tune") {
    return OnMiss::Tune;
  }
  if (text == "fail") {
    return OnMiss::Fail;
  }
  return fail(ErrorCode::InvalidArgument,
              "flag --on-miss: found " + quoteText(text) + ", expected default, tune or fail");
}

static llvm::Expected<GemmRequest> readRequest(const Arguments &arguments) {
  GemmRequest request;
  llvm::Expected<GemmProblem> problem = parseProblemOf<GemmProblem>(arguments);
  if (!problem) {
    return problem.takeError();
  }
  request.problem = *problem;
  llvm::Expected<float> alpha = arguments.floatValue("--alpha", 1);
  if (!alpha) {
    return alpha.takeError();
  }
  request.alpha = *alpha;
  llvm::Expected<std::uint64_t> seed = arguments.unsignedValue("--seed", 1);
  if (!seed) {
    return seed.takeError();
  }
  request.seed = *seed;
  llvm::Expected<OnMiss> onMiss = readOnMiss(arguments);
  if (!onMiss) {
    return onMiss.takeError();
  }
  request.onMiss = *onMiss;
  request.config = arguments.value("--config").str();
  if (arguments.has("--config")) {
    llvm::Expected<Config> config = parseConfig(request.config);
    if (!config) {
      return addContext(config.takeError(), "flag --config");
    }
  }
  if (arguments.has("--out")) {
    if (llvm::Error error = checkTensorOutput(arguments.value("--out"))) {
      return addContext(std::move(error), "flag --out");
    }
  }
  return request;
}

static llvm::Expected<Engine> openFor(const GemmRequest &request, const Arguments &arguments,
                                      Console &console) {
  EngineOptions options;
  options.onMiss = request.onMiss;
  if (request.onMiss == OnMiss::Tune) {
    options.tuner = makeTunerHook({.seed = request.seed});
  }
  llvm::Expected<Engine> engine = openEngine(arguments, console, std::move(options));
  if (!engine) {
    return engine;
  }
  if (llvm::Error error = checkSupported(request.problem, engine->internals().profile())) {
    return error;
  }
  return engine;
}

/// Both operands, read and checked before the first goes to the device.
static llvm::Expected<GemmOperands> makeOperands(Engine &engine, const GemmRequest &request,
                                                 const Arguments &arguments) {
  const OperandRole roleA = roleOfA(request.problem);
  const OperandRole roleB = roleOfB(request.problem);
  llvm::Expected<OperandFiles> filesA = readOperandFiles(arguments, roleA);
  if (!filesA) {
    return filesA.takeError();
  }
  llvm::Expected<OperandFiles> filesB = readOperandFiles(arguments, roleB);
  if (!filesB) {
    return filesB.takeError();
  }
  llvm::Expected<DeviceOperand> a = makeOperand(engine, roleA, *filesA, request.seed);
  if (!a) {
    return a.takeError();
  }
  llvm::Expected<DeviceOperand> b = makeOperand(engine, roleB, *filesB, seedOfB(request.seed));
  if (!b) {
    return b.takeError();
  }
  return GemmOperands{std::move(*a), std::move(*b), request.alpha};
}

/// Adds the errors to `report`; true if they are within the tolerance.
static llvm::Expected<bool> addCheck(Device &device, const GemmProblem &problem,
                                     const GemmOperands &operands,
                                     const std::vector<std::uint8_t> &d, Report &report) {
  llvm::Expected<GemmErrors> errors = checkGemm(device, problem, operands, d);
  if (!errors) {
    return errors.takeError();
  }
  report.addNumber("rel_error", errors->relError)
      .addNumber("max_abs_error", errors->maxAbsError)
      .addInteger("nan_mismatch", errors->nanMismatch)
      .addNumber("tolerance", errors->tolerance);
  return errors->isWithinTolerance;
}

/// Roughly what the command itself holds: A and B as float and as codes, D twice, and all of it
/// once more where the device is emulated.
static double hostBytes(const GemmProblem &problem) {
  constexpr double kBytesPerOperandElement = 6;
  constexpr double kBytesPerResultElement = 12;
  const auto m = static_cast<double>(problem.m);
  const auto n = static_cast<double>(problem.n);
  const auto k = static_cast<double>(problem.k);
  return (m + n) * k * kBytesPerOperandElement + m * n * kBytesPerResultElement;
}

namespace {

/// What one launch gave.
struct GemmRun {
  KernelInfo info;
  double timeNs = 0;
  std::vector<std::uint8_t> d; ///< [m, n] in the problem's format
};

} // namespace

static llvm::Expected<GemmRun> launch(Engine &engine, const GemmRequest &request,
                                      const GemmOperands &operands, Progress &progress) {
  Device &device = engine.internals().device();
  const GemmProblem &problem = request.problem;
  llvm::Expected<DeviceBuffer> result =
      device.allocate(static_cast<std::size_t>(problem.m * problem.n * elementBytes(problem.d)));
  if (!result) {
    return result.takeError();
  }
  progress.update(1, 4, "compile");
  llvm::Expected<Kernel> kernel = toExpected(engine.prepare(problem, request.config));
  if (!kernel) {
    return kernel.takeError();
  }
  progress.update(2, 4, "run");
  const GemmBuffers buffers{.a = operands.a.codes.data(),
                            .b = operands.b.codes.data(),
                            .sa = operands.a.scales.data(),
                            .sb = operands.b.scales.data(),
                            .d = result->data(),
                            .alpha = request.alpha};
  llvm::Expected<double> timeNs =
      runTimed(device, [&](Stream stream) { return kernel->launch(buffers, stream); });
  if (!timeNs) {
    return timeNs.takeError();
  }
  llvm::Expected<std::vector<std::uint8_t>> d = download(device, *result);
  if (!d) {
    return d.takeError();
  }
  return GemmRun{kernel->info(), *timeNs, std::move(*d)};
}

/// All work on an open engine; true if the result is as good as asked for.
static llvm::Expected<bool> runOn(Engine &engine, const GemmRequest &request,
                                  const Arguments &arguments, Report &report) {
  Progress progress("gemm");
  progress.update(0, 4, "operands");
  llvm::Expected<GemmOperands> operands = makeOperands(engine, request, arguments);
  if (!operands) {
    return operands.takeError();
  }
  llvm::Expected<GemmRun> done = launch(engine, request, *operands, progress);
  if (!done) {
    return done.takeError();
  }
  addKernelInfo(report, engine, done->info);
  addTime(report, engine, done->timeNs);
  bool isGood = true;
  if (arguments.has("--check")) {
    progress.update(3, 4, "check");
    llvm::Expected<bool> checked =
        addCheck(engine.internals().device(), request.problem, *operands, done->d, report);
    if (!checked) {
      return checked.takeError();
    }
    isGood = *checked;
  }
  if (arguments.has("--out")) {
    const HostTensor tensor =
        widenResult(request.problem.d, {request.problem.m, request.problem.n}, std::move(done->d));
    if (llvm::Error error = writeTensorFile(arguments.value("--out"), tensor)) {
      return addContext(std::move(error), "flag --out");
    }
  }
  return isGood;
}

static llvm::Expected<int> runGemm(const Arguments &arguments, Console &console) {
  llvm::Expected<GemmRequest> request = readRequest(arguments);
  if (!request) {
    return request.takeError();
  }
  llvm::Expected<Engine> engine = openFor(*request, arguments, console);
  if (!engine) {
    return engine.takeError();
  }
  if (llvm::Error error = checkHostMemory(hostBytes(request->problem))) {
    return error;
  }
  Report report;
  llvm::Expected<bool> isGood = runOn(*engine, *request, arguments, report);
  if (!isGood) {
    return isGood.takeError();
  }
  report.print(console);
  if (!*isGood) {
    console.complain("Internal: the result differs from float64 by more than the tolerance");
  }
  return *isGood ? 0 : 1;
}

static llvm::ArrayRef<FlagSpec> gemmFlags() {
  static const FlagSpec kFlags[] = {
      {"--device", "D", "cuda:0, emulator:sm_89; default: the first CUDA GPU, else the emulator"},
      {"--a", "FILE", "A [m,k]: codes (uint8), or floating values quantized on the device"},
      {"--b", "FILE", "B [n,k], likewise"},
      {"--sa", "FILE", "scales of the codes in --a; default 1"},
      {"--sb", "FILE", "scales of the codes in --b; default 1"},
      {"--out", "FILE", "write D [m,n] as float32"},
      {"--alpha", "X", "factor of the product; default 1"},
      {"--config", "C", "force a configuration, as inspect --show config prints it"},
      {"--on-miss", "WHAT", "without a tuned winner: default, tune or fail"},
      {"--check", "", "compare with float64 on the same codes; too far off is exit status 1"},
      {"--seed", "N", "of the operands that no file brings; default 1"},
      {"--c", "FILE", "", "results have no C term"},
      {"--bias", "FILE", "", "results have no bias"},
      {"--beta", "X", "", "results have no C term; --alpha works"},
      {"--sd", "X", "", "results are bf16 or f32, which have no scale"},
      {"--amax", "FILE", "", "results are bf16 or f32, which have no amax"},
  };
  return kFlags;
}

Command gemmCommand() {
  static const CommandSpec kSpec = {
      .name = "gemm",
      .operand = "\"<problem>\"",
      .isOperandRequired = true,
      .summary = "runs one FP8 matrix product; files are .npy or FILE.safetensors:NAME",
      .flags = gemmFlags(),
      .example =
          "fp8jit gemm \"gemm m=64 n=128 k=256 sa=1x128 sb=128x128\" --device "
          "emulator:sm_89 --check\n"
          "  fp8jit gemm \"gemm m=64 n=128 k=256\" --a a.npy --b w.safetensors:up --out d.npy",
  };
  return {&kSpec, runGemm};
}

} // namespace fp8jit
