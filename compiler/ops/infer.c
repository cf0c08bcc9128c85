/* infer.c - the shape and type rules of Graph IR, one function a rule, named in graph.def. */
#include <math.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>

#include "base/checked.h"
#include "base/text.h"
#include "ops/infer.h"
#include "ops/predicates.h"
#include "ops/reductions.h"

#include "ir/blob.h"

bool infer_refuse(query *q, graph_misfit misfit, int a, int b, const char *format, ...) {
    va_list args;
    va_start(args, format);
    vsnprintf(q->error, sizeof q->error, format, args);
    va_end(args);
    q->misfit = misfit;
    q->blamed[0] = a;
    q->blamed[1] = b;
    return false;
}

const ir_type_data *infer_operand(const query *q, uint32_t i) {
    return ir_type_get(q->m, q->operands[i]);
}

const char *infer_shape_text(const query *q, uint32_t i) {
    static _Thread_local char buffers[4][160];
    static _Thread_local int turn;
    char *out = buffers[turn++ & 3];
    const ir_type_data *d = infer_operand(q, i);
    size_t n = (size_t)snprintf(out, 160, "[");
    for (int k = 0; k < d->rank && n < 120; k++)
        n += (size_t)snprintf(out + n, 160 - n, "%s%.24s", k ? ", " : "",
                              ir_dim_text(q->m, d->dims[k]));
    snprintf(out + n, 160 - n, "] %s", dtype_name(d->element));
    return out;
}

ir_attr infer_attr_of(const query *q, const char *name) {
    for (uint32_t i = 0; i < q->attr_count; i++)
        if (strcmp(q->attrs[i].name, name) == 0)
            return q->attrs[i].value;
    return 0;
}

int64_t infer_int_attr(const query *q, const char *name, int64_t otherwise) {
    ir_attr attr = infer_attr_of(q, name);
    return attr ? ir_attr_get(q->m, attr)->integer : otherwise;
}

bool infer_distance_attr(query *q, const char *name, int64_t otherwise, int64_t least,
                         int64_t *out) {
    *out = infer_int_attr(q, name, otherwise);
    return (*out >= least && *out <= limit_dimension) ||
           infer_refuse(q, MISFIT_ARGUMENT, -1, -1, "the %s is at least %lld and at most %lld",
                        name, (long long)least, (long long)limit_dimension);
}

const char *infer_string_attr(const query *q, const char *name, const char *otherwise) {
    ir_attr attr = infer_attr_of(q, name);
    return attr && ir_attr_get(q->m, attr)->string ? ir_attr_get(q->m, attr)->string : otherwise;
}

int infer_ints_attr(const query *q, const char *name, int64_t *out, int limit) {
    ir_attr attr = infer_attr_of(q, name);
    if (!attr)
        return 0;
    const ir_attr_data *d = ir_attr_get(q->m, attr);
    if ((int)d->count > limit)
        return -1;
    for (uint32_t i = 0; i < d->count; i++)
        out[i] = ir_attr_get(q->m, d->items[i])->integer;
    return (int)d->count;
}

bool infer_give(query *q, ir_type type) {
    q->results[q->result_count++] = type;
    return true;
}

int64_t graph_elements(int rank, const ir_dim *dims) {
    int64_t count = 1;
    bool beyond = false;
    for (int i = 0; i < rank; i++)
        if (dims[i] <= 0)
            return dims[i] == 0 ? 0 : -1;
    for (int i = 0; i < rank; i++)
        count = checked_multiply(count, dims[i], &beyond);
    return count;
}

bool infer_give_shape(query *q, dtype element, int rank, const ir_dim *dims) {
    if (rank > IR_MAX_RANK)
        return infer_refuse(q, MISFIT_RANK, 0, -1,
                            "the result would have rank %d; at most %d is possible", rank,
                            IR_MAX_RANK);
    for (int i = 0; i < rank; i++)
        if (dims[i] == IR_DIM_INVALID)
            return infer_refuse(q, MISFIT_DIMENSION, 0, -1,
                                "a dimension of the result would be negative or too large");
    if (graph_elements(rank, dims) > limit_elements)
        return infer_refuse(q, MISFIT_SIZE, 0, -1, "the result would have more than 2^%d elements",
                            LIMIT_ELEMENT_BITS);
    return infer_give(q, ir_type_tensor(q->m, element, rank, dims));
}

