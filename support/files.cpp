#include "support/files.h"

#include "support/error.h"

#include "llvm/ADT/SmallString.h"
#include "llvm/Support/FileSystem.h"
#include "llvm/Support/Path.h"
#include "llvm/Support/Process.h"
#include "llvm/Support/Signals.h"
#include "llvm/Support/raw_ostream.h"

#include <utility>

namespace fp8jit {

namespace fs = llvm::sys::fs;

static llvm::Error cannot(const char *action, llvm::StringRef path, const llvm::Twine &reason) {
  return fail(ErrorCode::InvalidArgument, "file " + path + ": cannot " + action + ": " + reason);
}

llvm::Expected<std::int64_t> fileSize(llvm::StringRef path) {
  fs::file_status status;
  if (const std::error_code error = fs::status(path, status)) {
    if (error == std::errc::no_such_file_or_directory || error == std::errc::not_a_directory) {
      return fail(ErrorCode::NotFound, "file " + path + ": does not exist");
    }
    return cannot("read", path, error.message());
  }
  if (status.type() != fs::file_type::regular_file) {
    return cannot("read", path,
                  status.type() == fs::file_type::directory_file ? "it is a folder, expected a file"
                                                                 : "it is not a regular file");
  }
  return static_cast<std::int64_t>(status.getSize());
}

/// Fills `bytes` from the open `file`.
static llvm::Error readOpenFile(fs::file_t file, llvm::StringRef path, std::int64_t offset,
                                llvm::MutableArrayRef<std::uint8_t> bytes) {
  std::size_t done = 0;
  while (done < bytes.size()) {
    const llvm::MutableArrayRef<std::uint8_t> rest = bytes.drop_front(done);
    llvm::Expected<std::size_t> count = fs::readNativeFileSlice(
        file, llvm::MutableArrayRef<char>(reinterpret_cast<char *>(rest.data()), rest.size()),
        static_cast<std::uint64_t>(offset) + done);
    if (!count) {
      return cannot("read", path, llvm::toString(count.takeError()));
    }
    if (*count == 0) {
      return cannot("read", path, "it became shorter while being read");
    }
    done += *count;
  }
  return llvm::Error::success();
}

llvm::Error readFileInto(llvm::StringRef path, std::int64_t offset,
                         llvm::MutableArrayRef<std::uint8_t> bytes) {
  llvm::Expected<std::int64_t> available = fileSize(path);
  if (!available) {
    return available.takeError();
  }
  const auto wanted = static_cast<std::int64_t>(bytes.size());
  if (offset > *available || wanted > *available - offset) {
    return cannot("read", path,
                  "it has " + llvm::Twine(*available) + " bytes, expected at least " +
                      llvm::Twine(offset) + " + " + llvm::Twine(wanted));
  }
  llvm::Expected<fs::file_t> file = fs::openNativeFileForRead(path);
  if (!file) {
    return cannot("read", path, llvm::toString(file.takeError()));
  }
  llvm::Error error = readOpenFile(*file, path, offset, bytes);
  fs::closeFile(*file);
  return error;
}

llvm::Expected<std::string> readFileRange(llvm::StringRef path, std::int64_t offset,
                                          std::int64_t sizeBytes) {
  std::string bytes(static_cast<std::size_t>(sizeBytes), '\0');
  const llvm::MutableArrayRef<std::uint8_t> target(reinterpret_cast<std::uint8_t *>(bytes.data()),
                                                   bytes.size());
  if (llvm::Error error = readFileInto(path, offset, target)) {
    return error;
  }
  return bytes;
}

llvm::Expected<std::int64_t> readableFileSize(llvm::StringRef path) {
  if (llvm::Error error = readFileInto(path, 0, {})) {
    return error;
  }
  return fileSize(path);
}

llvm::Expected<std::string> readFile(llvm::StringRef path) {
  llvm::Expected<std::int64_t> size = fileSize(path);
  if (!size) {
    return size.takeError();
  }
  return readFileRange(path, 0, *size);
}

std::string canonicalPath(llvm::StringRef path) {
  llvm::SmallString<256> resolved;
  if (!fs::real_path(path, resolved)) {
    return resolved.str().str();
  }
  llvm::SmallString<256> folder(llvm::sys::path::parent_path(path));
  if (fs::real_path(folder.empty() ? "." : folder.str(), resolved)) {
    return path.str(); // no such folder: nothing else names a file in it
  }
  llvm::sys::path::append(resolved, llvm::sys::path::filename(path));
  return resolved.str().str();
}

namespace {

/// A new file beside `path` that becomes `path`, or vanishes again.
class TemporaryFile {
public:
  static llvm::Expected<TemporaryFile> createBeside(llvm::StringRef path);
  TemporaryFile(TemporaryFile &&other) noexcept
      : name_(std::move(other.name_)), descriptor_(std::exchange(other.descriptor_, -1)) {}
  TemporaryFile &operator=(TemporaryFile &&) = delete;
  ~TemporaryFile();

