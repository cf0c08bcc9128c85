/* call.c - a kernel of tiles that is called: its program instances stand where the call stands,
 * with the first values of its space. */
#include "check/modules.h"
#include "check/tiles/tiles.h"

/* A constant of the kernel: the call's, or the kernel's own. */
static bool define_constant(checker *c, const ast_parameter *p, const call_arguments *a, int i) {
    const entity *e = &a->values[i];
    if (!a->given[i])
        return kernel_define_constant(c, p);
    bool fits = e->kind == ENTITY_NUMBER || e->kind == ENTITY_BOOL || e->kind == ENTITY_TYPE;
    if (!fits && e->kind != ENTITY_BROKEN)
        diagnose_error(c->report, ERROR_ARGUMENT_KIND, e->at,
                       "'%s' is a constant of a kernel of tiles, not %s", p->name,
                       entity_describe(e));
    scope_define(c, p->name, *e, p->at, NULL);
    return fits;
}

/* Dimensions and types are those of what is given; then all of it must fit. */
static bool define_head(checker *c, const kernel_interface *k, call_arguments *a) {
    const ast_function *f = k->function;
    bool good = true;
    for (int pass = 0; pass < 2; pass++)
        for (uint32_t i = 0, count = 0; i < f->parameter_count && good; i++) {
            if (f->parameters[i].keyword_only) {
                good = pass || define_constant(c, &f->parameters[i], a, (int)i);
                continue;
            }
            const value_type type = {.kind = VALUE_TENSOR,
                                     .at = f->parameters[i].annotation->at,
                                     .tensor = k->parameters[count++]};
            if (pass == 0)
                value_type_bind(c, &type, &a->values[i]);
            else
                good = value_type_fit(
                    c, &type, &a->values[i],
                    arena_printf(&c->memory, "'%s' of %s()", f->parameters[i].name, f->name));
        }
    return good;
}

/* Kernels of tiles may use the names of dimensions again. */
static void free_names(checker *c, const kernel_interface *k) {
    for (uint32_t i = 0; i < k->symbol_count; i++) {
        const local_name *own = scope_find_own(c, k->symbols[i].name);
        if (own)
            scope_define(c, k->symbols[i].name, own->value, own->at, NULL);
    }
}

/* The block's arguments have the names of the parameters. */
static bool define_inside(checker *c, const kernel_interface *k, const call_arguments *a) {
    const ast_function *f = k->function;
    ir_value *given = ARENA_NEW(&c->memory, ir_value, f->parameter_count + 1);
    uint32_t count = 0;
    bool good = true;
    for (uint32_t i = 0; i < f->parameter_count && good; i++) {
        if (f->parameters[i].keyword_only)
            continue;
        const annotation *own = &k->parameters[count];
        const ir_type type = ir_value_get(c->m, a->values[i].value)->type;
        ir_value v = ir_block_add_argument(c->m, c->builder.block, type, NULL);
        entity e = entity_tensor(v, a->values[i].at);
        e.kind = own->in_tiles ? ENTITY_MEMORY : ENTITY_TENSOR;
        given[count++] = a->values[i].value;
        good = policy_parameter(c, v, ir_type_get(c->m, type)->element, &own->policies);
        scope_define(c, f->parameters[i].name, e, f->parameters[i].at,
                     own->in_tiles ? "a tensor in memory" : NULL);
    }
    ir_op_set_operands(c->m, c->tiles->op, given, count);
    free_names(c, k);
    kernel_define_records(c);
    return good;
}

/* The tiles that an instance returns, or has stored. */
static bool find_tiles(checker *c, const kernel_interface *k, entity *values) {
    const ast_function *f = k->function;
    if (k->store_count) {
        const uint32_t before = c->report->reported;
        tiles_define_outputs(c);
        for (uint32_t i = 0; i < f->body_count; i++)
            check_statement(c, f->body[i]);
        return c->report->reported == before && tiles_stored(c, values);
    }
    const node *end = check_until_return(c, f);
    const entity e = end && end->left ? check_expression(c, end->left) : entity_broken(f->at);
    const bool several = e.kind == ENTITY_TUPLE;
    if (e.kind == ENTITY_BROKEN || (several ? e.count : 1) != k->result_count)
        return false; /* the kernel's own check says it */
    bool good = true;
    for (uint32_t i = 0; i < k->result_count && good; i++) {
        values[i] = several ? e.items[i] : e;
        good = argument_tensor(c, &values[i], "a returned value");
    }
    return good;
}

static entity results_of(checker *c, const ir_value *values, uint32_t count, span at) {
    if (count == 1)
        return entity_tensor(values[0], at);
    entity e = entity_tuple(c, count, at);
    for (uint32_t i = 0; i < count; i++)
        e.items[i] = entity_tensor(values[i], at);
    return e;
}

entity tiles_called(checker *c, const callable *f, call_arguments *a) {
    const kernel_interface *k = f->of_tiles;
    const compiler_case *given = c->given;
    const ir_builder around = c->builder;
    entity *tiles = ARENA_NEW(&c->memory, entity, k->result_count + 1);
    ir_value *results = ARENA_NEW(&c->memory, ir_value, k->result_count + 1);
    c->caller = c->kernel;
    c->kernel = k;
    c->given = NULL;
    c->builder.location = checker_location(c, a->at);
    bool good = define_head(c, k, a) && tiles_begin(c) && define_inside(c, k, a) &&
                find_tiles(c, k, tiles) && tiles_return(c, tiles, k->result_count, results);
    c->kernel = c->caller;
    c->caller = NULL;
    c->given = given;
    c->tiles = NULL;
    c->builder = around;
    return good ? results_of(c, results, k->result_count, a->at) : entity_broken(a->at);
}
