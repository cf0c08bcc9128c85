/* from_tiles.c - a kernel of tiles as it stands: the kernel, its instances, loops and results. */
#include "tile/simt/from_tiles.h"

#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "ops/tiles.h"

bool tiles_refuse(tiles_lowering *t, ir_op op, const char *format, ...) {
    va_list args;
    char *why = t->notes->why;
    if (why[0])
        return false;
    uint32_t line = op ? ir_op_get(t->g, op)->location.line : 0;
    int n = line ? snprintf(why, SIMT_TILES_WHY_BYTES, "line %u: ", line) : 0;
    if (op)
        n += snprintf(why + n, SIMT_TILES_WHY_BYTES - (size_t)n,
                      "%s: ", op_info_get(ir_op_get(t->g, op)->opcode)->name);
    va_start(args, format);
    vsnprintf(why + n, SIMT_TILES_WHY_BYTES - (size_t)n, format, args);
    va_end(args);
    return false;
}

/* ---- accumulations ---- */

int64_t tiles_number(tiles_lowering *t, const char *kind, const char *order, int64_t extent,
                     int64_t results) {
    reduction_record r = {.order = order_find(order),
                          .extent = extent,
                          .results = results,
                          .id = (int64_t)t->reductions.items.count,
                          .needed = true};
    r.name = order_name(r.order, order);
    snprintf(r.kind, sizeof r.kind, "%s", kind);
    vec_push(&t->reductions.items, r);
    return r.id;
}

void tiles_mark(tiles_lowering *t, ir_op op, const char *order, int64_t number) {
    ir_op_set_attr(t->m, op, "order", ir_attr_string(t->m, order));
    ir_op_set_attr(t->m, op, "reduction", ir_attr_int(t->m, number));
}

/* ---- operations ---- */

void tiles_shape(const tiles_lowering *t, ir_value v, int64_t *rows, int64_t *columns) {
    const ir_type_data *d = ir_type_of(t->g, v);
    *rows = d->rank == 2 || (d->rank == 1 && t->is_column[v]) ? d->dims[0] : 1;
    *columns = d->rank == 2 ? d->dims[1] : d->rank == 1 && !t->is_column[v] ? d->dims[0] : 1;
}

static bool lower_op(tiles_lowering *t, ir_builder *b, ir_op op) {
    const ir_op_data d = *ir_op_get(t->g, op);
    b->location = d.location;
    switch (d.opcode) {
    case GRAPH_FOR:
        return tiles_lower_loop(t, b, op);
    case GRAPH_LOAD:
        return tiles_lower_load(t, b, op);
    case GRAPH_GIVE:
        return tiles_lower_give(t, b, op);
    case GRAPH_NEXT:
        return true;
    case GRAPH_MATMUL:
        return tiles_lower_product(t, b, op);
    default:
        return tiles_lower_value(t, b, op);
    }
}

bool tiles_lower_block(tiles_lowering *t, ir_builder *b, ir_block block) {
    for (ir_op op = ir_block_get(t->g, block)->first; op; op = ir_op_get(t->g, op)->next) {
        const ir_op_data d = *ir_op_get(t->g, op);
        if (!lower_op(t, b, op))
            return false;
        for (uint32_t i = 0; i < d.result_count; i++) {
            ir_value v = d.results[i];
            bool in_registers = t->is_left[v] && t->values[v].unit;
            tiles_view view;
            if (!tiles_have_registers(t, op, v))
                return false;
            if (t->is_factor[v] && d.opcode != GRAPH_TRANSPOSE && !in_registers &&
                !tiles_view_of(t, b, op, v, &view))
                return false;
        }
    }
    return true;
}

/* ---- the kernel ---- */

/* Do loops run more often in the instances at the end of an axis? */
static bool works_more(const tiles_lowering *t, ir_op tiles, size_t axis) {
    bool found = false;
    for (ir_walk w = ir_walk_op(t->g, tiles); !found && ir_walk_next(&w);)
        found = ir_op_get(t->g, w.op)->opcode == GRAPH_FOR &&
                tiles_grows(t, ir_op_attr(t->g, w.op, "count"), axis);
    return found;
}

