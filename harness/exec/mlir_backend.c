/* mlir_backend.c - files in a folder of their own, four programs, one shared object, one call. */
#include "exec/mlir_backend.h"

#include <dlfcn.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/arena.h"
#include "base/file.h"
#include "common/scratch_folder.h"
#include "launch/launch.h"
#include "process/program.h"

enum { TOOLS = 4, ARGUMENTS_MAX = 24 };

static const char *const tools[TOOLS] = {"mlir-opt-19", "mlir-translate-19", "llc-19", "cc"};

/* ---- the tools ---- */

static bool on_path(const char *name) {
    const char *path = getenv("PATH");
    char candidate[4096];
    for (const char *at = path ? path : ""; *at; at += strcspn(at, ":"), at += *at == ':') {
        snprintf(candidate, sizeof candidate, "%.*s/%s", (int)strcspn(at, ":"), at, name);
        if (access(candidate, X_OK) == 0)
            return true;
    }
    return false;
}

bool mlir_backend_available(status *st) {
    for (int i = 0; i < TOOLS; i++)
        if (!on_path(tools[i]))
            return status_set(st, STATUS_UNAVAILABLE,
                              "backend mlir cannot run here: %s is not on the PATH (Debian: "
                              "mlir-19-tools, llvm-19, gcc)",
                              tools[i]);
    return true;
}

static bool run_tool(const char *folder, const char *const *arguments, status *st) {
    text said;
    int code = 0;
    text_init(&said);
    program tool = {arguments, folder, &said, &said};
    bool ok = program_run(&tool, &code, st);
    if (ok && code != 0)
        ok = status_set(st, STATUS_INTERNAL, "%s failed: %.400s", arguments[0], said.data);
    text_release(&said);
    return ok;
}

static bool lower(const char *folder, bool unoptimised, status *st) {
    static const char passes[] =
        "builtin.module(one-shot-bufferize{bufferize-function-boundaries=false},"
        "buffer-deallocation-pipeline,convert-bufferization-to-memref,"
        "func.func(convert-linalg-to-loops),expand-strided-metadata,lower-affine,"
        "convert-scf-to-cf,convert-vector-to-llvm,convert-math-to-llvm,convert-arith-to-llvm,"
        "convert-index-to-llvm,finalize-memref-to-llvm,convert-func-to-llvm,convert-cf-to-llvm,"
        "reconcile-unrealized-casts)";
    char pipeline[sizeof passes + 32];
    snprintf(pipeline, sizeof pipeline, "--pass-pipeline=%s", passes);
    const char *opt[] = {"mlir-opt-19", "kernel.mlir", pipeline, "-o", "low.mlir", NULL};
    const char *translate[] = {
        "mlir-translate-19", "--mlir-to-llvmir", "low.mlir", "-o", "kernel.ll", NULL};
    const char *llc[] = {"llc-19",
                         unoptimised ? "-O0" : "-O2",
                         "-mcpu=x86-64-v3",
                         "-fp-contract=off",
                         "-relocation-model=pic",
                         "-filetype=obj",
                         "kernel.ll",
                         "-o",
                         "kernel.o",
                         NULL};
    const char *link[] = {"cc", "-shared", "-fPIC", "entry.c", "kernel.o", "-o", "kernel.so", NULL};
    return run_tool(folder, opt, st) && run_tool(folder, translate, st) &&
           run_tool(folder, llc, st) && run_tool(folder, link, st);
}

/* ---- files ---- */

static bool put(const char *folder, const char *name, const text *words, status *st) {
    text path;
    text_init(&path);
    text_printf(&path, "%s/%s", folder, name);
    file_part part = {words->data, words->length};
    bool ok = file_write_scratch(path.data, &part, 1, st);
    text_release(&path);
    return ok;
}

/* A function of one argument, whatever the kernel's number of parameters. */
static void entry_source(uint32_t count, text *out) {
    text_append(out, "void _mlir_ciface_kernel(");
    for (uint32_t i = 0; i < count; i++)
        text_append(out, i ? ", void *" : "void *");
    text_append(out, ");\nvoid tsr_entry(void **p);\nvoid tsr_entry(void **p) {\n"
                     "    _mlir_ciface_kernel(");
    for (uint32_t i = 0; i < count; i++)
        text_printf(out, "%sp[%u]", i ? ", " : "", i);
    text_append(out, ");\n}\n");
}

