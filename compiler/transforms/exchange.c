/* exchange.c - what collectives are made of: rows that ranks send each other, and sums of what
 * came.
 *
 * The order of a sum over shards is one binary tree over all of them, whatever rank has which: of n
 * shards the first 2^k < n and the others, and so on down (docs/numerics.md, "Sums over shards"). A
 * rank adds up what of the tree is its own, and sends the parts of these sums to the ranks that add
 * them, so that each rank adds one part of the result. The order `exact` has no parts that could be
 * rounded: each shard is sent. */
#include <stdlib.h>
#include <string.h>

#include "ops/orders.h"
#include "ops/reductions.h"
#include "parameters/thresholds.h"
#include "transforms/batches.h"

enum { COLLECTIVE_ALIGNED = 16 /* elements that a rank's part of a sum is a multiple of */ };

/* ---- rows ---- */

static int64_t rows_of(const ir_builder *b, ir_value x) {
    return build_type(b, x)->dims[0];
}

ir_value shard_rows(ir_builder *b, ir_value x, int64_t first, int64_t count) {
    return first == 0 && rows_of(b, x) == count ? x
                                                : build_slice_axis(b, x, 0, first, first + count);
}

/* [a * c, ...] as [a, c, ...], and back. */
static ir_value split_rows(ir_builder *b, ir_value x, int64_t a) {
    const ir_type_data t = *build_type(b, x);
    ir_dim dims[IR_MAX_RANK + 1] = {a, a ? t.dims[0] / a : 0};
    memcpy(dims + 2, t.dims + 1, sizeof *dims * (size_t)(t.rank - 1));
    return build_reshape(b, x, t.rank + 1, dims);
}

static ir_value join_rows(ir_builder *b, ir_value x) {
    const ir_type_data t = *build_type(b, x);
    ir_dim dims[IR_MAX_RANK] = {t.dims[0] * t.dims[1]};
    memcpy(dims + 1, t.dims + 2, sizeof *dims * (size_t)(t.rank - 2));
    return build_reshape(b, x, t.rank - 1, dims);
}

/* Each row as a row of numbers. */
static ir_value flat_rows(ir_builder *b, ir_value x) {
    const ir_type_data t = *build_type(b, x);
    ir_dim dims[2] = {t.dims[0], 1};
    for (int i = 1; i < t.rank; i++)
        dims[1] *= t.dims[i];
    return build_reshape(b, x, 2, dims);
}

/* ---- between ranks ---- */

static int64_t shards_of(const shard_axis *a, uint32_t rank) {
    return a->starts[rank + 1] - a->starts[rank];
}

/* Rows that go to each rank along the axis, and come from it. */
typedef struct exchange {
    int64_t *sends; /* first, count */
    int64_t *receives;
} exchange;

static exchange begin(const batching *s) {
    const uint32_t count = s->axis->rank_count;
    return (exchange){ARENA_NEW(ir_module_arena(s->m), int64_t, 2 * count),
                      ARENA_NEW(ir_module_arena(s->m), int64_t, count)};
}

static void send(const exchange *e, uint32_t rank, int64_t first, int64_t count) {
    e->sends[2 * rank] = first;
    e->sends[2 * rank + 1] = count;
}

static ir_value run(batching *s, const exchange *e, ir_value x) {
    const uint32_t count = s->axis->rank_count;
    const ir_named_attr attrs[] = {{"number", ir_attr_int(s->m, s->t->exchanges++)},
                                   {"group", ir_attr_int_array(s->m, s->axis->group, count)},
                                   {"sends", ir_attr_int_array(s->m, e->sends, 2 * count)},
                                   {"receives", ir_attr_int_array(s->m, e->receives, count)}};
    return ir_op_result(s->m, graph_build(&s->b, GRAPH_EXCHANGE, &x, 1, attrs, 4), 0);
}

/* Everybody's rows, of which each has its own number: `counts` by rank. */
static ir_value gather_rows(batching *s, ir_value x, const int64_t *counts) {
    const exchange e = begin(s);
    for (uint32_t i = 0; i < s->axis->rank_count; i++) {
        send(&e, i, 0, rows_of(&s->b, x));
        e.receives[i] = counts[i];
    }
    return run(s, &e, x);
}

ir_value shard_gather(batching *s, ir_value x) {
    const shard_axis *a = s->axis;
    int64_t *counts = ARENA_NEW(ir_module_arena(s->m), int64_t, a->rank_count + 1);
    if (a->rank_count == 1)
        return x;
    for (uint32_t i = 0; i < a->rank_count; i++)
        counts[i] = shards_of(a, i);
    return gather_rows(s, x, counts);
}

