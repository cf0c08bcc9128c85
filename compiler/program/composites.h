/* composites.h - composites that passes have left whole: each is a dispatch, with work around it.
 */
#ifndef TESSERA_PROGRAM_COMPOSITES_H
#define TESSERA_PROGRAM_COMPOSITES_H

#include "program/function.h"
#include "program/outline.h"

bool program_is_composite(int opcode);
/* Calls stand for the composites of the kernel's block and those of its branches and loops, and for
 * what the request takes in. */
void program_outline_composites(functions *f, const outline_request *request);

#endif
