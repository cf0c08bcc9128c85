/* derive_shard.c - derivatives of a tessera.shard from outside: shards of derivatives.
 *
 * Each shard derives its own function. What is sliced has tangents and cotangents that are sliced,
 * and what all shards have alike has one, the sum over the shards (docs/collectives.md). In reverse
 * a shard computes its values again: they are equal operations, and become one (simplify.c). */
#include <string.h>

#include "transforms/derive_nested.h"

/* The shards that are built: sliced values stand before the others, and so do the arguments. */
typedef struct sharded {
    ir_op of;
    transform_shape s;
    derive_values sliced, whole; /* operands */
    derive_types parts, types;   /* of their arguments */
    derive_numbers wholes;       /* results that are the same on all shards */
} sharded;

/* A value that the block takes, whose part has this type; gives its number among those of its kind.
 */
static uint32_t take(sharded *a, bool sliced, ir_value v, ir_type part) {
    if (sliced) {
        vec_push(&a->sliced, v);
        vec_push(&a->parts, part);
        return (uint32_t)a->sliced.count - 1;
    }
    vec_push(&a->whole, v);
    vec_push(&a->types, part);
    return (uint32_t)a->whole.count - 1;
}

static void release(sharded *a) {
    vec_release(&a->sliced);
    vec_release(&a->whole);
    vec_release(&a->parts);
    vec_release(&a->types);
    vec_release(&a->wholes);
}

/* Builds it with arguments and without operations. */
static ir_op build(derivation *d, sharded *a, const derive_types *results) {
    ir_module *m = d->m;
    derive_values operands = {0};
    derive_push(&operands, a->sliced.items, (uint32_t)a->sliced.count);
    derive_push(&operands, a->whole.items, (uint32_t)a->whole.count);
    const ir_named_attr attrs[] = {
        {"axis", ir_op_attr(m, a->of, "axis")},
        {"count", ir_op_attr(m, a->of, "count")},
        {"sliced", ir_attr_int(m, (int64_t)a->sliced.count)},
        {"whole", ir_attr_int_array(m, a->wholes.items, (uint32_t)a->wholes.count)}};
    const ir_op made = ir_build(&d->b, &(ir_op_spec){.opcode = GRAPH_SHARD,
                                                     .operands = operands.items,
                                                     .operand_count = (uint32_t)operands.count,
                                                     .results = results->items,
                                                     .result_count = (uint32_t)results->count,
                                                     .attrs = attrs,
                                                     .attr_count = a->wholes.count ? 4 : 3,
                                                     .region_count = 1});
    for (size_t i = 0; i < a->parts.count; i++)
        derive_argument(m, made, 0, a->parts.items[i]);
    for (size_t i = 0; i < a->types.count; i++)
        derive_argument(m, made, 0, a->types.items[i]);
    vec_release(&operands);
    return made;
}

static ir_value argument(const derivation *d, const sharded *a, ir_op made, bool sliced,
                         uint32_t number) {
    return ir_block_get(d->m, ir_op_block(d->m, made, 0))
        ->arguments[sliced ? number : a->sliced.count + number];
}

/* Takes each operand as the block took it. */
static void take_operands(derivation *d, sharded *a, const ir_value *operands) {
    const ir_block_data *old = ir_block_get(d->m, ir_op_block(d->m, a->of, 0));
    for (uint32_t i = 0; i < a->s.value_count; i++)
        take(a, i < a->s.sliced, operands[i], derive_type(d->m, old->arguments[i]));
}

static void push_operands(const derivation *d, const sharded *a, ir_op made, nested *n) {
    for (uint32_t i = 0; i < a->s.value_count; i++)
        vec_push(&n->values,
                 argument(d, a, made, i < a->s.sliced, i < a->s.sliced ? i : i - a->s.sliced));
}

/* Fills the block with the transform of the old one, of whose results those from `first` on are
 * given. */
static bool fill(derivation *d, ir_op made, const nested *n, uint32_t first) {
    derive_values results = {0};
    ir_builder inner = {.m = d->m, .block = ir_op_block(d->m, made, 0), .location = d->b.location};
    nested_build(&inner, n, &results);
    const ir_op transform = ir_value_get(d->m, results.items[0])->op;
    build_next(&inner, results.items + first, (uint32_t)results.count - first);
    vec_release(&results);
    return expand_transform(d->t, transform);
}

