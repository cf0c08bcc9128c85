/* library_parts.c - see library_parts.h: first backward, through what is wanted of each value, then
 * forward, making it. */
#include "library_parts.h"

#include <stdlib.h>
#include <string.h>

#include "ir/copy.h"
#include "library_parts_rules.h"
#include "ops/build.h"
#include "ops/graph.h"
#include "tile/lowering.h"

enum { MOST_OPERANDS = 4, MOST_ATTRS = 16 };

/* ---- forms ---- */

void parts_open(parts *e, const ir_module *g, const parts_kernel *kernel, ir_builder b) {
    *e = (parts){.g = g, .b = b, .kernel = kernel, .whole = -1};
    e->list = base_calloc((size_t)ir_value_count(g) + 1, sizeof *e->list);
}

void parts_close(parts *e) {
    for (uint32_t i = 0; i <= ir_value_count(e->g); i++)
        vec_release(&e->list[i]);
    free(e->list);
    vec_release(&e->axes);
}

int parts_axis(parts *e, part_axis axis) {
    for (size_t i = 0; i < e->axes.count; i++) {
        const part_axis *x = &e->axes.items[i];
        if (x->extent == axis.extent && x->start == axis.start && x->size == axis.size &&
            x->tile == axis.tile)
            return (int)i;
    }
    vec_push(&e->axes, axis);
    return (int)e->axes.count - 1;
}

int64_t parts_elements(const parts *e, const part_form *form) {
    ir_dim extents[PART_AXES];
    for (int i = 0; i < form->count; i++)
        extents[i] = e->axes.items[form->axes[i]].extent;
    return graph_elements(form->count, extents);
}

ir_type parts_tensor(const parts *e, ir_module *m, dtype element, const part_form *form) {
    ir_dim extents[PART_AXES];
    for (int i = 0; i < form->count; i++)
        extents[i] = e->axes.items[form->axes[i]].extent;
    return ir_type_tensor(m, element, form->count, extents);
}

/* Axes of a form's tiles, as numbers of its axes. */
static int tile_axes(const parts *e, const part_form *form, int64_t axes[PART_AXES]) {
    int rank = 0;
    for (int i = 0; i < form->count; i++)
        if (e->axes.items[form->axes[i]].size)
            axes[rank++] = i;
    return rank;
}

static int tile_axis(const parts *e, const part_form *form, int64_t i) {
    return e->axes.items[form->axes[i]].tile;
}

static int tile_shape(const parts *e, const part_form *form, ir_dim dims[PART_AXES]) {
    int64_t axes[PART_AXES];
    int rank = tile_axes(e, form, axes);
    for (int i = 0; i < rank; i++)
        dims[i] = e->axes.items[form->axes[axes[i]]].size;
    return rank;
}

ir_attr parts_start(const parts *e, const part_form *form) {
    ir_dim start[PART_AXES];
    for (int i = 0; i < form->count; i++)
        start[i] = e->axes.items[form->axes[i]].start;
    return ir_attr_dim_array(e->b.m, start, (uint32_t)form->count);
}

ir_attr parts_kept(const parts *e, const part_form *form) {
    int64_t axes[PART_AXES];
    uint32_t count = (uint32_t)tile_axes(e, form, axes);
    return ir_attr_int_array(e->b.m, axes, count);
}

static bool is_same(const part_form *x, const part_form *y) {
    return x->count == y->count &&
           memcmp(x->axes, y->axes, sizeof *x->axes * (size_t)x->count) == 0;
}

/* Axes of tiles in another order are no form of a tile. */
static bool is_upright(const parts *e, const part_form *form) {
    int last = -1;
    for (int i = 0; i < form->count; i++) {
        const part_axis *x = &e->axes.items[form->axes[i]];
        if (x->size && x->tile <= last)
            return false;
        last = x->size ? x->tile : last;
    }
    return true;
}

/* ---- what is wanted ---- */

static part *find(const parts *e, ir_value v, const part_form *form) {
    part_list *list = &e->list[v];
    for (size_t i = 0; i < list->count; i++)
        if (is_same(&list->items[i].form, form))
            return &list->items[i];
    return NULL;
}

/* Fewer axes come before more, and lines before columns. */
static int rank_of(const part_form *form) {
    int rank = 0;
    for (int i = 0; i < form->count; i++)
        rank += 1 << (PART_AXES - (form->axes[i] < PART_AXES ? form->axes[i] : PART_AXES));
    return rank;
}

static part *add(parts *e, ir_value v, const part_form *form) {
    part_list *list = &e->list[v];
    part *found = find(e, v, form);
    size_t at = list->count;
    if (found)
        return found;
    vec_push(list, (part){.form = *form});
    for (; at > 0 && rank_of(&list->items[at - 1].form) > rank_of(form); at--)
        list->items[at] = list->items[at - 1];
    list->items[at] = (part){.form = *form};
    return &list->items[at];
}

