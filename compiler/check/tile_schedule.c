/* tile_schedule.c - sizes of tiles that a source names once: Schedule(block=(64, 64), warps=8),
 * what is made from one by with_warps(4), and block(64, 64).k(32).stages(3). */
#include <string.h>

#include "check/source.h"

enum { SIZE_MOST = 65536, BASES_MAX = 64 };

/* ---- one word ---- */

static bool refuse(diagnostics *d, span at, const char *what, const char *help) {
    diagnose_error(d, ERROR_TILE_SIZE, at, "%s", what);
    diagnose_help(d, "%s", help);
    return false;
}

bool tile_size_read(const node *n, int64_t *out, diagnostics *d) {
    bool is_list = (n->kind == NODE_LIST || n->kind == NODE_TUPLE) && n->count > 0;
    for (uint32_t i = is_list ? n->count : 0; i > 0; i--) {
        if (!tile_size_read(n->items[i - 1], out, d)) {
            return false;
        }
    }
    if (is_list) {
        return true;
    }
    *out = n->integer;
    return (n->kind == NODE_INT && n->integer > 0 && n->integer <= SIZE_MOST) ||
           refuse(d, n->at, "a size is a number from 1 to 65536, or a list of them",
                  "for example block=(64, 64)");
}

/* m, n and k in their order, or by name. */
static bool block_read(node *const *items, uint32_t count, tile_sizes *out, diagnostics *d) {
    static const char *const names[] = {"m", "n", "k", "d"};
    for (uint32_t i = 0; i < count; i++) {
        const node *n = items[i];
        int64_t *size = i < TILE_SIZES ? &out->sizes[i] : NULL;
        for (int w = 0; n->kind == NODE_KEYWORD && w < TILE_SIZES; w++) {
            size = w == 0 ? NULL : size;
            if (strcmp(names[w], n->text) == 0) {
                size = &out->sizes[w];
                break;
            }
        }
        if (!size) {
            return refuse(d, n->at, "a block has the sizes m, n, k and d",
                          "for example block(64, 64) or block(m=64, n=[64, 128])");
        }
        if (!tile_size_read(n->kind == NODE_KEYWORD ? n->left : n, size, d)) {
            return false;
        }
    }
    return true;
}

static bool word_read(const char *word, const node *value, tile_sizes *out, diagnostics *d) {
    const struct {
        const char *name;
        int64_t *size;
    } words[] = {{"k", &out->sizes[TILE_SIZE_K]},
                 {"d", &out->sizes[TILE_SIZE_D]},
                 {"warps", &out->warps},
                 {"stages", &out->stages},
                 {"vector", &out->vector}};
    if (strcmp(word, "swizzle") == 0 && value->kind == NODE_STRING) {
        out->swizzle = value->text;
        return true;
    }
    if (strcmp(word, "block") == 0) {
        bool is_list = value->kind == NODE_TUPLE || value->kind == NODE_LIST;
        node *one = (node *)value;
        return is_list ? block_read(value->items, value->count, out, d)
                       : block_read(&one, 1, out, d);
    }
    for (size_t i = 0; i < sizeof words / sizeof *words; i++) {
        if (strcmp(words[i].name, word) == 0) {
            return tile_size_read(value, words[i].size, d);
        }
    }
    return refuse(d, value->at, "a Schedule does not take this",
                  "there are block, k, d, warps, stages, vector and swizzle");
}

/* ---- whole schedules ---- */

static const node *constant_named(const compiler_source *s, const char *name) {
    const ast_module *m = s->ast;
    for (uint32_t i = 0; i < m->constant_count; i++) {
        for (uint32_t k = 0; k < m->constants[i]->count; k++) {
            const node *target = m->constants[i]->items[k];
            if (target->kind == NODE_NAME && strcmp(target->text, name) == 0) {
                return m->constants[i]->left;
            }
        }
    }
    return NULL;
}

/* What a chain of calls begins with: Schedule(...) or block(...), by way of constants. */
static const node *root_of(const compiler_source *s, const node *n) {
    for (int i = 0; n && i < BASES_MAX; i++) {
        if (n->kind == NODE_NAME) {
            n = constant_named(s, n->text);
        } else if (n->kind == NODE_CALL && n->left->kind == NODE_ATTRIBUTE) {
            n = n->left->left;
        } else {
            return n->kind == NODE_CALL && n->left->kind == NODE_NAME ? n : NULL;
        }
    }
    return NULL;
}

bool tile_schedule_is(const compiler_source *s, const node *n) {
    const node *root = root_of(s, n);
    return root &&
           (strcmp(root->left->text, "Schedule") == 0 || strcmp(root->left->text, "block") == 0);
}

static bool call_read(const char *method, const node *n, tile_sizes *out, diagnostics *d) {
    const char *word = strncmp(method, "with_", 5) == 0 ? method + 5 : method;
    if (strcmp(word, "block") == 0) {
        return block_read(n->items, n->count, out, d);
    }
    return n->count == 1 && n->items[0]->kind != NODE_KEYWORD
               ? word_read(word, n->items[0], out, d)
               : refuse(d, n->at, "this takes one value", "for example .warps(4)");
}

static bool root_read(const node *n, tile_sizes *out, diagnostics *d) {
    if (strcmp(n->left->text, "block") == 0) {
        return block_read(n->items, n->count, out, d);
    }
    for (uint32_t i = 0; i < n->count; i++) {
        const node *word = n->items[i];
        if (word->kind != NODE_KEYWORD) {
            return refuse(d, word->at, "what a Schedule says has a name",
                          "for example Schedule(block=(64, 64), warps=8)");
        }
        if (!word_read(word->text, word->left, out, d)) {
            return false;
        }
    }
    return true;
}

bool tile_schedule_read(const compiler_source *s, const node *n, tile_sizes *out, diagnostics *d) {
    const node *calls[BASES_MAX];
    uint32_t count = 0;
    if (!tile_schedule_is(s, n)) {
        return refuse(d, n->at, "this is no Schedule",
                      "for example @kernel.schedule(Schedule(block=(64, 64), warps=8))");
    }
    for (const node *at = n; at->kind != NODE_CALL || at->left->kind == NODE_ATTRIBUTE;) {
        if (at->kind == NODE_CALL) {
            calls[count++] = at;
        }
        at = at->kind == NODE_NAME ? constant_named(s, at->text) : at->left->left;
    }
    bool good = root_read(root_of(s, n), out, d);
    while (good && count > 0) {
        count--;
        good = call_read(calls[count]->left->text, calls[count], out, d);
    }
    return good;
}
