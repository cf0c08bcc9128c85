/* copy.c - what comes from other databases, in one transaction. */
#include <sqlite3.h>

#include "store/connection.h"

static const char doing[] = "merging";

bool store_begin_merge(store *s, status *st) {
    return store_execute(s, "BEGIN IMMEDIATE", doing, st);
}

bool store_end_merge(store *s, bool keep, status *st) {
    if (keep && store_execute(s, "COMMIT", doing, st))
        return store_make_durable(s, true, st);
    sqlite3_exec(s->db, "ROLLBACK", NULL, NULL, NULL);
    return false;
}

bool store_copy_run(store *s, const store_run *run, int64_t *number, status *st) {
    if (store_insert_run(s, run, number, st))
        return true;
    if ((sqlite3_errcode(s->db) & 0xff) == SQLITE_CONSTRAINT)
        status_set(st, STATUS_UNAVAILABLE,
                   "%s: another process has stored the run %s meanwhile; merge again", s->path,
                   run->id);
    return false;
}

bool store_forget_run(store *s, int64_t run, status *st) {
    return store_delete_run(s, run, doing, st);
}

/* The row that stands first in `from`, into a statement of `to`; no row of that id is replaced. */
static bool copy_gate(store *to, sqlite3_stmt *from, uint64_t *copied, status *st) {
    sqlite3_stmt *statement = store_prepare(
        to,
        "INSERT OR IGNORE INTO gates (id, started, machine, exit_code, document) VALUES (?, ?, ?, "
        "?, ?)",
        doing, st);
    if (!statement)
        return false;
    for (int i = 0; i < 5; i++)
        sqlite3_bind_value(statement, i + 1, sqlite3_column_value(from, i));
    if (!store_step(to, statement, doing, st))
        return false;
    *copied += (uint64_t)sqlite3_changes(to->db);
    return true;
}

bool store_copy_gates(store *s, store *from, uint64_t *copied, status *st) {
    sqlite3_stmt *rows = store_prepare(
        from, "SELECT id, started, machine, exit_code, document FROM gates ORDER BY number", doing,
        st);
    bool ok = rows != NULL;
    int code = SQLITE_DONE;
    while (ok && (code = sqlite3_step(rows)) == SQLITE_ROW)
        ok = copy_gate(s, rows, copied, st);
    if (!ok) {
        sqlite3_finalize(rows);
        return false;
    }
    return store_rows_done(from, rows, code, doing, st);
}
