/* test_foreign.c - the device whose kernels are functions of others: calls reach them in the order
 * of submission, with memory that both sides see, and whatever a function does, its caller lives.
 */
#include "test/test.h"

#include <errno.h>
#include <linux/filter.h>
#include <linux/seccomp.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include "base/text.h"
#include "device/foreign/foreign.h"
#include "test/abi_fixture.h"

enum { BYTES = KERNEL_CELLS * sizeof(float), MANY = 1000 };

static uint32_t foreign_index(void) {
    uint32_t count = 0;
    OK(tsrGetDeviceCount(&count));
    for (uint32_t i = 0; i < count; i++) {
        tsr_device_info_t info = {.struct_size = sizeof info};
        OK(tsrGetDeviceInfo(i, &info));
        if (strcmp(info.backend, "foreign") == 0)
            return i;
    }
    fail_msg("there is no device foreign");
    return 0;
}

static void put_tensors(text *out, uint32_t inputs) {
    for (uint32_t i = 0; i < inputs; i++)
        text_printf(out, "%s{\"name\": \"a%u\", \"dtype\": \"f32\", \"shape\": [100]}",
                    i ? ", " : "", i);
}

/* A module whose image is the description of one function. */
static bytes module_for(const char *symbol, uint32_t inputs) {
    static const char output[] = "{\"name\": \"out\", \"dtype\": \"f32\", \"shape\": [100]}";
    text description, json;
    text_init(&description);
    text_init(&json);
    text_printf(&description,
                "{\"kind\": \"shared-object\", \"path\": \"%s\", \"symbol\": \"%s\", \"kernel\": "
                "\"affine\", \"inputs\": %u, \"tensors\": [",
                FOREIGN_FUNCTIONS, symbol, inputs);
    put_tensors(&description, inputs);
    text_printf(&description, ", %s]}", output);
    text_append(&json,
                "{\"schema\": \"tsr.module/2\", \"name\": \"affine\", \"profile\": \"fast\", "
                "\"numerics_version\": 1, \"isa\": \"shared-object\", \"inputs\": [");
    put_tensors(&json, inputs);
    text_printf(&json,
                "], \"outputs\": [%s], \"workspace_bytes\": 0, \"scratch_bytes\": 0, "
                "\"phases\": [{\"symbol\": \"%s\", \"grid\": 1, \"what\": \"call\"}]}",
                output, symbol);
    bytes image = make_module(json.data, "foreign/shared-object",
                              (bytes){description.data, description.length});
    text_release(&description);
    text_release(&json);
    return image;
}

static void open_on(fixture *f, uint32_t threads) {
    *f = (fixture){0};
    OK(tsrCreateContextOn(foreign_index(), threads, 0, &f->context));
    OK(tsrAlloc(f->context, BYTES, TSR_ALLOC_DEFAULT, (void **)&f->a));
    OK(tsrAlloc(f->context, BYTES, TSR_ALLOC_DEFAULT, (void **)&f->out));
    f->args[0] = &f->a;
    f->args[1] = &f->out;
    for (int i = 0; i < KERNEL_CELLS; i++)
        f->a[i] = (float)i;
}

static void take(fixture *f, const char *symbol) {
    bytes image = module_for(symbol, 1);
    OK(tsrLoadModule(f->context, image.data, image.size, &f->module));
    free(image.data);
    OK(tsrGetKernel(f->module, "affine", &f->kernel));
}

static tsr_status_t run(fixture *f, tsr_stream_t stream) {
    return tsrLaunch(f->kernel, stream, (tsr_launch_t){0}, f->args, 2);
}

static void expect_added(const fixture *f, float more) {
    for (int i = 0; i < KERNEL_CELLS; i++)
        if (f->out[i] != (float)i + more)
            fail_msg("out[%d] is %g, not %g", i, f->out[i], (float)i + more);
}

