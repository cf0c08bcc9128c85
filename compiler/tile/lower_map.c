/* lower_map.c - computations at one place: loading inputs, lowering the body element-wise, storing
 * results. */
#include <string.h>

#include "ops/graph.h"
#include "parameters/thresholds.h"
#include "tile/lowering.h"

frame frame_of(lowering *l, ir_op op) {
    const ir_op_data *d = ir_op_get(l->s, op);
    frame f = {.l = l, .op = op, .row_axis = -1, .column_axis = -1, .rows = 1, .columns = 1};
    f.axes = (int)ir_op_int(l->s, op, "axes", 0);
    f.first_input = f.axes;
    if (d->opcode == SCHED_DOT && dot_shape_read(l->s, op, &f.shape))
        f.leading = f.shape.leading;
    f.body_inputs = (int)ir_op_int(l->s, op, "inputs", 0) - f.leading;
    for (int i = 0; i < f.axes; i++)
        f.index[i] = l->value_of[d->operands[i]];
    const int last = d->opcode == SCHED_DOT ? f.shape.index[AXIS_N] : f.axes - 1;
    if (last >= 0) {
        f.column_axis = last;
        f.columns = l->size_of[d->operands[last]];
        f.valid_columns = l->valid_of[d->operands[last]];
    }
    if (last > 0 && l->size_of[d->operands[last - 1]] > 1) {
        f.row_axis = last - 1;
        f.rows = l->size_of[d->operands[last - 1]];
        f.valid_rows = l->valid_of[d->operands[last - 1]];
    }
    return f;
}

ir_value frame_memory(const frame *f, int i) {
    return lowering_memory(f->l, ir_op_get(f->l->s, f->op)->operands[f->first_input + i]);
}

void frame_numbers(const frame *f, ir_attr list, ir_dim *numbers, uint32_t most) {
    const ir_attr_data *d = ir_attr_get(f->l->s, list);
    for (uint32_t k = 0; k < d->count && k < most; k++)
        numbers[k] = ir_attr_get(f->l->s, d->items[k])->integer;
}

void frame_access(const frame *f, int i, ir_dim *access) {
    const ir_attr_data *list = ir_attr_get(f->l->s, ir_op_attr(f->l->s, f->op, "access"));
    memset(access, 0, sizeof(ir_dim) * (LOWERING_AXES + 1));
    frame_numbers(f, list->items[i], access, LOWERING_AXES + 1);
}

ir_value frame_offset(const frame *f, ir_builder *b, const ir_dim *access) {
    return lowering_affine(f->l, b, access[0], f->index, access + 1, f->axes);
}

ir_dim frame_row_stride(const frame *f, const ir_dim *access) {
    return f->row_axis < 0 ? 0 : access[1 + f->row_axis];
}

ir_dim frame_column_stride(const frame *f, const ir_dim *access) {
    return f->column_axis < 0 ? 0 : access[1 + f->column_axis];
}

/* A stride is a number of the window, or an index of it. */
static void set_stride(const frame *f, tile_window *w, ir_dim stride, tile_more which,
                       int64_t *number) {
    if (ir_dim_is_static(stride))
        *number = stride;
    else
        w->more[which] = lowering_dim(f->l, &f->l->dims.top, stride);
}

tile_window frame_window(const frame *f, const ir_dim *access) {
    ir_dim row = frame_row_stride(f, access), column = frame_column_stride(f, access);
    tile_window w = {.rows = row ? f->rows : 1, .columns = column ? f->columns : 1};
    set_stride(f, &w, row, TILE_MORE_ROW_STRIDE, &w.row_stride);
    set_stride(f, &w, column, TILE_MORE_COLUMN_STRIDE, &w.column_stride);
    w.more[TILE_MORE_VALID_ROWS] = row ? f->valid_rows : 0;
    w.more[TILE_MORE_VALID_COLUMNS] = column ? f->valid_columns : 0;
    return w;
}

/* Memory that lives longer than a workgroup. */
static bool is_far(const frame *f, int i) {
    ir_value buffer = ir_op_get(f->l->s, f->op)->operands[f->first_input + i];
    ir_op made = ir_value_get(f->l->s, buffer)->op;
    return !made || strcmp(ir_op_string(f->l->s, made, "space", ""), "workgroup") != 0;
}

