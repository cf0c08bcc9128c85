/* stub_control.h - what a test asks of the stub of a GPU's library, and tells it: see stub.h. */
#ifndef TESSERA_RUNTIME_TEST_STUB_CONTROL_H
#define TESSERA_RUNTIME_TEST_STUB_CONTROL_H

#include <stdint.h>

#define STUB_FAULTS "TESSERA_STUB_FAULTS"

/* Counts of what is alive; `current`: contexts that are current on the calling thread. */
typedef struct stub_counts {
    uint64_t allocations, contexts, modules, streams, events, current, launches;
    uint64_t given;          /* pieces of work to streams, ever */
    uint64_t submissions;    /* launches, copies, fills and graphs that were not captured, ever */
    uint64_t graphs;         /* captured, or made to be launched */
    uint64_t graph_launches; /* ever */
    uint64_t default_asked;  /* times it was asked whether the default stream had ended */
} stub_counts;

/* Exported beside the functions of the library. */
typedef void stub_counts_fn(stub_counts *out); /* stub_gpu_counts */
typedef void stub_end_fn(void);                /* stub_gpu_end: endless launches end */

#endif
