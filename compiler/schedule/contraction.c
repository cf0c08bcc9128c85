/* contraction.c - what a contraction runs over: its axes, merged, and where its operands and
 * results lie along them.
 *
 * Axes: batch, lhs free, rhs free, contracted; after merging all but the last lhs and the last rhs
 * axis are outer loops (a batch in which one side may stand still), then come m, n and k. */
#include "schedule/contraction.h"

#include <stdarg.h>
#include <stdio.h>
#include <string.h>

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
    int batch, x_free, y_free; /* counts of real dimensions */
    int first_x, first_y;      /* first axis of each side */
} dot_axes;

static void operand_index(const contraction *c, int side, const dot_axes *axes, affine *index) {
    const ir_module *g = c->s->p->g;
    const ir_type_data *t = plan_type(c->s->p, ir_op_get(g, c->op)->operands[side]);
    int64_t batch[IR_MAX_RANK], contract[IR_MAX_RANK];
    uint32_t nb = ir_op_ints(g, c->op, side ? "y_batch" : "x_batch", batch, IR_MAX_RANK);
    ir_op_ints(g, c->op, side ? "y_contract" : "x_contract", contract, 1);
    int next = side ? axes->first_y : axes->first_x, at = 0;
    for (int i = 0; i < t->rank; i++) {
        int axis = i == contract[0] ? c->k_axis : in_list(batch, nb, i, &at) ? at : next++;
        index[i] = (affine){0};
        if (t->dims[i] != 1)
            index[i].coefficient[axis] = 1;
    }
}

static dot_axes number_axes(contraction *c) {
    const ir_module *g = c->s->p->g;
    const ir_op_data *d = ir_op_get(g, c->op);
    const ir_type_data *x = plan_type(c->s->p, d->operands[0]), *y = plan_type(c->s->p, c->value);
    int64_t list[IR_MAX_RANK];
    dot_axes a = {.batch = (int)ir_op_ints(g, c->op, "x_batch", list, IR_MAX_RANK)};
    a.x_free = x->rank - a.batch - 1;
    a.y_free = y->rank - a.batch - a.x_free;
    a.first_x = a.batch;
    a.first_y = a.batch + (a.x_free ? a.x_free : 1);
    c->k_axis = a.first_y + (a.y_free ? a.y_free : 1);
    c->space.axes = c->k_axis + 1;
    for (int i = 0; i < c->space.axes; i++)
        c->space.extent[i] = 1;
    for (int i = 0; i < y->rank; i++)
        c->space.extent[i < a.batch + a.x_free ? i : a.first_y + i - a.batch - a.x_free] =
            y->dims[i];
    ir_op_ints(g, c->op, "x_contract", list, 1);
    c->space.extent[c->k_axis] = x->dims[list[0]];
    c->space.keep[c->k_axis] = c->space.keep[c->k_axis - 1] = c->space.keep[a.first_y - 1] = true;
    c->space.barrier[c->k_axis - 1] = c->space.barrier[a.first_y - 1] = true;
    if (a.batch)
        c->space.barrier[a.batch - 1] = true;
    for (int i = 0; i < c->k_axis && c->separate; i++)
        c->space.keep[i] = c->space.barrier[i] = true;
    return a;
}

/* Index of the result's dimensions. */
static void result_index(const contraction *c, const dot_axes *a, affine *index) {
    const ir_type_data *y = plan_type(c->s->p, c->value);
    for (int i = 0; i < y->rank; i++) {
        index[i] = (affine){0};
        int axis = i < a->batch + a->x_free ? i : a->first_y + i - a->batch - a->x_free;
        if (y->dims[i] != 1)
            index[i].coefficient[axis] = 1;
    }
}

/* After merging: outer indices first (lhs's and rhs's own alike), then m, n, k. */
static void sort_axes(contraction *c, const dot_axes *a) {
    int m = c->map.index_of[a->first_y - 1], n = c->map.index_of[c->k_axis - 1], order[NEST_AXES],
        count = 0;
    axis_map sorted = c->map;
    for (int i = 0; i < c->map.count - 1; i++)
        if (i != m && i != n)
            order[count++] = i;
    c->outer = count;
    order[count++] = m;
    order[count++] = n;
    order[count++] = c->map.count - 1;
    for (int i = 0; i < count; i++) {
        sorted.extent[i] = c->map.extent[order[i]];
        for (int axis = 0; axis < NEST_AXES; axis++)
            if (c->map.index_of[axis] == order[i])
                sorted.index_of[axis] = i;
    }
    c->map = sorted;
    c->m = sorted.extent[count - 3];
    c->n = sorted.extent[count - 2];
    c->k = sorted.extent[count - 1];
}

