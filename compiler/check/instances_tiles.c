/* instances_tiles.c - what a case's dimensions make of a kernel of tiles: how long its tiles are in
 * each program instance, and whether the instances give every place of every result once.
 *
 * Nothing is computed but lengths, by the rules of ops/tile_step.h. Of blocks all are alike but the
 * last one, which may be shorter; so the first and the last value of each index tell of all. Where
 * a length depends on an index in another way, every value is looked at. */
#include <stdlib.h>
#include <string.h>

#include "check/instances.h"
#include "ops/tile_step.h"
#include "ops/tiles.h"

/* More than that is left to expand-tiles. */
enum { STEPS_MAX = 100000, INDICES_MAX = IR_MAX_RANK + 2 };

typedef struct grid_index {
    const char *name;
    int64_t count;
} grid_index;

typedef struct walk {
    instance in; /* `known` is `values` */
    const instance *whole;
    ir_op tiles;
    VEC(ir_binding) values; /* of the case's dimensions, then of indices */
    grid_index grid[INDICES_MAX];
    uint32_t grid_count;
    ir_type *now; /* by value: its type in this instance */
    bool fits;    /* so far, of whole tiles */
    bool every;   /* value of an index */
    uint32_t steps;
    bool stopped; /* too much of it, or not of the form that is known here */
} walk;

static void bind(walk *w, const char *name, int64_t value) {
    ir_binding index = {name, value};
    vec_push(&w->values, index);
    w->in.known = (ir_bindings){w->values.items, (uint32_t)w->values.count};
}

static void unbind(walk *w) {
    w->values.count--;
    w->in.known.count--;
}

static bool stop(walk *w) {
    w->stopped = true;
    return true;
}

/* ---- do lengths depend on indices? ---- */

static bool is_of_index(const instance *whole, ir_dim dim) {
    const char *missing = NULL;
    int64_t number;
    return !ir_dim_evaluate(whole->m, dim, whole->known, &number, &missing) && missing;
}

static bool has_index(const instance *whole, ir_attr attr) {
    const ir_attr_data *d = ir_attr_get(whole->m, attr);
    bool found = d->kind == IR_ATTR_DIM && is_of_index(whole, d->integer);
    for (uint32_t i = 0; d->kind == IR_ATTR_ARRAY && i < d->count; i++) {
        const ir_attr_data *item = ir_attr_get(whole->m, d->items[i]);
        found |= item->kind == IR_ATTR_DIM && is_of_index(whole, item->integer);
    }
    return found;
}

static bool result_has_index(const instance *whole, ir_op op) {
    const ir_op_data *d = ir_op_get(whole->m, op);
    bool found = false;
    for (uint32_t i = 0; i < d->result_count; i++) {
        const ir_type_data *type =
            ir_type_get(whole->m, ir_value_get(whole->m, d->results[i])->type);
        for (int axis = 0; axis < type->rank; axis++) {
            found |= is_of_index(whole, type->dims[axis]);
        }
    }
    return found;
}

/* Where a load begins, or what a number is, is no length. */
static bool has_length_of_index(const instance *whole, ir_op op) {
    const ir_op_data *d = ir_op_get(whole->m, op);
    bool found = result_has_index(whole, op),
         lengths = d->opcode == GRAPH_FOR || graph_op_class(d->opcode) == GRAPH_CLASS_MOVE;
    for (uint32_t i = 0; lengths && i < d->attr_count; i++) {
        found |= has_index(whole, d->attrs[i].value);
    }
    return found;
}

/* Whole tiles, whether or not any instance has them. Bounds that depend on an index are cut where
 * the tile is. */
static void look_at_whole(ir_module *m, ir_op op, void *context) {
    walk *w = context;
    bool is_slice = ir_op_get(m, op)->opcode == GRAPH_SLICE;
    if (has_length_of_index(w->whole, op)) {
        w->every = true;
    } else if (w->fits) {
        w->fits = (!is_slice || instance_slice_fits(w->whole, op)) &&
                  instance_results_exist(w->whole, op);
    }
}

/* ---- what is wrong ---- */

static bool refuse_step(const walk *w, const tile_step *s) {
    static const diagnostic_id ids[] = {[TILE_REFUSED_NUMBER] = ERROR_DIMENSION_RANGE,
                                        [TILE_REFUSED_EDGE] = ERROR_TILE_EDGE,
                                        [TILE_REFUSED_PLACE] = ERROR_INDEX_RANGE};
    diagnose_error(w->in.report, ids[s->refusal], instance_place(&w->in, s->op), "in case '%s', %s",
                   w->in.c->name, s->error);
    if (s->refusal == TILE_REFUSED_PLACE) {
        diagnose_help(w->in.report, "places are counted from 0; the case must bind more");
    } else if (s->refusal == TILE_REFUSED_EDGE) {
        diagnose_help(w->in.report, "the last block of an axis is as long as what is left of it; "
                                    "choose a size of tiles that divides the axis");
    }
    return false;
}

