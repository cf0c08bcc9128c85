/* propagate.c - which part of each value a rank has.
 *
 * From what is said of inputs, by tessera.placed and by shards, placements go forwards through
 * operations that keep the dimension. They go backwards to a value of which every reader takes the
 * same part. Nothing that is known changes again, so it ends. */
#include <stdlib.h>
#include <string.h>

#include "ops/control.h"
#include "transforms/partition.h"

bool placement_is_whole(const placement *p) {
    return placement_equal(p, &(placement){0});
}

bool placement_equal(const placement *a, const placement *b) {
    return memcmp(a, b, sizeof *a) == 0;
}

/* ---- axes that are used once ---- */

static bool has_axis(const placement *p, uint8_t axis) {
    for (int d = 0; d < IR_MAX_RANK; d++)
        if (memchr(p->axes[d], axis, SHARDING_AXES))
            return true;
    return false;
}

/* Cuts a dimension that is still whole, if none of the axes is in use. */
static void cut(placement *p, int dim, const uint8_t *axes) {
    bool free_axes = !placement_is_cut(p, dim);
    for (int i = 0; i < SHARDING_AXES && axes[i]; i++)
        free_axes &= !has_axis(p, axes[i]);
    if (free_axes)
        memcpy(p->axes[dim], axes, SHARDING_AXES);
}

static void without(placement *p, uint8_t axis) {
    for (int d = 0; axis && d < IR_MAX_RANK; d++)
        if (memchr(p->axes[d], axis, SHARDING_AXES))
            memset(p->axes[d], 0, SHARDING_AXES);
}

/* ---- blocks that are functions of their operands ---- */

/* The number of the axis of a tessera.shard; 0: none, or one rank has it. */
static uint8_t axis_of(const partition *p, ir_op op) {
    const char *name = ir_op_string(p->m, op, "axis", "");
    const int64_t total = ir_op_int(p->m, op, "count", 0);
    for (uint32_t i = 0; i < p->axis_count; i++)
        if (p->axes[i].total == total && strcmp(p->axes[i].name, name) == 0)
            return (uint8_t)(i + 1);
    return 0;
}

static bool is_open(const partition *p, ir_op op) {
    const int opcode = op ? ir_op_get(p->m, op)->opcode : GRAPH_KERNEL;
    return opcode == GRAPH_SHARD || opcode == GRAPH_CHECKPOINT;
}

static bool is_sliced(const partition *p, ir_op op, uint32_t operand) {
    return ir_op_get(p->m, op)->opcode == GRAPH_SHARD &&
           (int64_t)operand < ir_op_int(p->m, op, "sliced", 0);
}

static bool is_stacked(const partition *p, ir_op op, uint32_t result) {
    return ir_op_get(p->m, op)->opcode == GRAPH_SHARD && !transform_is_whole(p->m, op, result);
}

/* The placement of one part of a value, and back. */
static placement part_of(const placement *whole) {
    placement out = {0};
    memcpy(out.axes, whole->axes + 1, sizeof out.axes - sizeof *out.axes);
    return out;
}

static placement stack_of(const placement *part, uint8_t axis) {
    placement out = {0};
    memcpy(out.axes + 1, part->axes, sizeof out.axes - sizeof *out.axes);
    out.axes[0][0] = axis;
    return out;
}

static placement inside(const partition *p, ir_op op, uint32_t operand) {
    placement out = p->of[ir_op_get(p->m, op)->operands[operand]];
    if (is_sliced(p, op, operand))
        out = part_of(&out);
    if (ir_op_get(p->m, op)->opcode == GRAPH_SHARD)
        without(&out, axis_of(p, op));
    return out;
}

static placement outside(const partition *p, ir_op op, uint32_t result) {
    const ir_value v = control_end(p->m, op, 0)->operands[result];
    return is_stacked(p, op, result) ? stack_of(&p->of[v], axis_of(p, op)) : p->of[v];
}

/* ---- what operations need ---- */

