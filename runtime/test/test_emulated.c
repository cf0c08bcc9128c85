/* test_emulated.c - the driver `emulated`: its targets, how mistakes of an image reach whoever
 * waits, and limits of its devices. What every device owes is in test_device.c. */
#include "test/test.h"

#include <stdlib.h>
#include <string.h>

#include "device/device.h"
#include "device/emulate/emulate.h"
#include "device/emulate/emulated.h"
#include "device/host/host.h"
#include "test/device_bench.h"

static bench open_bench(uint32_t index) {
    const device_options options = {.threads = 1};
    bench b = {.driver = device_driver_find("emulated"), .index = index};
    status st = STATUS_INIT;
    must(device_open(b.driver, index, &options, &b.d, &st), &st);
    assert_true(b.driver->queue_create(b.d, true, &b.sync, NULL));
    assert_true(b.driver->queue_create(b.d, false, &b.queues[0], NULL));
    return b;
}

static void close_bench(const bench *b) {
    b->driver->queue_destroy(b->d, b->queues[0]);
    b->driver->queue_destroy(b->d, b->sync);
    b->driver->close(b->d);
}

static void devices_name_what_they_load(void **state) {
    (void)state;
    static const char *const names[] = {"ptx-emulated", "rocm-emulated"};
    static const uint64_t shared[] = {232448, 65536};
    const device_driver *driver = device_driver_find("emulated");
    device_info info;
    unsetenv(EMULATED_DEVICES);
    assert_false(driver->enumerate(0, &info));
    setenv(EMULATED_DEVICES, "1", 1);
    assert_false(driver->enumerate(2, &info));
    for (uint32_t index = 0; index < 2; index++) {
        char isa[EMULATED_NAME_BYTES], target[EMULATED_NAME_BYTES];
        assert_true(driver->enumerate(index, &info));
        assert_string_equal(info.name, names[index]);
        assert_int_equal(info.workgroup_memory_bytes, shared[index]);
        assert_false(info.host_addressable);
        const char *level = strchr(info.isa, '+') + 1;
        assert_int_equal(strncmp(info.isa, names[index], strlen(names[index])), 0);
        assert_true(info.unavailable || host_isa_supports(level));
        emulated_isa_of(index, level, isa);
        emulated_target_of(index, level, target);
        assert_string_equal(info.isa, isa);
        assert_true(info.unavailable || strcmp(info.targets[0], target) == 0);
        for (size_t i = 0; info.targets[i]; i++) /* modules have room for it, and no machine two */
            assert_true(strlen(info.targets[i]) < 32 && strchr(info.targets[i], '/'));
    }
}

/* ---- mistakes ---- */

static const struct {
    const char *symbol;
    emulate_fault fault;
    const char *place;
} mistakes[] = {
    {"affine_phase_0", EMULATE_RACE, "3:9 (out)"},
    {"affine_phase_1", EMULATE_OUT_OF_BOUNDS, "4:5 (out)"},
    {"other_phase_0", EMULATE_RACE, "site 1"},
    {"phase_add", EMULATE_UNINITIALISED, "site 20"}, /* of the workspace */
};

static void expect_mistake(const status *st, size_t i) {
    const char *keyword = emulate_fault_keyword(mistakes[i].fault);
    assert_int_equal(st->code, STATUS_MISMATCH);
    assert_int_equal(strncmp(st->message, keyword, strlen(keyword)), 0);
    assert_non_null(strstr(st->message, mistakes[i].place));
}

static void mistakes_fail_their_launch_alone(void **state) {
    (void)state;
    for (uint32_t index = 0; index < EMULATED_DEVICE_COUNT; index++) {
        const bench b = open_bench(index);
        device_memory *in = new_memory(&b, BYTES, DEVICE_MEMORY_DEVICE),
                      *out = new_memory(&b, BYTES, DEVICE_MEMORY_DEVICE);
        device_image *good = load(&b, "", "phase_double", "phase_add");
        launch_of *right = launch_new(good, in, out);
        submit(b.sync, &b, fill_of(span_of(in), 0, BYTES));
        for (size_t i = 0; i < COUNT_OF(mistakes); i++) {
            status st = STATUS_INIT;
            device_image *image = load(&b, "", mistakes[i].symbol, NULL);
            launch_of *wrong = launch_new(image, in, out);
            submit(b.queues[0], &b, wrong->command);
            assert_false(b.driver->await(b.queues[0], &st));
            expect_mistake(&st, i);
            status_clear(&st);
            assert_false(b.driver->submit(b.sync, &wrong->command, 1, &st));
            expect_mistake(&st, i);
            submit(b.sync, &b, right->command);
            submit(b.queues[0], &b, right->command);
            await(&b, b.queues[0]);
            free(wrong);
            b.driver->unload(b.d, image);
        }
        free(right);
        b.driver->unload(b.d, good);
        b.driver->free(b.d, in);
        b.driver->free(b.d, out);
        close_bench(&b);
    }
}

