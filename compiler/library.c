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

static bool is_of_one_type(const ir_module *m, ir_op op, uint32_t operands) {
    const ir_op_data *d = ir_op_get(m, op);
    dtype element = ir_type_of(m, d->operands[0])->element;
    bool same = true;
    for (uint32_t i = 0; i < d->operand_count && i < operands; i++)
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

/* The library's kernel for a composite. */
typedef struct description {
    const char *name; /* of its kernel */
    int64_t depth;    /* places that BD holds */
    text dims;        /* "N=16,M=2048,K=2048,D=64,E=bf16" */
    text constants;   /* lines of the file */
} description;

/* False: its tiles are not for these sizes. */
static bool describe_attention(const ir_module *m, ir_op op, description *out) {
    const ir_op_data *d = ir_op_get(m, op);
    const ir_type_data *q = ir_type_of(m, d->operands[0]), *k = ir_type_of(m, d->operands[1]);
    int n = q->rank;
    if (n < 2)
        return false;
    int64_t heads = product_of(q, n - 2), rows = q->dims[n - 2], keys = k->dims[n - 2],
            depth = q->dims[n - 1];
    bool causal = ir_op_int(m, op, "causal", 0) != 0;
    if (heads < 1 || rows < 1 || keys < 1 || depth < 1 ||
        ir_type_of(m, d->operands[2])->dims[n - 1] != depth || (causal && keys < rows) ||
        ir_type_of(m, d->results[0])->element != q->element)
        return false;
    out->name = causal ? "causal_attention" : "attention";
    out->depth = depth;
    text_printf(&out->dims, "N=%" PRId64 ",M=%" PRId64 ",K=%" PRId64 ",D=%" PRId64 ",E=%s", heads,
                rows, keys, depth, dtype_name(q->element));
    return true;
}

/* ---- convolution ---- */

/* Channels of a step: as many as divide all of them; 0: there are too few. */
static int64_t channels_at_once(int64_t channels) {
    enum { MOST = 64, LEAST = 16 };
    int64_t steps = MOST;
    while (steps >= LEAST && channels % steps != 0)
        steps /= 2;
    return steps >= LEAST ? steps : 0;
}

/* Its taps are written out, so that they are few. */
static bool describe_convolution(const ir_module *m, ir_op op, description *out) {
    enum { MOST_TAPS = 9 };
    const ir_op_data *d = ir_op_get(m, op);
    const ir_type_data *x = ir_type_of(m, library_origin(m, d->operands[0])),
                       *y = ir_type_of(m, d->results[0]), *given = ir_type_of(m, d->operands[0]);
    int64_t window[2], padding = ir_op_int(m, op, "padding", 0);
    const int64_t steps = x->rank == 4 ? channels_at_once(x->dims[3]) : 0;
    if (ir_op_ints(m, op, "window", window, 2) != 2 || ir_op_int(m, op, "stride", 1) != 1 ||
        !dtype_is_narrow(x->element) || y->element != DTYPE_F32 ||
        memcmp(given->dims, x->dims, 4 * sizeof *x->dims) != 0 || y->dims[1] != x->dims[1] ||
        y->dims[2] != x->dims[2] || window[0] * window[1] > MOST_TAPS || steps == 0 ||
        x->dims[0] < 1 || x->dims[1] < 1 || x->dims[2] < 1 || y->dims[3] < 1)
        return false;
    out->name = "convolution";
    text_printf(&out->dims,
                "N=%" PRId64 ",H=%" PRId64 ",W=%" PRId64 ",C=%" PRId64 ",O=%" PRId64 ",P=%" PRId64
                ",Q=%" PRId64 ",E=%s",
                x->dims[0], x->dims[1], x->dims[2], x->dims[3], y->dims[3], window[0], window[1],
                dtype_name(x->element));
    text_printf(&out->constants,
                "\nROWS = %" PRId64 "\nCOLUMNS = %" PRId64 "\nABOVE = %" PRId64
                "\nBESIDE = %" PRId64 "\nSTEPS = %" PRId64 "\n",
                window[0], window[1], padding, padding, steps);
    return true;
}

/* ---- all of them ---- */

/* Composites of narrow types, on a matrix unit. */
static const struct entry {
    int opcode, kept; /* the composite, and what of it is left of the primitives that it becomes */
    int64_t rows_times; /* rows of a warp, in those of a unit's instruction, at most: what
                           registers hold */
    uint32_t factors;   /* its first operands, which are of one type */
    bool takes_in;      /* its tiles may be made of what its operands are made of */
    const char *file;
    bool (*describe)(const ir_module *m, ir_op op, description *out);
} entries[] = {
    {GRAPH_ATTENTION, GRAPH_ATTENTION, 2, LIMIT_OPERANDS, true, "attention.tsr",
     describe_attention},
    {GRAPH_CONV2D, GRAPH_CONVOLVE, 1, 2, false, "convolution.tsr", describe_convolution},
    {GRAPH_CONVOLVE, GRAPH_CONVOLVE, 1, 2, false, "convolution.tsr", describe_convolution},
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
        options->profile == PROFILE_STRICT || !is_of_one_type(m, op, entry_of(d->opcode)->factors))
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
    const bool behind = i >= ir_op_get(m, composite)->operand_count;
    if (!behind && !entry_of(ir_op_get(m, composite)->opcode)->takes_in)
        return false;
    return (parts_knows(opcode) || is_along_rows(m, composite, op)) &&
           (i == 0 || behind || class == GRAPH_CLASS_MOVE || class == GRAPH_CLASS_GENERATOR);
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
    int64_t rows_times;     /* entry.rows_times; 0: any number */
    status st;
} library_request;

