/* part.c - a kernel at some of its positions: which axes of the inputs can be shortened so that
 * what is left of the outputs has the bits that it had, and the instance that computes only that.
 */
#include <stdlib.h>
#include <string.h>

#include "base/arena.h"
#include "graph/lanes.h"

typedef struct part_state {
    ir_module *m;
    lanes lanes;
    int *axis;      /* by value: the one that is shortened, or LANE_NONE */
    int64_t extent; /* of it, before */
} part_state;

static const ir_block_data *block_of(const ir_module *m) {
    return ir_kernel_body(m);
}

/* ---- what stands beside values with a lane becomes as short as they are ---- */

/* The axis of an operand that lies along the shortened one of the result; LANE_NONE: none does, and
 * LANE_MIXED where nothing is known of such an operation. */
static int axis_before(const part_state *p, ir_op op, const ir_op_data *d, int axis) {
    int64_t axes[IR_MAX_RANK];
    uint32_t count;
    switch (d->opcode) {
    case GRAPH_IOTA:
    case GRAPH_CONSTANT:
        return LANE_NONE;
    case GRAPH_BROADCAST:
        count = ir_op_ints(p->m, op, "axes", axes, IR_MAX_RANK);
        for (uint32_t i = 0; i < count; i++)
            if (axes[i] == axis)
                return ir_type_of(p->m, d->operands[0])->dims[i] == 1 ? LANE_NONE : (int)i;
        return LANE_NONE;
    case GRAPH_TRANSPOSE:
        ir_op_ints(p->m, op, "permutation", axes, IR_MAX_RANK);
        return (int)axes[axis];
    case GRAPH_CONCAT:
        return axis;
    default:
        return graph_op_class(d->opcode) == GRAPH_CLASS_ELEMENTWISE ? axis : LANE_MIXED;
    }
}

/* An operand with a lane means that the lane goes through the operation. Of others, those of a
 * contraction and of a gather's list lie beside it. */
static bool shorten_operands(const part_state *p, ir_op op, const ir_op_data *d) {
    int axis = p->axis[d->results[0]];
    bool apart = graph_op_class(d->opcode) == GRAPH_CLASS_DOT || d->opcode == GRAPH_GATHER;
    bool laned = false;
    for (uint32_t i = 0; i < d->operand_count; i++)
        laned |= p->lanes.axis[d->operands[i]] >= 0;
    for (uint32_t i = 0; i < d->operand_count; i++) {
        ir_value v = d->operands[i];
        if (p->lanes.axis[v] >= 0 || (apart && laned) || ir_type_of(p->m, v)->rank == 0)
            continue;
        int before = axis_before(p, op, d, axis);
        if (before == LANE_MIXED || (p->axis[v] >= 0 && p->axis[v] != before))
            return false;
        p->axis[v] = before;
    }
    return true;
}

/* Backward, since what is asked of a value is asked of what it is made from. */
static bool shorten_beside(const part_state *p) {
    const ir_block_data *block = block_of(p->m);
    bool ok = true;
    for (ir_op op = ir_op_get(p->m, block->last)->previous; op && ok;
         op = ir_op_get(p->m, op)->previous) {
        const ir_op_data *d = ir_op_get(p->m, op);
        ok = d->result_count == 1 && d->region_count == 0 &&
             (p->axis[d->results[0]] < 0 || shorten_operands(p, op, d));
    }
    return ok;
}

/* A value that has become short must not stand where a whole one is asked for. */
static bool is_consistent(const part_state *p) {
    const ir_block_data *block = block_of(p->m);
    const ir_op_data *last = ir_op_get(p->m, block->last);
    for (ir_op op = block->first; op != block->last; op = ir_op_get(p->m, op)->next) {
        const ir_op_data *d = ir_op_get(p->m, op);
        bool shortened = p->axis[d->results[0]] >= 0;
        for (uint32_t i = 0; i < d->operand_count; i++)
            if (p->axis[d->operands[i]] >= 0 && !shortened)
                return false;
        if (shortened && ir_type_of(p->m, d->results[0])->dims[p->axis[d->results[0]]] != p->extent)
            return false;
    }
    for (uint32_t i = 0; i < block->argument_count; i++)
        if (p->lanes.axis[block->arguments[i]] < 0 && p->axis[block->arguments[i]] >= 0)
            return false;
    for (uint32_t i = 0; i < last->operand_count; i++)
        if (p->lanes.axis[last->operands[i]] < 0)
            return false;
    return true;
}

