/* arm.h - one arm of a gate: where its modules, or its recorded results, come from.
 *
 *   build    a tsr executable: it compiles the corpus of its checkout, or the one at hand
 *   commit   what `build` is, from a checkout of its own
 *   modules  .tsrm files that somebody compiled: one, or a folder of them
 *   run      results of a past run, or of several, from the database
 *   file     the same from files that bench --export json= wrote
 *
 * An arm has units: what is compared, one each. */
#ifndef TESSERA_HARNESS_GATE_ARM_H
#define TESSERA_HARNESS_GATE_ARM_H

#include <jansson.h>

#include "base/map.h"
#include "base/vec.h"
#include "case.h"
#include "job_plan.h"

enum { ARM_RECORDS_MAX = 48 }; /* runs of one side */

typedef enum arm_kind {
    ARM_BUILD,
    ARM_COMMIT,
    ARM_MODULES,
    ARM_RUN,
    ARM_FILE,
    ARM_KIND_COUNT
} arm_kind;

typedef struct arm_unit {
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
} arm_unit;

typedef struct arm {
    arm_kind kind;
    char *name;   /* what the user wrote */
    char *detail; /* the commit's full name, the program's path; or NULL */
    char *tool;   /* the tsr that compiles; NULL: this one */
    corpus corpus;
    const corpus *items; /* `corpus`, or one that is borrowed */
    job_plan plan;
    VEC(arm_unit) units;
    map by_key;        /* -> index + 1 */
    json_t *documents; /* beside `heads`: the results of each */
    json_t *heads;     /* of recorded results: the documents without results, an array; or NULL */
} arm;

typedef struct arm_request {
    const char *what;         /* KIND:NAME or NAME; NULL: this very tsr */
    const char *build;        /* a command that makes build/tsr in a checkout; NULL: this tsr
                                 compiles the checkout's sources */
    const job_choice *choice; /* profiles, threads, ISA level */
    const corpus_query *query;
    const corpus *corpus; /* of the query, here; borrowed until arm_close */
    const char *database;
    bool profiles_chosen, threads_chosen; /* by name: other results and modules are left out */
} arm_request;

/* False: there is no such thing (STATUS_NOT_FOUND), or it is damaged. arm_close in any case. */
bool arm_open(arm *a, const arm_request *request, status *st);
void arm_close(arm *a);
const char *arm_kind_name(arm_kind kind);
bool arm_is_recorded(const arm *a);

arm_unit *arm_find(const arm *a, const char *key);
/* Makes the unit's module where it has none; false with unit->problem set. */
bool arm_compile(const arm *a, arm_unit *unit, const job_choice *choice);

typedef struct arm_module {
    void *image; /* owned by the caller: free() */
    size_t bytes;
} arm_module;
/* The unit's module for another ISA level; NULL: the one that was asked for. False where it does
 * not compile, or where there is only a module and no source. */
bool arm_compile_level(const arm *a, const arm_unit *unit, const job_choice *choice,
                       const char *isa, arm_module *out, status *st);

/* Whether --filter, --profile and --threads mean a result or a module that is there already.
 * `threads` 0: any. */
bool arm_wants(const arm_request *request, const char *kernel, const char *case_name,
               const char *profile, uint32_t threads);
/* For the files that open the kinds: a unit of that key, added where it is new. */
arm_unit *arm_add(arm *a, const char *key);
void arm_set_image(arm_unit *unit, void *image, size_t bytes); /* takes it over */

/* arm_modules.c, arm_records.c, checkout.c */
bool arm_open_modules(arm *a, const arm_request *request, const char *path, status *st);
/* Names of runs, or of files, separated by commas. */
bool arm_open_records(arm *a, const arm_request *request, const char *names, status *st);
/* A folder with the commit's tree, made where it is missing, and built where `build` is not NULL.
 * Owned. `commit` receives the full name. */
char *checkout_make(const char *name, const char *build, char commit[65], status *st);
/* `path` as it is called in a checkout of the repository that it is in. Owned. */
char *checkout_path(const char *folder, const char *path, status *st);
/* Whether `name` is a commit of the repository here. */
bool checkout_is_commit(const char *name);

#endif
