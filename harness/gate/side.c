/* side.c - what a word names, and the sides that compile. */
#include "gate/side.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/file.h"
#include "case/backend.h"
#include "common/say.h"
#include "common/scratch_folder.h"
#include "device/host/host.h"
#include "exec/module_cache.h"
#include "module.h"
#include "process/checkout.h"
#include "process/program.h"
#include "store/store.h"

enum { MODULE_BYTES_MAX = 1 << 28 };

static const char *const kind_names[GATE_SIDE_KIND_COUNT] = {
    [GATE_SIDE_BUILD] = "build",     [GATE_SIDE_COMMIT] = "commit",
    [GATE_SIDE_MODULES] = "modules", [GATE_SIDE_RUN] = "run",
    [GATE_SIDE_FILE] = "file",       [GATE_SIDE_IMPLEMENTATION] = "implementation",
};

const char *gate_side_kind_name(gate_side_kind kind) {
    return kind_names[kind];
}

bool gate_side_is_recorded(const gate_side *a) {
    return a->kind == GATE_SIDE_RUN || a->kind == GATE_SIDE_FILE;
}

/* ---- units ---- */

gate_side_unit *gate_side_find(const gate_side *a, const char *key) {
    intptr_t index;
    return map_get(&a->by_key, key, &index) ? &a->units.items[index - 1] : NULL;
}

gate_side_unit *gate_side_add(gate_side *a, const char *key) {
    gate_side_unit *there = gate_side_find(a, key);
    if (there)
        return there;
    gate_side_unit fresh = {.key = base_strdup(key)};
    vec_push(&a->units, fresh);
    map_put(&a->by_key, key, (intptr_t)a->units.count);
    return &a->units.items[a->units.count - 1];
}

void gate_side_set_image(gate_side_unit *unit, void *image, size_t bytes) {
    sha256 digest = sha256_of(image, bytes);
    free(unit->image);
    unit->image = image;
    unit->image_bytes = bytes;
    sha256_hex(&digest, unit->hash);
}

static void release_unit(gate_side_unit *unit) {
    free(unit->key);
    free(unit->kernel);
    free(unit->case_name);
    free(unit->backend);
    free(unit->profile);
    free(unit->image);
    free(unit->problem);
    for (size_t i = 0; i < unit->records.count; i++)
        json_decref(unit->records.items[i]);
    vec_release(&unit->records);
}

void gate_side_close(gate_side *a) {
    for (size_t i = 0; i < a->units.count; i++)
        release_unit(&a->units.items[i]);
    vec_release(&a->units);
    map_release(&a->by_key);
    job_plan_release(&a->plan);
    if (a->items == &a->corpus)
        corpus_release(&a->corpus);
    if (a->code)
        implementation_release(a->code);
    free(a->code);
    scratch_folder_close(&a->folder);
    json_decref(a->heads);
    json_decref(a->documents);
    free(a->name);
    free(a->detail);
    free(a->tool);
    *a = (gate_side){0};
}

static bool is_chosen(const job_choice *choice, uint32_t threads) {
    for (uint32_t i = 0; i < choice->thread_count; i++)
        if (choice->threads[i] == threads)
            return true;
    return threads == 0;
}

bool gate_side_wants(const gate_side_request *request, const char *kernel, const char *case_name,
                     const char *profile, uint32_t threads) {
    char name[512];
    snprintf(name, sizeof name, "%s/%s", kernel, case_name);
    compiler_profile p = profile_from_name(profile);
    return corpus_query_wants(request->query, kernel, name) &&
           (!request->profiles_chosen || (p != PROFILE_COUNT && request->choice->profiles[p])) &&
           (!request->threads_chosen || is_chosen(request->choice, threads));
}

/* ---- sides that compile ---- */

