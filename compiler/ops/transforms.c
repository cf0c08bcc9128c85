/* transforms.c - rules of transforms of functions. */
#include "ops/transforms.h"

#include <stdlib.h>
#include <string.h>

#include "ops/control.h"

bool transform_is_one(int opcode) {
    return opcode >= GRAPH_JVP && opcode <= GRAPH_CUSTOM_JVP;
}

void transform_open(ir_module *m, ir_op op) {
    const ir_op_data *o = ir_op_get(m, op);
    const ir_block_data *b = ir_block_get(m, ir_op_block(m, op, 0));
    const ir_op_data *end = ir_op_get(m, b->last);
    for (uint32_t i = 0; i < b->argument_count; i++)
        ir_replace_uses(m, b->arguments[i], o->operands[i]);
    for (uint32_t i = 0; i < o->result_count; i++)
        ir_replace_uses(m, o->results[i], end->operands[i]);
    for (ir_op one = b->first, next; one != b->last; one = next) {
        next = ir_op_get(m, one)->next;
        ir_op_move_before(m, one, op);
    }
    ir_op_erase(m, op);
}

bool transform_is_float(const ir_module *m, ir_value v) {
    return dtype_is_float(ir_type_of(m, v)->element);
}

uint32_t transform_floats(const ir_module *m, const ir_value *values, uint32_t count,
                          int64_t *out) {
    uint32_t found = 0;
    for (uint32_t i = 0; i < count; i++)
        if (transform_is_float(m, values[i]))
            out[found++] = i;
    return found;
}

int64_t checkpoint_budget(const char *word) {
    char *end;
    const int64_t bytes = strtoll(word, &end, 0);
    return *word >= '0' && *word <= '9' && !*end ? bytes : -1;
}

int64_t checkpoint_room(const char *word) {
    static const char prefix[] = "budget:";
    const size_t length = sizeof prefix - 1;
    return strncmp(word, prefix, length) == 0 ? checkpoint_budget(word + length) : -1;
}

int64_t checkpoint_least_room(const ir_module *m, ir_op *checkpoint) {
    int64_t least = -1;
    for (ir_walk w = ir_walk_block(m, ir_module_body(m)); ir_walk_next(&w);) {
        const int64_t own = ir_op_get(m, w.op)->opcode == GRAPH_CHECKPOINT
                                ? checkpoint_room(ir_op_string(m, w.op, "keep", ""))
                                : -1;
        if (own < 0 || (least >= 0 && own >= least))
            continue;
        least = own;
        *checkpoint = w.op;
    }
    return least;
}

checkpoint_keep checkpoint_keep_named(const char *word) {
    static const char *const names[] = {"nothing", "dots", "everything"};
    checkpoint_keep keep = CHECKPOINT_NOTHING;
    if (checkpoint_budget(word) >= 0)
        return keep;
    if (checkpoint_room(word) >= 0)
        return CHECKPOINT_PLANNED;
    while (keep < CHECKPOINT_PLANNED && strcmp(names[keep], word) != 0)
        keep++;
    return keep < CHECKPOINT_PLANNED ? keep : CHECKPOINT_ANEW;
}

uint32_t checkpoint_number(const ir_module *m, checkpoint_keep keep) {
    return (ir_op_count(m) + 1) * CHECKPOINT_KEEPS + keep;
}

bool checkpoint_drops(const ir_module *m, ir_op op) {
    const ir_op_data *o = ir_op_get(m, op);
    const uint32_t mark = o->location.checkpoint;
    const checkpoint_keep keep = checkpoint_keep_of(mark);
    if (!mark || keep == CHECKPOINT_EVERYTHING || keep == CHECKPOINT_ANEW)
        return false;
    const bool dot = graph_op_class(o->opcode) == GRAPH_CLASS_DOT || o->opcode == GRAPH_MATMUL ||
                     o->opcode == GRAPH_LINEAR || o->opcode == GRAPH_CONV2D;
    return keep != CHECKPOINT_DOTS || !dot;
}

