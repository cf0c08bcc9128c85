/* write_images.c - ISA fixed|generic EVERY PATH...: compiles each EVERYth case of a corpus for a
 * level that this machine need not have, for its dimensions or for any, and writes what run_images
 * needs to run and judge it: a stream on stdout.
 *
 * A case is, one after the other: name, object; a number of dimensions, and each; workspace and
 * scratch bytes; a number of phases, each a symbol and its cells; a number of inputs, and each; a
 * number of outputs, and each as the interpreter computes it. Numbers are 64 bits, little endian;
 * what has bytes begins with their number. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "case/case.h"
#include "case/case_context.h"
#include "device/host/host.h"
#include "formula.h"
#include "metadata.h"
#include "module.h"

static void put_number(uint64_t number) {
    fwrite(&number, sizeof number, 1, stdout);
}

static void put_bytes(const void *data, size_t size) {
    put_number(size);
    fwrite(data, 1, size, stdout);
}

static void put_tensors(const tensor *tensors, uint32_t count) {
    put_number(count);
    for (uint32_t i = 0; i < count; i++)
        put_bytes(tensors[i].data, tensor_bytes(&tensors[i]));
}

static int64_t value_of(const compiler_case *c, const char *name) {
    for (uint32_t i = 0; i < c->dim_count; i++)
        if (strcmp(c->dims[i].name, name) == 0)
            return c->dims[i].value;
    return 0;
}

/* As the runtime finds it. */
static void put_need(const metadata_need *need, const formula_names *dims) {
    int64_t value = need->value;
    if (need->formula)
        formula_evaluate(need->formula, dims, &value);
    put_number((uint64_t)value);
}

static void put_needs(const metadata *m, const compiler_case *c) {
    int64_t values[64];
    const metadata_image *image = &m->images[0];
    put_number(m->dims);
    for (uint32_t i = 0; i < m->dims && i < 64; i++)
        put_number((uint64_t)(values[i] = value_of(c, m->dim_names[i])));
    const formula_names dims = {m->dim_names, values, m->dims};
    put_need(&image->workspace_bytes, &dims);
    put_need(&image->scratch_bytes, &dims);
    put_number(image->phase_count);
    for (uint32_t i = 0; i < image->phase_count; i++) {
        put_bytes(image->symbols[i], strlen(image->symbols[i]));
        put_need(&image->phases[i].workgroups, &dims);
    }
}

/* Nothing is written for a program: run_images launches one kernel. */
static bool put_image(const compiler_artifact *artifact, const corpus_case *c, const char *isa,
                      bool *written, status *st) {
    char kind[HOST_TARGET_BYTES];
    module_part document, object;
    metadata m;
    host_target_of(isa, kind);
    *written = !module_find(artifact->image, artifact->image_size, "kernel:0", &object);
    if (!*written)
        return true;
    if (!module_find(artifact->image, artifact->image_size, "metadata", &document) ||
        !module_find(artifact->image, artifact->image_size, kind, &object))
        return status_set(st, STATUS_INTERNAL, "the module has no part %s", kind);
    if (!metadata_parse(&m, document.data, document.size_bytes, st))
        return false;
    put_bytes(c->name, strlen(c->name));
    put_bytes(object.data, object.size_bytes);
    put_needs(&m, c->c);
    metadata_release(&m);
    return true;
}

static bool put_case(case_context *s, const corpus_case *c, const compiler_options *options,
                     status *st) {
    compiler_artifact artifact = {0};
    case_context_request request = {
        .path = c->path, .kernel = c->kernel->name, .case_name = c->c->name, .seed = 1};
    const tensor *expected;
    bool ok = case_context_open(s, &request, st) && (expected = case_context_interpret(s, st)) &&
              compiler_build(s->instance, options, &artifact, st);
    bool written = false;
    ok = ok && put_image(&artifact, c, options->isa, &written, st);
    if (ok && written) {
        put_tensors(s->inputs, s->signature.input_count);
        put_tensors(expected, s->signature.output_count);
    }
    compiler_artifact_release(&artifact);
    /* Kernels of tiles have no code for any dimensions. */
    if (!ok && options->generic && st->code == STATUS_UNAVAILABLE) {
        status_clear(st);
        return true;
    }
    return ok || status_set(st, st->code, "%s", c->name);
}

int main(int argc, char **argv) {
    corpus c;
    case_context s = {0};
    text diagnostics;
    status st = STATUS_INIT;
    size_t every = argc > 4 ? strtoul(argv[3], NULL, 10) : 0;
    if (every == 0)
        return fprintf(stderr, "usage: write_images ISA fixed|generic EVERY PATH...\n"), 2;
    compiler_options options = {
        .isa = argv[1], .threads = 2, .generic = strcmp(argv[2], "generic") == 0};
    text_init(&diagnostics);
    corpus_query query = {
        .paths = (const char *const *)argv + 4, .path_count = (size_t)argc - 4, .skip_large = true};
    bool ok = corpus_load(&c, &query, &diagnostics, &st);
    fputs(diagnostics.data, stderr);
    for (size_t i = 0; i < c.cases.count && ok; i += every)
        ok = c.cases.items[i].kernel->interpreted || /* no code is made of it */
             put_case(&s, &c.cases.items[i], &options, &st);
    if (!ok)
        fprintf(stderr, "write_images: %s\n", st.message);
    case_context_close(&s);
    corpus_release(&c);
    text_release(&diagnostics);
    return ok ? 0 : 1;
}
