/* instances.c - what a case's dimensions make of a checked graph: slices must lie inside their
 * axes, shapes exist, and program instances give each result once. */
#include "check/tiles/instances.h"

bool instance_number(const instance *in, ir_dim dim, int64_t *out) {
    const char *missing = NULL;
    return ir_dim_evaluate(in->m, dim, in->known, out, &missing);
}

span instance_place(const instance *in, ir_op op) {
    const ir_location at = ir_op_get(in->m, op)->location;
    uint32_t start = source_offset_of(&in->source->text, at.line, at.column);
    return (span){start, start + 1};
}

static ir_dim item_of(const instance *in, ir_op op, const char *name, int axis) {
    const ir_attr_data *list = ir_attr_get(in->m, ir_op_attr(in->m, op, name));
    return ir_attr_get(in->m, list->items[axis])->integer;
}

static void report_slice(const instance *in, ir_op op, ir_dim start, ir_dim stop, int axis,
                         int64_t size) {
    const char *name = in->c->name;
    if (stop != ir_dim_add(in->m, start, 1)) {
        diagnose_error(in->report, ERROR_SLICE_BOUNDS, instance_place(in, op),
                       "in case '%s', %s:%s does not fit axis %d of length %lld", name,
                       ir_dim_text(in->m, start), ir_dim_text(in->m, stop), axis, (long long)size);
        diagnose_help(in->report, "a slice ends inside its axis; the case must bind more, or the "
                                  "slice leave its stop out");
        return;
    }
    diagnose_error(in->report, ERROR_INDEX_RANGE, instance_place(in, op),
                   "in case '%s', position %s is outside of axis %d of length %lld", name,
                   ir_dim_text(in->m, start), axis, (long long)size);
    if (size > 0) {
        diagnose_help(in->report, "its positions are 0 to %lld; -1 is the last one of any length",
                      (long long)size - 1);
    }
}

static bool step_fits(const instance *in, ir_op op, int axis) {
    ir_dim step = item_of(in, op, "step", axis);
    int64_t by = 0;
    if (instance_number(in, step, &by) && by > 0)
        return true;
    diagnose_error(in->report, ERROR_SLICE_STEP, instance_place(in, op),
                   "in case '%s', the step %s is not at least 1", in->c->name,
                   ir_dim_text(in->m, step));
    diagnose_help(in->report, "a slice does not reverse an axis; the case must bind more");
    return false;
}

bool instance_slice_fits(const instance *in, ir_op op) {
    bool fits = true;
    const ir_op_data *d = ir_op_get(in->m, op);
    const ir_type_data *x = ir_type_of(in->m, d->operands[0]);
    for (int axis = 0; axis < x->rank; axis++) {
        ir_dim start = item_of(in, op, "start", axis), stop = item_of(in, op, "stop", axis);
        int64_t size = 0, from = 0, to = 0;
        if (!instance_number(in, x->dims[axis], &size))
            return true;
        fits &= step_fits(in, op, axis);
        if (instance_number(in, start, &from) && instance_number(in, stop, &to) && from <= to &&
            to <= size)
            continue;
        report_slice(in, op, start, stop, axis, size);
        fits = false;
    }
    return fits;
}

static bool dim_exists(const instance *in, ir_op op, ir_dim dim, int64_t most, int64_t *out) {
    if (instance_number(in, dim, out) && *out <= most)
        return true;
    diagnose_error(in->report, ERROR_DIMENSION_RANGE, instance_place(in, op),
                   "in case '%s', the dimension %s would be negative or too large", in->c->name,
                   ir_dim_text(in->m, dim));
    return false;
}

/* A dimension that is computed with. */
static bool extent_exists(const instance *in, ir_op op) {
    int64_t number = 0;
    return dim_exists(in, op, item_of(in, op, "of", 0), INT32_MAX, &number);
}

bool instance_results_exist(const instance *in, ir_op op) {
    const ir_op_data *d = ir_op_get(in->m, op);
    for (uint32_t i = 0; i < d->result_count; i++) {
        const ir_type_data *type = ir_type_of(in->m, d->results[i]);
        int64_t sizes[IR_MAX_RANK] = {0};
        for (int axis = 0; axis < type->rank; axis++)
            if (!dim_exists(in, op, type->dims[axis], INT64_MAX, &sizes[axis]))
                return false;
        if (graph_elements(type->rank, sizes) > limit_elements) {
            diagnose_error(in->report, ERROR_ELEMENT_LIMIT, instance_place(in, op),
                           "in case '%s', the result would have more than 2^%d elements",
                           in->c->name, LIMIT_ELEMENT_BITS);
            return false;
        }
    }
    return true;
}

static void report_case(const instance *in) {
    if (in->c->bound)
        return;
    span line = {in->source->text.lines[in->c->line - 1], in->source->text.lines[in->c->line - 1]};
    while (line.start < in->source->text.size && in->source->text.data[line.start] == ' ')
        line.start++;
    line.end = line.start + 1;
    diagnose_note(in->report, line, "the case is here");
}

static bool op_fits(const instance *in, ir_op op) {
    const int opcode = ir_op_get(in->m, op)->opcode;
    return (opcode != GRAPH_SLICE || instance_slice_fits(in, op)) &&
           (opcode != GRAPH_EXTENT || extent_exists(in, op)) && instance_results_exist(in, op) &&
           (opcode != GRAPH_TILES || instance_tiles_fit(in, op));
}

void instance_check(compiler_source *s, ir_module *m, const compiler_case *c, diagnostics *d) {
    instance in = {s, d, m, c, {c->dims, c->dim_count}};
    ir_block block = ir_op_block(m, ir_module_kernel(m), 0);
    for (ir_walk w = ir_walk_block(m, block); ir_walk_next(&w);) {
        w.skip = ir_op_get(m, w.op)->opcode == GRAPH_TILES;
        if (!op_fits(&in, w.op)) {
            report_case(&in);
            return;
        }
    }
}
