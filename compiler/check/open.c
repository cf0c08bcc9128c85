/* open.c - a source from file or text to kernels and cases, with every diagnostic at once. */
#include <stdlib.h>
#include <string.h>

#include "base/file.h"
#include "base/map.h"
#include "check/modules.h"
#include "import/stablehlo/shlo.h"
#include "ops/graph.h"
#include "source/parser.h"
#include "tessera/programs.h"

static const char *const *names_of(compiler_source *s, const declared_name *declared,
                                   uint32_t count) {
    const char **names = ARENA_NEW(&s->memory, const char *, count + 1);
    for (uint32_t i = 0; i < count; i++)
        names[i] = declared[i].name;
    return names;
}

/* The type variable that an annotation names, by its index; -1: none. */
static int32_t variable_of(const kernel_interface *k, const annotation *a) {
    for (uint32_t i = 0; a->variable && i < k->variable_count; i++)
        if (strcmp(k->variables[i].name, a->variable) == 0)
            return (int32_t)i;
    return -1;
}

static void names_read(compiler_source *s, const kernel_interface *k, compiler_kernel *out) {
    const char **names = ARENA_NEW(&s->memory, const char *, k->function->parameter_count + 1);
    int32_t *variables = ARENA_NEW(&s->memory, int32_t, k->parameter_count + 1);
    dtype *types = ARENA_NEW(&s->memory, dtype, k->parameter_count + 1);
    uint32_t count = 0;
    for (uint32_t i = 0; i < k->parameter_count; i++) {
        variables[i] = variable_of(k, &k->parameters[i]);
        types[i] = k->parameters[i].type;
    }
    for (uint32_t i = 0; i < k->function->parameter_count; i++)
        if (!k->function->parameters[i].keyword_only)
            names[count++] = k->function->parameters[i].name;
    out->parameter_names = names;
    out->parameter_variables = variables;
    out->parameter_types = types;
    out->parameter_count = k->broken ? 0 : count;
    out->dim_names = names_of(s, k->symbols, k->symbol_count);
    out->dim_count = k->symbol_count;
    out->type_names = names_of(s, k->variables, k->variable_count);
    out->type_count = k->variable_count;
}

static void check_unique(compiler_source *s, const ast_function *f, diagnostics *d) {
    for (const ast_function *other = s->main->ast->functions; other < f; other++) {
        if (f->name[0] && strcmp(other->name, f->name) == 0) {
            diagnose_error(d, ERROR_DUPLICATE_KERNEL, f->at, "two functions are called '%s'",
                           f->name);
            diagnose_note(d, other->at, "the first is here");
            return;
        }
    }
}

/* ---- type-checking under every binding ---- */

/* Types and constants: cases that share them have one graph. */
static void binding_text(const compiler_case *c, text *out) {
    text_clear(out);
    for (uint32_t i = 0; i < c->type_count; i++)
        text_printf(out, "%d,", (int)c->types[i].type);
    for (uint32_t i = 0; i < c->constant_count; i++)
        text_printf(out, "%s=%s,", c->constants[i].name, c->constants[i].text);
}

/* The binding of case `index`, and every later case that shares it. */
static void check_cases(compiler_source *s, const kernel_interface *k,
                        const compiler_kernel *kernel, uint32_t index, diagnostics *d) {
    text wanted, found;
    if (!has_all_constants(k, &kernel->cases[index])) /* they are said later, or missed then */
        return;
    ir_module *m = kernel_check(s, k, &kernel->cases[index], d);
    text_init(&wanted);
    text_init(&found);
    binding_text(&kernel->cases[index], &wanted);
    for (uint32_t i = index; m && i < kernel->case_count; i++) {
        binding_text(&kernel->cases[i], &found);
        if (strcmp(wanted.data, found.data) == 0)
            instance_check(s, m, &kernel->cases[i], d);
    }
    text_release(&wanted);
    text_release(&found);
    if (m)
        ir_module_free(m);
}

/* ---- without cases ----
 *
 * Nobody has bound the type variables yet, so a kernel is wrong where it is wrong for all types. */

