/* capability.h - look-ups in the tables of what devices can do: capabilities.def, targets.def,
 * mma.def and capability_missing.def. */
#ifndef TESSERA_RUNTIME_CAPABILITY_H
#define TESSERA_RUNTIME_CAPABILITY_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/dtype.h"
#include "device/backends.h"

/* Support of a backend for values of a type. */
typedef struct capability {
    dtype as;        /* DTYPE_NONE: native */
    const char *why; /* NULL where it is */
} capability;
const capability *capability_of(backend_id id, dtype type);

/* The backend whose device this is. BACKEND_COUNT: there is none. */
backend_id capability_backend(const char *driver, uint32_t index);
/* The driver of a backend, "" where it has none, and its profiles, separated by spaces. */
const char *capability_driver(backend_id id, uint32_t *index_out);
const char *capability_profiles(backend_id id);
/* "cpu", "ptx", "rocm" or "spirv"; NULL: it runs no code of ours. */
const char *capability_family(backend_id id);

/* Line of the table for a chip, or for a level of CPUs. */
typedef struct capability_chip {
    const char *name;
    const char *chip; /* by mma.def's name: "gfx942" of "gfx942+chain" */
    const char *family;
    uint64_t shared_bytes; /* 0: its workgroups are one thread */
    uint32_t subgroup;
    bool copies;
} capability_chip;
/* One line after the other; NULL past the last. */
const capability_chip *capability_chip_at(size_t index);
const capability_chip *capability_chip_find(const char *name); /* NULL: it is not known */

/* A chip, or all of a family. */
typedef struct capability_scope {
    const char *family;
    const char *chip; /* NULL: all of the family */
} capability_scope;
/* The orders in which matrix units, or dot products, add that code for it uses: one after the
 * other, each once; NULL past the last. */
const char *capability_unit_at(const capability_scope *scope, dtype type, size_t index);

/* The type of the factors of such an order; DTYPE_NONE: there is no such unit. */
dtype capability_unit_type(const char *name);

/* Why something is not there and how to get it, by driver or else by family. NULL: the table says
 * nothing of it. */
typedef struct capability_lack {
    const char *what, *where, *why, *how;
} capability_lack;
const capability_lack *capability_lack_of(const char *what, const char *driver, const char *family);

#endif
