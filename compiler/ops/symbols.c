/* symbols.c - the dimensions that a launch gives, and what they must be. */
#include "ops/symbols.h"

#include <stdarg.h>
#include <stdio.h>
#include <string.h>

#include "base/vec.h"
#include "ops/graph.h"

/* ---- names ---- */

typedef VEC(const char *) name_list;

static uint32_t note_constant(void *context, int64_t value) {
    (void)context, (void)value;
    return 1;
}

static uint32_t note_symbol(void *context, const char *name) {
    name_list *names = context;
    for (size_t i = 0; i < names->count; i++)
        if (strcmp(names->items[i], name) == 0)
            return 1;
    vec_push(names, name);
    return 1;
}

static uint32_t note_combined(void *context, char operation, uint32_t x, uint32_t y) {
    (void)context, (void)operation, (void)x, (void)y;
    return 1;
}

static void note_shape(ir_module *g, ir_value v, const ir_dim_fold *fold) {
    const ir_type_data *t = ir_type_of(g, v);
    for (int k = 0; k < t->rank; k++)
        ir_dim_fold_with(g, t->dims[k], fold);
}

ir_attr symbols_names(ir_module *m, ir_module *g) {
    const ir_block_data *body = ir_kernel_body(g);
    name_list names = {0};
    VEC(ir_attr) attrs = {0};
    const ir_dim_fold fold = {&names, note_constant, note_symbol, note_combined};
    for (uint32_t i = 0; i < body->argument_count; i++)
        note_shape(g, body->arguments[i], &fold);
    const ir_op_data *returned = ir_op_get(g, body->last);
    for (uint32_t i = 0; i < returned->operand_count; i++)
        note_shape(g, returned->operands[i], &fold);
    for (size_t i = 0; i < names.count; i++) {
        ir_attr name = ir_attr_string(m, names.items[i]);
        vec_push(&attrs, name);
    }
    ir_attr list = ir_attr_array(m, attrs.items, (uint32_t)attrs.count);
    vec_release(&names);
    vec_release(&attrs);
    return list;
}

/* ---- constraints ---- */

typedef struct constraints {
    ir_module *g, *m;
    VEC(ir_attr) list;
    status *st;
    bool failed;
} constraints;

static void refuse(constraints *s, const char *format, ...) __attribute__((format(printf, 2, 3)));

static void refuse(constraints *s, const char *format, ...) {
    char message[512];
    va_list args;
    va_start(args, format);
    vsnprintf(message, sizeof message, format, args);
    va_end(args);
    if (!s->failed)
        status_set(s->st, STATUS_INVALID, "%s", message);
    s->failed = true;
}

static ir_attr formula(constraints *s, ir_dim dim) {
    if (dim == IR_DIM_INVALID)
        refuse(s, "a formula of the dimensions is too long for a kernel of any size");
    return ir_attr_string(s->m, dim == IR_DIM_INVALID ? "0" : ir_dim_text(s->g, dim));
}

static void add_constraint(constraints *s, ir_attr what_is_not_negative, const char *what) {
    static const char *const keys[] = {"formula", "what"};
    ir_attr values[] = {what_is_not_negative, ir_attr_string(s->m, what)};
    ir_attr constraint = ir_attr_dict(s->m, keys, values, 2);
    for (size_t i = 0; i < s->list.count; i++)
        if (s->list.items[i] == constraint)
            return;
    vec_push(&s->list, constraint);
}

static void constrain(constraints *s, ir_dim dim, const char *format, ...)
    __attribute__((format(printf, 3, 4)));

static void constrain(constraints *s, ir_dim dim, const char *format, ...) {
    char what[256];
    va_list args;
    va_start(args, format);
    vsnprintf(what, sizeof what, format, args);
    va_end(args);
    if (ir_dim_is_static(dim))
        return;
    add_constraint(s, formula(s, dim), what);
}

/* ---- divisors: a formula's parts as texts ---- */

typedef struct divisor_search {
    constraints *s;
    VEC(const char *) texts; /* by handle, from 1 */
} divisor_search;

static uint32_t note(divisor_search *d, const char *words) {
    vec_push(&d->texts, words);
    return (uint32_t)d->texts.count;
}

static uint32_t divisor_constant(void *context, int64_t value) {
    divisor_search *d = context;
    const char *format = value < 0 ? "(%lld)" : "%lld";
    return note(d, arena_printf(ir_module_arena(d->s->m), format, (long long)value));
}

static uint32_t divisor_symbol(void *context, const char *name) {
    return note(context, name);
}

/* Divisors that are no numbers must be 1 or more: code divides no index by anything else. */
static uint32_t divisor_combined(void *context, char operation, uint32_t x, uint32_t y) {
    divisor_search *d = context;
    arena *memory = ir_module_arena(d->s->m);
    const char *a = d->texts.items[x - 1], *b = d->texts.items[y - 1];
    if (operation != '/')
        return note(d, arena_printf(memory, "(%s %c %s)", a, operation, b));
    if (*b < '0' || *b > '9') {
        const char *beyond = arena_printf(memory, "%s - 1", b);
        add_constraint(d->s, ir_attr_string(d->s->m, beyond),
                       arena_printf(memory, "a divisor of dimensions is positive: %s >= 1", b));
    }
    return note(d, arena_printf(memory, "floordiv(%s, %s)", a, b));
}

static void constrain_divisors(constraints *s, ir_dim dim) {
    divisor_search d = {.s = s};
    const ir_dim_fold fold = {&d, divisor_constant, divisor_symbol, divisor_combined};
    ir_dim_fold_with(s->g, dim, &fold);
    vec_release(&d.texts);
}