/* Fetches what is read `ahead` steps later along an index; whole lines of what is contiguous. Rows
 * that fit into a first cache beside the present one are fetched into that. */
static void fetch_ahead(const frame *f, ir_builder *b, int i, const ir_dim *access) {
    int64_t ahead = schedule_step(f->l->s, f->op, "ahead", 0), later[LOWERING_AXES + 1];
    int64_t axis = ir_op_int(f->l->s, f->op, "ahead_axis", -1);
    ir_dim row = frame_row_stride(f, access), column = frame_column_stride(f, access);
    if (ahead == 0 || axis < 0 || axis >= f->axes || access[1 + axis] == 0 || !is_far(f, i))
        return;
    memcpy(later, access, sizeof later);
    int64_t each = axis == f->column_axis ? f->columns : axis == f->row_axis ? f->rows : 1;
    later[0] = ir_dim_add_scaled(b->m, later[0], access[1 + axis], ahead * each);
    bool turned = column != 1 && row == 1;
    int64_t bytes = ahead * ir_dim_estimate(b->m, access[1 + axis], SCHEDULE_USUAL_EXTENT) *
                    (int64_t)dtype_size(tile_type(b, frame_memory(f, i))->element);
    bool near = turned || (axis < f->axes - 1 && bytes <= AHEAD_BYTES);
    int64_t lines = turned ? f->columns : row ? f->rows : 1;
    ir_dim stride = turned ? column : row;
    for (int64_t k = 0; k < lines; k++) {
        ir_op fetch = tile_prefetch(b, frame_memory(f, i), frame_offset(f, b, later),
                                    turned ? f->rows : f->columns);
        if (near)
            ir_op_set_attr(b->m, fetch, "near", ir_attr_bool(b->m, true));
        later[0] = ir_dim_add_scaled(b->m, later[0], stride, 1);
    }
}

/* A tile of an input: rows and columns along which it stands still stay single. */
static ir_value load_input(const frame *f, ir_builder *b, int i) {
    ir_dim access[LOWERING_AXES + 1];
    frame_access(f, i, access);
    ir_dim row = frame_row_stride(f, access), column = frame_column_stride(f, access);
    for (size_t k = 0; k < f->l->ready.count; k++)
        if (f->l->ready.items[k].op == f->op && f->l->ready.items[k].input == i)
            return f->l->ready.items[k].tile;
    ir_value turned = lower_turned(f, b, i);
    if (turned)
        return turned;
    if (column == 1 || row == 1)
        fetch_ahead(f, b, i, access);
    tile_window w = frame_window(f, access);
    return tile_load_window(b, frame_memory(f, i), frame_offset(f, b, access), &w);
}

/* ---- bodies ---- */

typedef struct body {
    frame *f;
    ir_builder *b;
    ir_value *tile_of; /* by schedule value */
} body;

static void access_attr(const body *s, ir_op op, ir_dim *access) {
    memset(access, 0, sizeof(ir_dim) * (LOWERING_AXES + 1));
    ir_op_ints(s->f->l->s, op, "access", access, LOWERING_AXES + 1);
}

static ir_value iota(ir_builder *b, ir_value base, int64_t rows, int64_t columns, int64_t row,
                     int64_t column) {
    ir_named_attr attrs[] = {{"row_step", ir_attr_int(b->m, row)},
                             {"column_step", ir_attr_int(b->m, column)}};
    return ir_build1(b, TILE_IOTA, &base, 1, ir_type_tile(b->m, DTYPE_I32, rows, columns), attrs,
                     2);
}

/* x + step * (0, 1, ...) along rows or columns, where the step is no number. */
static ir_value add_steps(const body *s, ir_value x, ir_dim step, int64_t rows, int64_t columns) {
    ir_builder *b = s->b;
    ir_value numbers = iota(b, tile_index(b, 0), rows, columns, rows > 1, columns > 1);
    ir_value scaled[] = {numbers, tile_from_index(b, lowering_dim(s->f->l, b, step))};
    ir_value sum[] = {x, tile_op(b, TILE_MUL, scaled, 2, DTYPE_NONE)};
    return tile_op(b, TILE_ADD, sum, 2, DTYPE_NONE);
}

