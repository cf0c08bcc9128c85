/* library_rows.c - see library_rows.h. All leading axes are one: that of the rows. */
#include "library_rows.h"

#include "library_parts.h"
#include "ops/build.h"
#include "ops/graph.h"

static const char INDEX[] = "tile0";

enum { MOST_OPERATIONS = 1000 };

typedef struct rewriting {
    const ir_module *g;     /* of primitives */
    int64_t count, columns; /* of all rows; of each */
    int64_t here;           /* rows of an instance */
    int64_t warps;
    parts parts;
    part_form all, row; /* of whole rows; of an element for each */
} rewriting;

bool library_rows_may(const ir_module *graph) {
    bool sums;
    return parts_may(graph, 0, &sums) && sums;
}

/* Those of the first sum. */
static bool find_rows(rewriting *r) {
    ir_op op = ir_kernel_body(r->g)->first;
    while (op && ir_op_get(r->g, op)->opcode != GRAPH_REDUCE)
        op = ir_op_get(r->g, op)->next;
    const ir_type_data *x = op ? ir_type_of(r->g, ir_op_get(r->g, op)->operands[0]) : NULL;
    if (!x || x->rank < 2 || x->dims[x->rank - 1] < 2)
        return false;
    r->columns = x->dims[x->rank - 1];
    r->count = graph_elements(x->rank, x->dims) / r->columns;
    return r->count > 1;
}

/* Outputs of whole rows, or of an element for each. */
static bool want_outputs(rewriting *r) {
    const ir_op_data *end = ir_op_get(r->g, ir_kernel_body(r->g)->last);
    bool ok = end->operand_count <= LIMIT_OPERANDS;
    for (uint32_t i = 0; ok && i < end->operand_count; i++) {
        const ir_type_data *d = ir_type_of(r->g, end->operands[i]);
        bool all = graph_elements(d->rank, d->dims) == parts_elements(&r->parts, &r->all);
        r->parts.outputs[i] = all ? r->all : r->row;
        ok = parts_want(&r->parts, end->operands[i], &r->parts.outputs[i]);
    }
    return ok;
}

static void add_axes(rewriting *r) {
    ir_module *m = r->parts.b.m;
    const ir_dim first = ir_dim_mul(m, r->here, ir_dim_symbol(m, INDEX));
    int rows = parts_axis(&r->parts, (part_axis){r->count, first, r->here, 0}),
        columns = parts_axis(&r->parts, (part_axis){r->columns, 0, r->columns, 1});
    r->parts.whole = columns;
    r->all = (part_form){2, {rows, columns}};
    r->row = (part_form){1, {rows}};
}

/* ---- the kernel ---- */

static ir_op open_tiles(rewriting *r, ir_builder *b) {
    static const char *const names[] = {"warps"};
    ir_module *m = b->m;
    ir_attr said = ir_attr_int(m, r->warps), index = ir_attr_string(m, INDEX);
    ir_dim instances = (r->count + r->here - 1) / r->here;
    return parts_open_tiles(&r->parts, b,
                            (ir_named_attr[]){{"indices", ir_attr_array(m, &index, 1)},
                                              {"counts", ir_attr_dim_array(m, &instances, 1)},
                                              {"hints", ir_attr_dict(m, names, &said, 1)}});
}

ir_module *library_rows(const ir_module *graph, int64_t here, int64_t warps) {
    ir_module *g = ir_module_clone(graph), *m = NULL;
    rewriting r = {.g = g, .here = here, .warps = warps};
    bool ok = graph_decompose_kernel(g, MOST_OPERATIONS, NULL) && find_rows(&r);
    if (ok) {
        parts_kernel kernel;
        m = ir_module_like(g);
        ir_builder b = parts_open_kernel(&kernel, m, g);
        parts_open(&r.parts, g, &kernel, b);
        add_axes(&r);
        ok = want_outputs(&r) && parts_find(&r.parts) &&
             parts_end_kernel(&r.parts, &b, open_tiles(&r, &b));
        parts_close(&r.parts);
        parts_release_kernel(&kernel);
    }
    ir_module_free(g);
    if (!ok)
        ir_module_free(m);
    return ok ? m : NULL;
}
