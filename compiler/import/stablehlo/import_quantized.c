/* import_quantized.c - quantised tensors: they lie here as what is stored, and (stored - zero) *
 * scale is what they stand for.
 *
 * Operations that move elements of one scale move what is stored; any other is done to what its
 * operands stand for, and quantised again, as the specification of StableHLO has it. */
#include <stdlib.h>
#include <string.h>

#include "import/stablehlo/import.h"

bool import_has_quantized(const shlo_op *op) {
    for (uint32_t i = 0; i < op->operand_count; i++)
        if (op->operands[i]->type->quantized)
            return true;
    for (uint32_t i = 0; i < op->result_count; i++)
        if (op->results[i].type->quantized)
            return true;
    return false;
}

/* ---- numbers of the type, in the shape of a value ---- */

/* One for each place along an axis. */
static ir_value listed(importer *im, dtype t, const shlo_quantization *q, bool zeros,
                       ir_value like) {
    const ir_dim count = q->count;
    uint8_t *all = base_calloc(q->count + 1, dtype_size(t));
    for (uint32_t i = 0; i < q->count; i++)
        dtype_store(t, all, i, zeros ? (double)q->zeros[i] : q->scales[i]);
    ir_value row =
        import_dense(im, ir_type_tensor(im->m, t, 1, &count), all, (size_t)count * dtype_size(t));
    free(all);
    const ir_type_data to = *import_type_of(im, like);
    return build_broadcast(&im->b, row, to.rank, to.dims, &q->axis);
}

static ir_value scale_of(importer *im, const shlo_quantization *q, ir_value like) {
    return q->axis < 0 ? import_like(im, like, q->scales[0])
                       : listed(im, import_type_of(im, like)->element, q, false, like);
}

static ir_value zero_of(importer *im, const shlo_quantization *q, ir_value like) {
    return q->axis < 0 ? import_like(im, like, (double)q->zeros[0])
                       : listed(im, import_type_of(im, like)->element, q, true, like);
}

/* (stored - zero) * scale; the difference is that of i32. */
static ir_value meaning(importer *im, const shlo_quantization *q, ir_value stored) {
    ir_value whole = build_convert(&im->b, stored, DTYPE_I32);
    ir_value x = build_convert(&im->b, import_sub(im, whole, zero_of(im, q, whole)),
                               import_element(q->expressed));
    return import_mul(im, x, scale_of(im, q, x));
}

/* x / scale + zero, between the least and the greatest that is stored, rounded to even. */
static ir_value quantised(importer *im, const shlo_quantization *q, ir_value x) {
    x = import_add(im, import_div(im, x, scale_of(im, q, x)), zero_of(im, q, x));
    x = import_binary(im, GRAPH_MAXIMUM, import_like(im, x, (double)q->low), x);
    x = import_binary(im, GRAPH_MINIMUM, import_like(im, x, (double)q->high), x);
    return build_convert(&im->b, import_unary(im, GRAPH_ROUND, x), import_element(q->storage));
}

/* ---- an operation on other types ---- */

/* The operation with values of these types in the place of its own. */
typedef struct shadow {
    shlo_op op;
    shlo_type *types; /* of operands, then of results */
    shlo_value *values;
    shlo_value **operands;
} shadow;

static shadow shadow_of(const shlo_op *op, bool expressed) {
    const uint32_t all = op->operand_count + op->result_count;
    shadow s = {.op = *op,
                .types = base_calloc((size_t)all + 1, sizeof *s.types),
                .values = base_calloc((size_t)all + 1, sizeof *s.values),
                .operands = base_calloc((size_t)op->operand_count + 1, sizeof *s.operands)};
    for (uint32_t i = 0; i < all; i++) {
        const shlo_value *v =
            i < op->operand_count ? op->operands[i] : &op->results[i - op->operand_count];
        s.types[i] = *v->type;
        if (expressed && v->type->quantized)
            s.types[i].element = v->type->quantized->expressed;
        s.types[i].quantized = NULL;
        s.values[i] = *v;
        s.values[i].type = &s.types[i];
        if (i < op->operand_count)
            s.operands[i] = &s.values[i];
    }
    s.op.operands = s.operands;
    s.op.results = s.values + op->operand_count;
    return s;
}