bool infer_need_float(query *q, uint32_t i) {
    if (dtype_is_float(infer_operand(q, i)->element))
        return true;
    return infer_refuse(q, MISFIT_ELEMENT, (int)i, -1, "needs floating-point elements, not %s",
                        infer_shape_text(q, i));
}

bool infer_need_single(query *q, uint32_t i) {
    if (!infer_need_float(q, i) || infer_operand(q, i)->element != DTYPE_F64)
        return dtype_is_float(infer_operand(q, i)->element);
    return infer_refuse(q, MISFIT_ELEMENT, (int)i, -1,
                        "is computed in f32, which is narrower than %s; use cast(x, f32)",
                        infer_shape_text(q, i));
}

bool infer_need_equal(query *q, uint32_t a, uint32_t b) {
    if (q->operands[a] == q->operands[b])
        return true;
    if (infer_operand(q, a)->element != infer_operand(q, b)->element)
        return infer_refuse(q, MISFIT_TYPES, (int)a, (int)b,
                            "element types differ: %s and %s; convert one with cast()",
                            infer_shape_text(q, a), infer_shape_text(q, b));
    return infer_refuse(q, MISFIT_SHAPE, (int)a, (int)b, "shapes differ: %s and %s",
                        infer_shape_text(q, a), infer_shape_text(q, b));
}

bool infer_axis_in(query *q, int64_t axis, int rank) {
    if (axis >= 0 && axis < rank)
        return true;
    return infer_refuse(q, MISFIT_AXIS, 0, -1, "axis %lld is outside of %s", (long long)axis,
                        infer_shape_text(q, 0));
}

/* ---- rules ---- */

static bool graph_infer_none(query *q) {
    return infer_refuse(q, MISFIT_ARGUMENT, -1, -1, "has no shape rule");
}

static bool graph_infer_constant(query *q) {
    return infer_give_shape(q, ir_attr_get(q->m, infer_attr_of(q, "value"))->element, 0, NULL);
}

static bool graph_infer_dense(query *q) {
    const ir_attr_data *value = ir_attr_get(q->m, infer_attr_of(q, "value"));
    const ir_type_data *type = ir_type_get(q->m, value->type);
    int64_t count = ir_type_count(q->m, value->type);
    if (value->kind != IR_ATTR_DENSE || type->kind != IR_TYPE_TENSOR ||
        !ir_type_is_static(q->m, value->type))
        return infer_refuse(q, MISFIT_ARGUMENT, -1, -1, "has a type that is no tensor of numbers");
    if (count > INT64_MAX / 8 ||
        (size_t)count * dtype_size(type->element) != value->blob->size_bytes)
        return infer_refuse(q, MISFIT_ARGUMENT, -1, -1, "has more or fewer bytes than its type");
    for (size_t i = 0; type->element == DTYPE_BOOL && i < value->blob->size_bytes; i++)
        if (value->blob->bytes[i] > 1)
            return infer_refuse(q, MISFIT_ARGUMENT, -1, -1, "has a bool that is neither 0 nor 1");
    return infer_give_shape(q, type->element, type->rank, type->dims);
}

static bool graph_infer_extent(query *q) {
    ir_dim dim;
    if (infer_ints_attr(q, "of", &dim, 1) != 1)
        return infer_refuse(q, MISFIT_ARGUMENT, -1, -1, "is the extent of one dimension");
    return infer_give_shape(q, DTYPE_I32, 0, NULL);
}

static bool graph_infer_iota(query *q) {
    ir_dim dims[IR_MAX_RANK];
    int rank = infer_ints_attr(q, "shape", dims, IR_MAX_RANK);
    int64_t axis = infer_int_attr(q, "axis", 0);
    if (rank < 0 || axis < 0 || axis >= rank)
        return infer_refuse(q, MISFIT_AXIS, -1, -1, "axis %lld is outside of a shape of rank %d",
                            (long long)axis, rank);
    return infer_give_shape(q, DTYPE_I32, rank, dims);
}

