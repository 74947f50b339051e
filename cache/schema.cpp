// The tables of schema 1 and the settings of writing connections.
#include "cache/schema.h"

#include <string>

namespace fp8jit::sql {

// The tables keep the names and columns of the store's design where a store that knows no GEMM can
// fill them honestly; README.md lists what is left out and why. Hashes are SHA-256 of the canonical
// text, which stands beside them so that a look-up compares text and not only hashes.
static constexpr const char *kTables = R"sql(
CREATE TABLE meta(
  key TEXT PRIMARY KEY NOT NULL, value TEXT NOT NULL) STRICT, WITHOUT ROWID;
CREATE TABLE target(
  target_id INTEGER PRIMARY KEY,
  target_hash BLOB NOT NULL UNIQUE CHECK(length(target_hash)=32),
  canonical TEXT NOT NULL) STRICT;
CREATE TABLE toolchain(
  toolchain_id INTEGER PRIMARY KEY,
  toolchain_hash BLOB NOT NULL UNIQUE CHECK(length(toolchain_hash)=32),
  canonical TEXT NOT NULL) STRICT;
CREATE TABLE problem(
  problem_id INTEGER PRIMARY KEY,
  problem_hash BLOB NOT NULL UNIQUE CHECK(length(problem_hash)=32),
  canonical TEXT NOT NULL) STRICT;
CREATE TABLE config(
  config_id INTEGER PRIMARY KEY,
  config_hash BLOB NOT NULL UNIQUE CHECK(length(config_hash)=32),
  params TEXT NOT NULL) STRICT;
CREATE TABLE artifact(
  artifact_id INTEGER PRIMARY KEY,
  artifact_key BLOB NOT NULL UNIQUE CHECK(length(artifact_key)=32),
  arch_flag TEXT NOT NULL,
  compile_ms REAL NOT NULL, compile_log TEXT NOT NULL,
  row_check INTEGER NOT NULL,
  created_at INTEGER NOT NULL, last_used_at INTEGER NOT NULL) STRICT;
CREATE INDEX artifact_lru ON artifact(last_used_at);
CREATE TABLE artifact_entry(
  artifact_id INTEGER NOT NULL REFERENCES artifact ON DELETE CASCADE,
  ordinal INTEGER NOT NULL, name TEXT NOT NULL,
  threads INTEGER NOT NULL, smem_dyn INTEGER NOT NULL,
  num_regs INTEGER NOT NULL, spill_bytes INTEGER NOT NULL, smem_static INTEGER NOT NULL,
  PRIMARY KEY(artifact_id,ordinal)) STRICT, WITHOUT ROWID;
CREATE TABLE artifact_blob(
  blob_id INTEGER PRIMARY KEY,
  artifact_id INTEGER NOT NULL REFERENCES artifact ON DELETE CASCADE,
  kind TEXT NOT NULL CHECK(kind IN('cubin','ptx')),
  codec TEXT NOT NULL CHECK(codec IN('raw','zstd')),
  raw_size INTEGER NOT NULL, stored_size INTEGER NOT NULL,
  payload_sha BLOB NOT NULL CHECK(length(payload_sha)=32),
  data BLOB NOT NULL, UNIQUE(artifact_id,kind)) STRICT;
CREATE TABLE session(
  session_id INTEGER PRIMARY KEY,
  host TEXT NOT NULL, pid INTEGER NOT NULL, started_at INTEGER NOT NULL) STRICT;
CREATE TABLE trial(
  trial_id INTEGER PRIMARY KEY,
  problem_id INTEGER NOT NULL REFERENCES problem ON DELETE CASCADE,
  target_id INTEGER NOT NULL REFERENCES target,
  toolchain_id INTEGER NOT NULL REFERENCES toolchain,
  config_id INTEGER NOT NULL REFERENCES config,
  session_id INTEGER NOT NULL REFERENCES session,
  artifact_key BLOB CHECK(length(artifact_key)=32),
  status TEXT NOT NULL CHECK(status IN('started','ok','pruned_model','invalid','compile_error',
    'launch_error','timeout','wrong_result','crashed')),
  source TEXT NOT NULL CHECK(source IN('measured','modelled','imported')),
  t_med_ns REAL NOT NULL, model_ns REAL NOT NULL, rel_err REAL,
  message TEXT NOT NULL, at INTEGER NOT NULL) STRICT;
CREATE INDEX trial_by_problem ON trial(problem_id,target_id,toolchain_id,config_id);
CREATE INDEX trial_by_session ON trial(session_id);
CREATE TABLE winner(
  problem_id INTEGER NOT NULL REFERENCES problem ON DELETE CASCADE,
  target_id INTEGER NOT NULL REFERENCES target,
  toolchain_id INTEGER NOT NULL REFERENCES toolchain,
  config_id INTEGER NOT NULL REFERENCES config,
  source TEXT NOT NULL CHECK(source IN('measured','modelled','imported')),
  artifact_key BLOB CHECK(length(artifact_key)=32),
  t_med_ns REAL NOT NULL, margin REAL NOT NULL,
  row_check INTEGER NOT NULL,
  updated_at INTEGER NOT NULL,
  PRIMARY KEY(problem_id,target_id,toolchain_id)) STRICT, WITHOUT ROWID;
CREATE TABLE quarantine(
  config_id INTEGER NOT NULL REFERENCES config ON DELETE CASCADE,
  target_id INTEGER NOT NULL REFERENCES target,
  toolchain_id INTEGER NOT NULL REFERENCES toolchain,
  reason TEXT NOT NULL, strikes INTEGER NOT NULL DEFAULT 1, at INTEGER NOT NULL,
  PRIMARY KEY(config_id,target_id,toolchain_id)) STRICT, WITHOUT ROWID;
INSERT INTO meta VALUES('schema_reader_min','1');
PRAGMA application_id=0x46384754;
PRAGMA user_version=1;
)sql";

static constexpr std::int64_t kPageBytes = 8192;

SqlResult createSchema(Database &database) {
  // These two act only before anything is written, application_id included.
  SqlResult result = database.execute("PRAGMA page_size=8192; PRAGMA auto_vacuum=INCREMENTAL");
  if (result != SqlResult::Done) {
    return result;
  }
  Transaction transaction(database);
  result = transaction.begin();
  if (result != SqlResult::Done) {
    return result;
  }
  result = database.execute(kTables);
  return result == SqlResult::Done ? transaction.commit() : result;
}

SqlResult configureWriter(Database &database, std::int64_t maxBytes) {
  const std::string settings = std::string("PRAGMA journal_mode=") +
                               (isWalSafe() ? "WAL" : "TRUNCATE") +
                               "; PRAGMA synchronous=NORMAL; PRAGMA journal_size_limit=1048576;"
                               " PRAGMA max_page_count=" +
                               std::to_string(maxBytes / kPageBytes);
  return database.execute(settings.c_str());
}

} // namespace fp8jit::sql
