// The schema and every SQL statement of the store, in one place. Main entries: createSchema,
// configureWriter, the constants.
#pragma once

#include "cache/sqlite.h"

namespace fp8jit::sql {

inline constexpr std::int64_t kApplicationId = 0x46384754; ///< "F8GT"
/// user_version. A file with a higher one is read only if its meta row schema_reader_min permits.
inline constexpr std::int64_t kSchemaVersion = 1;

/// Creates the tables in an empty file, in one transaction. Done on success.
[[nodiscard]] SqlResult createSchema(Database &database);

/// Journal, synchronisation and page limit of a connection that writes. TRUNCATE, because releases
/// of SQLite before 3.51.3 can corrupt a WAL file when two connections race to reset it; WAL from
/// then on. `maxBytes`: hard cap of the file.
[[nodiscard]] SqlResult configureWriter(Database &database, std::int64_t maxBytes);

inline constexpr const char *kObjectCount = "SELECT count(*) FROM sqlite_schema";
inline constexpr const char *kApplicationIdQuery = "PRAGMA application_id";
inline constexpr const char *kSchemaVersionQuery = "PRAGMA user_version";
inline constexpr const char *kPageCount = "PRAGMA page_count";
inline constexpr const char *kPageSize = "PRAGMA page_size";
inline constexpr const char *kFreePages = "PRAGMA freelist_count";
inline constexpr const char *kReturnFreePages = "PRAGMA incremental_vacuum(512)";
inline constexpr const char *kReaderMinimum =
    "SELECT CAST(value AS INTEGER) FROM meta WHERE key='schema_reader_min'";

inline constexpr const char *kFindWinner =
    "SELECT p.canonical, t.canonical, c.canonical, config.params, w.source, w.artifact_key,"
    " w.t_med_ns, w.margin, w.row_check, w.updated_at"
    " FROM problem p, target t, toolchain c"
    " JOIN winner w ON w.problem_id=p.problem_id AND w.target_id=t.target_id"
    " AND w.toolchain_id=c.toolchain_id"
    " JOIN config ON config.config_id=w.config_id"
    " WHERE p.problem_hash=?1 AND t.target_hash=?2 AND c.toolchain_hash=?3";
inline constexpr const char *kListWinners =
    "SELECT p.canonical, t.canonical, c.canonical, config.params, w.source, w.artifact_key,"
    " w.t_med_ns, w.margin, w.row_check, w.updated_at"
    " FROM winner w JOIN problem p USING(problem_id) JOIN target t USING(target_id)"
    " JOIN toolchain c USING(toolchain_id) JOIN config USING(config_id)"
    " ORDER BY p.canonical, t.canonical, c.canonical";
inline constexpr const char *kPutWinner =
    "INSERT INTO winner(problem_id,target_id,toolchain_id,config_id,source,artifact_key,t_med_ns,"
    "margin,row_check,updated_at) VALUES(?1,?2,?3,?4,?5,?6,?7,?8,?9,?10)"
    " ON CONFLICT DO UPDATE SET config_id=excluded.config_id, source=excluded.source,"
    " artifact_key=excluded.artifact_key, t_med_ns=excluded.t_med_ns, margin=excluded.margin,"
    " row_check=excluded.row_check, updated_at=excluded.updated_at";

inline constexpr const char *kAddProblem =
    "INSERT INTO problem(problem_hash,canonical) VALUES(?1,?2) ON CONFLICT DO NOTHING";
inline constexpr const char *kAddTarget =
    "INSERT INTO target(target_hash,canonical) VALUES(?1,?2) ON CONFLICT DO NOTHING";
inline constexpr const char *kAddToolchain =
    "INSERT INTO toolchain(toolchain_hash,canonical) VALUES(?1,?2) ON CONFLICT DO NOTHING";
inline constexpr const char *kAddConfig =
    "INSERT INTO config(config_hash,params) VALUES(?1,?2) ON CONFLICT DO NOTHING";
inline constexpr const char *kProblemId = "SELECT problem_id FROM problem WHERE problem_hash=?1";
inline constexpr const char *kTargetId = "SELECT target_id FROM target WHERE target_hash=?1";
inline constexpr const char *kToolchainId =
    "SELECT toolchain_id FROM toolchain WHERE toolchain_hash=?1";
inline constexpr const char *kConfigId = "SELECT config_id FROM config WHERE config_hash=?1";

inline constexpr const char *kAddSession =
    "INSERT INTO session(host,pid,started_at) VALUES(?1,?2,?3)";
inline constexpr const char *kDropTrial =
    "DELETE FROM trial WHERE problem_id=?1 AND target_id=?2 AND toolchain_id=?3 AND config_id=?4";
inline constexpr const char *kAddTrial =
    "INSERT INTO trial(problem_id,target_id,toolchain_id,config_id,session_id,artifact_key,status,"
    "source,t_med_ns,model_ns,rel_err,message,at) VALUES(?1,?2,?3,?4,?5,?6,?7,?8,?9,?10,?11,?12,"
    "?13)";
inline constexpr const char *kFindTrials =
    "SELECT config.params, r.status, r.source, r.artifact_key, r.t_med_ns, r.model_ns, r.rel_err,"
    " r.message, s.host, s.pid"
    " FROM trial r JOIN problem p USING(problem_id) JOIN target t USING(target_id)"
    " JOIN toolchain c USING(toolchain_id) JOIN config USING(config_id)"
    " JOIN session s USING(session_id)"
    " WHERE p.problem_hash=?1 AND t.target_hash=?2 AND c.toolchain_hash=?3 ORDER BY r.trial_id";
inline constexpr const char *kDropEmptySessions =
    "DELETE FROM session WHERE session_id NOT IN (SELECT session_id FROM trial)";

inline constexpr const char *kStrike =
    "INSERT INTO quarantine(config_id,target_id,toolchain_id,reason,at) VALUES(?1,?2,?3,?4,?5)"
    " ON CONFLICT DO UPDATE SET strikes=strikes+1, reason=excluded.reason, at=excluded.at";
inline constexpr const char *kFindQuarantined =
    "SELECT config.params FROM quarantine q JOIN config USING(config_id)"
    " JOIN target t USING(target_id) JOIN toolchain c USING(toolchain_id)"
    " WHERE t.target_hash=?1 AND c.toolchain_hash=?2 AND q.strikes>=?3 ORDER BY config.params";

inline constexpr const char *kFindBinary =
    "SELECT artifact_id, arch_flag, compile_ms, compile_log, row_check, last_used_at"
    " FROM artifact WHERE artifact_key=?1";
inline constexpr const char *kFindEntries =
    "SELECT name, threads, smem_dyn, num_regs, spill_bytes, smem_static"
    " FROM artifact_entry WHERE artifact_id=?1 ORDER BY ordinal";
inline constexpr const char *kFindBlob =
    "SELECT codec, raw_size, payload_sha, data FROM artifact_blob WHERE artifact_id=?1 AND kind=?2";
inline constexpr const char *kAddBinary =
    "INSERT INTO artifact(artifact_key,arch_flag,compile_ms,compile_log,row_check,created_at,"
    "last_used_at) VALUES(?1,?2,?3,?4,?5,?6,?6)";
inline constexpr const char *kAddEntry =
    "INSERT INTO artifact_entry(artifact_id,ordinal,name,threads,smem_dyn,num_regs,spill_bytes,"
    "smem_static) VALUES(?1,?2,?3,?4,?5,?6,?7,?8)";
inline constexpr const char *kAddBlob =
    "INSERT INTO artifact_blob(artifact_id,kind,codec,raw_size,stored_size,payload_sha,data)"
    " VALUES(?1,?2,?3,?4,?5,?6,?7)";
inline constexpr const char *kDropBinary = "DELETE FROM artifact WHERE artifact_key=?1";
inline constexpr const char *kTouchBinary =
    "UPDATE artifact SET last_used_at=?2 WHERE artifact_key=?1";
inline constexpr const char *kDropOldestBinaries =
    "DELETE FROM artifact WHERE artifact_id IN"
    " (SELECT artifact_id FROM artifact ORDER BY last_used_at, artifact_id LIMIT ?1)";

inline constexpr const char *kCountWinners = "SELECT count(*) FROM winner";
inline constexpr const char *kCountTrials = "SELECT count(*) FROM trial";
inline constexpr const char *kCountBinaries = "SELECT count(*) FROM artifact";
inline constexpr const char *kBinaryBytes =
    "SELECT coalesce(sum(stored_size),0) FROM artifact_blob";

} // namespace fp8jit::sql
