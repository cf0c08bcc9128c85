/* sandbox.c - see sandbox.h. A list of what is allowed; all else gives EPERM. */
#include "sandbox.h"

#include <errno.h>
#include <fcntl.h>
#include <linux/perf_event.h>
#include <sched.h>
#include <seccomp.h>
#include <signal.h>
#include <stdatomic.h>
#include <stdint.h>
#include <sys/ioctl.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <unistd.h>

#include "base/sanitizer.h"
#include "landlock.h"

enum { FILES_MAX = 256 };

/* The sanitizers' leak check traces its process from another, which the filter refuses:
 * it is done now, and then not again. */
#if BUILT_WITH_ASAN
#include <sanitizer/lsan_interface.h>
#define CHECK_LEAKS_NOW() __lsan_do_leak_check()
#else
#define CHECK_LEAKS_NOW() ((void)0)
#endif

/* Whatever their arguments. */
static const int allowed[] = {
    /* what is open already */
    SCMP_SYS(read),
    SCMP_SYS(write),
    SCMP_SYS(pread64),
    SCMP_SYS(pwrite64),
    SCMP_SYS(readv),
    SCMP_SYS(writev),
    SCMP_SYS(preadv),
    SCMP_SYS(pwritev),
    SCMP_SYS(preadv2),
    SCMP_SYS(pwritev2),
    SCMP_SYS(lseek),
    SCMP_SYS(close),
    SCMP_SYS(close_range),
    SCMP_SYS(dup),
    SCMP_SYS(dup2),
    SCMP_SYS(dup3),
    SCMP_SYS(pipe),
    SCMP_SYS(pipe2),
    SCMP_SYS(poll),
    SCMP_SYS(ppoll),
    SCMP_SYS(select),
    SCMP_SYS(pselect6),
    SCMP_SYS(epoll_create1),
    SCMP_SYS(epoll_ctl),
    SCMP_SYS(epoll_wait),
    SCMP_SYS(epoll_pwait),
    SCMP_SYS(eventfd2),
    SCMP_SYS(fadvise64),
    SCMP_SYS(readahead),
    /* looking at files */
    SCMP_SYS(access),
    SCMP_SYS(faccessat),
    SCMP_SYS(faccessat2),
    SCMP_SYS(stat),
    SCMP_SYS(fstat),
    SCMP_SYS(lstat),
    SCMP_SYS(newfstatat),
    SCMP_SYS(statx),
    SCMP_SYS(statfs),
    SCMP_SYS(fstatfs),
    SCMP_SYS(readlink),
    SCMP_SYS(readlinkat),
    SCMP_SYS(getdents64),
    SCMP_SYS(getcwd),
    /* memory */
    SCMP_SYS(mmap),
    SCMP_SYS(munmap),
    SCMP_SYS(mprotect),
    SCMP_SYS(mremap),
    SCMP_SYS(madvise),
    SCMP_SYS(msync),
    SCMP_SYS(mincore),
    SCMP_SYS(mlock),
    SCMP_SYS(mlock2),
    SCMP_SYS(munlock),
    SCMP_SYS(mlockall),
    SCMP_SYS(munlockall),
    SCMP_SYS(brk),
    SCMP_SYS(membarrier),
    SCMP_SYS(mbind),
    SCMP_SYS(get_mempolicy),
    SCMP_SYS(set_mempolicy),
    SCMP_SYS(pkey_alloc),
    SCMP_SYS(pkey_free),
    SCMP_SYS(pkey_mprotect),
    /* threads and their end */
    SCMP_SYS(futex),
    SCMP_SYS(futex_waitv),
    SCMP_SYS(set_robust_list),
    SCMP_SYS(get_robust_list),
    SCMP_SYS(set_tid_address),
    SCMP_SYS(rseq),
    SCMP_SYS(arch_prctl),
    SCMP_SYS(prctl),
    SCMP_SYS(gettid),
    SCMP_SYS(sched_yield),
    SCMP_SYS(sched_getaffinity),
    SCMP_SYS(sched_getparam),
    SCMP_SYS(sched_getscheduler),
    SCMP_SYS(getcpu),
    SCMP_SYS(exit),
    SCMP_SYS(exit_group),
    SCMP_SYS(restart_syscall),
    /* signals of its own */
    SCMP_SYS(rt_sigaction),
    SCMP_SYS(rt_sigprocmask),
    SCMP_SYS(rt_sigreturn),
    SCMP_SYS(rt_sigpending),
    SCMP_SYS(rt_sigsuspend),
    SCMP_SYS(rt_sigtimedwait),
    SCMP_SYS(sigaltstack),
    SCMP_SYS(pause),
    /* time */
    SCMP_SYS(clock_gettime),
    SCMP_SYS(clock_getres),
    SCMP_SYS(clock_nanosleep),
    SCMP_SYS(gettimeofday),
    SCMP_SYS(time),
    SCMP_SYS(times),
    SCMP_SYS(nanosleep),
    SCMP_SYS(setitimer),
    SCMP_SYS(getitimer),
    SCMP_SYS(alarm),
    /* who and where it is */
    SCMP_SYS(getpid),
    SCMP_SYS(getppid),
    SCMP_SYS(getpgrp),
    SCMP_SYS(getuid),
    SCMP_SYS(geteuid),
    SCMP_SYS(getgid),
    SCMP_SYS(getegid),
    SCMP_SYS(getresuid),
    SCMP_SYS(getresgid),
    SCMP_SYS(getrusage),
    SCMP_SYS(getrlimit),

    SCMP_SYS(sysinfo),
    SCMP_SYS(uname),
    SCMP_SYS(getrandom),
    SCMP_SYS(umask),
};

