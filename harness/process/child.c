/* child.c - fork, wait, and the wait status decoded. */
#include "process/child.h"

#include <errno.h>
#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

#include "base/arena.h"

enum { OUT_OF_MEMORY_CODE = 71 };

pid_t child_fork(void) {
    struct rlimit no_core = {0, 0};
    fflush(NULL);
    pid_t pid = fork();
    if (pid == 0) {
        prctl(PR_SET_PDEATHSIG, SIGKILL);
        setrlimit(RLIMIT_CORE, &no_core);
    }
    return pid;
}

static child_end decode(int wait_status) {
    if (WIFSIGNALED(wait_status))
        return (child_end){CHILD_KILLED, WTERMSIG(wait_status)};
    int code = WEXITSTATUS(wait_status);
    return (child_end){code == OUT_OF_MEMORY_CODE ? CHILD_OUT_OF_MEMORY : CHILD_ENDED, code};
}

bool child_wait(pid_t pid, child_end *end) {
    int wait_status = 0;
    while (waitpid(pid, &wait_status, 0) < 0)
        if (errno != EINTR)
            return false;
    *end = decode(wait_status);
    return true;
}

child_end child_wait_ms(pid_t pid, int milliseconds) {
    int wait_status = 0;
    for (int i = 0; i < milliseconds; i++) {
        if (waitpid(pid, &wait_status, WNOHANG) == pid)
            return decode(wait_status);
        usleep(1000);
    }
    return (child_end){CHILD_RUNNING, 0};
}

void child_end_text(const child_end *end, text *out) {
    const char *name = end->how == CHILD_KILLED ? sigabbrev_np(end->code) : NULL;
    if (end->how == CHILD_KILLED)
        text_printf(out, "killed by SIG%s", name ? name : "?");
    else if (end->how == CHILD_ENDED)
        text_printf(out, "ended with code %d", end->code);
    else
        text_append(out, end->how == CHILD_RUNNING ? "still running" : "out of memory");
}

static _Noreturn void end_without_memory(void) {
    _exit(OUT_OF_MEMORY_CODE);
}

void child_when_out_of_memory(void) {
    base_when_out_of_memory(end_without_memory);
}
