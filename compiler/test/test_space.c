/* test_space.c - the table of schedule parameters against itself, and the scheduler's own choices
 * against its limits: what is chosen for the corpus, and at and beside every threshold, could have
 * been asked for; and each parameter of the table is one that somebody can ask for. */
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

#include "parameters/parameters.h"
#include "tessera/compiler.h"
#include "tessera/thresholds.h"

#define COUNT_OF(list) (sizeof(list) / sizeof(list)[0])

static void test_table(void **state) {
    const parameter_info *table;
    uint32_t count = parameter_table(&table);
    (void)state;
    assert_true(count > 0);
    for (uint32_t i = 0; i < count; i++) {
        const parameter_info *p = &table[i];
        assert_true(p->groups != 0 && p->minimum <= p->maximum && *p->source && *p->summary);
        for (uint32_t k = 0; k < i; k++) { /* a name is one parameter for each kind of group */
            bool both = strcmp(table[k].name, p->name) == 0 && (table[k].groups & p->groups);
            assert_false(both);
            bool tuple = strcmp(table[k].source, p->source) == 0;
            assert_true(!tuple || (table[k].position < 0) == (p->position < 0));
        }
    }
}

/* Finds what a column or a limit refers to, for all kinds of groups that need it. */
static void test_references(void **state) {
    const parameter_info *table;
    uint32_t count = parameter_table(&table), limits = 0;
    (void)state;
    for (uint32_t i = 0; i < count; i++) {
        const char *of = table[i].multiple;
        const parameter_info *other = parameter_find(of, table[i].groups);
        bool known = !*of || *of == '/' || strcmp(of, "V") == 0;
        assert_true(known || (other && (table[i].groups & ~other->groups) == 0));
    }
    for (;; limits++) {
        parameter_values none = {NULL, 0};
        parameter_machine machine = {.lanes = 8, .element_bytes = 4, .registers = 32};
        const char *names;
        bool broken;
        text why;
        text_init(&why);
        bool there = parameter_check_limit(limits, IN_DOT, &none, &machine, &broken, &names, &why);
        text_release(&why);
        if (!there)
            break;
        uint32_t found = 0, listed = 1;
        for (uint32_t i = 0; i < count; i++)
            found += parameter_names_have(names, table[i].name);
        for (const char *p = names; *p; p++)
            listed += *p == ' ';
        assert_int_equal(found, listed);
    }
    assert_true(limits > 0);
}

/* Every candidate may be asked for, on machines with vectors of any length, and on chips. */
static void test_candidates(void **state) {
    static const int64_t lanes[] = {1, 2, 4, 8, 16, 128};
    const parameter_info *table;
    uint32_t count = parameter_table(&table);
    (void)state;
    for (uint32_t i = 0; i < count; i++)
        for (size_t l = 0; l < COUNT_OF(lanes); l++) {
            int64_t list[PARAMETER_CANDIDATES_MAX];
            parameter_values none = {NULL, 0};
            parameter_machine machine = {
                .lanes = lanes[l], .element_bytes = 4, .registers = 32, .threads = lanes[l] == 128};
            uint32_t n = parameter_candidates(&table[i], &none, &machine, list);
            assert_true(n > 0);
            for (uint32_t k = 0; k < n; k++) {
                text why;
                text_init(&why);
                if (!parameter_check_value(&table[i], list[k], &none, &machine, &why))
                    fail_msg("%s = %" PRId64 ": %s", table[i].name, list[k], why.data);
                assert_true(k == 0 || list[k] > list[k - 1]);
                text_release(&why);
            }
        }
}

/* Kinds of groups that were seen to have a parameter of the table, as bits. */
static unsigned seen[64];

/* Without its phase, where it has one. */
static const char *plain_name(const compiler_parameter *p) {
    const char *dot = strchr(p->name, '.');
    return dot ? dot + 1 : p->name;
}

