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

/* ---- dimensions ---- */

ir_value lowering_dim(lowering *l, ir_builder *b, ir_dim dim) {
    if (ir_dim_is_static(dim))
        return tile_index(b, dim);
    ir_value index = dim_values_get(&l->dims, dim);
    if (l->dims.missing)
        lowering_fail(l, "dimension %s is in no input's shape", l->dims.missing);
    return index;
}

/* coefficient * index, made where the index is, so that loops inside do not make it again. */
static ir_value scaled_index(lowering *l, ir_builder *b, ir_dim coefficient, ir_value index) {
    const ir_value_data *v = ir_value_get(l->m, index);
    for (size_t i = 0; i < l->products.count; i++)
        if (l->products.items[i].coefficient == coefficient && l->products.items[i].index == index)
            return l->products.items[i].product;
    ir_builder at = *b;
    at.block = v->op ? ir_op_get(l->m, v->op)->block : v->block;
    at.before = v->op ? ir_op_get(l->m, v->op)->next : ir_block_get(l->m, v->block)->first;
    if (!v->op && at.block == l->dims.top.block) /* behind the dimensions, which come first there */
        at.before = ir_op_get(l->m, l->dims.top.before)->next;
    index_product made = {coefficient, index, 0};
    made.product = tile_index_mul(&at, lowering_dim(l, &at, coefficient), index);
    vec_push(&l->products, made);
    return made.product;
}

/* The block in which a value is made. */
static ir_block block_of(const ir_module *m, ir_value v) {
    const ir_value_data *d = ir_value_get(m, v);
    return d->op ? ir_op_get(m, d->op)->block : d->block;
}

/* tile_affine, of which what does not change in a loop is made before it. */
static ir_value hoisted_affine(ir_builder *b, int64_t constant, const ir_value *indices,
                               const int64_t *factors, int n) {
    ir_value inner[LOWERING_AXES + 2], outer[LOWERING_AXES + 2];
    int64_t inner_factors[LOWERING_AXES + 2], outer_factors[LOWERING_AXES + 2];
    int inside = 0, outside = 0;
    ir_op loop = ir_block_parent(b->m, b->block);
    for (int i = 0; i < n; i++) {
        bool here = block_of(b->m, indices[i]) == b->block;
        (here ? inner : outer)[here ? inside : outside] = indices[i];
        (here ? inner_factors : outer_factors)[here ? inside++ : outside++] = factors[i];
    }
    if (outside < 2 || ir_op_get(b->m, loop)->opcode != TILE_FOR)
        return tile_affine(b, constant, indices, factors, n);
    ir_builder before = {b->m, ir_op_get(b->m, loop)->block, loop, b->location};
    ir_value sum = hoisted_affine(&before, constant, outer, outer_factors, outside);
    inner[inside] = sum;
    inner_factors[inside++] = 1;
    return tile_affine(b, 0, inner, inner_factors, inside);
}

ir_value lowering_affine(lowering *l, ir_builder *b, ir_dim constant, const ir_value *indices,
                         const ir_dim *coefficients, int n) {
    ir_value parts[LOWERING_AXES + 2];
    int64_t factors[LOWERING_AXES + 2], zero;
    int count = 0;
    bool known = ir_dim_is_static(constant);
    for (int i = 0; i < n; i++) {
        bool number = ir_dim_is_static(coefficients[i]);
        bool nothing = !number && tile_constant_index(b, indices[i], &zero) && zero == 0;
        if (nothing || coefficients[i] == 0)
            continue;
        parts[count] = number ? indices[i] : scaled_index(l, b, coefficients[i], indices[i]);
        if (number && known) /* so that neighbours have one address, and a constant each */
            constant += coefficients[i] * tile_index_shift(b, &parts[count]);
        factors[count++] = number ? coefficients[i] : 1;
    }
    if (!known) {
        parts[count] = lowering_dim(l, b, constant);
        factors[count++] = 1;
    }
    constant = known ? constant : 0;
    return (l->symbolic ? hoisted_affine : tile_affine)(b, constant, parts, factors, count);
}

