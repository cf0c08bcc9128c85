/* function.c - from a set of operations to a function. */
#include "program/function.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/sha256.h"
#include "base/text.h"
#include "ir/copy.h"
#include "ops/build.h"

void functions_init(functions *f, ir_module *m) {
    *f = (functions){.m = m};
    map_init(&f->by_identity);
}

void functions_release(functions *f) {
    map_release(&f->by_identity);
    free(f->member);
    free(f->input);
    free(f->copies);
}

/* The same room with more behind it, all zero. */
static void *grown(void *room, size_t before, size_t now, size_t each) {
    char *larger = base_realloc(room, now * each);
    memset(larger + before * each, 0, (now - before) * each);
    return larger;
}

static void make_room(functions *f) {
    size_t operations = ir_op_count(f->m) + 1, values = ir_value_count(f->m) + 1;
    if (operations > f->operations) {
        f->member = grown(f->member, f->operations, 2 * operations, sizeof *f->member);
        f->operations = 2 * operations;
    }
    if (values > f->values) {
        f->input = grown(f->input, f->values, 2 * values, sizeof *f->input);
        f->copies = grown(f->copies, f->values, 2 * values, sizeof *f->copies);
        f->values = 2 * values;
    }
}

/* ---- the operations ---- */

/* A value whose operation comes; `ready`: behind those that it is computed from. */
typedef struct visit {
    ir_value v;
    bool ready;
} visit;

typedef struct closure {
    functions *f;
    const function_request *r;
    op_list members; /* each behind those that it reads, these in the order of its operands */
    VEC(visit) waiting;
} closure;

/* An operand of a member, or of an operation in one of its blocks. */
static void reach(closure *c, ir_module *m, ir_value v) {
    const ir_value_data *d = ir_value_get(m, v);
    bool here = d->op ? ir_op_get(m, d->op)->block == c->r->block : d->block == c->r->block;
    if (!here || c->f->input[v])
        return;
    if (!d->op || c->r->is_input(v, c->r->context))
        c->f->input[v] = true;
    else if (!c->f->member[d->op])
        vec_push(&c->waiting, ((visit){v, false}));
}

/* Visits from `first` on are taken in the order in which they were pushed. */
static void turn_around(closure *c, size_t first) {
    for (size_t i = first, k = c->waiting.count; i + 1 < k; i++, k--) {
        visit other = c->waiting.items[i];
        c->waiting.items[i] = c->waiting.items[k - 1];
        c->waiting.items[k - 1] = other;
    }
}

static void enter(closure *c, ir_module *m, ir_value v) {
    ir_op op = ir_value_get(m, v)->op;
    if (c->f->member[op])
        return;
    c->f->member[op] = true;
    vec_push(&c->waiting, ((visit){v, true}));
    size_t first = c->waiting.count;
    for (ir_walk w = ir_walk_op(m, op); ir_walk_next(&w);)
        for (uint32_t i = 0; i < ir_op_get(m, w.op)->operand_count; i++)
            reach(c, m, ir_op_get(m, w.op)->operands[i]);
    turn_around(c, first);
}

static void put_in_order(closure *c, const ir_module *m) {
    c->members.count = 0;
    for (ir_op op = ir_block_get(m, c->r->block)->first; op; op = ir_op_get(m, op)->next)
        if (c->f->member[op])
            vec_push(&c->members, op);
}

/* The order follows from the results alone and not from the block's, where a constant stands at the
 * first of its readers: equal computations become equal functions. Asked for, it is the block's,
 * where a checkpoint computes a value again right before it is read. */
static void close_over(closure *c, ir_module *m) {
    for (size_t i = 0; i < c->r->results.count; i++)
        vec_push(&c->waiting, ((visit){c->r->results.items[i], false}));
    turn_around(c, 0);
    while (c->waiting.count) {
        visit next = c->waiting.items[--c->waiting.count];
        if (next.ready)
            vec_push(&c->members, ir_value_get(m, next.v)->op);
        else
            enter(c, m, next.v);
    }
    if (c->r->in_order)
        put_in_order(c, m);
    vec_release(&c->waiting);
}

/* ---- the function ---- */

typedef struct function_state {
    closure c;
    ir_block body; /* of the function */
    ir_value *copies;
    value_list inputs; /* in their order */
} function_state;

/* Inputs are in the order in which the operations read them, so that equal functions are equal. */
static void take_inputs(ir_module *m, ir_op op, function_state *k) {
    for (uint32_t i = 0; i < ir_op_get(m, op)->operand_count; i++) {
        ir_value v = ir_op_get(m, op)->operands[i];
        if (!k->c.f->input[v] || k->copies[v])
            continue;
        k->copies[v] = ir_block_add_argument(m, k->body, ir_value_get(m, v)->type, NULL);
        vec_push(&k->inputs, v);
    }
}

static void copy_members(function_state *k, ir_module *m) {
    ir_builder b = {.m = m, .block = k->body};
    for (size_t i = 0; i < k->c.members.count; i++) {
        ir_op op = k->c.members.items[i];
        for (ir_walk w = ir_walk_op(m, op); ir_walk_next(&w);)
            take_inputs(m, w.op, k);
        ir_op_remove_attr(m, ir_copy_op(&b, m, op, k->copies), "id");
    }
}

