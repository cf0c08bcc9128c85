/* function.c - from a set of operations to a function. */
#include "program/function.h"

#include <stdio.h>
#include <stdlib.h>

#include "base/sha256.h"
#include "ir/copy.h"
#include "ops/graph.h"

void functions_init(functions *f, ir_module *m) {
    *f = (functions){.m = m};
    map_init(&f->by_identity);
}

void functions_release(functions *f) {
    map_release(&f->by_identity);
}

/* ---- the operations ---- */

typedef struct closure {
    const function_request *r;
    bool *member, *input; /* by operation, by value */
    value_list waiting;
} closure;

/* An operand of a member, or of an operation in one of its blocks. */
static void reach(closure *c, ir_module *m, ir_value v) {
    const ir_value_data *d = ir_value_get(m, v);
    bool here = d->op ? ir_op_get(m, d->op)->block == c->r->block : d->block == c->r->block;
    if (!here || c->input[v])
        return;
    if (!d->op || c->r->is_input(v, c->r->context))
        c->input[v] = true;
    else if (!c->member[d->op])
        vec_push(&c->waiting, v);
}

static void reach_operands(ir_module *m, ir_op op, void *context) {
    const ir_op_data *d = ir_op_get(m, op);
    for (uint32_t i = 0; i < d->operand_count; i++)
        reach(context, m, d->operands[i]);
}

static void close_over(closure *c, ir_module *m) {
    for (size_t i = 0; i < c->r->results.count; i++)
        vec_push(&c->waiting, c->r->results.items[i]);
    while (c->waiting.count) {
        ir_op op = ir_value_get(m, c->waiting.items[--c->waiting.count])->op;
        if (c->member[op])
            continue;
        c->member[op] = true;
        ir_walk(m, op, reach_operands, c);
    }
    vec_release(&c->waiting);
}

/* ---- the function ---- */

static ir_attr numbered_names(ir_module *m, const char *prefix, size_t count) {
    ir_attr *names = base_calloc(count + 1, sizeof *names);
    char name[32];
    for (size_t i = 0; i < count; i++) {
        snprintf(name, sizeof name, "%s%zu", prefix, i);
        names[i] = ir_attr_string(m, name);
    }
    ir_attr list = ir_attr_array(m, names, (uint32_t)count);
    free(names);
    return list;
}

typedef struct making {
    closure c;
    ir_block body;    /* of the function */
    ir_value *copies; /* by value */
    value_list inputs;
} making;

/* Inputs are in the order in which the operations read them, so that equal functions are equal. */
static void take_inputs(ir_module *m, ir_op op, void *context) {
    making *k = context;
    for (uint32_t i = 0; i < ir_op_get(m, op)->operand_count; i++) {
        ir_value v = ir_op_get(m, op)->operands[i];
        if (!k->c.input[v] || k->copies[v])
            continue;
        k->copies[v] = ir_block_add_argument(m, k->body, ir_value_get(m, v)->type, NULL);
        vec_push(&k->inputs, v);
    }
}

static void copy_members(making *k, ir_module *m) {
    ir_builder b = {.m = m, .block = k->body};
    const function_request *r = k->c.r;
    ir_op end = ir_block_get(m, r->block)->last;
    for (ir_op op = ir_block_get(m, r->block)->first; op != end; op = ir_op_get(m, op)->next) {
        if (!k->c.member[op])
            continue;
        ir_walk(m, op, take_inputs, k);
        ir_op_remove_attr(m, ir_copy_op(&b, op, k->copies), "id");
    }
    value_list results = {0};
    for (size_t i = 0; i < r->results.count; i++)
        vec_push(&results, k->copies[r->results.items[i]]);
    ir_op_spec spec = {.opcode = GRAPH_RETURN,
                       .operands = results.items,
                       .operand_count = (uint32_t)results.count};
    ir_build(&b, &spec);
    vec_release(&results);
}

