/* apart.c - see apart.h.
 *
 * The first process of a namespace cannot be the guest: signals that it sends to itself (abort())
 * would not reach it. So there is a keeper, which waits for the guest's end; with the keeper the
 * system ends all that is left in the namespace, wherever it hides. The files below /proc are those
 * of the namespace, too: a guest sees nobody else there, and its own number means itself. */
#include "guest/apart.h"

#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <sched.h>
#include <signal.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>
#include <sys/mount.h>
#include <sys/prctl.h>
#include <sys/socket.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include "device/foreign/guest_protocol.h"

enum { EXIT_NO_PROGRAM = 127, FILES_MAX = 1024 };

/* ---- namespaces ---- */

static bool put_file(const char *path, const char *words) {
    int fd = open(path, O_WRONLY | O_CLOEXEC);
    size_t length = strlen(words);
    bool ok = fd >= 0 && write(fd, words, length) == (ssize_t)length;
    if (fd >= 0)
        close(fd);
    return ok;
}

/* Maps each user and group to itself. */
static bool map_to_itself(uid_t user, gid_t group) {
    char users[64], groups[64];
    snprintf(users, sizeof users, "%u %u 1", (unsigned)user, (unsigned)user);
    snprintf(groups, sizeof groups, "%u %u 1", (unsigned)group, (unsigned)group);
    return put_file("/proc/self/setgroups", "deny") && put_file("/proc/self/uid_map", users) &&
           put_file("/proc/self/gid_map", groups);
}

/* A namespace of users takes root's right to read the files of others, so it is made only where the
 * others cannot be had without. What is mounted later is seen by the guest; what it mounts, by
 * nobody else. */
static bool enter_namespaces(void) {
    const int wanted = CLONE_NEWPID | CLONE_NEWNS;
    uid_t user = geteuid();
    gid_t group = getegid();
    if (unshare(wanted) != 0 &&
        (unshare(wanted | CLONE_NEWUSER) != 0 || !map_to_itself(user, group)))
        return false;
    return mount(NULL, "/", NULL, MS_REC | MS_SLAVE, NULL) == 0;
}

/* ---- the keeper ---- */

/* Tries the call before a guest depends on it. */
static int watch_process(pid_t pid) {
    return (int)syscall(SYS_pidfd_open, pid, 0);
}

/* The guest says its number in the namespace itself: threads take numbers too, so it cannot be
 * known beforehand (a sanitizer starts a thread of its own in each process). The keeper holds no
 * file of others, least of all the socket: the other end waits for its being closed. */
static void keep(int told, int asked) {
    pid_t guest = 0;
    int error = mount("proc", "/proc", "proc", MS_NOSUID | MS_NODEV | MS_NOEXEC, NULL) ? errno : 0;
    (void)prctl(PR_SET_NAME, "tessera-keeper");
    (void)prctl(PR_SET_DUMPABLE, 0);
    signal(SIGCHLD, SIG_IGN); /* the system reaps what comes to it */
    if (write(told, &error, sizeof error) != sizeof error || error ||
        read(asked, &guest, sizeof guest) != sizeof guest)
        _exit(0);
    struct pollfd end = {watch_process(guest), POLLIN, 0};
    for (int fd = 0; fd < FILES_MAX; fd++)
        if (fd != end.fd)
            close(fd);
    while (end.fd >= 0 && poll(&end, 1, -1) <= 0)
        ;
    _exit(0);
}

typedef struct keeper {
    pid_t pid;
    int told[2], asked[2]; /* the keeper's errno; the guest's number in the namespace */
} keeper;

/* Returns false with errno. */
static bool start_keeper(keeper *k) {
    int error = 0, own = watch_process(getpid());
    if (own < 0 || pipe2(k->told, O_CLOEXEC) != 0 || pipe2(k->asked, O_CLOEXEC) != 0)
        return false;
    close(own);
    k->pid = fork();
    if (k->pid == 0) {
        close(k->asked[1]);
        keep(k->told[1], k->asked[0]);
    }
    close(k->told[1]);
    if (k->pid > 0 && read(k->told[0], &error, sizeof error) == sizeof error && !error)
        return true;
    if (k->pid > 0)
        (void)waitpid(k->pid, NULL, 0);
    k->pid = 0;
    errno = error ? error : EPERM;
    return false;
}

/* ---- the guest ---- */

/* Starts a child of this process' parent, which writes its number in the namespace to `number`.
 * Returns its number outside, negative with errno; `error` gets the errno of a program that could
 * not be executed. */
static pid_t start_guest(char **program, int number, int *error) {
    int failed[2];
    *error = 0;
    if (pipe2(failed, O_CLOEXEC) != 0)
        return -1;
    pid_t pid = (pid_t)syscall(SYS_clone, CLONE_PARENT | SIGCHLD, 0, 0, 0, 0);
    if (pid == 0) {
        pid_t own = (pid_t)syscall(SYS_getpid);
        (void)!write(number, &own, sizeof own);
        /* A group of its own: what it starts can be stopped and ended with it, and the system ends
         * one that was stopped when the process that it serves dies. */
        (void)setpgid(0, 0);
        execvp(*program, program);
        *error = errno;
        (void)!write(failed[1], error, sizeof *error);
        _exit(EXIT_NO_PROGRAM);
    }
    close(failed[1]);
    (void)!read(failed[0], error, sizeof *error);
    close(failed[0]);
    return pid;
}

int guest_start_apart(char **program) {
    guest_birth birth = {0};
    keeper k = {0};
    int error = 0;
    if (!enter_namespaces() || !start_keeper(&k)) {
        birth.refusal = errno;
    } else if (*program) {
        pid_t guest = start_guest(program, k.asked[1], &error);
        birth = (guest_birth){.guest = guest, .keeper = k.pid, .refusal = guest < 0 ? errno : 0};
        birth.error = error;
    } else {
        close(k.asked[1]);
        (void)waitpid(k.pid, NULL, 0);
    }
    (void)send(GUEST_SOCKET, &birth, sizeof birth, MSG_NOSIGNAL);
    _exit(0);
}
