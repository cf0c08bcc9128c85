/* keep_turns.c - values of a turn that a loop back over the turns would compute again.
 *
 * In reverse the derivative of a loop (transforms/derive_loop.c) goes from the last turn to the
 * first, and computes of each what its cotangents read. The loop before it has computed the same,
 * so it stacks these values, and the loop back takes them as parts. The operations are equal, so no
 * bit changes. What is left to be computed again: moves and arithmetic of what a turn begins with,
 * and what a checkpoint drops. Parts and stacks that nobody reads any more go. */
#include <stdlib.h>
#include <string.h>

#include "base/map.h"
#include "graph/change_loop.h"
#include "graph/passes.h"
#include "ops/build.h"
#include "ops/control.h"
#include "ops/dead.h"
#include "ops/transforms.h"

/* ---- two loops over the same turns ---- */

typedef struct turns {
    ir_module *m;
    ir_op first, back;
    ir_value backwards;   /* the indices by which the loop back takes stacks, from the last on */
    ir_value *same;       /* by value of the loop back's block: the first one's; 0: none is known */
    bool *known, *needed; /* likewise: not worth being kept; read by what is not the same */
    loop_values kept;     /* of the loop back */
} turns;

/* Is every element of it this number? */
static bool is_number(const ir_module *m, ir_value v, int64_t number) {
    ir_op op = ir_value_get(m, v)->op;
    while (op && ir_op_get(m, op)->opcode == GRAPH_BROADCAST)
        op = ir_value_get(m, ir_op_get(m, op)->operands[0])->op;
    if (!op || ir_op_get(m, op)->opcode != GRAPH_CONSTANT)
        return false;
    const ir_attr_data *value = ir_attr_get(m, ir_op_attr(m, op, "value"));
    return value->element == DTYPE_I32 && (int32_t)value->bits == number;
}

static ir_op made_by(const ir_module *m, ir_value v, int opcode) {
    ir_op op = ir_value_get(m, v)->op;
    return op && ir_op_get(m, op)->opcode == opcode ? op : 0;
}

/* count - 1, by itself or as a difference */
static bool is_last(const ir_module *m, ir_value v, ir_dim count) {
    ir_op op = made_by(m, v, GRAPH_SUB);
    return is_number(m, v, count - 1) ||
           (op && is_number(m, ir_op_get(m, op)->operands[0], count) &&
            is_number(m, ir_op_get(m, op)->operands[1], 1));
}

/* The number that counts down where `up` counts: (count - 1) - up. */
static bool counts_down(const ir_module *m, ir_value v, ir_value up, ir_dim count) {
    ir_op op = made_by(m, v, GRAPH_SUB);
    return op && is_last(m, ir_op_get(m, op)->operands[0], count) &&
           ir_op_get(m, op)->operands[1] == up;
}

/* The tensor of which `v` is the turned one along axis 0 (build_turned); 0: it is none. */
static ir_value turned_of(turns *t, ir_value v, ir_dim count) {
    const ir_module *m = t->m;
    ir_op op = made_by(m, v, GRAPH_GATHER);
    if (!op || ir_op_int(m, op, "axis", 0) || ir_op_int(m, op, "batch_dims", 0))
        return 0;
    const ir_value indices = ir_op_get(m, op)->operands[1];
    ir_op down = made_by(m, indices, GRAPH_SUB);
    const ir_value up = down ? ir_op_get(m, down)->operands[1] : 0;
    if (!up || !made_by(m, up, GRAPH_IOTA) || ir_type_of(m, up)->rank != 1 ||
        ir_type_of(m, up)->dims[0] != count || !counts_down(m, indices, up, count))
        return 0;
    t->backwards = indices;
    return ir_op_get(m, op)->operands[0];
}

/* The loop before, of as many turns, whose stacks the loop takes backwards. */
static ir_op find_first(turns *t) {
    const ir_module *m = t->m;
    const loop_shape l = loop_shape_of(m, t->back);
    const ir_value *operands = ir_op_get(m, t->back)->operands;
    for (uint32_t i = l.carried; i < l.carried + l.sliced && ir_dim_is_static(l.count); i++) {
        const ir_value stack = turned_of(t, operands[i], l.count);
        ir_op op = stack ? made_by(m, stack, GRAPH_LOOP) : 0;
        if (op && ir_op_get(m, op)->block == ir_op_get(m, t->back)->block &&
            loop_shape_of(m, op).count == l.count)
            return op;
    }
    return 0;
}

