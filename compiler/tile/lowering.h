/* lowering.h - the state shared by the files that lower Schedule IR to Tile IR. */
#ifndef TESSERA_TILE_LOWERING_H
#define TESSERA_TILE_LOWERING_H

#include "base/vec.h"
#include "ops/orders.h"
#include "schedule/dot_shape.h"
#include "schedule/schedule.h"
#include "tile/dims.h"
#include "tile/tile.h"

enum { LOWERING_AXES = 16, LANES = ORDER_LANES64_LANES, LANES_BLOCK = ORDER_LANES64_CHUNK };

/* An input of a computation that was loaded before the loop around it. */
typedef struct ready_input {
    ir_op op; /* of the schedule */
    int input;
    ir_value tile;
} ready_input;

/* Place of a schedule's buffer. */
typedef struct memory_place {
    int opcode; /* TILE_WORKSPACE, TILE_PREPARED, TILE_SCRATCH; 0: not known yet */
    dtype element;
    ir_dim offset; /* in bytes */
    ir_dim piece;  /* bytes of a workgroup's own part, which are one behind the other; 0: of none */
} memory_place;

/* A product with a dimension, of the present phase. */
typedef struct index_product {
    ir_dim coefficient;
    ir_value index, product;
} index_product;

/* Parts of the workspace that belong to a workgroup, whose own memory has no room for them. */
typedef struct workgroup_pieces {
    int64_t begin;                    /* of all of them: where planned buffers end */
    ir_dim end;                       /* of those of the present phase */
    int64_t phase_bytes, moved_bytes; /* of a workgroup: in the present phase, in any */
} workgroup_pieces;

typedef struct lowering {
    const ir_module *s;     /* the schedule */
    ir_module *m;           /* Tile IR under construction */
    ir_value *value_of;     /* by schedule value: an index or a memory */
    int64_t *size_of;       /* by schedule index: how many elements it stands for */
    ir_value *valid_of;     /* ... and how many of them there are; 0: all */
    memory_place *place_of; /* by schedule buffer that is no argument */
    dim_values dims;        /* of the present phase */
    VEC(index_product) products;
    bool *is_output; /* by schedule buffer: a kernel output, whose NaNs are canonical */
    VEC(ready_input) ready;
    ir_dim workspace_bytes, scratch_bytes, phase_scratch_bytes;
    ir_dim workgroups;                       /* of the present phase ... */
    ir_value workgroup;                      /* ... and the number of the one that runs */
    int64_t prepared_bytes, unplanned_bytes; /* of the workspace, did no buffers share it */
    memory_place staging;                    /* of the present phase ... */
    int64_t staging_bytes;                   /* ... 0: it has none */
    bool symbolic;                           /* a launch gives dimensions */
    int64_t shared_bytes; /* of a workgroup's memory; 0: it is a thread's own, and grows */
    workgroup_pieces pieces;
    status *st;
    bool failed;
} lowering;

/* A computation at one place: where its tile lies and how it reaches its buffers. */
typedef struct frame {
    lowering *l;
    ir_op op;                      /* of the schedule */
    ir_value index[LOWERING_AXES]; /* tile indices, the reduced one last where there is one */
    int axes;
    int row_axis, column_axis; /* -1: none */
    int64_t rows, columns;
    ir_value valid_rows, valid_columns; /* how many of them there are; 0: all */
    int first_input;                    /* operand number of the body's first input */
    int body_inputs, leading;           /* leading buffers come before the body's inputs */
    dot_shape shape;                    /* a dot's */
    ir_value accumulator;               /* a dot's finished sum, the body's first argument */
    ir_value at;                        /* the index where outputs lie; 0: they have none */
    bool padded;                        /* stores what is valid, whatever the strides say */
    ir_value running;                   /* a scan's sums before this tile, then with it */
} frame;

bool lowering_fail(lowering *l, const char *format, ...) __attribute__((format(printf, 2, 3)));

frame frame_of(lowering *l, ir_op op);
/* Memory of buffer operand `i` (0 is the first buffer), its access, and the two strides of a tile
 * there. */
