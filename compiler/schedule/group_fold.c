/* group_fold.c - rows that are carried from turn to turn, and columns of these: a block of rows
 * goes through all turns in a workgroup's memory.
 *
 * A turn computes what belongs to rows into memory of its own, a vector of rows at a time; then the
 * columns of each row, in place; then the rows' next values take their place. So whatever is read
 * is of the turn before. */
#include <string.h>

#include "schedule/fold.h"
#include "schedule/integers.h"

enum { MAX_YIELDS = 8 };
_Static_assert((int)FOLD_COLUMNS_MAX <= (int)MAX_YIELDS,
               "columns are computed in place, all at once");

/* ---- places ---- */

static const ir_type_data *type_of(const fold_block *f, ir_value v) {
    return plan_type(f->s->p, v);
}

static bool has_columns(const fold_block *f, ir_value v) {
    return type_of(f, v)->rank > f->shape.rank;
}

static ir_dim columns_of(const fold_block *f) {
    return f->shape.dims[f->shape.rank];
}

affine fold_block_access(const fold_block *f, bool columns, ir_dim stride) {
    affine a = {0};
    a.coefficient[f->outer] = stride;
    a.coefficient[f->outer + 1] = columns;
    a.coefficient[f->outer + 2] = ir_dim_add_scaled(f->s->p->dims, 0, stride, -1);
    return a;
}

static affine access_of(const fold_block *f, ir_value v) {
    bool columns = has_columns(f, v);
    return fold_block_access(f, columns, columns ? columns_of(f) : 1);
}

void fold_block_refuse(fold_block *f) {
    f->s->failed = true;
    status_set(f->s->st, STATUS_INVALID, "too many values of one turn; split the kernel");
}

void fold_block_keep(fold_block *f, ir_value v, ir_value buffer, ir_dim stride, bool columns) {
    if (f->substitute_count == FOLD_VALUES) {
        fold_block_refuse(f);
        return;
    }
    f->substitutes[f->substitute_count++] =
        (substitute){.kind = SUBSTITUTE_BLOCK,
                     .value = v,
                     .buffer = buffer,
                     .access = fold_block_access(f, columns, stride)};
}

static void keep_own(fold_block *f, ir_value v, ir_value buffer) {
    bool columns = has_columns(f, v);
    fold_block_keep(f, v, buffer, columns ? columns_of(f) : 1, columns);
}

/* Rows of the block, with their columns where `v` has some. */
static ir_value make_memory(fold_block *f, ir_builder *b, ir_value v) {
    ir_dim dims[] = {f->rows.size, has_columns(f, v) ? columns_of(f) : 1};
    return scheduler_buffer(f->s, b, "workgroup", type_of(f, v)->element, 1 + has_columns(f, v),
                            dims);
}

bool fold_block_init(fold_block *f, scheduler *s, ir_op op) {
    const ir_module *g = s->p->g;
    const ir_op_data *d = ir_op_get(g, op);
    *f = (fold_block){.s = s, .op = op};
    s->failed |= !fold_read(g, op, &f->shape, s->st);
    if (!s->failed && f->shape.inputs > FOLD_VALUES / 2)
        fold_block_refuse(f);
    if (s->failed)
        return false;
    f->outer = f->shape.rank - 1;
    for (uint32_t i = f->shape.carried; i < d->operand_count; i++)
        f->substitutes[f->substitute_count++] =
            (substitute){.kind = SUBSTITUTE_TURN,
                         .value = ir_block_get(g, ir_op_block(g, op, 0))->arguments[i],
                         .all = d->operands[i],
                         .axis = (int)f->shape.axis[i],
                         .turn = f->outer + 3};
    return true;
}

/* ---- loops ---- */

/* Indices of a computation: outer..., the turn, the block's first row, the row, the column. */
static int place_indices(const fold_block *f, ir_value row, ir_value column, axis_map *map,
                         ir_value *indices) {
    const struct {
        int axis;
        ir_value index;
        ir_dim extent;
    } inner[] = {{f->outer + 3, f->turn, f->shape.turns},
                 {f->outer + 2, f->first, f->shape.dims[f->outer]},
                 {f->outer, row, f->shape.dims[f->outer]},
                 {f->outer + 1, column, columns_of(f)}};
    *map = (axis_map){.count = 0};
    for (int a = 0; a < NEST_AXES; a++)
        map->index_of[a] = a < f->outer ? a : -1;
    for (int a = 0; a < f->outer; a++) {
        map->extent[a] = f->shape.dims[a];
        indices[map->count++] = f->outer_index[a];
    }
    for (size_t i = 0; i < sizeof inner / sizeof *inner; i++) {
        if (!inner[i].index)
            continue;
        map->index_of[inner[i].axis] = map->count;
        map->extent[map->count] = inner[i].extent;
        indices[map->count++] = inner[i].index;
    }
    return map->count;
}

