/* reductions.h - the accumulations of a kernel and their orders, as Graph IR fixes them, and the
 * record of them that the levels below carry.
 *
 * Graph IR is where an order is chosen. There each dot, reduction, running sum and fold of the
 * kernel gets an `id` once (reductions_number), and every pass that rewrites, moves or copies the
 * operation keeps it. Two operations with one id compute one sum twice: they agree in kind, order,
 * extent and results. Lowering to Schedule IR writes the sums with their ids into the kernel's
 * attribute `reductions`; every computation and every loop below that accumulates names its id
 * (`reduction`) and its `order`. So each level can be checked by itself (schedule/verify_orders.c,
 * tile/verify_orders.c), and a pass can be checked against the module before it, in any order of
 * its operations. The text that identifies a kernel is printed before there are ids. */
#ifndef TESSERA_OPS_REDUCTIONS_H
#define TESSERA_OPS_REDUCTIONS_H

#include "base/vec.h"
#include "ir/ir.h"
#include "ops/orders.h"

typedef struct reduction_record {
    char kind[8]; /* dot, sum, prod, max, min, fold; cumsum and so on */
    order_id order;
    const char *name; /* of the order: of a matrix unit's, the unit's */
    ir_dim extent;    /* elements of one accumulation */
    ir_dim results;   /* how many accumulations */
    int64_t id;       /* or REDUCTION_NO_ID */
    bool needed;      /* Graph IR: the kernel's outputs depend on it */
    int64_t chunks;   /* Graph IR: it is of so many chunks of one product, which are added in order;
                         -1: they are not; 0: it is none */
    int64_t rest;     /* Graph IR: of chunks of one sum, elements of a shorter one behind them */
    bool joins;       /* Graph IR: it sums blocks of one sum again, or the shorter last one */
} reduction_record;
enum { REDUCTION_NO_ID = -1 };
/* The extent for messages; "?" where it is no number. */
enum { REDUCTION_EXTENT_TEXT = 24 };
const char *reduction_extent_text(const reduction_record *r, char room[REDUCTION_EXTENT_TEXT]);

typedef struct reduction_list {
    VEC(reduction_record) items; /* in ascending order of ids, each id once */
    bool parts;                  /* ... a rank makes a part of the results */
    bool open;                   /* Graph IR: composites leave some of them unknown */
    bool calls;                  /* Graph IR: some are in functions that it calls */
    VEC(int64_t) moved;          /* Graph IR: ids of those that loops make, some rows a turn */
    bool ambiguous;              /* different sums have one id: `twice` */
    int64_t twice;
} reduction_list;

/* Is it sum, prod, max or min? */
bool reduction_kind_known(const char *kind);
/* Two elements become one by this operation of Graph IR; -1: there is none. */
int reduction_graph_opcode(const char *kind);
/* Each step rounds where it is of floats, so that it has an order: sum and prod, also running ones.
 */
bool reduction_rounds(const char *kind);
/* A kind of running sums: cumsum, cumprod, cummax, cummin. */
bool reduction_scans(const char *kind);
/* The kind that combines two elements: sum of cumsum, and of sum itself. */
const char *reduction_combines(const char *kind);

/* Gives an id to each accumulation of Graph IR that has none: the next numbers, in text order.
 * Other levels stay as they are. */
void reductions_number(ir_module *m);
/* The id of an operation of Graph IR; REDUCTION_NO_ID where it has none. */
int64_t reduction_id(const ir_module *graph, ir_op op);

/* Lists Graph IR's from operations; below: the kernel's record. The caller releases the list. */
void reductions_of(const ir_module *m, reduction_list *out);
void reductions_release(reduction_list *list);
/* The place of an id in the list; the list's length where it has none such. */
size_t reduction_index(const reduction_list *list, int64_t id);
const reduction_record *reduction_find(const reduction_list *list, int64_t id);

/* The list as an attribute of another module. */
ir_attr reductions_attr(ir_module *m, const reduction_list *list);

/* Each record has an id, and no two sums have one. */
bool reductions_sound(const reduction_list *list, status *st);
/* Operations of Graph IR with one id are one sum, computed more than once. */
bool reductions_verify(const ir_module *graph, status *st);
/* Checks the sums after a pass against those before it, by id. Each is the same as before, with
 * symbols bound at most, or is its chunks, which are added in order; with `before` open, there may
 * be more (decompose adds some). None is lost that the outputs depend on, unless an equal sum is
 * left, or functions are called, which have theirs. The message names the first that differs. */
bool reductions_kept(const reduction_list *before, const reduction_list *after, status *st);

/* The record that an operation of Schedule or Tile IR names, provided that its order is the one in
 * the record; NULL with a message otherwise. `list` is the kernel's. */
const reduction_record *reduction_named(const ir_module *m, ir_op op, const reduction_list *list,
                                        status *st);

#endif
