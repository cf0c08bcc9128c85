/* test_tree_class.c - trees of sums that are really added, in each way that has a name, and in one
 * that has none. */
#include "runtime/test/test.h"

#include <stdlib.h>
#include <string.h>

#include "relations/tree_class.h"
#include "relations/tree_text.h"

enum { MOST = 2000 };
typedef float (*sum_fn)(const float *x, int64_t n);

static float forward(const float *x, int64_t n) {
    float sum = 0;
    for (int64_t i = 0; i < n; i++)
        sum += x[i];
    return sum;
}

static float backward(const float *x, int64_t n) {
    float sum = 0;
    for (int64_t i = n; i-- > 0;)
        sum += x[i];
    return sum;
}

static float in_halves(const float *x, int64_t n) {
    return n == 1 ? x[0] : in_halves(x, n / 2) + in_halves(x + n / 2, n - n / 2);
}

static float in_blocks(const float *x, int64_t n) {
    float sum = 0;
    for (int64_t at = 0; at < n; at += 100)
        sum += forward(x + at, n - at < 100 ? n - at : 100);
    return sum;
}

static float in_lanes(const float *x, int64_t n, int64_t lanes, int64_t step) {
    float lane[64] = {0};
    int64_t whole = n - n % step;
    for (int64_t i = 0; i < whole; i++)
        lane[i % lanes] += x[i];
    for (int64_t i = whole; i < n; i++)
        lane[0] += x[i];
    for (int64_t half = lanes / 2; half; half /= 2)
        for (int64_t i = 0; i < half; i++)
            lane[i] += lane[i + half];
    return lane[0];
}

static float in_eight_lanes(const float *x, int64_t n) {
    return in_lanes(x, n, 8, 1);
}

static float in_steps(const float *x, int64_t n) {
    return in_lanes(x, n, 4, 16);
}

/* A library's way: uneven blocks, each in two lanes, a rest behind the first. */
static float in_blocks_of_lanes(const float *x, int64_t n) {
    float sum = 0;
    int64_t at = 0;
    for (int64_t left = n; left > 0; left = n - at) {
        int64_t block = left >= 600 ? 300 : left > 300 ? (left + 1) / 2 : left;
        sum += in_lanes(x + at, block, 2, 8);
        at += block;
    }
    return sum;
}

/* NumPy's pairwise sum. */
static float as_numpy(const float *x, int64_t n) {
    float r[8], sum;
    int64_t i;
    if (n < 8)
        return forward(x, n);
    if (n > 128) {
        int64_t half = n / 2;
        half -= half % 8;
        return as_numpy(x, half) + as_numpy(x + half, n - half);
    }
    for (i = 0; i < 8; i++)
        r[i] = x[i];
    for (; i < n - n % 8; i++)
        r[i % 8] += x[i];
    sum = ((r[0] + r[1]) + (r[2] + r[3])) + ((r[4] + r[5]) + (r[6] + r[7]));
    for (; i < n; i++)
        sum += x[i];
    return sum;
}

/* Odd elements first, then even ones, in one chain. */
static float odd_first(const float *x, int64_t n) {
    float sum = 0;
    for (int64_t i = 1; i < n; i += 2)
        sum += x[i];
    for (int64_t i = 0; i < n; i += 2)
        sum += x[i];
    return sum;
}

typedef struct query_state {
    sum_fn sum;
    int64_t n;
    tree_pairs pairs;
} query_state;

static bool measure(void *context, tree_pair *pairs, size_t count, status *st) {
    query_state *a = context;
    float x[MOST];
    (void)st;
    for (size_t k = 0; k < count; k++) {
        for (int64_t i = 0; i < a->n; i++)
            x[i] = 1;
        x[pairs[k].i] = 0x1p100f;
        x[pairs[k].j] = -0x1p100f;
        pairs[k].size = a->n - (int64_t)a->sum(x, a->n);
        vec_push(&a->pairs, pairs[k]);
    }
    return true;
}

/* Writes sums: whatever is an element is taken by the chain. */
static void write_order(const tree_nodes *nodes, text *out) {
    signed char joins[MOST];
    for (size_t i = 0; i < nodes->count; i++)
        joins[i] = tree_join(&nodes->items[i]);
    tree_text(nodes, joins, false, out);
}

static void each_way_has_its_name(void **state) {
    static const struct {
        sum_fn sum;
        int64_t n;
        const char *name;
        const char *order; /* NULL: it is long */
    } ways[] = {
        {forward, 97, "sequential", "tree(0:97)"},
        {backward, 97, "sequential, from the last", "tree(96:-1:-1)"},
        {in_halves, 97, "pairwise", NULL},
        {in_blocks, 350, "blocks of 100", "tree(0:100+(100:200)+(200:300)+(300:350))"},
        {in_eight_lanes, 203, "8 lanes, halved",
         "tree(0:201:8+(4:197:8)+(2:203:8+(6:199:8))+(1:202:8+(5:198:8)+(3:196:8+(7:200:8))))"},
        {in_steps, 203, "4 lanes, halved, what is left of 16 behind the first",
         "tree(0:193:4+193:203+(2:191:4)+(1:190:4+(3:192:4)))"},
        {in_blocks_of_lanes, 997,
         "blocks of 300, then 300, 199, 198, each in 2 lanes, what is left of 8 behind the first",
         NULL},
        {as_numpy, 700, "pairwise over blocks of 128 in 8 lanes, as NumPy does", NULL},
        {odd_first, 97, "of no class that has a name here", "tree(1:96:2+0:97:2)"},
    };
    (void)state;
    for (size_t i = 0; i < COUNT_OF(ways); i++) {
        query_state a = {ways[i].sum, ways[i].n, {0}};
        status st = STATUS_INIT;
        sha256 digest;
        tree_nodes nodes = {0};
        text name, order;
        text_init(&name);
        text_init(&order);
        assert_true(tree_recover((int32_t)a.n, measure, &a, &nodes, &digest, &st));
        assert_int_equal(nodes.count, a.n - 1);
        write_order(&nodes, &order);
        if (ways[i].order)
            assert_string_equal(order.data, ways[i].order);
        text_release(&order);
        vec_release(&nodes);
        tree_class_of(a.n, &a.pairs, &name);
        assert_string_equal(name.data, ways[i].name);
        text_release(&name);
        vec_release(&a.pairs);
    }
}

int main(void) {
    const struct CMUnitTest tests[] = {cmocka_unit_test(each_way_has_its_name)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
