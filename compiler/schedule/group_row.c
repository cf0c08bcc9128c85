/* group_row.c - reductions over the last axis that share their rows, and the element-wise work
 * between and after them.
 *
 * One row at a time, or, where threads share the work, some side by side: each reduction is a loop
 * over the columns; what its result makes of single values is computed once a row; columns that
 * were dear to compute stay in a row of cache for the loops that follow. */
#include <string.h>

#include "schedule/policy.h"
#include "schedule/rows.h"

enum { MAX_YIELDS = 8, ROWS_AHEAD = 1 };

static const affine no_access;

static expression rows_expression(const rows *r) {
    return (expression){.p = r->s->p,
                        .group = r->number,
                        .row_axes = r->group->rank - 1,
                        .substitutes = r->substitutes,
                        .substitute_count = r->substitute_count};
}

static void substitute_by(rows *r, substitute_kind kind, ir_value value, ir_value buffer) {
    if (r->substitute_count == ROWS_SUBSTITUTES) {
        r->s->failed = true;
        status_set(r->s->st, STATUS_INVALID,
                   "too many values of one row in one phase; split the kernel");
        return;
    }
    r->substitutes[r->substitute_count++] =
        (substitute){.kind = kind, .value = value, .buffer = buffer};
}

static affine block_access(const rows *r);

static void substitute_at(rows *r, ir_value v, ir_value buffer, affine access) {
    substitute_by(r, SUBSTITUTE_BLOCK, v, buffer);
    if (r->substitute_count)
        r->substitutes[r->substitute_count - 1].access = access;
}

void rows_substitute_block(rows *r, ir_value v) {
    substitute_at(r, v, r->block->memory, block_access(r));
}

static bool is_full(const rows *r, ir_value v) {
    return plan_type(r->s->p, v)->rank == r->group->rank;
}

ir_value rows_reduce_operand(const rows *r, size_t i) {
    return ir_op_get(r->s->p->g, r->group->reduces.items[i])->operands[0];
}

static ir_value reduce_result(const rows *r, size_t i) {
    return ir_op_get(r->s->p->g, r->group->reduces.items[i])->results[0];
}

/* The place of a row's element in the memory of a chain's block: axes are the rows', the column,
 * the block's first row, and the first column that is there. */
static affine block_access(const rows *r) {
    affine a = {0};
    int rank = r->group->rank;
    a.coefficient[rank - 2] = r->block->stride;
    a.coefficient[rank - 1] = 1;
    a.coefficient[rank] = ir_dim_add_scaled(r->s->p->dims, 0, r->block->stride, -1);
    if (r->block->piece)
        a.coefficient[rank + 1] = -1;
    return a;
}

/* The last axis of the rows: those that are one index with it have no coefficient of their own. */
static int row_axis(const rows *r) {
    int axis = r->group->rank - 2;
    while (axis > 0 && r->map.index_of[axis] != r->row_count - 1)
        axis--;
    return axis;
}

/* The place of a row's value, of `stride` numbers for each row from the first on. */
static affine row_access(const rows *r, int64_t stride) {
    affine a = {0};
    a.coefficient[row_axis(r)] = stride;
    a.coefficient[r->group->rank] = -stride;
    return a;
}

/* ... and of its column. */
static affine columns_access(const rows *r) {
    affine a = row_access(r, r->map.extent[r->row_count]);
    a.coefficient[r->group->rank - 1] = 1;
    return a;
}

/* The block's memory of a result of rows; 0: the result's own. */
static ir_value kept_memory(const rows *r, ir_value v) {
    for (size_t i = 0; r->block && i < r->block->kept_count; i++)
        if (r->block->kept[i] == v)
            return r->block->kept_memory[i];
    return 0;
}

/* Memory for a value of the row at hand, or of each row where loops are apart; from here on it is
 * read there. */
