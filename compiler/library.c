/* library.c - on chips a kernel of rows, or one that is a composite of library/, becomes a kernel
 * of tiles: one phase that keeps in registers what would go through memory. */
#include "library.h"

#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include "base/vec.h"
#include "graph/instance.h"
#include "graph/passes.h"
#include "library/library_files.h"
#include "library_around.h"
#include "library_parts.h"
#include "library_rows.h"
#include "ops/graph.h"
#include "ops/orders.h"
#include "ops/tiles.h"
#include "pipeline.h"
#include "tile/mma.h"
#include "tile/tile.h"

/* ---- units ---- */

/* A unit that reads registers, and multiplies the type where no order is asked for. */
static bool has_unit(const target_info *target, dtype factor) {
    const mma_unit *list;
    uint32_t count = mma_units(&list);
    for (uint32_t i = 0; i < count; i++)
        if (mma_unit_is_of(&list[i], target->cpu) && list[i].factor == factor &&
            mma_unit_stands_in(&list[i]) && !mma_in_memory(&list[i]))
            return true;
    return false;
}

static bool is_of_one_type(const ir_module *m, ir_op op) {
    const ir_op_data *d = ir_op_get(m, op);
    dtype element = ir_type_of(m, d->results[0])->element;
    bool same = true;
    for (uint32_t i = 0; i < d->operand_count; i++)
        same = same && ir_type_of(m, d->operands[i])->element == element;
    return same;
}

static int64_t product_of(const ir_type_data *t, int axes) {
    int64_t product = 1;
    for (int i = 0; i < axes; i++)
        product *= t->dims[i];
    return product;
}

/* ---- attention ---- */

/* The kernel of the library, and its dimensions: "N=16,M=2048,K=2048,D=64,E=bf16". False: its tiles
 * are not for these sizes. */
static bool describe_attention(const ir_module *m, ir_op op, const char **name, int64_t *depth_out,
                               text *dims) {
    const ir_op_data *d = ir_op_get(m, op);
    const ir_type_data *q = ir_type_of(m, d->operands[0]), *k = ir_type_of(m, d->operands[1]);
    int n = q->rank;
    if (n < 2)
        return false;
    int64_t heads = product_of(q, n - 2), rows = q->dims[n - 2], keys = k->dims[n - 2],
            depth = q->dims[n - 1];
    bool causal = ir_op_int(m, op, "causal", 0) != 0;
    if (heads < 1 || rows < 1 || keys < 1 || depth < 1 ||
        ir_type_of(m, d->operands[2])->dims[n - 1] != depth || (causal && keys < rows))
        return false;
    *name = causal ? "causal_attention" : "attention";
    text_printf(dims, "N=%" PRId64 ",M=%" PRId64 ",K=%" PRId64 ",D=%" PRId64 ",E=%s", heads, rows,
                keys, depth, dtype_name(q->element));
    *depth_out = depth;
    return true;
}

/* ---- all of them ---- */

/* Composites of narrow types, on a matrix unit. */
static const struct entry {
    int opcode;
    const char *file;
    bool (*describe)(const ir_module *m, ir_op op, const char **name, int64_t *depth, text *dims);
} entries[] = {
    {GRAPH_ATTENTION, "attention.tsr", describe_attention},
};

static const struct entry *entry_of(int opcode) {
    for (size_t i = 0; i < sizeof entries / sizeof *entries; i++)
        if (entries[i].opcode == opcode)
            return &entries[i];
    return NULL;
}

/* The one of the kernel's operations that is such a composite; 0: there is none, or several. */
static ir_op composite_of(const ir_module *m) {
    ir_op found = 0;
    for (ir_op op = ir_kernel_body(m)->first; op; op = ir_op_get(m, op)->next)
        if (entry_of(ir_op_get(m, op)->opcode)) {
            if (found)
                return 0;
            found = op;
        }
    return found;
}

/* Number of what the source says of the composite; 0: nothing of this kind. */
static uint32_t said_of(const ir_module *graph, ir_op op, const settings *all, setting_kind kind) {
    return op ? setting_find(all, ir_op_get(graph, op)->location.setting, kind) : 0;
}

bool library_asked(const compiler_options *options, const target_info *target) {
    bool other = options->schedule || options->source_schedule || options->constants ||
                 options->generic || options->unoptimised;
    return !other && target->class == TARGET_SIMT;
}

bool library_keeps(const ir_module *m, ir_op op, const compiler_options *options,
                   const target_info *target) {
    const ir_op_data *d = ir_op_get(m, op);
    if (!entry_of(d->opcode) || !library_asked(options, target) ||
        options->profile == PROFILE_STRICT || !is_of_one_type(m, op))
        return false;
    dtype element = ir_type_of(m, d->operands[0])->element;
    return dtype_is_narrow(element) && has_unit(target, element);
}

