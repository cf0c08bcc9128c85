/* compile.c - the C ABI of the compiler: one call of each function opens a source, chooses a kernel
 * and its shape, and keeps what came of it. */
#include "tessera/compile.h"

#include <stdlib.h>
#include <string.h>

#include "base/file.h"
#include "left_case.h"
#include "source/diagnostic.h"
#include "tessera/compiler.h"
#include "tessera/nonfinite.h"
#include "tessera/programs.h"

_Static_assert((int)TSR_NONFINITE_CODE == (int)NONFINITE_CODE &&
                   (int)TSR_NONFINITE_INPUT == (int)NONFINITE_INPUT,
               "origins are those of the compiler");
_Static_assert(sizeof((tsr_shape_t *)0)->dims >= TENSOR_MAX_RANK * sizeof(int64_t),
               "a shape has room for every rank");

struct tsr_compilation {
    text said; /* rendered */
    diagnostic_list listed;
    const compiler_kernel *kernel; /* of the instance */
    compiler_source *source;    /* names of the signature are borrowed from it and the instance */
    const compiler_case *shape; /* of the instance; NULL: any */
    bool specialized;           /* its tiles are */
    compiler_instance *instance;
    compiler_signature signature;
    bool has_signature;
    compiler_artifact artifact;
    text found; /* of tsrFindNonfinite */
};

/* ---- options ---- */

/* Options of another version of the header: what it has, the rest zero. */
static tsr_compile_options_t options_of(const tsr_compile_options_t *given) {
    tsr_compile_options_t o = {0};
    if (given && given->struct_size)
        memcpy(&o, given, given->struct_size < sizeof o ? given->struct_size : sizeof o);
    return o;
}

static bool profile_of(const char *name, compiler_profile *out, status *st) {
    for (*out = PROFILE_STRICT; *out < PROFILE_COUNT; ++*out)
        if (!name || strcmp(name, compiler_profile_name(*out)) == 0)
            return true;
    return status_set(st, STATUS_INVALID,
                      "there is no profile '%s'; there is strict, deterministic "
                      "and fast",
                      name);
}

/* ---- what to compile ---- */

static const compiler_kernel *find_kernel(const compiler_source *source, const char *name,
                                          status *st) {
    uint32_t count = compiler_kernel_count(source);
    text names;
    const compiler_kernel *found = NULL;
    text_init(&names);
    for (uint32_t i = 0; i < count; i++) {
        const compiler_kernel *k = compiler_kernel_at(source, i);
        text_printf(&names, "%s%s", i ? ", " : "", k->name);
        if (name ? strcmp(k->name, name) == 0 : count == 1)
            found = k;
    }
    bool read = compiler_error_count(source) == 0;
    if (!found && count == 0 && read) /* else its errors say so */
        status_set(st, STATUS_NOT_FOUND, "the source holds no kernel: one has @kernel above it");
    else if (!found && name && count)
        status_set(st, STATUS_NOT_FOUND, "no kernel '%s'; there is %.700s", name, names.data);
    else if (!found && count)
        status_set(st, STATUS_INVALID, "there are several kernels, `kernel` names one: %.700s",
                   names.data);
    text_release(&names);
    return found;
}

static const compiler_case *bound_case(tsr_compilation_t c, const compiler_kernel *k,
                                       const char *dims, status *st) {
    compiler_values values = {0};
    arena memory;
    arena_init(&memory);
    const compiler_case *found = NULL;
    if (compiler_values_read(dims, &memory, &values, st)) {
        found = compiler_case_bind(c->source, k, &values, &c->said);
        if (!found && c->listed.count == 0)
            status_set(st, STATUS_INVALID, "%s",
                       c->said.length ? c->said.data : "`dims` do not fit");
    }
    arena_release(&memory);
    return found;
}

/* *out stays NULL where the kernel needs none. */
static bool find_case(tsr_compilation_t c, const compiler_kernel *k, const tsr_compile_options_t *o,
                      const compiler_case **out, status *st) {
    *out = NULL;
    if (o->dims && o->case_name)
        return status_set(st, STATUS_INVALID, "`dims` and `case_name` exclude each other");
    if (o->case_name)
        return (*out = compiler_case_named(k, o->case_name)) != NULL ||
               status_set(st, STATUS_NOT_FOUND, "kernel '%s' has no case '%s'", k->name,
                          o->case_name);
    bool fixed = k->dim_count + k->type_count == 0;
    if (o->dims || fixed)
        return (*out = bound_case(c, k, o->dims ? o->dims : "", st)) != NULL;
    if (k->case_count)
        *out = &k->cases[0];
    return *out || (o->generic && k->type_count == 0) ||
           status_set(st, STATUS_INVALID, "kernel '%s' has no cases: `dims` gives it dimensions",
                      k->name);
}

