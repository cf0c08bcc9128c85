/* escape.h - text that came from elsewhere (a pack, JSON, a database, the environment, a file's
 * name), made fit for a terminal and for the log of a CI.
 *
 * What is foreign is escaped where it is put into a message, so that it can neither move the
 * cursor, nor begin a line, nor give an order to the program that reads the log:
 *   control characters          \n, \t, \r, \x1b; those above ASCII \u009b
 *   bytes that are not UTF-8    \xff
 *   directions, invisible ones  \u202e
 *   orders of CI systems        "::" where it begins the text, "##[" and "##word": the first
 *                               character as \x3a or \x23
 * All else is as it was, a backslash too: this is for eyes, not for reading back. */
#ifndef TESSERA_BASE_ESCAPE_H
#define TESSERA_BASE_ESCAPE_H

#include <stdarg.h>
#include <stdbool.h>
#include <stddef.h>

#include "base/text.h"

/* Bytes that are shown of one foreign string at most: the longest path. */
enum { TEXT_SHOWN_BYTES_MAX = 4096 };

bool text_is_utf8(const char *bytes, size_t length);
/* Length of the longest prefix that ends with a whole character, for text that was cut. */
size_t text_utf8_cut(const char *bytes, size_t length);
/* Appends the bytes as UTF-8: each that is part of no character becomes the four characters \xff.
 */
void text_append_utf8(text *out, const char *bytes, size_t length);

/* Appends at most about `most` bytes of escaped text; what is left out is told: "...(N bytes)". */
void text_escape(text *out, const char *bytes, size_t length, size_t most);

/* text_printf whose %s are foreign: each is escaped, and cut to TEXT_SHOWN_BYTES_MAX (or to its
 * precision). A NULL string is "(null)". The format is ours and stays as it is. Understands what
 * C11 has but %n and %p. */
void text_show(text *out, const char *format, ...) __attribute__((format(printf, 2, 3)));
void text_vshow(text *out, const char *format, va_list args) __attribute__((format(printf, 2, 0)));

/* Foreign text that may have lines: each is escaped, and begins after `indent`, but for the first.
 * So none of them looks like one of ours. */
void text_show_lines(text *out, const char *indent, const char *words);

/* The second net, for text that was put together before: keeps newlines, tabs and colours (ESC [
 * digits m) and escapes the rest; "::" at the start of any line. */
void text_screen(text *out, const char *bytes, size_t length);

/* Appends JSON as it was dumped, with what only strings can hold and a terminal should not see
 * (DEL, C1, directions, "##" of an order) as \uXXXX: the same document. */
void text_screen_json(text *out, const char *json, size_t length);

#endif
