/* spirv_image.h - what SPIR-V says of itself before a driver sees it: its entry points, the threads
 * of their workgroups, what it needs. Drivers are known to take too much in silence. */
#ifndef TESSERA_RUNTIME_SPIRV_IMAGE_H
#define TESSERA_RUNTIME_SPIRV_IMAGE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/status.h"

typedef struct spirv_image {
    const uint32_t *words; /* borrowed */
    size_t count;
    uint64_t workgroup_bytes; /* of all its variables there, of which each workgroup has its own */
    bool needs_f16, needs_f64, has_barriers;
} spirv_image;

/* STATUS_CORRUPT where it is no SPIR-V of this machine's byte order, or is cut. `label` is for
 * messages. */
bool spirv_image_read(spirv_image *image, const void *bytes, size_t size_bytes, const char *label,
                      status *st);
/* The next instruction of a kind with at least so many words, from *at on (0: from the first), and
 * *at behind it; NULL: there is none. */
const uint32_t *spirv_image_next(const spirv_image *image, size_t *at, uint32_t code,
                                 uint32_t words);
/* Threads of a workgroup of this entry point. STATUS_NOT_FOUND where there is no such one,
 * STATUS_CORRUPT where it does not say. */
bool spirv_image_threads(const spirv_image *image, const char *symbol, const char *label,
                         uint64_t *threads_out, status *st);

#endif
