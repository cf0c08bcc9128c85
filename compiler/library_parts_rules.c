/* library_parts_rules.c - see library_parts_rules.h. */
#include "library_parts_rules.h"

#include "ops/graph.h"
#include "ops/orders.h"

/* ---- axes of a type and of a form ---- */

static const part_axis *axis_at(const parts *e, const part_form *form, int i) {
    return &e->axes.items[form->axes[i]];
}

static void close_run(const ir_type_data *type, part_run *r) {
    r->wide = r->axis;
    r->wide_count = 0;
    for (int i = r->axis + r->axes; i-- > r->axis;)
        if (type->dims[i] > 1) {
            r->wide = i;
            r->wide_count++;
        }
}

int parts_runs(const parts *e, const part_form *form, const ir_type_data *type,
               part_run out[PART_AXES]) {
    int axis = 0, at = 0, count = 0;
    while (axis < type->rank || at < form->count) {
        part_run r = {.axis = axis, .first = at};
        int64_t x = axis < type->rank ? type->dims[axis++] : 1,
                y = at < form->count ? axis_at(e, form, at++)->extent : 1;
        while (x != y && (x < y ? axis < type->rank : at < form->count))
            *(x < y ? &x : &y) *= x < y ? type->dims[axis++] : axis_at(e, form, at++)->extent;
        if (x != y)
            return -1;
        r.axes = axis - r.axis;
        r.count = at - r.first;
        close_run(type, &r);
        out[count++] = r;
    }
    return count;
}

const part_run *parts_run_of(const part_run *runs, int count, int axis) {
    int i = 0;
    while (i < count - 1 && axis >= runs[i].axis + runs[i].axes)
        i++;
    return &runs[i];
}

static bool append(part_form *form, const part_form *from, const part_run *r) {
    bool room = form->count + r->count <= PART_AXES;
    for (int i = 0; i < r->count && room; i++)
        form->axes[form->count++] = from->axes[r->first + i];
    return room;
}

/* An axis of one place that is several of the type, which are wanted apart. */
static part_need refuse(parts *e, const part_form *form, const part_run *r, int64_t first) {
    if (r->count == 1 && axis_at(e, form, r->first)->size == 0 && !e->split_extent) {
        e->split = form->axes[r->first];
        e->split_extent = first;
    }
    return PART_REFUSED;
}

/* Has it one axis of more than one place at most? */
static bool is_single(parts *e, const part_form *form, const part_run *r,
                      const ir_type_data *type) {
    if (r->wide_count > 1)
        refuse(e, form, r, type->dims[r->wide]);
    return r->wide_count <= 1;
}

/* An axis that stands for one: another extent, and its first place so far from there. */
static bool append_moved(parts *e, part_form *form, part_axis axis, int64_t extent, int64_t by) {
    axis.extent = extent;
    axis.start = ir_dim_add_scaled(e->b.m, axis.start, by, 1);
    if (form->count < PART_AXES)
        form->axes[form->count++] = parts_axis(e, axis);
    return true;
}

/* ---- rules ---- */

/* A rule gives the form of operand i. */
typedef part_need rule(parts *e, ir_op op, const part_form *form, uint32_t i, part_form *of);

static part_need same(parts *e, ir_op op, const part_form *form, uint32_t i, part_form *of) {
    (void)e, (void)op, (void)i;
    *of = *form;
    return PART_NEEDED;
}

/* Does x have axis number i of what it is repeated to? */
static bool has_axis(const ir_type_data *x, const int64_t *axes, const ir_type_data *y, int i) {
    for (int k = 0; k < x->rank; k++)
        if (axes[k] == i)
            return x->dims[k] == y->dims[i];
    return false;
}

