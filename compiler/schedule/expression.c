/* expression.c - elements of values at affine indices; see expression.h. */
#include "schedule/expression.h"

#include <stdlib.h>
#include <string.h>

#include "schedule/schedule.h"

void expression_release(expression *e) {
    vec_release(&e->hoisted);
    vec_release(&e->inputs);
    vec_release(&e->indices);
    vec_release(&e->memo);
}

/* An axis of one element may have a step of any size: its product may be beyond 64 bits, and only 0
 * is ever multiplied by that. */
static void affine_add(const plan *p, affine *a, const affine *b, ir_dim factor) {
    a->constant = ir_dim_add_scaled(p->dims, a->constant, b->constant, factor);
    for (int i = 0; i < NEST_AXES; i++)
        a->coefficient[i] =
            ir_dim_add_scaled(p->dims, a->coefficient[i], b->coefficient[i], factor);
}

void expression_identity(const plan *p, ir_value v, int first, affine *index) {
    const ir_type_data *t = plan_type(p, v);
    for (int i = 0; i < t->rank; i++) {
        index[i] = (affine){0};
        if (t->dims[i] != 1)
            index[i].coefficient[first + i] = 1;
    }
}

affine expression_offset(const plan *p, ir_value v, const affine *index) {
    const ir_type_data *t = plan_type(p, v);
    affine offset = {0};
    ir_dim stride = 1;
    for (int i = t->rank - 1; i >= 0; i--) {
        affine_add(p, &offset, &index[i], stride);
        stride = plan_product(p, stride, t->dims[i]);
    }
    return offset;
}

ir_dim expression_stride(const plan *p, ir_value v, int axis) {
    const ir_type_data *t = plan_type(p, v);
    ir_dim stride = 1;
    for (int i = axis + 1; i < t->rank; i++)
        stride = plan_product(p, stride, t->dims[i]);
    return stride;
}

/* ---- leaves ---- */

/* The place of an input among those of the expression, where it is added once. */
static size_t place_input(expression *e, ir_value source, bool workgroup, dtype element,
                          const affine *access) {
    for (size_t i = 0; i < e->inputs.count; i++) {
        const expression_input *in = &e->inputs.items[i];
        if (in->source == source && in->workgroup == workgroup &&
            memcmp(&in->access, access, sizeof *access) == 0)
            return i;
    }
    expression_input in = {source, workgroup, *access, 0};
    if (e->body)
        in.element = ir_block_add_argument(e->body->m, e->body->block,
                                           ir_type_scalar(e->body->m, element), NULL);
    vec_push(&e->inputs, in);
    return e->inputs.count - 1;
}

static ir_value add_input(expression *e, ir_value source, bool workgroup, dtype element,
                          const affine *access) {
    const size_t place = place_input(e, source, workgroup, element, access);
    return e->inputs.items[place].element;
}

static const substitute *find_substitute(const expression *e, ir_value v) {
    for (size_t i = e->substitute_count; i-- > 0;)
        if (e->substitutes[i].value == v)
            return &e->substitutes[i];
    return NULL;
}

/* The place in a value of all turns. */
static ir_value of_turn(expression *e, const substitute *s, const affine *index) {
    affine place[IR_MAX_RANK] = {0};
    int rank = plan_type(e->p, s->all)->rank;
    for (int i = 0; i < rank; i++)
        if (i != s->axis)
            place[i] = index[i - (i > s->axis)];
    if (plan_type(e->p, s->all)->dims[s->axis] != 1)
        place[s->axis].coefficient[s->turn] = 1;
    return expression_element(e, s->all, place);
}

/* An element of v, which lies in the memory of `source`, at an index along an axis that is data.
 * Parameters: an element of a tensor is a place along each axis. */
static ir_value indexed(expression *e, ir_value v, ir_value source, const affine *place, int axis,
                        ir_value which) {
    const ir_type_data *t = plan_type(e->p, v);
    const affine origin = {0}, offset = expression_offset(e->p, v, place);
    vec_push(&e->indices, offset);
    const size_t input = place_input(e, source, false, t->element, &origin);
    if (!e->body)
        return 0;
    ir_module *m = e->body->m;
    ir_named_attr attrs[] = {{"input", ir_attr_int(m, (int64_t)input)},
                             {"access", expression_access(m, &offset, e->map, NEST_AXES)},
                             {"stride", ir_attr_dim(m, expression_stride(e->p, v, axis))},
                             {"limit", ir_attr_dim(m, t->dims[axis])}};
    return ir_build1(e->body, SCHED_GATHER, &which, 1, ir_type_scalar(m, t->element), attrs, 4);
}

