/* rotation.h - times kernels over several sets of buffers in turn, and checks what every timed
 * launch computed.
 *
 * A set is the contents of one kernel's inputs and the digests of the outputs that belong to them.
 * All sets lie in memory at once, each at a place of its own. Launch i reads place i mod N; its
 * outputs go to the place that the pass (i / N) shifts to, so a buffer that an output goes to holds
 * poison or the result of another set, never the right one. Between timed parts the contents of two
 * places are exchanged: the same address does not mean the same inputs.
 *
 *     before   exchange, poison the outputs, launch the sets before, so that threads and caches are
 *              awake
 *     timed    read the clock, launch `repeats` times, read the clock: nothing else
 *     after    the outputs have the digests of the sets they were computed from, inputs and the
 *              bytes around all buffers are as they were, and so is what watch.h looks at
 *
 * All buffers lie in memory of one context, at random multiples of 64 bytes from the beginning of a
 * page. Kernels that are compared (sides) share one rotation. One thread at a time. */
#ifndef TESSERA_HARNESS_MEASURE_ROTATION_H
#define TESSERA_HARNESS_MEASURE_ROTATION_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/status.h"
#include "measure/watch.h"
#include "tessera/tessera.h"

enum { ROTATION_SETS_MAX = 8 };

typedef struct rotation rotation;

typedef struct rotation_set {
    const void *const *inputs; /* one pointer for each input; borrowed during rotation_open */
    const uint64_t *digests;   /* one for each output; NULL: rotation_learn finds them */
} rotation_set;

/* Whether an output whose bits are others than the digest's will do all the same (`fast`). */
typedef bool (*rotation_accept_fn)(void *context, uint32_t set, uint32_t output, const void *data);

typedef struct rotation_request {
    tsr_context_t context; /* borrowed until rotation_close */
    uint32_t input_count, output_count, dim_count;
    const size_t *sizes; /* bytes of each buffer, inputs first; borrowed during rotation_open */
    const int64_t *dims; /* likewise */
    uint32_t set_count;  /* 1 to ROTATION_SETS_MAX; with one nothing rotates */
    const rotation_set *sets;
    uint64_t seed; /* of places, order and patterns */
    watch *watch;  /* begun before the kernels were first launched; borrowed until rotation_close.
                      NULL: one that begins now, with all threads of the context running */
    uint64_t awaken_ns; /* how long launches go on before a timed part, so that all threads are
                           awake; 0: one launch */
    rotation_accept_fn judge;  /* of what rotation_learn finds: whether it is right; or NULL */
    void *judge_context;       /* borrowed until then */
    rotation_accept_fn accept; /* NULL: bits must be equal */
    void *accept_context;
    void (*around)(void *context, bool begins); /* just outside of each timed part; or NULL */
    void *around_context;
} rotation_request;

typedef struct rotation_timing {
    tsr_kernel_t kernel;
    uint64_t repeats; /* launches in the timed part, at least 1 */
} rotation_timing;

/* Owned; NULL with STATUS_OUT_OF_MEMORY or STATUS_INVALID. */
rotation *rotation_open(const rotation_request *request, status *st);
void rotation_close(rotation *r); /* NULL: nothing to do */

/* Launches a trusted kernel once on each set, or one whose outputs the request's `judge` looks at,
 * and keeps the digests of what it computed. */
bool rotation_learn(rotation *r, tsr_kernel_t kernel, status *st);

/* *ns_each: the time of one launch, with the clock's own cost taken off. False with STATUS_MISMATCH
 * where something is not as it must be: the message says which set and which output, and what kind
 * of kernel does that. False with another code where a launch failed. */
bool rotation_time(rotation *r, const rotation_timing *timing, double *ns_each, status *st);

/* Times launches on contents that were never seen beside launches on contents that were: a kernel
 * that keeps results by what its inputs hold is faster on the second. False as above. Nothing is
 * done with one set, or where inputs are too small or too even to be changed. */
bool rotation_check_unseen(rotation *r, tsr_kernel_t kernel, status *st);
/* Whether two kernels compute the same bits, on contents that neither has had. */
bool rotation_compare_unseen(rotation *r, tsr_kernel_t a, tsr_kernel_t b, status *st);
/* After the last timed part: nobody writes any more, and everything was left as it was. */
bool rotation_finish(rotation *r, status *st);

/* The digest that sets and outputs are compared by. */
uint64_t rotation_digest(const void *data, size_t size_bytes);

#endif