/* Axes of a run come all together, or none does. */
static part_need along(parts *e, ir_op op, const part_form *form, uint32_t i, part_form *of) {
    const ir_op_data *d = ir_op_get(e->g, op);
    const ir_type_data *x = ir_type_of(e->g, d->operands[i]), *y = ir_type_of(e->g, d->results[0]);
    int64_t axes[IR_MAX_RANK];
    part_run runs[PART_AXES];
    ir_op_ints(e->g, op, "axes", axes, IR_MAX_RANK);
    if (graph_elements(x->rank, x->dims) == 1)
        return PART_NEEDED;
    int count = parts_runs(e, form, y, runs);
    if (count < 0)
        return PART_REFUSED;
    for (int k = 0; k < count; k++) {
        const part_run *r = &runs[k];
        int64_t first = 1;
        bool has = r->axes > 0 && has_axis(x, axes, y, r->wide);
        for (int a = r->axis; a < r->axis + r->axes; a++) {
            if (y->dims[a] > 1 && has_axis(x, axes, y, a) != has)
                return refuse(e, form, r, first);
            first *= y->dims[a];
        }
        if (has && !append(of, form, r))
            return PART_REFUSED;
    }
    return PART_NEEDED;
}

static part_need turned(parts *e, ir_op op, const part_form *form, uint32_t i, part_form *of) {
    const ir_op_data *d = ir_op_get(e->g, op);
    const ir_type_data *y = ir_type_of(e->g, d->results[0]);
    int64_t from[IR_MAX_RANK];
    part_run runs[PART_AXES];
    int count = parts_runs(e, form, y, runs);
    (void)i;
    ir_op_ints(e->g, op, "permutation", from, IR_MAX_RANK);
    for (int k = 0; k < count; k++)
        if (!is_single(e, form, &runs[k], y))
            return PART_REFUSED;
    for (int x = 0; x < y->rank && count >= 0; x++)
        for (int a = 0; a < y->rank; a++) {
            const part_run *r = parts_run_of(runs, count, a);
            if (from[a] == x && r->wide == a && !append(of, form, r))
                return PART_REFUSED;
        }
    return count >= 0 ? PART_NEEDED : PART_REFUSED;
}

static part_need cut_out(parts *e, ir_op op, const part_form *form, uint32_t i, part_form *of) {
    const ir_op_data *d = ir_op_get(e->g, op);
    const ir_type_data *x = ir_type_of(e->g, d->operands[i]), *y = ir_type_of(e->g, d->results[0]);
    int64_t start[IR_MAX_RANK], step[IR_MAX_RANK];
    part_run runs[PART_AXES];
    int count = parts_runs(e, form, y, runs);
    ir_op_ints(e->g, op, "start", start, IR_MAX_RANK);
    ir_op_ints(e->g, op, "step", step, IR_MAX_RANK);
    for (int k = 0; k < count; k++) {
        const part_run *r = &runs[k];
        for (int a = r->axis; a < r->axis + r->axes; a++) {
            bool whole = x->dims[a] == y->dims[a];
            if (step[a] != 1 || of->count == PART_AXES)
                return PART_REFUSED;
            if (!whole && r->wide_count > 1)
                return refuse(e, form, r, y->dims[r->wide]);
            if (!whole && (a != r->wide || r->count == 0))
                append_moved(e, of, (part_axis){.extent = 1}, x->dims[a], start[a]);
            else if (!whole && r->count != 1)
                return PART_REFUSED;
            else if (!whole)
                append_moved(e, of, *axis_at(e, form, r->first), x->dims[a], start[a]);
            else if (a == r->wide && !append(of, form, r))
                return PART_REFUSED;
        }
    }
    return count >= 0 ? PART_NEEDED : PART_REFUSED;
}

