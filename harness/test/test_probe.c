/* test_probe.c - the order probe: what `order` says against sums that are added on paper, trees
 * from pairs, and code that adds wrong. */
#include "test.h"

#include <stdlib.h>
#include <string.h>

#include "case/backend.h"
#include "exec/backend_device.h"
#include "probe/orders.h"
#include "probe/probe.h"
#include "probe/tree.h"

/* ---- adding on paper: each value is the set of elements below it ---- */

enum { PAPER_MAX = 9001 };

/* group[i]: which value element i is in; meeting sizes are read off while values are added. */
typedef struct paper {
    int32_t n;
    int32_t *root; /* union-find over elements */
    int32_t *size;
    int32_t i, j;
    int64_t met; /* size of the sum in which i and j met */
} paper;

static int32_t root_of(paper *p, int32_t x) {
    while (p->root[x] != x)
        x = p->root[x] = p->root[p->root[x]];
    return x;
}

/* Adds the values that x and y are in; -1 is +0. Returns an element of the sum. */
static int32_t add(paper *p, int32_t x, int32_t y) {
    if (x < 0 || y < 0)
        return x < 0 ? y : x;
    int32_t a = root_of(p, x), b = root_of(p, y);
    bool i_left = root_of(p, p->i) == a, i_right = root_of(p, p->i) == b;
    bool j_left = root_of(p, p->j) == a, j_right = root_of(p, p->j) == b;
    p->root[b] = a;
    p->size[a] += p->size[b];
    if ((i_left && j_right) || (i_right && j_left))
        p->met = p->size[a];
    return a;
}

static int32_t add_chain(paper *p, int32_t first, int32_t last) {
    int32_t sum = -1;
    for (int32_t k = first; k < last; k++)
        sum = add(p, sum, k);
    return sum;
}

static void add_chunks(paper *p) {
    int32_t total = -1;
    for (int32_t first = 0; first < p->n; first += 512)
        total = add(p, total, add_chain(p, first, first + 512 < p->n ? first + 512 : p->n));
}

/* Adds of each pair the odd one first, onto what is there. */
static void add_pairs(paper *p) {
    int32_t total = -1;
    for (int32_t first = 0; first < p->n; first += 512) {
        int32_t sum = -1, end = first + 512 < p->n ? first + 512 : p->n;
        for (int32_t k = first; k < end; k += 2) {
            sum = k + 1 < end ? add(p, sum, k + 1) : sum;
            sum = add(p, sum, k);
        }
        total = add(p, total, sum);
    }
}

static void add_lanes(paper *p) {
    static int32_t values[PAPER_MAX];
    int32_t count = p->n;
    for (int32_t k = 0; k < count; k++)
        values[k] = k;
    while (count > 1) {
        int32_t blocks = 0;
        for (int32_t first = 0; first < count; first += 4096, blocks++) {
            int32_t lanes[64];
            memset(lanes, -1, sizeof lanes);
            for (int32_t k = first; k < count && k < first + 4096; k++)
                lanes[(k - first) % 64] = add(p, lanes[(k - first) % 64], values[k]);
            for (int w = 32; w > 0; w /= 2)
                for (int lane = 0; lane < w; lane++)
                    lanes[lane] = add(p, lanes[lane], lanes[lane + w]);
            values[blocks] = lanes[0];
        }
        count = blocks;
    }
}

static int64_t met_on_paper(const char *order, int32_t n, int32_t i, int32_t j) {
    static int32_t root[PAPER_MAX], size[PAPER_MAX];
    paper p = {n, root, size, i, j, 0};
    for (int32_t k = 0; k < n; k++) {
        root[k] = k;
        size[k] = 1;
    }
    if (strcmp(order, "lanes64") == 0)
        add_lanes(&p);
    else if (strcmp(order, "chunk512") == 0)
        add_chunks(&p);
    else if (strcmp(order, "pairs512") == 0)
        add_pairs(&p);
    else
        add_chain(&p, 0, n);
    return p.met;
}

/* ---- orders ---- */

static void expect_meeting(const char *order, int32_t n, int32_t i, int32_t j) {
    int64_t said = 0, met = met_on_paper(order, n, i, j);
    assert_true(order_meeting_size(order, n, i, j, &said));
    if (said != met)
        fail_msg("%s of %d: %d and %d meet in %lld on paper, %lld is said", order, n, i, j,
                 (long long)met, (long long)said);
}

static void test_orders_are_those_on_paper(void **state) {
    static const char *const orders[] = {"seq", "chunk512", "lanes64", "pairs512"};
    static const int32_t lengths[] = {2, 3, 63, 64, 65, 127, 130, 512, 513, 1031, 4096, 4097, 9001};
    (void)state;
    uint64_t random = 1;
    for (size_t o = 0; o < sizeof orders / sizeof *orders; o++)
        for (size_t l = 0; l < sizeof lengths / sizeof *lengths; l++)
            for (int k = 0; k < 60; k++) {
                random = random * UINT64_C(6364136223846793005) + 1442695040888963407u;
                int32_t n = lengths[l], i = (int32_t)((random >> 33) % (uint64_t)n);
                int32_t j = (int32_t)((random >> 13) % (uint64_t)n);
                if (i != j)
                    expect_meeting(orders[o], n, i, j);
            }
    int64_t size;
    assert_false(order_meeting_size("pairwise", 4, 0, 1, &size));
    assert_true(order_meeting_size("exact", 9001, 3, 8192, &size) && size == 2);
    assert_true(order_is_in_no_tree("exact") && !order_is_in_no_tree("lanes64"));
}

