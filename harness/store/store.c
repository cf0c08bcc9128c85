/* store.c - opening, migrating and writing the database. */
#include "store/store.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#include "base/arena.h"
#include "base/file.h"
#include "store/connection.h"
#include "store/durable.h"
#include "store/snapshot.h"

static const char *const migrations[] = {
#define MIGRATION(sql) sql,
#include "store/migrations.def"
#undef MIGRATION
};
enum { MIGRATIONS = sizeof migrations / sizeof migrations[0] };

bool store_failed(store *s, const char *doing, status *st) {
    int code = sqlite3_errcode(s->db);
    const char *why = sqlite3_errmsg(s->db);
    switch (code & 0xff) {
    case SQLITE_FULL:
    case SQLITE_IOERR:
        return status_set(st, STATUS_OUT_OF_MEMORY,
                          "%s: %s: no room to write (%s); everything stored before is safe",
                          s->path, doing, why);
    case SQLITE_CORRUPT:
    case SQLITE_NOTADB:
        return status_set(st, STATUS_CORRUPT, "%s: %s: not a readable database (%s)", s->path,
                          doing, why);
    case SQLITE_ERROR: /* our statements are fixed: what is read is not what we wrote */
        return status_set(st, STATUS_CORRUPT, "%s: %s: its contents are not those of tsr (%s)",
                          s->path, doing, why);
    case SQLITE_CANTOPEN:
        return status_set(st, STATUS_INVALID,
                          "%s: %s: %s; see that its folder lets files be made, or choose another "
                          "file with --db",
                          s->path, doing, why);
    case SQLITE_READONLY:
    case SQLITE_PERM:
    case SQLITE_AUTH:
        return status_set(st, STATUS_UNAVAILABLE, "%s: %s: %s; choose another file with --db",
                          s->path, doing, why);
    case SQLITE_BUSY:
    case SQLITE_LOCKED:
        return status_set(st, STATUS_UNAVAILABLE, "%s: %s: another tsr holds the database", s->path,
                          doing);
    default:
        return status_set(st, STATUS_INTERNAL, "%s: %s: %s", s->path, doing, why);
    }
}

bool store_execute(store *s, const char *sql, const char *doing, status *st) {
    return sqlite3_exec(s->db, sql, NULL, NULL, NULL) == SQLITE_OK || store_failed(s, doing, st);
}

sqlite3_stmt *store_prepare(store *s, const char *sql, const char *doing, status *st) {
    sqlite3_stmt *statement = NULL;
    if (sqlite3_prepare_v2(s->db, sql, -1, &statement, NULL) != SQLITE_OK)
        store_failed(s, doing, st);
    return statement;
}

bool store_step(store *s, sqlite3_stmt *statement, const char *doing, status *st) {
    int code = sqlite3_step(statement);
    bool ok = code == SQLITE_DONE || code == SQLITE_ROW || store_failed(s, doing, st);
    sqlite3_finalize(statement);
    return ok;
}

static bool read_version(store *s, int *version, status *st) {
    sqlite3_stmt *statement = store_prepare(s, "PRAGMA user_version", "reading its version", st);
    if (!statement)
        return false;
    bool ok = sqlite3_step(statement) == SQLITE_ROW || store_failed(s, "reading its version", st);
    *version = ok ? sqlite3_column_int(statement, 0) : 0;
    sqlite3_finalize(statement);
    return ok;
}

/* PRAGMA takes no parameters; the versions are few, so each has its text. */
static bool write_version(store *s, int version, status *st) {
    static const char *const texts[] = {"PRAGMA user_version=1", "PRAGMA user_version=2",
                                        "PRAGMA user_version=3"};
    _Static_assert(sizeof texts / sizeof texts[0] == MIGRATIONS, "one text for each migration");
    return store_execute(s, texts[version - 1], "setting its version", st);
}

static bool migrate(store *s, status *st) {
    int version;
    if (!read_version(s, &version, st))
        return false;
    if (version > MIGRATIONS)
        return status_set(
            st, STATUS_CORRUPT,
            "%s was written by a newer tsr (format %d; this one knows up to %d): use that tsr, or "
            "another file with --db",
            s->path, version, MIGRATIONS);
    for (; version < MIGRATIONS; version++) {
        if (!store_execute(s, "BEGIN IMMEDIATE", "migrating", st))
            return false;
        /* Another tsr may have taken the step while this one waited. */
        int now;
        bool ok = read_version(s, &now, st);
        if (ok && now == version)
            ok = store_execute(s, migrations[version], "migrating", st) &&
                 write_version(s, version + 1, st);
        if (!ok || !store_execute(s, "COMMIT", "migrating", st)) {
            sqlite3_exec(s->db, "ROLLBACK", NULL, NULL, NULL);
            return false;
        }
    }
    return true;
}

