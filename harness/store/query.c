/* query.c - reading runs and results back, and pruning. */
#include <string.h>

#include "base/vec.h"
#include "store/connection.h"

const char *store_column_text(sqlite3_stmt *statement, int column) {
    return (const char *)sqlite3_column_text(statement, column);
}

bool store_rows_done(store *s, sqlite3_stmt *statement, int code, const char *doing, status *st) {
    bool ok = code == SQLITE_DONE || code == SQLITE_ROW || store_failed(s, doing, st);
    sqlite3_finalize(statement);
    return ok;
}

bool store_each_run(store *s, store_run_fn visit, void *context, status *st) {
    static const char doing[] = "listing runs";
    sqlite3_stmt *statement =
        store_prepare(s,
                      "SELECT number, id, started, arguments, machine, head, exit_code,"
                      " (SELECT count(*) FROM results WHERE run = runs.number),"
                      " (SELECT count(*) FROM results WHERE run = runs.number AND status NOT IN "
                      "('ok', 'skipped', 'unsupported'))"
                      " FROM runs ORDER BY number DESC",
                      doing, st);
    if (!statement)
        return false;
    int code;
    while ((code = sqlite3_step(statement)) == SQLITE_ROW) {
        store_run run = {.number = sqlite3_column_int64(statement, 0),
                         .id = store_column_text(statement, 1),
                         .started = store_column_text(statement, 2),
                         .arguments = store_column_text(statement, 3),
                         .machine = store_column_text(statement, 4),
                         .head = store_column_text(statement, 5),
                         .exit_code = sqlite3_column_type(statement, 6) == SQLITE_NULL
                                          ? -1
                                          : sqlite3_column_int(statement, 6),
                         .results = sqlite3_column_int64(statement, 7),
                         .failed = sqlite3_column_int64(statement, 8)};
        if (!visit(context, &run))
            break;
    }
    return store_rows_done(s, statement, code, doing, st);
}

bool store_each_result(store *s, int64_t run, store_result_fn visit, void *context, status *st) {
    static const char doing[] = "reading results";
    sqlite3_stmt *statement = store_prepare(
        s, "SELECT key, status, median_ns, record FROM results WHERE run = ? ORDER BY number",
        doing, st);
    if (!statement)
        return false;
    sqlite3_bind_int64(statement, 1, run);
    int code;
    while ((code = sqlite3_step(statement)) == SQLITE_ROW) {
        bool timed = sqlite3_column_type(statement, 2) != SQLITE_NULL;
        store_result result = {.key = store_column_text(statement, 0),
                               .status = store_column_text(statement, 1),
                               .median_ns = timed ? sqlite3_column_double(statement, 2) : -1,
                               .record = store_column_text(statement, 3)};
        if (!visit(context, &result))
            break;
    }
    return store_rows_done(s, statement, code, doing, st);
}

bool store_each_ceiling(store *s, int64_t run, store_ceiling_fn visit, void *context, status *st) {
    static const char doing[] = "reading ceilings";
    sqlite3_stmt *statement = store_prepare(
        s, "SELECT resource, profile, value, unit FROM ceilings WHERE run = ? ORDER BY resource",
        doing, st);
    if (!statement)
        return false;
    sqlite3_bind_int64(statement, 1, run);
    int code;
    while ((code = sqlite3_step(statement)) == SQLITE_ROW)
        if (!visit(context, store_column_text(statement, 0), store_column_text(statement, 1),
                   sqlite3_column_double(statement, 2), store_column_text(statement, 3)))
            break;
    return store_rows_done(s, statement, code, doing, st);
}

/* First column of the first row into *value; untouched without a row. Finalises the statement. */
static bool one_number(store *s, sqlite3_stmt *statement, const char *doing, int64_t *value,
                       status *st) {
    int code = sqlite3_step(statement);
    if (code == SQLITE_ROW)
        *value = sqlite3_column_int64(statement, 0);
    return store_rows_done(s, statement, code, doing, st);
}

bool store_find_unfinished(store *s, const char *arguments, const char *machine, int64_t *run,
                           status *st) {
    static const char doing[] = "looking for an unfinished run";
    *run = 0;
    sqlite3_stmt *statement =
        store_prepare(s,
                      "SELECT number FROM runs WHERE exit_code IS NULL AND arguments = ?"
                      " AND machine = ? ORDER BY number DESC LIMIT 1",
                      doing, st);
    if (!statement)
        return false;
    sqlite3_bind_text(statement, 1, arguments, -1, SQLITE_STATIC);
    sqlite3_bind_text(statement, 2, machine, -1, SQLITE_STATIC);
    return one_number(s, statement, doing, run, st);
}

static bool find_by_prefix(store *s, const char *name, int64_t *run, int64_t *matches, status *st) {
    static const char doing[] = "looking for a run";
    sqlite3_stmt *statement = store_prepare(
        s, "SELECT count(*), max(number) FROM runs WHERE id = ?1 OR substr(id, 1, length(?1)) = ?1",
        doing, st);
    if (!statement)
        return false;
    sqlite3_bind_text(statement, 1, name, -1, SQLITE_STATIC);
    int code = sqlite3_step(statement);
    *matches = code == SQLITE_ROW ? sqlite3_column_int64(statement, 0) : 0;
    *run = *matches ? sqlite3_column_int64(statement, 1) : 0;
    return store_rows_done(s, statement, code, doing, st);
}

