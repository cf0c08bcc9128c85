/* group_dot.c - a contraction and its epilogue: packing phases, then blocks of register tiles.
 *
 * A contraction longer than one chunk keeps its totals in a cell buffer, chunk by chunk, and runs
 * the epilogue on the register tile when the last chunk is in. Where the epilogue is long, which on
 * a register tile's many vectors at once would not fit the registers, it is a loop of its own over
 * the finished sums in the cell buffer. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "schedule/contraction.h"
#include "schedule/integers.h"

/* A cell of fewer multiplications takes less time than another thread needs to begin. */
enum { MANY_CELLS = 8 };
static const double EVEN = 0.94;

/* As many vectors as leave registers for the sums of `rows`, a power of two where rows are few: the
 * runs that a tile reads then begin where memory's do. */
static int64_t few_vectors(int64_t rows) {
    int64_t most = 24 / clamp(rows, 1, FEW_ROWS);
    return most >= 16 ? 16 : most >= 8 ? 8 : most >= 4 ? 4 : 3;
}

int64_t contraction_chunk(const contraction *c) {
    return order_info_of(c->order)->chunk;
}

int64_t contraction_cells(const contraction *c, int64_t rows, int64_t columns) {
    int64_t cells = (c->m + rows - 1) / rows * ((c->n + columns - 1) / columns);
    for (int i = 0; i < c->outer; i++)
        cells *= c->map.extent[i];
    return cells;
}

/* The share of its time for which a thread has work, when all begin together. Where cells are many
 * they even out by themselves. */
static double evenness(const contraction *c, int64_t rows, int64_t columns) {
    int64_t cells = contraction_cells(c, rows, columns), threads = c->s->target->threads;
    int64_t rounds = (cells + threads - 1) / threads;
    double work = (double)c->m * (double)c->n;
    for (int i = 0; i < c->outer; i++)
        work *= (double)c->map.extent[i];
    if (threads == 1 || cells >= MANY_CELLS * threads)
        return 1;
    return work / ((double)(threads * rounds) * (double)rows * (double)columns);
}

/* The largest blocks, from those asked for down, that keep all threads busy; or those that come
 * nearest, of cells that are worth the wait for them. */
static void even_out(const contraction *c, int64_t *rows, int64_t *columns) {
    int64_t best_rows = *rows, best_columns = *columns;
    double best = 0;
    for (int64_t r = *rows; best < EVEN; r = round_up(r / 2, c->mr)) {
        for (int64_t n = *columns; best < EVEN; n = round_up(n / 2, c->nr)) {
            double even = evenness(c, r, n);
            if (even > best && (best == 0 || r * n * c->k >= SMALLEST_CELL)) {
                best = even;
                best_rows = r;
                best_columns = n;
            }
            if (n == c->nr)
                break;
        }
        if (r == c->mr)
            break;
    }
    *rows = best_rows;
    *columns = best_columns;
}

void contraction_choose_tiles(contraction *c) {
    scheduler *s = c->s;
    /* A tile fills as many registers whatever it sums: f64 takes two for the lanes of f32. */
    int64_t lanes = s->target->vector_lanes * 4 / (int64_t)dtype_size(c->element);
    bool many = s->target->vector_registers >= 32;
    /* A few rows are one tile, as wide as registers allow: rhs is read once, in long runs. */
    bool few = many && c->m <= FEW_ROWS;
    int64_t vectors = few ? few_vectors(c->m) : many ? 4 : 2;
    c->mr = scheduler_parameter(s, IN_DOT, MR, few ? clamp(c->m, 1, FEW_ROWS) : 6, &c->mr_name);
    c->nr = scheduler_parameter(s, IN_DOT, NR, vectors * lanes, &c->nr_name);
    if (c->group && c->nr % c->group != 0)
        contraction_refuse(c, "NR=%d is not a multiple of GROUP=%d", (int)c->nr, (int)c->group);
    int64_t block = c->m <= ONE_BLOCK_ROWS     ? c->m
                    : c->m < SMALL_BLOCKS_ROWS ? 16 * c->mr
                                               : 32 * c->mr;
    int64_t rows = round_up(clamp(block, 1, ONE_BLOCK_ROWS), c->mr);
    /* One block of rows reads rhs once: long runs of it matter more than the cache. */
    int64_t columns = (c->m <= rows ? 8 : 4) * c->nr * (many ? 1 : 2);
    columns = clamp(round_up(c->n, c->nr), c->nr, columns);
    even_out(c, &rows, &columns);
    c->bm = scheduler_parameter(s, IN_DOT, BM, rows, &c->bm_name);
    c->bn = scheduler_parameter(s, IN_DOT, BN, columns, &c->bn_name);
    /* No trip has a remainder; where counts end the loop, a trip is one step. */
    int64_t unroll = c->counted || c->group ? 1 : scheduler_parameter(s, IN_DOT, UNROLL, 1, NULL);
    c->unroll = scheduler_int(s, greatest_divisor(c->k, unroll));
    if (c->group)
        c->prefetch_name = scheduler_int(s, 0);
    else
        scheduler_parameter(s, IN_DOT, PREFETCH,
                            few ? (c->m > FAR_PREFETCH_ROWS ? 48 : 16) : c->pack_rhs != PACK_NOT,
                            &c->prefetch_name);
}

