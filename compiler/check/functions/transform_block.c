/* transform_block.c - a function in the block of an operation that transforms it. */
#include <string.h>

#include "check/effects.h"
#include "check/transforms.h"

/* ---- what it is given ---- */

static const entity *innermost(const entity *f) {
    while (f->transform)
        f = &f->transform->of;
    return f;
}

/* So many parameters without names: of a function of the language. */
static call_arguments *positional(checker *c, const entity *f, const node *n) {
    call_arguments *a = ARENA_NEW(&c->memory, call_arguments, 1);
    a->function = f->text;
    a->signature = "...";
    a->count = (int)(n->count < CALL_MAX_ARGUMENTS ? n->count : CALL_MAX_ARGUMENTS);
    for (int i = 0; i < a->count; i++)
        a->required[i] = true;
    return a;
}

call_arguments *applied_arguments(checker *c, const entity *f, const node *n) {
    const entity *of = innermost(f);
    call_arguments *a;
    if (of->function && !callable_read(c->source, of->function, c->report))
        return NULL;
    const ast_function *ast = of->function ? of->function->ast : NULL;
    a = ast ? call_arguments_of(c, ast->name, ast->parameters, ast->parameter_count)
            : positional(c, of, n);
    a->at = n->at;
    return bind_arguments(c, n, a) ? a : NULL;
}

/* ---- into the block ---- */

/* Is it made of tensors, and of nothing else that has a value? */
static bool is_tree(const entity *e) {
    bool tree = e->kind == ENTITY_TENSOR || e->kind == ENTITY_NONE;
    if (e->kind != ENTITY_TUPLE && e->kind != ENTITY_RECORD)
        return tree;
    for (uint32_t i = 0; i < e->count; i++)
        if (!is_tree(&e->items[i]) && !(e->record && value_type_is_constant(&e->record->fields[i])))
            return false;
    return e->count > 0;
}

static ir_type part_of(checker *c, const entity *e) {
    const ir_type_data *t = tensor_type(c, e);
    return ir_type_tensor(c->m, t->element, t->rank - 1, t->dims + 1);
}

/* The same argument inside. */
static entity take(applied *a, int i) {
    checker *c = a->c;
    entity *e = &a->given->values[i];
    value_list values = {0};
    a->first[i] = a->behind[i] = (uint32_t)a->tensors.count;
    if (!is_tree(e) || !tree_flatten(c, e, &a->tensors, "what is given"))
        return *e;
    a->behind[i] = (uint32_t)a->tensors.count;
    for (size_t k = a->first[i]; k < a->tensors.count; k++) {
        const entity *t = &a->tensors.items[k];
        ir_type type = a->sliced[i] ? part_of(c, t) : ir_value_get(c->m, t->value)->type;
        vec_push(&values, region_argument(c, &a->draft, 0, type));
    }
    const ir_value *next = values.items;
    entity inside = tree_rebuild(c, e, &next, e->at);
    vec_release(&values);
    return inside;
}

static void swap_weight(checker *c, const char *name, entity *e) {
    local_name *w = scope_find_weight(c, name);
    const entity before = w->value;
    w->value = *e;
    *e = before;
}

/* f(name=...), of those that are given; of a function without names by place. */
static entity apply(applied *a, entity *inside) {
    checker *c = a->c;
    const bool named = a->given->names[0][0] != 0;
    uint32_t count = 0;
    node *names = ARENA_NEW(&c->memory, node, 2 * CALL_MAX_ARGUMENTS),
         *call = ARENA_NEW(&c->memory, node, 2);
    node **items = ARENA_NEW(&c->memory, node *, CALL_MAX_ARGUMENTS + 1);
    const int own = a->given->count - a->given->weights;
    for (int i = 0; i < own; i++) {
        if (!a->given->given[i])
            continue;
        node *name = &names[2 * i], *keyword = &names[2 * i + 1];
        *name = (node){.kind = NODE_NAME,
                       .at = a->at,
                       .text = arena_printf(&c->memory, "(%u.%d)", c->blocks, i),
                       .depth = 1};
        *keyword = (node){.kind = NODE_KEYWORD,
                          .at = a->at,
                          .symbol_at = a->at,
                          .text = a->given->names[i],
                          .left = name,
                          .depth = 2};
        items[count++] = named ? keyword : name;
        scope_define(c, name->text, inside[i], a->at, NULL);
    }
    call[0] = (node){.kind = NODE_CALL, .at = a->at, .items = items, .count = count, .depth = 3};
    call[1] = (node){.kind = NODE_NAME, .at = a->at, .text = a->f.text, .depth = 1};
    call[0].left = &call[1];
    c->plain = a->plain ? a->f.function : NULL;
    c->plain_level = a->plain;
    for (int i = own; i < a->given->count; i++)
        swap_weight(c, a->given->names[i], &inside[i]);
    const entity made = call_function(c, &a->f, call);
    for (int i = own; i < a->given->count; i++)
        swap_weight(c, a->given->names[i], &inside[i]);
    return made;
}

