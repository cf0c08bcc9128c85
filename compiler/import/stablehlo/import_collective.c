/* import_collective.c - collectives among the shards around an operation.
 *
 * Groups that are all shards along axes become the collectives of Graph IR over these axes. Others
 * gather what all devices have, and each takes the rows of its group by a table. Either way sums
 * are the tree of docs/collectives.md, in the order of the group. */
#include <stdlib.h>
#include <string.h>

#include "import/stablehlo/import_shard.h"
#include "ops/orders.h"
#include "ops/reductions.h"

/* ---- this device ---- */

static ir_value build(importer *im, int opcode, ir_value x, uint32_t axis,
                      const ir_named_attr *more, uint32_t count) {
    ir_named_attr attrs[6] = {{"axis", ir_attr_string(im->m, im->shards.axes[axis].name)},
                              {"count", ir_attr_dim(im->m, im->shards.axes[axis].size)}};
    for (uint32_t i = 0; i < count; i++)
        attrs[2 + i] = more[i];
    return ir_op_result(im->m, graph_build(&im->b, opcode, &x, x ? 1 : 0, attrs, 2 + count), 0);
}

static ir_value index_along(importer *im, uint32_t axis) {
    return build(im, GRAPH_SHARD_INDEX, 0, axis, NULL, 0);
}

/* A sum of the places along axes, each so many times: i32. */
static ir_value weighted(importer *im, const int64_t *strides) {
    ir_value sum = import_number(im, DTYPE_I32, 0);
    for (uint32_t i = 0; i < im->shards.count; i++) {
        if (im->shards.axes[i].size == 1 || strides[i] == 0)
            continue;
        const ir_value at = index_along(im, i),
                       times = import_number(im, DTYPE_I32, (double)strides[i]);
        sum = import_add(im, sum, import_mul(im, at, times));
    }
    return sum;
}

static ir_value place(importer *im) {
    int64_t strides[MESH_AXES_MAX + 2];
    for (uint32_t i = 0; i < im->shards.count; i++)
        strides[i] = groups_stride(im, i);
    return weighted(im, strides);
}

/* This place's row of a table that has one of i32 for each, [width]. */
static ir_value own_row(importer *im, const int32_t *table, int64_t places, int64_t width) {
    const ir_dim dims[] = {places, width};
    const ir_value all = import_dense(im, ir_type_tensor(im->m, DTYPE_I32, 2, dims), table,
                                      (size_t)(places * width) * sizeof *table);
    return build_gather(&im->b, all, place(im), 0, 0);
}

/* The same of a table with one number for each: a scalar. */
static ir_value own_number(importer *im, const int32_t *table, int64_t places) {
    return build_reshape(&im->b, own_row(im, table, places, 1), 0, NULL);
}

/* ---- what all have ---- */

/* The values of all places one behind the other along a new axis 0. */
static ir_value gathered(importer *im, ir_value x) {
    const ir_named_attr dim = {"dim", ir_attr_int(im->m, 0)};
    x = build_row(&im->b, x);
    for (uint32_t i = im->shards.count; i-- > 0;)
        x = build(im, GRAPH_ALL_GATHER, x, i, &dim, 1);
    return x;
}

static ir_value row_of(importer *im, ir_value x, int64_t row) {
    const ir_type_data t = *import_type_of(im, x);
    return build_reshape(&im->b, build_slice_axis(&im->b, x, 0, row, row + 1), t.rank - 1,
                         t.dims + 1);
}

/* The values of this place's group, as rows in its order. Groups of another size have other rows.
 */
static ir_value group_rows(importer *im, const device_groups *g, ir_value x, int64_t size) {
    int32_t *table = base_calloc((size_t)(g->places * size) + 1, sizeof *table);
    for (int64_t i = 0; i < g->places; i++)
        for (int64_t k = 0; k < size && g->group[i] >= 0; k++) {
            const int64_t member = g->members[g->group[i] * g->size + k];
            table[i * size + k] = member < 0 ? 0 : (int32_t)member;
        }
    const ir_value rows = own_row(im, table, g->places, size);
    free(table);
    return build_gather(&im->b, gathered(im, x), rows, 0, 0);
}

