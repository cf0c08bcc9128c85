/* test_sandbox.c - what a closed-off process may do, and what it may not. */
#include "test.h"

#include <errno.h>
#include <fcntl.h>
#include <linux/perf_event.h>
#include <pthread.h>
#include <sched.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/mount.h>
#include <sys/prctl.h>
#include <sys/ptrace.h>
#include <sys/resource.h>
#include <sys/shm.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/uio.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "repro/sandbox.h"

enum { ENTERED = 0, REFUSED_SANDBOX = 42 };

static char file[] = "/tmp/repro-sandbox-XXXXXX";
static int file_fd, pipe_fds[2];

/* Each gives 0 or the errno. */
static int result(long value) {
    return value < 0 ? errno : 0;
}

static int try_socket(void) {
    return result(socket(AF_INET, SOCK_STREAM, 0));
}
static int try_local_socket(void) {
    int fds[2];
    return result(socketpair(AF_UNIX, SOCK_STREAM, 0, fds));
}
static int try_connect(void) {
    struct sockaddr address = {.sa_family = AF_UNIX};
    return result(connect(pipe_fds[0], &address, sizeof address));
}
static int try_exec(void) {
    return result(execl("/bin/true", "true", (char *)NULL));
}
static int try_fork(void) {
    return result(syscall(SYS_fork));
}
static int try_vfork_like(void) {
    return result(syscall(SYS_clone, SIGCHLD, NULL, NULL, NULL, NULL));
}
static int try_clone3(void) {
    return result(syscall(SYS_clone3, NULL, 0));
}
static int try_open_write(void) {
    return result(open(file, O_WRONLY));
}
static int try_open_both(void) {
    return result(open("/dev/null", O_RDWR));
}
static int try_create(void) {
    return result(open("/tmp/repro-sandbox-new", O_RDONLY | O_CREAT, 0600));
}
static int try_truncate(void) {
    return result(open(file, O_RDONLY | O_TRUNC));
}
static int try_nameless(void) {
    return result(open("/tmp", O_TMPFILE | O_RDWR, 0600));
}
static int try_old_open(void) {
    return result(syscall(SYS_open, file, O_WRONLY, 0));
}
static int try_creat(void) {
    return result(syscall(SYS_creat, "/tmp/repro-sandbox-new", 0600));
}
static int try_openat2(void) {
    return result(syscall(SYS_openat2, AT_FDCWD, file, NULL, 0));
}
static int try_unlink(void) {
    return result(unlink(file));
}
static int try_rename(void) {
    return result(rename(file, "/tmp/repro-sandbox-other"));
}
static int try_link(void) {
    return result(symlink(file, "/tmp/repro-sandbox-other"));
}
static int try_mkdir(void) {
    return result(mkdir("/tmp/repro-sandbox-folder", 0700));
}
static int try_chmod(void) {
    return result(chmod(file, 0777));
}
static int try_touch(void) {
    return result(utimensat(AT_FDCWD, file, NULL, 0));
}
static int try_ftruncate(void) {
    return result(ftruncate(file_fd, 0));
}
static int try_mount(void) {
    return result(mount("none", "/mnt", "tmpfs", 0, NULL));
}
static int try_ptrace(void) {
    return result(ptrace(PTRACE_ATTACH, getppid(), NULL, NULL));
}
static int try_read_other(void) {
    char byte;
    struct iovec here = {&byte, 1}, there = {file, 1};
    return result(process_vm_readv(getppid(), &here, 1, &there, 1, 0));
}
static int try_kill(void) {
    return result(kill(getppid(), 0));
}
static int try_kill_group(void) {
    return result(kill(0, 0));
}
static int try_limit_other(void) {
    struct rlimit limit;
    return result(prlimit(getppid(), RLIMIT_CORE, NULL, &limit));
}
static int try_raise_limit(void) {
    struct rlimit limit = {1 << 20, 1 << 20};
    return result(setrlimit(RLIMIT_FSIZE, &limit));
}
static int try_look_at_limit(void) {
    struct rlimit limit;
    return result(prlimit(getpid(), RLIMIT_STACK, NULL, &limit));
}
static int try_enter_again(void) {
    return sandbox_enter(NULL, NULL) ? 0 : EINVAL;
}
static int try_shared_memory(void) {
    return result(shmget(IPC_PRIVATE, 4096, IPC_CREAT | 0600));
}
static int try_memfd(void) {
    return result(memfd_create("x", 0));
}
static int try_io_uring(void) {
    return result(syscall(SYS_io_uring_setup, 1, NULL));
}
static int try_lock_file(void) {
    struct flock lock = {.l_type = F_RDLCK, .l_whence = SEEK_SET};
    return result(fcntl(file_fd, F_SETLK, &lock));
}
static int try_terminal_input(void) {
    return result(syscall(SYS_ioctl, pipe_fds[0], 0x5412 /* TIOCSTI */, "x"));
}
static int try_unshare(void) {
    return result(syscall(SYS_unshare, CLONE_NEWUSER));
}
static int try_regular_file(void) {
    return result(write(file_fd, "x", 1));
}
static int try_core_limit(void) {
    struct rlimit limit;
    getrlimit(RLIMIT_CORE, &limit);
    return limit.rlim_max == 0 ? 0 : EINVAL;
}
static int try_privileges(void) {
    return prctl(PR_GET_NO_NEW_PRIVS, 0, 0, 0, 0) == 1 ? 0 : EINVAL;
}

