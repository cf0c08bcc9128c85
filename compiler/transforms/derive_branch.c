/* derive_branch.c - derivatives of branches, and of loops that a condition ends; and which of the
 * operations with blocks is derived how. */
#include <string.h>

#include "ir/copy.h"
#include "transforms/derive_nested.h"

/* ---- forward ---- */

/* Values `from` to the last with tangents: all floats, or those that have one. */
typedef struct taken {
    building g;
    uint32_t count;
    derive_numbers with; /* with a tangent, by number behind `from` */
} taken;

static taken take_values(derivation *d, const ir_value *operands, uint32_t count, bool all) {
    taken t = {.g = {.b = &d->b}, .count = count};
    for (uint32_t i = 0; i < count; i++)
        if (transform_is_float(d->m, operands[i]) &&
            (all || value_table_get(&d->tangents, operands[i])))
            vec_push(&t.with, i);
    return t;
}

static void taken_release(taken *t) {
    building_release(&t->g);
    vec_release(&t->with);
}

/* A block of arguments for the values and for their tangents. */
static void fill_arguments(const taken *t, ir_module *m, ir_op made, ir_op op, uint32_t region,
                           nested *n) {
    const ir_block_data *old = ir_block_get(m, ir_op_block(m, op, region));
    for (uint32_t i = 0; i < t->count; i++)
        vec_push(&n->values, derive_argument(m, made, region, derive_type(m, old->arguments[i])));
    for (size_t i = 0; i < t->with.count; i++) {
        const int64_t which = t->with.items[i];
        vec_push(&n->before,
                 derive_argument(m, made, region, derive_type(m, old->arguments[which])));
        vec_push(&n->wrt, which);
    }
}

/* The block of a branch or of a turn: its results, and the tangents of all floats of these. */
static void fill_forward(derivation *d, const taken *t, ir_op made, ir_op op, uint32_t region) {
    nested n;
    derive_values results = {0};
    ir_builder inner = {
        .m = d->m, .block = ir_op_block(d->m, made, region), .location = d->b.location};
    nested_begin(&n, d->m, GRAPH_JVP, op, region);
    fill_arguments(t, d->m, made, op, region, &n);
    nested_build(&inner, &n, &results);
    derive_end_block(&inner, &results);
    nested_end(&n);
    vec_release(&results);
}

static void forward_results(derivation *d, building *g, ir_op op) {
    const ir_op_data *o = ir_op_get(d->m, op);
    for (int tangents = 0; tangents < 2; tangents++)
        for (uint32_t i = 0; i < o->result_count; i++)
            if (!tangents || transform_is_float(d->m, o->results[i]))
                building_makes(g, derive_type(d->m, o->results[i]));
}

static void note_forward(derivation *d, ir_op op, ir_op made) {
    const ir_op_data *o = ir_op_get(d->m, op), *now = ir_op_get(d->m, made);
    uint32_t at = o->result_count;
    for (uint32_t i = 0; i < o->result_count; i++) {
        ir_value v = now->results[i];
        d->copies[o->results[i]] = v;
        if (!transform_is_float(d->m, v))
            continue;
        value_table_set(&d->tangents, v, now->results[at++]);
        derive_activate(d, v);
    }
}

static bool forward_if(derivation *d, ir_op op, const ir_value *operands) {
    taken t = take_values(d, operands + 1, ir_op_get(d->m, op)->operand_count - 1, false);
    building_takes(&t.g, operands[0]);
    derive_push(&t.g.operands, operands + 1, t.count);
    for (size_t i = 0; i < t.with.count; i++)
        building_takes(&t.g, derive_tangent(d, operands[1 + t.with.items[i]]));
    forward_results(d, &t.g, op);
    ir_op made = building_end(&t.g, GRAPH_IF);
    for (uint32_t r = 0; r < 2; r++)
        fill_forward(d, &t, made, op, r);
    note_forward(d, op, made);
    taken_release(&t);
    return expand_transform(d->t, made);
}

/* The condition reads no tangents. */
static void fill_condition(derivation *d, const taken *t, ir_op made, ir_op op) {
    nested n;
    nested_begin(&n, d->m, GRAPH_JVP, op, 1);
    const ir_block block = ir_op_block(d->m, made, 0);
    derive_copy_region(d->m, ir_op_block(d->m, op, 0), block);
    const ir_block_data *b = ir_block_get(d->m, block);
    for (size_t i = 0; i < t->with.count; i++)
        derive_argument(d->m, made, 0, derive_type(d->m, b->arguments[t->with.items[i]]));
    nested_end(&n);
}

static bool forward_while(derivation *d, ir_op op, const ir_value *operands) {
    taken t = take_values(d, operands, ir_op_get(d->m, op)->operand_count, true);
    derive_push(&t.g.operands, operands, t.count);
    for (size_t i = 0; i < t.with.count; i++)
        building_takes(&t.g, derive_tangent(d, operands[t.with.items[i]]));
    forward_results(d, &t.g, op);
    ir_op made = building_end(&t.g, GRAPH_WHILE);
    fill_condition(d, &t, made, op);
    fill_forward(d, &t, made, op, 1);
    note_forward(d, op, made);
    taken_release(&t);
    return expand_transform(d->t, made);
}

