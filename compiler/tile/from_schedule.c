/* from_schedule.c - the way from Schedule IR to Tile IR: grids, loops and memory.
 *
 * Shapes are static, so a loop whose step does not divide its extent becomes a main loop and, for
 * the remainder, a second version of its body with smaller tiles. */
#include "tile/lowering.h"

#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "ops/graph.h"

bool lowering_fail(lowering *l, const char *format, ...) {
    char message[512];
    va_list args;
    va_start(args, format);
    vsnprintf(message, sizeof message, format, args);
    va_end(args);
    l->failed = true;
    return status_set(l->st, STATUS_INVALID, "%s", message);
}

static int64_t aligned(int64_t bytes) {
    return (bytes + 63) / 64 * 64;
}

static ir_value memory_at(ir_builder *b, int opcode, dtype element, int64_t offset) {
    ir_named_attr attr = {"offset", ir_attr_int(b->m, offset)};
    return ir_build1(b, opcode, NULL, 0, ir_type_memory(b->m, element), &attr, 1);
}

ir_value lowering_scratch(lowering *l, ir_builder *b, dtype element, int64_t count) {
    ir_value memory = memory_at(b, TILE_SCRATCH, element, l->phase_scratch_bytes);
    l->phase_scratch_bytes += aligned(count * (int64_t)dtype_size(element));
    if (l->phase_scratch_bytes > l->scratch_bytes)
        l->scratch_bytes = l->phase_scratch_bytes;
    return memory;
}

static void lower_buffer(lowering *l, ir_builder *b, ir_op op) {
    ir_value v = ir_op_get(l->s, op)->results[0];
    const ir_type_data *t = ir_type_get(l->s, ir_value_get(l->s, v)->type);
    int64_t count = ir_type_count(l->s, ir_value_get(l->s, v)->type);
    if (strcmp(ir_op_string(l->s, op, "space", ""), "cell") == 0) {
        l->value_of[v] = lowering_scratch(l, b, t->element, count);
        return;
    }
    l->value_of[v] = memory_at(b, TILE_WORKSPACE, t->element, l->workspace_bytes);
    l->workspace_bytes += aligned(count * (int64_t)dtype_size(t->element));
}

static void lower_fill(lowering *l, ir_builder *b, ir_op op) {
    ir_value v = ir_op_get(l->s, op)->operands[0], index;
    int64_t count = ir_type_count(l->s, ir_value_get(l->s, v)->type), full = count / LANES * LANES;
    const ir_attr_data *bits = ir_attr_get(l->s, ir_op_attr(l->s, op, "value"));
    ir_value zero = tile_constant(b, bits->element, bits->bits);
    if (full) {
        ir_builder in =
            tile_for(b, tile_index(b, 0), tile_index(b, full), LANES, NULL, 0, NULL, &index);
        tile_store(&in, l->value_of[v], index, tile_broadcast(&in, zero, 1, LANES), 0, 1, false);
        tile_yield(&in, NULL, 0);
    }
    if (count > full)
        tile_store(b, l->value_of[v], tile_index(b, full), tile_broadcast(b, zero, 1, count - full),
                   0, 1, false);
}

/* ---- loops ---- */

void lowering_mark(lowering *l, ir_op op, ir_op computation) {
    const order_info *order = order_info_of(order_of(l->s, computation, ORDER_ANY));
    ir_op_set_attr(l->m, op, "order", ir_attr_string(l->m, order->name));
    ir_op_set_attr(l->m, op, "reduction",
                   ir_attr_int(l->m, ir_op_int(l->s, computation, "reduction", -1)));
}

static void lower_block(lowering *l, ir_builder *b, ir_block block);

static void lower_body(lowering *l, ir_builder *b, ir_op op, ir_value index, int64_t size) {
    const ir_block_data *block = ir_block_get(l->s, ir_op_block(l->s, op, 0));
    l->value_of[block->arguments[0]] = index;
    l->size_of[block->arguments[0]] = size;
    lower_block(l, b, ir_op_block(l->s, op, 0));
}

/* Element-wise work alone, so that nothing in the loop changes what was loaded before it. */
static void load_ahead(lowering *l, ir_builder *b, ir_op loop) {
    ir_op first = ir_block_get(l->s, ir_op_block(l->s, loop, 0))->first;
    if (!first || ir_op_get(l->s, first)->opcode != SCHED_MAP || ir_op_get(l->s, first)->next)
        return;
    frame f = frame_of(l, first);
    if (f.axes > 0 && ir_op_get(l->s, first)->operands[f.axes - 1] ==
                          ir_block_get(l->s, ir_op_block(l->s, loop, 0))->arguments[0])
        frame_load_ahead(&f, b);
}