/* A buffer ends where its launch says, not where its memory does. */
static void buffers_end_where_the_launch_says(void **state) {
    (void)state;
    const bench b = open_bench(EMULATED_DEVICE_PTX);
    device_memory *in = new_memory(&b, BYTES, DEVICE_MEMORY_DEVICE),
                  *out = new_memory(&b, BYTES, DEVICE_MEMORY_DEVICE);
    device_image *image = load(&b, "", "phase_double", "phase_add");
    launch_of *l = launch_new(image, in, out);
    int64_t sizes[] = {BYTES, BYTES};
    l->command.dispatch.buffer_bytes = sizes;
    submit(b.sync, &b, fill_of(span_of(in), 0, BYTES));
    submit(b.sync, &b, l->command);
    for (int which = 0; which < 2; which++) {
        status st = STATUS_INIT;
        sizes[which] = BYTES - 4;
        sizes[1 - which] = BYTES;
        assert_false(b.driver->submit(b.sync, &l->command, 1, &st));
        assert_int_equal(strncmp(st.message, "out-of-bounds", 13), 0);
    }
    free(l);
    b.driver->unload(b.d, image);
    b.driver->free(b.d, in);
    b.driver->free(b.d, out);
    close_bench(&b);
}

/* ---- what is refused ---- */

static void images_without_threads_are_refused(void **state) {
    (void)state;
    const bench b = open_bench(EMULATED_DEVICE_PTX);
    const char *symbols[] = {"phase_double", "phase_add", "phase_add"};
    bytes object = read_object("kernel_good"), emulated = read_object("kernel_emulated");
    status st = STATUS_INIT;
    device_image *image;
    device_source source = {
        object.data, object.size, b.d->info.targets[0], "kernel", symbols, 2, 0, NULL, NULL, NULL};
    assert_false(b.driver->load(b.d, &source, &image, &st));
    assert_int_equal(st.code, STATUS_CORRUPT);
    source.bytes = emulated.data;
    source.size_bytes = emulated.size;
    source.phase_count = 3; /* it says it of two */
    status_clear(&st);
    assert_false(b.driver->load(b.d, &source, &image, &st));
    assert_int_equal(st.code, STATUS_CORRUPT);
    symbols[0] = "nosuch";
    status_clear(&st);
    assert_false(b.driver->load(b.d, &source, &image, &st));
    assert_int_equal(st.code, STATUS_NOT_FOUND);
    free(object.data);
    free(emulated.data);
    close_bench(&b);
}

static void orders_come_from_the_environment(void **state) {
    (void)state;
    const device_options options = {.threads = 1};
    const device_driver *driver = device_driver_find("emulated");
    status st = STATUS_INIT;
    device *d;
    setenv(EMULATE_ORDER, "sideways", 1);
    assert_false(device_open(driver, 0, &options, &d, &st));
    assert_int_equal(st.code, STATUS_INVALID);
    setenv(EMULATE_ORDER, "shuffled:7", 1);
    assert_true(device_open(driver, 0, &options, &d, NULL));
    driver->close(d);
    unsetenv(EMULATE_ORDER);
}

static void workgroups_have_so_much_shared_memory(void **state) {
    (void)state;
    for (uint32_t index = 0; index < EMULATED_DEVICE_COUNT; index++) {
        const bench b = open_bench(index);
        device_memory *m = new_memory(&b, BYTES, DEVICE_MEMORY_DEVICE),
                      *out = new_memory(&b, BYTES, DEVICE_MEMORY_DEVICE);
        device_image *image = load(&b, "", "phase_double", "phase_add");
        launch_of *l = launch_new(image, m, out);
        status st = STATUS_INIT;
        size_t most = (size_t)b.d->info.workgroup_memory_bytes;
        submit(b.sync, &b, fill_of(span_of(m), 0, BYTES));
        l->command.dispatch.workgroup_bytes = most;
        submit(b.sync, &b, l->command);
        l->command.dispatch.workgroup_bytes = most + 1;
        assert_false(b.driver->submit(b.sync, &l->command, 1, &st));
        assert_int_equal(st.code, STATUS_OUT_OF_MEMORY);
        free(l);
        b.driver->unload(b.d, image);
        b.driver->free(b.d, m);
        b.driver->free(b.d, out);
        close_bench(&b);
    }
}

int main(void) {
    setenv(EMULATED_DEVICES, "1", 1);
    if (host_unavailable()) {
        print_message("skipped: %s\n", host_unavailable());
        return 77;
    }
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(devices_name_what_they_load),
        cmocka_unit_test(mistakes_fail_their_launch_alone),
        cmocka_unit_test(buffers_end_where_the_launch_says),
        cmocka_unit_test(images_without_threads_are_refused),
        cmocka_unit_test(orders_come_from_the_environment),
        cmocka_unit_test(workgroups_have_so_much_shared_memory),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
