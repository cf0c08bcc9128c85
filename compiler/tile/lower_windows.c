/* lower_windows.c - a line of windows of an image, contracted: the tiles of a convolution.
 *
 * A window's steps are rows of places, and places of channels. Steps outside of the image do not
 * happen: the loop over the rows of a window has the rows that are inside, which a line of windows
 * has in common; of a row of places, a tile at an end of the line has places that are inside for
 * some of its windows only. Each window of a tile has a sum of its own, so that a run of steps
 * takes those for which it is inside. */
#include <string.h>

#include "tile/lower_dot.h"

enum { MOST_WINDOWS = 32, MOST_RUNS = 2 * MOST_WINDOWS + 1, MOST_COLUMNS = 64, MOST_ENDS = 4 };

typedef struct windows {
    dot *t;
    ir_dim extent; /* all steps */
    ir_dim number[WINDOW_COUNT];
    int64_t tile, span;       /* windows of a tile, of a block */
    ir_value m;               /* the block's first window */
    ir_value start;           /* of the chunk; 0: there is one */
    ir_value low, high;       /* steps of the chunk */
    ir_value first_row, last; /* rows of a window that are inside: [first_row, last) */
} windows;

/* Steps [from, to) of each row of places, of windows [first, last) of the tile. */
typedef struct run {
    int64_t first, last;
    ir_value from, to;
} run;

static ir_dim times(const windows *w, ir_dim x, ir_dim y) {
    return ir_dim_mul(w->t->f.l->m, x, y);
}

static ir_value dim(const windows *w, ir_builder *b, ir_dim x) {
    return lowering_dim(w->t->f.l, b, x);
}

/* x * index. */
static ir_value scaled(const windows *w, ir_builder *b, ir_dim x, ir_value index) {
    return tile_index_mul(b, index, dim(w, b, x));
}

/* Steps of a row of places. */
static ir_dim row_steps(const windows *w) {
    return times(w, w->number[WINDOW_COLUMNS], w->number[WINDOW_CHANNELS]);
}

/* The first row or column of window `index`, which may be outside of the image. */
static ir_value begin_of(const windows *w, ir_builder *b, ir_value index) {
    int64_t stride = w->number[WINDOW_STRIDE];
    return tile_affine(b, -w->number[WINDOW_PADDING], &index, &stride, 1);
}

/* ---- one tile ---- */

typedef struct tile_state {
    int64_t rows;
    ir_value at[MOST_WINDOWS]; /* where lhs begins for each window; of a known `stride`, for one */
    int64_t stride;            /* from window to window; 0: it is no number */
    ir_value sums[MOST_WINDOWS];
} tile_state;

/* Steps of a run in a row of places: those of the chunk. */
static void run_bounds(const windows *w, ir_builder *b, const run *r, ir_value line, ir_value *low,
                       ir_value *high) {
    *low = tile_index_add(b, line, r->from);
    *high = tile_index_add(b, line, r->to);
    if (w->start) {
        *low = tile_index_max(b, w->low, *low);
        *high = tile_index_min(b, w->high, *high);
    }
}

static ir_value step(const dot *t, ir_builder *b, ir_value offset, ir_value y, ir_value sum) {
    ir_value x = tile_load(b, frame_memory(&t->f, 0), offset, 1, 1, 0, 0);
    return dot_multiply_add(t, b, dot_summed(t, b, x), y, sum);
}

/* One run of a row of places, onto the sums of its windows. `shift`: from the first row of a window
 * to this one. */
static void emit_run(const windows *w, ir_builder *b, const run *r, ir_value line, ir_value shift,
                     tile_state *s) {
    ir_value low, high, k, next[MOST_WINDOWS], at[MOST_WINDOWS];
    ir_op loop;
    uint32_t count = (uint32_t)(r->last - r->first);
    run_bounds(w, b, r, line, &low, &high);
    for (uint32_t i = 0; i < count; i++)
        at[i] = i && s->stride ? at[0] : tile_index_add(b, s->at[r->first + i], shift);
    ir_builder in = tile_for(b, low, high, w->t->unroll, &s->sums[r->first], count, &loop, &k);
    lowering_mark(w->t->f.l, loop, w->t->f.op);
    memcpy(next, ir_block_get(b->m, in.block)->arguments + 1, sizeof *next * count);
    for (int64_t j = 0; j < w->t->unroll; j++) {
        ir_value one = tile_index_step(&in, k, k, 0, j),
                 y = dot_summed(w->t, &in, dot_right(w->t, &in, one, 1));
        for (uint32_t i = 0; i < count; i++)
            next[i] =
                step(w->t, &in, tile_index_step(&in, at[i], k, 1, j + i * s->stride), y, next[i]);
    }
    tile_yield(&in, next, count);
    for (uint32_t i = 0; i < count; i++)
        s->sums[r->first + i] = ir_op_result(b->m, loop, i);
}

