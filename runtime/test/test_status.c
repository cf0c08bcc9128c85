/* test_status.c - every status code of the C ABI is reached by a call, has a name, and comes with
 * words. */
#include "test/test.h"

#include <stdlib.h>

#include "device/simulated/simulated.h"
#include "test/abi_fixture.h"

static tsr_status_t success(fixture *f) {
    return launch(f, NULL);
}

static tsr_status_t out_of_memory(fixture *f) {
    void *p;
    return tsrAlloc(f->context, SIZE_MAX / 4, 0, &p);
}

static tsr_status_t invalid(fixture *f) {
    return tsrFree(f->context, f->a + 1);
}

static tsr_status_t not_found(fixture *f) {
    tsr_kernel_t kernel;
    return tsrGetKernel(f->module, "softmax", &kernel);
}

static tsr_status_t load_with(fixture *f, size_t at, int value) {
    tsr_module_t module;
    bytes image = good_module();
    image.data[at] = (char)value;
    tsr_status_t s = tsrLoadModule(f->context, image.data, image.size, &module);
    free(image.data);
    return s;
}

static tsr_status_t corrupt(fixture *f) {
    return load_with(f, 0, '?');
}

static tsr_status_t version(fixture *f) {
    return load_with(f, 8, 99);
}

static tsr_status_t unavailable(fixture *f) {
    tsr_module_t module;
    bytes object = read_object("kernel_good");
    char *json = good_metadata("phase_double", "phase_add");
    bytes image = make_module(json, "z80-elf/z80", object);
    tsr_status_t s = tsrLoadModule(f->context, image.data, image.size, &module);
    free(json);
    free(object.data);
    free(image.data);
    return s;
}

static tsr_status_t internal(fixture *f) {
    (void)f;
    fixture wrong;
    set_up_probe(&wrong, 1, TSR_CONTEXT_DEBUG, "phase_past_end");
    tsr_status_t s = launch(&wrong, NULL);
    tear_down(&wrong);
    return s;
}

static tsr_status_t timeout(fixture *f) {
    static fixture lost; /* its memory stays; see tsrSetWatchdog */
    (void)f;
    set_up_probe(&lost, 1, 0, "phase_spin");
    lost.a[0] = 0;
    OK(tsrSetWatchdog(lost.context, 1000000));
    tsr_status_t s = launch(&lost, NULL);
    OK(tsrDestroyContext(lost.context));
    lost.a[0] = 1;
    return s;
}

static tsr_status_t device_lost(fixture *f) {
    tsr_context_t context;
    void *p;
    (void)f;
    setenv(SIMULATED_COUNT, "1", 1);
    setenv(SIMULATED_FAULTS, "0:lost=1", 1);
    OK(tsrCreateContextOn(1, 0, 0, &context));
    tsr_status_t s = tsrAlloc(context, 8, TSR_ALLOC_ZERO, &p);
    OK(tsrDestroyContext(context));
    return s;
}

static const struct {
    tsr_status_t (*call)(fixture *f);
    const char *name;
} reached[] = {
    [TSR_SUCCESS] = {success, "success"},
    [TSR_EOOM] = {out_of_memory, "out of memory"},
    [TSR_EINVAL] = {invalid, "invalid argument"},
    [TSR_ETIMEOUT] = {timeout, "timeout"},
    [TSR_ENOTFOUND] = {not_found, "not found"},
    [TSR_ECORRUPT] = {corrupt, "corrupt module"},
    [TSR_EVERSION] = {version, "ABI version"},
    [TSR_EUNAVAILABLE] = {unavailable, "unavailable"},
    [TSR_EINTERNAL] = {internal, "internal error"},
    [TSR_EDEVICELOST] = {device_lost, "device lost"},
};

static void every_status_is_reached(void **state) {
    (void)state;
    fixture f;
    set_up(&f, 1, 0);
    for (size_t i = 0; i < COUNT_OF(reached); i++) {
        assert_int_equal(reached[i].call(&f), i);
        assert_string_equal(tsrStatusName((tsr_status_t)i), reached[i].name);
        assert_true(i == TSR_SUCCESS || tsrGetLastError()[0] != '\0');
    }
    assert_string_equal(tsrStatusName((tsr_status_t)COUNT_OF(reached)), "unknown status");
    assert_string_equal(tsrStatusName((tsr_status_t)-1), "unknown status");
    tear_down(&f);
}

int main(void) {
    SKIP_WITHOUT_KERNELS;
    const struct CMUnitTest tests[] = {cmocka_unit_test(every_status_is_reached)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
