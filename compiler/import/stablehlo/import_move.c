/* import_move.c - constants, and operations that move elements by numbers known before. */
#include <stdlib.h>
#include <string.h>

#include "import/stablehlo/import.h"

/* ---- made from nothing ---- */

/* Halves of complex numbers, from a byte of each on. */
static uint8_t *part_of(const shlo_attr *a, size_t step, size_t skip) {
    uint8_t *bytes = base_malloc(a->size / 2 + 1);
    for (size_t i = 0; i < a->size / step; i++)
        memcpy(bytes + i * (step / 2), a->bytes + i * step + skip, step / 2);
    return bytes;
}

bool import_constant(importer *im, const shlo_op *op, int graph, ir_value *results) {
    (void)graph;
    const shlo_attr *a = shlo_op_attr(op, "value");
    const ir_type wanted = op->result_count == 1 ? import_result_type(im, op, 0) : 0;
    if (!wanted)
        return false;
    if (!a || a->kind != SHLO_ATTR_TENSOR || !shlo_type_equal(a->type, op->results[0].type))
        return import_refuse(im, op, "its value is none that is read");
    const ir_type_data *t = ir_type_get(im->m, wanted);
    const int64_t count = shlo_type_count(a->type);
    const size_t step = (size_t)shlo_element_get(a->type->element)->bytes,
                 skip = im->part ? step / 2 : 0; /* of a complex number its second half */
    if (count == 1 || a->splat) {
        uint64_t bits = dtype_load_bits(t->element, a->bytes + skip, 0);
        ir_value x = build_scalar(&im->b, t->element, bits);
        const bool lifted = im->lifted >= 0 && t->rank == 0;
        results[0] = lifted ? import_spread(im, x, im->lifted, im->shape)
                            : import_spread(im, x, t->rank, t->dims);
        return true;
    }
    if (count == 0) {
        results[0] = import_spread(im, import_number(im, t->element, 0), t->rank, t->dims);
        return true;
    }
    if (!shlo_element_is_complex(a->type->element)) {
        results[0] = import_dense(im, wanted, a->bytes, a->size);
        return true;
    }
    uint8_t *bytes = part_of(a, step, skip);
    results[0] = import_dense(im, wanted, bytes, a->size / 2);
    free(bytes);
    return true;
}

bool import_iota(importer *im, const shlo_op *op, int graph, ir_value *results) {
    (void)graph;
    const ir_type wanted = op->result_count == 1 ? import_result_type(im, op, 0) : 0;
    if (!wanted)
        return false;
    const ir_type_data t = *ir_type_get(im->m, wanted);
    const int64_t axis = shlo_op_int(op, "iota_dimension", -1);
    if (axis < 0 || axis >= t.rank)
        return import_refuse(im, op, "axis %lld is none of the result's", (long long)axis);
    results[0] = build_convert(&im->b, build_iota(&im->b, t.rank, t.dims, (int)axis), t.element);
    return true;
}

/* ---- shapes ---- */

/* Lists of axes and numbers; false when refused: there are not `count` of them. */
static bool ints(importer *im, const shlo_op *op, const char *name, int64_t *out, int count) {
    const int64_t limit = (int64_t)1 << LIMIT_DIMENSION_BITS;
    bool good = shlo_op_ints(op, name, out, IR_MAX_RANK) == (uint32_t)count;
    for (int i = 0; i < count && good; i++)
        if (out[i] >= limit || out[i] <= -limit)
            return import_refuse(im, op, "'%s' has a number of 2^31 or more", name);
    if (good)
        return true;
    return import_refuse(im, op, "'%s' does not have %d numbers", name, count);
}

static bool are_axes(importer *im, const shlo_op *op, const int64_t *axes, int count, int rank) {
    uint32_t seen = 0;
    for (int i = 0; i < count; i++) {
        if (axes[i] < 0 || axes[i] >= rank || seen & (1u << axes[i]))
            return import_refuse(im, op, "axis %lld is none, or said twice", (long long)axes[i]);
        seen |= 1u << axes[i];
    }
    return true;
}