node *applied_node(checker *c, const entity *values, uint32_t count, span at) {
    node *names = ARENA_NEW(&c->memory, node, count + 1), *call = ARENA_NEW(&c->memory, node, 1);
    node **items = ARENA_NEW(&c->memory, node *, count + 1);
    for (uint32_t i = 0; i < count; i++) {
        names[i] = (node){.kind = NODE_NAME,
                          .at = at,
                          .text = arena_printf(&c->memory, "(%u;%u)", c->blocks, i),
                          .depth = 1};
        items[i] = &names[i];
        scope_define(c, names[i].text, values[i], values[i].at, NULL);
    }
    *call = (node){.kind = NODE_CALL, .at = at, .items = items, .count = count, .depth = 2};
    return call;
}

entity applied_call(checker *c, const entity *f, const entity *values, uint32_t count, span at) {
    node *call = applied_node(c, values, count, at), *callee = ARENA_NEW(&c->memory, node, 1);
    *callee = (node){.kind = NODE_NAME, .at = at, .text = f->text, .depth = 1};
    call->left = callee;
    return call_function(c, f, call);
}

bool applied_begin(applied *a) {
    checker *c = a->c;
    entity inside[CALL_MAX_ARGUMENTS];
    const uint32_t errors = c->report->reported;
    if (!tiles_refuse_call(c, a->f.text, a->at))
        return false;
    a->draft = region_begin(c, a->ruled ? 2 : 1, a->at);
    region_enter(c, &a->draft, 0);
    if (!a->batched) /* it runs once, as what is around it */
        c->inside = a->draft.inside;
    for (int pass = 0; pass < 2; pass++) /* parts before what is whole */
        for (int i = 0; i < a->given->count; i++)
            if (a->sliced[i] == (pass == 0))
                inside[i] = take(a, i);
    const entity result = c->report->reported == errors ? apply(a, inside) : entity_broken(a->at);
    a->result = tree_promote(c, &result);
    bool good = a->result.kind != ENTITY_BROKEN &&
                tree_flatten(c, &a->result, &a->made, "what a function gives");
    for (size_t i = 0; i < a->made.count; i++) {
        vec_push(&a->next, a->made.items[i].value);
        vec_push(&a->results, ir_value_get(c->m, a->made.items[i].value)->type);
    }
    region_leave(c, &a->draft);
    return good && c->report->reported == errors;
}

/* ---- behind it ---- */

ir_op applied_build(applied *a, const applied_request *q) {
    checker *c = a->c;
    value_list operands = {0}, next = {0};
    type_list results = {0};
    for (size_t i = 0; q->before && i < q->before->count; i++)
        vec_push(&operands, q->before->items[i]);
    for (size_t i = 0; i < a->tensors.count; i++)
        vec_push(&operands, a->tensors.items[i].value);
    for (size_t i = 0; i < a->next.count; i++) {
        vec_push(&next, a->next.items[i]);
        vec_push(&results, a->results.items[i]);
    }
    const size_t own = results.count;
    if (a->batched)
        observed_stack(c, &a->draft, a->sliced_count, &next, &results);
    else
        observed_hand_out(c, &a->draft, &next, &results);
    const size_t seen = results.count - own;
    for (size_t i = 0; q->behind && i < q->behind->count; i++)
        vec_push(&results, q->behind->items[i]);
    value_list blocks[] = {next, {0}};
    if (a->rule)
        blocks[1] = *a->rule;
    const region_request request = {.opcode = q->opcode,
                                    .operands = &operands,
                                    .next = blocks,
                                    .results = results.items,
                                    .result_count = (uint32_t)results.count,
                                    .attrs = q->attrs,
                                    .attr_count = q->attr_count};
    ir_op op = region_build(c, &a->draft, &request);
    if (op)
        observed_take(c, op, own);
    a->seen = (uint32_t)seen;
    vec_release(&operands);
    vec_release(&next);
    vec_release(&results);
    return op;
}

entity applied_result(applied *a, const entity *like, const ir_value **next) {
    return tree_rebuild(a->c, like, next, a->at);
}

entity applied_checkpoint(applied *a, const char *keep) {
    const ir_named_attr attr = {"keep", ir_attr_string(a->c->m, keep)};
    ir_op op = applied_build(
        a, &(applied_request){.opcode = GRAPH_CHECKPOINT, .attrs = &attr, .attr_count = 1});
    const ir_value *next = ir_op_get(a->c->m, op)->results;
    return applied_result(a, &a->result, &next);
}

void applied_release(applied *a) {
    vec_release(&a->tensors);
    vec_release(&a->made);
    vec_release(&a->next);
    vec_release(&a->results);
}
