/* partition.c - values become the parts that a rank has.
 *
 * The operations stay, of smaller values; where one needs another part of a value than there is,
 * rows are left out, or come from the ranks that have them, before it. A part of a value is made
 * once. */
#include <stdlib.h>
#include <string.h>

#include "ops/control.h"
#include "transforms/partition.h"

/* ---- axes ---- */

uint8_t partition_axis(partition *p, const char *name, size_t length, int64_t shards) {
    for (uint32_t i = 0; i < p->axis_count; i++)
        if (p->axes[i].total == shards && strlen(p->axes[i].name) == length &&
            strncmp(p->axes[i].name, name, length) == 0)
            return (uint8_t)(i + 1);
    const shard_axis axis =
        shard_axis_of(p->t, arena_strndup(ir_module_arena(p->m), name, length), shards);
    if (axis.rank_count == 1 || p->axis_count == PARTITION_AXES_MAX)
        return 0;
    p->axes[p->axis_count++] = axis;
    return (uint8_t)p->axis_count;
}

placement partition_read(partition *p, const char *words, const ir_type_data *type) {
    placement out = {0};
    sharding_dim dims[IR_MAX_RANK];
    if (!words || !sharding_fits(words, type) || !sharding_read(words, type->rank, dims))
        return out;
    for (int d = 0; d < type->rank; d++)
        for (uint32_t i = 0, at = 0; i < dims[d].count; i++) {
            const sharding_axis *a = &dims[d].axes[i];
            const uint8_t number = partition_axis(p, a->name, a->length, a->shards);
            if (number)
                out.axes[d][at++] = number;
        }
    return out;
}

static int64_t own_shards(const shard_axis *a) {
    return a->starts[a->own + 1] - a->first;
}

int64_t placement_shards(const partition *p, const placement *of, int dim, bool own) {
    int64_t all = 1;
    for (int i = 0; i < SHARDING_AXES && of->axes[dim][i]; i++) {
        const shard_axis *a = &p->axes[of->axes[dim][i] - 1];
        all *= own ? own_shards(a) : a->total;
    }
    return all;
}

/* A dimension of the own shards, of that of all, or the other way around. */
static int64_t size_of(const partition *p, const placement *of, int dim, int64_t size, bool own) {
    return size / placement_shards(p, of, dim, !own) * placement_shards(p, of, dim, own);
}

static ir_type part_type(const partition *p, ir_type whole, const placement *of) {
    ir_type_data t = *ir_type_get(p->m, whole);
    for (int d = 0; d < t.rank; d++)
        t.dims[d] = size_of(p, of, d, t.dims[d], true);
    return ir_type_tensor(p->m, t.element, t.rank, t.dims);
}

static void make_part(const partition *p, ir_value v, const placement *of) {
    ir_value_data *d = ir_value_get(p->m, v);
    if (!placement_is_whole(of))
        d->type = part_type(p, d->type, of);
}

/* ---- another part ---- */

/* A dimension with an axis for each one of the mesh that cuts it: [before, shards..., rest,
 * behind].
 */
typedef struct opened {
    int count;
    ir_dim dims[SHARDING_AXES + 3];
} opened;

static opened open_dim(const partition *p, ir_value x, const placement *of, int dim, bool own) {
    const ir_type_data *t = ir_type_of(p->m, x);
    opened o = {.dims = {1}};
    int64_t rest = t->dims[dim] / placement_shards(p, of, dim, own), behind = 1;
    for (int d = 0; d < t->rank; d++)
        if (d < dim)
            o.dims[0] *= t->dims[d];
        else if (d > dim)
            behind *= t->dims[d];
    for (; o.count < SHARDING_AXES && of->axes[dim][o.count]; o.count++) {
        const shard_axis *a = &p->axes[of->axes[dim][o.count] - 1];
        o.dims[1 + o.count] = own ? own_shards(a) : a->total;
    }
    o.dims[1 + o.count] = rest;
    o.dims[2 + o.count] = behind;
    return o;
}

