/* test_shlo_bytecode.c - programs of StableHLO as JAX hands them on, read from the bytes that
 * jaxlib made of the texts in compiler/test/cases/stablehlo; then the same bytes cut and damaged.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "base/file.h"
#include "import/stablehlo/sharding.h"
#include "import/stablehlo/shlo.h"

static uint8_t *bytes_of(const char *name, size_t *size) {
    char path[128], *data;
    status st = STATUS_INIT;
    snprintf(path, sizeof path, "compiler/test/cases/stablehlo/%s.mlirbc", name);
    if (!file_read(path, 1 << 20, &data, size, &st))
        fail_msg("%s", st.message);
    return (uint8_t *)data;
}

static shlo_module *module_of(const char *name) {
    status st = STATUS_INIT;
    size_t size;
    uint8_t *data = bytes_of(name, &size);
    assert_true(shlo_is_bytecode(data, size));
    shlo_module *m = shlo_read_bytecode(data, size, &st);
    if (!m)
        fail_msg("%s: %s", name, st.message);
    free(data); /* the module has what it needs */
    return m;
}

/* Operation `skip` of this name in a block. */
static const shlo_op *op_of(const shlo_block *block, const char *name, int skip) {
    for (const shlo_op *op = block->first; op; op = op->next)
        if (strcmp(op->name, name) == 0 && skip-- == 0)
            return op;
    fail_msg("no %s", name);
    return NULL;
}

static void assert_type(const shlo_type *type, const char *expected) {
    text out;
    text_init(&out);
    shlo_type_print(type, &out);
    assert_string_equal(out.data, expected);
    text_release(&out);
}

static void assert_ints(const shlo_op *op, const char *name, uint32_t count,
                        const int64_t *expected) {
    int64_t found[8];
    assert_int_equal(shlo_op_ints(op, name, found, 8), count);
    assert_memory_equal(found, expected, count * sizeof *expected);
}

/* ---- types ---- */

static void test_types(void **state) {
    (void)state;
    shlo_module *m = module_of("types");
    assert_string_equal(m->name, "types");
    assert_string_equal(m->version, "StableHLO_v1.13.0");
    const shlo_function *f = shlo_function_named(m, "elements");
    assert_true(f->is_private);
    assert_null(f->body);
    assert_type(f->type,
                "(tensor<i1>, tensor<i2>, tensor<i4>, tensor<i8>, tensor<i16>, tensor<i32>, "
                "tensor<i64>, tensor<ui2>, tensor<ui4>, tensor<ui8>, tensor<ui16>, tensor<ui32>, "
                "tensor<ui64>, tensor<f8E4M3FN>, tensor<f8E5M2>, tensor<bf16>, tensor<f16>, "
                "tensor<f32>, tensor<f64>, tensor<complex<f32>>, tensor<complex<f64>>) -> "
                "tensor<index>");
    f = shlo_function_named(m, "main");
    assert_false(f->is_private);
    assert_int_equal(f->type->inputs, 5);
    assert_type(f->type->parts[0], "tensor<2x3xf32>");
    assert_int_equal(f->type->parts[1]->dims[0], SHLO_DYNAMIC);
    assert_int_equal(f->type->parts[2]->kind, SHLO_TYPE_OTHER);
    assert_type(f->type->parts[2], "tensor<?x4xf32, #stablehlo.bounds<8, ?>>");
    assert_type(f->type->parts[3], "tuple<tensor<2xi8>, tuple<tensor<ui8>>>");
    assert_int_equal(f->type->parts[4]->kind, SHLO_TYPE_TOKEN);
    assert_ptr_equal(f->body->arguments[0].type, f->type->parts[0]);
    shlo_module_free(m);
}

static void test_quantized(void **state) {
    (void)state;
    shlo_module *m = module_of("quantized");
    const shlo_type *type = shlo_function_named(m, "main")->type;
    const shlo_quantization *q = type->parts[0]->quantized;
    assert_true(q->storage == SHLO_I8 && q->expressed == SHLO_F32);
    assert_true(q->axis == -1 && q->count == 1 && q->scales[0] == 0.5 && q->zeros[0] == -3);
    assert_true(q->low == -128 && q->high == 127);
    q = type->parts[1]->quantized;
    assert_true(q->storage == SHLO_U8 && type->parts[1]->element == SHLO_U8);
    assert_true(q->axis == 1 && q->count == 2 && q->scales[1] == 0.2 && q->zeros[1] == 7);
    assert_true(q->low == 0 && q->high == 255);
    shlo_module_free(m);
}