bool parts_want(parts *e, ir_value v, const part_form *form) {
    const ir_type_data *d = ir_type_of(e->g, v);
    if (form->count > PART_AXES || !is_upright(e, form) ||
        graph_elements(d->rank, d->dims) != parts_elements(e, form))
        return false;
    add(e, v, form);
    return true;
}

void parts_give(parts *e, ir_value v, const part_form *form, ir_value tile) {
    add(e, v, form)->tile = tile;
}

static bool want_operands(parts *e, ir_op op, const part_form *form) {
    const ir_op_data *d = ir_op_get(e->g, op);
    part_form of;
    bool ok = d->attr_count <= MOST_ATTRS && d->result_count == 1 &&
              (d->operand_count <= MOST_OPERANDS || d->opcode == GRAPH_CONCAT) &&
              (d->operand_count > 0 || parts_operand(e, op, form, 0, &of) != PART_REFUSED);
    for (uint32_t i = 0; ok && i < d->operand_count; i++) {
        part_need need = parts_operand(e, op, form, i, &of);
        ok = need == PART_UNUSED || (need == PART_NEEDED && parts_want(e, d->operands[i], &of));
    }
    return ok;
}

bool parts_find(parts *e) {
    bool ok = true;
    for (ir_op op = ir_kernel_body(e->g)->last; ok && op; op = ir_op_get(e->g, op)->previous) {
        const ir_op_data *d = ir_op_get(e->g, op);
        for (uint32_t k = 0; ok && k < d->result_count; k++) {
            const part_list *list = &e->list[d->results[k]];
            for (size_t i = 0; ok && i < list->count; i++) {
                const part one = list->items[i];
                ok = one.tile || want_operands(e, op, &one.form);
            }
        }
    }
    return ok;
}

/* ---- tiles ---- */

static ir_value load(parts *e, ir_value v, const part_form *form) {
    ir_module *m = e->b.m;
    const uint32_t number = ir_value_get(e->g, v)->index;
    ir_value x = e->kernel->arguments[number];
    ir_type type = parts_tensor(e, m, ir_type_of(e->g, v)->element, form);
    if (e->kernel->typed[number] && ir_value_get(m, x)->type != type)
        return 0;
    e->kernel->typed[number] = true;
    ir_value_get(m, x)->type = type;
    ir_dim size[PART_AXES];
    for (int i = 0; i < form->count; i++)
        size[i] = e->axes.items[form->axes[i]].size ? e->axes.items[form->axes[i]].size : 1;
    ir_named_attr attrs[] = {{"start", parts_start(e, form)},
                             {"size", ir_attr_dim_array(m, size, (uint32_t)form->count)},
                             {"kept", parts_kept(e, form)}};
    return ir_op_result(m, graph_build(&e->b, GRAPH_LOAD, &x, 1, attrs, 3), 0);
}

ir_value parts_tile(parts *e, ir_value v, const part_form *form) {
    part *p = find(e, v, form);
    if (p && !p->tile && !ir_value_get(e->g, v)->op)
        p->tile = load(e, v, form);
    return p ? p->tile : 0;
}

/* A tile of fewer axes, repeated along the others. */
static ir_value repeated(parts *e, ir_value x, const part_form *from, const part_form *to) {
    ir_dim shape[PART_AXES];
    int64_t axes[PART_AXES], own[PART_AXES], all[PART_AXES];
    int count = tile_axes(e, from, own), rank = tile_shape(e, to, shape);
    if (count == rank)
        return x;
    tile_axes(e, to, all);
    for (int i = 0, j = 0; i < count && j < rank; j++)
        if (tile_axis(e, to, all[j]) == tile_axis(e, from, own[i]))
            axes[i++] = j;
    return build_broadcast(&e->b, x, rank, shape, axes);
}

/* ---- numbers ---- */

static ir_value times(parts *e, ir_value x, int64_t by) {
    return by == 1 ? x : build_binary(&e->b, GRAPH_MUL, x, build_i32(&e->b, (int32_t)by, x));
}

/* Places of one axis, which its tile has or which is one. */
static ir_value places(parts *e, int number, const part_form *to) {
    const part_axis axis = e->axes.items[number];
    const part_form line = {1, {number}};
    ir_dim shape[] = {axis.size};
    ir_value x = axis.size ? build_iota(&e->b, 1, shape, 0) : build_scalar(&e->b, DTYPE_I32, 0);
    if (axis.start)
        x = build_binary(&e->b, GRAPH_ADD, x, build_extent(&e->b, axis.start, DTYPE_I32, x));
    return repeated(e, x, &line, to);
}

