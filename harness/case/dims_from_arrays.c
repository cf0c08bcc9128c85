/* dims_from_arrays.c - solves the simple dimensions, checks the rest. */
#include "case/dims_from_arrays.h"

#include <ctype.h>
#include <inttypes.h>
#include <stdio.h>
#include <string.h>

static bool is_symbol(const char *words) {
    if (!isalpha((unsigned char)*words) && *words != '_')
        return false;
    for (; *words; words++)
        if (!isalnum((unsigned char)*words) && *words != '_')
            return false;
    return true;
}

static const ir_binding *find(const dim_bindings *b, const char *name) {
    for (uint32_t i = 0; i < b->count; i++)
        if (strcmp(b->items[i].name, name) == 0)
            return &b->items[i];
    return NULL;
}

typedef struct binding_site {
    ir_module *graph;
    const char *parameter;
    const ir_type_data *type;
    const tensor *array;
} binding_site;

static void shape_of_type(const binding_site *site, text *out) {
    text_append_char(out, '[');
    for (int axis = 0; axis < site->type->rank; axis++)
        text_printf(out, "%s%s", axis ? ", " : "",
                    ir_dim_text(site->graph, site->type->dims[axis]));
    text_append_char(out, ']');
}

static void shape_of_array(const tensor *array, text *out) {
    text_append_char(out, '[');
    for (int axis = 0; axis < array->rank; axis++)
        text_printf(out, "%s%" PRId64, axis ? ", " : "", array->dims[axis]);
    text_append_char(out, ']');
}

static bool mismatch(const binding_site *site, const char *detail, status *st) {
    text wants, has;
    text_init(&wants);
    text_init(&has);
    shape_of_type(site, &wants);
    shape_of_array(site->array, &has);
    status_set(st, STATUS_INVALID, "parameter %s has shape %s, but the array is %s: %s",
               site->parameter, wants.data, has.data, detail);
    text_release(&wants);
    text_release(&has);
    return false;
}

static bool bind_symbols(const binding_site *site, dim_bindings *out, status *st) {
    if (site->type->rank != site->array->rank)
        return mismatch(site, "the ranks differ", st);
    for (int axis = 0; axis < site->type->rank; axis++) {
        const char *name = ir_dim_text(site->graph, site->type->dims[axis]);
        if (ir_dim_is_static(site->type->dims[axis]) || !is_symbol(name) || find(out, name))
            continue;
        if (out->count == BIND_DIMS_MAX)
            return mismatch(site, "too many dimensions", st);
        out->items[out->count++] = (ir_binding){name, site->array->dims[axis]};
    }
    return true;
}

static bool check_dims(const binding_site *site, const dim_bindings *bound, status *st) {
    for (int axis = 0; axis < site->type->rank; axis++) {
        int64_t value = site->type->dims[axis];
        const char *missing = NULL;
        char detail[256];
        if (!ir_dim_is_static(value) &&
            !ir_dim_evaluate(site->graph, value, (ir_bindings){bound->items, bound->count}, &value,
                             &missing)) {
            snprintf(detail, sizeof detail, "%s cannot be found from the arrays' shapes",
                     missing ? missing : "a size");
            return mismatch(site, detail, st);
        }
        if (value == site->array->dims[axis])
            continue;
        snprintf(detail, sizeof detail, "axis %d must be %s = %" PRId64, axis,
                 ir_dim_text(site->graph, site->type->dims[axis]), value);
        return mismatch(site, detail, st);
    }
    return true;
}

bool dims_from_arrays(ir_module *graph, const char *const *parameter_names, const tensor *arrays,
                      uint32_t count, dim_bindings *out, status *st) {
    out->count = 0;
    const ir_block_data *body = ir_block_get(graph, ir_op_block(graph, ir_module_kernel(graph), 0));
    if (body->argument_count != count)
        return status_set(st, STATUS_INTERNAL, "the graph takes %u arguments, the kernel %u",
                          body->argument_count, count);
    for (int pass = 0; pass < 2; pass++) {
        for (uint32_t i = 0; i < count; i++) {
            const ir_value_data *argument = ir_value_get(graph, body->arguments[i]);
            binding_site site = {graph, parameter_names[i], ir_type_get(graph, argument->type),
                                 &arrays[i]};
            if (!(pass == 0 ? bind_symbols(&site, out, st) : check_dims(&site, out, st)))
                return false;
        }
    }
    return true;
}