static bool graph_infer_unspecified(query *q) {
    ir_dim dims[IR_MAX_RANK];
    int rank = infer_ints_attr(q, "shape", dims, IR_MAX_RANK);
    dtype to = ir_type_get(q->m, ir_attr_get(q->m, infer_attr_of(q, "to"))->type)->element;
    if (rank < 0 || to == DTYPE_NONE)
        return infer_refuse(q, MISFIT_ARGUMENT, -1, -1, "'shape' and 'to' are no tensor's");
    return infer_give_shape(q, to, rank, dims);
}

static bool graph_infer_same(query *q) {
    return infer_give(q, q->operands[0]);
}

static bool graph_infer_float(query *q) {
    int64_t axis = infer_int_attr(q, "axis", 0);
    if (!infer_need_float(q, 0) ||
        (infer_attr_of(q, "axis") && !infer_axis_in(q, axis, infer_operand(q, 0)->rank)))
        return false;
    return infer_give(q, q->operands[0]);
}

static bool graph_infer_single(query *q) {
    return infer_need_single(q, 0) && graph_infer_float(q);
}

/* The specified functions: sequences of f32, or of f64. */
static bool graph_infer_function(query *q) {
    return infer_need_float(q, 0) && infer_give(q, q->operands[0]);
}

static bool graph_infer_pair(query *q) {
    return infer_need_equal(q, 0, 1) && graph_infer_function(q);
}

/* The greatest magnitude of a type; infinite where it has infinities. */
static double reach(dtype t) {
    const dtype_format *f = dtype_format_of(t);
    if (!f)
        return fmax(dtype_integer_value(t, dtype_highest(t)),
                    -dtype_integer_value(t, dtype_lowest(t)));
    return f->infinity ? HUGE_VAL : f->largest;
}

bool graph_can_saturate(dtype from, dtype to, const char **why) {
    const dtype_format *f = dtype_format_of(to);
    bool by_itself = f ? !f->infinity : dtype_is_float(from) || to == DTYPE_BOOL;
    bool overflows = !f || reach(from) > f->largest;
    *why = by_itself ? "this conversion saturates by itself" : "this conversion cannot overflow";
    return !by_itself && overflows && !dtype_holds(to, from);
}

/* A conversion that saturates is one that could overflow otherwise. */
static bool saturates_rightly(query *q, dtype to) {
    const char *why;
    dtype from = infer_operand(q, 0)->element;
    return !infer_int_attr(q, "saturate", 0) || graph_can_saturate(from, to, &why) ||
           infer_refuse(q, MISFIT_ARGUMENT, 0, -1, "saturate has no effect from %s to %s: %s",
                        dtype_name(from), dtype_name(to), why);
}

static bool graph_infer_convert(query *q) {
    dtype to = ir_type_get(q->m, ir_attr_get(q->m, infer_attr_of(q, "to"))->type)->element;
    if (to == DTYPE_NONE)
        return infer_refuse(q, MISFIT_ARGUMENT, -1, -1, "'to' is not an element type");
    if (!saturates_rightly(q, to))
        return false;
    return infer_give(q, ir_type_with_element(q->m, q->operands[0], to));
}

/* Do the bits of an element, and no others, make it what it is? */
static bool has_own_bits(dtype t) {
    return dtype_integer_bits(t) == 0 ? t != DTYPE_TF32
                                      : 8 * dtype_size(t) == (size_t)dtype_integer_bits(t);
}

