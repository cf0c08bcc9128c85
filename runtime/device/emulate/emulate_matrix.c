/* emulate_matrix.c - mma: the matrices whose elements the lanes of a subgroup hold, multiplied as
 * the unit of a GPU does it (chip/matrix_unit.h). */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/arena.h"
#include "chip/matrix_unit.h"
#include "device/emulate/emulate_parts.h"

enum {
    WARP = 32,
    WAVEFRONT = 64,
    WARPGROUP = 128,
    ROWS = 8,
    COLUMNS = 8,
    SIDE_MAX = 16,
    QUAD = 4,
    K_MAX = 32
};

/* Places of the elements in the lanes. */
typedef enum holding { HELD_BY_WARP, HELD_BY_WAVEFRONT, HELD_TWICE, HELD_IN_MEMORY } holding;

static const struct {
    const char *name;
    uint32_t m, n, k, lanes;
    holding held;
    const char *unit;
} instructions[] = {
#define MMA(id, name, m, n, k, unit) {name, m, n, k, WARP, HELD_BY_WARP, unit},
#define MFMA(id, name, m, n, k, unit) {name, m, n, k, WAVEFRONT, HELD_BY_WAVEFRONT, unit},
#define WMMA(id, name, m, n, k, unit) {name, m, n, k, WARP, HELD_TWICE, unit},
#define WGMMA(id, name, m, n, k, unit) {name, m, n, k, WARPGROUP, HELD_IN_MEMORY, unit},
#include "device/emulate/emulated_mma.def"
#undef MMA
};

/* Assumptions of the fragments below. */
#define MMA(id, name, m, n, k, unit)                                                               \
    _Static_assert((m) % ROWS == 0 && (m) <= SIDE_MAX && (n) == COLUMNS && (k) <= K_MAX, name);
#define MFMA(id, name, m, n, k, unit)                                                              \
    _Static_assert((m) == SIDE_MAX && (n) == SIDE_MAX && (k) % QUAD == 0 && (k) <= K_MAX, name);
#define WMMA(id, name, m, n, k, unit)                                                              \
    _Static_assert((m) == SIDE_MAX && (n) == SIDE_MAX && (k) == SIDE_MAX, name);
#define WGMMA(id, name, m, n, k, unit) /* emulate_stage.c */
#include "device/emulate/emulated_mma.def"
#undef MMA

/* ---- which unit ---- */

static const matrix_unit *find_unit(emulate *e, uint32_t kind) {
    static const char unknown[] = "the image uses a matrix instruction of which no unit of its "
                                  "family is known (chip/matrix_units.def)";
    const char *family = e->launch->matrix_family;
    char name[64];
    if (kind >= EMULATED_MMA_COUNT)
        emulate_fail_without(e, STATUS_UNAVAILABLE, unknown);
    bool of_family = instructions[kind].unit[0] == '.';
    snprintf(name, sizeof name, "%s%s",
             !of_family ? ""
             : family   ? family
                        : EMULATED_MATRIX_FAMILY,
             instructions[kind].unit);
    const matrix_unit *unit = matrix_unit_find(name);
    if (!unit)
        emulate_fail_without(e, STATUS_UNAVAILABLE, unknown);
    return unit;
}

/* All subgroups of a phase call the same few. */
const matrix_unit *emulate_unit_of(emulate *e, uint32_t kind) {
    if (!e->unit || e->unit_kind != kind || e->unit_family != e->launch->matrix_family) {
        e->unit = find_unit(e, kind);
        e->unit_kind = kind;
        e->unit_family = e->launch->matrix_family;
    }
    return e->unit;
}

/* ---- fragments ---- */

/* Registers of a lane are a row of elements: PTX ISA, "Matrix fragments for mma". */
static uint64_t element(const uint32_t *words, uint32_t index, const binary_format *format) {
    uint64_t value = 0;
    uint32_t bytes = (uint32_t)format->storage_bits / 8;
    if (bytes == sizeof *words)
        return words[index];
    memcpy(&value, (const unsigned char *)words + (size_t)index * bytes, bytes);
    return value;
}

static void set_element(uint32_t *words, uint32_t index, const binary_format *format,
                        uint64_t value) {
    uint32_t bytes = (uint32_t)format->storage_bits / 8;
    if (bytes == sizeof *words)
        words[index] = (uint32_t)value;
    else
        memcpy((unsigned char *)words + (size_t)index * bytes, &value, bytes);
}

/* Length of a lane's runs of factors: a register full, or one wider element. */
static uint32_t run_of(const matrix_unit *unit) {
    int bits = unit->factors[0]->storage_bits;
    return bits < 32 ? 32 / (uint32_t)bits : 1;
}

/* Row `row` of a: lanes 4 * (row % 8) and the next three hold it, run after run; registers go down
 * the blocks of eight rows first. */
static void gather_row(const emulate_thread *first, uint32_t m, uint32_t k, uint32_t row,
                       const matrix_unit *unit, uint64_t *codes) {
    uint32_t run = run_of(unit), blocks = m / ROWS;
    for (uint32_t i = 0; i < k; i++) {
        const emulate_thread *lane = &first[row % ROWS * 4 + i / run % 4];
        uint32_t in_register = i / run / 4 * blocks + row / ROWS;
        codes[i] = element(lane->exchange.a, in_register * run + i % run, unit->factors[0]);
    }
}

static void gather_column(const emulate_thread *first, uint32_t k, uint32_t column,
                          const matrix_unit *unit, uint64_t *codes) {
    uint32_t run = run_of(unit);
    for (uint32_t i = 0; i < k; i++) {
        const emulate_thread *lane = &first[column * 4 + i / run % 4];
        codes[i] = element(lane->exchange.b, i / run / 4 * run + i % run, unit->factors[0]);
    }
}

