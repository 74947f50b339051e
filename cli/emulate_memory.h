// The arguments of an emulated kernel on the device: memory, tensor maps, the bytes of each
// parameter, and the files that are written afterwards. Main entry: ArgumentMemory.
#pragma once

#include "cli/emulate_arguments.h"
#include "runtime/device.h"
#include "support/host_tensor.h"

#include "llvm/ADT/ArrayRef.h"
#include "llvm/Support/Error.h"

#include <cstdint>
#include <memory>
#include <string>
#include <vector>

namespace fp8jit {

/// Everything that the arguments of one launch refer to. Errors name the argument, from 0.
class ArgumentMemory {
public:
  /// Refuses outputs that cannot be written, or that two arguments share, before any work.
  static llvm::Error checkOutputs(llvm::ArrayRef<KernelArgument> arguments);
  /// Reads files, allocates and fills memory, encodes maps. Errors: those of readTensorFile,
  /// Device::allocate and encodeTensorMap; InvalidArgument for a reference to nothing.
  static llvm::Expected<ArgumentMemory> create(std::shared_ptr<Device> device,
                                               llvm::ArrayRef<KernelArgument> arguments);

  /// InvalidArgument unless there is one argument of the right size per parameter.
  llvm::Error checkSizes(llvm::ArrayRef<std::size_t> parameterBytes) const;
  llvm::ArrayRef<std::vector<std::uint8_t>> parameters() const { return parameters_; }

  /// Writes the files of out and inout arguments; returns one line each that says what is in them.
  llvm::Expected<std::vector<std::string>> writeOutputs() const;

private:
  /// The memory of one argument.
  struct Memory {
    BufferSpec spec; ///< of a file: with its own type and dims
    DeviceBuffer buffer;
  };

  llvm::Error add(const KernelArgument &argument);
  llvm::Error addBuffer(const BufferSpec &spec);
  llvm::Error addReference(const ReferenceSpec &reference);
  llvm::Error addMap(const MapSpec &map);
  llvm::Expected<std::string> writeOutput(const Memory &memory) const;

  std::shared_ptr<Device> device_;
  std::vector<std::vector<std::uint8_t>> parameters_;
  std::vector<Memory> memories_; ///< by argument; without memory: an empty buffer
};

} // namespace fp8jit
