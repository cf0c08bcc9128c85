/* case.c - walks the paths, opens the sources, checks each case, applies the filters. */
#include "case/case.h"

#include <dirent.h>
#include <errno.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/file.h"
#include "base/map.h"
#include "case/bound.h"
#include "case/source_probe.h"

enum { DEPTH_MAX = 32, GOLDEN_LEVELS = 4 };

static bool has_suffix(const char *name, const char *suffix) {
    size_t length = strlen(name), tail = strlen(suffix);
    return length > tail && strcmp(name + length - tail, suffix) == 0;
}

static int compare_names(const void *a, const void *b) {
    return strcmp(*(char *const *)a, *(char *const *)b);
}

static bool list_directory(const char *path, arena *memory, corpus_paths *names, status *st) {
    DIR *directory = opendir(path);
    if (!directory)
        return status_set(st, STATUS_INVALID, "cannot read %s: %s", path, strerror(errno));
    for (struct dirent *entry; (entry = readdir(directory));)
        if (entry->d_name[0] != '.')
            vec_push(names, arena_printf(memory, "%s%s%s", path, has_suffix(path, "/") ? "" : "/",
                                         entry->d_name));
    closedir(directory);
    if (names->count)
        qsort(names->items, names->count, sizeof *names->items, compare_names);
    return true;
}

/* A file of kernels, or a program of StableHLO as text or bytecode. */
static bool is_source(const char *path) {
    return has_suffix(path, ".tsr") || has_suffix(path, ".mlir") || has_suffix(path, ".mlirbc");
}

/* Folders below a corpus are its own: a link to one may lead anywhere, back here or to the whole
 * file system. A link to a file is that file. */
static bool is_own_folder(const char *path) {
    struct stat info;
    return lstat(path, &info) == 0 && S_ISDIR(info.st_mode);
}

static bool find_sources(const char *path, int depth, arena *memory, corpus_paths *found,
                         status *st) {
    corpus_paths names = {0};
    if (depth > DEPTH_MAX)
        return status_set(st, STATUS_INVALID, "%s: folders are nested more than %d deep", path,
                          DEPTH_MAX);
    bool ok = list_directory(path, memory, &names, st);
    for (size_t i = 0; i < names.count && ok; i++)
        if (is_own_folder(names.items[i]))
            ok = find_sources(names.items[i], depth + 1, memory, found, st);
        else if (is_source(names.items[i]) && !file_is_dir(names.items[i]))
            vec_push(found, names.items[i]);
    vec_release(&names);
    return ok;
}

/* ---- where the goldens of a source are ---- */

/* Walks up from the source's directory to one that has "golden" beside it: that one is the corpus.
 */
static char *corpus_root_of(const char *directory, const char *given, arena *memory) {
    char *candidate = arena_strdup(memory, directory);
    for (int level = 0; level < GOLDEN_LEVELS; level++) {
        char *slash = strrchr(candidate, '/');
        if (!slash || slash == candidate)
            break;
        if (file_is_dir(arena_printf(memory, "%.*s/golden", (int)(slash - candidate), candidate)))
            return candidate;
        *slash = '\0';
    }
    return arena_strdup(memory, given);
}

static char *parent_of(const char *path, arena *memory) {
    const char *slash = strrchr(path, '/');
    return slash ? arena_strndup(memory, path, slash == path ? 1 : (size_t)(slash - path))
                 : arena_strdup(memory, ".");
}

static const char *real_path(const char *path, arena *memory) {
    char *resolved = realpath(path, NULL);
    const char *copy = arena_strdup(memory, resolved ? resolved : path);
    free(resolved);
    return copy;
}

/* Directory for the goldens of one source: GOLDEN/family, the family being the folder below the
 * corpus. */
