/* hints.c - hints among the arguments of tile.load() and of loops over blocks, which change no bit.
 */
#include <string.h>

#include "check/settings.h"
#include "check/tiles/tiles.h"
#include "ops/tiles.h"

static bool check_space(checker *c, const entity *e) {
    for (int i = 0; e->kind == ENTITY_STRING && i < MEMORY_SPACE_COUNT; i++)
        if (strcmp(e->text, memory_space_names[i]) == 0)
            return true;
    diagnose_error(c->report, ERROR_TILE_SPACE, e->at, "there is no memory space of this name");
    if (e->kind != ENTITY_STRING ||
        !diagnose_nearest(c->report, e->text, memory_space_names, MEMORY_SPACE_COUNT))
        diagnose_help(c->report, "write space=\"shared\" or space=\"register\"");
    return false;
}

static bool check_swizzle(checker *c, const entity *e) {
    return tile_swizzle_read(e->kind == ENTITY_STRING ? e->text : NULL, e->at, c->report);
}

static bool check_number(checker *c, const entity *e, const char *name, int64_t least) {
    if (e->kind == ENTITY_NUMBER && e->is_integer && e->integer >= least)
        return true;
    diagnose_error(c->report, ERROR_ARGUMENT_KIND, e->at, "%s is a number from %lld on", name,
                   (long long)least);
    return false;
}

static bool check_vector(checker *c, const entity *e) {
    if (!check_number(c, e, "vector", 0))
        return false;
    if (tile_vector_fits(e->integer))
        return true;
    diagnose_error(c->report, ERROR_TILE_VECTOR, e->at, "no target loads %lld elements at once",
                   (long long)e->integer);
    diagnose_help(c->report, "take a power of two up to 64");
    return false;
}

static bool check_prefetch(checker *c, const entity *e) {
    return check_number(c, e, "prefetch", 0);
}

static bool check_stages(checker *c, const entity *e) {
    return check_number(c, e, "stages", 1);
}

static const struct {
    const char *name;
    bool (*check)(checker *c, const entity *e);
} hints[] = {{"vector", check_vector},
             {"prefetch", check_prefetch},
             {"stages", check_stages},
             {"swizzle", check_swizzle},
             {"space", check_space}};
enum { HINTS = sizeof hints / sizeof *hints };

static int hint_named(const char *name) {
    int i = 0;
    while (i < HINTS && strcmp(hints[i].name, name) != 0)
        i++;
    return i;
}

bool tiles_hints(checker *c, const call_arguments *a, ir_value memory, ir_attr *out) {
    const char *names[HINTS + PREFETCH_HINTS];
    ir_attr values[HINTS + PREFETCH_HINTS];
    uint32_t count = 0;
    for (int i = 0; i < a->count; i++) {
        const entity *e = &a->values[i];
        const int hint = hint_named(a->names[i]);
        if (hint == HINTS || !a->given[i] || e->kind == ENTITY_NONE)
            continue;
        if (e->kind == ENTITY_BROKEN || !hints[hint].check(c, e))
            return false;
        names[count] = hints[hint].name;
        values[count++] = e->kind == ENTITY_STRING ? ir_attr_string(c->m, e->text)
                                                   : ir_attr_int(c->m, e->integer);
    }
    if (memory)
        count = prefetch_hints(c, memory, names, values, count);
    *out = count ? ir_attr_dict(c->m, names, values, count) : 0;
    return true;
}