  int descriptor() const { return descriptor_; }
  std::error_code moveTo(llvm::StringRef path);

private:
  TemporaryFile(std::string name, int descriptor)
      : name_(std::move(name)), descriptor_(descriptor) {}

  std::string name_; ///< empty once moved
  int descriptor_;
};

} // namespace

llvm::Expected<TemporaryFile> TemporaryFile::createBeside(llvm::StringRef path) {
  constexpr int kMostTries = 100;
  std::error_code error;
  for (int i = 0; i < kMostTries; ++i) {
    const unsigned random = llvm::sys::Process::GetRandomNumber();
    std::string name = (path + ".tmp-" + llvm::Twine::utohexstr(random)).str();
    int descriptor = -1;
    error = fs::openFileForWrite(name, descriptor, fs::CD_CreateNew);
    if (!error) {
      llvm::sys::RemoveFileOnSignal(name);
      return TemporaryFile(std::move(name), descriptor);
    }
    if (error != std::errc::file_exists) {
      break;
    }
  }
  return cannot("write", path, error.message());
}

TemporaryFile::~TemporaryFile() {
  if (descriptor_ < 0) {
    return;
  }
  llvm::sys::Process::SafelyCloseFileDescriptor(descriptor_);
  if (!name_.empty()) {
    fs::remove(name_);
    llvm::sys::DontRemoveFileOnSignal(name_);
  }
}

std::error_code TemporaryFile::moveTo(llvm::StringRef path) {
  if (const std::error_code error = fs::rename(name_, path)) {
    return error;
  }
  llvm::sys::DontRemoveFileOnSignal(name_);
  name_.clear();
  return {};
}

/// Refuses what a rename onto `path` would not turn into a file that the caller may write.
static llvm::Error checkTarget(llvm::StringRef path) {
  if (path.empty()) {
    return fail(ErrorCode::InvalidArgument, "output file: found an empty name");
  }
  fs::file_status status;
  if (fs::status(path, status)) {
    return llvm::Error::success(); // making the temporary file tells what is wrong, if anything is
  }
  if (status.type() == fs::file_type::directory_file) {
    return cannot("write", path, "it is a folder, expected a file");
  }
  if (status.type() != fs::file_type::regular_file) {
    return cannot("write", path, "it is not a regular file");
  }
  if (fs::access(path, fs::AccessMode::Write)) {
    return cannot("write", path, "it is write protected");
  }
  return llvm::Error::success();
}

llvm::Error checkWritable(llvm::StringRef path) {
  if (llvm::Error error = checkTarget(path)) {
    return error;
  }
  llvm::Expected<TemporaryFile> file = TemporaryFile::createBeside(path);
  return file ? llvm::Error::success() : file.takeError();
}

llvm::Error writeFileAtomically(llvm::StringRef path, llvm::ArrayRef<llvm::StringRef> parts) {
  if (llvm::Error error = checkTarget(path)) {
    return error;
  }
  llvm::Expected<TemporaryFile> file = TemporaryFile::createBeside(path);
  if (!file) {
    return file.takeError();
  }
  llvm::raw_fd_ostream os(file->descriptor(), /*shouldClose=*/false);
  for (const llvm::StringRef part : parts) {
    os << part;
  }
  os.flush();
  std::error_code error = os.error();
  os.clear_error();
  if (!error) {
    error = file->moveTo(path);
  }
  return error ? cannot("write", path, error.message()) : llvm::Error::success();
}

} // namespace fp8jit
