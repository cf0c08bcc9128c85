/* test_ir.c - the SSA core: interning, dimensions, building, rewriting, text, reductions. */
#include "runtime/test/test.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "ir/dim.h"
#include "ir/ir.h"
#include "ops/graph.h"
#include "ops/reductions.h"
#include "tessera/compiler.h"

static uint32_t next_random(uint64_t *state) {
    *state = *state * UINT64_C(6364136223846793005) + UINT64_C(1442695040888963407);
    return (uint32_t)(*state >> 33);
}

static ir_module *parsed(const char *source) {
    status st = STATUS_INIT;
    ir_module *m = ir_parse(source, &st);
    if (!m)
        fail_msg("%s\n%s", st.message, source);
    return m;
}

static text printed(const ir_module *m) {
    text out;
    text_init(&out);
    ir_print(m, &out);
    return out;
}

static void expect_print(const ir_module *m, const char *wanted) {
    text found = printed(m);
    assert_string_equal(found.data, wanted);
    text_release(&found);
}

/* ---- types and attributes ---- */

static void test_types(void **state) {
    (void)state;
    ir_module *m = ir_module_new();
    ir_dim n = ir_dim_symbol(m, "N"), dims[] = {2, 3}, symbolic[] = {n, 3};
    ir_type x = ir_type_tensor(m, DTYPE_F32, 2, dims);
    assert_int_equal(x, ir_type_tensor(m, DTYPE_F32, 2, dims));
    assert_int_not_equal(x, ir_type_tensor(m, DTYPE_F32, 1, dims));
    assert_int_not_equal(x, ir_type_tensor(m, DTYPE_I32, 2, dims));
    assert_int_not_equal(x, ir_type_shaped(m, IR_TYPE_BUFFER, DTYPE_F32, 2, dims));
    assert_int_equal(ir_type_with_element(m, x, DTYPE_I32), ir_type_tensor(m, DTYPE_I32, 2, dims));
    assert_true(ir_type_is_static(m, x));
    assert_int_equal(ir_type_count(m, x), 6);
    assert_false(ir_type_is_static(m, ir_type_tensor(m, DTYPE_F32, 2, symbolic)));
    assert_int_equal(ir_type_count(m, ir_type_tensor(m, DTYPE_F32, 0, NULL)), 1);
    ir_type tile = ir_type_tile(m, DTYPE_F32, 6, 64);
    assert_int_equal(tile, ir_type_tile(m, DTYPE_F32, 6, 64));
    assert_int_not_equal(tile, ir_type_laid_out(m, tile, &(ir_layout){.vector = 16}));
    assert_int_equal(ir_type_index(m), ir_type_index(m));
    assert_int_not_equal(ir_type_memory(m, DTYPE_F32), ir_type_scalar(m, DTYPE_F32));
    ir_module_free(m);
}

/* Enough types and attributes that every table grows several times; ids stay what they were. */
static void test_many(void **state) {
    (void)state;
    enum { MANY = 3000 };
    ir_module *m = ir_module_new();
    static ir_type types[MANY];
    static ir_attr attrs[MANY];
    for (int64_t i = 0; i < MANY; i++) {
        types[i] = ir_type_tensor(m, DTYPE_F32, 1, &i);
        attrs[i] = ir_attr_int(m, i);
    }
    for (int64_t i = 0; i < MANY; i++) {
        assert_int_equal(ir_type_tensor(m, DTYPE_F32, 1, &i), types[i]);
        assert_int_equal(ir_attr_int(m, i), attrs[i]);
        assert_int_equal(ir_type_get(m, types[i])->dims[0], i);
        assert_int_equal(ir_attr_get(m, attrs[i])->integer, i);
    }
    ir_module_free(m);
}

