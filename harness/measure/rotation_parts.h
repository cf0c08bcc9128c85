/* rotation_parts.h - what the files of the rotation share: places, contents and what they must
 * hold.
 */
#ifndef TESSERA_HARNESS_MEASURE_ROTATION_PARTS_H
#define TESSERA_HARNESS_MEASURE_ROTATION_PARTS_H

#include "measure/rotation.h"

/* A buffer inside its allocation; what is not the buffer's is filled with the guard pattern. */
typedef struct rotation_buffer {
    unsigned char *base, *data;
    size_t span_bytes, size_bytes;
} rotation_buffer;

struct rotation {
    tsr_context_t context;
    uint32_t inputs, outputs, dims, sets;
    rotation_buffer *buffers;            /* [place][inputs, then outputs] */
    uint64_t *digests;                   /* [set][inputs, then outputs]: what belongs together */
    uint32_t content[ROTATION_SETS_MAX]; /* set that lies at each place */
    void **args;                         /* [shift][place][inputs, outputs, dims] */
    int64_t *dim_values;
    unsigned char *exchange; /* room for one buffer */
    uint64_t random, poison, guard;
    uint64_t next; /* number of the next launch, at least `sets`: those before it awaken */
    uint64_t timed_parts, awaken_ns;
    bool learnt;
    int source[ROTATION_SETS_MAX]; /* of a part: the set whose outputs come to each place, or -1 */
    bool read[ROTATION_SETS_MAX];  /* of a part: places whose inputs are read */
    watch *watch, own_watch;
    rotation_accept_fn judge, accept;
    void *judge_context, *accept_context;
    void (*around)(void *context, bool begins);
    void *around_context;
};

enum { ROTATION_NOT_WRITTEN = -1 };

static inline rotation_buffer *rotation_at(const rotation *r, uint32_t place, uint32_t buffer) {
    return &r->buffers[place * (r->inputs + r->outputs) + buffer];
}
static inline uint64_t *rotation_expected(const rotation *r, uint32_t set, uint32_t buffer) {
    return &r->digests[set * (r->inputs + r->outputs) + buffer];
}
static inline void **rotation_args(const rotation *r, uint32_t shift, uint32_t place) {
    return r->args + (size_t)(shift * r->sets + place) * (r->inputs + r->outputs + r->dims);
}

/* rotation.c: a part from `r->next` on; `before` launches before it are not timed. */
void rotation_plan(rotation *r, uint64_t before, uint64_t launches, bool all);
void rotation_poison(rotation *r);
tsr_status_t rotation_launch(const rotation *r, const rotation_timing *t, uint64_t before,
                             uint64_t *ns);
bool rotation_launched(tsr_status_t code, status *st);
uint64_t rotation_draw(rotation *r);

/* rotation_check.c: after a part everything holds what it must. */
bool rotation_check(rotation *r, bool all, status *st);
/* Fills the bytes around a buffer. */
void rotation_guard(const rotation *r, const rotation_buffer *b);

#endif
