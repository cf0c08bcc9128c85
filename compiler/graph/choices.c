/* choices.c - choices of a kernel's space of tiles beside one another: whether they are the same
 * operations, and what of them no code depends on. */
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "graph/instance.h"
#include "graph/passes.h"
#include "ops/reductions.h"
#include "ops/tiles.h"

/* ---- what code is made of ---- */

/* The primitives that passes below start from: joined where the instances do the same, else written
 * out. NULL with a status. */
static ir_module *primitives_for_code(compiler_instance *instance, bool *joined, status *st) {
    if (!instance_specialized(instance, st))
        return NULL;
    ir_module *m = ir_module_clone(instance->specialized);
    graph_join_tiles(m);
    *joined = !tiles_of(m);
    if (graph_expand_tiles(m, st) && graph_decompose_all(m, st))
        return m;
    ir_module_free(m);
    return NULL;
}

static int by_order(const void *a, const void *b) {
    const reduction_record *x = a, *y = b;
    if (x->order != y->order)
        return x->order < y->order ? -1 : 1;
    if (x->extent != y->extent)
        return x->extent < y->extent ? -1 : 1;
    return strcmp(x->kind, y->kind);
}

/* Tiles of other sizes are other numbers of the same sums: each kind of sum counts once. */
static sha256 digest_of_orders(const ir_module *m) {
    reduction_list list;
    text words;
    reductions_of(m, &list);
    text_init(&words);
    if (list.items.count)
        qsort(list.items.items, list.items.count, sizeof *list.items.items, by_order);
    for (size_t i = 0; i < list.items.count; i++) {
        const reduction_record *r = &list.items.items[i];
        if (i == 0 || by_order(r, r - 1) != 0)
            text_printf(&words, "%s %d %" PRId64 "\n", r->kind, (int)r->order, r->extent);
    }
    sha256 digest = sha256_of(words.data, words.length);
    reductions_release(&list);
    text_release(&words);
    return digest;
}

static bool code_of(compiler_instance *instance, compiler_code *out, bool *joined, status *st) {
    ir_module *m = primitives_for_code(instance, joined, st);
    if (m)
        *out = (compiler_code){ir_identity(m), digest_of_orders(m)};
    ir_module_free(m);
    return m != NULL;
}

bool compiler_code_of(compiler_instance *instance, compiler_code *out, status *st) {
    bool joined;
    return code_of(instance, out, &joined, st);
}

static bool same(const sha256 *a, const sha256 *b) {
    return memcmp(a, b, sizeof *a) == 0;
}

compiler_relation compiler_relate(const compiler_code *a, const compiler_code *b) {
    return same(&a->primitives, &b->primitives) ? COMPILER_SAME_CODE
           : same(&a->orders, &b->orders)       ? COMPILER_MAYBE_SAME
                                                : COMPILER_ANOTHER_ORDER;
}

/* ---- hints without use ---- */

/* One case of one kernel, and what is said of it so far. */
typedef struct search_state {
    compiler_source *source;
    const compiler_kernel *kernel;
    const compiler_case *c;
    sha256 graph;
    compiler_code own;
    bool joined;                      /* else the code is made of the tiles that the graph has */
    const choices_lowering *lowering; /* that makes code of the tiles as they stand; NULL: none */
    sha256 lowered;                   /* what it makes of the case */
    text *out;
} search_state;

static void say(search_state *l, const char *name, const char *value) {
    char one[160];
    snprintf(one, sizeof one, "%.60s=%.60s", name, value);
    size_t length = strlen(one);
    for (const char *at = strstr(l->out->data, one); at; at = strstr(at + 1, one))
        if ((at == l->out->data || at[-1] == ',') && (!at[length] || at[length] == ','))
            return;
    text_printf(l->out, "%s%s", l->out->length ? "," : "", one);
}

static void say_number(search_state *l, const char *name, int64_t value) {
    char digits[24];
    snprintf(digits, sizeof digits, "%" PRId64, value);
    say(l, name, digits);
}

/* Is what is lowered as it stands the same? */
static bool lowers_alike(const search_state *l, const ir_module *specialized) {
    sha256 other;
    return l->lowering->identify(l->lowering->context, specialized, &other) &&
           same(&other, &l->lowered);
}

static bool has_own_code(const search_state *l, compiler_instance *instance) {
    status st = STATUS_INIT;
    compiler_code code;
    if (l->lowering) {
        const ir_module *specialized = instance_specialized(instance, &st);
        return specialized && lowers_alike(l, specialized);
    }
    return same(&l->graph, compiler_instance_hash(instance)) ||
           (l->joined && compiler_code_of(instance, &code, &st) &&
            compiler_relate(&l->own, &code) == COMPILER_SAME_CODE);
}

/* Tells that the code stays as it is with another value of one knob. */
static bool changes_nothing(search_state *l, uint32_t knob, int64_t value) {
    int64_t choice[COMPILER_KNOBS_MAX] = {0};
    compiler_case other = *l->c;
    text ignored;
    if (l->c->choice)
        memcpy(choice, l->c->choice, sizeof *choice * l->kernel->knobs->count);
    choice[knob] = value;
    other.choice = choice;
    text_init(&ignored);
    compiler_instance *instance = compiler_instance_open(l->source, l->kernel, &other, &ignored);
    bool unchanged = instance && has_own_code(l, instance);
    compiler_instance_free(instance);
    text_release(&ignored);
    return unchanged;
}