/* A sum along what is a row of the composite's tiles, too. */
static bool is_along_rows(const ir_module *m, ir_op composite, ir_op op) {
    const ir_op_data *d = ir_op_get(m, op);
    const ir_type_data *y = ir_type_of(m, ir_op_get(m, composite)->results[0]), *x;
    int64_t axis = -1;
    if (d->opcode != GRAPH_REDUCE || ir_op_ints(m, op, "axes", &axis, 1) != 1 ||
        order_is_exact(order_of(m, op, ORDER_ANY)))
        return false;
    x = ir_type_of(m, d->operands[0]);
    return axis == x->rank - 1 && x->dims[axis] == y->dims[y->rank - 1];
}

bool library_takes_in(const ir_module *m, ir_op composite, uint32_t i, ir_op op) {
    const int opcode = ir_op_get(m, op)->opcode;
    const graph_class class = graph_op_class(opcode);
    return (parts_knows(opcode) || is_along_rows(m, composite, op)) &&
           (i == 0 || i >= ir_op_get(m, composite)->operand_count || class == GRAPH_CLASS_MOVE ||
            class == GRAPH_CLASS_GENERATOR);
}

bool library_may(const ir_module *graph, const settings *all, const compiler_options *options,
                 const target_info *target) {
    if (!library_asked(options, target) || tiles_of(graph) || !ir_module_kernel(graph) ||
        settings_schedule_calls(all, graph))
        return false;
    if (library_rows_may(graph))
        return true;
    bool sums;
    ir_op op = composite_of(graph);
    return op && library_keeps(graph, op, options, target) && parts_may(graph, op, &sums);
}

/* ---- the library's kernel ---- */

typedef struct library_request {
    const ir_module *graph;      /* of a composite: with the primitives of all others */
    const compiler_knobs *knobs; /* the points of its space */
    /* Its graph at a point, owned; NULL: there is none. */
    ir_module *(*make)(struct library_request *r, const uint32_t at[COMPILER_KNOBS_MAX]);
    const setting *fetch; /* what is fetched ahead; NULL: nothing is said */
    const compiler_options *options;
    const target_info *target;
    compiler_source *source;
    const compiler_kernel *kernel;
    const compiler_case *c; /* its dimensions */
    int64_t depth;          /* places that BD holds, the least of its values that does */
    int64_t most_registers; /* estimated, of a thread; 0: any number */
    bool on_unit;
    status st;
} library_request;

static void free_modules(library_kernel *k) {
    ir_module_free(k->graph);
    ir_module_free(k->tile);
    k->graph = k->tile = NULL;
}

static compiler_source *open_library(const char *name) {
    compiler_source *source = NULL;
    text words;
    text_init(&words);
    for (size_t i = 0; i < library_files_count && !source; i++)
        if (strcmp(library_files[i].name, name) == 0) {
            text said;
            text_init(&said);
            text_append_bytes(&words, library_files[i].data, library_files[i].size_bytes);
            source = compiler_open_text(name, words.data, false, &said);
            text_release(&said);
        }
    text_release(&words);
    return source;
}

/* Its graph with numbers for dimensions, owned; NULL: it has no such instance. */
static ir_module *specialized(compiler_source *source, const compiler_kernel *kernel,
                              const compiler_case *c) {
    status st = STATUS_INIT;
    text said;
    text_init(&said);
    ir_module *made = NULL;
    compiler_instance *instance = compiler_instance_open(source, kernel, c, &said);
    const ir_module *m = instance ? instance_specialized(instance, &st) : NULL;
    if (m)
        made = ir_module_clone(m);
    compiler_instance_free(instance);
    text_release(&said);
    status_clear(&st);
    return made;
}

static ir_attr copied_names(ir_module *m, const ir_module *from, const char *list) {
    const ir_attr_data *names = ir_attr_get(from, ir_op_attr(from, ir_module_kernel(from), list));
    ir_attr items[LIMIT_OPERANDS];
    for (uint32_t i = 0; i < names->count; i++)
        items[i] = ir_attr_string(m, ir_attr_get(from, names->items[i])->string);
    return ir_attr_array(m, items, names->count);
}

static ir_attr shape_of(ir_module *m, const ir_module *from, ir_value v) {
    const ir_type_data *t = ir_type_of(from, v);
    return ir_attr_int_array(m, t->dims, (uint32_t)t->rank);
}

