/* call.c - which function a call means: a special one, an operation of the table, or nothing that
 * is known. */
#include <string.h>

#include "check/effects.h"
#include "check/mesh.h"
#include "check/settings.h"
#include "check/transforms.h"

const special_function special_functions[] = {
    {"sum", "x, axis=None, keepdims=False, order=\"lanes64\"", special_sum,
     "the sum over one axis, a tuple of axes, or all; floats in the order lanes64, exact, or a "
     "written one",
     NULL},
    {"max", "x, axis=None, keepdims=False", special_max,
     "the greatest element over one axis, a tuple of axes, or all; of two values: maximum(x, y)",
     NULL},
    {"min", "x, axis=None, keepdims=False", special_min,
     "the least element over one axis, a tuple of axes, or all; of two values: minimum(x, y)",
     NULL},
    {"prod", "x, axis=None, keepdims=False", special_prod,
     "the product over one axis, a tuple of axes, or all; floats in the order lanes64", NULL},
    {"all", "x, axis=None, keepdims=False", special_all,
     "bool: do all elements hold, over one axis, a tuple of axes, or all?", NULL},
    {"any", "x, axis=None, keepdims=False", special_any,
     "bool: does any element hold, over one axis, a tuple of axes, or all?", NULL},
    {"mean", "x, axis=-1, keepdims=False, order=\"lanes64\"", special_mean,
     "the mean over one axis, by a sum in the order lanes64 or exact", NULL},
    {"logsumexp", "x, axis=-1, keepdims=False", special_logsumexp,
     "log of the sum of exponentials over one axis", NULL},
    {"argmax", "x, axis=-1, keepdims=False", special_argmax,
     "i32: the first position of the greatest element along one axis, of the first NaN where there "
     "is one",
     NULL},
    {"argmin", "x, axis=-1, keepdims=False", special_argmin,
     "i32: the first position of the least element along one axis, of the first NaN where there is "
     "one",
     NULL},
    {"cumsum", "x, axis=-1, reverse=False", special_cumsum,
     "running sums along one axis: element i is the sum of the elements 0 to i; in reverse, of the "
     "last down to i",
     NULL},
    {"cumprod", "x, axis=-1, reverse=False", special_cumprod, "running products, likewise", NULL},
    {"cummax", "x, axis=-1, reverse=False", special_cummax, "the greatest so far, likewise", NULL},
    {"cummin", "x, axis=-1, reverse=False", special_cummin, "the least so far, likewise", NULL},
    {"argsort", "x, axis=-1, descending=False", special_argsort,
     "i32: the positions of the elements along one axis, in order; equal ones as they stand, a NaN "
     "above all others",
     NULL},
    {"sort", "x, axis=-1, descending=False", special_sort, "the elements along one axis, in order",
     NULL},
    {"topk", "x, k", special_topk,
     "the k greatest elements along the last axis, the greatest first, and their positions",
     "tuple[Tensor, Tensor]"},
    {"where", "condition, x, y", special_where, "x where the condition holds, else y", NULL},
    {"clip", "x, lo, hi", special_clip, "minimum(maximum(x, lo), hi)", NULL},
    {"sign", "x", special_sign, "1, -1, or x itself where it is a zero or a NaN", NULL},
    {"isnan", "x", special_isnan, "bool: is the element a NaN?", NULL},
    {"isfinite", "x", special_isfinite, "bool: is the element neither a NaN nor an infinity?",
     NULL},
    {"cast", "x, to", special_cast,
     "conversion to an element type with one rounding; policies of the type say more", NULL},
    {"bitcast", "x, to", special_bitcast,
     "the same bits as another type of that size: i32 and f32, i64 and f64", NULL},
    {"reshape", "x, shape", special_reshape,
     "the same elements in row-major order; one entry of the shape may be -1", NULL},
    {"transpose", "x, permutation=None", special_transpose,
     "result axis i is axis permutation[i] of x; a matrix needs none", NULL},
    {"broadcast_to", "x, shape", special_broadcast_to,
     "repeats axes of length 1 and adds leading ones", NULL},
    {"concat", "xs, axis=0", special_concat, "joins a list of tensors along an axis", NULL},
    {"stack", "xs, axis=0", special_stack, "joins a list of tensors along a new axis of the result",
     NULL},
    {"split", "x, parts, axis=0", special_split,
     "so many equal parts, or, with a tuple, parts of these lengths", "tuple[Tensor, ...]"},
    {"pad", "x, widths, value=0", special_pad,
     "value around x; widths has (before, after) for each axis", NULL},
    {"einsum", "indices, x, y=None", special_einsum,
     "a sum of products by the names of the axes: einsum(\"bqhd,bkhd->bhqk\", q, k)", NULL},
    {"iota", "shape, axis=0", special_iota, "i32 positions along an axis", NULL},
    {"arange", "n", special_arange, "i32: 0, 1, ... n - 1", NULL},
    {"full", "shape, value, dtype", special_full, "a tensor of one value", NULL},
    {"zeros", "shape, dtype", special_zeros, "a tensor of zeros", NULL},
    {"ones", "shape, dtype", special_ones, "a tensor of ones", NULL},
    {"scan", "f, carry, xs=None, length=None, reverse=False", special_scan,
     "f(carry, x) for each part x of xs along its first axis, in order, gives the next carry and a "
     "part y: the last carry, and all y stacked",
     "tuple[Any, Any]"},
    {"map", "f, xs", special_map, "f(x) for each part x of xs along its first axis, stacked",
     "Any"},
    {"reduce", "f, x, init, axis=-1", special_reduce,
     "f(so_far, element) along one axis, from init on, in order; f is by element", "Any"},
    {"dynamic_slice", "x, starts, sizes", special_dynamic_slice,
     "a part of x of these sizes, from one i32 for each axis on, which are clamped so that it lies "
     "inside",
     NULL},
    {"dynamic_update", "x, update, starts", special_dynamic_update,
     "x with a part in place of its own, from one i32 for each axis on, which are clamped so that "
     "it lies inside",
     NULL},
    {"scatter", "x, indices, updates, mode=\"set\", axis=0", special_scatter,
     "x with updates at i32 indices along an axis, one after the other: in place of the elements, "
     "or, by \"add\", \"max\", \"min\" or \"mul\", combined with them",
     NULL},
    {"grad", "f, argnums=0, has_aux=False", special_grad,
     "a function: the derivative of f, which gives one float, by an argument or several, by number "
     "or name; has_aux: f gives a pair, of which the second part comes out as it is",
     "Any"},
    {"value_and_grad", "f, argnums=0, has_aux=False", special_value_and_grad,
     "a function: what f gives, and its derivative", "Any"},
    {"vjp", "f, primals", special_vjp,
     "f(*primals), and a function that makes cotangents of the primals of those of the result",
     "tuple[Any, Any]"},
    {"jvp", "f, primals, tangents", special_jvp,
     "f(*primals), and its tangent for tangents of the primals", "tuple[Any, Any]"},
    {"hvp", "f, primals, tangents", special_hvp,
     "the tangent of the gradient of f, which gives one float: the Hessian by a vector", "Any"},
    {"jacfwd", "f, argnums=0", special_jacfwd,
     "a function: all derivatives of the result by one argument, forward", "Any"},
    {"jacrev", "f, argnums=0", special_jacrev, "a function: the same in reverse", "Any"},
    {"vmap", "f, in_axes=0, out_axes=0", special_vmap,
     "a function: f of each part along an axis of its arguments (None: of none), stacked", "Any"},
    {"pmap", "f, axis_name, in_axes=0, out_axes=0", special_pmap,
     "the same, and f may hold collectives over the axis of this name, whose shards may lie on "
     "several ranks",
     "Any"},
    {"shard_map", "f, mesh, in_specs, out_specs", special_shard_map,
     "a function: f of the shards of its arguments, which lie along the axes of the mesh as their "
     "specs say; its results are put together by theirs",
     "Any"},
    {"mesh", "shape, names", special_mesh,
     "a mesh of shards: so many along each axis, and the axes' names", "Any"},
    {"PartitionSpec", "a=None, b=None, c=None, d=None, e=None, f=None", special_partition_spec,
     "the axes of a mesh that each dimension is cut along, or None", "Any"},
    {"sharding", "mesh, a=None, b=None, c=None, d=None, e=None, f=None", special_sharding,
     "how a value lies on a mesh: the axes that each dimension is cut along, or None; of an input "
     "or "
     "output as Tensor[...] @ sharding(...), of a value by reshard()",
     "Any"},
    {"reshard", "x, sharding", special_reshard,
     "x, of which each rank has the part that the sharding says", NULL},
    {"all_reduce", "x, axis, op=\"sum\", order=\"tree\"", special_all_reduce,
     "the sum (or mean, max, min, prod) over the shards along an axis of the mesh, or several; a "
     "sum "
     "in the order tree, or exact",
     NULL},
    {"all_gather", "x, axis, dim=0", special_all_gather,
     "what all shards have, one behind the other along a dimension", NULL},
    {"reduce_scatter", "x, axis, dim=0, order=\"tree\"", special_reduce_scatter,
     "this shard's part along a dimension of the sum over the shards", NULL},
    {"shard_slice", "x, axis, dim=0", special_shard_slice,
     "this shard's part along a dimension of what all shards have alike", NULL},
    {"all_to_all", "x, axis, split=0, concat=0", special_all_to_all,
     "a part along a dimension for each shard; what comes stands one behind the other along "
     "another",
     NULL},
    {"permute", "x, axis, pairs", special_permute,
     "x of the shard that this one is paired with: (from, to); zeros where it is `to` of none",
     NULL},
    {"broadcast", "x, axis, root=0", special_broadcast, "x of one shard", NULL},
    {"axis_index", "axis", special_axis_index, "i32: the number of this shard along an axis", NULL},
    {"axis_size", "axis", special_axis_size, "the number of shards along an axis", NULL},
    {"checkpoint", "f, keep=\"nothing\", budget=0", special_checkpoint,
     "a function: f, whose derivative computes its values again, but for what it keeps "
     "(\"nothing\", \"dots\" or \"everything\"); budget: or for as much as leaves the room of "
     "the whole program within so many bytes",
     "Any"},
    {"dropout", "x, p, seed=0, step=0", special_dropout,
     "0 with the chance p, a constant, else x / (1 - p), drawn for the place of each element",
     NULL},
    {"uniform", "shape, lo=0, hi=1, seed=0, step=0", special_uniform,
     "f32 from lo to hi, drawn for the place of each element", NULL},
    {"normal", "shape, mean=0, stddev=1, seed=0, step=0", special_normal,
     "f32 of the normal distribution, likewise", NULL},
    {"bernoulli", "shape, p=0.5, seed=0, step=0", special_bernoulli,
     "bool: True with the chance p, a number or a tensor, likewise", NULL},
    {"categorical", "logits, axis=-1, seed=0, step=0", special_categorical,
     "i32: a position along one axis, drawn with the chance softmax(logits)", NULL},
    {"fold_in", "step, i", special_fold_in,
     "i32: another step, made of a step and a number: those of one step and all i differ", NULL},
};
const size_t special_function_count = sizeof(special_functions) / sizeof(special_functions[0]);

