/* own_inputs.c - see own_inputs.h. */
#include "cli/own_inputs.h"

#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/file.h"
#include "case/dims_from_arrays.h"
#include "cli/choice.h"
#include "cli/command.h"
#include "cli/kernel_choice.h"
#include "common/say.h"

typedef struct arrays {
    const compiler_kernel *kernel;
    compiler_source *source;
    char *paths[COMPILER_MAX_PARAMETERS];
    tensor values[COMPILER_MAX_PARAMETERS];
} arrays;

static bool take_one(arrays *a, const char *word, status *st) {
    const char *equals = strchr(word, '=');
    int at = equals ? kernel_parameter(a->kernel, word, (size_t)(equals - word)) : -1;
    if (!equals)
        return status_set(st, STATUS_INVALID, "--inputs wants NAME=FILE.npy, not '%s'", word);
    if (at < 0)
        return status_set(st, STATUS_INVALID,
                          "--inputs %s: kernel %s has no parameter of that name", word,
                          a->kernel->name);
    if (a->paths[at])
        return status_set(st, STATUS_INVALID, "--inputs %s: parameter %s is given twice", word,
                          a->kernel->parameter_names[at]);
    a->paths[at] = realpath(equals + 1, NULL);
    if (!a->paths[at])
        return status_set(st, STATUS_NOT_FOUND, "--inputs %s: there is no such file", word);
    /* Types that NumPy lacks travel as others: the parameter says which is meant. */
    dtype type =
        a->kernel->parameter_variables[at] < 0 ? a->kernel->parameter_types[at] : DTYPE_NONE;
    bool travels = type != DTYPE_NONE && !dtype_owns_npy_descr(type);
    return tensor_read_npy(&a->values[at], a->paths[at], travels ? type : DTYPE_NONE, st);
}

static bool take_all(const options *o, arrays *a, status *st) {
    const string_list *given = &o->values[OPTION_INPUTS].values;
    for (size_t i = 0; i < given->count; i++)
        if (!take_one(a, given->items[i], st))
            return false;
    for (uint32_t i = 0; i < a->kernel->parameter_count; i++)
        if (!a->paths[i])
            return status_set(st, STATUS_INVALID,
                              "no array for parameter %s of kernel %s: give it with --inputs "
                              "%s=FILE.npy",
                              a->kernel->parameter_names[i], a->kernel->name,
                              a->kernel->parameter_names[i]);
    return true;
}

/* Each type variable is what its first array holds. */
static bool bind_types(const arrays *a, compiler_type_binding *types, status *st) {
    const compiler_kernel *k = a->kernel;
    for (uint32_t v = 0; v < k->type_count; v++)
        types[v] = (compiler_type_binding){k->type_names[v], DTYPE_NONE};
    for (uint32_t i = 0; i < k->parameter_count; i++) {
        const int32_t v = k->parameter_variables[i];
        const dtype wanted = v < 0 ? k->parameter_types[i] : types[v].type;
        if (v >= 0 && wanted == DTYPE_NONE)
            types[v].type = a->values[i].type;
        else if (wanted != a->values[i].type)
            return status_set(st, STATUS_INVALID,
                              "parameter %s of kernel %s is %s, but %s holds %s",
                              k->parameter_names[i], k->name, dtype_name(wanted), a->paths[i],
                              dtype_name(a->values[i].type));
    }
    return true;
}

static bool solve(const arrays *a, text *dims, status *st) {
    const compiler_kernel *k = a->kernel;
    compiler_type_binding *types = base_calloc(k->type_count + 1, sizeof *types);
    int64_t *values = base_calloc(k->dim_count + 1, sizeof *values);
    const compiler_case c = {.name = "arrays", .types = types, .type_count = k->type_count};
    text diagnostics;
    text_init(&diagnostics);
    bool ok = bind_types(a, types, st);
    ir_module *graph = ok ? compiler_graph(a->source, k, &c, &diagnostics) : NULL;
    if (ok && !graph)
        ok = status_set(st, STATUS_INVALID, "kernel %s does not check with these arrays: %.900s",
                        k->name, diagnostics.data);
    const kernel_arrays of = {k, graph, a->values};
    ok = ok && dims_of_kernel(&of, (ir_bindings){NULL, 0}, "--dims", values, st);
    for (uint32_t i = 0; i < k->dim_count && ok; i++)
        text_printf(dims, "%s%s=%lld", dims->length ? "," : "", k->dim_names[i],
                    (long long)values[i]);
    for (uint32_t i = 0; i < k->type_count && ok; i++)
        text_printf(dims, "%s%s=%s", dims->length ? "," : "", k->type_names[i],
                    dtype_name(types[i].type));
    ir_module_free(graph);
    text_release(&diagnostics);
    free(values);
    free(types);
    return ok;
}

static bool link_all(const arrays *a, scratch_folder *folder, status *st) {
    bool ok = scratch_folder_open(folder, NULL, SCRATCH_FOLDER_PREFIX, st);
    for (uint32_t i = 0; i < a->kernel->parameter_count && ok; i++) {
        text path;
        text_init(&path);
        text_printf(&path, "%s/%s.npy", folder->path, a->kernel->parameter_names[i]);
        if (symlink(a->paths[i], path.data) != 0)
            ok = status_set(st, STATUS_IO, "cannot make a link %s", path.data);
        text_release(&path);
    }
    return ok;
}

