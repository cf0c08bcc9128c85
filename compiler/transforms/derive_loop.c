/* derive_loop.c - derivatives of loops: loops of tangents and cotangents, in whose blocks the
 * derivative of the block stands as a transform of its own, which is expanded there.
 *
 * In reverse the turns go from the last to the first, each computed again from what it began with,
 * which the loop keeps; what all turns read gets the sum of their cotangents in this order. */
#include <string.h>

#include "transforms/derive_nested.h"

/* A value of the block has room for the turns' axis. */
static bool has_room(derivation *d, ir_op op, ir_value v) {
    return ir_type_of(d->m, v)->rank < IR_MAX_RANK ||
           transform_refuse(
               d->t, TRANSFORM_FAULT_RULE, op,
               "a loop carries a value of %d axes, and its derivative keeps one of each "
               "turn",
               IR_MAX_RANK);
}

/* ---- loops, forward ---- */

/* Tangents of what a loop takes: of each float that is carried, of others that have one. */
static bool has_tangent(const derivation *d, const ir_value *operands, const loop_shape *l,
                        uint32_t i) {
    return transform_is_float(d->m, operands[i]) &&
           (i < l->carried || value_table_get(&d->tangents, operands[i]));
}

static void take_with_tangents(derivation *d, building *g, const ir_value *operands,
                               const loop_shape *l, uint32_t from, uint32_t to) {
    derive_push(&g->operands, operands + from, to - from);
    for (uint32_t i = from; i < to; i++)
        if (has_tangent(d, operands, l, i))
            building_takes(g, derive_tangent(d, operands[i]));
}

static uint32_t tangents_between(const derivation *d, const ir_value *operands, const loop_shape *l,
                                 uint32_t from, uint32_t to) {
    uint32_t count = 0;
    for (uint32_t i = from; i < to; i++)
        count += has_tangent(d, operands, l, i);
    return count;
}

/* Arguments of the new block for those of the old one from one start to the next, then for their
 * tangents. */
static void loop_arguments(derivation *d, ir_op loop, nested *n, const ir_value *operands,
                           const loop_shape *l, const uint32_t *starts) {
    const ir_value *old = ir_block_get(d->m, ir_op_block(d->m, n->of, 0))->arguments + 1;
    const uint32_t from = starts[0], to = starts[1];
    for (uint32_t i = from; i < to; i++)
        vec_push(&n->values, derive_argument(d->m, loop, 0, derive_type(d->m, old[i])));
    for (uint32_t i = from; i < to; i++) {
        if (!has_tangent(d, operands, l, i))
            continue;
        vec_push(&n->before, derive_argument(d->m, loop, 0, derive_type(d->m, old[i])));
        vec_push(&n->wrt, 1 + i);
    }
}

/* Carried ones with their tangents, then the stacked ones with theirs, of the block's results and
 * the tangents of all floats. */
static void pair_results(const ir_module *m, const nested *n, const ir_value *made,
                         uint32_t carried, derive_values *out) {
    for (int part = 0; part < 2; part++) {
        uint32_t from = part ? carried : 0, to = part ? n->result_count : carried;
        derive_push(out, made + from, to - from);
        for (size_t i = 0; i < n->floats.count; i++)
            if (n->floats.items[i] >= from && n->floats.items[i] < to)
                vec_push(out, made[n->result_count + i]);
    }
    (void)m;
}

/* The new results for the old ones, and their tangents. */
static void note_results(derivation *d, ir_op op, const nested *n, ir_op loop, uint32_t carried) {
    const ir_op_data *old = ir_op_get(d->m, op), *now = ir_op_get(d->m, loop);
    uint32_t at = 0;
    for (int part = 0; part < 2; part++) {
        uint32_t from = part ? carried : 0, to = part ? n->result_count : carried;
        for (uint32_t i = from; i < to; i++)
            d->copies[old->results[i]] = now->results[at++];
        for (size_t i = 0; i < n->floats.count; i++) {
            const int64_t which = n->floats.items[i];
            if (which < from || which >= to)
                continue;
            ir_value v = d->copies[old->results[which]];
            value_table_set(&d->tangents, v, now->results[at++]);
            derive_activate(d, v);
        }
    }
}

