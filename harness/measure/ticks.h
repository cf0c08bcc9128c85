/* ticks.h - clocks that code in this process cannot bend: the CPU's own counter, and the kernel's
 * clock asked for by a system call of our own. */
#ifndef TESSERA_HARNESS_MEASURE_TICKS_H
#define TESSERA_HARNESS_MEASURE_TICKS_H

#include <stdbool.h>
#include <stdint.h>

/* True where the CPU counts at a constant rate (x86-64: constant_tsc; AArch64: always). */
bool ticks_are_constant(void);
/* The counter; 0 where there is none. */
uint64_t ticks_now(void);
/* CLOCK_MONOTONIC_RAW by a system call, not through the C library or the vDSO. */
uint64_t ticks_kernel_ns(void);

#endif
