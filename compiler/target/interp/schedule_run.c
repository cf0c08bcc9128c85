/* schedule_run.c - the walk of schedule_run: phases, workgroups, loops and buffers. */
#include "target/interp/schedule_run.h"

#include <stdlib.h>
#include <string.h>

#include "base/arena.h"
#include "ops/orders.h"
#include "target/interp/schedule_walk.h"

/* Some seconds. */
static const int64_t work_most = INT64_C(1) << 28;

/* ---- what can be evaluated ---- */

static bool is_static(const ir_module *m, ir_value v) {
    const ir_type_data *t = ir_type_of(m, v);
    return t->kind != IR_TYPE_BUFFER || ir_type_is_static(m, ir_value_get(m, v)->type);
}

static bool runs_dot(const ir_module *m, ir_op op) {
    static const char *const others[] = {"group", "unit", "mask", "mma", "mma_in_memory"};
    dot_shape s;
    bool runs = dot_shape_read(m, op, &s) && s.index[AXIS_RUN] < 0 && s.index[AXIS_STAGE] < 0 &&
                s.buffer[DOT_OFFSETS] < 0;
    for (size_t i = 0; i < sizeof others / sizeof *others; i++)
        runs &= !ir_op_attr(m, op, others[i]);
    const ir_op loop = runs ? dot_loop(m, op, &s, AXIS_K) : 0;
    const order_id order = loop ? order_of(m, loop, ORDER_CHUNK512) : ORDER_PAIRS512;
    return runs && order != ORDER_PAIRS512 && order != ORDER_UNIT && order != ORDER_WRITTEN;
}

static bool runs_op(const ir_module *m, ir_op op) {
    const ir_op_data *d = ir_op_get(m, op);
    bool runs = true;
    for (uint32_t i = 0; i < d->result_count && runs; i++)
        runs = is_static(m, d->results[i]);
    if (d->opcode == SCHED_DOT)
        return runs && runs_dot(m, op);
    if (d->opcode == SCHED_FOR)
        return runs && ir_dim_is_static(ir_op_int(m, op, "extent", 0));
    return runs;
}

bool schedule_runs(const ir_module *m) {
    const ir_block_data *body = ir_kernel_body(m);
    bool runs = true;
    for (uint32_t i = 0; i < body->argument_count && runs; i++)
        runs = is_static(m, body->arguments[i]);
    for (ir_walk w = ir_walk_op(m, ir_module_kernel(m)); runs && ir_walk_next(&w);)
        runs = runs_op(m, w.op);
    return runs;
}

/* ---- memory ---- */

/* Nothing there is a number that anybody would expect. */
static bool make_memory(schedule_walker *w, ir_value v) {
    schedule_value *b = &w->values[v];
    const ir_type_data *t = ir_type_of(w->m, v);
    const int64_t count = ir_type_count(w->m, ir_value_get(w->m, v)->type);
    const ir_op made = ir_value_get(w->m, v)->op;
    const bool own = made && strcmp(ir_op_string(w->m, made, "space", ""), "workgroup") == 0;
    if (!b->memory.data && !tensor_init(&b->memory, t->element, 1, &count, w->st))
        return false;
    if (!own && !b->writer)
        b->writer = base_calloc((size_t)count + 1, sizeof *b->writer);
    if (dtype_is_float(t->element))
        memset(b->memory.data, 0xA5, tensor_bytes(&b->memory));
    return true;
}

static bool fill(schedule_walker *w, ir_op op) {
    schedule_value *buffer = &w->values[ir_op_get(w->m, op)->operands[0]];
    tensor *t = &buffer->memory;
    const uint64_t bits = ir_attr_get(w->m, ir_op_attr(w->m, op, "value"))->bits;
    const size_t size = dtype_size(t->type);
    bool ok = true;
    for (int64_t i = 0; i < tensor_count(t) && ok; i++) {
        ok = schedule_touch(w, buffer, i, true);
        memcpy((char *)t->data + (size_t)i * size, &bits, size);
    }
    return ok;
}

/* ---- loops ---- */

