/* cache_size.c - asks the kernel. The C library comes second: on some AMD CPUs its last cache is
 * that of the whole socket (384 MiB where a core has 32 MiB). */
#include "measure/cache_size.h"

#include <stdbool.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

enum { INDEXES = 8 };

static bool read_word(const char *directory, int index, const char *name, char word[32]) {
    char path[512];
    snprintf(path, sizeof path, "%s/index%d/%s", directory, index, name);
    FILE *file = fopen(path, "re");
    bool ok = file && fscanf(file, "%31s", word) == 1;
    if (file)
        fclose(file);
    return ok;
}

/* "32768K" */
static uint64_t bytes_of(const char *word) {
    unsigned long long number = 0;
    char unit = '\0';
    if (sscanf(word, "%llu%c", &number, &unit) < 1)
        return 0;
    return (uint64_t)number << (unit == 'K' ? 10 : unit == 'M' ? 20 : 0);
}

uint64_t cache_size_in(const char *directory, int level) {
    char wanted[8], word[32];
    snprintf(wanted, sizeof wanted, "%d", level);
    for (int i = 0; i < INDEXES; i++) {
        if (!read_word(directory, i, "level", word) || strcmp(word, wanted) != 0 ||
            !read_word(directory, i, "type", word) || strcmp(word, "Instruction") == 0 ||
            !read_word(directory, i, "size", word))
            continue;
        return bytes_of(word);
    }
    return 0;
}

uint64_t cache_size(int level) {
    static const int names[] = {_SC_LEVEL1_DCACHE_SIZE, _SC_LEVEL2_CACHE_SIZE,
                                _SC_LEVEL3_CACHE_SIZE};
    static const uint64_t common[] = {32u << 10, 512u << 10, 8u << 20};
    uint64_t bytes = cache_size_in("/sys/devices/system/cpu/cpu0/cache", level);
    if (bytes)
        return bytes;
    long known = sysconf(names[level - 1]);
    return known > 0 ? (uint64_t)known : common[level - 1];
}
