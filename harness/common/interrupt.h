/* interrupt.h - Ctrl-C and SIGTERM: 130 and no verdict, whenever they come.
 *
 * A command begins in a phase in which a signal ends the program at once. One that has work to put
 * in order watches: then it is told, and ends after what is in hand. Before it says what it found,
 * it settles: what came before counts, what comes after changes nothing any more. A second signal
 * ends the program in any phase. */
#ifndef TESSERA_HARNESS_COMMON_INTERRUPT_H
#define TESSERA_HARNESS_COMMON_INTERRUPT_H

#include <signal.h>
#include <stdbool.h>

/* Set by the first SIGINT or SIGTERM after interrupt_watch. */
extern volatile sig_atomic_t interrupt_seen;

void interrupt_begin(void);
void interrupt_watch(void);
/* Lets the command say what it found. False: it was interrupted, and there is no verdict. */
bool interrupt_settle(void);

#endif
