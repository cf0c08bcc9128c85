/* relations.h - relations that need no reference: tsr check. Each is tried on shapes that are
 * drawn, and has one of three verdicts. Implementations run in guests
 * (runtime/device/foreign/foreign.h), so whatever they do is theirs. */
#ifndef TESSERA_HARNESS_RELATIONS_RELATIONS_H
#define TESSERA_HARNESS_RELATIONS_RELATIONS_H

#include <jansson.h>
#include <signal.h>

#include "case/case.h"
#include "implementation/implementation.h"

typedef enum relation_id {
#define RELATION(id, name, per_dim, says, means) RELATION_##id,
#include "relations/relations.def"
#undef RELATION
    RELATION_COUNT
} relation_id;

typedef struct relation {
    const char *name;
    bool per_dim;
    const char *says, *means;
} relation;
extern const relation relation_table[RELATION_COUNT];
relation_id relation_from_name(const char *name); /* RELATION_COUNT: there is none */

typedef enum relation_verdict {
    RELATION_HOLDS,
    RELATION_VIOLATED,
    RELATION_NOT_VERIFIED
} relation_verdict;
const char *relation_verdict_name(relation_verdict v);

/* A column: our code, or an implementation's function. */
typedef struct relations_column {
    compiler_source *source;
    const compiler_kernel *kernel;
    const char *name;
    const implementation *with; /* NULL: our code for this machine's CPU */
    const char *symbol;
} relations_column;

typedef struct relations_request {
    const relations_column *column;
    bool wanted[RELATION_COUNT];
    bool named;                /* by the user: not all are wanted */
    uint32_t threads;          /* where a relation does not choose its own */
    uint64_t seed;             /* of shapes and inputs */
    uint32_t shapes;           /* drawn for each combination of element types */
    const char *inputs;        /* a folder with NAME.npy for each, which are tried first; or NULL */
    const compiler_case *like; /* ... the case that they make */
    uint64_t budget_ns;  /* for all relations of the column; what is left over is not verified */
    uint64_t timeout_ns; /* of one call */
    const char *const *vary; /* NAME=A,B,... */
    uint32_t vary_count;
    const volatile sig_atomic_t *interrupted;          /* set: give up; or NULL */
    void (*begins)(void *context, relation_id id);     /* before it is tried; or NULL */
    void (*decided)(void *context, const json_t *one); /* ... and of each verdict; or NULL */
    void *context;
} relations_request;

/* The list of what was found: [{"relation", "dim": name|null, "verdict", "why": string|null,
 * "runs", "shapes", "sizes": {dimension: [least, greatest] that was run}, "example": null |
 * {"dims", "output", "index", "bits": [a, b], "values": [a, b], "between", "boundary": {"dim",
 * "from", "to"}|null, "judged": {"reference", "bound", "outside": [a, b]}|null}, "place": null |
 * {"case", "dims", "seed", "vary", "status", "inputs": is it on the inputs that were given}, where
 * it is violated or the code failed}]. Owned. `failed`: the code crashed or returned a failure
 * somewhere.
 */
json_t *relations_check(const relations_request *request, bool *failed);

/* A relation again on one shape alone, with the request's seed: an element of what relations_check
 * gives. NULL where a run failed. Owned. */
typedef struct relations_place {
    relation_id relation;
    const char *dim;           /* NULL: of none */
    const compiler_case *like; /* the shape, and the distributions */
} relations_place;
json_t *relations_again(const relations_request *request, const relations_place *where, status *st);

#endif
