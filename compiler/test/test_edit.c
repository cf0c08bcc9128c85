/* test_edit.c - a case made smaller: the operations that each edit leaves, that the smaller kernel
 * computes the values that the whole one had there, and edits that say nothing of it. */
#include "runtime/test/test.h"

#include <string.h>

#include "tessera/edit.h"

/* Operations: softmax, matmul, add, neg. */
static const char source[] = "@kernel\n"
                             "def f(x: Tensor[2, 3, f32], w: Tensor[3, 2, f32]) -> "
                             "tuple[Tensor[2, 2, f32], Tensor[2, 2, f32]]:\n"
                             "    p = softmax(x)\n"
                             "    y = p @ w\n"
                             "    z = y + y\n"
                             "    return z, -z\n";

typedef struct fixture {
    compiler_source *source;
    compiler_instance *instance;
    tensor inputs[2];
} fixture;

static fixture opened_with(const char *words) {
    fixture f;
    text said;
    status st = STATUS_INIT;
    text_init(&said);
    f.source = compiler_open_text("test.tsr", words, false, &said);
    f.instance = compiler_instance_open(f.source, compiler_kernel_at(f.source, 0), NULL, &said);
    if (!f.instance)
        fail_msg("%s", said.data);
    for (int i = 0; i < 2; i++) {
        const int64_t dims[] = {i ? 3 : 2, i ? 2 : 3};
        assert_true(tensor_init(&f.inputs[i], DTYPE_F32, 2, dims, &st));
        for (int e = 0; e < 6; e++)
            ((float *)f.inputs[i].data)[e] = (float)(e - 2);
    }
    text_release(&said);
    return f;
}

static fixture opened(void) {
    return opened_with(source);
}

static void close_all(fixture *f) {
    tensor_release_all(f->inputs, 2);
    compiler_instance_free(f->instance);
    compiler_close(f->source);
}

static void put_names(const compiler_edited *e, text *out) {
    compiler_operation o;
    text_clear(out);
    for (uint32_t i = 1; compiler_operation_at(e->instance, i, &o); i++)
        text_printf(out, "%s%s:%u", i > 1 ? " " : "", strchr(o.name, '.') + 1, o.line);
}

typedef struct edit_case {
    const char *edits, *left; /* operations with their lines */
    uint32_t inputs, outputs;
} edit_case;

/* Each leaves those operations, which can be run. */
static void expect_left(fixture *f, const edit_case *cases, size_t count) {
    const compiler_options options = {.profile = PROFILE_STRICT};
    text names;
    text_init(&names);
    for (size_t i = 0; i < count; i++) {
        compiler_edited e;
        tensor outputs[8] = {{0}};
        status st = STATUS_INIT;
        if (!compiler_edit(f->instance, &options, f->inputs, cases[i].edits, &e, &st))
            fail_msg("%s: %s", cases[i].edits, st.message);
        put_names(&e, &names);
        if (strcmp(names.data, cases[i].left) != 0)
            fail_msg("%s leaves %s", cases[i].edits, names.data);
        assert_int_equal(e.input_count, cases[i].inputs);
        assert_int_equal(e.output_count, cases[i].outputs);
        assert_true(compiler_interpret(e.instance, e.inputs, outputs, &st));
        tensor_release_all(outputs, 8);
        compiler_edited_release(&e);
    }
    text_release(&names);
}

static const edit_case smaller[] = {
    {"", "softmax:3 matmul:4 add:5 neg:6", 2, 2},
    {"prefix 2", "softmax:3 matmul:4", 2, 1},
    {"prefix 3", "softmax:3 matmul:4 add:5", 2, 1},
    {"prefix 1", "softmax:3", 1, 1},
    {"input 2", "add:5 neg:6", 1, 2},
    {"input 1", "matmul:4 add:5 neg:6", 2, 2},
    {"suffix 2", "add:5 neg:6", 1, 2},
    {"prefix 3;suffix 1", "matmul:4 add:5", 2, 1},
    {"part 0 1", "reduce:3 broadcast:3 sub:3 exp:3 reduce:3 broadcast:3 div:3 dot:4 add:5 neg:6", 2,
     2},
    {"forward 3 0", "softmax:3 matmul:4 neg:6", 2, 2},
    {"forward 1 0;output 1", "matmul:4 add:5", 2, 1},
    {"same 4 3", "softmax:3 matmul:4 add:5", 2, 2},
    {"same 3 2;output 1", "softmax:3 matmul:4", 2, 1},
    {"output 0;input 3", "neg:6", 1, 1},
    {"fill 1 0 6 1", "softmax:3 matmul:4 add:5 neg:6", 2, 2},
    {"primitives;prefix 1", "reduce:3", 1, 1},
};