/* ---- in reverse ---- */

bool derive_record(derivation *d, ir_op op) {
    ir_op copy = ir_copy_op(&d->b, d->m, op, d->copies);
    ir_op_data *o = ir_op_get(d->m, copy);
    if (!o->location.checkpoint)
        o->location.checkpoint = d->checkpoint;
    for (uint32_t i = 0; i < o->result_count; i++)
        if (transform_is_float(d->m, o->results[i]))
            derive_activate(d, o->results[i]);
    vec_push(&d->tape, ((tape_entry){copy, o->operands, o->results}));
    return true;
}

/* One side: its values are computed again, and the cotangents of the active ones come out. */
static void fill_reverse(derivation *d, const building *g, const derive_numbers *active, ir_op made,
                         ir_op op, uint32_t region) {
    nested n;
    derive_values results = {0}, next = {0};
    ir_builder inner = {
        .m = d->m, .block = ir_op_block(d->m, made, region), .location = d->b.location};
    const uint32_t values = ir_op_get(d->m, op)->operand_count - 1;
    nested_begin(&n, d->m, GRAPH_VJP, op, region);
    for (size_t i = 1; i < g->operands.count; i++)
        vec_push(i <= values ? &n.values : &n.before,
                 derive_argument(d->m, made, region, derive_type(d->m, g->operands.items[i])));
    for (size_t i = 0; i < active->count; i++)
        vec_push(&n.wrt, active->items[i] - 1);
    nested_build(&inner, &n, &results);
    derive_push(&next, results.items + n.result_count, (uint32_t)active->count);
    derive_end_block(&inner, &next);
    nested_end(&n);
    vec_release(&results);
    vec_release(&next);
}

static bool transpose_if(derivation *d, const tape_entry *entry, const ir_value *cotangents,
                         ir_value *out) {
    const ir_op_data *o = ir_op_get(d->m, entry->op);
    building g = {.b = &d->b};
    derive_numbers active = {0};
    derive_push(&g.operands, entry->operands, o->operand_count);
    for (uint32_t i = 0; i < o->result_count; i++)
        if (transform_is_float(d->m, o->results[i]))
            building_takes(&g, cotangents[i] ? cotangents[i]
                                             : build_zero(&d->b, derive_type(d->m, o->results[i])));
    for (uint32_t i = 1; i < o->operand_count; i++)
        if (derive_flow(d, entry->operands[i]) == FLOW_ACTIVE) {
            vec_push(&active, i);
            building_makes(&g, derive_type(d->m, entry->operands[i]));
        }
    ir_op made = building_end(&g, GRAPH_IF);
    for (uint32_t r = 0; r < 2; r++)
        fill_reverse(d, &g, &active, made, entry->op, r);
    bool ok = expand_transform(d->t, made);
    for (size_t i = 0; i < active.count && ok; i++)
        out[active.items[i]] = ir_op_result(d->m, made, (uint32_t)i);
    vec_release(&active);
    building_release(&g);
    return ok;
}

/* ---- which ---- */

static bool refuse(derivation *d, ir_op op) {
    if (ir_op_get(d->m, op)->opcode == GRAPH_WHILE)
        return transform_refuse(
            d->t, TRANSFORM_FAULT_LOOP, op,
            "a while loop has no derivative in reverse: nobody knows how many turns it keeps");
    return transform_refuse(d->t, TRANSFORM_FAULT_RULE, op, "'%s' has no derivative",
                            op_info_get(ir_op_get(d->m, op)->opcode)->name + strlen("tessera."));
}

bool derive_control(derivation *d, ir_op op, const ir_value *operands) {
    derive_at(d, op);
    switch (ir_op_get(d->m, op)->opcode) {
    case GRAPH_IF:
        return d->reverse ? derive_record(d, op) : forward_if(d, op, operands);
    case GRAPH_LOOP:
        return d->reverse ? derive_loop_record(d, op, operands)
                          : derive_loop_forward(d, op, operands);
    case GRAPH_SHARD:
        return derive_shard(d, op, operands);
    case GRAPH_WHILE:
        return d->reverse ? refuse(d, op) : forward_while(d, op, operands);
    case GRAPH_REDUCE_WITH:
        return derive_reduction(d, op, operands);
    case GRAPH_SORT:
        return derive_sort(d, op, operands);
    case GRAPH_SCATTER:
        return derive_scatter(d, op, operands);
    default:
        return refuse(d, op);
    }
}

bool derive_control_transpose(derivation *d, const tape_entry *entry, const ir_value *cotangents,
                              ir_value *out) {
    const int opcode = ir_op_get(d->m, entry->op)->opcode;
    return opcode == GRAPH_IF      ? transpose_if(d, entry, cotangents, out)
           : opcode == GRAPH_SHARD ? derive_shard_transpose(d, entry, cotangents, out)
                                   : derive_loop_transpose(d, entry, cotangents, out);
}
