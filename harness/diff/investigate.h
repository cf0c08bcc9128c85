/* investigate.h - two results whose digests differ: their tensors are made again and compared.
 *
 * A result is made again from its source, case and seed, on its backend, and counts only if its
 * digests are the recorded ones; where they are not, the interpreter's outputs are tried, which are
 * the bits of every result that held under strict. */
#ifndef TESSERA_HARNESS_DIFF_INVESTIGATE_H
#define TESSERA_HARNESS_DIFF_INVESTIGATE_H

#include <stdint.h>

#include "base/text.h"
#include "diff/match.h"

/* Appends lines for a person to `out`, and adds to `entry` the keys "why", "outputs" and
 * "first_operation" (docs/diff.md). What cannot be done is said there; nothing fails. */
void investigate(const side *a, const side *b, const result_pair *pair, uint64_t timeout_seconds,
                 text *out, json_t *entry);

#endif
