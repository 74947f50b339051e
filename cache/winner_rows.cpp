// Winners and the interning of keys. A winner is verified by its text and its checksum, and
// replaced only by a better one.
#include "cache/payload.h"
#include "cache/schema.h"
#include "cache/store_rows.h"
#include "support/hash.h"

#include <ctime>

namespace fp8jit {

namespace {

/// Columns of kFindWinner and kListWinners.
namespace column {
constexpr int kProblem = 0, kTarget = 1, kToolchain = 2, kConfig = 3, kSource = 4;
constexpr int kKernelKey = 5, kTime = 6, kMargin = 7, kCheck = 8, kUpdatedAt = 9;
} // namespace column

} // namespace

/// A new winner of equal confidence must be better than this share of the old time: less is noise.
static constexpr double kTieBand = 0.99;

const std::string &RememberedDigest::of(const std::string &text) {
  if (digest_.empty() || text != text_) {
    text_ = text;
    digest_ = sha256(text);
  }
  return digest_;
}

static std::int64_t checksumOf(const WinnerKey &key, const Winner &winner) {
  return RowChecksum()
      .add(key.problem)
      .add(key.target)
      .add(key.toolchain)
      .add(winner.config)
      .add(winner.provenance)
      .add(winner.kernelKey)
      .add(winner.timeNs)
      .add(winner.margin)
      .add(winner.updatedAt)
      .value();
}

/// Reads the current row; false if its checksum does not hold.
static bool readRow(const Statement &row, ListedWinner &listed) {
  listed.key = {.problem = row.bytes(column::kProblem).str(),
                .target = row.bytes(column::kTarget).str(),
                .toolchain = row.bytes(column::kToolchain).str()};
  listed.winner = {.config = row.bytes(column::kConfig).str(),
                   .provenance = row.bytes(column::kSource).str(),
                   .kernelKey = hexFromKey(row.bytes(column::kKernelKey)),
                   .timeNs = row.real(column::kTime),
                   .margin = row.real(column::kMargin),
                   .updatedAt = row.integer(column::kUpdatedAt)};
  return row.integer(column::kCheck) == checksumOf(listed.key, listed.winner);
}

static int confidenceOf(llvm::StringRef provenance) {
  return provenance == "measured" ? 3 : provenance == "imported" ? 2 : 1;
}

SqlResult readWinner(RowReader reader, const WinnerKey &key, std::optional<Winner> &winner) {
  Statement &statement = reader.statements.winner;
  SqlResult result = reader.database.prepareOnce(sql::kFindWinner, statement);
  if (result != SqlResult::Done) {
    return result;
  }
  const ResetGuard guard(statement);
  statement.bindBlob(1, sha256(key.problem));
  statement.bindBlob(2, reader.statements.target.of(key.target));
  statement.bindBlob(3, reader.statements.toolchain.of(key.toolchain));
  result = statement.step();
  if (result != SqlResult::Row) {
    return result;
  }
  ListedWinner listed;
  const bool isGood = readRow(statement, listed) && listed.key.problem == key.problem &&
                      listed.key.target == key.target && listed.key.toolchain == key.toolchain;
  if (isGood) {
    winner = std::move(listed.winner);
  } else {
    ++reader.rejectedRows;
  }
  return SqlResult::Done;
}

SqlResult readAllWinners(RowReader reader, std::vector<ListedWinner> &winners) {
  Statement statement;
  SqlResult result = reader.database.prepare(sql::kListWinners, statement);
  if (result != SqlResult::Done) {
    return result;
  }
  while ((result = statement.step()) == SqlResult::Row) {
    ListedWinner listed;
    if (readRow(statement, listed)) {
      winners.push_back(std::move(listed));
    } else {
      ++reader.rejectedRows;
    }
  }
  return result;
}

SqlResult writeWinner(RowReader reader, const WinnerKey &key, const Winner &winner) {
  std::optional<Winner> old;
  SqlResult result = readWinner(reader, key, old);
  if (result != SqlResult::Done) {
    return result;
  }
  if (old && old->config != winner.config) {
    const int oldConfidence = confidenceOf(old->provenance);
    const int newConfidence = confidenceOf(winner.provenance);
    if (newConfidence < oldConfidence ||
        (newConfidence == oldConfidence && !(winner.timeNs < kTieBand * old->timeNs))) {
      return SqlResult::Done;
    }
  }
  RowIds ids;
  result = internKey(reader.database, key, winner.config, ids);
  Statement statement;
  if (result == SqlResult::Done) {
    result = reader.database.prepare(sql::kPutWinner, statement);
  }
  if (result != SqlResult::Done) {
    return result;
  }
  Winner stamped = winner;
  stamped.updatedAt = std::time(nullptr);
  statement.bindInteger(1, ids.problem);
  statement.bindInteger(2, ids.target);
  statement.bindInteger(3, ids.toolchain);
  statement.bindInteger(4, ids.config);
  statement.bindText(5, stamped.provenance);
  bindHexKey(statement, 6, stamped.kernelKey);
  statement.bindReal(7, stamped.timeNs);
  statement.bindReal(8, stamped.margin);
  statement.bindInteger(9, checksumOf(key, stamped));
  statement.bindInteger(10, stamped.updatedAt);
  return statement.step();
}

/// The id of the row whose hash column is the digest of `text`, added if absent.
static SqlResult internText(Database &database, const char *addSql, const char *idSql,
                            llvm::StringRef text, std::int64_t &id) {
  const std::string hash = sha256(text);
  Statement add;
  SqlResult result = database.prepare(addSql, add);
  if (result != SqlResult::Done) {
    return result;
  }
  add.bindBlob(1, hash);
  add.bindText(2, text);
  result = add.step();
  if (result != SqlResult::Done) {
    return result;
  }
  Statement find;
  result = database.prepare(idSql, find);
  if (result != SqlResult::Done) {
    return result;
  }
  find.bindBlob(1, hash);
  result = find.step();
  if (result != SqlResult::Row) {
    return result;
  }
  id = find.integer(0);
  return SqlResult::Done;
}

SqlResult internKey(Database &database, const WinnerKey &key, llvm::StringRef config, RowIds &ids) {
  struct Part {
    const char *addSql;
    const char *idSql;
    llvm::StringRef text;
    std::int64_t &id;
  };
  const Part parts[] = {{sql::kAddProblem, sql::kProblemId, key.problem, ids.problem},
                        {sql::kAddTarget, sql::kTargetId, key.target, ids.target},
                        {sql::kAddToolchain, sql::kToolchainId, key.toolchain, ids.toolchain},
                        {sql::kAddConfig, sql::kConfigId, config, ids.config}};
  for (const Part &part : parts) {
    const SqlResult result = internText(database, part.addSql, part.idSql, part.text, part.id);
    if (result != SqlResult::Done) {
      return result;
    }
  }
  return SqlResult::Done;
}

void bindHexKey(Statement &statement, int index, llvm::StringRef hex) {
  if (hex.empty()) {
    statement.bindNull(index);
  } else {
    statement.bindBlob(index, keyFromHex(hex));
  }
}

} // namespace fp8jit
