/* pack.c - copies of a contraction's operands as its loops want them: in the summed type, rhs in
 * panels as wide as a register tile, lhs with its contracted axis innermost. */
#include "schedule/contraction.h"
#include "schedule/integers.h"

/* Places of a copy's elements: rows of some elements side by side, in panels one behind the other.
 * Whole rows are one panel. */
typedef struct layout {
    contraction_axis row, column;
    contraction_axis panel; /* whose index places a panel; AXIS_COUNT: there is one */
    ir_dim rows, columns;   /* there are */
    ir_dim width, depth;    /* elements of a panel's row, and its rows */
    ir_dim size;            /* of all panels */
    int64_t row_step, column_step;
    affine to; /* outer indices, and what a block begins with */
} layout;

static bool depends_on_outer(const contraction *c, const affine *a, int i) {
    return a->coefficient[contraction_outer_axis(c, i)] != 0;
}

bool contraction_same_storage(const contraction *c, ir_value buffer) {
    return dtype_stored_as(contraction_element(c, buffer)) == dtype_stored_as(c->element);
}

/* Rows far apart fall into few sets of the cache. */
bool contraction_near(const contraction *c) {
    ir_dim stride = contraction_along(c, &c->rhs.access, AXIS_K);
    int64_t row = scheduler_estimate(c->s, stride) * (int64_t)dtype_size(c->element);
    int64_t most = c->shape.rows > ONE_BLOCK_ROWS ? REREAD_ELEMENTS : NEAR_ELEMENTS;
    return c->shape.columns * c->shape.steps <= most && row < NEAR_ROW_BYTES;
}

bool contraction_has_known_size(const contraction *c) {
    return ir_dim_is_static(c->shape.n) && ir_dim_is_static(c->shape.k);
}

bool contraction_is_prepared(const contraction *c) {
    bool known = contraction_has_known_size(c) && c->shape.k > 0;
    for (int i = 0; i < c->shape.outer; i++)
        known = known && (!depends_on_outer(c, &c->rhs.access, i) ||
                          ir_dim_is_static(c->shape.map.extent[i]));
    /* Narrow elements that one tile of few rows converts once are less to read as they are. */
    bool wide = c->group || contraction_same_storage(c, c->rhs.buffer);
    return known && (wide || c->shape.rows > FEW_ROWS) && scheduler_constant(c->s, c->rhs.buffer);
}

void contraction_ask_copy(contraction *c, int64_t otherwise) {
    c->rhs.packing = scheduler_parameter(c->s, IN_DOT, PACK_B, otherwise, NULL);
    if (c->rhs.packing == PACK_PHASE && !contraction_has_known_size(c))
        contraction_refuse(c, "PACK_B=1 cannot be: the size of the copy is given at launch");
    if (c->rhs.packing == PACK_BLOCK && !contraction_can_pack_blocks(c))
        contraction_refuse(
            c, "PACK_B=2 cannot be: the operands have too many axes; 1 packs in a phase");
}

/* Copies pay for neither few rows nor what stays in cache as it lies. */
void contraction_choose_copy(contraction *c, int64_t lines) {
    int64_t rows = contraction_sizes(c, SIZES_FIT).around * lines * c->shape.rows;
    bool worth =
        contraction_has_known_size(c) && !contraction_near(c) && rows >= PROLOGUE_PACKED_ROWS;
    contraction_ask_copy(c, worth || contraction_is_prepared(c) ? PACK_PHASE : PACK_NOT);
}

/* Coefficients of the outer indices in a copy whose inner size is `inner`; returns the elements of
 * the whole copy. */
static ir_dim outer_strides(const contraction *c, const affine *from, ir_dim inner, affine *to) {
    for (int i = c->shape.outer - 1; i >= 0; i--)
        if (depends_on_outer(c, from, i)) {
            to->coefficient[contraction_outer_axis(c, i)] = inner;
            inner = plan_product(c->s->p, inner, c->shape.map.extent[i]);
        }
    return inner;
}

/* The place of an element whose column is the panel's first, as a tile reads it; or (`within`) of
 * any, counted from that. */
