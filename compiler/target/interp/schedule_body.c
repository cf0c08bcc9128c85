/* schedule_body.c - the body of a computation of a schedule, for a run of elements at once; maps
 * are no more than that. */
#include <stdlib.h>
#include <string.h>

#include "base/arena.h"
#include "ops/reductions.h"
#include "target/interp/schedule_walk.h"

/* ---- places ---- */

schedule_place schedule_place_of(schedule_walker *w, ir_op op) {
    const ir_op_data *d = ir_op_get(w->m, op);
    dot_shape shape;
    const bool dot = d->opcode == SCHED_DOT && dot_shape_read(w->m, op, &shape);
    schedule_place p = {.w = w,
                        .op = op,
                        .axes = (int)ir_op_int(w->m, op, "axes", 0),
                        .row_axis = -1,
                        .column_axis = -1,
                        .rows = 1,
                        .columns = 1,
                        .leading = dot ? (uint32_t)shape.leading : 0};
    p.inputs = (uint32_t)ir_op_int(w->m, op, "inputs", 0) - p.leading;
    for (int i = 0; i < p.axes; i++)
        p.index[i] = w->values[d->operands[i]].index;
    const int last = dot ? shape.index[AXIS_N] : p.axes - 1;
    for (int i = last + 1; dot && i < p.axes; i++)
        p.index[i] = 0;
    if (last >= 0) {
        p.column_axis = last;
        p.columns = w->values[d->operands[last]].count;
    }
    if (last > 0 && w->values[d->operands[last - 1]].count > 1) {
        p.row_axis = last - 1;
        p.rows = w->values[d->operands[last - 1]].count;
    }
    return p;
}

static int64_t affine(const schedule_place *p, const ir_attr_data *access, int64_t row,
                      int64_t column) {
    int64_t sum = access->count ? ir_attr_get(p->w->m, access->items[0])->integer : 0;
    for (uint32_t i = 1; i < access->count; i++) {
        const int axis = (int)i - 1;
        const int64_t at = p->index[axis] + (axis == p->row_axis      ? row
                                             : axis == p->column_axis ? column
                                                                      : 0);
        sum += ir_attr_get(p->w->m, access->items[i])->integer * at;
    }
    return sum;
}

int64_t schedule_offset(const schedule_place *p, uint32_t i, int64_t row, int64_t column) {
    const ir_attr_data *list = ir_attr_get(p->w->m, ir_op_attr(p->w->m, p->op, "access"));
    const bool beside = p->packed && i == 1;
    return affine(p, ir_attr_get(p->w->m, list->items[i]), row, beside ? 0 : column) +
           (beside ? column : 0);
}

schedule_value *schedule_buffer(const schedule_place *p, uint32_t i) {
    return &p->w->values[ir_op_get(p->w->m, p->op)->operands[(uint32_t)p->axes + i]];
}

bool schedule_touch(schedule_walker *w, schedule_value *buffer, int64_t at, bool write) {
    if (at < 0 || at >= tensor_count(&buffer->memory))
        return status_set(w->st, STATUS_INVALID, "an access is outside of its buffer");
    if (!buffer->writer)
        return true;
    const int64_t other = buffer->writer[at];
    if (other >= w->first && other != w->workgroup)
        return status_set(w->st, STATUS_INVALID,
                          "two workgroups that run in any order meet in an element of a buffer");
    if (write)
        buffer->writer[at] = w->workgroup;
    return true;
}

void schedule_place_release(schedule_place *p) {
    const ir_block_data *block = ir_block_get(p->w->m, ir_op_block(p->w->m, p->op, 0));
    for (uint32_t i = 0; p->lanes && i < block->argument_count; i++)
        tensor_release(&p->lanes[block->arguments[i]]);
    for (ir_op op = block->first; p->lanes && op; op = ir_op_get(p->w->m, op)->next)
        for (uint32_t i = 0; i < ir_op_get(p->w->m, op)->result_count; i++)
            tensor_release(&p->lanes[ir_op_get(p->w->m, op)->results[i]]);
    free(p->lanes);
    p->lanes = NULL;
}