ir_value frame_memory(const frame *f, int i);
void frame_access(const frame *f, int i, ir_dim *access);
/* Numbers and dimensions of a list, at most `most`. */
void frame_numbers(const frame *f, ir_attr list, ir_dim *numbers, uint32_t most);
ir_value frame_offset(const frame *f, ir_builder *b, const ir_dim *access);
ir_dim frame_row_stride(const frame *f, const ir_dim *access);
ir_dim frame_column_stride(const frame *f, const ir_dim *access);
/* The tile's elements along an access: rows and columns along which it stands still stay single. */
tile_window frame_window(const frame *f, const ir_dim *access);
/* Loads the single elements that stand still while the last index moves, before the loop over it.
 * Forgotten when `ready` gets its old length back. */
void frame_load_ahead(const frame *f, ir_builder *b);
/* The body at the frame's place: one tile for each yield. */
void frame_body(frame *f, ir_builder *b, ir_value *yields);
/* simt/lower_turned.c: input number `i` where it is to be turned in the workgroup's memory; 0: it
 * is not. */
ir_value lower_turned(const frame *f, ir_builder *b, int i);
/* Stores a yield into output number `i`. */
void frame_store(const frame *f, ir_builder *b, int i, ir_value x);

/* A tile-level memory in the running thread's scratch. */
ir_value lowering_scratch(lowering *l, ir_builder *b, dtype element, ir_dim count);
/* Places a buffer of the schedule. */
void lowering_buffer(lowering *l, ir_builder *b, ir_op op);
/* At the beginning of a phase: addresses that the phase before has made are none of this one's, and
 * its scratch is used again. */
void lowering_begin_memory(lowering *l);
/* Memory of stages of contractions, of which the phase has one after the other: the same again
 * where it is large enough, and begins at a multiple of as many bytes. */
ir_value lowering_staging(lowering *l, ir_builder *b, dtype element, int64_t count,
                          int64_t alignment);
/* Likewise, that is no other's in the phase. */
ir_value lowering_own(lowering *l, ir_builder *b, dtype element, int64_t count, int64_t alignment);
/* A dimension as an index; constant + sum of coefficient * index. */
ir_value lowering_dim(lowering *l, ir_builder *b, ir_dim dim);
ir_value lowering_affine(lowering *l, ir_builder *b, ir_dim constant, const ir_value *indices,
                         const ir_dim *coefficients, int n);
/* plan_workspace.c: places of the kernel's buffers in the workspace, where sizes are known. */
void lowering_plan_workspace(lowering *l, ir_block block, ir_op kernel);
/* Memory of a buffer in the present phase. */
ir_value lowering_memory(lowering *l, ir_value buffer);

/* lower_grid.c: how many workgroups there are along each axis of a grid; returns how many in all.
 * The first index of each axis, from the number of the workgroup. */
ir_dim lowering_grid(lowering *l, ir_op parallel, ir_dim *counts);
void lowering_workgroup(lowering *l, ir_builder *in, ir_op parallel, const ir_dim *counts,
                        ir_value workgroup);

/* Makes the elements of a step of a loop whose end is a reduction: so many, from that index on. */
void lowering_piece(lowering *l, ir_builder *b, ir_op loop, ir_value index, int64_t count);

/* Notes on a loop or a fold that it is part of the reduction of a computation, and in which order.
 */
void lowering_mark(lowering *l, ir_op op, ir_op computation);

/* Elements of a buffer. */
ir_dim lowering_count(lowering *l, ir_value buffer);

void lower_fill(lowering *l, ir_builder *b, ir_op op);
void lower_map(lowering *l, ir_builder *b, ir_op op);
void lower_reduce(lowering *l, ir_builder *b, ir_op op);
void lower_columns(lowering *l, ir_builder *b, ir_op op);
/* Either of the two in the order exact. */
void lower_exact(lowering *l, ir_builder *b, ir_op op);
void lower_dot(lowering *l, ir_builder *b, ir_op op);
void lower_scan(lowering *l, ir_builder *b, ir_op op);
void lower_sort(lowering *l, ir_builder *b, ir_op op);
/* The sums of a scan with x, in its body. */
ir_value lowering_running(frame *f, ir_builder *b, ir_value x);

/* The neutral element of a reduction: -0 for float sums (x + -0 is x for every x), the limits for
 * max and min. */
uint64_t reduction_neutral(const char *kind, dtype element);
/* Start of accumulators: +0 for sums. */
uint64_t reduction_start(const char *kind, dtype element);
int reduction_opcode(const char *kind); /* of tile.add and so on */

#endif