static ir_value make_scalar(rows *r, ir_builder *b, ir_value v, affine *access) {
    dtype element = plan_type(r->s->p, v)->element;
    ir_dim size = r->around ? r->around_rows : 1;
    ir_value kept = r->around ? kept_memory(r, v) : 0;
    *access = r->around ? row_access(r, 1) : no_access;
    return kept ? kept
                : scheduler_buffer(r->s, r->around ? r->around : b, "workgroup", element, 1, &size);
}

static void substitute_scalar(rows *r, ir_value v, ir_value buffer, affine access) {
    if (r->around)
        substitute_at(r, v, buffer, access);
    else
        substitute_by(r, SUBSTITUTE_SCALAR, v, buffer);
}

/* ---- axes ---- */

static void collect_value(rows *r, ir_value v, bool root, affine_list *accesses) {
    expression e = rows_expression(r);
    affine index[IR_MAX_RANK];
    expression_identity(r->s->p, v, 0, index);
    if (root) {
        affine output = expression_offset(r->s->p, v, index);
        expression_root(&e, v, index);
        vec_push(accesses, output);
    } else {
        expression_element(&e, v, index);
    }
    scheduler_collect(&e, accesses);
    expression_release(&e);
}

static void find_axes(rows *r) {
    affine_list accesses = {0};
    axis_space space = {.axes = r->group->rank};
    int column = r->group->rank - 1;
    memcpy(space.extent, r->group->dims, sizeof(int64_t) * (size_t)r->group->rank);
    space.keep[column] = true;
    if (column > 0)
        space.barrier[column - 1] = true;
    for (size_t i = 0; i < r->group->reduces.count; i++)
        collect_value(r, rows_reduce_operand(r, i), false, &accesses);
    for (size_t i = 0; i < r->group->roots.count; i++)
        collect_value(r, r->group->roots.items[i], true, &accesses);
    expression_merge(r->s->p, &space, accesses.items, accesses.count, &r->map);
    vec_release(&accesses);
    r->row_count = r->map.count - 1;
    r->row_map = r->map;
    r->row_map.count--;
    r->row_map.index_of[column] = -1;
}

/* ---- pieces of a row ---- */

/* The indices of the columns at hand, and the map to them; of a block in pieces the first column of
 * the piece is one of them, before the row. Returns how many there are. */
static int column_indices(const rows *r, ir_value *indices, const axis_map **map) {
    int count = r->row_count + 1, row = r->row_count - 1;
    *map = r->piece ? &r->piece_map : &r->map;
    memcpy(indices, r->indices, sizeof *indices * (size_t)count);
    if (!r->piece)
        return count;
    memcpy(&indices[row + 1], &r->indices[row], sizeof *indices * 2);
    indices[row] = r->piece;
    return count + 1;
}

/* One value of the row, at the row's indices. Of rows side by side it is a column, as their
 * reductions are. */
static void emit_point(rows *r, ir_builder *b, ir_value v, ir_value buffer, const affine *output) {
    expression e = rows_expression(r);
    affine index[1][IR_MAX_RANK];
    bool column = r->beside > 1;
    ir_builder in = *b;
    expression_identity(r->s->p, v, 0, index[0]);
    if (column)
        in = scheduler_for(r->s, b, "column", 0, 1, scheduler_int(r->s, 1), 0,
                           &r->indices[r->row_count]);
    computation c = {.opcode = SCHED_MAP,
                     .indices = r->indices,
                     .axes = r->row_count + column,
                     .map = column ? &r->map : &r->row_map,
                     .e = &e,
                     .yields = &v,
                     .yield_index = index,
                     .yield_count = 1,
                     .outputs = &buffer,
                     .output_access = output};
    scheduler_compute(r->s, &in, &c);
    expression_release(&e);
}

/* Row values inside the expressions of `values` are computed once, before the loop over the
 * columns. */
