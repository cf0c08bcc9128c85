/* instruction.c - the instructions and their layouts: instruction.h. The layouts are those of the
 * PTX ISA, sections "Warp-level matrix instructions" and "Asynchronous warpgroup-level matrix
 * instructions". */
#include "instruction.h"

#include <stdio.h>
#include <string.h>

/* Types that go together, and the model for each unit. */
typedef struct operand_types {
    const char *group;
    const binary_format *a, *b, *c;
    const char *mma, *wgmma;
} operand_types;

static const operand_types types[] = {
    {"quad", &binary_f16, &binary_f16, &binary_f32, "fma.f32.then_c", NULL},
    {"quad", &binary_f16, &binary_f16, &binary_f16, "fma.f32.pairs", NULL},
    {"f16", &binary_f16, &binary_f16, &binary_f32, "mma.sm90.f16", "mma.sm90.f16"},
    {"f16", &binary_f16, &binary_f16, &binary_f16, "mma.sm90.f16.f16", "mma.sm90.f16.f16"},
    {"bf16", &binary_bf16, &binary_bf16, &binary_f32, "mma.sm90.bf16", "mma.sm90.bf16"},
    {"tf32", &binary_tf32, &binary_tf32, &binary_f32, "mma.sm90.tf32", "mma.sm90.tf32"},
    {"f64", &binary_f64, &binary_f64, &binary_f64, "fma.f64", NULL},
    {"fp8", &binary_e4m3, &binary_e4m3, &binary_f32, "mma.sm90.fp8_as_f16", "mma.sm90.fp8"},
    {"fp8", &binary_e4m3, &binary_e5m2, &binary_f32, "mma.sm90.fp8_as_f16", "mma.sm90.fp8"},
    {"fp8", &binary_e5m2, &binary_e4m3, &binary_f32, "mma.sm90.fp8_as_f16", "mma.sm90.fp8"},
    {"fp8", &binary_e5m2, &binary_e5m2, &binary_f32, "mma.sm90.fp8_as_f16", "mma.sm90.fp8"},
    {"fp8", &binary_e4m3, &binary_e4m3, &binary_f16, "mma.sm90.fp8_as_f16.f16", "mma.sm90.fp8.f16"},
    {"fp8", &binary_e4m3, &binary_e5m2, &binary_f16, "mma.sm90.fp8_as_f16.f16", "mma.sm90.fp8.f16"},
    {"fp8", &binary_e5m2, &binary_e4m3, &binary_f16, "mma.sm90.fp8_as_f16.f16", "mma.sm90.fp8.f16"},
    {"fp8", &binary_e5m2, &binary_e5m2, &binary_f16, "mma.sm90.fp8_as_f16.f16", "mma.sm90.fp8.f16"},
};

static const struct {
    const char *group;
    unit_kind unit;
    int m, n, k;
} shapes[] = {
    {"quad", UNIT_QUAD, 8, 8, 4}, {"f16", UNIT_MMA, 16, 8, 8},   {"f16", UNIT_MMA, 16, 8, 16},
    {"bf16", UNIT_MMA, 16, 8, 8}, {"bf16", UNIT_MMA, 16, 8, 16}, {"tf32", UNIT_MMA, 16, 8, 4},
    {"tf32", UNIT_MMA, 16, 8, 8}, {"fp8", UNIT_MMA, 16, 8, 16},  {"fp8", UNIT_MMA, 16, 8, 32},
    {"f64", UNIT_MMA, 8, 8, 4},   {"f64", UNIT_MMA, 16, 8, 4},   {"f64", UNIT_MMA, 16, 8, 8},
    {"f64", UNIT_MMA, 16, 8, 16},
};

/* The shapes of wgmma that are run, of n = 8, 16, ... 256, for all its types. */
static const struct {
    int n, chain;
    bool a_shared, without_c;
} warpgroup_shapes[] = {
    {8, 1, false, false},   {24, 1, false, false}, {64, 1, false, false}, {128, 1, false, false},
    {256, 1, false, false}, {64, 1, true, false},  {8, 4, false, false},  {8, 1, false, true},
};

static void name_it(instruction *i) {
    snprintf(i->name, sizeof i->name, "%s.m%dn%dk%d.%s.%s.%s%s%s%s",
             i->unit == UNIT_WGMMA ? "wgmma" : "mma", i->m, i->n, i->k, i->c->name, i->a->name,
             i->b->name, i->a_shared ? "+a_shared" : "", i->chain > 1 ? "+chain" : "",
             i->without_c ? "+without_c" : "");
}

