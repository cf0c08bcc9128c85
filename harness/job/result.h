/* result.h - what became of a job: one JSON object, the same in the pipe, in the database and in
 * documents, with the fields of result.def and the keys of docs/bench.schema.json.
 *
 * Beside them the worker sends, under "internal", what the parent needs and nobody stores. */
#ifndef TESSERA_HARNESS_JOB_RESULT_H
#define TESSERA_HARNESS_JOB_RESULT_H

#include <jansson.h>
#include <stdbool.h>

#include "base/text.h"
#include "case/inputs.h"
#include "common/exit_code.h"
#include "job/job.h"

typedef enum job_outcome {
#define OUTCOME(id, ...) OUTCOME_##id,
#include "job/outcome.def"
#undef OUTCOME
    OUTCOME_COUNT
} job_outcome;

typedef enum result_field {
#define GROUP(outer, nullable)
#define FIELD(id, ...) RESULT_##id,
#define INTERNAL(id, name, kind)
#include "job/result.def"
#undef GROUP
#undef FIELD
#undef INTERNAL
    RESULT_FIELD_COUNT
} result_field;

typedef enum result_internal_field {
#define GROUP(outer, nullable)
#define FIELD(id, ...)
#define INTERNAL(id, name, kind) INTERNAL_##id,
#include "job/result.def"
#undef GROUP
#undef FIELD
#undef INTERNAL
    INTERNAL_FIELD_COUNT
} result_internal_field;

typedef enum result_kind {
    RESULT_KIND_TEXT,
    RESULT_KIND_WHOLE,
    RESULT_KIND_NUMBER,
    RESULT_KIND_FLAG,
    RESULT_KIND_JSON
} result_kind;

typedef struct result_field_info {
    const char *outer, *inner; /* path of keys; `inner` "" where there is one */
    result_kind kind;
    bool always;        /* older versions wrote it, too */
    const char *csv;    /* title of its column, or NULL */
    const char *schema; /* JSON */
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
/* Outcome of a failure of code of others: its own, and no bug of ours. */
job_outcome outcome_of_others(const status *st);

/* ---- writing ---- */

/* A new result of the job, all else as result.def says. `why` may be NULL. Owned. */
json_t *result_new(const job *j, job_outcome o, const char *why);
/* The one place where the status of a result changes: also its `why` (NULL or "": none), and under
 * "internal" the exit code that it stands for. */
void result_set_outcome(json_t *result, job_outcome o, const char *why, exit_code code);
/* Takes `value` over. For loops over fields: one that is known has result_put_ID, below. */
void result_set(json_t *result, result_field field, json_t *value);
void result_set_internal(json_t *result, result_internal_field field, json_t *value);

/* The types of kinds, and values of them as JSON. None is null: NULL, a negative whole number, and
 * a number that is not finite. JSON is taken over. */
#define RESULT_C_TEXT const char *
#define RESULT_C_WHOLE int64_t
#define RESULT_C_NUMBER double
#define RESULT_C_FLAG bool
#define RESULT_C_JSON json_t *
json_t *result_json_TEXT(const char *value);
json_t *result_json_WHOLE(int64_t value);
json_t *result_json_NUMBER(double value);
json_t *result_json_FLAG(bool value);
json_t *result_json_JSON(json_t *value);

/* result_put_COMPILE(result, ns), and so on for each field; internal_put_KEY(result, key). */
#define GROUP(outer, nullable)
#define FIELD(id, outer, inner, kind, ...)                                                         \
    static inline void result_put_##id(json_t *result, RESULT_C_##kind value) {                    \
        result_set(result, RESULT_##id, result_json_##kind(value));                                \
    }
#define INTERNAL(id, name, kind)                                                                   \
    static inline void internal_put_##id(json_t *result, RESULT_C_##kind value) {                  \
        result_set_internal(result, INTERNAL_##id, result_json_##kind(value));                     \
    }
#include "job/result.def"
#undef GROUP
#undef FIELD
#undef INTERNAL

/* On which set of the inputs it failed. */
void result_put_failed_on(json_t *result, input_set set);

/* ---- reading: of this or any older version ---- */

/* NULL where it is not there; json_null() is there. Borrowed. */
json_t *result_get(const json_t *result, result_field field);
/* The group of a field; NULL: it is not there. Borrowed. */
json_t *result_group_of(const json_t *result, result_field field);
/* It is there, and is not null. */
bool result_has_group(const json_t *result, result_field field);
/* Each reads fields of its own kind; numbers may be whole. */
const char *result_string(const json_t *result, result_field field); /* NULL: none. Borrowed */
const char *result_text(const json_t *result, result_field field);   /* "": none. Borrowed */
double result_number(const json_t *result, result_field field);      /* NAN: none */
int64_t result_whole(const json_t *result, result_field field);      /* -1: none */
bool result_flag(const json_t *result, result_field field);          /* false: none */
job_outcome result_outcome(const json_t *result);                    /* OUTCOME_COUNT: none */
/* Appends KERNEL/CASE@BACKEND,PROFILE,THREADS, as job_key does for a job. */
void result_key(const json_t *result, text *out);
/* Appends the ranks of it, ",ranks=3,shm"; nothing for one. */
void result_ranks(const json_t *result, text *out);
/* The command that replays its pack, "" without one; code of others needs to be trusted. */
void result_replay(const json_t *result, text *out);
exit_code result_exit(const json_t *result);
/* The set on which it failed, where its record names one. */
bool result_failed_on(const json_t *result, input_set *out);
/* Digests of the outputs that made it a failure, or of those that hold; borrowed. */
const json_t *result_digests(const json_t *result);
/* The part beside the result, or NULL; borrowed. The second removes it from the result: owned. */
const json_t *result_internal(const json_t *result);
json_t *result_take_internal(json_t *result);
/* A field of what they return. */
json_t *internal_get(const json_t *internal, result_internal_field field);

#endif
