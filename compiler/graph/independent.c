/* independent.c - which dimensions of a kernel are batches: each of their positions is computed
 * from the same position of the inputs, and from nothing else that has positions. Each value of the
 * primitives has a lane (lanes.h). */
#include <stdlib.h>
#include <string.h>

#include "base/arena.h"
#include "graph/lanes.h"
#include "ops/control.h"

static const ir_type_data *type_of(const lanes *l, ir_value v) {
    return ir_type_of(l->m, v);
}

static bool same_size(const lanes *l, ir_value a, int axis_a, ir_value b, int axis_b) {
    return axis_b >= 0 && axis_b < type_of(l, b)->rank &&
           type_of(l, a)->dims[axis_a] == type_of(l, b)->dims[axis_b];
}

static uint32_t all_axes(const lanes *l, ir_value v) {
    return (1u << type_of(l, v)->rank) - 1;
}

/* ---- one operation each ---- */

/* Operands of one shape: all along the same axis, or alike everywhere on it. */
static int of_alike(const lanes *l, const ir_op_data *d) {
    int lane = LANE_NONE;
    for (uint32_t i = 0; i < d->operand_count; i++)
        if (l->axis[d->operands[i]] != LANE_NONE && type_of(l, d->operands[i])->rank > 0)
            lane = lane == LANE_NONE || lane == l->axis[d->operands[i]] ? l->axis[d->operands[i]]
                                                                        : LANE_MIXED;
    for (uint32_t i = 0; i < d->operand_count && lane >= 0; i++)
        if (l->axis[d->operands[i]] == LANE_NONE && (l->varies[d->operands[i]] >> lane & 1))
            lane = LANE_MIXED;
    return lane;
}

static int of_broadcast(const lanes *l, ir_op op, const ir_op_data *d) {
    int64_t axes[IR_MAX_RANK];
    int lane = l->axis[d->operands[0]];
    uint32_t count = ir_op_ints(l->m, op, "axes", axes, IR_MAX_RANK), moved = 0;
    for (uint32_t i = 0; i < count; i++)
        if (l->varies[d->operands[0]] >> i & 1 &&
            same_size(l, d->operands[0], (int)i, d->results[0], (int)axes[i]))
            moved |= 1u << axes[i];
    l->varies[d->results[0]] = moved;
    if (lane < 0)
        return lane;
    return same_size(l, d->operands[0], lane, d->results[0], (int)axes[lane]) ? (int)axes[lane]
                                                                              : LANE_MIXED;
}

/* Elements behind one of the axis: its stride. */
static int64_t stride_of(const ir_type_data *t, int axis) {
    int64_t stride = 1;
    for (int i = axis + 1; i < t->rank; i++)
        stride *= (int64_t)t->dims[i];
    return stride;
}

static int of_reshape(const lanes *l, const ir_op_data *d) {
    const ir_type_data *from = type_of(l, d->operands[0]), *to = type_of(l, d->results[0]);
    int lane = l->axis[d->operands[0]];
    if (lane < 0)
        return lane;
    for (int i = 0; i < to->rank; i++)
        if (to->dims[i] == from->dims[lane] && stride_of(to, i) == stride_of(from, lane))
            return i;
    return LANE_MIXED;
}

static int of_transpose(const lanes *l, ir_op op, const ir_op_data *d) {
    int64_t permutation[IR_MAX_RANK];
    int lane = l->axis[d->operands[0]];
    uint32_t count = ir_op_ints(l->m, op, "permutation", permutation, IR_MAX_RANK), moved = 0;
    for (uint32_t i = 0; i < count; i++)
        moved |= (l->varies[d->operands[0]] >> permutation[i] & 1) << i;
    l->varies[d->results[0]] = moved;
    for (uint32_t i = 0; i < count && lane >= 0; i++)
        if (permutation[i] == lane)
            return (int)i;
    return lane;
}

/* All of the axis is there, or it is another one. */
static int of_part(const lanes *l, const ir_op_data *d) {
    int lane = l->axis[d->operands[0]];
    return lane < 0 || same_size(l, d->operands[0], lane, d->results[0], lane) ? lane : LANE_MIXED;
}

static int of_axis(const lanes *l, ir_op op, const ir_op_data *d) {
    int lane = l->axis[d->operands[0]], rank = type_of(l, d->operands[0])->rank;
    int axis = (int)ir_op_int(l->m, op, "axis", -1);
    return lane >= 0 && lane == (axis < 0 ? axis + rank : axis) ? LANE_MIXED : lane;
}

static int of_concat(const lanes *l, ir_op op, const ir_op_data *d) {
    int lane = of_alike(l, d);
    return lane >= 0 && lane == (int)ir_op_int(l->m, op, "axis", 0) ? LANE_MIXED : lane;
}

