/* document.h - files that people write, in YAML or JSON: values that know where they stand.
 *
 * One reader for both, as JSON is YAML in braces. A document is plain data: an anchor, an alias, a
 * tag, a second document or a key that is there twice is an error, and so nothing can be more than
 * what the file shows. */
#ifndef TESSERA_RUNTIME_DOCUMENT_H
#define TESSERA_RUNTIME_DOCUMENT_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/arena.h"
#include "base/status.h"

typedef enum document_kind { DOCUMENT_MAP, DOCUMENT_LIST, DOCUMENT_SCALAR } document_kind;

typedef struct document_node {
    document_kind kind;
    bool quoted;       /* a scalar that is text whatever it looks like */
    int line, column;  /* from 1; of a member of a map: its key's */
    const char *name;  /* its key; NULL: it has none */
    const char *value; /* of a scalar */
    const struct document_node *parent;
    struct document_node *first, *last, *next; /* members, in their order */
} document_node;

typedef struct document {
    const char *path;
    arena memory;
    const document_node *root;
} document;

/* False: `st` has path, line, column and what is wrong there (STATUS_INVALID). document_release in
 * any case. */
bool document_read(document *d, const char *path, status *st);
void document_release(document *d);

/* NULL: there is none. */
const document_node *document_member(const document_node *map, const char *name);
/* "PATH:LINE:COLUMN: GROUP.NAME " and the words, whose %s are foreign. Returns false. */
bool document_wrong(const document *d, const document_node *at, status *st, const char *format, ...)
    __attribute__((format(printf, 4, 5)));
/* The value as JSON has it, cut; borrowed from the document. */
const char *document_shown(document *d, const document_node *at);

/* False, and nothing is told: it is none. */
bool document_flag(const document_node *at, bool *out);
bool document_number(const document_node *at, double *out); /* finite */
bool document_whole(const document_node *at, uint64_t low, uint64_t high, uint64_t *out);
const char *document_text(const document_node *at); /* NULL where it is a number, flag, null... */

#endif
