/* functions.c - the functions of `tile`: those that only kernels of tiles have, and those that
 * are short for functions on tensors. */
#include <string.h>

#include "check/tiles/tiles.h"

static bool all_tensors(checker *c, const call_arguments *a) {
    for (int i = 0; i < a->count; i++)
        if (!argument_tensor(c, &a->values[i], a->names[i]))
            return false;
    return true;
}

/* ---- short for what tensors have ---- */

static entity zeros(checker *c, const call_arguments *a) {
    call_arguments as = *a;
    if (!as.given[1])
        as.values[1] = (entity){.kind = ENTITY_TYPE, .at = a->at, .type = DTYPE_F32};
    return special_zeros(c, &as);
}

static entity full(checker *c, const call_arguments *a) {
    call_arguments as = *a;
    if (!as.given[2])
        as.values[2] = (entity){.kind = ENTITY_TYPE, .at = a->at, .type = DTYPE_F32};
    return special_full(c, &as);
}

static entity transpose(checker *c, const call_arguments *a) {
    return all_tensors(c, a) ? swap_last_axes(c, &a->values[0], a->at) : entity_broken(a->at);
}

/* Products of narrow floats are added, and given, in f32. */
static entity dot(checker *c, const call_arguments *a) {
    if (!argument_tensor(c, &a->values[0], "x") || !argument_tensor(c, &a->values[1], "y"))
        return entity_broken(a->at);
    dtype type = tensor_type(c, &a->values[0])->element;
    bool narrow = dtype_is_float(type) && dtype_size(type) < dtype_size(DTYPE_F32);
    const ir_named_attr attrs[] = {
        {"order", ir_attr_string(c->m, "chunk512")},
        {"out", ir_attr_type(c->m, ir_type_scalar(c->m, narrow ? DTYPE_F32 : type))}};
    return emit_one(c, GRAPH_MATMUL, a->values, 2, attrs, narrow ? 2 : 1, a->at);
}

static entity mma(checker *c, const call_arguments *a) {
    entity product = dot(c, a), sum[2] = {a->values[2], product};
    return product.kind == ENTITY_BROKEN || !argument_tensor(c, &sum[0], "acc")
               ? entity_broken(a->at)
               : emit_elementwise(c, GRAPH_ADD, sum, 2, NULL, 0, a->at);
}

static entity reduce(checker *c, const call_arguments *a) {
    static const struct {
        const char *kind;
        entity (*build)(checker *c, const call_arguments *a);
    } kinds[] = {{"sum", special_sum}, {"max", special_max}, {"min", special_min}};
    call_arguments as = {.function = a->function, .signature = a->signature, .at = a->at};
    as.count = 4;
    as.values[0] = a->values[0];
    as.values[1] = a->given[2] ? a->values[2] : entity_integer(c, -1, a->at);
    as.values[2] = a->values[3];
    as.given[0] = as.given[1] = true;
    as.given[2] = a->given[3];
    for (size_t i = 0; i < sizeof kinds / sizeof *kinds; i++)
        if (a->values[1].kind == ENTITY_STRING && strcmp(a->values[1].text, kinds[i].kind) == 0)
            return kinds[i].build(c, &as);
    diagnose_error(c->report, ERROR_ARGUMENT_KIND, a->values[1].at,
                   "a reduction is \"sum\", \"max\" or \"min\", as kind says");
    return entity_broken(a->at);
}

/* A number or a dimension on its own is an f32 scalar. */
static entity root(checker *c, const call_arguments *a, int opcode) {
    entity x = a->values[0];
    if (x.kind == ENTITY_NUMBER) {
        x = emit_constant(c, &x, DTYPE_F32, a->at);
    } else if (x.kind == ENTITY_DIM) {
        x = tiles_dim_value(c, x.dim, a->at);
        x = x.kind == ENTITY_BROKEN ? x : policy_convert(c, &x, DTYPE_F32, NULL, a->at);
    }
    return x.kind == ENTITY_BROKEN || !argument_tensor(c, &x, "x")
               ? entity_broken(a->at)
               : emit_one(c, opcode, &x, 1, NULL, 0, a->at);
}

static entity rsqrt(checker *c, const call_arguments *a) {
    return root(c, a, GRAPH_RSQRT);
}

