/* rotation_parts.h - what the files of the rotation share: places of inputs, targets of outputs,
 * contents and what they must hold. */
#ifndef TESSERA_HARNESS_MEASURE_ROTATION_PARTS_H
#define TESSERA_HARNESS_MEASURE_ROTATION_PARTS_H

#include "measure/rotation.h"

/* A buffer inside its allocation; what is not the buffer's is filled with the guard pattern. */
typedef struct rotation_buffer {
    unsigned char *base, *data;
    size_t span_bytes, size_bytes;
} rotation_buffer;

enum {
    ROTATION_NOT_WRITTEN = -1,
    ROTATION_SPARE = 8, /* outputs beyond those that are written in turn */
    ROTATION_OUTPUTS = ROTATION_SETS_MAX + ROTATION_SPARE + 1
};

struct rotation {
    tsr_context_t context;
    uint32_t inputs, outputs, dims;
    uint32_t sets;     /* that rotate, and so places for inputs */
    uint32_t contents; /* those, and the ones that are held back */
    uint32_t targets;  /* places for outputs: `active` in turn, one that awakens, the rest spare */
    uint32_t active;
    rotation_buffer *in;           /* [place][inputs] */
    rotation_buffer *out;          /* [target][outputs] */
    uint64_t *digests;             /* [content][inputs, then outputs]: what belongs together */
    bool known[ROTATION_SETS_MAX]; /* of each content: what its outputs must be */
    const void *const *held[ROTATION_SETS_MAX]; /* inputs of each content held back; borrowed */
    uint32_t content[ROTATION_SETS_MAX];        /* what lies at each place */
    void **args;                                /* [place][target][inputs, outputs, dims] */
    int64_t *dim_values;
    unsigned char *exchange; /* room for one buffer */
    uint64_t random, hidden; /* of what a kernel can see, and of what it must not foresee */
    uint64_t poison, guard;
    uint64_t next; /* number of the next launch, at least `sets`: those before it awaken */
    uint64_t timed_parts, timed_launches, awaken_ns;
    bool learnt;

    /* The part in hand, drawn before it begins. */
    void ***order; /* [launches]: the arguments of each */
    uint64_t launches, order_room;
    uint64_t awakens;
    uint32_t shuffled[ROTATION_OUTPUTS]; /* targets: that of the launches that awaken, the first
                                            ones, those that take their places */
    int source[ROTATION_OUTPUTS];        /* content whose outputs come to each target, or -1 */
    bool read[ROTATION_SETS_MAX];        /* places whose inputs are read */

    watch *watch, own_watch;
    rotation_accept_fn judge, accept;
    void *judge_context, *accept_context;
    void (*around)(void *context, bool begins);
    void *around_context;
};

static inline rotation_buffer *rotation_in(const rotation *r, uint32_t place, uint32_t i) {
    return &r->in[place * r->inputs + i];
}
static inline rotation_buffer *rotation_out(const rotation *r, uint32_t target, uint32_t i) {
    return &r->out[target * r->outputs + i];
}
/* `buffer`: inputs first. */
static inline uint64_t *rotation_expected(const rotation *r, uint32_t content, uint32_t buffer) {
    return &r->digests[content * (r->inputs + r->outputs) + buffer];
}
static inline void **rotation_args(const rotation *r, uint32_t place, uint32_t target) {
    return r->args + (size_t)(place * r->targets + target) * (r->inputs + r->outputs + r->dims);
}

/* rotation.c */
tsr_status_t rotation_launch(const rotation *r, tsr_kernel_t kernel, uint64_t *ns);
bool rotation_launched(tsr_status_t code, status *st);

/* rotation_draw.c: the next part, of at most `launches` after `awakens` that are not timed. `all`:
 * every place is looked at after it. */
void rotation_draw_part(rotation *r, uint64_t awakens, uint64_t launches, bool all);
/* Fills what the part will write, and with `all` everything, with a pattern of its own. */
void rotation_poison(rotation *r, bool all);
uint64_t rotation_random(uint64_t *state);
/* Changes what no kernel may foresee. */
void rotation_hide(rotation *r);

/* rotation_check.c: after a part everything holds what it must. */
bool rotation_check(rotation *r, bool all, status *st);
/* What lies at a target is what that content gives, if the request's `judge` says so. */
bool rotation_learn_content(rotation *r, uint32_t content, uint32_t target, status *st);
/* Fills the bytes around a buffer. */
void rotation_guard(const rotation *r, const rotation_buffer *b);

#endif
