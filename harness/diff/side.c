/* side.c - finds the run or the document that a word names, and its results. */
#include "diff/side.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/file.h"
#include "base/text.h"
#include "case/backend.h"
#include "job/result.h"
#include "job/result_check.h"
#include "store/store.h"

enum { DOCUMENT_BYTES_MAX = 1 << 30 };
static const char NPY_MAGIC[] = "\x93NUMPY";

/* ---- what a word is ---- */

/* Length of the file's name at the start of the word: all of it, or what stands before a colon (the
 * first such: a column may have one, too). 0: no file. */
static size_t file_length(const char *word) {
    if (file_exists(word))
        return strlen(word);
    for (const char *colon = strchr(word, ':'); colon; colon = strchr(colon + 1, ':')) {
        char *start = base_strdup(word);
        start[colon - word] = '\0';
        bool there = colon > word && file_exists(start) && !file_is_dir(start);
        free(start);
        if (there)
            return (size_t)(colon - word);
    }
    return 0;
}

static bool is_npy(const char *path) {
    char start[6] = {0};
    size_t length = strlen(path);
    if (length > 4 && strcmp(path + length - 4, ".npy") == 0)
        return true;
    FILE *file = fopen(path, "re");
    bool ok = file && fread(start, 1, sizeof start, file) == sizeof start;
    if (file)
        fclose(file);
    return ok && memcmp(start, NPY_MAGIC, sizeof start) == 0;
}

/* A file's name that is a run's, too. */
static bool is_ambiguous(const char *word, const char *database) {
    status ignored = STATUS_INIT;
    int64_t run = 0;
    if (strchr(word, '/'))
        return false;
    store *s = store_open_existing(database, &ignored);
    bool found = s && store_find_run(s, word, &run, &ignored);
    store_close(s);
    return found;
}

static bool looks_like_a_file(const char *word) {
    size_t length = strcspn(word, ":");
    return memchr(word, '/', length) || memchr(word, '.', length);
}

bool side_kind_of(const char *word, const char *database, side_kind *out, status *st) {
    *out = SIDE_RESULTS;
    size_t length = file_length(word);
    if (length == 0 && looks_like_a_file(word))
        return status_set(st, STATUS_NOT_FOUND, "there is no file %s", word);
    if (length == 0)
        return true;
    if (file_is_dir(word))
        return status_set(
            st, STATUS_INVALID,
            "%s is a folder, and none of tsr capture; diff compares .npy files, runs, "
            "files of results, and such folders",
            word);
    if (is_ambiguous(word, database))
        return status_set(st, STATUS_INVALID,
                          "'%s' is a file here and a run in %s; write ./%s for the file", word,
                          database, word);
    if (word[length] == '\0' && is_npy(word))
        *out = SIDE_TENSOR;
    return true;
}

/* ---- results ---- */

static bool take_result(void *context, const store_result *result) {
    side *s = context;
    json_t *record = json_loads(result->record, 0, NULL);
    /* A record that is no JSON is no sound result either: it is told, not left out. */
    json_array_append_new(s->results, record ? record : json_null());
    return true;
}

typedef struct run_search {
    side *side;
    int64_t number;
} run_search;

static bool take_run(void *context, const store_run *run) {
    run_search *search = context;
    if (run->number != search->number)
        return true;
    search->side->run = arena_strdup(&search->side->memory, run->id);
    search->side->arguments = json_loads(run->arguments, 0, NULL);
    search->side->head = json_loads(run->head, 0, NULL);
    return false;
}

static bool take_ceiling(void *context, const char *resource, const char *profile, double value,
                         const char *unit) {
    side *s = context;
    (void)profile;
    json_array_append_new(s->ceilings, json_pack("{s:s, s:f, s:s}", "resource", resource, "value",
                                                 value, "unit", unit));
    return true;
}

static bool take_samples(void *context, const char *key, const double *ns, size_t count) {
    side *s = context;
    json_t *list = json_array();
    for (size_t i = 0; i < count; i++)
        json_array_append_new(list, json_real(ns[i]));
    json_object_set_new(s->samples, key, list);
    return true;
}

static bool check_stored(const side *s, const char *database, status *st) {
    text from;
    text_init(&from);
    text_printf(&from, "%s: run %s", database, s->run);
    bool ok = json_is_object(s->head) ||
              status_set(st, STATUS_CORRUPT, "%s: its head is no JSON object", from.data);
    ok = ok && result_check_start(s->head, from.data, st) &&
         result_check_all(s->results, from.data, st);
    text_release(&from);
    return ok;
}

static bool read_stored(side *s, const char *run, const char *database, status *st) {
    run_search search = {.side = s};
    store *from = store_open_existing(database, st);
    if (!from)
        return st->code == STATUS_OK
                   ? status_set(st, STATUS_NOT_FOUND,
                                "'%s' is no file, and there is no database %s with a run of that "
                                "name",
                                run, database)
                   : false;
    s->ceilings = json_array();
    bool ok = store_find_run(from, run, &search.number, st) &&
              store_each_run(from, take_run, &search, st) &&
              store_each_result(from, search.number, take_result, s, st) &&
              store_each_ceiling(from, search.number, take_ceiling, s, st);
    store_close(from);
    s->stored = search.number;
    return ok && check_stored(s, database, st);
}

static bool is_newer(const char *schema) {
    static const char stem[] = "tsr.bench/";
    return schema && strncmp(schema, stem, strlen(stem)) == 0 && atoi(schema + strlen(stem)) > 1;
}

