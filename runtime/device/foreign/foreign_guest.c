/* foreign_guest.c - the life of a guest: asked, watched, ended; foreign_spawn.c starts it. */
#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/socket.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include "base/clock.h"
#include "base/text.h"
#include "device/foreign/foreign.h"

enum {
    OPEN_MS_MAX = 120000, /* an interpreter that imports a framework takes its time */
    ANSWER_MS_MAX = 10000,
    CLOSED_MS_MAX = 5000,
    END_MS = 200,
    WORDS_MAX = 600, /* of what it printed */
    PRINTED_BYTES_MAX = 1 << 20,
    PYTHON_INCOMPLETE = 69,   /* the code with which tessera.guest ends without its C part */
    SPIN_NS_ALONE = 20000,    /* of the guest */
    SPIN_NS_DEVICE = 5000000, /* of the device, which has a core of its own then: waking it would
                                 take the guest some microseconds */
    SPIN_NS_CROWDED = 2000,
    SPIN_NS_IN_PART = 100000 /* of the guest, between calls that are timed together */
};
/* ---- asking ---- */

static bool send_request(const foreign_image *image, const guest_request *request,
                         const int *descriptors, int count) {
    char room[CMSG_SPACE(2 * sizeof(int))] = {0};
    struct iovec bytes = {(void *)request, sizeof *request};
    struct msghdr message = {.msg_iov = &bytes, .msg_iovlen = 1};
    if (count) {
        message.msg_control = room;
        message.msg_controllen = CMSG_SPACE((size_t)count * sizeof(int));
        struct cmsghdr *extra = CMSG_FIRSTHDR(&message);
        extra->cmsg_level = SOL_SOCKET;
        extra->cmsg_type = SCM_RIGHTS;
        extra->cmsg_len = CMSG_LEN((size_t)count * sizeof(int));
        memcpy(CMSG_DATA(extra), descriptors, (size_t)count * sizeof(int));
    }
    return sendmsg(image->socket, &message, MSG_NOSIGNAL) == (ssize_t)sizeof *request;
}

static bool receive_answer(foreign_image *image, guest_answer *answer, int most_ms) {
    uint64_t until = clock_now_ns() + (uint64_t)most_ms * 1000000u;
    while (clock_now_ns() < until) {
        struct pollfd one = {image->socket, POLLIN, 0};
        int ready = poll(&one, 1, 20);
        if (ready > 0)
            return recv(image->socket, answer, sizeof *answer, 0) == (ssize_t)sizeof *answer;
        if (ready == 0 && !foreign_guest_lives(image))
            return false;
    }
    return false;
}

/* A process that has closed its end is ending; how long that takes is up to the machine. */
static void await_end(foreign_image *image) {
    struct pollfd one = {image->socket, 0, 0};
    uint64_t until = clock_now_ns() + (uint64_t)CLOSED_MS_MAX * 1000000u;
    while (poll(&one, 1, 0) > 0 && foreign_guest_lives(image) && clock_now_ns() < until)
        usleep(200);
}

/* One request and its answer. */
static bool ask(foreign_image *image, const guest_request *request, const int *descriptors,
                int count, guest_answer *answer, status *st) {
    int most_ms = request->kind == GUEST_OPEN ? OPEN_MS_MAX : ANSWER_MS_MAX;
    if (!foreign_guest_lives(image))
        return status_set(st, image->end.code, "%s", image->end.message);
    foreign_thaw(image);
    bool sent = send_request(image, request, descriptors, count);
    if (image->ring) {
        atomic_fetch_add(&image->ring->requests, 1);
        guest_bell_ring(&image->ring->guest);
    }
    if (!sent || !receive_answer(image, answer, most_ms)) {
        await_end(image);
        if (foreign_guest_lives(image))
            foreign_guest_kill(image, STATUS_TIMEOUT, "does not answer");
        return status_set(st, image->end.code, "%s", image->end.message);
    }
    image->answered = true;
    answer->message[sizeof answer->message - 1] = '\0';
    if (answer->ok)
        return true;
    bool known = answer->code > STATUS_OK && answer->code < STATUS_CODE_COUNT;
    return status_set(st, known ? (status_code)answer->code : STATUS_INVALID, "%s",
                      answer->message);
}

