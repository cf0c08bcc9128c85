/* derive.c - a block whose derivative is taken: its operations built anew, and what flows through
 * them. */
#include <stdlib.h>
#include <string.h>

#include "ir/copy.h"
#include "ops/control.h"
#include "ops/tiles.h"
#include "transforms/engine.h"

void derive_at(derivation *d, ir_op op) {
    d->b.location = ir_op_get(d->m, op)->location;
    d->b.location.checkpoint = 0;
    d->b.location.derived = 1 + ir_op_get(d->m, op)->opcode;
}

void derive_activate(derivation *d, ir_value v) {
    value_table_set(&d->flows, v, FLOW_ACTIVE);
}

bool derive_is_active(const derivation *d, const ir_value *values, uint32_t count) {
    bool active = false;
    for (uint32_t i = 0; i < count && !active; i++)
        active = derive_flow(d, values[i]) == FLOW_ACTIVE;
    return active;
}

ir_value derive_tangent(derivation *d, ir_value v) {
    ir_value own = value_table_get(&d->tangents, v);
    return own ? own : build_zero(&d->b, ir_value_get(d->m, v)->type);
}

/* ---- factors ---- */

static bool is_narrow(dtype t) {
    return dtype_is_float(t) && t != DTYPE_F32 && t != DTYPE_F64;
}

element derive_element(ir_builder *b, ir_op op) {
    const ir_op_data *d = ir_op_get(b->m, op);
    element e = {.b = b, .op = op, .y = d->results[0]};
    for (uint32_t i = 0; i < d->operand_count; i++)
        e.x[i] = is_narrow(build_type(b, d->operands[i])->element)
                     ? build_convert(b, d->operands[i], DTYPE_F32)
                     : d->operands[i];
    if (is_narrow(build_type(b, e.y)->element))
        e.y = build_convert(b, e.y, DTYPE_F32);
    return e;
}

ir_value derive_scale(ir_builder *b, const factor *f, ir_value t) {
    switch (f->kind) {
    case FACTOR_NONE:
        return 0;
    case FACTOR_ONE:
        return t;
    case FACTOR_MINUS:
        return build_unary(b, GRAPH_NEG, t);
    case FACTOR_TIMES:
        return build_binary(b, GRAPH_MUL, t, f->by);
    case FACTOR_OVER:
        return build_binary(b, GRAPH_DIV, t, f->by);
    case FACTOR_WHERE:
        return build_select(b, f->by, t, build_number(b, 0, t));
    case FACTOR_WHERE_NOT:
        return build_select(b, f->by, build_number(b, 0, t), t);
    }
    return 0;
}

/* ---- tangents ---- */

static ir_value plus(ir_builder *b, ir_value sum, ir_value t) {
    return !sum ? t : !t ? sum : build_binary(b, GRAPH_ADD, sum, t);
}

static ir_value forward_factors(derivation *d, ir_op op, const derivative *rule) {
    ir_builder *b = &d->b;
    const ir_op_data *o = ir_op_get(d->m, op);
    const dtype own = build_type(b, o->results[0])->element;
    element e = derive_element(b, op);
    ir_value sum = 0;
    for (uint32_t i = 0; i < o->operand_count; i++) {
        ir_value t = value_table_get(&d->tangents, o->operands[i]);
        if (!t)
            continue;
        factor f = rule->factor(&e, i);
        if (is_narrow(own))
            t = build_convert(b, t, DTYPE_F32);
        sum = plus(b, sum, derive_scale(b, &f, t));
    }
    return sum ? build_convert(b, sum, own) : 0;
}

/* The operation of the tangents: of all together, or of each with the other values. */
static ir_value forward_linear(derivation *d, ir_op op, bool each) {
    const ir_op_data *o = ir_op_get(d->m, op);
    ir_value *operands = ARENA_NEW(ir_module_arena(d->m), ir_value, o->operand_count + 1), sum = 0;
    for (uint32_t i = 0; i < o->operand_count; i++)
        operands[i] = each || !transform_is_float(d->m, o->operands[i])
                          ? o->operands[i]
                          : derive_tangent(d, o->operands[i]);
    if (!each)
        return build_again(&d->b, op, operands);
    for (uint32_t i = 0; i < o->operand_count; i++) {
        ir_value t = value_table_get(&d->tangents, o->operands[i]);
        if (!t)
            continue;
        operands[i] = t;
        sum = plus(&d->b, sum, build_again(&d->b, op, operands));
        operands[i] = o->operands[i];
    }
    return sum;
}

