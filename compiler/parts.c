/* parts.c - parts of inputs and outputs: written into the module of a rank, and read from it. */
#include "parts.h"

#include <stdlib.h>

#include "base/arena.h"
#include "base/dtype.h"
#include "module.h"
#include "ops/sharding.h"
#include "tessera/ranks.h"

/* "2+1/4 0+1/2" as [[2, 1, 4], [0, 1, 2]]; *size, of all shards, becomes that of these. */
static json_t *spans_json(const char **at, json_int_t *size) {
    json_t *out = json_array();
    for (; **at && **at != ','; *at += **at == ' ') {
        char *end;
        json_int_t n[3];
        for (int i = 0; i < 3; i++) {
            n[i] = strtoll(*at, &end, 10);
            *at = i < 2 ? end + 1 : end;
        }
        *size = *size / n[2] * n[1];
        json_array_append_new(out, json_pack("[I, I, I]", n[0], n[1], n[2]));
    }
    *at += **at == ',';
    return out;
}

void parts_write(const ir_module *m, json_t *signature) {
    const ir_op kernel = ir_module_kernel(m);
    json_t *inputs = json_object_get(signature, "inputs"),
           *outputs = json_object_get(signature, "outputs");
    const size_t count = json_array_size(inputs);
    for (size_t i = 0; i < count + json_array_size(outputs); i++) {
        json_t *one = i < count ? json_array_get(inputs, i) : json_array_get(outputs, i - count);
        json_t *shape = json_object_get(one, "shape");
        const char *at = sharding_part(m, kernel, (uint32_t)i);
        if (!at)
            continue;
        json_t *part = json_array();
        for (size_t d = 0; d < json_array_size(shape); d++) {
            json_int_t size = json_integer_value(json_array_get(shape, d));
            json_array_append_new(part, spans_json(&at, &size));
            json_array_set_new(shape, d, json_integer(size));
        }
        json_object_set_new(one, "part", part);
    }
}

static void read_part(const json_t *buffer, shard_part *out) {
    const json_t *shape = json_object_get(buffer, "shape"), *part = json_object_get(buffer, "part");
    const char *type = json_string_value(json_object_get(buffer, "dtype"));
    out->element_bytes = (uint32_t)dtype_size(dtype_from_name(type ? type : ""));
    out->rank = (uint32_t)json_array_size(shape);
    for (uint32_t d = 0; d < out->rank && d < SHARD_PART_DIMS; d++) {
        const json_t *axes = json_array_get(part, d);
        out->dims[d] = out->whole[d] = json_integer_value(json_array_get(shape, d));
        out->axes[d] = (uint32_t)json_array_size(axes);
        for (uint32_t i = 0; i < out->axes[d] && i < SHARD_PART_AXES; i++) {
            const json_t *one = json_array_get(axes, i);
            shard_span *s = &out->spans[d][i];
            *s = (shard_span){json_integer_value(json_array_get(one, 0)),
                              json_integer_value(json_array_get(one, 1)),
                              json_integer_value(json_array_get(one, 2))};
            out->whole[d] = out->whole[d] / s->count * s->total;
        }
    }
}

shard_part *compiler_parts(const void *image, size_t image_size) {
    static const char *const lists[] = {"inputs", "outputs"};
    module_part metadata;
    json_t *root = module_find(image, image_size, "metadata", &metadata)
                       ? json_loadb(metadata.data, metadata.size_bytes, 0, NULL)
                       : NULL;
    const size_t inputs = json_array_size(json_object_get(root, lists[0])),
                 outputs = json_array_size(json_object_get(root, lists[1]));
    shard_part *out = base_calloc(inputs + outputs + 1, sizeof *out);
    bool any = false;
    for (size_t i = 0; i < inputs + outputs; i++) {
        const json_t *one =
            json_array_get(json_object_get(root, lists[i >= inputs]), i < inputs ? i : i - inputs);
        read_part(one, &out[i]);
        any |= json_object_get(one, "part") != NULL;
    }
    json_decref(root);
    if (!any)
        free(out);
    return any ? out : NULL;
}
