/* group_prologue.c - a contraction whose left side is computed by the workgroup that needs it:
 * implicit matrices, as the windows of a convolution.
 *
 * The left side has leading axes, which are rows, and trailing ones, which are the contracted axis.
 * A block is some lines of the last leading axis. Its rows are computed into the workgroup's
 * memory, a row after the other, and contracted from there. */
#include <string.h>

#include "schedule/contraction.h"
#include "schedule/integers.h"

/* Rows of a block where a line's width is given at launch, in tiles. */
enum { TILES_OF_BLOCK = 16 };

typedef struct prologue {
    ir_value value;
    int outer;           /* leading axes before the lines */
    int leading;         /* all of them */
    ir_dim lines, width; /* lines there are, rows in one */
    int64_t in_block;    /* lines of a block */
    ir_dim stride;       /* elements from row to row */
    bool whole;          /* a block is whole lines; else some rows of one */
} prologue;

static prologue prologue_of(const scheduler *s, const plan_group *group) {
    const plan *p = s->p;
    const ir_type_data *x = plan_type(p, ir_op_get(p->g, group->anchor)->operands[0]);
    prologue f = {.value = group->prologue, .leading = x->rank - 1, .lines = 1, .in_block = 1};
    f.outer = f.leading > 2 ? f.leading - 2 : 0;
    f.width = x->dims[f.leading - 1];
    if (f.leading > 1)
        f.lines = x->dims[f.leading - 2];
    f.stride = contraction_padded_row(s, x->dims[f.leading]);
    f.whole = ir_dim_is_static(f.lines) && ir_dim_is_static(f.width) && ir_dim_is_static(f.stride);
    return f;
}

/* ---- axes: outer..., block of lines, m, n, k ---- */

/* Index of the result's dimensions, where lines and rows of a block are one index. */
static void result_index(const contraction *c, const prologue *f, affine *index) {
    for (int i = 0; i < f->leading; i++) {
        index[i] = (affine){0};
        if (i < f->outer)
            index[i].coefficient[i] = 1;
    }
    if (f->leading > 1)
        index[f->leading - 2].coefficient[f->outer] = f->in_block;
    contraction_set(c, &index[f->leading - 1], AXIS_M, 1);
    index[f->leading] = (affine){0};
    contraction_set(c, &index[f->leading], AXIS_N, 1);
}

/* Do the inputs of the epilogue go on from line to line as they go on from row to row? */
static bool lines_are_rows(contraction *c, const prologue *f) {
    affine index[IR_MAX_RANK];
    substitute sum = {.kind = SUBSTITUTE_ACCUMULATOR, .value = c->result.value};
    expression e = contraction_epilogue(c, &sum);
    expression_identity(c->s->p, c->result.root, 0, index);
    expression_root(&e, c->result.root, index);
    bool ok = e.indices.count == 0 && f->leading > 1 && f->whole;
    for (size_t i = 0; i < e.inputs.count && ok; i++) {
        const int64_t *a = e.inputs.items[i].access.coefficient;
        ok = a[f->leading - 2] == a[f->leading - 1] * f->width;
    }
    expression_release(&e);
    return ok;
}

/* Lines that fit the cache, as long as threads have enough blocks; those of columns, each of which
 * computes the left side for itself, are estimated. */
static int64_t choose_lines(const contraction *c, const prologue *f, const int64_t *dims) {
    int64_t widest = 8 * c->s->target->vector_lanes;
    size_search z = {.rule = SIZES_WINDOW_LINES,
                     .threads = c->s->target->threads,
                     .around = (dims[f->leading] + widest - 1) / widest,
                     .each = f->width * f->stride * (int64_t)dtype_size(c->element),
                     .room = PROLOGUE_BLOCK_BYTES};
    for (int i = 0; i < f->outer; i++)
        z.around *= scheduler_estimate(c->s, dims[i]);
    return f->lines < 2 ? 1 : size_search_one(z, (size_dim){f->lines, f->lines, 1, 1});
}