/* Axes of one element that are repeated are left out, and the others put in the result's order. */
static bool broadcast_to(importer *im, const shlo_op *op, const int64_t *axes, ir_value *results) {
    const ir_type wanted = import_result_type(im, op, 0);
    if (!wanted)
        return false;
    ir_value x = import_operand(im, op, 0);
    const ir_type_data from = *import_type_of(im, x), to = *ir_type_get(im->m, wanted);
    if (!are_axes(im, op, axes, from.rank, to.rank))
        return false;
    int64_t kept[IR_MAX_RANK], order[IR_MAX_RANK];
    ir_dim dims[IR_MAX_RANK];
    int count = 0;
    for (int i = 0; i < from.rank; i++) {
        if (from.dims[i] != to.dims[axes[i]] && from.dims[i] != 1)
            return import_refuse(im, op, "axis %d does not fit the result", i);
        if (from.dims[i] == to.dims[axes[i]]) {
            dims[count] = from.dims[i];
            kept[count++] = axes[i];
        }
    }
    x = import_shaped(im, x, count, dims);
    for (int i = 0; i < count; i++) {
        int place = 0;
        for (int k = 0; k < count; k++)
            place += kept[k] < kept[i];
        order[place] = i;
    }
    bool sorted = true;
    for (int i = 0; i < count; i++)
        sorted &= order[i] == i;
    if (!sorted)
        x = build_transpose(&im->b, x, order);
    int64_t ascending[IR_MAX_RANK];
    for (int i = 0; i < count; i++)
        ascending[i] = kept[order[i]];
    results[0] = build_broadcast(&im->b, x, to.rank, to.dims, ascending);
    return true;
}

bool import_broadcast_in_dim(importer *im, const shlo_op *op, int graph, ir_value *results) {
    (void)graph;
    int64_t axes[IR_MAX_RANK];
    if (!import_takes(im, op, 1))
        return false;
    const int rank = import_type_of(im, import_operand(im, op, 0))->rank;
    return ints(im, op, "broadcast_dimensions", axes, rank) && broadcast_to(im, op, axes, results);
}

/* The shape is an operand, but the result's type says it, too. */
bool import_dynamic_broadcast_in_dim(importer *im, const shlo_op *op, int graph,
                                     ir_value *results) {
    (void)graph;
    int64_t axes[IR_MAX_RANK];
    if (!import_takes(im, op, 2))
        return false;
    const int rank = import_type_of(im, import_operand(im, op, 0))->rank;
    return ints(im, op, "broadcast_dimensions", axes, rank) && broadcast_to(im, op, axes, results);
}

bool import_broadcast(importer *im, const shlo_op *op, int graph, ir_value *results) {
    (void)graph;
    int64_t sizes[IR_MAX_RANK], axes[IR_MAX_RANK];
    const uint32_t front = shlo_op_ints(op, "broadcast_sizes", sizes, IR_MAX_RANK);
    if (!import_takes(im, op, 1))
        return false;
    for (int i = 0; i < IR_MAX_RANK; i++)
        axes[i] = (int64_t)front + i;
    return broadcast_to(im, op, axes, results);
}

bool import_reshape(importer *im, const shlo_op *op, int graph, ir_value *results) {
    (void)graph;
    const ir_type wanted =
        op->operand_count && op->result_count == 1 ? import_result_type(im, op, 0) : 0;
    if (!wanted)
        return import_refuse(im, op, "needs a value");
    const ir_type_data t = *ir_type_get(im->m, wanted);
    ir_value x = import_operand(im, op, 0);
    const ir_type_data from = *import_type_of(im, x);
    if (graph_elements(t.rank, t.dims) != graph_elements(from.rank, from.dims))
        return import_refuse(im, op, "the shapes have different numbers of elements");
    results[0] = import_shaped(im, x, t.rank, t.dims);
    return true;
}

bool import_transpose(importer *im, const shlo_op *op, int graph, ir_value *results) {
    (void)graph;
    int64_t order[IR_MAX_RANK];
    if (!import_takes(im, op, 1))
        return false;
    ir_value x = import_operand(im, op, 0);
    const int rank = import_type_of(im, x)->rank;
    if (!ints(im, op, "permutation", order, rank) || !are_axes(im, op, order, rank, rank))
        return false;
    results[0] = rank ? build_transpose(&im->b, x, order) : x;
    return true;
}

bool import_same(importer *im, const shlo_op *op, int graph, ir_value *results) {
    (void)graph;
    if (op->operand_count != op->result_count)
        return import_refuse(im, op, "gives another number of values than it takes");
    for (uint32_t i = 0; i < op->operand_count; i++)
        results[i] = import_operand(im, op, i);
    return true;
}

bool import_get_dimension_size(importer *im, const shlo_op *op, int graph, ir_value *results) {
    (void)graph;
    if (!import_takes(im, op, 1))
        return false;
    const ir_type_data *t = import_type_of(im, import_operand(im, op, 0));
    const int64_t axis = shlo_op_int(op, "dimension", -1);
    if (axis < 0 || axis >= t->rank)
        return import_refuse(im, op, "axis %lld is none of the operand's", (long long)axis);
    results[0] = import_number(im, DTYPE_I32, (double)t->dims[axis]);
    return true;
}

