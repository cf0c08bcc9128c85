/* subject.h - one case under test, inside a worker: its graph and inputs, and what is expected of
 * its outputs.
 *
 * What costs time (the oracle, the reference in f64) is computed when first asked for and kept
 * while jobs stay with the case. */
#ifndef TESSERA_HARNESS_SUBJECT_H
#define TESSERA_HARNESS_SUBJECT_H

#include "golden.h"
#include "tessera/compiler.h"

typedef struct subject {
    char *path, *kernel_name, *case_name;
    char *source_text; /* where the source was given as text */
    uint64_t seed;
    compiler_source *source;
    const compiler_kernel *kernel;
    const compiler_case *c;
    ir_module *graph;
    compiler_signature signature;
    tensor inputs[COMPILER_MAX_PARAMETERS];
    uint64_t flops, bytes;
    uint64_t working_set_bytes;
    char key[65];
    golden golden;
    golden_state golden_state;
    bool has_oracle, has_reference;
    bool whole; /* has_reference: every float on the way is a whole number */
    tensor oracle[COMPILER_MAX_PARAMETERS];
    tensor references[COMPILER_MAX_PARAMETERS], bounds[COMPILER_MAX_PARAMETERS];
    struct subject *others; /* the same case on other inputs; see subject_others */
    uint32_t other_count;
} subject;

typedef struct subject_request {
    const char *path, *kernel, *case_name;
    const char *golden_path; /* NULL: goldens are not looked at */
    uint64_t seed;
    const char *source; /* the source's text, instead of the file at `path`; NULL: the file */
} subject_request;

/* Prepares `s` for the request, keeping what it already has of the same case. `s` starts as all
 * zero. */
bool subject_open(subject *s, const subject_request *request, status *st);
void subject_close(subject *s);

/* The interpreter's outputs; borrowed. */
const tensor *subject_oracle(subject *s, status *st);
/* The f64 reference and its bounds, in s->references and s->bounds. */
bool subject_reference(subject *s, status *st);
/* The case on `count` other inputs of its distributions, without goldens; kept like the rest. The
 * last are the case's own with one element changed, all others those of another seed each. NULL
 * where their values are not what the kernel asks for. Borrowed. */
subject *subject_others(subject *s, uint32_t count, status *st);
/* Element type that most of the input is made of: what the compute ceiling is about. */
dtype subject_element(const subject *s);

#endif