static void a_function_computes_in_shared_memory(void **state) {
    fixture f;
    (void)state;
    open_on(&f, 1);
    take(&f, "plus_one");
    OK(run(&f, NULL));
    expect_added(&f, 1);
    tear_down(&f);
}

/* Memory that is there before the module, memory that comes after it, and memory that goes. */
static void memory_comes_and_goes(void **state) {
    fixture f;
    float *later = NULL;
    (void)state;
    open_on(&f, 1);
    take(&f, "plus_one");
    OK(tsrAlloc(f.context, BYTES, TSR_ALLOC_DEFAULT, (void **)&later));
    void *args[] = {&f.a, &later};
    OK(tsrLaunch(f.kernel, NULL, (tsr_launch_t){0}, args, 2));
    assert_true(later[99] == 100);
    OK(tsrFree(f.context, later));
    OK(run(&f, NULL));
    expect_added(&f, 1);
    tear_down(&f);
}

/* Each call reads what the one before wrote; more calls than the ring has places. */
static void queued_calls_keep_their_order(void **state) {
    fixture f;
    tsr_stream_t stream;
    (void)state;
    open_on(&f, 1);
    take(&f, "plus_one");
    OK(tsrCreateStream(f.context, &stream));
    OK(tsrCopy(f.context, f.out, f.a, BYTES));
    void *forth[] = {&f.a, &f.out}, *back[] = {&f.out, &f.a};
    for (int i = 0; i < MANY; i++)
        OK(tsrLaunch(f.kernel, stream, (tsr_launch_t){0}, i % 2 ? back : forth, 2));
    OK(tsrStreamSynchronize(f.context, stream));
    for (int i = 0; i < KERNEL_CELLS; i++)
        assert_true(f.a[i] == (float)(i + MANY));
    OK(tsrDestroyStream(stream));
    tear_down(&f);
}

/* Two images are two processes; the second's calls wait for the first's. */
/* More tensors than a place of the ring has by itself, and more calls than it holds of them. */
static void many_tensors_go_round(void **state) {
    enum { INPUTS = 300, CALLS = 700 };
    fixture f;
    tsr_stream_t stream;
    float *other;
    void *args[INPUTS + 1];
    (void)state;
    open_on(&f, 1);
    bytes image = module_for("takes_turns", INPUTS);
    OK(tsrLoadModule(f.context, image.data, image.size, &f.module));
    free(image.data);
    OK(tsrGetKernel(f.module, "affine", &f.kernel));
    OK(tsrAlloc(f.context, BYTES, TSR_ALLOC_DEFAULT, (void **)&other));
    OK(tsrCreateStream(f.context, &stream));
    other[0] = 7;
    for (int i = 0; i < INPUTS; i++)
        args[i] = &f.a;
    args[INPUTS] = &f.out;
    for (int i = 0; i < CALLS; i++) {
        args[INPUTS - 1] = i % 2 ? &other : &f.a;
        OK(tsrLaunch(f.kernel, stream, (tsr_launch_t){0}, args, INPUTS + 1));
    }
    OK(tsrStreamSynchronize(f.context, stream));
    OK(tsrDestroyStream(stream));
    OK(tsrFree(f.context, other));
    tear_down(&f);
}

static void two_functions_take_turns(void **state) {
    fixture f;
    tsr_stream_t one, two;
    tsr_module_t slow;
    tsr_kernel_t slow_kernel;
    (void)state;
    open_on(&f, 1);
    take(&f, "plus_one");
    bytes image = module_for("slow_plus_one", 1);
    OK(tsrLoadModule(f.context, image.data, image.size, &slow));
    free(image.data);
    OK(tsrGetKernel(slow, "affine", &slow_kernel));
    OK(tsrCreateStream(f.context, &one));
    OK(tsrCreateStream(f.context, &two));
    void *back[] = {&f.out, &f.a};
    OK(tsrLaunch(slow_kernel, one, (tsr_launch_t){0}, f.args, 2));
    OK(tsrLaunch(f.kernel, two, (tsr_launch_t){0}, back, 2));
    OK(tsrStreamSynchronize(f.context, two));
    assert_true(f.a[7] == 9);
    OK(tsrDestroyStream(one));
    OK(tsrDestroyStream(two));
    OK(tsrUnloadModule(slow));
    tear_down(&f);
}

