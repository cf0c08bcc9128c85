/* host_pool.c - see host_pool.h.
 *
 * `state` is a serial number and an open bit. run_shared() fills the grid, opens it, works until no
 * workgroup is left, closes it and waits until nobody is `inside`. A worker steps inside first and
 * looks at the state then: so either it sees the grid closed and leaves it alone, or run_shared()
 * sees the worker and waits (both are sequentially consistent). Workers that slept through a whole
 * grid are never waited for, which keeps small launches fast. */
#include "device/host/host_pool.h"

#include <errno.h>
#include <linux/futex.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stdlib.h>
#include <string.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "base/arena.h"
#include "base/clock.h"
#include "base/thread.h"
#include "device/shared/host_memory.h"

#if defined(__x86_64__)
#include <immintrin.h>
#endif

enum { SPIN_NS = 30000, SPIN_BATCH = 32, CACHE_LINE = 64, SCRATCH_GRAIN = 4096, POISON = 0xCB };

/* The control register of the floating-point environment; in it, too, flags of what has happened,
 * which are no part of the environment. Default: round to nearest, no flush, all masked. Reading
 * and writing it takes nanoseconds. */
typedef uint64_t fp_word;

struct host_pool {
    uint32_t threads;
    pthread_t *workers; /* threads - 1 */
    host_memory
        *scratch; /* one per thread; changed only while the grid is closed and nobody inside */
    const host_pool_work
        *work; /* and the phases of it that run, their grids one behind the other: */
    uint32_t first, side;
    int64_t workgroups;
    fp_word callers_fp; /* the word of the thread in host_pool_run, without asking the processor */
    atomic_uint stop;
    atomic_bool cancelled;
    atomic_bool fp_changed; /* some workgroup left another floating-point environment */
    _Alignas(CACHE_LINE) atomic_uint state; /* 2 * serial + open */
    atomic_uint sleepers;
    _Alignas(CACHE_LINE) _Atomic int64_t next; /* first workgroup that nobody has claimed */
    _Alignas(CACHE_LINE) atomic_uint inside;   /* workers that may touch the grid */
    atomic_uint caller_sleeps;
};

typedef struct worker_start {
    host_pool *pool;
    uint32_t index;
} worker_start;

static void futex_wait(atomic_uint *word, unsigned expected) {
    syscall(SYS_futex, word, FUTEX_WAIT_PRIVATE, expected, NULL, NULL, 0);
}

static void futex_wake_all(atomic_uint *word) {
    syscall(SYS_futex, word, FUTEX_WAKE_PRIVATE, INT32_MAX, NULL, NULL, 0);
}

static void relax(void) {
#if defined(__x86_64__)
    _mm_pause();
#elif defined(__aarch64__)
    __asm__ volatile("yield");
#endif
}

#if defined(__x86_64__)
enum { FP_DEFAULT = 0x1F80, FP_FLAGS = 0x3F, X87_DEFAULT = 0x37F };

static fp_word fp_read(void) {
    return _mm_getcsr();
}

static void fp_write(fp_word word) {
    _mm_setcsr((uint32_t)word);
}

/* Kernels rarely use the x87. Returns what to give back to x87_leave. */
static uint16_t x87_enter(void) {
    const uint16_t wanted = X87_DEFAULT;
    uint16_t saved;
    __asm__ volatile("fnstcw %0" : "=m"(saved));
    if (saved != wanted)
        __asm__ volatile("fldcw %0" : : "m"(wanted));
    return saved;
}

static void x87_leave(uint16_t saved) {
    if (saved != X87_DEFAULT)
        __asm__ volatile("fldcw %0" : : "m"(saved));
}
#else
enum { FP_DEFAULT = 0, FP_FLAGS = 0 };

static fp_word fp_read(void) {
    fp_word word = FP_DEFAULT;
#if defined(__aarch64__)
    __asm__ volatile("mrs %0, fpcr" : "=r"(word));
#endif
    return word;
}

static void fp_write(fp_word word) {
#if defined(__aarch64__)
    __asm__ volatile("msr fpcr, %0" : : "r"(word));
#else
    (void)word;
#endif
}

static uint16_t x87_enter(void) {
    return 0;
}

static void x87_leave(uint16_t saved) {
    (void)saved;
}
#endif

/* Makes the environment the default one, where `now` is not; returns what it is then. */
static fp_word fp_to_default(fp_word now) {
    if ((now & ~(fp_word)FP_FLAGS) == FP_DEFAULT)
        return now;
    fp_write(FP_DEFAULT);
    return FP_DEFAULT;
}

