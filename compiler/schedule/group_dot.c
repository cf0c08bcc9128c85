/* group_dot.c - a contraction and its epilogue: packing phases, then blocks of register tiles.
 *
 * Axes: batch, lhs free, rhs free, contracted; after merging all but the last lhs and the last rhs
 * axis are outer loops (a batch in which one side may stand still), then come m, n and k. A
 * contraction longer than one chunk keeps its totals in a cell buffer, chunk by chunk, and runs the
 * epilogue when the last chunk is in. So does one whose epilogue is long: on a register tile's many
 * vectors at once it would not fit the registers. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "schedule/scheduler.h"

enum { CHUNK = 512, SMALL_RHS_ELEMENTS = 16384 };

typedef struct contraction {
    scheduler *s;
    ir_op op;
    ir_value value, root;
    bool counted, chunked;
    bool staged; /* totals go to a cell buffer, the epilogue reads them there */
    const char *order;
    axis_space space;
    int k_axis;
    axis_map map; /* outer..., m, n, k */
    int outer;    /* how many outer indices */
    int64_t m, n, k;
    dtype element;             /* what is summed: f32 or i32 */
    ir_value lhs, rhs, counts; /* buffers */
    affine lhs_access, rhs_access, count_access;
    bool packed;
    affine root_index[1][IR_MAX_RANK], output;
    int64_t mr, nr, bm, bn;
    ir_attr mr_name, nr_name, bm_name, bn_name;
} contraction;

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

static expression epilogue_expression(contraction *c, const substitute *accumulator) {
    return (expression){.p = c->s->p,
                        .group = -1,
                        .computes = c->root,
                        .substitutes = accumulator,
                        .substitute_count = 1};
}

