/* replay.h - makes the case of a pack happen again, in a sandboxed worker, and judges it. */
#ifndef TESSERA_HARNESS_RUN_REPLAY_H
#define TESSERA_HARNESS_RUN_REPLAY_H

#include <jansson.h>
#include <stdint.h>

#include "base/status.h"
#include "implementation/implementation.h"
#include "job/job.h"
#include "repro/pack.h"
#include "repro/sign.h"
#include "repro/verdict.h"

typedef struct replay {
    repro_verdict verdict; /* REPRO_NO_VERDICT: the user interrupted */
    json_t *manifest;      /* of the pack; NULL where it is invalid */
    json_t *result;        /* of the last replay; NULL where none was run */
    json_t *qualifiers;    /* "toolchain-drift", "other-isa", "code-hash-same", "limited",
                              "timed-launches",    "replayed-from=LEVEL"; "same-implementation" or
                              "other-implementation" */
    json_t *missing;       /* INCOMPATIBLE: what this machine or this tsr lacks */
    json_t *image;         /* that the pack holds: "member", "sha256", "bytes", and where it ran
                              "verdict", "status", "why", "digests"; or NULL */
    json_t *signed_by;     /* "keyid", and the "statement" of it; NULL: nobody asked */
    char why[2048];        /* INVALID_PACK, NEEDS_TRUST */
} replay;

/* A pack's case, ready to be run again. */
typedef struct replay_case {
    const pack *pack;
    const job *job;
    uint64_t timeout_seconds, memory_mib;
    uint64_t most_seconds; /* of all that is done with it */
} replay_case;
/* False: it could not be done, as the status says. */
typedef bool (*replay_onward_fn)(void *self, const replay_case *c, const replay *r, status *st);

/* Instead of a replay: the case in a language of others, which the sandboxed worker writes, and
 * this takes with the pack. */
typedef struct replay_export {
    const char *language; /* a level of the compiler: "c", "python", "stablehlo" */
    bool (*write)(void *context, const pack *from, const json_t *made, status *st);
    void *context;
} replay_export;

typedef struct replay_request {
    const char *path;
    const char *isa; /* instead of the recorded level; NULL: the recorded one */
    /* Code of others in the pack is run where one of these says so, and not in the sandbox: it
     * takes a process of its own. */
    bool trust;                  /* the pack's own copy */
    const implementation *with;  /* a file of the user's, instead of the copy; or NULL */
    const sign_keys *signers;    /* one of them must have signed the pack; NULL: none need have */
    const replay_export *export; /* no verdict then, unless the pack cannot be used; or NULL */
    bool image;                  /* run the image of compiled code that the pack holds, too */
    bool sentinels;              /* tell what made outputs that are not finite */
    bool expects_fixed;          /* the pack must have recorded a failure */
    const char *from; /* a level of pack_level.h that the way down begins at; NULL: the source */
    /* A pack may ask for less, never for more. */
    uint64_t timeout_seconds; /* for a step */
    uint64_t memory_mib;      /* address space of a worker; 0: no limit */
    uint32_t threads;
    replay_onward_fn
        onward; /* called behind a replay in which the failure happened again; or NULL */
    void *self; /* for `onward` */
} replay_request;

/* Modest: what a case of corpus/ needs, and no stranger should have more. The address space is not
 * limited where a sanitizer needs all of it. */
enum { REPLAY_TIMEOUT_S = 60, REPLAY_THREADS = 64 };
uint64_t replay_memory_mib(void);

/* False only where the file cannot be opened, is of our code and yet `trust` or `with` is set, has
 * no failure that could be fixed, or `with` does not compute its kernel; replay_release in any
 * case. */
bool replay_run(const replay_request *request, replay *out, status *st);
void replay_release(replay *r);

#endif
