/* opinion.h - a second opinion of what the interpreter shares with the way down: derivatives,
 * batches, shards, composites and calls of functions.
 *
 * Each of these operations is held to what it means, which is computed another way: a derivative to
 * differences of its function, a batch to its function part by part, shards to their operations one
 * by one, a composite to its formula in f64, calls to functions that are run by themselves. What
 * has no other way (functions with rules that differ, stopped gradients, draws of parts, cotangents
 * of shards) or is no more than that near a kink is not judged. */
#ifndef TESSERA_OPINION_H
#define TESSERA_OPINION_H

#include "tessera/compiler.h"

enum { COMPILER_OPINION_PASSES = 6 };

typedef struct compiler_opinion {
    const char *wrong; /* the pass whose operation is wrong first, inner ones before outer; NULL:
                          none is */
    const char *name;  /* ... the operation, .. */
    uint32_t line, column; /* .. where it stands */
    char why[200];         /* ... and by how much */
    /* Passes that had operations, also of transforms in those of others: all of which were judged,
     * and are right to the last bit; and those of which that is not known. */
    const char *right[COMPILER_OPINION_PASSES], *open[COMPILER_OPINION_PASSES];
    uint32_t right_count, open_count;
} compiler_opinion;

/* Is there one of the pass of this name? */
bool compiler_has_opinion(const char *pass, size_t length);
/* Judges the kernel, with these inputs. False with a status where it cannot be evaluated. */
bool compiler_second_opinion(compiler_instance *instance, const tensor *inputs,
                             compiler_opinion *out, status *st);

#endif
