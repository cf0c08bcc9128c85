/* github.h - what a run, a gate or a lint says to GitHub Actions.
 *
 * Where GITHUB_ACTIONS is "true", annotations are written to `out` and a summary of the job, in
 * Markdown, is appended to the file that GITHUB_STEP_SUMMARY names; elsewhere nothing happens. The
 * runner reads annotations from both stdout and stderr: callers give stderr, so that a document on
 * stdout stays one. `::error` is a result that failed or regressed, `::warning` one without a
 * verdict; findings of a lint have their severity. At most ten, which is what GitHub shows of a
 * step, and the last says how many are left out. A result that has "source" {path, line} is
 * annotated there. A summary ends before the file exceeds 1 MiB, GitHub's limit, and says how many
 * lines were left out.
 *
 *     status st = STATUS_INIT;
 *     if (!github_report(document, stderr, &st))
 *         fprintf(stderr, "tsr: %s\n", st.message);
 */
#ifndef TESSERA_HARNESS_REPORT_GITHUB_H
#define TESSERA_HARNESS_REPORT_GITHUB_H

#include <jansson.h>
#include <stdio.h>

#include "base/status.h"
#include "base/text.h"

/* `document`: tsr.bench/1, tsr.gate/1 or tsr.lint/1. False where the summary could not be written;
 * annotations are out even so. */
bool github_report(const json_t *document, FILE *out, status *st);

/* The two parts; any environment. */
void github_annotations(const json_t *document, text *out);
/* At most `limit` bytes. */
void github_summary(const json_t *document, size_t limit, text *out);

#endif
