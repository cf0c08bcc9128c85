/* assign_layout.c - which thread holds which elements: tiles that meet in an element-wise operation
 * have one layout, so that nothing moves between threads but where an operation says so.
 *
 * Tiles are joined to sets; each set gets a layout by its largest tile, and by what its operations
 * need: a running sum a thread for each row, a row of a tile all rows in one thread, products of a
 * column by a row squares of sums, and else memory that neighbouring threads read side by side, in
 * runs where all of it is aligned to them. */
#include <stdlib.h>
#include <string.h>

#include "schedule/integers.h"
#include "tile/mma.h"
#include "tile/simt/access.h"
#include "tile/simt/simt.h"

/* Bytes that a thread loads at once, at most. */
enum { WIDEST_LOAD = 16 };

typedef struct tile_set {
    int64_t rows, columns; /* of the largest */
    bool whole_rows;       /* a thread holds all columns of its rows */
    bool whole_columns;    /* ... all rows of its columns */
    bool products;         /* of columns by rows */
    int64_t folded;        /* columns of the smallest fold of several rows; 0: there is none */
    bool single;           /* no runs */
    /* Loads and stores of far memory whose columns, or rows, lie side by side. */
    uint32_t along_columns, along_rows;
    int64_t run;        /* elements to which all of those are aligned; 0: there is none */
    int64_t piece;      /* narrow elements that the workgroup's memory gets at once across; or 0 */
    ir_layout fragment; /* of a matrix unit's instruction; all 0: it is of none */
} tile_set;

typedef struct layouts {
    ir_module *m;
    ir_value *parent; /* by value: union-find */
    tile_set *groups;
    int threads, subgroup;
    const char *why; /* a set that can have no layout; NULL: there is none */
} layouts;

static const ir_type_data *type_of(const layouts *l, ir_value v) {
    return ir_type_of(l->m, v);
}

static bool is_tile(const layouts *l, ir_value v) {
    return type_of(l, v)->kind == IR_TYPE_TILE;
}

/* A single element is in all threads, whatever the layout. */
static bool is_single(const layouts *l, ir_value v) {
    const ir_type_data *t = type_of(l, v);
    return t->dims[0] == 1 && t->dims[1] == 1;
}

static ir_value find(layouts *l, ir_value v) {
    while (l->parent[v] != v)
        v = l->parent[v] = l->parent[l->parent[v]];
    return v;
}

/* The layout that a matrix unit gives to a set; only one can. */
static void set_fragment(layouts *l, ir_value v, const ir_layout *fragment) {
    ir_layout *own = &l->groups[find(l, v)].fragment;
    if (own->row_threads && memcmp(own, fragment, sizeof *own) != 0)
        l->why = "a tile is a fragment of two instructions of matrix units";
    *own = *fragment;
}

static void join(layouts *l, ir_value a, ir_value b) {
    if (!is_tile(l, a) || !is_tile(l, b) || is_single(l, a) || is_single(l, b))
        return;
    a = find(l, a);
    b = find(l, b);
    if (a == b)
        return;
    tile_set *x = &l->groups[a], *y = &l->groups[b];
    l->parent[b] = a;
    x->rows = y->rows > x->rows ? y->rows : x->rows;
    x->columns = y->columns > x->columns ? y->columns : x->columns;
    x->whole_rows |= y->whole_rows;
    x->whole_columns |= y->whole_columns;
    x->products |= y->products;
    if (y->folded && (!x->folded || y->folded < x->folded))
        x->folded = y->folded;
    x->single |= y->single;
    x->along_columns += y->along_columns;
    x->along_rows += y->along_rows;
    if (y->run && (!x->run || y->run < x->run))
        x->run = y->run;
    x->piece = y->piece > x->piece ? y->piece : x->piece;
    if (y->fragment.row_threads)
        set_fragment(l, a, &y->fragment);
}

static void join_loop(layouts *l, ir_op op) {
    const ir_op_data *d = ir_op_get(l->m, op);
    const ir_block_data *b = ir_block_get(l->m, ir_op_block(l->m, op, 0));
    const ir_op_data *end = ir_op_get(l->m, b->last);
    for (uint32_t i = 0; i < d->result_count; i++) {
        join(l, d->results[i], d->operands[2 + i]);
        join(l, d->results[i], b->arguments[1 + i]);
        join(l, d->results[i], end->operands[i]);
    }
}