static bool analyse(contraction *c) {
    scheduler *s = c->s;
    const ir_op_data *d = ir_op_get(s->p->g, c->op);
    affine_list accesses = {0};
    dot_axes a = number_axes(c);
    substitute accumulator = {.kind = SUBSTITUTE_ACCUMULATOR, .value = c->value};
    expression e = epilogue_expression(c, &accumulator);
    result_index(c, &a, c->root_index[0]);
    bool ok = operand_access(c, 0, &a, &accesses) && operand_access(c, 1, &a, &accesses);
    expression_root(&e, c->root, c->root_index[0]);
    scheduler_collect(&e, &accesses);
    c->output = expression_offset(s->p, c->root, c->root_index[0]);
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

/* ---- access in terms of indices ---- */

/* An axis that stands for index `i`. */
static int axis_of(const contraction *c, int i) {
    int axis = 0;
    while (c->map.index_of[axis] != i)
        axis++;
    return axis;
}

static int64_t along(const contraction *c, const affine *a, int i) {
    return a->coefficient[axis_of(c, i)];
}

static dtype buffer_element(const contraction *c, ir_value buffer) {
    return ir_type_get(c->s->m, ir_value_get(c->s->m, buffer)->type)->element;
}

/* ---- packing ---- */

/* A copy of an operand in the summed type: [outer indices on which it depends..., two more].
 * `strides` are those of the last two indices of the phase in the copy. */
typedef struct repack {
    const char *what;
    ir_value source, copy;
    affine from, to;
    int rows, columns; /* indices that run over the rows and columns of the copy's tiles */
    int64_t panel;     /* columns of a panel when the copy is packed in panels; 0 otherwise */
    ir_attr row_step, column_step, row_block, column_block;
} repack;

/* Coefficients of the outer indices in a copy whose inner size is `inner`; returns the elements of
 * the whole copy. */
static int64_t outer_strides(const contraction *c, const affine *from, int64_t inner, affine *to) {
    for (int i = c->outer - 1; i >= 0; i--)
        if (along(c, from, i) != 0) {
            to->coefficient[axis_of(c, i)] = inner;
            inner *= c->map.extent[i];
        }
    return inner;
}

static ir_value sched_convert(ir_builder *b, ir_value x, dtype to) {
    ir_named_attr attr = {"to", ir_attr_type(b->m, ir_type_scalar(b->m, to))};
    if (ir_type_get(b->m, ir_value_get(b->m, x)->type)->element == to)
        return x;
    return ir_build1(b, GRAPH_CONVERT, &x, 1, ir_type_scalar(b->m, to), &attr, 1);
}

static void emit_repack(contraction *c, const repack *r) {
    scheduler *s = c->s;
    ir_module *m = s->m;
    int64_t extents[NEST_AXES];
    ir_attr steps[NEST_AXES];
    ir_value indices[NEST_AXES], operands[NEST_AXES + 2];
    axis_map map = {.count = 0};
    int n = 0;
    for (int a = 0; a < NEST_AXES; a++)
        map.index_of[a] = -1;
    for (int i = 0; i < c->outer; i++)
        if (along(c, &r->from, i) != 0) {
            map.index_of[axis_of(c, i)] = n;
            extents[n] = c->map.extent[i];
            steps[n++] = scheduler_int(s, 1);
        }
    map.index_of[axis_of(c, r->rows)] = n;
    extents[n] = c->map.extent[r->rows];
    steps[n++] = r->row_block;
    map.index_of[axis_of(c, r->columns)] = n;
    extents[n] = c->map.extent[r->columns];
    steps[n++] = r->column_block;
    map.count = n;
    ir_builder b = scheduler_phase(s, r->what, n, extents, steps, NULL, indices);
    b = scheduler_for(s, &b, "row", indices[n - 2], extents[n - 2], r->row_step, r->row_block,
                      &indices[n - 2]);
    affine to = r->to;
    if (r->panel) { /* the panel's first column places it, the column is relative to that */
        ir_value column;
        map.index_of[c->k_axis + 1] = n - 1;
        map.index_of[axis_of(c, r->columns)] = n;
        map.count = ++n;
        b = scheduler_for(s, &b, "column", indices[n - 2], c->n, r->column_step, r->column_block,
                          &column);
        indices[n - 1] = column;
        to.coefficient[c->k_axis + 1] = to.coefficient[axis_of(c, r->columns)] - 1;
        to.coefficient[axis_of(c, r->columns)] = 1;
    } else {
        b = scheduler_for(s, &b, "column", indices[n - 1], extents[n - 1], r->column_step,
                          r->column_block, &indices[n - 1]);
    }
    if (r->panel) { /* rows stay the last index but one: exchange them with the panel */
        ir_value panel = indices[n - 2];
        indices[n - 2] = indices[n - 3];
        indices[n - 3] = panel;
        map.index_of[c->k_axis + 1] = n - 3;
        map.index_of[axis_of(c, r->rows)] = n - 2;
    }
    memcpy(operands, indices, sizeof *operands * (size_t)n);
    operands[n] = r->source;
    operands[n + 1] = r->copy;
    ir_attr access[] = {expression_access(m, &r->from, &map, NEST_AXES),
                        expression_access(m, &to, &map, NEST_AXES)};
    ir_named_attr attrs[] = {{"axes", scheduler_int(s, n)},
                             {"inputs", scheduler_int(s, 1)},
                             {"access", ir_attr_array(m, access, 2)}};
    ir_op_spec spec = {.opcode = SCHED_MAP,
                       .operands = operands,
                       .operand_count = (uint32_t)n + 2,
                       .attrs = attrs,
                       .attr_count = 3,
                       .region_count = 1};
    ir_builder body = {m, ir_op_block(m, ir_build(&b, &spec), 0), 0, b.location};
    ir_value x =
        ir_block_add_argument(m, body.block, ir_type_scalar(m, buffer_element(c, r->source)), NULL);
    x = sched_convert(&body, x, c->element);
    ir_op_spec end = {.opcode = SCHED_YIELD, .operands = &x, .operand_count = 1};
    ir_build(&body, &end);
}

/* rhs in panels of NR columns, [outer..., panel, k, NR]: a tile of the kernel reads one run of
 * memory. */
static void pack_rhs(contraction *c) {
    scheduler *s = c->s;
    int n_index = c->outer + 1, k_index = c->outer + 2;
    int64_t panels = (c->n + c->nr - 1) / c->nr;
    bool strided = along(c, &c->rhs_access, n_index) != 1;
    repack r = {.what = "pack rhs",
                .source = c->rhs,
                .from = c->rhs_access,
                .rows = k_index,
                .columns = n_index,
                .panel = c->nr};
    int64_t size = outer_strides(c, &c->rhs_access, panels * c->nr * c->k, &r.to);
    r.to.coefficient[axis_of(c, n_index)] = c->k;
    r.to.coefficient[axis_of(c, k_index)] = c->nr;
    r.copy = scheduler_buffer(s, &s->at, "workspace", c->element, 1, &size);
    r.row_step = scheduler_int(s, strided ? s->target->vector_lanes : 1);
    r.row_block = scheduler_int(s, 128);
    r.column_block = scheduler_int(s, c->nr);
    r.column_step = scheduler_int(s, strided ? s->target->vector_lanes : c->nr);
    emit_repack(c, &r);
    c->rhs = r.copy;
    c->rhs_access = r.to;
    c->packed = true;
}

/* lhs as it is, but in the summed type and with its contracted axis innermost. */
static void widen_lhs(contraction *c) {
    scheduler *s = c->s;
    int m_index = c->outer, k_index = c->outer + 2;
    bool strided = along(c, &c->lhs_access, k_index) != 1 && c->k > 1;
    repack r = {.what = "pack lhs",
                .source = c->lhs,
                .from = c->lhs_access,
                .rows = m_index,
                .columns = k_index};
    int64_t size = outer_strides(c, &c->lhs_access, c->m * c->k, &r.to);
    r.to.coefficient[axis_of(c, m_index)] = c->k;
    r.to.coefficient[axis_of(c, k_index)] = 1;
    r.copy = scheduler_buffer(s, &s->at, "workspace", c->element, 1, &size);
    r.row_step = scheduler_int(s, strided ? s->target->vector_lanes : 1);
    r.row_block = scheduler_int(s, 64);
    r.column_step =
        scheduler_int(s, strided ? s->target->vector_lanes : 4 * s->target->vector_lanes);
    r.column_block = scheduler_int(s, 512);
    emit_repack(c, &r);
    c->lhs = r.copy;
    c->lhs_access = r.to;
}

static bool same_storage(const contraction *c, ir_value buffer) {
    return dtype_stored_as(buffer_element(c, buffer)) == dtype_stored_as(c->element);
}

static void pack(contraction *c) {
    int64_t column = along(c, &c->rhs_access, c->outer + 1);
    bool strided = column != 1 && c->n > 1;
    if (c->k == 0)
        return;
    if (!same_storage(c, c->lhs))
        widen_lhs(c);
    if (strided || !same_storage(c, c->rhs) ||
        (c->m > 2 * c->mr && c->n * c->k > SMALL_RHS_ELEMENTS))
        pack_rhs(c);
}

/* ---- the contraction ---- */

static int64_t clamp(int64_t value, int64_t low, int64_t high) {
    return value < low ? low : value > high ? high : value;
}

static int64_t round_up(int64_t n, int64_t to) {
    return (n + to - 1) / to * to;
}

static void choose_tiles(contraction *c) {
    scheduler *s = c->s;
    /* A tile fills as many registers whatever it sums: f64 takes two for the lanes of f32. */
    int64_t lanes = s->target->vector_lanes * 4 / (int64_t)dtype_size(c->element);
    bool many = s->target->vector_registers >= 32;
    c->mr = scheduler_parameter(s, "MR", 6, &c->mr_name);
    c->nr = scheduler_parameter(s, "NR", many ? 4 * lanes : 2 * lanes, &c->nr_name);
    c->bm =
        scheduler_parameter(s, "BM", clamp(round_up(c->m, c->mr), c->mr, 16 * c->mr), &c->bm_name);
    int64_t columns = many ? 4 * c->nr : 8 * c->nr;
    int64_t cells = (c->m + c->bm - 1) / c->bm * ((c->n + columns - 1) / columns);
    for (int i = 0; i < c->outer; i++)
        cells *= c->map.extent[i];
    while (cells < 2 * s->target->threads && columns > c->nr) {
        columns = round_up(columns / 2, c->nr);
        cells *= 2;
    }
    c->bn = scheduler_parameter(s, "BN", clamp(round_up(c->n, c->nr), c->nr, columns), &c->bn_name);
}

/* Whether the epilogue up to `v` calls a specified function. */
static bool is_long(const contraction *c, ir_value v) {
    const plan *p = c->s->p;
    if (v == c->value || plan_def(p, v) == 0 || (v != c->root && p->stored[v]))
        return false;
    const ir_op_data *d = ir_op_get(p->g, plan_def(p, v));
    if (graph_op_is_specified(d->opcode))
        return true;
    for (uint32_t i = 0; i < d->operand_count; i++)
        if (is_long(c, d->operands[i]))
            return true;
    return false;
}

/* A register tile: indices are outer..., [first m, first n, first k,] m, n. */
static void emit_dot(contraction *c, ir_builder *b, const ir_value *indices, int axes,
                     const axis_map *map, ir_value output, const affine *output_access,
                     bool accumulate) {
    scheduler *s = c->s;
    substitute accumulator = {.kind = SUBSTITUTE_ACCUMULATOR, .value = c->value};
    expression e = epilogue_expression(c, &accumulator);
    ir_value leading[] = {c->lhs, c->rhs, c->counts};
    affine access[] = {c->lhs_access, c->rhs_access, c->count_access};
    ir_named_attr attrs[8] = {{"extent", scheduler_int(s, c->k)},
                              {"order", ir_attr_string(s->m, c->order)},
                              {"reduction", scheduler_reduction(s, c->op)}};
    int n = 3;
    if (accumulate)
        attrs[n++] = (ir_named_attr){"accumulate", ir_attr_bool(s->m, true)};
    if (c->counted)
        attrs[n++] = (ir_named_attr){"counted", ir_attr_bool(s->m, true)};
    if (c->packed)
        attrs[n++] = (ir_named_attr){"packed", ir_attr_bool(s->m, true)};
    computation compute = {.opcode = SCHED_DOT,
                           .indices = indices,
                           .axes = axes,
                           .map = map,
                           .e = &e,
                           .yields = c->staged ? &c->value : &c->root,
                           .yield_index = c->root_index,
                           .yield_count = 1,
                           .outputs = &output,
                           .output_access = output_access,
                           .leading = leading,
                           .leading_access = access,
                           .leading_count = c->counted ? 3 : 2,
                           .attrs = attrs,
                           .attr_count = n,
                           .accumulator = c->element};
    scheduler_compute(s, b, &compute);
    expression_release(&e);
}

static void emit_short(contraction *c, ir_builder *b, ir_value *indices) {
    scheduler *s = c->s;
    ir_value *m = &indices[c->outer], *n = &indices[c->outer + 1];
    ir_builder in = scheduler_for(s, b, "n", *n, c->n, c->nr_name, c->bn_name, n);
    in = scheduler_for(s, &in, "m", *m, c->m, c->mr_name, c->bm_name, m);
    emit_dot(c, &in, indices, c->outer + 2, &c->map, s->buffer_of[c->root], &c->output, false);
}

/* The map with two or three more indices before m and n: the block's first m and n, and the chunk's
 * first k. They are the axes after k in the numbering. */
static axis_map block_map(const contraction *c, int extra, bool with_k) {
    axis_map map = c->map;
    for (int axis = 0; axis < NEST_AXES; axis++)
        if (map.index_of[axis] >= c->outer)
            map.index_of[axis] += extra;
    map.count = c->map.count + extra;
    for (int i = 0; i < extra; i++)
        map.index_of[c->k_axis + 1 + i] = c->outer + i;
    if (!with_k) {
        map.index_of[c->k_axis] = -1;
        map.count--;
    }
    return map;
}

static void emit_epilogue(contraction *c, ir_builder *b, const ir_value *block, ir_value total,
                          const affine *at) {
    scheduler *s = c->s;
    axis_map map = block_map(c, 2, false);
    ir_value indices[NEST_AXES];
    substitute stored = {
        .kind = SUBSTITUTE_BLOCK, .value = c->value, .buffer = total, .access = *at};
    expression e = epilogue_expression(c, &stored);
    memcpy(indices, block, sizeof *indices * (size_t)(c->outer + 2));
    ir_builder in = scheduler_for(s, b, "m", block[c->outer], c->m, scheduler_int(s, 1), c->bm_name,
                                  &indices[c->outer + 2]);
    in = scheduler_for(s, &in, "n", block[c->outer + 1], c->n, c->nr_name, c->bn_name,
                       &indices[c->outer + 3]);
    computation compute = {.opcode = SCHED_MAP,
                           .indices = indices,
                           .axes = c->outer + 4,
                           .map = &map,
                           .e = &e,
                           .yields = &c->root,
                           .yield_index = c->root_index,
                           .yield_count = 1,
                           .outputs = &s->buffer_of[c->root],
                           .output_access = &c->output};
    scheduler_compute(s, &in, &compute);
    expression_release(&e);
}

static void clear_totals(contraction *c, ir_builder *b, ir_value total) {
    ir_module *m = c->s->m;
    ir_named_attr zero = {"value", ir_attr_bits(m, c->element, 0)};
    ir_op_spec fill = {.opcode = SCHED_FILL,
                       .operands = &total,
                       .operand_count = 1,
                       .attrs = &zero,
                       .attr_count = 1};
    ir_build(b, &fill);
}

static void emit_staged(contraction *c, ir_builder *b, const ir_value *block) {
    scheduler *s = c->s;
    int first = c->outer + (c->chunked ? 3 : 2); /* where m and n stand */
    int64_t dims[] = {c->bm, c->bn};
    ir_value indices[NEST_AXES], total = scheduler_buffer(s, b, "cell", c->element, 2, dims);
    axis_map map = block_map(c, first - c->outer, true);
    affine at = {0}; /* of the total: relative to the block */
    at.coefficient[axis_of(c, c->outer)] = c->bn;
    at.coefficient[axis_of(c, c->outer + 1)] = 1;
    at.coefficient[c->k_axis + 1] = -c->bn;
    at.coefficient[c->k_axis + 2] = -1;
    memcpy(indices, block, sizeof *indices * (size_t)(c->outer + 2));
    ir_builder in = *b;
    if (c->chunked) {
        clear_totals(c, b, total);
        in = scheduler_for(s, b, "k", 0, c->k, scheduler_int(s, CHUNK), 0, &indices[first - 1]);
        scheduler_mark_loop(s, &in, c->op, c->order);
    }
    in = scheduler_for(s, &in, "n", block[c->outer + 1], c->n, c->nr_name, c->bn_name,
                       &indices[first + 1]);
    in = scheduler_for(s, &in, "m", block[c->outer], c->m, c->mr_name, c->bm_name, &indices[first]);
    emit_dot(c, &in, indices, first + 2, &map, total, &at, c->chunked);
    emit_epilogue(c, b, block, total, &at);
}

static void open_grid(contraction *c) {
    scheduler *s = c->s;
    ir_attr steps[NEST_AXES];
    const char *axis_names[NEST_AXES];
    char text_names[NEST_AXES][16];
    ir_value indices[NEST_AXES];
    for (int i = 0; i < c->outer; i++) {
        snprintf(text_names[i], sizeof text_names[i], "b%d", i);
        axis_names[i] = text_names[i];
        steps[i] = scheduler_int(s, 1);
    }
    axis_names[c->outer] = "m";
    axis_names[c->outer + 1] = "n";
    steps[c->outer] = c->bm_name;
    steps[c->outer + 1] = c->bn_name;
    ir_builder b =
        scheduler_phase(s, "dot", c->outer + 2, c->map.extent, steps, axis_names, indices);
    if (c->staged)
        emit_staged(c, &b, indices);
    else
        emit_short(c, &b, indices);
}

void schedule_dot_group(scheduler *s, const plan_group *group) {
    const ir_module *g = s->p->g;
    contraction c = {
        .s = s, .op = group->anchor, .order = ir_op_string(g, group->anchor, "order", "chunk512")};
    c.value = ir_op_get(g, c.op)->results[0];
    c.root = c.value;
    for (size_t i = 0; i < group->roots.count; i++)
        if (s->p->root_dot[group->roots.items[i]] == c.op)
            c.root = group->roots.items[i];
    if (ir_type_count(g, ir_value_get(g, c.value)->type) == 0)
        return;
    c.element = plan_type(s->p, c.value)->element;
    if (!analyse(&c)) {
        s->failed = true;
        return;
    }
    c.chunked = c.k > CHUNK && strcmp(c.order, "chunk512") == 0;
    c.staged = c.chunked || is_long(&c, c.root);
    choose_tiles(&c);
    pack(&c);
    open_grid(&c);
}
