/* bytecode_sections.c - the tables of a file of bytecode: strings, names of dialects and of
 * operations, the places of attributes, types and properties. */
#include <inttypes.h>
#include <string.h>

#include "import/stablehlo/bytecode.h"

enum { STRINGS, DIALECTS, ATTRS_AND_TYPES, SIZES, OPERATIONS, RESOURCES, RESOURCE_SIZES };
enum { VERSION_OF_DIALECT = 7, PROPERTIES, SECTIONS };
enum { NAMES_MAX = 1 << 16, NAME_MAX = 200 };

bool bytecode_enter(bytecode *r, size_t at) {
    if (++r->depth <= SHLO_DEPTH_MAX)
        return true;
    return bytecode_fail(r->st, at, "regions, attributes or types are nested more than %d deep",
                         SHLO_DEPTH_MAX);
}

/* Parts may be shared, so that a small file can have huge attributes: a pair of pairs of pairs. */
enum { PARTS_MAX = 1 << 22 };

bool bytecode_begin(bytecode *r, bytecode_entry *e, uint64_t *outer) {
    *outer = r->weight;
    r->weight = 1;
    const bool is_inside_itself = e->is_opened;
    e->is_opened = true;
    if (is_inside_itself)
        bytecode_fail(r->st, e->at, "this attribute or type contains itself");
    return bytecode_enter(r, e->at) && !is_inside_itself;
}

void bytecode_finish(bytecode *r, bytecode_entry *e, uint64_t outer) {
    bytecode_leave(r);
    e->weight = r->weight;
    if (e->weight > PARTS_MAX)
        bytecode_fail(r->st, e->at, "this attribute or type has more than %d parts", PARTS_MAX);
    r->weight = outer + e->weight;
}

/* ---- strings ---- */

/* Their sizes stand from the last one's to the first one's, and count a NUL each. */
static void read_strings(bytecode *r, bytecode_cursor *c) {
    const uint32_t count = bytecode_count(c, "strings");
    uint64_t all = 0;
    r->strings = BYTECODE_NEW(r, bytecode_string, count);
    for (uint32_t i = count; i-- > 0 && !bytecode_failed(c);) {
        const size_t at = c->at;
        const uint64_t size = bytecode_varint(c);
        if (size == 0 || size > bytecode_left(c))
            bytecode_fail(r->st, at, "a string of %" PRIu64 " bytes does not fit the file", size);
        r->strings[i].length = (size_t)size - 1;
        all += size;
    }
    const size_t at = c->at;
    const uint8_t *bytes = bytecode_bytes(c, all);
    if (!bytes || !bytecode_end(c, "the strings"))
        return;
    const char *data = arena_copy(&r->module->memory, bytes, (size_t)all);
    for (uint32_t i = 0; i < count; i++) {
        r->strings[i].data = data;
        data += r->strings[i].length;
        if (*data++)
            bytecode_fail(r->st, at, "string %" PRIu32 " does not end in a NUL", i);
    }
    r->string_count = count;
}

bytecode_string bytecode_take_string(bytecode *r, bytecode_cursor *c) {
    const uint32_t index = bytecode_index(c, r->string_count, "string");
    return bytecode_failed(c) ? (bytecode_string){"", 0} : r->strings[index];
}

/* ---- names ---- */

static void read_dialects(bytecode *r, bytecode_cursor *c) {
    const uint32_t count = bytecode_count(c, "dialects");
    r->dialects = BYTECODE_NEW(r, const char *, count);
    for (uint32_t i = 0; i < count && !bytecode_failed(c); i++) {
        bool has_version;
        uint32_t name = bytecode_flagged_index(c, r->string_count, "string", &has_version);
        uint8_t id;
        if (bytecode_failed(c))
            return;
        r->dialects[i] = r->strings[name].data;
        const size_t at = c->at;
        if (has_version)
            bytecode_section(c, &id);
        if (has_version && id != VERSION_OF_DIALECT)
            bytecode_fail(r->st, at, "section %d stands where a dialect's version is", id);
    }
    r->dialect_count = count;
}

/* Operations whose versions the table's attributes do not tell. */
static const struct {
    const char *name;
    int first, last;
} versions[] = {{"all_gather", 1, 2},
                {"all_reduce", 1, 2},
                {"all_to_all", 1, 2},
                {"composite", 1, 2},
                {"dynamic_conv", 2, 2}};

