/* contraction.c - what a contraction runs over: its axes, merged, and where its operands and
 * results lie along them.
 *
 * Axes: batch, lhs free, rhs free, contracted; after merging all but the last lhs and the last rhs
 * axis are outer loops (a batch in which one side may stand still), then come m, n and k.
 *
 * Products commute, and a NaN has one form in a result: a matrix by a vector is the vector, as a
 * lhs of one row, by the matrix turned over, so that a register tile has columns. */
#include "schedule/contraction.h"
#include "schedule/integers.h"

#include <stdarg.h>
#include <stdio.h>
#include <string.h>

enum { PADDING = 16 };

static bool in_list(const int64_t *list, uint32_t n, int64_t item, int *at) {
    for (uint32_t i = 0; i < n; i++)
        if (list[i] == item) {
            *at = (int)i;
            return true;
        }
    return false;
}

/* ---- axes ---- */

/* Axis numbers for the dimensions of both operands and the result. A side without a free dimension
 * gets an axis of extent 1, so that m and n always exist. */
typedef struct dot_axes {
    axis_space space;
    int k;                     /* the contracted axis */
    int batch, x_free, y_free; /* counts of real dimensions */
    int first_x, first_y;      /* first axis of each side */
    int last_x, last_y;        /* last one that has more than one place, if any does */
} dot_axes;

static void operand_index(const contraction *c, int side, const dot_axes *axes, affine *index) {
    const ir_module *g = c->s->p->g;
    const ir_type_data *t = plan_type(c->s->p, ir_op_get(g, c->op)->operands[side]);
    int64_t batch[IR_MAX_RANK], contract[IR_MAX_RANK];
    uint32_t nb = ir_op_ints(g, c->op, side ? "y_batch" : "x_batch", batch, IR_MAX_RANK);
    ir_op_ints(g, c->op, side ? "y_contract" : "x_contract", contract, 1);
    int next = side ? axes->first_y : axes->first_x, at = 0;
    for (int i = 0; i < t->rank; i++) {
        int axis = i == contract[0] ? axes->k : in_list(batch, nb, i, &at) ? at : next++;
        index[i] = (affine){0};
        if (t->dims[i] != 1)
            index[i].coefficient[axis] = 1;
    }
}

/* Axes of one place stand between no others. */
static int last_long(const axis_space *space, int first, int behind) {
    int axis = behind - 1;
    while (axis > first && space->extent[axis] == 1)
        axis--;
    return space->extent[axis] == 1 ? behind - 1 : axis;
}

static dot_axes number_axes(const contraction *c) {
    const ir_module *g = c->s->p->g;
    const ir_op_data *d = ir_op_get(g, c->op);
    const ir_type_data *x = plan_type(c->s->p, d->operands[0]),
                       *y = plan_type(c->s->p, c->result.value);
    int64_t list[IR_MAX_RANK];
    dot_axes a = {.batch = (int)ir_op_ints(g, c->op, "x_batch", list, IR_MAX_RANK)};
    a.x_free = x->rank - a.batch - 1;
    a.y_free = y->rank - a.batch - a.x_free;
    a.first_x = a.batch;
    a.first_y = a.batch + (a.x_free ? a.x_free : 1);
    a.k = a.first_y + (a.y_free ? a.y_free : 1);
    a.space.axes = a.k + 1;
    for (int i = 0; i < a.space.axes; i++)
        a.space.extent[i] = 1;
    for (int i = 0; i < y->rank; i++)
        a.space.extent[i < a.batch + a.x_free ? i : a.first_y + i - a.batch - a.x_free] =
            y->dims[i];
    ir_op_ints(g, c->op, "x_contract", list, 1);
    a.space.extent[a.k] = x->dims[list[0]];
    a.last_x = d->operand_count > 2 ? a.first_y - 1 : last_long(&a.space, a.first_x, a.first_y);
    a.last_y = last_long(&a.space, a.first_y, a.k);
    a.space.keep[a.k] = a.space.keep[a.last_y] = a.space.keep[a.last_x] = true;
    a.space.barrier[a.k - 1] = a.space.barrier[a.first_y - 1] = true;
    if (a.batch)
        a.space.barrier[a.batch - 1] = true;
    for (int i = 0; i < a.k && c->separate; i++)
        a.space.keep[i] = a.space.barrier[i] = true;
    return a;
}