/* ---- operations of a body ---- */

static bool make_lanes(schedule_place *p, ir_value v, tensor **out) {
    const int64_t count = schedule_lanes(p);
    *out = &p->lanes[v];
    p->w->work -= count;
    return tensor_init(*out, ir_type_of(p->w->m, v)->element, 1, &count, p->w->st);
}

static bool load_lanes(schedule_place *p, uint32_t i, tensor *to) {
    schedule_value *buffer = schedule_buffer(p, i);
    const tensor *from = &buffer->memory;
    const size_t size = dtype_size(from->type);
    bool ok = true;
    for (int64_t lane = 0; lane < schedule_lanes(p) && ok; lane++) {
        const int64_t at = schedule_offset(p, i, lane / p->columns, lane % p->columns);
        ok = schedule_touch(p->w, buffer, at, false);
        if (ok)
            memcpy((char *)to->data + (size_t)lane * size,
                   (const char *)from->data + (size_t)at * size, size);
    }
    return ok;
}

static bool is_written(const schedule_place *p, uint32_t input) {
    const ir_op_data *d = ir_op_get(p->w->m, p->op);
    const uint32_t first = (uint32_t)p->axes;
    bool written = false;
    for (uint32_t i = first + p->leading + p->inputs; i < d->operand_count; i++)
        written |= d->operands[i] == d->operands[first + input];
    return written;
}

/* An element that is there to be changed is not read where there is no place for it. */
static bool gather(schedule_place *p, ir_op op, tensor *to) {
    const ir_module *m = p->w->m;
    const uint32_t input = p->leading + (uint32_t)ir_op_int(m, op, "input", 0);
    schedule_value *buffer = schedule_buffer(p, input);
    const tensor *from = &buffer->memory, *which = &p->lanes[ir_op_get(m, op)->operands[0]];
    const ir_attr_data *access = ir_attr_get(m, ir_op_attr(m, op, "access"));
    const int64_t limit = ir_op_int(m, op, "limit", 1), stride = ir_op_int(m, op, "stride", 1);
    const size_t size = dtype_size(from->type);
    const bool changes = is_written(p, input);
    bool ok = true;
    for (int64_t lane = 0; lane < schedule_lanes(p) && ok; lane++) {
        int64_t number = ((const int32_t *)which->data)[lane];
        if (changes && (number < 0 || number >= limit))
            continue;
        number = number < 0 ? 0 : number >= limit ? limit - 1 : number;
        const int64_t at =
            affine(p, access, lane / p->columns, lane % p->columns) + number * stride;
        ok = schedule_touch(p->w, buffer, at, false);
        if (ok)
            memcpy((char *)to->data + (size_t)lane * size,
                   (const char *)from->data + (size_t)at * size, size);
    }
    return ok;
}

static void put_index(const schedule_place *p, ir_op op, tensor *to) {
    const ir_attr_data *access = ir_attr_get(p->w->m, ir_op_attr(p->w->m, op, "access"));
    for (int64_t lane = 0; lane < schedule_lanes(p); lane++)
        ((int32_t *)to->data)[lane] =
            (int32_t)affine(p, access, lane / p->columns, lane % p->columns);
}

