/* clock_probe.h - how fast this CPU runs now, without counters: the time of a fixed chain of
 * arithmetic that no machine overlaps. It grows when the clock is held back. */
#ifndef TESSERA_HARNESS_MEASURE_CLOCK_PROBE_H
#define TESSERA_HARNESS_MEASURE_CLOCK_PROBE_H

/* Nanoseconds of one step of the chain, some 3 to 5 cycles; the least of a few tries, which takes
 * some 50 us. */
double clock_probe_step_ns(void);

#endif
