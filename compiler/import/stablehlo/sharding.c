/* sharding.c - reads meshes and shardings, which the readers of modules keep as their text:
 *
 *   sdy.mesh @mesh = <["x"=2, "y"=4], device_ids=[...]>
 *   #sdy.sharding<@mesh, [{"x", "y":(2)2}, {?}], replicated={...}>
 *   #sdy.sharding_per_value<[<@mesh, [...]>, ...]>
 *   "{devices=[2,1,2]<=[2,2]T(1,0) last_tile_dim_replicate}", "{replicated}" */
#include "import/stablehlo/sharding.h"

#include <ctype.h>
#include <stdlib.h>
#include <string.h>

/* ---- words ---- */

typedef struct scan {
    shlo_module *m;
    const char *p;
} scan;

static bool take(scan *s, const char *token) {
    while (isspace((unsigned char)*s->p))
        s->p++;
    const size_t n = strlen(token);
    if (strncmp(s->p, token, n) != 0)
        return false;
    s->p += n;
    return true;
}

static bool take_number(scan *s, int64_t *out) {
    char *end;
    while (isspace((unsigned char)*s->p))
        s->p++;
    if (!isdigit((unsigned char)*s->p))
        return false;
    *out = strtoll(s->p, &end, 10);
    s->p = end;
    return *out <= INT32_MAX;
}

static size_t take_quoted(scan *s, const char **out) {
    *out = "";
    if (!take(s, "\""))
        return 0;
    *out = s->p;
    const size_t n = strcspn(s->p, "\"");
    s->p += n;
    return *s->p++ == '"' ? n : 0;
}

/* Skips what stands up to the closing bracket of one that was taken. */
static bool skip_to(scan *s, const char *open, const char *close) {
    for (int depth = 1; *s->p; s->p++) {
        depth += *s->p == *open;
        depth -= *s->p == *close;
        if (depth == 0) {
            s->p++;
            return true;
        }
    }
    return false;
}

/* Numbers between commas, up to the bracket; more than the limit are none. */
static bool take_numbers(scan *s, const char *close, int64_t *out, int64_t limit, int64_t *count) {
    *count = 0;
    if (take(s, close))
        return true;
    do {
        if (*count == limit || !take_number(s, &out[*count]))
            return false;
        ++*count;
    } while (take(s, ","));
    return take(s, close);
}

/* ---- meshes ---- */

static const char no_mesh[] = "its mesh is not understood";

static bool take_axes(scan *s, shlo_mesh *out) {
    out->devices = 1;
    if (take(s, "]"))
        return true;
    do {
        const char *name;
        int64_t size;
        const size_t n = take_quoted(s, &name);
        if (n == 0 || out->axis_count == MESH_AXES_MAX || !take(s, "=") || !take_number(s, &size) ||
            size < 1 || out->devices * size > MESH_DEVICES_MAX)
            return false;
        out->axes[out->axis_count].name = arena_strndup(&s->m->memory, name, n);
        out->axes[out->axis_count++].size = size;
        out->devices *= size;
    } while (take(s, ","));
    return take(s, "]");
}

/* Each device once. A mesh of no axes names the one that has it all: a value lies whole there. */
static bool take_ids(scan *s, shlo_mesh *out) {
    int64_t count;
    int64_t *ids = ARENA_NEW(&s->m->memory, int64_t, out->devices);
    bool *seen = ARENA_NEW(&s->m->memory, bool, out->devices);
    if (!take_numbers(s, "]", ids, out->devices, &count) || count != out->devices)
        return false;
    for (int64_t i = 0; i < count && out->axis_count; i++) {
        if (ids[i] >= out->devices || seen[ids[i]])
            return false;
        seen[ids[i]] = true;
    }
    out->ids = out->axis_count ? ids : NULL;
    return true;
}

/* Behind the first bracket. */
static bool take_mesh(scan *s, shlo_mesh *out) {
    *out = (shlo_mesh){0};
    return take(s, "[") && take_axes(s, out) &&
           (!take(s, ",") ||
            (take(s, "device_ids") && take(s, "=") && take(s, "[") && take_ids(s, out))) &&
           take(s, ">");
}

/* A mesh of the module. */
static bool find_mesh(shlo_module *m, const char *name, size_t length, shlo_mesh *out) {
    scan s = {m, m->meshes ? m->meshes : ""};
    while (take(&s, "sdy.mesh") && take(&s, "@")) {
        const bool quoted = take(&s, "\"");
        const bool same = strncmp(s.p, name, length) == 0 &&
                          (quoted ? s.p[length] == '"' : s.p[length] == ' ' || s.p[length] == '=');
        s.p += strcspn(s.p, "<");
        if (same)
            return take(&s, "<") && take_mesh(&s, out);
        s.p += strcspn(s.p, "\n");
    }
    return false;
}