ir_value shard_swap(batching *s, ir_value x) {
    const shard_axis *a = s->axis;
    const exchange e = begin(s);
    const int64_t own = s->count;
    ir_value *parts = ARENA_NEW(ir_module_arena(s->m), ir_value, a->rank_count + 1);
    x = build_moved(&s->b, x, 0, 1); /* [to, from, ...] */
    if (a->rank_count == 1)
        return x;
    for (uint32_t i = 0; i < a->rank_count; i++) {
        send(&e, i, a->starts[i] * own, shards_of(a, i) * own);
        e.receives[i] = shards_of(a, i) * own;
    }
    const ir_value all = run(s, &e, join_rows(&s->b, x));
    for (uint32_t i = 0; i < a->rank_count; i++)
        parts[i] = split_rows(
            &s->b, shard_rows(&s->b, all, a->starts[i] * own, shards_of(a, i) * own), own);
    return build_concat(&s->b, 1, parts, a->rank_count);
}

/* ---- permutations ---- */

/* Rows one by one, -1: a row of zeros like those of x. */
static ir_value pick(batching *s, ir_value x, const int64_t *rows, int64_t count) {
    ir_type_data t = *build_type(&s->b, x);
    ir_value *parts = ARENA_NEW(ir_module_arena(s->m), ir_value, (size_t)count + 1);
    t.dims[0] = 1;
    for (int64_t i = 0; i < count; i++)
        parts[i] = rows[i] >= 0
                       ? build_slice_axis(&s->b, x, 0, rows[i], rows[i] + 1)
                       : build_zero(&s->b, ir_type_tensor(s->m, t.element, t.rank, t.dims));
    t.dims[0] = 0;
    return count ? build_concat(&s->b, 0, parts, (uint32_t)count)
                 : build_zero(&s->b, ir_type_tensor(s->m, t.element, t.rank, t.dims));
}

static uint32_t rank_of(const shard_axis *a, int64_t shard) {
    uint32_t i = 0;
    while (a->starts[i + 1] <= shard)
        i++;
    return i;
}

ir_value shard_permute(batching *s, ir_value x, const int64_t *from) {
    const shard_axis *a = s->axis;
    const exchange e = begin(s);
    int64_t *rows = ARENA_NEW(ir_module_arena(s->m), int64_t, a->total + 1), count = 0, came = 0;
    if (a->rank_count == 1)
        return pick(s, x, from, a->total);
    for (uint32_t i = 0; i < a->rank_count; i++) { /* what goes to each */
        const int64_t first = count;
        for (int64_t to = a->starts[i]; to < a->starts[i + 1]; to++)
            if (from[to] >= 0 && rank_of(a, from[to]) == a->own)
                rows[count++] = from[to] - a->first;
        send(&e, i, first, count - first);
    }
    const ir_value sent = pick(s, x, rows, count);
    for (uint32_t i = 0; i < a->rank_count; i++) {
        e.receives[i] = 0;
        for (int64_t to = a->first; to < a->first + s->count; to++)
            if (from[to] >= 0 && rank_of(a, from[to]) == i) {
                e.receives[i]++;
                rows[to - a->first] = came++;
            }
    }
    for (int64_t to = a->first; to < a->first + s->count; to++)
        if (from[to] < 0)
            rows[to - a->first] = -1;
    return pick(s, run(s, &e, sent), rows, s->count);
}

/* ---- the tree ---- */

/* A part of the tree: the shards from `first` on. */
typedef struct node {
    int64_t first, count;
    ir_value value; /* 0: it is another rank's */
} node;

typedef VEC(node) node_list;

static int64_t left_of(int64_t count) {
    int64_t left = 1;
    while (2 * left < count)
        left *= 2;
    return left;
}

/* Two parts become one by the operation; exact: all become one at once. */
typedef struct folding {
    int opcode;
    bool exact;
} folding;

static folding folding_of(const batching *s, ir_value x, const char *kind, const char *order) {
    return (folding){reduction_graph_opcode(kind),
                     strcmp(order, "exact") == 0 && dtype_is_float(build_type(&s->b, x)->element)};
}

static ir_value sum_exactly(ir_builder *b, ir_value x) {
    const int64_t axis = 0;
    const ir_named_attr attrs[] = {
        {"kind", ir_attr_string(b->m, "sum")},
        {"axes", ir_attr_int_array(b->m, &axis, 1)},
        {"order", ir_attr_string(b->m, order_info_of(ORDER_EXACT)->name)}};
    return ir_op_result(b->m, graph_build(b, GRAPH_REDUCE, &x, 1, attrs, 3), 0);
}

