/* test_chip.c - what is said of chips' memories and registers, against enumerations that are
 * written in another way, against the definition of layouts and against the code that is made. */
#include "runtime/test/test.h"

#include <stdio.h>
#include <string.h>

#include "base/philox.h"
#include "chip/unit.h"
#include "pipeline.h"
#include "tessera/chip.h"
#include "tile/simt/banks.h"
#include "tile/simt/pressure.h"

/* ---- banks ---- */

/* Turn by turn: in each, every bank gives the word that the first thread which still waits wants of
 * it, and all who want that word have it. How many turns the slowest group takes. */
static int turns_of_group(const int64_t *offsets, int count, int width) {
    bool has[SUBGROUP_MOST][8] = {{false}};
    int words = width > 4 ? width / 4 : 1, turns = 0;
    for (bool waits = true; waits; turns += waits) {
        int64_t given[32];
        bool gives[32] = {false};
        waits = false;
        for (int t = 0; t < count; t++)
            for (int w = 0; w < words && offsets[t] >= 0; w++) {
                int64_t word = offsets[t] / 4 + w;
                int bank = (int)(word % 32);
                if (has[t][w])
                    continue;
                waits = true;
                if (!gives[bank]) {
                    gives[bank] = true;
                    given[bank] = word;
                }
                has[t][w] = given[bank] == word;
            }
    }
    return turns;
}

static int turns_of(const int64_t *offsets, int count, int width) {
    int together = width <= 4 ? 32 : width == 8 ? 16 : 8, worst = 0;
    for (int first = 0; first < count; first += together) {
        int here = count - first < together ? count - first : together,
            turns = turns_of_group(offsets + first, here, width);
        worst = turns > worst ? turns : worst;
    }
    return worst;
}

/* Neighbouring threads so many bytes apart: the tables of the vendors' manuals. */
static const struct {
    int threads, width, apart, degree;
} strides[] = {
    {32, 4, 4, 1},   {32, 4, 8, 2},    {32, 4, 12, 1},   {32, 4, 16, 4},   {32, 4, 128, 32},
    {32, 4, 132, 1}, {32, 4, 0, 1},    {32, 8, 8, 1},    {32, 8, 16, 2},   {32, 8, 128, 16},
    {32, 16, 16, 1}, {32, 16, 32, 2},  {32, 16, 144, 1}, {32, 16, 128, 8}, {32, 2, 2, 1},
    {32, 1, 1, 1},   {32, 2, 128, 32}, {64, 4, 4, 1},    {64, 4, 128, 32}, {64, 8, 8, 1},
};

static void strides_have_their_degree(void **state) {
    (void)state;
    for (size_t i = 0; i < COUNT_OF(strides); i++) {
        int64_t offsets[SUBGROUP_MOST];
        for (int t = 0; t < strides[i].threads; t++)
            offsets[t] = (int64_t)t * strides[i].apart;
        int found = banks_degree(offsets, strides[i].threads, strides[i].width);
        if (found != strides[i].degree)
            fail_msg("row %zu: degree %d", i, found);
    }
}

static void degrees_are_those_of_turns(void **state) {
    (void)state;
    static const int widths[] = {1, 2, 4, 8, 16};
    uint32_t seen = 0;
    for (uint32_t round = 0; round < 4000; round++) {
        int64_t offsets[SUBGROUP_MOST], other[SUBGROUP_MOST];
        philox_words random;
        random = philox_element(7, round, 0, 0);
        int width = widths[random.w[0] % 5], threads = random.w[1] % 2 ? 32 : 64;
        int64_t range = (int64_t)4 << random.w[2] % 9, apart = (int64_t)width << random.w[3] % 6;
        for (int t = 0; t < threads; t++) {
            random = philox_element(8, round * 64 + (uint32_t)t, 0, 0);
            offsets[t] = other[t] = random.w[0] % range * apart;
            if (random.w[1] % 8 == 0) {
                offsets[t] = random.w[1] % 16 ? TOUCH_EDGE : TOUCH_OTHER;
                other[t] = -1;
            }
        }
        int degree = banks_degree(offsets, threads, width);
        assert_int_equal(degree, turns_of(other, threads, width));
        seen |= 1u << (degree < 31 ? degree : 31);
    }
    assert_true(__builtin_popcount(seen) > 6);
}