/* ---- which kernel ---- */

typedef struct search {
    const options *o;
    const corpus_query *query;
    VEC(compiler_source *) sources;
    const compiler_kernel *kernel; /* the first that fits */
    compiler_source *source;
    text names; /* of all that do */
    size_t found;
    text diagnostics;
} search;

/* Just these names, in any order. */
static bool fits(const search *s, const compiler_kernel *kernel) {
    const string_list *given = &s->o->values[OPTION_INPUTS].values;
    size_t named = 0;
    for (size_t i = 0; i < given->count; i++)
        named += kernel_parameter(kernel, given->items[i], strcspn(given->items[i], "=")) >= 0;
    return !kernel->broken && named == given->count && named == kernel->parameter_count;
}

static void look_into(search *s, const char *path) {
    status st = STATUS_INIT;
    compiler_source *source = compiler_open(path, s->query->colour, &s->diagnostics, &st);
    if (!source)
        return;
    vec_push(&s->sources, source);
    for (uint32_t i = 0; i < compiler_kernel_count(source); i++) {
        const compiler_kernel *kernel = compiler_kernel_at(source, i);
        if (!fits(s, kernel) || !corpus_query_wants(s->query, kernel->name, kernel->name))
            continue;
        text_printf(&s->names, "%s%s", s->found++ ? ", " : "", kernel->name);
        s->kernel = s->kernel ? s->kernel : kernel;
        s->source = s->source ? s->source : source;
    }
}

static bool find_kernel(search *s, status *st) {
    corpus_paths paths = {0};
    arena memory;
    arena_init(&memory);
    bool ok = true;
    for (size_t i = 0; i < s->query->path_count && ok; i++)
        ok = corpus_find(s->query->paths[i], &memory, &paths, st);
    for (size_t i = 0; i < paths.count && ok; i++)
        look_into(s, paths.items[i]);
    vec_release(&paths);
    arena_release(&memory);
    if (!ok || s->found == 1)
        return ok;
    if (s->found)
        return status_set(st, STATUS_INVALID,
                          "several kernels have just these parameters: %.700s; --filter names one",
                          s->names.data);
    say_diagnostics(stderr, s->diagnostics.data);
    return status_set(st, STATUS_INVALID,
                      "no kernel in %s has just the parameters that --inputs NAME=FILE.npy gives "
                      "arrays for, each of them once",
                      s->query->paths[0]);
}

static bool take(const search *s, own_inputs *own, status *st) {
    arrays a = {.kernel = s->kernel, .source = s->source};
    const char *dims = options_text(s->o, OPTION_DIMS, NULL);
    text_append(&own->kernel, s->kernel->name);
    if (dims)
        text_append(&own->dims, dims);
    bool ok = take_all(s->o, &a, st) && (dims || solve(&a, &own->dims, st)) &&
              link_all(&a, &own->folder, st);
    for (uint32_t i = 0; i < COMPILER_MAX_PARAMETERS; i++)
        free(a.paths[i]);
    tensor_release_all(a.values, COMPILER_MAX_PARAMETERS);
    return ok;
}

int own_inputs_open(const options *o, size_t first, own_inputs *own) {
    arena memory;
    corpus_query query;
    status st = STATUS_INIT;
    *own = (own_inputs){.given = options_flag(o, OPTION_INPUTS)};
    text_init(&own->kernel);
    text_init(&own->dims);
    if (!own->given)
        return EXIT_DONE;
    arena_init(&memory);
    choice_query(o, first, &memory, &query);
    search s = {.o = o, .query = &query};
    text_init(&s.names);
    text_init(&s.diagnostics);
    bool ok = find_kernel(&s, &st) && take(&s, own, &st);
    for (size_t i = 0; i < s.sources.count; i++)
        compiler_close(s.sources.items[i]);
    vec_release(&s.sources);
    text_release(&s.names);
    text_release(&s.diagnostics);
    arena_release(&memory);
    return ok ? EXIT_DONE : command_fail(&st);
}

int own_inputs_corpus(const options *o, size_t first, const own_inputs *own, corpus *out) {
    arena memory;
    corpus_query query;
    text diagnostics;
    status st = STATUS_INIT;
    const char *filters[] = {own->kernel.data};
    arena_init(&memory);
    text_init(&diagnostics);
    choice_query(o, first, &memory, &query);
    query.filters = filters;
    query.filter_count = 1;
    /* Without dimensions and variables of types a kernel's own cases are all there are. */
    query.dims = own->dims.length ? own->dims.data : NULL;
    query.skip_large = false;
    bool ok = corpus_load(out, &query, &diagnostics, &st);
    say_diagnostics(stderr, diagnostics.data);
    text_release(&diagnostics);
    arena_release(&memory);
    return ok ? choice_space(o, out) : command_fail(&st);
}

void own_inputs_take(const own_inputs *own, job *j) {
    if (!own->given)
        return;
    j->inputs = own->folder.path;
    j->golden_path = NULL;
}

void own_inputs_close(own_inputs *own) {
    scratch_folder_close(&own->folder);
    text_release(&own->kernel);
    text_release(&own->dims);
}
