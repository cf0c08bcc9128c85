/* pack.c - copies of a contraction's operands as its loops want them: in the summed type, rhs in
 * panels as wide as a register tile, lhs with its contracted axis innermost. */
#include <string.h>

#include "schedule/contraction.h"
#include "schedule/cpu/cpu.h"
#include "schedule/integers.h"

/* A copy of an operand in the summed type: [outer indices on which it depends..., two more], which
 * `to` says. */
typedef struct repack {
    const char *what;
    const contraction_operand *source;
    ir_value copy;
    affine to;
    contraction_axis rows, columns; /* that its loops walk */
    ir_dim row_extent, column_extent;
    int64_t panel; /* columns of a panel when the copy is packed in panels; 0 otherwise */
    ir_attr row_step, column_step, row_block, column_block;
    const char *constant; /* the input's name; NULL: it is none */
} repack;

static bool depends_on_outer(const contraction *c, const affine *a, int i) {
    return a->coefficient[contraction_outer_axis(c, i)] != 0;
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

static ir_value sched_convert(ir_builder *b, ir_value x, dtype to) {
    ir_named_attr attr = {"to", ir_attr_type(b->m, ir_type_scalar(b->m, to))};
    if (ir_type_of(b->m, x)->element == to)
        return x;
    return ir_build1(b, GRAPH_CONVERT, &x, 1, ir_type_scalar(b->m, to), &attr, 1);
}

/* copy[to] = source, in the summed type, or in groups as they are. */
static void emit_copy(contraction *c, ir_builder *b, const contraction_place *place,
                      const contraction_operand *source, ir_value copy, const affine *to) {
    scheduler *s = c->s;
    ir_module *m = s->m;
    ir_value operands[NEST_AXES + AXIS_COUNT + 2];
    axis_map map = contraction_map(c, place, false);
    int n = contraction_indices(c, place, operands, NULL);
    operands[n] = source->buffer;
    operands[n + 1] = copy;
    ir_attr access[] = {expression_access(m, &source->access, &map, NEST_AXES),
                        expression_access(m, to, &map, NEST_AXES)};
    ir_named_attr attrs[] = {{"axes", scheduler_int(s, n)},
                             {"inputs", scheduler_int(s, 1)},
                             {"access", ir_attr_array(m, access, 2)},
                             {"group", scheduler_int(s, c->group)}};
    ir_op_spec spec = {.opcode = SCHED_MAP,
                       .operands = operands,
                       .operand_count = (uint32_t)n + 2,
                       .attrs = attrs,
                       .attr_count = c->group ? 4 : 3,
                       .region_count = 1};
    ir_builder body = {m, ir_op_block(m, ir_build(b, &spec), 0), 0, b->location};
    dtype element = contraction_element(c, source->buffer);
    ir_value x = ir_block_add_argument(m, body.block, ir_type_scalar(m, element), NULL);
    if (!c->group)
        x = sched_convert(&body, x, c->element);
    ir_op_spec end = {.opcode = SCHED_YIELD, .operands = &x, .operand_count = 1};
    ir_build(&body, &end);
}

/* The grid of a copy: outer indices on which it depends, blocks of rows and of columns. */
static ir_builder open_repack(contraction *c, const repack *r, contraction_place *place,
                              ir_value *row, ir_value *column) {
    scheduler *s = c->s;
    ir_dim extents[NEST_AXES];
    ir_attr steps[NEST_AXES];
    ir_value indices[NEST_AXES];
    int n = 0, outer[NEST_AXES];
    for (int i = 0; i < c->shape.outer; i++)
        if (depends_on_outer(c, &r->source->access, i)) {
            extents[n] = c->shape.map.extent[i];
            outer[n] = i;
            steps[n++] = scheduler_int(s, 1);
        }
    extents[n] = r->row_extent;
    steps[n] = r->row_block;
    extents[n + 1] = r->column_extent;
    steps[n + 1] = r->column_block;
    ir_builder b = scheduler_phase(s, r->what, n + 2, extents, steps, NULL, indices);
    *place = (contraction_place){.outer = {0}};
    for (int i = 0; i < n; i++)
        place->outer[outer[i]] = indices[i];
    *row = indices[n];
    *column = indices[n + 1];
    return b;
}

/* Memory of a copy, and the mark of its phase: that of a constant lives from launch to launch. */
static void open_copy(contraction *c, repack *r, dtype element, ir_dim size) {
    r->constant = ir_dim_is_static(size) ? scheduler_constant(c->s, r->source->buffer) : NULL;
    r->copy = scheduler_buffer(c->s, &c->s->at, r->constant ? "prepared" : "workspace", element, 1,
                               &size);
}

static void emit_repack(contraction *c, const repack *r) {
    scheduler *s = c->s;
    contraction_place place;
    ir_value row, column;
    affine to = r->to;
    ir_builder b = open_repack(c, r, &place, &row, &column);
    if (r->constant)
        scheduler_mark_constant(s, r->constant);
    b = scheduler_for(s, &b, "row", row, r->row_extent, r->row_step, r->row_block,
                      &place.at[r->rows]);
    if (r->panel) { /* the panel's first column places it, the column is relative to that */
        place.at[AXIS_BLOCK_N] = column;
        contraction_set(c, &to, AXIS_BLOCK_N, contraction_along(c, &to, r->columns) - 1);
        contraction_set(c, &to, r->columns, 1);
    }
    b = scheduler_for(s, &b, "column", column, r->column_extent, r->column_step, r->column_block,
                      &place.at[r->columns]);
    emit_copy(c, &b, &place, r->source, r->copy, &to);
}

/* The largest part of a vector that divides `n`. */
static int64_t dividing_vector(const scheduler *s, int64_t n) {
    return greatest_divisor(n, s->target->vector_lanes);
}

static dtype packed_type(const contraction *c) {
    return c->group ? DTYPE_I32 : c->element;
}

static void read_copy(contraction_operand *o, const repack *r) {
    o->buffer = r->copy;
    o->access = r->to;
}

/* rhs in panels of NR columns, [outer..., panel, k, NR]: a tile of the kernel reads one run of
 * memory. */
static void pack_rhs(contraction *c) {
    scheduler *s = c->s;
    int64_t n = c->shape.n, k = c->shape.k, nr = c->tiles.nr.size;
    bool strided = contraction_along(c, &c->rhs.access, AXIS_N) != 1;
    int64_t each = c->group ? c->group : 1, lanes = s->target->vector_lanes;
    repack r = {.what = "pack rhs",
                .source = &c->rhs,
                .rows = AXIS_ROW,
                .columns = AXIS_N,
                .row_extent = k,
                .column_extent = n,
                .panel = nr};
    int64_t size = outer_strides(c, &c->rhs.access, (n + nr - 1) / nr * nr * k / each, &r.to);
    contraction_set(c, &r.to, AXIS_N, k / each);
    contraction_set(c, &r.to, AXIS_K, nr / each);
    open_copy(c, &r, packed_type(c), size);
    r.row_step = scheduler_int(s, c->group ? each : strided ? lanes : 1);
    r.row_block = scheduler_int(s, 128);
    r.column_block = scheduler_int(s, nr);
    r.column_step = scheduler_int(s, strided ? dividing_vector(s, nr) : nr);
    emit_repack(c, &r);
    read_copy(&c->rhs, &r);
    c->packed = true;
}

/* lhs as it is, in the summed type, its contracted axis innermost. */
static void widen_lhs(contraction *c) {
    scheduler *s = c->s;
    ir_dim m = c->shape.m, k = c->shape.k;
    int64_t lanes = s->target->vector_lanes;
    bool strided = contraction_along(c, &c->lhs.access, AXIS_K) != 1 && k != 1;
    repack r = {.what = "pack lhs",
                .source = &c->lhs,
                .rows = AXIS_M,
                .columns = AXIS_K,
                .row_extent = m,
                .column_extent = k};
    ir_dim size = outer_strides(c, &c->lhs.access, plan_product(s->p, m, k), &r.to);
    contraction_set(c, &r.to, AXIS_M, k);
    contraction_set(c, &r.to, AXIS_K, 1);
    open_copy(c, &r, c->element, size);
    r.row_step = scheduler_int(s, strided ? lanes : 1);
    r.row_block = scheduler_int(s, 64);
    r.column_step = scheduler_int(s, strided ? lanes : 4 * lanes);
    r.column_block = scheduler_int(s, 512);
    emit_repack(c, &r);
    read_copy(&c->lhs, &r);
}

bool contraction_same_storage(const contraction *c, ir_value buffer) {
    return dtype_stored_as(contraction_element(c, buffer)) == dtype_stored_as(c->element);
}

/* Rows far apart fall into few sets of the cache. */
bool contraction_near(const contraction *c) {
    ir_dim stride = contraction_along(c, &c->rhs.access, AXIS_K);
    int64_t row = scheduler_estimate(c->s, stride) * (int64_t)dtype_size(c->element);
    return c->shape.columns * c->shape.steps <= NEAR_ELEMENTS && row < NEAR_ROW_BYTES;
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

/* Narrow elements are cheaper to convert where they are used, again for each few rows, than to be
 * written out wide and read again.
 * Panels that one block of rows uses need not go through memory. */
static int64_t rhs_packing(const contraction *c) {
    bool strided = contraction_along(c, &c->rhs.access, AXIS_N) != 1 && c->shape.columns > 1;
    dtype element = contraction_element(c, c->rhs.buffer);
    bool narrow = !contraction_same_storage(c, c->rhs.buffer);
    int64_t few = element == DTYPE_BF16 || element == DTYPE_I8
                      ? NARROW_PACKED_ROWS
                      : WIDE_PACKED_ROWS; /* a shift, or more */
    if (contraction_is_prepared(c))
        return PACK_PHASE;
    if (c->turnable)
        return PACK_NOT;
    bool packs = strided || c->group || (narrow && c->shape.rows > few) ||
                 (!narrow && c->shape.rows > WIDE_PACKED_ROWS && !contraction_near(c));
    if (!contraction_has_known_size(
            c)) { /* nor how often an element is converted: only what is dear is copied */
        bool dear = dtype_is_float(element) && dtype_size(element) == 1;
        return (strided || dear || c->group) && contraction_can_pack_blocks(c) ? PACK_BLOCK
                                                                               : PACK_NOT;
    }
    return !packs                                                              ? PACK_NOT
           : c->shape.rows <= ONE_BLOCK_ROWS && contraction_can_pack_blocks(c) ? PACK_BLOCK
                                                                               : PACK_PHASE;
}

static int64_t lhs_packing(const contraction *c) {
    bool strided = contraction_along(c, &c->lhs.access, AXIS_K) != 1 && c->shape.steps > 1;
    bool large = c->shape.rows * c->shape.steps > LEFT_PACKED_ELEMENTS &&
                 c->shape.columns >= LEFT_PACKED_COLUMNS;
    bool wide = c->group || contraction_same_storage(c, c->lhs.buffer);
    return (strided && large) || !wide ? PACK_PHASE : PACK_NOT;
}

/* Number of products added at once: where the order says so, and where the target can, exactly or
 * where the profile lets it. */
static int64_t best_group(const contraction *c) {
    dtype x = contraction_element(c, c->lhs.buffer), y = contraction_element(c, c->rhs.buffer);
    bool exact = x == DTYPE_I8 && c->element == DTYPE_I32, pairs = c->order == ORDER_PAIRS512,
         near = x == DTYPE_BF16 && c->element == DTYPE_F32 &&
                (pairs || strcmp(c->s->request->profile, "strict") != 0);
    int64_t group = exact ? 4 : near ? 2 : 0;
    bool whole = ir_dim_is_static(c->shape.k) ? c->shape.k > 0 && group && c->shape.k % group == 0
                                              : contraction_can_pack_blocks(c);
    bool fits = (c->s->target->dots || pairs) && x == y && group && whole &&
                (c->shape.rows >= 4 || c->turnable) && c->counts.of != COUNTS_STEPS &&
                contraction_along(c, &c->lhs.access, AXIS_K) == 1;
    return fits ? group : 0;
}

static void choose_group(contraction *c) {
    scheduler *s = c->s;
    int64_t best = best_group(c);
    if (best == 0)
        return;
    c->group = scheduler_parameter(s, IN_DOT, GROUP, best, NULL);
    if (c->group != 0 && c->group != best)
        contraction_refuse(c, "GROUP=%d cannot be here: 0 or %d", (int)c->group, (int)best);
}

static void choose_packing(contraction *c) {
    scheduler *s = c->s;
    c->lhs.packing = scheduler_parameter(s, IN_DOT, PACK_A, lhs_packing(c), NULL);
    c->rhs.packing = scheduler_parameter(s, IN_DOT, PACK_B, rhs_packing(c), NULL);
    bool lies = c->rhs.packing == PACK_NOT && !c->turnable;
    if (c->group && (c->lhs.packing != PACK_NOT || lies))
        contraction_refuse(c, "groups of elements need PACK_A=0 and PACK_B=1 or 2; or GROUP=0");
    if (c->rhs.packing == PACK_PHASE && !contraction_has_known_size(c))
        contraction_refuse(c, "PACK_B=1 cannot be: the size of the copy is given at launch");
    if (c->rhs.packing == PACK_BLOCK && !contraction_can_pack_blocks(c))
        contraction_refuse(
            c, "PACK_B=2 cannot be: the operands have too many axes; 1 packs in a phase");
}

void cpu_dot_operands(contraction *c) {
    choose_group(c);
    choose_packing(c);
}

void contraction_pack(contraction *c) {
    (void)scheduler_constant(c->s, c->lhs.buffer); /* noted, whether they are copied or not */
    (void)scheduler_constant(c->s, c->rhs.buffer);
    if (c->shape.k == 0) /* operands of an empty contraction are not read */
        c->lhs.packing = c->rhs.packing = PACK_NOT;
    if (c->lhs.packing != PACK_NOT)
        widen_lhs(c);
    if (c->rhs.packing == PACK_PHASE)
        pack_rhs(c);
}

bool contraction_has_panels(const contraction *c) {
    return c->rhs.packing == PACK_BLOCK && !ir_dim_is_static(c->shape.n);
}

void contraction_pack_block(contraction *c, ir_builder *b, const contraction_place *block) {
    scheduler *s = c->s;
    int64_t each = c->group ? c->group : 1, lanes = s->target->vector_lanes;
    ir_dim depth = c->chunked ? contraction_chunk(c) : c->shape.k;
    depth = ir_dim_floordiv(s->p->dims, ir_dim_add_scaled(s->p->dims, depth, each - 1, 1), each);
    int64_t nr = c->tiles.nr.size;
    ir_dim size = plan_product(s->p, round_up(c->tiles.bn.size, nr), depth);
    bool strided = contraction_along(c, &c->rhs.access, AXIS_N) != 1;
    bool turned = strided && contraction_along(c, &c->rhs.access, AXIS_K) == 1;
    contraction_operand copy = {.buffer =
                                    scheduler_buffer(s, b, "workgroup", packed_type(c), 1, &size)};
    contraction_place inner = *block;
    contraction_set(c, &copy.access, AXIS_K, nr / each);
    contraction_set(c, &copy.access, AXIS_N, depth);
    contraction_set(c, &copy.access, AXIS_BLOCK_N, ir_dim_add_scaled(s->p->dims, 0, depth, -1));
    contraction_set(c, &copy.access, AXIS_CHUNK, -nr / each);
    /* Row by row: runs of memory as long as the block is wide. */
    ir_builder in =
        scheduler_for(s, b, "row", block->at[AXIS_CHUNK], c->shape.k,
                      scheduler_int(s, c->group ? each
                                       : turned ? lanes
                                                : 1),
                      c->chunked ? scheduler_int(s, contraction_chunk(c)) : 0, &inner.at[AXIS_ROW]);
    in = scheduler_for(s, &in, "panel", block->at[AXIS_BLOCK_N], c->shape.n, c->tiles.nr.name,
                       c->tiles.bn.name, &inner.at[AXIS_PANEL]);
    scheduler_set_tail(s, &in, "tail", 0);
    in = scheduler_for(s, &in, "column", inner.at[AXIS_PANEL], c->shape.n,
                       scheduler_int(s, strided ? dividing_vector(s, nr) : nr), c->tiles.nr.name,
                       &inner.at[AXIS_N]);
    affine to = copy.access;
    contraction_set(c, &to, AXIS_PANEL, ir_dim_add_scaled(s->p->dims, depth, -1, 1));
    contraction_set(c, &to, AXIS_N, 1);
    emit_copy(c, &in, &inner, &c->rhs, copy.buffer, &to);
    copy.packing = c->rhs.packing;
    if (!ir_dim_is_static(c->shape.n))
        copy.access = to;
    c->rhs = copy;
    c->packed = true;
}