int foreign_nameless_file(const char *name, size_t size_bytes, status *st) {
    int file = memfd_create(name, MFD_CLOEXEC | MFD_ALLOW_SEALING);
    if (file >= 0 && ftruncate(file, (off_t)size_bytes) == 0 &&
        fcntl(file, F_ADD_SEALS, F_SEAL_SHRINK | (size_bytes ? F_SEAL_GROW | F_SEAL_SEAL : 0)) == 0)
        return file;
    status_set_errno(st, errno, "no shared memory of %zu bytes", size_bytes);
    if (file >= 0)
        close(file);
    return -1;
}

/* Returns how often a guest looks for a call in that time, as measured in this process. */
static uint32_t pauses_in(uint32_t ns) {
    enum { PAUSES = 2000 };
    static atomic_uint_fast64_t known; /* ns of PAUSES, the least of what was seen */
    guest_ring nobody = {0};
    for (int i = 0; i < 3 && !atomic_load(&known); i++) {
        uint64_t start = clock_now_ns();
        for (int k = 0; k < PAUSES && !atomic_load(&nobody.submitted); k++)
            guest_pause();
        uint64_t took = clock_now_ns() - start;
        atomic_store(&known, took ? took : 1);
    }
    return (uint32_t)((uint64_t)ns * PAUSES / atomic_load(&known));
}

/* Sends the ring and the description. */
static bool open_description(foreign_image *image, const device_source *source, status *st) {
    guest_answer answer;
    int files[2] = {foreign_nameless_file("tessera-ring", sizeof(guest_ring), st),
                    foreign_nameless_file("tessera-description", 0, st)};
    bool ok = files[0] >= 0 && files[1] >= 0;
    void *ring =
        ok ? mmap(NULL, sizeof(guest_ring), PROT_READ | PROT_WRITE, MAP_SHARED, files[0], 0)
           : MAP_FAILED;
    ok = ok && ring != MAP_FAILED &&
         write(files[1], source->bytes, source->size_bytes) == (ssize_t)source->size_bytes;
    if (ok) {
        guest_ring *r = ring;
        long cores = sysconf(_SC_NPROCESSORS_ONLN);
        bool alone = image->device->base.info.compute_units < (uint32_t)cores;
        uint32_t spin_ns = cores == 1 ? 0 : alone ? SPIN_NS_ALONE : SPIN_NS_CROWDED;
        image->spin_ns = alone ? SPIN_NS_DEVICE : spin_ns;
        image->pauses = pauses_in(spin_ns);
        image->pauses_in_part = cores == 1 ? 0 : pauses_in(SPIN_NS_IN_PART);
        atomic_store(&r->spin_pauses, image->pauses);
        atomic_store(&r->requests, 1); /* this one, which the guest awaits at the socket */
        const guest_request request = {GUEST_OPEN, source->size_bytes, 0};
        ok = ask(image, &request, files, 2, &answer, st);
        image->ring = r;
    } else if (st->code == STATUS_OK) {
        status_set_errno(st, errno, "cannot share memory with %s", image->label);
    }
    for (int i = 0; i < 2; i++)
        if (files[i] >= 0)
            close(files[i]);
    return ok;
}

bool foreign_guest_start(foreign_image *image, const device_source *source, status *st) {
    int ends[2];
    image->socket = -1;
    image->output = memfd_create("tessera-output", MFD_CLOEXEC);
    if (image->output < 0 || socketpair(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0, ends) != 0)
        return status_set_errno(st, errno, "cannot talk to %s", image->label);
    (void)fcntl(image->output, F_SETFL, O_APPEND);
    image->socket = ends[0];
    image->born = foreign_thread_of((pid_t)syscall(SYS_gettid));
    bool ok = foreign_spawn(image, source->target, ends[1], st);
    close(ends[1]);
    if (ok)
        foreign_freeze_enter(image);
    return ok && open_description(image, source, st);
}

bool foreign_guest_map(foreign_image *image, const foreign_memory *memory, uint64_t *address_out,
                       status *st) {
    guest_answer answer;
    const guest_request request = {GUEST_MAP, memory->page_bytes, 0};
    bool ok = ask(image, &request, &memory->descriptor, 1, &answer, st);
    *address_out = ok ? answer.address : 0;
    return ok;
}

