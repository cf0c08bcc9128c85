/* interrupt.c - the signal handler. */
#include "interrupt.h"

#include <stddef.h>

volatile sig_atomic_t interrupt_seen;

static void on_signal(int number) {
    (void)number;
    interrupt_seen = 1;
}

void interrupt_watch(void) {
    /* The second signal has its default effect. */
    struct sigaction action = {.sa_handler = on_signal, .sa_flags = (int)SA_RESETHAND};
    sigemptyset(&action.sa_mask);
    sigaction(SIGINT, &action, NULL);
    sigaction(SIGTERM, &action, NULL);
}
