/* group_window.c - a convolution: the windows of an image, contracted with weights.
 *
 * The image is read where it lies: a step of a window is at a line of the image and at a place in
 * it, and does not happen where one of them is outside (the masks of sched.dot). A block is some
 * lines of windows; its tiles are runs of a line. Those whose windows are inside along the line, as
 * all but the ends of a long line are, have a loop of their own. */
#include <string.h>

#include "schedule/contraction.h"
#include "schedule/integers.h"
#include "schedule/policy.h"

/* The axes: image, line, m, n, k. */
enum { IMAGE, LINE, PLACE, COLUMN, STEP, AXES };
/* Rows of a tile at most, with many registers; with few, and where a launch gives the line, as many
 * as usual. */
enum { MANY_ROWS = 14, SOME_ROWS = CONTRACTION_TILE_ROWS };
/* Places of a block, where a line is longer or its length is given at launch, in tiles. */
enum { TILES_OF_LINE = 16 };

static ir_dim times(const scheduler *s, ir_dim x, ir_dim y) {
    return plan_product(s->p, x, y);
}

static ir_dim scaled(const scheduler *s, ir_dim start, ir_dim x, int64_t by) {
    return ir_dim_add_scaled(s->p->dims, start, x, by);
}

/* The numbers of a convolve. */
typedef struct window_numbers {
    ir_dim places; /* of a line: windows side by side */
    ir_dim height, width;
    ir_dim size[2]; /* rows and columns of a window */
    ir_dim channels;
    int64_t stride, padding;
} window_numbers;

static window_numbers read_numbers(const contraction *c) {
    const ir_module *g = c->s->p->g;
    const ir_type_data *x = plan_type(c->s->p, ir_op_get(g, c->op)->operands[0]);
    window_numbers w = {.places = plan_type(c->s->p, c->result.value)->dims[2],
                        .height = x->dims[1],
                        .width = x->dims[2],
                        .channels = x->dims[3],
                        .stride = ir_op_int(g, c->op, "stride", 1),
                        .padding = ir_op_int(g, c->op, "padding", 0)};
    ir_op_ints(g, c->op, "window", w.size, 2);
    return w;
}

/* Line and place are the digits of the place of a step in its image. */
static void find_lhs(contraction *c, const window_numbers *w) {
    scheduler *s = c->s;
    contraction_windows *z = c->windows;
    ir_value image = ir_op_get(s->p->g, c->op)->operands[0];
    affine *line = &z->mask[0], *place = &z->mask[1], *a = &c->lhs.access;
    z->runs[0] = w->size[0];
    z->runs[1] = times(s, w->size[1], w->channels);
    z->limit[0] = w->height;
    z->limit[1] = times(s, w->width, w->channels);
    line->constant = -w->padding;
    contraction_set(c, line, AXIS_LINE, w->stride);
    contraction_set(c, line, AXIS_RUN, 1);
    place->constant = scaled(s, 0, w->channels, -w->padding);
    contraction_set(c, place, AXIS_M, scaled(s, 0, w->channels, w->stride));
    contraction_set(c, place, AXIS_K, 1);
    c->lhs.buffer = s->buffer_of[plan_storage(s->p, image)];
    a->constant = scaled(s, place->constant, z->limit[1], line->constant);
    for (int i = 0; i < NEST_AXES; i++)
        a->coefficient[i] = scaled(s, place->coefficient[i], z->limit[1], line->coefficient[i]);
    a->coefficient[IMAGE] = times(s, z->limit[1], w->height);
}

static bool analyse(contraction *c, const window_numbers *w) {
    scheduler *s = c->s;
    const ir_type_data *y = plan_type(s->p, c->result.value),
                       *right = plan_type(s->p, ir_op_get(s->p->g, c->op)->operands[1]);
    axis_map *map = &c->shape.map;
    *map = (axis_map){.count = AXES};
    for (int a = 0; a < NEST_AXES; a++)
        map->index_of[a] = a < AXES ? a : -1;
    for (int a = IMAGE; a <= COLUMN; a++)
        map->extent[a] = y->dims[a];
    map->extent[STEP] = right->dims[0];
    contraction_name_axes(c, AXES);
    c->shape.outer = 1; /* lines are in blocks, as places are */
    c->shape.axis[AXIS_LINE] = LINE;
    c->shape.axis[AXIS_RUN] = c->shape.axis[AXIS_BLOCK_LINE] + 1;
    for (int i = 0; i < 4; i++)
        c->result.index[0][i] = (affine){.coefficient = {[IMAGE] = i == IMAGE,
                                                         [LINE] = i == LINE,
                                                         [PLACE] = i == PLACE,
                                                         [COLUMN] = i == COLUMN}};
    c->result.access = expression_offset(s->p, c->result.root, c->result.index[0]);
    c->result.buffer = s->buffer_of[c->result.root];
    c->lines.count = y->dims[LINE];
    find_lhs(c, w);
    return contraction_find_rhs(c);
}

/* ---- sizes ---- */

/* The largest part of a line that is at most `most`, where a line is cut into even parts. */
static int64_t even_part(int64_t line, int64_t most) {
    int64_t parts = (line + most - 1) / most;
    return parts ? (line + parts - 1) / parts : 1;
}