static void events_have_the_times_of_the_host(void **state) {
    enum { SLEPT_NS = 2000000 };
    fixture f;
    tsr_stream_t stream;
    tsr_event_t begin, end;
    uint64_t took_ns = 0;
    (void)state;
    open_on(&f, 1);
    take(&f, "slow_plus_one");
    OK(tsrCreateStream(f.context, &stream));
    OK(tsrCreateEvent(f.context, &begin));
    OK(tsrCreateEvent(f.context, &end));
    OK(tsrRecordEvent(begin, stream));
    OK(run(&f, stream));
    OK(tsrRecordEvent(end, stream));
    OK(tsrStreamSynchronize(f.context, stream));
    OK(tsrElapsedTime(begin, end, &took_ns));
    assert_true(took_ns >= SLEPT_NS);
    OK(tsrDestroyEvent(begin));
    OK(tsrDestroyEvent(end));
    OK(tsrDestroyStream(stream));
    tear_down(&f);
}

static void a_guest_is_told_its_threads(void **state) {
    fixture f;
    (void)state;
    open_on(&f, 3);
    take(&f, "threads");
    OK(run(&f, NULL));
    assert_true(f.out[0] == 3);
    tear_down(&f);
}

/* The guest is gone, its caller is not: the failure is told, and so it is at the next call. */
static void what_a_function_does_wrong_is_a_status(void **state) {
    static const struct {
        const char *symbol;
        tsr_status_t code;
        const char *words;
        bool lives;
    } wrongs[] = {{"refuses", TSR_EUNAVAILABLE, "refuses", true},
                  {"falls", TSR_EDEVICELOST, "signal 6", false},
                  {"runs_over", TSR_EDEVICELOST, "signal", false}};
    (void)state;
    for (size_t i = 0; i < COUNT_OF(wrongs); i++) {
        fixture f;
        open_on(&f, 1);
        take(&f, wrongs[i].symbol);
        REFUSED(run(&f, NULL), wrongs[i].code, wrongs[i].words);
        REFUSED(run(&f, NULL), wrongs[i].code, wrongs[i].words);
        tear_down(&f);
    }
}

static void a_function_that_never_ends_is_ended(void **state) {
    fixture f;
    (void)state;
    open_on(&f, 1);
    take(&f, "sleeps");
    OK(tsrSetWatchdog(f.context, 50000000));
    REFUSED(run(&f, NULL), TSR_ETIMEOUT, "sleeps");
    OK(tsrDestroyContext(f.context));
}

static void what_cannot_be_loaded_is_refused(void **state) {
    fixture f;
    tsr_module_t module;
    (void)state;
    open_on(&f, 1);
    bytes image = module_for("not_there", 1);
    REFUSED(tsrLoadModule(f.context, image.data, image.size, &module), TSR_ENOTFOUND, "not_there");
    free(image.data);
    setenv("TESSERA_GUEST", "/no/such/program", 1);
    image = module_for("plus_one", 1);
    REFUSED(tsrLoadModule(f.context, image.data, image.size, &module), TSR_EUNAVAILABLE,
            "/no/such/program");
    free(image.data);
    setenv("TESSERA_GUEST", GUEST_PROGRAM, 1);
    OK(tsrFree(f.context, f.a));
    OK(tsrFree(f.context, f.out));
    OK(tsrDestroyContext(f.context));
}

/* ---- namespaces ---- */

