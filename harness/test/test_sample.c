/* test_sample.c - verdicts of cases that are computed in part: what holds for the whole holds
 * there, and 16 x 16 wrong elements are seen wherever they are. */
#include "harness/test/test.h"

#include <stdio.h>
#include <string.h>

#include "base/splitmix64.h"
#include "case/case_sample.h"
#include "check/verdict.h"

/* Each of these can be cut along both axes of its output, or along the first alone. */
static const char source[] =
    "from tessera import *\n"
    "@cases(case(\"a\", M=131, N=144, K=40))\n"
    "@kernel\n"
    "def product(x: Tensor[\"M\", \"K\", f32], y: Tensor[\"K\", \"N\", f32], b: Tensor[\"N\", "
    "f32]) -> "
    "Tensor[\"M\", \"N\", f32]:\n"
    "    return gelu(x @ y + b)\n"
    "@cases(case(\"a\", M=131, N=144, K=40))\n"
    "@kernel\n"
    "def whole_numbers(x: Tensor[\"M\", \"K\", i8], y: Tensor[\"K\", \"N\", i8]) -> Tensor[\"M\", "
    "\"N\", i32]:\n"
    "    return x @ y\n"
    "@cases(case(\"a\", M=131, N=144))\n"
    "@kernel\n"
    "def rows(x: Tensor[\"M\", \"N\", f32]) -> Tensor[\"M\", \"N\", f32]:\n"
    "    return softmax(x)\n"
    "@cases(case(\"a\", M=131, N=144))\n"
    "@kernel\n"
    "def mixed(x: Tensor[\"M\", \"N\", f32]) -> Tensor[\"M\", \"N\", f32]:\n"
    "    return x / sum(sum(abs(x), axis=1), axis=0)\n";

static void open_case(case_context *s, const char *kernel, uint64_t from) {
    status st = STATUS_INIT;
    *s = (case_context){.path = NULL};
    const case_context_request request = {.path = "sample.tsr",
                                          .kernel = kernel,
                                          .case_name = "a",
                                          .seed = 1,
                                          .source = source,
                                          .sampled_from = from};
    if (!case_context_open(s, &request, &st))
        fail_msg("%s", st.message);
}

static void no_stage(void *context, const char *stage) {
    (void)context, (void)stage;
}

static verdict judge(case_context *s, compiler_profile profile, const tensor *outputs) {
    verdict v;
    status st = STATUS_INIT;
    const verdict_request request = {
        .profile = profile, .outputs = outputs, .foreign = true, .stage = no_stage};
    if (!verdict_judge(s, &request, &v, &st))
        fail_msg("%s", st.message);
    return v;
}

static tensor copy_of(const tensor *t) {
    tensor copy;
    status st = STATUS_INIT;
    assert_true(tensor_init(&copy, t->type, t->rank, t->dims, &st));
    memcpy(copy.data, t->data, tensor_bytes(t));
    return copy;
}

enum { KERNELS = 3 };
static const char *const cut[KERNELS] = {"product", "whole_numbers", "rows"};

static void the_bits_are_the_interpreters(void **state) {
    (void)state;
    for (int k = 0; k < KERNELS; k++) {
        case_context s, plain;
        status st = STATUS_INIT;
        open_case(&s, cut[k], 1);
        open_case(&plain, cut[k], 0);
        const tensor *by_code = case_context_oracle(&s, &st),
                     *expected = case_context_oracle(&plain, &st);
        assert_true(by_code && expected && s.by_code && !plain.by_code && s.held > 0);
        assert_memory_equal(by_code->data, expected->data, tensor_bytes(expected));
        assert_true(case_context_interpret(&s, &st) && !s.by_code);
        case_context_close(&s);
        case_context_close(&plain);
    }
}

/* Each cell has a drawn element, whose bound is its own. */
static void every_cell_has_an_element_with_its_own_bound(void **state) {
    (void)state;
    case_context s, plain;
    status st = STATUS_INIT;
    open_case(&s, "product", 1);
    open_case(&plain, "product", 0);
    assert_true(case_context_reference(&s, &st) && case_context_reference(&plain, &st));
    const int64_t rows = s.bounds[0].dims[0], columns = s.bounds[0].dims[1];
    const double *bounds = s.bounds[0].data, *own = plain.bounds[0].data;
    int64_t drawn = 0;
    for (int64_t row = 0; row < rows; row += SAMPLE_STRIP)
        for (int64_t column = 0; column < columns; column += SAMPLE_STRIP, drawn++) {
            int64_t found = 0;
            for (int64_t i = row; i < row + SAMPLE_STRIP && i < rows; i++)
                for (int64_t j = column; j < column + SAMPLE_STRIP; j++)
                    found += bounds[i * columns + j] == own[i * columns + j];
            assert_true(found >= 1);
        }
    assert_int_equal(s.sampled, drawn);
    assert_int_equal(plain.sampled, 0);
    assert_true(case_context_exact_all(&s, &st) && s.sampled == 0);
    assert_memory_equal(s.bounds[0].data, own, tensor_bytes(&s.bounds[0]));
    case_context_close(&s);
    case_context_close(&plain);
}

