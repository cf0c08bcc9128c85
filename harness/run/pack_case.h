/* pack_case.h - makes a pack of one case: what ran, what came of it, and all that is needed to make
 * it happen again.
 *
 * A worker of its own writes the members (staging.h), so that a case that brings its worker down
 * can be packed, too: what that worker had written by then is packed. */
#ifndef TESSERA_HARNESS_RUN_PACK_CASE_H
#define TESSERA_HARNESS_RUN_PACK_CASE_H

#include "base/text.h"
#include "job/job.h"

typedef struct pack_request {
    const job *job;       /* as it ran */
    const json_t *result; /* of that job */
    const char *stage;    /* the last step that it announced */
    const char *failures; /* the folder that receives the pack; NULL: the usual one, kept small */
    const char *output;   /* the file that becomes the pack, whatever was there; NULL: one in that
                             folder, named by its content */
    uint64_t timeout_seconds, memory_mib;
    /* Results of a call that a program made, which is not run again. */
    const char *outputs; /* a folder with NAME.npy for each output; NULL: the case is run */
    const char *about;   /* the member call.json; NULL: there is none */
    text *lacks; /* receives what code of others opened and the pack does not hold; or NULL */
} pack_request;

/* Appends the pack's path. A pack that is there already under the name of its content is left as it
 * is. False with nothing left behind; STATUS_INTERRUPTED where the user ended it. */
bool pack_case(const pack_request *request, text *path_out, status *st);

/* The "case" of a manifest: all that says how a job is run again. Owned. */
json_t *pack_case_json(const job *j, uint64_t timeout_seconds, uint64_t memory_mib);

/* True where a result is a failure of its case (and so is packed by itself). */
bool pack_is_failure(const json_t *result);
/* The job runs on the set of inputs on which it failed. */
void pack_take_set(const json_t *result, job *j);
/* "compile", "launch", ... where the failure names its place; "" for ok and mismatch. */
const char *pack_stage(const json_t *result, const char *stage);

#endif
