/* test_pjrt_devices.c - several devices in one process: where values lie, programs that all of them
 * run, and what is wrong with a call is an error of it.
 *
 * sharded.mlirbc (programs.py) takes w of 8 numbers, which all devices have, and x of 8 rows, two
 * on each of four devices, which is donated: it gives w less the sum of all rows, and 2 x plus the
 * device's number. */
#include "client.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { DEVICES = 4, WIDTH = 8, ROWS = 2 };

static PJRT_Device *const *devices;

static PJRT_Error *start_client(int64_t count, PJRT_Client **out) {
    const PJRT_NamedValue option = {.struct_size = sizeof option,
                                    .name = "devices",
                                    .name_size = strlen("devices"),
                                    .type = PJRT_NamedValue_kInt64,
                                    .int64_value = count,
                                    .value_size = 1};
    PJRT_Client_Create_Args a = {
        .struct_size = sizeof a, .create_options = &option, .num_options = 1};
    PJRT_Error *e = api->Client_Create(&a);
    *out = a.client;
    return e;
}

static int start(void **state) {
    if (open_plugin(state) != 0)
        return -1;
    close_plugin(state);
    succeeds(start_client(DEVICES, &client));
    ASK(all, Client_AddressableDevices, .client = client);
    assert_int_equal(all.num_addressable_devices, DEVICES);
    devices = all.addressable_devices;
    return 0;
}

static char *read_file(const char *name, size_t *size) {
    FILE *f = fopen(name, "rb");
    assert_non_null(f);
    char *data = malloc(1 << 16);
    *size = fread(data, 1, 1 << 16, f);
    fclose(f);
    return data;
}

/* ---- programs ---- */

/* Options of a compilation: counts, and unless `ids` is NULL the device of each partition. */
typedef struct options {
    char bytes[64];
    size_t size;
} options;

static options options_of(int replicas, int partitions, const int *ids) {
    options o = {{0}, 0};
    char build[48];
    size_t n = 0, assigned = 4 + (size_t)partitions * 5;
    build[n++] = 0x20;
    build[n++] = (char)replicas;
    build[n++] = 0x28;
    build[n++] = (char)partitions;
    if (ids) {
        build[n++] = 0x4a;
        build[n++] = (char)assigned;
        memcpy(build + n, (char[]){0x08, (char)replicas, 0x10, (char)partitions}, 4);
        n += 4;
        for (int p = 0; p < partitions; p++, n += 5)
            memcpy(build + n, (char[]){0x1a, 3, 0x0a, 1, (char)ids[p]}, 5);
    }
    o.bytes[o.size++] = 0x1a;
    o.bytes[o.size++] = (char)n;
    memcpy(o.bytes + o.size, build, n);
    o.size += n;
    return o;
}

static PJRT_Error *compile(const char *code, size_t size, const options *o,
                           PJRT_LoadedExecutable **out) {
    const PJRT_Program p = {.struct_size = sizeof p,
                            .code = (char *)(uintptr_t)code,
                            .code_size = size,
                            .format = "mlir",
                            .format_size = 4};
    PJRT_Client_Compile_Args a = {.struct_size = sizeof a,
                                  .client = client,
                                  .program = &p,
                                  .compile_options = o->bytes,
                                  .compile_options_size = o->size};
    PJRT_Error *e = api->Client_Compile(&a);
    *out = a.executable;
    return e;
}

static PJRT_LoadedExecutable *compile_sharded(const int *ids) {
    size_t size;
    char *code = read_file("harness/test/pjrt/sharded.mlirbc", &size);
    const options o = options_of(1, DEVICES, ids);
    PJRT_LoadedExecutable *x;
    succeeds(compile(code, size, &o, &x));
    free(code);
    return x;
}

static PJRT_Buffer *put_on(PJRT_Device *device, const float *data, size_t rows) {
    const int64_t dims[] = {(int64_t)rows, WIDTH};
    PJRT_Client_BufferFromHostBuffer_Args a =
        host_array(data, PJRT_Buffer_Type_F32, rows ? dims : dims + 1, rows ? 2 : 1);
    a.device = device;
    succeeds(api->Client_BufferFromHostBuffer(&a));
    CALL(Event_Destroy, .event = a.done_with_host_buffer);
    return a.buffer;
}