/* Argument `index` is `value` in the bits of `mask`. */
typedef struct condition {
    unsigned index;
    uint64_t mask, value;
} condition;

/* Masks an int to the 32 bits that the kernel looks at. */
#define IS(index, number) ((condition){(index), UINT32_MAX, (uint32_t)(number)})
#define IS_NULL(index) ((condition){(index), UINT64_MAX, 0})

/* Adds a rule, unless an earlier one failed. */
static void allow_if(scmp_filter_ctx filter, int call, const condition *conditions, unsigned count,
                     int *error) {
    struct scmp_arg_cmp compared[2];
    for (unsigned i = 0; i < count; i++)
        compared[i] = (struct scmp_arg_cmp){conditions[i].index, SCMP_CMP_MASKED_EQ,
                                            conditions[i].mask, conditions[i].value};
    if (!*error)
        *error = seccomp_rule_add_array(filter, SCMP_ACT_ALLOW, call, count, compared);
}

static void allow_reading(scmp_filter_ctx filter, int *error) {
    /* O_TMPFILE without the O_DIRECTORY that is part of it. */
    const uint64_t writing =
        O_WRONLY | O_RDWR | O_CREAT | O_TRUNC | ((uint64_t)O_TMPFILE & ~(uint64_t)O_DIRECTORY);
    allow_if(filter, SCMP_SYS(open), &(condition){1, writing, 0}, 1, error);
    allow_if(filter, SCMP_SYS(openat), &(condition){2, writing, 0}, 1, error);
}

static void allow_threads(scmp_filter_ctx filter, int *error) {
    allow_if(filter, SCMP_SYS(clone), &(condition){0, CLONE_THREAD, CLONE_THREAD}, 1, error);
}

/* Their flags lie in memory, where a filter cannot look. To callers these are calls of a newer
 * kernel, and they go on with openat and clone. */
static int hide_newer(scmp_filter_ctx filter) {
    int error = seccomp_rule_add(filter, SCMP_ACT_ERRNO(ENOSYS), SCMP_SYS(openat2), 0);
    return error ? error : seccomp_rule_add(filter, SCMP_ACT_ERRNO(ENOSYS), SCMP_SYS(clone3), 0);
}

