/* side.h - one side of a gate: where its modules, or its recorded results, come from.
 *
 *   build    a tsr executable: it compiles the corpus of its checkout, or the one at hand
 *   commit   what `build` is, from a checkout of its own
 *   modules  .tsrm files that somebody compiled: one, or a folder of them
 *   run      results of a past run, or of several, from the database
 *   file     the same from files that bench --export json= wrote
 *   implementation  code of others (--with), which the device `foreign` runs
 *
 * A side has units: what is compared, one each. */
#ifndef TESSERA_HARNESS_GATE_SIDE_H
#define TESSERA_HARNESS_GATE_SIDE_H

#include <jansson.h>

#include "base/map.h"
#include "base/vec.h"
#include "case/case.h"
#include "common/scratch_folder.h"
#include "job/job_plan.h"

enum { GATE_SIDE_RECORDS_MAX = 48 }; /* runs of one side */

typedef enum gate_side_kind {
    GATE_SIDE_BUILD,
    GATE_SIDE_COMMIT,
    GATE_SIDE_MODULES,
    GATE_SIDE_RUN,
    GATE_SIDE_FILE,
    GATE_SIDE_IMPLEMENTATION,
    GATE_SIDE_KIND_COUNT
} gate_side_kind;

typedef struct gate_side_unit {
    char *key; /* kernel/case@backend,profile,threads */
    char *kernel, *case_name, *backend, *profile;
    uint32_t threads;
    const corpus_case *item; /* NULL: no source is at hand */
    void *image;             /* the module; NULL: not compiled (yet), or a recorded result */
    size_t image_bytes;
    char hash[65];         /* of the module; "" where it is not known */
    char work[65];         /* of its graph; "" likewise */
    VEC(json_t *) records; /* of runs and files: one for each that has the key */
    bool left_out;         /* not meant: it takes no part */
    double fraction;       /* of records: the greatest share of a roof that one of them has */
    size_t last_document;  /* number of the document that its last record is of */
    char *problem;         /* why there is no module, or why its result does not count */
} gate_side_unit;

typedef struct gate_side {
    gate_side_kind kind;
    char *name;   /* what the user wrote */
    char *detail; /* the commit's full name, the path of a program or an implementation; or NULL */
    char *tool;   /* the tsr that compiles; NULL: this one */
    corpus corpus;
    const corpus *items; /* `corpus`, or one that is borrowed */
    job_plan plan;
    VEC(gate_side_unit) units;
    map by_key;            /* -> index + 1 */
    implementation *code;  /* of an implementation; the plan's jobs borrow from it */
    scratch_folder folder; /* for the files of a program of others */
    json_t *documents;     /* beside `heads`: the results of each */
    json_t *heads; /* of recorded results: the documents without results, an array; or NULL */
} gate_side;

typedef struct gate_side_request {
    const char *what;         /* KIND:NAME or NAME; NULL: this very tsr */
    const char *build;        /* a command that makes build/tsr in a checkout; NULL: this tsr
                                 compiles the checkout's sources */
    const job_choice *choice; /* profiles, threads, ISA level */
    const corpus_query *query;
    const corpus *corpus; /* of the query, here; borrowed until gate_side_close */
    const char *database;
    bool profiles_chosen, threads_chosen; /* by name: other results and modules are left out */
} gate_side_request;

/* False: there is no such thing (STATUS_NOT_FOUND), or it is damaged. gate_side_close in any case.
 */
bool gate_side_open(gate_side *a, const gate_side_request *request, status *st);
void gate_side_close(gate_side *a);
const char *gate_side_kind_name(gate_side_kind kind);
bool gate_side_is_recorded(const gate_side *a);
bool gate_side_is_foreign(const gate_side *a); /* code of others */

gate_side_unit *gate_side_find(const gate_side *a, const char *key);
/* Makes the unit's module where it has none; false with unit->problem set. */
bool gate_side_compile(const gate_side *a, gate_side_unit *unit, const job_choice *choice);

typedef struct gate_side_module {
    void *image; /* owned by the caller: free() */
    size_t bytes;
} gate_side_module;
/* The unit's module for another ISA level; NULL: the one that was asked for. False where it does
 * not compile, or where there is only a module and no source. */
bool gate_side_compile_level(const gate_side *a, const gate_side_unit *unit,
                             const job_choice *choice, const char *isa, gate_side_module *out,
                             status *st);

/* Checks that --filter, --profile and --threads mean a result or a module that is there already.
 * `threads` 0: any. */
bool gate_side_wants(const gate_side_request *request, const char *kernel, const char *case_name,
                     const char *profile, uint32_t threads);
/* For the files that open the kinds: a unit of that key, added where it is new. */
gate_side_unit *gate_side_add(gate_side *a, const char *key);
void gate_side_set_image(gate_side_unit *unit, void *image, size_t bytes); /* takes it over */

/* The units of the jobs that `choice` makes of the side's items. */
void gate_side_plan(gate_side *a, const job_choice *choice);

/* side_modules.c, side_records.c, side_implementation.c */
bool gate_side_open_modules(gate_side *a, const gate_side_request *request, const char *path,
                            status *st);
/* Names of runs, or of files, separated by commas. */
bool gate_side_open_records(gate_side *a, const gate_side_request *request, const char *names,
                            status *st);
/* FILE[:SYMBOL[=KERNEL]] */
bool gate_side_open_implementation(gate_side *a, const gate_side_request *request,
                                   const char *given, status *st);
bool gate_side_wrap(const gate_side *a, const job *j, compiler_instance *instance,
                    gate_side_module *out, status *st);

#endif
