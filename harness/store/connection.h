/* connection.h - inside the store: the connection, and how its failures become statuses. */
#ifndef TESSERA_HARNESS_STORE_CONNECTION_H
#define TESSERA_HARNESS_STORE_CONNECTION_H

#include <sqlite3.h>

#include "store/store.h"

struct store {
    sqlite3 *db;
    char *path;
};

/* Each returns false (or NULL) with `st` filled from the connection's last error; `doing` says at
 * what. */
bool store_failed(store *s, const char *doing, status *st);
bool store_execute(store *s, const char *sql, const char *doing, status *st);
sqlite3_stmt *store_prepare(store *s, const char *sql, const char *doing, status *st);
/* One step, for a statement that returns no rows; finalises it. */
bool store_step(store *s, sqlite3_stmt *statement, const char *doing, status *st);

#endif
