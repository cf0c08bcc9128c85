/* source.c - a source of kernels as an implementation: which kernels are in it, and
 * the module of one for the types and shapes of a case. */
#include <stdlib.h>
#include <string.h>

#include "base/file.h"
#include "case/case.h"
#include "case/dims_from_arrays.h"
#include "implementation/parts.h"

/* ---- its functions ---- */

bool implementation_source_functions(implementation *i, const implementation_file *f, status *st) {
    text said;
    text_init(&said);
    compiler_source *source = compiler_open_text(i->path, f->bytes, false, &said);
    for (uint32_t k = 0; k < compiler_kernel_count(source); k++) {
        const compiler_kernel *kernel = compiler_kernel_at(source, k);
        if (!kernel->broken && !kernel->contract)
            vec_push(&i->functions, arena_strndup(&i->memory, kernel->name, strlen(kernel->name)));
    }
    bool ok = i->functions.count ||
              status_set(st, STATUS_INVALID, "--with %s: it has no kernel that can be compiled%s%s",
                         i->path, said.length ? ":\n" : "", said.length ? said.data : "");
    compiler_close(source);
    text_release(&said);
    return ok;
}

/* ---- the module of one ---- */

typedef struct source_build {
    const implementation_request *request;
    compiler_source *source;
    const compiler_kernel *kernel;
    compiler_signature signature; /* of the case */
    ir_bindings dims;             /* of the case */
    compiler_type_binding *types; /* of the kernel that is compiled, as are the next */
    ir_binding *bound;
    text said;
} source_build;

static bool find_kernel(source_build *b, status *st) {
    for (uint32_t k = 0; k < compiler_kernel_count(b->source) && !b->kernel; k++)
        if (strcmp(compiler_kernel_at(b->source, k)->name, b->request->symbol) == 0)
            b->kernel = compiler_kernel_at(b->source, k);
    if (!b->kernel || b->kernel->broken)
        return status_set(st, STATUS_INVALID, "%s has no kernel %s that can be compiled: %.700s",
                          b->request->path, b->request->symbol, b->said.data);
    return b->kernel->parameter_count == b->signature.input_count ||
           status_set(st, STATUS_INVALID, "%s of %s takes %u tensors, and kernel %s %u",
                      b->kernel->name, b->request->path, b->kernel->parameter_count,
                      b->request->kernel, b->signature.input_count);
}

/* Each type variable is what the first tensor of it holds. */
static bool bind_types(source_build *b, status *st) {
    const compiler_kernel *k = b->kernel;
    b->types = base_calloc(k->type_count + 1, sizeof *b->types);
    for (uint32_t v = 0; v < k->type_count; v++)
        b->types[v] = (compiler_type_binding){k->type_names[v], DTYPE_NONE};
    for (uint32_t i = 0; i < k->parameter_count; i++) {
        const int32_t v = k->parameter_variables[i];
        const dtype given = b->signature.inputs[i].type;
        dtype wanted = v < 0 ? k->parameter_types[i] : b->types[v].type;
        if (v >= 0 && wanted == DTYPE_NONE)
            wanted = b->types[v].type = given;
        if (wanted != given)
            return status_set(st, STATUS_INVALID,
                              "parameter %s of %s in %s is %s, and that of kernel %s %s",
                              k->parameter_names[i], k->name, b->request->path, dtype_name(wanted),
                              b->request->kernel, dtype_name(given));
    }
    return true;
}

/* Names mean what the shapes make of them; what no shape tells has the value of the case's own. */
static bool solve(const source_build *b, const kernel_arrays *of, int64_t *values, status *st) {
    ir_binding *same = base_calloc(b->dims.count + 1, sizeof *same);
    ir_bindings given = {same, 0};
    status first = STATUS_INIT;
    for (uint32_t i = 0; i < b->dims.count; i++)
        for (uint32_t k = 0; k < b->kernel->dim_count; k++)
            if (strcmp(b->kernel->dim_names[k], b->dims.items[i].name) == 0)
                same[given.count++] = b->dims.items[i];
    bool ok = dims_of_kernel(of, (ir_bindings){NULL, 0}, "the case", values, &first) ||
              (given.count && dims_of_kernel(of, given, "the case", values, &first)) ||
              status_set(st, STATUS_INVALID, "%s: %s", b->request->path, first.message);
    free(same);
    return ok;
}

