/* samples.c - reading single times back. */
#include "store/connection.h"

bool store_each_sample(store *s, int64_t run, store_sample_fn visit, void *context, status *st) {
    static const char doing[] = "reading samples";
    sqlite3_stmt *statement =
        store_prepare(s,
                      "SELECT results.key, samples.ns FROM results JOIN samples"
                      " ON samples.result = results.number WHERE results.run = ?"
                      " ORDER BY results.number, samples.position",
                      doing, st);
    if (!statement)
        return false;
    sqlite3_bind_int64(statement, 1, run);
    int code;
    while ((code = sqlite3_step(statement)) == SQLITE_ROW)
        if (!visit(context, store_column_text(statement, 0), sqlite3_column_double(statement, 1)))
            break;
    return store_rows_done(s, statement, code, doing, st);
}
