/* import_devices.c - programs of several devices.
 *
 * sdy.manual_computation says of its values how they lie on a mesh. A module of replicas, or of
 * partitions whose collectives stand outside of such regions, is what one device does: its kernel
 * has all devices, as leading axes of each value. */
#include <stdlib.h>
#include <string.h>

#include "import/stablehlo/import_shard.h"

/* ---- which functions ---- */

static bool is_collective_op(const importer *im, const shlo_op *op) {
    if (!op->info)
        return false;
    switch (op->info->opcode) {
    case SHLO_OP_ALL_GATHER:
    case SHLO_OP_ALL_REDUCE:
    case SHLO_OP_ALL_TO_ALL:
    case SHLO_OP_COLLECTIVE_BROADCAST:
    case SHLO_OP_COLLECTIVE_PERMUTE:
    case SHLO_OP_COLLECTIVE_REDUCE:
    case SHLO_OP_PARTITION_ID:
    case SHLO_OP_REDUCE_SCATTER:
    case SHLO_OP_REPLICA_ID:
        return true;
    case SHLO_OP_CALL:
    case SHLO_OP_COMPOSITE: {
        const shlo_function *f = shlo_function_named(
            im->source,
            shlo_op_string(op, op->info->opcode == SHLO_OP_CALL ? "callee" : "decomposition", ""));
        return f && import_is_collective(im, f);
    }
    default:
        return false;
    }
}

static bool is_manual(const shlo_op *op) {
    return strcmp(op->name, "sdy.manual_computation") == 0;
}

static bool has_collectives(const importer *im, const shlo_block *block) {
    bool found = false;
    for (const shlo_op *op = block->first; op && !found; op = op->next) {
        found = is_collective_op(im, op);
        for (uint32_t i = 0; i < op->region_count && !found && !is_manual(op); i++)
            found = has_collectives(im, op->regions[i]);
    }
    return found;
}

enum { COLLECTIVE = 1 };

bool import_is_collective(const importer *im, const shlo_function *f) {
    intptr_t known;
    return map_get(&im->collective, f->name, &known) && known == COLLECTIVE;
}

/* Callers stand before those that they call, for the most part: the last one is looked at first. */
bool import_note_collectives(importer *im, const shlo_function *const *functions, size_t count) {
    enum { ROUNDS = 64 };
    bool changed = true;
    for (int round = 0; changed && round < ROUNDS; round++) {
        changed = false;
        for (size_t i = count; i-- > 0;)
            if (!import_is_collective(im, functions[i]) &&
                has_collectives(im, functions[i]->body)) {
                map_put(&im->collective, functions[i]->name, COLLECTIVE);
                changed = true;
            }
    }
    return !changed;
}

bool import_is_per_device(const importer *im, const shlo_function *f) {
    return im->shards.replicas > 1 || (im->shards.partitions > 1 && import_is_collective(im, f));
}

/* ---- sdy.manual_computation ---- */

typedef struct manual {
    const shlo_op *op;
    value_refs captured;
    VEC(lying) in, out;
    import_types types;
    uint32_t axes;     /* manual ones of the mesh */
    uint32_t returned; /* an operand's: inputs of the region are behind the captured ones */
} manual;

/* Axes that are around already are cut already. */
static bool is_around(const importer *im, const char *name) {
    for (uint32_t i = 0; i < im->shards.count; i++)
        if (strcmp(im->shards.axes[i].name, name) == 0)
            return true;
    return false;
}

/* A global value's part: what the region takes, or gives. */
static bool check_part(importer *im, const shlo_op *op, const shlo_type *whole,
                       const shlo_type *part, const lying *l, uint32_t axes) {
    bool good = whole->kind == SHLO_TYPE_TENSOR && part->kind == SHLO_TYPE_TENSOR &&
                whole->rank == part->rank && whole->element == part->element;
    for (uint32_t d = 0; good && d < l->s.rank; d++) {
        int64_t parts = 1;
        for (uint32_t i = 0; i < l->s.dims[d].count; i++) {
            const shlo_axis_part *a = &l->s.dims[d].axes[i];
            if (axes >> a->axis & 1 && (a->stride != 1 || a->size != l->s.mesh.axes[a->axis].size))
                return import_refuse(im, op, "a part of an axis is not supported");
            parts *= axes >> a->axis & 1 ? a->size : 1;
        }
        good = whole->dims[d] == part->dims[d] * parts;
    }
    const uint32_t complex =
        part->kind == SHLO_TYPE_TENSOR && shlo_element_is_complex(part->element);
    if (good && part->rank + 2 + complex > IR_MAX_RANK)
        return import_refuse(im, op, "of values of more than %d axes is not supported",
                             IR_MAX_RANK - 2);
    return good || import_refuse(im, op,
                                 "a value in its region is not its part of the one "
                                 "outside");
}

