/* test_pjrt.c - the plugin as a framework meets it: a library that is opened, a table of functions,
 * a device and its buffers. */
#include "client.h"

#include "pjrt/pack.h"

#include <stdlib.h>

/* ---- the table and the device ---- */

static void test_every_slot_answers(void **state) {
    (void)state;
    assert_int_equal(api->pjrt_api_version.major_version, 0);
    assert_int_equal(api->pjrt_api_version.minor_version, 81);
    const PJRT_Function *slots = &api->Error_Destroy;
    const size_t count = (sizeof *api - offsetof(PJRT_Api, Error_Destroy)) / sizeof *slots;
    assert_int_equal(count, 118);
    for (size_t i = 0; i < count; i++) {
        size_t too_short = sizeof(size_t); /* a struct that ends behind its size */
        assert_non_null(slots[i]);
        PJRT_Error *e = slots[i](&too_short);
        assert_non_null(e);
        end_error(e);
    }
    fails(CALL(Client_Devices, .client = NULL), PJRT_Error_Code_INVALID_ARGUMENT, "NULL");
    fails(api->Compile(NULL), PJRT_Error_Code_UNIMPLEMENTED, "PJRT_Compile");
}

static void test_a_framework_is_told_the_version_of_programs(void **state) {
    (void)state;
    ASK(a, Plugin_Attributes, .attributes = NULL);
    assert_string_equal(a.attributes[0].name, "stablehlo_current_version");
    assert_int_equal(a.attributes[0].value_size, 3);
    assert_int_equal(a.attributes[0].int64_array_value[1], 13);
}

static void test_blocks_of_packs_are_an_extension(void **state) {
    (void)state;
    const pack_extension *packs = api->extension_start;
    assert_non_null(packs);
    assert_int_equal(packs->type, PACK_EXTENSION);
    assert_null(packs->next);
    assert_true(packs->begin("somewhere", NULL));
    assert_false(packs->begin("elsewhere", NULL)); /* one at a time */
    assert_string_equal(packs->end(), "");
    assert_true(packs->begin("elsewhere", "jit_step"));
    assert_string_equal(packs->end(), "");
}

static void test_there_is_one_device_with_one_memory(void **state) {
    (void)state;
    ASK(name, Client_PlatformName, .client = client);
    assert_string_equal(name.platform_name, "tessera");
    ASK(all, Client_Devices, .client = client);
    assert_int_equal(all.num_devices, 1);
    ASK(found, Client_LookupDevice, .client = client, .id = 0);
    assert_ptr_equal(found.device, all.devices[0]);
    fails(CALL(Client_LookupDevice, .client = client, .id = 1), PJRT_Error_Code_INVALID_ARGUMENT,
          "no device 1");
    ASK(memory, Device_DefaultMemory, .device = found.device);
    ASK(kind, Memory_Kind, .memory = memory.memory);
    assert_string_equal(kind.kind, "device");
}

/* Opens a client that is not made. */
static void refuses_settings(const PJRT_NamedValue *option, const char *words) {
    fails(CALL(Client_Create, .create_options = option, .num_options = option ? 1 : 0),
          PJRT_Error_Code_INVALID_ARGUMENT, words);
}

static void test_wrong_settings_are_errors(void **state) {
    (void)state;
    setenv("TESSERA_PROFILE", "loose", 1);
    refuses_settings(NULL, "loose");
    unsetenv("TESSERA_PROFILE");
    setenv("TESSERA_THREADS", "2x", 1);
    refuses_settings(NULL, "TESSERA_THREADS");
    unsetenv("TESSERA_THREADS");
    const PJRT_NamedValue unknown = {.struct_size = sizeof unknown,
                                     .name = "speed",
                                     .name_size = 5,
                                     .type = PJRT_NamedValue_kInt64,
                                     .value_size = 1};
    refuses_settings(&unknown, "'speed'");
    setenv("TESSERA_PACK", "sometimes", 1);
    refuses_settings(NULL, "'sometimes'");
    setenv("TESSERA_PACK", "mismatch", 1);
    setenv("TESSERA_PROFILE", "fast", 1);
    refuses_settings(NULL, "TESSERA_PROFILE=fast");
    unsetenv("TESSERA_PACK");
    unsetenv("TESSERA_PROFILE");
    setenv("TESSERA_BACKEND", "abacus", 1);
    fails(CALL(Client_Create, .client = NULL), PJRT_Error_Code_NOT_FOUND, "'abacus'");
    unsetenv("TESSERA_BACKEND");
}

