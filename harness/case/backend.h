/* backend.h - the table of backends. */
#ifndef TESSERA_HARNESS_CASE_BACKEND_H
#define TESSERA_HARNESS_CASE_BACKEND_H

#include <stdbool.h>
#include <stdint.h>

#include "device/backends.h"
#include "tessera/compiler.h"

typedef struct backend {
    const char *name;
    const char *driver;   /* of the runtime; "" where the interpreter runs it */
    const char *target;   /* that code is made for; "": the best of this machine; "device": of the
                             device */
    const char *profiles; /* names, separated by spaces */
    bool timed;
    bool product; /* takes part in "all"; else only where it is named */
    const char *summary;
} backend;

extern const backend backend_table[BACKEND_COUNT];

/* BACKEND_COUNT when unknown. */
backend_id backend_from_name(const char *name);
/* What a job's or a result's backend is: one of the table, or an implementation's column. */
const backend *backend_named(const char *name);
/* Is it code that this compiler makes? Not that of the interpreter, of tools or of others. */
bool backend_is_ours(const backend *b);
/* Which of ours runs where a backend's code does: this machine's, where that is code of others in a
 * process of its own. */
backend_id backend_beside(backend_id id);
/* Does it run outside of the runtime, through programs of others? */
bool backend_is_tools(const backend *b);
/* Is its code made for the chip of the device that runs it? */
bool backend_is_for_device(const backend *b);
/* The target of a backend for a wish by --isa (NULL: none), which counts for backends of its kind
 * alone. `own`: the chip of its device, where its code is made for that. NULL: this machine's
 * best. */
const char *backend_target_for(const backend *b, const char *isa, const char *own);
bool backend_honours(const backend *b, const char *profile);

/* PROFILE_COUNT when unknown. */
compiler_profile profile_from_name(const char *name);

#endif
