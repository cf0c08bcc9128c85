/* level_zero.h - the driver `level_zero`: Intel's GPUs, and others that have a driver for oneAPI's
 * Level Zero, through its loader.
 *
 * It runs SPIR-V of OpenCL's flavour, the code that the driver `opencl` runs, and tries what strict
 * bits need before the first image is loaded (spirv_probe.h). */
#ifndef TESSERA_RUNTIME_LEVEL_ZERO_H
#define TESSERA_RUNTIME_LEVEL_ZERO_H

#define LEVEL_ZERO_LIBRARY "TESSERA_LEVEL_ZERO_LIBRARY" /* names the loader to open */

#endif
