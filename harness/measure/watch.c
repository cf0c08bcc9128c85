/* watch.c - see watch.h. */
#include "measure/watch.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <math.h>
#include <stdio.h>
#include <string.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include "common/timer.h"
#include "measure/ticks.h"

#if defined(__x86_64__)
#include <immintrin.h>
#endif

enum {
    LOOK_NS = 2000000,
    SIGNAL_SET_BYTES = 8,
    OF_C_LIBRARY = 32,  /* and 33: glibc takes them when the first thread begins */
    PARTS_LEAST = 8,    /* fewer say nothing */
    STEP_NS = 100,      /* of two counters, the slowest of 24 MHz */
    SLACK_PER_MILLE = 8 /* calibration and rounding */
};

/* struct sigaction as the kernel has it. */
typedef struct kernel_action {
    void *handler;
    unsigned long flags;
    void *restorer;
    uint64_t mask;
} kernel_action;

static void read_fp(uint32_t *control, uint16_t *x87) {
    *control = 0;
    *x87 = 0;
#if defined(__x86_64__)
    *control = _mm_getcsr() & ~(uint32_t)0x3F; /* without the flags of what has happened */
    __asm__ volatile("fnstcw %0" : "=m"(*x87));
#elif defined(__aarch64__)
    uint64_t fpcr;
    __asm__ volatile("mrs %0, fpcr" : "=r"(fpcr));
    *control = (uint32_t)fpcr;
#endif
}

static void read_signals(struct watch_signal signals[WATCH_SIGNALS]) {
    memset(signals, 0, WATCH_SIGNALS * sizeof *signals);
    for (int number = 1; number < WATCH_SIGNALS; number++) {
        kernel_action action = {0};
        if (number == OF_C_LIBRARY || number == OF_C_LIBRARY + 1)
            continue;
        if (syscall(SYS_rt_sigaction, number, NULL, &action, SIGNAL_SET_BYTES) == 0)
            signals[number] = (struct watch_signal){action.handler, action.flags};
    }
}

static uint64_t read_blocked(void) {
    uint64_t set = 0;
    (void)syscall(SYS_rt_sigprocmask, 0, NULL, &set, SIGNAL_SET_BYTES);
    return set;
}

/* Checks that a thread is there to stay: one that was joined may be seen for a moment on its way
 * out. */
static bool is_running(int directory, const char *thread) {
    enum { EXITING = 0x4 }; /* PF_EXITING */
    char path[64], line[512], state = 'X';
    unsigned flags = EXITING;
    snprintf(path, sizeof path, "%.20s/stat", thread);
    int fd = openat(directory, path, O_RDONLY | O_CLOEXEC);
    ssize_t length = fd < 0 ? -1 : read(fd, line, sizeof line - 1);
    if (fd >= 0)
        close(fd);
    if (length <= 0)
        return false;
    line[length] = '\0';
    const char *rest = strrchr(line, ')');
    if (!rest || sscanf(rest + 1, " %c %*d %*d %*d %*d %*d %u", &state, &flags) != 2)
        return false;
    return state != 'Z' && state != 'X' && !(flags & EXITING);
}

/* 0 where the kernel does not say. */
static uint32_t count_threads(void) {
    uint32_t count = 0;
    DIR *list = opendir("/proc/self/task");
    for (struct dirent *entry; list && (entry = readdir(list)) != NULL;)
        count += entry->d_name[0] != '.' && is_running(dirfd(list), entry->d_name);
    if (list)
        closedir(list);
    return count;
}

/* Children of any kind, clones without a signal at their end included. */
static bool has_children(void) {
    siginfo_t about;
    return waitid(P_ALL, 0, &about, WEXITED | WNOHANG | WNOWAIT | __WALL) == 0 || errno != ECHILD;
}

/* Both clocks at one moment: of a few readings the one that was not interrupted. */
static watch_moment read_pair(void) {
    enum { TRIES = 5 };
    watch_moment best = {0, 0};
    uint64_t least = UINT64_MAX;
    for (int i = 0; i < TRIES; i++) {
        uint64_t before = ticks_now(), kernel = ticks_kernel_ns(), took = ticks_now() - before;
        if (took < least)
            best = (watch_moment){before + took / 2, kernel};
        least = took < least ? took : least;
    }
    return best;
}

static struct watch_offset read_offset(void) {
    enum { TRIES = 5 };
    struct watch_offset best = {0, UINT64_MAX};
    for (int i = 0; i < TRIES; i++) {
        uint64_t before = ticks_kernel_ns(), ours = timer_now_ns(), after = ticks_kernel_ns();
        if (after - before < best.within_ns)
            best = (struct watch_offset){(int64_t)(ours - before), after - before};
    }
    return best;
}

void watch_expect_threads(watch *w) {
    w->threads = 0;
}