static int of_gather(const lanes *l, ir_op op, const ir_op_data *d) {
    int axis = (int)ir_op_int(l->m, op, "axis", 0),
        batch = (int)ir_op_int(l->m, op, "batch_dims", 0);
    int x = l->axis[d->operands[0]], indices = l->axis[d->operands[1]];
    int more = type_of(l, d->operands[1])->rank - batch;
    if (x == LANE_NONE && indices == LANE_NONE)
        return LANE_NONE;
    if (x == LANE_MIXED || indices == LANE_MIXED)
        return LANE_MIXED;
    if (x == indices)
        return x < batch ? x : LANE_MIXED;
    if (x == LANE_NONE)
        return indices >= batch ? axis + indices - batch : LANE_MIXED;
    return indices != LANE_NONE || x < batch || x == axis ? LANE_MIXED
           : x < axis                                     ? x
                                                          : x - 1 + more;
}

static int of_reduce(const lanes *l, ir_op op, const ir_op_data *d) {
    int64_t axes[IR_MAX_RANK];
    int lane = l->axis[d->operands[0]], before = 0;
    uint32_t count = ir_op_ints(l->m, op, "axes", axes, IR_MAX_RANK);
    for (uint32_t i = 0; i < count; i++) {
        if (axes[i] == lane)
            return LANE_MIXED;
        before += axes[i] < lane;
    }
    return lane < 0 ? lane : lane - before;
}

/* One side of a contraction. */
typedef struct dot_side {
    int64_t batch[IR_MAX_RANK], contract[IR_MAX_RANK];
    uint32_t batches, contracts;
    int rank, lane;
} dot_side;

static dot_side side_of(const lanes *l, ir_op op, ir_value v, const char *batch,
                        const char *contract) {
    dot_side s = {.rank = type_of(l, v)->rank, .lane = l->axis[v]};
    s.batches = ir_op_ints(l->m, op, batch, s.batch, IR_MAX_RANK);
    s.contracts = ir_op_ints(l->m, op, contract, s.contract, IR_MAX_RANK);
    return s;
}

/* New place of an axis: batches first, then what is neither. LANE_MIXED: it is contracted. */
static int place_of(const dot_side *s, int lane, int free_before) {
    int place = (int)s->batches + free_before;
    for (uint32_t i = 0; i < s->batches; i++)
        if (s->batch[i] == lane)
            return (int)i;
    if (ir_ints_hold(s->contract, s->contracts, lane))
        return LANE_MIXED;
    for (int i = 0; i < lane; i++)
        place +=
            !ir_ints_hold(s->batch, s->batches, i) && !ir_ints_hold(s->contract, s->contracts, i);
    return place;
}

static int of_dot(const lanes *l, ir_op op, const ir_op_data *d) {
    dot_side x = side_of(l, op, d->operands[0], "x_batch", "x_contract");
    dot_side y = side_of(l, op, d->operands[1], "y_batch", "y_contract");
    int free_of_x = x.rank - (int)(x.batches + x.contracts);
    if (d->operand_count > 2 && l->axis[d->operands[2]] != LANE_NONE)
        return LANE_MIXED;
    if (x.lane == LANE_MIXED || y.lane == LANE_MIXED)
        return LANE_MIXED;
    int of_x = x.lane == LANE_NONE ? LANE_NONE : place_of(&x, x.lane, 0);
    int of_y = y.lane == LANE_NONE ? LANE_NONE : place_of(&y, y.lane, free_of_x);
    if (of_x == LANE_NONE || of_y == LANE_NONE) {
        int place = of_x == LANE_NONE ? of_y : of_x;
        bool counted = d->operand_count > 2 && place == (int)x.batches + free_of_x - 1;
        bool alone = place >= (int)x.batches; /* the other side has no such positions */
        return place == LANE_NONE || (alone && !counted) ? place : LANE_MIXED;
    }
    return of_x == of_y && of_x < (int)x.batches ? of_x : LANE_MIXED;
}

/* The number of the image, or the channel that comes out. */
static int of_convolve(const lanes *l, const ir_op_data *d) {
    int x = l->axis[d->operands[0]], w = l->axis[d->operands[1]];
    if (x == LANE_NONE && w == LANE_NONE)
        return LANE_NONE;
    if (w == LANE_NONE)
        return x == 0 ? 0 : LANE_MIXED;
    return x == LANE_NONE && w == type_of(l, d->operands[1])->rank - 1
               ? type_of(l, d->results[0])->rank - 1
               : LANE_MIXED;
}

