/* scratch.h - one file without a name that a gate's processes read: modules and inputs.
 *
 * It has no name in the file system from the start, so nothing is left behind however the program
 * ends. Other processes of the same user open it by scratch_path while the owner lives. */
#ifndef TESSERA_HARNESS_GATE_SCRATCH_H
#define TESSERA_HARNESS_GATE_SCRATCH_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/status.h"

typedef struct scratch {
    int fd;
    uint64_t used;
    char path[64];
} scratch;

/* In $TMPDIR, else /tmp. */
bool scratch_open(scratch *s, status *st);
void scratch_close(scratch *s);
/* Appends; *offset is a multiple of 64. */
bool scratch_put(scratch *s, const void *data, size_t size_bytes, uint64_t *offset, status *st);
/* In another process: all of it, for as long as that lives; NULL where it cannot be had. */
const unsigned char *scratch_map(const char *path);

#endif
