/* library_rows.c - see library_rows.h.
 *
 * All leading axes are one: that of the rows. A value is wanted in a role, which says of what it
 * has several elements; outputs want those of what they are made of, as a rule for each operation
 * says, and each is then made once for each role, of a tile's rows. */
#include "library_rows.h"

#include <stdlib.h>
#include <string.h>

#include "ops/build.h"
#include "ops/graph.h"

static const char INDEX[] = "tile0";

/* For each column an element, for each row, or both, or neither. */
enum role { OF_COLUMNS = 1, OF_ROWS = 2, OF_BOTH = OF_COLUMNS | OF_ROWS, ROLES };
enum { MOST_OPERANDS = 4, MOST_ATTRS = 16, MOST_OPERATIONS = 1000 };

typedef struct rewriting {
    const ir_module *g;      /* of primitives */
    int64_t count, columns;  /* of all rows; of each */
    bool (*wanted)[ROLES];   /* by value */
    ir_value (*made)[ROLES]; /* likewise: its tile */
    ir_builder b;            /* of the block of instances */
    int64_t here;            /* rows of an instance */
    ir_value *arguments;     /* by number, of the new kernel */
} rewriting;

/* ---- roles ---- */

/* In the order of memory all shapes of as many elements are one. */
static bool fits(const rewriting *r, ir_value v, int role) {
    const ir_type_data *d = ir_type_of(r->g, v);
    return graph_elements(d->rank, d->dims) ==
           (role & OF_ROWS ? r->count : 1) * (role & OF_COLUMNS ? r->columns : 1);
}

/* Does the last axis alone have the columns, or none, where there is one element of a row? */
static bool is_apart(const rewriting *r, const ir_type_data *d, int role) {
    return !(role & OF_COLUMNS) || (d->rank > 0 && d->dims[d->rank - 1] == r->columns);
}

static bool is_column(const ir_type_data *d, int role, int64_t axis) {
    return (role & OF_COLUMNS) && axis == d->rank - 1;
}

/* Axes of rows that have more than one place. */
static int row_axes(const ir_type_data *d, int role) {
    int count = 0;
    for (int i = 0; i < d->rank; i++)
        count += d->dims[i] > 1 && !is_column(d, role, i);
    return count;
}

/* A rule gives the role in which operands are wanted, for that of the result; false: in none. */
typedef bool rule(const rewriting *r, ir_op op, int role, int *of);

static bool same(const rewriting *r, ir_op op, int role, int *of) {
    (void)r, (void)op;
    *of = role;
    return true;
}

/* Axes of rows come all together, or none does. */
static bool along(const rewriting *r, ir_op op, int role, int *of) {
    const ir_op_data *d = ir_op_get(r->g, op);
    const ir_type_data *x = ir_type_of(r->g, d->operands[0]), *y = ir_type_of(r->g, d->results[0]);
    int64_t axes[IR_MAX_RANK];
    int count = (int)ir_op_ints(r->g, op, "axes", axes, IR_MAX_RANK), first = 0, last = 0;
    for (int i = 0; i < count; i++) {
        bool there = x->dims[i] == y->dims[axes[i]] && x->dims[i] > 1;
        last += there && is_column(y, role, axes[i]);
        first += there && !is_column(y, role, axes[i]);
    }
    *of = (last ? OF_COLUMNS : 0) | (first ? OF_ROWS : 0);
    return (first == 0 || first == row_axes(y, role)) && (*of == 0 || is_apart(r, y, role));
}

/* Numbers of columns, of rows, or of all elements. */
static bool counted(const rewriting *r, ir_op op, int role, int *of) {
    const ir_type_data *d = ir_type_of(r->g, ir_op_get(r->g, op)->results[0]);
    int64_t axis = ir_op_int(r->g, op, "axis", 0);
    *of = 0;
    bool one = is_column(d, role, axis) || (row_axes(d, role) == 1 && d->dims[axis] > 1);
    return role && (d->rank == 1 || (is_apart(r, d, role) && one));
}

static bool of_row(const rewriting *r, ir_op op, int role, int *of) {
    const ir_type_data *x = ir_type_of(r->g, ir_op_get(r->g, op)->operands[0]);
    int64_t axis = -1;
    *of = OF_BOTH;
    return role == OF_ROWS && ir_op_ints(r->g, op, "axes", &axis, 1) == 1 && axis == x->rank - 1 &&
           is_apart(r, x, OF_BOTH);
}

