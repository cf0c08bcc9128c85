/* test_threads.c - several threads on one context, as tessera.h allows it; meant for the thread
 * sanitizer. */
#include "test/test.h"

#include <pthread.h>

#include "runtime.h"
#include "test/abi_fixture.h"

enum { THREADS = 4, ROUNDS = 25 };

typedef struct user {
    const fixture *shared;
    int number;
    const char *complaint; /* what went wrong; cmocka's assertions belong to the main thread */
} user;

typedef const char *(*user_fn)(const user *u);

typedef struct start {
    user user;
    user_fn run;
} start;

static void *user_main(void *argument) {
    start *s = argument;
    s->user.complaint = s->run(&s->user);
    return NULL;
}

static void all_at_once(const fixture *shared, const user_fn *runs, size_t count) {
    pthread_t threads[THREADS];
    start starts[THREADS];
    for (int i = 0; i < THREADS; i++) {
        starts[i] = (start){{shared, i, NULL}, runs[(size_t)i % count]};
        assert_int_equal(pthread_create(&threads[i], NULL, user_main, &starts[i]), 0);
    }
    for (int i = 0; i < THREADS; i++)
        pthread_join(threads[i], NULL);
    for (int i = 0; i < THREADS; i++)
        if (starts[i].user.complaint)
            fail_msg("thread %d: %s: %s", i, starts[i].user.complaint, tsrGetLastError());
}

static bool is_right(const float *out) {
    for (int i = 0; i < KERNEL_CELLS; i++)
        if (out[i] != (float)(2 * i + i % 4 + 1))
            return false;
    return true;
}

/* One shared kernel, on a stream and buffers of the thread's own. */
static const char *launch_often(const user *u) {
    float *out;
    tsr_stream_t stream;
    if (tsrAlloc(u->shared->context, 400, TSR_ALLOC_ZERO, (void **)&out) ||
        tsrCreateStream(u->shared->context, &stream))
        return "no memory";
    void *args[] = {u->shared->args[0], &out};
    for (int i = 0; i < ROUNDS; i++)
        if (tsrLaunch(u->shared->kernel, i % 2 ? stream : NULL, (tsr_launch_t){0}, args, 2) ||
            tsrStreamSynchronize(u->shared->context, stream))
            return "a launch failed";
    if (!is_right(out))
        return "a wrong result";
    return tsrDestroyStream(stream) || tsrFree(u->shared->context, out) ? "clean-up failed" : NULL;
}

static const char *load_and_unload(const user *u) {
    bytes image = good_module();
    const char *complaint = NULL;
    for (int i = 0; i < ROUNDS && !complaint; i++) {
        tsr_module_t module;
        tsr_kernel_t kernel;
        tsr_kernel_info_t info = {.struct_size = sizeof info};
        if (tsrLoadModule(u->shared->context, image.data, image.size, &module) ||
            tsrGetKernel(module, "affine", &kernel) || tsrGetKernelInfo(kernel, &info))
            complaint = "loading failed";
        else if (tsrUnloadModule(module))
            complaint = "unloading failed";
    }
    free(image.data);
    return complaint;
}

static const char *allocate_and_free(const user *u) {
    for (int i = 0; i < 10 * ROUNDS; i++) {
        void *first, *second;
        if (tsrAlloc(u->shared->context, (size_t)(i % 7) * 100, TSR_ALLOC_ZERO, &first) ||
            tsrAlloc(u->shared->context, 64, TSR_ALLOC_DEFAULT, &second) ||
            tsrCopy(u->shared->context, second, u->shared->a, 64) ||
            tsrFree(u->shared->context, first) || tsrFree(u->shared->context, second))
            return "memory failed";
    }
    return NULL;
}

/* Events across a stream of the thread's own, with failures that stay the thread's own. */
static const char *mark_and_fail(const user *u) {
    tsr_stream_t stream;
    tsr_event_t from, to;
    uint64_t ns;
    char words[40];
    snprintf(words, sizeof words, "flags 0x%x", 16u << u->number);
    if (tsrCreateStream(u->shared->context, &stream) || tsrCreateEvent(u->shared->context, &from) ||
        tsrCreateEvent(u->shared->context, &to))
        return "creating failed";
    for (int i = 0; i < ROUNDS; i++) {
        void *none;
        if (tsrRecordEvent(from, stream) || tsrRecordEvent(to, stream) || tsrSynchronizeEvent(to) ||
            tsrElapsedTime(from, to, &ns))
            return "an event failed";
        if (tsrAlloc(u->shared->context, 8, 16u << u->number, &none) != TSR_EINVAL ||
            !strstr(tsrGetLastError(), words))
            return "the message of another thread";
    }
    if (tsrDestroyEvent(from) || tsrDestroyEvent(to) || tsrDestroyStream(stream))
        return "destroying failed";
    return NULL;
}

static void threads_share_a_context(void **state) {
    (void)state;
    static const user_fn launching[] = {launch_often},
                         all[] = {launch_often, load_and_unload, allocate_and_free, mark_and_fail};
    for (int way = 0; way < 4; way++) {
        fixture f;
        set_up(&f, 3, way == 1 ? TSR_CONTEXT_DEBUG : 0);
        if (way == 2)
            OK(tsrSetWatchdog(f.context, UINT64_C(60000000000)));
        telemetry_enable(f.context, way == 3);
        all_at_once(&f, launching, 1);
        all_at_once(&f, all, COUNT_OF(all));
        tear_down(&f);
    }
}

static const char *use_a_context(const user *u) {
    fixture f;
    bytes image = good_module();
    (void)u;
    if (tsrCreateContextOn(0, 2, 0, &f.context) ||
        tsrLoadModule(f.context, image.data, image.size, &f.module) ||
        tsrGetKernel(f.module, "affine", &f.kernel))
        return "creating failed";
    free(image.data);
    const fixture own = {f.context, f.module, f.kernel, NULL, NULL, {u->shared->args[0], NULL}};
    const char *complaint = launch_often(&(user){&own, u->number, NULL});
    return tsrUnloadModule(f.module) || tsrDestroyContext(f.context) ? "clean-up failed"
                                                                     : complaint;
}

static void contexts_are_independent(void **state) {
    (void)state;
    static const user_fn runs[] = {use_a_context};
    fixture f;
    set_up(&f, 1, 0);
    all_at_once(&f, runs, 1);
    tear_down(&f);
}

/* Made by one thread, used by another, freed by a third. */
static void *launch_handed_over(void *argument) {
    user *u = argument;
    if (launch(u->shared, NULL))
        u->complaint = "a launch failed";
    return NULL;
}

static void handles_move_between_threads(void **state) {
    (void)state;
    fixture f;
    pthread_t thread;
    set_up(&f, 2, 0);
    for (int i = 0; i < ROUNDS; i++) {
        user u = {&f, i, NULL};
        assert_int_equal(pthread_create(&thread, NULL, launch_handed_over, &u), 0);
        pthread_join(thread, NULL);
        assert_null(u.complaint);
        assert_true(is_right(f.out));
    }
    tear_down(&f);
}

int main(void) {
    SKIP_WITHOUT_KERNELS;
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(threads_share_a_context),
        cmocka_unit_test(contexts_are_independent),
        cmocka_unit_test(handles_move_between_threads),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
