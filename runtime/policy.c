/* policy.c - reads a policy file, and says what is wrong with one. */
#include "policy.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "base/arena.h"
#include "base/text.h"
#include "document.h"

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
    document file;
    policy *out;
    status *st;
} reader;

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

static bool unknown(const reader *r, const document_node *at, const char *group) {
    text names;
    text_init(&names);
    list_names(group, &names);
    group ? document_wrong(&r->file, at, r->st, "is no key; %s has %s", group, names.data)
          : document_wrong(&r->file, at, r->st, "is no group of keys; there are schema, %s",
                           names.data);
    text_release(&names);
    return false;
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

static bool read_BYTES(const document_node *value, uint64_t *out) {
    static const unit units[] = {{"B", 1},
                                 {"KiB", UINT64_C(1) << 10},
                                 {"MiB", UINT64_C(1) << 20},
                                 {"GiB", UINT64_C(1) << 30},
                                 {0}};
    return read_amount(document_text(value), units, out);
}

static bool read_TIME(const document_node *value, uint64_t *out) {
    static const unit units[] = {{"ns", 1}, {"us", 1000}, {"ms", 1000000}, {"s", 1000000000}, {0}};
    return read_amount(document_text(value), units, out);
}

static bool read_LEVEL(const document_node *value, policy_level *out) {
    const char *word = document_text(value);
    int level = 0;
    while (word && level < POLICY_LEVELS && strcmp(word, levels[level]) != 0)
        level++;
    *out = (policy_level)level;
    return word && level < POLICY_LEVELS;
}

static bool read_PATH(const document_node *value, char **out) {
    const char *words = document_text(value);
    if (words && *words)
        *out = base_strdup(words);
    return *out != NULL;
}

static bool read_FLAG(const document_node *value, bool *out) {
    return document_flag(value, out);
}

static bool read_key(policy *p, int key, const document_node *value) {
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

static bool read_member(reader *r, const char *group, const document_node *member) {
    for (int i = 0; i < POLICY_KEYS; i++) {
        if (strcmp(keys[i].group, group) != 0 || strcmp(keys[i].name, member->name) != 0)
            continue;
        return read_key(r->out, i, member) ||
               document_wrong(&r->file, member, r->st, "wants %s, not %s", wanted[keys[i].kind],
                              document_shown(&r->file, member));
    }
    return unknown(r, member, group);
}

static bool has_group(const char *group) {
    for (int i = 0; i < POLICY_KEYS; i++)
        if (strcmp(keys[i].group, group) == 0)
            return true;
    return false;
}

static bool read_group(reader *r, const document_node *group) {
    if (!has_group(group->name))
        return unknown(r, group, NULL);
    if (group->kind != DOCUMENT_MAP)
        return document_wrong(&r->file, group, r->st, "wants an object: {...}");
    for (const document_node *m = group->first; m; m = m->next)
        if (!read_member(r, group->name, m))
            return false;
    return true;
}

static const document_node *place_of(const reader *r, const char *group, const char *name) {
    return document_member(document_member(r->file.root, group), name);
}

/* No key may be without effect. */
static bool check_together(const reader *r) {
    const policy *p = r->out;
    if (p->given[POLICY_memory_kept] && p->filled_bytes > p->kept_bytes)
        return document_wrong(&r->file, place_of(r, "memory", "filled"), r->st,
                              "is more than memory.kept, which would give it back");
    if (p->spans && p->level == POLICY_OFF)
        return document_wrong(&r->file, place_of(r, "profiling", "spans"), r->st,
                              "has nothing to write: add \"level\": \"launches\" or \"phases\"");
    if (!p->spans && p->level != POLICY_OFF)
        return document_wrong(&r->file, place_of(r, "profiling", "level"), r->st,
                              "wants a file for the spans: add \"spans\": \"FILE\"");
    return true;
}

static bool read_document(reader *r) {
    const document_node *root = r->file.root, *schema = document_member(root, "schema");
    if (root->kind != DOCUMENT_MAP)
        return document_wrong(&r->file, root, r->st, "a policy is an object: {\"schema\": \"%s\"}",
                              POLICY_SCHEMA);
    if (!schema || !document_text(schema) || strcmp(schema->value, POLICY_SCHEMA) != 0)
        return document_wrong(&r->file, schema, r->st, "%swants \"%s\", not %s",
                              schema ? "" : "schema ", POLICY_SCHEMA,
                              document_shown(&r->file, schema));
    for (const document_node *group = root->first; group; group = group->next)
        if (group != schema && !read_group(r, group))
            return false;
    return check_together(r);
}

bool policy_of_file(const char *path, policy *out, status *st) {
    reader r = {.out = out, .st = st};
    *out = (policy){0};
    const bool ok = document_read(&r.file, path, st) && read_document(&r);
    document_release(&r.file);
    return ok;
}

bool policy_of_environment(policy *out, status *st) {
    const char *path = getenv(POLICY_FILE); // NOLINT(concurrency-mt-unsafe)
    *out = (policy){0};
    status why = STATUS_INIT;
    return !path || !*path || policy_of_file(path, out, &why) ||
           status_set(st, why.code, POLICY_FILE ": %s", why.message);
}

void policy_release(policy *p) {
    free(p->spans);
    free(p->model);
    p->spans = p->model = NULL;
}