/* Finds the sectors that are touched by marking each byte. */
static void sectors_are_those_of_bytes(void **state) {
    (void)state;
    for (uint32_t round = 0; round < 2000; round++) {
        enum { BYTES = 4096 };
        bool byte[BYTES] = {false};
        int64_t offsets[32], touched = 0, bytes = 0;
        philox_words random;
        random = philox_element(9, round, 0, 0);
        int width = 1 << random.w[0] % 5;
        int64_t range = (int64_t)1 << random.w[1] % 8;
        for (int t = 0; t < 32; t++) {
            random = philox_element(10, round * 32 + (uint32_t)t, 0, 0);
            offsets[t] = random.w[0] % range * width;
            memset(byte + offsets[t], 1, (size_t)width);
        }
        for (int s = 0; s < BYTES; s += 32) {
            int here = 0;
            for (int b = 0; b < 32; b++)
                here += byte[s + b];
            touched += here > 0;
            bytes += here;
        }
        sector_count found = sectors_of(offsets, 32, width);
        assert_int_equal(found.touched, touched);
        assert_int_equal(found.needed, (bytes + 31) / 32);
    }
}

/* ---- layouts, and the code that is made ---- */

static const char sources[] =
    "from tessera import *\n"
    "@cases(case('a', M=96, K=64, N=80, T=f32), case('b', M=97, K=53, N=61, T=bf16),\n"
    "       case('c', M=256, K=600, N=256, T=f32), case('d', M=1, K=33, N=129, T=f16))\n"
    "@kernel\n"
    "def product(x: Tensor['M', 'K', 'T'], y: Tensor['K', 'N', 'T']) -> Tensor['M', 'N', 'T']:\n"
    "    return gelu(x @ y)\n"
    "@cases(case('a', M=64, N=64), case('b', M=33, N=1000))\n"
    "@kernel\n"
    "def turned(x: Tensor['M', 'N', f32]) -> Tensor['N', 'M', f32]:\n"
    "    return transpose(x) * 2.0\n"
    "@cases(case('a', M=16, N=300), case('b', M=7, N=5000))\n"
    "@kernel\n"
    "def rows(x: Tensor['M', 'N', f32]) -> Tensor['M', 'N', f32]:\n"
    "    return softmax(x + x, axis=-1)\n"
    "@cases(case('a', M=300, N=40), case('b', M=37, N=260))\n"
    "@kernel\n"
    "def sums(x: Tensor['M', 'N', f64]) -> tuple[Tensor['N', f64], Tensor['M', 'N', f64]]:\n"
    "    return sum(x, axis=0), cumsum(x, axis=1)\n";

typedef void (*module_check)(const ir_module *m, const text *code);

/* Calls it for each case of the sources on a chip; `code`: its LLVM IR, where that is asked for. */
static size_t for_each_module(const char *chip, bool with_code, module_check check) {
    text said;
    size_t count = 0;
    text_init(&said);
    compiler_source *s = compiler_open_text("test", sources, false, &said);
    for (uint32_t i = 0; i < compiler_kernel_count(s); i++) {
        const compiler_kernel *k = compiler_kernel_at(s, i);
        for (uint32_t c = 0; c < k->case_count; c++, count++) {
            const target_info *target;
            status st = STATUS_INIT;
            text code;
            compiler_options options = {.isa = chip, .threads = 1};
            compiler_instance *instance = compiler_instance_open(s, k, &k->cases[c], &said);
            if (!instance)
                fail_msg("%s", said.data);
            text_init(&code);
            ir_module *m = pipeline_tile(instance, &options, &target, &st);
            if (!m || (with_code && !compiler_emit(instance, &options, "llvm", &code, &st)))
                fail_msg("%s/%s: %s", k->name, k->cases[c].name, st.message);
            check(m, &code);
            ir_module_free(m);
            text_release(&code);
            compiler_instance_free(instance);
        }
    }
    compiler_close(s);
    text_release(&said);
    return count;
}

