/* instances_results.c - whether program instances give every place of every result once.
 *
 * Along each axis of a result tiles stand at the blocks of one index, or one tile is all of it. So
 * what an instance gives must end where the next one's begins, and the last at the end of the axis;
 * and each index along which there are instances is one of the result's axes. */
#include <string.h>

#include "check/tiles/instances.h"
#include "ops/tiles.h"

static bool refuse_result(const tile_walk *w, ir_op give, tile_fault fault, uint32_t number,
                          int axis, int64_t place) {
    char words[200];
    tiles_fault_text(w->in.m, fault, number, axis, place, words, sizeof words);
    diagnose_error(w->in.report, fault == TILE_GIVEN_TWICE ? ERROR_TILE_TWICE : ERROR_TILE_NOWHERE,
                   instance_place(&w->in, give), "in case '%s', %s", w->in.c->name, words);
    return false;
}

/* Along one axis of a result. */
typedef struct axis_given {
    int index;           /* of the grid, along which the tiles stand; -1: none */
    int64_t start, next; /* of this tile, and of what must be behind it */
} axis_given;

static const ir_type_data *type_of(const tile_walk *w, ir_value v) {
    return ir_type_of(w->in.m, v);
}

/* The only index that the start has; -2: it has several. */
static int index_of(tile_walk *w, ir_dim start) {
    const char *missing = NULL;
    int64_t number;
    if (ir_dim_evaluate(w->in.m, start, w->whole->known, &number, &missing))
        return -1;
    for (uint32_t i = 0; missing && i < w->grid_count; i++) {
        if (strcmp(missing, w->grid[i].name) != 0)
            continue;
        const ir_binding one = {missing, 1};
        const ir_dim rest = ir_dim_substitute(w->in.m, start, (ir_bindings){&one, 1});
        return ir_dim_evaluate(w->in.m, rest, w->whole->known, &number, &missing) ? (int)i : -2;
    }
    return -2;
}

/* False: it stands in a way that is not known here. */
static bool find_axis(tile_walk *w, ir_dim start, int64_t extent, axis_given *out) {
    out->index = index_of(w, start);
    out->next = extent;
    if (out->index == -2 || !instance_number(&w->in, start, &out->start))
        return false;
    if (out->index < 0)
        return true;
    ir_binding *index = &w->values.items[w->whole->known.count + (uint32_t)out->index];
    bool ok = true;
    index->value++;
    if (index->value < w->grid[out->index].count)
        ok = instance_number(&w->in, start, &out->next);
    index->value--;
    return ok;
}

static bool is_first(const tile_walk *w, const axis_given *a) {
    return a->index < 0 || w->values.items[w->whole->known.count + (uint32_t)a->index].value == 0;
}

/* Parameters: one place of one axis; a struct would be filled for this call alone. */
static bool axis_fits(const tile_walk *w, ir_op give, uint32_t number, int axis,
                      const axis_given *a, int64_t extent, int64_t length) {
    const int64_t end = a->start + length < extent ? a->start + length : extent;
    if (a->start >= extent && extent > 0)
        return refuse_result(w, give, TILE_GIVEN_OUTSIDE, number, axis, a->start);
    if (is_first(w, a) && a->start > 0)
        return refuse_result(w, give, TILE_GIVEN_BY_NONE, number, axis, 0);
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
static bool stands_alone(const tile_walk *w, ir_op give, uint32_t number, const bool *along) {
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

static bool result_fits(tile_walk *w, ir_op give, uint32_t number) {
    const ir_op_data *d = ir_op_get(w->in.m, give);
    const ir_attr_data *starts = ir_attr_get(
        w->in.m, ir_attr_get(w->in.m, ir_op_attr(w->in.m, give, "start"))->items[number]);
    const ir_attr_data *kept = ir_attr_get(
        w->in.m, ir_attr_get(w->in.m, ir_op_attr(w->in.m, give, "kept"))->items[number]);
    const ir_type_data whole = *type_of(w, ir_op_get(w->in.m, w->tiles)->results[number]),
                       tile = *ir_type_get(w->in.m, w->now[d->operands[number]]);
    bool along[INSTANCE_INDICES] = {false};
    uint32_t taken = 0;
    for (int axis = 0; axis < whole.rank; axis++) {
        bool is_kept =
            taken < kept->count && ir_attr_get(w->in.m, kept->items[taken])->integer == axis;
        int64_t length = is_kept ? tile.dims[taken++] : 1, extent;
        const ir_attr_data *start = ir_attr_get(w->in.m, starts->items[axis]);
        axis_given a;
        if (!instance_number(&w->in, whole.dims[axis], &extent) ||
            !find_axis(w, start->integer, extent, &a) || (a.index >= 0 && along[a.index])) {
            w->stopped = true;
            return true;
        }
        if (a.index >= 0)
            along[a.index] = true;
        if (!axis_fits(w, give, number, axis, &a, extent, length))
            return false;
    }
    return stands_alone(w, give, number, along);
}

bool instance_results_fit(tile_walk *w, ir_op give) {
    bool ok = true;
    for (uint32_t i = 0; ok && !w->stopped && i < ir_op_get(w->in.m, give)->operand_count; i++)
        ok = result_fits(w, give, i);
    return ok;
}

/* Without any instance only results of no elements are given. */
bool instance_nothing_fits(const tile_walk *w) {
    const ir_op_data *d = ir_op_get(w->in.m, w->tiles);
    ir_op give = ir_block_get(w->in.m, ir_op_block(w->in.m, w->tiles, 0))->last;
    for (uint32_t i = 0; i < d->result_count; i++) {
        const ir_type_data *type = type_of(w, d->results[i]);
        int64_t size = 1, least = 1;
        for (int axis = 0; axis < type->rank && instance_number(&w->in, type->dims[axis], &size);
             axis++)
            least = size < least ? size : least;
        if (least > 0)
            return refuse_result(w, give, TILE_GIVEN_BY_NONE, i, 0, 0);
    }
    return true;
}
