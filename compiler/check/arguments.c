/* arguments.c - what a call was given: placing arguments by position and name, and reading values
 * out of them. */
#include <string.h>

#include "check/check.h"

/* ---- reading ---- */

static bool expected(checker *c, const entity *e, const char *what) {
    if (e->kind != ENTITY_BROKEN) {
        diagnose_error(c->report, ERROR_ARGUMENT_KIND, e->at, "expected %s, not %s", what,
                       entity_describe(e));
    }
    return false;
}

bool argument_tensor(checker *c, const entity *e, const char *what) {
    if (e->kind == ENTITY_TENSOR)
        return true;
    if (e->kind != ENTITY_BROKEN) {
        diagnose_error(c->report, ERROR_ARGUMENT_KIND, e->at, "%s must be a tensor, not %s", what,
                       entity_describe(e));
    }
    return false;
}

bool argument_int(checker *c, const entity *e, const char *what, int64_t *out) {
    *out = e->integer;
    return (e->kind == ENTITY_NUMBER && e->is_integer) ||
           expected(c, e, arena_printf(&c->memory, "%s: an integer", what));
}

bool argument_bool(checker *c, const entity *e, const char *what, bool *out) {
    *out = e->integer != 0;
    return e->kind == ENTITY_BOOL ||
           expected(c, e, arena_printf(&c->memory, "%s: True or False", what));
}

bool argument_type(checker *c, const entity *e, dtype *out) {
    *out = e->type;
    if (e->kind == ENTITY_TYPE && e->policies) {
        diagnose_error(c->report, ERROR_POLICY_EFFECT, e->at, "a policy has no effect here");
        diagnose_help(c->report, "policies belong to cast() and to annotations");
        return false;
    }
    return e->kind == ENTITY_TYPE || expected(c, e, "an element type, such as f32");
}

bool argument_dim(checker *c, const entity *e, ir_dim *out) {
    *out = e->kind == ENTITY_DIM ? e->dim : e->integer;
    if (e->kind == ENTITY_DIM || (e->kind == ENTITY_NUMBER && e->is_integer && e->integer >= 0))
        return true;
    if (e->kind == ENTITY_NUMBER && e->is_integer) {
        diagnose_error(c->report, ERROR_DIMENSION_RANGE, e->at, "a dimension cannot be negative");
        return false;
    }
    return expected(c, e, "a dimension: an integer or a name such as M");
}

bool argument_shape(checker *c, const entity *e, ir_dim *dims, int *rank) {
    if (e->kind != ENTITY_TUPLE) {
        *rank = 1;
        return argument_dim(c, e, dims);
    }
    if (e->count > IR_MAX_RANK) {
        diagnose_error(c->report, ERROR_RANK_LIMIT, e->at, "a tensor has at most %d dimensions",
                       IR_MAX_RANK);
        return false;
    }
    *rank = (int)e->count;
    for (uint32_t i = 0; i < e->count; i++)
        if (!argument_dim(c, &e->items[i], &dims[i]))
            return false;
    return true;
}

bool argument_axis(checker *c, const entity *e, int rank, int64_t *out) {
    if (!argument_int(c, e, "an axis", out))
        return false;
    if (*out < -rank || *out >= rank) {
        diagnose_error(c->report, ERROR_AXIS_RANGE, e->at,
                       "axis %lld is outside of a tensor of rank %d", (long long)*out, rank);
        return false;
    }
    *out += *out < 0 ? rank : 0;
    return true;
}

