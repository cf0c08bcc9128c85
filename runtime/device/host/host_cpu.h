/* host_cpu.h - what host_isa.c asks of each architecture: one file of host_cpu_*.c is compiled. */
#ifndef TESSERA_RUNTIME_HOST_CPU_H
#define TESSERA_RUNTIME_HOST_CPU_H

#include "device/host/host.h"

enum { HOST_CPU_LEVELS_MAX = 8, HOST_CPU_BRAND_BYTES = 49 };

extern const char host_cpu_architecture[];
extern const char *const host_cpu_levels[]; /* best first; NULL ends them */
/* Fills in why code of a level cannot run; leaves `reason` as it is where it can. */
void host_cpu_why_not(int level, char reason[HOST_REASON_BYTES]);
/* `brand` starts as zeros. */
void host_cpu_brand(char brand[HOST_CPU_BRAND_BYTES]);

#endif