const function_alias function_aliases[] = {
    {"take", "gather"},
    {"sigmoid", "logistic"},
    {"dropout_in_kernel", "dropout"},
    {"remat", "checkpoint"},
};
const size_t function_alias_count = sizeof(function_aliases) / sizeof(function_aliases[0]);

const special_function *special_function_named(const char *name) {
    for (size_t i = 0; i < special_function_count; i++)
        if (strcmp(special_functions[i].name, name) == 0)
            return &special_functions[i];
    return NULL;
}

static const char *meant(const char *name) {
    for (size_t i = 0; i < function_alias_count; i++)
        if (strcmp(function_aliases[i].alias, name) == 0)
            return function_aliases[i].name;
    return name;
}

int operation_named(const char *name) {
    for (int op = 0; op < GRAPH_OP_COUNT; op++)
        if (operation_is_function(op) &&
            strcmp(op_info_get(op)->name + strlen("tessera."), name) == 0)
            return op;
    return -1;
}

static size_t all_names(const char **out) {
    size_t count = 0;
    for (size_t i = 0; i < special_function_count; i++)
        out[count++] = special_functions[i].name;
    for (size_t i = 0; i < function_alias_count; i++)
        out[count++] = function_aliases[i].alias;
    for (int op = 0; op < GRAPH_OP_COUNT; op++)
        if (operation_is_function(op))
            out[count++] = op_info_get(op)->name + strlen("tessera.");
    return count;
}

