/* test_pool.c - the pool of a device's memory against a model: pieces that overlap nothing, hold
 * what was written to them, and come from blocks that all go back in the end. The driver is this
 * file: blocks of the host's memory, up to a limit, counted. */
#include "test/test.h"

#include <stdlib.h>
#include <string.h>

#include "base/splitmix64.h"
#include "device/shared/gpu_pool.h"

enum { MIB = 1 << 20, PIECES = 200, STEPS = 8000, THREADS = 4, ASKEW = 16 };

/* ---- the driver ---- */

typedef struct maker {
    pthread_mutex_t mutex;
    size_t limit_bytes, bytes;
    uint64_t blocks, asked;
} maker;

static bool make(void *owner, size_t size_bytes, device_memory_kind kind, gpu_block *out,
                 status *st) {
    maker *m = owner;
    (void)kind;
    pthread_mutex_lock(&m->mutex);
    bool ok = size_bytes <= m->limit_bytes && m->bytes <= m->limit_bytes - size_bytes;
    m->asked++;
    m->bytes += ok ? size_bytes : 0;
    m->blocks += ok;
    pthread_mutex_unlock(&m->mutex);
    if (!ok)
        return status_set(st, STATUS_OUT_OF_MEMORY, "no %zu bytes", size_bytes);
    unsigned char *memory = malloc(size_bytes + ASKEW);
    unsigned char *host = memory + ((uintptr_t)memory % (2 * ASKEW) ? 0 : ASKEW); /* and no more */
    *out = (gpu_block){.address = (uint64_t)(uintptr_t)host,
                       .host = host,
                       .size_bytes = size_bytes,
                       .handle = memory};
    return true;
}

static void unmake(void *owner, gpu_block *block) {
    maker *m = owner;
    pthread_mutex_lock(&m->mutex);
    m->bytes -= block->size_bytes;
    m->blocks--;
    pthread_mutex_unlock(&m->mutex);
    free(block->handle);
}

static gpu_block_source source_of(maker *m) {
    return (gpu_block_source){m, make, unmake};
}

static maker maker_of(size_t limit_bytes) {
    return (maker){.mutex = PTHREAD_MUTEX_INITIALIZER, .limit_bytes = limit_bytes};
}

/* ---- a model ---- */

typedef struct model {
    gpu_pool *pool;
    gpu_piece pieces[PIECES];
    device_memory_kind kinds[PIECES];
    unsigned char bytes[PIECES];
    size_t used[DEVICE_MEMORY_KIND_COUNT];
    uint64_t seed;
} model;

static unsigned char *host_of(const gpu_piece *p) {
    return p->block->host + p->offset;
}

/* All sizes from one byte on, small ones more often. */
static size_t any_size(uint64_t *seed) {
    uint64_t most = UINT64_C(1) << (splitmix64(seed) % 22);
    return (size_t)(splitmix64(seed) % (2 * most) + 1);
}

/* Compares in the C library, which the sanitizers check by range and not byte by byte. */
static bool holds(const gpu_piece *p, unsigned char byte) {
    const unsigned char *bytes = host_of(p);
    return bytes[0] == byte && memcmp(bytes, bytes + 1, p->size_bytes - 1) == 0;
}

static void take(model *m, int at) {
    status st = STATUS_INIT;
    size_t bytes = any_size(&m->seed);
    gpu_piece *p = &m->pieces[at];
    m->kinds[at] = (device_memory_kind)(splitmix64(&m->seed) % DEVICE_MEMORY_KIND_COUNT);
    m->bytes[at] = (unsigned char)splitmix64(&m->seed);
    if (!gpu_pool_take(m->pool, bytes, m->kinds[at], p, &st))
        fail_msg("%zu bytes: %s", bytes, st.message);
    assert_true(p->size_bytes >= bytes && p->size_bytes < bytes + GPU_PIECE_ALIGNMENT);
    assert_int_equal(gpu_piece_address(p) % GPU_PIECE_ALIGNMENT, 0);
    assert_true(p->offset + p->size_bytes <= p->block->size_bytes);
    memset(host_of(p), m->bytes[at], p->size_bytes); /* what overlaps it holds other bytes now */
    m->used[m->kinds[at]] += p->size_bytes;
}

