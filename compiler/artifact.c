/* artifact.c - writes a module: metadata, graph, schedules and machine code (docs/modules.md). */
#include "artifact.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "describe.h"
#include "device/host/host.h"
#include "metadata.h"
#include "module.h"
#include "ops/donated.h"
#include "target/target.h"
#include "tile/simt/simt.h"
#include "tile/tensor_map.h"
#include "tile/tile.h"

/* A number, or a formula of the dimensions that a launch gives. */
static json_t *number_json(const ir_module *m, ir_attr attr) {
    const ir_attr_data *d = ir_attr_get(m, attr);
    return d->kind == IR_ATTR_STRING ? json_string(d->string) : json_integer(d->integer);
}

/* The attribute `formula` where it is there, else the number `fixed`. */
static json_t *need_json(const ir_module *m, ir_op op, const char *formula, const char *fixed) {
    ir_attr attr = ir_op_attr(m, op, formula);
    return number_json(m, attr ? attr : ir_op_attr(m, op, fixed));
}

/* Takes `shape` over. */
static json_t *buffer_json(const char *name, dtype element, json_t *shape) {
    return json_pack("{s:s, s:s, s:o}", "name", name, "dtype", dtype_name(element), "shape", shape);
}

static json_t *buffers_json(const ir_module *m, const char *attr, uint32_t first) {
    ir_op kernel = ir_module_kernel(m);
    const ir_attr_data *names = ir_attr_get(m, ir_op_attr(m, kernel, attr));
    const ir_attr_data *shapes = ir_attr_get(m, ir_op_attr(m, kernel, "shapes"));
    const ir_block_data *body = ir_block_get(m, ir_op_block(m, kernel, 0));
    json_t *list = json_array();
    for (uint32_t i = 0; i < names->count; i++) {
        const ir_attr_data *dims = ir_attr_get(m, shapes->items[first + i]);
        dtype element = ir_type_of(m, body->arguments[first + i])->element;
        json_t *shape = json_array();
        for (uint32_t k = 0; k < dims->count; k++)
            json_array_append_new(shape, number_json(m, dims->items[k]));
        json_array_append_new(list,
                              buffer_json(ir_attr_get(m, names->items[i])->string, element, shape));
    }
    return list;
}

/* Workgroups of the launch that begins with the phase. */
static json_t *grid_json(const ir_module *m, ir_op phase) {
    return ir_op_attr(m, phase, "workgroups") ? need_json(m, phase, "workgroups", "grid")
                                              : json_integer(simt_launch_grid(m, phase));
}

static json_t *phases_json(const ir_module *m) {
    ir_op kernel = ir_module_kernel(m);
    json_t *list = json_array();
    for (ir_op op = ir_block_get(m, ir_op_block(m, kernel, 0))->first; op;
         op = ir_op_get(m, op)->next) {
        if (ir_op_get(m, op)->opcode != TILE_PHASE || ir_op_attr(m, op, "launch"))
            continue;
        text symbol;
        text_init(&symbol);
        describe_symbol(m, op, &symbol);
        json_t *phase = json_pack("{s:s, s:o, s:s}", "symbol", symbol.data, "grid",
                                  grid_json(m, op), "what", ir_op_string(m, op, "what", ""));
        text_release(&symbol);
        const char *constant = ir_op_string(m, op, "constant", NULL);
        if (constant)
            json_object_set_new(phase, "constant", json_string(constant));
        if (ir_op_attr(m, op, "copies"))
            json_object_set_new(phase, "copies", json_integer(ir_op_int(m, op, "copies", 0)));
        if (ir_op_attr(m, op, "concurrent"))
            json_object_set_new(phase, "concurrent", json_true());
        if (ir_op_attr(m, op, "code_of"))
            json_object_set_new(phase, "code_of", json_integer(ir_op_int(m, op, "code_of", 0)));
        describe_maps(m, op, phase);
        json_array_append_new(list, phase);
    }
    return list;
}

static json_t *parameters_json(const ir_module *m) {
    const ir_attr_data *d = ir_attr_get(m, ir_op_attr(m, ir_module_kernel(m), "parameters"));
    json_t *object = json_object();
    for (uint32_t i = 0; i < d->count; i++)
        json_object_set_new(object, d->keys[i], json_integer(ir_attr_get(m, d->items[i])->integer));
    return object;
}

