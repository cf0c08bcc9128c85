/* lower_mma.c - a contraction's tile on a matrix unit.
 *
 * Both sides go through the workgroup's memory as they are, in stages of some steps, of which
 * several are there at once: while one is multiplied, those behind it are on their way. Where all
 * of a stage is aligned they are copied without going through registers; else the next stage is
 * loaded before this one is multiplied, and stored behind it.
 *
 * A slot of memory has both sides of a stage, each with its lines (rows of the left one, columns
 * of the right one) or its steps side by side, as they lie far away. Rows of memory are an odd
 * number of `unit_of_banks` long: then the eight rows that ldmatrix reads at once, and the sixteen
 * of AMD's fragments, are on different banks.
 *
 * Tiles are as large as the unit's instructions need. Lines that there are not are zero, and so
 * are the steps behind the last one; what they make is not stored. */
#include "schedule/integers.h"
#include "tile/simt/staging.h"

/* ---- memory ---- */

/* Sixteen bytes of ldmatrix, or the run of a thread, of two words or more. Elements of four bytes
 * are read one by one: eight lines by four steps, or where steps are rows, four of these by eight
 * lines. */
static int64_t unit_of_banks(const mma_unit *unit, bool by_step) {
    enum { WORD = 4 };
    int64_t size = (int64_t)dtype_size(unit->factor);
    bool turned = size > 2 && !by_step;
    if (unit->ptx)
        return COPY_BYTES / size * (turned ? 2 : 1);
    return unit->a.column_run * size < 2 * WORD ? 2 * WORD / size : unit->a.column_run;
}

static int64_t side_elements(const stage_side *s, int64_t steps) {
    return (s->by_step ? s->padded : steps) * s->pitch;
}

static void open_side(staging *g, stage_side *s, int64_t steps) {
    s->by_step = !mma_reads_lines(g->unit) || s->step_stride == 1 || s->line_stride != 1;
    int64_t of_banks = unit_of_banks(g->unit, s->by_step), length = s->by_step ? steps : s->padded;
    s->pitch = (staging_up(length, of_banks) / of_banks | 1) * of_banks;
}

static int64_t slots_of(const staging *g) {
    return g->slots + (g->rest > 0);
}

/* Cuts the steps into stages, of which whole ones are a chunk where the order has chunks. */
static void open_stages(staging *g) {
    const int64_t k = g->unit->k;
    g->steps = staging_up(g->t->stage ? g->t->stage : 1, k);
    if (g->t->as_threads && g->t->chunk)
        g->steps = greatest_divisor(g->t->chunk / k, g->steps / k) * k;
    g->whole = g->t->extent / g->steps;
    g->rest = g->t->extent % g->steps;
    if (g->whole == 0)
        g->steps = staging_up(g->rest, g->unit->k);
    for (int i = 0; i < 2; i++)
        open_side(g, &g->sides[i], g->steps);
}

/* The rest behind whole stages has a slot of its own. */
static void open_slots(staging *g, ir_builder *b) {
    staging_cut_slots(g);
    g->sides[1].at = side_elements(&g->sides[0], g->steps);
    g->slot = g->sides[1].at + side_elements(&g->sides[1], g->steps);
    g->memory = lowering_staging(g->t->f.l, b, g->unit->factor, slots_of(g) * g->slot, 1);
}

/* ---- from far away into a slot ---- */

/* Rows as a slot has them. */
static ir_value far_tile(const staging *g, const stage_side *s, ir_builder *b, ir_value k,
                         int64_t steps) {
    int64_t rows = s->by_step ? s->lines : steps, columns = s->by_step ? steps : s->lines;
    return tile_load(b, frame_memory(&g->t->f, s->number), staging_far_offset(g, s, b, k), rows,
                     columns, s->by_step ? s->line_stride : s->step_stride,
                     s->by_step ? s->step_stride : s->line_stride);
}

static void put(const staging *g, const stage_side *s, ir_builder *b, ir_value slot, ir_value x) {
    tile_store(b, g->memory, tile_index_plus(b, slot, s->at), x, s->pitch, 1, false);
}

static void put_zeros(const staging *g, ir_builder *b, ir_value at, const stage_side *s,
                      int64_t rows, int64_t columns) {
    if (rows <= 0 || columns <= 0)
        return;
    ir_value zero = tile_constant(b, g->unit->factor, 0);
    tile_store(b, g->memory, at, tile_broadcast(b, zero, rows, columns), s->pitch, 1, false);
}

/* The lines that there are not. */
static void put_missing_lines(const staging *g, ir_builder *b) {
    for (int64_t slot = 0; slot < slots_of(g); slot++)
        for (int i = 0; i < 2; i++) {
            const stage_side *s = &g->sides[i];
            int64_t missing = s->padded - s->lines, from = s->at + slot * g->slot;
            from += s->lines * (s->by_step ? s->pitch : 1);
            put_zeros(g, b, tile_index(b, from), s, s->by_step ? missing : g->steps,
                      s->by_step ? g->steps : missing);
        }
}

/* The steps behind the last one. */
static void put_missing_steps(const staging *g, const stage_side *s, ir_builder *b, ir_value slot) {
    int64_t missing = staging_up(g->rest, g->unit->k) - g->rest;
    ir_value at = tile_index_plus(b, slot, s->at + g->rest * (s->by_step ? 1 : s->pitch));
    put_zeros(g, b, at, s, s->by_step ? s->lines : missing, s->by_step ? missing : s->lines);
}

