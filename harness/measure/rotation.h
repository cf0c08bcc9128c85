/* rotation.h - times kernels over several sets of buffers in turn, and holds what they computed in
 * timed launches against what they must.
 *
 * A set is the contents of one kernel's inputs and the digests of the outputs that belong to them.
 * Those that rotate lie in memory at once, each at a place of its own, and the contents of places
 * are exchanged: the same address does not mean the same inputs. Those that are held back come to
 * no launch before rotation_finish.
 *
 *     before   exchange, draw the part, poison the outputs, launch on each set, so that threads and
 *              caches are awake; kernels that all take long are not launched for that
 *     timed    read the clock, launch, read the clock: nothing else. Where the device works by
 *              itself, its events are the clock, on a stream of the rotation
 *     after    guests are stopped, with all that they have started; the outputs have the digests of
 * the sets they were computed from, inputs and the bytes around all buffers are as they were, and
 * so is what watch.h looks at
 *
 * Outputs go to one of as many targets as there are sets, and never to one that holds the same
 * result already: what lies there is poison, or the result of another set. After each timed launch,
 * whatever came before it, its target is taken out of use with the probability
 *
 *     q = min(1, K / launches of the part),   K = half of the spare targets = 4
 *
 * and looked at after the part, as is what lies at the others then; a spare one takes its place,
 * and where there is none left the part ends. These draws come from the system in each part, and
 * nothing that a kernel can see depends on them before the launch is over. So of m timed launches
 * that leave out work, in whichever order and by whichever rule, none is seen with probability at
 * most
 *
 *     (1 - q)^m  <=  exp(-K * m / launches of a part)
 *
 * A kernel that saves the share g of all timed work has left something out in at least that share
 * of the launches, and is missed with probability at most exp(-K * g * P) in P parts. One that is
 * honest for its first n launches has fewer parts to save in, and what it is timed for is honest.
 * Assumed is that a launch that leaves work out does not give its own result by chance, and that
 * the kernel does not read the harness' own memory.
 *
 * All buffers lie in memory of one context, at random multiples of 64 bytes from the beginning of a
 * page. Kernels that are compared (sides) share one rotation. One thread at a time. */
#ifndef TESSERA_HARNESS_MEASURE_ROTATION_H
#define TESSERA_HARNESS_MEASURE_ROTATION_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/status.h"
#include "launch/launch.h"
#include "measure/watch.h"
#include "tessera/tessera.h"

enum { ROTATION_SETS_MAX = 8 };

typedef struct rotation rotation;

typedef struct rotation_set {
    const void *const *inputs; /* one pointer for each input; borrowed during rotation_open, or
                                  until rotation_close where the set is held back */
    const uint64_t *digests;   /* one for each output; NULL: rotation_learn finds them, or, of a set
                                  that is held back, the first launch on it */
} rotation_set;

/* Accepts an output whose bits are others than the digest's (`fast`). */
typedef bool (*rotation_accept_fn)(void *context, uint32_t set, uint32_t output, const void *data);

typedef struct rotation_request {
    const launch *launch; /* context (borrowed until rotation_close), counts and sizes of buffers,
                             dimensions and constants; borrowed during rotation_open. Constants are
                             prepared for each place, again when its inputs have changed, and never
                             inside of a timed part */
    uint32_t set_count;   /* 1 to ROTATION_SETS_MAX, those that are held back included */
    uint32_t held_count;  /* so many at the end are held back; fewer than all */
    const rotation_set *sets; /* borrowed during rotation_open */
    uint64_t seed;            /* of places and patterns; what is drawn for a part is of no seed */
    uint32_t threads;         /* that code of others in processes of its own (guests.h) was given */
    watch *watch; /* begun before the kernels were first launched; borrowed until rotation_close.
                     NULL, and where the device has memory of its own: one that begins now, with
                     all threads of the context running */
    uint64_t awaken_ns; /* how long launches go on before a timed part, so that all threads are
                           awake; 0: one launch */
    rotation_accept_fn judge;  /* of digests that are not given: whether what is found is right */
    void *judge_context;       /* borrowed until rotation_close, as is accept_context */
    rotation_accept_fn accept; /* NULL: bits must be equal */
    void *accept_context;
    void (*around)(void *context, bool begins); /* just outside of each timed part; or NULL */
    void *around_context;
} rotation_request;

typedef struct rotation_timing {
    tsr_kernel_t kernel;
    uint64_t repeats; /* launches in the timed part, at least 1; some parts end earlier */
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
/* The set on which a launch failed, or whose buffers were not as they must be; -1: no failure was
 * of one set, or its contents were no set's. */
int rotation_failed_set(const rotation *r);
/* True where all that were timed take so long that what came before a launch is less than a
 * hundredth of it. */
bool rotation_is_slow(const rotation *r);
/* Count of launches timed until now. */
uint64_t rotation_launches(const rotation *r);

/* From `around`, before a timed part of one launch, where the host sees the buffers: what the
 * launch reads and writes is in no cache then. */
void rotation_evict(const rotation *r);

/* Times launches on contents that were never seen beside launches on contents that were: a kernel
 * that keeps results by what its inputs hold is faster on the second. False as above. Nothing is
 * done with one set, or where inputs are too small or too even to be changed. */
bool rotation_check_unseen(rotation *r, tsr_kernel_t kernel, status *st);
/* Checks that two kernels compute the same bits, on contents that neither has had. */
bool rotation_compare_unseen(rotation *r, tsr_kernel_t a, tsr_kernel_t b, status *st);
/* After the last timed part: the kernel is right on what was held back, in parts like those before;
 * nobody writes any more, and everything was left as it was. */
bool rotation_finish(rotation *r, const rotation_timing *timing, status *st);

/* The digest that sets and outputs are compared by. */
uint64_t rotation_digest(const void *data, size_t size_bytes);

#endif
