/* dot_shape.h - what the indices and the leading buffers of a sched.dot are, by name: its
 * attributes `indices` and `buffers`. The scheduler writes them; whoever lowers, verifies or weighs
 * a contraction reads them. */
#ifndef TESSERA_SCHEDULE_DOT_SHAPE_H
#define TESSERA_SCHEDULE_DOT_SHAPE_H

#include "ir/ir.h"

typedef enum dot_index {
    DOT_BLOCK_M, /* the first row of the tile's block */
    DOT_CHUNK,   /* the first step of the chunk */
    DOT_STRIP,   /* the first step of the strip */
    DOT_M,       /* the tile's first row */
    DOT_N,       /* ... and column */
    DOT_RUN,     /* of windows: the number of the run, a row of a window */
    DOT_STAGE,   /* the first step of the stage */
    DOT_STEP,    /* the step; of windows, in its run */
    DOT_INDEX_COUNT
} dot_index;

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
    int index[DOT_INDEX_COUNT];   /* number of the operand; -1: there is none */
    int buffer[DOT_BUFFER_COUNT]; /* number among the buffers; -1: there is none */
    int leading;                  /* how many buffers stand before the body's inputs */
} dot_shape;

/* Reads a sched.dot; false where the attributes name what is not known. */
bool dot_shape_read(const ir_module *m, ir_op dot, dot_shape *out);
/* The loop of an index; 0: there is no such index, or the grid gives it. */
ir_op dot_loop(const ir_module *m, ir_op dot, const dot_shape *shape, dot_index which);
/* The dot over whose steps, or runs or stages of them, a loop goes (one that cannot be read: over
 * all that it has); 0: it is another loop. */
ir_op dot_of_loop(const ir_module *m, ir_op loop);
/* Steps of all its runs, as a dimension of the module `dims`. */
ir_dim dot_extent(ir_module *dims, const ir_module *m, ir_op dot, const dot_shape *shape);
/* verify_runs.c: its runs and masks. */
bool schedule_verify_runs(const ir_module *m, ir_op op, status *st);
/* The attributes `indices` and `buffers`. Buffers are those with a number other than -1, in the
 * order of the enumeration. */
ir_attr dot_shape_indices(ir_module *m, const dot_shape *shape);
ir_attr dot_shape_buffers(ir_module *m, const dot_shape *shape);

#endif
