/* tree_class.c - each class says what size a pair meets in; a tree is of the class that agrees in
 * all pairs. */
#include "relations/tree_class.h"

#include <stdlib.h>

#include "base/arena.h"

enum { LANES_MOST = 256, BLOCKS_SHOWN = 6 };

/* A class with its parameters. */
typedef struct model {
    int64_t (*meeting)(const struct model *m, int64_t n, int64_t i, int64_t j);
    int64_t lanes, unroll; /* unroll 0: there are no steps */
    size_t way;            /* of joining lanes */
    const int64_t *ends;   /* of blocks, ascending; the last is n */
    size_t end_count;
} model;

static bool agrees(const model *m, int64_t n, const tree_pairs *pairs) {
    for (size_t k = 0; k < pairs->count; k++)
        if (m->meeting(m, n, pairs->items[k].i, pairs->items[k].j) != pairs->items[k].size)
            return false;
    return true;
}

static int64_t greater(int64_t a, int64_t b) {
    return a > b ? a : b;
}

/* ---- chains ---- */

static int64_t in_sequence(const model *m, int64_t n, int64_t i, int64_t j) {
    (void)m, (void)n;
    return greater(i, j) + 1;
}

static int64_t from_the_last(const model *m, int64_t n, int64_t i, int64_t j) {
    return in_sequence(m, n, n - 1 - i, n - 1 - j);
}

/* ---- lanes ---- */

/* Elements that fill no whole step of `unroll` follow in lane 0. */
static int64_t whole_steps(const model *m, int64_t n) {
    return m->unroll ? n - n % m->unroll : n;
}

static int64_t lane_of(const model *m, int64_t n, int64_t i) {
    return i < whole_steps(m, n) ? i % m->lanes : 0;
}

/* Two of one lane. */
static int64_t in_one_lane(const model *m, int64_t n, int64_t i, int64_t j) {
    int64_t whole = whole_steps(m, n), last = greater(i, j);
    return last < whole ? last / m->lanes + 1 : whole / m->lanes + last - whole + 1;
}

static int64_t in_lane(const model *m, int64_t n, int64_t lane) {
    int64_t whole = whole_steps(m, n);
    return (whole > lane ? (whole - lane + m->lanes - 1) / m->lanes : 0) + (lane ? 0 : n - whole);
}

/* Lane r joins lane r + half: what is left of a pair is the same number modulo a smaller power. */
static int64_t halved(const model *m, int64_t n, int64_t i, int64_t j) {
    int64_t a = lane_of(m, n, i), b = lane_of(m, n, j), w = m->lanes, size = 0;
    if (a == b)
        return in_one_lane(m, n, i, j);
    while (a % w != b % w)
        w /= 2;
    for (int64_t lane = a % w; lane < m->lanes; lane += w)
        size += in_lane(m, n, lane);
    return size;
}

/* Lane 2r joins lane 2r + 1. */
static int64_t neighbours(const model *m, int64_t n, int64_t i, int64_t j) {
    int64_t a = lane_of(m, n, i), b = lane_of(m, n, j), group = 1, size = 0;
    if (a == b)
        return in_one_lane(m, n, i, j);
    while (a / group != b / group)
        group *= 2;
    for (int64_t lane = a / group * group; lane < (a / group + 1) * group; lane++)
        size += in_lane(m, n, lane);
    return size;
}

/* Lanes are added up one after the other. */
static int64_t one_by_one(const model *m, int64_t n, int64_t i, int64_t j) {
    int64_t a = lane_of(m, n, i), b = lane_of(m, n, j), size = 0;
    if (a == b)
        return in_one_lane(m, n, i, j);
    for (int64_t lane = 0; lane <= greater(a, b); lane++)
        size += in_lane(m, n, lane);
    return size;
}

/* The ways to join lanes, each with and without what is left of steps. */
enum { WAYS = 3, STEPS_MOST = 64 };
static const struct {
    int64_t (*meeting)(const model *, int64_t, int64_t, int64_t);
    const char *words;
} ways[WAYS] = {
    {halved, "halved"}, {neighbours, "neighbours joined"}, {one_by_one, "added in turn"}};

static void describe_lanes(const model *m, size_t way, text *out) {
    text_printf(out, "%lld lanes", (long long)m->lanes);
    if (m->lanes > 2)
        text_printf(out, ", %s", ways[way].words);
    if (m->unroll)
        text_printf(out, ", what is left of %lld behind the first", (long long)m->unroll);
}

/* ---- chains of chains ---- */

static size_t block_of(const model *m, int64_t i) {
    size_t block = 0;
    while (m->ends[block] <= i)
        block++;
    return block;
}

static int64_t in_blocks(const model *m, int64_t n, int64_t i, int64_t j) {
    size_t a = block_of(m, i), b = block_of(m, j);
    (void)n;
    if (a != b)
        return m->ends[a > b ? a : b];
    int64_t first = a ? m->ends[a - 1] : 0;
    return ways[m->way].meeting(m, m->ends[a] - first, i - first, j - first);
}

/* In how many elements each meets the first one; 0: it was not asked. */
static int64_t *sizes_of_first(int64_t n, const tree_pairs *pairs) {
    int64_t *size_of = base_calloc((size_t)n + 1, sizeof *size_of);
    for (size_t k = 0; k < pairs->count; k++)
        if (pairs->items[k].i == 0)
            size_of[pairs->items[k].j] = pairs->items[k].size;
    return size_of;
}

/* Blocks of one chain each: elements that meet the first one in as many as there are up to the last
 * of them end a block. */
