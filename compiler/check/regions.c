/* regions.c - drafts of blocks, and the operation that is built of one. */
#include "check/regions.h"

#include <stdlib.h>
#include <string.h>

#include "ops/build.h"
#include "ops/combine.h"

/* ---- drafts ---- */

region_draft region_begin(checker *c, uint32_t blocks, span at) {
    c->builder.location = checker_location(c, at);
    written_block *inner = ARENA_NEW(&c->memory, written_block, blocks);
    for (uint32_t i = 0; i < blocks; i++)
        inner[i] = (written_block){c->inside, ++c->blocks};
    region_draft d = {
        .around = c->builder, .turning = c->random.turning, .inside = c->inside, .blocks = inner};
    d.op = ir_build(&c->builder, &(ir_op_spec){.opcode = GRAPH_LOOP, .region_count = blocks});
    return d;
}

region_draft region_begin_turns(checker *c, uint32_t blocks, span at) {
    region_draft d = region_begin(c, blocks, at);
    c->random.turning = d.op;
    return d;
}

void region_enter(checker *c, const region_draft *d, uint32_t block) {
    c->builder.block = ir_op_block(c->m, d->op, block);
    c->builder.before = 0;
    c->inside = &d->blocks[block];
}

void region_leave(checker *c, const region_draft *d) {
    c->builder = d->around;
    c->inside = d->inside;
    c->random.turning = d->turning;
}

ir_value region_argument(checker *c, const region_draft *d, uint32_t block, ir_type type) {
    return ir_block_add_argument(c->m, ir_op_block(c->m, d->op, block), type, NULL);
}

/* ---- what a block reads from outside ---- */

ir_block region_block_of(const ir_module *m, ir_value v) {
    const ir_value_data *d = ir_value_get(m, v);
    return d->op ? ir_op_get(m, d->op)->block : d->block;
}

static void note_outside(const ir_module *m, ir_value v, ir_block block, value_list *out) {
    if (region_block_of(m, v) == block)
        return;
    for (size_t i = 0; i < out->count; i++)
        if (out->items[i] == v)
            return;
    vec_push(out, v);
}

/* Blocks inside of it have been built, and read their operands alone. */
static void find_outside(const ir_module *m, ir_block block, const value_list *next,
                         value_list *out) {
    for (ir_op op = ir_block_get(m, block)->first; op; op = ir_op_get(m, op)->next) {
        const ir_op_data *d = ir_op_get(m, op);
        for (uint32_t i = 0; i < d->operand_count; i++)
            note_outside(m, d->operands[i], block, out);
    }
    for (size_t i = 0; i < next->count; i++)
        note_outside(m, next->items[i], block, out);
}

/* ---- building ---- */

static ir_op build_open(checker *c, const region_draft *d, const region_request *q,
                        const value_list *outside) {
    value_list operands = {0};
    VEC(ir_type) results = {0};
    for (size_t i = 0; i < q->operands->count; i++)
        vec_push(&operands, q->operands->items[i]);
    for (uint32_t i = 0; i < q->result_count; i++)
        vec_push(&results, q->results[i]);
    for (size_t i = 0; i < outside->count; i++) {
        vec_push(&operands, outside->items[i]);
        if (q->hands_on)
            vec_push(&results, ir_value_get(c->m, outside->items[i])->type);
    }
    ir_op_spec spec = {.opcode = q->opcode,
                       .operands = operands.items,
                       .operand_count = (uint32_t)operands.count,
                       .results = results.items,
                       .result_count = (uint32_t)results.count,
                       .attrs = q->attrs,
                       .attr_count = q->attr_count,
                       .region_count = ir_op_get(c->m, d->op)->region_count};
    ir_op op = ir_build(&c->builder, &spec);
    vec_release(&operands);
    vec_release(&results);
    return op;
}

static ir_value stands_for(const ir_value *instead, ir_value v) {
    return instead[v] ? instead[v] : v;
}

