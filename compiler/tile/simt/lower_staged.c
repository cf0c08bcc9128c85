/* lower_staged.c - a contraction's tile whose operands go through the workgroup's memory.
 *
 * A stage is some steps of both sides, with a row of memory for each step; every thread reads from
 * there what its sums need. Several stages have a slot of memory each: while one is multiplied,
 * those behind it are on their way. What lies far away in the summed type is copied there without
 * going through registers, where the chip can do that; else the next stage is loaded before this
 * one is multiplied, and stored behind it. Sums of chunks are added in registers. The order is the
 * one of lower_dot.c. */
#include "schedule/integers.h"
#include "tile/simt/staging.h"

/* Rows of memory are an odd number of four elements long: what threads put down with the steps side
 * by side falls on different banks, as long as those put down together are 32 bytes or less. */
enum { UNIT_OF_BANKS = 4, SECTOR = 32 };

/* ---- from far away into a slot ---- */

/* Window of a side: a row for each line of the left, a column for one of the right. */
static tile_window far_window(const staging *g, const stage_side *s, int64_t steps) {
    frame *f = &g->t->f;
    tile_window w = frame_window(f, s->access);
    *(s->number ? &w.columns : &w.rows) = s->lines;
    *(s->number ? &w.rows : &w.columns) = steps;
    *(s->number ? &w.row_stride : &w.column_stride) = s->access[1 + g->t->k];
    return w;
}

/* A window that stands still along an axis has one element there; here each has its own. */
static ir_value far_tile(const staging *g, const stage_side *s, ir_builder *b, ir_value at,
                         int64_t steps) {
    tile_window w = far_window(g, s, steps);
    ir_value x = tile_load_window(b, frame_memory(&g->t->f, s->number), at, &w);
    return tile_broadcast(b, dot_summed(g->t, b, x), s->number ? steps : s->lines,
                          s->number ? s->lines : steps);
}

/* Steps that are put down together. */
static int64_t part_of(const staging *g, const stage_side *s, int64_t steps) {
    tile_window w = far_window(g, s, steps);
    int64_t line = s->number ? w.column_stride : w.row_stride,
            part = SECTOR / (int64_t)dtype_size(g->element);
    while (part * STAGE_PARTS < steps)
        part *= 2;
    return line == 1 ? steps : part;
}

static stage_tiles load_stage(const staging *g, ir_builder *b, ir_value k, int64_t steps) {
    stage_tiles x = {.steps = steps};
    for (int i = 0; i < 2; i++) {
        const stage_side *s = &g->sides[i];
        int64_t part = part_of(g, s, steps), along = s->access[1 + g->t->k];
        ir_value at = staging_far_offset(g, s, b, k);
        for (int64_t from = 0; from < steps; from += part)
            x.tiles[i][from / part] = far_tile(g, s, b, tile_index_plus(b, at, from * along),
                                               steps - from < part ? steps - from : part);
        x.part[i] = part;
    }
    return x;
}

static void store_stage(const staging *g, ir_builder *b, ir_value slot, const stage_tiles *x) {
    for (int i = 0; i < 2; i++)
        for (int64_t from = 0; from < x->steps; from += x->part[i]) {
            const stage_side *s = &g->sides[i];
            tile_store(b, g->memory, tile_index_plus(b, slot, s->at + from * s->pitch),
                       x->tiles[i][from / x->part[i]], i ? s->pitch : 1, i ? 1 : s->pitch, false);
        }
}

/* ---- what can be copied ---- */

/* As numbers say where its elements lie: those of memory that outlives the workgroup, and nothing
 * is left out or read twice. */
static bool is_copyable(const staging *g, stage_side *s, ir_builder *b) {
    ir_value memory = frame_memory(&g->t->f, s->number);
    ir_op made = ir_value_get(b->m, memory)->op;
    tile_window w = far_window(g, s, g->steps);
    int64_t line = s->number ? w.column_stride : w.row_stride,
            step = s->number ? w.row_stride : w.column_stride;
    bool plain = true;
    for (int i = 0; i < TILE_MORE_COUNT; i++)
        plain &= w.more[i] == 0;
    s->turned = line != 1;
    s->line_stride = line;
    s->step_stride = step;
    if (!plain || line <= 0 || step <= 0 || (s->turned && step != 1) ||
        (made && ir_op_get(b->m, made)->opcode == TILE_SCRATCH) ||
        ir_type_of(b->m, memory)->element != g->element)
        return false;
    s->piece = s->turned ? (int64_t)dtype_size(g->element) >= LEAST_COPY_BYTES
                         : staging_piece(g, s, b, g->steps, 0);
    return s->piece > 0;
}

/* ---- products ---- */

static ir_value multiply(const staging *g, ir_builder *b, ir_value slot, int64_t steps,
                         ir_value sum) {
    const stage_side *x = &g->sides[0], *y = &g->sides[1];
    for (int64_t i = 0; i < steps; i++) {
        ir_value left = tile_load(b, g->memory, tile_index_plus(b, slot, x->at + i * x->pitch),
                                  x->lines, 1, 1, 0),
                 right = tile_load(b, g->memory, tile_index_plus(b, slot, y->at + i * y->pitch), 1,
                                   y->lines, 0, 1);
        sum = dot_multiply_add(g->t, b, left, right, sum);
    }
    return sum;
}

static const stage_actions copied = {.copy = staging_copy_stage, .multiply = multiply},
                           moved = {.copy = staging_move_stage,
                                    .load = load_stage,
                                    .store = store_stage,
                                    .multiply = multiply};

/* ---- slots ---- */

static void open_side(stage_side *s) {
    int64_t units = staging_up(s->lines, UNIT_OF_BANKS) / UNIT_OF_BANKS;
    s->pitch = (units | 1) * UNIT_OF_BANKS;
}

/* The rest behind whole stages has a slot of its own. */
static void open(staging *g, ir_builder *b) {
    const dot *t = g->t;
    staging_sides(g);
    g->steps = t->chunk ? greatest_divisor(t->stage, t->chunk) : t->stage;
    g->whole = t->extent / g->steps;
    g->rest = t->extent % g->steps;
    if (g->whole == 0)
        g->steps = g->rest;
    for (int i = 0; i < 2; i++)
        open_side(&g->sides[i]);
    g->copies = g->whole > 1 && t->depth && is_copyable(g, &g->sides[0], b) &&
                is_copyable(g, &g->sides[1], b);
    g->does = g->copies ? &copied : &moved;
    staging_cut_slots(g);
    g->sides[1].at = g->steps * g->sides[0].pitch;
    g->slot = g->sides[1].at + g->steps * g->sides[1].pitch;
    g->memory = lowering_staging(t->f.l, b, g->element, (g->slots + (g->rest > 0)) * g->slot, 1);
}

/* ---- stages ---- */

/* The first stages are on their way; what is left over is there. */
static void begin(const staging *g, ir_builder *b) {
    staging_begin(g, b);
    if (g->rest) {
        stage_tiles rest = load_stage(g, b, tile_index(b, g->whole * g->steps), g->rest);
        store_stage(g, b, tile_index(b, g->slots * g->slot), &rest);
    }
}

ir_value lower_staged(dot *t, ir_builder *b) {
    staging g = {.t = t, .element = t->element};
    open(&g, b);
    begin(&g, b);
    return staging_all(&g, b);
}
