/* artifact.c - writes a module: metadata, graph, schedules and machine code (docs/modules.md). */
#include "artifact.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "module.h"
#include "tile/tile.h"

static json_t *buffers_json(const ir_module *m, const char *attr, uint32_t first) {
    ir_op kernel = ir_module_kernel(m);
    const ir_attr_data *names = ir_attr_get(m, ir_op_attr(m, kernel, attr));
    const ir_attr_data *shapes = ir_attr_get(m, ir_op_attr(m, kernel, "shapes"));
    const ir_block_data *body = ir_block_get(m, ir_op_block(m, kernel, 0));
    json_t *list = json_array();
    for (uint32_t i = 0; i < names->count; i++) {
        const ir_attr_data *dims = ir_attr_get(m, shapes->items[first + i]);
        dtype element = ir_type_get(m, ir_value_get(m, body->arguments[first + i])->type)->element;
        json_t *shape = json_array();
        for (uint32_t k = 0; k < dims->count; k++)
            json_array_append_new(shape, json_integer(ir_attr_get(m, dims->items[k])->integer));
        json_array_append_new(list, json_pack("{s:s, s:s, s:o}", "name",
                                              ir_attr_get(m, names->items[i])->string, "dtype",
                                              dtype_name(element), "shape", shape));
    }
    return list;
}

