/* host_isa.c - which instruction sets the CPU has and the operating system saves (cpuid and
 * xgetbv). */
#include <pthread.h>
#include <sched.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "device/host.h"

#if defined(__x86_64__)
#include <cpuid.h>

enum { REG_EAX, REG_EBX, REG_ECX, REG_EDX };
/* Levels as in the x86-64 psABI, but the lowest has FMA: strict kernels need it, and the psABI's v2
 * lacks it. */
static const char *const levels[] = {"x86-64-v4", "x86-64-v3", "x86-64-v2+fma"};
enum { LEVEL_V4, LEVEL_V3, LEVEL_V2, LEVEL_COUNT };

typedef struct feature {
    const char *name;
    unsigned leaf;
    int reg, bit;
    int level; /* the lowest level that needs it */
} feature;

static const feature features[] = {
    {"SSE3", 1, REG_ECX, 0, LEVEL_V2},
    {"SSSE3", 1, REG_ECX, 9, LEVEL_V2},
    {"SSE4.1", 1, REG_ECX, 19, LEVEL_V2},
    {"SSE4.2", 1, REG_ECX, 20, LEVEL_V2},
    {"POPCNT", 1, REG_ECX, 23, LEVEL_V2},
    {"CMPXCHG16B", 1, REG_ECX, 13, LEVEL_V2},
    {"LAHF", 0x80000001u, REG_ECX, 0, LEVEL_V2},
    {"OSXSAVE", 1, REG_ECX, 27, LEVEL_V2},
    {"AVX", 1, REG_ECX, 28, LEVEL_V2},
    {"FMA", 1, REG_ECX, 12, LEVEL_V2},
    {"MOVBE", 1, REG_ECX, 22, LEVEL_V3},
    {"F16C", 1, REG_ECX, 29, LEVEL_V3},
    {"LZCNT", 0x80000001u, REG_ECX, 5, LEVEL_V3},
    {"BMI1", 7, REG_EBX, 3, LEVEL_V3},
    {"AVX2", 7, REG_EBX, 5, LEVEL_V3},
    {"BMI2", 7, REG_EBX, 8, LEVEL_V3},
    {"AVX512F", 7, REG_EBX, 16, LEVEL_V4},
    {"AVX512DQ", 7, REG_EBX, 17, LEVEL_V4},
    {"AVX512CD", 7, REG_EBX, 28, LEVEL_V4},
    {"AVX512BW", 7, REG_EBX, 30, LEVEL_V4},
    {"AVX512VL", 7, REG_EBX, 31, LEVEL_V4},
};
enum { FEATURE_COUNT = sizeof features / sizeof features[0] };

static bool has(const feature *f) {
    unsigned r[4] = {0};
    if (!__get_cpuid_count(f->leaf, 0, &r[0], &r[1], &r[2], &r[3]))
        return false;
    return r[f->reg] >> f->bit & 1;
}

/* XCR0: which register files the operating system saves. Readable only with OSXSAVE. */
static bool system_saves(unsigned mask) {
    unsigned low, high;
    __asm__ volatile("xgetbv" : "=a"(low), "=d"(high) : "c"(0));
    return (low & mask) == mask;
}

static char reasons[LEVEL_COUNT][HOST_REASON_BYTES];
static char brand[49];
static pthread_once_t once = PTHREAD_ONCE_INIT;

static const char *limit;

static int limit_level(void) {
    int level = 0;
    while (limit && level < LEVEL_COUNT && strcmp(levels[level], limit) != 0)
        level++;
    return level;
}

static void why_not_level(int level, char *reason) {
    if (level < limit_level()) {
        snprintf(reason, HOST_REASON_BYTES,
                 limit_level() == LEVEL_COUNT ? "%s=%.40s is no ISA level of this machine"
                                              : "%s=%.40s in the environment rules it out",
                 HOST_ISA_LIMIT, limit);
        return;
    }
    for (int i = 0; i < FEATURE_COUNT; i++) {
        if (features[i].level >= level && !has(&features[i])) {
            snprintf(reason, HOST_REASON_BYTES, "this CPU has no %s, which %s needs",
                     features[i].name, levels[level]);
            return;
        }
    }
    enum { SSE_AND_YMM = 0x6, ZMM = 0xe0 };
    if (!system_saves(level == LEVEL_V4 ? SSE_AND_YMM | ZMM : SSE_AND_YMM))
        snprintf(reason, HOST_REASON_BYTES,
                 "the operating system does not save the registers of %s", levels[level]);
}

static void read_brand(void) {
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
        snprintf(brand, sizeof brand, "x86-64 CPU");
}

static void probe(void) {
    const char *given = getenv(HOST_ISA_LIMIT);
    limit = given && *given ? given : NULL;
    for (int level = 0; level < LEVEL_COUNT; level++)
        why_not_level(level, reasons[level]);
    read_brand();
}

static const char *reason_of(int level) {
    pthread_once(&once, probe);
    return reasons[level];
}

const char *host_cpu_name(void) {
    pthread_once(&once, probe);
    return brand;
}

const char *host_isa_limit(void) {
    pthread_once(&once, probe);
    return limit;
}

#else
/* No level is known for other machines yet, so every module is refused with this reason. */
static const char *const levels[] = {NULL};
enum { LEVEL_COUNT = 0 };

static const char *reason_of(int level) {
    (void)level;
    return "this machine is not x86-64";
}

const char *host_cpu_name(void) {
    return "unknown CPU";
}

const char *host_isa_limit(void) {
    return NULL;
}
#endif

const char *host_isa_level(size_t index) {
    return index < LEVEL_COUNT ? levels[index] : NULL;
}

const char *host_isa(void) {
    for (int level = 0; level < LEVEL_COUNT; level++)
        if (!reason_of(level)[0])
            return levels[level];
    return "unsupported";
}

void host_isa_why_not(const char *isa, char reason_out[HOST_REASON_BYTES]) {
    for (int level = 0; level < LEVEL_COUNT; level++) {
        if (strcmp(levels[level], isa) == 0) {
            snprintf(reason_out, HOST_REASON_BYTES, "%s", reason_of(level));
            return;
        }
    }
    snprintf(reason_out, HOST_REASON_BYTES, "no ISA level of this machine is called '%.40s'", isa);
}

const char *host_unavailable(void) {
    const char *reason = reason_of(LEVEL_COUNT - 1);
    return reason[0] ? reason : NULL;
}

bool host_isa_supports(const char *isa) {
    char reason[HOST_REASON_BYTES];
    host_isa_why_not(isa, reason);
    return reason[0] == '\0';
}

uint32_t host_usable_cores(void) {
    cpu_set_t set;
    int count = sched_getaffinity(0, sizeof set, &set) == 0 ? CPU_COUNT(&set) : 0;
    if (count < 1)
        count = (int)sysconf(_SC_NPROCESSORS_ONLN);
    return count < 1 ? 1 : (uint32_t)count;
}

uint64_t host_memory_bytes(void) {
    long pages = sysconf(_SC_PHYS_PAGES), page_bytes = sysconf(_SC_PAGESIZE);
    return pages > 0 && page_bytes > 0 ? (uint64_t)pages * (uint64_t)page_bytes : 0;
}