/* AMD's 16x16x16: lane 16 * q + i has the four elements of k from 4 * q on of row i of a and of
 * column i of b; of 16x16x32 eight, of 16x16x4 one (Instruction Set Architecture, "Matrix core
 * instructions"). */
static void gather_line(const emulate_thread *first, bool left, uint32_t line, uint32_t k,
                        const matrix_unit *unit, uint64_t *codes) {
    const uint32_t each = k / QUAD;
    for (uint32_t i = 0; i < k; i++) {
        const emulate_exchange *x = &first[i / each * SIDE_MAX + line].exchange;
        codes[i] = element(left ? x->a : x->b, i % each, unit->factors[0]);
    }
}

/* RDNA3's: lane i, and lane 16 + i once more, has row i of a and column i of b ("Wave Matrix
 * Multiply Accumulate"). */
static void gather_twice(const emulate_thread *first, bool left, uint32_t line, uint32_t k,
                         const matrix_unit *unit, uint64_t *codes) {
    const emulate_exchange *x = &first[line].exchange, *again = &first[SIDE_MAX + line].exchange;
    const uint32_t *words = left ? x->a : x->b;
    const size_t bytes = (size_t)k * (size_t)unit->factors[0]->storage_bits / 8;
    if (memcmp(words, left ? again->a : again->b, bytes) != 0)
        emulate_fail_without(first->engine, STATUS_INVALID,
                             "wmma: the two halves of a wavefront hold other factors");
    for (uint32_t i = 0; i < k; i++)
        codes[i] = element(words, i, unit->factors[0]);
}

/* ---- the product ---- */

typedef struct emulate_factors {
    matrix_factors rows[SIDE_MAX], columns[SIDE_MAX];
} emulate_factors;

static void decode(emulate_factors *f, const emulate_thread *first, uint32_t kind,
                   const matrix_unit *unit) {
    uint32_t m = instructions[kind].m, n = instructions[kind].n, k = instructions[kind].k;
    const holding held = instructions[kind].held;
    uint64_t codes[K_MAX];
    for (uint32_t row = 0; row < m; row++) {
        if (held == HELD_BY_WAVEFRONT)
            gather_line(first, true, row, k, unit, codes);
        else if (held == HELD_TWICE)
            gather_twice(first, true, row, k, unit, codes);
        else
            gather_row(first, m, k, row, unit, codes);
        matrix_factors_decode(&f->rows[row], unit, unit->factors[0], codes, k);
    }
    for (uint32_t column = 0; column < n; column++) {
        if (held == HELD_BY_WAVEFRONT)
            gather_line(first, false, column, k, unit, codes);
        else if (held == HELD_TWICE)
            gather_twice(first, false, column, k, unit, codes);
        else
            gather_column(first, k, column, unit, codes);
        matrix_factors_decode(&f->columns[column], unit, unit->factors[0], codes, k);
    }
}

/* Element i of a lane's of c, and then of d: of a warp two of each eighth row, of a wavefront four
 * of a column (of f64 each fourth one), of RDNA3's each second one of a column. */
static void place_of(uint32_t kind, const matrix_unit *unit, uint32_t lane, uint32_t i,
                     uint32_t *row, uint32_t *column) {
    const holding held = instructions[kind].held;
    *row = i / 2 * ROWS + lane / 4;
    *column = lane % 4 * 2 + i % 2;
    if (held == HELD_BY_WARP)
        return;
    const bool apart = unit->accumulator->storage_bits > 32;
    *row = held == HELD_TWICE ? 2 * i + lane / SIDE_MAX
           : apart            ? i * QUAD + lane / SIDE_MAX
                              : lane / SIDE_MAX * QUAD + i;
    *column = lane % SIDE_MAX;
}

static void multiply(const emulate_factors *f, const emulate_thread *lane, uint32_t index,
                     uint32_t kind, const matrix_unit *unit) {
    const uint32_t count = instructions[kind].m * instructions[kind].n / instructions[kind].lanes;
    for (uint32_t i = 0; i < count; i++) {
        uint32_t row, column;
        place_of(kind, unit, index, i, &row, &column);
        uint64_t c = element(lane->exchange.c, i, unit->accumulator);
        uint64_t d = matrix_unit_dot(unit, &f->rows[row], &f->columns[column], c);
        set_element(lane->exchange.out, i, unit->accumulator, d);
    }
}

static void multiply_all(emulate_thread *first, uint32_t count) {
    emulate *e = first->engine;
    uint32_t kind = first->exchange.how >> EMULATED_SITE_BITS;
    if (kind < EMULATED_MMA_COUNT)
        emulate_need_lanes(first, count, instructions[kind].lanes);
    const matrix_unit *unit = emulate_unit_of(e, kind);
    if (!e->factors) /* a fiber's stack has no room for them */
        e->factors = base_malloc(sizeof *e->factors);
    decode(e->factors, first, kind, unit);
    for (uint32_t lane = 0; lane < count; lane++)
        multiply(e->factors, &first[lane], lane, kind, unit);
}

void emulate_mma(emulated_thread *base, uint32_t kind_and_site, const uint32_t *a,
                 const uint32_t *b, const uint32_t *c, uint32_t *d) {
    emulate_thread *t = emulate_thread_of(base);
    t->exchange.how = kind_and_site;
    t->exchange.a = a;
    t->exchange.b = b;
    t->exchange.c = c;
    t->exchange.out = d;
    emulate_join(t, kind_and_site, multiply_all);
}