/* Whether the epilogue up to `v` calls a specified function in what was not seen before. */
static bool is_long(const contraction *c, ir_value v, bool *seen) {
    const plan *p = c->s->p;
    if (seen[v] || v == c->value || plan_def(p, v) == 0 || (v != c->root && p->stored[v]))
        return false;
    seen[v] = true;
    const ir_op_data *d = ir_op_get(p->g, plan_def(p, v));
    if (graph_op_is_specified(d->opcode))
        return true;
    for (uint32_t i = 0; i < d->operand_count; i++)
        if (is_long(c, d->operands[i], seen))
            return true;
    return false;
}

/* Where a register tile's results go. */
typedef struct dot_output {
    ir_value value; /* yielded: the dot itself, or what its epilogue makes of it */
    ir_value buffer;
    const affine *access;
    ir_value offsets; /* of groups of i8: 0 elsewhere */
    const affine *offset_access;
    bool unit;      /* these offsets are what is computed */
    ir_value total; /* chunked: the running totals; 0 elsewhere */
    const affine *total_access;
} dot_output;

/* A register tile: indices are outer..., [first m, first n, first k,] m, n. */
static void emit_dot(contraction *c, ir_builder *b, const ir_value *indices, int axes,
                     const axis_map *map, const dot_output *out) {
    scheduler *s = c->s;
    substitute accumulator = {.kind = SUBSTITUTE_ACCUMULATOR, .value = c->value};
    expression e = contraction_epilogue(c, &accumulator);
    ir_value leading[5] = {c->lhs, c->rhs};
    affine access[5] = {c->lhs_access, c->rhs_access};
    ir_named_attr attrs[12] = {{"extent", scheduler_int(s, c->k)},
                               {"unroll", c->unroll},
                               {"order", scheduler_order(s, c->order)},
                               {"reduction", scheduler_reduction(s, c->op)}};
    int n = 4, buffers = 2;
    if (c->counted || c->limited) {
        attrs[n++] = (ir_named_attr){c->limited ? "limited" : "counted", ir_attr_bool(s->m, true)};
        leading[buffers] = c->counts;
        access[buffers++] = c->count_access;
    }
    attrs[n++] = (ir_named_attr){"prefetch", c->prefetch_name};
    if (out->offsets) {
        attrs[n++] = (ir_named_attr){"offsets", ir_attr_bool(s->m, true)};
        leading[buffers] = out->offsets;
        access[buffers++] = *out->offset_access;
    }
    if (out->unit)
        attrs[n++] = (ir_named_attr){"unit", ir_attr_string(s->m, c->chunked ? "chunk" : "whole")};
    if (out->total) {
        attrs[n++] = (ir_named_attr){"accumulate", ir_attr_bool(s->m, true)};
        leading[buffers] = out->total;
        access[buffers++] = *out->total_access;
    }
    if (c->group)
        attrs[n++] = (ir_named_attr){"group", scheduler_int(s, c->group)};
    if (c->packed)
        attrs[n++] = (ir_named_attr){"packed", ir_attr_bool(s->m, true)};
    computation compute = {.opcode = SCHED_DOT,
                           .indices = indices,
                           .axes = axes,
                           .map = map,
                           .e = &e,
                           .yields = &out->value,
                           .yield_index = c->root_index,
                           .yield_count = 1,
                           .outputs = &out->buffer,
                           .output_access = out->access,
                           .leading = leading,
                           .leading_access = access,
                           .leading_count = buffers,
                           .attrs = attrs,
                           .attr_count = n,
                           .accumulator = c->element};
    scheduler_compute(s, b, &compute);
    expression_release(&e);
}

