/* worker.c - the parent's side: start, feed, watch and bury worker processes. */
#include "worker.h"

#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <poll.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

#include "measure/timer.h"

enum {
    LINE_BYTES_MAX = 16 << 20,
    COMPLAINT_BYTES_MAX = 4096,
    POLL_MS = 200,
    DEATH_MS_MAX = 5000,
    WORKER_IN = 3,
    WORKER_OUT = 4
};

void worker_init(worker *w, uint64_t timeout_seconds, uint64_t memory_mib,
                 const volatile sig_atomic_t *interrupted) {
    *w = (worker){.to_fd = -1,
                  .from_fd = -1,
                  .stderr_fd = -1,
                  .timeout_ns = timeout_seconds * 1000000000u,
                  .memory_bytes = memory_mib << 20,
                  .interrupted = interrupted};
    text_init(&w->received);
    text_init(&w->complaint);
}

static void close_fd(int *fd) {
    if (*fd >= 0)
        close(*fd);
    *fd = -1;
}

/* Kills what is left of the worker and returns its wait status. */
static int bury(worker *w) {
    int wait_status = 0;
    close_fd(&w->to_fd);
    if (w->pid > 0) {
        kill(w->pid, SIGKILL);
        while (waitpid(w->pid, &wait_status, 0) < 0 && errno == EINTR)
            continue;
    }
    close_fd(&w->from_fd);
    close_fd(&w->stderr_fd);
    w->pid = 0;
    text_clear(&w->received);
    return wait_status;
}

/* In the child, between fork and exec: only calls that are safe there. */
static _Noreturn void become_worker(const int to[2], const int from[2], const int complaints[2],
                                    uint64_t memory_bytes) {
    /* Out of the way of 3 and 4 first. */
    int in = fcntl(to[0], F_DUPFD, 10), out = fcntl(from[1], F_DUPFD, 10);
    dup2(in, WORKER_IN);
    dup2(out, WORKER_OUT);
    dup2(complaints[1], STDERR_FILENO);
    close(in);
    close(out);
    int null_fd = open("/dev/null", O_RDWR);
    dup2(null_fd, STDIN_FILENO);
    dup2(null_fd, STDOUT_FILENO);
    struct rlimit no_core = {0, 0};
    setrlimit(RLIMIT_CORE, &no_core);
    if (memory_bytes) {
        struct rlimit limit = {memory_bytes, memory_bytes};
        setrlimit(RLIMIT_AS, &limit);
    }
    /* Ctrl-C goes to the parent, which decides. */
    signal(SIGINT, SIG_IGN);
    execl("/proc/self/exe", "tsr", "--worker", (char *)NULL);
    _exit(127);
}

static bool start(worker *w, status *st) {
    int to[2] = {-1, -1}, from[2] = {-1, -1}, complaints[2] = {-1, -1};
    bool ok = pipe2(to, O_CLOEXEC) == 0 && pipe2(from, O_CLOEXEC) == 0 &&
              pipe2(complaints, O_CLOEXEC) == 0;
    fflush(NULL);
    pid_t pid = ok ? fork() : -1;
    if (pid == 0)
        become_worker(to, from, complaints, w->memory_bytes);
    if (pid < 0)
        status_set_errno(st, errno, "cannot start a worker process");
    close_fd(&to[0]);
    close_fd(&from[1]);
    close_fd(&complaints[1]);
    w->pid = pid > 0 ? pid : 0;
    w->to_fd = to[1];
    w->from_fd = from[0];
    w->stderr_fd = complaints[0];
    text_clear(&w->received);
    text_clear(&w->complaint);
    if (pid < 0)
        bury(w);
    return pid > 0;
}

static bool send_line(worker *w, json_t *message) {
    char *line = json_dumps(message, JSON_COMPACT);
    size_t length = strlen(line), sent = 0;
    line[length++] = '\n';
    while (sent < length) {
        ssize_t n = write(w->to_fd, line + sent, length - sent);
        if (n < 0 && errno == EINTR)
            continue;
        if (n <= 0)
            break;
        sent += (size_t)n;
    }
    free(line);
    return sent == length;
}

static void keep_complaint(worker *w) {
    char bytes[1024];
    ssize_t n = read(w->stderr_fd, bytes, sizeof bytes);
    if (n <= 0) {
        close_fd(&w->stderr_fd);
        return;
    }
    if (w->complaint.length > COMPLAINT_BYTES_MAX)
        text_clear(&w->complaint);
    text_append_bytes(&w->complaint, bytes, (size_t)n);
}

/* Waits for bytes. False at the end of the worker's output, at the deadline (errno ETIME) or when
 * interrupted (errno EINTR). */
static bool receive(worker *w, uint64_t deadline_ns) {
    for (;;) {
        struct pollfd fds[] = {{w->from_fd, POLLIN, 0}, {w->stderr_fd, POLLIN, 0}};
        int ready = poll(fds, 2, POLL_MS);
        if (*w->interrupted) {
            errno = EINTR;
            return false;
        }
        if (ready > 0 && fds[1].revents)
            keep_complaint(w);
        if (ready > 0 && fds[0].revents) {
            char bytes[65536];
            ssize_t n = read(w->from_fd, bytes, sizeof bytes);
            if (n > 0)
                text_append_bytes(&w->received, bytes, (size_t)n);
            errno = 0;
            return n > 0 && w->received.length < LINE_BYTES_MAX;
        }
        if (timer_now_ns() > deadline_ns) {
            errno = ETIME;
            return false;
        }
    }
}

