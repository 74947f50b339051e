// One projection on the device, step by step.
#include "tests/demo/layer_run.h"

#include "generator/scale_shape.h"
#include "runtime/engine_internals.h"
#include "support/error.h"
#include "support/float_formats.h"
#include "tuner/reference.h"

#include <chrono>
#include <cmath>
#include <optional>
#include <tuple>
#include <utility>

namespace fp8jit::demo {

using llvm::Error;
using llvm::Expected;

namespace {

/// A quantized operand on the device and, for the reference, on the host.
struct Operand {
  DeviceBuffer codes, scales;
  std::vector<std::uint8_t> hostCodes;
  std::vector<float> hostScales;
};

} // namespace

static Error toError(const fp8jit::Error &error) {
  return fail(error.code, error.message);
}

static double elapsedMs(std::chrono::steady_clock::time_point start) {
  return std::chrono::duration<double, std::milli>(std::chrono::steady_clock::now() - start)
      .count();
}

template <typename T>
static Expected<std::vector<T>> download(Device &device, const DeviceBuffer &buffer) {
  std::vector<T> values(buffer.sizeBytes() / sizeof(T));
  if (Error error = device.copyToHost(values.data(), buffer.data(), buffer.sizeBytes())) {
    return error;
  }
  return values;
}

static Expected<DeviceBuffer> upload(Device &device, const std::vector<std::uint16_t> &values) {
  Expected<DeviceBuffer> buffer = device.allocate(values.size() * sizeof(std::uint16_t));
  if (!buffer) {
    return buffer.takeError();
  }
  if (Error error = device.copyToDevice(buffer->data(), values.data(), buffer->sizeBytes())) {
    return error;
  }
  return buffer;
}

/// Quantizes `values` ([rows, columns] bf16) on the device.
static Expected<Operand> quantizeOperand(Engine &engine, const std::vector<std::uint16_t> &values,
                                         const QuantProblem &problem) {
  Device &device = engine.internals().device();
  Expected<DeviceBuffer> x = upload(device, values);
  if (!x) {
    return x.takeError();
  }
  Expected<DeviceBuffer> codes = device.allocate(values.size());
  if (!codes) {
    return codes.takeError();
  }
  const auto scaleBytes = static_cast<std::size_t>(scaleShapeRow(problem).sizeBytes());
  Expected<DeviceBuffer> scales = device.allocate(scaleBytes);
  if (!scales) {
    return scales.takeError();
  }
  const Result<void> done = engine.quantize(
      problem, {.x = x->data(), .q = codes->data(), .s = scales->data(), .amax = nullptr});
  if (!done.ok()) {
    return toError(done.error());
  }
  if (Error error = device.synchronize()) {
    return error;
  }
  Expected<std::vector<std::uint8_t>> hostCodes = download<std::uint8_t>(device, *codes);
  if (!hostCodes) {
    return hostCodes.takeError();
  }
  Expected<std::vector<float>> hostScales = download<float>(device, *scales);
  if (!hostScales) {
    return hostScales.takeError();
  }
  return Operand{.codes = std::move(*codes),
                 .scales = std::move(*scales),
                 .hostCodes = std::move(*hostCodes),
                 .hostScales = std::move(*hostScales)};
}

/// Launches between two events; the nanoseconds between them.
static Expected<double> timeLaunch(Device &device, const Kernel &kernel,
                                   const GemmBuffers &buffers) {
  Expected<DeviceEvent> start = device.createEvent();
  if (!start) {
    return start.takeError();
  }
  Expected<DeviceEvent> stop = device.createEvent();
  if (!stop) {
    return stop.takeError();
  }
  if (Error error = start->record(nullptr)) {
    return error;
  }
  const Result<void> launched = kernel.launch(buffers);
  if (!launched.ok()) {
    return toError(launched.error());
  }
  if (Error error = stop->record(nullptr)) {
    return error;
  }
  return stop->elapsedNsSince(*start);
}

/// ||D - X W^T|| / ||X W^T|| in float64, on the operands before quantization.
static double errorOfProduct(const Projection &projection, const std::vector<std::uint16_t> &d) {
  double difference = 0;
  double norm = 0;
  for (std::int64_t i = 0; i < projection.m; ++i) {
    for (std::int64_t j = 0; j < projection.n; ++j) {
      const std::uint16_t *x = projection.activations.data() + i * projection.k;
      const std::uint16_t *w = projection.weights.data() + j * projection.k;
      double sum = 0;
      for (std::int64_t c = 0; c < projection.k; ++c) {
        sum += static_cast<double>(decodeBf16(x[c])) * static_cast<double>(decodeBf16(w[c]));
      }
      const auto index = static_cast<std::size_t>(i * projection.n + j);
      const double error = static_cast<double>(decodeBf16(d[index])) - sum;
      difference += error * error;
      norm += sum * sum;
    }
  }
  return std::sqrt(difference / norm);
}

/// Binaries in the engine's cache.
static std::int64_t countBinaries(Engine &engine) {
  Store *store = engine.internals().store();
  return store == nullptr ? 0 : store->stats().binaries;
}

static double storedCompileMs(Engine &engine, const std::string &kernelKey) {
  Store *store = engine.internals().store();
  const std::optional<StoredBinary> binary =
      store == nullptr ? std::nullopt : store->findBinary(kernelKey);
  return binary ? binary->compileMs : 0;
}

/// Makes the kernel of `problem` ready, tuning it where the engine is told to.
static Expected<Kernel> prepareTimed(Engine &engine, const GemmProblem &problem,
                                     ProjectionResult &result) {
  const std::int64_t binariesBefore = countBinaries(engine);
  const auto start = std::chrono::steady_clock::now();
  Result<Kernel> kernel = engine.prepare(problem);
  if (!kernel.ok()) {
    return toError(kernel.error());
  }
  result.readyMs = elapsedMs(start);
  result.kernel = kernel->info();
  if (countBinaries(engine) > binariesBefore) {
    result.compileMs = storedCompileMs(engine, result.kernel.kernelKey);
  }
  return std::move(*kernel);
}

Expected<ProjectionResult> runProjection(Engine &engine, const Projection &projection) {
  const auto [m, n, k] = std::tuple(projection.m, projection.n, projection.k);
  const std::int64_t binariesBefore = countBinaries(engine);
  Device &device = engine.internals().device();
  Expected<Operand> a =
      quantizeOperand(engine, projection.activations, {.m = m, .n = k, .s = ScaleUnit::Block1x128});
  if (!a) {
    return a.takeError();
  }
  Expected<Operand> b =
      quantizeOperand(engine, projection.weights, {.m = n, .n = k, .s = ScaleUnit::Block128x128});
  if (!b) {
    return b.takeError();
  }
  Expected<DeviceBuffer> d = device.allocate(static_cast<std::size_t>(m * n) * 2);
  if (!d) {
    return d.takeError();
  }

  const GemmProblem problem{
      .m = m, .n = n, .k = k, .sa = ScaleUnit::Block1x128, .sb = ScaleUnit::Block128x128};
  ProjectionResult result;
  result.name = projection.name;
  result.m = m;
  result.n = n;
  result.k = k;
  Expected<Kernel> kernel = prepareTimed(engine, problem, result);
  if (!kernel) {
    return kernel.takeError();
  }
  Expected<double> timeNs = timeLaunch(device, *kernel,
                                       {.a = a->codes.data(),
                                        .b = b->codes.data(),
                                        .sa = a->scales.data(),
                                        .sb = b->scales.data(),
                                        .d = d->data()});
  if (!timeNs) {
    return timeNs.takeError();
  }
  result.timeNs = *timeNs;

  Expected<std::vector<std::uint16_t>> host = download<std::uint16_t>(device, *d);
  if (!host) {
    return host.takeError();
  }
  const GemmErrors errors =
      GemmReference(
          problem, {.a = a->hostCodes, .b = b->hostCodes, .sa = a->hostScales, .sb = b->hostScales})
          .compare(host->data(), kFileTolerance);
  result.codeError = errors.relError;
  result.isWithinBounds = errors.isWithinTolerance;
  result.productError = errorOfProduct(projection, *host);
  result.compiledCount = countBinaries(engine) - binariesBefore;
  return result;
}

} // namespace fp8jit::demo