static json_t *strings_json(const ir_module *m, ir_attr attr) {
    const ir_attr_data *d = ir_attr_get(m, attr);
    json_t *list = json_array();
    for (uint32_t i = 0; i < d->count; i++)
        json_array_append_new(list, json_string(ir_attr_get(m, d->items[i])->string));
    return list;
}

static json_t *constraints_json(const ir_module *m, ir_attr attr) {
    const ir_attr_data *d = ir_attr_get(m, attr);
    json_t *list = json_array();
    for (uint32_t i = 0; i < d->count; i++) {
        const ir_attr_data *one = ir_attr_get(m, d->items[i]);
        json_t *object = json_object();
        for (uint32_t k = 0; k < one->count; k++)
            json_object_set_new(object, one->keys[k], number_json(m, one->items[k]));
        json_array_append_new(list, object);
    }
    return list;
}

/* [[input, output], ...]; leaves out an empty list. */
static void put_donated(json_t *signature, const ir_module *m) {
    ir_op kernel = ir_module_kernel(m);
    json_t *list = json_array();
    for (uint32_t i = 0; i < donated_inputs(m, kernel); i++) {
        json_int_t output = donated_output(m, kernel, i);
        if (output >= 0)
            json_array_append_new(list, json_pack("[i, I]", (int)i, output));
    }
    if (json_array_size(list))
        json_object_set(signature, "donated", list);
    json_decref(list);
}

/* Donations that hold of all images. */
static void keep_donated(json_t *signature, const ir_module *m) {
    json_t *list = json_object_get(signature, "donated");
    for (size_t i = json_array_size(list); i-- > 0;) {
        const json_t *one = json_array_get(list, i);
        uint32_t input = (uint32_t)json_integer_value(json_array_get(one, 0));
        if (donated_output(m, ir_module_kernel(m), input) !=
            json_integer_value(json_array_get(one, 1)))
            json_array_remove(list, i);
    }
}

static json_t *signature_json(const ir_module *m) {
    ir_op kernel = ir_module_kernel(m);
    uint32_t inputs = ir_attr_get(m, ir_op_attr(m, kernel, "inputs"))->count;
    json_t *root =
        json_pack("{s:s, s:o, s:o}", "name", ir_op_string(m, kernel, "name", "kernel"), "inputs",
                  buffers_json(m, "inputs", 0), "outputs", buffers_json(m, "outputs", inputs));
    ir_attr dims = ir_op_attr(m, kernel, "dims"), constants = ir_op_attr(m, kernel, "constants");
    if (constants)
        json_object_set_new(root, "constants", strings_json(m, constants));
    put_donated(root, m);
    if (!dims)
        return root;
    json_object_set_new(root, "dims", strings_json(m, dims));
    json_object_set_new(root, "constraints",
                        constraints_json(m, ir_op_attr(m, kernel, "constraints")));
    return root;
}

/* Launch spec that a caller may state: the grid of the last phase, whose workgroups are alone. */
static json_t *launch_json(const ir_module *m, const json_t *phases, json_t *scratch) {
    int64_t threads = ir_op_int(m, ir_module_kernel(m), "threads", 1) + tile_loaders(m);
    size_t count = json_array_size(phases);
    json_t *last = json_array_get(phases, count - 1);
    json_t *workgroups = count ? json_incref(json_object_get(last, "grid")) : json_integer(0);
    return json_pack("{s:[o, i, i], s:[I, i, i], s:O}", "grid", workgroups, 1, 1, "block",
                     (json_int_t)threads, 1, 1, "smem_bytes", scratch);
}

static void add_fallback(json_t *list, const char *type, const char *as, const char *why) {
    json_array_append_new(list, json_pack("{s:s, s:s, s:s}", "type", type, "as", as, "why", why));
}

/* Substitutes for what the target lacks, or the kernel cannot have. */
static json_t *fallbacks_json(const artifact_levels *levels) {
    const ir_module *m = levels->tile;
    int64_t moved = ir_op_int(m, ir_module_kernel(m), "moved_bytes", 0);
    const target_info *target = target_find(levels->isa);
    json_t *list = json_array();
    char why[160];
    snprintf(why, sizeof why, "%lld bytes of a workgroup do not fit the %lld that one of %s has",
             (long long)moved, (long long)target->shared_bytes, target->name);
    if (moved)
        add_fallback(list, "shared memory", "workspace", why);
    const char *missed = ir_op_string(m, ir_module_kernel(m), "missed", NULL);
    if (missed)
        add_fallback(list, "matrix unit", "threads", missed);
    const int64_t stages = ir_op_int(m, ir_module_kernel(m), "stages", 0);
    snprintf(why, sizeof why, "there is room for stages=%lld of a load", (long long)stages);
    if (stages)
        add_fallback(list, "stages", "fewer", why);
    if (levels->why_joined)
        add_fallback(list, "tiles", "whole tensors", levels->why_joined);
    return list;
}

