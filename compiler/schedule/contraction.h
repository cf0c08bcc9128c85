/* contraction.h - the state shared by the files that schedule a contraction: its axes and operands
 * (contraction.c), their copies (pack.c), and its blocks and register tiles (group_dot.c). */
#ifndef TESSERA_SCHEDULE_CONTRACTION_H
#define TESSERA_SCHEDULE_CONTRACTION_H

#include "parameters/thresholds.h"
#include "schedule/dot_shape.h"
#include "schedule/scheduler.h"
#include "schedule/size_search.h"

typedef struct contraction_shape {
    int outer;            /* how many outer indices: batches, and axes that did not merge */
    axis_map map;         /* outer..., m, n, k */
    int axis[AXIS_COUNT]; /* numbers in accesses; AXIS_ROW has that of k */
    int axes;             /* how many numbers there are */
    ir_dim m, n, k;
    int64_t rows, columns, steps; /* m, n and k as choices see them */
} contraction_shape;

/* The indices of one place in the loops; 0: there is no loop of this kind around it. */
typedef struct contraction_place {
    ir_value outer[NEST_AXES], at[AXIS_COUNT];
} contraction_place;

/* The values of PACK_A and PACK_B. */
enum packing { PACK_NOT, PACK_PHASE, PACK_BLOCK };

typedef struct contraction_operand {
    ir_value buffer;
    affine access;
    int64_t packing; /* of enum packing */
} contraction_operand;

/* Number of steps, or of columns, that each row has left, in memory. */
typedef struct contraction_counts {
    enum { COUNTS_NONE, COUNTS_STEPS, COUNTS_COLUMNS } of;
    ir_value buffer;
    affine access;
} contraction_counts;

enum { CONTRACTION_SUBSTITUTES = 65 };
/* Rows of a register tile, where there are many. */
enum { CONTRACTION_TILE_ROWS = 6 };

typedef struct contraction_result {
    ir_value value, root;         /* the sum, and what the epilogue makes of it */
    affine index[1][IR_MAX_RANK]; /* of the root */
    ir_value buffer;              /* where results go, and the place there */
    affine access;
    bool unfused; /* the epilogue is a loop of its own over finished sums in a workgroup buffer */
    /* Values that the epilogue reads elsewhere; the first is for the sum. */
    substitute known[CONTRACTION_SUBSTITUTES];
    size_t known_count;
} contraction_result;

typedef struct tile_size {
    int64_t size;
    ir_attr name; /* of the parameter, or the number */
} tile_size;

tile_size tile_number(const scheduler *s, int64_t size);

typedef struct contraction_tiles {
    tile_size mr, nr, bm, bn;
    tile_size strip; /* steps; 0: a tile takes all of a chunk */
    ir_attr unroll;
    ir_attr prefetch, stage, depth, loader, warps; /* 0: there is none */
} contraction_tiles;

/* Places [from, to) of a line, which have a loop of their own. */
typedef struct window_piece {
    ir_dim from, to;
    ir_attr step;
    bool inside; /* the places of their windows are inside of the image */
} window_piece;

enum { WINDOW_MASKS = 2, WINDOW_PIECES = 3 };

/* The windows of a convolve. Of a line, and of a place in it: a step happens where 0 <= mask <
 * limit holds of both. */
typedef struct contraction_windows {
    ir_dim runs[2]; /* rows of a window, and steps of a row */
    ir_dim limit[WINDOW_MASKS];
    affine mask[WINDOW_MASKS];
    window_piece pieces[WINDOW_PIECES];
    int piece_count;
} contraction_windows;

/* Fields: one analysis, filled step by step; each step reads those of all before. */
typedef struct contraction {
    scheduler *s;
    ir_op op;
    order_id order;
    bool chunked;              /* the sums of several chunks are added */
    bool separate;             /* outer axes stay apart, one index for each */
    const schedule_unit *unit; /* of a matrix unit, which multiplies; NULL: none does */
    bool stageable;            /* by itself: no chain, and its left side is in memory */
    bool staged;               /* operands go through the memory of a workgroup of threads */
    dtype element;             /* what is summed: f32 or i32 */
    int64_t group;             /* elements of both sides that are multiplied at once, or 0 */
    contraction_shape shape;
    contraction_operand lhs, rhs;
    bool exchangeable; /* either operand may be what is called lhs */
    bool exchanged;    /* lhs is the right one, and its free axis m */
    bool packed;       /* rhs stands in panels */
    bool turnable;     /* steps of rhs lie side by side, and rows are few: it may be turned */
    bool turned;       /* steps of rhs lie side by side, and are read as blocks of a trip's */
    bool near;         /* what of rhs is fetched ahead goes into the first cache */
    contraction_counts counts;
    contraction_result result;
    contraction_tiles tiles;
    /* Begins a workgroup's work, where lhs is computed by its workgroups. */
    void (*fill)(struct contraction *c, ir_builder *b, const contraction_place *grid);
    const void *fills; /* its own data */
    /* Begins each chunk, where lhs is made chunk by chunk. */
    void (*fill_chunk)(struct contraction *c, ir_builder *b, const contraction_place *place);
    void *chunks;  /* its own data */
    bool alone;    /* its tiles need nothing of the block around them */
    bool of_piece; /* a block of columns is a step of a loop around it */
    ir_value sums; /* memory of a block's finished sums that others have made; 0: its own */
    contraction_windows *windows; /* NULL: it is no convolve */
    struct {
        ir_dim count;
        int64_t in_block; /* lines of a block */
        ir_attr step;     /* ... the parameter's name */
    } lines;
} contraction;

