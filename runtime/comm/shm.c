/* shm.c - ranks that are processes of one machine: a board in a file of shared memory.
 *
 * The first one makes the file, the last one that comes takes its name away. A rank holds a lock on
 * its own byte of it, which the kernel takes away when the process ends, however it does. */
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

#include "base/arena.h"
#include "base/clock.h"
#include "comm/board.h"

typedef struct shared_seat {
    board_view view;
    size_t bytes;
    char path[COMM_NAME_BYTES + 32];
} shared_seat;

static struct flock lock_of(uint32_t rank) {
    return (struct flock){
        .l_type = F_WRLCK, .l_whence = SEEK_SET, .l_start = (off_t)rank, .l_len = 1};
}

static bool lives(const board_view *v, uint32_t rank) {
    struct flock l = lock_of(rank);
    return fcntl(v->file, F_OFD_GETLK, &l) != 0 || l.l_type != F_UNLCK;
}

static void nap(void) {
    const struct timespec a_while = {0, 1000000};
    nanosleep(&a_while, NULL);
}

/* Makes the file, or waits until its maker is through. */
static bool map_board(shared_seat *s, const comm_options *o, status *st) {
    const uint64_t end = clock_now_ns() + s->view.timeout_ns;
    bool made = true;
    struct stat info = {0};
    int file = shm_open(s->path, O_RDWR | O_CREAT | O_EXCL | O_CLOEXEC, 0600);
    if (file < 0 && errno == EEXIST) {
        made = false;
        file = shm_open(s->path, O_RDWR | O_CLOEXEC, 0);
    }
    if (file < 0)
        return status_set_errno(st, errno, "cannot open the shared memory %s", s->path);
    s->view.file = file;
    if (made && ftruncate(file, (off_t)s->bytes) != 0)
        return status_set_errno(st, errno, "cannot make %zu bytes of shared memory", s->bytes);
    while (!made && fstat(file, &info) == 0 && info.st_size == 0 && clock_now_ns() < end)
        nap();
    if (!made && (size_t)info.st_size != s->bytes)
        return status_set(st, STATUS_INVALID,
                          "rank %u is of %u ranks, and others by the name '%s' are not", o->rank,
                          o->count, s->path + 1);
    void *at = mmap(NULL, s->bytes, PROT_READ | PROT_WRITE, MAP_SHARED, file, 0);
    if (at == MAP_FAILED)
        return status_set_errno(st, errno, "cannot map %zu bytes of shared memory", s->bytes);
    s->view.board = at;
    if (made)
        board_init(at, o->count, true);
    while (!atomic_load(&s->view.board->ready) && clock_now_ns() < end)
        nap();
    return atomic_load(&s->view.board->ready) == 1 ||
           status_set(st, STATUS_UNAVAILABLE,
                      "the rank that made the shared memory '%s' is lost: "
                      "take another name",
                      s->path + 1);
}

static bool take_seat(shared_seat *s, const comm_options *o, status *st) {
    struct flock l = lock_of(o->rank);
    if (fcntl(s->view.file, F_OFD_SETLK, &l) != 0)
        return status_set(st, STATUS_INVALID,
                          "rank %u is there already: each rank has a number of "
                          "its own",
                          o->rank);
    if (!board_sit(&s->view, st))
        return false;
    if (atomic_load(&s->view.board->present) == o->count)
        shm_unlink(s->path);
    return true;
}

static void release(shared_seat *s) {
    if (s->view.board)
        munmap(s->view.board, s->bytes);
    if (s->view.file >= 0)
        close(s->view.file);
    free(s);
}

static bool open_seat(comm *c, const comm_options *o, status *st) {
    if (o->count > BOARD_RANKS_MAX)
        return status_set(st, STATUS_INVALID, "one machine has at most %d ranks", BOARD_RANKS_MAX);
    shared_seat *s = base_calloc(1, sizeof *s);
    s->bytes = board_bytes(o->count, true);
    s->view = (board_view){NULL, o->rank, c->timeout_ns, lives, -1};
    snprintf(s->path, sizeof s->path, "/tessera-%u-%s", (unsigned)getuid(),
             o->name ? o->name : "ranks");
    if (!map_board(s, o, st) || !take_seat(s, o, st)) {
        release(s);
        return false;
    }
    c->state = s;
    return true;
}

static void close_seat(comm *c) {
    shared_seat *s = c->state;
    board_leave(&s->view);
    if (atomic_load(&s->view.board->present) < c->count && board_is_empty(s->view.board))
        shm_unlink(s->path); /* it was never complete, and nobody waits there */
    release(s);
}

static bool exchange(comm *c, uint64_t number, const comm_message *messages, uint32_t count,
                     status *st) {
    return board_exchange(&((shared_seat *)c->state)->view, number, messages, count, st);
}

board_view *board_of_shm(const comm *c) {
    return &((shared_seat *)c->state)->view;
}

static void fail(comm *c, const char *why) {
    shared_seat *s = c->state;
    board_fail(s->view.board, why);
    if (atomic_load(&s->view.board->present) < c->count)
        shm_unlink(s->path);
}

const comm_transport comm_shm = {"shm",      "processes of one machine, by rings in shared memory",
                                 NULL,       open_seat,
                                 close_seat, exchange,
                                 fail};
