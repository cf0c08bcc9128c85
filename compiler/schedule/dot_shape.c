/* dot_shape.c - names of a contraction's indices and buffers, to and from attributes. */
#include "schedule/dot_shape.h"

#include <string.h>

#include "ir/dim.h"
#include "schedule/schedule.h"

static const char *const index_names[] = {"block_m", "chunk", "strip", "m",
                                          "n",       "run",   "stage", "step"};
static const char *const buffer_names[] = {"lhs",     "rhs",    "counts", "limits",
                                           "offsets", "totals", "sums"};

/* The number of a name in a list; `count` where it is not in it. */
static int find(const char *const *names, int count, const char *name) {
    int i = 0;
    while (i < count && (!name || strcmp(names[i], name) != 0))
        i++;
    return i;
}

bool dot_shape_read(const ir_module *m, ir_op dot, dot_shape *out) {
    ir_attr indices = ir_op_attr(m, dot, "indices"), buffers = ir_op_attr(m, dot, "buffers");
    *out = (dot_shape){.leading = 0};
    memset(out->index, -1, sizeof out->index);
    memset(out->buffer, -1, sizeof out->buffer);
    if (!indices || !buffers || ir_attr_get(m, indices)->kind != IR_ATTR_DICT)
        return false;
    const ir_attr_data *d = ir_attr_get(m, indices);
    int64_t axes = ir_op_int(m, dot, "axes", 0);
    for (uint32_t i = 0; i < d->count; i++) {
        int which = find(index_names, DOT_INDEX_COUNT, d->keys[i]);
        int64_t number = ir_attr_get(m, d->items[i])->integer;
        if (which == DOT_INDEX_COUNT || number < 0 || number >= axes)
            return false;
        out->index[which] = (int)number;
    }
    d = ir_attr_get(m, buffers);
    for (uint32_t i = 0; i < d->count; i++) {
        int which = find(buffer_names, DOT_BUFFER_COUNT, ir_attr_get(m, d->items[i])->string);
        if (which == DOT_BUFFER_COUNT || out->buffer[which] >= 0)
            return false;
        out->buffer[which] = out->leading++;
    }
    return out->buffer[DOT_LHS] == 0 && out->buffer[DOT_RHS] == 1 && out->index[DOT_M] >= 0 &&
           out->index[DOT_N] == out->index[DOT_M] + 1 && out->index[DOT_STEP] == axes - 1 &&
           (out->buffer[DOT_TOTALS] < 0 || out->index[DOT_CHUNK] >= 0) &&
           (out->buffer[DOT_SUMS] < 0) == (out->index[DOT_STRIP] < 0);
}

ir_op dot_loop(const ir_module *m, ir_op dot, const dot_shape *shape, dot_index which) {
    if (shape->index[which] < 0)
        return 0;
    ir_value index = ir_op_get(m, dot)->operands[shape->index[which]];
    ir_op op = ir_block_parent(m, ir_value_get(m, index)->block);
    return op && ir_op_get(m, op)->opcode == SCHED_FOR ? op : 0;
}

ir_op dot_of_loop(const ir_module *m, ir_op loop) {
    dot_shape shape;
    ir_op op = loop;
    while (op && ir_op_get(m, op)->opcode == SCHED_FOR)
        op = ir_block_get(m, ir_op_block(m, op, 0))->first;
    if (!op || ir_op_get(m, op)->opcode != SCHED_DOT)
        return 0;
    if (!dot_shape_read(m, op, &shape))
        return op;
    for (int i = DOT_RUN; i <= DOT_STEP; i++)
        if (dot_loop(m, op, &shape, (dot_index)i) == loop)
            return op;
    return 0;
}

ir_dim dot_extent(ir_module *dims, const ir_module *m, ir_op dot, const dot_shape *shape) {
    ir_op runs = dot_loop(m, dot, shape, DOT_RUN);
    ir_dim steps = ir_op_int(m, dot_loop(m, dot, shape, DOT_STEP), "extent", 0);
    return runs ? ir_dim_mul(dims, ir_op_int(m, runs, "extent", 0), steps) : steps;
}

ir_attr dot_shape_indices(ir_module *m, const dot_shape *shape) {
    const char *keys[DOT_INDEX_COUNT];
    ir_attr values[DOT_INDEX_COUNT];
    uint32_t count = 0;
    for (int i = 0; i < DOT_INDEX_COUNT; i++)
        if (shape->index[i] >= 0) {
            keys[count] = index_names[i];
            values[count++] = ir_attr_int(m, shape->index[i]);
        }
    return ir_attr_dict(m, keys, values, count);
}

ir_attr dot_shape_buffers(ir_module *m, const dot_shape *shape) {
    ir_attr names[DOT_BUFFER_COUNT];
    uint32_t count = 0;
    for (int i = 0; i < DOT_BUFFER_COUNT; i++)
        if (shape->buffer[i] >= 0)
            names[count++] = ir_attr_string(m, buffer_names[i]);
    return ir_attr_array(m, names, count);
}