static void constrain_dim(constraints *s, ir_dim dim) {
    if (ir_dim_is_static(dim))
        return;
    constrain(s, dim, "a dimension is not negative: %s", ir_dim_text(s->g, dim));
    constrain_divisors(s, dim);
}

static void constrain_type(constraints *s, ir_value v) {
    const ir_type_data *t = ir_type_of(s->g, v);
    for (int k = 0; k < t->rank; k++)
        constrain_dim(s, t->dims[k]);
}

/* Constrains what is beyond `least`: a formula that is not negative where that holds. Differences
 * that are negative numbers already cannot hold. */
static void at_least(constraints *s, ir_dim dim, ir_dim least, const char *what) {
    ir_dim beyond = ir_dim_sub(s->g, dim, least);
    if (beyond == IR_DIM_INVALID)
        refuse(s, "%s: %s is less than %s", what, ir_dim_text(s->g, dim), ir_dim_text(s->g, least));
    else
        constrain(s, beyond, "%s: %s >= %s", what, ir_dim_text(s->g, dim),
                  ir_dim_text(s->g, least));
}

static void constrain_slice(constraints *s, ir_op op) {
    const ir_type_data *x = ir_type_of(s->g, ir_op_get(s->g, op)->operands[0]);
    const ir_attr_data *start = ir_attr_get(s->g, ir_op_attr(s->g, op, "start"));
    const ir_attr_data *stop = ir_attr_get(s->g, ir_op_attr(s->g, op, "stop"));
    const ir_attr_data *step = ir_attr_get(s->g, ir_op_attr(s->g, op, "step"));
    for (int i = 0; i < x->rank; i++) {
        ir_dim from = ir_attr_get(s->g, start->items[i])->integer;
        ir_dim to = ir_attr_get(s->g, stop->items[i])->integer;
        ir_dim by = ir_attr_get(s->g, step->items[i])->integer;
        if (!ir_dim_is_static(by))
            at_least(s, by, 1, "a slice goes forward");
        if (to != x->dims[i])
            at_least(s, x->dims[i], to, "a slice ends inside its tensor");
        at_least(s, to, from, "a slice ends behind its start");
    }
}

static ir_dim count_of(constraints *s, ir_value v) {
    const ir_type_data *t = ir_type_of(s->g, v);
    ir_dim count = 1;
    for (int i = 0; i < t->rank; i++)
        count = ir_dim_mul(s->g, count, t->dims[i]);
    return count;
}

/* Nothing can be taken from an empty axis, unless nothing is: (axis - 1) * results is not negative.
 */
static void constrain_gather(constraints *s, ir_op op) {
    const ir_op_data *d = ir_op_get(s->g, op);
    ir_dim axis = ir_type_of(s->g, d->operands[0])->dims[ir_op_int(s->g, op, "axis", 0)];
    ir_dim results = count_of(s, d->results[0]);
    if (!ir_dim_is_static(axis))
        constrain(s, ir_dim_sub(s->g, ir_dim_mul(s->g, axis, results), results),
                  "there is something to take from: %s >= 1", ir_dim_text(s->g, axis));
}

/* Blocks of blocks of blocks, and no deeper. */
static void constrain_reduce(constraints *s, ir_op op) {
    int64_t axes[IR_MAX_RANK] = {0};
    ir_op_ints(s->g, op, "axes", axes, IR_MAX_RANK);
    ir_dim length = ir_type_of(s->g, ir_op_get(s->g, op)->operands[0])->dims[axes[0]];
    ir_dim room = ir_dim_sub(s->g, INT64_C(1) << 36, length);
    if (room != IR_DIM_INVALID)
        constrain(s, room, "a reduction takes at most 2^36 elements, not %s",
                  ir_dim_text(s->g, length));
}

static void constrain_op(constraints *s, ir_op op) {
    const ir_op_data *d = ir_op_get(s->g, op);
    for (uint32_t i = 0; i < d->result_count; i++)
        constrain_type(s, d->results[i]);
    if (d->opcode == GRAPH_SLICE)
        constrain_slice(s, op);
    if (d->opcode == GRAPH_GATHER)
        constrain_gather(s, op);
    if (d->opcode == GRAPH_REDUCE)
        constrain_reduce(s, op);
    if (d->opcode == GRAPH_ARGSORT)
        at_least(s, INT32_MAX,
                 ir_type_of(s->g, d->operands[0])->dims[ir_op_int(s->g, op, "axis", 0)],
                 "the positions along an axis are i32");
    if (d->opcode == GRAPH_EXTENT) {
        const ir_attr_data *of = ir_attr_get(s->g, ir_op_attr(s->g, op, "of"));
        constrain_dim(s, ir_attr_get(s->g, of->items[0])->integer);
        at_least(s, INT32_MAX, ir_attr_get(s->g, of->items[0])->integer,
                 "a length that is computed with is an i32");
    }
}

ir_attr symbols_constraints(ir_module *m, ir_module *g, status *st) {
    constraints s = {.g = g, .m = m, .st = st};
    const ir_block_data *body = ir_kernel_body(g);
    for (uint32_t i = 0; i < body->argument_count; i++)
        constrain_type(&s, body->arguments[i]);
    for (ir_op op = body->first; op; op = ir_op_get(g, op)->next)
        constrain_op(&s, op);
    ir_attr list = s.failed ? 0 : ir_attr_array(m, s.list.items, (uint32_t)s.list.count);
    vec_release(&s.list);
    return list;
}