/* ---- loops ---- */

void lowering_mark(lowering *l, ir_op op, ir_op computation) {
    const char *word = ir_op_string(l->s, computation, "order", order_info_of(ORDER_ANY)->name);
    ir_op_set_attr(l->m, op, "order", ir_attr_string(l->m, word));
    ir_op_set_attr(l->m, op, "reduction",
                   ir_attr_int(l->m, ir_op_int(l->s, computation, "reduction", -1)));
}

static void lower_block(lowering *l, ir_builder *b, ir_block block);

/* One trip: `size` elements from `index` on, of which there are `valid` (0: all). */
static void lower_body(lowering *l, ir_builder *b, ir_op op, ir_value index, int64_t size,
                       ir_value valid) {
    const ir_block_data *block = ir_block_get(l->s, ir_op_block(l->s, op, 0));
    l->value_of[block->arguments[0]] = index;
    l->size_of[block->arguments[0]] = size;
    l->valid_of[block->arguments[0]] = valid;
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

/* `end` (may be 0): elements from there on are none. Parameters: the bounds of a loop, two sizes
 * and an end, which differ at each of its calls. */
static void emit_loop(lowering *l, ir_builder *b, ir_op op, ir_value low, ir_value high,
                      int64_t step, int64_t size, ir_value end) {
    ir_value index;
    ir_op loop;
    size_t ready = l->ready.count;
    load_ahead(l, b, op);
    ir_builder in = tile_for(b, low, high, step, NULL, 0, &loop, &index);
    if (ir_op_attr(l->s, op, "order"))
        lowering_mark(l, loop, op);
    lower_body(l, &in, op, index, size, end ? tile_index_sub(&in, end, index) : 0);
    tile_yield(&in, NULL, 0);
    l->ready.count = ready;
}

/* A constant number of elements; a single step needs no loop. */
static void lower_known_for(lowering *l, ir_builder *b, ir_op op, ir_value start, int64_t count,
                            int64_t step) {
    int64_t full = count / step * step, one = 1;
    if (full == step)
        lower_body(l, b, op, start, step, 0);
    else if (full > 0)
        emit_loop(l, b, op, start, tile_affine(b, full, &start, &one, 1), step, step, 0);
    if (count > full)
        lower_body(l, b, op, full ? tile_affine(b, full, &start, &one, 1) : start, count - full, 0);
}

/* A block of the extent, from `start`. The block is a multiple of the step, so only the last one
 * has a remainder. A sort is so long that one body is there for whole steps and remainders.
 * Parameters: as emit_loop. */
static void lower_block_for(lowering *l, ir_builder *b, ir_op op, ir_value start, int64_t extent,
                            int64_t step, int64_t span) {
    int64_t full = extent / step * step, one = 1;
    ir_value end = tile_affine(b, span, &start, &one, 1);
    ir_op first = ir_block_get(l->s, ir_op_block(l->s, op, 0))->first;
    if (full && extent > full && first && ir_op_get(l->s, first)->opcode == SCHED_SORT) {
        ir_value last = tile_index(b, extent);
        emit_loop(l, b, op, start, tile_index_op(b, TILE_INDEX_MIN, end, last), step, step, last);
        return;
    }
    if (full)
        emit_loop(l, b, op, start, tile_index_op(b, TILE_INDEX_MIN, end, tile_index(b, full)), step,
                  step, 0);
    if (extent > full) {
        ir_value low = tile_index_op(b, TILE_INDEX_MAX, start, tile_index(b, full));
        ir_value high = tile_index_op(b, TILE_INDEX_MIN, end, tile_index(b, extent));
        emit_loop(l, b, op, low, high, step, extent - full, 0);
    }
}

/* Number of elements that the axis around a loop stands for. */
static int64_t size_around(const lowering *l, ir_op op) {
    ir_block block = ir_op_get(l->s, op)->block;
    return l->size_of[ir_block_get(l->s, block)->arguments[0]];
}

/* The steps in which what is left over of the loop's own is walked. */
static int64_t tail_step(const lowering *l, ir_op op, int64_t step) {
    int64_t tail = ir_op_int(l->s, op, "tail", step), area = ir_op_int(l->s, op, "area", 0);
    if (area) {
        int64_t rows = area / size_around(l, op);
        return rows < 1 ? 1 : rows < step ? rows : step;
    }
    return tail < step && step % tail == 0 ? tail : step;
}

/* Does the loop step through memory in other steps than single elements? Of such a tile every
 * element has an address of its own, which must be kept inside of what is there. */
static bool is_scattered(lowering *l, ir_op loop) {
    ir_op first = ir_block_get(l->s, ir_op_block(l->s, loop, 0))->first;
    ir_dim access[LOWERING_AXES + 1];
    if (!first || ir_op_get(l->s, first)->opcode != SCHED_MAP)
        return false;
    frame f = frame_of(l, first);
    for (uint32_t i = 0; i + (uint32_t)f.axes < ir_op_get(l->s, first)->operand_count; i++) {
        frame_access(&f, (int)i, access);
        if (access[f.axes] != 0 && access[f.axes] != 1)
            return true;
    }
    return false;
}

/* Emits what a loop's own step leaves over, from `start` on: in steps of `tail`, the last of them
 * in part or, where they are enough, of `last`. */
static void emit_tail(lowering *l, ir_builder *b, ir_op op, ir_value start, ir_value end,
                      int64_t step) {
    int64_t tail = tail_step(l, op, step);
    int64_t last = ir_op_int(l->s, op, "last", tail);
    if (last < tail) {
        ir_value more = tile_index_step(b, end, start, -1, tail - last - 1);
        ir_value middle = tile_index_add(b, start, tile_index_floor(b, more, tail));
        emit_loop(l, b, op, start, middle, tail, tail, end);
        start = middle;
        tail = last;
    } else if (tail < step && is_scattered(l, op)) {
        ir_value whole = tile_index_whole(b, start, end, tail);
        emit_loop(l, b, op, start, whole, tail, tail, 0);
        start = whole;
    }
    emit_loop(l, b, op, start, end, tail, tail, end);
}

static bool is_piece(const lowering *l, ir_op loop) {
    return ir_op_attr(l->s, loop, "from") || ir_op_attr(l->s, loop, "to");
}

/* A piece of an axis, or an extent that the launch gives: whole steps, then shorter ones, of the
 * last of which only a part may be there. A loop over chunks, which is not cut further, runs once
 * even over nothing. */
static void lower_any_for(lowering *l, ir_builder *b, ir_op op, int64_t step, int64_t span) {
    const ir_op_data *d = ir_op_get(l->s, op);
    bool chunks = ir_op_attr(l->s, op, "order") != 0, piece = is_piece(l, op);
    int64_t first, last;
    ir_value start = d->operand_count ? l->value_of[d->operands[0]] : tile_index(b, 0);
    ir_dim extent = ir_op_int(l->s, op, "extent", 0);
    ir_value end = lowering_dim(l, b, extent);
    if (d->operand_count && span)
        end = tile_index_min(b, tile_index_step(b, start, start, 0, span), end);
    if (piece) {
        start = tile_index_max(b, start, lowering_dim(l, b, ir_op_int(l->s, op, "from", 0)));
        end = tile_index_min(b, end, lowering_dim(l, b, ir_op_int(l->s, op, "to", extent)));
        end = tile_index_max(b, start, end);
    }
    if (piece && tile_constant_index(b, start, &first) && tile_constant_index(b, end, &last)) {
        lower_known_for(l, b, op, start, last - first, step);
        return;
    }
    if (step == 1 || chunks || ir_op_int(l->s, op, "tail", step) == 0) {
        end = chunks ? tile_index_max(b, end, tile_index(b, 1)) : end;
        emit_loop(l, b, op, start, end, step, step, 0);
        return;
    }
    ir_value whole = tile_index_whole(b, start, end, step);
    emit_loop(l, b, op, start, whole, step, step, 0);
    emit_tail(l, b, op, whole, end, step);
}

/* The reduction that goes on through the steps of a loop, whose end it is; 0: there is none. */
static ir_op reduce_of(const lowering *l, ir_op loop) {
    ir_op last = ir_block_get(l->s, ir_op_block(l->s, loop, 0))->last;
    bool reduces = last && ir_op_get(l->s, last)->opcode == SCHED_REDUCE;
    return reduces && ir_op_attr(l->s, last, "piece") ? last : 0;
}

void lowering_piece(lowering *l, ir_builder *b, ir_op loop, ir_value index, int64_t count) {
    ir_location location = b->location;
    lower_body(l, b, loop, index, count, 0);
    b->location = location;
}

static void lower_for(lowering *l, ir_builder *b, ir_op op) {
    const ir_op_data *d = ir_op_get(l->s, op);
    ir_op reduce = reduce_of(l, op), dot = dot_of_loop(l->s, op);
    if (reduce) {
        lower_reduce(l, b, reduce);
        return;
    }
    if (dot) {
        b->location = ir_op_get(l->s, dot)->location;
        lower_dot(l, b, dot);
        return;
    }
    int64_t extent = ir_op_int(l->s, op, "extent", 0), step = schedule_step(l->s, op, "step", 1);
    int64_t span = schedule_step(l->s, op, "span", 0);
    if (!ir_dim_is_static(extent) || is_piece(l, op)) {
        lower_any_for(l, b, op, step, span);
        return;
    }
    if (ir_op_attr(l->s, op, "inside")) {
        lower_known_for(l, b, op, l->value_of[d->operands[0]], l->size_of[d->operands[0]], step);
        return;
    }
    if (d->operand_count == 0 || span >= extent) {
        lower_known_for(l, b, op, tile_index(b, 0), extent, step);
        return;
    }
    if (span % step != 0) {
        lowering_fail(l, "axis %s: the block of %lld is not a multiple of the step %lld",
                      ir_op_string(l->s, op, "axis", "?"), (long long)span, (long long)step);
        return;
    }
    lower_block_for(l, b, op, l->value_of[d->operands[0]], extent, step, span);
}

/* ---- phases ---- */

static void lower_phase(lowering *l, ir_builder *b, ir_op op) {
    ir_op parallel = ir_block_get(l->s, ir_op_block(l->s, op, 0))->first;
    ir_dim counts[LOWERING_AXES], workgroups = lowering_grid(l, parallel, counts);
    bool known = ir_dim_is_static(workgroups);
    const char *constant = ir_op_string(l->s, op, "constant", NULL);
    uint32_t count = 3;
    ir_named_attr attrs[7] = {{"index", ir_attr_int(l->m, ir_op_int(l->s, op, "index", 0))},
                              {"what", ir_attr_string(l->m, ir_op_string(l->s, op, "what", ""))},
                              {"grid", ir_attr_int(l->m, known ? workgroups : 0)}};
    if (l->symbolic)
        attrs[count++] =
            (ir_named_attr){"workgroups", ir_attr_string(l->m, ir_dim_text(l->m, workgroups))};
    if (constant)
        attrs[count++] = (ir_named_attr){"constant", ir_attr_string(l->m, constant)};
    if (ir_op_attr(l->s, op, "copies"))
        attrs[count++] =
            (ir_named_attr){"copies", ir_attr_int(l->m, ir_op_int(l->s, op, "copies", 0))};
    if (ir_op_attr(l->s, op, "concurrent"))
        attrs[count++] = (ir_named_attr){"concurrent", ir_attr_bool(l->m, true)};
    ir_op_spec spec = {
        .opcode = TILE_PHASE, .attrs = attrs, .attr_count = count, .region_count = 1};
    ir_builder in = {l->m, ir_op_block(l->m, ir_build(b, &spec), 0), 0, b->location};
    ir_value workgroup = ir_block_add_argument(l->m, in.block, ir_type_index(l->m), NULL);
    l->workgroups = workgroups;
    l->workgroup = workgroup;
    if (l->symbolic) {
        dim_values_begin(&l->dims, &in);
        l->products.count = 0;
    }
    lowering_begin_memory(l);
    lowering_workgroup(l, &in, parallel, counts, workgroup);
    lower_block(l, &in, ir_op_block(l->s, parallel, 0));
}

static void lower_op(lowering *l, ir_builder *b, ir_op op) {
    b->location = ir_op_get(l->s, op)->location;
    switch (ir_op_get(l->s, op)->opcode) {
    case SCHED_BUFFER:
        lowering_buffer(l, b, op);
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
        if (ir_op_attr(l->s, op, "piece")) /* the loop around it is lowered by it */
            break;
        (order_is_exact(order_of(l->s, op, ORDER_ANY)) ? lower_exact : lower_reduce)(l, b, op);
        break;
    case SCHED_COLUMNS:
        (order_is_exact(order_of(l->s, op, ORDER_ANY)) ? lower_exact : lower_columns)(l, b, op);
        break;
    case SCHED_SCAN:
        lower_scan(l, b, op);
        break;
    case SCHED_SORT:
        lower_sort(l, b, op);
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
    case IR_ATTR_DIM:
        copy = ir_attr_dim(l->m, d->integer);
        break;
    default:
        copy = ir_attr_int(l->m, d->integer);
    }
    free(items);
    return copy;
}

/* Shapes of the arguments, which tile.mem does not carry. */
static ir_attr argument_shapes(lowering *l, const ir_block_data *body) {
    ir_attr *shapes = base_malloc((body->argument_count + 1) * sizeof *shapes);
    for (uint32_t i = 0; i < body->argument_count; i++) {
        const ir_type_data *t = ir_type_of(l->s, body->arguments[i]);
        ir_attr items[IR_MAX_RANK];
        for (int k = 0; k < t->rank; k++)
            items[k] = ir_dim_is_static(t->dims[k])
                           ? ir_attr_int(l->m, t->dims[k])
                           : ir_attr_string(l->m, ir_dim_text(l->m, t->dims[k]));
        shapes[i] = ir_attr_array(l->m, items, (uint32_t)t->rank);
    }
    ir_attr list = ir_attr_array(l->m, shapes, body->argument_count);
    free(shapes);
    return list;
}

/* A number, or where a launch gives dimensions a formula. */
static void set_bytes(lowering *l, ir_op kernel, const char *number, const char *formula,
                      ir_dim bytes) {
    bool known = !l->symbolic || (l->shared_bytes && ir_dim_is_static(bytes));
    ir_op_set_attr(l->m, kernel, number, ir_attr_int(l->m, known ? bytes : 0));
    if (bytes == IR_DIM_INVALID)
        lowering_fail(l, "the formula of %s is too long", formula);
    else if (!known)
        ir_op_set_attr(l->m, kernel, formula, ir_attr_string(l->m, ir_dim_text(l->m, bytes)));
}

/* Those that a grid says; else the kernel has as many as is usual. */
static void set_threads(lowering *l, ir_op kernel) {
    enum { SUBGROUP = 32 };
    int64_t warps = 0;
    for (ir_walk w = ir_walk_op(l->s, ir_module_kernel(l->s)); ir_walk_next(&w);)
        if (ir_op_get(l->s, w.op)->opcode == SCHED_PARALLEL)
            warps = warps ? warps : schedule_step(l->s, w.op, "warps", 0);
    if (warps)
        ir_op_set_attr(l->m, kernel, "threads", ir_attr_int(l->m, warps * SUBGROUP));
}

static void lower_kernel(lowering *l) {
    ir_op kernel = ir_module_kernel(l->s);
    const ir_block_data *body = ir_block_get(l->s, ir_op_block(l->s, kernel, 0));
    static const char *const copied[] = {"name",        "inputs",     "outputs", "parameters",
                                         "profile",     "reductions", "math",    "dims",
                                         "constraints", "constants",  "donated"};
    ir_named_attr attrs[12] = {{"shapes", argument_shapes(l, body)}};
    uint32_t count = 1;
    for (size_t i = 0; i < sizeof copied / sizeof *copied; i++)
        if (ir_op_attr(l->s, kernel, copied[i]))
            attrs[count++] =
                (ir_named_attr){copied[i], copy_attr(l, ir_op_attr(l->s, kernel, copied[i]))};
    ir_builder b = {.m = l->m, .block = ir_module_body(l->m)};
    ir_op_spec spec = {
        .opcode = TILE_KERNEL, .attrs = attrs, .attr_count = count, .region_count = 1};
    ir_op tile_kernel = ir_build(&b, &spec);
    set_threads(l, tile_kernel);
    l->dims.of = l->m;
    l->dims.names = ir_op_attr(l->m, tile_kernel, "dims");
    l->symbolic = l->dims.names != 0;
    l->shared_bytes = ir_op_int(l->s, kernel, "shared", 0);
    b.block = ir_op_block(l->m, tile_kernel, 0);
    uint32_t inputs = ir_attr_get(l->s, ir_op_attr(l->s, kernel, "inputs"))->count;
    for (uint32_t i = 0; i < body->argument_count; i++) {
        ir_value v = body->arguments[i];
        dtype element = ir_type_of(l->s, v)->element;
        l->value_of[v] = ir_block_add_argument(l->m, b.block, ir_type_memory(l->m, element), NULL);
        l->is_output[v] = i >= inputs;
    }
    ir_block all = ir_op_block(l->s, kernel, 0);
    if (!l->symbolic)
        lowering_plan_workspace(l, all, tile_kernel);
    l->pieces.begin = l->workspace_bytes;
    lower_block(l, &b, all);
    if (l->unplanned_bytes > l->workspace_bytes)
        ir_op_set_attr(l->m, tile_kernel, "unplanned_bytes", ir_attr_int(l->m, l->unplanned_bytes));
    set_bytes(l, tile_kernel, "workspace_bytes", "workspace", l->workspace_bytes);
    set_bytes(l, tile_kernel, "scratch_bytes", "scratch", l->scratch_bytes);
    if (l->prepared_bytes)
        ir_op_set_attr(l->m, tile_kernel, "prepared_bytes", ir_attr_int(l->m, l->prepared_bytes));
    if (l->pieces.moved_bytes)
        ir_op_set_attr(l->m, tile_kernel, "moved_bytes", ir_attr_int(l->m, l->pieces.moved_bytes));
}

ir_module *tile_from_schedule(const ir_module *schedule, status *st) {
    uint32_t n = ir_value_count(schedule) + 1;
    lowering l = {.s = schedule, .m = ir_module_new(), .st = st};
    l.value_of = base_calloc(n, sizeof *l.value_of);
    l.size_of = base_calloc(n, sizeof *l.size_of);
    l.valid_of = base_calloc(n, sizeof *l.valid_of);
    l.place_of = base_calloc(n, sizeof *l.place_of);
    l.is_output = base_calloc(n, sizeof *l.is_output);
    ir_dim_adopt(l.m, schedule);
    lower_kernel(&l);
    free(l.value_of);
    free(l.size_of);
    free(l.valid_of);
    free(l.place_of);
    free(l.is_output);
    vec_release(&l.dims.known);
    vec_release(&l.products);
    vec_release(&l.ready);
    if (!l.failed)
        return l.m;
    ir_module_free(l.m);
    return NULL;
}
