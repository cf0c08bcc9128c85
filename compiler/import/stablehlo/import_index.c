/* import_index.c - gather and scatter: elements at indices that are data.
 *
 * Where one axis is indexed and the others are whole, Graph IR has the operation, on rows. Every
 * other case goes by the place of each element in memory: the tensor is one axis, and the index of
 * an element is computed from the starts of its slice and its place in it. */
#include <string.h>

#include "import/stablehlo/import.h"

/* Axes by name, as the text has them; gather and scatter mirror each other. */
typedef struct indexing {
    int64_t window[IR_MAX_RANK]; /* axes of the slices in the result, or in the updates */
    int64_t dropped[IR_MAX_RANK];
    int64_t batching[IR_MAX_RANK], index_batching[IR_MAX_RANK];
    int64_t map[IR_MAX_RANK]; /* the operand's axis of each number of a start */
    int windows, drops, batches, index_batches, mapped;
    int64_t vector; /* the axis of a start's numbers in the indices; their rank: one number each */
    int64_t sizes[IR_MAX_RANK]; /* of slices, by axis of the operand */
    ir_type_data operand, indices, slices;
} indexing;

static bool list(importer *im, const shlo_op *op, const char *name, int64_t *out, int *count,
                 int limit) {
    const uint32_t n = shlo_op_ints(op, name, out, IR_MAX_RANK);
    *count = (int)n;
    if (n > IR_MAX_RANK)
        return import_refuse(im, op, "'%s' is too long", name);
    for (uint32_t i = 0; i < n; i++)
        if (out[i] < 0 || out[i] >= limit)
            return import_refuse(im, op, "'%s' names axis %lld, which is none", name,
                                 (long long)out[i]);
    return true;
}

static bool is_window(const indexing *x, int axis) {
    return !ir_ints_hold(x->dropped, x->drops, axis) &&
           !ir_ints_hold(x->batching, x->batches, axis);
}

static bool fits(importer *im, const shlo_op *op, const indexing *x) {
    const int64_t numbers = x->vector == x->indices.rank ? 1 : x->indices.dims[x->vector];
    int whole = 0;
    for (int i = 0; i < x->operand.rank; i++)
        whole += is_window(x, i);
    for (int i = 0; i < x->index_batches; i++)
        if (x->index_batching[i] == x->vector)
            return import_refuse(im, op, "the numbers of a start are no batch");
    if (x->batches != x->index_batches || x->mapped != numbers || whole != x->windows ||
        x->slices.rank != x->windows + x->indices.rank - (x->vector < x->indices.rank))
        return import_refuse(im, op, "its numbers of axes do not fit");
    for (int i = 0; i < x->operand.rank; i++)
        if (x->sizes[i] < 0 || x->sizes[i] > x->operand.dims[i] ||
            (!is_window(x, i) && x->sizes[i] != 1 && x->operand.dims[i] > 0))
            return import_refuse(im, op, "the size of a slice does not fit axis %d", i);
    if (graph_elements(x->operand.rank, x->operand.dims) >= (int64_t)1 << LIMIT_DIMENSION_BITS)
        return import_refuse(im, op, "of a tensor of 2^31 elements or more is not supported");
    return true;
}

/* ---- places in memory ---- */

/* Axes of the slices that are none of a window, in order. */
static int outer_axes(const indexing *x, int64_t *out) {
    int n = 0;
    for (int i = 0; i < x->slices.rank; i++)
        if (!ir_ints_hold(x->window, x->windows, i))
            out[n++] = i;
    return n;
}

/* Number `which` of all starts, repeated in the shape of the slices. */
static ir_value start_of(importer *im, const indexing *x, ir_value indices, int which) {
    ir_dim dims[IR_MAX_RANK];
    int64_t outer[IR_MAX_RANK];
    int rank = 0;
    if (x->vector < x->indices.rank)
        indices = build_slice_axis(&im->b, indices, (int)x->vector, which, which + 1);
    for (int i = 0; i < x->indices.rank; i++)
        if (i != x->vector)
            dims[rank++] = x->indices.dims[i];
    outer_axes(x, outer);
    return build_broadcast(&im->b, import_shaped(im, indices, rank, dims), x->slices.rank,
                           x->slices.dims, outer);
}

