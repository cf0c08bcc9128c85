/* side_modules.c - modules that somebody compiled: a file, or a folder of them. */
#include <dirent.h>
#include <stdlib.h>
#include <string.h>

#include "base/file.h"
#include "case/backend.h"
#include "gate/side.h"
#include "module.h"

enum { MODULE_BYTES_MAX = 1 << 28 };
static const char SUFFIX[] = ".tsrm";

static bool is_module(const char *name) {
    size_t length = strlen(name), end = strlen(SUFFIX);
    return length > end && strcmp(name + length - end, SUFFIX) == 0;
}

static bool metadata_of(const char *path, const void *image, size_t bytes, json_t **out,
                        status *st) {
    module_part part;
    if (!module_check(image, bytes, st))
        return status_set(st, STATUS_CORRUPT, "%s", path);
    bool found = module_find(image, bytes, "metadata", &part);
    *out = found ? json_loadb(part.data, part.size_bytes, 0, NULL) : NULL;
    const char *schema = json_string_value(json_object_get(*out, "schema"));
    if (schema && strcmp(schema, "tsr.module/2") == 0 &&
        json_is_string(json_object_get(*out, "name")))
        return true;
    json_decref(*out);
    return status_set(st, STATUS_CORRUPT, "%s: the module has no metadata of tsr.module/2", path);
}

static char *text_of(const json_t *metadata, const char *name, const char *otherwise) {
    const char *value = json_string_value(json_object_get(metadata, name));
    return base_strdup(value ? value : otherwise);
}

/* KERNEL-CASE.tsrm is that case of the corpus; any other name is a case of its own. */
static const corpus_case *item_of(const corpus *c, const char *kernel, const char *stem) {
    size_t length = strlen(kernel);
    if (strncmp(stem, kernel, length) != 0 || stem[length] != '-')
        return NULL;
    return c ? corpus_case_named(c, kernel, stem + length + 1) : NULL;
}

/* `stem`: what a folder calls it; NULL for a single file, whose name does not matter. */
static bool add_file(gate_side *a, const gate_side_request *request, const char *path,
                     const char *stem, status *st) {
    char *image;
    size_t bytes;
    json_t *metadata = NULL;
    if (!file_read(path, MODULE_BYTES_MAX, &image, &bytes, st))
        return false;
    if (!metadata_of(path, image, bytes, &metadata, st)) {
        free(image);
        return false;
    }
    const char *kernel = json_string_value(json_object_get(metadata, "name"));
    const corpus_case *item = item_of(request->corpus, kernel, stem ? stem : kernel);
    char *profile = text_of(metadata, "profile", "strict");
    uint32_t threads = request->choice->threads[0];
    text key;
    text_init(&key);
    const char *case_name = item ? item->c->name : stem ? stem : "module";
    text_printf(&key, "%s/%s@cpu,%s,%u", kernel, case_name, profile, threads);
    bool wanted = gate_side_wants(request, kernel, case_name, profile, 0) &&
                  (item || !stem || !request->query->dims);
    gate_side_unit *unit = wanted ? gate_side_add(a, key.data) : NULL;
    if (unit && !unit->kernel) {
        unit->kernel = base_strdup(kernel);
        unit->case_name = base_strdup(case_name);
        unit->backend = base_strdup(backend_table[BACKEND_CPU].name);
        unit->profile = base_strdup(profile);
        unit->threads = threads;
        unit->item = item;
        gate_side_set_image(unit, image, bytes);
    } else {
        free(image);
    }
    text_release(&key);
    free(profile);
    json_decref(metadata);
    return true;
}

static int by_name(const struct dirent **a, const struct dirent **b) {
    return strcmp((*a)->d_name, (*b)->d_name);
}

static bool add_folder(gate_side *a, const gate_side_request *request, const char *folder,
                       status *st) {
    struct dirent **entries;
    int count = scandir(folder, &entries, NULL, by_name);
    bool ok = count >= 0 || status_set(st, STATUS_INVALID, "cannot read %s", folder);
    for (int i = 0; i < count; i++) {
        const char *name = entries[i]->d_name;
        if (ok && is_module(name)) {
            text path;
            text_init(&path);
            text_printf(&path, "%s/%s", folder, name);
            char *stem = base_strdup(name);
            stem[strlen(name) - strlen(SUFFIX)] = '\0';
            ok = add_file(a, request, path.data, stem, st);
            free(stem);
            text_release(&path);
        }
        free(entries[i]);
    }
    if (count >= 0)
        free(entries);
    if (ok && a->units.count == 0)
        ok =
            status_set(st, STATUS_INVALID, "%s holds no module (%s) that is meant", folder, SUFFIX);
    return ok;
}

bool gate_side_open_modules(gate_side *a, const gate_side_request *request, const char *path,
                            status *st) {
    a->kind = GATE_SIDE_MODULES;
    return file_is_dir(path) ? add_folder(a, request, path, st)
                             : add_file(a, request, path, NULL, st);
}
