/* test_unit_order.c - orders that are what a matrix unit computes: the bits that the interpreter
 * gives in them, against one instruction after the other; bounds that hold; what no unit takes. */
#include "runtime/test/test.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/philox.h"
#include "ops/orders.h"
#include "ops/reductions.h"
#include "ops/unit_order.h"
#include "tessera/compiler.h"
#include "tile/mma.h"

enum { M = 3, N = 35, K = 149 };

/* The type of a unit's factors; DTYPE_NONE: the unit is no order. */
static dtype factor_of(const matrix_unit *unit) {
    for (int t = DTYPE_NONE + 1; t < DTYPE_COUNT; t++)
        if (unit_order_takes(unit, (dtype)t))
            return (dtype)t;
    return DTYPE_NONE;
}

/* ---- inputs ---- */

/* Near 1; of many magnitudes; products around the least normal accumulator, or factors around their
 * type's; whole numbers. */
typedef enum values { NEAR_ONE, WIDE, LOW, WHOLE, VALUES_COUNT } values;

static double drawn(values kind, dtype type, uint64_t i, uint32_t parameter) {
    philox_words w = philox_element(7, i, parameter, 0), v = philox_element(8, i, parameter, 0);
    const dtype_format *f = dtype_format_of(type);
    double x = (double)philox_normal(w, 0, 1);
    if (kind == WHOLE)
        return philox_integer(w, -4, 5);
    if (kind == WIDE)
        return ldexp(x, philox_integer(v, -12, 4));
    if (kind == LOW)
        return ldexp(x, f->exponent_bits == 8 ? -63 : f->exponent_bits == 11 ? -511 : -14);
    return x;
}

static void fill(tensor *t, values kind, uint32_t parameter) {
    int64_t count = tensor_count(t);
    for (int64_t i = 0; i < count; i++)
        dtype_store(t->type, t->data, (size_t)i, drawn(kind, t->type, (uint64_t)i, parameter));
}

/* ---- kernels ---- */

typedef struct computed {
    tensor out, reference, bound;
    bool whole;
} computed;

static void computed_release(computed *c) {
    tensor_release(&c->out);
    tensor_release(&c->reference);
    tensor_release(&c->bound);
}

/* f(x, y), whose parameters and result `signature` says. */
static computed compute(const char *signature, const char *expression, const tensor *inputs) {
    char source[512];
    computed c = {.whole = false};
    status st = STATUS_INIT;
    text said;
    text_init(&said);
    snprintf(source, sizeof source, "@kernel\ndef f(%s:\n    return %s\n", signature, expression);
    compiler_source *s = compiler_open_text("test.tsr", source, false, &said);
    compiler_instance *instance =
        compiler_error_count(s) ? NULL
                                : compiler_instance_open(s, compiler_kernel_at(s, 0), NULL, &said);
    const compiler_references references = {
        .values = &c.reference, .bounds = &c.bound, .whole = &c.whole};
    if (!instance)
        fail_msg("%s: %s", expression, said.data);
    assert_int_equal(compiler_kernel_at(s, 0)->interpreted, strstr(expression, "order=") != NULL);
    if (!compiler_interpret(instance, inputs, &c.out, &st) ||
        !compiler_reference(instance, inputs, &references, &st))
        fail_msg("%s: %s", expression, st.message);
    compiler_instance_free(instance);
    compiler_close(s);
    text_release(&said);
    return c;
}

typedef struct product {
    const matrix_unit *unit;
    dtype type, wide;
    int64_t k;
    tensor inputs[2]; /* [M, k] and [k, N] */
} product;

static product product_of(const matrix_unit *unit, values kind, int64_t k) {
    product p = {.unit = unit, .type = factor_of(unit), .k = k};
    const int64_t dims[2][2] = {{M, k}, {k, N}};
    status st = STATUS_INIT;
    p.wide = unit_order_accumulator(unit);
    for (uint32_t i = 0; i < 2; i++) {
        assert_true(tensor_init(&p.inputs[i], p.type, 2, dims[i], &st));
        fill(&p.inputs[i], kind, i);
    }
    return p;
}

static void product_release(product *p) {
    for (int i = 0; i < 2; i++)
        tensor_release(&p->inputs[i]);
}

static computed compute_expression(const product *p, const char *expression) {
    char signature[256];
    snprintf(signature, sizeof signature,
             "x: Tensor[%d, %d, %s], y: Tensor[%d, %d, %s]) -> Tensor[%d, %d, %s]", M, (int)p->k,
             dtype_name(p->type), (int)p->k, N, dtype_name(p->type), M, N, dtype_name(p->wide));
    return compute(signature, expression, p->inputs);
}

