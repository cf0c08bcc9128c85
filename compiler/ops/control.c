/* control.c - rules of branches and loops, and the walk over blocks. */
#include "ops/control.h"

#include <stdlib.h>
#include <string.h>

#include "ir/rename.h"
#include "ops/combine.h"
#include "ops/transforms.h"

bool graph_is_control(int opcode) {
    return opcode == GRAPH_IF || opcode == GRAPH_WHILE || opcode == GRAPH_LOOP;
}

bool control_has_blocks(int opcode) {
    return graph_is_control(opcode) || opcode == GRAPH_REDUCE_WITH || opcode == GRAPH_SORT ||
           opcode == GRAPH_SCATTER || transform_is_one(opcode);
}

bool control_makes_program(int opcode) {
    return (control_has_blocks(opcode) && opcode != GRAPH_SCATTER && !transform_is_one(opcode)) ||
           opcode == GRAPH_DENSE || opcode == GRAPH_EXCHANGE;
}

loop_shape loop_shape_of(const ir_module *m, ir_op loop) {
    const ir_op_data *d = ir_op_get(m, loop);
    const ir_attr_data *count = ir_attr_get(m, ir_op_attr(m, loop, "count"));
    int64_t carried = ir_op_int(m, loop, "carried", 0), sliced = ir_op_int(m, loop, "sliced", 0);
    loop_shape l = {.count = count->integer};
    if (carried < 0 || sliced < 0 || carried > d->operand_count ||
        sliced > d->operand_count - carried || carried > d->result_count)
        return (loop_shape){.carried = UINT32_MAX};
    l.carried = (uint32_t)carried;
    l.sliced = (uint32_t)sliced;
    l.whole = d->operand_count - l.carried - l.sliced;
    l.stacked = d->result_count - l.carried;
    return l;
}

void control_blocks_of(const ir_module *m, ir_block block, control_block_list *out) {
    for (ir_op op = ir_block_get(m, block)->first; op; op = ir_op_get(m, op)->next)
        for (uint32_t r = 0; r < ir_op_get(m, op)->region_count; r++)
            if (control_has_blocks(ir_op_get(m, op)->opcode))
                vec_push(out, ir_op_block(m, op, r));
}

void control_blocks(const ir_module *m, control_block_list *out) {
    vec_push(out, ir_op_block(m, ir_module_kernel(m), 0));
    for (size_t i = 0; i < out->count; i++)
        control_blocks_of(m, out->items[i], out);
}

bool control_each_block(ir_module *m, bool (*visit)(ir_module *m, ir_block block, void *context),
                        void *context) {
    control_block_list blocks = {0};
    bool ok = true;
    control_blocks(m, &blocks);
    for (size_t i = 0; i < blocks.count && ok; i++)
        ok = visit(m, blocks.items[i], context);
    vec_release(&blocks);
    return ok;
}

typedef struct rewrite_state {
    control_rewrite_fn rewrite;
    void *context;
    ir_value *results;
    uint32_t room;
} rewrite_state;

static void make_room(rewrite_state *r, uint32_t results) {
    if (results > r->room)
        r->results = base_realloc(r->results, sizeof *r->results * (r->room = results));
    for (uint32_t i = 0; i < results; i++)
        r->results[i] = 0;
}

static bool rewrite_block(ir_module *m, ir_block block, void *context) {
    rewrite_state *r = context;
    control_rewritten done = CONTROL_KEPT;
    ir_renaming renamed = ir_renaming_new(m);
    ir_op op = ir_block_get(m, block)->first, next;
    for (; op && done != CONTROL_STOPPED; op = next) {
        const ir_op_data *d = ir_op_get(m, op);
        ir_builder b = {m, block, op, d->location};
        next = d->next;
        make_room(r, d->result_count);
        ir_renaming_apply(&renamed, op);
        done = r->rewrite(&b, op, r->results, r->context);
        if (done != CONTROL_REPLACED)
            continue;
        for (uint32_t i = 0; i < d->result_count; i++)
            ir_rename(&renamed, d->results[i], r->results[i]);
        ir_op_erase(m, op);
    }
    ir_renaming_end(&renamed, op);
    return done != CONTROL_STOPPED;
}

