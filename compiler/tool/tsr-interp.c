/* tsr-interp.c - a kernel in the interpreter, on files: what the oracle tests compare with NumPy.
 *
 *   tsr-interp FILE.tsr KERNEL FOLDER [NAME=NUMBER | NAME=TYPE ...]
 *
 * Reads FOLDER/<parameter>.npy, and writes FOLDER/<output>.npy, <output>.reference.npy and
 * <output>.bound.npy (f64: compiler_reference). Dimensions and type variables are bound on the
 * command line.
 *
 * Exit codes: 0 done, 2 wrong command line, 3 wrong input. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "tessera/compiler.h"

enum { DONE = 0, WRONG_USAGE = 2, WRONG_INPUT = 3, MAX_BINDINGS = 32 };

typedef struct bindings {
    ir_binding dims[MAX_BINDINGS];
    compiler_type_binding types[MAX_BINDINGS];
    uint32_t dim_count, type_count;
} bindings;

static bool bind(bindings *b, char *argument) {
    char *value = strchr(argument, '='), *end = NULL;
    if (!value || b->dim_count == MAX_BINDINGS || b->type_count == MAX_BINDINGS)
        return false;
    *value++ = '\0';
    dtype type = dtype_from_name(value);
    if (type != DTYPE_NONE) {
        b->types[b->type_count++] = (compiler_type_binding){argument, type};
        return true;
    }
    b->dims[b->dim_count++] = (ir_binding){argument, strtoll(value, &end, 10)};
    return end != value && *end == '\0';
}

/* ---- tensors and their files ---- */

typedef struct run {
    const char *folder;
    compiler_instance *instance;
    compiler_signature signature;
    tensor *inputs, *outputs, *references, *bounds; /* a list each, of tensors_new */
    status st;
} run;

static void path_of(const run *r, const char *name, const char *suffix, char out[4096]) {
    snprintf(out, 4096, "%s/%s%s.npy", r->folder, name, suffix);
}

static bool read_inputs(run *r) {
    char path[4096];
    for (uint32_t i = 0; i < r->signature.input_count; i++) {
        path_of(r, r->signature.inputs[i].name, "", path);
        if (!tensor_read_npy(&r->inputs[i], path, r->signature.inputs[i].type, &r->st))
            return false;
    }
    return true;
}

static bool write_output(run *r, uint32_t i) {
    const char *name = r->signature.outputs[i].name;
    char path[4096];
    path_of(r, name, "", path);
    if (!tensor_write_npy(&r->outputs[i], path, &r->st))
        return false;
    path_of(r, name, ".reference", path);
    if (!tensor_write_npy(&r->references[i], path, &r->st))
        return false;
    path_of(r, name, ".bound", path);
    return tensor_write_npy(&r->bounds[i], path, &r->st);
}

static bool execute(run *r) {
    if (!compiler_signature_of(r->instance, &r->signature, &r->st))
        return false;
    r->inputs = tensors_new(r->signature.input_count);
    r->outputs = tensors_new(r->signature.output_count);
    r->references = tensors_new(r->signature.output_count);
    r->bounds = tensors_new(r->signature.output_count);
    const compiler_references references = {.values = r->references, .bounds = r->bounds};
    if (!read_inputs(r) || !compiler_interpret(r->instance, r->inputs, r->outputs, &r->st) ||
        !compiler_reference(r->instance, r->inputs, &references, &r->st))
        return false;
    for (uint32_t i = 0; i < r->signature.output_count; i++)
        if (!write_output(r, i))
            return false;
    return true;
}

static void release_all(run *r) {
    tensors_free(r->inputs);
    tensors_free(r->outputs);
    tensors_free(r->references);
    tensors_free(r->bounds);
}

static bool run_kernel(compiler_source *source, const char *name, const char *folder,
                       const bindings *b, text *said, status *st) {
    const compiler_kernel *kernel = compiler_kernel_named(source, name);
    if (!kernel)
        return status_set(st, STATUS_NOT_FOUND, "no kernel is called '%s'", name);
    compiler_case c = {.name = "command line",
                       .dims = b->dims,
                       .dim_count = b->dim_count,
                       .types = b->types,
                       .type_count = b->type_count};
    run r = {.folder = folder, .instance = compiler_instance_open(source, kernel, &c, said)};
    if (!r.instance)
        return status_set(st, STATUS_INVALID, "the kernel has errors");
    bool ok = execute(&r);
    *st = r.st;
    release_all(&r);
    compiler_instance_free(r.instance);
    return ok;
}

int main(int argc, char **argv) {
    static bindings b;
    bool usable = argc >= 4;
    for (int i = 4; usable && i < argc; i++)
        usable = bind(&b, argv[i]);
    if (!usable) {
        fputs("usage: tsr-interp FILE.tsr KERNEL FOLDER [NAME=NUMBER | NAME=TYPE ...]\n", stderr);
        return WRONG_USAGE;
    }
    text said;
    status st = STATUS_INIT;
    compiler_init();
    text_init(&said);
    compiler_source *source = compiler_open(argv[1], false, &said, &st);
    bool ok = source && run_kernel(source, argv[2], argv[3], &b, &said, &st);
    if (!ok)
        fprintf(stderr, "%stsr-interp: %s\n", said.data, st.message);
    text_release(&said);
    if (source)
        compiler_close(source);
    return ok ? DONE : WRONG_INPUT;
}
