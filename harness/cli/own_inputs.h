/* own_inputs.h - --inputs NAME=FILE.npy, or tensors of a .safetensors file: a kernel on the user's
 * own arrays, which make its case. */
#ifndef TESSERA_HARNESS_CLI_OWN_INPUTS_H
#define TESSERA_HARNESS_CLI_OWN_INPUTS_H

#include "cli/options.h"
#include "common/scratch_folder.h"
#include "job/job_plan.h"

typedef struct own_inputs {
    scratch_folder
        folder;        /* has NAME.npy for each parameter; a link where the user's file is one */
    text kernel, dims; /* its name; "M=5,N=7,T=f32", from the arrays or --dims */
    bool given;
} own_inputs;

/* Finds the one kernel whose parameters have just these names, in the arguments from `first` on
 * (none: corpus/). Does nothing without --inputs. Returns EXIT_DONE, or the exit code after a
 * message; call own_inputs_close in any case. */
int own_inputs_open(const options *o, size_t first, own_inputs *own);
/* Loads the kernel with the case that the arrays make. Returns the codes of choice_corpus. */
int own_inputs_corpus(const options *o, size_t first, const own_inputs *own, corpus *out);
/* Lets the job run on the arrays, without a golden. */
void own_inputs_take(const own_inputs *own, job *j);
void own_inputs_close(own_inputs *own);

#endif
