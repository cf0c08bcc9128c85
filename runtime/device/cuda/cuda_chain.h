/* cuda_chain.h - a probe of AMD's GPUs: whether their matrix unit adds f32 and f64 by one fma after
 * the other, as chip/matrix_units.def says and no manual promises. Code for such devices is that of
 * "gfx942+chain" (chip/targets.def). */
#ifndef TESSERA_RUNTIME_CUDA_CHAIN_H
#define TESSERA_RUNTIME_CUDA_CHAIN_H

#include "device/cuda/cuda.h"

/* Asks the opened device, once a process (`known`, 0 before), and puts the code that it also runs
 * in front of its targets. Where the unit adds otherwise, or the probe does not run, they stay. */
void cuda_ask_chain(cuda_device *c, atomic_int *known);

#endif