/* ---- products ---- */

static ir_value multiply(const staging *g, ir_builder *b, ir_value slot, int64_t steps,
                         ir_value sum) {
    const stage_side *x = &g->sides[0], *y = &g->sides[1];
    ir_named_attr unit = {"unit", ir_attr_string(b->m, g->unit->name)};
    for (int64_t i = 0; i < steps; i += g->unit->k) {
        ir_value left = tile_load(
            b, g->memory, tile_index_plus(b, slot, x->at + i * (x->by_step ? 1 : x->pitch)),
            x->padded, g->unit->k, x->by_step ? x->pitch : 1, x->by_step ? 1 : x->pitch);
        ir_value right = tile_load(
            b, g->memory, tile_index_plus(b, slot, y->at + i * (y->by_step ? 1 : y->pitch)),
            g->unit->k, y->padded, y->by_step ? 1 : y->pitch, y->by_step ? y->pitch : 1);
        ir_value operands[] = {left, right, sum};
        sum = ir_build1(b, TILE_MMA, operands, 3, ir_value_get(b->m, sum)->type, &unit, 1);
    }
    return sum;
}

static stage_tiles load_stage(const staging *g, ir_builder *b, ir_value k, int64_t steps) {
    stage_tiles x = {.steps = steps, .part = {steps, steps}};
    for (int i = 0; i < 2; i++)
        x.tiles[i][0] = far_tile(g, &g->sides[i], b, k, steps);
    return x;
}

static void store_stage(const staging *g, ir_builder *b, ir_value slot, const stage_tiles *x) {
    for (int i = 0; i < 2; i++)
        put(g, &g->sides[i], b, slot, x->tiles[i][0]);
}

static const stage_actions copied = {.copy = staging_copy_stage, .multiply = multiply},
                           loaded = {.copy = staging_move_stage,
                                     .load = load_stage,
                                     .store = store_stage,
                                     .multiply = multiply};

static ir_value loaded_stages(staging *g, ir_builder *b, ir_value sum) {
    step_loop l;
    int64_t last = (g->whole - 1) * g->steps;
    staging_move_stage(g, b, tile_index(b, 0), tile_index(b, 0));
    if (last > 0) {
        l = staging_loop(g, b, last, g->steps, &sum);
        ir_value number = tile_index_by(&l.in, TILE_INDEX_DIV, l.k, g->steps);
        staging_op(&l.in, TILE_BARRIER, NULL, 0); /* before the loads, which it would wait for */
        const stage_tiles ahead =
            load_stage(g, &l.in, tile_index_plus(&l.in, l.k, g->steps), g->steps);
        sum = multiply(g, &l.in, staging_slot(g, &l.in, number, 0), g->steps, sum);
        store_stage(g, &l.in, staging_slot(g, &l.in, number, 1), &ahead);
        dot_close(&l, &sum, 1);
    }
    l = staging_loop(g, b, last + g->steps, g->steps, &sum);
    sum = multiply(g, &l.in, staging_slot(g, &l.in, 0, g->whole - 1), g->steps, sum);
    dot_close(&l, &sum, 1);
    return sum;
}

/* The rest behind whole stages is in memory before any of them is multiplied. */
static void put_rest(const staging *g, ir_builder *b) {
    ir_value slot = tile_index(b, g->slots * g->slot), k = tile_index(b, g->whole * g->steps);
    for (int i = 0; i < 2; i++) {
        const stage_side *s = &g->sides[i];
        put(g, s, b, slot, far_tile(g, s, b, k, g->rest));
        put_missing_steps(g, s, b, slot);
    }
}

/* ---- the tile ---- */

static ir_value lower_in_slots(staging *g, ir_builder *b) {
    dot *t = g->t;
    staging_sides(g);
    staging_pad(g, b);
    open_stages(g);
    for (int i = 0; i < 2; i++)
        g->sides[i].piece = staging_piece(g, &g->sides[i], b, g->steps, 0);
    g->copies = t->mma->ptx && g->whole > 1 && g->sides[0].piece && g->sides[1].piece;
    g->does = g->copies ? &copied : &loaded;
    open_slots(g, b);
    put_missing_lines(g, b);
    if (g->rest)
        put_rest(g, b);
    if (t->as_threads) {
        staging_begin(g, b);
        return staging_all(g, b);
    }
    if (g->copies)
        staging_begin_copies(g, b);
    ir_value sum = dot_zero(t, b);
    if (g->whole)
        sum = (g->copies || staging_is_alone(g) ? staging_whole : loaded_stages)(g, b, sum);
    return g->rest ? staging_rest(g, b, sum) : sum;
}

ir_value lower_mma(dot *t, ir_builder *b) {
    staging g = {.t = t, .unit = t->mma, .element = t->mma->factor};
    ir_value sum;
    if (mma_in_memory(t->mma)) {
        if (lower_mma_stages(t, b, &sum))
            return sum;
        g.unit = t->mma = mma_unit_find(t->mma->name, false, t->mma->factor);
    }
    return lower_in_slots(&g, b);
}