static bool read_list(importer *im, manual *m, bool results) {
    const shlo_op *op = m->op;
    const shlo_block *body = op->regions[0];
    const uint32_t count = results ? op->result_count : op->operand_count;
    const char *name = results ? "out_shardings" : "in_shardings";
    for (uint32_t i = 0; i < count; i++) {
        const shlo_type *whole = results ? op->results[i].type : op->operands[i]->type,
                        *part = results ? body->last->operands[i]->type : body->arguments[i].type;
        lying l = {0};
        const char *why =
            shlo_sharding_of_list(im->source, shlo_op_attr(op, name), i, count, whole->rank, &l.s);
        const shlo_attr *axes = shlo_op_attr(op, "manual_axes");
        why = why ? why : shlo_axes_read(axes, &l.s.mesh, &m->axes);
        if (why)
            return import_refuse(im, op, "%s (%s)", why, name);
        if (!check_part(im, op, whole, part, &l, m->axes))
            return false;
        for (int k = 0; k < 1 + (int)shlo_element_is_complex(part->element); k++)
            if (results)
                vec_push(&m->out, l);
            else
                vec_push(&m->in, l);
        if (results && !import_push_type(im, op, part, &m->types))
            return false;
    }
    return true;
}

/* Its axes, in the order of the mesh, behind those around. */
static bool push_axes(importer *im, const manual *m, shard_job *j) {
    const lying *any = m->in.count ? &m->in.items[0] : &m->out.items[0];
    const shlo_mesh *mesh = &any->s.mesh;
    import_shards *s = &im->shards;
    int64_t behind = mesh->devices;
    if (s->partitions == 1)
        s->partitions = mesh->devices;
    if (s->partitions != mesh->devices)
        return import_refuse(im, m->op,
                             "its mesh has %lld devices, and the program is for %lld "
                             "(mhlo.num_partitions)",
                             (long long)mesh->devices, (long long)s->partitions);
    s->ids = mesh->ids;
    for (uint32_t i = 0; i < mesh->axis_count; i++) {
        behind /= mesh->axes[i].size;
        if (!(m->axes >> i & 1))
            continue;
        if (s->count == MESH_AXES_MAX || is_around(im, mesh->axes[i].name))
            return import_refuse(im, m->op,
                                 "the axis \"%s\" is around it already, or one of more "
                                 "than %d",
                                 mesh->axes[i].name, MESH_AXES_MAX);
        j->mesh_axes[j->count++] = i;
        s->axes[s->count].name = mesh->axes[i].name;
        s->axes[s->count].size = mesh->axes[i].size;
        s->axes[s->count++].stride = behind;
    }
    return true;
}

/* The region, of the parts that one device has; behind them values of the outside. */
static bool run_region(const shard_job *j, const ir_value *values, import_values *results) {
    importer *im = j->im;
    const manual *m = j->context;
    const shlo_block *body = m->op->regions[0];
    import_values outer = {0};
    const ir_value *next = values;
    for (uint32_t i = 0; i < body->argument_count; i++)
        import_pull(im, &body->arguments[i], &next);
    for (size_t i = 0; i < m->captured.count; i++) {
        import_push(im, m->captured.items[i], &outer);
        import_pull(im, m->captured.items[i], &next);
    }
    const bool good = import_block(im, body);
    for (uint32_t i = 0; i < body->last->operand_count && good; i++)
        import_push(im, body->last->operands[i], results);
    const ir_value *from = outer.items;
    for (size_t i = 0; i < m->captured.count; i++)
        import_pull(im, m->captured.items[i], &from);
    vec_release(&outer);
    return good;
}

