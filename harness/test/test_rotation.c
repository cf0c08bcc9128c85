/* test_rotation.c - timing over several input sets: compiled kernels hold on all of them, and the
 * wrong kernel, wrong digests and damaged memory are told. */
#include "test.h"

#include <stdio.h>
#include <string.h>

#include "case/inputs.h"
#include "launch/launch.h"
#include "measure/digest64.h"
#include "measure/pattern.h"
#include "measure/rotation.h"

enum { SETS = 5, ROWS = 13, COLUMNS = 67 };

static const char source[] =
    "from tessera import *\n\n"
    "@cases(case(\"a\", M=13, N=67))\n@kernel\n"
    "def first(x: Tensor[\"M\", \"N\", f32], y: Tensor[\"M\", \"N\", f32]) "
    "-> Tensor[\"M\", \"N\", f32]:\n"
    "    \"\"\"A softmax, moved.\"\"\"\n"
    "    return softmax(x, axis=-1) + y\n\n\n"
    "@cases(case(\"a\", M=13, N=67))\n@kernel\n"
    "def second(x: Tensor[\"M\", \"N\", f32], y: Tensor[\"M\", \"N\", f32]) "
    "-> Tensor[\"M\", \"N\", f32]:\n"
    "    \"\"\"Its operands the other way round.\"\"\"\n"
    "    return softmax(y, axis=-1) + x\n";

/* Both kernels, compiled and loaded into one context. */
typedef struct bench {
    compiler_source *source;
    tsr_context_t context;
    tsr_module_t modules[2];
    tsr_kernel_t kernels[2];
    tensor inputs[SETS][2];
    uint64_t digests[SETS]; /* of what the interpreter computes for the first */
} bench;

static void make_set(bench *b, compiler_instance *instance, const compiler_case *c, uint32_t set) {
    status st = STATUS_INIT;
    compiler_signature signature;
    tensor expected;
    assert_true(compiler_signature_of(instance, &signature, &st));
    assert_true(inputs_make(&signature, c, 1 + set, b->inputs[set], &st));
    assert_true(compiler_interpret(instance, b->inputs[set], &expected, &st));
    b->digests[set] = rotation_digest(expected.data, tensor_bytes(&expected));
    tensor_release(&expected);
}

static void load(bench *b, uint32_t index) {
    status st = STATUS_INIT;
    text diagnostics;
    compiler_artifact artifact;
    compiler_options options = {.profile = PROFILE_STRICT, .threads = 2};
    text_init(&diagnostics);
    const compiler_kernel *k = compiler_kernel_at(b->source, index);
    compiler_instance *instance = compiler_instance_open(b->source, k, &k->cases[0], &diagnostics);
    if (!instance)
        fail_msg("%s", diagnostics.data);
    assert_true(compiler_build(instance, &options, &artifact, &st));
    assert_int_equal(
        tsrLoadModule(b->context, artifact.image, artifact.image_size, &b->modules[index]), 0);
    assert_int_equal(tsrGetKernel(b->modules[index], k->name, &b->kernels[index]), 0);
    for (uint32_t set = 0; set < SETS && index == 0; set++)
        make_set(b, instance, &k->cases[0], set);
    compiler_artifact_release(&artifact);
    text_release(&diagnostics);
    compiler_instance_free(instance);
}

static int set_up(void **state) {
    static bench b;
    text diagnostics;
    b = (bench){0};
    text_init(&diagnostics);
    compiler_init();
    b.source = compiler_open_text("rotation.tsr", source, false, &diagnostics);
    if (compiler_error_count(b.source))
        fail_msg("%s", diagnostics.data);
    text_release(&diagnostics);
    assert_int_equal(tsrCreateContextOn(0, 2, 0, &b.context), TSR_SUCCESS);
    load(&b, 0);
    load(&b, 1);
    *state = &b;
    return 0;
}

static int tear_down(void **state) {
    bench *b = *state;
    for (int i = 0; i < 2; i++)
        assert_int_equal(tsrUnloadModule(b->modules[i]), TSR_SUCCESS);
    assert_int_equal(tsrDestroyContext(b->context), TSR_SUCCESS);
    for (uint32_t set = 0; set < SETS; set++)
        tensor_release_all(b->inputs[set], 2);
    compiler_close(b->source);
    return 0;
}

static rotation *open_sets(bench *b, uint32_t count, bool with_digests) {
    static size_t sizes[] = {ROWS * COLUMNS * sizeof(float), ROWS * COLUMNS * sizeof(float),
                             ROWS * COLUMNS * sizeof(float)};
    const void *inputs[SETS][2];
    rotation_set sets[SETS];
    status st = STATUS_INIT;
    for (uint32_t i = 0; i < count; i++) {
        inputs[i][0] = b->inputs[i][0].data;
        inputs[i][1] = b->inputs[i][1].data;
        sets[i] = (rotation_set){inputs[i], with_digests ? &b->digests[i] : NULL};
    }
    launch shape = {.context = b->context, .input_count = 2, .output_count = 1, .sizes = sizes};
    rotation_request request = {
        .launch = &shape, .set_count = count, .sets = sets, .seed = 7 + count};
    rotation *r = rotation_open(&request, &st);
    if (!r)
        fail_msg("%s", st.message);
    return r;
}

