// See the state diagram in store_file.h.
#include "cache/store_file.h"

#include "cache/schema.h"
#include "support/error.h"

#include "llvm/ADT/Twine.h"

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <ctime>
#include <fcntl.h>
#include <filesystem>
#include <sys/file.h>
#include <sys/stat.h>
#include <unistd.h>

namespace fp8jit {

namespace fs = std::filesystem;

namespace {

enum class FileState { Usable, Empty, NewerReadable, Newer, Foreign, Damaged, Failed };

/// Holds an exclusive flock for a scope; the kernel frees it when the process dies.
class FolderLock {
public:
  explicit FolderLock(const std::string &path)
      : descriptor_(::open(path.c_str(), O_RDWR | O_CREAT | O_CLOEXEC, 0600)) {
    isHeld_ = descriptor_ >= 0 && ::flock(descriptor_, LOCK_EX) == 0;
  }
  ~FolderLock() {
    if (descriptor_ >= 0) {
      ::close(descriptor_);
    }
  }
  FolderLock(const FolderLock &) = delete;
  FolderLock &operator=(const FolderLock &) = delete;
  bool isHeld() const { return isHeld_; }

private:
  int descriptor_;
  bool isHeld_;
};

} // namespace

/// A process that creates or commits holds the file for milliseconds; at open it is waited for.
static constexpr int kOpenWaitMs = 2000;
static constexpr std::size_t kKeptCorruptFiles = 3;
/// The second name serves when the first belongs to a newer version of the program.
static constexpr const char *kFileNames[] = {"fp8jit-v1.db", "fp8jit-v1.schema1.db"};

std::string storeFilePath(llvm::StringRef directory) {
  return (fs::path(directory.str()) / kFileNames[0]).string();
}

std::uint64_t inodeOf(const std::string &path) {
  struct stat status {};
  return ::stat(path.c_str(), &status) == 0 ? status.st_ino : 0;
}

static llvm::Error cacheError(const llvm::Twine &message) {
  return fail(ErrorCode::CacheError, message);
}

/// Creates the folder with mode 0700, and refuses one that another user could have filled: stored
/// binaries are code.
static llvm::Error prepareDirectory(const std::string &directory, bool readOnly) {
  if (directory.empty()) {
    return cacheError("no cache folder: pass one, or set FP8JIT_CACHE_DIR, XDG_CACHE_HOME or HOME");
  }
  std::error_code error;
  const fs::path path(directory);
  if (!readOnly && !fs::exists(path, error)) {
    if (path.has_parent_path()) {
      fs::create_directories(path.parent_path(), error);
    }
    if (::mkdir(directory.c_str(), 0700) != 0 && errno != EEXIST) {
      return cacheError("cannot create the cache folder " + llvm::Twine(directory) + ": " +
                        std::strerror(errno));
    }
  }
  struct stat status {};
  if (::stat(directory.c_str(), &status) != 0) {
    return cacheError("cannot read the cache folder " + llvm::Twine(directory) + ": " +
                      std::strerror(errno));
  }
  if (!S_ISDIR(status.st_mode)) {
    return cacheError("cache folder " + llvm::Twine(directory) + " is a file, expected a folder");
  }
  if (status.st_uid != ::geteuid()) {
    return cacheError("cache folder " + llvm::Twine(directory) + " belongs to user " +
                      llvm::Twine(status.st_uid) + ", expected user " + llvm::Twine(::geteuid()) +
                      ": name a folder of your own");
  }
  return llvm::Error::success();
}

static FileState stateOf(SqlResult result) {
  return result == SqlResult::Damaged ? FileState::Damaged : FileState::Failed;
}

/// Opens `path` and says what it is.
static FileState inspect(const std::string &path, bool readOnly, Database &database) {
  SqlResult result =
      Database::open(path, readOnly ? OpenMode::ReadOnly : OpenMode::Create, database);
  if (result != SqlResult::Done) {
    return stateOf(result);
  }
  database.setBusyTimeout(kOpenWaitMs);
  std::int64_t objects = 0;
  std::int64_t applicationId = 0;
  std::int64_t version = 0;
  const std::pair<const char *, std::int64_t *> queries[] = {
      {sql::kObjectCount, &objects},
      {sql::kApplicationIdQuery, &applicationId},
      {sql::kSchemaVersionQuery, &version}};
  for (const auto &[query, value] : queries) {
    result = database.queryInteger(query, *value);
    if (result != SqlResult::Row) {
      return stateOf(result);
    }
  }
  // No bytes at all, or one page without a table: what an unfinished creation leaves.
  if (objects == 0 && applicationId == 0 && version == 0) {
    return FileState::Empty;
  }
  if (applicationId != sql::kApplicationId || version < sql::kSchemaVersion) {
    return FileState::Foreign;
  }
  std::int64_t readerMinimum = 0;
  result = database.queryInteger(sql::kReaderMinimum, readerMinimum);
  if (version == sql::kSchemaVersion) {
    // Without this row the file claims a schema that it does not have.
    return result == SqlResult::Row    ? FileState::Usable
           : result == SqlResult::Busy ? FileState::Failed
                                       : FileState::Damaged;
  }
  return result == SqlResult::Row && readerMinimum <= sql::kSchemaVersion ? FileState::NewerReadable
                                                                          : FileState::Newer;
}

static void removeOldCorruptFiles(const std::string &path) {
  const fs::path file(path);
  const std::string prefix = file.filename().string() + ".corrupt-";
  std::vector<fs::path> found;
  std::error_code error;
  for (fs::directory_iterator it(file.parent_path(), error), end; !error && it != end;
       it.increment(error)) {
    const std::string name = it->path().filename().string();
    const bool isJournal = llvm::StringRef(name).endswith("-wal") ||
                           llvm::StringRef(name).endswith("-shm") ||
                           llvm::StringRef(name).endswith("-journal");
    if (llvm::StringRef(name).startswith(prefix) && !isJournal) {
      found.push_back(it->path());
    }
  }
  std::sort(found.begin(), found.end()); // the UTC time leads, so the oldest come first
  for (std::size_t i = 0; i + kKeptCorruptFiles < found.size(); ++i) {
    for (const char *suffix : {"", "-wal", "-shm", "-journal"}) {
      fs::remove(found[i].string() + suffix, error);
    }
  }
}

llvm::Error moveStoreFileAside(const std::string &path, std::uint64_t inode) {
  const FolderLock lock(path + ".lock");
  if (!lock.isHeld()) {
    return cacheError("cannot lock " + llvm::Twine(path) + ".lock: " + std::strerror(errno));
  }
  if (inodeOf(path) != inode) {
    return llvm::Error::success(); // another process has replaced it
  }
  const std::time_t now = std::time(nullptr);
  std::tm utc{};
  ::gmtime_r(&now, &utc);
  char stamp[32];
  std::strftime(stamp, sizeof(stamp), "%Y%m%dT%H%M%SZ", &utc);
  const std::string target = path + ".corrupt-" + stamp + "-" + std::to_string(::getpid());
  for (const char *suffix : {"-wal", "-shm", "-journal", ""}) {
    std::error_code error;
    fs::rename(path + suffix, target + suffix, error);
    if (error && error != std::errc::no_such_file_or_directory) {
      return cacheError("cannot move the damaged " + llvm::Twine(path) + suffix +
                        " aside: " + error.message());
    }
  }
  removeOldCorruptFiles(path);
  return llvm::Error::success();
}

/// Fills an empty file. Two processes that create the same SQLite file at the same moment fail each
/// other, so the folder's lock comes first and the file is looked at again under it.
static FileState create(StoreFile &file) {
  file.database = Database();
  const FolderLock lock(file.path + ".lock");
  const FileState state = inspect(file.path, /*readOnly=*/false, file.database);
  if (state != FileState::Empty || !lock.isHeld()) {
    return state;
  }
  const SqlResult result = sql::createSchema(file.database);
  return result == SqlResult::Done ? FileState::Usable : stateOf(result);
}

/// One file name: inspects, creates, replaces. An empty path in the result means that the next name
/// is to be tried.
static llvm::Expected<StoreFile> openNamed(const Store::Options &options, const std::string &path) {
  struct stat status {};
  if (::stat(path.c_str(), &status) == 0 && !S_ISREG(status.st_mode)) {
    return cacheError("cannot use the cache " + llvm::Twine(path) + ": it is not a regular file");
  }
  for (int attempt = 0; attempt < 2; ++attempt) {
    StoreFile file{.database = {}, .path = path};
    FileState state = inspect(path, options.readOnly, file.database);
    file.inode = inodeOf(path);
    if (state == FileState::Empty && !options.readOnly) {
      state = create(file);
    }
    switch (state) {
    case FileState::NewerReadable:
      options.onWarning("cache " + path + " has a newer schema: it is read, not written");
      file.isReadOnly = true;
      [[fallthrough]];
    case FileState::Usable:
      file.isReadOnly |= options.readOnly || file.database.isReadOnly();
      file.database.setBusyTimeout(kLookupWaitMs);
      return file;
    case FileState::Newer:
      options.onWarning("cache " + path + " has a newer schema and is left alone");
      return StoreFile{};
    case FileState::Empty:
    case FileState::Failed:
      return cacheError("cannot use the cache " + llvm::Twine(path) + ": " +
                        (state == FileState::Empty ? "it is empty" : file.database.message()));
    case FileState::Foreign:
    case FileState::Damaged:
      break;
    }
    const char *reason =
        state == FileState::Foreign ? "is not a cache of this program" : "is damaged";
    file.database = Database();
    if (options.readOnly) {
      return cacheError("cache " + llvm::Twine(path) + " " + reason);
    }
    if (llvm::Error error = moveStoreFileAside(path, file.inode)) {
      return error;
    }
    options.onWarning("cache " + path + " " + reason + ": moved aside, a new one is made");
  }
  return cacheError("cache " + llvm::Twine(path) + " was replaced and is damaged again");
}

llvm::Expected<StoreFile> openStoreFile(const Store::Options &options) {
  if (llvm::Error error = prepareDirectory(options.directory, options.readOnly)) {
    return error;
  }
  for (const char *name : kFileNames) {
    llvm::Expected<StoreFile> file =
        openNamed(options, (fs::path(options.directory) / name).string());
    if (!file || !file->path.empty()) {
      return file;
    }
  }
  return cacheError("every cache file in " + llvm::Twine(options.directory) +
                    " has a newer schema: update fp8jit or name another folder");
}

} // namespace fp8jit
