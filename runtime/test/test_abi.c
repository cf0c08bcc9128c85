/* test_abi.c - the C ABI as a program meets it: load, launch, streams, events, and every refusal.
 */
#include "test/test.h"

#include "runtime.h"
#include "test/abi_fixture.h"

static const tsr_launch_t default_grid = {0};

static void a_kernel_computes(void **state) {
    (void)state;
    for (uint32_t threads = 0; threads <= 4; threads++) {
        for (uint32_t flags = 0; flags <= TSR_CONTEXT_DEBUG; flags++) {
            fixture f;
            set_up(&f, threads, flags);
            for (int i = 0; i < 20; i++) {
                memset(f.out, 0, KERNEL_CELLS * sizeof(float));
                OK(tsrLaunch(f.kernel, NULL, default_grid, f.args, 2));
                expect_result(&f);
            }
            tear_down(&f);
        }
    }
}

static void kernels_tell_what_they_take(void **state) {
    (void)state;
    fixture f;
    tsr_kernel_info_t info = {.struct_size = sizeof info};
    const char *name, *type, *json;
    uint32_t rank;
    const int64_t *dims;
    set_up(&f, 1, 0);
    OK(tsrGetKernelInfo(f.kernel, &info));
    assert_string_equal(info.name, "affine");
    assert_int_equal(info.inputs, 1);
    assert_int_equal(info.outputs, 1);
    assert_int_equal(info.phases, 2);
    assert_int_equal(info.workspace_bytes, 400);
    OK(tsrGetKernelParameter(f.kernel, 0, &name, &type, &rank, &dims));
    assert_string_equal(name, "a");
    assert_string_equal(type, "f32");
    assert_int_equal(rank, 2);
    assert_int_equal(dims[1], 25);
    REFUSED(tsrGetKernelParameter(f.kernel, 2, NULL, NULL, NULL, NULL), TSR_ENOTFOUND,
            "no buffer 2");
    OK(tsrGetModuleMetadata(f.module, &json));
    assert_non_null(strstr(json, "\"profile\": \"strict\""));
    REFUSED(tsrGetKernel(f.module, "affin", &f.kernel), TSR_ENOTFOUND, "it has 'affine'");
    tear_down(&f);
}

static void wrong_launches_are_refused(void **state) {
    (void)state;
    fixture f;
    set_up(&f, 1, 0);
    void *null = NULL, *shifted = (char *)f.a + 1, *out_shifted = f.out + 1, *too_far = f.a + 16;
    void *bad_null[] = {&null, &f.out}, *bad_shift[] = {&shifted, &f.out},
         *bad_out[] = {&f.a, &out_shifted}, *bad_end[] = {&too_far, &f.out};
    void *bad_same[] = {&f.a, &f.a}, *bad_arg[] = {&f.a, NULL};
    REFUSED(tsrLaunch(NULL, NULL, default_grid, f.args, 2), TSR_EINVAL, "kernel is NULL");
    REFUSED(tsrLaunch(f.kernel, NULL, default_grid, f.args, 3), TSR_EINVAL, "takes 2 arguments");
    REFUSED(tsrLaunch(f.kernel, NULL, default_grid, NULL, 2), TSR_EINVAL, "args is NULL");
    REFUSED(tsrLaunch(f.kernel, NULL, default_grid, bad_arg, 2), TSR_EINVAL, "args[1] is NULL");
    REFUSED(tsrLaunch(f.kernel, NULL, default_grid, bad_null, 2), TSR_EINVAL, "('a') is NULL");
    REFUSED(tsrLaunch(f.kernel, NULL, default_grid, bad_shift, 2), TSR_EINVAL, "not aligned to 4");
    REFUSED(tsrLaunch(f.kernel, NULL, default_grid, bad_out, 2), TSR_EINVAL, "not aligned to 64");
    REFUSED(tsrLaunch(f.kernel, NULL, default_grid, bad_end, 2), TSR_EINVAL,
            "needs 400 bytes; its allocation has 336");
    REFUSED(tsrLaunch(f.kernel, NULL, default_grid, bad_same, 2), TSR_EINVAL, "'out' overlaps 'a'");
    REFUSED(tsrLaunch(f.kernel, NULL, (tsr_launch_t){.grid_x = 7}, f.args, 2), TSR_EINVAL,
            "grid 100x1x1, block 1x1x1, 0 bytes of shared memory, not with grid 7x0x0");
    REFUSED(tsrLaunch(f.kernel, NULL, (tsr_launch_t){.smem_bytes = 1}, f.args, 2), TSR_EINVAL,
            "block 0x0x0, 1 bytes");
    OK(tsrLaunch(f.kernel, NULL, (tsr_launch_t){100, 1, 1, 1, 1, 1, 0}, f.args, 2));
    expect_result(&f);
    tear_down(&f);
}