/* The instance's place on each axis, the last one first in the order of workgroups. Those that work
 * more begin earlier, so that a chip ends with the short ones. */
static bool open_instance(tiles_lowering *t, ir_builder *b, ir_value workgroup) {
    ir_op tiles = tiles_of(t->g);
    const ir_attr_data *names = ir_attr_get(t->g, ir_op_attr(t->g, tiles, "indices")),
                       *counts = ir_attr_get(t->g, ir_op_attr(t->g, tiles, "counts"));
    ir_value left = workgroup;
    if (names->count > TILES_INDICES / 2)
        return tiles_refuse(t, tiles, "it has too many axes of instances");
    for (uint32_t i = 0; i < names->count; i++) {
        const tiles_index index = {.name = ir_attr_get(t->g, names->items[i])->string,
                                   .most = ir_attr_get(t->g, counts->items[i])->integer - 1};
        vec_push(&t->indices, index);
    }
    for (uint32_t i = names->count; i-- > 0;) {
        int64_t count = t->indices.items[i].most + 1;
        tiles_index *x = &t->indices.items[i];
        const int64_t back = -1;
        x->index = i ? tile_index_by(b, TILE_INDEX_REM, left, count) : left;
        if (works_more(t, tiles, i))
            x->index = tile_affine(b, x->most, &x->index, &back, 1);
        left = i ? tile_index_by(b, TILE_INDEX_DIV, left, count) : left;
    }
    return true;
}

static int64_t grid_of(const tiles_lowering *t) {
    const ir_attr_data *counts = ir_attr_get(t->g, ir_op_attr(t->g, tiles_of(t->g), "counts"));
    int64_t grid = 1;
    for (uint32_t i = 0; i < counts->count; i++) {
        const ir_attr_data *count = ir_attr_get(t->g, counts->items[i]);
        grid = count->kind == IR_ATTR_INT ? grid * count->integer : 0;
    }
    return grid;
}

static bool lower_phase(tiles_lowering *t, ir_builder *b) {
    int64_t grid = grid_of(t);
    if (grid == 0)
        return tiles_refuse(t, tiles_of(t->g), "it has no instances, or not a known number");
    ir_named_attr attrs[] = {{"index", ir_attr_int(t->m, 0)},
                             {"what", ir_attr_string(t->m, "tiles")},
                             {"grid", ir_attr_int(t->m, grid)}};
    ir_op_spec spec = {.opcode = TILE_PHASE, .attrs = attrs, .attr_count = 3, .region_count = 1};
    ir_builder in = {t->m, ir_op_block(t->m, ir_build(b, &spec), 0), 0, b->location};
    ir_value workgroup = ir_block_add_argument(t->m, in.block, ir_type_index(t->m), NULL);
    ir_block body = ir_op_block(t->g, tiles_of(t->g), 0);
    return open_instance(t, &in, workgroup) && tiles_find_uses(t, body) &&
           tiles_lower_block(t, &in, body);
}

static ir_attr copy_names(const tiles_lowering *t, const char *which) {
    const ir_attr_data *list = ir_attr_get(t->g, ir_op_attr(t->g, ir_module_kernel(t->g), which));
    ir_attr names[TILES_VALUES];
    for (uint32_t i = 0; i < list->count; i++)
        names[i] = ir_attr_string(t->m, ir_attr_get(t->g, list->items[i])->string);
    return ir_attr_array(t->m, names, list->count);
}

static ir_attr shapes_of(const tiles_lowering *t, const ir_value *buffers, uint32_t count) {
    ir_attr shapes[TILES_VALUES];
    for (uint32_t i = 0; i < count; i++) {
        const ir_type_data *d = ir_type_of(t->g, buffers[i]);
        shapes[i] = ir_attr_int_array(t->m, d->dims, (uint32_t)d->rank);
    }
    return ir_attr_array(t->m, shapes, count);
}