/* Arguments of all devices: w, and the rows of x that each has. */
typedef struct arguments {
    PJRT_Buffer *of[DEVICES][2];
} arguments;

static float w_at(int i) {
    return 1000.0F + (float)i;
}

static float x_at(int row, int i) {
    return (float)(WIDTH * row + i);
}

static arguments put_arguments(const int *ids) {
    arguments a;
    float w[WIDTH], x[ROWS * WIDTH];
    for (int d = 0; d < DEVICES; d++) {
        for (int i = 0; i < WIDTH; i++)
            w[i] = w_at(i);
        for (int i = 0; i < ROWS * WIDTH; i++)
            x[i] = x_at(ROWS * d, 0) + (float)i;
        a.of[d][0] = put_on(devices[ids[d]], w, 0);
        a.of[d][1] = put_on(devices[ids[d]], x, ROWS);
    }
    return a;
}

static PJRT_Error *execute(PJRT_LoadedExecutable *x, const arguments *a, size_t count,
                           PJRT_Buffer *out[DEVICES][2]) {
    PJRT_Buffer *const *in[DEVICES];
    PJRT_Buffer **to[DEVICES];
    PJRT_Event *done[DEVICES] = {NULL};
    for (int d = 0; d < DEVICES; d++) {
        in[d] = a->of[d];
        to[d] = out[d];
    }
    PJRT_Error *e =
        CALL(LoadedExecutable_Execute, .executable = x, .argument_lists = in, .num_devices = count,
             .num_args = 2, .output_lists = to, .device_complete_events = done);
    for (int d = 0; d < DEVICES && !e; d++)
        CALL(Event_Destroy, .event = done[d]);
    return e;
}

static void drop_arguments(arguments *a) {
    for (int d = 0; d < DEVICES; d++) {
        drop(a->of[d][0]);
        drop(a->of[d][1]);
    }
}

static PJRT_Device *device_of(PJRT_Buffer *b) {
    ASK(a, Buffer_Device, .buffer = b);
    ASK(m, Buffer_Memory, .buffer = b);
    ASK(own, Device_DefaultMemory, .device = a.device);
    assert_ptr_equal(m.memory, own.memory);
    return a.device;
}

/* Each device has its results, and no more of them than it is to have. */
static void check_results(PJRT_Buffer *out[DEVICES][2], const int *ids) {
    for (int d = 0; d < DEVICES; d++) {
        float w[WIDTH], x[ROWS * WIDTH];
        ASK(size, Buffer_OnDeviceSizeInBytes, .buffer = out[d][1]);
        assert_int_equal(size.on_device_size_in_bytes, sizeof x);
        assert_ptr_equal(device_of(out[d][0]), devices[ids[d]]);
        assert_ptr_equal(device_of(out[d][1]), devices[ids[d]]);
        get(out[d][0], w, sizeof w);
        get(out[d][1], x, sizeof x);
        for (int i = 0; i < WIDTH; i++) {
            float sum = 0;
            for (int row = 0; row < DEVICES * ROWS; row++)
                sum += x_at(row, i);
            assert_true(w[i] == w_at(i) - sum);
        }
        for (int i = 0; i < ROWS * WIDTH; i++)
            assert_true(x[i] == 2 * (x_at(ROWS * d, 0) + (float)i) + (float)d);
        drop(out[d][0]);
        drop(out[d][1]);
    }
}

static void drop_program(PJRT_LoadedExecutable *x) {
    succeeds(CALL(LoadedExecutable_Destroy, .executable = x));
}

/* ---- the tests ---- */

static const int in_order[] = {0, 1, 2, 3}, turned[] = {3, 1, 0, 2};

static void test_each_device_has_its_number_and_its_memory(void **state) {
    (void)state;
    ASK(memories, Client_AddressableMemories, .client = client);
    assert_int_equal(memories.num_addressable_memories, DEVICES);
    for (int d = 0; d < DEVICES; d++) {
        ASK(found, Client_LookupDevice, .client = client, .id = d);
        assert_ptr_equal(found.device, devices[d]);
        ASK(local, Device_LocalHardwareId, .device = devices[d]);
        assert_int_equal(local.local_hardware_id, d);
        ASK(memory, Device_DefaultMemory, .device = devices[d]);
        assert_ptr_equal(memory.memory, memories.addressable_memories[d]);
        ASK(id, Memory_Id, .memory = memory.memory);
        assert_int_equal(id.id, d);
    }
    fails(CALL(Client_LookupDevice, .client = client, .id = DEVICES),
          PJRT_Error_Code_INVALID_ARGUMENT, "there are 4");
    int assigned[8];
    fails(CALL(Client_DefaultDeviceAssignment, .client = client, .num_replicas = 2,
               .num_partitions = 4, .default_assignment = assigned, .default_assignment_size = 8),
          PJRT_Error_Code_INVALID_ARGUMENT, "TESSERA_DEVICES");
    ASK(two, Client_DefaultDeviceAssignment, .client = client, .num_replicas = 2,
        .num_partitions = 2, .default_assignment = assigned, .default_assignment_size = 8);
    assert_int_equal(assigned[3], 3);
}