void rows_hoist(rows *r, ir_builder *b, const ir_value *values, int count, bool roots) {
    expression e = rows_expression(r);
    e.hoist = true;
    for (int i = 0; i < count; i++) {
        affine index[IR_MAX_RANK];
        expression_identity(r->s->p, values[i], 0, index);
        if (roots)
            expression_root(&e, values[i], index);
        else
            expression_element(&e, values[i], index);
    }
    for (size_t i = 0; i < e.hoisted.count; i++) {
        affine access;
        ir_value v = e.hoisted.items[i], buffer = make_scalar(r, b, v, &access);
        emit_point(r, b, v, buffer, &access);
        substitute_scalar(r, v, buffer, access);
    }
    expression_release(&e);
}

/* The memory of a result of all columns, and the place there. */
static ir_value full_output(const rows *r, ir_value v, const affine *index, affine *access) {
    *access = expression_offset(r->s->p, v, index);
    if (!r->block || v != r->block->weights)
        return r->s->buffer_of[v];
    *access = block_access(r);
    return r->block->memory;
}

int rows_root_number(const rows *r, ir_value v) {
    for (size_t i = 0; i < r->group->roots.count; i++)
        if (r->group->roots.items[i] == v)
            return (int)i;
    return -1;
}

static bool is_heavy(rows *r, ir_value v) {
    expression e = rows_expression(r);
    affine index[IR_MAX_RANK];
    expression_identity(r->s->p, v, 0, index);
    expression_element(&e, v, index);
    bool heavy = scheduler_is_heavy(&e);
    expression_release(&e);
    return heavy;
}

/* The attributes of loop `i` over the columns; the one over the results comes after the reductions.
 * A loop that calls functions has time to fetch the next rows, and alone does; else all do. */
static int row_attrs(rows *r, size_t i, bool streams, ir_named_attr *attrs) {
    traffic t = r->traffic;
    size_t n = r->group->reduces.count, heavy = 0;
    while (heavy < n && !is_heavy(r, rows_reduce_operand(r, heavy)))
        heavy++;
    if ((heavy < n && i != heavy) || r->beside > 1)
        t.ahead = 0;
    return traffic_attrs(r->s, &t, streams, r->row_count - 1, attrs);
}

/* Dear to compute, and needed again. */
bool rows_is_worth_a_row(rows *r, ir_value v) {
    int opcode = plan_opcode(r->s->p, v);
    return r->s->p->uses[v] >= 2 && opcode >= 0 &&
           graph_op_class(opcode) == GRAPH_CLASS_ELEMENTWISE && is_heavy(r, v);
}

/* Bytes of a row of such elements. */
static int64_t row_bytes(const rows *r, ir_value v) {
    return (int64_t)dtype_size(plan_type(r->s->p, v)->element) *
           scheduler_estimate(r->s, r->group->dims[r->group->rank - 1]);
}

/* Has the workgroup memory for so many of them? A chain's block has been made for what it keeps. */
static bool has_room(const rows *r, ir_value v, int64_t count) {
    return r->block || row_bytes(r, v) <= policy_row_room(r->s) / count;
}

/* Keeps the reduced elements for later loops: in their own memory, a row of cache, or nowhere: then
 * they are computed again. */
static ir_value keep_columns(rows *r, ir_builder *b, ir_value v, substitute_kind *kind) {
    scheduler *s = r->s;
    int root = rows_root_number(r, v);
    *kind = SUBSTITUTE_STORED;
    if (root >= 0) {
        affine index[IR_MAX_RANK], access;
        expression_identity(s->p, v, 0, index);
        r->done[root] = true;
        return full_output(r, v, index, &access);
    }
    bool several = r->beside > 1;
    *kind = several ? SUBSTITUTE_BLOCK : SUBSTITUTE_COLUMNS;
    if (!rows_is_worth_a_row(r, v) || !has_room(r, v, several ? r->around_rows : 1))
        return 0;
    ir_dim dims[] = {r->around_rows, r->map.extent[r->row_count]};
    return scheduler_buffer(s, several ? r->around : b, "workgroup", plan_type(s->p, v)->element,
                            several ? 2 : 1, several ? dims : &dims[1]);
}