/* The position of this place in its group. */
static ir_value own_position(importer *im, const device_groups *g) {
    int32_t *table = base_calloc((size_t)g->places + 1, sizeof *table);
    for (int64_t i = 0; i < g->places; i++)
        table[i] = (int32_t)g->position[i];
    const ir_value position = own_number(im, table, g->places);
    free(table);
    return position;
}

/* ---- sums ---- */

/* The combiner of a sum: a kind, or a body that has none. */
typedef struct combiner {
    const shlo_op *op;
    const char *kind;
} combiner;

static int opcode_of(const char *kind) {
    return strcmp(kind, "and") == 0  ? GRAPH_AND
           : strcmp(kind, "or") == 0 ? GRAPH_OR
                                     : reduction_graph_opcode(kind);
}

static ir_value combined(importer *im, const combiner *c, ir_value x, ir_value y) {
    const ir_value both[] = {x, y};
    return c->kind ? import_binary(im, opcode_of(c->kind), x, y)
                   : import_body_of(im, c->op, c->op->regions[0], both, 2);
}

/* Neighbours, and so on up: the first 2^k of them are one part, and the rest the other. */
static ir_value folded(importer *im, const combiner *c, ir_value rows, int64_t count) {
    ir_value *list = base_malloc((size_t)count * sizeof *list), sum;
    bool good = true;
    for (int64_t i = 0; i < count; i++)
        list[i] = row_of(im, rows, i);
    for (; count > 1 && good; count = (count + 1) / 2)
        for (int64_t i = 0; i < count / 2 + count % 2 && good; i++) {
            list[i] =
                2 * i + 1 < count ? combined(im, c, list[2 * i], list[2 * i + 1]) : list[2 * i];
            good = list[i] != 0;
        }
    sum = good ? list[0] : 0;
    free(list);
    return sum;
}

/* Sums over groups that may be of several sizes. */
static ir_value fold_groups(importer *im, const combiner *c, const device_groups *g, ir_value x) {
    int32_t *sizes = base_calloc((size_t)g->places + 1, sizeof *sizes);
    ir_value sum = 0;
    for (int64_t i = 0; i < g->places; i++)
        for (uint32_t k = 0; k < g->size && g->group[i] >= 0; k++)
            sizes[i] += g->members[g->group[i] * g->size + k] >= 0;
    for (int32_t size = 1; size <= (int32_t)g->size; size++) {
        bool some = false;
        for (int64_t i = 0; i < g->places; i++)
            some |= sizes[i] == size;
        const ir_value one = some ? folded(im, c, group_rows(im, g, x, size), size) : 0;
        if (some && !one)
            break;
        if (some && sum) {
            const ir_type_data t = *import_type_of(im, x);
            const ir_value mine = import_is(im, "eq", own_number(im, sizes, g->places),
                                            import_number(im, DTYPE_I32, size));
            sum = build_select(&im->b, import_spread(im, mine, t.rank, t.dims), one, sum);
        } else if (some) {
            sum = one;
        }
    }
    free(sizes);
    return sum;
}

/* Is a tree over the axes, the last one first, the tree over all of their places? */
static bool is_one_tree(const importer *im, uint32_t axes) {
    bool first = true;
    for (uint32_t i = 0; i < im->shards.count; i++) {
        const int64_t size = im->shards.axes[i].size;
        if (!(axes >> i & 1) || size == 1)
            continue;
        if (!first && (size & (size - 1)) != 0)
            return false;
        first = false;
    }
    return true;
}

