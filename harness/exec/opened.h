/* opened.h - what the process of an implementation opens beside its own file: for packs, which hold
 * that file and nothing else.
 *
 * Python's tells by itself (tessera/_opened.py), into the file that TESSERA_OPENED names; of one in
 * C its mapped and its open files are looked at. */
#ifndef TESSERA_HARNESS_EXEC_OPENED_H
#define TESSERA_HARNESS_EXEC_OPENED_H

#include <jansson.h>

/* Before it starts: `folder` is for this user alone. */
void opened_begin(const char *folder);
/* While it lives: adds what it has now to `found`, a list of {"how", "name"}. */
void opened_look(json_t *found, const char *implementation);
/* After it: adds what Python told, and ends what opened_begin began. */
void opened_end(json_t *found, const char *implementation);

#endif
