/* test_call.c - code of others for a GPU: what a module may say of how it is called, of the maps of
 * tensors that code takes, and which devices take it. That it runs is in
 * harness/test/cli/test_cli_with_gpu.sh. */
#include "test/test.h"

#include <stdlib.h>
#include <string.h>

#include "metadata.h"
#include "test/abi_fixture.h"
#include "test/module_maker.h"

static const char document[] =
    "{\"schema\": \"tsr.module/2\", \"name\": \"scale\","
    " \"inputs\": [{\"name\": \"x\", \"dtype\": \"f32\", \"shape\": [4]}],"
    " \"outputs\": [{\"name\": \"out\", \"dtype\": \"f32\", \"shape\": [4]}],"
    " \"workspace_bytes\": 0, \"scratch_bytes\": 0, \"phases\": [{\"symbol\": \"scale\","
    " \"grid\": 1, \"call\": {\"grid\": [2, 3, 1], \"block\": [32, 4, 1], \"arguments\":"
    " [{\"buffer\": 0}, {\"buffer\": 1}, {\"type\": \"i32\", \"value\": -4},"
    " {\"type\": \"i64\", \"value\": 4294967297}, {\"type\": \"f32\", \"value\": 2.5},"
    " {\"type\": \"f64\", \"value\": 2}]},"
    " \"maps\": [{\"buffer\": 1, \"element_bytes\": 2, \"dims\": [64, 4096], \"strides\": [2, 128],"
    " \"box\": [64, 255], \"swizzle\": 128}]}]}";

static void calls_are_read(void **state) {
    (void)state;
    metadata m;
    status st = STATUS_INIT;
    const float half = 2.5F;
    const double two = 2;
    if (!metadata_parse(&m, document, strlen(document), &st))
        fail_msg("%s", st.message);
    const device_call *call = m.images[0].calls[0];
    assert_int_equal(call->grid[1], 3);
    assert_int_equal(call->block[0], 32);
    assert_int_equal(call->argument_count, 6);
    assert_int_equal(call->arguments[1].buffer, 1);
    assert_int_equal(call->arguments[2].buffer, -1);
    assert_int_equal((int32_t)call->arguments[2].bits, -4);
    assert_int_equal(call->arguments[3].bits, 4294967297);
    assert_memory_equal(&call->arguments[4].bits, &half, sizeof half);
    assert_memory_equal(&call->arguments[5].bits, &two, sizeof two);
    const device_maps *maps = m.images[0].maps[0];
    assert_int_equal(maps->count, 1);
    assert_int_equal(maps->list[0].buffer, 1);
    assert_int_equal(maps->list[0].rank, 2);
    assert_int_equal(maps->list[0].dims[1], 4096);
    assert_int_equal(maps->list[0].strides[1], 128);
    assert_int_equal(maps->list[0].box[1], 255);
    assert_int_equal(maps->list[0].swizzle, 128);
    metadata_release(&m);
}