static void shadow_release(shadow *s) {
    free(s->types);
    free(s->values);
    free(s->operands);
}

/* Is it an operation that moves what is stored, all of which has one scale? */
static bool moves(const shlo_op *op) {
    const shlo_quantization *first = NULL;
    if (op->info->opcode == SHLO_OP_CONSTANT)
        return true;
    if (!import_moves(op->info->opcode))
        return false;
    for (uint32_t i = 0; i < op->operand_count + op->result_count; i++) {
        const shlo_value *v =
            i < op->operand_count ? op->operands[i] : &op->results[i - op->operand_count];
        const shlo_quantization *q = v->type->quantized;
        first = first ? first : q;
        if (q && (q->axis >= 0 || q->storage != first->storage ||
                  q->scales[0] != first->scales[0] || q->zeros[0] != first->zeros[0]))
            return false;
    }
    return true;
}

/* Does the operation to what its operands stand for. */
static bool by_meaning(importer *im, const shlo_op *op, ir_value *results) {
    shadow s = shadow_of(op, true);
    import_values kept = {0};
    for (uint32_t i = 0; i < op->operand_count; i++)
        vec_push(&kept, im->made[op->operands[i]->number]);
    for (uint32_t i = 0; i < op->operand_count; i++)
        if (op->operands[i]->type->quantized && kept.items[i])
            im->made[op->operands[i]->number] =
                meaning(im, op->operands[i]->type->quantized, kept.items[i]);
    const bool good = import_handled(im, &s.op, results);
    for (uint32_t i = 0; i < op->operand_count; i++)
        im->made[op->operands[i]->number] = kept.items[i];
    for (uint32_t i = 0; good && i < op->result_count; i++)
        if (op->results[i].type->quantized)
            results[i] = quantised(im, op->results[i].type->quantized, results[i]);
    vec_release(&kept);
    shadow_release(&s);
    return good;
}

static bool by_storage(importer *im, const shlo_op *op, ir_value *results) {
    shadow s = shadow_of(op, false);
    const bool good = import_handled(im, &s.op, results);
    shadow_release(&s);
    return good;
}

/* Scales are positive floats, with one zero each. */
static bool fits(importer *im, const shlo_op *op, const shlo_type *t) {
    const shlo_quantization *q = t->quantized;
    if (!q)
        return true;
    const dtype expressed = import_element(q->expressed), storage = import_element(q->storage);
    if (expressed == DTYPE_NONE || !dtype_is_float(expressed) || storage == DTYPE_NONE ||
        import_small_as(q->storage) || !dtype_is_integer(storage) ||
        dtype_size(storage) > sizeof(int32_t))
        return import_refuse(im, op, "these quantised elements are not supported");
    if (q->count == 0 ||
        (q->axis >= 0 && ((uint64_t)q->axis >= t->rank || t->dims[q->axis] != (int64_t)q->count)))
        return import_refuse(im, op, "its scales do not fit the axis");
    return true;
}

bool import_quantized_op(importer *im, const shlo_op *op, ir_value *results) {
    for (uint32_t i = 0; i < op->operand_count; i++)
        if (!fits(im, op, op->operands[i]->type))
            return false;
    for (uint32_t i = 0; i < op->result_count; i++)
        if (!fits(im, op, op->results[i].type))
            return false;
    if (import_in_rows(op->info->opcode)) /* blocks and functions take what is stored */
        return op->info->opcode == SHLO_OP_REDUCE || op->info->opcode == SHLO_OP_REDUCE_WINDOW ||
                       op->info->opcode == SHLO_OP_SCATTER || op->info->opcode == SHLO_OP_SORT
                   ? import_refuse(im, op, "of quantised elements is not supported")
                   : import_handled(im, op, results);
    const bool stored = moves(op) || op->info->opcode == SHLO_OP_BITCAST_CONVERT;
    return (stored ? by_storage : by_meaning)(im, op, results);
}

/* Between what is stored and what it stands for: the work is done around the handlers. */
bool import_quantize(importer *im, const shlo_op *op, int graph, ir_value *results) {
    return import_takes(im, op, 1) && import_same(im, op, graph, results);
}