static void test_attributes(void **state) {
    (void)state;
    ir_module *m = ir_module_new();
    ir_attr one = ir_attr_int(m, 1), yes = ir_attr_bool(m, true), two = ir_attr_int(m, 2);
    assert_int_not_equal(one, yes);
    assert_int_equal(ir_attr_dim(m, 1), one);
    assert_int_not_equal(ir_attr_dim(m, ir_dim_symbol(m, "N")), one);
    assert_int_equal(ir_attr_string(m, "seq"), ir_attr_string(m, "seq"));
    assert_int_not_equal(ir_attr_string(m, "seq"), ir_attr_string(m, "se"));
    assert_int_not_equal(ir_attr_bits(m, DTYPE_F32, 1), ir_attr_bits(m, DTYPE_I32, 1));
    ir_attr items[] = {one, two}, reversed[] = {two, one};
    assert_int_equal(ir_attr_array(m, items, 2), ir_attr_int_array(m, (int64_t[]){1, 2}, 2));
    assert_int_not_equal(ir_attr_array(m, items, 2), ir_attr_array(m, reversed, 2));
    assert_int_not_equal(ir_attr_array(m, items, 2), ir_attr_array(m, items, 1));
    const char *const keys[] = {"a", "b"}, *const other[] = {"b", "a"};
    ir_attr dict = ir_attr_dict(m, keys, items, 2);
    assert_int_equal(dict, ir_attr_dict(m, other, reversed, 2));
    assert_int_not_equal(dict, ir_attr_dict(m, other, items, 2));
    assert_string_equal(ir_attr_get(m, ir_attr_dict(m, other, items, 2))->keys[0], "a");
    ir_module_free(m);
}

/* ---- dimensions ---- */

static void test_dim_text(void **state) {
    (void)state;
    static const char *const cases[][2] = {
        {"N", "N"},
        {"12", "12"},
        {"1 + 2*3", "7"},
        {"N + N", "2*N"},
        {"N - N", "0"},
        {"N*2 + 1", "2*N + 1"},
        {"1 + N", "N + 1"},
        {"B*A", "A*B"},
        {"(A + B)*(A - B)", "A*A - B*B"},
        {"(N + 1)*(N + 1)", "N*N + 2*N + 1"},
        {"H*D // D", "H"},
        {"(4*N + 6) // 2", "2*N + 3"},
        {"(4*N + 7) // 2", "2*N + 3"},
        {"N // 2", "floordiv(N, 2)"},
        {"floordiv(N, 2)", "floordiv(N, 2)"},
        {"(2*N + M) // 2", "N + floordiv(M, 2)"},
        {"7 // 2", "3"},
        {"N // 1", "N"},
        {"min(7, 3)", "3"},
        {"min(N, M)", "min(M, N)"},
        {"min(N, N - 1) + 1", "N"},
        {"min(2*N, M // 2)", "min(2*N, floordiv(M, 2))"},
    };
    ir_module *m = ir_module_new();
    for (size_t i = 0; i < COUNT_OF(cases); i++) {
        ir_dim d, again;
        assert_true(ir_dim_parse(m, cases[i][0], &d));
        /* The canonical text is the identity, and reads back as itself. */
        assert_true(ir_dim_parse(m, cases[i][1], &again));
        assert_int_equal(d, again);
        assert_string_equal(ir_dim_text(m, again), ir_dim_text(m, d));
        if (strchr(cases[i][1], '+') == NULL)
            assert_string_equal(ir_dim_text(m, d), cases[i][1]);
    }
    ir_module_free(m);
}

