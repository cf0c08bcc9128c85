/* instances_tiles.c - what a case's dimensions make of a kernel of tiles: how long its tiles are in
 * each program instance.
 *
 * Nothing is computed but lengths, by the rules of ops/tile_step.h. Of blocks all are alike but the
 * last one, which may be shorter; so the first and the last value of each index tell of all. Where
 * a length depends on an index in another way, every value is looked at. */
#include <stdlib.h>

#include "check/tiles/instances.h"
#include "ops/tile_step.h"

/* More than that is left to expand-tiles. */
enum { STEPS_MAX = 100000 };

static void bind(tile_walk *w, const char *name, int64_t value) {
    ir_binding index = {name, value};
    vec_push(&w->values, index);
    w->in.known = (ir_bindings){w->values.items, (uint32_t)w->values.count};
}

static void unbind(tile_walk *w) {
    w->values.count--;
    w->in.known.count--;
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
        const ir_type_data *type = ir_type_of(whole->m, d->results[i]);
        for (int axis = 0; axis < type->rank; axis++)
            found |= is_of_index(whole, type->dims[axis]);
    }
    return found;
}

/* Finds an index in lengths: a load's beginning, or a number, is no length. */
static bool has_length_of_index(const instance *whole, ir_op op) {
    const ir_op_data *d = ir_op_get(whole->m, op);
    bool found = result_has_index(whole, op),
         lengths = d->opcode == GRAPH_FOR || graph_op_class(d->opcode) == GRAPH_CLASS_MOVE;
    for (uint32_t i = 0; lengths && i < d->attr_count; i++)
        found |= has_index(whole, d->attrs[i].value);
    return found;
}

/* Whole tiles, whether or not any instance has them. Bounds that depend on an index are cut where
 * the tile is. */
static void look_at_whole(const ir_module *m, ir_op op, tile_walk *w) {
    bool is_slice = ir_op_get(m, op)->opcode == GRAPH_SLICE;
    if (has_length_of_index(w->whole, op)) {
        w->every = true;
    } else if (w->fits) {
        w->fits = (!is_slice || instance_slice_fits(w->whole, op)) &&
                  instance_results_exist(w->whole, op);
    }
}

/* ---- what is wrong ---- */