static entity square_root(checker *c, const call_arguments *a) {
    return root(c, a, GRAPH_SQRT);
}

/* ---- groups ---- */

/* An axis as groups of so many places: [.., number, size]. */
static entity group(checker *c, const call_arguments *a) {
    const entity *x = &a->values[0];
    ir_dim dims[IR_MAX_RANK + 1], size;
    int64_t axis = -1;
    entity said = a->given[2] ? a->values[2] : entity_integer(c, -1, a->at);
    if (!argument_tensor(c, x, "x") || !argument_dim(c, &a->values[1], &size) ||
        !argument_axis(c, &said, tensor_type(c, x)->rank, &axis))
        return entity_broken(a->at);
    const ir_type_data *t = tensor_type(c, x);
    ir_dim length = t->dims[axis], count = size == 0 ? 0 : ir_dim_floordiv(c->m, length, size);
    if (size == 0 || ir_dim_mul(c->m, count, size) != length) {
        diagnose_error(c->report, ERROR_TILE_GROUP, a->values[1].at,
                       "the %s places of axis %lld are not groups of %s",
                       arena_strdup(&c->memory, ir_dim_text(c->m, length)), (long long)axis,
                       arena_strdup(&c->memory, ir_dim_text(c->m, size)));
        note_tensor(c, x);
        return entity_broken(a->at);
    }
    memcpy(dims, t->dims, sizeof(ir_dim) * (size_t)axis);
    dims[axis] = count;
    dims[axis + 1] = size;
    memcpy(dims + axis + 2, t->dims + axis + 1, sizeof(ir_dim) * (size_t)(t->rank - (int)axis - 1));
    return emit_reshape(c, x, t->rank + 1, dims, a->at);
}

/* The groups' places side by side again: `axis` is that of the places in a group. */
static entity ungroup(checker *c, const call_arguments *a) {
    const entity *x = &a->values[0];
    ir_dim dims[IR_MAX_RANK];
    int64_t axis = -1;
    entity said = a->given[1] ? a->values[1] : entity_integer(c, -1, a->at);
    if (!argument_tensor(c, x, "x") || !argument_axis(c, &said, tensor_type(c, x)->rank, &axis))
        return entity_broken(a->at);
    const ir_type_data *t = tensor_type(c, x);
    if (axis == 0) {
        diagnose_error(c->report, ERROR_AXIS_RANGE, said.at,
                       "axis 0 has no axis of groups before it");
        note_tensor(c, x);
        return entity_broken(a->at);
    }
    memcpy(dims, t->dims, sizeof(ir_dim) * (size_t)axis);
    dims[axis - 1] = ir_dim_mul(c->m, t->dims[axis - 1], t->dims[axis]);
    memcpy(dims + axis, t->dims + axis + 1, sizeof(ir_dim) * (size_t)(t->rank - (int)axis - 1));
    return emit_reshape(c, x, t->rank - 1, dims, a->at);
}

/* ---- places ---- */

static entity context(checker *c, const call_arguments *a) {
    (void)c;
    return (entity){.kind = ENTITY_CONTEXT, .at = a->at};
}

entity tiles_dim_value(checker *c, ir_dim dim, span at) {
    const ir_named_attr of = {"of", ir_attr_dim_array(c->m, &dim, 1)};
    return emit_one(c, GRAPH_EXTENT, NULL, 0, &of, 1, at);
}

entity tiles_axis_index(checker *c, ir_dim start, ir_dim size, span at) {
    const ir_named_attr iota[] = {{"shape", ir_attr_dim_array(c->m, &size, 1)},
                                  {"axis", ir_attr_int(c->m, 0)}};
    entity sum[2] = {emit_one(c, GRAPH_IOTA, NULL, 0, iota, 2, at), tiles_dim_value(c, start, at)};
    return emit_elementwise(c, GRAPH_ADD, sum, 2, NULL, 0, at);
}

static entity places_of(checker *c, const tile_block *b, span at) {
    return tiles_axis_index(c, tiles_start(c, b), b->size, at);
}

static bool argument_block(checker *c, const entity *e, const char *what) {
    if (e->kind == ENTITY_BLOCK)
        return true;
    diagnose_error(c->report, ERROR_ARGUMENT_KIND, e->at,
                   "%s must be a block, such as T.rows or the index of a loop, not %s", what,
                   entity_describe(e));
    return false;
}

