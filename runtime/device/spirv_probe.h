/* spirv_probe.h - does a device that takes OpenCL's flavour of SPIR-V compute what strict bits
 * need? OpenCL and Level Zero let a device round division and square roots loosely, flush subnormal
 * numbers and split a fused multiply-add. Some say one thing and do another, so each kind of number
 * is tried by a small kernel (probes/), whose every bit is compared with this processor's. */
#ifndef TESSERA_RUNTIME_SPIRV_PROBE_H
#define TESSERA_RUNTIME_SPIRV_PROBE_H

#include "device/gpu.h"

typedef enum spirv_probe_kind {
    SPIRV_PROBE_F32, /* no device is opened without it */
    SPIRV_PROBE_F64,
    SPIRV_PROBE_F16,
    SPIRV_PROBE_COUNT
} spirv_probe_kind;

/* What was found out of a device: once a process. */
typedef struct spirv_probes {
    pthread_mutex_t mutex;
    bool tried[SPIRV_PROBE_COUNT];
    status findings[SPIRV_PROBE_COUNT]; /* failures of those that are unsound */
} spirv_probes;

void spirv_probes_init(spirv_probes *known);

/* Loads code, a probe's too, without asking whether the device computes right. */
typedef bool spirv_probe_load(device *d, const device_source *source, device_image **image_out,
                              status *st);

/* Whether the device computes as strict needs it; runs on its own queue. STATUS_UNAVAILABLE names
 * the operation that it gets wrong. */
bool spirv_probe(spirv_probes *known, gpu_device *g, spirv_probe_load *load, spirv_probe_kind kind,
                 status *st);

#endif
