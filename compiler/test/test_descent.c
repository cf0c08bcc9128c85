/* test_descent.c - the module behind each pass computes what the kernel means, bit for bit: kernels
 * of each kind of work on their way down to Tile IR, and one that a fault makes wrong on its way.
 */
#include "runtime/test/test.h"

#include <stdio.h>
#include <string.h>

#include "compiler/test/corpus.h"
#include "tessera/descent.h"

enum { OUTPUTS = 2, ROWS = 5, COLUMNS = 70 };

static const struct {
    const char *result, *body;
} kernels[] = {
    {"Tensor[5, 70, f32]", "exp(x) * 0.5 + x"},
    {"Tensor[5, f32]", "sum(x, axis=1)"},
    {"Tensor[70, f32]", "max(x, axis=0)"},
    {"Tensor[5, 5, f32]", "x @ y.T"},
    {"Tensor[5, 70, f32]", "softmax(x)"},
    {"Tensor[70, 5, f32]", "tanh(x).T"},
    {"Tensor[5, 70, f32]", "cumsum(x, axis=1)"},
    {"Tensor[5, 70, bf16]", "cast(x - y, bf16)"},
    {"Tensor[5, 140, f32]", "concat((x, y), axis=1)"},
    {"Tensor[5, 70, i32]", "argsort(x)"},
    {"Tensor[2, 70, f32]", "take(x, full((2,), 3, i32))"},
};

static void fill(tensor *t, float by) {
    for (int64_t i = 0; i < tensor_count(t); i++)
        ((float *)t->data)[i] = (float)(i * 37 % 101) * 0.0625f - by;
}

typedef struct fixture {
    compiler_source *source;
    compiler_instance *instance;
    tensor inputs[2], expected[OUTPUTS];
} fixture;

static fixture opened(size_t number) {
    char words[512];
    const int64_t dims[] = {ROWS, COLUMNS};
    fixture f = {.expected = {{0}}};
    text said;
    status st = STATUS_INIT;
    text_init(&said);
    snprintf(words, sizeof words,
             "@kernel\ndef f(x: Tensor[5, 70, f32], y: Tensor[5, 70, f32]) -> %s:\n    return %s\n",
             kernels[number].result, kernels[number].body);
    f.source = compiler_open_text("test.tsr", words, false, &said);
    f.instance = compiler_instance_open(f.source, compiler_kernel_at(f.source, 0), NULL, &said);
    if (!f.instance)
        fail_msg("%s: %s", kernels[number].body, said.data);
    for (int i = 0; i < 2; i++) {
        assert_true(tensor_init(&f.inputs[i], DTYPE_F32, 2, dims, &st));
        fill(&f.inputs[i], (float)i + 1);
    }
    assert_true(compiler_interpret(f.instance, f.inputs, f.expected, &st));
    text_release(&said);
    return f;
}

static void close_all(fixture *f) {
    tensor_release_all(f->inputs, 2);
    tensor_release_all(f->expected, OUTPUTS);
    compiler_instance_free(f->instance);
    compiler_close(f->source);
}

/* The first pass whose module computes something else; "": none. *levels counts tile modules. */
static const char *first_wrong(fixture *f, const compiler_options *options, int *tiles) {
    status st = STATUS_INIT;
    compiler_descent *d = compiler_descent_open(f->instance, options, &st);
    const char *name, *wrong = "";
    assert_non_null(d);
    while (!*wrong && (name = compiler_descent_name(d))) {
        tensor outputs[OUTPUTS] = {{0}};
        if (!compiler_descent_run(d, &st))
            fail_msg("%s: %s", name, st.message);
        if (!compiler_descent_evaluates(d))
            continue;
        if (!compiler_descent_evaluate(d, f->inputs, outputs, &st))
            fail_msg("%s: %s", name, st.message);
        if (memcmp(outputs[0].data, f->expected[0].data, tensor_bytes(&outputs[0])) != 0)
            wrong = name;
        *tiles += strcmp(compiler_descent_level(d), "tile") == 0;
        tensor_release_all(outputs, OUTPUTS);
    }
    compiler_descent_close(d);
    return wrong;
}