static void look_at_knob(search_state *l, uint32_t index) {
    const compiler_knob *knob = &l->kernel->knobs->items[index];
    int64_t chosen = l->c->choice ? l->c->choice[index] : 0;
    bool unused = true, may = !knob->hint || l->lowering;
    if (knob->count == 0)
        return;
    chosen = chosen ? chosen : knob->values[0];
    for (uint32_t v = 0; v < knob->count && may && unused; v++)
        unused = knob->values[v] == chosen || changes_nothing(l, index, knob->values[v]);
    if (knob->count == 1 && may)
        unused = changes_nothing(l, index, 2 * chosen);
    if (unused)
        say_number(l, knob->name, chosen);
}

/* Another word of a list: the next one. */
static ir_attr next_word(ir_module *m, const char *word, const char *const *words, int count) {
    int i = 0;
    while (i < count - 1 && strcmp(word, words[i]) != 0)
        i++;
    return ir_attr_string(m, words[(i + 1) % count]);
}

static ir_attr other_word(ir_module *m, const char *hint, const char *word) {
    return strcmp(hint, "space") == 0 ? next_word(m, word, memory_space_names, MEMORY_SPACE_COUNT)
                                      : next_word(m, word, tile_swizzle_names, TILE_SWIZZLE_COUNT);
}

/* The hints with another value of number `which`: twice it, half, or one more; or another word. */
static ir_attr other_hints(ir_module *m, ir_attr hints, uint32_t which, int way) {
    const ir_attr_data d = *ir_attr_get(m, hints);
    ir_attr values[COMPILER_KNOBS_MAX];
    const char *keys[COMPILER_KNOBS_MAX];
    uint32_t count = 0;
    for (uint32_t i = 0; i < d.count && i < COMPILER_KNOBS_MAX; i++) {
        const ir_attr_data *value = ir_attr_get(m, d.items[i]);
        int64_t now = value->integer, others[] = {2 * now, now / 2, now + 1};
        keys[count] = d.keys[i];
        values[count++] = i != which                      ? d.items[i]
                          : value->kind == IR_ATTR_STRING ? other_word(m, d.keys[i], value->string)
                                                          : ir_attr_int(m, others[way]);
    }
    return ir_attr_dict(m, keys, values, count);
}

/* Does code that is lowered as it stands depend on a hint of the operation? */
static bool has_effect(const search_state *l, const ir_module *specialized, ir_op op,
                       uint32_t which) {
    enum { WAYS = 3 };
    bool alike = true;
    for (int way = 0; alike && way < WAYS; way++) {
        ir_module *m = ir_module_clone(specialized); /* with the same names of operations */
        ir_op_set_attr(m, op, "hints", other_hints(m, ir_op_attr(m, op, "hints"), which, way));
        alike = lowers_alike(l, m);
        ir_module_free(m);
    }
    return !alike;
}

/* Was the hint looked at as a size of the kernel is? */
static bool is_knob(const search_state *l, const ir_module *m, ir_op op, const char *name) {
    bool found = false;
    for (uint32_t i = 0; ir_op_get(m, op)->opcode == GRAPH_TILES && i < l->kernel->knobs->count;
         i++)
        found |= strcmp(l->kernel->knobs->items[i].name, name) == 0;
    return found;
}

/* Hints of loads and loops, and of the whole. */
static void look_at_op(search_state *l, const ir_module *m, ir_op op) {
    ir_attr attr = ir_op_attr(m, op, "hints");
    const ir_attr_data *hints = attr ? ir_attr_get(m, attr) : NULL;
    for (uint32_t i = 0; hints && i < hints->count; i++) {
        const ir_attr_data *value = ir_attr_get(m, hints->items[i]);
        if (is_knob(l, m, op, hints->keys[i]) || (l->lowering && has_effect(l, m, op, i)))
            continue;
        if (value->kind == IR_ATTR_STRING)
            say(l, hints->keys[i], value->string);
        else
            say_number(l, hints->keys[i], value->integer);
    }
}

void choices_unused(compiler_source *source, const compiler_kernel *kernel, const compiler_case *c,
                    const choices_lowering *lowering, text *out) {
    search_state l = {.source = source, .kernel = kernel, .c = c};
    text list, ignored;
    status st = STATUS_INIT;
    if (kernel->knobs->count == 0)
        return;
    text_init(&list);
    text_init(&ignored);
    compiler_instance *instance = compiler_instance_open(source, kernel, c, &ignored);
    bool known = instance && code_of(instance, &l.own, &l.joined, &st);
    const ir_module *m = known ? instance_specialized(instance, &st) : NULL;
    if (m && lowering && lowering->identify(lowering->context, m, &l.lowered))
        l.lowering = lowering;
    l.out = &list;
    l.graph = known ? *compiler_instance_hash(instance) : l.graph;
    for (uint32_t i = 0; known && i < kernel->knobs->count; i++)
        look_at_knob(&l, i);
    for (ir_walk w = ir_walk_op(m, m ? ir_module_kernel(m) : 0); m && ir_walk_next(&w);)
        look_at_op(&l, m, w.op);
    text_append(out, list.data);
    compiler_instance_free(instance);
    text_release(&list);
    text_release(&ignored);
}
