/* policy.c - what policies do: to casts, to annotated values, and to the dots and sums of values
 * that carry them. */
#include <string.h>

#include "check/check.h"

/* ---- what a value carries ---- */

/* Data movement hands on what its operand carries. */
static value_policy *carried_by(checker *c, ir_value v) {
    for (;;) {
        for (size_t i = 0; i < c->policies.count; i++) {
            value_policy *p = &c->policies.items[i];
            if (p->value == v)
                return p->same_as ? &c->policies.items[p->same_as - 1] : p;
        }
        ir_op op = ir_value_get(c->m, v)->op;
        int opcode = op ? ir_op_get(c->m, op)->opcode : -1;
        if (!op || (graph_op_class(opcode) != GRAPH_CLASS_MOVE && opcode != GRAPH_LOAD))
            return NULL;
        v = ir_op_get(c->m, op)->operands[0];
    }
}

static int scale_of(checker *c, ir_value v) {
    const value_policy *p = carried_by(c, v);
    return p ? p->scale_log2 : 0;
}

static void carry(checker *c, ir_value v, const policy_set *set) {
    bool accum = set->given[POLICY_ACCUM];
    value_policy p = {.value = v,
                      .scale_log2 = set->given[POLICY_LOSS_SCALE] ? set->scale_log2 : 0,
                      .accum = accum ? set->accum : DTYPE_NONE,
                      .accum_at = set->at[POLICY_ACCUM]};
    if (accum || p.scale_log2)
        vec_push(&c->policies, p);
}

void policy_hand_on(checker *c, const entity *from, const entity *to) {
    const value_policy *p = from->value == to->value ? NULL : carried_by(c, from->value);
    if (p) {
        value_policy same = {.value = to->value,
                             .accum = DTYPE_NONE,
                             .same_as = (uint32_t)(p - c->policies.items) + 1};
        vec_push(&c->policies, same);
    }
}

void policy_report_unused(checker *c) {
    for (size_t i = 0; i < c->policies.count; i++) {
        const value_policy *p = &c->policies.items[i];
        if (p->accum != DTYPE_NONE && !p->accum_used) {
            diagnose_error(c->report, ERROR_POLICY_EFFECT, p->accum_at,
                           "accum(%s) has no effect: no dot and no sum takes this tensor",
                           dtype_name(p->accum));
            diagnose_help(c->report, "it acts on operands of @, matmul(), dot() and sum()");
        }
    }
}

/* ---- which policies fit a type ---- */

static bool no_effect(checker *c, const policy_set *set, policy_kind kind, const char *why) {
    static const char *const names[POLICY_COUNT] = {"accum", "saturate", "stochastic_round",
                                                    "loss_scale"};
    diagnose_error(c->report, ERROR_POLICY_EFFECT, set->at[kind], "%s has no effect here: %s",
                   names[kind], why);
    return false;
}

static bool is_small_float(dtype t) {
    return dtype_is_narrow(t) && t != DTYPE_TF32;
}

static bool fits_type(checker *c, const policy_set *set, dtype t) {
    static const policy_kind rounding[] = {POLICY_STOCHASTIC_ROUND, POLICY_LOSS_SCALE};
    for (int i = 0; i < 2; i++) {
        if (set->given[rounding[i]] && !is_small_float(t)) {
            diagnose_error(c->report, ERROR_POLICY_TYPE, set->at[rounding[i]],
                           "%s is not a policy of %s", i ? "loss_scale" : "stochastic_round",
                           dtype_name(t));
            diagnose_help(c->report, "it is one of f16, bf16, f8e4m3fn and f8e5m2");
            return false;
        }
    }
    if (set->given[POLICY_ACCUM] && !graph_accumulates(t, set->accum)) {
        diagnose_error(c->report, ERROR_ACCUMULATOR_TYPE, set->at[POLICY_ACCUM],
                       "%s cannot accumulate in %s", dtype_name(t), dtype_name(set->accum));
        diagnose_help(c->report, "possible: %s", graph_accumulators(t));
        return false;
    }
    return true;
}

/* ---- dots and sums ---- */