static const int64_t *numbers(const ir_module *m, ir_op op, const char *name, uint32_t *count) {
    ir_attr attr = ir_op_attr(m, op, name);
    const ir_attr_data *list = attr ? ir_attr_get(m, attr) : NULL;
    *count = list ? list->count : 0;
    int64_t *out = ARENA_NEW(ir_module_arena((ir_module *)m), int64_t, *count + 1);
    for (uint32_t i = 0; i < *count; i++)
        out[i] = ir_attr_get(m, list->items[i])->integer;
    return out;
}

transform_shape transform_shape_of(const ir_module *m, ir_op op) {
    const ir_op_data *d = ir_op_get(m, op);
    transform_shape s = {.value_count = ir_block_get(m, ir_op_block(m, op, 0))->argument_count,
                         .result_count = control_end(m, op, 0)->operand_count,
                         .sliced = (uint32_t)ir_op_int(m, op, "sliced", 0)};
    ir_attr count = ir_op_attr(m, op, "count");
    s.wrt = numbers(m, op, "wrt", &s.wrt_count);
    s.of = numbers(m, op, "of", &s.of_count);
    s.count = count ? ir_attr_get(m, count)->integer : 0;
    s.values = d->operands + (d->operand_count - s.value_count);
    return s;
}

/* ---- verifying ---- */

static bool same_type(const ir_module *m, ir_value a, ir_value b) {
    return ir_value_get(m, a)->type == ir_value_get(m, b)->type;
}

static bool same_types(const ir_module *m, const ir_value *a, const ir_value *b, uint32_t count) {
    bool same = true;
    for (uint32_t i = 0; i < count && same; i++)
        same = same_type(m, a[i], b[i]);
    return same;
}

/* `list` has the types of these numbers of `of`, which are floats, in ascending order. */
static bool are_tangents(const ir_module *m, const ir_value *list, const int64_t *numbers,
                         uint32_t count, const ir_value *of, uint32_t of_count) {
    bool good = true;
    for (uint32_t i = 0; i < count && good; i++)
        good = numbers[i] >= 0 && numbers[i] < of_count &&
               (i == 0 || numbers[i] > numbers[i - 1]) && transform_is_float(m, of[numbers[i]]) &&
               same_type(m, list[i], of[numbers[i]]);
    return good;
}

typedef struct transform_parts {
    const ir_op_data *op, *end;
    const ir_block_data *block;
    transform_shape s;
} transform_parts;

/* The operands before the values belong to some of the one, the results behind the block's to some
 * of the other. */
static bool verify_derivative(const ir_module *m, const transform_parts *p, status *st) {
    const transform_shape *s = &p->s;
    const bool forward = p->op->opcode == GRAPH_JVP;
    const uint32_t before = forward ? s->wrt_count : s->of_count,
                   behind = forward ? s->of_count : s->wrt_count;
    if (p->op->operand_count != before + s->value_count ||
        p->op->result_count != s->result_count + behind)
        return ir_broken(st, "takes or makes another number of values than its block and lists");
    const ir_value *wrt = forward ? p->op->operands : p->op->results + s->result_count,
                   *of = forward ? p->op->results + s->result_count : p->op->operands;
    return (same_types(m, s->values, p->block->arguments, s->value_count) &&
            same_types(m, p->op->results, p->end->operands, s->result_count) &&
            are_tangents(m, wrt, s->wrt, s->wrt_count, p->block->arguments, s->value_count) &&
            are_tangents(m, of, s->of, s->of_count, p->end->operands, s->result_count)) ||
           ir_broken(st, "a value is of another type than in its block");
}

/* Parts of values, and results of which these are stacked, but for those that are `whole`. */
static bool verify_parts(const ir_module *m, const transform_parts *p, const int64_t *whole,
                         uint32_t whole_count, status *st) {
    const transform_shape *s = &p->s;
    bool good = p->op->operand_count == s->value_count && p->op->result_count == s->result_count &&
                s->sliced <= s->value_count;
    for (uint32_t i = 0; good && i < s->value_count; i++)
        good = i < s->sliced ? control_is_part(m, p->block->arguments[i], s->values[i], s->count)
                             : same_type(m, s->values[i], p->block->arguments[i]);
    for (uint32_t i = 0; good && i < s->result_count; i++)
        good = ir_ints_hold(whole, whole_count, i)
                   ? same_type(m, p->end->operands[i], p->op->results[i])
                   : control_is_part(m, p->end->operands[i], p->op->results[i], s->count);
    return good || ir_broken(st, "a part does not fit the value that it is of");
}

