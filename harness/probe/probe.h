/* probe.h - the order probe: in which tree does compiled code add?
 *
 * For each floating-point accumulation of a kernel, the kernel is cut open there (compiler_cut) and
 * compiled like any other. Every element is a small unit, but element i is +M and element j is -M,
 * so large that a unit added to either is lost. The result counts the units that were added after
 * these two had met: so many elements lie outside the subtree in which i and j meet. From the sizes
 * of such subtrees the whole tree is recovered, and each size is compared with what the
 * accumulation's `order` says. */
#ifndef TESSERA_HARNESS_PROBE_PROBE_H
#define TESSERA_HARNESS_PROBE_PROBE_H

#include "case/case_context.h"

/* Longer accumulations, and those whose launches together would move more, are not probed. */
enum { PROBE_EXTENT_MAX = 20000 };
#define PROBE_BYTES_MAX 3e10
#define PROBE_FLOPS_MAX 2e11

/* Makes the module of a cut kernel, as the kernel's own was made. STATUS_INVALID: it cannot be. */
typedef bool (*probe_build_fn)(void *context, compiler_instance *cut, compiler_artifact *out,
                               status *st);
typedef struct probe_request {
    const case_context *context;
    probe_build_fn build;
    void *build_context;
    uint32_t device, threads;
    bool foreign; /* code of others */
} probe_request;

typedef struct probe_result {
    uint32_t accumulations; /* that were recovered */
    uint32_t unknown;       /* that were not tried, though there is something to tell */
    bool holds;
    char digest[65]; /* of all trees; "" where there is none */
    text why;        /* the first pair that is not as the order says */
} probe_result;

/* False where the probe itself could not be done. probe_result_release in any case. */
bool probe_orders(const probe_request *request, probe_result *out, status *st);
void probe_result_release(probe_result *r);

#endif
