/* opencl.h - the driver `opencl`: any device of the OpenCL loader that has shared virtual memory,
 * since addresses in launches are addresses within allocations.
 *
 * It runs SPIR-V of OpenCL's flavour. A device that takes SPIR-V gets it as it is; for PoCL of old,
 * and others that take LLVM's bitcode (cl_khr_spir), Khronos' translator stands between, a program
 * of its own.
 *
 * What OpenCL leaves to a device and strict bits need is tried before the first image is loaded
 * (spirv_probe.h). A device that computes something else is refused. */
#ifndef TESSERA_RUNTIME_OPENCL_H
#define TESSERA_RUNTIME_OPENCL_H

#define OPENCL_LIBRARY "TESSERA_OPENCL_LIBRARY"      /* names the loader to open */
#define OPENCL_TRANSLATOR "TESSERA_SPIRV_TRANSLATOR" /* names the translator to start */

#endif
