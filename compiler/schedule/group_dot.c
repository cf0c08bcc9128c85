/* group_dot.c - a contraction and its epilogue: packing phases, then blocks of register tiles.
 *
 * A contraction longer than one chunk keeps its totals in a workgroup buffer, chunk by chunk, and
 * runs the epilogue on the register tile when the last chunk is in. Where the epilogue is long,
 * which on a register tile's many vectors at once would not fit the registers, it is a loop of its
 * own over the finished sums in the workgroup buffer. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "schedule/contraction.h"
#include "schedule/integers.h"
#include "schedule/policy.h"

/* Sums that are added to in turn, so that none waits for the one before. */
enum { TAIL_VECTORS = 8 };

int64_t contraction_chunk(const contraction *c) {
    return order_info_of(c->order)->chunk;
}

int64_t contraction_whole_steps(const contraction *c, int64_t most) {
    int64_t chunk = contraction_chunk(c), steps = greatest_divisor(c->shape.steps, most);
    return chunk && chunk < c->shape.steps ? greatest_divisor(chunk, steps) : steps;
}

/* Tells that the epilogue up to `v` calls a specified function in what was not seen before. */
static bool is_long(const contraction *c, ir_value v, bool *seen) {
    const plan *p = c->s->p;
    if (seen[v] || v == c->result.value || plan_def(p, v) == 0 ||
        (v != c->result.root && p->stored[v]))
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

/* Destination of a register tile's results, and its memory beside its operands. */
typedef struct dot_output {
    ir_value value; /* yielded: the dot itself, or what its epilogue makes of it */
    ir_value buffer;
    affine access;
    bool unit;   /* offsets are what is computed */
    bool inside; /* windows of the tile are, along their line */
} dot_output;

/* Memory of one block: the running totals, the sums of a chunk from strip to strip and the offsets;
 * 0: it has none. */
typedef struct block_memory {
    ir_value totals, sums, offsets;
    affine total_access, offset_access;
} block_memory;

/* The buffers before those of the epilogue, in the order of their names. */
typedef struct leading_buffers {
    ir_value buffers[DOT_BUFFER_COUNT];
    affine access[DOT_BUFFER_COUNT];
    dot_shape shape;
} leading_buffers;

static void add_leading(leading_buffers *l, dot_buffer which, ir_value buffer,
                        const affine *access) {
    l->shape.buffer[which] = -1;
    if (!buffer)
        return;
    l->buffers[l->shape.leading] = buffer;
    l->access[l->shape.leading] = *access;
    l->shape.buffer[which] = l->shape.leading++;
}

static leading_buffers find_leading(const contraction *c, const block_memory *memory, bool unit) {
    leading_buffers l = {.shape = {.leading = 0}};
    const contraction_counts *counts = &c->counts;
    add_leading(&l, DOT_LHS, c->lhs.buffer, &c->lhs.access);
    add_leading(&l, DOT_RHS, c->rhs.buffer, &c->rhs.access);
    add_leading(&l, DOT_COUNTS, counts->of == COUNTS_STEPS ? counts->buffer : 0, &counts->access);
    add_leading(&l, DOT_LIMITS, counts->of == COUNTS_COLUMNS ? counts->buffer : 0, &counts->access);
    add_leading(&l, DOT_OFFSETS, unit ? 0 : memory->offsets, &memory->offset_access);
    add_leading(&l, DOT_TOTALS, unit || !c->chunked ? 0 : memory->totals, &memory->total_access);
    add_leading(&l, DOT_SUMS, memory->sums, &memory->total_access);
    return l;
}

static void set_attr(const contraction *c, const ir_builder *in, const char *name, ir_attr value) {
    if (value)
        ir_op_set_attr(c->s->m, ir_block_parent(c->s->m, in->block), name, value);
}

/* A loop of steps: those that the index of the last such loop around it stands for; else all. */
static ir_builder loop_k(const contraction *c, ir_builder *b, contraction_place *place,
                         contraction_axis axis, ir_attr step) {
    static const contraction_axis around[] = {AXIS_CHUNK, AXIS_STRIP, AXIS_STAGE};
    const ir_module *m = c->s->m;
    ir_value start = 0;
    for (size_t i = 0; i < sizeof around / sizeof *around; i++)
        start = place->at[around[i]] ? place->at[around[i]] : start;
    ir_op loop = start ? ir_block_parent(m, ir_value_get(m, start)->block) : 0;
    ir_attr span = loop ? ir_op_attr(m, loop, "step") : 0;
    ir_builder in = scheduler_for(c->s, b, "k", start, c->shape.k, step, span, &place->at[axis]);
    scheduler_mark_loop(c->s, &in, c->op, c->order);
    return in;
}

/* The steps in runs of a window, of which a chunk has some. */
static ir_builder loop_runs(const contraction *c, ir_builder *b, contraction_place *place) {
    const ir_dim *runs = c->windows->runs;
    ir_builder in =
        scheduler_for(c->s, b, "run", 0, runs[0], scheduler_int(c->s, 1), 0, &place->at[AXIS_RUN]);
    in = scheduler_for(c->s, &in, "k", 0, runs[1], c->tiles.unroll, 0, &place->at[AXIS_K]);
    scheduler_mark_loop(c->s, &in, c->op, c->order);
    return in;
}

/* The steps of a tile. */
static ir_builder loop_steps(const contraction *c, ir_builder *b, contraction_place *place) {
    ir_builder in = *b;
    if (c->windows)
        return loop_runs(c, b, place);
    if (c->tiles.stage) {
        in = loop_k(c, b, place, AXIS_STAGE, c->tiles.stage);
        set_attr(c, &in, "depth", c->tiles.depth);
        set_attr(c, &in, "loader", c->tiles.loader);
    }
    in = loop_k(c, &in, place, AXIS_K, c->tiles.unroll);
    set_attr(c, &in, "prefetch", c->tiles.prefetch);
    set_attr(c, &in, "near", c->near && c->tiles.prefetch ? ir_attr_bool(c->s->m, true) : 0);
    return in;
}

static ir_attr mask_attr(const contraction *c, const axis_map *map) {
    ir_module *m = c->s->m;
    ir_attr masks[WINDOW_MASKS], items[NEST_AXES + 2];
    for (int i = 0; i < WINDOW_MASKS; i++) {
        ir_attr access = expression_access(m, &c->windows->mask[i], map, NEST_AXES);
        uint32_t count = ir_attr_get(m, access)->count;
        items[0] = ir_attr_dim(m, c->windows->limit[i]);
        memcpy(items + 1, ir_attr_get(m, access)->items, sizeof *items * count);
        masks[i] = ir_attr_array(m, items, count + 1);
    }
    return ir_attr_array(m, masks, WINDOW_MASKS);
}

/* A register tile. */
static void emit_dot(contraction *c, ir_builder *b, const contraction_place *place,
                     const block_memory *memory, const dot_output *out) {
    scheduler *s = c->s;
    substitute accumulator = {.kind = SUBSTITUTE_ACCUMULATOR, .value = c->result.value};
    expression e = contraction_epilogue(c, &accumulator);
    leading_buffers leading = find_leading(c, memory, out->unit);
    ir_value indices[NEST_AXES + AXIS_COUNT];
    contraction_place at = *place;
    ir_builder in = loop_steps(c, b, &at);
    axis_map map = contraction_map(c, &at);
    for (int i = 0; i < AXIS_COUNT; i++)
        leading.shape.index[i] = at.at[i] ? i : -1;
    const ir_attr yes = ir_attr_bool(s->m, true);
    ir_named_attr attrs[] = {{"indices", dot_shape_indices(s->m, &leading.shape)},
                             {"buffers", dot_shape_buffers(s->m, &leading.shape)},
                             {"unit", out->unit ? yes : 0},
                             {"group", c->group ? scheduler_int(s, c->group) : 0},
                             {"turned", c->turned ? yes : 0},
                             {"packed", c->packed ? yes : 0},
                             {"mma", c->unit ? ir_attr_string(s->m, c->unit->name) : 0},
                             {"mma_in_memory", c->unit && c->unit->in_memory ? yes : 0},
                             {"mask", c->windows ? mask_attr(c, &map) : 0},
                             {"inside", out->inside ? yes : 0}};
    computation compute = {.opcode = SCHED_DOT,
                           .indices = indices,
                           .axes = contraction_indices(c, &at, indices),
                           .map = &map,
                           .e = &e,
                           .yields = &out->value,
                           .yield_index = c->result.index,
                           .yield_count = 1,
                           .outputs = &out->buffer,
                           .output_access = &out->access,
                           .leading = leading.buffers,
                           .leading_access = leading.access,
                           .leading_count = leading.shape.leading,
                           .attrs = attrs,
                           .attr_count = sizeof attrs / sizeof *attrs,
                           .accumulator = c->element};
    scheduler_compute(s, &in, &compute);
    expression_release(&e);
}

/* The loops over the block's rows (those of a piece of a line of windows) and columns in steps of a
 * register tile's. What they leave over are tiles of fewer columns, and of as many rows as keep the
 * multipliers busy; of windows, single rows. */
static ir_builder loop_m(const contraction *c, ir_builder *b, const contraction_place *block,
                         const window_piece *piece, contraction_place *place) {
    ir_module *m = c->s->m;
    ir_builder in = scheduler_for(c->s, b, "m", block->at[AXIS_BLOCK_M], c->shape.m, piece->step,
                                  c->tiles.bm.name, &place->at[AXIS_M]);
    ir_op loop = ir_block_parent(m, in.block);
    if (piece->from != 0)
        ir_op_set_attr(m, loop, "from", ir_attr_dim(m, piece->from));
    if (piece->to != c->shape.m)
        ir_op_set_attr(m, loop, "to", ir_attr_dim(m, piece->to));
    if (piece->inside)
        ir_op_set_attr(m, loop, "tail", scheduler_int(c->s, 1));
    else
        scheduler_set_tail(c->s, &in, "area", TAIL_VECTORS * c->s->target->vector_lanes);
    return in;
}

/* A panel of any number of columns is walked in tiles that begin inside of it. */
static ir_builder loop_n(const contraction *c, ir_builder *b, const contraction_place *block,
                         contraction_place *place) {
    scheduler *s = c->s;
    ir_value start = block->at[AXIS_BLOCK_N];
    ir_attr span = c->tiles.bn.name, step = c->tiles.nr.name;
    ir_builder in = *b;
    if (contraction_has_panels(c)) {
        in = scheduler_for(s, b, "panel", start, c->shape.n, step, span, &place->at[AXIS_PANEL]);
        scheduler_set_tail(s, &in, "tail", 0);
        start = place->at[AXIS_PANEL];
        span = step;
    }
    in = scheduler_for(s, &in, "n", start, c->shape.n, step, span, &place->at[AXIS_N]);
    if (c->of_piece)
        scheduler_mark_inside(s, &in);
    int64_t lanes = s->target->vector_lanes, half = c->tiles.nr.size / 2;
    if (half > lanes && half % lanes == 0) {
        scheduler_set_tail(s, &in, "tail", half);
        scheduler_set_tail(s, &in, "last", lanes);
    }
    return in;
}

/* The places of a block's lines: a loop over its lines, of a convolve. */
static ir_builder open_lines(const contraction *c, ir_builder *b, const contraction_place *block,
                             contraction_place *place) {
    return c->windows ? scheduler_for(c->s, b, "line", block->at[AXIS_BLOCK_LINE], c->lines.count,
                                      scheduler_int(c->s, 1), c->lines.step, &place->at[AXIS_LINE])
                      : *b;
}

static window_piece all_rows(const contraction *c, ir_attr step) {
    return (window_piece){0, c->shape.m, step, false};
}

/* The register tiles of a block's rows. */
static void emit_tiles(contraction *c, ir_builder *b, const contraction_place *block,
                       contraction_place *place, const block_memory *memory, dot_output *out) {
    ir_builder lines = open_lines(c, b, block, place);
    const window_piece all = all_rows(c, c->tiles.mr.name),
                       *pieces = c->windows ? c->windows->pieces : &all;
    for (int i = 0; i < (c->windows ? c->windows->piece_count : 1); i++) {
        ir_builder in = loop_m(c, &lines, block, &pieces[i], place);
        out->inside = pieces[i].inside;
        emit_dot(c, &in, place, memory, out);
    }
}

static void emit_epilogue(contraction *c, ir_builder *b, const contraction_place *block,
                          const block_memory *memory) {
    scheduler *s = c->s;
    contraction_place place = *block;
    ir_value indices[NEST_AXES + AXIS_COUNT];
    place.at[AXIS_PANEL] = 0;
    substitute stored = {.kind = SUBSTITUTE_BLOCK,
                         .value = c->result.value,
                         .buffer = memory->totals,
                         .access = memory->total_access};
    expression e = contraction_epilogue(c, &stored);
    const window_piece all = all_rows(c, scheduler_int(s, 1));
    ir_builder in = open_lines(c, b, block, &place);
    in = loop_m(c, &in, block, &all, &place);
    in = loop_n(c, &in, block, &place);
    axis_map map = contraction_map(c, &place);
    computation compute = {.opcode = SCHED_MAP,
                           .indices = indices,
                           .axes = contraction_indices(c, &place, indices),
                           .map = &map,
                           .e = &e,
                           .yields = &c->result.root,
                           .yield_index = c->result.index,
                           .yield_count = 1,
                           .outputs = &c->result.buffer,
                           .output_access = &c->result.access};
    scheduler_compute(s, &in, &compute);
    expression_release(&e);
}

/* The elements of lhs are multiplied as unsigned ones, 128 more than they are. What that adds, for
 * a tile's columns: 128 times the sum of rhs. */
static void emit_offsets(contraction *c, ir_builder *b, const contraction_place *around,
                         const block_memory *memory) {
    contraction_place place = *around;
    dot_output out = {.value = c->result.value,
                      .buffer = memory->offsets,
                      .access = memory->offset_access,
                      .unit = true};
    ir_builder in = scheduler_for(c->s, b, "m", 0, 1, scheduler_int(c->s, 1), 0, &place.at[AXIS_M]);
    emit_dot(c, &in, &place, memory, &out);
}

static block_memory open_memory(contraction *c, ir_builder *b) {
    scheduler *s = c->s;
    int64_t bn = c->tiles.bn.size, line = c->tiles.bm.size * bn,
            lines = c->windows ? c->lines.in_block : 1, dims[] = {lines * c->tiles.bm.size, bn};
    block_memory memory = {.totals = 0};
    memory.totals = c->sums;
    if (!c->sums && (c->chunked || c->result.unfused))
        memory.totals = scheduler_buffer(s, b, "workgroup", c->element, 2, dims);
    if (c->tiles.strip.size)
        memory.sums = scheduler_buffer(s, b, "workgroup", c->element, 2, dims);
    const bool biased = c->group == 4 && contraction_element(c, c->lhs.buffer) == DTYPE_I8;
    if (biased && !c->turned)
        memory.offsets = scheduler_buffer(s, b, "workgroup", c->element, 1, &bn);
    contraction_set(c, &memory.total_access, AXIS_M, bn);
    contraction_set(c, &memory.total_access, AXIS_N, 1);
    contraction_set(c, &memory.total_access, AXIS_BLOCK_M, -bn);
    contraction_set(c, &memory.total_access, AXIS_BLOCK_N, -1);
    if (c->windows) {
        contraction_set(c, &memory.total_access, AXIS_LINE, line);
        contraction_set(c, &memory.total_access, AXIS_BLOCK_LINE, -line);
    }
    contraction_set(c, &memory.offset_access, AXIS_N, 1);
    contraction_set(c, &memory.offset_access, AXIS_BLOCK_N, -1);
    return memory;
}

void contraction_emit_block(contraction *c, ir_builder *b, const contraction_place *block) {
    scheduler *s = c->s;
    block_memory memory = open_memory(c, b);
    contraction_place place = *block;
    ir_builder in = *b;
    if (c->alone) /* nothing is counted from the block's beginning */
        place.at[AXIS_BLOCK_M] = place.at[AXIS_BLOCK_N] = place.at[AXIS_BLOCK_LINE] = 0;
    if (c->chunked) {
        if (ir_dim_is_static(c->shape.k)) /* else the first chunk does not read them */
            scheduler_clear(s, b, memory.totals, c->element);
        in = loop_k(c, b, &place, AXIS_CHUNK, scheduler_int(s, contraction_chunk(c)));
    }
    if (c->fill_chunk)
        c->fill_chunk(c, &in, &place);
    if (c->rhs.packing == PACK_BLOCK)
        contraction_pack_block(c, &in, &place);
    if (memory.sums)
        in = loop_k(c, &in, &place, AXIS_STRIP, c->tiles.strip.name);
    in = loop_n(c, &in, block, &place);
    if (memory.offsets)
        emit_offsets(c, &in, &place, &memory);
    dot_output out = {c->result.root, c->result.buffer, c->result.access, false, false};
    if (c->result.unfused)
        out = (dot_output){c->result.value, memory.totals, memory.total_access, false, false};
    emit_tiles(c, &in, block, &place, &memory, &out);
    if (c->result.unfused)
        emit_epilogue(c, b, block, &memory);
}

ir_builder contraction_open_grid(const contraction *c, const char *what, bool by_columns,
                                 contraction_place *place) {
    scheduler *s = c->s;
    const int outer = c->shape.outer, lines = c->windows != NULL, m = outer + lines;
    ir_attr steps[NEST_AXES];
    ir_value indices[NEST_AXES];
    const char *axis_names[NEST_AXES];
    char text_names[NEST_AXES][16];
    for (int i = 0; i < outer; i++) {
        snprintf(text_names[i], sizeof text_names[i], "b%d", i);
        axis_names[i] = text_names[i];
        steps[i] = scheduler_int(s, 1);
    }
    axis_names[outer] = "line";
    steps[outer] = c->lines.step;
    axis_names[m] = "m";
    axis_names[m + 1] = "n";
    steps[m] = c->tiles.bm.name;
    steps[m + 1] = c->tiles.bn.name;
    ir_builder b = scheduler_phase(s, what, m + 1 + by_columns, c->shape.map.extent, steps,
                                   axis_names, indices);
    set_attr(c, &b, "warps", c->tiles.warps);
    *place = (contraction_place){.outer = {0}};
    memcpy(place->outer, indices, sizeof *indices * (size_t)outer);
    place->at[AXIS_BLOCK_LINE] = lines ? indices[outer] : 0;
    place->at[AXIS_BLOCK_M] = indices[m];
    place->at[AXIS_BLOCK_N] = by_columns ? indices[m + 1] : 0;
    return b;
}

void contraction_emit_grid(contraction *c) {
    contraction_place block;
    ir_builder b = contraction_open_grid(c, "dot", true, &block);
    if (c->fill)
        c->fill(c, &b, &block);
    bool of_block = c->fill && !ir_dim_is_static(c->shape.m);
    c->alone = !(c->chunked || c->tiles.strip.size || c->result.unfused ||
                 c->rhs.packing == PACK_BLOCK || (c->group && !c->turned) || of_block);
    contraction_emit_block(c, &b, &block);
}

void contraction_choose_form(contraction *c) {
    int64_t chunk = contraction_chunk(c);
    c->chunked = chunk && (!ir_dim_is_static(c->shape.k) || c->shape.k > chunk);
    bool *seen = base_calloc(ir_value_count(c->s->p->g) + 1, sizeof *seen);
    c->result.unfused = is_long(c, c->result.root, seen);
    free(seen);
    const schedule_policy *policy = c->s->target->policy;
    c->staged = c->stageable && policy->stages_dot && policy->stages_dot(c);
    c->chunked &= !c->staged;
    c->result.unfused &= !c->staged;
}

void schedule_dot_group(scheduler *s, const plan_group *group) {
    contraction c = contraction_of_group(s, group);
    if (ir_type_count(s->p->g, ir_value_get(s->p->g, c.result.value)->type) == 0)
        return;
    c.exchangeable = c.stageable = true;
    if (!contraction_analyse(&c)) {
        s->failed = true;
        return;
    }
    if (group->could_chain)
        scheduler_parameter(s, IN_DOT, CHAIN, 0, NULL);
    contraction_choose_form(&c);
    if (s->target->policy->dot_operands)
        s->target->policy->dot_operands(&c);
    s->target->policy->dot_tiles(&c);
    contraction_pack(&c);
    contraction_emit_grid(&c);
}