static void test_dim_refused(void **state) {
    (void)state;
    static const char *const bad[] = {"",
                                      "+",
                                      "2*",
                                      "N)",
                                      "(N",
                                      "N M",
                                      "3 - 5",
                                      "N // 0",
                                      "N ** 2",
                                      "2N",
                                      "-1",
                                      "N // (M - M)",
                                      "#",
                                      "99999999999999999999",
                                      "floordiv(N)",
                                      "min(N)",
                                      "N.0"};
    ir_module *m = ir_module_new();
    ir_dim d;
    for (size_t i = 0; i < COUNT_OF(bad); i++)
        if (ir_dim_parse(m, bad[i], &d))
            fail_msg("'%s' was taken as %s", bad[i], ir_dim_text(m, d));
    /* Too much is invalid, and stays so. */
    ir_dim huge = INT64_MAX;
    assert_int_equal(ir_dim_add(m, huge, 1), IR_DIM_INVALID);
    assert_int_equal(ir_dim_mul(m, huge, 2), IR_DIM_INVALID);
    assert_int_equal(ir_dim_sub(m, 3, 5), IR_DIM_INVALID);
    ir_dim n = ir_dim_symbol(m, "N"), minus = ir_dim_add_scaled(m, 0, n, -1);
    assert_string_equal(ir_dim_text(m, minus), "-N");
    assert_int_equal(ir_dim_add_scaled(m, ir_dim_add(m, n, -2), minus, 1), -2);
    assert_int_equal(ir_dim_estimate(m, ir_dim_mul(m, n, 3), 7), 21);
    ir_module *other = ir_module_new();
    ir_dim_adopt(other, m);
    assert_string_equal(ir_dim_text(other, minus), "-N");
    ir_module_free(other);
    assert_int_equal(ir_dim_add(m, IR_DIM_INVALID, 1), IR_DIM_INVALID);
    assert_int_equal(ir_dim_floordiv(m, ir_dim_symbol(m, "N"), 0), IR_DIM_INVALID);
    ir_module_free(m);
}

/* A name that is cut off would be equal to another one. */
static void test_dim_long_names(void **state) {
    (void)state;
    char a[101], b[101];
    ir_module *m = ir_module_new();
    ir_dim x, y;
    memset(a, 'n', 100);
    memset(b, 'n', 100);
    a[99] = 'a';
    a[100] = b[100] = 0;
    assert_int_not_equal(ir_dim_symbol(m, a), ir_dim_symbol(m, b));
    bool both = ir_dim_parse(m, a, &x) && ir_dim_parse(m, b, &y);
    assert_true(!both || x != y);
    x = ir_dim_add(m, ir_dim_symbol(m, a), 1);
    y = ir_dim_add(m, ir_dim_symbol(m, b), 1);
    assert_true(x != y || x == IR_DIM_INVALID);
    ir_module_free(m);
}

static int64_t floor_of(int64_t a, int64_t b) {
    return a / b - (a % b != 0 && (a < 0) != (b < 0));
}

/* A random expression and its value under the bindings. */
static ir_dim random_dim(ir_module *m, uint64_t *seed, const ir_binding *b, int depth,
                         int64_t *value) {
    if (depth == 0 || next_random(seed) % 4 == 0) {
        uint32_t pick = next_random(seed) % 5;
        *value = pick < 3 ? b[pick].value : (int64_t)(next_random(seed) % 9);
        return pick < 3 ? ir_dim_symbol(m, b[pick].name) : *value;
    }
    int64_t x, y;
    ir_dim p = random_dim(m, seed, b, depth - 1, &x), q = random_dim(m, seed, b, depth - 1, &y);
    switch (next_random(seed) % 4) {
    case 0:
        *value = x + y;
        return ir_dim_add(m, p, q);
    case 1:
        *value = x - y;
        return ir_dim_sub(m, p, q);
    case 2:
        *value = x * y;
        return ir_dim_mul(m, p, q);
    default:
        q = 1 + next_random(seed) % 5;
        *value = floor_of(x, q);
        return ir_dim_floordiv(m, p, q);
    }
}

/* Whatever the canonical form does, the value stays. */
static void test_dim_values(void **state) {
    (void)state;
    uint64_t seed = 1;
    int compared = 0;
    for (int i = 0; i < 20000; i++) {
        ir_module *m = ir_module_new();
        ir_binding b[] = {{"K", 0}, {"M", 0}, {"N", 0}};
        for (int k = 0; k < 3; k++)
            b[k].value = next_random(&seed) % 40;
        int64_t wanted, found = 0;
        ir_dim again, d = random_dim(m, &seed, b, 3, &wanted);
        if (d != IR_DIM_INVALID && wanted >= 0) {
            if (!ir_dim_evaluate(m, d, (ir_bindings){b, 3}, &found, NULL) || found != wanted)
                fail_msg("%s with K=%" PRId64 " M=%" PRId64 " N=%" PRId64 " is %" PRId64
                         ", not %" PRId64,
                         ir_dim_text(m, d), b[0].value, b[1].value, b[2].value, wanted, found);
            assert_true(ir_dim_parse(m, ir_dim_text(m, d), &again));
            assert_int_equal(again, d);
            compared++;
        }
        ir_module_free(m);
    }
    assert_true(compared > 10000);
}

