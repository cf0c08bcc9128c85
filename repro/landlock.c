/* landlock.c - see landlock.h. Calls by number: the C library has no functions for them, and older
 * headers no names. */
#include "landlock.h"

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <unistd.h>

enum { CREATE_RULESET = 444, ADD_RULE = 445, RESTRICT_SELF = 446 };
enum { ASK_VERSION = 1, RULE_BENEATH = 1 };

/* As the kernel's ABI has them. */
typedef struct ruleset {
    uint64_t files;
} ruleset;
typedef struct beneath {
    uint64_t allowed;
    int32_t parent;
} __attribute__((packed)) beneath;

/* Rights over files, by their bits: run, write, read, list, and all that makes and removes. */
enum { READ_FILE = 1 << 2, READ_FOLDER = 1 << 3 };
enum { RIGHTS_1 = (1 << 13) - 1, RIGHT_2_MOVE = 1 << 13, RIGHT_3_TRUNCATE = 1 << 14 };

static uint64_t rights_of(long version) {
    return RIGHTS_1 | (version >= 2 ? RIGHT_2_MOVE : 0) | (version >= 3 ? RIGHT_3_TRUNCATE : 0);
}

/* Folders where the code of programs and what it asks of the system lies; of processes its own
 * alone. */
static const char *const readable[] = {"/usr",
                                       "/lib",
                                       "/lib64",
                                       "/bin",
                                       "/opt",
                                       "/sys",
                                       "/dev/null",
                                       "/dev/zero",
                                       "/dev/random",
                                       "/dev/urandom",
                                       "/proc/self",
                                       "/proc/cpuinfo",
                                       "/proc/meminfo",
                                       "/proc/stat",
                                       "/proc/sys",
                                       "/proc/loadavg",
                                       "/proc/uptime",
                                       "/etc/ld.so.cache",
                                       "/etc/os-release",
                                       "/etc/localtime",
                                       "/etc/locale.alias",
                                       "/nix/store"};

/* A file has no folder's rights. True where it is not there. */
static bool allow(int rules, const char *path) {
    struct stat facts;
    int fd = open(path, O_PATH | O_CLOEXEC);
    if (fd < 0 || fstat(fd, &facts) != 0)
        return fd < 0 || close(fd) != 0;
    const beneath rule = {.allowed = S_ISDIR(facts.st_mode) ? READ_FILE | READ_FOLDER : READ_FILE,
                          .parent = fd};
    bool ok = syscall(ADD_RULE, rules, RULE_BENEATH, &rule, 0) == 0;
    int error = errno;
    close(fd);
    errno = error;
    return ok;
}

/* Libraries that are opened late stand beside the program, or in lib/ beside its folder. */
static bool allow_program(int rules) {
    static const char *const from_folder[] = {"", "/../lib", "/../libexec"};
    char path[PATH_MAX];
    ssize_t length = readlink("/proc/self/exe", path, sizeof path - 32);
    char *slash = length > 0 ? memrchr(path, '/', (size_t)length) : NULL;
    bool ok = true;
    for (size_t i = 0; slash && i < sizeof from_folder / sizeof *from_folder && ok; i++) {
        strcpy(slash, from_folder[i]);
        ok = allow(rules, path);
    }
    return ok;
}

static bool restrict_to(int rules, const char *folder) {
    bool ok = allow_program(rules) && (!folder || allow(rules, folder));
    for (size_t i = 0; i < sizeof readable / sizeof *readable && ok; i++)
        ok = allow(rules, readable[i]);
    return ok && syscall(RESTRICT_SELF, rules, 0) == 0;
}

bool landlock_enter(const char *folder, bool *entered, status *st) {
    long version = syscall(CREATE_RULESET, NULL, 0, ASK_VERSION);
    *entered = version >= 1;
    if (version < 1)
        return true;
    const ruleset wanted = {.files = rights_of(version)};
    int rules = (int)syscall(CREATE_RULESET, &wanted, sizeof wanted, 0);
    bool ok = rules >= 0 && restrict_to(rules, folder);
    int error = errno;
    if (rules >= 0)
        close(rules);
    return ok || status_set(st, STATUS_UNAVAILABLE,
                            "this system refuses to close files off with Landlock, so nothing is "
                            "run: %s",
                            strerror(error));
}
