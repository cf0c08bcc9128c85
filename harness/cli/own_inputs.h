/* own_inputs.h - --inputs NAME=FILE.npy, or tensors of a .safetensors file: a kernel on the user's
 * own arrays, which make its case. */
#ifndef TESSERA_HARNESS_CLI_OWN_INPUTS_H
#define TESSERA_HARNESS_CLI_OWN_INPUTS_H

#include "cli/options.h"
#include "common/scratch_folder.h"
#include "job/job_plan.h"

typedef struct own_inputs {
    scratch_folder
        folder; /* NAME.npy for each parameter, links to the user's files where they are that */
    text kernel, dims; /* its name; "M=5,N=7,T=f32", what the arrays make of it, or --dims */
    bool given;
} own_inputs;

/* Of the arguments from `first` on (none: corpus/) the one kernel whose parameters have just these
 * names. Nothing without --inputs. EXIT_DONE, or the exit code, told; own_inputs_close in any case.
 */
int own_inputs_open(const options *o, size_t first, own_inputs *own);
/* Loads the kernel with the case that the arrays make. Codes are those of choice_corpus. */
int own_inputs_corpus(const options *o, size_t first, const own_inputs *own, corpus *out);
/* The job runs on them: no golden says what comes of that. */
void own_inputs_take(const own_inputs *own, job *j);
void own_inputs_close(own_inputs *own);

#endif
