/* export.c - see export.h. What the worker says is looked at again: it read a stranger's source. */
#include "export/export.h"

#include <dirent.h>
#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include "base/dtype.h"
#include "base/file.h"
#include "common/json_text.h"
#include "export/export_files.h"

enum { ARRAYS_MAX = 4096, RANK_MAX = 8, NAME_BYTES_MAX = 255 };

/* A language is the compiler's level, and how the rest of the file is spelled. */
struct export_language {
    const char *name, *level, *ending, *comment;
    const char *first;    /* in files/, before the level; or NULL */
    const char *open;     /* between the two */
    const char *close;    /* behind the level */
    const char *table[2]; /* how a list of arrays begins and ends; NULL: there are no tables */
    const char *array;    /* one of them: name, type, kind, bytes, rank, dimensions, digest */
    const char *none;     /* no digest */
    const char *last;     /* in files/, behind the tables; or NULL */
    const char *how;      /* the command that runs it, without the file's name */
};

static const char python_array[] =
    "    {'name': '%s', 'type': '%s', 'kind': '%c', 'size': %zu, 'rank': %d, 'dims': [%s], "
    "'recorded': %s},\n";

static const struct export_language languages[] = {
    {"c",
     "c",
     ".c",
     "//",
     NULL,
     "",
     "",
     {"static const array %s[] = {\n", "    {0}};\n"},
     "    {\"%s\", \"%s\", '%c', %zu, %d, {%s}, %s},\n",
     "NULL",
     "main.inc",
     "cc -O2 -ffp-contract=off -std=c11 %s -lm && ./a.out"},
    {"python",
     "python",
     ".py",
     "#",
     NULL,
     "",
     "\n\ndef run(arrays, results):\n    kernel(arrays + results)\n    return results\n\n\n",
     {"%s = [\n", "]\n"},
     python_array,
     "None",
     "main.py",
     "python3 %s"},
    {"stablehlo",
     "stablehlo",
     ".mlir",
     "//",
     NULL,
     "",
     "",
     {NULL, NULL},
     NULL,
     NULL,
     NULL,
     "stablehlo-translate --interpret %s"},
    {"jax",
     "stablehlo",
     ".py",
     "#",
     "jax.py",
     "\n\nPROGRAM = r'''\n",
     "'''\n\n\n",
     {"%s = [\n", "]\n"},
     python_array,
     "None",
     "main.py",
     "python3 %s"},
};

const export_language *export_language_named(const char *name) {
    for (size_t i = 0; i < sizeof languages / sizeof *languages; i++)
        if (strcmp(languages[i].name, name) == 0)
            return &languages[i];
    return NULL;
}

const char *export_language_level(const export_language *language) {
    return language->level;
}

static void put_file(text *out, const char *name) {
    for (size_t i = 0; name && i < export_files_count; i++)
        if (strcmp(export_files[i].name, name) == 0)
            text_append_bytes(out, export_files[i].data, export_files[i].size_bytes);
}

/* ---- arrays ---- */

/* An identifier, or the field of a record: "x", "experts.gate". */
static bool is_name(const char *name) {
    static const char letters[] =
        "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz_0123456789.";
    return *name && strlen(name) <= NAME_BYTES_MAX && !name[strspn(name, letters)] &&
           !strchr("0123456789.", *name);
}

static bool is_sound(const json_t *list) {
    size_t i, axis;
    json_t *one, *dim;
    bool ok = json_is_array(list) && json_array_size(list) <= ARRAYS_MAX;
    json_array_foreach((json_t *)(uintptr_t)list, i, one) {
        const json_t *dims = json_object_get(one, "dims");
        ok = ok && is_name(json_text_at(one, "name")) &&
             dtype_from_name(json_text_at(one, "type")) != DTYPE_NONE &&
             json_array_size(dims) <= RANK_MAX;
        json_array_foreach((json_t *)(uintptr_t)dims, axis, dim) ok =
            ok && json_is_integer(dim) && json_integer_value(dim) >= 0;
    }
    return ok;
}

static char kind_of(dtype type) {
    return dtype_owns_npy_descr(type) && dtype_is_float(type) ? 'f' : 'b';
}

/* `digests`: those of the outputs that were recorded, or NULL. */
static void put_array(text *out, const export_language *l, const json_t *one, const char *digest) {
    text dims, quoted;
    size_t axis;
    json_t *dim;
    dtype type = dtype_stored_as(dtype_from_name(json_text_at(one, "type")));
    text_init(&dims);
    text_init(&quoted);
    json_array_foreach(json_object_get(one, "dims"), axis, dim)
        text_printf(&dims, "%s%" PRId64, axis ? ", " : "", (int64_t)json_integer_value(dim));
    if (axis == 0 && l->none[1] == 'U') /* C has no empty list */
        text_append(&dims, "0");
    text_printf(&quoted, digest ? "\"%s\"" : "%s", digest ? digest : l->none);
    const char *name =
        strcmp(l->level, "python") == 0 && type == DTYPE_BOOL ? "boolean" : dtype_name(type);
    text_printf(out, l->array, json_text_at(one, "name"), name, kind_of(type), dtype_size(type),
                (int)axis, dims.data ? dims.data : "", quoted.data);
    text_release(&dims);
    text_release(&quoted);
}

