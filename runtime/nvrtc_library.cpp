#include "runtime/nvrtc_library.h"

#include "support/environment.h"
#include "support/error.h"
#include "support/hash.h"

#include "llvm/ADT/StringExtras.h"
#include "llvm/BinaryFormat/ELF.h"
#include "llvm/Support/FileSystem.h"
#include "llvm/Support/FormatVariadic.h"
#include "llvm/Support/MemoryBuffer.h"
#include "llvm/Support/Path.h"

#include <algorithm>
#include <cstring>
#include <dlfcn.h>

namespace fp8jit {

static constexpr llvm::StringLiteral kRemedy =
    "install a CUDA toolkit or `pip install nvidia-cuda-nvrtc`, or name the library file in "
    "FP8JIT_NVRTC";

/// Newest first; 12 knows sm_89 and sm_90a as well.
static constexpr int kMajorVersions[] = {13, 12};

NvrtcSearch NvrtcSearch::fromEnvironment() {
  NvrtcSearch search;
  search.file = readEnvironment(EnvironmentVariable::Nvrtc);
  const std::string cudaHome = readEnvironment(EnvironmentVariable::CudaHome);
  for (const std::string &root :
       {cudaHome, std::string(FP8JIT_CUDA_PREFIX), std::string("/usr/local/cuda")}) {
    if (!root.empty()) {
      search.folders.push_back(root + "/lib64");
      search.folders.push_back(root + "/lib");
    }
  }
  search.folders.emplace_back("/usr/lib/x86_64-linux-gnu");
  search.folders.emplace_back("/usr/lib64");
  return search;
}

llvm::Expected<std::string> findNvrtc(const NvrtcSearch &search) {
  if (!search.file.empty()) {
    if (!llvm::sys::fs::exists(search.file)) {
      return fail(
          ErrorCode::NvrtcNotFound,
          llvm::formatv("no NVRTC library at {0}, which FP8JIT_NVRTC names, expected a file "
                        "such as /usr/local/cuda/lib64/libnvrtc.so.13",
                        search.file));
    }
    return search.file;
  }
  for (const std::string &folder : search.folders) {
    for (const int major : kMajorVersions) {
      std::string path = llvm::formatv("{0}/libnvrtc.so.{1}", folder, major).str();
      if (llvm::sys::fs::exists(path)) {
        return path;
      }
    }
  }
  return fail(ErrorCode::NvrtcNotFound, llvm::formatv("no libnvrtc.so.13 or .12 in {0}; {1}",
                                                      llvm::join(search.folders, ", "), kRemedy));
}

/// The build id note of a 64-bit little-endian ELF file, as hex; empty if there is none.
static std::string buildIdOf(llvm::StringRef file) {
  llvm::ELF::Elf64_Ehdr header;
  if (file.size() < sizeof(header) || !file.startswith("\x7f"
                                                       "ELF")) {
    return {};
  }
  std::memcpy(&header, file.data(), sizeof(header));
  for (unsigned i = 0; i < header.e_phnum; ++i) {
    llvm::ELF::Elf64_Phdr segment;
    const std::size_t at = header.e_phoff + std::size_t{i} * sizeof(segment);
    if (at + sizeof(segment) > file.size()) {
      return {};
    }
    std::memcpy(&segment, file.data() + at, sizeof(segment));
    if (segment.p_type != llvm::ELF::PT_NOTE) {
      continue;
    }
    llvm::StringRef notes = file.substr(segment.p_offset, segment.p_filesz);
    while (notes.size() >= 12) {
      std::uint32_t words[3]; // name size, descriptor size, type
      std::memcpy(words, notes.data(), sizeof(words));
      const std::size_t nameBytes = (std::size_t{words[0]} + 3) / 4 * 4;
      if (words[2] == llvm::ELF::NT_GNU_BUILD_ID) {
        return llvm::toHex(notes.substr(12 + nameBytes, words[1]), /*LowerCase=*/true);
      }
      notes = notes.drop_front(
          std::min(notes.size(), 12 + nameBytes + (std::size_t{words[1]} + 3) / 4 * 4));
    }
  }
  return {};
}

/// "<name>:<size>:<build id or hash of both ends>".
static llvm::Expected<std::string> identifyFile(const std::string &path) {
  // Mapped, not read: only the touched pages of the file are loaded.
  auto file = llvm::MemoryBuffer::getFile(path, /*IsText=*/false, /*RequiresNullTerminator=*/false);
  if (!file) {
    return fail(ErrorCode::NvrtcNotFound, llvm::formatv("cannot read {0}: {1}; {2}", path,
                                                        file.getError().message(), kRemedy));
  }
  const llvm::StringRef bytes = (*file)->getBuffer();
  std::string mark = buildIdOf(bytes);
  if (mark.empty()) {
    constexpr std::size_t kEndBytes = 64 << 10;
    mark = sha256HexOfParts({bytes.take_front(kEndBytes), bytes.take_back(kEndBytes)});
  }
  return llvm::formatv("{0}:{1}:{2}", llvm::sys::path::filename(path), bytes.size(), mark).str();
}

/// The builtins libraries beside `path`, sorted; the alternate build's are not ours.
static std::vector<std::string> builtinsBeside(const std::string &path) {
  std::vector<std::string> found;
  std::error_code error;
  const llvm::StringRef folder = llvm::sys::path::parent_path(path);
  for (llvm::sys::fs::directory_iterator it(folder.empty() ? "." : folder, error), end;
       it != end && !error; it.increment(error)) {
    const llvm::StringRef name = llvm::sys::path::filename(it->path());
    if (name.startswith("libnvrtc-builtins.so.")) {
      found.push_back(it->path());
    }
  }
  std::sort(found.begin(), found.end());
  return found;
}

llvm::Expected<std::string> identifyNvrtc(const std::string &path) {
  std::vector<std::string> files = builtinsBeside(path);
  files.insert(files.begin(), path);
  std::string identity = "nvrtc";
  for (const std::string &file : files) {
    llvm::Expected<std::string> part = identifyFile(file);
    if (!part) {
      return part.takeError();
    }
    identity += " " + *part;
  }
  return identity;
}

template <typename Function>
static bool resolve(void *library, const char *name, Function &target) {
  target = reinterpret_cast<Function>(dlsym(library, name));
  return target != nullptr;
}

llvm::Expected<NvrtcLibrary> NvrtcLibrary::load(const std::string &path) {
  for (const std::string &builtins : builtinsBeside(path)) {
    dlopen(builtins.c_str(), RTLD_NOW | RTLD_LOCAL); // if it fails, the first compilation says so
  }
  void *library = dlopen(path.c_str(), RTLD_NOW | RTLD_LOCAL);
  if (library == nullptr) {
    const char *reason = dlerror();
    return fail(ErrorCode::NvrtcNotFound,
                llvm::formatv("cannot load {0}: {1}; {2}", path,
                              reason == nullptr ? "unknown reason" : reason, kRemedy));
  }
  NvrtcLibrary nvrtc;
  const bool isComplete = resolve(library, "nvrtcVersion", nvrtc.version) &&
                          resolve(library, "nvrtcGetErrorString", nvrtc.getErrorString) &&
                          resolve(library, "nvrtcCreateProgram", nvrtc.createProgram) &&
                          resolve(library, "nvrtcDestroyProgram", nvrtc.destroyProgram) &&
                          resolve(library, "nvrtcCompileProgram", nvrtc.compileProgram) &&
                          resolve(library, "nvrtcGetProgramLogSize", nvrtc.getProgramLogSize) &&
                          resolve(library, "nvrtcGetProgramLog", nvrtc.getProgramLog) &&
                          resolve(library, "nvrtcGetPTXSize", nvrtc.getPtxSize) &&
                          resolve(library, "nvrtcGetPTX", nvrtc.getPtx) &&
                          resolve(library, "nvrtcGetCUBINSize", nvrtc.getCubinSize) &&
                          resolve(library, "nvrtcGetCUBIN", nvrtc.getCubin);
  if (!isComplete) {
    return fail(
        ErrorCode::NvrtcNotFound,
        llvm::formatv("{0} is not an NVRTC library of CUDA 12 or newer; {1}", path, kRemedy));
  }
  return nvrtc;
}

} // namespace fp8jit
