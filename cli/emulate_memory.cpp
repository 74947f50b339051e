#include "cli/emulate_memory.h"

#include "cli/operands.h"
#include "runtime/ptx_kernel.h"
#include "support/error.h"
#include "support/files.h"
#include "support/tensor_file.h"

#include "llvm/ADT/STLExtras.h"
#include "llvm/ADT/StringExtras.h"
#include "llvm/ADT/StringMap.h"

#include <cmath>
#include <cstring>

namespace fp8jit {

static std::string nameOf(std::size_t argument) {
  return "argument " + std::to_string(argument);
}

/// The buffer that an argument brings, or null.
static const BufferSpec *bufferOf(const KernelArgument &argument) {
  if (const auto *map = std::get_if<MapSpec>(&argument)) {
    return std::get_if<BufferSpec>(&map->source);
  }
  return std::get_if<BufferSpec>(&argument);
}

static bool isWritten(const BufferSpec &buffer) {
  return buffer.kind == BufferKind::Out || buffer.kind == BufferKind::InOut;
}

llvm::Error ArgumentMemory::checkOutputs(llvm::ArrayRef<KernelArgument> arguments) {
  llvm::StringMap<std::size_t> writers;
  for (std::size_t i = 0; i < arguments.size(); ++i) {
    const BufferSpec *buffer = bufferOf(arguments[i]);
    if (buffer == nullptr || !isWritten(*buffer)) {
      continue;
    }
    if (llvm::Error error = checkTensorOutput(buffer->file)) {
      return addContext(std::move(error), nameOf(i));
    }
    const auto [other, isNew] = writers.try_emplace(canonicalPath(buffer->file), i);
    if (!isNew) {
      return fail(ErrorCode::InvalidArgument, nameOf(i) + ": found the file of " +
                                                  nameOf(other->second) + ", expected another one");
    }
  }
  return llvm::Error::success();
}

llvm::Expected<ArgumentMemory> ArgumentMemory::create(std::shared_ptr<Device> device,
                                                      llvm::ArrayRef<KernelArgument> arguments) {
  ArgumentMemory memory;
  memory.device_ = std::move(device);
  for (std::size_t i = 0; i < arguments.size(); ++i) {
    if (llvm::Error error = memory.add(arguments[i])) {
      return addContext(std::move(error), nameOf(i));
    }
    memory.memories_.resize(i + 1);
  }
  return memory;
}

llvm::Error ArgumentMemory::add(const KernelArgument &argument) {
  if (const auto *scalar = std::get_if<ScalarSpec>(&argument)) {
    parameters_.push_back(scalar->bytes);
    return llvm::Error::success();
  }
  if (const auto *reference = std::get_if<ReferenceSpec>(&argument)) {
    return addReference(*reference);
  }
  if (const auto *map = std::get_if<MapSpec>(&argument)) {
    return addMap(*map);
  }
  if (llvm::Error error = addBuffer(std::get<BufferSpec>(argument))) {
    return error;
  }
  return addReference({.argument = memories_.size() - 1});
}

/// Memory for `spec`, with what it holds before the launch.
llvm::Error ArgumentMemory::addBuffer(const BufferSpec &spec) {
  Memory memory{spec, {}};
  std::vector<std::uint8_t> contents;
  if (spec.kind == BufferKind::In || spec.kind == BufferKind::InOut) {
    llvm::Expected<HostTensor> tensor = readTensorFile(spec.file);
    if (!tensor) {
      return tensor.takeError();
    }
    memory.spec.type = tensor->type;
    memory.spec.dims = tensor->dims;
    contents = std::move(tensor->bytes);
  }
  const auto sizeBytes = static_cast<std::size_t>(*tensorBytes(memory.spec.type, memory.spec.dims));
  if (spec.kind == BufferKind::Zeros) {
    contents.resize(sizeBytes);
  }
  llvm::Expected<DeviceBuffer> buffer = device_->allocate(sizeBytes);
  if (!buffer) {
    return buffer.takeError();
  }
  if (llvm::Error error = device_->copyToDevice(buffer->data(), contents.data(), contents.size())) {
    return error;
  }
  memory.buffer = std::move(*buffer);
  memories_.push_back(std::move(memory));
  return llvm::Error::success();
}

llvm::Error ArgumentMemory::addReference(const ReferenceSpec &reference) {
  if (reference.argument >= memories_.size() ||
      memories_[reference.argument].buffer.data() == nullptr) {
    return fail(ErrorCode::InvalidArgument, "found a reference to " + nameOf(reference.argument) +
                                                ", expected an earlier argument that has memory");
  }
  const auto address =
      reinterpret_cast<std::uint64_t>(memories_[reference.argument].buffer.data()) +
      reference.offset;
  std::vector<std::uint8_t> bytes(sizeof address);
  std::memcpy(bytes.data(), &address, sizeof address);
  parameters_.push_back(std::move(bytes));
  return llvm::Error::success();
}

/// `list` innermost first; `fallback` everywhere if it is empty.
template <typename T>
static llvm::SmallVector<T, 5> reversed(llvm::ArrayRef<std::int64_t> list, std::size_t count,
                                        std::int64_t fallback) {
  llvm::SmallVector<T, 5> result(count, static_cast<T>(fallback));
  for (std::size_t i = 0; i < list.size(); ++i) {
    result[i] = static_cast<T>(list[list.size() - 1 - i]);
  }
  return result;
}

/// InvalidArgument unless a list of a map is empty or has `count` numbers.
static llvm::Error checkCount(llvm::StringRef name, llvm::ArrayRef<std::int64_t> list,
                              std::size_t count) {
  return list.empty() || list.size() == count
             ? llvm::Error::success()
             : fail(ErrorCode::InvalidArgument, name + ": found " + llvm::Twine(list.size()) +
                                                    " numbers, expected " + llvm::Twine(count));
}

/// The description of a map over memory of `type` and `dims`. Errors: InvalidArgument.
static llvm::Expected<TensorMapSpec> describeMap(const MapSpec &map, ElementType type,
                                                 llvm::ArrayRef<std::int64_t> dims) {
  constexpr std::uint64_t kTypeBytes[] = {1, 2, 4, 4, 8, 8, 2, 4, 8, 2};
  const llvm::ArrayRef<std::int64_t> shape = map.shape.empty() ? dims : map.shape;
  const std::size_t rank = shape.size();
  for (const auto &[name, list, count] :
       {std::tuple{"box", llvm::makeArrayRef(map.box), rank},
        std::tuple{"steps", llvm::makeArrayRef(map.steps), rank},
        std::tuple{"strides", llvm::makeArrayRef(map.strides), rank - 1}}) {
    if (llvm::Error error = checkCount(name, list, count)) {
      return error;
    }
  }
  TensorMapSpec spec;
  spec.elementType = map.elementType.value_or(tensorMapType(type));
  spec.swizzle = map.swizzle;
  spec.fill = map.fillsNan ? 1 : 0;
  spec.dims = reversed<std::uint64_t>(shape, rank, 1);
  spec.box = reversed<std::uint32_t>(map.box, rank, 1);
  spec.elementStrides = reversed<std::uint32_t>(map.steps, rank, 1);
  spec.strides = reversed<std::uint64_t>(map.strides, rank - 1, 0);
  std::uint64_t dense = kTypeBytes[spec.elementType];
  for (std::size_t i = 0; map.strides.empty() && i + 1 < rank; ++i) {
    dense *= spec.dims[i];
    spec.strides[i] = dense;
  }
  return spec;
}

llvm::Error ArgumentMemory::addMap(const MapSpec &map) {
  std::size_t source = memories_.size();
  std::uint64_t offset = map.offset;
  if (const auto *reference = std::get_if<ReferenceSpec>(&map.source)) {
    source = reference->argument;
    offset += reference->offset;
    if (source >= memories_.size() || memories_[source].buffer.data() == nullptr) {
      return fail(ErrorCode::InvalidArgument, "found a map over " + nameOf(source) +
                                                  ", expected an earlier argument with memory");
    }
  } else if (llvm::Error error = addBuffer(std::get<BufferSpec>(map.source))) {
    return error;
  }
  const Memory &memory = memories_[source];
  llvm::Expected<TensorMapSpec> spec = describeMap(map, memory.spec.type, memory.spec.dims);
  if (!spec) {
    return spec.takeError();
  }
  spec->address = static_cast<std::uint8_t *>(memory.buffer.data()) + offset;
  llvm::Expected<std::vector<std::uint8_t>> bytes = encodeTensorMap(*device_, *spec);
  if (!bytes) {
    return bytes.takeError();
  }
  parameters_.push_back(std::move(*bytes));
  return llvm::Error::success();
}

llvm::Error ArgumentMemory::checkSizes(llvm::ArrayRef<std::size_t> parameterBytes) const {
  const auto listed = [](auto &&sizes) {
    return llvm::join(llvm::map_range(sizes, [](std::size_t size) { return std::to_string(size); }),
                      ", ");
  };
  const std::string expected = "the kernel takes " + std::to_string(parameterBytes.size()) +
                               " parameters of " + listed(parameterBytes) + " bytes";
  if (parameters_.size() != parameterBytes.size()) {
    return fail(ErrorCode::InvalidArgument,
                "found " + llvm::Twine(parameters_.size()) + " arguments, but " + expected);
  }
  for (std::size_t i = 0; i < parameters_.size(); ++i) {
    if (parameters_[i].size() != parameterBytes[i]) {
      return fail(ErrorCode::InvalidArgument, nameOf(i) + ": found " +
                                                  llvm::Twine(parameters_[i].size()) +
                                                  " bytes, but " + expected);
    }
  }
  return llvm::Error::success();
}

llvm::Expected<std::string> ArgumentMemory::writeOutput(const Memory &memory) const {
  llvm::Expected<std::vector<std::uint8_t>> bytes = download(*device_, memory.buffer);
  if (!bytes) {
    return bytes.takeError();
  }
  const HostTensor tensor{memory.spec.type, memory.spec.dims, std::move(*bytes)};
  if (llvm::Error error = writeTensorFile(memory.spec.file, tensor)) {
    return error;
  }
  return memory.spec.file + ": " + elementTypeName(tensor.type).str() + " " +
         printDims(tensor.dims);
}

llvm::Expected<std::vector<std::string>> ArgumentMemory::writeOutputs() const {
  std::vector<std::string> lines;
  for (std::size_t i = 0; i < memories_.size(); ++i) {
    if (memories_[i].buffer.data() == nullptr || !isWritten(memories_[i].spec)) {
      continue;
    }
    llvm::Expected<std::string> line = writeOutput(memories_[i]);
    if (!line) {
      return addContext(line.takeError(), nameOf(i));
    }
    lines.push_back(*line);
  }
  return lines;
}

} // namespace fp8jit