/* ---- shardings of Shardy ---- */

/* "x", or "x":(before)size */
static bool take_part(scan *s, const shlo_mesh *mesh, shlo_axis_part *out) {
    const char *name;
    const size_t n = take_quoted(s, &name);
    uint32_t i = 0;
    while (i < mesh->axis_count &&
           (strlen(mesh->axes[i].name) != n || strncmp(mesh->axes[i].name, name, n) != 0))
        i++;
    if (n == 0 || i == mesh->axis_count)
        return false;
    *out = (shlo_axis_part){.axis = i, .size = mesh->axes[i].size, .stride = 1};
    int64_t before;
    if (!take(s, ":"))
        return true;
    if (!take(s, "(") || !take_number(s, &before) || !take(s, ")") || !take_number(s, &out->size) ||
        before < 1 || out->size < 1 || mesh->axes[i].size % (before * out->size))
        return false;
    out->stride = mesh->axes[i].size / (before * out->size);
    return true;
}

/* {"x", ?}p1: whether it may be cut further, and how soon, says nothing of how it lies. */
static bool take_dimension(scan *s, shlo_sharding *out, uint32_t dim) {
    int64_t ignored;
    if (!take(s, "{"))
        return false;
    while (!take(s, "}")) {
        if (take(s, "?") || take(s, ","))
            continue;
        if (out->dims[dim].count == MESH_AXES_MAX ||
            !take_part(s, &out->mesh, &out->dims[dim].axes[out->dims[dim].count++]))
            return false;
    }
    return !take(s, "p") || take_number(s, &ignored);
}

static const char *take_sharding(scan *s, uint32_t rank, shlo_sharding *out) {
    static const char wrong[] = "its sharding is not understood";
    *out = (shlo_sharding){.rank = rank};
    if (rank > SHARDED_RANK_MAX)
        return "values of more than 8 axes are not sharded";
    if (!take(s, "<"))
        return wrong;
    if (take(s, "mesh")) {
        if (!take(s, "<") || !take_mesh(s, &out->mesh))
            return no_mesh;
    } else {
        if (!take(s, "@"))
            return wrong;
        const bool quoted = take(s, "\"");
        const size_t n = strcspn(s->p, quoted ? "\"" : ",>");
        const char *name = s->p;
        s->p += n + quoted;
        if (!find_mesh(s->m, name, n, &out->mesh))
            return no_mesh;
    }
    if (!take(s, ",") || !take(s, "["))
        return wrong;
    for (uint32_t i = 0; i < rank; i++)
        if ((i && !take(s, ",")) || !take_dimension(s, out, i))
            return wrong;
    if (!take(s, "]"))
        return "its sharding is of another number of axes";
    while (take(s, ",")) {
        if (take(s, "unreduced"))
            return "sums that are not finished are not supported (unreduced)";
        if (!take(s, "replicated") || !take(s, "=") || !take(s, "{") || !skip_to(s, "{", "}"))
            return wrong;
    }
    return take(s, ">") ? NULL : wrong;
}

/* ---- shardings of XLA ---- */

static const char no_tiles[] = "its mhlo.sharding is not understood";

/* Axes of the mesh for each dimension: [2,1,2], of which those behind the value's hold copies. */
static bool tiles_as_mesh(const int64_t *tiles, int64_t count, shlo_sharding *out) {
    static const char *const names[MESH_AXES_MAX] = {"0", "1", "2", "3", "4", "5", "6", "7"};
    if (count > MESH_AXES_MAX || count < (int64_t)out->rank)
        return false;
    out->mesh = (shlo_mesh){.axis_count = (uint32_t)count, .devices = 1};
    for (uint32_t i = 0; i < (uint32_t)count; i++) {
        if (tiles[i] < 1 || tiles[i] > MESH_DEVICES_MAX / out->mesh.devices)
            return false;
        out->mesh.axes[i].name = names[i];
        out->mesh.axes[i].size = tiles[i];
        out->mesh.devices *= tiles[i];
        if (i < out->rank && tiles[i] > 1) {
            out->dims[i].count = 1;
            out->dims[i].axes[0] = (shlo_axis_part){.axis = i, .size = tiles[i], .stride = 1};
        }
    }
    return true;
}

