/* shard.c - shards of a mesh: the operations of a block on those that one rank has.
 *
 * Outside of a tessera.shard, values are the parts that partition.c leaves to a rank; inside, a
 * rank has some of the shards along each axis, as parts of a batch (vmap.c), and collectives are
 * what collective.c and exchange.c make of them. */
#include <stdlib.h>
#include <string.h>

#include "ops/control.h"
#include "ops/dead.h"
#include "transforms/partition.h"

/* ---- around ---- */

bool shard_is_around(const ir_module *m, ir_block block) {
    for (ir_op op = ir_block_parent(m, block); op; op = ir_block_parent(m, ir_op_get(m, op)->block))
        if (ir_op_get(m, op)->opcode == GRAPH_SHARD)
            return true;
        else if (!ir_op_get(m, op)->block)
            return false;
    return false;
}

ir_value shard_as(ir_builder *b, int opcode, ir_value x, ir_value like) {
    const ir_value operands[] = {x, like};
    return shard_is_around(b->m, b->block)
               ? ir_op_result(b->m, graph_build(b, opcode, operands, 2, NULL, 0), 0)
               : x;
}

/* ---- ranks along the axes ---- */

/* The axes of all shards of a module, in the order in which they are met first: an axis outside of
 * another one comes before it. */
struct shard_grid {
    uint32_t axis_count, rank;
    const int64_t *whole; /* of the ranks */
    int64_t bucket_bytes;
    struct {
        const char *name;
        int64_t total; /* the least, where several have the name */
        uint32_t ranks;
    } axes[SHARD_AXES_MAX];
};

static uint32_t find_axis(const shard_grid *g, const char *name, size_t length) {
    uint32_t i = 0;
    while (i < g->axis_count &&
           (strlen(g->axes[i].name) != length || strncmp(g->axes[i].name, name, length) != 0))
        i++;
    return i;
}

static bool add_axis(shard_grid *g, const char *name, int64_t total, status *st) {
    const uint32_t i = find_axis(g, name, strlen(name));
    if (i == SHARD_AXES_MAX)
        return status_set(st, STATUS_UNAVAILABLE, "a program has at most %d axes of meshes",
                          SHARD_AXES_MAX);
    if (i == g->axis_count) {
        g->axes[i].name = name;
        g->axes[i].total = total;
        g->axes[i].ranks = 1;
        g->axis_count++;
    }
    if (total < g->axes[i].total)
        g->axes[i].total = total;
    return true;
}

/* The greatest divisor of a number that is not above another one. */
static uint32_t divisor(uint32_t of, int64_t most) {
    uint32_t d = of;
    while (d > 1 && (d > most || of % d))
        d--;
    return d;
}

static bool read_layout(shard_grid *g, const shard_ranks *ranks, status *st) {
    uint64_t all = 1;
    for (const char *at = ranks->layout; *at;) {
        char *end;
        const size_t length = strcspn(at, "=");
        const uint32_t i = find_axis(g, at, length);
        const unsigned long long count = at[length] ? strtoull(at + length + 1, &end, 10) : 0;
        if (i == g->axis_count || count < 1 || count > (uint64_t)g->axes[i].total ||
            (*end && *end != ','))
            return status_set(st, STATUS_INVALID,
                              "'%s' is no layout of ranks: write AXIS=RANKS,..., with axes of the "
                              "program, and at most as many ranks as an axis has shards",
                              ranks->layout);
        g->axes[i].ranks = (uint32_t)count;
        all *= count;
        at = *end ? end + 1 : end;
    }
    return all == ranks->count ||
           status_set(st, STATUS_INVALID, "the layout '%s' is of %llu ranks, and there are %u",
                      ranks->layout, (unsigned long long)all, ranks->count);
}

static bool spread(shard_grid *g, const shard_ranks *ranks, status *st) {
    uint32_t left = ranks->count;
    if (ranks->layout)
        return read_layout(g, ranks, st);
    for (uint32_t i = 0; i < g->axis_count; i++) {
        g->axes[i].ranks = divisor(left, g->axes[i].total);
        left /= g->axes[i].ranks;
    }
    return left == 1 || g->axis_count == 0 ||
           status_set(st, STATUS_UNAVAILABLE,
                      "%u ranks do not divide over the axes of the program: '%s' has %lld shards%s",
                      ranks->count, g->axes[0].name, (long long)g->axes[0].total,
                      g->axis_count > 1 ? ", and others have theirs" : "");
}

typedef struct adding {
    shard_grid *g;
    ir_module *m;
    status *st;
} adding;

static bool add_placed(const sharding_axis *a, void *context) {
    const adding *to = context;
    const char *name = arena_strndup(ir_module_arena(to->m), a->name, a->length);
    return add_axis(to->g, name, a->shards, to->st);
}

/* Shards first, then what lies on their mesh or on another one. */
static bool find_grid(ir_module *m, const shard_ranks *ranks, shard_grid *g, status *st) {
    *g = (shard_grid){.rank = ranks->rank,
                      .whole = ranks->whole,
                      .bucket_bytes =
                          ranks->bucket_bytes ? ranks->bucket_bytes : SHARD_BUCKET_BYTES};
    bool ok = true;
    for (ir_walk w = ir_walk_block(m, ir_module_body(m)); ok && ir_walk_next(&w);)
        if (ir_op_get(m, w.op)->opcode == GRAPH_SHARD)
            ok = add_axis(g, ir_op_string(m, w.op, "axis", ""), ir_op_int(m, w.op, "count", 1), st);
    ok = ok && sharding_each_axis(m, add_placed, &(adding){g, m, st});
    return ok && spread(g, ranks, st);
}