static bool has_version(const shlo_op_info *info, int version) {
    int first = 1, last = 1;
    shlo_attr_info attr;
    for (const char *p = info->attrs; shlo_next_attr(&p, &attr);)
        last = attr.since > last ? attr.since : last;
    for (size_t i = 0; i < sizeof versions / sizeof *versions; i++)
        if (strcmp(versions[i].name, info->name) == 0) {
            first = versions[i].first;
            last = versions[i].last;
        }
    return version >= first && version <= last;
}

/* The attributes that this version of it has. */
static void list_attrs(bytecode *r, bytecode_name *name, int version) {
    const shlo_attr_info **list = &r->lists[name->info->opcode][version - 1];
    shlo_attr_info attr;
    for (const char *p = name->info->attrs; shlo_next_attr(&p, &attr);)
        name->attr_count += attr.since <= version;
    if (!*list) {
        shlo_attr_info *attrs = BYTECODE_NEW(r, shlo_attr_info, name->attr_count);
        *list = attrs;
        for (const char *p = name->info->attrs; shlo_next_attr(&p, &attr);)
            if (attr.since <= version)
                *attrs++ = attr;
    }
    name->attrs = *list;
}

static void read_name(bytecode *r, const char *dialect, bytecode_string op, size_t at,
                      bytecode_name *out) {
    int version = 0;
    arena *memory = &r->module->memory;
    if (op.length + strlen(dialect) > NAME_MAX) {
        bytecode_fail(r->st, at, "a name of operations is longer than %d characters", NAME_MAX);
        return;
    }
    out->written = out->name = arena_printf(memory, "%s.%s", dialect, op.data);
    out->is_module = strcmp(out->name, "builtin.module") == 0;
    if (strcmp(dialect, "vhlo") == 0) {
        out->info = shlo_op_versioned(op.data, op.length, &version);
        if (!out->info || !has_version(out->info, version)) {
            bytecode_fail(r->st, at,
                          "there is no operation '%s' in StableHLO 1.0 to 1.20; write the program "
                          "for one of these",
                          op.data);
            return;
        }
        out->name = arena_printf(memory, "stablehlo.%s", out->info->name);
        list_attrs(r, out, version);
    } else if (shlo_op_named(out->name, strlen(out->name))) {
        bytecode_fail(
            r->st, at,
            "'%s' is not in the portable form of StableHLO (vhlo); write the program with "
            "serialize_portable_artifact",
            out->name);
    }
}

/* Names, attributes and types stand in groups of one dialect each. Its index; *count: how many. */
static uint32_t read_group(const bytecode *r, bytecode_cursor *c, const char *things, uint32_t left,
                           uint32_t *count) {
    const uint32_t dialect = bytecode_index(c, r->dialect_count, "dialect");
    const size_t at = c->at;
    *count = bytecode_count(c, things);
    if (*count > left)
        bytecode_fail(r->st, at, "there are more %s than were announced", things);
    return dialect;
}

static void read_names(bytecode *r, bytecode_cursor *c) {
    const size_t begin = c->at;
    const uint32_t count = bytecode_count(c, "names of operations");
    uint32_t done = 0;
    if (count > NAMES_MAX) {
        bytecode_fail(r->st, begin, "there are more than %d names of operations", NAMES_MAX);
        return;
    }
    r->names = BYTECODE_NEW(r, bytecode_name, count);
    while (done < count && !bytecode_failed(c)) {
        uint32_t group;
        const uint32_t dialect = read_group(r, c, "names of operations", count - done, &group);
        for (; group > 0 && !bytecode_failed(c); group--) {
            bool is_registered;
            const size_t place = c->at;
            uint32_t name = bytecode_flagged_index(c, r->string_count, "string", &is_registered);
            if (!bytecode_failed(c))
                read_name(r, r->dialects[dialect], r->strings[name], place, &r->names[done++]);
        }
    }
    r->name_count = count;
    bytecode_end(c, "the names of operations");
}

/* ---- attributes, types, properties ---- */

static bytecode_form form_of(const char *dialect) {
    return strcmp(dialect, "vhlo") == 0      ? BYTECODE_VHLO
           : strcmp(dialect, "builtin") == 0 ? BYTECODE_BUILTIN
           : strcmp(dialect, "sdy") == 0     ? BYTECODE_SDY
                                             : BYTECODE_OTHER;
}