static void give(model *m, int at) {
    gpu_piece *p = &m->pieces[at];
    assert_true(holds(p, m->bytes[at]));
    m->used[m->kinds[at]] -= p->size_bytes;
    gpu_pool_give(m->pool, p);
    assert_null(p->block);
}

static void step(model *m) {
    int at = (int)(splitmix64(&m->seed) % PIECES);
    if (m->pieces[at].block)
        give(m, at);
    else
        take(m, at);
}

static void give_all(model *m) {
    for (int i = 0; i < PIECES; i++)
        if (m->pieces[i].block)
            give(m, i);
}

static void expect_counts(const model *m, const maker *made) {
    uint64_t held = 0, blocks = 0;
    for (int kind = 0; kind < DEVICE_MEMORY_KIND_COUNT; kind++) {
        const device_memory_counts *c = &m->pool->counts[kind];
        assert_int_equal(c->used_bytes, m->used[kind]);
        assert_true(c->used_bytes <= c->used_peak_bytes && c->used_bytes <= c->held_bytes);
        held += c->held_bytes;
        blocks += c->blocks;
    }
    assert_int_equal(held, made->bytes);
    assert_int_equal(blocks, made->blocks);
}

/* ---- tests ---- */

static void pieces_keep_apart(void **state) {
    (void)state;
    for (uint64_t seed = 1; seed <= 3; seed++) {
        maker made = maker_of((size_t)4 << 30);
        gpu_pool pool = {0};
        gpu_pool_init(&pool, source_of(&made), UINT64_C(1) << 30, false);
        model *m = calloc(1, sizeof *m);
        m->pool = &pool;
        m->seed = seed;
        for (int i = 0; i < STEPS; i++) {
            step(m);
            if (i % 100 == 0)
                expect_counts(m, &made);
        }
        give_all(m);
        expect_counts(m, &made);
        for (int kind = 0; kind < DEVICE_MEMORY_KIND_COUNT; kind++) {
            assert_true(pool.spare_bytes[kind] <= pool.bound_bytes[kind]);
            assert_true(pool.counts[kind].held_bytes < pool.bound_bytes[kind] + MIB);
            assert_true(pool.counts[kind].blocks_made < pool.counts[kind].allocations / 2);
        }
        gpu_pool_release(&pool);
        assert_int_equal(made.blocks, 0);
        assert_int_equal(made.bytes, 0);
        free(m);
    }
}

static void *step_often(void *argument) {
    model *m = argument;
    for (int i = 0; i < STEPS / 4; i++)
        step(m);
    give_all(m);
    return NULL;
}

static void threads_share_a_pool(void **state) {
    (void)state;
    maker made = maker_of((size_t)4 << 30);
    gpu_pool pool = {0};
    pthread_t threads[THREADS];
    model *models = calloc(THREADS, sizeof *models);
    gpu_pool_init(&pool, source_of(&made), UINT64_C(1) << 30, false);
    for (int i = 0; i < THREADS; i++) {
        models[i].pool = &pool;
        models[i].seed = (uint64_t)i;
        assert_int_equal(pthread_create(&threads[i], NULL, step_often, &models[i]), 0);
    }
    for (int i = 0; i < THREADS; i++)
        pthread_join(threads[i], NULL);
    for (int kind = 0; kind < DEVICE_MEMORY_KIND_COUNT; kind++)
        assert_int_equal(pool.counts[kind].used_bytes, 0);
    gpu_pool_release(&pool);
    assert_int_equal(made.blocks, 0);
    free(models);
}

