/* device_call.h - how an entry point is called that was not made by our compiler: what its grid and
 * its threads are, and what it takes. */
#ifndef TESSERA_RUNTIME_DEVICE_CALL_H
#define TESSERA_RUNTIME_DEVICE_CALL_H

#include <stdint.h>

enum { DEVICE_CALL_ARGUMENTS_MAX = 256 };

/* The address of a buffer, or a number: its bytes, of which the entry point takes as many as its
 * type has. */
typedef struct device_argument {
    int32_t buffer; /* the inputs come first, then the outputs; -1: it is a number */
    uint64_t bits;
} device_argument;

/* A launch is for these extents alone: modules with calls have no dimensions. The bytes of shared
 * memory are the dispatch's. */
typedef struct device_call {
    uint32_t grid[3];  /* in workgroups; 0: nothing runs */
    uint32_t block[3]; /* in threads */
    uint32_t argument_count;
    const device_argument *arguments;
} device_call;

#endif
