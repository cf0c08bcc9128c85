/* staging.h - what contractions on matrix units have in common that go through the workgroup's
 * memory in stages (lower_mma.c, lower_mma_stage.c). */
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
    int64_t pitch, at;                /* of rows in a slot; where it begins there */
    int64_t piece;                    /* elements that are copied at once; 0: none can be */
} stage_side;

typedef struct staging {
    dot *t;
    const mma_unit *unit;
    stage_side sides[2];
    ir_value memory;
    int64_t steps, slots, slot; /* steps of a stage, stages at once, elements of a slot */
    int64_t whole, rest;        /* whole stages; the steps behind them */
    bool copies;                /* they are copied, not loaded and stored */
    ir_value end;               /* of the last loop over them; 0: there is none yet */
} staging;

int64_t staging_up(int64_t n, int64_t by);
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

/* A loop of so many steps a trip, which is part of the contraction, and goes on where the one
 * before it ended. */
ir_builder staging_loop(staging *g, ir_builder *b, int64_t high, int64_t step, ir_value sum,
                        ir_op *loop, ir_value *k);
ir_value staging_carried(const ir_builder *in);

/* lower_mma_stage.c: all steps by instructions that read the workgroup's memory. False, with
 * nothing done: what lies far away cannot be copied there. */
bool lower_mma_stages(dot *t, ir_builder *b, int64_t extent, ir_value *sum);

#endif
