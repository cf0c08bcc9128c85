/* serve.c - the guest's loop: calls from the ring, requests from the socket. */
#include <errno.h>
#include <linux/capability.h>
#include <poll.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/socket.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "base/thread.h"
#include "device/foreign/guest_pages.h"
#include "guest/guest.h"

enum { DESCRIPTION_BYTES_MAX = 1 << 20, EXIT_NO_DEVICE = 2 };
static const uint64_t sleep_ns = 1000000000;

typedef struct server {
    const guest_kind *kinds, *kind; /* kind: NULL until one is open */
    guest_function function;
    guest_ring *ring;
    uint64_t known, ended; /* calls: seen in the ring, and done */
    unsigned answered;     /* requests */
} server;

/* ---- rights ---- */

/* Keeps no right of root but that to read files. The guest can then neither read nor trace the
 * device's process, which makes itself unreadable to its user's other ones, and no program that it
 * starts gets more. Call it before there is a second thread: capabilities are those of a thread. */
static bool give_up_rights(void) {
    const uint32_t kept = UINT32_C(1) << CAP_DAC_READ_SEARCH;
    struct __user_cap_header_struct header = {_LINUX_CAPABILITY_VERSION_3, 0};
    struct __user_cap_data_struct sets[_LINUX_CAPABILITY_U32S_3];
    if (prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) != 0 || syscall(SYS_capget, &header, sets) != 0)
        return false;
    sets[0].effective &= kept;
    sets[0].permitted &= kept;
    sets[0].inheritable = sets[1].effective = sets[1].permitted = sets[1].inheritable = 0;
    return syscall(SYS_capset, &header, sets) == 0;
}

/* ---- requests ---- */

/* Returns false where the device is gone. */
static bool receive(guest_request *request, int *descriptors, int count) {
    char room[CMSG_SPACE(2 * sizeof(int))];
    struct iovec bytes = {request, sizeof *request};
    struct msghdr message = {
        .msg_iov = &bytes, .msg_iovlen = 1, .msg_control = room, .msg_controllen = sizeof room};
    ssize_t got;
    do
        got = recvmsg(GUEST_SOCKET, &message, MSG_CMSG_CLOEXEC);
    while (got < 0 && errno == EINTR);
    const struct cmsghdr *extra = CMSG_FIRSTHDR(&message);
    if (got == (ssize_t)sizeof *request && extra && extra->cmsg_type == SCM_RIGHTS)
        memcpy(descriptors, CMSG_DATA(extra),
               extra->cmsg_len - CMSG_LEN(0) < (size_t)count * sizeof(int)
                   ? extra->cmsg_len - CMSG_LEN(0)
                   : (size_t)count * sizeof(int));
    return got == (ssize_t)sizeof *request;
}

static void *map(int descriptor, uint64_t size_bytes, int rights) {
    void *at =
        descriptor < 0 ? MAP_FAILED : mmap(NULL, size_bytes, rights, MAP_SHARED, descriptor, 0);
    return at == MAP_FAILED ? NULL : at;
}

static bool open_kind(server *s, status *st) {
    for (const guest_kind *k = s->kinds; k->name; k++)
        if (strcmp(k->name, s->function.kind) == 0) {
            s->kind = k;
            return k->open(&s->function, st);
        }
    return status_set(st, STATUS_INVALID, "this guest opens no %s", s->function.kind);
}

static bool open_subject(server *s, const int *descriptors, uint64_t size_bytes, status *st) {
    s->ring = map(descriptors[0], sizeof *s->ring, PROT_READ | PROT_WRITE);
    const char *words =
        size_bytes <= DESCRIPTION_BYTES_MAX ? map(descriptors[1], size_bytes, PROT_READ) : NULL;
    if (!s->ring || !words)
        return status_set(st, STATUS_IO, "the guest cannot map what it was sent");
    return guest_describe(&s->function, words, size_bytes, st) && open_kind(s, st);
}

static uint64_t map_memory(int descriptor, uint64_t size_bytes, status *st) {
    void *at = guest_pages_map(descriptor, size_bytes, false);
    if (!at)
        status_set_errno(st, errno, "the guest cannot map %llu bytes",
                         (unsigned long long)size_bytes);
    return (uint64_t)(uintptr_t)at;
}

static void *pointer(uint64_t address) {
    return (void *)(uintptr_t)address; // NOLINT(performance-no-int-to-ptr)
}