static void free_modules(library_kernel *k) {
    ir_module_free(k->graph);
    ir_module_free(k->tile);
    k->graph = k->tile = NULL;
}

static compiler_source *open_library(const char *name, const text *constants) {
    compiler_source *source = NULL;
    text words;
    text_init(&words);
    for (size_t i = 0; i < library_files_count && !source; i++)
        if (strcmp(library_files[i].name, name) == 0) {
            text said;
            text_init(&said);
            text_append_bytes(&words, library_files[i].data, library_files[i].size_bytes);
            text_append(&words, constants->data ? constants->data : "");
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

/* Has each warp an instruction's rows of a unit, or up to so many times that? Others are not worth
 * weighing. */
static bool has_rows(const compiler_knobs *knobs, const uint32_t at[COMPILER_KNOBS_MAX],
                     int64_t times) {
    enum { ROWS = 16 };
    const uint32_t rows = knob_named(knobs, "BM"), warps = knob_named(knobs, "warps");
    const int64_t each =
        knobs->items[rows].values[at[rows]] / knobs->items[warps].values[at[warps]];
    return each >= ROWS && each <= times * ROWS;
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
        if (!is_least_depth(r->knobs, at, r->depth) ||
            (r->rows_times && !has_rows(r->knobs, at, r->rows_times)) || !lower_point(r, at, &one))
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
    description about = {.depth = 0};
    text said;
    arena memory;
    text_init(&about.dims);
    text_init(&about.constants);
    text_init(&said);
    arena_init(&memory);
    graph_decompose_within(g, ir_module_kernel(g), e->kept);
    r->graph = g;
    op = composite_of(g);
    if (op && ir_op_count(g) <= MOST_OPERATIONS && e->describe(g, op, &about))
        r->source = open_library(e->file, &about.constants);
    out->name = about.name;
    r->depth = about.depth;
    r->kernel = r->source ? compiler_kernel_named(r->source, out->name) : NULL;
    if (r->kernel && compiler_values_read(about.dims.data, &memory, &values, &r->st))
        r->c = compiler_case_bind(r->source, r->kernel, &values, &said);
    r->knobs = r->kernel ? r->kernel->knobs : NULL;
    r->make = template_at;
    r->rows_times = e->rows_times;
    bool found = r->c && lower_best(r, out);
    compiler_close(r->source);
    arena_release(&memory);
    text_release(&said);
    text_release(&about.dims);
    text_release(&about.constants);
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
