/* schedule.c - sizes of tiles that a source names once: Schedule(block=(64, 64), warps=8),
 * what is made from one by with_warps(4), and block(64, 64).k(32).stages(3). */
#include <string.h>

#include "check/modules.h"
#include "ops/tiles.h"

enum { SIZE_MOST = 65536, BASES_MAX = 64 };

/* ---- one word ---- */

static bool refuse(diagnostics *d, span at, const char *what, const char *help) {
    diagnose_error(d, ERROR_TILE_SIZE, at, "%s", what);
    diagnose_help(d, "%s", help);
    return false;
}

enum { WARP = 32, THREADS_MOST = 1024, VECTOR_MOST = 64 };

/* Nobody's vectors are longer than 64 bytes. */
bool tile_vector_fits(int64_t elements) {
    return elements >= 0 && elements <= VECTOR_MOST && (elements & (elements - 1)) == 0;
}

bool tile_swizzle_read(const char *word, span at, diagnostics *d) {
    for (int i = 0; word && i < TILE_SWIZZLE_COUNT; i++)
        if (strcmp(word, tile_swizzle_names[i]) == 0)
            return true;
    diagnose_error(d, ERROR_TILE_SWIZZLE, at, "rows of a tile do not lie so");
    if (!word || !diagnose_nearest(d, word, tile_swizzle_names, TILE_SWIZZLE_COUNT))
        diagnose_help(d, "write swizzle=\"xor\", \"pad\" or \"none\"");
    return false;
}

/* Refuses what no target has: NVIDIA's and AMD's workgroups end at 1024 threads. */
static bool hint_fits(const node *n, int knob, diagnostics *d) {
    if (knob == TILE_KNOB_WARPS && n->integer * WARP > THREADS_MOST) {
        diagnose_error(d, ERROR_TILE_WARPS, n->at,
                       "%lld warps are %lld threads, and a workgroup has at most %d",
                       (long long)n->integer, (long long)n->integer * WARP, THREADS_MOST);
        diagnose_help(d, "take at most %d", THREADS_MOST / WARP);
        return false;
    }
    if (knob == TILE_KNOB_WARPS && (n->integer & (n->integer - 1)) != 0) {
        diagnose_error(d, ERROR_TILE_WARPS, n->at,
                       "no layout gives a tile to the threads of %lld warps",
                       (long long)n->integer);
        diagnose_help(d, "take a power of two up to %d", THREADS_MOST / WARP);
        return false;
    }
    if (knob == TILE_KNOB_VECTOR && !tile_vector_fits(n->integer)) {
        diagnose_error(d, ERROR_TILE_VECTOR, n->at, "no target loads %lld elements at once",
                       (long long)n->integer);
        diagnose_help(d, "take a power of two up to %d", VECTOR_MOST);
        return false;
    }
    return true;
}

/* Each value counts once. */
static bool value_read(const node *n, int knob, tile_knob *out, diagnostics *d) {
    if (n->kind != NODE_INT || n->integer <= 0 || n->integer > SIZE_MOST) {
        return refuse(d, n->at, "a size is a number from 1 to 65536, or a list of them",
                      "for example block=(64, 64)");
    }
    if (!hint_fits(n, knob, d))
        return false;
    for (uint32_t i = 0; i < out->count; i++)
        if (out->values[i] == n->integer)
            return true;
    if (out->count == COMPILER_KNOB_VALUES_MAX)
        return refuse(d, n->at, "a list of sizes has at most 32 of them", "leave some out");
    out->at[out->count] = n->at;
    out->values[out->count++] = n->integer;
    return true;
}

bool tile_knob_read(const node *n, int knob, tile_knob *out, diagnostics *d) {
    bool is_list = (n->kind == NODE_LIST || n->kind == NODE_TUPLE) && n->count > 0;
    out->count = 0;
    for (uint32_t i = 0; is_list && i < n->count; i++)
        if (!value_read(n->items[i], knob, out, d))
            return false;
    return is_list || value_read(n, knob, out, d);
}