static ir_value reduce_along(importer *im, uint32_t axes, const char *kind, ir_value x) {
    const ir_named_attr attrs[] = {{"kind", ir_attr_string(im->m, kind)},
                                   {"fold", ir_attr_string(im->m, "tree")}};
    for (uint32_t i = im->shards.count; i-- > 0;) {
        if (!(axes >> i & 1))
            continue;
        const ir_value both[] = {x, index_along(im, i)};
        x = ir_op_result(im->m, graph_build(&im->b, GRAPH_VARY, both, 2, NULL, 0), 0);
        x = build(im, GRAPH_ALL_REDUCE, x, i, attrs, 2);
    }
    return x;
}

/* Floats of 16 bits and less are added in f32 and rounded once. */
static dtype wide_of(const char *kind, dtype t) {
    const bool sum = kind && (strcmp(kind, "sum") == 0 || strcmp(kind, "prod") == 0);
    return t == DTYPE_BOOL                                 ? DTYPE_U8
           : sum && dtype_is_float(t) && dtype_size(t) < 4 ? DTYPE_F32
                                                           : t;
}

/* Truth values are numbers of one bit: their sum is or, their product and. */
static const char *kind_for(const char *kind, dtype t) {
    static const char *const of_bool[][2] = {
        {"sum", "max"}, {"or", "max"}, {"prod", "min"}, {"and", "min"}};
    for (size_t i = 0; t == DTYPE_BOOL && kind && i < sizeof of_bool / sizeof *of_bool; i++)
        if (strcmp(kind, of_bool[i][0]) == 0)
            return of_bool[i][1];
    return kind;
}

static ir_value reduced(importer *im, const shlo_op *op, const device_groups *g, ir_value x) {
    const dtype t = import_type_of(im, x)->element;
    const combiner c = {op, kind_for(import_kind_of(op->regions[0]), t)};
    const uint32_t axes = groups_axes(im, g);
    if (g->size == 1 && g->uniform)
        return x;
    if (!c.kind)
        return fold_groups(im, &c, g, x);
    ir_value y = build_convert(&im->b, x, wide_of(c.kind, t));
    y = axes && is_one_tree(im, axes) && reduction_graph_opcode(c.kind) >= 0
            ? reduce_along(im, axes, c.kind, y)
            : fold_groups(im, &c, g, y);
    return y ? build_convert(&im->b, y, t) : 0;
}

/* ---- parts ---- */

/* An axis as `count` parts: the rows of a new axis 0. */
static ir_value parts_of(importer *im, ir_value x, int axis, int64_t count) {
    const ir_type_data t = *import_type_of(im, x);
    ir_dim dims[IR_MAX_RANK + 1];
    int n = 0;
    for (int i = 0; i < t.rank; i++) {
        if (i == axis)
            dims[n++] = count;
        dims[n++] = i == axis ? t.dims[i] / count : t.dims[i];
    }
    return build_moved(&im->b, build_reshape(&im->b, x, n, dims), axis, 0);
}

/* The other way around. */
static ir_value joined(importer *im, ir_value rows, int axis) {
    const ir_value y = build_moved(&im->b, rows, 0, axis);
    const ir_type_data t = *import_type_of(im, y);
    ir_dim dims[IR_MAX_RANK];
    int n = 0;
    for (int i = 0; i < t.rank; i++) {
        dims[n++] = i == axis ? t.dims[i] * t.dims[i + 1] : t.dims[i];
        i += i == axis;
    }
    return build_reshape(&im->b, y, n, dims);
}

/* The row of this place's position. */
static ir_value own_part(importer *im, const device_groups *g, ir_value rows) {
    return build_gather(&im->b, rows, own_position(im, g), 0, 0);
}

/* The number of an axis in an attribute, -1 when refused: that there is one, of a whole number of
 * parts, and that the value may have one more. */
