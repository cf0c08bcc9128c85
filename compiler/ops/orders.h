/* orders.h - the orders of accumulation, by number: orders.def. */
#ifndef TESSERA_OPS_ORDERS_H
#define TESSERA_OPS_ORDERS_H

#include "ir/ir.h"

typedef enum order_id {
#define ORDER(ENUM, ...) ORDER_##ENUM,
#include "ops/orders.def"
    ORDER_COUNT /* a word that names none */
} order_id;

/* Numbers of the table for array sizes and case labels: ORDER_CHUNK512_CHUNK, ORDER_LANES64_LANES.
 */
enum {
#define ORDER(ENUM, name, of, chunk, lanes, ...)                                                   \
    ORDER_##ENUM##_CHUNK = (chunk), ORDER_##ENUM##_LANES = (lanes),
#include "ops/orders.def"
};

typedef enum order_use {
    ORDER_OF_DOT,
    ORDER_OF_SUM,
    ORDER_OF_SCAN,
    ORDER_OF_FREE,
    ORDER_OF_TREE,
    ORDER_OF_UNIT
} order_use;
typedef enum order_tree { ORDER_TREE_CHAIN, ORDER_TREE_AGAIN } order_tree;

typedef struct order_info {
    const char *name;
    order_use of;
    int64_t chunk;
    int lanes;
    order_tree tree;
} order_info;

/* The line of the table; ORDER_COUNT has one too, which is of nothing. */
const order_info *order_info_of(order_id order);
/* Is the order defined for what accumulates so? That of running sums is the one chain. */
bool order_suits(order_id order, order_use use);
/* ORDER_COUNT: no order has this name. Whatever begins with "tree(" is ORDER_WRITTEN, the name of a
 * matrix unit ORDER_UNIT. */
order_id order_find(const char *name);
/* Its name: the table's, or of a matrix unit's order the unit's, which `word` is. */
const char *order_name(order_id order, const char *word);
/* The order that an operation of any level names in its attribute, or the given one where it has
 * none. */
order_id order_of(const ir_module *m, ir_op op, order_id otherwise);

/* Is it the exact sum, whatever the order of its elements? */
bool order_is_exact(order_id order);
/* Is it one of which no code is made? */
bool order_is_interpreted(order_id order);

#endif
