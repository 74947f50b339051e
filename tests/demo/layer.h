// The layer of tests/data/minilm as GEMM operands. Main entry: readLayer.
#pragma once

#include "tests/demo/layer_run.h"

#include "llvm/ADT/StringRef.h"
#include "llvm/Support/Error.h"

#include <vector>

namespace fp8jit::demo {

/// Reads weights.safetensors and activations.safetensors of `directory`: query, key, value,
/// attention output, feed-forward up and down, in this order. Errors: NotFound and InvalidArgument
/// naming the tensor.
llvm::Expected<std::vector<Projection>> readLayer(llvm::StringRef directory);

} // namespace fp8jit::demo
