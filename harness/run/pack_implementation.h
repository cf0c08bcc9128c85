/* pack_implementation.h - code of others in a pack: the file itself, as the member
 * implementation/NAME, and what the manifest says of it in case.implementation: its kind, name,
 * symbol and SHA-256. Code for a GPU has a second file, which says how it is launched; it lies
 * beside the first, and its SHA-256 is launch_sha256.
 *
 * A Python module by name, and a file beyond 64 MiB, are named and not held. */
#ifndef TESSERA_HARNESS_RUN_PACK_IMPLEMENTATION_H
#define TESSERA_HARNESS_RUN_PACK_IMPLEMENTATION_H

#include <jansson.h>

#include "base/text.h"
#include "common/scratch_folder.h"
#include "implementation/implementation.h"
#include "job/job.h"
#include "repro/pack.h"

enum { PACK_IMPLEMENTATION_BYTES_MAX = 64 << 20 };

/* ---- into a pack ---- */

/* A file as it is now; all zeros but the digest where a pack does not hold it. */
typedef struct pack_implementation_file {
    char *member; /* "implementation/NAME"; owned, as the data is */
    char *data;
    size_t size_bytes;
    char sha256[65]; /* "": there is no file */
} pack_implementation_file;

typedef struct pack_implementation {
    pack_implementation_file code, launch;
} pack_implementation;

/* False where a file cannot be read, or is another one than `result`, the job's, was made by. */
bool pack_implementation_read(pack_implementation *p, const job *j, const json_t *result,
                              status *st);
void pack_implementation_release(pack_implementation *p);
/* case.implementation of a job that has one, without digests. */
json_t *pack_implementation_json(const job *j);

/* ---- out of a pack ---- */

typedef struct pack_code {
    scratch_folder folder; /* that has the pack's copy */
    implementation opened; /* of the copy */
    bool is_open;
    bool is_other; /* its bytes are not those that were recorded */
} pack_code;

/* Gives the job, which has the kernel, the implementation that case.implementation (`item`) names:
 * `instead`, a file of the user's own, or NULL: the pack's copy, where it is `trusted`.
 * STATUS_CORRUPT: the pack is forged; STATUS_UNAVAILABLE: there is no such code here;
 * STATUS_INVALID: `instead` does not compute the kernel. False with STATUS_OK: nobody said that its
 * code may run, and `why` is what it is of. pack_code_close in any case. */
typedef struct pack_code_request {
    const pack *from;
    const json_t *item;
    const implementation *instead;
    bool trusted;
    text *why;
} pack_code_request;
bool pack_code_open(pack_code *c, const pack_code_request *request, job *j, status *st);
void pack_code_close(pack_code *c);

#endif