/* All rows of places that are inside. */
static void emit_rows(const windows *w, ir_builder *b, const run *runs, int count, tile_state *s) {
    ir_value row;
    ir_op loop;
    ir_dim line = row_steps(w);
    ir_dim down = times(w, w->number[WINDOW_WIDTH], w->number[WINDOW_CHANNELS]);
    uint32_t rows = (uint32_t)s->rows;
    tile_state inner = *s;
    ir_builder in = tile_for(b, w->first_row, w->last, 1, s->sums, rows, &loop, &row);
    lowering_mark(w->t->f.l, loop, w->t->f.op);
    for (uint32_t i = 0; i < rows; i++)
        inner.sums[i] = ir_block_get(b->m, in.block)->arguments[1 + i];
    ir_value first = scaled(w, &in, line, row);
    ir_value shift = tile_index_sub(&in, scaled(w, &in, down, row), first);
    for (int i = 0; i < count; i++)
        emit_run(w, &in, &runs[i], first, shift, &inner);
    tile_yield(&in, inner.sums, rows);
    for (uint32_t i = 0; i < rows; i++)
        s->sums[i] = ir_op_result(b->m, loop, i);
}

static void emit_tile(const windows *w, ir_builder *b, ir_value m, int64_t rows, const run *runs,
                      int count) {
    dot *t = w->t;
    int place = t->f.shape.index[DOT_M];
    ir_dim stride = t->lhs[1 + place];
    tile_state s = {.rows = rows, .stride = ir_dim_is_static(stride) ? stride : 0};
    ir_value zero = tile_broadcast(b, tile_constant(b, t->element, 0), 1, t->f.columns);
    for (int64_t i = 0; i < rows; i++) {
        t->f.index[place] = tile_index_step(b, m, m, 0, i);
        t->f.index[t->k] = tile_index(b, 0);
        s.at[i] = frame_offset(&t->f, b, t->lhs);
        s.sums[i] = zero;
    }
    t->f.index[place] = m;
    emit_rows(w, b, runs, count, &s);
    for (int64_t i = 0; i < rows; i++) {
        t->f.index[place] = tile_index_step(b, m, m, 0, i);
        if (w->start)
            dot_add_chunk(t, b, w->extent, w->start, s.sums[i]);
        else
            dot_finish(t, b, dot_with_zero(t, b, s.sums[i]));
    }
}

/* ---- a line whose length is a number, in one block ---- */

static int64_t divided_up(int64_t x, int64_t by) {
    return x <= 0 ? 0 : (x + by - 1) / by;
}

static int64_t smaller(int64_t x, int64_t y) {
    return x < y ? x : y;
}

/* The runs of the tile of `rows` windows at m: places with the same windows inside are one. */
static int find_runs(const windows *w, ir_builder *b, int64_t m, int64_t rows, run *runs) {
    int64_t stride = w->number[WINDOW_STRIDE], padding = w->number[WINDOW_PADDING],
            channels = w->number[WINDOW_CHANNELS];
    int count = 0;
    for (int64_t i = 0; i < w->number[WINDOW_COLUMNS]; i++) {
        int64_t before = padding - i - m * stride;
        int64_t first = smaller(divided_up(before, stride), rows),
                last = smaller(divided_up(before + w->number[WINDOW_WIDTH], stride), rows);
        if (last <= first)
            continue;
        bool joins = count && runs[count - 1].first == first && runs[count - 1].last == last;
        if (!joins)
            runs[count++] = (run){first, last, tile_index(b, i * channels), 0};
        runs[count - 1].to = tile_index(b, (i + 1) * channels);
    }
    if (count == 0) /* nothing is inside: the sums of no steps */
        runs[count++] = (run){0, rows, tile_index(b, 0), tile_index(b, 0)};
    return count;
}

/* Are all columns of these windows inside? */
static bool is_inside(const windows *w, int64_t m, int64_t rows) {
    int64_t stride = w->number[WINDOW_STRIDE], first = m * stride - w->number[WINDOW_PADDING];
    int64_t end = first + (rows - 1) * stride + w->number[WINDOW_COLUMNS];
    return first >= 0 && end <= w->number[WINDOW_WIDTH];
}

static void emit_known_tile(const windows *w, ir_builder *b, int64_t m, int64_t rows) {
    run runs[MOST_RUNS];
    int count = find_runs(w, b, m, rows, runs);
    emit_tile(w, b, tile_index(b, m), rows, runs, count);
}

/* Tiles of which all is inside, from m to end. */
static void emit_inside(const windows *w, ir_builder *b, ir_value m, ir_value end) {
    ir_value index;
    run all = {0, w->tile, tile_index(b, 0), dim(w, b, row_steps(w))};
    ir_builder in = tile_for(b, m, end, w->tile, NULL, 0, NULL, &index);
    emit_tile(w, &in, index, w->tile, &all, 1);
    tile_yield(&in, NULL, 0);
}