static ir_value body_index(const body *s, ir_op op) {
    ir_dim access[LOWERING_AXES + 1];
    access_attr(s, op, access);
    ir_dim row = frame_row_stride(s->f, access), column = frame_column_stride(s->f, access);
    bool row_known = ir_dim_is_static(row), column_known = ir_dim_is_static(column);
    ir_value base = frame_offset(s->f, s->b, access);
    ir_value x = iota(s->b, base, row && row_known ? s->f->rows : 1,
                      column && column_known ? s->f->columns : 1, row_known ? row : 0,
                      column_known ? column : 0);
    x = row_known ? x : add_steps(s, x, row, s->f->rows, 1);
    return column_known ? x : add_steps(s, x, column, 1, s->f->columns);
}

/* The largest index below a limit, as a 1x1 tile. */
static ir_value last_index(const frame *f, ir_builder *b, ir_dim limit) {
    if (ir_dim_is_static(limit))
        return tile_constant(b, DTYPE_I32, (uint32_t)(limit - 1));
    return tile_from_index(b, lowering_dim(f->l, b, ir_dim_add_scaled(b->m, limit, -1, 1)));
}

/* Indices, from 0 to below a limit. */
static ir_value clamped(const frame *f, ir_builder *b, ir_value indices, ir_dim limit) {
    ir_value low[] = {indices, tile_constant(b, DTYPE_I32, 0)};
    ir_value high[] = {tile_op(b, TILE_MAXIMUM, low, 2, DTYPE_NONE), last_index(f, b, limit)};
    return tile_op(b, TILE_MINIMUM, high, 2, DTYPE_NONE);
}

/* An offset further on, by an index of one element. */
static ir_value further(const frame *f, ir_builder *b, ir_value offset, ir_value which,
                        ir_dim stride) {
    ir_value parts[] = {offset,
                        ir_build1(b, TILE_TO_INDEX, &which, 1, ir_type_index(b->m), NULL, 0)};
    ir_dim factors[] = {1, stride};
    return lowering_affine(f->l, b, 0, parts, factors, 2);
}

static bool is_written(const frame *f, ir_value buffer) {
    const ir_op_data *d = ir_op_get(f->l->s, f->op);
    for (uint32_t i = (uint32_t)(f->first_input + f->leading + f->body_inputs);
         i < d->operand_count; i++)
        if (d->operands[i] == buffer)
            return true;
    return false;
}

/* Nothing of a tile is there where its index is none from 0 to below a limit. */
static void leave_out(const frame *f, ir_builder *b, ir_value which, ir_dim limit, tile_window *w) {
    ir_value inside[] = {tile_compare(b, "ge", which, tile_constant(b, DTYPE_I32, 0)),
                         tile_compare(b, "le", which, last_index(f, b, limit))};
    ir_value choice[] = {tile_op(b, TILE_AND, inside, 2, DTYPE_NONE),
                         tile_constant(b, DTYPE_I32, (uint64_t)w->columns),
                         tile_constant(b, DTYPE_I32, 0)};
    ir_value there = tile_op(b, TILE_SELECT, choice, 3, DTYPE_NONE);
    there = ir_build1(b, TILE_TO_INDEX, &there, 1, ir_type_index(b->m), NULL, 0);
    ir_value *valid = &w->more[TILE_MORE_VALID_COLUMNS];
    *valid = *valid ? tile_index_min(b, *valid, there) : there;
}

