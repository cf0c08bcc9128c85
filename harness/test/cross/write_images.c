/* write_images.c - ISA EVERY PATH...: compiles each EVERYth case of a corpus for a level that this
 * machine need not have, and writes what run_images needs to run and judge it: a stream on stdout.
 *
 * A case is, one after the other: name, object; workspace and scratch bytes; a number of phases,
 * each a symbol and its cells; a number of inputs, and each; a number of outputs, and each as the
 * interpreter computes it. Numbers are 64 bits, little endian; what has bytes begins with their
 * number. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "case.h"
#include "metadata.h"
#include "module.h"
#include "subject.h"

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

static bool put_image(const compiler_artifact *artifact, const char *isa, status *st) {
    char kind[64];
    module_part document, object;
    metadata m;
    snprintf(kind, sizeof kind, "elf:%s", isa);
    if (!module_find(artifact->image, artifact->image_size, "metadata", &document) ||
        !module_find(artifact->image, artifact->image_size, kind, &object))
        return status_set(st, STATUS_INTERNAL, "the module has no part %s", kind);
    if (!metadata_parse(&m, document.data, document.size_bytes, st))
        return false;
    put_bytes(object.data, object.size_bytes);
    put_number((uint64_t)m.images[0].workspace_bytes.value);
    put_number((uint64_t)m.images[0].scratch_bytes.value);
    put_number(m.images[0].phase_count);
    for (uint32_t i = 0; i < m.images[0].phase_count; i++) {
        put_bytes(m.images[0].symbols[i], strlen(m.images[0].symbols[i]));
        put_number((uint64_t)m.images[0].phases[i].cells.value);
    }
    metadata_release(&m);
    return true;
}

static bool put_case(subject *s, const corpus_case *c, const char *isa, status *st) {
    compiler_options options = {.isa = isa, .threads = 2};
    compiler_artifact artifact = {0};
    subject_request request = {
        .path = c->path, .kernel = c->kernel->name, .case_name = c->c->name, .seed = 1};
    const tensor *expected;
    bool ok = subject_open(s, &request, st) && (expected = subject_oracle(s, st)) &&
              compiler_build(s->graph, s->c->dims, s->c->dim_count, &options, &artifact, st);
    if (ok) {
        put_bytes(c->name, strlen(c->name));
        ok = put_image(&artifact, isa, st);
        put_tensors(s->inputs, s->signature.input_count);
        put_tensors(expected, s->signature.output_count);
    }
    compiler_artifact_release(&artifact);
    return ok || status_set(st, st->code, "%s", c->name);
}

int main(int argc, char **argv) {
    corpus c;
    subject s = {0};
    text diagnostics;
    status st = STATUS_INIT;
    size_t every = argc > 3 ? strtoul(argv[2], NULL, 10) : 0;
    if (every == 0)
        return fprintf(stderr, "usage: write_images ISA EVERY PATH...\n"), 2;
    text_init(&diagnostics);
    corpus_query query = {
        .paths = (const char *const *)argv + 3, .path_count = (size_t)argc - 3, .skip_large = true};
    bool ok = corpus_load(&c, &query, &diagnostics, &st);
    fputs(diagnostics.data, stderr);
    for (size_t i = 0; i < c.cases.count && ok; i += every)
        ok = put_case(&s, &c.cases.items[i], argv[1], &st);
    if (!ok)
        fprintf(stderr, "write_images: %s\n", st.message);
    subject_close(&s);
    corpus_release(&c);
    text_release(&diagnostics);
    return ok ? 0 : 1;
}