/* Index of the result's dimensions. */
static void result_index(const contraction *c, const dot_axes *a, affine *index) {
    const ir_type_data *y = plan_type(c->s->p, c->result.value);
    for (int i = 0; i < y->rank; i++) {
        index[i] = (affine){0};
        int axis = i < a->batch + a->x_free ? i : a->first_y + i - a->batch - a->x_free;
        if (y->dims[i] != 1)
            index[i].coefficient[axis] = 1;
    }
}

void contraction_name_axes(contraction *c, int axes) {
    contraction_shape *z = &c->shape;
    static const contraction_axis last[] = {AXIS_M, AXIS_N, AXIS_K};
    z->outer = z->map.count - 3;
    z->axes = axes;
    for (int axis = 0; axis < axes; axis++)
        for (int i = 0; i < 3; i++)
            if (z->map.index_of[axis] == z->outer + i)
                z->axis[last[i]] = axis;
    z->axis[AXIS_ROW] = z->axis[AXIS_K];
    for (int i = 0; i <= AXIS_PANEL; i++)
        z->axis[i] = axes + i;
    z->axis[AXIS_BLOCK_LINE] = axes + AXIS_PANEL + 1;
    z->axis[AXIS_LINE] = z->axis[AXIS_STRIP] = z->axis[AXIS_RUN] = z->axis[AXIS_STAGE] = NEST_AXES;
    z->m = z->map.extent[z->outer];
    z->n = z->map.extent[z->outer + 1];
    z->k = z->map.extent[z->outer + 2];
    z->rows = scheduler_estimate(c->s, z->m);
    z->columns = scheduler_estimate(c->s, z->n);
    z->steps = scheduler_estimate(c->s, z->k);
}

/* After merging: outer indices first (lhs's and rhs's own alike), then m, n, k. */
static void sort_axes(contraction *c, const dot_axes *a, const axis_map *merged) {
    int last_x = merged->index_of[a->last_x], last_y = merged->index_of[a->last_y];
    int m = c->exchanged ? last_y : last_x, n = c->exchanged ? last_x : last_y, order[NEST_AXES],
        count = 0;
    axis_map sorted = *merged;
    for (int i = 0; i < merged->count - 1; i++)
        if (i != m && i != n)
            order[count++] = i;
    order[count++] = m;
    order[count++] = n;
    order[count++] = merged->count - 1;
    for (int i = 0; i < count; i++) {
        sorted.extent[i] = merged->extent[order[i]];
        for (int axis = 0; axis < NEST_AXES; axis++)
            if (merged->index_of[axis] == order[i])
                sorted.index_of[axis] = i;
    }
    c->shape.map = sorted;
    contraction_name_axes(c, a->k + 1);
}

/* The memory behind an operand, and where its element is. */
static bool operand_access(contraction *c, int side, const dot_axes *a, affine_list *accesses) {
    expression e = {.p = c->s->p, .group = -1};
    affine index[IR_MAX_RANK];
    operand_index(c, side, a, index);
    expression_element(&e, ir_op_get(c->s->p->g, c->op)->operands[side], index);
    bool ok = !e.failed && e.inputs.count == 1;
    if (ok) {
        contraction_operand *o = (side != 0) != c->exchanged ? &c->rhs : &c->lhs;
        o->access = e.inputs.items[0].access;
        o->buffer = c->s->buffer_of[e.inputs.items[0].source];
        scheduler_collect(&e, accesses);
    }
    expression_release(&e);
    return ok;
}

