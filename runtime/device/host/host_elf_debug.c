/* host_elf_debug.c - tells gdb (its JIT interface) and perf (its map file) about loaded code. */
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/arena.h"
#include "device/host/host_elf_parts.h"

/* Names, layout and values are gdb's ("JIT Compilation Interface" in its manual). */
typedef struct elf_debug_entry jit_code_entry;
struct elf_debug_entry {
    jit_code_entry *next, *previous;
    unsigned char *image;
    uint64_t size_bytes;
};

typedef struct jit_descriptor {
    uint32_t version, action;
    jit_code_entry *relevant, *first;
} jit_descriptor;

enum { JIT_NOACTION, JIT_REGISTER, JIT_UNREGISTER };

void __jit_debug_register_code(void);
extern jit_descriptor __jit_debug_descriptor;

/* gdb sets a breakpoint in here; the empty asm keeps the call. */
void __attribute__((noinline)) __jit_debug_register_code(void) {
    __asm__ volatile("" ::: "memory");
}

jit_descriptor __jit_debug_descriptor = {1, JIT_NOACTION, NULL, NULL};
static pthread_mutex_t mutex = PTHREAD_MUTEX_INITIALIZER;

static void announce(jit_code_entry *entry, uint32_t action) {
    __jit_debug_descriptor.relevant = entry;
    __jit_debug_descriptor.action = action;
    __jit_debug_register_code();
}

elf_debug_entry *elf_debug_register(unsigned char *image, size_t size_bytes) {
    jit_code_entry *entry = base_calloc(1, sizeof *entry);
    entry->image = image;
    entry->size_bytes = size_bytes;
    pthread_mutex_lock(&mutex);
    entry->next = __jit_debug_descriptor.first;
    if (entry->next)
        entry->next->previous = entry;
    __jit_debug_descriptor.first = entry;
    announce(entry, JIT_REGISTER);
    pthread_mutex_unlock(&mutex);
    return entry;
}

void elf_debug_unregister(elf_debug_entry *entry) {
    if (!entry)
        return;
    pthread_mutex_lock(&mutex);
    if (entry->previous)
        entry->previous->next = entry->next;
    else
        __jit_debug_descriptor.first = entry->next;
    if (entry->next)
        entry->next->previous = entry->previous;
    announce(entry, JIT_UNREGISTER);
    pthread_mutex_unlock(&mutex);
    free(entry->image);
    free(entry);
}

static bool perf_map_wanted(void) {
    const char *wanted = getenv("TSR_PERF_MAP");
    return wanted && strcmp(wanted, "1") == 0;
}

void elf_perf_map_add(const void *code, size_t size_bytes, const char *name) {
    if (!perf_map_wanted())
        return;
    char path[64];
    snprintf(path, sizeof path, "/tmp/perf-%ld.map", (long)getpid());
    pthread_mutex_lock(&mutex);
    FILE *file = fopen(path, "ae");
    if (file) {
        fprintf(file, "%llx %zx %s\n", (unsigned long long)(uintptr_t)code, size_bytes, name);
        fclose(file);
    }
    pthread_mutex_unlock(&mutex);
}
