/* test_overhead.c - what the harness adds inside a timed part: nothing but two readings of the
 * clock.
 *
 * A kernel that counts its launches shows that those of a timed part are in it and no others. What
 * that costs is shown, not judged: a kernel that does nothing, on tensors without elements, is
 * launched by the rotation and by a bare loop in turn; of a part with one launch the rotation
 * reports the launch and takes off what reading the clock costs. */
#include "test/test.h"

#include <stdlib.h>

#include "common/timer.h"
#include "measure/rotation_parts.h"
#include "test/cheats/counted.h"
#include "test/module_maker.h"

enum { ROUNDS = 400, LAUNCHES = 256, SETS = 4 };

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
        "{\"schema\": \"tsr.module/2\", \"name\": \"empty\", \"profile\": \"strict\","
        " \"numerics_version\": 1, \"inputs\": ["
        "{\"name\": \"a\", \"dtype\": \"f32\", \"shape\": [0]},"
        "{\"name\": \"b\", \"dtype\": \"f32\", \"shape\": [0]}],"
        " \"outputs\": [{\"name\": \"out\", \"dtype\": \"f32\", \"shape\": [0]}],"
        " \"workspace_bytes\": 0, \"scratch_bytes\": 0, \"phases\": ["
        "{\"symbol\": \"nothing\", \"grid\": 1, \"what\": \"nothing\"}]}";
    const void *inputs[2] = {NULL, NULL};
    rotation_set sets[SETS];
    status st = STATUS_INIT;
    bytes object = read_object("kernels");
    bytes image = make_module(json, "x86_64-elf/x86-64-v2+fma", object);
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
    static size_t sizes[3];
    launch shape = {.context = e->context, .input_count = 2, .output_count = 1, .sizes = sizes};
    rotation_request request = {.launch = &shape, .set_count = SETS, .sets = sets};
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

static void show_what_is_added(void **state) {
    empty e;
    double loop = 1e9, ours = 1e9, one = 1e9;
    (void)state;
    open_empty(&e);
    for (int i = 0; i < ROUNDS; i++) {
        loop = least(loop, bare(&e, LAUNCHES));
        ours = least(ours, rotated(&e, LAUNCHES));
        one = least(one, rotated(&e, 1));
    }
    print_message(
        "an empty launch: %.1f ns in a bare loop, %.1f ns in a timed part of %d, %.1f ns in "
        "a timed part of one; reading the clock: %d ns\n",
        loop, ours, LAUNCHES, one, (int)timer_cost_ns());
    close_empty(&e);
}

/* ---- launches that are counted ---- */

typedef struct inside {
    counted c;
    uint64_t begun_at, launches;
    int parts;
} inside;

static void look_inside(void *context, bool begins) {
    inside *i = context;
    if (begins)
        i->begun_at = i->c.told.launches;
    else
        i->launches += i->c.told.launches - i->begun_at;
    i->parts += begins;
}

/* Inside are the launches that the time is divided by; outside, one for each set. */
static void test_launches_of_a_part(void **state) {
    static const uint64_t repeats[] = {1, 2, COUNTED_SETS, 3 * COUNTED_SETS + 1, 1000};
    static inside in;
    status st = STATUS_INIT;
    (void)state;
    counted_open(&in.c, look_inside, &in);
    for (size_t i = 0; i < 10 * sizeof repeats / sizeof *repeats; i++) {
        rotation_timing timing = {in.c.kernel, repeats[i / 10]};
        uint64_t awakens = timing.repeats < COUNTED_SETS ? timing.repeats : COUNTED_SETS;
        uint64_t before = rotation_launches(in.c.rotation);
        double ns;
        in.c.told.launches = in.launches = 0;
        in.parts = 0;
        if (!rotation_time(in.c.rotation, &timing, &ns, &st))
            fail_msg("%s", st.message);
        assert_int_equal(in.parts, 1);
        assert_int_equal(in.launches, rotation_launches(in.c.rotation) - before);
        assert_int_equal(in.c.told.launches, in.launches + awakens);
        assert_in_range(in.launches, 1, timing.repeats);
    }
    counted_close(&in.c);
}

static uint64_t awakening_launches(inside *in) {
    status st = STATUS_INIT;
    rotation_timing timing = {in->c.kernel, COUNTED_SETS};
    double ns;
    in->c.told.launches = in->launches = 0;
    if (!rotation_time(in->c.rotation, &timing, &ns, &st))
        fail_msg("%s", st.message);
    return in->c.told.launches - in->launches;
}

/* Nothing is launched outside where all that were timed took long; a quick one changes that for all
 * that come after it. */
static void test_slow_launches_wake_themselves(void **state) {
    static inside in;
    (void)state;
    counted_open(&in.c, look_inside, &in);
    assert_false(rotation_is_slow(in.c.rotation));
    assert_int_equal(awakening_launches(&in), COUNTED_SETS);
    in.c.rotation->quickest_ns = 1e9;
    assert_true(rotation_is_slow(in.c.rotation));
    assert_int_equal(awakening_launches(&in), 0);
    assert_false(rotation_is_slow(in.c.rotation));
    assert_int_equal(awakening_launches(&in), COUNTED_SETS);
    counted_close(&in.c);
}

int main(void) {
    const struct CMUnitTest tests[] = {cmocka_unit_test(show_what_is_added),
                                       cmocka_unit_test(test_launches_of_a_part),
                                       cmocka_unit_test(test_slow_launches_wake_themselves)};
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
