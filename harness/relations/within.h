/* within.h - inputs of a shape within what the kernel checks of its integers. */
#ifndef TESSERA_HARNESS_RELATIONS_WITHIN_H
#define TESSERA_HARNESS_RELATIONS_WITHIN_H

#include "relations/runner.h"

/* Draws the integers that decide the checks again, below ever smaller bounds, until these hold: a
 * cache has room for what comes to it. s->within tells whether they do, or there are none; where no
 * integers are found, the inputs are as before. */
bool within_checks(shape *s, status *st);

#endif