/* <=[2,2]T(1,0): the numbers from 0 on in that shape, with its axes in another order. */
static bool take_iota(scan *s, shlo_mesh *mesh) {
    int64_t dims[MESH_AXES_MAX], order[MESH_AXES_MAX], count, ordered, all = 1;
    if (!take(s, "[") || !take_numbers(s, "]", dims, MESH_AXES_MAX, &count))
        return false;
    for (int64_t i = 0; i < count; i++) {
        order[i] = i;
        if (dims[i] < 1 || dims[i] > MESH_DEVICES_MAX / all)
            return false;
        all *= dims[i];
    }
    if (take(s, "T") && (!take(s, "(") || !take_numbers(s, ")", order, MESH_AXES_MAX, &ordered) ||
                         ordered != count))
        return false;
    uint32_t seen = 0;
    for (int64_t i = 0; i < count; i++)
        seen |= order[i] < count ? 1u << order[i] : 0;
    if (all != mesh->devices || seen != (1u << count) - 1)
        return false;
    int64_t *ids = ARENA_NEW(&s->m->memory, int64_t, all);
    for (int64_t place = 0; place < all; place++) {
        int64_t at[MESH_AXES_MAX] = {0}, rest = place;
        for (int64_t i = count; i-- > 0; rest /= dims[order[i]])
            at[order[i]] = rest % dims[order[i]];
        for (int64_t i = 0; i < count; i++)
            ids[place] = ids[place] * dims[i] + at[i];
    }
    mesh->ids = ids;
    return true;
}

static bool take_listed(scan *s, shlo_mesh *mesh) {
    int64_t *ids = ARENA_NEW(&s->m->memory, int64_t, mesh->devices);
    for (int64_t i = 0; i < mesh->devices; i++)
        if ((i && !take(s, ",")) || !take_number(s, &ids[i]) || ids[i] >= mesh->devices)
            return false;
    mesh->ids = ids;
    return true;
}

static const char *take_tiles(scan *s, uint32_t rank, shlo_sharding *out) {
    int64_t tiles[MESH_AXES_MAX], count;
    *out = (shlo_sharding){.rank = rank};
    if (!take(s, "{") || rank > SHARDED_RANK_MAX)
        return no_tiles;
    if (take(s, "replicated}"))
        return NULL;
    if (!take(s, "devices=[") || !take_numbers(s, "]", tiles, MESH_AXES_MAX, &count) ||
        !tiles_as_mesh(tiles, count, out) ||
        !(take(s, "<=") ? take_iota(s, &out->mesh) : take_listed(s, &out->mesh)))
        return no_tiles;
    const bool copies = take(s, "last_tile_dim_replicate");
    return take(s, "}") && count == (int64_t)rank + copies ? NULL : no_tiles;
}

/* ---- of attributes ---- */

const char *shlo_sharding_read(shlo_module *m, const shlo_attr *a, uint32_t rank,
                               shlo_sharding *out) {
    scan s = {m, a->string ? a->string : ""};
    if (a->kind == SHLO_ATTR_STRING)
        return take_tiles(&s, rank, out);
    take(&s, "#sdy.sharding");
    return take_sharding(&s, rank, out);
}

const char *shlo_sharding_of_list(shlo_module *m, const shlo_attr *a, uint32_t i, uint32_t count,
                                  uint32_t rank, shlo_sharding *out) {
    scan s = {m, a && a->string ? a->string : ""};
    if (!take(&s, "#sdy.sharding_per_value") || !take(&s, "<") || !take(&s, "["))
        return "it does not say how its values are sharded";
    for (uint32_t k = 0; k < i; k++)
        if (!take(&s, "<") || !skip_to(&s, "<", ">") || !take(&s, ","))
            return "it has fewer shardings than values";
    const char *why = take_sharding(&s, rank, out);
    return why || take(&s, i + 1 < count ? "," : "]") ? why : "it has another number of shardings";
}

const char *shlo_axes_read(const shlo_attr *a, const shlo_mesh *mesh, uint32_t *out) {
    scan s = {NULL, a && a->string ? a->string : ""};
    shlo_axis_part part;
    *out = 0;
    take(&s, "#sdy<manual_axes");
    if (!take(&s, "{"))
        return "it does not say which axes it has";
    while (!take(&s, "}")) {
        if (take(&s, ","))
            continue;
        if (!take_part(&s, mesh, &part))
            return "it names an axis that its mesh has not";
        *out |= 1u << part.axis;
    }
    return NULL;
}

int64_t shlo_sharding_parts(const shlo_sharding *s, uint32_t dim) {
    int64_t parts = 1;
    for (uint32_t i = 0; i < s->dims[dim].count; i++)
        parts *= s->dims[dim].axes[i].size;
    return parts;
}

