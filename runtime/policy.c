/* policy.c - reads a policy file, and says what is wrong with one. */
#include "policy.h"

#include <inttypes.h>
#include <jansson.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>

#include "base/arena.h"
#include "base/escape.h"
#include "base/file.h"
#include "base/text.h"

enum { FILE_BYTES_MAX = 1 << 20 };

typedef enum value_kind { BYTES, TIME, LEVEL, PATH, FLAG } value_kind;

static const struct key {
    const char *group, *name;
    value_kind kind;
} keys[] = {
#define KEY(group, name, kind, member, meaning) {#group, #name, kind},
#include "policy.def"
#undef KEY
};

static const char *const levels[] = {"off", "launches", "phases"};

/* The look of a value of each kind. */
static const char *const wanted[] = {
    [BYTES] = "a text of a whole number and B, KiB, MiB or GiB, such as \"256 MiB\"",
    [TIME] = "a text of a whole number and ns, us, ms or s, such as \"2 s\"",
    [LEVEL] = "\"off\", \"launches\" or \"phases\"",
    [PATH] = "a text, the path of a file",
    [FLAG] = "true or false"};

/* A file while it is read. */
typedef struct reader {
    const char *path, *json;
    policy *out;
    status *st;
} reader;

/* ---- places ---- */

/* Behind the string that begins at `p`; the text is JSON. */
static const char *skip_string(const char *p) {
    for (p++; *p != '"'; p++)
        p += *p == '\\';
    return p + 1;
}

static bool is_word(const char *from, const char *end, const char *word) {
    return (size_t)(end - from) == strlen(word) + 2 && strncmp(from + 1, word, strlen(word)) == 0;
}

static bool is_key(const char *behind) {
    return behind[strspn(behind, " \t\r\n")] == ':';
}

/* The line of GROUP.NAME, or of GROUP where `name` is NULL; 1: nowhere. */
static int line_of(const char *json, const char *group, const char *name) {
    int line = 1, depth = 0;
    bool inside = false; /* the group */
    for (const char *p = json; *p;) {
        if (*p != '"') {
            line += *p == '\n';
            depth += (*p == '{' || *p == '[') - (*p == '}' || *p == ']');
            p++;
            continue;
        }
        const char *end = skip_string(p);
        if (is_key(end) && depth == 1)
            inside = is_word(p, end, group);
        if (is_key(end) && inside && (name ? depth == 2 && is_word(p, end, name) : depth == 1))
            return line;
        p = end;
    }
    return 1;
}

static bool wrong(const reader *r, const char *group, const char *name, const char *format, ...)
    __attribute__((format(printf, 4, 5)));
static bool wrong(const reader *r, const char *group, const char *name, const char *format, ...) {
    va_list args;
    text words, shown;
    text_init(&words);
    text_init(&shown);
    va_start(args, format);
    text_vprintf(&words, format, args);
    va_end(args);
    text_show(&shown, "%s:%d: %s%s%s ", r->path, line_of(r->json, group, name), group,
              name ? "." : "", name ? name : "");
    status_set(r->st, STATUS_INVALID, "%s%s", shown.data, words.data);
    text_release(&words);
    text_release(&shown);
    return false;
}

/* Lists the groups, or the keys of one. */
static void list_names(const char *group, text *out) {
    const char *last = "";
    for (int i = 0; i < POLICY_KEYS; i++) {
        const char *name = group ? keys[i].name : keys[i].group;
        if ((group && strcmp(group, keys[i].group) != 0) || strcmp(last, name) == 0)
            continue;
        text_printf(out, "%s%s", out->length ? ", " : "", name);
        last = name;
    }
}

static bool unknown(const reader *r, const char *group, const char *name) {
    text names;
    text_init(&names);
    list_names(name ? group : NULL, &names);
    bool ok = name ? wrong(r, group, name, "is no key; %s has %s", group, names.data)
                   : wrong(r, group, NULL, "is no group of keys; there are schema, %s", names.data);
    text_release(&names);
    return ok;
}

/* ---- values ---- */

typedef struct unit {
    const char *name;
    uint64_t factor;
} unit;

/* A whole number and a unit, with or without spaces between them. */
static bool read_amount(const char *words, const unit *units, uint64_t *out) {
    char *end;
    if (!words || *words < '0' || *words > '9')
        return false;
    unsigned long long number = strtoull(words, &end, 10);
    const char *name = end + strspn(end, " ");
    for (const unit *u = units; u->name; u++)
        if (strcmp(u->name, name) == 0) {
            *out = number * u->factor;
            return number <= (UINT64_MAX >> 2) / u->factor;
        }
    return false;
}

static bool read_BYTES(const json_t *value, uint64_t *out) {
    static const unit units[] = {{"B", 1},
                                 {"KiB", UINT64_C(1) << 10},
                                 {"MiB", UINT64_C(1) << 20},
                                 {"GiB", UINT64_C(1) << 30},
                                 {0}};
    return read_amount(json_string_value(value), units, out);
}

