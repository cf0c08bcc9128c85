/* stream_rows.h - a part of a kernel's block that is computed for some of its rows at a time: what
 * is found of it (stream_rows.c), and the loop that it becomes (stream_loop.c). */
#ifndef TESSERA_GRAPH_STREAM_ROWS_H
#define TESSERA_GRAPH_STREAM_ROWS_H

#include "base/vec.h"
#include "ops/graph.h"

enum { STREAM_ROWS = 512 }; /* of a turn: a chunk of the order chunk512 */

enum {
    AXIS_UNKNOWN = -2,
    AXIS_NONE = -1 /* it has no rows: the same in all turns, or a sum over all rows */
};

/* A value that is made outside, as an operation inside reads it. */
typedef struct stream_input {
    ir_value value;
    int axis; /* of the rows, or AXIS_NONE */
} stream_input;

typedef struct stream {
    ir_module *m;
    ir_block block;
    ir_dim rows, columns;
    uint32_t values, operations; /* that there were before */
    bool *inside;                /* by operation */
    int *axis;                   /* by value made inside: of its rows */
    VEC(ir_op) entered;          /* whose operands were not looked at yet */
    VEC(stream_input) inputs;
    VEC(ir_value) sums, results; /* made inside and read outside: over all rows; with rows */
    ir_op before;                /* the loop stands there */
} stream;

/* The axis of the rows in an operand, where it is that in the result. */
int stream_operand_axis(const stream *s, ir_op op, uint32_t operand, int axis);
/* Is it a product over the rows? */
bool stream_adds_rows(const stream *s, ir_op op);
/* The loop stands in the place of the operations inside. */
void stream_build(stream *s);

#endif
