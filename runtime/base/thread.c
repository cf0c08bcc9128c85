/* thread.c - see thread.h. */
#include "base/thread.h"

#include <signal.h>
#include <stddef.h>

bool thread_start(pthread_t *thread_out, void *(*run)(void *), void *argument) {
    static const int faults[] = {SIGSEGV, SIGBUS, SIGFPE, SIGILL, SIGTRAP, SIGABRT};
    sigset_t blocked, saved;
    sigfillset(&blocked);
    for (size_t i = 0; i < sizeof faults / sizeof faults[0]; i++)
        sigdelset(&blocked, faults[i]);
    pthread_sigmask(SIG_SETMASK, &blocked, &saved); /* a new thread inherits the mask */
    bool started = pthread_create(thread_out, NULL, run, argument) == 0;
    pthread_sigmask(SIG_SETMASK, &saved, NULL);
    return started;
}

void thread_condition_init(pthread_cond_t *condition) {
    pthread_condattr_t monotonic;
    pthread_condattr_init(&monotonic);
    pthread_condattr_setclock(&monotonic, CLOCK_MONOTONIC);
    pthread_cond_init(condition, &monotonic);
    pthread_condattr_destroy(&monotonic);
}

void thread_condition_wait(pthread_cond_t *condition, pthread_mutex_t *mutex, uint64_t until_ns) {
    enum { SECOND_NS = 1000000000 };
    struct timespec time = {(time_t)(until_ns / SECOND_NS), (long)(until_ns % SECOND_NS)};
    (void)pthread_cond_timedwait(condition, mutex, &time);
}
