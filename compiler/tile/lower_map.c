/* lower_map.c - computations at one place: loading inputs, lowering the body element-wise, storing
 * results. */
#include <string.h>

#include "ops/graph.h"
#include "space/thresholds.h"
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
    if (f.axes > 0) {
        f.column_axis = f.axes - 1;
        f.columns = l->size_of[d->operands[f.axes - 1]];
    }
    if (f.axes > 1 && l->size_of[d->operands[f.axes - 2]] > 1) {
        f.row_axis = f.axes - 2;
        f.rows = l->size_of[d->operands[f.axes - 2]];
    }
    return f;
}

ir_value frame_memory(const frame *f, int i) {
    return f->l->value_of[ir_op_get(f->l->s, f->op)->operands[f->first_input + i]];
}

void frame_access(const frame *f, int i, int64_t *access) {
    const ir_attr_data *list = ir_attr_get(f->l->s, ir_op_attr(f->l->s, f->op, "access"));
    const ir_attr_data *one = ir_attr_get(f->l->s, list->items[i]);
    memset(access, 0, sizeof(int64_t) * (LOWERING_AXES + 1));
    for (uint32_t k = 0; k < one->count && k <= LOWERING_AXES; k++)
        access[k] = ir_attr_get(f->l->s, one->items[k])->integer;
}

ir_value frame_offset(const frame *f, ir_builder *b, const int64_t *access) {
    return tile_affine(b, access[0], f->index, access + 1, f->axes);
}

int64_t frame_row_stride(const frame *f, const int64_t *access) {
    return f->row_axis < 0 ? 0 : access[1 + f->row_axis];
}

int64_t frame_column_stride(const frame *f, const int64_t *access) {
    return f->column_axis < 0 ? 0 : access[1 + f->column_axis];
}

/* Memory that lives longer than a cell. */
static bool is_far(const frame *f, int i) {
    ir_value buffer = ir_op_get(f->l->s, f->op)->operands[f->first_input + i];
    ir_op made = ir_value_get(f->l->s, buffer)->op;
    return !made || strcmp(ir_op_string(f->l->s, made, "space", ""), "cell") != 0;
}

/* What is read `ahead` steps later along an index; whole lines of what is contiguous. Rows that fit
 * into a first cache beside the present one are fetched into that. */
static void fetch_ahead(const frame *f, ir_builder *b, int i, const int64_t *access) {
    int64_t ahead = schedule_step(f->l->s, f->op, "ahead", 0), later[LOWERING_AXES + 1];
    int64_t axis = ir_op_int(f->l->s, f->op, "ahead_axis", -1);
    int64_t row = frame_row_stride(f, access), column = frame_column_stride(f, access);
    if (ahead == 0 || axis < 0 || axis >= f->axes || access[1 + axis] == 0 || !is_far(f, i))
        return;
    memcpy(later, access, sizeof later);
    later[0] += ahead * access[1 + axis] *
                (axis == f->column_axis ? f->columns
                 : axis == f->row_axis  ? f->rows
                                        : 1);
    bool turned = column != 1 && row == 1;
    int64_t bytes =
        ahead * access[1 + axis] * (int64_t)dtype_size(tile_type(b, frame_memory(f, i))->element);
    bool near = turned || (axis < f->axes - 1 && bytes <= AHEAD_BYTES);
    int64_t lines = turned ? f->columns : row ? f->rows : 1, stride = turned ? column : row;
    for (int64_t k = 0; k < lines; k++) {
        ir_op fetch = tile_prefetch(b, frame_memory(f, i), frame_offset(f, b, later),
                                    turned ? f->rows : f->columns);
        if (near)
            ir_op_set_attr(b->m, fetch, "near", ir_attr_bool(b->m, true));
        later[0] += stride;
    }
}

/* A tile of an input: rows and columns along which it stands still stay single. */
static ir_value load_input(const frame *f, ir_builder *b, int i) {
    int64_t access[LOWERING_AXES + 1];
    frame_access(f, i, access);
    int64_t row = frame_row_stride(f, access), column = frame_column_stride(f, access);
    for (size_t k = 0; k < f->l->ready.count; k++)
        if (f->l->ready.items[k].op == f->op && f->l->ready.items[k].input == i)
            return f->l->ready.items[k].tile;
    if (column == 1 || row == 1)
        fetch_ahead(f, b, i, access);
    return tile_load(b, frame_memory(f, i), frame_offset(f, b, access), row ? f->rows : 1,
                     column ? f->columns : 1, row, column);
}

/* ---- bodies ---- */

typedef struct body {
    const frame *f;
    ir_builder *b;
    ir_value *tile_of; /* by schedule value */
} body;

static void access_attr(const body *s, ir_op op, int64_t *access) {
    memset(access, 0, sizeof(int64_t) * (LOWERING_AXES + 1));
    ir_op_ints(s->f->l->s, op, "access", access, LOWERING_AXES + 1);
}

static ir_value body_index(const body *s, ir_op op) {
    int64_t access[LOWERING_AXES + 1];
    access_attr(s, op, access);
    int64_t row = frame_row_stride(s->f, access), column = frame_column_stride(s->f, access);
    ir_value base = frame_offset(s->f, s->b, access);
    ir_named_attr attrs[] = {{"row_step", ir_attr_int(s->b->m, row)},
                             {"column_step", ir_attr_int(s->b->m, column)}};
    ir_type type =
        ir_type_tile(s->b->m, DTYPE_I32, row ? s->f->rows : 1, column ? s->f->columns : 1, 0);
    return ir_build1(s->b, TILE_IOTA, &base, 1, type, attrs, 2);
}

