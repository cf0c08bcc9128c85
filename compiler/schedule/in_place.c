/* in_place.c - donated inputs in whose place their output is made: one map reads the input and
 * writes the output, element by element, and nothing else touches either. Whatever a target does
 * with a map, it reads an element before it writes what depends on it, and writes each once. */
#include <stdlib.h>

#include "ops/donated.h"
#include "schedule/scheduler.h"

enum { NOBODY = 0, SEVERAL = UINT32_MAX };

/* For each value the operation that alone takes it, once. */
static ir_op *users_of(const ir_module *m) {
    ir_op *users = base_calloc(ir_value_count(m) + 1, sizeof *users);
    for (ir_walk w = ir_walk_op(m, ir_module_kernel(m)); ir_walk_next(&w);) {
        const ir_op_data *d = ir_op_get(m, w.op);
        for (uint32_t i = 0; i < d->operand_count; i++) {
            ir_op *user = &users[d->operands[i]];
            *user = *user == NOBODY ? w.op : SEVERAL;
        }
    }
    return users;
}

static uint32_t operand_of(const ir_module *m, ir_op op, ir_value v) {
    uint32_t i = 0;
    while (ir_op_get(m, op)->operands[i] != v)
        i++;
    return i;
}

static bool gathers(const ir_module *m, ir_op map, int64_t input) {
    for (ir_op op = ir_block_get(m, ir_op_block(m, map, 0))->first; op; op = ir_op_get(m, op)->next)
        if (ir_op_get(m, op)->opcode == SCHED_GATHER && ir_op_int(m, op, "input", -1) == input)
            return true;
    return false;
}

static bool is_made_in_place(const ir_module *m, const ir_op *users, ir_value from, ir_value to) {
    ir_op map = users[from];
    if (map == NOBODY || map == SEVERAL || users[to] != map ||
        ir_op_get(m, map)->opcode != SCHED_MAP || ir_op_attr(m, map, "group"))
        return false;
    uint32_t axes = (uint32_t)ir_op_int(m, map, "axes", 0);
    uint32_t input = operand_of(m, map, from) - axes, output = operand_of(m, map, to) - axes;
    const ir_attr_data *access = ir_attr_get(m, ir_op_attr(m, map, "access"));
    return input < ir_op_int(m, map, "inputs", 0) && output >= ir_op_int(m, map, "inputs", 0) &&
           access->items[input] == access->items[output] && !gathers(m, map, input);
}

void scheduler_end_donated(scheduler *s, const ir_module *graph) {
    ir_module *m = s->m;
    ir_op kernel = ir_module_kernel(m);
    const ir_block_data *body = ir_kernel_body(m);
    uint32_t inputs = ir_attr_get(m, ir_op_attr(m, kernel, "inputs"))->count;
    if (s->failed || !donated_any(graph, ir_module_kernel(graph)))
        return;
    ir_op *users = users_of(m);
    int64_t *kept = base_malloc(((size_t)inputs + 1) * sizeof *kept);
    for (uint32_t i = 0; i < inputs; i++) {
        kept[i] = donated_output(graph, ir_module_kernel(graph), i);
        if (kept[i] >= 0 && !is_made_in_place(m, users, body->arguments[i],
                                              body->arguments[inputs + (uint32_t)kept[i]]))
            kept[i] = -1;
    }
    ir_op_set_attr(m, kernel, "donated", ir_attr_int_array(m, kept, inputs));
    free(kept);
    free(users);
}
