/* result.h - what became of a job: one JSON object, the same in the pipe, in the database and in
 * documents, with the fields of result.def and the keys of docs/bench.schema.json.
 *
 * Beside them the worker sends, under "internal", what the parent needs and nobody stores: samples,
 * element type, working set, exit code. */
#ifndef TESSERA_HARNESS_CASE_RESULT_H
#define TESSERA_HARNESS_CASE_RESULT_H

#include <jansson.h>
#include <stdbool.h>

#include "base/text.h"
#include "case/inputs.h"
#include "case/job.h"
#include "common/exit_code.h"

typedef enum job_outcome {
#define OUTCOME(id, ...) OUTCOME_##id,
#include "case/outcome.def"
#undef OUTCOME
    OUTCOME_COUNT
} job_outcome;

typedef enum result_field {
#define GROUP(outer, nullable)
#define FIELD(id, outer, inner, presence, initial, csv, ...) RESULT_##id,
#include "case/result.def"
#undef GROUP
#undef FIELD
    RESULT_FIELD_COUNT
} result_field;

typedef struct result_field_info {
    const char *outer, *inner; /* path of keys; `inner` "" where there is one */
    bool always;               /* older versions wrote it, too */
    const char *csv;           /* title of its column, or NULL */
    const char *schema;        /* JSON */
} result_field_info;
extern const result_field_info result_fields[RESULT_FIELD_COUNT];

/* The object in which it stands, of results or of the schema's groups; NULL past the last. */
typedef struct result_group {
    const char *outer;
    bool nullable;
} result_group;
const result_group *result_group_at(size_t index);

/* ---- outcomes ---- */
const char *outcome_name(job_outcome o);
job_outcome outcome_from_name(const char *name); /* OUTCOME_COUNT: there is none */
bool outcome_is_failure(job_outcome o);
/* What a failure of code of others is: its own result, and no bug of ours. */
job_outcome outcome_of_others(const status *st);

/* ---- writing ---- */

/* A new result of the job, all else as result.def says. `why` may be NULL. Owned. */
json_t *result_new(const job *j, job_outcome o, const char *why);
/* The one place where the status of a result changes: also its `why` (NULL or "": none), and under
 * "internal" the exit code that it stands for. */
void result_set_outcome(json_t *result, job_outcome o, const char *why, exit_code code);
/* Takes `value` over. */
void result_set(json_t *result, result_field field, json_t *value);

/* On which set of the inputs it failed. */
void result_put_failed_on(json_t *result, input_set set);

/* ---- reading: of this or any older version ---- */

/* NULL where it is not there; json_null() is there. Borrowed. */
json_t *result_get(const json_t *result, result_field field);
const char *result_text(const json_t *result, result_field field); /* "": none. Borrowed */
double result_number(const json_t *result, result_field field);    /* NAN: none */
int64_t result_whole(const json_t *result, result_field field);    /* -1: none */
job_outcome result_outcome(const json_t *result);                  /* OUTCOME_COUNT: none */
/* Appends KERNEL/CASE@BACKEND,PROFILE,THREADS, as job_key does for a job. */
void result_key(const json_t *result, text *out);
exit_code result_exit(const json_t *result);
/* The set on which it failed, where its record names one. */
bool result_failed_on(const json_t *result, input_set *out);
/* Digests of the outputs that made it a failure, or of those that hold; borrowed. */
const json_t *result_digests(const json_t *result);
/* Removes "internal" and returns it (owned), or NULL. */
json_t *result_take_internal(json_t *result);

#endif
