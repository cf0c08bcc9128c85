/* emulated_code.h - what code of a GPU sees when it runs on a CPU: the contract between the
 * compiler that retargets it and the driver `emulated`.
 *
 * An image is an ELF object for this machine without undefined symbols (host_elf.h). It exports a
 * function for each phase, `<kernel>_phase_<n>`, which runs one thread of one workgroup from its
 * first instruction to its last and calls the hooks of its argument on the way:
 *   - `access` right before each load and store of global or of shared memory. Constants of the
 *     image and the thread's own stack are not reported, and memory that is reported is touched
 *     only after the hook has returned: a hook that finds a mistake does not return.
 *   - `barrier`, `shuffle`, `mma` and `load_matrix` where the GPU's instruction stands. The first
 *     is for all threads of the workgroup, the others for all of the subgroup, at the same site.
 *   - `slot_open`, `slot_expect`, `slot_wait` and `slot_free` for mbarrier's init,
 * arrive.expect_tx, a try_wait.parity until it is true, and arrive by the thread whose lane is 0;
 * `fetch` for cp.async.bulk.tensor, `barrier_of` for bar.sync 1 of the first so many threads.
 *   - `exp2` for ex2.approx.ftz.f32 and v_exp_f32.
 *   - the copy_ hooks for cp.async, its commit_group and wait_group; the wgmma hooks for wgmma and
 * its fence, commit_group and wait_group, and fence_async for fence.proxy.async. `wgmma` is for all
 *     threads of a warpgroup.
 * A site is the number of an instruction, below 2^24; it stands in the low bits of an argument
 * whose name ends in site, below what the enums here say. Stacks are 64 KiB, of which one function
 * may take EMULATED_FRAME_MOST: a thread's calls one other at a time, and a hook.
 *
 * Data symbols, read once when the image is loaded:
 *   emulated_phase_threads     uint32_t[phases]: threads of a workgroup in each phase, 1 to 1024
 *   emulated_subgroup          uint32_t: 32 or 64; without it what the device's GPUs have
 *   emulated_matrix_family     char[], NUL-terminated: whose matrix units `mma` computes as, such
 * as "mma.sm80" (chip/matrix_units.def); without it "mma.sm90" <kernel>_sites emulated_site[]:
 * where in the source a site is; may be absent, as <kernel>_site_count        uint64_t
 *   <kernel>_site_names        char[], in which name_offset finds NUL-terminated names
 *   <kernel>_site_buffers      int32_t[]: the buffer that a site is meant to reach, -1: none that
 * is known; may be absent: then it may reach any */
#ifndef TESSERA_RUNTIME_EMULATED_CODE_H
#define TESSERA_RUNTIME_EMULATED_CODE_H

#include <stddef.h>
#include <stdint.h>

enum { EMULATED_FRAME_MOST = 24 << 10 };

struct emulated_hooks;

typedef struct emulated_thread {
    const struct emulated_hooks *hooks;
    void *const *buffers; /* inputs, then outputs */
    const int64_t *dims;
    unsigned char *workspace; /* of the launch, in global memory */
    unsigned char *prepared;
    unsigned char *shared;    /* of the workgroup */
    int64_t workgroup;        /* its index in the grid of the phase */
    uint32_t thread, threads; /* its index in the workgroup, and how many there are */
} emulated_thread;

enum {
    EMULATED_SITE_BITS = 24,
    EMULATED_SITE_MASK = (1 << EMULATED_SITE_BITS) - 1,
    EMULATED_THREADS_MAX = 1024,
};

/* Flags of `access`. */
#define EMULATED_WRITE (UINT32_C(1) << 31)
#define EMULATED_SHARED (UINT32_C(1) << 30)

/* Lanes of a segment of `shuffle`, a power of two; 0: the subgroup's. `lane` counts from the
 * caller's segment, modulo its size. */
#define EMULATED_WIDTH(lanes) ((uint32_t)(lanes) << EMULATED_SITE_BITS)

/* Matrices of `load_matrix`: 1, 2 or 4 of 8 x 8 elements of 16 bits. Lane 8 * m + r gives the
 * address of row r of matrix m; what lanes get is laid out as ldmatrix does. */
#define EMULATED_MATRICES(count) ((uint32_t)(count) << EMULATED_SITE_BITS)
#define EMULATED_TRANSPOSED (UINT32_C(1) << 28)

#define EMULATED_MATRIX_FAMILY "mma.sm90"

/* Kind of an `mma`. A lane gives and gets the registers that the PTX ISA says, as 32-bit words; an
 * f64 is two, the low one first. d may be c. */
#define EMULATED_MMA(kind) ((uint32_t)(kind) << EMULATED_SITE_BITS)
typedef enum emulated_mma_kind {
#define MMA(id, name, m, n, k, unit) EMULATED_MMA_##id,
#include "device/emulate/emulated_mma.def"
#undef MMA
    EMULATED_MMA_COUNT
} emulated_mma_kind;

/* Shape of `wgmma`: its n; and which factors have their lines side by side in memory. In place of
 * its descriptor the left one may be in registers: the address of four words. */
