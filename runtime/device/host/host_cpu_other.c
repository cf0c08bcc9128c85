/* host_cpu_other.c - a machine that no code is made for. */
#include "device/host/host_cpu.h"

#if !defined(__x86_64__) && !defined(__aarch64__)
#include <stdio.h>

const char host_cpu_architecture[] = "of another kind";
const char *const host_cpu_levels[] = {NULL};

void host_cpu_why_not(int level, char reason[HOST_REASON_BYTES]) {
    (void)level, (void)reason;
}

void host_cpu_brand(char brand[HOST_CPU_BRAND_BYTES]) {
    snprintf(brand, HOST_CPU_BRAND_BYTES, "unknown CPU");
}
#endif
