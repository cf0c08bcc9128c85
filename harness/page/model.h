/* model.h - the document tsr.report/1: what a page shows, gathered from runs, gates and sources.
 *
 * Everything that is left out for its size is counted in the document, so that the page can say so.
 * All functions return false with `st` filled. */
#ifndef TESSERA_HARNESS_PAGE_MODEL_H
#define TESSERA_HARNESS_PAGE_MODEL_H

#include <jansson.h>

#include "base/map.h"
#include "page/page.h"
#include "store/store.h"

typedef struct report_model {
    json_t *document; /* owned */
    page_samples samples;
    map digests; /* of outputs: text -> number in the document's list */
    size_t result_count;
} report_model;

void report_model_init(report_model *m);
void report_model_release(report_model *m);

/* A stored run: an id, the start of one, or "last". */
bool report_add_run(report_model *m, store *s, const char *name, status *st);
/* A document of tsr bench --export json=; it has no samples. */
bool report_add_file(report_model *m, const char *path, status *st);

/* The past of the first run's results on its machine; after the runs. */
bool report_add_history(report_model *m, store *s, status *st);

/* The newest gates of the database, and one of a file (tsr gate --json). */
bool report_add_gates(report_model *m, store *s, status *st);
bool report_add_gate_file(report_model *m, const char *path, status *st);

/* Numbers of steps: a file of tsr run --export jsonl=; of a long one every so many lines. */
bool report_add_steps(report_model *m, const char *path, status *st);

/* The levels of kernels of the first run, from the sources that it was made from: those that a glob
 * of `wanted` names (kernel or kernel/case), else the ones that took longest, one case each.
 * Sources that are not here any more are no error; the document says so. */
typedef struct lowering_request {
    const char *const *wanted;
    size_t wanted_count;
} lowering_request;
bool report_add_lowering(report_model *m, const lowering_request *request, status *st);

#endif
