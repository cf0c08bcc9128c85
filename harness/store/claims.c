/* claims.c - which runs are being executed: byte N of the file PATH-runs is locked by the process
 * that executes run N, byte 0 by one that is choosing a run. The kernel takes the locks away with
 * the process, however it ends, and they hold between handles of one process, too (open file
 * description locks). The database itself is not locked like this: SQLite's own locks are there. */
#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

#include "store/connection.h"

enum { CHOOSING = 0 };

static bool open_claims(store *s, status *st) {
    char *path = NULL;
    if (s->claims_fd >= 0)
        return true;
    /* The file itself, whichever link to it was named. */
    if (asprintf(&path, "%s-runs", sqlite3_db_filename(s->db, "main")) < 0)
        return status_set(st, STATUS_OUT_OF_MEMORY, "out of memory");
    s->claims_fd = open(path, O_RDWR | O_CREAT | O_CLOEXEC | O_NOFOLLOW, 0666);
    if (s->claims_fd < 0)
        status_set_errno(st, errno, "cannot open %s", path);
    free(path);
    return s->claims_fd >= 0;
}

static bool lock(const store *s, short type, int64_t byte, bool wait) {
    struct flock lock = {.l_type = type, .l_whence = SEEK_SET, .l_start = byte, .l_len = 1};
    int code;
    do
        code = fcntl(s->claims_fd, wait ? F_OFD_SETLKW : F_OFD_SETLK, &lock);
    while (code != 0 && errno == EINTR);
    return code == 0;
}

bool store_choose(store *s, status *st) {
    return open_claims(s, st) && (lock(s, F_WRLCK, CHOOSING, true) ||
                                  status_set_errno(st, errno, "cannot lock %s-runs", s->path));
}

void store_chosen(store *s) {
    lock(s, F_UNLCK, CHOOSING, false);
}

bool store_claim(store *s, int64_t run, status *st) {
    if (lock(s, F_WRLCK, run, false))
        return true;
    if (errno != EAGAIN && errno != EACCES)
        return status_set_errno(st, errno, "cannot lock %s-runs", s->path);
    return status_set(st, STATUS_UNAVAILABLE, "another tsr is executing that run now");
}

bool store_is_executed(store *s, int64_t run) {
    status ignored = STATUS_INIT;
    struct flock asked = {.l_type = F_WRLCK, .l_whence = SEEK_SET, .l_start = run, .l_len = 1};
    if (!open_claims(s, &ignored))
        return false;
    return fcntl(s->claims_fd, F_OFD_GETLK, &asked) == 0 && asked.l_type != F_UNLCK;
}

void store_release_claims(store *s) {
    if (s->claims_fd >= 0)
        close(s->claims_fd);
    s->claims_fd = -1;
}
