/* emulate_stage.c - wgmma: products of factors in shared memory, which are read until they have
 * been waited for; the left one may be in registers. PTX ISA, "Asynchronous warpgroup-level matrix
 * instructions", has the layouts.
 *
 * The sums are computed at once and kept here; code gets stand-ins for them until its wait. What is
 * read is read in the name of some of its warp's threads, so that whoever writes it in the same
 * epoch is another one; what is written later is found at the wait. */
#include <stdlib.h>
#include <string.h>

#include "base/arena.h"
#include "chip/matrix_unit.h"
#include "device/emulate/emulate_parts.h"

enum { WARP = 32, WARPGROUP = 128, ROWS = 64, COLUMNS_MAX = 256, UNIT_BYTES = 16 };
enum { WARP_ROWS = ROWS / (WARPGROUP / WARP) };
enum { K_BYTES = 32, K_MAX = K_BYTES, WORD = 4 }; /* of a line in an instruction */

typedef struct emulate_stage {
    matrix_factors rows[ROWS], columns[COLUMNS_MAX];
} emulate_stage;

/* ---- factors in memory ---- */

static uint32_t columns_of(uint32_t shape) {
    return shape & ~(EMULATED_A_REGISTERS | EMULATED_A_TURNED | EMULATED_B_TURNED);
}

static bool in_registers(uint32_t shape, int side) {
    return side == 0 && shape & EMULATED_A_REGISTERS;
}

static bool is_turned(uint32_t shape, int side) {
    return shape & (side ? EMULATED_B_TURNED : EMULATED_A_TURNED);
}

static uint64_t field(uint64_t descriptor, int at) {
    return (descriptor >> at & 0x3fff) << 4;
}

/* Unit `unit` of 16 bytes of row `row`: of lines by k, or turned of k by lines. Descriptor modes: 0
 * is not swizzled, 1 to 3 have 128, 64 and 32 bytes a row. */
static const unsigned char *unit_at(const emulate *e, uint64_t descriptor, bool turned,
                                    uint32_t row, uint32_t unit) {
    uint32_t mode = (uint32_t)(descriptor >> 62);
    uint64_t units = mode ? UINT64_C(16) >> mode : 1, leading = field(descriptor, 16),
             stride = field(descriptor, 32), place = field(descriptor, 0);
    uint64_t within = row % 8 * units * UNIT_BYTES + unit % units * UNIT_BYTES;
    if (!mode && turned) /* eight k are side by side, then lines */
        place += within + row / 8 * leading + unit * stride;
    else if (!turned && mode)
        place += row % 8 * units * UNIT_BYTES + unit * UNIT_BYTES + row / 8 * stride;
    else
        place += within + row / 8 * stride + unit / units * leading;
    uint64_t mask = (units - 1) * UNIT_BYTES;
    place ^= place >> 3 & mask;
    uint64_t offset = (place - (e->shared.base & 0x3ffff)) & 0x3ffff;
    return (const unsigned char *)e->shared.base + offset;
}

/* Parameters: an element, two numbers, and its size. */
static uint16_t element(const emulate *e, const emulate_exchange *x, int side, uint32_t line,
                        uint32_t k, uint32_t bytes) {
    bool turned = is_turned(x->shape, side);
    uint32_t row = turned ? k : line, at = (turned ? line : k) * bytes;
    uint16_t value = 0;
    memcpy(&value, unit_at(e, x->descriptors[side], turned, row, at / UNIT_BYTES) + at % UNIT_BYTES,
           bytes);
    return value;
}

/* ---- who reads what ---- */

typedef void (*visit)(emulate_thread *t, const emulate_product *p, const unsigned char *unit);

/* The units of a side that thread t of its warpgroup reads: those of its warp's rows of the left
 * side, and of all of the right one, each by two threads. */
static void visit_side(emulate_thread *t, const emulate_product *p, int side, visit what) {
    uint32_t lane = t->base.thread % WARP, warp = t->base.thread % WARPGROUP / WARP;
    uint32_t first = side ? 0 : warp * WARP_ROWS, lines = side ? columns_of(p->shape) : WARP_ROWS;
    bool turned = is_turned(p->shape, side);
    uint32_t each = UNIT_BYTES / p->element_bytes, steps = K_BYTES / p->element_bytes;
    uint32_t rows = turned ? steps : lines, units = (turned ? lines : steps) / each;
    for (uint32_t i = 0; i < rows * units; i++) {
        if (i % WARP != lane && (i + 1) % WARP != lane)
            continue;
        uint32_t row = i / units + (turned ? 0 : first),
                 unit = i % units + (turned ? first / each : 0);
        what(t, p, unit_at(t->engine, p->descriptors[side], turned, row, unit));
    }
}

static void read_unit(emulate_thread *t, const emulate_product *p, const unsigned char *unit) {
    if (emulate_slot_read(t, unit, p->site))
        return;
    emulate_access(&t->base, unit, UNIT_BYTES, p->site | EMULATED_SHARED);
    emulate_need_fence(t, unit, UNIT_BYTES, p->site);
}

