/* export_build.c - types, attributes and single operations of a StableHLO module. */
#include <stdlib.h>
#include <string.h>

#include "target/stablehlo/export.h"

/* ---- types ---- */

shlo_element out_element(dtype type) {
    return shlo_element_of(dtype_stored_as(type));
}

dtype out_dtype(const shlo_value *x) {
    return shlo_element_get(x->type->element)->type;
}

const shlo_type *out_tensor(shlo_writer *w, shlo_element element, uint32_t rank,
                            const int64_t *dims) {
    arena *memory = &w->out->memory;
    shlo_type *t = ARENA_NEW(memory, shlo_type, 1);
    int64_t *own = ARENA_NEW(memory, int64_t, rank + 1);
    for (uint32_t i = 0; i < rank; i++)
        own[i] = dims[i];
    *t = (shlo_type){.kind = SHLO_TYPE_TENSOR, .element = element, .rank = rank, .dims = own};
    return t;
}

const shlo_type *out_type(shlo_writer *w, ir_type type) {
    const ir_type_data *t = ir_type_get(w->m, type);
    return out_tensor(w, out_element(t->element), (uint32_t)t->rank, t->dims);
}

const shlo_type *out_result_type(shlo_writer *w, ir_op op, uint32_t i) {
    return out_type(w, ir_value_get(w->m, ir_op_result(w->m, op, i))->type);
}

const shlo_type *out_type_with(shlo_writer *w, const shlo_type *t, shlo_element element) {
    return out_tensor(w, element, t->rank, t->dims);
}

/* ---- attributes ---- */

static const shlo_type *scalar_type(shlo_writer *w, shlo_element element) {
    shlo_type *t = ARENA_NEW(&w->out->memory, shlo_type, 1);
    *t = (shlo_type){.kind = SHLO_TYPE_SCALAR, .element = element};
    return t;
}

static const shlo_attr *attribute(shlo_writer *w, shlo_attr a) {
    return arena_copy(&w->out->memory, &a, sizeof a);
}

const shlo_attr *out_int(shlo_writer *w, int64_t value) {
    return attribute(
        w,
        (shlo_attr){.kind = SHLO_ATTR_INTEGER, .integer = value, .type = scalar_type(w, SHLO_I64)});
}

const shlo_attr *out_bytes(shlo_writer *w, const shlo_type *t, const void *bytes, size_t size) {
    return attribute(w, (shlo_attr){.kind = SHLO_ATTR_TENSOR,
                                    .type = t,
                                    .bytes = arena_copy(&w->out->memory, bytes, size ? size : 1),
                                    .size = size});
}

static const int64_t nothing[1];

const shlo_attr *out_ints(shlo_writer *w, uint32_t count, const int64_t *values) {
    const int64_t dims[] = {count};
    return out_bytes(w, out_tensor(w, SHLO_I64, 1, dims), count ? values : nothing,
                     count * sizeof *values);
}

const shlo_attr *out_pairs(shlo_writer *w, uint32_t count, const int64_t *values) {
    const int64_t dims[] = {count, 2};
    return out_bytes(w, out_tensor(w, SHLO_I64, 2, dims), values, 2 * count * sizeof *values);
}

const shlo_attr *out_bool(shlo_writer *w, bool value) {
    return attribute(
        w,
        (shlo_attr){.kind = SHLO_ATTR_BOOL, .integer = value, .type = scalar_type(w, SHLO_BOOL)});
}

const shlo_attr *out_word(shlo_writer *w, shlo_attr_kind kind, const char *word) {
    return attribute(w, (shlo_attr){.kind = kind,
                                    .string = arena_strdup(&w->out->memory, word),
                                    .length = strlen(word)});
}

/* ---- operations ---- */

static int by_name(const void *a, const void *b) {
    const shlo_named_attr *x = a, *y = b;
    return strcmp(x->name, y->name);
}

shlo_op *out_build(shlo_writer *w, const out_spec *s) {
    shlo_op *op = shlo_op_new(w->out, w->block, s->name, s->operand_count, s->result_count,
                              s->attr_count, s->region_count);
    for (uint32_t i = 0; i < s->operand_count; i++)
        op->operands[i] = s->operands[i];
    for (uint32_t i = 0; i < s->result_count; i++)
        op->results[i].type = s->results[i];
    for (uint32_t i = 0; i < s->attr_count; i++)
        op->attrs[i] = s->attrs[i];
    if (s->attr_count)
        qsort(op->attrs, s->attr_count, sizeof *op->attrs, by_name);
    for (uint32_t i = 0; i < s->region_count; i++) {
        op->regions[i] = s->regions[i];
        op->regions[i]->parent = op;
    }
    return op;
}

static shlo_value *one(shlo_writer *w, const out_spec *s) {
    return &out_build(w, s)->results[0];
}

