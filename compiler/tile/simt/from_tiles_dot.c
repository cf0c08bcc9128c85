/* from_tiles_dot.c - products of a kernel of tiles: factors lie in the workgroup's memory, sums are
 * in registers, added by threads or by a matrix unit, which loads factors to registers or reads
 * them by itself. */
#include <stdio.h>
#include <string.h>

#include "schedule/integers.h"
#include "tile/lowering.h"
#include "tile/simt/from_tiles.h"
#include "tile/swizzle.h"

enum { STEPS_AT_ONCE = 8, INSTRUCTIONS_AT_ONCE = 4 };

typedef struct product {
    tiles_lowering *t;
    tiles_view x, y;              /* rows x steps, steps x columns */
    const tiles_parting *parting; /* of the left factor; NULL: it is one part */
    int parts;
    tiles_view xs[TILES_PARTS]; /* ... in memory */
    ir_value whole, of;         /* ... or made of this tile, which is `of` of the graph; 0: none */
    ir_value left[TILES_PARTS]; /* ... in registers, as the unit has them; 0: they are in memory */
    dtype sum;                  /* type of the sums */
    const mma_unit *unit;
    const char *order;
    int64_t number;
} product;

static ir_value moved(ir_builder *b, ir_value offset, ir_value k, int64_t stride, int64_t by) {
    ir_value parts[] = {offset, k};
    int64_t factors[] = {1, stride};
    return tile_affine(b, by * stride, parts, factors, k ? 2 : 1);
}

static ir_value summed(const product *p, ir_builder *b, ir_value x) {
    return tile_type(b, x)->element == p->sum ? x : tile_op(b, TILE_CONVERT, &x, 1, p->sum);
}

/* ---- by threads ---- */

static ir_value add_step(const product *p, ir_builder *b, ir_value k, int64_t i, ir_value sum) {
    const tiles_view *x = &p->x, *y = &p->y;
    ir_value left = tiles_take(b, x, moved(b, x->offset, k, x->column_stride, i), x->rows, 1),
             right = tiles_take(b, y, moved(b, y->offset, k, y->row_stride, i), 1, y->columns);
    ir_value operands[] = {summed(p, b, left), summed(p, b, right), sum};
    if (dtype_is_float(p->sum))
        return tile_op(b, TILE_FMA, operands, 3, DTYPE_NONE);
    operands[0] = tile_op(b, TILE_MUL, operands, 2, DTYPE_NONE);
    return tile_op(b, TILE_ADD, (ir_value[]){operands[0], sum}, 2, DTYPE_NONE);
}

static ir_value by_threads(const product *p, ir_builder *b, ir_value k, int64_t steps,
                           ir_value sum) {
    for (int64_t i = 0; i < steps; i++)
        sum = add_step(p, b, k, i, sum);
    return sum;
}

/* ---- by a matrix unit ---- */

/* Columns of the left factor that the same threads hold as sums. */
static ir_value factor_of(ir_builder *b, ir_value x, int64_t first, int64_t columns) {
    const ir_type_data *t = tile_type(b, x);
    ir_named_attr attrs[] = {{"first", ir_attr_int(b->m, first)},
                             {"factor", ir_attr_bool(b->m, true)}};
    return ir_build1(b, TILE_COLUMNS, &x, 1, ir_type_tile(b->m, t->element, t->dims[0], columns),
                     attrs, 2);
}

/* Do threads hold a unit's left factor as they hold another one's sums? */
static bool holds_alike(const mma_unit *u, const mma_unit *sums) {
    const mma_holds *a = &u->a, *c = &sums->c;
    return a->row_threads == c->row_threads && a->column_threads == c->column_threads &&
           a->row_run == c->row_run && a->column_run == c->column_run && a->turned == c->turned;
}