static bool make_parent(const char *path, status *st) {
    const char *slash = strrchr(path, '/');
    if (!slash || slash == path)
        return true;
    char *directory = base_strdup(path);
    directory[slash - path] = '\0';
    status made = STATUS_INIT;
    bool ok = file_make_dirs(directory, &made);
    free(directory);
    /* A path that cannot be is a wrong path; a full disk stays one. */
    if (!ok)
        status_set(st, made.code == STATUS_IO ? STATUS_INVALID : made.code,
                   "%s; the database would be in it: choose another file with --db", made.message);
    return ok;
}

/* SQLite gives names a meaning: ":memory:" and "file:x?mode=memory" would keep nothing. With a
 * folder before it a name is a name. */
static bool open_literally(store *s, const char *file) {
    char *name = NULL;
    int flags = SQLITE_OPEN_READWRITE | SQLITE_OPEN_CREATE;
    if (asprintf(&name, "%s%s", file[0] == '/' ? "" : "./", file) < 0)
        return false;
    bool ok = sqlite3_open_v2(name, &s->db, flags, NULL) == SQLITE_OK;
    free(name);
    return ok;
}

/* A pipe or a device keeps nothing. */
static bool is_a_place(const char *path, status *st) {
    struct stat info;
    bool there = stat(path, &info) == 0;
    if (!*path || (there && !S_ISREG(info.st_mode)))
        return status_set(st, STATUS_INVALID, "'%s' cannot be a database: it is no regular file",
                          path);
    if (there && info.st_nlink > 1)
        return status_set(st, STATUS_INVALID,
                          "'%s' cannot be a database: it has other names (hard links), and what is "
                          "locked under one is not under the others; copy it",
                          path);
    return true;
}

/* Opens the file, or a copy of it that is spoken of as the store's path. */
static bool connect(store *s, const char *file, status *st) {
    if (!open_literally(s, file))
        return store_failed(s, "opening", st);
    sqlite3_busy_timeout(s->db, 10000);
    /* NORMAL: commits do not wait for the disk; store_make_durable sees to that. */
    return store_execute(
               s, "PRAGMA journal_mode=WAL; PRAGMA synchronous=NORMAL; PRAGMA foreign_keys=ON",
               "opening", st) &&
           migrate(s, st);
}

static store *store_new(const char *path) {
    store *s = base_calloc(1, sizeof *s);
    s->path = base_strdup(path);
    s->claims_fd = -1;
    return s;
}

static store *store_or_nothing(store *s, bool ok) {
    if (ok)
        return s;
    store_close(s);
    return NULL;
}

store *store_open(const char *path, status *st) {
    if (!is_a_place(path, st) || !make_parent(path, st))
        return NULL;
    store *s = store_new(path);
    return store_or_nothing(s, connect(s, path, st));
}

static store *open_copy(const char *path, status *st) {
    store *s = store_new(path);
    text file;
    text_init(&file);
    bool ok = snapshot_make(path, &s->copy, &file, st) && connect(s, file.data, st) &&
              store_execute(s, "PRAGMA query_only=ON", "opening", st);
    text_release(&file);
    return store_or_nothing(s, ok);
}

store *store_open_existing(const char *path, status *st) {
    if (!file_exists(path))
        return NULL;
    return snapshot_is_needed(path) ? open_copy(path, st) : store_open(path, st);
}

void store_close(store *s) {
    if (!s)
        return;
    durable_stop(s->durable);
    store_release_claims(s);
    sqlite3_close(s->db);
    scratch_folder_close(&s->copy);
    free(s->path);
    free(s);
}

bool store_await_durable(store *s, status *st) {
    return !s->durable || durable_wait(s->durable, st);
}

/* The log beside the database is what a commit writes. Where there is none, or no thread, commits
 * wait for the disk from now on. */
bool store_make_durable(store *s, bool wait, status *st) {
    if (!s->durable) {
        char *log = NULL;
        if (asprintf(&log, "%s-wal", s->path) > 0)
            s->durable = durable_start(log);
        free(log);
    }
    if (!s->durable)
        return store_execute(s, "PRAGMA synchronous=FULL", "opening", st);
    durable_request(s->durable);
    return !wait || durable_wait(s->durable, st);
}

const char *store_path(const store *s) {
    return s->path;
}

void store_bind_text(sqlite3_stmt *statement, int position, const char *value) {
    if (value)
        sqlite3_bind_text(statement, position, value, -1, SQLITE_STATIC);
    else
        sqlite3_bind_null(statement, position);
}

