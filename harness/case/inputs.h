/* inputs.h - the arrays that a case runs on, from its distributions and the seed alone (NUMERICS:
 * inputs). */
#ifndef TESSERA_HARNESS_CASE_INPUTS_H
#define TESSERA_HARNESS_CASE_INPUTS_H

#include "tessera/compiler.h"

/* Makes one tensor per input of the signature; all released again on failure. */
bool inputs_make(const compiler_signature *signature, const compiler_case *c, uint64_t seed,
                 tensor *inputs, status *st);
/* Copies of `like` in which one element, of one input, is another one of its distribution: outputs
 * that were kept by a part of the inputs do not show it. The seed says which. Where no other value
 * is drawn (constants), nothing differs. */
bool inputs_make_perturbed(const compiler_signature *signature, const compiler_case *c,
                           const tensor *like, uint64_t seed, tensor *inputs, status *st);

/* Which of a case's sets of inputs: the first are its own, and each other is drawn from a seed of
 * its own, or is the first with one element changed. */
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

/* FOLDER/NAME.npy for each, of its type and shape. */
bool inputs_read(const compiler_signature *signature, const char *folder, tensor *inputs,
                 status *st);

#endif
