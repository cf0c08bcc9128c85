/* values.h - kernels held to right values by every way of computing them: the interpreter, code for
 * this machine and for the lowest level, plain code, and code for any dimensions, of which one
 * module serves all rows of a kernel. A test's own functions compute the right values in plain
 * arithmetic. */
#ifndef TESSERA_TEST_VALUES_H
#define TESSERA_TEST_VALUES_H

#include "runtime/test/test.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/arena.h"
#include "base/philox.h"
#include "metadata.h"
#include "module.h"
#include "target/target.h"
#include "tessera/compiler.h"
#include "tessera/tessera.h"

enum { MANY = 16, POISON = 0xA5 };

/* ---- a kernel, its arrays and its right values ---- */

typedef struct subject {
    compiler_source *source;
    compiler_instance *instance;
    compiler_signature signature;
    arena memory;
    tensor inputs[MANY], right[MANY];
    double tolerance; /* how far a float may be from what is right; 0: not at all */
} subject;

typedef struct row {
    const char *source, *values; /* "N=5,T=i8" */
    void (*fill)(subject *s);    /* inputs, and what is right of them */
} row;

static inline void open_arrays(const struct compiler_buffer *buffers, uint32_t count, tensor *out) {
    status st = STATUS_INIT;
    for (uint32_t i = 0; i < count; i++)
        assert_true(tensor_init(&out[i], buffers[i].type, buffers[i].rank, buffers[i].dims, &st));
}

static void open_subject(const row *r, subject *s) {
    compiler_values values;
    text said;
    status st = STATUS_INIT;
    *s = (subject){0};
    text_init(&said);
    arena_init(&s->memory);
    s->source = compiler_open_text("test.tsr", r->source, false, &said);
    const compiler_kernel *kernel = compiler_kernel_at(s->source, 0);
    assert_true(compiler_values_read(r->values, &s->memory, &values, &st));
    const compiler_case *c = compiler_case_bind(s->source, kernel, &values, &said);
    s->instance = c ? compiler_instance_open(s->source, kernel, c, &said) : NULL;
    if (!s->instance)
        fail_msg("%s: %s", r->values, said.data);
    text_release(&said);
    assert_true(compiler_signature_of(s->instance, &s->signature, &st));
    open_arrays(s->signature.inputs, s->signature.input_count, s->inputs);
    open_arrays(s->signature.outputs, s->signature.output_count, s->right);
    r->fill(s);
}

static void close_subject(subject *s) {
    tensor_release_all(s->inputs, MANY);
    tensor_release_all(s->right, MANY);
    compiler_instance_free(s->instance);
    compiler_close(s->source);
    arena_release(&s->memory);
}

/* ---- ways of computing it ---- */

static const struct way {
    const char *name;
    bool lowest;
    compiler_options options;
} ways[] = {
    {"this machine", false, {.threads = 2}},
    {"the lowest level", true, {.threads = 1}},
    {"plain code", false, {.unoptimised = true}},
    {"any dimensions", false, {.generic = true}},
};

typedef struct code {
    tsr_context_t context;
    tsr_module_t module;
    tsr_kernel_t kernel;
    metadata metadata;
    sha256 graph; /* what it was compiled from */
} code;

static void abi(tsr_status_t result) {
    if (result != TSR_SUCCESS)
        fail_msg("%s: %s", tsrStatusName(result), tsrGetLastError());
}

static void close_code(code *c) {
    if (c->module) {
        metadata_release(&c->metadata);
        tsrUnloadModule(c->module);
    }
    c->module = NULL;
}

/* Compiles, unless it is code for any dimensions of the graph that is open. */
static void open_code(code *c, const struct way *way, const subject *s) {
    compiler_options options = way->options;
    compiler_artifact artifact = {0};
    const target_info *levels;
    module_part part;
    status st = STATUS_INIT;
    const sha256 *graph = compiler_instance_hash(s->instance);
    if (options.generic && c->module && memcmp(graph, &c->graph, sizeof *graph) == 0)
        return;
    close_code(c);
    c->graph = *graph;
    target_list(&levels, NULL, NULL);
    options.isa = way->lowest ? levels[0].name : NULL;
    options.verify = true;
    if (!compiler_build(s->instance, &options, &artifact, &st))
        fail_msg("%s: %s", way->name, st.message);
    assert_true(module_find(artifact.image, artifact.image_size, "metadata", &part) &&
                metadata_parse(&c->metadata, part.data, part.size_bytes, &st));
    abi(tsrLoadModule(c->context, artifact.image, artifact.image_size, &c->module));
    abi(tsrGetKernel(c->module, c->metadata.name, &c->kernel));
    compiler_artifact_release(&artifact);
}