static const struct {
    const char *name, *instead;
} elsewhere[] = {
#define ELSEWHERE(name, instead) {name, instead},
#include "check/elsewhere.def"
};

const char *call_instead_of(const char *name) {
    for (size_t i = 0; i < sizeof(elsewhere) / sizeof(elsewhere[0]); i++)
        if (strcmp(elsewhere[i].name, name) == 0)
            return elsewhere[i].instead;
    return NULL;
}

/* One of at least four letters that is part of the word, or that the word is part of: softmax for
 * masked_softmax, conv2d for conv. The longest; NULL where there is none. */
static const char *related(const char *word, const char *const *names, size_t count) {
    const char *best = NULL;
    for (size_t i = 0; i < count; i++) {
        bool whole = strlen(names[i]) >= 4 && strstr(word, names[i]),
             part = strlen(word) >= 4 && strstr(names[i], word);
        if ((whole || part) && (!best || strlen(names[i]) > strlen(best)))
            best = names[i];
    }
    return best;
}

static entity unknown_function(checker *c, const char *name, span at) {
    const char *known[GRAPH_OP_COUNT + 64];
    size_t count = all_names(known);
    if (c->module && module_lacks(c->module, name))
        return entity_broken(at);
    diagnose_error(c->report, ERROR_UNKNOWN_FUNCTION, at, "unknown function '%.60s'", name);
    if (call_instead_of(name)) {
        diagnose_help(c->report, "write %s", call_instead_of(name));
        return entity_broken(at);
    }
    if (modules_library_has(name)) {
        diagnose_help(c->report, "write from tessera.stdlib import %s", name);
        return entity_broken(at);
    }
    const char *similar = NULL;
    if (!diagnose_nearest(c->report, name, known, count))
        similar = related(name, known, count);
    if (similar)
        diagnose_help(c->report, "there is '%s'", similar);
    return entity_broken(at);
}

