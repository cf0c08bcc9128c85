/* attempt.h - a relation tried on one shape. */
#ifndef TESSERA_HARNESS_RELATIONS_ATTEMPT_H
#define TESSERA_HARNESS_RELATIONS_ATTEMPT_H

#include "relations/runner.h"

enum { ATTEMPT_DIMS_MAX = 32 };

/* Two runs whose bits are not the same. */
typedef struct violation {
    bool found;
    char dims[240], between[360];
    char like[80], setting[200]; /* where it was seen: the case that has the distributions; what was
                                    set in the environment, or "" */
    uint64_t seed;               /* ... and of the inputs */
    bool given;                  /* ... which are the user's */
    char output[80];             /* its name; the shape may be gone when it is told */
    char index[80];              /* "3, 17" */
    uint64_t bits[2];
    double values[2];
    dtype type;
    bool judged,
        outside[2]; /* against the error bound of the kernel's formula: is the value wrong? */
    double reference, bound; /* ... which is this */
    int64_t boundary[2];     /* of the dimension: bits change from the first to the second; 0: not
                                looked for */
} violation;

typedef struct attempt {
    const relations_request *request;
    runner *runner;
    const shape *shape;
    uint64_t random, end_ns; /* when the time is over */
    bool boundary;           /* of a violated batch: is looked for */
    /* PER_DIM: the dimension, as the kernel counts it, and where its positions lie. */
    uint32_t dim;
    const compiler_independence *lanes;
    char setting[200]; /* of the environment, in hand */
    violation violation;
} attempt;

/* Tries relation `id` on the attempt's shape. False where a run failed. */
bool attempt_run(attempt *t, relation_id id, status *st);

circumstances attempt_plain(const attempt *t);
/* The plain run's outputs, against those of another run in words; notes the first difference. */
void attempt_compare(attempt *t, const tensor *a, const tensor *b, const char *between);
/* ... of the shape's inputs: notes as well, in the words of attempt_judge, which of them is wrong.
 */
void attempt_compare_judged(attempt *t, const tensor *a, const tensor *b, const char *between);
/* Says which of the two values is outside of the bound of the kernel's formula for the inputs,
 * where the violation is an element of that output at the same place, of a tensor like `a`. */
void attempt_judge(attempt *t, uint32_t output, const tensor *a, int64_t flat);
/* An element of output `output`, whose tensor is `a`, that is not what it should be. */
void attempt_element(attempt *t, uint32_t output, const tensor *a, int64_t flat, uint64_t other,
                     const char *between);
/* Place of the attempt: its dimensions, case and seed. Nothing else but the relation and the
 * dimension decides what is tried. */
void attempt_place(const attempt *t, violation *out);
/* The kernel's dimensions of a shape. */
void attempt_dims(const relations_column *column, const shape *s, int64_t *out);

/* Notes a violation that is none of an output's elements: where, the caller says. */
void attempt_note(attempt *t, const char *between);

/* "3, 17" */
void attempt_index(const tensor *t, int64_t flat, char *out, size_t room);

/* attempt_memory.c */
bool attempt_memory(attempt *t, status *st);

/* attempt_layout.c */
bool attempt_strides(attempt *t, const tensor *plain, status *st);

/* attempt_values.c */
bool attempt_masked(attempt *t, const tensor *plain, status *st);
bool attempt_special(attempt *t, const tensor *plain, status *st);
bool attempt_payloads(attempt *t, status *st);

/* attempt_numerics.c: of a kernel that has @verify.numerics */
bool attempt_numerics(attempt *t, const tensor *plain, status *st);

/* attempt_steps.c: of a kernel that has @verify.steps */
bool attempt_steps(attempt *t, status *st);

/* attempt_vmap.c, attempt_remat.c, attempt_rules.c: of our code */
bool attempt_vmap(attempt *t, status *st);
bool attempt_remat(attempt *t, status *st);
bool attempt_rules(attempt *t, status *st);

/* attempt_batch.c */
/* The tensor with positions `order` of an axis alone; axis -1: a copy. */
bool attempt_take(const tensor *from, int axis, const int64_t *order, int64_t count, tensor *out,
                  status *st);
bool attempt_batch(attempt *t, status *st);
bool attempt_position(attempt *t, status *st);
bool attempt_isolation(attempt *t, status *st);

#endif
