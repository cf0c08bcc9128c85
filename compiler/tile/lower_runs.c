/* lower_runs.c - a register tile whose steps come in runs, as the windows of an image have them: a
 * run is a row of a window.
 *
 * Steps that a mask leaves out do not happen. A mask of runs bounds the loop over them, which all
 * rows of the tile have in common. A mask of steps bounds the part of a run that is there for a
 * row, each of which has a sum of its own: where the bounds are numbers, a run is cut at all of
 * them, and each part takes the rows for which it is there; else it is row after row. */
#include "tile/lower_dot.h"

enum { MOST_ROWS = 64, MOST_PARTS = 2 * MOST_ROWS + 1 };

/* Steps [low, high) of each run, of rows [first, last) of the tile. */
typedef struct run_part {
    int64_t first, last;
    ir_value low, high;
} run_part;

/* Fields: by row of the tile, its index, the place of its first step in lhs, its sum, and numbers
 * that bound a run for it. */
typedef struct runs {
    dot *t;
    ir_dim shape[2];     /* runs, and steps of one */
    ir_value start, end; /* of the chunk; 0: there is one */
    uint32_t rows;
    ir_value row[MOST_ROWS], at[MOST_ROWS], sums[MOST_ROWS];
    int64_t low[MOST_ROWS], high[MOST_ROWS];
    run_part parts[MOST_PARTS];
    int count;
} runs;

/* ---- bounds ---- */

/* The runs (reduced index 0), or the steps of a run (1), that masks leave of [0, most). */
static void find_bounds(const runs *r, ir_builder *b, int reduced, ir_value *low, ir_value *high) {
    const frame *f = &r->t->f;
    const ir_module *s = f->l->s;
    const ir_attr_data *masks = ir_attr_get(s, ir_op_attr(s, f->op, "mask"));
    ir_value none = tile_index(b, 0), most = lowering_dim(f->l, b, r->shape[reduced]);
    *low = *high = 0;
    for (uint32_t i = 0; i < masks->count; i++) {
        ir_dim access[LOWERING_AXES + 2] = {0};
        frame_numbers(f, masks->items[i], access, LOWERING_AXES + 2);
        if ((access[2 + r->t->k] != 0) != (reduced == 1))
            continue;
        ir_value at = frame_offset(f, b, access + 1), limit = lowering_dim(f->l, b, access[0]);
        ir_value from = tile_index_clamp(b, tile_index_sub(b, none, at), none, most);
        ir_value to = tile_index_clamp(b, tile_index_sub(b, limit, at), none, most);
        *low = *low ? tile_index_max(b, *low, from) : from;
        *high = *high ? tile_index_min(b, *high, to) : to;
    }
    *low = *low ? *low : none;
    *high = *high ? *high : most;
}

static void add_part(runs *r, int64_t first, int64_t last, ir_value low, ir_value high) {
    r->parts[r->count++] = (run_part){first, last, low, high};
}

/* The parts of a run of `length` steps, cut where its bounds for a row are. */
static void cut_runs(runs *r, ir_builder *b, int64_t length) {
    for (int64_t at = 0, next; at < length; at = next) {
        int64_t first = r->rows, last = 0;
        next = length;
        for (int64_t i = 0; i < r->rows; i++) {
            bool there = r->low[i] <= at && at < r->high[i];
            int64_t bound = there ? r->high[i] : r->low[i];
            next = bound > at && bound < next ? bound : next;
            first = there && i < first ? i : first;
            last = there ? i + 1 : last;
        }
        if (first < last)
            add_part(r, first, last, tile_index(b, at), tile_index(b, next));
    }
    if (r->count == 0) /* the sums of no steps */
        add_part(r, 0, r->rows, tile_index(b, 0), tile_index(b, 0));
}

static void find_parts(runs *r, ir_builder *b) {
    frame *f = &r->t->f;
    ir_value low[MOST_ROWS], high[MOST_ROWS];
    bool known = ir_dim_is_static(r->shape[1]);
    for (uint32_t i = 0; i < r->rows; i++) {
        f->index[f->shape.index[AXIS_M]] = r->row[i];
        find_bounds(r, b, 1, &low[i], &high[i]);
        known = known && tile_constant_index(b, low[i], &r->low[i]) &&
                tile_constant_index(b, high[i], &r->high[i]);
    }
    if (known)
        cut_runs(r, b, r->shape[1]);
    for (uint32_t i = 0; i < r->rows && !known; i++)
        add_part(r, i, i + 1, low[i], high[i]);
}

/* ---- loops ---- */