bool store_find_run(store *s, const char *name, int64_t *run, status *st) {
    static const char doing[] = "looking for the last run";
    *run = 0;
    if (strcmp(name, "last") == 0) {
        sqlite3_stmt *statement =
            store_prepare(s, "SELECT number FROM runs ORDER BY number DESC LIMIT 1", doing, st);
        if (!statement || !one_number(s, statement, doing, run, st))
            return false;
        return *run || status_set(st, STATUS_NOT_FOUND, "%s holds no run yet", s->path);
    }
    int64_t matches;
    if (!find_by_prefix(s, name, run, &matches, st))
        return false;
    if (matches == 0)
        return status_set(st, STATUS_NOT_FOUND, "%s holds no run '%s'; tsr log lists them", s->path,
                          name);
    if (matches > 1)
        return status_set(st, STATUS_INVALID, "'%s' is the start of %lld runs; give more of it",
                          name, (long long)matches);
    return true;
}

static void bind_known(sqlite3_stmt *statement, int position, int64_t value) {
    if (value >= 0)
        sqlite3_bind_int64(statement, position, value);
    else
        sqlite3_bind_null(statement, position);
}

bool store_last_median(store *s, const store_peer *peer, double *median_ns, status *st) {
    static const char doing[] = "reading the last result";
    *median_ns = -1;
    sqlite3_stmt *statement = store_prepare(
        s,
        "SELECT results.median_ns FROM results JOIN runs ON runs.number = results.run"
        " WHERE results.key = ? AND runs.machine = ? AND runs.number < ? AND results.status = 'ok'"
        " AND results.median_ns IS NOT NULL"
        " AND json_extract(results.record, '$.flops') IS ?"
        " AND json_extract(results.record, '$.bytes') IS ? ORDER BY results.number DESC LIMIT 1",
        doing, st);
    if (!statement)
        return false;
    sqlite3_bind_text(statement, 1, peer->key, -1, SQLITE_STATIC);
    sqlite3_bind_text(statement, 2, peer->machine, -1, SQLITE_STATIC);
    sqlite3_bind_int64(statement, 3, peer->before);
    bind_known(statement, 4, peer->flops);
    bind_known(statement, 5, peer->bytes);
    int code = sqlite3_step(statement);
    if (code == SQLITE_ROW)
        *median_ns = sqlite3_column_double(statement, 0);
    return store_rows_done(s, statement, code, doing, st);
}

bool store_each_pack(store *s, store_pack_fn visit, void *context, status *st) {
    static const char doing[] = "listing packs";
    sqlite3_stmt *statement = store_prepare(s,
                                            "SELECT json_extract(record, '$.pack') FROM results"
                                            " WHERE json_extract(record, '$.pack') IS NOT NULL",
                                            doing, st);
    if (!statement)
        return false;
    int code;
    while ((code = sqlite3_step(statement)) == SQLITE_ROW)
        if (!visit(context, store_column_text(statement, 0)))
            break;
    return store_rows_done(s, statement, code, doing, st);
}

bool store_delete_run(store *s, int64_t run, const char *doing, status *st) {
    sqlite3_stmt *statement = store_prepare(s, "DELETE FROM runs WHERE number = ?", doing, st);
    if (!statement)
        return false;
    sqlite3_bind_int64(statement, 1, run);
    return store_step(s, statement, doing, st);
}

static bool keep_runs(store *s, int64_t keep, uint64_t *deleted, status *st) {
    static const char doing[] = "pruning";
    sqlite3_stmt *statement = store_prepare(s,
                                            "SELECT number, exit_code IS NULL FROM runs"
                                            " ORDER BY number DESC LIMIT -1 OFFSET ?",
                                            doing, st);
    VEC(int64_t) old = {0};
    int code;
    if (!statement)
        return false;
    sqlite3_bind_int64(statement, 1, keep);
    while ((code = sqlite3_step(statement)) == SQLITE_ROW) {
        int64_t run = sqlite3_column_int64(statement, 0);
        if (!sqlite3_column_int(statement, 1) || !store_is_executed(s, run))
            vec_push(&old, run);
    }
    bool ok = store_rows_done(s, statement, code, doing, st);
    for (size_t i = 0; i < old.count && ok; i++)
        ok = store_delete_run(s, old.items[i], doing, st);
    *deleted = ok ? old.count : 0;
    vec_release(&old);
    return ok;
}

bool store_prune(store *s, uint64_t keep, bool shrink, store_pruned *deleted, status *st) {
    static const char doing[] = "pruning";
    int64_t newest = keep > INT64_MAX ? INT64_MAX : (int64_t)keep;
    if (!store_execute(s, "BEGIN IMMEDIATE", doing, st))
        return false;
    bool ok = keep_runs(s, newest, &deleted->runs, st);
    ok = ok && store_keep_gates(s, newest, doing, st);
    deleted->gates = ok ? (uint64_t)sqlite3_changes(s->db) : 0;
    ok = ok && store_execute(s, "COMMIT", doing, st);
    if (!ok) {
        sqlite3_exec(s->db, "ROLLBACK", NULL, NULL, NULL);
        return false;
    }
    return !shrink || store_execute(s, "VACUUM; PRAGMA wal_checkpoint(TRUNCATE)", doing, st);
}