/* Moves a block of the draft into that of the operation. */
static void fill_block(checker *c, ir_block from, ir_block to, const value_list *next,
                       const value_list *outside, bool hands_on) {
    ir_module *m = c->m;
    ir_value *instead = base_calloc(ir_value_count(m) + 1, sizeof *instead);
    value_list last = {0}, taken = {0};
    for (uint32_t i = 0; i < ir_block_get(m, from)->argument_count; i++) {
        ir_value v = ir_block_get(m, from)->arguments[i];
        instead[v] = ir_block_add_argument(m, to, ir_value_get(m, v)->type, NULL);
    }
    for (size_t i = 0; i < outside->count; i++) {
        ir_value v = outside->items[i];
        instead[v] = ir_block_add_argument(m, to, ir_value_get(m, v)->type, NULL);
        vec_push(&taken, instead[v]);
    }
    for (size_t i = 0; i < next->count; i++)
        vec_push(&last, stands_for(instead, next->items[i]));
    for (size_t i = 0; hands_on && i < taken.count; i++)
        vec_push(&last, taken.items[i]);
    ir_builder b = {.m = m, .block = to, .location = c->builder.location};
    ir_op end = build_next(&b, last.items, (uint32_t)last.count);
    for (ir_op op = ir_block_get(m, from)->first, behind; op; op = behind) {
        ir_op_data *d = ir_op_get(m, op);
        behind = d->next;
        for (uint32_t i = 0; i < d->operand_count; i++)
            d->operands[i] = stands_for(instead, d->operands[i]);
        ir_op_move_before(m, op, end);
    }
    vec_release(&last);
    vec_release(&taken);
    free(instead);
}

/* A combiner is by element, of its own places. */
static bool is_closed(checker *c, const region_draft *d, const region_request *q,
                      const value_list *outside) {
    bool good = outside->count == 0;
    for (ir_op op = ir_block_get(c->m, ir_op_block(c->m, d->op, 0))->first; op;
         op = ir_op_get(c->m, op)->next)
        good &= combine_takes(c->m, op);
    if (!good) {
        diagnose_error(c->report, ERROR_COMBINER, q->at,
                       "'%s' combines two places: it reads its parameters alone, and is by element",
                       q->closed);
        diagnose_help(c->report, "scan(f, carry, x) takes any function");
    }
    return good;
}

ir_op region_build(checker *c, const region_draft *d, const region_request *q) {
    const uint32_t blocks = ir_op_get(c->m, d->op)->region_count;
    value_list outside = {0};
    region_leave(c, d);
    for (uint32_t r = 0; r < blocks; r++)
        find_outside(c->m, ir_op_block(c->m, d->op, r), &q->next[r], &outside);
    if (q->closed && !is_closed(c, d, q, &outside)) {
        vec_release(&outside);
        return 0;
    }
    ir_op op = build_open(c, d, q, &outside);
    for (uint32_t r = 0; r < blocks; r++)
        fill_block(c, ir_op_block(c->m, d->op, r), ir_op_block(c->m, op, r), &q->next[r], &outside,
                   q->hands_on && r + 1 == blocks);
    ir_op_erase(c->m, d->op);
    vec_release(&outside);
    return op;
}

/* ---- values of several tensors ---- */

static bool is_group(const entity *e) {
    return e->kind == ENTITY_TUPLE || e->kind == ENTITY_RECORD;
}

/* Constants of a record are no tensors, and stay as they are. */
static bool is_constant(const entity *e, uint32_t i) {
    return e->record && value_type_is_constant(&e->record->fields[i]);
}

