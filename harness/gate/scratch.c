/* scratch.c - a file that is unlinked as soon as it is there. */
#include "gate/scratch.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

enum { ALIGNMENT = 64 };

bool scratch_open(scratch *s, status *st) {
    const char *folder = getenv("TMPDIR");
    char name[512];
    snprintf(name, sizeof name, "%s/tsr-gate-XXXXXX", folder && *folder ? folder : "/tmp");
    *s = (scratch){.fd = mkostemp(name, O_CLOEXEC)};
    if (s->fd < 0)
        return status_set_errno(st, errno, "cannot make a scratch file %s", name);
    unlink(name);
    snprintf(s->path, sizeof s->path, "/proc/%ld/fd/%d", (long)getpid(), s->fd);
    return true;
}

void scratch_close(scratch *s) {
    if (s->fd >= 0)
        close(s->fd);
    s->fd = -1;
}

bool scratch_put(scratch *s, const void *data, size_t size_bytes, uint64_t *offset, status *st) {
    uint64_t start = (s->used + ALIGNMENT - 1) / ALIGNMENT * ALIGNMENT;
    size_t done = 0;
    while (done < size_bytes) {
        ssize_t n =
            pwrite(s->fd, (const char *)data + done, size_bytes - done, (off_t)(start + done));
        if (n < 0 && errno == EINTR)
            continue;
        if (n <= 0)
            return status_set_errno(st, n < 0 ? errno : ENOSPC,
                                    "no room for the gate's modules and inputs");
        done += (size_t)n;
    }
    *offset = start;
    s->used = start + size_bytes;
    return true;
}

const unsigned char *scratch_map(const char *path) {
    struct stat info;
    int fd = open(path, O_RDONLY | O_CLOEXEC);
    if (fd < 0)
        return NULL;
    void *data = MAP_FAILED;
    if (fstat(fd, &info) == 0)
        data = mmap(NULL, info.st_size ? (size_t)info.st_size : 1, PROT_READ, MAP_PRIVATE, fd, 0);
    close(fd);
    return data == MAP_FAILED ? NULL : data;
}