static bool accumulates(checker *c, int opcode, const ir_named_attr *attrs, uint32_t count) {
    bool sum = opcode == GRAPH_DOT || opcode == GRAPH_MATMUL || opcode == GRAPH_CUMSUM;
    for (uint32_t i = 0; i < count; i++)
        if (strcmp(attrs[i].name, "kind") == 0)
            sum = strcmp(ir_attr_get(c->m, attrs[i].value)->string, "sum") == 0;
    return sum;
}

static bool refuse_scaled(checker *c, const entity *e, int scale_log2, span at) {
    diagnose_error(c->report, ERROR_SCALED_OPERAND, at, "this operand is scaled by %lld",
                   1LL << scale_log2);
    note_tensor(c, e);
    diagnose_help(c->report, "cast(..., f32) divides by it again");
    return false;
}

static bool scales_fit(checker *c, int opcode, const entity *operands, uint32_t count, span at) {
    bool moves = graph_op_class(opcode) == GRAPH_CLASS_MOVE;
    for (uint32_t i = 0; i < count; i++) {
        int scale = scale_of(c, operands[i].value);
        if (scale && !moves && opcode != GRAPH_CONVERT)
            return refuse_scaled(c, &operands[i], scale, at);
        if (opcode == GRAPH_CONCAT && scale != scale_of(c, operands[0].value)) {
            diagnose_error(c->report, ERROR_SCALES_DIFFER, at,
                           "joined tensors need the same loss_scale");
            note_tensor(c, &operands[0]);
            note_tensor(c, &operands[i]);
            return false;
        }
    }
    return true;
}

/* Parameters: the lists and place of an operation that is not built yet, as emit_op has them. */
bool policy_operands(checker *c, int opcode, const entity *operands, uint32_t count,
                     const ir_named_attr *attrs, uint32_t attr_count, dtype *accumulate, span at) {
    *accumulate = DTYPE_NONE;
    if (c->policies.count == 0)
        return true;
    if (!scales_fit(c, opcode, operands, count, at))
        return false;
    for (uint32_t i = 0; i < count && accumulates(c, opcode, attrs, attr_count); i++) {
        value_policy *p = carried_by(c, operands[i].value);
        if (!p || p->accum == DTYPE_NONE)
            continue;
        if (*accumulate != DTYPE_NONE && *accumulate != p->accum) {
            diagnose_error(c->report, ERROR_ACCUMULATORS_DIFFER, at,
                           "one operand accumulates in %s, the other in %s",
                           dtype_name(*accumulate), dtype_name(p->accum));
            note_tensor(c, &operands[0]);
            note_tensor(c, &operands[i]);
            return false;
        }
        p->accum_used = true;
        *accumulate = p->accum;
    }
    return true;
}

/* The dot or sum whose result this is, behind data movement; 0: none. */
static ir_op sum_behind(checker *c, ir_value v) {
    for (;;) {
        ir_op op = ir_value_get(c->m, v)->op;
        const ir_op_data *d = op ? ir_op_get(c->m, op) : NULL;
        if (!d || accumulates(c, d->opcode, d->attrs, d->attr_count))
            return op;
        if (graph_op_class(d->opcode) != GRAPH_CLASS_MOVE)
            return 0;
        v = d->operands[0];
    }
}

/* accum on the type of a result: the sum that made it adds so. */
static bool accumulate_result(checker *c, const entity *value, const policy_set *set) {
    ir_op op = sum_behind(c, value->value);
    if (!op) {
        no_effect(c, set, POLICY_ACCUM, "this value is not the result of a dot or a sum");
        note_tensor(c, value);
        return false;
    }
    ir_attr before = ir_op_attr(c->m, op, "accumulate");
    dtype element = ir_type_of(c->m, ir_op_get(c->m, op)->operands[0])->element;
    if (before && ir_type_get(c->m, ir_attr_get(c->m, before)->type)->element != set->accum) {
        diagnose_error(c->report, ERROR_ACCUMULATORS_DIFFER, set->at[POLICY_ACCUM],
                       "its operands accumulate in another type already");
        note_tensor(c, value);
        return false;
    }
    if (!graph_accumulates(element, set->accum)) {
        diagnose_error(c->report, ERROR_ACCUMULATOR_TYPE, set->at[POLICY_ACCUM],
                       "%s cannot accumulate in %s", dtype_name(element), dtype_name(set->accum));
        diagnose_help(c->report, "possible: %s", graph_accumulators(element));
        return false;
    }
    ir_op_set_attr(c->m, op, "accumulate", ir_attr_type(c->m, ir_type_scalar(c->m, set->accum)));
    return true;
}

