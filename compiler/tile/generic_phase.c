/* generic_phase.c - the kernel of any size and its element-wise phases. */
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "ops/reductions.h"
#include "tile/generic.h"

bool generic_fail(generic *s, const char *format, ...) {
    char message[512];
    va_list args;
    va_start(args, format);
    vsnprintf(message, sizeof message, format, args);
    va_end(args);
    if (!s->failed)
        status_set(s->st, STATUS_INVALID, "%s", message);
    s->failed = true;
    return false;
}

const ir_type_data *generic_type(const generic *s, ir_value v) {
    return ir_type_get(s->g, ir_value_get(s->g, v)->type);
}

ir_builder generic_phase(generic *s, const char *what, ir_dim cells, ir_value *cell) {
    ir_module *m = s->m;
    if (cells == IR_DIM_INVALID)
        generic_fail(s, "a formula of the dimensions is too long for a kernel of any size");
    const char *formula = cells == IR_DIM_INVALID ? "0" : ir_dim_text(s->g, cells);
    ir_named_attr attrs[] = {{"index", ir_attr_int(m, s->phase++)},
                             {"what", ir_attr_string(m, what)},
                             {"grid", ir_attr_int(m, 0)},
                             {"cells", ir_attr_string(m, formula)}};
    ir_op_spec spec = {.opcode = TILE_PHASE, .attrs = attrs, .attr_count = 4, .region_count = 1};
    ir_builder b = {m, ir_op_block(m, ir_build(&s->kernel, &spec), 0), 0, s->kernel.location};
    *cell = ir_block_add_argument(m, b.block, ir_type_index(m), NULL);
    s->zero = tile_index(&b, 0);
    dim_values_begin(&s->dims, &b);
    return b;
}

int generic_widths(const generic *s, bool vectors, int64_t *widths) {
    int n = 0;
    if (vectors) {
        widths[n++] = 4 * s->lanes;
        widths[n++] = s->lanes;
    }
    widths[n++] = 1;
    return n;
}

/* ---- element-wise ---- */

/* A nest over the elements of `v`, which are stored in the memory of `into`. */
typedef struct map_nest {
    generic *s;
    ir_value v, into;
    bool copies;  /* v has memory of its own, and is only read */
    int argument; /* an output that is filled by copying; -1: into's memory */
    int axis;     /* of into, from `start` on; -1: all of it */
    ir_dim start;
} map_nest;

static void store_copy(const map_nest *p, ir_builder *b, const generic_place *index,
                       ir_value tile) {
    generic *s = p->s;
    const ir_type_data *t = generic_type(s, p->v);
    generic_place at = generic_offset(s, b, t->dims, t->rank, index);
    ir_value memory = ir_block_get(s->m, s->kernel.block)->arguments[p->argument];
    tile_store(b, memory, at.at, tile, 0, tile_type(b, tile)->dims[1] > 1 ? 1 : 0,
               dtype_is_float(t->element));
}

static void map_body(const map_nest *p, ir_builder *b, generic_place *index, int64_t width) {
    generic *s = p->s;
    generic_nest n = {.s = s, .b = b, .width = width, .computes = p->copies ? 0 : p->v};
    ir_value x = tile_broadcast(b, generic_element(&n, p->v, index), 1, width);
    generic_nest_release(&n);
    if (p->argument >= 0) {
        store_copy(p, b, index, x);
        return;
    }
    generic_place into[IR_MAX_RANK];
    memcpy(into, index, sizeof into);
    if (p->axis >= 0)
        into[p->axis].at = tile_index_add(b, into[p->axis].at, dim_values_get(&s->dims, p->start));
    generic_store(s, b, p->into, into, x);
}

/* Columns [low, high), in vectors as wide as there is room for. */
static void map_columns(const map_nest *p, ir_builder *b, generic_place *index, int last,
                        ir_value low, ir_value high) {
    int64_t widths[GENERIC_WIDTHS];
    bool vectors = generic_vectors(p->s, p->v, last, !p->copies);
    int n = generic_widths(p->s, vectors, widths);
    for (int i = 0; i < n; i++) {
        ir_value at, whole = tile_index_floor(b, tile_index_sub(b, high, low), widths[i]);
        ir_value end = tile_index_add(b, low, whole);
        ir_builder in = tile_for(b, low, end, widths[i], NULL, 0, NULL, &at);
        index[last] = (generic_place){at, widths[i] > 1};
        map_body(p, &in, index, widths[i]);
        tile_yield(&in, NULL, 0);
        low = end;
    }
}