static ir_value body_gather(const body *s, ir_op op) {
    ir_dim access[LOWERING_AXES + 1];
    const ir_module *m = s->f->l->s;
    ir_builder *b = s->b;
    access_attr(s, op, access);
    ir_dim stride = ir_op_int(m, op, "stride", 1), limit = ir_op_int(m, op, "limit", 1);
    const int input = s->f->leading + (int)ir_op_int(m, op, "input", 0);
    const ir_value buffer = ir_op_get(m, s->f->op)->operands[s->f->first_input + input];
    ir_value memory = frame_memory(s->f, input);
    ir_value which = s->tile_of[ir_op_get(m, op)->operands[0]],
             offset = frame_offset(s->f, b, access);
    which = clamped(s->f, b, which, limit);
    const ir_type_data *t = tile_type(b, which);
    tile_window w = frame_window(s->f, access);
    if (t->dims[0] == 1 && t->dims[1] == 1) { /* one index for the whole tile: an ordinary load */
        if (is_written(s->f, buffer))
            leave_out(s->f, b, s->tile_of[ir_op_get(m, op)->operands[0]], limit, &w);
        return tile_load_window(b, memory, further(s->f, b, offset, which, stride), &w);
    }
    if (t->dims[0] > 1) {
        w.rows = s->f->rows;
        w.more[TILE_MORE_VALID_ROWS] = s->f->valid_rows;
    }
    if (t->dims[1] > 1) {
        w.columns = s->f->columns;
        w.more[TILE_MORE_VALID_COLUMNS] = s->f->valid_columns;
    }
    w.stride = ir_dim_is_static(stride) ? stride : 0;
    if (!ir_dim_is_static(stride))
        w.more[TILE_MORE_STRIDE] = lowering_dim(s->f->l, b, stride);
    return tile_gather_window(b, memory, offset, tile_broadcast(b, which, w.rows, w.columns), &w);
}

static ir_value body_elementwise(const body *s, ir_op op) {
    const ir_module *m = s->f->l->s;
    const ir_op_data *d = ir_op_get(m, op);
    ir_value operands[4];
    for (uint32_t i = 0; i < d->operand_count; i++)
        operands[i] = s->tile_of[d->operands[i]];
    if (d->opcode == GRAPH_COMPARE)
        return tile_compare(s->b, ir_op_string(m, op, "predicate", "eq"), operands[0], operands[1]);
    dtype to = ir_type_of(m, d->results[0])->element;
    ir_value y = tile_of_graph(s->b, d->opcode, operands, d->operand_count, to);
    static const char *const numbers[] = {"seed", "stream", "site"};
    ir_op made = ir_value_get(s->b->m, y)->op;
    if (ir_op_int(m, op, "saturate", 0))
        ir_op_set_attr(s->b->m, made, "saturate", ir_attr_bool(s->b->m, true));
    for (int i = 0; i < 3; i++)
        if (ir_op_attr(m, op, numbers[i]))
            ir_op_set_attr(s->b->m, made, numbers[i],
                           ir_attr_int(s->b->m, ir_op_int(m, op, numbers[i], 0)));
    return y;
}

static ir_value body_op(const body *s, ir_op op) {
    const ir_module *m = s->f->l->s;
    switch (ir_op_get(m, op)->opcode) {
    case GRAPH_CONSTANT: {
        const ir_attr_data *bits = ir_attr_get(m, ir_op_attr(m, op, "value"));
        return tile_constant(s->b, bits->element, bits->bits);
    }
    case SCHED_INDEX:
        return body_index(s, op);
    case SCHED_EXTENT:
        return tile_from_index(s->b, lowering_dim(s->f->l, s->b, ir_op_int(m, op, "of", 0)));
    case SCHED_GATHER:
        return body_gather(s, op);
    case SCHED_RUNNING:
        return lowering_running(s->f, s->b, s->tile_of[ir_op_get(m, op)->operands[0]]);
    default:
        return body_elementwise(s, op);
    }
}

/* An input that only a gather uses is not loaded. */
static bool is_used(const ir_module *m, const ir_block_data *block, ir_value v) {
    for (ir_op op = block->first; op; op = ir_op_get(m, op)->next)
        for (uint32_t i = 0; i < ir_op_get(m, op)->operand_count; i++)
            if (ir_op_get(m, op)->operands[i] == v)
                return true;
    return false;
}

void frame_load_ahead(const frame *f, ir_builder *b) {
    const ir_module *m = f->l->s;
    const ir_block_data *block = ir_block_get(m, ir_op_block(m, f->op, 0));
    for (int i = f->leading; i < f->leading + f->body_inputs; i++) {
        ir_dim access[LOWERING_AXES + 1];
        ir_value buffer = ir_op_get(m, f->op)->operands[f->first_input + i];
        frame_access(f, i, access);
        if (frame_row_stride(f, access) || frame_column_stride(f, access) ||
            !is_used(m, block, block->arguments[(f->leading != 0) + i - f->leading]) ||
            is_written(f, buffer))
            continue;
        ready_input ready = {f->op, i, load_input(f, b, i)};
        vec_push(&f->l->ready, ready);
    }
}