/* ---- conversions ---- */

static entity plain_convert(checker *c, const entity *x, dtype to, bool saturate, span at) {
    if (tensor_type(c, x)->element == to)
        return entity_tensor(x->value, at);
    ir_named_attr attrs[] = {{"to", ir_attr_type(c->m, ir_type_scalar(c->m, to))},
                             {"saturate", ir_attr_bool(c->m, true)}};
    return emit_one(c, GRAPH_CONVERT, x, 1, attrs, saturate ? 2 : 1, at);
}

/* x * 2^log2, in f32. */
static entity scaled(checker *c, const entity *x, int log2, span at) {
    entity factor = {
        .kind = ENTITY_NUMBER, .at = at, .text = arena_printf(&c->memory, "0x1p%d", log2)};
    entity operands[] = {*x, factor};
    return emit_elementwise(c, GRAPH_MUL, operands, 2, NULL, 0, at);
}

static entity round_stochastic(checker *c, const entity *x, dtype to, const policy_set *set,
                               span at) {
    entity operands[] = {*x, emit_element_index(c, x, at)};
    if (operands[1].kind == ENTITY_BROKEN)
        return operands[1];
    ir_named_attr attrs[] = {{"to", ir_attr_type(c->m, ir_type_scalar(c->m, to))},
                             {"seed", ir_attr_int(c->m, set->seed)},
                             {"stream", ir_attr_int(c->m, c->random.streams++)},
                             {"saturate", ir_attr_bool(c->m, true)}};
    return emit_one(c, GRAPH_STOCHASTIC_ROUND, operands, 2, attrs,
                    set->given[POLICY_SATURATE] ? 4 : 3, at);
}

/* A conversion that rounds must have something to round; a scale must not be lost in f64. */
static bool source_fits(checker *c, const entity *x, dtype to, const policy_set *set) {
    dtype from = tensor_type(c, x)->element;
    bool scales = set->given[POLICY_LOSS_SCALE], draws = set->given[POLICY_STOCHASTIC_ROUND];
    if ((scales || draws) && (!dtype_is_float(from) || from == DTYPE_F64)) {
        diagnose_error(c->report, ERROR_POLICY_SOURCE,
                       set->at[draws ? POLICY_STOCHASTIC_ROUND : POLICY_LOSS_SCALE],
                       "%s works from f32, and this is %s",
                       draws ? "stochastic_round" : "loss_scale", dtype_name(from));
        note_tensor(c, x);
        diagnose_help(c->report, "cast(x, f32) first, where its rounding can be seen");
        return false;
    }
    if (draws && !scales && !scale_of(c, x->value) && dtype_holds(to, from)) {
        no_effect(c, set, POLICY_STOCHASTIC_ROUND, "the type holds every value, so nothing rounds");
        note_tensor(c, x);
        return false;
    }
    return true;
}

static bool saturates(checker *c, const entity *x, dtype to, const policy_set *set) {
    const char *why = NULL;
    if (set->given[POLICY_SATURATE] && !graph_can_saturate(tensor_type(c, x)->element, to, &why)) {
        no_effect(c, set, POLICY_SATURATE, why);
        note_tensor(c, x);
        return false;
    }
    return true;
}