static void test_there_are_1_to_64_devices(void **state) {
    (void)state;
    PJRT_Client *none;
    fails(start_client(0, &none), PJRT_Error_Code_INVALID_ARGUMENT, "1 to 64, not 0");
    fails(start_client(65, &none), PJRT_Error_Code_INVALID_ARGUMENT, "not 65");
}

static void test_a_copy_lies_on_the_device_that_was_asked_for(void **state) {
    (void)state;
    float row[WIDTH] = {1, 2, 3, 4, 5, 6, 7, 8}, read[WIDTH];
    PJRT_Buffer *here = put_on(devices[1], row, 0);
    assert_ptr_equal(device_of(here), devices[1]);
    ASK(there, Buffer_CopyToDevice, .buffer = here, .dst_device = devices[2]);
    drop(here);
    assert_ptr_equal(device_of(there.dst_buffer), devices[2]);
    get(there.dst_buffer, read, sizeof read);
    assert_memory_equal(read, row, sizeof row);
    drop(there.dst_buffer);
}

static void runs_on(const int *ids) {
    PJRT_Buffer *out[DEVICES][2];
    PJRT_LoadedExecutable *x = compile_sharded(ids);
    arguments a = put_arguments(ids);
    succeeds(execute(x, &a, DEVICES, out));
    for (int d = 0; d < DEVICES; d++) {
        assert_false(is_deleted(a.of[d][0]));
        assert_true(is_deleted(a.of[d][1])); /* it was donated */
    }
    check_results(out, ids);
    drop_arguments(&a);
    drop_program(x);
}

static void test_a_program_runs_on_all_devices(void **state) {
    (void)state;
    runs_on(in_order);
}

static void test_an_assignment_says_which_device_is_which(void **state) {
    (void)state;
    runs_on(turned);
    PJRT_LoadedExecutable *x = compile_sharded(turned);
    ASK(all, LoadedExecutable_AddressableDevices, .executable = x);
    assert_ptr_equal(all.addressable_devices[0], devices[3]);
    ASK(bytes, LoadedExecutable_GetDeviceAssignment, .executable = x);
    const char expected[] = {8, 1, 16,   4, 0x1a, 3, 0x0a, 1,    3, 0x1a, 3, 0x0a,
                             1, 1, 0x1a, 3, 0x0a, 1, 0,    0x1a, 3, 0x0a, 1, 2};
    assert_int_equal(bytes.serialized_bytes_size, sizeof expected);
    assert_memory_equal(bytes.serialized_bytes, expected, sizeof expected);
    bytes.serialized_device_assignment_deleter(bytes.serialized_device_assignment);
    drop_program(x);
}

static void test_a_call_that_is_wrong_on_one_device_is_an_error_of_all(void **state) {
    (void)state;
    PJRT_Buffer *out[DEVICES][2];
    PJRT_LoadedExecutable *x = compile_sharded(in_order);
    arguments a = put_arguments(in_order), other = put_arguments(turned);
    fails(execute(x, &a, 1, out), PJRT_Error_Code_INVALID_ARGUMENT, "is for 4");
    fails(execute(x, &other, DEVICES, out), PJRT_Error_Code_INVALID_ARGUMENT,
          "argument 0 of device 0 lies on another device");
    succeeds(CALL(Buffer_Delete, .buffer = a.of[2][1]));
    fails(execute(x, &a, DEVICES, out), PJRT_Error_Code_INVALID_ARGUMENT,
          "argument 1 of device 2 was deleted");
    assert_false(is_deleted(a.of[0][1])); /* nothing has run */
    assert_false(is_deleted(a.of[3][1]));
    drop_arguments(&a);
    drop_arguments(&other);
    a = put_arguments(in_order); /* and the program is as good as before */
    succeeds(execute(x, &a, DEVICES, out));
    check_results(out, in_order);
    drop_arguments(&a);
    drop_program(x);
}

