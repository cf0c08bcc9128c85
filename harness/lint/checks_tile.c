/* checks_tile.c - does the register tile divide the product? */
#include <string.h>

#include "lint/lint_kernel.h"

/* An eighth of the elements. */
static const double share_most = 0.125;

/* Rows and columns of the only product, where it has one free axis on each side. */
typedef struct product {
    int count;
    int64_t rows, columns;
} product;

/* The extent of the only axis that is neither contracted nor shared; -1: there are several. */
static int64_t free_extent(const ir_module *m, ir_op op, ir_value value, const char *contracted,
                           const char *batch) {
    const ir_type_data *type = ir_type_of(m, value);
    int64_t summed[IR_MAX_RANK], shared[IR_MAX_RANK], extent = -1;
    uint32_t summed_count = ir_op_ints(m, op, contracted, summed, IR_MAX_RANK),
             shared_count = ir_op_ints(m, op, batch, shared, IR_MAX_RANK);
    for (int axis = 0; axis < type->rank; axis++) {
        if (ir_ints_hold(summed, summed_count, axis) || ir_ints_hold(shared, shared_count, axis))
            continue;
        if (extent >= 0)
            return -1;
        extent = type->dims[axis];
    }
    return extent;
}

static void look(const ir_module *m, ir_op op, product *p) {
    if (strcmp(lint_op_name(m, op), "dot") != 0)
        return;
    const ir_op_data *o = ir_op_get(m, op);
    p->count++;
    p->rows = free_extent(m, op, o->operands[0], "x_contract", "x_batch");
    p->columns = free_extent(m, op, o->operands[1], "y_contract", "y_batch");
}

/* The only parameter of that name, in whatever phase; 0: there is none, or several. */
static int64_t only(const compiler_space *space, const char *name) {
    int64_t value = 0;
    for (uint32_t i = 0; i < space->count; i++) {
        const char *dot = strchr(space->items[i].name, '.');
        if (!dot || strcmp(dot + 1, name) != 0)
            continue;
        if (value)
            return 0;
        value = space->items[i].value;
    }
    return value;
}

static void check(const lint_kernel *k, const lint_case *c) {
    product p = {0, -1, -1};
    compiler_space space = {0};
    status st = STATUS_INIT;
    compiler_options options = {
        .profile = PROFILE_STRICT, .threads = 1, .source_schedule = k->kernel->schedule};
    for (ir_op op = lint_first_op(c->primitives); op; op = ir_op_get(c->primitives, op)->next)
        look(c->primitives, op, &p);
    if (p.count != 1 || p.rows <= 0 || p.columns <= 0 ||
        !compiler_space_of(c->instance, &options, &space, &st))
        return;
    int64_t rows = only(&space, "MR"), columns = only(&space, "NR");
    compiler_space_release(&space);
    if (rows <= 0 || columns <= 0)
        return;
    double whole = (double)(p.rows / rows * rows) * (double)(p.columns / columns * columns),
           share = 1 - whole / ((double)p.rows * (double)p.columns);
    if (share > share_most)
        lint_add(k, LINT_TILE_REMAINDER, lint_case_span(k, c->c), c->c,
                 "%.0f %% of the %lld x %lld results of case %s are in no whole tile of %lld x "
                 "%lld",
                 100 * share, (long long)p.rows, (long long)p.columns, c->c->name, (long long)rows,
                 (long long)columns);
}

/* Only large cases are about speed. */
void lint_check_tile(const lint_kernel *k) {
    for (size_t i = 0; i < k->case_count; i++)
        if (k->cases[i].c->large)
            check(k, &k->cases[i]);
}
