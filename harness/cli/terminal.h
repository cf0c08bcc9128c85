/* terminal.h - what the terminal, or the place where the text goes, can show. */
#ifndef TESSERA_HARNESS_CLI_TERMINAL_H
#define TESSERA_HARNESS_CLI_TERMINAL_H

#include <stdbool.h>
#include <stdio.h>

/* Whether the locale (LC_ALL, LC_CTYPE, LANG: the first that is set) is one of UTF-8. */
bool terminal_unicode(void);
/* Columns: of the terminal, else $COLUMNS, else 80. */
int terminal_width(FILE *stream);

#endif