static void test_devices_that_there_are_not_are_refused(void **state) {
    (void)state;
    size_t size;
    char *code = read_file("harness/test/pjrt/sharded.mlirbc", &size);
    PJRT_LoadedExecutable *x;
    const struct {
        options o;
        const char *words;
    } cases[] = {{options_of(1, 8, NULL), "wants more devices than there are: 4"},
                 {options_of(2, 4, NULL), "2 replicas of 4 partitions wants more"},
                 {options_of(1, 2, NULL), "is for 1 replicas of 4 partitions"},
                 {options_of(1, 1, NULL), "ask for 1 of 1"},
                 {options_of(1, 4, (const int[]){0, 1, 1, 2}), "device 1, which is there once"},
                 {options_of(1, 4, (const int[]){0, 1, 2, 9}), "device 9"}};
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++)
        fails(compile(code, size, &cases[i].o, &x), PJRT_Error_Code_INVALID_ARGUMENT,
              cases[i].words);
    free(code);
}

static const char replicas[] =
    "module @mean attributes {mhlo.num_replicas = 2 : i32} {\n"
    "  func.func public @main(%a: tensor<8xf32>, %b: tensor<2x8xf32>) -> (tensor<8xf32>, "
    "tensor<2x8xf32>) {\n"
    "    %0 = \"stablehlo.all_reduce\"(%a) ({\n"
    "    ^bb0(%x: tensor<f32>, %y: tensor<f32>):\n"
    "      %1 = stablehlo.add %x, %y : tensor<f32>\n"
    "      stablehlo.return %1 : tensor<f32>\n"
    "    }) {replica_groups = dense<[[0, 1]]> : tensor<1x2xi64>} : (tensor<8xf32>) -> "
    "tensor<8xf32>\n"
    "    return %0, %b : tensor<8xf32>, tensor<2x8xf32>\n"
    "  }\n"
    "}\n";

/* A module of replicas is what each of them does. */
static void test_replicas_have_values_of_their_own(void **state) {
    (void)state;
    const options o = options_of(2, 1, NULL);
    PJRT_LoadedExecutable *x;
    succeeds(compile(replicas, strlen(replicas), &o, &x));
    arguments a = put_arguments(in_order);
    PJRT_Buffer *out[DEVICES][2];
    fails(execute(x, &a, DEVICES, out), PJRT_Error_Code_INVALID_ARGUMENT, "is for 2");
    succeeds(execute(x, &a, 2, out));
    for (int d = 0; d < 2; d++) {
        float sum[WIDTH], rows[ROWS * WIDTH];
        get(out[d][0], sum, sizeof sum);
        get(out[d][1], rows, sizeof rows);
        for (int i = 0; i < WIDTH; i++)
            assert_true(sum[i] == 2 * w_at(i));
        assert_true(rows[0] == x_at(ROWS * d, 0));
        drop(out[d][0]);
        drop(out[d][1]);
    }
    drop_arguments(&a);
    drop_program(x);
}

/* A program of one device runs where it is assigned to. */
static void test_one_device_may_be_any(void **state) {
    (void)state;
    static const char twice[] = "func.func public @twice(%a: tensor<8xf32>) -> tensor<8xf32> {\n"
                                "  %0 = stablehlo.add %a, %a : tensor<8xf32>\n"
                                "  return %0 : tensor<8xf32>\n"
                                "}\n";
    const options o = options_of(1, 1, (const int[]){2});
    PJRT_LoadedExecutable *x;
    succeeds(compile(twice, strlen(twice), &o, &x));
    const float row[WIDTH] = {1, 2, 3, 4, 5, 6, 7, 8};
    float read[WIDTH];
    PJRT_Buffer *here = put_on(devices[2], row, 0), *there = put_on(devices[1], row, 0), *out;
    PJRT_Buffer *const *in = &here, *const *wrong = &there;
    PJRT_Buffer **to = &out;
    fails(CALL(LoadedExecutable_Execute, .executable = x, .argument_lists = &wrong,
               .num_devices = 1, .num_args = 1, .output_lists = &to),
          PJRT_Error_Code_INVALID_ARGUMENT, "argument 0 lies on another device");
    succeeds(CALL(LoadedExecutable_Execute, .executable = x, .argument_lists = &in,
                  .num_devices = 1, .num_args = 1, .output_lists = &to));
    assert_ptr_equal(device_of(out), devices[2]);
    get(out, read, sizeof read);
    assert_true(read[7] == 16);
    drop(out);
    drop(here);
    drop(there);
    drop_program(x);
}

