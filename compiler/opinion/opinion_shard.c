/* opinion_shard.c - shards of a mesh, one by one: each operation is run by itself on each shard's
 * values, and a collective is written out on those of all shards (docs/collectives.md).
 *
 * Branches and loops that hold collectives, shards in shards and cotangents are not judged. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "opinion/opinion.h"
#include "ops/build.h"
#include "ops/derivatives/derivative.h"
#include "ops/orders.h"
#include "ops/reductions.h"
#include "ops/transforms.h"

typedef struct shards {
    const opinion_case *c;
    transform_shape s;
    uint32_t count;
    tensor **values; /* of each shard, by value id */
} shards;

/* ---- collectives as operations on what all shards have ---- */

typedef struct written {
    ir_builder b;
    const ir_module *m;
    ir_op op;
    const ir_value *x; /* the operand, of each shard */
    int64_t count;     /* of shards */
    ir_value *out;     /* the result, of each */
} written;

static int dim_of(const written *w, const char *name) {
    return (int)ir_op_int(w->m, w->op, name, 0);
}

static ir_value part_of(written *w, ir_value x, int dim, int64_t number) {
    const int64_t each = build_type(&w->b, x)->dims[dim] / w->count;
    return build_slice_axis(&w->b, x, dim, number * each, (number + 1) * each);
}

/* One binary tree: the first 2^k shards, as many as are fewer than all, and the rest. */
static ir_value tree(written *w, const ir_value *x, int64_t count, int opcode) {
    int64_t left = 1;
    if (count == 1)
        return x[0];
    while (2 * left < count)
        left *= 2;
    const ir_value first = tree(w, x, left, opcode);
    return build_binary(&w->b, opcode, first, tree(w, x + left, count - left, opcode));
}

static ir_value exact_sum(written *w, const ir_value *x) {
    const int64_t axis = 0;
    const ir_named_attr attrs[] = {
        {"kind", ir_attr_string(w->b.m, "sum")},
        {"axes", ir_attr_int_array(w->b.m, &axis, 1)},
        {"order", ir_attr_string(w->b.m, order_info_of(ORDER_EXACT)->name)}};
    ir_value *rows = ARENA_NEW(ir_module_arena(w->b.m), ir_value, (size_t)w->count);
    for (int64_t i = 0; i < w->count; i++)
        rows[i] = build_row(&w->b, x[i]);
    const ir_value all = build_concat(&w->b, 0, rows, (uint32_t)w->count);
    return ir_op_result(w->b.m, graph_build(&w->b, GRAPH_REDUCE, &all, 1, attrs, 3), 0);
}

static ir_value reduced(written *w) {
    const dtype type = build_type(&w->b, w->x[0])->element;
    const bool exact =
        dtype_is_float(type) && strcmp(ir_op_string(w->m, w->op, "fold", "tree"), "exact") == 0;
    ir_value *wide = ARENA_NEW(ir_module_arena(w->b.m), ir_value, (size_t)w->count);
    for (int64_t i = 0; i < w->count; i++)
        wide[i] = build_wide(&w->b, w->x[i]);
    const int opcode = reduction_graph_opcode(ir_op_string(w->m, w->op, "kind", "sum"));
    const ir_value all = exact ? exact_sum(w, wide) : tree(w, wide, w->count, opcode);
    return build_convert(&w->b, all, type);
}

static void all_reduce(written *w) {
    const ir_value all = reduced(w);
    for (int64_t i = 0; i < w->count; i++)
        w->out[i] = all;
}

static void reduce_scatter(written *w) {
    const ir_value all = reduced(w);
    for (int64_t i = 0; i < w->count; i++)
        w->out[i] = part_of(w, all, dim_of(w, "dim"), i);
}

static void all_gather(written *w) {
    const ir_value all = build_concat(&w->b, dim_of(w, "dim"), w->x, (uint32_t)w->count);
    for (int64_t i = 0; i < w->count; i++)
        w->out[i] = all;
}

static void shard_slice(written *w) {
    for (int64_t i = 0; i < w->count; i++)
        w->out[i] = part_of(w, w->x[i], dim_of(w, "dim"), i);
}