bool control_rewrite(ir_module *m, control_rewrite_fn rewrite, void *context) {
    rewrite_state r = {rewrite, context, NULL, 0};
    bool ok = control_each_block(m, rewrite_block, &r);
    free(r.results);
    return ok;
}

/* ---- verifying ---- */

static ir_type type_of(const ir_module *m, ir_value v) {
    return ir_value_get(m, v)->type;
}

static bool same_types(const ir_module *m, const ir_value *a, const ir_value *b, uint32_t count) {
    for (uint32_t i = 0; i < count; i++)
        if (type_of(m, a[i]) != type_of(m, b[i]))
            return false;
    return true;
}

static bool is_scalar(const ir_module *m, ir_value v, dtype element) {
    return type_of(m, v) == ir_type_tensor((ir_module *)m, element, 0, NULL);
}

ir_op control_build_loop(ir_builder *b, const loop_request *r) {
    const ir_named_attr attrs[] = {{"carried", ir_attr_int(b->m, r->carried)},
                                   {"sliced", ir_attr_int(b->m, r->sliced)},
                                   {"count", ir_attr_dim(b->m, r->count)}};
    return ir_build(b, &(ir_op_spec){.opcode = GRAPH_LOOP,
                                     .operands = r->operands,
                                     .operand_count = r->operand_count,
                                     .results = r->results,
                                     .result_count = r->result_count,
                                     .attrs = attrs,
                                     .attr_count = 3,
                                     .region_count = 1});
}

ir_type control_stack_type(ir_module *m, ir_value part, ir_dim count) {
    const ir_type_data *t = ir_type_of(m, part);
    ir_dim dims[IR_MAX_RANK + 1] = {count};
    memcpy(dims + 1, t->dims, sizeof *dims * (size_t)t->rank);
    return ir_type_tensor(m, t->element, t->rank + 1, dims);
}

ir_type control_part_type(ir_module *m, ir_value stack) {
    const ir_type_data *t = ir_type_of(m, stack);
    return ir_type_tensor(m, t->element, t->rank - 1, t->dims + 1);
}

bool control_is_part(const ir_module *m, ir_value part, ir_value stack, ir_dim count) {
    const ir_type_data *p = ir_type_of(m, part), *a = ir_type_of(m, stack);
    return p->kind == IR_TYPE_TENSOR && a->kind == IR_TYPE_TENSOR && p->element == a->element &&
           a->rank == p->rank + 1 && a->dims[0] == count &&
           memcmp(p->dims, a->dims + 1, sizeof *p->dims * (size_t)p->rank) == 0;
}

const ir_op_data *control_end(const ir_module *m, ir_op op, uint32_t region) {
    const ir_block_data *b = ir_block_get(m, ir_op_block(m, op, region));
    const ir_op_data *end = b->last ? ir_op_get(m, b->last) : NULL;
    return end && end->opcode == GRAPH_NEXT ? end : NULL;
}

typedef struct isolation {
    ir_block block;
    bool broken;
} isolation;

static bool is_within(const ir_module *m, ir_block inner, ir_block outer) {
    while (inner != outer) {
        ir_op parent = ir_block_parent(m, inner);
        if (!parent)
            return false;
        inner = ir_op_get(m, parent)->block;
    }
    return true;
}

static void look_outside(const ir_module *m, ir_op op, isolation *i) {
    const ir_op_data *d = ir_op_get(m, op);
    for (uint32_t k = 0; k < d->operand_count; k++) {
        const ir_value_data *v = ir_value_get(m, d->operands[k]);
        i->broken |= !is_within(m, v->op ? ir_op_get(m, v->op)->block : v->block, i->block);
    }
}

static bool check_block(const ir_module *m, ir_op op, uint32_t region, status *st) {
    isolation i = {.block = ir_op_block(m, op, region)};
    if (!control_end(m, op, region))
        return ir_broken(st, "a block does not end in tessera.next");
    for (ir_op in = ir_block_get(m, i.block)->first; in; in = ir_op_get(m, in)->next)
        for (ir_walk w = ir_walk_op(m, in); ir_walk_next(&w);)
            look_outside(m, w.op, &i);
    return !i.broken || ir_broken(st, "a block reads a value that is not its own");
}

