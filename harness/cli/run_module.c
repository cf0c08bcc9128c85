/* run_module.c - a module file and arrays in, arrays out; the compiler takes no part. */
#include "cli/run_module.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/file.h"
#include "cli/choice.h"
#include "cli/command.h"
#include "common/say.h"
#include "formula.h"
#include "launch/launch.h"
#include "metadata.h"
#include "module.h"

enum { MODULE_BYTES_MAX = 1 << 28 };

typedef struct module_run {
    const char *path;
    char *image;
    size_t size;
    metadata metadata;
    const char *paths[COMPILER_MAX_PARAMETERS]; /* of the inputs */
    tensor inputs[COMPILER_MAX_PARAMETERS], outputs[COMPILER_MAX_PARAMETERS];
    compiler_signature signature;
    int64_t dims[LAUNCH_DIMS_MAX];
    ir_binding bindings[LAUNCH_DIMS_MAX];
} module_run;

bool run_module_is(const char *path) {
    char start[6] = {0};
    FILE *file = fopen(path, "rb");
    size_t count = file ? fread(start, 1, sizeof start, file) : 0;
    if (file)
        fclose(file);
    return count == sizeof start && memcmp(start, "TSRMOD", sizeof start) == 0;
}

static bool read_module(module_run *r, status *st) {
    module_part part;
    if (!file_read(r->path, MODULE_BYTES_MAX, &r->image, &r->size, st))
        return false;
    bool ok = module_check(r->image, r->size, st);
    if (ok && !module_find(r->image, r->size, "metadata", &part))
        ok = status_set(st, STATUS_CORRUPT, "the module has no metadata");
    ok = ok && metadata_parse(&r->metadata, part.data, part.size_bytes, st);
    return ok || status_set(st, st->code, "%s", r->path);
}

/* A buffer's shape, as far as it is known: -1 is given at launch. */
static struct compiler_buffer buffer_of(const metadata_parameter *p) {
    struct compiler_buffer b = {.name = p->name, .type = p->type, .rank = (int)p->rank};
    memcpy(b.dims, p->dims, sizeof b.dims);
    return b;
}

static bool read_signature(module_run *r, status *st) {
    const metadata *m = &r->metadata;
    if (m->inputs > COMPILER_MAX_PARAMETERS || m->outputs > COMPILER_MAX_PARAMETERS)
        return status_set(st, STATUS_INVALID, "%s takes more than %d arrays", m->name,
                          COMPILER_MAX_PARAMETERS);
    r->signature.input_count = m->inputs;
    r->signature.output_count = m->outputs;
    for (uint32_t i = 0; i < m->inputs; i++)
        r->signature.inputs[i] = buffer_of(&m->parameters[i]);
    for (uint32_t i = 0; i < m->outputs; i++)
        r->signature.outputs[i] = buffer_of(&m->parameters[m->inputs + i]);
    return true;
}

/* The input that a word NAME=FILE is for; that of FILE is the next without an array. */
static uint32_t input_of(const module_run *r, const char *word, const char *equals) {
    uint32_t i = 0, count = r->metadata.inputs;
    if (!equals)
        while (i < count && r->paths[i])
            i++;
    else
        while (i < count &&
               (strlen(r->metadata.parameters[i].name) != (size_t)(equals - word) ||
                strncmp(r->metadata.parameters[i].name, word, (size_t)(equals - word)) != 0))
            i++;
    return i;
}

static bool assign_inputs(module_run *r, const options *o, status *st) {
    const string_list *given = &o->values[OPTION_IN].values;
    for (size_t i = 0; i < given->count; i++) {
        const char *word = given->items[i], *equals = strchr(word, '=');
        uint32_t at = input_of(r, word, equals);
        if (at >= r->metadata.inputs)
            return status_set(st, STATUS_INVALID, "kernel %s has no input for --in %s",
                              r->metadata.name, word);
        if (r->paths[at])
            return status_set(st, STATUS_INVALID, "input %s is given twice: %s and %s",
                              r->metadata.parameters[at].name, r->paths[at], equals + 1);
        r->paths[at] = equals ? equals + 1 : word;
    }
    for (uint32_t i = 0; i < r->metadata.inputs; i++)
        if (!r->paths[i])
            return status_set(st, STATUS_INVALID,
                              "no array for input %s: give it with --in %s=FILE.npy",
                              r->metadata.parameters[i].name, r->metadata.parameters[i].name);
    return true;
}

/* "[M, 64]", or with `dims` what an array has. */
static void append_shape(text *out, const metadata_parameter *p, const tensor *t) {
    int rank = t ? t->rank : (int)p->rank;
    text_append(out, "[");
    for (int i = 0; i < rank; i++) {
        text_append(out, i ? ", " : "");
        if (!t && p->formulas[i])
            text_append(out, p->formulas[i]);
        else
            text_printf(out, "%" PRId64, t ? t->dims[i] : p->dims[i]);
    }
    text_append(out, "]");
}

static bool wrong_shape(const module_run *r, uint32_t i, status *st) {
    text words;
    text_init(&words);
    append_shape(&words, &r->metadata.parameters[i], NULL);
    text_append(&words, ", but the array is ");
    append_shape(&words, NULL, &r->inputs[i]);
    status_set(st, STATUS_INVALID, "input %s has shape %s", r->metadata.parameters[i].name,
               words.data);
    text_release(&words);
    return false;
}