/* The one that has all places; where they are in several, they have to be cut. */
static part_need joined(parts *e, ir_op op, const part_form *form, uint32_t i, part_form *of) {
    const ir_op_data *d = ir_op_get(e->g, op);
    const ir_type_data *y = ir_type_of(e->g, d->results[0]);
    int axis = (int)ir_op_int(e->g, op, "axis", 0);
    part_run runs[PART_AXES];
    int count = parts_runs(e, form, y, runs);
    const part_run *at = count > 0 ? parts_run_of(runs, count, axis) : NULL;
    if (!at || !is_single(e, form, at, y) || at->wide != axis || at->count != 1)
        return PART_REFUSED;
    const part_axis whole = *axis_at(e, form, at->first);
    int64_t first = 0, there = ir_type_of(e->g, d->operands[i])->dims[axis], start = whole.start,
            end = start + (whole.size ? whole.size : 1);
    for (uint32_t k = 0; k < i; k++)
        first += ir_type_of(e->g, d->operands[k])->dims[axis];
    if (!ir_dim_is_static(start))
        return PART_REFUSED;
    if (end <= first || start >= first + there)
        return PART_UNUSED;
    if (start < first || end > first + there) {
        e->cut =
            whole.tile == 1 && !e->cut ? (start < first ? first : first + there) - start : e->cut;
        return PART_REFUSED;
    }
    for (int k = 0; k < count; k++)
        if (&runs[k] == at)
            append_moved(e, of, whole, there, -first);
        else if (!append(of, form, &runs[k]))
            return PART_REFUSED;
    return PART_NEEDED;
}

/* Adds the axis that an instance has whole, which x has last. */
static part_need with_row(const parts *e, const ir_type_data *x, part_form *of) {
    if (e->whole < 0 || of->count == PART_AXES || x->rank == 0 ||
        x->dims[x->rank - 1] != e->axes.items[e->whole].extent)
        return PART_REFUSED;
    for (int k = 0; k < of->count; k++)
        if (of->axes[k] == e->whole)
            return PART_REFUSED;
    of->axes[of->count++] = e->whole;
    return PART_NEEDED;
}

/* Sums are along rows. */
static part_need of_row(parts *e, ir_op op, const part_form *form, uint32_t i, part_form *of) {
    const ir_type_data *x = ir_type_of(e->g, ir_op_get(e->g, op)->operands[i]);
    int64_t axis = -1;
    *of = *form;
    bool last = ir_op_ints(e->g, op, "axes", &axis, 1) == 1 && axis == x->rank - 1 &&
                !order_is_exact(order_of(e->g, op, ORDER_ANY));
    return last ? with_row(e, x, of) : PART_REFUSED;
}

/* Elements of rows, one of each. */
static part_need picked(parts *e, ir_op op, const part_form *form, uint32_t i, part_form *of) {
    const ir_op_data *d = ir_op_get(e->g, op);
    const ir_type_data *x = ir_type_of(e->g, d->operands[0]), *y = ir_type_of(e->g, d->results[0]),
                       *index = ir_type_of(e->g, d->operands[1]);
    const int64_t last = x->rank - 1;
    *of = *form;
    if (ir_op_int(e->g, op, "axis", 0) != last || ir_op_int(e->g, op, "batch_dims", 0) != last ||
        graph_elements(index->rank, index->dims) != graph_elements(y->rank, y->dims))
        return PART_REFUSED;
    return i ? PART_NEEDED : with_row(e, x, of);
}

/* Numbers of places of one axis. */
static part_need counted(parts *e, ir_op op, const part_form *form, uint32_t i, part_form *of) {
    const ir_type_data *y = ir_type_of(e->g, ir_op_get(e->g, op)->results[0]);
    part_run runs[PART_AXES];
    int count = parts_runs(e, form, y, runs), axis = (int)ir_op_int(e->g, op, "axis", 0);
    (void)i, (void)of;
    if (count <= 0)
        return PART_REFUSED;
    const part_run *r = parts_run_of(runs, count, axis);
    return is_single(e, form, r, y) && r->wide == axis ? PART_UNUSED : PART_REFUSED;
}

