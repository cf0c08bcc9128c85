/* variants.c - other forms of a kernel: for several sets of inputs at once its operations are those
 * of a tessera.vmap; to compute values again those of a derivative are a checkpoint's; without
 * rules of functions their operations stand in the place of both. */
#include "tessera/variants.h"

#include <string.h>

#include "graph/instance.h"
#include "graph/passes.h"
#include "ops/build.h"
#include "ops/control.h"
#include "ops/tiles.h"
#include "ops/transforms.h"

static bool has_room(const ir_module *m, const ir_value *values, uint32_t count) {
    bool room = true;
    for (uint32_t i = 0; i < count; i++)
        room &= ir_type_of(m, values[i])->rank < IR_MAX_RANK;
    return room;
}

/* All of the kernel's operations but its return, into the block of one before that. */
static void move_into(ir_module *m, ir_op vmap, ir_op end) {
    const ir_op_data *r = ir_op_get(m, end);
    const ir_block block = ir_op_block(m, vmap, 0);
    ir_builder inside = {.m = m, .block = block};
    build_next(&inside, r->operands, r->operand_count);
    const ir_op next = ir_block_get(m, block)->last;
    for (ir_op op = ir_kernel_body(m)->first, behind; op != vmap; op = behind) {
        behind = ir_op_get(m, op)->next;
        ir_op_remove_attr(m, op, "id"); /* of sums in the kernel's own block */
        ir_op_move_before(m, op, next);
    }
}

static void wrap(ir_module *m, int64_t parts) {
    ir_block_data *body = ir_kernel_body(m);
    const ir_op end = body->last;
    const ir_op_data *r = ir_op_get(m, end);
    ir_type *types = ARENA_NEW(ir_module_arena(m), ir_type, r->operand_count + 1);
    for (uint32_t i = 0; i < r->operand_count; i++)
        types[i] = control_stack_type(m, r->operands[i], parts);
    const ir_named_attr attrs[] = {{"count", ir_attr_int(m, parts)},
                                   {"sliced", ir_attr_int(m, body->argument_count)},
                                   {"alike", ir_attr_bool(m, true)}};
    ir_builder b = {.m = m, .block = r->block, .before = end, .location = r->location};
    const ir_op vmap = ir_build(&b, &(ir_op_spec){.opcode = GRAPH_VMAP,
                                                  .operands = body->arguments,
                                                  .operand_count = body->argument_count,
                                                  .results = types,
                                                  .result_count = r->operand_count,
                                                  .attrs = attrs,
                                                  .attr_count = 3,
                                                  .region_count = 1});
    move_into(m, vmap, end);
    for (uint32_t i = 0; i < body->argument_count; i++) {
        const ir_value whole = body->arguments[i];
        const ir_value part =
            ir_block_add_argument(m, ir_op_block(m, vmap, 0), ir_value_get(m, whole)->type, NULL);
        ir_replace_uses(m, whole, part);
        ir_value_get(m, whole)->type = control_stack_type(m, whole, parts);
    }
    ir_op_set_operands(m, vmap, body->arguments, body->argument_count);
    ir_op_set_operands(m, end, ir_op_get(m, vmap)->results, r->operand_count);
}

/* The instance of a changed clone, which is the caller's or gone. It has no settings, and a budget
 * was the kernel's. */
static compiler_instance *instance_of(compiler_instance *instance, ir_module *m, status *st) {
    ir_op checkpoint;
    while (checkpoint_least_room(m, &checkpoint) >= 0)
        ir_op_set_attr(m, checkpoint, "keep", ir_attr_string(m, "nothing"));
    for (ir_walk w = ir_walk_op(m, ir_module_kernel(m)); ir_walk_next(&w);)
        ir_op_get(m, w.op)->location.setting = 0;
    compiler_instance *other = compiler_instance_new(m, instance->dims);
    if (ir_verify(m, st) && instance_specialized(other, st))
        return other;
    compiler_instance_free(other);
    return NULL;
}