shlo_value *out_unary(shlo_writer *w, const char *name, shlo_value *x, const shlo_type *result) {
    return one(w, &(out_spec){.name = name,
                              .operands = &x,
                              .operand_count = 1,
                              .results = &result,
                              .result_count = 1});
}

shlo_value *out_binary(shlo_writer *w, const char *name, shlo_value *x, shlo_value *y) {
    shlo_value *both[] = {x, y};
    return one(w, &(out_spec){.name = name,
                              .operands = both,
                              .operand_count = 2,
                              .results = &x->type,
                              .result_count = 1});
}

shlo_value *out_with(shlo_writer *w, const char *name, shlo_value *x, const shlo_type *result,
                     const shlo_named_attr *attr) {
    return one(w, &(out_spec){.name = name,
                              .operands = &x,
                              .operand_count = x != NULL,
                              .results = &result,
                              .result_count = 1,
                              .attrs = attr,
                              .attr_count = 1});
}

shlo_value *out_compare(shlo_writer *w, const char *direction, shlo_value *x, shlo_value *y) {
    const dtype t = out_dtype(x);
    const char *type = dtype_is_float(t) ? "FLOAT" : dtype_is_unsigned(t) ? "UNSIGNED" : "SIGNED";
    const shlo_type *result = out_type_with(w, x->type, SHLO_BOOL);
    shlo_value *both[] = {x, y};
    const shlo_named_attr attrs[] = {
        {"compare_type", out_word(w, SHLO_ATTR_ENUM, type)},
        {"comparison_direction", out_word(w, SHLO_ATTR_ENUM, direction)}};
    return one(w, &(out_spec){.name = "stablehlo.compare",
                              .operands = both,
                              .operand_count = 2,
                              .results = &result,
                              .result_count = 1,
                              .attrs = attrs,
                              .attr_count = 2});
}

shlo_value *out_select(shlo_writer *w, shlo_value *condition, shlo_value *x, shlo_value *y) {
    shlo_value *three[] = {condition, x, y};
    return one(w, &(out_spec){.name = "stablehlo.select",
                              .operands = three,
                              .operand_count = 3,
                              .results = &x->type,
                              .result_count = 1});
}

shlo_value *out_convert(shlo_writer *w, shlo_value *x, shlo_element to) {
    return x->type->element == to
               ? x
               : out_unary(w, "stablehlo.convert", x, out_type_with(w, x->type, to));
}

static shlo_value *constant(shlo_writer *w, const shlo_attr *value) {
    return out_with(w, "stablehlo.constant", NULL, value->type, &(shlo_named_attr){"value", value});
}

shlo_value *out_splat(shlo_writer *w, const shlo_type *t, uint64_t bits) {
    shlo_value *x = constant(w, out_bytes(w, out_tensor(w, t->element, 0, NULL), &bits,
                                          (size_t)shlo_element_get(t->element)->bytes));
    return t->rank ? out_broadcast(w, x, t, NULL) : x;
}

shlo_value *out_number(shlo_writer *w, const shlo_type *t, double value) {
    uint64_t bits = 0;
    dtype_store(shlo_element_get(t->element)->type, &bits, 0, value);
    return out_splat(w, t, bits);
}

shlo_value *out_iota(shlo_writer *w, const shlo_type *t, int64_t axis) {
    return out_with(w, "stablehlo.iota", NULL, t,
                    &(shlo_named_attr){"iota_dimension", out_int(w, axis)});
}

shlo_value *out_reshape(shlo_writer *w, shlo_value *x, uint32_t rank, const int64_t *dims) {
    return out_unary(w, "stablehlo.reshape", x, out_tensor(w, x->type->element, rank, dims));
}

shlo_value *out_transpose(shlo_writer *w, shlo_value *x, const int64_t *order) {
    int64_t dims[SHLO_RANK_MAX];
    for (uint32_t i = 0; i < x->type->rank; i++)
        dims[i] = x->type->dims[order[i]];
    return out_with(w, "stablehlo.transpose", x,
                    out_tensor(w, x->type->element, x->type->rank, dims),
                    &(shlo_named_attr){"permutation", out_ints(w, x->type->rank, order)});
}

shlo_value *out_broadcast(shlo_writer *w, shlo_value *x, const shlo_type *t, const int64_t *axes) {
    return out_with(w, "stablehlo.broadcast_in_dim", x, t,
                    &(shlo_named_attr){"broadcast_dimensions", out_ints(w, x->type->rank, axes)});
}

void out_return(shlo_writer *w, shlo_value *const *values, uint32_t count) {
    out_build(w,
              &(out_spec){.name = "stablehlo.return", .operands = values, .operand_count = count});
}

int64_t out_axis(const shlo_writer *w, ir_op op, uint32_t rank) {
    const int64_t axis = ir_op_int(w->m, op, "axis", 0);
    return axis < 0 ? axis + rank : axis;
}
