/* compile.h - the C ABI of the Tessera compiler: a source in; a module for tsrLoadModule, shapes
 * and diagnostics out.
 *
 * Threads: every function may be called from several threads at once; one compilation is used from
 * one thread at a time.
 *
 * Ownership: strings and bytes that go in are copied. What a compilation gives is borrowed from it
 * until tsrDestroyCompilation.
 *
 * A compilation takes place in the calling process: it reads files only where tsrCompileFile is
 * told to, starts nothing, prints nothing and runs nothing of what it makes. It writes only where
 * the environment variable TESSERA_FAILURES names a folder: the source and a script that makes a
 * pack of it, while it is compiled; they stay where that does not come back (docs/packs.md).
 * Sources have limits (docs/language.md), and a wrong one is an error and no crash; but a compiler
 * is a large program, so one that takes sources of strangers belongs into a process of its own with
 * limits of time and memory, as `tsr` does it. Where the system has no memory for its own small
 * structures it ends the process. */
#ifndef TESSERA_COMPILE_H
#define TESSERA_COMPILE_H

#include <tessera/tessera.h>

#ifdef __cplusplus
extern "C" {
#endif

/* Version of this header and of the library libtessera-compiler; a new minor adds functions, and
 * members at the ends of structs. */
#define TSR_COMPILE_MAJOR 1
#define TSR_COMPILE_MINOR 3

typedef struct tsr_compilation *tsr_compilation_t;

/* The kernel to compile, in which shape, and how. All may be zero but `struct_size`. */
typedef struct tsr_compile_options {
    size_t struct_size;    /* sizeof(tsr_compile_options_t), set by the caller */
    const char *kernel;    /* NULL: the source's only one */
    const char *case_name; /* of the source: it has the dimensions */
    const char *dims;      /* "M=128,N=256,T=bf16" instead; both NULL: the first case, or none where
                              the kernel has no dimensions or `generic` is set */
    const char *profile;   /* "strict" (NULL), "deterministic" or "fast" */
    const char *isa;       /* "x86-64-v3", ...; NULL: this machine's best */
    const char *constants; /* "w,b": inputs that stay as they are (tsrPrepareKernel); or NULL */
    const char *schedule;  /* values of schedule parameters, "BM=96"; or NULL */
    uint32_t threads;      /* the schedule may cut for this many, and no bit depends on it; 0: 1 */
    uint32_t generic;      /* not 0: code for any dimensions, which a launch gives */
    uint32_t check_bounds; /* not 0: every load and store is checked (since 1.1): one outside of its
                              memory ends the launch with TSR_EINTERNAL, and tsrGetLastError names
                              the element, the buffer and the line */
} tsr_compile_options_t;

/* Compiles one kernel of a source, whose `name` stands in diagnostics: text, or a program of
 * StableHLO in text or in bytecode (since 1.2). `options` may be NULL.
 * The compilation is there after a failure, too, with at least one diagnostic; NULL only where an
 * argument is (TSR_EINVAL).
 *   TSR_EINVAL        errors in the kernel, or options that do not fit it; errors of other kernels
 *                     are told, and no failure
 *   TSR_ENOTFOUND     no such kernel, case or file
 *   TSR_EUNAVAILABLE  no level of code fits this machine, and none was named */
TSR_API tsr_status_t tsrCompile(const char *source, size_t source_bytes, const char *name,
                                const tsr_compile_options_t *options,
                                tsr_compilation_t *compilation);
/* The same of a file. */
TSR_API tsr_status_t tsrCompileFile(const char *path, const tsr_compile_options_t *options,
                                    tsr_compilation_t *compilation);
/* Checks all kernels of a source for any dimensions and in all their cases, and the one that the
 * options name in theirs, whose shapes tsrGetShape has then. No code is made: of the options
 * `kernel`, `case_name` and `dims` count. Failures as of tsrCompile. */
TSR_API tsr_status_t tsrCheckShapes(const char *source, size_t source_bytes, const char *name,
                                    const tsr_compile_options_t *options,
                                    tsr_compilation_t *compilation);
TSR_API void tsrDestroyCompilation(tsr_compilation_t compilation); /* NULL is allowed */

/* The module, for tsrLoadModule or a file; NULL and 0 where there is none. */
TSR_API const void *tsrGetCompiledModule(tsr_compilation_t compilation, size_t *size_bytes);

typedef struct tsr_diagnostic {
    size_t struct_size; /* sizeof(tsr_diagnostic_t), set by the caller */
    const char *id; /* "E0501", which docs/errors.md explains; "": not about the source's text */
    const char *message;   /* in one line */
    uint32_t line, column; /* from 1, columns count code points; 0: nowhere */
} tsr_diagnostic_t;
TSR_API uint32_t tsrGetDiagnosticCount(tsr_compilation_t compilation);
/* TSR_ENOTFOUND: there is none of that number. */
TSR_API tsr_status_t tsrGetDiagnostic(tsr_compilation_t compilation, uint32_t index,
                                      tsr_diagnostic_t *diagnostic);
/* All of them as `tsr` shows them, each with its line, a caret, notes and help; "" without any. */
TSR_API const char *tsrGetDiagnosticText(tsr_compilation_t compilation);

/* The kernel's inputs, then its outputs, in the shape that was asked for; none where the kernel was
 * compiled for any (`generic`). */
typedef struct tsr_shape {
    size_t struct_size; /* sizeof(tsr_shape_t), set by the caller */
    const char *name;   /* "x", "out" */
    const char *type;   /* "f32" */
    uint32_t is_output;
    uint32_t rank;
    int64_t dims[8];
    uint32_t replaces;   /* of an output: the input that the source donates to it, whether the code
                            makes one of the other in place (tsrGetDonatedOutput) or not;
                            TSR_NOT_DONATED: none. Since 1.2 */
    uint32_t is_complex; /* not 0: the last axis has the two parts of each complex number of a
                            program of StableHLO. Since 1.2 */
    uint32_t is_placeholder; /* not 0: the program of StableHLO gives nothing, and its kernel this
                                number in the place of it. Since 1.2 */
    /* A program of StableHLO lies on the devices that it is for, replicas times partitions of
     * them. A device has one of so many parts of each axis; of the first `device_axes` a part is
     * one element, and the program does not see them. Since 1.3 */
    uint32_t replicas, partitions, device_axes;
    uint32_t parts[8];
    uint32_t element_bits; /* of an integer of a program of StableHLO that has fewer than its type
                              here: 2 of i2 and ui2, 4 of ui4; else 0. Since 1.3 */
} tsr_shape_t;
TSR_API uint32_t tsrGetShapeCount(tsr_compilation_t compilation);
TSR_API tsr_status_t tsrGetShape(tsr_compilation_t compilation, uint32_t index, tsr_shape_t *shape);
/* The part of each axis that a device has, which is number replica * partitions + partition: 0 to
 * parts - 1. TSR_ENOTFOUND: there is no such buffer or device. Since 1.3 */
TSR_API tsr_status_t tsrGetPart(tsr_compilation_t compilation, uint32_t index, uint32_t device,
                                uint32_t part[8]);

/* The origin of the first NaN or infinity in outputs (since 1.1). */
typedef enum tsr_nonfinite_origin {
    TSR_NONFINITE_NONE = 0,  /* every element is finite */
    TSR_NONFINITE_OPERATION, /* an operation of the kernel made it of finite numbers, or a NaN of
                                infinities that the source says */
    TSR_NONFINITE_INPUT,     /* it came in with an input */
    TSR_NONFINITE_CONSTANT,  /* it is a constant of the source */
    TSR_NONFINITE_CODE       /* the interpreter is finite there: the code alone made it */
} tsr_nonfinite_origin_t;
typedef struct tsr_nonfinite {
    size_t struct_size; /* sizeof(tsr_nonfinite_t), set by the caller */
    tsr_nonfinite_origin_t origin;
    uint32_t line, column; /* of the operation or the constant in the source; 0: nowhere */
    const char *operation; /* "tessera.div", or NULL */
    const char *input;     /* the input that it came in with, or NULL */
    uint32_t rank;         /* of `index`: the element of the operation's result or of the input */
    int64_t index[8];
    double value;            /* what was made or came in there */
    const char *description; /* all of this in a line, with what the operation read, and its turn of
                                the loops around it; until the next such call, or the compilation's
                                end */
} tsr_nonfinite_t;
/* Looks at the outputs of a launch on these inputs, arrays of the host in the shapes of
 * tsrGetShape; where an element is not finite, runs the operations of the kernel one by one in the
 * interpreter, which takes as long as that takes. For a kernel that was compiled in a shape.
 *   TSR_EINVAL        an argument is NULL, or it was compiled for any shape, or not at all
 *   TSR_EUNAVAILABLE  the kernel has no formula */
TSR_API tsr_status_t tsrFindNonfinite(tsr_compilation_t compilation, const void *const *inputs,
                                      const void *const *outputs, tsr_nonfinite_t *found);

#ifdef __cplusplus
}
#endif

#endif