entity policy_convert(checker *c, const entity *x, dtype to, const policy_set *set, span at) {
    static const policy_set none = {.accum = DTYPE_NONE};
    entity y = *x;
    set = set ? set : &none;
    int scale = set->given[POLICY_LOSS_SCALE] ? set->scale_log2 : 0, from = scale_of(c, x->value);
    if (!fits_type(c, set, to) || !source_fits(c, x, to, set))
        return entity_broken(at);
    bool draws = set->given[POLICY_STOCHASTIC_ROUND];
    if (from || scale || draws) /* all of that is done in f32 */
        y = plain_convert(c, &y, DTYPE_F32, false, at);
    if (from != scale && y.kind == ENTITY_TENSOR)
        y = scaled(c, &y, scale - from, at);
    if (y.kind == ENTITY_BROKEN || !saturates(c, &y, to, set))
        return entity_broken(at);
    bool same = tensor_type(c, &y)->element == to;
    y = draws ? round_stochastic(c, &y, to, set, at)
              : plain_convert(c, &y, to, set->given[POLICY_SATURATE], at);
    if (same && y.value == x->value && set->given[POLICY_ACCUM]) {
        diagnose_error(c->report, ERROR_POLICY_EFFECT, at,
                       "this cast converts nothing: the value is %s already", dtype_name(to));
        note_tensor(c, x);
        const char *policy = arena_printf(&c->memory, " @ accum(%s)", dtype_name(set->accum));
        if (ir_value_get(c->m, x->value)->op) {
            diagnose_help(c->report,
                          "write it where the sum's result is annotated: total: Tensor[..., %s%s] "
                          "= sum(x)",
                          dtype_name(to), policy);
        } else {
            diagnose_help(c->report, "write it where the parameter is annotated: %s",
                          entity_annotation(c, ir_value_get(c->m, x->value)->type, policy));
        }
        return entity_broken(at);
    }
    if (y.kind == ENTITY_TENSOR)
        carry(c, y.value, set);
    return y;
}

/* ---- annotations ---- */

bool policy_parameter(checker *c, ir_value v, dtype element, const policy_set *set) {
    static const policy_kind rounding[] = {POLICY_SATURATE, POLICY_STOCHASTIC_ROUND};
    for (int i = 0; i < 2; i++) {
        if (set->given[rounding[i]]) {
            no_effect(c, set, rounding[i], "a parameter is not converted");
            diagnose_help(c->report, "write it where values of the type are made: in cast(), or in "
                                     "the annotation of a result");
            return false;
        }
    }
    if (!fits_type(c, set, element))
        return false;
    carry(c, v, set);
    return true;
}

/* The annotation of a result that says how it is converted: it is, from another type. */
static bool convert_result(checker *c, entity *value, dtype to, const policy_set *set) {
    dtype from = tensor_type(c, value)->element;
    bool only_scale = !set->given[POLICY_SATURATE] && !set->given[POLICY_STOCHASTIC_ROUND];
    if (from == to && only_scale && scale_of(c, value->value) == set->scale_log2)
        return true; /* it was made so */
    if (from == to) {
        policy_kind kind = set->given[POLICY_SATURATE]           ? POLICY_SATURATE
                           : set->given[POLICY_STOCHASTIC_ROUND] ? POLICY_STOCHASTIC_ROUND
                                                                 : POLICY_LOSS_SCALE;
        no_effect(c, set, kind, "the value has this type already, so nothing is converted");
        note_tensor(c, value);
        diagnose_help(c->report, "leave the value in f32, and this annotation converts it; or put "
                                 "the policy on the cast() that makes it");
        return false;
    }
    policy_set convert = *set;
    convert.given[POLICY_ACCUM] = false;
    entity out = policy_convert(c, value, to, &convert, value->at);
    if (out.kind == ENTITY_BROKEN)
        return false;
    *value = out;
    return true;
}

bool policy_annotated(checker *c, entity *value, dtype element, const policy_set *set) {
    policy_set without = *set;
    without.given[POLICY_ACCUM] = false; /* that is asked of what is added, not of the result */
    if (!fits_type(c, &without, element))
        return false;
    if (set->given[POLICY_ACCUM] && !accumulate_result(c, value, set))
        return false;
    if (policy_converts(set) && !convert_result(c, value, element, set))
        return false;
    int scale = scale_of(c, value->value);
    if (scale && !set->given[POLICY_LOSS_SCALE]) {
        diagnose_error(c->report, ERROR_SCALE_ANNOTATION, value->at,
                       "this value is scaled by %lld, and its annotation has no loss_scale",
                       1LL << scale);
        note_tensor(c, value);
        diagnose_help(c->report, "write %s @ loss_scale(%lld), or divide by it with cast(..., f32)",
                      dtype_name(element), 1LL << scale);
        return false;
    }
    return true;
}