static bool graph_infer_bitcast(query *q) {
    dtype to = ir_type_get(q->m, ir_attr_get(q->m, infer_attr_of(q, "to"))->type)->element,
          from = infer_operand(q, 0)->element;
    bool known = has_own_bits(from) && has_own_bits(to) && dtype_size(from) == dtype_size(to) &&
                 (dtype_is_integer(from) || dtype_is_integer(to));
    if (!known)
        return infer_refuse(q, MISFIT_ELEMENT, 0, -1,
                            "is between types of one size, of which one is of integers, not of "
                            "%s as %s",
                            infer_shape_text(q, 0), dtype_name(to));
    return infer_give(q, ir_type_with_element(q->m, q->operands[0], to));
}

static bool graph_infer_stochastic_round(query *q) {
    dtype to = ir_type_get(q->m, ir_attr_get(q->m, infer_attr_of(q, "to"))->type)->element;
    if (!dtype_is_narrow(to) || to == DTYPE_TF32)
        return infer_refuse(q, MISFIT_ARGUMENT, -1, -1,
                            "'to' is not f16, bf16, f8e4m3fn or f8e5m2");
    if (infer_operand(q, 0)->element != DTYPE_F32)
        return infer_refuse(q, MISFIT_ELEMENT, 0, -1, "needs f32 elements, not %s",
                            infer_shape_text(q, 0));
    if (ir_type_with_element(q->m, q->operands[0], DTYPE_I32) != q->operands[1])
        return infer_refuse(q, MISFIT_SHAPE, 0, 1,
                            "needs an i32 index for each element of %s, not %s",
                            infer_shape_text(q, 0), infer_shape_text(q, 1));
    if (infer_int_attr(q, "seed", -1) < 0 || infer_int_attr(q, "stream", -1) < 0 ||
        infer_int_attr(q, "stream", 0) > INT32_MAX)
        return infer_refuse(q, MISFIT_ARGUMENT, -1, -1,
                            "seed and stream are not negative, stream has 31 bits");
    return saturates_rightly(q, to) &&
           infer_give(q, ir_type_with_element(q->m, q->operands[0], to));
}

static bool graph_infer_random_bits(query *q) {
    if (!infer_need_equal(q, 0, 1))
        return false;
    if (infer_operand(q, 0)->element != DTYPE_I32)
        return infer_refuse(q, MISFIT_ELEMENT, 0, -1, "needs i32 elements, not %s",
                            infer_shape_text(q, 0));
    if (infer_int_attr(q, "seed", -1) < 0 || infer_int_attr(q, "site", -1) < 0 ||
        infer_int_attr(q, "site", 0) > INT32_MAX)
        return infer_refuse(q, MISFIT_ARGUMENT, -1, -1,
                            "seed and site are not negative, site has 31 bits");
    return infer_give(q, q->operands[0]);
}

static bool graph_infer_binary(query *q) {
    if (!infer_need_equal(q, 0, 1))
        return false;
    if (infer_operand(q, 0)->element == DTYPE_BOOL)
        return infer_refuse(q, MISFIT_ELEMENT, 0, -1,
                            "needs numbers, not %s; use &, | or ^ on bool", infer_shape_text(q, 0));
    return infer_give(q, q->operands[0]);
}

static bool graph_infer_bits(query *q) {
    if (!infer_need_equal(q, 0, 1))
        return false;
    if (dtype_is_float(infer_operand(q, 0)->element))
        return infer_refuse(q, MISFIT_ELEMENT, 0, -1, "needs bool or integer elements, not %s",
                            infer_shape_text(q, 0));
    return infer_give(q, q->operands[0]);
}

static bool graph_infer_shift(query *q) {
    dtype element = infer_operand(q, 0)->element;
    if (!infer_need_equal(q, 0, 1))
        return false;
    if (dtype_is_float(element) || element == DTYPE_BOOL)
        return infer_refuse(q, MISFIT_ELEMENT, 0, -1, "needs integer elements, not %s",
                            infer_shape_text(q, 0));
    return infer_give(q, q->operands[0]);
}

static bool graph_infer_compare(query *q) {
    const char *name = infer_string_attr(q, "predicate", "");
    if (predicate_of(name) == PREDICATE_COUNT)
        return infer_refuse(q, MISFIT_ARGUMENT, -1, -1, "unknown predicate '%s'", name);
    return infer_need_equal(q, 0, 1) &&
           infer_give(q, ir_type_with_element(q->m, q->operands[0], DTYPE_BOOL));
}