static ir_value forward(derivation *d, ir_op op, const derivative *rule) {
    const ir_op_data *o = ir_op_get(d->m, op);
    if (rule->factor)
        return forward_factors(d, op, rule);
    if (rule->linear || rule->each)
        return forward_linear(d, op, rule->each);
    ir_value *tangents = ARENA_NEW(ir_module_arena(d->m), ir_value, o->operand_count + 1);
    for (uint32_t i = 0; i < o->operand_count; i++)
        tangents[i] = value_table_get(&d->tangents, o->operands[i]);
    return rule->forward(&d->b, op, tangents);
}

/* ---- what flows through an operation that was built ---- */

static flow strongest(const derivation *d, const ir_op_data *o) {
    flow f = FLOW_NONE;
    for (uint32_t i = 0; i < o->operand_count; i++) {
        flow own = derive_flow(d, o->operands[i]);
        f = own > f ? own : f;
    }
    return f;
}

static void hide(derivation *d, const ir_op_data *o) {
    for (uint32_t i = 0; i < o->result_count; i++)
        if (!transform_is_float(d->m, o->results[i]))
            value_table_set(&d->flows, o->results[i], FLOW_HIDDEN);
}

/* A number made of an integer or a comparison that active values made: its derivative is 0 by the
 * letter, and hardly what is meant. */
static bool refuse_hidden(derivation *d, ir_op op) {
    const ir_op_data *o = ir_op_get(d->m, op);
    bool from = o->opcode == GRAPH_CONVERT && transform_is_float(d->m, o->results[0]) &&
                derive_flow(d, o->operands[0]) == FLOW_HIDDEN;
    if (!from)
        return true;
    bool compared = ir_type_of(d->m, o->operands[0])->element == DTYPE_BOOL;
    return transform_refuse(d->t, TRANSFORM_FAULT_INTEGER, op,
                            compared
                                ? "a comparison is used as a number, and has no derivative"
                                : "a number is made of integers, through which no derivative goes");
}

static bool has_sizes(const ir_module *m, const ir_op_data *o) {
    bool known = true;
    for (uint32_t i = 0; i < o->operand_count; i++)
        known &= ir_type_is_static(m, ir_value_get(m, o->operands[i])->type);
    return known;
}

static bool has_rule(derivation *d, ir_op op) {
    const char *name = op_info_get(ir_op_get(d->m, op)->opcode)->name + strlen("tessera.");
    const derivative *rule = derivative_of(ir_op_get(d->m, op)->opcode);
    return rule || transform_refuse(d->t, TRANSFORM_FAULT_RULE, op, "'%s' has no derivative", name);
}

static bool note_active(derivation *d, ir_op op) {
    const ir_op_data *o = ir_op_get(d->m, op);
    if (!has_rule(d, op))
        return false;
    const derivative *rule = derivative_of(o->opcode);
    if (rule->zero)
        return true;
    if (rule->sized && !has_sizes(d->m, o))
        return transform_refuse(d->t, TRANSFORM_FAULT_SIZE, op,
                                "'%s' has no derivative of dimensions that are not known: compile "
                                "it for a case",
                                op_info_get(o->opcode)->name + strlen("tessera."));
    derive_at(d, op);
    if (d->reverse) {
        vec_push(&d->tape, ((tape_entry){op, o->operands, o->results}));
        derive_activate(d, o->results[0]);
        return true;
    }
    ir_value t = forward(d, op, rule);
    if (t)
        value_table_set(&d->tangents, o->results[0], t);
    if (t)
        derive_activate(d, o->results[0]);
    return true;
}