/* The value of the first loop's block whose stack this is. */
static ir_value stacked_by(const turns *t, ir_value stack) {
    const ir_module *m = t->m;
    const loop_shape l = loop_shape_of(m, t->first);
    const ir_op_data *o = ir_op_get(m, t->first);
    const ir_block_data *block = ir_block_get(m, ir_op_block(m, t->first, 0));
    for (uint32_t i = l.carried; i < o->result_count; i++)
        if (o->results[i] == stack)
            return ir_op_get(m, block->last)->operands[i];
    for (uint32_t i = l.carried; i < l.carried + l.sliced; i++)
        if (o->operands[i] == stack)
            return block->arguments[1 + i];
    return 0;
}

static void note_same(turns *t, ir_value of_back, ir_value of_first) {
    t->same[of_back] = of_first;
    t->known[of_back] = of_first != 0;
}

static void match_arguments(turns *t) {
    const ir_module *m = t->m;
    const loop_shape back = loop_shape_of(m, t->back), first = loop_shape_of(m, t->first);
    const ir_op_data *b = ir_op_get(m, t->back), *f = ir_op_get(m, t->first);
    const ir_value *mine = ir_block_get(m, ir_op_block(m, t->back, 0))->arguments + 1,
                   *its = ir_block_get(m, ir_op_block(m, t->first, 0))->arguments + 1;
    for (uint32_t i = back.carried; i < back.carried + back.sliced; i++) {
        const ir_value stack = turned_of(t, b->operands[i], back.count);
        note_same(t, mine[i], stack ? stacked_by(t, stack) : 0);
    }
    for (uint32_t i = back.carried + back.sliced; i < b->operand_count; i++)
        for (uint32_t k = first.carried + first.sliced; k < f->operand_count; k++)
            if (b->operands[i] == f->operands[k])
                note_same(t, mine[i], its[k]);
}

/* ---- equal operations ---- */

/* Arithmetic or a move: not worth its memory. */
static bool is_cheap(int opcode) {
    const graph_class class = graph_op_class(opcode);
    return class == GRAPH_CLASS_GENERATOR || class == GRAPH_CLASS_MOVE ||
           (class == GRAPH_CLASS_ELEMENTWISE && !graph_op_is_specified(opcode));
}

/* Operations of the first loop by what they compute of which values. */
static void list_first(const turns *t, map *out, text *key) {
    const ir_block block = ir_op_block(t->m, t->first, 0);
    for (ir_op op = ir_block_get(t->m, block)->first; op; op = ir_op_get(t->m, op)->next)
        if (ir_op_get(t->m, op)->result_count == 1 && !ir_op_get(t->m, op)->region_count) {
            graph_op_key(t->m, op, NULL, key);
            map_put(out, key->data, (intptr_t)op);
        }
}

static bool are_matched(const turns *t, const ir_op_data *o) {
    bool matched = o->result_count == 1 && !o->region_count;
    for (uint32_t i = 0; i < o->operand_count; i++)
        matched = matched && t->same[o->operands[i]];
    return matched;
}

static void match_operations(turns *t) {
    const ir_module *m = t->m;
    const loop_shape l = loop_shape_of(m, t->back);
    const ir_block_data *block = ir_block_get(m, ir_op_block(m, t->back, 0));
    const ir_value turn = ir_block_get(m, ir_op_block(m, t->first, 0))->arguments[0];
    map of_first;
    text key;
    map_init(&of_first);
    text_init(&key);
    list_first(t, &of_first, &key);
    for (ir_op op = block->first; op; op = ir_op_get(m, op)->next) {
        const ir_op_data *o = ir_op_get(m, op);
        intptr_t equal = 0;
        if (o->result_count == 1 && counts_down(m, o->results[0], block->arguments[0], l.count))
            note_same(t, o->results[0], turn);
        else if (are_matched(t, o)) {
            graph_op_key(m, op, t->same, &key);
            if (map_get(&of_first, key.data, &equal))
                t->same[o->results[0]] = ir_op_result(m, (ir_op)equal, 0);
        }
    }
    map_release(&of_first);
    text_release(&key);
}

