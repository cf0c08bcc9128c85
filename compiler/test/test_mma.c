/* test_mma.c - instructions of matrix units: which thread holds what, against the formulas of the
 * vendors' manuals; how tiles are cut for subgroups; and that what is read from a workgroup's
 * memory at once is on different banks. */
#include "runtime/test/test.h"

#include <stdio.h>
#include <string.h>

#include "tessera/compiler.h"
#include "tile/mma.h"
#include "tile/simt/banks.h"
#include "tile/simt/simt.h"
#include "tile/swizzle.h"

/* ---- fragments ---- */

typedef struct place {
    int row, column;
} place;

/* PTX ISA, "Matrix fragments for mma.m16n8k16 with floating point type": groupID = lane >> 2,
 * threadID_in_group = lane % 4. */
static place ptx_a(int lane, int i) {
    return (place){lane / 4 + (i % 4 >= 2 ? 8 : 0), lane % 4 * 2 + (i & 1) + (i >= 4 ? 8 : 0)};
}

static place ptx_b(int lane, int i) {
    return (place){lane % 4 * 2 + (i & 1) + (i >= 2 ? 8 : 0), lane / 4};
}

/* "Matrix fragments for mma.m16n8k8", .tf32. */
static place ptx_a_32(int lane, int i) {
    return (place){lane / 4 + (i % 2 ? 8 : 0), lane % 4 + (i >= 2 ? 4 : 0)};
}

static place ptx_b_32(int lane, int i) {
    return (place){lane % 4 + (i ? 4 : 0), lane / 4};
}

/* "Matrix fragments for mma.m16n8k32", .s8; of m8n8k4, .f64, the first elements of .tf32. */
static place ptx_a_8(int lane, int i) {
    return (place){lane / 4 + (i / 4 % 2 ? 8 : 0), lane % 4 * 4 + (i & 3) + (i >= 8 ? 16 : 0)};
}

static place ptx_b_8(int lane, int i) {
    return (place){lane % 4 * 4 + (i & 3) + (i >= 4 ? 16 : 0), lane / 4};
}

static place ptx_c(int lane, int i) {
    return (place){lane / 4 + (i >= 2 ? 8 : 0), lane % 4 * 2 + (i & 1)};
}

/* AMD, CDNA3 ISA, "Matrix core instructions", V_MFMA_F32_16X16X16: four elements of k from 4 *
 * (lane / 16) on; of the result four rows from there on. */
static place amd_a(int lane, int i) {
    return (place){lane % 16, lane / 16 * 4 + i};
}

static place amd_b(int lane, int i) {
    return (place){lane / 16 * 4 + i, lane % 16};
}

/* ... of I32_16X16X32 eight elements. */
static place amd_a_32(int lane, int i) {
    return (place){lane % 16, lane / 16 * 8 + i};
}

static place amd_b_32(int lane, int i) {
    return (place){lane / 16 * 8 + i, lane % 16};
}

/* ... of F32_16X16X4 and F64_16X16X4 one, k = lane / 16; of the result of f64 every fourth row. */
static place amd_a_4(int lane, int i) {
    return (place){lane % 16, lane / 16 + i};
}

static place amd_b_4(int lane, int i) {
    return (place){lane / 16 + i, lane % 16};
}

static place amd_c_64(int lane, int i) {
    return (place){4 * i + lane / 16, lane % 16};
}

/* AMD, RDNA3 ISA, "Wave Matrix Multiply Accumulate (WMMA)", wavefronts of 32: a row or column of
 * factors, twice; every second row of sums. */
static place rdna_a(int lane, int i) {
    return (place){lane % 16, i};
}

static place rdna_b(int lane, int i) {
    return (place){i, lane % 16};
}

static place rdna_c(int lane, int i) {
    return (place){2 * i + lane / 16, lane % 16};
}

