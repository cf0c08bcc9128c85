/* lower_mma_stage.c - a contraction's tile on a matrix unit that reads both sides from the
 * workgroup's memory, while it goes on: wgmma.
 *
 * All of a stage is copied there without going through registers, but for a side of single bytes
 * whose steps do not lie side by side, or not in whole words: registers turn it. A slot has both
 * sides, each with its lines or its steps side by side, as they lie far away, in panels of up to
 * 128 bytes a row, swizzled (swizzle.h). The sums' pieces of rows are subgroups' and an instruction
 * has 16 rows of each; so of several instructions the left side's lines go to their places in
 * blocks of 16.
 *
 * With three slots or more the products of one stage are under way while the next one's are begun,
 * and copies are, into a slot whose products all threads have waited for.
 *
 * Of lines and steps that there are not a side has zeros, which are stored first, with all else of
 * it: copies go around them.
 *
 * A loader may do the copies: a thread of a group of its own, to which slots are given back. Then
 * there are whole tiles and stages alone, of arguments of the kernel, and a workgroup has one tile.
 */
#include "tile/simt/staging.h"
#include "tile/swizzle.h"

enum { BLOCK = 16 };

/* Layout of a slot of so many steps. */
typedef struct slot_shape {
    int64_t steps, row[2], right_at, elements;
} slot_shape;

static int64_t size_of(const staging *g) {
    return (int64_t)dtype_size(g->element);
}

/* Elements of a panel's row. */
static int64_t row_of(const staging *g, const stage_side *s, int64_t steps) {
    int64_t length = s->by_step ? steps : s->padded, row = SWIZZLE_MOST / size_of(g);
    while (length % row != 0)
        row /= 2;
    return row;
}

static slot_shape shape_of(const staging *g, int64_t steps) {
    const int64_t aligned = SWIZZLE_ALIGNMENT / size_of(g);
    slot_shape shape = {.steps = steps};
    for (int i = 0; i < 2; i++)
        shape.row[i] = row_of(g, &g->sides[i], steps);
    shape.right_at = staging_up(g->sides[0].padded * steps, aligned);
    shape.elements = shape.right_at + staging_up(g->sides[1].padded * steps, aligned);
    return shape;
}

static bool can_copy(staging *g, ir_builder *b) {
    staging_sides(g);
    g->steps = staging_up(g->t->stage ? g->t->stage : 1, g->unit->k);
    g->whole = g->t->extent / g->steps;
    g->rest = g->t->extent % g->steps;
    bool all = true;
    for (int i = 0; i < 2; i++) {
        stage_side *s = &g->sides[i];
        s->by_step = !mma_reads_lines(g->unit) || s->step_stride == 1 || s->line_stride != 1;
        s->piece = staging_piece(g, s, b, g->steps, g->rest);
        s->loaded = !mma_reads_lines(g->unit) && s->piece == 0;
        all &= s->piece != 0 || s->loaded;
    }
    return all;
}

/* ---- copies ---- */

/* Destination of a side's copies: its slot's beginning, the steps there from k on. */
typedef struct stage_copy {
    const staging *g;
    const stage_side *s;
    ir_value slot, k;
    const slot_shape *shape;
    int64_t steps;                /* those that there are */
    int64_t blocks, block_stride; /* of fetches: groups of lines, and how far they are apart */
} stage_copy;

/* Through registers, by which lines become steps. Parameters: those of staging_copy. */
static void load_rows(const staging *g, const stage_side *s, ir_builder *b, ir_value to,
                      ir_value from, const stage_rows *r) {
    ir_value x = tile_load(b, frame_memory(&g->t->f, s->number), from, r->rows, r->columns,
                           s->line_stride, s->step_stride);
    ir_op store = tile_store(b, g->memory, to, x, r->to_stride, 1, false);
    ir_op_set_attr(b->m, store, "swizzle", ir_attr_int(b->m, r->swizzle));
}

/* Rows of a panel, from a step and a line on; the panel begins at element `to` of the slot.
 * Parameters: a rectangle of the panel and the place of it, two numbers each; `c` has all that
 * stays. */
static void copy_rows(const stage_copy *c, ir_builder *b, int64_t to, int64_t at, int64_t step,
                      int64_t line, int64_t rows, int64_t columns) {
    const stage_side *s = c->s;
    int64_t row = c->shape->row[s->number];
    ir_value from = staging_far_offset(c->g, s, b, tile_index_plus(b, c->k, step));
    const stage_rows stage = {.rows = rows,
                              .columns = columns,
                              .to_stride = row,
                              .from_stride = s->by_step ? s->line_stride : s->step_stride,
                              .swizzle = row * size_of(c->g),
                              .at = at,
                              .blocks = c->blocks,
                              .block_stride = c->block_stride};
    ir_value place = tile_index_plus(b, c->slot, to);
    from = tile_index_plus(b, from, line * s->line_stride);
    if (rows > 0 && columns > 0)
        (s->loaded ? load_rows : staging_copy)(c->g, s, b, place, from, &stage);
}