/* So many steps of the left factor, from k + i on. */
static ir_value left_at(const product *p, ir_builder *b, int part, ir_value k, int64_t i,
                        int64_t steps) {
    const tiles_view *x = &p->xs[part];
    if (p->left[part])
        return factor_of(b, p->left[part], i, steps);
    return tiles_take(b, x, moved(b, x->offset, k, x->column_stride, i), x->rows, steps);
}

/* ... with the parts of those steps in registers, where they are made there. */
static product parted(const product *p, ir_builder *b, int64_t first, int64_t steps) {
    product now = *p;
    ir_value some = p->whole;
    if (some && steps < p->x.columns)
        some = tile_columns(b, some, first, steps);
    if (some)
        tiles_part(p->t, b, p->parting, p->of, some, now.left);
    return now;
}

static ir_value by_unit(const product *p, ir_builder *b, ir_value k, int64_t steps, ir_value sum) {
    const tiles_view *y = &p->y;
    int64_t each = p->unit->k;
    const ir_attr yes = ir_attr_bool(b->m, true);
    const product now = parted(p, b, 0, steps);
    for (int64_t i = 0; i < steps; i += each) {
        ir_value at = moved(b, y->offset, k, y->row_stride, i),
                 right = tiles_take(b, y, at, each, y->columns);
        for (int part = 0; part < p->parts; part++) {
            ir_value operands[] = {left_at(&now, b, part, k, i, each), right, sum};
            ir_named_attr attrs[3] = {{"unit", ir_attr_string(b->m, p->unit->name)}};
            uint32_t n = 1;
            if (p->t->whole_rows)
                attrs[n++] = (ir_named_attr){"whole_rows", yes};
            if (part)
                attrs[n++] = (ir_named_attr){"again", yes};
            sum = ir_build1(b, TILE_MMA, operands, 3, ir_value_get(b->m, sum)->type, attrs, n);
        }
    }
    return sum;
}

/* Some steps of a unit that reads the right factor from memory by itself, from a place on, and the
 * left one where it lies in panels, too. */
static ir_value stage(const product *p, ir_builder *b, int part, ir_value at, int64_t steps,
                      ir_value sum) {
    const tiles_view *x = &p->xs[part], *y = &p->y;
    const int64_t size = (int64_t)dtype_size(p->unit->factor);
    const bool turned = y->column_stride == 1, there = !p->left[part] && x->panel;
    const ir_attr yes = ir_attr_bool(b->m, true);
    ir_value operands[] = {y->memory, at, sum, x->memory, x->offset};
    ir_named_attr attrs[7] = {{"unit", ir_attr_string(b->m, p->unit->name)},
                              {"steps", ir_attr_int(b->m, steps)},
                              {"right", ir_attr_int(b->m, y->panel * size)}};
    uint32_t n = 3;
    if (turned)
        attrs[n++] = (ir_named_attr){"right_turned", yes};
    if (turned && steps < y->rows)
        attrs[n++] = (ir_named_attr){"right_steps", ir_attr_int(b->m, y->rows)};
    if (there)
        attrs[n++] = (ir_named_attr){"left", ir_attr_int(b->m, x->panel * size)};
    else
        operands[3] = left_at(p, b, part, 0, 0, steps);
    if (there && x->row_stride == 1)
        attrs[n++] = (ir_named_attr){"left_turned", yes};
    if (part)
        attrs[n++] = (ir_named_attr){"again", yes};
    return ir_build1(b, TILE_MMA_STAGE, operands, there ? 5 : 4, ir_value_get(b->m, sum)->type,
                     attrs, n);
}

/* All steps at once; of a left factor in parts only some, so that not all parts are there. */
static ir_value by_stage(const product *p, ir_builder *b, ir_value k, int64_t steps, ir_value sum) {
    enum { OF_PARTS = 64 };
    const tiles_view *y = &p->y;
    const int64_t each = p->whole ? OF_PARTS : steps,
                  step = y->column_stride == 1 ? y->panel : y->columns;
    (void)k; /* 0 */
    for (int64_t first = 0; first < steps; first += each) {
        int64_t some = steps - first < each ? steps - first : each;
        const product now = parted(p, b, first, some);
        ir_value at = first ? tile_index_plus(b, y->offset, first * step) : y->offset;
        for (int part = 0; part < p->parts; part++)
            sum = stage(&now, b, part, at, some, sum);
    }
    return sum;
}