static ir_dim negative(const scheduler *s, ir_dim x) {
    return ir_dim_add_scaled(s->p->dims, 0, x, -1);
}

static bool analyse(contraction *c, prologue *f) {
    const ir_type_data *y = plan_type(c->s->p, c->result.value);
    const ir_type_data *x = plan_type(c->s->p, ir_op_get(c->s->p->g, c->op)->operands[0]);
    axis_map *map = &c->shape.map;
    int count = f->outer + 4; /* outer..., block of lines, m, n, k */
    if (lines_are_rows(c, f)) {
        int64_t lines = scheduler_parameter(c->s, IN_DOT, LINES, choose_lines(c, f, y->dims), NULL);
        f->in_block = greatest_divisor(f->lines, lines);
    }
    *map = (axis_map){.count = count};
    for (int a = 0; a < NEST_AXES; a++)
        map->index_of[a] = a < count ? a : -1;
    for (int a = 0; a < f->outer; a++)
        map->extent[a] = y->dims[a];
    map->extent[f->outer] = f->in_block == 1 ? f->lines : f->lines / f->in_block;
    map->extent[f->outer + 1] = plan_product(c->s->p, f->in_block, f->width);
    map->extent[f->outer + 2] = y->dims[f->leading];
    map->extent[f->outer + 3] = x->dims[f->leading];
    contraction_name_axes(c, count);
    if (!contraction_can_pack_blocks(c))
        return false;
    result_index(c, f, c->result.index[0]);
    c->result.access = expression_offset(c->s->p, c->result.root, c->result.index[0]);
    c->result.buffer = c->s->buffer_of[c->result.root];
    contraction_set(c, &c->lhs.access, AXIS_M, f->stride);
    contraction_set(c, &c->lhs.access, AXIS_K, 1);
    if (!f->whole)
        contraction_set(c, &c->lhs.access, AXIS_BLOCK_M, negative(c->s, f->stride));
    return contraction_find_rhs(c);
}

/* ---- the left side ---- */

/* Axes of its nest: outer..., block, line, row, trailing...; *to receives the place in the
 * workgroup. Where a block is some rows of one line, the first of them has the line's place. */
static axis_space nest_axes(const contraction *c, const prologue *f, affine *index, affine *to) {
    const ir_type_data *t = plan_type(c->s->p, f->value);
    int line = f->outer + 1, row = line + 1, first = row + 1;
    axis_space space = {.axes = first + t->rank - f->leading};
    ir_dim inner = 1;
    for (int i = 0; i <= f->outer; i++) {
        space.extent[i] = c->shape.map.extent[i];
        space.keep[i] = space.barrier[i] = true;
    }
    space.extent[line] = f->in_block;
    space.extent[row] = f->width;
    memset(index, 0, sizeof *index * (size_t)t->rank);
    for (int i = 0; i < f->outer; i++)
        index[i].coefficient[i] = 1;
    if (f->leading > 1) {
        index[f->leading - 2].coefficient[f->outer] = f->in_block;
        index[f->leading - 2].coefficient[line] = f->whole;
    }
    index[f->leading - 1].coefficient[row] = 1;
    for (int i = t->rank - 1; i >= f->leading; i--) {
        int axis = first + i - f->leading;
        space.extent[axis] = t->dims[i];
        index[i].coefficient[axis] = 1;
        to->coefficient[axis] = inner;
        inner = plan_product(c->s->p, inner, t->dims[i]);
    }
    space.keep[space.axes - 1] = true;
    to->coefficient[row] = f->stride;
    to->coefficient[line] = plan_product(c->s->p, f->width, f->stride);
    if (!f->whole) {
        space.extent[line] = f->width;
        to->coefficient[line] = negative(c->s, f->stride);
        for (int i = line; i <= row; i++)
            space.keep[i] = space.barrier[i] = true;
    }
    return space;
}