static bool open_instance(tsr_compilation_t c, const tsr_compile_options_t *o,
                          const compiler_kernel **kernel, status *st) {
    *kernel = find_kernel(c->source, o->kernel, st);
    if (!*kernel || (*kernel)->broken)
        return *kernel && c->listed.count == 0 &&
               status_set(st, STATUS_INVALID, "kernel '%s' has errors", (*kernel)->name);
    if (!find_case(c, *kernel, o, &c->shape, st))
        return false;
    const compiler_case *own = c->shape;
    c->kernel = *kernel;
    if (!o->generic && !compiler_case_specialize(c->source, *kernel, own, o->isa, &c->shape, st))
        return false;
    c->specialized = c->shape != own;
    c->instance = compiler_instance_open(c->source, *kernel, c->shape, &c->said);
    if (!c->instance)
        return c->listed.count == 0 && status_set(st, STATUS_INVALID, "%s", c->said.data);
    c->has_signature = !o->generic && compiler_signature_of(c->instance, &c->signature, st);
    return o->generic || c->has_signature;
}

static bool build(tsr_compilation_t c, const tsr_compile_options_t *o,
                  const compiler_kernel *kernel, status *st) {
    compiler_options options = {.isa = o->isa,
                                .generic = o->generic != 0,
                                .check_bounds = o->check_bounds != 0,
                                .threads = o->threads,
                                .schedule = o->schedule,
                                .constants = o->constants,
                                .source_schedule = kernel->schedule};
    text space, unused;
    const bool profiled = profile_of(o->profile, &options.profile, st);
    text_init(&space);
    text_init(&unused);
    if (c->shape && !options.generic) {
        diagnostics_list(NULL); /* other tiles that do not check are none of the caller's */
        compiler_choice_text(kernel, c->shape, &space);
        compiler_unused_hints(c->source, kernel, c->shape, &options, &unused);
        diagnostics_list(&c->listed);
    }
    options.provenance = &(compiler_provenance){
        .space = space.data, .unused_hints = unused.data, .specialized = c->specialized};
    bool ok = profiled && compiler_build(c->instance, &options, &c->artifact, st);
    text_release(&space);
    text_release(&unused);
    return ok;
}

/* ---- the calls ---- */

static tsr_status_t abi_code(status_code code) {
    return code == STATUS_NOT_FOUND       ? TSR_ENOTFOUND
           : code == STATUS_UNAVAILABLE   ? TSR_EUNAVAILABLE
           : code == STATUS_OUT_OF_MEMORY ? TSR_EOOM
           : code == STATUS_INTERNAL      ? TSR_EINTERNAL
                                          : TSR_EINVAL;
}

/* A failure without a place is a diagnostic, too. */
static tsr_status_t ended(tsr_compilation_t c, bool ok, const status *st) {
    diagnostics_list(NULL);
    if (st->code != STATUS_OK) {
        diagnostic_list_add(&c->listed, "", (source_position){0, 0}, st->message);
        text_printf(&c->said, "%s\n", st->message);
    }
    return st->code != STATUS_OK ? abi_code(st->code) : ok ? TSR_SUCCESS : TSR_EINVAL;
}

static tsr_compilation_t begin(void) {
    tsr_compilation_t c = base_calloc(1, sizeof *c);
    compiler_init();
    text_init(&c->said);
    text_init(&c->found);
    diagnostics_list(&c->listed);
    return c;
}

static bool open_bytes(tsr_compilation_t c, const char *source, size_t bytes, const char *name,
                       status *st) {
    c->source = compiler_open_bytes(name, source, bytes, false, &c->said, st);
    return c->source != NULL;
}