static const struct {
    bool ptx;
    int lanes, k;
    ir_fragment fragment;
    int elements; /* of a lane */
    place (*at)(int lane, int i);
    dtype sum; /* DTYPE_NONE: of any */
} manuals[] = {
    {true, 32, 16, IR_FRAGMENT_A, 8, ptx_a, DTYPE_NONE},
    {true, 32, 16, IR_FRAGMENT_B, 4, ptx_b, DTYPE_NONE},
    {true, 32, 16, IR_FRAGMENT_C, 4, ptx_c, DTYPE_NONE},
    {true, 32, 8, IR_FRAGMENT_A, 4, ptx_a_32, DTYPE_NONE},
    {true, 32, 8, IR_FRAGMENT_B, 2, ptx_b_32, DTYPE_NONE},
    {true, 32, 8, IR_FRAGMENT_C, 4, ptx_c, DTYPE_NONE},
    {true, 32, 32, IR_FRAGMENT_A, 16, ptx_a_8, DTYPE_NONE},
    {true, 32, 32, IR_FRAGMENT_B, 8, ptx_b_8, DTYPE_NONE},
    {true, 32, 32, IR_FRAGMENT_C, 4, ptx_c, DTYPE_NONE},
    {true, 32, 4, IR_FRAGMENT_A, 1, ptx_a_32, DTYPE_NONE},
    {true, 32, 4, IR_FRAGMENT_B, 1, ptx_b_32, DTYPE_NONE},
    {true, 32, 4, IR_FRAGMENT_C, 2, ptx_c, DTYPE_NONE},
    {false, 64, 32, IR_FRAGMENT_A, 8, amd_a_32, DTYPE_NONE},
    {false, 64, 32, IR_FRAGMENT_B, 8, amd_b_32, DTYPE_NONE},
    {false, 64, 32, IR_FRAGMENT_C, 4, amd_b, DTYPE_NONE},
    {false, 64, 16, IR_FRAGMENT_A, 4, amd_a, DTYPE_NONE},
    {false, 64, 16, IR_FRAGMENT_B, 4, amd_b, DTYPE_NONE},
    {false, 64, 16, IR_FRAGMENT_C, 4, amd_b, DTYPE_NONE},
    {false, 32, 16, IR_FRAGMENT_A, 16, rdna_a, DTYPE_NONE},
    {false, 32, 16, IR_FRAGMENT_B, 16, rdna_b, DTYPE_NONE},
    {false, 32, 16, IR_FRAGMENT_C, 8, rdna_c, DTYPE_NONE},
    {false, 64, 4, IR_FRAGMENT_A, 1, amd_a_4, DTYPE_NONE},
    {false, 64, 4, IR_FRAGMENT_B, 1, amd_b_4, DTYPE_NONE},
    {false, 64, 4, IR_FRAGMENT_C, 4, amd_b, DTYPE_F32},
    {false, 64, 4, IR_FRAGMENT_C, 4, amd_c_64, DTYPE_F64},
};

static int lane_of(const ir_layout *l, place p) {
    int row = p.row / l->row_run % l->row_threads,
        column = p.column / l->column_run % l->column_threads;
    return l->turned ? column * l->row_threads + row : row * l->column_threads + column;
}

/* Lanes beyond these hold once more what the first do. */
static int holders(const ir_layout *l) {
    return l->row_threads * l->column_threads;
}

static uint32_t in_memory(void) {
    const mma_unit *units;
    uint32_t count = mma_units(&units), found = 0;
    for (uint32_t u = 0; u < count; u++)
        found += mma_in_memory(&units[u]);
    return found;
}

static void threads_hold_what_the_manuals_say(void **state) {
    const mma_unit *units;
    uint32_t count = mma_units(&units), seen = 0;
    (void)state;
    for (uint32_t u = 0; u < count; u++)
        for (size_t i = 0; i < sizeof manuals / sizeof *manuals; i++) {
            if (manuals[i].ptx != units[u].ptx || manuals[i].lanes != units[u].lanes ||
                manuals[i].k != units[u].k || mma_in_memory(&units[u]) ||
                (manuals[i].sum && manuals[i].sum != units[u].sum))
                continue;
            ir_layout l = mma_layout(&units[u], manuals[i].fragment, (mma_grid){1, 1});
            for (int lane = 0; lane < units[u].lanes; lane++)
                for (int e = 0; e < manuals[i].elements; e++)
                    assert_int_equal(lane_of(&l, manuals[i].at(lane, e)), lane % holders(&l));
            seen++;
        }
    assert_int_equal(seen, 3 * (count - in_memory()));
}