/* ---- parts and joins ---- */

bool import_slice(importer *im, const shlo_op *op, int graph, ir_value *results) {
    (void)graph;
    int64_t start[IR_MAX_RANK], stop[IR_MAX_RANK], step[IR_MAX_RANK];
    if (!import_takes(im, op, 1))
        return false;
    ir_value x = import_operand(im, op, 0);
    const uint32_t rank = (uint32_t)import_type_of(im, x)->rank;
    if (!ints(im, op, "start_indices", start, (int)rank) ||
        !ints(im, op, "limit_indices", stop, (int)rank) ||
        !ints(im, op, "strides", step, (int)rank))
        return false;
    ir_named_attr attrs[] = {{"start", ir_attr_dim_array(im->m, start, rank)},
                             {"stop", ir_attr_dim_array(im->m, stop, rank)},
                             {"step", ir_attr_int_array(im->m, step, rank)}};
    for (uint32_t i = 0; i < rank; i++)
        if (start[i] < 0 || stop[i] < start[i] || step[i] < 1)
            return import_refuse(im, op, "axis %u is no range", i);
    results[0] = rank ? import_build(im, op, GRAPH_SLICE, &x, 1, attrs, 3) : x;
    return results[0] != 0;
}

bool import_concatenate(importer *im, const shlo_op *op, int graph, ir_value *results) {
    (void)graph;
    VEC(ir_value) list = {0};
    const int64_t axis = shlo_op_int(op, "dimension", -1);
    if (op->operand_count == 0 || op->result_count != 1)
        return import_refuse(im, op, "needs a value");
    for (uint32_t i = 0; i < op->operand_count; i++)
        vec_push(&list, import_operand(im, op, i));
    ir_named_attr attr = {"axis", ir_attr_int(im->m, axis)};
    /* An operation takes 64 at most: these are joined, and what they make is. */
    bool good = true;
    while (good && list.count > 1) {
        size_t made = 0;
        for (size_t i = 0; i < list.count && good; i += LIMIT_OPERANDS) {
            const size_t n = list.count - i < LIMIT_OPERANDS ? list.count - i : LIMIT_OPERANDS;
            ir_value joined =
                n == 1 ? list.items[i]
                       : import_build(im, op, GRAPH_CONCAT, &list.items[i], (uint32_t)n, &attr, 1);
            good = joined != 0;
            list.items[made++] = joined;
        }
        list.count = made;
    }
    results[0] = list.items[0];
    vec_release(&list);
    return good;
}

bool import_pad(importer *im, const shlo_op *op, int graph, ir_value *results) {
    (void)graph;
    int64_t low[IR_MAX_RANK], high[IR_MAX_RANK], interior[IR_MAX_RANK];
    if (!import_takes(im, op, 2))
        return false;
    ir_value x = import_operand(im, op, 0);
    const int rank = import_type_of(im, x)->rank;
    if (!ints(im, op, "edge_padding_low", low, rank) ||
        !ints(im, op, "edge_padding_high", high, rank) ||
        !ints(im, op, "interior_padding", interior, rank) || !import_result_type(im, op, 0))
        return false;
    for (int i = 0; i < rank; i++)
        if (interior[i] < 0)
            return import_refuse(im, op, "the padding between elements is negative");
    results[0] = import_padded(im, x, import_operand(im, op, 1), low, high, interior);
    return true;
}

bool import_reverse(importer *im, const shlo_op *op, int graph, ir_value *results) {
    (void)graph;
    int64_t axes[IR_MAX_RANK];
    if (!import_takes(im, op, 1))
        return false;
    ir_value x = import_operand(im, op, 0);
    const ir_type_data t = *import_type_of(im, x);
    const uint32_t count = shlo_op_ints(op, "dimensions", axes, IR_MAX_RANK);
    if (count > IR_MAX_RANK || !are_axes(im, op, axes, (int)count, t.rank))
        return import_refuse(im, op, "its axes are not the operand's");
    for (uint32_t i = 0; i < count; i++) {
        const ir_dim extent = t.dims[axes[i]];
        if (extent < 2)
            continue;
        ir_value places = import_places(im, extent);
        places = import_sub(im, import_like(im, places, (double)extent - 1), places);
        x = build_gather(&im->b, x, places, (int)axes[i], 0);
    }
    results[0] = x;
    return true;
}

