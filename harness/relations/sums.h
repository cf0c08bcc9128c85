/* sums.h - the tree in which a function adds, recovered from its outputs: for a kernel that is one
 * sum, or one contraction, of its inputs. Nothing is compiled for it, so it works on any
 * implementation (probe/probe.h cuts open what we compile).
 *
 * Every element is a unit but two, +M and -M, so large that a unit added to either is lost; the
 * result counts the units that were added after these two had met (probe/tree.h). */
#ifndef TESSERA_HARNESS_RELATIONS_SUMS_H
#define TESSERA_HARNESS_RELATIONS_SUMS_H

#include "relations/relations.h"

/* The document of a column: {"why": string|null, "trees": [{"dims", "threads", "elements",
 * "class", "digest", "fused": bool|null, "accumulator": "f32"|"wider"|null}], "changes":
 * [{"dim"|"threads", "from", "to"}]}. Owned. */
json_t *sums_find(const relations_request *request);

/* The tree at one shape, the same in each element of the result, as a kernel in that order: its
 * source is written where what it computes has the function's bits on random inputs. */
typedef struct sums_writing {
    const char *path;
    const compiler_case *at; /* NULL: many elements and positions */
    uint32_t threads;
} sums_writing;
/* As of sums_find, with one tree at most and no changes, and "written": path|null; "why" is null
 * where it was written. Owned. */
json_t *sums_write(const relations_request *request, const sums_writing *writing);

#endif
