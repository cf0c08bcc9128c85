/* timer.c - reads the clock. */
#include "common/timer.h"

#include <time.h>

uint64_t timer_now_ns(void) {
    struct timespec now;
    clock_gettime(CLOCK_MONOTONIC_RAW, &now);
    return (uint64_t)now.tv_sec * 1000000000u + (uint64_t)now.tv_nsec;
}

uint64_t timer_cost_ns(void) {
    static uint64_t cost_ns;
    if (cost_ns)
        return cost_ns;
    enum { READS = 1000 };
    uint64_t start = timer_now_ns();
    for (int i = 0; i < READS; i++)
        (void)timer_now_ns();
    cost_ns = (timer_now_ns() - start) / READS;
    if (cost_ns == 0)
        cost_ns = 1;
    return cost_ns;
}
