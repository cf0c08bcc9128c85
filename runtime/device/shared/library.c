/* library.c - see library.h. */
#include "device/shared/library.h"

#include <dlfcn.h>
#include <stdlib.h>

static void *open_first(const char *variable, const char *const *names, const char **name_out) {
    const char *own = getenv(variable);
    void *library = NULL;
    *name_out = own && *own ? own : names[0];
    if (own && *own)
        return dlopen(own, RTLD_NOW | RTLD_LOCAL);
    for (size_t i = 0; names[i] && !library; i++) {
        *name_out = names[i];
        library = dlopen(names[i], RTLD_NOW | RTLD_LOCAL);
    }
    return library;
}

/* Parameters: the library's names, and the list of what is looked for in it. */
bool library_open(const char *variable, const char *const *names, const char *what,
                  const library_symbol *symbols, size_t count, void **library_out, status *st) {
    const char *name;
    void *library = open_first(variable, names, &name);
    *library_out = NULL;
    if (!library) {
        const char *why = dlerror();
        return status_set(st, STATUS_UNAVAILABLE, "%s is not here: %s", what, why ? why : name);
    }
    for (size_t i = 0; i < count; i++) {
        *symbols[i].address_out = dlsym(library, symbols[i].name);
        if (*symbols[i].address_out || symbols[i].optional)
            continue;
        dlclose(library);
        return status_set(st, STATUS_UNAVAILABLE, "%s ('%s') is too old: it has no function '%s'",
                          what, name, symbols[i].name);
    }
    *library_out = library;
    return true;
}