/* ---- what is kept ---- */

/* The result that both loops compute; 0: it is none. */
static ir_value matched_result(const turns *t, ir_op op) {
    const ir_op_data *o = ir_op_get(t->m, op);
    return o->result_count == 1 && t->same[o->results[0]] ? o->results[0] : 0;
}

static void need_operands(turns *t, ir_op op) {
    for (ir_walk w = ir_walk_op(t->m, op); ir_walk_next(&w);)
        for (uint32_t i = 0; i < ir_op_get(t->m, w.op)->operand_count; i++)
            t->needed[ir_op_get(t->m, w.op)->operands[i]] = true;
}

static bool can_be_kept(const turns *t, ir_op op, ir_value v) {
    const ir_op first = ir_value_get(t->m, t->same[v])->op;
    return ir_type_of(t->m, v)->rank < IR_MAX_RANK && !checkpoint_drops(t->m, op) &&
           !(first && checkpoint_drops(t->m, first));
}

/* Cheap ones of what the turn begins with, or of what is kept for others, are computed again. */
static void find_known(turns *t, ir_block block) {
    for (ir_op op = ir_block_get(t->m, block)->first; op; op = ir_op_get(t->m, op)->next) {
        const ir_op_data *o = ir_op_get(t->m, op);
        const ir_value v = matched_result(t, op);
        bool known = is_cheap(o->opcode);
        for (uint32_t i = 0; i < o->operand_count; i++) {
            const ir_value x = o->operands[i];
            const ir_op maker = ir_value_get(t->m, x)->op;
            known = known && (t->known[x] ||
                              (maker && t->same[x] && t->needed[x] && can_be_kept(t, maker, x)));
        }
        if (v)
            t->known[v] |= known;
    }
}

/* From the last operation on: what is read and neither kept nor known reads in turn. */
static void choose_kept(turns *t) {
    const ir_block block = ir_op_block(t->m, t->back, 0);
    for (ir_op op = ir_block_get(t->m, block)->first; op; op = ir_op_get(t->m, op)->next)
        if (!matched_result(t, op))
            need_operands(t, op);
    find_known(t, block);
    for (ir_op op = ir_block_get(t->m, block)->last; op; op = ir_op_get(t->m, op)->previous) {
        const ir_value v = matched_result(t, op);
        if (!v || !t->needed[v])
            continue;
        if (!t->known[v] && can_be_kept(t, op, v))
            vec_push(&t->kept, v);
        else
            need_operands(t, op);
    }
}

/* The first loop stacks these values, too. */
static loop_values stack_kept(turns *t) {
    ir_module *m = t->m;
    const loop_shape l = loop_shape_of(m, t->first);
    const ir_op_data *o = ir_op_get(m, t->first);
    const ir_block_data *block = ir_block_get(m, ir_op_block(m, t->first, 0));
    loop_draft n = {.carried = l.carried, .sliced = l.sliced};
    loop_values stacks = {0};
    for (uint32_t i = 0; i < o->operand_count; i++)
        loop_takes(&n, o->operands[i], block->arguments[1 + i]);
    for (uint32_t i = 0; i < o->result_count; i++) {
        vec_push(&n.next, ir_op_get(m, block->last)->operands[i]);
        vec_push(&n.results, o->results[i]);
    }
    for (size_t i = 0; i < t->kept.count; i++) {
        vec_push(&n.next, t->same[t->kept.items[i]]);
        vec_push(&n.results, 0);
    }
    const uint32_t own = o->result_count;
    t->first = loop_change(m, t->first, &n);
    for (size_t i = 0; i < t->kept.count; i++)
        vec_push(&stacks, n.results.items[own + i]);
    loop_release(&n);
    return stacks;
}

