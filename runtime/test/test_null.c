/* test_null.c - the driver that computes nothing, and remembers what it was asked for. */
#include "test/test.h"

#include "device/device.h"
#include "device/simulated/null.h"

static void the_null_driver_keeps_a_record(void **state) {
    (void)state;
    const device_driver *driver = device_driver_find("null");
    const device_options options = {.threads = 1};
    device *d;
    device_queue *queue;
    device_image image = {1};
    null_launch seen[100];
    assert_false(driver->listed);
    assert_true(device_open(driver, 0, &options, &d, NULL));
    assert_true(driver->queue_create(d, true, &queue, NULL));
    void *buffers[] = {&d};
    const device_memory *memories[] = {NULL};
    for (int64_t i = 0; i < 70; i++) {
        device_command c = {.kind = DEVICE_DISPATCH};
        c.dispatch = (device_dispatch){.image = &image,
                                       .buffers = buffers,
                                       .memories = memories,
                                       .workgroups = &i,
                                       .buffer_count = 1};
        assert_true(driver->submit(queue, &c, 1, NULL));
    }
    assert_int_equal(null_launches(d, seen, COUNT_OF(seen)), 64);
    assert_int_equal(seen[0].workgroups, 6);
    assert_int_equal(seen[63].workgroups, 69);
    assert_ptr_equal(seen[63].first_buffer, &d);
    driver->queue_destroy(d, queue);
    driver->close(d);
}

int main(void) {
    const struct CMUnitTest tests[] = {cmocka_unit_test(the_null_driver_keeps_a_record)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