/* Claims a share of what is left: large pieces first, single workgroups at the end. */
static bool claim(host_pool *pool, int64_t *begin, int64_t *end) {
    int64_t workgroups = pool->workgroups,
            at = atomic_load_explicit(&pool->next, memory_order_relaxed);
    do {
        if (at >= workgroups)
            return false;
        int64_t share = (workgroups - at) / (4 * (int64_t)pool->threads);
        *begin = at;
        *end = at + (share > 1 ? share : 1);
    } while (!atomic_compare_exchange_weak(&pool->next, &at, *end));
    return true;
}

/* The part of each phase that lies in [begin, end) of all of their workgroups. */
static void call_phases(const host_pool *pool, const tsr_kernel_frame *frame, int64_t begin,
                        int64_t end) {
    const host_pool_work *work = pool->work;
    int64_t before = 0;
    for (uint32_t i = pool->first; i < pool->first + pool->side && before < end; i++) {
        int64_t low = begin - before, high = end - before, count = work->workgroups[i];
        low = low > 0 ? low : 0;
        high = high < count ? high : count;
        before += count;
        if (low >= high)
            continue;
        if (work->guarded)
            memset(frame->scratch, POISON, work->scratch_bytes);
        work->phases[i](frame, low, high);
    }
}

static void call(host_pool *pool, uint32_t index, int64_t begin, int64_t end) {
    tsr_kernel_frame frame = *pool->work->frame;
    frame.scratch = pool->scratch[index].data;
    call_phases(pool, &frame, begin, end);
    fp_word left = fp_read(), now = fp_to_default(left); /* the thread will run other kernels */
    if (index == 0)
        pool->callers_fp = now;
    if (now == left)
        return;
    (void)x87_enter(); /* fesetround changes both */
    atomic_store(&pool->fp_changed, true);
}

static void run_workgroups(host_pool *pool, uint32_t index) {
    int64_t begin, end;
    while (!atomic_load_explicit(&pool->cancelled, memory_order_relaxed) &&
           claim(pool, &begin, &end))
        call(pool, index, begin, end);
}

static bool worth_entering(host_pool *pool, unsigned last) {
    unsigned s = atomic_load(&pool->state);
    return ((s & 1) && s != last) || atomic_load(&pool->stop);
}

/* Spins, then sleeps, until a grid other than `last` is open or the pool stops. */
static void await_grid(host_pool *pool, unsigned last) {
    uint64_t limit = clock_now_ns() + SPIN_NS;
    do {
        for (int i = 0; i < SPIN_BATCH; i++) {
            if (worth_entering(pool, last))
                return;
            relax();
        }
    } while (clock_now_ns() < limit);
    atomic_fetch_add(&pool->sleepers, 1);
    for (;;) {
        unsigned seen = atomic_load(&pool->state);
        if (worth_entering(pool, last))
            break;
        futex_wait(&pool->state, seen);
    }
    atomic_fetch_sub(&pool->sleepers, 1);
}

static void *worker_main(void *argument) {
    worker_start start = *(worker_start *)argument;
    host_pool *pool = start.pool;
    unsigned last = 0;
    free(argument);
    (void)fp_to_default(fp_read());
    for (;;) {
        await_grid(pool, last);
        if (atomic_load(&pool->stop))
            return NULL;
        atomic_fetch_add(&pool->inside, 1);
        unsigned s = atomic_load(&pool->state);
        if (s & 1) {
            run_workgroups(pool, start.index);
            last = s;
        }
        if (atomic_fetch_sub(&pool->inside, 1) == 1 && atomic_load(&pool->caller_sleeps))
            futex_wake_all(&pool->inside);
    }
}

static void await_workers(host_pool *pool) {
    uint64_t limit = clock_now_ns() + SPIN_NS;
    do {
        for (int i = 0; i < SPIN_BATCH; i++) {
            if (atomic_load(&pool->inside) == 0)
                return;
            relax();
        }
    } while (clock_now_ns() < limit);
    atomic_store(&pool->caller_sleeps, 1);
    for (unsigned n; (n = atomic_load(&pool->inside)) != 0;)
        futex_wait(&pool->inside, n);
    atomic_store(&pool->caller_sleeps, 0);
}

/* Guarded scratch fits exactly, so that its canary begins where a kernel's right to write ends. */
static bool scratch_fits(const host_memory *scratch, const host_pool_work *work) {
    if (!scratch->data || scratch->guarded != work->guarded)
        return false;
    return work->guarded ? scratch->size_bytes == work->scratch_bytes
                         : scratch->size_bytes >= work->scratch_bytes;
}

static bool fit_scratch(host_pool *pool, const host_pool_work *work, status *st) {
    size_t size_bytes = work->guarded ? work->scratch_bytes
                                      : (work->scratch_bytes / SCRATCH_GRAIN + 1) * SCRATCH_GRAIN;
    for (uint32_t i = 0; i < pool->threads; i++) {
        if (scratch_fits(&pool->scratch[i], work))
            continue;
        host_memory_unmap(&pool->scratch[i]);
        if (!host_memory_map(size_bytes, work->guarded, &pool->scratch[i], st))
            return status_context(st, "scratch of thread %u", i);
    }
    return true;
}

