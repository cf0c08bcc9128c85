/* canonical.h - results of a program have quiet NaNs, as those of a kernel do. */
#ifndef TESSERA_PROGRAM_CANONICAL_H
#define TESSERA_PROGRAM_CANONICAL_H

#include "program/function.h"

/* A kernel gives every NaN as the quiet one, but a copy hands on what an input has. So what the
 * kernel's block returns of an input or a constant, and no dispatch has made, goes through a
 * dispatch. The block holds calls of dispatches, constants, branches and loops alone. */
void program_make_canonical(functions *f);

#endif
