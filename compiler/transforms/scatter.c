/* scatter.c - a sum over shards of which each rank keeps its own part.
 *
 * Where all readers of a result of a tessera.shard, which is the same for each shard, take parts of
 * it along the axis, the shards make the parts: element-wise work behind the sum is done to them,
 * and the sum of such a part alone is reduce_scatter (collective.c). Each element is added as it
 * was, by one rank. */
#include <stdlib.h>
#include <string.h>

#include "ops/control.h"
#include "transforms/partition.h"

enum { WORK_MOST = 64 /* operations behind each other */ };

typedef struct scattering {
    const partition *p;
    ir_module *m;
    ir_uses uses; /* before anything changed */
    ir_op shard;
    int dim;
} scattering;

static const char *axis_of(const scattering *s) {
    return ir_op_string(s->m, s->shard, "axis", "");
}

/* The operation of the shard's block that makes it for one reader alone; 0: there is none. */
static ir_op made_for_one(const scattering *s, ir_value v) {
    const ir_op op = ir_value_get(s->m, v)->op;
    return op && ir_op_get(s->m, op)->block == ir_op_block(s->m, s->shard, 0) &&
                   ir_uses_count(&s->uses, v) == 1
               ? op
               : 0;
}

static bool is_elementwise(const scattering *s, ir_op op) {
    return graph_op_class(ir_op_get(s->m, op)->opcode) == GRAPH_CLASS_ELEMENTWISE;
}

/* A sum, or element-wise work on one, behind so many operations of such. */
static bool is_of_sum(const scattering *s, ir_value v, int depth) {
    const ir_op op = made_for_one(s, v);
    const ir_op_data *d = op ? ir_op_get(s->m, op) : NULL;
    if (!op)
        return false;
    if (d->opcode == GRAPH_ALL_REDUCE)
        return strcmp(ir_op_string(s->m, op, "axis", ""), axis_of(s)) == 0 &&
               strcmp(ir_op_string(s->m, op, "kind", ""), "sum") == 0;
    bool is = d->opcode == GRAPH_COTANGENT;
    const bool goes_on = is_elementwise(s, op) && depth < WORK_MOST;
    for (uint32_t i = 0; goes_on && i < d->operand_count; i++)
        is = is || is_of_sum(s, d->operands[i], depth + 1);
    return is;
}

static ir_value part_of(const scattering *s, ir_builder *b, ir_value v, int depth) {
    const ir_op op = ir_value_get(s->m, v)->op;
    if (is_of_sum(s, v, depth) && is_elementwise(s, op)) {
        const ir_op_data *d = ir_op_get(s->m, op);
        const uint32_t count = d->operand_count;
        ir_value *parts = ARENA_NEW(ir_module_arena(s->m), ir_value, count + 1);
        for (uint32_t i = 0; i < count; i++)
            parts[i] = part_of(s, b, ir_op_get(s->m, op)->operands[i], depth + 1);
        d = ir_op_get(s->m, op);
        return ir_op_result(s->m, graph_build(b, d->opcode, parts, count, d->attrs, d->attr_count),
                            0);
    }
    const ir_named_attr attrs[] = {
        {"axis", ir_attr_string(s->m, axis_of(s))},
        {"count", ir_attr_dim(s->m, ir_op_int(s->m, s->shard, "count", 0))},
        {"dim", ir_attr_int(s->m, s->dim)}};
    return ir_op_result(s->m, graph_build(b, GRAPH_SHARD_SLICE, &v, 1, attrs, 3), 0);
}

/* The work on all of the sum, which nobody reads any more. */
static void erase_work(const scattering *s, ir_value v) {
    struct work {
        ir_value v;
        int depth;
    } first = {v, 0};
    VEC(struct work) left = {0};
    vec_push(&left, first);
    while (left.count) {
        const struct work next = vec_pop(&left);
        const ir_op op = ir_value_get(s->m, next.v)->op;
        if (!is_of_sum(s, next.v, next.depth) || !is_elementwise(s, op))
            continue;
        const ir_op_data *d = ir_op_get(s->m, op);
        for (uint32_t i = 0; i < d->operand_count; i++) {
            const struct work behind = {d->operands[i], next.depth + 1};
            vec_push(&left, behind);
        }
        ir_op_erase(s->m, op);
    }
    vec_release(&left);
}