/* Finds what is shortened along an axis. False: it cannot be. */
static bool part_open(part_state *p, ir_module *m, compiler_axis *along) {
    const ir_block_data *block = block_of(m);
    const ir_op_data *last = ir_op_get(m, block->last);
    uint32_t count = ir_value_count(m) + 1;
    *p = (part_state){.m = m, .lanes = lanes_new(m), .axis = base_calloc(count, sizeof(int))};
    for (uint32_t i = 0; i < block->argument_count; i++) {
        ir_value v = block->arguments[i];
        lanes_seed(&p->lanes, v, along->inputs[i]);
        if (along->inputs[i] >= 0)
            p->extent = (int64_t)ir_type_of(m, v)->dims[along->inputs[i]];
    }
    lanes_follow(&p->lanes);
    memcpy(p->axis, p->lanes.axis, count * sizeof *p->axis);
    bool ok = true;
    for (uint32_t i = 0; i < last->operand_count && ok; i++) {
        along->outputs[i] = p->lanes.axis[last->operands[i]];
        ok = along->outputs[i] >= 0;
    }
    along->extent = p->extent;
    return ok && shorten_beside(p) && is_consistent(p);
}

static void part_close(part_state *p) {
    lanes_release(&p->lanes);
    free(p->axis);
}

/* ---- the axes that there are ---- */

static bool is_static(const ir_module *m) {
    const ir_block_data *block = block_of(m);
    bool all = true;
    for (uint32_t i = 0; i < block->argument_count; i++)
        all &= ir_type_is_static(m, ir_value_get(m, block->arguments[i])->type);
    for (ir_op op = block->first; op != block->last; op = ir_op_get(m, op)->next)
        for (uint32_t i = 0; i < ir_op_get(m, op)->result_count; i++)
            all &= ir_type_is_static(m, ir_value_get(m, ir_op_get(m, op)->results[i])->type);
    return all;
}

static bool overlaps(const compiler_axis *a, const compiler_axis *list, uint32_t count,
                     uint32_t outputs) {
    for (uint32_t k = 0; k < count; k++)
        for (uint32_t i = 0; i < outputs; i++)
            if (list[k].outputs[i] == a->outputs[i])
                return true;
    return false;
}

typedef struct axis_list {
    compiler_axis *items;
    arena *memory;
    uint32_t count, most, inputs, outputs;
    compiler_axis candidate; /* the one that is looked at */
} axis_list;

static compiler_axis new_axis(arena *memory, uint32_t inputs, uint32_t outputs) {
    return (compiler_axis){.inputs = ARENA_NEW(memory, int, inputs + 1),
                           .outputs = ARENA_NEW(memory, int, outputs + 1)};
}

/* A candidate that is found holds becomes one of the list. */
static void consider(ir_module *m, axis_list *out) {
    part_state p;
    compiler_axis *a = &out->candidate;
    bool holds = part_open(&p, m, a) && out->count < out->most &&
                 !overlaps(a, out->items, out->count, out->outputs);
    part_close(&p);
    if (!holds)
        return;
    compiler_axis kept = new_axis(out->memory, out->inputs, out->outputs);
    memcpy(kept.inputs, a->inputs, out->inputs * sizeof *a->inputs);
    memcpy(kept.outputs, a->outputs, out->outputs * sizeof *a->outputs);
    kept.extent = a->extent;
    out->items[out->count++] = kept;
}

static compiler_axis *no_axis(axis_list *list) {
    compiler_axis *a = &list->candidate;
    a->extent = 0;
    for (uint32_t i = 0; i < list->inputs; i++)
        a->inputs[i] = LANE_NONE;
    for (uint32_t i = 0; i < list->outputs; i++)
        a->outputs[i] = LANE_NONE;
    return a;
}

/* Joins the axes of the inputs that share a dimension. */
static void consider_dim(compiler_instance *instance, ir_module *m, uint32_t dim, axis_list *out) {
    const ir_block_data *block = block_of(instance->graph);
    const ir_dim symbol = ir_dim_symbol(instance->graph, instance->dims.items[dim].name);
    compiler_axis *a = no_axis(out);
    bool found = false;
    for (uint32_t i = 0; i < block->argument_count; i++) {
        const ir_type_data *t = ir_type_of(instance->graph, block->arguments[i]);
        for (int axis = t->rank - 1; axis >= 0; axis--)
            if (t->dims[axis] == symbol)
                a->inputs[i] = axis;
        found |= a->inputs[i] >= 0;
    }
    if (found)
        consider(m, out);
}

