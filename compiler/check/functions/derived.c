/* derived.c - functions of elements that are written with comparisons and selections:
 * clip, sign, isnan and isfinite (docs/numerics.md, "Functions that stand for others"). */
#include "check/check.h"

static entity chosen(checker *c, const entity *condition, const entity *x, const entity *y,
                     span at) {
    entity operands[] = {*condition, *x, *y};
    return emit_elementwise(c, GRAPH_SELECT, operands, 3, NULL, 0, at);
}

static bool refuse_element(checker *c, const call_arguments *a, const char *wanted) {
    diagnose_error(c->report, ERROR_OPERATION_ELEMENTS, a->at, "%s: needs %s, not %s", a->function,
                   wanted, dtype_name(tensor_type(c, &a->values[0])->element));
    note_tensor(c, &a->values[0]);
    return false;
}

static bool takes_numbers(checker *c, const call_arguments *a) {
    return argument_tensor(c, &a->values[0], "x") &&
           (tensor_type(c, &a->values[0])->element != DTYPE_BOOL ||
            refuse_element(c, a, "numbers"));
}

bool takes_floats(checker *c, const call_arguments *a) {
    return argument_tensor(c, &a->values[0], "x") &&
           (dtype_is_float(tensor_type(c, &a->values[0])->element) ||
            refuse_element(c, a, "a float type"));
}

entity special_clip(checker *c, const call_arguments *a) {
    if (!takes_numbers(c, a))
        return entity_broken(a->at);
    entity low[] = {a->values[0], a->values[1]};
    entity high[] = {emit_elementwise(c, GRAPH_MAXIMUM, low, 2, NULL, 0, a->at), a->values[2]};
    return emit_elementwise(c, GRAPH_MINIMUM, high, 2, NULL, 0, a->at);
}

/* Keeps x that is neither above nor below 0: zeros of both signs, and NaN. */
entity special_sign(checker *c, const call_arguments *a) {
    const entity *x = &a->values[0];
    if (!takes_numbers(c, a))
        return entity_broken(a->at);
    entity zero = entity_integer(c, 0, a->at), one = entity_integer(c, 1, a->at),
           minus = entity_integer(c, -1, a->at);
    entity above = emit_compare(c, "gt", x, &zero, a->at), rest = *x;
    if (!dtype_is_unsigned(tensor_type(c, x)->element)) {
        entity below = emit_compare(c, "lt", x, &zero, a->at);
        rest = chosen(c, &below, &minus, x, a->at);
    }
    return chosen(c, &above, &one, &rest, a->at);
}

entity special_isnan(checker *c, const call_arguments *a) {
    const entity *x = &a->values[0];
    return takes_floats(c, a) ? emit_compare(c, "ne", x, x, a->at) : entity_broken(a->at);
}

/* Below infinity in magnitude; in a type without infinities, whatever is no NaN. */
entity special_isfinite(checker *c, const call_arguments *a) {
    const entity *x = &a->values[0];
    if (!takes_floats(c, a))
        return entity_broken(a->at);
    if (!dtype_format_of(tensor_type(c, x)->element)->infinity)
        return emit_compare(c, "eq", x, x, a->at);
    entity magnitude = emit_one(c, GRAPH_ABS, x, 1, NULL, 0, a->at);
    entity infinity = {.kind = ENTITY_NUMBER, .at = a->at, .text = "inf"};
    return emit_compare(c, "lt", &magnitude, &infinity, a->at);
}