bool tree_flatten(checker *c, const entity *e, entity_list *out, const char *what) {
    bool good = e->kind == ENTITY_TENSOR || e->kind == ENTITY_NONE || is_group(e);
    if (!good && what && e->kind != ENTITY_BROKEN)
        diagnose_error(c->report, ERROR_ARGUMENT_KIND, e->at,
                       "%s is made of tensors, and this is %s", what, entity_describe(e));
    if (e->kind == ENTITY_TENSOR)
        vec_push(out, *e);
    if (good && what && !state_usable(c, e, e->at))
        return false;
    for (uint32_t i = 0; good && is_group(e) && i < e->count; i++)
        good = is_constant(e, i) || tree_flatten(c, &e->items[i], out, what);
    return good;
}

void tree_suffixes(checker *c, const entity *e, const char *suffix, name_list *out) {
    if (e->kind == ENTITY_TENSOR)
        vec_push(out, suffix);
    for (uint32_t i = 0; is_group(e) && i < e->count; i++)
        if (!is_constant(e, i))
            tree_suffixes(c, &e->items[i],
                          e->names ? arena_printf(&c->memory, "%s.%s", suffix, e->names[i])
                                   : arena_printf(&c->memory, "%s.%u", suffix, i),
                          out);
}

entity tree_rebuild(checker *c, const entity *like, const ir_value **next, span at) {
    entity out = *like;
    out.at = at;
    if (like->kind == ENTITY_TENSOR)
        out.value = *(*next)++;
    if (is_group(like))
        out.items = arena_copy(&c->memory, like->items, sizeof *out.items * like->count);
    for (uint32_t i = 0; is_group(like) && i < like->count; i++)
        if (!is_constant(like, i))
            out.items[i] = tree_rebuild(c, &like->items[i], next, at);
    out.state = state_again(c, like->state);
    return out;
}

entity tree_again(checker *c, const entity *e) {
    entity out = *e;
    if (is_group(e))
        out.items = ARENA_NEW(&c->memory, entity, e->count + 1);
    for (uint32_t i = 0; is_group(e) && i < e->count; i++)
        out.items[i] = tree_again(c, &e->items[i]);
    out.state = state_again(c, e->state);
    return out;
}

entity tree_promote(checker *c, const entity *e) {
    if (e->kind == ENTITY_NUMBER)
        return emit_constant(c, e, e->is_integer ? DTYPE_I32 : DTYPE_F32, e->at);
    entity out = *e;
    if (is_group(e))
        out.items = arena_copy(&c->memory, e->items, sizeof *out.items * e->count);
    for (uint32_t i = 0; is_group(e) && i < e->count; i++)
        if (!is_constant(e, i))
            out.items[i] = tree_promote(c, &e->items[i]);
    return out;
}

entity tree_alike(checker *c, const entity *like, const entity *e) {
    bool scalar = like->kind == ENTITY_TENSOR && tensor_type(c, like)->rank == 0;
    if (e->kind == ENTITY_NUMBER && scalar)
        return emit_constant(c, e, tensor_type(c, like)->element, e->at);
    entity out = *e;
    if (!is_group(e) || like->kind != e->kind || like->count != e->count)
        return out;
    out.items = arena_copy(&c->memory, e->items, sizeof *out.items * e->count);
    for (uint32_t i = 0; i < e->count; i++)
        if (!is_constant(e, i))
            out.items[i] = tree_alike(c, &like->items[i], &e->items[i]);
    return out;
}

static bool is_same_record(const record_type *a, const record_type *b) {
    return a == b || record_is_same(a, b);
}

bool tree_is_like(const checker *c, const entity *a, const entity *b) {
    if (a->kind != b->kind ||
        (is_group(a) && (a->count != b->count || !is_same_record(a->record, b->record))))
        return false;
    bool same = a->kind != ENTITY_TENSOR ||
                ir_value_get(c->m, a->value)->type == ir_value_get(c->m, b->value)->type;
    for (uint32_t i = 0; same && is_group(a) && i < a->count; i++)
        same = is_constant(a, i) || tree_is_like(c, &a->items[i], &b->items[i]);
    return same;
}