static bool answer_request(server *s) {
    guest_request request;
    int descriptors[2] = {-1, -1};
    status st = STATUS_INIT;
    guest_answer answer = {.ok = 1};
    if (!receive(&request, descriptors, 2))
        return false;
    if (request.kind == GUEST_OPEN)
        answer.ok = open_subject(s, descriptors, request.size_bytes, &st);
    else if (request.kind == GUEST_MAP)
        answer.ok = (answer.address = map_memory(descriptors[0], request.size_bytes, &st)) != 0;
    else
        guest_pages_unmap(pointer(request.address), request.size_bytes);
    for (int i = 0; i < 2; i++)
        if (descriptors[i] >= 0)
            close(descriptors[i]);
    answer.code = (uint32_t)st.code;
    snprintf(answer.message, sizeof answer.message, "%.900s", st.message);
    s->answered++;
    return send(GUEST_SOCKET, &answer, sizeof answer, MSG_NOSIGNAL) == (ssize_t)sizeof answer;
}

/* ---- calls ---- */

static void call(server *s) {
    status st;
    const uint64_t *tensors = guest_call_tensors(s->ring, s->ended, s->function.count);
    status_clear(&st);
    for (uint32_t i = 0; i < s->function.count; i++)
        s->function.tensors[i].data = pointer(tensors[i]);
    if (!s->kind->call(&s->function, &st) && !atomic_load(&s->ring->failed)) {
        snprintf(s->ring->message, sizeof s->ring->message, "%.900s", st.message);
        atomic_store(&s->ring->failed, (unsigned)st.code);
    }
    s->ended++;
}

/* Does all calls in the ring. It tells how many have ended when there is no more, or after some:
 * the two sides work on different lines of the cache meanwhile. */
static void serve_calls(server *s) {
    enum { TOLD_EVERY = 16 };
    s->known = atomic_load(&s->ring->submitted);
    while (s->ended != s->known) {
        call(s);
        if (s->ended == s->known)
            s->known = atomic_load(&s->ring->submitted);
        if (s->ended != s->known && s->ended % TOLD_EVERY)
            continue;
        atomic_store(&s->ring->ended, s->ended);
        if (s->ended >= atomic_load(&s->ring->wanted))
            guest_bell_ring(&s->ring->device);
    }
}

static bool has_work(const server *s) {
    return atomic_load(&s->ring->submitted) != s->ended ||
           atomic_load(&s->ring->requests) != s->answered || atomic_load(&s->ring->stop);
}

/* The device says for how long, and no clock is read: one that was stopped or replaced by the
 * function changes nothing. */
static void await_work(server *s) {
    uint32_t pauses = atomic_load(&s->ring->spin_pauses);
    for (uint32_t i = 0; i < pauses && !has_work(s); i++)
        guest_pause();
    if (has_work(s))
        return;
    guest_bell_arm(&s->ring->guest);
    if (!has_work(s))
        guest_bell_sleep(&s->ring->guest, sleep_ns);
}

/* A guest in the middle of a call ends with its device, too. */
static void *watch_device(void *nothing) {
    struct pollfd end = {GUEST_SOCKET, 0, 0}; /* hangs up when the device ends */
    (void)nothing;
    while (poll(&end, 1, -1) <= 0 || !(end.revents & (POLLHUP | POLLERR | POLLNVAL)))
        ;
    _exit(EXIT_NO_DEVICE);
}

int guest_serve(const guest_kind *kinds) {
    static server s;
    pthread_t watcher;
    s.kinds = kinds;
    signal(SIGINT, SIG_IGN);                /* Ctrl-C goes to those who decide */
    (void)prctl(PR_SET_CHILD_SUBREAPER, 1); /* orphaned descendants stay this guest's */
    if (!give_up_rights())
        return EXIT_NO_DEVICE;
    /* In a namespace of its own no call can name the device's process, and its number is 0. */
    if (getppid() != 0)
        guest_confine(getppid());
    if (!thread_start(&watcher, watch_device, NULL) || !answer_request(&s) || !s.ring)
        return EXIT_NO_DEVICE;
    while (!atomic_load(&s.ring->stop))
        if (atomic_load(&s.ring->submitted) != s.ended)
            serve_calls(&s);
        else if (atomic_load(&s.ring->requests) != s.answered && !answer_request(&s))
            break;
        else if (!has_work(&s))
            await_work(&s);
    _exit(0); /* runs no function that others have registered for exit() */
}
