/* nvtx.h - ranges for NVIDIA's profilers, by whichever library of NVTX is here.
 *
 * $TESSERA_NVTX, else libnvtx3interop.so.1 (of CUDA 12 and later), else libnvToolsExt.so.1; each
 * has nvtxRangePushA and nvtxRangePop, which a profiler that watches the process sees. The library
 * stays open until the process ends. */
#ifndef TESSERA_RUNTIME_NVTX_H
#define TESSERA_RUNTIME_NVTX_H

#include "base/status.h"

#define NVTX_LIBRARY "TESSERA_NVTX"

typedef struct nvtx {
    int (*push)(const char *name);
    int (*pop)(void);
} nvtx;

/* STATUS_UNAVAILABLE, with the names that were tried, where there is none. */
bool nvtx_open(nvtx *out, status *st);

#endif
