/* in_place.c - values that are made in the place of others.
 *
 * Updates: a scatter begins as a copy of its tensor, which is left out where both are one memory;
 * so a tensor that nothing reads afterwards lies where the updated one does.
 *
 * Carried values: a turn's results lie apart until the turn is over, and are copied then. Where a
 * dispatch makes one element by element in the place of what it was, and nothing of the turn reads
 * that afterwards, the result lies there at once, and there is no copy. */
#include <stdlib.h>

#include "ops/graph.h"
#include "program/commands.h"

static uint32_t inputs_of(const ir_module *m, const draft_kernel *k) {
    return ir_block_get(m, ir_op_block(m, k->function, 0))->argument_count;
}

static bool same_view(const draft_view *a, const draft_view *b) {
    bool same = a->slot == b->slot && a->offset == b->offset;
    for (int i = 0; i < PROGRAM_DEPTH_MAX; i++)
        same &= a->strides[i] == b->strides[i];
    return same;
}

/* ---- updates ---- */

static bool is_reshape(const ir_module *m, const draft *p, ir_op op) {
    return op && ir_op_get(m, op)->opcode == GRAPH_RESHAPE && !p->unoptimised;
}

/* The value behind reshapes. */
static ir_value reshaped(const ir_module *m, const draft *p, ir_value v) {
    ir_op op = ir_value_get(m, v)->op;
    while (is_reshape(m, p, op)) {
        v = ir_op_get(m, op)->operands[0];
        op = ir_value_get(m, v)->op;
    }
    return v;
}

static uint32_t uses_in(const ir_module *m, ir_op function, ir_value v) {
    uint32_t count = 0;
    for (ir_walk w = ir_walk_op(m, function); ir_walk_next(&w);)
        for (uint32_t i = 0; i < ir_op_get(m, w.op)->operand_count; i++)
            count += ir_op_get(m, w.op)->operands[i] == v;
    return count;
}

/* The input whose updates are output number o, and nothing else; UINT32_MAX: there is none. */
static uint32_t updated_input(const ir_module *m, const draft *p, ir_op function, uint32_t o) {
    const ir_block_data *body = ir_block_get(m, ir_op_block(m, function, 0));
    ir_value result = reshaped(m, p, ir_op_get(m, body->last)->operands[o]);
    ir_op scatter = ir_value_get(m, result)->op;
    uint32_t number = 0;
    if (!scatter || ir_op_get(m, scatter)->opcode != GRAPH_SCATTER)
        return UINT32_MAX;
    while (ir_op_get(m, scatter)->results[number] != result)
        number++;
    ir_value input = ir_op_get(m, scatter)->operands[number];
    while (uses_in(m, function, input) == 1) {
        ir_op op = ir_value_get(m, input)->op;
        if (!op)
            return ir_value_get(m, input)->index;
        if (!is_reshape(m, p, op))
            break;
        input = ir_op_get(m, op)->operands[0];
    }
    return UINT32_MAX;
}

static bool is_whole(const draft *p, const draft_view *v) {
    bool whole = v->offset == 0;
    for (int i = 0; i < PROGRAM_DEPTH_MAX; i++)
        whole &= v->strides[i] == 0;
    return whole && p->slots.items[v->slot].bytes > 0;
}

static void move_slot(command_list *list, int from, int to) {
    for (size_t i = 0; i < list->count; i++) {
        draft_command *c = &list->items[i];
        for (size_t k = 0; k < c->views.count; k++)
            if (c->views.items[k].slot == from)
                c->views.items[k].slot = to;
        for (int b = 0; b < 2; b++)
            move_slot(&c->blocks[b], from, to);
    }
}

static bool touches(const draft_command *c, int slot) {
    bool found = false;
    for (size_t i = 0; i < c->views.count; i++)
        found |= c->views.items[i].slot == slot;
    for (int b = 0; b < 2; b++)
        for (size_t i = 0; i < c->blocks[b].count; i++)
            found |= touches(&c->blocks[b].items[i], slot);
    return found;
}

/* The first command in text order that has to do with a slot; NULL: none has. */
static const draft_command *first_of(const command_list *list, int slot) {
    const draft_command *found = NULL;
    for (size_t i = 0; i < list->count && !found; i++) {
        const draft_command *c = &list->items[i];
        for (size_t k = 0; k < c->views.count && !found; k++)
            found = c->views.items[k].slot == slot ? c : NULL;
        for (int b = 0; b < 2 && !found; b++)
            found = first_of(&c->blocks[b], slot);
    }
    return found;
}

static int operands_in(const draft_command *c, int slot) {
    int count = 0;
    for (size_t i = 0; i < c->views.count; i++)
        count += c->views.items[i].slot == slot;
    return count;
}

/* The input's slot ends with the command, with which the output's begins: it is that one. What is
 * another operand, too, as an update of a tensor by itself, stays. */
static void join_slots(draft *p, const draft_command *c, const draft_view *in,
                       const draft_view *out) {
    draft_slot *from = &p->slots.items[in->slot], *to = &p->slots.items[out->slot];
    if (!is_whole(p, in) || !is_whole(p, out) || from->bytes != to->bytes ||
        from->space != SLOT_ARENA || (to->space != SLOT_ARENA && to->space != SLOT_OUTPUT) ||
        from->last > c->end || operands_in(c, in->slot) > 1 ||
        first_of(&p->commands, out->slot) != c)
        return;
    p->in_place = true;
    to->first = from->first;
    from->bytes = 0;
    move_slot(&p->commands, in->slot, out->slot);
}

