/* cut.c - a kernel cut open at one of its accumulations: its operands become inputs, and its result
 * an output beside the others. What comes after it stays as it is.
 *
 * So the inputs of the accumulation can be chosen and its result seen, whatever the kernel computes
 * before and after, and the code is made by the same schedule. */
#include <stdio.h>
#include <string.h>

#include "graph/passes.h"
#include "ops/build.h"
#include "tessera/compiler.h"

static bool is_float_sum(const ir_module *m, ir_op op) {
    const ir_op_data *d = ir_op_get(m, op);
    graph_class class = graph_op_class(d->opcode);
    bool scan = d->opcode == GRAPH_CUMSUM;
    if (class != GRAPH_CLASS_DOT && class != GRAPH_CLASS_REDUCE && !scan)
        return false;
    const ir_type_data *t = ir_type_of(m, d->results[0]);
    if (scan && t->dims[ir_op_int(m, op, "axis", 0)] == 0) /* there is no last sum */
        return false;
    return dtype_is_float(t->element) && strcmp(ir_op_string(m, op, "kind", "sum"), "sum") == 0;
}

static ir_op find_sum(const ir_module *m, uint32_t index) {
    ir_op op = ir_kernel_body(m)->first;
    for (; op; op = ir_op_get(m, op)->next)
        if (is_float_sum(m, op) && index-- == 0)
            return op;
    return 0;
}

static void append_name(ir_module *m, const char *list, const char *name) {
    ir_op kernel = ir_module_kernel(m);
    const ir_attr_data *old = ir_attr_get(m, ir_op_attr(m, kernel, list));
    uint32_t n = old->count;
    ir_attr *names = base_malloc((n + 1) * sizeof *names);
    for (uint32_t i = 0; i < n; i++)
        names[i] = old->items[i];
    names[n++] = ir_attr_string(m, name);
    ir_op_set_attr(m, kernel, list, ir_attr_array(m, names, n));
    free(names);
}

/* Below a widening the input has the type that the kernel reads. Only floats that hold the numbers
 * of a probe beside those of the sum: not 8 bits, no integers, and not f16 where it adds in f64. */
static bool is_cut_below(const ir_module *m, ir_op widening, dtype accumulator) {
    if (!widening || ir_op_get(m, widening)->opcode != GRAPH_CONVERT)
        return false;
    dtype from = ir_type_of(m, ir_op_get(m, widening)->operands[0])->element;
    return from == DTYPE_F32 || from == DTYPE_TF32 || from == DTYPE_BF16 ||
           (from == DTYPE_F16 && accumulator == DTYPE_F32);
}

static dtype accumulator_of(const ir_module *m, ir_op op) {
    dtype chosen = graph_accumulate_type(m, op);
    if (chosen)
        return chosen;
    dtype own = ir_type_of(m, ir_op_get(m, op)->operands[0])->element;
    return own == DTYPE_F64 ? DTYPE_F64 : DTYPE_F32;
}

static int number_in(const ir_value *list, uint32_t count, ir_value v) {
    for (uint32_t i = 0; i < count; i++)
        if (list[i] == v)
            return (int)i;
    return -1;
}

/* The value that is replaced by an input: the operand, or what it was widened from. Returns the
 * number of the kernel's input that it is; -1: it is computed. */
static int replace_operand(ir_module *m, ir_op op, uint32_t operand, const char *name) {
    ir_value v = ir_op_get(m, op)->operands[operand];
    ir_op widening = ir_value_get(m, v)->op;
    if (is_cut_below(m, widening, accumulator_of(m, op))) {
        op = widening;
        operand = 0;
        v = ir_op_get(m, op)->operands[0];
    }
    ir_block body = ir_op_block(m, ir_module_kernel(m), 0);
    const ir_block_data *block = ir_block_get(m, body);
    int number = number_in(block->arguments, block->argument_count, v);
    ir_value input = ir_block_add_argument(m, body, ir_value_get(m, v)->type, name);
    ir_op_get(m, op)->operands[operand] = input;
    append_name(m, "inputs", name);
    return number;
}

static void append_output(ir_module *m, ir_value v) {
    ir_op end = ir_kernel_body(m)->last;
    const ir_op_data *d = ir_op_get(m, end);
    ir_value *values = base_malloc((d->operand_count + 1) * sizeof *values);
    memcpy(values, d->operands, sizeof *values * d->operand_count);
    values[d->operand_count] = v;
    ir_op_set_operands(m, end, values, d->operand_count + 1);
    free(values);
    append_name(m, "outputs", "accumulated");
    ir_op_remove_attr(m, ir_module_kernel(m), "donated");
    ir_op_remove_attr(m, ir_module_kernel(m), "effects");
}