void frame_body(frame *f, ir_builder *b, ir_value *yields) {
    const ir_module *m = f->l->s;
    const ir_block_data *block = ir_block_get(m, ir_op_block(m, f->op, 0));
    body s = {f, b, base_calloc(ir_value_count(m) + 1, sizeof(ir_value))};
    uint32_t first = f->accumulator != 0;
    ir_location around = b->location;
    if (first)
        s.tile_of[block->arguments[0]] = f->accumulator;
    for (int i = 0; i < f->body_inputs; i++)
        if (is_used(m, block, block->arguments[first + (uint32_t)i]))
            s.tile_of[block->arguments[first + (uint32_t)i]] = load_input(f, b, f->leading + i);
    for (ir_op op = block->first; op; op = ir_op_get(m, op)->next) {
        const ir_op_data *d = ir_op_get(m, op);
        if (d->opcode != SCHED_YIELD) {
            b->location = d->location;
            s.tile_of[d->results[0]] = body_op(&s, op);
            continue;
        }
        for (uint32_t i = 0; i < d->operand_count; i++)
            yields[i] = s.tile_of[d->operands[i]];
    }
    b->location = around;
    free(s.tile_of);
}

/* A tile with more rows or columns than there are goes where one of them would. */
static void keep_padded(const frame *f, tile_window *w) {
    w->rows = f->rows;
    w->columns = f->columns;
    w->more[TILE_MORE_VALID_ROWS] = f->valid_rows;
    w->more[TILE_MORE_VALID_COLUMNS] = f->valid_columns;
}

void frame_store(const frame *f, ir_builder *b, int i, ir_value x) {
    ir_dim access[LOWERING_AXES + 1];
    int number = f->leading + f->body_inputs + i;
    ir_value buffer = ir_op_get(f->l->s, f->op)->operands[f->first_input + number];
    frame_access(f, number, access);
    tile_window w = frame_window(f, access);
    if (f->padded)
        keep_padded(f, &w);
    ir_value offset = frame_offset(f, b, access);
    if (f->at) {
        const ir_dim limit = ir_op_int(f->l->s, f->op, "limit", 1);
        leave_out(f, b, f->at, limit, &w);
        offset = further(f, b, offset, clamped(f, b, f->at, limit),
                         ir_op_int(f->l->s, f->op, "stride", 1));
    }
    bool canonical = f->l->is_output[buffer] && dtype_is_float(tile_type(b, x)->element);
    ir_op store = tile_store_window(b, frame_memory(f, number), offset,
                                    tile_broadcast(b, x, w.rows, w.columns), &w, canonical);
    if (schedule_step(f->l->s, f->op, "stream", 0))
        ir_op_set_attr(b->m, store, "stream", ir_attr_bool(b->m, true));
}

/* Rows of which not all are there, side by side: the others are 0. */
static ir_value group_rows(const frame *f, ir_builder *b, ir_value x) {
    if (f->valid_rows) {
        ir_value rows = iota(b, tile_index(b, 0), f->rows, 1, 1, 0);
        ir_value there = tile_compare(b, "lt", rows, tile_from_index(b, f->valid_rows));
        ir_value operands[] = {there, x, tile_constant(b, tile_type(b, x)->element, 0)};
        x = tile_op(b, TILE_SELECT, operands, 3, DTYPE_NONE);
    }
    return tile_group(b, x);
}

void lower_map(lowering *l, ir_builder *b, ir_op op) {
    ir_value yields[SCHEDULE_OUTPUTS + 1];
    frame f = frame_of(l, op);
    int outputs = (int)ir_op_get(l->s, op)->operand_count - f.axes - f.body_inputs;
    frame_body(&f, b, yields);
    if (ir_op_attr(l->s, op, "limit"))
        f.at = yields[outputs];
    if (ir_op_int(l->s, op, "group", 0)) {
        yields[0] = group_rows(&f, b, yields[0]);
        f.row_axis = -1;
        f.rows = 1;
        f.valid_rows = 0;
    }
    for (int i = 0; i < outputs; i++)
        frame_store(&f, b, i, yields[i]);
}
