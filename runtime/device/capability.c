/* capability.c - see capability.h. */
#include "device/capability.h"

#include <string.h>

/* ---- backends ---- */

static const struct {
    const char *driver, *family, *profiles;
    int device;
} backends[BACKEND_COUNT] = {
#define BACKEND(id, name, class, driver, device, target, family, profiles, ...)                    \
    {driver, family, profiles, device},
#include "device/backends.def"
#undef BACKEND
};

static const capability types[BACKEND_COUNT][DTYPE_COUNT] = {
#define CAPABILITY(id, type, as, why) [BACKEND_##id][type] = {as, why},
#include "device/capabilities.def"
#undef CAPABILITY
};

const capability *capability_of(backend_id id, dtype type) {
    return &types[id][type];
}

backend_id capability_backend(const char *driver, uint32_t index) {
    for (int i = 0; i < BACKEND_COUNT; i++) {
        int device = backends[i].device;
        if (strcmp(backends[i].driver, driver) == 0 &&
            (device == ANY_DEVICE || (uint32_t)device == index))
            return (backend_id)i;
    }
    /* Kernels of this processor run there, too. */
    return strcmp(driver, "simulated") == 0 ? BACKEND_CPU : BACKEND_COUNT;
}

const char *capability_driver(backend_id id, uint32_t *index_out) {
    *index_out = backends[id].device == ANY_DEVICE ? 0 : (uint32_t)backends[id].device;
    return backends[id].driver;
}

const char *capability_profiles(backend_id id) {
    return backends[id].profiles;
}

/* ---- chips ---- */

enum { KIB = 1024 };

static const capability_chip chips[] = {
#define ISA(level, ...) {level, level, "cpu", 0, 1, false},
#include "chip/targets.def"
#define FAMILY_OF_PTX "ptx"
#define FAMILY_OF_ROCM "rocm"
#define CHIP(level, kind, cpu, features, triple, kib, threads, registers, units, copies, bf16,     \
             probed)                                                                               \
    {level, cpu, FAMILY_OF_##kind, kib * KIB, threads, copies},
#include "chip/targets.def"
#define SPIRV(level, kind, kib, threads, registers, units)                                         \
    {level, level, "spirv", kib * KIB, 0, false},
#include "chip/targets.def"
};
enum { CHIP_COUNT = sizeof chips / sizeof *chips };

const capability_chip *capability_chip_at(size_t index) {
    return index < CHIP_COUNT ? &chips[index] : NULL;
}

const capability_chip *capability_chip_find(const char *name) {
    for (size_t i = 0; i < CHIP_COUNT; i++)
        if (strcmp(chips[i].name, name) == 0)
            return &chips[i];
    return NULL;
}

const char *capability_family(backend_id id) {
    return *backends[id].family ? backends[id].family : NULL;
}

/* ---- matrix units ---- */

typedef struct unit_row {
    const char *name, *chips;
    dtype type;
} unit_row;

static const unit_row units[] = {
#define ISA_DOTS(level, has)                                                                       \
    {"avx512.vpdpbusd", has ? level : "", DTYPE_I8},                                               \
        {"avx512.vdpbf16ps", has ? level : "", DTYPE_BF16},
#define ISA(level, cpu, features, triple, lanes, vectors, f16, l1, l2, bits, i64, avx512, dots)    \
    ISA_DOTS(level, dots)
#include "chip/targets.def"
#define MMA(ENUM, unit, chips, FACTOR, ...) {unit, chips, DTYPE_##FACTOR},
#include "chip/mma.def"
};
enum { UNIT_COUNT = sizeof units / sizeof *units };

static bool names(const char *words, const char *word) {
    size_t length = strlen(word);
    for (const char *at = words; (at = strstr(at, word)); at += length)
        if ((at == words || at[-1] == ' ') && (!at[length] || at[length] == ' '))
            return true;
    return false;
}

static bool is_of(const unit_row *unit, const capability_scope *scope) {
    const capability_chip *chip = scope->chip ? capability_chip_find(scope->chip) : NULL;
    if (scope->chip)
        return names(unit->chips, chip ? chip->chip : scope->chip);
    for (size_t i = 0; i < CHIP_COUNT; i++)
        if (strcmp(chips[i].family, scope->family) == 0 && names(unit->chips, chips[i].chip))
            return true;
    return false;
}

/* Is there a line before it with the same order? */
static bool is_repeated(size_t unit, const capability_scope *scope) {
    for (size_t i = 0; i < unit; i++)
        if (strcmp(units[i].name, units[unit].name) == 0 && is_of(&units[i], scope))
            return true;
    return false;
}

const char *capability_unit_at(const capability_scope *scope, dtype type, size_t index) {
    for (size_t i = 0; i < UNIT_COUNT; i++)
        if (units[i].type == type && is_of(&units[i], scope) && !is_repeated(i, scope) &&
            index-- == 0)
            return units[i].name;
    return NULL;
}

dtype capability_unit_type(const char *name) {
    for (size_t i = 0; i < UNIT_COUNT; i++)
        if (strcmp(units[i].name, name) == 0)
            return units[i].type;
    return DTYPE_NONE;
}

/* ---- what is missing ---- */

static const capability_lack lacks[] = {
#define MISSING(what, where, why, how) {what, where, why, how},
#include "device/capability_missing.def"
};

const capability_lack *capability_lack_of(const char *what, const char *driver,
                                          const char *family) {
    const char *const places[] = {driver, family};
    for (int place = 0; place < 2; place++)
        for (size_t i = 0; places[place] && i < sizeof lacks / sizeof *lacks; i++)
            if (strcmp(lacks[i].what, what) == 0 && strcmp(lacks[i].where, places[place]) == 0)
                return &lacks[i];
    return NULL;
}
