/* checks_space.c - sizes of tiles: do they fit the memories that they are put into, and is any axis
 * as long? */
#include <inttypes.h>
#include <string.h>

#include "lint/tiles.h"

/* More points than that are not looked at. */
enum { POINTS_MAX = 256 };

/* The space of a kernel, and one choice of each of its words. */
typedef struct point {
    const compiler_knobs *knobs;
    const compiler_tile_size *sizes;
    uint32_t count;
    uint32_t chosen[COMPILER_TILE_WORDS]; /* of the sizes of the word */
} point;

static uint32_t choices_of(const point *p, int word) {
    uint32_t count = 0;
    for (uint32_t i = 0; i < p->count; i++)
        count += p->sizes[i].word == word;
    return count;
}

static const compiler_tile_size *choice_of(const point *p, int word) {
    uint32_t at = 0;
    for (uint32_t i = 0; i < p->count; i++)
        if (p->sizes[i].word == word && at++ == p->chosen[word])
            return &p->sizes[i];
    return NULL;
}

/* As those of a clock; false behind the last. */
static bool next_point(point *p) {
    for (int word = COMPILER_TILE_WORDS - 1; word >= 0; word--) {
        if (p->chosen[word] + 1 < choices_of(p, word)) {
            p->chosen[word]++;
            return true;
        }
        p->chosen[word] = 0;
    }
    return false;
}

static ir_module *graph_at(const lint_kernel *k, const compiler_case *c, const int64_t *sizes) {
    text ignored;
    text_init(&ignored);
    ir_module *m = compiler_graph_sized(k->source, k->kernel, c, sizes, &ignored);
    text_release(&ignored);
    return m;
}

static ir_module *graph_of_point(const lint_kernel *k, const compiler_case *c, const point *p) {
    int64_t sizes[COMPILER_TILE_WORDS] = {0};
    for (int word = 0; word < COMPILER_TILE_WORDS; word++) {
        const compiler_tile_size *size = choice_of(p, word);
        sizes[word] = size ? size->value : 0;
    }
    return graph_at(k, c, sizes);
}

/* ---- memories ---- */

/* Space that the hint of a load names; NULL: none. */
static const char *space_of(const tile_graph *g, ir_op load) {
    const ir_attr attr = ir_op_attr(g->m, load, "hints");
    const ir_attr_data *hints = attr ? ir_attr_get(g->m, attr) : NULL;
    for (uint32_t i = 0; hints && i < hints->count; i++)
        if (strcmp(hints->keys[i], "space") == 0)
            return ir_attr_get(g->m, hints->items[i])->string;
    return NULL;
}

/* 0: it cannot be told. */
static int64_t bytes_of(const tile_graph *g, ir_value v) {
    const ir_type_data *type = lint_tile_type(g, v);
    int64_t bytes = (int64_t)dtype_size(type->element);
    for (int i = 0; i < type->rank; i++) {
        int64_t size;
        if (!lint_tile_number(g, type->dims[i], &size) ||
            __builtin_mul_overflow(bytes, size, &bytes))
            return 0;
    }
    return bytes;
}

static bool is_first(const point *p) {
    uint32_t sum = 0;
    for (int word = 0; word < COMPILER_TILE_WORDS; word++)
        sum += p->chosen[word];
    return sum == 0;
}

/* " with BM=128, BN=64": the words that have several choices, and nothing of the first point. */
static void point_text(const point *p, text *out) {
    for (int word = 0; word < COMPILER_TILE_WORDS && !is_first(p); word++)
        if (choices_of(p, word) > 1)
            text_printf(out, "%s%s=%" PRId64, out->length ? ", " : " with ",
                        p->knobs->items[word].name, choice_of(p, word)->value);
}

static void look_at_space(tile_findings *f, const tile_graph *g, ir_op load, const point *p) {
    const char *space = space_of(g, load), *what = NULL;
    int64_t bytes = bytes_of(g, ir_op_get(g->m, load)->results[0]),
            room = space ? compiler_space_bytes(f->k->report->chip, space, &what) : -1;
    if (room < 0)
        return;
    text at;
    text_init(&at);
    point_text(p, &at);
    lint_tile_note(
        f, LINT_SMALL_SPACE, (tile_place){lint_tile_span(f->k, g->m, load), g->c}, bytes > room,
        "in case %s%s this tile has %" PRId64 " bytes, and a %s has %" PRId64 " of space '%s': %s",
        g->c->name, at.data, bytes, f->k->report->chip ? "workgroup" : "core", room, space, what);
    text_release(&at);
}