static ir_value waited_for(ir_builder *b, ir_value sum) {
    ir_named_attr left = {"left", ir_attr_int(b->m, 0)};
    return ir_build1(b, TILE_MMA_WAIT, &sum, 1, ir_value_get(b->m, sum)->type, &left, 1);
}

/* Are there more steps than the order of threads adds onto one sum? */
static bool is_chunked(const product *p) {
    return order_find(p->order) == ORDER_CHUNK512 && p->x.columns > ORDER_CHUNK512_CHUNK;
}

/* Are the product's tiles whole pieces of it? Of one that reads memory by itself each group of
 * subgroups has one piece's rows. */
static bool is_cut(const product *p, const mma_unit *u) {
    int64_t rows = p->t->threads / u->lanes * u->m;
    mma_grid grid;
    bool fits = rows == 0          ? false
                : mma_in_memory(u) ? p->x.rows == rows && (!is_chunked(p) || !mma_unit_is_chain(u))
                : p->t->whole_rows
                    ? p->x.rows % rows == 0
                    : mma_grid_of(u, p->x.rows, p->y.columns, (int)p->t->threads, &grid);
    return fits && p->x.rows % u->m == 0 && p->y.columns % u->n == 0 && p->x.columns % u->k == 0;
}

static bool is_free(const tiles_lowering *t) {
    return strcmp(t->request->profile, "strict") != 0;
}

/* A unit that adds as threads do takes their place in their order, in strict where it is known to;
 * any other in its own order, and beyond strict for all. */
static bool may_multiply(const product *p, const mma_unit *u, dtype left, dtype right) {
    const bool free = is_free(p->t), equal = mma_unit_is_equal(u, p->t->request->probed);
    bool stands = mma_unit_is_chain(u) ? (free || equal) && order_find(p->order) == ORDER_CHUNK512
                                       : free && mma_unit_stands_in(u);
    return (stands || strcmp(p->order, u->name) == 0) && u->sum == p->sum &&
           mma_in_memory(u) == (p->y.panel != 0) && mma_unit_is_of(u, p->t->request->chip) &&
           u->factor == left && u->factor == right &&
           !(p->parting && p->parting->of_weights && mma_unit_flushes(u));
}

/* A product that a unit would have multiplied, were it of another size. */
static void note_missed(const product *p, ir_op op, const mma_unit *u) {
    tiles_lowering *t = p->t;
    int64_t rows = t->whole_rows ? t->threads / u->lanes * u->m : u->m;
    if (!t->missed[0] && t->threads < u->lanes)
        snprintf(t->missed, sizeof t->missed, "line %u: %lld threads, and an instruction takes %d",
                 ir_op_get(t->g, op)->location.line, (long long)t->threads, u->lanes);
    else if (!t->missed[0])
        snprintf(t->missed, sizeof t->missed,
                 "line %u: %lld x %lld by %lld steps for %lld threads; rows are a multiple of "
                 "%lld, columns of %d, steps of %d",
                 ir_op_get(t->g, op)->location.line, (long long)p->x.rows, (long long)p->y.columns,
                 (long long)p->x.columns, (long long)t->threads, (long long)rows, u->n, u->k);
}

static const mma_unit *find_unit(const product *p, ir_op op, dtype left, dtype right) {
    const mma_unit *list, *missed = NULL;
    uint32_t count = mma_units(&list);
    for (uint32_t i = 0; i < count; i++) {
        if (!may_multiply(p, &list[i], left, right))
            continue;
        if (is_cut(p, &list[i]))
            return &list[i];
        missed = &list[i];
    }
    if (missed && op) {
        const int64_t sizes[] = {p->x.rows, p->y.columns, p->x.columns};
        tiles_check_unit(p->t, op, sizes, missed);
        note_missed(p, op, missed);
    }
    return NULL;
}

