/* entries.h - the entry points of code for a GPU that others made: their names, and
 * the sizes of what they take. Nothing is loaded. */
#ifndef TESSERA_HARNESS_IMPLEMENTATION_ENTRIES_H
#define TESSERA_HARNESS_IMPLEMENTATION_ENTRIES_H

#include "implementation/parts.h"

enum { ENTRY_PARAMETERS_MAX = 256 };

typedef struct implementation_entry {
    const char *name;
    bool known; /* what it takes could be read */
    uint32_t count;
    uint32_t sizes[ENTRY_PARAMETERS_MAX]; /* bytes of each parameter; `count` may be beyond it */
} implementation_entry;

typedef struct implementation_entries {
    arena memory;
    VEC(implementation_entry) items;
} implementation_entries;

/* Kind of machine code of a GPU that the file is; IMPLEMENTATION_KIND_COUNT: none. */
implementation_kind implementation_machine_code_kind(const implementation_file *f);
/* Reads code of that kind; STATUS_CORRUPT where it cannot be read or has none. Released in any
 * case. */
bool implementation_entries_read(implementation_entries *out, implementation_kind kind,
                                 const implementation_file *f, status *st);
void implementation_entries_release(implementation_entries *entries);
/* NULL: there is none. */
const implementation_entry *implementation_entry_find(const implementation_entries *entries,
                                                      const char *name);

#endif