/* Turns and sides are chosen for all positions at once, or are positions. */
static int of_control(const lanes *l, const ir_op_data *d) {
    for (uint32_t i = 0; i < d->operand_count; i++)
        if (l->axis[d->operands[i]] != LANE_NONE)
            return LANE_MIXED;
    return LANE_NONE;
}

static int lane_after(const lanes *l, ir_op op, const ir_op_data *d) {
    switch (d->opcode) {
    case GRAPH_BROADCAST:
        return of_broadcast(l, op, d);
    case GRAPH_RESHAPE:
        return of_reshape(l, d);
    case GRAPH_TRANSPOSE:
        return of_transpose(l, op, d);
    case GRAPH_SLICE:
        return of_part(l, d);
    case GRAPH_WINDOW:
    case GRAPH_CUMSUM:
    case GRAPH_ARGSORT:
        return of_axis(l, op, d);
    case GRAPH_CONCAT:
        return of_concat(l, op, d);
    case GRAPH_GATHER:
        return of_gather(l, op, d);
    case GRAPH_REDUCE:
        return of_reduce(l, op, d);
    case GRAPH_DOT:
        return of_dot(l, op, d);
    case GRAPH_CONVOLVE:
        return of_convolve(l, d);
    default:
        if (control_has_blocks(d->opcode))
            return of_control(l, d);
        return d->operand_count == 0 ? LANE_NONE : of_alike(l, d);
    }
}

/* Axes along which a result varies; of an element-wise operation, those of its operands. */
static uint32_t varies_after(const lanes *l, ir_op op, const ir_op_data *d, ir_value result) {
    uint32_t varies = 0;
    if (d->opcode == GRAPH_CONSTANT)
        return 0;
    if (d->opcode == GRAPH_IOTA)
        return 1u << ir_op_int(l->m, op, "axis", 0);
    if (graph_op_class(d->opcode) != GRAPH_CLASS_ELEMENTWISE)
        return all_axes(l, result);
    for (uint32_t i = 0; i < d->operand_count; i++)
        varies |= l->varies[d->operands[i]];
    return varies;
}

static void visit(lanes *l, ir_op op) {
    const ir_op_data *d = ir_op_get(l->m, op);
    bool mixed = false;
    for (uint32_t i = 0; i < d->operand_count; i++)
        mixed |= l->axis[d->operands[i]] == LANE_MIXED;
    for (uint32_t i = 0; i < d->result_count; i++)
        l->varies[d->results[i]] = varies_after(l, op, d, d->results[i]);
    int lane = mixed ? LANE_MIXED : lane_after(l, op, d);
    for (uint32_t i = 0; i < d->result_count; i++)
        l->axis[d->results[i]] = lane;
    if (lane == LANE_MIXED && !mixed && !l->where)
        l->where = graph_op_table()->ops[d->opcode].name + strlen("tessera.");
}

lanes lanes_new(const ir_module *primitives) {
    size_t values = ir_value_count(primitives) + 1;
    lanes l = {.m = primitives,
               .axis = base_calloc(values, sizeof(int)),
               .varies = base_calloc(values, sizeof(uint32_t))};
    for (size_t v = 0; v < values; v++)
        l.axis[v] = LANE_NONE;
    return l;
}

void lanes_release(lanes *l) {
    free(l->axis);
    free(l->varies);
}

void lanes_seed(lanes *l, ir_value input, int axis) {
    l->axis[input] = axis;
    l->varies[input] = all_axes(l, input);
}

void lanes_follow(lanes *l) {
    const ir_block_data *block = ir_kernel_body(l->m);
    for (ir_op op = block->first; op != block->last; op = ir_op_get(l->m, op)->next)
        visit(l, op);
}

/* ---- the dimension's axes of the inputs ---- */

typedef struct sought {
    const char *name;
    bool found;
} sought;

static uint32_t seek_constant(void *context, int64_t value) {
    (void)context, (void)value;
    return 1;
}

static uint32_t seek_symbol(void *context, const char *name) {
    sought *s = context;
    s->found |= strcmp(s->name, name) == 0;
    return 1;
}

static uint32_t seek_combine(void *context, char operation, uint32_t x, uint32_t y) {
    (void)context, (void)operation, (void)x, (void)y;
    return 1;
}

static bool mentions(ir_module *m, ir_dim d, const char *name) {
    sought s = {name, false};
    const ir_dim_fold fold = {&s, seek_constant, seek_symbol, seek_combine};
    (void)ir_dim_fold_with(m, d, &fold);
    return s.found;
}