/* Text of the document, its replacement, and words of the message. */
static const struct {
    const char *old, *replacement, *words;
} wrong[] = {
    {"[64, 255]", "[64]", "\"box\" does not have a number in its range for each dimension"},
    {"[64, 255]", "[64, 257]", "\"box\" does not have a number in its range"},
    {"[64, 4096]", "[64, 0]", "\"dims\" does not have a number in its range"},
    {"[64, 4096]", "[1, 2, 3, 4, 5, 6]", "\"dims\" is not an array, or too long a one"},
    {"[2, 128]", "[2, -128]", "\"strides\" does not have a number in its range"},
    {"\"swizzle\": 128", "\"swizzle\": 129", "\"swizzle\" is not an integer in its range"},
    {"\"buffer\": 1, \"element", "\"buffer\": 2, \"element", "\"buffer\" is not an integer"},
    {"\"maps\": [{", "\"maps\": [3, {", "\"buffer\" is not an integer in its range"},
    {"\"element_bytes\": 2", "\"element_bytes\": 9", "\"element_bytes\" is not an integer"},
    {"[2, 3, 1]", "[2, 3]", "\"grid\" does not have three numbers"},
    {"[2, 3, 1]", "[2, 3, -1]", "\"grid\" has an extent that is none"},
    {"[2, 3, 1]", "[2, 3, 4294967296]", "\"grid\" has an extent that is none"},
    {"[2, 3, 1]", "[2, 3, \"N\"]", "\"grid\" has an extent that is none"},
    {"[32, 4, 1]", "7", "\"block\""},
    {"\"arguments\": [", "\"others\": [", "\"arguments\" is not an array"},
    {"{\"buffer\": 1}", "{\"buffer\": 2}", "neither a buffer of the kernel nor a number"},
    {"{\"buffer\": 1}", "{\"buffer\": -1}", "neither a buffer of the kernel nor a number"},
    {"{\"buffer\": 1}", "3", "neither a buffer of the kernel nor a number"},
    {"\"i32\"", "\"i16\"", "neither a buffer of the kernel nor a number"},
    {"-4", "4294967296", "neither a buffer of the kernel nor a number"},
    {"-4", "-2147483649", "neither a buffer of the kernel nor a number"},
    {"-4", "0.5", "neither a buffer of the kernel nor a number"},
    {"\"value\": 2.5", "\"value\": \"2.5\"", "neither a buffer of the kernel nor a number"},
    {"}]}]}", "}]}, {\"symbol\": \"b\", \"grid\": 1}]}", "\"call\" is not of all phases"},
    {"\"name\": \"scale\"", "\"name\": \"s\", \"dims\": [\"N\"]", "without dimensions"},
};

static char *replaced(const char *old, const char *replacement) {
    const char *at = strstr(document, old);
    char *json = malloc(sizeof document + strlen(replacement));
    assert_non_null(at);
    sprintf(json, "%.*s%s%s", (int)(at - document), document, replacement, at + strlen(old));
    return json;
}

static void wrong_calls_are_refused(void **state) {
    (void)state;
    for (size_t i = 0; i < COUNT_OF(wrong); i++) {
        metadata m;
        status st = STATUS_INIT;
        char *json = replaced(wrong[i].old, wrong[i].replacement);
        if (metadata_parse(&m, json, strlen(json), &st) || st.code != STATUS_CORRUPT ||
            !strstr(st.message, wrong[i].words))
            fail_msg("%s: %d: %s", wrong[i].replacement, (int)st.code, st.message);
        free(json);
    }
}

/* A processor takes no such code, and its own code is called in one way alone. */
static void calls_are_for_code_of_others(void **state) {
    (void)state;
    tsr_context_t context;
    tsr_module_t module;
    bytes code = read_object("kernel_good");
    static const struct {
        const char *kind;
        tsr_status_t result;
    } kinds[] = {{"foreign/ptx", TSR_EUNAVAILABLE},
                 {"x86_64-elf/x86-64-v2+fma", TSR_ECORRUPT},
                 {"aarch64-elf/aarch64-neon", TSR_ECORRUPT}};
    OK(tsrCreateContextOn(0, 1, 0, &context));
    for (size_t i = 0; i < COUNT_OF(kinds); i++) {
        bytes image = make_module((char *)(uintptr_t)document, kinds[i].kind, code);
        tsr_status_t result = tsrLoadModule(context, image.data, image.size, &module);
        if (result != kinds[i].result && result != TSR_EUNAVAILABLE) /* another architecture */
            fail_msg("%s: %d: %s", kinds[i].kind, (int)result, tsrGetLastError());
        assert_int_not_equal(result, TSR_SUCCESS);
        free(image.data);
    }
    free(code.data);
    OK(tsrDestroyContext(context));
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(calls_are_read),
        cmocka_unit_test(wrong_calls_are_refused),
        cmocka_unit_test(calls_are_for_code_of_others),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