static void wrong_calls_are_refused(void **state) {
    (void)state;
    fixture f;
    tsr_context_t none;
    tsr_device_info_t info = {.struct_size = sizeof info};
    uint32_t count;
    OK(tsrGetDeviceCount(&count));
    assert_int_equal(count, 1);
    OK(tsrGetDeviceInfo(0, &info));
    assert_string_equal(info.backend, "cpu");
    REFUSED(tsrGetDeviceInfo(1, &info), TSR_ENOTFOUND, "device 1");
    REFUSED(tsrCreateContextOn(9, 1, 0, &none), TSR_ENOTFOUND, "device 9");
    REFUSED(tsrCreateContextOn(0, 1, 8, &none), TSR_EINVAL, "flags 0x8");
    REFUSED(tsrCreateContextOn(0, 100000, 0, &none), TSR_EINVAL, "threads");
    set_up(&f, 1, 0);
    REFUSED(tsrDestroyContext(f.context), TSR_EINVAL,
            "1 modules, 0 streams, 0 events, 0 graphs, 0 prepared kernels, 0 semaphores, 0 "
            "states, 0 imports and 2 allocations");
    REFUSED(tsrFree(f.context, f.a + 16), TSR_EINVAL, "not an allocation");
    REFUSED(tsrCopy(f.context, f.out, f.a, 401), TSR_EINVAL, "past the end of its destination");
    REFUSED(tsrAlloc(f.context, 8, 6, (void **)&none), TSR_EINVAL, "flags 0x6");
    REFUSED(tsrAlloc(f.context, 8, 8, (void **)&none), TSR_EINVAL, "flags 0x8");
    info.struct_size = 8;
    REFUSED(tsrGetDeviceInfo(0, &info), TSR_EINVAL, "struct_size is 8");
    REFUSED(tsrGetDeviceInfo(0, NULL), TSR_EINVAL, "info is NULL");
    REFUSED(tsrAlloc(f.context, SIZE_MAX, 0, (void **)&none), TSR_EOOM, "no memory");
    OK(tsrCopy(f.context, f.out, f.a, 400));
    assert_memory_equal(f.out, f.a, 400);
    tear_down(&f);
    assert_string_equal(tsrStatusName(TSR_EVERSION), "ABI version");
}

static void damaged_modules_are_refused(void **state) {
    (void)state;
    tsr_context_t c;
    tsr_module_t m;
    bytes image = good_module();
    OK(tsrCreateContextOn(0, 1, 0, &c));
    REFUSED(tsrLoadModule(c, image.data, 7, &m), TSR_ECORRUPT, "too few");
    REFUSED(tsrLoadModule(c, image.data, image.size - 1, &m), TSR_ECORRUPT, "truncated");
    for (size_t at = 0; at < image.size; at++) {
        if (at >= 8 && at < 12)
            continue; /* the version: told apart below */
        image.data[at] ^= 0x10;
        if (tsrLoadModule(c, image.data, image.size, &m) != TSR_ECORRUPT)
            fail_msg("byte %zu", at);
        image.data[at] ^= 0x10;
    }
    free(image.data);
    OK(tsrDestroyContext(c));
}

