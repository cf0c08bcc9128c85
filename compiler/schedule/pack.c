/* pack.c - copies of a contraction's operands as its loops want them: in the summed type, rhs in
 * panels as wide as a register tile, lhs with its contracted axis innermost. */
#include <string.h>

#include "schedule/contraction.h"

/* A copy of an operand in the summed type: [outer indices on which it depends..., two more].
 * `strides` are those of the last two indices of the phase in the copy. */
typedef struct repack {
    const char *what;
    ir_value source, copy;
    affine from, to;
    int rows, columns; /* indices that run over the rows and columns of the copy's tiles */
    int64_t panel;     /* columns of a panel when the copy is packed in panels; 0 otherwise */
    ir_attr row_step, column_step, row_block, column_block;
} repack;

/* Coefficients of the outer indices in a copy whose inner size is `inner`; returns the elements of
 * the whole copy. */
static int64_t outer_strides(const contraction *c, const affine *from, int64_t inner, affine *to) {
    for (int i = c->outer - 1; i >= 0; i--)
        if (contraction_along(c, from, i) != 0) {
            to->coefficient[contraction_axis(c, i)] = inner;
            inner *= c->map.extent[i];
        }
    return inner;
}

static ir_value sched_convert(ir_builder *b, ir_value x, dtype to) {
    ir_named_attr attr = {"to", ir_attr_type(b->m, ir_type_scalar(b->m, to))};
    if (ir_type_get(b->m, ir_value_get(b->m, x)->type)->element == to)
        return x;
    return ir_build1(b, GRAPH_CONVERT, &x, 1, ir_type_scalar(b->m, to), &attr, 1);
}

/* copy[to] = source[from], in the summed type, or in groups as they are. */
static void emit_copy(contraction *c, ir_builder *b, const ir_value *indices, int n,
                      const axis_map *map, ir_value source, const affine *from, ir_value copy,
                      const affine *to) {
    scheduler *s = c->s;
    ir_module *m = s->m;
    ir_value operands[NEST_AXES + 2];
    memcpy(operands, indices, sizeof *operands * (size_t)n);
    operands[n] = source;
    operands[n + 1] = copy;
    ir_attr access[] = {expression_access(m, from, map, NEST_AXES),
                        expression_access(m, to, map, NEST_AXES)};
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
    ir_value x = ir_block_add_argument(m, body.block,
                                       ir_type_scalar(m, contraction_element(c, source)), NULL);
    if (!c->group)
        x = sched_convert(&body, x, c->element);
    ir_op_spec end = {.opcode = SCHED_YIELD, .operands = &x, .operand_count = 1};
    ir_build(&body, &end);
}

static void emit_repack(contraction *c, const repack *r) {
    scheduler *s = c->s;
    int64_t extents[NEST_AXES];
    ir_attr steps[NEST_AXES];
    ir_value indices[NEST_AXES];
    axis_map map = {.count = 0};
    int n = 0;
    for (int a = 0; a < NEST_AXES; a++)
        map.index_of[a] = -1;
    for (int i = 0; i < c->outer; i++)
        if (contraction_along(c, &r->from, i) != 0) {
            map.index_of[contraction_axis(c, i)] = n;
            extents[n] = c->map.extent[i];
            steps[n++] = scheduler_int(s, 1);
        }
    map.index_of[contraction_axis(c, r->rows)] = n;
    extents[n] = c->map.extent[r->rows];
    steps[n++] = r->row_block;
    map.index_of[contraction_axis(c, r->columns)] = n;
    extents[n] = c->map.extent[r->columns];
    steps[n++] = r->column_block;
    map.count = n;
    ir_builder b = scheduler_phase(s, r->what, n, extents, steps, NULL, indices);
    b = scheduler_for(s, &b, "row", indices[n - 2], extents[n - 2], r->row_step, r->row_block,
                      &indices[n - 2]);
    affine to = r->to;
    if (r->panel) { /* the panel's first column places it, the column is relative to that */
        ir_value column;
        map.index_of[c->k_axis + 1] = n - 1;
        map.index_of[contraction_axis(c, r->columns)] = n;
        map.count = ++n;
        b = scheduler_for(s, &b, "column", indices[n - 2], c->n, r->column_step, r->column_block,
                          &column);
        indices[n - 1] = column;
        to.coefficient[c->k_axis + 1] = to.coefficient[contraction_axis(c, r->columns)] - 1;
        to.coefficient[contraction_axis(c, r->columns)] = 1;
    } else {
        b = scheduler_for(s, &b, "column", indices[n - 1], extents[n - 1], r->column_step,
                          r->column_block, &indices[n - 1]);
    }
    if (r->panel) { /* rows stay the last index but one: exchange them with the panel */
        ir_value panel = indices[n - 2];
        indices[n - 2] = indices[n - 3];
        indices[n - 3] = panel;
        map.index_of[c->k_axis + 1] = n - 3;
        map.index_of[contraction_axis(c, r->rows)] = n - 2;
    }
    emit_copy(c, &b, indices, n, &map, r->source, &r->from, r->copy, &to);
}

