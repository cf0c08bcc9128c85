/* edit_transforms.c - edits of what transforms of functions hold: the passes that write them out
 * can be wrong, and then a smaller case needs the transform, of less than its block has. */
#include <stdlib.h>
#include <string.h>

#include "edit_parts.h"
#include "graph/instance.h"
#include "graph/passes.h"
#include "ir/copy.h"
#include "opinion/opinion.h"
#include "ops/build.h"
#include "ops/control.h"
#include "ops/tiles.h"
#include "ops/transforms.h"
#include "transforms/passes.h"

static bool take_module(editor *e, ir_module *m, bool ok) {
    if (!ok) {
        ir_module_free(m);
        return false;
    }
    ir_module_free(e->m);
    e->m = m;
    return true;
}

/* ---- transforms ---- */

bool edit_transforms(editor *e, const int64_t *arguments) {
    (void)arguments;
    if (e->changed || tiles_of(compiler_instance_graph(e->whole)))
        return edit_says_nothing(e, "the kernel is not as it was written");
    ir_module *m = ir_module_clone(compiler_instance_graph(e->whole));
    const bool ok = graph_inline(m, e->st) && graph_specialize(m, e->whole->dims, e->st) &&
                    graph_called_tiles(m, e->st);
    if (ok)
        graph_drop_placed(m);
    return take_module(e, m, ok);
}

/* ---- inside ---- */

/* The block as a kernel of its own. */
static void enter(editor *e, ir_block block, tensor *arguments) {
    compiler_instance *function = opinion_function(e->m, block, &(opinion_view){.widen = false});
    ir_module *m = ir_module_clone(compiler_instance_graph(function));
    const char *name = ir_op_string(e->m, ir_module_kernel(e->m), "name", "");
    ir_op_set_attr(m, ir_module_kernel(m), "name", ir_attr_string(m, name));
    compiler_instance_free(function);
    (void)take_module(e, m, true);
    tensors_free(e->inputs);
    e->inputs = arguments;
}

bool edit_inside(editor *e, const int64_t *a) {
    const ir_op op = edit_operation(e->m, a[0]);
    const ir_op_data *d = op ? ir_op_get(e->m, op) : NULL;
    if (!d || ir_block_parent(e->m, d->block) != ir_module_kernel(e->m) || d->region_count == 0)
        return edit_says_nothing(e, "no operation of the kernel with that number has a block");
    ir_block block;
    tensor *operands = tensors_new(d->operand_count),
           *arguments = tensors_new(d->operand_count + 1);
    bool ok = edit_values(e, d->operands, d->operand_count, operands);
    if (ok && !opinion_first_turn(e->m, op, operands, &block, arguments, e->st))
        ok = edit_says_nothing(e, "its block does not run");
    if (ok)
        enter(e, block, arguments);
    else
        tensors_free(arguments);
    tensors_free(operands);
    return ok;
}

/* ---- keep ---- */

enum { LEVELS = 8 };

/* A transform around the operations: the outermost has number 0. */
typedef struct level {
    ir_op op;
    bool stacks; /* a batch, or shards: values lie along an axis 0 */
    transform_shape s;
} level;

/* A value that goes in: what stands for it in the kernel, and at which levels it is stacked. */
typedef struct carried {
    ir_value operand;
    bool stacked[LEVELS];
    ir_type type; /* in the block of the operations, or of its derivative */
} carried;

/* Operations of a transform's block, and what goes in and comes out of them. */
typedef struct kept {
    editor *e;
    ir_op first, last;
    level levels[LEVELS];
    int depth;            /* levels; the last is the transform of the operations */
    ir_value *ins, *outs; /* of its block */
    uint32_t in_count, out_count;
    carried *items; /* seeds of a derivative, then for each of `ins` its own */
    uint32_t seed_count;
    int64_t *wrt, *of; /* of a derivative: numbers of `ins` and `outs` */
    uint32_t wrt_count, of_count;
} kept;

static const level *innermost(const kept *k) {
    return &k->levels[k->depth - 1];
}

static bool is_argument(const ir_module *m, ir_value v) {
    return ir_value_get(m, v)->op == 0;
}

/* A number that stands in the block. */
static bool is_constant(const ir_module *m, ir_value v) {
    const ir_op op = ir_value_get(m, v)->op;
    return op && ir_op_get(m, op)->operand_count == 0 &&
           graph_op_class(ir_op_get(m, op)->opcode) != GRAPH_CLASS_COLLECTIVE;
}