static const struct {
    int opcode;
    rule *of;  /* NULL: a composite, of which primitives are made before */
    bool sums; /* along rows */
} rules[] = {
    {GRAPH_CONSTANT, same, false},   {GRAPH_EXTENT, same, false},   {GRAPH_IOTA, counted, false},
    {GRAPH_BROADCAST, along, false}, {GRAPH_RESHAPE, same, false},  {GRAPH_REDUCE, of_row, true},
    {GRAPH_SOFTMAX, NULL, true},     {GRAPH_LOGSUMEXP, NULL, true}, {GRAPH_MEAN, NULL, true},
    {GRAPH_LAYERNORM, NULL, true},   {GRAPH_RMSNORM, NULL, true},   {GRAPH_RELU, NULL, false},
    {GRAPH_GELU, NULL, false},       {GRAPH_SILU, NULL, false},     {GRAPH_DEQUANTIZE, NULL, false},
};
enum { RULES = sizeof rules / sizeof *rules };

static size_t number_of(int opcode) {
    size_t i = 0;
    while (i < RULES && rules[i].opcode != opcode)
        i++;
    return i;
}

static rule *rule_of(int opcode) {
    size_t i = number_of(opcode);
    return graph_op_class(opcode) == GRAPH_CLASS_ELEMENTWISE ? same
           : i < RULES                                       ? rules[i].of
                                                             : NULL;
}

bool library_rows_may(const ir_module *graph) {
    ir_op kernel = ir_module_kernel(graph);
    bool sums = false;
    if (!kernel || ir_op_attr(graph, kernel, "donated"))
        return false;
    for (ir_op op = ir_kernel_body(graph)->first; op; op = ir_op_get(graph, op)->next) {
        int opcode = ir_op_get(graph, op)->opcode;
        size_t i = number_of(opcode);
        if (i == RULES && opcode != GRAPH_RETURN &&
            graph_op_class(opcode) != GRAPH_CLASS_ELEMENTWISE)
            return false;
        sums |= i < RULES && rules[i].sums;
    }
    return sums;
}

static bool want(rewriting *r, ir_value v, int role) {
    r->wanted[v][role] = true;
    return fits(r, v, role);
}

/* Outputs of whole rows, or of an element for each. */
static bool want_outputs(rewriting *r) {
    const ir_op_data *end = ir_op_get(r->g, ir_kernel_body(r->g)->last);
    bool ok = true;
    for (uint32_t i = 0; ok && i < end->operand_count; i++)
        ok = want(r, end->operands[i], fits(r, end->operands[i], OF_BOTH) ? OF_BOTH : OF_ROWS);
    return ok;
}

