/* unit.c - the tables of compute units, and the arithmetic of NVIDIA's occupancy calculator, which
 * is AMD's, too, with other portions. */
#include "chip/unit.h"

#include <stddef.h>
#include <string.h>

enum { KIB = 1024 };

static const chip_unit units[] = {
#define UNIT(chip_, registers_, threads_, workgroups_, kib, system, granule, step, least)          \
    {.chip = chip_,                                                                                \
     .registers = registers_,                                                                      \
     .threads = threads_,                                                                          \
     .workgroups = workgroups_,                                                                    \
     .shared_bytes = kib * KIB,                                                                    \
     .system_bytes = system,                                                                       \
     .shared_granule = granule,                                                                    \
     .register_granule = step,                                                                     \
     .register_least = least},
#include "chip/targets.def"
};

static const chip_rates rates[] = {
#define RATE(...) {__VA_ARGS__},
#include "chip/targets.def"
};

static const chip_exp2 exponentials[] = {
#define EXP2(...) {__VA_ARGS__},
#include "chip/targets.def"
};

const chip_unit *chip_unit_of(const char *chip) {
    for (size_t i = 0; i < sizeof units / sizeof *units; i++)
        if (strcmp(units[i].chip, chip) == 0)
            return &units[i];
    return NULL;
}

const chip_rates *chip_rates_of(const char *chip) {
    for (size_t i = 0; i < sizeof rates / sizeof *rates; i++)
        if (strcmp(rates[i].chip, chip) == 0)
            return &rates[i];
    return NULL;
}

const chip_exp2 *chip_exp2_of(const char *chip) {
    for (size_t i = 0; i < sizeof exponentials / sizeof *exponentials; i++)
        if (strcmp(exponentials[i].chip, chip) == 0)
            return &exponentials[i];
    return NULL;
}

static int64_t in_portions(int64_t n, int64_t portion) {
    return (n + portion - 1) / portion * portion;
}

static void limit(occupancy *o, int64_t workgroups, occupancy_limit by) {
    if (workgroups >= o->workgroups)
        return;
    o->workgroups = workgroups;
    o->by = by;
}

occupancy occupancy_of(const chip_unit *unit, int64_t threads, int64_t registers,
                       int64_t shared_bytes) {
    int64_t each = in_portions(registers, unit->register_granule),
            shared = in_portions(shared_bytes + unit->system_bytes, unit->shared_granule);
    occupancy o = {unit->threads / threads, 0,
                   unit->threads % threads ? LIMITED_BY_THREADS : LIMITED_BY_NOTHING};
    each = each > unit->register_least ? each : unit->register_least;
    limit(&o, unit->workgroups, LIMITED_BY_WORKGROUPS);
    limit(&o, unit->registers / (each * threads), LIMITED_BY_REGISTERS);
    if (shared)
        limit(&o, unit->shared_bytes / shared, LIMITED_BY_SHARED);
    o.share = (double)(o.workgroups * threads) / (double)unit->threads;
    return o;
}
