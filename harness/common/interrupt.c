/* interrupt.c - the signal handler, and its phases. */
#include "common/interrupt.h"

#include <stddef.h>
#include <unistd.h>

#include "base/file.h"
#include "common/exit_code.h"

volatile sig_atomic_t interrupt_seen;

enum phase { AT_ONCE, WATCHED, SETTLED };
static volatile sig_atomic_t phase = AT_ONCE;

static void on_signal(int number) {
    (void)number;
    if (phase == AT_ONCE) {
        file_discard_unfinished();
        _exit(EXIT_INTERRUPTED);
    }
    if (phase == WATCHED)
        interrupt_seen = 1;
}

static void handle(void) {
    /* The second signal has its default effect. */
    struct sigaction action = {.sa_handler = on_signal, .sa_flags = (int)SA_RESETHAND};
    sigemptyset(&action.sa_mask);
    sigaction(SIGINT, &action, NULL);
    sigaction(SIGTERM, &action, NULL);
}

void interrupt_begin(void) {
    phase = AT_ONCE;
    handle();
}

void interrupt_watch(void) {
    if (interrupt_seen)
        return;
    phase = WATCHED;
    handle();
}

bool interrupt_settle(void) {
    sigset_t both, before;
    sigemptyset(&both);
    sigaddset(&both, SIGINT);
    sigaddset(&both, SIGTERM);
    sigprocmask(SIG_BLOCK, &both, &before);
    if (!interrupt_seen)
        phase = SETTLED;
    sigprocmask(SIG_SETMASK, &before, NULL);
    return !interrupt_seen;
}