void gate_side_plan(gate_side *a, const job_choice *choice) {
    job_plan_make(&a->plan, a->items, choice, JOB_BENCH);
    for (size_t i = 0; i < a->plan.jobs.count; i++) {
        job j = a->plan.jobs.items[i];
        if (j.implementation) /* files of two names are compared */
            j.backend = backend_table[BACKEND_IMPLEMENTATION].name;
        text key;
        text_init(&key);
        job_key(&j, &key);
        gate_side_unit *unit = gate_side_add(a, key.data);
        unit->kernel = base_strdup(j.kernel);
        unit->case_name = base_strdup(j.case_name);
        unit->backend = base_strdup(j.backend);
        unit->profile = base_strdup(j.profile);
        unit->threads = j.threads;
        unit->item = corpus_case_named(a->items, j.kernel, j.case_name);
        text_release(&key);
    }
}

/* The program in a build folder. Owned; NULL: there is none. */
static char *tool_in(const char *folder) {
    text path;
    text_init(&path);
    text_printf(&path, "%s/tsr", folder);
    char *tool = access(path.data, X_OK) == 0 ? realpath(path.data, NULL) : NULL;
    text_release(&path);
    return tool;
}

static bool open_build(gate_side *a, const gate_side_request *request, const char *tool,
                       status *st) {
    char *resolved = tool && file_is_dir(tool) ? tool_in(tool) : tool ? realpath(tool, NULL) : NULL;
    if (tool && (!resolved || access(resolved, X_OK) != 0)) {
        free(resolved);
        return status_set(st, STATUS_NOT_FOUND, "%s is no tsr program, nor a folder with one",
                          tool);
    }
    a->kind = GATE_SIDE_BUILD;
    a->tool = resolved;
    a->detail = resolved ? base_strdup(resolved) : NULL;
    a->items = request->corpus;
    gate_side_plan(a, request->choice);
    return true;
}

/* The corpus as it was; what this tsr cannot read of it is told, and missing. */
static bool load_corpus(gate_side *a, const gate_side_request *request, const char *name,
                        const char *folder, status *st) {
    corpus_query query = *request->query;
    const char **paths = base_calloc(query.path_count + 1, sizeof *paths);
    bool ok = true;
    for (size_t i = 0; i < query.path_count && ok; i++)
        ok = (paths[i] = checkout_path(folder, query.paths[i], st)) != NULL &&
             (file_exists(paths[i]) ||
              status_set(st, STATUS_INVALID,
                         "%s is not in %s (%.10s); choose a commit that has it, or other paths",
                         query.paths[i], name, a->detail));
    query.paths = paths;
    if (ok) {
        text diagnostics;
        text_init(&diagnostics);
        a->items = &a->corpus;
        ok = corpus_load(&a->corpus, &query, &diagnostics, st);
        say_diagnostics(stderr, diagnostics.data);
        text_release(&diagnostics);
    }
    for (size_t i = 0; i < query.path_count; i++)
        free((char *)(uintptr_t)paths[i]);
    free(paths);
    return ok;
}

static bool open_commit(gate_side *a, const gate_side_request *request, const char *name,
                        status *st) {
    char commit[65];
    char *folder = checkout_make(name, request->build, commit, st);
    a->kind = GATE_SIDE_COMMIT;
    if (!folder)
        return false;
    a->detail = base_strdup(commit);
    if (request->build) {
        text tool;
        text_init(&tool);
        text_printf(&tool, "%s/build/tsr", folder);
        a->tool = realpath(tool.data, NULL);
        text_release(&tool);
    }
    bool ok = load_corpus(a, request, name, folder, st);
    if (ok)
        gate_side_plan(a, request->choice);
    free(folder);
    return ok;
}

/* ---- what a word names ---- */

static bool is_run(const char *names, const char *database) {
    status ignored = STATUS_INIT;
    char first[128];
    int64_t run = 0;
    snprintf(first, sizeof first, "%.*s", (int)strcspn(names, ",:"), names);
    store *s = store_open_existing(database, &ignored);
    bool found = s && store_find_run(s, first, &run, &ignored);
    store_close(s);
    return found;
}

static bool is_module_file(const char *path) {
    size_t length = strlen(path);
    return length > 5 && strcmp(path + length - 5, ".tsrm") == 0;
}

