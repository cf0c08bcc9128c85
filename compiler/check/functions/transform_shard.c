/* transform_shard.c - shard_map: a function of the shards of a mesh.
 *
 * Each axis of the mesh is one tessera.shard, the first one outermost: the function that it holds
 * is the shard_map over the axes behind it. */
#include <string.h>

#include "check/effects.h"
#include "check/mesh.h"
#include "check/transforms.h"
#include "ops/control.h"

/* ---- specs ---- */

static const entity none = {.kind = ENTITY_NONE};

/* The entry of a dimension: None, a name, or a tuple of names. */
static const entity *entry_of(const entity *spec, int dim) {
    if (spec->kind == ENTITY_STRING)
        return dim == 0 ? spec : &none;
    return spec->kind == ENTITY_SPEC && dim < (int)spec->count ? &spec->items[dim] : &none;
}

/* The names of an entry. */
static uint32_t names_of(const entity *entry, const entity **out) {
    *out = entry->kind == ENTITY_TUPLE ? entry->items : entry;
    return entry->kind == ENTITY_TUPLE ? entry->count : entry->kind == ENTITY_STRING ? 1 : 0;
}

static uint32_t axis_number(const entity *mesh, const char *name) {
    uint32_t i = 0;
    while (i < mesh->count && strcmp(mesh->names[i], name) != 0)
        i++;
    return i;
}

/* Shards of axes before this one in the entry, of those from the number `from` of the mesh on. */
static int64_t shards_before(const entity *mesh, const entity *entry, const char *axis,
                             uint32_t from) {
    const entity *names;
    int64_t all = 1;
    const uint32_t count = names_of(entry, &names);
    for (uint32_t i = 0; i < count && strcmp(names[i].text, axis) != 0; i++) {
        const uint32_t number = axis_number(mesh, names[i].text);
        all *= number >= from && number < mesh->count ? mesh->items[number].integer : 1;
    }
    return all;
}

static int dim_of(const entity *spec, const char *axis) {
    const int rank = spec->kind == ENTITY_SPEC ? (int)spec->count : 1;
    for (int dim = 0; dim < rank; dim++) {
        const entity *names;
        const uint32_t count = names_of(entry_of(spec, dim), &names);
        for (uint32_t i = 0; i < count; i++)
            if (strcmp(names[i].text, axis) == 0)
                return dim;
    }
    return -1;
}

bool mesh_has_axes(checker *c, const entity *spec, const entity *mesh) {
    uint32_t seen = 0;
    const int rank = spec->kind == ENTITY_SPEC ? (int)spec->count : 1;
    for (int dim = 0; dim < rank; dim++) {
        const entity *names;
        const uint32_t count = names_of(entry_of(spec, dim), &names);
        for (uint32_t i = 0; i < count; i++) {
            const uint32_t number = axis_number(mesh, names[i].text);
            if (number < mesh->count && !(seen >> number & 1)) {
                seen |= 1u << number;
                continue;
            }
            diagnose_error(c->report, ERROR_MESH, names[i].at,
                           number < mesh->count ? "the axis '%.40s' stands in a spec twice"
                                                : "the mesh has no axis '%.40s'",
                           names[i].text);
            return false;
        }
    }
    return true;
}

static bool is_spec(const entity *e) {
    return e->kind == ENTITY_NONE || e->kind == ENTITY_STRING || e->kind == ENTITY_SPEC;
}

/* One spec for all, or a tuple with one for each. */
static const entity *spec_at(const entity *specs, uint32_t i) {
    return specs->kind != ENTITY_TUPLE ? specs : i < specs->count ? &specs->items[i] : NULL;
}

static bool check_specs(checker *c, const entity *specs, const entity *mesh, const char *what) {
    const uint32_t count = specs->kind == ENTITY_TUPLE ? specs->count : 1;
    for (uint32_t i = 0; i < count; i++) {
        const entity *one = spec_at(specs, i);
        if (!is_spec(one)) {
            diagnose_error(c->report, ERROR_MESH, one->at,
                           "%s is a spec, or a tuple with one for each: None, the name of an axis "
                           "for the first dimension, or PartitionSpec(...), not %s",
                           what, entity_describe(one));
            return false;
        }
        if (!mesh_has_axes(c, one, mesh))
            return false;
    }
    return true;
}

/* ---- the parts ---- */

/* Parameters: a value, and how it is cut. A dimension of `outer` times `count` times the rest,
 * without `count`, which comes first. */
