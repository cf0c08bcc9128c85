/* open_llvm.c - LLVM for tsr: libtessera-llvm.so beside the program, or where an installation has
 * it, opened when something first needs code. It stays open. */
#include <dlfcn.h>
#include <limits.h>
#include <pthread.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/arena.h"
#include "base/file.h"
#include "target/llvm_entry.h"

#define LIBRARY "libtessera-llvm.so"

static const llvm_entry *opened;
static status why = STATUS_INIT; /* it is not */

static bool find_library(char out[PATH_MAX]) {
    static const char *const places[] = {LIBRARY, "../lib/tessera/" LIBRARY};
    char own[PATH_MAX];
    file_own_program(own, sizeof own);
    char *slash = strrchr(own, '/');
    for (int i = 0; slash && i < 2; i++)
        if (snprintf(out, PATH_MAX, "%.*s/%s", (int)(slash - own), own, places[i]) < PATH_MAX &&
            access(out, R_OK) == 0)
            return true;
    return status_set(&why, STATUS_UNAVAILABLE,
                      LIBRARY ", which makes code, is neither beside this program nor in "
                              "../lib/tessera: install or build it again");
}

/* The loader has no number for it. */
static void cannot_load(const char *words) {
    bool no_room = strstr(words, "cannot map") || strstr(words, "failed to map");
    status_set(&why, no_room ? STATUS_OUT_OF_MEMORY : STATUS_UNAVAILABLE,
               "LLVM cannot be loaded: %s%s", no_room ? "out of memory: " : "", words);
}

static void open_library(void) {
    char path[PATH_MAX];
    if (!find_library(path))
        return;
    void *library = dlopen(path, RTLD_NOW | RTLD_LOCAL);
    const llvm_entry *found = library ? dlsym(library, LLVM_ENTRY_SYMBOL) : NULL;
    const char *build = found ? dlsym(library, LLVM_BUILD_SYMBOL) : NULL;
    if (!build) {
        cannot_load(dlerror());
    } else if (strcmp(build, tessera_llvm_build) != 0) {
        status_set(&why, STATUS_UNAVAILABLE,
                   "%s is of another build than this program: install or build both again", path);
    } else {
        found->begin(base_end_process());
        opened = found;
    }
}

const llvm_entry *llvm_entry_find(status *st) {
    static pthread_once_t once = PTHREAD_ONCE_INIT;
    pthread_once(&once, open_library);
    if (!opened)
        status_set(st, why.code, "%s", why.message);
    return opened;
}

const char *target_llvm_version(void) {
    return opened ? opened->version() : TSR_LLVM_VERSION;
}

/* The file can be another one than when the program was built. */
void target_llvm_identity(text *out) {
    struct stat file = {.st_size = 0};
    text_append(out, TSR_LLVM_VERSION);
    if (stat(TSR_LLVM_FILE, &file) == 0)
        text_printf(out, " %lld %lld.%09ld", (long long)file.st_size,
                    (long long)file.st_mtim.tv_sec, file.st_mtim.tv_nsec);
}
