/* output.c - looks at what is there before it writes. */
#include "report/output.h"

#include <errno.h>
#include <fcntl.h>
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

static bool write_straight(const char *path, const char *data, size_t size_bytes, status *st) {
    int fd = open(path, O_WRONLY | O_CLOEXEC | O_NOCTTY);
    if (fd < 0)
        return status_set_errno(st, errno, "cannot open %s", path);
    size_t done = 0;
    int error = 0;
    while (done < size_bytes && !error) {
        ssize_t n = write(fd, data + done, size_bytes - done);
        if (n >= 0)
            done += (size_t)n;
        else if (errno != EINTR)
            error = errno;
    }
    if (close(fd) != 0 && !error)
        error = errno;
    return !error || status_set_errno(st, error, "cannot write %s", path);
}

bool output_write(const char *path, const void *data, size_t size_bytes, status *st) {
    struct stat info;
    if (!output_check(path, st))
        return false;
    if (stat(path, &info) == 0 && !S_ISREG(info.st_mode))
        return write_straight(path, data, size_bytes, st);
    char *target = realpath(path, NULL);
    bool ok = file_write_atomic(target ? target : path, data, size_bytes, st);
    free(target);
    return ok;
}
