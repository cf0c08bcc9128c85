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
#include "state/safetensors.h"

enum { NAMES_SHOWN_BYTES = 500 };

/* Value of one --inputs: NAME=FILE.npy, NAME=FILE.safetensors[:TENSOR], or FILE.safetensors for all
 * parameters that it has tensors of. */
typedef struct given {
    const char *word;
    size_t name_length; /* of NAME; 0: all parameters */
    char *path;         /* owned */
    const char *tensor; /* of the word; NULL: the one of the parameter's name */
    bool is_safetensors;
    safetensors file; /* is_safetensors */
} given;

typedef VEC(given) given_list;

typedef struct arrays {
    const compiler_kernel *kernel;
    compiler_source *source;
    const given **from; /* of each parameter */
    tensor *values;     /* tensors_new */
} arrays;

/* ---- the words ---- */

static bool ends_with(const char *path, const char *end) {
    size_t length = strlen(path), tail = strlen(end);
    return length > tail && strcmp(path + length - tail, end) == 0;
}

/* A file whose name has a colon is a file. */
static const char *tensor_in(const char *path) {
    static const char mark[] = ".safetensors:";
    const char *at = NULL;
    for (const char *next = path; !file_exists(path) && (next = strstr(next, mark)); next++)
        at = next + sizeof mark - 1;
    return at && *at ? at : NULL;
}

static bool read_given(const char *word, given *g, status *st) {
    const char *equals = strchr(word, '=');
    const char *path = equals ? equals + 1 : word;
    *g = (given){.word = word, .tensor = tensor_in(path)};
    size_t length = g->tensor ? (size_t)(g->tensor - path) - 1 : strlen(path);
    char *own = base_strdup(path);
    own[length] = '\0';
    g->is_safetensors = ends_with(own, ".safetensors");
    g->name_length = equals ? (size_t)(equals - word) : 0;
    bool ok = (equals ? g->name_length > 0 : g->is_safetensors && !g->tensor) ||
              status_set(st, STATUS_INVALID,
                         "--inputs wants NAME=FILE.npy, NAME=FILE.safetensors:TENSOR or "
                         "FILE.safetensors, not '%s'",
                         word);
    g->path = ok ? realpath(own, NULL) : NULL;
    if (ok && !g->path)
        ok = status_set(st, STATUS_NOT_FOUND, "--inputs %s: there is no such file", word);
    free(own);
    return ok && (!g->is_safetensors || safetensors_open(&g->file, g->path, st));
}

static bool read_all_given(const options *o, given_list *out, status *st) {
    const string_list *words = &o->values[OPTION_INPUTS].values;
    bool ok = true;
    for (size_t i = 0; i < words->count && ok; i++) {
        given g;
        ok = read_given(words->items[i], &g, st);
        vec_push(out, g);
    }
    return ok;
}

static void release_given(given_list *list) {
    for (size_t i = 0; i < list->count; i++) {
        safetensors_close(&list->items[i].file);
        free(list->items[i].path);
    }
    vec_release(list);
}

/* Finds what is given for a parameter: the word that names it, else a file that has a tensor of its
 * name; NULL: nothing. */
static const given *given_for(const given_list *list, const char *parameter) {
    const given *found = NULL;
    for (size_t i = 0; i < list->count; i++) {
        const given *g = &list->items[i];
        if (g->name_length && strlen(parameter) == g->name_length &&
            strncmp(g->word, parameter, g->name_length) == 0)
            return g;
        if (!g->name_length && !found && safetensors_find(&g->file, parameter))
            found = g;
    }
    return found;
}

/* ---- the arrays ---- */

static bool read_tensor(const given *g, const char *parameter, dtype want, tensor *out,
                        status *st) {
    const char *name = g->tensor ? g->tensor : parameter;
    const safetensors_entry *e = safetensors_find(&g->file, name);
    text names;
    if (e)
        return safetensors_read(&g->file, e, want, out, st);
    text_init(&names);
    for (size_t i = 0; i < g->file.entries.count && names.length < NAMES_SHOWN_BYTES; i++)
        text_printf(&names, "%s%s", i ? ", " : "", g->file.entries.items[i].name);
    status_set(st, STATUS_NOT_FOUND,
               "--inputs %s: there is no tensor '%.100s' in it; it has %.600s", g->word, name,
               names.length ? names.data : "none");
    text_release(&names);
    return false;
}