static bool refuse_result(const walk *w, ir_op give, tile_fault fault, uint32_t number, int axis,
                          int64_t place) {
    char words[200];
    tiles_fault_text(w->in.m, fault, number, axis, place, words, sizeof words);
    diagnose_error(w->in.report, fault == TILE_GIVEN_TWICE ? ERROR_TILE_TWICE : ERROR_TILE_NOWHERE,
                   instance_place(&w->in, give), "in case '%s', %s", w->in.c->name, words);
    return false;
}

/* ---- results ---- */

/* Along one axis of a result. */
typedef struct axis_given {
    int index;           /* of the grid, along which the tiles stand; -1: none */
    int64_t start, next; /* of this tile, and of what must be behind it */
} axis_given;

static const ir_type_data *type_of(const walk *w, ir_value v) {
    return ir_type_get(w->in.m, ir_value_get(w->in.m, v)->type);
}

/* The only index that the start has; -2: it has several. */
static int index_of(walk *w, ir_dim start) {
    const char *missing = NULL;
    int64_t number;
    if (ir_dim_evaluate(w->in.m, start, w->whole->known, &number, &missing)) {
        return -1;
    }
    for (uint32_t i = 0; missing && i < w->grid_count; i++) {
        if (strcmp(missing, w->grid[i].name) != 0) {
            continue;
        }
        ir_binding known[INDICES_MAX + 1] = {{missing, 0}};
        const ir_dim rest = ir_dim_substitute(w->in.m, start, (ir_bindings){known, 1});
        return ir_dim_evaluate(w->in.m, rest, w->whole->known, &number, &missing) ? (int)i : -2;
    }
    return -2;
}

/* False: it stands in a way that is not known here. */
static bool find_axis(walk *w, ir_dim start, int64_t extent, axis_given *out) {
    out->index = index_of(w, start);
    out->next = extent;
    if (out->index == -2 || !instance_number(&w->in, start, &out->start)) {
        return false;
    }
    if (out->index < 0) {
        return true;
    }
    ir_binding *index = &w->values.items[w->whole->known.count + (uint32_t)out->index];
    bool ok = true;
    index->value++;
    if (index->value < w->grid[out->index].count) {
        ok = instance_number(&w->in, start, &out->next);
    }
    index->value--;
    return ok;
}

static bool is_first(const walk *w, const axis_given *a) {
    return a->index < 0 || w->values.items[w->whole->known.count + (uint32_t)a->index].value == 0;
}

static bool axis_fits(const walk *w, ir_op give, uint32_t number, int axis, const axis_given *a,
                      int64_t extent, int64_t length) {
    const int64_t end = a->start + length < extent ? a->start + length : extent;
    if (a->start >= extent && extent > 0) {
        return refuse_result(w, give, TILE_GIVEN_OUTSIDE, number, axis, a->start);
    }
    if (is_first(w, a) && a->start > 0) {
        return refuse_result(w, give, TILE_GIVEN_BY_NONE, number, axis, 0);
    }
    if (end < a->next) {
        refuse_result(w, give, TILE_GIVEN_BY_NONE, number, axis, end);
        diagnose_help(w->in.report,
                      "the tile has %lld of the %lld places that are this instance's%s",
                      (long long)length, (long long)(a->next - a->start),
                      a->index < 0 ? "; T.rows and T.cols are blocks along which instances stand"
                                   : "; what is computed of tiles of different lengths is as long "
                                     "as the shortest");
        return false;
    }
    return end == a->next || refuse_result(w, give, TILE_GIVEN_TWICE, number, axis, a->next);
}

/* Instances along an index that the result does not have give the same. */
static bool stands_alone(const walk *w, ir_op give, uint32_t number, const bool *along) {
    for (uint32_t i = 0; i < w->grid_count; i++) {
        if (!along[i] && w->grid[i].count > 1) {
            refuse_result(w, give, TILE_GIVEN_TWICE, number, 0, 0);
            diagnose_help(w->in.report,
                          "%lld program instances stand along an axis that this result does not "
                          "have; without T.cols each of them has all of the columns, and a result "
                          "of other axes belongs in a kernel of its own",
                          (long long)w->grid[i].count);
            return false;
        }
    }
    return true;
}

