/* placed.c - shardings: how values lie on a mesh, outside of shard_map() (ops/sharding.h).
 *
 *     rows = sharding(grid, "dp")
 *     def f(x: Tensor["4*N", "D", f32] @ rows) -> ...:   an input of which a rank has some rows
 *         y = reshard(x @ w, sharding(grid))             a value of which each rank has all */
#include <string.h>

#include "check/mesh.h"
#include "ops/sharding.h"

/* "dp=4", "dp=4+sp=2" or "" for a dimension. */
static bool entry_text(checker *c, const entity *entry, const entity *mesh, text *out) {
    const entity *names = entry->kind == ENTITY_TUPLE ? entry->items : entry;
    const uint32_t count =
        entry->kind == ENTITY_TUPLE ? entry->count : entry->kind == ENTITY_STRING;
    if (count > SHARDING_AXES) {
        diagnose_error(c->report, ERROR_MESH, entry->at,
                       "a dimension is cut along at most %d axes, not %u", SHARDING_AXES, count);
        return false;
    }
    for (uint32_t i = 0; i < count; i++) {
        const char *name = names[i].text;
        uint32_t axis = 0;
        while (strcmp(mesh->names[axis], name) != 0)
            axis++;
        if (name[strcspn(name, "=,+")]) {
            diagnose_error(c->report, ERROR_MESH, names[i].at,
                           "an axis that values are cut along has no '=', ',' or '+' in its name");
            return false;
        }
        text_printf(out, "%s%s=%lld", i ? "+" : "", name, (long long)mesh->items[axis].integer);
    }
    return true;
}

/* mesh, and for each dimension a name, a tuple of names or None */
entity special_sharding(checker *c, const call_arguments *a) {
    const entity *mesh = &a->values[0];
    entity spec = {.kind = ENTITY_SPEC, .at = a->at}, out = {.kind = ENTITY_SHARDING, .at = a->at};
    if (mesh->kind != ENTITY_MESH) {
        diagnose_error(c->report, ERROR_MESH, mesh->at, "a sharding is of a mesh, not %s",
                       entity_describe(mesh));
        diagnose_help(c->report, "sharding(mesh(4, \"dp\"), \"dp\")");
        return entity_broken(a->at);
    }
    if (!mesh_entries(c, a, 1, "sharding()", &spec) || !mesh_has_axes(c, &spec, mesh))
        return entity_broken(a->at);
    text words;
    text_init(&words);
    bool good = true;
    for (uint32_t i = 0; i < spec.count && good; i++) {
        text_append(&words, i ? "," : "");
        good = entry_text(c, &spec.items[i], mesh, &words);
    }
    out.text = arena_strdup(&c->memory, words.data ? words.data : "");
    text_release(&words);
    return good ? out : entity_broken(a->at);
}

bool sharding_divides(checker *c, const char *words, ir_type type, span at) {
    const ir_type_data *t = ir_type_get(c->m, type);
    sharding_dim dims[IR_MAX_RANK];
    if (!sharding_read(words, t->rank, dims)) {
        diagnose_error(c->report, ERROR_MESH, at, "the sharding \"%s\" has more dimensions than %s",
                       words, entity_type_text(c, type));
        return false;
    }
    for (int d = 0; d < t->rank; d++) {
        int64_t all = 1;
        for (uint32_t i = 0; i < dims[d].count; i++)
            all *= dims[d].axes[i].shards;
        const ir_dim part = ir_dim_floordiv(c->m, t->dims[d], all);
        if (part != IR_DIM_INVALID && ir_dim_mul(c->m, part, all) == t->dims[d])
            continue;
        diagnose_error(c->report, ERROR_MESH, at,
                       "dimension %d, which is %s, does not divide over its %lld shards", d,
                       ir_dim_text(c->m, t->dims[d]), (long long)all);
        diagnose_help(c->report, "write it as a multiple in the annotation: \"%lld*N\"",
                      (long long)all);
        return false;
    }
    return true;
}

/* Inside of shards along an axis a value has no parts along it. */
static bool is_outside(checker *c, const char *words, span at) {
    sharding_dim dims[IR_MAX_RANK];
    if (!sharding_read(words, IR_MAX_RANK, dims))
        return true;
    for (int d = 0; d < IR_MAX_RANK; d++)
        for (uint32_t i = 0; i < dims[d].count; i++)
            for (const mesh_axis *around = c->axes; around; around = around->around)
                if (strlen(around->name) == dims[d].axes[i].length &&
                    strncmp(around->name, dims[d].axes[i].name, dims[d].axes[i].length) == 0) {
                    diagnose_error(c->report, ERROR_MESH, at,
                                   "inside of shards along '%s' a value is one of them, and is "
                                   "not cut along that axis again",
                                   around->name);
                    return false;
                }
    return true;
}

/* x, sharding */
entity special_reshard(checker *c, const call_arguments *a) {
    entity x = a->values[0];
    const entity *s = &a->values[1];
    if (!argument_tensor(c, &x, "x of reshard()"))
        return entity_broken(a->at);
    if (s->kind != ENTITY_SHARDING) {
        diagnose_error(c->report, ERROR_MESH, s->at, "reshard() takes a sharding, not %s",
                       entity_describe(s));
        diagnose_help(c->report, "sharding(mesh(4, \"dp\"), \"dp\")");
        return entity_broken(a->at);
    }
    if (!sharding_divides(c, s->text, ir_value_get(c->m, x.value)->type, s->at) ||
        !is_outside(c, s->text, s->at))
        return entity_broken(a->at);
    const ir_named_attr attr = {"sharding", ir_attr_string(c->m, s->text)};
    return emit_one(c, GRAPH_PLACED, &x, 1, &attr, 1, a->at);
}