bool store_insert_run(store *s, const store_run *run, int64_t *number, status *st) {
    static const char doing[] = "beginning a run";
    sqlite3_stmt *statement = store_prepare(
        s,
        "INSERT INTO runs (id, started, arguments, machine, head, exit_code) VALUES (?, ?, ?, ?, "
        "?, ?)",
        doing, st);
    if (!statement)
        return false;
    store_bind_text(statement, 1, run->id);
    store_bind_text(statement, 2, run->started);
    store_bind_text(statement, 3, run->arguments);
    store_bind_text(statement, 4, run->machine);
    store_bind_text(statement, 5, run->head);
    if (run->exit_code >= 0)
        sqlite3_bind_int(statement, 6, run->exit_code);
    if (!store_step(s, statement, doing, st))
        return false;
    *number = sqlite3_last_insert_rowid(s->db);
    return true;
}

bool store_begin_run(store *s, const store_run *run, int64_t *number, status *st) {
    store_run begun = *run;
    begun.exit_code = -1;
    if (!store_choose(s, st))
        return false;
    bool ok = store_insert_run(s, &begun, number, st) && store_make_durable(s, false, st) &&
              store_claim(s, *number, st);
    store_chosen(s);
    return ok;
}

bool store_resume_run(store *s, const char *arguments, const char *machine, int64_t *run,
                      status *st) {
    if (!store_choose(s, st))
        return false;
    bool ok = store_find_unfinished(s, arguments, machine, run, st) &&
              (*run == 0 || store_claim(s, *run, st));
    store_chosen(s);
    return ok;
}

static bool put_samples(store *s, int64_t result, const store_result *r, status *st) {
    static const char doing[] = "storing samples";
    sqlite3_stmt *statement =
        store_prepare(s, "INSERT INTO samples (result, position, ns) VALUES (?, ?, ?)", doing, st);
    bool ok = statement != NULL;
    for (size_t i = 0; i < r->sample_count && ok; i++) {
        sqlite3_bind_int64(statement, 1, result);
        sqlite3_bind_int64(statement, 2, (int64_t)i);
        sqlite3_bind_double(statement, 3, r->samples[i]);
        ok = sqlite3_step(statement) == SQLITE_DONE || store_failed(s, doing, st);
        sqlite3_reset(statement);
    }
    sqlite3_finalize(statement);
    return ok;
}

bool store_insert_result(store *s, int64_t run, const store_result *r, status *st) {
    static const char doing[] = "storing a result";
    sqlite3_stmt *statement = store_prepare(s,
                                            "INSERT OR REPLACE INTO results (run, key, status, "
                                            "median_ns, record) VALUES (?, ?, ?, ?, ?)",
                                            doing, st);
    bool ok = statement != NULL;
    if (ok) {
        sqlite3_bind_int64(statement, 1, run);
        store_bind_text(statement, 2, r->key);
        store_bind_text(statement, 3, r->status);
        if (r->median_ns >= 0)
            sqlite3_bind_double(statement, 4, r->median_ns);
        else
            sqlite3_bind_null(statement, 4);
        store_bind_text(statement, 5, r->record);
        ok = store_step(s, statement, doing, st);
    }
    return ok && put_samples(s, sqlite3_last_insert_rowid(s->db), r, st);
}

bool store_put_result(store *s, int64_t run, const store_result *r, status *st) {
    static const char doing[] = "storing a result";
    if (!store_await_durable(s, st) || !store_execute(s, "BEGIN IMMEDIATE", doing, st))
        return false;
    bool ok = store_insert_result(s, run, r, st) && store_execute(s, "COMMIT", doing, st);
    if (!ok)
        sqlite3_exec(s->db, "ROLLBACK", NULL, NULL, NULL);
    return ok && store_make_durable(s, false, st);
}

bool store_put_ceiling(store *s, int64_t run, const store_ceiling *c, status *st) {
    static const char doing[] = "storing a ceiling";
    sqlite3_stmt *statement = store_prepare(s,
                                            "INSERT OR REPLACE INTO ceilings (run, resource, "
                                            "profile, value, unit) VALUES (?, ?, ?, ?, ?)",
                                            doing, st);
    if (!statement)
        return false;
    sqlite3_bind_int64(statement, 1, run);
    store_bind_text(statement, 2, c->resource);
    store_bind_text(statement, 3, c->profile);
    sqlite3_bind_double(statement, 4, c->value);
    store_bind_text(statement, 5, c->unit);
    return store_step(s, statement, doing, st);
}

bool store_finish_run(store *s, int64_t run, int exit_code, status *st) {
    static const char doing[] = "finishing a run";
    sqlite3_stmt *statement =
        store_prepare(s, "UPDATE runs SET exit_code = ? WHERE number = ?", doing, st);
    if (!statement)
        return false;
    sqlite3_bind_int(statement, 1, exit_code);
    sqlite3_bind_int64(statement, 2, run);
    return store_step(s, statement, doing, st) && store_make_durable(s, true, st);
}