static bool write_sources(const case_context *s, const char *folder, status *st) {
    text kernel, entry;
    text_init(&kernel);
    text_init(&entry);
    compiler_options options = {.profile = PROFILE_STRICT};
    entry_source(s->signature.input_count + s->signature.output_count, &entry);
    bool ok = compiler_emit(s->instance, &options, "mlir", &kernel, st) &&
              put(folder, "kernel.mlir", &kernel, st) && put(folder, "entry.c", &entry, st);
    text_release(&kernel);
    text_release(&entry);
    return ok;
}

/* ---- the call ---- */

/* MLIR's descriptor of a strided tensor in memory. */
typedef struct descriptor {
    void *allocated, *aligned;
    int64_t offset;
    int64_t sizes_and_strides[2 * TENSOR_MAX_RANK];
} descriptor;

static void describe(const tensor *t, descriptor *out) {
    int64_t stride = 1;
    *out = (descriptor){.allocated = t->data, .aligned = t->data};
    for (int i = t->rank - 1; i >= 0; i--) {
        out->sizes_and_strides[i] = t->dims[i];
        out->sizes_and_strides[t->rank + i] = stride;
        stride *= t->dims[i];
    }
}

static void call(void (*entry)(void **), const case_context *s, tensor *outputs) {
    size_t count = s->signature.input_count + s->signature.output_count;
    descriptor *descriptors = base_calloc(count + 1, sizeof *descriptors);
    void **arguments = base_calloc(count + 1, sizeof *arguments);
    uint32_t n = 0;
    for (uint32_t i = 0; i < s->signature.input_count; i++)
        describe(&s->inputs[i], &descriptors[n++]);
    for (uint32_t i = 0; i < s->signature.output_count; i++) {
        memset(outputs[i].data, LAUNCH_POISON, tensor_bytes(&outputs[i]));
        describe(&outputs[i], &descriptors[n++]);
    }
    for (uint32_t i = 0; i < n; i++)
        arguments[i] = &descriptors[i];
    entry(arguments);
    free(descriptors);
    free(arguments);
}

static bool load_and_call(const case_context *s, const char *folder, tensor *outputs, status *st) {
    text path;
    text_init(&path);
    text_printf(&path, "%s/kernel.so", folder);
    void *library = dlopen(path.data, RTLD_NOW | RTLD_LOCAL);
    text_release(&path);
    if (!library)
        return status_set(st, STATUS_INTERNAL, "cannot load the kernel: %s", dlerror());
    union {
        void *object;
        void (*function)(void **);
    } entry = {.object = dlsym(library, "tsr_entry")};
    bool ok = entry.object || status_set(st, STATUS_INTERNAL, "the kernel has no entry");
    if (ok)
        call(entry.function, s, outputs);
    dlclose(library);
    return ok;
}

static bool make_outputs(const case_context *s, tensor *outputs, status *st) {
    for (uint32_t i = 0; i < s->signature.output_count; i++) {
        const struct compiler_buffer *b = &s->signature.outputs[i];
        if (!tensor_init(&outputs[i], b->type, b->rank, b->dims, st)) {
            tensor_release_all(outputs, i);
            return false;
        }
    }
    return true;
}

bool mlir_backend_run(const case_context *s, bool unoptimised, tensor *outputs, status *st) {
    scratch_folder folder;
    if (!scratch_folder_open(&folder, NULL, SCRATCH_FOLDER_PREFIX, st))
        return false;
    bool ok = write_sources(s, folder.path, st) && lower(folder.path, unoptimised, st) &&
              make_outputs(s, outputs, st);
    if (ok && !load_and_call(s, folder.path, outputs, st)) {
        tensor_release_all(outputs, s->signature.output_count);
        ok = false;
    }
    scratch_folder_close(&folder);
    return ok;
}
