/* drawn_case.h - a case of a kernel of a corpus that nobody wrote: dimensions, distributions, a
 * seed. It is written into the kernel's source, so that whoever gets it has all of it. */
#ifndef TESSERA_HARNESS_FUZZ_DRAWN_CASE_H
#define TESSERA_HARNESS_FUZZ_DRAWN_CASE_H

#include "case/case.h"

enum { DRAWN_DIMS_MAX = 64, DRAWN_INPUTS_MAX = 64 };
#define DRAWN_CASE "drawn"

typedef struct drawn_case {
    const compiler_kernel *kernel;
    const compiler_case *like; /* has the element types; NULL: the kernel has no cases */
    int64_t dims[DRAWN_DIMS_MAX];
    compiler_input inputs[DRAWN_INPUTS_MAX];
    bool is_float[DRAWN_INPUTS_MAX];
    uint64_t seed; /* of the inputs */
} drawn_case;

/* False: the kernel has more dimensions or inputs than can be drawn. `random` goes on. */
bool drawn_case_draw(drawn_case *d, const corpus_case *item, uint64_t *random);
/* case("drawn", M=3, x=special()) */
void drawn_case_words(const drawn_case *d, text *out);
/* The source with that case alone beside the others of the kernel. */
bool drawn_case_source(const drawn_case *d, text *out, status *st);
/* Checks that it is a case of the kernel, and small enough to be run many times. */
bool drawn_case_fits(const drawn_case *d, const text *source);
/* The smaller cases that are tried, one step from this one; false: there is no such step. */
bool drawn_case_smaller(const drawn_case *d, uint32_t step, drawn_case *out);

#endif
