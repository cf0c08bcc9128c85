/* process.c - starts a process of this program, talks to it in lines, and reaps it. */
#include "process/process.h"

#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <unistd.h>

#include "base/file.h"
#include "common/scratch_folder.h"
#include "common/timer.h"

enum { LINE_BYTES_MAX = 16 << 20, STDERR_BYTES_MAX = 4096, POLL_MS = 200, END_MS_MAX = 5000 };

void process_init(process *p, const char *role, const volatile sig_atomic_t *interrupted) {
    *p = (process){
        .role = role, .to_fd = -1, .from_fd = -1, .stderr_fd = -1, .interrupted = interrupted};
    text_init(&p->received);
    text_init(&p->stderr_tail);
}

/* ---- those that run ---- */

enum { LIVING_MAX = 64 };
static _Atomic pid_t living[LIVING_MAX]; /* 0: free */

static void note(pid_t from, pid_t to) {
    for (int i = 0; i < LIVING_MAX; i++) {
        pid_t seen = from;
        if (atomic_compare_exchange_strong(&living[i], &seen, to))
            return;
    }
}

bool process_is_ours(pid_t pid) {
    for (int i = 0; i < LIVING_MAX; i++)
        if (atomic_load(&living[i]) == pid)
            return true;
    return false;
}

/* ---- one of them ---- */

static void close_fd(int *fd) {
    if (*fd >= 0)
        close(*fd);
    *fd = -1;
}

void process_reap(process *p) {
    close_fd(&p->to_fd);
    if (p->pid > 0) {
        child_end ignored;
        kill(p->pid, SIGKILL);
        child_wait(p->pid, &ignored);
        note(p->pid, 0);
    }
    close_fd(&p->from_fd);
    close_fd(&p->stderr_fd);
    p->pid = 0;
    text_clear(&p->received);
    /* One that was killed could not remove its own. */
    scratch_folder_sweep(NULL, SCRATCH_FOLDER_PREFIX);
}

/* In the child, between fork and exec: only calls that are safe there. */
static _Noreturn void become_child(const int to[2], const int from[2], const int errors[2],
                                   const process *p) {
    /* Out of the way of 3 and 4 first. */
    int in = fcntl(to[0], F_DUPFD, 10), out = fcntl(from[1], F_DUPFD, 10);
    dup2(in, PROCESS_IN);
    dup2(out, PROCESS_OUT);
    dup2(errors[1], STDERR_FILENO);
    close(in);
    close(out);
    int null_fd = open("/dev/null", O_RDWR);
    dup2(null_fd, STDIN_FILENO);
    dup2(null_fd, STDOUT_FILENO);
    if (p->memory_bytes) {
        struct rlimit limit = {p->memory_bytes, p->memory_bytes};
        setrlimit(RLIMIT_AS, &limit);
    }
    /* Ctrl-C goes to the parent, which decides. */
    signal(SIGINT, SIG_IGN);
    execl(p->program ? p->program : "/proc/self/exe", "tsr", p->role, (char *)NULL);
    _exit(127);
}

bool process_start(process *p, status *st) {
    int to[2] = {-1, -1}, from[2] = {-1, -1}, errors[2] = {-1, -1};
    bool ok =
        pipe2(to, O_CLOEXEC) == 0 && pipe2(from, O_CLOEXEC) == 0 && pipe2(errors, O_CLOEXEC) == 0;
    pid_t pid = ok ? child_fork() : -1;
    if (pid == 0)
        become_child(to, from, errors, p);
    if (pid < 0)
        status_set_errno(st, errno, "cannot start a process (tsr %s)", p->role);
    close_fd(&to[0]);
    close_fd(&from[1]);
    close_fd(&errors[1]);
    p->pid = pid > 0 ? pid : 0;
    if (pid > 0)
        note(0, pid);
    p->to_fd = to[1];
    p->from_fd = from[0];
    p->stderr_fd = errors[0];
    text_clear(&p->received);
    text_clear(&p->stderr_tail);
    if (pid < 0)
        process_reap(p);
    return pid > 0;
}