static bool check_scratch(host_pool *pool, status *st) {
    for (uint32_t i = 0; i < pool->threads; i++)
        if (!host_memory_intact(&pool->scratch[i], st))
            return status_context(st, "in the scratch of thread %u", i);
    return true;
}

static void run_shared(host_pool *pool) {
    atomic_store_explicit(&pool->next, 0, memory_order_relaxed);
    atomic_fetch_add(&pool->state, 1);
    if (atomic_load(&pool->sleepers))
        futex_wake_all(&pool->state);
    run_workgroups(pool, 0);
    atomic_fetch_add(&pool->state, 1);
    await_workers(pool);
}

/* Takes the phase and those concurrent with it that follow. */
static void take_phases(host_pool *pool, uint32_t first) {
    const host_pool_work *work = pool->work;
    pool->first = first;
    pool->side = 1;
    pool->workgroups = work->workgroups[first];
    for (uint32_t i = first + 1;
         i < work->phase_count && work->concurrent && work->concurrent[i] && !work->times; i++) {
        pool->workgroups += work->workgroups[i];
        pool->side++;
    }
}

static bool run_grid(host_pool *pool, uint32_t index, status *st) {
    const host_pool_work *work = pool->work;
    uint64_t start = work->times ? clock_now_ns() : 0;
    take_phases(pool, index);
    if (pool->workgroups > 0 && (pool->threads == 1 || pool->workgroups == 1)) {
        if (!atomic_load_explicit(&pool->cancelled, memory_order_relaxed))
            call(pool, 0, 0, pool->workgroups);
    } else if (pool->workgroups > 0) {
        run_shared(pool);
    }
    if (work->times && index < DEVICE_TIMED_PHASES)
        work->times->phase_ns[index] = clock_now_ns() - start;
    return !work->guarded || check_scratch(pool, st);
}

bool host_pool_run(host_pool *pool, const host_pool_work *work, status *st) {
    if (!fit_scratch(pool, work, st))
        return false;
    fp_word saved = fp_read();
    uint16_t saved_x87 = x87_enter();
    bool ok = true;
    pool->callers_fp = fp_to_default(saved);
    pool->work = work;
    for (uint32_t i = 0; i < work->phase_count && ok; i += pool->side)
        ok = run_grid(pool, i, st);
    if (pool->callers_fp != saved)
        fp_write(saved);
    x87_leave(saved_x87);
    if (atomic_load_explicit(&pool->fp_changed, memory_order_relaxed)) {
        atomic_store(&pool->fp_changed, false);
        ok = status_set(
            st, STATUS_INTERNAL,
            "a workgroup changed the floating-point environment and did not put it back");
    }
    if (atomic_load_explicit(&pool->cancelled, memory_order_relaxed))
        ok = status_set(st, STATUS_TIMEOUT, "cancelled before every workgroup had run");
    return ok;
}

void host_pool_cancel(host_pool *pool) {
    atomic_store(&pool->cancelled, true);
}

static bool start_worker(host_pool *pool, uint32_t index) {
    worker_start *start = base_malloc(sizeof *start);
    *start = (worker_start){pool, index};
    if (thread_start(&pool->workers[index - 1], worker_main, start))
        return true;
    free(start);
    return false;
}

host_pool *host_pool_new(uint32_t threads, status *st) {
    host_pool *pool = aligned_alloc(CACHE_LINE, sizeof *pool);
    if (!pool) {
        status_set(st, STATUS_OUT_OF_MEMORY, "no memory for a thread pool");
        return NULL;
    }
    *pool = (host_pool){.threads = 1};
    pool->workers = base_calloc(threads, sizeof *pool->workers);
    pool->scratch = base_calloc(threads, sizeof *pool->scratch);
    /* `threads` is read by workers only inside a grid, and none is open yet. */
    while (pool->threads < threads && start_worker(pool, pool->threads))
        pool->threads++;
    if (pool->threads == threads)
        return pool;
    status_set(st, STATUS_OUT_OF_MEMORY, "only %u of %u threads could be started", pool->threads,
               threads);
    host_pool_free(pool);
    return NULL;
}

void host_pool_free(host_pool *pool) {
    if (!pool)
        return;
    atomic_store(&pool->stop, 1);
    atomic_fetch_add(&pool->state, 2); /* a new value, so that nobody falls asleep on the old one */
    futex_wake_all(&pool->state);
    for (uint32_t i = 1; i < pool->threads; i++)
        pthread_join(pool->workers[i - 1], NULL);
    for (uint32_t i = 0; i < pool->threads; i++)
        host_memory_unmap(&pool->scratch[i]);
    free(pool->workers);
    free(pool->scratch);
    free(pool);
}

uint32_t host_pool_threads(const host_pool *pool) {
    return pool->threads;
}
