/* watch.h - what a kernel has no business with, as it was before the kernel ran and as it is now:
 * the floating-point environment, signal handlers and masks, threads, child processes, how the
 * thread that launches is scheduled, clocks.
 *
 * Begun before the kernel's first launch, on the thread that launches. The clock of every
 * measurement (timer.h) is compared with ticks.h in every timed part, and over the whole time. One
 * watch, one thread. */
#ifndef TESSERA_HARNESS_MEASURE_WATCH_H
#define TESSERA_HARNESS_MEASURE_WATCH_H

#include <stdbool.h>
#include <stdint.h>

#include "base/status.h"
#include "device/foreign/foreign.h"

enum { WATCH_SIGNALS = 65 };

typedef struct watch {
    uint32_t fp_control; /* MXCSR without its flags, or FPCR */
    uint16_t x87_control;
    struct watch_signal {
        void *handler;
        uint64_t flags;
    } signals[WATCH_SIGNALS];
    uint64_t blocked;
    uint32_t threads; /* 0: not known, or not of interest */
    bool had_children;
    foreign_thread scheduled;  /* the thread that launches */
    uint64_t ticks, kernel_ns; /* at the beginning, at one moment */
    struct watch_offset {      /* of our clock from the kernel's */
        int64_t ns;
        uint64_t within_ns;    /* how far apart the readings around it are */
    } offset;                  /* at the beginning */
    uint64_t parts, odd_parts; /* timed, and those in which two clocks disagree */
    double worst;              /* the other clock's time over ours, of an odd part */
    uint64_t looked_ns;        /* when watch_look last looked at everything */
} watch;

/* `more_threads`: how many the caller will still start (the pool of a context). */
void watch_begin(watch *w, uint32_t more_threads);

/* Threads may come and go: they are somebody else's. */
void watch_expect_threads(watch *w);

typedef struct watch_moment {
    uint64_t ticks, kernel_ns;
} watch_moment;
watch_moment watch_now(void);
/* A timed part is read by the other clock right before and right after each of its own two
 * readings: whatever a reading costs on this machine, a part is as long as the inner moments say at
 * least, and as the outer ones say at most. */
typedef struct watch_part_moments {
    watch_moment before_start, after_start, before_end, after_end;
} watch_part_moments;
/* `timed_ns`: what our clock says that part took. */
void watch_part(watch *w, const watch_part_moments *moments, uint64_t timed_ns);

/* False with STATUS_MISMATCH and what was changed. Looks at everything where that is some time ago,
 * or `all`; else at what is cheap. */
bool watch_look(watch *w, bool all, status *st);

#endif
