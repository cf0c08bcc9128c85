/* fold.h - tessera.fold, the recurrence of a loop over blocks: its shape in Graph IR.
 *
 * What it carries are rows [outer..., rows], or the columns of these [outer..., rows, columns]. Its
 * block is element-wise, where a row's value may be repeated along the columns. So each row goes
 * through all turns by itself. */
#ifndef TESSERA_OPS_FOLD_H
#define TESSERA_OPS_FOLD_H

#include "ops/graph.h"

/* A turn computes the columns that it carries all at once, in the place of those before. */
enum { FOLD_COLUMNS_MAX = 8 };

typedef struct fold_shape {
    uint32_t carried;             /* operands, block arguments and results from 0 on */
    uint32_t inputs;              /* operands and block arguments behind them */
    int64_t turns;                /* of each of these: so many */
    int64_t axis[LIMIT_OPERANDS]; /* ... along this axis, by operand */
    int rank;                     /* of rows */
    ir_dim dims[IR_MAX_RANK];     /* outer..., rows, columns (0: there are none) */
} fold_shape;

/* Reads it; false with the reason in `st`: it is none. */
bool fold_read(const ir_module *m, ir_op fold, fold_shape *out, status *st);
/* Along which axis the turns of an operand lie; -1: the value is none. */
int64_t fold_axis(const ir_module *m, ir_op fold, const fold_shape *f, ir_value operand);
/* Number of its turns. */
int64_t fold_turns(const ir_module *m, ir_op fold);
bool fold_verify(const ir_module *m, ir_op fold, status *st);

#endif
