/* buckets.c - sums over shards that are sent together.
 *
 * The sums of a block begin as early as what they add is there; so the gradients of a backward pass
 * come in the order in which it makes them. Then short ones of one kind and element type, of
 * which none is made of another, are joined up to some bytes, each at a multiple of 64: each
 * element is still added by itself, so no bit depends on it. Before ranks differ in anything, so
 * all do the same. */
#include <stdlib.h>
#include <string.h>

#include "ops/control.h"
#include "transforms/batches.h"

/* A longer sum takes more time to be copied into a bucket than its exchange to begin. */
enum { BUCKET_ALIGNMENT = 64, SHORT_BYTES = 1 << 20 };

static bool is_sum(const batching *s, ir_op op) {
    const ir_op_data *d = ir_op_get(s->m, op);
    return batch_is_collective(s, op) &&
           (d->opcode == GRAPH_ALL_REDUCE ||
            (d->opcode == GRAPH_COTANGENT && !batch_differs(s, d->operands[1]))) &&
           batch_differs(s, d->operands[0]);
}

/* The sum that is sliced, if nothing else reads it; 0: it is none. */
static ir_op sliced_sum(const batching *s, ir_op op, const uint32_t *uses) {
    const ir_op_data *d = ir_op_get(s->m, op);
    if (d->opcode != GRAPH_SHARD_SLICE || !batch_is_collective(s, op) || uses[d->operands[0]] != 1)
        return 0;
    const ir_op sum = ir_value_get(s->m, d->operands[0])->op;
    return sum && ir_op_get(s->m, sum)->block == d->block && is_sum(s, sum) &&
                   strcmp(ir_op_string(s->m, sum, "kind", "sum"), "sum") == 0 &&
                   (ir_op_get(s->m, sum)->opcode == GRAPH_ALL_REDUCE ||
                    !shard_is_around(s->m, s->b.block))
               ? sum
               : 0;
}

static void find_parts(batching *s, ir_block block) {
    uint32_t *uses = ir_count_uses(s->m);
    for (ir_op op = ir_block_get(s->m, block)->first; op; op = ir_op_get(s->m, op)->next) {
        const ir_op sum = sliced_sum(s, op, uses);
        if (sum)
            value_table_set(&s->in_parts, ir_op_get(s->m, sum)->results[0], true);
    }
    free(uses);
}

/* Does it make an exchange? */
static bool is_sent(const batching *s, ir_op op) {
    const int opcode = ir_op_get(s->m, op)->opcode;
    return opcode == GRAPH_COTANGENT
               ? is_sum(s, op)
               : batch_is_collective(s, op) &&
                     (opcode != GRAPH_SHARD_SLICE ||
                      value_table_get(&s->in_parts, ir_op_get(s->m, op)->operands[0])) &&
                     opcode != GRAPH_SHARD_INDEX && opcode != GRAPH_VARY;
}

/* ---- as early as they can ---- */

/* The last one of the block that makes an operand; 0: there is none. */
static ir_op last_maker(const batching *s, ir_op op, const uint32_t *place) {
    const ir_op_data *d = ir_op_get(s->m, op);
    ir_op last = 0;
    for (uint32_t i = 0; i < d->operand_count; i++) {
        const ir_op maker = ir_value_get(s->m, d->operands[i])->op;
        if (maker && place[maker] && (!last || place[maker] >= place[last]))
            last = maker;
    }
    return last;
}

/* Behind what makes its operands, and behind others that were moved there. */
static void hoist(const batching *s, ir_op op, uint32_t *place) {
    const ir_op maker = last_maker(s, op, place);
    if (!maker)
        return;
    ir_op at = ir_op_get(s->m, maker)->next;
    while (at != op && place[at] == place[maker])
        at = ir_op_get(s->m, at)->next;
    place[op] = place[maker];
    if (at != op)
        ir_op_move_before(s->m, op, at);
}

static void hoist_all(const batching *s, ir_block block) {
    uint32_t *place = base_calloc(ir_op_count(s->m) + 1, sizeof *place), count = 0;
    for (ir_op op = ir_block_get(s->m, block)->first, next; op; op = next) {
        next = ir_op_get(s->m, op)->next;
        place[op] = ++count;
        if (is_sent(s, op))
            hoist(s, op, place);
    }
    free(place);
}

/* ---- together ---- */