/* The lanes are along the scanned axis: each is put to those before it. The first is itself. */
static bool run_sums(schedule_place *p, ir_op op, tensor *to) {
    const ir_module *m = p->w->m;
    const char *kind = reduction_combines(ir_op_string(m, p->op, "kind", "cumsum"));
    tensor parts[2], *sum = &parts[0], *one = &parts[1];
    const int64_t single = 1;
    const size_t size = dtype_size(to->type);
    const char *x = p->lanes[ir_op_get(m, op)->operands[0]].data;
    bool ok = tensor_init(sum, to->type, 1, &single, p->w->st);
    if (!ok || !tensor_init(one, to->type, 1, &single, p->w->st))
        return false;
    const tensor *const in[] = {sum, one};
    const int opcode = reduction_graph_opcode(kind);
    for (int64_t lane = 0; lane < schedule_lanes(p) && ok; lane++) {
        tensor next;
        char *place = (char *)to->data + (size_t)lane * size;
        memcpy(one->data, x + (size_t)lane * size, size);
        ok = tensor_init(&next, to->type, 1, &single, p->w->st);
        const interp_step step = {m, op, opcode, in, 2, &next};
        if (ok && lane == 0)
            memcpy(next.data, one->data, size);
        else
            ok = ok && interp_elementwise(&step, p->w->st);
        tensor_release(sum);
        *sum = next;
        memcpy(place, sum->data, size);
    }
    tensor_release_all(parts, 2);
    return ok;
}

static bool run_graph_op(schedule_place *p, ir_op op, tensor *to) {
    const ir_op_data *d = ir_op_get(p->w->m, op);
    const tensor *in[8];
    if (d->operand_count > 8)
        return status_set(p->w->st, STATUS_UNAVAILABLE, "an operation takes too many operands");
    for (uint32_t i = 0; i < d->operand_count; i++)
        in[i] = &p->lanes[d->operands[i]];
    const interp_step step = {p->w->m, op, d->opcode, in, d->operand_count, to};
    const bool ok = interp_evaluate(&step, p->w->st);
    if (ok && d->operand_count == 0)
        interp_repeat(to);
    return ok;
}

static bool run_body_op(schedule_place *p, ir_op op) {
    const ir_op_data *d = ir_op_get(p->w->m, op);
    tensor *to;
    if (!make_lanes(p, d->results[0], &to))
        return false;
    switch (d->opcode) {
    case SCHED_INDEX:
        put_index(p, op, to);
        return true;
    case SCHED_EXTENT:
        *(int32_t *)to->data = (int32_t)ir_op_int(p->w->m, op, "of", 0);
        interp_repeat(to);
        return true;
    case SCHED_GATHER:
        return gather(p, op, to);
    case SCHED_RUNNING:
        return run_sums(p, op, to);
    default:
        return run_graph_op(p, op, to);
    }
}

/* Inputs that only a gather reads are not read where the element is. */
static bool is_used(const ir_module *m, const ir_block_data *block, ir_value v) {
    bool used = false;
    for (ir_op op = block->first; op && !used; op = ir_op_get(m, op)->next)
        for (uint32_t i = 0; i < ir_op_get(m, op)->operand_count; i++)
            used |= ir_op_get(m, op)->operands[i] == v;
    return used;
}

bool schedule_body(schedule_place *p, tensor *first) {
    const ir_module *m = p->w->m;
    const ir_block_data *block = ir_block_get(m, ir_op_block(m, p->op, 0));
    const uint32_t skipped = first != NULL;
    p->lanes = base_calloc((size_t)ir_value_count(m) + 1, sizeof *p->lanes);
    if (first) {
        p->lanes[block->arguments[0]] = *first;
        *first = (tensor){0};
    }
    bool ok =
        p->w->work > 0 || status_set(p->w->st, STATUS_UNAVAILABLE, "that is too much to compute");
    for (uint32_t i = 0; i < p->inputs && ok; i++) {
        const ir_value v = block->arguments[skipped + i];
        tensor *to;
        if (is_used(m, block, v))
            ok = make_lanes(p, v, &to) && load_lanes(p, p->leading + i, to);
    }
    for (ir_op op = block->first; op != block->last && ok; op = ir_op_get(m, op)->next)
        ok = run_body_op(p, op);
    return ok;
}

const tensor *schedule_yield(const schedule_place *p, uint32_t i) {
    const ir_module *m = p->w->m;
    const ir_op end = ir_block_get(m, ir_op_block(m, p->op, 0))->last;
    return &p->lanes[ir_op_get(m, end)->operands[i]];
}