bytecode_cursor bytecode_open(bytecode *r, const bytecode_entry *e) {
    return (bytecode_cursor){r->file, e->at, e->at + e->size, r->st};
}

const char *bytecode_words(bytecode *r, const bytecode_entry *e) {
    char *words = arena_strndup(&r->module->memory, (const char *)r->file + e->at, e->size);
    for (char *line = words; (line = strchr(line, '\n'));)
        *line = ' ';
    return words;
}

/* The size of each entry, and in what form it is. */
static void read_entries(bytecode *r, bytecode_cursor *sizes, bytecode_cursor *bytes,
                         bytecode_entry *out, uint32_t count) {
    uint32_t done = 0;
    while (done < count && !bytecode_failed(sizes)) {
        uint32_t group;
        const uint32_t dialect = read_group(r, sizes, "attributes or types", count - done, &group);
        const bytecode_form form =
            bytecode_failed(sizes) ? BYTECODE_OTHER : form_of(r->dialects[dialect]);
        for (; group > 0 && !bytecode_failed(sizes); group--) {
            bool is_binary;
            const uint64_t size = bytecode_flagged(sizes, &is_binary);
            const bytecode_cursor entry = bytecode_part(bytes, size);
            out[done++] = (bytecode_entry){.at = entry.at,
                                           .size = entry.end - entry.at,
                                           .dialect = dialect,
                                           .form = is_binary ? form : BYTECODE_TEXT};
        }
    }
}

static void read_attrs_and_types(bytecode *r, bytecode_cursor *sizes, bytecode_cursor *bytes) {
    const uint32_t attrs = bytecode_count(sizes, "attributes");
    const uint32_t types = bytecode_count(sizes, "types");
    r->attrs = BYTECODE_NEW(r, bytecode_entry, attrs);
    r->types = BYTECODE_NEW(r, bytecode_entry, types);
    read_entries(r, sizes, bytes, r->attrs, attrs);
    read_entries(r, sizes, bytes, r->types, types);
    bytecode_end(sizes, "the sizes of attributes and types");
    bytecode_end(bytes, "the attributes and types");
    r->attr_count = attrs;
    r->type_count = types;
}

static void read_properties(bytecode *r, bytecode_cursor *c) {
    const uint32_t count = bytecode_count(c, "properties");
    r->properties = BYTECODE_NEW(r, bytecode_properties, count);
    for (uint32_t i = 0; i < count && !bytecode_failed(c); i++)
        r->properties[i].bytes = bytecode_part(c, bytecode_varint(c));
    r->property_count = count;
    bytecode_end(c, "the properties");
}

/* ---- all of them ---- */

static bool find_sections(bytecode *r, bytecode_cursor *c, bytecode_cursor *found) {
    bool has[SECTIONS] = {false};
    while (!bytecode_failed(c) && bytecode_left(c)) {
        const size_t at = c->at;
        uint8_t id;
        const bytecode_cursor section = bytecode_section(c, &id);
        if (id >= SECTIONS || id == VERSION_OF_DIALECT || has[id])
            return bytecode_fail(r->st, at, "section %d is not known, or stands here twice", id);
        has[id] = true;
        found[id] = section;
    }
    for (int id = 0; id < SECTIONS; id++)
        if (!has[id] && (id <= OPERATIONS || id == PROPERTIES))
            return bytecode_fail(r->st, c->at, "the file has no section %d", id);
    return true;
}

bool bytecode_read_tables(bytecode *r, bytecode_cursor *c, bytecode_cursor *ir) {
    bytecode_cursor found[SECTIONS] = {0};
    if (!find_sections(r, c, found))
        return false;
    if (bytecode_left(&found[RESOURCES]))
        return bytecode_fail(r->st, found[RESOURCES].at,
                             "the file has resources; write its constants into the program");
    read_strings(r, &found[STRINGS]);
    read_dialects(r, &found[DIALECTS]);
    read_names(r, &found[DIALECTS]);
    read_attrs_and_types(r, &found[SIZES], &found[ATTRS_AND_TYPES]);
    read_properties(r, &found[PROPERTIES]);
    *ir = found[OPERATIONS];
    return !bytecode_broken(r);
}