static void set_version(bytes image, unsigned major, unsigned minor) {
    uint16_t version[2] = {(uint16_t)major, (uint16_t)minor};
    memcpy(image.data + 8, version, sizeof version);
}

static void modules_of_another_version_are_refused(void **state) {
    (void)state;
    static const unsigned foreign[][2] = {{TSR_ABI_MAJOR, TSR_ABI_MINOR + 1},
                                          {TSR_ABI_MAJOR, 65535},
                                          {TSR_ABI_MAJOR + 1, 0},
                                          {TSR_ABI_MAJOR - 1, 0},
                                          {65535, 65535}};
    tsr_context_t c;
    tsr_module_t m;
    uint32_t major, minor;
    bytes image = good_module();
    OK(tsrCreateContextOn(0, 1, 0, &c));
    tsrGetVersion(&major, &minor);
    assert_int_equal(major, TSR_ABI_MAJOR);
    assert_int_equal(minor, TSR_ABI_MINOR);
    for (size_t i = 0; i < COUNT_OF(foreign); i++) {
        char words[80];
        snprintf(words, sizeof words, "made for ABI %u.%u; this runtime is ABI %u.%u",
                 foreign[i][0], foreign[i][1], major, minor);
        set_version(image, foreign[i][0], foreign[i][1]);
        REFUSED(tsrLoadModule(c, image.data, image.size, &m), TSR_EVERSION, words);
        REFUSED(tsrLoadModule(c, image.data, 16, &m), TSR_EVERSION, words); /* before the layout */
    }
    for (unsigned older = 0; older <= TSR_ABI_MINOR; older++) {
        set_version(image, TSR_ABI_MAJOR, older);
        OK(tsrLoadModule(c, image.data, image.size, &m));
        OK(tsrUnloadModule(m));
    }
    free(image.data);
    OK(tsrDestroyContext(c));
}

typedef struct bad_metadata {
    const char *from, *to; /* replaces the first `from` in sound metadata */
    tsr_status_t status;
    const char *words;
} bad_metadata;

static const bad_metadata bad_documents[] = {
    {"{\"schema\"", "[\"schema\"", TSR_ECORRUPT, "metadata: line 1"},
    {"tsr.module/2", "tsr.module/1", TSR_ECORRUPT, "\"schema\""},
    {"\"name\": \"affine\",", "", TSR_ECORRUPT, "\"name\""},
    {"\"f32\"", "\"f33\"", TSR_ECORRUPT, "unknown type 'f33'"},
    {"[4, 25]", "[4, -25]", TSR_ECORRUPT, "no size"},
    {"[4, 25]", "[4, 9223372036854775807]", TSR_ECORRUPT, "2^63"},
    {"[4, 25]", "[1,1,1,1,1,1,1,1,1]", TSR_ECORRUPT, "\"shape\""},
    {"\"workspace_bytes\": 400", "\"workspace_bytes\": -1", TSR_ECORRUPT, "\"workspace_bytes\""},
    {"\"grid\": 100", "\"grid\": 1.5", TSR_ECORRUPT, "\"grid\""},
    {"phase_add", "phase_sub", TSR_ENOTFOUND, "no function 'phase_sub'"},
};

static void unsound_metadata_is_refused(void **state) {
    (void)state;
    tsr_context_t c;
    tsr_module_t m;
    bytes object = read_object("kernel_good");
    char *sound = good_metadata("phase_double", "phase_add");
    OK(tsrCreateContextOn(0, 1, 0, &c));
    for (size_t i = 0; i < COUNT_OF(bad_documents); i++) {
        const bad_metadata *bad = &bad_documents[i];
        char json[2048], *at = strstr(sound, bad->from);
        assert_non_null(at);
        snprintf(json, sizeof json, "%.*s%s%s", (int)(at - sound), sound, bad->to,
                 at + strlen(bad->from));
        bytes image = make_module(json, "x86_64-elf/x86-64-v2+fma", object);
        REFUSED(tsrLoadModule(c, image.data, image.size, &m), bad->status, bad->words);
        free(image.data);
    }
    bytes foreign = make_module(sound, "arm-elf/armv9", object);
    REFUSED(tsrLoadModule(c, foreign.data, foreign.size, &m), TSR_EUNAVAILABLE,
            "the module has arm-elf/armv9");
    free(foreign.data);
    free(sound);
    free(object.data);
    OK(tsrDestroyContext(c));
}