static int axis_named(importer *im, const shlo_op *op, const char *name, ir_value x,
                      int64_t parts) {
    const ir_type_data *t = import_type_of(im, x);
    const int64_t axis = shlo_op_int(op, name, -1);
    if (axis < 0 || axis >= t->rank)
        import_refuse(im, op, "'%s' is no axis of the operand", name);
    else if (t->rank + 1 >= IR_MAX_RANK)
        import_refuse(im, op, "of more than %d axes is not supported", IR_MAX_RANK - 2);
    else if (parts < 1 || t->dims[axis] % parts)
        import_refuse(im, op, "axis %lld, of %lld, does not divide over %lld devices",
                      (long long)axis, (long long)t->dims[axis], (long long)parts);
    else
        return (int)axis;
    return -1;
}

static ir_value gather_one(importer *im, const shlo_op *op, const device_groups *g, ir_value x) {
    const int axis = axis_named(im, op, "all_gather_dim", x, 1);
    const uint32_t axes = groups_axes(im, g);
    if (axis < 0)
        return 0;
    if (!axes)
        return joined(im, group_rows(im, g, x, g->size), axis);
    const ir_named_attr dim = {"dim", ir_attr_int(im->m, axis)};
    for (uint32_t i = im->shards.count; i-- > 0;)
        if (axes >> i & 1)
            x = build(im, GRAPH_ALL_GATHER, x, i, &dim, 1);
    return x;
}

static ir_value scatter_one(importer *im, const shlo_op *op, const device_groups *g, ir_value x) {
    const int axis = axis_named(im, op, "scatter_dimension", x, g->size);
    const char *kind = import_kind_of(op->regions[0]);
    const uint32_t axes = groups_axes(im, g);
    if (axis < 0)
        return 0;
    const bool direct = axes && (axes & (axes - 1)) == 0 && kind && strcmp(kind, "sum") == 0 &&
                        import_type_of(im, x)->element != DTYPE_BOOL;
    if (direct) {
        const ir_named_attr attrs[] = {{"dim", ir_attr_int(im->m, axis)},
                                       {"fold", ir_attr_string(im->m, "tree")}};
        return build(im, GRAPH_REDUCE_SCATTER, x, (uint32_t)__builtin_ctz(axes), attrs, 2);
    }
    const ir_value sum = reduced(im, op, g, x);
    return sum ? own_part(im, g, parts_of(im, sum, axis, g->size)) : 0;
}

static ir_value exchange_one(importer *im, const shlo_op *op, const device_groups *g, ir_value x) {
    const int split = axis_named(im, op, "split_dimension", x, g->size),
              concat = split < 0 ? -1 : axis_named(im, op, "concat_dimension", x, 1);
    const uint32_t axes = groups_axes(im, g);
    if (concat < 0)
        return 0;
    if (shlo_op_int(op, "split_count", -1) != (int64_t)g->size) {
        import_refuse(im, op, "'split_count' is not the number of devices in a group");
        return 0;
    }
    if (axes && (axes & (axes - 1)) == 0) {
        const ir_named_attr dims[] = {{"split", ir_attr_int(im->m, split)},
                                      {"concat", ir_attr_int(im->m, concat)}};
        return build(im, GRAPH_ALL_TO_ALL, x, (uint32_t)__builtin_ctz(axes), dims, 2);
    }
    const ir_value rows = group_rows(im, g, x, g->size);           /* [from, ...] */
    const ir_value parts = parts_of(im, rows, split + 1, g->size); /* [to, from, ...] */
    return joined(im, own_part(im, g, parts), concat);
}

/* ---- copies ---- */

/* Each place has the value of another one, or zeros. */
static ir_value copied(importer *im, ir_value x, const int64_t *sources, int64_t places) {
    const ir_type_data t = *import_type_of(im, x);
    int32_t *from = base_malloc(2 * (size_t)places * sizeof *from), *some = from + places;
    bool all = true;
    for (int64_t i = 0; i < places; i++) {
        from[i] = sources[i] < 0 ? 0 : (int32_t)sources[i];
        some[i] = sources[i] >= 0;
        all &= sources[i] >= 0;
    }
    ir_value y = build_gather(&im->b, gathered(im, x), own_number(im, from, places), 0, 0);
    if (!all) {
        const ir_value is =
            import_is(im, "ne", own_number(im, some, places), import_number(im, DTYPE_I32, 0));
        y = build_select(&im->b, import_spread(im, is, t.rank, t.dims), y, import_like(im, y, 0));
    }
    free(from);
    return y;
}

