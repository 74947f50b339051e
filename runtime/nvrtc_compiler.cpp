#include "runtime/nvrtc_compiler.h"

#include "support/error.h"

#include "llvm/ADT/StringExtras.h"
#include "llvm/Support/FormatVariadic.h"

#include <chrono>

namespace fp8jit {

namespace {

/// An nvrtcProgram that destroys itself.
class Program {
public:
  Program(const NvrtcLibrary &nvrtc, const std::string &source) : nvrtc_(nvrtc) {
    result_ = nvrtc.createProgram(&handle_, source.c_str(), "fp8jit.cu", 0, nullptr, nullptr);
  }
  Program(const Program &) = delete;
  Program &operator=(const Program &) = delete;
  ~Program() {
    if (handle_ != nullptr) {
      nvrtc_.destroyProgram(&handle_);
    }
  }

  nvrtcResult compile(const std::vector<std::string> &options) {
    if (result_ != NVRTC_SUCCESS) {
      return result_;
    }
    std::vector<const char *> texts;
    for (const std::string &option : options) {
      texts.push_back(option.c_str());
    }
    return nvrtc_.compileProgram(handle_, static_cast<int>(texts.size()), texts.data());
  }

  /// One of the texts or images of the program; empty where NVRTC has none.
  template <typename GetSize, typename Get>
  std::string output(GetSize getSize, Get get, bool isText) const {
    std::size_t size = 0;
    if (handle_ == nullptr || getSize(handle_, &size) != NVRTC_SUCCESS || size == 0) {
      return {};
    }
    std::string bytes(size, '\0');
    if (get(handle_, bytes.data()) != NVRTC_SUCCESS) {
      return {};
    }
    if (isText && bytes.back() == '\0') {
      bytes.pop_back();
    }
    return bytes;
  }

private:
  const NvrtcLibrary &nvrtc_;
  nvrtcProgram handle_ = nullptr;
  nvrtcResult result_ = NVRTC_SUCCESS;
};

} // namespace

/// The first line of a log that reports an error, else its first line.
static llvm::StringRef firstErrorLine(llvm::StringRef log) {
  llvm::SmallVector<llvm::StringRef, 16> lines;
  log.split(lines, '\n', -1, /*KeepEmpty=*/false);
  for (const llvm::StringRef line : lines) {
    if (line.contains("error") || line.contains("fatal")) {
      return line.trim();
    }
  }
  return lines.empty() ? llvm::StringRef("no log") : lines.front().trim();
}

static llvm::Error compileFailure(const NvrtcLibrary &nvrtc, nvrtcResult result,
                                  const CompileRequest &request, const std::string &log,
                                  const std::string &path) {
  int major = 0;
  int minor = 0;
  nvrtc.version(&major, &minor);
  const std::string details =
      llvm::formatv("library: {0} ({1}.{2})\noptions: {3}\n\nlog:\n{4}\n\nsource:\n{5}", path,
                    major, minor, llvm::join(request.options, " "), log, request.source)
          .str();
  return fail(ErrorCode::CompileError,
              llvm::formatv("NVRTC {0}.{1} refused the source: {2}: {3}", major, minor,
                            nvrtc.getErrorString(result), firstErrorLine(log)),
              details);
}

std::shared_ptr<NvrtcCompiler> NvrtcCompiler::create(NvrtcSearch search) {
  return std::shared_ptr<NvrtcCompiler>(new NvrtcCompiler(std::move(search)));
}

llvm::Error NvrtcCompiler::locate() {
  if (!identity_.empty()) {
    return llvm::Error::success();
  }
  llvm::Expected<std::string> path = findNvrtc(search_);
  if (!path) {
    return path.takeError();
  }
  llvm::Expected<std::string> identity = identifyNvrtc(*path);
  if (!identity) {
    return identity.takeError();
  }
  path_ = std::move(*path);
  identity_ = std::move(*identity);
  return llvm::Error::success();
}

llvm::Expected<std::string> NvrtcCompiler::identity() {
  const std::lock_guard lock(mutex_);
  if (llvm::Error error = locate()) {
    return error;
  }
  return identity_;
}

llvm::Expected<std::string> NvrtcCompiler::libraryPath() {
  const std::lock_guard lock(mutex_);
  if (llvm::Error error = locate()) {
    return error;
  }
  return path_;
}

llvm::Expected<NvrtcLibrary> NvrtcCompiler::library() {
  const std::lock_guard lock(mutex_);
  if (llvm::Error error = locate()) {
    return error;
  }
  if (!library_) {
    llvm::Expected<NvrtcLibrary> loaded = NvrtcLibrary::load(path_);
    if (!loaded) {
      return loaded.takeError();
    }
    library_ = *loaded;
  }
  return *library_;
}

llvm::Expected<CompiledProgram> NvrtcCompiler::compile(const CompileRequest &request) {
  llvm::Expected<NvrtcLibrary> nvrtc = library();
  if (!nvrtc) {
    return nvrtc.takeError();
  }
  const auto start = std::chrono::steady_clock::now();
  Program program(*nvrtc, request.source);
  const nvrtcResult result = program.compile(request.options);
  CompiledProgram compiled;
  compiled.log = program.output(nvrtc->getProgramLogSize, nvrtc->getProgramLog, true);
  if (result != NVRTC_SUCCESS) {
    return compileFailure(*nvrtc, result, request, compiled.log, path_);
  }
  compiled.ptx = program.output(nvrtc->getPtxSize, nvrtc->getPtx, true);
  compiled.cubin = program.output(nvrtc->getCubinSize, nvrtc->getCubin, false);
  compiled.compileMs =
      std::chrono::duration<double, std::milli>(std::chrono::steady_clock::now() - start).count();
  if (compiled.ptx.empty()) {
    return fail(ErrorCode::CompileError, "NVRTC compiled the source but gave no PTX",
                compiled.log + "\n\nsource:\n" + request.source);
  }
  return compiled;
}

} // namespace fp8jit