static void look_around(float seen[2]) {
    fixture f;
    open_on(&f, 1);
    take(&f, "looks_around");
    OK(run(&f, NULL));
    seen[0] = f.out[0];
    seen[1] = f.out[1];
    tear_down(&f);
}

/* It and the one that waits for its end; without namespaces it sees this process. */
static void a_guest_sees_nobody_else(void **state) {
    float seen[2];
    status why = STATUS_INIT;
    (void)state;
    if (foreign_is_apart(&why)) {
        look_around(seen);
        assert_true(seen[0] == 0 && seen[1] == 2);
    } else {
        print_message("skipped: %s\n", why.message);
    }
    setenv("TESSERA_GUESTS", "together", 1);
    assert_false(foreign_is_apart(&why));
    look_around(seen);
    assert_true(seen[0] == (float)getpid());
    unsetenv("TESSERA_GUESTS");
}

static bool has_children(void) {
    int child;
    FILE *file = fopen("/proc/thread-self/children", "re");
    assert_non_null(file);
    bool any = fscanf(file, "%d", &child) == 1;
    (void)fclose(file);
    return any;
}

static void what_a_guest_hides_ends_with_it(void **state) {
    fixture f;
    status why = STATUS_INIT;
    (void)state;
    if (!foreign_is_apart(&why)) {
        print_message("skipped: %s\n", why.message);
        return;
    }
    open_on(&f, 1);
    take(&f, "hides_a_child");
    OK(run(&f, NULL));
    assert_true(has_children());
    tear_down(&f);
    assert_false(has_children());
}

/* Guests are started all the same. */
static void namespaces_that_are_refused_are_done_without(void **state) {
    struct sock_filter rules[] = {
        {BPF_LD | BPF_W | BPF_ABS, 0, 0, offsetof(struct seccomp_data, nr)},
        {BPF_JMP | BPF_JEQ | BPF_K, 0, 1, SYS_unshare},
        {BPF_RET | BPF_K, 0, 0, SECCOMP_RET_ERRNO | EPERM},
        {BPF_RET | BPF_K, 0, 0, SECCOMP_RET_ALLOW}};
    const struct sock_fprog program = {sizeof rules / sizeof *rules, rules};
    float seen[2];
    status why = STATUS_INIT;
    int how = -1;
    (void)state;
    pid_t child = fork();
    if (child == 0) {
        if (prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) != 0 ||
            prctl(PR_SET_SECCOMP, SECCOMP_MODE_FILTER, &program, 0, 0) != 0)
            _exit(0);
        bool apart = foreign_is_apart(&why);
        look_around(seen);
        _exit(apart || why.code == STATUS_OK || seen[0] != (float)getpid());
    }
    assert_int_equal(waitpid(child, &how, 0), child);
    assert_int_equal(how, 0);
}

int main(void) {
    /* Guests read it: a sanitized one would make a report of its own of a crash. */
    setenv("ASAN_OPTIONS", "handle_segv=0:handle_abort=0:handle_sigbus=0", 1);
    setenv("TESSERA_GUEST", GUEST_PROGRAM, 1);
    setenv("TESSERA_FOREIGN", "1", 1);
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(namespaces_that_are_refused_are_done_without),
        cmocka_unit_test(a_guest_sees_nobody_else),
        cmocka_unit_test(what_a_guest_hides_ends_with_it),
        cmocka_unit_test(a_function_computes_in_shared_memory),
        cmocka_unit_test(memory_comes_and_goes),
        cmocka_unit_test(queued_calls_keep_their_order),
        cmocka_unit_test(many_tensors_go_round),
        cmocka_unit_test(two_functions_take_turns),
        cmocka_unit_test(events_have_the_times_of_the_host),
        cmocka_unit_test(a_guest_is_told_its_threads),
        cmocka_unit_test(what_a_function_does_wrong_is_a_status),
        cmocka_unit_test(a_function_that_never_ends_is_ended),
        cmocka_unit_test(what_cannot_be_loaded_is_refused),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
