/* reductions.h - the accumulations of a kernel and their orders, as Graph IR fixes them, and the
 * record of them that the levels below carry.
 *
 * Graph IR is where an order is chosen. Lowering to Schedule IR writes the graph's dots and
 * reductions, numbered in text order, into the kernel's attribute `reductions`; every computation
 * and every loop below that accumulates names its number (`reduction`) and its `order`. So each
 * level can be checked by itself (schedule/verify_orders.c, tile/verify_orders.c), and a pass can
 * be checked against the module before it. */
#ifndef TESSERA_OPS_REDUCTIONS_H
#define TESSERA_OPS_REDUCTIONS_H

#include "base/vec.h"
#include "ir/ir.h"
#include "ops/orders.h"

typedef struct reduction_record {
    char kind[8]; /* dot, sum, max, min, cumsum, fold */
    order_id order;
    const char *name; /* of the order: of a matrix unit's, the unit's */
    ir_dim extent;    /* elements of one accumulation */
    ir_dim results;   /* how many accumulations */
} reduction_record;
/* The extent for messages; "?" where it is no number. */
enum { REDUCTION_EXTENT_TEXT = 24 };
const char *reduction_extent_text(const reduction_record *r, char room[REDUCTION_EXTENT_TEXT]);

typedef struct reduction_list {
    VEC(reduction_record) items;
    bool open; /* Graph IR: composites leave some of them unknown */
} reduction_list;

/* Of Graph IR: from its operations; below: the kernel's record. The caller releases the list. */
void reductions_of(const ir_module *m, reduction_list *out);
void reductions_release(reduction_list *list);

/* Number of a dot or reduce of Graph IR among the kernel's. */
int64_t reduction_number(const ir_module *graph, ir_op op);
/* The list as an attribute of another module. */
ir_attr reductions_attr(ir_module *m, const reduction_list *list);

/* Whether a pass kept every order: with `before` open, it may add some (decompose does); else it
 * may drop some (simplify does), or bind symbols (specialize does). The message names the first
 * that differs. */
bool reductions_kept(const reduction_list *before, const reduction_list *after, status *st);

/* The record that an operation of Schedule or Tile IR names, provided that its order is the one in
 * the record; NULL with a message otherwise. `list` is the kernel's. */
const reduction_record *reduction_named(const ir_module *m, ir_op op, const reduction_list *list,
                                        status *st);

#endif