static dtype sum_of(dtype to) {
    return dtype_is_narrow(to) ? DTYPE_F32 : to;
}

dtype tiles_read_as(const tiles_lowering *t, ir_op op) {
    const ir_op_data *d = ir_op_get(t->g, op);
    const mma_unit *list;
    uint32_t count = mma_units(&list);
    dtype as[2];
    for (int i = 0; i < 2; i++) {
        dtype own = ir_type_of(t->g, tiles_factor(t, d->operands[i]))->element;
        as[i] = mma_read_as(own) == own ? DTYPE_NONE : mma_read_as(own);
    }
    bool wide = is_free(t) && as[0] == as[1] &&
                order_find(ir_op_string(t->g, op, "order", "chunk512")) != ORDER_UNIT;
    for (uint32_t i = 0; i < count && wide && as[0]; i++)
        if (list[i].factor == as[0] && mma_unit_is_of(&list[i], t->request->chip) &&
            mma_unit_stands_in(&list[i]) && !mma_unit_flushes(&list[i]))
            return as[0];
    return DTYPE_NONE;
}

/* Does a factor's tile have its columns apart in memory? */
static bool is_turned(const tiles_lowering *t, ir_value v) {
    bool turned = false;
    for (ir_op op = ir_value_get(t->g, v)->op; op && ir_op_get(t->g, op)->opcode == GRAPH_TRANSPOSE;
         op = ir_value_get(t->g, v)->op) {
        v = tiles_factor(t, ir_op_get(t->g, op)->operands[0]);
        turned = !turned;
    }
    return turned;
}

const mma_unit *tiles_stage_unit(const tiles_lowering *t, ir_op op) {
    const ir_op_data *d = ir_op_get(t->g, op);
    ir_value left = tiles_factor(t, d->operands[0]), right = tiles_factor(t, d->operands[1]);
    const ir_type_data *x = ir_type_of(t->g, left), *y = ir_type_of(t->g, right);
    product p = {.t = (tiles_lowering *)t,
                 .y = {.panel = SWIZZLE_MOST},
                 .sum = sum_of(ir_type_of(t->g, d->results[0])->element),
                 .order = ir_op_string(t->g, op, "order", "chunk512")};
    if (!t->may_stage || x->rank != 2 || y->rank != 2)
        return NULL;
    p.parting = tiles_parting_of(t, left, y->element, p.sum);
    p.x.rows = x->dims[0];
    p.x.columns = x->dims[1];
    p.y.columns = y->dims[1];
    dtype wide = tiles_read_as(t, op), own = p.parting ? y->element : x->element;
    const mma_unit *unit = find_unit(&p, 0, wide ? wide : own, wide ? wide : y->element);
    bool by_steps = !is_turned(t, left) && is_turned(t, right);
    return unit && (by_steps || mma_reads_lines(unit)) ? unit : NULL;
}

/* ---- either ---- */

static ir_value zeros(const product *p, ir_builder *b) {
    return tile_broadcast(b, tile_constant(b, p->sum, 0), p->x.rows, p->y.columns);
}

/* Does it add as threads do? */
static bool is_chain(const product *p) {
    return !p->unit || mma_unit_is_chain(p->unit);
}