static void note_seen(const compiler_parameter *p) {
    const parameter_info *table;
    uint32_t count = parameter_table(&table);
    for (uint32_t i = 0; i < count; i++)
        for (unsigned kind = 1; kind <= table[i].groups; kind <<= 1)
            if ((table[i].groups & kind) && strcmp(plain_name(p), table[i].name) == 0 &&
                strcmp(p->work, parameter_groups_text(kind)) == 0)
                seen[i] |= kind;
}

/* The default schedule, value by value, as if somebody had asked for it. */
static void check_case(compiler_instance *instance, const compiler_kernel *kernel,
                       const compiler_case *c, const char *isa, uint32_t threads) {
    compiler_options options = {
        .isa = isa, .threads = threads, .source_schedule = kernel->schedule};
    compiler_space chosen, asked;
    status st = STATUS_INIT;
    text words;
    bool ok = compiler_space_of(instance, &options, &chosen, &st);
    if (chosen.program || strstr(kernel->path, "corpus/programs/")) {
        compiler_space_release(&chosen);
        return; /* several kernels, each with a space of its own */
    }
    if (!ok)
        fail_msg("%s/%s, %s, %u threads: %s", kernel->name, c->name, isa, threads, st.message);
    text_init(&words);
    for (uint32_t i = 0; i < chosen.count; i++)
        note_seen(&chosen.items[i]);
    for (uint32_t i = 0; i < chosen.count; i++)
        text_printf(&words, "%s%s=%" PRId64, i ? "," : "", chosen.items[i].name,
                    chosen.items[i].value);
    options.schedule = words.data;
    if (!compiler_space_of(instance, &options, &asked, &st))
        fail_msg("%s/%s, %s, %s: %s", kernel->name, c->name, isa, words.data, st.message);
    assert_int_equal(chosen.count, asked.count);
    assert_true(chosen.cycles >= 0 && chosen.cycles <= asked.cycles);
    assert_true(chosen.library || chosen.cycles == asked.cycles);
    for (uint32_t i = 0; i < chosen.count; i++)
        assert_true(chosen.items[i].value == asked.items[i].value);
    text_release(&words);
    compiler_space_release(&chosen);
    compiler_space_release(&asked);
}

static const char *const levels[] = {"x86-64-v2+fma", "x86-64-v3", "x86-64-v4+dot",
                                     "sm_80",         "sm_90a",    "gfx942"};

/* In the order of a matrix unit only chips that have it add. */
static bool has_code(const compiler_kernel *kernel, const char *level) {
    return !kernel->interpreted || (kernel->unit && compiler_target_adds_as(level, kernel->unit));
}

static void check_source(compiler_source *source, text *diagnostics, uint32_t threads) {
    for (uint32_t k = 0; k < compiler_kernel_count(source); k++) {
        const compiler_kernel *kernel = compiler_kernel_at(source, k);
        for (uint32_t i = 0; i < kernel->case_count; i++) {
            compiler_instance *instance =
                compiler_instance_open(source, kernel, &kernel->cases[i], diagnostics);
            if (!instance)
                fail_msg("%s", diagnostics->data);
            for (size_t l = 0; l < COUNT_OF(levels); l++)
                if (has_code(kernel, levels[l]))
                    check_case(instance, kernel, &kernel->cases[i], levels[l], threads);
            compiler_instance_free(instance);
        }
    }
}