static bool want_operands(rewriting *r, ir_op op) {
    const ir_op_data *d = ir_op_get(r->g, op);
    rule *of_operands = rule_of(d->opcode);
    bool ok = true;
    for (int role = 0, of; ok && role < ROLES && d->result_count == 1; role++) {
        if (!r->wanted[d->results[0]][role])
            continue;
        ok = of_operands && of_operands(r, op, role, &of);
        for (uint32_t i = 0; ok && i < d->operand_count; i++)
            ok = want(r, d->operands[i], of);
    }
    return ok;
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

static bool find_roles(rewriting *r) {
    bool ok = find_rows(r) && want_outputs(r);
    for (ir_op op = ir_kernel_body(r->g)->last; ok && op; op = ir_op_get(r->g, op)->previous)
        ok = want_operands(r, op);
    return ok;
}

/* ---- tiles ---- */

static int shape_of(int role, ir_dim rows, ir_dim columns, ir_dim *dims) {
    int rank = 0;
    if (role & OF_ROWS)
        dims[rank++] = rows;
    if (role & OF_COLUMNS)
        dims[rank++] = columns;
    return rank;
}

static ir_attr start_of(rewriting *r, int role) {
    ir_dim start[2], at = ir_dim_mul(r->b.m, r->here, ir_dim_symbol(r->b.m, INDEX));
    int rank = shape_of(role, at, 0, start);
    return ir_attr_dim_array(r->b.m, start, (uint32_t)rank);
}

static ir_attr axes_of(rewriting *r, int role) {
    static const int64_t axes[] = {0, 1};
    return ir_attr_int_array(r->b.m, axes, (role & OF_ROWS ? 1 : 0) + (role & OF_COLUMNS ? 1 : 0));
}

static ir_value load(rewriting *r, ir_value v, int role) {
    ir_dim size[2];
    int rank = shape_of(role, r->here, r->columns, size);
    ir_named_attr attrs[] = {{"start", start_of(r, role)},
                             {"size", ir_attr_dim_array(r->b.m, size, (uint32_t)rank)},
                             {"kept", axes_of(r, role)}};
    ir_value x = r->arguments[ir_value_get(r->g, v)->index];
    return ir_op_result(r->b.m, graph_build(&r->b, GRAPH_LOAD, &x, 1, attrs, 3), 0);
}

static ir_value tile_of(rewriting *r, ir_value v, int role) {
    ir_value *made = &r->made[v][role];
    if (!*made)
        *made = load(r, v, role);
    return *made;
}

static ir_value repeated(rewriting *r, ir_value x, int from, int to) {
    static const int64_t to_both[][1] = {{0}, {1}, {0}};
    ir_dim shape[2];
    int rank = shape_of(to, r->here, r->columns, shape);
    return from == to ? x : build_broadcast(&r->b, x, rank, shape, to_both[from]);
}

/* ---- numbers ---- */

static ir_value line_of(rewriting *r, int role) {
    ir_dim shape[1];
    shape_of(role, r->here, r->columns, shape);
    return build_iota(&r->b, 1, shape, 0);
}

/* Those of an instance's rows. */
static ir_value row_numbers(rewriting *r) {
    ir_dim first = ir_dim_mul(r->b.m, r->here, ir_dim_symbol(r->b.m, INDEX));
    ir_value x = line_of(r, OF_ROWS);
    return build_binary(&r->b, GRAPH_ADD, x, build_extent(&r->b, first, DTYPE_I32, x));
}

static ir_value numbers(rewriting *r, ir_op op, int role) {
    const ir_type_data *d = ir_type_of(r->g, ir_op_get(r->g, op)->results[0]);
    bool all = role == OF_BOTH && d->rank == 1,
         of_columns = all || is_column(d, role, ir_op_int(r->g, op, "axis", 0));
    ir_value columns = of_columns ? repeated(r, line_of(r, OF_COLUMNS), OF_COLUMNS, role) : 0;
    if (of_columns && !all)
        return columns;
    ir_value rows = repeated(r, row_numbers(r), OF_ROWS, role);
    if (!all)
        return rows;
    rows = build_binary(&r->b, GRAPH_MUL, rows, build_i32(&r->b, (int32_t)r->columns, rows));
    return build_binary(&r->b, GRAPH_ADD, rows, columns);
}

/* ---- operations ---- */

/* The operation of tiles; a sum is along the second of two axes. */
static ir_value built(rewriting *r, ir_op op, const ir_value *operands) {
    const ir_op_data *d = ir_op_get(r->g, op);
    const int64_t last = 1;
    ir_named_attr attrs[MOST_ATTRS];
    for (uint32_t i = 0; i < d->attr_count; i++) {
        attrs[i] = d->attrs[i];
        if (strcmp(attrs[i].name, "axes") == 0)
            attrs[i].value = ir_attr_int_array(r->b.m, &last, 1);
    }
    return ir_op_result(
        r->b.m, graph_build(&r->b, d->opcode, operands, d->operand_count, attrs, d->attr_count), 0);
}

static void make(rewriting *r, ir_op op, int role) {
    const ir_op_data *d = ir_op_get(r->g, op);
    ir_value operands[MOST_OPERANDS], x = 0;
    int of = 0;
    rule_of(d->opcode)(r, op, role, &of);
    for (uint32_t i = 0; i < d->operand_count; i++)
        operands[i] = tile_of(r, d->operands[i], of);
    r->b.location = d->location;
    if (d->opcode == GRAPH_BROADCAST || d->opcode == GRAPH_RESHAPE)
        x = repeated(r, operands[0], of, role);
    else if (d->opcode == GRAPH_IOTA)
        x = numbers(r, op, role);
    else
        x = built(r, op, operands);
    r->made[d->results[0]][role] = x;
}

static bool make_all(rewriting *r) {
    for (ir_op op = ir_kernel_body(r->g)->first; op; op = ir_op_get(r->g, op)->next) {
        const ir_op_data *d = ir_op_get(r->g, op);
        if (d->operand_count > MOST_OPERANDS || d->attr_count > MOST_ATTRS)
            return false;
        for (int role = 0; role < ROLES && d->result_count == 1; role++)
            if (r->wanted[d->results[0]][role])
                make(r, op, role);
    }
    return true;
}

static int role_of_output(const rewriting *r, ir_value v) {
    return r->wanted[v][OF_BOTH] ? OF_BOTH : OF_ROWS;
}

static void give(rewriting *r) {
    const ir_op_data *end = ir_op_get(r->g, ir_kernel_body(r->g)->last);
    ir_attr start[LIMIT_OPERANDS], kept[LIMIT_OPERANDS];
    ir_value tiles[LIMIT_OPERANDS];
    for (uint32_t i = 0; i < end->operand_count; i++) {
        int role = role_of_output(r, end->operands[i]);
        tiles[i] = tile_of(r, end->operands[i], role);
        start[i] = start_of(r, role);
        kept[i] = axes_of(r, role);
    }
    ir_named_attr attrs[] = {{"start", ir_attr_array(r->b.m, start, end->operand_count)},
                             {"kept", ir_attr_array(r->b.m, kept, end->operand_count)}};
    ir_op_spec spec = {.opcode = GRAPH_GIVE,
                       .operands = tiles,
                       .operand_count = end->operand_count,
                       .attrs = attrs,
                       .attr_count = 2};
    ir_build(&r->b, &spec);
}

/* ---- the kernel ---- */

static ir_type type_as(const rewriting *r, ir_module *m, ir_value v, int role) {
    ir_dim dims[2];
    int rank = shape_of(role, r->count, r->columns, dims);
    return ir_type_tensor(m, ir_type_of(r->g, v)->element, rank, dims);
}

static void add_arguments(rewriting *r, ir_module *m, ir_block block) {
    const ir_block_data *body = ir_kernel_body(r->g);
    for (uint32_t i = 0; i < body->argument_count; i++) {
        ir_value v = body->arguments[i];
        ir_type type = ir_value_get(r->g, v)->type;
        for (int role = 0; role < ROLES; role++)
            if (r->wanted[v][role])
                type = type_as(r, m, v, role);
        r->arguments[i] = ir_block_add_argument(m, block, type, NULL);
    }
}

/* Opens the instances, whose results are the kernel's. */
static ir_op open_tiles(rewriting *r, ir_builder *b, int64_t warps) {
    static const char *const names[] = {"warps"};
    const ir_op_data *end = ir_op_get(r->g, ir_kernel_body(r->g)->last);
    ir_module *m = b->m;
    ir_type types[LIMIT_OPERANDS];
    ir_attr said = ir_attr_int(m, warps), index = ir_attr_string(m, INDEX);
    ir_dim instances = (r->count + r->here - 1) / r->here;
    for (uint32_t i = 0; i < end->operand_count; i++)
        types[i] = type_as(r, m, end->operands[i], role_of_output(r, end->operands[i]));
    ir_named_attr attrs[] = {{"indices", ir_attr_array(m, &index, 1)},
                             {"counts", ir_attr_dim_array(m, &instances, 1)},
                             {"hints", ir_attr_dict(m, names, &said, 1)}};
    ir_op_spec spec = {.opcode = GRAPH_TILES,
                       .results = types,
                       .result_count = end->operand_count,
                       .attrs = attrs,
                       .attr_count = 3,
                       .region_count = 1};
    ir_op tiles = ir_build(b, &spec);
    r->b = (ir_builder){.m = m, .block = ir_op_block(m, tiles, 0)};
    return tiles;
}

static ir_module *with_tiles(rewriting *r, int64_t warps) {
    const ir_op_data *was = ir_op_get(r->g, ir_module_kernel(r->g));
    ir_module *m = ir_module_like(r->g);
    ir_builder b = {.m = m, .block = ir_module_body(m)};
    ir_op_spec spec = {.opcode = GRAPH_KERNEL,
                       .attrs = was->attrs,
                       .attr_count = was->attr_count,
                       .region_count = 1};
    b.block = ir_op_block(m, ir_build(&b, &spec), 0);
    add_arguments(r, m, b.block);
    ir_op tiles = open_tiles(r, &b, warps);
    bool ok = make_all(r);
    if (ok)
        give(r);
    ir_op_spec end = {.opcode = GRAPH_RETURN,
                      .operands = ir_op_get(m, tiles)->results,
                      .operand_count = ir_op_get(m, tiles)->result_count};
    ir_build(&b, &end);
    if (ok && !ir_failure(m))
        return m;
    ir_module_free(m);
    return NULL;
}

ir_module *library_rows(const ir_module *graph, int64_t here, int64_t warps) {
    ir_module *g = ir_module_clone(graph), *made = NULL;
    bool primitive = graph_decompose_kernel(g, MOST_OPERATIONS);
    size_t values = ir_value_count(g) + 1;
    rewriting r = {.g = g, .here = here};
    r.wanted = base_calloc(values, sizeof *r.wanted);
    r.made = base_calloc(values, sizeof *r.made);
    r.arguments = base_calloc(ir_kernel_body(g)->argument_count + 1, sizeof *r.arguments);
    if (primitive && find_roles(&r))
        made = with_tiles(&r, warps);
    free(r.wanted);
    free(r.made);
    free(r.arguments);
    ir_module_free(g);
    return made;
}
