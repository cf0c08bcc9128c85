/* spirv_probe.h - does a device that takes OpenCL's flavour of SPIR-V compute what strict bits
 * need? OpenCL and Level Zero let a device round division and square roots loosely, flush subnormal
 * numbers and split a fused multiply-add. Some say one thing and do another, so each kind of number
 * is tried by a small kernel (probes/), whose every bit is compared with this processor's. */
#ifndef TESSERA_RUNTIME_SPIRV_PROBE_H
#define TESSERA_RUNTIME_SPIRV_PROBE_H

#include "device/shared/spirv_load.h"

/* Checks that the device computes as strict needs it; runs on its own queue. STATUS_UNAVAILABLE
 * names the operation that it gets wrong. */
bool spirv_probe(spirv_target *t, gpu_device *g, spirv_probe_kind kind, status *st);

#endif
