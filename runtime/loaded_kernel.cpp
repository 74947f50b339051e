#include "runtime/loaded_kernel.h"

#include "runtime/driver/driver.h"
#include "support/error.h"

#include "llvm/ADT/StringExtras.h"
#include "llvm/Support/FormatVariadic.h"

#include <array>
#include <climits>
#include <utility>

namespace fp8jit {

int ptxVersionOfDriver(int driverVersion) {
  // {CUDA version, PTX version it brought}, newest first.
  static constexpr std::array<std::pair<int, int>, 11> kVersions = {{{13010, 91},
                                                                     {13000, 90},
                                                                     {12090, 88},
                                                                     {12080, 87},
                                                                     {12070, 86},
                                                                     {12050, 85},
                                                                     {12040, 84},
                                                                     {12030, 83},
                                                                     {12020, 82},
                                                                     {12010, 81},
                                                                     {12000, 80}}};
  for (const auto &[cuda, ptx] : kVersions) {
    if (driverVersion >= cuda) {
      return ptx;
    }
  }
  return 78;
}

/// Splits at the .version directive: the text before the number, the number, the text behind it.
static std::array<llvm::StringRef, 3> splitAtVersion(llvm::StringRef ptx) {
  static constexpr llvm::StringLiteral kDirective = ".version ";
  const std::size_t at = ptx.find(kDirective);
  if (at == llvm::StringRef::npos) {
    return {ptx, "", ""};
  }
  const std::size_t start = at + kDirective.size();
  const std::size_t end = std::min(ptx.find_first_not_of("0123456789.", start), ptx.size());
  return {ptx.take_front(start), ptx.slice(start, end), ptx.drop_front(end)};
}

std::string lowerPtxVersion(llvm::StringRef ptx, int version) {
  const auto [before, number, after] = splitAtVersion(ptx);
  int major = 0;
  int minor = 0;
  const auto [majorText, minorText] = number.split('.');
  if (majorText.getAsInteger(10, major) || minorText.getAsInteger(10, minor) ||
      major * 10 + minor <= version) {
    return ptx.str();
  }
  return (before + llvm::Twine(version / 10) + "." + llvm::Twine(version % 10) + after).str();
}

LoadedKernel::LoadedKernel(std::shared_ptr<Device> device, std::shared_ptr<const BuiltKernel> built,
                           Config config)
    : device_(std::move(device)), built_(std::move(built)), config_(std::move(config)) {}

LoadedKernel::~LoadedKernel() {
  if (library_ != nullptr) {
    // After a fault or at exit the driver has let go of it already.
    device_->driver().api().libraryUnload(static_cast<CUlibrary>(library_));
  }
}

llvm::Expected<std::shared_ptr<const LoadedKernel>>
LoadedKernel::load(std::shared_ptr<Device> device, std::shared_ptr<const BuiltKernel> built,
                   Config config) {
  std::shared_ptr<LoadedKernel> kernel(
      new LoadedKernel(std::move(device), std::move(built), std::move(config)));
  llvm::Expected<void *> toRestore = kernel->device_->enterContext();
  if (!toRestore) {
    return toRestore.takeError();
  }
  llvm::Error error = kernel->loadAnyForm();
  kernel->device_->leaveContext(*toRestore);
  if (error) {
    return error;
  }
  return std::shared_ptr<const LoadedKernel>(std::move(kernel));
}

int LoadedKernel::tryLoad(const std::string &image, std::string &log) {
  const DriverApi &api = device_->driver().api();
  std::string buffer(8 << 10, '\0');
  CUjit_option names[] = {CU_JIT_ERROR_LOG_BUFFER, CU_JIT_ERROR_LOG_BUFFER_SIZE_BYTES};
  void *values[] = {buffer.data(), reinterpret_cast<void *>(buffer.size())};
  CUlibrary library = nullptr;
  int result = api.libraryLoadData(&library, image.data(), names, values, 2, nullptr, nullptr, 0);
  if (result == CUDA_SUCCESS) {
    library_ = library;
    result = findEntries();
  }
  if (result != CUDA_SUCCESS) {
    log += buffer.c_str();
    if (library_ != nullptr) {
      api.libraryUnload(static_cast<CUlibrary>(library_));
      library_ = nullptr;
    }
  }
  return result;
}

int LoadedKernel::findEntries() {
  const DriverApi &api = device_->driver().api();
  entries_.clear();
  for (const KernelEntry &entry : built_->source.entries) {
    CUkernel kernel = nullptr;
    CUresult result =
        api.libraryGetKernel(&kernel, static_cast<CUlibrary>(library_), entry.name.c_str());
    // Libraries load lazily: only asking for an attribute makes the driver pick a binary now.
    int registers = 0;
    if (result == CUDA_SUCCESS) {
      result =
          api.kernelGetAttribute(&registers, CU_FUNC_ATTRIBUTE_NUM_REGS, kernel, device_->handle());
    }
    const auto smemBytes = static_cast<unsigned>(entry.smemBytes);
    if (result == CUDA_SUCCESS && entry.smemBytes > kDefaultSmemPerBlock) {
      result = api.kernelSetAttribute(CU_FUNC_ATTRIBUTE_MAX_DYNAMIC_SHARED_SIZE_BYTES,
                                      entry.smemBytes, kernel, device_->handle());
    }
    if (result != CUDA_SUCCESS) {
      return result;
    }
    entries_.push_back({.kernel = kernel,
                        .threads = static_cast<unsigned>(entry.threads),
                        .smemBytes = smemBytes});
  }
  return CUDA_SUCCESS;
}

static std::string entryNames(const BuiltKernel &built) {
  std::string names;
  for (const KernelEntry &entry : built.source.entries) {
    names += (names.empty() ? "" : ", ") + entry.name;
  }
  return names;
}

llvm::Error LoadedKernel::loadAnyForm() {
  const StoredBinary &binary = built_->binary;
  std::string log;
  int result = CUDA_ERROR_NO_BINARY_FOR_GPU;
  if (!binary.cubin.empty()) {
    if (const EmulatorTable *table = device_->emulator()) {
      table->pairBinary(binary.cubin.data(), binary.cubin.size(), binary.ptx.data(),
                        binary.ptx.size());
    }
    result = tryLoad(binary.cubin, log);
  }
  if (result == CUDA_ERROR_NO_BINARY_FOR_GPU || result == CUDA_ERROR_INVALID_IMAGE) {
    result = tryLoad(binary.ptx, log);
  }
  const int driverVersion = device_->driver().version();
  if (result == CUDA_ERROR_UNSUPPORTED_PTX_VERSION) {
    result = tryLoad(lowerPtxVersion(binary.ptx, ptxVersionOfDriver(driverVersion)), log);
  }
  if (result == CUDA_SUCCESS) {
    return llvm::Error::success();
  }
  if (result == CUDA_ERROR_NOT_FOUND) {
    return fail(ErrorCode::CompileError,
                llvm::formatv("the compiled source of kernel {0} defines no __global__ function of "
                              "the expected name ({1}); look for it in the template",
                              built_->key.substr(0, 12), entryNames(*built_)));
  }
  FailureInfo failure =
      takeFailure(device_->driverFailure("cuLibraryLoadData", static_cast<CUresult>(result)));
  return fail(ErrorCode::DriverError,
              llvm::formatv("driver of CUDA {0}.{1} loads neither the {2} binary of kernel {3} nor "
                            "its PTX {4}: {5}; update the driver, or use the NVRTC of its CUDA",
                            driverVersion / 1000, driverVersion % 1000 / 10, binary.arch,
                            built_->key.substr(0, 12), splitAtVersion(binary.ptx)[1],
                            failure.text()),
              log + failure.details());
}

llvm::Expected<EntryGrids> LoadedKernel::grids(const Problem &problem) const {
  EntryGrids grids;
  for (std::size_t i = 0; i < entries_.size(); ++i) {
    grids.push_back(gridBlocks(problem, config_, i));
    if (grids.back() > INT_MAX) {
      return fail(
          ErrorCode::Unsupported,
          llvm::formatv("the problem needs {0} blocks, expected at most {1}; split it along "
                        "m or use larger tiles",
                        grids.back(), INT_MAX));
    }
  }
  return grids;
}

llvm::Error LoadedKernel::launch(llvm::ArrayRef<std::int64_t> grids, void *params,
                                 void *stream) const {
  llvm::Expected<void *> toRestore = device_->enterContext();
  if (!toRestore) {
    return toRestore.takeError();
  }
  const DriverApi &api = device_->driver().api();
  void *arguments[] = {params};
  CUresult result = CUDA_SUCCESS;
  for (std::size_t i = 0; i < entries_.size() && result == CUDA_SUCCESS; ++i) {
    const LoadedEntry &entry = entries_[i];
    // cuLaunchKernel takes a CUkernel in place of a CUfunction (CUDA driver API, cuLaunchKernel).
    result = api.launchKernel(reinterpret_cast<CUfunction>(entry.kernel),
                              static_cast<unsigned>(grids[i]), 1, 1, entry.threads, 1, 1,
                              entry.smemBytes, static_cast<CUstream>(stream), arguments, nullptr);
  }
  device_->leaveContext(*toRestore);
  return result == CUDA_SUCCESS ? llvm::Error::success()
                                : device_->driverFailure("cuLaunchKernel", result);
}

} // namespace fp8jit