/* Steps of a trip on a core, as in a product; runs of steps are whole places, of their channels. */
static int64_t trip_steps(const contraction *c, ir_dim channels) {
    enum { TRIP_STEPS = 2 };
    bool known = ir_dim_is_static(channels) && !c->s->target->policy->threads;
    return known && channels > 0 ? greatest_divisor(channels, TRIP_STEPS) : 1;
}

static void choose_tile(contraction *c) {
    scheduler *s = c->s;
    bool known = ir_dim_is_static(c->shape.m), many = s->target->vector_registers >= 32;
    int64_t rows =
        known && c->shape.m > 0 ? even_part(c->shape.m, many ? MANY_ROWS : SOME_ROWS) : SOME_ROWS;
    int64_t vectors = contraction_tile_vectors(c, rows);
    contraction_ask(c, MR, rows, &c->tiles.mr);
    contraction_ask(c, NR, vectors * s->target->vector_lanes, &c->tiles.nr);
}

/* The sums of a block stay in cache from chunk to chunk. */
static void choose_block(contraction *c) {
    scheduler *s = c->s;
    int64_t nr = c->tiles.nr.size, mr = c->tiles.mr.size, most = TILES_OF_LINE * mr;
    bool whole = ir_dim_is_static(c->shape.m) && c->shape.m <= most;
    int64_t places = whole ? round_up(clamp(c->shape.m, 1, most), mr) : most;
    int64_t sums = PROLOGUE_SUMS_BYTES / (int64_t)dtype_size(c->element);
    int64_t columns = round_up(clamp(c->shape.columns, 1, sums / places), nr);
    int64_t all = scheduler_estimate(s, c->lines.count),
            lines = clamp(sums / (places * columns), 1, all > 1 ? all : 1);
    size_search z = contraction_sizes(c, SIZES_WINDOW_BLOCK);
    int64_t sizes[2];
    z.dims[0] = (size_dim){c->shape.columns, columns, nr, nr};
    z.dims[1] = (size_dim){all, lines, 1, 1};
    size_search_run(&z, sizes);
    c->lines.in_block = 1;
    c->lines.step = scheduler_int(s, 1);
    if (ir_dim_is_static(c->lines.count)) {
        int64_t asked = scheduler_parameter(s, IN_DOT, LINES, even_part(all, sizes[1]), NULL);
        c->lines.in_block = clamp(asked, 1, all);
        c->lines.step = scheduler_int(s, c->lines.in_block);
    }
    c->tiles.bm = tile_number(s, places);
    c->tiles.bn = tile_number(s, sizes[0]);
}

/* ---- pieces of a line ---- */

/* Goes by tiles, or place by place. */
static void add_piece(contraction *c, ir_dim from, ir_dim to, bool inside, bool tiles) {
    contraction_windows *z = c->windows;
    ir_attr step = tiles ? c->tiles.mr.name : scheduler_int(c->s, 1);
    if (from != to)
        z->pieces[z->piece_count++] = (window_piece){from, to, step, inside};
}

/* The end of the windows from the first one on that are inside. */
static ir_dim end_of_inside(const contraction *c, const window_numbers *w, int64_t first) {
    ir_module *m = c->s->p->dims;
    ir_dim room = scaled(c->s, w->padding - (first - 1) * w->stride, w->width, 1);
    room = scaled(c->s, room, w->size[1], -1);
    if (ir_dim_is_static(room))
        room = room < 0 ? 0 : room;
    else
        room = scaled(c->s, room, ir_dim_least(m, room, 0), -1);
    return scaled(c->s, first, ir_dim_floordiv(m, room, w->stride), 1);
}

/* The windows of a line that are inside, and those at its ends: of a line whose length is known, as
 * many of them as make a tile or two, so that they share their loads. */
static void find_pieces(contraction *c, const window_numbers *w) {
    int64_t first = (w->padding + w->stride - 1) / w->stride, tile = c->tiles.mr.size;
    ir_dim end = end_of_inside(c, w, first);
    bool tiles = ir_dim_is_static(w->places) && ir_dim_is_static(end) && first <= tile &&
                 w->places - end < tile && c->tiles.bm.size >= w->places;
    if (tiles) {
        first = clamp(first, 0, 1) * (w->places < tile ? w->places : tile);
        end = end / tile * tile < first ? first : end / tile * tile;
    }
    add_piece(c, 0, first, false, tiles);
    add_piece(c, first, end, true, true);
    add_piece(c, end, w->places, false, tiles);
}

void schedule_window_group(scheduler *s, const plan_group *group) {
    contraction c = contraction_of_group(s, group);
    contraction_windows windows = {.piece_count = 0};
    if (ir_type_count(s->p->g, ir_value_get(s->p->g, c.result.value)->type) == 0)
        return;
    window_numbers w = read_numbers(&c);
    c.windows = &windows;
    if (!analyse(&c, &w)) {
        s->failed = true;
        return;
    }
    contraction_choose_form(&c);
    contraction_choose_copy(&c, scheduler_estimate(s, c.lines.count));
    choose_tile(&c);
    choose_block(&c);
    c.tiles.unroll = scheduler_int(s, trip_steps(&c, w.channels));
    contraction_pack(&c);
    find_pieces(&c, &w);
    contraction_emit_grid(&c);
}
