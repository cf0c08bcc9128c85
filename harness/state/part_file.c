/* part_file.c - see part_file.h. */
#include "state/part_file.h"

#include <stdlib.h>
#include <string.h>

#include <jansson.h>

#include "base/arena.h"
#include "base/sha256.h"
#include "state/grid.h"
#include "state/part.h"
#include "state/safetensors.h"

/* One tensor of an order, as its shards are gone through. */
typedef struct tensor_order {
    uint32_t input;
    dtype type;
    json_t *shards;
    char *part; /* all that the rank has of it */
    shard_part place;
    tensor shard; /* its shape */
} tensor_order;

static const char *word_of(const json_t *object, const char *key) {
    const char *word = json_string_value(json_object_get(object, key));
    return word ? word : "";
}

/* Shape and place of a shard. */
static void take_shard(tensor_order *t, const json_t *shard) {
    const json_t *dims = json_object_get(shard, "dims"), *at = json_object_get(shard, "at");
    t->shard = (tensor){.type = t->type, .rank = (int)json_array_size(dims)};
    t->place = (shard_part){.element_bytes = (uint32_t)dtype_size(t->type),
                            .rank = (uint32_t)t->shard.rank};
    for (int d = 0; d < t->shard.rank && d < TENSOR_MAX_RANK; d++) {
        const json_t *span = json_array_get(at, (size_t)d);
        const int64_t number = json_integer_value(json_array_get(span, 0)),
                      of = json_integer_value(json_array_get(span, 1));
        t->shard.dims[d] = json_integer_value(json_array_get(dims, (size_t)d));
        t->place.dims[d] = t->shard.dims[d];
        t->place.whole[d] = t->shard.dims[d] * of;
        t->place.axes[d] = 1;
        t->place.spans[d][0] = (shard_span){number, 1, of};
    }
}

static tensor_order open_tensor(const json_t *order) {
    tensor_order t = {.input = (uint32_t)json_integer_value(json_object_get(order, "input")),
                      .type = dtype_from_name(word_of(order, "type")),
                      .shards = json_object_get(order, "shards")};
    take_shard(&t, json_array_get(t.shards, 0));
    t.part = base_malloc(part_whole_bytes(&t.place) + 1);
    return t;
}

static void hash_of(const tensor *t, char out[65]) {
    const sha256 digest = sha256_of(t->data, tensor_bytes(t));
    sha256_hex(&digest, out);
}

/* ---- kept ---- */

typedef VEC(safetensors_named) named_list;
typedef VEC(tensor *) tensor_list;

static bool keep_tensor(const json_t *order, const part_buffers *b, tensor_list *kept,
                        named_list *named, status *st) {
    size_t i;
    json_t *shard;
    tensor_order t = open_tensor(order);
    bool ok = b->read(b->context, t.input, t.part, st);
    json_array_foreach(t.shards, i, shard) {
        if (!ok)
            break;
        take_shard(&t, shard);
        tensor *own = base_calloc(1, sizeof *own);
        ok = tensor_init(own, t.type, t.shard.rank, t.shard.dims, st);
        if (ok)
            part_take(&t.place, t.part, own->data);
        const safetensors_named one = {word_of(shard, "name"), own};
        vec_push(kept, own);
        vec_push(named, one);
    }
    free(t.part);
    return ok;
}

bool part_file_keep(const char *order, const part_buffers *b, text *hashes, status *st) {
    json_t *root = json_loads(order, 0, NULL), *one;
    named_list named = {0};
    tensor_list kept = {0};
    size_t i;
    bool ok = root != NULL || status_set(st, STATUS_INTERNAL, "an order to keep states is no JSON");
    json_array_foreach(json_object_get(root, "tensors"), i, one) ok =
        ok && keep_tensor(one, b, &kept, &named, st);
    ok = ok && safetensors_write(word_of(root, "file"), named.items, named.count,
                                 json_object_get(root, "metadata"), st);
    for (i = 0; i < kept.count; i++) {
        char hex[65];
        if (ok) {
            hash_of(kept.items[i], hex);
            text_printf(hashes, "%s\n", hex);
        }
        tensor_release(kept.items[i]);
        free(kept.items[i]);
    }
    vec_release(&named);
    vec_release(&kept);
    json_decref(root);
    return ok;
}

