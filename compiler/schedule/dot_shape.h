/* dot_shape.h - what the indices and the leading buffers of a sched.dot are, by name: its
 * attributes `indices` and `buffers`. The scheduler writes them; whoever lowers, verifies or weighs
 * a contraction reads them. */
#ifndef TESSERA_SCHEDULE_DOT_SHAPE_H
#define TESSERA_SCHEDULE_DOT_SHAPE_H

#include "ir/ir.h"

/* The axes of a contraction beside its outer ones. Those of blocks have no part in the result's
 * shape: an access that has a coefficient for one is relative to the block's, chunk's or panel's
 * beginning. In this order their indices stand behind the outer ones. */
typedef enum contraction_axis {
    AXIS_BLOCK_M,
    AXIS_BLOCK_N,
    AXIS_CHUNK,
    AXIS_PANEL,
    AXIS_ROW,        /* of a copy: a step of k that is an index */
    AXIS_BLOCK_LINE, /* of windows: a line of places, as m is the place in it */
    AXIS_LINE,
    AXIS_STRIP, /* of few rows: steps that go through a block's columns before the next ones */
    AXIS_M,
    AXIS_N,
    AXIS_RUN,   /* of windows: runs of steps, of which each is a row of a window */
    AXIS_STAGE, /* steps that go through the memory of a workgroup of threads together */
    AXIS_K,
    AXIS_COUNT
} contraction_axis;

typedef enum dot_buffer {
    DOT_LHS,
    DOT_RHS,
    DOT_COUNTS,  /* by row: steps at or past it do not happen */
    DOT_LIMITS,  /* by row: columns at or past it are not needed */
    DOT_OFFSETS, /* by column: what comes off */
    DOT_TOTALS,  /* the sums of the chunks so far */
    DOT_SUMS,    /* the sums of the strips of a chunk so far */
    DOT_BUFFER_COUNT
} dot_buffer;

typedef struct dot_shape {
    int index[AXIS_COUNT];        /* number of the operand; -1: there is none */
    int buffer[DOT_BUFFER_COUNT]; /* number among the buffers; -1: there is none */
    int leading;                  /* how many buffers stand before the body's inputs */
} dot_shape;

/* Reads a sched.dot; false where the attributes name what is not known. */
bool dot_shape_read(const ir_module *m, ir_op dot, dot_shape *out);
/* The loop of an index; 0: there is no such index, or the grid gives it. */
ir_op dot_loop(const ir_module *m, ir_op dot, const dot_shape *shape, contraction_axis which);
/* The dot over whose steps, or runs or stages of them, a loop goes (one that cannot be read: over
 * all that it has); 0: it is another loop. */
ir_op dot_of_loop(const ir_module *m, ir_op loop);
/* Steps of all its runs, as a dimension of the module `dims`. */
ir_dim dot_extent(ir_module *dims, const ir_module *m, ir_op dot, const dot_shape *shape);
/* verify_runs.c: its runs and masks. */
bool schedule_verify_runs(const ir_module *m, ir_op op, status *st);
/* The attributes `indices` and `buffers`: names of those with a number other than -1, in the order
 * of the enumeration. Indices are the last operands before the buffers. */
ir_attr dot_shape_indices(ir_module *m, const dot_shape *shape);
ir_attr dot_shape_buffers(ir_module *m, const dot_shape *shape);

#endif