/* The loop back takes parts of the stacks in place of these values. */
static void take_kept(turns *t, const loop_values *stacks) {
    ir_module *m = t->m;
    const loop_shape l = loop_shape_of(m, t->back);
    const ir_op_data *o = ir_op_get(m, t->back);
    const ir_block_data *block = ir_block_get(m, ir_op_block(m, t->back, 0));
    ir_builder b = {.m = m, .block = o->block, .before = t->back, .location = o->location};
    loop_draft n = {.carried = l.carried, .sliced = l.sliced + (uint32_t)stacks->count};
    for (uint32_t i = 0; i <= o->operand_count; i++) {
        for (size_t k = 0; i == l.carried + l.sliced && k < stacks->count; k++)
            loop_takes(&n, build_gather(&b, stacks->items[k], t->backwards, 0, 0),
                       t->kept.items[k]);
        if (i < o->operand_count)
            loop_takes(&n, o->operands[i], block->arguments[1 + i]);
    }
    for (uint32_t i = 0; i < o->result_count; i++) {
        vec_push(&n.next, ir_op_get(m, block->last)->operands[i]);
        vec_push(&n.results, o->results[i]);
    }
    t->back = loop_change(m, t->back, &n);
    loop_release(&n);
}

/* ---- parts and stacks that nobody reads ---- */

/* Tells that the loop has changed. */
static bool drop_unread(ir_module *m, ir_op loop, const uint32_t *uses) {
    const loop_shape l = loop_shape_of(m, loop);
    const ir_op_data *o = ir_op_get(m, loop);
    const ir_block_data *block = ir_block_get(m, ir_op_block(m, loop, 0));
    loop_draft n = {.carried = l.carried};
    for (uint32_t i = 0; i < o->operand_count; i++) {
        const bool part = i >= l.carried && i < l.carried + l.sliced;
        if (i >= l.carried && !uses[block->arguments[1 + i]])
            continue;
        loop_takes(&n, o->operands[i], block->arguments[1 + i]);
        n.sliced += part;
    }
    for (uint32_t i = 0; i < o->result_count; i++)
        if (i < l.carried || uses[o->results[i]]) {
            vec_push(&n.next, ir_op_get(m, block->last)->operands[i]);
            vec_push(&n.results, o->results[i]);
        }
    const bool drops = n.operands.count < o->operand_count || n.results.count < o->result_count;
    if (drops)
        loop_change(m, loop, &n);
    loop_release(&n);
    return drops;
}

/* ---- the pass ---- */

static void keep_turns(ir_module *m, ir_op back) {
    const size_t values = (size_t)ir_value_count(m) + 1;
    turns t = {.m = m, .back = back};
    t.first = find_first(&t);
    if (!t.first)
        return;
    t.same = base_calloc(values, sizeof *t.same);
    t.known = base_calloc(values, sizeof *t.known);
    t.needed = base_calloc(values, sizeof *t.needed);
    match_arguments(&t);
    match_operations(&t);
    choose_kept(&t);
    loop_values stacks = {0};
    if (t.kept.count) {
        stacks = stack_kept(&t);
        take_kept(&t, &stacks);
        graph_remove_dead(m, ir_op_block(m, t.back, 0));
    }
    vec_release(&stacks);
    vec_release(&t.kept);
    free(t.same);
    free(t.known);
    free(t.needed);
}

/* Readers first: what they no longer take, those before need not make. */
static void drop_in_block(ir_module *m, ir_block block) {
    VEC(ir_op) loops = {0};
    for (ir_op op = ir_block_get(m, block)->first; op; op = ir_op_get(m, op)->next)
        if (ir_op_get(m, op)->opcode == GRAPH_LOOP)
            vec_push(&loops, op);
    uint32_t *uses = loops.count ? ir_count_uses(m) : NULL;
    while (loops.count) {
        const ir_op op = loops.items[--loops.count];
        if (ir_op_get(m, op)->block != block || /* nobody uses it any more */
            !drop_unread(m, op, uses))
            continue;
        graph_remove_dead(m, block);
        free(uses);
        uses = ir_count_uses(m);
    }
    free(uses);
    vec_release(&loops);
}

static bool keep_in_block(ir_module *m, ir_block block, void *context) {
    (void)context;
    for (ir_op op = ir_block_get(m, block)->first, next; op; op = next) {
        next = ir_op_get(m, op)->next;
        if (ir_op_get(m, op)->opcode == GRAPH_LOOP)
            keep_turns(m, op);
    }
    drop_in_block(m, block);
    return true;
}

bool graph_keep_turns(ir_module *m, status *st) {
    (void)st;
    return control_each_block(m, keep_in_block, NULL);
}
