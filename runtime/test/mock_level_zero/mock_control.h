/* mock_control.h - what a test asks of the mock of a driver for Level Zero, and tells it: see
 * mock.h. */
#ifndef TESSERA_RUNTIME_TEST_MOCK_CONTROL_H
#define TESSERA_RUNTIME_TEST_MOCK_CONTROL_H

#include <stdint.h>

/* The loader takes the drivers that this variable names, and no others. */
#define MOCK_DRIVERS "ZE_ENABLE_ALT_DRIVERS"

/* Counts of what is alive, and of launches, without the probes'. */
typedef struct mock_counts {
    uint64_t memory, contexts, queues, lists, fences, pools, events, modules, logs, kernels;
    uint64_t launches, given; /* begun; given to queues */
    uint64_t repeats;         /* of lists that had run before and were not emptied; ever */
    uint64_t lists_given;     /* to queues; ever */
} mock_counts;

/* Exported beside the tables of the driver. */
typedef void mock_counts_fn(mock_counts *out); /* mock_level_zero_counts */
typedef void mock_end_fn(void);                /* mock_level_zero_end: endless launches end */

#endif