static ir_op empty_function(function_state *k, ir_module *m) {
    ir_builder b = {.m = m, .block = ir_module_body(m)};
    ir_attr none = ir_attr_array(m, NULL, 0);
    const ir_named_attr attrs[] = {
        {"name", ir_attr_string(m, "")}, {"inputs", none}, {"outputs", none}};
    ir_op_spec spec = {
        .opcode = GRAPH_FUNCTION, .attrs = attrs, .attr_count = 3, .region_count = 1};
    ir_op function = ir_build(&b, &spec);
    k->body = ir_op_block(m, function, 0);
    return function;
}

/* The function returns these, and its inputs and outputs have their numbers for names. */
static void end_function(function_state *k, ir_module *m, ir_op function, const ir_value *results,
                         uint32_t count) {
    ir_builder b = {.m = m, .block = k->body};
    ir_op_spec spec = {.opcode = GRAPH_RETURN, .operands = results, .operand_count = count};
    ir_build(&b, &spec);
    ir_op_set_attr(m, function, "inputs",
                   build_names(m, "x", ir_block_get(m, k->body)->argument_count));
    ir_op_set_attr(m, function, "outputs", build_names(m, "y", count));
}

static ir_op new_function(function_state *k, ir_module *m) {
    const function_request *r = k->c.r;
    value_list results = {0};
    ir_op function = empty_function(k, m);
    copy_members(k, m);
    for (size_t i = 0; i < r->results.count; i++)
        vec_push(&results, k->copies[r->results.items[i]]);
    end_function(k, m, function, results.items, (uint32_t)results.count);
    vec_release(&results);
    return function;
}

/* The function itself, or an equal one in its place. */
static ir_op shared(functions *f, ir_op function) {
    char hex[65], name[32];
    intptr_t before;
    sha256 identity = ir_op_identity(f->m, function);
    text key;
    sha256_hex(&identity, hex);
    text_init(&key);
    text_append(&key, hex);
    uint32_t number = 0; /* of an operation: equal ones may be scheduled differently */
    for (ir_walk w = ir_walk_op(f->m, function); ir_walk_next(&w); number++)
        if (ir_op_get(f->m, w.op)->location.setting)
            text_printf(&key, " %u:%u", number, ir_op_get(f->m, w.op)->location.setting);
    bool known = map_get(&f->by_identity, key.data, &before);
    if (!known)
        map_put(&f->by_identity, key.data, (intptr_t)function);
    text_release(&key);
    if (known) {
        ir_op_erase(f->m, function);
        return (ir_op)before;
    }
    snprintf(name, sizeof name, "dispatch%d", f->count++);
    ir_op_set_attr(f->m, function, "name", ir_attr_string(f->m, name));
    return function;
}

/* A call with results of the types of these values. */
static ir_op build_call(ir_builder *b, ir_op function, const value_list *operands,
                        const value_list *like) {
    ir_module *m = b->m;
    ir_type *types = base_calloc(like->count + 1, sizeof *types);
    for (size_t i = 0; i < like->count; i++)
        types[i] = ir_value_get(m, like->items[i])->type;
    const ir_named_attr callee = {"callee", ir_op_attr(m, function, "name")};
    ir_op_spec spec = {.opcode = GRAPH_CALL,
                       .operands = operands->items,
                       .operand_count = (uint32_t)operands->count,
                       .results = types,
                       .result_count = (uint32_t)like->count,
                       .attrs = &callee,
                       .attr_count = 1};
    ir_op call = ir_build(b, &spec);
    free(types);
    return call;
}

ir_value functions_call_identity(functions *f, ir_value v, ir_builder *b) {
    function_state k = {.copies = NULL};
    ir_op function = empty_function(&k, f->m);
    ir_value input = ir_block_add_argument(f->m, k.body, ir_value_get(f->m, v)->type, NULL);
    end_function(&k, f->m, function, &input, 1);
    const value_list one = {.items = &v, .count = 1};
    return ir_op_result(f->m, build_call(b, shared(f, function), &one, &one), 0);
}

static void forget_copies(const ir_module *m, ir_op op, ir_value *copies) {
    const ir_op_data *d = ir_op_get(m, op);
    for (uint32_t i = 0; i < d->result_count; i++)
        copies[d->results[i]] = 0;
    for (uint32_t r = 0; r < d->region_count; r++) {
        const ir_block_data *inner = ir_block_get(m, ir_op_block(m, op, r));
        for (uint32_t i = 0; i < inner->argument_count; i++)
            copies[inner->arguments[i]] = 0;
    }
}

static void clear_room(function_state *k) {
    functions *f = k->c.f;
    for (size_t i = 0; i < k->inputs.count; i++) {
        f->input[k->inputs.items[i]] = false;
        f->copies[k->inputs.items[i]] = 0;
    }
    for (size_t i = 0; i < k->c.members.count; i++) {
        f->member[k->c.members.items[i]] = false;
        for (ir_walk w = ir_walk_op(f->m, k->c.members.items[i]); ir_walk_next(&w);)
            forget_copies(f->m, w.op, f->copies);
    }
}

ir_op functions_call(functions *f, const function_request *r, ir_builder *b) {
    make_room(f);
    function_state k = {.c = {.f = f, .r = r}, .copies = f->copies};
    close_over(&k.c, f->m);
    ir_op function = shared(f, new_function(&k, f->m));
    value_list operands = {0};
    for (size_t i = 0; i < k.inputs.count; i++) {
        ir_value v = k.inputs.items[i];
        vec_push(&operands, r->now[v] ? r->now[v] : v);
    }
    ir_op call = build_call(b, function, &operands, &r->results);
    vec_release(&operands);
    clear_room(&k);
    vec_release(&k.c.members);
    vec_release(&k.inputs);
    return call;
}