static bool result_fits(walk *w, ir_op give, uint32_t number) {
    const ir_op_data *d = ir_op_get(w->in.m, give);
    const ir_attr_data *starts = ir_attr_get(
        w->in.m, ir_attr_get(w->in.m, ir_op_attr(w->in.m, give, "start"))->items[number]);
    const ir_attr_data *kept = ir_attr_get(
        w->in.m, ir_attr_get(w->in.m, ir_op_attr(w->in.m, give, "kept"))->items[number]);
    const ir_type_data whole = *type_of(w, ir_op_get(w->in.m, w->tiles)->results[number]),
                       tile = *ir_type_get(w->in.m, w->now[d->operands[number]]);
    bool along[INDICES_MAX] = {false};
    uint32_t taken = 0;
    for (int axis = 0; axis < whole.rank; axis++) {
        bool is_kept =
            taken < kept->count && ir_attr_get(w->in.m, kept->items[taken])->integer == axis;
        int64_t length = is_kept ? tile.dims[taken++] : 1, extent;
        const ir_attr_data *start = ir_attr_get(w->in.m, starts->items[axis]);
        axis_given a;
        if (!instance_number(&w->in, whole.dims[axis], &extent) ||
            !find_axis(w, start->integer, extent, &a) || (a.index >= 0 && along[a.index])) {
            return stop(w);
        }
        if (a.index >= 0) {
            along[a.index] = true;
        }
        if (!axis_fits(w, give, number, axis, &a, extent, length)) {
            return false;
        }
    }
    return stands_alone(w, give, number, along);
}

/* Without any instance only results of no elements are given. */
static bool nothing_fits(const walk *w) {
    const ir_op_data *d = ir_op_get(w->in.m, w->tiles);
    ir_op give = ir_block_get(w->in.m, ir_op_block(w->in.m, w->tiles, 0))->last;
    for (uint32_t i = 0; i < d->result_count; i++) {
        const ir_type_data *type = type_of(w, d->results[i]);
        int64_t size = 1, least = 1;
        for (int axis = 0; axis < type->rank && instance_number(&w->in, type->dims[axis], &size);
             axis++) {
            least = size < least ? size : least;
        }
        if (least > 0) {
            return refuse_result(w, give, TILE_GIVEN_BY_NONE, i, 0, 0);
        }
    }
    return true;
}

/* ---- one instance ---- */

static bool walk_block(walk *w, ir_block block);

static bool walk_give(walk *w, ir_op give) {
    bool ok = true;
    for (uint32_t i = 0; ok && !w->stopped && i < ir_op_get(w->in.m, give)->operand_count; i++) {
        ok = result_fits(w, give, i);
    }
    return ok;
}

static bool walk_op(walk *w, ir_op op) {
    const ir_op_data d = *ir_op_get(w->in.m, op);
    tile_step s = {.m = w->in.m, .op = op, .known = w->in.known};
    placed_load load;
    for (uint32_t i = 0; i < d.operand_count && i < TILE_STEP_OPERANDS; i++) {
        s.operands[i] = w->now[d.operands[i]];
    }
    if (w->every && !instance_results_exist(&w->in, op)) {
        return false;
    }
    if (d.opcode == GRAPH_EXTENT) {
        w->now[d.results[0]] = ir_value_get(w->in.m, d.results[0])->type;
        return true;
    }
    if (!tile_step_begin(&s) ||
        !(d.opcode == GRAPH_LOAD ? tile_step_load(&s, &load) : tile_step_fit(&s))) {
        return refuse_step(w, &s);
    }
    for (uint32_t i = 0; i < d.result_count; i++) {
        w->now[d.results[i]] = s.results[i];
    }
    return true;
}

/* One turn; whether it left what is carried as long as it was. */
static bool walk_turn(walk *w, ir_op op, bool *same) {
    const ir_block_data body = *ir_block_get(w->in.m, ir_op_block(w->in.m, op, 0));
    ir_type next[LIMIT_OPERANDS];
    bool ok = walk_block(w, ir_op_block(w->in.m, op, 0));
    const ir_op_data *end = ir_op_get(w->in.m, body.last);
    *same = true;
    for (uint32_t i = 0; i < body.argument_count; i++) {
        next[i] = w->now[end->operands[i]];
    }
    for (uint32_t i = 0; ok && i < body.argument_count; i++) {
        *same &= w->now[body.arguments[i]] == next[i];
        w->now[body.arguments[i]] = next[i];
    }
    return ok;
}