static placement wanted_at_end(const partition *p, ir_op around, uint32_t i) {
    const placement none = {0};
    if (ir_op_get(p->m, around)->opcode == GRAPH_KERNEL)
        return p->said[ir_kernel_body(p->m)->argument_count + i];
    if (!is_open(p, around))
        return none;
    const placement *out = &p->of[ir_op_get(p->m, around)->results[i]];
    return is_stacked(p, around, i) ? part_of(out) : *out;
}

placement partition_wanted(const partition *p, ir_op op, uint32_t operand) {
    const ir_op_data *d = ir_op_get(p->m, op);
    int8_t to[IR_MAX_RANK];
    placement out = {0};
    if (d->opcode == GRAPH_RETURN || d->opcode == GRAPH_NEXT)
        return wanted_at_end(p, ir_block_parent(p->m, d->block), operand);
    if (is_open(p, op)) {
        const ir_value inner = ir_block_get(p->m, ir_op_block(p->m, op, 0))->arguments[operand];
        return is_sliced(p, op, operand) ? stack_of(&p->of[inner], axis_of(p, op)) : p->of[inner];
    }
    if (d->opcode == GRAPH_PLACED)
        return p->of[d->results[0]];
    if (d->opcode == GRAPH_RESHAPE)
        return kept_by_reshape(p, &p->of[d->results[0]], ir_type_of(p->m, d->results[0]),
                               ir_type_of(p->m, d->operands[0]));
    if (d->result_count == 0 || !kept_dims(p->m, op, operand, 0, to))
        return out;
    for (int i = 0; i < IR_MAX_RANK; i++)
        if (to[i] >= 0)
            memcpy(out.axes[i], p->of[d->results[0]].axes[(int)to[i]], SHARDING_AXES);
    return out;
}

/* ---- forwards ---- */

static bool learn(partition *p, ir_value v, const placement *now) {
    if (!placement_is_whole(&p->of[v]) || placement_is_whole(now))
        return false;
    p->of[v] = *now;
    return true;
}

static placement made_of(const partition *p, ir_op op, uint32_t result) {
    const ir_op_data *d = ir_op_get(p->m, op);
    placement out = {0};
    int8_t to[IR_MAX_RANK];
    for (uint32_t i = 0; i < d->operand_count; i++) {
        const placement *x = &p->of[d->operands[i]];
        if (placement_is_whole(x) || !kept_dims(p->m, op, i, result, to))
            continue;
        for (int dim = 0; dim < IR_MAX_RANK; dim++)
            if (placement_is_cut(x, dim) && to[dim] >= 0)
                cut(&out, to[dim], x->axes[dim]);
    }
    return out;
}

static bool go_into(partition *p, ir_op op) {
    const ir_block_data *b = ir_block_get(p->m, ir_op_block(p->m, op, 0));
    bool any = false;
    for (uint32_t i = 0; i < b->argument_count; i++) {
        const placement now = inside(p, op, i);
        any |= learn(p, b->arguments[i], &now);
    }
    return any;
}

static bool go_out(partition *p, ir_op op) {
    const ir_op_data *d = ir_op_get(p->m, op);
    bool any = false;
    for (uint32_t i = 0; i < d->result_count; i++) {
        const placement now = outside(p, op, i);
        any |= learn(p, d->results[i], &now);
    }
    return any;
}

static bool go_through(partition *p, ir_op op) {
    const ir_op_data *d = ir_op_get(p->m, op);
    bool any = false;
    for (uint32_t i = 0; i < d->result_count; i++) {
        const placement now =
            d->opcode == GRAPH_PLACED ? partition_read(p, ir_op_string(p->m, op, "sharding", ""),
                                                       ir_type_of(p->m, d->results[0]))
            : d->opcode == GRAPH_RESHAPE
                ? kept_by_reshape(p, &p->of[d->operands[0]], ir_type_of(p->m, d->operands[0]),
                                  ir_type_of(p->m, d->results[0]))
                : made_of(p, op, i);
        any |= learn(p, d->results[i], &now);
    }
    return any;
}

