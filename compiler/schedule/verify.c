/* verify.c - each operation of Schedule IR by itself: where it stands, what it takes, and its body.
 */
#include <string.h>

#include "ir/dim.h"
#include "ops/graph.h"
#include "schedule/dot_shape.h"
#include "schedule/schedule.h"

enum { MAX_AXES = 16 };

/* Beyond any memory, and small enough that sums and products with steps do not overflow. */
static const int64_t most_elements = INT64_C(1) << 48;

static bool in_range(int64_t number, int64_t least) {
    return number >= least && number <= most_elements;
}

/* Expressions of dimensions are held to their range at launch. */
static bool is_extent(ir_dim extent) {
    return !ir_dim_is_static(extent) || in_range(extent, 0);
}

static int parent_opcode(const ir_module *m, ir_op op) {
    ir_op parent = ir_block_parent(m, ir_op_get(m, op)->block);
    return ir_op_get(m, parent)->opcode;
}

static bool is_computation(int opcode) {
    return opcode == SCHED_MAP || opcode == SCHED_REDUCE || opcode == SCHED_COLUMNS ||
           opcode == SCHED_DOT || opcode == SCHED_SCAN || opcode == SCHED_SORT;
}

/* ---- structure ---- */

static bool verify_kernel(const ir_module *m, ir_op op, status *st) {
    const ir_block_data *body = ir_block_get(m, ir_op_block(m, op, 0));
    uint32_t names = ir_attr_get(m, ir_op_attr(m, op, "inputs"))->count +
                     ir_attr_get(m, ir_op_attr(m, op, "outputs"))->count;
    if (names != body->argument_count)
        return ir_broken(st, "needs a name for each buffer");
    for (uint32_t i = 0; i < body->argument_count; i++)
        if (ir_type_of(m, body->arguments[i])->kind != IR_TYPE_BUFFER)
            return ir_broken(st, "its block takes buffers");
    for (ir_op i = body->first; i; i = ir_op_get(m, i)->next)
        if (ir_op_get(m, i)->opcode != SCHED_BUFFER && ir_op_get(m, i)->opcode != SCHED_PHASE)
            return ir_broken(st, "its block holds buffers and phases");
    return schedule_phases_are_independent(m) ||
           ir_broken(st, "a phase is concurrent with one that writes what it touches");
}

static bool verify_phase(const ir_module *m, ir_op op, status *st) {
    const ir_block_data *b = ir_block_get(m, ir_op_block(m, op, 0));
    return (b->first && b->first == b->last && ir_op_get(m, b->first)->opcode == SCHED_PARALLEL) ||
           ir_broken(st, "holds one sched.parallel");
}

static bool takes_indices(const ir_module *m, ir_op op, uint32_t count) {
    const ir_block_data *b = ir_block_get(m, ir_op_block(m, op, 0));
    for (uint32_t i = 0; i < b->argument_count; i++)
        if (ir_type_of(m, b->arguments[i])->kind != IR_TYPE_INDEX)
            return false;
    return b->argument_count == count;
}

static bool verify_parallel(const ir_module *m, ir_op op, status *st) {
    const ir_attr_data *axes = ir_attr_get(m, ir_op_attr(m, op, "axes"));
    const ir_attr_data *extents = ir_attr_get(m, ir_op_attr(m, op, "extents"));
    const ir_attr_data *steps = ir_attr_get(m, ir_op_attr(m, op, "steps"));
    if (parent_opcode(m, op) != SCHED_PHASE)
        return ir_broken(st, "stands outside of a phase");
    if (axes->count > MAX_AXES || extents->count != axes->count || steps->count != axes->count)
        return ir_broken(st, "needs an extent and a step for each axis, and at most 16 of them");
    for (uint32_t i = 0; i < steps->count; i++)
        if (!in_range(schedule_step_value(m, steps->items[i]), 1) ||
            !is_extent(ir_attr_get(m, extents->items[i])->integer))
            return ir_broken(st, "an extent or a step is not known, or out of range");
    return takes_indices(m, op, axes->count) || takes_indices(m, op, 0) ||
           ir_broken(st, "its block takes an index for each axis");
}

/* Is the start of a loop the index of another one around it, whose steps are as long as its span?
 */
static bool is_inside(const ir_module *m, ir_op op) {
    const ir_op_data *d = ir_op_get(m, op);
    ir_block block = d->operand_count ? ir_value_get(m, d->operands[0])->block : 0;
    ir_op around = ir_block_parent(m, block);
    return around && ir_op_get(m, around)->opcode == SCHED_FOR &&
           schedule_step(m, around, "step", 0) == schedule_step(m, op, "span", -1) &&
           ir_op_int(m, around, "extent", -1) == ir_op_int(m, op, "extent", -2);
}