bool contraction_find_rhs(contraction *c) {
    const ir_module *g = c->s->p->g;
    ir_value y = ir_op_get(g, c->op)->operands[1];
    expression e = {.p = c->s->p, .group = -1};
    affine index[2] = {{0}, {0}};
    int64_t contracted = 0;
    ir_op_ints(g, c->op, "y_contract", &contracted, 1);
    contraction_set_steps(c, &index[contracted], 1);
    contraction_set(c, &index[1 - contracted], AXIS_N, 1);
    expression_element(&e, y, index);
    bool ok = !e.failed && e.inputs.count == 1;
    if (ok) {
        c->rhs.access = e.inputs.items[0].access;
        c->rhs.buffer = c->s->buffer_of[e.inputs.items[0].source];
    }
    expression_release(&e);
    return ok;
}

expression contraction_epilogue(contraction *c, const substitute *accumulator) {
    c->result.known[0] = *accumulator;
    return (expression){.p = c->s->p,
                        .group = -1,
                        .computes = c->result.root,
                        .substitutes = c->result.known,
                        .substitute_count = 1 + c->result.known_count};
}

contraction contraction_of_group(scheduler *s, const plan_group *group) {
    const ir_module *g = s->p->g;
    contraction c = {
        .s = s, .op = group->anchor, .order = order_of(g, group->anchor, ORDER_CHUNK512)};
    c.result.value = ir_op_get(g, c.op)->results[0];
    c.result.root = c.result.value;
    for (size_t i = 0; i < group->roots.count; i++)
        if (s->p->root_dot[group->roots.items[i]] == c.op)
            c.result.root = group->roots.items[i];
    c.element = plan_type(s->p, c.result.value)->element;
    return c;
}

/* One column and several rows. */
static bool is_column(const dot_axes *a) {
    ir_dim rows = 1;
    for (int i = a->first_x; i < a->first_y; i++)
        rows = a->space.extent[i] == 1 ? rows : a->space.extent[i];
    for (int i = a->first_y; i < a->k; i++)
        if (a->space.extent[i] != 1)
            return false;
    return rows != 1;
}

/* A copy of rhs would be read once, by the one tile that the few rows are. */
static bool can_turn(const contraction *c) {
    return contraction_along(c, &c->rhs.access, AXIS_N) != 1 && c->shape.columns > 1 &&
           contraction_along(c, &c->rhs.access, AXIS_K) == 1 && c->shape.rows <= FEW_ROWS &&
           c->counts.of != COUNTS_STEPS;
}

bool contraction_analyse(contraction *c) {
    scheduler *s = c->s;
    const ir_op_data *d = ir_op_get(s->p->g, c->op);
    affine_list accesses = {0};
    dot_axes a = number_axes(c);
    c->exchanged = c->exchangeable && d->operand_count == 2 && is_column(&a);
    substitute accumulator = {.kind = SUBSTITUTE_ACCUMULATOR, .value = c->result.value};
    expression e = contraction_epilogue(c, &accumulator);
    result_index(c, &a, c->result.index[0]);
    bool ok = operand_access(c, 0, &a, &accesses) && operand_access(c, 1, &a, &accesses);
    expression_root(&e, c->result.root, c->result.index[0]);
    scheduler_collect(&e, &accesses);
    c->result.access = expression_offset(s->p, c->result.root, c->result.index[0]);
    c->result.buffer = s->buffer_of[c->result.root];
    vec_push(&accesses, c->result.access);
    if (d->operand_count > 2) {
        c->counts.of = COUNTS_STEPS;
        c->counts.buffer = s->buffer_of[plan_storage(s->p, d->operands[2])];
        c->counts.access.coefficient[a.first_y - 1] = 1;
        vec_push(&accesses, c->counts.access);
    }
    axis_map merged;
    expression_merge(s->p, &a.space, accesses.items, accesses.count, &merged);
    sort_axes(c, &a, &merged);
    c->turnable = can_turn(c);
    ok = ok && !e.failed;
    vec_release(&accesses);
    expression_release(&e);
    return ok;
}

