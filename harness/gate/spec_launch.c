/* spec_launch.c - reads a launch request. */
#include "gate/spec_launch.h"

#include <stdlib.h>

#include "base/arena.h"

static bool read_sizes(spec_request *out, const json_t *spec, status *st) {
    launch_request *r = &out->request;
    const json_t *sizes = json_object_get(spec, "sizes"), *size;
    size_t i;
    r->input_count = (uint32_t)json_integer_value(json_object_get(spec, "inputs"));
    r->output_count = (uint32_t)json_integer_value(json_object_get(spec, "outputs"));
    if (json_array_size(sizes) != r->input_count + r->output_count)
        return status_set(st, STATUS_INVALID, "%zu sizes for %u inputs and %u outputs",
                          json_array_size(sizes), r->input_count, r->output_count);
    out->sizes = base_calloc(json_array_size(sizes) + 1, sizeof *out->sizes);
    json_array_foreach(sizes, i, size) out->sizes[i] = (size_t)json_integer_value(size);
    r->sizes = out->sizes;
    return true;
}

bool spec_request_read(spec_request *out, tsr_context_t context, const unsigned char *data,
                       const json_t *spec, int side, status *st) {
    const json_t *place = json_array_get(json_object_get(spec, "modules"), (size_t)side);
    json_t *dims = json_object_get(spec, "dims"), *value;
    launch_request *r = &out->request;
    const char *name;
    *r = (launch_request){
        .context = context,
        .image = data + json_integer_value(json_array_get(place, 0)),
        .image_size = (size_t)json_integer_value(json_array_get(place, 1)),
        .kernel = json_string_value(json_array_get(json_object_get(spec, "kernel"), (size_t)side)),
        .dims = out->dims,
        .bare = true,
        .foreign = true};
    json_object_foreach(dims, name, value) {
        if (r->dim_count < LAUNCH_DIMS_MAX)
            out->dims[r->dim_count++] = (ir_binding){name, json_integer_value(value)};
    }
    out->sizes = NULL;
    return read_sizes(out, spec, st);
}

void spec_request_release(spec_request *r) {
    free(r->sizes);
    r->sizes = NULL;
}

const void **spec_inputs(const launch_request *request, const unsigned char *data,
                         const json_t *spec, size_t set) {
    const void **inputs = base_calloc((size_t)request->input_count + 1, sizeof *inputs);
    data += json_integer_value(json_array_get(json_object_get(spec, "sets"), set));
    for (uint32_t i = 0; i < request->input_count; i++) {
        inputs[i] = data;
        data += (request->sizes[i] + 63) / 64 * 64;
    }
    return inputs;
}

bool spec_launch_run(launch *l, const void *const *inputs, status *st) {
    for (uint32_t i = 0; i < l->input_count; i++)
        if (!launch_write(l, i, inputs[i], st))
            return false;
    return launch_poison_outputs(l, st) && launch_run(l, st);
}
