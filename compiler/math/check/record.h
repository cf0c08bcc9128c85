/* record.h - what the last complete run of each function found, kept in the tree.
 *
 * exhausted.json holds one line a function, in the order of the table of functions; `--list` prints
 * it. hard.txt holds the inputs that the tests try every time: function, input, the correctly
 * rounded result, why. */
#ifndef TESSERA_MATH_CHECK_RECORD_H
#define TESSERA_MATH_CHECK_RECORD_H

#include "base/status.h"
#include "base/text.h"
#include "math/check/judge.h"

#define RECORD_FILE "compiler/math/check/exhausted.json"
#define HARD_FILE "compiler/math/check/hard.txt"

/* A line of exhausted.json. */
typedef struct record {
    const char *function;
    const char *levels; /* compiled for, "a, b" */
    const char *date;   /* 2026-11-21 */
    const char *code;   /* code.h */
    const tally *found;
} record;

/* Replaces the function's entry in both files under `root`. `names`: all functions, in order. */
bool record_write(const char *root, const char *const *names, uint32_t count, exact_judge *j,
                  const record *r, status *st);
/* The table as Markdown. False, with what to do on `complaints`, where a function has no
 * entry, or one of other code than `codes` has for it. */
bool record_list(const char *root, const char *const *names, const char *const *codes,
                 uint32_t count, text *table, text *complaints, status *st);

#endif
