/* test_gpu_code.c - code for GPUs read back: what counts of a module's instructions are made of,
 * and the notes of a HSACO, also when they are damaged. */
#include "runtime/test/test.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "graph/instance.h"
#include "target/target.h"
#include "tessera/compiler.h"

static const char source[] =
    "from tessera import *\n@kernel\ndef f(x: Tensor[33, 20, f32], y: "
    "Tensor[20, 17, f32]) -> Tensor[33, 17, f32]:\n    return exp(x @ y)\n";

static compiler_instance *open_text(const char *words) {
    text said;
    text_init(&said);
    compiler_source *s = compiler_open_text("test.tsr", words, false, &said);
    ir_module *graph = compiler_graph(s, compiler_kernel_at(s, 0), NULL, &said);
    if (!graph)
        fail_msg("%s", said.data);
    compiler_close(s);
    text_release(&said);
    return compiler_instance_new(graph, (ir_bindings){NULL, 0});
}

static compiler_instance *open_kernel(void) {
    return open_text(source);
}

static compiler_code_facts facts_for(compiler_instance *instance, const char *isa,
                                     const char *const *also, uint32_t also_count) {
    compiler_options options = {.isa = isa, .also = also, .also_count = also_count};
    compiler_artifact made;
    compiler_code_facts facts;
    status st = STATUS_INIT;
    if (!compiler_build(instance, &options, &made, &st) ||
        !compiler_code_facts_of(made.image, made.image_size, &facts, &st))
        fail_msg("%s: %s", isa, st.message);
    compiler_artifact_release(&made);
    return facts;
}

/* Each target's code is read; a module of several has the sum, and its images share the passes that
 * know no target. */
static void instructions_of_all_targets_are_counted(void **state) {
    static const char *const isas[] = {"x86-64-v3", "aarch64-neon", "sm_80",
                                       "sm_90a",    "gfx90a",       "gfx1100"};
    compiler_instance *instance = open_kernel();
    compiler_code_facts sum = {0};
    (void)state;
    for (size_t i = 0; i < COUNT_OF(isas); i++) {
        compiler_code_facts one = facts_for(instance, isas[i], NULL, 0);
        assert_true(one.instructions > 50);
        assert_true(one.code_bytes > one.instructions);
        assert_true(one.stack_accesses < one.instructions);
        sum.instructions += one.instructions;
        sum.stack_accesses += one.stack_accesses;
        sum.code_bytes += one.code_bytes;
    }
    compiler_code_facts all = facts_for(instance, isas[0], isas + 1, COUNT_OF(isas) - 1);
    assert_non_null(instance->prepared);
    assert_null(instance->prepared->next);
    assert_int_equal(all.instructions, sum.instructions);
    assert_int_equal(all.stack_accesses, sum.stack_accesses);
    assert_int_equal(all.code_bytes, sum.code_bytes);
    compiler_instance_free(instance);
}

static void emulated_threads_are_code_of_this_machine(void **state) {
    char reason[COMPILER_REASON_BYTES];
    (void)state;
    if (!compiler_target_runs("sm_80-emulated", reason))
        return;
    compiler_instance *instance = open_kernel();
    assert_true(facts_for(instance, "sm_80-emulated", NULL, 0).instructions > 50);
    compiler_instance_free(instance);
}

/* ---- notes ---- */

typedef struct told {
    int64_t vgprs;
    int count;
} told;

static void take(void *context, const char *symbol, const char *name, int64_t value) {
    told *t = context;
    assert_string_equal(symbol, "f_phase_0");
    t->count++;
    if (strcmp(name, "vgprs") == 0)
        t->vgprs = value;
}

static bool read_notes(const void *bytes, size_t size, told *t) {
    status st = STATUS_INIT;
    const resource_reader reader = {.tell = take, .context = t};
    *t = (told){0};
    bool ok = hsaco_resources(bytes, size, &reader, &st);
    assert_int_equal(st.code, ok ? STATUS_OK : STATUS_CORRUPT);
    return ok;
}

static text hsaco_of(const char *isa) {
    compiler_instance *instance = open_kernel();
    compiler_options options = {.isa = isa};
    status st = STATUS_INIT;
    text code;
    text_init(&code);
    if (!compiler_emit(instance, &options, "hsaco", &code, &st))
        fail_msg("%s", st.message);
    compiler_instance_free(instance);
    return code;
}

static void notes_tell_of_registers(void **state) {
    static const char *const isas[] = {"gfx90a", "gfx942", "gfx1100"};
    (void)state;
    for (size_t i = 0; i < COUNT_OF(isas); i++) {
        text code = hsaco_of(isas[i]);
        told t;
        assert_true(read_notes(code.data, code.length, &t));
        assert_true(t.vgprs > 0 && t.vgprs <= target_find(isas[i])->thread_registers);
        assert_true(t.count >= 5);
        text_release(&code);
    }
}

/* The end is gone, from each byte on: a copy of just that size, so that the sanitizer sees whoever
 * reads past it. */