/* Gives back what was kept where it is needed; what cannot be had is refused, and all goes on. */
static void what_is_kept_goes_back_under_pressure(void **state) {
    (void)state;
    maker made = maker_of(40 * MIB);
    gpu_pool pool = {0}, other = {0};
    gpu_piece small, large;
    status st = STATUS_INIT;
    gpu_pool_init(&pool, source_of(&made), UINT64_C(1) << 40, false);
    gpu_pool_init(&other, source_of(&made), UINT64_C(1) << 40, false);
    assert_true(gpu_pool_take(&pool, 100, DEVICE_MEMORY_PINNED, &small, &st));
    assert_true(gpu_pool_take(&pool, 30 * MIB, DEVICE_MEMORY_DEVICE, &large, &st));
    gpu_pool_give(&pool, &large);
    assert_int_equal(made.blocks, 2); /* kept */
    assert_true(gpu_pool_take(&pool, 35 * MIB, DEVICE_MEMORY_DEVICE, &large, &st));
    gpu_pool_give(&pool, &large);
    assert_int_equal(made.blocks, 2);
    assert_true(gpu_pool_take(&other, 36 * MIB, DEVICE_MEMORY_DEVICE, &large, &st));
    assert_int_equal(pool.counts[DEVICE_MEMORY_DEVICE].held_bytes, 0); /* another's need */
    assert_int_equal(pool.counts[DEVICE_MEMORY_PINNED].blocks, 1);     /* is used */
    gpu_pool_give(&other, &large);
    assert_false(gpu_pool_take(&pool, 39 * MIB, DEVICE_MEMORY_DEVICE, &large, &st));
    assert_int_equal(st.code, STATUS_OUT_OF_MEMORY);
    assert_non_null(strstr(st.message, "no "));
    st = (status)STATUS_INIT;
    assert_true(gpu_pool_take(&pool, 37 * MIB, DEVICE_MEMORY_DEVICE, &large, &st));
    gpu_pool_give(&pool, &large);
    gpu_pool_give(&pool, &small);
    gpu_pool_release(&pool);
    gpu_pool_release(&other);
    assert_int_equal(made.blocks, 0);
}

/* A little memory is to be had where a block with room for more is not. */
static void blocks_are_as_small_as_need_be(void **state) {
    (void)state;
    maker made = maker_of(MIB);
    gpu_pool pool = {0};
    gpu_piece pieces[3], none;
    gpu_pool_init(&pool, source_of(&made), UINT64_C(1) << 30, false);
    for (int i = 0; i < 3; i++)
        assert_true(gpu_pool_take(&pool, 300000, DEVICE_MEMORY_DEVICE, &pieces[i], NULL));
    assert_int_equal(made.blocks, 3);
    assert_false(gpu_pool_take(&pool, 300000, DEVICE_MEMORY_DEVICE, &none, NULL));
    assert_false(gpu_pool_take(&pool, SIZE_MAX, DEVICE_MEMORY_DEVICE, &none, NULL));
    assert_int_equal(made.blocks, 3);
    for (int i = 0; i < 3; i++)
        gpu_pool_give(&pool, &pieces[i]);
    gpu_pool_release(&pool);
    assert_int_equal(made.blocks, 0);
}

/* A bound of nothing, or debug: each piece is a block, and goes back at once. */
static void pieces_can_be_blocks(void **state) {
    (void)state;
    for (int way = 0; way < 2; way++) {
        maker made = maker_of((size_t)1 << 30);
        gpu_pool pool = {0};
        gpu_piece pieces[10];
        if (way == 0)
            setenv(MEMORY_KEPT, "0", 1);
        gpu_pool_init(&pool, source_of(&made), UINT64_C(1) << 30, way == 1);
        unsetenv(MEMORY_KEPT);
        for (int i = 0; i < 10; i++)
            assert_true(
                gpu_pool_take(&pool, (size_t)(1000 * i), DEVICE_MEMORY_DEVICE, &pieces[i], NULL));
        assert_int_equal(made.blocks, 10);
        for (int i = 0; i < 10; i++) {
            gpu_pool_give(&pool, &pieces[i]);
            assert_int_equal(made.blocks, 9 - i);
        }
        gpu_pool_give(&pool, &pieces[0]); /* it is none any more */
        gpu_pool_release(&pool);
    }
}