/* All rows of x, whose number is that of the shards: neighbours first, level by level, which is the
 * same tree. [rows, ...] gives [...]. */
static ir_value fold_rows(ir_builder *b, ir_value x, folding f) {
    ir_type_data t = *build_type(b, x);
    if (f.exact)
        return sum_exactly(b, x);
    while (t.dims[0] > 1) {
        const int64_t pairs = t.dims[0] / 2;
        const ir_value both = split_rows(b, shard_rows(b, x, 0, 2 * pairs), pairs),
                       left = build_slice_axis(b, both, 1, 0, 1),
                       right = build_slice_axis(b, both, 1, 1, 2);
        ir_value next = join_rows(b, build_binary(b, f.opcode, left, right));
        if (t.dims[0] % 2)
            next = build_concat(b, 0, (ir_value[]){next, shard_rows(b, x, 2 * pairs, 1)}, 2);
        x = next;
        t = *build_type(b, x);
    }
    return build_reshape(b, x, t.rank - 1, t.dims + 1);
}

/* The greatest parts of the tree that lie in the shards of a rank, in their order; single shards
 * where they are added exactly. */
static void find_nodes(const shard_axis *a, uint32_t rank, node part, folding f, node_list *out) {
    const int64_t from = a->starts[rank], to = a->starts[rank + 1], left = left_of(part.count);
    if (part.first >= to || part.first + part.count <= from)
        return;
    if (part.count == 1 || (!f.exact && part.first >= from && part.first + part.count <= to)) {
        vec_push(out, part);
        return;
    }
    find_nodes(a, rank, (node){part.first, left, 0}, f, out);
    find_nodes(a, rank, (node){part.first + left, part.count - left, 0}, f, out);
}

static ir_value combine_tree(ir_builder *b, const node_list *nodes, int64_t first, int64_t count,
                             int opcode) {
    for (size_t i = 0; i < nodes->count; i++)
        if (nodes->items[i].first == first && nodes->items[i].count == count)
            return nodes->items[i].value;
    const int64_t left = left_of(count);
    const ir_value x = combine_tree(b, nodes, first, left, opcode),
                   y = combine_tree(b, nodes, first + left, count - left, opcode);
    return build_binary(b, opcode, x, y);
}

/* All nodes, of as many shards. */
static ir_value combine(ir_builder *b, const node_list *nodes, int64_t shards, folding f) {
    ir_value *rows = ARENA_NEW(ir_module_arena(b->m), ir_value, nodes->count + 1);
    if (!f.exact)
        return combine_tree(b, nodes, 0, shards, f.opcode);
    for (size_t i = 0; i < nodes->count; i++)
        rows[i] = build_row(b, nodes->items[i].value);
    return sum_exactly(b, build_concat(b, 0, rows, (uint32_t)nodes->count));
}

/* The sums of this rank's nodes, [nodes, ...], of its shards. */
static ir_value own_sums(batching *s, ir_value x, const node_list *nodes, folding f) {
    ir_value *parts = ARENA_NEW(ir_module_arena(s->m), ir_value, nodes->count + 1);
    for (size_t i = 0; i < nodes->count; i++) {
        const node *n = &nodes->items[i];
        const ir_value rows = shard_rows(&s->b, x, n->first - s->axis->first, n->count);
        parts[i] = n->count == 1 ? rows : build_row(&s->b, fold_rows(&s->b, rows, f));
    }
    return build_concat(&s->b, 0, parts, (uint32_t)nodes->count);
}

/* The nodes of all ranks, and how many each has. */
static void all_nodes(const shard_axis *a, folding f, node_list *out, int64_t *counts) {
    for (uint32_t i = 0; i < a->rank_count; i++) {
        const size_t before = out->count;
        find_nodes(a, i, (node){0, a->total, 0}, f, out);
        counts[i] = (int64_t)(out->count - before);
    }
}

static ir_value row(ir_builder *b, ir_value x, int64_t i) {
    const ir_type_data t = *build_type(b, x);
    return build_reshape(b, shard_rows(b, x, i, 1), t.rank - 1, t.dims + 1);
}

/* Both ways have the same bits. */
static bool is_added_whole(const batching *s, ir_value sums) {
    const ir_type_data *t = build_type(&s->b, sums);
    return s->axis->whole_bytes < 0
               ? t->dims[1] < COLLECTIVE_WHOLE
               : t->dims[1] * (int64_t)dtype_size(t->element) <= s->axis->whole_bytes;
}