static json_t *phases_json(const ir_module *m) {
    ir_op kernel = ir_module_kernel(m);
    const char *name = ir_op_string(m, kernel, "name", "kernel");
    json_t *list = json_array();
    for (ir_op op = ir_block_get(m, ir_op_block(m, kernel, 0))->first; op;
         op = ir_op_get(m, op)->next) {
        if (ir_op_get(m, op)->opcode != TILE_PHASE)
            continue;
        char symbol[512];
        snprintf(symbol, sizeof symbol, "%s_phase_%lld", name,
                 (long long)ir_op_int(m, op, "index", 0));
        json_array_append_new(list, json_pack("{s:s, s:I, s:s}", "symbol", symbol, "grid",
                                              (json_int_t)ir_op_int(m, op, "grid", 0), "what",
                                              ir_op_string(m, op, "what", "")));
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

static json_t *signature_json(const ir_module *m) {
    ir_op kernel = ir_module_kernel(m);
    uint32_t inputs = ir_attr_get(m, ir_op_attr(m, kernel, "inputs"))->count;
    return json_pack("{s:s, s:o, s:o}", "name", ir_op_string(m, kernel, "name", "kernel"), "inputs",
                     buffers_json(m, "inputs", 0), "outputs", buffers_json(m, "outputs", inputs));
}

static json_t *needs_json(const ir_module *m) {
    ir_op kernel = ir_module_kernel(m);
    return json_pack("{s:o, s:I, s:I, s:o}", "tile", parameters_json(m), "workspace_bytes",
                     (json_int_t)ir_op_int(m, kernel, "workspace_bytes", 0), "scratch_bytes",
                     (json_int_t)ir_op_int(m, kernel, "scratch_bytes", 0), "phases",
                     phases_json(m));
}

void artifact_init(artifact_builder *b, compiler_profile profile) {
    memset(b, 0, sizeof *b);
    b->profile = compiler_profile_name(profile);
    text_init(&b->graph);
}

void artifact_release(artifact_builder *b) {
    text_release(&b->graph);
    json_decref(b->signature);
    for (uint32_t i = 0; i < b->count; i++) {
        text_release(&b->images[i].schedule);
        text_release(&b->images[i].object);
        json_decref(b->images[i].needs);
    }
}

static void copy(text *to, const text *from) {
    text_init(to);
    text_append_bytes(to, from->data, from->length);
}

void artifact_add(artifact_builder *b, const ir_module *tile, const char *isa, const text *graph,
                  const text *schedule, const text *object) {
    struct artifact_image *image = &b->images[b->count++];
    if (b->count == 1) {
        text_append_bytes(&b->graph, graph->data, graph->length);
        b->signature = signature_json(tile);
    }
    image->isa = isa;
    image->needs = needs_json(tile);
    copy(&image->schedule, schedule);
    copy(&image->object, object);
}

/* ---- the file ---- */

static void set_hash(json_t *object, const char *key, const sha256 *hash) {
    char hex[65];
    sha256_hex(hash, hex);
    json_object_set_new(object, key, json_string(hex));
}

/* What a launch of one image needs, and how it was made. */
static json_t *image_json(const struct artifact_image *image) {
    json_t *object = json_pack("{s:s}", "isa", image->isa);
    sha256 hash = sha256_of(image->schedule.data, image->schedule.length);
    json_object_update(object, image->needs);
    set_hash(object, "schedule_sha256", &hash);
    return object;
}

static json_t *images_json(const artifact_builder *b) {
    json_t *list = json_array();
    for (uint32_t i = 0; i < b->count; i++) {
        json_t *one = image_json(&b->images[i]);
        json_object_set_new(one, "section", json_sprintf("elf:%s", b->images[i].isa));
        json_array_append_new(list, one);
    }
    return list;
}

/* One image: its description is the module's own, which every runtime can read. */
static char *metadata(const artifact_builder *b, const sha256 *graph_hash) {
    json_t *root = json_pack("{s:s, s:s, s:i}", "schema", "tsr.module/1", "profile", b->profile,
                             "numerics_version", TSR_NUMERICS_VERSION);
    json_object_update(root, b->signature);
    set_hash(root, "graph_sha256", graph_hash);
    json_t *images =
        b->count == 1 ? image_json(&b->images[0]) : json_pack("{s:o}", "images", images_json(b));
    json_object_update(root, images);
    json_decref(images);
    char *dumped = json_dumps(root, JSON_INDENT(1) | JSON_SORT_KEYS);
    json_decref(root);
    return dumped;
}

/* Of all schedules, one after the other. */
static sha256 schedules_hash(const artifact_builder *b) {
    sha256_stream *s = sha256_stream_new();
    for (uint32_t i = 0; i < b->count; i++)
        sha256_stream_update(s, b->images[i].schedule.data, b->images[i].schedule.length);
    return sha256_stream_finish(s);
}

bool artifact_write(const artifact_builder *b, compiler_artifact *out, status *st) {
    char kinds[ARTIFACT_IMAGES_MAX][2][32];
    module_part parts[2 + 2 * ARTIFACT_IMAGES_MAX];
    out->graph_hash = sha256_of(b->graph.data, b->graph.length);
    out->schedule_hash = schedules_hash(b);
    char *json = metadata(b, &out->graph_hash);
    parts[0] = (module_part){"metadata", json, strlen(json)};
    parts[1] = (module_part){"graph", b->graph.data, b->graph.length};
    for (uint32_t i = 0; i < b->count; i++) {
        const struct artifact_image *image = &b->images[i];
        bool one = b->count == 1;
        snprintf(kinds[i][0], sizeof kinds[i][0], "schedule%s%s", one ? "" : ":",
                 one ? "" : image->isa);
        snprintf(kinds[i][1], sizeof kinds[i][1], "elf:%s", image->isa);
        parts[2 + 2 * i] = (module_part){kinds[i][0], image->schedule.data, image->schedule.length};
        parts[3 + 2 * i] = (module_part){kinds[i][1], image->object.data, image->object.length};
    }
    uint16_t minor = b->count == 1 ? MODULE_ABI_MINOR_ONE_IMAGE : MODULE_ABI_MINOR_IMAGES;
    bool ok = module_write(parts, 2 + 2 * b->count, minor, &out->image, &out->image_size, st);
    if (ok)
        out->module_hash = sha256_of(out->image, out->image_size);
    free(json);
    return ok;
}
