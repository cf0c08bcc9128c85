/* unit.h - a compute unit of a chip: what it holds at once, in what portions, and what it does in a
 * cycle (the lines UNIT, RATE and EXP2 of targets.def, with their sources). */
#ifndef TESSERA_CHIP_UNIT_H
#define TESSERA_CHIP_UNIT_H

#include <stdint.h>

typedef struct chip_unit {
    const char *chip;
    int64_t registers; /* of 32 bits */
    int64_t threads, workgroups;
    int64_t shared_bytes, system_bytes, shared_granule;
    int64_t register_granule, register_least; /* of a thread */
} chip_unit;

/* In a cycle. */
typedef struct chip_rates {
    const char *chip;
    double fma, fma_f64, instructions; /* of a unit; of threads */
    double products;                   /* of 16-bit factors, by a unit's matrix unit */
    double wide_products;              /* of f32 or f64; 0: it has none */
    double shared_bytes;               /* of a unit's own memory, first-level cache included */
    double cache_bytes, memory_bytes;  /* of the chip: from its last cache, and from memory */
    double cache_mib;
} chip_rates;

/* An approximate 2^x. */
typedef struct chip_exp2 {
    const char *chip, *intrinsic;
    double rate; /* of a unit, in a cycle */
} chip_exp2;

/* NULL: the chip is not known, or has none. */
const chip_unit *chip_unit_of(const char *chip);
const chip_rates *chip_rates_of(const char *chip);
const chip_exp2 *chip_exp2_of(const char *chip);

typedef enum occupancy_limit {
    LIMITED_BY_NOTHING, /* the unit is full */
    LIMITED_BY_THREADS,
    LIMITED_BY_WORKGROUPS,
    LIMITED_BY_REGISTERS,
    LIMITED_BY_SHARED,
    OCCUPANCY_LIMIT_COUNT
} occupancy_limit;

typedef struct occupancy {
    int64_t workgroups; /* 0: not even one fits */
    double share;       /* of the threads that the unit could hold */
    occupancy_limit by;
} occupancy;

/* Takes workgroups of so many threads with so many registers each, and so much memory. */
occupancy occupancy_of(const chip_unit *unit, int64_t threads, int64_t registers,
                       int64_t shared_bytes);

#endif
