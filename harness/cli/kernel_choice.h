/* kernel_choice.h - one kernel of one file, by --kernel and --case. */
#ifndef TESSERA_HARNESS_CLI_KERNEL_CHOICE_H
#define TESSERA_HARNESS_CLI_KERNEL_CHOICE_H

#include "case/job_plan.h"
#include "cli/options.h"
#include "tessera/compiler.h"

typedef struct kernel_choice {
    compiler_source *source;
    const compiler_kernel *kernel;
    const compiler_case *c; /* NULL where the kernel has no cases and none was asked for */
} kernel_choice;

/* Opens the file and finds the kernel (needed by name only where the file has several). Diagnostics
 * and messages go to stderr. EXIT_DONE or the exit code; kernel_choice_release in any case. */
int kernel_choice_open(const options *o, const char *path, kernel_choice *out);
void kernel_choice_release(kernel_choice *k);

/* --profile, --threads and --isa for a command that builds one kernel. `choice` keeps what `out`
 * refers to. */
int kernel_choice_options(const options *o, job_choice *choice, compiler_options *out);

#endif
