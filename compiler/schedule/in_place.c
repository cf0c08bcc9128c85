/* in_place.c - donated inputs in whose place their output is made: one map reads the input and
 * writes the output, element by element, before anything else touches either. Whatever a target
 * does with a map, it reads an element before it writes what depends on it, and writes each once.
 * Where the map is a copy, its phase says so, and is left out where both are one memory. */
#include <stdlib.h>

#include "ops/donated.h"
#include "schedule/scheduler.h"

/* The operations that take a value, in the order in which they run. */
typedef struct takers {
    ir_op first;
    uint32_t count; /* of operands */
} takers;

static takers *takers_of(const ir_module *m) {
    takers *all = base_calloc(ir_value_count(m) + 1, sizeof *all);
    for (ir_walk w = ir_walk_op(m, ir_module_kernel(m)); ir_walk_next(&w);) {
        const ir_op_data *d = ir_op_get(m, w.op);
        for (uint32_t i = 0; i < d->operand_count; i++) {
            takers *t = &all[d->operands[i]];
            t->first = t->count++ ? t->first : w.op;
        }
    }
    return all;
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

/* The map that makes the output in the input's place; 0: none does. */
static ir_op made_in_place(const ir_module *m, const takers *all, ir_value from, ir_value to) {
    ir_op map = all[from].first;
    if (all[from].count != 1 || all[to].first != map || ir_op_get(m, map)->opcode != SCHED_MAP ||
        ir_op_attr(m, map, "group"))
        return 0;
    uint32_t axes = (uint32_t)ir_op_int(m, map, "axes", 0);
    uint32_t input = operand_of(m, map, from) - axes, output = operand_of(m, map, to) - axes;
    const ir_attr_data *access = ir_attr_get(m, ir_op_attr(m, map, "access"));
    bool in_place = input < ir_op_int(m, map, "inputs", 0) &&
                    output >= ir_op_int(m, map, "inputs", 0) &&
                    access->items[input] == access->items[output] && !gathers(m, map, input);
    return in_place ? map : 0;
}

/* Does the map yield the one element that it takes? */
static bool is_copy(const ir_module *m, ir_op map) {
    const ir_block_data *block = ir_block_get(m, ir_op_block(m, map, 0));
    const ir_op_data *end = ir_op_get(m, block->last);
    return block->first == block->last && block->argument_count == 1 && end->operand_count == 1 &&
           end->operands[0] == block->arguments[0];
}

static ir_op phase_around(const ir_module *m, ir_op op) {
    while (op && ir_op_get(m, op)->opcode != SCHED_PHASE)
        op = ir_block_parent(m, ir_op_get(m, op)->block);
    return op;
}

/* Is the map all that its phase does? */
static bool is_alone(const ir_module *m, ir_op phase, ir_op map) {
    for (ir_walk w = ir_walk_op(m, phase); ir_walk_next(&w);)
        if (ir_op_get(m, w.op)->opcode != SCHED_FOR &&
            ir_op_get(m, w.op)->opcode != SCHED_PARALLEL && w.op != phase && w.op != map &&
            ir_block_parent(m, ir_op_get(m, w.op)->block) != map)
            return false;
    return true;
}

void scheduler_end_donated(scheduler *s, const ir_module *graph) {
    ir_module *m = s->m;
    ir_op kernel = ir_module_kernel(m);
    const ir_block_data *body = ir_kernel_body(m);
    uint32_t inputs = ir_attr_get(m, ir_op_attr(m, kernel, "inputs"))->count;
    if (s->failed || !donated_any(graph, ir_module_kernel(graph)))
        return;
    takers *all = takers_of(m);
    int64_t *kept = base_malloc(((size_t)inputs + 1) * sizeof *kept);
    for (uint32_t i = 0; i < inputs; i++) {
        kept[i] = donated_output(graph, ir_module_kernel(graph), i);
        if (kept[i] < 0)
            continue;
        ir_op map =
            made_in_place(m, all, body->arguments[i], body->arguments[inputs + (uint32_t)kept[i]]);
        ir_op phase = map && is_copy(m, map) ? phase_around(m, map) : 0;
        if (!map)
            kept[i] = -1;
        else if (phase && is_alone(m, phase, map))
            ir_op_set_attr(m, phase, "copies", ir_attr_int(m, i));
    }
    ir_op_set_attr(m, kernel, "donated", ir_attr_int_array(m, kept, inputs));
    free(kept);
    free(all);
}
