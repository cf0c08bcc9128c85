/* progress.c - a bar, the share, the time left at the speed of this run. */
#include "math/check/progress.h"

#include <stdio.h>
#include <time.h>
#include <unistd.h>

enum { CELLS = 32 };

double progress_clock(void) {
    struct timespec now;
    clock_gettime(CLOCK_MONOTONIC, &now);
    return (double)now.tv_sec + (double)now.tv_nsec * 1e-9;
}

void progress_start(progress *p, const char *name, uint64_t first, uint64_t total) {
    *p = (progress){isatty(STDERR_FILENO) == 1, name, total, first, progress_clock()};
    progress_show(p, first);
}

void progress_show(const progress *p, uint64_t done) {
    char bar[CELLS + 1];
    if (!p->shown)
        return;
    for (uint64_t i = 0; i < CELLS; i++)
        bar[i] = i < done * CELLS / p->total ? '#' : '.';
    bar[CELLS] = '\0';
    fprintf(stderr, "\r\033[K%-16s [%s] %3.0f %%", p->name, bar,
            100.0 * (double)done / (double)p->total);
    if (done > p->first) {
        double passed_s = progress_clock() - p->started_s;
        unsigned left_s =
            (unsigned)(passed_s / (double)(done - p->first) * (double)(p->total - done));
        fprintf(stderr, "  %u:%02u left", left_s / 60, left_s % 60);
    }
    fflush(stderr);
}

void progress_clear(const progress *p) {
    if (p->shown)
        fputs("\r\033[K", stderr);
}