static void add_once(ir_value *list, uint32_t *count, ir_value v) {
    bool found = false;
    for (uint32_t i = 0; i < *count && !found; i++)
        found = list[i] == v;
    if (!found)
        list[(*count)++] = v;
}

/* Values that the operations take from before them. */
static void find_ins(kept *k) {
    const ir_module *m = k->e->m;
    bool *own = base_calloc((size_t)ir_value_count(m) + 1, sizeof *own);
    for (ir_op op = k->first, end = ir_op_get(m, k->last)->next; op != end;
         op = ir_op_get(m, op)->next) {
        const ir_op_data *d = ir_op_get(m, op);
        for (uint32_t i = 0; i < d->operand_count; i++)
            if (!own[d->operands[i]] && !is_constant(m, d->operands[i]))
                add_once(k->ins, &k->in_count, d->operands[i]);
        for (uint32_t i = 0; i < d->result_count; i++)
            own[d->results[i]] = true;
    }
    free(own);
}

/* Values of the operations that are read behind them; of the last one all where none is. */
static void find_outs(kept *k) {
    const ir_module *m = k->e->m;
    bool *own = base_calloc((size_t)ir_value_count(m) + 1, sizeof *own), behind = false;
    const ir_op_data *last = ir_op_get(m, k->last);
    for (ir_op op = k->first; op; op = ir_op_get(m, op)->next) {
        const ir_op_data *d = ir_op_get(m, op);
        for (uint32_t i = 0; behind && i < d->operand_count; i++)
            if (own[d->operands[i]])
                add_once(k->outs, &k->out_count, d->operands[i]);
        for (uint32_t i = 0; !behind && i < d->result_count; i++)
            own[d->results[i]] = !is_constant(m, d->results[i]);
        behind |= op == k->last;
    }
    for (uint32_t i = 0; k->out_count == 0 && i < last->result_count; i++)
        k->outs[i] = last->results[i];
    k->out_count = k->out_count ? k->out_count : last->result_count;
    free(own);
}

/* Copies the operations of a block from `first` (0: its own first) to `last`, and constants before
 * them. `copies` has what stands for what they take. */
static void copy_operations(ir_builder *b, ir_op first, ir_op last, ir_value *copies) {
    const ir_module *m = b->m;
    bool there = first == 0;
    for (ir_op op = ir_block_get(m, ir_op_get(m, last)->block)->first; op;
         op = ir_op_get(m, op)->next) {
        const ir_op_data *d = ir_op_get(m, op);
        there |= op == first;
        if (there || (d->result_count == 1 && is_constant(m, d->results[0])))
            (void)ir_copy_op(b, m, op, copies);
        if (op == last)
            return;
    }
}

static ir_type stacked_type(ir_module *m, ir_type of, ir_dim count) {
    const ir_type_data t = *ir_type_get(m, of);
    ir_dim dims[IR_MAX_RANK + 1] = {count};
    memcpy(dims + 1, t.dims, sizeof *dims * (size_t)t.rank);
    return ir_type_tensor(m, t.element, t.rank + 1, dims);
}

/* A batch, or shards, as that level has them: its block is empty. Parameters: operands, of which
 * the first are sliced; types of what the block makes. */
static ir_op build_stacked(ir_builder *b, const level *l, const ir_value *operands, uint32_t count,
                           uint32_t sliced, const ir_type *makes, uint32_t made_count) {
    ir_module *m = b->m;
    ir_type *results = base_calloc((size_t)made_count + 1, sizeof *results);
    for (uint32_t i = 0; i < made_count; i++)
        results[i] = stacked_type(m, makes[i], l->s.count);
    const ir_op made = ir_build(b, &(ir_op_spec){.opcode = ir_op_get(m, l->op)->opcode,
                                                 .operands = operands,
                                                 .operand_count = count,
                                                 .results = results,
                                                 .result_count = made_count,
                                                 .region_count = 1});
    static const char *const taken[] = {"count", "axis", "alike"};
    ir_op_set_attr(m, made, "sliced", ir_attr_int(m, sliced));
    for (size_t i = 0; i < sizeof taken / sizeof *taken; i++)
        if (ir_op_attr(m, l->op, taken[i]))
            ir_op_set_attr(m, made, taken[i], ir_op_attr(m, l->op, taken[i]));
    free(results);
    return made;
}

/* ---- the values that go in ---- */

/* Puts before a transform what has these values of its block, which the operations up to `last`
 * make. The values become those, and last what makes them. */
