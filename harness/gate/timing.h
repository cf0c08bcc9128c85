/* timing.h - one fresh process that times pairs of modules; the parent's side and its own.
 *
 * The process is the unit of replication. It loads both modules of a case, in the order that its
 * slot says; they share buffers whose contents rotate (measure/rotation.h) and that begin at random
 * places, as the code and the stack do. Both sides are timed in turn, A B, B A, in rounds; each
 * round gives a log ratio, and the median of these is the process' answer for the case.
 *
 * A case is a JSON object, "spec":
 *   {"case": name, "kernel": [A, B], "modules": [[offset, bytes], [offset, bytes]] (in the scratch
 *    file), "inputs": n, "outputs": n, "sizes": [bytes of each buffer, inputs first],
 *    "dims": {name: value}, "sets": [offset of each set's inputs, one input after the other],
 *    "held": how many of them, at the end, no launch has before the last sample,
 *    "profile": name, "digests": [[[per output] per set] for A, for B], or null: what the module's
 *    first launch computes, "bounds" and "types": timing_check.h, "shared": both sides have the
 *    digests and the buffers of A, "agree": nothing but A says what is right (where B differs that
 *    is "unchecked"), "slowdown": [0, 0.02]}
 */
#ifndef TESSERA_HARNESS_GATE_TIMING_H
#define TESSERA_HARNESS_GATE_TIMING_H

#include <jansson.h>
#include <signal.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/status.h"
#include "gate/scratch.h"

typedef struct timing_request {
    const scratch *data;
    json_t *const *specs; /* borrowed */
    size_t count;
    bool swapped;    /* B is in A's slot: loaded first, timed first */
    uint32_t device; /* index in the runtime */
    uint32_t threads, rounds;
    uint64_t seed, timeout_seconds; /* of one case */
    const volatile sig_atomic_t *interrupted;
} timing_request;

typedef struct timing_outcome {
    size_t index; /* into specs */
    bool ok;
    double log_ratio; /* of B over A */
    double ns[2];     /* median of a launch */
    double clock_ns;  /* what a fixed amount of arithmetic took beside it */
    int side;         /* !ok: which side did it; -1: not known */
    const char *kind; /* "mismatch", "unchecked", "not-judged", "crash", "timeout", "error" */
    const char *why;
} timing_outcome;

typedef void (*timing_fn)(void *context, const timing_outcome *outcome);

/* Calls `visit` once for each spec, in any order. A case that takes the process down gets its
 * outcome, and the rest another process. False: interrupted, or no process can be started. */
bool timing_run(const timing_request *request, timing_fn visit, void *context, status *st);

/* The process' own side: the exit code. */
int timing_serve(void);

#endif
