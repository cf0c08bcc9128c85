/* test_overhead.c - what the harness adds inside a timed part: nothing but two readings of the
 * clock.
 *
 * A kernel that does nothing, on tensors without elements, is launched by the rotation and by a
 * bare loop in turn. The least time of a launch must be the same; of a part with one launch the
 * rotation reports the launch and takes off what reading the clock costs. */
#include "test/test.h"

#include <stdlib.h>

#include "measure/rotation.h"
#include "measure/timer.h"
#include "test/module_maker.h"

enum { TRIES = 20, ROUNDS = 400, LAUNCHES = 256, SETS = 4 };
static const double slack_ns = 3, slack_share = 0.04;

typedef struct empty {
    tsr_context_t context;
    tsr_module_t module;
    tsr_kernel_t kernel;
    rotation *rotation;
    void *buffers[SETS][3];
    void *args[SETS * SETS][3];
} empty;

static void open_empty(empty *e) {
    static const char json[] =
        "{\"schema\": \"tsr.module/1\", \"name\": \"empty\", \"profile\": \"strict\","
        " \"numerics_version\": 1, \"inputs\": ["
        "{\"name\": \"a\", \"dtype\": \"f32\", \"shape\": [0]},"
        "{\"name\": \"b\", \"dtype\": \"f32\", \"shape\": [0]}],"
        " \"outputs\": [{\"name\": \"out\", \"dtype\": \"f32\", \"shape\": [0]}],"
        " \"workspace_bytes\": 0, \"scratch_bytes\": 0, \"phases\": ["
        "{\"symbol\": \"nothing\", \"grid\": 1, \"what\": \"nothing\"}]}";
    static const size_t sizes[3];
    const void *inputs[2] = {NULL, NULL};
    rotation_set sets[SETS];
    status st = STATUS_INIT;
    bytes object = read_object("kernels");
    bytes image = make_module(json, "elf:x86-64-v2+fma", object);
    assert_int_equal(tsrCreateContextOn(0, 1, 0, &e->context), TSR_SUCCESS);
    if (tsrLoadModule(e->context, image.data, image.size, &e->module) != TSR_SUCCESS)
        fail_msg("%s", tsrGetLastError());
    assert_int_equal(tsrGetKernel(e->module, "empty", &e->kernel), TSR_SUCCESS);
    for (int i = 0; i < SETS; i++) {
        sets[i] = (rotation_set){inputs, NULL};
        for (int k = 0; k < 3; k++)
            assert_int_equal(tsrAlloc(e->context, 64, 0, &e->buffers[i][k]), TSR_SUCCESS);
    }
    for (int i = 0; i < SETS * SETS; i++)
        for (int k = 0; k < 3; k++)
            e->args[i][k] = &e->buffers[k < 2 ? i % SETS : (i + i / SETS) % SETS][k];
    rotation_request request = {.context = e->context,
                                .input_count = 2,
                                .output_count = 1,
                                .sizes = sizes,
                                .set_count = SETS,
                                .sets = sets};
    e->rotation = rotation_open(&request, &st);
    if (!e->rotation || !rotation_learn(e->rotation, e->kernel, &st))
        fail_msg("%s", st.message);
    free(object.data);
    free(image.data);
}

static void close_empty(empty *e) {
    rotation_close(e->rotation);
    for (int i = 0; i < 3 * SETS; i++)
        assert_int_equal(tsrFree(e->context, e->buffers[i / 3][i % 3]), TSR_SUCCESS);
    assert_int_equal(tsrUnloadModule(e->module), TSR_SUCCESS);
    assert_int_equal(tsrDestroyContext(e->context), TSR_SUCCESS);
}

/* As a user would who has as many tensors: finding allocations is part of a launch. */
static double bare(empty *e, int launches) {
    const tsr_launch_t grid = {0};
    uint64_t start = timer_now_ns();
    for (int i = 0; i < launches; i++)
        (void)tsrLaunch(e->kernel, NULL, grid, e->args[i % (SETS * SETS)], 3);
    return (double)(timer_now_ns() - start) / launches;
}

static double rotated(empty *e, uint64_t launches) {
    status st = STATUS_INIT;
    rotation_timing timing = {e->kernel, launches};
    double ns = 0;
    if (!rotation_time(e->rotation, &timing, &ns, &st))
        fail_msg("%s", st.message);
    return ns;
}

static double least(double a, double b) {
    return a < b ? a : b;
}

static void test_nothing_is_added(void **state) {
    empty e;
    double loop = 1e9, ours = 1e9, one = 1e9;
    (void)state;
    open_empty(&e);
    bool holds = false;
    /* Other work on the machine can only make it look worse. */
    for (int i = 0; i < TRIES * ROUNDS && !(i >= ROUNDS && holds); i++) {
        loop = least(loop, bare(&e, LAUNCHES));
        ours = least(ours, rotated(&e, LAUNCHES));
        one = least(one, rotated(&e, 1));
        holds = ours <= loop * (1 + slack_share) + slack_ns;
    }
    print_message(
        "an empty launch: %.1f ns in a bare loop, %.1f ns in a timed part of %d, %.1f ns in "
        "a timed part of one; reading the clock: %d ns\n",
        loop, ours, LAUNCHES, one, (int)timer_cost_ns());
    assert_true(holds);
    close_empty(&e);
}

int main(void) {
    const struct CMUnitTest tests[] = {cmocka_unit_test(test_nothing_is_added)};
#if !defined(__x86_64__)
    puts("skipped: the empty kernel is compiled for x86-64");
    return 0;
#endif
    if (host_unavailable()) {
        print_message("skipped: %s\n", host_unavailable());
        return 0;
    }
    return cmocka_run_group_tests(tests, NULL, NULL);
}
