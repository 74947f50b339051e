// fp8jit quantize: FP8 codes and scales of one matrix, byte for byte by the numeric policy.
#include "cli/commands.h"
#include "cli/launch_timer.h"
#include "cli/operands.h"
#include "cli/progress.h"
#include "cli/session.h"
#include "cli/tensor_convert.h"
#include "generator/config.h"
#include "generator/problem_text.h"
#include "generator/scale_shape.h"
#include "runtime/engine_internals.h"
#include "support/files.h"
#include "support/tensor_file.h"

#include <cstring>

namespace fp8jit {

namespace {

/// What is on the device during one quantization.
struct QuantArrays {
  DeviceBuffer x, q, s, amax;
};

} // namespace

static ScaleShape amaxShape(const QuantProblem &problem) {
  return scaleShape(problem.s, ScaleType::F32, ScaleLayout::Row, problem.m, problem.n);
}

/// Flags that only some problems take.
static llvm::Error checkFlags(const Arguments &arguments, const QuantProblem &problem) {
  const bool isGiven = problem.sc == ScaleSource::Given;
  if (!arguments.has("--x")) {
    return usageError("flag --x is missing, expected --x FILE with the matrix to quantize");
  }
  if (isGiven && !arguments.has("--s") && !arguments.has("--scale")) {
    return usageError("flag --s is missing, expected --s FILE or --scale X with sc=given");
  }
  if (!arguments.has("--scale")) {
    return llvm::Error::success();
  }
  if (!isGiven) {
    return fail(ErrorCode::InvalidArgument,
                "flag --scale: found with sc=amax, expected only with sc=given");
  }
  if (problem.s != ScaleUnit::Tensor) {
    return fail(ErrorCode::InvalidArgument, "flag --scale: found with " + scaleUnitName(problem.s) +
                                                " units, expected only with tensor units; --s "
                                                "FILE gives the others");
  }
  if (arguments.has("--s")) {
    return fail(ErrorCode::InvalidArgument, "flag --scale: found with --s, expected one of them");
  }
  return llvm::Error::success();
}

/// Refuses outputs that cannot be written, or that two flags share.
static llvm::Error checkOutputs(const Arguments &arguments, const QuantProblem &problem) {
  llvm::SmallVector<llvm::StringRef, 3> flags = {"--q", "--amax"};
  if (problem.sc == ScaleSource::Amax) {
    flags.push_back("--s");
  }
  llvm::StringMap<llvm::StringRef> writers;
  for (const llvm::StringRef flag : flags) {
    if (!arguments.has(flag)) {
      continue;
    }
    const llvm::StringRef name = arguments.value(flag);
    if (llvm::Error error = checkTensorOutput(name)) {
      return addContext(std::move(error), "flag " + flag);
    }
    const auto [other, isNew] = writers.try_emplace(canonicalPath(name), flag);
    if (!isNew) {
      return fail(ErrorCode::InvalidArgument, "flag " + flag + ": found the file of " +
                                                  other->second + ", expected another one");
    }
  }
  return llvm::Error::success();
}

static llvm::Expected<HostTensor> readX(const Arguments &arguments, const QuantProblem &problem) {
  llvm::Expected<HostTensor> x = readTensorFile(arguments.value("--x"));
  if (!x) {
    return addContext(x.takeError(), "flag --x");
  }
  if (!isFloating(x->type)) {
    return fail(ErrorCode::InvalidArgument, "flag --x: found elements of " +
                                                elementTypeName(x->type) +
                                                ", expected float32, float16 or bf16 (uint16)");
  }
  if (llvm::Error error = checkDims("--x", *x, {problem.m, problem.n})) {
    return error;
  }
  return x;
}

/// The scales that the caller gives; nothing with sc=amax.
static llvm::Expected<std::vector<std::uint8_t>> readGivenScales(const Arguments &arguments,
                                                                 const QuantProblem &problem) {
  if (problem.sc == ScaleSource::Amax) {
    return std::vector<std::uint8_t>();
  }
  if (arguments.has("--scale")) {
    llvm::Expected<float> scale = arguments.floatValue("--scale", 1);
    if (!scale) {
      return scale.takeError();
    }
    std::vector<std::uint8_t> bytes(sizeof(float));
    std::memcpy(bytes.data(), &*scale, sizeof(float));
    return bytes;
  }
  llvm::Expected<HostTensor> scales =
      readScaleFile("--s", arguments.value("--s"), scaleShapeRow(problem));
  if (!scales) {
    return scales.takeError();
  }
  return std::move(scales->bytes);
}

static llvm::Expected<QuantArrays> makeArrays(Device &device, const QuantProblem &problem,
                                              const HostTensor &x,
                                              const std::vector<std::uint8_t> &givenScales) {
  QuantArrays arrays;
  llvm::Expected<DeviceBuffer> source = upload(device, roundFloats(x, problem.x));
  if (!source) {
    return source.takeError();
  }
  arrays.x = std::move(*source);
  llvm::Expected<DeviceBuffer> scales =
      problem.sc == ScaleSource::Given
          ? upload(device, givenScales)
          : device.allocate(static_cast<std::size_t>(scaleShapeRow(problem).sizeBytes()));
  if (!scales) {
    return scales.takeError();
  }
  arrays.s = std::move(*scales);
  llvm::Expected<DeviceBuffer> codes =
      device.allocate(static_cast<std::size_t>(problem.m * problem.n));
  if (!codes) {
    return codes.takeError();
  }
  arrays.q = std::move(*codes);
  llvm::Expected<DeviceBuffer> amax =
      device.allocate(static_cast<std::size_t>(amaxShape(problem).sizeBytes()));
  if (!amax) {
    return amax.takeError();
  }
  arrays.amax = std::move(*amax);
  return arrays;
}

static llvm::Error writeArray(Device &device, const Arguments &arguments, llvm::StringRef flag,
                              const DeviceBuffer &buffer, ElementType type, TensorDims dims) {
  if (!arguments.has(flag)) {
    return llvm::Error::success();
  }
  llvm::Expected<std::vector<std::uint8_t>> bytes = download(device, buffer);
  if (!bytes) {
    return bytes.takeError();
  }
  const HostTensor tensor{type, std::move(dims), std::move(*bytes)};
  return addContext(writeTensorFile(arguments.value(flag), tensor), "flag " + flag);
}

static llvm::Error writeOutputs(Device &device, const Arguments &arguments,
                                const QuantProblem &problem, const QuantArrays &arrays) {
  if (llvm::Error error =
          writeArray(device, arguments, "--q", arrays.q, ElementType::U8, {problem.m, problem.n})) {
    return error;
  }
  const ScaleShape unitShape = amaxShape(problem);
  if (llvm::Error error = writeArray(device, arguments, "--amax", arrays.amax, ElementType::F32,
                                     TensorDims(unitShape.dims.begin(), unitShape.dims.end()))) {
    return error;
  }
  if (problem.sc == ScaleSource::Given) {
    return llvm::Error::success();
  }
  const ScaleShape shape = scaleShapeRow(problem);
  return writeArray(device, arguments, "--s", arrays.s, elementTypeOf(shape.element),
                    TensorDims(shape.dims.begin(), shape.dims.end()));
}

static llvm::Expected<int> runOn(Engine &engine, const Arguments &arguments,
                                 const QuantProblem &problem, Console &console) {
  Device &device = engine.internals().device();
  if (llvm::Error error = checkSupported(problem, engine.internals().profile())) {
    return error;
  }
  Progress progress("quantize");
  progress.update(0, 3, "read");
  llvm::Expected<HostTensor> x = readX(arguments, problem);
  if (!x) {
    return x.takeError();
  }
  llvm::Expected<std::vector<std::uint8_t>> givenScales = readGivenScales(arguments, problem);
  if (!givenScales) {
    return givenScales.takeError();
  }
  llvm::Expected<QuantArrays> arrays = makeArrays(device, problem, *x, *givenScales);
  if (!arrays) {
    return arrays.takeError();
  }
  progress.update(1, 3, "compile");
  llvm::Expected<Kernel> kernel = toExpected(engine.prepare(problem));
  if (!kernel) {
    return kernel.takeError();
  }
  progress.update(2, 3, "run");
  const QuantBuffers buffers{.x = arrays->x.data(),
                             .q = arrays->q.data(),
                             .s = arrays->s.data(),
                             .amax = static_cast<float *>(arrays->amax.data())};
  llvm::Expected<double> timeNs =
      runTimed(device, [&](Stream stream) { return kernel->launch(buffers, stream); });
  if (!timeNs) {
    return timeNs.takeError();
  }
  if (llvm::Error error = writeOutputs(device, arguments, problem, *arrays)) {
    return error;
  }
  Report report;
  addKernelInfo(report, engine, kernel->info());
  addTime(report, engine, *timeNs);
  report.print(console);
  return 0;
}

static llvm::Expected<int> runQuantize(const Arguments &arguments, Console &console) {
  llvm::Expected<QuantProblem> problem = parseProblemOf<QuantProblem>(arguments);
  if (!problem) {
    return problem.takeError();
  }
  if (llvm::Error error = checkFlags(arguments, *problem)) {
    return error;
  }
  if (llvm::Error error = checkOutputs(arguments, *problem)) {
    return error;
  }
  llvm::Expected<Engine> engine = openEngine(arguments, console);
  if (!engine) {
    return engine.takeError();
  }
  return runOn(*engine, arguments, *problem, console);
}

static llvm::ArrayRef<FlagSpec> quantizeFlags() {
  static const FlagSpec kFlags[] = {
      {"--device", "D", "cuda:0, emulator:sm_89; default: the first CUDA GPU, else the emulator"},
      {"--x", "FILE", "X [m,n] as float32, float16 or uint16 (bf16 bits)"},
      {"--q", "FILE", "write the codes [m,n] as uint8"},
      {"--s", "FILE", "write the scales; with sc=given they are read from it"},
      {"--scale", "X", "the one scale of a tensor unit with sc=given"},
      {"--amax", "FILE", "write the largest magnitude of each unit as float32"},
      {"--qt", "FILE", "", "codes come as out=row, in --q"},
      {"--sqt", "FILE", "", "scales come as out=row, in --s"},
  };
  return kFlags;
}

Command quantizeCommand() {
  static const CommandSpec kSpec = {
      .name = "quantize",
      .operand = "\"<problem>\"",
      .isOperandRequired = true,
      .summary = "quantizes one matrix to FP8 codes with scales",
      .flags = quantizeFlags(),
      .example = "fp8jit quantize \"quant m=128 n=256 s=1x128\" --x x.npy --q codes.npy --s "
                 "scales.npy",
  };
  return {&kSpec, runQuantize};
}

} // namespace fp8jit
