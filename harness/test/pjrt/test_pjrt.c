/* test_pjrt.c - the plugin as a framework meets it: a library that is opened, a table of functions,
 * and programs as JAX writes them. */
#include "test/test.h"

#include <dlfcn.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "pjrt/pjrt.h"

enum { SIDE = 8, COUNT = SIDE * SIDE, THREADS = 64 };

static const PJRT_Api *api;
static PJRT_Client *client;

/* ---- short forms ---- */

#define CALL(NAME, ...)                                                                            \
    api->NAME(&(PJRT_##NAME##_Args){.struct_size = sizeof(PJRT_##NAME##_Args), __VA_ARGS__})
/* Leaves what it filled in `name`. */
#define ASK(name, NAME, ...)                                                                       \
    PJRT_##NAME##_Args name = {.struct_size = sizeof name, __VA_ARGS__};                           \
    succeeds(api->NAME(&name))

static void end_error(PJRT_Error *e) {
    CALL(Error_Destroy, .error = e);
}

static void succeeds(PJRT_Error *e) {
    if (!e)
        return;
    PJRT_Error_Message_Args m = {.struct_size = sizeof m, .error = e};
    api->Error_Message(&m);
    fail_msg("%.*s", (int)m.message_size, m.message);
}

/* The call gave an error of this code, and its words hold these. */
static void fails(PJRT_Error *e, PJRT_Error_Code code, const char *words) {
    assert_non_null(e);
    PJRT_Error_Message_Args m = {.struct_size = sizeof m, .error = e};
    PJRT_Error_GetCode_Args c = {.struct_size = sizeof c, .error = e};
    api->Error_Message(&m);
    assert_null(api->Error_GetCode(&c));
    if (c.code != code || !strstr(m.message, words))
        fail_msg("code %d, and not %d with '%s': %s", (int)c.code, (int)code, words, m.message);
    end_error(e);
}

static PJRT_Client_BufferFromHostBuffer_Args host_array(const void *data, PJRT_Buffer_Type type,
                                                        const int64_t *dims, size_t rank) {
    return (PJRT_Client_BufferFromHostBuffer_Args){
        .struct_size = sizeof(PJRT_Client_BufferFromHostBuffer_Args),
        .client = client,
        .data = data,
        .type = type,
        .dims = dims,
        .num_dims = rank};
}

static PJRT_Buffer *put(const void *data, PJRT_Buffer_Type type, const int64_t *dims, size_t rank) {
    PJRT_Client_BufferFromHostBuffer_Args a = host_array(data, type, dims, rank);
    succeeds(api->Client_BufferFromHostBuffer(&a));
    CALL(Event_Destroy, .event = a.done_with_host_buffer);
    return a.buffer;
}

static const int64_t square[] = {SIDE, SIDE};
static PJRT_Buffer *put_square(const float *data) {
    return put(data, PJRT_Buffer_Type_F32, square, 2);
}

static void get(PJRT_Buffer *b, void *out, size_t bytes) {
    ASK(a, Buffer_ToHostBuffer, .src = b, .dst = out, .dst_size = bytes);
    CALL(Event_Destroy, .event = a.event);
}

static void drop(PJRT_Buffer *b) {
    succeeds(CALL(Buffer_Destroy, .buffer = b));
}

static bool is_deleted(PJRT_Buffer *b) {
    ASK(a, Buffer_IsDeleted, .buffer = b);
    return a.is_deleted;
}

static char *read_file(const char *name, size_t *size) {
    char path[512];
    snprintf(path, sizeof path, "harness/test/pjrt/%s", name);
    FILE *f = fopen(path, "rb");
    assert_non_null(f);
    char *data = malloc(1 << 16);
    *size = fread(data, 1, 1 << 16, f);
    fclose(f);
    return data;
}

static PJRT_Error *compile(const char *code, size_t size, PJRT_LoadedExecutable **out) {
    static const char format[] = "mlir";
    const PJRT_Program p = {.struct_size = sizeof p,
                            .code = (char *)(uintptr_t)code,
                            .code_size = size,
                            .format = format,
                            .format_size = strlen(format)};
    PJRT_Client_Compile_Args a = {.struct_size = sizeof a, .client = client, .program = &p};
    PJRT_Error *e = api->Client_Compile(&a);
    *out = a.executable;
    return e;
}

static PJRT_LoadedExecutable *compile_file(const char *name) {
    size_t size;
    char *code = read_file(name, &size);
    PJRT_LoadedExecutable *x;
    succeeds(compile(code, size, &x));
    free(code);
    return x;
}

static void drop_program(PJRT_LoadedExecutable *x) {
    succeeds(CALL(LoadedExecutable_Destroy, .executable = x));
}

static PJRT_Error *execute(PJRT_LoadedExecutable *x, PJRT_Buffer *const *in, size_t count,
                           PJRT_Buffer **out, PJRT_ExecuteOptions *options) {
    PJRT_Event *done = NULL;
    PJRT_Error *e = CALL(LoadedExecutable_Execute, .executable = x, .options = options,
                         .argument_lists = &in, .num_devices = 1, .num_args = count,
                         .output_lists = &out, .device_complete_events = &done);
    if (!e)
        succeeds(CALL(Event_Await, .event = done));
    CALL(Event_Destroy, .event = done);
    return e;
}

static void numbers(float *out, float first) {
    for (int i = 0; i < COUNT; i++)
        out[i] = first + (float)i;
}

/* a + b, and the sum of a: what donated.mlirbc computes. */
static void check_results(PJRT_Buffer **out, float first, float second) {
    float sums[COUNT], total, expected = 0;
    get(out[0], sums, sizeof sums);
    get(out[1], &total, sizeof total);
    for (int i = 0; i < COUNT; i++) {
        assert_true(sums[i] == first + second + 2 * (float)i);
        expected += first + (float)i;
    }
    assert_true(total == expected);
    drop(out[0]);
    drop(out[1]);
}

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
    a.type = 14; /* complex numbers */
    fails(api->Client_BufferFromHostBuffer(&a), PJRT_Error_Code_UNIMPLEMENTED, "type 14");
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

    /* What stands between lines of the cache is copied: it is the caller's at once. */
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

/* ---- programs ---- */

static void test_a_program_says_what_it_gives(void **state) {
    (void)state;
    PJRT_LoadedExecutable *x = compile_file("donated.mlirbc");
    ASK(e, LoadedExecutable_GetExecutable, .loaded_executable = x);
    ASK(name, Executable_Name, .executable = e.executable);
    assert_string_equal(name.executable_name, "main");
    ASK(types, Executable_OutputElementTypes, .executable = e.executable);
    assert_int_equal(types.num_output_types, 2);
    assert_int_equal(types.output_types[0], PJRT_Buffer_Type_F32);
    ASK(dims, Executable_OutputDimensions, .executable = e.executable);
    assert_int_equal(dims.dim_sizes[0], 2);
    assert_int_equal(dims.dim_sizes[1], 0);
    assert_int_equal(dims.dims[1], SIDE);
    succeeds(CALL(Executable_Destroy, .executable = e.executable));
    drop_program(x);
}

static void test_arguments_that_do_not_fit_are_errors(void **state) {
    (void)state;
    const int64_t other[] = {COUNT};
    float data[COUNT] = {0};
    PJRT_LoadedExecutable *x = compile_file("donated.mlirbc");
    PJRT_Buffer *a = put_square(data), *flat = put(data, PJRT_Buffer_Type_F32, other, 1),
                *whole = put(data, PJRT_Buffer_Type_S32, square, 2), *out[2];
    fails(execute(x, &a, 1, out, NULL), PJRT_Error_Code_INVALID_ARGUMENT, "takes 2 arguments");
    fails(execute(x, (PJRT_Buffer *[]){a, flat}, 2, out, NULL), PJRT_Error_Code_INVALID_ARGUMENT,
          "shape");
    fails(execute(x, (PJRT_Buffer *[]){a, whole}, 2, out, NULL), PJRT_Error_Code_INVALID_ARGUMENT,
          "i32");
    fails(execute(x, (PJRT_Buffer *[]){a, NULL}, 2, out, NULL), PJRT_Error_Code_INVALID_ARGUMENT,
          "NULL");
    assert_false(is_deleted(a)); /* it was to be donated, and nothing has run */
    succeeds(CALL(Buffer_Delete, .buffer = a));
    fails(execute(x, (PJRT_Buffer *[]){a, a}, 2, out, NULL), PJRT_Error_Code_INVALID_ARGUMENT,
          "deleted");
    drop(a);
    drop(flat);
    drop(whole);
    drop_program(x);
}

static void *pointer_of(PJRT_Buffer *b) {
    ASK(a, Buffer_OpaqueDeviceMemoryDataPointer, .buffer = b);
    return a.device_memory_ptr;
}

static void test_a_donated_argument_is_gone(void **state) {
    (void)state;
    float first[COUNT], second[COUNT];
    numbers(first, 1);
    numbers(second, 100);
    PJRT_LoadedExecutable *x = compile_file("donated.mlirbc");
    PJRT_Buffer *a = put_square(first), *b = put_square(second), *out[2];
    fails(execute(x, (PJRT_Buffer *[]){a, a}, 2, out, NULL), PJRT_Error_Code_INVALID_ARGUMENT,
          "donated");
    assert_false(is_deleted(a));

    /* The caller may keep it for this call. */
    const int64_t kept[] = {0};
    PJRT_ExecuteOptions keep = {.struct_size = sizeof keep,
                                .non_donatable_input_indices = kept,
                                .num_non_donatable_input_indices = 1};
    succeeds(execute(x, (PJRT_Buffer *[]){a, b}, 2, out, &keep));
    check_results(out, 1, 100);
    assert_false(is_deleted(a));

    /* A pointer outside sees what stood there, although the buffer is gone. */
    const float *seen = pointer_of(a);
    succeeds(CALL(Buffer_IncreaseExternalReferenceCount, .buffer = a));
    succeeds(execute(x, (PJRT_Buffer *[]){a, b}, 2, out, NULL));
    assert_true(is_deleted(a));
    assert_memory_equal(seen, first, sizeof first);
    check_results(out, 1, 100);
    succeeds(CALL(Buffer_DecreaseExternalReferenceCount, .buffer = a));
    fails(execute(x, (PJRT_Buffer *[]){a, b}, 2, out, NULL), PJRT_Error_Code_INVALID_ARGUMENT,
          "deleted or donated");
    drop(a);
    drop(b);
    drop_program(x);
}

static void test_what_cannot_be_compiled_says_where_in_the_script(void **state) {
    (void)state;
    size_t size;
    PJRT_LoadedExecutable *x;
    char *code = read_file("complex_numbers.mlirbc", &size);
    fails(compile(code, size, &x), PJRT_Error_Code_UNIMPLEMENTED, "programs.py:");
    fails(compile(code, size, &x), PJRT_Error_Code_UNIMPLEMENTED, "E1202");
    fails(compile(code, size / 2, &x), PJRT_Error_Code_INVALID_ARGUMENT, "E12");
    fails(compile("module {", 8, &x), PJRT_Error_Code_INVALID_ARGUMENT, "E12");
    const PJRT_Program hlo = {.struct_size = sizeof hlo,
                              .code = code,
                              .code_size = size,
                              .format = "hlo",
                              .format_size = 3};
    fails(CALL(Client_Compile, .client = client, .program = &hlo), PJRT_Error_Code_UNIMPLEMENTED,
          "'hlo'");
    free(code);
}

static void test_programs_for_several_devices_are_refused(void **state) {
    (void)state;
    static const char two[] = {0x1a, 4, 0x20, 2, 0x28, 1}, one[] = {0x1a, 4, 0x20, 1, 0x28, 1};
    size_t size;
    char *code = read_file("donated.mlirbc", &size);
    const PJRT_Program p = {.struct_size = sizeof p,
                            .code = code,
                            .code_size = size,
                            .format = "mlir",
                            .format_size = 4};
    fails(CALL(Client_Compile, .client = client, .program = &p, .compile_options = two,
               .compile_options_size = sizeof two),
          PJRT_Error_Code_UNIMPLEMENTED, "2 replicas");
    fails(CALL(Client_Compile, .client = client, .program = &p, .compile_options = two,
               .compile_options_size = 3),
          PJRT_Error_Code_INVALID_ARGUMENT, "CompileOptionsProto");
    ASK(good, Client_Compile, .client = client, .program = &p, .compile_options = one,
        .compile_options_size = sizeof one);
    drop_program(good.executable);
    free(code);
}

static void test_a_program_is_kept_as_bytes(void **state) {
    (void)state;
    float data[COUNT];
    numbers(data, 3);
    PJRT_LoadedExecutable *x = compile_file("donated.mlirbc");
    ASK(e, LoadedExecutable_GetExecutable, .loaded_executable = x);
    ASK(s, Executable_Serialize, .executable = e.executable);
    drop_program(x);
    ASK(back, Executable_DeserializeAndLoad, .client = client,
        .serialized_executable = s.serialized_bytes,
        .serialized_executable_size = s.serialized_bytes_size);
    PJRT_Buffer *a = put_square(data), *b = put_square(data), *out[2];
    succeeds(execute(back.loaded_executable, (PJRT_Buffer *[]){a, b}, 2, out, NULL));
    check_results(out, 3, 3);
    assert_true(is_deleted(a)); /* what is donated was kept, too */
    drop(a);
    drop(b);
    drop_program(back.loaded_executable);

    char *damaged = malloc(s.serialized_bytes_size);
    memcpy(damaged, s.serialized_bytes, s.serialized_bytes_size);
    damaged[s.serialized_bytes_size / 2] ^= 1;
    fails(CALL(Executable_DeserializeAndLoad, .client = client, .serialized_executable = damaged,
               .serialized_executable_size = s.serialized_bytes_size),
          PJRT_Error_Code_DATA_LOSS, "damaged");
    fails(CALL(Executable_DeserializeAndLoad, .client = client, .serialized_executable = damaged,
               .serialized_executable_size = 7),
          PJRT_Error_Code_INVALID_ARGUMENT, "no program");
    free(damaged);
    s.serialized_executable_deleter(s.serialized_executable);
    CALL(Executable_Destroy, .executable = e.executable);
}

/* ---- many threads ---- */

static void *one_thread(void *number) {
    const float first = (float)(uintptr_t)number;
    float data[COUNT];
    numbers(data, first);
    for (int turn = 0; turn < 4; turn++) {
        PJRT_LoadedExecutable *x = compile_file("donated.mlirbc");
        PJRT_Buffer *a = put_square(data), *b = put_square(data), *out[2];
        succeeds(execute(x, (PJRT_Buffer *[]){a, b}, 2, out, NULL));
        check_results(out, first, first);
        assert_true(is_deleted(a));
        drop(a);
        drop(b);
        drop_program(x);
    }
    return NULL;
}

static void test_many_threads_compile_and_run(void **state) {
    pthread_t threads[THREADS];
    (void)state;
    for (uintptr_t i = 0; i < THREADS; i++)
        assert_int_equal(pthread_create(&threads[i], NULL, one_thread, (void *)i), 0);
    for (int i = 0; i < THREADS; i++)
        pthread_join(threads[i], NULL);
}

/* Buffers live longer than their client where a framework ends in another order. */
static void test_the_end_may_come_in_any_order(void **state) {
    (void)state;
    float data[COUNT] = {0}, read[COUNT];
    PJRT_Client *first = client;
    ASK(made, Client_Create, .client = NULL);
    client = made.client;
    PJRT_Buffer *b = put_square(data);
    PJRT_LoadedExecutable *x = compile_file("donated.mlirbc");
    succeeds(CALL(Client_Destroy, .client = client));
    get(b, read, sizeof read);
    drop(b);
    drop_program(x);
    client = first;
}

static int open_plugin(void **state) {
    (void)state;
    void *library = dlopen(TESSERA_PJRT_LIBRARY, RTLD_NOW | RTLD_LOCAL);
    if (!library) {
        print_error("%s\n", dlerror());
        return -1;
    }
    const PJRT_Api *(*start)(void) = (const PJRT_Api *(*)(void))dlsym(library, "GetPjrtApi");
    api = start();
    succeeds(CALL(Plugin_Initialize, .extension_start = NULL));
    ASK(made, Client_Create, .client = NULL);
    client = made.client;
    return 0;
}

static int close_plugin(void **state) {
    (void)state;
    succeeds(CALL(Client_Destroy, .client = client));
    return 0;
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_every_slot_answers),
        cmocka_unit_test(test_a_framework_is_told_the_version_of_programs),
        cmocka_unit_test(test_there_is_one_device_with_one_memory),
        cmocka_unit_test(test_wrong_settings_are_errors),
        cmocka_unit_test(test_arrays_come_back_in_any_order),
        cmocka_unit_test(test_shapes_that_cannot_be_are_errors),
        cmocka_unit_test(test_a_deleted_buffer_is_an_error_and_no_crash),
        cmocka_unit_test(test_memory_that_is_lent_is_given_back),
        cmocka_unit_test(test_parts_are_read_within_their_bounds),
        cmocka_unit_test(test_a_program_says_what_it_gives),
        cmocka_unit_test(test_arguments_that_do_not_fit_are_errors),
        cmocka_unit_test(test_a_donated_argument_is_gone),
        cmocka_unit_test(test_what_cannot_be_compiled_says_where_in_the_script),
        cmocka_unit_test(test_programs_for_several_devices_are_refused),
        cmocka_unit_test(test_a_program_is_kept_as_bytes),
        cmocka_unit_test(test_many_threads_compile_and_run),
        cmocka_unit_test(test_the_end_may_come_in_any_order),
    };
    return cmocka_run_group_tests(tests, open_plugin, close_plugin);
}