/* Do two loops walk the same axis, and does one begin at the end of the other? */
static bool follows(const ir_module *m, ir_op before, ir_op after) {
    if (!before || !after || ir_op_get(m, before)->opcode != SCHED_FOR ||
        ir_op_get(m, after)->opcode != SCHED_FOR)
        return false;
    const ir_op_data *a = ir_op_get(m, before), *b = ir_op_get(m, after);
    return a->operand_count == b->operand_count &&
           (a->operand_count == 0 || a->operands[0] == b->operands[0]) &&
           ir_op_int(m, before, "extent", -1) == ir_op_int(m, after, "extent", -1) &&
           ir_op_int(m, before, "to", -1) == ir_op_int(m, after, "from", -2);
}

/* A loop over a contraction's trips fetches ahead, and one over its stages copies ahead. */
static bool unfolds(const ir_module *m, ir_op op) {
    dot_shape shape;
    ir_op dot = dot_of_loop(m, op);
    bool fetches = ir_op_attr(m, op, "prefetch") || ir_op_attr(m, op, "near"),
         copies = ir_op_attr(m, op, "depth") || ir_op_attr(m, op, "loader");
    if (!fetches && !copies)
        return true;
    if (dot && !dot_shape_read(m, dot, &shape))
        return true;
    return dot && (!fetches || dot_loop(m, dot, &shape, AXIS_K) == op) &&
           (!copies || dot_loop(m, dot, &shape, AXIS_STAGE) == op);
}

static bool verify_for(const ir_module *m, ir_op op, status *st) {
    const ir_op_data *d = ir_op_get(m, op);
    if (!in_range(schedule_step(m, op, "step", 0), 1) ||
        !in_range(schedule_step(m, op, "span", 1), 1))
        return ir_broken(st, "the step or the span is not known, or out of range");
    if (!is_extent(ir_op_int(m, op, "extent", 0)) || !is_extent(ir_op_int(m, op, "from", 0)) ||
        !is_extent(ir_op_int(m, op, "to", 0)))
        return ir_broken(st, "the extent is out of range");
    if ((ir_op_attr(m, op, "from") && !follows(m, d->previous, op)) ||
        (ir_op_attr(m, op, "to") && !follows(m, op, d->next)))
        return ir_broken(st, "its piece does not begin where one ends, or none goes on at its end");
    if (!in_range(ir_op_int(m, op, "tail", 0), 0) || !in_range(ir_op_int(m, op, "last", 1), 1) ||
        !in_range(ir_op_int(m, op, "area", 1), 1))
        return ir_broken(st, "the steps of what is left over are out of range");
    if (d->operand_count && ir_type_of(m, d->operands[0])->kind != IR_TYPE_INDEX)
        return ir_broken(st, "the start is not an index");
    if (!unfolds(m, op))
        return ir_broken(st, "fetches or copies ahead, and is no loop of a contraction that can");
    if (ir_op_attr(m, op, "inside") && !is_inside(m, op))
        return ir_broken(st, "is inside of no loop whose steps are its span");
    return takes_indices(m, op, 1) || ir_broken(st, "its block takes the index");
}

static bool verify_buffer(const ir_module *m, ir_op op, status *st) {
    const char *space = ir_op_string(m, op, "space", "");
    ir_type type = ir_value_get(m, ir_op_get(m, op)->results[0])->type;
    if (ir_type_get(m, type)->kind != IR_TYPE_BUFFER)
        return ir_broken(st, "the result is not a buffer");
    return strcmp(space, "workspace") == 0 || strcmp(space, "workgroup") == 0 ||
           strcmp(space, "prepared") == 0 ||
           ir_broken(st, "the space is workspace, prepared or workgroup");
}

static bool verify_fill(const ir_module *m, ir_op op, status *st) {
    const ir_type_data *t = ir_type_of(m, ir_op_get(m, op)->operands[0]);
    return (t->kind == IR_TYPE_BUFFER &&
            t->element == ir_attr_get(m, ir_op_attr(m, op, "value"))->element) ||
           ir_broken(st, "needs a buffer of its value's type");
}

/* ---- computations ---- */

typedef struct computation_parts {
    int64_t axes, inputs, outputs, leading; /* leading: inputs that the body does not take */
    int64_t reduces;                        /* indices of a reduction, behind the axes */
} computation_parts;