static bool run_block(schedule_walker *w, ir_block id);

static bool run_trip(schedule_walker *w, ir_block id, int64_t index, int64_t count) {
    schedule_value *v = &w->values[ir_block_get(w->m, id)->arguments[0]];
    v->index = index;
    v->count = count;
    return run_block(w, id);
}

/* The reduction that goes on through the steps of a loop, whose end it is; 0: there is none. */
static ir_op piece_of(const ir_module *m, ir_op loop) {
    const ir_op last = ir_block_get(m, ir_op_block(m, loop, 0))->last;
    const bool reduces = last && ir_op_get(m, last)->opcode == SCHED_REDUCE;
    return reduces && ir_op_attr(m, last, "piece") ? last : 0;
}

typedef struct bounds {
    int64_t low, high, step;
} bounds;

static int64_t least(int64_t a, int64_t b) {
    return a < b ? a : b;
}

static bounds bounds_of(const schedule_walker *w, ir_op op) {
    const ir_op_data *d = ir_op_get(w->m, op);
    const schedule_value *start = d->operand_count ? &w->values[d->operands[0]] : NULL;
    const int64_t extent = ir_op_int(w->m, op, "extent", 0),
                  span = schedule_step(w->m, op, "span", 0), from = ir_op_int(w->m, op, "from", 0),
                  to = ir_op_int(w->m, op, "to", extent);
    bounds b = {start ? start->index : 0, extent, schedule_step(w->m, op, "step", 1)};
    if (ir_op_attr(w->m, op, "inside") && start)
        b.high = b.low + start->count;
    else if (start && span)
        b.high = least(b.low + span, extent);
    b.low = b.low > from ? b.low : from;
    b.high = least(b.high, to);
    return b;
}

static bool run_for(schedule_walker *w, ir_op op) {
    const ir_block body = ir_op_block(w->m, op, 0);
    const ir_op dot = dot_of_loop(w->m, op), piece = piece_of(w->m, op);
    const bounds b = bounds_of(w, op);
    const bool whole = ir_op_int(w->m, op, "tail", 1) == 0;
    if (dot)
        return schedule_dot(w, dot);
    bool ok = true;
    if (b.low >= b.high && ir_op_attr(w->m, op, "order")) /* the sum of nothing is stored, too */
        ok = run_trip(w, body, b.low, 0);
    for (int64_t at = b.low; at < b.high && ok; at += b.step) {
        const int64_t count = whole ? b.step : least(b.step, b.high - at);
        ok = run_trip(w, body, at, count) && (!piece || schedule_collect(w, piece, at, count));
    }
    return ok && (!piece || schedule_reduce(w, piece));
}

/* Workgroups one after the other, in the order of their numbers. */
static bool run_grid(schedule_walker *w, ir_op op) {
    const ir_block body = ir_op_block(w->m, op, 0);
    const ir_block_data *block = ir_block_get(w->m, body);
    const ir_attr_data *steps = ir_attr_get(w->m, ir_op_attr(w->m, op, "steps"));
    int64_t extents[SCHEDULE_AXES], at[SCHEDULE_AXES] = {0};
    const uint32_t n = ir_op_ints(w->m, op, "extents", extents, SCHEDULE_AXES);
    bool ok = true, more = true;
    for (uint32_t i = 0; i < n; i++)
        more = more && extents[i] > 0;
    while (ok && more) {
        for (uint32_t i = 0; i < block->argument_count && i < n; i++) {
            w->values[block->arguments[i]].index = at[i];
            w->values[block->arguments[i]].count = 1;
        }
        w->workgroup++;
        ok = run_block(w, body);
        more = false;
        for (uint32_t i = n; i-- > 0 && !more;) {
            at[i] += schedule_step_value(w->m, steps->items[i]);
            more = at[i] < extents[i];
            at[i] = more ? at[i] : 0;
        }
    }
    return ok;
}