static bool read_document(side *s, const char *path, status *st) {
    char *data;
    size_t size;
    if (!file_read(path, DOCUMENT_BYTES_MAX, &data, &size, st))
        return false;
    json_error_t error;
    json_t *document = json_loadb(data, size, 0, &error);
    free(data);
    if (!document)
        return status_set(st, STATUS_CORRUPT, "%s is neither a .npy file nor JSON: line %d: %s",
                          path, error.line, error.text);
    const char *schema = json_string_value(json_object_get(document, "schema"));
    json_t *results = json_object_get(document, "results");
    bool is_golden = schema && strcmp(schema, "tsr.golden-report/1") == 0,
         ok = schema && strcmp(schema, "tsr.bench/1") == 0;
    if (is_golden) {
        const char *slash = strrchr(path, '/');
        s->run = arena_strdup(&s->memory, slash ? slash + 1 : path);
        ok = result_check_all(results, path, st);
        if (ok)
            json_array_extend(s->results, results);
    } else if (ok) {
        const char *run = json_string_value(json_object_get(document, "run"));
        s->run = arena_strdup(&s->memory, run ? run : "?");
        s->arguments = json_incref(json_object_get(document, "arguments"));
        ok = result_check_start(document, path, st) && result_check_all(results, path, st);
        if (ok)
            json_array_extend(s->results, results);
        s->ceilings = json_incref(json_object_get(document, "ceilings"));
        s->head = json_copy(document);
        json_object_del(s->head, "results");
        json_object_del(s->head, "ceilings");
    } else if (is_newer(schema)) {
        status_set(st, STATUS_CORRUPT,
                   "%s was written by a newer tsr (%s; this one knows tsr.bench/1): use that tsr",
                   path, schema);
    } else {
        status_set(st, STATUS_INVALID,
                   "%s is no document of tsr.bench/1 (tsr bench --export json=FILE writes them): "
                   "its schema is %.60s",
                   path, schema ? schema : "missing");
    }
    json_decref(document);
    return ok;
}

/* ---- narrowing ---- */

static char *cut(char *word, char at) {
    char *found = word ? strchr(word, at) : NULL;
    if (!found)
        return NULL;
    *found = '\0';
    return found + 1;
}

/* A backend of this tsr, or a column of code of others in these results. */
static bool is_configuration(const side *s, const char *name) {
    bool found = backend_from_name(name) != BACKEND_COUNT;
    for (size_t i = 0; i < json_array_size(s->results) && !found; i++) {
        const json_t *result = json_array_get(s->results, i);
        const char *column = result_string(result, RESULT_BACKEND);
        found = json_is_object(result_get(result, RESULT_IMPLEMENTATION)) && column &&
                strcmp(column, name) == 0;
    }
    return found;
}

/* BACKEND[,PROFILE] or KERNEL[/CASE][@BACKEND[,PROFILE[,THREADS]]]. */
static void parse_selection(side *s, char *words) {
    const char *first = arena_strndup(&s->memory, words, strcspn(words, ","));
    bool names_backend = is_configuration(s, first);
    char *configuration = names_backend ? words : cut(words, '@');
    if (!names_backend) {
        s->case_name = cut(words, '/');
        s->kernel = words;
    }
    s->backend = configuration;
    s->profile = cut(configuration, ',');
    s->threads = s->profile ? cut((char *)(uintptr_t)s->profile, ',') : NULL;
}

static bool agrees(const char *wanted, const json_t *result, result_field field) {
    const char *value = result_string(result, field);
    return !wanted || (value && strcmp(wanted, value) == 0);
}

static bool is_selected(const side *s, const json_t *result) {
    char threads[24];
    snprintf(threads, sizeof threads, "%" PRId64,
             (int64_t)json_integer_value(result_get(result, RESULT_THREADS)));
    return agrees(s->kernel, result, RESULT_KERNEL) && agrees(s->case_name, result, RESULT_CASE) &&
           agrees(s->backend, result, RESULT_BACKEND) &&
           agrees(s->profile, result, RESULT_PROFILE) &&
           (!s->threads || strcmp(s->threads, threads) == 0);
}

static bool narrow(side *s, const char *selection, status *st) {
    json_t *kept = json_array(), *result;
    size_t i;
    bool is_kernel = false;
    json_array_foreach(s->results, i, result) {
        is_kernel |= s->backend && !s->kernel && agrees(s->backend, result, RESULT_KERNEL);
        if (is_selected(s, result))
            json_array_append(kept, result);
    }
    json_decref(s->results);
    s->results = kept;
    if (is_kernel)
        return status_set(st, STATUS_INVALID,
                          "'%s' is a backend and a kernel of run %s; write KERNEL/CASE", s->backend,
                          s->run);
    return json_array_size(kept) > 0 ||
           status_set(st, STATUS_NOT_FOUND, "run %s has no result of '%s'; tsr log %s shows them",
                      s->run, selection, s->run);
}

bool side_open(side *s, const char *word, const char *database, status *st) {
    *s = (side){.name = word, .results = json_array()};
    arena_init(&s->memory);
    size_t length = file_length(word);
    bool is_file = length > 0;
    if (!is_file)
        length = strcspn(word, ":");
    const char *from = arena_strndup(&s->memory, word, length);
    if (!(is_file ? read_document(s, from, st) : read_stored(s, from, database, st)))
        return false;
    if (word[length] == '\0')
        return true;
    parse_selection(s, arena_strdup(&s->memory, word + length + 1));
    return narrow(s, word + length + 1, st);
}

bool side_read_samples(side *s, const char *database, status *st) {
    if (!s->stored)
        return true;
    store *from = store_open_existing(database, st);
    s->samples = json_object();
    bool ok = from && store_each_samples(from, s->stored, take_samples, s, st);
    store_close(from);
    return ok;
}

void side_close(side *s) {
    json_decref(s->results);
    json_decref(s->arguments);
    json_decref(s->head);
    json_decref(s->ceilings);
    json_decref(s->samples);
    arena_release(&s->memory);
    *s = (side){0};
}