static size_t add_warpgroup_shapes(instruction *list, size_t count, const operand_types *t) {
    for (size_t s = 0; t->wgmma && s < sizeof warpgroup_shapes / sizeof *warpgroup_shapes;
         s++, count++) {
        list[count] = (instruction){.unit = UNIT_WGMMA,
                                    .m = 64,
                                    .n = warpgroup_shapes[s].n,
                                    .k = 256 / t->a->storage_bits,
                                    .chain = warpgroup_shapes[s].chain,
                                    .a_shared = warpgroup_shapes[s].a_shared,
                                    .without_c = warpgroup_shapes[s].without_c,
                                    .a = t->a,
                                    .b = t->b,
                                    .c = t->c,
                                    .model = matrix_unit_find(t->wgmma)};
        name_it(&list[count]);
    }
    return count;
}

size_t instruction_list(instruction list[INSTRUCTION_MAX]) {
    size_t count = 0;
    for (size_t s = 0; s < sizeof shapes / sizeof *shapes; s++)
        for (size_t t = 0; t < sizeof types / sizeof *types; t++)
            if (strcmp(types[t].group, shapes[s].group) == 0) {
                list[count] = (instruction){.unit = shapes[s].unit,
                                            .m = shapes[s].m,
                                            .n = shapes[s].n,
                                            .k = shapes[s].k,
                                            .chain = 1,
                                            .a = types[t].a,
                                            .b = types[t].b,
                                            .c = types[t].c,
                                            .model = matrix_unit_find(types[t].mma)};
                name_it(&list[count++]);
            }
    for (size_t t = 0; t < sizeof types / sizeof *types; t++)
        count = add_warpgroup_shapes(list, count, &types[t]);
    return count;
}

int instruction_threads(const instruction *i) {
    return i->unit == UNIT_WGMMA ? 128 : 32;
}

int instruction_tiles(const instruction *i) {
    return i->unit == UNIT_QUAD ? 4 : 1;
}

static int bytes_per_thread(const instruction *i, int elements, const binary_format *format) {
    return elements * instruction_tiles(i) * format->storage_bits / 8 / instruction_threads(i);
}

int instruction_a_bytes(const instruction *i) {
    return i->a_shared ? 0 : bytes_per_thread(i, i->m * i->k, i->a);
}

int instruction_b_bytes(const instruction *i) {
    return i->unit == UNIT_WGMMA ? 0 : bytes_per_thread(i, i->n * i->k, i->b);
}

int instruction_c_bytes(const instruction *i) {
    return bytes_per_thread(i, i->m * i->n, i->c);
}

int instruction_a_shared_bytes(const instruction *i) {
    return i->a_shared ? i->m * 32 : 0;
}

int instruction_b_shared_bytes(const instruction *i) {
    return i->unit == UNIT_WGMMA ? i->n * 32 : 0;
}

/* Elements in one register: four bytes, or one f64. */
static int per_register(const binary_format *format) {
    return format->storage_bits > 32 ? 1 : 32 / format->storage_bits;
}

/* Row, or column of B, of a thread in m8n8k4. */
static place quad_line(int thread) {
    return (place){thread % 16 / 4, thread % 4 + (thread < 16 ? 0 : 4), 0};
}

place instruction_a_place(const instruction *i, int thread, int element) {
    if (i->unit == UNIT_QUAD) {
        place p = quad_line(thread);
        p.column = element;
        return p;
    }
    int each = per_register(i->a), reg = element / each, lane = thread % 32;
    int high = i->m == 8 ? reg : reg / 2;
    return (place){0, thread / 32 * 16 + lane / 4 + (i->m == 8 ? 0 : 8 * (reg % 2)),
                   (high * 4 + lane % 4) * each + element % each};
}

place instruction_b_place(const instruction *i, int thread, int element) {
    if (i->unit == UNIT_QUAD) {
        place p = quad_line(thread);
        return (place){p.tile, element, p.row};
    }
    int each = per_register(i->b), reg = element / each, lane = thread % 32;
    return (place){0, (reg * 4 + lane % 4) * each + element % each, lane / 4};
}

place instruction_c_place(const instruction *i, int thread, int element) {
    int lane = thread % 32;
    if (i->unit == UNIT_QUAD && i->c == &binary_f16) {
        place p = quad_line(thread);
        p.column = element;
        return p;
    }
    if (i->unit == UNIT_QUAD)
        return (place){lane % 16 / 4, (lane & 1) + (element & 2) + (lane < 16 ? 0 : 4),
                       (element & 4) + (lane & 2) + (element & 1)};
    return (place){0, thread / 32 * 16 + lane / 4 + element / 2 % 2 * 8,
                   element / 4 * 8 + lane % 4 * 2 + element % 2};
}

int instruction_shared_byte(const binary_format *format, int line, int k) {
    int byte = k * format->storage_bits / 8;
    return line / 8 * 256 + byte / 16 * 128 + line % 8 * 16 + byte % 16;
}