static bool graph_infer_select(query *q) {
    if (infer_operand(q, 0)->element != DTYPE_BOOL)
        return infer_refuse(q, MISFIT_ELEMENT, 0, -1, "the condition must be bool, not %s",
                            infer_shape_text(q, 0));
    if (!infer_need_equal(q, 1, 2))
        return false;
    if (ir_type_with_element(q->m, q->operands[1], DTYPE_BOOL) != q->operands[0])
        return infer_refuse(q, MISFIT_SHAPE, 0, 1, "the condition's shape %s differs from %s",
                            infer_shape_text(q, 0), infer_shape_text(q, 1));
    return infer_give(q, q->operands[1]);
}

static bool graph_infer_ternary(query *q) {
    return infer_need_float(q, 0) && infer_need_equal(q, 0, 1) && infer_need_equal(q, 0, 2) &&
           infer_give(q, q->operands[0]);
}

/* The words of an exact sum have room for so many elements. */
static bool is_counted(query *q, const int64_t *axes, int n) {
    const ir_type_data *x = infer_operand(q, 0);
    int64_t most = INT64_C(1) << 31;
    if (!order_is_exact(order_find(infer_string_attr(q, "order", ""))))
        return true;
    for (int i = 0; i < n; i++)
        if (ir_dim_is_static(x->dims[axes[i]]) && x->dims[axes[i]] > 0)
            most /= x->dims[axes[i]];
    return most > 0 || infer_refuse(q, MISFIT_ORDER, 0, -1,
                                    "an exact sum has 2^31 elements at most, not those of %s",
                                    infer_shape_text(q, 0));
}

static bool graph_infer_reduce(query *q) {
    int64_t axes[IR_MAX_RANK];
    ir_dim dims[IR_MAX_RANK];
    const ir_type_data *x = infer_operand(q, 0);
    const char *kind = infer_string_attr(q, "kind", "");
    int n = infer_ints_attr(q, "axes", axes, IR_MAX_RANK), rank = 0, next = 0;
    if (!reduction_kind_known(kind))
        return infer_refuse(q, MISFIT_ARGUMENT, -1, -1, "unknown kind '%s': sum, prod, max or min",
                            kind);
    if (x->element == DTYPE_BOOL)
        return infer_refuse(q, MISFIT_ELEMENT, 0, -1, "cannot reduce %s; cast() it to i32",
                            infer_shape_text(q, 0));
    if (infer_attr_of(q, "accumulate") && strcmp(kind, "sum") != 0)
        return infer_refuse(q, MISFIT_ARGUMENT, -1, -1, "a %s accumulates nothing", kind);
    if (!infer_accumulates(q))
        return false;
    for (int i = 0; i < (n < 0 ? 1 : n); i++)
        if (n < 0 || axes[i] < 0 || axes[i] >= x->rank || (i && axes[i] <= axes[i - 1]))
            return infer_refuse(q, MISFIT_ARGUMENT, 0, -1,
                                "axes must be different axes of %s, in ascending order",
                                infer_shape_text(q, 0));
    for (int i = 0; i < x->rank; i++)
        if (next < n && axes[next] == i)
            next++;
        else
            dims[rank++] = x->dims[i];
    return is_counted(q, axes, n) && infer_give_shape(q, x->element, rank, dims);
}

static bool graph_infer_drop_axis(query *q) {
    const ir_type_data *x = infer_operand(q, 0);
    ir_dim dims[IR_MAX_RANK];
    int64_t axis = infer_int_attr(q, "axis", 0);
    int rank = 0;
    if (!infer_need_single(q, 0) || !infer_axis_in(q, axis, x->rank) || !is_counted(q, &axis, 1))
        return false;
    for (int i = 0; i < x->rank; i++)
        if (i != axis)
            dims[rank++] = x->dims[i];
    return infer_give_shape(q, x->element, rank, dims);
}