static void expect_time(rotation *r, tsr_kernel_t kernel, uint64_t repeats) {
    status st = STATUS_INIT;
    double ns = 0;
    rotation_timing timing = {kernel, repeats};
    if (!rotation_time(r, &timing, &ns, &st))
        fail_msg("%llu launches: %s", (unsigned long long)repeats, st.message);
    assert_true(ns > 0);
}

static void expect_mismatch(rotation *r, tsr_kernel_t kernel, uint64_t repeats, const char *words) {
    status st = STATUS_INIT;
    double ns = 0;
    rotation_timing timing = {kernel, repeats};
    assert_false(rotation_time(r, &timing, &ns, &st));
    assert_int_equal(st.code, STATUS_MISMATCH);
    if (!strstr(st.message, words))
        fail_msg("'%s' (expected '%s')", st.message, words);
    char set[32];
    snprintf(set, sizeof set, "input set %d", rotation_failed_set(r));
    assert_non_null(strstr(st.message, set));
}

/* Against the interpreter's bits: any number of sets, any number of launches. */
static void test_a_compiled_kernel_holds(void **state) {
    static const uint64_t repeats[] = {1, 2, 3, 5, 7, 24, 25, 26, 101};
    for (uint32_t sets = 1; sets <= SETS; sets++) {
        rotation *r = open_sets(*state, sets, true);
        for (size_t i = 0; i < sizeof repeats / sizeof *repeats; i++)
            expect_time(r, ((bench *)*state)->kernels[0], repeats[i]);
        for (int i = 0; i < 40; i++)
            expect_time(r, ((bench *)*state)->kernels[0], 3);
        rotation_close(r);
    }
}

static void test_another_kernel_does_not(void **state) {
    bench *b = *state;
    rotation *r = open_sets(b, SETS, true);
    expect_mismatch(r, b->kernels[1], 1, "has other bits than this kernel gives");
    expect_mismatch(r, b->kernels[1], 17, "has other bits than this kernel gives");
    expect_time(r, b->kernels[0], 17);
    rotation_close(r);
}

static void test_what_was_learnt_is_held(void **state) {
    bench *b = *state;
    status st = STATUS_INIT;
    double ns;
    rotation *r = open_sets(b, 3, false);
    rotation_timing timing = {b->kernels[1], 4};
    assert_false(rotation_time(r, &timing, &ns, &st));
    assert_int_equal(st.code, STATUS_INTERNAL);
    st = (status)STATUS_INIT;
    assert_true(rotation_learn(r, b->kernels[1], &st));
    expect_time(r, b->kernels[1], 4);
    expect_mismatch(r, b->kernels[0], 4, "output 0 for input set");
    rotation_close(r);
}

static void test_wrong_requests(void **state) {
    bench *b = *state;
    status st = STATUS_INIT;
    launch shape = {.context = b->context};
    rotation_request request = {.launch = &shape, .set_count = ROTATION_SETS_MAX + 1};
    assert_null(rotation_open(&request, &st));
    assert_int_equal(st.code, STATUS_INVALID);
    rotation_close(NULL);
}

/* ---- inputs ---- */

static bool are_equal(const tensor *a, const tensor *b) {
    return memcmp(a->data, b->data, tensor_bytes(a)) == 0;
}

/* A set is the same whoever makes it: alone, or beside the case's own inputs. */
static void test_sets_of_a_case(void **state) {
    bench *b = *state;
    status st = STATUS_INIT;
    compiler_input kinds[2] = {{INPUT_NORMAL, 0, 1}, {INPUT_NORMAL, 0, 1}};
    compiler_case c = {.name = "sets", .inputs = kinds};
    struct compiler_buffer buffers[2] = {{0}};
    for (int i = 0; i < 2; i++) {
        buffers[i].type = b->inputs[0][i].type;
        buffers[i].rank = b->inputs[0][i].rank;
        memcpy(buffers[i].dims, b->inputs[0][i].dims, sizeof buffers[i].dims);
    }
    compiler_signature signature = {.input_count = 2, .inputs = buffers};
    tensor own[2], other[2], alone[2], beside[2];
    const input_set first = {0}, second = {1, false}, perturbed = {3, true};
    const inputs_request from_seed = {&signature, &c, 9, NULL}, from_own = {&signature, &c, 9, own};
    assert_true(inputs_make_set(&from_seed, first, own, &st));
    assert_true(inputs_make_set(&from_own, second, other, &st));
    assert_true(inputs_make_set(&from_seed, perturbed, alone, &st));
    assert_true(inputs_make_set(&from_own, perturbed, beside, &st));
    int64_t differ = 0;
    for (int i = 0; i < 2; i++) {
        assert_false(are_equal(&own[i], &other[i]));
        assert_true(are_equal(&alone[i], &beside[i]));
        for (int64_t k = 0; k < tensor_count(&own[i]); k++)
            differ += ((float *)own[i].data)[k] != ((float *)alone[i].data)[k];
    }
    assert_int_equal(differ, 1);
    tensor_release_all(own, 2);
    tensor_release_all(other, 2);
    tensor_release_all(alone, 2);
    tensor_release_all(beside, 2);
}