static void put_arrays(text *out, const export_language *l, const char *name, const json_t *list,
                       const json_t *digests) {
    size_t i;
    json_t *one;
    bool all = json_array_size(digests) == json_array_size(list);
    text_printf(out, l->table[0], name);
    json_array_foreach((json_t *)(uintptr_t)list, i, one)
        put_array(out, l, one, all ? json_string_value(json_array_get(digests, i)) : NULL);
    text_append(out, l->table[1]);
}

static void put_tables(text *out, const export_request *r) {
    const export_language *l = r->language;
    const json_t *inputs = json_object_get(r->made, "inputs");
    const json_t *outputs = json_object_get(r->made, "outputs");
    const json_t *recorded =
        json_object_get(json_object_get(pack_about(r->from), "outcome"), "sha256");
    bool in_c = l->none && l->none[1] == 'U';
    if (in_c)
        text_printf(out,
                    "\ntypedef struct array {\n    const char *name, *type;\n    char kind;\n    "
                    "size_t size;\n    int rank;\n    i64 dims[%d];\n    const char *recorded;\n} "
                    "array;\nenum { INPUTS = %zu, OUTPUTS = %zu };\n",
                    (int)RANK_MAX, json_array_size(inputs), json_array_size(outputs));
    put_arrays(out, l, in_c ? "inputs" : "INPUTS", inputs, NULL);
    put_arrays(out, l, in_c ? "outputs" : "OUTPUTS", outputs, recorded);
}

/* ---- the folder ---- */

static bool open_folder(const char *folder, status *st) {
    if (!file_make_dirs(folder, st))
        return false;
    DIR *d = opendir(folder);
    if (!d)
        return status_set_errno(st, errno, "%s", folder);
    bool empty = true;
    for (struct dirent *e; (e = readdir(d));)
        empty = empty && (strcmp(e->d_name, ".") == 0 || strcmp(e->d_name, "..") == 0);
    closedir(d);
    return empty || status_set(st, STATUS_INVALID,
                               "%s is not empty: --out names a folder that is not there, or is "
                               "empty",
                               folder);
}

/* Members inputs/NAME.npy and so on, as they are: their names are plain (repro/manifest.h). */
static bool write_members(const export_request *r, status *st) {
    static const char *const kept[] = {"inputs/", "expected/", "actual/"};
    bool ok = true;
    text path;
    text_init(&path);
    for (size_t i = 0; i < pack_member_count(r->from) && ok; i++) {
        const pack_member *m = pack_member_at(r->from, i);
        for (size_t k = 0; k < sizeof kept / sizeof *kept && ok; k++)
            if (strncmp(m->name, kept[k], strlen(kept[k])) == 0) {
                text_clear(&path);
                text_printf(&path, "%s/%s", r->folder, m->name);
                ok = file_make_parent(path.data, st) &&
                     file_write_atomic(path.data, m->data, m->size_bytes, st);
            }
    }
    text_release(&path);
    return ok;
}

static bool has_inputs(const export_request *r, status *st) {
    size_t i;
    json_t *one;
    char name[NAME_BYTES_MAX + 16];
    json_array_foreach(json_object_get(r->made, "inputs"), i, one) {
        snprintf(name, sizeof name, "inputs/%s.npy", json_text_at(one, "name"));
        if (!pack_find(r->from, name))
            return status_set(st, STATUS_UNAVAILABLE,
                              "the pack left out %s, as everything beyond 64 MiB: without --as",
                              name);
    }
    return true;
}

static void put_source(text *out, const export_request *r) {
    const export_language *l = r->language;
    const json_t *item = json_object_get(pack_about(r->from), "case");
    text_printf(out, "%s %s/%s, written by tsr replay --as %s\n", l->comment,
                json_text_at(item, "kernel"), json_text_at(item, "case"), l->name);
    put_file(out, l->first);
    text_append(out, l->open);
    text_append(out, json_text_at(r->made, "text"));
    text_append(out, l->close);
    if (l->table[0])
        put_tables(out, r);
    put_file(out, l->last);
}

bool export_write(const export_request *r, text *how, status *st) {
    text source, path, file;
    const json_t *item = json_object_get(pack_about(r->from), "case");
    if (!is_sound(json_object_get(r->made, "inputs")) ||
        !is_sound(json_object_get(r->made, "outputs")) || !*json_text_at(r->made, "text"))
        return status_set(st, STATUS_CORRUPT, "its worker gave no program");
    if (!has_inputs(r, st) || !open_folder(r->folder, st))
        return false;
    text_init(&source);
    text_init(&path);
    text_init(&file);
    text_printf(&file, "%s%s", json_text_at(item, "kernel"), r->language->ending);
    text_printf(&path, "%s/%s", r->folder, file.data);
    put_source(&source, r);
    bool ok = write_members(r, st) && file_write_atomic(path.data, source.data, source.length, st);
    if (ok)
        text_printf(how, r->language->how, file.data);
    text_release(&source);
    text_release(&path);
    text_release(&file);
    return ok;
}
