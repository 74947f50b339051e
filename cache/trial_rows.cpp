// Trials, their sessions, and the strikes of configurations that ended their process.
#include "cache/payload.h"
#include "cache/schema.h"
#include "cache/store_rows.h"
#include "support/hash.h"

#include <cerrno>
#include <cmath>
#include <ctime>
#include <signal.h>
#include <unistd.h>

namespace fp8jit {

/// So many crashes on one target and toolchain keep a configuration out.
static constexpr std::int64_t kQuarantineStrikes = 2;

static std::string hostName() {
  char name[256] = {};
  return ::gethostname(name, sizeof(name) - 1) == 0 ? name : "";
}

static void bindKey(Statement &statement, const WinnerKey &key) {
  statement.bindBlob(1, sha256(key.problem));
  statement.bindBlob(2, sha256(key.target));
  statement.bindBlob(3, sha256(key.toolchain));
}

namespace {

/// A trial and the process that made it.
struct TrialRow {
  Trial trial;
  std::string host;
  std::int64_t pid = 0;
};

} // namespace

static SqlResult readRows(Database &database, const WinnerKey &key, std::vector<TrialRow> &rows) {
  Statement row;
  SqlResult result = database.prepare(sql::kFindTrials, row);
  if (result != SqlResult::Done) {
    return result;
  }
  bindKey(row, key);
  while ((result = row.step()) == SqlResult::Row) {
    rows.push_back({.trial = {.config = row.bytes(0).str(),
                              .status = row.bytes(1).str(),
                              .provenance = row.bytes(2).str(),
                              .kernelKey = hexFromKey(row.bytes(3)),
                              .timeNs = row.real(4),
                              .modelNs = row.real(5),
                              .relError = row.isNull(6) ? std::nan("") : row.real(6),
                              .message = row.bytes(7).str()},
                    .host = row.bytes(8).str(),
                    .pid = row.integer(9)});
  }
  return result;
}

SqlResult readTrials(Database &database, const WinnerKey &key, std::vector<Trial> &trials) {
  std::vector<TrialRow> rows;
  const SqlResult result = readRows(database, key, rows);
  for (TrialRow &row : rows) {
    trials.push_back(std::move(row.trial));
  }
  return result;
}

static SqlResult addSession(Database &database, std::int64_t &id) {
  Statement add;
  SqlResult result = database.prepare(sql::kAddSession, add);
  if (result != SqlResult::Done) {
    return result;
  }
  add.bindText(1, hostName());
  add.bindInteger(2, ::getpid());
  add.bindInteger(3, std::time(nullptr));
  result = add.step();
  id = database.lastInsertId();
  return result;
}

static SqlResult dropTrial(Database &database, const RowIds &ids) {
  Statement drop;
  const SqlResult result = database.prepare(sql::kDropTrial, drop);
  if (result != SqlResult::Done) {
    return result;
  }
  drop.bindInteger(1, ids.problem);
  drop.bindInteger(2, ids.target);
  drop.bindInteger(3, ids.toolchain);
  drop.bindInteger(4, ids.config);
  return drop.step();
}

static SqlResult addTrial(Database &database, const RowIds &ids, std::int64_t session,
                          const Trial &trial) {
  Statement add;
  const SqlResult result = database.prepare(sql::kAddTrial, add);
  if (result != SqlResult::Done) {
    return result;
  }
  add.bindInteger(1, ids.problem);
  add.bindInteger(2, ids.target);
  add.bindInteger(3, ids.toolchain);
  add.bindInteger(4, ids.config);
  add.bindInteger(5, session);
  bindHexKey(add, 6, trial.kernelKey);
  add.bindText(7, trial.status);
  add.bindText(8, trial.provenance);
  add.bindReal(9, trial.timeNs);
  add.bindReal(10, trial.modelNs);
  add.bindReal(11, trial.relError); // SQLite keeps NaN as null
  add.bindText(12, trial.message);
  add.bindInteger(13, std::time(nullptr));
  return add.step();
}

SqlResult writeTrials(Database &database, const WinnerKey &key, const std::vector<Trial> &trials) {
  std::int64_t session = 0;
  SqlResult result = addSession(database, session);
  for (const Trial &trial : trials) {
    RowIds ids;
    if (result == SqlResult::Done) {
      result = internKey(database, key, trial.config, ids);
    }
    if (result == SqlResult::Done) {
      result = dropTrial(database, ids);
    }
    if (result == SqlResult::Done) {
      result = addTrial(database, ids, session, trial);
    }
  }
  return result == SqlResult::Done ? database.execute(sql::kDropEmptySessions) : result;
}

/// Whether the process that started a trial is gone. A process of another host cannot be asked and
/// counts as alive.
static bool isGone(const TrialRow &row) {
  return row.host == hostName() && ::kill(static_cast<pid_t>(row.pid), 0) != 0 && errno == ESRCH;
}

static SqlResult addStrike(Database &database, const WinnerKey &key, llvm::StringRef config) {
  RowIds ids;
  SqlResult result = internKey(database, key, config, ids);
  Statement strike;
  if (result == SqlResult::Done) {
    result = database.prepare(sql::kStrike, strike);
  }
  if (result != SqlResult::Done) {
    return result;
  }
  strike.bindInteger(1, ids.config);
  strike.bindInteger(2, ids.target);
  strike.bindInteger(3, ids.toolchain);
  strike.bindText(4, "crashed");
  strike.bindInteger(5, std::time(nullptr));
  return strike.step();
}

SqlResult strikeCrashed(Database &database, const WinnerKey &key) {
  std::vector<TrialRow> rows;
  SqlResult result = readRows(database, key, rows);
  for (TrialRow &row : rows) {
    if (result != SqlResult::Done) {
      return result;
    }
    if (row.trial.status != "started" || !isGone(row)) {
      continue;
    }
    row.trial.status = "crashed";
    row.trial.message = "the process that ran it ended";
    result = writeTrials(database, key, {row.trial});
    if (result == SqlResult::Done) {
      result = addStrike(database, key, row.trial.config);
    }
  }
  return result;
}

SqlResult readQuarantined(Database &database, const WinnerKey &key,
                          std::vector<std::string> &configs) {
  Statement row;
  SqlResult result = database.prepare(sql::kFindQuarantined, row);
  if (result != SqlResult::Done) {
    return result;
  }
  row.bindBlob(1, sha256(key.target));
  row.bindBlob(2, sha256(key.toolchain));
  row.bindInteger(3, kQuarantineStrikes);
  while ((result = row.step()) == SqlResult::Row) {
    configs.push_back(row.bytes(0).str());
  }
  return result;
}

} // namespace fp8jit