static entity row_index(checker *c, const call_arguments *a) {
    if (!a->given[0])
        return places_of(c, tiles_rows(c), a->at);
    return argument_block(c, &a->values[0], "block") ? places_of(c, a->values[0].block, a->at)
                                                     : entity_broken(a->at);
}

static entity col_index(checker *c, const call_arguments *a) {
    if (!a->given[0])
        return places_of(c, tiles_columns(c), a->at);
    return row_index(c, a);
}

/* ---- ranges ---- */

/* Refuses a bound that is not known before anything runs. */
static bool refuse_bound(checker *c, const entity *e) {
    diagnose_error(c->report, ERROR_TILE_LOOP, e->at,
                   "a loop over blocks has dimensions for its bounds, not %s", entity_describe(e));
    diagnose_help(c->report, "write tile.range(N, 64), with a dimension such as N or x.shape[0]; "
                             "a loop that some values end earlier runs to its end and chooses "
                             "with where()");
    return false;
}

static bool is_tile(const entity *e) {
    return e->kind == ENTITY_TENSOR || e->kind == ENTITY_MEMORY;
}

static entity range_over(checker *c, const call_arguments *a, const entity *extent) {
    enum { SIZE = 1, STOP = 4, START = 5, BOUNDS = 4 };
    tile_block b = {.stops = a->given[STOP], .starts = a->given[START]};
    const entity *bounds[BOUNDS] = {extent, &a->values[SIZE], &a->values[STOP], &a->values[START]};
    for (int i = 0; i < BOUNDS; i++)
        if (is_tile(bounds[i])) {
            refuse_bound(c, bounds[i]);
            return entity_broken(a->at);
        }
    if (!argument_dim(c, extent, &b.extent) || !argument_dim(c, bounds[1], &b.size) ||
        (b.stops && !argument_dim(c, bounds[2], &b.stop)) ||
        (b.starts && !argument_dim(c, bounds[3], &b.from)))
        return entity_broken(a->at);
    if (b.size == 0) {
        diagnose_error(c->report, ERROR_DIMENSION_RANGE, a->values[1].at,
                       "blocks have at least one place");
        return entity_broken(a->at);
    }
    if (!tiles_hints(c, a, 0, &b.hints))
        return entity_broken(a->at);
    return tiles_block_entity(c, ENTITY_RANGE, b, a->at);
}

/* Along the axis so far from the end of a shape. */
static entity range_along(checker *c, const call_arguments *a, uint32_t from_end) {
    const entity *shape = &a->values[0];
    if (shape->kind != ENTITY_TUPLE)
        return range_over(c, a, shape);
    if (shape->count < from_end) {
        diagnose_error(c->report, ERROR_AXIS_RANGE, shape->at, "this shape has %u axes",
                       shape->count);
        return entity_broken(a->at);
    }
    return range_over(c, a, &shape->items[shape->count - from_end]);
}

static entity range_over_extent(checker *c, const call_arguments *a) {
    return range_over(c, a, &a->values[0]);
}

static entity range_n(checker *c, const call_arguments *a) {
    return range_along(c, a, 2);
}

static entity range_k(checker *c, const call_arguments *a) {
    return range_along(c, a, 1);
}

/* ---- attention ---- */

static entity with_axis(checker *c, const entity *x, span at) {
    const ir_type_data *t = tensor_type(c, x);
    ir_dim dims[IR_MAX_RANK];
    memcpy(dims, t->dims, sizeof(ir_dim) * (size_t)t->rank);
    dims[t->rank] = 1;
    return emit_reshape(c, x, t->rank + 1, dims, at);
}

static entity combine(checker *c, int opcode, entity x, entity y, span at) {
    entity both[2] = {x, y};
    return emit_elementwise(c, opcode, both, 2, NULL, 0, at);
}

static entity exp_of(checker *c, entity x, span at) {
    return x.kind == ENTITY_BROKEN ? x : emit_one(c, GRAPH_EXP, &x, 1, NULL, 0, at);
}