int64_t shlo_sharding_part(const shlo_sharding *s, uint32_t dim, int64_t device) {
    int64_t place = device, part = 0;
    for (int64_t i = 0; s->mesh.ids && i < s->mesh.devices; i++)
        if (s->mesh.ids[i] == device)
            place = i;
    for (uint32_t i = 0; i < s->dims[dim].count; i++) {
        const shlo_axis_part *a = &s->dims[dim].axes[i];
        int64_t behind = 1;
        for (uint32_t k = a->axis + 1; k < s->mesh.axis_count; k++)
            behind *= s->mesh.axes[k].size;
        part = part * a->size + place / behind % s->mesh.axes[a->axis].size / a->stride % a->size;
    }
    return part;
}

/* The attribute of a value's marks that says how it lies; NULL: none does. */
static const shlo_attr *marked(const shlo_attr *marks) {
    static const char *const names[] = {"sdy.sharding", "mhlo.sharding"};
    for (size_t n = 0; n < sizeof names / sizeof *names; n++)
        for (uint32_t i = 0; marks && i < marks->count; i++)
            if (strcmp(marks->keys[i], names[n]) == 0)
                return marks->items[i];
    return NULL;
}

static bool same_shape(const shlo_type *a, const shlo_type *b) {
    return a->kind == SHLO_TYPE_TENSOR && b->kind == SHLO_TYPE_TENSOR && a->rank == b->rank &&
           (a->rank == 0 || memcmp(a->dims, b->dims, a->rank * sizeof *a->dims) == 0);
}

/* Reads what is said of a value where it is made: false where nothing is. */
static bool said_of(shlo_module *m, const shlo_function *f, const shlo_value *v, shlo_sharding *out,
                    const char **why) {
    const shlo_attr *a = NULL;
    if (!v->op && v->block == f->body)
        a = marked(f->argument_attrs ? f->argument_attrs[v->index] : NULL);
    else if (v->op && (a = shlo_op_attr(v->op, "out_shardings")))
        return !(
            *why = shlo_sharding_of_list(m, a, v->index, v->op->result_count, v->type->rank, out));
    else if (v->op)
        a = shlo_op_attr(v->op, "sharding");
    return a && !(*why = shlo_sharding_read(m, a, v->type->rank, out));
}

static bool divides(const shlo_sharding *s, const shlo_type *t) {
    bool good = true;
    for (uint32_t i = 0; i < s->rank && good; i++)
        good = t->dims[i] % shlo_sharding_parts(s, i) == 0;
    return good;
}

/* A result that nothing is said of lies like a value of its shape that it was made of, where that
 * is found near it: the first operand is looked at first. */
static bool followed(shlo_module *m, const shlo_function *f, const shlo_value *of,
                     shlo_sharding *out) {
    enum { LOOKED_AT = 256 };
    const shlo_value *list[LOOKED_AT] = {of};
    uint32_t count = 1;
    for (int steps = 0; count && steps < LOOKED_AT; steps++) {
        const shlo_value *v = list[--count];
        const char *why = NULL;
        if (said_of(m, f, v, out, &why) && divides(out, of->type))
            return true;
        for (uint32_t i = v->op ? v->op->operand_count : 0; i-- > 0;)
            if (count < LOOKED_AT && same_shape(v->op->operands[i]->type, of->type))
                list[count++] = v->op->operands[i];
    }
    return false;
}

bool shlo_sharding_of(shlo_module *m, const shlo_function *f, uint32_t value, shlo_sharding *out,
                      const char **why) {
    const bool result = value >= f->type->inputs;
    const uint32_t number = result ? value - f->type->inputs : value;
    const shlo_attr *const *all = result ? f->result_attrs : f->argument_attrs;
    const shlo_attr *a = marked(all ? all[number] : NULL);
    *why = a ? shlo_sharding_read(m, a, f->type->parts[value]->rank, out) : NULL;
    return a || (result && f->body && f->body->last && number < f->body->last->operand_count &&
                 followed(m, f, f->body->last->operands[number], out));
}

static int64_t count_of(const shlo_module *m, const char *name) {
    for (uint32_t i = 0; i < m->attr_count; i++)
        if (strcmp(m->attrs[i].name, name) == 0 && m->attrs[i].value->kind == SHLO_ATTR_INTEGER)
            return m->attrs[i].value->integer;
    return 1;
}

int64_t shlo_replicas(const shlo_module *m) {
    return count_of(m, "mhlo.num_replicas");
}

int64_t shlo_partitions(const shlo_module *m) {
    return count_of(m, "mhlo.num_partitions");
}