/* ---- stores ---- */

static bool store_at(schedule_place *p, uint32_t number, int64_t at, const tensor *lanes,
                     int64_t lane) {
    const ir_value buffer = ir_op_get(p->w->m, p->op)->operands[(uint32_t)p->axes + number];
    tensor *to = &p->w->values[buffer].memory;
    const size_t size = dtype_size(to->type);
    if (!schedule_touch(p->w, &p->w->values[buffer], at, true))
        return false;
    char *place = (char *)to->data + (size_t)at * size;
    memcpy(place, (const char *)lanes->data + (size_t)lane * size, size);
    if (p->w->is_output[buffer] && dtype_is_float(to->type) &&
        dtype_is_nan(to->type, dtype_load_bits(to->type, place, 0)))
        dtype_store(to->type, place, 0, (double)__builtin_nan(""));
    return true;
}

bool schedule_store(schedule_place *p, uint32_t i, const tensor *lanes) {
    const uint32_t number = p->leading + p->inputs + i;
    bool ok = true;
    for (int64_t lane = 0; lane < schedule_lanes(p) && ok; lane++)
        ok = store_at(p, number, schedule_offset(p, number, lane / p->columns, lane % p->columns),
                      lanes, lane);
    return ok;
}

/* ---- maps ---- */

/* Further on by an index that is data; what is at none is left out. */
static bool scatter(schedule_place *p, uint32_t i, const tensor *lanes, const tensor *which) {
    const uint32_t number = p->leading + p->inputs + i;
    const int64_t limit = ir_op_int(p->w->m, p->op, "limit", 1),
                  stride = ir_op_int(p->w->m, p->op, "stride", 1);
    bool ok = true;
    for (int64_t lane = 0; lane < schedule_lanes(p) && ok; lane++) {
        const int64_t at = ((const int32_t *)which->data)[lane];
        if (at >= 0 && at < limit)
            ok = store_at(p, number,
                          schedule_offset(p, number, lane / p->columns, lane % p->columns) +
                              at * stride,
                          lanes, lane);
    }
    return ok;
}

/* Rows above each other are one element; those that are not there are 0. */
static bool store_groups(schedule_place *p, const tensor *lanes) {
    const uint32_t number = p->leading + p->inputs;
    const size_t size = dtype_size(lanes->type);
    const int64_t columns = p->columns, rows = p->rows;
    tensor groups;
    bool ok = tensor_init(&groups, schedule_buffer(p, number)->memory.type, 1, &columns, p->w->st);
    const size_t group = ok ? dtype_size(groups.type) : 0;
    for (int64_t c = 0; c < columns && ok; c++)
        for (int64_t r = 0; r < rows && (size_t)(r + 1) * size <= group; r++)
            memcpy((char *)groups.data + (size_t)c * group + (size_t)r * size,
                   (const char *)lanes->data + (size_t)(r * columns + c) * size, size);
    p->rows = 1;
    ok = ok && schedule_store(p, 0, &groups);
    p->rows = rows;
    tensor_release(&groups);
    return ok;
}

bool schedule_map(schedule_walker *w, ir_op op) {
    schedule_place p = schedule_place_of(w, op);
    const uint32_t outputs =
        ir_op_get(w->m, op)->operand_count - (uint32_t)p.axes - p.leading - p.inputs;
    bool ok = schedule_body(&p, NULL);
    if (ok && ir_op_attr(w->m, op, "group"))
        ok = store_groups(&p, schedule_yield(&p, 0));
    else
        for (uint32_t i = 0; i < outputs && ok; i++)
            ok = ir_op_attr(w->m, op, "limit")
                     ? scatter(&p, i, schedule_yield(&p, i), schedule_yield(&p, outputs))
                     : schedule_store(&p, i, schedule_yield(&p, i));
    schedule_place_release(&p);
    return ok;
}
