/* descent.h - the way down of a kernel, pass by pass, and what the module behind a pass computes.
 */
#ifndef TESSERA_DESCENT_H
#define TESSERA_DESCENT_H

#include "tessera/compiler.h"

/* A module that is stored: the passes behind `pass` go on with it, in the place of the kernel's. */
typedef struct compiler_stored {
    const char *pass; /* that made it; "": it is before all passes */
    const char *ir;   /* its text */
} compiler_stored;

typedef struct compiler_descent compiler_descent;

/* The compilation of an instance that these options ask for, before its first pass; of a program
 * the passes of the whole, down to its kernels. NULL with a status. */
compiler_descent *compiler_descent_open(compiler_instance *instance,
                                        const compiler_options *options, status *st);
void compiler_descent_close(compiler_descent *s);

/* The next pass; NULL: there is none. Behind the passes stands "fault", if one of the options is
 * made in the code's own IR. */
const char *compiler_descent_name(const compiler_descent *s);
/* Runs it. False: it failed. */
bool compiler_descent_run(compiler_descent *s, status *st);

bool compiler_descent_is_program(const compiler_descent *s);
/* Names the level of the module as it is: "graph", "schedule" or "tile". */
const char *compiler_descent_level(const compiler_descent *s);
void compiler_descent_print(const compiler_descent *s, text *out);
/* The outputs of the module as it is, initialised by the call. STATUS_UNAVAILABLE: nothing
 * evaluates it at its level. */
bool compiler_descent_evaluate(const compiler_descent *s, const tensor *inputs, tensor *outputs,
                               status *st);
/* Parameters: the way down of each rank of one program, all behind the same pass, and the inputs
 * and outputs of each: the modules at once, with what they exchange. */
bool compiler_descent_evaluate_ranks(compiler_descent *const *ranks, uint32_t count,
                                     const tensor *const *inputs, tensor *const *outputs,
                                     status *st);
/* Parts of inputs and outputs that the graph is of, as compiler_parts has them. */
shard_part *compiler_descent_parts(const compiler_descent *s);
/* Can a module of this level, of code for this target, be evaluated? */
bool compiler_descent_evaluates(const compiler_descent *s);
/* Does what evaluates a graph have that pass, too? A fault of it shows in all modules alike. */
bool compiler_pass_is_shared(const char *name);

#endif
