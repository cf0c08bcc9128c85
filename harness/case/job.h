/* job.h - one piece of work for a worker: a case on a backend under a profile; and its result.
 *
 * A result is one JSON object, the same in the pipe, in the database and in the report, with the
 * keys of docs/bench.schema.json. Beside them the worker sends, under "internal", what the parent
 * needs and nobody stores: samples, element type, working set, exit code. */
#ifndef TESSERA_HARNESS_CASE_JOB_H
#define TESSERA_HARNESS_CASE_JOB_H

#include <jansson.h>
#include <stdbool.h>
#include <stdint.h>

#include "base/text.h"
#include "common/exit_code.h"
#include "tessera/compiler.h"

typedef enum job_mode {
    JOB_BENCH,   /* check, then time */
    JOB_VERIFY,  /* check alone */
    JOB_RECORD,  /* run the interpreter and write the golden */
    JOB_CONTROL, /* check a fault against the strict bits, or the bound */
    JOB_PACK,    /* write the members of a pack into `staging` */
    JOB_REPLAY,  /* compute and check against the interpreter, as a pack's case */
    JOB_TUNE     /* check `schedule` against the kernel's own, then time both in turn */
} job_mode;

typedef struct job {
    const char *path, *kernel, *case_name, *golden_path;
    uint32_t line; /* of the case in its source; only where jobs are made from a corpus */
    const char *backend, *profile, *isa; /* isa NULL: the host's best */
    uint32_t threads;
    uint64_t seed;
    bool quick;
    bool order_probe;     /* recover the trees of all accumulations, too */
    bool unoptimised;     /* compile without fusing or simplifying anything */
    bool generic;         /* by code for any dimensions */
    const char *schedule; /* values of schedule parameters; NULL: the source's, or the default */
    bool tuned;           /* `schedule` is what the tuner found */
    const char *cache;    /* the folder of compiled modules, or NULL */
    const char *fault;    /* made on purpose (faults.def), or NULL */
    const char *source;   /* text of the kernel's source, instead of the file at `path`; or NULL */
    const char *staging;  /* PACK: the folder that receives the members */
    bool launches; /* PACK: launch too; false where the recorded failure took the worker down */
    bool sandbox;  /* REPLAY: the worker first gives up what a kernel has no need of */
    job_mode mode;
} job;

/* "kernel/case@backend,profile,threads": names a result within a run. */
void job_key(const job *j, text *out);

/* How the job's kernel is compiled; `kernel` may be NULL where its source is not at hand. */
compiler_options job_compiler_options(const job *j, const compiler_kernel *kernel);

json_t *job_to_json(const job *j);
/* Strings are borrowed from `object`. False when something is missing. */
bool job_from_json(json_t *object, job *out);

/* A result with every key present and absent values null. `why` may be NULL. */
json_t *job_result_new(const job *j, const char *outcome, const char *why);
/* Appends KERNEL/CASE@BACKEND,PROFILE,THREADS, as job_key does for a job. */
void job_result_key(const json_t *result, text *out);
/* The text under a name of a result, or of an object in one; "" where there is none. Borrowed. */
const char *job_result_text(const json_t *object, const char *name);
/* Is it the status of a result at all? */
bool job_status_is_known(const char *outcome);
/* Is a status a failure of its case? "ok", "skipped" and "unsupported" are none. */
bool job_status_is_failure(const char *outcome);
exit_code job_result_exit(const json_t *result);
/* Removes "internal" and returns it (owned), or NULL. */
json_t *job_result_take_internal(json_t *result);

#endif
