/* emulate.h - runs code of a GPU on this thread (emulated_code.h), and judges what it does.
 *
 * Workgroups run one after the other, the threads of one as fibers that take turns at barriers. In
 * which order depends on emulate_order, and no verdict does:
 *   - A workgroup's time is cut into epochs by its barriers. Two threads of it that touch a byte in
 *     the same epoch, one of them to write, race; so do two workgroups of one phase, whenever they
 *     touch it. It does not matter what is written. Phases follow each other.
 *   - All threads of a workgroup arrive at a barrier, at the same site; all of a subgroup at a
 *     shuffle and its like.
 *   - Global accesses lie in a buffer of the launch, in its workspace or in what it prepares;
 * shared ones in the workgroup's bytes.
 *   - Shared memory is read where this workgroup has written it, the workspace where this launch
 *     has.
 * The first mistake ends the launch, and its access does not happen. docs/emulator.md.
 *
 * One emulator is for one thread at a time. */
#ifndef TESSERA_RUNTIME_EMULATE_H
#define TESSERA_RUNTIME_EMULATE_H

#include <stdatomic.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/status.h"
#include "device/emulate/emulated_code.h"

typedef struct emulate emulate;

/* ---- in which order ---- */

typedef enum emulate_order_kind {
    EMULATE_FORWARD,
    EMULATE_REVERSED,
    EMULATE_SHUFFLED
} emulate_order_kind;

typedef struct emulate_order {
    emulate_order_kind kind;
    uint64_t seed;
} emulate_order;

#define EMULATE_ORDER "TESSERA_EMULATE_ORDER"
/* "forward", "reversed" or "shuffled:SEED"; NULL and "": forward. */
bool emulate_order_parse(const char *text, emulate_order *order_out, status *st);
/* Returns which of `count` things is in place `place`: a permutation. */
uint64_t emulate_order_at(const emulate_order *order, uint64_t place, uint64_t count);

/* ---- what is found ---- */

typedef enum emulate_fault {
    EMULATE_NO_FAULT,
#define FAULT(id, keyword) EMULATE_##id,
#include "device/emulate/emulate_faults.def"
#undef FAULT
    EMULATE_FAULT_COUNT
} emulate_fault;

const char *emulate_fault_keyword(emulate_fault fault); /* "race", ...; stays as it is */

typedef enum emulate_memory {
    EMULATE_SHARED,
    EMULATE_BUFFER,
    EMULATE_WORKSPACE,
    EMULATE_PREPARED,
    EMULATE_NOWHERE /* of the launch */
} emulate_memory;

typedef enum emulate_act {
    EMULATE_READS,
    EMULATE_WRITES,
    EMULATE_COPIES, /* asynchronously, and has not waited for it */
    EMULATE_WAITS,  /* at a barrier */
    EMULATE_JOINS,  /* the subgroup, in a shuffle, mma or load_matrix, or four of them in wgmma */
    EMULATE_MULTIPLIES, /* by wgmma, and has not waited for it */
    EMULATE_FETCHES,    /* into a slot, which whoever reads it has not waited for */
    EMULATE_AWAITS,     /* a slot */
    EMULATE_ENDED
} emulate_act;

/* An act of a thread, done or about to be. */
typedef struct emulate_deed {
    emulate_act act;
    int64_t workgroup;
    uint32_t thread, site; /* EMULATE_ENDED has no site */
} emulate_deed;

typedef struct emulate_finding {
    emulate_fault fault;
    uint32_t phase;
    emulate_deed now, before; /* `before` only of races and divergence */
    emulate_memory memory;    /* the rest: not of divergence */
    uint32_t buffer;          /* its index, where the memory is a buffer */
    int64_t offset;           /* of the first byte concerned */
    uint64_t memory_bytes;    /* what the memory has */
    uint32_t bytes;           /* of the access */
} emulate_finding;

/* ---- launches ---- */

typedef struct emulate_span {
    unsigned char *address;
    uint64_t size_bytes;
} emulate_span;

/* Places in the source; `sites` NULL: there are only numbers. */
typedef struct emulate_sites {
    const emulated_site *sites;
    uint64_t count;
    const char *names;
    uint64_t names_bytes;
    const int32_t *buffers; /* the one that each may reach, -1: any; NULL: all may reach any */
    uint64_t buffers_count;
} emulate_sites;

typedef struct emulate_launch {
    const emulated_phase_fn *phases;
    const uint32_t *threads; /* of a workgroup, for each phase */
    const int64_t *workgroups;
    uint32_t phase_count;
    uint32_t subgroup;         /* 32 or 64 */
    const char *matrix_family; /* as an image names it; NULL: EMULATED_MATRIX_FAMILY */
    const emulate_span *buffers;
    uint32_t buffer_count;
    const int64_t *dims;
    emulate_span workspace, prepared; /* aligned to 64 bytes */
    bool prepared_here;               /* this launch writes it before it reads it */
    uint64_t shared_bytes;            /* of a workgroup */
    emulate_sites sites;
    void (*phase_ended)(void *context, uint32_t phase); /* may be NULL */
    void *context;
} emulate_launch;

/* Has nothing to run yet; memory and stacks come with the launches that need them. */
emulate *emulate_new(const emulate_order *order);
void emulate_free(emulate *e);
/* Runs all phases. False with a mistake, which *finding_out holds and `st` tells in words, as
 * STATUS_MISMATCH; or with another status where the launch cannot be run (finding_out->fault is
 * EMULATE_NO_FAULT). */
bool emulate_run(emulate *e, const emulate_launch *launch, emulate_finding *finding_out,
                 status *st);
/* Ends the launch that runs, from any thread; it fails with STATUS_INTERRUPTED at its next access
 * or barrier. Later ones do so at once. */
void emulate_cancel(emulate *e);

/* `finding` in words: its keyword, then threads, places and memory. */
void emulate_finding_tell(const emulate_finding *finding, const emulate_sites *sites, status *st);

#endif
