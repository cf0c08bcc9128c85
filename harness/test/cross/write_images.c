/* write_images.c - ISA fixed|generic EVERY PATH...: compiles each EVERYth case of a corpus for a
 * level that this machine need not have, for its dimensions or for any, and writes what run_images
 * needs to run and judge it: a stream on stdout.
 *
 * A case is, one after the other: name; a number of dimensions, and each; a number of kernels, and
 * of each its object, workspace and scratch bytes, a number of phases, each a symbol and its cells;
 * bytes of the arena; a number of constants, and each; the commands of its program, a block; a
 * number of inputs, and each; a number of outputs, and each as the interpreter computes it. A block
 * is a number of commands, each its kind, kernel, bytes, byte, turns, a number of places, each a
 * buffer, an offset and a number of strides, and each; then its blocks. Numbers are 64 bits, little
 * endian; what has bytes begins with their number. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "case/case.h"
#include "case/case_context.h"
#include "device/host/host.h"
#include "formula.h"
#include "metadata.h"
#include "module.h"
#include "program.h"

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

static void put_dims(const metadata *m, const compiler_case *c, int64_t *values) {
    put_number(m->dims);
    for (uint32_t i = 0; i < m->dims && i < 64; i++)
        put_number((uint64_t)(values[i] = value_of(c, m->dim_names[i])));
}

/* One kernel's code, and what it needs. */
static bool put_code(const void *module, size_t size, const char *kind, const int64_t *values,
                     status *st) {
    module_part document, object;
    metadata m;
    if (!module_find(module, size, "metadata", &document) ||
        !module_find(module, size, kind, &object))
        return status_set(st, STATUS_INTERNAL, "the module has no part %s", kind);
    if (!metadata_parse(&m, document.data, document.size_bytes, st))
        return false;
    const metadata_image *image = &m.images[0];
    const formula_names dims = {m.dim_names, values, m.dims};
    put_bytes(object.data, object.size_bytes);
    put_need(&image->workspace_bytes, &dims);
    put_need(&image->scratch_bytes, &dims);
    put_number(image->phase_count);
    for (uint32_t i = 0; i < image->phase_count; i++) {
        put_bytes(image->symbols[i], strlen(image->symbols[i]));
        put_need(&image->phases[i].workgroups, &dims);
    }
    metadata_release(&m);
    return true;
}

/* ---- programs ---- */

static void put_place(const program_place *p) {
    put_number(p->buffer);
    put_number((uint64_t)p->offset);
    put_number(p->stride_count);
    for (uint32_t i = 0; i < p->stride_count; i++)
        put_number((uint64_t)p->strides[i]);
}

/* Blocks go PROGRAM_DEPTH_MAX deep. */
static void put_block(const program_block *b) {
    put_number(b->count);
    for (uint32_t i = 0; i < b->count; i++) {
        const program_command *c = &b->commands[i];
        put_number(c->kind);
        put_number(c->kernel);
        put_number((uint64_t)c->bytes);
        put_number(c->byte);
        put_number((uint64_t)c->count);
        put_number(c->place_count);
        for (uint32_t p = 0; p < c->place_count; p++)
            put_place(&c->places[p]);
        for (uint32_t n = 0; n < program_block_count(c); n++)
            put_block(&c->blocks[n]);
    }
}

static bool put_program(const compiler_artifact *a, const metadata *m, const char *kind,
                        status *st) {
    const program *p = m->program;
    module_part part;
    put_number(p->kernel_count);
    for (uint32_t i = 0; i < p->kernel_count; i++)
        if (!module_find(a->image, a->image_size, p->kernels[i], &part) ||
            !put_code(part.data, part.size_bytes, kind, NULL, st))
            return status_set(st, STATUS_INTERNAL, "the program lacks %s", p->kernels[i]);
    put_number((uint64_t)p->arena_bytes);
    put_number(p->constant_count);
    for (uint32_t i = 0; i < p->constant_count; i++) {
        if (!module_find(a->image, a->image_size, p->constants[i].section, &part))
            return status_set(st, STATUS_INTERNAL, "the program lacks %s", p->constants[i].section);
        put_bytes(part.data, part.size_bytes);
    }
    put_block(&p->body);
    return true;
}

/* A kernel is a program that launches it once, on its buffers as they are. */
static bool put_kernel(const compiler_artifact *a, const metadata *m, const char *kind,
                       const int64_t *values, status *st) {
    program_place *places = base_calloc((size_t)m->inputs + m->outputs, sizeof *places);
    for (uint32_t i = 0; i < m->inputs + m->outputs; i++)
        places[i].buffer = i;
    program_command launch = {
        .kind = PROGRAM_DISPATCH, .place_count = m->inputs + m->outputs, .places = places};
    put_number(1);
    const bool ok = put_code(a->image, a->image_size, kind, values, st);
    put_number(0);
    put_number(0);
    put_block(&(program_block){&launch, 1});
    free(places);
    return ok;
}

static bool put_image(const compiler_artifact *a, const corpus_case *c, const char *isa,
                      status *st) {
    char kind[HOST_TARGET_BYTES];
    int64_t values[64];
    module_part document;
    metadata m;
    host_target_of(isa, kind);
    if (!module_find(a->image, a->image_size, "metadata", &document) ||
        !metadata_parse(&m, document.data, document.size_bytes, st))
        return false;
    put_bytes(c->name, strlen(c->name));
    put_dims(&m, c->c, values);
    const bool ok = m.program ? put_program(a, &m, kind, st) : put_kernel(a, &m, kind, values, st);
    metadata_release(&m);
    return ok;
}

static bool put_case(case_context *s, const corpus_case *c, const compiler_options *options,
                     status *st) {
    compiler_artifact artifact = {0};
    case_context_request request = {
        .path = c->path, .kernel = c->kernel->name, .case_name = c->c->name, .seed = 1};
    const tensor *expected;
    bool ok = case_context_open(s, &request, st) && (expected = case_context_interpret(s, st)) &&
              compiler_build(s->instance, options, &artifact, st);
    ok = ok && put_image(&artifact, c, options->isa, st);
    if (ok) {
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
