/* checks.h - debug.check() and the invariants of states, of which integers alone decide. */
#ifndef TESSERA_CHECKS_H
#define TESSERA_CHECKS_H

#include "tessera/compiler.h"

/* The kernel's checks that integers among its inputs decide, and no floats, such as the invariant
 * of a cache: *out gives them, of the same inputs; NULL: there are none. compiler_instance_free.
 * `decides`, by input: one of them reads it. False with a status. */
bool compiler_integer_checks(compiler_instance *instance, compiler_instance **out, bool *decides,
                             status *st);

#endif