static bool run_op(schedule_walker *w, ir_op op) {
    const ir_op_data *d = ir_op_get(w->m, op);
    if (--w->work < 0)
        return status_set(w->st, STATUS_UNAVAILABLE, "that is too much to compute");
    switch (d->opcode) {
    case SCHED_BUFFER:
        return make_memory(w, d->results[0]);
    case SCHED_PHASE:
        if (!ir_op_attr(w->m, op, "concurrent"))
            w->first = w->workgroup + 1;
        return run_block(w, ir_op_block(w->m, op, 0));
    case SCHED_PARALLEL:
        return run_grid(w, op);
    case SCHED_FOR:
        return run_for(w, op);
    case SCHED_FILL:
        return fill(w, op);
    case SCHED_MAP:
        return schedule_map(w, op);
    case SCHED_REDUCE:
        return ir_op_attr(w->m, op, "piece") || schedule_reduce(w, op);
    case SCHED_COLUMNS:
        return schedule_reduce(w, op);
    case SCHED_SCAN:
        return schedule_scan(w, op);
    case SCHED_SORT:
        return schedule_sort(w, op);
    case SCHED_DOT:
        return schedule_dot(w, op);
    default:
        return status_set(w->st, STATUS_UNAVAILABLE, "'%s' is not evaluated",
                          op_info_get(d->opcode)->name);
    }
}

static bool run_block(schedule_walker *w, ir_block id) {
    bool ok = true;
    for (ir_op op = ir_block_get(w->m, id)->first; op && ok; op = ir_op_get(w->m, op)->next)
        ok = run_op(w, op);
    return ok;
}

/* ---- the kernel ---- */

static bool set_arguments(schedule_walker *w, const tensor *inputs, uint32_t count) {
    const ir_block_data *body = ir_kernel_body(w->m);
    bool ok = true;
    for (uint32_t i = 0; i < body->argument_count && ok; i++) {
        schedule_value *v = &w->values[body->arguments[i]];
        w->is_output[body->arguments[i]] = i >= count;
        ok = make_memory(w, body->arguments[i]); /* a copy: a wrong module may write anywhere */
        if (!ok || i >= count)
            continue;
        if (tensor_bytes(&v->memory) != tensor_bytes(&inputs[i]))
            ok = status_set(w->st, STATUS_INVALID, "its inputs are others than the kernel's");
        if (ok)
            memcpy(v->memory.data, inputs[i].data, tensor_bytes(&inputs[i]));
    }
    return ok;
}

static bool give_outputs(schedule_walker *w, uint32_t inputs, tensor *outputs) {
    const ir_block_data *body = ir_kernel_body(w->m);
    bool ok = true;
    for (uint32_t i = inputs; i < body->argument_count && ok; i++) {
        const ir_type_data *t = ir_type_of(w->m, body->arguments[i]);
        tensor *out = &outputs[i - inputs];
        ok = tensor_init(out, t->element, t->rank, t->dims, w->st);
        if (ok)
            memcpy(out->data, w->values[body->arguments[i]].memory.data, tensor_bytes(out));
    }
    return ok;
}

bool schedule_run(const ir_module *m, const tensor *inputs, tensor *outputs, status *st) {
    const ir_op kernel = ir_module_kernel(m);
    const uint32_t count = ir_attr_get(m, ir_op_attr(m, kernel, "inputs"))->count;
    schedule_walker w = {.m = m,
                         .values = base_calloc((size_t)ir_value_count(m) + 1, sizeof *w.values),
                         .is_output = base_calloc((size_t)ir_value_count(m) + 1, sizeof(bool)),
                         .collected = base_calloc((size_t)ir_op_count(m) + 1, sizeof(tensor)),
                         .work = work_most,
                         .st = st};
    const bool ok = set_arguments(&w, inputs, count) && run_block(&w, ir_op_block(m, kernel, 0)) &&
                    give_outputs(&w, count, outputs);
    for (uint32_t i = 1; i <= ir_value_count(m); i++) {
        tensor_release(&w.values[i].memory);
        free(w.values[i].writer);
    }
    for (uint32_t i = 0; i <= ir_op_count(m); i++)
        tensor_release(&w.collected[i]);
    free(w.values);
    free(w.is_output);
    free(w.collected);
    return ok;
}