static void join_updated(const ir_module *m, draft *p, command_list *block) {
    for (size_t i = block->count; i-- > 0;) {
        draft_command *c = &block->items[i];
        draft_kernel *k = c->kind == COMMAND_DISPATCH ? &p->kernels.items[c->kernel] : NULL;
        for (int b = 0; b < 2; b++)
            join_updated(m, p, &c->blocks[b]);
        for (uint32_t o = k ? inputs_of(m, k) : 0; k && o < c->views.count; o++) {
            const uint32_t inputs = inputs_of(m, k),
                           input = updated_input(m, p, k->function, o - inputs);
            if (input == UINT32_MAX)
                continue;
            draft_wish(k, inputs, input, o - inputs);
            if (k->donated && k->donated[input] == o - inputs)
                join_slots(p, c, &c->views.items[input], &c->views.items[o]);
        }
    }
}

void draft_join_updated(const ir_module *m, draft *p) {
    join_updated(m, p, &p->commands);
}

/* ---- carried values ---- */

/* A copy at the end of a turn, and the dispatch of the same block that makes what it copies. */
typedef struct handover {
    size_t copy, dispatch;
    uint32_t input, output; /* operands of the dispatch: what was carried, and what comes next */
} handover;

/* The operand from `first` up to `end` that is the only one in the slot; UINT32_MAX: there is none.
 */
static uint32_t only_operand(const draft_command *c, uint32_t first, uint32_t end,
                             const draft_view *v) {
    uint32_t found = UINT32_MAX, count = 0;
    for (uint32_t i = 0; i < c->views.count; i++) {
        count += c->views.items[i].slot == v->slot;
        if (i >= first && i < end && same_view(&c->views.items[i], v))
            found = i;
    }
    return count == 1 ? found : UINT32_MAX;
}

static bool find_handover(const ir_module *m, const draft *p, const command_list *block,
                          handover *h) {
    const draft_command *copy = &block->items[h->copy];
    for (size_t i = h->copy; copy->kind == COMMAND_COPY && i-- > 0;) {
        const draft_command *c = &block->items[i];
        if (c->kind != COMMAND_DISPATCH)
            continue;
        const uint32_t inputs = inputs_of(m, &p->kernels.items[c->kernel]);
        h->dispatch = i;
        h->output = only_operand(c, inputs, (uint32_t)c->views.count, &copy->views.items[1]);
        h->input = only_operand(c, 0, inputs, &copy->views.items[0]);
        if (h->output != UINT32_MAX)
            return h->input != UINT32_MAX;
    }
    return false;
}

/* The dispatch alone makes the result, and afterwards nothing of the block reads what was carried.
 */
static bool is_free(const command_list *block, const handover *h) {
    const draft_view *views = block->items[h->copy].views.items;
    bool is = true;
    for (size_t i = 0; i < h->dispatch; i++)
        is &= !touches(&block->items[i], views[1].slot);
    for (size_t i = h->dispatch + 1; i < block->count; i++)
        is &= i == h->copy || !touches(&block->items[i], views[0].slot);
    return is;
}

static void move_views(draft_command *c, const draft_view *from, const draft_view *to) {
    for (size_t i = 0; i < c->views.count; i++)
        if (same_view(&c->views.items[i], from))
            c->views.items[i] = *to;
    for (int b = 0; b < 2; b++)
        for (size_t i = 0; i < c->blocks[b].count; i++)
            move_views(&c->blocks[b].items[i], from, to);
}

/* Moves the result to its place; the copy has nothing left to do. */
static void hand_over(draft *p, command_list *block, const handover *h) {
    const draft_view to = block->items[h->copy].views.items[0],
                     from = block->items[h->copy].views.items[1];
    p->in_place = true;
    p->slots.items[from.slot].bytes = 0;
    for (size_t i = h->dispatch; i < block->count; i++)
        move_views(&block->items[i], &from, &to);
    vec_release(&block->items[h->copy].views);
    for (size_t i = h->copy; i + 1 < block->count; i++)
        block->items[i] = block->items[i + 1];
    block->count--;
}

typedef void visit_handover(const ir_module *m, draft *p, command_list *block, handover *h);

static void each_block(const ir_module *m, draft *p, command_list *block, bool turns,
                       visit_handover *visit) {
    for (size_t i = 0; i < block->count; i++)
        for (int b = 0; b < 2; b++) {
            draft_command *c = &block->items[i];
            each_block(m, p, &c->blocks[b],
                       c->kind == COMMAND_LOOP || (c->kind == COMMAND_WHILE && b), visit);
        }
    for (size_t i = block->count; turns && i-- > 0;) {
        handover h = {.copy = i};
        if (find_handover(m, p, block, &h) && is_free(block, &h))
            visit(m, p, block, &h);
    }
}

static void wish(const ir_module *m, draft *p, command_list *block, handover *h) {
    draft_kernel *k = &p->kernels.items[block->items[h->dispatch].kernel];
    draft_wish(k, inputs_of(m, k), h->input, h->output - inputs_of(m, k));
}

void draft_find_carried(const ir_module *m, draft *p) {
    each_block(m, p, &p->commands, false, wish);
}

static void hand_over_made(const ir_module *m, draft *p, command_list *block, handover *h) {
    const draft_kernel *k = &p->kernels.items[block->items[h->dispatch].kernel];
    if (k->donated && k->donated[h->input] == h->output - inputs_of(m, k))
        hand_over(p, block, h);
}

void draft_keep_carried(const ir_module *m, draft *p) {
    each_block(m, p, &p->commands, false, hand_over_made);
}