/* The last of each row's running sums: it is the sum of all of them. */
static ir_value last_sums(ir_module *m, ir_op scan) {
    ir_value v = ir_op_get(m, scan)->results[0];
    const ir_type_data *t = ir_type_of(m, v);
    ir_block body = ir_op_block(m, ir_module_kernel(m), 0);
    ir_builder b = {m, body, ir_block_get(m, body)->last, ir_op_get(m, scan)->location};
    int axis = (int)ir_op_int(m, scan, "axis", 0);
    return build_slice_axis(&b, v, axis, t->dims[axis] - 1, t->dims[axis]);
}

/* ---- where elements are ---- */

static void describe_axes(const ir_module *m, ir_op op, compiler_cut *out) {
    const ir_type_data *x = ir_type_of(m, ir_op_get(m, op)->operands[0]);
    int64_t batch[IR_MAX_RANK], summed[IR_MAX_RANK];
    bool dot = ir_op_get(m, op)->opcode == GRAPH_DOT,
         scan = ir_op_get(m, op)->opcode == GRAPH_CUMSUM;
    uint32_t batches = dot ? ir_op_ints(m, op, "x_batch", batch, IR_MAX_RANK) : 0;
    uint32_t n = scan ? 1 : ir_op_ints(m, op, dot ? "x_contract" : "axes", summed, IR_MAX_RANK);
    if (scan)
        summed[0] = ir_op_int(m, op, "axis", 0);
    out->rank = x->rank;
    out->extent = out->rows = 1;
    for (int i = 0; i < x->rank; i++)
        out->dims[i] = x->dims[i];
    for (uint32_t i = 0; i < batches; i++)
        out->axes[out->row_axes++] = (int)batch[i];
    for (int i = 0; i < x->rank; i++)
        if (!ir_ints_hold(batch, batches, i) && !ir_ints_hold(summed, n, i))
            out->axes[out->row_axes++] = i;
    for (uint32_t i = 0; i < n; i++) {
        out->axes[out->row_axes + (int)i] = (int)summed[i];
        out->extent *= x->dims[summed[i]];
    }
    for (int i = 0; i < out->row_axes; i++)
        out->rows *= out->dims[out->axes[i]];
    const ir_type_data *r = ir_type_of(m, ir_op_get(m, op)->results[0]);
    int64_t results = 1;
    for (int i = 0; i < r->rank; i++)
        results *= scan && i == summed[0] ? 1 : r->dims[i];
    out->columns = out->rows ? results / out->rows : 0;
}

int64_t compiler_cut_place(const compiler_cut *c, int64_t row, int64_t k) {
    int64_t index[IR_MAX_RANK], flat = 0;
    for (int i = c->rank - 1; i >= c->row_axes; i--) {
        index[c->axes[i]] = k % c->dims[c->axes[i]];
        k /= c->dims[c->axes[i]];
    }
    for (int i = c->row_axes - 1; i >= 0; i--) {
        index[c->axes[i]] = row % c->dims[c->axes[i]];
        row /= c->dims[c->axes[i]];
    }
    for (int i = 0; i < c->rank; i++)
        flat = flat * c->dims[i] + index[i];
    return flat;
}

int64_t compiler_cut_step(const compiler_cut *c, int64_t y_element) {
    int64_t index[IR_MAX_RANK], k = 0;
    for (int i = c->y_rank - 1; i >= 0; i--) {
        index[i] = y_element % c->y_dims[i];
        y_element /= c->y_dims[i];
    }
    for (int i = 0; i < c->y_summed; i++)
        k = k * c->y_dims[c->y_axes[i]] + index[c->y_axes[i]];
    return k;
}

static void describe_y(const ir_module *m, ir_op op, compiler_cut *out) {
    const ir_type_data *y = ir_type_of(m, ir_op_get(m, op)->operands[1]);
    int64_t summed[IR_MAX_RANK];
    out->y_rank = y->rank;
    out->y_summed = (int)ir_op_ints(m, op, "y_contract", summed, IR_MAX_RANK);
    for (int i = 0; i < y->rank; i++)
        out->y_dims[i] = y->dims[i];
    for (int i = 0; i < out->y_summed; i++)
        out->y_axes[i] = (int)summed[i];
}