/* [nodes of this rank, n] to [n], each rank adding one part. */
static ir_value reduce_flat(batching *s, ir_value sums, folding f) {
    const shard_axis *a = s->axis;
    const int64_t length = build_type(&s->b, sums)->dims[1], own = rows_of(&s->b, sums);
    const uint32_t ranks = a->rank_count;
    int64_t *counts = ARENA_NEW(ir_module_arena(s->m), int64_t, ranks + 1);
    node_list nodes = {0};
    all_nodes(a, f, &nodes, counts);
    ir_value came, out;
    const bool whole = is_added_whole(s, sums);
    int64_t part = length;
    if (whole) {
        came = gather_rows(s, sums, counts);
    } else {
        const exchange e = begin(s);
        part = (length + ranks - 1) / ranks;
        part = (part + COLLECTIVE_ALIGNED - 1) / COLLECTIVE_ALIGNED * COLLECTIVE_ALIGNED;
        const ir_value padded = build_pad(&s->b, sums, 1, 0, part * ranks - length);
        const ir_dim dims[] = {own, ranks, part};
        const ir_value cut = build_moved(&s->b, build_reshape(&s->b, padded, 3, dims), 1,
                                         0); /* [ranks, own, part] */
        for (uint32_t i = 0; i < ranks; i++) {
            send(&e, i, i * own, own);
            e.receives[i] = counts[i];
        }
        came = run(s, &e, join_rows(&s->b, cut));
    }
    for (size_t i = 0; i < nodes.count; i++)
        nodes.items[i].value = row(&s->b, came, (int64_t)i);
    out = combine(&s->b, &nodes, a->total, f);
    vec_release(&nodes);
    if (whole)
        return out;
    const ir_dim one[] = {1, part}, all[] = {part * ranks};
    for (uint32_t i = 0; i < ranks; i++)
        counts[i] = 1;
    const ir_value parts = gather_rows(s, build_reshape(&s->b, out, 2, one), counts);
    return build_slice_axis(&s->b, build_reshape(&s->b, parts, 1, all), 0, 0, length);
}

/* Sums are of f32 at least, as those of reductions are, and rounded once. */
ir_value shard_reduce(batching *s, ir_value x, const char *kind, const char *order) {
    const dtype type = build_type(&s->b, x)->element;
    const folding f = folding_of(s, x, kind, order);
    ir_value out, wide = build_wide(&s->b, x);
    if (s->axis->rank_count == 1) {
        out = fold_rows(&s->b, wide, f);
    } else {
        const ir_type_data t = *build_type(&s->b, wide);
        node_list own = {0};
        find_nodes(s->axis, s->axis->own, (node){0, s->axis->total, 0}, f, &own);
        const ir_value sums = flat_rows(&s->b, own_sums(s, wide, &own, f));
        vec_release(&own);
        out = build_reshape(&s->b, reduce_flat(s, sums, f), t.rank - 1, t.dims + 1);
    }
    return build_convert(&s->b, out, type);
}

/* x: [shards, total, ...] */
ir_value shard_reduce_scatter(batching *s, ir_value x, const char *order) {
    const shard_axis *a = s->axis;
    const dtype type = build_type(&s->b, x)->element;
    const folding f = folding_of(s, x, "sum", order);
    const int64_t own_shards = s->count;
    ir_value wide = build_wide(&s->b, x);
    if (a->rank_count == 1)
        return build_convert(&s->b, fold_rows(&s->b, wide, f), type);
    int64_t *counts = ARENA_NEW(ir_module_arena(s->m), int64_t, a->rank_count + 1), at = 0;
    node_list own = {0}, nodes = {0};
    find_nodes(a, a->own, (node){0, a->total, 0}, f, &own);
    all_nodes(a, f, &nodes, counts);
    const ir_value sums =
        build_moved(&s->b, own_sums(s, wide, &own, f), 0, 1); /* [total, nodes, ...] */
    const exchange e = begin(s);
    for (uint32_t i = 0; i < a->rank_count; i++) {
        send(&e, i, a->starts[i] * (int64_t)own.count, shards_of(a, i) * (int64_t)own.count);
        e.receives[i] = own_shards * counts[i];
    }
    const ir_value came = run(s, &e, join_rows(&s->b, sums));
    for (uint32_t i = 0, n = 0; i < a->rank_count; i++) {
        const ir_value block =
            split_rows(&s->b, shard_rows(&s->b, came, at, own_shards * counts[i]), own_shards);
        for (int64_t k = 0; k < counts[i]; k++) {
            const ir_value one = build_slice_axis(&s->b, block, 1, k, k + 1);
            nodes.items[n++].value = join_rows(&s->b, one);
        }
        at += own_shards * counts[i];
    }
    const ir_value out = combine(&s->b, &nodes, a->total, f);
    vec_release(&own);
    vec_release(&nodes);
    return build_convert(&s->b, out, type);
}