/* PTX ISA, "Register fragments for wgmma.mma_async.m64nNk16", and k32: a warp's sixteen rows of the
 * sums, of m64n64, and of the left factor, of which a thread has runs of a word in both halves of
 * the columns. Of several warpgroups each has 64 rows. */
static void check_warps(const mma_unit *unit, ir_fragment fragment, int groups) {
    ir_layout l = mma_layout(unit, fragment, (mma_grid){groups, 1});
    const bool left = fragment == IR_FRAGMENT_A;
    const int run = left ? 4 / (int)dtype_size(unit->factor) : 2;
    assert_int_equal(l.row_groups * l.column_groups * l.lanes, groups * SIMT_THREADS);
    for (int thread = 0; thread < groups * SIMT_THREADS; thread++)
        for (int i = 0; i < (left ? 4 * run : 32); i++) {
            place p = {thread / 32 * 16 + thread % 32 / 4 + (i / run % 2) * 8,
                       i / (2 * run) * 4 * run + thread % 4 * run + i % run};
            int rows = groups * unit->m / l.row_groups;
            assert_int_equal(p.row / rows, thread / l.lanes);
            assert_int_equal(lane_of(&l, (place){p.row % rows, p.column}), thread % l.lanes);
        }
}

static void warps_hold_their_rows(void **state) {
    const mma_unit *units;
    uint32_t count = mma_units(&units);
    (void)state;
    assert_int_equal(in_memory(), 6);
    for (uint32_t u = 0; u < count; u++) {
        if (!mma_in_memory(&units[u]))
            continue;
        for (int groups = 1; groups <= 2; groups++)
            for (int fragment = IR_FRAGMENT_A; fragment <= IR_FRAGMENT_C; fragment += 2)
                check_warps(&units[u], (ir_fragment)fragment, groups);
    }
}

/* ---- columns of an instruction ---- */

static void instructions_take_all_columns_or_a_part(void **state) {
    static const struct {
        int64_t columns, of;
        int taken;
    } rows[] = {{16, 16, 16},   {128, 64, 128}, {256, 64, 256}, {512, 64, 256}, {320, 64, 64},
                {336, 16, 112}, {272, 16, 16},  {480, 32, 160}, {288, 32, 96},  {1024, 16, 256}};
    (void)state;
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++)
        assert_int_equal(mma_columns(rows[i].columns, rows[i].of), rows[i].taken);
}

/* ---- cutting ---- */

static void tiles_are_cut_into_whole_instructions(void **state) {
    const mma_unit *units;
    uint32_t count = mma_units(&units);
    mma_grid grid;
    (void)state;
    for (uint32_t u = 0; u < count; u++)
        for (int64_t rows = 1; rows <= 130; rows++)
            for (int64_t columns = 1; columns <= 130; columns += 3) {
                int64_t r = rows, c = columns;
                mma_round_up(&units[u], SIMT_THREADS, &r, &c);
                assert_true(mma_grid_of(&units[u], r, c, SIMT_THREADS, &grid));
                assert_int_equal(grid.rows * grid.columns * units[u].lanes, SIMT_THREADS);
                assert_true(r >= rows && c >= columns);
                assert_true(r % (grid.rows * units[u].m) == 0);
                assert_true(c % (grid.columns * units[u].n) == 0);
                int64_t again_r = r, again_c = c;
                mma_round_up(&units[u], SIMT_THREADS, &again_r, &again_c);
                assert_true(again_r == r && again_c == c);
            }
}

