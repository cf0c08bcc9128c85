/* test_opinion.c - a second opinion of derivatives, batches and composites: no kernel of the corpus
 * is accused, each kind of operation is judged, and a rule of derivatives that lies is found. */
#include "runtime/test/test.h"

#include <stdio.h>
#include <string.h>

#include "compiler/test/corpus.h"
#include "tessera/opinion.h"

static compiler_opinion opinion_of(compiler_instance *instance, bool *judged) {
    tensor inputs[CORPUS_ARRAYS] = {{0}};
    compiler_opinion found = {.wrong = NULL};
    status st = STATUS_INIT;
    *judged =
        corpus_inputs(instance, inputs) && compiler_second_opinion(instance, inputs, &found, &st);
    tensor_release_all(inputs, CORPUS_ARRAYS);
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

static void judge_case(const corpus_case *c, void *context) {
    compiler_opinion found;
    status st = STATUS_INIT;
    if (!compiler_second_opinion(c->instance, c->inputs, &found, &st))
        return;
    if (found.wrong)
        fail_msg("%s/%s: %s of line %u: %s", c->kernel, c->name, found.name, found.line, found.why);
    ++*(int *)context;
}

static void no_kernel_of_the_corpus_is_accused(void **state) {
    (void)state;
    int count = 0;
    corpus_each(judge_case, &count);
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