/* The loop over the pieces of a reduction, and what makes the present one. */
static ir_builder open_piece(rows *r, ir_builder *b, ir_op op, order_id order) {
    const row_block *block = r->block;
    ir_builder in = scheduler_for(r->s, b, "piece", 0, r->map.extent[r->row_count],
                                  scheduler_int(r->s, block->piece), 0, &r->piece);
    scheduler_mark_loop(r->s, &in, op, order);
    block->make(block->of, &in, r->piece);
    return in;
}

void rows_emit_reduce(rows *r, ir_builder *b, size_t i) {
    scheduler *s = r->s;
    ir_op op = r->group->reduces.items[i];
    ir_value x = rows_reduce_operand(r, i), result = reduce_result(r, i), yields[] = {x, x};
    affine index[2][IR_MAX_RANK], access[2] = {no_access, no_access};
    substitute_kind kind = SUBSTITUTE_STORED;
    bool known = false, pieces = r->block && r->block->piece;
    /* known: already substituted, the expression is a load */
    for (size_t k = 0; k < r->substitute_count; k++)
        known |= r->substitutes[k].value == x;
    rows_hoist(r, b, &x, 1, !known && rows_root_number(r, x) >= 0);
    b->location = ir_op_get(s->p->g, op)->location;
    ir_value workgroup = make_scalar(r, b, result, &access[0]);
    /* An exact sum may look at its elements twice, and nothing may have been put in their place. */
    bool again = order_is_exact(order_of(s->p->g, op, ORDER_ANY));
    ir_value kept = known || pieces || again ? 0 : keep_columns(r, b, x, &kind);
    ir_value outputs[] = {workgroup, kept};
    expression_identity(s->p, x, 0, index[0]);
    expression_identity(s->p, x, 0, index[1]);
    if (kept && kind == SUBSTITUTE_STORED)
        full_output(r, x, index[1], &access[1]);
    else if (kept)
        access[1] = kind == SUBSTITUTE_BLOCK ? columns_access(r) : index[1][r->group->rank - 1];
    expression e = rows_expression(r);
    order_id order = order_of(s->p->g, op, ORDER_ANY);
    ir_named_attr attrs[9] = {
        {"extent", ir_attr_dim(s->m, r->map.extent[r->row_count])},
        {"kind", ir_attr_string(s->m, ir_op_string(s->p->g, op, "kind", "sum"))},
        {"order", scheduler_order(s, order)},
        {"reduction", scheduler_reduction(s, op)},
        {"sub", r->sub}};
    ir_builder in = pieces ? open_piece(r, b, op, order) : *b;
    int count = 5 + row_attrs(r, i, false, attrs + 5), axes;
    if (pieces)
        attrs[count++] = (ir_named_attr){"piece", scheduler_int(s, r->row_count - 1)};
    ir_value indices[NEST_AXES];
    const axis_map *map;
    axes = column_indices(r, indices, &map) - 1;
    computation c = {.opcode = SCHED_REDUCE,
                     .indices = indices,
                     .axes = axes,
                     .map = map,
                     .e = &e,
                     .yields = yields,
                     .yield_index = index,
                     .yield_count = kept ? 2 : 1,
                     .outputs = outputs,
                     .output_access = access,
                     .attrs = attrs,
                     .attr_count = count};
    scheduler_compute(s, &in, &c);
    expression_release(&e);
    r->piece = 0;
    substitute_scalar(r, result, workgroup, access[0]);
    if (kept && r->block && x == r->block->weights)
        rows_substitute_block(r, x);
    else if (kept && kind == SUBSTITUTE_BLOCK)
        substitute_at(r, x, kept, access[1]);
    else if (kept)
        substitute_by(r, kind, x, kept);
}

/* The memory of a result of rows, and the place there. */
static ir_value row_output(const rows *r, ir_value v, const affine *index, affine *access) {
    ir_value kept = kept_memory(r, v);
    *access = kept ? row_access(r, 1) : expression_offset(r->s->p, v, index);
    return kept ? kept : r->s->buffer_of[v];
}