/* m, n and k in their order, or by name. */
static bool block_read(node *const *items, uint32_t count, tile_space *out, diagnostics *d) {
    for (uint32_t i = 0; i < count; i++) {
        const node *n = items[i];
        tile_knob *size = i < TILE_SIZES ? &out->knobs[i] : NULL;
        for (int w = 0; n->kind == NODE_KEYWORD && w < TILE_SIZES; w++) {
            size = w == 0 ? NULL : size;
            if (strcmp(tile_knob_names[w].word, n->text) == 0) {
                size = &out->knobs[w];
                break;
            }
        }
        if (!size) {
            return refuse(d, n->at, "a block has the sizes m, n, k and d",
                          "for example block(64, 64) or block(m=64, n=[64, 128])");
        }
        if (!tile_knob_read(n->kind == NODE_KEYWORD ? n->left : n, (int)(size - out->knobs), size,
                            d))
            return false;
    }
    return true;
}

/* m and n are a block's. */
static bool word_read(const char *word, const node *value, tile_space *out, diagnostics *d) {
    if (strcmp(word, "swizzle") == 0) {
        out->swizzle = value->kind == NODE_STRING ? value->text : NULL;
        return tile_swizzle_read(out->swizzle, value->at, d);
    }
    if (strcmp(word, "block") == 0) {
        bool is_list = value->kind == NODE_TUPLE || value->kind == NODE_LIST;
        node *one = (node *)value;
        return is_list ? block_read(value->items, value->count, out, d)
                       : block_read(&one, 1, out, d);
    }
    for (int i = TILE_KNOB_K; i < TILE_KNOBS; i++)
        if (strcmp(tile_knob_names[i].word, word) == 0)
            return tile_knob_read(value, i, &out->knobs[i], d);
    return refuse(d, value->at, "a Schedule does not take this",
                  "there are block, k, d, warps, stages, vector and swizzle");
}

/* ---- whole schedules ---- */

static const node *constant_named(const compiler_source *s, const char *name) {
    const source_module *from = module_of_name(s->main, &name);
    return from ? module_constant(from, name) : NULL;
}

/* The base of a chain of calls: Schedule(...) or block(...), by way of constants. */
static const node *root_of(const compiler_source *s, const node *n) {
    for (int i = 0; n && i < BASES_MAX; i++)
        if (n->kind == NODE_NAME)
            n = constant_named(s, n->text);
        else if (n->kind == NODE_CALL && n->left->kind == NODE_ATTRIBUTE)
            n = n->left->left;
        else
            return n->kind == NODE_CALL && n->left->kind == NODE_NAME ? n : NULL;
    return NULL;
}

bool tile_schedule_is(const compiler_source *s, const node *n) {
    const node *root = root_of(s, n);
    return root &&
           (strcmp(root->left->text, "Schedule") == 0 || strcmp(root->left->text, "block") == 0);
}

static bool call_read(const char *method, const node *n, tile_space *out, diagnostics *d) {
    const char *word = strncmp(method, "with_", 5) == 0 ? method + 5 : method;
    if (strcmp(word, "block") == 0)
        return block_read(n->items, n->count, out, d);
    return n->count == 1 && n->items[0]->kind != NODE_KEYWORD
               ? word_read(word, n->items[0], out, d)
               : refuse(d, n->at, "this takes one value", "for example .warps(4)");
}

static bool root_read(const node *n, tile_space *out, diagnostics *d) {
    if (strcmp(n->left->text, "block") == 0)
        return block_read(n->items, n->count, out, d);
    for (uint32_t i = 0; i < n->count; i++) {
        const node *word = n->items[i];
        if (word->kind != NODE_KEYWORD) {
            return refuse(d, word->at, "what a Schedule says has a name",
                          "for example Schedule(block=(64, 64), warps=8)");
        }
        if (!word_read(word->text, word->left, out, d))
            return false;
    }
    return true;
}

bool tile_schedule_read(const compiler_source *s, const node *n, tile_space *out, diagnostics *d) {
    const node *calls[BASES_MAX];
    uint32_t count = 0;
    if (!tile_schedule_is(s, n)) {
        return refuse(d, n->at, "this is no Schedule",
                      "for example @kernel.schedule(Schedule(block=(64, 64), warps=8))");
    }
    for (const node *at = n; at->kind != NODE_CALL || at->left->kind == NODE_ATTRIBUTE;) {
        if (at->kind == NODE_CALL)
            calls[count++] = at;
        at = at->kind == NODE_NAME ? constant_named(s, at->text) : at->left->left;
    }
    bool good = root_read(root_of(s, n), out, d);
    while (good && count > 0) {
        count--;
        good = call_read(calls[count]->left->text, calls[count], out, d);
    }
    return good;
}
