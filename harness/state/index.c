/* index.c - see index.h. */
#include "state/index.h"

#include <dirent.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/arena.h"
#include "base/file.h"
#include "base/sha256.h"

#define INDEX_NAME "state.json"
#define EARLIER_NAME "state.safetensors" /* of a tsr before there were parts */
#define INDEX_BYTES_MAX ((size_t)1 << 30)
#define WHAT_TO_DO "bring it back as it was kept, or begin anew in another folder"

static char *path_in(const char *folder, const char *name) {
    text path;
    text_init(&path);
    text_printf(&path, "%s/%s", folder, name);
    return path.data;
}

static bool is_there(const char *folder, const char *name) {
    char *path = path_in(folder, name);
    const bool there = file_exists(path);
    free(path);
    return there;
}

bool state_is_kept(const char *folder) {
    return is_there(folder, INDEX_NAME) || is_there(folder, EARLIER_NAME);
}

/* ---- its hash ---- */

static json_t *without_files(const json_t *entry) {
    json_t *copy = json_copy((json_t *)(uintptr_t)entry), *parts = json_array(), *part;
    size_t i;
    json_array_foreach(json_object_get(entry, "parts"), i, part)
        json_array_append(parts, json_object_get(part, "sha256"));
    json_object_set_new(copy, "parts", parts);
    return copy;
}

static void hash_of(const json_t *root, char out[65]) {
    json_t *copy = json_copy((json_t *)(uintptr_t)root), *tensors = json_array(), *entry;
    size_t i;
    json_object_del(copy, "sha256");
    json_object_del(copy, "ranks");
    json_object_del(copy, "files");
    json_object_del(copy, "retried");
    json_array_foreach(json_object_get(root, "tensors"), i, entry)
        json_array_append_new(tensors, without_files(entry));
    json_object_set_new(copy, "tensors", tensors);
    char *words = json_dumps(copy, JSON_COMPACT | JSON_SORT_KEYS);
    const sha256 digest = sha256_of(words ? words : "", words ? strlen(words) : 0);
    sha256_hex(&digest, out);
    free(words);
    json_decref(copy);
}

/* ---- read ---- */

static bool damaged(const state_index *x, const char *what, status *st) {
    return status_set(st, STATUS_CORRUPT, "%s: %s; " WHAT_TO_DO, x->path, what);
}

static bool read_extents(const json_t *list, int64_t out[TENSOR_MAX_RANK], int64_t least) {
    size_t d;
    json_t *value;
    bool ok = json_is_array(list) && json_array_size(list) <= TENSOR_MAX_RANK;
    json_array_foreach(list, d, value) {
        ok = ok && json_is_integer(value) && json_integer_value(value) >= least;
        if (ok)
            out[d] = json_integer_value(value);
    }
    return ok;
}

static bool is_part(const state_index *x, const json_t *part) {
    sha256 digest;
    const char *hex = json_string_value(json_object_get(part, "sha256"));
    const json_t *file = json_object_get(part, "file");
    return hex && sha256_parse(hex, &digest) && json_is_integer(file) &&
           json_integer_value(file) >= 0 &&
           (size_t)json_integer_value(file) < json_array_size(x->files);
}

/* Shards that divide the dimensions, and a part for each. */
static bool fits(const state_index *x, const state_tensor *t, const json_t *shape,
                 const json_t *shards) {
    int64_t count = 1;
    bool ok = json_array_size(shape) == json_array_size(shards);
    for (int d = 0; d < t->grid.rank && ok; d++)
        ok = t->grid.dims[d] % t->grid.shards[d] == 0 &&
             !__builtin_mul_overflow(count, t->grid.shards[d], &count);
    ok = ok && json_is_array(t->parts) && (int64_t)json_array_size(t->parts) == count;
    for (size_t i = 0; ok && i < (size_t)count; i++)
        ok = is_part(x, json_array_get(t->parts, i));
    return ok;
}

static bool read_tensor(state_index *x, const json_t *entry) {
    const json_t *shape = json_object_get(entry, "shape"),
                 *shards = json_object_get(entry, "shards");
    const char *type = json_string_value(json_object_get(entry, "dtype"));
    state_tensor t = {
        .name = json_string_value(json_object_get(entry, "name")),
        .parts = json_object_get(entry, "parts"),
        .grid = {.type = dtype_from_name(type ? type : ""), .rank = (int)json_array_size(shape)}};
    if (!t.name || t.grid.type == DTYPE_NONE || !read_extents(shape, t.grid.dims, 0) ||
        !read_extents(shards, t.grid.shards, 1) || !fits(x, &t, shape, shards))
        return false;
    vec_push(&x->tensors, t);
    return true;
}

/* Names of files in the folder, not of others. */
static bool read_files(const state_index *x) {
    size_t i;
    json_t *name;
    bool ok = json_is_array(x->files);
    json_array_foreach(x->files, i, name) ok =
        ok && json_is_string(name) && !strchr(json_string_value(name), '/');
    return ok;
}