static void all_to_all(written *w) {
    ir_value *parts = ARENA_NEW(ir_module_arena(w->b.m), ir_value, (size_t)w->count);
    for (int64_t to = 0; to < w->count; to++) {
        for (int64_t from = 0; from < w->count; from++)
            parts[from] = part_of(w, w->x[from], dim_of(w, "split"), to);
        w->out[to] = build_concat(&w->b, dim_of(w, "concat"), parts, (uint32_t)w->count);
    }
}

static void permute(written *w) {
    const ir_attr_data *pairs = ir_attr_get(w->m, ir_op_attr(w->m, w->op, "pairs"));
    const ir_type type = ir_value_get(w->b.m, w->x[0])->type;
    for (int64_t i = 0; i < w->count; i++)
        w->out[i] = build_zero(&w->b, type);
    for (uint32_t i = 0; i + 1 < pairs->count; i += 2) {
        const int64_t from = ir_attr_get(w->m, pairs->items[i])->integer,
                      to = ir_attr_get(w->m, pairs->items[i + 1])->integer;
        if (from >= 0 && from < w->count && to >= 0 && to < w->count)
            w->out[to] = w->x[from];
    }
}

static void shard_index(written *w) {
    for (int64_t i = 0; i < w->count; i++)
        w->out[i] = build_scalar(&w->b, DTYPE_I32, (uint64_t)i);
}

/* The same values, said to differ. */
static void vary(written *w) {
    for (int64_t i = 0; i < w->count; i++)
        w->out[i] = w->x[i];
}

typedef void (*writing)(written *w);
static writing writing_of(int opcode) {
    static const writing all[] = {
        [GRAPH_ALL_REDUCE] = all_reduce,         [GRAPH_ALL_GATHER] = all_gather,
        [GRAPH_REDUCE_SCATTER] = reduce_scatter, [GRAPH_SHARD_SLICE] = shard_slice,
        [GRAPH_ALL_TO_ALL] = all_to_all,         [GRAPH_PERMUTE] = permute,
        [GRAPH_SHARD_INDEX] = shard_index,       [GRAPH_VARY] = vary};
    return opcode < (int)(sizeof all / sizeof *all) ? all[opcode] : NULL;
}

/* ---- values ---- */

static tensor *value(const shards *g, uint32_t shard, ir_value v) {
    return &g->values[shard][v];
}

/* The collective's result for each shard. */
static bool run_collective(shards *g, ir_op op) {
    const ir_module *m = g->c->m;
    const ir_op_data *d = ir_op_get(m, op);
    const uint32_t taken = d->operand_count ? g->count : 0;
    written w = {.b = opinion_begin(m, taken, g->count), .m = m, .op = op, .count = g->count};
    ir_value *values = base_calloc(2 * (size_t)g->count, sizeof *values);
    for (uint32_t i = 0; i < taken; i++)
        values[i] =
            ir_block_add_argument(w.b.m, w.b.block, ir_value_get(m, d->operands[0])->type, NULL);
    w.x = values;
    w.out = values + g->count;
    writing_of(d->opcode)(&w);
    compiler_instance *kernel = opinion_end(&w.b, w.out, g->count);
    tensor *in = base_calloc((size_t)taken + 1, sizeof *in), *out = tensors_new(g->count);
    for (uint32_t i = 0; i < taken; i++)
        in[i] = *value(g, i, d->operands[0]);
    const bool ok = opinion_interpret(g->c->o, kernel, in, out);
    for (uint32_t i = 0; i < g->count && ok; i++) {
        *value(g, i, d->results[0]) = out[i];
        out[i] = (tensor){0};
    }
    free(in);
    tensors_free(out);
    compiler_instance_free(kernel);
    free(values);
    return ok;
}

/* Any other operation, on each shard by itself. */
static bool run_plain(shards *g, ir_op op) {
    const ir_op_data *d = ir_op_get(g->c->m, op);
    compiler_instance *kernel = opinion_operation(g->c->m, op, false);
    tensor *in = base_calloc((size_t)d->operand_count + 1, sizeof *in),
           *out = tensors_new(d->result_count);
    bool ok = true;
    for (uint32_t shard = 0; shard < g->count && ok; shard++) {
        for (uint32_t i = 0; i < d->operand_count; i++)
            in[i] = *value(g, shard, d->operands[i]);
        ok = opinion_interpret(g->c->o, kernel, in, out);
        for (uint32_t i = 0; i < d->result_count && ok; i++) {
            *value(g, shard, d->results[i]) = out[i];
            out[i] = (tensor){0};
        }
    }
    free(in);
    tensors_free(out);
    compiler_instance_free(kernel);
    return ok;
}