/* ---- a result ---- */

/* The dimension that all readers take parts of along the axis, and nothing else; -1: there is none.
 */
static int scattered_dim(const scattering *s, ir_value result) {
    const placement taken = partition_taken(s->p, &s->uses, result);
    const char *name = axis_of(s);
    const uint8_t axis = partition_axis((partition *)s->p, name, strlen(name),
                                        ir_op_int(s->m, s->shard, "count", 0));
    int found = -1;
    for (int d = 0; d < IR_MAX_RANK; d++) {
        if (!taken.axes[d][0])
            continue;
        if (found >= 0 || !axis || taken.axes[d][0] != axis || taken.axes[d][1])
            return -1;
        found = d;
    }
    return ir_type_of(s->m, result)->rank < IR_MAX_RANK ? found : -1;
}

static void drop_whole(const scattering *s, uint32_t result) {
    const ir_attr_data *whole = ir_attr_get(s->m, ir_op_attr(s->m, s->shard, "whole"));
    int64_t *left = ARENA_NEW(ir_module_arena(s->m), int64_t, whole->count + 1);
    uint32_t count = 0;
    for (uint32_t i = 0; i < whole->count; i++) {
        left[count] = ir_attr_get(s->m, whole->items[i])->integer;
        count += left[count] != (int64_t)result;
    }
    if (count)
        ir_op_set_attr(s->m, s->shard, "whole", ir_attr_int_array(s->m, left, count));
    else
        ir_op_remove_attr(s->m, s->shard, "whole");
}

/* [parts, ...] put together, for the readers that there were. */
static void put_together(const scattering *s, ir_value result, const ir_type_data *as) {
    const ir_op_data *o = ir_op_get(s->m, s->shard);
    ir_builder b = {.m = s->m, .block = o->block, .before = o->next, .location = o->location};
    const ir_value all = build_reshape(&b, build_moved(&b, result, 0, s->dim), as->rank, as->dims);
    for (uint32_t i = 0; i < ir_uses_count(&s->uses, result); i++) {
        ir_op_data *reader = ir_op_get(s->m, ir_uses_reader(&s->uses, result, i));
        for (uint32_t k = 0; k < reader->operand_count; k++)
            if (reader->operands[k] == result)
                reader->operands[k] = all;
    }
}

static bool scatter(scattering *s, uint32_t number) {
    const ir_value result = ir_op_result(s->m, s->shard, number);
    const ir_op end = ir_block_get(s->m, ir_op_block(s->m, s->shard, 0))->last;
    const ir_value v = ir_op_get(s->m, end)->operands[number];
    s->dim = scattered_dim(s, result);
    if (s->dim < 0 || !is_of_sum(s, v, 0))
        return false;
    const ir_type_data as = *ir_type_of(s->m, result);
    ir_builder b = {.m = s->m,
                    .block = ir_op_block(s->m, s->shard, 0),
                    .before = end,
                    .location = ir_op_get(s->m, s->shard)->location};
    const ir_value part = part_of(s, &b, v, 0);
    ir_op_get(s->m, end)->operands[number] = part;
    erase_work(s, v);
    ir_value_get(s->m, result)->type =
        control_stack_type(s->m, part, ir_op_int(s->m, s->shard, "count", 0));
    drop_whole(s, number);
    put_together(s, result, &as);
    return true;
}

bool partition_scatter(const partition *p) {
    scattering s = {.p = p, .m = p->m, .uses = ir_uses_fill(p->m)};
    VEC(ir_op) shards = {0};
    bool any = false;
    for (ir_walk w = ir_walk_op(p->m, ir_module_kernel(p->m)); ir_walk_next(&w);)
        if (ir_op_get(p->m, w.op)->opcode == GRAPH_SHARD)
            vec_push(&shards, w.op);
    for (size_t i = 0; i < shards.count; i++) {
        s.shard = shards.items[i];
        for (uint32_t r = 0; r < ir_op_get(p->m, s.shard)->result_count; r++)
            any |= transform_is_whole(p->m, s.shard, r) && scatter(&s, r);
    }
    vec_release(&shards);
    ir_uses_release(&s.uses);
    return any;
}
