/* clock.c - a shared object that brings a clock of its own, as one that is preloaded does: half as
 * fast, or stopped, exported under the name of the C library's, and put where the program that
 * loads it calls it. It computes products of 16 x 16 floats; cheats.def has it. */
#include <dlfcn.h>
#include <elf.h>
#include <link.h>
#include <stdint.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

#include "test/cheats/product.h"

enum { PAGE = 4096 };
static int stopped;

__attribute__((visibility("default"))) int clock_gettime(clockid_t clock, struct timespec *out) {
    static const long second_ns = 1000000000;
    if (stopped) {
        *out = (struct timespec){1, 0};
        return 0;
    }
    long result = syscall(SYS_clock_gettime, clock, out);
    int64_t ns = (out->tv_sec * second_ns + out->tv_nsec) / 2;
    out->tv_sec = ns / second_ns;
    out->tv_nsec = ns % second_ns;
    return (int)result;
}

static void put_into(const struct link_map *program) {
    const ElfW(Rela) *relocations = NULL;
    const ElfW(Sym) *symbols = NULL;
    const char *names = NULL;
    size_t bytes = 0;
    for (const ElfW(Dyn) *d = program->l_ld; d->d_tag != DT_NULL; d++)
        if (d->d_tag == DT_JMPREL)
            relocations = (const void *)d->d_un.d_ptr; // NOLINT(performance-no-int-to-ptr)
        else if (d->d_tag == DT_PLTRELSZ)
            bytes = d->d_un.d_val;
        else if (d->d_tag == DT_SYMTAB)
            symbols = (const void *)d->d_un.d_ptr; // NOLINT(performance-no-int-to-ptr)
        else if (d->d_tag == DT_STRTAB)
            names = (const void *)d->d_un.d_ptr; // NOLINT(performance-no-int-to-ptr)
    for (size_t i = 0; relocations && i < bytes / sizeof *relocations; i++) {
        const char *name = names + symbols[ELF64_R_SYM(relocations[i].r_info)].st_name;
        uintptr_t place = program->l_addr + relocations[i].r_offset;
        int (*clock)(clockid_t, struct timespec *) = clock_gettime;
        void *page = (void *)(place / PAGE * PAGE); // NOLINT(performance-no-int-to-ptr)
        if (strcmp(name, "clock_gettime") == 0 &&
            mprotect(page, 2 * (size_t)PAGE, PROT_READ | PROT_WRITE) == 0)
            memcpy((void *)place, &clock, sizeof clock); // NOLINT(performance-no-int-to-ptr)
    }
}

__attribute__((constructor)) static void begin(void) {
    void *self = dlopen(NULL, RTLD_NOW);
    if (self)
        put_into(self);
}

TSR_IMPLEMENTATION int shared_own_clock(DLTensor *const *t, int32_t count) {
    return product(t, count);
}

TSR_IMPLEMENTATION int shared_stopped_clock(DLTensor *const *t, int32_t count) {
    stopped = 1;
    return product(t, count);
}