compiler_instance *compiler_batched(compiler_instance *instance, int64_t parts, status *st) {
    const ir_module *from = instance->graph;
    const ir_block_data *body = ir_kernel_body(from);
    const ir_op_data *end = ir_op_get(from, body->last);
    if (compiler_instance_is_contract(instance) || tiles_of(from)) {
        status_set(st, STATUS_UNAVAILABLE, "a kernel %s does not run on batches",
                   tiles_of(from) ? "of tiles" : "without a formula");
        return NULL;
    }
    if (!has_room(from, body->arguments, body->argument_count) ||
        !has_room(from, end->operands, end->operand_count)) {
        status_set(st, STATUS_UNAVAILABLE, "a tensor of %d axes has no room for a batch",
                   IR_MAX_RANK);
        return NULL;
    }
    ir_module *m = ir_module_clone(from);
    wrap(m, parts);
    return instance_of(instance, m, st);
}

/* The block's operations, but its end, into a checkpoint that stands alone there. */
static void wrap_block(ir_module *m, ir_block block, const char *keep) {
    ir_block_data *b = ir_block_get(m, block);
    const ir_op end = b->last;
    const ir_op_data *e = ir_op_get(m, end);
    ir_type *types = ARENA_NEW(ir_module_arena(m), ir_type, e->operand_count + 1);
    for (uint32_t i = 0; i < e->operand_count; i++)
        types[i] = ir_value_get(m, e->operands[i])->type;
    const ir_named_attr attr = {"keep", ir_attr_string(m, keep)};
    ir_builder around = {.m = m, .block = block, .before = end, .location = e->location};
    const ir_op checkpoint = ir_build(&around, &(ir_op_spec){.opcode = GRAPH_CHECKPOINT,
                                                             .operands = b->arguments,
                                                             .operand_count = b->argument_count,
                                                             .results = types,
                                                             .result_count = e->operand_count,
                                                             .attrs = &attr,
                                                             .attr_count = 1,
                                                             .region_count = 1});
    const ir_block inner = ir_op_block(m, checkpoint, 0);
    ir_builder inside = {.m = m, .block = inner, .location = e->location};
    const ir_op next = build_next(&inside, e->operands, e->operand_count);
    for (ir_op op = b->first, behind; op != checkpoint; op = behind) {
        behind = ir_op_get(m, op)->next;
        ir_op_move_before(m, op, next);
    }
    for (uint32_t i = 0; i < b->argument_count; i++) {
        const ir_value outside = b->arguments[i];
        ir_replace_uses(m, outside,
                        ir_block_add_argument(m, inner, ir_value_get(m, outside)->type, NULL));
    }
    ir_op_set_operands(m, checkpoint, b->arguments, b->argument_count);
    ir_op_set_operands(m, end, ir_op_get(m, checkpoint)->results, e->operand_count);
}

static compiler_instance *refuse(ir_module *m, const char *why, status *st) {
    status_set(st, STATUS_UNAVAILABLE, "%s", why);
    ir_module_free(m);
    return NULL;
}

compiler_instance *compiler_recomputed(compiler_instance *instance, bool keeps, status *st) {
    ir_module *m = ir_module_clone(instance->graph);
    bool found = false;
    for (ir_walk w = ir_walk_op(m, ir_module_kernel(m)); ir_walk_next(&w);)
        if (ir_op_get(m, w.op)->opcode == GRAPH_VJP) {
            wrap_block(m, ir_op_block(m, w.op, 0), keeps ? "everything" : "nothing");
            found = true;
        }
    return found ? instance_of(instance, m, st)
                 : refuse(m, "the kernel takes no derivative in reverse", st);
}

/* The first rule that is to be a derivative; 0: there is none. */
static ir_op find_rule(const ir_module *m) {
    for (ir_walk w = ir_walk_op(m, ir_module_kernel(m)); ir_walk_next(&w);) {
        const int opcode = ir_op_get(m, w.op)->opcode;
        if ((opcode == GRAPH_CUSTOM_VJP || opcode == GRAPH_CUSTOM_JVP) &&
            !ir_op_int(m, w.op, "differs", 0))
            return w.op;
    }
    return 0;
}

compiler_instance *compiler_without_rules(compiler_instance *instance, status *st) {
    ir_module *m = ir_module_clone(instance->graph);
    ir_op rule = find_rule(m);
    if (!rule)
        return refuse(m, "the kernel has no rule of a function that is its derivative", st);
    for (; rule; rule = find_rule(m))
        transform_open(m, rule);
    return instance_of(instance, m, st);
}