static ir_value substituted(expression *e, const substitute *s, const affine *index) {
    const ir_type_data *t = plan_type(e->p, s->value);
    affine access = {0};
    switch (s->kind) {
    case SUBSTITUTE_TURN:
        return of_turn(e, s, index);
    case SUBSTITUTE_PLACE:
        return expression_element(e, s->all, s->place);
    case SUBSTITUTE_INDEXED:
        return indexed(e, s->all, s->all, s->place, s->axis,
                       expression_element(e, s->index, s->index_place));
    case SUBSTITUTE_ACCUMULATOR:
        return e->body ? ir_block_get(e->body->m, e->body->block)->arguments[0] : 0;
    case SUBSTITUTE_STORED:
        access = expression_offset(e->p, s->value, index);
        return add_input(e, s->value, false, t->element, &access);
    case SUBSTITUTE_COLUMNS:
        access = index[t->rank - 1];
        break;
    case SUBSTITUTE_BLOCK:
        access = s->access;
        break;
    case SUBSTITUTE_SCALAR:
        break;
    }
    return add_input(e, s->buffer, true, t->element, &access);
}

/* ---- operations ---- */

/* The dimension that a tessera.extent is. */
static ir_dim extent_of(const expression *e, ir_op op) {
    const ir_attr_data *of = ir_attr_get(e->p->g, ir_op_attr(e->p->g, op, "of"));
    return ir_attr_get(e->p->g, of->items[0])->integer;
}

static ir_value build_element(expression *e, ir_value v, const ir_value *operands, uint32_t n) {
    if (!e->body)
        return 0;
    ir_module *m = e->body->m;
    const ir_module *g = e->p->g;
    ir_op op = plan_def(e->p, v);
    ir_named_attr attrs[4];
    uint32_t count = 0;
    switch (ir_op_get(g, op)->opcode) {
    case GRAPH_CONSTANT: {
        const ir_attr_data *bits = ir_attr_get(g, ir_op_attr(g, op, "value"));
        attrs[count++] = (ir_named_attr){"value", ir_attr_bits(m, bits->element, bits->bits)};
        break;
    }
    case GRAPH_EXTENT:
        attrs[count++] = (ir_named_attr){"of", ir_attr_dim(m, extent_of(e, op))};
        return ir_build1(e->body, SCHED_EXTENT, NULL, 0, ir_type_scalar(m, DTYPE_I32), attrs,
                         count);
    case GRAPH_RANDOM_BITS:
        attrs[count++] = (ir_named_attr){"seed", ir_attr_int(m, ir_op_int(g, op, "seed", 0))};
        attrs[count++] = (ir_named_attr){"site", ir_attr_int(m, ir_op_int(g, op, "site", 0))};
        break;
    case GRAPH_STOCHASTIC_ROUND:
        attrs[count++] = (ir_named_attr){"seed", ir_attr_int(m, ir_op_int(g, op, "seed", 0))};
        attrs[count++] = (ir_named_attr){"stream", ir_attr_int(m, ir_op_int(g, op, "stream", 0))};
        /* fall through */
    case GRAPH_BITCAST:
    case GRAPH_CONVERT:
        attrs[count++] =
            (ir_named_attr){"to", ir_attr_type(m, ir_type_scalar(m, plan_type(e->p, v)->element))};
        if (ir_op_int(g, op, "saturate", 0))
            attrs[count++] = (ir_named_attr){"saturate", ir_attr_bool(m, true)};
        break;
    case GRAPH_COMPARE:
        attrs[count++] =
            (ir_named_attr){"predicate", ir_attr_string(m, ir_op_string(g, op, "predicate", "eq"))};
        break;
    default:
        break;
    }
    ir_type type = ir_type_scalar(m, plan_type(e->p, v)->element);
    e->body->location = ir_op_get(g, op)->location;
    return ir_build1(e->body, ir_op_get(g, op)->opcode, operands, n, type, attrs, count);
}

