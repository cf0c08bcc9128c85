/* test_opinion.c - a second opinion of derivatives, batches and composites: no kernel of the corpus
 * is accused, each kind of operation is judged, and a rule of derivatives that lies is found. */
#include "runtime/test/test.h"

#include <fts.h>
#include <stdio.h>
#include <string.h>

#include "base/splitmix64.h"
#include "tessera/opinion.h"

enum { ARRAYS = 64, ELEMENTS = 20000 };

/* ---- a kernel with numbers ---- */

static void fill(tensor *t, uint64_t *seed) {
    for (int64_t i = 0; i < tensor_count(t); i++) {
        const double any = (double)(splitmix64(seed) % 2001) / 1000 - 1;
        dtype_store(t->type, t->data, (size_t)i, dtype_is_float(t->type) ? any : 0);
    }
}

/* False: it is too large, or its arrays are too many. */
static bool make_inputs(compiler_instance *instance, tensor *inputs) {
    compiler_signature s;
    status st = STATUS_INIT;
    uint64_t seed = 1;
    int64_t elements = 0;
    if (!compiler_signature_of(instance, &s, &st) || s.input_count > ARRAYS)
        return false;
    for (uint32_t i = 0; i < s.input_count; i++) {
        assert_true(
            tensor_init(&inputs[i], s.inputs[i].type, s.inputs[i].rank, s.inputs[i].dims, &st));
        elements += tensor_count(&inputs[i]);
        fill(&inputs[i], &seed);
    }
    return elements < ELEMENTS;
}

static compiler_opinion opinion_of(compiler_instance *instance, bool *judged) {
    tensor inputs[ARRAYS] = {{0}};
    compiler_opinion found = {.wrong = NULL};
    status st = STATUS_INIT;
    *judged =
        make_inputs(instance, inputs) && compiler_second_opinion(instance, inputs, &found, &st);
    tensor_release_all(inputs, ARRAYS);
    return found;
}

static compiler_opinion opinion_of_text(const char *words) {
    text said;
    bool judged;
    text_init(&said);
    compiler_source *source = compiler_open_text("test.tsr", words, false, &said);
    const compiler_kernel *kernel = compiler_kernel_at(source, 0);
    compiler_instance *instance =
        kernel ? compiler_instance_open(source, kernel, NULL, &said) : NULL;
    if (!instance)
        fail_msg("%s: %s", words, said.data);
    const compiler_opinion found = opinion_of(instance, &judged);
    assert_true(judged);
    text_release(&said);
    compiler_instance_free(instance);
    compiler_close(source);
    return found;
}

/* ---- the tests ---- */

/* Judges a file's cases; the ones that are large are left out. Counts those that were judged. */
static void judge_file(const char *path, uint32_t *count) {
    text said;
    status st = STATUS_INIT;
    text_init(&said);
    compiler_source *source = compiler_open(path, false, &said, &st);
    if (!source)
        fail_msg("%s: %s", path, said.data);
    for (uint32_t k = 0; k < compiler_kernel_count(source); k++) {
        const compiler_kernel *kernel = compiler_kernel_at(source, k);
        for (uint32_t c = 0; c < kernel->case_count; c++) {
            bool judged;
            compiler_instance *instance =
                kernel->cases[c].large
                    ? NULL
                    : compiler_instance_open(source, kernel, &kernel->cases[c], &said);
            if (!instance)
                continue;
            const compiler_opinion found = opinion_of(instance, &judged);
            if (found.wrong)
                fail_msg("%s/%s: %s of line %u: %s", kernel->name, kernel->cases[c].name,
                         found.name, found.line, found.why);
            *count += judged;
            compiler_instance_free(instance);
        }
    }
    compiler_close(source);
    text_release(&said);
}

static void no_kernel_of_the_corpus_is_accused(void **state) {
    (void)state;
    char *folders[] = {(char[]){"corpus"}, NULL};
    uint32_t count = 0;
    FTS *walk = fts_open(folders, FTS_LOGICAL, NULL);
    assert_non_null(walk);
    for (FTSENT *one = fts_read(walk); one; one = fts_read(walk))
        if (one->fts_info == FTS_F && strstr(one->fts_name, ".tsr"))
            judge_file(one->fts_path, &count);
    fts_close(walk);
    assert_true(count > 300);
}

static const char head[] = "from tessera import *\n";
static const char kernel[] = "@kernel\n"
                             "def f(x: Tensor[3, 5, f32]) -> Tensor[3, 5, f32]:\n";

static void batches_are_right_to_the_last_bit(void **state) {
    (void)state;
    char words[512];
    snprintf(words, sizeof words,
             "%sdef row(x):\n    return exp(x) * sum(x)\n%s    return vmap(row)(x)\n", head,
             kernel);
    const compiler_opinion found = opinion_of_text(words);
    assert_null(found.wrong);
    assert_int_equal(found.right_count, 1);
    assert_string_equal(found.right[0], "vmap");
}

/* Derivatives and composites have no second way to the last bit: nobody says that they are right.
 */
static void what_is_near_is_not_called_right(void **state) {
    (void)state;
    char words[512];
    snprintf(words, sizeof words,
             "%sdef loss(x):\n    return sum(sin(softmax(x)) * x)\n%s    return grad(loss)(x)\n",
             head, kernel);
    const compiler_opinion found = opinion_of_text(words);
    assert_null(found.wrong);
    assert_int_equal(found.right_count, 0);
}

/* A rule that says it is the function's derivative, and is not. */
static const char lie[] = "def cube(x):\n"
                          "    return x * x * x\n"
                          "@cube.vjp\n"
                          "def cube_back(x, y, t):\n"
                          "    return 2.0 * x * x * t\n";

static void a_rule_that_lies_is_found_where_it_stands(void **state) {
    (void)state;
    char words[768];
    snprintf(words, sizeof words,
             "%s%sdef loss(x):\n    return sum(cube(sin(x)))\n%s    return grad(loss)(x)\n", head,
             lie, kernel);
    const compiler_opinion found = opinion_of_text(words);
    assert_non_null(found.wrong);
    assert_string_equal(found.wrong, "vjp");
    assert_string_equal(found.name, "tessera.vjp");
    assert_int_equal(found.line, 11);
    assert_non_null(strstr(found.why, "differences come to"));
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(no_kernel_of_the_corpus_is_accused),
        cmocka_unit_test(batches_are_right_to_the_last_bit),
        cmocka_unit_test(what_is_near_is_not_called_right),
        cmocka_unit_test(a_rule_that_lies_is_found_where_it_stands),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