static bool read_inputs(module_run *r, status *st) {
    for (uint32_t i = 0; i < r->metadata.inputs; i++) {
        dtype wanted = r->signature.inputs[i].type;
        dtype told = dtype_owns_npy_descr(wanted) ? DTYPE_NONE : wanted;
        if (!tensor_read_npy(&r->inputs[i], r->paths[i], told, st))
            return false;
        if (r->inputs[i].type != wanted)
            return status_set(st, STATUS_INVALID, "input %s is %s, but %s holds %s",
                              r->signature.inputs[i].name, dtype_name(wanted), r->paths[i],
                              dtype_name(r->inputs[i].type));
        if (r->inputs[i].rank != r->signature.inputs[i].rank)
            return wrong_shape(r, i, st);
    }
    return true;
}

/* ---- dimensions ---- */

/* Names that stand alone as a dimension of an input. */
static bool dims_from_arrays(module_run *r, status *st) {
    const metadata *m = &r->metadata;
    if (m->dims > LAUNCH_DIMS_MAX)
        return status_set(st, STATUS_INVALID, "%s takes more than %d dimensions", m->name,
                          LAUNCH_DIMS_MAX);
    for (uint32_t d = 0; d < m->dims; d++) {
        r->dims[d] = -1;
        for (uint32_t i = 0; i < m->inputs && r->dims[d] < 0; i++)
            for (uint32_t k = 0; k < m->parameters[i].rank; k++)
                if (m->parameters[i].formulas[k] &&
                    strcmp(m->parameters[i].formulas[k], m->dim_names[d]) == 0)
                    r->dims[d] = r->inputs[i].dims[k];
        if (r->dims[d] < 0)
            return status_set(
                st, STATUS_INVALID,
                "dimension %s of %s stands alone in no input, so arrays do not tell it",
                m->dim_names[d], m->name);
        r->bindings[d] = (ir_binding){m->dim_names[d], r->dims[d]};
    }
    return true;
}

static bool evaluate_shape(const module_run *r, const metadata_parameter *p,
                           struct compiler_buffer *b) {
    formula_names names = {r->metadata.dim_names, r->dims, r->metadata.dims};
    bool ok = true;
    for (uint32_t k = 0; k < p->rank && ok; k++)
        if (p->formulas[k])
            ok = formula_evaluate(p->formulas[k], &names, &b->dims[k]) == FORMULA_OK &&
                 b->dims[k] >= 0;
    return ok;
}

static bool find_shapes(module_run *r, status *st) {
    const metadata *m = &r->metadata;
    for (uint32_t i = 0; i < m->inputs; i++) {
        struct compiler_buffer *b = &r->signature.inputs[i];
        bool same = evaluate_shape(r, &m->parameters[i], b);
        for (int k = 0; k < b->rank && same; k++)
            same = r->inputs[i].dims[k] == b->dims[k];
        if (!same)
            return wrong_shape(r, i, st);
    }
    for (uint32_t i = 0; i < m->outputs; i++)
        if (!evaluate_shape(r, &m->parameters[m->inputs + i], &r->signature.outputs[i]))
            return status_set(st, STATUS_INVALID, "output %s would have a negative dimension",
                              r->signature.outputs[i].name);
    return true;
}

static bool run(module_run *r, uint32_t threads, status *st) {
    launch l = {0};
    const char *isa = NULL;
    launch_request request = {.threads = threads,
                              .image = r->image,
                              .image_size = r->size,
                              .kernel = r->metadata.name,
                              .dims = r->bindings,
                              .dim_count = r->metadata.dims,
                              .foreign = true};
    launch_request_buffers(&request, &r->signature);
    bool ok = launch_open(&l, &request, st) && launch_write_inputs(&l, r->inputs, st) &&
              launch_run(&l, st) && launch_read_outputs(&l, &r->signature, r->outputs, st);
    if (ok && tsrGetModuleIsa(l.module, &isa) == TSR_SUCCESS)
        say(stderr, "tsr: %s: the image for %s\n", r->path, isa);
    launch_close(&l);
    return ok;
}

static bool write_outputs(const module_run *r, const char *directory, status *st) {
    bool ok = file_make_dirs(directory, st);
    for (uint32_t i = 0; i < r->signature.output_count && ok; i++) {
        text path;
        text_init(&path);
        text_printf(&path, "%s/%s.npy", directory, r->signature.outputs[i].name);
        ok = tensor_write_npy(&r->outputs[i], path.data, st);
        if (ok)
            say(stdout, "%s\n", path.data);
        text_release(&path);
    }
    return ok;
}

int run_module(const options *o) {
    module_run r = {.path = o->arguments.items[0]};
    job_choice choice;
    status st = STATUS_INIT;
    int code = COMMAND_REFUSE(o, "has no say: a module is compiled already", OPTION_KERNEL,
                              OPTION_CASE, OPTION_PROFILE, OPTION_ISA, OPTION_UNOPTIMISED,
                              OPTION_BACKEND, OPTION_SCHEDULE, OPTION_NO_CACHE);
    code = code ? code : choice_make(o, "strict", 60, &choice);
    if (code)
        return code;
    if (choice.by_name && !choice.backends[BACKEND_CPU]) {
        status_set(&st, STATUS_UNAVAILABLE,
                   "TESSERA_BACKEND: a module is code for the backend cpu");
        return command_fail(&st);
    }
    if (choice.thread_count != 1)
        return command_usage(o->command, "one thread count, please");
    bool ok = read_module(&r, &st);
    if (ok) {
        ok = read_signature(&r, &st) && assign_inputs(&r, o, &st) && read_inputs(&r, &st) &&
             dims_from_arrays(&r, &st) && find_shapes(&r, &st) && run(&r, choice.threads[0], &st) &&
             write_outputs(&r, options_text(o, OPTION_OUT, "."), &st);
        metadata_release(&r.metadata);
    }
    tensor_release_all(r.inputs, COMPILER_MAX_PARAMETERS);
    tensor_release_all(r.outputs, COMPILER_MAX_PARAMETERS);
    free(r.image);
    return ok ? EXIT_DONE : command_fail(&st);
}