/* ---- at indices that are data ---- */

/* Elements start to start + size of an axis, where all of them lie in it. */
static ir_value taken(importer *im, ir_value x, ir_value start, int axis, int64_t size) {
    const int64_t extent = import_type_of(im, x)->dims[axis];
    if (size == extent)
        return x;
    ir_value from = import_clamped(im, start, extent - size);
    ir_value places = import_places(im, size);
    from = import_spread(im, from, 1, &size);
    return build_gather(&im->b, x, import_add(im, places, from), axis, 0);
}

/* Are the operands from here on integers, one each? */
static bool are_starts(importer *im, const shlo_op *op, uint32_t first) {
    for (uint32_t i = first; i < op->operand_count; i++) {
        const ir_type_data *t = import_type_of(im, import_operand(im, op, i));
        if (t->rank != 0 || !dtype_is_integer(t->element))
            return import_refuse(im, op, "operand %u is no integer without axes", i);
    }
    return true;
}

bool import_dynamic_slice(importer *im, const shlo_op *op, int graph, ir_value *results) {
    (void)graph;
    int64_t sizes[IR_MAX_RANK];
    if (op->operand_count == 0 || op->result_count != 1)
        return import_refuse(im, op, "needs a value");
    ir_value x = import_operand(im, op, 0);
    const ir_type_data t = *import_type_of(im, x);
    if (!ints(im, op, "slice_sizes", sizes, t.rank) || !are_starts(im, op, 1))
        return false;
    if (op->operand_count != (uint32_t)t.rank + 1)
        return import_refuse(im, op, "has %u starts for %d axes", op->operand_count - 1, t.rank);
    for (int i = 0; i < t.rank; i++) {
        if (sizes[i] < 0 || sizes[i] > t.dims[i])
            return import_refuse(im, op, "a size does not fit axis %d", i);
        x = taken(im, x, import_operand(im, op, (uint32_t)i + 1), i, sizes[i]);
    }
    results[0] = x;
    return true;
}

/* x with `update` in the place of what begins at these starts on the axes from `axis` on. */
static ir_value replaced(importer *im, ir_value x, ir_value update, const ir_value *starts,
                         int axis) {
    const ir_type_data t = *import_type_of(im, x), u = *import_type_of(im, update);
    while (axis < t.rank && t.dims[axis] == u.dims[axis])
        axis++;
    if (axis == t.rank)
        return update;
    ir_value slab = taken(im, x, starts[axis], axis, u.dims[axis]);
    slab = replaced(im, slab, update, starts, axis + 1);
    ir_value from = import_clamped(im, starts[axis], t.dims[axis] - u.dims[axis]);
    ir_value places = import_places(im, u.dims[axis]);
    places = import_add(im, places, import_spread(im, from, 1, &u.dims[axis]));
    ir_type type = ir_value_get(im->m, x)->type;
    ir_op op = build_along(&im->b, GRAPH_SCATTER, axis, (ir_value[]){x, places, slab}, 3, &type, 1);
    ir_builder inside = {.m = im->m, .block = ir_op_block(im->m, op, 0)};
    ir_type scalar = ir_type_tensor(im->m, t.element, 0, NULL);
    ir_block_add_argument(im->m, inside.block, scalar, NULL);
    ir_value given = ir_block_add_argument(im->m, inside.block, scalar, NULL);
    build_next(&inside, &given, 1);
    return ir_op_result(im->m, op, 0);
}

bool import_dynamic_update_slice(importer *im, const shlo_op *op, int graph, ir_value *results) {
    (void)graph;
    ir_value starts[IR_MAX_RANK];
    if (op->operand_count < 2 || op->result_count != 1)
        return import_refuse(im, op, "needs two values");
    ir_value x = import_operand(im, op, 0), update = import_operand(im, op, 1);
    const ir_type_data t = *import_type_of(im, x), u = *import_type_of(im, update);
    if (op->operand_count != (uint32_t)t.rank + 2 || u.rank != t.rank || u.element != t.element)
        return import_refuse(im, op, "the update or its starts do not fit");
    if (!are_starts(im, op, 2))
        return false;
    for (int i = 0; i < t.rank; i++) {
        if (u.dims[i] > t.dims[i])
            return import_refuse(im, op, "the update does not fit axis %d", i);
        starts[i] = import_operand(im, op, (uint32_t)i + 2);
    }
    if (graph_elements(u.rank, u.dims) == 0)
        results[0] = x;
    else
        results[0] = replaced(im, x, update, starts, 0);
    return true;
}