static ir_value index_element(expression *e, const affine *a) {
    vec_push(&e->indices, *a);
    if (!e->body)
        return 0;
    ir_module *m = e->body->m;
    ir_named_attr attr = {"access", expression_access(m, a, e->map, NEST_AXES)};
    return ir_build1(e->body, SCHED_INDEX, NULL, 0, ir_type_scalar(m, DTYPE_I32), &attr, 1);
}

/* The memory behind a value, readable at any place: not what the group's own nests still fill. */
static ir_value finished_storage(const expression *e, ir_value v) {
    ir_value storage = plan_storage(e->p, v);
    bool own = storage && e->group >= 0 && e->p->group_of[storage] == e->group;
    return own ? 0 : storage;
}

/* x at an index along one axis: the index is data, everything around it is affine. */
static ir_value gather_element(expression *e, ir_value v, const affine *index) {
    const ir_module *g = e->p->g;
    ir_op op = plan_def(e->p, v);
    ir_value x = ir_op_get(g, op)->operands[0], indices = ir_op_get(g, op)->operands[1];
    int axis = (int)ir_op_int(g, op, "axis", 0), batch = (int)ir_op_int(g, op, "batch_dims", 0);
    const ir_type_data *tx = plan_type(e->p, x), *ti = plan_type(e->p, indices);
    affine at[IR_MAX_RANK], where[IR_MAX_RANK];
    for (int i = 0; i < ti->rank; i++)
        where[i] = i < batch ? index[i] : index[axis + i - batch];
    for (int i = 0; i < tx->rank; i++)
        at[i] = i < axis ? index[i] : i == axis ? (affine){0} : index[i - 1 + ti->rank - batch];
    ir_value which = expression_element(e, indices, where), storage = finished_storage(e, x);
    if (!storage) {
        e->failed = true;
        return 0;
    }
    return indexed(e, x, storage, at, axis, which);
}

/* The operand's index behind data movement; false where it is not affine. */
static bool move_index(const expression *e, ir_value v, const affine *index, affine *out) {
    const ir_module *g = e->p->g;
    ir_op op = plan_def(e->p, v);
    const ir_type_data *x = plan_type(e->p, ir_op_get(g, op)->operands[0]), *y = plan_type(e->p, v);
    int64_t list[IR_MAX_RANK] = {0};
    ir_dim step[IR_MAX_RANK];
    switch (ir_op_get(g, op)->opcode) {
    case GRAPH_BROADCAST:
        ir_op_ints(g, op, "axes", list, IR_MAX_RANK);
        for (int i = 0; i < x->rank; i++)
            out[i] = x->dims[i] == 1 ? (affine){0} : index[list[i]];
        return true;
    case GRAPH_TRANSPOSE:
        ir_op_ints(g, op, "permutation", list, IR_MAX_RANK);
        for (int i = 0; i < x->rank; i++)
            out[list[i]] = index[i];
        return true;
    case GRAPH_SLICE:
        ir_op_ints(g, op, "start", list, IR_MAX_RANK);
        ir_op_ints(g, op, "step", step, IR_MAX_RANK);
        for (int i = 0; i < x->rank; i++) {
            out[i] = (affine){.constant = list[i]};
            affine_add(e->p, &out[i], &index[i], step[i]);
        }
        return true;
    case GRAPH_WINDOW: {
        int64_t axis = ir_op_int(g, op, "axis", 0);
        affine place = {0};
        affine_add(e->p, &place, &index[axis], ir_op_int(g, op, "stride", 1));
        affine_add(e->p, &place, &index[x->rank], 1);
        memcpy(out, index, sizeof *out * (size_t)x->rank);
        out[axis] = place;
        return true;
    }
    case GRAPH_RESHAPE:
        if (!plan_reshape_splits(e->p, op))
            return false;
        for (int i = 0, j = 0; i < x->rank; i++) {
            ir_dim product = 1;
            out[i] = (affine){0};
            while (j < y->rank && product != x->dims[i]) {
                affine scaled = {0};
                affine_add(e->p, &scaled, &out[i], y->dims[j]);
                affine_add(e->p, &scaled, &index[j], 1);
                out[i] = scaled;
                product = plan_product(e->p, product, y->dims[j++]);
            }
        }
        return true;
    default:
        return false;
    }
}