/* ---- trees ---- */

typedef struct said {
    const char *order;
    int32_t n;
    int64_t pairs;
    bool lies;
} said;

static bool ask_order(void *context, tree_pair *pairs, size_t count, status *st) {
    said *s = context;
    (void)st;
    for (size_t k = 0; k < count; k++) {
        assert_true(order_meeting_size(s->order, s->n, pairs[k].i, pairs[k].j, &pairs[k].size));
        if (s->lies && pairs[k].i == 0 && pairs[k].j == 1)
            pairs[k].size = 3;
    }
    s->pairs += (int64_t)count;
    return true;
}

static sha256 tree_of(const char *order, int32_t n, int64_t *pairs) {
    status st = STATUS_INIT;
    sha256 digest;
    said s = {order, n, 0, false};
    if (!tree_recover(n, ask_order, &s, NULL, &digest, &st))
        fail_msg("%s of %d: %s", order, n, st.message);
    *pairs = s.pairs;
    return digest;
}

static void test_trees_are_recovered(void **state) {
    (void)state;
    int64_t pairs;
    sha256 chain = tree_of("seq", 1031, &pairs), chunks;
    assert_int_equal(pairs, 1030);
    chunks = tree_of("chunk512", 1031, &pairs);
    assert_memory_not_equal(&chain, &chunks, sizeof chain);
    chunks = tree_of("chunk512", 512, &pairs);
    chain = tree_of("seq", 512, &pairs);
    assert_memory_equal(&chain, &chunks, sizeof chain); /* one chunk is one chain */
    tree_of("lanes64", 9001, &pairs);
    assert_true(pairs < 9001 * 16);
}

static void test_what_is_no_tree(void **state) {
    (void)state;
    status st = STATUS_INIT;
    sha256 digest;
    said s = {"seq", 5, 0, true};
    assert_false(tree_recover(5, ask_order, &s, NULL, &digest, &st));
    assert_non_null(strstr(st.message, "meet among 3 elements, but 2 lie below them"));
}

/* ---- compiled code ---- */

static bool build_cut(void *context, compiler_instance *cut, compiler_artifact *out, status *st) {
    return compiler_build(cut, context, out, st);
}

static void expect_probe(const char *path, const char *kernel, const char *name, const char *fault,
                         bool holds) {
    case_context s = {0};
    status st = STATUS_INIT;
    probe_result found;
    compiler_options options = {.threads = 1, .fault = fault};
    case_context_request request = {.path = path, .kernel = kernel, .case_name = name, .seed = 1};
    uint32_t device = 0;
    assert_true(case_context_open(&s, &request, &st));
    if (!backend_device(&backend_table[BACKEND_CPU], NULL, &device, &st))
        skip();
    const probe_request probe = {.context = &s,
                                 .build = build_cut,
                                 .build_context = &options,
                                 .device = device,
                                 .threads = 1};
    if (!probe_orders(&probe, &found, &st))
        fail_msg("%s", st.message);
    if (found.holds != holds)
        fail_msg("%s/%s with %s: %s", kernel, name, fault ? fault : "no fault", found.why.data);
    assert_true(!holds || found.accumulations > 0);
    assert_true(!holds || strlen(found.digest) == 64);
    probe_result_release(&found);
    case_context_close(&s);
}

static void test_compiled_code_adds_as_it_says(void **state) {
    (void)state;
    expect_probe("corpus/matmul/matmul_f32.tsr", "matmul_f32", "chunks", NULL, true);
    expect_probe("corpus/matmul/matmul_f32.tsr", "matmul_f32_seq", "chunks", NULL, true);
    expect_probe("corpus/normalisation/softmax.tsr", "softmax_rows", "prime", NULL, true);
    expect_probe("corpus/reduction/sum.tsr", "sum_rows", "blocks", NULL, true);
    expect_probe("corpus/reduction/exact.tsr", "exact_rows", "several", NULL, true);
    expect_probe("corpus/reduction/exact.tsr", "exact_columns", "prime", NULL, true);
}

static void test_code_that_adds_wrong_is_found(void **state) {
    (void)state;
    expect_probe("corpus/matmul/matmul_f32.tsr", "matmul_f32", "chunks", "drop-last-k", false);
    expect_probe("corpus/reduction/sum.tsr", "sum_rows", "blocks", "drop-last-k", false);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_orders_are_those_on_paper),
        cmocka_unit_test(test_trees_are_recovered),
        cmocka_unit_test(test_what_is_no_tree),
        cmocka_unit_test(test_compiled_code_adds_as_it_says),
        cmocka_unit_test(test_code_that_adds_wrong_is_found),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
