/* collective.c - meshes, and collectives over the shards of their axes: all_reduce, all_gather,
 * reduce_scatter, all_to_all, permute, broadcast, axis_index and axis_size.
 *
 * A collective names an axis of the shard_map() or pmap() around it. */
#include <string.h>

#include "check/mesh.h"
#include "check/transforms.h"

/* ---- meshes ---- */

static bool is_count(const entity *e) {
    return e->kind == ENTITY_NUMBER && e->is_integer && e->integer >= 1 &&
           e->integer <= MESH_SHARDS_MAX;
}

/* One of both, or as many of the one as of the other. */
static bool pair_up(const call_arguments *a, const entity **shape, const entity **names,
                    uint32_t *count) {
    const bool several = a->values[0].kind == ENTITY_TUPLE;
    *shape = several ? a->values[0].items : &a->values[0];
    *names = several ? a->values[1].items : &a->values[1];
    *count = several ? a->values[0].count : 1;
    const bool good = several ? a->values[1].kind == ENTITY_TUPLE && *count >= 1 &&
                                    a->values[1].count == *count && *count <= MESH_AXES_MAX
                              : true;
    for (uint32_t i = 0; i < *count && good; i++)
        if (!is_count(&(*shape)[i]) || (*names)[i].kind != ENTITY_STRING || !(*names)[i].text[0])
            return false;
    return good;
}

entity special_mesh(checker *c, const call_arguments *a) {
    const entity *shape, *names;
    uint32_t count;
    bool good = pair_up(a, &shape, &names, &count);
    for (uint32_t i = 0; good && i < count; i++)
        for (uint32_t k = 0; good && k < i; k++)
            good = strcmp(names[i].text, names[k].text) != 0;
    if (!good) {
        diagnose_error(c->report, ERROR_MESH, a->at,
                       "a mesh has up to %d axes, each with a name of its own and 1 to %d shards",
                       MESH_AXES_MAX, MESH_SHARDS_MAX);
        diagnose_help(c->report, "mesh((4, 2), (\"dp\", \"tp\")), or mesh(4, \"dp\")");
        return entity_broken(a->at);
    }
    entity out = {.kind = ENTITY_MESH, .at = a->at, .count = count};
    const char **words = ARENA_NEW(&c->memory, const char *, count);
    out.items = arena_copy(&c->memory, shape, count * sizeof *shape);
    for (uint32_t i = 0; i < count; i++)
        words[i] = arena_strdup(&c->memory, names[i].text);
    out.names = words;
    return out;
}

static bool is_entry(const entity *e) {
    bool good = e->kind == ENTITY_NONE || e->kind == ENTITY_STRING;
    for (uint32_t i = 0; e->kind == ENTITY_TUPLE && i < e->count; i++) {
        good = e->items[i].kind == ENTITY_STRING;
        if (!good)
            break;
    }
    return good;
}

bool mesh_entries(checker *c, const call_arguments *a, int from, const char *what, entity *spec) {
    spec->items = ARENA_NEW(&c->memory, entity, (size_t)a->count + 1);
    for (int i = from; i < a->count; i++) {
        entity *item = &spec->items[i - from];
        *item = a->given[i] ? a->values[i] : (entity){.kind = ENTITY_NONE, .at = a->at};
        if (a->given[i])
            spec->count = (uint32_t)(i - from + 1);
        if (!is_entry(item)) {
            diagnose_error(c->report, ERROR_MESH, item->at,
                           "an entry of %s is the name of an axis of the mesh, a tuple of such, or "
                           "None, not %s",
                           what, entity_describe(item));
            return false;
        }
    }
    return true;
}

entity special_partition_spec(checker *c, const call_arguments *a) {
    entity out = {.kind = ENTITY_SPEC, .at = a->at};
    return mesh_entries(c, a, 0, "PartitionSpec()", &out) ? out : entity_broken(a->at);
}

/* ---- the axis ---- */

static const mesh_axis *find_axis(const checker *c, const char *name) {
    const mesh_axis *a = c->axes;
    while (a && strcmp(a->name, name) != 0)
        a = a->around;
    return a;
}

static const mesh_axis *axis_of(checker *c, const call_arguments *a, const entity *e) {
    const mesh_axis *found = e->kind == ENTITY_STRING ? find_axis(c, e->text) : NULL;
    if (found)
        return found;
    if (e->kind != ENTITY_STRING) {
        diagnose_error(c->report, ERROR_COLLECTIVE, e->at,
                       "%s() takes the name of an axis of the mesh, not %s", a->function,
                       entity_describe(e));
    } else {
        diagnose_error(c->report, ERROR_COLLECTIVE, e->at,
                       "%s() is over the axis '%.40s', and no shard_map() or pmap() around it has "
                       "one of this name",
                       a->function, e->text);
        for (const mesh_axis *x = c->axes; x; x = x->around)
            diagnose_help(c->report, "there is '%s'", x->name);
    }
    return NULL;
}

