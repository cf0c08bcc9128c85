/* file.c - whole-file reads and atomic writes. */
#include "base/file.h"

#include <errno.h>
#include <fcntl.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/arena.h"
#include "base/text.h"

/* Reads to the end of the file, `size` expected; a file that grows meanwhile is cut, one that
 * shrinks is short. */
static bool read_all(int fd, const char *path, char *data, size_t *size, status *st) {
    size_t got = 0;
    while (got < *size) {
        ssize_t n = read(fd, data + got, *size - got);
        if (n < 0 && errno == EINTR)
            continue;
        if (n < 0)
            return status_set_errno(st, errno, "cannot read %s", path);
        if (n == 0)
            break;
        got += (size_t)n;
    }
    *size = got;
    data[got] = '\0';
    return true;
}

bool file_read(const char *path, size_t limit_bytes, char **data_out, size_t *size_out,
               status *st) {
    struct stat info;
    char *data = NULL;
    bool ok = false;
    int fd = open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK);
    if (fd < 0)
        return status_set_errno(st, errno, "cannot open %s", path);
    if (fstat(fd, &info) != 0) {
        status_set_errno(st, errno, "cannot stat %s", path);
        goto out;
    }
    if (!S_ISREG(info.st_mode)) {
        status_set(st, STATUS_INVALID, "%s is not a regular file", path);
        goto out;
    }
    size_t size = (size_t)info.st_size;
    if (size > limit_bytes) {
        status_set(st, STATUS_INVALID, "%s has %zu bytes; at most %zu are read here", path, size,
                   limit_bytes);
        goto out;
    }
    data = malloc(size + 1);
    if (!data) {
        status_set(st, STATUS_OUT_OF_MEMORY, "no memory for the %zu bytes of %s", size, path);
        goto out;
    }
    if (!read_all(fd, path, data, &size, st))
        goto out;
    *data_out = data;
    if (size_out)
        *size_out = size;
    data = NULL;
    ok = true;
out:
    free(data);
    close(fd);
    return ok;
}

bool file_append(int fd, const void *data, size_t size_bytes) {
    size_t done = 0;
    while (done < size_bytes) {
        ssize_t n = write(fd, (const char *)data + done, size_bytes - done);
        if (n < 0 && errno == EINTR)
            continue;
        if (n < 0)
            return false;
        done += (size_t)n;
    }
    return true;
}

void file_own_program(char *out, size_t size_bytes) {
    const ssize_t length = readlink("/proc/self/exe", out, size_bytes - 1);
    out[length > 0 ? length : 0] = '\0';
}

static bool write_and_sync(int fd, const file_part *parts, size_t count) {
    for (size_t i = 0; i < count; i++)
        if (!file_append(fd, parts[i].data, parts[i].size_bytes))
            return false;
    return fsync(fd) == 0;
}

/* The rename itself is durable only once the folder is; some file systems refuse to sync folders,
 * which is theirs. */
static void sync_parent(const char *path) {
    char *parent = base_strdup(path);
    char *slash = strrchr(parent, '/');
    if (slash)
        slash[slash == parent] = '\0';
    int fd = open(slash ? parent : ".", O_RDONLY | O_DIRECTORY | O_CLOEXEC);
    if (fd >= 0) {
        (void)fsync(fd);
        close(fd);
    }
    free(parent);
}

/* The temporary file that is being written; there is rarely more than one. */
static _Atomic(const char *) unfinished;

void file_discard_unfinished(void) {
    const char *name = atomic_load(&unfinished);
    if (name)
        unlink(name);
}

/* mkstemp would make the file unreadable for others; O_EXCL and a unique name keep the umask. */
static int open_temporary(const char *path, text *name) {
    static atomic_uint serial;
    text_printf(name, "%s.tmp-%ld-%u", path, (long)getpid(), atomic_fetch_add(&serial, 1));
    atomic_store(&unfinished, name->data);
    return open(name->data, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0666);
}

