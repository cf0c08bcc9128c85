/* schedule_sums.c - computations of a schedule that go along an axis by themselves: reductions,
 * scans and sorts, each row of which is one run of lanes, and the tiles of contractions. */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/arena.h"
#include "ops/orders.h"
#include "ops/reductions.h"
#include "target/interp/interp_exact.h"
#include "target/interp/schedule_walk.h"

static int64_t extent_of(const schedule_place *p) {
    return ir_op_int(p->w->m, p->op, "extent", 0);
}

/* The place of one row: its lanes are along the axis behind the indices. */
static schedule_place row_of(const schedule_place *p, int64_t number) {
    schedule_place row = *p;
    if (p->row_axis >= 0)
        row.index[p->row_axis] += number / p->columns;
    if (p->column_axis >= 0)
        row.index[p->column_axis] += number % p->columns;
    row.row_axis = -1;
    row.column_axis = p->axes;
    row.index[p->axes] = 0;
    row.rows = 1;
    row.columns = extent_of(p);
    row.lanes = NULL;
    return row;
}

/* ---- reductions ---- */

/* Stores what the elements of a row come to. */
static bool put_reduced(const schedule_place *at, const tensor *x) {
    const order_id order = order_of(at->w->m, at->op, ORDER_ANY);
    const interp_reduction r = {.kind = ir_op_string(at->w->m, at->op, "kind", ""),
                                .wide = x->type == DTYPE_F64,
                                .exact = order_is_exact(order),
                                .odd = order == ORDER_EXACT_ODD};
    const int64_t count = tensor_count(x);
    schedule_place p = *at;
    const int64_t single = 1;
    tensor out;
    if (!tensor_init(&out, x->type, 1, &single, p.w->st))
        return false;
    void *work = base_malloc(sizeof(double) * (size_t)(count + 1));
    interp_reduce_row(&r, x, 0, count, work, &out);
    free(work);
    p.columns = 1;
    const bool ok = schedule_store(&p, 0, &out);
    tensor_release(&out);
    return ok;
}

static uint32_t outputs_of(const schedule_place *p) {
    return ir_op_get(p->w->m, p->op)->operand_count - (uint32_t)p->axes - p->leading - p->inputs;
}

/* Stores the yields behind the first, which are of each element. */
static bool store_others(schedule_place *row) {
    bool ok = true;
    for (uint32_t i = 1; i < outputs_of(row) && ok; i++)
        ok = schedule_store(row, i, schedule_yield(row, i));
    return ok;
}

static tensor part_of(const tensor *all, int64_t first, int64_t count) {
    tensor part = *all;
    part.data = (char *)all->data + (size_t)first * dtype_size(all->type);
    part.dims[0] = count;
    return part;
}

bool schedule_collect(schedule_walker *w, ir_op op, int64_t first, int64_t count) {
    const schedule_place p = schedule_place_of(w, op);
    tensor *all = &w->collected[op];
    bool ok = true;
    for (int64_t i = 0; i < schedule_lanes(&p) && ok; i++) {
        schedule_place row = row_of(&p, i);
        row.index[p.axes] = first;
        row.columns = count;
        ok = schedule_body(&row, NULL) && store_others(&row);
        const tensor *x = ok ? schedule_yield(&row, 0) : NULL;
        const int64_t room = schedule_lanes(&p) * extent_of(&p);
        if (ok && !all->data)
            ok = tensor_init(all, x->type, 1, &room, w->st);
        if (ok)
            memcpy(part_of(all, i * extent_of(&p) + first, count).data, x->data, tensor_bytes(x));
        schedule_place_release(&row);
    }
    return ok;
}

bool schedule_reduce(schedule_walker *w, ir_op op) {
    const schedule_place p = schedule_place_of(w, op);
    tensor *all = &w->collected[op];
    bool ok = true;
    for (int64_t i = 0; i < schedule_lanes(&p) && ok; i++) {
        schedule_place row = row_of(&p, i);
        if (all->data) {
            const tensor x = part_of(all, i * row.columns, row.columns);
            ok = put_reduced(&row, &x);
            continue;
        }
        ok = schedule_body(&row, NULL) && store_others(&row) &&
             put_reduced(&row, schedule_yield(&row, 0));
        schedule_place_release(&row);
    }
    tensor_release(all);
    return ok;
}

/* ---- scans and sorts ---- */

bool schedule_scan(schedule_walker *w, ir_op op) {
    const schedule_place p = schedule_place_of(w, op);
    bool ok = true;
    for (int64_t i = 0; i < schedule_lanes(&p) && ok; i++) {
        schedule_place row = row_of(&p, i);
        ok = schedule_body(&row, NULL) && schedule_store(&row, 0, schedule_yield(&row, 0)) &&
             store_others(&row);
        schedule_place_release(&row);
    }
    return ok;
}

/* A NaN is above every number; zeros are equal. */
static bool is_below(const tensor *x, int32_t i, int32_t j) {
    if (!dtype_is_float(x->type)) {
        int64_t a, b;
        interp_load_i64(x, i, 1, &a);
        interp_load_i64(x, j, 1, &b);
        return dtype_integer_less(x->type, a, b);
    }
    const double a = dtype_load(x->type, x->data, (size_t)i),
                 b = dtype_load(x->type, x->data, (size_t)j);
    return !isnan(a) && (isnan(b) || a < b);
}

