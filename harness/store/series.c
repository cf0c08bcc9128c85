/* series.c - many numbers at once: the samples of a run, and the times of a machine's past. */
#include "base/arena.h"
#include "base/vec.h"
#include "store/connection.h"

typedef VEC(double) number_list;

typedef struct samples_of {
    int64_t result; /* whose samples are in `values`; 0: none yet */
    char *key;
    number_list values;
} samples_of;

static bool tell(samples_of *from, store_samples_fn visit, void *context) {
    bool more = !from->result || visit(context, from->key, from->values.items, from->values.count);
    vec_clear(&from->values);
    free(from->key);
    from->key = NULL;
    from->result = 0;
    return more;
}

bool store_each_samples(store *s, int64_t run, store_samples_fn visit, void *context, status *st) {
    static const char doing[] = "reading samples";
    sqlite3_stmt *statement =
        store_prepare(s,
                      "SELECT results.number, samples.ns, results.key FROM results JOIN samples"
                      " ON samples.result = results.number WHERE results.run = ?"
                      " ORDER BY results.number, samples.position",
                      doing, st);
    if (!statement)
        return false;
    sqlite3_bind_int64(statement, 1, run);
    samples_of from = {0};
    bool more = true;
    int code = SQLITE_DONE;
    while (more && (code = sqlite3_step(statement)) == SQLITE_ROW) {
        int64_t result = sqlite3_column_int64(statement, 0);
        if (result != from.result) {
            more = tell(&from, visit, context);
            from.result = result;
            from.key = base_strdup(store_column_text(statement, 2));
        }
        vec_push(&from.values, sqlite3_column_double(statement, 1));
    }
    if (more && code == SQLITE_DONE)
        tell(&from, visit, context);
    free(from.key);
    vec_release(&from.values);
    return store_rows_done(s, statement, code, doing, st);
}

static int64_t known(sqlite3_stmt *statement, int column) {
    return sqlite3_column_type(statement, column) == SQLITE_NULL
               ? -1
               : sqlite3_column_int64(statement, column);
}

bool store_each_point(store *s, const store_past *past, store_point_fn visit, void *context,
                      status *st) {
    static const char doing[] = "reading past results";
    sqlite3_stmt *statement =
        store_prepare(s,
                      "SELECT run, key, median_ns, json_extract(record, '$.time_ns.low'),"
                      " json_extract(record, '$.time_ns.high'), json_extract(record, '$.flops'),"
                      " json_extract(record, '$.bytes') FROM results WHERE status = 'ok'"
                      " AND median_ns IS NOT NULL AND run IN (SELECT number FROM runs"
                      " WHERE machine = ? AND number <= ? ORDER BY number DESC LIMIT ?)"
                      " ORDER BY run DESC, number",
                      doing, st);
    if (!statement)
        return false;
    store_bind_text(statement, 1, past->machine);
    sqlite3_bind_int64(statement, 2, past->last);
    sqlite3_bind_int64(statement, 3, past->runs);
    int code;
    while ((code = sqlite3_step(statement)) == SQLITE_ROW) {
        store_point point = {.run = sqlite3_column_int64(statement, 0),
                             .key = store_column_text(statement, 1),
                             .median_ns = sqlite3_column_double(statement, 2),
                             .low_ns = sqlite3_column_double(statement, 3),
                             .high_ns = sqlite3_column_double(statement, 4),
                             .flops = known(statement, 5),
                             .bytes = known(statement, 6)};
        if (!visit(context, &point))
            break;
    }
    return store_rows_done(s, statement, code, doing, st);
}
