/* backend.h - the table of backends. */
#ifndef TESSERA_HARNESS_CASE_BACKEND_H
#define TESSERA_HARNESS_CASE_BACKEND_H

#include <stdbool.h>
#include <stdint.h>

#include "device/backends.h"
#include "tessera/compiler.h"

/* Classes of backends. The steps of their jobs: exec/execution.h. */
typedef enum backend_class {
    BACKEND_CLASS_INTERPRETER, /* the oracle: each case once, as strict, on one thread */
    BACKEND_CLASS_COMPILER,    /* code that this compiler makes, on a device of the runtime */
    BACKEND_CLASS_TOOLS,       /* programs of LLVM, outside of the runtime */
    BACKEND_CLASS_FOREIGN,     /* code of others, on a device of the runtime */
    BACKEND_CLASS_COUNT
} backend_class;

typedef struct backend {
    const char *name;
    backend_class class;
    const char *driver;   /* of the runtime, where the backend has a device */
    int device;           /* of the driver; or ANY_DEVICE */
    const char *target;   /* that code is made for; "": the best of this machine; "device": of the
                             device */
    const char *family;   /* of its targets; "": it has none */
    const char *profiles; /* names, separated by spaces */
    bool timed;
    bool product; /* takes part in "all"; else only where it is named */
    const char *summary;
} backend;

extern const backend backend_table[BACKEND_COUNT];

/* BACKEND_COUNT when unknown. */
backend_id backend_from_name(const char *name);
/* As --backend names one: also by the family of the code that hardware runs, ptx for cuda and rocm
 * for hip, and tessera for our code on this machine. */
backend_id backend_asked(const char *name);
/* Backend of a job or a result: one of the table, or an implementation's column. */
const backend *backend_named(const char *name);
/* Runs code, as all do but the interpreter. */
bool backend_is_compiled(const backend *b);
/* Runs on a device of the runtime. */
bool backend_has_device(const backend *b);
/* Runs code that this compiler makes: not that of the interpreter, of tools or of others. */
bool backend_is_ours(const backend *b);
/* Our backend that runs where a backend's code does: this machine's, where that is code of others
 * in a process of its own. */
backend_id backend_beside(backend_id id);
/* Runs outside of the runtime, through programs of others. */
bool backend_is_tools(const backend *b);
/* Its code is made for the chip of the device that runs it. */
bool backend_is_for_device(const backend *b);
/* Can accesses of its code be checked? On a CPU, and where threads are emulated. */
bool backend_checks_bounds(const backend *b);
/* The target of a backend for a wish by --isa (NULL: none), which counts for backends of its kind
 * alone. `own`: the chip of its device, where its code is made for that. NULL: this machine's
 * best. */
const char *backend_target_for(const backend *b, const char *isa, const char *own);
bool backend_honours(const backend *b, const char *profile);

/* PROFILE_COUNT when unknown. */
compiler_profile profile_from_name(const char *name);

#endif