static entity part_first(checker *c, const entity *x, int dim, int64_t outer, int64_t count,
                         const char *axis, span at) {
    const ir_type_data t = *tensor_type(c, x);
    ir_dim dims[IR_MAX_RANK + 3], rest;
    if (dim >= t.rank || t.rank + 2 > IR_MAX_RANK) {
        diagnose_error(c->report, ERROR_MESH, at,
                       "the spec names '%s' for dimension %d, and the value has %d (at most %d can "
                       "be sharded)",
                       axis, dim, t.rank, IR_MAX_RANK - 2);
        note_tensor(c, x);
        return entity_broken(at);
    }
    rest = ir_dim_floordiv(c->m, t.dims[dim], outer * count);
    if (rest == IR_DIM_INVALID || ir_dim_mul(c->m, rest, outer * count) != t.dims[dim]) {
        diagnose_error(c->report, ERROR_MESH, at,
                       "dimension %d, which is %s, does not divide over the %lld shards of '%s'",
                       dim, ir_dim_text(c->m, t.dims[dim]), (long long)(outer * count), axis);
        note_tensor(c, x);
        diagnose_help(c->report, "write it as a multiple in the annotation: \"%lld*N\"",
                      (long long)(outer * count));
        return entity_broken(at);
    }
    int n = 0;
    for (int i = 0; i < t.rank; i++) {
        if (i != dim) {
            dims[n++] = t.dims[i];
            continue;
        }
        dims[n++] = outer;
        dims[n++] = count;
        dims[n++] = rest;
    }
    entity y = emit_reshape(c, x, n, dims, at);
    y = transform_moved(c, &y, dim + 1, 0, at);
    n = 0;
    dims[n++] = count;
    for (int i = 0; i < t.rank; i++)
        dims[n++] = i == dim ? ir_dim_mul(c->m, outer, rest) : t.dims[i];
    return emit_reshape(c, &y, n, dims, at);
}

/* The other way around: the first axis goes into a dimension of what is behind it. */
static entity part_back(checker *c, const entity *x, int dim, int64_t outer, span at) {
    const ir_type_data t = *tensor_type(c, x);
    ir_dim dims[IR_MAX_RANK + 3];
    if (t.rank + 1 > IR_MAX_RANK || dim + 1 >= t.rank) {
        diagnose_error(c->report, ERROR_MESH, at,
                       "a result with %d dimensions has no dimension %d to put shards together in",
                       t.rank - 1, dim);
        return entity_broken(at);
    }
    const ir_dim count = t.dims[0], rest = ir_dim_floordiv(c->m, t.dims[dim + 1], outer);
    int n = 0;
    for (int i = 0; i < t.rank; i++) {
        if (i == dim + 1)
            dims[n++] = outer;
        dims[n++] = i == dim + 1 ? rest : t.dims[i];
    }
    entity y = emit_reshape(c, x, n, dims, at);
    y = transform_moved(c, &y, 0, dim + 1, at);
    n = 0;
    for (int i = 1; i < t.rank; i++)
        dims[n++] = i == dim + 1 ? ir_dim_mul(c->m, count, t.dims[i]) : t.dims[i];
    return emit_reshape(c, &y, n, dims, at);
}

/* ---- one axis ---- */

typedef struct sharding {
    checker *c;
    const transformed *t;
    const entity *mesh;
    const char *axis;
    int64_t count;
    span at;
} sharding;

/* All tensors of a value, by the spec. */
static entity take_part(const sharding *s, const entity *e, const entity *spec, int dim) {
    checker *c = s->c;
    const int64_t outer = shards_before(s->mesh, entry_of(spec, dim), s->axis, s->t->level + 1);
    entity_list tensors = {0};
    value_list values = {0};
    entity out = entity_broken(s->at);
    bool good = tree_flatten(c, e, &tensors, "what is sharded");
    for (size_t i = 0; i < tensors.count && good; i++) {
        entity part = part_first(c, &tensors.items[i], dim, outer, s->count, s->axis, e->at);
        good = part.kind == ENTITY_TENSOR;
        vec_push(&values, part.value);
    }
    const ir_value *next = values.items;
    if (good)
        out = tree_rebuild(c, e, &next, s->at);
    vec_release(&tensors);
    vec_release(&values);
    return out;
}

static bool take_arguments(const sharding *s, applied *a) {
    for (int i = 0, number = 0; i < a->given->count; i++) {
        if (!a->given->given[i])
            continue;
        const entity *spec = spec_at(&s->t->which, (uint32_t)number++);
        if (!spec) {
            diagnose_error(s->c->report, ERROR_MESH, s->t->which.at,
                           "in_specs has %u entries, and '%s' of %s() is one more argument",
                           s->t->which.count, a->given->names[i], a->given->function);
            return false;
        }
        const int dim = dim_of(spec, s->axis);
        if (dim < 0)
            continue;
        a->given->values[i] = take_part(s, &a->given->values[i], spec, dim);
        a->sliced[i] = true;
        if (a->given->values[i].kind == ENTITY_BROKEN)
            return false;
    }
    return true;
}