static void map_phase(const map_nest *p, const char *what) {
    generic *s = p->s;
    const ir_type_data *t = generic_type(s, p->v);
    int last = t->rank - 1;
    ir_dim dims[IR_MAX_RANK] = {1}, cells = 1;
    ir_value cell, at[IR_MAX_RANK];
    generic_place index[IR_MAX_RANK] = {{0, 0}};
    for (int i = 0; i < t->rank; i++) {
        dims[i] = t->dims[i];
        if (i == last)
            dims[i] = ir_dim_floordiv(s->g, ir_dim_add(s->g, t->dims[i], GENERIC_COLUMNS - 1),
                                      GENERIC_COLUMNS);
        cells = ir_dim_mul(s->g, cells, dims[i]);
    }
    ir_builder b = generic_phase(s, what, cells, &cell);
    if (t->rank == 0) {
        map_body(p, &b, index, 1);
        return;
    }
    generic_unravel(s, &b, cell, dims, t->rank, at);
    for (int i = 0; i < t->rank; i++)
        index[i] = (generic_place){at[i], 0};
    ir_value low = tile_index_step(&b, s->zero, at[last], GENERIC_COLUMNS, 0);
    ir_value high = tile_index_min(&b, tile_index_step(&b, low, s->zero, 0, GENERIC_COLUMNS),
                                   dim_values_get(&s->dims, t->dims[last]));
    map_columns(p, &b, index, last, low, high);
}

void generic_map(generic *s, ir_value v, int output) {
    map_nest p = {s, v, v, output >= 0, output, -1, 0};
    map_phase(&p, output >= 0 ? "copy" : "map");
}

void generic_concat(generic *s, ir_op op) {
    const ir_op_data *d = ir_op_get(s->g, op);
    int axis = (int)ir_op_int(s->g, op, "axis", 0);
    ir_dim start = 0;
    for (uint32_t i = 0; i < d->operand_count; i++) {
        ir_value x = d->operands[i];
        map_nest p = {s, x, d->results[0], generic_storage(s, x) != 0, -1, axis, start};
        map_phase(&p, "join");
        start = ir_dim_add(s->g, start, generic_type(s, x)->dims[axis]);
    }
}

/* ---- the kernel ---- */

static ir_attr shape_attr(generic *s, ir_value v) {
    const ir_type_data *t = generic_type(s, v);
    ir_attr items[IR_MAX_RANK];
    for (int i = 0; i < t->rank; i++)
        items[i] = ir_dim_is_static(t->dims[i])
                       ? ir_attr_int(s->m, t->dims[i])
                       : ir_attr_string(s->m, ir_dim_text(s->g, t->dims[i]));
    return ir_attr_array(s->m, items, (uint32_t)t->rank);
}

static ir_attr copied_names(generic *s, const char *attr) {
    ir_attr names[64];
    const ir_attr_data *list = ir_attr_get(s->g, ir_op_attr(s->g, ir_module_kernel(s->g), attr));
    for (uint32_t i = 0; i < list->count && i < 64; i++)
        names[i] = ir_attr_string(s->m, ir_attr_get(s->g, list->items[i])->string);
    return ir_attr_array(s->m, names, list->count);
}