static bool run_manual(importer *im, manual *m, ir_value *results) {
    shard_job j = {
        .im = im, .op = m->op, .first = im->shards.count, .body = run_region, .context = m};
    const import_shards around = im->shards;
    import_values values = {0}, made = {0};
    bool good = push_axes(im, m, &j);
    for (uint32_t i = 0; i < m->op->operand_count; i++)
        import_push(im, m->op->operands[i], &values);
    for (size_t i = 0; i < m->captured.count; i++)
        import_push(im, m->captured.items[i], &values);
    for (size_t i = m->in.count; i < values.count; i++)
        vec_push(&m->in, ((lying){0}));
    for (size_t i = 0; i < values.count && good; i++)
        good = values.items[i] != 0 || import_refuse(im, m->op, "a tuple goes into it");
    j.in = m->in.items;
    j.out = m->out.items;
    j.inputs = (uint32_t)values.count;
    j.outputs = (uint32_t)m->out.count;
    j.types = m->types.items;
    good = good && shard_run(&j, 0, values.items, &made);
    const int64_t partitions = im->shards.partitions;
    im->shards = around;
    im->shards.partitions = partitions;
    if (good)
        import_take_results(m->op, made.items, results);
    vec_release(&values);
    vec_release(&made);
    return good;
}

bool import_manual(importer *im, const shlo_op *op, ir_value *results) {
    manual m = {.op = op};
    const shlo_block *body = op->region_count == 1 ? op->regions[0] : NULL;
    if (!body || !body->last || strcmp(body->last->name, "sdy.return") != 0 ||
        body->argument_count != op->operand_count || body->last->operand_count != op->result_count)
        return import_refuse(im, op, "its region does not take or give what it does");
    if (op->result_count == 0)
        return true;
    import_captures(op, &m.captured);
    const bool good =
        read_list(im, &m, false) && read_list(im, &m, true) && run_manual(im, &m, results);
    vec_release(&m.captured);
    vec_release(&m.in);
    vec_release(&m.out);
    vec_release(&m.types);
    return good;
}

/* ---- what one device does ---- */

/* The axes of the devices; a module whose partitions are parts of whole values has none of them. */
static void push_devices(importer *im, const shlo_function *f, shard_job *j) {
    import_shards *s = &im->shards;
    const bool partitions = s->partitions > 1 && import_is_collective(im, f);
    j->first = s->count;
    if (s->replicas > 1) {
        s->axes[s->count].name = "replica";
        s->axes[s->count].size = s->replicas;
        s->axes[s->count++].stride = s->partitions;
    }
    if (partitions) {
        s->axes[s->count].name = "partition";
        s->axes[s->count].size = s->partitions;
        s->axes[s->count++].stride = 1;
    }
    j->count = s->count - j->first;
    for (uint32_t i = 0; i < j->count; i++)
        j->mesh_axes[i] = MESH_AXES_MAX + i; /* of no mesh */
}

bool import_devices_begin(importer *im, const shlo_function *f, import_types *types) {
    const import_shards around = im->shards;
    const shlo_op at = import_place(f);
    shard_job j = {.im = im};
    bool good = true;
    push_devices(im, f, &j);
    for (size_t i = 0; i < types->count && good; i++) {
        ir_type_data t = *ir_type_get(im->m, types->items[i]);
        good = t.rank + (int)j.count <= IR_MAX_RANK ||
               import_refuse(im, &at, "of several devices takes values of at most %d axes",
                             IR_MAX_RANK - (int)j.count);
        if (!good)
            break;
        memmove(t.dims + j.count, t.dims, (size_t)t.rank * sizeof *t.dims);
        for (uint32_t k = 0; k < j.count; k++)
            t.dims[k] = im->shards.axes[j.first + k].size;
        types->items[i] = ir_type_tensor(im->m, t.element, t.rank + (int)j.count, t.dims);
    }
    im->shards = around;
    return good;
}

static bool run_function(const shard_job *j, const ir_value *values, import_values *results) {
    return import_body(j->im, j->context, true, values, results);
}

bool import_on_devices(importer *im, const shlo_function *f, const ir_value *values,
                       import_values *results) {
    const import_shards around = im->shards;
    import_types types = {0}, whole = {0};
    shard_job j = {.im = im, .inputs = f->type->inputs, .body = run_function};
    bool good = import_signature(im, f, true, true, &types);
    for (size_t i = 0; i < types.count; i++)
        vec_push(&whole, types.items[i]);
    good = good && import_devices_begin(im, f, &whole);
    j.outputs = (uint32_t)types.count;
    j.types = types.items;
    j.context = (void *)(uintptr_t)f;
    lying *lies = base_calloc((size_t)f->type->count + 1, sizeof *lies);
    for (uint32_t i = 0; i < f->type->count; i++)
        lies[i].leading = true;
    j.in = lies;
    j.out = lies + f->type->inputs;
    push_devices(im, f, &j);
    if (good && j.outputs)
        good = shard_run(&j, 0, values, results);
    im->shards = around;
    free(lies);
    vec_release(&types);
    vec_release(&whole);
    return good;
}