static int64_t dim_of(const subject *s, const char *name) {
    ir_bindings dims = compiler_instance_dims(s->instance);
    for (uint32_t i = 0; i < dims.count; i++)
        if (strcmp(dims.items[i].name, name) == 0)
            return dims.items[i].value;
    fail_msg("no dimension %s", name);
    return 0;
}

static void launch(const code *c, const subject *s, tensor *outputs) {
    void *buffers[2 * MANY], *args[2 * MANY + 16];
    int64_t dims[16];
    uint32_t count = 0;
    for (uint32_t i = 0; i < s->signature.input_count; i++)
        buffers[count++] = s->inputs[i].data;
    for (uint32_t i = 0; i < s->signature.output_count; i++)
        buffers[count++] = memset(outputs[i].data, POISON, tensor_bytes(&outputs[i]));
    for (uint32_t i = 0; i < count; i++)
        args[i] = &buffers[i];
    assert_true(c->metadata.dims <= COUNT_OF(dims));
    for (uint32_t i = 0; i < c->metadata.dims; i++) {
        dims[i] = dim_of(s, c->metadata.dim_names[i]);
        args[count++] = &dims[i];
    }
    abi(tsrLaunch(c->kernel, NULL, (tsr_launch_t){0}, args, count));
}

/* A NaN is as good as any. */
static bool is_right(const tensor *right, const tensor *got, int64_t i, double tolerance) {
    uint64_t a = dtype_load_bits(right->type, right->data, (size_t)i),
             b = dtype_load_bits(got->type, got->data, (size_t)i);
    if (tolerance != 0)
        return fabs(dtype_load(right->type, right->data, (size_t)i) -
                    dtype_load(got->type, got->data, (size_t)i)) <= tolerance;
    return a == b || (dtype_is_float(right->type) && dtype_is_nan(right->type, a) &&
                      dtype_is_nan(got->type, b));
}

static void judge(const row *r, const char *way, const subject *s, const tensor *got) {
    for (uint32_t k = 0; k < s->signature.output_count; k++)
        for (int64_t i = 0; i < tensor_count(&s->right[k]); i++)
            if (!is_right(&s->right[k], &got[k], i, s->tolerance))
                fail_msg("%s\n%s by %s: element %lld of output %u is %g (0x%llx), not %g",
                         r->source, r->values, way, (long long)i, k,
                         dtype_load(got[k].type, got[k].data, (size_t)i),
                         (unsigned long long)dtype_load_bits(got[k].type, got[k].data, (size_t)i),
                         dtype_load(got[k].type, s->right[k].data, (size_t)i));
}

/* Large ones by code for this machine alone. */
static void hold(const row *rows, size_t count, bool large) {
    const size_t way_count = large ? 1 : COUNT_OF(ways);
    code codes[COUNT_OF(ways)] = {{0}};
    for (size_t w = 0; w < way_count; w++)
        abi(tsrCreateContextOn(0, 2, TSR_CONTEXT_DEBUG, &codes[w].context));
    for (size_t i = 0; i < count; i++) {
        subject s;
        tensor got[MANY] = {{0}};
        status st = STATUS_INIT;
        open_subject(&rows[i], &s);
        if (large) {
            open_arrays(s.signature.outputs, s.signature.output_count, got);
        } else {
            if (!compiler_interpret(s.instance, s.inputs, got, &st))
                fail_msg("%s: %s", rows[i].values, st.message);
            judge(&rows[i], "the interpreter", &s, got);
        }
        for (size_t w = 0; w < way_count; w++) {
            open_code(&codes[w], &ways[w], &s);
            launch(&codes[w], &s, got);
            judge(&rows[i], ways[w].name, &s, got);
        }
        tensor_release_all(got, MANY);
        close_subject(&s);
    }
    for (size_t w = 0; w < way_count; w++) {
        close_code(&codes[w]);
        tsrDestroyContext(codes[w].context);
    }
}

/* ---- right values ---- */

static inline int64_t integer_at(const tensor *t, int64_t i) {
    return dtype_integer(t->type, dtype_load_bits(t->type, t->data, (size_t)i));
}

/* Puts what the sum or product of integers wraps to. */
static inline void put(tensor *t, int64_t i, uint64_t value) {
    uint64_t bits = dtype_wrap(t->type, (int64_t)value);
    size_t size = dtype_size(t->type);
    memcpy((char *)t->data + (size_t)i * size, &bits, size);
}

static inline int64_t least_of(dtype t) {
    return (int64_t)(UINT64_MAX << (dtype_integer_bits(t) - 1));
}

static inline void put_all(tensor *t, double value) {
    for (int64_t i = 0; i < tensor_count(t); i++)
        dtype_store(t->type, t->data, (size_t)i, value);
}

#define T_N "Tensor[\"N\", \"T\"]"
#define M_N "Tensor[\"M\", \"N\", f32]"

#endif