bool compiler_axes(compiler_instance *instance, compiler_axis *out, uint32_t most, uint32_t *count,
                   status *st) {
    const ir_module *primitives = compiler_primitives(instance, st);
    *count = 0;
    if (!primitives)
        return false;
    if (compiler_instance_is_contract(instance) || !is_static(primitives))
        return true;
    ir_module *m = ir_module_clone(primitives);
    const ir_block_data *block = block_of(m);
    axis_list list = {.items = out,
                      .memory = ir_module_arena(instance->graph),
                      .most = most,
                      .inputs = block->argument_count,
                      .outputs = ir_op_get(m, block->last)->operand_count};
    list.candidate = new_axis(ir_module_arena(m), list.inputs, list.outputs);
    for (uint32_t dim = 0; dim < instance->dims.count; dim++)
        consider_dim(instance, m, dim, &list);
    for (uint32_t i = 0; i < block->argument_count; i++)
        for (int axis = 0; axis < ir_type_of(m, block->arguments[i])->rank; axis++) {
            no_axis(&list)->inputs[i] = axis;
            consider(m, &list);
        }
    *count = list.count;
    ir_module_free(m);
    return true;
}

/* ---- the part itself ---- */

static void retype(const part_state *p, int64_t positions) {
    for (ir_value v = 1; v <= ir_value_count(p->m); v++) {
        const ir_type_data *t = ir_type_of(p->m, v);
        ir_dim dims[IR_MAX_RANK];
        if (p->axis[v] < 0)
            continue;
        memcpy(dims, t->dims, sizeof *dims * (size_t)t->rank);
        dims[p->axis[v]] = (ir_dim)positions;
        ir_value_get(p->m, v)->type = ir_type_tensor(p->m, t->element, t->rank, dims);
    }
}

compiler_instance *compiler_part(compiler_instance *instance, const compiler_axis *axes,
                                 const int64_t *positions, uint32_t count, status *st) {
    const ir_module *primitives = compiler_primitives(instance, st);
    bool ok = primitives != NULL;
    if (!ok)
        return NULL;
    ir_module *m = ir_module_clone(primitives);
    for (uint32_t i = 0; i < count && ok; i++) {
        const ir_block_data *block = block_of(m);
        compiler_axis along = new_axis(ir_module_arena(m), block->argument_count,
                                       ir_op_get(m, block->last)->operand_count);
        part_state p;
        memcpy(along.inputs, axes[i].inputs, block->argument_count * sizeof *along.inputs);
        ok = part_open(&p, m, &along);
        if (ok)
            retype(&p, positions[i]);
        part_close(&p);
    }
    if (!ok) {
        ir_module_free(m);
        status_set(st, STATUS_INVALID, "the kernel cannot be cut along these axes together");
        return NULL;
    }
    compiler_instance *part = compiler_instance_new(ir_module_clone(m), (ir_bindings){0});
    part->primitives = m;
    return part;
}

/* ---- what it costs to compute without speed ---- */

static uint64_t count_of(const ir_module *m, ir_value v) {
    return (uint64_t)ir_type_count(m, ir_value_get(m, v)->type);
}

bool compiler_steps(compiler_instance *instance, uint64_t *elements, uint64_t *products,
                    status *st) {
    const ir_module *m = compiler_primitives(instance, st);
    *elements = *products = 0;
    if (!m || !is_static(m))
        return m != NULL;
    const ir_block_data *block = block_of(m);
    for (uint32_t i = 0; i < block->argument_count; i++)
        *elements += count_of(m, block->arguments[i]);
    for (ir_op op = block->first; op != block->last; op = ir_op_get(m, op)->next) {
        const ir_op_data *d = ir_op_get(m, op);
        for (uint32_t i = 0; i < d->result_count; i++)
            *elements += count_of(m, d->results[i]);
        if (graph_op_class(d->opcode) != GRAPH_CLASS_DOT)
            continue;
        const ir_type_data *y = ir_type_of(m, d->operands[1]);
        int64_t axes[IR_MAX_RANK] = {0};
        uint32_t contracted =
            d->opcode == GRAPH_CONVOLVE ? 1 : ir_op_ints(m, op, "y_contract", axes, IR_MAX_RANK);
        uint64_t steps = 1;
        for (uint32_t i = 0; i < contracted; i++)
            steps *= (uint64_t)y->dims[axes[i]];
        *products += count_of(m, d->results[0]) * steps;
    }
    return true;
}