static void notes_that_are_cut_are_refused_or_whole(void **state) {
    text code = hsaco_of("gfx942");
    size_t refused = 0, last = 2048 < code.length ? 2048 : code.length;
    told t;
    (void)state;
    for (size_t size = 0; size < last; size++) {
        char *copy = malloc(size + 1);
        memcpy(copy, code.data, size);
        refused += !read_notes(copy, size, &t);
        free(copy);
    }
    assert_true(refused > 64);
    text_release(&code);
}

/* One byte of the metadata is another one: numbers may differ, names are looked for by `take`. */
static void ignore(void *context, const char *symbol, const char *name, int64_t value) {
    (void)symbol, (void)name, (void)value;
    ++*(int *)context;
}

static void damaged_notes_end(void **state) {
    static const unsigned char values[] = {0x00, 0x7f, 0x80, 0x8f, 0x9f, 0xbf,
                                           0xc1, 0xc6, 0xdb, 0xdd, 0xdf, 0xff};
    text code = hsaco_of("gfx942");
    int told_of = 0, refused = 0;
    const resource_reader reader = {.tell = ignore, .context = &told_of};
    (void)state;
    for (size_t at = 0; at < code.length && at < 2048; at++)
        for (size_t v = 0; v < COUNT_OF(values); v++) {
            status st = STATUS_INIT;
            char kept = code.data[at];
            code.data[at] = (char)values[v];
            refused += !hsaco_resources(code.data, code.length, &reader, &st);
            code.data[at] = kept;
        }
    assert_true(told_of > 0 && refused > 0);
    text_release(&code);
}

/* ---- what ptxas says ---- */

static void add_up(void *context, const char *symbol, const char *name, int64_t value) {
    text_printf(context, "%s.%s=%lld ", symbol, name, (long long)value);
}

static void numbers_of_each_entry_are_found(void **state) {
    static const struct {
        const char *messages, *found;
    } rows[] = {
        {"", ""},
        {"ptxas info    : 0 bytes gmem\n", ""},
        {"ptxas info    : Compiling entry function 'a' for 'sm_80'\n"
         "ptxas info    : Function properties for a\n"
         "    8 bytes stack frame, 4 bytes spill stores, 12 bytes spill loads\n"
         "ptxas info    : Used 255 registers, used 1 barriers, 376 bytes cmem[0]\n",
         "a.registers=255 a.stack_bytes=8 a.spill_store_bytes=4 a.spill_load_bytes=12 "},
        {"Compiling entry function 'a' for 'sm_80'\nUsed 3 registers\n"
         "Compiling entry function 'b' for 'sm_80'\nUsed 4 registers\n",
         "a.registers=3 b.registers=4 "},
        {"Compiling entry function 'a' for 'sm_80'\nUsed  registers, bytes spill stores\n", ""},
        {"Compiling entry function '", ""},
    };
    (void)state;
    for (size_t i = 0; i < COUNT_OF(rows); i++) {
        text found;
        text_init(&found);
        text_append(&found, "");
        const resource_reader reader = {.tell = add_up, .context = &found};
        ptxas_resources(rows[i].messages, &reader);
        assert_string_equal(found.length ? found.data : "", rows[i].found);
        text_release(&found);
    }
}

/* Scores of 33 keys by 33 queries: those of a second head begin at an odd number of elements, where
 * chips load no two floats at once. No emulator asks for that. */
static void vectors_are_loaded_where_they_are_aligned(void **state) {
    static const char odd[] =
        "from tessera import *\n@kernel\ndef f(q: Tensor[%s33, 24, f32], k: Tensor[%s33, 24, "
        "f32], v: Tensor[%s33, 24, f32]) -> Tensor[%s33, 24, f32]:\n    return attention(q, k, "
        "v)\n";
    static const char *const heads[] = {"", "6, "};
    (void)state;
    for (size_t i = 0; i < COUNT_OF(heads); i++) {
        char words[512];
        const compiler_options options = {.isa = "sm_80"};
        status st = STATUS_INIT;
        text code;
        text_init(&code);
        snprintf(words, sizeof words, odd, heads[i], heads[i], heads[i], heads[i]);
        compiler_instance *instance = open_text(words);
        if (!compiler_emit(instance, &options, "asm", &code, &st))
            fail_msg("%s", st.message);
        assert_non_null(strstr(code.data, "ld.global.v4.f32"));
        if (*heads[i]) /* of the scores of one head alone there are pairs */
            assert_null(strstr(code.data, "ld.global.v2.f32"));
        else
            assert_non_null(strstr(code.data, "ld.global.v2.f32"));
        text_release(&code);
        compiler_instance_free(instance);
    }
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(instructions_of_all_targets_are_counted),
        cmocka_unit_test(emulated_threads_are_code_of_this_machine),
        cmocka_unit_test(notes_tell_of_registers),
        cmocka_unit_test(notes_that_are_cut_are_refused_or_whole),
        cmocka_unit_test(damaged_notes_end),
        cmocka_unit_test(numbers_of_each_entry_are_found),
        cmocka_unit_test(vectors_are_loaded_where_they_are_aligned),
    };
    compiler_init();
    return cmocka_run_group_tests(tests, NULL, NULL);
}
