/* test_far.c - elements more than 2^31 elements and bytes from the first one: 4 GiB of memory, of
 * which a few pages are touched. */
#include "runtime/test/test.h"

#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>

#include "tessera/compile.h"

enum { ROWS = 4096, COLUMNS = 1 << 20, TAKEN = 3 };

static const char source[] =
    "from tessera import *\n"
    "@kernel\n"
    "def taken(x: Tensor[4096, 1048576, i8], places: Tensor[3, i32]) -> Tensor[3, 1048576, i8]:\n"
    "    return take(x, places, axis=0)\n"
    "@kernel\n"
    "def corner(x: Tensor[4096, 1048576, i8]) -> Tensor[2, 100, i8]:\n"
    "    return x[4094:4096, 1048476:1048576] + 1\n"
    "@kernel\n"
    "def elements(x: Tensor[4096, 1048576, i8], places: Tensor[48, i32]) -> Tensor[2, 48, i8]:\n"
    "    return transpose(take(x, places, axis=0), (1, 0))[1048574:1048576] + 1\n";

static const int32_t places[TAKEN] = {4095, 0, 2049};

/* One number for each byte, of which neighbours differ. */
static int8_t number_at(int64_t row, int64_t column) {
    return (int8_t)(row * 7 + column * 3 % 101 - 50);
}

static void fill_row(int8_t *x, int64_t row, int64_t from) {
    for (int64_t i = from; i < COLUMNS; i++)
        x[row * COLUMNS + i] = number_at(row, i);
}

static int set_up(void **state) {
    void *x = mmap(NULL, (size_t)ROWS * COLUMNS, PROT_READ | PROT_WRITE,
                   MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
    if (x == MAP_FAILED)
        return -1;
    for (int i = 0; i < TAKEN; i++)
        fill_row(x, places[i], 0);
    fill_row(x, 4094, COLUMNS - 100);
    *state = x;
    return 0;
}

static int tear_down(void **state) {
    return munmap(*state, (size_t)ROWS * COLUMNS);
}

static void launch(const char *name, void **buffers, size_t count) {
    const tsr_compile_options_t options = {.struct_size = sizeof options, .kernel = name};
    tsr_compilation_t compiled;
    tsr_context_t context;
    tsr_module_t module;
    tsr_kernel_t kernel;
    void *args[3];
    size_t size;
    for (size_t i = 0; i < count; i++)
        args[i] = &buffers[i];
    assert_int_equal(tsrCompile(source, strlen(source), "far.tsr", &options, &compiled), 0);
    const void *image = tsrGetCompiledModule(compiled, &size);
    assert_int_equal(tsrCreateContext(&context), 0);
    assert_int_equal(tsrLoadModule(context, image, size, &module), 0);
    assert_int_equal(tsrGetKernel(module, name, &kernel), 0);
    assert_int_equal(tsrLaunch(kernel, NULL, (tsr_launch_t){0}, args, count), 0);
    assert_int_equal(tsrStreamSynchronize(context, NULL), 0);
    assert_int_equal(tsrUnloadModule(module), 0);
    assert_int_equal(tsrDestroyContext(context), 0);
    tsrDestroyCompilation(compiled);
}

static void test_rows(void **state) {
    const size_t bytes = (size_t)TAKEN * COLUMNS;
    int8_t *out = aligned_alloc(64, bytes);
    launch("taken", (void *[]){*state, (void *)places, out}, 3);
    for (int i = 0; i < TAKEN; i++)
        for (int64_t k = 0; k < COLUMNS; k++)
            if (out[(int64_t)i * COLUMNS + k] != number_at(places[i], k))
                fail_msg("row %d, element %lld: %d", (int)places[i], (long long)k,
                         out[(int64_t)i * COLUMNS + k]);
    free(out);
}

/* The end of the memory, by a number that the compiler knows. */
static void test_corner(void **state) {
    int8_t *out = aligned_alloc(64, 256);
    launch("corner", (void *[]){*state, out}, 2);
    for (int64_t i = 0; i < 200; i++)
        assert_int_equal(out[i], (int8_t)(number_at(4094 + i / 100, COLUMNS - 100 + i % 100) + 1));
    free(out);
}

/* Each by an index that is data, of which there are enough for vectors. */
static void test_elements(void **state) {
    enum { MANY = 16 * TAKEN };
    int32_t many[MANY];
    int8_t *out = aligned_alloc(64, 128);
    for (int i = 0; i < MANY; i++)
        many[i] = places[i % TAKEN];
    launch("elements", (void *[]){*state, many, out}, 3);
    for (int i = 0; i < 2 * MANY; i++)
        assert_int_equal(out[i], (int8_t)(number_at(many[i % MANY], COLUMNS - 2 + i / MANY) + 1));
    free(out);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_rows),
        cmocka_unit_test(test_corner),
        cmocka_unit_test(test_elements),
    };
    return cmocka_run_group_tests_name("far", tests, set_up, tear_down);
}