typedef struct unbound_check {
    compiler_source *source;
    const kernel_interface *kernel;
    compiler_type_binding *types; /* of its variables */
} unbound_check;

static ir_module *checked_with(const unbound_check *u, diagnostics *d) {
    const compiler_case c = {.types = u->types, .type_count = u->kernel->variable_count};
    return kernel_check(u->source, u->kernel, &c, d);
}

static bool is_good_with(const unbound_check *u) {
    text unseen;
    diagnostics d;
    text_init(&unseen);
    diagnostics_init(&d, &u->source->text, false, &unseen);
    diagnostic_list *listed = diagnostics_list(NULL);
    ir_module *m = checked_with(u, &d);
    diagnostics_list(listed);
    diagnostics_release(&d);
    text_release(&unseen);
    ir_module_free(m);
    return m != NULL;
}

static void set_types(const unbound_check *u, uint32_t first, dtype type) {
    for (uint32_t i = first; i < u->kernel->variable_count; i++)
        u->types[i].type = type;
}

/* Tries all types for the variables from `at` on, and keeps what is good. */
static bool find_types(const unbound_check *u, uint32_t at) {
    if (at == u->kernel->variable_count)
        return is_good_with(u);
    for (dtype type = DTYPE_NONE + 1; type < DTYPE_COUNT; type++) {
        u->types[at].type = type;
        if (find_types(u, at + 1))
            return true;
    }
    return false;
}

/* f32 first, then any one type for all variables; of two variables all pairs. */
static void choose_types(const unbound_check *u) {
    enum { PAIR = 2 };
    const uint32_t count = u->kernel->variable_count;
    set_types(u, 0, DTYPE_F32);
    if (count == 0 || is_good_with(u))
        return;
    for (dtype type = DTYPE_NONE + 1; type < DTYPE_COUNT; type++) {
        set_types(u, 0, type);
        if (is_good_with(u))
            return;
    }
    if (count != PAIR || !find_types(u, 0))
        set_types(u, 0, DTYPE_F32);
}

static void check_without_cases(compiler_source *s, const kernel_interface *k, diagnostics *d) {
    const unbound_check u = {s, k,
                             ARENA_NEW(&s->memory, compiler_type_binding, k->variable_count + 1)};
    for (uint32_t i = 0; i < k->variable_count; i++)
        u.types[i].name = k->variables[i].name;
    choose_types(&u);
    ir_module *m = checked_with(&u, d);
    if (m && k->symbol_count == 0) {
        const compiler_case only = {.name = "fixed", .bound = ""};
        instance_check(s, m, &only, d);
    }
    ir_module_free(m);
}

static void check_kernel(compiler_source *s, uint32_t index, diagnostics *d) {
    const kernel_interface *k = &s->interfaces[index];
    compiler_kernel *kernel = &s->kernels[index];
    const uint32_t before = d->reported;
    if (k->broken || k->function->broken || k->imported) /* which is verified, and static */
        return;
    if (kernel->case_count == 0 && has_all_constants(k, NULL))
        check_without_cases(s, k, d);
    map seen;
    text key;
    map_init(&seen);
    text_init(&key);
    for (uint32_t i = 0; i < kernel->case_count; i++) {
        binding_text(&kernel->cases[i], &key);
        if (!map_get(&seen, key.data, NULL)) {
            map_put(&seen, key.data, 1);
            check_cases(s, k, kernel, i, d);
        }
    }
    kernel->broken = d->reported != before;
    text_release(&key);
    map_release(&seen);
}

/* ---- whose errors they are ---- */

static bool is_inside(const ast_function *f, uint32_t offset) {
    return offset >= f->whole.start && offset <= f->whole.end;
}

static bool is_inside_any(const compiler_source *s, uint32_t offset) {
    for (uint32_t i = 0; i < s->kernel_count; i++)
        if (is_inside(s->interfaces[i].function, offset))
            return true;
    return false;
}

/* An error is its kernel's, also one in a function that it calls. One outside of all kernels, found
 * while `read` errors were, may be about what any of them uses. */