/* The memory behind an operand, and where its element is. */
static bool operand_access(contraction *c, int side, const dot_axes *a, affine_list *accesses) {
    expression e = {.p = c->s->p, .group = -1};
    affine index[IR_MAX_RANK];
    operand_index(c, side, a, index);
    expression_element(&e, ir_op_get(c->s->p->g, c->op)->operands[side], index);
    bool ok = !e.failed && e.inputs.count == 1;
    if (ok) {
        *(side ? &c->rhs_access : &c->lhs_access) = e.inputs.items[0].access;
        *(side ? &c->rhs : &c->lhs) = c->s->buffer_of[e.inputs.items[0].source];
        scheduler_collect(&e, accesses);
    }
    expression_release(&e);
    return ok;
}

expression contraction_epilogue(contraction *c, const substitute *accumulator) {
    return (expression){.p = c->s->p,
                        .group = -1,
                        .computes = c->root,
                        .substitutes = accumulator,
                        .substitute_count = 1};
}

contraction contraction_of_group(scheduler *s, const plan_group *group) {
    const ir_module *g = s->p->g;
    contraction c = {
        .s = s, .op = group->anchor, .order = order_of(g, group->anchor, ORDER_CHUNK512)};
    c.value = ir_op_get(g, c.op)->results[0];
    c.root = c.value;
    for (size_t i = 0; i < group->roots.count; i++)
        if (s->p->root_dot[group->roots.items[i]] == c.op)
            c.root = group->roots.items[i];
    c.element = plan_type(s->p, c.value)->element;
    return c;
}

bool contraction_analyse(contraction *c) {
    scheduler *s = c->s;
    const ir_op_data *d = ir_op_get(s->p->g, c->op);
    affine_list accesses = {0};
    dot_axes a = number_axes(c);
    substitute accumulator = {.kind = SUBSTITUTE_ACCUMULATOR, .value = c->value};
    expression e = contraction_epilogue(c, &accumulator);
    result_index(c, &a, c->root_index[0]);
    bool ok = operand_access(c, 0, &a, &accesses) && operand_access(c, 1, &a, &accesses);
    expression_root(&e, c->root, c->root_index[0]);
    scheduler_collect(&e, &accesses);
    c->output = expression_offset(s->p, c->root, c->root_index[0]);
    c->root_buffer = s->buffer_of[c->root];
    vec_push(&accesses, c->output);
    if (d->operand_count > 2) {
        c->counted = true;
        c->counts = s->buffer_of[plan_storage(s->p, d->operands[2])];
        c->count_access.coefficient[a.first_y - 1] = 1;
        vec_push(&accesses, c->count_access);
    }
    expression_merge(&c->space, accesses.items, accesses.count, &c->map);
    sort_axes(c, &a);
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

/* ---- access in terms of indices ---- */

int contraction_axis(const contraction *c, int i) {
    int axis = 0;
    while (c->map.index_of[axis] != i)
        axis++;
    return axis;
}

int64_t contraction_along(const contraction *c, const affine *a, int i) {
    return a->coefficient[contraction_axis(c, i)];
}

dtype contraction_element(const contraction *c, ir_value buffer) {
    return ir_type_get(c->s->m, ir_value_get(c->s->m, buffer)->type)->element;
}

axis_map contraction_block_map(const contraction *c, int extra, bool with_k) {
    axis_map map = c->map;
    for (int axis = 0; axis < NEST_AXES; axis++)
        if (map.index_of[axis] >= c->outer)
            map.index_of[axis] += extra;
    map.count = c->map.count + extra;
    for (int i = 0; i < extra && c->k_axis + 1 + i < NEST_AXES; i++)
        map.index_of[c->k_axis + 1 + i] = c->outer + i;
    if (!with_k) {
        map.index_of[c->k_axis] = -1;
        map.count--;
    }
    return map;
}