/* Errors of the kernel that is meant are found here; those of others do not matter to its code. */
static bool compile(tsr_compilation_t c, const tsr_compile_options_t *given, const char *name,
                    const char *source, size_t bytes, status *st) {
    const tsr_compile_options_t o = options_of(given);
    const compiler_kernel *kernel;
    left_case left;
    if (!open_instance(c, &o, &kernel, st))
        return false;
    const bool bound = c->shape && c->shape->bound,
               fixed = kernel->dim_count + kernel->type_count == 0;
    const left_source from = {name, source, bytes, kernel->name,
                              c->shape && !bound                ? c->shape->name
                              : fixed && kernel->case_count > 0 ? kernel->cases[0].name
                                                                : NULL};
    left_case_begin(&left, &from, &o);
    bool ok = build(c, &o, kernel, st);
    left_case_end(&left, st);
    return ok;
}

tsr_status_t tsrCompile(const char *source, size_t source_bytes, const char *name,
                        const tsr_compile_options_t *options, tsr_compilation_t *compilation) {
    status st = STATUS_INIT;
    if (!source || !name || !compilation)
        return TSR_EINVAL;
    tsr_compilation_t c = *compilation = begin();
    bool ok = open_bytes(c, source, source_bytes, name, &st) &&
              compile(c, options, name, source, source_bytes, &st);
    return ended(c, ok, &st);
}

tsr_status_t tsrCompileFile(const char *path, const tsr_compile_options_t *options,
                            tsr_compilation_t *compilation) {
    status st = STATUS_INIT;
    if (!path || !compilation)
        return TSR_EINVAL;
    tsr_compilation_t c = *compilation = begin();
    c->source = compiler_open(path, false, &c->said, &st);
    bool ok = c->source && compile(c, options, path, NULL, 0, &st);
    return ended(c, ok, &st);
}

tsr_status_t tsrCheckShapes(const char *source, size_t source_bytes, const char *name,
                            const tsr_compile_options_t *options, tsr_compilation_t *compilation) {
    status st = STATUS_INIT;
    const tsr_compile_options_t o = options_of(options);
    const compiler_kernel *kernel;
    if (!source || !name || !compilation)
        return TSR_EINVAL;
    tsr_compilation_t c = *compilation = begin();
    bool ok =
        open_bytes(c, source, source_bytes, name, &st) && compiler_error_count(c->source) == 0;
    if (ok && (o.kernel || o.case_name || o.dims || compiler_kernel_count(c->source) == 1)) {
        tsr_compile_options_t shape = {
            .kernel = o.kernel, .case_name = o.case_name, .dims = o.dims};
        const compiler_kernel *only = compiler_kernel_at(c->source, 0);
        bool any = !o.case_name && !o.dims && only->case_count == 0 && only->dim_count > 0;
        ok = any || open_instance(c, &shape, &kernel, &st);
    }
    return ended(c, ok, &st);
}

void tsrDestroyCompilation(tsr_compilation_t c) {
    if (!c)
        return;
    compiler_artifact_release(&c->artifact);
    compiler_instance_free(c->instance);
    compiler_close(c->source);
    diagnostic_list_release(&c->listed);
    text_release(&c->said);
    text_release(&c->found);
    free(c);
}

/* ---- what came of it ---- */

const void *tsrGetCompiledModule(tsr_compilation_t c, size_t *size_bytes) {
    if (size_bytes)
        *size_bytes = c ? c->artifact.image_size : 0;
    return c ? c->artifact.image : NULL;
}

uint32_t tsrGetDiagnosticCount(tsr_compilation_t c) {
    return c ? (uint32_t)c->listed.count : 0;
}

/* Fills no more of the caller's struct than it has. */
static tsr_status_t fill(void *out, size_t room, void *found, size_t size) {
    *(size_t *)found = room;
    memcpy(out, found, room < size ? room : size);
    return TSR_SUCCESS;
}

tsr_status_t tsrGetDiagnostic(tsr_compilation_t c, uint32_t index, tsr_diagnostic_t *out) {
    if (!c || !out || out->struct_size < sizeof(size_t))
        return TSR_EINVAL;
    if (index >= c->listed.count)
        return TSR_ENOTFOUND;
    const diagnostic_entry *e = &c->listed.items[index];
    tsr_diagnostic_t found = {
        .id = e->id, .message = e->message, .line = e->at.line, .column = e->at.column};
    return fill(out, out->struct_size, &found, sizeof found);
}

const char *tsrGetDiagnosticText(tsr_compilation_t c) {
    return c && c->said.data ? c->said.data : "";
}

uint32_t tsrGetShapeCount(tsr_compilation_t c) {
    return c && c->has_signature ? c->signature.input_count + c->signature.output_count : 0;
}

