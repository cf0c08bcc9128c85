/* emulate_subgroup.c - what the lanes of a subgroup do together: shuffles and ldmatrix; and what
 * each has of the GPU's own functions. */
#include <float.h>
#include <math.h>
#include <string.h>

#include "device/emulate/emulate_parts.h"

enum { WARP = 32 };

void emulate_need_lanes(const emulate_thread *first, uint32_t count, uint32_t lanes) {
    if (count == lanes && first->engine->subgroup == lanes)
        return;
    emulate_fail_without(first->engine, STATUS_INVALID,
                         lanes == WARP
                             ? "ldmatrix and mma are for subgroups of 32 threads, and all "
                               "of them; launch a multiple of 32 threads"
                             : "mfma is for subgroups of 64 threads, and all of them; "
                               "launch a multiple of 64 threads");
}

/* ---- functions ---- */

/* Rounded once, which hardware need not do: its last bits are its own. */
float emulate_exp2(emulated_thread *base, float x) {
    (void)base;
    float y = (float)exp2((double)x);
    return y < FLT_MIN ? 0.0f : y;
}

/* ---- shuffle ---- */

_Noreturn static void fail_lane(const emulate_thread *t, uint32_t lane, uint32_t count) {
    const emulate_finding f = {.fault = EMULATE_UNINITIALISED,
                               .phase = t->engine->phase,
                               .now = {EMULATE_JOINS, t->base.workgroup, t->base.thread, t->site},
                               .memory = EMULATE_NOWHERE,
                               .offset = lane,
                               .memory_bytes = count,
                               .bytes = sizeof(uint32_t)};
    emulate_fail(t->engine, &f);
}

static void shuffle_all(emulate_thread *first, uint32_t count) {
    uint32_t results[64];
    for (uint32_t i = 0; i < count; i++) {
        const emulate_exchange *x = &first[i].exchange;
        uint32_t width = x->how >> EMULATED_SITE_BITS;
        width = width ? width : first->engine->subgroup;
        uint32_t lane = (i & ~(width - 1)) | (x->lane & (width - 1));
        if (lane >= count)
            fail_lane(&first[i], lane, count);
        results[i] = first[lane].exchange.value;
    }
    for (uint32_t i = 0; i < count; i++)
        first[i].exchange.value = results[i];
}

uint32_t emulate_shuffle(emulated_thread *base, uint32_t value, uint32_t lane,
                         uint32_t width_and_site) {
    emulate_thread *t = emulate_thread_of(base);
    t->exchange.value = value;
    t->exchange.lane = lane;
    t->exchange.how = width_and_site;
    emulate_join(t, width_and_site, shuffle_all);
    return t->exchange.value;
}

/* ---- ldmatrix ---- */

/* Each lane reads what it gets, so it is judged in its name. */
static void read_part(emulate_thread *lane, const void *row, uint32_t at, void *out,
                      uint32_t bytes) {
    const unsigned char *address = (const unsigned char *)row + at;
    emulate_access(&lane->base, address, bytes, lane->site | EMULATED_SHARED);
    memcpy(out, address, bytes);
}

/* Loads from a matrix whose rows lanes `rows` to rows + 7 gave two elements of row l / 4, or where
 * it is transposed of column l / 4. */
static void load_one(emulate_thread *lane, const emulate_thread *rows, uint32_t index,
                     bool transposed, uint32_t *out) {
    uint16_t halves[2];
    if (!transposed) {
        read_part(lane, rows[index / 4].exchange.row, index % 4 * 4, out, sizeof *out);
        return;
    }
    for (uint32_t i = 0; i < 2; i++)
        read_part(lane, rows[index % 4 * 2 + i].exchange.row, index / 4 * 2, &halves[i],
                  sizeof halves[i]);
    memcpy(out, halves, sizeof *out);
}

static void load_all(emulate_thread *first, uint32_t count) {
    uint32_t how = first->exchange.how;
    uint32_t matrices = how >> EMULATED_SITE_BITS & 7;
    emulate_need_lanes(first, count, WARP);
    for (uint32_t lane = 0; lane < count; lane++)
        for (uint32_t m = 0; m < matrices; m++)
            load_one(&first[lane], first + (size_t)m * 8, lane, how & EMULATED_TRANSPOSED,
                     &first[lane].exchange.out[m]);
}

void emulate_load_matrix(emulated_thread *base, const void *shared_row,
                         uint32_t count_transposed_and_site, uint32_t *out) {
    emulate_thread *t = emulate_thread_of(base);
    uint32_t matrices = count_transposed_and_site >> EMULATED_SITE_BITS & 7;
    if (matrices != 1 && matrices != 2 && matrices != 4)
        emulate_fail_without(t->engine, STATUS_CORRUPT,
                             "the image loads other than 1, 2 or 4 matrices");
    t->exchange.row = shared_row;
    t->exchange.how = count_transposed_and_site;
    t->exchange.out = out;
    emulate_join(t, count_transposed_and_site, load_all);
}
