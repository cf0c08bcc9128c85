/* lower_dot.h - the state of a contraction's lowering, shared by its register tiles (lower_dot.c),
 * their steps (lower_steps.c) and sums (lower_sums.c), and the runs of steps that windows have
 * (lower_runs.c). */
#ifndef TESSERA_TILE_LOWER_DOT_H
#define TESSERA_TILE_LOWER_DOT_H

#include "tile/lowering.h"

/* A place of the tile's sums in memory. */
typedef struct tile_place {
    ir_value memory, offset;
    int64_t row_stride, column_stride;
} tile_place;

/* Fields: one contraction as its lowering reads it from the attributes of the operation, once. */
typedef struct dot {
    frame f;
    ir_builder *b;
    ir_op loop;    /* of the schedule, over its steps */
    ir_dim extent; /* all of them */
    bool packed;
    dtype element;
    ir_dim lhs[LOWERING_AXES + 1], rhs[LOWERING_AXES + 1];
    ir_value counts;      /* tile Rx1 of i32 */
    ir_value least, most; /* as indices */
    int k;                /* position of the step in the frame, behind that of the run */
    bool unit;            /* multiplies 128 and rhs */
    int64_t chunk;        /* steps of one chunk of its order */
    int64_t unroll;       /* steps in one trip */
    int64_t group;        /* elements of a step that are 32 bits of both sides; 0: single ones */
    dtype of;             /* their type */
    bool pairs;           /* the order is pairs512 */
    bool turned;          /* the rhs of a trip is one tile, a row for each of its steps */
    bool in_first;        /* what is fetched ahead goes into the first cache, not the second */
    bool known;           /* the number of all steps */
    const struct mma_unit *mma; /* what multiplies; NULL: fma */
    bool as_threads;            /* ... in the order of fma, chunk by chunk */
    int64_t stage;    /* steps that go through the workgroup's memory at a time; 0: none do */
    int64_t depth;    /* stages that are copied there at once; 0: none is copied */
    bool loader;      /* a thread of its own copies them, where it can */
    int64_t prefetch; /* lines of the next panel for one trip */
    tile_place place; /* chunk by chunk, of the running totals; strip by strip, of the sums */
    int64_t strip;    /* steps of a strip; 0: all of a chunk are the tile's at once */
    ir_value near;    /* where this tile's share of the next panel begins */
} dot;

/* A loop over steps that is being made. */
typedef struct step_loop {
    ir_op op;
    ir_builder in; /* its block ... */
    ir_value k;    /* ... and index */
} step_loop;

/* Opens a loop over steps [low, high), `step` a trip, which carries `n` sums: they become those
 * that a trip begins with. */
step_loop dot_open(const dot *t, ir_builder *b, ir_value low, ir_value high, int64_t step,
                   ir_value *sums, uint32_t n);
/* Closes it with the sums that a trip ends with, which become the loop's. */
void dot_close(step_loop *l, ir_value *sums, uint32_t n);
/* The end of whole trips of [low, high): `high` itself where no chunk has a part of one. */
ir_value dot_whole(const dot *t, ir_builder *b, ir_value low, ir_value high, int64_t trip);
/* A value of the summed type. */
ir_value dot_summed(const dot *t, ir_builder *b, ir_value x);
/* An element of that type as the low bits of an i32. */
ir_value dot_low_bits(ir_builder *b, ir_value x, dtype of);
/* The lhs of step k as it lies, or of the group at k, a row for each of the tile's. */
ir_value dot_left(dot *t, ir_builder *b, ir_value k, bool group);
/* The rhs of the `count` steps from k on as it lies, a row for each, or for each `group` of them.
 */
ir_value dot_right(dot *t, ir_builder *b, ir_value k, int64_t count, int64_t group);
/* lower_steps.c: the sum of steps [low, high) from +0, and, where a step is no more than an fma,
 * onto `sum`. */
ir_value dot_chunk(dot *t, ir_builder *b, ir_value low, ir_value high);
ir_value dot_steps(dot *t, ir_builder *b, ir_value low, ir_value high, ir_value sum, bool masked);
/* A panel's chunk is shared out among the first tiles that use it. */
void dot_share_panel(dot *t, ir_builder *b, ir_value start);
/* Smallest and largest number in buffer `which` of the tile's rows. */
void dot_load_counts(dot *t, ir_builder *b, dot_buffer which);

/* lower_sums.c: the steps of the tile's chunk, or all: [low, high). */
void dot_chunk_bounds(const dot *t, ir_builder *b, ir_value *low, ir_value *high);
/* The sum of the tile's chunk onto the totals, and after the last chunk the epilogue; or that of
 * all steps onto +0, and the epilogue. */
void dot_end_chunk(dot *t, ir_builder *b, ir_value sum);
/* The steps of a strip onto the sums of those before; after the last one, the end of the chunk. */
void dot_strip(dot *t, ir_builder *b);
/* A tile of +0; +0 + a sum; the epilogue on finished sums. */
ir_value dot_zero(const dot *t, ir_builder *b);
ir_value dot_with_zero(const dot *t, ir_builder *b, ir_value x);
void dot_finish(dot *t, ir_builder *b, ir_value sum);

/* lower_pairs.c: the products of steps [low, high) in pairs512, onto `sum`. */
ir_value lower_pairs(dot *t, ir_builder *b, ir_value low, ir_value high, ir_value sum);

/* simt/lower_staged.c: all steps, through the workgroup's memory; the finished sum. */
ir_value lower_staged(dot *t, ir_builder *b);
/* simt/lower_mma.c: all steps on a matrix unit; the finished sum. The frame is then as large as the
 * instructions need, and what is valid of it is what it was. */
ir_value lower_mma(dot *t, ir_builder *b);
/* One multiplication and addition for each element of the tile. */
ir_value dot_multiply_add(const dot *t, ir_builder *b, ir_value x, ir_value y, ir_value sum);

/* lower_runs.c: the steps in runs, of which those outside of masks do not happen. */
void lower_runs(dot *t, ir_builder *b);

#endif