/* [offset, bytes, first phase, last phase] of each buffer of the workspace; NULL: none is planned.
 */
static json_t *plan_json(const ir_module *m) {
    ir_attr plan = ir_op_attr(m, ir_module_kernel(m), "workspace_plan");
    const ir_attr_data *rows = plan ? ir_attr_get(m, plan) : NULL;
    json_t *list = rows ? json_array() : NULL;
    for (uint32_t i = 0; rows && i < rows->count; i++) {
        const ir_attr_data *row = ir_attr_get(m, rows->items[i]);
        json_t *numbers = json_array();
        for (uint32_t k = 0; k < row->count; k++)
            json_array_append_new(numbers, json_integer(ir_attr_get(m, row->items[k])->integer));
        json_array_append_new(list, numbers);
    }
    return list;
}

static json_t *needs_json(const artifact_levels *levels) {
    const ir_module *m = levels->tile;
    ir_op kernel = ir_module_kernel(m);
    json_t *phases = phases_json(m), *scratch = need_json(m, kernel, "scratch", "scratch_bytes");
    json_t *needs =
        json_pack("{s:o, s:o, s:o, s:o, s:o}", "tile", parameters_json(m), "workspace_bytes",
                  need_json(m, kernel, "workspace", "workspace_bytes"), "launch",
                  launch_json(m, phases, scratch), "scratch_bytes", scratch, "phases", phases);
    int64_t prepared = ir_op_int(m, kernel, "prepared_bytes", 0),
            unplanned = ir_op_int(m, kernel, "unplanned_bytes", 0);
    json_t *fallbacks = fallbacks_json(levels);
    if (json_array_size(fallbacks))
        json_object_set(needs, "fallbacks", fallbacks);
    json_decref(fallbacks);
    if (unplanned)
        json_object_set_new(needs, "unplanned_workspace_bytes", json_integer(unplanned));
    json_t *plan = plan_json(m);
    if (plan)
        json_object_set_new(needs, "workspace_plan", plan);
    if (prepared)
        json_object_set_new(needs, "prepared_bytes", json_integer(prepared));
    return needs;
}

void artifact_init(artifact_builder *b, compiler_instance *instance,
                   const compiler_options *options) {
    memset(b, 0, sizeof *b);
    b->generic = options->generic;
    b->profile = compiler_profile_name(options->profile);
    b->provenance = options->provenance;
    b->graph = compiler_instance_text(instance);
    b->graph_hash = *compiler_instance_hash(instance);
    const ir_module *graph = compiler_instance_graph(instance);
    ir_attr effects = ir_op_attr(graph, ir_module_kernel(graph), "effects");
    b->effects = effects ? strings_json(graph, effects) : NULL;
    b->checks_bounds = options->check_bounds;
}

void artifact_release(artifact_builder *b) {
    json_decref(b->signature);
    json_decref(b->effects);
    json_decref(b->program);
    for (uint32_t i = 0; i < b->count; i++) {
        text_release(&b->images[i].schedule);
        text_release(&b->images[i].object);
        json_decref(b->images[i].needs);
        json_decref(b->images[i].when);
    }
}

static void copy(text *to, const text *from) {
    text_init(to);
    text_append_bytes(to, from->data, from->length);
}

static json_t *when_json(const ir_bindings *when) {
    json_t *object = json_object();
    for (uint32_t i = 0; i < when->count; i++)
        json_object_set_new(object, when->items[i].name, json_integer(when->items[i].value));
    return object;
}

/* Leaves out a key that has nothing to say. */
static void set_known(json_t *image, const char *key, json_t *value) {
    if (json_object_size(value))
        json_object_set(image, key, value);
}

