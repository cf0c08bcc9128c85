/* stablehlo.c - what a file of StableHLO holds, in a few lines. */
#include "tool/stablehlo.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/file.h"
#include "base/vec.h"
#include "import/stablehlo/shlo.h"

/* Operations of a block and of those inside of it. Regions go SHLO_DEPTH_MAX deep. */
static void count_block(const shlo_block *block, map *counts) {
    intptr_t count;
    for (const shlo_op *op = block ? block->first : NULL; op; op = op->next) {
        map_put(counts, op->name, map_get(counts, op->name, &count) ? count + 1 : 1);
        for (uint32_t i = 0; i < op->region_count; i++)
            count_block(op->regions[i], counts);
    }
}

static int by_key(const void *a, const void *b) {
    const map_entry *x = a, *y = b;
    return strcmp(x->key, y->key);
}

static void print_counts(map *counts, text *out) {
    map_entry *sorted = base_calloc(counts->count, sizeof *sorted);
    for (size_t i = 0; i < counts->count; i++)
        sorted[i] = counts->entries[i];
    qsort(sorted, counts->count, sizeof *sorted, by_key);
    for (size_t i = 0; i < counts->count; i++)
        text_printf(out, "%8ld %s\n", (long)sorted[i].value, sorted[i].key);
    free(sorted);
}

static void summarize(const char *path, const shlo_module *m) {
    map counts;
    text out;
    text_init(&out);
    map_init(&counts);
    text_printf(&out, "%s: module %s, %s\n", path, m->name ? m->name : "without a name",
                m->version ? m->version : "text");
    for (const shlo_function *f = m->first; f; f = f->next) {
        text_printf(&out, "function %s ", f->name);
        shlo_type_print(f->type, &out);
        text_printf(&out, "%s%s\n", f->is_private ? " private" : "", f->body ? "" : " declared");
        count_block(f->body, &counts);
    }
    print_counts(&counts, &out);
    fwrite(out.data, 1, out.length, stdout);
    map_release(&counts);
    text_release(&out);
}

bool stablehlo_summary(const char *path, status *st) {
    char *data;
    size_t size;
    if (!file_read(path, (size_t)1 << 30, &data, &size, st))
        return false;
    shlo_module *m = shlo_read_bytecode((const uint8_t *)data, size, st);
    free(data);
    if (!m)
        return false;
    summarize(path, m);
    shlo_module_free(m);
    return true;
}