/* The thread that ir.h says to hold an element; of what has one row or column also others. */
static bool holds(const ir_layout *l, int64_t rows, int64_t columns, int64_t r, int64_t c,
                  int thread) {
    int64_t row = r / l->row_run % l->row_threads, column = c / l->column_run % l->column_threads;
    return (rows == 1 || thread / l->column_threads == row) &&
           (columns == 1 || thread % l->column_threads == column);
}

static size_t elements_seen;

static void check_touches(const ir_module *m, ir_op op) {
    touches t;
    if (!touches_of(m, op, &t))
        return;
    const access *a = &t.a;
    int64_t offsets[1024], cells = a->rows * a->columns;
    int *held = base_calloc((size_t)(cells * t.threads), sizeof *held);
    for (int64_t i = 0; i < touches_count(&t); i++) {
        touches_at(&t, i, 0, t.threads, offsets);
        for (int thread = 0; thread < t.threads; thread++)
            for (int64_t e = 0; e < cells && offsets[thread] > TOUCH_OTHER; e++) {
                int64_t at = (e / a->columns * a->row_stride + e % a->columns * a->column_stride) *
                             t.element_bytes;
                held[e * t.threads + thread] +=
                    at >= offsets[thread] && at < offsets[thread] + t.width_bytes;
            }
    }
    bool apart = (a->rows == 1 || a->row_stride) && (a->columns == 1 || a->column_stride);
    for (int64_t e = 0; e < cells && apart; e++) {
        int writers = 0;
        for (int thread = 0; thread < t.threads; thread++) {
            bool expected =
                holds(&a->layout, a->rows, a->columns, e / a->columns, e % a->columns, thread);
            int found = held[e * t.threads + thread];
            if (found > 1 || (a->writes ? found && !expected : found != expected))
                fail_msg("element %lld and thread %d", (long long)e, thread);
            writers += found;
        }
        if (a->writes)
            assert_int_equal(writers, 1);
        elements_seen++;
    }
    free(held);
}

static void check_all_touches(const ir_module *m, const text *code) {
    (void)code;
    for (ir_walk w = ir_walk_op(m, ir_module_kernel(m)); ir_walk_next(&w);)
        check_touches(m, w.op);
}

static void each_element_is_its_threads(void **state) {
    (void)state;
    elements_seen = 0;
    assert_true(for_each_module("sm_80", false, check_all_touches) > 4);
    assert_true(for_each_module("gfx942", false, check_all_touches) > 4);
    assert_true(elements_seen > 10000);
}

/* Loads and stores of several elements, by how many. */
typedef struct vectors {
    int count[17];
} vectors;

static void count_touches(const ir_module *m, ir_op op, vectors *v) {
    touches t;
    if (touches_of(m, op, &t) && t.down * t.across > 1)
        v->count[t.down * t.across] += (int)touches_count(&t);
}

static size_t vectors_seen;

static void check_widths(const ir_module *m, const text *code) {
    vectors expected = {{0}}, found = {{0}};
    for (ir_walk w = ir_walk_op(m, ir_module_kernel(m)); ir_walk_next(&w);)
        count_touches(m, w.op, &expected);
    for (const char *line = code->data; line; line = strchr(line, '\n')) {
        line += *line == '\n';
        int elements = 0;
        const char *at = strstr(line, "load <"), *end = line + strcspn(line, "\n");
        at = at && at < end ? at : strstr(line, "store <");
        if (at && at < end && sscanf(strchr(at, '<'), "<%d x", &elements) == 1 && elements < 17)
            found.count[elements]++;
    }
    for (int i = 2; i < 17; i++) {
        assert_int_equal(found.count[i], expected.count[i]);
        vectors_seen += (size_t)found.count[i];
    }
}

static void widths_are_those_of_the_code(void **state) {
    (void)state;
    vectors_seen = 0;
    for_each_module("sm_80", true, check_widths);
    assert_true(vectors_seen > 20);
}

/* ---- registers ---- */