/* Parameters: an operation over one axis, with attributes behind its two. */
static entity emit_over(checker *c, int opcode, const mesh_axis *axis, const entity *x,
                        const ir_named_attr *more, uint32_t count, span at) {
    ir_named_attr attrs[4] = {{"axis", ir_attr_string(c->m, axis->name)},
                              {"count", ir_attr_dim(c->m, axis->count)}};
    for (uint32_t i = 0; i < count; i++)
        attrs[2 + i] = more[i];
    return emit_one(c, opcode, x, x ? 1 : 0, attrs, 2 + count, at);
}

/* Over one axis, or over those of a tuple, the last one first. */
static entity over_all(checker *c, const call_arguments *a, int opcode, const ir_named_attr *more,
                       uint32_t count) {
    const entity *axes = &a->values[1];
    entity x = a->values[0];
    const uint32_t n = axes->kind == ENTITY_TUPLE ? axes->count : 1;
    for (uint32_t i = n; i > 0 && x.kind != ENTITY_BROKEN; i--) {
        const mesh_axis *axis =
            axis_of(c, a, axes->kind == ENTITY_TUPLE ? &axes->items[i - 1] : axes);
        x = axis ? emit_over(c, opcode, axis, &x, more, count, a->at) : entity_broken(a->at);
    }
    return x;
}

static entity dim_attr(checker *c, const call_arguments *a, int i, const char *name,
                       ir_named_attr *out) {
    int64_t axis = 0;
    const entity given = a->given[i] ? a->values[i] : entity_integer(c, 0, a->at);
    if (!argument_tensor(c, &a->values[0], "x") ||
        !argument_axis(c, &given, tensor_type(c, &a->values[0])->rank, &axis))
        return entity_broken(a->at);
    *out = (ir_named_attr){name, ir_attr_int(c->m, axis)};
    return a->values[0];
}

/* "tree" where none is given; the rule of types says which there are. */
static bool order_attr(checker *c, const call_arguments *a, int i, ir_named_attr *out) {
    const bool given = a->given[i];
    if (given && a->values[i].kind != ENTITY_STRING) {
        diagnose_error(c->report, ERROR_UNKNOWN_CHOICE, a->values[i].at,
                       "order of %s() is \"tree\" or \"exact\", not %s", a->function,
                       entity_describe(&a->values[i]));
        return false;
    }
    *out = (ir_named_attr){"fold", ir_attr_string(c->m, given ? a->values[i].text : "tree")};
    return true;
}

/* ---- each of them ---- */

entity special_all_reduce(checker *c, const call_arguments *a) {
    static const char *const ops[] = {"sum", "mean", "max", "min", "prod"};
    const char *op = "sum";
    bool known = !a->given[2];
    if (!argument_tensor(c, &a->values[0], "x"))
        return entity_broken(a->at);
    for (int i = 0; a->given[2] && a->values[2].kind == ENTITY_STRING && i < 5; i++)
        if (strcmp(a->values[2].text, ops[i]) == 0) {
            op = ops[i];
            known = true;
        }
    if (!known) {
        diagnose_error(c->report, ERROR_UNKNOWN_CHOICE, a->values[2].at,
                       "op of all_reduce() is none of its choices");
        diagnose_help(c->report, "\"sum\", \"mean\", \"max\", \"min\" or \"prod\"");
        return entity_broken(a->at);
    }
    const bool mean = strcmp(op, "mean") == 0;
    ir_named_attr attrs[2] = {{"kind", ir_attr_string(c->m, mean ? "sum" : op)}};
    if (!order_attr(c, a, 3, &attrs[1]))
        return entity_broken(a->at);
    entity out = over_all(c, a, GRAPH_ALL_REDUCE, attrs, 2);
    for (uint32_t i = 0; mean && out.kind != ENTITY_BROKEN; i++) {
        const entity *axes = &a->values[1];
        const bool several = axes->kind == ENTITY_TUPLE;
        if (i >= (several ? axes->count : 1))
            break;
        entity count =
            entity_dim(c, find_axis(c, (several ? &axes->items[i] : axes)->text)->count, a->at);
        out = check_binary(c, '/', &out, &count, a->at);
    }
    return out;
}

static entity along_dim(checker *c, const call_arguments *a, int opcode) {
    ir_named_attr dim;
    const entity x = dim_attr(c, a, 2, "dim", &dim);
    return x.kind == ENTITY_BROKEN ? x : over_all(c, a, opcode, &dim, 1);
}

entity special_all_gather(checker *c, const call_arguments *a) {
    return along_dim(c, a, GRAPH_ALL_GATHER);
}

entity special_reduce_scatter(checker *c, const call_arguments *a) {
    ir_named_attr attrs[2];
    if (dim_attr(c, a, 2, "dim", &attrs[0]).kind == ENTITY_BROKEN ||
        !order_attr(c, a, 3, &attrs[1]))
        return entity_broken(a->at);
    return over_all(c, a, GRAPH_REDUCE_SCATTER, attrs, 2);
}

