/* bisect.h - which commit made a case slower: a binary search over the first-parent history, with a
 * gate (gate/gate.h) as the judge of each candidate against the good commit.
 *
 * Candidates are built in checkouts of their own (checkout_make), which are removed afterwards
 * where they were not there before; the user's work tree, index and branches are not touched. What
 * was found is in STATE after each candidate, so that an interrupted search goes on. A candidate
 * that does not build, has no such case, or is never told apart from noise is skipped. */
#ifndef TESSERA_HARNESS_BISECT_BISECT_H
#define TESSERA_HARNESS_BISECT_BISECT_H

#include <jansson.h>

#include "base/text.h"
#include "base/vec.h"
#include "bisect/search.h"
#include "common/exit_code.h"

#define BISECT_STATE ".tsr/bisect.json"

typedef struct bisect_commit {
    char *hash, *subject; /* owned */
    bisect_mark mark;
    char *why;    /* owned; NULL: untried */
    bool changed; /* there are figures: of the worst case */
    double change, low, high;
} bisect_commit;

typedef struct bisect {
    char *good, *bad;  /* full hashes; owned */
    char *build;       /* command; owned; NULL: this tsr compiles the candidates' kernels */
    json_t *gate;      /* further arguments of tsr gate: array of strings; owned */
    const char *judge; /* the program that compares, called as tsr gate is; NULL: this tsr */
    VEC(bisect_commit) commits; /* behind good, up to bad, oldest first */
    VEC(char *) made;           /* checkouts that were not there before; owned */
} bisect;

typedef struct bisect_request {
    const char *good, *bad; /* revisions */
    const char *build;
    json_t *gate; /* borrowed */
} bisect_request;

/* A new search. False with STATUS_NOT_FOUND or STATUS_INVALID: no such commits, or bad does not
 * come from good along first parents. bisect_close in any case. */
bool bisect_open(bisect *b, const bisect_request *request, status *st);
/* The one in STATE. */
bool bisect_resume(bisect *b, status *st);
/* Until it is found, nothing is left to try, or interrupt_seen. Says on stderr what it does. */
exit_code bisect_run(bisect *b, status *st);
void bisect_close(bisect *b);

/* {"schema": "tsr.bisect/1", ...}; owned. STATE has the same, and more. */
json_t *bisect_json(const bisect *b);
/* Shows what was found, for people. */
void bisect_show(const bisect *b, text *out);

/* judge.c: compares one commit with the good one and marks it. False: the search cannot go on. */
bool bisect_judge(bisect *b, bisect_commit *c, status *st);
/* state.c */
bool bisect_save(const bisect *b, status *st);
bool bisect_load(bisect *b, status *st);

#endif
