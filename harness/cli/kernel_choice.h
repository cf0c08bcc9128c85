/* kernel_choice.h - kernels of one file, by --kernel, --case and --dims. */
#ifndef TESSERA_HARNESS_CLI_KERNEL_CHOICE_H
#define TESSERA_HARNESS_CLI_KERNEL_CHOICE_H

#include "base/vec.h"
#include "cli/options.h"
#include "job/job_plan.h"
#include "tessera/compiler.h"

typedef struct kernel_choice {
    compiler_source *source; /* borrowed */
    const compiler_kernel *kernel;
    const compiler_case *c; /* NULL: it has none, and needs none */
} kernel_choice;

/* Opens the file, of FILE:KERNEL too, telling what is wrong with it on stderr; `cache` (NULL: none)
 * is the folder of cached modules. EXIT_DONE or the exit code; the caller closes the source. */
int kernel_choice_source(const options *o, const char *cache, const char *path,
                         compiler_source **out);
/* The kernel of --kernel, which may be left out where the file has one, with the case of --case,
 * else the first, else none (NULL). Messages go to stderr. EXIT_DONE or the exit code. */
int kernel_choice_one(const options *o, compiler_source *source, const char *path,
                      kernel_choice *out);
/* Every kernel, or that of --kernel, with the case of --dims or --case, else the first. Those that
 * have no such case are left out, and told. The worst exit code of all, which is EXIT_DONE where
 * each kernel that is meant is there; `out` is appended to in any case. */
typedef VEC(kernel_choice) kernel_choices;
int kernel_choice_all(const options *o, compiler_source *source, const char *path,
                      kernel_choices *out);

/* --profile, --threads and --isa for a command that builds one kernel. `choice` keeps what `out`
 * refers to. */
int kernel_choice_options(const options *o, job_choice *choice, compiler_options *out);

/* The number of a kernel's parameter of this name, of so many letters; -1: it has none. */
int kernel_parameter(const compiler_kernel *kernel, const char *name, size_t length);

#endif