static bool gives_floats(const derivation *d, const ir_op_data *o) {
    bool floats = false;
    for (uint32_t i = 0; i < o->result_count; i++)
        floats |= transform_is_float(d->m, o->results[i]);
    return floats;
}

flow derive_strongest(const derivation *d, ir_op op) {
    const ir_op_data *o = ir_op_get(d->m, op);
    return d->muted || o->opcode == GRAPH_STOP_GRADIENT ? FLOW_NONE : strongest(d, o);
}

bool derive_may(derivation *d, ir_op op) {
    const flow f = derive_strongest(d, op);
    return f == FLOW_NONE ||
           (refuse_hidden(d, op) &&
            (f != FLOW_ACTIVE || !gives_floats(d, ir_op_get(d->m, op)) || has_rule(d, op)));
}

static bool note(derivation *d, ir_op op) {
    const ir_op_data *o = ir_op_get(d->m, op);
    const flow f = derive_strongest(d, op);
    if (f == FLOW_NONE)
        return true;
    if (f == FLOW_ACTIVE && tiles_are_called(d->m, op))
        return derive_tiles(d, op);
    if (!refuse_hidden(d, op))
        return false;
    hide(d, o);
    return f != FLOW_ACTIVE || !gives_floats(d, o) || note_active(d, op);
}

/* ---- building ---- */

static ir_op last_built(const derivation *d) {
    return ir_op_get(d->m, d->b.before)->previous;
}

bool derive_note_all(derivation *d, ir_op first) {
    bool ok = true;
    const ir_op last = last_built(d);
    for (ir_op op = first; ok; op = ir_op_get(d->m, op)->next) {
        ok = note(d, op);
        if (op == last)
            break;
    }
    return ok;
}

/* A composite that something flows through, and that has no rule, is its decomposition. */
static bool build_composite(derivation *d, ir_op op, ir_op copy) {
    const ir_op_data *o = ir_op_get(d->m, op);
    ir_value results[8];
    d->b.location = ir_op_get(d->m, copy)->location;
    graph_decompose(&d->b, copy, results);
    ir_op first = ir_op_get(d->m, copy)->next;
    for (uint32_t i = 0; i < o->result_count; i++)
        d->copies[o->results[i]] = results[i];
    ir_op_erase(d->m, copy);
    return ir_failure(d->m) == NULL && (first == d->b.before || derive_note_all(d, first));
}

static ir_value *stand_ins(derivation *d, const ir_value *values, uint32_t count) {
    ir_value *out = ARENA_NEW(ir_module_arena(d->m), ir_value, count + 1);
    for (uint32_t i = 0; i < count; i++)
        out[i] = d->copies[values[i]] ? d->copies[values[i]] : values[i];
    return out;
}

/* Loops, branches and combiners that something flows into, but for those with a rule. */
static bool is_control(const derivation *d, ir_op op, const ir_value *operands) {
    const ir_op_data *o = ir_op_get(d->m, op);
    const derivative *rule = derivative_of(o->opcode);
    bool has_rule = rule && !(rule->by_turns && rule->by_turns(d->m, op));
    return control_has_blocks(o->opcode) && !has_rule && !d->muted &&
           derive_is_active(d, operands, o->operand_count);
}

/* A composite goes by its decomposition where it has no rule, or none in this direction. */
static bool is_decomposed(const derivation *d, const ir_op_data *o) {
    const derivative *rule = derivative_of(o->opcode);
    bool has =
        rule && (rule->factor || (d->reverse ? rule->transpose != NULL : rule->forward != NULL));
    return graph_op_class(o->opcode) == GRAPH_CLASS_COMPOSITE && !has && !d->muted &&
           derive_is_active(d, o->operands, o->operand_count);
}

static bool build_plain(derivation *d, ir_op op) {
    const ir_value *operands =
        stand_ins(d, ir_op_get(d->m, op)->operands, ir_op_get(d->m, op)->operand_count);
    if (is_control(d, op, operands))
        return derive_control(d, op, operands);
    ir_op copy = ir_copy_op(&d->b, d->m, op, d->copies);
    ir_op_data *o = ir_op_get(d->m, copy);
    if (!o->location.checkpoint)
        o->location.checkpoint = d->checkpoint;
    if (is_decomposed(d, o))
        return build_composite(d, op, copy);
    return note(d, copy);
}