static entity row_reduce(checker *c, const entity *x, const char *kind, span at) {
    const ir_named_attr attrs[] = {
        {"kind", ir_attr_string(c->m, kind)},
        {"axes", ir_attr_int_array(c->m, (int64_t[]){tensor_type(c, x)->rank - 1}, 1)},
        {"order", ir_attr_string(c->m, "lanes64")}};
    return emit_one(c, GRAPH_REDUCE, x, 1, attrs, strcmp(kind, "sum") == 0 ? 3 : 2, at);
}

static entity lowest(span at) {
    return (entity){.kind = ENTITY_NUMBER, .at = at, .text = "-inf"};
}

/* x, but 0 where m is -inf. */
static entity zero_where_lowest(checker *c, entity m, entity x, span at) {
    entity least = lowest(at);
    entity choice[3] = {emit_compare(c, "eq", &m, &least, at), entity_integer(c, 0, at), x};
    return emit_elementwise(c, GRAPH_SELECT, choice, 3, NULL, 0, at);
}

/* m = max(s), p = exp(s - m), l = sum(p): docs/numerics.md, "Online softmax". A row of which all is
 * masked has a maximum of -inf; there 0 takes its place, so that p is 0 and not a NaN. */
static entity softmax_online(checker *c, const call_arguments *a) {
    entity out = entity_tuple(c, 3, a->at);
    if (!argument_tensor(c, &a->values[0], "s"))
        return entity_broken(a->at);
    entity m = row_reduce(c, &a->values[0], "max", a->at);
    if (m.kind == ENTITY_BROKEN)
        return m;
    entity base = zero_where_lowest(c, m, m, a->at);
    if (base.kind == ENTITY_BROKEN)
        return base;
    base = with_axis(c, &base, a->at);
    out.items[0] = exp_of(c, combine(c, GRAPH_SUB, a->values[0], base, a->at), a->at);
    if (out.items[0].kind == ENTITY_BROKEN)
        return out.items[0];
    out.items[1] = m;
    out.items[2] = row_reduce(c, &out.items[0], "sum", a->at);
    return out;
}

/* exp(m - m'), 0 where m is -inf, whatever m' is. */
static entity weight(checker *c, entity m, entity next, span at) {
    entity e = exp_of(c, combine(c, GRAPH_SUB, m, next, at), at);
    return zero_where_lowest(c, m, e, at);
}

static entity softmax_accumulate(checker *c, const call_arguments *a) {
    enum { ACC, M, L, P, V, M_C, L_C };
    const entity *x = a->values;
    entity out = entity_tuple(c, 3, a->at);
    if (!all_tensors(c, a))
        return entity_broken(a->at);
    call_arguments product = *a;
    product.values[0] = x[P];
    product.values[1] = x[V];
    /* Exact: every narrow float is an f32. */
    if (tensor_type(c, &x[V])->element != tensor_type(c, &x[P])->element)
        product.values[1] = policy_convert(c, &x[V], tensor_type(c, &x[P])->element, NULL, a->at);
    entity next = combine(c, GRAPH_MAXIMUM, x[M], x[M_C], a->at), pv = dot(c, &product);
    if (next.kind == ENTITY_BROKEN || pv.kind == ENTITY_BROKEN)
        return entity_broken(a->at);
    entity old = weight(c, x[M], next, a->at), new = weight(c, x[M_C], next, a->at);
    entity fused[3] = {x[L], old, combine(c, GRAPH_MUL, x[L_C], new, a->at)};
    entity l = emit_elementwise(c, GRAPH_FMA, fused, 3, NULL, 0, a->at);
    if (l.kind == ENTITY_BROKEN)
        return l;
    entity kept = combine(c, GRAPH_MUL, x[ACC], with_axis(c, &old, a->at), a->at);
    entity added = combine(c, GRAPH_MUL, pv, with_axis(c, &new, a->at), a->at);
    out.items[0] = combine(c, GRAPH_ADD, kept, added, a->at);
    out.items[1] = next;
    out.items[2] = l;
    return out.items[0].kind == ENTITY_BROKEN ? out.items[0] : out;
}

/* Row i sees the columns up to i. */
static entity mask_causal(checker *c, const call_arguments *a) {
    if (!all_tensors(c, a))
        return entity_broken(a->at);
    entity rows = with_axis(c, &a->values[1], a->at);
    entity seen = emit_compare(c, "ge", &rows, &a->values[2], a->at);
    entity choice[3] = {seen, a->values[0], lowest(a->at)};
    return emit_elementwise(c, GRAPH_SELECT, choice, 3, NULL, 0, a->at);
}