static bool graph_infer_norm(query *q) {
    const ir_type_data *x = infer_operand(q, 0);
    if (!infer_need_single(q, 0))
        return false;
    for (uint32_t i = 1; i < q->operand_count; i++) {
        const ir_type_data *g = infer_operand(q, i);
        if (g->rank != 1 || x->rank < 1 || g->dims[0] != x->dims[x->rank - 1] ||
            g->element != x->element)
            return infer_refuse(q, MISFIT_SHAPE, 0, (int)i,
                                "needs one value for each element of the last axis: %s with %s",
                                infer_shape_text(q, 0), infer_shape_text(q, i));
    }
    return infer_give(q, q->operands[0]);
}

static bool graph_infer_cross_entropy(query *q) {
    const ir_type_data *x = infer_operand(q, 0), *t = infer_operand(q, 1);
    if (!infer_need_single(q, 0))
        return false;
    bool fits = x->rank >= 1 && t->rank == x->rank - 1 && t->element == DTYPE_I32;
    for (int i = 0; fits && i < t->rank; i++)
        fits = t->dims[i] == x->dims[i];
    if (!fits)
        return infer_refuse(q, MISFIT_SHAPE, 0, 1,
                            "needs rows of scores and one i32 target for each row: %s with %s",
                            infer_shape_text(q, 0), infer_shape_text(q, 1));
    return infer_give_shape(q, x->element, 0, NULL);
}

/* cos and sin broadcast against x's leading axes: their shape is x's last axes, with D/2 at the
 * end. */
static bool graph_infer_rope(query *q) {
    const ir_type_data *x = infer_operand(q, 0), *c = infer_operand(q, 1);
    if (!infer_need_single(q, 0) || !infer_need_equal(q, 1, 2))
        return false;
    bool fits = c->rank >= 1 && c->rank <= x->rank && c->element == x->element;
    for (int i = 0; fits && i < c->rank - 1; i++)
        fits = c->dims[i] == x->dims[x->rank - c->rank + i];
    fits = fits && (ir_dim_mul(q->m, 2, c->dims[c->rank - 1]) == x->dims[x->rank - 1]);
    if (!fits)
        return infer_refuse(
            q, MISFIT_SHAPE, 0, 1,
            "cos and sin need the last axes of x with half of the last one: %s with %s",
            infer_shape_text(q, 0), infer_shape_text(q, 1));
    return infer_give(q, q->operands[0]);
}

static bool graph_infer_adam(query *q) {
    if (!infer_need_single(q, 0))
        return false;
    for (uint32_t i = 1; i < 4; i++)
        if (!infer_need_equal(q, 0, i))
            return false;
    for (uint32_t i = 4; i < 6; i++)
        if (infer_operand(q, i)->rank != 0 ||
            infer_operand(q, i)->element != infer_operand(q, 0)->element)
            return infer_refuse(q, MISFIT_SHAPE, 0, (int)i,
                                "c1 and c2 must be scalars of the parameters' type, not %s",
                                infer_shape_text(q, i));
    return infer_give(q, q->operands[0]) && infer_give(q, q->operands[0]) &&
           infer_give(q, q->operands[0]);
}

/* Refuses what has a block, or ends one: who builds it gives it its types (tiles.c). */
static bool graph_infer_region(query *q) {
    return infer_refuse(q, MISFIT_ARGUMENT, -1, -1, "it has no rule of types");
}

typedef bool (*infer_rule)(query *q);
static const infer_rule rules[] = {
#define G(ENUM, name, operands, attrs, results, class, effects, shape, decompose, derive,          \
          batching, flops, summary)                                                                \
    graph_infer_##shape,
#include "ops/graph.def"
};

bool graph_op_is_specified(int op) {
    return op >= 0 && op < GRAPH_OP_COUNT &&
           (rules[op] == graph_infer_function || rules[op] == graph_infer_pair);
}

bool graph_infer(graph_infer_query *q) {
    q->result_count = 0;
    q->error[0] = 0;
    q->blamed[0] = q->blamed[1] = -1;
    return rules[q->opcode](q);
}