/* The kernel's block takes the memory of inputs, then outputs. */
static ir_op open_kernel(generic *s, const ir_block_data *body, const char *profile) {
    ir_op graph_kernel = ir_module_kernel(s->g);
    const ir_op_data *end = ir_op_get(s->g, body->last);
    ir_attr shapes[128];
    uint32_t n = 0;
    reduction_list reductions;
    for (uint32_t i = 0; i < body->argument_count; i++)
        shapes[n++] = shape_attr(s, body->arguments[i]);
    for (uint32_t i = 0; i < end->operand_count; i++)
        shapes[n++] = shape_attr(s, end->operands[i]);
    reductions_of(s->g, &reductions);
    ir_dim_adopt(s->m, s->g);
    const char *math = ir_op_string(s->g, graph_kernel, "math", NULL);
    ir_named_attr attrs[] = {
        {"name", ir_attr_string(s->m, ir_op_string(s->g, graph_kernel, "name", "kernel"))},
        {"inputs", copied_names(s, "inputs")},
        {"outputs", copied_names(s, "outputs")},
        {"shapes", ir_attr_array(s->m, shapes, n)},
        {"parameters", ir_attr_dict(s->m, NULL, NULL, 0)},
        {"profile", ir_attr_string(s->m, profile)},
        {"workspace_bytes", ir_attr_int(s->m, 0)},
        {"scratch_bytes", ir_attr_int(s->m, 0)},
        {"reductions", reductions_attr(s->m, &reductions)},
        {"dims", s->dims.names},
        {"math", math ? ir_attr_string(s->m, math) : 0}};
    reductions_release(&reductions);
    s->kernel = (ir_builder){.m = s->m, .block = ir_module_body(s->m)};
    ir_op_spec spec = {
        .opcode = TILE_KERNEL, .attrs = attrs, .attr_count = math ? 11 : 10, .region_count = 1};
    ir_op kernel = ir_build(&s->kernel, &spec);
    s->kernel.block = ir_op_block(s->m, kernel, 0);
    for (uint32_t i = 0; i < body->argument_count + end->operand_count; i++) {
        ir_value v =
            i < body->argument_count ? body->arguments[i] : end->operands[i - body->argument_count];
        ir_block_add_argument(s->m, s->kernel.block,
                              ir_type_memory(s->m, generic_type(s, v)->element), NULL);
    }
    return kernel;
}

static void lower_op(generic *s, ir_op op) {
    const ir_op_data *d = ir_op_get(s->g, op);
    if (d->result_count == 0 || !s->stored[d->results[0]])
        return;
    s->kernel.location = d->location;
    if (d->opcode == GRAPH_REDUCE)
        generic_reduce(s, op);
    else if (d->opcode == GRAPH_DOT)
        generic_dot(s, op);
    else if (d->opcode == GRAPH_CONCAT)
        generic_concat(s, op);
    else
        generic_map(s, d->results[0], -1);
}

/* Outputs that are an input, or the second time the same value. */
static void copy_outputs(generic *s, const ir_block_data *body) {
    const ir_op_data *end = ir_op_get(s->g, body->last);
    for (uint32_t i = 0; i < end->operand_count; i++) {
        int argument = (int)(body->argument_count + i);
        if (s->memory[end->operands[i]].argument != argument)
            generic_map(s, end->operands[i], argument);
    }
}

static void set_formula(generic *s, ir_op kernel, const char *name, ir_dim dim) {
    if (dim == IR_DIM_INVALID)
        generic_fail(s, "the formula of %s is too long for a kernel of any size", name);
    else
        ir_op_set_attr(s->m, kernel, name, ir_attr_string(s->m, ir_dim_text(s->g, dim)));
}

ir_module *tile_generic(ir_module *graph, int vector_lanes, const char *profile, status *st) {
    generic s = {
        .g = graph, .dims = {.of = graph}, .m = ir_module_new(), .lanes = vector_lanes, .st = st};
    const ir_block_data *body = ir_block_get(graph, ir_op_block(graph, ir_module_kernel(graph), 0));
    s.dims.names = symbols_names(s.m, graph);
    generic_plan(&s);
    s.constraints = symbols_constraints(s.m, graph, st);
    s.failed = !s.constraints;
    ir_op kernel = open_kernel(&s, body, profile);
    for (ir_op op = body->first; op && !s.failed; op = ir_op_get(graph, op)->next)
        lower_op(&s, op);
    if (!s.failed)
        copy_outputs(&s, body);
    set_formula(&s, kernel, "workspace", s.workspace_bytes);
    set_formula(&s, kernel, "scratch", s.scratch_bytes);
    ir_op_set_attr(s.m, kernel, "constraints", s.constraints);
    vec_release(&s.dims.known);
    free(s.stored);
    free(s.memory);
    if (!s.failed)
        return s.m;
    ir_module_free(s.m);
    return NULL;
}
