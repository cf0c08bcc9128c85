/* edit.h - a case made smaller, one edit after the other: to find the operation that is wrong, and
 * to keep the least that still fails.
 *
 * Edits are text, "prefix 5;input 3;forward 4 0": each is of the kernel that those before it left.
 * Operations are numbered from 1 on as they stand in the kernel, those in the blocks of a branch, a
 * loop or a transform (tessera.vjp and its like, which only `transforms` leaves) behind it. Behind
 * each edit goes what nothing needs any more: operations, and inputs. */
#ifndef TESSERA_EDIT_H
#define TESSERA_EDIT_H

#include "tessera/compiler.h"

enum { COMPILER_EDIT_ARGUMENTS = 4 };

typedef struct compiler_edited {
    compiler_instance *instance; /* owned; of numbers for dimensions */
    tensor *inputs;              /* of tensors_new; owned */
    uint32_t input_count, output_count;
    uint32_t operation_count; /* all that have a number */
} compiler_edited;

/* One run of a kernel of a program: numbered from 1 on over all turns of its loops. */
enum { COMPILER_RUN_TURNS = 8 };
typedef struct compiler_run {
    int64_t number;
    compiler_instance *instance; /* of the kernel; the same for all of its runs; borrowed */
    const tensor *inputs;        /* the interpreter's, borrowed */
    uint32_t line;               /* of the source, of its last operation that has one; 0: none */
    uint32_t turn_count;         /* loops around it, outer before inner */
    struct compiler_run_turn {
        uint32_t line; /* of the loop */
        int64_t turn;  /* from 0 */
    } turns[COMPILER_RUN_TURNS];
} compiler_run;
/* Calls `visit` before each, in order, to the first that gives false. The options say how the
 * program is cut into kernels. */
typedef bool (*compiler_run_fn)(void *self, const compiler_run *run);
bool compiler_runs(compiler_instance *whole, const compiler_options *options, const tensor *inputs,
                   compiler_run_fn visit, void *self, status *st);

/* The case behind these edits, which compiler/edit.def lists. Values that become inputs are
 * the interpreter's. STATUS_UNAVAILABLE: an edit says nothing of this kernel. The options say how a
 * program is cut into kernels. compiler_edited_release in any case. */
bool compiler_edit(compiler_instance *whole, const compiler_options *options, const tensor *inputs,
                   const char *edits, compiler_edited *out, status *st);
void compiler_edited_release(compiler_edited *e);

typedef struct compiler_operation {
    const char *name;      /* "tessera.dot"; static */
    uint32_t line, column; /* of the source; 0: it has none */
    uint32_t operand_count, result_count;
    uint32_t inside; /* operations in its blocks: the numbers behind its own */
    bool has_block;  /* it is a transform, a branch or a loop */
    bool generates;  /* it has no operand: a constant, say */
} compiler_operation;
bool compiler_operation_at(const compiler_instance *instance, uint32_t number,
                           compiler_operation *out);
/* The number of the operation that makes an output; 0: it is an input as it is. */
uint32_t compiler_output_operation(const compiler_instance *instance, uint32_t output);

/* Appends the kernel as a source of its own, with one case, "minimized", whose arrays are not in
 * it. */
bool compiler_edited_source(const compiler_edited *e, text *out, status *st);

#endif
