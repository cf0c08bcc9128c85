/* connection.h - inside the store: the connection, and how its failures become statuses. */
#ifndef TESSERA_HARNESS_STORE_CONNECTION_H
#define TESSERA_HARNESS_STORE_CONNECTION_H

#include <sqlite3.h>

#include "common/scratch_folder.h"
#include "store/store.h"

struct store {
    sqlite3 *db;
    char *path;
    scratch_folder copy;     /* of a database that can only be read: where it is read */
    int claims_fd;           /* claims.c; -1: no run was begun or resumed */
    struct durable *durable; /* NULL: nothing was written yet, or commits wait for the disk */
};

/* Each returns false (or NULL) with `st` filled from the connection's last error; `doing` says at
 * what. */
bool store_failed(store *s, const char *doing, status *st);
bool store_execute(store *s, const char *sql, const char *doing, status *st);
sqlite3_stmt *store_prepare(store *s, const char *sql, const char *doing, status *st);
/* One step, for a statement that returns no rows; finalises it. */
bool store_step(store *s, sqlite3_stmt *statement, const char *doing, status *st);
/* Ends a loop over rows: `code` is what the last step returned. Finalises the statement. */
bool store_rows_done(store *s, sqlite3_stmt *statement, int code, const char *doing, status *st);
/* The text is borrowed until the statement is finalised; NULL is null. */
void store_bind_text(sqlite3_stmt *statement, int position, const char *value);
const char *store_column_text(sqlite3_stmt *statement, int column);
/* Brings what was committed to the disk; `wait`: before this returns. */
bool store_make_durable(store *s, bool wait, status *st);
/* The same is over for what was committed before. */
bool store_await_durable(store *s, status *st);
/* claims.c. Between these two no other process begins or resumes a run. */
bool store_choose(store *s, status *st);
void store_chosen(store *s);
/* Until the store is closed or the process ends this one executes the run. STATUS_UNAVAILABLE where
 * another does. */
bool store_claim(store *s, int64_t run, status *st);
void store_release_claims(store *s);
/* Within a transaction. A run's exit_code counts: -1 for one that goes on. */
bool store_insert_run(store *s, const store_run *run, int64_t *number, status *st);
bool store_delete_run(store *s, int64_t run, const char *doing, status *st);
/* Deletes all but the newest gates. */
bool store_keep_gates(store *s, int64_t keep, const char *doing, status *st);

#endif
