/* tally.c - a small JSON file under a lock. */
#include "fuzz/tally.h"

#include <jansson.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/file.h"
#include "common/build_id.h"
#include "common/json_text.h"

enum { FILE_BYTES_MAX = 1 << 20 };
#define SCHEMA "tsr.fuzz/1"

/* The document; an empty one where there is no file yet, or one of another build. */
static json_t *read_document(const char *path, status *st) {
    char *data = NULL;
    size_t size = 0;
    json_t *document = NULL;
    if (file_exists(path)) {
        if (!file_read(path, FILE_BYTES_MAX, &data, &size, st))
            return NULL;
        document = json_loadb(data, size, 0, NULL);
        free(data);
        if (strcmp(json_text_at(document, "schema"), SCHEMA) != 0) {
            status_set(st, STATUS_CORRUPT, "%s is no count of tsr fuzz; move it away", path);
            json_decref(document);
            return NULL;
        }
    }
    if (document && strcmp(json_text_at(document, "program"), build_id()) == 0)
        return document;
    json_decref(document);
    return json_pack("{s:s, s:s, s:[]}", "schema", SCHEMA, "program", build_id(), "seeds");
}

static tally from_json(const json_t *row) {
    tally t = {.seed = (uint64_t)json_integer_value(json_object_get(row, "seed")),
               .next = (uint64_t)json_integer_value(json_object_get(row, "next")),
               .kernels = (uint64_t)json_integer_value(json_object_get(row, "kernels")),
               .runs = (uint64_t)json_integer_value(json_object_get(row, "runs")),
               .failures = (uint64_t)json_integer_value(json_object_get(row, "failures"))};
    const char *profiles = json_string_value(json_object_get(row, "profiles"));
    snprintf(t.profiles, sizeof t.profiles, "%s", profiles ? profiles : "");
    return t;
}

static bool same_row(const tally *a, const tally *b) {
    return a->seed == b->seed && strcmp(a->profiles, b->profiles) == 0;
}

static json_t *to_json(const tally *t) {
    return json_pack("{s:I, s:s, s:I, s:I, s:I, s:I}", "seed", (json_int_t)t->seed, "profiles",
                     t->profiles, "next", (json_int_t)t->next, "kernels", (json_int_t)t->kernels,
                     "runs", (json_int_t)t->runs, "failures", (json_int_t)t->failures);
}

bool tally_read(const char *path, uint64_t seed, const char *profiles, tally *out, status *st) {
    json_t *document = read_document(path, st), *row;
    size_t i;
    *out = (tally){.seed = seed};
    snprintf(out->profiles, sizeof out->profiles, "%s", profiles);
    json_array_foreach(json_object_get(document, "seeds"), i, row) {
        tally t = from_json(row);
        if (same_row(&t, out))
            *out = t;
    }
    json_decref(document);
    return document != NULL;
}

static void replace(json_t *seeds, const tally *t) {
    size_t i = 0;
    for (; i < json_array_size(seeds); i++) {
        tally row = from_json(json_array_get(seeds, i));
        if (same_row(&row, t))
            break;
    }
    if (i < json_array_size(seeds))
        json_array_set_new(seeds, i, to_json(t));
    else
        json_array_append_new(seeds, to_json(t));
}

bool tally_write(const char *path, const tally *t, status *st) {
    if (!file_make_parent(path, st))
        return false;
    int lock = file_lock_beside(path, st);
    json_t *document = lock >= 0 ? read_document(path, st) : NULL;
    bool ok = document != NULL;
    if (ok) {
        replace(json_object_get(document, "seeds"), t);
        char *words = json_dumps(document, JSON_INDENT(1));
        ok = file_write_atomic(path, words, strlen(words), st);
        free(words);
    }
    json_decref(document);
    if (lock >= 0)
        close(lock);
    return ok;
}

bool tally_total(const char *path, const char *profiles, uint64_t *kernels, uint64_t *failures,
                 status *st) {
    json_t *document = read_document(path, st), *row;
    size_t i;
    *kernels = *failures = 0;
    json_array_foreach(json_object_get(document, "seeds"), i, row) {
        tally t = from_json(row);
        bool counted = strcmp(t.profiles, profiles) == 0;
        *kernels += counted ? t.kernels : 0;
        *failures += counted ? t.failures : 0;
    }
    json_decref(document);
    return document != NULL;
}
