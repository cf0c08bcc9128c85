/* simulated_faults.c - what the environment says of simulated devices. */
#include <stdlib.h>
#include <string.h>

#include "device/simulated/simulated.h"

static const char *const fault_names[SIMULATED_FAULT_COUNT] = {
    [SIMULATED_LOST] = "lost",         [SIMULATED_ENDLESS] = "endless",
    [SIMULATED_MEMORY] = "memory",     [SIMULATED_SLOW] = "slow",
    [SIMULATED_ABSENT] = "absent",     [SIMULATED_NAMELESS] = "nameless",
    [SIMULATED_UNITLESS] = "unitless", [SIMULATED_KINDLESS] = "kindless",
    [SIMULATED_ASKEW] = "askew",       [SIMULATED_FOREIGN] = "foreign",
};

uint32_t simulated_count(void) {
    const char *given = getenv(SIMULATED_COUNT);
    unsigned long count = given ? strtoul(given, NULL, 10) : 0;
    return count < SIMULATED_DEVICES_MAX ? (uint32_t)count : SIMULATED_DEVICES_MAX;
}

uint64_t simulated_fault_of(uint32_t index, simulated_fault fault) {
    const char *at = getenv(SIMULATED_FAULTS);
    size_t length = strlen(fault_names[fault]);
    while (at && *at) {
        char *end;
        unsigned long number = strtoul(at, &end, 10);
        if (*end == ':' && number == index && strncmp(end + 1, fault_names[fault], length) == 0 &&
            end[1 + length] == '=')
            return strtoull(end + 2 + length, NULL, 10);
        at = strchr(at, ',');
        at = at ? at + 1 : NULL;
    }
    return 0;
}
