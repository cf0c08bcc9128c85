/* job.h - one piece of work for a worker: a case on a backend under a profile. job.def has its
 * fields. */
#ifndef TESSERA_HARNESS_JOB_JOB_H
#define TESSERA_HARNESS_JOB_JOB_H

#include <jansson.h>
#include <stdbool.h>
#include <stdint.h>

#include "base/text.h"
#include "common/json_text.h"
#include "tessera/compiler.h"

typedef enum job_mode {
    JOB_BENCH,   /* check, then time */
    JOB_VERIFY,  /* check alone */
    JOB_RECORD,  /* run the interpreter and write the golden */
    JOB_CONTROL, /* check a fault against the strict bits, or the bound */
    JOB_PACK,    /* write the members of a pack into `staging` */
    JOB_REPLAY,  /* compute and check against the interpreter, as a pack's case */
    JOB_EXPORT,  /* write the case in `language`, and run nothing */
    JOB_TUNE,    /* check `schedule` against the kernel's own, then time both in turn */
    JOB_STEPS,   /* list the passes on the way down, and the operations */
    JOB_OPINION, /* hold what the interpreter and the compiler share to a second opinion */
    JOB_RUNS,    /* of a program: run its kernels one by one, up to the first that is wrong */
    JOB_EMIT     /* give the edited case as a source and arrays */
} job_mode;

/* In `after`, of STEPS: the modules behind all passes. */
#define JOB_AFTER_EACH "*"
/* In `opinion`: the interpreter is held to code. */
#define JOB_OPINION_OF_CODE "interpreter"
/* The stage in which an image is read and loaded. */
#define JOB_IMAGE_STAGE "image"

#define JOB_C_TEXT const char *
#define JOB_C_BYTES const char *
#define JOB_C_COUNT uint32_t
#define JOB_C_SEED uint64_t
#define JOB_C_FLAG bool

/* The JSON of a field's value, by its kind. */
#define job_json_TEXT(value) json_text(value)
#define job_json_BYTES(value) json_bytes(value)
#define job_json_COUNT(value) json_integer(value)
#define job_json_SEED(value) json_integer((json_int_t)(value))
#define job_json_FLAG(value) json_boolean(value)

typedef struct job {
#define OWN(kind, name) JOB_C_##kind name;
#define CHOSEN(kind, name, scope) JOB_C_##kind name;
#include "job/job.def"
#undef OWN
#undef CHOSEN
    job_mode mode;
} job;

/* "kernel/case@backend,profile,threads": names a result within a run. */
void job_key(const job *j, text *out);

/* True of a backend that users name to have it: its results are missing where they cannot be had.
 */
bool job_is_of_product(const job *j);

/* Options to compile the job's kernel; `kernel` may be NULL where its source is not at hand. */
compiler_options job_compiler_options(const job *j, const compiler_kernel *kernel);

json_t *job_to_json(const job *j);
/* Strings are borrowed from `object`. False when something is missing. */
bool job_from_json(json_t *object, job *out);

#endif