static bool find_parts(const ir_module *m, ir_op op, computation_parts *p) {
    const ir_op_data *d = ir_op_get(m, op);
    dot_shape shape;
    *p = (computation_parts){.axes = ir_op_int(m, op, "axes", 0),
                             .inputs = ir_op_int(m, op, "inputs", 0),
                             .reduces = d->opcode != SCHED_MAP && d->opcode != SCHED_DOT};
    if (d->opcode == SCHED_DOT) {
        if (!dot_shape_read(m, op, &shape))
            return false;
        p->leading = shape.leading;
    }
    if (p->axes < 0 || p->axes >= MAX_AXES || p->inputs < p->leading ||
        p->inputs > (int64_t)d->operand_count)
        return false;
    p->outputs = (int64_t)d->operand_count - p->axes - p->inputs;
    return p->outputs >= 1 && p->outputs <= SCHEDULE_OUTPUTS;
}

static bool verify_coefficients(const ir_module *m, const ir_attr_data *list, status *st) {
    for (uint32_t i = 0; i < list->count; i++) {
        const ir_attr_data *number = ir_attr_get(m, list->items[i]);
        bool symbol = number->kind == IR_ATTR_DIM;
        if (!symbol && (number->kind != IR_ATTR_INT || !in_range(number->integer, -most_elements)))
            return ir_broken(st, "an access is a list of numbers");
    }
    return true;
}

static bool verify_access(const ir_module *m, ir_op op, const computation_parts *p, status *st) {
    const ir_attr_data *access = ir_attr_get(m, ir_op_attr(m, op, "access"));
    if (access->count != (uint64_t)(p->inputs + p->outputs))
        return ir_broken(st, "needs an access for each buffer");
    for (uint32_t i = 0; i < access->count; i++) {
        const ir_attr_data *item = ir_attr_get(m, access->items[i]);
        if (item->kind != IR_ATTR_ARRAY || item->count != (uint64_t)(p->axes + 1 + p->reduces))
            return ir_broken(st, "an access needs a coefficient for each index");
        if (!verify_coefficients(m, item, st))
            return false;
    }
    return true;
}

static bool verify_operands(const ir_module *m, ir_op op, const computation_parts *p, status *st) {
    const ir_op_data *d = ir_op_get(m, op);
    for (uint32_t i = 0; i < d->operand_count; i++)
        if (ir_type_of(m, d->operands[i])->kind !=
            ((int64_t)i < p->axes ? IR_TYPE_INDEX : IR_TYPE_BUFFER))
            return ir_broken(st, "operands are indices, then buffers");
    return true;
}

/* The block takes an element of each input (a dot's the finished sum first) and yields one for each
 * output. */
static bool verify_body(const ir_module *m, ir_op op, const computation_parts *p, status *st) {
    const ir_op_data *d = ir_op_get(m, op);
    const ir_block_data *b = ir_block_get(m, ir_op_block(m, op, 0));
    const ir_op_data *end = b->last ? ir_op_get(m, b->last) : NULL;
    int64_t first = p->leading > 0, inputs = p->inputs - p->leading;
    if (b->argument_count != (uint64_t)(first + inputs))
        return ir_broken(st, "its block takes an element of each input");
    for (uint32_t i = 0; i < b->argument_count; i++) {
        const ir_type_data *t = ir_type_of(m, b->arguments[i]);
        dtype element =
            (int64_t)i < first
                ? t->element
                : ir_type_of(m, d->operands[p->axes + p->leading + (int64_t)i - first])->element;
        if (t->kind != IR_TYPE_SCALAR || t->element != element)
            return ir_broken(st, "its block takes elements of its inputs' types");
    }
    const bool at = ir_op_attr(m, op, "limit") != 0;
    if (!end || end->opcode != SCHED_YIELD || end->operand_count != (uint64_t)p->outputs + at)
        return ir_broken(st, "its block ends by yielding an element for each output");
    if (at && (ir_type_of(m, end->operands[p->outputs])->element != DTYPE_I32 ||
               ir_op_attr(m, op, "group") || !ir_op_attr(m, op, "stride")))
        return ir_broken(st, "the index of its outputs is an i32, which has a stride");
    if (d->opcode == SCHED_SORT) /* positions of what it yields */
        return (p->outputs == 1 &&
                ir_type_of(m, d->operands[p->axes + p->inputs])->element == DTYPE_I32) ||
               ir_broken(st, "gives i32 positions");
    for (uint32_t i = 0; i < (uint64_t)p->outputs && !ir_op_attr(m, op, "group"); i++)
        if (ir_type_of(m, end->operands[i])->kind != IR_TYPE_SCALAR ||
            ir_type_of(m, end->operands[i])->element !=
                ir_type_of(m, d->operands[p->axes + p->inputs + (int64_t)i])->element)
            return ir_broken(st, "yields an element of another type than the output's");
    return true;
}