/* False, with the reason: an input has it twice, or in a formula; no input has it. */
static bool seed(lanes *l, ir_module *graph, const char *dim, compiler_independence *out) {
    const ir_block_data *from = ir_kernel_body(graph);
    const ir_block_data *to = ir_kernel_body(l->m);
    const ir_dim symbol = ir_dim_symbol(graph, dim);
    bool found = false;
    for (uint32_t i = 0; i < from->argument_count; i++) {
        const ir_type_data *t = ir_type_of(graph, from->arguments[i]);
        out->inputs[i] = LANE_NONE;
        for (int axis = 0; axis < t->rank; axis++) {
            bool whole = t->dims[axis] == symbol;
            if (whole && out->inputs[i] != LANE_NONE)
                out->why = "an input has it on two axes";
            else if (!whole && mentions(graph, t->dims[axis], dim))
                out->why = "an input has it in a formula";
            if (whole)
                out->inputs[i] = axis;
        }
        found |= out->inputs[i] != LANE_NONE;
        lanes_seed(l, to->arguments[i], out->inputs[i]);
    }
    if (!found)
        out->why = "no input has it";
    return !out->why;
}

/* A kernel may compute with the number itself. */
static bool uses_number(ir_module *graph, const char *dim) {
    for (ir_walk w = ir_walk_op(graph, ir_module_kernel(graph)); ir_walk_next(&w);) {
        int64_t of[1];
        if (ir_op_get(graph, w.op)->opcode == GRAPH_EXTENT &&
            ir_op_ints(graph, w.op, "of", of, 1) == 1 && mentions(graph, of[0], dim))
            return true;
    }
    return false;
}

static void settle(const lanes *l, compiler_independence *out) {
    const ir_block_data *block = ir_kernel_body(l->m);
    const ir_op_data *last = ir_op_get(l->m, block->last);
    out->independent = true;
    for (uint32_t i = 0; i < last->operand_count; i++) {
        out->outputs[i] = l->axis[last->operands[i]];
        out->independent &= out->outputs[i] != LANE_MIXED;
        out->any_output |= out->outputs[i] >= 0;
    }
    if (!out->independent)
        out->why = l->where;
}

/* ---- a kernel without a formula ---- */

static bool is_declared(const ir_module *graph, const char *dim) {
    ir_attr attr = ir_op_attr(graph, ir_module_kernel(graph), "independent");
    const ir_attr_data *names = attr ? ir_attr_get(graph, attr) : NULL;
    for (uint32_t i = 0; names && i < names->count; i++)
        if (strcmp(ir_attr_get(graph, names->items[i])->string, dim) == 0)
            return true;
    return false;
}

/* The positions of an output are those of its axis that has the dimension; which is one of them is
 * declared, not derived. */
static bool place_in_output(ir_module *graph, ir_value v, const char *dim, int *axis,
                            const char **why) {
    const ir_type_data *t = ir_type_of(graph, v);
    *axis = LANE_NONE;
    for (int i = 0; i < t->rank; i++)
        if (t->dims[i] == ir_dim_symbol(graph, dim) && *axis == LANE_NONE)
            *axis = i;
        else if (mentions(graph, t->dims[i], dim))
            *why = "an output has it on two axes, or in a formula";
    return !*why;
}

static void declared(ir_module *graph, const char *dim, compiler_independence *out) {
    const ir_block_data *block = ir_kernel_body(graph);
    const ir_op_data *last = ir_op_get(graph, block->last);
    if (!is_declared(graph, dim)) {
        out->why = "it is not declared";
        return;
    }
    out->independent = true;
    for (uint32_t i = 0; i < last->operand_count && out->independent; i++) {
        out->independent =
            place_in_output(graph, last->operands[i], dim, &out->outputs[i], &out->why);
        out->any_output |= out->outputs[i] >= 0;
    }
}

static void give_room(compiler_instance *instance, compiler_independence *out) {
    ir_module *graph = instance->graph;
    const ir_block_data *block = ir_kernel_body(graph);
    uint32_t outputs = ir_op_get(graph, block->last)->operand_count;
    out->inputs = ARENA_NEW(ir_module_arena(graph), int, block->argument_count + 1);
    out->outputs = ARENA_NEW(ir_module_arena(graph), int, outputs + 1);
}

bool compiler_independent(compiler_instance *instance, const char *dim, compiler_independence *out,
                          status *st) {
    const ir_module *primitives = compiler_primitives(instance, st);
    *out = (compiler_independence){0};
    if (!primitives)
        return false;
    lanes l = lanes_new(primitives);
    give_room(instance, out);
    if (uses_number(instance->graph, dim)) {
        out->why = "the kernel computes with its number";
    } else if (seed(&l, instance->graph, dim, out) && compiler_instance_is_contract(instance)) {
        declared(instance->graph, dim, out);
    } else if (!out->why) {
        lanes_follow(&l);
        settle(&l, out);
    }
    lanes_release(&l);
    return true;
}
