/* device_pools.h - how much memory a device keeps at hand. */
#ifndef TESSERA_RUNTIME_DEVICE_POOLS_H
#define TESSERA_RUNTIME_DEVICE_POOLS_H

#include <stdbool.h>
#include <stdint.h>

typedef struct device_pools {
    bool bounded;          /* by kept_bytes; else as the device's driver sees fit */
    uint64_t kept_bytes;   /* of freed memory of each kind */
    uint64_t filled_bytes; /* that are there from the start */
} device_pools;

#endif