/* A run of the phase in which each loop takes two trips, as a list of what is made and used. */
typedef struct trace {
    const ir_module *m;
    uint32_t *made;    /* by value: the instance that it is now */
    VEC(int64_t) size; /* by instance */
    VEC(uint32_t) from, to;
    uint32_t now;
} trace;

static int64_t part_of(const ir_module *m, ir_value v) {
    const ir_type_data *t = ir_type_of(m, v);
    ir_op op = ir_value_get(m, v)->op;
    if (t->kind != IR_TYPE_TILE || t->element == DTYPE_BOOL ||
        (op && ir_op_get(m, op)->opcode == TILE_CONSTANT))
        return 0;
    int64_t most = 0, mine[128] = {0};
    for (int64_t e = 0; e < t->dims[0] * t->dims[1]; e++)
        for (int thread = 0; thread < 128; thread++)
            mine[thread] +=
                holds(&t->layout, t->dims[0], t->dims[1], e / t->dims[1], e % t->dims[1], thread);
    for (int thread = 0; thread < 128; thread++)
        most = mine[thread] > most ? mine[thread] : most;
    return most * (dtype_size(t->element) > 4 ? 2 : 1);
}

static void trace_make(trace *t, ir_value v) {
    t->made[v] = (uint32_t)t->size.count;
    vec_push(&t->size, part_of(t->m, v));
    vec_push(&t->from, t->now);
    vec_push(&t->to, t->now);
}

static void trace_block(trace *t, ir_block block) {
    for (ir_op op = ir_block_get(t->m, block)->first; op; op = ir_op_get(t->m, op)->next) {
        const ir_op_data *d = ir_op_get(t->m, op);
        t->now++;
        for (uint32_t i = 0; i < d->operand_count; i++)
            t->to.items[t->made[d->operands[i]]] = t->now;
        if (d->opcode == TILE_FOR) {
            const ir_block_data *body = ir_block_get(t->m, ir_op_block(t->m, op, 0));
            const ir_op_data *end = ir_op_get(t->m, body->last);
            uint32_t carried[64];
            assert_true(d->result_count <= 64);
            for (int trip = 0; trip < 2; trip++) {
                for (uint32_t i = 0; i < d->result_count; i++)
                    carried[i] = t->made[trip ? end->operands[i] : d->operands[2 + i]];
                t->made[body->arguments[0]] = 0;
                for (uint32_t i = 0; i < d->result_count; i++)
                    t->made[body->arguments[1 + i]] = carried[i];
                trace_block(t, ir_op_block(t->m, op, 0));
            }
            for (uint32_t i = 0; i < d->result_count; i++)
                t->made[d->results[i]] = t->made[end->operands[i]];
            continue;
        }
        bool same =
            d->opcode == TILE_BROADCAST || d->opcode == TILE_ROW || d->opcode == TILE_BITCAST;
        for (uint32_t i = 0; i < d->result_count; i++)
            if (same)
                t->made[d->results[i]] = t->made[d->operands[0]];
            else
                trace_make(t, d->results[i]);
    }
}

static int64_t most_at_once(trace *t) {
    int64_t most = 0;
    for (uint32_t at = 0; at <= t->now; at++) {
        int64_t sum = 0;
        for (size_t i = 1; i < t->size.count; i++)
            sum += t->from.items[i] <= at && at < t->to.items[i] ? t->size.items[i] : 0;
        most = sum > most ? sum : most;
    }
    return most;
}

static size_t phases_seen;

static void check_pressure(const ir_module *m, const text *code) {
    (void)code;
    const ir_block_data *body = ir_kernel_body(m);
    for (ir_op op = body->first; op; op = ir_op_get(m, op)->next) {
        if (ir_op_get(m, op)->opcode != TILE_PHASE)
            continue;
        trace t = {.m = m, .made = base_calloc(ir_value_count(m) + 1, sizeof(uint32_t))};
        vec_push(&t.size, 0); /* what takes no registers */
        vec_push(&t.from, 0);
        vec_push(&t.to, 0);
        trace_block(&t, ir_op_block(m, op, 0));
        int64_t expected = most_at_once(&t), found = simt_pressure_of(m, op).registers;
        /* Values that a loop does not carry but only hands on are held on their way in, too. */
        if (found < expected || found > expected + expected / 4 + 2)
            fail_msg("%lld registers, %lld in a run", (long long)found, (long long)expected);
        phases_seen += found > 0;
        free(t.made);
        vec_release(&t.size);
        vec_release(&t.from);
        vec_release(&t.to);
    }
}