void watch_begin(watch *w, uint32_t more_threads) {
    memset(w, 0, sizeof *w);
    read_fp(&w->fp_control, &w->x87_control);
    read_signals(w->signals);
    w->blocked = read_blocked();
    w->threads = count_threads();
    if (w->threads)
        w->threads += more_threads;
    w->had_children = has_children();
    w->scheduled = foreign_thread_of((pid_t)syscall(SYS_gettid));
    watch_moment pair = read_pair();
    w->ticks = pair.ticks;
    w->kernel_ns = pair.kernel_ns;
    w->offset = read_offset();
    w->looked_ns = w->kernel_ns;
}

/* ---- clocks ---- */

watch_moment watch_now(void) {
    if (ticks_are_constant())
        return (watch_moment){ticks_now(), 0};
    return (watch_moment){0, ticks_kernel_ns()};
}

/* Time that the part took by another clock. The counter's rate is what it has been since the
 * beginning. */
static double other_clock_ns(const watch *w, const watch_moment *before,
                             const watch_moment *after) {
    if (!before->ticks)
        return (double)(after->kernel_ns - before->kernel_ns);
    watch_moment now = read_pair();
    double rate = (double)(now.kernel_ns - w->kernel_ns) / (double)(now.ticks - w->ticks);
    return (double)(after->ticks - before->ticks) * rate;
}

void watch_part(watch *w, const watch_part_moments *moments, uint64_t timed_ns) {
    double least = other_clock_ns(w, &moments->after_start, &moments->before_end),
           most = other_clock_ns(w, &moments->before_start, &moments->after_end),
           ours = (double)timed_ns, slack = STEP_NS + SLACK_PER_MILLE * 1e-3 * ours;
    w->parts++;
    if (least <= ours + slack && most >= ours - slack)
        return;
    w->odd_parts++;
    w->worst = ours > 0 ? (least > ours ? least : most) / ours : 0;
}

/* A part that was interrupted between two readings is odd, and rare; a clock that is bent makes
 * most of them odd. */
static bool clocks_agree(const watch *w, status *st) {
    if (w->parts >= PARTS_LEAST && w->odd_parts * 2 > w->parts)
        return status_set(st, STATUS_MISMATCH,
                          "the clock was changed: in %" PRIu64 " of %" PRIu64
                          " timed parts another clock disagrees with it (the last: %.3g times as "
                          "long)",
                          w->odd_parts, w->parts, w->worst);
    struct watch_offset now = read_offset();
    double passed = (double)(ticks_kernel_ns() - w->kernel_ns);
    double moved = (double)(now.ns - w->offset.ns);
    double slack =
        1e6 + SLACK_PER_MILLE * 1e-3 * passed + (double)now.within_ns + (double)w->offset.within_ns;
    if (fabs(moved) > slack)
        return status_set(st, STATUS_MISMATCH,
                          "the clock was changed: it moved by %.0f us against the kernel's while "
                          "%.0f us passed",
                          moved * 1e-3, passed * 1e-3);
    return true;
}

/* ---- everything else ---- */

static bool fp_is_as_it_was(const watch *w, status *st) {
    uint32_t control;
    uint16_t x87;
    read_fp(&control, &x87);
    if (control == w->fp_control && x87 == w->x87_control)
        return true;
    return status_set(st, STATUS_MISMATCH,
                      "the floating-point environment was changed: control 0x%x, and 0x%x before",
                      control, w->fp_control);
}

static bool signals_are_as_they_were(const watch *w, status *st) {
    struct watch_signal now[WATCH_SIGNALS];
    read_signals(now);
    for (int i = 1; i < WATCH_SIGNALS; i++)
        if (now[i].handler != w->signals[i].handler || now[i].flags != w->signals[i].flags)
            return status_set(st, STATUS_MISMATCH, "the handler of signal %d was changed", i);
    return read_blocked() == w->blocked ||
           status_set(st, STATUS_MISMATCH, "the mask of blocked signals was changed");
}

static bool nobody_is_left(const watch *w, status *st) {
    uint32_t threads = count_threads();
    if (w->threads && threads > w->threads)
        return status_set(st, STATUS_MISMATCH,
                          "threads are running that the kernel left behind (%u): work that goes on "
                          "after a launch has returned is not timed",
                          threads - w->threads);
    if (!w->had_children && has_children())
        return status_set(st, STATUS_MISMATCH, "a process is running that the kernel left behind");
    return true;
}

static bool is_scheduled_as_it_was(const watch *w, status *st) {
    foreign_thread now = foreign_thread_of(w->scheduled.id);
    return (now.policy == w->scheduled.policy && now.nice == w->scheduled.nice &&
            now.cores == w->scheduled.cores) ||
           status_set(st, STATUS_MISMATCH,
                      "how the process that measures is scheduled was changed: policy %d, nice %d; "
                      "before policy %d, nice %d",
                      now.policy, now.nice, w->scheduled.policy, w->scheduled.nice);
}

bool watch_look(watch *w, bool all, status *st) {
    if (!fp_is_as_it_was(w, st))
        return false;
    uint64_t now = ticks_kernel_ns();
    if (!all && now - w->looked_ns < LOOK_NS)
        return true;
    w->looked_ns = now;
    return clocks_agree(w, st) && signals_are_as_they_were(w, st) && nobody_is_left(w, st) &&
           is_scheduled_as_it_was(w, st);
}