static bool has_tool(const char *folder) {
    char *tool = tool_in(folder);
    free(tool);
    return tool != NULL;
}

static bool kind_of_path(const char *path, gate_side_kind *kind) {
    char first[4096];
    struct stat info;
    snprintf(first, sizeof first, "%.*s", (int)strcspn(path, ","), path);
    if (stat(first, &info) != 0)
        return false;
    if (S_ISDIR(info.st_mode) && has_tool(first))
        *kind = GATE_SIDE_BUILD;
    else if (S_ISDIR(info.st_mode) || is_module_file(first))
        *kind = GATE_SIDE_MODULES;
    else
        *kind = access(first, X_OK) == 0 ? GATE_SIDE_BUILD : GATE_SIDE_FILE;
    return true;
}

/* KIND:NAME says it; otherwise what is there. Something that is two things must be said. */
static bool kind_of(const char *what, const char *database, gate_side_kind *kind, const char **name,
                    status *st) {
    *name = what;
    for (int i = 0; i < GATE_SIDE_KIND_COUNT; i++) {
        size_t length = strlen(kind_names[i]);
        if (strncmp(what, kind_names[i], length) == 0 && what[length] == ':') {
            *kind = (gate_side_kind)i;
            *name = what + length + 1;
            return **name || status_set(st, STATUS_INVALID, "'%s' names nothing", what);
        }
    }
    bool path = kind_of_path(what, kind), run = is_run(what, database);
    bool plain = !strchr(what, '/');
    bool commit = !path && plain && !run && checkout_is_commit(what);
    if (path && run && plain)
        return status_set(st, STATUS_INVALID,
                          "'%s' is a file here and a run in %s: write file:%s or run:%s", what,
                          database, what, what);
    if (!path && run)
        *kind = GATE_SIDE_RUN;
    if (!path && !run && (commit || checkout_is_commit(what)))
        *kind = GATE_SIDE_COMMIT;
    else if (!path && !run)
        return status_set(st, STATUS_NOT_FOUND,
                          "'%s' is no file or folder here, no run in %s, and no commit", what,
                          database);
    return true;
}

bool gate_side_open(gate_side *a, const gate_side_request *request, status *st) {
    *a = (gate_side){.name = base_strdup(request->what ? request->what : "this tsr")};
    map_init(&a->by_key);
    const char *name;
    if (!request->what)
        return open_build(a, request, NULL, st);
    if (!kind_of(request->what, request->database, &a->kind, &name, st))
        return false;
    switch (a->kind) {
    case GATE_SIDE_BUILD:
        return open_build(a, request, name, st);
    case GATE_SIDE_COMMIT:
        return open_commit(a, request, name, st);
    case GATE_SIDE_MODULES:
        return gate_side_open_modules(a, request, name, st);
    case GATE_SIDE_IMPLEMENTATION:
        return gate_side_open_implementation(a, request, name, st);
    default:
        return gate_side_open_records(a, request, name, st);
    }
}

/* ---- compiling ---- */

static bool compile_here(const gate_side_unit *unit, const job *j, const job_choice *choice,
                         compiler_instance *instance, gate_side_module *out, status *st) {
    compiler_options options = job_compiler_options(j, unit->item->kernel);
    compiler_artifact made = {0};
    bool cached;
    if (!module_cache_build(choice->cache[0] ? choice->cache : NULL, instance, &options, &made,
                            &cached, st))
        return false;
    *out = (gate_side_module){made.image, made.image_size};
    return true;
}

static const char *first_line(text *said) {
    said->data[strcspn(said->data, "\n")] = '\0';
    return said->data;
}

/* A program that ends with 0 and leaves something else is no compiler, nor is one that compiled
 * another kernel: equal files of two such would say nothing. */