static bool read_TIME(const json_t *value, uint64_t *out) {
    static const unit units[] = {{"ns", 1}, {"us", 1000}, {"ms", 1000000}, {"s", 1000000000}, {0}};
    return read_amount(json_string_value(value), units, out);
}

static bool read_LEVEL(const json_t *value, policy_level *out) {
    const char *word = json_string_value(value);
    int level = 0;
    while (word && level < POLICY_LEVELS && strcmp(word, levels[level]) != 0)
        level++;
    *out = (policy_level)level;
    return word && level < POLICY_LEVELS;
}

static bool read_PATH(const json_t *value, char **out) {
    const char *words = json_string_value(value);
    if (words && *words)
        *out = base_strdup(words);
    return *out != NULL;
}

static bool read_FLAG(const json_t *value, bool *out) {
    *out = json_is_true(value);
    return json_is_boolean(value);
}

static bool read_key(policy *p, int key, const json_t *value) {
    p->given[key] = true;
    switch (key) {
#define KEY(group, name, kind, member, meaning)                                                    \
    case POLICY_##group##_##name:                                                                  \
        return read_##kind(value, &p->member);
#include "policy.def"
#undef KEY
    default:
        return false;
    }
}

/* ---- the file ---- */

static bool read_member(const reader *r, const char *group, const char *name, const json_t *value) {
    for (int i = 0; i < POLICY_KEYS; i++) {
        if (strcmp(keys[i].group, group) != 0 || strcmp(keys[i].name, name) != 0)
            continue;
        char *words = json_dumps(value, JSON_ENCODE_ANY | JSON_COMPACT);
        bool ok = read_key(r->out, i, value) ||
                  wrong(r, group, name, "wants %s, not %.60s", wanted[keys[i].kind], words);
        free(words);
        return ok;
    }
    return unknown(r, group, name);
}

static bool has_group(const char *group) {
    for (int i = 0; i < POLICY_KEYS; i++)
        if (strcmp(keys[i].group, group) == 0)
            return true;
    return false;
}

static bool read_group(const reader *r, const char *group, json_t *members) {
    const char *name;
    json_t *value;
    if (!has_group(group))
        return unknown(r, group, NULL);
    if (!json_is_object(members))
        return wrong(r, group, NULL, "wants an object: {...}");
    json_object_foreach(members, name, value) {
        if (!read_member(r, group, name, value))
            return false;
    }
    return true;
}

/* No key may be without effect. */
static bool check_together(const reader *r) {
    const policy *p = r->out;
    if (p->given[POLICY_memory_kept] && p->filled_bytes > p->kept_bytes)
        return wrong(r, "memory", "filled", "is more than memory.kept, which would give it back");
    if (p->spans && p->level == POLICY_OFF)
        return wrong(r, "profiling", "spans",
                     "has nothing to write: add \"level\": \"launches\" or \"phases\"");
    if (!p->spans && p->level != POLICY_OFF)
        return wrong(r, "profiling", "level",
                     "wants a file for the spans: add \"spans\": \"FILE\"");
    return true;
}

static bool read_document(const reader *r, json_t *document) {
    const char *group;
    json_t *members;
    const char *schema = json_string_value(json_object_get(document, "schema"));
    if (!json_is_object(document))
        return status_set(r->st, STATUS_INVALID,
                          "%s:1: a policy is an object: {\"schema\": \"%s\"}", r->path,
                          POLICY_SCHEMA);
    if (!schema || strcmp(schema, POLICY_SCHEMA) != 0)
        return wrong(r, "schema", NULL, "wants \"%s\", not %s", POLICY_SCHEMA,
                     schema ? schema : "nothing or something else");
    json_object_foreach(document, group, members) {
        if (strcmp(group, "schema") != 0 && !read_group(r, group, members))
            return false;
    }
    return check_together(r);
}

static bool read_file(const char *path, policy *out, status *st) {
    char *data;
    size_t size;
    json_error_t error;
    status why = STATUS_INIT;
    if (!file_read(path, FILE_BYTES_MAX, &data, &size, &why))
        return status_set(st, STATUS_INVALID, POLICY_FILE ": %s", why.message);
    json_t *document = json_loadb(data, size, JSON_REJECT_DUPLICATES, &error);
    const reader r = {path, data, out, st};
    bool ok = document ? read_document(&r, document)
                       : status_set(st, STATUS_INVALID, "%s:%d: no JSON: %s", path, error.line,
                                    error.text);
    json_decref(document);
    free(data);
    return ok;
}

bool policy_of_environment(policy *out, status *st) {
    const char *path = getenv(POLICY_FILE); // NOLINT(concurrency-mt-unsafe)
    *out = (policy){0};
    return !path || !*path || read_file(path, out, st);
}

void policy_release(policy *p) {
    free(p->spans);
    p->spans = NULL;
}