typedef struct fold_map {
    ir_value values[MAX_YIELDS], outputs[MAX_YIELDS];
    affine access[MAX_YIELDS];
    int count;
} fold_map;

static void add_value(fold_map *m, ir_value v, ir_value output, affine access) {
    m->values[m->count] = v;
    m->outputs[m->count] = output;
    m->access[m->count++] = access;
}

static void emit_map(fold_block *f, ir_builder *b, const fold_map *m, ir_value row,
                     ir_value column) {
    expression e = {.p = f->s->p,
                    .group = -1,
                    .substitutes = f->substitutes,
                    .substitute_count = f->substitute_count};
    affine index[MAX_YIELDS][IR_MAX_RANK];
    ir_value indices[NEST_AXES];
    axis_map map;
    int axes = place_indices(f, row, column, &map, indices);
    for (int i = 0; i < m->count; i++)
        expression_identity(f->s->p, m->values[i], 0, index[i]);
    computation c = {.opcode = SCHED_MAP,
                     .indices = indices,
                     .axes = axes,
                     .map = &map,
                     .e = &e,
                     .yields = m->values,
                     .yield_index = (const affine(*)[IR_MAX_RANK])index,
                     .yield_count = m->count,
                     .outputs = m->outputs,
                     .output_access = m->access};
    scheduler_compute(f->s, b, &c);
    expression_release(&e);
}

/* Rows that are computed together: of a vector, as many as divide the block. */
static int64_t rows_at_once(const fold_block *f) {
    return greatest_divisor(f->rows.size, f->s->target->vector_lanes);
}

/* Over the block's rows, and over their columns. */
static void emit_rows(fold_block *f, ir_builder *b, const fold_map *m, bool columns) {
    scheduler *s = f->s;
    ir_value row, column = 0;
    if (m->count == 0)
        return;
    ir_builder in =
        scheduler_for(s, b, "row", f->first, f->shape.dims[f->outer],
                      scheduler_int(s, columns ? 1 : rows_at_once(f)), f->rows.name, &row);
    if (columns)
        in = scheduler_for(s, &in, "column", 0, columns_of(f),
                           scheduler_int(s, 4 * s->target->vector_lanes), 0, &column);
    emit_map(f, &in, m, row, column);
}

static void note_value(fold_block *f, fold_values *list, ir_value v, ir_value output,
                       affine access) {
    if (list->count == FOLD_VALUES) {
        fold_block_refuse(f);
        return;
    }
    list->values[list->count] = v;
    list->outputs[list->count] = output;
    list->access[list->count++] = access;
}

static void emit_values(fold_block *f, ir_builder *b, const fold_values *list, bool columns) {
    fold_map m = {.count = 0};
    for (size_t i = 0; i < list->count; i++) {
        if (has_columns(f, list->values[i]) != columns)
            continue;
        add_value(&m, list->values[i], list->outputs[i], list->access[i]);
        if (m.count == MAX_YIELDS) {
            emit_rows(f, b, &m, columns);
            m.count = 0;
        }
    }
    emit_rows(f, b, &m, columns);
}

/* ---- before the turns, and behind them ---- */

void fold_block_open(fold_block *f, ir_builder *b) {
    const ir_module *g = f->s->p->g;
    const ir_op_data *d = ir_op_get(g, f->op);
    fold_values first = {.count = 0};
    for (uint32_t i = 0; i < f->shape.carried; i++) {
        f->memory[i] = make_memory(f, b, d->operands[i]);
        note_value(f, &first, d->operands[i], f->memory[i], access_of(f, d->operands[i]));
    }
    emit_values(f, b, &first, false);
    emit_values(f, b, &first, true);
    for (uint32_t i = 0; i < f->shape.carried; i++)
        keep_own(f, ir_block_get(g, ir_op_block(g, f->op, 0))->arguments[i], f->memory[i]);
}

void fold_block_store(fold_block *f, ir_builder *b) {
    const ir_module *g = f->s->p->g;
    const ir_op_data *d = ir_op_get(g, f->op);
    fold_values results = {.count = 0};
    for (uint32_t i = 0; i < f->shape.carried; i++) {
        affine index[IR_MAX_RANK];
        if (!f->s->p->stored[d->results[i]])
            continue;
        expression_identity(f->s->p, d->results[i], 0, index);
        note_value(f, &results, ir_block_get(g, ir_op_block(g, f->op, 0))->arguments[i],
                   f->s->buffer_of[d->results[i]],
                   expression_offset(f->s->p, d->results[i], index));
    }
    emit_values(f, b, &results, false);
    emit_values(f, b, &results, true);
}