/* The axis along which all places send alike, and to which place along it: false where there is
 * none. */
static bool sends_along(const importer *im, const int64_t *sources, int64_t places, uint32_t *axis,
                        int64_t *from) {
    for (*axis = 0; *axis < im->shards.count; ++*axis) {
        const int64_t size = im->shards.axes[*axis].size, stride = groups_stride(im, *axis);
        bool same = true;
        for (int64_t i = 0; i < places && same; i++) {
            const int64_t at = i / stride % size, base = i - at * stride,
                          source = sources[i] < 0 ? -1 : (sources[i] - base) / stride;
            if (i == at * stride)
                from[at] = source;
            same = source == from[at] &&
                   (source < 0 || (source < size && sources[i] == base + source * stride));
        }
        if (same)
            return true;
    }
    return false;
}

static ir_value permuted(importer *im, ir_value x, const int64_t *sources, int64_t places) {
    int64_t *from = base_malloc(3 * (size_t)places * sizeof *from), *pairs = from + places;
    uint32_t axis, count = 0;
    ir_value y;
    if (sends_along(im, sources, places, &axis, from)) {
        for (int64_t i = 0; i < im->shards.axes[axis].size; i++)
            if (from[i] >= 0) {
                pairs[count++] = from[i];
                pairs[count++] = i;
            }
        const ir_named_attr attr = {"pairs", ir_attr_int_array(im->m, pairs, count)};
        y = build(im, GRAPH_PERMUTE, x, axis, &attr, 1);
    } else {
        y = copied(im, x, sources, places);
    }
    free(from);
    return y;
}

bool import_collective_permute(importer *im, const shlo_op *op, int graph, ir_value *results) {
    (void)graph;
    int64_t *sources = import_takes(im, op, 1) ? groups_sources(im, op) : NULL;
    if (!sources)
        return false;
    const ir_value x = import_operand(im, op, 0);
    results[0] = im->shards.count  ? permuted(im, x, sources, groups_places(im))
                 : sources[0] == 0 ? x
                                   : import_like(im, x, 0);
    free(sources);
    return true;
}

/* The root of value i in its group: the first, or as the last operand says, which is the same for
 * all of the group. */
static ir_value root_of(importer *im, const shlo_op *op, const device_groups *g, uint32_t i) {
    if (!groups_flag(op, "has_dynamic_root"))
        return import_number(im, DTYPE_I32, 0);
    const ir_value list = import_operand(im, op, op->operand_count - 1);
    const ir_value one = build_slice_axis(&im->b, list, 0, i, i + 1);
    return import_clamped(im, build_reshape(&im->b, one, 0, NULL), (int64_t)g->size - 1);
}

/* The root of each group gives; a device that is in none has zeros. */
static ir_value broadcast_one(importer *im, const shlo_op *op, const device_groups *g, uint32_t i) {
    const ir_value x = import_operand(im, op, i);
    if (groups_flag(op, "has_dynamic_root"))
        return build_gather(&im->b, group_rows(im, g, x, g->size), root_of(im, op, g, i), 0, 0);
    int64_t *sources = base_malloc((size_t)g->places * sizeof *sources);
    for (int64_t k = 0; k < g->places; k++)
        sources[k] = g->group[k] < 0 ? -1 : g->members[g->group[k] * g->size];
    const ir_value y = copied(im, x, sources, g->places);
    free(sources);
    return y;
}