static bool take_one(arrays *a, uint32_t at, const given *g, status *st) {
    const char *parameter = a->kernel->parameter_names[at];
    /* Types that NumPy lacks travel as others: the parameter says which is meant. */
    dtype type =
        a->kernel->parameter_variables[at] < 0 ? a->kernel->parameter_types[at] : DTYPE_NONE;
    bool travels = type != DTYPE_NONE && !dtype_owns_npy_descr(type);
    type = travels ? type : DTYPE_NONE;
    a->from[at] = g;
    return g->is_safetensors ? read_tensor(g, parameter, type, &a->values[at], st)
                             : tensor_read_npy(&a->values[at], g->path, type, st);
}

static bool take_all(const given_list *list, arrays *a, status *st) {
    for (uint32_t i = 0; i < a->kernel->parameter_count; i++)
        if (!take_one(a, i, given_for(list, a->kernel->parameter_names[i]), st))
            return false;
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
                              k->parameter_names[i], k->name, dtype_name(wanted), a->from[i]->word,
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

/* Puts a job's arrays: a link to the user's file, or the tensor written out. */
static bool put_all(const arrays *a, scratch_folder *folder, status *st) {
    bool ok = scratch_folder_open(folder, NULL, SCRATCH_FOLDER_PREFIX, st);
    for (uint32_t i = 0; i < a->kernel->parameter_count && ok; i++) {
        text path;
        text_init(&path);
        text_printf(&path, "%s/%s.npy", folder->path, a->kernel->parameter_names[i]);
        if (a->from[i]->is_safetensors)
            ok = tensor_write_npy(&a->values[i], path.data, st);
        else if (symlink(a->from[i]->path, path.data) != 0)
            ok = status_set(st, STATUS_IO, "cannot make a link %s", path.data);
        text_release(&path);
    }
    return ok;
}

/* ---- which kernel ---- */

typedef struct search {
    const options *o;
    const corpus_query *query;
    given_list given;
    VEC(compiler_source *) sources;
    const compiler_kernel *kernel; /* the first that fits */
    compiler_source *source;
    text names; /* of all that do */
    size_t found;
    text diagnostics;
} search;

/* Every name that is said is a parameter's, and every parameter is given. Files of tensors may have
 * others. */
static bool fits(const search *s, const compiler_kernel *kernel) {
    bool all = !kernel->broken && kernel->parameter_count > 0;
    for (size_t i = 0; i < s->given.count && all; i++) {
        const given *g = &s->given.items[i];
        all = !g->name_length || kernel_parameter(kernel, g->word, g->name_length) >= 0;
    }
    for (uint32_t i = 0; i < kernel->parameter_count && all; i++)
        all = given_for(&s->given, kernel->parameter_names[i]) != NULL;
    return all;
}

/* No parameter by two words: they would be two arrays. */
static bool is_each_once(const given_list *list, status *st) {
    for (size_t i = 0; i < list->count; i++)
        for (size_t k = 0; k < i; k++) {
            const given *a = &list->items[i], *b = &list->items[k];
            if (a->name_length && a->name_length == b->name_length &&
                strncmp(a->word, b->word, a->name_length) == 0)
                return status_set(st, STATUS_INVALID, "--inputs %s: parameter %.*s is given twice",
                                  a->word, (int)a->name_length, a->word);
        }
    return true;
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

static bool has_whole(const given_list *list) {
    bool found = false;
    for (size_t i = 0; i < list->count; i++)
        found |= !list->items[i].name_length;
    return found;
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
                      "arrays for, each of them once%s",
                      s->query->paths[0],
                      has_whole(&s->given) ? ", or that have a tensor each of their name in "
                                             "--inputs FILE.safetensors"
                                           : "");
}

static bool take(const search *s, own_inputs *own, status *st) {
    const uint32_t count = s->kernel->parameter_count;
    arrays a = {.kernel = s->kernel,
                .source = s->source,
                .from = base_calloc((size_t)count + 1, sizeof(const given *)),
                .values = tensors_new(count)};
    const char *dims = options_text(s->o, OPTION_DIMS, NULL);
    text_append(&own->kernel, s->kernel->name);
    if (dims)
        text_append(&own->dims, dims);
    bool ok = take_all(&s->given, &a, st) && (dims || solve(&a, &own->dims, st)) &&
              put_all(&a, &own->folder, st);
    tensors_free(a.values);
    free(a.from);
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
    bool ok = read_all_given(o, &s.given, &st) && is_each_once(&s.given, &st) &&
              find_kernel(&s, &st) && take(&s, own, &st);
    release_given(&s.given);
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