/* A row becomes a tile of its own, which its columns' threads hold already. */
static void join_columns(layouts *l, ir_op op) {
    const ir_op_data *d = ir_op_get(l->m, op);
    join(l, d->operands[0], d->results[0]);
    l->groups[find(l, d->operands[0])].whole_columns = true;
}

static void join_scan(layouts *l, ir_op op) {
    const ir_op_data *d = ir_op_get(l->m, op);
    for (int i = 0; i < 2; i++)
        join(l, d->operands[i], d->results[i]);
    /* Single elements are in no set with others, and these four must be alike. */
    const ir_value rows[] = {d->operands[0], d->results[0]},
                   columns[] = {d->operands[1], d->results[1]};
    for (int i = 0; i < 2; i++) {
        l->groups[find(l, rows[i])].whole_rows = true;
        l->groups[find(l, columns[i])].whole_columns = true;
    }
}

/* The lanes of a row, and what is left of it in all of their threads. */
static void join_fold(layouts *l, ir_op op) {
    const ir_op_data *d = ir_op_get(l->m, op);
    const ir_type_data *t = type_of(l, d->operands[0]);
    for (uint32_t i = 1; i < d->operand_count; i++)
        join(l, d->operands[0], d->operands[i]);
    join(l, d->operands[0], d->results[0]);
    tile_set *set = &l->groups[find(l, d->operands[0])];
    if (t->dims[0] == 1)
        set->whole_columns = true;
    else if (!set->folded || t->dims[1] < set->folded)
        set->folded = t->dims[1];
}

/* Grid of subgroups, or of groups of them, that cut the sums of a product. */
static bool grid_of(const layouts *l, ir_op op, const mma_unit *unit, mma_grid *grid) {
    const ir_type_data *t = type_of(l, ir_op_get(l->m, op)->results[0]);
    if (!ir_op_attr(l->m, op, "whole_rows") && !mma_in_memory(unit))
        return mma_grid_of(unit, t->dims[0], t->dims[1], l->threads, grid);
    *grid = (mma_grid){l->threads / unit->lanes, 1};
    return t->dims[0] % ((int64_t)grid->rows * unit->m) == 0 && t->dims[1] % unit->n == 0;
}

/* Sums have one layout, each factor in registers its own. */
static void join_mma(layouts *l, ir_op op) {
    static const ir_fragment fragments[] = {IR_FRAGMENT_A, IR_FRAGMENT_B, IR_FRAGMENT_C};
    const ir_op_data *d = ir_op_get(l->m, op);
    const mma_unit *unit = mma_unit_of(l->m, op);
    mma_grid grid;
    if (!unit || !grid_of(l, op, unit, &grid)) {
        l->why = "a product of a matrix unit cannot be cut for the workgroup's threads";
        return;
    }
    join(l, d->results[0], d->operands[2]);
    for (int i = 0; i < 3; i++) {
        ir_value v = mma_in_memory(unit) && i == 0 ? d->operands[3] : d->operands[i];
        ir_layout fragment = mma_layout(unit, fragments[i], grid);
        if (is_tile(l, v))
            set_fragment(l, v, &fragment);
    }
}

/* ---- memory ---- */

static bool is_far(const ir_module *m, ir_value memory) {
    ir_op op = ir_value_get(m, memory)->op;
    return !op || ir_op_get(m, op)->opcode != TILE_SCRATCH;
}

static int64_t power_dividing(int64_t n, int64_t most) {
    int64_t power = 1;
    while (power * 2 <= most && n % (power * 2) == 0)
        power *= 2;
    return power;
}

/* Notes the axis that lies side by side in memory, and the runs of elements in which every row of
 * it is aligned. */
