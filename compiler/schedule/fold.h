/* fold.h - what is carried from turn to turn for a block of rows, in a workgroup: opened before its
 * turns, updated in each, stored behind them. */
#ifndef TESSERA_SCHEDULE_FOLD_H
#define TESSERA_SCHEDULE_FOLD_H

#include "ops/fold.h"
#include "schedule/scheduler.h"

enum { FOLD_VALUES = 64 };

/* Some values of rows, or of columns, and where they go. */
typedef struct fold_values {
    ir_value values[FOLD_VALUES], outputs[FOLD_VALUES];
    affine access[FOLD_VALUES];
    size_t count;
} fold_values;

/* The axes of its nest: outer..., row, column, the block's first row, the turn. */
typedef struct fold_block {
    scheduler *s;
    ir_op op;
    fold_shape shape;
    int outer; /* axes before the row */
    struct {
        int64_t size;
        ir_attr name;                             /* of the parameter */
    } rows;                                       /* of the block */
    ir_value outer_index[NEST_AXES], first, turn; /* turn 0: before the turns, or behind them */
    substitute substitutes[FOLD_VALUES];          /* what has memory in the workgroup, and turns */
    size_t substitute_count;
    ir_value memory[LIMIT_OPERANDS]; /* of each carried tensor, the block's rows */
    fold_values made;                /* what a turn has computed of rows */
    size_t known;                    /* substitutes that hold for all turns */
} fold_block;

/* A fold of the graph; its substitutes are those of its block's arguments. False: the schedule has
 * failed. */
bool fold_block_init(fold_block *f, scheduler *s, ir_op op);
/* It does not fit: fails the schedule. */
void fold_block_refuse(fold_block *f);
/* The value, of rows or of their `columns`, is in a workgroup buffer with `stride` elements a row.
 */
void fold_block_keep(fold_block *f, ir_value v, ir_value buffer, ir_dim stride, bool columns);
/* The place of an element in such a buffer. */
affine fold_block_access(const fold_block *f, bool columns, ir_dim stride);
/* Memory, and what the first turn takes. */
void fold_block_open(fold_block *f, ir_builder *b);
/* Turn `turn`, in this order: what it computes of rows, the next columns in the place of those
 * before, the next rows in theirs. */
void fold_block_rows(fold_block *f, ir_builder *b);
void fold_block_columns(fold_block *f, ir_builder *b);
void fold_block_next(fold_block *f, ir_builder *b);
/* The only columns that it carries, as a number among the carried; -1: none, or several. */
int fold_block_only_columns(const fold_block *f);
/* The carried value's next one. */
ir_value fold_block_end(const fold_block *f, uint32_t number);
/* Results that are used, into their own memory. */
void fold_block_store(fold_block *f, ir_builder *b);

#endif
