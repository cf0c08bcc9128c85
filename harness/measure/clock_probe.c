/* clock_probe.c - runs the chain a few times. */
#include "measure/clock_probe.h"

#include <stdint.h>

#include "common/timer.h"

enum { STEPS = 4000, TRIES = 9 };

/* Each step needs the one before it. */
static void run_chain(void) {
    uint64_t x = STEPS;
    for (uint64_t i = 0; i < STEPS; i++) {
        x = x * 3 + i;
        __asm__ volatile("" : "+r"(x));
    }
}

double clock_probe_step_ns(void) {
    uint64_t least = UINT64_MAX;
    for (int i = 0; i < TRIES; i++) {
        uint64_t start = timer_now_ns();
        run_chain();
        uint64_t took = timer_now_ns() - start;
        least = took < least ? took : least;
    }
    return (double)least / STEPS;
}