/* ---- attributes ---- */

/* A constant's bytes; more than `size` elements of one byte each are a splat. */
static void assert_constant(const shlo_block *block, int place, const char *type, size_t size,
                            const void *bytes, bool is_splat) {
    const shlo_attr *value = shlo_op_attr(op_of(block, "stablehlo.constant", place), "value");
    assert_int_equal(value->kind, SHLO_ATTR_TENSOR);
    assert_type(value->type, type);
    assert_int_equal(value->size, size);
    assert_memory_equal(value->bytes, bytes, size);
    assert_int_equal(value->splat, is_splat);
}

static void test_constants(void **state) {
    (void)state;
    shlo_module *m = module_of("attributes");
    const shlo_block *block = shlo_function_named(m, "constants")->body;
    const float four[] = {1.0f, -2.5f, 0.5f, 3.0f}, seven = 7.0f, pairs[] = {1, 2, -3, 0.25f};
    const uint16_t words[] = {258, 65535};
    const uint32_t nan = 0x7F800001;
    assert_constant(block, 0, "tensor<2x2xf32>", 16, four, false);
    assert_constant(block, 1, "tensor<3x5xf32>", 4, &seven, true);
    /* Bits of the file are bytes here. */
    assert_constant(block, 2, "tensor<10xi1>", 10, "\1\0\1\1\0\0\0\0\1\0", false);
    assert_constant(block, 3, "tensor<20xi1>", 1, "\1", true);
    assert_constant(block, 4, "tensor<20xi1>", 1, "\0", true);
    assert_constant(block, 5, "tensor<3xi1>", 3, "\1\0\1", false);
    assert_constant(block, 7, "tensor<2xcomplex<f32>>", 16, pairs, false);
    assert_constant(block, 8, "tensor<2xui16>", 4, words, false);
    assert_constant(block, 9, "tensor<0xf64>", 0, "", false);
    assert_constant(block, 10, "tensor<f32>", 4, &nan, false);
    /* Elements of four bits have a byte each, and their sign. */
    const int64_t small[] = {-1, 7, -8};
    assert_ints(op_of(block, "stablehlo.constant", 6), "value", 3, small);
    shlo_module_free(m);
}

static void test_dots(const shlo_block *block) {
    const int64_t zero[] = {0}, one[] = {1}, two[] = {2};
    const shlo_op *dot = op_of(block, "stablehlo.dot_general", 0);
    assert_ints(dot, "lhs_batching_dimensions", 1, zero);
    assert_ints(dot, "lhs_contracting_dimensions", 1, two);
    assert_ints(dot, "rhs_contracting_dimensions", 1, one);
    const shlo_attr *type = shlo_op_attr(dot, "lhs_precision_type");
    assert_true(type->kind == SHLO_ATTR_TYPE && type->type->element == SHLO_TF32);
    assert_int_equal(shlo_op_int(dot, "num_primitive_operations", 0), 1);
    /* The second has no algorithm: none of its parts is there. */
    dot = op_of(block, "stablehlo.dot_general", 1);
    assert_null(shlo_op_attr(dot, "lhs_precision_type"));
    assert_null(shlo_op_attr(dot, "allow_imprecise_accumulation"));
    const shlo_attr *precision = shlo_op_attr(dot, "precision_config");
    assert_int_equal(precision->count, 2);
    assert_string_equal(precision->items[0]->string, "HIGH");
    assert_string_equal(precision->items[1]->string, "HIGHEST");
}

static void test_calls(const shlo_block *block) {
    const shlo_op *call = op_of(block, "stablehlo.custom_call", 0);
    assert_string_equal(shlo_op_string(call, "call_target_name", ""), "mine");
    assert_string_equal(shlo_op_string(call, "api_version", ""), "API_VERSION_TYPED_FFI");
    const shlo_attr *config = shlo_op_attr(call, "backend_config");
    assert_true(config->kind == SHLO_ATTR_DICT && config->count == 2);
    assert_string_equal(config->keys[0], "limit");
    assert_int_equal(config->items[0]->integer, -3);
    assert_int_equal(config->items[1]->bits, 0x3FC00000); /* 1.5 */
    const shlo_attr *called = shlo_op_attr(call, "called_computations");
    assert_int_equal(called->items[0]->kind, SHLO_ATTR_SYMBOL);
    assert_string_equal(called->items[0]->string, "constants");
    assert_string_equal(shlo_op_attr(call, "output_operand_aliases")->items[0]->string,
                        "#stablehlo.output_operand_alias<output_tuple_indices = [], "
                        "operand_index = 0, operand_tuple_indices = []>");
    const shlo_op *composite = op_of(block, "stablehlo.composite", 0);
    assert_int_equal(shlo_op_attr(composite, "decomposition")->kind, SHLO_ATTR_SYMBOL);
    assert_int_equal(shlo_op_int(composite, "version", 0), 3);
}