static affine place_in(const contraction *c, const layout *l, bool within) {
    affine to = l->to;
    bool panels = l->panel != AXIS_COUNT;
    contraction_set(c, &to, l->row, l->width);
    if (l->row == AXIS_ROW)
        contraction_set_steps(c, &to, l->width);
    contraction_set(c, &to, l->column, panels && !within ? l->depth : 1);
    if (panels && within)
        contraction_set(c, &to, l->panel, ir_dim_add_scaled(c->s->p->dims, -1, l->depth, 1));
    return to;
}

static dtype type_of_copy(const contraction *c) {
    return c->group ? DTYPE_I32 : c->element;
}

/* The columns from `start` on, of one panel or of a block. Parameters: those of a loop, and what is
 * copied there. */
static void copy_columns(contraction *c, ir_builder *b, const contraction_operand *from,
                         ir_value copy, const layout *l, contraction_place *place, ir_value start,
                         ir_attr span) {
    scheduler *s = c->s;
    ir_value indices[NEST_AXES + AXIS_COUNT];
    ir_builder in = scheduler_for(s, b, "column", start, l->columns,
                                  scheduler_int(s, l->column_step), span, &place->at[l->column]);
    expression none = {.p = s->p};
    axis_map map = contraction_map(c, place);
    affine to = place_in(c, l, true);
    ir_named_attr group = {"group", c->group ? scheduler_int(s, c->group) : 0};
    computation compute = {.opcode = SCHED_MAP,
                           .indices = indices,
                           .axes = contraction_indices(c, place, indices),
                           .map = &map,
                           .e = &none,
                           .yield_count = 1,
                           .outputs = &copy,
                           .output_access = &to,
                           .leading = &from->buffer,
                           .leading_access = &from->access,
                           .leading_count = 1,
                           .attrs = &group,
                           .attr_count = 1,
                           .copies = c->group ? contraction_element(c, from->buffer) : c->element};
    scheduler_compute(s, &in, &compute);
}

/* A phase over the outer indices on which the operand depends, and over blocks of its rows and
 * columns; from here on the contraction reads the copy. That of a constant lives from launch to
 * launch. */
static void copy_in_phase(contraction *c, const char *what, contraction_operand *o, layout *l,
                          int64_t rows, int64_t columns) {
    scheduler *s = c->s;
    contraction_place place = {.outer = {0}};
    ir_dim extents[NEST_AXES], size = outer_strides(c, &o->access, l->size, &l->to);
    ir_value indices[NEST_AXES];
    ir_attr steps[NEST_AXES], block = scheduler_int(s, rows),
                              column_span = scheduler_int(s, columns);
    int n = 0, outer[NEST_AXES];
    const char *constant = ir_dim_is_static(size) ? scheduler_constant(s, o->buffer) : NULL;
    ir_value copy =
        scheduler_buffer(s, &s->at, constant ? "prepared" : "workspace", type_of_copy(c), 1, &size);
    for (int i = 0; i < c->shape.outer; i++)
        if (depends_on_outer(c, &o->access, i)) {
            extents[n] = c->shape.map.extent[i];
            outer[n] = i;
            steps[n++] = scheduler_int(s, 1);
        }
    extents[n] = l->rows;
    steps[n] = block;
    extents[n + 1] = l->columns;
    steps[n + 1] = column_span;
    ir_builder b = scheduler_phase(s, what, n + 2, extents, steps, NULL, indices);
    if (constant)
        scheduler_mark_constant(s, constant);
    for (int i = 0; i < n; i++)
        place.outer[outer[i]] = indices[i];
    b = scheduler_for(s, &b, "row", indices[n], l->rows, scheduler_int(s, l->row_step), block,
                      &place.at[l->row]);
    if (l->panel != AXIS_COUNT)
        place.at[l->panel] = indices[n + 1];
    copy_columns(c, &b, o, copy, l, &place, indices[n + 1], column_span);
    o->buffer = copy;
    o->access = place_in(c, l, false);
}

/* rhs in panels of NR columns, [outer..., panel, k, NR]: a tile of the kernel reads one run of
 * memory. `depth`: steps that a panel has. */