void foreign_guest_unmap(foreign_image *image, const foreign_memory *memory, uint64_t address) {
    guest_answer answer;
    status ignored = STATUS_INIT;
    const guest_request request = {GUEST_UNMAP, memory->page_bytes, address};
    if (address && image->pid)
        (void)ask(image, &request, NULL, 0, &answer, &ignored);
}

/* ---- watching ---- */

/* The last of what it printed, in one line. */
static void last_words(const foreign_image *image, text *out) {
    char words[WORDS_MAX + 1];
    off_t size = lseek(image->output, 0, SEEK_END);
    off_t from = size > WORDS_MAX ? size - WORDS_MAX : 0;
    ssize_t got = pread(image->output, words, WORDS_MAX, from);
    while (got > 0 && (words[got - 1] == '\n' || words[got - 1] == ' '))
        got--;
    for (ssize_t i = 0; i < got; i++)
        if (words[i] == '\n')
            words[i] = ' ';
    if (got > 0)
        text_printf(out, "; it printed: %s%.*s", from ? "..." : "", (int)got, words);
}

/* Tells that a Python ended before it could answer at all: it has no package, one without its C
 * part, or does not know the options. */
static bool lacks_package(const foreign_image *image, int how, const char *words) {
    if (!image->is_python || image->answered || !WIFEXITED(how))
        return false;
    return WEXITSTATUS(how) == PYTHON_INCOMPLETE || strstr(words, "No module named") ||
           strstr(words, "option: -P");
}

static void ended(foreign_image *image, int how) {
    text words;
    text_init(&words);
    last_words(image, &words);
    foreign_freeze_leave(image);
    kill(-image->pid, SIGKILL); /* what it has started, as far as that stayed in its group */
    foreign_end_keeper(image);  /* ... and the rest, where it has namespaces of its own */
    image->pid = 0;
    if (image->end.code != STATUS_OK) {
        /* it was killed, and the reason is known */
    } else if (lacks_package(image, how, words.data)) {
        status_set(&image->end, STATUS_UNAVAILABLE,
                   "cannot run Python code: install Python 3.11 or later with the package tessera "
                   "(docs/python.md), TESSERA_PYTHON=FILE names it%s",
                   words.data);
    } else if (WIFSIGNALED(how)) {
        status_set(&image->end, STATUS_DEVICE_LOST, "%s died of signal %d (%s)%s", image->label,
                   WTERMSIG(how), strsignal(WTERMSIG(how)), words.data);
    } else {
        status_set(&image->end, STATUS_DEVICE_LOST, "%s ended its process with code %d%s",
                   image->label, WEXITSTATUS(how), words.data);
    }
    text_release(&words);
}

bool foreign_guest_lives(foreign_image *image) {
    int how = 0;
    if (!image->pid)
        return false;
    pid_t found = waitpid(image->pid, &how, WNOHANG);
    if (found == image->pid)
        ended(image, how);
    else if (found < 0 && errno == ECHILD)
        ended(image, 0);
    else if (lseek(image->output, 0, SEEK_END) > PRINTED_BYTES_MAX)
        (void)ftruncate(image->output, 0);
    return image->pid != 0;
}

void foreign_guest_kill(foreign_image *image, status_code code, const char *why) {
    int how = 0;
    if (!image->pid)
        return;
    status_set(&image->end, code, "%s %s", image->label, why);
    kill(image->pid, SIGKILL);
    while (waitpid(image->pid, &how, 0) < 0 && errno == EINTR)
        ;
    ended(image, how);
}

/* One that is asked to end and does not is killed. */
void foreign_guest_end(foreign_image *image) {
    uint64_t until = clock_now_ns() + (uint64_t)END_MS * 1000000u;
    if (image->ring && image->pid) {
        foreign_thaw(image);
        atomic_store(&image->ring->stop, 1);
        guest_bell_ring(&image->ring->guest);
        while (foreign_guest_lives(image) && clock_now_ns() < until)
            usleep(200);
    }
    foreign_guest_kill(image, STATUS_INTERNAL, "was ended");
    if (image->ring)
        munmap(image->ring, sizeof *image->ring);
    if (image->socket >= 0)
        close(image->socket);
    if (image->output >= 0)
        close(image->output);
}
