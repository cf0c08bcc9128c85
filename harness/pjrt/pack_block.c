/* pack_block.c - blocks in which the first call of each program leaves a pack: tessera.pack() of
 * the Python package. The package finds these functions behind the table, as an extension of it. */
#include <pthread.h>
#include <stdatomic.h>
#include <stdlib.h>
#include <string.h>

#include "base/arena.h"
#include "base/text.h"
#include "pjrt/pack.h"

/* One at a time in a process. `number` is 0 outside of one, and another one each time. */
static struct {
    pthread_mutex_t lock;
    atomic_uint number;
    unsigned last;
    char *folder, *name; /* a NULL name: of all programs */
    text told;           /* a line a call: its pack, or '!' and words */
    bool has_told;
} block = {.lock = PTHREAD_MUTEX_INITIALIZER};

static char *copy_of(const char *words) {
    return words ? memcpy(base_malloc(strlen(words) + 1), words, strlen(words) + 1) : NULL;
}

static bool begin(const char *folder, const char *name) {
    pthread_mutex_lock(&block.lock);
    const bool good = atomic_load(&block.number) == 0;
    if (good) {
        if (!block.has_told)
            text_init(&block.told);
        block.has_told = true;
        text_clear(&block.told);
        block.folder = copy_of(folder);
        block.name = copy_of(name);
        block.last += block.last + 1 == 0 ? 2 : 1;
        atomic_store(&block.number, block.last);
    }
    pthread_mutex_unlock(&block.lock);
    return good;
}

/* The lines stay until the next one begins. */
static const char *end(void) {
    pthread_mutex_lock(&block.lock);
    atomic_store(&block.number, 0);
    free(block.folder);
    free(block.name);
    block.folder = block.name = NULL;
    const char *told = block.has_told ? block.told.data : "";
    pthread_mutex_unlock(&block.lock);
    return told;
}

unsigned pack_block_number(void) {
    return atomic_load(&block.number);
}

char *pack_block_folder(unsigned number, const char *name) {
    char *folder = NULL;
    pthread_mutex_lock(&block.lock);
    if (atomic_load(&block.number) == number && (!block.name || strcmp(block.name, name) == 0))
        folder = copy_of(block.folder);
    pthread_mutex_unlock(&block.lock);
    return folder;
}

void pack_block_tell(unsigned number, bool good, const char *words) {
    pthread_mutex_lock(&block.lock);
    if (atomic_load(&block.number) == number)
        text_printf(&block.told, "%s%s\n", good ? "" : "!", words);
    pthread_mutex_unlock(&block.lock);
}

const pack_extension pack_functions = {
    .struct_size = sizeof(pack_extension), .type = PACK_EXTENSION, .begin = begin, .end = end};