/* ---- the cut ---- */

/* A convolve gives way to the product of a matrix, which stands for its windows, and its weights.
 */
static ir_op as_dot(ir_module *m, ir_op op) {
    const ir_op_data *d = ir_op_get(m, op);
    if (d->opcode != GRAPH_CONVOLVE)
        return op;
    ir_builder b = {m, d->block, op, d->location};
    const ir_type_data *x = build_type(&b, d->operands[0]), *w = build_type(&b, d->operands[1]);
    int64_t dims[4], x_contract = 3, y_contract = 0;
    memcpy(dims, build_type(&b, d->results[0])->dims, sizeof dims);
    dims[3] = w->dims[0];
    ir_named_attr zero = {"value", ir_attr_bits(m, x->element, 0)};
    ir_value one = ir_op_result(m, graph_build(&b, GRAPH_CONSTANT, NULL, 0, &zero, 1), 0);
    ir_value operands[] = {build_broadcast(&b, one, 4, dims, NULL), d->operands[1]};
    ir_named_attr attrs[] = {{"x_contract", ir_attr_int_array(m, &x_contract, 1)},
                             {"y_contract", ir_attr_int_array(m, &y_contract, 1)},
                             {"x_batch", ir_attr_int_array(m, NULL, 0)},
                             {"y_batch", ir_attr_int_array(m, NULL, 0)},
                             {"order", ir_op_attr(m, op, "order")},
                             {"out", ir_op_attr(m, op, "out")},
                             {"id", ir_op_attr(m, op, "id")}};
    ir_op dot = graph_build(&b, GRAPH_DOT, operands, 2, attrs, 7);
    ir_replace_uses(m, d->results[0], ir_op_result(m, dot, 0));
    ir_op_erase(m, op);
    return dot;
}

static void cut_at(ir_module *m, ir_op op, compiler_cut *out) {
    const ir_block_data *body = ir_kernel_body(m);
    out->x = body->argument_count;
    out->output = ir_op_get(m, body->last)->operand_count;
    out->is_dot = ir_op_get(m, op)->opcode == GRAPH_DOT;
    snprintf(out->order, sizeof out->order, "%s", ir_op_string(m, op, "order", ""));
    out->accumulator = accumulator_of(m, op);
    describe_axes(m, op, out);
    if (out->is_dot)
        describe_y(m, op, out);
    uint32_t operands = ir_op_get(m, op)->operand_count;
    static const char *const names[] = {"operand_x", "operand_y", "operand_counts"};
    int numbers[3] = {-1, -1, -1};
    const ir_op_data *end = ir_op_get(m, body->last);
    out->whole_output = number_in(end->operands, end->operand_count, ir_op_get(m, op)->results[0]);
    for (uint32_t i = 0; i < operands && i < 3; i++)
        numbers[i] = replace_operand(m, op, i, names[i]);
    out->whole_x = operands < 3 ? numbers[0] : -1;
    out->whole_y = numbers[1];
    out->counts = operands > 2 ? out->x + 2 : 0;
    append_output(m, ir_op_get(m, op)->opcode == GRAPH_CUMSUM ? last_sums(m, op)
                                                              : ir_op_get(m, op)->results[0]);
}

bool compiler_cut_open(compiler_instance *whole, uint32_t index, compiler_cut *out, status *st) {
    const ir_module *primitives = compiler_primitives(whole, st);
    ir_module *m = primitives ? ir_module_clone(primitives) : NULL;
    *out = (compiler_cut){.instance = NULL};
    if (!m || !graph_widen(m, st)) {
        ir_module_free(m);
        return false;
    }
    ir_op op = find_sum(m, index);
    ir_op end = ir_kernel_body(m)->last;
    uint32_t inputs = ir_kernel_body(m)->argument_count;
    uint32_t more = op ? ir_op_get(m, op)->operand_count : 0;
    out->no_room = op && (inputs + more > COMPILER_MAX_PARAMETERS ||
                          ir_op_get(m, end)->operand_count >= COMPILER_MAX_PARAMETERS);
    if (!op || out->no_room) {
        ir_module_free(m);
        return true;
    }
    cut_at(m, as_dot(m, op), out);
    out->instance = compiler_instance_new(m, (ir_bindings){0});
    return true;
}
