/* contraction.h - the state shared by the files that schedule a contraction: its axes and operands
 * (contraction.c), their packing (pack.c), and its blocks and register tiles (group_dot.c). */
#ifndef TESSERA_SCHEDULE_CONTRACTION_H
#define TESSERA_SCHEDULE_CONTRACTION_H

#include "schedule/scheduler.h"
#include "space/thresholds.h"

/* The values of PACK_A and PACK_B. */
enum packing { PACK_NOT, PACK_PHASE, PACK_BLOCK };

typedef struct contraction {
    scheduler *s;
    ir_op op;
    ir_value value, root;
    bool counted, chunked;
    bool limited; /* the counts are of columns that are needed */
    bool apart;   /* the epilogue is a loop of its own over finished sums in a cell buffer */
    order_id order;
    axis_space space;
    int k_axis;
    axis_map map; /* outer..., m, n, k */
    int outer;    /* how many outer indices */
    int64_t m, n, k;
    dtype element;             /* what is summed: f32 or i32 */
    int64_t group;             /* elements of both sides that are multiplied at once, or 0 */
    ir_value lhs, rhs, counts; /* buffers */
    affine lhs_access, rhs_access, count_access;
    int64_t pack_lhs, pack_rhs; /* of enum packing */
    bool many_axes;             /* no room for the indices of packing in blocks */
    bool packed;                /* rhs stands in panels */
    affine root_index[1][IR_MAX_RANK];
    ir_value root_buffer; /* where results go, and the place there */
    affine output;
    bool separate; /* outer axes stay apart, one index for each */
    /* What a cell does first, where lhs is computed by its cells; indices are the grid's. */
    void (*fill)(struct contraction *c, ir_builder *b, const ir_value *indices);
    const void *fills; /* its own data */
    int64_t mr, nr, bm, bn;
    ir_attr mr_name, nr_name, bm_name, bn_name, unroll, prefetch_name;
} contraction;

/* The contraction at the anchor of a DOT group, not analysed yet. */
contraction contraction_of_group(scheduler *s, const plan_group *group);
/* Finds axes, operands and output. False: something is not an affine function of them. */
bool contraction_analyse(contraction *c);
/* The dot's epilogue, with the finished sum where `accumulator` says. */
expression contraction_epilogue(contraction *c, const substitute *accumulator);
/* An axis that stands for index `i`, and the coefficient of an access along it. */
int contraction_axis(const contraction *c, int i);
int64_t contraction_along(const contraction *c, const affine *a, int i);
dtype contraction_element(const contraction *c, ir_value buffer);
/* The map with two or three more indices before m and n: the block's first m and n, and the chunk's
 * first k. They are the axes after k in the numbering. */
axis_map contraction_block_map(const contraction *c, int extra, bool with_k);

/* Decides what depends on k and the epilogue: chunks, and whether the epilogue stands apart. */
void contraction_choose_form(contraction *c);
/* Everything of one block: its chunks, register tiles and epilogue. `block` holds outer..., the
 * block's first m and n. */
void contraction_emit_block(contraction *c, ir_builder *b, const ir_value *block);

/* Parameters that do not go together fail the schedule; the first reason stays. */
void contraction_refuse(contraction *c, const char *format, ...)
    __attribute__((format(printf, 2, 3)));
/* Whether elements are multiplied in groups. */
void contraction_choose_group(contraction *c);
/* Steps of one chunk of its order; 0: all of them are one. */
int64_t contraction_chunk(const contraction *c);
/* How many cells blocks of so many rows and columns make. */
int64_t contraction_cells(const contraction *c, int64_t rows, int64_t columns);
/* A phase over the outer axes, blocks of rows and, where `by_columns`, of columns; returns the
 * builder inside, indices receives the first of each. */
ir_builder contraction_open_grid(const contraction *c, const char *what, bool by_columns,
                                 ir_value *indices);
/* The grid of blocks, and all that is in it. */
void contraction_emit_grid(contraction *c);
/* Tiles and blocks; the form and the packing are chosen. */
void contraction_choose_tiles(contraction *c);
/* Which operands are copied, and where. */
void contraction_choose_packing(contraction *c);
/* Does rhs stay in cache as it lies? */
bool contraction_near(const contraction *c);
/* Is the operand in memory as the sum takes it? */
bool contraction_same_storage(const contraction *c, ir_value buffer);
/* Phases before the contraction's own that copy operands as its loops want them. */
void contraction_pack(contraction *c);
/* One chunk of the block's columns of rhs, in panels [panel, k, NR]. `indices` hold outer..., and
 * the block's first m, n and (chunked) k; from here on the dot reads the copy. */
void contraction_pack_block(contraction *c, ir_builder *b, const ir_value *indices);

#endif