static const char *golden_directory(const char *source, const char *given, const char *golden,
                                    arena *memory) {
    const char *directory = parent_of(real_path(source, memory), memory);
    const char *start = real_path(given, memory);
    if (!file_is_dir(start))
        start = parent_of(start, memory);
    const char *root = corpus_root_of(directory, start, memory);
    const char *family = "";
    size_t length = strlen(root);
    if (strncmp(directory, root, length) == 0 && directory[length] == '/')
        family = directory + length;
    if (!golden)
        golden = arena_printf(memory, "%s/golden", parent_of(root, memory));
    return arena_printf(memory, "%s%s", golden, family);
}

/* ---- kernels ---- */
typedef struct loader {
    corpus *c;
    const corpus_query *query;
    text *diagnostics;
    map kernels; /* name -> first path */
    size_t kernels_seen;
    const char *begin;       /* of a line that a user may type */
    compiler_values values;  /* of --dims */
    unbound_kernels unbound; /* kernels that these do not fit */
} loader;

bool corpus_query_wants(const corpus_query *query, const char *kernel, const char *name) {
    for (size_t i = 0; i < query->filter_count; i++)
        if (text_glob(query->filters[i], kernel) || text_glob(query->filters[i], name))
            return true;
    return query->filter_count == 0;
}

/* A kernel, its source, and the folder of its goldens. */
typedef struct found_kernel {
    compiler_source *source;
    const compiler_kernel *kernel;
    const char *golden;
} found_kernel;

static void add_case(loader *l, const found_kernel *f, const compiler_case *item) {
    corpus *c = l->c;
    const char *kernel = f->kernel->name;
    const char *name = arena_printf(&c->memory, "%s/%s", kernel, item->name);
    if (!corpus_query_wants(l->query, kernel, name) || (item->large && l->query->skip_large))
        return;
    const char *manifest = arena_printf(&c->memory, "%s/%s/%s.json", f->golden, kernel, item->name);
    corpus_case found = {f->kernel->path, manifest, f->source, f->kernel, item, name};
    vec_push(&c->cases, found);
}

/* Might the filters mean one of its cases? */
static bool wants_kernel(const loader *l, const compiler_kernel *kernel) {
    for (size_t i = 0; i < l->query->filter_count; i++) {
        const char *filter = l->query->filters[i], *slash = strchr(filter, '/');
        char *of_kernels = slash ? base_strdup(filter) : NULL;
        if (of_kernels)
            of_kernels[slash - filter] = '\0';
        bool wanted = text_glob(of_kernels ? of_kernels : filter, kernel->name);
        free(of_kernels);
        if (wanted)
            return true;
    }
    return l->query->filter_count == 0;
}

/* Notes what is wrong with one file or kernel; the others go on. */
static void note_problem(loader *l, exit_code code, const char *format, ...)
    __attribute__((format(printf, 3, 4)));
static void note_problem(loader *l, exit_code code, const char *format, ...) {
    va_list args;
    va_start(args, format);
    text_append(l->diagnostics, "tsr: ");
    text_vprintf(l->diagnostics, format, args);
    text_append(l->diagnostics, "\n");
    va_end(args);
    l->c->problem = exit_code_worse(l->c->problem, code);
}

static void note_no_case(loader *l, const compiler_kernel *kernel) {
    text line;
    text_init(&line);
    bound_line(l->begin, kernel, NULL, &line);
    note_problem(l, EXIT_INPUT, "%s:%u: kernel %s has no cases; say what to run it on:\n    %s",
                 kernel->path, kernel->line, kernel->name, line.data);
    text_release(&line);
}

/* Cases of the source, or the one of --dims; a kernel that has only one has no need of either. */
static void add_cases(loader *l, const found_kernel *f) {
    const compiler_kernel *kernel = f->kernel;
    bool given = l->query->dims != NULL;
    if (given && !compiler_values_fit(&l->values, kernel)) {
        vec_push(&l->unbound, kernel);
    } else if (given || (kernel->case_count == 0 && kernel_is_fixed(kernel))) {
        const compiler_case *item =
            compiler_case_bind(f->source, kernel, &l->values, l->diagnostics);
        if (item)
            add_case(l, f, item);
        else
            l->c->problem = exit_code_worse(l->c->problem, EXIT_INPUT);
    } else if (kernel->case_count == 0) {
        note_no_case(l, kernel);
    }
    for (uint32_t i = 0; !given && i < kernel->case_count; i++)
        add_case(l, f, &kernel->cases[i]);
}

