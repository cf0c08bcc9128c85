/* pack_child.h - a pack that was made of another one, which it names. */
#ifndef TESSERA_HARNESS_RUN_PACK_CHILD_H
#define TESSERA_HARNESS_RUN_PACK_CHILD_H

#include <jansson.h>

#include "base/text.h"
#include "repro/pack.h"

/* The parent's manifest without its members, which names it: for fields of the child's own. Owned;
 * NULL with a status. */
json_t *pack_child_about(const pack *parent, status *st);

/* A place for packs. */
typedef struct pack_place {
    const char *output; /* the file; NULL: one in a folder, named by its case and its content */
    const char *folder; /* NULL: the usual one, kept small */
} pack_place;

/* Writes it, and appends its path. `members` NULL: those of the parent. Parameters: a pack and its
 * place. */
bool pack_child_write(const pack *parent, const json_t *about, const pack_member *members,
                      size_t count, const pack_place *place, text *path, status *st);

#endif