/* The spec of each tensor of the result. */
static bool result_specs(const sharding *s, const applied *a, const entity **out) {
    const entity *specs = &s->t->out;
    size_t n = 0;
    if (specs->kind != ENTITY_TUPLE) {
        for (size_t i = 0; i < a->made.count; i++)
            out[i] = specs;
        return true;
    }
    if (a->result.kind != ENTITY_TUPLE || a->result.count != specs->count) {
        diagnose_error(s->c->report, ERROR_MESH, specs->at,
                       "out_specs has %u entries, and the function gives %s", specs->count,
                       entity_describe(&a->result));
        return false;
    }
    for (uint32_t i = 0; i < specs->count; i++) {
        entity_list tensors = {0};
        const bool good = tree_flatten(s->c, &a->result.items[i], &tensors, NULL);
        for (size_t k = 0; good && k < tensors.count && n < a->made.count; k++)
            out[n++] = &specs->items[i];
        vec_release(&tensors);
    }
    return n == a->made.count;
}

static uint32_t sliced_tensors(const applied *a) {
    uint32_t count = 0;
    for (int i = 0; i < a->given->count; i++)
        count += a->sliced[i] ? a->behind[i] - a->first[i] : 0;
    return count;
}

static entity result_of(const sharding *s, applied *a) {
    checker *c = s->c;
    const size_t count = a->made.count;
    const entity **specs = ARENA_NEW(&c->memory, const entity *, count + 1);
    int64_t *whole = ARENA_NEW(&c->memory, int64_t, count + 1);
    uint32_t whole_count = 0;
    if (!result_specs(s, a, specs))
        return entity_broken(s->at);
    for (size_t i = 0; i < count; i++)
        if (dim_of(specs[i], s->axis) < 0)
            whole[whole_count++] = (int64_t)i;
        else if (tensor_type(c, &a->made.items[i])->rank == IR_MAX_RANK)
            return part_back(c, &a->made.items[i], IR_MAX_RANK, 1, s->at);
        else
            a->results.items[i] = control_stack_type(c->m, a->next.items[i], s->count);
    const ir_named_attr attrs[] = {{"sliced", ir_attr_int(c->m, sliced_tensors(a))},
                                   {"count", ir_attr_dim(c->m, s->count)},
                                   {"axis", ir_attr_string(c->m, s->axis)},
                                   {"whole", ir_attr_int_array(c->m, whole, whole_count)}};
    const ir_op op =
        applied_build(a, &(applied_request){GRAPH_SHARD, NULL, NULL, attrs, whole_count ? 4 : 3});
    ir_value *values = ARENA_NEW(&c->memory, ir_value, count + 1);
    for (size_t i = 0; op && i < count; i++) {
        const int dim = dim_of(specs[i], s->axis);
        values[i] = ir_op_result(c->m, op, (uint32_t)i);
        if (dim < 0)
            continue;
        const entity stacked = entity_tensor(values[i], s->at),
                     back = part_back(
                         c, &stacked, dim,
                         shards_before(s->mesh, entry_of(specs[i], dim), s->axis, s->t->level + 1),
                         s->at);
        if (back.kind == ENTITY_BROKEN)
            return back;
        values[i] = back.value;
    }
    const ir_value *next = values;
    return op ? applied_result(a, &a->result, &next) : entity_broken(s->at);
}

/* The function of the axes behind this one. */
static entity inner_function(checker *c, const transformed *t) {
    transformed inner = *t;
    entity f = t->of;
    inner.level++;
    if (inner.level < t->mesh.count)
        f.transform = arena_copy(&c->memory, &inner, sizeof inner);
    return f;
}

entity transform_call_shard(checker *c, const transformed *t, call_arguments *given) {
    const sharding s = {
        c, t, &t->mesh, t->mesh.names[t->level], t->mesh.items[t->level].integer, given->at};
    const mesh_axis axis = {c->axes, s.axis, s.count};
    applied a = {.c = c,
                 .f = inner_function(c, t),
                 .given = given,
                 .at = given->at,
                 .batched = true,
                 .sliced_count = s.count};
    entity out = entity_broken(given->at);
    for (const mesh_axis *around = c->axes; around; around = around->around)
        if (strcmp(around->name, s.axis) == 0) {
            diagnose_error(c->report, ERROR_MESH, given->at,
                           "shards along '%s' are within shards along '%s'", s.axis, s.axis);
            return out;
        }
    const bool good = (t->level > 0 || (check_specs(c, &t->which, &t->mesh, "in_specs") &&
                                        check_specs(c, &t->out, &t->mesh, "out_specs"))) &&
                      take_arguments(&s, &a);
    c->axes = &axis;
    const bool begun = good && applied_begin(&a);
    c->axes = axis.around;
    if (begun)
        out = result_of(&s, &a);
    applied_release(&a);
    return out;
}