static ir_value scaled(importer *im, ir_value places, int64_t stride) {
    return stride == 1 ? places : import_mul(im, places, import_like(im, places, (double)stride));
}

static ir_value added(importer *im, ir_value sum, ir_value x) {
    return sum ? import_add(im, sum, x) : x;
}

/* The place along an axis of the operand of each element of the slices: start and place in the
 * window; or that of the batch. */
static ir_value along(importer *im, const indexing *x, ir_value indices, int axis, bool clamps) {
    ir_value place = 0;
    int window = 0;
    for (int i = 0; i < axis; i++)
        window += is_window(x, i);
    for (int i = 0; i < x->mapped; i++)
        if (x->map[i] == axis) {
            place = start_of(im, x, indices, i);
            place = clamps ? import_clamped(im, place, x->operand.dims[axis] - x->sizes[axis])
                           : import_index_from(im, place, -x->sizes[axis], x->operand.dims[axis]);
        }
    if (is_window(x, axis) && x->sizes[axis] != 1) {
        ir_value step = build_iota(&im->b, x->slices.rank, x->slices.dims, (int)x->window[window]);
        place = added(im, place, step);
    }
    for (int i = 0; i < x->batches; i++)
        if (x->batching[i] == axis) {
            int64_t outer[IR_MAX_RANK], index_axis = x->index_batching[i];
            outer_axes(x, outer);
            index_axis -= index_axis > x->vector;
            place = build_iota(&im->b, x->slices.rank, x->slices.dims, (int)outer[index_axis]);
        }
    return place;
}

/* The place in memory of each element of the slices; -1: one of its places is outside of its axis.
 */
static ir_value memory_places(importer *im, const indexing *x, ir_value indices, bool clamps) {
    ir_value sum = 0, inside = 0;
    int64_t stride = 1;
    for (int axis = x->operand.rank - 1; axis >= 0; axis--) {
        ir_value place = along(im, x, indices, axis, clamps);
        if (place && !clamps) {
            place = import_index_or_none(im, place, x->operand.dims[axis] - 1);
            ir_value in = import_is(im, "ge", place, import_like(im, place, 0));
            inside = inside ? import_binary(im, GRAPH_AND, inside, in) : in;
        }
        if (place)
            sum = added(im, sum, scaled(im, place, stride));
        stride *= x->operand.dims[axis];
    }
    if (!sum) {
        sum = import_spread(im, import_number(im, DTYPE_I32, 0), x->slices.rank, x->slices.dims);
        return sum;
    }
    return inside ? build_select(&im->b, inside, sum, import_like(im, sum, -1)) : sum;
}

/* ---- gather ---- */

/* Are the extents of the result those of the slices, and of the indices? */
static bool has_extents(importer *im, const shlo_op *op, const indexing *x) {
    int window = 0, outer = 0;
    for (int i = 0; i < x->operand.rank; i++)
        if (is_window(x, i) && x->slices.dims[x->window[window++]] != x->sizes[i])
            return import_refuse(im, op, "the result has not the size of a slice on axis %d", i);
    for (int i = 0; i < x->slices.rank; i++) {
        if (ir_ints_hold(x->window, x->windows, i))
            continue;
        outer += outer == x->vector;
        if (x->slices.dims[i] != x->indices.dims[outer++])
            return import_refuse(im, op, "axis %d of the result is not that of the indices", i);
    }
    return true;
}