/* The block takes these values. */
static bool takes(const ir_module *m, ir_op op, uint32_t region, const ir_value *values,
                  uint32_t count) {
    const ir_block_data *b = ir_block_get(m, ir_op_block(m, op, region));
    return b->argument_count == count && same_types(m, b->arguments, values, count);
}

static bool verify_if(const ir_module *m, ir_op op, status *st) {
    const ir_op_data *d = ir_op_get(m, op);
    if (!is_scalar(m, d->operands[0], DTYPE_BOOL))
        return ir_broken(st, "its condition is not a bool");
    for (uint32_t r = 0; r < 2; r++) {
        const ir_op_data *end = control_end(m, op, r);
        if (!takes(m, op, r, d->operands + 1, d->operand_count - 1))
            return ir_broken(st, "a block takes other values");
        if (end->operand_count != d->result_count ||
            !same_types(m, end->operands, d->results, d->result_count))
            return ir_broken(st, "a block makes other values than its results");
    }
    return true;
}

static bool verify_while(const ir_module *m, ir_op op, status *st) {
    const ir_op_data *d = ir_op_get(m, op), *asks = control_end(m, op, 0),
                     *makes = control_end(m, op, 1);
    if (!takes(m, op, 0, d->operands, d->operand_count) ||
        !takes(m, op, 1, d->operands, d->operand_count))
        return ir_broken(st, "a block takes other values");
    if (asks->operand_count != 1 || !is_scalar(m, asks->operands[0], DTYPE_BOOL))
        return ir_broken(st, "its first block does not make a bool");
    bool same = makes->operand_count == d->operand_count && d->result_count == d->operand_count &&
                same_types(m, makes->operands, d->operands, d->operand_count) &&
                same_types(m, d->results, d->operands, d->operand_count);
    return same || ir_broken(st, "the values change their types");
}

static bool verify_loop(const ir_module *m, ir_op op, status *st) {
    const ir_op_data *d = ir_op_get(m, op), *end = control_end(m, op, 0);
    const ir_block_data *b = ir_block_get(m, ir_op_block(m, op, 0));
    loop_shape l = loop_shape_of(m, op);
    if (l.carried == UINT32_MAX)
        return ir_broken(st, "carries or slices more values than it takes");
    if (b->argument_count != d->operand_count + 1 || !is_scalar(m, b->arguments[0], DTYPE_I32))
        return ir_broken(st, "its block takes the turn as i32, and a value for each operand");
    const ir_value *in = b->arguments + 1;
    if (end->operand_count != d->result_count || !same_types(m, in, d->operands, l.carried) ||
        !same_types(m, end->operands, d->operands, l.carried) ||
        !same_types(m, d->results, d->operands, l.carried))
        return ir_broken(st, "what it carries changes its type");
    for (uint32_t i = l.carried; i < l.carried + l.sliced; i++)
        if (!control_is_part(m, in[i], d->operands[i], l.count))
            return ir_broken(st, "a slice does not fit its operand");
    if (!same_types(m, in + l.carried + l.sliced, d->operands + l.carried + l.sliced, l.whole))
        return ir_broken(st, "its block takes other values");
    for (uint32_t i = l.carried; i < d->result_count; i++)
        if (!control_is_part(m, end->operands[i], d->results[i], l.count))
            return ir_broken(st, "a part does not fit the result that is stacked of it");
    return true;
}

bool control_verify(const ir_module *m, ir_op op, status *st) {
    int opcode = ir_op_get(m, op)->opcode;
    if (ir_op_get(m, op)->result_count == 0)
        return ir_broken(st, "has no results");
    for (uint32_t r = 0; r < ir_op_get(m, op)->region_count; r++)
        if (!check_block(m, op, r, st))
            return false;
    if (transform_is_one(opcode))
        return transform_verify(m, op, st);
    return opcode == GRAPH_IF      ? verify_if(m, op, st)
           : opcode == GRAPH_WHILE ? verify_while(m, op, st)
           : opcode == GRAPH_LOOP  ? verify_loop(m, op, st)
                                   : combine_verify(m, op, st);
}