/* Some lines from `line` on, to the place of line number `place` in the slot. */
static void copy_lines(const stage_copy *c, ir_builder *b, int64_t line, int64_t lines,
                       int64_t place) {
    const stage_side *s = c->s;
    int64_t row = c->shape->row[s->number], begin = s->number ? c->shape->right_at : 0;
    if (!s->by_step) {
        int64_t panel = place / row * row * c->shape->steps;
        copy_rows(c, b, begin + panel, place % row, 0, line, c->steps, lines);
        return;
    }
    for (int64_t step = 0; step < c->steps; step += row) {
        int64_t columns = c->steps - step < row ? c->steps - step : row;
        copy_rows(c, b, begin + step * s->padded + place * row, 0, step, line, lines, columns);
    }
}

/* The blocks of an instruction at once, each as far from the next as there are instructions. */
static void fetch_blocks(const stage_copy *c, ir_builder *b, int64_t down, int64_t groups) {
    stage_copy part = *c;
    part.blocks = groups;
    part.block_stride = down * BLOCK * c->s->line_stride;
    for (int64_t i = 0; i < down; i++)
        copy_lines(&part, b, i * BLOCK, BLOCK, i * groups * BLOCK);
}

/* Rows that all groups of subgroups multiply with an instruction each. */
static int64_t rows_at_once(const staging *g, const ir_module *m) {
    return staging_threads(m) / g->unit->lanes * g->unit->m;
}

/* Block by block in the order of instructions; else as much as lies side by side. */
static void copy_side(const stage_copy *c, ir_builder *b) {
    const stage_side *s = c->s;
    int64_t m = rows_at_once(c->g, b->m), down = s->padded / m, groups = m / BLOCK;
    bool blocks = s->number == 0 && down > 1;
    if (blocks && c->g->fetches) {
        fetch_blocks(c, b, down, groups);
        return;
    }
    int64_t each = blocks ? BLOCK : s->by_step ? s->padded : c->shape->row[s->number];
    for (int64_t line = 0; line < s->lines; line += each) {
        int64_t lines = s->lines - line < each ? s->lines - line : each, block = line / BLOCK;
        int64_t place = blocks ? (block % down * groups + block / down) * BLOCK : line;
        copy_lines(c, b, line, lines, place);
    }
}

static void copy_steps(const staging *g, ir_builder *b, ir_value slot, ir_value k,
                       const slot_shape *shape, int64_t steps) {
    for (int i = 0; i < 2; i++)
        copy_side(&(stage_copy){g, &g->sides[i], slot, k, shape, steps, 0, 0}, b);
}

static void copy_stage(const staging *g, ir_builder *b, ir_value slot, ir_value k) {
    const slot_shape shape = shape_of(g, g->steps);
    copy_steps(g, b, slot, k, &shape, g->steps);
}

/* ---- products ---- */

static ir_value multiply(const staging *g, ir_builder *b, ir_value slot, int64_t steps,
                         ir_value sum) {
    const slot_shape shape = shape_of(g, steps);
    ir_module *m = b->m;
    const stage_side *x = &g->sides[0], *y = &g->sides[1];
    int64_t size = size_of(g);
    ir_value operands[] = {g->memory, tile_index_plus(b, slot, shape.right_at), sum, g->memory,
                           slot};
    ir_named_attr attrs[6] = {{"unit", ir_attr_string(m, g->unit->name)},
                              {"steps", ir_attr_int(m, shape.steps)},
                              {"left", ir_attr_int(m, shape.row[0] * size)},
                              {"right", ir_attr_int(m, shape.row[1] * size)}};
    uint32_t n = 4;
    if (!x->by_step)
        attrs[n++] = (ir_named_attr){"left_turned", ir_attr_bool(m, true)};
    if (!y->by_step)
        attrs[n++] = (ir_named_attr){"right_turned", ir_attr_bool(m, true)};
    return ir_build1(b, TILE_MMA_STAGE, operands, 5, ir_value_get(m, sum)->type, attrs, n);
}

static const stage_actions in_memory = {.copy = copy_stage, .multiply = multiply};

/* ---- the tile ---- */

/* A side that has lines or steps in the slot that there are not. */
static void put_zeros(const staging *g, ir_builder *b, int64_t slot, const slot_shape *shape,
                      bool missing_steps) {
    enum { COLUMNS = 256 }; /* of which an instruction's part of a side is a multiple */
    ir_value zero = tile_constant(b, g->unit->factor, 0);
    for (int i = 0; i < 2; i++) {
        const stage_side *s = &g->sides[i];
        int64_t rows = s->padded * shape->steps / COLUMNS, at = slot + i * shape->right_at;
        if (s->lines == s->padded && !missing_steps)
            continue;
        tile_store(b, g->memory, tile_index(b, at), tile_broadcast(b, zero, rows, COLUMNS), COLUMNS,
                   1, false);
    }
}

