/* pad.c - products in the sizes of a matrix unit. A unit of 128 x 128 multiplies whole tiles, so
 * factors get zeros behind their last rows and columns, and the result is cut to what it was. */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "target/stablehlo/export.h"
#include "target/stablehlo/passes.h"

enum { ROWS = 8, COLUMNS = 128, MOST = 1 << 16 };

typedef struct multiples {
    int64_t rows, columns;
} multiples;

static bool read_multiples(const char *arguments, multiples *out, status *st) {
    const struct {
        const char *name;
        int64_t *value;
    } fields[] = {{"rows=", &out->rows}, {"columns=", &out->columns}};
    enum { FIELDS = sizeof fields / sizeof *fields };
    *out = (multiples){ROWS, COLUMNS};
    for (const char *at = arguments; at && *at;) {
        size_t i = 0;
        while (i < FIELDS && strncmp(at, fields[i].name, strlen(fields[i].name)) != 0)
            i++;
        const char *digits = at + (i < FIELDS ? strlen(fields[i].name) : 0);
        char *end = NULL;
        errno = 0;
        const long long value = i < FIELDS ? strtoll(digits, &end, 10) : 0;
        if (i == FIELDS || end == digits || errno || value < 1 || value > MOST ||
            (*end && (*end != ',' || !end[1])))
            return status_set(st, STATUS_INVALID,
                              "pad-for-tpu takes rows=N,columns=N of 1 to %d, not '%s'", MOST, at);
        *fields[i].value = value;
        at = *end ? end + 1 : end;
    }
    return true;
}

/* ---- a product ---- */

/* One of the two sides: the axis that is contracted, where there is one such, and the last one of
 * those that are the result's alone. -1: there is none. */
typedef struct side {
    shlo_value *value;
    int64_t contracted, own;
    uint32_t owns; /* axes of the latter kind */
    uint32_t batches;
    bool wrong; /* its axes are not those of the tensor */
} side;

static bool are_axes(const int64_t *list, uint32_t count, uint32_t rank) {
    for (uint32_t i = 0; i < count && i < SHLO_RANK_MAX; i++)
        if (list[i] < 0 || list[i] >= rank || ir_ints_hold(list, i, list[i]))
            return false;
    return count <= rank;
}

static side side_of(const shlo_op *dot, int which) {
    const char *const names[2][2] = {{"lhs_contracting_dimensions", "lhs_batching_dimensions"},
                                     {"rhs_contracting_dimensions", "rhs_batching_dimensions"}};
    int64_t contracted[SHLO_RANK_MAX], batch[SHLO_RANK_MAX];
    side s = {.value = dot->operands[which], .contracted = -1, .own = -1};
    const uint32_t rank = s.value->type->rank;
    const uint32_t count = shlo_op_ints(dot, names[which][0], contracted, SHLO_RANK_MAX);
    const uint32_t batches = shlo_op_ints(dot, names[which][1], batch, SHLO_RANK_MAX);
    s.batches = batches;
    s.wrong = !are_axes(contracted, count, rank) || !are_axes(batch, batches, rank);
    if (s.wrong)
        return s;
    if (count == 1)
        s.contracted = contracted[0];
    for (int64_t axis = 0; axis < rank; axis++)
        if (!ir_ints_hold(contracted, count, axis) && !ir_ints_hold(batch, batches, axis)) {
            s.own = axis;
            s.owns++;
        }
    return s;
}

/* Elements that lack at the end of an axis; 0: of an axis that is none, or empty, or endless. */
static int64_t lacking(const side *s, int64_t axis, int64_t multiple) {
    const int64_t extent = axis < 0 ? 0 : s->value->type->dims[axis], most = (int64_t)1 << 40;
    return extent > 0 && extent < most ? (multiple - extent % multiple) % multiple : 0;
}

static shlo_value *padded(shlo_writer *w, const side *s, int64_t along_contracted,
                          int64_t along_own) {
    const shlo_type *t = s->value->type;
    int64_t dims[SHLO_RANK_MAX], none[SHLO_RANK_MAX] = {0}, high[SHLO_RANK_MAX] = {0};
    if (!along_contracted && !along_own)
        return s->value;
    memcpy(dims, t->dims, t->rank * sizeof *dims);
    if (along_contracted)
        high[s->contracted] = along_contracted;
    if (along_own)
        high[s->own] = along_own;
    for (uint32_t i = 0; i < t->rank; i++)
        dims[i] += high[i];
    const shlo_type *whole = out_tensor(w, t->element, t->rank, dims);
    shlo_value *both[] = {s->value, out_splat(w, out_tensor(w, t->element, 0, NULL), 0)};
    const shlo_named_attr attrs[] = {{"edge_padding_high", out_ints(w, t->rank, high)},
                                     {"edge_padding_low", out_ints(w, t->rank, none)},
                                     {"interior_padding", out_ints(w, t->rank, none)}};
    return &out_build(w, &(out_spec){.name = "stablehlo.pad",
                                     .operands = both,
                                     .operand_count = 2,
                                     .results = &whole,
                                     .result_count = 1,
                                     .attrs = attrs,
                                     .attr_count = 3})
                ->results[0];
}

