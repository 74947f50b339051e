#include "cli/operands.h"

#include "cli/session.h"
#include "cli/tensor_convert.h"
#include "generator/problem_text.h"
#include "runtime/engine_internals.h"
#include "support/error.h"
#include "support/tensor_file.h"
#include "tuner/test_data.h"

#include "llvm/Support/FormatVariadic.h"

#include <bit>
#include <cstring>

namespace fp8jit {

OperandRole roleOfA(const GemmProblem &problem) {
  return {.flag = "--a",
          .scaleFlag = "--sa",
          .format = problem.a,
          .unit = problem.sa,
          .scaleType = problem.st,
          .layout = problem.la,
          .outer = problem.m,
          .k = problem.k};
}

OperandRole roleOfB(const GemmProblem &problem) {
  return {.flag = "--b",
          .scaleFlag = "--sb",
          .format = problem.b,
          .unit = problem.sb,
          .scaleType = problem.st,
          .layout = problem.lb,
          .outer = problem.n,
          .k = problem.k};
}

static ScaleShape scaleShapeOf(const OperandRole &role) {
  return scaleShape(role.unit, role.scaleType, role.layout, role.outer, role.k);
}

llvm::Error checkDims(llvm::StringRef flag, const HostTensor &tensor,
                      llvm::ArrayRef<std::int64_t> dims) {
  if (llvm::makeArrayRef(tensor.dims) == dims) {
    return llvm::Error::success();
  }
  return fail(ErrorCode::InvalidArgument, "flag " + flag + ": found shape " +
                                              printDims(tensor.dims) + ", expected " +
                                              printDims(dims));
}

ElementType elementTypeOf(ScaleElement element) {
  switch (element) {
  case ScaleElement::F32:
    return ElementType::F32;
  case ScaleElement::U8:
    return ElementType::U8;
  case ScaleElement::Int32:
    return ElementType::Int32;
  }
  return ElementType::F32;
}

llvm::Expected<HostTensor> readScaleFile(llvm::StringRef flag, llvm::StringRef name,
                                         const ScaleShape &shape) {
  llvm::Expected<HostTensor> tensor = readTensorFile(name);
  if (!tensor) {
    return addContext(tensor.takeError(), "flag " + flag);
  }
  const ElementType expected = elementTypeOf(shape.element);
  const bool isE8m0 = expected == ElementType::U8 && tensor->type == ElementType::E8M0;
  if (tensor->type != expected && !isE8m0) {
    return fail(ErrorCode::InvalidArgument, "flag " + flag + ": found elements of " +
                                                elementTypeName(tensor->type) + ", expected " +
                                                elementTypeName(expected));
  }
  if (llvm::Error error = checkDims(flag, *tensor, shape.dims)) {
    return error;
  }
  return tensor;
}

static llvm::Error checkOperandType(const OperandRole &role, const HostTensor &values,
                                    bool hasScales) {
  if (isFloating(values.type)) {
    if (hasScales) {
      return fail(ErrorCode::InvalidArgument,
                  "flag " + role.scaleFlag + ": found scales for " + role.flag + " with " +
                      elementTypeName(values.type) +
                      " elements, expected none (it is quantized on the device)");
    }
    return llvm::Error::success();
  }
  if (!holdsCodes(values.type, role.format)) {
    return fail(ErrorCode::InvalidArgument,
                "flag " + role.flag + ": found elements of " + elementTypeName(values.type) +
                    ", expected uint8 (codes of " + formatName(role.format) +
                    "), float32, float16 or bf16 (uint16)");
  }
  return llvm::Error::success();
}

llvm::Expected<OperandFiles> readOperandFiles(const Arguments &arguments, const OperandRole &role) {
  OperandFiles files;
  const bool hasScales = arguments.has(role.scaleFlag);
  if (!arguments.has(role.flag)) {
    if (hasScales) {
      return fail(ErrorCode::InvalidArgument, "flag " + role.scaleFlag + ": found scales without " +
                                                  role.flag + ", expected both or neither");
    }
    return files;
  }
  llvm::Expected<HostTensor> values = readTensorFile(arguments.value(role.flag));
  if (!values) {
    return addContext(values.takeError(), "flag " + role.flag);
  }
  if (llvm::Error error = checkOperandType(role, *values, hasScales)) {
    return error;
  }
  if (llvm::Error error = checkDims(role.flag, *values, {role.outer, role.k})) {
    return error;
  }
  files.values = std::move(*values);
  if (!hasScales) {
    return files;
  }
  llvm::Expected<HostTensor> scales =
      readScaleFile(role.scaleFlag, arguments.value(role.scaleFlag), scaleShapeOf(role));
  if (!scales) {
    return scales.takeError();
  }
  files.scales = std::move(*scales);
  return files;
}

llvm::Expected<DeviceBuffer> upload(Device &device, llvm::ArrayRef<std::uint8_t> bytes) {
  llvm::Expected<DeviceBuffer> buffer = device.allocate(bytes.size());
  if (!buffer) {
    return buffer;
  }
  if (llvm::Error error = device.copyToDevice(buffer->data(), bytes.data(), bytes.size())) {
    return error;
  }
  return buffer;
}

llvm::Expected<std::vector<std::uint8_t>> download(Device &device, const DeviceBuffer &buffer) {
  std::vector<std::uint8_t> bytes(buffer.sizeBytes());
  if (llvm::Error error = device.copyToHost(bytes.data(), buffer.data(), bytes.size())) {
    return error;
  }
  return bytes;
}

/// Codes and scales that lie in host memory.
static llvm::Expected<DeviceOperand> uploadBoth(Device &device, llvm::ArrayRef<std::uint8_t> codes,
                                                llvm::ArrayRef<std::uint8_t> scales) {
  DeviceOperand operand;
  llvm::Expected<DeviceBuffer> codeBuffer = upload(device, codes);
  if (!codeBuffer) {
    return codeBuffer.takeError();
  }
  llvm::Expected<DeviceBuffer> scaleBuffer = upload(device, scales);
  if (!scaleBuffer) {
    return scaleBuffer.takeError();
  }
  operand.codes = std::move(*codeBuffer);
  operand.scales = std::move(*scaleBuffer);
  return operand;
}

/// A scale array that is 1 everywhere.
static std::vector<std::uint8_t> unitScales(const ScaleShape &shape) {
  if (shape.element != ScaleElement::F32) {
    return std::vector<std::uint8_t>(static_cast<std::size_t>(shape.sizeBytes()), 127);
  }
  const std::vector<float> ones(static_cast<std::size_t>(shape.count()), 1.0F);
  std::vector<std::uint8_t> bytes(ones.size() * sizeof(float));
  std::memcpy(bytes.data(), ones.data(), bytes.size());
  return bytes;
}

static llvm::Expected<DeviceOperand> quantizeOperand(Engine &engine, const OperandRole &role,
                                                     const HostTensor &values) {
  Device &device = engine.internals().device();
  llvm::Expected<DeviceBuffer> x = upload(device, roundFloats(values, Format::BF16));
  if (!x) {
    return x.takeError();
  }
  llvm::Expected<DeviceBuffer> codes =
      device.allocate(static_cast<std::size_t>(role.outer * role.k));
  if (!codes) {
    return codes.takeError();
  }
  llvm::Expected<DeviceBuffer> scales =
      device.allocate(static_cast<std::size_t>(scaleShapeOf(role).sizeBytes()));
  if (!scales) {
    return scales.takeError();
  }
  const QuantProblem problem{.m = role.outer,
                             .n = role.k,
                             .q = role.format,
                             .s = role.unit,
                             .st = role.scaleType,
                             .l = role.layout};
  const Result<void> done =
      engine.quantize(problem, {.x = x->data(), .q = codes->data(), .s = scales->data()});
  if (!done.ok()) {
    return addContext(toError(done), "quantizing " + role.flag);
  }
  // X may be freed only once the kernel has read it.
  if (llvm::Error error = device.synchronize()) {
    return addContext(std::move(error), "quantizing " + role.flag);
  }
  return DeviceOperand{std::move(*codes), std::move(*scales), false};
}

/// The range of bytes that `values` occupies.
static llvm::ArrayRef<std::uint8_t> bytesOf(const std::vector<float> &values) {
  return {reinterpret_cast<const std::uint8_t *>(values.data()), values.size() * sizeof(float)};
}

llvm::Expected<DeviceOperand> makeOperand(Engine &engine, const OperandRole &role,
                                          const OperandFiles &files, std::uint64_t seed) {
  Device &device = engine.internals().device();
  if (!files.values) {
    const TestOperand data = makeTestOperand(role.format, role.unit, role.outer, role.k, seed);
    llvm::Expected<DeviceOperand> operand = uploadBoth(device, data.codes, bytesOf(data.scales));
    if (operand) {
      operand->isSeeded = true;
    }
    return operand;
  }
  if (isFloating(files.values->type)) {
    return quantizeOperand(engine, role, *files.values);
  }
  if (files.scales) {
    return uploadBoth(device, files.values->bytes, files.scales->bytes);
  }
  return uploadBoth(device, files.values->bytes, unitScales(scaleShapeOf(role)));
}

} // namespace fp8jit
