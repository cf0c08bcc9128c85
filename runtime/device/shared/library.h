/* library.h - shared libraries of drivers, taken where they are: none of them is needed to build or
 * to start this program. */
#ifndef TESSERA_RUNTIME_LIBRARY_H
#define TESSERA_RUNTIME_LIBRARY_H

#include <stdbool.h>
#include <stddef.h>

#include "base/status.h"

/* A function of a library, and where its address goes. */
typedef struct library_symbol {
    const char *name;
    void **address_out;
    bool optional; /* NULL where there is none; else that is a failure */
} library_symbol;

/* Opens the library that the variable of the environment names, or where that is unset the first of
 * `names` (NULL ends them) that there is, and finds the symbols. It stays open as long as the
 * process, since drivers have threads of their own. STATUS_UNAVAILABLE with what to install where
 * there is none (`what`: "the Vulkan loader (Debian: libvulkan1)"), or where a symbol is missing:
 * the library is too old. */
bool library_open(const char *variable, const char *const *names, const char *what,
                  const library_symbol *symbols, size_t count, void **library_out, status *st);

#endif