/* The contraction at the anchor of a DOT group, not analysed yet. */
contraction contraction_of_group(scheduler *s, const plan_group *group);
/* Finds axes, operands and output. False: something is not an affine function of them. */
bool contraction_analyse(contraction *c);
/* Finds how a right side without a batch lies along n and k. */
bool contraction_find_rhs(contraction *c);
/* Numbers the axes of blocks behind those that are there; m, n and k are the map's last. */
void contraction_name_axes(contraction *c, int axes);
/* Have the axes of packing in blocks numbers? */
bool contraction_can_pack_blocks(const contraction *c);
/* A size of its tiles: that of the parameter NAME, whose default is `otherwise`. */
#define contraction_ask(c, NAME, otherwise, tile)                                                  \
    ((tile)->size = scheduler_parameter((c)->s, IN_DOT, NAME, otherwise, &(tile)->name))
/* Vectors of a register tile of so many rows: their sums, a row of rhs and two elements of lhs have
 * registers. */
int64_t contraction_tile_vectors(const contraction *c, int64_t rows);
/* A search for sizes of its rows and columns, whose limits are not there yet. */
size_search contraction_sizes(const contraction *c, size_rule rule);
/* The dot's epilogue, with the finished sum where `accumulator` says. */
expression contraction_epilogue(contraction *c, const substitute *accumulator);
/* The axis of an outer index, and the coefficient of an access along a named one. */
int contraction_outer_axis(const contraction *c, int i);
ir_dim contraction_along(const contraction *c, const affine *a, contraction_axis axis);
void contraction_set(const contraction *c, affine *a, contraction_axis axis, ir_dim coefficient);
/* ... along k, on which runs go on where the one before ends. */
void contraction_set_steps(const contraction *c, affine *a, ir_dim coefficient);
dtype contraction_element(const contraction *c, ir_value buffer);
/* The indices of a place as operands; returns how many. */
int contraction_indices(const contraction *c, const contraction_place *place, ir_value *indices);
/* From axes to those indices. */
axis_map contraction_map(const contraction *c, const contraction_place *place);

/* Decides what depends on k and the epilogue: chunks, and whether the epilogue is fused. */
void contraction_choose_form(contraction *c);
/* Everything of one block: its chunks, register tiles and epilogue. `block` has its first m and n.
 */
void contraction_emit_block(contraction *c, ir_builder *b, const contraction_place *block);

/* Elements from row to row in a workgroup's memory: they begin in different sets of the cache. */
ir_dim contraction_padded_row(const scheduler *s, ir_dim columns);
/* Parameters that do not go together fail the schedule; the first reason stays. */
void contraction_refuse(contraction *c, const char *format, ...)
    __attribute__((format(printf, 2, 3)));
/* Steps of one chunk of its order; 0: all of them are one. */
int64_t contraction_chunk(const contraction *c);
/* Steps of a trip, of so many: no chunk, and not what is left for the last one, has a part of one.
 */
int64_t contraction_whole_steps(const contraction *c, int64_t most);
/* A phase over the outer axes, blocks of rows and, where `by_columns`, of columns; returns the
 * builder inside, *place receives the first of each. */
ir_builder contraction_open_grid(const contraction *c, const char *what, bool by_columns,
                                 contraction_place *place);
/* The grid of blocks, and all that is in it. */
void contraction_emit_grid(contraction *c);
/* Are the panels of rhs a number of elements? */
bool contraction_has_known_size(const contraction *c);
/* Does rhs stay in cache as it lies? */
bool contraction_near(const contraction *c);
/* Is the operand in memory as the sum takes it? */
bool contraction_same_storage(const contraction *c, ir_value buffer);
/* Are columns counted from the beginning of their panel? */
bool contraction_has_panels(const contraction *c);
/* Is a copy of rhs in a phase of its own made once for many launches, and as good to read as rhs?
 * Then it costs a launch nothing. */
bool contraction_is_prepared(const contraction *c);
/* Asks for PACK_B, and refuses what cannot be. */
void contraction_ask_copy(contraction *c, int64_t otherwise);
/* ... where each row of the contraction is one of so many lines. */
void contraction_choose_copy(contraction *c, int64_t lines);
/* Phases before the contraction's own that copy operands as its loops want them. */
void contraction_pack(contraction *c);
/* One chunk of the block's columns of rhs, in panels [panel, k, NR]; from here on the dot reads the
 * copy. */
void contraction_pack_block(contraction *c, ir_builder *b, const contraction_place *block);

#endif
