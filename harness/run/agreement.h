/* agreement.h - whether two codes of others agree on a kernel without a formula. That makes neither
 * of them right. */
#ifndef TESSERA_HARNESS_RUN_AGREEMENT_H
#define TESSERA_HARNESS_RUN_AGREEMENT_H

#include <jansson.h>

/* Notes in a result that was held against nothing whether its bits are those of the first other
 * backend that computed the case, among the results before it. Nothing where there is none. */
void agreement_put(const json_t *before, json_t *result);

#endif
