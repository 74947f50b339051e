// The only file with sqlite3 calls.
#include "cache/sqlite.h"

#include <sqlite3.h>

namespace fp8jit {

static SqlResult resultOf(int code) {
  switch (code & 0xFF) {
  case SQLITE_OK:
  case SQLITE_DONE:
    return SqlResult::Done;
  case SQLITE_ROW:
    return SqlResult::Row;
  case SQLITE_BUSY:
  case SQLITE_LOCKED:
    return SqlResult::Busy;
  case SQLITE_CORRUPT:
  case SQLITE_NOTADB:
    return SqlResult::Damaged;
  case SQLITE_FULL:
    return SqlResult::Full;
  case SQLITE_READONLY:
    return SqlResult::ReadOnly;
  case SQLITE_IOERR:
    // A file that ends inside a page is damage; the other I/O errors are the disk's, most often
    // full.
    return code == SQLITE_IOERR_SHORT_READ ? SqlResult::Damaged
           : code == SQLITE_IOERR_WRITE    ? SqlResult::Full
                                           : SqlResult::Failed;
  default:
    return SqlResult::Failed;
  }
}

void Statement::Finalizer::operator()(sqlite3_stmt *statement) const noexcept {
  sqlite3_finalize(statement); // repeats the error of the last step, which has been reported
}

void Statement::bindText(int index, llvm::StringRef text) {
  sqlite3_bind_text64(handle_.get(), index, text.data() ? text.data() : "", text.size(),
                      SQLITE_TRANSIENT, SQLITE_UTF8);
}

void Statement::bindBlob(int index, llvm::StringRef bytes) {
  sqlite3_bind_blob64(handle_.get(), index, bytes.data() ? bytes.data() : "", bytes.size(),
                      SQLITE_TRANSIENT);
}

void Statement::bindInteger(int index, std::int64_t value) {
  sqlite3_bind_int64(handle_.get(), index, value);
}

void Statement::bindReal(int index, double value) {
  sqlite3_bind_double(handle_.get(), index, value);
}

void Statement::bindNull(int index) {
  sqlite3_bind_null(handle_.get(), index);
}

SqlResult Statement::step() {
  return resultOf(sqlite3_step(handle_.get()));
}

void Statement::reset() {
  sqlite3_reset(handle_.get()); // repeats the error of the last step, which has been reported
}

std::int64_t Statement::integer(int column) const {
  return sqlite3_column_int64(handle_.get(), column);
}

double Statement::real(int column) const {
  return sqlite3_column_double(handle_.get(), column);
}

bool Statement::isNull(int column) const {
  return sqlite3_column_type(handle_.get(), column) == SQLITE_NULL;
}

llvm::StringRef Statement::bytes(int column) const {
  const void *data = sqlite3_column_blob(handle_.get(), column);
  const int size = sqlite3_column_bytes(handle_.get(), column);
  return {static_cast<const char *>(data), data ? static_cast<std::size_t>(size) : 0};
}

void Database::Closer::operator()(sqlite3 *handle) const noexcept {
  sqlite3_close_v2(handle);
}

SqlResult Database::open(const std::string &path, OpenMode mode, Database &database) {
  const int flags = SQLITE_OPEN_NOMUTEX | SQLITE_OPEN_EXRESCODE |
                    (mode == OpenMode::ReadOnly ? SQLITE_OPEN_READONLY
                                                : SQLITE_OPEN_READWRITE | SQLITE_OPEN_CREATE);
  sqlite3 *handle = nullptr;
  const int code = sqlite3_open_v2(path.c_str(), &handle, flags, nullptr);
  database.handle_.reset(handle);
  if (code != SQLITE_OK) {
    return resultOf(code);
  }
  sqlite3_db_config(handle, SQLITE_DBCONFIG_DEFENSIVE, 1, nullptr);
  sqlite3_db_config(handle, SQLITE_DBCONFIG_TRUSTED_SCHEMA, 0, nullptr);
  sqlite3_db_config(handle, SQLITE_DBCONFIG_ENABLE_FKEY, 1, nullptr);
  // A truncated file that is mapped raises SIGBUS, so nothing is mapped.
  return database.execute(
      "PRAGMA cell_size_check=ON; PRAGMA mmap_size=0; PRAGMA temp_store=MEMORY");
}

SqlResult Database::execute(const char *sql) {
  return resultOf(sqlite3_exec(handle_.get(), sql, nullptr, nullptr, nullptr));
}

SqlResult Database::prepare(const char *sql, Statement &statement) {
  sqlite3_stmt *handle = nullptr;
  const int code =
      sqlite3_prepare_v3(handle_.get(), sql, -1, SQLITE_PREPARE_PERSISTENT, &handle, nullptr);
  statement.handle_.reset(handle);
  return resultOf(code);
}

SqlResult Database::prepareOnce(const char *sql, Statement &statement) {
  return statement ? SqlResult::Done : prepare(sql, statement);
}

SqlResult Database::queryInteger(const char *sql, std::int64_t &value) {
  Statement statement;
  SqlResult result = prepare(sql, statement);
  if (result != SqlResult::Done) {
    return result;
  }
  result = statement.step();
  if (result == SqlResult::Row) {
    value = statement.integer(0);
  }
  return result;
}

void Database::setBusyTimeout(int milliseconds) {
  sqlite3_busy_timeout(handle_.get(), milliseconds);
}

bool Database::isReadOnly() const {
  return sqlite3_db_readonly(handle_.get(), "main") == 1;
}

std::int64_t Database::lastInsertId() const {
  return sqlite3_last_insert_rowid(handle_.get());
}

std::string Database::message() const {
  return handle_ ? sqlite3_errmsg(handle_.get()) : "not open";
}

Transaction::~Transaction() {
  if (isOpen_) {
    // A full disk has rolled back already, and then ROLLBACK fails: nothing is left to do.
    sqlite3_exec(database_.handle_.get(), "ROLLBACK", nullptr, nullptr, nullptr);
  }
}

SqlResult Transaction::begin() {
  const SqlResult result = database_.execute("BEGIN IMMEDIATE");
  isOpen_ = result == SqlResult::Done;
  return result;
}

SqlResult Transaction::commit() {
  const SqlResult result = database_.execute("COMMIT");
  isOpen_ = result != SqlResult::Done;
  return result;
}

bool isWalSafe() {
  return sqlite3_libversion_number() >= 3051003;
}

} // namespace fp8jit
