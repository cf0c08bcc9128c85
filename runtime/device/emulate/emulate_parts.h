/* emulate_parts.h - shared by the files of the emulator: its threads, its shadow memory, and what
 * they ask of each other.
 *
 * Epochs of all workgroups of a launch are numbered from 1, as they run. A *stamp* is a number of
 * an epoch (30 bits), a thread in its workgroup (10) and a site (24), so stamps of later epochs are
 * greater, and workgroups and phases are ranges of stamps. 0: nothing was done. */
#ifndef TESSERA_RUNTIME_EMULATE_PARTS_H
#define TESSERA_RUNTIME_EMULATE_PARTS_H

#include "base/vec.h"
#include "chip/matrix_unit.h"
#include "device/emulate/emulate.h"
#include "device/emulate/emulate_fiber.h"
#include "device/shared/host_memory.h"

enum {
    STAMP_EPOCH_SHIFT = 34,
    STAMP_THREAD_SHIFT = EMULATED_SITE_BITS,
    STAMP_EPOCH_BITS = 30,
    THREAD_WORDS = EMULATED_THREADS_MAX / 64,
    SUBGROUPS_MAX = EMULATED_THREADS_MAX / 32,
    STACKS_AT_ONCE = 64
};
_Static_assert(1 << (STAMP_EPOCH_SHIFT - STAMP_THREAD_SHIFT) == EMULATED_THREADS_MAX,
               "a stamp has room for each thread");

#define STAMP_EPOCH (UINT64_C(1) << STAMP_EPOCH_SHIFT)
/* The last epoch stands for writes that are under way: copies that nobody has waited for. */
#define STAMP_UNDER_WAY (((UINT64_C(1) << STAMP_EPOCH_BITS) - 1) << STAMP_EPOCH_SHIFT)

/* Tells whether two stamps are of one thread in one epoch. */
static inline bool stamp_same(uint64_t a, uint64_t b) {
    return ((a ^ b) >> STAMP_THREAD_SHIFT) == 0;
}

/* ---- shadow memory ---- */

/* Accesses to some bytes: the last write, and reads since. Two reads in one epoch by many threads
 * are enough: whoever writes then is not both. */
typedef struct emulate_cell {
    uint64_t written, read, read_too;
} emulate_cell;

/* Alignment of a workgroup's shared memory: patterns of swizzled rows need it. */
enum { SHARED_ALIGNMENT = 1024 };

/* Memory of the launch with its cells, by pages of 1 KiB. A page begins with cells as large as what
 * is accessed first; it is cut into finer ones where an access needs that. */
enum { SHADOW_PAGE_BYTES = 1024, SHADOW_SHIFTS = 5, SHADOW_UNTOUCHED = 7, SHADOW_SHIFT_MASK = 7 };
typedef struct emulate_region {
    uintptr_t base;
    uint64_t size_bytes;
    uintptr_t *pages; /* cells | shift (bytes of a cell: 1 << shift); or SHADOW_UNTOUCHED */
    /* Bytes whose last write is in [plain_from, plain_from + plain_span) may be read by all. */
    uint64_t plain_from, plain_span;
    /* Stamps from here to the workgroup's first are of other workgroups of the phase. */
    uint64_t others_from;
    uint64_t aligned_bytes; /* those that an aligned access of up to 16 bytes cannot leave */
    bool needs_writing;     /* before it is read */
    emulate_memory memory;
} emulate_region;

/* ---- threads ---- */

typedef enum emulate_state {
    STATE_READY,
    STATE_BARRIER,
    STATE_SUBGROUP,
    STATE_SLOT,
    STATE_ENDED
} emulate_state;

/* Operands and results of a thread in an instruction of its subgroup. */
typedef struct emulate_exchange {
    uint32_t value, lane, how; /* how: the hook's last argument, above its site */
    const uint32_t *a, *b, *c;
    uint32_t shape; /* of wgmma, and which factors */
    uint64_t descriptors[2];
    const void *row;
    uint32_t *out;
} emulate_exchange;

/* A copy that was begun and has not been waited for. */
typedef struct emulate_copy {
    unsigned char *shared;
    const unsigned char *global;
    uint32_t bytes, site, group;
    uint64_t began; /* in which epoch */
    unsigned char data[16];
} emulate_copy;

/* A wgmma that was begun and has not been waited for. */
typedef struct emulate_product {
    uint64_t descriptors[2];
    uint32_t shape, element_bytes, site, group;
    uint64_t began; /* in which epoch */
} emulate_product;

/* A thread's sums of one or more of these; code has stand-ins for them. */
enum { SUMS_MAX = 128 };
typedef struct emulate_sums {
    uint32_t count, group; /* of the last product */
    uint32_t stand_in;     /* the first bits of code's words for them */
    uint32_t words[SUMS_MAX];
} emulate_sums;