/* ---- blocks ---- */

derivation derive_begin(transforming *t, const ir_builder *b) {
    derivation d = {.t = t, .m = t->m, .b = *b};
    d.sharded = shard_is_around(t->m, b->block);
    d.copy_count = ir_value_count(t->m) + 1;
    d.copies = base_calloc(d.copy_count, sizeof *d.copies);
    return d;
}

void derive_make_room(derivation *d) {
    const uint32_t count = ir_value_count(d->m) + 1;
    d->copies = base_realloc(d->copies, count * sizeof *d->copies);
    memset(d->copies + d->copy_count, 0, (count - d->copy_count) * sizeof *d->copies);
    d->copy_count = count;
}

void derive_end(derivation *d) {
    free(d->copies);
    vec_release(&d->flows);
    vec_release(&d->tangents);
    vec_release(&d->tape);
}

uint32_t derived_result_count(const ir_module *m, ir_block block) {
    return ir_op_get(m, ir_block_get(m, block)->last)->operand_count;
}

/* Is it given to more than one of the arguments? */
static bool is_given_twice(const derived_function *f, uint32_t count, int64_t which) {
    uint32_t times = 0;
    for (uint32_t i = 0; i < count; i++)
        times += f->values[i] == f->values[which];
    return times > 1;
}

const ir_value *derive_bind(derivation *d, const derived_function *f) {
    const ir_block_data *b = ir_block_get(d->m, f->block);
    ir_value *own = ARENA_NEW(ir_module_arena(d->m), ir_value, f->wrt_count + 1);
    for (uint32_t i = 0; i < b->argument_count; i++)
        d->copies[b->arguments[i]] = f->values[i];
    for (uint32_t i = 0; i < f->wrt_count; i++) {
        ir_value v = f->values[f->wrt[i]];
        const ir_type_data t = *ir_type_of(d->m, v);
        own[i] = is_given_twice(f, b->argument_count, f->wrt[i])
                     ? build_reshape(&d->b, v, t.rank, t.dims)
                     : v;
        d->copies[b->arguments[f->wrt[i]]] = own[i];
        derive_activate(d, own[i]);
    }
    return own;
}

bool derive_plain(derivation *d, ir_block block, const ir_value *values, ir_value *results) {
    const derived_function f = {.block = block, .values = values};
    d->muted = true;
    derive_bind(d, &f);
    bool ok = derive_block(d, block, results);
    d->muted = false;
    return ok;
}

/* A block of one of the operations, with these values for its arguments. */
static const ir_value *build_within(derivation *d, ir_op op, uint32_t region,
                                    const ir_value *values, bool *ok) {
    const derived_function f = {.block = ir_op_block(d->m, op, region), .values = values};
    ir_value *results =
        ARENA_NEW(ir_module_arena(d->m), ir_value, derived_result_count(d->m, f.block) + 1);
    derive_bind(d, &f);
    *ok = derive_block(d, f.block, results);
    return results;
}

/* The results of a checkpoint are kept: it is there for what follows. */
static void keep_result(derivation *d, ir_value v) {
    const ir_op op = ir_value_get(d->m, v)->op;
    if (op && ir_op_get(d->m, op)->location.checkpoint == d->checkpoint)
        ir_op_get(d->m, op)->location.checkpoint =
            checkpoint_again(d->checkpoint, CHECKPOINT_EVERYTHING);
}

