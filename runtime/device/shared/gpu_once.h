/* gpu_once.h - one launch of a probe on a device that has nothing else to do: what it reads is
 * copied there from one place of the host, and what it writes back to another. */
#ifndef TESSERA_RUNTIME_GPU_ONCE_H
#define TESSERA_RUNTIME_GPU_ONCE_H

#include "device/shared/gpu.h"

enum { GPU_ONCE_ARGUMENTS = 8 };
typedef struct gpu_once {
    const device_image *image;
    const int64_t *workgroups; /* of each phase */
    const void *sent;
    void *got;
    size_t sent_bytes, got_bytes;
    /* Places of the arguments: first those in what was sent, then those in what comes back. */
    size_t at[GPU_ONCE_ARGUMENTS];
    uint32_t inputs, outputs;
    uint32_t unused; /* arguments behind them that are 0 */
} gpu_once;
/* The caller has the device's own queue (gpu_device.own_mutex, or nobody else knows the device). */
bool gpu_run_once(gpu_device *g, const gpu_once *o, status *st);

#endif