static bool bind_dims(source_build *b, status *st) {
    const compiler_kernel *k = b->kernel;
    const compiler_case c = {.name = "with", .types = b->types, .type_count = k->type_count};
    tensor *shapes = tensors_new(k->parameter_count);
    int64_t *values = base_calloc(k->dim_count + 1, sizeof *values);
    b->bound = base_calloc(k->dim_count + 1, sizeof *b->bound);
    for (uint32_t i = 0; i < k->parameter_count; i++) {
        const struct compiler_buffer *like = &b->signature.inputs[i];
        shapes[i].type = like->type;
        shapes[i].rank = like->rank;
        memcpy(shapes[i].dims, like->dims, sizeof shapes[i].dims);
    }
    ir_module *graph = compiler_graph(b->source, k, &c, &b->said);
    bool ok = graph || status_set(st, STATUS_INVALID, "%.900s", b->said.data);
    ok = ok && solve(b, &(kernel_arrays){k, graph, shapes}, values, st);
    for (uint32_t i = 0; i < k->dim_count && ok; i++)
        b->bound[i] = (ir_binding){k->dim_names[i], values[i]};
    ir_module_free(graph);
    free(values);
    tensors_free(shapes);
    return ok;
}

static compiler_instance *open_instance(source_build *b, status *st) {
    const compiler_values values = {b->bound, b->kernel->dim_count, b->types,
                                    b->kernel->type_count};
    const compiler_case *c = compiler_case_bind(b->source, b->kernel, &values, &b->said);
    if (!c) {
        status_set(st, STATUS_INVALID, "%.900s", b->said.data);
        return NULL;
    }
    return compiler_case_specialize(b->source, b->kernel, c, NULL, &c, st)
               ? case_instance(b->source, b->kernel, c, st)
               : NULL;
}

static bool build_module(source_build *b, compiler_artifact *out, status *st) {
    const compiler_options options = {.threads = b->request->threads,
                                      .source_schedule = b->kernel->schedule};
    compiler_instance *instance = open_instance(b, st);
    bool ok = instance && compiler_build(instance, &options, out, st);
    compiler_instance_free(instance);
    return ok;
}

/* Files of several cases lie beside each other: a guest reads its own when it starts. */
static bool write_module(const source_build *b, const compiler_artifact *module, text *path,
                         status *st) {
    char hex[65];
    sha256_hex(&module->module_hash, hex);
    text_printf(path, "%s/%s.tsrm", b->request->folder, hex);
    const file_part part = {module->image, module->image_size};
    return file_exists(path->data) || file_write_scratch(path->data, &part, 1, st);
}

bool implementation_source_build(const implementation_request *request, compiler_instance *instance,
                                 text *path, status *st) {
    source_build b = {.request = request, .dims = compiler_instance_dims(instance)};
    compiler_artifact module = {0};
    if (!request->folder)
        return status_set(st, STATUS_INTERNAL, "there is no folder for the module of a source");
    text_init(&b.said);
    b.source = compiler_open(request->path, false, &b.said, st);
    bool ok = b.source && compiler_signature_of(instance, &b.signature, st) &&
              find_kernel(&b, st) && bind_types(&b, st) && bind_dims(&b, st) &&
              build_module(&b, &module, st) && write_module(&b, &module, path, st);
    compiler_artifact_release(&module);
    if (b.source)
        compiler_close(b.source);
    free(b.types);
    free(b.bound);
    text_release(&b.said);
    return ok;
}
