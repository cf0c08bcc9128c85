/* drawn_case.c - see drawn_case.h. */
#include "fuzz/drawn_case.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "base/file.h"
#include "base/splitmix64.h"

enum { SOURCE_BYTES = 16 << 20, STEPS_OF_A_DIM = 3 };
static const uint64_t flops_most = 50000000, bytes_most = 8 << 20;

/* ---- drawing ---- */

/* Sizes around vectors, blocks and nothing at all, where code takes another way. */
static int64_t draw_size(uint64_t *random, int64_t most) {
    static const int64_t edges[] = {1,  2,  3,  4,  5,  7,  8,  9,   11,  13,  15,  16,  17, 31,
                                    32, 33, 47, 63, 64, 65, 96, 127, 128, 129, 255, 256, 257};
    uint64_t drawn = splitmix64(random);
    int64_t edge = edges[drawn / 16 % (sizeof edges / sizeof *edges)];
    if (drawn % 16 == 0)
        return 0;
    if (drawn % 2 && edge <= most)
        return edge;
    return 1 + (int64_t)(splitmix64(random) % (uint64_t)most);
}

/* Half as much again as the greatest of the cases, as for tsr check. */
static int64_t most_of(const compiler_kernel *k, uint32_t dim) {
    int64_t most = k->case_count ? 1 : 40;
    for (uint32_t n = 0; n < k->case_count; n++)
        for (uint32_t i = 0; i < k->cases[n].dim_count && !k->cases[n].large; i++)
            if (strcmp(k->cases[n].dims[i].name, k->dim_names[dim]) == 0 &&
                k->cases[n].dims[i].value > most)
                most = k->cases[n].dims[i].value;
    return most + most / 2 + 2;
}

/* An index or a length keeps to the dimension that its bound was. */
static void bind_bound(const drawn_case *d, compiler_input *input) {
    for (uint32_t i = 0; d->like && i < d->like->dim_count; i++)
        for (int more = 0; more < 2; more++)
            if (input->b == (double)(d->like->dims[i].value + more))
                for (uint32_t k = 0; k < d->kernel->dim_count; k++)
                    if (strcmp(d->kernel->dim_names[k], d->like->dims[i].name) == 0) {
                        input->b = (double)(d->dims[k] + more);
                        return;
                    }
}

static compiler_input draw_input(uint64_t *random, const compiler_input *own) {
    static const compiler_input others[] = {
        {INPUT_NORMAL, 0, 1},      {INPUT_NORMAL, 0, 1000}, {INPUT_UNIFORM, -1, 1},
        {INPUT_UNIFORM, 100, 101}, {INPUT_INTEGERS, -3, 4}, {INPUT_CONSTANT, 0, 0},
        {INPUT_CONSTANT, 1, 0},    {INPUT_SPECIAL, 0, 0},   {INPUT_SPECIAL, 0, 0}};
    uint64_t drawn = splitmix64(random);
    return drawn % 4 == 0 ? *own : others[drawn / 4 % (sizeof others / sizeof *others)];
}

static void draw_inputs(drawn_case *d, const compiler_signature *signature, uint64_t *random) {
    for (uint32_t i = 0; i < signature->input_count; i++) {
        const compiler_input usual = {INPUT_NORMAL, 0, 1};
        d->is_float[i] = dtype_is_float(signature->inputs[i].type);
        d->inputs[i] = d->like ? d->like->inputs[i] : usual;
        if (d->is_float[i])
            d->inputs[i] = draw_input(random, &d->inputs[i]);
        else if (d->inputs[i].kind == INPUT_INTEGERS)
            bind_bound(d, &d->inputs[i]);
    }
}

bool drawn_case_draw(drawn_case *d, const corpus_case *item, uint64_t *random) {
    const compiler_kernel *k = item->kernel;
    compiler_signature signature;
    status ignored = STATUS_INIT;
    *d = (drawn_case){.kernel = k, .like = item->c, .seed = splitmix64(random) >> 2};
    compiler_instance *instance = corpus_case_instance(item, NULL);
    bool ok = instance && k->dim_count <= DRAWN_DIMS_MAX &&
              k->parameter_count <= DRAWN_INPUTS_MAX &&
              compiler_signature_of(instance, &signature, &ignored);
    for (uint32_t i = 0; i < k->dim_count && ok; i++)
        d->dims[i] = draw_size(random, most_of(k, i));
    if (ok)
        draw_inputs(d, &signature, random);
    compiler_instance_free(instance);
    return ok;
}