/* The sum for the root of each group; the others have zeros. */
static ir_value root_alone(importer *im, const shlo_op *op, const device_groups *g, uint32_t i) {
    const ir_value sum = reduced(im, op, g, import_operand(im, op, i));
    if (!sum)
        return 0;
    const ir_type_data t = *import_type_of(im, sum);
    const ir_value is = import_is(im, "eq", own_position(im, g), root_of(im, op, g, i));
    return build_select(&im->b, import_spread(im, is, t.rank, t.dims), sum,
                        import_like(im, sum, 0));
}

/* ---- all of them ---- */

static ir_value collective_one(importer *im, const shlo_op *op, const device_groups *g,
                               uint32_t i) {
    const ir_value x = import_operand(im, op, i);
    switch (op->info->opcode) {
    case SHLO_OP_ALL_REDUCE:
        return reduced(im, op, g, x);
    case SHLO_OP_COLLECTIVE_REDUCE:
        return root_alone(im, op, g, i);
    case SHLO_OP_ALL_GATHER:
        return gather_one(im, op, g, x);
    case SHLO_OP_REDUCE_SCATTER:
        return scatter_one(im, op, g, x);
    case SHLO_OP_ALL_TO_ALL:
        return exchange_one(im, op, g, x);
    default:
        return broadcast_one(im, op, g, i);
    }
}

static bool has_roots(importer *im, const shlo_op *op) {
    const shlo_type *t = op->operands[op->operand_count - 1]->type;
    return (t->kind == SHLO_TYPE_TENSOR && t->rank == 1 && t->dims[0] == op->result_count) ||
           import_refuse(im, op, "its last operand does not have a root for each value");
}

static bool fits(importer *im, const shlo_op *op, const device_groups *g) {
    const bool rooted = groups_flag(op, "has_dynamic_root");
    const bool ragged = !rooted && (op->info->opcode == SHLO_OP_ALL_REDUCE ||
                                    op->info->opcode == SHLO_OP_COLLECTIVE_BROADCAST ||
                                    op->info->opcode == SHLO_OP_COLLECTIVE_REDUCE);
    if (op->operand_count == 0 || op->operand_count != op->result_count + rooted)
        return import_refuse(im, op, "does not give a value for each that it takes");
    if (rooted && !has_roots(im, op))
        return false;
    return g->uniform || ragged ||
           import_refuse(im, op, "its groups are of several sizes, or do not have all devices");
}

bool import_collective(importer *im, const shlo_op *op, int graph, ir_value *results) {
    (void)graph;
    device_groups g;
    bool good = groups_read(im, op, &g) && fits(im, op, &g);
    for (uint32_t i = 0; i < op->result_count && good; i++) {
        results[i] = collective_one(im, op, &g, i);
        good = results[i] != 0 || import_refuse(im, op, "cannot be made");
    }
    groups_release(&g);
    return good;
}

/* Numbers of this device: a replica is so many partitions. */
bool import_rank_id(importer *im, const shlo_op *op, int graph, ir_value *results) {
    (void)graph;
    const bool replica = op->info->opcode == SHLO_OP_REPLICA_ID;
    const int64_t partitions = im->shards.partitions;
    int64_t strides[MESH_AXES_MAX + 2];
    if (op->result_count != 1 || !import_result_type(im, op, 0))
        return false;
    for (uint32_t i = 0; i < im->shards.count; i++) {
        const int64_t stride = im->shards.axes[i].stride;
        strides[i] = replica ? stride / partitions : stride < partitions ? stride : 0;
    }
    ir_value id = weighted(im, strides);
    if (!replica && im->shards.ids) {
        int32_t *table = base_malloc((size_t)partitions * sizeof *table);
        const ir_dim dims[] = {partitions};
        for (int64_t i = 0; i < partitions; i++)
            table[i] = (int32_t)im->shards.ids[i];
        id = build_gather(&im->b,
                          import_dense(im, ir_type_tensor(im->m, DTYPE_I32, 1, dims), table,
                                       (size_t)partitions * sizeof *table),
                          id, 0, 0);
        free(table);
    }
    results[0] = build_convert(&im->b, id, DTYPE_U32);
    return true;
}
