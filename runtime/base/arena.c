/* arena.c - bump allocation in blocks that double, a large one on large pages; a request that is
 * larger gets a block of its own. */
#include "base/arena.h"

#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>

enum {
    FIRST_BLOCK_BYTES = 4096,
    LARGE_PAGE_BYTES = 1 << 21,
    LARGEST_BLOCK_BYTES = 1 << 25,
    ALIGNMENT = 16
};

struct arena_block {
    _Alignas(16) struct arena_block *next;
    size_t used, size;
    _Alignas(16) unsigned char bytes[];
};

static void (*end_process)(void);

void base_when_out_of_memory(void (*end)(void)) {
    end_process = end;
}

void (*base_end_process(void))(void) {
    return end_process;
}

_Noreturn void base_out_of_memory(size_t size_bytes) {
    if (size_bytes)
        fprintf(stderr, "tessera: out of memory (asked for %zu bytes)\n", size_bytes);
    else
        fputs("tessera: out of memory\n", stderr);
    if (end_process)
        end_process();
    abort();
}

void *base_malloc(size_t size_bytes) {
    void *memory = malloc(size_bytes ? size_bytes : 1);
    if (!memory)
        base_out_of_memory(size_bytes);
    return memory;
}

void *base_calloc(size_t count, size_t size_bytes) {
    void *memory = calloc(count ? count : 1, size_bytes ? size_bytes : 1);
    if (!memory)
        base_out_of_memory(size_bytes);
    return memory;
}

void *base_realloc(void *memory, size_t size_bytes) {
    void *moved = realloc(memory, size_bytes ? size_bytes : 1);
    if (!moved)
        base_out_of_memory(size_bytes);
    return moved;
}

char *base_strdup(const char *text) {
    size_t size = strlen(text) + 1;
    return memcpy(base_malloc(size), text, size);
}

void arena_init(arena *a) {
    a->head = NULL;
}

void arena_release(arena *a) {
    arena_block *next;
    for (arena_block *block = a->head; block; block = next) {
        next = block->next;
        free(block);
    }
    a->head = NULL;
}

void arena_reset(arena *a) {
    arena_block *keep = a->head;
    if (!keep)
        return;
    arena rest = {keep->next};
    arena_release(&rest);
    keep->next = NULL;
    keep->used = 0;
}

/* Half the time of reading a large program went to the kernel, which gave its memory 4 KiB at a
 * time. */
static void *block_memory(size_t size_bytes) {
    if (size_bytes % LARGE_PAGE_BYTES)
        return base_malloc(size_bytes);
    void *memory = aligned_alloc(LARGE_PAGE_BYTES, size_bytes);
    if (!memory)
        base_out_of_memory(size_bytes);
#ifdef MADV_HUGEPAGE
    (void)madvise(memory, size_bytes, MADV_HUGEPAGE); /* a hint: without them it is slower */
#endif
    return memory;
}

static arena_block *add_block(arena *a, size_t need) {
    size_t size = a->head ? (sizeof *a->head + a->head->size) * 2 : FIRST_BLOCK_BYTES;
    if (size > LARGEST_BLOCK_BYTES)
        size = LARGEST_BLOCK_BYTES;
    if (size < sizeof(arena_block) + need)
        size = sizeof(arena_block) + need;
    if (size > LARGE_PAGE_BYTES)
        size = (size + LARGE_PAGE_BYTES - 1) / LARGE_PAGE_BYTES * LARGE_PAGE_BYTES;
    arena_block *block = block_memory(size);
    block->size = size - sizeof *block;
    block->used = 0;
    block->next = a->head;
    a->head = block;
    return block;
}

/* As the block has them: with what stood there before. */
static void *take(arena *a, size_t size_bytes) {
    if (size_bytes > SIZE_MAX / 2)
        base_out_of_memory(size_bytes);
    size_t need = (size_bytes + ALIGNMENT - 1) / ALIGNMENT * ALIGNMENT;
    if (need == 0)
        need = ALIGNMENT;
    arena_block *block = a->head;
    if (!block || block->size - block->used < need)
        block = add_block(a, need);
    void *memory = block->bytes + block->used;
    block->used += need;
    return memory;
}

void *arena_alloc(arena *a, size_t size_bytes) {
    return memset(take(a, size_bytes), 0, size_bytes);
}

void *arena_copy(arena *a, const void *data, size_t size_bytes) {
    void *memory = take(a, size_bytes);
    if (size_bytes)
        memcpy(memory, data, size_bytes);
    return memory;
}

char *arena_strndup(arena *a, const char *text, size_t length) {
    char *copy = take(a, length + 1);
    if (length)
        memcpy(copy, text, length);
    copy[length] = '\0';
    return copy;
}

char *arena_strdup(arena *a, const char *text) {
    return arena_strndup(a, text, strlen(text));
}

char *arena_printf(arena *a, const char *format, ...) {
    va_list args, again;
    va_start(args, format);
    va_copy(again, args);
    int length = vsnprintf(NULL, 0, format, args);
    va_end(args);
    char *string = arena_alloc(a, (size_t)(length < 0 ? 0 : length) + 1);
    if (length > 0)
        vsnprintf(string, (size_t)length + 1, format, again);
    va_end(again);
    return string;
}
