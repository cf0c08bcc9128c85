/* counters.h - performance counters of one process and its threads; each may be absent, with a
 * reason.
 *
 * Hardware events come from libpfm4's names; a machine without a performance unit (most virtual
 * ones) still has the kernel's software events. Opened before the kernel's threads are made, so
 * that they inherit. */
#ifndef TESSERA_HARNESS_MEASURE_COUNTERS_H
#define TESSERA_HARNESS_MEASURE_COUNTERS_H

#include <stdbool.h>
#include <stdint.h>

typedef enum counters_kind { COUNTERS_NONE, COUNTERS_SOFTWARE, COUNTERS_HARDWARE } counters_kind;
enum { COUNTERS_MAX = 8 };

typedef struct counters {
    int count;
    struct counters_event {
        const char *name; /* static storage */
        int fd;           /* -1: not available */
        bool hardware;
    } events[COUNTERS_MAX];
    counters_kind kind;
    char why[160]; /* why hardware events are missing; empty when they are here */
} counters;

typedef struct counters_values {
    double value[COUNTERS_MAX]; /* scaled for multiplexing; negative: not counted */
} counters_values;

void counters_open(counters *c);
void counters_close(counters *c);
void counters_start(counters *c);
/* Between start and stop: what is not to be counted. */
void counters_pause(counters *c);
void counters_resume(counters *c);
void counters_stop(counters *c, counters_values *out);
const char *counters_kind_name(counters_kind kind);

#endif
