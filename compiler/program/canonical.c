/* canonical.c - follows inputs and constants through branches and loops to the end of the kernel's
 * block. */
#include "program/canonical.h"

#include <stdlib.h>

#include "ops/control.h"

typedef struct mark_state {
    const ir_module *m;
    bool *copied; /* by value: it may be an input's or a constant's, by copies alone */
    bool changed;
} mark_state;

static void hand_on(mark_state *k, const ir_value *from, const ir_value *to, uint32_t count) {
    for (uint32_t i = 0; i < count; i++) {
        k->changed |= k->copied[from[i]] && !k->copied[to[i]];
        k->copied[to[i]] |= k->copied[from[i]];
    }
}

static const ir_block_data *block_of(const mark_state *k, ir_op op, uint32_t region) {
    return ir_block_get(k->m, ir_op_block(k->m, op, region));
}

static void mark_if(mark_state *k, ir_op op, const ir_op_data *d) {
    for (uint32_t r = 0; r < 2; r++) {
        hand_on(k, d->operands + 1, block_of(k, op, r)->arguments, d->operand_count - 1);
        hand_on(k, control_end(k->m, op, r)->operands, d->results, d->result_count);
    }
}

static void mark_while(mark_state *k, ir_op op, const ir_op_data *d) {
    hand_on(k, d->operands, d->results, d->result_count);
    hand_on(k, control_end(k->m, op, 1)->operands, d->results, d->result_count);
    hand_on(k, d->results, block_of(k, op, 0)->arguments, d->result_count);
    hand_on(k, d->results, block_of(k, op, 1)->arguments, d->result_count);
}

static void mark_loop(mark_state *k, ir_op op, const ir_op_data *d) {
    const ir_value *arguments = block_of(k, op, 0)->arguments + 1;
    uint32_t carried = loop_shape_of(k->m, op).carried;
    hand_on(k, d->operands, d->results, carried);
    hand_on(k, control_end(k->m, op, 0)->operands, d->results, d->result_count);
    hand_on(k, d->results, arguments, carried);
    hand_on(k, d->operands, arguments, d->operand_count);
}

static bool is_float(const ir_module *m, ir_value v) {
    return dtype_is_float(ir_type_of(m, v)->element);
}

static void mark_dense(mark_state *k, ir_value v) {
    k->changed |= is_float(k->m, v) && !k->copied[v];
    k->copied[v] = is_float(k->m, v);
}

static void mark_block(mark_state *k, ir_block block) {
    for (ir_op op = ir_block_get(k->m, block)->first; op; op = ir_op_get(k->m, op)->next) {
        const ir_op_data *d = ir_op_get(k->m, op);
        if (d->opcode == GRAPH_DENSE)
            mark_dense(k, d->results[0]);
        else if (d->opcode == GRAPH_IF)
            mark_if(k, op, d);
        else if (d->opcode == GRAPH_WHILE)
            mark_while(k, op, d);
        else if (d->opcode == GRAPH_LOOP)
            mark_loop(k, op, d);
    }
}

static void mark_all(mark_state *k) {
    control_block_list blocks = {0};
    control_blocks(k->m, &blocks);
    do {
        k->changed = false;
        for (size_t i = 0; i < blocks.count; i++)
            mark_block(k, blocks.items[i]);
    } while (k->changed);
    vec_release(&blocks);
}

void program_make_canonical(functions *f) {
    ir_module *m = f->m;
    const ir_block block = ir_op_block(m, ir_module_kernel(m), 0);
    const ir_block_data *body = ir_block_get(m, block);
    size_t values = ir_value_count(m) + 1;
    mark_state k = {.m = m, .copied = base_calloc(values, sizeof(bool))};
    ir_value *made = base_calloc(values, sizeof *made);
    for (uint32_t i = 0; i < body->argument_count; i++)
        k.copied[body->arguments[i]] = is_float(m, body->arguments[i]);
    mark_all(&k);
    ir_builder b = {.m = m, .block = block, .before = body->last};
    const ir_op_data *end = ir_op_get(m, body->last);
    for (uint32_t i = 0; i < end->operand_count; i++) {
        ir_value v = end->operands[i];
        if (k.copied[v] && !made[v])
            made[v] = functions_call_identity(f, v, &b);
        end->operands[i] = k.copied[v] ? made[v] : v;
    }
    free(made);
    free(k.copied);
}