/* A bucket that takes more, and where it goes: before what was behind its last sum then. */
typedef struct open_bucket {
    sum_bucket bucket;
    size_t place;
} open_bucket;

typedef struct gathering {
    batching *s;
    VEC(ir_op) out;      /* in the new order */
    VEC(ir_op) deferred; /* made of a sum in an open bucket */
    VEC(open_bucket) open;
    bool *waits; /* by value: of a sum in an open bucket, or made of one */
} gathering;

static int64_t bytes_of(const batching *s, ir_value v) {
    const ir_type_data *t = build_type(&s->b, v);
    const int64_t bytes =
        ir_type_count(s->m, ir_value_get(s->m, v)->type) * (int64_t)dtype_size(t->element);
    return (bytes + BUCKET_ALIGNMENT - 1) / BUCKET_ALIGNMENT * BUCKET_ALIGNMENT;
}

static bool is_short(const batching *s, ir_op sum) {
    return bytes_of(s, ir_op_get(s->m, sum)->results[0]) <= SHORT_BYTES;
}

static bool fits_together(const batching *s, ir_op a, ir_op b) {
    const ir_op_data *x = ir_op_get(s->m, a), *y = ir_op_get(s->m, b);
    return x->opcode == y->opcode &&
           build_type(&s->b, x->operands[0])->element ==
               build_type(&s->b, y->operands[0])->element &&
           strcmp(ir_op_string(s->m, a, "kind", ""), ir_op_string(s->m, b, "kind", "")) == 0 &&
           strcmp(ir_op_string(s->m, a, "fold", ""), ir_op_string(s->m, b, "fold", "")) == 0;
}

static bool waits(const gathering *g, ir_op op) {
    const ir_op_data *d = ir_op_get(g->s->m, op);
    bool any = false;
    for (uint32_t i = 0; i < d->operand_count; i++)
        any |= g->waits[d->operands[i]];
    return any;
}

static void mark(const gathering *g, ir_op op, bool does) {
    const ir_op_data *d = ir_op_get(g->s->m, op);
    for (uint32_t i = 0; i < d->result_count; i++)
        g->waits[d->results[i]] = does;
}

/* Operations that wait for no open bucket any more follow. */
static void release_deferred(gathering *g) {
    size_t kept = 0;
    for (size_t i = 0; i < g->deferred.count; i++) {
        const ir_op op = g->deferred.items[i];
        mark(g, op, waits(g, op));
        if (waits(g, op))
            g->deferred.items[kept++] = op;
        else
            vec_push(&g->out, op);
    }
    g->deferred.count = kept;
}

/* Its sums go to their place, which may lie before that of other open buckets. */
static void close(gathering *g, size_t number) {
    open_bucket done = g->open.items[number];
    const size_t more = done.bucket.sums.count;
    for (size_t i = number; i + 1 < g->open.count; i++)
        g->open.items[i] = g->open.items[i + 1];
    g->open.count--;
    for (size_t i = 0; i < more; i++)
        vec_push(&g->out, 0);
    memmove(g->out.items + done.place + more, g->out.items + done.place,
            (g->out.count - more - done.place) * sizeof *g->out.items);
    memcpy(g->out.items + done.place, done.bucket.sums.items, more * sizeof *g->out.items);
    for (size_t i = 0; i < g->open.count; i++)
        g->open.items[i].place += g->open.items[i].place >= done.place ? more : 0;
    for (size_t i = 0; i < more; i++) {
        mark(g, done.bucket.sums.items[i], false);
        if (more > 1)
            value_table_set(&g->s->bucket_of,
                            ir_op_get(g->s->m, done.bucket.sums.items[i])->results[0],
                            (uint32_t)g->s->buckets.count + 1);
    }
    if (more > 1)
        vec_push(&g->s->buckets, done.bucket);
    else
        vec_release(&done.bucket.sums);
    release_deferred(g);
}

static void close_all(gathering *g) {
    while (g->open.count)
        close(g, 0);
}