void artifact_add(artifact_builder *b, const artifact_levels *levels, const ir_bindings *when) {
    struct artifact_image *image = &b->images[b->count++];
    if (b->count == 1)
        b->signature = signature_json(levels->tile);
    else
        keep_donated(b->signature, levels->tile);
    *image = (struct artifact_image){.isa = levels->isa, .when = when ? when_json(when) : NULL};
    for (uint32_t i = 0; i + 1 < b->count; i++)
        image->number += strcmp(b->images[i].isa, levels->isa) == 0;
    target_image_kind(levels->isa, image->target);
    image->needs = needs_json(levels);
    set_known(image->needs, "fragments", levels->fragments);
    set_known(image->needs, "epilogue", levels->epilogues);
    set_known(image->needs, "resources", levels->resources);
    if (levels->special)
        json_object_set_new(
            image->needs, "specialized",
            json_pack("{s:s, s:s}", "when", levels->special->when, "use", levels->special->use));
    if (levels->library)
        json_object_set_new(image->needs, "library", json_string(levels->library));
    if (json_array_size(levels->units))
        json_object_set(image->needs, "matrix_units", levels->units);
    copy(&image->schedule, levels->schedule);
    copy(&image->object, levels->object);
}

static int64_t bound_value(const ir_bindings *v, const char *name) {
    for (uint32_t i = 0; i < v->count; i++)
        if (strcmp(v->items[i].name, name) == 0)
            return v->items[i].value;
    return -1;
}

bool artifact_check_variant(const artifact_builder *b, const ir_bindings *variants, uint32_t index,
                            status *st) {
    const json_t *dims = json_object_get(b->signature, "dims");
    const ir_bindings *v = &variants[index];
    if (json_array_size(dims) == 0)
        return status_set(st, STATUS_INVALID,
                          "the kernel's shapes are fixed: there is nothing to specialise");
    for (size_t i = 0; i < json_array_size(dims); i++)
        if (bound_value(v, json_string_value(json_array_get(dims, i))) < 0)
            return status_set(st, STATUS_INVALID, "dimension %s has no value; give %s=...",
                              json_string_value(json_array_get(dims, i)),
                              json_string_value(json_array_get(dims, i)));
    if (v->count != json_array_size(dims))
        return status_set(st, STATUS_INVALID, "%u dimensions are given; the kernel has %zu",
                          v->count, json_array_size(dims));
    for (uint32_t k = 0; k < index; k++) {
        bool same = true;
        for (uint32_t i = 0; i < v->count; i++)
            same &= bound_value(&variants[k], v->items[i].name) == v->items[i].value;
        if (same)
            return status_set(st, STATUS_INVALID, "dimensions are given twice to specialise for");
    }
    return true;
}

/* ---- the file ---- */

static void set_hash(json_t *object, const char *key, const sha256 *hash) {
    char hex[65];
    sha256_hex(hash, hex);
    json_object_set_new(object, key, json_string(hex));
}

/* The needs of a launch of one image, and how it was made. */
static json_t *image_json(const struct artifact_image *image) {
    json_t *object = json_pack("{s:s}", "isa", image->isa);
    sha256 hash = sha256_of(image->schedule.data, image->schedule.length);
    json_object_update(object, image->needs);
    if (image->schedule.length)
        set_hash(object, "schedule_sha256", &hash);
    if (image->when)
        json_object_set(object, "when", image->when);
    return object;
}

enum { KIND_BYTES = 32 };
_Static_assert((int)ARTIFACT_IMAGES_MAX <= 1000, "numbers of images have three digits");

/* Further images of a level have a number. */
static void set_kind(const struct artifact_image *image, const char *name, char kind[KIND_BYTES]) {
    if (image->number)
        snprintf(kind, KIND_BYTES, "%.27s:%u", name, (unsigned)image->number % 1000);
    else
        snprintf(kind, KIND_BYTES, "%s", name);
}

static void code_kind(const struct artifact_image *image, char kind[KIND_BYTES]) {
    set_kind(image, image->target, kind);
}

static void schedule_kind(const struct artifact_image *image, char kind[KIND_BYTES]) {
    char name[KIND_BYTES];
    snprintf(name, sizeof name, "schedule:%s", image->isa);
    set_kind(image, name, kind);
}

static json_t *images_json(const artifact_builder *b) {
    json_t *list = json_array();
    for (uint32_t i = 0; i < b->count; i++) {
        json_t *one = image_json(&b->images[i]);
        char section[KIND_BYTES];
        code_kind(&b->images[i], section);
        json_object_set_new(one, "section", json_string(section));
        json_array_append_new(list, one);
    }
    return list;
}

static bool describes_images(const artifact_builder *b) {
    return b->count > 1 || b->generic;
}