/* Is this a value of the row (the same for every column), made from results of the group's own
 * reductions? */
static bool is_row_value(const expression *e, ir_value v, const affine *index) {
    const ir_type_data *t = plan_type(e->p, v);
    int opcode = plan_opcode(e->p, v);
    if (e->group < 0 || !group_set_has(e->p->direct[v], e->group) || opcode < 0 ||
        graph_op_class(opcode) != GRAPH_CLASS_ELEMENTWISE || t->rank != e->row_axes)
        return false;
    affine identity[IR_MAX_RANK];
    expression_identity(e->p, v, 0, identity);
    return t->rank == 0 || memcmp(identity, index, sizeof(affine) * (size_t)t->rank) == 0;
}

/* A scan of the group itself must be met at its own place; others have memory. */
static ir_value scanned(expression *e, ir_value v, const affine *index) {
    const ir_type_data *t = plan_type(e->p, v);
    if (!e->place || e->p->group_of[v] != e->group) {
        e->failed |= e->body != NULL;
        return 0;
    }
    e->failed |= t->rank && memcmp(e->place, index, sizeof(affine) * (size_t)t->rank) != 0;
    ir_value x = expression_element(e, ir_op_get(e->p->g, plan_def(e->p, v))->operands[0], index);
    if (!e->body)
        return 0;
    e->body->location = ir_op_get(e->p->g, plan_def(e->p, v))->location;
    return ir_build1(e->body, SCHED_RUNNING, &x, 1, ir_type_scalar(e->body->m, t->element), NULL,
                     0);
}

static ir_value operation(expression *e, ir_value v, const affine *index) {
    const ir_op_data *d = ir_op_get(e->p->g, plan_def(e->p, v));
    affine moved[IR_MAX_RANK];
    ir_value operands[4] = {0};
    switch (graph_op_class(d->opcode)) {
    case GRAPH_CLASS_GENERATOR:
        if (d->opcode == GRAPH_IOTA)
            return index_element(e, &index[ir_op_int(e->p->g, plan_def(e->p, v), "axis", 0)]);
        return build_element(e, v, NULL, 0);
    case GRAPH_CLASS_ELEMENTWISE:
        for (uint32_t i = 0; i < d->operand_count; i++)
            operands[i] = expression_element(e, d->operands[i], index);
        return build_element(e, v, operands, d->operand_count);
    case GRAPH_CLASS_SCAN:
        return scanned(e, v, index);
    case GRAPH_CLASS_MOVE:
        if (d->opcode == GRAPH_GATHER)
            return gather_element(e, v, index);
        if (move_index(e, v, index, moved))
            return expression_element(e, d->operands[0], moved);
        if (d->opcode == GRAPH_RESHAPE && finished_storage(e, d->operands[0])) {
            affine access = expression_offset(e->p, v, index);
            return add_input(e, finished_storage(e, d->operands[0]), false,
                             plan_type(e->p, v)->element, &access);
        }
        break;
    default:
        break;
    }
    e->failed = true;
    return 0;
}

/* A reduction of the group itself must be met at its own row; others have memory. */
static ir_value reduced(expression *e, ir_value v, const affine *index) {
    affine identity[IR_MAX_RANK];
    const ir_type_data *t = plan_type(e->p, v);
    if (e->p->group_of[v] == e->group) {
        expression_identity(e->p, v, 0, identity);
        if (t->rank && memcmp(identity, index, sizeof(affine) * (size_t)t->rank) != 0)
            e->failed = true;
    }
    e->failed |= e->body != NULL;
    return 0;
}

static bool accumulates(int opcode) {
    graph_class class = opcode < 0 ? GRAPH_CLASS_KERNEL : graph_op_class(opcode);
    return class == GRAPH_CLASS_REDUCE || class == GRAPH_CLASS_DOT;
}

static ir_value element_of(expression *e, ir_value v, const affine *index) {
    const substitute *s = find_substitute(e, v);
    if (s)
        return substituted(e, s, index);
    int opcode = plan_opcode(e->p, v);
    if (finished_storage(e, v)) {
        affine access = expression_offset(e->p, v, index);
        return add_input(e, finished_storage(e, v), false, plan_type(e->p, v)->element, &access);
    }
    if (accumulates(opcode))
        return reduced(e, v, index);
    if (e->hoist && is_row_value(e, v, index)) {
        vec_push(&e->hoisted, v);
        return 0;
    }
    return operation(e, v, index);
}