/* ---- buffers ---- */

static void test_arrays_come_back_in_any_order(void **state) {
    (void)state;
    const int16_t data[] = {1, 2, 3, 4, 5, 6};
    const int64_t dims[] = {3, 2}, columns[] = {2, 6}, backwards[] = {-4, -2};
    int16_t read[6];
    PJRT_Client_BufferFromHostBuffer_Args a = host_array(data, PJRT_Buffer_Type_S16, dims, 2);
    a.byte_strides = columns;
    a.num_byte_strides = 2;
    succeeds(api->Client_BufferFromHostBuffer(&a));
    get(a.buffer, read, sizeof read);
    assert_memory_equal(read, ((int16_t[]){1, 4, 2, 5, 3, 6}), sizeof read);

    /* Read with the first axis fastest, it is as it came. */
    const int64_t order[] = {0, 1};
    PJRT_Buffer_MemoryLayout layout = {.struct_size = sizeof layout,
                                       .tiled = {.struct_size = sizeof layout.tiled,
                                                 .minor_to_major = order,
                                                 .minor_to_major_size = 2}};
    ASK(back, Buffer_ToHostBuffer, .src = a.buffer, .host_layout = &layout, .dst = read,
        .dst_size = sizeof read);
    assert_memory_equal(read, data, sizeof read);
    drop(a.buffer);

    a.data = data + 5;
    a.byte_strides = backwards;
    succeeds(api->Client_BufferFromHostBuffer(&a));
    get(a.buffer, read, sizeof read);
    assert_memory_equal(read, ((int16_t[]){6, 5, 4, 3, 2, 1}), sizeof read);
    drop(a.buffer);
}

static void test_shapes_that_cannot_be_are_errors(void **state) {
    (void)state;
    const int64_t negative[] = {2, -1}, huge[] = {INT64_MAX, INT64_MAX}, none[] = {0, 5};
    PJRT_Client_BufferFromHostBuffer_Args a =
        host_array(negative, PJRT_Buffer_Type_F32, negative, 2);
    fails(api->Client_BufferFromHostBuffer(&a), PJRT_Error_Code_INVALID_ARGUMENT, "negative");
    a.dims = huge;
    fails(api->Client_BufferFromHostBuffer(&a), PJRT_Error_Code_INVALID_ARGUMENT, "larger");
    a.dims = square;
    a.type = 23; /* a token */
    fails(api->Client_BufferFromHostBuffer(&a), PJRT_Error_Code_UNIMPLEMENTED, "type 23");
    a.type = PJRT_Buffer_Type_F32;
    a.num_byte_strides = 1;
    a.byte_strides = square;
    fails(api->Client_BufferFromHostBuffer(&a), PJRT_Error_Code_INVALID_ARGUMENT, "strides");
    drop(put(NULL, PJRT_Buffer_Type_F32, none, 2)); /* an empty one is nothing special */
}