static bool build_checkpoint(derivation *d, ir_op op) {
    const ir_op_data *o = ir_op_get(d->m, op);
    const uint32_t around = d->checkpoint;
    const ir_op before =
        d->b.before ? ir_op_get(d->m, d->b.before)->previous : ir_block_get(d->m, d->b.block)->last;
    bool ok;
    if (!around) /* of checkpoints in each other the outermost counts */
        d->checkpoint = checkpoint_mark(d->m, op);
    const ir_value *results =
        build_within(d, op, 0, stand_ins(d, o->operands, o->operand_count), &ok);
    if (!around)
        checkpoint_spend(d->m, d->checkpoint,
                         before ? ir_op_get(d->m, before)->next
                                : ir_block_get(d->m, d->b.block)->first,
                         checkpoint_budget(ir_op_string(d->m, op, "keep", "")));
    for (uint32_t i = 0; ok && i < o->result_count; i++) {
        d->copies[o->results[i]] = results[i];
        if (!around)
            keep_result(d, results[i]);
    }
    d->checkpoint = around;
    return ok;
}

/* Tangents of a function by its own rule. */
static bool forward_ruled(derivation *d, ir_op op, const ir_value *operands,
                          const ir_value *results) {
    const transform_shape s = transform_shape_of(d->m, op);
    ir_value *in = ARENA_NEW(ir_module_arena(d->m), ir_value,
                             s.value_count + s.result_count + s.wrt_count + 1);
    bool ok;
    memcpy(in, operands, sizeof *in * s.value_count);
    memcpy(in + s.value_count, results, sizeof *in * s.result_count);
    for (uint32_t i = 0; i < s.wrt_count; i++)
        in[s.value_count + s.result_count + i] = derive_tangent(d, operands[s.wrt[i]]);
    d->muted = true;
    const ir_value *tangents = build_within(d, op, 1, in, &ok);
    d->muted = false;
    for (uint32_t i = 0; ok && i < s.of_count; i++) {
        value_table_set(&d->tangents, results[s.of[i]], tangents[i]);
        derive_activate(d, results[s.of[i]]);
    }
    return ok;
}

static bool flows_into(const derivation *d, ir_op op, const ir_value *operands) {
    const transform_shape s = transform_shape_of(d->m, op);
    bool flows = false;
    for (uint32_t i = 0; i < s.wrt_count; i++)
        flows |= !d->muted && derive_flow(d, operands[s.wrt[i]]) == FLOW_ACTIVE;
    return flows;
}

/* A function with a rule that something flows into: the function itself, through which nothing
 * flows but by the rule. In the other direction than its rule's it is plain. */
static bool build_ruled(derivation *d, ir_op op) {
    const ir_op_data *o = ir_op_get(d->m, op);
    const ir_value *operands = stand_ins(d, o->operands, o->operand_count);
    const bool plain = !d->reverse && o->opcode == GRAPH_CUSTOM_VJP;
    bool ok;
    if (!flows_into(d, op, operands)) {
        ir_copy_op(&d->b, d->m, op, d->copies);
        return true;
    }
    d->muted = !plain;
    const ir_value *results = build_within(d, op, 0, operands, &ok);
    d->muted = false;
    for (uint32_t i = 0; ok && i < o->result_count; i++)
        d->copies[o->results[i]] = results[i];
    if (!ok || plain)
        return ok;
    if (!d->reverse)
        return forward_ruled(d, op, operands, results);
    const transform_shape s = transform_shape_of(d->m, op);
    for (uint32_t i = 0; i < s.of_count; i++)
        derive_activate(d, results[s.of[i]]);
    vec_push(&d->tape, ((tape_entry){op, operands, results}));
    return true;
}

bool derive_block(derivation *d, ir_block block, ir_value *results) {
    bool ok = true;
    ir_op op = ir_block_get(d->m, block)->first;
    for (; ok && ir_op_get(d->m, op)->opcode != GRAPH_NEXT; op = ir_op_get(d->m, op)->next) {
        const int opcode = ir_op_get(d->m, op)->opcode;
        ok = opcode == GRAPH_CHECKPOINT                          ? build_checkpoint(d, op)
             : opcode != GRAPH_SHARD && transform_is_one(opcode) ? build_ruled(d, op)
                                                                 : build_plain(d, op);
    }
    const ir_op_data *end = ir_op_get(d->m, op);
    for (uint32_t i = 0; ok && i < end->operand_count; i++)
        results[i] = d->copies[end->operands[i]];
    return ok;
}
