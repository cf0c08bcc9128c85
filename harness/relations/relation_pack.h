/* relation_pack.h - a relation that is violated, or in which the code failed, as a pack
 * (docs/packs.md): the shape, the inputs and what was varied, and the same again from there. */
#ifndef TESSERA_HARNESS_RELATIONS_RELATION_PACK_H
#define TESSERA_HARNESS_RELATIONS_RELATION_PACK_H

#include "case/case_context.h"
#include "job/job.h"
#include "relations/relations.h"

typedef struct relation_pack_request {
    const relations_request *of;
    const json_t *found;  /* an element of what relations_check gave */
    const char *failures; /* the folder that receives it; NULL: the usual one */
    uint64_t timeout_seconds, memory_mib;
} relation_pack_request;

/* Is it a failure, and so is packed? */
bool relation_pack_wanted(const json_t *found);
/* Appends the pack's path; as pack_case does. */
bool relation_pack_write(const relation_pack_request *request, text *path_out, status *st);

/* Does a worker's part of the pack's job (execute_relation_fn). */
bool relation_pack_again(case_context *s, const job *j, json_t *result, status *st);

#endif