static ir_value close_dim(ir_builder *b, ir_value x, const ir_type_data *as, int dim,
                          int64_t size) {
    ir_type_data t = *as;
    t.dims[dim] = size;
    return build_reshape(b, x, t.rank, t.dims);
}

/* The shards that other ranks have come to those of this one. */
static ir_value gather_dim(const partition *p, ir_builder *b, ir_value x, const placement *of,
                           int dim) {
    const ir_type_data t = *ir_type_of(p->m, x);
    const opened o = open_dim(p, x, of, dim, true);
    x = build_reshape(b, x, o.count + 3, o.dims);
    for (int i = o.count; i > 0; i--) {
        const shard_axis *a = &p->axes[of->axes[dim][i - 1] - 1];
        batching s = {.t = p->t, .m = p->m, .b = *b, .axis = a, .count = own_shards(a)};
        x = build_moved(b, shard_gather(&s, build_moved(b, x, i, 0)), 0, i);
    }
    return close_dim(b, x, &t, dim, size_of(p, of, dim, t.dims[dim], false));
}

static ir_value slice_dim(const partition *p, ir_builder *b, ir_value x, const placement *of,
                          int dim) {
    const ir_type_data t = *ir_type_of(p->m, x);
    const opened o = open_dim(p, x, of, dim, false);
    x = build_reshape(b, x, o.count + 3, o.dims);
    for (int i = 0; i < o.count; i++) {
        const shard_axis *a = &p->axes[of->axes[dim][i] - 1];
        x = build_slice_axis(b, x, 1 + i, a->first, a->first + own_shards(a));
    }
    return close_dim(b, x, &t, dim, size_of(p, of, dim, t.dims[dim], true));
}

/* The dimension that is cut by the one axis that another dimension is to be cut by; -1: none. */
static int swapped_from(const placement *is, const placement *wanted, int dim) {
    const uint8_t axis = wanted->axes[dim][0];
    if (placement_is_cut(is, dim) || !axis || wanted->axes[dim][1])
        return -1;
    for (int d = 0; d < IR_MAX_RANK; d++)
        if (is->axes[d][0] == axis && !is->axes[d][1] && !placement_is_cut(wanted, d))
            return d;
    return -1;
}

/* Each rank sends every other one what that is to have: [own shards, all shards, ...] of both
 * dimensions change places. */
static ir_value swap_dims(const partition *p, ir_builder *b, ir_value x, uint8_t axis, int from,
                          int to) {
    const shard_axis *a = &p->axes[axis - 1];
    const ir_type_data t = *ir_type_of(p->m, x);
    const int64_t own = own_shards(a), first = t.dims[from] / own, second = t.dims[to] / a->total;
    const int low = from < to ? from : to, high = from < to ? to : from;
    ir_dim dims[7] = {1, 0, 0, 1, 0, 0, 1};
    for (int d = 0; d < t.rank; d++)
        dims[d < low ? 0 : d < high ? 3 : 6] *= d == low || d == high ? 1 : t.dims[d];
    dims[low == from ? 1 : 4] = own;
    dims[low == from ? 2 : 5] = first;
    dims[low == from ? 4 : 1] = a->total;
    dims[low == from ? 5 : 2] = second;
    const int own_at = low == from ? 1 : 4, all_at = low == from ? 4 : 1;
    batching s = {.t = p->t, .m = p->m, .b = *b, .axis = a, .count = own};
    int64_t there[7] = {own_at, all_at}, back[7];
    for (int i = 0, rest = 2; i < 7; i++) {
        back[i] = i == own_at ? 1 : i == all_at ? 0 : rest;
        if (i != own_at && i != all_at)
            there[rest++] = i;
    }
    x = build_transpose(b, build_reshape(b, x, 7, dims), there);
    x = build_transpose(b, shard_swap(&s, x),
                        back); /* of [own shards of `to`, all of `from`, ...] */
    ir_type_data out = t;
    out.dims[from] = first * a->total;
    out.dims[to] = second * own;
    return build_reshape(b, x, out.rank, out.dims);
}

