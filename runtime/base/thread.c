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
