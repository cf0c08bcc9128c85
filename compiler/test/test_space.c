/* test_space.c - the table of schedule parameters against itself, and the scheduler's own choices
 * against its limits: what is chosen for the corpus could have been asked for. */
#include <dirent.h>
#include <inttypes.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "space/space.h"
#include "tessera/compiler.h"

#define COUNT_OF(list) (sizeof(list) / sizeof(list)[0])

static void test_table(void **state) {
    const space_parameter *table;
    uint32_t count = space_parameters(&table);
    (void)state;
    assert_true(count > 0);
    for (uint32_t i = 0; i < count; i++) {
        const space_parameter *p = &table[i];
        assert_true(p->groups != 0 && p->minimum <= p->maximum && *p->source && *p->summary);
        for (uint32_t k = 0; k < i; k++) { /* a name is one parameter for each kind of group */
            bool both = strcmp(table[k].name, p->name) == 0 && (table[k].groups & p->groups);
            assert_false(both);
            bool tuple = strcmp(table[k].source, p->source) == 0;
            assert_true(!tuple || (table[k].position < 0) == (p->position < 0));
        }
    }
}

/* Every candidate may be asked for, on machines with vectors of any length. */
static void test_candidates(void **state) {
    static const int64_t lanes[] = {1, 2, 4, 8, 16};
    const space_parameter *table;
    uint32_t count = space_parameters(&table);
    (void)state;
    for (uint32_t i = 0; i < count; i++)
        for (size_t l = 0; l < COUNT_OF(lanes); l++) {
            int64_t list[SPACE_CANDIDATES_MAX];
            space_values none = {NULL, 0};
            space_machine machine = {.lanes = lanes[l], .element_bytes = 4, .registers = 32};
            uint32_t n = space_candidates(&table[i], &none, &machine, list);
            assert_true(n > 0);
            for (uint32_t k = 0; k < n; k++) {
                text why;
                text_init(&why);
                if (!space_check_value(&table[i], list[k], &none, &machine, &why))
                    fail_msg("%s = %" PRId64 ": %s", table[i].name, list[k], why.data);
                assert_true(k == 0 || list[k] > list[k - 1]);
                text_release(&why);
            }
        }
}

/* The default schedule, value by value, as if somebody had asked for it. */
static void check_case(const compiler_source *source, const ir_module *graph,
                       const compiler_kernel *kernel, const compiler_case *c, const char *isa) {
    compiler_options options = {.isa = isa, .threads = 2, .written = kernel->schedule};
    compiler_space chosen, asked;
    status st = STATUS_INIT;
    text words;
    (void)source;
    if (!compiler_space_of(graph, c->dims, c->dim_count, &options, &chosen, &st))
        fail_msg("%s/%s: %s", kernel->name, c->name, st.message);
    text_init(&words);
    for (uint32_t i = 0; i < chosen.count; i++)
        text_printf(&words, "%s%s=%" PRId64, i ? "," : "", chosen.items[i].name,
                    chosen.items[i].value);
    options.schedule = words.data;
    if (!compiler_space_of(graph, c->dims, c->dim_count, &options, &asked, &st))
        fail_msg("%s/%s, %s, %s: %s", kernel->name, c->name, isa, words.data, st.message);
    assert_int_equal(chosen.count, asked.count);
    assert_true(chosen.cycles >= 0 && chosen.cycles == asked.cycles);
    for (uint32_t i = 0; i < chosen.count; i++)
        assert_true(chosen.items[i].value == asked.items[i].value);
    text_release(&words);
    compiler_space_release(&chosen);
    compiler_space_release(&asked);
}

static void check_file(const char *path) {
    static const char *const levels[] = {"x86-64-v2+fma", "x86-64-v3", "x86-64-v4"};
    text diagnostics;
    status st = STATUS_INIT;
    text_init(&diagnostics);
    compiler_source *source = compiler_open(path, false, &diagnostics, &st);
    assert_non_null(source);
    for (uint32_t k = 0; k < compiler_kernel_count(source); k++) {
        const compiler_kernel *kernel = compiler_kernel_at(source, k);
        for (uint32_t i = 0; i < kernel->case_count; i++) {
            ir_module *graph = compiler_graph(source, kernel, &kernel->cases[i], &diagnostics);
            assert_non_null(graph);
            for (size_t l = 0; l < COUNT_OF(levels); l++)
                check_case(source, graph, kernel, &kernel->cases[i], levels[l]);
            ir_module_free(graph);
        }
    }
    compiler_close(source);
    text_release(&diagnostics);
}

static int is_shown(const struct dirent *entry) {
    return entry->d_name[0] != '.';
}

static void check_folder(const char *folder) {
    struct dirent **entries;
    int count = scandir(folder, &entries, is_shown, alphasort);
    assert_true(count > 0);
    for (int i = 0; i < count; i++) {
        char path[512];
        size_t length = strlen(entries[i]->d_name);
        snprintf(path, sizeof path, "%s/%s", folder, entries[i]->d_name);
        if (length > 4 && strcmp(entries[i]->d_name + length - 4, ".tsr") == 0)
            check_file(path);
        else
            check_folder(path);
        free(entries[i]);
    }
    free(entries);
}

static void test_defaults(void **state) {
    (void)state;
    compiler_init();
    check_folder("corpus");
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_table),
        cmocka_unit_test(test_candidates),
        cmocka_unit_test(test_defaults),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