static void chips_are_words(void **state) {
    const mma_unit *hopper = mma_unit_find("mma.sm90.bf16", false, DTYPE_NONE),
                   *stages = mma_unit_find("mma.sm90.bf16", true, DTYPE_NONE);
    (void)state;
    assert_non_null(hopper);
    assert_non_null(stages);
    assert_true(mma_unit_is_of(stages, "sm_90a") && !mma_unit_is_of(stages, "sm_90"));
    assert_null(mma_unit_find("mma.sm80.bf16", true, DTYPE_BF16));
    assert_true(mma_unit_is_of(hopper, "sm_90") && mma_unit_is_of(hopper, "sm_90a"));
    assert_false(mma_unit_is_of(hopper, "sm_9") || mma_unit_is_of(hopper, "sm_80"));
    assert_null(mma_unit_find("mma.sm90", false, DTYPE_NONE));
}

/* ---- banks ---- */

enum { HALF = 2, MATRIX = 8 };

typedef struct fragments {
    uint32_t loads, pieces; /* pieces: copied, or read by the unit itself */
    int worst, subgroup;
} fragments;

/* Number of threads that read at once of a fragment: rows of a matrix of ldmatrix, sixteen bytes
 * each; or single elements of four bytes, or runs, of all lanes. */
static int touched_at_once(const ir_type_data *t, int64_t row, int64_t column, int64_t *offsets,
                           int *width) {
    const ir_layout *l = &t->layout;
    bool left = l->fragment == IR_FRAGMENT_A, warp = l->lanes == 32;
    int64_t size = (int64_t)dtype_size(t->element);
    int count = warp && size <= HALF ? MATRIX : l->lanes, run = l->row_run * l->column_run;
    for (int i = 0; i < count; i++) {
        place p = warp   ? left ? ptx_a_32(i, 0) : ptx_b_32(i, 0)
                    : left ? (place){i % 16, i / 16 * run}
                         : (place){i / 16 * run, i % 16};
        offsets[i] = count == MATRIX ? i * (row == 1 ? column : row) * size
                                     : (p.row * row + p.column * column) * size;
    }
    *width = count == MATRIX ? 16 : (int)size * (warp ? 1 : run);
    return count;
}

static void note_load(const ir_module *m, ir_op op, fragments *f) {
    const ir_op_data *d = ir_op_get(m, op);
    int width, of_pieces = banks_of_pieces(m, op, SIMT_THREADS, f->subgroup, &width);
    f->pieces += of_pieces > 0 && d->opcode == TILE_MMA_STAGE;
    if (ir_op_int(m, op, "swizzle", 0) || d->opcode == TILE_MMA_STAGE)
        f->worst = of_pieces > f->worst ? of_pieces : f->worst;
    const ir_type_data *t = d->opcode == TILE_LOAD ? ir_type_of(m, d->results[0]) : NULL;
    if (!t || !t->layout.row_groups || t->layout.fragment == IR_FRAGMENT_C)
        return;
    int64_t row = ir_op_int(m, op, "row_stride", 0), column = ir_op_int(m, op, "column_stride", 0),
            offsets[SUBGROUP_MOST];
    int count = touched_at_once(t, row, column, offsets, &width);
    assert_true(row == 1 || column == 1);
    int degree = banks_degree(offsets, count, width);
    f->worst = degree > f->worst ? degree : f->worst;
    f->loads++;
}

static void check_instance(compiler_instance *instance, const char *chip, fragments *f) {
    compiler_options options = {.isa = chip};
    text code;
    status st = STATUS_INIT;
    text_init(&code);
    if (!compiler_emit(instance, &options, "insert-barriers", &code, &st))
        fail_msg("%s", st.message);
    ir_module *m = ir_parse(code.data, &st);
    assert_non_null(m);
    for (ir_walk w = ir_walk_op(m, ir_module_kernel(m)); ir_walk_next(&w);)
        note_load(m, w.op, f);
    ir_module_free(m);
    text_release(&code);
}

/* Does a unit multiply on the chip, in strict: by its order, or exactly? */
static bool is_on_unit(const compiler_kernel *kernel, const compiler_case *c, const char *chip) {
    bool exact = strcmp(kernel->path, "corpus/matmul/matmul_i8.tsr") == 0 && c->large;
    return exact || (kernel->unit && compiler_target_adds_as(chip, kernel->unit));
}

