/* run_steps.h - a kernel run step after step: what it donates to its results, its states, goes from
 * each step to the next and stays on the device; other results are kept of every step. */
#ifndef TESSERA_HARNESS_CLI_RUN_STEPS_H
#define TESSERA_HARNESS_CLI_RUN_STEPS_H

#include <jansson.h>

#include "cli/options.h"
#include "launch/launch.h"
#include "tessera/ranks.h"

typedef struct step_plan {
    const char *kernel, *path; /* of the kernel, for messages */
    const char *program;       /* identifies it: the digest of its graph */
    const compiler_signature *signature;
    tensor *inputs; /* of the first step that is left; in the end the states of the last */
    launch *device; /* open, its inputs not yet written; NULL: the interpreter runs */
    compiler_instance *instance;
    const int64_t (*shards)[SHARD_PART_DIMS]; /* of each input (compiler_shards); NULL: one */
    int counter;     /* the input that is given the number of the step; -1: none */
    int64_t steps;   /* 0: one launch, whose results are its outputs */
    json_t *retried; /* what state.json says of it */
    bool from_kept;  /* keep the first states, too: a launch that fails is begun again from there */
    const char *state, *save, *out; /* a folder, a file, a folder; NULL: not asked for */
    const options *exports;         /* of numbers of each step, by --export; NULL: one launch */
    bool sentinels;                 /* of `instance`: tell what makes a NaN or an infinity */
} step_plan;

/* Fills in what --state, --save, --out and --export say. */
void steps_options(step_plan *plan, const options *o);

/* Inputs while their arrays are read. */
typedef struct step_inputs {
    const char *const *names;
    const dtype *types; /* that are meant; DTYPE_NONE: the array tells */
    uint32_t count;
    const char **paths; /* of .npy files; then where each array is from; NULL: it has none */
    tensor *arrays;
} step_inputs;
/* Makes room for the states that the folder of --state holds, reads the paths, and then tensors of
 * --load. */
bool steps_read(const step_inputs *in, const options *o, status *st);
/* An i32 that is called `step` and was not given counts the steps: its number, or -1. */
int steps_counter(const step_inputs *in, status *st);

/* Runs the steps that are left, shows what they print, writes states and outputs, and prints the
 * paths. A check that does not hold ends it with STATUS_MISMATCH, and nothing of that step is kept.
 * `fails`: an operation made a NaN or an infinity, and the step was the last. */
bool steps_run(const step_plan *plan, bool *fails, status *st);

#endif