/* The sum of steps [low, low + extent). */
static ir_value lower_steps(const product *p, ir_builder *b, ir_value low, int64_t extent) {
    bool in_memory = p->unit && mma_in_memory(p->unit);
    int64_t each = p->unit ? p->unit->k : 1, most = p->unit ? INSTRUCTIONS_AT_ONCE : STEPS_AT_ONCE,
            steps =
                is_chain(p) && !in_memory ? greatest_divisor(extent / each, most) * each : extent;
    ir_op loop;
    ir_value k, sum = zeros(p, b);
    ir_builder in = tile_for(b, low, tile_index_plus(b, low, extent), steps, &sum, 1, &loop, &k);
    tiles_mark(p->t, loop, p->order, p->number);
    sum = ir_block_get(b->m, in.block)->arguments[1];
    sum = (in_memory ? by_stage : p->unit ? by_unit : by_threads)(p, &in, k, steps, sum);
    tile_yield(&in, &sum, 1);
    sum = ir_op_result(b->m, loop, 0);
    return in_memory ? waited_for(b, sum) : sum;
}

/* Sums of whole chunks onto the total, then that of the rest. */
static ir_value lower_chunks(const product *p, ir_builder *b) {
    enum { CHUNK = ORDER_CHUNK512_CHUNK };
    int64_t extent = p->x.columns, whole = extent / CHUNK * CHUNK;
    ir_op loop;
    ir_value start, total = zeros(p, b);
    ir_builder in =
        tile_for(b, tile_index(b, 0), tile_index(b, whole), CHUNK, &total, 1, &loop, &start);
    tiles_mark(p->t, loop, p->order, p->number);
    ir_value sum[] = {ir_block_get(b->m, in.block)->arguments[1],
                      lower_steps(p, &in, start, CHUNK)};
    total = tile_op(&in, TILE_ADD, sum, 2, DTYPE_NONE);
    tile_yield(&in, &total, 1);
    total = ir_op_result(b->m, loop, 0);
    if (extent == whole)
        return total;
    ir_value rest[] = {total, lower_steps(p, b, tile_index(b, whole), extent - whole)};
    return tile_op(b, TILE_ADD, rest, 2, DTYPE_NONE);
}

static bool is_plain(tiles_lowering *t, ir_op op, const product *p) {
    const ir_op_data *d = ir_op_get(t->g, op);
    const tiles_value *x = &t->values[tiles_factor(t, d->operands[0])],
                      *y = &t->values[tiles_factor(t, d->operands[1])];
    bool matrices =
        ir_type_of(t->g, d->operands[0])->rank == 2 && ir_type_of(t->g, d->operands[1])->rank == 2;
    if (!matrices || dtype_size(p->sum) < sizeof(float) ||
        (graph_accumulate_type(t->g, op) == DTYPE_F64 && p->sum != DTYPE_F64))
        return tiles_refuse(t, op, "it is none of two matrices, or its sums are of another type");
    return (x->columns != TILES_CUT && y->rows != TILES_CUT) ||
           tiles_refuse(t, op, "its steps may be cut short");
}

/* The size of the left factor, wherever it is; as many steps as the right one has. */
static bool find_left(tiles_lowering *t, ir_builder *b, ir_op op, product *p) {
    ir_value v = tiles_factor(t, ir_op_get(t->g, op)->operands[0]), x = t->values[v].tile;
    p->x = t->values[v].view;
    if (!p->x.memory && !(x = tiles_whole(t, b, op, v)))
        return false;
    if (!p->x.memory) {
        p->x.rows = tile_type(b, x)->dims[0];
        p->x.columns = tile_type(b, x)->dims[1];
    }
    return p->x.columns == p->y.rows ||
           tiles_refuse(t, op, "its factors have other numbers of steps");
}

/* Behind the true steps one factor is 0, and the other a number: there both are 0. */
static void mask_steps(tiles_lowering *t, ir_builder *b, ir_value v, bool rows) {
    tiles_value *x = &t->values[v];
    int64_t there = rows ? x->true_rows : x->true_columns;
    if (!there || x->zeros || !x->tile)
        return;
    x->tile = tiles_masked(b, x->tile, rows, there, 0);
    x->view = (tiles_view){0};
    x->zeros = true;
}

