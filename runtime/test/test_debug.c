/* test_debug.c - TSR_CONTEXT_DEBUG: kernels that leave their bounds are caught, and what they read
 * without having written it is told apart from data. */
#include "test/test.h"

#include <signal.h>
#include <sys/wait.h>
#include <unistd.h>

#include "test/abi_fixture.h"

static const uint32_t poison = 0xCBCBCBCB;

typedef struct wrong_kernel {
    const char *phase, *words, *where;
} wrong_kernel;

static void broken_canaries_name_the_buffer(void **state) {
    (void)state;
    static const wrong_kernel kernels[] = {
        {"phase_past_end", "buffer 'out'", "bytes after its 400"},
        {"phase_before", "buffer 'out'", "bytes before its 400"},
        {"phase_well_before", "buffer 'out'", "bytes before its 400"},
        {"phase_past_workspace", "workspace", "bytes after its 400"},
        {"phase_before_scratch", "scratch of thread", "bytes before its 64"},
    };
    for (size_t i = 0; i < COUNT_OF(kernels); i++) {
        for (uint32_t threads = 1; threads <= 2; threads++) {
            fixture f;
            set_up_probe(&f, threads, TSR_CONTEXT_DEBUG, kernels[i].phase);
            REFUSED(launch(&f, NULL), TSR_EINTERNAL, kernels[i].words);
            REFUSED(launch(&f, NULL), TSR_EINTERNAL, kernels[i].where); /* told anew each time */
            assert_non_null(strstr(tsrGetLastError(), "kernel 'affine'"));
            tear_down(&f); /* the canaries are mended: freeing tells nothing twice */
        }
    }
}

/* Runs the kernel in a child; returns 0, or the signal that ended it. */
static int signal_of(const fixture *f) {
    int how;
    pid_t child = fork();
    assert_true(child >= 0);
    if (child == 0) {
        signal(SIGSEGV, SIG_DFL); /* a sanitizer's handler would print a report */
        _exit(launch(f, NULL) == TSR_SUCCESS ? 0 : 1);
    }
    assert_int_equal(waitpid(child, &how, 0), child);
    return WIFSIGNALED(how) ? WTERMSIG(how) : 0;
}

/* One thread: a forked child has no others, and the kernel runs on the caller. */
static void guard_pages_stop_a_kernel_at_once(void **state) {
    (void)state;
    static const char *const kernels[] = {"phase_far_past_end", "phase_far_before"};
    for (size_t i = 0; i < COUNT_OF(kernels); i++) {
        fixture f;
        set_up_probe(&f, 1, TSR_CONTEXT_DEBUG, kernels[i]);
        assert_int_equal(signal_of(&f), SIGSEGV);
        tear_down(&f);
    }
    fixture sound;
    set_up_probe(&sound, 1, TSR_CONTEXT_DEBUG, "phase_copy");
    assert_int_equal(signal_of(&sound), 0);
    tear_down(&sound);
}

static void uninitialised_memory_is_poison(void **state) {
    (void)state;
    static const char *const kernels[] = {"phase_copy", "phase_from_workspace",
                                          "phase_from_scratch"};
    for (size_t i = 0; i < COUNT_OF(kernels); i++) {
        for (uint32_t threads = 1; threads <= 2; threads++) {
            fixture f;
            uint32_t *fresh;
            set_up_probe(&f, threads, TSR_CONTEXT_DEBUG, kernels[i]);
            OK(tsrAlloc(f.context, 400, TSR_ALLOC_DEFAULT, (void **)&fresh));
            void *args[] = {&fresh, &f.out};
            OK(tsrLaunch(f.kernel, NULL, (tsr_launch_t){0}, args, 2));
            for (int workgroup = 0; workgroup < KERNEL_CELLS; workgroup++)
                assert_int_equal(((uint32_t *)f.out)[workgroup], poison);
            OK(tsrFree(f.context, fresh));
            tear_down(&f);
        }
    }
}

static void memory_is_checked_when_it_is_freed(void **state) {
    (void)state;
    fixture f;
    unsigned char *p, *zeroed;
    set_up(&f, 1, TSR_CONTEXT_DEBUG);
    OK(tsrAlloc(f.context, 130, TSR_ALLOC_DEFAULT, (void **)&p));
    OK(tsrAlloc(f.context, 130, TSR_ALLOC_ZERO, (void **)&zeroed));
    for (int i = 0; i < 130; i++)
        assert_true(p[i] == 0xCB && zeroed[i] == 0);
    p[-1] = 0;
    REFUSED(tsrFree(f.context, p), TSR_EINTERNAL, "bytes before its 130");
    zeroed[130] = 1;
    REFUSED(tsrFree(f.context, zeroed), TSR_EINTERNAL, "bytes after its 130");
    REFUSED(tsrFree(f.context, zeroed), TSR_EINVAL, "freed already?");
    tear_down(&f);
}

/* The caller's own mistakes are seen too, and told apart from a kernel's arguments. */
static void a_broken_allocation_that_is_no_argument_is_told(void **state) {
    (void)state;
    fixture f;
    unsigned char *p;
    set_up(&f, 1, TSR_CONTEXT_DEBUG);
    OK(tsrAlloc(f.context, 10, TSR_ALLOC_DEFAULT, (void **)&p));
    p[10] = 0;
    REFUSED(launch(&f, NULL), TSR_EINTERNAL, "that is no argument");
    OK(tsrFree(f.context, p));
    tear_down(&f);
}

int main(void) {
    SKIP_WITHOUT_KERNELS;
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(broken_canaries_name_the_buffer),
        cmocka_unit_test(guard_pages_stop_a_kernel_at_once),
        cmocka_unit_test(uninitialised_memory_is_poison),
        cmocka_unit_test(memory_is_checked_when_it_is_freed),
        cmocka_unit_test(a_broken_allocation_that_is_no_argument_is_told),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
