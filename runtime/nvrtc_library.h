// Finding, identifying and loading NVRTC. Main entries: findNvrtc, NvrtcLibrary::load.
#pragma once

#include "llvm/ADT/ArrayRef.h"
#include "llvm/Support/Error.h"

#include <nvrtc.h>

#include <string>
#include <vector>

namespace fp8jit {

/// Where NVRTC is looked for.
struct NvrtcSearch {
  /// A library file; when set, nothing else is tried.
  std::string file;
  /// Folders that may hold libnvrtc.so.N, best first.
  std::vector<std::string> folders;

  /// FP8JIT_NVRTC, else the folders of CUDA_HOME, /usr/local/cuda, the CUDA that this build was
  /// configured with (a toolkit, or the layout of the PyPI packages), and the system's.
  static NvrtcSearch fromEnvironment();
};

/// The path of the NVRTC library that would be loaded; newest major version of the first folder
/// that has one. Loads nothing. Errors: NvrtcNotFound naming what was tried and the remedy.
llvm::Expected<std::string> findNvrtc(const NvrtcSearch &search);

/// Identity of a library without reading all of its 110 MB: file name, size, and the build id that
/// the linker derives from the whole content; where there is none, a hash over both ends of the
/// file, which hold the code's start and the section table. The builtins library next to it takes
/// part the same way, because it is part of what a compilation reads. Takes well under a
/// millisecond. Errors: NvrtcNotFound if the file cannot be read.
llvm::Expected<std::string> identifyNvrtc(const std::string &path);

/// NVRTC's entry points. Immutable; NVRTC itself is thread safe. Never unloaded.
struct NvrtcLibrary {
  decltype(&::nvrtcVersion) version = nullptr;
  decltype(&::nvrtcGetErrorString) getErrorString = nullptr;
  decltype(&::nvrtcCreateProgram) createProgram = nullptr;
  decltype(&::nvrtcDestroyProgram) destroyProgram = nullptr;
  decltype(&::nvrtcCompileProgram) compileProgram = nullptr;
  decltype(&::nvrtcGetProgramLogSize) getProgramLogSize = nullptr;
  decltype(&::nvrtcGetProgramLog) getProgramLog = nullptr;
  decltype(&::nvrtcGetPTXSize) getPtxSize = nullptr;
  decltype(&::nvrtcGetPTX) getPtx = nullptr;
  decltype(&::nvrtcGetCUBINSize) getCubinSize = nullptr;
  decltype(&::nvrtcGetCUBIN) getCubin = nullptr;

  /// Opens `path`, after the builtins library of its folder: NVRTC opens that one by its bare name
  /// at the first compilation and fails (BUILTIN_OPERATION_FAILURE) unless it is loaded already.
  /// Errors: NvrtcNotFound.
  static llvm::Expected<NvrtcLibrary> load(const std::string &path);
};

} // namespace fp8jit