/* The type in which products read a factor. */
static dtype type_read(const tiles_lowering *t, ir_value v) {
    return t->wide[v] ? t->wide[v] : ir_type_of(t->g, v)->element;
}

/* Opens what the unit multiplies on the left, in registers where its threads hold sums as they hold
 * left factors. False: threads multiply. */
static bool open_unit(product *p, ir_builder *b, ir_op op) {
    tiles_lowering *t = p->t;
    ir_value v = tiles_factor(t, ir_op_get(t->g, op)->operands[0]);
    const tiles_value *x = &t->values[v];
    dtype left = type_read(t, v),
          right = type_read(t, tiles_factor(t, ir_op_get(t->g, op)->operands[1]));
    const tiles_parting *parting = x->tile ? tiles_parting_of(t, v, right, p->sum) : NULL;
    p->parting = parting;
    p->unit = find_unit(p, op, parting ? right : left, right);
    p->parting = p->unit ? parting : NULL;
    if (!p->unit)
        return false;
    bool stays = x->unit && t->whole_rows && !t->wide[v] && holds_alike(p->unit, x->unit);
    p->parts = parting ? parting->count : 1;
    if (!parting) {
        p->left[0] = stays ? x->tile : 0;
        return stays || tiles_view_of(t, b, op, v, &p->xs[0]);
    }
    p->of = v;
    p->whole = tiles_whole(t, b, op, v);
    if (!p->whole || stays)
        return p->whole != 0;
    ir_value parts[TILES_PARTS];
    tiles_part(t, b, parting, v, p->whole, parts);
    p->whole = 0;
    for (int i = 0; i < p->parts; i++)
        p->xs[i] = tiles_put_down(t, b, parts[i], v);
    return true;
}

bool tiles_lower_product(tiles_lowering *t, ir_builder *b, ir_op op) {
    const ir_op_data d = *ir_op_get(t->g, op);
    const ir_value left = tiles_factor(t, d.operands[0]), right = tiles_factor(t, d.operands[1]);
    const tiles_value *x = &t->values[left], *y = &t->values[right];
    const dtype to = ir_type_of(t->g, d.results[0])->element;
    product p = {.t = t, .sum = sum_of(to), .order = ir_op_string(t->g, op, "order", "chunk512")};
    order_id order = order_find(p.order);
    if (!is_plain(t, op, &p))
        return false;
    t->needs_carried |= x->columns == TILES_CARRIED || y->rows == TILES_CARRIED;
    mask_steps(t, b, left, false);
    mask_steps(t, b, right, true);
    if (!tiles_view_of(t, b, op, right, &p.y) || !find_left(t, b, op, &p))
        return false;
    if (!(open_unit(&p, b, op) || tiles_view_of(t, b, op, left, &p.x)))
        return false;
    bool in_memory = p.unit && mma_in_memory(p.unit);
    t->stages_products |= in_memory;
    if (!in_memory && (p.x.panel || p.y.panel))
        return tiles_refuse(t, op, "a unit does not read it by itself, as it does others");
    if (!p.unit && order != ORDER_CHUNK512)
        return tiles_refuse(t, op, "its order is none of chunks of 512");
    p.number = tiles_number(t, "dot", p.order, p.x.columns, p.x.rows * p.y.columns);
    bool chunks = is_chain(&p) && order != ORDER_UNIT && p.x.columns > ORDER_CHUNK512_CHUNK;
    ir_value sum = chunks ? lower_chunks(&p, b) : lower_steps(&p, b, tile_index(b, 0), p.x.columns);
    sum = tiles_unscaled(b, p.parting, sum);
    if (p.sum != to)
        sum = tile_op(b, TILE_CONVERT, &sum, 1, to);
    t->values[d.results[0]] = (tiles_value){.tile = sum,
                                            .rows = x->rows,
                                            .columns = y->columns,
                                            .true_rows = x->true_rows,
                                            .true_columns = y->true_columns,
                                            .unit = p.unit};
    return true;
}