static void lift(ir_module *m, const level *l, ir_value *values, uint32_t count, ir_op *last) {
    const ir_block_data *block = ir_block_get(m, ir_op_get(m, *last)->block);
    ir_builder b = {.m = m, .block = ir_op_get(m, l->op)->block, .before = l->op};
    ir_value *copies = base_calloc((size_t)ir_value_count(m) + 1, sizeof *copies);
    ir_type *types = base_calloc((size_t)count + 1, sizeof *types);
    for (uint32_t i = 0; i < count; i++)
        types[i] = ir_value_get(m, values[i])->type;
    const ir_op made =
        l->stacks ? build_stacked(&b, l, l->s.values, l->s.value_count, l->s.sliced, types, count)
                  : 0;
    ir_builder in = made ? (ir_builder){.m = m, .block = ir_op_block(m, made, 0)} : b;
    for (uint32_t i = 0; i < block->argument_count; i++)
        copies[block->arguments[i]] =
            made ? ir_block_add_argument(m, in.block, ir_value_get(m, block->arguments[i])->type,
                                         NULL)
                 : l->s.values[i];
    copy_operations(&in, 0, *last, copies);
    for (uint32_t i = 0; i < count; i++)
        values[i] = copies[values[i]];
    if (made) {
        build_next(&in, values, count);
        for (uint32_t i = 0; i < count; i++)
            values[i] = ir_op_result(m, made, i);
    }
    *last = ir_op_get(m, l->op)->previous;
    free(types);
    free(copies);
}

/* The interpreter's value of one that the block of that level makes, for all its turns. */
static bool value_there(const kept *k, int at, ir_value v, tensor *out) {
    editor there = *k->e;
    there.m = ir_module_clone(k->e->m);
    ir_op last = ir_value_get(there.m, v)->op;
    for (; at >= 0; at--)
        lift(there.m, &k->levels[at], &v, 1, &last);
    const bool ok = edit_values(&there, &v, 1, out);
    ir_module_free(there.m);
    return ok;
}

/* The type of an item where it is an operand of that level. */
static ir_type type_at(const kept *k, const carried *item, int at) {
    ir_type t = item->type;
    for (int i = k->depth - 1; i >= at; i--)
        if (item->stacked[i])
            t = stacked_type(k->e->m, t, k->levels[i].s.count);
    return t;
}

static tensor *new_input(const kept *k, carried *item) {
    tensor *to = edit_add_input(k->e, type_at(k, item, 0), &item->operand);
    if (!to)
        (void)edit_says_nothing(k->e, "a kernel has no more inputs");
    return to;
}

/* One of the operands of the outermost transform, or a new input. */
static bool take_in(const kept *k, ir_value v, carried *item) {
    const ir_module *m = k->e->m;
    int at = k->depth - 1;
    *item = (carried){.type = ir_value_get(m, v)->type};
    for (; at >= 0 && is_argument(m, v); at--) {
        const uint32_t index = ir_value_get(m, v)->index;
        item->stacked[at] = k->levels[at].stacks && index < k->levels[at].s.sliced;
        v = k->levels[at].s.values[index];
    }
    item->operand = v;
    for (int i = at; i >= 0; i--)
        item->stacked[i] = k->levels[i].stacks;
    tensor value = {0};
    bool ok = at < 0 || value_there(k, at, v, &value);
    tensor *to = ok && at >= 0 ? new_input(k, item) : NULL;
    ok = ok && (at < 0 || to);
    if (to)
        *to = value;
    else
        tensor_release(&value);
    return ok;
}

/* A tangent or cotangent for this value: numbers of either sign. */
static bool add_seed(const kept *k, ir_value of, carried *item) {
    *item = (carried){.type = ir_value_get(k->e->m, of)->type};
    for (int i = 0; i < k->depth; i++)
        item->stacked[i] = k->levels[i].stacks;
    const ir_type_data *t = ir_type_get(k->e->m, type_at(k, item, 0));
    tensor *to = new_input(k, item);
    uint64_t dice = 7 + item->operand;
    bool ok = to && tensor_init(to, t->element, t->rank, t->dims, k->e->st);
    for (int64_t i = 0; ok && i < tensor_count(to); i++) {
        dice = dice * UINT64_C(6364136223846793005) + UINT64_C(1442695040888963407);
        const double size = 0.25 * (double)(1 + (dice >> 40) % 8);
        dtype_store(to->type, to->data, (size_t)i, dice >> 63 ? -size : size);
    }
    return ok;
}

static bool is_reverse(const kept *k) {
    return ir_op_get(k->e->m, innermost(k)->op)->opcode == GRAPH_VJP;
}

