/* gates.c - what gates found, kept beside the runs. */
#include "store/connection.h"

/* One is some 100 KiB where it compares a whole corpus. */
enum { GATES_KEPT = 1000 };

static bool insert(store *s, const store_gate *gate, const char *doing, status *st) {
    sqlite3_stmt *statement = store_prepare(
        s, "INSERT INTO gates (id, started, machine, exit_code, document) VALUES (?, ?, ?, ?, ?)",
        doing, st);
    if (!statement)
        return false;
    store_bind_text(statement, 1, gate->id);
    store_bind_text(statement, 2, gate->started);
    store_bind_text(statement, 3, gate->machine);
    sqlite3_bind_int(statement, 4, gate->exit_code);
    store_bind_text(statement, 5, gate->document);
    return store_step(s, statement, doing, st);
}

bool store_keep_gates(store *s, int64_t keep, const char *doing, status *st) {
    sqlite3_stmt *statement = store_prepare(s,
                                            "DELETE FROM gates WHERE number NOT IN (SELECT number "
                                            "FROM gates ORDER BY number DESC LIMIT ?)",
                                            doing, st);
    if (!statement)
        return false;
    sqlite3_bind_int64(statement, 1, keep);
    return store_step(s, statement, doing, st);
}

bool store_put_gate(store *s, const store_gate *gate, status *st) {
    static const char doing[] = "storing a gate";
    if (!store_execute(s, "BEGIN IMMEDIATE", doing, st))
        return false;
    bool ok = insert(s, gate, doing, st) && store_keep_gates(s, GATES_KEPT, doing, st) &&
              store_execute(s, "COMMIT", doing, st);
    if (!ok)
        sqlite3_exec(s->db, "ROLLBACK", NULL, NULL, NULL);
    return ok && store_make_durable(s, true, st);
}

bool store_each_gate(store *s, store_gate_fn visit, void *context, status *st) {
    static const char doing[] = "listing gates";
    sqlite3_stmt *statement =
        store_prepare(s,
                      "SELECT number, id, started, machine, exit_code, document FROM gates"
                      " ORDER BY number DESC",
                      doing, st);
    if (!statement)
        return false;
    int code;
    while ((code = sqlite3_step(statement)) == SQLITE_ROW) {
        store_gate gate = {.number = sqlite3_column_int64(statement, 0),
                           .id = store_column_text(statement, 1),
                           .started = store_column_text(statement, 2),
                           .machine = store_column_text(statement, 3),
                           .exit_code = sqlite3_column_int(statement, 4),
                           .document = store_column_text(statement, 5)};
        if (!visit(context, &gate))
            break;
    }
    return store_rows_done(s, statement, code, doing, st);
}