static void emit_loop(lowering *l, ir_builder *b, ir_op op, ir_value low, ir_value high,
                      int64_t step, int64_t size) {
    ir_value index;
    ir_op loop;
    size_t ready = l->ready.count;
    load_ahead(l, b, op);
    ir_builder in = tile_for(b, low, high, step, NULL, 0, &loop, &index);
    if (ir_op_attr(l->s, op, "order"))
        lowering_mark(l, loop, op);
    lower_body(l, &in, op, index, size);
    tile_yield(&in, NULL, 0);
    l->ready.count = ready;
}

/* The whole extent: constant bounds; a single step needs no loop. */
static void lower_whole_for(lowering *l, ir_builder *b, ir_op op, int64_t extent, int64_t step) {
    int64_t full = extent / step * step;
    if (full == step)
        lower_body(l, b, op, tile_index(b, 0), step);
    else if (full)
        emit_loop(l, b, op, tile_index(b, 0), tile_index(b, full), step, step);
    if (extent > full)
        lower_body(l, b, op, tile_index(b, full), extent - full);
}

/* A block of the extent, from `start`. The block is a multiple of the step, so only the last one
 * has a remainder. */
static void lower_block_for(lowering *l, ir_builder *b, ir_op op, ir_value start, int64_t extent,
                            int64_t step, int64_t span) {
    int64_t full = extent / step * step, one = 1;
    ir_value end = tile_affine(b, span, &start, &one, 1);
    if (full)
        emit_loop(l, b, op, start, tile_index_op(b, TILE_INDEX_MIN, end, tile_index(b, full)), step,
                  step);
    if (extent > full) {
        ir_value low = tile_index_op(b, TILE_INDEX_MAX, start, tile_index(b, full));
        ir_value high = tile_index_op(b, TILE_INDEX_MIN, end, tile_index(b, extent));
        emit_loop(l, b, op, low, high, step, extent - full);
    }
}

static void lower_for(lowering *l, ir_builder *b, ir_op op) {
    const ir_op_data *d = ir_op_get(l->s, op);
    int64_t extent = ir_op_int(l->s, op, "extent", 0), step = schedule_step(l->s, op, "step", 1);
    int64_t span = schedule_step(l->s, op, "span", 0);
    if (d->operand_count == 0 || span >= extent) {
        lower_whole_for(l, b, op, extent, step);
        return;
    }
    if (span % step != 0) {
        lowering_fail(l, "axis %s: the block of %lld is not a multiple of the step %lld",
                      ir_op_string(l->s, op, "axis", "?"), (long long)span, (long long)step);
        return;
    }
    lower_block_for(l, b, op, l->value_of[d->operands[0]], extent, step, span);
}

/* ---- grids ---- */

static void lower_phase(lowering *l, ir_builder *b, ir_op op) {
    ir_op parallel = ir_block_get(l->s, ir_op_block(l->s, op, 0))->first;
    const ir_block_data *block = ir_block_get(l->s, ir_op_block(l->s, parallel, 0));
    const ir_attr_data *steps = ir_attr_get(l->s, ir_op_attr(l->s, parallel, "steps"));
    int64_t extents[LOWERING_AXES], counts[LOWERING_AXES], cells = 1;
    uint32_t n = ir_op_ints(l->s, parallel, "extents", extents, LOWERING_AXES);
    for (uint32_t i = 0; i < n; i++) {
        int64_t step = schedule_step_value(l->s, steps->items[i]);
        counts[i] = (extents[i] + step - 1) / step;
        cells *= counts[i];
    }
    ir_named_attr attrs[] = {{"index", ir_attr_int(l->m, ir_op_int(l->s, op, "index", 0))},
                             {"what", ir_attr_string(l->m, ir_op_string(l->s, op, "what", ""))},
                             {"grid", ir_attr_int(l->m, cells)}};
    ir_op_spec spec = {.opcode = TILE_PHASE, .attrs = attrs, .attr_count = 3, .region_count = 1};
    ir_builder in = {l->m, ir_op_block(l->m, ir_build(b, &spec), 0), 0, b->location};
    ir_value cell = ir_block_add_argument(l->m, in.block, ir_type_index(l->m), NULL);
    l->phase_scratch_bytes = 0;
    for (uint32_t i = n; i-- > 0;) {
        int64_t step = schedule_step_value(l->s, steps->items[i]);
        ir_value at = counts[i] == 1 ? tile_index(&in, 0)
                      : i == 0       ? cell
                                     : tile_index_by(&in, TILE_INDEX_REM, cell, counts[i]);
        if (i > 0 && counts[i] > 1)
            cell = tile_index_by(&in, TILE_INDEX_DIV, cell, counts[i]);
        if (i < block->argument_count) {
            l->value_of[block->arguments[i]] = tile_affine(&in, 0, &at, &step, 1);
            l->size_of[block->arguments[i]] = 1;
        }
    }
    lower_block(l, &in, ir_op_block(l->s, parallel, 0));
}