tsr_status_t tsrGetShape(tsr_compilation_t c, uint32_t index, tsr_shape_t *out) {
    if (!c || !out || out->struct_size < sizeof(size_t))
        return TSR_EINVAL;
    if (index >= tsrGetShapeCount(c))
        return TSR_ENOTFOUND;
    const compiler_signature *s = &c->signature;
    bool is_output = index >= s->input_count;
    const struct compiler_buffer *b =
        is_output ? &s->outputs[index - s->input_count] : &s->inputs[index];
    tsr_shape_t found = {.name = b->name,
                         .type = dtype_name(b->type),
                         .is_output = is_output,
                         .is_complex = compiler_is_complex(c->source, c->kernel, index),
                         .element_bits = compiler_element_bits(c->source, c->kernel, index),
                         .is_placeholder = compiler_is_placeholder(c->source, c->kernel, index),
                         .replaces = b->replaces < 0 ? TSR_NOT_DONATED : (uint32_t)b->replaces,
                         .rank = (uint32_t)b->rank};
    const compiler_lying lies = compiler_lies_on(c->source, c->kernel, index);
    found.replicas = lies.replicas;
    found.partitions = lies.partitions;
    found.device_axes = lies.device_axes;
    for (int axis = 0; axis < b->rank; axis++) {
        found.dims[axis] = b->dims[axis];
        found.parts[axis] = lies.parts[axis];
    }
    return fill(out, out->struct_size, &found, sizeof found);
}

tsr_status_t tsrGetPart(tsr_compilation_t c, uint32_t index, uint32_t device, uint32_t part[8]) {
    if (!c || !part)
        return TSR_EINVAL;
    if (index >= tsrGetShapeCount(c))
        return TSR_ENOTFOUND;
    const compiler_lying lies = compiler_lies_on(c->source, c->kernel, index);
    if (device >= lies.replicas * lies.partitions)
        return TSR_ENOTFOUND;
    compiler_part_on(c->source, c->kernel, index, device, part);
    return TSR_SUCCESS;
}

/* ---- where what is not finite comes from ---- */

/* Copies of the caller's arrays. */
static tensor *tensors_of(const compiler_buffer *buffers, uint32_t count, const void *const *arrays,
                          status *st) {
    tensor *list = tensors_new(count);
    for (uint32_t i = 0; i < count && st->code == STATUS_OK; i++)
        if (tensor_init(&list[i], buffers[i].type, buffers[i].rank, buffers[i].dims, st) &&
            tensor_bytes(&list[i]))
            memcpy(list[i].data, arrays[i], tensor_bytes(&list[i]));
    return list;
}

static bool find_nonfinite(tsr_compilation_t c, const void *const *inputs,
                           const void *const *outputs, compiler_nonfinite *found, status *st) {
    const compiler_signature *s = &c->signature;
    tensor *in = tensors_of(s->inputs, s->input_count, inputs, st),
           *out = tensors_of(s->outputs, s->output_count, outputs, st);
    text_clear(&c->found);
    bool ok = st->code == STATUS_OK && compiler_find_nonfinite(c->instance, in, out, found, st) &&
              compiler_nonfinite_text(c->instance, found, &c->found, st);
    tensors_free(in);
    tensors_free(out);
    return ok;
}

tsr_status_t tsrFindNonfinite(tsr_compilation_t c, const void *const *inputs,
                              const void *const *outputs, tsr_nonfinite_t *out) {
    compiler_nonfinite found;
    status st = STATUS_INIT;
    if (!c || !inputs || !outputs || !out || out->struct_size < sizeof(size_t) || !c->has_signature)
        return TSR_EINVAL;
    if (compiler_instance_is_contract(c->instance))
        return TSR_EUNAVAILABLE;
    if (!find_nonfinite(c, inputs, outputs, &found, &st))
        return abi_code(st.code);
    const bool came_in = found.origin == NONFINITE_INPUT;
    tsr_nonfinite_t told = {.origin = (tsr_nonfinite_origin_t)found.origin,
                            .line = found.line,
                            .column = found.column,
                            .operation = found.operation,
                            .input = came_in ? c->signature.inputs[found.input].name : NULL,
                            .rank = (uint32_t)found.rank,
                            .value = found.value,
                            .description = c->found.data};
    memcpy(told.index, found.index, sizeof found.index);
    return fill(out, out->struct_size, &told, sizeof told);
}
