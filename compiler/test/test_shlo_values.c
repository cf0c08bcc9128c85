/* test_shlo_values.c - operations of StableHLO on numbers (cases/stablehlo/values.txt), imported,
 * compiled and run: the numbers that the specification has. Other tests compare what is imported
 * with itself: the graph, or backends with the interpreter. */
#include "runtime/test/test.h"

#include <stdlib.h>
#include <string.h>

#include "base/file.h"
#include "base/text.h"
#include "tessera/compile.h"

enum { VALUES = 8, BYTES = 64 };

typedef struct expectation {
    text value, constant, shape; /* %a; dense<...>; tensor<..> between these */
} expectation;

static void take_line(const char *from, size_t length, text *body, expectation *e, int *count) {
    const char word[] = "expect ";
    if (strncmp(from, word, sizeof word - 1) != 0) {
        text_append_bytes(body, from, length);
        text_append(body, "\n");
        return;
    }
    const char *value = from + sizeof word - 1, *equal = strstr(value, " = "),
               *type = strstr(value, " : ");
    assert_true(*count < VALUES && equal && type && equal < type && type < from + length);
    expectation *own = &e[(*count)++];
    text_init(&own->value);
    text_init(&own->constant);
    text_init(&own->shape);
    text_append_bytes(&own->value, value, (size_t)(equal - value));
    text_append_bytes(&own->constant, equal + 3, (size_t)(type - equal - 3));
    text_append_bytes(&own->shape, type + 3, (size_t)(from + length - type - 3));
}

/* tensor<2x3xi32> with another element. */
static void put_truths(text *t, const char *shape) {
    const char *element = strchr(shape, '<') + 1;
    element += strspn(element, "0123456789x");
    text_printf(t, "%.*si1>", (int)(element - shape), shape);
}

/* A program that compares each value with what it must be. */
static void write_program(const text *body, const expectation *e, int count, text *t) {
    text_append(t, "func.func public @main() -> (");
    for (int i = 0; i < count; i++) {
        text_append(t, i ? ", " : "");
        put_truths(t, e[i].shape.data);
    }
    text_printf(t, ") {\n%s", body->data);
    for (int i = 0; i < count; i++) {
        const char *shape = e[i].shape.data;
        text_printf(t, "%%wanted%d = stablehlo.constant %s : %s\n", i, e[i].constant.data, shape);
        text_printf(t, "%%is%d = stablehlo.compare EQ, %s, %%wanted%d : (%s, %s) -> ", i,
                    e[i].value.data, i, shape, shape);
        put_truths(t, shape);
        text_append(t, "\n");
    }
    text_append(t, "return ");
    for (int i = 0; i < count; i++)
        text_printf(t, "%s%%is%d", i ? ", " : "", i);
    text_append(t, " : ");
    for (int i = 0; i < count; i++) {
        text_append(t, i ? ", " : "");
        put_truths(t, e[i].shape.data);
    }
    text_append(t, "\n}\n");
}

static void open_kernel(tsr_context_t context, const char *name, const text *program,
                        tsr_module_t *module, tsr_compilation_t *compiled, tsr_kernel_t *kernel) {
    size_t size;
    if (tsrCompile(program->data, program->length, "values.mlir", NULL, compiled) != TSR_SUCCESS)
        fail_msg("%s: %s\n%s", name, tsrGetDiagnosticText(*compiled), program->data);
    const void *image = tsrGetCompiledModule(*compiled, &size);
    assert_int_equal(tsrLoadModule(context, image, size, module), TSR_SUCCESS);
    assert_int_equal(tsrGetKernel(*module, "main", kernel), TSR_SUCCESS);
}

static size_t count_of(tsr_compilation_t compiled, uint32_t result) {
    tsr_shape_t shape = {.struct_size = sizeof shape};
    size_t count = 1;
    assert_int_equal(tsrGetShape(compiled, result, &shape), TSR_SUCCESS);
    for (uint32_t axis = 0; axis < shape.rank; axis++)
        count *= (size_t)shape.dims[axis];
    assert_true(count <= BYTES);
    return count;
}

static void run_case(tsr_context_t context, const char *name, const text *program,
                     const expectation *e, int count) {
    tsr_compilation_t compiled;
    tsr_module_t module;
    tsr_kernel_t kernel;
    void *buffers[VALUES], *args[VALUES];
    open_kernel(context, name, program, &module, &compiled, &kernel);
    for (int i = 0; i < count; i++) {
        buffers[i] = aligned_alloc(64, BYTES);
        args[i] = &buffers[i];
    }
    assert_int_equal(tsrLaunch(kernel, NULL, (tsr_launch_t){0}, args, (size_t)count), TSR_SUCCESS);
    assert_int_equal(tsrStreamSynchronize(context, NULL), TSR_SUCCESS);
    for (int i = 0; i < count; i++) {
        for (size_t k = 0; k < count_of(compiled, (uint32_t)i); k++)
            if (!((const unsigned char *)buffers[i])[k])
                fail_msg("%s: element %zu of %s is not that of %s", name, k, e[i].value.data,
                         e[i].constant.data);
        free(buffers[i]);
    }
    assert_int_equal(tsrUnloadModule(module), TSR_SUCCESS);
    tsrDestroyCompilation(compiled);
}

/* A case from behind its "== " on; returns what follows it. */
static const char *read_case(tsr_context_t context, const char *at) {
    const char *line = strchr(at, '\n') + 1;
    char *name = strndup(at, (size_t)(line - 1 - at));
    expectation e[VALUES];
    text body, program;
    int count = 0;
    text_init(&body);
    text_init(&program);
    while (*line && strncmp(line, "== ", 3) != 0) {
        const size_t length = strcspn(line, "\n");
        take_line(line, length, &body, e, &count);
        line += length + (line[length] == '\n');
    }
    assert_true(count > 0);
    write_program(&body, e, count, &program);
    run_case(context, name, &program, e, count);
    for (int i = 0; i < count; i++) {
        text_release(&e[i].value);
        text_release(&e[i].constant);
        text_release(&e[i].shape);
    }
    text_release(&body);
    text_release(&program);
    free(name);
    return *line ? line + 3 : NULL;
}

static void test_values(void **state) {
    tsr_context_t context;
    char *file;
    size_t size;
    status st = STATUS_INIT;
    (void)state;
    assert_true(file_read("compiler/test/cases/stablehlo/values.txt", 1 << 20, &file, &size, &st));
    assert_int_equal(tsrCreateContext(&context), TSR_SUCCESS);
    const char *at = strstr(file, "\n== ");
    for (at = at ? at + 4 : NULL; at;)
        at = read_case(context, at);
    assert_int_equal(tsrDestroyContext(context), TSR_SUCCESS);
    free(file);
}

int main(void) {
    const struct CMUnitTest tests[] = {cmocka_unit_test(test_values)};
    return cmocka_run_group_tests_name("shlo_values", tests, NULL, NULL);
}
