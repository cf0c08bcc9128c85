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
 * - FOLD: rows, and columns of these, that are carried from turn to turn;
 * - SCATTER: a copy of each of its tensors, then updates of that, one after the other.
 *
 * A DOT whose left side a ROW group makes of another DOT's results, as attention does, takes both
 * in: a block of rows goes through all three while it is in cache. Where a FOLD carries what comes
 * out of that, turn by turn, the block goes through all turns. */
#ifndef TESSERA_SCHEDULE_PLAN_H
#define TESSERA_SCHEDULE_PLAN_H

#include "base/vec.h"
#include "ir/dim.h"
#include "ir/uses.h"
#include "ops/graph.h"
#include "schedule/group_set.h"
#include "schedule/schedule.h"

typedef enum group_kind {
    GROUP_MAP,
    GROUP_ROW,
    GROUP_COLUMN,
    GROUP_DOT,
    GROUP_SCAN,
    GROUP_FOLD,
    GROUP_SCATTER
} group_kind;

typedef struct plan_group {
    group_kind kind;
    ir_op anchor;        /* DOT, COLUMN, SCAN, FOLD, SCATTER: the operation */
    group_set depends;   /* those that must run before */
    int position;        /* in `sequence` of the plan: above those of all that it depends on */
    uint32_t mark;       /* the walk over groups that met it last */
    VEC(ir_op) reduces;  /* ROW: in order */
    VEC(ir_value) roots; /* stored values, in order */
    int rank;            /* ROW: of the reduced operand */
    ir_dim dims[IR_MAX_RANK];
    /* DOT at the end of a chain (chain.c): the groups that it takes in */
    bool ends_chain;
    bool could_chain; /* it would end one, but its scores have room in memory */
    int scores, rows;
    int fold;          /* ... and the FOLD whose turns it makes; -1: none */
    bool hides;        /* scores at or past the last contraction's counts are never seen */
    ir_value prologue; /* DOT: what its left side is a view of, computed block by block; or 0 */
    bool inside;       /* taken in by another group: has no phases of its own */
} plan_group;

typedef VEC(int) plan_nests; /* groups */

typedef struct plan {
    ir_module *g;
    ir_op kernel;    /* of the graph, or a function beside it: what is planned */
    ir_module *dims; /* has the expressions of dimensions: the graph, then the schedule */
    bool unfused;    /* nothing is computed together */
    bool concurrent; /* products by one left side are apart, so that they can run at once */
    plan_group *groups;
    int group_count, group_capacity;
    VEC(int) sequence; /* groups by position */
    uint32_t mark;     /* of the last walk over groups */
    arena memory;      /* of sets */
    ir_uses readers;
    uint32_t values; /* of the graph when it was planned: what is by value id has so many */
    uint32_t *place; /* by operation id: its number in the kernel's block; 0: in an inner one */
    /* by value id */
    bool *stored;
    bool *deep;        /* stored so that no expression reaches back too far: alone in its group */
    int *group_of;     /* results of reduce and dot, and roots; -1 elsewhere */
    group_set *direct; /* groups whose results the value's expression reads */
    ir_op *root_dot;   /* the dot or scan whose epilogue ends in this value */
    uint32_t *uses;
    bool *returned;     /* the kernel returns it, or a reshape of it */
    bool *in_workgroup; /* stored, but in memory of a workgroup: what a chain hands on inside */
    plan_nests *nests;  /* MAP groups whose expressions read the value */
} plan;

typedef enum plan_mode {
    PLAN_KERNEL,
    PLAN_UNFUSED, /* every value is stored, as far as LIMIT_PHASES has room for it */
    PLAN_PROGRAM, /* each group becomes a kernel: plan_store_repeated */
    PLAN_EACH     /* likewise, and every value is stored */
} plan_mode;

/* Plans a kernel or function of Graph IR. Scores of so many bytes are left in memory, whatever
 * chain could hand them on; 0: none are. `concurrent`: several threads run independent groups at
 * once. */
void plan_build(plan *p, ir_module *graph, ir_op kernel, plan_mode mode, bool concurrent,
                int64_t scores_room);