static void settle_unit(emulate_thread *t, const emulate_product *p, const unsigned char *unit) {
    if (!emulate_slot_settle(t, unit))
        emulate_factor_settle(t, unit, UNIT_BYTES, p);
}

static void visit_factors(emulate_thread *t, const emulate_product *p, visit what) {
    for (int side = in_registers(p->shape, 0); side < 2; side++)
        visit_side(t, p, side, what);
}

/* ---- sums ---- */

/* Stand-in of code for sums, with a number and a place: a NaN that no unit makes, or integers that
 * are sums of at least 2^17 products of bytes. */
enum { STAND_IN_NUMBERS = 1 << 13, PLACE_BITS = 8 };
static const uint32_t stand_in_bits = 0xffe00000, nan_stand_in = 0xffe00000,
                      integer_stand_in = 0x80000000;

static uint32_t stand_in_for(const emulate_thread *t, uint32_t number, uint32_t place) {
    return t->sums.items[number].stand_in | number << PLACE_BITS | place;
}

/* The sums that a word stands for; NULL: for none. */
static emulate_sums *sums_of(emulate_thread *t, uint32_t word, uint32_t *place) {
    uint32_t number = word >> PLACE_BITS & (STAND_IN_NUMBERS - 1);
    *place = word & ((1 << PLACE_BITS) - 1);
    bool stands =
        number < t->sums.count && (word & stand_in_bits) == t->sums.items[number].stand_in;
    return stands && *place < t->sums.items[number].count ? &t->sums.items[number] : NULL;
}

_Noreturn static void fail_sums(const emulate_thread *t, uint32_t site) {
    const emulate_finding f = {.fault = EMULATE_UNFENCED,
                               .phase = t->engine->phase,
                               .now = {EMULATE_MULTIPLIES, t->base.workgroup, t->base.thread, site},
                               .memory = EMULATE_NOWHERE};
    emulate_fail(t->engine, &f);
}

/* Those that are on their way, or new ones of what code gave. */
static uint32_t open_sums(emulate_thread *t, const matrix_unit *unit, const uint32_t *words,
                          uint32_t count) {
    uint32_t place, known = 0;
    const emulate_sums *first = sums_of(t, words[0], &place);
    for (uint32_t i = 0; i < count; i++)
        known += sums_of(t, words[i], &place) == first && place == i;
    if (first && known == count && first->count == count)
        return (uint32_t)(first - t->sums.items);
    if (first || !t->sums_fenced)
        fail_sums(t, t->site);
    if (t->sums.count == STAND_IN_NUMBERS)
        emulate_fail_without(t->engine, STATUS_UNAVAILABLE,
                             "a thread has more sums on their way than the emulator can tell "
                             "apart");
    bool exact = unit->rule == MATRIX_UNIT_EXACT;
    emulate_sums sums = {.count = count, .stand_in = exact ? integer_stand_in : nan_stand_in};
    memcpy(sums.words, words, count * sizeof *words);
    vec_push(&t->sums, sums);
    return (uint32_t)t->sums.count - 1;
}

/* ---- the product ---- */

/* "Register fragments for wgmma.mma_async.m64nNk16", and k32: of its warp's rows a thread has two,
 * eight apart, and of each half of the k a word's, side by side. */
static uint16_t held_element(const emulate_thread *first, uint32_t line, uint32_t k,
                             uint32_t bytes) {
    uint32_t row = line % WARP_ROWS, word = k * bytes / WORD, lane = row % 8 * 4 + word % 4;
    const emulate_thread *t = &first[line / WARP_ROWS * WARP + lane];
    uint16_t value = 0;
    memcpy(&value, (const unsigned char *)&t->exchange.a[row / 8 + word / 4 * 2] + k * bytes % WORD,
           bytes);
    return value;
}

static uint32_t bytes_of(const matrix_unit *unit) {
    return (uint32_t)unit->factors[0]->storage_bits / 8;
}

/* One of the two formats that the unit takes. */
static const binary_format *format_of(const emulate_thread *first, const matrix_unit *unit) {
    bool other = first->exchange.how >> EMULATED_SITE_BITS == EMULATED_MMA_WGMMA_E5M2;
    return unit->factors[other];
}

static void decode(emulate_stage *s, const emulate_thread *first, const matrix_unit *unit) {
    const emulate_exchange *x = &first->exchange;
    uint32_t counts[2] = {ROWS, columns_of(x->shape)}, bytes = bytes_of(unit),
             steps = K_BYTES / bytes;
    uint64_t codes[K_MAX];
    for (int side = 0; side < 2; side++)
        for (uint32_t line = 0; line < counts[side]; line++) {
            for (uint32_t k = 0; k < steps; k++)
                codes[k] = in_registers(x->shape, side)
                               ? held_element(first, line, k, bytes)
                               : element(first->engine, x, side, line, k, bytes);
            matrix_factors_decode(side ? &s->columns[line] : &s->rows[line], unit,
                                  format_of(first, unit), codes, steps);
        }
}

