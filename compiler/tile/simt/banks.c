/* banks.c - see banks.h. Threads are enumerated; no formula is trusted. */
#include "tile/simt/banks.h"

#include "schedule/integers.h"
#include "tile/swizzle.h"

static bool is_touched(int64_t offset) {
    return offset > TOUCH_OTHER;
}

static int64_t floor_div(int64_t x, int64_t y) {
    return x / y - (x % y < 0);
}

/* ---- banks ---- */

/* The words that a group of threads wants: few, so each is compared with all. */
typedef struct wanted {
    int64_t words[SUBGROUP_MOST * 4];
    int count;
    int of_bank[BANKS];
} wanted;

static void want(wanted *w, int64_t word) {
    for (int i = 0; i < w->count; i++)
        if (w->words[i] == word)
            return;
    w->words[w->count++] = word;
    w->of_bank[word - floor_div(word, BANKS) * BANKS]++;
}

static int degree_of_group(const int64_t *offsets, int count, int width) {
    wanted w = {.count = 0};
    int degree = 0;
    for (int i = 0; i < count; i++) {
        if (!is_touched(offsets[i]))
            continue;
        int64_t last = floor_div(offsets[i] + width - 1, BANK_BYTES);
        for (int64_t word = floor_div(offsets[i], BANK_BYTES); word <= last; word++)
            want(&w, word);
    }
    for (int i = 0; i < BANKS; i++)
        degree = w.of_bank[i] > degree ? w.of_bank[i] : degree;
    return degree;
}

int banks_degree(const int64_t *offsets, int count, int width) {
    int together = BANKS * BANK_BYTES / (width > BANK_BYTES ? width : BANK_BYTES), degree = 0;
    for (int first = 0; first < count; first += together) {
        int rest = count - first, here = rest < together ? rest : together,
            one = degree_of_group(offsets + first, here, width);
        degree = one > degree ? one : degree;
    }
    return degree;
}

/* ---- sectors ---- */

sector_count sectors_of(const int64_t *offsets, int count, int width) {
    int64_t seen[2 * SUBGROUP_MOST], starts[SUBGROUP_MOST];
    sector_count found = {0, 0};
    int different = 0;
    for (int i = 0; i < count; i++) {
        bool again = !is_touched(offsets[i]);
        for (int k = 0; k < different && !again; k++)
            again = starts[k] == offsets[i];
        if (again)
            continue;
        starts[different++] = offsets[i];
        int64_t last = floor_div(offsets[i] + width - 1, SECTOR_BYTES);
        for (int64_t s = floor_div(offsets[i], SECTOR_BYTES); s <= last; s++) {
            bool known = false;
            for (int64_t k = 0; k < found.touched; k++)
                known |= seen[k] == s;
            if (!known)
                seen[found.touched++] = s;
        }
    }
    found.needed = ((int64_t)different * width + SECTOR_BYTES - 1) / SECTOR_BYTES;
    return found;
}

/* ---- whole operations ---- */

static int64_t common_divisor(int64_t x, int64_t y) {
    while (y) {
        int64_t rest = x % y;
        x = y;
        y = rest;
    }
    return x < 0 ? -x : x;
}

static void shift(int64_t *offsets, int count, int64_t by) {
    for (int i = 0; i < count; i++)
        offsets[i] += is_touched(offsets[i]) ? by : 0;
}

static int degree_at(const touches *t, int subgroup, int64_t place) {
    int64_t offsets[SUBGROUP_MOST];
    int worst = 0;
    for (int64_t i = 0; i < touches_count(t); i++)
        for (int first = 0; first < t->threads; first += subgroup) {
            touches_at(t, i, first, subgroup, offsets);
            shift(offsets, subgroup, place);
            int degree = banks_degree(offsets, subgroup, t->width_bytes);
            worst = degree > worst ? degree : worst;
        }
    return worst;
}

/* Whole words only turn the banks around. */
int touches_degree(const touches *t, int subgroup) {
    int64_t step = common_divisor(BANK_BYTES, t->divisor);
    int best = degree_at(t, subgroup, 0);
    for (int64_t place = step; place < BANK_BYTES; place += step) {
        int degree = degree_at(t, subgroup, place);
        best = degree < best ? degree : best;
    }
    return best;
}

static sector_count sectors_at(const touches *t, int subgroup, int64_t place) {
    int64_t offsets[SUBGROUP_MOST];
    sector_count sum = {0, 0};
    for (int64_t i = 0; i < touches_count(t); i++)
        for (int first = 0; first < t->threads; first += subgroup) {
            touches_at(t, i, first, subgroup, offsets);
            shift(offsets, subgroup, place);
            sector_count one = sectors_of(offsets, subgroup, t->width_bytes);
            sum.touched += one.touched;
            sum.needed += one.needed;
        }
    return sum;
}

sector_count touches_sectors(const touches *t, int subgroup) {
    int64_t step = common_divisor(SECTOR_BYTES, t->divisor);
    sector_count best = sectors_at(t, subgroup, 0);
    for (int64_t place = step; place < SECTOR_BYTES; place += step) {
        sector_count one = sectors_at(t, subgroup, place);
        best = one.touched < best.touched ? one : best;
    }
    return best;
}

