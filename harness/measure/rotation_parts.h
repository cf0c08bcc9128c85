/* rotation_parts.h - what the files of the rotation share: places of inputs, targets of outputs,
 * contents and what they must hold. */
#ifndef TESSERA_HARNESS_MEASURE_ROTATION_PARTS_H
#define TESSERA_HARNESS_MEASURE_ROTATION_PARTS_H

#include "launch/clock.h"
#include "launch/memory.h"
#include "measure/guests.h"
#include "measure/rotation.h"

/* A buffer inside its memory; what is not the buffer's is filled with the guard pattern. */
typedef struct rotation_buffer {
    launch_memory memory;
    void *device;        /* the address that kernels are given */
    unsigned char *data; /* where the host sees it */
    size_t size_bytes;
} rotation_buffer;

enum {
    ROTATION_NOT_WRITTEN = -1,
    ROTATION_SPARE = 8, /* outputs beyond those that are written in turn */
    ROTATION_OUTPUTS = ROTATION_SETS_MAX + ROTATION_SPARE + 1,
    ROTATION_CALLERS = 4
};

/* The contents of the sets, and what belongs together. */
typedef struct rotation_contents {
    uint32_t count;                             /* those that are held back included */
    uint64_t *digests;                          /* [content][inputs, then outputs] */
    bool known[ROTATION_SETS_MAX];              /* what its outputs must be */
    const void *const *held[ROTATION_SETS_MAX]; /* inputs of each that is held back; borrowed */
    uint32_t at[ROTATION_SETS_MAX];             /* which one lies at each place */
} rotation_contents;

/* The part in hand, drawn before it begins. */
typedef struct rotation_part {
    void ***order; /* [launches]: the arguments of each */
    uint64_t launches, order_room;
    uint64_t awakens;
    uint32_t shuffled[ROTATION_OUTPUTS]; /* targets: that of the launches that awaken, the first
                                            ones, those that take their places */
    int source[ROTATION_OUTPUTS];        /* content whose outputs come to each target, or -1 */
    bool read[ROTATION_SETS_MAX];        /* places whose inputs are read */
    uint64_t poison;                     /* what the targets held before */
    bool woke;                           /* a guest slept when a timed launch came */
} rotation_part;

/* Memory that was prepared from the constants of each place. */
typedef struct rotation_prepared {
    tsr_kernel_t kernel; /* ... for it */
    tsr_prepared_t at[ROTATION_SETS_MAX];
    bool stale[ROTATION_SETS_MAX]; /* inputs have changed since */
    tsr_prepared_t *order;         /* [launches]: of each; beside rotation_part.order */
} rotation_prepared;

/* Fields: the state of one measurement, which its files share. */
struct rotation {
    rotation_request request; /* its launch is `launch`, and its sets are gone */
    launch launch;            /* without buffers */
    uint32_t sets;            /* that rotate, and so places for inputs */
    uint32_t targets; /* places for outputs: `active` in turn, one that awakens, the rest spare */
    uint32_t active;
    rotation_buffer *in;  /* [place][inputs] */
    rotation_buffer *out; /* [target][outputs] */
    rotation_contents contents;
    rotation_part part;
    launch_clock clock; /* of a device that works by itself; else not open */
    rotation_prepared prepared;
    void **args;             /* [place][target][inputs, outputs, dims] */
    unsigned char *exchange; /* room for one buffer */
    uint64_t random, hidden; /* of what a kernel can see, and of what it must not foresee */
    uint64_t guard;
    uint64_t next; /* number of the next launch, at least `sets`: those before it awaken */
    uint64_t timed_parts, timed_launches;
    double least_ns;    /* of a launch, of those that are timed with others */
    double quickest_ns; /* ... of all that were timed */
    bool learnt;
    bool exchanged; /* words of inputs are, so that places hold no set */
    int failed;     /* see rotation_failed_set */
    watch *watch, own_watch;
    guest_watch guests;
    struct rotation_caller { /* a kernel whose calls go to a guest */
        tsr_kernel_t kernel;
        uint64_t guest;
    } callers[ROTATION_CALLERS];
};

static inline rotation_buffer *rotation_in(const rotation *r, uint32_t place, uint32_t i) {
    return &r->in[place * r->launch.input_count + i];
}
static inline rotation_buffer *rotation_out(const rotation *r, uint32_t target, uint32_t i) {
    return &r->out[target * r->launch.output_count + i];
}
/* `buffer`: inputs first. */
static inline uint64_t *rotation_expected(const rotation *r, uint32_t content, uint32_t buffer) {
    return &r->contents
                .digests[content * (r->launch.input_count + r->launch.output_count) + buffer];
}
static inline int rotation_set_at(const rotation *r, uint32_t place) {
    return r->exchanged ? -1 : (int)r->contents.at[place];
}
static inline size_t rotation_arg_count(const rotation *r) {
    return r->launch.input_count + r->launch.output_count + r->launch.dim_count;
}
static inline void **rotation_args(const rotation *r, uint32_t place, uint32_t target) {
    return r->args + (size_t)(place * r->targets + target) * rotation_arg_count(r);
}
/* The place of the arguments that a launch is given. */
static inline uint32_t rotation_place_of(const rotation *r, void *const *args) {
    return (uint32_t)((size_t)(args - r->args) / rotation_arg_count(r) / r->targets);
}

/* rotation.c: what was written to `data` goes to the device; what is there, with the bytes around
 * it, comes from it. */
bool rotation_send(const rotation_buffer *b, status *st);
bool rotation_fetch(const rotation_buffer *b, status *st);

/* rotation_launch.c: the launches that awaken, and the timed ones. False as rotation_time. */
bool rotation_launch_part(rotation *r, tsr_kernel_t kernel, uint64_t *ns, status *st);
/* Checks that that kernel's guest did nothing beside its calls (guests.h), where it has one.
 */
bool rotation_settle_guest(const rotation *r, tsr_kernel_t kernel, status *st);
bool rotation_launch_once(rotation *r, tsr_kernel_t kernel, uint32_t place, uint32_t target,
                          status *st);
/* rotation_prepare.c: where there are constants, what is stale is prepared again, and the order of
 * the part's launches is known of it. */
bool rotation_prepare(rotation *r, tsr_kernel_t kernel, status *st);
void rotation_forget_prepared(rotation *r);

/* rotation_draw.c: the next part, of at most `launches` after `awakens` that are not timed. `all`:
 * every place is looked at after it. */
void rotation_draw_part(rotation *r, uint64_t awakens, uint64_t launches, bool all);
/* Fills what the part will write, and with `all` everything, with a pattern of its own. */
bool rotation_poison(rotation *r, bool all, status *st);
/* Changes what no kernel may foresee. */
void rotation_hide(rotation *r);

/* rotation_check.c: after a part everything holds what it must. */
bool rotation_check(rotation *r, bool all, status *st);
/* Takes what lies at a target for what that content gives, if the request's `judge` says so. */
bool rotation_learn_content(rotation *r, uint32_t content, uint32_t target, status *st);
/* Fills the bytes around a buffer. */
void rotation_guard(const rotation *r, const rotation_buffer *b);

#endif
