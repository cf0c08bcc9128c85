/* frames.c - see frames.h. In the handler nothing is allocated; the places of what is loaded are
 * looked up there, since LLVM is opened late. */
#include "process/frames.h"

#include <dlfcn.h>
#include <execinfo.h>
#include <link.h>
#include <signal.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "base/sanitizer.h"
#include "common/build_id.h"
#include "process/process.h"

enum { STACK_BYTES = 64 << 10, LOOKING_S = 5 };

typedef struct place {
    uintptr_t address, base;
    char id[BUILD_ID_BYTES];
    bool found;
} place;

/* Is the address in what this one has loaded? */
static int look(struct dl_phdr_info *info, size_t size, void *context) {
    place *p = context;
    (void)size;
    for (int i = 0; i < info->dlpi_phnum && !p->found; i++) {
        const ElfW(Phdr) *h = &info->dlpi_phdr[i];
        uintptr_t begin = info->dlpi_addr + h->p_vaddr;
        p->found = h->p_type == PT_LOAD && p->address >= begin && p->address < begin + h->p_memsz;
    }
    if (p->found) {
        p->base = info->dlpi_addr;
        build_id_of(info, p->id);
    }
    return p->found;
}

/* Names are letters, digits and what C++ makes of others: no quotes, so a line stays JSON. */
static bool is_plain(const char *name) {
    static const char letters[] =
        "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz_0123456789.@$";
    return name && name[0] && strlen(name) < 128 && !name[strspn(name, letters)];
}

static void tell(uintptr_t address) {
    char line[FRAME_BYTES_MAX];
    place p = {.address = address};
    Dl_info info;
    int length;
    dl_iterate_phdr(look, &p);
    bool named = p.found && dladdr((void *)address, &info) && is_plain(info.dli_sname);
    if (!p.found)
        length = snprintf(line, sizeof line, "{\"frame\": \"generated code\"}\n");
    else
        length = snprintf(line, sizeof line, "{\"frame\": \"%.*s+0x%zx%s%s\"}\n", FRAME_ID_DIGITS,
                          p.id[0] ? p.id : "no build id", (size_t)(address - p.base),
                          named ? " " : "", named ? info.dli_sname : "");
    if (length > 0 && write(PROCESS_OUT, line, (size_t)length) < 0)
        return;
}

/* The frames of this handler and of the kernel's return from it are left out. */
static void on_signal(int number) {
    enum { OWN = 2 };
    void *frames[FRAMES_MAX];
    signal(number, SIG_DFL);
    signal(SIGALRM, SIG_DFL);
    alarm(LOOKING_S); /* whatever lock is held */
    int count = backtrace(frames, FRAMES_MAX);
    for (int i = OWN; i < count; i++)
        tell((uintptr_t)frames[i]);
    alarm(0);
    raise(number);
}

void frames_watch(void) {
    static const int numbers[] = {SIGSEGV, SIGBUS, SIGFPE, SIGILL, SIGABRT};
    static char room[STACK_BYTES];
    void *first[1];
    if (BUILT_WITH_ASAN)
        return;
    (void)backtrace(first, 1); /* loads what it needs */
    const stack_t own = {.ss_sp = room, .ss_size = sizeof room};
    sigaltstack(&own, NULL);
    for (size_t i = 0; i < sizeof numbers / sizeof *numbers; i++) {
        struct sigaction action = {.sa_handler = on_signal, .sa_flags = SA_ONSTACK | SA_NODEFER};
        sigaction(numbers[i], &action, NULL);
    }
}
