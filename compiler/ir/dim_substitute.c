/* dim_substitute.c - dimensions with numbers for some of their symbols. */
#include <string.h>

#include "ir/dim.h"

typedef struct substitution {
    ir_module *m;
    ir_bindings known;
    VEC(ir_dim) built; /* a handle is a place in it and one */
} substitution;

static uint32_t keep(substitution *s, ir_dim d) {
    if (d == IR_DIM_INVALID)
        return 0;
    vec_push(&s->built, d);
    return (uint32_t)s->built.count;
}

static uint32_t constant(void *context, int64_t value) {
    return keep(context, value);
}

static uint32_t symbol(void *context, const char *name) {
    substitution *s = context;
    for (uint32_t i = 0; i < s->known.count; i++)
        if (strcmp(s->known.items[i].name, name) == 0)
            return keep(s, s->known.items[i].value);
    return keep(s, ir_dim_symbol(s->m, name));
}

static uint32_t combine(void *context, char operation, uint32_t x, uint32_t y) {
    substitution *s = context;
    if (!x || !y)
        return 0;
    ir_dim a = s->built.items[x - 1], b = s->built.items[y - 1];
    if (operation == '*')
        return keep(s, ir_dim_add_scaled(s->m, 0, a, b));
    if (operation == '+')
        return keep(s, ir_dim_add_scaled(s->m, a, b, 1));
    if (operation == '<')
        return keep(s, ir_dim_least(s->m, a, b));
    if (ir_dim_is_static(a) && ir_dim_is_static(b) && b > 0)
        return keep(s, a / b - (a % b < 0));
    return keep(s, b == 0 ? IR_DIM_INVALID : ir_dim_floordiv(s->m, a, b));
}

ir_dim ir_dim_substitute(ir_module *m, ir_dim d, ir_bindings known) {
    substitution s = {.m = m, .known = known};
    ir_dim_fold fold = {&s, constant, symbol, combine};
    uint32_t handle = ir_dim_is_static(d) ? keep(&s, d) : ir_dim_fold_with(m, d, &fold);
    ir_dim out = handle ? s.built.items[handle - 1] : IR_DIM_INVALID;
    vec_release(&s.built);
    return out;
}
