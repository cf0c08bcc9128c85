/* launch_file.c - reads how code for a GPU is launched, and holds it to what its entry
 * point takes: nobody else would notice an argument too few.
 *
 * The names of keys are those of the file that Triton writes beside its code ("name", "num_warps",
 * "warp_size", "shared"), so that "grid" and "arguments" are all that is to be added to one. */
#include "implementation/launch_file.h"

#include <stdlib.h>
#include <string.h>

#include "base/file.h"
#include "formula.h"

enum { EXTENTS = 3, NAMES_MAX = 64, DESCRIPTION_BYTES_MAX = 1 << 20, SHARED_MOST = 1 << 24 };

/* One description under way. */
typedef struct reader_state {
    const char *path; /* for messages: the file's name, which is the same in a pack */
    const json_t *object;
    const implementation_entry *entry;
    const compiler_signature *signature;
    formula_names names;
    status *st;
} reader_state;

static bool wrong(const reader_state *r, const char *key, const char *what) {
    return status_set(r->st, STATUS_INVALID, "%s: \"%s\" %s", r->path, key, what);
}

/* ---- the file ---- */

const char *implementation_launch_path(const char *code, arena *memory) {
    const char *slash = strrchr(code, '/'), *dot = strrchr(slash ? slash : code, '.');
    size_t length = dot ? (size_t)(dot - code) : strlen(code);
    return arena_printf(memory, "%.*s.json", (int)length, code);
}

/* A list of descriptions: the file has one, or several. */
static json_t *load(const char *path, status *st) {
    char *bytes;
    size_t size;
    json_error_t error;
    if (!file_exists(path)) {
        status_set(st, STATUS_NOT_FOUND,
                   "there is no %s, which says how the code is launched: "
                   "{\"grid\": [...], \"block\": [...], \"arguments\": [...]} "
                   "(docs/implementations.md)",
                   path);
        return NULL;
    }
    if (!file_read(path, DESCRIPTION_BYTES_MAX, &bytes, &size, st))
        return NULL;
    json_t *root = json_loadb(bytes, size, JSON_REJECT_DUPLICATES, &error);
    free(bytes);
    if (!root)
        status_set(st, STATUS_INVALID, "%s:%d: %s", path, error.line, error.text);
    if (!root || json_is_array(root))
        return root;
    return json_pack("[o]", root);
}

/* The entry point that a description is of. */
static const char *name_of(const json_t *object, const implementation_entries *entries) {
    const char *name = json_string_value(json_object_get(object, "name"));
    bool lone = !name && entries->items.count == 1;
    return lone ? entries->items.items[0].name : name;
}

/* ---- its keys ---- */

static bool read_number(const reader_state *r, const char *key, const json_t *value,
                        json_int_t most, json_int_t *out) {
    int64_t found = json_integer_value(value);
    formula_result result = FORMULA_OK;
    if (json_is_string(value))
        result = formula_evaluate(json_string_value(value), &r->names, &found);
    else if (!json_is_integer(value))
        return wrong(r, key, "has something that is neither a number nor a formula");
    *out = found;
    if (result == FORMULA_WRONG)
        return status_set(
            r->st, STATUS_INVALID,
            "%s: \"%s\": '%s' is no formula of the case's dimensions (docs/modules.md)", r->path,
            key, json_string_value(value));
    return (result == FORMULA_OK && found <= most && found >= -(INT64_C(1) << 62)) ||
           wrong(r, key, "is too large, or has no value");
}

/* One to three extents; what is left out is 1. */
static bool read_extents(const reader_state *r, const char *key, json_t *out) {
    const json_t *given = json_object_get(r->object, key);
    if (!given)
        return wrong(r, key, "is missing: a list of one to three extents");
    if (!json_is_array(given) || json_array_size(given) < 1 || json_array_size(given) > EXTENTS)
        return wrong(r, key, "is no list of one to three extents");
    for (size_t i = 0; i < EXTENTS; i++) {
        json_int_t extent = 1;
        if (i < json_array_size(given) &&
            !read_number(r, key, json_array_get(given, i), UINT32_MAX, &extent))
            return false;
        if (extent < 0)
            return wrong(r, key, "has a negative extent");
        json_array_append_new(out, json_integer(extent));
    }
    return true;
}

static bool read_block(const reader_state *r, json_t *out) {
    const json_t *warps = json_object_get(r->object, "num_warps"),
                 *size = json_object_get(r->object, "warp_size");
    if (json_object_get(r->object, "block") || !json_is_integer(warps))
        return read_extents(r, "block", out);
    const json_int_t most = 1 << 16, each = size ? json_integer_value(size) : 32;
    json_int_t threads = json_integer_value(warps);
    if (threads < 1 || threads > most || each < 1 || each > most)
        return wrong(r, "num_warps", "gives no number of threads");
    threads *= each;
    json_array_append_new(out, json_integer(threads));
    json_array_append_new(out, json_integer(1));
    return json_array_append_new(out, json_integer(1)) == 0;
}