static void *add_one(void *value) {
    int *number = value;
    ++*number;
    return value;
}
static int try_thread(void) {
    pthread_t thread;
    int number = 41;
    int error = pthread_create(&thread, NULL, add_one, &number);
    if (!error)
        error = pthread_join(thread, NULL);
    return error ? error : number == 42 ? 0 : EINVAL;
}
static int try_code(void) {
    static const unsigned char code[] = {0xb8, 42, 0, 0, 0, 0xc3}; /* mov eax, 42; ret */
    void *memory = mmap(NULL, 4096, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    if (memory == MAP_FAILED)
        return errno;
    memcpy(memory, code, sizeof code);
    if (mprotect(memory, 4096, PROT_READ | PROT_EXEC) != 0)
        return errno;
    int (*function)(void);
    memcpy(&function, &memory, sizeof function);
    int answer = function();
    munmap(memory, 4096);
    return answer == 42 ? 0 : EINVAL;
}
static int try_large_memory(void) {
    size_t size = (size_t)8 << 20;
    void *memory = mmap(NULL, size, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    if (memory == MAP_FAILED || (madvise(memory, size, MADV_HUGEPAGE) != 0 && errno == EPERM))
        return errno;
    char *block = malloc(1 << 20);
    memset(block, 1, 1 << 20);
    free(block);
    return result(munmap(memory, size));
}
static int try_read_maps(void) {
    char line[64];
    FILE *f = fopen("/proc/self/maps", "re");
    if (!f)
        return errno;
    bool got = fgets(line, sizeof line, f) != NULL;
    fclose(f);
    return got ? 0 : EINVAL;
}
static int try_clock(void) {
    struct timespec now, pause = {0, 1000};
    int error = result(clock_gettime(CLOCK_MONOTONIC, &now));
    return error ? error : result(syscall(SYS_clock_nanosleep, CLOCK_MONOTONIC, 0, &pause, NULL));
}
static int try_pipe(void) {
    char byte = 0;
    if (write(pipe_fds[1], "y", 1) != 1 || read(pipe_fds[0], &byte, 1) != 1)
        return errno;
    return byte == 'y' ? 0 : EINVAL;
}
static int try_affinity(void) {
    cpu_set_t set;
    return result(sched_getaffinity(0, sizeof set, &set));
}
static int try_counters(void) {
    struct perf_event_attr attr = {
        .type = PERF_TYPE_SOFTWARE, .size = sizeof attr, .config = PERF_COUNT_SW_TASK_CLOCK};
    errno = 0;
    long fd = syscall(SYS_perf_event_open, &attr, 0, -1, -1, 0);
    if (fd >= 0)
        close((int)fd);
    return 0; /* the system itself may refuse it: the process only has to live on */
}
static int try_signal_itself(void) {
    return result(kill(getpid(), 0));
}

static const struct {
    const char *what;
    int (*attempt)(void);
    int expected;
} attempts[] = {
    {"socket", try_socket, EPERM},
    {"socketpair", try_local_socket, EPERM},
    {"connect", try_connect, EPERM},
    {"exec", try_exec, EPERM},
    {"fork", try_fork, EPERM},
    {"clone of a process", try_vfork_like, EPERM},
    {"clone3", try_clone3, ENOSYS},
    {"open for writing", try_open_write, EPERM},
    {"open for both", try_open_both, EPERM},
    {"create", try_create, EPERM},
    {"truncate", try_truncate, EPERM},
    {"a file without a name", try_nameless, EPERM},
    {"the old open", try_old_open, EPERM},
    {"creat", try_creat, EPERM},
    {"openat2", try_openat2, ENOSYS},
    {"unlink", try_unlink, EPERM},
    {"rename", try_rename, EPERM},
    {"symlink", try_link, EPERM},
    {"mkdir", try_mkdir, EPERM},
    {"chmod", try_chmod, EPERM},
    {"touch", try_touch, EPERM},
    {"ftruncate", try_ftruncate, EPERM},
    {"mount", try_mount, EPERM},
    {"ptrace", try_ptrace, EPERM},
    {"reading another process", try_read_other, EPERM},
    {"kill", try_kill, EPERM},
    {"kill of the group", try_kill_group, EPERM},
    {"limits of another process", try_limit_other, EPERM},
    {"raising a limit", try_raise_limit, EPERM},
    {"looking at a limit", try_look_at_limit, 0},
    {"entering again", try_enter_again, 0},
    {"shared memory", try_shared_memory, EPERM},
    {"memfd", try_memfd, EPERM},
    {"io_uring", try_io_uring, EPERM},
    {"locking a file", try_lock_file, EPERM},
    {"typing into a terminal", try_terminal_input, EPERM},
    {"unshare", try_unshare, EPERM},
    {"writing an open file", try_regular_file, EFBIG},
    {"no core files", try_core_limit, 0},
    {"no new privileges", try_privileges, 0},
    {"a thread", try_thread, 0},
    {"code", try_code, 0},
    {"memory", try_large_memory, 0},
    {"/proc/self/maps", try_read_maps, 0},
    {"clocks", try_clock, 0},
    {"an open pipe", try_pipe, 0},
    {"affinity", try_affinity, 0},
    {"counters", try_counters, 0},
    {"a signal to itself", try_signal_itself, 0},
};

/* In a child: enters the sandbox, then answers each attempt with its errno. */
static _Noreturn void child(int answers) {
    status st = STATUS_INIT;
    if (!sandbox_enter(NULL, &st)) {
        if (write(answers, st.message, strlen(st.message) + 1) < 0)
            _exit(1);
        _exit(REFUSED_SANDBOX);
    }
    for (size_t i = 0; i < COUNT_OF(attempts); i++) {
        int answer = attempts[i].attempt();
        if (write(answers, &answer, sizeof answer) != sizeof answer)
            _exit(1);
    }
    _exit(ENTERED);
}

/* The kernel refuses filters in some containers: that is told, not passed. */
static void need_sandbox(int wait_status, const char *why) {
    if (WIFEXITED(wait_status) && WEXITSTATUS(wait_status) == REFUSED_SANDBOX) {
        print_message("skipped: %s\n", why);
        skip();
    }
}

static void each_attempt_has_the_expected_end(void **state) {
    (void)state;
    int answers[2], found[COUNT_OF(attempts) + 256] = {0}, wait_status;
    assert_int_equal(pipe(answers), 0);
    fflush(NULL);
    pid_t pid = fork();
    if (pid == 0)
        child(answers[1]);
    close(answers[1]);
    size_t got = 0;
    for (ssize_t n;
         got < sizeof found && (n = read(answers[0], (char *)found + got, sizeof found - got)) > 0;)
        got += (size_t)n;
    close(answers[0]);
    assert_int_equal(waitpid(pid, &wait_status, 0), pid);
    need_sandbox(wait_status, (const char *)found);
    for (size_t i = 0; i < got / sizeof found[0]; i++)
        if (found[i] != attempts[i].expected)
            fail_msg("%s: %s, not %s", attempts[i].what, strerror(found[i]),
                     strerror(attempts[i].expected));
    assert_int_equal(got, COUNT_OF(attempts) * sizeof found[0]);
    assert_true(WIFEXITED(wait_status) && WEXITSTATUS(wait_status) == ENTERED);
    assert_int_equal(access(file, F_OK), 0);
}

static void *wait_and_open(void *gate) {
    char byte;
    static int answer;
    if (read(*(int *)gate, &byte, 1) != 1)
        return NULL;
    answer = try_open_write();
    return &answer;
}

/* A thread that was there before is behind the filter, too. */
static void threads_of_before_are_closed_off(void **state) {
    (void)state;
    int wait_status;
    fflush(NULL);
    pid_t pid = fork();
    if (pid == 0) {
        pthread_t thread;
        void *answer;
        if (pthread_create(&thread, NULL, wait_and_open, &pipe_fds[0]) != 0)
            _exit(1);
        if (!sandbox_enter(NULL, NULL))
            _exit(REFUSED_SANDBOX);
        if (write(pipe_fds[1], "z", 1) != 1 || pthread_join(thread, &answer) != 0)
            _exit(2);
        _exit(answer && *(int *)answer == EPERM ? ENTERED : 3);
    }
    assert_int_equal(waitpid(pid, &wait_status, 0), pid);
    need_sandbox(wait_status, "no seccomp filter");
    assert_true(WIFEXITED(wait_status));
    assert_int_equal(WEXITSTATUS(wait_status), ENTERED);
}

/* ---- Landlock ---- */

enum { NO_LANDLOCK = 43 };

static int try_read(const char *path) {
    int fd = open(path, O_RDONLY | O_CLOEXEC);
    int error = result(fd);
    if (fd >= 0)
        close(fd);
    return error;
}

/* The number of the first line that is not as expected; ENTERED: all are. */
static int look_at_files(const char *folder, pid_t parent) {
    char inside[64], environment[64];
    snprintf(inside, sizeof inside, "%s/input", folder);
    snprintf(environment, sizeof environment, "/proc/%d/environ", (int)parent);
    const struct {
        const char *path;
        int expected;
    } looks[] = {
        {inside, 0},          {folder, 0},           {"/usr", 0},      {"/proc/self/maps", 0},
        {"/proc/cpuinfo", 0}, {file, EACCES},        {"/tmp", EACCES}, {"/etc/passwd", EACCES},
        {"/root", EACCES},    {environment, EACCES},
    };
    for (int i = 0; i < (int)COUNT_OF(looks); i++)
        if (try_read(looks[i].path) != looks[i].expected)
            return i + 1;
    return ENTERED;
}

static void files_of_others_are_hidden(void **state) {
    (void)state;
    char folder[] = "/tmp/repro-sandbox-folder-XXXXXX", input[64];
    int wait_status;
    assert_non_null(mkdtemp(folder));
    snprintf(input, sizeof input, "%s/input", folder);
    int fd = open(input, O_CREAT | O_WRONLY | O_CLOEXEC, 0600);
    assert_true(fd >= 0);
    close(fd);
    fflush(NULL);
    pid_t parent = getpid(), pid = fork();
    if (pid == 0) {
        if (!sandbox_enter(folder, NULL))
            _exit(REFUSED_SANDBOX);
        _exit(sandbox_hides_files() ? look_at_files(folder, parent) : NO_LANDLOCK);
    }
    assert_int_equal(waitpid(pid, &wait_status, 0), pid);
    unlink(input);
    rmdir(folder);
    need_sandbox(wait_status, "no seccomp filter");
    assert_true(WIFEXITED(wait_status));
    if (WEXITSTATUS(wait_status) == NO_LANDLOCK) {
        print_message("skipped: this kernel has no Landlock\n");
        skip();
    }
    assert_int_equal(WEXITSTATUS(wait_status), ENTERED);
}

/* More than that many would be for nothing that a kernel does. */
static int try_many_files(void) {
    enum { MANY = 1000 };
    int fds[MANY], count = 0, error = 0;
    while (count < MANY && !error) {
        fds[count] = dup(pipe_fds[0]);
        error = result(fds[count]);
        count += error == 0;
    }
    for (int i = 0; i < count; i++)
        close(fds[i]);
    return error;
}

static void files_are_few(void **state) {
    (void)state;
    int wait_status;
    fflush(NULL);
    pid_t pid = fork();
    if (pid == 0)
        _exit(!sandbox_enter(NULL, NULL)   ? REFUSED_SANDBOX
              : try_many_files() == EMFILE ? ENTERED
                                           : 1);
    assert_int_equal(waitpid(pid, &wait_status, 0), pid);
    need_sandbox(wait_status, "no seccomp filter");
    assert_int_equal(WEXITSTATUS(wait_status), ENTERED);
}

static void ends(int how, int *wait_status) {
    fflush(NULL);
    pid_t pid = fork();
    if (pid == 0) {
        if (!sandbox_enter(NULL, NULL))
            _exit(REFUSED_SANDBOX);
        if (how)
            raise(how);
        exit(ENTERED);
    }
    assert_int_equal(waitpid(pid, wait_status, 0), pid);
    need_sandbox(*wait_status, "no seccomp filter");
}

/* Checks that nothing stops what runs at exit, as a leak check does, and that a crash is a crash.
 */
static void a_process_ends_as_it_would(void **state) {
    (void)state;
    int wait_status;
    ends(0, &wait_status);
    assert_true(WIFEXITED(wait_status));
    assert_int_equal(WEXITSTATUS(wait_status), ENTERED);
    ends(SIGKILL, &wait_status);
    assert_true(WIFSIGNALED(wait_status));
    assert_int_equal(WTERMSIG(wait_status), SIGKILL);
}

static int make_file(void **state) {
    (void)state;
    file_fd = mkstemp(file);
    return file_fd >= 0 && write(file_fd, "data", 4) == 4 ? pipe(pipe_fds) : 1;
}

static int remove_file(void **state) {
    (void)state;
    close(file_fd);
    return unlink(file);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(each_attempt_has_the_expected_end),
        cmocka_unit_test(threads_of_before_are_closed_off),
        cmocka_unit_test(files_of_others_are_hidden),
        cmocka_unit_test(files_are_few),
        cmocka_unit_test(a_process_ends_as_it_would),
    };
    return cmocka_run_group_tests(tests, make_file, remove_file);
}
