/* plan.h - what is computed together: the values of a graph partitioned into groups, one phase (or
 * a few) each.
 *
 * A value is `stored` when it gets memory of its own; every other value is computed where it is
 * used. The kinds of groups:
 * - MAP: one element-wise nest for stored values of one shape that read the same memory, or each
 *   other;
 * - ROW: reductions over the last axis that share their rows, with everything element-wise between
 *   and after them;
 * - COLUMN: one reduction over an axis that is not the last;
 * - DOT: one contraction and the element-wise epilogue behind it;
 * - SCAN: running sums along one axis and the element-wise epilogue behind them, or the order of
 * the elements along it;
 * - FOLD: rows, and columns of these, that are carried from turn to turn.
 *
 * A DOT whose left side a ROW group makes of another DOT's results, as attention does, takes both
 * in: a block of rows goes through all three while it is in cache. Where a FOLD carries what comes
 * out of that, turn by turn, the block goes through all turns. */
#ifndef TESSERA_SCHEDULE_PLAN_H
#define TESSERA_SCHEDULE_PLAN_H

#include "base/vec.h"
#include "ir/dim.h"
#include "ops/graph.h"

enum { PLAN_MAX_GROUPS = LIMIT_PHASES, PLAN_MAP_ROOTS = 8 };

typedef enum group_kind {
    GROUP_MAP,
    GROUP_ROW,
    GROUP_COLUMN,
    GROUP_DOT,
    GROUP_SCAN,
    GROUP_FOLD
} group_kind;

typedef struct plan_group {
    group_kind kind;
    ir_op anchor;        /* DOT, COLUMN, SCAN, FOLD: the operation */
    uint64_t depends;    /* bit per group that must run before */
    VEC(ir_op) reduces;  /* ROW: in order */
    VEC(ir_value) roots; /* stored values, in order */
    int rank;            /* ROW: of the reduced operand */
    ir_dim dims[IR_MAX_RANK];
    /* DOT at the end of a chain (chain.c): the groups that it takes in */
    bool ends_chain;
    int scores, rows;
    int fold;          /* ... and the FOLD whose turns it makes; -1: none */
    bool hides;        /* scores at or past the last contraction's counts are never seen */
    ir_value prologue; /* DOT: what its left side is a view of, computed block by block; or 0 */
    bool inside;       /* taken in by another group: has no phases of its own */
} plan_group;

typedef struct plan {
    ir_module *g;
    ir_module *dims; /* has the expressions of dimensions: the graph, then the schedule */
    bool apart;      /* nothing is computed together */
    plan_group groups[PLAN_MAX_GROUPS];
    int group_count;
    /* by value id */
    bool *stored;
    bool *deep;       /* stored so that no expression reaches back too far: alone in its group */
    int *group_of;    /* results of reduce and dot, and roots; -1 elsewhere */
    uint64_t *direct; /* groups whose results the value's expression reads */
    ir_op *root_dot;  /* the dot or scan whose epilogue ends in this value */
    uint32_t *uses;
    bool
        *in_workgroup; /* stored, but in memory of a grid workgroup: what a chain hands on inside */
} plan;

/* `apart`: every value is stored, as far as there is room for groups. */
bool plan_build(plan *p, ir_module *graph, bool apart, status *st);
void plan_release(plan *p);
/* Stores functions of rows that a nest spreads along its columns (spread.c). Sequence: before
 * anything is placed. */
void plan_store_spreads(plan *p);
/* Stores what would read too many tensors at once (wide.c). */
void plan_store_wide(plan *p);
/* Stores results of row reductions that other groups read (shared.c). Sequence: after all groups
 * are made. */
void plan_store_shared(plan *p);
/* Finds contractions whose left side is an element-wise nest's, seen as a matrix: they compute it
 * block by block (prologue.c). */
void plan_find_prologues(plan *p);
/* Finds chains of a contraction, reductions of its rows and a contraction of those (chain.c). */
void plan_find_chains(plan *p);
/* The value is no longer stored: what it is a view of has its memory. */
void plan_unstore(plan *p, ir_value v);

/* a * b. */
ir_dim plan_product(const plan *p, ir_dim a, ir_dim b);
const ir_type_data *plan_type(const plan *p, ir_value v);
/* Defining operation; 0 for a kernel input. */
ir_op plan_def(const plan *p, ir_value v);
int plan_opcode(const plan *p, ir_value v); /* -1 for a kernel input */
/* A reshape that only regroups dimensions of its operand into consecutive result dimensions, so
 * that an operand index is an affine function of result indices. */
bool plan_reshape_splits(const plan *p, ir_op reshape);
/* The memory behind a value: itself when stored or an input, the operand of a reshape of such; 0
 * otherwise. */
ir_value plan_storage(const plan *p, ir_value v);
/* Is the memory of a stored value that of an output? */
bool plan_is_output(const plan *p, ir_value v);
/* Groups in an order in which they can run. */
void plan_order(const plan *p, int *order);

#endif
