/* state.c - the struct as it lies in memory, and its hash. */
#include "math/check/state.h"

#include <stdlib.h>
#include <string.h>

#include "base/file.h"

static const char magic[16] = "tsr.exhaust/1";

static bool valid(const char *data, size_t size, const sha256 *key) {
    progress_state s;
    if (size != sizeof s + sizeof(sha256))
        return false;
    memcpy(&s, data, sizeof s);
    sha256 digest = sha256_of(data, sizeof s);
    return memcmp(data + sizeof s, &digest, sizeof digest) == 0 &&
           memcmp(s.magic, magic, sizeof magic) == 0 && memcmp(&s.key, key, sizeof *key) == 0;
}

bool state_load(progress_state *s, const char *path, const sha256 *key) {
    char *data = NULL;
    size_t size = 0;
    memset(s, 0, sizeof *s);
    memcpy(s->magic, magic, sizeof magic);
    s->key = *key;
    if (!file_read(path, 1 << 20, &data, &size, NULL))
        return false;
    bool taken = valid(data, size, key);
    if (taken)
        memcpy(s, data, sizeof *s);
    free(data);
    return taken && state_done(s) > 0;
}

bool state_save(const progress_state *s, const char *path, status *st) {
    sha256 digest = sha256_of(s, sizeof *s);
    file_part parts[] = {{s, sizeof *s}, {&digest, sizeof digest}};
    return file_write_parts(path, parts, 2, st);
}

uint32_t state_done(const progress_state *s) {
    uint32_t count = 0;
    for (uint32_t i = 0; i < STATE_UNITS; i++)
        count += s->done[i];
    return count;
}
