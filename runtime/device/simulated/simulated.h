/* simulated.h - devices that are threads of this process and behave like none: for tests of
 * everything above the drivers.
 *
 * TESSERA_SIMULATED=N in the environment, read whenever devices are listed or opened, makes N of
 * them (at most 16); they have the public indices after the host's. Each queue is a thread. It
 * holds what it was given back for a while, unless somebody waits for it, so commands of two queues
 * run in any order where no event orders them. Code for this machine runs on them unchanged.
 *
 * Their memory is that of soft_hidden.c: the program cannot touch an address of theirs.
 *
 * TESSERA_SIMULATED_FAULTS=DEVICE:FAULT=NUMBER,... gives them faults:
 *   lost=N      the device is gone at its Nth command (counted from 1, over all contexts, copies
 *               and fills included), and stays gone; what is queued behind it never runs
 *   endless=N   its Nth command does not end
 *   memory=N    it has N bytes of memory
 *   slow=N      a copy takes N microseconds more
 *   absent=1    it is listed, and cannot be opened
 *   nameless=1  it has no name
 *   unitless=1  it has no compute units
 *   kindless=1  it has no memory of its own, and maps what it does not have
 *   askew=1     its memory is aligned to 32 bytes
 *   foreign=1   it says that it loads images which it cannot load */
#ifndef TESSERA_RUNTIME_SIMULATED_H
#define TESSERA_RUNTIME_SIMULATED_H

#include "device/device.h"

#define SIMULATED_COUNT "TESSERA_SIMULATED"
#define SIMULATED_FAULTS "TESSERA_SIMULATED_FAULTS"
enum { SIMULATED_DEVICES_MAX = 16 };

typedef enum simulated_fault {
    SIMULATED_LOST,
    SIMULATED_ENDLESS,
    SIMULATED_MEMORY,
    SIMULATED_SLOW,
    SIMULATED_ABSENT,
    SIMULATED_NAMELESS,
    SIMULATED_UNITLESS,
    SIMULATED_KINDLESS,
    SIMULATED_ASKEW,
    SIMULATED_FOREIGN,
    SIMULATED_FAULT_COUNT
} simulated_fault;

/* Settings of the environment: how many devices there are, and the number that a fault of one was
 * given; 0: it does not have the fault. */
uint32_t simulated_count(void);
uint64_t simulated_fault_of(uint32_t index, simulated_fault fault);

/* Bytes of a device that are allocated, in all contexts. */
uint64_t simulated_memory_used(uint32_t index);
/* Plugs lost devices in again, and counts commands anew. None is open. */
void simulated_reset(void);

#endif