static void modules_mean_what_the_kernel_means(void **state) {
    (void)state;
    static const char *const levels[] = {"x86-64-v3", "x86-64-v4", "aarch64-neon"};
    for (size_t i = 0; i < COUNT_OF(kernels); i++)
        for (size_t k = 0; k < COUNT_OF(levels); k++) {
            fixture f = opened(i);
            int tiles = 0;
            const compiler_options options = {
                .profile = PROFILE_STRICT, .isa = levels[k], .threads = 2};
            const char *wrong = first_wrong(&f, &options, &tiles);
            if (*wrong || tiles < 5)
                fail_msg("%s for %s: wrong behind '%s', %d modules of tiles", kernels[i].body,
                         levels[k], wrong, tiles);
            close_all(&f);
        }
}

static const struct {
    const char *fault, *pass;
    size_t kernel;
} faults[] = {
    {"swap-operands", "decompose", 4},
    {"drop-last-k", "fault", 3},
    {"edge-off-by-one", "fault", 0},
};

static void faults_show_behind_the_pass_that_makes_them(void **state) {
    (void)state;
    for (size_t i = 0; i < COUNT_OF(faults); i++) {
        fixture f = opened(faults[i].kernel);
        int tiles = 0;
        const compiler_options options = {
            .profile = PROFILE_STRICT, .isa = "x86-64-v3", .fault = faults[i].fault};
        assert_string_equal(first_wrong(&f, &options, &tiles), faults[i].pass);
        close_all(&f);
    }
}

/* ---- the modules of the corpus, of a CPU and of a chip ---- */

typedef struct module_counts {
    const char *isa, *pass;
    int seen, evaluated, others;
} module_counts;

enum { EACH = 7 }; /* so many cases, one is looked at */

/* Runs the passes up to that one. False: the kernel has no way down to it. */
static bool run_to(compiler_descent *d, const char *pass, status *st) {
    const char *name = "";
    while (strcmp(name, pass) != 0 && (name = compiler_descent_name(d)))
        if (!compiler_descent_run(d, st))
            return false;
    return name != NULL;
}

static void judge_module(const corpus_case *c, void *context) {
    module_counts *counts = context;
    const compiler_options options = {.profile = PROFILE_STRICT, .isa = counts->isa, .threads = 2};
    compiler_signature s;
    status st = STATUS_INIT;
    if (counts->seen++ % EACH || compiler_instance_is_contract(c->instance) ||
        !compiler_signature_of(c->instance, &s, &st))
        return;
    compiler_descent *d = compiler_descent_open(c->instance, &options, &st);
    tensor *expected = tensors_new(s.output_count), *got = tensors_new(s.output_count);
    bool there = d && run_to(d, counts->pass, &st) && compiler_descent_evaluates(d);
    st = (status)STATUS_INIT;
    there = there && compiler_descent_evaluate(d, c->inputs, got, &st);
    if (st.code != STATUS_OK && st.code != STATUS_UNAVAILABLE)
        fail_msg("%s/%s behind %s for %s: %s", c->kernel, c->name, counts->pass, counts->isa,
                 st.message);
    if (there)
        assert_true(compiler_interpret(c->instance, c->inputs, expected, &st));
    for (uint32_t i = 0; there && i < s.output_count; i++)
        if (memcmp(expected[i].data, got[i].data, tensor_bytes(&got[i])) != 0)
            fail_msg("%s/%s behind %s for %s: output %u is another", c->kernel, c->name,
                     counts->pass, counts->isa, i);
    *(there ? &counts->evaluated : &counts->others) += 1;
    tensors_free(expected);
    tensors_free(got);
    compiler_descent_close(d);
}

static void modules_of_the_corpus_mean_what_its_kernels_mean(void **state) {
    (void)state;
    module_counts rows[] = {{"x86-64-v3", "schedule", 0, 0, 0},
                            {"x86-64-v3", "assign-layout", 0, 0, 0},
                            {"sm_80-emulated", "schedule", 0, 0, 0},
                            {"sm_80-emulated", "tile", 0, 0, 0},
                            {"sm_80-emulated", "insert-barriers", 0, 0, 0}};
    for (size_t i = 0; i < COUNT_OF(rows); i++) {
        corpus_each(judge_module, &rows[i]);
        assert_true(rows[i].evaluated > rows[i].others);
    }
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(modules_mean_what_the_kernel_means),
        cmocka_unit_test(faults_show_behind_the_pass_that_makes_them),
        cmocka_unit_test(modules_of_the_corpus_mean_what_its_kernels_mean),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