/* One element of one input differs; which input and which element depends on the seed. */
static void test_twins(void **state) {
    enum { SEEDS = 64 };
    bench *b = *state;
    status st = STATUS_INIT;
    int of_first = 0;
    int64_t last = -1;
    compiler_input kinds[2] = {{INPUT_NORMAL, 0, 1}, {INPUT_NORMAL, 0, 1}};
    compiler_case c = {.name = "perturbed", .inputs = kinds};
    compiler_signature signature = {.input_count = 2};
    tensor perturbed[2];
    for (uint64_t seed = 1; seed <= SEEDS; seed++) {
        int differ = 0;
        assert_true(inputs_make_perturbed(&signature, &c, b->inputs[0], seed, perturbed, &st));
        for (int64_t k = 0; k < 2 * ROWS * COLUMNS; k++) {
            int64_t input = k / (ROWS * COLUMNS), at = k % (ROWS * COLUMNS);
            const float *like = b->inputs[0][input].data, *got = perturbed[input].data;
            if (like[at] == got[at])
                continue;
            assert_true(k != last);
            last = k;
            of_first += input == 0;
            differ++;
        }
        assert_int_equal(differ, 1);
        tensor_release_all(perturbed, 2);
    }
    assert_in_range(of_first, SEEDS / 4, SEEDS * 3 / 4);
}

/* ---- digests and patterns ---- */

/* Any one bit of any length changes it, and the address does not. */
static void test_digests(void **state) {
    unsigned char bytes[200], moved[208];
    (void)state;
    for (size_t i = 0; i < sizeof bytes; i++)
        bytes[i] = (unsigned char)(i * 37);
    for (size_t size = 0; size <= sizeof bytes; size++) {
        uint64_t digest = digest64(1, bytes, size);
        assert_true(digest != digest64(2, bytes, size));
        assert_true(size == 0 || digest != digest64(1, bytes, size - 1));
        memcpy(moved + 3, bytes, size);
        assert_true(digest == digest64(1, moved + 3, size));
        for (size_t bit = 0; bit < 8 * size; bit++) {
            bytes[bit / 8] ^= (unsigned char)(1u << bit % 8);
            assert_true(digest != digest64(1, bytes, size));
            bytes[bit / 8] ^= (unsigned char)(1u << bit % 8);
        }
    }
}

static void test_digests_are_those_of_every_build(void **state) {
    unsigned char bytes[400];
    (void)state;
    for (size_t i = 0; i < sizeof bytes; i++)
        bytes[i] = (unsigned char)(i * 37);
    assert_true(digest64(0, "", 0) == UINT64_C(0x867EC4F1323FF185));
    assert_true(digest64(0, "tessera", 7) == UINT64_C(0xC41E2CD96BDCCFE4));
    assert_true(rotation_digest(bytes, sizeof bytes) == UINT64_C(0xA07AF7799C1617EE));
}

static void test_patterns(void **state) {
    unsigned char bytes[61];
    const uint64_t word = UINT64_C(0x1122334455667788);
    (void)state;
    for (size_t size = 0; size <= sizeof bytes; size++) {
        pattern_fill(bytes, size, word);
        assert_int_equal(pattern_broken_at(bytes, size, word), size);
        assert_int_equal(pattern_words_left(bytes, size, word), size / 8);
        for (size_t i = 0; i < size; i++) {
            bytes[i] ^= 1;
            assert_int_equal(pattern_broken_at(bytes, size, word), i);
            bytes[i] ^= 1;
        }
    }
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_a_compiled_kernel_holds),
        cmocka_unit_test(test_another_kernel_does_not),
        cmocka_unit_test(test_what_was_learnt_is_held),
        cmocka_unit_test(test_wrong_requests),
        cmocka_unit_test(test_sets_of_a_case),
        cmocka_unit_test(test_twins),
        cmocka_unit_test(test_digests),
        cmocka_unit_test(test_digests_are_those_of_every_build),
        cmocka_unit_test(test_patterns),
    };
    tsr_device_info_t host = {.struct_size = sizeof host};
    if (tsrGetDeviceInfo(0, &host) != TSR_SUCCESS || host.unavailable) {
        print_message("skipped: %s\n", host.unavailable ? host.unavailable : tsrGetLastError());
        return 0;
    }
    return cmocka_run_group_tests(tests, set_up, tear_down);
}
