/* program_ranges.h - which bytes of several buffers are known to have been written. */
#ifndef TESSERA_RUNTIME_PROGRAM_RANGES_H
#define TESSERA_RUNTIME_PROGRAM_RANGES_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/vec.h"

typedef struct program_range {
    int64_t from, to; /* the byte behind it */
} program_range;

typedef VEC(program_range) program_ranges; /* sorted; they do not touch each other */

typedef struct program_written {
    program_ranges *buffers;
    uint32_t count;
} program_written;

program_written program_written_new(uint32_t count);
void program_written_free(program_written *w);
program_written program_written_copy(const program_written *w);
/* Keeps in `w` what is in both. */
void program_written_intersect(program_written *w, const program_written *other);
void program_written_add(program_written *w, uint32_t buffer, int64_t from, int64_t bytes);
bool program_written_has(const program_written *w, uint32_t buffer, int64_t from, int64_t bytes);

#endif