/* Statements of an instance happen in their order, so there is nothing to wait for. */
static entity barrier(checker *c, const call_arguments *a) {
    (void)c;
    return (entity){.kind = ENTITY_NONE, .at = a->at};
}

const special_function tile_functions[] = {
    {"context", "", context,
     "the program instance: sizes of tiles, and the blocks that are its own", "Context"},
    {"load",
     "x, rows=None, cols=None, at=None, shift=None, other=0, vector=None, prefetch=None, "
     "stages=None, swizzle=None, space=None",
     tiles_load,
     "a tile of the last two axes of x (of the only one): at a block, or all of the axis", NULL},
    {"zeros", "shape, dtype=f32", zeros, "a tile of zeros", NULL},
    {"full", "shape, value, dtype=f32", full, "a tile of one number", NULL},
    {"dot", "x, y", dot, "x @ y; products of narrow floats are f32", NULL},
    {"mma", "x, y, acc", mma, "acc + x @ y", NULL},
    {"transpose", "x", transpose, "the last two axes swapped", NULL},
    {"broadcast", "x, shape", special_broadcast_to,
     "repeats axes of length 1 and adds leading ones", NULL},
    {"cast", "x, to", special_cast, "conversion to an element type with one rounding", NULL},
    {"reduce", "x, kind, axis=-1, keepdims=False", reduce,
     "over an axis: \"sum\", \"max\" or \"min\", as kind says", NULL},
    {"rsqrt", "x", rsqrt, "1 / sqrt(x), also of a number or a dimension", NULL},
    {"sqrt", "x", square_root, "the square root, also of a number or a dimension", NULL},
    {"row_index", "block=None", row_index, "i32: the places of a block, of T.rows if none is given",
     NULL},
    {"col_index", "block=None", col_index, "i32: the places of a block, of T.cols if none is given",
     NULL},
    {"range", "extent, size, prefetch=None, stages=None, stop=None, start=None", range_over_extent,
     "blocks of so many places of a length, those that begin at `start` or behind it, before "
     "`stop`",
     "Iterator[Block]"},
    {"range_n", "shape, size, prefetch=None, stages=None, stop=None, start=None", range_n,
     "blocks of the last axis but one of a shape, as rows of keys", "Iterator[Block]"},
    {"range_k", "shape, size, prefetch=None, stages=None, stop=None, start=None", range_k,
     "blocks of the last axis of a shape, as steps of a product", "Iterator[Block]"},
    {"softmax_online", "s", softmax_online, "p, m, l of a block of scores",
     "tuple[Tensor, Tensor, Tensor]"},
    {"softmax_accumulate", "acc, m, l, p, v, m_c, l_c", softmax_accumulate,
     "acc, m, l with one block more", "tuple[Tensor, Tensor, Tensor]"},
    {"mask_causal", "s, rows, cols", mask_causal, "-inf where the column is greater than the row",
     NULL},
    {"barrier", "", barrier, "nothing: statements of an instance happen in their order", "None"},
    {"store", "out, value, rows=None, cols=None", tiles_store,
     "gives this instance's part of a result", "None"},
    {"group", "x, size, axis=-1", group,
     "an axis as groups of so many places: [.., groups, size, ..]", NULL},
    {"ungroup", "x, axis=-1", ungroup, "the places of two axes side by side again", NULL},
    {"dropout", "x, p, seed=0, step=0, rows=None, cols=None", special_dropout,
     "0 with the chance p, else x / (1 - p), drawn for the places of x in the tensors that it was "
     "made from",
     NULL},
    {"uniform", "shape, lo=0, hi=1, seed=0, step=0, rows=None, cols=None", special_uniform,
     "f32 from lo to hi, drawn for the places rows and cols", NULL},
    {"normal", "shape, mean=0, stddev=1, seed=0, step=0, rows=None, cols=None", special_normal,
     "f32 of the normal distribution, likewise", NULL},
    {"bernoulli", "shape, p=0.5, seed=0, step=0, rows=None, cols=None", special_bernoulli,
     "bool: True with the chance p, likewise", NULL},
};
const size_t tile_function_count = sizeof tile_functions / sizeof *tile_functions;
