// Kinds of images, and the resources of their kernels.
#include "emulator/abi/code_image.h"

#include "emulator/abi/cubin.h"
#include "emulator/exec/prepared_kernel.h"

#include <algorithm>
#include <charconv>
#include <cstring>
#include <optional>
#include <string_view>

namespace fp8jit::emulator {

static constexpr std::uint32_t kFatBinaryMagic = 0xba55ed50;
static constexpr int kNewestPtxMajor = 9; // of CUDA 13.0
static constexpr int kNewestPtxMinor = 0;
static constexpr std::uint32_t kAssumedRegisters = 128; // for PTX without a cubin
static constexpr std::uint32_t kMaxThreads = kMaxThreadsPerBlock;

static ImageError failure(CUresult result, std::string message) {
  return {result, std::move(message)};
}

/// Registers of one warp: allocated in units of 256 (CUDA occupancy calculator, all sm_7x to 12x).
static std::uint32_t registersPerWarp(std::uint32_t registers) {
  return (registers * 32 + 255) / 256 * 256;
}

std::uint32_t threadsByRegisters(const GpuProfile &gpu, std::uint32_t registers) {
  if (registers == 0) {
    return kMaxThreads;
  }
  const std::uint32_t warps =
      static_cast<std::uint32_t>(gpu.regsPerSm) / registersPerWarp(registers);
  return std::min(kMaxThreads, warps * 32);
}

static bool contains(const Kernel &kernel, Op op) {
  return std::any_of(kernel.code.begin(), kernel.code.end(),
                     [op](const Instruction &step) { return step.op == op; });
}

/// Registers per thread that ptxas gives a kernel without a cubin at hand. Never more than its
/// largest block leaves to a thread; with setmaxnreg exactly that or .maxnreg, since the count at
/// launch is what the instruction redistributes; else what kernels typically need.
static std::uint32_t assumedRegisters(const Kernel &kernel, std::uint32_t maxThreads,
                                      const GpuProfile &gpu) {
  constexpr std::uint32_t kMostPerThread = 255; // CUDA programming guide
  const std::uint32_t blocks = std::max(kernel.minBlocksPerSm, 1U);
  std::uint32_t limit = static_cast<std::uint32_t>(gpu.regsPerSm) / (maxThreads * blocks) / 8 * 8;
  limit = std::clamp(kernel.maxRegisters == 0 ? limit : kernel.maxRegisters, 16U, kMostPerThread);
  return contains(kernel, Op::SetMaxNReg) ? limit : std::min(kAssumedRegisters, limit);
}

static KernelResources resourcesOf(const Kernel &kernel, const Cubin *cubin,
                                   const GpuProfile &gpu) {
  KernelResources resources{.registers = kAssumedRegisters,
                            .staticSharedBytes = kernel.staticSharedBytes,
                            .localBytes = kernel.localBytes,
                            .launchesDependents = contains(kernel, Op::GridDependencyLaunch),
                            .waitsForGrid = contains(kernel, Op::GridDependencyWait)};
  const std::uint32_t bound = kernel.maxThreads == 0 ? kMaxThreads : kernel.maxThreads;
  const auto *found = cubin == nullptr ? nullptr : &cubin->kernels;
  if (found != nullptr && found->contains(kernel.name)) {
    const CubinKernel &compiled = found->find(kernel.name)->second;
    resources.registers = compiled.registers;
    resources.isRegisterCountKnown = true;
    resources.staticSharedBytes = compiled.staticSharedBytes;
    resources.localBytes = compiled.frameBytes;
    resources.maxThreads = std::min(bound, threadsByRegisters(gpu, compiled.registers));
    return resources;
  }
  resources.registers = assumedRegisters(kernel, bound, gpu);
  resources.maxThreads = bound;
  return resources;
}

/// The text after the first directive `name` that begins a line, or nothing.
static std::optional<std::string_view> directive(std::string_view text, std::string_view name) {
  while (!text.empty()) {
    std::string_view line = text.substr(0, text.find('\n'));
    text.remove_prefix(std::min(text.size(), line.size() + 1));
    const std::size_t start = line.find_first_not_of(" \t\r");
    line.remove_prefix(std::min(start, line.size()));
    if (line.starts_with(name)) {
      line.remove_prefix(name.size());
      line.remove_prefix(std::min(line.find_first_not_of(" \t"), line.size()));
      return line;
    }
  }
  return std::nullopt;
}

/// Whether `version` ("9.0") is newer than the emulator's PTX.
static bool isTooNew(std::string_view version) {
  int major = 0;
  int minor = 0;
  const char *end = version.data() + version.size();
  const auto dot = std::from_chars(version.data(), end, major);
  if (dot.ptr != end && *dot.ptr == '.') {
    std::from_chars(dot.ptr + 1, end, minor);
  }
  return major > kNewestPtxMajor || (major == kNewestPtxMajor && minor > kNewestPtxMinor);
}

static std::shared_ptr<const CodeImage> decodePtx(std::string_view text, const GpuProfile &gpu,
                                                  const Cubin *cubin, ImageError &error) {
  const std::optional<std::string_view> version = directive(text, ".version");
  if (!version) {
    error = failure(CUDA_ERROR_INVALID_IMAGE, "the image is neither PTX text nor a binary");
    return nullptr;
  }
  if (isTooNew(*version)) {
    const std::string found(version->substr(0, version->find_first_of(" \t\r/")));
    error =
        failure(CUDA_ERROR_UNSUPPORTED_PTX_VERSION, "PTX .version " + found + " is newer than 9.0");
    return nullptr;
  }
  auto image = std::make_shared<CodeImage>();
  PtxError problem;
  if (!loadModule(text, gpu.arch, image->program, problem)) {
    error = failure(CUDA_ERROR_INVALID_PTX, "ptx input, line " + std::to_string(problem.line) +
                                                "; error: " + problem.message);
    return nullptr;
  }
  for (const Kernel &kernel : image->program.kernels) {
    image->resources.push_back(resourcesOf(kernel, cubin, gpu));
    image->prepared.push_back(prepareKernel(kernel, gpu.arch));
  }
  return image;
}

static std::shared_ptr<const CodeImage> decodeElf(const void *image, const GpuProfile &gpu,
                                                  const PairedBinaries &pairs, ImageError &error) {
  const std::string_view bytes(static_cast<const char *>(image), elfSize(image));
  const std::optional<Cubin> cubin = readCubin(bytes);
  if (!cubin) {
    error = failure(CUDA_ERROR_INVALID_IMAGE, "the ELF image is no cubin");
    return nullptr;
  }
  const int expected = gpu.computeMajor * 10 + gpu.computeMinor;
  if (cubin->smNumber != expected) {
    error = failure(CUDA_ERROR_NO_BINARY_FOR_GPU,
                    "the cubin is for sm_" + std::to_string(cubin->smNumber) +
                        ", the device is sm_" + std::string(gpu.arch));
    return nullptr;
  }
  const std::optional<std::string> ptx = pairs.find(bytes);
  if (!ptx) {
    error = failure(CUDA_ERROR_NO_BINARY_FOR_GPU,
                    "the emulator runs PTX; no PTX was paired with this cubin");
    return nullptr;
  }
  return decodePtx(*ptx, gpu, &*cubin, error);
}

std::shared_ptr<const CodeImage> decodeImage(const void *image, const GpuProfile &gpu,
                                             const PairedBinaries &pairs, ImageError &error) {
  // Text may be shorter than the magic numbers: compare bytes only as far as they match.
  if (std::strncmp(static_cast<const char *>(image), "\177ELF", 4) == 0) {
    return decodeElf(image, gpu, pairs, error);
  }
  constexpr unsigned char kFatBinary[] = {kFatBinaryMagic & 0xff, (kFatBinaryMagic >> 8) & 0xff,
                                          (kFatBinaryMagic >> 16) & 0xff, kFatBinaryMagic >> 24, 0};
  if (std::strncmp(static_cast<const char *>(image), reinterpret_cast<const char *>(kFatBinary),
                   4) == 0) {
    error = failure(CUDA_ERROR_NO_BINARY_FOR_GPU, "fat binaries are not read: pass their PTX");
    return nullptr;
  }
  return decodePtx(static_cast<const char *>(image), gpu, nullptr, error);
}

} // namespace fp8jit::emulator
