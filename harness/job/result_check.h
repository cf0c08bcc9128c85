/* result_check.h - results that others may have touched: what a sound one cannot say.
 *
 * For documents from files and records from a database, before anything is concluded from them. A
 * time that is no number from 1 ns on, a median below the minimum, a number of threads that nobody
 * has, a result without a name, a status that there is not: each is refused with its place, so that
 * no comparison is made of them. */
#ifndef TESSERA_HARNESS_JOB_RESULT_CHECK_H
#define TESSERA_HARNESS_JOB_RESULT_CHECK_H

#include <jansson.h>
#include <stdbool.h>

#include "base/status.h"

/* One result of a tsr.bench/1 document. `from` names the file or run in the message; the status is
 * STATUS_CORRUPT. */
bool result_check(const json_t *result, const char *from, status *st);
/* When the run began: a time, and none that has not come yet (then a clock was wrong). `head` is
 * the document, with or without its results. */
bool result_check_start(const json_t *head, const char *from, status *st);
/* All of a list; false where it is no list, or one result (kernel, case, backend, profile, threads)
 * comes twice. */
bool result_check_all(const json_t *results, const char *from, status *st);

#endif
