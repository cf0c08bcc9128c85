/* library.c - opens the libraries of transports that need those of others. */
#include <dlfcn.h>
#include <stdio.h>
#include <string.h>

#include "base/file.h"
#include "comm/comm.h"

static void *open_beside(const char *file, const char *name) {
    char path[4096];
    const char *slash = strrchr(file, '/');
    snprintf(path, sizeof path, "%.*s%s", slash ? (int)(slash + 1 - file) : 0, file, name);
    return slash ? dlopen(path, RTLD_NOW | RTLD_GLOBAL) : NULL;
}

const void *comm_library_open(const comm_library *l, char *why_not, size_t why_bytes) {
    static const char here_is = 0;
    Dl_info here;
    char own[4096];
    file_own_program(own, sizeof own);
    void *library = open_beside(own, l->file);
    if (!library && dladdr(&here_is, &here) && here.dli_fname)
        library = open_beside(here.dli_fname, l->file);
    if (!library)
        library = dlopen(l->file, RTLD_NOW | RTLD_GLOBAL);
    const size_t *calls = library ? dlsym(library, l->symbol) : NULL;
    if (calls && *calls == l->size)
        return calls;
    if (library)
        snprintf(why_not, why_bytes, "%s is of another build (%s)", l->file, l->hint);
    else
        snprintf(why_not, why_bytes, "%s (%s)", dlerror(), l->hint);
    return NULL;
}
