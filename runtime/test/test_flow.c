/* test_flow.c - the host flow that programs are written after, on every device: create, load, get,
 * launch with the grid and block of the launch spec. */
#include "test/test.h"

#include <stdlib.h>
#include <string.h>

#include "device/simulated/simulated.h"
#include "test/abi_fixture.h"

enum { ROWS = 20, COLUMNS = 37, DEPTH = 11, TILE = 8 };

static const char linear_json[] =
    "{\"schema\": \"tsr.module/2\", \"name\": \"tile_linear_bf16\","
    " \"dims\": [\"M\", \"N\", \"K\"], \"constraints\": [],"
    " \"inputs\": [{\"name\": \"A\", \"dtype\": \"f32\", \"shape\": [\"M\", \"K\"]},"
    " {\"name\": \"B\", \"dtype\": \"f32\", \"shape\": [\"K\", \"N\"]}],"
    " \"outputs\": [{\"name\": \"C\", \"dtype\": \"f32\", \"shape\": [\"M\", \"N\"]}],"
    " \"images\": [{\"isa\": \"x86-64-v2+fma\", \"section\": \"x86_64-elf/x86-64-v2+fma\","
    " \"workspace_bytes\": 0, \"scratch_bytes\": 64, \"phases\": [{\"symbol\": \"linear_phase_0\","
    " \"grid\": \"floordiv(M + 7, 8)*floordiv(N + 7, 8)\"}],"
    " \"launch\": {\"grid\": [\"floordiv(N + 7, 8)\", \"floordiv(M + 7, 8)\", 1],"
    " \"block\": [8, 8, 1], \"smem_bytes\": 64}}]}";

static bytes linear_module(void) {
    bytes object = read_object("kernel_linear");
    bytes image = make_module(linear_json, "x86_64-elf/x86-64-v2+fma", object);
    free(object.data);
    return image;
}

/* As programs write it. */
static tsr_status_t launch_as_written(tsr_module_t mod, void *A, void *B, void *C, int64_t M,
                                      int64_t N, int64_t K, uint32_t Bx) {
    const uint32_t Gx = (uint32_t)(N + TILE - 1) / TILE, Gy = (uint32_t)(M + TILE - 1) / TILE;
    const uint32_t By = TILE, smem = 64;
    tsr_kernel_t k;
    tsrGetKernel(mod, "tile_linear_bf16", &k);

    void *args[] = {&A, &B, &C, &M, &N, &K};
    tsr_launch_t launch = {.grid_x = Gx,
                           .grid_y = Gy,
                           .grid_z = 1,
                           .block_x = Bx,
                           .block_y = By,
                           .block_z = 1,
                           .smem_bytes = smem};
    tsr_stream_t stream = NULL; /* default */
    return tsrLaunch(k, stream, launch, args, 6);
}

static void expect_product(const float *a, const float *b, const float *c) {
    for (int i = 0; i < ROWS; i++)
        for (int j = 0; j < COLUMNS; j++) {
            float sum = 0;
            for (int k = 0; k < DEPTH; k++)
                sum += a[i * DEPTH + k] * b[k * COLUMNS + j];
            assert_true(c[i * COLUMNS + j] == sum);
        }
}