static void test_attributes(void **state) {
    (void)state;
    shlo_module *m = module_of("attributes");
    assert_int_equal(m->attr_count, 2);
    assert_string_equal(m->attrs[0].name, "mhlo.num_partitions");
    assert_int_equal(m->attrs[0].value->integer, 1);
    assert_int_equal(m->attrs[1].value->kind, SHLO_ATTR_UNIT);
    const shlo_block *block = shlo_function_named(m, "main")->body;
    test_dots(block);
    test_calls(block);
    const shlo_op *compare = op_of(block, "stablehlo.compare", 0);
    assert_string_equal(shlo_op_string(compare, "comparison_direction", ""), "LT");
    assert_string_equal(shlo_op_string(compare, "compare_type", ""), "TOTALORDER");
    const shlo_attr *accuracy =
        shlo_op_attr(op_of(block, "stablehlo.exponential", 0), "result_accuracy");
    assert_string_equal(accuracy->string, "TOLERANCE");
    assert_true(accuracy->numbers[0] == 1e-5 && accuracy->numbers[1] == 0.25);
    assert_int_equal(accuracy->integer, 2);
    const shlo_op *pad = op_of(block, "stablehlo.pad", 0);
    assert_ints(pad, "edge_padding_low", 3, (const int64_t[]){0, -1, 2});
    assert_ints(pad, "edge_padding_high", 3, (const int64_t[]){1, 1, -2});
    shlo_module_free(m);
}

/* ---- regions ---- */

/* The loop's condition reads an argument of the function, so that its regions see outside and their
 * values are numbered behind those of the function. Its body reads a constant. */
static void test_loop(void **state) {
    (void)state;
    shlo_module *m = module_of("control");
    const shlo_block *block = shlo_function_named(m, "main")->body;
    const shlo_op *loop = op_of(block, "stablehlo.while", 0);
    assert_true(loop->result_count == 2 && loop->region_count == 2);
    const shlo_op *compare = op_of(loop->regions[0], "stablehlo.compare", 0);
    assert_ptr_equal(compare->operands[0], &loop->regions[0]->arguments[0]);
    assert_ptr_equal(compare->operands[1], &block->arguments[0]);
    assert_ptr_equal(loop->regions[0]->parent, loop);
    const shlo_op *add = op_of(loop->regions[1], "stablehlo.add", 0);
    assert_ptr_equal(add->operands[1], &op_of(block, "stablehlo.constant", 0)->results[0]);
    const shlo_op *call = op_of(loop->regions[1], "stablehlo.call", 0);
    assert_int_equal(shlo_op_attr(call, "callee")->kind, SHLO_ATTR_SYMBOL);
    assert_non_null(shlo_function_named(m, shlo_op_string(call, "callee", "")));
    const shlo_op *back = op_of(loop->regions[1], "stablehlo.return", 0);
    assert_ptr_equal(back->operands[1], &call->results[0]);
    shlo_module_free(m);
}

/* Regions that read nothing from outside are numbered from 0 again. */
static void test_isolated(void **state) {
    (void)state;
    shlo_module *m = module_of("control");
    const shlo_block *block = shlo_function_named(m, "main")->body;
    const shlo_op *loop = op_of(block, "stablehlo.while", 0);
    const shlo_op *reduce = op_of(block, "stablehlo.reduce", 0);
    assert_ptr_equal(reduce->operands[0], &loop->results[1]);
    const shlo_op *add = op_of(reduce->regions[0], "stablehlo.add", 0);
    assert_ptr_equal(add->operands[1], &reduce->regions[0]->arguments[1]);
    const shlo_op *sort = op_of(block, "stablehlo.sort", 0);
    assert_int_equal(shlo_op_int(sort, "is_stable", 0), 1);
    const shlo_op *choice = op_of(block, "stablehlo.if", 0);
    const shlo_op *inner = op_of(choice->regions[1], "stablehlo.case", 0);
    const shlo_op *product = op_of(inner->regions[1], "stablehlo.multiply", 0);
    assert_ptr_equal(product->operands[0], &block->arguments[1]);
    assert_ptr_equal(product->operands[1], &sort->results[0]);
    assert_ptr_equal(op_of(choice->regions[1], "stablehlo.subtract", 0)->operands[0],
                     &inner->results[0]);
    assert_int_equal(m->operation_count, 26);
    shlo_module_free(m);
}

