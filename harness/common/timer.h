/* timer.h - the clock of every measurement: CLOCK_MONOTONIC_RAW, which no time daemon bends. */
#ifndef TESSERA_HARNESS_COMMON_TIMER_H
#define TESSERA_HARNESS_COMMON_TIMER_H

#include <stdint.h>

uint64_t timer_now_ns(void);
/* Cost of reading the clock itself, measured once per process. */
uint64_t timer_cost_ns(void);

#endif
