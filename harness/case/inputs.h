/* inputs.h - makes the arrays that a case runs on from its distributions and the seed alone
 * (NUMERICS: inputs). */
#ifndef TESSERA_HARNESS_CASE_INPUTS_H
#define TESSERA_HARNESS_CASE_INPUTS_H

#include "tessera/compiler.h"

/* Makes one tensor for each input of the signature; releases all of them on failure. */
bool inputs_make(const compiler_signature *signature, const compiler_case *c, uint64_t seed,
                 tensor *inputs, status *st);
/* Copies `like` and draws one element of one input, chosen by the seed, again: outputs that were
 * kept by a part of the inputs do not show the change. Nothing differs where a distribution has no
 * other value (constants). */
bool inputs_make_perturbed(const compiler_signature *signature, const compiler_case *c,
                           const tensor *like, uint64_t seed, tensor *inputs, status *st);

/* Names one of a case's sets of inputs: the case's own, one that is drawn from a seed of its own,
 * or the first with one element changed. */
typedef struct input_set {
    uint32_t number; /* 0: the case's own */
    bool perturbed;
} input_set;
typedef struct inputs_request {
    const compiler_signature *signature;
    const compiler_case *c;
    uint64_t seed;
    const tensor *own; /* the case's own inputs; NULL where they are still to be made */
} inputs_request;
bool inputs_make_set(const inputs_request *request, input_set set, tensor *inputs, status *st);

/* Reads FOLDER/NAME.npy for each input; its type and shape must be those of the signature. */
bool inputs_read(const compiler_signature *signature, const char *folder, tensor *inputs,
                 status *st);

#endif
