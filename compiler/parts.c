/* parts.c - parts of inputs and outputs: written into the module of a rank, and read from it. */
#include "parts.h"

#include <stdlib.h>

#include "base/arena.h"
#include "base/dtype.h"
#include "module.h"
#include "ops/sharding.h"
#include "tessera/compiler.h"

/* "2+1/4 0+1/2": the spans of one dimension, up to ',' or the end. */
static void read_spans(const char **at, shard_part *out, uint32_t d) {
    for (; **at && **at != ','; *at += **at == ' ') {
        char *end;
        int64_t n[3];
        for (int i = 0; i < 3; i++) {
            n[i] = strtoll(*at, &end, 10);
            *at = i < 2 ? end + 1 : end;
        }
        out->spans[d][out->axes[d]++] = (shard_span){n[0], n[1], n[2]};
        out->whole[d] = out->whole[d] / n[1] * n[2];
    }
    *at += **at == ',';
}

static void read_words(const char *words, const ir_type_data *t, shard_part *out) {
    *out =
        (shard_part){.element_bytes = (uint32_t)dtype_size(t->element), .rank = (uint32_t)t->rank};
    for (uint32_t d = 0; d < out->rank; d++) {
        out->dims[d] = out->whole[d] = t->dims[d];
        if (words)
            read_spans(&words, out, d);
    }
}

shard_part *parts_of(const ir_module *m) {
    const ir_op kernel = ir_module_kernel(m);
    const uint32_t count = sharding_count(m);
    shard_part *out = base_calloc((size_t)count + 1, sizeof *out);
    bool any = false;
    for (uint32_t i = 0; i < count; i++) {
        const char *words = sharding_part(m, kernel, i);
        read_words(words, ir_type_of(m, sharding_value(m, i)), &out[i]);
        any |= words != NULL;
    }
    if (!any)
        free(out);
    return any ? out : NULL;
}

static void write_part(const shard_part *p, json_t *buffer) {
    json_t *shape = json_array(), *part = json_array();
    bool cut = false;
    for (uint32_t d = 0; d < p->rank; d++) {
        json_t *axes = json_array();
        for (uint32_t i = 0; i < p->axes[d]; i++) {
            const shard_span *s = &p->spans[d][i];
            json_array_append_new(axes, json_pack("[I, I, I]", (json_int_t)s->first,
                                                  (json_int_t)s->count, (json_int_t)s->total));
        }
        cut |= p->axes[d] > 0;
        json_array_append_new(part, axes);
        json_array_append_new(shape, json_integer(p->dims[d]));
    }
    if (cut) {
        json_object_set(buffer, "shape", shape);
        json_object_set(buffer, "part", part);
    }
    json_decref(shape);
    json_decref(part);
}

void parts_write(const ir_module *m, json_t *signature) {
    json_t *inputs = json_object_get(signature, "inputs"),
           *outputs = json_object_get(signature, "outputs");
    const size_t count = json_array_size(inputs);
    shard_part *parts = parts_of(m);
    for (size_t i = 0; parts && i < count + json_array_size(outputs); i++)
        write_part(&parts[i],
                   i < count ? json_array_get(inputs, i) : json_array_get(outputs, i - count));
    free(parts);
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

void compiler_shards(const compiler_instance *instance, uint32_t number,
                     int64_t shards[SHARD_PART_DIMS]) {
    const ir_module *m = compiler_instance_graph(instance);
    const char *words = sharding_of(m, ir_module_kernel(m), number);
    const int rank = ir_type_of(m, sharding_value(m, number))->rank;
    sharding_dim dims[IR_MAX_RANK];
    const bool cut = words && sharding_read(words, rank, dims);
    for (int d = 0; d < SHARD_PART_DIMS; d++) {
        shards[d] = 1;
        for (uint32_t i = 0; cut && d < rank && i < dims[d].count; i++)
            shards[d] *= dims[d].axes[i].shards;
    }
}
