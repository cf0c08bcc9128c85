/* tile_step.h - one operation on tiles with numbers for its dimensions: how long its operands are
 * where tiles hang over an edge, and what it gives.
 *
 * expand-tiles writes out what this says, and the checker asks it before anything is written. */
#ifndef TESSERA_OPS_TILE_STEP_H
#define TESSERA_OPS_TILE_STEP_H

#include "ops/graph.h"

enum { TILE_STEP_OPERANDS = LIMIT_OPERANDS, TILE_STEP_ATTRS = 16 };

typedef enum tile_refusal {
    TILE_REFUSED_NUMBER, /* a dimension that is none, or more operands than there are */
    TILE_REFUSED_EDGE,   /* a tile is shorter than the operation takes */
    TILE_REFUSED_PLACE,  /* a load begins outside of its tensor */
} tile_refusal;

typedef struct tile_step {
    ir_module *m;
    ir_op op;
    ir_bindings known; /* indices, and dimensions that are symbols; borrowed */
    int opcode;
    uint32_t operand_count;
    /* As they are in this instance; after tile_step_fit what the operation takes of them, from
     * their first places on. */
    ir_type operands[TILE_STEP_OPERANDS];
    ir_named_attr attrs[TILE_STEP_ATTRS];
    uint32_t attr_count;
    /* out */
    ir_type results[4];
    tile_refusal refusal;
    char error[512];
} tile_step;

/* A load with numbers: places from `begin` on, of which `inside` are in x, from place `first` of
 * the tile on. */
typedef struct placed_load {
    int rank;
    int64_t begin[IR_MAX_RANK], size[IR_MAX_RANK], first[IR_MAX_RANK], inside[IR_MAX_RANK];
    bool empty;
} placed_load;

/* The attributes with numbers; `m`, `op`, `known` and `operands` are given. False: `error` says
 * why. */
bool tile_step_begin(tile_step *s);
/* After tile_step_begin: the results, of operands as long as they fit. */
bool tile_step_fit(tile_step *s);
/* After tile_step_begin of a load: where it is, and its result. */
bool tile_step_load(tile_step *s, placed_load *out);
/* Counts what of begin and size is in a tensor of this type. */
void placed_load_count(placed_load *l, const ir_type_data *x);

/* NULL: it is not there. Ints of an attribute that is a list or one number; how many there are. */
ir_attr *tile_step_attr(tile_step *s, const char *name);
uint32_t tile_step_ints(tile_step *s, const char *name, int64_t *out);

/* Axes of `from` that have the elements of axes of `to`, in row-major order; axes of one place at
 * their beginning belong to none. */
typedef struct reshape_run {
    int from, from_end, to, to_end;
} reshape_run;
/* The next ones, {0} before the first; false: there are none, and `fits` says whether they end
 * together, or nothing is in them. */
bool reshape_next(const ir_type_data *from, const ir_type_data *to, reshape_run *r, bool *fits);
/* Length of the first of `to` where the first of `from` has so many places; -1: the elements do not
 * fill it. */
int64_t reshape_first(const ir_type_data *from, const ir_type_data *to, const reshape_run *r,
                      int64_t first);

#endif
