/* sharding.c - reads and verifies how values lie on a mesh. */
#include "ops/sharding.h"

#include <stdlib.h>
#include <string.h>

#include "ops/graph.h"

static bool is_named_before(const sharding_dim *dims, int last, const sharding_axis *axis) {
    for (int d = 0; d <= last; d++)
        for (uint32_t i = 0; i < dims[d].count; i++)
            if (dims[d].axes[i].length == axis->length &&
                strncmp(dims[d].axes[i].name, axis->name, axis->length) == 0)
                return true;
    return false;
}

/* NAME=SHARDS at `*at`, which goes on behind it. */
static bool read_axis(const char **at, sharding_axis *out) {
    char *end;
    *out = (sharding_axis){*at, strcspn(*at, "=,+"), 0};
    const char *number = *at + out->length + 1;
    if (out->length == 0 || (*at)[out->length] != '=' || *number < '1' || *number > '9')
        return false;
    out->shards = strtoll(number, &end, 10);
    *at = end;
    return *end == 0 || *end == ',' || *end == '+';
}

bool sharding_read(const char *words, int rank, sharding_dim *out) {
    int dim = 0;
    memset(out, 0, sizeof *out * (size_t)rank);
    for (const char *at = words; *at;) {
        sharding_axis axis;
        if (*at == ',') {
            at++;
            dim++;
            continue;
        }
        at += *at == '+' && dim < rank && out[dim].count > 0;
        if (!read_axis(&at, &axis) || dim >= rank || out[dim].count == SHARDING_AXES ||
            is_named_before(out, dim, &axis))
            return false;
        out[dim].axes[out[dim].count++] = axis;
    }
    return dim < rank || dim == 0;
}

bool sharding_fits(const char *words, const ir_type_data *type) {
    sharding_dim dims[IR_MAX_RANK];
    bool fits = sharding_read(words, type->rank, dims);
    for (int d = 0; d < type->rank && fits; d++) {
        int64_t all = 1;
        for (uint32_t i = 0; i < dims[d].count && fits; i++)
            fits = !__builtin_mul_overflow(all, dims[d].axes[i].shards, &all);
        fits = fits && (!ir_dim_is_static(type->dims[d]) || type->dims[d] % all == 0);
    }
    return fits;
}

static const char *item_of(const ir_module *m, ir_op kernel, const char *name, uint32_t number) {
    const ir_attr list = ir_op_attr(m, kernel, name);
    const ir_attr_data *l = list ? ir_attr_get(m, list) : NULL;
    const char *words = l && number < l->count ? ir_attr_get(m, l->items[number])->string : NULL;
    return words && *words ? words : NULL;
}

const char *sharding_of(const ir_module *m, ir_op kernel, uint32_t number) {
    return item_of(m, kernel, "shardings", number);
}

const char *sharding_part(const ir_module *m, ir_op kernel, uint32_t number) {
    return item_of(m, kernel, "parts", number);
}

uint32_t sharding_count(const ir_module *m) {
    const ir_block_data *body = ir_kernel_body(m);
    return body->argument_count + ir_op_get(m, body->last)->operand_count;
}

ir_value sharding_value(const ir_module *m, uint32_t number) {
    const ir_block_data *body = ir_kernel_body(m);
    return number < body->argument_count
               ? body->arguments[number]
               : ir_op_get(m, body->last)->operands[number - body->argument_count];
}

static bool each_axis_of(const char *words, int rank,
                         bool (*visit)(const sharding_axis *axis, void *context), void *context) {
    sharding_dim dims[IR_MAX_RANK];
    bool ok = true;
    if (!words || !sharding_read(words, rank, dims))
        return true;
    for (int d = 0; d < rank; d++)
        for (uint32_t i = 0; i < dims[d].count && ok; i++)
            ok = visit(&dims[d].axes[i], context);
    return ok;
}

bool sharding_each_axis(const ir_module *m, bool (*visit)(const sharding_axis *axis, void *context),
                        void *context) {
    const ir_op kernel = ir_module_kernel(m);
    bool ok = true;
    for (uint32_t i = 0; i < sharding_count(m) && ok; i++)
        ok = each_axis_of(sharding_of(m, kernel, i), ir_type_of(m, sharding_value(m, i))->rank,
                          visit, context);
    for (ir_walk w = ir_walk_op(m, kernel); ok && ir_walk_next(&w);)
        if (ir_op_get(m, w.op)->opcode == GRAPH_PLACED)
            ok = each_axis_of(ir_op_string(m, w.op, "sharding", ""),
                              ir_type_of(m, ir_op_result(m, w.op, 0))->rank, visit, context);
    return ok;
}

bool sharding_verify(const ir_module *m, ir_op kernel, status *st) {
    const ir_attr list = ir_op_attr(m, kernel, "shardings");
    const ir_block_data *body = ir_block_get(m, ir_op_block(m, kernel, 0));
    const ir_op_data *end = ir_op_get(m, body->last);
    const uint32_t inputs = body->argument_count, count = inputs + end->operand_count;
    if (!list)
        return true;
    if (ir_attr_get(m, list)->count != count)
        return ir_broken(st, "'shardings' needs a text for each input and output");
    for (uint32_t i = 0; i < count; i++) {
        const ir_attr_data *item = ir_attr_get(m, ir_attr_get(m, list)->items[i]);
        const ir_value v = i < inputs ? body->arguments[i] : end->operands[i - inputs];
        if (item->kind != IR_ATTR_STRING || !sharding_fits(item->string, ir_type_of(m, v)))
            return ir_broken(st, "one of 'shardings' does not fit its value");
    }
    return true;
}
