/* orders.c - the table of accumulation orders, and looking words up in it. */
#include "ops/orders.h"

#include <string.h>

#include "chip/matrix_unit.h"
#include "ops/tree_order.h"

static const order_info orders[] = {
#define ORDER(ENUM, name, of, chunk, lanes, tree, summary)                                         \
    {#name, ORDER_OF_##of, chunk, lanes, ORDER_TREE_##tree},
#include "ops/orders.def"
    {"?", ORDER_OF_FREE, 0, 1, ORDER_TREE_CHAIN},
};

const order_info *order_info_of(order_id order) {
    return &orders[order];
}

bool order_suits(order_id order, order_use use) {
    if (order == ORDER_WRITTEN)
        return use == ORDER_OF_DOT || use == ORDER_OF_SUM;
    if (order == ORDER_UNIT)
        return use == ORDER_OF_DOT;
    return order < ORDER_COUNT &&
           (use == ORDER_OF_SCAN ? order == ORDER_SEQ : orders[order].of == use);
}

order_id order_find(const char *name) {
    for (int i = 0; i < ORDER_COUNT; i++)
        if (i != ORDER_UNIT && strcmp(orders[i].name, name) == 0)
            return (order_id)i;
    return tree_order_is(name) ? ORDER_WRITTEN : matrix_unit_find(name) ? ORDER_UNIT : ORDER_COUNT;
}

const char *order_name(order_id order, const char *word) {
    const matrix_unit *unit = order == ORDER_UNIT ? matrix_unit_find(word) : NULL;
    return unit ? unit->name : orders[order].name;
}

bool order_is_exact(order_id order) {
    return order == ORDER_EXACT || order == ORDER_EXACT_ODD;
}

bool order_is_interpreted(order_id order) {
    return order == ORDER_WRITTEN || order == ORDER_UNIT;
}

order_id order_of(const ir_module *m, ir_op op, order_id otherwise) {
    const char *name = ir_op_string(m, op, "order", NULL);
    return name ? order_find(name) : otherwise;
}
