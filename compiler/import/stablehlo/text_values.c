/* text_values.c - values by name as regions see them, and locations. */
#include <inttypes.h>
#include <string.h>

#include "import/stablehlo/text_reader.h"

bool reader_define(text_reader *r, const char *place, const char *name, shlo_value *value) {
    intptr_t number = 0;
    if (map_get(&r->visible, name, &number) && number)
        return reader_fail_at(r, place, "%.60s is defined twice: give one of them another name",
                              name);
    vec_push(&r->names, ((named_value){name, value}));
    map_put(&r->visible, name, (intptr_t)r->names.count);
    return true;
}

bool reader_define_word(text_reader *r, const char *name, size_t length, shlo_value *value) {
    return length == 0 || reader_define(r, name, arena_strndup(&r->m->memory, name, length), value);
}

void reader_leave(text_reader *r, size_t count) {
    while (r->names.count > count)
        map_put(&r->visible, r->names.items[--r->names.count].name, 0);
}

static shlo_value *named(text_reader *r, const char *name, size_t length) {
    intptr_t number = 0;
    char *key = arena_strndup(&r->m->memory, name, length);
    if (map_get(&r->visible, key, &number) && number)
        return r->names.items[number - 1].value;
    reader_fail_at(r, name, "%.60s is not defined here", key);
    return NULL;
}

size_t reader_new_name(text_reader *r, const char **out) {
    const char *word;
    reader_blanks(r);
    *out = r->p;
    if (!reader_need(r, "%"))
        return 0;
    while (*r->p >= '0' && *r->p <= '9')
        r->p++;
    if (r->p == *out + 1 && reader_word(r, &word) == 0) {
        reader_fail(r, "expected the name of a value");
        return 0;
    }
    return (size_t)(r->p - *out);
}

/* Without a number it is the first result. */
shlo_value *reader_operand(text_reader *r) {
    const char *word;
    reader_blanks(r);
    const char *start = r->p;
    if (!reader_need(r, "%"))
        return NULL;
    while (*r->p >= '0' && *r->p <= '9')
        r->p++;
    if (r->p == start + 1 && reader_word(r, &word) == 0) {
        reader_fail(r, "expected a value");
        return NULL;
    }
    const char *end = r->p;
    if (*r->p != '#')
        return named(r, start, (size_t)(end - start));
    r->p++;
    while (*r->p >= '0' && *r->p <= '9')
        r->p++;
    if (r->p == end + 2 && end[1] == '0')
        return named(r, start, (size_t)(end - start));
    return named(r, start, (size_t)(r->p - start));
}

bool reader_operands(text_reader *r, value_list *out) {
    if (!reader_peek(r, "%"))
        return true;
    for (;;) {
        shlo_value *v = reader_operand(r);
        if (!v)
            return false;
        vec_push(out, v);
        const char *comma = r->p;
        if (!reader_take(r, ","))
            return true;
        if (!reader_peek(r, "%")) {
            r->p = comma;
            return true;
        }
    }
}

/* ---- locations ---- */

static bool location(text_reader *r, shlo_location *out);

static bool alias(text_reader *r, shlo_location *out) {
    const char *start = r->p++, *word;
    const size_t n = reader_word(r, &word);
    const shlo_location *known = reader_known_alias(r, start, n + 1);
    if (known) {
        *out = *known;
        return true;
    }
    const char *back = reader_enter_alias(r, start, n + 1);
    if (!back)
        return false;
    const bool good =
        reader_need(r, "loc") && reader_need(r, "(") && location(r, out) && reader_need(r, ")");
    if (good)
        reader_keep_alias(r, start, n + 1, arena_copy(&r->m->memory, out, sizeof *out));
    r->p = back;
    return good;
}

static bool inner(text_reader *r, shlo_location *out) {
    shlo_location found = {0};
    if (!location(r, &found))
        return false;
    const char *name = out->name ? out->name : found.name;
    if (!out->file)
        *out = found;
    out->name = name;
    return true;
}

/* "file":1:2, perhaps with `to :3` or `to 4:3`; or a name, perhaps with what is in it. */
static bool quoted(text_reader *r, shlo_location *out) {
    size_t length;
    int64_t line, column;
    const char *s = reader_string(r, &length);
    if (!s)
        return false;
    if (!reader_take(r, ":")) {
        out->name = s;
        return !reader_take(r, "(") || (inner(r, out) && reader_need(r, ")"));
    }
    if (!reader_integer(r, &line) || !reader_need(r, ":") || !reader_integer(r, &column))
        return false;
    out->file = s;
    out->line = line < 0 || line > UINT32_MAX ? 0 : (uint32_t)line;
    out->column = column < 0 || column > UINT32_MAX ? 0 : (uint32_t)column;
    if (reader_take(r, "to") && !reader_take(r, ":") &&
        !(reader_integer(r, &line) && reader_need(r, ":")))
        return false;
    if (r->p[-1] == ':' && !reader_integer(r, &column))
        return false;
    return true;
}

static bool several(text_reader *r, shlo_location *out) {
    if (reader_peek(r, "<") && !reader_skip_brackets(r))
        return false;
    if (!reader_need(r, "["))
        return false;
    do
        if (!inner(r, out))
            return false;
    while (reader_take(r, ","));
    return reader_need(r, "]");
}

static bool location_here(text_reader *r, shlo_location *out) {
    reader_blanks(r);
    if (*r->p == '#')
        return alias(r, out);
    if (*r->p == '"')
        return quoted(r, out);
    if (reader_take(r, "unknown"))
        return true;
    if (reader_take(r, "fused"))
        return several(r, out);
    if (reader_take(r, "callsite")) /* what is called, at where it is */
        return reader_need(r, "(") && inner(r, out) && reader_need(r, "at") &&
               location(r, &(shlo_location){0}) && reader_need(r, ")");
    return reader_fail(r, "expected a location");
}

static bool location(text_reader *r, shlo_location *out) {
    if (!reader_deeper(r))
        return false;
    const bool good = location_here(r, out);
    reader_higher(r);
    return good;
}

bool reader_location(text_reader *r, const shlo_location **out) {
    if (!reader_peek(r, "loc"))
        return true;
    reader_take(r, "loc");
    shlo_location *found = ARENA_NEW(&r->m->memory, shlo_location, 1);
    if (!reader_need(r, "(") || !location(r, found) || !reader_need(r, ")"))
        return false;
    *out = found;
    return true;
}