/* A derivative is by all floats that go in, of all that come out. */
static bool take_items(kept *k) {
    editor *e = k->e;
    bool ok = true;
    if (!innermost(k)->stacks) {
        k->wrt_count = transform_floats(e->m, k->ins, k->in_count, k->wrt);
        k->of_count = transform_floats(e->m, k->outs, k->out_count, k->of);
        ok = (k->wrt_count && k->of_count) || edit_says_nothing(e, "they have no derivative");
        k->seed_count = is_reverse(k) ? k->of_count : k->wrt_count;
    }
    for (uint32_t i = 0; i < k->seed_count && ok; i++)
        ok = add_seed(k, is_reverse(k) ? k->outs[k->of[i]] : k->ins[k->wrt[i]], &k->items[i]);
    for (uint32_t i = 0; i < k->in_count && ok; i++)
        ok = take_in(k, k->ins[i], &k->items[k->seed_count + i]);
    return ok;
}

/* ---- the transforms anew ---- */

static void fill_operations(const kept *k, ir_builder *in, const ir_value *ins) {
    ir_module *m = k->e->m;
    ir_value *copies = base_calloc((size_t)ir_value_count(m) + 1, sizeof *copies);
    ir_value *next = base_calloc((size_t)k->out_count + 1, sizeof *next);
    for (uint32_t i = 0; i < k->in_count; i++)
        copies[k->ins[i]] = ins[i];
    copy_operations(in, k->first, k->last, copies);
    for (uint32_t i = 0; i < k->out_count; i++)
        next[i] = copies[k->outs[i]];
    build_next(in, next, k->out_count);
    free(next);
    free(copies);
}

/* Types of what comes out of the innermost transform, were it not stacked. */
static uint32_t made_types(const kept *k, ir_type *out) {
    const ir_module *m = k->e->m;
    const bool reverse = is_reverse(k);
    const uint32_t slopes = reverse ? k->wrt_count : k->of_count;
    for (uint32_t i = 0; i < k->out_count; i++)
        out[i] = ir_value_get(m, k->outs[i])->type;
    for (uint32_t i = 0; i < slopes; i++)
        out[k->out_count + i] =
            ir_value_get(m, reverse ? k->ins[k->wrt[i]] : k->outs[k->of[i]])->type;
    return k->out_count + slopes;
}

static ir_op build_derivative(const kept *k, ir_builder *b, const ir_value *values,
                              const ir_type *types, uint32_t count) {
    ir_module *m = b->m;
    const ir_named_attr attrs[] = {{"wrt", ir_attr_int_array(m, k->wrt, k->wrt_count)},
                                   {"of", ir_attr_int_array(m, k->of, k->of_count)}};
    const ir_op made = ir_build(b, &(ir_op_spec){.opcode = ir_op_get(m, innermost(k)->op)->opcode,
                                                 .operands = values,
                                                 .operand_count = k->seed_count + k->in_count,
                                                 .results = types,
                                                 .result_count = count,
                                                 .attrs = attrs,
                                                 .attr_count = 2,
                                                 .region_count = 1});
    ir_builder in = {.m = m, .block = ir_op_block(m, made, 0)};
    ir_value *ins = base_calloc((size_t)k->in_count + 1, sizeof *ins);
    for (uint32_t i = 0; i < k->in_count; i++)
        ins[i] = ir_block_add_argument(m, in.block, ir_value_get(m, k->ins[i])->type, NULL);
    fill_operations(k, &in, ins);
    free(ins);
    return made;
}

/* A level that stacks: those that are sliced are its first operands. The values become those of its
 * block. */
static ir_op open_level(const kept *k, ir_builder *b, int at, ir_value *values,
                        const ir_type *types, uint32_t type_count) {
    const uint32_t count = k->seed_count + k->in_count;
    ir_value *operands = base_calloc((size_t)count + 1, sizeof *operands);
    uint32_t n = 0, sliced = 0;
    for (int whole = 0; whole < 2; whole++)
        for (uint32_t i = 0; i < count; i++)
            if (k->items[i].stacked[at] == (whole == 0)) {
                sliced += whole == 0;
                operands[n++] = values[i];
            }
    const ir_op made = build_stacked(b, &k->levels[at], operands, count, sliced, types, type_count);
    *b = (ir_builder){.m = b->m, .block = ir_op_block(b->m, made, 0), .location = b->location};
    for (int whole = 0; whole < 2; whole++)
        for (uint32_t i = 0; i < count; i++)
            if (k->items[i].stacked[at] == (whole == 0))
                values[i] =
                    ir_block_add_argument(b->m, b->block, type_at(k, &k->items[i], at + 1), NULL);
    free(operands);
    return made;
}

