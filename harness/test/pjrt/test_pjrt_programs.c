/* test_pjrt_programs.c - programs as JAX writes them: compiled, run, kept as bytes, from many
 * threads. */
#include "client.h"

#include <pthread.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

enum { THREADS = 64 };

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

static void test_a_program_says_what_it_gives(void **state) {
    (void)state;
    PJRT_LoadedExecutable *x = compile_file("donated.mlirbc");
    ASK(e, LoadedExecutable_GetExecutable, .loaded_executable = x);
    ASK(name, Executable_Name, .executable = e.executable);
    assert_string_equal(name.executable_name, "jit_donated");
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
          "S32");
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

static void test_a_refused_program_says_says_where_in_the_script(void **state) {
    (void)state;
    size_t size;
    PJRT_LoadedExecutable *x;
    char *code = read_file("foreign_code.mlirbc", &size);
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

static void test_a_program_for_more_devices_than_there_are_is_refused(void **state) {
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
          PJRT_Error_Code_INVALID_ARGUMENT, "TESSERA_DEVICES");
    fails(CALL(Client_Compile, .client = client, .program = &p, .compile_options = two,
               .compile_options_size = 3),
          PJRT_Error_Code_INVALID_ARGUMENT, "CompileOptionsProto");
    ASK(good, Client_Compile, .client = client, .program = &p, .compile_options = one,
        .compile_options_size = sizeof one);
    drop_program(good.executable);
    free(code);
}

/* An entry of the map of options: a name, and a value that is a string. */
static size_t option(char *out, const char *name, const char *value) {
    const size_t n = strlen(name), v = strlen(value);
    return (size_t)sprintf(out, "\x3a%c\x0a%c%s\x12%c\x0a%c%s", (int)(n + v + 6), (int)n, name,
                           (int)(v + 2), (int)v, value);
}

static void test_an_option_of_a_compilation_changes_it_or_is_refused(void **state) {
    (void)state;
    static const struct {
        const char *name, *value, *error; /* NULL: it is taken */
    } cases[] = {{"profile", "strict", NULL},
                 {"profile", "fast", NULL},
                 {"profile", "quick", "strict, deterministic or fast"},
                 {"xla_embed_ir_in_executable", "1", "No such compile option"}};
    PJRT_LoadedExecutable *made[4] = {NULL};
    size_t size;
    char *code = read_file("donated.mlirbc", &size), options[64];
    const PJRT_Program p = {.struct_size = sizeof p,
                            .code = code,
                            .code_size = size,
                            .format = "mlir",
                            .format_size = 4};
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        PJRT_Client_Compile_Args a = {.struct_size = sizeof a,
                                      .client = client,
                                      .program = &p,
                                      .compile_options = options,
                                      .compile_options_size =
                                          option(options, cases[i].name, cases[i].value)};
        PJRT_Error *e = api->Client_Compile(&a);
        if (cases[i].error)
            fails(e, PJRT_Error_Code_INVALID_ARGUMENT, cases[i].error);
        else
            succeeds(e);
        made[i] = a.executable;
    }
    /* Two profiles are two programs. */
    ASK(strict, LoadedExecutable_GetExecutable, .loaded_executable = made[0]);
    ASK(fast, LoadedExecutable_GetExecutable, .loaded_executable = made[1]);
    ASK(one, Executable_Fingerprint, .executable = strict.executable);
    ASK(other, Executable_Fingerprint, .executable = fast.executable);
    assert_memory_not_equal(one.executable_fingerprint, other.executable_fingerprint, 64);
    succeeds(CALL(Executable_Destroy, .executable = strict.executable));
    succeeds(CALL(Executable_Destroy, .executable = fast.executable));
    drop_program(made[0]);
    drop_program(made[1]);
    free(code);
}

