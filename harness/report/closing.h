/* closing.h - the last screen of a run: how far from the ceilings, what is slowest, what failed,
 * and where everything is. */
#ifndef TESSERA_HARNESS_REPORT_CLOSING_H
#define TESSERA_HARNESS_REPORT_CLOSING_H

#include <jansson.h>
#include <stdbool.h>

#include "base/text.h"

typedef struct closing {
    const json_t *results;
    const json_t *ceilings; /* document_ceilings */
    const char *run;        /* its id; NULL where nothing was stored */
    const char *database;   /* of the run; `named`: by the caller, so commands must name it too */
    bool named, colour, unicode;
    int width;           /* of the terminal */
    double seconds;      /* 0: not told */
    const char *untried; /* the command that draws other shapes for code of others; or NULL */
} closing;

void closing_print(const closing *c, text *out);

#endif
