/* environment.h - what surrounds a case and is no part of it: the member environment.json of a
 * pack, and how that differs from here.
 *
 * It has no time, process or address: the same machine in the same state gives the same bytes. */
#ifndef TESSERA_HARNESS_RUN_ENVIRONMENT_H
#define TESSERA_HARNESS_RUN_ENVIRONMENT_H

#include <jansson.h>

#include "base/text.h"

#define ENVIRONMENT_MEMBER "environment.json"
enum { ENVIRONMENT_BYTES_MAX = 256 << 10 };

/* Groups of names and values: "variables", "cpu", "floats" (MXCSR), "system", "libraries" (build
 * ids). Owned. */
json_t *environment_facts(void);

/* Appends a line "  cpu.microcode: 0x1 there, 0x2 here" for each value of the text of the member
 * that is another one in `here`. False: it is no such text, and comes from somewhere else. */
bool environment_differences(const char *recorded, size_t size_bytes, const json_t *here,
                             text *out);

#endif