/* A reverse derivative, too, has the cotangents of what is alike summed over the shards. */
static bool holds_collective(const ir_module *m, ir_op op) {
    bool found = false;
    for (ir_walk w = ir_walk_op(m, op); !found && ir_walk_next(&w);)
        found = graph_op_class(ir_op_get(m, w.op)->opcode) == GRAPH_CLASS_COLLECTIVE ||
                ir_op_get(m, w.op)->opcode == GRAPH_VJP;
    return found;
}

/* False: it is of another axis, or none that is written out here. */
static bool is_own(const shards *g, ir_op op) {
    const ir_module *m = g->c->m;
    const int opcode = ir_op_get(m, op)->opcode;
    return writing_of(opcode) &&
           (opcode == GRAPH_VARY ||
            strcmp(ir_op_string(m, op, "axis", ""), ir_op_string(m, g->c->op, "axis", "")) == 0);
}

static bool run(shards *g) {
    const ir_module *m = g->c->m;
    const ir_block_data *block = ir_block_get(m, ir_op_block(m, g->c->op, 0));
    bool ok = true;
    for (ir_op op = block->first; op != block->last && ok; op = ir_op_get(m, op)->next) {
        const bool collective = graph_op_class(ir_op_get(m, op)->opcode) == GRAPH_CLASS_COLLECTIVE;
        ok = collective ? is_own(g, op) && run_collective(g, op)
                        : !holds_collective(m, op) && run_plain(g, op);
    }
    return ok;
}

static bool take(shards *g) {
    const ir_module *m = g->c->m;
    const ir_block_data *block = ir_block_get(m, ir_op_block(m, g->c->op, 0));
    bool ok = true;
    for (uint32_t shard = 0; shard < g->count; shard++)
        for (uint32_t i = 0; i < g->s.value_count && ok; i++) {
            tensor *to = value(g, shard, block->arguments[i]);
            const tensor *from = &g->c->operands[i];
            ok = i < g->s.sliced ? opinion_part(from, shard, to, g->c->o->st)
                                 : tensor_copy(from, to, g->c->o->st);
        }
    return ok;
}

/* ---- the verdict ---- */

static opinion_verdict compare(const shards *g) {
    const ir_module *m = g->c->m;
    const ir_op_data *end = ir_op_get(m, ir_block_get(m, ir_op_block(m, g->c->op, 0))->last);
    for (uint32_t shard = 0; shard < g->count; shard++)
        for (uint32_t i = 0; i < g->s.result_count; i++) {
            const tensor *own = value(g, shard, end->operands[i]);
            const size_t bytes = tensor_bytes(own),
                         at = transform_is_whole(g->c->m, g->c->op, i) ? 0 : shard * bytes;
            if (memcmp((const char *)g->c->results[i].data + at, own->data, bytes) == 0)
                continue;
            snprintf(g->c->o->out->why, sizeof g->c->o->out->why,
                     "result %u has not the bits that shard %u has by itself", i, shard);
            return OPINION_WRONG;
        }
    return OPINION_RIGHT;
}

opinion_verdict opinion_of_shard(const opinion_case *c) {
    enum { SHARDS_MOST = 64 };
    const transform_shape s = transform_shape_of(c->m, c->op);
    if (!ir_dim_is_static(s.count) || s.count < 1 || s.count > SHARDS_MOST)
        return OPINION_NONE;
    const uint32_t values = ir_value_count(c->m) + 1;
    shards g = {.c = c, .s = s, .count = (uint32_t)s.count};
    g.values = base_calloc(g.count, sizeof(*g.values));
    for (uint32_t i = 0; i < g.count; i++)
        g.values[i] = base_calloc(values, sizeof *g.values[i]);
    const opinion_verdict v = take(&g) && run(&g) ? compare(&g) : OPINION_NONE;
    for (uint32_t i = 0; i < g.count; i++) {
        for (uint32_t k = 0; k < values; k++)
            tensor_release(&g.values[i][k]);
        free(g.values[i]);
    }
    free(g.values);
    return v;
}