/* ---- taken ---- */

/* Files stay open from shard to shard. */
typedef struct taking {
    const json_t *order;
    const char *index;
    VEC(safetensors *) files;
    const part_buffers *buffers;
} taking;

#define WHAT_TO_DO "bring back the file as it was kept, or begin anew in another folder"

static bool is_of_index(const taking *g, const safetensors *file, status *st) {
    const char *key;
    json_t *value;
    json_object_foreach(json_object_get(g->order, "metadata"), key, value) {
        const char *own = safetensors_metadata(file, key);
        if (!own || strcmp(own, json_string_value(value)) != 0)
            return status_set(st, STATUS_CORRUPT,
                              "%s is of another state than %s, which names it: its %s is %.80s, "
                              "not %.80s; " WHAT_TO_DO,
                              file->path, g->index, key, own ? own : "not there",
                              json_string_value(value));
    }
    return true;
}

static const safetensors *file_of(taking *g, const char *path, status *st) {
    for (size_t i = 0; i < g->files.count; i++)
        if (strcmp(g->files.items[i]->path, path) == 0)
            return g->files.items[i];
    safetensors *file = base_calloc(1, sizeof *file);
    status why = STATUS_INIT;
    bool ok = safetensors_open(file, path, &why);
    if (!ok)
        status_set(st, why.code == STATUS_IO ? STATUS_CORRUPT : why.code,
                   "%.300s; %s names it: " WHAT_TO_DO, why.message, g->index);
    ok = ok && is_of_index(g, file, st);
    if (ok) {
        vec_push(&g->files, file);
        return file;
    }
    safetensors_close(file);
    free(file);
    return NULL;
}

static bool has_shape(const tensor *wanted, const safetensors_entry *e) {
    bool same = e->rank == wanted->rank;
    for (int d = 0; d < wanted->rank && same; d++)
        same = e->dims[d] == wanted->dims[d];
    return same;
}

static bool read_shard(taking *g, tensor_order *t, const json_t *shard, status *st) {
    const char *name = word_of(shard, "name");
    char hex[65];
    take_shard(t, shard);
    const safetensors *file = file_of(g, word_of(shard, "file"), st);
    if (!file)
        return false;
    const safetensors_entry *e = safetensors_find(file, name);
    if (!e || !has_shape(&t->shard, e))
        return status_set(st, STATUS_CORRUPT,
                          "%s has no tensor '%.100s' of the shape that %s has; " WHAT_TO_DO,
                          file->path, name, g->index);
    tensor own;
    if (!safetensors_read(file, e, t->type, &own, st))
        return false;
    hash_of(&own, hex);
    const bool ok =
        (own.type == t->type && strcmp(hex, word_of(shard, "sha256")) == 0) ||
        status_set(
            st, STATUS_CORRUPT,
            "%s: tensor '%.100s' is not what was kept: %s has another hash of it; " WHAT_TO_DO,
            file->path, name, g->index);
    if (ok)
        part_put(&t->place, own.data, t->part);
    tensor_release(&own);
    return ok;
}

static bool take_tensor(taking *g, const json_t *order, status *st) {
    size_t i;
    json_t *shard;
    tensor_order t = open_tensor(order);
    bool ok = true;
    json_array_foreach(t.shards, i, shard) ok = ok && read_shard(g, &t, shard, st);
    ok = ok && g->buffers->write(g->buffers->context, t.input, t.part, st);
    free(t.part);
    return ok;
}

bool part_file_take(const char *order, const part_buffers *b, status *st) {
    json_t *root = json_loads(order, 0, NULL), *one;
    taking g = {.order = root, .index = word_of(root, "index"), .buffers = b};
    size_t i;
    bool ok = root != NULL || status_set(st, STATUS_INTERNAL, "an order to take states is no JSON");
    json_array_foreach(json_object_get(root, "tensors"), i, one) ok =
        ok && take_tensor(&g, one, st);
    for (i = 0; i < g.files.count; i++) {
        safetensors_close(g.files.items[i]);
        free(g.files.items[i]);
    }
    vec_release(&g.files);
    json_decref(root);
    return ok;
}