typedef struct emulate_thread {
    emulated_thread base;
    /* Fields for turns and accesses, in one line of a cache. */
    emulate *engine;
    uint64_t stamp;              /* its index, where stamps have it */
    struct emulate_thread *next; /* in the order of threads; the last one's is the first */
    uint32_t place;              /* in that order */
    uint32_t site;               /* where it waits */
    emulate_state state;
    uint32_t copy_group;                   /* of the next copy */
    const struct emulate_gathering *joins; /* where it waits for others of its subgroup */
    emulate_fiber fiber;
    VEC(emulate_copy) copies;
    emulate_exchange exchange;
    VEC(emulate_product) products;
    VEC(emulate_sums) sums;
    uint32_t product_group;         /* of the next product */
    bool sums_fenced;               /* since sums were last given out */
    uint64_t fenced, fenced_before; /* in which epoch for the asynchronous proxy, and before it */
} __attribute__((aligned(64))) emulate_thread;

/* An instruction of a subgroup: what is done once all its threads are there, for all of them. */
typedef void (*emulate_together)(emulate_thread *first, uint32_t count);

typedef struct emulate_gathering {
    uint32_t arrived, first, lanes;
    emulate_together what;
} emulate_gathering;

/* Fields: the emulator's state in three parts, by the file that owns each; threads reach it through
 * one pointer. */
struct emulate {
    /* Fields for each access. */
    uint64_t epoch;       /* the stamp of the current one */
    uint64_t group_start; /* of the workgroup's first */
    atomic_bool cancelled;
    bool keeps; /* sites keep to their buffers */
    emulate_region shared;
    emulate_region *regions; /* by address */
    uint16_t hints[256];     /* in which region an access of a site fell last */

    /* Threads of the workgroup. */
    emulate_thread *threads; /* EMULATED_THREADS_MAX */
    emulate_thread *running;
    uint32_t thread_count, subgroup;
    uint32_t at_barrier, ended, barrier_site, first_at_barrier;
    uint64_t ready[THREAD_WORDS]; /* by place */
    uint16_t order[EMULATED_THREADS_MAX];
    emulate_gathering gatherings[2][SUBGROUPS_MAX]; /* of a subgroup; of several, by the first */
    emulated_phase_fn function;
    emulate_fiber main;
    void *stacks[EMULATED_THREADS_MAX / STACKS_AT_ONCE];
    uint32_t stack_count;

    /* The launch. */
    const emulate_launch *launch;
    const matrix_unit *unit; /* of the last matrix instruction; NULL: there was none */
    uint32_t unit_kind;
    const char *unit_family; /* ... of the launch that it was in */
    emulate_order how;
    uint32_t phase, region_count;
    uint64_t phase_start;
    int64_t group;
    VEC(uint32_t) group_epochs; /* the first of each workgroup of the phase, as they ran */
    host_memory shared_memory;
    bool failed;
    emulate_finding finding;
    emulate_finding unwritten; /* the first read of what nobody had written yet, if any */
    status why;                /* where it failed without a finding */
    VEC(void *) spare[SHADOW_SHIFTS];
    struct emulate_factors *factors; /* room for those of a matrix instruction */
    struct emulate_stage *stage;     /* ... of wgmma */
    struct emulate_slots *slots;     /* of the workgroup; NULL: it has opened none */
};

extern const emulated_hooks emulate_hooks;

static inline emulate_thread *emulate_thread_of(emulated_thread *t) {
    return (emulate_thread *)t;
}

/* ---- emulate_threads.c ---- */

/* Stacks for `count` threads. */
bool emulate_threads_grow(emulate *e, uint32_t count, status *st);
void emulate_threads_release(emulate *e);
/* After a launch that failed: threads that had not ended begin anew. */
void emulate_threads_reset(emulate *e);
/* Sets what of the threads is the same for the workgroups of a phase. */
void emulate_threads_prepare(emulate *e);
/* Runs workgroup e->group. False where it failed. */
bool emulate_group_run(emulate *e);
void emulate_barrier(emulated_thread *t, uint32_t site);
void emulate_barrier_of(emulated_thread *t, uint32_t threads, uint32_t site);
/* Others take their turns until somebody wakes it. */
void emulate_thread_wait(emulate_thread *t, emulate_state state);
void emulate_thread_wake(emulate_thread *t);
/* False, with the reason, where the last epoch had a mistake that only its end shows, or there are
 * no more numbers. */
bool emulate_begin_epoch(emulate *e);
/* Waits for the rest of the subgroup, or of so many threads; the last one does `what` for all. */
void emulate_join(emulate_thread *t, uint32_t site, emulate_together what);
void emulate_join_lanes(emulate_thread *t, uint32_t site, uint32_t lanes, emulate_together what);