static ir_value step(const dot *t, ir_builder *b, ir_value offset, ir_value y, ir_value sum) {
    ir_value x = tile_load(b, frame_memory(&t->f, 0), offset, 1, 1, 0, 0);
    return dot_multiply_add(t, b, dot_summed(t, b, x), y, sum);
}

/* A part of the run that begins at step `begin`, onto the sums of its rows. `shift`: from the first
 * run in lhs to this one. */
static void emit_part(runs *r, ir_builder *b, const run_part *p, ir_value begin, ir_value shift) {
    dot *t = r->t;
    ir_value at[MOST_ROWS];
    uint32_t count = (uint32_t)(p->last - p->first);
    ir_dim stride = t->lhs[1 + t->f.shape.index[AXIS_M]],
           apart = ir_dim_is_static(stride) ? stride : 0;
    ir_value low = tile_index_add(b, begin, p->low), high = tile_index_add(b, begin, p->high);
    if (r->start) {
        low = tile_index_max(b, r->start, low);
        high = tile_index_min(b, r->end, high);
    }
    for (uint32_t i = 0; i < count; i++) /* neighbours have one address, and a constant each */
        at[i] = i && apart ? at[0] : tile_index_add(b, r->at[p->first + i], shift);
    ir_value *sums = r->sums + p->first;
    step_loop l = dot_open(t, b, low, high, t->unroll, sums, count);
    for (int64_t j = 0; j < t->unroll; j++) {
        ir_value y = dot_right(t, &l.in, tile_index_step(&l.in, l.k, l.k, 0, j), 1, 0);
        y = dot_summed(t, &l.in, y);
        for (uint32_t i = 0; i < count; i++)
            sums[i] =
                step(t, &l.in, tile_index_step(&l.in, at[i], l.k, 1, j + i * apart), y, sums[i]);
    }
    dot_close(&l, sums, count);
}

/* All runs that happen. */
static void emit_runs(runs *r, ir_builder *b) {
    dot *t = r->t;
    ir_value first, last;
    find_bounds(r, b, 0, &first, &last);
    step_loop l = dot_open(t, b, first, last, 1, r->sums, r->rows);
    ir_value begin = tile_index_mul(&l.in, l.k, lowering_dim(t->f.l, &l.in, r->shape[1]));
    ir_value shift = tile_index_mul(&l.in, l.k, lowering_dim(t->f.l, &l.in, t->lhs[t->k]));
    for (int i = 0; i < r->count; i++)
        emit_part(r, &l.in, &r->parts[i], begin, shift);
    dot_close(&l, r->sums, r->rows);
}

/* The rows of the tile, each by itself. */
static void find_rows(runs *r, ir_builder *b) {
    frame *f = &r->t->f;
    ir_value *index = &f->index[f->shape.index[AXIS_M]], m = *index,
             zero = tile_broadcast(b, tile_constant(b, r->t->element, 0), 1, f->columns);
    r->rows = (uint32_t)f->rows;
    f->rows = 1;
    f->row_axis = -1;
    for (uint32_t i = 0; i < r->rows; i++) {
        *index = r->row[i] = tile_index_step(b, m, m, 0, i);
        r->at[i] = frame_offset(f, b, r->t->lhs);
        r->sums[i] = zero;
    }
}

void lower_runs(dot *t, ir_builder *b) {
    frame *f = &t->f;
    runs r = {.t = t};
    if (f->rows > MOST_ROWS || f->valid_rows) {
        lowering_fail(f->l, "a tile of windows has more rows than %d, or one in part", MOST_ROWS);
        return;
    }
    r.shape[0] = ir_op_int(f->l->s, dot_loop(f->l->s, f->op, &f->shape, AXIS_RUN), "extent", 0);
    r.shape[1] = ir_op_int(f->l->s, t->loop, "extent", 0);
    t->rhs[t->k] = 0; /* steps are counted through all runs, each of which ends where one begins */
    t->lhs[t->k] = ir_dim_add_scaled(f->l->m, t->lhs[t->k], r.shape[1], -1);
    if (f->shape.buffer[DOT_TOTALS] >= 0)
        dot_chunk_bounds(t, b, &r.start, &r.end);
    find_rows(&r, b);
    if (ir_op_attr(f->l->s, f->op, "inside"))
        add_part(&r, 0, r.rows, tile_index(b, 0), lowering_dim(f->l, b, r.shape[1]));
    else
        find_parts(&r, b);
    emit_runs(&r, b);
    for (uint32_t i = 0; i < r.rows; i++) {
        f->index[f->shape.index[AXIS_M]] = r.row[i];
        dot_end_chunk(t, b, r.sums[i]);
    }
}