/* Calls that name a process: itself alone. Limits are looked at, not set: root could raise them. */
static void allow_itself(scmp_filter_ctx filter, int *error) {
    const pid_t own = getpid();
    allow_if(filter, SCMP_SYS(kill), &IS(0, own), 1, error);
    allow_if(filter, SCMP_SYS(tgkill), &IS(0, own), 1, error);
    allow_if(filter, SCMP_SYS(prlimit64), (condition[]){IS(0, 0), IS_NULL(2)}, 2, error);
    allow_if(filter, SCMP_SYS(prlimit64), (condition[]){IS(0, own), IS_NULL(2)}, 2, error);
    allow_if(filter, SCMP_SYS(sched_setaffinity), &IS(0, 0), 1, error);
    allow_if(filter, SCMP_SYS(perf_event_open), &IS(1, 0), 1, error);
}

static void allow_requests(scmp_filter_ctx filter, int *error) {
    static const unsigned long ioctls[] = {TCGETS,
                                           FIONREAD,
                                           PERF_EVENT_IOC_ENABLE,
                                           PERF_EVENT_IOC_DISABLE,
                                           PERF_EVENT_IOC_RESET,
                                           PERF_EVENT_IOC_ID};
    static const int fcntls[] = {F_DUPFD, F_DUPFD_CLOEXEC, F_GETFD, F_SETFD, F_GETFL, F_SETFL};
    for (size_t i = 0; i < sizeof ioctls / sizeof ioctls[0]; i++)
        allow_if(filter, SCMP_SYS(ioctl), &IS(1, ioctls[i]), 1, error);
    for (size_t i = 0; i < sizeof fcntls / sizeof fcntls[0]; i++)
        allow_if(filter, SCMP_SYS(fcntl), &IS(1, fcntls[i]), 1, error);
}

static int fill(scmp_filter_ctx filter) {
    int error = seccomp_attr_set(filter, SCMP_FLTATR_CTL_TSYNC, 1);
    /* A tree of comparisons: kernels call little, but they should not wait for a list. */
    if (!error)
        error = seccomp_attr_set(filter, SCMP_FLTATR_CTL_OPTIMIZE, 2);
    for (size_t i = 0; i < sizeof allowed / sizeof allowed[0]; i++)
        allow_if(filter, allowed[i], NULL, 0, &error);
    allow_reading(filter, &error);
    allow_threads(filter, &error);
    allow_itself(filter, &error);
    allow_requests(filter, &error);
    return error ? error : hide_newer(filter);
}

static bool enter_filter(status *st) {
    scmp_filter_ctx filter = seccomp_init(SCMP_ACT_ERRNO(EPERM));
    if (!filter)
        return status_set(st, STATUS_OUT_OF_MEMORY, "no memory for a seccomp filter");
    int error = fill(filter);
    if (!error)
        error = seccomp_load(filter);
    seccomp_release(filter);
    return !error ||
           status_set(st, STATUS_UNAVAILABLE,
                      "this system refuses a seccomp filter, so nothing is run: error %d", -error);
}

static atomic_bool files_hidden;

bool sandbox_hides_files(void) {
    return atomic_load(&files_hidden);
}

static bool enter_limits(status *st) {
    static const struct rlimit none = {0, 0}, files = {FILES_MAX, FILES_MAX};
    struct rlimit now;
    bool more = getrlimit(RLIMIT_NOFILE, &now) == 0 && now.rlim_max > FILES_MAX;
    if (signal(SIGXFSZ, SIG_IGN) == SIG_ERR || setrlimit(RLIMIT_FSIZE, &none) != 0 ||
        setrlimit(RLIMIT_CORE, &none) != 0 || (more && setrlimit(RLIMIT_NOFILE, &files) != 0))
        return status_set_errno(st, errno, "cannot limit what a process writes and opens");
    return true;
}

bool sandbox_enter(const char *folder, status *st) {
    static atomic_bool entered;
    bool hidden;
    if (atomic_load(&entered))
        return true;
    CHECK_LEAKS_NOW();
    if (prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) != 0)
        return status_set_errno(st, errno, "cannot give up new privileges");
    if (!enter_limits(st) || !landlock_enter(folder, &hidden, st) || !enter_filter(st))
        return false;
    atomic_store(&files_hidden, hidden);
    atomic_store(&entered, true);
    return true;
}
