/* execute_fallbacks.c - what the metadata of a module say of its launches: what takes the place of
 * something that a backend or a target lacks. */
#include <string.h>

#include "case/backend.h"
#include "case/capability.h"
#include "exec/execution.h"
#include "job/result.h"
#include "module.h"

void execution_put_fallbacks(execution *e) {
    backend_id id = (backend_id)(backend_named(e->job->backend) - backend_table);
    dtype lacking[DTYPE_COUNT];
    uint32_t count =
        capability_fallbacks(id, compiler_instance_graph(e->context->instance), lacking);
    json_t *list = result_get(e->result, RESULT_FALLBACKS);
    for (uint32_t i = 0; i < count; i++) {
        const capability *c = capability_of(id, lacking[i]);
        json_array_append_new(list, json_pack("{s:s, s:s, s:s}", "type", dtype_name(lacking[i]),
                                              "as", dtype_name(c->as), "why", c->why));
    }
}

/* A type is there where a matrix unit multiplies it. */
static void take_back(dtype type, json_t *list) {
    for (size_t i = 0; i < json_array_size(list); i++) {
        const json_t *name = json_object_get(json_array_get(list, i), "type");
        if (strcmp(json_string_value(name), dtype_name(type)) == 0)
            json_array_remove(list, i--);
    }
}

/* Appends the fallbacks of the whole module, or of one of its images. */
static void append(const json_t *described, json_t *list) {
    size_t i;
    json_t *one;
    json_array_foreach(json_object_get(described, "matrix_units"), i, one)
        take_back(capability_unit_type(json_string_value(one)), list);
    json_array_foreach(json_object_get(described, "fallbacks"), i, one)
        json_array_append(list, one);
}

/* Puts the source's @specialize for this target. */
static void put_special(execution *e, const json_t *metadata) {
    json_t *special = json_object_get(metadata, "specialized");
    if (special)
        result_put_SPECIALIZED(e->result, json_incref(special));
}

void execution_put_module_facts(execution *e) {
    module_part part;
    size_t i;
    json_t *image, *list = result_get(e->result, RESULT_FALLBACKS);
    bool found = e->artifact.image &&
                 module_find(e->artifact.image, e->artifact.image_size, "metadata", &part);
    json_t *metadata = found ? json_loadb(part.data, part.size_bytes, 0, NULL) : NULL;
    execution_put_memory(e, metadata);
    put_special(e, metadata);
    append(metadata, list);
    json_array_foreach(json_object_get(metadata, "images"), i, image) append(image, list);
    json_decref(metadata);
}
