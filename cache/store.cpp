// Connections, locking and recovery; the rows themselves are in *_rows.cpp.
#include "cache/store.h"

#include "cache/payload.h"
#include "cache/schema.h"
#include "cache/store_file.h"
#include "cache/store_rows.h"
#include "support/environment.h"
#include "support/error.h"

#include "llvm/ADT/STLExtras.h"
#include "llvm/ADT/SmallString.h"
#include "llvm/Support/Path.h"

#include <ctime>
#include <mutex>

namespace fp8jit {

/// Using a binary marks it as used when the last mark is older than this; else reads would be
/// writes.
static constexpr std::int64_t kTouchSeconds = 24 * 60 * 60;

class Store::Impl {
public:
  Impl(Options options, StoreFile file)
      : path(file.path), maxBytes(options.maxBytes), options_(std::move(options)),
        file_(std::move(file)) {}

  using Body = llvm::function_ref<SqlResult(RowReader)>;

  /// Runs a look-up. Whatever goes wrong, `body` has found nothing.
  void read(Body body);
  /// Runs one transaction. Errors: CacheError.
  llvm::Error write(llvm::StringRef what, Body body);
  /// Marks a binary as used, unless that means waiting.
  void touch(llvm::StringRef key);

  const std::string path;
  const std::int64_t maxBytes;
  std::int64_t rejectedRows = 0; ///< bad rows met by look-ups; guarded by readMutex_

private:
  SqlResult openWriter();
  void recover(std::uint64_t inode);
  void reopen();

  const Options options_;

  // Lock order: writeMutex_ before readMutex_. file_ changes only under both.
  std::mutex writeMutex_;
  Database writer_;
  LookupStatements writerStatements_;