static void edits_leave_a_smaller_kernel(void **state) {
    (void)state;
    fixture f = opened();
    expect_left(&f, smaller, COUNT_OF(smaller));
    close_all(&f);
}

/* A value that came in is the one that was computed: the outputs stay. */
static void inputs_have_the_values_that_were_computed(void **state) {
    (void)state;
    static const char *const same[] = {"input 1", "input 2", "input 2;input 1", "primitives"};
    fixture f = opened();
    const compiler_options options = {.profile = PROFILE_STRICT};
    tensor whole[2] = {{0}};
    status st = STATUS_INIT;
    assert_true(compiler_interpret(f.instance, f.inputs, whole, &st));
    for (size_t i = 0; i < COUNT_OF(same); i++) {
        compiler_edited e;
        tensor outputs[2] = {{0}};
        assert_true(compiler_edit(f.instance, &options, f.inputs, same[i], &e, &st));
        assert_true(compiler_interpret(e.instance, e.inputs, outputs, &st));
        for (int o = 0; o < 2; o++)
            assert_memory_equal(outputs[o].data, whole[o].data, tensor_bytes(&whole[o]));
        tensor_release_all(outputs, 2);
        compiler_edited_release(&e);
    }
    tensor_release_all(whole, 2);
    close_all(&f);
}

static const struct {
    const char *edits;
    status_code code;
} refused[] = {
    {"prefix 5", STATUS_UNAVAILABLE},
    {"input 0", STATUS_UNAVAILABLE},
    {"input 9", STATUS_UNAVAILABLE},
    {"forward 2 0", STATUS_UNAVAILABLE},
    {"forward 3 7", STATUS_UNAVAILABLE},
    {"same 3 4", STATUS_UNAVAILABLE},
    {"same 3 3", STATUS_UNAVAILABLE},
    {"same 2 1", STATUS_UNAVAILABLE},
    {"output 2", STATUS_UNAVAILABLE},
    {"output 0;output 0", STATUS_UNAVAILABLE},
    {"fill 0 3 7 1", STATUS_UNAVAILABLE},
    {"fill 2 0 1 1", STATUS_UNAVAILABLE},
    {"dispatch 99", STATUS_UNAVAILABLE},
    {"suffix 4", STATUS_UNAVAILABLE},
    {"part 9 1", STATUS_UNAVAILABLE},
    {"part 0 2", STATUS_UNAVAILABLE},
    {"prefix", STATUS_INVALID},
    {"prefix -1", STATUS_INVALID},
    {"prefix 1 2", STATUS_INVALID},
    {"grow 1", STATUS_INVALID},
    {"prefix 99999999999999999999", STATUS_UNAVAILABLE},
};

static void edits_that_say_nothing_are_refused(void **state) {
    (void)state;
    fixture f = opened();
    const compiler_options options = {.profile = PROFILE_STRICT};
    for (size_t i = 0; i < COUNT_OF(refused); i++) {
        compiler_edited e;
        status st = STATUS_INIT;
        if (compiler_edit(f.instance, &options, f.inputs, refused[i].edits, &e, &st) ||
            st.code != refused[i].code)
            fail_msg("%s: %d %s", refused[i].edits, (int)st.code, st.message);
        compiler_edited_release(&e);
    }
    close_all(&f);
}

/* ---- transforms ---- */

/* A derivative of four operations in a batch, and a sum behind it. */
static const char transformed[] = "def g(x):\n"
                                  "    return sum(tanh(exp(x) + x))\n"
                                  "\n"
                                  "\n"
                                  "@kernel\n"
                                  "def f(x: Tensor[2, 3, f32], w: Tensor[3, 2, f32]) -> "
                                  "tuple[Tensor[2, 3, f32], Tensor[3, 2, f32]]:\n"
                                  "    y = vmap(grad(g))(x)\n"
                                  "    return y + y, -w\n";