/* ---- locations ---- */

static void assert_place(const shlo_location *l, const char *file, uint32_t line, uint32_t column,
                         const char *name) {
    if (file)
        assert_string_equal(l->file, file);
    else
        assert_null(l->file);
    if (name)
        assert_string_equal(l->name, name);
    else
        assert_null(l->name);
    assert_int_equal(l->line, line);
    assert_int_equal(l->column, column);
}

static void test_locations(void **state) {
    (void)state;
    shlo_module *m = module_of("locations");
    const shlo_function *f = shlo_function_named(m, "main");
    const shlo_op *op = f->body->first;
    assert_place(f->location, "def.py", 1, 1, NULL);
    assert_place(op->location, "model.py", 12, 4, NULL);
    op = op->next; /* of a line, from a column to another one */
    assert_place(op->location, "model.py", 13, 8, NULL);
    op = op->next; /* in a function that is called: the outer name, the inner place */
    assert_place(op->location, "layer.py", 7, 2, "jit(f)/sin");
    op = op->next; /* of several: the first with a place */
    assert_place(op->location, "other.py", 3, 1, "first");
    op = op->next;
    assert_place(op->location, "cos.py", 5, 6, NULL);
    op = op->next;
    assert_place(op->location, NULL, 0, 0, NULL);
    op = op->next;
    assert_place(op->location, NULL, 0, 0, "alone");
    op = op->next;
    assert_place(op->location, "caller.py", 9, 9, NULL);
    shlo_module_free(m);
}

/* ---- what is not StableHLO's ---- */

static void test_others(void **state) {
    (void)state;
    shlo_module *m = module_of("others");
    const shlo_function *f = shlo_function_named(m, "main");
    const shlo_op *constraint = op_of(f->body, "sdy.sharding_constraint", 0);
    assert_null(constraint->info);
    assert_int_equal(constraint->operand_count, 1);
    assert_null(op_of(f->body, "builtin.unrealized_conversion_cast", 0)->info);
    const shlo_op *add = op_of(f->body, "stablehlo.add", 0);
    assert_ptr_equal(add->operands[1], &f->body->arguments[1]);
    const shlo_attr *kept = shlo_op_attr(add, "mhlo.frontend_attributes");
    assert_string_equal(kept->keys[0], "note");
    assert_string_equal(kept->items[0]->string, "kept");
    const shlo_attr *first = f->argument_attrs[0];
    assert_int_equal(first->count, 2);
    assert_string_equal(first->keys[0], "jax.buffer_donor");
    assert_int_equal(first->items[0]->integer, 1);
    assert_string_equal(f->result_attrs[0]->items[0]->string, "result");
    shlo_module_free(m);
}

/* ---- meshes of devices ---- */

static const char *word_of(const shlo_op *op, const char *name) {
    const shlo_attr *a = shlo_op_attr(op, name);
    assert_non_null(a);
    assert_int_equal(a->kind, SHLO_ATTR_OTHER);
    return a->string;
}

/* Shardy's attributes are the text that Shardy prints. */
static void test_mesh(void **state) {
    (void)state;
    shlo_module *m = module_of("mesh");
    const shlo_function *f = shlo_function_named(m, "main");
    assert_string_equal(m->meshes, "sdy.mesh @devices = <[\"x\"=2, \"y\"=4]>\n"
                                   "sdy.mesh @turned = <[\"x\"=2, \"y\"=4], "
                                   "device_ids=[7, 6, 5, 4, 3, 2, 1, 0]>");
    assert_string_equal(f->argument_attrs[0]->items[0]->string,
                        "#sdy.sharding<@devices, [{\"x\"}, {\"y\":(1)2, ?}], "
                        "replicated={\"y\":(2)2}>");
    assert_string_equal(f->argument_attrs[1]->items[0]->string,
                        "#sdy.sharding<mesh<[\"z\"=8]>, [{?}p1]>");
    const shlo_op *manual = op_of(f->body, "sdy.manual_computation", 0);
    assert_string_equal(word_of(manual, "in_shardings"),
                        "#sdy.sharding_per_value<[<@devices, [{\"x\"}, {}]>, <@devices, [{}]>]>");
    assert_string_equal(word_of(manual, "manual_axes"), "#sdy<manual_axes{\"x\"}>");
    assert_string_equal(word_of(op_of(f->body, "sdy.reshard", 0), "sharding"),
                        "#sdy.sharding<@turned, [{\"y\"}, {}]>");
    shlo_module_free(m);
}