static void what_is_right_holds(void **state) {
    (void)state;
    for (int k = 0; k < KERNELS; k++)
        for (compiler_profile p = PROFILE_STRICT; p < PROFILE_COUNT; p++) {
            case_context s;
            status st = STATUS_INIT;
            open_case(&s, cut[k], 1);
            tensor outputs[] = {copy_of(case_context_oracle(&s, &st))};
            verdict v = judge(&s, p, outputs);
            assert_true(v.holds && v.sampled > 0 && v.unjudged == 0);
            verdict_release(&v);
            tensor_release(outputs);
            case_context_close(&s);
        }
}

/* Beyond the bound of each of its elements, and within what is allowed where nothing was drawn. */
static void spoil_block(const case_context *plain, tensor *t, uint64_t *random) {
    enum { SIDE = 16 };
    const int64_t columns = t->dims[1];
    const int64_t row = (int64_t)(splitmix64(random) % (uint64_t)(t->dims[0] - SIDE + 1)),
                  column = (int64_t)(splitmix64(random) % (uint64_t)(columns - SIDE + 1));
    const double *values = plain->references[0].data, *bounds = plain->bounds[0].data;
    for (int64_t i = 0; i < (int64_t)SIDE * SIDE; i++) {
        const size_t place = (size_t)((row + i / SIDE) * columns + column + i % SIDE);
        double by = dtype_is_float(t->type) ? 1.5 * bounds[place] : 1;
        dtype_store(t->type, t->data, place, values[place] + by);
    }
}

static void a_wrong_block_is_seen_anywhere(void **state) {
    (void)state;
    enum { PLACES = 40 };
    uint64_t random = 7;
    for (int k = 0; k < KERNELS; k++) {
        case_context plain;
        status st = STATUS_INIT;
        open_case(&plain, cut[k], 0);
        assert_true(case_context_reference(&plain, &st));
        for (int place = 0; place < PLACES; place++)
            for (compiler_profile p = PROFILE_STRICT; p < PROFILE_COUNT; p += PROFILE_FAST) {
                case_context s;
                open_case(&s, cut[k], 1);
                tensor outputs[] = {copy_of(case_context_oracle(&s, &st))};
                spoil_block(&plain, outputs, &random);
                verdict v = judge(&s, p, outputs);
                if (v.holds)
                    fail_msg("%s under %s: a wrong block was not seen", cut[k],
                             compiler_profile_name(p));
                verdict_release(&v);
                tensor_release(outputs);
                case_context_close(&s);
            }
        case_context_close(&plain);
    }
}

/* An element that was not drawn, outside of what is allowed there, is held to the reference: within
 * its bound it is right. */
static void what_is_outside_is_held_to_the_reference(void **state) {
    (void)state;
    for (int wrong = 0; wrong < 2; wrong++) {
        case_context s;
        status st = STATUS_INIT;
        open_case(&s, "product", 1);
        tensor outputs[] = {copy_of(case_context_oracle(&s, &st))};
        assert_true(case_context_reference(&s, &st));
        double *bounds = s.bounds[0].data, *values = s.references[0].data;
        bounds[77] = 0; /* as if it had been too narrow */
        values[77] += 1;
        dtype_store(DTYPE_F32, outputs[0].data, 77,
                    dtype_load(DTYPE_F32, outputs[0].data, 77) + (wrong ? 0.5 : 0));
        bound_check c = verdict_bound(&s, 0, outputs);
        assert_int_equal(c.beyond, wrong);
        assert_int_equal(c.first, wrong ? 77 : -1);
        tensor_release(outputs);
        case_context_close(&s);
    }
}

/* Positions depend on each other: the interpreter computes all. */
static void what_cannot_be_cut_is_whole(void **state) {
    (void)state;
    case_context s;
    status st = STATUS_INIT;
    open_case(&s, "mixed", 1);
    assert_false(case_sample_applies(&s));
    assert_true(case_context_oracle(&s, &st) && !s.by_code);
    assert_true(case_context_reference(&s, &st) && s.sampled == 0);
    case_context_close(&s);
}

int main(void) {
    compiler_init();
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(the_bits_are_the_interpreters),
        cmocka_unit_test(every_cell_has_an_element_with_its_own_bound),
        cmocka_unit_test(what_is_right_holds),
        cmocka_unit_test(a_wrong_block_is_seen_anywhere),
        cmocka_unit_test(what_is_outside_is_held_to_the_reference),
        cmocka_unit_test(what_cannot_be_cut_is_whole),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