bool process_send(process *p, const json_t *message) {
    char *line = json_dumps(message, JSON_COMPACT);
    size_t length = line ? strlen(line) : 0;
    if (!line) /* no JSON: text in it was not made by json_text */
        return false;
    line[length++] = '\n';
    const bool sent = file_append(p->to_fd, line, length);
    free(line);
    return sent;
}

static void keep_stderr(process *p) {
    char bytes[1024];
    ssize_t n = read(p->stderr_fd, bytes, sizeof bytes);
    if (n <= 0) {
        close_fd(&p->stderr_fd);
        return;
    }
    if (p->stderr_tail.length > STDERR_BYTES_MAX)
        text_clear(&p->stderr_tail);
    text_append_bytes(&p->stderr_tail, bytes, (size_t)n);
}

/* False with errno EAGAIN where nothing came within `wait_ms`. */
static bool receive(process *p, int wait_ms, uint64_t deadline_ns) {
    struct pollfd fds[] = {{p->from_fd, POLLIN, 0}, {p->stderr_fd, POLLIN, 0}};
    int ready = poll(fds, 2, wait_ms);
    if (*p->interrupted) {
        errno = EINTR;
        return false;
    }
    if (ready > 0 && fds[1].revents)
        keep_stderr(p);
    if (ready > 0 && fds[0].revents) {
        char bytes[65536];
        ssize_t n = read(p->from_fd, bytes, sizeof bytes);
        if (n > 0)
            text_append_bytes(&p->received, bytes, (size_t)n);
        errno = 0;
        return n > 0 && p->received.length < LINE_BYTES_MAX;
    }
    errno = timer_now_ns() > deadline_ns ? ETIME : EAGAIN;
    return false;
}

bool process_receive(process *p, uint64_t deadline_ns) {
    bool received;
    do
        received = receive(p, POLL_MS, deadline_ns);
    while (!received && errno == EAGAIN);
    return received;
}

bool process_receive_now(process *p, uint64_t deadline_ns) {
    return receive(p, 0, deadline_ns);
}

void process_wait(process *const *any, size_t count) {
    struct pollfd fds[2 * PROCESS_WAIT_MOST];
    for (size_t i = 0; i < count; i++) {
        fds[2 * i] = (struct pollfd){any[i]->from_fd, POLLIN, 0};
        fds[2 * i + 1] = (struct pollfd){any[i]->stderr_fd, POLLIN, 0};
    }
    poll(fds, 2 * count, POLL_MS);
}

json_t *process_next_message(process *p, bool *malformed) {
    char *end = memchr(p->received.data, '\n', p->received.length);
    if (!end)
        return NULL;
    size_t length = (size_t)(end - p->received.data);
    json_t *message = json_loadb(p->received.data, length, 0, NULL);
    *malformed = !json_is_object(message);
    size_t rest = p->received.length - length - 1;
    memmove(p->received.data, end + 1, rest);
    p->received.length = rest;
    p->received.data[rest] = '\0';
    return message;
}

void process_last_words(process *p, text *out) {
    while (p->stderr_fd >= 0)
        keep_stderr(p);
    const char *start = p->stderr_tail.data, *end = start + p->stderr_tail.length;
    while (end > start && (end[-1] == '\n' || end[-1] == ' '))
        end--;
    const char *line = end;
    while (line > start && line[-1] != '\n')
        line--;
    text_append_bytes(out, line, (size_t)(end - line));
}

child_end process_await_end(process *p) {
    /* One that is idle leaves by itself when its input ends. */
    close_fd(&p->to_fd);
    child_end end = child_wait_ms(p->pid, END_MS_MAX);
    if (end.how != CHILD_RUNNING) {
        note(p->pid, 0);
        p->pid = 0;
    }
    return end;
}

void process_stop(process *p) {
    if (p->pid > 0)
        process_await_end(p);
    process_reap(p);
    text_release(&p->received);
    text_release(&p->stderr_tail);
}