static const edit_case within[] = {
    {"transforms", "vmap:7 constant:7 vjp:7 exp:2 add:2 tanh:2 reduce:2 add:8 neg:8", 2, 2},
    {"transforms;prefix 1", "vmap:7 constant:7 vjp:7 exp:2 add:2 tanh:2 reduce:2", 1, 1},
    {"transforms;inside 1", "constant:7 vjp:7 exp:2 add:2 tanh:2 reduce:2", 1, 1},
    /* The tangents of what one operation takes are inputs of their own, in each part. */
    {"transforms;keep 6 6", "vmap:7 vjp:7 tanh:2", 2, 2},
    {"transforms;inside 1;keep 3 5", "vjp:7 exp:2 add:2 tanh:2", 2, 2},
    {"transforms;inside 1;keep 6 6;output 0", "vjp:7 reduce:2", 2, 1},
    {"transforms;inside 1;inside 2", "exp:2 add:2 tanh:2 reduce:2", 1, 1},
    /* Nobody reads what stands behind it, nor what goes in there. */
    {"transforms;keep 5 5;output 1", "vmap:7 vjp:7 add:2", 3, 2},
    {"transforms;forward 5 0;output 1", "vmap:7 constant:7 vjp:7 exp:2 tanh:2 reduce:2 add:8", 1,
     1},
    {"transforms;same 6 4;output 1", "vmap:7 constant:7 vjp:7 exp:2 reduce:2 add:8", 1, 1},
};

static void edits_reach_into_transforms(void **state) {
    (void)state;
    fixture f = opened_with(transformed);
    expect_left(&f, within, COUNT_OF(within));
    close_all(&f);
}

/* An operation takes what it took in the whole: exp(x), in each part. */
static void operations_that_are_kept_take_what_they_took(void **state) {
    (void)state;
    fixture f = opened_with(transformed);
    const compiler_options options = {.profile = PROFILE_STRICT};
    compiler_edited kept, whole;
    tensor outputs[4] = {{0}}, values[4] = {{0}};
    status st = STATUS_INIT;
    assert_true(compiler_edit(f.instance, &options, f.inputs,
                              "transforms;keep 5 5;output 2;output 1", &kept, &st));
    assert_true(compiler_edit(f.instance, &options, f.inputs, "transforms;keep 4 5", &whole, &st));
    assert_true(compiler_interpret(kept.instance, kept.inputs, outputs, &st));
    assert_true(compiler_interpret(whole.instance, whole.inputs, values, &st));
    assert_int_equal(outputs[0].rank, 2);
    assert_memory_equal(outputs[0].data, values[0].data, tensor_bytes(&outputs[0]));
    tensor_release_all(outputs, 4);
    tensor_release_all(values, 4);
    compiler_edited_release(&kept);
    compiler_edited_release(&whole);
    close_all(&f);
}

static const char *const not_there[] = {
    "keep 1 1",
    "transforms;keep 1 1",
    "transforms;keep 4 8",
    "transforms;keep 5 4",
    "transforms;keep 8 9",
    "transforms;keep 3 3;keep 9 9",
    "transforms;inside 8",
    "transforms;inside 3",
    "inside 1",
    "transforms;input 4",
    "transforms;prefix 4",
    "prefix 1;transforms",
    "transforms;transforms",
    "transforms;same 9 4",
};

static void edits_of_no_transform_are_refused(void **state) {
    (void)state;
    fixture f = opened_with(transformed);
    const compiler_options options = {.profile = PROFILE_STRICT};
    for (size_t i = 0; i < COUNT_OF(not_there); i++) {
        compiler_edited e;
        status st = STATUS_INIT;
        if (compiler_edit(f.instance, &options, f.inputs, not_there[i], &e, &st) ||
            st.code != STATUS_UNAVAILABLE)
            fail_msg("%s: %d %s", not_there[i], (int)st.code, st.message);
        compiler_edited_release(&e);
    }
    close_all(&f);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(edits_leave_a_smaller_kernel),
        cmocka_unit_test(inputs_have_the_values_that_were_computed),
        cmocka_unit_test(edits_that_say_nothing_are_refused),
        cmocka_unit_test(edits_reach_into_transforms),
        cmocka_unit_test(operations_that_are_kept_take_what_they_took),
        cmocka_unit_test(edits_of_no_transform_are_refused),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
