/* implementation.h - code of others that claims to compute a kernel: --with FILE[:SYMBOL[=KERNEL]].
 *
 * Which kernels it implements is read from the file, and nothing of it is run: a shared object
 * exports functions of kernels' names (or __tvm_ffi_NAME), a Python file defines them, a module has
 * its kernel's name, a source those of its kernels, code for a GPU has them as entry points, a
 * program is asked for any. A SYMBOL is one function; KERNEL is said where it has another name.
 * pjrt:FILE is a plugin of PJRT, whose compiler takes any kernel. */
#ifndef TESSERA_HARNESS_IMPLEMENTATION_IMPLEMENTATION_H
#define TESSERA_HARNESS_IMPLEMENTATION_IMPLEMENTATION_H

#include <jansson.h>
#include <stdbool.h>

#include "base/vec.h"
#include "case/backend.h"
#include "tessera/compiler.h"

typedef enum implementation_kind {
#define IMPLEMENTATION(id, name, backend, summary) IMPLEMENTATION_##id,
#include "implementation/implementations.def"
#undef IMPLEMENTATION
    IMPLEMENTATION_KIND_COUNT
} implementation_kind;

typedef struct implementation {
    arena memory; /* of all strings */
    implementation_kind kind;
    const char *path;   /* absolute; of Python it may be a module's dotted name */
    const char *symbol; /* NULL: all functions */
    const char *kernel; /* that the symbol implements, where it was said; or NULL */
    const char *name;   /* its column: "libfast.so", "libfast.so:mul" */
    VEC(const char *) functions;
} implementation;

/* Opens what was given to --with. False: no such file, no kind of implementation, or a symbol that
 * the file lacks. implementation_release in any case. */
bool implementation_open(implementation *i, const char *given, status *st);
void implementation_release(implementation *i);

/* Is a result that cannot be had one that was asked for, and not one of many that are tried? */
bool implementation_is_backend(implementation_kind kind);
/* Is it pjrt:FILE or pjrt:NAME? */
bool implementation_is_plugin(const char *given);
/* Plugins that the environment names (PJRT_NAMES_AND_LIBRARY_PATHS, which is JAX's own), one after
 * the other; false past the last. Strings are the arena's. */
bool implementation_plugin_at(size_t index, arena *memory, const char **name, const char **file);

/* The function for a kernel; NULL: it has none. `lone`: no other kernel was asked for, so a symbol
 * of another name is meant for this one. */
const char *implementation_symbol(const implementation *i, const char *kernel, bool lone);
/* Appends what --with takes for a function of a file of the kind, and the kernel that it computes.
 */
void implementation_spell(text *out, implementation_kind kind, const char *path, const char *symbol,
                          const char *kernel);
/* A column of that name beside others of the same: "libfast.so#2". */
void implementation_number(implementation *i, int number);

const char *implementation_kind_name(implementation_kind kind);
/* The backend whose devices run code of the kind. */
backend_id implementation_backend(implementation_kind kind);
/* Does what runs it read files that are written for it, in a folder of the command's? */
bool implementation_needs_folder(implementation_kind kind);
/* Is it in a process of its own? Else a GPU runs it, beside our code. */
bool implementation_has_guest(implementation_kind kind);
/* IMPLEMENTATION_KIND_COUNT when unknown. */
implementation_kind implementation_kind_from_name(const char *name);
/* Is it a file? Else it is a Python module, by name. */
bool implementation_is_file(const char *path);
/* The function that takes the place of `recorded`, a symbol of another file: the one that was said,
 * that of the same name, or the kernel's; NULL: there is none. */
const char *implementation_symbol_like(const implementation *i, const char *recorded,
                                       const char *kernel);

/* Place of a tensor's elements: strides in elements, from byte_offset on. */
typedef struct implementation_layout {
    int64_t strides[TENSOR_MAX_RANK];
    int64_t byte_offset;
} implementation_layout;

/* The module that the kind's device loads, for an instance and a function.
 */
typedef struct implementation_request {
    const char *path, *symbol, *kernel;
    const char *folder; /* implementation_needs_folder; else NULL will do */
    implementation_kind kind;
    uint32_t threads;
    const implementation_layout *const *layouts; /* of each input and output; NULL: dense */
} implementation_request;
bool implementation_build(const implementation_request *request, compiler_instance *instance,
                          compiler_artifact *out, status *st);
/* Writes the request's kernel as StableHLO, which a plugin of PJRT compiles, into a file in its
 * folder; appends its path. */
bool implementation_plugin_program(const implementation_request *request,
                                   compiler_instance *instance, text *path, status *st);
/* Asks a plugin in a process of its own; owned, {"devices", ...} of guest/guest.h. `topology`: of
 * devices that are not here, or NULL; `program`: a file that it compiles for them, or NULL. NULL
 * with the plugin's own words where it fails; `partly_out` (or NULL) has what was told before. */
json_t *implementation_plugin_facts(const char *path, const char *topology, const char *program,
                                    json_t **partly_out, status *st);
/* Code for a GPU: the file that says how it is launched, of the arena; else NULL. */
const char *implementation_companion(const char *path, implementation_kind kind, arena *memory);

/* A file of an implementation as it is now, and where records and packs have its digest. */
typedef struct implementation_digest_of {
    const char *path, *key;
    char sha256[65]; /* "": there is no file */
} implementation_digest_of;
/* The code, and where there is one its companion; returns how many. Paths are the caller's or the
 * arena's. */
enum { IMPLEMENTATION_FILES_MAX = 2 };
uint32_t implementation_digests(const char *path, implementation_kind kind, arena *memory,
                                implementation_digest_of out[IMPLEMENTATION_FILES_MAX]);
/* SHA-256 of the file, in hex; "" where there is none (a Python module by name). */
void implementation_digest(const char *path, char hex[65]);

#endif