static bool read_shared(const reader_state *r, json_int_t *out) {
    const json_t *shared = json_object_get(r->object, "shared");
    *out = 0;
    return !shared || (read_number(r, "shared", shared, SHARED_MOST, out) && *out >= 0) ||
           wrong(r, "shared", "is no number of bytes");
}

/* ---- arguments ---- */

static int find_tensor(const compiler_signature *s, const char *name) {
    for (uint32_t i = 0; i < s->input_count; i++)
        if (strcmp(s->inputs[i].name, name) == 0)
            return (int)i;
    for (uint32_t i = 0; i < s->output_count; i++)
        if (strcmp(s->outputs[i].name, name) == 0)
            return (int)(s->input_count + i);
    return -1;
}

/* {"i32": ...}: its type, a static word; NULL: it is no such thing. */
static const char *type_of(const json_t *given, json_t **value) {
    static const char *const types[] = {"i32", "i64", "f32", "f64"};
    for (size_t i = 0; i < sizeof types / sizeof *types; i++)
        if (json_object_size(given) == 1 && (*value = json_object_get(given, types[i])))
            return types[i];
    return NULL;
}

static json_t *read_value(const reader_state *r, const char *type, json_t *value) {
    json_int_t whole;
    if (type[0] == 'f' && json_is_real(value))
        return json_incref(value);
    if (!read_number(r, "arguments", value, strcmp(type, "i32") == 0 ? UINT32_MAX : INT64_MAX,
                     &whole))
        return NULL;
    if (strcmp(type, "i32") == 0 && whole < INT32_MIN) {
        wrong(r, "arguments", "has a number beyond its type");
        return NULL;
    }
    return type[0] == 'f' ? json_real((double)whole) : json_integer(whole);
}

/* NULL where it is wrong. *size: the bytes that it has. */
static json_t *read_argument(const reader_state *r, const json_t *given, uint32_t *size) {
    json_t *value;
    const char *name = json_string_value(given), *type = type_of(given, &value);
    int buffer = name ? find_tensor(r->signature, name) : -1;
    *size = type && strstr(type, "32") ? 4 : 8;
    if (name && buffer < 0) {
        status_set(r->st, STATUS_INVALID, "%s: \"arguments\": the kernel has no tensor '%s'",
                   r->path, name);
        return NULL;
    }
    if (name)
        return json_pack("{s:i}", "buffer", buffer);
    if (!type) {
        wrong(r, "arguments",
              "has one that is neither a tensor's name nor {\"i32\": ...}, i64, f32 "
              "or f64");
        return NULL;
    }
    value = read_value(r, type, value);
    return value ? json_pack("{s:s, s:o}", "type", type, "value", value) : NULL;
}

static bool fits(const reader_state *r, size_t index, uint32_t size) {
    const implementation_entry *e = r->entry;
    return index >= e->count || e->sizes[index] == size ||
           status_set(r->st, STATUS_INVALID,
                      "%s: argument %zu has %u bytes, and parameter %zu of '%s' has %u", r->path,
                      index, size, index, e->name, e->sizes[index]);
}

/* Default names: the inputs, then the outputs. */
static json_t *names_of_tensors(const compiler_signature *s) {
    json_t *list = json_array();
    for (uint32_t i = 0; i < s->input_count; i++)
        json_array_append_new(list, json_string(s->inputs[i].name));
    for (uint32_t i = 0; i < s->output_count; i++)
        json_array_append_new(list, json_string(s->outputs[i].name));
    return list;
}

static bool read_list(const reader_state *r, const json_t *given, json_t *out) {
    const size_t count = json_array_size(given);
    if (!json_is_array(given))
        return wrong(r, "arguments", "is no list");
    for (size_t i = 0; i < count; i++) {
        uint32_t size;
        json_t *one = read_argument(r, json_array_get(given, i), &size);
        if (!one || json_array_append_new(out, one) != 0 || !fits(r, i, size))
            return false;
    }
    return (count == r->entry->count && count <= ENTRY_PARAMETERS_MAX) ||
           status_set(r->st, STATUS_INVALID,
                      "%s: %zu arguments are given, and '%s' takes %u; \"arguments\" lists "
                      "them: tensors by their names, numbers as {\"i32\": \"M*N\"}",
                      r->path, count, r->entry->name, r->entry->count);
}