static bool read_gather(importer *im, const shlo_op *op, indexing *x) {
    int sizes;
    const ir_type wanted = import_takes(im, op, 2) ? import_result_type(im, op, 0) : 0;
    if (!wanted)
        return false;
    x->operand = *import_type_of(im, import_operand(im, op, 0));
    x->indices = *import_type_of(im, import_operand(im, op, 1));
    x->slices = *ir_type_get(im->m, wanted);
    x->vector = shlo_op_int(op, "index_vector_dim", 0);
    if (x->vector < 0 || x->vector > x->indices.rank)
        return import_refuse(im, op, "'index_vector_dim' is no axis of the indices");
    if (!list(im, op, "offset_dims", x->window, &x->windows, x->slices.rank) ||
        !list(im, op, "collapsed_slice_dims", x->dropped, &x->drops, x->operand.rank) ||
        !list(im, op, "operand_batching_dims", x->batching, &x->batches, x->operand.rank) ||
        !list(im, op, "start_indices_batching_dims", x->index_batching, &x->index_batches,
              x->indices.rank) ||
        !list(im, op, "start_index_map", x->map, &x->mapped, x->operand.rank))
        return false;
    sizes = (int)shlo_op_ints(op, "slice_sizes", x->sizes, IR_MAX_RANK);
    return (sizes == x->operand.rank || import_refuse(im, op, "'slice_sizes' does not fit")) &&
           fits(im, op, x) && has_extents(im, op, x);
}

/* One axis is indexed, by one number, and the others are whole. */
static bool is_rows(const indexing *x) {
    if (x->mapped != 1 || x->batches || x->sizes[x->map[0]] != 1)
        return false;
    for (int i = 0; i < x->operand.rank; i++)
        if (i != x->map[0] && (x->sizes[i] != x->operand.dims[i] || !is_window(x, i)))
            return false;
    return !is_window(x, (int)x->map[0]);
}

/* tessera.gather puts the axes of the indices in the place of the axis; here windows may lie
 * anywhere. */
static ir_value gather_rows(importer *im, const indexing *x, ir_value operand, ir_value indices) {
    const int axis = (int)x->map[0];
    ir_dim dims[IR_MAX_RANK];
    int64_t outer[IR_MAX_RANK], order[IR_MAX_RANK];
    int rank = 0;
    for (int i = 0; i < x->indices.rank; i++)
        if (i != x->vector)
            dims[rank++] = x->indices.dims[i];
    indices = import_clamped(im, import_shaped(im, indices, rank, dims), x->operand.dims[axis] - 1);
    ir_value taken = build_gather(&im->b, operand, indices, axis, 0);
    outer_axes(x, outer);
    bool sorted = true;
    for (int i = 0; i < x->slices.rank; i++) {
        int from = -1;
        for (int k = 0; k < rank; k++)
            if (outer[k] == i)
                from = axis + k;
        for (int k = 0; k < x->windows; k++)
            if (x->window[k] == i)
                from = k < axis ? k : k + rank;
        order[i] = from;
        sorted &= from == i;
    }
    return sorted ? taken : build_transpose(&im->b, taken, order);
}

bool import_gather(importer *im, const shlo_op *op, int graph, ir_value *results) {
    (void)graph;
    indexing x = {0};
    if (!read_gather(im, op, &x))
        return false;
    ir_value operand = import_operand(im, op, 0), indices = import_operand(im, op, 1);
    const bool empty = graph_elements(x.slices.rank, x.slices.dims) == 0;
    if (empty || graph_elements(x.operand.rank, x.operand.dims) == 0)
        results[0] = import_spread(im, import_number(im, x.operand.element, 0), x.slices.rank,
                                   x.slices.dims);
    else if (is_rows(&x))
        results[0] = gather_rows(im, &x, operand, indices);
    else
        results[0] = build_gather(&im->b, import_flat(im, operand),
                                  memory_places(im, &x, indices, true), 0, 0);
    return true;
}

/* ---- scatter ---- */

static bool read_scatter(importer *im, const shlo_op *op, indexing *x) {
    const uint32_t count = op->operand_count / 2;
    x->operand = *import_type_of(im, import_operand(im, op, 0));
    x->indices = *import_type_of(im, import_operand(im, op, count));
    x->slices = *import_type_of(im, import_operand(im, op, count + 1));
    x->vector = shlo_op_int(op, "index_vector_dim", 0);
    if (x->vector < 0 || x->vector > x->indices.rank)
        return import_refuse(im, op, "'index_vector_dim' is no axis of the indices");
    if (!list(im, op, "update_window_dims", x->window, &x->windows, x->slices.rank) ||
        !list(im, op, "inserted_window_dims", x->dropped, &x->drops, x->operand.rank) ||
        !list(im, op, "input_batching_dims", x->batching, &x->batches, x->operand.rank) ||
        !list(im, op, "scatter_indices_batching_dims", x->index_batching, &x->index_batches,
              x->indices.rank) ||
        !list(im, op, "scatter_dims_to_operand_dims", x->map, &x->mapped, x->operand.rank))
        return false;
    for (int i = 0, window = 0; i < x->operand.rank; i++) {
        const bool takes_part = is_window(x, i);
        if (takes_part && window == x->windows)
            return import_refuse(im, op, "its numbers of axes do not fit");
        x->sizes[i] = takes_part ? x->slices.dims[x->window[window++]] : 1;
    }
    return fits(im, op, x);
}