/* Names and required-ness from "x, axis=None". */
static void read_signature(const special_function *f, call_arguments *a) {
    for (const char *p = f->signature; *p && a->count < CALL_MAX_ARGUMENTS;) {
        size_t name = strcspn(p, "=,"), whole = strcspn(p, ",");
        memcpy(a->names[a->count], p, name < 31 ? name : 31);
        a->required[a->count++] = name == whole;
        p += whole;
        p += strspn(p, ", ");
    }
}

call_arguments *call_bind(checker *c, const special_function *f, const node *n) {
    call_arguments *a = ARENA_NEW(&c->memory, call_arguments, 1);
    a->function = f->name;
    a->signature = f->signature;
    a->at = n->at;
    read_signature(f, a);
    return bind_arguments(c, n, a) ? a : NULL;
}

entity call_special(checker *c, const special_function *f, const node *n) {
    const call_arguments *a = call_bind(c, f, n);
    return a ? f->build(c, a) : entity_broken(n->at);
}

static bool is_function(const char *name) {
    return special_function_named(meant(name)) || operation_named(meant(name)) >= 0;
}

/* A name without a meaning here is most likely a module of Python's. */
static bool is_foreign_module(checker *c, const node *n) {
    return n->kind == NODE_NAME && !scope_find(c, n->text);
}

/* np.exp(x), x.sum(), x.astype(f32), tl.load(x). */
static entity refuse_callee(checker *c, const node *n) {
    const node *callee = n->left;
    if (callee->kind != NODE_ATTRIBUTE) {
        diagnose_error(c->report, ERROR_NOT_CALLABLE, callee->at, "only functions can be called");
        return entity_broken(n->at);
    }
    const bool module = is_foreign_module(c, callee->left);
    if (module)
        diagnose_error(c->report, ERROR_METHOD, callee->at,
                       "'%.40s' is no name in a kernel, whose functions belong to no module",
                       callee->left->text);
    else
        diagnose_error(c->report, ERROR_METHOD, callee->at, "tensors have no methods");
    if (call_instead_of(callee->text))
        diagnose_help(c->report, "write %s", call_instead_of(callee->text));
    else if (is_function(callee->text))
        diagnose_help(c->report, "write %s(%s)", callee->text, module ? "..." : "x, ...");
    else
        diagnose_help(c->report, "there is no function '%.40s' either; docs/functions.md lists all",
                      callee->text);
    return entity_broken(n->at);
}

entity check_builtin(checker *c, const node *n) {
    const char *name = n->left->text;
    const special_function *special = special_function_named(meant(name));
    if (special)
        return call_special(c, special, n);
    int opcode = operation_named(meant(name));
    return opcode >= 0 ? call_operation(c, opcode, name, n)
                       : unknown_function(c, name, n->left->at);
}

/* value.NAME(...), of a record. */
static entity check_method(checker *c, const node *n) {
    const node *of = n->left->kind == NODE_ATTRIBUTE ? n->left->left : NULL;
    const local_name *local = of && of->kind == NODE_NAME ? scope_find(c, of->text) : NULL;
    const bool other =
        !of || (of->kind == NODE_NAME && (!local || local->value.kind != ENTITY_RECORD));
    if (other)
        return refuse_callee(c, n);
    entity self = check_expression(c, of);
    return self.kind == ENTITY_RECORD   ? record_method(c, &self, n)
           : self.kind == ENTITY_BROKEN ? self
                                        : refuse_callee(c, n);
}