static void add_kernel(loader *l, const found_kernel *f) {
    const compiler_kernel *kernel = f->kernel;
    intptr_t first;
    l->kernels_seen++;
    if (kernel->broken) {
        if (wants_kernel(l, kernel))
            l->c->problem = exit_code_worse(l->c->problem, EXIT_INPUT);
        return;
    }
    if (map_get(&l->kernels, kernel->name, &first) &&
        strcmp((const char *)first, kernel->path) != 0) {
        note_problem(l, EXIT_INPUT,
                     "kernel %s is defined in %s and in %s; names are unique in a corpus",
                     kernel->name, (const char *)first, kernel->path);
        return;
    }
    map_put(&l->kernels, kernel->name, (intptr_t)kernel->path);
    if (wants_kernel(l, kernel))
        add_cases(l, f);
}

static void add_source(loader *l, const char *path, const char *given) {
    corpus *c = l->c;
    status why = STATUS_INIT;
    compiler_source *source = compiler_open(path, l->query->colour, l->diagnostics, &why);
    if (!source) {
        note_problem(l, exit_code_of_status(why.code), "%s", why.message);
        return;
    }
    vec_push(&c->sources, source);
    if (compiler_error_count(source) > 0 && compiler_kernel_count(source) == 0)
        c->problem = exit_code_worse(c->problem, EXIT_INPUT);
    const char *golden = golden_directory(path, given, l->query->golden, &c->memory);
    for (uint32_t i = 0; i < compiler_kernel_count(source); i++)
        add_kernel(l, &(found_kernel){source, compiler_kernel_at(source, i), golden});
}

bool corpus_find(const char *given, arena *memory, corpus_paths *found, status *st) {
    struct stat info;
    size_t before = found->count;
    if (stat(given, &info) != 0)
        return status_set(st, STATUS_NOT_FOUND, "%s: %s", given, strerror(errno));
    if (!S_ISDIR(info.st_mode)) {
        vec_push(found, arena_strdup(memory, given));
        return true;
    }
    return find_sources(given, 0, memory, found, st) &&
           (found->count > before ||
            status_set(st, STATUS_INVALID, "%s holds no .tsr file", given));
}

/* The folder that is taken where none is named is not everywhere. */
static bool find_usual(const loader *l, const char *given, status *st) {
    const char *begin = l->query->begin ? l->query->begin : "tsr bench";
    return !l->query->usual || file_is_dir(given) ||
           status_set(st, STATUS_NOT_FOUND,
                      "there is no folder %s here, which is taken where no path is named: name a "
                      "file or a folder of kernels (%s mine.tsr), or begin one with tsr new mine",
                      given, begin);
}

static bool add_path(loader *l, const char *given, status *st) {
    corpus_paths found = {0};
    bool ok = find_usual(l, given, st) && corpus_find(given, &l->c->memory, &found, st);
    source_probe probe;
    source_probe_start(&probe, found.items, ok ? found.count : 0);
    for (size_t i = 0; ok && i < found.count; i++) {
        text why;
        text_init(&why);
        if (source_probe_passes(&probe, i, &why))
            add_source(l, found.items[i], given);
        else
            note_problem(l, EXIT_BUG, "%s: %s; this is a bug of tsr", found.items[i], why.data);
        text_release(&why);
    }
    source_probe_stop(&probe);
    vec_release(&found);
    return ok;
}

/* The kernel whose name is most like that of a filter which means none; NULL: none is. */
static const char *nearest_kernel(const loader *l) {
    const char **names = base_calloc(l->kernels.count + 1, sizeof *names), *found = NULL;
    for (size_t i = 0; i < l->kernels.count; i++)
        names[i] = l->kernels.entries[i].key;
    for (size_t i = 0; i < l->query->filter_count && !found; i++) {
        char *word = base_strdup(l->query->filters[i]), *slash = strchr(word, '/');
        if (slash)
            *slash = '\0';
        found = text_nearest(word, names, l->kernels.count);
        free(word);
    }
    free(names);
    return found;
}