static computed compute_product(const product *p) {
    char expression[128];
    snprintf(expression, sizeof expression, "matmul(x, y, out=%s, order='%s')", dtype_name(p->wide),
             p->unit->name);
    return compute_expression(p, expression);
}

/* ---- bits ---- */

/* One instruction after the other, the last one with zeros. */
static uint64_t by_instructions(const product *p, int64_t m, int64_t n) {
    const matrix_unit *unit = p->unit;
    uint64_t sum = 0;
    for (int64_t first = 0; first < p->k; first += unit->k) {
        uint64_t a[MATRIX_UNIT_MAX_K] = {0}, b[MATRIX_UNIT_MAX_K] = {0};
        matrix_factors x, y;
        for (int64_t i = 0; i < unit->k && first + i < p->k; i++) {
            a[i] = dtype_load_bits(p->type, p->inputs[0].data, (size_t)(m * p->k + first + i));
            b[i] = dtype_load_bits(p->type, p->inputs[1].data, (size_t)((first + i) * N + n));
        }
        matrix_factors_decode(&x, unit, unit_order_format(p->type), a, (size_t)unit->k);
        matrix_factors_decode(&y, unit, unit_order_format(p->type), b, (size_t)unit->k);
        sum = matrix_unit_dot(unit, &x, &y, sum);
    }
    return sum;
}

static void expect_bits(const product *p, const computed *c) {
    for (int64_t i = 0; i < M * N; i++) {
        uint64_t expected = by_instructions(p, i / N, i % N),
                 got = dtype_load_bits(p->wide, c->out.data, (size_t)i);
        if (got != expected)
            fail_msg("%s: element %d is %llx, not %llx", p->unit->name, (int)i,
                     (unsigned long long)got, (unsigned long long)expected);
    }
}

/* ---- bounds ---- */

static double magnitudes(const product *p, int64_t i) {
    double sum = 0;
    for (int64_t k = 0; k < p->k; k++)
        sum += fabs(dtype_load(p->type, p->inputs[0].data, (size_t)(i / N * p->k + k)) *
                    dtype_load(p->type, p->inputs[1].data, (size_t)(k * N + i % N)));
    return sum;
}

/* The bound holds; where numbers are near 1, it is so small that it means something. */
static void expect_bound(const product *p, const computed *c, values kind) {
    for (int64_t i = 0; i < M * N; i++) {
        double got = dtype_load(p->wide, c->out.data, (size_t)i),
               reference = ((const double *)c->reference.data)[i],
               bound = ((const double *)c->bound.data)[i];
        if (!isfinite(bound) || !(fabs(got - reference) <= bound))
            fail_msg("%s, inputs %d: %a is not %a within %a", p->unit->name, (int)kind, got,
                     reference, bound);
        if (kind == NEAR_ONE && !(bound < 0.1 * magnitudes(p, i)))
            fail_msg("%s: a bound of %g beside %g", p->unit->name, bound, magnitudes(p, i));
        if (c->whole && got != reference)
            fail_msg("%s: %g is a whole number, not %g", p->unit->name, reference, got);
    }
    assert_true(c->whole || kind != WHOLE);
}

static void test_every_unit(void **state) {
    size_t orders = 0;
    (void)state;
    compiler_init();
    for (size_t u = 0; u < matrix_unit_count; u++) {
        const matrix_unit *unit = &matrix_units[u];
        assert_int_equal(order_find(unit->name), ORDER_UNIT);
        if (factor_of(unit) == DTYPE_NONE)
            continue;
        orders++;
        for (values kind = 0; kind < VALUES_COUNT; kind++) {
            product p = product_of(unit, kind, K);
            computed c = compute_product(&p);
            expect_bits(&p, &c);
            expect_bound(&p, &c, kind);
            computed_release(&c);
            product_release(&p);
        }
    }
    assert_true(orders > 40);
}

/* Beyond strict a unit may add what has no order of its own: the bound of such a sum holds for what
 * the unit gives, also where the factors are widened before. */
static void test_units_stand_in(void **state) {
    static const char *const expressions[] = {"matmul(x, y, out=f32)",
                                              "matmul(cast(x, f32), cast(y, f32))"};
    const mma_unit *list;
    uint32_t count = mma_units(&list), stand_in = 0;
    (void)state;
    compiler_init();
    for (uint32_t i = 0; i < count * VALUES_COUNT * COUNT_OF(expressions); i++) {
        const mma_unit *code = &list[i % count];
        values kind = (values)(i / count % VALUES_COUNT);
        if (!mma_unit_stands_in(code))
            continue;
        product p = product_of(matrix_unit_find(code->name), kind, K);
        if (p.wide == DTYPE_F32) {
            computed given = compute_product(&p),
                     any = compute_expression(&p, expressions[i / count / VALUES_COUNT]);
            tensor own = any.out;
            any.out = given.out;
            given.out = own;
            expect_bound(&p, &any, kind);
            computed_release(&given);
            computed_release(&any);
            stand_in++;
        }
        product_release(&p);
    }
    assert_true(stand_in > 0);
}

