/* test_dims.c - dimensions solved from the shapes of arrays: what is found, and what is refused. */
#include <string.h>

#include "case/dims_from_arrays.h"

#include "test/test.h"

enum { ARRAYS_MAX = 3 };

/* Shapes as formulas, all of them; lengths beside them. */
typedef struct shape_case {
    const char *names[4]; /* of the kernel's dimensions */
    const char *formulas[ARRAYS_MAX][3];
    int64_t lengths[ARRAYS_MAX][3];
    ir_binding given[2];
    int64_t values[4]; /* of the names; -1 in the first: refused */
    const char *told;  /* what the refusal must say */
} shape_case;

static const shape_case table[] = {
    {{"M", "N"}, {{"M", "N"}}, {{3, 5}}, {{0}}, {3, 5}, NULL},
    {{"N"}, {{"2*N"}}, {{14}}, {{0}}, {7}, NULL},
    {{"M"}, {{"M + 1"}}, {{9}}, {{0}}, {8}, NULL},
    {{"M"}, {{"M - 3"}}, {{0}}, {{0}}, {3}, NULL},
    {{"M"}, {{"-M + 10"}}, {{4}}, {{0}}, {6}, NULL},
    {{"N"}, {{"2*N + 1"}}, {{1}}, {{0}}, {0}, NULL},
    {{"N"}, {{"3*(N + 2) - N"}}, {{16}}, {{0}}, {5}, NULL},
    /* Found from another array, before or behind it, or from what is given. */
    {{"G", "R"}, {{"G*R"}, {"G"}}, {{12}, {4}}, {{0}}, {4, 3}, NULL},
    {{"G", "R"}, {{"G"}, {"G*R + R"}}, {{4}, {15}}, {{0}}, {4, 3}, NULL},
    {{"G", "R"}, {{"G*R"}}, {{12}}, {{"R", 6}}, {2, 6}, NULL},
    {{"A", "B", "C"}, {{"A*B*C"}, {"B*C"}, {"C"}}, {{24}, {6}, {2}}, {{0}}, {4, 3, 2}, NULL},
    {{"N"}, {{"floordiv(N, 2)"}, {"N"}}, {{3}, {7}}, {{0}}, {7}, NULL},
    {{"N"}, {{"floordiv(N, 2)", "N*N"}}, {{3, 49}}, {{"N", 7}}, {7}, NULL},
    {{"G", "N"}, {{"floordiv(G, 2)*N", "G"}}, {{15, 7}}, {{0}}, {7, 5}, NULL},
    {{"M", "P"}, {{"M"}}, {{3}}, {{"P", 6}}, {3, 6}, NULL},
    /* Found from a formula that can only grow. */
    {{"N"}, {{"N*N"}}, {{49}}, {{0}}, {7}, NULL},
    {{"N"}, {{"N*N"}}, {{0}}, {{0}}, {0}, NULL},
    {{"N"}, {{"N*N*N*N"}}, {{INT64_C(1) << 40}}, {{0}}, {1024}, NULL},
    {{"G", "N"}, {{"G*N*N + N", "G"}}, {{78, 2}}, {{0}}, {2, 6}, NULL},
    {{"N"}, {{"floordiv(N, 2)", "floordiv(N + 1, 2)"}}, {{3, 4}}, {{0}}, {7}, NULL},
    {{"N"},
     {{"floordiv(N, 2)", "floordiv(N, 3)"}, {"N*N"}},
     {{4, 4}, {1}},
     {{0}},
     {-1},
     "no N of 8 to 9 makes floordiv(N, 3) = 4"},
    {{"N"},
     {{"floordiv(N, 6)", "floordiv(N + 4, 6)"}, {"floordiv(N + 1, 6)"}},
     {{1, 2}, {2}},
     {{0}},
     {11},
     NULL},
    {{"N"}, {{"floordiv(N, 2)"}}, {{3}}, {{"N", 7}}, {7}, NULL},
    /* Shapes that no value makes true. */
    {{"N"}, {{"2*N"}}, {{7}}, {{0}}, {-1}, "no N makes 2*N = 7"},
    {{"N"}, {{"N + 1"}}, {{0}}, {{0}}, {-1}, "no N makes N + 1 = 0"},
    {{"G", "R"}, {{"G*R"}, {"G"}}, {{13}, {4}}, {{0}}, {-1}, "no R makes G*R = 13"},
    {{"N"}, {{"2*N", "N"}}, {{6, 4}}, {{0}}, {-1}, "axis 1 must be N = 3"},
    {{"N"}, {{"N"}}, {{6}}, {{"N", 5}}, {-1}, "axis 0 must be N = 5, by --dims"},
    {{"N"}, {{"N"}, {"N - 6"}}, {{5}, {0}}, {{0}}, {-1}, "N - 6 = -1"},
    {{"M", "N"}, {{"M"}}, {{3}}, {{"K", 5}}, {-1}, "has no dimension K; it has M, N"},
    {{"N"}, {{"N*N"}}, {{50}}, {{0}}, {-1}, "no N makes N*N = 50"},
    {{"N"}, {{"2*floordiv(N, 2)"}}, {{7}}, {{0}}, {-1}, "no N makes 2*floordiv(N, 2) = 7"},
    {{"N"},
     {{"N*N", "floordiv(N, 2)"}},
     {{49, 4}},
     {{0}},
     {-1},
     "axis 1 must be floordiv(N, 2) = 3"},
    {{"N"}, {{"floordiv(N, 2)"}}, {{3}}, {{"N", 8}}, {-1}, "= 4, by --dims"},
    {{"N"}, {{"N*9223372036854775807 - N"}}, {{5}}, {{0}}, {-1}, "--dims N=..."},
    /* Names that nothing tells, or not to one value. */
    {{"N"},
     {{"floordiv(N, 2)"}},
     {{3}},
     {{0}},
     {-1},
     "[floordiv(N, 2)], but the array is [3]: N may be 6 or 7: say which, as in --dims N=6"},
    {{"N"}, {{"floordiv(N, 4)", "floordiv(N + 1, 4)"}}, {{3, 3}}, {{0}}, {-1}, "N may be 12 to 14"},
    {{"N", "P"}, {{"floordiv(N, 2)"}}, {{3}}, {{0}}, {-1}, "as in --dims N=6,P=..."},
    {{"N"}, {{"N*N - N"}}, {{0}}, {{0}}, {-1}, "--dims N=..."},
    {{"N"}, {{"floordiv(12, N)"}}, {{4}}, {{0}}, {-1}, "--dims N=..."},
    {{"N"}, {{"floordiv(N, 2)*floordiv(N - 8, 2)"}}, {{0}}, {{0}}, {-1}, "--dims N=..."},
    {{"A", "B"}, {{"A + B"}}, {{7}}, {{0}}, {-1}, "--dims A=...,B=..."},
    {{"G", "R"}, {{"G*R", "G"}}, {{0, 0}}, {{0}}, {-1}, "--dims R=..."},
    {{"M", "P"}, {{"M"}}, {{3}}, {{0}}, {-1}, "no array of kernel k has dimension P"},
};