/* A jitted function that returns None. */
static void test_a_program_may_give_nothing(void **state) {
    (void)state;
    static const char words[] =
        "module @nothing { func.func public @main(%a: tensor<8x8xf32>) { return } }";
    PJRT_LoadedExecutable *x;
    float data[COUNT];
    numbers(data, 0);
    succeeds(compile(words, sizeof words - 1, &x));
    ASK(got, LoadedExecutable_GetExecutable, .loaded_executable = x);
    ASK(count, Executable_NumOutputs, .executable = got.executable);
    assert_int_equal(count.num_outputs, 0);
    PJRT_Buffer *in = put_square(data);
    succeeds(execute(x, &in, 1, NULL, NULL));
    drop(in);
    succeeds(CALL(Executable_Destroy, .executable = got.executable));
    drop_program(x);
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

/* Complex numbers are pairs in memory, and a type of their own to the framework. */
static void test_complex_numbers_go_in_and_out(void **state) {
    (void)state;
    const int64_t dims[] = {3};
    const float z[] = {1, 2, 3, -4, 0, 5}, x[] = {10, 20, 30};
    float square_of[6], parts[3];
    PJRT_LoadedExecutable *program = compile_file("spun.mlirbc");
    PJRT_Buffer *in[] = {put(z, PJRT_Buffer_Type_C64, dims, 1),
                         put(x, PJRT_Buffer_Type_F32, dims, 1)},
                *out[2];
    succeeds(execute(program, in, 2, out, NULL));
    ASK(type, Buffer_ElementType, .buffer = out[0]);
    assert_int_equal(type.type, PJRT_Buffer_Type_C64);
    ASK(shape, Buffer_Dimensions, .buffer = out[0]);
    assert_int_equal(shape.num_dims, 1);
    get(out[0], square_of, sizeof square_of);
    get(out[1], parts, sizeof parts);
    assert_memory_equal(square_of, ((float[]){15, 0, 45, 0, 55, 0}), sizeof square_of);
    assert_memory_equal(parts, ((float[]){2, -4, 5}), sizeof parts);
    fails(execute(program, (PJRT_Buffer *[]){in[1], in[1]}, 2, out, NULL),
          PJRT_Error_Code_INVALID_ARGUMENT, "C64");
    drop(out[0]);
    drop(out[1]);
    drop(in[0]);
    drop(in[1]);
    drop_program(program);
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

/* Things that 64 threads share: a program, a buffer that one of them deletes meanwhile, and one
 * that each would donate. */
typedef struct shared {
    PJRT_LoadedExecutable *program;
    PJRT_Buffer *deleted, *given;
    atomic_int ran;
} shared;

/* Takes an answer that is right, or the one error that deleting may make. */
static bool took(PJRT_Error *e) {
    if (!e)
        return true;
    ASK(words, Error_Message, .error = e);
    assert_true(strstr(words.message, "deleted") || strstr(words.message, "donated"));
    end_error(e);
    return false;
}

static void *use_and_delete(void *context) {
    shared *s = context;
    float data[COUNT];
    PJRT_Buffer *out[2];
    numbers(data, 5);
    for (int turn = 0; turn < 4; turn++) {
        PJRT_Buffer *own = put_square(data);
        took(CALL(Buffer_ToHostBuffer, .src = s->deleted, .dst = data, .dst_size = sizeof data));
        if (took(execute(s->program, (PJRT_Buffer *[]){own, s->deleted}, 2, out, NULL))) {
            drop(out[0]);
            drop(out[1]);
        }
        if (turn == 2)
            succeeds(CALL(Buffer_Delete, .buffer = s->deleted));
        if (took(execute(s->program, (PJRT_Buffer *[]){s->given, own}, 2, out, NULL))) {
            atomic_fetch_add(&s->ran, 1);
            drop(out[0]);
            drop(out[1]);
        }
        drop(own);
    }
    return NULL;
}

static void test_a_buffer_is_deleted_while_threads_use_it(void **state) {
    pthread_t threads[THREADS];
    float data[COUNT];
    (void)state;
    numbers(data, 5);
    shared s = {compile_file("donated.mlirbc"), put_square(data), put_square(data), 0};
    for (int i = 0; i < THREADS; i++)
        assert_int_equal(pthread_create(&threads[i], NULL, use_and_delete, &s), 0);
    for (int i = 0; i < THREADS; i++)
        pthread_join(threads[i], NULL);
    assert_int_equal(atomic_load(&s.ran), 1); /* donated once */
    assert_true(is_deleted(s.deleted) && is_deleted(s.given));
    drop(s.deleted);
    drop(s.given);
    drop_program(s.program);
}

/* The child has the memory of its parent, and none of the threads. */
static void test_a_fork_goes_on(void **state) {
    enum { SECONDS = 120 };
    float data[COUNT];
    int ended;
    (void)state;
    numbers(data, 1);
    PJRT_LoadedExecutable *x = compile_file("donated.mlirbc");
    PJRT_Buffer *b = put_square(data), *out[2];
    const pid_t child = fork();
    if (child == 0) {
        alarm(SECONDS); /* a call that waits for a thread that there is not */
        PJRT_Buffer *a = put_square(data);
        succeeds(execute(x, (PJRT_Buffer *[]){a, b}, 2, out, NULL));
        check_results(out, 1, 1);
        PJRT_LoadedExecutable *spun = compile_file("spun.mlirbc");
        drop_program(spun);
        _exit(0);
    }
    assert_int_equal(waitpid(child, &ended, 0), child);
    assert_true(WIFEXITED(ended) && WEXITSTATUS(ended) == 0);
    PJRT_Buffer *a = put_square(data);
    succeeds(execute(x, (PJRT_Buffer *[]){a, b}, 2, out, NULL));
    check_results(out, 1, 1);
    drop(a);
    drop(b);
    drop_program(x);
}

/* ---- backends, and the end ---- */

/* The device has memory of its own: arguments go there and results come back. */
static void gives_the_same(const char *name) {
    PJRT_Client *first = client;
    const PJRT_NamedValue backend = {.struct_size = sizeof backend,
                                     .name = "backend",
                                     .name_size = strlen("backend"),
                                     .type = PJRT_NamedValue_kString,
                                     .string_value = name,
                                     .value_size = strlen(name)};
    PJRT_Client_Create_Args a = {
        .struct_size = sizeof a, .create_options = &backend, .num_options = 1};
    PJRT_Error *e = api->Client_Create(&a);
    if (e) {
        end_error(e);
        skip();
    }
    client = a.client;
    float data[2][COUNT];
    numbers(data[0], 1);
    numbers(data[1], 100);
    PJRT_LoadedExecutable *x = compile_file("donated.mlirbc");
    PJRT_Buffer *in[] = {put_square(data[0]), put_square(data[1])}, *out[2];
    succeeds(execute(x, in, 2, out, NULL));
    check_results(out, 1, 100);
    assert_true(is_deleted(in[0]));
    drop(in[0]);
    drop(in[1]);
    drop_program(x);
    succeeds(CALL(Client_Destroy, .client = client));
    client = first;
}

static void test_a_gpu_of_vulkan_gives_the_same(void **state) {
    (void)state;
    gives_the_same("vulkan");
}

static void test_emulated_gpus_give_the_same(void **state) {
    (void)state;
    gives_the_same("ptx-emulated");
    gives_the_same("rocm-emulated");
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

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_a_program_says_what_it_gives),
        cmocka_unit_test(test_arguments_that_do_not_fit_are_errors),
        cmocka_unit_test(test_a_donated_argument_is_gone),
        cmocka_unit_test(test_a_refused_program_says_says_where_in_the_script),
        cmocka_unit_test(test_a_program_for_more_devices_than_there_are_is_refused),
        cmocka_unit_test(test_an_option_of_a_compilation_changes_it_or_is_refused),
        cmocka_unit_test(test_a_program_may_give_nothing),
        cmocka_unit_test(test_a_program_is_kept_as_bytes),
        cmocka_unit_test(test_complex_numbers_go_in_and_out),
        cmocka_unit_test(test_many_threads_compile_and_run),
        cmocka_unit_test(test_a_buffer_is_deleted_while_threads_use_it),
        cmocka_unit_test(test_a_fork_goes_on),
        cmocka_unit_test(test_a_gpu_of_vulkan_gives_the_same),
        cmocka_unit_test(test_emulated_gpus_give_the_same),
        cmocka_unit_test(test_the_end_may_come_in_any_order),
    };
    return cmocka_run_group_tests(tests, open_plugin, close_plugin);
}
