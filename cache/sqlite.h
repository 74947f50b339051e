// A thin RAII layer over SQLite: the only place that calls sqlite3 functions is sqlite.cpp. Results
// are codes and not errors, because a look-up that meets a locked or damaged file is a miss and
// must cost nothing. Main entries: Database, Statement.
#pragma once

#include "llvm/ADT/ArrayRef.h"
#include "llvm/ADT/StringRef.h"

#include <cstdint>
#include <memory>
#include <string>

struct sqlite3;
struct sqlite3_stmt;

namespace fp8jit {

/// What a step or a command came to.
enum class SqlResult {
  Row,      ///< a row is there to read
  Done,     ///< finished
  Busy,     ///< locked by another connection for longer than the busy timeout
  Damaged,  ///< not a database, malformed, or an I/O error such as a short read
  Full,     ///< no space on the disk, or the page limit is reached
  ReadOnly, ///< the file or its folder cannot be written
  Failed,   ///< anything else; Database::message() says what
};

/// A prepared statement. Parameters are numbered from 1, columns from 0. Not thread safe.
class Statement {
public:
  Statement() = default;
  explicit operator bool() const { return handle_ != nullptr; }

  /// The bytes are copied.
  void bindText(int index, llvm::StringRef text);
  void bindBlob(int index, llvm::StringRef bytes);
  void bindInteger(int index, std::int64_t value);
  void bindReal(int index, double value);
  void bindNull(int index);

  [[nodiscard]] SqlResult step();
  /// Ends the read, keeps the parameters. Releases the lock that step() took.
  void reset();

  std::int64_t integer(int column) const;
  double real(int column) const;
  bool isNull(int column) const;
  /// Bytes of a text or blob column, valid until the next step or reset.
  llvm::StringRef bytes(int column) const;

private:
  friend class Database;
  struct Finalizer {
    void operator()(sqlite3_stmt *statement) const noexcept;
  };
  std::unique_ptr<sqlite3_stmt, Finalizer> handle_;
};

/// Resets a statement at the end of a scope, so that no look-up keeps its read lock.
class ResetGuard {
public:
  explicit ResetGuard(Statement &statement) : statement_(statement) {}
  ~ResetGuard() { statement_.reset(); }
  ResetGuard(const ResetGuard &) = delete;
  ResetGuard &operator=(const ResetGuard &) = delete;

private:
  Statement &statement_;
};

/// How a file is opened. Create also writes; the file appears with mode 0600.
enum class OpenMode { ReadOnly, Create };

/// One connection. Not thread safe; never used across fork.
class Database {
public:
  Database() = default;
  explicit operator bool() const { return handle_ != nullptr; }

  /// Opens `path` into `database` and applies the settings of every connection: no extensions,
  /// defensive mode, untrusted schema, checked cells, no memory map.
  [[nodiscard]] static SqlResult open(const std::string &path, OpenMode mode, Database &database);

  /// Runs statements that take no parameters and whose rows do not matter.
  [[nodiscard]] SqlResult execute(const char *sql);
  [[nodiscard]] SqlResult prepare(const char *sql, Statement &statement);
  /// Prepares `statement` unless that has been done; for statements that are kept.
  [[nodiscard]] SqlResult prepareOnce(const char *sql, Statement &statement);
  /// The integer that a statement such as "PRAGMA page_count" answers.
  [[nodiscard]] SqlResult queryInteger(const char *sql, std::int64_t &value);

  /// How long a locked file is waited for before Busy.
  void setBusyTimeout(int milliseconds);
  /// Whether the file was opened for reading only, asked for or not.
  bool isReadOnly() const;
  std::int64_t lastInsertId() const;
  /// SQLite's description of the last failure.
  std::string message() const;

private:
  friend class Transaction;
  struct Closer {
    void operator()(sqlite3 *handle) const noexcept;
  };
  std::unique_ptr<sqlite3, Closer> handle_;
};

/// BEGIN IMMEDIATE ... COMMIT; rolled back when left without commit().
class Transaction {
public:
  explicit Transaction(Database &database) : database_(database) {}
  ~Transaction();
  Transaction(const Transaction &) = delete;
  Transaction &operator=(const Transaction &) = delete;

  /// Done when the write lock is held.
  [[nodiscard]] SqlResult begin();
  [[nodiscard]] SqlResult commit();

private:
  Database &database_;
  bool isOpen_ = false;
};

/// Whether the loaded SQLite has the fix of the WAL-reset race (3.51.3 or newer; "How to corrupt an
/// SQLite database file" and the release history of sqlite.org).
bool isWalSafe();

} // namespace fp8jit