/* The kernel keeps the name and the arguments that it had. */
static void name_as(ir_module *m, const ir_module *graph) {
    ir_op kernel = ir_module_kernel(m), was = ir_module_kernel(graph);
    const ir_block_data *body = ir_kernel_body(graph);
    const ir_op_data *end = ir_op_get(graph, body->last);
    ir_attr shapes[2 * LIMIT_OPERANDS];
    uint32_t count = body->argument_count;
    for (uint32_t i = 0; i < count; i++)
        shapes[i] = shape_of(m, graph, body->arguments[i]);
    for (uint32_t i = 0; i < end->operand_count; i++)
        shapes[count++] = shape_of(m, graph, end->operands[i]);
    ir_op_set_attr(m, kernel, "name",
                   ir_attr_string(m, ir_op_string(graph, was, "name", "kernel")));
    ir_op_set_attr(m, kernel, "inputs", copied_names(m, graph, "inputs"));
    ir_op_set_attr(m, kernel, "outputs", copied_names(m, graph, "outputs"));
    ir_op_set_attr(m, kernel, "shapes", ir_attr_array(m, shapes, count));
}

/* Loads of what is fetched ahead have the hint: one trip ahead, or none. */
static void keep_fetch(ir_module *made, const setting *fetch) {
    static const char *const name = "prefetch";
    const ir_attr ahead = ir_attr_int(made, fetch->overlaps);
    const ir_value left = ir_kernel_body(made)->arguments[0];
    for (ir_walk w = ir_walk_op(made, ir_module_kernel(made)); ir_walk_next(&w);) {
        const ir_op_data *d = ir_op_get(made, w.op);
        if (d->opcode == GRAPH_LOAD && (d->operands[0] == left ? fetch->of_left : fetch->of_right))
            ir_op_set_attr(made, w.op, "hints", ir_attr_dict(made, &name, &ahead, 1));
    }
}

/* ---- the choice of tiles ---- */

/* The next point of a kernel's space, as those of a clock; false behind the last. */
static bool next_point(const compiler_knobs *knobs, uint32_t at[COMPILER_KNOBS_MAX]) {
    for (uint32_t i = 0; i < knobs->count; i++) {
        if (++at[i] < knobs->items[i].count)
            return true;
        at[i] = 0;
    }
    return false;
}

static uint32_t knob_named(const compiler_knobs *knobs, const char *name) {
    uint32_t i = 0;
    while (i < knobs->count && strcmp(knobs->items[i].name, name) != 0)
        i++;
    return i;
}

/* Has each warp an instruction's rows of a unit, or two? Others are not worth weighing. */
static bool has_rows(const compiler_knobs *knobs, const uint32_t at[COMPILER_KNOBS_MAX]) {
    enum { ROWS = 16 };
    const uint32_t rows = knob_named(knobs, "BM"), warps = knob_named(knobs, "warps");
    const int64_t each =
        knobs->items[rows].values[at[rows]] / knobs->items[warps].values[at[warps]];
    return each >= ROWS && each <= 2 * ROWS;
}

static bool is_least_depth(const compiler_knobs *knobs, const uint32_t at[COMPILER_KNOBS_MAX],
                           int64_t depth) {
    const uint32_t i = knob_named(knobs, "BD");
    const compiler_knob *sizes = &knobs->items[i];
    bool least = i == knobs->count || sizes->values[at[i]] >= depth;
    for (uint32_t k = 0; least && i < knobs->count && k < sizes->count; k++)
        least = sizes->values[k] < depth || sizes->values[k] >= sizes->values[at[i]];
    return least;
}

static void point_text(const compiler_knobs *knobs, const uint32_t at[COMPILER_KNOBS_MAX],
                       text *out) {
    for (uint32_t i = 0; i < knobs->count; i++)
        if (knobs->items[i].count)
            text_printf(out, "%s%s=%" PRId64, out->length ? "," : "", knobs->items[i].name,
                        knobs->items[i].values[at[i]]);
}

static ir_module *template_at(library_request *r, const uint32_t at[COMPILER_KNOBS_MAX]) {
    text words;
    text_init(&words);
    point_text(r->knobs, at, &words);
    const compiler_case *chosen =
        compiler_case_choose(r->source, r->kernel, r->c, words.data, &r->st);
    ir_module *tiles = chosen ? specialized(r->source, r->kernel, chosen) : NULL, *made = NULL;
    if (tiles && r->fetch)
        keep_fetch(tiles, r->fetch);
    if (tiles)
        made = library_around(r->graph, composite_of(r->graph), tiles);
    ir_module_free(tiles);
    text_release(&words);
    return made;
}

/* The kernel with these tiles. False: they have no lowering, or not all products are the unit's. */
static bool lower_point(library_request *r, const uint32_t at[COMPILER_KNOBS_MAX],
                        library_kernel *out) {
    simt_tiles_notes notes;
    out->graph = r->make(r, at);
    bool ok = out->graph &&
              pipeline_lower_tiles(out->graph, r->options, r->target, &notes, &out->tile) &&
              !ir_op_attr(out->tile, ir_module_kernel(out->tile), "missed") &&
              pipeline_weigh_tiles(out->tile, r->options, r->target, &out->cycles, &out->registers);
    if (!ok || (r->most_registers && out->registers > r->most_registers))
        free_modules(out);
    return out->tile != NULL;
}

