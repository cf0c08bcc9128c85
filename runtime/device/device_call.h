/* device_call.h - how an entry point is called that was not made by our compiler: what its grid and
 * its threads are, and what it takes; and what ours take beside addresses and dimensions. */
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

/* A tensor in a buffer, of which code copies boxes by itself (CUtensorMap): dimensions innermost
 * first. Code takes those of a phase behind all else, made of the buffer's address at each launch.
 */
enum { DEVICE_MAPS_MAX = 8, DEVICE_MAP_RANK_MAX = 5 };
typedef struct device_map {
    uint32_t buffer, element_bytes, rank;
    uint32_t swizzle;                      /* bytes of a row in the workgroup's memory, or 0 */
    uint64_t dims[DEVICE_MAP_RANK_MAX];    /* elements */
    uint64_t strides[DEVICE_MAP_RANK_MAX]; /* bytes; of the innermost one the element's */
    uint32_t box[DEVICE_MAP_RANK_MAX];
} device_map;
typedef struct device_maps {
    uint32_t count;
    device_map list[DEVICE_MAPS_MAX];
} device_maps;

#endif
