/* generic.h - the plain way down for shapes that are known only at launch: Graph IR straight to
 * Tile IR, with dimensions as indices that the code computes with.
 *
 * There is nothing to choose: every value that must have memory is filled by a phase of its own,
 * and everything else is computed where it is used. Columns are walked in vectors of a few widths
 * down to one, rows one by one or in fours. Sums keep the orders of docs/numerics.md: 64 lanes in
 * blocks of 4096, and chunks of 512.
 *
 * What the dimensions must be for all this is a list of constraints, formulas that are not
 * negative; the runtime holds a launch to them. */
#ifndef TESSERA_TILE_GENERIC_H
#define TESSERA_TILE_GENERIC_H

#include "base/vec.h"
#include "ops/graph.h"
#include "ops/orders.h"
#include "ops/symbols.h"
#include "tile/dims.h"
#include "tile/tile.h"

enum {
    GENERIC_LANES = ORDER_LANES64_LANES,
    GENERIC_BLOCK = ORDER_LANES64_CHUNK,
    GENERIC_CHUNK = ORDER_CHUNK512_CHUNK,
    GENERIC_COLUMNS = 4096, /* that one cell of a map takes */
    GENERIC_ROWS = 4,       /* of a dot's tile */
    GENERIC_DOT_COLUMNS = 512,
    GENERIC_WIDTHS = 3
};

typedef struct generic_memory {
    bool exists;
    bool is_output;
    int argument;  /* of the kernel; -1: in the workspace */
    ir_dim offset; /* there, in elements */
} generic_memory;

typedef struct generic {
    ir_module *g, *m;
    int lanes;
    ir_attr names;          /* of the dimensions, as a launch gives them */
    bool *stored;           /* by graph value */
    generic_memory *memory; /* by graph value */
    ir_dim workspace_bytes, scratch_bytes;
    ir_attr constraints;
    ir_builder kernel;
    ir_value zero;
    dim_values dims; /* of the present phase */
    int phase;
    status *st;
    bool failed;
} generic;

/* False, for the caller to return. */
bool generic_fail(generic *s, const char *format, ...) __attribute__((format(printf, 2, 3)));
const ir_type_data *generic_type(const generic *s, ir_value v);

/* ---- generic_plan.c ---- */
/* Brings each reduced or contracted axis to its place (the last; the last but the free ones of a
 * dot's right side), and decides what has memory. */
void generic_plan(generic *s);
/* ---- generic_index.c ---- */
/* An index of an element: `at`, and `lane` more for each column of the tile. */
typedef struct generic_place {
    ir_value at;
    int64_t lane;
} generic_place;

/* The indices that a number stands for, the last one fastest. */
void generic_unravel(generic *s, ir_builder *b, ir_value number, const ir_dim *dims, int n,
                     ir_value *out);
/* Row-major offset; its `lane` is -1 where that is no number known here. */
generic_place generic_offset(generic *s, ir_builder *b, const ir_dim *dims, int rank,
                             const generic_place *index);

/* ---- generic_element.c ---- */
/* Elements of values at places, as tiles of one row of `width` columns, or of one where no index
 * has lanes. With `probe` nothing is built: it is asked whether memory can be read in vectors. */
typedef struct generic_memo {
    ir_value value;
    generic_place index[IR_MAX_RANK];
    ir_value tile;
} generic_memo;
typedef struct generic_nest {
    generic *s;
    ir_builder *b;
    int64_t width;
    ir_value computes;  /* this value's own memory is not read */
    bool probe, scalar; /* found: it cannot */
    VEC(generic_memo) memo;
} generic_nest;
ir_value generic_element(generic_nest *n, ir_value v, const generic_place *index);
void generic_nest_release(generic_nest *n);
/* Can `v` be read or computed in vectors along `axis`? */
bool generic_vectors(generic *s, ir_value v, int axis, bool computes);
/* The memory behind a value, itself or (reshapes) what it is a view of; 0: none. */
ir_value generic_storage(const generic *s, ir_value v);
ir_value generic_memory_of(generic *s, ir_builder *b, ir_value v);
void generic_store(generic *s, ir_builder *b, ir_value v, const generic_place *index,
                   ir_value tile);

/* ---- generic_phase.c, generic_reduce.c, generic_dot.c ---- */
/* Opens a phase of `cells`; the builder is inside, *cell its number. */
ir_builder generic_phase(generic *s, const char *what, ir_dim cells, ir_value *cell);
/* Widths of vectors, the widest first, the last 1; `vectors` false: only that one. */
int generic_widths(const generic *s, bool vectors, int64_t *widths);
void generic_map(generic *s, ir_value v, int output);
void generic_concat(generic *s, ir_op op);
void generic_reduce(generic *s, ir_op op);
void generic_dot(generic *s, ir_op op);

#endif