/* Metadata with one description an image; each asks for another workspace. */
static const char images_json[] =
    "{\"schema\": \"tsr.module/2\", \"name\": \"affine\", \"profile\": \"strict\","
    " \"inputs\": [{\"name\": \"a\", \"dtype\": \"f32\", \"shape\": [100]}],"
    " \"outputs\": [{\"name\": \"out\", \"dtype\": \"f32\", \"shape\": [100]}], \"images\": ["
    "{\"isa\": \"armv9\", \"section\": \"arm-elf/armv9\", \"workspace_bytes\": 8,"
    " \"scratch_bytes\": 0, \"phases\": []},"
    "{\"isa\": \"x86-64-v2+fma\", \"section\": \"x86_64-elf/x86-64-v2+fma\", \"workspace_bytes\": "
    "400,"
    " \"scratch_bytes\": 64, \"phases\": ["
    "{\"symbol\": \"phase_double\", \"grid\": 100, \"what\": \"double\"},"
    "{\"symbol\": \"phase_add\", \"grid\": 100, \"what\": \"add\"}]}]}";

static bytes module_with_images(const char *json, size_t image_count) {
    bytes object = read_object("kernel_good"), image;
    void *data;
    module_part parts[] = {{"metadata", json, strlen(json)},
                           {"x86_64-elf/x86-64-v2+fma", object.data, object.size},
                           {"arm-elf/armv9", "code of another machine", 23}};
    assert_true(module_write(parts, 1 + image_count, &data, &image.size, NULL));
    image.data = data;
    free(object.data);
    return image;
}

static void of_several_images_one_is_taken(void **state) {
    (void)state;
    fixture f;
    tsr_kernel_info_t info = {.struct_size = sizeof info};
    const char *isa;
    uint16_t major, minor;
    bytes image = module_with_images(images_json, 2);
    assert_true(module_version(image.data, image.size, &major, &minor, NULL));
    assert_int_equal(minor, MODULE_ABI_MINOR);
    OK(tsrCreateContextOn(0, 2, TSR_CONTEXT_DEBUG, &f.context));
    load_fixture(&f, image);
    OK(tsrGetModuleIsa(f.module, &isa));
    assert_string_equal(isa, "x86-64-v2+fma");
    OK(tsrGetKernelInfo(f.kernel, &info));
    assert_int_equal(info.phases, 2);
    assert_int_equal(info.workspace_bytes, 400);
    assert_int_equal(info.scratch_bytes, 64);
    OK(launch(&f, NULL));
    expect_result(&f);
    REFUSED(tsrGetModuleIsa(NULL, &isa), TSR_EINVAL, "module is NULL");
    REFUSED(tsrGetModuleIsa(f.module, NULL), TSR_EINVAL, "isa is NULL");
    tear_down(&f);
}

static const bad_metadata bad_images[] = {
    {"\"images\": [", "\"images\": 3, \"x\": [", TSR_ECORRUPT, "\"images\" is not an array"},
    {"\"images\": [", "\"images\": [], \"x\": [", TSR_ECORRUPT, "\"images\" is empty"},
    {"\"isa\": \"armv9\", ", "", TSR_ECORRUPT, "\"isa\""},
    {"\"section\": \"arm-elf/armv9\"", "\"section\": \"arm-elf/armv8\"", TSR_ECORRUPT,
     "\"section\""},
    {"\"section\": \"arm-elf/armv9\"", "\"section\": \"ptx:armv9\"", TSR_ECORRUPT, "\"section\""},
    {"armv9\", \"section\": \"arm-elf/armv9",
     "x86-64-v2+fma\", \"section\": \"x86_64-elf/x86-64-v2+fma", TSR_ECORRUPT,
     "two images in 'x86_64-elf/x86-64-v2+fma'"},
    {"armv9\", \"section\": \"arm-elf/armv9", "armv8\", \"section\": \"arm-elf/armv8", TSR_ECORRUPT,
     "the image 'arm-elf/armv8', which the module lacks"},
    {"\"workspace_bytes\": 400", "\"workspace_bytes\": -1", TSR_ECORRUPT, "image 1"},
    {"phase_add", "phase_sub", TSR_ENOTFOUND, "no function 'phase_sub'"},
};

