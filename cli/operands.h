// The two operands of a GEMM: from files (codes with scales, or floating values that are quantized
// on the device) or seeded. Main entries: readOperandFiles, makeOperand.
#pragma once

#include "cli/arguments.h"
#include "fp8jit/engine.h"
#include "generator/scale_shape.h"
#include "runtime/device.h"
#include "support/host_tensor.h"

#include "llvm/Support/Error.h"

#include <optional>
#include <vector>

namespace fp8jit {

/// What one operand must look like, and the flags that bring it.
struct OperandRole {
  llvm::StringRef flag;      ///< "--a"
  llvm::StringRef scaleFlag; ///< "--sa"
  Format format = Format::E4M3;
  ScaleUnit unit = ScaleUnit::Tensor;
  ScaleType scaleType = ScaleType::F32;
  ScaleLayout layout = ScaleLayout::Row;
  std::int64_t outer = 0, k = 0;
};

OperandRole roleOfA(const GemmProblem &problem);
OperandRole roleOfB(const GemmProblem &problem);

/// What the files of an operand hold; nothing for a seeded one.
struct OperandFiles {
  std::optional<HostTensor> values; ///< codes, or floating values
  std::optional<HostTensor> scales;
};

/// Reads the files and checks element types and shapes. Errors: those of readTensorFile;
/// InvalidArgument naming flag, found and expected.
llvm::Expected<OperandFiles> readOperandFiles(const Arguments &arguments, const OperandRole &role);

/// An operand on the device. The quantization of a floating one may still run on the default
/// stream.
struct DeviceOperand {
  DeviceBuffer codes, scales;
  bool isSeeded = false;
};

/// Brings an operand to the device: codes and scales as they are (scale 1 without a scale file),
/// floating values rounded to bf16 and quantized there, or seeded data with outlier channels.
/// Errors: those of Engine::quantize; DriverError.
llvm::Expected<DeviceOperand> makeOperand(Engine &engine, const OperandRole &role,
                                          const OperandFiles &files, std::uint64_t seed);

/// Uploads `bytes`. Errors: DriverError.
llvm::Expected<DeviceBuffer> upload(Device &device, llvm::ArrayRef<std::uint8_t> bytes);
/// The whole of `buffer`, once the device is done with it. Errors: DriverError.
llvm::Expected<std::vector<std::uint8_t>> download(Device &device, const DeviceBuffer &buffer);

/// InvalidArgument unless `tensor`, given by `flag`, has exactly `dims`.
llvm::Error checkDims(llvm::StringRef flag, const HostTensor &tensor,
                      llvm::ArrayRef<std::int64_t> dims);
/// What a file of such scales holds.
ElementType elementTypeOf(ScaleElement element);
/// Reads the scale array given by `flag` and checks it against `shape`.
llvm::Expected<HostTensor> readScaleFile(llvm::StringRef flag, llvm::StringRef name,
                                         const ScaleShape &shape);

} // namespace fp8jit
