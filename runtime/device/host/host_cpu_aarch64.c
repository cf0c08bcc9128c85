/* host_cpu_aarch64.c - the levels of AArch64: Advanced SIMD, which every such CPU has, and SVE with
 * vectors of 256 bits or more (what Linux tells of them). */
#include "device/host/host_cpu.h"

#if defined(__aarch64__)
#include <stdio.h>
#include <sys/auxv.h>
#include <sys/prctl.h>

const char host_cpu_architecture[] = "AArch64";
const char *const host_cpu_levels[] = {"aarch64-sve256", "aarch64-neon", NULL};
enum { LEVEL_SVE256, LEVEL_NEON };

/* Returns the bits of this thread's SVE vectors, and of those that it makes; 0 without SVE. */
static int sve_bits(void) {
    enum { HAS_SVE = 1 << 22, GET_LENGTH = 51, LENGTH_MASK = 0xffff };
    int length = getauxval(AT_HWCAP) & HAS_SVE ? prctl(GET_LENGTH) : -1;
    return length < 0 ? 0 : (length & LENGTH_MASK) * 8;
}

void host_cpu_why_not(int level, char reason[HOST_REASON_BYTES]) {
    if (level == LEVEL_NEON || sve_bits() >= 256)
        return;
    if (sve_bits() == 0)
        snprintf(reason, HOST_REASON_BYTES, "this CPU has no SVE, which %s needs",
                 host_cpu_levels[level]);
    else
        snprintf(reason, HOST_REASON_BYTES, "this CPU's SVE vectors have %d bits; %s needs 256",
                 sve_bits(), host_cpu_levels[level]);
}

void host_cpu_brand(char brand[HOST_CPU_BRAND_BYTES]) {
    snprintf(brand, HOST_CPU_BRAND_BYTES, "AArch64 CPU");
}
#endif