shard_axis shard_axis_of(transforming *t, const char *name, int64_t total) {
    ir_module *m = t->m;
    shard_axis a = {.name = name, .total = total, .rank_count = 1, .whole_bytes = -1};
    const shard_grid *g = t->grid;
    uint32_t i = 0, stride = 1;
    while (g && i < g->axis_count && strcmp(g->axes[i].name, a.name) != 0)
        i++;
    if (!g || i == g->axis_count || g->axes[i].ranks == 1)
        return a;
    for (uint32_t k = i + 1; k < g->axis_count; k++)
        stride *= g->axes[k].ranks;
    a.rank_count = g->axes[i].ranks;
    a.bucket_bytes = g->bucket_bytes;
    a.whole_bytes = g->whole ? g->whole[a.rank_count] : -1;
    a.own = g->rank / stride % a.rank_count;
    int64_t *group = ARENA_NEW(ir_module_arena(m), int64_t, a.rank_count),
            *starts = ARENA_NEW(ir_module_arena(m), int64_t, a.rank_count + 1);
    const int64_t each = a.total / a.rank_count, more = a.total % a.rank_count;
    for (uint32_t k = 0; k <= a.rank_count; k++)
        starts[k] = k * each + (k < more ? k : more);
    for (uint32_t k = 0; k < a.rank_count; k++)
        group[k] = (int64_t)g->rank + ((int64_t)k - a.own) * stride;
    a.group = group;
    a.starts = starts;
    a.first = starts[a.own];
    return a;
}

/* ---- one of them ---- */

static bool result_of(batching *s, uint32_t i, ir_value *out) {
    const ir_value v = control_end(s->m, s->whole, 0)->operands[i];
    if (transform_is_whole(s->m, s->whole, i) && batch_differs(s, v))
        return transform_refuse(
            s->t, TRANSFORM_FAULT_SHARD, s->whole,
            "result %u differs from shard to shard of '%s', and is to come out as one value: give "
            "it that axis in out_specs, or make it one by all_reduce() or all_gather()",
            i, s->axis->name);
    *out = transform_is_whole(s->m, s->whole, i) ? batch_stand(s, v) : batch_all(s, v);
    return true;
}

bool expand_shard(transforming *t, ir_op op) {
    ir_module *m = t->m;
    const ir_op_data *o = ir_op_get(m, op);
    const transform_shape shape = transform_shape_of(m, op);
    const shard_axis axis =
        shard_axis_of(t, ir_op_string(m, op, "axis", ""), ir_op_int(m, op, "count", 0));
    batching s = {.t = t,
                  .m = m,
                  .b = {.m = m, .block = o->block, .before = op, .location = o->location},
                  .count =
                      axis.rank_count == 1 ? shape.count : axis.starts[axis.own + 1] - axis.first,
                  .alike = true,
                  .whole = op,
                  .axis = &axis};
    for (uint32_t i = 0; i < shape.value_count; i++) /* the rank's own parts (partition.c) */
        batch_set(&s, ir_block_get(m, ir_op_block(m, op, 0))->arguments[i], o->operands[i]);
    return batch_expand(&s, op, result_of);
}

/* ---- all ---- */

/* A result of shards that nobody reads is zeros. */
static void drop_results(ir_module *m) {
    uint32_t *uses = ir_count_uses(m);
    for (ir_walk w = ir_walk_op(m, ir_module_kernel(m)); ir_walk_next(&w);) {
        const ir_op_data *d = ir_op_get(m, w.op);
        if (d->opcode != GRAPH_SHARD)
            continue;
        const ir_block block = ir_op_block(m, w.op, 0);
        const ir_op end = ir_block_get(m, block)->last;
        ir_builder b = {.m = m, .block = block, .before = end, .location = d->location};
        for (uint32_t i = 0; i < d->result_count; i++)
            if (!uses[d->results[i]])
                ir_op_get(m, end)->operands[i] =
                    build_zero(&b, ir_value_get(m, ir_op_get(m, end)->operands[i])->type);
    }
    free(uses);
}

/* The kernel's own operations stay, whose sums have numbers that no others may get. */
static bool remove_dead(ir_module *m, ir_block block, void *context) {
    (void)context;
    if (ir_block_parent(m, block) != ir_module_kernel(m))
        graph_remove_dead(m, block);
    return true;
}

/* Before there are ranks, which would all have to leave out the same exchanges. */
static void drop_unread(ir_module *m) {
    drop_results(m);
    (void)control_each_block(m, remove_dead, NULL);
}

bool graph_shard(ir_module *m, const shard_ranks *ranks, status *st) {
    shard_grid grid;
    const bool several = ranks && ranks->count > 1;
    if (several && !find_grid(m, ranks, &grid, st))
        return false;
    if (several)
        drop_unread(m);
    if (!transforms_run(m, GRAPH_SHARD, several ? &grid : NULL, st))
        return false;
    if (several)
        graph_drop_placed(m);
    return !several || ir_verify(m, st);
}