entity special_shard_slice(checker *c, const call_arguments *a) {
    return along_dim(c, a, GRAPH_SHARD_SLICE);
}

entity special_all_to_all(checker *c, const call_arguments *a) {
    ir_named_attr attrs[2];
    if (dim_attr(c, a, 2, "split", &attrs[0]).kind == ENTITY_BROKEN ||
        dim_attr(c, a, 3, "concat", &attrs[1]).kind == ENTITY_BROKEN)
        return entity_broken(a->at);
    return over_all(c, a, GRAPH_ALL_TO_ALL, attrs, 2);
}

static bool read_pairs(checker *c, const entity *e, int64_t *out) {
    bool good = e->kind == ENTITY_TUPLE && e->count <= MESH_SHARDS_MAX;
    for (uint32_t i = 0; good && i < e->count; i++) {
        const entity *pair = &e->items[i];
        good = pair->kind == ENTITY_TUPLE && pair->count == 2;
        for (uint32_t k = 0; good && k < 2; k++) {
            good = pair->items[k].kind == ENTITY_NUMBER && pair->items[k].is_integer;
            out[2 * i + k] = pair->items[k].integer;
        }
    }
    if (!good)
        diagnose_error(c->report, ERROR_COLLECTIVE, e->at,
                       "pairs of permute() are (from, to), numbers of shards: ((0, 1), (1, 0))");
    return good;
}

entity special_permute(checker *c, const call_arguments *a) {
    const entity *pairs = &a->values[2];
    if (!argument_tensor(c, &a->values[0], "x"))
        return entity_broken(a->at);
    int64_t *list =
        ARENA_NEW(&c->memory, int64_t, 2 * (pairs->kind == ENTITY_TUPLE ? pairs->count : 0) + 1);
    if (!read_pairs(c, pairs, list))
        return entity_broken(a->at);
    const ir_named_attr attr = {"pairs", ir_attr_int_array(c->m, list, 2 * pairs->count)};
    return over_all(c, a, GRAPH_PERMUTE, &attr, 1);
}

/* The part of one shard of what all have. */
entity special_broadcast(checker *c, const call_arguments *a) {
    int64_t root = 0;
    ir_dim dims[IR_MAX_RANK + 1] = {1};
    const mesh_axis *axis = axis_of(c, a, &a->values[1]);
    if (!axis || !argument_tensor(c, &a->values[0], "x") ||
        (a->given[2] && !argument_int(c, &a->values[2], "root", &root)))
        return entity_broken(a->at);
    const ir_type_data t = *tensor_type(c, &a->values[0]);
    if (root < 0 || (ir_dim_is_static(axis->count) && root >= axis->count) ||
        t.rank == IR_MAX_RANK) {
        diagnose_error(c->report, ERROR_COLLECTIVE, a->at,
                       "root of broadcast() is the number of a shard of '%s', from 0 on",
                       axis->name);
        return entity_broken(a->at);
    }
    memcpy(dims + 1, t.dims, sizeof *dims * (size_t)t.rank);
    const entity row = emit_reshape(c, &a->values[0], t.rank + 1, dims, a->at);
    const ir_named_attr dim = {"dim", ir_attr_int(c->m, 0)};
    const entity all = emit_over(c, GRAPH_ALL_GATHER, axis, &row, &dim, 1, a->at);
    if (all.kind == ENTITY_BROKEN)
        return all;
    ir_dim start[IR_MAX_RANK] = {root}, stop[IR_MAX_RANK] = {root + 1}, step[IR_MAX_RANK];
    for (int i = 0; i <= t.rank; i++) {
        step[i] = 1;
        if (i) {
            start[i] = 0;
            stop[i] = t.dims[i - 1];
        }
    }
    const ir_named_attr attrs[] = {{"start", ir_attr_dim_array(c->m, start, (uint32_t)t.rank + 1)},
                                   {"stop", ir_attr_dim_array(c->m, stop, (uint32_t)t.rank + 1)},
                                   {"step", ir_attr_dim_array(c->m, step, (uint32_t)t.rank + 1)}};
    const entity one = emit_one(c, GRAPH_SLICE, &all, 1, attrs, 3, a->at);
    return one.kind == ENTITY_BROKEN ? one : emit_reshape(c, &one, t.rank, t.dims, a->at);
}

entity special_axis_index(checker *c, const call_arguments *a) {
    const mesh_axis *axis = axis_of(c, a, &a->values[0]);
    return axis ? emit_over(c, GRAPH_SHARD_INDEX, axis, NULL, NULL, 0, a->at)
                : entity_broken(a->at);
}

entity special_axis_size(checker *c, const call_arguments *a) {
    const mesh_axis *axis = axis_of(c, a, &a->values[0]);
    return axis ? entity_dim(c, axis->count, a->at) : entity_broken(a->at);
}
