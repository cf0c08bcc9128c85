/* side.h - one side of a diff of runs: the results of a stored run or of an exported document,
 * narrowed to what was named.
 *
 * RUN, RUN:BACKEND[,PROFILE] or RUN:KERNEL[/CASE][@BACKEND[,PROFILE[,THREADS]]], where RUN is the
 * id of a run, an unambiguous prefix of one, "last", or a file of tsr bench --export json=. */
#ifndef TESSERA_HARNESS_DIFF_SIDE_H
#define TESSERA_HARNESS_DIFF_SIDE_H

#include <jansson.h>
#include <stdbool.h>

#include "base/arena.h"
#include "base/status.h"

typedef struct side {
    arena memory;
    const char *name;   /* as it was given; borrowed */
    const char *run;    /* id of the run */
    const char *kernel; /* what was named; NULL: any */
    const char *case_name, *backend, *profile, *threads;
    json_t *results;   /* array of results, in the order of the run */
    json_t *arguments; /* what the run was asked to do; NULL where it is not known */
    json_t *head;      /* the document without ceilings and results: who, where, when; or NULL */
    json_t *ceilings;  /* those of the document; NULL: it has none */
    json_t *samples;   /* side_read_samples: times by key of result; else NULL */
    int64_t stored;    /* number of the run in the database; 0: it is a document */
} side;

typedef enum side_kind { SIDE_TENSOR, SIDE_RESULTS } side_kind;

/* Kind of what a word names. A file or folder with a slash or a dot in its name that does not exist
 * is an error, as is a word that names both a file and a run of the database. */
bool side_kind_of(const char *word, const char *database, side_kind *out, status *st);

/* Reads it. side_close in any case. */
bool side_open(side *s, const char *word, const char *database, status *st);
/* The samples of a stored run; nothing for a document. */
bool side_read_samples(side *s, const char *database, status *st);
void side_close(side *s);

#endif