/* To an open bucket with room for it, or one of its own. */
static void put(gathering *g, ir_op op) {
    const int64_t bytes = bytes_of(g->s, ir_op_get(g->s->m, op)->results[0]);
    size_t i = 0;
    while (i < g->open.count && !fits_together(g->s, g->open.items[i].bucket.sums.items[0], op))
        i++;
    if (i < g->open.count && g->open.items[i].bucket.bytes + bytes > g->s->axis->bucket_bytes) {
        close(g, i);
        i = g->open.count;
    }
    if (i == g->open.count) {
        const open_bucket none = {.place = 0};
        vec_push(&g->open, none);
    }
    open_bucket *b = &g->open.items[i];
    b->bucket.bytes += bytes;
    vec_push(&b->bucket.sums, op);
    b->place = g->out.count;
    mark(g, op, true);
}

static void gather(batching *s, ir_block block) {
    gathering g = {.s = s, .waits = base_calloc(ir_value_count(s->m) + 1, sizeof *g.waits)};
    const ir_op last = ir_block_get(s->m, block)->last;
    for (ir_op op = ir_block_get(s->m, block)->first; op != last; op = ir_op_get(s->m, op)->next) {
        const bool sum = is_sum(s, op) && is_short(s, op) &&
                         !value_table_get(&s->in_parts, ir_op_get(s->m, op)->results[0]),
                   made_of_sum = waits(&g, op);
        if (sum && made_of_sum)
            close_all(&g);
        if (sum) {
            put(&g, op);
        } else if (made_of_sum) {
            mark(&g, op, true);
            vec_push(&g.deferred, op);
        } else {
            vec_push(&g.out, op);
        }
    }
    close_all(&g);
    for (size_t i = 0; i < g.out.count; i++)
        ir_op_move_before(s->m, g.out.items[i], last);
    vec_release(&g.out);
    vec_release(&g.deferred);
    vec_release(&g.open);
    free(g.waits);
}

void batch_gather_sums(batching *s, ir_block block) {
    bool any = false;
    for (ir_op op = ir_block_get(s->m, block)->first; op; op = ir_op_get(s->m, op)->next)
        any |= is_sent(s, op);
    if (!any)
        return;
    find_parts(s, block);
    hoist_all(s, block);
    if (s->axis->bucket_bytes > 0)
        gather(s, block);
}

/* ---- the sum of all ---- */

/* [shards, ...] as [shards, n], with zeros up to where the next one may begin. */
static ir_value row_of(batching *s, ir_value x, int64_t *taken) {
    const ir_type_data t = *build_type(&s->b, x);
    const int64_t grain = BUCKET_ALIGNMENT / (int64_t)dtype_size(t.element);
    ir_dim dims[2] = {t.dims[0], 1};
    for (int i = 1; i < t.rank; i++)
        dims[1] *= t.dims[i];
    const int64_t more = (grain - dims[1] % grain) % grain;
    *taken = dims[1] + more;
    return build_pad(&s->b, build_reshape(&s->b, x, 2, dims), 1, 0, more);
}

bool batch_sum_bucket(batching *s, const sum_bucket *bucket, const char *kind, const char *order) {
    ir_value *rows = batch_room(s, (uint32_t)bucket->sums.count);
    int64_t *taken = base_calloc(bucket->sums.count, sizeof *taken), at = 0;
    for (size_t i = 0; i < bucket->sums.count; i++)
        rows[i] =
            row_of(s, batch_all(s, ir_op_get(s->m, bucket->sums.items[i])->operands[0]), &taken[i]);
    const ir_value sums =
        shard_reduce(s, build_concat(&s->b, 1, rows, (uint32_t)bucket->sums.count), kind, order);
    for (size_t i = 0; i < bucket->sums.count; i++) {
        const ir_op_data *d = ir_op_get(s->m, bucket->sums.items[i]);
        const ir_type_data t = *build_type(&s->b, d->results[0]);
        const int64_t count = ir_type_count(s->m, ir_value_get(s->m, d->results[0])->type);
        rows[i] =
            build_reshape(&s->b, build_slice_axis(&s->b, sums, 0, at, at + count), t.rank, t.dims);
        at += taken[i];
    }
    for (size_t i = 0; i < bucket->sums.count; i++) {
        const ir_op_data *d = ir_op_get(s->m, bucket->sums.items[i]);
        if (d->opcode == GRAPH_COTANGENT)
            rows[i] = shard_as(&s->b, GRAPH_COTANGENT, rows[i], batch_stand(s, d->operands[1]));
        batch_set(s, d->results[0], rows[i]);
    }
    free(taken);
    return !ir_failure(s->m);
}
