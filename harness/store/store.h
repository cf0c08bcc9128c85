/* store.h - past runs, in one SQLite file (docs/database.md has the tables).
 *
 * A run is begun, gets its results one by one, and is finished. A result is in the file when the
 * call returns (a crash or kill -9 loses nothing), and on the disk before the next one is stored: a
 * power cut can take the last one. A run's end and a gate are on the disk when the call returns. A
 * run that was never finished was interrupted. Failures to write (a full disk) are
 * STATUS_OUT_OF_MEMORY or STATUS_IO and lose nothing that was stored before; a database made by a
 * newer tsr, or a file that is no database, is STATUS_CORRUPT. Strings that a callback receives are
 * borrowed for the call. Thread rule: one store, one thread. */
#ifndef TESSERA_HARNESS_STORE_STORE_H
#define TESSERA_HARNESS_STORE_STORE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/status.h"

typedef struct store store;

/* Creates the file and its directories where they are missing, and migrates an older database. */
store *store_open(const char *path, status *st);
/* NULL with an OK status where there is no database yet. One that this process may not write, or
 * not beside it, is copied and the copy is read; writing to it then fails. */
store *store_open_existing(const char *path, status *st);
void store_close(store *s);
const char *store_path(const store *s);

typedef struct store_run {
    int64_t number; /* ascending with time */
    const char *id;
    const char *started;     /* RFC 3339 */
    const char *arguments;   /* what was asked, in canonical text */
    const char *machine;     /* runs with equal text can be compared */
    const char *head;        /* JSON: the document without ceilings and results */
    int exit_code;           /* -1: not finished */
    int64_t results, failed; /* counts; only from store_each_run */
} store_run;

typedef struct store_result {
    const char *key;    /* kernel/case@backend,profile,threads */
    const char *status; /* "ok", ... */
    double median_ns;   /* negative: not timed */
    const char *record; /* the result as JSON */
    const double *samples;
    size_t sample_count;
} store_result;

typedef struct store_ceiling {
    const char *resource, *profile;
    double value;
    const char *unit;
} store_ceiling;

/* The run is this process' own until the store is closed or the process ends, in whatever way: no
 * other resumes it meanwhile. */
bool store_begin_run(store *s, const store_run *run, int64_t *number, status *st);
bool store_put_result(store *s, int64_t run, const store_result *result, status *st);
bool store_put_ceiling(store *s, int64_t run, const store_ceiling *c, status *st);
bool store_finish_run(store *s, int64_t run, int exit_code, status *st);

/* Is another process executing it? */
bool store_is_executed(store *s, int64_t run);

/* Taking over what other databases have, between these two, and all of it or nothing. */
bool store_begin_merge(store *s, status *st);
bool store_end_merge(store *s, bool keep, status *st); /* false also where `keep` is */
/* A whole run; exit_code -1: it was not finished. STATUS_UNAVAILABLE where another process has put
 * a run of that id meanwhile. */
bool store_copy_run(store *s, const store_run *run, int64_t *number, status *st);
bool store_insert_result(store *s, int64_t run, const store_result *result, status *st);
bool store_forget_run(store *s, int64_t run, status *st);
/* All gates of another database that this one does not have. */
bool store_copy_gates(store *s, store *from, uint64_t *copied, status *st);

/* A callback returns false to stop early. */
typedef bool (*store_run_fn)(void *context, const store_run *run);
typedef bool (*store_result_fn)(void *context, const store_result *result); /* without samples */
typedef bool (*store_ceiling_fn)(void *context, const char *resource, const char *profile,
                                 double value, const char *unit);
/* Newest first. */
bool store_each_run(store *s, store_run_fn visit, void *context, status *st);
/* In the order stored. */
bool store_each_result(store *s, int64_t run, store_result_fn visit, void *context, status *st);
bool store_each_ceiling(store *s, int64_t run, store_ceiling_fn visit, void *context, status *st);

/* The timed samples of each result that has some, in the order taken; borrowed for the call. */
typedef bool (*store_samples_fn)(void *context, const char *key, const double *ns, size_t count);
bool store_each_samples(store *s, int64_t run, store_samples_fn visit, void *context, status *st);

/* Timed results that were ok, of the newest `runs` runs of a machine up to run `last`; the newest
 * run first. */
typedef struct store_past {
    const char *machine;
    int64_t last;
    uint32_t runs;
} store_past;
typedef struct store_point {
    int64_t run;
    const char *key;
    double median_ns, low_ns, high_ns;
    int64_t flops, bytes; /* negative: not known */
} store_point;
typedef bool (*store_point_fn)(void *context, const store_point *point);
bool store_each_point(store *s, const store_past *past, store_point_fn visit, void *context,
                      status *st);

/* Takes the latest unfinished run of these arguments on this machine for this process; 0 where
 * there is none. STATUS_UNAVAILABLE where another process is executing it. */
bool store_resume_run(store *s, const char *arguments, const char *machine, int64_t *run,
                      status *st);
/* The latest unfinished run of these arguments on this machine, or 0. */
bool store_find_unfinished(store *s, const char *arguments, const char *machine, int64_t *run,
                           status *st);
/* A run by its id, an unambiguous prefix of one, or "last". */
bool store_find_run(store *s, const char *name, int64_t *run, status *st);
/* Peers of a result have the same key, machine and work. A case whose sizes were changed keeps its
 * name and is another case. */
typedef struct store_peer {
    int64_t before; /* run */
    const char *machine, *key;
    int64_t flops, bytes; /* negative: not known */
} store_peer;
/* Median of the last such result that was ok; negative where there is none. */
bool store_last_median(store *s, const store_peer *peer, double *median_ns, status *st);
/* Paths of the packs that results refer to, as they were recorded. */
typedef bool (*store_pack_fn)(void *context, const char *path);
bool store_each_pack(store *s, store_pack_fn visit, void *context, status *st);

/* Findings of a gate, as its document tsr.gate/1. */
typedef struct store_gate {
    int64_t number;      /* ascending with time; only from store_each_gate */
    const char *id;      /* unique: a second one of the same id is STATUS_INTERNAL */
    const char *started; /* RFC 3339 */
    const char *machine; /* as of a run; NULL where nothing was timed */
    int exit_code;
    const char *document; /* JSON */
} store_gate;
/* The newest 1000 are kept. */
bool store_put_gate(store *s, const store_gate *gate, status *st);
typedef bool (*store_gate_fn)(void *context, const store_gate *gate);
/* Newest first. */
bool store_each_gate(store *s, store_gate_fn visit, void *context, status *st);

typedef struct store_pruned {
    uint64_t runs, gates;
} store_pruned;
/* Deletes all but the newest `keep` runs, and those that are being executed, and the newest `keep`
 * gates; `shrink` gives the room back, which rewrites the file. */
bool store_prune(store *s, uint64_t keep, bool shrink, store_pruned *deleted, status *st);

#endif