lane_count touches_lanes(const touches *t, int subgroup) {
    int64_t offsets[SUBGROUP_MOST];
    lane_count sum = {0, 0};
    for (int64_t i = 0; i < touches_count(t); i++)
        for (int first = 0; first < t->threads; first += subgroup) {
            int64_t edge = 0, inside = 0;
            touches_at(t, i, first, subgroup, offsets);
            for (int k = 0; k < subgroup; k++) {
                edge += offsets[k] == TOUCH_EDGE;
                inside += is_touched(offsets[k]);
            }
            sum.all += inside ? edge + inside : 0;
            sum.edge += inside ? edge : 0;
        }
    return sum;
}

/* ---- what is copied and read in pieces ---- */

/* As code generation makes it (target/llvm/simt/emit_mma.c): neighbouring threads copy neighbouring
 * pieces of a row; the next turn is the same some rows further on. */
static int degree_of_copy(const ir_module *m, ir_op op, int threads, int subgroup, int *width) {
    ir_value memory = ir_op_get(m, op)->operands[0];
    int64_t size = (int64_t)dtype_size(ir_type_of(m, memory)->element),
            piece = ir_op_int(m, op, "piece", 1), rows = ir_op_int(m, op, "rows", 0),
            units = ir_op_int(m, op, "columns", 0) / piece,
            stride = ir_op_int(m, op, "to_stride", 0) * size, at = ir_op_int(m, op, "at", 0) * size,
            row_bytes = ir_op_int(m, op, "swizzle", 0), across = power_at_least(units, threads),
            offsets[SUBGROUP_MOST];
    int worst = 0;
    *width = (int)(piece * size);
    for (int first = 0; first < threads; first += subgroup) {
        for (int i = 0; i < subgroup; i++) {
            int64_t row = (first + i) / across, unit = (first + i) % across;
            offsets[i] = row < rows && unit < units
                             ? swizzled(row * stride + at + unit * *width, row_bytes)
                             : TOUCH_EDGE;
        }
        int degree = banks_degree(offsets, subgroup, *width);
        worst = degree > worst ? degree : worst;
    }
    return worst;
}

/* A matrix unit reads 16 bytes of 8 rows at once, as ldmatrix does. */
static int degree_of_side(int64_t row_bytes) {
    enum { ROWS = 8 };
    int64_t offsets[ROWS];
    int worst = 0;
    for (int64_t unit = 0; unit < row_bytes; unit += SWIZZLE_UNIT) {
        for (int64_t i = 0; i < ROWS; i++)
            offsets[i] = swizzled(i * row_bytes + unit, row_bytes);
        int degree = banks_degree(offsets, ROWS, SWIZZLE_UNIT);
        worst = degree > worst ? degree : worst;
    }
    return worst;
}

/* The first run of a factor's fragment, of each lane; where ldmatrix loads it, the rows of one of
 * its matrices: of NVIDIA's units, whose lines are 8 threads', single bytes as they lie. */
static int degree_of_fragment(const ir_module *m, ir_op op, int subgroup, int *width) {
    enum { ROWS = 8, HALF = 2 };
    const ir_type_data *t = ir_type_of(m, ir_op_get(m, op)->results[0]);
    const ir_layout *l = &t->layout;
    const int64_t size = (int64_t)dtype_size(t->element), row = ir_op_int(m, op, "row_stride", 0),
                  column = ir_op_int(m, op, "column_stride", 0),
                  pattern = ir_op_int(m, op, "swizzle", 0);
    const bool left = l->fragment == IR_FRAGMENT_A,
               matrices = (left ? l->row_threads : l->column_threads) == ROWS &&
                          (size == HALF || (size < HALF && (left ? column : row) == 1)),
               along = (l->row_run > 1 ? row : column) == 1;
    int64_t offsets[SUBGROUP_MOST], run = (int64_t)l->row_run * l->column_run;
    int count = matrices ? ROWS : l->lanes < subgroup ? l->lanes : subgroup;
    for (int i = 0; i < count; i++) {
        int64_t down = (l->turned ? i : i / l->column_threads) % l->row_threads * l->row_run,
                across = (l->turned ? i / l->row_threads : i) % l->column_threads * l->column_run;
        offsets[i] = matrices ? i * (row == 1 ? column : row) : down * row + across * column;
        offsets[i] = swizzled(offsets[i] * size, pattern);
    }
    *width = (int)(matrices ? SWIZZLE_UNIT : along ? run * size : size);
    return banks_degree(offsets, count, *width);
}

static bool is_fragment(const ir_module *m, ir_op op) {
    const ir_op_data *d = ir_op_get(m, op);
    ir_op memory = d->opcode == TILE_LOAD ? ir_value_get(m, d->operands[0])->op : 0;
    const ir_layout *l = memory ? &ir_type_of(m, d->results[0])->layout : NULL;
    return memory && ir_op_get(m, memory)->opcode == TILE_SCRATCH && l->fragment &&
           l->fragment != IR_FRAGMENT_C;
}

int banks_of_pieces(const ir_module *m, ir_op op, int threads, int subgroup, int *width) {
    int opcode = ir_op_get(m, op)->opcode;
    if (opcode == TILE_COPY)
        return degree_of_copy(m, op, threads, subgroup, width);
    if (is_fragment(m, op))
        return degree_of_fragment(m, op, subgroup, width);
    if (opcode != TILE_MMA_STAGE)
        return 0;
    int left = degree_of_side(ir_op_int(m, op, "left", 0)),
        right = degree_of_side(ir_op_int(m, op, "right", 0));
    *width = SWIZZLE_UNIT;
    return left > right ? left : right;
}