/* The results of the instances are the kernel's outputs, one for one. */
static bool find_buffers(tiles_lowering *t, ir_value *buffers, uint32_t *count) {
    const ir_block_data *body = ir_kernel_body(t->g);
    const ir_op_data *end = ir_op_get(t->g, body->last), *tiles = ir_op_get(t->g, tiles_of(t->g));
    bool alone = body->first == tiles_of(t->g) && ir_op_get(t->g, body->first)->next == body->last;
    if (!alone || end->operand_count != tiles->result_count ||
        body->argument_count + end->operand_count > TILES_VALUES)
        return tiles_refuse(t, body->first, "there is more in the kernel than tiles");
    for (uint32_t i = 0; i < body->argument_count; i++)
        buffers[(*count)++] = body->arguments[i];
    for (uint32_t i = 0; i < end->operand_count; i++) {
        if (end->operands[i] != tiles->results[i])
            return tiles_refuse(t, body->last, "outputs are not the instances' results in order");
        buffers[(*count)++] = end->operands[i];
    }
    return true;
}

enum { USUAL_STAGES = 2 };

/* Reads what the kernel says of its threads. */
static bool read_hints(tiles_lowering *t) {
    enum { SUBGROUP = 32 };
    ir_op tiles = tiles_of(t->g);
    int64_t warps = tiles_hint(t, tiles, "warps", t->request->threads / SUBGROUP);
    t->threads = warps * SUBGROUP;
    t->stages = tiles_hint(t, tiles, "stages", t->stages);
    t->vector = tiles_hint(t, tiles, "vector", 0);
    return (warps >= 1 && t->threads <= t->request->most_threads && (warps & (warps - 1)) == 0) ||
           tiles_refuse(t, tiles, "a workgroup has 1 to %lld warps here, a power of two",
                        (long long)t->request->most_threads / SUBGROUP);
}

static bool is_crowded(const tiles_lowering *t) {
    return t->most_bytes > t->request->room.shared_bytes;
}

static bool lower_kernel(tiles_lowering *t) {
    ir_value buffers[TILES_VALUES];
    uint32_t count = 0;
    ir_op kernel = ir_module_kernel(t->g);
    if (!find_buffers(t, buffers, &count) || !read_hints(t))
        return false;
    ir_named_attr attrs[8] = {
        {"name", ir_attr_string(t->m, ir_op_string(t->g, kernel, "name", "kernel"))},
        {"inputs", copy_names(t, "inputs")},
        {"outputs", copy_names(t, "outputs")},
        {"shapes", shapes_of(t, buffers, count)},
        {"parameters", ir_attr_dict(t->m, NULL, NULL, 0)},
        {"profile", ir_attr_string(t->m, t->request->profile)}};
    uint32_t n = 6;
    const char *math = ir_op_string(t->g, kernel, "math", NULL);
    if (math)
        attrs[n++] = (ir_named_attr){"math", ir_attr_string(t->m, math)};
    ir_builder b = {.m = t->m, .block = ir_module_body(t->m)};
    ir_op_spec spec = {.opcode = TILE_KERNEL, .attrs = attrs, .attr_count = n, .region_count = 1};
    ir_op made = ir_build(&b, &spec);
    b.block = ir_op_block(t->m, made, 0);
    for (uint32_t i = 0; i < count; i++)
        t->values[buffers[i]].view.memory = ir_block_add_argument(
            t->m, b.block, ir_type_memory(t->m, ir_type_of(t->g, buffers[i])->element), NULL);
    if (!lower_phase(t, &b))
        return false;
    if (t->cuts && t->needs_carried)
        return tiles_refuse(t, tiles_of(t->g), "a carried tile may be cut along a sum");
    if (is_crowded(t))
        return tiles_refuse(t, tiles_of(t->g),
                            "its factors need %lld bytes of a workgroup's memory",
                            (long long)t->most_bytes);
    ir_op_set_attr(t->m, made, "threads", ir_attr_int(t->m, t->threads));
    ir_op_set_attr(t->m, made, "workspace_bytes", ir_attr_int(t->m, 0));
    ir_op_set_attr(t->m, made, "scratch_bytes", ir_attr_int(t->m, t->most_bytes));
    if (t->missed[0])
        ir_op_set_attr(t->m, made, "missed", ir_attr_string(t->m, t->missed));
    if (t->fewer)
        ir_op_set_attr(t->m, made, "stages", ir_attr_int(t->m, t->used_stages));
    ir_op_set_attr(t->m, made, "reductions", reductions_attr(t->m, &t->reductions));
    return true;
}

