/* concurrent.c - phases that may run while the one before does: neither writes what the other
 * touches, so their workgroups are one grid, and no thread waits between them. */
#include <stdlib.h>
#include <string.h>

#include "ops/donated.h"
#include "schedule/policy.h"

/* A phase that is prepared once, or left out of some launches, runs apart. */
static bool runs_apart(const ir_module *m, ir_op phase) {
    return ir_op_attr(m, phase, "constant") || ir_op_attr(m, phase, "copies");
}

static bool is_input(const ir_module *m, ir_value v) {
    ir_op kernel = ir_module_kernel(m);
    const ir_value_data *d = ir_value_get(m, v);
    return !d->op && d->block == ir_op_block(m, kernel, 0) &&
           d->index < ir_attr_get(m, ir_op_attr(m, kernel, "inputs"))->count;
}

/* The memory of a buffer: of a donated input its output's; 0: nothing writes it. */
static ir_value memory_of(const ir_module *m, ir_value v) {
    ir_op kernel = ir_module_kernel(m);
    if (!is_input(m, v))
        return v;
    int64_t output = donated_output(m, kernel, ir_value_get(m, v)->index);
    uint32_t inputs = ir_attr_get(m, ir_op_attr(m, kernel, "inputs"))->count;
    return output < 0 ? 0 : ir_kernel_body(m)->arguments[inputs + (uint32_t)output];
}

/* Marks the memory that a phase may write; or finds whether it touches some that is marked. */
static bool walk_memory(const ir_module *m, ir_op phase, bool *written, bool marks) {
    bool touches = false;
    for (ir_walk w = ir_walk_op(m, phase); ir_walk_next(&w);) {
        const ir_op_data *d = ir_op_get(m, w.op);
        for (uint32_t i = 0; i < d->operand_count; i++) {
            bool is_buffer = ir_type_of(m, d->operands[i])->kind == IR_TYPE_BUFFER;
            ir_value v = is_buffer ? memory_of(m, d->operands[i]) : 0;
            if (!v)
                continue;
            touches |= written[v];
            written[v] |= marks;
        }
    }
    return touches;
}

static ir_op next_phase(const ir_module *m, ir_op op) {
    while (op && ir_op_get(m, op)->opcode != SCHED_PHASE)
        op = ir_op_get(m, op)->next;
    return op;
}

typedef bool visit_phase(ir_module *m, ir_op phase, bool may);

/* Visits the phases with whether each may run while those before it do, from the last one on that
 * is not concurrent. */
static bool each_phase(ir_module *m, visit_phase *visit) {
    ir_op kernel = ir_module_kernel(m);
    size_t bytes = ((size_t)ir_value_count(m) + 1) * sizeof(bool);
    bool *written = base_calloc(1, bytes), open = false, ok = true;
    ir_op op = next_phase(m, ir_block_get(m, ir_op_block(m, kernel, 0))->first);
    for (; op && ok; op = next_phase(m, ir_op_get(m, op)->next)) {
        bool apart = runs_apart(m, op);
        ok = visit(m, op, open && !apart && !walk_memory(m, op, written, false));
        if (!ir_op_attr(m, op, "concurrent"))
            memset(written, 0, bytes);
        walk_memory(m, op, written, true);
        open = !apart;
    }
    free(written);
    return ok;
}

static bool mark(ir_module *m, ir_op phase, bool may) {
    if (may)
        ir_op_set_attr(m, phase, "concurrent", ir_attr_bool(m, true));
    return true;
}

static bool check(ir_module *m, ir_op phase, bool may) {
    return may || !ir_op_attr(m, phase, "concurrent");
}

void scheduler_mark_concurrent(scheduler *s) {
    if (!s->failed)
        (void)each_phase(s->m, mark);
}

bool schedule_phases_are_independent(const ir_module *m) {
    return each_phase((ir_module *)m, check);
}