static void note_access(layouts *l, ir_op op, ir_value tile) {
    access a;
    const ir_type_data *t = type_of(l, tile);
    tile_set *set = &l->groups[find(l, tile)];
    set->single |= ir_op_attr(l->m, op, "single") != 0;
    if (!is_far(l->m, ir_op_get(l->m, op)->operands[0]) || !access_of(l->m, op, &a) || !a.known ||
        is_single(l, tile))
        return;
    bool across = a.column_stride == 1 && a.columns > 1, down = a.row_stride == 1 && a.rows > 1;
    if (!across && !down)
        return;
    int64_t most = WIDEST_LOAD / (int64_t)dtype_size(t->element),
            extent = across ? a.columns : a.rows,
            other =
                across ? (a.rows > 1 ? a.row_stride : 0) : (a.columns > 1 ? a.column_stride : 0);
    int64_t run = power_dividing(extent, most < 4 ? most : 4);
    run = power_dividing(access_divisor(l->m, &a), run);
    run = power_dividing(other, run);
    *(across ? &set->along_columns : &set->along_rows) += 1;
    set->run = !set->run || run < set->run ? run : set->run;
}

/* Elements narrower than a word that are stored across into the workgroup's memory. */
static void note_piece(layouts *l, ir_op op) {
    enum { WORD = 4 };
    const ir_op_data *d = ir_op_get(l->m, op);
    int64_t size = (int64_t)dtype_size(type_of(l, d->operands[2])->element);
    if (!is_far(l->m, d->operands[0]) && size < WORD &&
        ir_op_int(l->m, op, "column_stride", 0) == 1)
        l->groups[find(l, d->operands[2])].piece = WIDEST_LOAD / size;
}

static void note_memory(layouts *l, ir_op op) {
    const ir_op_data *d = ir_op_get(l->m, op);
    if (d->opcode == TILE_LOAD)
        note_access(l, op, d->results[0]);
    else if (d->opcode == TILE_STORE) {
        note_access(l, op, d->operands[2]);
        note_piece(l, op);
    }
}

/* A column by a row, onto a tile. */
static bool is_product(const layouts *l, const ir_op_data *d) {
    if (d->opcode != TILE_FMA && d->opcode != TILE_MUL)
        return false;
    const ir_type_data *x = type_of(l, d->operands[0]), *y = type_of(l, d->operands[1]);
    return x->dims[1] == 1 && y->dims[0] == 1 && x->dims[0] > 1 && y->dims[1] > 1;
}

static void join_values(const ir_module *m, ir_op op, layouts *l) {
    const ir_op_data *d = ir_op_get(m, op);
    switch (d->opcode) {
    case TILE_FOR:
        join_loop(l, op);
        return;
    case TILE_ROW:
    case TILE_GROUP:
        join_columns(l, op);
        return;
    case TILE_COLUMNS:
        if (!ir_op_attr(m, op, "factor")) /* else it is laid out as the unit has it */
            join(l, d->operands[0], d->results[0]);
        return;
    case TILE_SCAN:
        join_scan(l, op);
        return;
    case TILE_SCATTER:
        join(l, d->operands[2], d->operands[3]);
        return;
    case TILE_MMA:
    case TILE_MMA_STAGE:
        join_mma(l, op);
        return;
    case TILE_MMA_WAIT:
        for (uint32_t i = 0; i < d->operand_count; i++)
            join(l, d->operands[i], d->results[i]);
        return;
    case TILE_FOLD:
        join_fold(l, op);
        return;
    default:
        for (uint32_t i = 0; i < d->operand_count && d->result_count == 1; i++)
            join(l, d->results[0], d->operands[i]);
        if (is_product(l, d))
            l->groups[find(l, d->results[0])].products = true;
    }
}

static void open_value(layouts *l, ir_value v) {
    const ir_type_data *t = type_of(l, v);
    l->parent[v] = v;
    if (t->kind == IR_TYPE_TILE)
        l->groups[v] = (tile_set){.rows = t->dims[0], .columns = t->dims[1]};
}

/* ---- layouts ---- */

static ir_layout layout(int64_t rows, int64_t columns, int64_t row_run, int64_t column_run) {
    return (ir_layout){.row_threads = (uint16_t)rows,
                       .column_threads = (uint16_t)columns,
                       .row_run = (uint16_t)row_run,
                       .column_run = (uint16_t)column_run};
}

/* A thread's sums are as square as can be: it reads a row of one side and a column of the other for
 * each step. */