static void emit_short(contraction *c, ir_builder *b, ir_value *indices) {
    scheduler *s = c->s;
    ir_value *m = &indices[c->outer], *n = &indices[c->outer + 1];
    ir_builder in = scheduler_for(s, b, "n", *n, c->n, c->nr_name, c->bn_name, n);
    in = scheduler_for(s, &in, "m", *m, c->m, c->mr_name, c->bm_name, m);
    dot_output out = {.value = c->root, .buffer = c->root_buffer, .access = &c->output};
    emit_dot(c, &in, indices, c->outer + 2, &c->map, &out);
}

static void emit_epilogue(contraction *c, ir_builder *b, const ir_value *block, ir_value total,
                          const affine *at) {
    scheduler *s = c->s;
    axis_map map = contraction_block_map(c, 2, false);
    ir_value indices[NEST_AXES];
    substitute stored = {
        .kind = SUBSTITUTE_BLOCK, .value = c->value, .buffer = total, .access = *at};
    expression e = contraction_epilogue(c, &stored);
    memcpy(indices, block, sizeof *indices * (size_t)(c->outer + 2));
    ir_builder in = scheduler_for(s, b, "m", block[c->outer], c->m, scheduler_int(s, 1), c->bm_name,
                                  &indices[c->outer + 2]);
    in = scheduler_for(s, &in, "n", block[c->outer + 1], c->n, c->nr_name, c->bn_name,
                       &indices[c->outer + 3]);
    computation compute = {.opcode = SCHED_MAP,
                           .indices = indices,
                           .axes = c->outer + 4,
                           .map = &map,
                           .e = &e,
                           .yields = &c->root,
                           .yield_index = c->root_index,
                           .yield_count = 1,
                           .outputs = &c->root_buffer,
                           .output_access = &c->output};
    scheduler_compute(s, &in, &compute);
    expression_release(&e);
}

static void clear_totals(contraction *c, ir_builder *b, ir_value total) {
    ir_module *m = c->s->m;
    ir_named_attr zero = {"value", ir_attr_bits(m, c->element, 0)};
    ir_op_spec fill = {.opcode = SCHED_FILL,
                       .operands = &total,
                       .operand_count = 1,
                       .attrs = &zero,
                       .attr_count = 1};
    ir_build(b, &fill);
}

/* The elements of lhs are multiplied as unsigned ones, 128 more than they are. What that adds, for
 * a tile's columns: 128 times the sum of rhs. */
static void emit_offsets(contraction *c, ir_builder *b, ir_value *indices, int first,
                         const axis_map *map, ir_value offsets, const affine *column) {
    dot_output out = {.value = c->value, .buffer = offsets, .access = column, .unit = true};
    ir_builder in = scheduler_for(c->s, b, "m", 0, 1, scheduler_int(c->s, 1), 0, &indices[first]);
    emit_dot(c, &in, indices, first + 2, map, &out);
}

