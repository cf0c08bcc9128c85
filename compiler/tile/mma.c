/* mma.c - the table of matrix units' instructions, and how tiles are cut into them. */
#include "tile/mma.h"

#include <string.h>

#include "chip/matrix_unit.h"
#include "device/emulate/emulated_code.h"
#include "tile/tile.h"

#define HOLDS(rows, columns, turned, row_run, column_run)                                          \
    { rows, columns, turned, row_run, column_run }

static const mma_unit units[] = {
#define MMA(ENUM, unit, chips, FACTOR, SUM, m, n, k, LANES, PTX, a, b, c, intrinsic, EMULATED)     \
    {unit, chips,     DTYPE_##FACTOR,         DTYPE_##SUM, m, n, k, LANES, PTX, a, b,              \
     c,    intrinsic, EMULATED_MMA_##EMULATED},
#include "chip/mma.def"
};
enum { COUNT = sizeof units / sizeof *units };

const mma_unit *mma_unit_find(const char *name, bool in_memory, dtype factor) {
    for (int i = 0; i < COUNT; i++)
        if (strcmp(units[i].name, name) == 0 && mma_in_memory(&units[i]) == in_memory &&
            (factor == DTYPE_NONE || units[i].factor == factor))
            return &units[i];
    return NULL;
}

const mma_unit *mma_unit_of(const ir_module *m, ir_op op) {
    int opcode = ir_op_get(m, op)->opcode;
    if (opcode != TILE_MMA && opcode != TILE_MMA_STAGE)
        return NULL;
    const char *name = ir_op_string(m, op, "unit", "");
    const bool stage = opcode == TILE_MMA_STAGE;
    dtype factor = ir_type_of(m, ir_op_get(m, op)->operands[0])->element;
    const mma_unit *unit = mma_unit_find(name, stage, factor);
    return unit ? unit : mma_unit_find(name, stage, DTYPE_NONE);
}

uint32_t mma_units(const mma_unit **list) {
    *list = units;
    return COUNT;
}

bool mma_unit_is_of(const mma_unit *unit, const char *chip) {
    size_t length = strlen(chip);
    for (const char *at = unit->chips; (at = strstr(at, chip)); at += length) {
        bool begins = at == unit->chips || at[-1] == ' ', ends = !at[length] || at[length] == ' ';
        if (begins && ends)
            return true;
    }
    return false;
}

bool mma_sums_as(const char *name, const char *chip) {
    int i = 0;
    while (i < COUNT && !(strcmp(units[i].name, name) == 0 && dtype_is_float(units[i].sum) &&
                          mma_unit_is_of(&units[i], chip)))
        i++;
    return i < COUNT;
}

bool mma_unit_is_exact(const mma_unit *unit) {
    return matrix_unit_find(unit->name)->rule == MATRIX_UNIT_EXACT;
}

bool mma_unit_is_chain(const mma_unit *unit) {
    return mma_unit_is_exact(unit) ||
           (matrix_unit_find(unit->name)->rule == MATRIX_UNIT_FMA && unit->factor == unit->sum);
}

bool mma_unit_is_equal(const mma_unit *unit, bool probed) {
    return mma_unit_is_exact(unit) ||
           (mma_unit_is_chain(unit) && (probed || matrix_unit_find(unit->name)->matched));
}

bool mma_unit_stands_in(const mma_unit *unit) {
    const int wanted = unit->sum == DTYPE_F64 ? binary_f64.fraction_bits : binary_f32.fraction_bits;
    return dtype_is_float(unit->sum) &&
           matrix_unit_whole_bits(matrix_unit_find(unit->name)) > wanted;
}

bool mma_reads_lines(const mma_unit *unit) {
    size_t size = dtype_size(unit->factor);
    return mma_in_memory(unit) ? size == sizeof(uint16_t) : unit->ptx && size > 1;
}

dtype mma_read_as(dtype factor) {
    static const struct {
        dtype from, to;
    } exact[] = {{DTYPE_F8E4M3FN, DTYPE_F16}, {DTYPE_F8E5M2, DTYPE_F16}};
    for (size_t i = 0; i < sizeof exact / sizeof *exact; i++)
        if (exact[i].from == factor)
            return exact[i].to;
    return factor;
}

bool mma_unit_flushes(const mma_unit *unit) {
    return matrix_unit_flushes(matrix_unit_find(unit->name));
}

/* ---- cutting ---- */

bool mma_grid_of(const mma_unit *unit, int64_t rows, int64_t columns, int threads, mma_grid *out) {
    int groups = threads / unit->lanes;
    int64_t best = INT64_MAX;
    for (int down = 1; down <= groups; down *= 2) {
        int across = groups / down;
        if (rows % ((int64_t)down * unit->m) != 0 || columns % ((int64_t)across * unit->n) != 0)
            continue;
        int64_t read = rows / down + columns / across; /* for each step of k */
        if (read < best) {
            best = read;
            *out = (mma_grid){down, across};
        }
    }
    return best != INT64_MAX;
}

static int64_t up(int64_t n, int64_t by) {
    return (n + by - 1) / by * by;
}

void mma_round_up(const mma_unit *unit, int threads, int64_t *rows, int64_t *columns) {
    int groups = threads / unit->lanes;
    int64_t best = INT64_MAX, down_best = *rows, across_best = *columns;
    for (int down = mma_in_memory(unit) ? groups : 1; down <= groups; down *= 2) {
        int64_t r = up(*rows, (int64_t)down * unit->m),
                c = up(*columns, (int64_t)(groups / down) * unit->n);
        if (r * c < best) {
            best = r * c;
            down_best = r;
            across_best = c;
        }
    }
    *rows = down_best;
    *columns = across_best;
}

int mma_columns(int64_t columns, int64_t of) {
    enum { MOST = 256 };
    int64_t n = columns < MOST ? columns : MOST;
    while (n > of && (columns % n != 0 || n % of != 0))
        n--;
    return (int)n;
}

ir_layout mma_layout(const mma_unit *unit, ir_fragment fragment, mma_grid grid) {
    enum { SUBGROUP = 32 }; /* of an instruction that several do together */
    int lanes = mma_in_memory(unit) ? SUBGROUP : unit->lanes;
    const mma_holds *h = fragment == IR_FRAGMENT_A   ? &unit->a
                         : fragment == IR_FRAGMENT_B ? &unit->b
                                                     : &unit->c;
    return (ir_layout){.row_threads = h->row_threads,
                       .column_threads = h->column_threads,
                       .row_run = h->row_run,
                       .column_run = h->column_run,
                       .row_groups = (uint16_t)(grid.rows * (unit->lanes / lanes)),
                       .column_groups = (uint16_t)grid.columns,
                       .lanes = (uint16_t)lanes,
                       .fragment = (uint16_t)fragment,
                       .turned = h->turned};
}
