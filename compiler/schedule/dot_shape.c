/* dot_shape.c - names of a contraction's indices and buffers, to and from attributes. */
#include "schedule/dot_shape.h"

#include <string.h>

#include "ir/dim.h"
#include "schedule/schedule.h"

static const char *const index_names[] = {"block_m",    "block_n", "chunk", "panel", "row",
                                          "block_line", "line",    "strip", "m",     "n",
                                          "run",        "stage",   "k"};
static const char *const buffer_names[] = {"lhs",     "rhs",    "counts", "limits",
                                           "offsets", "totals", "sums"};

/* Numbers the names of a list, each of which is one of `count`, from `first` on; others get -1.
 * Returns how many there are; -1: they are not such, each once. */
static int read_names(const ir_module *m, ir_attr list, const char *const *names, int count,
                      int *numbers) {
    memset(numbers, -1, sizeof *numbers * (size_t)count);
    if (!list || ir_attr_get(m, list)->kind != IR_ATTR_ARRAY)
        return -1;
    const ir_attr_data *d = ir_attr_get(m, list);
    for (uint32_t i = 0; i < d->count; i++) {
        const char *name = ir_attr_get(m, d->items[i])->string;
        int which = 0;
        while (which < count && (!name || strcmp(names[which], name) != 0))
            which++;
        if (which == count || numbers[which] >= 0)
            return -1;
        numbers[which] = (int)i;
    }
    return (int)d->count;
}

bool dot_shape_read(const ir_module *m, ir_op dot, dot_shape *out) {
    int axes = (int)ir_op_int(m, dot, "axes", 0),
        named = read_names(m, ir_op_attr(m, dot, "indices"), index_names, AXIS_COUNT, out->index);
    out->leading =
        read_names(m, ir_op_attr(m, dot, "buffers"), buffer_names, DOT_BUFFER_COUNT, out->buffer);
    for (int i = 0; i < AXIS_COUNT; i++)
        out->index[i] += out->index[i] < 0 ? 0 : axes - named;
    return named >= 0 && named <= axes && out->leading >= 0 && out->buffer[DOT_LHS] == 0 &&
           out->buffer[DOT_RHS] == 1 && out->index[AXIS_M] >= 0 &&
           out->index[AXIS_N] == out->index[AXIS_M] + 1 && out->index[AXIS_K] == axes - 1 &&
           (out->buffer[DOT_TOTALS] < 0 || out->index[AXIS_CHUNK] >= 0) &&
           (out->buffer[DOT_SUMS] < 0) == (out->index[AXIS_STRIP] < 0);
}

ir_op dot_loop(const ir_module *m, ir_op dot, const dot_shape *shape, contraction_axis which) {
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
    for (int i = AXIS_RUN; i <= AXIS_K; i++)
        if (dot_loop(m, op, &shape, (contraction_axis)i) == loop)
            return op;
    return 0;
}

ir_dim dot_extent(ir_module *dims, const ir_module *m, ir_op dot, const dot_shape *shape) {
    ir_op runs = dot_loop(m, dot, shape, AXIS_RUN);
    ir_dim steps = ir_op_int(m, dot_loop(m, dot, shape, AXIS_K), "extent", 0);
    return runs ? ir_dim_mul(dims, ir_op_int(m, runs, "extent", 0), steps) : steps;
}

static ir_attr names_attr(ir_module *m, const char *const *names, int count, const int *numbers) {
    ir_attr list[AXIS_COUNT + DOT_BUFFER_COUNT];
    uint32_t n = 0;
    for (int i = 0; i < count; i++)
        if (numbers[i] >= 0)
            list[n++] = ir_attr_string(m, names[i]);
    return ir_attr_array(m, list, n);
}

ir_attr dot_shape_indices(ir_module *m, const dot_shape *shape) {
    return names_attr(m, index_names, AXIS_COUNT, shape->index);
}

ir_attr dot_shape_buffers(ir_module *m, const dot_shape *shape) {
    return names_attr(m, buffer_names, DOT_BUFFER_COUNT, shape->buffer);
}