/* Why there is no case at all. */
static bool no_case(const loader *l, status *st) {
    const corpus *c = l->c;
    const corpus_query *query = l->query;
    if (c->problem == EXIT_BUG)
        return status_set(st, STATUS_INTERNAL, "no case can be run: see the diagnostics above");
    if (c->problem != EXIT_DONE)
        return status_set(st, STATUS_INVALID, "no case can be run: see the diagnostics above");
    if (l->kernels_seen == 0)
        return status_set(st, STATUS_INVALID, "no kernel in %s", query->paths[0]);
    if (l->unbound.count)
        return status_set(st, STATUS_INVALID, "no kernel has just the names of --dims %.700s",
                          query->dims);
    const char *nearest = nearest_kernel(l);
    return status_set(st, STATUS_INVALID, "no case matches%s%s%s%s",
                      query->filter_count ? " --filter" : "", nearest ? "; did you mean " : "",
                      nearest ? nearest : "", nearest ? "?" : "");
}

bool corpus_load(corpus *c, const corpus_query *query, text *diagnostics, status *st) {
    *c = (corpus){0};
    arena_init(&c->memory);
    loader l = {.c = c,
                .query = query,
                .diagnostics = diagnostics,
                .begin = query->begin ? query->begin : "tsr bench"};
    map_init(&l.kernels);
    bool ok = !query->dims || compiler_values_read(query->dims, &c->memory, &l.values, st);
    for (size_t i = 0; i < query->path_count && ok; i++)
        ok = add_path(&l, query->paths[i], st);
    unbound_tell(&l.unbound, l.begin, &l.values, diagnostics);
    ok = ok && (c->cases.count || no_case(&l, st));
    map_release(&l.kernels);
    vec_release(&l.unbound);
    return ok;
}

void corpus_release(corpus *c) {
    for (size_t i = 0; i < c->sources.count; i++)
        compiler_close(c->sources.items[i]);
    vec_release(&c->sources);
    vec_release(&c->cases);
    vec_release(&c->elsewhere);
    json_decref(c->shard);
    arena_release(&c->memory);
}

bool corpus_choose(corpus *c, const char *space, status *st) {
    for (size_t i = 0; i < c->cases.count; i++) {
        corpus_case *item = &c->cases.items[i];
        item->c = compiler_case_choose(item->source, item->kernel, item->c, space, st);
        if (!item->c)
            return false;
    }
    return true;
}

const corpus_case *corpus_case_named(const corpus *c, const char *kernel, const char *case_name) {
    for (size_t i = 0; i < c->cases.count; i++)
        if (strcmp(c->cases.items[i].kernel->name, kernel) == 0 &&
            strcmp(c->cases.items[i].c->name, case_name) == 0)
            return &c->cases.items[i];
    return NULL;
}

bool corpus_is_of_one_kernel(const corpus *c) {
    const compiler_kernel *one = c->cases.count       ? c->cases.items[0].kernel
                                 : c->elsewhere.count ? c->elsewhere.items[0].kernel
                                                      : NULL;
    bool same = true;
    for (size_t i = 0; i < c->cases.count; i++)
        same &= c->cases.items[i].kernel == one;
    for (size_t i = 0; i < c->elsewhere.count; i++)
        same &= c->elsewhere.items[i].kernel == one;
    return same;
}

compiler_instance *case_instance(compiler_source *source, const compiler_kernel *kernel,
                                 const compiler_case *c, status *st) {
    text diagnostics;
    text_init(&diagnostics);
    compiler_instance *instance = compiler_instance_open(source, kernel, c, &diagnostics);
    if (!instance)
        status_set(st, STATUS_INVALID, "%.900s", diagnostics.data);
    text_release(&diagnostics);
    return instance;
}

compiler_instance *corpus_case_instance(const corpus_case *item, status *st) {
    return case_instance(item->source, item->kernel, item->c, st);
}
