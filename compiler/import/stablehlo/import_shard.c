/* import_shard.c - shards of a mesh: one tessera.shard for each of its axes, the first one
 * outermost.
 */
#include <stdlib.h>
#include <string.h>

#include "import/stablehlo/import_shard.h"

/* ---- one axis after the other ---- */

/* The dimension that an axis of the job cuts, and the parts that deeper axes outside of it make;
 * -1: none. */
static int dim_of(const shard_job *j, const lying *l, uint32_t level, int64_t *outer) {
    for (uint32_t d = 0; d < l->s.rank; d++) {
        *outer = 1;
        for (uint32_t i = 0; i < l->s.dims[d].count; i++) {
            const shlo_axis_part *part = &l->s.dims[d].axes[i];
            if (part->axis == j->mesh_axes[level])
                return (int)d;
            for (uint32_t k = level + 1; k < j->count; k++)
                *outer *= j->mesh_axes[k] == part->axis ? part->size : 1;
        }
    }
    return -1;
}

/* A dimension of `outer` times `count` times the rest, without `count`, which comes first. */
static ir_value part_first(importer *im, ir_value x, int dim, int64_t outer, int64_t count) {
    const ir_type_data t = *import_type_of(im, x);
    ir_dim dims[IR_MAX_RANK + 3];
    int n = 0;
    for (int i = 0; i < t.rank; i++) {
        if (i == dim) {
            dims[n++] = outer;
            dims[n++] = count;
        }
        dims[n++] = i == dim ? t.dims[i] / (outer * count) : t.dims[i];
    }
    x = build_moved(&im->b, build_reshape(&im->b, x, n, dims), dim + 1, 0);
    dims[0] = count;
    for (int i = 0; i < t.rank; i++)
        dims[i + 1] = i == dim ? t.dims[i] / count : t.dims[i];
    return build_reshape(&im->b, x, t.rank + 1, dims);
}

/* The other way around. */
static ir_value part_back(importer *im, ir_value x, int dim, int64_t outer) {
    const ir_type_data t = *import_type_of(im, x);
    ir_dim dims[IR_MAX_RANK + 3];
    int n = 0;
    for (int i = 0; i < t.rank; i++) {
        if (i == dim + 1)
            dims[n++] = outer;
        dims[n++] = i == dim + 1 ? t.dims[i] / outer : t.dims[i];
    }
    x = build_moved(&im->b, build_reshape(&im->b, x, n, dims), 0, dim + 1);
    for (int i = 1; i < t.rank; i++)
        dims[i - 1] = i == dim + 1 ? t.dims[0] * t.dims[i] : t.dims[i];
    return build_reshape(&im->b, x, t.rank - 1, dims);
}

/* A result within an axis: what deeper axes have is put together. */
static ir_type type_within(const shard_job *j, uint32_t i, uint32_t level) {
    importer *im = j->im;
    ir_type_data t = *ir_type_get(im->m, j->types[i]);
    const lying *l = &j->out[i];
    for (uint32_t k = j->count; k-- > level + 1;) {
        const int64_t size = im->shards.axes[j->first + k].size;
        int64_t outer;
        const int dim = l->leading ? -1 : dim_of(j, l, k, &outer);
        if (dim >= 0)
            t.dims[dim] *= size;
        if (!l->leading)
            continue;
        memmove(t.dims + 1, t.dims, (size_t)t.rank * sizeof *t.dims);
        t.dims[0] = size;
        t.rank++;
    }
    return ir_type_tensor(im->m, t.element, t.rank, t.dims);
}

/* One value for all shards: that of the first one. */
static ir_value of_first(importer *im, ir_value x, uint32_t axis) {
    const ir_type_data t = *import_type_of(im, x);
    const ir_named_attr attrs[] = {{"axis", ir_attr_string(im->m, im->shards.axes[axis].name)},
                                   {"count", ir_attr_dim(im->m, im->shards.axes[axis].size)},
                                   {"dim", ir_attr_int(im->m, 0)}};
    x = build_row(&im->b, x);
    x = ir_op_result(im->m, graph_build(&im->b, GRAPH_ALL_GATHER, &x, 1, attrs, 3), 0);
    return build_reshape(&im->b, build_slice_axis(&im->b, x, 0, 0, 1), t.rank, t.dims);
}