/* A reduction has put it there. */
bool rows_is_in_place(const rows *r, ir_value v) {
    ir_value kept = r->around ? kept_memory(r, v) : 0;
    for (size_t i = 0; kept && i < r->substitute_count; i++)
        if (r->substitutes[i].value == v && r->substitutes[i].buffer == kept)
            return true;
    return false;
}

void rows_emit_row_roots(rows *r, ir_builder *b) {
    for (size_t i = 0; i < r->group->roots.count; i++) {
        ir_value v = r->group->roots.items[i];
        affine index[IR_MAX_RANK];
        if (is_full(r, v) || rows_is_in_place(r, v))
            continue;
        expression_identity(r->s->p, v, 0, index);
        affine access;
        ir_value output = row_output(r, v, index, &access);
        emit_point(r, b, v, output, &access);
    }
}

/* One loop over the columns for the next results, as many as a computation yields; returns where
 * the others begin. */
static size_t emit_some_full_roots(rows *r, ir_builder *b, size_t i) {
    scheduler *s = r->s;
    ir_value values[MAX_YIELDS], outputs[MAX_YIELDS];
    ir_named_attr attrs[3];
    affine index[MAX_YIELDS][IR_MAX_RANK], access[MAX_YIELDS];
    int count = 0;
    for (; i < r->group->roots.count && count < MAX_YIELDS; i++) {
        ir_value v = r->group->roots.items[i];
        if (r->done[i] || !is_full(r, v) || !s->p->stored[v])
            continue;
        values[count] = v;
        expression_identity(s->p, v, 0, index[count]);
        outputs[count] = full_output(r, v, index[count], &access[count]);
        count++;
    }
    if (count == 0 || r->map.extent[r->row_count] == 0)
        return i;
    rows_hoist(r, b, values, count, true);
    ir_attr span = r->piece ? scheduler_int(s, r->block->piece) : 0;
    ir_builder in = scheduler_for(s, b, "column", r->piece, r->map.extent[r->row_count], r->vector,
                                  span, &r->indices[r->row_count]);
    if (r->piece)
        scheduler_mark_inside(s, &in);
    ir_value indices[NEST_AXES];
    const axis_map *map;
    int axes = column_indices(r, indices, &map);
    expression e = rows_expression(r);
    computation c = {.opcode = SCHED_MAP,
                     .indices = indices,
                     .axes = axes,
                     .map = map,
                     .e = &e,
                     .yields = values,
                     .yield_index = (const affine(*)[IR_MAX_RANK])index,
                     .yield_count = count,
                     .outputs = outputs,
                     .output_access = access,
                     .attrs = attrs,
                     .attr_count = row_attrs(r, r->group->reduces.count, true, attrs)};
    scheduler_compute(s, &in, &c);
    expression_release(&e);
    return i;
}

void rows_emit_full_roots(rows *r, ir_builder *b) {
    for (size_t i = 0; i < r->group->roots.count;)
        i = emit_some_full_roots(r, b, i);
}

/* ---- the phase ---- */

/* Bytes that a row leaves in the workgroup for its next loops. */
static int64_t kept_bytes(rows *r) {
    for (size_t i = 0; i < r->group->reduces.count; i++) {
        ir_value x = rows_reduce_operand(r, i);
        if (rows_root_number(r, x) < 0 && rows_is_worth_a_row(r, x))
            return has_room(r, x, 1) ? row_bytes(r, x) : 0;
    }
    return 0;
}

int64_t schedule_row_kept_bytes(scheduler *s, int number, ir_value weights) {
    const row_block block = {.weights = weights};
    rows r = {.s = s, .group = &s->p->groups[number], .number = number, .block = &block};
    return kept_bytes(&r);
}

