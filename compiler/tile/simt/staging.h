/* staging.h - what contractions have in common that go through the workgroup's memory in stages:
 * with multiplications and additions of threads (lower_staged.c), on matrix units that read
 * registers (lower_mma.c) and on those that read that memory (lower_mma_stage.c).
 *
 * A stage is some steps of both sides. Several have a slot of memory each: while one is multiplied,
 * those behind it are on their way. */
#ifndef TESSERA_TILE_SIMT_STAGING_H
#define TESSERA_TILE_SIMT_STAGING_H

#include "tile/lower_dot.h"
#include "tile/mma.h"
#include "tile/simt/access.h"
#include "tile/simt/simt.h"

enum { COPY_BYTES = 16, LEAST_COPY_BYTES = 4 };

typedef struct stage_side {
    int number; /* 0: the left one */
    const ir_dim *access;
    int64_t lines, padded;            /* those that there are; those of the tile */
    int64_t line_stride, step_stride; /* far away */
    bool by_step;                     /* in a slot steps lie side by side; else lines do */
    bool turned;                      /* far away steps lie side by side, in a slot lines do */
    int64_t pitch, at;                /* of rows in a slot; where it begins there */
    int64_t piece;                    /* elements that are copied at once; 0: none can be */
    bool loaded;                      /* ... and they are loaded and stored */
} stage_side;

typedef struct staging staging;

/* A stage on its way through registers: parts of so many steps, the last of what is left. */
enum { STAGE_PARTS = 16 };
typedef struct stage_tiles {
    int64_t steps, part[2];
    ir_value tiles[2][STAGE_PARTS];
} stage_tiles;

/* Actions in which units differ. */
typedef struct stage_actions {
    /* Begins the copies of a stage, whose first step is k; or loads and stores it. */
    void (*copy)(const staging *g, ir_builder *b, ir_value slot, ir_value k);
    /* NULL where stages are copied: so many steps from k on into registers; those into a slot. */
    stage_tiles (*load)(const staging *g, ir_builder *b, ir_value k, int64_t steps);
    void (*store)(const staging *g, ir_builder *b, ir_value slot, const stage_tiles *x);
    /* The products of so many steps in a slot onto a sum. */
    ir_value (*multiply)(const staging *g, ir_builder *b, ir_value slot, int64_t steps,
                         ir_value sum);
} stage_actions;

struct staging {
    dot *t;
    const mma_unit *unit; /* NULL: threads multiply and add */
    dtype element;        /* of what is staged */
    const stage_actions *does;
    stage_side sides[2];
    ir_value memory;
    int64_t steps, slots, slot; /* steps of a stage, stages at once, elements of a slot */
    int64_t whole, rest;        /* whole stages; the steps behind them */
    bool copies;                /* they are copied, not loaded and stored */
    int64_t distance;           /* ... and so many are under way when one is multiplied */
    bool overlaps;              /* products are under way, too, while others are begun */
    int64_t behind;             /* ... of so many stages */
    bool fetches;               /* a loader does the copies, into slots with barriers */
    ir_value barriers, number;  /* ... of which those are the memory; the stage that is copied */
    ir_value end;               /* of the last loop over them; 0: there is none yet */
};

int64_t staging_up(int64_t n, int64_t by);
/* Threads of a workgroup that compute. */
int staging_threads(const ir_module *m);
/* An operation of no values, with one attribute or (NULL) none. */
void staging_op(ir_builder *b, int opcode, const char *name, int64_t value);

/* Both sides, of the frame as it is. */
void staging_sides(staging *g);
/* The frame and its sides get the rows and columns of the instructions; those that there are not
 * are computed and not stored. */
void staging_pad(staging *g, ir_builder *b);
/* The place far away of a side's first line at step k. */
ir_value staging_far_offset(const staging *g, const stage_side *s, ir_builder *b, ir_value k);
/* Elements that can be copied at once, of stages of so many steps and the `rest` behind them: a
 * power of two, to which all of it is aligned. */
int64_t staging_piece(const staging *g, const stage_side *s, ir_builder *b, int64_t steps,
                      int64_t rest);
/* The first element of the slot of a stage: of its number, which is a constant or (`index`) so many
 * more than an index. */
ir_value staging_slot(const staging *g, ir_builder *b, ir_value index, int64_t number);

/* Slots for the stages that are there at once: where they are loaded, one and the next. */
void staging_cut_slots(staging *g);

/* A copy from far away, of rows that lie `from_stride` apart there and `to_stride` in a slot. */
typedef struct stage_rows {
    int64_t rows, columns, to_stride, from_stride;
    int64_t to_step;     /* what lies side by side far away is so far apart; 0: it is not */
    int64_t swizzle, at; /* bytes of a swizzled row, and the element where these begin; 0: none */
    int64_t blocks, block_stride; /* of fetches: so many of such rows, so far apart far away */
} stage_rows;
void staging_copy(const staging *g, const stage_side *s, ir_builder *b, ir_value to, ir_value from,
                  const stage_rows *rows);
/* Begins the copies of a stage: a slot has both sides, each with its lines or its steps side by
 * side. */
void staging_copy_stage(const staging *g, ir_builder *b, ir_value slot, ir_value k);
/* Loads a stage and stores it. */
void staging_move_stage(const staging *g, ir_builder *b, ir_value slot, ir_value k);
/* Is there one slot for several stages? */
bool staging_is_alone(const staging *g);
/* Begins the copies of the first stages; where a loader does them, of all. */
void staging_begin_copies(const staging *g, ir_builder *b);
/* ... or brings the first one there, where they are loaded. */
void staging_begin(const staging *g, ir_builder *b);
/* One trip of the pipeline, at step k: a wait for the copies of this stage, then for all threads,
 * of which none reads the slot any more that the next copies go to; those copies; the products. */
ir_value staging_trip(const staging *g, ir_builder *b, ir_value k, ir_value sum);

/* Opens a loop (dot_open) up to step `high`, which goes on where the one before it ended. */
step_loop staging_loop(staging *g, ir_builder *b, int64_t high, int64_t step, ir_value *sum);
/* All whole stages, which are copied; what they leave over, in the slot behind theirs. */
ir_value staging_whole(staging *g, ir_builder *b, ir_value sum);
ir_value staging_rest(staging *g, ir_builder *b, ir_value sum);

/* All steps in the order of fma: each chunk's sum from +0, onto the total, and where there is one
 * chunk that alone. What whole stages leave over is in the slot behind theirs. */
ir_value staging_all(const staging *g, ir_builder *b);

/* lower_mma_stage.c: all steps by instructions that read the workgroup's memory. False, with
 * nothing done: what lies far away cannot be copied there. */
bool lower_mma_stages(dot *t, ir_builder *b, ir_value *sum);

#endif