static layout panels_of_rhs(const contraction *c, contraction_axis panel, ir_dim depth) {
    int64_t nr = c->tiles.nr.size, each = c->group ? c->group : 1;
    int64_t lanes = c->s->target->vector_lanes;
    ir_module *m = c->s->p->dims;
    bool strided = contraction_along(c, &c->rhs.access, AXIS_N) != 1;
    return (layout){.row = AXIS_ROW,
                    .column = AXIS_N,
                    .panel = panel,
                    .rows = c->shape.k,
                    .columns = c->shape.n,
                    .width = nr / each,
                    .depth = ir_dim_floordiv(m, ir_dim_add_scaled(m, depth, each - 1, 1), each),
                    .row_step = c->group  ? each
                                : strided ? lanes
                                          : 1,
                    .column_step = strided ? greatest_divisor(nr, lanes) : nr};
}

static void pack_rhs(contraction *c) {
    layout l = panels_of_rhs(c, AXIS_BLOCK_N, c->shape.k);
    l.size = round_up(c->shape.n, c->tiles.nr.size) * l.depth;
    copy_in_phase(c, "pack rhs", &c->rhs, &l, 128, c->tiles.nr.size);
    c->packed = true;
}

/* lhs as it is, in the summed type, its contracted axis innermost. */
static void pack_lhs(contraction *c) {
    int64_t lanes = c->s->target->vector_lanes;
    bool strided = contraction_along(c, &c->lhs.access, AXIS_K) != 1 && c->shape.k != 1;
    layout l = {.row = AXIS_M,
                .column = AXIS_K,
                .panel = AXIS_COUNT,
                .rows = c->shape.m,
                .columns = c->shape.k,
                .width = c->shape.k,
                .size = plan_product(c->s->p, c->shape.m, c->shape.k),
                .row_step = strided ? lanes : 1,
                .column_step = strided ? lanes : 4 * lanes};
    copy_in_phase(c, "pack lhs", &c->lhs, &l, 64, 512);
}

void contraction_pack(contraction *c) {
    (void)scheduler_constant(c->s, c->lhs.buffer); /* noted, whether they are copied or not */
    (void)scheduler_constant(c->s, c->rhs.buffer);
    if (c->shape.k == 0) /* operands of an empty contraction are not read */
        c->lhs.packing = c->rhs.packing = PACK_NOT;
    if (c->lhs.packing != PACK_NOT)
        pack_lhs(c);
    if (c->rhs.packing == PACK_PHASE)
        pack_rhs(c);
}

bool contraction_has_panels(const contraction *c) {
    return c->rhs.packing == PACK_BLOCK && !ir_dim_is_static(c->shape.n);
}

/* Row by row: runs of memory as long as the block is wide. */
void contraction_pack_block(contraction *c, ir_builder *b, const contraction_place *block) {
    scheduler *s = c->s;
    int64_t chunk = c->chunked ? contraction_chunk(c) : 0;
    layout l = panels_of_rhs(c, AXIS_PANEL, chunk ? chunk : c->shape.k);
    if (!c->group && contraction_along(c, &c->rhs.access, AXIS_K) != 1)
        l.row_step = 1; /* neither side has runs: no more code than it takes */
    ir_dim size = plan_product(s->p, round_up(c->tiles.bn.size, c->tiles.nr.size), l.depth);
    ir_value copy = scheduler_buffer(s, b, "workgroup", type_of_copy(c), 1, &size);
    contraction_place inner = *block;
    contraction_set(c, &l.to, AXIS_BLOCK_N, ir_dim_add_scaled(s->p->dims, 0, l.depth, -1));
    contraction_set(c, &l.to, AXIS_CHUNK, -l.width);
    ir_builder in =
        scheduler_for(s, b, "row", block->at[AXIS_CHUNK], l.rows, scheduler_int(s, l.row_step),
                      chunk ? scheduler_int(s, chunk) : 0, &inner.at[AXIS_ROW]);
    in = scheduler_for(s, &in, "panel", block->at[AXIS_BLOCK_N], l.columns, c->tiles.nr.name,
                       c->tiles.bn.name, &inner.at[AXIS_PANEL]);
    scheduler_set_tail(s, &in, "tail", 0);
    copy_columns(c, &in, &c->rhs, copy, &l, &inner, inner.at[AXIS_PANEL], c->tiles.nr.name);
    c->rhs.buffer = copy;
    c->rhs.access = place_in(c, &l, contraction_has_panels(c));
    c->packed = true;
}