/* Puts a schedule that was found and a space of tiles; modules without either say nothing. */
static void put_provenance(const compiler_provenance *p, json_t *root) {
    if (p->tuned)
        json_object_set_new(root, "schedule",
                            json_pack("{s:s, s:s}", "from", "tuned", "values", p->tuned));
    if (p->space && *p->space)
        json_object_set_new(root, "space", json_string(p->space));
    if (p->unused_hints && *p->unused_hints)
        json_object_set_new(root, "unused_hints", json_string(p->unused_hints));
}

/* Outputs that are no results say what they are for. */
static void put_effects(json_t *root, const json_t *effects) {
    json_t *outputs = json_object_get(root, "outputs"), *words;
    size_t i;
    json_array_foreach((json_t *)effects, i, words) {
        if (json_string_length(words))
            json_object_set(json_array_get(outputs, i), "effect", words);
    }
}

/* One image: its description is the module's own. */
static char *metadata_json(const artifact_builder *b) {
    json_t *root = json_pack("{s:s, s:s, s:i}", "schema", "tsr.module/2", "profile", b->profile,
                             "numerics_version", TSR_NUMERICS_VERSION);
    json_object_update(root, b->signature);
    put_effects(root, b->effects);
    set_hash(root, "graph_sha256", &b->graph_hash);
    json_t *images = b->program            ? json_pack("{s:O}", "program", b->program)
                     : describes_images(b) ? json_pack("{s:o}", "images", images_json(b))
                                           : image_json(&b->images[0]);
    json_object_update(root, images);
    json_decref(images);
    if (b->provenance)
        put_provenance(b->provenance, root);
    char *dumped = json_dumps(root, JSON_INDENT(1) | JSON_SORT_KEYS);
    json_decref(root);
    return dumped;
}

/* Hash of all schedules, one after the other; of a program, its kernels' modules and constants. */
static sha256 schedules_hash(const artifact_builder *b) {
    sha256_stream *s = sha256_stream_new();
    for (uint32_t i = 0; i < b->count; i++)
        sha256_stream_update(s, b->images[i].schedule.data, b->images[i].schedule.length);
    for (uint32_t i = 0; i < b->section_count; i++)
        sha256_stream_update(s, b->sections[i].data, b->sections[i].size_bytes);
    return sha256_stream_finish(s);
}

_Static_assert(sizeof(double) << LIMIT_ELEMENT_BITS <= METADATA_LIMIT,
               "a tensor that the language allows is one that a module may have");
_Static_assert((int)LIMIT_PARAMETERS <= (int)METADATA_PARAMETERS_MAX &&
                   (int)ARTIFACT_IMAGES_MAX <= (int)METADATA_IMAGES_MAX,
               "so are parameters and images");

/* Checks that a runtime can read what is written. */
static bool fits_a_module(const artifact_builder *b, const char *json, status *st) {
    status why = STATUS_INIT;
    metadata m;
    for (uint32_t i = 0; i < b->count; i++) {
        size_t phases = json_array_size(json_object_get(b->images[i].needs, "phases"));
        if (phases > METADATA_PHASES_MAX)
            return status_set(st, STATUS_INVALID,
                              "the kernel would run in %zu phases, and a module has at most %d: "
                              "split the kernel",
                              phases, METADATA_PHASES_MAX);
    }
    if (!metadata_parse(&m, json, strlen(json), &why))
        return status_set(st, STATUS_INVALID, "the kernel is too large for a module: %s",
                          why.message);
    metadata_release(&m);
    return true;
}

static json_t *metadata_of(const compiler_artifact *a) {
    module_part part;
    return module_find(a->image, a->image_size, "metadata", &part)
               ? json_loadb(part.data, part.size_bytes, 0, NULL)
               : NULL;
}

void artifact_donated(const compiler_artifact *a, int64_t *donated) {
    json_t *root = metadata_of(a), *list = json_object_get(root, "donated");
    for (size_t i = 0; i < json_array_size(json_object_get(root, "inputs")); i++)
        donated[i] = -1;
    for (size_t i = 0; i < json_array_size(list); i++) {
        const json_t *one = json_array_get(list, i);
        donated[json_integer_value(json_array_get(one, 0))] =
            json_integer_value(json_array_get(one, 1));
    }
    json_decref(root);
}