bool library_costs_less(double cycles, double others) {
    enum { ALIKE_PERCENT = 2 };
    return cycles * (100 + ALIKE_PERCENT) < others * 100;
}

/* Fewer registers, or as many and fewer cycles: no threads without rows. */
static bool is_better(const library_kernel *k, const library_kernel *than) {
    return k->registers < than->registers ||
           (k->registers == than->registers && k->cycles < than->cycles);
}

/* Weighs all points. Of those that cost as much as the least, as far as a model can tell, the one
 * with the fewest registers is taken. */
static bool lower_best(library_request *r, library_kernel *out) {
    uint32_t at[COMPILER_KNOBS_MAX] = {0};
    VEC(library_kernel) points = {0};
    double least = 0;
    library_kernel *best = NULL;
    do {
        library_kernel one = {.name = out->name};
        if (!is_least_depth(r->knobs, at, r->depth) || (r->on_unit && !has_rows(r->knobs, at)) ||
            !lower_point(r, at, &one))
            continue;
        least = points.count == 0 || one.cycles < least ? one.cycles : least;
        vec_push(&points, one);
    } while (next_point(r->knobs, at));
    for (size_t i = 0; i < points.count; i++) {
        library_kernel *k = &points.items[i];
        if (!library_costs_less(least, k->cycles) && (!best || is_better(k, best)))
            best = k;
    }
    for (size_t i = 0; i < points.count; i++)
        if (&points.items[i] != best)
            free_modules(&points.items[i]);
    if (best)
        *out = *best;
    vec_release(&points);
    return best != NULL;
}

/* ---- rows ---- */

static const int64_t rows_beside[] = {4, 2, 8, 16}, rows_warps[] = {4, 1, 2, 8};
static const compiler_knobs rows_knobs = {
    .items = {{.name = "BM", .values = rows_beside, .count = 4},
              {.name = "warps", .values = rows_warps, .count = 4}},
    .count = 2};

/* NULL, too, where some of a subgroup's threads would have no rows. */
static ir_module *rows_at(library_request *r, const uint32_t at[COMPILER_KNOBS_MAX]) {
    enum { WARP = 32 };
    const int64_t warps = rows_warps[at[1]];
    return warps * WARP % r->target->subgroup == 0
               ? library_rows(r->graph, rows_beside[at[0]], warps)
               : NULL;
}

/* Tiles are counted one operation after the other, and assemblers compute their elements in another
 * order: what seems to need twice the registers that there are has them. */
static bool lower_rows(library_request *r, library_kernel *out) {
    enum { MOST_REGISTERS = 2 * 256 };
    r->most_registers = MOST_REGISTERS;
    out->name = "rows";
    r->knobs = &rows_knobs;
    r->make = rows_at;
    return lower_best(r, out);
}

static bool lower_template(library_request *r, library_kernel *out) {
    enum { MOST_OPERATIONS = 1000 };
    ir_module *g = ir_module_clone(r->graph);
    ir_op op = composite_of(g);
    const struct entry *e = entry_of(ir_op_get(g, op)->opcode);
    compiler_values values = {0};
    text dims, said;
    arena memory;
    text_init(&dims);
    text_init(&said);
    arena_init(&memory);
    graph_decompose_within(g, ir_module_kernel(g), e->opcode);
    r->graph = g;
    if (ir_op_count(g) <= MOST_OPERATIONS && e->describe(g, op, &out->name, &r->depth, &dims))
        r->source = open_library(e->file);
    r->kernel = r->source ? compiler_kernel_named(r->source, out->name) : NULL;
    if (r->kernel && compiler_values_read(dims.data, &memory, &values, &r->st))
        r->c = compiler_case_bind(r->source, r->kernel, &values, &said);
    r->knobs = r->kernel ? r->kernel->knobs : NULL;
    r->make = template_at;
    r->on_unit = true;
    bool found = r->c && lower_best(r, out);
    compiler_close(r->source);
    arena_release(&memory);
    text_release(&said);
    text_release(&dims);
    ir_module_free(g);
    return found;
}

bool library_lower(const ir_module *graph, const settings *all, const compiler_options *options,
                   const target_info *target, library_kernel *out) {
    const uint32_t fetch = said_of(graph, composite_of(graph), all, SETTING_PREFETCH);
    library_request r = {.graph = graph, .options = options, .target = target, .st = STATUS_INIT};
    if (fetch && setting_at(all, fetch)->into == FETCH_SHARED)
        r.fetch = setting_at(all, fetch);
    bool found = (library_rows_may(graph) ? lower_rows : lower_template)(&r, out);
    if (found)
        name_as(out->tile, graph);
    if (found && r.fetch)
        settings_use_fetch(all, fetch);
    status_clear(&r.st);
    return found;
}