static void look_at_point(tile_findings *f, const compiler_case *c, const point *p) {
    ir_module *m = graph_of_point(f->k, c, p);
    tile_graph g;
    if (!m)
        return;
    bool is_tiles = lint_tile_graph_open(&g, m, c);
    for (size_t i = 0; is_tiles && i < g.ops.count; i++)
        if (lint_tile_is(&g, g.ops.items[i], "load"))
            look_at_space(f, &g, g.ops.items[i], p);
    lint_tile_graph_release(&g);
    ir_module_free(m);
}

static void memories(const lint_kernel *k, point *p) {
    tile_findings found = {.k = k};
    int left = POINTS_MAX;
    do
        for (size_t i = 0; i < k->case_count && left > 0; i++, left--)
            look_at_point(&found, k->cases[i].c, p);
    while (left > 0 && next_point(p));
    lint_tile_tell_any(&found);
}

/* ---- sizes that no axis has ---- */

/* The longest axis of which the word is a size, in this case; a size that is one more shows of
 * which it is. -1: the kernel changes in other ways, too. */
static int64_t longest(const tile_graph *a, const tile_graph *b) {
    int64_t most = 0;
    if (a->ops.count != b->ops.count)
        return -1;
    for (size_t i = 0; i < a->ops.count; i++) {
        ir_op load = a->ops.items[i], other = b->ops.items[i];
        if (!lint_tile_is(a, load, "load") || !lint_tile_is(b, other, "load"))
            continue;
        const ir_type_data *x = lint_tile_type(a, ir_op_get(a->m, load)->operands[0]);
        for (int axis = 0; axis < x->rank; axis++) {
            int64_t mine, theirs, extent;
            if (!lint_tile_number(a, lint_tile_dim(a, load, "size", (uint32_t)axis), &mine) ||
                !lint_tile_number(b, lint_tile_dim(b, other, "size", (uint32_t)axis), &theirs) ||
                !lint_tile_number(a, x->dims[axis], &extent))
                return -1;
            if (mine != theirs)
                most = extent > most ? extent : most;
        }
    }
    return most;
}

static int64_t longest_in(const lint_kernel *k, const compiler_case *c,
                          const compiler_tile_size *size) {
    int64_t sizes[COMPILER_TILE_WORDS] = {0}, most = -1;
    sizes[size->word] = size->value;
    ir_module *m = graph_at(k, c, sizes);
    sizes[size->word]++;
    ir_module *with = graph_at(k, c, sizes);
    tile_graph a, b;
    if (m && with) {
        bool both = lint_tile_graph_open(&a, m, c);
        both = lint_tile_graph_open(&b, with, c) && both;
        most = both ? longest(&a, &b) : -1;
        lint_tile_graph_release(&a);
        lint_tile_graph_release(&b);
    }
    ir_module_free(m);
    ir_module_free(with);
    return most;
}

static void look_at_size(const lint_kernel *k, const compiler_tile_size *size) {
    int64_t most = 0;
    for (size_t i = 0; i < k->case_count; i++) {
        int64_t here = longest_in(k, k->cases[i].c, size);
        if (here < 0)
            return;
        most = here > most ? here : most;
    }
    if (most > 0 && size->value > most)
        lint_add(k, LINT_LONG_TILE, (lint_span){size->start, size->end}, NULL,
                 "tiles of %" PRId64 " places: no axis that %s is a size of has more than %" PRId64
                 " in any case of %s",
                 size->value, k->kernel->knobs->items[size->word].name, most, k->kernel->name);
}

static bool is_of_tiles(const lint_kernel *k) {
    tile_graph g;
    bool found =
        lint_tile_graph_open(&g, compiler_instance_graph(k->cases[0].instance), k->cases[0].c);
    lint_tile_graph_release(&g);
    return found;
}

void lint_check_space(const lint_kernel *k) {
    point p = {.knobs = k->kernel->knobs};
    if (!is_of_tiles(k))
        return;
    p.count = compiler_tile_sizes(k->source, k->kernel, &p.sizes);
    memories(k, &p);
    for (uint32_t i = 0; i < p.count; i++)
        look_at_size(k, &p.sizes[i]);
}