bool artifact_write(const artifact_builder *b, compiler_artifact *out, status *st) {
    char kinds[ARTIFACT_IMAGES_MAX][2][KIND_BYTES];
    out->graph_hash = b->graph_hash;
    out->schedule_hash = schedules_hash(b);
    char *json = metadata_json(b);
    if (!fits_a_module(b, json, st)) {
        free(json);
        return false;
    }
    module_part *parts = base_calloc(2 + 2 * ARTIFACT_IMAGES_MAX + b->section_count, sizeof *parts);
    parts[0] = (module_part){"metadata", json, strlen(json)};
    parts[1] = (module_part){"graph", b->graph->data, b->graph->length};
    size_t count = 2;
    for (uint32_t i = 0; i < b->count; i++) {
        const struct artifact_image *image = &b->images[i];
        code_kind(image, kinds[i][1]);
        schedule_kind(image, kinds[i][0]);
        const char *schedule = describes_images(b) ? kinds[i][0] : "schedule";
        if (image->schedule.length)
            parts[count++] = (module_part){schedule, image->schedule.data, image->schedule.length};
        parts[count++] = (module_part){kinds[i][1], image->object.data, image->object.length};
    }
    for (uint32_t i = 0; i < b->section_count; i++)
        parts[count++] = b->sections[i];
    uint16_t minor = b->in_place                                  ? MODULE_ABI_MINOR_IN_PLACE
                     : b->checks_bounds                           ? MODULE_ABI_MINOR_BOUNDS
                     : b->fills                                   ? MODULE_ABI_MINOR_FILL
                     : b->program                                 ? MODULE_ABI_MINOR_PROGRAM
                     : json_object_get(b->signature, "constants") ? MODULE_ABI_MINOR_PREPARED
                                                                  : MODULE_ABI_MINOR;
    bool ok = module_write_for(minor, parts, count, &out->image, &out->image_size, st);
    if (ok)
        out->module_hash = sha256_of(out->image, out->image_size);
    free(parts);
    free(json);
    return ok;
}

/* ---- code of others ---- */

static json_t *buffers_of_json(const struct compiler_buffer *buffers, uint32_t count) {
    json_t *list = json_array();
    for (uint32_t i = 0; i < count; i++) {
        json_t *shape = json_array();
        for (int axis = 0; axis < buffers[i].rank; axis++)
            json_array_append_new(shape, json_integer(buffers[i].dims[axis]));
        json_array_append_new(list, buffer_json(buffers[i].name, buffers[i].type, shape));
    }
    return list;
}

json_t *artifact_signature_json(compiler_instance *instance, const compiler_signature *s) {
    const ir_module *graph = compiler_instance_graph(instance);
    return json_pack("{s:s, s:o, s:o}", "name",
                     ir_op_string(graph, ir_module_kernel(graph), "name", "kernel"), "inputs",
                     buffers_of_json(s->inputs, s->input_count), "outputs",
                     buffers_of_json(s->outputs, s->output_count));
}

static json_t *foreign_needs_json(const compiler_foreign *code) {
    json_t *call = code->call ? json_loads(code->call, 0, NULL) : NULL;
    json_t *phase = json_pack("{s:s, s:i, s:s}", "symbol", code->symbol, "grid", 1, "what", "call");
    json_t *launch = json_pack("{s:[i,i,i], s:[i,i,i], s:i}", "grid", 1, 1, 1, "block", 1, 1, 1,
                               "smem_bytes", 0);
    json_object_update_existing(launch, call);
    json_int_t shared = json_integer_value(json_object_get(launch, "smem_bytes"));
    if (call)
        json_object_set_new(phase, "call", call);
    return json_pack("{s:i, s:I, s:{}, s:[o], s:o}", "workspace_bytes", 0, "scratch_bytes", shared,
                     "tile", "phases", phase, "launch", launch);
}

bool compiler_wrap(compiler_instance *instance, const compiler_foreign *code,
                   compiler_artifact *out, status *st) {
    compiler_signature signature;
    const compiler_options options = {.profile = PROFILE_FAST};
    artifact_builder b;
    *out = (compiler_artifact){0};
    if (!compiler_signature_of(instance, &signature, st))
        return false;
    artifact_init(&b, instance, &options);
    b.signature = artifact_signature_json(instance, &signature);
    struct artifact_image *image = &b.images[b.count++];
    image->isa = strchr(code->target, '/') + 1;
    snprintf(image->target, sizeof image->target, "%s", code->target);
    image->needs = foreign_needs_json(code);
    text_init(&image->schedule);
    text_init(&image->object);
    text_append_bytes(&image->object, code->bytes, code->size_bytes);
    bool ok = artifact_write(&b, out, st);
    artifact_release(&b);
    return ok;
}

void compiler_artifact_release(compiler_artifact *artifact) {
    free(artifact->image);
    artifact->image = NULL;
}