static void run_flow(uint32_t index) {
    static float a[ROWS * DEPTH], b[DEPTH * COLUMNS], c[ROWS * COLUMNS];
    tsr_context_t ctx;
    tsr_module_t mod = NULL;
    void *A, *B, *C;
    bytes image = linear_module();
    for (int i = 0; i < ROWS * DEPTH; i++)
        a[i] = (float)(i % 7);
    for (int i = 0; i < DEPTH * COLUMNS; i++)
        b[i] = (float)(i % 5 - 2);
    OK(tsrCreateContextOn(index, 2, 0, &ctx));
    OK(tsrLoadModule(ctx, image.data, image.size, &mod));
    free(image.data);
    OK(tsrAlloc(ctx, sizeof a, 0, &A));
    OK(tsrAlloc(ctx, sizeof b, 0, &B));
    OK(tsrAlloc(ctx, sizeof c, 0, &C));
    OK(tsrCopy(ctx, A, a, sizeof a));
    OK(tsrCopy(ctx, B, b, sizeof b));
    OK(launch_as_written(mod, A, B, C, ROWS, COLUMNS, DEPTH, TILE));
    OK(tsrCopy(ctx, c, C, sizeof c));
    expect_product(a, b, c);
    memset(c, 0, sizeof c);
    OK(launch_as_written(mod, A, B, C, ROWS, COLUMNS, DEPTH, 0)); /* the spec's own */
    OK(tsrCopy(ctx, c, C, sizeof c));
    expect_product(a, b, c);
    REFUSED(launch_as_written(mod, A, B, C, ROWS, COLUMNS, DEPTH, 256), TSR_EINVAL,
            "grid 5x3x1, block 8x8x1, 64 bytes of shared memory, not with grid 5x3x1, block "
            "256x8x1, 64 bytes");
    OK(tsrFree(ctx, A));
    OK(tsrFree(ctx, B));
    OK(tsrFree(ctx, C));
    OK(tsrUnloadModule(mod));
    OK(tsrDestroyContext(ctx));
}

static void the_flow_runs_on_every_device(void **state) {
    uint32_t count;
    (void)state;
    OK(tsrGetDeviceCount(&count));
    assert_int_equal(count, 3);
    for (uint32_t index = 0; index < count; index++)
        run_flow(index);
}

static void dimensions_have_names(void **state) {
    static const char *const names[] = {"M", "N", "K"};
    tsr_context_t context;
    tsr_module_t module;
    tsr_kernel_t kernel;
    const char *name;
    bytes image = linear_module();
    (void)state;
    OK(tsrCreateContext(&context));
    OK(tsrLoadModule(context, image.data, image.size, &module));
    free(image.data);
    OK(tsrGetKernel(module, "tile_linear_bf16", &kernel));
    for (uint32_t i = 0; i < 3; i++) {
        OK(tsrGetKernelDimName(kernel, i, &name));
        assert_string_equal(name, names[i]);
    }
    assert_int_equal(tsrGetKernelDimName(kernel, 3, &name), TSR_ENOTFOUND);
    assert_int_equal(tsrGetKernelDimName(kernel, 0, NULL), TSR_EINVAL);
    assert_int_equal(tsrGetKernelDimName(NULL, 0, &name), TSR_EINVAL);
    OK(tsrUnloadModule(module));
    OK(tsrDestroyContext(context));
}

static const struct {
    const char *from, *to;
} unsound_specs[] = {
    {"\"block\": [8, 8, 1]", "\"block\": [8, 8]"},
    {"\"block\": [8, 8, 1]", "\"block\": 8"},
    {"\"block\": [8, 8, 1]", "\"block\": [8, -8, 1]"},
    {"\"block\": [8, 8, 1]", "\"block\": [8, \"Q\", 1]"},
    {", \"smem_bytes\": 64", ""},
    {"\"launch\": {\"grid\"", "\"launch\": {\"grids\""},
};

static void unsound_launch_specs_are_refused(void **state) {
    tsr_context_t context;
    tsr_module_t module;
    bytes object = read_object("kernel_linear");
    (void)state;
    OK(tsrCreateContext(&context));
    for (size_t i = 0; i < COUNT_OF(unsound_specs); i++) {
        char json[2048];
        const char *at = strstr(linear_json, unsound_specs[i].from);
        assert_non_null(at);
        snprintf(json, sizeof json, "%.*s%s%s", (int)(at - linear_json), linear_json,
                 unsound_specs[i].to, at + strlen(unsound_specs[i].from));
        bytes image = make_module(json, "x86_64-elf/x86-64-v2+fma", object);
        assert_int_equal(tsrLoadModule(context, image.data, image.size, &module), TSR_ECORRUPT);
        free(image.data);
    }
    free(object.data);
    OK(tsrDestroyContext(context));
}

int main(void) {
    SKIP_WITHOUT_KERNELS;
    setenv(SIMULATED_COUNT, "2", 1);
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(the_flow_runs_on_every_device),
        cmocka_unit_test(dimensions_have_names),
        cmocka_unit_test(unsound_launch_specs_are_refused),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