static void mark_broken(compiler_source *s, const diagnostics *d, size_t read) {
    bool all = false;
    for (size_t e = 0; e < read && !all; e++)
        all = !is_inside_any(s, d->places.items[e]);
    for (uint32_t i = 0; i < s->kernel_count; i++) {
        const kernel_interface *k = &s->interfaces[i];
        bool own = k->broken || k->function->broken || s->kernels[i].broken;
        for (size_t e = 0; e < d->places.count && !own; e++)
            own = is_inside(k->function, d->places.items[e]);
        s->kernels[i].broken = all || own;
    }
    /* A kernel whose formula cannot be read says nothing of others; a chain of them has an end. */
    for (uint32_t turn = 0; turn < s->kernel_count; turn++)
        for (uint32_t i = 0; i < s->kernel_count; i++)
            s->kernels[i].broken |= s->kernels[i].same_as && s->kernels[i].same_as->broken;
}

/* ---- opening ---- */

/* Functions and records that are no kernels by themselves. */
static void read_parts(compiler_source *s, source_module *m, diagnostics *d) {
    for (uint32_t i = 0; i < m->record_count; i++)
        record_read(s, &m->records[i], d);
    for (uint32_t i = 0; i < m->function_count; i++)
        if (!m->functions[i].is_kernel) {
            callable_read(s, &m->functions[i], d);
            promise_read(s, &m->functions[i], d);
        }
}

static void read_kernels(compiler_source *s, diagnostics *d) {
    uint32_t count = s->main->function_count;
    s->kernels = ARENA_NEW(&s->memory, compiler_kernel, count + 1);
    s->interfaces = ARENA_NEW(&s->memory, kernel_interface, count + 1);
    for (uint32_t i = 0; i < count; i++) {
        const ast_function *f = &s->main->ast->functions[i];
        compiler_kernel *out = &s->kernels[s->kernel_count];
        check_unique(s, f, d);
        if (!s->main->functions[i].is_kernel)
            continue;
        s->interfaces[s->kernel_count] = interface_of(s, f, d);
        *out = (compiler_kernel){.name = f->name,
                                 .path = s->text.name,
                                 .line = source_position_of(&s->text, f->at.start).line};
        names_read(s, &s->interfaces[s->kernel_count], out);
        cases_read(s, &s->interfaces[s->kernel_count], out, d);
        out->knobs = tile_knobs_keep(s, &s->interfaces[s->kernel_count]);
        s->kernel_count++;
    }
}

static span keep_text(compiler_source *s, const char *name, const char *data, size_t size) {
    const char *kept = arena_strndup(&s->memory, "", 0);
    if (size)
        kept = arena_copy(&s->memory, data, size);
    uint32_t first = bundle_divide(s, kept, (uint32_t)size);
    source_text_init(&s->text, &s->memory, arena_strdup(&s->memory, name), kept, first);
    return (span){0, first};
}

static compiler_source *open_bytes(const char *name, const char *data, size_t size, bool colour,
                                   bool known, text *out) {
    compiler_source *s = base_calloc(1, sizeof(*s));
    diagnostics d;
    opset_register(graph_op_table());
    arena_init(&s->memory);
    s->colour = colour;
    diagnostics_init(&d, &s->text, colour, out);
    const span heads = shlo_is_one(data, size) ? imported_read(s, name, data, size, &d)
                                               : keep_text(s, name, data, size);
    s->main = module_load(s, s->text.name, heads, &d);
    if (!s->program) /* whose heads name none */
        constants_check(s, &d);
    for (size_t i = 0; i < s->modules.count; i++)
        read_parts(s, s->modules.items[i], &d);
    read_kernels(s, &d);
    imported_connect(s);
    same_as_resolve(s, &d);
    size_t read = d.places.count;
    for (uint32_t i = 0; i < s->kernel_count && !known; i++)
        check_kernel(s, i, &d);
    s->errors = d.errors;
    mark_broken(s, &d, read);
    diagnostics_release(&d);
    return s;
}

