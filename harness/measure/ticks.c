/* ticks.c - see ticks.h. */
#include "measure/ticks.h"

#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

#include "measure/cpu_feature.h"

#if defined(__x86_64__)
#include <x86intrin.h>

bool ticks_are_constant(void) {
    static int known; /* 1: no, 2: yes */
    if (!known)
        known = cpu_has_feature("constant_tsc") ? 2 : 1;
    return known == 2;
}

uint64_t ticks_now(void) {
    _mm_lfence();
    return __rdtsc();
}

static long ask(int clock, struct timespec *now) {
    long result;
    __asm__ volatile("syscall"
                     : "=a"(result)
                     : "0"((long)SYS_clock_gettime), "D"((long)clock), "S"(now)
                     : "rcx", "r11", "memory");
    return result;
}
#else
#if defined(__aarch64__)
bool ticks_are_constant(void) {
    return true;
}

uint64_t ticks_now(void) {
    uint64_t ticks;
    __asm__ volatile("isb\n\tmrs %0, cntvct_el0" : "=r"(ticks));
    return ticks;
}
#else
bool ticks_are_constant(void) {
    return false;
}

uint64_t ticks_now(void) {
    return 0;
}
#endif

static long ask(int clock, struct timespec *now) {
    return syscall(SYS_clock_gettime, clock, now);
}
#endif

uint64_t ticks_kernel_ns(void) {
    struct timespec now = {0, 0};
    if (ask(CLOCK_MONOTONIC_RAW, &now) != 0)
        return 0;
    return (uint64_t)now.tv_sec * 1000000000u + (uint64_t)now.tv_nsec;
}