static void forward_types(derivation *d, building *g, ir_op op, const nested *n, uint32_t carried) {
    const ir_op_data *o = ir_op_get(d->m, op);
    for (int part = 0; part < 2; part++) {
        uint32_t from = part ? carried : 0, to = part ? n->result_count : carried;
        for (uint32_t i = from; i < to; i++)
            building_makes(g, derive_type(d->m, o->results[i]));
        for (size_t i = 0; i < n->floats.count; i++)
            if (n->floats.items[i] >= from && n->floats.items[i] < to)
                building_makes(g, derive_type(d->m, o->results[n->floats.items[i]]));
    }
}

bool derive_loop_forward(derivation *d, ir_op op, const ir_value *operands) {
    ir_module *m = d->m;
    const loop_shape l = loop_shape_of(m, op);
    const uint32_t starts[] = {0, l.carried, l.carried + l.sliced, l.carried + l.sliced + l.whole};
    building g = {.b = &d->b};
    nested n;
    derive_values made = {0}, next = {0};
    nested_begin(&n, m, GRAPH_JVP, op, 0);
    for (int part = 0; part < 3; part++)
        take_with_tangents(d, &g, operands, &l, starts[part], starts[part + 1]);
    building_set_loop(&g, l.carried + tangents_between(d, operands, &l, 0, l.carried),
                      l.sliced + tangents_between(d, operands, &l, starts[1], starts[2]), l.count);
    forward_types(d, &g, op, &n, l.carried);
    ir_op loop = building_end(&g, GRAPH_LOOP);
    vec_push(&n.values, derive_argument(m, loop, 0, ir_type_tensor(m, DTYPE_I32, 0, NULL)));
    for (int part = 0; part < 3; part++)
        loop_arguments(d, loop, &n, operands, &l, starts + part);
    ir_builder inner = {.m = m, .block = ir_op_block(m, loop, 0), .location = d->b.location};
    nested_build(&inner, &n, &made);
    pair_results(m, &n, made.items, l.carried, &next);
    derive_end_block(&inner, &next);
    note_results(d, op, &n, loop, l.carried);
    bool ok = expand_transform(d->t, loop);
    building_release(&g);
    nested_end(&n);
    vec_release(&made);
    vec_release(&next);
    return ok;
}

/* ---- loops, in reverse ---- */

/* The loop, which also stacks what each turn begins with: results behind its own. */
bool derive_loop_record(derivation *d, ir_op op, const ir_value *operands) {
    ir_module *m = d->m;
    const ir_op_data *o = ir_op_get(m, op);
    const loop_shape l = loop_shape_of(m, op);
    building g = {.b = &d->b};
    derive_push(&g.operands, operands, o->operand_count);
    building_set_loop(&g, l.carried, l.sliced, l.count);
    for (uint32_t i = 0; i < o->result_count; i++)
        building_makes(&g, derive_type(m, o->results[i]));
    for (uint32_t i = 0; i < l.carried; i++) {
        if (!has_room(d, op, operands[i])) {
            building_release(&g);
            return false;
        }
        building_makes(&g, control_stack_type(m, operands[i], l.count));
    }
    ir_op loop = building_end(&g, GRAPH_LOOP);
    ir_op_get(m, loop)->location.checkpoint = d->checkpoint;
    const ir_block block = ir_op_block(m, loop, 0);
    derive_copy_region(m, ir_op_block(m, op, 0), block);
    const ir_block_data *b = ir_block_get(m, block);
    derive_values next = {0};
    derive_push(&next, ir_op_get(m, b->last)->operands, o->result_count);
    derive_push(&next, b->arguments + 1, l.carried);
    ir_op_set_operands(m, b->last, next.items, (uint32_t)next.count);
    const ir_op_data *now = ir_op_get(m, loop);
    for (uint32_t i = 0; i < o->result_count; i++) {
        d->copies[o->results[i]] = now->results[i];
        if (transform_is_float(m, now->results[i]))
            derive_activate(d, now->results[i]);
    }
    vec_push(&d->tape, ((tape_entry){loop, now->operands, now->results}));
    building_release(&g);
    vec_release(&next);
    return true;
}

/* The loop back: which of the loop's operands get cotangents, and where they are. */
typedef struct way_back {
    derivation *d;
    ir_op op; /* with what each turn began with behind its results */
    loop_shape l;
    uint32_t own;                          /* results of the loop itself */
    derive_numbers carried, sliced, whole; /* operands, by number */
    derive_numbers stacks;                 /* results that are stacked and have a cotangent */
} way_back;