bool argument_axes(checker *c, const entity *e, int rank, int64_t *out, int *count) {
    *count = e->kind == ENTITY_NONE ? rank : 1;
    for (int i = 0; e->kind == ENTITY_NONE && i < rank; i++)
        out[i] = i;
    if (e->kind == ENTITY_NONE || e->kind != ENTITY_TUPLE)
        return e->kind == ENTITY_NONE || argument_axis(c, e, rank, out);
    if (e->count > IR_MAX_RANK) {
        diagnose_error(c->report, ERROR_AXIS_RANGE, e->at, "too many axes");
        return false;
    }
    *count = (int)e->count;
    for (uint32_t i = 0; i < e->count; i++) {
        if (!argument_axis(c, &e->items[i], rank, &out[i]))
            return false;
        for (uint32_t k = 0; k < i; k++) {
            if (out[k] == out[i]) {
                diagnose_error(c->report, ERROR_DUPLICATE_AXIS, e->items[i].at,
                               "axis %lld appears twice", (long long)out[i]);
                return false;
            }
        }
    }
    return true;
}

bool argument_function(checker *c, const entity *e) {
    if (e->kind == ENTITY_FUNCTION)
        return true;
    if (e->kind != ENTITY_BROKEN) {
        diagnose_error(c->report, ERROR_ARGUMENT_KIND, e->at, "expected a function, not %s",
                       entity_describe(e));
        diagnose_help(c->report, "define one beside the kernel, and write its name here");
    }
    return false;
}

/* ---- placing ---- */

static void show_signature(checker *c, const call_arguments *a) {
    diagnose_help(c->report, "%s(%s)", a->function, a->signature);
}

static int find_parameter(const call_arguments *a, const char *name) {
    for (int i = 0; i < a->count; i++)
        if (strcmp(a->names[i], name) == 0)
            return i;
    return -1;
}

static bool unknown_keyword(checker *c, const call_arguments *a, const node *n) {
    const char *known[CALL_MAX_ARGUMENTS];
    for (int i = 0; i < a->count; i++)
        known[i] = a->names[i];
    diagnose_error(c->report, ERROR_UNKNOWN_ARGUMENT, n->symbol_at, "%s() has no argument '%.60s'",
                   a->function, n->text);
    diagnose_nearest(c->report, n->text, known, (size_t)a->count);
    show_signature(c, a);
    return false;
}

/* The argument at a position; a->count past the last. */
static int at_position(const call_arguments *a, int position) {
    int index = 0;
    while (index < a->count && (a->keyword_only[index] || position-- > 0))
        index++;
    return index;
}

static bool place(checker *c, call_arguments *a, const node *n, int position) {
    bool named = n->kind == NODE_KEYWORD;
    int index = named ? find_parameter(a, n->text) : at_position(a, position);
    if (index < 0)
        return unknown_keyword(c, a, n);
    if (index >= a->count) {
        diagnose_error(c->report, ERROR_ARGUMENT_COUNT, n->at, "too many arguments for %s()",
                       a->function);
        show_signature(c, a);
        return false;
    }
    if (a->given[index]) {
        diagnose_error(c->report, ERROR_DUPLICATE_ARGUMENT, n->at, "argument '%s' is given twice",
                       a->names[index]);
        if (strcmp(a->names[0], "xs") == 0)
            diagnose_help(c->report, "%s() takes one list: %s([x, y], axis=0)", a->function,
                          a->function);
        return false;
    }
    a->given[index] = true;
    a->values[index] = check_expression(c, named ? n->left : n);
    return a->values[index].kind != ENTITY_BROKEN;
}

bool bind_arguments(checker *c, const node *call, call_arguments *a) {
    const uint32_t own = c->settings.of_call;
    bool good = true;
    c->settings.of_call = 0; /* those of the arguments have their own */
    for (int i = 0; i < a->count; i++)
        a->values[i] = (entity){.kind = ENTITY_NONE, .at = call->at};
    for (uint32_t i = 0; i < call->count; i++)
        good &= place(c, a, call->items[i], (int)i);
    for (int i = 0; good && i < a->count; i++) {
        if (a->required[i] && !a->given[i]) {
            diagnose_error(c->report, ERROR_MISSING_ARGUMENT, call->at, "%s() needs '%s'",
                           a->function, a->names[i]);
            show_signature(c, a);
            good = false;
        }
    }
    if (own)
        c->settings.now = own;
    return good;
}