entity call_operation_of(checker *c, const node *n) {
    const node *of = n->kind == NODE_ATTRIBUTE ? n->left : NULL;
    entity out = {.kind = ENTITY_NONE, .at = n->at};
    if (!of || of->kind != NODE_NAME || !modules_is_operations(of->text) || scope_find(c, of->text))
        return out;
    out.kind = ENTITY_FUNCTION;
    out.text = n->text;
    out.function =
        is_function(meant(n->text)) ? NULL : modules_library_function(c->source, n->text);
    return out;
}

/* Program instances have the sizes of their own kernel. */
static bool refuse_schedule(checker *c, const entity *f) {
    const bool called = f->function && callable_is_of_tiles(f->function);
    if (!f->schedule || (!c->tiles && !called))
        return false;
    diagnose_error(c->report, ERROR_SCHEDULE_WORD, f->at, "%s a kernel of tiles %s",
                   called ? "a call of" : "in",
                   called ? "has no schedule of its own" : "a call has no schedule of its own");
    diagnose_help(c->report, "write @kernel.schedule(Schedule(block=(64, 64))) on the kernel");
    return true;
}

entity call_function(checker *c, const entity *f, const node *n) {
    const uint32_t outer = c->settings.now;
    if (refuse_schedule(c, f))
        return entity_broken(n->at);
    if (f->transform)
        return transform_call(c, f, n);
    node call = *n, callee = *n->left;
    callee.kind = NODE_NAME;
    callee.text = f->text;
    call.left = &callee;
    if (f->schedule)
        c->settings.of_call = settings_schedule(c, f->schedule, f->at);
    entity e = f->function ? function_call(c, f->function, &call) : check_builtin(c, &call);
    c->settings.now = outer;
    c->settings.of_call = 0;
    return e;
}

/* f.with_WORD(...)(...) */
static entity call_scheduled(checker *c, const node *n) {
    entity f = schedule_read(c, n->left);
    return f.kind == ENTITY_FUNCTION ? call_function(c, &f, n) : entity_broken(n->at);
}

entity check_call(checker *c, const node *n) {
    if (tiles_is_call(c, n))
        return tiles_call(c, n);
    if (schedule_is_function(c, n->left))
        return call_scheduled(c, n);
    if (schedule_is_function(c, n))
        return schedule_read(c, n);
    const entity operation = call_operation_of(c, n->left);
    if (operation.kind == ENTITY_FUNCTION)
        return call_function(c, &operation, n);
    if (n->left->kind == NODE_CALL && n->left->left->kind != NODE_ATTRIBUTE) {
        const entity made = check_expression(c, n->left);
        if (made.kind == ENTITY_FUNCTION || made.kind == ENTITY_BROKEN)
            return made.kind == ENTITY_BROKEN ? made : call_function(c, &made, n);
    }
    if (n->left->kind != NODE_NAME)
        return effects_is_call(c, n) ? effects_call(c, n) : check_method(c, n);
    const char *name = n->left->text;
    const local_name *local = scope_find(c, name);
    if (local && local->value.kind == ENTITY_FUNCTION)
        return call_function(c, &local->value, n);
    if (local && local->value.kind == ENTITY_BROKEN && c->report->reported)
        return local->value; /* told where it was made */
    if (local) {
        diagnose_error(
            c->report, ERROR_NOT_CALLABLE, n->left->at, "'%s' is %s here, and cannot be called",
            name, local->value.kind == ENTITY_BROKEN ? "a name" : entity_describe(&local->value));
        diagnose_note(c->report, local->at, "defined here");
        return entity_broken(n->at);
    }
    source_module *from = module_of_name(c->module, &name);
    callable *f = from ? module_function(from, name) : NULL;
    record_type *r = from ? module_record(from, name) : NULL;
    if (r)
        return record_call(c, r, n);
    if (!f && effects_is_call(c, n))
        return effects_call(c, n);
    if (!f && strcmp(n->left->text, "replace") == 0)
        return record_replace(c, n);
    if (f && (!f->is_kernel || from != c->module))
        return function_call(c, f, n);
    return f && !is_function(n->left->text) ? function_call(c, f, n) : check_builtin(c, n);
}