static void test_dim_evaluation(void **state) {
    (void)state;
    ir_module *m = ir_module_new();
    const ir_binding items[] = {{"N", 7}, {"M", INT64_MAX}};
    const ir_bindings bindings = {items, 2};
    const char *missing = NULL;
    int64_t value = 0;
    ir_dim d;
    assert_true(ir_dim_parse(m, "2*N + floordiv(N, 2)", &d));
    assert_true(ir_dim_evaluate(m, d, (ir_bindings){items, 1}, &value, &missing));
    assert_int_equal(value, 17);
    assert_true(ir_dim_parse(m, "N + K", &d));
    assert_false(ir_dim_evaluate(m, d, bindings, &value, &missing));
    assert_string_equal(missing, "K");
    assert_true(ir_dim_parse(m, "N - 8", &d));
    assert_false(ir_dim_evaluate(m, d, bindings, &value, &missing)); /* negative */
    assert_null(missing);
    assert_true(ir_dim_count(m, d, bindings, &value, &missing));
    assert_int_equal(value, 0);
    assert_int_equal(ir_dim_least(m, -3, 4), -3);
    assert_true(ir_dim_parse(m, "min(floordiv(N - 30, 16), K)", &d));
    assert_int_equal(ir_dim_substitute(m, d, (ir_bindings){(ir_binding[]){{"N", 7}, {"K", 2}}, 2}),
                     -2);
    assert_true(ir_dim_parse(m, "2*M", &d));
    assert_false(ir_dim_evaluate(m, d, bindings, &value, &missing)); /* too large */
    assert_true(ir_dim_parse(m, "floordiv(M, N - 7)", &d));
    assert_false(ir_dim_evaluate(m, d, bindings, &value, &missing)); /* by zero */
    ir_module_free(m);
}

/* ---- building and rewriting ---- */

/* A kernel of one input with an empty block; the builder stands at its end. */
static ir_builder open_kernel(ir_module *m, ir_value *x) {
    ir_attr name = ir_attr_string(m, "x");
    ir_named_attr attrs[] = {{"outputs", ir_attr_array(m, &name, 1)},
                             {"name", ir_attr_string(m, "f")},
                             {"inputs", ir_attr_array(m, &name, 1)}};
    ir_builder b = {.m = m, .block = ir_module_body(m)};
    ir_op_spec spec = {.opcode = GRAPH_KERNEL, .attrs = attrs, .attr_count = 3, .region_count = 1};
    b.block = ir_op_block(m, ir_build(&b, &spec), 0);
    int64_t dims[] = {4};
    *x = ir_block_add_argument(m, b.block, ir_type_tensor(m, DTYPE_F32, 1, dims), "x");
    return b;
}

static ir_value build_unary(ir_builder *b, int opcode, ir_value x) {
    return ir_build1(b, opcode, &x, 1, ir_value_get(b->m, x)->type, NULL, 0);
}

static void close_kernel(ir_builder *b, ir_value y) {
    ir_op_spec spec = {.opcode = GRAPH_RETURN, .operands = &y, .operand_count = 1};
    ir_build(b, &spec);
}

/* The names of a kernel's operations, in order. */
static void expect_ops(const ir_module *m, const char *wanted) {
    text found;
    text_init(&found);
    const ir_block_data *b = ir_kernel_body(m);
    ir_op last = 0;
    for (ir_op op = b->first; op; last = op, op = ir_op_get(m, op)->next) {
        assert_int_equal(ir_op_get(m, op)->previous, last);
        text_printf(&found, "%s%s", found.length ? " " : "",
                    strchr(op_info_get(ir_op_get(m, op)->opcode)->name, '.') + 1);
    }
    assert_int_equal(b->last, last);
    assert_string_equal(found.data, wanted);
    text_release(&found);
}