static uint32_t count_names(const char *const *names) {
    uint32_t count = 0;
    while (count < 4 && names[count])
        count++;
    return count;
}

static void check(const shape_case *c) {
    shaped_array arrays[ARRAYS_MAX];
    tensor tensors[ARRAYS_MAX] = {0};
    int64_t values[4] = {0};
    status st = STATUS_INIT;
    uint32_t count = 0;
    for (; count < ARRAYS_MAX && c->formulas[count][0]; count++) {
        arrays[count] = (shaped_array){.name = "x", .array = &tensors[count]};
        for (int axis = 0; axis < 3 && c->formulas[count][axis]; axis++) {
            arrays[count].formulas[axis] = c->formulas[count][axis];
            tensors[count].dims[axis] = c->lengths[count][axis];
            tensors[count].rank = ++arrays[count].rank;
        }
    }
    dims_request request = {.kernel = "k",
                            .names = c->names,
                            .name_count = count_names(c->names),
                            .arrays = arrays,
                            .array_count = count,
                            .given = {c->given, c->given[0].name ? 1 : 0},
                            .given_by = "--dims"};
    bool ok = dims_from_arrays(&request, values, &st);
    if (ok != (c->values[0] >= 0))
        fail_msg("%s: %s", c->formulas[0][0], ok ? "it is solved" : st.message);
    for (uint32_t i = 0; ok && i < request.name_count; i++)
        if (values[i] != c->values[i])
            fail_msg("%s: %s is %lld", c->formulas[0][0], c->names[i], (long long)values[i]);
    if (!ok && !strstr(st.message, c->told))
        fail_msg("%s: it says \"%s\"", c->formulas[0][0], st.message);
}

static void test_table(void **state) {
    (void)state;
    for (size_t i = 0; i < sizeof table / sizeof *table; i++)
        check(&table[i]);
}

static void test_ranks(void **state) {
    (void)state;
    const char *const names[] = {"N"};
    tensor t = {.rank = 2, .dims = {3, 4}};
    shaped_array a = {.name = "x", .rank = 1, .formulas = {"N"}, .array = &t};
    int64_t value;
    status st = STATUS_INIT;
    dims_request request = {
        .kernel = "k", .names = names, .name_count = 1, .arrays = &a, .array_count = 1};
    assert_false(dims_from_arrays(&request, &value, &st));
    assert_int_equal(st.code, STATUS_INVALID);
}

int main(void) {
    const struct CMUnitTest tests[] = {cmocka_unit_test(test_table), cmocka_unit_test(test_ranks)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