static const struct known {
    int opcode;
    rule *of;  /* NULL: a composite, of which primitives are made before */
    bool sums; /* along rows */
} known[] = {
    {GRAPH_CONSTANT, same, false},   {GRAPH_EXTENT, same, false},
    {GRAPH_IOTA, counted, false},    {GRAPH_BROADCAST, along, false},
    {GRAPH_RESHAPE, same, false},    {GRAPH_TRANSPOSE, turned, false},
    {GRAPH_SLICE, cut_out, false},   {GRAPH_CONCAT, joined, false},
    {GRAPH_REDUCE, of_row, true},    {GRAPH_SOFTMAX, NULL, true},
    {GRAPH_LOGSUMEXP, NULL, true},   {GRAPH_MEAN, NULL, true},
    {GRAPH_LAYERNORM, NULL, true},   {GRAPH_RMSNORM, NULL, true},
    {GRAPH_RELU, NULL, false},       {GRAPH_GELU, NULL, false},
    {GRAPH_SILU, NULL, false},       {GRAPH_ROPE, NULL, false},
    {GRAPH_DEQUANTIZE, NULL, false}, {GRAPH_GATHER, picked, true},
};

static const struct known *find_known(int opcode) {
    for (size_t i = 0; i < sizeof known / sizeof *known; i++)
        if (known[i].opcode == opcode)
            return &known[i];
    return NULL;
}

bool parts_knows(int opcode) {
    const struct known *k = find_known(opcode);
    return graph_op_class(opcode) == GRAPH_CLASS_ELEMENTWISE || (k && !k->sums);
}

bool parts_may(const ir_module *graph, ir_op other, bool *sums) {
    ir_op kernel = ir_module_kernel(graph);
    *sums = false;
    if (!kernel || ir_op_attr(graph, kernel, "donated"))
        return false;
    for (ir_op op = ir_kernel_body(graph)->first; op; op = ir_op_get(graph, op)->next) {
        int opcode = ir_op_get(graph, op)->opcode;
        const struct known *k = find_known(opcode);
        if (op != other && !k && opcode != GRAPH_RETURN && !parts_knows(opcode))
            return false;
        *sums |= k && k->sums;
    }
    return true;
}

part_need parts_operand(parts *e, ir_op op, const part_form *form, uint32_t i, part_form *of) {
    int opcode = ir_op_get(e->g, op)->opcode;
    const struct known *k = find_known(opcode);
    rule *one = graph_op_class(opcode) == GRAPH_CLASS_ELEMENTWISE ? same : k ? k->of : NULL;
    *of = (part_form){0};
    return one ? one(e, op, form, i, of) : PART_REFUSED;
}

/* ---- the other way ---- */

static bool turn_behind(parts *e, ir_op op, const part_form *of, part_form *out) {
    const ir_op_data *d = ir_op_get(e->g, op);
    const ir_type_data *x = ir_type_of(e->g, d->operands[0]);
    int64_t from[IR_MAX_RANK];
    part_run runs[PART_AXES];
    int count = parts_runs(e, of, x, runs);
    ir_op_ints(e->g, op, "permutation", from, IR_MAX_RANK);
    *out = (part_form){0};
    for (int k = 0; k < count; k++)
        if (!is_single(e, of, &runs[k], x))
            return false;
    for (int a = 0; a < x->rank && count >= 0; a++) {
        const part_run *r = parts_run_of(runs, count, (int)from[a]);
        if (r->wide == from[a] && !append(out, of, r))
            return false;
    }
    return count >= 0;
}

bool parts_behind(parts *e, ir_op op, const part_form *of, part_form *out) {
    const ir_op_data *d = ir_op_get(e->g, op);
    *out = *of;
    if (d->opcode == GRAPH_TRANSPOSE)
        return turn_behind(e, op, of, out);
    if (graph_op_class(d->opcode) == GRAPH_CLASS_ELEMENTWISE)
        return true;
    const ir_type_data *y = d->result_count == 1 ? ir_type_of(e->g, d->results[0]) : NULL;
    return (d->opcode == GRAPH_RESHAPE || d->opcode == GRAPH_BROADCAST) && y &&
           graph_elements(y->rank, y->dims) == parts_elements(e, of);
}
