/* lint_kernel.h - inside the lint: one kernel with the graphs of its cases, and where things stand.
 */
#ifndef TESSERA_HARNESS_LINT_LINT_KERNEL_H
#define TESSERA_HARNESS_LINT_LINT_KERNEL_H

#include "lint/lint.h"
#include "tessera/compiler.h"

/* Bytes of the source. */
typedef struct lint_span {
    size_t start, end;
} lint_span;

typedef struct lint_file {
    const char *path, *data;
    size_t size;
} lint_file;

typedef struct lint_case {
    const compiler_case *c;
    compiler_instance *instance; /* owned */
    const ir_module *primitives; /* of the instance */
    compiler_signature signature;
    uint64_t bytes; /* of inputs and outputs */
} lint_case;

typedef struct lint_kernel {
    lint_report *report;
    const lint_file *file;
    compiler_source *source;
    const compiler_kernel *kernel;
    lint_case *cases; /* those that could be opened */
    size_t case_count;
} lint_kernel;

/* place.c: the whole line where a name is not found. */
lint_span lint_line_span(const lint_file *f, uint32_t line);
lint_span lint_kernel_span(const lint_kernel *k);
lint_span lint_case_span(const lint_kernel *k, const compiler_case *c);
/* The word at a place of the source; the kernel's name where there is none. */
lint_span lint_location_span(const lint_kernel *k, ir_location at);
lint_span lint_parameter_span(const lint_kernel *k, const char *parameter);

/* Takes a printf format. `c` may be NULL. */
void lint_add(const lint_kernel *k, lint_id id, lint_span at, const compiler_case *c,
              const char *format, ...) __attribute__((format(printf, 5, 6)));
/* Adds what the compiler says of a case: where it names a place, there. */
void lint_add_failure(const lint_kernel *k, const compiler_case *c, const status *st);
/* Adds a finding of a file, without a kernel. */
void lint_add_at(lint_report *r, const lint_file *f, lint_id id, lint_span at, const char *message);

/* The groups of checks. */
void lint_check_kernel(const lint_kernel *k);   /* checks_kernel.c: of all cases together */
void lint_check_cases(const lint_kernel *k);    /* checks_case.c: of each */
void lint_check_sums(const lint_kernel *k);     /* checks_sum.c: what adds up */
void lint_check_schedule(const lint_kernel *k); /* checks_schedule.c */
void lint_check_layout(const lint_kernel *k);   /* checks_layout.c: rows, caches */
void lint_check_tile(const lint_kernel *k);     /* checks_tile.c */
void lint_check_tiles(const lint_kernel *k);    /* checks_tiles.c: kernels of tiles */
void lint_check_space(const lint_kernel *k);    /* checks_space.c: sizes of tiles */
void lint_check_code(const lint_kernel *k);     /* checks_code.c: compiles */
void lint_check_chip(const lint_kernel *k);     /* checks_chip.c: what a chip makes of it */
void lint_check_race(const lint_kernel *k);     /* checks_race.c: runs on the emulator */

/* The first operation of a kernel; each knows its next. */
ir_op lint_first_op(const ir_module *m);
/* Name of an operation without its dialect: "reduce". */
const char *lint_op_name(const ir_module *m, ir_op op);
/* Input that a value of the primitives is, seen through what only moves, copies or converts
 * elements; -1: none, or computed. */
int lint_input_of(const ir_module *m, ir_value value);
bool lint_type_is_float(dtype type);

#endif
