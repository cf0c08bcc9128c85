/* corpus_generic.c - EVERY PATH...: each kernel of a corpus compiled for any dimensions, and run at
 * those of each EVERYth of its cases: the bits must be the interpreter's. One module serves all
 * cases of a kernel that have the same element types. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "case.h"
#include "metadata.h"
#include "module.h"
#include "subject.h"
#include "tessera/tessera.h"

enum { ARGUMENTS_MAX = 2 * COMPILER_MAX_PARAMETERS + 64, POISON = 0xA5 };

typedef struct generic_kernel {
    tsr_context_t context;
    tsr_module_t module;
    tsr_kernel_t kernel;
    metadata metadata;
    sha256 graph; /* what it was compiled from */
    bool open;
} generic_kernel;

static bool abi(tsr_status_t code, status *st) {
    return code == TSR_SUCCESS ||
           status_set(st, STATUS_INTERNAL, "%s: %s", tsrStatusName(code), tsrGetLastError());
}

static void close_kernel(generic_kernel *k) {
    if (!k->open)
        return;
    metadata_release(&k->metadata);
    tsrUnloadModule(k->module);
    k->open = false;
}

static bool load_kernel(generic_kernel *k, const compiler_artifact *a, const char *name,
                        status *st) {
    module_part part;
    if (!module_find(a->image, a->image_size, "metadata", &part) ||
        !metadata_parse(&k->metadata, part.data, part.size_bytes, st))
        return status_set(st, STATUS_INTERNAL, "no metadata");
    k->open = abi(tsrLoadModule(k->context, a->image, a->image_size, &k->module), st);
    if (!k->open)
        metadata_release(&k->metadata);
    return k->open && abi(tsrGetKernel(k->module, name, &k->kernel), st);
}

/* Compiles, unless it is the kernel that is open. */
static bool open_kernel(generic_kernel *k, const subject *s, status *st) {
    compiler_options options = {.generic = true, .verify = true};
    compiler_artifact artifact = {0};
    sha256 graph = ir_hash(s->graph);
    if (k->open && memcmp(&graph, &k->graph, sizeof graph) == 0)
        return true;
    close_kernel(k);
    k->graph = graph;
    bool ok = compiler_build(s->graph, NULL, 0, &options, &artifact, st) &&
              load_kernel(k, &artifact, s->kernel->name, st);
    compiler_artifact_release(&artifact);
    return ok;
}

static bool bind(const metadata *m, const compiler_case *c, int64_t *values, status *st) {
    for (uint32_t i = 0; i < m->dims; i++) {
        uint32_t k = 0;
        while (k < c->dim_count && strcmp(c->dims[k].name, m->dim_names[i]) != 0)
            k++;
        if (k == c->dim_count)
            return status_set(st, STATUS_INTERNAL, "the case has no dimension %s", m->dim_names[i]);
        values[i] = c->dims[k].value;
    }
    return true;
}

static bool allocate(generic_kernel *k, const tensor *tensors, uint32_t count, bool poison,
                     void **out, status *st) {
    for (uint32_t i = 0; i < count; i++) {
        size_t bytes = tensor_bytes(&tensors[i]);
        if (!abi(tsrAlloc(k->context, bytes ? bytes : 1, 0, &out[i]), st))
            return false;
        if (poison)
            memset(out[i], POISON, bytes);
        else
            memcpy(out[i], tensors[i].data, bytes);
    }
    return true;
}

static bool judge(const tensor *expected, uint32_t count, void *const *got, status *st) {
    for (uint32_t i = 0; i < count; i++) {
        const unsigned char *a = expected[i].data, *b = got[i];
        for (size_t at = 0; at < tensor_bytes(&expected[i]); at++)
            if (a[at] != b[at])
                return status_set(st, STATUS_INTERNAL, "output %u differs at byte %zu of %zu", i,
                                  at, tensor_bytes(&expected[i]));
    }
    return true;
}

static bool run_case(generic_kernel *k, subject *s, const tensor *expected, status *st) {
    void *buffers[ARGUMENTS_MAX] = {NULL}, *args[ARGUMENTS_MAX];
    int64_t dims[64];
    uint32_t inputs = s->signature.input_count, count = inputs + s->signature.output_count;
    bool ok = bind(&k->metadata, s->c, dims, st) &&
              allocate(k, s->inputs, inputs, false, buffers, st) &&
              allocate(k, expected, count - inputs, true, buffers + inputs, st);
    for (uint32_t i = 0; i < count; i++)
        args[i] = &buffers[i];
    for (uint32_t i = 0; i < k->metadata.dims; i++)
        args[count + i] = &dims[i];
    ok = ok &&
         abi(tsrLaunch(k->kernel, NULL, (tsr_launch_t){0}, args, count + k->metadata.dims), st) &&
         judge(expected, count - inputs, buffers + inputs, st);
    for (uint32_t i = 0; i < count; i++)
        tsrFree(k->context, buffers[i]);
    return ok;
}

static bool check_case(generic_kernel *k, subject *s, const corpus_case *c, status *st) {
    subject_request request = {
        .path = c->path, .kernel = c->kernel->name, .case_name = c->c->name, .seed = 1};
    const tensor *expected;
    return subject_open(s, &request, st) && (expected = subject_oracle(s, st)) &&
           open_kernel(k, s, st) && run_case(k, s, expected, st);
}

int main(int argc, char **argv) {
    generic_kernel k = {.open = false};
    corpus c;
    subject s = {0};
    text diagnostics;
    status st = STATUS_INIT;
    size_t every = argc > 2 ? strtoul(argv[1], NULL, 10) : 0, cases = 0, failed = 0;
    if (every == 0)
        return fprintf(stderr, "usage: harness_generic EVERY PATH...\n"), 2;
    text_init(&diagnostics);
    corpus_query query = {
        .paths = (const char *const *)argv + 2, .path_count = (size_t)argc - 2, .skip_large = true};
    bool ok = corpus_load(&c, &query, &diagnostics, &st) &&
              abi(tsrCreateContextOn(0, 2, TSR_CONTEXT_DEBUG, &k.context), &st);
    for (size_t i = 0; i < c.cases.count && ok; i += every) {
        status why = STATUS_INIT;
        cases++;
        if (check_case(&k, &s, &c.cases.items[i], &why))
            continue;
        printf("NOT OK - %s: %s\n", c.cases.items[i].name, why.message);
        failed++;
    }
    close_kernel(&k);
    if (k.context)
        tsrDestroyContext(k.context);
    printf("%zu cases by code for any dimensions, %zu of other bits or not run%s%s\n", cases,
           failed, ok ? "" : ": ", st.message);
    subject_close(&s);
    corpus_release(&c);
    text_release(&diagnostics);
    return ok && failed == 0 && cases > 0 ? 0 : 1;
}