/* Types of what the block of a level makes. */
static void types_in(const kept *k, int at, const ir_type *innermost_types, uint32_t count,
                     ir_type *out) {
    memcpy(out, innermost_types, sizeof *out * count);
    for (int i = k->depth - 1; i > at; i--)
        for (uint32_t t = 0; t < count && k->levels[i].stacks; t++)
            out[t] = stacked_type(k->e->m, out[t], k->levels[i].s.count);
}

static ir_op build_levels(const kept *k) {
    editor *e = k->e;
    const size_t most = 2 * ((size_t)k->in_count + k->out_count) + 1;
    ir_value *values = base_calloc(most, sizeof *values);
    ir_type *types = base_calloc(most, sizeof *types), *own = base_calloc(most, sizeof *own);
    ir_op made[LEVELS] = {0};
    const uint32_t count = made_types(k, own);
    ir_builder b = {.m = e->m,
                    .block = ir_op_block(e->m, ir_module_kernel(e->m), 0),
                    .before = ir_kernel_body(e->m)->last,
                    .location = ir_op_get(e->m, innermost(k)->op)->location};
    for (uint32_t i = 0; i < k->seed_count + k->in_count; i++)
        values[i] = k->items[i].operand;
    for (int at = 0; at < k->depth && k->levels[at].stacks; at++) {
        types_in(k, at, own, count, types);
        made[at] = open_level(k, &b, at, values, types, count);
    }
    if (innermost(k)->stacks)
        fill_operations(k, &b, values);
    else
        made[k->depth - 1] = build_derivative(k, &b, values, own, count);
    for (int at = k->depth - 2; at >= 0; at--) {
        ir_builder in = {.m = e->m, .block = ir_op_block(e->m, made[at], 0)};
        build_next(&in, ir_op_get(e->m, made[at + 1])->results, count);
    }
    free(values);
    free(types);
    free(own);
    return made[0];
}

/* ---- all of keep ---- */

static bool keep(kept *k) {
    find_ins(k);
    find_outs(k);
    if (!take_items(k))
        return false;
    const ir_op made = build_levels(k);
    const ir_op_data *d = ir_op_get(k->e->m, made);
    edit_set_outputs(k->e->m, d->results, d->result_count);
    return true;
}

/* Batches and shards, and in them at last a derivative. */
static bool find_levels(kept *k, ir_block block) {
    const ir_module *m = k->e->m;
    const ir_op kernel = ir_module_kernel(m);
    bool ok = true;
    for (ir_op op = ir_block_parent(m, block); ok && op != kernel;
         op = ir_block_parent(m, ir_op_get(m, op)->block)) {
        const int opcode = ir_op_get(m, op)->opcode;
        const level l = {.op = op, .stacks = opcode == GRAPH_VMAP || opcode == GRAPH_SHARD};
        ok = k->depth < LEVELS &&
             (l.stacks || (k->depth == 0 && (opcode == GRAPH_JVP || opcode == GRAPH_VJP)));
        memmove(k->levels + 1, k->levels, sizeof l * (size_t)(ok ? k->depth : 0));
        k->levels[0] = l;
        k->depth += ok;
    }
    for (int i = 0; i < k->depth; i++)
        k->levels[i].s = transform_shape_of(m, k->levels[i].op);
    return ok && k->depth > 0;
}

bool edit_keep(editor *e, const int64_t *a) {
    kept k = {.e = e, .first = edit_operation(e->m, a[0]), .last = edit_operation(e->m, a[1])};
    const ir_block block = k.first ? ir_op_get(e->m, k.first)->block : 0;
    if (!k.first || !k.last || a[1] < a[0] || ir_op_get(e->m, k.last)->block != block ||
        !find_levels(&k, block))
        return edit_says_nothing(e, "they are no operations in the block of one transform");
    const size_t most = (size_t)ir_value_count(e->m) + 1;
    k.ins = base_calloc(most, sizeof *k.ins);
    k.outs = base_calloc(most, sizeof *k.outs);
    k.items = base_calloc(2 * most, sizeof *k.items);
    k.wrt = base_calloc(most, sizeof *k.wrt);
    k.of = base_calloc(most, sizeof *k.of);
    const bool ok = keep(&k);
    free(k.ins);
    free(k.outs);
    free(k.items);
    free(k.wrt);
    free(k.of);
    return ok;
}
