/* expression.h - the element of a value at an affine index, as a scalar program over loads.
 *
 * Data movement disappears here: broadcasts, transpositions, slices and splitting reshapes become
 * index arithmetic on the memory behind them. An expression is first collected (what does it load,
 * and where), which decides how axes can be merged and what is worth computing once a row, and then
 * built into the body of a computation. */
#ifndef TESSERA_SCHEDULE_EXPRESSION_H
#define TESSERA_SCHEDULE_EXPRESSION_H

#include "base/vec.h"
#include "schedule/plan.h"

enum { NEST_AXES = 12 };

/* Numbers, or expressions of the dimensions. */
typedef struct affine {
    ir_dim constant;
    ir_dim coefficient[NEST_AXES];
} affine;

/* Map from the axes of a nest to the indices of a computation. */
typedef struct axis_map {
    int count;                /* indices */
    ir_dim extent[NEST_AXES]; /* of each index */
    int index_of[NEST_AXES];  /* by axis; -1 where a merged axis is represented by a later one */
} axis_map;

/* Source of a value that was computed before. */
typedef enum substitute_kind {
    SUBSTITUTE_ACCUMULATOR, /* the body's first argument */
    SUBSTITUTE_SCALAR,      /* a workgroup buffer of one element */
    SUBSTITUTE_COLUMNS,     /* a workgroup buffer of one element a column */
    SUBSTITUTE_BLOCK,       /* a workgroup buffer read at `access` */
    SUBSTITUTE_TURN,        /* another value, at one place more */
    SUBSTITUTE_PLACE,       /* an element of another value */
    SUBSTITUTE_INDEXED,     /* likewise, of memory, at an index along an axis that is data */
    SUBSTITUTE_STORED       /* the value's own memory */
} substitute_kind;

typedef struct substitute {
    substitute_kind kind;
    ir_value value;      /* of the graph */
    ir_value buffer;     /* of the schedule */
    affine access;       /* BLOCK */
    ir_value all;        /* TURN: the other value; `axis` of it is along axis `turn` of the nest */
    int axis, turn;      /* INDEXED: `axis` */
    const affine *place; /* PLACE, INDEXED: in `all` */
    ir_value index;      /* INDEXED: the value of indices, of which .. */
    const affine *index_place; /* .. that one */
} substitute;

typedef struct expression_input {
    ir_value source; /* stored graph value, or the substitute's buffer when `workgroup` */
    bool workgroup;
    affine access;
    ir_value element; /* block argument */
} expression_input;

typedef struct expression_memo {
    ir_value value;
    affine index[IR_MAX_RANK];
    ir_value element;
} expression_memo;

typedef struct expression {
    const plan *p;
    int group;           /* ROW: the group whose rows the axes run over; -1 elsewhere */
    ir_value computes;   /* the stored value that the nest fills (MAP, DOT) */
    bool probes;         /* asking about a value that has no group yet */
    const affine *place; /* SCAN: where the group's own scan is met; NULL elsewhere */
    int row_axes;        /* ROW: axes 0 .. row_axes - 1 are the row, then comes the column */
    const substitute *substitutes;
    size_t substitute_count;
    ir_builder *body; /* NULL while collecting */
    const axis_map *map;
    bool failed; /* something could not be reached by affine indices */
    bool hoist;  /* collecting: note row values in `hoisted` instead of descending */
    VEC(ir_value) hoisted;
    VEC(expression_input) inputs;
    VEC(affine) indices; /* of iota and gather, for merging */
    VEC(expression_memo) memo;
} expression;

void expression_release(expression *e);

/* The element of `v` at `index` (one affine function a dimension). While collecting the result is
 * 0. */
ir_value expression_element(expression *e, ir_value v, const affine *index);

/* Likewise for a value that is being computed here: its own memory is not read. */
ir_value expression_root(expression *e, ir_value v, const affine *index);

/* Index of a value whose dimension i is axis first + i; dimensions of extent 1 have index 0. */
void expression_identity(const plan *p, ir_value v, int first, affine *index);
/* Elements from one place along an axis to the next. */
ir_dim expression_stride(const plan *p, ir_value v, int axis);
/* Offset of an index in row-major memory of the value's shape. */
affine expression_offset(const plan *p, ir_value v, const affine *index);

/* Does every reduction of the ROW group inside v's expression appear at the row of v itself? */
bool expression_is_aligned(const plan *p, ir_value v, int group);

/* Merges adjacent axes over which every access is contiguous, and drops those of extent 1 (one
 * stays where all are). */
typedef struct axis_space {
    int axes;
    ir_dim extent[NEST_AXES];
    bool barrier[NEST_AXES]; /* axis a may not merge with a later one across a */
    bool keep[NEST_AXES];    /* stays an index even with extent 1 */
} axis_space;
void expression_merge(const plan *p, const axis_space *space, const affine *accesses, size_t count,
                      axis_map *out);
/* [constant, coefficient of each index...] as an attribute. */
ir_attr expression_access(ir_module *m, const affine *a, const axis_map *map, int axes);

#endif