static void find_ways(way_back *w, const ir_value *cotangents) {
    const ir_op_data *o = ir_op_get(w->d->m, w->op);
    w->l = loop_shape_of(w->d->m, w->op);
    w->own = o->result_count - w->l.carried;
    for (uint32_t i = 0; i < o->operand_count; i++) {
        const bool active = derive_flow(w->d, o->operands[i]) == FLOW_ACTIVE;
        if (i < w->l.carried && transform_is_float(w->d->m, o->operands[i]))
            vec_push(&w->carried, i);
        else if (i >= w->l.carried && active && i < w->l.carried + w->l.sliced)
            vec_push(&w->sliced, i);
        else if (i >= w->l.carried + w->l.sliced && active)
            vec_push(&w->whole, i);
    }
    for (uint32_t i = w->l.carried; i < w->own; i++)
        if (cotangents[i])
            vec_push(&w->stacks, i);
}

static ir_value zero_like(ir_builder *b, ir_value v) {
    return build_zero(b, derive_type(b->m, v));
}

/* Carried: cotangents of what is carried, and sums of those of what all turns read. Parts: what
 * each turn began with, its parts, and cotangents of what it stacked, from the last turn on. */
static void way_operands(way_back *w, building *g, const ir_value *cotangents) {
    ir_builder *b = g->b;
    const ir_op_data *o = ir_op_get(b->m, w->op);
    for (size_t i = 0; i < w->carried.count; i++) {
        const int64_t at = w->carried.items[i];
        building_takes(g, cotangents[at] ? cotangents[at] : zero_like(b, o->operands[at]));
    }
    for (size_t i = 0; i < w->whole.count; i++)
        building_takes(g, zero_like(b, o->operands[w->whole.items[i]]));
    for (size_t i = 0; i < g->operands.count; i++)
        building_makes(g, derive_type(b->m, g->operands.items[i]));
    const size_t carried = g->operands.count;
    for (uint32_t i = 0; i < w->l.carried; i++)
        building_takes(g, build_turned(b, o->results[w->own + i], 0));
    for (uint32_t i = 0; i < w->l.sliced; i++)
        building_takes(g, build_turned(b, o->operands[w->l.carried + i], 0));
    for (size_t i = 0; i < w->stacks.count; i++)
        building_takes(g, build_turned(b, cotangents[w->stacks.items[i]], 0));
    building_set_loop(g, carried, g->operands.count - carried, w->l.count);
    derive_push(&g->operands, o->operands + w->l.carried + w->l.sliced, w->l.whole);
    for (size_t i = 0; i < w->sliced.count; i++)
        building_makes(g, derive_type(b->m, o->operands[w->sliced.items[i]]));
}

/* The values of a turn forward, and the cotangents of its results. */
static void way_values(way_back *w, ir_builder *b, ir_op loop, nested *n, derive_values *sums) {
    ir_module *m = b->m;
    const ir_block_data *old = ir_block_get(m, ir_op_block(m, w->op, 0));
    const ir_op_data *end = control_end(m, w->op, 0);
    derive_values carried = {0}, stacks = {0};
    ir_value turn = derive_argument(m, loop, 0, ir_type_tensor(m, DTYPE_I32, 0, NULL));
    ir_value last = build_binary(b, GRAPH_SUB, build_extent(b, w->l.count, DTYPE_I32, turn),
                                 build_i32(b, 1, turn));
    vec_push(&n->values, build_binary(b, GRAPH_SUB, last, turn));
    for (size_t i = 0; i < w->carried.count; i++)
        vec_push(
            &carried,
            derive_argument(m, loop, 0, derive_type(m, old->arguments[1 + w->carried.items[i]])));
    for (size_t i = 0; i < w->whole.count; i++)
        vec_push(sums, derive_argument(m, loop, 0,
                                       derive_type(m, old->arguments[1 + w->whole.items[i]])));
    for (uint32_t i = 0; i < w->l.carried + w->l.sliced; i++)
        vec_push(&n->values, derive_argument(m, loop, 0, derive_type(m, old->arguments[1 + i])));
    for (size_t i = 0; i < w->stacks.count; i++)
        vec_push(&stacks,
                 derive_argument(m, loop, 0, derive_type(m, end->operands[w->stacks.items[i]])));
    for (uint32_t i = 0; i < w->l.whole; i++)
        vec_push(
            &n->values,
            derive_argument(m, loop, 0,
                            derive_type(m, old->arguments[1 + w->l.carried + w->l.sliced + i])));
    for (size_t i = 0; i < n->floats.count; i++) {
        const int64_t which = n->floats.items[i];
        ir_value own = 0;
        for (size_t k = 0; k < w->carried.count; k++)
            own = w->carried.items[k] == which ? carried.items[k] : own;
        for (size_t k = 0; k < w->stacks.count; k++)
            own = w->stacks.items[k] == which ? stacks.items[k] : own;
        vec_push(&n->before, own ? own : zero_like(b, end->operands[which]));
    }
    vec_release(&carried);
    vec_release(&stacks);
}