#define EMULATED_A_REGISTERS (UINT32_C(1) << 29)
#define EMULATED_A_TURNED (UINT32_C(1) << 30)
#define EMULATED_B_TURNED (UINT32_C(1) << 31)
#define EMULATED_COLUMNS(n) ((uint32_t)(n))

/* A buffer as `fetch` sees it: dimensions, innermost first, in elements. */
enum { EMULATED_MAP_RANK = 4 };
typedef struct emulated_map {
    uint32_t buffer, element_bytes, rank, reserved;
    int64_t dims[EMULATED_MAP_RANK], strides[EMULATED_MAP_RANK], box[EMULATED_MAP_RANK];
} emulated_map;

typedef struct emulated_hooks {
    /* Bytes are 1 to 16. */
    void (*access)(emulated_thread *t, const void *address, uint32_t bytes, uint32_t site);
    void (*barrier)(emulated_thread *t, uint32_t site);
    uint32_t (*shuffle)(emulated_thread *t, uint32_t value, uint32_t lane, uint32_t width_and_site);
    /* 4, 8 or 16 bytes, which land when the thread has waited for their group. */
    void (*copy_async)(emulated_thread *t, void *shared, const void *global, uint32_t bytes,
                       uint32_t site);
    void (*copy_commit)(emulated_thread *t); /* copies since the last one are a group */
    void (*copy_wait)(emulated_thread *t, uint32_t groups_left);
    void (*mma)(emulated_thread *t, uint32_t kind_and_site, const uint32_t *a, const uint32_t *b,
                const uint32_t *c, uint32_t *d);
    void (*load_matrix)(emulated_thread *t, const void *shared_row,
                        uint32_t count_transposed_and_site, uint32_t *out);
    /* n / 2 sums, in and out. What comes out stands for sums that are not there yet; wgmma takes it
     * again, and wgmma_wait makes them of it. */
    void (*wgmma)(emulated_thread *t, uint32_t kind_and_site, uint32_t shape, uint64_t a,
                  uint64_t b_descriptor, uint32_t *sums);
    void (*wgmma_fence)(emulated_thread *t);
    void (*wgmma_commit)(emulated_thread *t); /* products since the last one are a group */
    void (*wgmma_wait)(emulated_thread *t, uint32_t groups_left, uint32_t *sums, uint32_t count);
    void (*fence_async)(emulated_thread *t);
    float (*exp2)(emulated_thread *t, float x); /* the GPU's own instruction */
    void (*barrier_of)(emulated_thread *t, uint32_t threads, uint32_t site);
    void (*slot_open)(emulated_thread *t, void *barrier, uint32_t arrivals, uint32_t site);
    void (*slot_expect)(emulated_thread *t, void *barrier, uint32_t bytes, uint32_t site);
    void (*slot_wait)(emulated_thread *t, void *barrier, uint32_t parity, uint32_t site);
    void (*slot_free)(emulated_thread *t, void *barrier, uint32_t lane, uint32_t site);
    /* The box from these coordinates on, whose rows are as long as a swizzled row, and zeros for
     * what is outside of the buffer's dimensions; its bytes arrive at the barrier. */
    void (*fetch)(emulated_thread *t, void *shared, const emulated_map *map,
                  const int32_t *coordinates, void *barrier, uint32_t site);
} emulated_hooks;

typedef void (*emulated_phase_fn)(emulated_thread *t);

/* Lines and columns count from 1; a line of 0: of no place in the source. */
typedef struct emulated_site {
    uint32_t line, column, end_column;
    uint32_t name_offset;
} emulated_site;

#define EMULATED_AT(type, field, at)                                                               \
    _Static_assert(offsetof(type, field) == (at), "code relies on the place of " #field)
EMULATED_AT(emulated_thread, hooks, 0);
EMULATED_AT(emulated_thread, buffers, 8);
EMULATED_AT(emulated_thread, dims, 16);
EMULATED_AT(emulated_thread, workspace, 24);
EMULATED_AT(emulated_thread, prepared, 32);
EMULATED_AT(emulated_thread, shared, 40);
EMULATED_AT(emulated_thread, workgroup, 48);
EMULATED_AT(emulated_thread, thread, 56);
EMULATED_AT(emulated_thread, threads, 60);
EMULATED_AT(emulated_hooks, access, 0);
EMULATED_AT(emulated_hooks, barrier, 8);
EMULATED_AT(emulated_hooks, shuffle, 16);
EMULATED_AT(emulated_hooks, copy_async, 24);
EMULATED_AT(emulated_hooks, copy_commit, 32);
EMULATED_AT(emulated_hooks, copy_wait, 40);
EMULATED_AT(emulated_hooks, mma, 48);
EMULATED_AT(emulated_hooks, load_matrix, 56);
EMULATED_AT(emulated_hooks, wgmma, 64);
EMULATED_AT(emulated_hooks, fence_async, 96);
EMULATED_AT(emulated_hooks, exp2, 104);
EMULATED_AT(emulated_hooks, fetch, 152);
#undef EMULATED_AT
_Static_assert(sizeof(emulated_site) == 16, "images hold arrays of it");

#endif