void contraction_emit_block(contraction *c, ir_builder *b, const ir_value *block) {
    scheduler *s = c->s;
    int first = c->outer + (c->chunked ? 3 : 2); /* where m and n stand */
    int64_t dims[] = {c->bm, c->bn};
    bool keeps = c->chunked || c->apart;
    ir_value indices[NEST_AXES];
    ir_value total = keeps ? scheduler_buffer(s, b, "cell", c->element, 2, dims) : 0;
    ir_value offsets = c->group == 4 ? scheduler_buffer(s, b, "cell", c->element, 1, &c->bn) : 0;
    axis_map map = contraction_block_map(c, first - c->outer, true);
    affine at = {0}; /* of the total: relative to the block */
    at.coefficient[contraction_axis(c, c->outer)] = c->bn;
    at.coefficient[contraction_axis(c, c->outer + 1)] = 1;
    at.coefficient[c->k_axis + 1] = -c->bn;
    at.coefficient[c->k_axis + 2] = -1;
    memcpy(indices, block, sizeof *indices * (size_t)(c->outer + 2));
    ir_builder in = *b;
    if (c->chunked) {
        clear_totals(c, b, total);
        in = scheduler_for(s, b, "k", 0, c->k, scheduler_int(s, contraction_chunk(c)), 0,
                           &indices[first - 1]);
        scheduler_mark_loop(s, &in, c->op, c->order);
    }
    if (c->pack_rhs == PACK_BLOCK)
        contraction_pack_block(c, &in, indices);
    in = scheduler_for(s, &in, "n", block[c->outer + 1], c->n, c->nr_name, c->bn_name,
                       &indices[first + 1]);
    affine column = {0}; /* relative to the block */
    column.coefficient[contraction_axis(c, c->outer + 1)] = 1;
    column.coefficient[c->k_axis + 2] = -1;
    if (offsets)
        emit_offsets(c, &in, indices, first, &map, offsets, &column);
    in = scheduler_for(s, &in, "m", block[c->outer], c->m, c->mr_name, c->bm_name, &indices[first]);
    dot_output out = {.value = c->value, .buffer = total, .access = &at};
    if (!c->apart)
        out = (dot_output){.value = c->root, .buffer = c->root_buffer, .access = &c->output};
    out.offsets = offsets;
    out.offset_access = &column;
    if (c->chunked) {
        out.total = total;
        out.total_access = &at;
    }
    emit_dot(c, &in, indices, first + 2, &map, &out);
    if (c->apart)
        emit_epilogue(c, b, block, total, &at);
}

ir_builder contraction_open_grid(const contraction *c, const char *what, bool by_columns,
                                 ir_value *indices) {
    scheduler *s = c->s;
    ir_attr steps[NEST_AXES];
    const char *axis_names[NEST_AXES];
    char text_names[NEST_AXES][16];
    for (int i = 0; i < c->outer; i++) {
        snprintf(text_names[i], sizeof text_names[i], "b%d", i);
        axis_names[i] = text_names[i];
        steps[i] = scheduler_int(s, 1);
    }
    axis_names[c->outer] = "m";
    axis_names[c->outer + 1] = "n";
    steps[c->outer] = c->bm_name;
    steps[c->outer + 1] = c->bn_name;
    return scheduler_phase(s, what, c->outer + 1 + by_columns, c->map.extent, steps, axis_names,
                           indices);
}

void contraction_emit_grid(contraction *c) {
    ir_value indices[NEST_AXES];
    ir_builder b = contraction_open_grid(c, "dot", true, indices);
    if (c->fill)
        c->fill(c, &b, indices);
    if (c->chunked || c->apart || c->pack_rhs == PACK_BLOCK || c->group)
        contraction_emit_block(c, &b, indices);
    else
        emit_short(c, &b, indices);
}

void contraction_choose_form(contraction *c) {
    c->chunked = contraction_chunk(c) && c->k > contraction_chunk(c);
    bool *seen = base_calloc(ir_value_count(c->s->p->g) + 1, sizeof *seen);
    c->apart = is_long(c, c->root, seen);
    free(seen);
}

void schedule_dot_group(scheduler *s, const plan_group *group) {
    contraction c = contraction_of_group(s, group);
    if (ir_type_count(s->p->g, ir_value_get(s->p->g, c.value)->type) == 0)
        return;
    if (!contraction_analyse(&c)) {
        s->failed = true;
        return;
    }
    contraction_choose_form(&c);
    contraction_choose_group(&c);
    contraction_choose_packing(&c);
    contraction_choose_tiles(&c);
    contraction_pack(&c);
    contraction_emit_grid(&c);
}