/* ---- a turn ---- */

/* A value of rows gets memory, once. */
static void keep_row(fold_block *f, ir_builder *b, fold_values *rows, ir_value v) {
    for (size_t i = 0; i < rows->count; i++)
        if (rows->values[i] == v)
            return;
    note_value(f, rows, v, make_memory(f, b, v), access_of(f, v));
}

/* Next values of rows, and what the block computes of rows for their columns. */
static void find_rows(fold_block *f, ir_builder *b, fold_values *rows) {
    const ir_module *g = f->s->p->g;
    const ir_block_data *block = ir_block_get(g, ir_op_block(g, f->op, 0));
    for (uint32_t i = 0; i < f->shape.carried; i++)
        if (!has_columns(f, fold_block_end(f, i)))
            keep_row(f, b, rows, fold_block_end(f, i));
    for (ir_op op = block->first; op != block->last; op = ir_op_get(g, op)->next) {
        const ir_op_data *d = ir_op_get(g, op);
        if (d->opcode != GRAPH_BROADCAST || !has_columns(f, d->results[0]))
            continue;
        bool computed = type_of(f, d->operands[0])->rank == f->shape.rank &&
                        plan_opcode(f->s->p, d->operands[0]) >= 0;
        if (computed)
            keep_row(f, b, rows, d->operands[0]);
    }
}

void fold_block_rows(fold_block *f, ir_builder *b) {
    f->made.count = 0;
    f->known = f->substitute_count;
    find_rows(f, b, &f->made);
    emit_values(f, b, &f->made, false);
    for (size_t i = 0; i < f->made.count; i++)
        keep_own(f, f->made.values[i], f->made.outputs[i]);
}

ir_value fold_block_end(const fold_block *f, uint32_t number) {
    const ir_module *g = f->s->p->g;
    ir_op end = ir_block_get(g, ir_op_block(g, f->op, 0))->last;
    return ir_op_get(g, end)->operands[number];
}

/* The next values into their places. */
static void emit_ends(fold_block *f, ir_builder *b, bool columns) {
    fold_values ends = {.count = 0};
    for (uint32_t i = 0; i < f->shape.carried; i++) {
        ir_value end = fold_block_end(f, i);
        if (has_columns(f, end) == columns)
            note_value(f, &ends, end, f->memory[i], access_of(f, end));
    }
    emit_values(f, b, &ends, columns);
}

void fold_block_columns(fold_block *f, ir_builder *b) {
    emit_ends(f, b, true);
}

void fold_block_next(fold_block *f, ir_builder *b) {
    emit_ends(f, b, false);
    f->substitute_count = f->known;
}

int fold_block_only_columns(const fold_block *f) {
    int only = -1, count = 0;
    for (uint32_t i = 0; i < f->shape.carried; i++) {
        if (!has_columns(f, fold_block_end(f, i)))
            continue;
        only = (int)i;
        count++;
    }
    return count == 1 ? only : -1;
}

/* ---- a phase of its own ---- */

static int64_t choose_rows(const fold_block *f) {
    int64_t rows = scheduler_rows(f->s, f->shape.dims[f->outer], columns_of(f));
    return round_up(rows, f->s->target->vector_lanes);
}

static ir_builder open_grid(fold_block *f) {
    scheduler *s = f->s;
    ir_attr steps[NEST_AXES];
    ir_value indices[NEST_AXES];
    for (int i = 0; i < f->outer; i++)
        steps[i] = scheduler_int(s, 1);
    f->rows.size = scheduler_parameter(s, IN_FOLD, ROWS, choose_rows(f), &f->rows.name);
    steps[f->outer] = f->rows.name;
    ir_builder b = scheduler_phase(s, "fold", f->outer + 1, f->shape.dims, steps, NULL, indices);
    memcpy(f->outer_index, indices, sizeof *indices * (size_t)f->outer);
    f->first = indices[f->outer];
    return b;
}

void schedule_fold_group(scheduler *s, const plan_group *group) {
    fold_block f;
    if (!fold_block_init(&f, s, group->anchor))
        return;
    for (int i = 0; i < f.shape.rank; i++)
        if (f.shape.dims[i] == 0)
            return;
    ir_builder b = open_grid(&f);
    fold_block_open(&f, &b);
    ir_builder in = scheduler_for(s, &b, "turn", 0, f.shape.turns, scheduler_int(s, 1), 0, &f.turn);
    scheduler_mark_loop(s, &in, f.op, ORDER_SEQ);
    fold_block_rows(&f, &in);
    fold_block_columns(&f, &in);
    fold_block_next(&f, &in);
    f.turn = 0;
    fold_block_store(&f, &b);
}