static void check_file(const char *path) {
    text diagnostics;
    status st = STATUS_INIT;
    text_init(&diagnostics);
    compiler_source *source = compiler_open(path, false, &diagnostics, &st);
    assert_non_null(source);
    check_source(source, &diagnostics, 2);
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
        else if (entries[i]->d_type == DT_DIR)
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

/* ---- at and beside the thresholds ---- */

/* Every kind of group, in some of its forms. */
static const char
    kernels[] =
        "@kernel\ndef nest(x: Tensor[\"A\", \"B\", f32], y: Tensor[\"B\", f32]) -> "
        "Tensor[\"A\", \"B\", f32]:\n    return x * y + 1\n"
        "@CASES@kernel\ndef turned(x: Tensor[\"A\", \"B\", f32], y: Tensor[\"B\", \"A\", f32]) -> "
        "Tensor[\"B\", \"A\", f32]:\n    return x.T + y\n"
        "@CASES@kernel\ndef rows(x: Tensor[\"A\", \"B\", f32]) -> "
        "tuple[Tensor[\"A\", \"B\", f32], Tensor[\"A\", f32]]:\n"
        "    return softmax(x), sum(x, axis=1)\n"
        "@CASES@kernel\ndef columns(x: Tensor[\"A\", \"B\", f32]) -> "
        "tuple[Tensor[\"A\", \"B\", f32], Tensor[\"B\", f32], Tensor[\"B\", f64]]:\n"
        "    return softmax(x, axis=0), mean(x, axis=0), max(cast(x, f64), axis=0)\n",
    contractions[] =
        "@kernel\ndef product(x: Tensor[\"M\", \"K\", f32], y: Tensor[\"K\", \"N\", f32]) -> "
        "Tensor[\"M\", \"N\", f32]:\n    return gelu(x @ y)\n"
        "@CASES@kernel\ndef turned(x: Tensor[\"K\", \"M\", f32], y: Tensor[\"N\", \"K\", f32]) -> "
        "Tensor[\"M\", \"N\", f32]:\n    return x.T @ y.T\n"
        "@CASES@kernel\ndef narrow(x: Tensor[\"M\", \"K\", bf16], y: Tensor[\"K\", \"N\", bf16], "
        "v: Tensor[\"M\", \"K\", i8], w: Tensor[\"K\", \"N\", i8]) -> "
        "tuple[Tensor[\"M\", \"N\", bf16], Tensor[\"M\", \"N\", i32]]:\n    return x @ y, v @ w\n"
        "@CASES@kernel\ndef handed(q: Tensor[\"M\", \"K\", f32], k: Tensor[\"N\", \"K\", f32], "
        "v: Tensor[\"N\", \"K\", f32]) -> Tensor[\"M\", \"K\", f32]:\n    return attention(q, k, "
        "v)\n"
        "@CASES@kernel\ndef windows(x: Tensor[1, \"M\", 5, \"K\", f32], w: Tensor[1, 2, \"K\", "
        "\"N\", f32]) "
        "-> Tensor[1, \"M\", 4, \"N\", f32]:\n    return conv2d(x, w)\n";

/* The kernels, each with these cases. */
static void check_cases(const char *templates, const char *cases, uint32_t threads) {
    text source, diagnostics;
    text_init(&source);
    text_init(&diagnostics);
    text_printf(&source, "@cases(%s)\n", cases);
    for (const char *at = templates; *at;) {
        const char *mark = strstr(at, "@CASES");
        size_t length = mark ? (size_t)(mark - at) : strlen(at);
        text_append_bytes(&source, at, length);
        if (mark)
            text_printf(&source, "@cases(%s)\n", cases);
        at += length + (mark ? strlen("@CASES") : 0);
    }
    compiler_source *opened = compiler_open_text("t.tsr", source.data, false, &diagnostics);
    assert_int_equal(compiler_error_count(opened), 0);
    check_source(opened, &diagnostics, threads);
    compiler_close(opened);
    text_release(&source);
    text_release(&diagnostics);
}

static void add_case(text *cases, const char *format, int64_t a, int64_t b, int64_t c) {
    text_printf(cases, "%scase(\"c%zu\", ", cases->length ? ", " : "", cases->length);
    text_printf(cases, format, a, b, c);
    text_append(cases, ")");
}

/* Shapes of nests and reductions in which something has `elements`. */
static void add_lengths(text *cases, int64_t elements) {
    static const int64_t others[] = {1, 2, 3, 67};
    for (size_t i = 0; i < COUNT_OF(others); i++) {
        int64_t share = elements / others[i] > 0 ? elements / others[i] : 1;
        add_case(cases, "A=%" PRId64 ", B=%" PRId64, others[i], elements, 0);
        add_case(cases, "A=%" PRId64 ", B=%" PRId64, elements, others[i], 0);
        add_case(cases, "A=%" PRId64 ", B=%" PRId64, others[i], share, 0);
        add_case(cases, "A=%" PRId64 ", B=%" PRId64, share, others[i], 0);
    }
}

/* m, k and n, of which `of` has to do with the value. */
static void add_product(text *cases, compiler_threshold_of of, int64_t v) {
    static const char shape[] = "M=%" PRId64 ", K=%" PRId64 ", N=%" PRId64;
    switch (of) {
    case COMPILER_THRESHOLD_ROWS:
        add_case(cases, shape, v, 40, 72);
        add_case(cases, shape, v, 700, 1100);
        break;
    case COMPILER_THRESHOLD_COLUMNS:
        add_case(cases, shape, 300, 72, v);
        break;
    case COMPILER_THRESHOLD_DEPTH:
        add_case(cases, shape, 3, v, 40);
        add_case(cases, shape, 130, v, 130);
        break;
    case COMPILER_THRESHOLD_LEFT:
        add_case(cases, shape, v / 128 + v % 128, 128, 150);
        break;
    case COMPILER_THRESHOLD_RIGHT:
        add_case(cases, shape, 17, v / 1000 + v % 1000, 1000);
        break;
    case COMPILER_THRESHOLD_RIGHT_ROW_BYTES:
        add_case(cases, shape, 17, 33, v / 4 + v % 4);
        break;
    case COMPILER_THRESHOLD_MULTIPLICATIONS:
        add_case(cases, shape, 32, 32, v / 1024 + v % 1024);
        break;
    default:
        add_case(cases, shape, 13, 37, v / 37 + v % 37);
    }
}

/* At the value and on both sides of it; short: at it and below, with one number of threads. */
static void check_threshold(const compiler_threshold *t) {
    static const int64_t lanes[] = {4, 8, 16};
    const bool is_short = getenv("TSR_SHORT") != NULL;
    for (int64_t beside = -1; beside <= (is_short ? 0 : 1); beside++)
        for (uint32_t threads = is_short ? 5 : 1; threads < 8; threads += 4) {
            text cases, products;
            text_init(&cases);
            text_init(&products);
            if (t->of == COMPILER_THRESHOLD_BYTES)
                add_lengths(&cases, t->value / 4 + beside);
            if (t->of == COMPILER_THRESHOLD_LENGTH)
                add_lengths(&cases, t->value + beside);
            for (size_t l = 0; t->of == COMPILER_THRESHOLD_VECTORS && l < COUNT_OF(lanes); l++)
                add_lengths(&cases, t->value * lanes[l] * threads + beside);
            add_product(&products, t->of, t->value + beside);
            if (cases.length)
                check_cases(kernels, cases.data, threads);
            check_cases(contractions, products.data, threads);
            text_release(&cases);
            text_release(&products);
        }
}

static void test_thresholds(void **state) {
    const compiler_threshold *list;
    uint32_t count = compiler_thresholds(&list);
    (void)state;
    assert_true(count > 0);
    for (uint32_t i = 0; i < count; i++) {
        assert_true(list[i].value > 0 && *list[i].summary);
        check_threshold(&list[i]);
    }
}

/* A line that no work asks for would be one that the scheduler has forgotten. */
static void test_all_seen(void **state) {
    const parameter_info *table;
    uint32_t count = parameter_table(&table);
    (void)state;
    assert_true(count <= COUNT_OF(seen));
    for (uint32_t i = 0; i < count; i++)
        for (unsigned kind = 1; kind <= table[i].groups; kind <<= 1)
            if (table[i].groups & kind & ~seen[i])
                fail_msg("%s: %s does not have it", table[i].name, parameter_groups_text(kind));
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_table),      cmocka_unit_test(test_references),
        cmocka_unit_test(test_candidates), cmocka_unit_test(test_defaults),
        cmocka_unit_test(test_thresholds), cmocka_unit_test(test_all_seen),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