/* The operation of an axis, whose block is empty. Values that are cut along it come first. */
static ir_op build_level(const shard_job *j, uint32_t level, const ir_value *values,
                         const bool *cut) {
    importer *im = j->im;
    import_values operands = {0};
    import_types types = {0};
    int64_t *whole = base_malloc(((size_t)j->outputs + 1) * sizeof *whole), outer;
    uint32_t sliced = 0, wholes = 0;
    const int64_t size = im->shards.axes[j->first + level].size;
    for (int pass = 1; pass >= 0; pass--)
        for (uint32_t i = 0; i < j->inputs; i++)
            if (cut[i] == (pass == 1)) {
                vec_push(&operands, values[i]);
                sliced += pass == 1;
            }
    for (uint32_t i = 0; i < j->outputs; i++) {
        const ir_type t = type_within(j, i, level);
        const bool stacked = j->out[i].leading || dim_of(j, &j->out[i], level, &outer) >= 0;
        if (!stacked)
            whole[wholes++] = i;
        if (stacked) {
            ir_type_data d = *ir_type_get(im->m, t);
            memmove(d.dims + 1, d.dims, (size_t)d.rank * sizeof *d.dims);
            d.dims[0] = size;
            vec_push(&types, ir_type_tensor(im->m, d.element, d.rank + 1, d.dims));
        } else {
            vec_push(&types, t);
        }
    }
    const ir_named_attr attrs[] = {
        {"sliced", ir_attr_int(im->m, sliced)},
        {"count", ir_attr_dim(im->m, size)},
        {"axis", ir_attr_string(im->m, im->shards.axes[j->first + level].name)},
        {"whole", ir_attr_int_array(im->m, whole, wholes)}};
    const ir_op op = ir_build(&im->b, &(ir_op_spec){.opcode = GRAPH_SHARD,
                                                    .operands = operands.items,
                                                    .operand_count = (uint32_t)operands.count,
                                                    .results = types.items,
                                                    .result_count = (uint32_t)types.count,
                                                    .attrs = attrs,
                                                    .attr_count = wholes ? 4 : 3,
                                                    .region_count = 1});
    vec_release(&operands);
    vec_release(&types);
    free(whole);
    return op;
}

/* Its block: an argument for each value, the axes behind this one, and what comes out. */
static bool fill_level(const shard_job *j, uint32_t level, ir_op op, const ir_value *values,
                       const bool *cut) {
    importer *im = j->im;
    const ir_builder around = im->b;
    ir_value *parts = base_calloc((size_t)j->inputs + 1, sizeof *parts);
    import_values made = {0};
    int64_t outer;
    im->b.block = ir_op_block(im->m, op, 0);
    im->b.before = 0;
    for (int pass = 1; pass >= 0; pass--)
        for (uint32_t i = 0; i < j->inputs; i++) {
            ir_type_data t = *import_type_of(im, values[i]);
            if (cut[i] != (pass == 1))
                continue;
            parts[i] = ir_block_add_argument(
                im->m, im->b.block,
                cut[i] ? ir_type_tensor(im->m, t.element, t.rank - 1, t.dims + 1)
                       : ir_value_get(im->m, values[i])->type,
                NULL);
        }
    const bool good = shard_run(j, level + 1, parts, &made);
    for (uint32_t i = 0; i < j->outputs && good; i++)
        if (!j->out[i].leading && dim_of(j, &j->out[i], level, &outer) < 0)
            made.items[i] = of_first(im, made.items[i], j->first + level);
    if (good)
        build_next(&im->b, made.items, (uint32_t)made.count);
    vec_release(&made);
    free(parts);
    im->b = around;
    return good;
}

bool shard_run(const shard_job *j, uint32_t level, const ir_value *values, import_values *results) {
    importer *im = j->im;
    if (level == j->count)
        return j->body(j, values, results);
    const int64_t size = im->shards.axes[j->first + level].size;
    ir_value *cut_values = base_calloc((size_t)j->inputs + 1, sizeof *cut_values);
    bool *cut = base_calloc((size_t)j->inputs + 1, sizeof *cut);
    int64_t outer;
    for (uint32_t i = 0; i < j->inputs; i++) {
        const int dim = j->in[i].leading ? -1 : dim_of(j, &j->in[i], level, &outer);
        cut[i] = j->in[i].leading || dim >= 0;
        cut_values[i] = dim >= 0 ? part_first(im, values[i], dim, outer, size) : values[i];
    }
    const ir_op op = build_level(j, level, cut_values, cut);
    const bool good = fill_level(j, level, op, cut_values, cut);
    for (uint32_t i = 0; i < j->outputs && good; i++) {
        const int dim = j->out[i].leading ? -1 : dim_of(j, &j->out[i], level, &outer);
        const ir_value made = ir_op_result(im->m, op, i);
        vec_push(results, dim >= 0 ? part_back(im, made, dim, outer) : made);
    }
    free(cut);
    free(cut_values);
    return good;
}