/* Each goes before those that are behind it: equal ones stay as they stand. */
static bool sort_row(const schedule_place *p, const tensor *x, tensor *positions) {
    const int64_t n = tensor_count(x);
    const bool descending = ir_op_int(p->w->m, p->op, "descending", 0) != 0;
    if (!tensor_init(positions, DTYPE_I32, 1, &n, p->w->st))
        return false;
    int32_t *list = positions->data;
    p->w->work -= n * n / 4;
    for (int32_t i = 0; i < n; i++) {
        int32_t at = i;
        while (at > 0 &&
               (descending ? is_below(x, list[at - 1], i) : is_below(x, i, list[at - 1]))) {
            list[at] = list[at - 1];
            at--;
        }
        list[at] = i;
    }
    return true;
}

bool schedule_sort(schedule_walker *w, ir_op op) {
    const schedule_place p = schedule_place_of(w, op);
    bool ok = true;
    for (int64_t i = 0; i < schedule_lanes(&p) && ok; i++) {
        schedule_place row = row_of(&p, i);
        tensor positions = {0};
        ok = schedule_body(&row, NULL) && sort_row(&row, schedule_yield(&row, 0), &positions) &&
             schedule_store(&row, 0, &positions);
        tensor_release(&positions);
        schedule_place_release(&row);
    }
    return ok;
}

/* ---- contractions ---- */

typedef struct contraction_tile {
    schedule_place p;
    dot_shape shape;
    dtype element;
    int64_t low, high, extent, chunk; /* of the chunk: its steps; of all steps; 0: there are none */
    tensor sums;                      /* by row and column */
} contraction_tile;

static double number_of(const schedule_place *p, uint32_t buffer, int64_t at) {
    const tensor *t = &schedule_buffer(p, buffer)->memory;
    return dtype_load(t->type, t->data, (size_t)at);
}

static int64_t integer_of(const schedule_place *p, uint32_t buffer, int64_t at) {
    int64_t x;
    interp_load_i64(&schedule_buffer(p, buffer)->memory, at, 1, &x);
    return x;
}

static void multiply(contraction_tile *t, int64_t lane, int64_t left, int64_t right) {
    const schedule_place *p = &t->p;
    if (t->element == DTYPE_F64)
        ((double *)t->sums.data)[lane] =
            fma(number_of(p, DOT_LHS, left), number_of(p, DOT_RHS, right),
                ((double *)t->sums.data)[lane]);
    else if (t->element == DTYPE_F32)
        ((float *)t->sums.data)[lane] =
            fmaf((float)number_of(p, DOT_LHS, left), (float)number_of(p, DOT_RHS, right),
                 ((float *)t->sums.data)[lane]);
    else {
        int64_t sum;
        interp_load_i64(&t->sums, lane, 1, &sum);
        sum = (int64_t)((uint64_t)sum + (uint64_t)integer_of(p, DOT_LHS, left) *
                                            (uint64_t)integer_of(p, DOT_RHS, right));
        interp_store_i64(&t->sums, lane, 1, &sum);
    }
}

/* Steps at or past a row's count do not happen. */
static int64_t steps_of_row(const contraction_tile *t, int64_t row, int64_t high) {
    const int number = t->shape.buffer[DOT_COUNTS];
    if (number < 0)
        return high;
    const int64_t count =
        integer_of(&t->p, (uint32_t)number, schedule_offset(&t->p, (uint32_t)number, row, 0));
    return count < high ? count : high;
}

static bool run_steps(contraction_tile *t, int64_t low, int64_t high) {
    schedule_place *p = &t->p;
    const int k = t->shape.index[AXIS_K];
    bool ok = true;
    for (int64_t lane = 0; lane < schedule_lanes(p) && ok; lane++) {
        const int64_t row = lane / p->columns, column = lane % p->columns;
        p->index[k] = 0;
        const int64_t end = steps_of_row(t, row, high);
        for (int64_t at = low; at < end && ok; at++) {
            p->index[k] = at;
            const int64_t left = schedule_offset(p, DOT_LHS, row, column),
                          right = schedule_offset(p, DOT_RHS, row, column);
            ok = schedule_touch(p->w, schedule_buffer(p, DOT_LHS), left, false) &&
                 schedule_touch(p->w, schedule_buffer(p, DOT_RHS), right, false);
            if (ok)
                multiply(t, lane, left, right);
        }
        p->w->work -= high - low;
    }
    p->index[k] = 0;
    return ok;
}

