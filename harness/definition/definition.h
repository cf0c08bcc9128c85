/* definition.h - Definition, Workload and Solution files of flashinfer-bench, as a contract with
 * cases and as implementations of it (docs/capture.md).
 *
 * A Definition names axes, inputs and outputs, and its reference is Python: the kernel that is made
 * of it has no formula, and the reference is an implementation like any other. */
#ifndef TESSERA_HARNESS_DEFINITION_H
#define TESSERA_HARNESS_DEFINITION_H

#include <jansson.h>

#include "base/arena.h"
#include "base/status.h"
#include "base/text.h"
#include "base/vec.h"

typedef enum definition_role {
    DEFINITION_KERNEL,
    DEFINITION_WORKLOADS,
    DEFINITION_SOLUTION
} definition_role;

typedef struct definition_file {
    const char *path; /* borrowed */
    definition_role role;
    json_t *content; /* an object; of workloads an array of them; owned */
} definition_file;

/* Opens a file; its kind follows from what it holds. */
bool definition_file_open(definition_file *f, const char *path, status *st);
void definition_file_close(definition_file *f);

/* A name that the language has, of any: letters, digits and _. */
void definition_identifier(const char *name, text *out);

/* The kernel, with a case for each workload of this definition; `notes` receives a line for each
 * input that a workload takes from a file, and a case generates. */
typedef struct definition_files {
    const definition_file *items;
    size_t count;
} definition_files;
bool definition_write_kernel(const json_t *definition, const char *kernel, definition_files files,
                             text *out, text *notes, status *st);
/* Its reference as a function of the kernel's name. */
bool definition_write_reference(const json_t *definition, const char *kernel, text *out,
                                status *st);
/* A solution in Python likewise, with its files inside. */
bool definition_write_solution(const json_t *definition, const char *kernel, const json_t *solution,
                               text *out, status *st);

#endif
