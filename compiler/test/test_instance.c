/* test_instance.c - an instance is a value: it owns what it was made from, what it computes is what
 * a fresh one computes, is kept, and does not change by being used. */
#include "runtime/test/test.h"

#include <stdlib.h>
#include <string.h>

#include "tessera/compiler.h"

static const char SOURCE[] = "from tessera import *\n"
                             "@cases(case(\"small\", N=5, K=3), case(\"empty\", N=0, K=3))\n"
                             "@kernel\n"
                             "def f(x: Tensor[\"N\", \"K\", f32], t: Tensor[\"N\", i32]\n"
                             ") -> Tensor[f32]:\n"
                             "    return cross_entropy(softmax(x), t)\n";

static compiler_instance *open_case(uint32_t index) {
    text said;
    text_init(&said);
    compiler_source *s = compiler_open_text("test.tsr", SOURCE, false, &said);
    assert_string_equal(said.data, "");
    const compiler_kernel *k = compiler_kernel_at(s, 0);
    compiler_instance *instance = compiler_instance_open(s, k, &k->cases[index], &said);
    assert_non_null(instance);
    compiler_close(s); /* an instance needs no source */
    text_release(&said);
    return instance;
}

static compiler_instance *open_with(const ir_binding *items, uint32_t count) {
    compiler_instance *other = open_case(0);
    compiler_instance *instance = compiler_instance_new(
        ir_module_clone(compiler_instance_graph(other)), (ir_bindings){items, count});
    compiler_instance_free(other);
    return instance;
}

static void test_text_and_hash(void **state) {
    (void)state;
    compiler_instance *a = open_case(0), *b = open_case(1);
    text printed;
    text_init(&printed);
    ir_print(compiler_instance_graph(a), &printed);
    sha256 digest = sha256_of(printed.data, printed.length);
    const text *words = compiler_instance_text(a);
    assert_string_equal(words->data, printed.data);
    assert_ptr_equal(compiler_instance_text(a), words);
    assert_memory_equal(compiler_instance_hash(a), &digest, sizeof digest);
    /* Dimensions are no part of the graph. */
    assert_memory_equal(compiler_instance_hash(b), &digest, sizeof digest);
    text_release(&printed);
    compiler_instance_free(a);
    compiler_instance_free(b);
    compiler_instance_free(NULL);
}

static void test_dimensions_are_copied(void **state) {
    (void)state;
    char name[] = "N";
    ir_binding items[] = {{name, 4}, {"K", 2}};
    compiler_instance *instance = open_with(items, 2);
    compiler_signature signature;
    status st = STATUS_INIT;
    items[0].value = 9;
    name[0] = 'M';
    assert_int_equal(compiler_instance_dims(instance).count, 2);
    assert_string_equal(compiler_instance_dims(instance).items[0].name, "N");
    assert_true(compiler_signature_of(instance, &signature, &st));
    assert_int_equal(signature.inputs[0].dims[0], 4);
    assert_int_equal(signature.inputs[0].dims[1], 2);
    compiler_instance_free(instance);
}

/* Every answer, before and after everything else was asked and made. */
typedef struct answers {
    uint64_t flops, bytes;
    sha256 graph, schedule, module;
    float output;
} answers;

static void interpret(compiler_instance *instance, const compiler_signature *signature,
                      answers *out) {
    status st = STATUS_INIT;
    tensor inputs[2], output;
    for (int i = 0; i < 2; i++)
        assert_true(tensor_init(&inputs[i], signature->inputs[i].type, signature->inputs[i].rank,
                                signature->inputs[i].dims, &st));
    for (int i = 0; i < 15; i++)
        ((float *)inputs[0].data)[i] = (float)(i % 4);
    for (int i = 0; i < 5; i++)
        ((int32_t *)inputs[1].data)[i] = i % 3;
    assert_true(compiler_check_values(instance, inputs, &st));
    assert_true(compiler_interpret(instance, inputs, &output, &st));
    assert_int_equal(tensor_bytes(&output), sizeof out->output);
    memcpy(&out->output, output.data, sizeof out->output);
    ((int32_t *)inputs[1].data)[4] = 3;
    assert_false(compiler_check_values(instance, inputs, &st));
    for (int i = 0; i < 2; i++)
        tensor_release(&inputs[i]);
    tensor_release(&output);
}