static shlo_value *cut(shlo_writer *w, shlo_value *x, const shlo_type *to) {
    int64_t start[SHLO_RANK_MAX] = {0}, step[SHLO_RANK_MAX];
    for (uint32_t i = 0; i < to->rank; i++)
        step[i] = 1;
    const shlo_named_attr attrs[] = {{"limit_indices", out_ints(w, to->rank, to->dims)},
                                     {"start_indices", out_ints(w, to->rank, start)},
                                     {"strides", out_ints(w, to->rank, step)}};
    return &out_build(w, &(out_spec){.name = "stablehlo.slice",
                                     .operands = &x,
                                     .operand_count = 1,
                                     .results = &to,
                                     .result_count = 1,
                                     .attrs = attrs,
                                     .attr_count = 3})
                ->results[0];
}

static bool is_known(const shlo_type *t) {
    return t->kind == SHLO_TYPE_TENSOR && !t->quantized && shlo_type_count(t) >= 0;
}

/* A product whose parts fit, as far as padding goes by them: a program may come from outside. */
static bool is_padded(const shlo_op *op) {
    if (!op->info || op->info->opcode != SHLO_OP_DOT_GENERAL || op->operand_count != 2 ||
        op->result_count != 1 || !is_known(op->operands[0]->type) ||
        !is_known(op->operands[1]->type) || !is_known(op->results[0].type))
        return false;
    const side x = side_of(op, 0), y = side_of(op, 1);
    return !x.wrong && !y.wrong && x.batches == y.batches &&
           op->results[0].type->rank == x.batches + x.owns + y.owns;
}

/* Writes the product anew at the end of the writer's block. NULL: it has the sizes already. */
static shlo_value *pad_product(shlo_writer *w, const shlo_op *dot, const multiples *to) {
    const side x = side_of(dot, 0), y = side_of(dot, 1);
    const int64_t steps = y.contracted < 0 ? 0 : lacking(&x, x.contracted, to->columns);
    const int64_t rows = lacking(&x, x.own, to->rows), columns = lacking(&y, y.own, to->columns);
    if (!steps && !rows && !columns)
        return NULL;
    const shlo_type *given = dot->results[0].type;
    int64_t dims[SHLO_RANK_MAX];
    memcpy(dims, given->dims, given->rank * sizeof *dims);
    /* The result has batches, then the axes of the left side, then those of the right. */
    if (rows)
        dims[given->rank - y.owns - 1] += rows;
    if (columns)
        dims[given->rank - 1] += columns;
    const shlo_type *t = out_tensor(w, given->element, given->rank, dims);
    shlo_value *both[] = {padded(w, &x, steps, rows), padded(w, &y, steps, columns)};
    shlo_op *made = out_build(w, &(out_spec){.name = dot->name,
                                             .operands = both,
                                             .operand_count = 2,
                                             .results = &t,
                                             .result_count = 1,
                                             .attrs = dot->attrs,
                                             .attr_count = dot->attr_count});
    made->location = dot->location;
    return rows || columns ? cut(w, &made->results[0], given) : &made->results[0];
}

/* ---- the module ---- */

/* A product that was written anew stands in no block, and its first operand is what took its
 * place. */
static void take_place(shlo_op *product, shlo_value *made) {
    product->block = NULL;
    product->operands[0] = made;
}

static void follow_operands(shlo_op *op) {
    for (uint32_t i = 0; i < op->operand_count; i++) {
        const shlo_op *maker = op->operands[i]->op;
        if (maker && !maker->block)
            op->operands[i] = maker->operands[0];
    }
}

/* Regions go SHLO_DEPTH_MAX deep. */
static void pad_block(shlo_writer *w, shlo_block *block, const multiples *to) {
    shlo_op *rest = block->first;
    block->first = block->last = NULL;
    while (rest) {
        shlo_op *op = rest;
        rest = op->next;
        op->next = NULL;
        follow_operands(op);
        for (uint32_t i = 0; i < op->region_count; i++)
            pad_block(w, op->regions[i], to);
        w->block = block;
        shlo_value *made = is_padded(op) ? pad_product(w, op, to) : NULL;
        if (made) {
            take_place(op, made);
            continue;
        }
        if (block->last)
            block->last->next = op;
        else
            block->first = op;
        block->last = op;
    }
}

bool shlo_pad_for_tpu(shlo_module *m, const char *arguments, status *st) {
    multiples to;
    shlo_writer w = {.out = m, .st = st};
    if (!read_multiples(arguments, &to, st))
        return false;
    for (shlo_function *f = m->first; f; f = f->next)
        if (f->body)
            pad_block(&w, f->body, &to);
    return true;
}