void contraction_refuse(contraction *c, const char *format, ...) {
    char why[160];
    va_list args;
    va_start(args, format);
    vsnprintf(why, sizeof why, format, args);
    va_end(args);
    if (c->s->failed)
        return;
    c->s->failed = true;
    status_set(c->s->st, STATUS_INVALID, "%s", why);
}

ir_dim contraction_padded_row(const scheduler *s, ir_dim columns) {
    ir_module *m = s->p->dims;
    ir_dim lines = ir_dim_add_scaled(m, 2 * PADDING - 1, columns, 1);
    return plan_product(s->p, ir_dim_floordiv(m, lines, PADDING), PADDING);
}

/* ---- access in terms of indices ---- */

int contraction_outer_axis(const contraction *c, int i) {
    int axis = 0;
    while (c->shape.map.index_of[axis] != i)
        axis++;
    return axis;
}

ir_dim contraction_along(const contraction *c, const affine *a, contraction_axis axis) {
    return a->coefficient[c->shape.axis[axis]];
}

void contraction_set(const contraction *c, affine *a, contraction_axis axis, ir_dim coefficient) {
    if (c->shape.axis[axis] < NEST_AXES)
        a->coefficient[c->shape.axis[axis]] = coefficient;
}

void contraction_set_steps(const contraction *c, affine *a, ir_dim coefficient) {
    contraction_set(c, a, AXIS_K, coefficient);
    if (c->windows)
        contraction_set(c, a, AXIS_RUN, plan_product(c->s->p, c->windows->runs[1], coefficient));
}

dtype contraction_element(const contraction *c, ir_value buffer) {
    return ir_type_of(c->s->m, buffer)->element;
}

tile_size tile_number(const scheduler *s, int64_t size) {
    return (tile_size){size, ir_attr_int(s->m, size)};
}

int64_t contraction_tile_vectors(const contraction *c, int64_t rows) {
    int64_t registers = c->s->target->vector_registers;
    return size_that_fits(registers >= 32 ? 4 : 2, 1, rows + 1, registers - 2);
}

size_search contraction_sizes(const contraction *c, size_rule rule) {
    size_search z = {.rule = rule,
                     .threads = c->s->threads,
                     .around = 1,
                     .count = 2,
                     .dims = {{.extent = c->shape.rows}, {.extent = c->shape.columns}}};
    for (int i = 0; i < c->shape.outer; i++)
        z.around *= scheduler_estimate(c->s, c->shape.map.extent[i]);
    return z;
}

bool contraction_can_pack_blocks(const contraction *c) {
    return c->shape.axis[AXIS_PANEL] < NEST_AXES;
}

int contraction_indices(const contraction *c, const contraction_place *place, ir_value *indices) {
    int count = 0;
    for (int i = 0; i < c->shape.outer; i++)
        if (place->outer[i])
            indices[count++] = place->outer[i];
    for (int i = 0; i < AXIS_COUNT; i++)
        if (place->at[i])
            indices[count++] = place->at[i];
    return count;
}

axis_map contraction_map(const contraction *c, const contraction_place *place) {
    axis_map map = {.count = 0};
    for (int axis = 0; axis < NEST_AXES; axis++)
        map.index_of[axis] = -1;
    for (int i = 0; i < c->shape.outer; i++)
        if (place->outer[i])
            map.index_of[contraction_outer_axis(c, i)] = map.count++;
    for (int i = 0; i < AXIS_COUNT; i++) {
        int axis = c->shape.axis[i];
        if (!place->at[i])
            continue;
        if (axis < NEST_AXES)
            map.index_of[axis] = map.count;
        map.count++;
    }
    return map;
}