static ir_value body_gather(const body *s, ir_op op) {
    int64_t access[LOWERING_AXES + 1], one = 1;
    const ir_module *m = s->f->l->s;
    ir_builder *b = s->b;
    access_attr(s, op, access);
    int64_t row = frame_row_stride(s->f, access), column = frame_column_stride(s->f, access);
    int64_t stride = ir_op_int(m, op, "stride", 1), limit = ir_op_int(m, op, "limit", 1);
    ir_value memory = frame_memory(s->f, s->f->leading + (int)ir_op_int(m, op, "input", 0));
    ir_value which = s->tile_of[ir_op_get(m, op)->operands[0]],
             offset = frame_offset(s->f, b, access);
    ir_value low[] = {which, tile_constant(b, DTYPE_I32, 0)};
    ir_value high[] = {tile_op(b, TILE_MAXIMUM, low, 2, DTYPE_NONE),
                       tile_constant(b, DTYPE_I32, (uint32_t)(limit - 1))};
    which = tile_op(b, TILE_MINIMUM, high, 2, DTYPE_NONE);
    const ir_type_data *t = tile_type(b, which);
    int64_t rows = row || t->dims[0] > 1 ? s->f->rows : 1,
            columns = column || t->dims[1] > 1 ? s->f->columns : 1;
    if (t->dims[0] == 1 && t->dims[1] == 1) { /* one index for the whole tile: an ordinary load */
        ir_value index = ir_build1(b, TILE_TO_INDEX, &which, 1, ir_type_index(b->m), NULL, 0);
        ir_value parts[] = {offset, index};
        int64_t factors[] = {one, stride};
        return tile_load(b, memory, tile_affine(b, 0, parts, factors, 2), rows, columns, row,
                         column);
    }
    ir_value operands[] = {memory, offset, tile_broadcast(b, which, rows, columns)};
    ir_named_attr attrs[] = {{"row_stride", ir_attr_int(b->m, row)},
                             {"column_stride", ir_attr_int(b->m, column)},
                             {"stride", ir_attr_int(b->m, stride)}};
    dtype element = tile_type(b, memory)->element;
    return ir_build1(b, TILE_GATHER, operands, 3, ir_type_tile(b->m, element, rows, columns, 0),
                     attrs, 3);
}

static ir_value body_elementwise(const body *s, ir_op op) {
    const ir_module *m = s->f->l->s;
    const ir_op_data *d = ir_op_get(m, op);
    ir_value operands[4];
    for (uint32_t i = 0; i < d->operand_count; i++)
        operands[i] = s->tile_of[d->operands[i]];
    if (d->opcode == GRAPH_COMPARE)
        return tile_compare(s->b, ir_op_string(m, op, "predicate", "eq"), operands[0], operands[1]);
    dtype to = ir_type_get(m, ir_value_get(m, d->results[0])->type)->element;
    ir_value y = tile_op(s->b, TILE_NEG + d->opcode - GRAPH_NEG, operands, d->operand_count, to);
    static const char *const numbers[] = {"seed", "stream"};
    ir_op made = ir_value_get(s->b->m, y)->op;
    if (ir_op_int(m, op, "saturate", 0))
        ir_op_set_attr(s->b->m, made, "saturate", ir_attr_bool(s->b->m, true));
    for (int i = 0; i < 2; i++)
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
    case SCHED_GATHER:
        return body_gather(s, op);
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

static bool is_written(const frame *f, ir_value buffer) {
    const ir_op_data *d = ir_op_get(f->l->s, f->op);
    for (uint32_t i = (uint32_t)(f->first_input + f->leading + f->body_inputs);
         i < d->operand_count; i++)
        if (d->operands[i] == buffer)
            return true;
    return false;
}

void frame_load_ahead(const frame *f, ir_builder *b) {
    const ir_module *m = f->l->s;
    const ir_block_data *block = ir_block_get(m, ir_op_block(m, f->op, 0));
    for (int i = f->leading; i < f->leading + f->body_inputs; i++) {
        int64_t access[LOWERING_AXES + 1];
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

void frame_body(const frame *f, ir_builder *b, ir_value *yields) {
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

void frame_store(const frame *f, ir_builder *b, int i, ir_value x) {
    int64_t access[LOWERING_AXES + 1];
    int number = f->leading + f->body_inputs + i;
    ir_value buffer = ir_op_get(f->l->s, f->op)->operands[f->first_input + number];
    frame_access(f, number, access);
    int64_t row = frame_row_stride(f, access), column = frame_column_stride(f, access);
    int64_t rows = row ? f->rows : 1, columns = column ? f->columns : 1;
    bool canonical = f->l->is_output[buffer] && dtype_is_float(tile_type(b, x)->element);
    ir_op store = tile_store(b, frame_memory(f, number), frame_offset(f, b, access),
                             tile_broadcast(b, x, rows, columns), row, column, canonical);
    if (schedule_step(f->l->s, f->op, "stream", 0))
        ir_op_set_attr(b->m, store, "stream", ir_attr_bool(b->m, true));
}

void lower_map(lowering *l, ir_builder *b, ir_op op) {
    ir_value yields[8];
    frame f = frame_of(l, op);
    int outputs = (int)ir_op_get(l->s, op)->operand_count - f.axes - f.body_inputs;
    frame_body(&f, b, yields);
    if (ir_op_int(l->s, op, "group", 0)) {
        yields[0] = tile_group(b, yields[0]);
        f.row_axis = -1;
        f.rows = 1;
    }
    for (int i = 0; i < outputs; i++)
        frame_store(&f, b, i, yields[i]);
}