/* The first argument is cut in two along x, and along the outer half of y; device 6 is place 1 of
 * the mesh that is turned around. */
static void test_sharding(void **state) {
    (void)state;
    shlo_module *m = module_of("mesh");
    const shlo_function *f = shlo_function_named(m, "main");
    shlo_sharding s;
    const char *why;
    assert_true(shlo_sharding_of(m, f, 0, &s, &why));
    assert_null(why);
    assert_int_equal(shlo_sharding_parts(&s, 0), 2);
    assert_int_equal(shlo_sharding_parts(&s, 1), 2);
    assert_int_equal(shlo_sharding_part(&s, 0, 6), 1);
    assert_int_equal(shlo_sharding_part(&s, 1, 6), 1);
    assert_int_equal(shlo_sharding_part(&s, 1, 5), 0);
    assert_true(shlo_sharding_of(m, f, 2, &s, &why));
    assert_int_equal(shlo_sharding_parts(&s, 0), 8);
    assert_int_equal(shlo_sharding_part(&s, 0, 6), 2); /* y = 1, x = 0 */
    assert_true(shlo_sharding_of(m, f, 3, &s, &why));  /* as its region gives it */
    assert_int_equal(shlo_sharding_parts(&s, 0), 1);
    shlo_module_free(m);
}

static void assert_tiles(const char *words, int64_t device, int64_t first, int64_t second) {
    shlo_module *m = shlo_module_new();
    const shlo_attr a = {.kind = SHLO_ATTR_STRING, .string = words, .length = strlen(words)};
    shlo_sharding s;
    assert_null(shlo_sharding_read(m, &a, 2, &s));
    assert_int_equal(shlo_sharding_part(&s, 0, device), first);
    assert_int_equal(shlo_sharding_part(&s, 1, device), second);
    shlo_module_free(m);
}

static void test_tiles(void **state) {
    (void)state;
    assert_tiles("{replicated}", 3, 0, 0);
    assert_tiles("{devices=[2,2]<=[4]}", 1, 0, 1);
    assert_tiles("{devices=[2,2]<=[2,2]T(1,0)}", 1, 1, 0);
    assert_tiles("{devices=[2,2]0,3,1,2}", 1, 1, 0);
    assert_tiles("{devices=[1,2,2]<=[4] last_tile_dim_replicate}", 2, 0, 1);
    shlo_module *m = shlo_module_new();
    const char *const wrong[] = {"",
                                 "{manual}",
                                 "{devices=[2,2]<=[4]",
                                 "{devices=[2,2]<=[8]}",
                                 "{devices=[2,2]0,1,2}",
                                 "{devices=[2,2]0,1,2,9}",
                                 "{devices=[2,2]<=[2,2]T(0,0)}",
                                 "{devices=[99999,99999]<=[4]}",
                                 "{devices=[2]<=[2]}"};
    for (size_t i = 0; i < sizeof wrong / sizeof *wrong; i++) {
        const shlo_attr a = {.kind = SHLO_ATTR_STRING, .string = wrong[i]};
        shlo_sharding s;
        assert_non_null(shlo_sharding_read(m, &a, 2, &s));
    }
    shlo_module_free(m);
}

/* ---- what is refused ---- */

static void assert_refused(const uint8_t *data, size_t size, const char *why) {
    status st = STATUS_INIT;
    assert_null(shlo_read_bytecode(data, size, &st));
    assert_int_equal(st.code, STATUS_INVALID);
    if (!strstr(st.message, why))
        fail_msg("'%s' is not in '%s'", why, st.message);
}

/* The same file with a word in the place of one that is as long. */
static void assert_replaced(const char *name, const char *word, const char *by, const char *why) {
    size_t size;
    uint8_t *data = bytes_of(name, &size);
    uint8_t *found = memmem(data, size, word, strlen(word));
    assert_non_null(found);
    memcpy(found, by, strlen(word));
    assert_refused(data, size, why);
    free(data);
}