static void unsound_images_are_refused(void **state) {
    (void)state;
    tsr_context_t c;
    tsr_module_t m;
    OK(tsrCreateContextOn(0, 1, 0, &c));
    for (size_t i = 0; i < COUNT_OF(bad_images); i++) {
        const bad_metadata *bad = &bad_images[i];
        char json[2048];
        const char *at = strstr(images_json, bad->from);
        assert_non_null(at);
        snprintf(json, sizeof json, "%.*s%s%s", (int)(at - images_json), images_json, bad->to,
                 at + strlen(bad->from));
        bytes image = module_with_images(json, 2);
        REFUSED(tsrLoadModule(c, image.data, image.size, &m), bad->status, bad->words);
        free(image.data);
    }
    const char *last = strstr(images_json, ",{\"isa\": \"x86");
    char one[2048];
    snprintf(one, sizeof one, "%.*s]}", (int)(last - images_json), images_json);
    bytes image = module_with_images(one, 2);
    REFUSED(tsrLoadModule(c, image.data, image.size, &m), TSR_ECORRUPT,
            "does not describe the module's image 'x86_64-elf/x86-64-v2+fma'");
    free(image.data);
    OK(tsrDestroyContext(c));
}

static void telemetry_keeps_the_last_launches(void **state) {
    (void)state;
    fixture f;
    telemetry_record records[TELEMETRY_KEPT];
    set_up(&f, 1, 0);
    OK(tsrLaunch(f.kernel, NULL, default_grid, f.args, 2));
    assert_int_equal(telemetry_read(f.context, records, TELEMETRY_KEPT), 0);
    telemetry_enable(f.context, true);
    for (int i = 0; i < TELEMETRY_KEPT + 10; i++)
        OK(tsrLaunch(f.kernel, NULL, default_grid, f.args, 2));
    telemetry_enable(f.context, false);
    OK(tsrLaunch(f.kernel, NULL, default_grid, f.args, 2));
    assert_int_equal(telemetry_read(f.context, records, TELEMETRY_KEPT), TELEMETRY_KEPT);
    assert_int_equal(records[0].serial, 10);
    assert_string_equal(records[5].kernel, "affine");
    assert_int_equal(records[5].phases, 2);
    assert_true(records[5].total_ns >= records[5].phase_ns[0] + records[5].phase_ns[1]);
    assert_true(records[6].start_ns >= records[5].start_ns + records[5].total_ns);
    assert_int_equal(telemetry_read(f.context, records, 1), 1);
    assert_int_equal(records[0].serial, TELEMETRY_KEPT + 9);
    tear_down(&f);
}

int main(void) {
    SKIP_WITHOUT_KERNELS;
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_kernel_computes),
        cmocka_unit_test(kernels_tell_what_they_take),
        cmocka_unit_test(wrong_launches_are_refused),
        cmocka_unit_test(wrong_calls_are_refused),
        cmocka_unit_test(damaged_modules_are_refused),
        cmocka_unit_test(modules_of_another_version_are_refused),
        cmocka_unit_test(unsound_metadata_is_refused),
        cmocka_unit_test(of_several_images_one_is_taken),
        cmocka_unit_test(unsound_images_are_refused),
        cmocka_unit_test(telemetry_keeps_the_last_launches),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
