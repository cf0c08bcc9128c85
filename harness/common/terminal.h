/* terminal.h - what the terminal, or the place where the text goes, can show. */
#ifndef TESSERA_HARNESS_COMMON_TERMINAL_H
#define TESSERA_HARNESS_COMMON_TERMINAL_H

#include <stdbool.h>
#include <stdio.h>

/* Checks that the locale (LC_ALL, LC_CTYPE, LANG: the first that is set) is one of UTF-8. */
bool terminal_unicode(void);
/* More than any line has: a pipe or a file cuts nothing. */
enum { TERMINAL_UNBOUNDED = 10000 };
/* Columns: of the terminal (80 where it does not say), else $COLUMNS, else TERMINAL_UNBOUNDED. */
int terminal_width(FILE *stream);

#endif