static bool read_arguments(const reader_state *r, json_t *out) {
    json_t *given = json_object_get(r->object, "arguments");
    json_t *list = given ? json_incref(given) : names_of_tensors(r->signature);
    bool ok = read_list(r, list, out);
    json_decref(list);
    return ok;
}

/* ---- all of it ---- */

bool implementation_launch_functions(implementation *i, const implementation_file *f, status *st) {
    implementation_entries entries;
    bool ok = implementation_entries_read(&entries, i->kind, f, st);
    const char *path = implementation_launch_path(i->path, &i->memory);
    json_t *list = ok ? load(path, st) : NULL, *one;
    size_t index;
    json_array_foreach(list, index, one) {
        const char *name = name_of(one, &entries);
        if (name && implementation_has_function(i, name))
            ok = status_set(st, STATUS_INVALID, "%s: it describes '%s' twice", path, name);
        else if (!name)
            ok = status_set(st, STATUS_INVALID,
                            "%s: no \"name\" says which of %zu entry points it is of", path,
                            entries.items.count);
        else if (!implementation_entry_find(&entries, name))
            ok = status_set(st, STATUS_INVALID,
                            "%s: the code has no entry point '%s'; its first is "
                            "'%s'",
                            path, name, entries.items.items[0].name);
        else
            vec_push(&i->functions, arena_strndup(&i->memory, name, strlen(name)));
        if (!ok)
            break;
    }
    if (list && i->functions.count == 0 && ok)
        ok = status_set(st, STATUS_INVALID, "%s: it describes no entry point", path);
    ok = ok && list;
    json_decref(list);
    implementation_entries_release(&entries);
    return ok || status_set(st, st->code, "--with %s", i->path);
}

/* Refuses what a plain launch does not give. */
static bool is_plain(const reader_state *r) {
    const json_t *clusters = json_object_get(r->object, "num_ctas");
    const char *key = json_integer_value(clusters) > 1 ? "num_ctas"
                      : json_is_true(json_object_get(r->object, "launch_cooperative_grid"))
                          ? "launch_cooperative_grid"
                          : NULL;
    return !key ||
           status_set(r->st, STATUS_UNAVAILABLE,
                      "%s: \"%s\": clusters and cooperative grids are not launched", r->path, key);
}

static char *call_of(const reader_state *r) {
    json_t *grid = json_array(), *block = json_array(), *arguments = json_array();
    json_int_t shared = 0;
    bool ok = read_extents(r, "grid", grid) && read_block(r, block) && read_shared(r, &shared) &&
              read_arguments(r, arguments);
    json_t *call = json_pack("{s:o, s:o, s:o, s:I}", "grid", grid, "block", block, "arguments",
                             arguments, "smem_bytes", shared);
    char *words = ok ? json_dumps(call, JSON_COMPACT | JSON_SORT_KEYS) : NULL;
    json_decref(call);
    return words;
}

static const json_t *description_of(const json_t *list, const implementation_entries *entries,
                                    const char *symbol) {
    for (size_t i = 0; i < json_array_size(list); i++) {
        const char *name = name_of(json_array_get(list, i), entries);
        if (name && strcmp(name, symbol) == 0)
            return json_array_get(list, i);
    }
    return NULL;
}

char *implementation_launch_call(const implementation_request *request, const ir_bindings *dims,
                                 const compiler_signature *signature, const implementation_file *f,
                                 status *st) {
    const char *names[NAMES_MAX];
    int64_t values[NAMES_MAX];
    implementation_entries entries;
    char *call = NULL;
    bool ok = implementation_entries_read(&entries, request->kind, f, st);
    const char *path = implementation_launch_path(request->path, &entries.memory);
    json_t *list = ok ? load(path, st) : NULL;
    const char *slash = strrchr(path, '/');
    reader_state r = {slash ? slash + 1 : path,
                      description_of(list, &entries, request->symbol),
                      implementation_entry_find(&entries, request->symbol),
                      signature,
                      {names, values, 0},
                      st};
    for (uint32_t i = 0; i < dims->count && i < NAMES_MAX; i++) {
        names[i] = dims->items[i].name;
        values[i] = dims->items[i].value;
        r.names.count++;
    }
    if (r.entry && !r.entry->known)
        status_set(st, STATUS_CORRUPT, "what '%s' takes cannot be read from the code",
                   request->symbol);
    else if (r.object && r.entry)
        call = is_plain(&r) ? call_of(&r) : NULL;
    else if (list)
        status_set(st, STATUS_INVALID, "%s: it does not describe '%s'", path, request->symbol);
    json_decref(list);
    implementation_entries_release(&entries);
    return call;
}