static void test_builder(void **state) {
    (void)state;
    ir_module *m = ir_module_new();
    ir_value x;
    ir_builder b = open_kernel(m, &x);
    b.location = (ir_location){.line = 3, .column = 7};
    ir_value e = build_unary(&b, GRAPH_EXP, x), l = build_unary(&b, GRAPH_LOG, e);
    close_kernel(&b, l);
    b.before = ir_value_get(m, l)->op;
    ir_value n = build_unary(&b, GRAPH_NEG, e);
    expect_ops(m, "exp neg log return");
    const ir_op_data *d = ir_op_get(m, ir_value_get(m, n)->op);
    assert_int_equal(d->location.line, 3);
    assert_int_equal(d->operands[0], e);
    assert_int_equal(ir_value_get(m, x)->op, 0);
    assert_string_equal(ir_value_get(m, x)->name, "x");
    ir_op kernel = ir_module_kernel(m);
    assert_string_equal(ir_op_get(m, kernel)->attrs[0].name, "inputs"); /* sorted */
    ir_op_set_attr(m, kernel, "name", ir_attr_string(m, "g"));
    assert_string_equal(ir_op_string(m, kernel, "name", ""), "g");
    assert_int_equal(ir_op_get(m, kernel)->attr_count, 3);
    assert_int_equal(ir_op_attr(m, kernel, "none"), 0);
    assert_int_equal(ir_op_int(m, kernel, "none", 42), 42);
    ir_module_free(m);
}

static void test_rewriting(void **state) {
    (void)state;
    ir_module *m = ir_module_new();
    ir_value x;
    ir_builder b = open_kernel(m, &x);
    ir_value e = build_unary(&b, GRAPH_EXP, x), l = build_unary(&b, GRAPH_LOG, e),
             n = build_unary(&b, GRAPH_NEG, e);
    close_kernel(&b, l);
    uint32_t *uses = ir_count_uses(m);
    assert_int_equal(uses[x], 1);
    assert_int_equal(uses[e], 2);
    assert_int_equal(uses[n], 0);
    free(uses);
    ir_replace_uses(m, l, n);
    ir_op_erase(m, ir_value_get(m, l)->op);
    expect_ops(m, "exp neg return");
    uses = ir_count_uses(m);
    assert_int_equal(uses[e], 1);
    assert_int_equal(uses[n], 1);
    assert_int_equal(uses[l], 0);
    free(uses);
    ir_op_move_before(m, ir_value_get(m, n)->op, ir_value_get(m, e)->op);
    expect_ops(m, "neg exp return");
    status st = STATUS_INIT;
    assert_false(ir_verify(m, &st)); /* neg uses exp's result */
    assert_string_equal(st.message, "'tessera.neg': an operand does not dominate this operation");
    ir_replace_uses(m, e, x);
    assert_true(ir_verify(m, &st));
    ir_op_erase(m, ir_value_get(m, e)->op);
    ir_op_erase(m, ir_value_get(m, n)->op);
    expect_ops(m, "return");
    ir_module_free(m);
}

/* ---- text ---- */

static const char nested[] =
    "\"builtin.module\"() ({\n"
    "  \"sched.kernel\"() <{inputs = [\"x\\22\\0A\\\\\"], name = \"f\", outputs = [\"y\"], "
    "parameters = {A = 1 : i64, P0.B = -2 : i64}, profile = \"strict\", reductions = []}> ({\n"
    "  ^bb0(%arg0: !sched.buf<2x3xf32>, %arg1: !sched.buf<f32>):\n"
    "    %0 = \"sched.buffer\"() <{space = \"workspace\"}> : () -> !sched.buf<4xi1>\n"
    "    \"sched.phase\"() <{index = 0 : i64, what = \"map\"}> ({\n"
    "      \"sched.parallel\"() <{axes = [\"a0\"], extents = [8], steps = [\"P0.B\"]}> ({\n"
    "      ^bb0(%arg2: index):\n"
    "        \"sched.fill\"(%0) <{value = #tessera.bits<i1, 0x1>}> : (!sched.buf<4xi1>) -> ()\n"
    "      }) : () -> ()\n"
    "    }) : () -> ()\n"
    "  }) : () -> ()\n"
    "}) : () -> ()\n"
    "\n";