static bool walk_loop(walk *w, ir_op op) {
    const ir_op_data d = *ir_op_get(w->in.m, op);
    const ir_block_data body = *ir_block_get(w->in.m, ir_op_block(w->in.m, op, 0));
    const ir_attr_data *said = ir_attr_get(w->in.m, ir_op_attr(w->in.m, op, "count"));
    int64_t count = said->integer;
    bool ok = true, same = false;
    if (said->kind == IR_ATTR_DIM && !instance_number(&w->in, said->integer, &count)) {
        return stop(w);
    }
    for (uint32_t i = 0; i < d.operand_count; i++) {
        w->now[body.arguments[i]] = w->now[d.operands[i]];
    }
    bind(w, ir_op_string(w->in.m, op, "index", ""), 0);
    for (int64_t i = 0; i < count && ok && !w->stopped; i++) {
        i = same && !w->every ? count - 1 : i;
        w->values.items[w->values.count - 1].value = i;
        ok = walk_turn(w, op, &same);
    }
    unbind(w);
    for (uint32_t i = 0; i < d.result_count; i++) {
        w->now[d.results[i]] = w->now[body.arguments[i]];
    }
    return ok;
}

static bool walk_block(walk *w, ir_block block) {
    bool ok = true;
    for (ir_op op = ir_block_get(w->in.m, block)->first; op && ok && !w->stopped;
         op = ir_op_get(w->in.m, op)->next) {
        int opcode = ir_op_get(w->in.m, op)->opcode;
        w->stopped |= ++w->steps > STEPS_MAX;
        ok = opcode == GRAPH_FOR    ? walk_loop(w, op)
             : opcode == GRAPH_GIVE ? walk_give(w, op)
             : opcode == GRAPH_NEXT ? true
                                    : walk_op(w, op);
    }
    return ok;
}

/* ---- all of them ---- */

/* False: there are other indices than checked kernels have. */
static bool read_grid(walk *w) {
    const ir_attr_data *names = ir_attr_get(w->in.m, ir_op_attr(w->in.m, w->tiles, "indices")),
                       *counts = ir_attr_get(w->in.m, ir_op_attr(w->in.m, w->tiles, "counts"));
    for (uint32_t i = 0; i < names->count && i < INDICES_MAX; i++) {
        const ir_attr_data *count = ir_attr_get(w->in.m, counts->items[i]);
        grid_index *g = &w->grid[w->grid_count++];
        *g = (grid_index){ir_attr_get(w->in.m, names->items[i])->string, count->integer};
        if (count->kind == IR_ATTR_DIM && !instance_number(w->whole, count->integer, &g->count)) {
            return false;
        }
    }
    return names->count <= INDICES_MAX;
}

/* The next values of the indices, as those of a clock; false behind the last. */
static bool step_grid(walk *w) {
    for (uint32_t i = w->grid_count; i > 0; i--) {
        int64_t *value = &w->values.items[w->whole->known.count + i - 1].value,
                last = w->grid[i - 1].count - 1;
        if (*value < last) {
            *value = w->every ? *value + 1 : last;
            return true;
        }
        *value = 0;
    }
    return false;
}

static bool walk_grid(walk *w) {
    bool ok = true, none = false;
    for (uint32_t i = 0; i < w->grid_count; i++) {
        none |= w->grid[i].count == 0;
        bind(w, w->grid[i].name, 0);
    }
    if (none) {
        return nothing_fits(w);
    }
    do {
        ok = walk_block(w, ir_op_block(w->in.m, w->tiles, 0));
    } while (ok && !w->stopped && step_grid(w));
    return ok;
}

/* What stands before the instances has its whole length. */
static ir_type bound_type(const instance *in, ir_type type) {
    const ir_type_data t = *ir_type_get(in->m, type);
    ir_dim dims[IR_MAX_RANK];
    for (int i = 0; i < t.rank; i++) {
        if (!instance_number(in, t.dims[i], &dims[i])) {
            return type;
        }
    }
    return ir_type_tensor(in->m, t.element, t.rank, dims);
}

bool instance_tiles_fit(const instance *in, ir_op tiles) {
    walk w = {.in = *in, .whole = in, .tiles = tiles, .fits = true};
    uint32_t values = ir_value_count(in->m);
    for (uint32_t i = 0; i < in->known.count; i++) {
        bind(&w, in->known.items[i].name, in->known.items[i].value);
    }
    w.now = base_calloc(values + 1, sizeof *w.now);
    for (ir_value v = 1; v <= values; v++) {
        if (ir_type_get(in->m, ir_value_get(in->m, v)->type)->kind == IR_TYPE_TENSOR) {
            w.now[v] = bound_type(in, ir_value_get(in->m, v)->type);
        }
    }
    ir_walk(in->m, tiles, look_at_whole, &w);
    bool ok = w.fits && (!read_grid(&w) || walk_grid(&w));
    vec_release(&w.values);
    free(w.now);
    return ok;
}