static bool verify_vmap(const ir_module *m, const transform_parts *p, status *st) {
    return verify_parts(m, p, NULL, 0, st);
}

static bool verify_shard(const ir_module *m, ir_op op, const transform_parts *p, status *st) {
    uint32_t count;
    const int64_t *whole = numbers(m, op, "whole", &count);
    return verify_parts(m, p, whole, count, st);
}

static bool verify_plain(const ir_module *m, const transform_parts *p, status *st) {
    return (p->op->operand_count == p->s.value_count && p->op->result_count == p->s.result_count &&
            same_types(m, p->op->operands, p->block->arguments, p->s.value_count) &&
            same_types(m, p->op->results, p->end->operands, p->s.result_count)) ||
           ir_broken(st, "a value is of another type than in its block");
}

static bool verify_checkpoint(const ir_module *m, ir_op op, const transform_parts *p, status *st) {
    if (checkpoint_keep_named(ir_op_string(m, op, "keep", "nothing")) == CHECKPOINT_ANEW)
        return ir_broken(st, "a checkpoint does not keep that");
    return verify_plain(m, p, st);
}

static bool verify_ruled(const ir_module *m, ir_op op, const transform_parts *p, status *st) {
    const transform_shape *s = &p->s;
    const bool forward = p->op->opcode == GRAPH_CUSTOM_JVP;
    const ir_block_data *rule = ir_block_get(m, ir_op_block(m, op, 1));
    const ir_op_data *end = control_end(m, op, 1);
    const uint32_t known = s->value_count + s->result_count,
                   given = forward ? s->wrt_count : s->of_count,
                   made = forward ? s->of_count : s->wrt_count;
    if (!verify_plain(m, p, st))
        return false;
    if (rule->argument_count != known + given || end->operand_count != made)
        return ir_broken(st, "its rule takes or makes another number of values");
    const ir_value *wrt = forward ? rule->arguments + known : end->operands,
                   *of = forward ? end->operands : rule->arguments + known;
    return (same_types(m, rule->arguments, p->block->arguments, s->value_count) &&
            same_types(m, rule->arguments + s->value_count, p->end->operands, s->result_count) &&
            are_tangents(m, wrt, s->wrt, s->wrt_count, p->block->arguments, s->value_count) &&
            are_tangents(m, of, s->of, s->of_count, p->end->operands, s->result_count)) ||
           ir_broken(st, "its rule takes or makes values of other types");
}

bool transform_is_whole(const ir_module *m, ir_op op, uint32_t result) {
    const ir_attr list = ir_op_attr(m, op, "whole");
    const ir_attr_data *l = list ? ir_attr_get(m, list) : NULL;
    bool found = false;
    for (uint32_t i = 0; l && i < l->count; i++)
        found |= ir_attr_get(m, l->items[i])->integer == (int64_t)result;
    return found;
}

bool transform_verify(const ir_module *m, ir_op op, status *st) {
    transform_parts p = {ir_op_get(m, op), control_end(m, op, 0),
                         ir_block_get(m, ir_op_block(m, op, 0)), transform_shape_of(m, op)};
    if (p.s.value_count > p.op->operand_count)
        return ir_broken(st, "its block takes more values than there are");
    return p.op->opcode == GRAPH_JVP || p.op->opcode == GRAPH_VJP ? verify_derivative(m, &p, st)
           : p.op->opcode == GRAPH_VMAP                           ? verify_vmap(m, &p, st)
           : p.op->opcode == GRAPH_SHARD                          ? verify_shard(m, op, &p, st)
           : p.op->opcode == GRAPH_CHECKPOINT                     ? verify_checkpoint(m, op, &p, st)
                                                                  : verify_ruled(m, op, &p, st);
}