static const char several[] =
    "\"builtin.module\"() ({\n"
    "  \"tessera.kernel\"() <{inputs = [\"p\", \"c\"], name = \"f\", outputs = [\"q\"]}> ({\n"
    "  ^bb0(%arg0: tensor<?x8xf32, #tessera.dims<\"2*N + 1\", \"8\">>, %arg1: tensor<f32>):\n"
    "    %0:3 = \"tessera.adam\"(%arg0, %arg0, %arg0, %arg0, %arg1, %arg1) <{b1 = "
    "#tessera.bits<f64, 0x3feccccccccccccd>, b2 = #tessera.bits<f64, 0x3feff7ced916872b>, eps = "
    "#tessera.bits<f64, 0x3e45798ee2308c3a>, lr = #tessera.bits<f64, 0x3f50624dd2f1a9fc>, wd = "
    "#tessera.bits<f64, 0x0>}> : (tensor<?x8xf32, #tessera.dims<\"2*N + 1\", \"8\">>, "
    "tensor<?x8xf32, #tessera.dims<\"2*N + 1\", \"8\">>, tensor<?x8xf32, #tessera.dims<\"2*N + "
    "1\", \"8\">>, tensor<?x8xf32, #tessera.dims<\"2*N + 1\", \"8\">>, tensor<f32>, tensor<f32>) "
    "-> (tensor<?x8xf32, #tessera.dims<\"2*N + 1\", \"8\">>, tensor<?x8xf32, "
    "#tessera.dims<\"2*N + 1\", \"8\">>, tensor<?x8xf32, #tessera.dims<\"2*N + 1\", \"8\">>)\n"
    "    \"tessera.return\"(%0#1) : (tensor<?x8xf32, #tessera.dims<\"2*N + 1\", \"8\">>) -> ()\n"
    "  }) : () -> ()\n"
    "}) : () -> ()\n"
    "\n";

static void test_round_trip(void **state) {
    (void)state;
    const char *const texts[] = {nested, several};
    for (size_t i = 0; i < COUNT_OF(texts); i++) {
        ir_module *m = parsed(texts[i]), *copy = ir_module_clone(m);
        expect_print(m, texts[i]);
        expect_print(copy, texts[i]);
        ir_module_free(m);
        ir_module_free(copy);
    }
    ir_module *m = parsed(nested);
    ir_attr names = ir_op_attr(m, ir_module_kernel(m), "inputs");
    assert_string_equal(ir_attr_get(m, ir_attr_get(m, names)->items[0])->string, "x\"\n\\");
    ir_module_free(m);
}

/* Text that a person may write: comments, blanks, other names, attributes in another order. */
static void test_free_text(void **state) {
    (void)state;
    static const char written[] =
        "// a comment\n\"builtin.module\"()({\"tessera.kernel\"()<{outputs=[\"y\"],\n"
        "inputs = [ \"x\" ] , name=\"f\"}>({ ^bb0(%x:tensor<4xf32>):\n"
        "%result = \"tessera.neg\"( %x ):(tensor<4xf32>)->tensor<4xf32> // it\n"
        "\"tessera.return\"(%result):(tensor<4xf32>)->()}):()->()}) : () -> ()";
    ir_module *m = parsed(written);
    expect_print(m, "\"builtin.module\"() ({\n"
                    "  \"tessera.kernel\"() <{inputs = [\"x\"], name = \"f\", outputs = [\"y\"]}> "
                    "({\n"
                    "  ^bb0(%arg0: tensor<4xf32>):\n"
                    "    %0 = \"tessera.neg\"(%arg0) : (tensor<4xf32>) -> tensor<4xf32>\n"
                    "    \"tessera.return\"(%0) : (tensor<4xf32>) -> ()\n"
                    "  }) : () -> ()\n"
                    "}) : () -> ()\n\n");
    ir_module_free(m);
}

