/* points.c - the sizes of tiles among which the space of @kernel.autotune lets a tuner choose,
 * and the graph of a kernel with some of them. */
#include <string.h>

#include "check/source.h"

_Static_assert((int)COMPILER_TILE_WORDS == (int)TILE_SIZES, "a word for each size");

enum { SIZES_MAX = 64 };

typedef struct size_list {
    compiler_tile_size items[SIZES_MAX];
    uint32_t count;
} size_list;

static void add_number(size_list *l, int word, const node *n) {
    if (n->kind == NODE_INT && l->count < SIZES_MAX)
        l->items[l->count++] = (compiler_tile_size){word, n->integer, n->at.start, n->at.end};
}

static void add_word(size_list *l, const node *keyword) {
    const node *value = keyword->left;
    int word = 0;
    while (word < COMPILER_TILE_WORDS && strcmp(tile_knob_names[word].name, keyword->text) != 0)
        word++;
    if (word == COMPILER_TILE_WORDS)
        return;
    add_number(l, word, value);
    for (uint32_t i = 0; value->kind != NODE_INT && i < value->count; i++)
        add_number(l, word, value->items[i]);
}

static void add_space(size_list *l, const node *decorator) {
    for (uint32_t i = 0; i < decorator->count; i++) {
        const node *word = decorator->items[i];
        if (word->kind != NODE_KEYWORD || strcmp(word->text, "space") != 0)
            continue;
        for (uint32_t k = 0; k < word->left->count; k++)
            add_word(l, word->left->items[k]);
    }
}

uint32_t compiler_tile_sizes(compiler_source *source, const compiler_kernel *kernel,
                             const compiler_tile_size **out) {
    const kernel_interface *k = &source->interfaces[kernel - source->kernels];
    size_list list = {.count = 0};
    for (uint32_t i = 0; k->in_tiles && i < k->function->decorator_count; i++) {
        const node *n = k->function->decorators[i];
        if (n->kind == NODE_CALL && interface_is_kernel_word(n) &&
            strcmp(n->left->text, "autotune") == 0)
            add_space(&list, n);
    }
    *out = arena_copy(&source->memory, list.items, sizeof list.items);
    return list.count;
}

ir_module *compiler_graph_sized(compiler_source *source, const compiler_kernel *kernel,
                                const compiler_case *c, const int64_t *sizes, text *out) {
    const kernel_interface *k = &source->interfaces[kernel - source->kernels];
    int64_t choice[COMPILER_KNOBS_MAX] = {0};
    compiler_case with = *c;
    for (int i = 0; i < (int)kernel->knobs->count; i++)
        choice[i] = i < TILE_SIZES && sizes[i] ? sizes[i] : tile_knob_value(k, c, i);
    with.choice = choice;
    return compiler_graph(source, kernel, &with, out);
}
