/* system.h - what a kernel without a library asks the system for: system calls, and where the clock
 * is read. Included by kernels.c alone. */
#ifndef TESSERA_HARNESS_TEST_CHEATS_SYSTEM_H
#define TESSERA_HARNESS_TEST_CHEATS_SYSTEM_H

#include <stdint.h>

static long ask(long number, long a, long b, long c, long d, long e) {
    register long r10 __asm__("r10") = d;
    register long r8 __asm__("r8") = e;
    long result;
    __asm__ volatile("syscall"
                     : "=a"(result)
                     : "0"(number), "D"(a), "S"(b), "d"(c), "r"(r10), "r"(r8)
                     : "rcx", "r11", "memory");
    return result;
}

enum {
    SYS_READ = 0,
    SYS_CLOSE = 3,
    SYS_MPROTECT = 10,
    SYS_SIGACTION = 13,
    SYS_SIGPROCMASK = 14,
    SYS_NANOSLEEP = 35,
    SYS_CLOCK_GETTIME = 228,
    SYS_OPENAT = 257
};

static unsigned char *vdso(void) {
    static const char path[] = "/proc/self/auxv";
    long pair[2] = {0, 0};
    unsigned char *found = 0;
    long fd = ask(SYS_OPENAT, -100, (long)path, 0, 0, 0);
    while (ask(SYS_READ, fd, (long)pair, sizeof pair, 0, 0) == sizeof pair && pair[0] != 0)
        if (pair[0] == 33) /* AT_SYSINFO_EHDR */
            found = (unsigned char *)(uintptr_t)pair[1];
    ask(SYS_CLOSE, fd, 0, 0, 0, 0);
    return found;
}

static int same(const char *a, const char *b) {
    while (*a && *a == *b)
        a++, b++;
    return *a == *b;
}

static uint64_t at64(const unsigned char *p) {
    return *(const uint64_t *)(const void *)p;
}

static uint32_t at32(const unsigned char *p) {
    return *(const uint32_t *)(const void *)p;
}

/* The function in the vDSO, by its section headers' dynamic symbols; NULL: not found. */
static unsigned char *clock_function(unsigned char *image) {
    unsigned char *sections = image + at64(image + 40);
    int count = *(const uint16_t *)(const void *)(image + 60);
    for (int s = 0; s < count; s++) {
        const unsigned char *section = sections + 64 * s;
        if (at32(section + 4) != 11) /* SHT_DYNSYM */
            continue;
        const unsigned char *symbols = image + at64(section + 24);
        const char *names = (const char *)image + at64(sections + 64 * at32(section + 40) + 24);
        for (uint64_t i = 0; i < at64(section + 32) / 24; i++)
            if (same(names + at32(symbols + 24 * i), "__vdso_clock_gettime"))
                return image + at64(symbols + 24 * i + 8);
    }
    return 0;
}

#endif
