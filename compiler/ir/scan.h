/* scan.h - finds its way in IR text before it is read: blanks, the ends of regions, and the
 * resources behind a module. */
#ifndef TESSERA_IR_SCAN_H
#define TESSERA_IR_SCAN_H

#include <stdbool.h>
#include <stdint.h>

#include "base/map.h"
#include "base/vec.h"
#include "ir/blob.h"

/* The next place that is neither a blank nor in a comment. */
const char *scan_blanks(const char *p);
/* Behind the letters, digits, '_', '.' and '$' of a name. */
const char *scan_word(const char *p);
/* Value of a hexadecimal digit. */
int scan_hex(char c);
/* Behind what begins with '(' or '{'; NULL where it has no end. */
const char *scan_region(const char *p);
/* The regions of a list "({...}, {...})"; 0 where it is none. */
uint32_t scan_count_regions(const char *list);

/* Bytes that stand behind the module, in MLIR's words:
 * {-# dialect_resources: { builtin: { KEY: "0x<alignment, 4 bytes><bytes>" } } #-} */
typedef struct scan_resources {
    map by_key; /* an index of `blobs` */
    VEC(ir_blob *) blobs;
    const char *begin, *end; /* of their text; NULL: there are none */
} scan_resources;

/* False: `at` is where it is wrong, and `what` says how. To be released either way. */
bool scan_resources_read(const char *source, scan_resources *out, const char **at,
                         const char **what);
void scan_resources_release(scan_resources *r);

#endif
