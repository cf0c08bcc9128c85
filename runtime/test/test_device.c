/* test_device.c - the conformance suite: what every driver, listed or not, has to do. */
#include "test/test.h"

#include "device/device.h"
#include "device/null.h"
#include "test/module_maker.h"

typedef void (*driver_check)(const device_driver *driver, device *d);

static void on_every_driver(driver_check check) {
    const device_driver *driver;
    for (size_t i = 0; (driver = device_driver_at(i)); i++) {
        tsr_device_info_t info;
        device *d;
        driver->probe(&info);
        if (info.unavailable) {
            print_message("skipped: %s: %s\n", driver->name, info.unavailable);
            continue;
        }
        assert_true(driver->open(2, &d, NULL));
        assert_ptr_equal(d->driver, driver);
        check(driver, d);
        driver->close(d);
    }
}

static void check_probe(const device_driver *driver, device *d) {
    (void)d;
    tsr_device_info_t info = {0};
    driver->probe(&info);
    assert_string_equal(info.backend, driver->name);
    assert_non_null(info.name);
    assert_non_null(info.isa);
    assert_true(info.compute_units > 0);
}

static void check_memory(const device_driver *driver, device *d) {
    static const size_t sizes[] = {0, 1, 63, 64, 65, 4096, 100000, 5 << 20};
    for (size_t i = 0; i < COUNT_OF(sizes); i++) {
        for (int guarded = 0; guarded <= 1; guarded++) {
            device_memory a, b;
            assert_true(driver->alloc(d, sizes[i], guarded, &a, NULL));
            assert_true(driver->alloc(d, sizes[i], guarded, &b, NULL));
            assert_int_equal((uintptr_t)a.data % (sizes[i] >= 4 << 20 && !guarded ? 2 << 20 : 64),
                             0);
            memset(a.data, 0x5a, sizes[i]);
            assert_true(driver->copy(d, b.data, a.data, sizes[i], NULL));
            assert_memory_equal(a.data, b.data, sizes[i]);
            assert_true(driver->intact(d, &a, NULL));
            driver->release(d, &a);
            driver->release(d, &b);
        }
    }
    device_memory memory;
    status st = STATUS_INIT;
    assert_false(driver->alloc(d, SIZE_MAX - 10, false, &memory, &st));
    assert_int_equal(st.code, STATUS_OUT_OF_MEMORY);
}

static void check_canaries(const device_driver *driver, device *d) {
    device_memory m;
    assert_true(driver->alloc(d, 100, true, &m, NULL));
    static const int places[] = {-1, -64, -65, -1000, 100, 127};
    for (size_t i = 0; i < COUNT_OF(places); i++) {
        status st = STATUS_INIT;
        m.data[places[i]] = 0;
        assert_false(driver->intact(d, &m, &st));
        assert_non_null(strstr(st.message, places[i] < 0 ? "before" : "after"));
        assert_true(driver->intact(d, &m, NULL)); /* told once, then mended */
    }
    driver->release(d, &m);
}

static void check_runs(const device_driver *driver, device *d) {
    bytes module = good_module();
    char *json = good_metadata("phase_double", "phase_add");
    metadata m;
    status st = STATUS_INIT;
    assert_true(metadata_parse(&m, json, strlen(json), &st));
    device_load load = {module.data, module.size, &m, NULL};
    device_code code;
    if (!driver->load(d, &load, &code, &st))
        fail_msg("%s", st.message);
    free(module.data);
    _Alignas(64) float a[KERNEL_CELLS], out[KERNEL_CELLS], workspace[KERNEL_CELLS];
    for (int i = 0; i < KERNEL_CELLS; i++)
        a[i] = (float)i;
    void *buffers[] = {a, out};
    tsr_kernel_frame frame = {buffers, NULL, (unsigned char *)workspace, NULL};
    for (size_t phase = 0; phase < 2; phase++) {
        device_phase p = {code.image, phase, KERNEL_CELLS, 64, false, &frame};
        assert_true(driver->run(d, &p, &st));
    }
    if (driver->listed)
        for (int i = 0; i < KERNEL_CELLS; i++)
            assert_true(out[i] == (float)(2 * i + i % 4 + 1));
    driver->unload(d, code.image);
    metadata_release(&m);
    free(json);
}

static void drivers_tell_about_themselves(void **state) {
    (void)state;
    on_every_driver(check_probe);
}

static void drivers_give_memory(void **state) {
    (void)state;
    on_every_driver(check_memory);
}

static void drivers_see_broken_canaries(void **state) {
    (void)state;
    on_every_driver(check_canaries);
}

static void drivers_run_phases(void **state) {
    (void)state;
    on_every_driver(check_runs);
}

static void the_null_driver_keeps_a_record(void **state) {
    (void)state;
    const device_driver *driver = device_driver_at(device_listed_count());
    device *d;
    null_launch seen[100];
    assert_string_equal(driver->name, "null");
    assert_true(driver->open(1, &d, NULL));
    void *buffers[] = {&d};
    tsr_kernel_frame frame = {buffers, NULL, NULL, NULL};
    for (int64_t i = 0; i < 70; i++) {
        device_phase p = {NULL, 0, i, 0, false, &frame};
        assert_true(driver->run(d, &p, NULL));
    }
    assert_int_equal(null_launches(d, seen, COUNT_OF(seen)), 64);
    assert_int_equal(seen[0].cells, 6);
    assert_int_equal(seen[63].cells, 69);
    assert_ptr_equal(seen[63].first_buffer, &d);
    driver->close(d);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(drivers_tell_about_themselves),  cmocka_unit_test(drivers_give_memory),
        cmocka_unit_test(drivers_see_broken_canaries),    cmocka_unit_test(drivers_run_phases),
        cmocka_unit_test(the_null_driver_keeps_a_record),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
