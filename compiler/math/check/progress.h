/* progress.h - one line on a terminal that says how far a function has come. Nothing elsewhere. */
#ifndef TESSERA_MATH_CHECK_PROGRESS_H
#define TESSERA_MATH_CHECK_PROGRESS_H

#include <stdbool.h>
#include <stdint.h>

typedef struct progress {
    bool shown;
    const char *name;
    uint64_t total, first; /* units; those done before this run */
    double started_s;
} progress;

void progress_start(progress *p, const char *name, uint64_t first, uint64_t total);
void progress_show(const progress *p, uint64_t done);
void progress_clear(const progress *p);
/* Seconds of a clock that only runs forward. */
double progress_clock(void);

#endif