/* Updates of rows: their axis is that of the operand, and the others are the windows in order. */
static bool rows_in_place(const indexing *x) {
    if (!is_rows(x) || x->slices.rank != x->operand.rank)
        return false;
    const int64_t axis = x->map[0];
    for (int i = 0; i < x->windows; i++)
        if (x->window[i] != i + (i >= axis))
            return false;
    return true;
}

typedef struct scattering {
    import_values operands;
    import_types types;
    int axis;
} scattering;

/* On memory as one axis, or on rows. */
static void scatter_operands(importer *im, const shlo_op *op, const indexing *x, scattering *s) {
    const uint32_t count = op->operand_count / 2;
    ir_value indices = import_operand(im, op, count);
    const bool rows = rows_in_place(x);
    s->axis = rows ? (int)x->map[0] : 0;
    for (uint32_t i = 0; i < count; i++)
        import_push(im, op->operands[i], &s->operands);
    const size_t tensors = s->operands.count;
    indices = rows ? import_index_or_none(im, indices, x->operand.dims[s->axis] - 1)
                   : memory_places(im, x, indices, false);
    vec_push(&s->operands, import_flat(im, indices));
    for (uint32_t i = 0; i < count; i++)
        import_push(im, op->operands[count + 1 + i], &s->operands);
    for (size_t i = 0; i < s->operands.count; i++)
        if (!rows && i != tensors)
            s->operands.items[i] = import_flat(im, s->operands.items[i]);
    for (size_t i = 0; i < tensors; i++)
        vec_push(&s->types, ir_value_get(im->m, s->operands.items[i])->type);
}

bool import_scatter(importer *im, const shlo_op *op, int graph, ir_value *results) {
    (void)graph;
    indexing x = {0};
    scattering s = {0};
    import_values made = {0};
    const uint32_t count = op->operand_count / 2;
    if (op->operand_count < 3 || op->operand_count % 2 == 0 || op->result_count != count)
        return import_refuse(im, op, "needs tensors, indices, and updates for each tensor");
    if (!import_alike(im, op, count, count + 1) || !read_scatter(im, op, &x))
        return false;
    for (uint32_t i = 1; i < count; i++)
        if (op->operands[count + 1 + i]->type->rank != op->operands[count + 1]->type->rank ||
            shlo_type_count(op->operands[count + 1 + i]->type) !=
                shlo_type_count(op->operands[count + 1]->type))
            return import_refuse(im, op, "updates %u are not like the first", i);
    const bool empty = graph_elements(x.slices.rank, x.slices.dims) == 0 ||
                       graph_elements(x.operand.rank, x.operand.dims) == 0;
    if (empty) {
        for (uint32_t i = 0; i < count; i++)
            import_push(im, op->operands[i], &made);
        import_take_results(op, made.items, results);
        vec_release(&made);
        return true;
    }
    scatter_operands(im, op, &x, &s);
    ir_op scatter = build_along(&im->b, GRAPH_SCATTER, s.axis, s.operands.items,
                                (uint32_t)s.operands.count, s.types.items, (uint32_t)s.types.count);
    bool good =
        import_combiner_block(im, op, ir_op_block(im->m, scatter, 0), op->regions[0], count, false);
    for (uint32_t i = 0; i < s.types.count; i++)
        vec_push(&made, import_shaped(im, ir_op_result(im->m, scatter, i), x.operand.rank,
                                      x.operand.dims));
    import_take_results(op, made.items, results);
    vec_release(&s.operands);
    vec_release(&s.types);
    vec_release(&made);
    return good;
}