/* The largest part of a vector that divides `n`. */
static int64_t dividing_vector(const scheduler *s, int64_t n) {
    int64_t step = s->target->vector_lanes;
    while (n % step != 0)
        step /= 2;
    return step;
}

static dtype packed_type(const contraction *c) {
    return c->group ? DTYPE_I32 : c->element;
}

/* rhs in panels of NR columns, [outer..., panel, k, NR]: a tile of the kernel reads one run of
 * memory. */
static void pack_rhs(contraction *c) {
    scheduler *s = c->s;
    int n_index = c->outer + 1, k_index = c->outer + 2;
    int64_t panels = (c->n + c->nr - 1) / c->nr;
    bool strided = contraction_along(c, &c->rhs_access, n_index) != 1;
    repack r = {.what = "pack rhs",
                .source = c->rhs,
                .from = c->rhs_access,
                .rows = k_index,
                .columns = n_index,
                .panel = c->nr};
    int64_t each = c->group ? c->group : 1;
    int64_t size = outer_strides(c, &c->rhs_access, panels * c->nr * c->k / each, &r.to);
    r.to.coefficient[contraction_axis(c, n_index)] = c->k / each;
    r.to.coefficient[contraction_axis(c, k_index)] = c->nr / each;
    r.copy = scheduler_buffer(s, &s->at, "workspace", packed_type(c), 1, &size);
    r.row_step = scheduler_int(s, c->group ? each : strided ? s->target->vector_lanes : 1);
    r.row_block = scheduler_int(s, 128);
    r.column_block = scheduler_int(s, c->nr);
    r.column_step = scheduler_int(s, strided ? dividing_vector(s, c->nr) : c->nr);
    emit_repack(c, &r);
    c->rhs = r.copy;
    c->rhs_access = r.to;
    c->packed = true;
}

/* lhs as it is, but in the summed type and with its contracted axis innermost. */
static void widen_lhs(contraction *c) {
    scheduler *s = c->s;
    int m_index = c->outer, k_index = c->outer + 2;
    bool strided = contraction_along(c, &c->lhs_access, k_index) != 1 && c->k > 1;
    repack r = {.what = "pack lhs",
                .source = c->lhs,
                .from = c->lhs_access,
                .rows = m_index,
                .columns = k_index};
    int64_t size = outer_strides(c, &c->lhs_access, c->m * c->k, &r.to);
    r.to.coefficient[contraction_axis(c, m_index)] = c->k;
    r.to.coefficient[contraction_axis(c, k_index)] = 1;
    r.copy = scheduler_buffer(s, &s->at, "workspace", c->element, 1, &size);
    r.row_step = scheduler_int(s, strided ? s->target->vector_lanes : 1);
    r.row_block = scheduler_int(s, 64);
    r.column_step =
        scheduler_int(s, strided ? s->target->vector_lanes : 4 * s->target->vector_lanes);
    r.column_block = scheduler_int(s, 512);
    emit_repack(c, &r);
    c->lhs = r.copy;
    c->lhs_access = r.to;
}

bool contraction_same_storage(const contraction *c, ir_value buffer) {
    return dtype_stored_as(contraction_element(c, buffer)) == dtype_stored_as(c->element);
}

/* Rows far apart fall into few sets of the cache. */
bool contraction_near(const contraction *c) {
    int64_t row =
        contraction_along(c, &c->rhs_access, c->outer + 2) * (int64_t)dtype_size(c->element);
    return c->n * c->k <= NEAR_ELEMENTS && row < NEAR_ROW_BYTES;
}

/* Narrow elements are cheaper to convert where they are used, again for each few rows, than to be
 * written out wide and read again.
 * Panels that one block of rows uses need not go through memory. */
static int64_t rhs_packing(const contraction *c) {
    bool strided = contraction_along(c, &c->rhs_access, c->outer + 1) != 1 && c->n > 1;
    dtype element = contraction_element(c, c->rhs);
    bool narrow = !contraction_same_storage(c, c->rhs);
    int64_t few = element == DTYPE_BF16 || element == DTYPE_I8
                      ? NARROW_PACKED_ROWS
                      : WIDE_PACKED_ROWS; /* a shift, or more */
    bool packs = strided || c->group || (narrow && c->m > few) ||
                 (!narrow && c->m > WIDE_PACKED_ROWS && !contraction_near(c));
    return !packs ? PACK_NOT : c->m <= ONE_BLOCK_ROWS && !c->many_axes ? PACK_BLOCK : PACK_PHASE;
}

static int64_t lhs_packing(const contraction *c) {
    bool strided = contraction_along(c, &c->lhs_access, c->outer + 2) != 1 && c->k > 1;
    bool large = c->m * c->k > LEFT_PACKED_ELEMENTS && c->n >= LEFT_PACKED_COLUMNS;
    bool wide = c->group || contraction_same_storage(c, c->lhs);
    return (strided && large) || !wide ? PACK_PHASE : PACK_NOT;
}