/* Threads have two rows of their warp's, of each eight columns two. */
static void multiply(const emulate_stage *s, emulate_thread *t, const matrix_unit *unit) {
    uint32_t count = columns_of(t->exchange.shape) / 2, lane = t->base.thread % WARP,
             warp = t->base.thread % WARPGROUP / WARP,
             number = open_sums(t, unit, t->exchange.c, count);
    emulate_sums *sums = &t->sums.items[number];
    for (uint32_t i = 0; i < count; i++) {
        uint32_t row = warp * WARP_ROWS + i / 2 % 2 * 8 + lane / 4,
                 column = i / 4 * 8 + lane % 4 * 2 + i % 2;
        sums->words[i] =
            (uint32_t)matrix_unit_dot(unit, &s->rows[row], &s->columns[column], sums->words[i]);
        t->exchange.out[i] = stand_in_for(t, number, i);
    }
    sums->group = t->product_group;
}

static void multiply_all(emulate_thread *first, uint32_t count) {
    emulate *e = first->engine;
    if (count != WARPGROUP || e->subgroup != WARP)
        emulate_fail_without(e, STATUS_INVALID,
                             "wgmma is for four subgroups of 32 threads, and all of them; launch a "
                             "multiple of 128 threads");
    const matrix_unit *unit = emulate_unit_of(e, first->exchange.how >> EMULATED_SITE_BITS);
    const uint32_t sides = EMULATED_A_TURNED | EMULATED_B_TURNED;
    if (bytes_of(unit) == 1 && first->exchange.shape & sides)
        emulate_fail_without(e, STATUS_CORRUPT, "the image turns a factor of single bytes");
    for (uint32_t i = 0; i < count; i++) {
        emulate_thread *t = &first[i];
        const emulate_product p = {
            .descriptors = {t->exchange.descriptors[0], t->exchange.descriptors[1]},
            .shape = t->exchange.shape,
            .element_bytes = bytes_of(unit),
            .site = t->site,
            .group = t->product_group,
            .began = e->epoch};
        visit_factors(t, &p, read_unit);
        vec_push(&t->products, p);
    }
    if (!e->stage)
        e->stage = base_malloc(sizeof *e->stage);
    decode(e->stage, first, unit);
    for (uint32_t i = 0; i < count; i++)
        multiply(e->stage, &first[i], unit);
}

void emulate_wgmma(emulated_thread *base, uint32_t kind_and_site, uint32_t shape, uint64_t a,
                   uint64_t b_descriptor, uint32_t *sums) {
    emulate_thread *t = emulate_thread_of(base);
    uint32_t n = columns_of(shape);
    if (n % 8 != 0 || n < 8 || n > COLUMNS_MAX)
        emulate_fail_without(t->engine, STATUS_CORRUPT,
                             "the image multiplies other than 8 to 256 columns at once");
    t->exchange.how = kind_and_site;
    t->exchange.shape = shape;
    t->exchange.descriptors[0] = a;
    t->exchange.a = in_registers(shape, 0) ? (const uint32_t *)(uintptr_t)a : NULL;
    t->exchange.descriptors[1] = b_descriptor;
    t->exchange.c = t->exchange.out = sums;
    emulate_join_lanes(t, kind_and_site, WARPGROUP, multiply_all);
}

/* ---- groups and fences ---- */

void emulate_wgmma_fence(emulated_thread *base) {
    emulate_thread_of(base)->sums_fenced = true;
}

void emulate_wgmma_commit(emulated_thread *base) {
    emulate_thread_of(base)->product_group++;
}

static bool is_waited_for(const emulate_thread *t, uint32_t group, uint32_t left) {
    return t->product_group != group && t->product_group - group > left;
}

static void have_met(emulate_thread *first, uint32_t count) {
    (void)first;
    (void)count;
}

void emulate_wgmma_wait(emulated_thread *base, uint32_t groups_left, uint32_t *sums,
                        uint32_t count) {
    emulate_thread *t = emulate_thread_of(base);
    size_t kept = 0;
    for (size_t i = 0; i < t->products.count; i++) {
        const emulate_product *p = &t->products.items[i];
        if (is_waited_for(t, p->group, groups_left))
            visit_factors(t, p, settle_unit);
        else
            t->products.items[kept++] = *p;
    }
    t->products.count = kept;
    if (t->engine->slots) /* all of the subgroup wait together, and then one gives a slot back */
        emulate_join(t, t->site, have_met);
    for (uint32_t i = 0; i < count; i++) {
        uint32_t place;
        const emulate_sums *of = sums_of(t, sums[i], &place);
        if (of && is_waited_for(t, of->group, groups_left))
            sums[i] = of->words[place];
    }
    t->sums_fenced &= count == 0;
}

void emulate_fence_async(emulated_thread *base) {
    emulate_thread *t = emulate_thread_of(base);
    if (t->fenced == t->engine->epoch)
        return;
    t->fenced_before = t->fenced;
    t->fenced = t->engine->epoch;
}

void emulate_products_drop(emulate_thread *t) {
    vec_clear(&t->products);
    vec_clear(&t->sums);
    t->product_group = 0;
    t->sums_fenced = false;
}
