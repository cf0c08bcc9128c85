/* output.c - looks at what is there before it writes. */
#include "common/output.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/arena.h"
#include "base/file.h"

static char *folder_of(const char *path) {
    const char *slash = strrchr(path, '/');
    char *folder = base_strdup(!slash ? "." : slash == path ? "/" : path);
    if (slash && slash != path)
        folder[slash - path] = '\0';
    return folder;
}

bool output_check(const char *path, status *st) {
    struct stat info;
    if (file_is_dir(path))
        return status_set(st, STATUS_INVALID, "cannot write %s: it is a folder", path);
    if (stat(path, &info) == 0 && !S_ISREG(info.st_mode))
        return true;
    char *folder = folder_of(path);
    bool ok = true;
    if (!file_is_dir(folder))
        ok = status_set(st, STATUS_NOT_FOUND, "cannot write %s: there is no folder %s", path,
                        folder);
    else if (access(folder, W_OK | X_OK) != 0)
        ok = status_set_errno(st, errno, "cannot write %s", path);
    free(folder);
    return ok;
}

bool output_write(const char *path, const void *data, size_t size_bytes, status *st) {
    return output_check(path, st) && file_write_atomic(path, data, size_bytes, st);
}