static ir_layout layout_of_products(const layouts *l, const tile_set *g) {
    int64_t best = INT64_MAX, best_rows = 1;
    for (int64_t rows = 1; rows <= l->threads; rows *= 2) {
        int64_t down = (g->rows + rows - 1) / rows,
                across = (g->columns + l->threads / rows - 1) / (l->threads / rows);
        if (down * across * 4 + down + across < best) {
            best = down * across * 4 + down + across;
            best_rows = rows;
        }
    }
    int64_t columns = l->threads / best_rows;
    return layout(best_rows, columns, power_dividing(g->rows / best_rows, 4),
                  power_dividing(g->columns / columns, 4));
}

/* Neighbouring threads hold neighbouring elements of the axis that lies side by side, a single row
 * or column in runs only where that leaves no thread without any. */
static ir_layout layout_of_memory(const layouts *l, const tile_set *g) {
    bool down = g->along_rows > g->along_columns;
    int64_t run = g->run && !g->single ? g->run : 1, along = down ? g->rows : g->columns,
            most = power_at_least(g->rows * g->columns / l->threads, WIDEST_LOAD);
    if ((g->rows == 1 || g->columns == 1) && run > most)
        run = most;
    int64_t first = power_at_least((along + run - 1) / run, l->threads), rest = l->threads / first;
    if ((down ? g->columns : g->rows) == 1)
        first = l->threads, rest = 1;
    int64_t across = power_dividing(g->columns / rest, g->piece ? g->piece : 1);
    return down ? layout(first, rest, run, across) : layout(rest, first, 1, run);
}

/* A row is in as many threads as hand each other lanes, or in fewer, where there are many rows, and
 * where these are what lies side by side; with runs as far as its lanes have them. */
static ir_layout layout_of_folds(const layouts *l, const tile_set *g) {
    bool down = g->along_rows > g->along_columns;
    int64_t rows = power_at_least(g->rows, down ? SIMT_FOLD_THREADS : SIMT_FOLD_ROWS),
            most = l->subgroup, columns = l->threads / rows;
    most = g->folded < most ? g->folded : most;
    columns = columns < most ? columns : most;
    int64_t run = g->run && !down ? g->run : 1;
    return layout(l->threads / columns, columns, 1, power_dividing(g->folded / columns, run));
}

static ir_layout layout_of(const layouts *l, const tile_set *g) {
    if (g->fragment.row_threads)
        return g->fragment;
    if (g->folded)
        return layout_of_folds(l, g);
    if (g->whole_rows)
        return layout(l->threads, 1, 1, 1);
    if (g->whole_columns || (g->rows == 1 && !g->run))
        return layout(1, l->threads, 1, 1);
    if (g->products && g->rows >= 8 && g->columns >= 8)
        return layout_of_products(l, g);
    return layout_of_memory(l, g);
}

static void lay_out(layouts *l, ir_value v) {
    if (!is_tile(l, v))
        return;
    ir_layout chosen = layout_of(l, &l->groups[find(l, v)]);
    ir_value_get(l->m, v)->type = ir_type_laid_out(l->m, ir_value_get(l->m, v)->type, &chosen);
}

bool simt_assign_layout(ir_module *m, int threads, int subgroup, status *st) {
    uint32_t n = ir_value_count(m) + 1;
    layouts l = {.m = m, .threads = threads, .subgroup = subgroup};
    l.parent = base_calloc(n, sizeof *l.parent);
    l.groups = base_calloc(n, sizeof *l.groups);
    for (ir_value v = 1; v < n; v++)
        open_value(&l, v);
    for (ir_walk w = ir_walk_op(m, ir_module_kernel(m)); ir_walk_next(&w);)
        join_values(m, w.op, &l);
    for (ir_walk w = ir_walk_op(m, ir_module_kernel(m)); ir_walk_next(&w);)
        note_memory(&l, w.op);
    for (ir_value v = 1; v < n; v++)
        lay_out(&l, v);
    free(l.parent);
    free(l.groups);
    ir_op_set_attr(m, ir_module_kernel(m), "threads", ir_attr_int(m, threads));
    return !l.why || status_set(st, STATUS_INTERNAL, "%s", l.why);
}
