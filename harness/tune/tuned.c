/* tuned.c - finds the file of a kernel, and in it what was found for a case. */
#include "tune/tuned.h"

#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#include "base/file.h"
#include "case/backend.h"
#include "case/case.h"
#include "common/json_text.h"
#include "common/say.h"
#include "device/host/host.h"
#include "exec/module_cache.h"

void tuned_open(tuned_files *t, const char *usual, bool named) {
    *t = (tuned_files){.usual = usual, .named = named};
}

void tuned_release(tuned_files *t) {
    for (size_t i = 0; i < t->files.count; i++) {
        tune_cache_release(&t->files.items[i]->cache);
        free(t->files.items[i]->path);
        free(t->files.items[i]);
    }
    vec_release(&t->files);
}

/* ---- places that a source names ---- */

/* "~/x" is below the home; everything else must be absolute, without ways back up. */
static bool expand(const char *given, text *out) {
    const char *home = getenv("HOME");
    if (strncmp(given, "~/", 2) == 0 && home && *home == '/')
        text_printf(out, "%s%s", home, given + 1);
    else
        text_append(out, given);
    size_t length = out->length;
    return out->data[0] == '/' && out->data[length - 1] != '/' && !strstr(out->data, "/../") &&
           !(length > 2 && strcmp(out->data + length - 3, "/..") == 0);
}

/* The nearest folder of a path that is there, with its links followed. */
static bool real_folder(const char *path, char out[PATH_MAX]) {
    text above;
    text_init(&above);
    text_append(&above, path);
    bool found = false;
    for (char *slash; !found && (slash = strrchr(above.data, '/'));) {
        *slash = '\0';
        found = realpath(slash == above.data ? "/" : above.data, out) != NULL;
    }
    text_release(&above);
    return found;
}

static bool is_below(const char *path, const char *folder, size_t length) {
    char root[PATH_MAX], real[PATH_MAX];
    char *given = base_strdup(folder);
    given[length] = '\0';
    size_t kept = 0;
    bool below = *given == '/' && realpath(given, root) && real_folder(path, real);
    if (below) {
        kept = strlen(root);
        below = strncmp(real, root, kept) == 0 && (real[kept] == '/' || real[kept] == '\0');
    }
    free(given);
    return below;
}

/* Checks that sources may have this file written: it is no link and no folder, and stands where the
 * user keeps caches or has said that it may. */
static bool is_permitted(const char *path) {
    const char *also = getenv("TSR_TUNED_FOLDERS");
    struct stat info;
    status ignored = STATUS_INIT;
    if (lstat(path, &info) == 0 && !S_ISREG(info.st_mode))
        return false;
    char *usual = module_cache_folder(&ignored);
    bool permitted = usual && is_below(path, usual, strlen(usual));
    free(usual);
    for (const char *at = also ? also : ""; *at && !permitted;) {
        size_t length = strcspn(at, ":");
        permitted = length > 0 && is_below(path, at, length);
        at += length + (at[length] == ':');
    }
    return permitted;
}

char *tuned_place(const tuned_files *t, const compiler_kernel *kernel, text *why) {
    const char *wanted = kernel->knobs->cache;
    text path;
    if (t->named || !wanted)
        return base_strdup(t->usual);
    text_init(&path);
    char *place = NULL;
    if (!expand(wanted, &path)) {
        if (why)
            text_printf(why, "'%s' is no absolute path of a file", wanted);
    } else if (is_permitted(path.data)) {
        place = text_take(&path);
    } else if (why) {
        text_printf(why,
                    "sources may name files below the folder of your caches and of "
                    "$TSR_TUNED_FOLDERS, and '%s' is none",
                    wanted);
    }
    text_release(&path);
    return place ? place : base_strdup(t->usual);
}

/* ---- what they say ---- */

const tune_cache *tuned_cache(tuned_files *t, const char *path) {
    status st = STATUS_INIT;
    for (size_t i = 0; i < t->files.count; i++)
        if (strcmp(t->files.items[i]->path, path) == 0)
            return &t->files.items[i]->cache;
    tuned_file *file = base_calloc(1, sizeof *file);
    file->path = base_strdup(path);
    if (!tune_cache_read(path, &file->cache, &st)) {
        say(stderr, "tsr: %s; no tuned schedules are used\n", st.message);
        json_object_clear(file->cache.entries);
    }
    say_text(stderr, file->cache.complaints.data);
    vec_push(&t->files, file);
    return &file->cache;
}

/* A cache is a file like any other. */
static bool is_sound(const tuned_question *q, const char *space) {
    status st = STATUS_INIT;
    compiler_code own, chosen;
    const compiler_case *c = compiler_case_choose(q->source, q->kernel, q->c, space, &st);
    compiler_instance *instance = c ? case_instance(q->source, q->kernel, c, &st) : NULL;
    bool sound = instance && compiler_code_of(q->instance, &own, &st) &&
                 compiler_code_of(instance, &chosen, &st) &&
                 (compiler_relate(&own, &chosen) != COMPILER_ANOTHER_ORDER ||
                  status_set(&st, STATUS_INVALID, "these tiles add in another order"));
    if (!sound)
        say(stderr, "tsr: %s/%s: what was tuned is not used, %s: %s\n", q->kernel->name, q->c->name,
            space, st.message);
    compiler_instance_free(instance);
    return sound;
}

bool tuned_find(tuned_files *t, const tuned_question *q, tuned_choice *out) {
    *out = (tuned_choice){NULL, NULL};
    if (!t->usual)
        return false;
    char *path = tuned_place(t, q->kernel, NULL);
    const tune_cache *cache = tuned_cache(t, path);
    free(path);
    if (json_object_size(cache->entries) == 0)
        return false;
    job j = *q->job;
    j.kernel = q->kernel->name;
    j.case_name = q->c->name;
    char *key = tune_key(q->instance, q->c, j.isa ? j.isa : host_isa(), &j);
    const json_t *entry = tune_cache_find(cache, key);
    /* Estimates are for what nothing times. */
    if (j.backend && backend_named(j.backend)->timed && *json_text_at(entry, "by"))
        entry = NULL;
    const char *schedule = json_text_at(entry, "schedule"), *space = json_text_at(entry, "space");
    out->schedule = *schedule ? schedule : NULL;
    out->space = *space ? space : NULL;
    free(key);
    return (out->schedule || out->space) && (!out->space || is_sound(q, space));
}
