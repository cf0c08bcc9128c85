/* run_module.c - a module file and arrays in, arrays out; the compiler takes no part. */
#include "cli/run_module.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/file.h"
#include "base/sha256.h"
#include "case/dims_from_arrays.h"
#include "cli/choice.h"
#include "cli/command.h"
#include "cli/run_steps.h"
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
    const char **paths; /* of the inputs; in the metadata's memory, as `buffers` */
    tensor *inputs;     /* of tensors_new */
    int64_t steps;      /* 0: one launch */
    int counter;
    compiler_buffer *buffers; /* inputs, then outputs */
    compiler_signature signature;
    uint32_t device;
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
    struct compiler_buffer b = {.name = p->name,
                                .type = p->type,
                                .rank = (int)p->rank,
                                .replaces = -1,
                                .effect = p->effect};
    memcpy(b.dims, p->dims, sizeof b.dims);
    return b;
}

static void read_signature(module_run *r) {
    metadata *m = &r->metadata;
    uint32_t count = m->inputs + m->outputs;
    r->buffers = ARENA_NEW(&m->memory, compiler_buffer, count + 1);
    r->paths = ARENA_NEW(&m->memory, const char *, m->inputs + 1);
    r->inputs = tensors_new(m->inputs);
    for (uint32_t i = 0; i < count; i++)
        r->buffers[i] = buffer_of(&m->parameters[i]);
    for (uint32_t i = 0; m->donated && i < m->inputs; i++)
        if (m->donated[i] != METADATA_NOT_DONATED)
            r->buffers[m->inputs + m->donated[i]].replaces = (int)i;
    r->signature = (compiler_signature){.input_count = m->inputs,
                                        .output_count = m->outputs,
                                        .inputs = r->buffers,
                                        .outputs = r->buffers + m->inputs};
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
    return true;
}

static bool read_inputs(module_run *r, const options *o, status *st) {
    const uint32_t count = r->metadata.inputs;
    const char **names = ARENA_NEW(&r->metadata.memory, const char *, count + 1);
    dtype *types = ARENA_NEW(&r->metadata.memory, dtype, count + 1);
    for (uint32_t i = 0; i < count; i++) {
        names[i] = r->signature.inputs[i].name;
        types[i] = r->signature.inputs[i].type;
    }
    const step_inputs given = {names, types, count, r->paths, r->inputs};
    if (!steps_read(&given, o, st))
        return false;
    r->counter = r->steps ? steps_counter(&given, st) : -1;
    for (uint32_t i = 0; i < count; i++) {
        if (!r->inputs[i].data)
            return status_set(st, STATUS_INVALID,
                              "no array for input %s: give it with --in %s=FILE.npy", names[i],
                              names[i]);
        if (r->inputs[i].type != types[i])
            return status_set(st, STATUS_INVALID, "input %s is %s, but %s holds %s", names[i],
                              dtype_name(types[i]), r->paths[i], dtype_name(r->inputs[i].type));
    }
    return true;
}

/* ---- dimensions ---- */

static shaped_array declared_array(const module_run *r, uint32_t input) {
    const metadata_parameter *p = &r->metadata.parameters[input];
    shaped_array a = {.name = p->name, .rank = (int)p->rank, .array = &r->inputs[input]};
    memcpy(a.formulas, p->formulas, sizeof a.formulas);
    memcpy(a.dims, p->dims, sizeof a.dims);
    return a;
}

static bool solve_dims(module_run *r, const compiler_values *given, status *st) {
    metadata *m = &r->metadata;
    shaped_array *arrays = ARENA_NEW(&m->memory, shaped_array, m->inputs + 1);
    for (uint32_t i = 0; i < m->inputs; i++)
        arrays[i] = declared_array(r, i);
    if (m->dims > LAUNCH_DIMS_MAX)
        return status_set(st, STATUS_INVALID, "%s takes more than %d dimensions", m->name,
                          LAUNCH_DIMS_MAX);
    if (given->type_count)
        return status_set(st, STATUS_INVALID, "--dims: the types of a module are known: %s",
                          given->types[0].name);
    dims_request request = {.kernel = m->name,
                            .names = m->dim_names,
                            .name_count = m->dims,
                            .arrays = arrays,
                            .array_count = m->inputs,
                            .given = {given->dims, given->dim_count},
                            .given_by = "--dims"};
    if (!dims_from_arrays(&request, r->dims, st))
        return false;
    for (uint32_t d = 0; d < m->dims; d++)
        r->bindings[d] = (ir_binding){m->dim_names[d], r->dims[d]};
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
    for (uint32_t i = 0; i < m->inputs; i++)
        memcpy(r->buffers[i].dims, r->inputs[i].dims, sizeof r->inputs[i].dims);
    for (uint32_t i = 0; i < m->outputs; i++)
        if (!evaluate_shape(r, &m->parameters[m->inputs + i], &r->buffers[m->inputs + i]))
            return status_set(st, STATUS_INVALID, "output %s would have a negative dimension",
                              r->signature.outputs[i].name);
    return true;
}