/* The next whole line as JSON; NULL when there is none yet. *rubbish is set where a line is no JSON
 * object. */
static json_t *next_message(worker *w, bool *rubbish) {
    char *end = memchr(w->received.data, '\n', w->received.length);
    if (!end)
        return NULL;
    size_t length = (size_t)(end - w->received.data);
    json_t *message = json_loadb(w->received.data, length, 0, NULL);
    *rubbish = !json_is_object(message);
    size_t rest = w->received.length - length - 1;
    memmove(w->received.data, end + 1, rest);
    w->received.length = rest;
    w->received.data[rest] = '\0';
    return message;
}

static void last_line(const text *complaint, text *out) {
    const char *start = complaint->data, *end = start + complaint->length;
    while (end > start && (end[-1] == '\n' || end[-1] == ' '))
        end--;
    const char *line = end;
    while (line > start && line[-1] != '\n')
        line--;
    text_append_bytes(out, line, (size_t)(end - line));
}

/* What a dead worker's end means for its job. */
static json_t *result_of_death(worker *w, const job *j, int wait_status) {
    text why;
    text_init(&why);
    while (w->stderr_fd >= 0)
        keep_complaint(w);
    const char *outcome = "crash";
    if (strstr(w->complaint.data, "out of memory")) {
        outcome = "error";
        text_append(&why, "out of memory");
    } else if (w->memory_bytes && strcmp(w->stage, "start") == 0) {
        outcome = "error";
        text_printf(&why, "out of memory: a worker cannot even start within --memory %" PRIu64,
                    w->memory_bytes >> 20);
    } else if (WIFSIGNALED(wait_status)) {
        const char *name = sigabbrev_np(WTERMSIG(wait_status));
        text_printf(&why, "killed by SIG%s in step %s", name ? name : "?", w->stage);
        if (WTERMSIG(wait_status) == SIGKILL)
            text_append(&why, " (the system may have run out of memory)");
    } else {
        text_printf(&why, "the worker ended with code %d in step %s", WEXITSTATUS(wait_status),
                    w->stage);
    }
    if (w->complaint.length && strcmp(outcome, "crash") == 0) {
        text_append(&why, ": ");
        last_line(&w->complaint, &why);
    }
    json_t *result = job_result_new(j, outcome, NULL);
    json_object_set_new(result, "why", json_stringn_nocheck(why.data, why.length));
    text_release(&why);
    return result;
}

/* The worker's wait status after its output ended: it is dying or dead, so no signal of ours hides
 * its own. */
static int await_death(worker *w) {
    int wait_status = 0;
    for (int i = 0; i < DEATH_MS_MAX; i++) {
        if (waitpid(w->pid, &wait_status, WNOHANG) == w->pid) {
            w->pid = 0;
            return wait_status;
        }
        usleep(1000);
    }
    return -1;
}

void worker_stop(worker *w) {
    /* Its input ends, so an idle worker leaves by itself; a busy one is killed. */
    close_fd(&w->to_fd);
    if (w->pid > 0)
        await_death(w);
    bury(w);
    text_release(&w->received);
    text_release(&w->complaint);
}

static json_t *died(worker *w, const job *j) {
    int wait_status = await_death(w);
    json_t *result;
    if (wait_status == -1)
        result = job_result_new(j, "crash", "the worker closed its pipe and went on running");
    else
        result = result_of_death(w, j, wait_status);
    bury(w);
    return result;
}

static json_t *timed_out(worker *w, const job *j) {
    text why;
    text_init(&why);
    text_printf(&why, "step %s took longer than %.0f s", w->stage, (double)w->timeout_ns * 1e-9);
    json_t *result = job_result_new(j, "timeout", why.data);
    text_release(&why);
    bury(w);
    return result;
}

/* Handles one message; returns the result when it is one. */
static json_t *take_message(worker *w, const job *j, json_t *message, bool rubbish,
                            uint64_t *deadline_ns) {
    json_t *result = NULL;
    const char *stage = json_string_value(json_object_get(message, "stage"));
    if (rubbish) {
        result = job_result_new(
            j, "crash", "the worker's answer was not understood: its memory may be damaged");
        bury(w);
    } else if (stage) {
        snprintf(w->stage, sizeof w->stage, "%s", stage);
        *deadline_ns = timer_now_ns() + w->timeout_ns;
    } else {
        result = json_incref(json_object_get(message, "result"));
    }
    json_decref(message);
    return result;
}

json_t *worker_run(worker *w, const job *j) {
    status st = STATUS_INIT;
    if (w->pid == 0 && !start(w, &st))
        return job_result_new(j, "error", st.message);
    json_t *request = job_to_json(j);
    bool sent = send_line(w, request);
    json_decref(request);
    snprintf(w->stage, sizeof w->stage, "start");
    uint64_t deadline_ns = timer_now_ns() + w->timeout_ns;
    json_t *result = sent ? NULL : died(w, j);
    while (!result) {
        bool rubbish = false;
        json_t *message = next_message(w, &rubbish);
        if (message || rubbish) {
            result = take_message(w, j, message, rubbish, &deadline_ns);
        } else if (!receive(w, deadline_ns)) {
            if (errno == EINTR) {
                bury(w);
                return NULL;
            }
            result = errno == ETIME ? timed_out(w, j) : died(w, j);
        }
    }
    return result;
}