static void way_wrt(const way_back *w, nested *n) {
    const derive_numbers *lists[] = {&w->carried, &w->sliced, &w->whole};
    for (int i = 0; i < 3; i++)
        for (size_t k = 0; k < lists[i]->count; k++)
            vec_push(&n->wrt, 1 + lists[i]->items[k]);
}

/* The next values of the loop back: cotangents of what is carried, the sums, and parts. */
static void way_next(const way_back *w, ir_builder *b, const ir_value *made,
                     const derive_values *sums, derive_values *next) {
    const ir_value *sliced = made + w->carried.count, *whole = sliced + w->sliced.count;
    derive_push(next, made, (uint32_t)w->carried.count);
    for (size_t i = 0; i < w->whole.count; i++)
        vec_push(next, build_binary(b, GRAPH_ADD, sums->items[i], whole[i]));
    derive_push(next, sliced, (uint32_t)w->sliced.count);
}

static void way_out(const way_back *w, ir_op loop, ir_value *out) {
    const ir_value *results = ir_op_get(w->d->m, loop)->results;
    for (size_t i = 0; i < w->carried.count; i++)
        out[w->carried.items[i]] = *results++;
    for (size_t i = 0; i < w->whole.count; i++)
        out[w->whole.items[i]] = *results++;
    for (size_t i = 0; i < w->sliced.count; i++)
        out[w->sliced.items[i]] = build_turned(&w->d->b, *results++, 0);
}

/* The block of the recorded loop without what it keeps: a function of a turn. */
static ir_op without_kept(derivation *d, ir_op op, uint32_t own) {
    ir_module *m = d->m;
    derive_values next = {0};
    ir_builder b = d->b;
    const ir_op_data *o = ir_op_get(m, op);
    ir_op plain = ir_build(&b, &(ir_op_spec){.opcode = GRAPH_LOOP,
                                             .operands = o->operands,
                                             .operand_count = o->operand_count,
                                             .attrs = o->attrs,
                                             .attr_count = o->attr_count,
                                             .region_count = 1});
    derive_copy_region(m, ir_op_block(m, op, 0), ir_op_block(m, plain, 0));
    const ir_op end = ir_block_get(m, ir_op_block(m, plain, 0))->last;
    derive_push(&next, ir_op_get(m, end)->operands, own);
    ir_op_set_operands(m, end, next.items, own);
    vec_release(&next);
    return plain;
}

bool derive_loop_transpose(derivation *d, const tape_entry *entry, const ir_value *cotangents,
                           ir_value *out) {
    ir_module *m = d->m;
    way_back w = {.d = d, .op = entry->op};
    building g = {.b = &d->b};
    nested n;
    derive_values sums = {0}, made = {0}, next = {0};
    find_ways(&w, cotangents);
    way_operands(&w, &g, cotangents);
    ir_op turn = without_kept(d, entry->op, w.own), loop = building_end(&g, GRAPH_LOOP);
    ir_builder inner = {.m = m, .block = ir_op_block(m, loop, 0), .location = d->b.location};
    nested_begin(&n, m, GRAPH_VJP, turn, 0);
    way_values(&w, &inner, loop, &n, &sums);
    way_wrt(&w, &n);
    nested_build(&inner, &n, &made);
    way_next(&w, &inner, made.items + n.result_count, &sums, &next);
    derive_end_block(&inner, &next);
    ir_op_erase(m, turn);
    bool ok = expand_transform(d->t, loop);
    if (ok)
        way_out(&w, loop, out);
    building_release(&g);
    nested_end(&n);
    vec_release(&sums);
    vec_release(&made);
    vec_release(&next);
    vec_release(&w.carried);
    vec_release(&w.sliced);
    vec_release(&w.whole);
    vec_release(&w.stacks);
    return ok;
}
