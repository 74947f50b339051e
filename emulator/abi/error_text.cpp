// Names and descriptions of CUresult values. Names come from cuda.h; descriptions are the words of
// the enumeration's names, except where those would say too little.
#include "emulator/abi/process.h"
#include "entry_points.h"

#include <algorithm>
#include <cctype>
#include <map>
#include <string>

namespace fp8jit::emulator {
namespace {

struct ErrorName {
  int value = 0;
  const char *name = nullptr;
};

struct ErrorDescription {
  CUresult value = CUDA_SUCCESS;
  const char *text = nullptr;
};

constexpr ErrorName kNames[] = {
#include "error_names.inc"
};

constexpr ErrorDescription kDescriptions[] = {
    {CUDA_SUCCESS, "no error"},
    {CUDA_ERROR_INVALID_VALUE, "invalid argument"},
    {CUDA_ERROR_NOT_INITIALIZED, "initialization error"},
    {CUDA_ERROR_NO_DEVICE, "no CUDA-capable device is detected"},
    {CUDA_ERROR_INVALID_DEVICE, "invalid device ordinal"},
    {CUDA_ERROR_INVALID_IMAGE, "device kernel image is invalid"},
    {CUDA_ERROR_INVALID_CONTEXT, "invalid device context"},
    {CUDA_ERROR_NO_BINARY_FOR_GPU, "no kernel image is available for execution on the device"},
    {CUDA_ERROR_INVALID_PTX, "a PTX JIT compilation failed"},
    {CUDA_ERROR_UNSUPPORTED_PTX_VERSION, "the provided PTX has an unsupported .version"},
    {CUDA_ERROR_INVALID_HANDLE, "invalid resource handle"},
    {CUDA_ERROR_NOT_FOUND, "named symbol not found"},
    {CUDA_ERROR_NOT_READY, "device not ready"},
    {CUDA_ERROR_ILLEGAL_ADDRESS, "an illegal memory access was encountered"},
    {CUDA_ERROR_LAUNCH_OUT_OF_RESOURCES, "too many resources requested for launch"},
    {CUDA_ERROR_LAUNCH_TIMEOUT, "the launch timed out and was terminated"},
    {CUDA_ERROR_ILLEGAL_INSTRUCTION, "an illegal instruction was encountered"},
    {CUDA_ERROR_LAUNCH_FAILED, "unspecified launch failure"},
    {CUDA_ERROR_NOT_SUPPORTED, "operation not supported"},
};

} // namespace

static const ErrorName *findName(CUresult value) {
  const auto *found = std::find_if(std::begin(kNames), std::end(kNames),
                                   [&](const ErrorName &row) { return row.value == value; });
  return found == std::end(kNames) ? nullptr : found;
}

/// "CUDA_ERROR_MISALIGNED_ADDRESS" to "misaligned address".
static std::string wordsOf(std::string name) {
  name.erase(0, sizeof "CUDA_ERROR_" - 1);
  std::transform(name.begin(), name.end(), name.begin(), [](unsigned char c) {
    return c == '_' ? ' ' : static_cast<char>(std::tolower(c));
  });
  return name;
}

static const char *describe(const ErrorName &error) {
  static const std::map<int, std::string> kTexts = [] {
    std::map<int, std::string> texts;
    for (const ErrorDescription &row : kDescriptions) {
      texts.emplace(row.value, row.text);
    }
    for (const ErrorName &row : kNames) {
      texts.emplace(row.value, wordsOf(row.name));
    }
    return texts;
  }();
  return kTexts.at(error.value).c_str();
}

namespace driver {

CUresult cuGetErrorName(CUresult error, const char **text) {
  if (text == nullptr) {
    return CUDA_ERROR_INVALID_VALUE;
  }
  const ErrorName *found = findName(error);
  *text = found == nullptr ? nullptr : found->name;
  return found == nullptr ? CUDA_ERROR_INVALID_VALUE : CUDA_SUCCESS;
}

CUresult cuGetErrorString(CUresult error, const char **text) {
  if (text == nullptr) {
    return CUDA_ERROR_INVALID_VALUE;
  }
  const ErrorName *found = findName(error);
  *text = found == nullptr ? nullptr : describe(*found);
  return found == nullptr ? CUDA_ERROR_INVALID_VALUE : CUDA_SUCCESS;
}

} // namespace driver
} // namespace fp8jit::emulator
