/* host_cpu_x86_64.c - the levels of x86-64 (cpuid and xgetbv). */
#include "device/host/host_cpu.h"

#if defined(__x86_64__)
#include <cpuid.h>
#include <stdio.h>
#include <string.h>

const char host_cpu_architecture[] = "x86-64";

enum { REG_EAX, REG_EBX, REG_ECX, REG_EDX };
/* Levels as in the x86-64 psABI, but the lowest has FMA: strict kernels need it, and the psABI's v2
 * lacks it; and the highest has dot products of i8 and bf16, which the psABI has no name for. */
const char *const host_cpu_levels[] = {"x86-64-v4+dot", "x86-64-v4", "x86-64-v3", "x86-64-v2+fma",
                                       NULL};
enum { LEVEL_V4_DOT, LEVEL_V4, LEVEL_V3, LEVEL_V2 };

typedef struct feature {
    const char *name;
    unsigned leaf, subleaf;
    int reg, bit;
    int level; /* the lowest level that needs it */
} feature;

static const feature features[] = {
    {"SSE3", 1, 0, REG_ECX, 0, LEVEL_V2},
    {"SSSE3", 1, 0, REG_ECX, 9, LEVEL_V2},
    {"SSE4.1", 1, 0, REG_ECX, 19, LEVEL_V2},
    {"SSE4.2", 1, 0, REG_ECX, 20, LEVEL_V2},
    {"POPCNT", 1, 0, REG_ECX, 23, LEVEL_V2},
    {"CMPXCHG16B", 1, 0, REG_ECX, 13, LEVEL_V2},
    {"LAHF", 0x80000001u, 0, REG_ECX, 0, LEVEL_V2},
    {"OSXSAVE", 1, 0, REG_ECX, 27, LEVEL_V2},
    {"AVX", 1, 0, REG_ECX, 28, LEVEL_V2},
    {"FMA", 1, 0, REG_ECX, 12, LEVEL_V2},
    {"MOVBE", 1, 0, REG_ECX, 22, LEVEL_V3},
    {"F16C", 1, 0, REG_ECX, 29, LEVEL_V3},
    {"LZCNT", 0x80000001u, 0, REG_ECX, 5, LEVEL_V3},
    {"BMI1", 7, 0, REG_EBX, 3, LEVEL_V3},
    {"AVX2", 7, 0, REG_EBX, 5, LEVEL_V3},
    {"BMI2", 7, 0, REG_EBX, 8, LEVEL_V3},
    {"AVX512F", 7, 0, REG_EBX, 16, LEVEL_V4},
    {"AVX512DQ", 7, 0, REG_EBX, 17, LEVEL_V4},
    {"AVX512CD", 7, 0, REG_EBX, 28, LEVEL_V4},
    {"AVX512BW", 7, 0, REG_EBX, 30, LEVEL_V4},
    {"AVX512VL", 7, 0, REG_EBX, 31, LEVEL_V4},
    {"AVX512-VNNI", 7, 0, REG_ECX, 11, LEVEL_V4_DOT},
    {"AVX512-BF16", 7, 1, REG_EAX, 5, LEVEL_V4_DOT},
};
enum { FEATURE_COUNT = sizeof features / sizeof features[0] };

static bool has(const feature *f) {
    unsigned r[4] = {0};
    if (!__get_cpuid_count(f->leaf, f->subleaf, &r[0], &r[1], &r[2], &r[3]))
        return false;
    return r[f->reg] >> f->bit & 1;
}

/* XCR0: which register files the operating system saves. Readable only with OSXSAVE. */
static bool system_saves(unsigned mask) {
    unsigned low, high;
    __asm__ volatile("xgetbv" : "=a"(low), "=d"(high) : "c"(0));
    return (low & mask) == mask;
}

void host_cpu_why_not(int level, char reason[HOST_REASON_BYTES]) {
    for (int i = 0; i < FEATURE_COUNT; i++) {
        if (features[i].level >= level && !has(&features[i])) {
            snprintf(reason, HOST_REASON_BYTES, "this CPU has no %s, which %s needs",
                     features[i].name, host_cpu_levels[level]);
            return;
        }
    }
    enum { SSE_AND_YMM = 0x6, ZMM = 0xe0 };
    if (!system_saves(level <= LEVEL_V4 ? SSE_AND_YMM | ZMM : SSE_AND_YMM))
        snprintf(reason, HOST_REASON_BYTES,
                 "the operating system does not save the registers of %s", host_cpu_levels[level]);
}

void host_cpu_brand(char brand[HOST_CPU_BRAND_BYTES]) {
    for (unsigned i = 0; i < 3; i++) {
        unsigned r[4] = {0};
        if (!__get_cpuid(0x80000002u + i, &r[0], &r[1], &r[2], &r[3]))
            break;
        memcpy(brand + 16 * i, r, 16);
    }
    size_t start = strspn(brand, " "), length = strlen(brand);
    while (length > start && brand[length - 1] == ' ')
        length--;
    brand[length] = '\0';
    memmove(brand, brand + start, length - start + 1);
    if (!brand[0])
        snprintf(brand, HOST_CPU_BRAND_BYTES, "x86-64 CPU");
}
#endif
