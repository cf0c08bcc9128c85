/* controls.c - reads the table of negative controls against a kernel. */
#include "ops/controls.h"

#include <string.h>

#include "ops/graph.h"
#include "ops/reductions.h"

typedef struct control_row {
    const char *reasons[CONTROL_COUNT];
} control_row;

static const control_row rows[GRAPH_OP_COUNT] = {
#define C(OP, swap, drop, round) [GRAPH_##OP] = {{swap, drop, round}},
#include "ops/controls.def"
};

graph_control graph_control_of(const char *fault) {
    static const char *const names[CONTROL_COUNT] = {"swap-operands", "drop-last-k",
                                                     "wrong-rounding"};
    int i = 0;
    while (i < CONTROL_COUNT && strcmp(names[i], fault) != 0)
        i++;
    return (graph_control)i;
}

static dtype element_of(const ir_module *m, ir_value v) {
    return ir_type_of(m, v)->element;
}

static const char *swap_obstacle(const ir_module *m, ir_op op) {
    const char *predicate = ir_op_string(m, op, "predicate", "");
    if (strcmp(predicate, "eq") == 0 || strcmp(predicate, "ne") == 0)
        return "x == y is y == x";
    uint32_t first, second;
    return graph_control_pair(m, op, &first, &second)
               ? NULL
               : "its operands are of different types, or the same";
}

/* A conversion rounds where the result cannot hold every value of the operand. */
static const char *round_obstacle(const ir_module *m, ir_op op) {
    const ir_op_data *d = ir_op_get(m, op);
    dtype to = element_of(m, d->results[0]), from = element_of(m, d->operands[0]);
    if (!dtype_is_float(to))
        return "an integer never rounds";
    if (d->opcode == GRAPH_REDUCE && !reduction_rounds(ir_op_string(m, op, "kind", "")))
        return "a maximum never rounds";
    if (d->opcode == GRAPH_CUMSUM && !reduction_rounds(ir_op_string(m, op, "kind", "sum")))
        return "a maximum never rounds";
    return d->opcode == GRAPH_CONVERT && dtype_holds(to, from) ? "a wider type holds every value"
                                                               : NULL;
}

const char *graph_control_obstacle(const ir_module *m, ir_op op, graph_control control) {
    int opcode = ir_op_get(m, op)->opcode;
    bool like_sqrt = graph_op_is_specified(opcode) && ir_op_get(m, op)->operand_count == 1;
    const char *reason = rows[like_sqrt ? GRAPH_SQRT : opcode].reasons[control];
    if (reason)
        return reason;
    if (control == CONTROL_SWAP)
        return swap_obstacle(m, op);
    if (control == CONTROL_ROUND)
        return round_obstacle(m, op);
    const char *kind = ir_op_string(m, op, "kind", "sum");
    return reduction_rounds(kind) ? NULL : "a maximum without its last element is often the same";
}

bool graph_control_applies(const ir_module *m, graph_control control, text *why) {
    const ir_block_data *body = ir_kernel_body(m);
    const char *told[GRAPH_OP_COUNT] = {NULL};
    text_clear(why);
    for (ir_op op = body->first; op; op = ir_op_get(m, op)->next) {
        int opcode = ir_op_get(m, op)->opcode;
        if (opcode == GRAPH_RETURN)
            continue;
        const char *reason = graph_control_obstacle(m, op, control);
        if (!reason)
            return true;
        if (told[opcode] && strcmp(told[opcode], reason) == 0)
            continue;
        told[opcode] = reason;
        text_printf(why, "%s%s: %s", why->length ? "; " : "", op_info_get(opcode)->name, reason);
    }
    if (why->length == 0)
        text_append(why, "the kernel computes nothing");
    return false;
}

/* The type that the operation would have with the two exchanged is the one that it has. */
static bool fits_exchanged(const ir_module *m, ir_op op, uint32_t first, uint32_t second) {
    const ir_op_data *d = ir_op_get(m, op);
    ir_type types[64];
    for (uint32_t i = 0; i < d->operand_count; i++) {
        uint32_t from = i == first ? second : i == second ? first : i;
        types[i] = ir_value_get(m, d->operands[from])->type;
    }
    graph_infer_query q = {.m = (ir_module *)m,
                           .opcode = d->opcode,
                           .operands = types,
                           .operand_count = d->operand_count,
                           .attrs = d->attrs,
                           .attr_count = d->attr_count};
    return graph_infer(&q) && q.results[0] == ir_value_get(m, d->results[0])->type;
}

bool graph_control_pair(const ir_module *m, ir_op op, uint32_t *first, uint32_t *second) {
    const ir_op_data *d = ir_op_get(m, op);
    *first = d->opcode == GRAPH_SELECT ? 1 : 0;
    *second = d->opcode == GRAPH_SELECT || d->opcode == GRAPH_FMA ? 2 : 1;
    return *second < d->operand_count && d->operand_count <= 64 &&
           d->operands[*first] != d->operands[*second] && fits_exchanged(m, op, *first, *second);
}
