/* reducer.h - the smallest case so far, and attempts to make it smaller. */
#ifndef TESSERA_HARNESS_REDUCE_REDUCER_H
#define TESSERA_HARNESS_REDUCE_REDUCER_H

#include "localize/probes.h"

typedef struct reducer {
    probes probes;
    char *edits;           /* that make it; owned */
    char *dims;            /* of the case, in the place of its own; NULL: its own; owned */
    const char *pass;      /* it is wrong behind this one, too; NULL: not known */
    const char *operation; /* that makes what is wrong, by its name; NULL: not known */
    char *opinion; /* a second one shows that it is wrong, as a job has it; NULL: none; owned */
    bool by_code;  /* ... that is what code gives */
    bool refused;  /* the pass errs on it, or the verifier refuses what it makes */
    json_t *size;  /* of it, as internal_put_SIZE has it; owned */
    json_t *operations;
    int64_t accepted;
} reducer;

/* Tries one more edit, which is kept where the case still fails so. */
bool reducer_try(reducer *r, const char *format, ...) __attribute__((format(printf, 2, 3)));
/* The same case in other dimensions. */
bool reducer_try_dims(reducer *r, const char *dims);
int64_t reducer_size(const reducer *r, const char *key);

/* Operations that are left and have a number: their count; a name; how many the block of one has,
 */
int64_t reducer_operations(const reducer *r);
const char *reducer_name(const reducer *r, int64_t number);
/* ... -1: it has none. */
int64_t reducer_inside(const reducer *r, int64_t number);

/* reduce_transforms.c, reduce_operations.c, reduce_values.c: the phases. */
void reduce_to_block(reducer *r);
void reduce_transforms(reducer *r);
void reduce_operations(reducer *r);
void reduce_dimensions(reducer *r);
void reduce_values(reducer *r);

#endif
