/* draft.h - a schedule under construction: values of parameters as the text that --schedule and
 * compiler_options take, grown value by value and held against the compiler each time. */
#ifndef TESSERA_HARNESS_TUNE_DRAFT_H
#define TESSERA_HARNESS_TUNE_DRAFT_H

#include "base/vec.h"
#include "tessera/compiler.h"

enum { DRAFT_MAX = 64 };

typedef struct draft_value {
    char name[32]; /* "P0.MR" */
    int64_t value;
} draft_value;

typedef struct draft {
    draft_value values[DRAFT_MAX];
    uint32_t count;
} draft;

/* The kernel to schedule: borrowed. `options` without a schedule text. */
typedef struct draft_kernel {
    compiler_instance *instance;
    compiler_options options;
} draft_kernel;

/* "P0.MR=3,P0.BM=12"; appended. */
void draft_text(const draft *d, text *out);
/* Sets a value, replacing one of that name. False where there is no more room. */
bool draft_set(draft *d, const char *name, int64_t value);
void draft_remove(draft *d, uint32_t index);
/* The space under the draft; false, with the limit in `st`, where it does not fit. */
bool draft_space(const draft *d, const draft_kernel *k, compiler_space *out, status *st);
bool draft_fits(const draft *d, const draft_kernel *k);

#endif
