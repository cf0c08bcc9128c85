/* text.h - a growable byte string, NUL-terminated at all times.
 *
 * Owned by the caller: text_init ... text_release. `data` may move on every append. */
#ifndef TESSERA_BASE_TEXT_H
#define TESSERA_BASE_TEXT_H

#include <stdarg.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

typedef struct text {
    char *data; /* never NULL after text_init */
    size_t length;
    size_t capacity;
} text;

void text_init(text *t);
void text_release(text *t);
void text_clear(text *t);
void text_append(text *t, const char *string);
void text_append_bytes(text *t, const void *bytes, size_t length);
void text_append_char(text *t, char c);
void text_append_integer(text *t, int64_t value); /* in decimal digits */
/* Bytes in base64 (RFC 4648, section 4), padded. */
void text_append_base64(text *t, const void *bytes, size_t size_bytes);
/* A word in single quotes, as a shell reads it whatever it is. */
void text_append_quoted(text *t, const char *word);
void text_printf(text *t, const char *format, ...) __attribute__((format(printf, 2, 3)));
void text_vprintf(text *t, const char *format, va_list args) __attribute__((format(printf, 2, 0)));
char *text_take(text *t); /* the string, owned by the caller (free); `t` becomes empty */

/* fnmatch-like glob used by --filter: '*', '?', '[...]'; '*' crosses '/'. */
bool text_glob(const char *pattern, const char *string);
/* The end of a noun behind a number: "" of 1, else "s". */
static inline const char *text_s(size_t count) {
    return count == 1 ? "" : "s";
}

/* Edit distance (Damerau-Levenshtein), for suggestions. */
size_t text_distance(const char *a, const char *b);
/* The nearest of `names` to `word` at distance <= max(1, length/3), or NULL. Borrowed. */
const char *text_nearest(const char *word, const char *const *names, size_t count);

#endif