/* ---- as text ---- */

static void input_words(const compiler_input *input, text *out) {
    switch (input->kind) {
    case INPUT_NORMAL:
        text_printf(out, "normal(%.17g, %.17g)", input->a, input->b);
        break;
    case INPUT_UNIFORM:
        text_printf(out, "uniform(%.17g, %.17g)", input->a, input->b);
        break;
    case INPUT_INTEGERS:
        text_printf(out, "integers(%.0f, %.0f)", input->a, input->b);
        break;
    case INPUT_CONSTANT:
        text_printf(out, "constant(%.17g)", input->a);
        break;
    default:
        text_append(out, "special()");
    }
}

/* A bool's own distribution is no number's: the kernel's default makes it. */
static bool has_words(const drawn_case *d, uint32_t input) {
    return d->is_float[input] || d->inputs[input].kind == INPUT_INTEGERS;
}

void drawn_case_words(const drawn_case *d, text *out) {
    const compiler_kernel *k = d->kernel;
    text_append(out, "case(\"" DRAWN_CASE "\"");
    for (uint32_t i = 0; i < k->dim_count; i++)
        text_printf(out, ", %s=%" PRId64, k->dim_names[i], d->dims[i]);
    for (uint32_t i = 0; d->like && i < d->like->type_count; i++)
        text_printf(out, ", %s=%s", d->like->types[i].name, dtype_name(d->like->types[i].type));
    for (uint32_t i = 0; i < k->parameter_count; i++) {
        if (!has_words(d, i))
            continue;
        text_printf(out, ", %s=", k->parameter_names[i]);
        input_words(&d->inputs[i], out);
    }
    text_append(out, ")");
}

/* The byte at which a line begins. */
static size_t line_start(const char *data, size_t size, uint32_t line) {
    size_t at = 0;
    for (uint32_t i = 1; i < line && at < size; at++)
        i += data[at] == '\n';
    return at;
}

bool drawn_case_source(const drawn_case *d, text *out, status *st) {
    char *data;
    size_t size;
    if (!file_read(d->kernel->path, SOURCE_BYTES, &data, &size, st))
        return false;
    size_t at = line_start(data, size, d->kernel->line);
    text_append_bytes(out, data, at);
    text_append(out, "@cases(");
    drawn_case_words(d, out);
    text_append(out, ")\n");
    text_append_bytes(out, data + at, size - at);
    free(data);
    return true;
}

/* ---- does it fit? ---- */

static bool is_small(compiler_source *s, const compiler_kernel *k) {
    uint64_t flops, bytes;
    status ignored = STATUS_INIT;
    const compiler_case *c = NULL;
    for (uint32_t i = 0; i < k->case_count; i++)
        if (strcmp(k->cases[i].name, DRAWN_CASE) == 0)
            c = &k->cases[i];
    compiler_instance *instance = c ? case_instance(s, k, c, &ignored) : NULL;
    bool ok = instance && compiler_cost(instance, &flops, &bytes, &ignored) &&
              flops <= flops_most && bytes <= bytes_most;
    compiler_instance_free(instance);
    return ok;
}

bool drawn_case_fits(const drawn_case *d, const text *source) {
    text said;
    text_init(&said);
    compiler_source *s = compiler_open_text(d->kernel->path, source->data, false, &said);
    const compiler_kernel *k = compiler_kernel_named(s, d->kernel->name);
    bool ok = k && !k->broken && is_small(s, k);
    compiler_close(s);
    text_release(&said);
    return ok;
}

/* ---- smaller ones ---- */

bool drawn_case_smaller(const drawn_case *d, uint32_t step, drawn_case *out) {
    const compiler_input plain = {INPUT_NORMAL, 0, 1};
    uint32_t dims = d->kernel->dim_count, dim = step / STEPS_OF_A_DIM;
    *out = *d;
    if (dim < dims) {
        const int64_t old = d->dims[dim], tried[STEPS_OF_A_DIM] = {1, old / 2, old - 1};
        out->dims[dim] = tried[step % STEPS_OF_A_DIM];
        if (out->dims[dim] >= old || out->dims[dim] < 1)
            out->dims[dim] = old;
        return true;
    }
    uint32_t input = step - dims * STEPS_OF_A_DIM;
    if (input >= d->kernel->parameter_count)
        return false;
    if (d->is_float[input])
        out->inputs[input] = plain;
    return true;
}