/* How many products the target can add at once: exactly, or where the profile lets it. */
static int64_t best_group(const contraction *c) {
    dtype x = contraction_element(c, c->lhs), y = contraction_element(c, c->rhs);
    bool exact = x == DTYPE_I8 && c->element == DTYPE_I32,
         near = x == DTYPE_BF16 && c->element == DTYPE_F32 &&
                strcmp(c->s->request->profile, "strict") != 0;
    int64_t group = exact ? 4 : near ? 2 : 0;
    bool fits = c->s->target->dots && x == y && group && c->k > 0 && c->k % group == 0 &&
                c->m >= 4 && !c->counted && contraction_along(c, &c->lhs_access, c->outer + 2) == 1;
    return fits ? group : 0;
}

void contraction_choose_group(contraction *c) {
    scheduler *s = c->s;
    int64_t best = best_group(c);
    if (best == 0)
        return;
    c->group = scheduler_parameter(s, IN_DOT, GROUP, best, NULL);
    if (c->group != 0 && c->group != best)
        contraction_refuse(c, "GROUP=%d cannot be here: 0 or %d", (int)c->group, (int)best);
}

void contraction_choose_packing(contraction *c) {
    scheduler *s = c->s;
    c->many_axes = c->k_axis + 4 >= NEST_AXES;
    c->pack_lhs = scheduler_parameter(s, IN_DOT, PACK_A, lhs_packing(c), NULL);
    c->pack_rhs = scheduler_parameter(s, IN_DOT, PACK_B, rhs_packing(c), NULL);
    if (c->group && (c->pack_lhs != PACK_NOT || c->pack_rhs == PACK_NOT))
        contraction_refuse(c, "groups of elements need PACK_A=0 and PACK_B=1 or 2; or GROUP=0");
    if (c->pack_rhs == PACK_BLOCK && c->many_axes)
        contraction_refuse(
            c, "PACK_B=2 cannot be: the operands have too many axes; 1 packs in a phase");
}

void contraction_pack(contraction *c) {
    if (c->k == 0) /* operands of an empty contraction are not read */
        c->pack_lhs = c->pack_rhs = PACK_NOT;
    if (c->pack_lhs != PACK_NOT)
        widen_lhs(c);
    if (c->pack_rhs == PACK_PHASE)
        pack_rhs(c);
}

void contraction_pack_block(contraction *c, ir_builder *b, const ir_value *indices) {
    scheduler *s = c->s;
    int64_t each = c->group ? c->group : 1,
            depth = (c->chunked ? contraction_chunk(c) : c->k) / each;
    int64_t size = (c->bn + c->nr - 1) / c->nr * c->nr * depth;
    int n = c->outer + (c->chunked ? 3 : 2), lanes = s->target->vector_lanes;
    bool strided = contraction_along(c, &c->rhs_access, c->outer + 1) != 1;
    ir_value copy = scheduler_buffer(s, b, "cell", packed_type(c), 1, &size), inner[NEST_AXES];
    affine at = {0};
    int row = contraction_axis(c, c->outer + 2), column = contraction_axis(c, c->outer + 1),
        block = c->k_axis + 2;
    at.coefficient[row] = c->nr / each;
    at.coefficient[column] = depth;
    at.coefficient[block] = -depth;
    at.coefficient[c->k_axis + 3] = -c->nr / each;
    axis_map map = contraction_block_map(c, n - c->outer, true);
    map.index_of[c->k_axis + 4] = n;
    map.index_of[row] = n + 1;
    map.index_of[column] = n + 2;
    map.index_of[contraction_axis(c, c->outer)] = -1;
    map.count = n + 3;
    memcpy(inner, indices, sizeof *inner * (size_t)n);
    /* Row by row: runs of memory as long as the block is wide. */
    ir_builder in =
        scheduler_for(s, b, "row", c->chunked ? indices[n - 1] : 0, c->k,
                      scheduler_int(s, c->group  ? each
                                       : strided ? lanes
                                                 : 1),
                      c->chunked ? scheduler_int(s, contraction_chunk(c)) : 0, &inner[n + 1]);
    in = scheduler_for(s, &in, "panel", indices[c->outer + 1], c->n, c->nr_name, c->bn_name,
                       &inner[n]);
    in = scheduler_for(s, &in, "column", inner[n], c->n,
                       scheduler_int(s, strided ? dividing_vector(s, c->nr) : c->nr), c->nr_name,
                       &inner[n + 2]);
    affine to = at;
    to.coefficient[c->k_axis + 4] = depth - 1;
    to.coefficient[column] = 1;
    emit_copy(c, &in, inner, n + 3, &map, c->rhs, &c->rhs_access, copy, &to);
    c->rhs = copy;
    c->rhs_access = at;
    c->packed = true;
}