static bool forwards(partition *p) {
    bool any = false;
    for (ir_walk w = ir_walk_op(p->m, ir_module_kernel(p->m)); ir_walk_step(&w);)
        if (is_open(p, w.op))
            any |= w.leaving ? go_out(p, w.op) : go_into(p, w.op);
        else if (!w.leaving)
            any |= go_through(p, w.op);
    return any;
}

/* ---- backwards ---- */

/* May a rank compute some of the rows along this dimension of an operation's one result? */
static bool can_be_cut(const partition *p, ir_op op, int dim) {
    const ir_op_data *d = ir_op_get(p->m, op);
    int8_t to[IR_MAX_RANK];
    if (d->opcode == GRAPH_IOTA)
        return ir_op_int(p->m, op, "axis", 0) != dim;
    bool kept = d->opcode == GRAPH_BROADCAST;
    for (uint32_t i = 0; i < d->operand_count && !kept; i++)
        kept = kept_dims(p->m, op, i, 0, to) && memchr(to, dim, IR_MAX_RANK) != NULL;
    return kept;
}

/* ... of what all readers take. */
static placement could_be(const partition *p, ir_value v, const placement *taken) {
    const ir_op op = ir_value_get(p->m, v)->op;
    const ir_op_data *d = ir_op_get(p->m, op);
    placement out = {0};
    if (d->opcode == GRAPH_RESHAPE) {
        const ir_type_data *x = ir_type_of(p->m, d->operands[0]), *y = ir_type_of(p->m, v);
        const placement before = kept_by_reshape(p, taken, y, x);
        return kept_by_reshape(p, &before, x, y);
    }
    for (int i = 0; d->result_count == 1 && i < ir_type_of(p->m, v)->rank; i++)
        if (placement_is_cut(taken, i) && can_be_cut(p, op, i))
            cut(&out, i, taken->axes[i]);
    return out;
}

placement partition_taken(const partition *p, const ir_uses *uses, ir_value v) {
    const uint32_t count = ir_uses_count(uses, v);
    const placement none = {0};
    placement out = none;
    for (uint32_t i = 0; i < count; i++) {
        const ir_op reader = ir_uses_reader(uses, v, i);
        const ir_op_data *d = ir_op_get(p->m, reader);
        for (uint32_t k = 0; k < d->operand_count; k++) {
            if (d->operands[k] != v)
                continue;
            const placement one = partition_wanted(p, reader, k);
            if (i == 0)
                out = one;
            else if (!placement_equal(&one, &out))
                return none;
        }
    }
    return out;
}

/* An argument of an open block may be what its readers take; of a kernel, it is as it was said. */
static bool go_back(partition *p, const ir_uses *uses, ir_value v) {
    const ir_value_data *d = ir_value_get(p->m, v);
    const bool inner = !d->op && is_open(p, ir_block_parent(p->m, d->block));
    if (!placement_is_whole(&p->of[v]) || (!d->op && !inner) || (d->op && is_open(p, d->op)) ||
        (d->op && ir_op_get(p->m, d->op)->opcode == GRAPH_PLACED))
        return false;
    const placement taken = partition_taken(p, uses, v);
    const placement now = placement_is_whole(&taken) || inner ? taken : could_be(p, v, &taken);
    return learn(p, v, &now);
}

void partition_propagate(partition *p) {
    enum { SWEEPS_MAX = 32 };
    ir_uses uses = ir_uses_fill(p->m);
    const ir_block_data *body = ir_kernel_body(p->m);
    for (uint32_t i = 0; i < body->argument_count; i++)
        p->of[body->arguments[i]] = p->said[i];
    bool any = true;
    for (int i = 0; any && i < SWEEPS_MAX; i++) {
        while (forwards(p))
            ;
        any = false;
        for (ir_value v = p->value_count; v > 0; v--)
            any |= go_back(p, &uses, v);
    }
    ir_uses_release(&uses);
}
