/* test_plan.c - what is computed together: lists of uses, sets of groups, the order in which groups
 * can run, and plans of many operations. */
#include "runtime/test/test.h"

#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>

#include "ir/uses.h"
#include "schedule/plan.h"
#include "tessera/compiler.h"

enum { MANY = 20000, GROUPS = 40 };

static uint32_t next_random(uint64_t *state) {
    *state = *state * UINT64_C(6364136223846793005) + UINT64_C(1442695040888963407);
    return (uint32_t)(*state >> 33);
}

#define VECTOR "tensor<8xf32>"

/* A kernel of `count` additions: each adds the one before it, or for every `every`-th also what is
 * far behind it. Every `every`-th is returned. */
static ir_module *additions(int count, int every) {
    text source;
    status st = STATUS_INIT;
    text_init(&source);
    text_append(&source,
                "\"builtin.module\"() ({\n  \"tessera.kernel\"() <{inputs = [\"x\"], name = \"f\", "
                "outputs = [\"out\"]}> ({\n  ^bb0(%arg0: " VECTOR
                "):\n    %0 = \"tessera.add\"(%arg0, %arg0) "
                ": (" VECTOR ", " VECTOR ") -> " VECTOR "\n");
    for (int i = 1; i < count; i++)
        text_printf(&source,
                    "    %%%d = \"tessera.add\"(%%%d, %%%d) : (" VECTOR ", " VECTOR ") -> " VECTOR
                    "\n",
                    i, i - 1, i % every ? i - 1 : i / 2);
    text_append(&source, "    \"tessera.return\"(");
    for (int i = every - 1; i < count; i += every)
        text_printf(&source, "%s%%%d", i < every ? "" : ", ", i);
    text_append(&source, ") : (");
    for (int i = every - 1; i < count; i += every)
        text_append(&source, i < every ? VECTOR : ", " VECTOR);
    text_append(&source, ") -> ()\n  }) : () -> ()\n}) : () -> ()\n");
    ir_module *m = ir_parse(source.data, &st);
    if (!m)
        fail_msg("%s", st.message);
    text_release(&source);
    return m;
}

static void test_uses(void **state) {
    (void)state;
    ir_module *m = additions(100, 10);
    ir_uses uses = ir_uses_fill(m);
    uint32_t *counts = ir_count_uses(m);
    for (ir_value v = 1; v <= ir_value_count(m); v++) {
        assert_int_equal(ir_uses_count(&uses, v), counts[v]);
        for (uint32_t i = 0; i < counts[v]; i++) {
            const ir_op_data *d = ir_op_get(m, ir_uses_reader(&uses, v, i));
            bool reads = false;
            for (uint32_t k = 0; k < d->operand_count; k++)
                reads |= d->operands[k] == v;
            assert_true(reads);
        }
    }
    free(counts);
    ir_uses_release(&uses);
    ir_module_free(m);
}

/* Joins, differences and meetings are those of bits of a word. */
static void test_sets(void **state) {
    (void)state;
    arena memory;
    uint64_t random = 1;
    arena_init(&memory);
    for (int round = 0; round < 500; round++) {
        group_set s[2] = {{NULL, 0}, {NULL, 0}};
        uint64_t bits[2] = {0, 0};
        for (uint32_t i = next_random(&random) % 24; i > 0; i--) {
            uint32_t group = next_random(&random) % 64, which = next_random(&random) % 2;
            s[which] = group_set_join(&memory, group_set_of(&memory, (int)group), s[which]);
            bits[which] |= UINT64_C(1) << group;
        }
        group_set joined = group_set_join(&memory, s[0], s[1]),
                  left = group_set_without(&memory, s[0], s[1]);
        assert_int_equal(group_set_meets(s[0], s[1]), (bits[0] & bits[1]) != 0);
        for (int g = 0; g < 64; g++) {
            assert_int_equal(group_set_has(joined, g), (bits[0] | bits[1]) >> g & 1);
            assert_int_equal(group_set_has(left, g), (bits[0] & ~bits[1]) >> g & 1);
        }
    }
    arena_release(&memory);
}

/* Dependencies that would close a circle are told from those that would not, and what is left can
 * run. */