static bool run(module_run *r, const options *o, const job_choice *choice, status *st) {
    launch l = {0};
    char digest[65];
    const sha256 whole = sha256_of(r->image, r->size);
    sha256_hex(&whole, digest);
    const char *isa = NULL;
    launch_request request = {.device = r->device,
                              .threads = choice->threads[0],
                              .constants = choice->constants,
                              .image = r->image,
                              .image_size = r->size,
                              .kernel = r->metadata.name,
                              .dims = r->bindings,
                              .dim_count = r->metadata.dims,
                              .foreign = true};
    launch_request_buffers(&request, &r->signature);
    step_plan plan = {.kernel = r->metadata.name,
                      .path = r->path,
                      .program = digest,
                      .signature = &r->signature,
                      .inputs = r->inputs,
                      .device = &l,
                      .counter = r->counter,
                      .steps = r->steps};
    bool fails;
    steps_options(&plan, o);
    bool ok = launch_open(&l, &request, st) && steps_run(&plan, &fails, st);
    if (ok && tsrGetModuleIsa(l.module, &isa) == TSR_SUCCESS)
        say(stderr, "tsr: %s: the image for %s\n", r->path, isa);
    launch_close(&l);
    return ok;
}

/* On the backend that is named, if it runs modules; else on this CPU. */
static int choose_device(const options *o, const job_choice *choice, uint32_t *device) {
    backend_id id;
    status st = STATUS_INIT;
    if (choice->implementation_count) {
        status_set(&st, STATUS_UNAVAILABLE,
                   "plugins of PJRT run no modules: they compile a kernel's source by themselves");
        return command_fail(&st);
    }
    int code = choice_one_backend(o, choice, &id, device);
    if (code != EXIT_DONE || backend_is_compiled(&backend_table[id]))
        return code;
    status_set(&st, STATUS_UNAVAILABLE, "backend %s runs no modules: they are code for devices",
               backend_table[id].name);
    return command_fail(&st);
}

int run_module(const options *o, int64_t steps) {
    module_run r = {.path = o->arguments.items[0], .steps = steps};
    job_choice choice;
    status st = STATUS_INIT;
    int code = COMMAND_REFUSE(o, "has no say: a module is compiled already", OPTION_KERNEL,
                              OPTION_CASE, OPTION_PROFILE, OPTION_ISA, OPTION_UNOPTIMISED,
                              OPTION_CHECK_BOUNDS, OPTION_SCHEDULE, OPTION_NO_CACHE, OPTION_SPACE,
                              OPTION_CONSTANTS, OPTION_TUNED, OPTION_NO_TUNED, OPTION_SENTINELS);
    code = code ? code : choice_make(o, "strict", 60, &choice);
    code = code ? code : choose_device(o, &choice, &r.device);
    if (code)
        return code;
    if (choice.thread_count != 1)
        return command_usage(o->command, "one thread count, please");
    compiler_values given;
    arena memory;
    arena_init(&memory);
    bool ok = compiler_values_read(options_text(o, OPTION_DIMS, ""), &memory, &given, &st) &&
              read_module(&r, &st);
    if (ok) {
        read_signature(&r);
        ok = assign_inputs(&r, o, &st) && read_inputs(&r, o, &st) && solve_dims(&r, &given, &st) &&
             find_shapes(&r, &st) && run(&r, o, &choice, &st);
        metadata_release(&r.metadata);
    }
    tensors_free(r.inputs);
    free(r.image);
    arena_release(&memory);
    return ok ? EXIT_DONE : command_fail(&st);
}