/* Every beginning of a text is refused, and so is none of its damages by a crash. */
static void test_damaged_text(void **state) {
    (void)state;
    char buffer[sizeof nested];
    uint64_t seed = 2;
    for (size_t length = 0; length < sizeof nested - 2; length++) {
        status st = STATUS_INIT;
        memcpy(buffer, nested, length);
        buffer[length] = 0;
        ir_module *m = ir_parse(buffer, &st);
        assert_true(!m || length >= sizeof nested - 3); /* the last line's end may be missing */
        assert_true(m || st.message[0]);
        ir_module_free(m);
    }
    for (int i = 0; i < 20000; i++) {
        status st = STATUS_INIT;
        memcpy(buffer, nested, sizeof nested);
        for (uint32_t k = next_random(&seed) % 3; k < 3; k++)
            buffer[next_random(&seed) % (sizeof nested - 1)] = (char)(32 + next_random(&seed) % 95);
        ir_module *m = ir_parse(buffer, &st);
        if (m)
            ir_verify(m, &st);
        ir_module_free(m);
    }
}

/* ---- hashes ---- */

static void expect_hash(const ir_module *m, const char *wanted) {
    char hex[65];
    sha256 digest = ir_hash(m);
    sha256_hex(&digest, hex);
    assert_string_equal(hex, wanted);
}

/* The hash is that of the text, as sha256sum computes it. */
static void test_hash(void **state) {
    (void)state;
    static const char hash[] = "e136403e5a9118ace3940cc35d2a1da794860aa8d56fdd21448f71990a62de9b";
    ir_module *m = parsed(nested), *copy = ir_module_clone(m);
    expect_hash(m, hash);
    expect_hash(copy, hash);
    ir_op_set_attr(copy, ir_module_kernel(copy), "name", ir_attr_string(copy, "g"));
    sha256 a = ir_hash(m), b = ir_hash(copy);
    assert_memory_not_equal(&a, &b, sizeof a);
    ir_op_set_attr(copy, ir_module_kernel(copy), "name", ir_attr_string(copy, "f"));
    expect_hash(copy, hash);
    ir_module_free(m);
    ir_module_free(copy);
}

/* Hashes leave out what is not text: source locations, names of values, what was interned before,
 * and what was erased. */
static void test_hash_history(void **state) {
    (void)state;
    sha256 hashes[2], identities[2];
    for (int i = 0; i < 2; i++) {
        ir_module *m = ir_module_new();
        ir_value x;
        if (i) {
            ir_attr_string(m, "unused");
            ir_type_scalar(m, DTYPE_F64);
        }
        ir_builder b = open_kernel(m, &x);
        ir_value e = build_unary(&b, GRAPH_EXP, x);
        if (i) {
            ir_value gone = build_unary(&b, GRAPH_LOG, e);
            ir_op_erase(m, ir_value_get(m, gone)->op);
            ir_value_get(m, e)->name = "e";
            b.location.line = 5;
        }
        close_kernel(&b, build_unary(&b, GRAPH_NEG, e));
        hashes[i] = ir_hash(m);
        identities[i] = ir_identity(m);
        ir_module_free(m);
    }
    assert_memory_equal(&hashes[0], &hashes[1], sizeof hashes[0]);
    assert_memory_equal(&identities[0], &identities[1], sizeof identities[0]);
}

static int open_compiler(void **state) {
    (void)state;
    compiler_init();
    return 0;
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_types),        cmocka_unit_test(test_many),
        cmocka_unit_test(test_attributes),   cmocka_unit_test(test_dim_text),
        cmocka_unit_test(test_dim_refused),  cmocka_unit_test(test_dim_long_names),
        cmocka_unit_test(test_dim_values),   cmocka_unit_test(test_dim_evaluation),
        cmocka_unit_test(test_builder),      cmocka_unit_test(test_rewriting),
        cmocka_unit_test(test_round_trip),   cmocka_unit_test(test_free_text),
        cmocka_unit_test(test_damaged_text), cmocka_unit_test(test_hash),
        cmocka_unit_test(test_hash_history),
    };
    return cmocka_run_group_tests(tests, open_compiler, NULL);
}