/* A dot is all that there is in the loop over its steps, and that all there is in one over runs. */
static bool verify_steps(const ir_module *m, ir_op op, status *st) {
    dot_shape shape;
    dot_shape_read(m, op, &shape);
    ir_op inner = op;
    for (int i = AXIS_K; i >= AXIS_RUN; i--) {
        if (shape.index[i] < 0)
            continue;
        const ir_op_data *d = ir_op_get(m, inner);
        inner = ir_block_parent(m, d->block);
        if (dot_loop(m, op, &shape, (contraction_axis)i) != inner || d->previous || d->next)
            return ir_broken(st, "does not stand alone in the loop over its steps");
    }
    return schedule_verify_runs(m, op, st);
}

static bool verify_computation(const ir_module *m, ir_op op, status *st) {
    computation_parts p;
    dot_shape shape;
    if (ir_op_get(m, op)->opcode == SCHED_DOT && !dot_shape_read(m, op, &shape))
        return ir_broken(st, "its indices or buffers are not those of a contraction");
    if (!find_parts(m, op, &p))
        return ir_broken(st, "operands are not as many as axes, inputs and outputs");
    if (p.reduces && !is_extent(ir_op_int(m, op, "extent", 0)))
        return ir_broken(st, "the extent is out of range");
    if (!in_range(schedule_step(m, op, "sub", 1), 1))
        return ir_broken(st, "the sub-tile is not known");
    if (!in_range(schedule_step(m, op, "trip", 1), 1))
        return ir_broken(st, "the rows of a trip are not known");
    return verify_access(m, op, &p, st) && verify_operands(m, op, &p, st) &&
           verify_body(m, op, &p, st) &&
           (ir_op_get(m, op)->opcode != SCHED_DOT || verify_steps(m, op, st));
}

/* ---- inside a body ---- */

static bool verify_inner(const ir_module *m, ir_op op, status *st) {
    const ir_op_data *d = ir_op_get(m, op);
    if (!is_computation(parent_opcode(m, op)))
        return ir_broken(st, "stands outside of a body");
    if (d->opcode == SCHED_YIELD)
        return !d->next || ir_broken(st, "is not the last operation of its body");
    ir_op parent = ir_block_parent(m, d->block);
    computation_parts p;
    if (d->opcode == SCHED_EXTENT)
        return ir_type_of(m, d->results[0])->element == DTYPE_I32 ||
               ir_broken(st, "the result is no i32");
    if (d->opcode == SCHED_RUNNING)
        return (ir_op_get(m, parent)->opcode == SCHED_SCAN &&
                ir_value_get(m, d->operands[0])->type == ir_value_get(m, d->results[0])->type) ||
               ir_broken(st, "stands in a scan, and its sum is of the operand's type");
    find_parts(m, parent, &p);
    const ir_attr_data *access = ir_attr_get(m, ir_op_attr(m, op, "access"));
    if (access->count > (uint64_t)(p.axes + 1 + p.reduces))
        return ir_broken(st, "an access needs a coefficient for each index");
    if (!verify_coefficients(m, access, st))
        return false;
    ir_dim stride = ir_op_int(m, op, "stride", 0), limit = ir_op_int(m, op, "limit", 1);
    if (ir_dim_is_static(stride) && !in_range(stride, -most_elements))
        return ir_broken(st, "the stride is out of range");
    dtype element = DTYPE_I32;
    if (d->opcode == SCHED_GATHER) {
        int64_t input = ir_op_int(m, op, "input", 0);
        if (input < 0 || input >= p.inputs - p.leading)
            return ir_broken(st, "there is no such input");
        element =
            ir_type_of(m, ir_op_get(m, parent)->operands[p.axes + p.leading + input])->element;
        if (ir_type_of(m, d->operands[0])->element != DTYPE_I32 ||
            (ir_dim_is_static(limit) && limit < 1))
            return ir_broken(st, "needs an i32 index below a limit");
    }
    const ir_type_data *t = ir_type_of(m, d->results[0]);
    return (t->kind == IR_TYPE_SCALAR && t->element == element) ||
           ir_broken(st, "the result is not an element of that type");
}

bool schedule_verify(const ir_module *m, ir_op op, status *st) {
    switch (ir_op_get(m, op)->opcode) {
    case SCHED_KERNEL:
        return verify_kernel(m, op, st);
    case SCHED_BUFFER:
        return verify_buffer(m, op, st);
    case SCHED_PHASE:
        return verify_phase(m, op, st);
    case SCHED_PARALLEL:
        return verify_parallel(m, op, st);
    case SCHED_FOR:
        return verify_for(m, op, st);
    case SCHED_FILL:
        return verify_fill(m, op, st);
    case SCHED_INDEX:
    case SCHED_EXTENT:
    case SCHED_GATHER:
    case SCHED_RUNNING:
    case SCHED_YIELD:
        return verify_inner(m, op, st);
    default:
        return verify_computation(m, op, st);
    }
}
