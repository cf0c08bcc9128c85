/* rows.h - the state shared by the files that schedule reductions of rows: a phase of their own
 * (group_row.c), or a part of a chain (row_block.c). */
#ifndef TESSERA_SCHEDULE_ROWS_H
#define TESSERA_SCHEDULE_ROWS_H

#include "schedule/scheduler.h"

enum { ROWS_SUBSTITUTES = 64 };

typedef struct rows {
    scheduler *s;
    const plan_group *group;
    int number;
    axis_map map;                /* rows, then the column */
    axis_map row_map;            /* rows only */
    axis_map piece_map;          /* of a block in pieces: the piece's first column before the row */
    ir_value indices[NEST_AXES]; /* row indices, then the column's */
    int row_count;               /* how many row indices */
    substitute substitutes[ROWS_SUBSTITUTES];
    size_t substitute_count;
    bool done[ROWS_SUBSTITUTES]; /* roots that a reduction has stored in passing */
    ir_attr sub, vector;         /* columns of a step: of reductions, of results */
    traffic traffic;
    const row_block *block; /* inside of a chain; NULL elsewhere */
    ir_value piece;         /* ... in pieces: the first column of the present one */
    int64_t beside;         /* rows side by side; 1: one after the other */
    ir_builder *around;     /* memory is made there, for `around_rows` rows; NULL: for one row, in
                             * the loop over them */
    int64_t around_rows;
    ir_builder outside; /* of the loop over the rows */
} rows;

/* Operand of reduction number `i`. */
ir_value rows_reduce_operand(const rows *r, size_t i);
/* -1: it is no result. */
int rows_root_number(const rows *r, ir_value v);
/* Dear to compute, and needed again. */
bool rows_is_worth_a_row(rows *r, ir_value v);
/* A reduction has put the result where it belongs. */
bool rows_is_in_place(const rows *r, ir_value v);
/* From here on a value of all columns is read in the block's memory. */
void rows_substitute_block(rows *r, ir_value v);
/* The loop over the rows of a workgroup, from the first on; where it has several at once, their
 * memory is made before it. */
ir_builder rows_open_row(rows *r, ir_builder *b, ir_value first, ir_attr span);
/* Row values inside the expressions of `values` are computed once, before the loop over the
 * columns. */
void rows_hoist(rows *r, ir_builder *b, const ir_value *values, int count, bool roots);
/* Reduction number `i` of the row at hand; its results of rows; its results of columns. */
void rows_emit_reduce(rows *r, ir_builder *b, size_t i);
void rows_emit_row_roots(rows *r, ir_builder *b);
void rows_emit_full_roots(rows *r, ir_builder *b);

#endif
