/* interrupt.h - Ctrl-C, once: the run ends after what is in hand, a second one ends the program. */
#ifndef TESSERA_HARNESS_INTERRUPT_H
#define TESSERA_HARNESS_INTERRUPT_H

#include <signal.h>

/* Set by SIGINT and SIGTERM after interrupt_watch. */
extern volatile sig_atomic_t interrupt_seen;
void interrupt_watch(void);

#endif
