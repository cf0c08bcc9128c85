/* resolve.h - the function that a caller would have reached without us. */
#ifndef TESSERA_HARNESS_CAPTURE_RESOLVE_H
#define TESSERA_HARNESS_CAPTURE_RESOLVE_H

#include <stdatomic.h>

/* The function found for a caller; kept for ever. */
typedef struct resolved {
    void *caller; /* NULL: of all callers */
    void *function;
    const char *library; /* the file that has it */
    struct resolved *next;
} resolved;

typedef struct symbol {
    const char *name;
    _Atomic(resolved *) known;
} symbol;

/* `caller` is an address in the code that calls. Ends the process, with a message, where nobody has
 * the function: then it could not have been called. */
const resolved *symbol_resolve(symbol *s, void *caller);

#endif
