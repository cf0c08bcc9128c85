/* fault.c - crashes, hangs or eats all memory, on request. */
#include "fault.h"

#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/arena.h"
#include "base/text.h"

enum { OOM_STEP_BYTES = 1 << 26 };

static void eat_memory(void) {
    for (;;) {
        void *memory = base_malloc(OOM_STEP_BYTES);
        memset(memory, 1, OOM_STEP_BYTES);
        /* Kept on purpose: the compiler may not drop the pair of calls. */
        __asm__ volatile("" : : "r"(memory) : "memory");
    }
}

void fault_trigger(const char *kernel, const char *case_name) {
    const char *fault = getenv("TSR_TEST_FAULT");
    const char *at = fault ? strchr(fault, '@') : NULL;
    if (!at)
        return;
    text name;
    text_init(&name);
    text_printf(&name, "%s/%s", kernel, case_name);
    bool meant = strcmp(at + 1, name.data) == 0;
    text_release(&name);
    if (!meant)
        return;
    if (strncmp(fault, "crash@", 6) == 0) {
        signal(SIGSEGV, SIG_DFL);
        raise(SIGSEGV);
    }
    if (strncmp(fault, "hang@", 5) == 0)
        for (;;)
            pause();
    if (strncmp(fault, "oom@", 4) == 0)
        eat_memory();
}