  std::mutex readMutex_;
  StoreFile file_;
  LookupStatements readerStatements_;
};

void Store::Impl::read(Body body) {
  SqlResult result = SqlResult::Done;
  std::uint64_t inode = 0;
  {
    const std::lock_guard<std::mutex> lock(readMutex_);
    if (!file_.database) {
      return;
    }
    inode = file_.inode;
    result = body({file_.database, readerStatements_, rejectedRows});
  }
  if (result == SqlResult::Damaged) {
    const std::lock_guard<std::mutex> lock(writeMutex_);
    recover(inode);
  }
}

/// Opens the writing connection if there is none, and moves to the file's successor if another
/// process has replaced it. Holds writeMutex_.
SqlResult Store::Impl::openWriter() {
  if (inodeOf(path) != file_.inode) {
    reopen();
  }
  if (file_.isReadOnly) {
    return SqlResult::ReadOnly;
  }
  if (writer_ || !file_.database) {
    return writer_ ? SqlResult::Done : SqlResult::Failed;
  }
  SqlResult result = Database::open(path, OpenMode::Create, writer_);
  if (result == SqlResult::Done) {
    writer_.setBusyTimeout(kWriteWaitMs);
    result = sql::configureWriter(writer_, options_.maxBytes);
  }
  return result;
}

llvm::Error Store::Impl::write(llvm::StringRef what, Body body) {
  const std::lock_guard<std::mutex> lock(writeMutex_);
  SqlResult result = openWriter();
  if (result == SqlResult::Done) {
    std::int64_t rejected = 0;
    Transaction transaction(writer_);
    result = transaction.begin();
    if (result == SqlResult::Done) {
      result = body({writer_, writerStatements_, rejected});
    }
    if (result == SqlResult::Done) {
      result = transaction.commit();
    }
  }
  const std::string context = "cannot store " + what.str() + " in " + path + ": ";
  switch (result) {
  case SqlResult::Done:
  case SqlResult::Row:
    return llvm::Error::success();
  case SqlResult::Busy:
    return fail(ErrorCode::CacheError, context + "locked by another process");
  case SqlResult::ReadOnly:
    return fail(ErrorCode::CacheError, context + "it is read only");
  case SqlResult::Full:
    return fail(ErrorCode::CacheError, context + "no space is left (disk, or the cap of the file)");
  case SqlResult::Damaged:
    recover(file_.inode);
    return fail(ErrorCode::CacheError, context + "the file was damaged and has been replaced");
  case SqlResult::Failed:
    return fail(ErrorCode::CacheError, context + writer_.message());
  }
  return llvm::Error::success();
}

/// Replaces the file `inode`, found damaged. Holds writeMutex_.
void Store::Impl::recover(std::uint64_t inode) {
  if (file_.inode != inode) {
    return; // another thread has done it
  }
  {
    const std::lock_guard<std::mutex> lock(readMutex_);
    readerStatements_ = {};
    file_.database = {};
  }
  writerStatements_ = {};
  writer_ = {};
  if (file_.isReadOnly) {
    options_.onWarning("cache " + path + " is damaged and read only: it is not used any more");
    return;
  }
  if (llvm::Error error = moveStoreFileAside(path, inode)) {
    options_.onWarning(takeFailure(std::move(error)).text());
    return;
  }
  options_.onWarning("cache " + path + " is damaged: moved aside, a new one is made");
  reopen();
}

/// Opens what is at the path now. On failure the store finds nothing from here on. Holds
/// writeMutex_.
void Store::Impl::reopen() {
  const std::lock_guard<std::mutex> lock(readMutex_);
  readerStatements_ = {};
  writerStatements_ = {};
  writer_ = {};
  file_.database = {};
  llvm::Expected<StoreFile> file = openStoreFile(options_);
  if (!file) {
    options_.onWarning(takeFailure(file.takeError()).text());
    return;
  }
  file_ = std::move(*file);
}

void Store::Impl::touch(llvm::StringRef key) {
  const std::unique_lock<std::mutex> lock(writeMutex_, std::try_to_lock);
  if (!lock || openWriter() != SqlResult::Done) {
    return;
  }
  writer_.setBusyTimeout(0);
  // A mark that is not written makes the binary look older than it is, and does no other harm.
  [[maybe_unused]] const SqlResult result = touchBinary(writer_, key, std::time(nullptr));
  writer_.setBusyTimeout(kWriteWaitMs);
}

Store::Store(std::unique_ptr<Impl> impl) : impl_(std::move(impl)) {}
Store::~Store() = default;

llvm::Expected<std::unique_ptr<Store>> Store::open(Options options) {
  if (!options.onWarning) {
    options.onWarning = [](llvm::StringRef) {};
  }
  llvm::Expected<StoreFile> file = openStoreFile(options);
  if (!file) {
    return file.takeError();
  }
  return std::unique_ptr<Store>(
      new Store(std::make_unique<Impl>(std::move(options), std::move(*file))));
}

const std::string &Store::path() const {
  return impl_->path;
}

std::optional<Winner> Store::findWinner(const WinnerKey &key) {
  std::optional<Winner> winner;
  impl_->read([&](RowReader reader) { return readWinner(reader, key, winner); });
  return winner;
}

std::optional<StoredBinary> Store::findBinary(llvm::StringRef kernelKey) {
  const std::string key = keyFromHex(kernelKey);
  std::optional<StoredBinary> binary;
  std::int64_t lastUsedAt = 0;
  if (!key.empty()) {
    impl_->read([&](RowReader reader) { return readBinary(reader, key, binary, lastUsedAt); });
  }
  if (binary && lastUsedAt + kTouchSeconds < std::time(nullptr)) {
    impl_->touch(key);
  }
  return binary;
}

std::vector<Trial> Store::findTrials(const WinnerKey &key) {
  std::vector<Trial> trials;
  impl_->read([&](RowReader reader) { return readTrials(reader.database, key, trials); });
  return trials;
}

std::vector<ListedWinner> Store::listWinners() {
  std::vector<ListedWinner> winners;
  impl_->read([&](RowReader reader) { return readAllWinners(reader, winners); });
  return winners;
}

StoreStats Store::stats() {
  StoreStats stats;
  impl_->read([&](RowReader reader) {
    stats.rejectedRows = reader.rejectedRows;
    return readStats(reader.database, stats);
  });
  return stats;
}

/// A key that would be stored as something else is the caller's mistake.
static llvm::Error checkKernelKey(llvm::StringRef key, bool mayBeEmpty) {
  if ((key.empty() && mayBeEmpty) || !keyFromHex(key).empty()) {
    return llvm::Error::success();
  }
  return fail(ErrorCode::InvalidArgument,
              "kernel key '" + key + "', expected 64 lower-case hex digits");
}

llvm::Error Store::putWinner(const WinnerKey &key, const Winner &winner) {
  if (llvm::Error error = checkKernelKey(winner.kernelKey, true)) {
    return error;
  }
  return impl_->write("a winner",
                      [&](RowReader writer) { return writeWinner(writer, key, winner); });
}

llvm::Error Store::putTrials(const WinnerKey &key, const std::vector<Trial> &trials) {
  for (const Trial &trial : trials) {
    if (llvm::Error error = checkKernelKey(trial.kernelKey, true)) {
      return error;
    }
  }
  return impl_->write("trials",
                      [&](RowReader writer) { return writeTrials(writer.database, key, trials); });
}

llvm::Error Store::markStarted(const WinnerKey &key, llvm::StringRef config) {
  Trial trial;
  trial.config = config.str();
  trial.status = "started";
  trial.provenance = "modelled"; // nothing has been measured
  return putTrials(key, {trial});
}

std::vector<std::string> Store::findQuarantined(const WinnerKey &key) {
  std::vector<std::string> configs;
  llvm::Error error = impl_->write("crashed trials", [&](RowReader writer) {
    const SqlResult result = strikeCrashed(writer.database, key);
    return result == SqlResult::Done ? readQuarantined(writer.database, key, configs) : result;
  });
  // A cache that cannot be written keeps no strikes either: nothing is in quarantine.
  llvm::consumeError(std::move(error));
  return configs;
}

llvm::Error Store::putBinary(llvm::StringRef kernelKey, const StoredBinary &binary) {
  if (llvm::Error error = checkKernelKey(kernelKey, false)) {
    return error;
  }
  const std::string key = keyFromHex(kernelKey);
  return impl_->write("a binary", [&](RowReader writer) {
    const SqlResult result = evictBinaries(writer.database, impl_->maxBytes);
    return result == SqlResult::Done ? writeBinary(writer, key, binary) : result;
  });
}

std::string cacheDirectory(llvm::StringRef explicitDirectory) {
  if (!explicitDirectory.empty()) {
    return explicitDirectory.str();
  }
  const std::pair<EnvironmentVariable, const char *> ladder[] = {
      {EnvironmentVariable::CacheDirectory, ""},
      {EnvironmentVariable::XdgCacheHome, "fp8jit"},
      {EnvironmentVariable::Home, ".cache/fp8jit"}};
  for (const auto &[variable, below] : ladder) {
    const std::string value = readEnvironment(variable);
    if (!value.empty()) {
      llvm::SmallString<128> path(value);
      llvm::sys::path::append(path, below);
      return path.str().str();
    }
  }
  return {};
}

std::unique_ptr<Store> openUserStore(llvm::StringRef requested, const WarningSink &onWarning) {
  if (requested == "none") {
    return nullptr;
  }
  const std::string directory = cacheDirectory(requested);
  if (directory.empty()) {
    onWarning("no cache: FP8JIT_CACHE_DIR, XDG_CACHE_HOME and HOME are unset; kernels are compiled "
              "again in every process");
    return nullptr;
  }
  llvm::Expected<std::unique_ptr<Store>> store =
      Store::open({.directory = directory, .onWarning = onWarning});
  if (!store) {
    onWarning("no cache: " + takeFailure(store.takeError()).text());
    return nullptr;
  }
  return std::move(*store);
}

} // namespace fp8jit
