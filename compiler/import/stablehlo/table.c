/* table.c - stablehlo.def as data: lines by name, their attributes, groups and enumerations. */
#include "import/stablehlo/table.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static const shlo_op_info lines[] = {
#define SHLO(ENUM, name, regions, attrs, syntax, handler, graph)                                   \
    {SHLO_OP_##ENUM, name, attrs, syntax, regions},
#include "import/stablehlo/stablehlo.def"
#undef SHLO
};

const shlo_op_info *shlo_op_info_get(shlo_opcode opcode) {
    return &lines[opcode];
}

/* A name may have a NUL in it. */
static int compare_name(const char *name, size_t length, const char *line) {
    const size_t whole = strlen(line);
    const int order = strncmp(name, line, length);
    return order ? order : length < whole ? -1 : length > whole;
}

/* Lines stand in the order of their names. */
static const shlo_op_info *line_named(const char *name, size_t length) {
    size_t low = 0, high = SHLO_OP_COUNT;
    while (low < high) {
        size_t middle = (low + high) / 2;
        int order = compare_name(name, length, lines[middle].name);
        if (order == 0)
            return &lines[middle];
        if (order < 0)
            high = middle;
        else
            low = middle + 1;
    }
    return NULL;
}

const shlo_op_info *shlo_op_named(const char *name, size_t length) {
    static const char *const dialects[] = {"stablehlo.", "func."};
    for (size_t i = 0; i < sizeof dialects / sizeof *dialects; i++) {
        size_t skip = strlen(dialects[i]);
        if (length > skip && strncmp(name, dialects[i], skip) == 0)
            return line_named(name + skip, length - skip);
    }
    return length > 5 && strncmp(name, "chlo.", 5) == 0 ? line_named(name, length) : NULL;
}

const shlo_op_info *shlo_op_versioned(const char *name, size_t length, int *version) {
    size_t digits = length;
    while (digits > 0 && name[digits - 1] >= '0' && name[digits - 1] <= '9')
        digits--;
    const size_t suffix = strlen("_v");
    if (digits == length || length - digits > 2 || digits < suffix + 1 ||
        strncmp(name + digits - suffix, "_v", suffix) != 0)
        return NULL;
    *version = atoi(name + digits);
    return line_named(name, digits - suffix);
}

/* ---- attributes ---- */

static const char *word(const char *p, char *out, size_t limit) {
    size_t n = strcspn(p, ":@/=?, ");
    if (n >= limit)
        n = limit - 1;
    memcpy(out, p, n);
    out[n] = '\0';
    return p + n;
}

bool shlo_next_attr(const char **cursor, shlo_attr_info *out) {
    const char *p = *cursor ? *cursor + strspn(*cursor, ", ") : NULL;
    if (!p || !*p) {
        *cursor = NULL;
        return false;
    }
    *out = (shlo_attr_info){.since = 1};
    p = word(p, out->name, sizeof out->name);
    if (*p == ':')
        p = word(p + 1, out->kind, sizeof out->kind);
    if (*p == '@')
        out->since = (int)strtol(p + 1, (char **)&p, 10);
    if (*p == '/')
        p = word(p + 1, out->group, sizeof out->group);
    if (*p == '=')
        p = word(p + 1, out->fallback, sizeof out->fallback);
    out->optional = *p == '?' || *out->fallback || out->since > 1;
    p += *p == '?';
    *cursor = p;
    return true;
}

const shlo_group *shlo_group_named(const char *name, size_t length) {
    static const shlo_group groups[] = {
        {"dot", "dot_dimension_numbers", false}, {"dot_algorithm", "algorithm", true},
        {"gather", "dimension_numbers", false},  {"scatter", "scatter_dimension_numbers", false},
        {"conv", "dimension_numbers", false},    {"channel_handle", "channel_handle", true}};
    for (size_t i = 0; i < sizeof groups / sizeof *groups; i++)
        if (compare_name(name, length, groups[i].word) == 0)
            return &groups[i];
    return NULL;
}

static bool has_group(const shlo_op *op, const char *group) {
    const char *cursor = op->info->attrs;
    shlo_attr_info info;
    bool has = false;
    while (!has && shlo_next_attr(&cursor, &info))
        has = strcmp(info.group, group) == 0 && shlo_op_attr(op, info.name);
    return has;
}

bool shlo_lacks_attr(const shlo_op *op, char name[SHLO_ATTR_NAME_BYTES]) {
    const char *cursor = op->info ? op->info->attrs : NULL;
    shlo_attr_info info;
    bool lacks = false;
    while (!lacks && shlo_next_attr(&cursor, &info)) {
        const shlo_group *group = shlo_group_named(info.group, strlen(info.group));
        lacks = group ? !group->optional && !has_group(op, info.group)
                      : !info.optional && !shlo_op_attr(op, info.name);
        snprintf(name, SHLO_ATTR_NAME_BYTES, "%s", group ? group->attribute : info.name);
    }
    return lacks;
}

/* ---- enumerations ---- */

/* Words by VHLO's numbers; an empty one has no meaning. */
static const struct enumeration {
    const char *kind, *words[6];
} enumerations[] = {
    {"comparison_direction", {"EQ", "NE", "GE", "GT", "LE", "LT"}},
    {"comparison_type", {"NOTYPE", "FLOAT", "TOTALORDER", "SIGNED", "UNSIGNED"}},
    {"api_version",
     {"API_VERSION_UNSPECIFIED", "API_VERSION_ORIGINAL", "API_VERSION_STATUS_RETURNING",
      "API_VERSION_STATUS_RETURNING_UNIFIED", "API_VERSION_TYPED_FFI"}},
    {"fft_type", {"FFT", "IFFT", "RFFT", "IRFFT"}},
    {"precision", {"DEFAULT", "HIGH", "HIGHEST"}},
    {"rng_algorithm", {"DEFAULT", "THREE_FRY", "PHILOX"}},
    {"rng_distribution", {"", "UNIFORM", "NORMAL"}},
    {"transpose", {"TRANSPOSE_INVALID", "NO_TRANSPOSE", "TRANSPOSE", "ADJOINT"}},
    {"result_accuracy_mode", {"DEFAULT", "HIGHEST", "TOLERANCE"}},
};

static const struct enumeration *enumeration_of(const char *kind) {
    for (size_t i = 0; i < sizeof enumerations / sizeof *enumerations; i++)
        if (strcmp(enumerations[i].kind, kind) == 0)
            return &enumerations[i];
    return NULL;
}

const char *shlo_enum_word(const char *kind, uint64_t number) {
    const struct enumeration *e = enumeration_of(kind);
    const uint64_t limit = sizeof e->words / sizeof *e->words;
    const char *found = e && number < limit ? e->words[number] : NULL;
    return found && *found ? found : NULL;
}

bool shlo_enum_has(const char *kind, const char *name) {
    const struct enumeration *e = enumeration_of(kind);
    for (size_t i = 0; e && i < sizeof e->words / sizeof *e->words; i++)
        if (e->words[i] && *e->words[i] && strcmp(e->words[i], name) == 0)
            return true;
    return false;
}