/* The bound is of each kind; beyond it what becomes free goes back. */
static void what_is_kept_has_a_bound(void **state) {
    (void)state;
    maker made = maker_of((size_t)1 << 30);
    gpu_pool pool = {0};
    gpu_piece pieces[8];
    setenv(MEMORY_KEPT, "10000000", 1);
    gpu_pool_init(&pool, source_of(&made), UINT64_C(1) << 30, false);
    unsetenv(MEMORY_KEPT);
    for (int i = 0; i < 8; i++)
        assert_true(gpu_pool_take(&pool, 3 * MIB, DEVICE_MEMORY_DEVICE, &pieces[i], NULL));
    for (int i = 0; i < 8; i++)
        gpu_pool_give(&pool, &pieces[i]);
    assert_int_equal(made.blocks, 3); /* 9 MiB of 9.5 */
    uint64_t asked = made.asked;
    for (int i = 0; i < 3; i++)
        assert_true(gpu_pool_take(&pool, 3 * MIB, DEVICE_MEMORY_DEVICE, &pieces[i], NULL));
    assert_int_equal(made.asked, asked);
    assert_int_equal(pool.counts[DEVICE_MEMORY_DEVICE].used_peak_bytes, 24 * MIB);
    for (int i = 0; i < 3; i++)
        gpu_pool_give(&pool, &pieces[i]);
    gpu_pool_release(&pool);
    assert_int_equal(made.blocks, 0);
}

/* A policy's bound, and memory that is there before the first allocation. */
static void a_pool_can_be_filled(void **state) {
    (void)state;
    const device_pools small = {.bounded = true, .kept_bytes = 4 * MIB}, none = {.bounded = true},
                       filled = {.filled_bytes = 64 * MIB};
    const struct {
        const device_pools *pools;
        uint64_t before, after; /* blocks that the driver has given, before and after three pieces
                                   of 3 MiB were taken and given back */
    } cases[] = {{&small, 0, 1}, {&none, 0, 0}, {&filled, 1, 1}};
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        maker made = maker_of((size_t)1 << 30);
        gpu_pool pool = {0};
        gpu_piece pieces[3];
        status st = STATUS_INIT;
        gpu_pool_init(&pool, source_of(&made), UINT64_C(1) << 30, false);
        assert_true(gpu_pool_keep(&pool, cases[i].pools, &st));
        assert_int_equal(made.blocks, cases[i].before);
        for (int k = 0; k < 3; k++)
            assert_true(gpu_pool_take(&pool, 3 * MIB, DEVICE_MEMORY_DEVICE, &pieces[k], &st));
        assert_int_equal(made.blocks, cases[i].pools == &filled ? 1 : 3);
        for (int k = 0; k < 3; k++)
            gpu_pool_give(&pool, &pieces[k]);
        assert_int_equal(made.blocks, cases[i].after);
        gpu_pool_release(&pool);
        assert_int_equal(made.blocks, 0);
    }
}

static void a_pool_that_cannot_be_filled_is_told(void **state) {
    (void)state;
    maker made = maker_of((size_t)16 << 20);
    gpu_pool pool = {0};
    status st = STATUS_INIT;
    gpu_pool_init(&pool, source_of(&made), UINT64_C(1) << 30, false);
    assert_false(gpu_pool_keep(&pool, &(device_pools){.filled_bytes = 64 * MIB}, &st));
    assert_int_equal(st.code, STATUS_OUT_OF_MEMORY);
    gpu_pool_release(&pool);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(pieces_keep_apart),
        cmocka_unit_test(threads_share_a_pool),
        cmocka_unit_test(what_is_kept_goes_back_under_pressure),
        cmocka_unit_test(blocks_are_as_small_as_need_be),
        cmocka_unit_test(pieces_can_be_blocks),
        cmocka_unit_test(what_is_kept_has_a_bound),
        cmocka_unit_test(a_pool_can_be_filled),
        cmocka_unit_test(a_pool_that_cannot_be_filled_is_told),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