/* The tile's sums from, or to, a buffer of them. */
static bool move_sums(contraction_tile *t, dot_buffer which, bool store, bool onto) {
    const uint32_t number = (uint32_t)t->shape.buffer[which];
    tensor *memory = &schedule_buffer(&t->p, number)->memory;
    const size_t size = dtype_size(memory->type);
    bool ok = true;
    for (int64_t lane = 0; lane < schedule_lanes(&t->p) && ok; lane++) {
        const int64_t at = schedule_offset(&t->p, number, lane / t->p.columns, lane % t->p.columns);
        ok = schedule_touch(t->p.w, schedule_buffer(&t->p, number), at, store);
        if (!ok)
            continue;
        char *there = (char *)memory->data + (size_t)at * size,
             *own = (char *)t->sums.data + (size_t)lane * size;
        if (store)
            memcpy(there, own, size);
        else if (!onto)
            memcpy(own, there, size);
        else if (t->element == DTYPE_F64)
            *(double *)own = *(double *)there + *(double *)own;
        else if (t->element == DTYPE_F32)
            *(float *)own = *(float *)there + *(float *)own;
        else {
            int64_t a, b;
            interp_load_i64(memory, at, 1, &a);
            interp_load_i64(&t->sums, lane, 1, &b);
            a = (int64_t)((uint64_t)a + (uint64_t)b);
            interp_store_i64(&t->sums, lane, 1, &a);
        }
    }
    return ok;
}

/* A sum of -0 is +0, as chains begin with it. */
static void add_zero(contraction_tile *t) {
    for (int64_t i = 0; i < tensor_count(&t->sums); i++)
        if (t->element == DTYPE_F32)
            ((float *)t->sums.data)[i] += 0.0f;
        else if (t->element == DTYPE_F64)
            ((double *)t->sums.data)[i] += 0.0;
}

static bool finish(contraction_tile *t) {
    return schedule_body(&t->p, &t->sums) && schedule_store(&t->p, 0, schedule_yield(&t->p, 0));
}

static bool end_chunk(contraction_tile *t) {
    const int chunk = t->shape.index[AXIS_CHUNK];
    if (t->shape.buffer[DOT_TOTALS] < 0) {
        add_zero(t);
        return finish(t);
    }
    const int64_t start = chunk < 0 ? 0 : t->p.index[chunk],
                  last = t->extent ? (t->extent - 1) / t->chunk * t->chunk : 0;
    const schedule_value *totals = schedule_buffer(&t->p, (uint32_t)t->shape.buffer[DOT_TOTALS]);
    const bool kept = totals == schedule_buffer(&t->p, t->p.leading + t->p.inputs);
    if (!move_sums(t, DOT_TOTALS, false, true))
        return false;
    return kept || start < last ? move_sums(t, DOT_TOTALS, true, false) : finish(t);
}

static bool run_strip(contraction_tile *t, int64_t start, int64_t count) {
    const int64_t next = start + count;
    bool ok = start <= t->low || move_sums(t, DOT_SUMS, false, false);
    ok = ok && run_steps(t, start, next < t->high ? next : t->high);
    return ok && (next < t->high ? move_sums(t, DOT_SUMS, true, false) : end_chunk(t));
}

/* A tile all of whose columns are at or past the limits of its rows is left out. */
static bool is_needed(const contraction_tile *t) {
    const int number = t->shape.buffer[DOT_LIMITS];
    int64_t most = 0;
    for (int64_t row = 0; number >= 0 && row < t->p.rows; row++) {
        const int64_t limit =
            integer_of(&t->p, (uint32_t)number, schedule_offset(&t->p, (uint32_t)number, row, 0));
        most = limit > most ? limit : most;
    }
    return number < 0 || t->p.index[t->p.column_axis] < most;
}

bool schedule_dot(schedule_walker *w, ir_op op) {
    const ir_op_data *d = ir_op_get(w->m, op);
    contraction_tile t = {.p = schedule_place_of(w, op)};
    if (!dot_shape_read(w->m, op, &t.shape))
        return status_set(w->st, STATUS_UNAVAILABLE, "a contraction cannot be read");
    const ir_op loop = dot_loop(w->m, op, &t.shape, AXIS_K);
    const int chunk = t.shape.index[AXIS_CHUNK], strip = t.shape.index[AXIS_STRIP];
    const ir_value first = ir_block_get(w->m, ir_op_block(w->m, op, 0))->arguments[0];
    const int64_t lanes = schedule_lanes(&t.p);
    t.p.packed = ir_op_int(w->m, op, "packed", 0) != 0;
    t.element = ir_type_of(w->m, first)->element;
    t.extent = dot_extent((ir_module *)(uintptr_t)w->m, w->m, op, &t.shape);
    t.chunk = order_info_of(order_of(w->m, loop, ORDER_CHUNK512))->chunk;
    t.low = chunk < 0 ? 0 : t.p.index[chunk];
    t.high = chunk < 0 || t.extent < t.low + t.chunk ? t.extent : t.low + t.chunk;
    if (!is_needed(&t) || lanes == 0)
        return true;
    bool ok = tensor_init(&t.sums, t.element, 1, &lanes, w->st);
    if (ok && t.extent == 0)
        ok = finish(&t);
    else if (ok && strip >= 0)
        ok = run_strip(&t, t.p.index[strip], w->values[d->operands[strip]].count);
    else
        ok = ok && run_steps(&t, t.low, t.high) && end_chunk(&t);
    schedule_place_release(&t.p);
    tensor_release(&t.sums);
    return ok;
}