/* No profile is held bit for bit to what narrow accumulators round. */
static void test_whole_numbers_beyond_the_accumulator(void **state) {
    static const struct {
        const char *unit;
        bool whole;
    } rows[] = {{"mma.sm90.f16", true},
                {"mma.sm90.f16.f16", false},
                {"fma.f32.pairs", false},
                {"mfma.gfx942.f16", true}};
    (void)state;
    compiler_init();
    for (size_t r = 0; r < COUNT_OF(rows); r++) {
        product p = product_of(matrix_unit_find(rows[r].unit), WHOLE, 1200);
        computed c = compute_product(&p);
        assert_int_equal(c.whole, rows[r].whole);
        computed_release(&c);
        product_release(&p);
    }
}

/* ---- other contractions ---- */

static const struct {
    const char *signature, *expression;
} same[] = {
    /* Several axes are one in row-major order. */
    {"x: Tensor[3, 7, 20, bf16], y: Tensor[7, 20, 35, bf16]) -> Tensor[3, 35, f32]",
     "dot(x, y, x_contract=(1, 2), y_contract=(0, 1), out=f32, order='mma.sm80.bf16')"},
    /* A linear layer multiplies what it is given, not what it widens to. */
    {"x: Tensor[3, 140, bf16], y: Tensor[140, 35, bf16]) -> Tensor[3, 35, f32]",
     "cast(linear(x, y, order='mma.sm80.bf16'), f32)"},
};

static void test_contractions_of_other_shapes(void **state) {
    (void)state;
    compiler_init();
    product p = product_of(matrix_unit_find("mma.sm80.bf16"), WIDE, 140);
    computed plain = compute_product(&p);
    for (size_t i = 0; i < COUNT_OF(same); i++) {
        static const int64_t three[2][3] = {{M, 7, 20}, {7, 20, N}};
        tensor inputs[2] = {p.inputs[0], p.inputs[1]};
        for (int t = 0; t < 2 && i == 0; t++) {
            inputs[t].rank = 3;
            memcpy(inputs[t].dims, three[t], sizeof three[t]);
        }
        computed c = compute(same[i].signature, same[i].expression, inputs);
        for (size_t e = 0; e < M * N; e++) {
            float expected = ((const float *)plain.out.data)[e];
            if (i == 1)
                expected = bf16_to_f32(f32_to_bf16(expected));
            assert_int_equal(dtype_load_bits(DTYPE_F32, c.out.data, e), f32_bits(expected));
        }
        computed_release(&c);
    }
    computed_release(&plain);
    product_release(&p);
}

static void test_sums_of_nothing(void **state) {
    (void)state;
    compiler_init();
    for (size_t u = 0; u < matrix_unit_count; u++) {
        if (factor_of(&matrix_units[u]) == DTYPE_NONE)
            continue;
        product p = product_of(&matrix_units[u], NEAR_ONE, 0);
        computed c = compute_product(&p);
        for (size_t i = 0; i < M * N; i++)
            assert_int_equal(dtype_load_bits(p.wide, c.out.data, i), 0);
        computed_release(&c);
        product_release(&p);
    }
}

/* Below Graph IR an order keeps the unit's name: a pass that makes another unit's of it is found.
 */
static void test_units_are_not_each_other(void **state) {
    reduction_list before = {.open = false}, after = {.open = false};
    reduction_record r = {.kind = "dot",
                          .order = ORDER_UNIT,
                          .name = order_name(ORDER_UNIT, "mma.sm80.bf16"),
                          .extent = 600,
                          .results = 4};
    status st = STATUS_INIT;
    (void)state;
    vec_push(&before.items, r);
    vec_push(&after.items, r);
    assert_true(reductions_kept(&before, &after, &st));
    after.items.items[0].name = order_name(ORDER_UNIT, "mma.sm90.bf16");
    assert_false(reductions_kept(&before, &after, &st));
    assert_non_null(strstr(st.message, "mma.sm90.bf16"));
    reductions_release(&before);
    reductions_release(&after);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_every_unit),
        cmocka_unit_test(test_units_stand_in),
        cmocka_unit_test(test_units_are_not_each_other),
        cmocka_unit_test(test_whole_numbers_beyond_the_accumulator),
        cmocka_unit_test(test_contractions_of_other_shapes),
        cmocka_unit_test(test_sums_of_nothing),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
