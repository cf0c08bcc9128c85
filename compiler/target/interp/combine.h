/* combine.h - the steps of a combiner (ops/combine.h), one after the other: which elements its
 * block takes, of the interpreter's values or of the reference's. */
#ifndef TESSERA_TARGET_INTERP_COMBINE_H
#define TESSERA_TARGET_INTERP_COMBINE_H

#include "base/status.h"
#include "ops/combine.h"

/* The block runs on many pairs of places at once, which have nothing to do with each other. */
typedef struct combine_pairs {
    int64_t count;
    int64_t *first;  /* elements of the results so far */
    int64_t *second; /* of a reduction's tensors, a scatter's updates, a sort's results */
} combine_pairs;

typedef struct combine_values {
    void *self;
    /* The first ones become what the block makes of the pairs. */
    bool (*combine)(void *self, const combine_pairs *pairs);
    /* For a sort: tells which first ones go before the second ones. */
    bool (*compare)(void *self, const combine_pairs *pairs, bool *before);
    /* These elements of the results change places. */
    void (*exchange)(void *self, int64_t one, int64_t other);
} combine_values;

/* `indices`: of a scatter. The results are what it begins with. */
bool combine_run(const ir_module *m, ir_op op, const int32_t *indices,
                 const combine_values *values);

#endif
