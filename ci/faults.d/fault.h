/* fault.h - included first in each file that ci/faults plants faults in: is it the chosen one? */
#ifndef TESSERA_CI_FAULT_H
#define TESSERA_CI_FAULT_H

#include <stdbool.h>

extern int tsr_fault_chosen __attribute__((visibility("hidden")));
extern unsigned char *tsr_fault_seen __attribute__((visibility("hidden")));

/* Where it stands is marked as reached, whichever is chosen. */
static inline __attribute__((unused)) bool tsr_fault(int number) {
    if (!tsr_fault_seen[number])
        tsr_fault_seen[number] = 1;
    return number == tsr_fault_chosen;
}

#endif