void plan_release(plan *p);
/* Stores functions of rows that a nest spreads along its columns (spread.c). Sequence: before
 * anything is placed. */
void plan_store_spreads(plan *p);
/* Stores what several expressions would compute anew from several tensors, as the state of a chain
 * of residual layers is, whose expression grows with each (repeated.c). */
void plan_store_repeated(plan *p);
/* Stores what would read too many tensors at once (wide.c). */
void plan_store_wide(plan *p);
/* Stores results of row reductions that other groups read (shared.c). Sequence: after all groups
 * are made. */
void plan_store_shared(plan *p);
/* Finds contractions whose left side is an element-wise nest's, seen as a matrix: they compute it
 * block by block (prologue.c). */
void plan_find_prologues(plan *p);
/* Finds chains of a contraction, reductions of its rows and a contraction of those (chain.c). */
void plan_find_chains(plan *p, int64_t scores_room);
/* The value is no longer stored: what it is a view of has its memory. */
void plan_unstore(plan *p, ir_value v);

/* a * b. */
ir_dim plan_product(const plan *p, ir_dim a, ir_dim b);
const ir_type_data *plan_type(const plan *p, ir_value v);
/* Defining operation; 0 for a kernel input. */
ir_op plan_def(const plan *p, ir_value v);
int plan_opcode(const plan *p, ir_value v);       /* -1 for a kernel input */
bool plan_is_computed(const plan *p, ir_value v); /* element by element, where it is read */
/* A reshape that only regroups dimensions of its operand into consecutive result dimensions, so
 * that an operand index is an affine function of result indices. */
bool plan_reshape_splits(const plan *p, ir_op reshape);
/* The memory behind a value: itself when stored or an input, the operand of a reshape of such; 0
 * otherwise. */
ir_value plan_storage(const plan *p, ir_value v);
/* Is the memory of a stored value that of an output? */
bool plan_is_output(const plan *p, ir_value v);
/* Is a reduction of the group in the order exact? */
bool plan_is_exact(const plan *p, int group);

/* ---- nest.c ---- */
/* The latest MAP group that can compute the value, too; -1: there is none. */
int plan_find_nest(plan *p, ir_value v, group_set reads);
/* Values of MAP groups that their own nest alone reads are stored no longer. Sequence: after all
 * groups are made. */
void plan_unstore_inner(plan *p);
/* The MAP group computes the value, too: later ones that read the same memory find it. */
void plan_note_nest(plan *p, ir_value v, int group);

/* ---- siblings.c ---- */
enum { SIBLINGS_MAX = 16 };

/* One of several products of few rows that run at once. */
typedef struct sibling {
    int group, place; /* place: in the order */
    int64_t elements; /* of its right side */
    int64_t threads;  /* that share it */
} sibling;

/* Elements of a contraction's right side, where few rows are multiplied by it; 0: they are more, or
 * there are batches, or the size is not known. */
int64_t plan_right_side(const plan *p, ir_op dot);
/* Are both products of few rows, and of one left side? */
bool plan_are_siblings(const plan *p, ir_op a, ir_op b);
/* The memory of the left side of a group that is a product of few rows; 0: it is something else. */
ir_value plan_streamed_left(const plan *p, int group);
/* The products of few rows from place `first` of the order on that do not wait for each other, the
 * largest first, as the order has them now, with their shares of `threads`. Returns how many; 0 or
 * 1: there is nothing to share. */
int plan_siblings(const plan *p, int *order, int first, int64_t threads, sibling *list);

/* ---- plan_order.c ---- */
/* Is `from` `to`, or does it wait for it, at once or by others? */
bool plan_waits(plan *p, int from, int to);
/* Would the group's taking in of something that reads `reads` close a circle? */
bool plan_closes_circle(plan *p, int group, group_set reads);
/* `group` waits for all of `reads`, none of which waits for it. */
void plan_depend(plan *p, int group, group_set reads);
/* Groups in an order in which they can run, those of lower numbers first; false: they wait for each
 * other in a circle. */
bool plan_order(const plan *p, int *order);

#endif