/* An index more, before the row's: the first row of those side by side. */
static void map_beside(rows *r) {
    int row = r->row_count - 1, column = row + 1, axis = row_axis(r);
    r->map.index_of[axis] = row + 1;
    r->map.index_of[r->group->rank - 1] = column + 1;
    r->map.index_of[r->group->rank] = row;
    r->map.extent[column + 1] = r->map.extent[column];
    r->map.extent[row + 1] = r->map.extent[row];
    r->map.count++;
    r->row_map = r->map;
    r->row_map.count--;
    r->row_map.index_of[r->group->rank - 1] = -1;
    r->row_count++;
}

/* The loop over the rows of a workgroup, from the first on; where it has several at once, their
 * memory is made before it. */
ir_builder rows_open_row(rows *r, ir_builder *b, ir_value first, ir_attr span) {
    ir_module *m = r->s->m;
    int row = r->row_count - 1;
    ir_builder in = scheduler_for(r->s, b, "row", first, r->map.extent[row],
                                  scheduler_int(r->s, r->beside), span, &r->indices[row]);
    r->outside = *b;
    r->outside.before = ir_block_parent(m, in.block);
    if (r->beside > 1)
        r->around = &r->outside;
    return in;
}

/* An exact sum has the workgroup for itself, and so has a row whose length a launch gives: the
 * results of its blocks are one sequence in memory. */
static int64_t row_beside(const rows *r, int64_t count) {
    bool alone =
        plan_is_exact(r->s->p, r->number) || !ir_dim_is_static(r->map.extent[r->row_count]);
    return alone ? 1 : policy_rows_beside(r->s, count);
}

static ir_builder open_rows(rows *r, const row_work *work) {
    scheduler *s = r->s;
    const schedule_policy *policy = s->target->policy;
    int n = r->row_count;
    int64_t one = 1;
    ir_attr steps[NEST_AXES], name;
    if (n == 0) {
        ir_attr step = scheduler_int(s, 1);
        ir_value unused;
        return scheduler_phase(s, "rows", 1, &one, &step, NULL, &unused);
    }
    r->around_rows = scheduler_parameter(s, IN_ROW, ROWS, policy->rows(s, work), &name);
    for (int i = 0; i < n; i++)
        steps[i] = i == n - 1 ? name : scheduler_int(s, 1);
    ir_builder b = scheduler_phase(s, "rows", n, r->map.extent, steps, NULL, r->indices);
    r->beside = row_beside(r, r->around_rows);
    if (r->beside > 1)
        map_beside(r);
    return rows_open_row(r, &b, r->indices[n - 1], name);
}

void schedule_row_group(scheduler *s, int number) {
    rows r = {.s = s, .group = &s->p->groups[number], .number = number, .beside = 1};
    for (int i = 0; i < r.group->rank - 1; i++)
        if (r.group->dims[i] == 0)
            return;
    if (r.group->roots.count > ROWS_SUBSTITUTES) {
        s->failed = true;
        status_set(s->st, STATUS_INVALID, "too many outputs of one phase; split the kernel");
        return;
    }
    find_axes(&r);
    const schedule_policy *policy = s->target->policy;
    row_work work = {.rows = r.row_count ? r.map.extent[r.row_count - 1] : 1,
                     .columns = r.map.extent[r.row_count],
                     .kept_bytes = kept_bytes(&r)};
    int64_t beside = row_beside(&r, policy->rows(s, &work));
    scheduler_parameter(s, IN_ROW, SUB, policy->row_lanes(s), &r.sub);
    scheduler_parameter(s, IN_ROW, VECTOR, policy->row_vector(s, beside), &r.vector);
    ir_value x = rows_reduce_operand(&r, 0);
    scheduler_traffic(s, &x, 1, r.group->roots.items, r.group->roots.count, ROWS_AHEAD, &r.traffic);
    ir_builder b = open_rows(&r, &work);
    for (size_t i = 0; i < r.group->reduces.count; i++)
        rows_emit_reduce(&r, &b, i);
    rows_emit_row_roots(&r, &b);
    rows_emit_full_roots(&r, &b);
}