static size_t ends_of_chains(int64_t n, const int64_t *size_of, int64_t *ends) {
    size_t count = 0;
    int64_t at = 1;
    while (at < n && size_of[at] == at + 1)
        at++;
    ends[count++] = at;
    while (at < n && size_of[at] > at && size_of[at] <= n)
        ends[count++] = at = size_of[at];
    return at == n ? count : 0;
}

/* Blocks of several lanes: an end is where all before it are below one addition, and none behind
 * it. */
static size_t ends_of_lanes(int64_t n, const int64_t *size_of, int64_t *ends) {
    int64_t *least_behind = base_malloc((size_t)(n + 1) * sizeof *least_behind);
    int64_t greatest = 1;
    size_t count = 0;
    least_behind[n] = INT64_MAX;
    for (int64_t j = n - 1; j > 0; j--)
        least_behind[j] = size_of[j] < least_behind[j + 1] ? size_of[j] : least_behind[j + 1];
    for (int64_t end = 2; end <= n; end++) {
        greatest = greater(greatest, size_of[end - 1]);
        if (greatest == end && least_behind[end] > end)
            ends[count++] = end;
    }
    free(least_behind);
    return count && ends[count - 1] == n ? count : 0;
}

static void describe_blocks(const model *m, text *out) {
    const int64_t *ends = m->ends;
    bool even = ends[m->end_count - 1] - ends[m->end_count - 2] <= ends[0];
    for (size_t i = 1; i + 1 < m->end_count; i++)
        even &= ends[i] - ends[i - 1] == ends[0];
    text_printf(out, "blocks of %lld", (long long)ends[0]);
    for (size_t i = 1; i < m->end_count && !even && i <= BLOCKS_SHOWN; i++)
        text_printf(out, "%s%lld", i == 1 ? ", then " : ", ", (long long)(ends[i] - ends[i - 1]));
    if (m->lanes > 1) {
        text_append(out, ", each in ");
        describe_lanes(m, m->way, out);
    }
}

/* The first number of lanes, way and length of steps with which the model agrees. */
static bool find_lanes(model *m, int64_t n, const tree_pairs *pairs) {
    int64_t (*const blocks)(const model *, int64_t, int64_t, int64_t) = m->meeting;
    for (m->lanes = 2; m->lanes <= LANES_MOST && m->lanes < n; m->lanes *= 2)
        for (m->way = 0; m->way < WAYS; m->way++)
            for (m->unroll = 0; m->unroll <= STEPS_MOST;
                 m->unroll = m->unroll ? 2 * m->unroll : m->lanes) {
                if (!blocks)
                    m->meeting = ways[m->way].meeting;
                if (agrees(m, n, pairs))
                    return true;
            }
    return false;
}

static bool try_blocks(int64_t n, const tree_pairs *pairs, text *out) {
    int64_t *ends = base_calloc((size_t)n + 1, sizeof *ends), *size_of = sizes_of_first(n, pairs);
    model m = {.meeting = in_blocks, .lanes = 1, .ends = ends};
    m.end_count = ends_of_chains(n, size_of, ends);
    bool ok = m.end_count > 1 && agrees(&m, n, pairs);
    if (!ok) {
        m.end_count = ends_of_lanes(n, size_of, ends);
        ok = m.end_count > 1 && find_lanes(&m, n, pairs);
    }
    if (ok)
        describe_blocks(&m, out);
    free(size_of);
    free(ends);
    return ok;
}

static bool try_lanes(int64_t n, const tree_pairs *pairs, text *out) {
    model m = {0};
    if (!find_lanes(&m, n, pairs))
        return false;
    describe_lanes(&m, m.way, out);
    return true;
}

/* ---- pairwise ---- */

/* Halves, the first the smaller where the number is odd. */
static int64_t pairwise(const model *m, int64_t n, int64_t i, int64_t j) {
    int64_t first = 0, count = n;
    (void)m;
    for (;;) {
        int64_t half = count / 2;
        bool a = i < first + half, b = j < first + half;
        if (a != b)
            return count;
        first += a ? 0 : half;
        count = a ? half : count - half;
    }
}

/* NumPy's: halves at multiples of 8 down to blocks of at most 128, in which 8 lanes are joined as
 * ((0+1)+(2+3))+((4+5)+(6+7)), and what is left over follows. */
static int64_t in_numpy_block(int64_t n, int64_t i, int64_t j) {
    int64_t full = n - n % 8;
    const model m = {.lanes = 8};
    if (n < 8)
        return greater(i, j) + 1;
    if (i >= full || j >= full)
        return greater(i, j) + 1;
    return neighbours(&m, full, i, j);
}

static int64_t numpy_pairwise(const model *m, int64_t n, int64_t i, int64_t j) {
    int64_t first = 0, count = n;
    (void)m;
    while (count > 128) {
        int64_t half = count / 2;
        half -= half % 8;
        bool a = i < first + half, b = j < first + half;
        if (a != b)
            return count;
        first += a ? 0 : half;
        count = a ? half : count - half;
    }
    return in_numpy_block(count, i - first, j - first);
}

void tree_class_of(int64_t n, const tree_pairs *pairs, text *out) {
    static const struct {
        int64_t (*meeting)(const model *, int64_t, int64_t, int64_t);
        const char *words;
    } plain[] = {{in_sequence, "sequential"},
                 {from_the_last, "sequential, from the last"},
                 {pairwise, "pairwise"},
                 {numpy_pairwise, "pairwise over blocks of 128 in 8 lanes, as NumPy does"}};
    for (size_t k = 0; k < sizeof plain / sizeof *plain; k++) {
        model m = {.meeting = plain[k].meeting};
        if (agrees(&m, n, pairs)) {
            text_append(out, plain[k].words);
            return;
        }
    }
    if (!try_blocks(n, pairs, out) && !try_lanes(n, pairs, out))
        text_append(out, "of no class that has a name here");
}