static void registers_are_those_of_a_run(void **state) {
    (void)state;
    phases_seen = 0;
    for_each_module("sm_80", false, check_pressure);
    assert_true(phases_seen > 8);
}

/* ---- units ---- */

static const struct {
    const char *chip;
    int64_t threads, registers, shared, workgroups;
    occupancy_limit by;
} units[] = {
    {"sm_80", 128, 32, 0, 16, LIMITED_BY_NOTHING},
    {"sm_80", 128, 33, 0, 12, LIMITED_BY_REGISTERS}, /* 40 are given */
    {"sm_80", 128, 255, 0, 2, LIMITED_BY_REGISTERS},
    {"sm_80", 128, 32, 40 * 1024, 4, LIMITED_BY_SHARED}, /* 1 KiB is the system's */
    {"sm_80", 128, 32, 163 * 1024, 1, LIMITED_BY_SHARED},
    {"sm_80", 32, 16, 0, 32, LIMITED_BY_WORKGROUPS},
    {"sm_75", 128, 64, 0, 8, LIMITED_BY_NOTHING},
    {"sm_90a", 128, 168, 0, 3, LIMITED_BY_REGISTERS},
    {"sm_86", 1024, 32, 0, 1, LIMITED_BY_THREADS},
    {"gfx942", 128, 128, 0, 8, LIMITED_BY_REGISTERS},
    {"gfx942", 128, 64, 0, 16, LIMITED_BY_NOTHING},
    {"gfx942", 128, 64, 64 * 1024, 1, LIMITED_BY_SHARED},
    {"gfx1100", 128, 96, 0, 8, LIMITED_BY_NOTHING},
    {"gfx1100", 128, 97, 0, 6, LIMITED_BY_REGISTERS}, /* 120 are given */
};

static void units_hold_what_they_hold(void **state) {
    (void)state;
    for (size_t i = 0; i < COUNT_OF(units); i++) {
        const chip_unit *unit = target_unit_of(target_find(units[i].chip));
        occupancy o = occupancy_of(unit, units[i].threads, units[i].registers, units[i].shared);
        if (o.workgroups != units[i].workgroups || o.by != units[i].by)
            fail_msg("row %zu: %lld workgroups, limit %d", i, (long long)o.workgroups, (int)o.by);
    }
}

/* A line of a unit for each chip: what one workgroup may have fits. */
static void chips_have_units(void **state) {
    (void)state;
    const target_info *list;
    uint32_t levels, count = target_list(&list, &levels, NULL);
    for (uint32_t i = 0; i < count; i++) {
        const chip_unit *unit = target_unit_of(&list[i]);
        bool any = list[i].family == FAMILY_SPIRV; /* a device that is not known before */
        assert_int_equal(unit != NULL, i >= levels && !any);
        if (!unit)
            continue;
        assert_true(list[i].shared_bytes + unit->system_bytes <= unit->shared_bytes);
        assert_int_equal(unit->threads % list[i].subgroup, 0);
        assert_true(occupancy_of(unit, 128, list[i].thread_registers, 0).workgroups >= 1);
    }
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(strides_have_their_degree),
        cmocka_unit_test(degrees_are_those_of_turns),
        cmocka_unit_test(sectors_are_those_of_bytes),
        cmocka_unit_test(each_element_is_its_threads),
        cmocka_unit_test(widths_are_those_of_the_code),
        cmocka_unit_test(registers_are_those_of_a_run),
        cmocka_unit_test(units_hold_what_they_hold),
        cmocka_unit_test(chips_have_units),
    };
    compiler_init();
    return cmocka_run_group_tests(tests, NULL, NULL);
}
