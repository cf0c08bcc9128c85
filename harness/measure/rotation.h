/* rotation.h - times kernels over several sets of buffers in turn, and checks what every timed
 * launch computed.
 *
 * A set is the contents of one kernel's inputs and the digests of the outputs that belong to them.
 * All sets lie in memory at once, each at a place of its own. Launch i of a timed part reads place
 * i mod N; its outputs go to the place that the pass (i / N) shifts to, so a buffer that an output
 * goes to holds poison or the result of another set, never the right one. Between timed parts the
 * contents of two places are exchanged: the same address does not mean the same inputs.
 *
 *     before   exchange, poison all outputs
 *     timed    read the clock, launch `repeats` times, read the clock: nothing else
 *     after    the outputs of every place have the digest of the set they were computed from,
 * places that no launch wrote still hold poison, inputs and the bytes around all buffers are as
 * they were
 *
 * All buffers lie in memory of one context, at random multiples of 64 bytes from the beginning of a
 * page. Kernels that are compared (sides) share one rotation. One thread at a time. */
#ifndef TESSERA_HARNESS_MEASURE_ROTATION_H
#define TESSERA_HARNESS_MEASURE_ROTATION_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/status.h"
#include "tessera/tessera.h"

enum { ROTATION_SETS_MAX = 8 };

typedef struct rotation rotation;

typedef struct rotation_set {
    const void *const *inputs; /* one pointer for each input; borrowed during rotation_open */
    const uint64_t *digests;   /* one for each output; NULL: rotation_learn finds them */
} rotation_set;

typedef struct rotation_request {
    tsr_context_t context; /* borrowed until rotation_close */
    uint32_t input_count, output_count, dim_count;
    const size_t *sizes; /* bytes of each buffer, inputs first; borrowed during rotation_open */
    const int64_t *dims; /* likewise */
    uint32_t set_count;  /* 1 to ROTATION_SETS_MAX; with one nothing rotates */
    const rotation_set *sets;
    uint64_t seed; /* of places, order and patterns */
} rotation_request;

typedef struct rotation_timing {
    tsr_kernel_t kernel;
    uint64_t repeats; /* launches in the timed part, at least 1 */
    uint64_t delay;   /* steps of a dependent chain after each launch: a slowdown on purpose */
} rotation_timing;

/* Owned; NULL with STATUS_OUT_OF_MEMORY or STATUS_INVALID. */
rotation *rotation_open(const rotation_request *request, status *st);
void rotation_close(rotation *r); /* NULL: nothing to do */

/* Launches a trusted kernel once on each set and keeps the digests of what it computed. */
bool rotation_learn(rotation *r, tsr_kernel_t kernel, status *st);

/* *ns_each: the time of one launch, with the clock's own cost taken off. False with STATUS_MISMATCH
 * where something is not as it must be: the message says which set and which output, and what kind
 * of kernel does that. False with another code where a launch failed. */
bool rotation_time(rotation *r, const rotation_timing *timing, double *ns_each, status *st);

/* Nanoseconds of a chain of so many steps, measured: for choosing `delay`. */
double rotation_delay_ns(uint64_t steps);

/* The digest that sets and outputs are compared by. */
uint64_t rotation_digest(const void *data, size_t size_bytes);

#endif