/* Is the tile the workgroup's only one, so that the loader has no other work? */
static bool is_alone(const ir_builder *b) {
    const ir_module *m = b->m;
    ir_op op = ir_block_parent(m, b->block);
    while (ir_op_get(m, op)->opcode == TILE_FOR && access_runs_once(m, op))
        op = ir_block_parent(m, ir_op_get(m, op)->block);
    return ir_op_get(m, op)->opcode == TILE_PHASE;
}

/* Rows of an argument of the kernel, of which a copy takes no more than there is. */
static bool can_fetch_side(const staging *g, const stage_side *s, ir_builder *b) {
    ir_value memory = frame_memory(&g->t->f, s->number);
    int64_t row = s->by_step ? s->line_stride : s->step_stride;
    bool turned_blocks = s->number == 0 && !s->by_step && s->padded > rows_at_once(g, b->m);
    return !ir_value_get(b->m, memory)->op && s->lines == s->padded && !turned_blocks &&
           s->piece * size_of(g) == COPY_BYTES &&
           access_stays_in_rows(b->m, staging_far_offset(g, s, b, tile_index(b, 0)), row,
                                s->by_step ? g->whole * g->steps : s->lines);
}

static bool can_fetch(const staging *g, ir_builder *b) {
    return g->t->loader && g->rest == 0 && g->whole > 2 && is_alone(b) &&
           can_fetch_side(g, &g->sides[0], b) && can_fetch_side(g, &g->sides[1], b);
}

/* Memory for the stages that are there at once, and for the steps behind the last whole one; a
 * loader's barriers. */
static void open_slots(staging *g, ir_builder *b, const slot_shape *shape, const slot_shape *rest) {
    int64_t most = g->whole - g->fetches; /* a loader's slots are used again */
    g->slots = most > g->t->depth ? g->t->depth : most;
    g->slot = shape->elements;
    int64_t elements = g->slots * g->slot + (g->rest ? rest->elements : 0);
    lowering *l = g->t->f.l;
    g->memory = (g->fetches ? lowering_own : lowering_staging)(l, b, g->unit->factor, elements,
                                                               SWIZZLE_ALIGNMENT);
    if (g->fetches)
        g->barriers = lowering_own(l, b, DTYPE_I64, 2 * g->slots, 1);
    for (int64_t i = 0; i < g->slots; i++)
        put_zeros(g, b, i * g->slot, shape, false);
    if (g->rest)
        put_zeros(g, b, g->slots * g->slot, rest, g->rest % g->unit->k != 0);
}

/* The copies of the first stages; those of the rest are waited for with the first of them. */
static void begin_copies(const staging *g, ir_builder *b, const slot_shape *rest) {
    if (g->rest)
        copy_steps(g, b, tile_index(b, g->slots * g->slot), tile_index(b, g->whole * g->steps),
                   rest, g->rest);
    staging_begin_copies(g, b);
    if (g->distance == 0 && !g->fetches)
        staging_op(b, TILE_COPY_COMMIT, NULL, 0);
}

/* The slot that copies go to is that of the stage before those whose products are under way, which
 * all threads have waited for when they meet at the barrier. */
static void set_distances(staging *g) {
    bool all = g->whole == g->slots; /* none is overwritten */
    g->copies = g->overlaps = true;
    g->behind = all || g->slots > 2 ? 1 : 0;
    g->distance = all ? g->slots : g->slots - 1 - g->behind;
}

bool lower_mma_stages(dot *t, ir_builder *b, ir_value *out) {
    staging g = {.t = t, .unit = t->mma, .element = t->mma->factor, .does = &in_memory};
    if (!can_copy(&g, b))
        return false;
    staging_pad(&g, b);
    g.fetches = can_fetch(&g, b);
    slot_shape shape = shape_of(&g, g.steps),
               rest = shape_of(&g, staging_up(g.rest ? g.rest : 1, g.unit->k));
    open_slots(&g, b, &shape, &rest);
    set_distances(&g);
    ir_value sum = dot_zero(t, b);
    begin_copies(&g, b, &rest);
    if (g.whole)
        sum = staging_whole(&g, b, sum);
    if (g.rest && !g.whole) {
        staging_op(b, TILE_COPY_WAIT, "left", 0);
        staging_op(b, TILE_BARRIER, NULL, 0);
    }
    if (g.rest)
        sum = staging_rest(&g, b, sum);
    ir_named_attr left = {"left", ir_attr_int(b->m, 0)};
    *out = ir_build1(b, TILE_MMA_WAIT, &sum, 1, ir_value_get(b->m, sum)->type, &left, 1);
    return true;
}