/* A way to lower the kernel, and what came of it. */
typedef struct attempt {
    int64_t most_stages, used_stages; /* of a load: that it may have; that one has */
    int64_t bytes;                    /* of the workgroup's memory, without bounds of stages */
    bool by_itself;                   /* units may read memory by themselves */
    bool crowded;                     /* there is no room */
} attempt;

/* Has it such a lowering, and asks for nothing that is refused? */
static bool is_lowered(tiles_lowering *t, attempt *a) {
    bool ok = lower_kernel(t) && t->stages_products == a->by_itself;
    a->crowded = is_crowded(t);
    a->used_stages = t->used_stages;
    a->bytes = a->bytes ? a->bytes : t->most_bytes;
    if (ok && t->fewer)
        tiles_check_stages(t, a->bytes);
    if (!ok && !a->crowded)
        t->notes->refused[0] = 0;
    return ok && !t->notes->refused[0] && tiles_follow_hints(t);
}

static ir_module *lower(ir_module *graph, const simt_tiles_request *request, attempt *a,
                        simt_tiles_notes *notes) {
    *notes = (simt_tiles_notes){.why = ""};
    uint32_t n = ir_value_count(graph) + 1;
    tiles_lowering t = {.g = graph,
                        .m = ir_module_new(),
                        .request = request,
                        .stages = USUAL_STAGES,
                        .most_stages = a->most_stages,
                        .used_stages = 1,
                        .may_stage = a->by_itself,
                        .notes = notes};
    t.values = base_calloc(n, sizeof *t.values);
    t.wide = base_calloc(n, sizeof *t.wide);
    t.rows = base_calloc(n, sizeof *t.rows);
    t.is_column = base_calloc(5 * (size_t)n, sizeof *t.is_column);
    t.is_factor = t.is_column + n;
    t.is_left = t.is_factor + n;
    t.is_read = t.is_left + n;
    t.is_plain = t.is_read + n;
    bool ok = is_lowered(&t, a);
    free(t.values);
    free(t.wide);
    free(t.rows);
    free(t.is_column);
    vec_release(&t.indices);
    vec_release(&t.streams);
    reductions_release(&t.reductions);
    if (ok)
        return t.m;
    ir_module_free(t.m);
    return NULL;
}

static bool has_such_units(const char *chip) {
    const mma_unit *list;
    uint32_t count = mma_units(&list), i = 0;
    while (i < count && !(mma_in_memory(&list[i]) && mma_unit_is_of(&list[i], chip)))
        i++;
    return i < count;
}

/* Takes fewer stages where so many have no room. First with units that read memory by themselves;
 * then without, where they do not multiply or something of the kernel has no lowering beside them.
 */
ir_module *simt_from_tiles(ir_module *graph, const simt_tiles_request *request,
                           simt_tiles_notes *notes) {
    ir_module *made = NULL;
    bool done = false;
    for (int by_itself = has_such_units(request->chip); !done && by_itself >= 0; by_itself--) {
        attempt a = {.most_stages = INT64_MAX, .by_itself = by_itself, .crowded = true};
        for (; !made && a.crowded && a.most_stages > 0; a.most_stages = a.used_stages - 1)
            made = lower(graph, request, &a, notes);
        done = made || (notes->refused[0] && notes->kind == SIMT_REFUSES_HINT);
    }
    return made;
}