static bool replace_file(const char *path, const file_part *parts, size_t count, status *st) {
    bool ok = false;
    text name;
    text_init(&name);
    int fd = open_temporary(path, &name);
    if (fd < 0) {
        status_set_errno(st, errno, "cannot create a file beside %s", path);
        atomic_store(&unfinished, NULL);
        goto out;
    }
    ok = write_and_sync(fd, parts, count);
    int error = errno;
    if (close(fd) != 0 && ok) {
        error = errno;
        ok = false;
    }
    if (ok && rename(name.data, path) != 0) {
        error = errno;
        ok = false;
    }
    atomic_store(&unfinished, NULL);
    if (ok) {
        sync_parent(path);
    } else {
        unlink(name.data);
        status_set_errno(st, error, "cannot write %s", path);
    }
out:
    text_release(&name);
    return ok;
}

static bool write_into(const char *path, int flags, const file_part *parts, size_t count,
                       status *st) {
    int fd = open(path, O_WRONLY | O_CLOEXEC | O_NOCTTY | flags, 0666);
    if (fd < 0)
        return status_set_errno(st, errno, "cannot open %s", path);
    bool ok = true;
    for (size_t i = 0; i < count && ok; i++)
        ok = file_append(fd, parts[i].data, parts[i].size_bytes);
    int error = errno;
    if (close(fd) != 0 && ok) {
        error = errno;
        ok = false;
    }
    return ok || status_set_errno(st, error, "cannot write %s", path);
}

bool file_write_parts(const char *path, const file_part *parts, size_t count, status *st) {
    struct stat info;
    if (stat(path, &info) == 0 && !S_ISREG(info.st_mode) && !S_ISDIR(info.st_mode))
        return write_into(path, 0, parts, count, st); /* a pipe or a device stays what it is */
    char *target = realpath(path, NULL);
    bool ok = replace_file(target ? target : path, parts, count, st);
    free(target);
    return ok;
}

bool file_write_scratch(const char *path, const file_part *parts, size_t count, status *st) {
    return write_into(path, O_CREAT | O_TRUNC, parts, count, st);
}

bool file_write_atomic(const char *path, const void *data, size_t size_bytes, status *st) {
    file_part part = {data, size_bytes};
    return file_write_parts(path, &part, 1, st);
}

bool file_make_dirs(const char *path, status *st) {
    char *partial = base_strdup(path);
    bool ok = true;
    for (char *p = partial + 1; ok && partial[0]; p++) {
        if (*p != '/' && *p != '\0')
            continue;
        char saved = *p;
        *p = '\0';
        if (mkdir(partial, 0777) != 0 && !(errno == EEXIST && file_is_dir(partial)))
            ok = status_set_errno(st, errno, "cannot make the folder %s", partial);
        *p = saved;
        if (saved == '\0')
            break;
    }
    free(partial);
    return ok;
}

bool file_make_parent(const char *path, status *st) {
    const char *slash = strrchr(path, '/');
    text folder;
    text_init(&folder);
    if (slash && slash != path)
        text_append_bytes(&folder, path, (size_t)(slash - path));
    bool ok = folder.length == 0 || file_make_dirs(folder.data, st);
    text_release(&folder);
    return ok;
}

int file_lock_beside(const char *path, status *st) {
    text name;
    text_init(&name);
    text_printf(&name, "%s.lock", path);
    int fd = open(name.data, O_RDWR | O_CREAT | O_CLOEXEC, 0666);
    int locked = -1;
    while (fd >= 0 && (locked = flock(fd, LOCK_EX)) != 0 && errno == EINTR)
        continue;
    if (locked != 0)
        status_set_errno(st, errno, "cannot lock %s", name.data);
    if (locked != 0 && fd >= 0) {
        close(fd);
        fd = -1;
    }
    text_release(&name);
    return fd;
}

bool file_exists(const char *path) {
    return access(path, F_OK) == 0;
}

bool file_is_dir(const char *path) {
    struct stat info;
    return stat(path, &info) == 0 && S_ISDIR(info.st_mode);
}

bool file_is_same(const char *a, const char *b) {
    struct stat x, y;
    return stat(a, &x) == 0 && stat(b, &y) == 0 && x.st_dev == y.st_dev && x.st_ino == y.st_ino;
}
