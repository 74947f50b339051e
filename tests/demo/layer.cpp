// Pairs each weight matrix with the activations that it multiplies.
#include "tests/demo/layer.h"

#include "support/error.h"
#include "support/host_tensor.h"
#include "support/tensor_file.h"

#include "llvm/Support/FormatVariadic.h"

#include <cstring>
#include <utility>

namespace fp8jit::demo {

using llvm::Expected;

namespace {

struct MatrixNames {
  const char *weights, *activations;
};

/// tests/data/minilm/README.md.
constexpr MatrixNames kMatrices[] = {
    {"query", "hidden"},
    {"key", "hidden"},
    {"value", "hidden"},
    {"attention_output", "attention_context"},
    {"feed_forward_up", "attention_normalized"},
    {"feed_forward_down", "feed_forward_hidden"},
};

} // namespace

static Expected<HostTensor> readMatrix(const std::string &name) {
  Expected<HostTensor> tensor = readTensorFile(name);
  if (!tensor) {
    return tensor.takeError();
  }
  if (tensor->type != ElementType::BF16 || tensor->dims.size() != 2) {
    return fail(ErrorCode::InvalidArgument,
                llvm::formatv("{0}: found {1} {2}, expected a bf16 matrix", name,
                              elementTypeName(tensor->type), printDims(tensor->dims)));
  }
  return tensor;
}

static std::vector<std::uint16_t> toBits(const HostTensor &tensor) {
  std::vector<std::uint16_t> bits(static_cast<std::size_t>(tensor.count()));
  std::memcpy(bits.data(), tensor.bytes.data(), tensor.bytes.size());
  return bits;
}

Expected<std::vector<Projection>> readLayer(llvm::StringRef directory) {
  std::vector<Projection> layer;
  for (const MatrixNames &names : kMatrices) {
    const std::string weightsName =
        llvm::formatv("{0}/weights.safetensors:{1}", directory, names.weights).str();
    Expected<HostTensor> weights = readMatrix(weightsName);
    if (!weights) {
      return weights.takeError();
    }
    Expected<HostTensor> activations = readMatrix(
        llvm::formatv("{0}/activations.safetensors:{1}", directory, names.activations).str());
    if (!activations) {
      return activations.takeError();
    }
    if (weights->dims[1] != activations->dims[1]) {
      return fail(ErrorCode::InvalidArgument,
                  llvm::formatv("{0}: found {1} columns, expected the {2} of {3}", weightsName,
                                weights->dims[1], activations->dims[1], names.activations));
    }
    layer.push_back({.name = names.weights,
                     .m = activations->dims[0],
                     .n = weights->dims[0],
                     .k = weights->dims[1],
                     .activations = toBits(*activations),
                     .weights = toBits(*weights)});
  }
  return layer;
}

} // namespace fp8jit::demo