static void test_refused(void **state) {
    (void)state;
    assert_refused((const uint8_t *)"module {}", 9, "byte 0: this is no bytecode");
    assert_refused((const uint8_t *)"ML\xEFR\x0B", 5, "byte 4: this is version 5 of bytecode");
    assert_replaced("control", "tanh_v", "tanq_v", "there is no operation 'tanq_v2'");
    assert_replaced("control", "tanh_v2", "tanh_v3", "there is no operation 'tanh_v3'");
    assert_replaced("control", "sort_v1", "sort_v2", "there is no operation 'sort_v2'");
    assert_replaced("control", "sort_v1", "or\0\0_v1", "there is no operation 'or'");
    /* Now an addition has the attributes of a hyperbolic tangent. */
    assert_replaced("control", "tanh_v2", "cbrt_v1", "left over behind the properties");
}

/* ---- damage ---- */

static void visit_attr(const shlo_attr *a, uint64_t *sum) {
    for (size_t i = 0; i < a->size; i++)
        *sum += a->bytes[i];
    *sum += a->string ? strlen(a->string) : 0;
    for (uint32_t i = 0; i < a->count; i++)
        visit_attr(a->items[i], sum);
}

static void visit_block(const shlo_block *block, uint64_t *sum, text *out) {
    for (const shlo_op *op = block ? block->first : NULL; op; op = op->next) {
        for (uint32_t i = 0; i < op->operand_count; i++)
            shlo_type_print(op->operands[i]->type, out);
        for (uint32_t i = 0; i < op->result_count; i++)
            shlo_type_print(op->results[i].type, out);
        for (uint32_t i = 0; i < op->attr_count; i++)
            visit_attr(op->attrs[i].value, sum);
        *sum += op->location->line;
        for (uint32_t i = 0; i < op->region_count; i++)
            visit_block(op->regions[i], sum, out);
    }
}

/* Reads all that a module has: the sanitizers look on. */
static void visit(const shlo_module *m) {
    uint64_t sum = 0;
    text out;
    text_init(&out);
    for (const shlo_function *f = m->first; f; f = f->next) {
        shlo_type_print(f->type, &out);
        visit_block(f->body, &sum, &out);
    }
    text_release(&out);
}

static void read_damaged(const uint8_t *data, size_t size) {
    status st = STATUS_INIT;
    shlo_module *m = shlo_read_bytecode(data, size, &st);
    assert_int_equal(st.code, m ? STATUS_OK : STATUS_INVALID);
    if (m)
        visit(m);
    shlo_module_free(m);
}

static const char *const files[] = {"types",     "quantized", "attributes", "control",
                                    "locations", "others",    "mesh"};
enum { FILES = sizeof files / sizeof *files };

/* A file that was not written to its end. The copy's own end is where the bytes end. */
static void test_cut(void **state) {
    (void)state;
    for (int f = 0; f < FILES; f++) {
        size_t size;
        uint8_t *data = bytes_of(files[f], &size);
        for (size_t cut = 0; cut < size; cut++) {
            uint8_t *piece = malloc(cut ? cut : 1);
            memcpy(piece, data, cut);
            assert_refused(piece, cut, "byte ");
            free(piece);
        }
        free(data);
    }
}

/* Each byte in turn with each of its bits turned over, and all of them: an error, or a module. */
static void test_flipped(void **state) {
    (void)state;
    for (int f = 0; f < FILES; f++) {
        size_t size;
        uint8_t *data = bytes_of(files[f], &size);
        for (size_t i = 0; i < size; i++)
            for (int bit = 0; bit < 9; bit++) {
                const uint8_t mask = (uint8_t)(bit < 8 ? 1 << bit : 0xFF);
                data[i] ^= mask;
                read_damaged(data, size);
                data[i] ^= mask;
            }
        free(data);
    }
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_types),     cmocka_unit_test(test_quantized),
        cmocka_unit_test(test_constants), cmocka_unit_test(test_attributes),
        cmocka_unit_test(test_loop),      cmocka_unit_test(test_isolated),
        cmocka_unit_test(test_locations), cmocka_unit_test(test_others),
        cmocka_unit_test(test_mesh),      cmocka_unit_test(test_sharding),
        cmocka_unit_test(test_tiles),     cmocka_unit_test(test_refused),
        cmocka_unit_test(test_cut),       cmocka_unit_test(test_flipped)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
