/* integers.c - operators of integers that are written with others: // and %
 * (docs/numerics.md, "Functions that stand for others"). */
#include "check/check.h"

typedef struct division {
    checker *c;
    span at;
    entity x, y;
    bool natural;          /* no operand is below 0: rounding down is rounding toward zero */
    entity quotient, rest; /* toward zero, and x - quotient * y */
} division;

static entity combine(const division *d, int opcode, const entity *a, const entity *b) {
    entity operands[] = {*a, *b};
    return emit_elementwise(d->c, opcode, operands, 2, NULL, 0, d->at);
}

static entity against_zero(const division *d, const char *predicate, const entity *x) {
    entity zero = entity_integer(d->c, 0, d->at);
    return emit_compare(d->c, predicate, x, &zero, d->at);
}

static entity chosen(const division *d, const entity *condition, const entity *a, const entity *b) {
    entity operands[] = {*condition, *a, *b};
    return emit_elementwise(d->c, GRAPH_SELECT, operands, 3, NULL, 0, d->at);
}

/* Holds where the quotient was rounded up: where the rest has the other sign than y. No rest of a
 * division by 0 has. */
static entity rounded_up(const division *d) {
    if (d->y.kind != ENTITY_TENSOR)
        return against_zero(d, d->y.integer < 0 ? "gt" : "lt", &d->rest);
    entity y_above = against_zero(d, "gt", &d->y), y_below = against_zero(d, "lt", &d->y),
           below = against_zero(d, "lt", &d->rest), above = against_zero(d, "gt", &d->rest);
    entity one = combine(d, GRAPH_AND, &y_above, &below),
           other = combine(d, GRAPH_AND, &y_below, &above);
    return combine(d, GRAPH_OR, &one, &other);
}

static entity floor_quotient(const division *d) {
    if (d->natural)
        return d->quotient;
    entity up = rounded_up(d), one = entity_integer(d->c, 1, d->at);
    entity lower = combine(d, GRAPH_SUB, &d->quotient, &one);
    return chosen(d, &up, &lower, &d->quotient);
}

static entity raised_remainder(const division *d) {
    entity up = rounded_up(d), moved = combine(d, GRAPH_ADD, &d->rest, &d->y);
    return chosen(d, &up, &moved, &d->rest);
}

static entity floor_remainder(const division *d) {
    entity out = d->natural ? d->rest : raised_remainder(d);
    if (d->y.kind != ENTITY_TENSOR)
        return out;
    entity none = against_zero(d, "eq", &d->y), zero = entity_integer(d->c, 0, d->at);
    return chosen(d, &none, &zero, &out);
}

static bool takes_integers(checker *c, const char *symbol, const entity *x, const char *instead,
                           span at) {
    dtype element = tensor_type(c, x)->element;
    if (!dtype_is_float(element) && element != DTYPE_BOOL)
        return true;
    diagnose_error(c->report, ERROR_OPERATOR_OPERANDS, at, "'%s' does not act on %s elements",
                   symbol, dtype_name(element));
    note_tensor(c, x);
    diagnose_help(c->report, "%s", element == DTYPE_BOOL ? "write cast(x, i32)" : instead);
    return false;
}

entity integer_division(checker *c, bool remainder, const entity *x, const entity *y, span at) {
    division d = {.c = c, .at = at, .x = *x, .y = *y};
    const char *instead = remainder ? "write x - floor(x / y) * y, which rounds three times"
                                    : "write floor(x / y), which rounds x / y first";
    if (!takes_integers(c, remainder ? "%" : "//", x->kind == ENTITY_TENSOR ? x : y, instead, at))
        return entity_broken(at);
    d.natural = dtype_is_unsigned(tensor_type(c, x->kind == ENTITY_TENSOR ? x : y)->element);
    d.quotient = combine(&d, GRAPH_DIV, &d.x, &d.y);
    if (d.quotient.kind == ENTITY_BROKEN)
        return d.quotient;
    if (remainder && y->kind != ENTITY_TENSOR && y->integer == 0)
        return d.quotient;
    entity whole = combine(&d, GRAPH_MUL, &d.quotient, &d.y);
    d.rest = combine(&d, GRAPH_SUB, &d.x, &whole);
    return remainder ? floor_remainder(&d) : floor_quotient(&d);
}