/* Is this stored value the one (or one of those) whose memory the nest fills? */
static bool is_computed_here(const expression *e, ir_value v) {
    int opcode = plan_opcode(e->p, v);
    if (opcode < 0 || accumulates(opcode))
        return false;
    return plan_storage(e->p, v) != v || v == e->computes ||
           (e->group >= 0 && e->p->group_of[v] == e->group) || e->probes;
}

/* Remembers what was made for a value at an index, so that a shared operand is computed once. */
static ir_value remembered(expression *e, ir_value v, const affine *index, bool root) {
    size_t bytes = sizeof(affine) * (size_t)plan_type(e->p, v)->rank;
    for (size_t i = 0; i < e->memo.count; i++)
        if (e->memo.items[i].value == v && memcmp(e->memo.items[i].index, index, bytes) == 0)
            return e->memo.items[i].element;
    bool computed = root && !find_substitute(e, v) && is_computed_here(e, v);
    expression_memo memo = {.value = v};
    memcpy(memo.index, index, bytes);
    memo.element = computed ? operation(e, v, index) : element_of(e, v, index);
    vec_push(&e->memo, memo);
    return memo.element;
}

ir_value expression_element(expression *e, ir_value v, const affine *index) {
    return remembered(e, v, index, false);
}

ir_value expression_root(expression *e, ir_value v, const affine *index) {
    return remembered(e, v, index, true);
}

bool expression_is_aligned(const plan *p, ir_value v, int group) {
    affine index[IR_MAX_RANK];
    expression e = {.p = p, .group = group, .row_axes = p->groups[group].rank - 1, .probes = true};
    expression_identity(p, v, 0, index);
    expression_root(&e, v, index);
    bool aligned = !e.failed;
    expression_release(&e);
    return aligned;
}

/* ---- axes ---- */

static bool mergeable(const plan *p, int a, int b, ir_dim span, const affine *accesses,
                      size_t count) {
    for (size_t i = 0; i < count; i++)
        if (accesses[i].coefficient[a] !=
            ir_dim_add_scaled(p->dims, 0, accesses[i].coefficient[b], span))
            return false;
    return true;
}

static bool kept(const axis_space *space, int a) {
    return space->extent[a] != 1 || space->keep[a];
}

void expression_merge(const plan *p, const axis_space *space, const affine *accesses, size_t count,
                      axis_map *out) {
    int leader = -1, merged[NEST_AXES];
    ir_dim span = 1, spans[NEST_AXES];
    bool barred = true;
    /* From the last axis up: each joins the run that ends in `leader`, or starts a run of its own.
     */
    for (int a = space->axes - 1; a >= 0; a--) {
        barred |= space->barrier[a];
        merged[a] = -1;
        if (!kept(space, a))
            continue;
        bool joins = leader >= 0 && !barred && mergeable(p, a, leader, span, accesses, count);
        span = joins ? plan_product(p, span, space->extent[a]) : space->extent[a];
        leader = joins ? leader : a;
        merged[a] = leader;
        spans[a] = span;
        barred = false;
    }
    *out = (axis_map){0};
    for (int a = 0; a < NEST_AXES; a++)
        out->index_of[a] = -1;
    for (int a = 0, last = -1; a < space->axes; a++) {
        if (merged[a] < 0)
            continue;
        if (merged[a] != last)
            out->extent[out->count++] = spans[a];
        last = merged[a];
        if (last == a)
            out->index_of[a] = out->count - 1;
    }
    if (out->count == 0)
        out->extent[out->count++] = 1;
}

ir_attr expression_access(ir_module *m, const affine *a, const axis_map *map, int axes) {
    ir_dim values[NEST_AXES + 1] = {a->constant};
    for (int i = 0; i < axes; i++)
        if (map->index_of[i] >= 0)
            values[1 + map->index_of[i]] = a->coefficient[i];
    return ir_attr_dim_array(m, values, (uint32_t)map->count + 1);
}
