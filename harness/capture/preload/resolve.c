/* resolve.c - dlsym(RTLD_NEXT) sees what the program itself was linked with. Python and its like
 * open their libraries apart from that, and BLAS is a dependency of such a library: what its
 * functions would have reached is found by asking for the symbol from the caller's own object. */
#include "resolve.h"

#include <dlfcn.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

static void *find_from(void *caller, const char *name) {
    Dl_info object;
    if (!dladdr(caller, &object) || !object.dli_fname)
        return NULL;
    void *handle = dlopen(object.dli_fname, RTLD_LAZY | RTLD_NOLOAD);
    void *found = handle ? dlsym(handle, name) : NULL;
    if (handle)
        dlclose(handle);
    return found;
}

static void fail(const char *name) {
    char line[256];
    int length =
        snprintf(line, sizeof line,
                 "tessera capture: no library of this program has %s, which it calls\n", name);
    ssize_t ignored = write(STDERR_FILENO, line, (size_t)length);
    (void)ignored;
    abort();
}

static const resolved *look(symbol *s, void *caller) {
    Dl_info object;
    void *next = dlsym(RTLD_NEXT, s->name), *found = next ? next : find_from(caller, s->name);
    resolved *r = malloc(sizeof *r);
    if (!found || !r)
        fail(s->name);
    bool named = dladdr(found, &object) && object.dli_fname;
    char *whole = named ? realpath(object.dli_fname, NULL) : NULL;
    *r = (resolved){.caller = next ? NULL : caller,
                    .function = found,
                    .library = whole,
                    .next = atomic_load(&s->known)};
    while (!atomic_compare_exchange_weak(&s->known, &r->next, r))
        ;
    return r;
}

const resolved *symbol_resolve(symbol *s, void *caller) {
    for (const resolved *r = atomic_load(&s->known); r; r = r->next)
        if (!r->caller || r->caller == caller)
            return r;
    return look(s, caller);
}