static void test_a_deleted_buffer_is_an_error_and_no_crash(void **state) {
    (void)state;
    float data[COUNT] = {0};
    PJRT_Buffer *b = put_square(data);
    assert_false(is_deleted(b));
    succeeds(CALL(Buffer_Delete, .buffer = b));
    succeeds(CALL(Buffer_Delete, .buffer = b)); /* twice is once */
    assert_true(is_deleted(b));
    fails(CALL(Buffer_ToHostBuffer, .src = b, .dst = data, .dst_size = sizeof data),
          PJRT_Error_Code_INVALID_ARGUMENT, "deleted");
    fails(CALL(Buffer_OpaqueDeviceMemoryDataPointer, .buffer = b), PJRT_Error_Code_INVALID_ARGUMENT,
          "deleted");
    fails(CALL(Buffer_DecreaseExternalReferenceCount, .buffer = b),
          PJRT_Error_Code_FAILED_PRECONDITION, "no reference");
    drop(b);
}

static void set_flag(PJRT_Error *e, void *flag) {
    assert_null(e);
    *(bool *)flag = true;
}

static void test_memory_that_is_lent_is_given_back(void **state) {
    (void)state;
    float *data = aligned_alloc(64, sizeof(float) * COUNT * 2);
    bool done = false;
    numbers(data, 0);
    PJRT_Client_BufferFromHostBuffer_Args a = host_array(data, PJRT_Buffer_Type_F32, square, 2);
    a.host_buffer_semantics = PJRT_HostBufferSemantics_kImmutableZeroCopy;
    succeeds(api->Client_BufferFromHostBuffer(&a));
    succeeds(CALL(Event_OnReady, .event = a.done_with_host_buffer, .callback = set_flag,
                  .user_arg = &done));
    ASK(place, Buffer_OpaqueDeviceMemoryDataPointer, .buffer = a.buffer);
    assert_ptr_equal(place.device_memory_ptr, data);
    assert_false(done);

    /* A pointer outside keeps it, whatever becomes of the buffer. */
    succeeds(CALL(Buffer_IncreaseExternalReferenceCount, .buffer = a.buffer));
    succeeds(CALL(Buffer_Delete, .buffer = a.buffer));
    assert_false(done);
    succeeds(CALL(Buffer_DecreaseExternalReferenceCount, .buffer = a.buffer));
    assert_true(done);
    drop(a.buffer);
    CALL(Event_Destroy, .event = a.done_with_host_buffer);

    /* Memory between lines of the cache is copied: it is the caller's at once. */
    a.data = data + 1;
    succeeds(api->Client_BufferFromHostBuffer(&a));
    ASK(ready, Event_IsReady, .event = a.done_with_host_buffer);
    assert_true(ready.is_ready);
    CALL(Event_Destroy, .event = a.done_with_host_buffer);
    drop(a.buffer);
    free(data);
}

static void test_parts_are_read_within_their_bounds(void **state) {
    (void)state;
    float data[COUNT], part[2];
    numbers(data, 0);
    PJRT_Buffer *b = put_square(data);
    succeeds(CALL(Buffer_CopyRawToHost, .buffer = b, .dst = part, .offset = 8, .transfer_size = 8));
    assert_true(part[0] == 2 && part[1] == 3);
    fails(CALL(Buffer_CopyRawToHost, .buffer = b, .dst = part, .offset = sizeof data - 4,
               .transfer_size = 8),
          PJRT_Error_Code_INVALID_ARGUMENT, "not all in a buffer");
    drop(b);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_every_slot_answers),
        cmocka_unit_test(test_a_framework_is_told_the_version_of_programs),
        cmocka_unit_test(test_blocks_of_packs_are_an_extension),
        cmocka_unit_test(test_there_is_one_device_with_one_memory),
        cmocka_unit_test(test_wrong_settings_are_errors),
        cmocka_unit_test(test_arrays_come_back_in_any_order),
        cmocka_unit_test(test_shapes_that_cannot_be_are_errors),
        cmocka_unit_test(test_a_deleted_buffer_is_an_error_and_no_crash),
        cmocka_unit_test(test_memory_that_is_lent_is_given_back),
        cmocka_unit_test(test_parts_are_read_within_their_bounds),
    };
    return cmocka_run_group_tests(tests, open_plugin, close_plugin);
}