static bool check_made(const gate_side *a, const job *j, const gate_side_module *made, status *st) {
    module_part part;
    status why = STATUS_INIT;
    json_t *metadata = module_check(made->image, made->bytes, &why) &&
                               module_find(made->image, made->bytes, "metadata", &part)
                           ? json_loadb(part.data, part.size_bytes, 0, NULL)
                           : NULL;
    const char *name = json_string_value(json_object_get(metadata, "name"));
    bool ok = name && strcmp(name, j->kernel) == 0;
    if (!ok)
        status_set(st, STATUS_INVALID, "%s compile left no module of %s%s%s", a->tool, j->kernel,
                   why.code == STATUS_OK ? "" : ": ", why.message);
    json_decref(metadata);
    return ok;
}

/* Asks the other tsr for the module, in a file: with the kernel's own schedule, as this one makes
 * it, and not what was tuned for either. */
static bool compile_there(const gate_side *a, const job *j, gate_side_module *out, status *st) {
    char threads[16];
    int code = 0;
    scratch_folder folder;
    text path, said, untuned;
    if (!scratch_folder_open(&folder, NULL, SCRATCH_FOLDER_PREFIX, st))
        return false;
    text_init(&path);
    text_init(&untuned);
    text_printf(&untuned, "TSR_TUNED=%s/none", folder.path);
    text_init(&said);
    text_printf(&path, "%s/module", folder.path);
    snprintf(threads, sizeof threads, "%u", j->threads);
    const bool fixed = j->dims && !*j->dims; /* its only case has no dimensions to name */
    const char *const arguments[] = {"env",
                                     untuned.data,
                                     a->tool,
                                     "compile",
                                     j->path,
                                     "--kernel",
                                     j->kernel,
                                     "--profile",
                                     j->profile,
                                     "--threads",
                                     threads,
                                     "--isa",
                                     j->isa ? j->isa : host_isa(),
                                     "--emit",
                                     "module",
                                     "-o",
                                     path.data,
                                     fixed     ? NULL
                                     : j->dims ? "--dims"
                                               : "--case",
                                     j->dims ? j->dims : j->case_name,
                                     NULL};
    program p = {.arguments = arguments, .output = &said, .errors = &said};
    char *image = NULL;
    bool ok = program_run(&p, &code, st);
    if (ok && code != 0)
        ok = status_set(st, STATUS_INVALID, "%.900s", first_line(&said));
    else if (ok && !file_exists(path.data))
        ok = status_set(st, STATUS_INVALID, "%s compile left no module of %s", a->tool, j->kernel);
    ok = ok && file_read(path.data, MODULE_BYTES_MAX, &image, &out->bytes, st);
    out->image = image;
    if (ok && !check_made(a, j, out, st)) {
        free(image);
        out->image = NULL;
        ok = false;
    }
    scratch_folder_close(&folder);
    text_release(&path);
    text_release(&said);
    text_release(&untuned);
    return ok;
}

bool gate_side_compile_level(const gate_side *a, const gate_side_unit *unit,
                             const job_choice *choice, const char *isa, gate_side_module *out,
                             status *st) {
    *out = (gate_side_module){0};
    if (!unit->item || a->plan.jobs.count == 0)
        return status_set(st, STATUS_UNAVAILABLE, "there is no source to compile");
    job j = a->plan.jobs.items[unit - a->units.items];
    if (isa)
        j.isa = isa;
    compiler_instance *instance = corpus_case_instance(unit->item, st);
    bool ok = instance && (a->code   ? gate_side_wrap(a, &j, instance, out, st)
                           : a->tool ? compile_there(a, &j, out, st)
                                     : compile_here(unit, &j, choice, instance, out, st));
    compiler_instance_free(instance);
    return ok;
}

bool gate_side_compile(const gate_side *a, gate_side_unit *unit, const job_choice *choice) {
    gate_side_module made;
    status st = STATUS_INIT;
    if (unit->image || unit->problem)
        return unit->image != NULL;
    if (!gate_side_compile_level(a, unit, choice, NULL, &made, &st)) {
        unit->problem = base_strdup(st.message);
        return false;
    }
    gate_side_set_image(unit, made.image, made.bytes);
    return true;
}