static void lower_op(lowering *l, ir_builder *b, ir_op op) {
    b->location = ir_op_get(l->s, op)->location;
    switch (ir_op_get(l->s, op)->opcode) {
    case SCHED_BUFFER:
        lower_buffer(l, b, op);
        break;
    case SCHED_PHASE:
        lower_phase(l, b, op);
        break;
    case SCHED_FOR:
        lower_for(l, b, op);
        break;
    case SCHED_MAP:
        lower_map(l, b, op);
        break;
    case SCHED_REDUCE:
        lower_reduce(l, b, op);
        break;
    case SCHED_COLUMNS:
        lower_columns(l, b, op);
        break;
    case SCHED_DOT:
        lower_dot(l, b, op);
        break;
    case SCHED_FILL:
        lower_fill(l, b, op);
        break;
    default:
        lowering_fail(l, "no lowering for '%s'", op_info_get(ir_op_get(l->s, op)->opcode)->name);
    }
}

static void lower_block(lowering *l, ir_builder *b, ir_block block) {
    for (ir_op op = ir_block_get(l->s, block)->first; op && !l->failed;
         op = ir_op_get(l->s, op)->next)
        lower_op(l, b, op);
}

/* ---- the kernel ---- */

static ir_attr copy_attr(lowering *l, ir_attr attr) {
    const ir_attr_data *d = ir_attr_get(l->s, attr);
    ir_attr *items = base_malloc(sizeof *items * (d->count + 1)), copy;
    for (uint32_t i = 0; i < d->count; i++)
        items[i] = copy_attr(l, d->items[i]);
    switch (d->kind) {
    case IR_ATTR_ARRAY:
        copy = ir_attr_array(l->m, items, d->count);
        break;
    case IR_ATTR_DICT:
        copy = ir_attr_dict(l->m, (const char *const *)d->keys, items, d->count);
        break;
    case IR_ATTR_STRING:
        copy = ir_attr_string(l->m, d->string);
        break;
    default:
        copy = ir_attr_int(l->m, d->integer);
    }
    free(items);
    return copy;
}

/* Shapes of the arguments, which tile.mem does not carry. */
static ir_attr argument_shapes(lowering *l, const ir_block_data *body) {
    ir_attr shapes[128];
    for (uint32_t i = 0; i < body->argument_count && i < 128; i++) {
        const ir_type_data *t = ir_type_get(l->s, ir_value_get(l->s, body->arguments[i])->type);
        shapes[i] = ir_attr_int_array(l->m, t->dims, (uint32_t)t->rank);
    }
    return ir_attr_array(l->m, shapes, body->argument_count);
}

static void lower_kernel(lowering *l) {
    ir_op kernel = ir_module_kernel(l->s);
    const ir_block_data *body = ir_block_get(l->s, ir_op_block(l->s, kernel, 0));
    static const char *const copied[] = {"name",    "inputs",     "outputs", "parameters",
                                         "profile", "reductions", "math"};
    bool math = ir_op_attr(l->s, kernel, "math") != 0;
    ir_named_attr attrs[8] = {{"shapes", argument_shapes(l, body)}};
    for (int i = 0; i < 6 + math; i++)
        attrs[i + 1] =
            (ir_named_attr){copied[i], copy_attr(l, ir_op_attr(l->s, kernel, copied[i]))};
    ir_builder b = {.m = l->m, .block = ir_module_body(l->m)};
    ir_op_spec spec = {
        .opcode = TILE_KERNEL, .attrs = attrs, .attr_count = 7 + math, .region_count = 1};
    ir_op tile_kernel = ir_build(&b, &spec);
    b.block = ir_op_block(l->m, tile_kernel, 0);
    uint32_t inputs = ir_attr_get(l->s, ir_op_attr(l->s, kernel, "inputs"))->count;
    for (uint32_t i = 0; i < body->argument_count; i++) {
        ir_value v = body->arguments[i];
        dtype element = ir_type_get(l->s, ir_value_get(l->s, v)->type)->element;
        l->value_of[v] = ir_block_add_argument(l->m, b.block, ir_type_memory(l->m, element), NULL);
        l->is_output[v] = i >= inputs;
    }
    lower_block(l, &b, ir_op_block(l->s, kernel, 0));
    ir_op_set_attr(l->m, tile_kernel, "workspace_bytes", ir_attr_int(l->m, l->workspace_bytes));
    ir_op_set_attr(l->m, tile_kernel, "scratch_bytes", ir_attr_int(l->m, l->scratch_bytes));
}

ir_module *tile_from_schedule(const ir_module *schedule, status *st) {
    uint32_t n = ir_value_count(schedule) + 1;
    lowering l = {.s = schedule, .m = ir_module_new(), .st = st};
    l.value_of = base_calloc(n, sizeof *l.value_of);
    l.size_of = base_calloc(n, sizeof *l.size_of);
    l.is_output = base_calloc(n, sizeof *l.is_output);
    lower_kernel(&l);
    free(l.value_of);
    free(l.size_of);
    free(l.is_output);
    vec_release(&l.ready);
    if (!l.failed)
        return l.m;
    ir_module_free(l.m);
    return NULL;
}