static bool is_version(const state_index *x, status *st) {
    const char *schema = json_string_value(json_object_get(x->root, "schema"));
    if (!schema || strncmp(schema, "tsr.state/", strlen("tsr.state/")) != 0)
        return damaged(x, "it is no index of a kept state", st);
    return strcmp(schema, STATE_SCHEMA) == 0 ||
           status_set(st, STATUS_INVALID,
                      "%s is of version %.40s, and this tsr reads " STATE_SCHEMA
                      ": go on with the tsr that kept it, or begin anew in another folder",
                      x->path, schema);
}

static bool read_index(state_index *x, status *st) {
    char hex[65];
    if (!is_version(x, st))
        return false;
    hash_of(x->root, hex);
    const char *own = json_string_value(json_object_get(x->root, "sha256"));
    if (!own || strcmp(own, hex) != 0)
        return damaged(x, "it is not what was kept: its own hash is another one", st);
    const json_t *step = json_object_get(x->root, "step"),
                 *tensors = json_object_get(x->root, "tensors");
    x->kernel = json_string_value(json_object_get(x->root, "kernel"));
    x->program = json_string_value(json_object_get(x->root, "program"));
    x->files = json_object_get(x->root, "files");
    x->retried = json_object_get(x->root, "retried");
    x->step = json_integer_value(step);
    bool ok = x->kernel && x->program && json_is_integer(step) && x->step >= 0 &&
              json_is_array(tensors) && read_files(x);
    for (size_t i = 0; ok && i < json_array_size(tensors); i++)
        ok = read_tensor(x, json_array_get(tensors, i));
    return ok || damaged(x, "it has not the form of " STATE_SCHEMA, st);
}

bool state_index_open(state_index *x, const char *folder, status *st) {
    char *words = NULL;
    size_t bytes;
    json_error_t error;
    *x = (state_index){.path = path_in(folder, INDEX_NAME)};
    if (!file_exists(x->path) && is_there(folder, EARLIER_NAME))
        return status_set(st, STATUS_INVALID,
                          "%s/" EARLIER_NAME " was kept by an earlier tsr: begin in another "
                          "folder, with --load %s/" EARLIER_NAME " for its tensors",
                          folder, folder);
    if (!file_read(x->path, INDEX_BYTES_MAX, &words, &bytes, st))
        return false;
    x->root = json_loadb(words, bytes, JSON_REJECT_DUPLICATES, &error);
    free(words);
    if (!x->root)
        return status_set(st, STATUS_CORRUPT, "%s: it is no JSON, at byte %d: %.150s; " WHAT_TO_DO,
                          x->path, error.position, error.text);
    return read_index(x, st);
}

void state_index_close(state_index *x) {
    json_decref(x->root);
    vec_release(&x->tensors);
    free(x->path);
    *x = (state_index){0};
}

const char *state_index_shard(const state_index *x, const state_tensor *t, int64_t shard,
                              text *file) {
    const json_t *part = json_array_get(t->parts, (size_t)shard);
    const json_int_t at = json_integer_value(json_object_get(part, "file"));
    text_append_bytes(file, x->path, strlen(x->path) - strlen(INDEX_NAME));
    text_append(file, json_string_value(json_array_get(x->files, (size_t)at)));
    return json_string_value(json_object_get(part, "sha256"));
}

/* ---- written ---- */

json_t *state_index_tensor(const char *name, const state_grid *g) {
    json_t *shape = json_array(), *shards = json_array();
    for (int d = 0; d < g->rank; d++) {
        json_array_append_new(shape, json_integer(g->dims[d]));
        json_array_append_new(shards, json_integer(g->shards[d]));
    }
    return json_pack("{s:s, s:s, s:o, s:o, s:[]}", "name", name, "dtype", dtype_name(g->type),
                     "shape", shape, "shards", shards, "parts");
}

static bool names(const json_t *files, const char *name) {
    size_t i;
    json_t *one;
    bool found = false;
    json_array_foreach(files, i, one) found = found || strcmp(json_string_value(one), name) == 0;
    return found;
}

/* Also those that a run which was killed has not finished. */
static void remove_others(const char *folder, const json_t *files) {
    DIR *list = opendir(folder);
    struct dirent *entry;
    while (list && (entry = readdir(list)) != NULL) { // NOLINT(concurrency-mt-unsafe)
        if (strncmp(entry->d_name, "state-", strlen("state-")) != 0 ||
            !strstr(entry->d_name, ".safetensors") || names(files, entry->d_name))
            continue;
        char *path = path_in(folder, entry->d_name);
        (void)unlink(path);
        free(path);
    }
    if (list)
        closedir(list);
}

bool state_index_write(const char *folder, json_t *root, status *st) {
    char hex[65];
    json_object_set_new(root, "schema", json_string(STATE_SCHEMA));
    hash_of(root, hex);
    json_object_set_new(root, "sha256", json_string(hex));
    char *words = json_dumps(root, JSON_INDENT(1)), *path = path_in(folder, INDEX_NAME);
    bool ok = file_write_atomic(path, words, strlen(words), st);
    if (ok)
        remove_others(folder, json_object_get(root, "files"));
    free(words);
    free(path);
    return ok;
}