static void check_file(const char *path, const char *chip, fragments *f) {
    text diagnostics;
    status st = STATUS_INIT;
    text_init(&diagnostics);
    compiler_source *source = compiler_open(path, false, &diagnostics, &st);
    assert_non_null(source);
    for (uint32_t k = 0; k < compiler_kernel_count(source); k++) {
        const compiler_kernel *kernel = compiler_kernel_at(source, k);
        for (uint32_t i = 0; i < kernel->case_count; i++) {
            if (!is_on_unit(kernel, &kernel->cases[i], chip))
                continue;
            compiler_instance *instance =
                compiler_instance_open(source, kernel, &kernel->cases[i], &diagnostics);
            assert_non_null(instance);
            check_instance(instance, chip, f);
            compiler_instance_free(instance);
        }
    }
    compiler_close(source);
    text_release(&diagnostics);
}

/* Any 8 rows, of any multiple of 16 bytes, and any 16 bytes of them: a matrix of ldmatrix. */
static void swizzled_rows_are_on_different_banks(void **state) {
    enum { UNITS = 80, BEGINNINGS = 16 };
    int64_t offsets[SWIZZLE_ROWS];
    (void)state;
    for (int64_t row = SWIZZLE_UNIT; row <= UNITS * SWIZZLE_UNIT; row += SWIZZLE_UNIT)
        for (int64_t first = 0; first < BEGINNINGS; first++)
            for (int64_t unit = 0; unit < row; unit += SWIZZLE_UNIT) {
                for (int64_t i = 0; i < SWIZZLE_ROWS; i++)
                    offsets[i] = swizzled((first + i) * row + unit, swizzle_of_row(row));
                assert_int_equal(banks_degree(offsets, SWIZZLE_ROWS, SWIZZLE_UNIT), 1);
            }
}

/* ... and nothing leaves its 128 bytes, or takes another's place. */
static void swizzled_bytes_stay_in_their_line(void **state) {
    enum { LINES = 64, UNITS_OF_LINE = SWIZZLE_MOST / SWIZZLE_UNIT };
    (void)state;
    for (int64_t pattern = 0; pattern <= 1024; pattern = pattern ? 2 * pattern : 32)
        for (int64_t line = 0; line < LINES; line++) {
            unsigned taken = 0;
            for (int64_t unit = 0; unit < UNITS_OF_LINE; unit++) {
                int64_t to = swizzled(line * SWIZZLE_MOST + unit * SWIZZLE_UNIT, pattern);
                assert_int_equal(to / SWIZZLE_MOST, line);
                taken |= 1U << (to % SWIZZLE_MOST / SWIZZLE_UNIT);
            }
            assert_int_equal(taken, (1U << UNITS_OF_LINE) - 1);
        }
}

static void fragments_are_on_different_banks(void **state) {
    static const char *const chips[] = {"sm_80", "sm_90", "sm_90a", "gfx90a", "gfx942"};
    static const char *const files[] = {"corpus/matmul/matrix_units.tsr",
                                        "corpus/matmul/matmul_i8.tsr"};
    (void)state;
    for (size_t c = 0; c < sizeof chips / sizeof *chips; c++)
        for (size_t i = 0; i < sizeof files / sizeof *files; i++) {
            fragments f = {.subgroup = strncmp(chips[c], "sm", 2) == 0 ? 32 : 64};
            check_file(files[i], chips[c], &f);
            const bool in_memory = strcmp(chips[c], "sm_90a") == 0;
            assert_int_equal(f.loads > 0, i == 0 || !in_memory);
            assert_int_equal(f.pieces > 0, in_memory);
            assert_int_equal(f.worst, 1);
        }
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(threads_hold_what_the_manuals_say),
        cmocka_unit_test(warps_hold_their_rows),
        cmocka_unit_test(instructions_take_all_columns_or_a_part),
        cmocka_unit_test(tiles_are_cut_into_whole_instructions),
        cmocka_unit_test(chips_are_words),
        cmocka_unit_test(fragments_are_on_different_banks),
        cmocka_unit_test(swizzled_rows_are_on_different_banks),
        cmocka_unit_test(swizzled_bytes_stay_in_their_line),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