static void fill(contraction *c, ir_builder *b, const contraction_place *grid) {
    scheduler *s = c->s;
    const prologue *f = c->fills;
    affine index[1][IR_MAX_RANK], to = {0};
    ir_value indices[NEST_AXES];
    ir_dim dims[] = {c->tiles.bm.size, f->stride};
    axis_space space = nest_axes(c, f, index[0], &to);
    affine_list accesses = {0};
    axis_map map;
    expression e = {.p = s->p, .group = -1, .computes = f->value};
    c->lhs.buffer =
        scheduler_buffer(s, b, "workgroup", plan_type(s->p, f->value)->element, 2, dims);
    expression_root(&e, f->value, index[0]);
    scheduler_collect(&e, &accesses);
    vec_push(&accesses, to);
    expression_merge(s->p, &space, accesses.items, accesses.count, &map);
    vec_release(&accesses);
    memcpy(indices, grid->outer, sizeof *indices * (size_t)(f->outer + 1));
    ir_builder in = *b;
    int first = f->outer + 1;
    if (!f->whole) {
        ir_value start = indices[first++] = grid->at[AXIS_BLOCK_M];
        in = scheduler_for(s, &in, "row", start, f->width, scheduler_int(s, 1), c->tiles.bm.name,
                           &indices[first]);
        first++;
    }
    for (int i = first; i < map.count; i++)
        in = scheduler_for(s, &in, i + 1 < map.count ? "row" : "column", 0, map.extent[i],
                           scheduler_int(s, i + 1 < map.count ? 1 : 4 * s->target->vector_lanes), 0,
                           &indices[i]);
    computation compute = {.opcode = SCHED_MAP,
                           .indices = indices,
                           .axes = map.count,
                           .map = &map,
                           .e = &e,
                           .yields = &f->value,
                           .yield_index = (const affine(*)[IR_MAX_RANK])index,
                           .yield_count = 1,
                           .outputs = &c->lhs.buffer,
                           .output_access = &to};
    scheduler_compute(s, &in, &compute);
    expression_release(&e);
}

/* All columns in one block where their sums fit: the left side is computed once. */
static void choose_block(contraction *c, const prologue *f) {
    scheduler *s = c->s;
    int64_t rows = f->whole ? c->shape.m : TILES_OF_BLOCK * c->tiles.mr.size;
    int64_t nr = c->tiles.nr.size, sums = PROLOGUE_SUMS_BYTES / (int64_t)dtype_size(c->element);
    int64_t most = sums / rows / nr * nr;
    int64_t columns = clamp(round_up(c->shape.columns, nr), nr, most > nr ? most : INT64_MAX);
    columns = size_search_one(contraction_sizes(c, SIZES_WINDOW_BLOCK),
                              (size_dim){c->shape.columns, columns, nr, nr});
    c->tiles.bm = tile_number(s, round_up(rows, c->tiles.mr.size));
    c->tiles.bn = tile_number(s, columns);
}

void schedule_prologue_group(scheduler *s, const plan_group *group) {
    contraction c = contraction_of_group(s, group);
    prologue f = prologue_of(s, group);
    if (!analyse(&c, &f)) {
        s->failed = true;
        return;
    }
    c.fill = fill;
    c.fills = &f;
    contraction_choose_form(&c);
    contraction_choose_copy(&c, 1);
    int64_t rows = CONTRACTION_TILE_ROWS;
    contraction_ask(&c, MR, rows, &c.tiles.mr);
    contraction_ask(&c, NR, contraction_tile_vectors(&c, rows) * s->target->vector_lanes,
                    &c.tiles.nr);
    choose_block(&c, &f);
    c.tiles.unroll = scheduler_int(s, 1);
    scheduler_parameter(s, IN_DOT, PREFETCH, 1, &c.tiles.prefetch);
    contraction_pack(&c);
    contraction_emit_grid(&c);
}