static ir_op empty_function(making *k, ir_module *m) {
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

static ir_op new_function(making *k, ir_module *m) {
    ir_op function = empty_function(k, m);
    copy_members(k, m);
    ir_op_set_attr(m, function, "inputs", numbered_names(m, "x", k->inputs.count));
    ir_op_set_attr(m, function, "outputs", numbered_names(m, "y", k->c.r->results.count));
    return function;
}

/* The function itself, or an equal one in its place. */
static ir_op shared(functions *f, ir_op function) {
    char hex[65], name[32];
    intptr_t before;
    sha256 identity = ir_op_identity(f->m, function);
    sha256_hex(&identity, hex);
    if (map_get(&f->by_identity, hex, &before)) {
        ir_op_erase(f->m, function);
        return (ir_op)before;
    }
    map_put(&f->by_identity, hex, (intptr_t)function);
    snprintf(name, sizeof name, "dispatch%d", f->count++);
    ir_op_set_attr(f->m, function, "name", ir_attr_string(f->m, name));
    return function;
}

static ir_op build_call(functions *f, const function_request *r, ir_op function,
                        const value_list *inputs, ir_builder *b) {
    ir_module *m = f->m;
    ir_type *types = base_calloc(r->results.count + 1, sizeof *types);
    ir_value *operands = base_calloc(inputs->count + 1, sizeof *operands);
    for (size_t i = 0; i < r->results.count; i++)
        types[i] = ir_value_get(m, r->results.items[i])->type;
    for (size_t i = 0; i < inputs->count; i++)
        operands[i] = r->now[inputs->items[i]] ? r->now[inputs->items[i]] : inputs->items[i];
    const ir_named_attr callee = {"callee", ir_op_attr(m, function, "name")};
    ir_op_spec spec = {.opcode = GRAPH_CALL,
                       .operands = operands,
                       .operand_count = (uint32_t)inputs->count,
                       .results = types,
                       .result_count = (uint32_t)r->results.count,
                       .attrs = &callee,
                       .attr_count = 1};
    ir_op call = ir_build(b, &spec);
    free(types);
    free(operands);
    return call;
}

ir_value functions_call_identity(functions *f, ir_value v, ir_builder *b) {
    ir_module *m = f->m;
    making k = {.copies = NULL};
    ir_op function = empty_function(&k, m);
    ir_value input = ir_block_add_argument(m, k.body, ir_value_get(m, v)->type, NULL);
    ir_builder in = {.m = m, .block = k.body};
    ir_op_spec end = {.opcode = GRAPH_RETURN, .operands = &input, .operand_count = 1};
    ir_build(&in, &end);
    ir_op_set_attr(m, function, "inputs", numbered_names(m, "x", 1));
    ir_op_set_attr(m, function, "outputs", numbered_names(m, "y", 1));
    const ir_named_attr callee = {"callee", ir_op_attr(m, shared(f, function), "name")};
    ir_op_spec call = {.opcode = GRAPH_CALL,
                       .operands = &v,
                       .operand_count = 1,
                       .results = &ir_value_get(m, v)->type,
                       .result_count = 1,
                       .attrs = &callee,
                       .attr_count = 1};
    return ir_op_result(m, ir_build(b, &call), 0);
}

ir_op functions_call(functions *f, const function_request *r, ir_builder *b) {
    size_t values = ir_value_count(f->m) + 1;
    making k = {.c = {.r = r,
                      .member = base_calloc(ir_op_count(f->m) + 1, sizeof(bool)),
                      .input = base_calloc(values, sizeof(bool))},
                .copies = base_calloc(values, sizeof(ir_value))};
    close_over(&k.c, f->m);
    ir_op call = build_call(f, r, shared(f, new_function(&k, f->m)), &k.inputs, b);
    free(k.c.member);
    free(k.c.input);
    free(k.copies);
    vec_release(&k.inputs);
    return call;
}