static answers ask(compiler_instance *instance) {
    const compiler_options options = {.isa = "x86-64-v3", .threads = 2};
    compiler_signature signature;
    compiler_artifact artifact;
    status st = STATUS_INIT;
    answers a;
    memset(&a, 0, sizeof a);
    assert_true(compiler_build(instance, &options, &artifact, &st));
    a.graph = artifact.graph_hash;
    a.schedule = artifact.schedule_hash;
    a.module = artifact.module_hash;
    compiler_artifact_release(&artifact);
    assert_memory_equal(&a.graph, compiler_instance_hash(instance), sizeof a.graph);
    assert_true(compiler_cost(instance, &a.flops, &a.bytes, &st));
    assert_true(compiler_signature_of(instance, &signature, &st));
    interpret(instance, &signature, &a);
    return a;
}

static void build_for_any(compiler_instance *instance) {
    const ir_binding small[] = {{"N", 2}, {"K", 2}};
    const ir_bindings variant = {small, 2};
    const compiler_options options = {
        .isa = "x86-64-v3", .generic = true, .variants = &variant, .variant_count = 1};
    compiler_artifact artifact;
    status st = STATUS_INIT;
    assert_true(compiler_build(instance, &options, &artifact, &st));
    compiler_artifact_release(&artifact);
}

static void test_use_changes_nothing(void **state) {
    (void)state;
    compiler_instance *instance = open_case(0), *fresh = open_case(0);
    const answers first = ask(instance);
    text before;
    status st = STATUS_INIT;
    text_init(&before);
    const ir_module *primitives = compiler_primitives(instance, &st);
    ir_print(primitives, &before);
    build_for_any(instance);
    assert_true(first.flops > 0 && first.bytes > 0);
    const answers again = ask(instance), other = ask(fresh);
    assert_memory_equal(&first, &again, sizeof first);
    assert_memory_equal(&first, &other, sizeof first);
    assert_ptr_equal(compiler_primitives(instance, &st), primitives);
    text after;
    text_init(&after);
    ir_print(primitives, &after);
    assert_string_equal(before.data, after.data);
    text_clear(&after);
    ir_print(compiler_instance_graph(instance), &after);
    assert_string_equal(compiler_instance_text(instance)->data, after.data);
    text_release(&before);
    text_release(&after);
    compiler_instance_free(instance);
    compiler_instance_free(fresh);
}

/* A failure is not kept: it is said again to whoever asks again. */
static void test_what_has_no_value(void **state) {
    (void)state;
    const ir_binding only[] = {{"N", 4}}, vast[] = {{"N", INT64_C(1) << 40}, {"K", 1 << 20}};
    compiler_instance *lacking = open_with(only, 1), *large = open_with(vast, 2);
    for (int i = 0; i < 2; i++) {
        uint64_t flops, bytes;
        compiler_artifact artifact;
        status a = STATUS_INIT, b = STATUS_INIT, c = STATUS_INIT, d = STATUS_INIT;
        assert_null(compiler_primitives(lacking, &a));
        assert_int_equal(a.code, STATUS_INVALID);
        assert_false(compiler_cost(lacking, &flops, &bytes, &b));
        assert_string_equal(a.message, b.message);
        assert_false(compiler_build(lacking, &(compiler_options){0}, &artifact, &c));
        assert_int_equal(c.code, STATUS_INVALID);
        assert_null(compiler_primitives(large, &d));
        assert_int_equal(d.code, STATUS_INVALID);
    }
    build_for_any(lacking); /* which asks for no numbers */
    compiler_instance_free(lacking);
    compiler_instance_free(large);
}

int main(void) {
    compiler_init();
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_text_and_hash),
        cmocka_unit_test(test_dimensions_are_copied),
        cmocka_unit_test(test_use_changes_nothing),
        cmocka_unit_test(test_what_has_no_value),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
