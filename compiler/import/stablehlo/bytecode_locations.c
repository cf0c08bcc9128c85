/* bytecode_locations.c - places in the program that a file was made from: the innermost one that is
 * known, and the outermost name. */
#include <string.h>

#include "import/stablehlo/bytecode.h"

enum {
    CALL_SITE = 10,
    FILE_LINE_COLUMN,
    FUSED,
    FUSED_WITH_METADATA,
    NAMED,
    FILE_RANGE = 22,
};

static const shlo_location nowhere;

static shlo_location take_location(bytecode *r, bytecode_cursor *c) {
    const uint32_t index = bytecode_index(c, r->attr_count, "attribute");
    return bytecode_failed(c) ? nowhere : *bytecode_location(r, index);
}

/* Several are alternatives: the first place that is known counts. */
static shlo_location take_first(bytecode *r, bytecode_cursor *c, uint32_t count) {
    shlo_location found = nowhere;
    for (uint32_t i = 0; i < count && !found.file && !bytecode_failed(c); i++) {
        const shlo_location next = take_location(r, c);
        const char *name = found.name ? found.name : next.name;
        found = next;
        found.name = name;
    }
    return found;
}

static shlo_location take_file(bytecode *r, bytecode_cursor *c, bool is_range) {
    shlo_location l = {.file = bytecode_take_word(r, c)};
    uint32_t numbers = is_range ? bytecode_count(c, "lines and columns") : 2;
    const uint64_t line = numbers > 0 ? bytecode_varint(c) : 0;
    const uint64_t column = numbers > 1 ? bytecode_varint(c) : 0;
    l.line = line < UINT32_MAX ? (uint32_t)line : UINT32_MAX;
    l.column = column < UINT32_MAX ? (uint32_t)column : UINT32_MAX;
    return l;
}

static shlo_location take_named(bytecode *r, bytecode_cursor *c) {
    const char *name = bytecode_take_word(r, c);
    shlo_location l = take_location(r, c);
    if (name && *name)
        l.name = name;
    return l;
}

static shlo_location read_location(bytecode *r, bytecode_cursor *c) {
    const uint64_t code = bytecode_varint(c);
    switch (code) {
    case CALL_SITE: /* the called one is the inner one */
        return take_first(r, c, 2);
    case FILE_LINE_COLUMN:
    case FILE_RANGE:
        return take_file(r, c, code == FILE_RANGE);
    case FUSED:
    case FUSED_WITH_METADATA:
        return take_first(r, c, bytecode_count(c, "locations"));
    case NAMED:
        return take_named(r, c);
    default:
        return nowhere;
    }
}

const shlo_location *bytecode_location(bytecode *r, uint32_t index) {
    bytecode_entry *e = &r->attrs[index];
    uint64_t outer;
    if (e->location || e->form != BYTECODE_BUILTIN)
        return e->location ? e->location : &nowhere;
    if (!bytecode_begin(r, e, &outer)) {
        bytecode_finish(r, e, outer);
        return &nowhere;
    }
    bytecode_cursor c = bytecode_open(r, e);
    const shlo_location found = read_location(r, &c);
    e->is_opened = false;
    bytecode_finish(r, e, outer);
    shlo_location *kept = BYTECODE_NEW(r, shlo_location, 1);
    *kept = found;
    e->location = kept;
    return e->location;
}