static void test_a_program_of_devices_is_kept_as_bytes(void **state) {
    (void)state;
    PJRT_LoadedExecutable *x = compile_sharded(turned);
    ASK(e, LoadedExecutable_GetExecutable, .loaded_executable = x);
    ASK(s, Executable_Serialize, .executable = e.executable);
    ASK(again, Executable_DeserializeAndLoad, .client = client,
        .serialized_executable = s.serialized_bytes,
        .serialized_executable_size = s.serialized_bytes_size);
    arguments a = put_arguments(turned);
    PJRT_Buffer *out[DEVICES][2];
    succeeds(execute(again.loaded_executable, &a, DEVICES, out));
    check_results(out, turned);
    drop_arguments(&a);
    PJRT_Client *small;
    succeeds(start_client(2, &small));
    fails(CALL(Executable_DeserializeAndLoad, .client = small,
               .serialized_executable = s.serialized_bytes,
               .serialized_executable_size = s.serialized_bytes_size),
          PJRT_Error_Code_INVALID_ARGUMENT, "there are 2");
    succeeds(CALL(Client_Destroy, .client = small));
    s.serialized_executable_deleter(s.serialized_executable);
    succeeds(CALL(Executable_Destroy, .executable = e.executable));
    drop_program(again.loaded_executable);
    drop_program(x);
}

/* Frameworks read of the program how its results lie. */
static void test_a_program_says_how_its_results_lie(void **state) {
    (void)state;
    PJRT_LoadedExecutable *x = compile_sharded(in_order);
    ASK(e, LoadedExecutable_GetExecutable, .loaded_executable = x);
    ASK(count, Executable_NumPartitions, .executable = e.executable);
    assert_int_equal(count.num_partitions, DEVICES);
    ASK(dims, Executable_OutputDimensions, .executable = e.executable);
    assert_int_equal(dims.dim_sizes[1], 2);
    assert_int_equal(dims.dims[1], ROWS);
    PJRT_Program words = {.struct_size = sizeof words};
    succeeds(CALL(Executable_OptimizedProgram, .executable = e.executable, .program = &words));
    words.code = calloc(1, words.code_size + 1);
    succeeds(CALL(Executable_OptimizedProgram, .executable = e.executable, .program = &words));
    assert_non_null(strstr(
        words.code, "mhlo.spmd_output_sharding = \"{{replicated}, {devices=[4,1]0,1,2,3}}\""));
    assert_non_null(strstr(words.code, "@main(%a0: tensor<8xf32>, %a1: tensor<2x8xf32>) -> "));
    assert_null(strstr(words.code, "spmd_output_sharding = \"\""));
    words.code_size = 3;
    fails(CALL(Executable_OptimizedProgram, .executable = e.executable, .program = &words),
          PJRT_Error_Code_INVALID_ARGUMENT, "3 bytes");
    free(words.code);
    succeeds(CALL(Executable_Destroy, .executable = e.executable));
    drop_program(x);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_each_device_has_its_number_and_its_memory),
        cmocka_unit_test(test_there_are_1_to_64_devices),
        cmocka_unit_test(test_a_copy_lies_on_the_device_that_was_asked_for),
        cmocka_unit_test(test_a_program_runs_on_all_devices),
        cmocka_unit_test(test_an_assignment_says_which_device_is_which),
        cmocka_unit_test(test_a_call_that_is_wrong_on_one_device_is_an_error_of_all),
        cmocka_unit_test(test_devices_that_there_are_not_are_refused),
        cmocka_unit_test(test_replicas_have_values_of_their_own),
        cmocka_unit_test(test_one_device_may_be_any),
        cmocka_unit_test(test_a_program_of_devices_is_kept_as_bytes),
        cmocka_unit_test(test_a_program_says_how_its_results_lie),
    };
    return cmocka_run_group_tests(tests, start, close_plugin);
}