/* ---- forward ---- */

static bool forward(derivation *d, ir_op op, const ir_value *operands) {
    ir_module *m = d->m;
    sharded a = {.of = op, .s = transform_shape_of(m, op)};
    const ir_op_data *o = ir_op_get(m, op);
    const ir_block_data *old = ir_block_get(m, ir_op_block(m, op, 0));
    derive_types results = {0};
    derive_numbers tangents = {0};
    nested n;
    nested_begin(&n, m, GRAPH_JVP, op, 0);
    take_operands(d, &a, operands);
    for (uint32_t i = 0; i < a.s.value_count; i++)
        if (value_table_get(&d->tangents, operands[i])) {
            vec_push(&n.wrt, i);
            vec_push(&tangents, take(&a, i < a.s.sliced, derive_tangent(d, operands[i]),
                                     derive_type(m, old->arguments[i])));
        }
    for (size_t i = 0; i < o->result_count + n.floats.count; i++) {
        const uint32_t of =
            i < o->result_count ? (uint32_t)i : (uint32_t)n.floats.items[i - o->result_count];
        if (transform_is_whole(m, op, of))
            vec_push(&a.wholes, (int64_t)i);
        vec_push(&results, derive_type(m, o->results[of]));
    }
    const ir_op made = build(d, &a, &results);
    push_operands(d, &a, made, &n);
    for (size_t i = 0; i < tangents.count; i++)
        vec_push(&n.before, argument(d, &a, made, n.wrt.items[i] < (int64_t)a.s.sliced,
                                     (uint32_t)tangents.items[i]));
    const bool ok = fill(d, made, &n, 0);
    const ir_op_data *now = ir_op_get(m, made);
    for (uint32_t i = 0; i < o->result_count; i++)
        d->copies[o->results[i]] = now->results[i];
    for (size_t i = 0; i < n.floats.count; i++) {
        const ir_value v = now->results[n.floats.items[i]];
        value_table_set(&d->tangents, v, now->results[o->result_count + i]);
        derive_activate(d, v);
    }
    nested_end(&n);
    vec_release(&results);
    vec_release(&tangents);
    release(&a);
    return ok;
}

/* ---- in reverse ---- */

bool derive_shard_transpose(derivation *d, const tape_entry *entry, const ir_value *cotangents,
                            ir_value *out) {
    ir_module *m = d->m;
    const ir_op op = entry->op;
    sharded a = {.of = op, .s = transform_shape_of(m, op)};
    const ir_op_data *o = ir_op_get(m, op);
    derive_types results = {0};
    derive_numbers numbers = {0};
    nested n;
    nested_begin(&n, m, GRAPH_VJP, op, 0);
    take_operands(d, &a, entry->operands);
    for (size_t i = 0; i < n.floats.count; i++) {
        const uint32_t of = (uint32_t)n.floats.items[i];
        const ir_value ct =
            cotangents[of] ? cotangents[of] : build_zero(&d->b, derive_type(m, o->results[of]));
        vec_push(&numbers, take(&a, !transform_is_whole(m, op, of), ct,
                                derive_type(m, control_end(m, op, 0)->operands[of])));
    }
    for (uint32_t i = 0; i < a.s.value_count; i++)
        if (derive_flow(d, entry->operands[i]) == FLOW_ACTIVE) {
            if (i >= a.s.sliced)
                vec_push(&a.wholes, (int64_t)n.wrt.count);
            vec_push(&n.wrt, i);
            vec_push(&results, derive_type(m, entry->operands[i]));
        }
    const ir_op made = build(d, &a, &results);
    push_operands(d, &a, made, &n);
    for (size_t i = 0; i < numbers.count; i++)
        vec_push(&n.before,
                 argument(d, &a, made, !transform_is_whole(m, op, (uint32_t)n.floats.items[i]),
                          (uint32_t)numbers.items[i]));
    const bool ok = fill(d, made, &n, n.result_count);
    for (size_t i = 0; i < n.wrt.count && ok; i++)
        out[n.wrt.items[i]] = ir_op_result(m, made, (uint32_t)i);
    nested_end(&n);
    vec_release(&results);
    vec_release(&numbers);
    release(&a);
    return ok;
}

bool derive_shard(derivation *d, ir_op op, const ir_value *operands) {
    derive_at(d, op);
    return d->reverse ? derive_record(d, op) : forward(d, op, operands);
}