static bool refuse_step(const tile_walk *w, const tile_step *s) {
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

/* ---- one instance ---- */

static bool walk_block(tile_walk *w, ir_block block);

static bool walk_op(tile_walk *w, ir_op op) {
    const ir_op_data d = *ir_op_get(w->in.m, op);
    tile_step s = {.m = w->in.m, .op = op, .known = w->in.known};
    placed_load load;
    for (uint32_t i = 0; i < d.operand_count && i < TILE_STEP_OPERANDS; i++)
        s.operands[i] = w->now[d.operands[i]];
    if (w->every && !instance_results_exist(&w->in, op))
        return false;
    if (d.opcode == GRAPH_EXTENT) {
        w->now[d.results[0]] = ir_value_get(w->in.m, d.results[0])->type;
        return true;
    }
    if (!tile_step_begin(&s) ||
        !(d.opcode == GRAPH_LOAD ? tile_step_load(&s, &load) : tile_step_fit(&s)))
        return refuse_step(w, &s);
    for (uint32_t i = 0; i < d.result_count; i++)
        w->now[d.results[i]] = s.results[i];
    return true;
}

/* One turn; whether it left what is carried as long as it was. */
static bool walk_turn(tile_walk *w, ir_op op, bool *same) {
    const ir_block_data body = *ir_block_get(w->in.m, ir_op_block(w->in.m, op, 0));
    ir_type next[LIMIT_OPERANDS];
    bool ok = walk_block(w, ir_op_block(w->in.m, op, 0));
    const ir_op_data *end = ir_op_get(w->in.m, body.last);
    *same = true;
    for (uint32_t i = 0; i < body.argument_count; i++)
        next[i] = w->now[end->operands[i]];
    for (uint32_t i = 0; ok && i < body.argument_count; i++) {
        *same &= w->now[body.arguments[i]] == next[i];
        w->now[body.arguments[i]] = next[i];
    }
    return ok;
}

/* A bound of a loop; 0: it has none of that name, or one before the first block. */
static bool bound_of(const tile_walk *w, ir_op op, const char *name, int64_t *out) {
    ir_attr attr = ir_op_attr(w->in.m, op, name);
    const ir_attr_data *said = attr ? ir_attr_get(w->in.m, attr) : NULL;
    const char *missing = NULL;
    *out = said ? said->integer : 0;
    return !said || said->kind != IR_ATTR_DIM ||
           ir_dim_count(w->in.m, said->integer, w->in.known, out, &missing);
}

static bool walk_loop(tile_walk *w, ir_op op) {
    const ir_op_data d = *ir_op_get(w->in.m, op);
    const ir_block_data body = *ir_block_get(w->in.m, ir_op_block(w->in.m, op, 0));
    int64_t first, count;
    bool ok = true, same = false;
    if (!bound_of(w, op, "first", &first) || !bound_of(w, op, "count", &count)) {
        w->stopped = true;
        return true;
    }
    for (uint32_t i = 0; i < d.operand_count; i++)
        w->now[body.arguments[i]] = w->now[d.operands[i]];
    bind(w, ir_op_string(w->in.m, op, "index", ""), 0);
    for (int64_t i = first; i < count && ok && !w->stopped; i++) {
        i = same && !w->every ? count - 1 : i;
        w->values.items[w->values.count - 1].value = i;
        ok = walk_turn(w, op, &same);
    }
    unbind(w);
    for (uint32_t i = 0; i < d.result_count; i++)
        w->now[d.results[i]] = w->now[body.arguments[i]];
    return ok;
}

static bool walk_block(tile_walk *w, ir_block block) {
    bool ok = true;
    for (ir_op op = ir_block_get(w->in.m, block)->first; op && ok && !w->stopped;
         op = ir_op_get(w->in.m, op)->next) {
        int opcode = ir_op_get(w->in.m, op)->opcode;
        w->stopped |= ++w->steps > STEPS_MAX;
        ok = opcode == GRAPH_FOR    ? walk_loop(w, op)
             : opcode == GRAPH_GIVE ? instance_results_fit(w, op)
             : opcode == GRAPH_NEXT ? true
                                    : walk_op(w, op);
    }
    return ok;
}

/* ---- all of them ---- */

/* False: there are other indices than checked kernels have. */
static bool read_grid(tile_walk *w) {
    const ir_attr_data *names = ir_attr_get(w->in.m, ir_op_attr(w->in.m, w->tiles, "indices")),
                       *counts = ir_attr_get(w->in.m, ir_op_attr(w->in.m, w->tiles, "counts"));
    for (uint32_t i = 0; i < names->count && i < INSTANCE_INDICES; i++) {
        const ir_attr_data *count = ir_attr_get(w->in.m, counts->items[i]);
        grid_index *g = &w->grid[w->grid_count++];
        *g = (grid_index){ir_attr_get(w->in.m, names->items[i])->string, count->integer};
        if (count->kind == IR_ATTR_DIM && !instance_number(w->whole, count->integer, &g->count))
            return false;
    }
    return names->count <= INSTANCE_INDICES;
}

/* The next values of the indices, as those of a clock; false behind the last. */
static bool step_grid(tile_walk *w) {
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

static bool walk_grid(tile_walk *w) {
    bool ok = true, none = false;
    for (uint32_t i = 0; i < w->grid_count; i++) {
        none |= w->grid[i].count == 0;
        bind(w, w->grid[i].name, 0);
    }
    if (none)
        return instance_nothing_fits(w);
    do {
        ok = walk_block(w, ir_op_block(w->in.m, w->tiles, 0));
    } while (ok && !w->stopped && step_grid(w));
    return ok;
}

/* Type of what stands before the instances: its whole length. */
static ir_type bound_type(const instance *in, ir_type type) {
    const ir_type_data t = *ir_type_get(in->m, type);
    ir_dim dims[IR_MAX_RANK];
    for (int i = 0; i < t.rank; i++)
        if (!instance_number(in, t.dims[i], &dims[i]))
            return type;
    return ir_type_tensor(in->m, t.element, t.rank, dims);
}

bool instance_tiles_fit(const instance *in, ir_op tiles) {
    tile_walk w = {.in = *in, .whole = in, .tiles = tiles, .fits = true};
    uint32_t values = ir_value_count(in->m);
    for (uint32_t i = 0; i < in->known.count; i++)
        bind(&w, in->known.items[i].name, in->known.items[i].value);
    w.now = base_calloc(values + 1, sizeof *w.now);
    for (ir_value v = 1; v <= values; v++)
        if (ir_type_of(in->m, v)->kind == IR_TYPE_TENSOR)
            w.now[v] = bound_type(in, ir_value_get(in->m, v)->type);
    for (ir_walk inner = ir_walk_op(in->m, tiles); ir_walk_next(&inner);)
        look_at_whole(in->m, inner.op, &w);
    bool ok = w.fits && (!read_grid(&w) || walk_grid(&w));
    vec_release(&w.values);
    free(w.now);
    return ok;
}