typedef struct kept_part {
    ir_value of, part;
    placement as;
} kept_part;
typedef VEC(kept_part) part_list;

static ir_value other_part(const partition *p, ir_builder *b, ir_value x, placement is,
                           const placement *wanted) {
    const int rank = ir_type_of(p->m, x)->rank;
    for (int d = 0; d < rank; d++) {
        const int from = swapped_from(&is, wanted, d);
        if (from < 0)
            continue;
        x = swap_dims(p, b, x, wanted->axes[d][0], from, d);
        memcpy(is.axes[d], wanted->axes[d], SHARDING_AXES);
        memset(is.axes[from], 0, SHARDING_AXES);
    }
    for (int d = 0; d < rank; d++)
        if (placement_is_cut(&is, d) && memcmp(is.axes[d], wanted->axes[d], SHARDING_AXES) != 0) {
            x = gather_dim(p, b, x, &is, d);
            memset(is.axes[d], 0, SHARDING_AXES);
        }
    for (int d = 0; d < rank; d++)
        if (placement_is_cut(wanted, d) && !placement_is_cut(&is, d))
            x = slice_dim(p, b, x, wanted, d);
    return x;
}

static ir_value part_of(const partition *p, part_list *parts, ir_op before, ir_value v,
                        const placement *wanted) {
    const ir_op_data *d = ir_op_get(p->m, before);
    ir_builder b = {p->m, d->block, before, d->location};
    if (placement_equal(&p->of[v], wanted))
        return v;
    for (size_t i = 0; i < parts->count; i++)
        if (parts->items[i].of == v && placement_equal(&parts->items[i].as, wanted))
            return parts->items[i].part;
    const kept_part made = {v, other_part(p, &b, v, p->of[v], wanted), *wanted};
    vec_push(parts, made);
    return made.part;
}

/* ---- all operations ---- */

/* Shapes that an operation states are those of parts; a slice takes all of what is cut. */
static void state_shape(const partition *p, ir_op op) {
    const ir_op_data *d = ir_op_get(p->m, op);
    const ir_type_data *t = ir_type_of(p->m, d->results[0]);
    const char *name =
        d->opcode == GRAPH_SLICE ? "stop"
        : d->opcode == GRAPH_RESHAPE || d->opcode == GRAPH_BROADCAST || d->opcode == GRAPH_IOTA
            ? "shape"
            : NULL;
    ir_dim dims[IR_MAX_RANK];
    if (!name)
        return;
    memcpy(dims, t->dims, sizeof dims);
    if (d->opcode == GRAPH_SLICE) {
        ir_op_ints(p->m, op, name, dims, IR_MAX_RANK);
        for (int i = 0; i < t->rank; i++)
            if (placement_is_cut(&p->of[d->results[0]], i))
                dims[i] = t->dims[i];
    }
    ir_op_set_attr(p->m, op, name, ir_attr_dim_array(p->m, dims, (uint32_t)t->rank));
}

static void rewrite(const partition *p, part_list *parts, ir_op op, const placement *wanted) {
    ir_op_data *d = ir_op_get(p->m, op);
    for (uint32_t i = 0; i < d->operand_count; i++)
        d->operands[i] = part_of(p, parts, op, d->operands[i], &wanted[i]);
    for (uint32_t i = 0; i < d->result_count; i++)
        make_part(p, d->results[i], &p->of[d->results[i]]);
    if (d->result_count == 1 && !placement_is_whole(&p->of[d->results[0]]))
        state_shape(p, op);
    for (uint32_t r = 0; r < d->region_count; r++) {
        const ir_block_data *b = ir_block_get(p->m, ir_op_block(p->m, op, r));
        for (uint32_t i = 0; i < b->argument_count; i++)
            make_part(p, b->arguments[i], &p->of[b->arguments[i]]);
    }
}

void graph_drop_placed(ir_module *m) {
    ir_op_remove_attr(m, ir_module_kernel(m), "shardings");
    for (ir_walk w = ir_walk_op(m, ir_module_kernel(m)); ir_walk_next(&w);)
        if (ir_op_get(m, w.op)->opcode == GRAPH_PLACED) {
            ir_replace_uses(m, ir_op_result(m, w.op, 0), ir_op_get(m, w.op)->operands[0]);
            ir_op_erase(m, w.op);
        }
}

