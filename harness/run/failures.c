/* failures.c - lists the folder, newest first, and removes what is too much. */
#include "run/failures.h"

#include <dirent.h>
#include <fcntl.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/arena.h"
#include "base/vec.h"
#include "repro/pack.h"
#include "repro/sign.h"

enum { HASH_DIGITS = 12 };

/* ---- names ---- */

static bool ends_with(const char *name, size_t length, const char *end) {
    size_t n = strlen(end);
    return length > n && memcmp(name + length - n, end, n) == 0;
}

bool failures_is_pack(const char *name) {
    size_t length = strlen(name);
    if (!ends_with(name, length, PACK_SUFFIX))
        return false;
    size_t stem = length - strlen(PACK_SUFFIX);
    if (stem < HASH_DIGITS + 2 || name[stem - HASH_DIGITS - 1] != '-')
        return false;
    return strspn(name + stem - HASH_DIGITS, "0123456789abcdef") == HASH_DIGITS;
}

bool failures_is_source(const char *name) {
    static const char digits[] = "0123456789";
    if (strncmp(name, "fuzz-", 5) != 0)
        return false;
    name += 5;
    size_t seed = strspn(name, digits);
    if (seed == 0 || name[seed] != '-')
        return false;
    name += seed + 1;
    size_t number = strspn(name, digits);
    return number > 0 && strcmp(name + number, ".tsr") == 0;
}

/* ---- the folder ---- */

typedef struct entry {
    char *name;
    struct timespec changed;
    uint64_t bytes;
} entry;

typedef VEC(entry) entry_list;

/* Newest first; of two that are as new, the later name. */
static int newest_first(const void *a, const void *b) {
    const entry *x = a, *y = b;
    if (x->changed.tv_sec != y->changed.tv_sec)
        return x->changed.tv_sec < y->changed.tv_sec ? 1 : -1;
    if (x->changed.tv_nsec != y->changed.tv_nsec)
        return x->changed.tv_nsec < y->changed.tv_nsec ? 1 : -1;
    return strcmp(y->name, x->name);
}

/* Ordinary files of one kind. */
static entry_list list(int folder, bool (*is_kind)(const char *name)) {
    entry_list found = {0};
    int copy = dup(folder);
    DIR *d = copy >= 0 ? fdopendir(copy) : NULL;
    struct stat s;
    if (d)
        rewinddir(d);
    for (struct dirent *e; d && (e = readdir(d));)
        if (is_kind(e->d_name) && fstatat(folder, e->d_name, &s, AT_SYMLINK_NOFOLLOW) == 0 &&
            S_ISREG(s.st_mode))
            vec_push(&found, ((entry){base_strdup(e->d_name), s.st_mtim, (uint64_t)s.st_size}));
    if (d)
        closedir(d);
    else if (copy >= 0)
        close(copy);
    if (found.count)
        qsort(found.items, found.count, sizeof *found.items, newest_first);
    return found;
}

static void release(entry_list *l) {
    for (size_t i = 0; i < l->count; i++)
        free(l->items[i].name);
    vec_release(l);
}

static int open_folder(const char *folder) {
    return open(folder, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
}

/* A pack goes with its signature. */
static bool remove_one(int folder, const char *name) {
    char beside[NAME_MAX + 1];
    int length = snprintf(beside, sizeof beside, "%s" SIGN_SUFFIX, name);
    if (unlinkat(folder, name, 0) != 0)
        return false;
    if (length < (int)sizeof beside)
        unlinkat(folder, beside, 0);
    return true;
}

void failures_trim(const char *folder, const char *path, uint32_t kept, uint64_t kept_bytes) {
    bool (*const kinds[])(const char *) = {failures_is_source, failures_is_pack};
    const char *slash = strrchr(path, '/'), *newest = slash ? slash + 1 : path;
    int fd = open_folder(folder);
    uint64_t bytes = 0;
    if (fd < 0)
        return;
    (void)utimensat(fd, newest, NULL, AT_SYMLINK_NOFOLLOW);
    for (int kind = 0; kind < 2; kind++) {
        entry_list found = list(fd, kinds[kind]);
        for (size_t i = 0; i < found.count; i++) {
            bytes += found.items[i].bytes;
            if ((i >= kept || bytes > kept_bytes) && strcmp(found.items[i].name, newest) != 0)
                remove_one(fd, found.items[i].name);
        }
        release(&found);
    }
    close(fd);
}

uint64_t failures_prune(const char *folder, failures_wanted_fn wanted, void *context) {
    int fd = open_folder(folder);
    uint64_t removed = 0;
    if (fd < 0)
        return 0;
    entry_list found = list(fd, failures_is_pack);
    for (size_t i = 0; i < found.count; i++)
        if (!wanted(context, found.items[i].name))
            removed += remove_one(fd, found.items[i].name);
    release(&found);
    close(fd);
    return removed;
}
