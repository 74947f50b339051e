// Binaries: a row with its entries and two compressed blobs, all verified on reading. Also eviction
// and counts.
#include "cache/payload.h"
#include "cache/schema.h"
#include "cache/store_rows.h"

#include <algorithm>
#include <ctime>

namespace fp8jit {

/// Everything of a binary but its two blobs, which carry digests of their own. A changed thread
/// count or shared-memory size would launch a good binary wrongly.
static std::int64_t checksumOf(llvm::StringRef key, const StoredBinary &binary) {
  RowChecksum checksum;
  checksum.add(key).add(binary.arch).add(binary.compileMs).add(binary.log);
  for (const StoredEntry &entry : binary.entries) {
    checksum.add(entry.name);
    for (const std::int32_t field : {entry.threads, entry.smemBytes, entry.registers,
                                     entry.spillBytes, entry.staticSmemBytes}) {
      checksum.add(static_cast<std::int64_t>(field));
    }
  }
  return checksum.value();
}

static SqlResult readEntries(RowReader reader, std::int64_t id, std::vector<StoredEntry> &entries) {
  Statement &row = reader.statements.entries;
  SqlResult result = reader.database.prepareOnce(sql::kFindEntries, row);
  if (result != SqlResult::Done) {
    return result;
  }
  const ResetGuard guard(row);
  row.bindInteger(1, id);
  while ((result = row.step()) == SqlResult::Row) {
    entries.push_back({.name = row.bytes(0).str(),
                       .threads = static_cast<std::int32_t>(row.integer(1)),
                       .smemBytes = static_cast<std::int32_t>(row.integer(2)),
                       .registers = static_cast<std::int32_t>(row.integer(3)),
                       .spillBytes = static_cast<std::int32_t>(row.integer(4)),
                       .staticSmemBytes = static_cast<std::int32_t>(row.integer(5))});
  }
  return result;
}

/// Reads one blob. `isGood` becomes false when it is missing or does not verify.
static SqlResult readBlob(RowReader reader, std::int64_t id, llvm::StringRef kind,
                          std::string &plain, bool &isGood) {
  Statement &row = reader.statements.blob;
  SqlResult result = reader.database.prepareOnce(sql::kFindBlob, row);
  if (result != SqlResult::Done) {
    return result;
  }
  const ResetGuard guard(row);
  row.bindInteger(1, id);
  row.bindText(2, kind);
  result = row.step();
  if (result != SqlResult::Row) {
    isGood = false;
    return result;
  }
  std::optional<std::string> bytes =
      unpackPayload(row.bytes(0), row.integer(1), row.bytes(2), row.bytes(3));
  isGood &= bytes.has_value();
  if (bytes) {
    plain = std::move(*bytes);
  }
  return SqlResult::Done;
}

SqlResult readBinary(RowReader reader, llvm::StringRef key, std::optional<StoredBinary> &binary,
                     std::int64_t &lastUsedAt) {
  Statement &row = reader.statements.binary;
  SqlResult result = reader.database.prepareOnce(sql::kFindBinary, row);
  if (result != SqlResult::Done) {
    return result;
  }
  const ResetGuard guard(row); // the row stays locked until its entries and blobs are read
  row.bindBlob(1, key);
  result = row.step();
  if (result != SqlResult::Row) {
    return result;
  }
  const std::int64_t id = row.integer(0);
  const std::int64_t check = row.integer(4);
  StoredBinary found{.arch = row.bytes(1).str(),
                     .cubin = {},
                     .ptx = {},
                     .log = row.bytes(3).str(),
                     .compileMs = row.real(2),
                     .entries = {}};
  lastUsedAt = row.integer(5);
  bool isGood = true;
  result = readEntries(reader, id, found.entries);
  if (result == SqlResult::Done) {
    result = readBlob(reader, id, "cubin", found.cubin, isGood);
  }
  if (result == SqlResult::Done) {
    result = readBlob(reader, id, "ptx", found.ptx, isGood);
  }
  if (result != SqlResult::Done) {
    return result;
  }
  if (isGood && check == checksumOf(key, found)) {
    binary = std::move(found);
  } else {
    ++reader.rejectedRows;
  }
  return SqlResult::Done;
}

static SqlResult writeBlob(Database &database, std::int64_t id, llvm::StringRef kind,
                           llvm::StringRef plain) {
  Statement add;
  const SqlResult result = database.prepare(sql::kAddBlob, add);
  if (result != SqlResult::Done) {
    return result;
  }
  const Payload payload = packPayload(plain);
  add.bindInteger(1, id);
  add.bindText(2, kind);
  add.bindText(3, payload.codec);
  add.bindInteger(4, payload.rawSize);
  add.bindInteger(5, static_cast<std::int64_t>(payload.data.size()));
  add.bindBlob(6, payload.sha);
  add.bindBlob(7, payload.data);
  return add.step();
}

static SqlResult writeEntries(Database &database, std::int64_t id,
                              const std::vector<StoredEntry> &entries) {
  std::int64_t ordinal = 0;
  for (const StoredEntry &entry : entries) {
    Statement add;
    SqlResult result = database.prepare(sql::kAddEntry, add);
    if (result != SqlResult::Done) {
      return result;
    }
    add.bindInteger(1, id);
    add.bindInteger(2, ordinal++);
    add.bindText(3, entry.name);
    add.bindInteger(4, entry.threads);
    add.bindInteger(5, entry.smemBytes);
    add.bindInteger(6, entry.registers);
    add.bindInteger(7, entry.spillBytes);
    add.bindInteger(8, entry.staticSmemBytes);
    result = add.step();
    if (result != SqlResult::Done) {
      return result;
    }
  }
  return SqlResult::Done;
}

static SqlResult dropBinary(Database &database, llvm::StringRef key) {
  Statement drop;
  const SqlResult result = database.prepare(sql::kDropBinary, drop);
  if (result != SqlResult::Done) {
    return result;
  }
  drop.bindBlob(1, key);
  return drop.step();
}

SqlResult writeBinary(RowReader reader, llvm::StringRef key, const StoredBinary &binary) {
  Database &database = reader.database;
  std::optional<StoredBinary> old;
  std::int64_t lastUsedAt = 0;
  SqlResult result = readBinary(reader, key, old, lastUsedAt);
  if (result != SqlResult::Done || old) {
    return result;
  }
  result = dropBinary(database, key); // a row that does not verify makes room
  Statement add;
  if (result == SqlResult::Done) {
    result = database.prepare(sql::kAddBinary, add);
  }
  if (result != SqlResult::Done) {
    return result;
  }
  add.bindBlob(1, key);
  add.bindText(2, binary.arch);
  add.bindReal(3, binary.compileMs);
  add.bindText(4, binary.log);
  add.bindInteger(5, checksumOf(key, binary));
  add.bindInteger(6, std::time(nullptr));
  result = add.step();
  const std::int64_t id = database.lastInsertId();
  if (result == SqlResult::Done) {
    result = writeEntries(database, id, binary.entries);
  }
  if (result == SqlResult::Done) {
    result = writeBlob(database, id, "cubin", binary.cubin);
  }
  return result == SqlResult::Done ? writeBlob(database, id, "ptx", binary.ptx) : result;
}

SqlResult touchBinary(Database &database, llvm::StringRef key, std::int64_t now) {
  Statement touch;
  const SqlResult result = database.prepare(sql::kTouchBinary, touch);
  if (result != SqlResult::Done) {
    return result;
  }
  touch.bindBlob(1, key);
  touch.bindInteger(2, now);
  return touch.step();
}

static SqlResult usedBytes(Database &database, std::int64_t &bytes) {
  std::int64_t pages = 0;
  std::int64_t freePages = 0;
  std::int64_t pageSize = 0;
  const std::pair<const char *, std::int64_t *> queries[] = {
      {sql::kPageCount, &pages}, {sql::kFreePages, &freePages}, {sql::kPageSize, &pageSize}};
  for (const auto &[query, value] : queries) {
    const SqlResult result = database.queryInteger(query, *value);
    if (result != SqlResult::Row) {
      return result;
    }
  }
  bytes = (pages - freePages) * pageSize;
  return SqlResult::Done;
}

SqlResult evictBinaries(Database &database, std::int64_t maxBytes) {
  std::int64_t bytes = 0;
  SqlResult result = usedBytes(database, bytes);
  if (result != SqlResult::Done || bytes * 10 <= maxBytes * 9) {
    return result;
  }
  std::int64_t count = 0;
  result = database.queryInteger(sql::kCountBinaries, count);
  while (result == SqlResult::Row && count > 0 && bytes * 10 > maxBytes * 8) {
    const std::int64_t batch = std::max<std::int64_t>(1, count / 10);
    Statement drop;
    result = database.prepare(sql::kDropOldestBinaries, drop);
    if (result != SqlResult::Done) {
      return result;
    }
    drop.bindInteger(1, batch);
    result = drop.step();
    if (result != SqlResult::Done) {
      return result;
    }
    result = usedBytes(database, bytes);
    if (result != SqlResult::Done) {
      return result;
    }
    result = database.queryInteger(sql::kCountBinaries, count);
  }
  return result == SqlResult::Row ? database.execute(sql::kReturnFreePages) : result;
}

SqlResult readStats(Database &database, StoreStats &stats) {
  std::int64_t pages = 0;
  std::int64_t pageSize = 0;
  const std::pair<const char *, std::int64_t *> queries[] = {
      {sql::kCountWinners, &stats.winners},
      {sql::kCountTrials, &stats.trials},
      {sql::kCountBinaries, &stats.binaries},
      {sql::kBinaryBytes, &stats.binaryBytes},
      {sql::kPageCount, &pages},
      {sql::kPageSize, &pageSize}};
  for (const auto &[query, value] : queries) {
    const SqlResult result = database.queryInteger(query, *value);
    if (result != SqlResult::Row) {
      return result;
    }
  }
  stats.fileBytes = pages * pageSize;
  return SqlResult::Done;
}

} // namespace fp8jit