static ir_value numbers(parts *e, ir_op op, const part_form *form) {
    const ir_type_data *y = ir_type_of(e->g, ir_op_get(e->g, op)->results[0]);
    const part_form none = {0};
    part_run runs[PART_AXES];
    int count = parts_runs(e, form, y, runs);
    const part_run *r = parts_run_of(runs, count, (int)ir_op_int(e->g, op, "axis", 0));
    int64_t stride = 1;
    ir_value all = 0;
    for (int i = r->first + r->count; i-- > r->first;) {
        ir_value x = times(e, places(e, form->axes[i], form), stride);
        all = all ? build_binary(&e->b, GRAPH_ADD, x, all) : x;
        stride *= e->axes.items[form->axes[i]].extent;
    }
    return all ? all : repeated(e, build_scalar(&e->b, DTYPE_I32, 0), &none, form);
}

/* ---- elements at indices ---- */

/* The greatest of what is at the index, and of nothing elsewhere: that element itself. */
static ir_value picked(parts *e, ir_value x, const part_form *all, ir_value index,
                       const part_form *form) {
    ir_builder *b = &e->b;
    const dtype element = build_type(b, x)->element;
    const int32_t last = (int32_t)(e->axes.items[e->whole].extent - 1);
    index = build_binary(b, GRAPH_MAXIMUM, index, build_i32(b, 0, index));
    index = build_binary(b, GRAPH_MINIMUM, index, build_i32(b, last, index));
    ir_value here = build_compare(b, "eq", places(e, e->whole, all), repeated(e, index, form, all));
    const part_form none = {0};
    ir_value lowest = build_scalar(b, element, reduction_neutral("max", element));
    x = build_select(b, here, x, repeated(e, lowest, &none, all));
    return build_reduce(b, "max", x, build_type(b, x)->rank - 1);
}

/* ---- operations ---- */

/* The operation of tiles; a sum is along the second of two axes. */
static ir_value built(parts *e, ir_op op, const ir_value *operands) {
    const ir_op_data *d = ir_op_get(e->g, op);
    const int64_t last = 1;
    ir_named_attr attrs[MOST_ATTRS];
    for (uint32_t i = 0; i < d->attr_count; i++) {
        attrs[i].name = d->attrs[i].name;
        attrs[i].value = strcmp(attrs[i].name, "axes") == 0
                             ? ir_attr_int_array(e->b.m, &last, 1)
                             : ir_copy_attr(e->b.m, e->g, d->attrs[i].value);
    }
    return ir_op_result(
        e->b.m, graph_build(&e->b, d->opcode, operands, d->operand_count, attrs, d->attr_count), 0);
}

/* A tile whose elements move is the one that has them; other operations are made. */
static bool is_move(int opcode) {
    return graph_op_class(opcode) == GRAPH_CLASS_MOVE;
}

static ir_value make(parts *e, ir_op op, const part_form *form) {
    const ir_op_data *d = ir_op_get(e->g, op);
    ir_value operands[MOST_OPERANDS] = {0};
    part_form of = {0}, first = {0};
    uint32_t count = 0;
    for (uint32_t i = 0; i < d->operand_count; i++) {
        part_form one = {0};
        if (parts_operand(e, op, form, i, &one) != PART_NEEDED)
            continue;
        of = one;
        first = count ? first : one;
        operands[count] = parts_tile(e, d->operands[i], &of);
        if (!operands[count++])
            return 0;
    }
    e->b.location = d->location;
    if (d->opcode == GRAPH_GATHER)
        return picked(e, operands[0], &first, operands[1], form);
    if (is_move(d->opcode))
        return repeated(e, operands[0], &of, form);
    e->computes = true;
    if (d->opcode == GRAPH_IOTA)
        return numbers(e, op, form);
    ir_value x = built(e, op, operands);
    return d->operand_count ? x : repeated(e, x, &of, form);
}

static bool make_all(parts *e, ir_op op, ir_value v) {
    bool ok = true;
    for (size_t i = 0; ok && i < e->list[v].count; i++) {
        const part one = e->list[v].items[i];
        ir_value x = one.tile ? one.tile : make(e, op, &one.form);
        e->list[v].items[i].tile = x;
        ok = x != 0;
    }
    return ok;
}

bool parts_make(parts *e) {
    bool ok = true;
    for (ir_op op = ir_kernel_body(e->g)->first; ok && op; op = ir_op_get(e->g, op)->next) {
        const ir_op_data *d = ir_op_get(e->g, op);
        for (uint32_t k = 0; ok && k < d->result_count; k++)
            ok = make_all(e, op, d->results[k]);
    }
    return ok;
}