/* A program of StableHLO may have more than a source of ours. */
static size_t bytes_max(const char *data, size_t size) {
    return shlo_is_one(data, size) ? LIMIT_PROGRAM_BYTES : LIMIT_SOURCE_BYTES;
}

static compiler_source *open_file(const char *path, bool colour, bool known, text *out,
                                  status *st) {
    char *data;
    size_t size;
    if (!file_read(path, LIMIT_PROGRAM_BYTES, &data, &size, st))
        return NULL;
    compiler_source *s = NULL;
    const size_t limit = bytes_max(data, size);
    if (size > limit)
        status_set(st, STATUS_INVALID, "%s has %zu bytes; at most %zu are read here", path, size,
                   limit);
    else
        s = open_bytes(path, data, size, colour, known, out);
    free(data);
    return s;
}

compiler_source *compiler_open(const char *path, bool colour, text *out, status *st) {
    return open_file(path, colour, false, out, st);
}

compiler_source *compiler_open_known(const char *path, bool colour, text *out, status *st) {
    return open_file(path, colour, true, out, st);
}

compiler_source *compiler_open_text(const char *name, const char *source, bool colour, text *out) {
    const size_t size = strlen(source), limit = bytes_max(source, size);
    return open_bytes(name, source, size < limit ? size : limit, colour, false, out);
}

compiler_source *compiler_open_bytes(const char *name, const void *data, size_t size, bool colour,
                                     text *out, status *st) {
    const size_t limit = bytes_max(data, size);
    if (size > limit)
        status_set(st, STATUS_INVALID, "the source has %zu bytes, and may have %zu", size, limit);
    else if (!shlo_is_bytecode(data, size) && memchr(data, '\0', size))
        status_set(st, STATUS_INVALID, "the source has a byte of 0 within");
    else
        return open_bytes(name, data, size, colour, false, out);
    return NULL;
}

void compiler_close(compiler_source *source) {
    if (source) {
        imported_release(source);
        modules_release(source);
        vec_release(&source->settings);
        arena_release(&source->memory);
        free(source);
    }
}

uint32_t compiler_error_count(const compiler_source *source) {
    return source->errors;
}

const char *compiler_import_at(const compiler_source *source, uint32_t index) {
    for (size_t i = 0; i < source->modules.count; i++) {
        const source_module *m = source->modules.items[i];
        if (m != source->main && *m->key == '/' && index-- == 0)
            return m->key;
    }
    return NULL;
}

uint32_t compiler_kernel_count(const compiler_source *source) {
    return source->kernel_count;
}

const compiler_kernel *compiler_kernel_at(const compiler_source *source, uint32_t index) {
    return index < source->kernel_count ? &source->kernels[index] : NULL;
}

const compiler_kernel *compiler_kernel_named(const compiler_source *source, const char *name) {
    for (uint32_t i = 0; i < compiler_kernel_count(source); i++)
        if (strcmp(compiler_kernel_at(source, i)->name, name) == 0)
            return compiler_kernel_at(source, i);
    return NULL;
}

const compiler_case *compiler_case_named(const compiler_kernel *kernel, const char *name) {
    for (uint32_t i = 0; i < kernel->case_count; i++)
        if (strcmp(kernel->cases[i].name, name) == 0)
            return &kernel->cases[i];
    return NULL;
}

bool source_has_kernel(const compiler_source *source, const compiler_kernel *kernel, text *out) {
    if (kernel->broken) {
        text_printf(out, "%s:%u: kernel '%s' has errors\n", source->text.name, kernel->line,
                    kernel->name);
    }
    return !kernel->broken;
}

ir_module *compiler_graph(compiler_source *source, const compiler_kernel *kernel,
                          const compiler_case *c, text *out) {
    const kernel_interface *k = &source->interfaces[kernel - source->kernels];
    diagnostics d;
    if (!source_has_kernel(source, kernel, out))
        return NULL;
    diagnostics_init(&d, &source->text, source->colour, out);
    ir_module *m = kernel_check(source, k, c, &d);
    diagnostics_release(&d);
    return m;
}