/* Leave all fibers, for good. */
_Noreturn void emulate_fail(emulate *e, const emulate_finding *finding);
_Noreturn void emulate_fail_without(emulate *e, status_code code, const char *why);

/* ---- emulate_shadow.c ---- */

bool emulate_regions_make(emulate *e, status *st);
void emulate_regions_release(emulate *e);
void emulate_shadow_release(emulate *e);
/* A phase begins: what was done before it is over. */
void emulate_regions_begin(emulate *e);
/* An epoch, and with it perhaps a phase, has ended: whether what was read in it had been written.
 * False with e->finding. */
bool emulate_reads_settle(emulate *e, bool phase_ended);
/* The hook, and the same for what is done in a thread's name. */
void emulate_access(emulated_thread *t, const void *address, uint32_t bytes, uint32_t site);
/* All cells of a range that was accessed: last written now. */
void emulate_mark(emulate_thread *t, const void *shared, uint32_t bytes, uint64_t stamp);
/* Fails with a race where the copy's source was written in an epoch after `began`, by whomever. */
void emulate_source_settle(emulate_thread *t, const emulate_copy *copy);
/* The same of shared memory that a product reads. */
void emulate_factor_settle(emulate_thread *t, const void *shared, uint32_t bytes,
                           const emulate_product *product);
/* Fails unless whoever wrote it has fenced it since, for the asynchronous proxy. */
void emulate_need_fence(emulate_thread *t, const void *shared, uint32_t bytes, uint32_t site);
/* The stamp of a byte's last write. */
uint64_t emulate_written(const emulate *e, const void *shared);
/* Returns the workgroup of an epoch of this phase. */
int64_t emulate_group_of(const emulate *e, uint64_t stamp);

/* ---- emulate_copy.c ---- */

void emulate_copy_async(emulated_thread *t, void *shared, const void *global, uint32_t bytes,
                        uint32_t site);
void emulate_copy_commit(emulated_thread *t);
void emulate_copy_wait(emulated_thread *t, uint32_t groups_left);
/* The workgroup, or a launch that failed, ends: what is still under way never lands. */
void emulate_copies_drop(emulate_thread *t);

/* ---- emulate_stage.c ---- */

void emulate_wgmma(emulated_thread *t, uint32_t kind_and_site, uint32_t shape, uint64_t a,
                   uint64_t b_descriptor, uint32_t *sums);
void emulate_wgmma_fence(emulated_thread *t);
void emulate_wgmma_commit(emulated_thread *t);
void emulate_wgmma_wait(emulated_thread *t, uint32_t groups_left, uint32_t *sums, uint32_t count);
void emulate_fence_async(emulated_thread *t);
/* The workgroup, or a launch that failed, ends. */
void emulate_products_drop(emulate_thread *t);

/* ---- emulate_slots.c ---- */

void emulate_slot_open(emulated_thread *t, void *barrier, uint32_t arrivals, uint32_t site);
void emulate_slot_expect(emulated_thread *t, void *barrier, uint32_t bytes, uint32_t site);
void emulate_slot_wait(emulated_thread *t, void *barrier, uint32_t parity, uint32_t site);
void emulate_slot_free(emulated_thread *t, void *barrier, uint32_t lane, uint32_t site);
void emulate_fetch(emulated_thread *t, void *shared, const emulated_map *map,
                   const int32_t *coordinates, void *barrier, uint32_t site);
/* A product begins to read 16 bytes, or has done so. False: they were not fetched. */
bool emulate_slot_read(emulate_thread *t, const void *shared, uint32_t site);
bool emulate_slot_settle(emulate_thread *t, const void *shared);
/* The workgroup, or a launch that failed, ends. */
void emulate_slots_drop(emulate *e);

/* ---- emulate_subgroup.c, emulate_matrix.c ---- */

float emulate_exp2(emulated_thread *t, float x);
uint32_t emulate_shuffle(emulated_thread *t, uint32_t value, uint32_t lane,
                         uint32_t width_and_site);
void emulate_load_matrix(emulated_thread *t, const void *shared_row,
                         uint32_t count_transposed_and_site, uint32_t *out);
void emulate_mma(emulated_thread *t, uint32_t kind_and_site, const uint32_t *a, const uint32_t *b,
                 const uint32_t *c, uint32_t *d);
/* The unit of an instruction; fails where it is not known. */
const struct matrix_unit *emulate_unit_of(emulate *e, uint32_t kind);
/* Fails where it is no whole subgroup of so many lanes, which the instruction needs. */
void emulate_need_lanes(const emulate_thread *first, uint32_t count, uint32_t lanes);

#endif