/* Number of whole tiles in a row, from m on, that are inside. */
static int64_t tiles_inside(const windows *w, int64_t m) {
    int64_t count = 0;
    while (m + (count + 1) * w->tile <= w->number[WINDOW_PLACES] &&
           is_inside(w, m + count * w->tile, w->tile))
        count++;
    return count;
}

/* Tiles of a line that are not inside have code of their own. */
static int64_t tiles_apart(const windows *w) {
    int64_t apart = 0, places = w->number[WINDOW_PLACES];
    for (int64_t m = 0; m < places && apart <= MOST_ENDS; m += w->tile)
        apart += !is_inside(w, m, smaller(w->tile, places - m)) || places - m < w->tile;
    return apart;
}

static void emit_known_line(const windows *w, ir_builder *b) {
    int64_t places = w->number[WINDOW_PLACES];
    for (int64_t m = 0; m < places;) {
        int64_t inside = tiles_inside(w, m), rows = smaller(w->tile, places - m);
        if (inside > 1)
            emit_inside(w, b, tile_index(b, m), tile_index(b, m + inside * w->tile));
        else
            emit_known_tile(w, b, m, rows);
        m += inside > 1 ? inside * w->tile : rows;
    }
}

static bool is_known_line(const windows *w) {
    int64_t first;
    bool known = tile_constant_index(w->t->b, w->m, &first) && first == 0;
    for (int i = 0; i < WINDOW_COUNT; i++)
        known &= ir_dim_is_static(w->number[i]);
    return known && w->span >= w->number[WINDOW_PLACES] &&
           w->number[WINDOW_COLUMNS] <= MOST_COLUMNS && tiles_apart(w) <= MOST_ENDS;
}

/* ---- any line ---- */

/* Windows [m, end), one by one, each with the places that are inside. */
static void emit_singles(const windows *w, ir_builder *b, ir_value m, ir_value end) {
    ir_value index, none = tile_index(b, 0);
    ir_builder in = tile_for(b, m, end, 1, NULL, 0, NULL, &index);
    ir_value begin = begin_of(w, &in, index), columns = dim(w, &in, w->number[WINDOW_COLUMNS]);
    ir_value before = tile_index_sub(&in, none, begin);
    ir_value after = tile_index_sub(&in, dim(w, &in, w->number[WINDOW_WIDTH]), begin);
    run inside = {
        0, 1,
        scaled(w, &in, w->number[WINDOW_CHANNELS], tile_index_clamp(&in, before, none, columns)),
        scaled(w, &in, w->number[WINDOW_CHANNELS], tile_index_clamp(&in, after, none, columns))};
    emit_tile(w, &in, index, 1, &inside, 1);
    tile_yield(&in, NULL, 0);
}

static void emit_any_line(const windows *w, ir_builder *b) {
    int64_t stride = w->number[WINDOW_STRIDE], padding = w->number[WINDOW_PADDING];
    ir_value end = tile_index_min(b, tile_index_step(b, w->m, w->m, 0, w->span),
                                  dim(w, b, w->number[WINDOW_PLACES]));
    ir_value room =
        tile_index_sub(b, dim(w, b, w->number[WINDOW_WIDTH]), dim(w, b, w->number[WINDOW_COLUMNS]));
    room = tile_index_max(b, tile_index_step(b, room, room, 0, padding + stride), tile_index(b, 0));
    ir_value first = tile_index_clamp(b, tile_index(b, divided_up(padding, stride)), w->m, end);
    ir_value last =
        tile_index_clamp(b, tile_index_quotient(b, room, tile_index(b, stride)), first, end);
    ir_value whole = tile_index_floor(b, tile_index_sub(b, last, first), w->tile);
    ir_value after = tile_index_add(b, first, whole);
    emit_singles(w, b, w->m, first);
    emit_inside(w, b, first, after);
    emit_singles(w, b, after, end);
}

void lower_windows(dot *t, ir_builder *b, ir_dim extent) {
    lowering *l = t->f.l;
    windows w = {.t = t, .extent = extent, .m = t->f.index[t->f.shape.index[DOT_M]]};
    ir_op_ints(l->s, t->f.op, "windows", w.number, WINDOW_COUNT);
    w.tile = schedule_step(l->s, t->f.op, "rows", 1);
    w.span = schedule_step(l->s, t->f.op, "span", 1);
    ir_value begin = begin_of(&w, b, t->f.index[t->f.shape.index[DOT_LINE]]);
    ir_value rows = dim(&w, b, w.number[WINDOW_ROWS]);
    ir_value height = dim(&w, b, w.number[WINDOW_HEIGHT]), none = tile_index(b, 0);
    w.first_row = tile_index_clamp(b, tile_index_sub(b, none, begin), none, rows);
    w.last = tile_index_clamp(b, tile_index_sub(b, height, begin), none, rows);
    if (t->f.shape.buffer[DOT_TOTALS] >= 0) {
        dot_chunk_bounds(t, b, extent, &w.low, &w.high);
        w.start = w.low;
    }
    if (is_known_line(&w))
        emit_known_line(&w, b);
    else
        emit_any_line(&w, b);
}