static void test_order(void **state) {
    (void)state;
    uint64_t random = 7;
    plan p;
    ir_module *m = additions(GROUPS, 1); /* a group for each returned value */
    plan_build(&p, m, ir_module_kernel(m), PLAN_UNFUSED, false, 0);
    int n = p.group_count, *order = base_calloc((size_t)n, sizeof *order),
        *at = base_calloc((size_t)n, sizeof *at);
    bool *waits = base_calloc((size_t)n * (size_t)n, sizeof *waits);
    assert_true(n > 20);
    for (int g = 0; g < n; g++)
        p.groups[g].depends = (group_set){NULL, 0};
    for (int round = 0; round < 4 * n; round++) {
        int group = (int)(next_random(&random) % (uint32_t)n),
            other = (int)(next_random(&random) % (uint32_t)n);
        group_set reads = group_set_of(&p.memory, other);
        assert_int_equal(plan_closes_circle(&p, group, reads),
                         group != other && waits[other * n + group]);
        if (group == other || waits[other * n + group])
            continue;
        plan_depend(&p, group, reads);
        for (int a = 0; a < n; a++)
            for (int b = 0; b < n; b++)
                waits[a * n + b] |=
                    (a == group || waits[a * n + group]) && (b == other || waits[other * n + b]);
    }
    assert_true(plan_order(&p, order));
    for (int i = 0; i < n; i++)
        at[order[i]] = i;
    for (int a = 0; a < n; a++)
        for (int b = 0; b < n; b++)
            assert_true(!waits[a * n + b] ||
                        (at[b] < at[a] && p.groups[b].position < p.groups[a].position));
    p.groups[order[0]].depends = group_set_of(&p.memory, order[n - 1]);
    p.groups[order[n - 1]].depends = group_set_of(&p.memory, order[0]);
    assert_false(plan_order(&p, order));
    free(waits);
    free(order);
    free(at);
    plan_release(&p);
    ir_module_free(m);
}

/* Beyond what fits into a word, each group waits for what its values read. */
static void test_many(void **state) {
    (void)state;
    plan p;
    ir_module *m = additions(MANY, 5);
    plan_build(&p, m, ir_module_kernel(m), PLAN_KERNEL, false, 0);
    int *order = base_calloc((size_t)p.group_count, sizeof *order),
        *at = base_calloc((size_t)p.group_count, sizeof *at);
    assert_true(p.group_count > 64);
    assert_true(plan_order(&p, order));
    for (int i = 0; i < p.group_count; i++)
        at[order[i]] = i;
    for (int g = 0; g < p.group_count; g++)
        for (int i = 0; i < p.groups[g].depends.count; i++)
            assert_true(at[p.groups[g].depends.items[i]] < at[g]);
    free(order);
    free(at);
    plan_release(&p);
    ir_module_free(m);
}

/* A long kernel whose operations all read one tensor is planned in little memory. */
static void test_memory(void **state) {
    (void)state;
    enum { TURNS = 25000, MEGABYTES = 1200 }; /* it takes a tenth, without a sanitizer */
    static const char type[] = " : (" VECTOR ", " VECTOR ") -> " VECTOR "\n";
    plan p;
    text source;
    status st = STATUS_INIT;
    struct rusage used;
    text_init(&source);
    text_append(&source,
                "\"builtin.module\"() ({\n  \"tessera.kernel\"() <{inputs = [\"x\", \"y\"], name = "
                "\"f\", outputs = [\"out\"]}> ({\n  ^bb0(%s0: " VECTOR ", %y: " VECTOR "):\n");
    for (int i = 0; i < TURNS; i++) /* s + y * s - y / s */
        text_printf(&source,
                    "%%a%d = \"tessera.mul\"(%%y, %%s%d)%s%%b%d = \"tessera.add\"(%%s%d, %%a%d)%s"
                    "%%c%d = \"tessera.div\"(%%y, %%s%d)%s%%s%d = \"tessera.sub\"(%%b%d, %%c%d)%s",
                    i, i, type, i, i, i, type, i, i, type, i + 1, i, i, type);
    text_printf(&source,
                "\"tessera.return\"(%%s%d) : (" VECTOR ") -> ()\n}) : () -> ()\n}) : () -> ()\n",
                TURNS);
    ir_module *m = ir_parse(source.data, &st);
    assert_non_null(m);
    plan_build(&p, m, ir_module_kernel(m), PLAN_PROGRAM, false, 0);
    assert_int_equal(getrusage(RUSAGE_SELF, &used), 0);
    assert_in_range(used.ru_maxrss, 1, MEGABYTES * 1024);
    plan_release(&p);
    ir_module_free(m);
    text_release(&source);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_uses), cmocka_unit_test(test_sets),   cmocka_unit_test(test_order),
        cmocka_unit_test(test_many), cmocka_unit_test(test_memory),
    };
    compiler_init();
    return cmocka_run_group_tests(tests, NULL, NULL);
}