static ir_attr part_words(const partition *p, const placement *of, int rank) {
    text words;
    text_init(&words);
    for (int d = 0, behind = 0; d < rank; d++)
        for (int i = 0; i < SHARDING_AXES && of->axes[d][i]; i++) {
            const shard_axis *a = &p->axes[of->axes[d][i] - 1];
            for (; behind < d; behind++)
                text_append(&words, ",");
            text_printf(&words, "%s%lld+%lld/%lld", i ? " " : "", (long long)a->first,
                        (long long)own_shards(a), (long long)a->total);
        }
    const ir_attr out = ir_attr_string(p->m, words.data ? words.data : "");
    text_release(&words);
    return out;
}

/* Notes of inputs and outputs which parts they are. */
static void put_parts(const partition *p) {
    const uint32_t count = sharding_count(p->m);
    ir_attr *list = ARENA_NEW(ir_module_arena(p->m), ir_attr, count + 1);
    for (uint32_t i = 0; i < count; i++)
        list[i] = part_words(p, &p->said[i], ir_type_of(p->m, sharding_value(p->m, i))->rank);
    ir_op_set_attr(p->m, ir_module_kernel(p->m), "parts", ir_attr_array(p->m, list, count));
}

static void read_said(partition *p) {
    const uint32_t count = sharding_count(p->m);
    p->said = ARENA_NEW(ir_module_arena(p->m), placement, count + 1);
    for (uint32_t i = 0; i < count; i++)
        p->said[i] = partition_read(p, sharding_of(p->m, ir_module_kernel(p->m), i),
                                    ir_type_of(p->m, sharding_value(p->m, i)));
}

static bool is_cut(const partition *p) {
    for (ir_value v = 1; v <= p->value_count; v++)
        if (!placement_is_whole(&p->of[v]))
            return true;
    return false;
}

/* All is known of the operations as they were, before the first one is of parts; those that are
 * built between them are not theirs. */
static void rewrite_all(const partition *p) {
    VEC(ir_op) all = {0};
    VEC(placement) wanted = {0};
    part_list parts = {0};
    size_t at = 0;
    for (ir_walk w = ir_walk_op(p->m, ir_module_kernel(p->m)); ir_walk_next(&w);) {
        vec_push(&all, w.op);
        for (uint32_t i = 0; i < ir_op_get(p->m, w.op)->operand_count; i++)
            vec_push(&wanted, partition_wanted(p, w.op, i));
    }
    for (size_t i = 0; i < all.count; i++) {
        rewrite(p, &parts, all.items[i], wanted.items + at);
        at += ir_op_get(p->m, all.items[i])->operand_count;
    }
    vec_release(&all);
    vec_release(&wanted);
    vec_release(&parts);
}

void partition_run(transforming *t) {
    partition p = {.t = t, .m = t->m, .value_count = ir_value_count(t->m)};
    p.of = base_calloc((size_t)p.value_count + 1, sizeof *p.of);
    bool shards = false; /* which take parts of what is whole, too */
    for (ir_walk w = ir_walk_op(t->m, ir_module_kernel(t->m)); ir_walk_next(&w);)
        if (ir_op_get(t->m, w.op)->opcode == GRAPH_SHARD) {
            shards = true;
            const char *name = ir_op_string(t->m, w.op, "axis", "");
            (void)partition_axis(&p, name, strlen(name), ir_op_int(t->m, w.op, "count", 0));
        }
    read_said(&p);
    partition_propagate(&p);
    if (partition_scatter(&p)) {
        free(p.of);
        p.value_count = ir_value_count(t->m);
        p.of = base_calloc((size_t)p.value_count + 1, sizeof *p.of);
        partition_propagate(&p);
    }
    if (is_cut(&p))
        put_parts(&p);
    if (shards || is_cut(&p))
        rewrite_all(&p);
    free(p.of);
}
