/* diagnostic.h - what a user's mistake looks like: a message, the source line, a caret, notes and
 * help.
 *
 * A diagnostic is rendered into the caller's text at once. Notes and help belong to the error
 * reported last and are dropped with it (the same mistake found again under other element types, or
 * one past the limit). */
#ifndef TESSERA_SOURCE_DIAGNOSTIC_H
#define TESSERA_SOURCE_DIAGNOSTIC_H

#include <stdbool.h>
#include <stdint.h>

#include "base/arena.h"
#include "base/status.h"
#include "base/text.h"
#include "base/vec.h"

/* The mistakes of diagnostics.def. */
typedef enum diagnostic_id {
#define DIAGNOSTIC(NAME, id, title, explanation, wrong, right) ERROR_##NAME,
#include "source/diagnostics.def"
    DIAGNOSTIC_COUNT
} diagnostic_id;

/* Bytes [start, end) of the source. */
typedef struct span {
    uint32_t start, end;
} span;

/* A file of a source: where its bytes and its lines begin. */
typedef struct source_file {
    const char *name;
    uint32_t start, first_line;
} source_file;

/* A file in memory, and behind it those that it imports: a span is a place in one of them. `name`
 * and `data` are the first one's, and borrowed until a second one is added. */
typedef struct source_text {
    const char *name;
    const char *data;
    uint32_t size;   /* of all files */
    uint32_t *lines; /* byte offset of each line's start, in the arena */
    uint32_t line_count;
    const source_file *imported; /* in the order of their bytes */
    uint32_t imported_count;
} source_text;

/* In its file. 1-based; columns count code points. */
typedef struct source_position {
    uint32_t line, column;
} source_position;

enum { DIAGNOSTIC_LIMIT = 20 };

typedef struct diagnostics {
    const source_text *source;
    bool colour;
    text *out;
    uint32_t errors;      /* distinct errors, those past the limit included */
    uint32_t reported;    /* errors, repeated ones included */
    const char *context;  /* under which types the errors arise: "T is bf16"; NULL: always */
    bool muted;           /* the last error was not shown: neither are its notes */
    VEC(uint32_t) places; /* offsets of all distinct errors */
    VEC(struct diagnostic_key {
        span at;
        const char *format;
    })
    seen;
} diagnostics;

/* Errors as data, for whoever wants more than their text. */
typedef struct diagnostic_entry {
    const char *id; /* static */
    source_position at;
    char *message; /* owned */
} diagnostic_entry;
typedef VEC(diagnostic_entry) diagnostic_list;
void diagnostic_list_add(diagnostic_list *l, const char *id, source_position at,
                         const char *message);
void diagnostic_list_release(diagnostic_list *l);
/* Lists there, too, all that this thread shows from now on; NULL: nowhere. Returns the list before.
 */
diagnostic_list *diagnostics_list(diagnostic_list *l);

void source_text_init(source_text *s, arena *a, const char *name, const char *data, uint32_t size);
/* Adds a file behind the others, a copy of it in the arena; returns where it is. */
span source_text_add(source_text *s, arena *a, const char *name, const char *data, uint32_t size);
/* The name of the file that a place is in; and whether that is the first one. */
const char *source_name_at(const source_text *s, uint32_t offset);
bool source_is_first(const source_text *s, uint32_t offset);
source_position source_position_of(const source_text *s, uint32_t offset);
/* Its line alone, counted from 1 through all files, in logarithmic time. */
uint32_t source_line_of(const source_text *s, uint32_t offset);
/* The other way: the byte at a line and column of the first file, or the end of the source. */
uint32_t source_offset_of(const source_text *s, uint32_t line, uint32_t column);
span span_join(span first, span last);

void diagnostics_init(diagnostics *d, const source_text *source, bool colour, text *out);
void diagnostics_release(diagnostics *d);

/* "E0301" */
const char *diagnostic_name(diagnostic_id id);

void diagnose_error(diagnostics *d, diagnostic_id id, span at, const char *format, ...)
    __attribute__((format(printf, 4, 5)));
void diagnose_note(diagnostics *d, span at, const char *format, ...)
    __attribute__((format(printf, 3, 4)));
void diagnose_help(diagnostics *d, const char *format, ...) __attribute__((format(printf, 2, 3)));
/* A mistake that is seen when code is made: a status whose message is the diagnostic's text.
 * Returns false. Parameters: the status and its code, then those of an error; `help` may be NULL.
 */
bool diagnose_status(status *st, status_code code, const source_text *source, diagnostic_id id,
                     span at, const char *why, const char *help);
/* Tells that an error has been shown on the line of this offset: another one there is most likely
 * its echo. */
bool diagnosed_on_line(const diagnostics *d, uint32_t offset);
/* help: did you mean '...'? where one of the names is near `word`; true when it said so. */
bool diagnose_nearest(diagnostics *d, const char *word, const char *const *names, size_t count);

#endif
