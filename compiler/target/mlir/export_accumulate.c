/* export_accumulate.c - reductions and contractions, in their orders. */
#include <inttypes.h>
#include <string.h>

#include "ops/orders.h"
#include "target/mlir/export.h"

enum { LANES = ORDER_LANES64_LANES, BLOCK = ORDER_LANES64_CHUNK };

/* ---- loops ---- */

typedef struct loop {
    const char *result, *index, *carried, *type;
} loop;

static loop open_loop(exporter *e, const char *low, const char *high, int64_t step,
                      const char *initial, const char *type) {
    const char *by = export_index(e, step);
    loop l = {export_text(e, "%%t%d", e->next), export_text(e, "%%k%d", e->next),
              export_text(e, "%%c%d", e->next), type};
    e->next++;
    export_line(e, "%s = scf.for %s = %s to %s step %s iter_args(%s = %s) -> (%s) {", l.result,
                l.index, low, high, by, l.carried, initial, type);
    return l;
}

static void close_loop(exporter *e, const loop *l, const char *next) {
    export_line(e, "scf.yield %s : %s", next, l->type);
    export_line(e, "}");
}

static const char *least(exporter *e, const char *x, const char *y) {
    return export_op(e, "arith.minsi %s, %s : index", x, y);
}

/* k, in row-major order over `axes`, as their indices in `at`. */
static void spread(exporter *e, const ir_type_data *t, const int64_t *axes, uint32_t n,
                   const char *k, const char **at) {
    for (uint32_t i = n; i-- > 0;) {
        const char *length = export_index(e, t->dims[axes[i]] ? t->dims[axes[i]] : 1);
        at[axes[i]] = export_op(e, "arith.remui %s, %s : index", k, length);
        k = export_op(e, "arith.divui %s, %s : index", k, length);
    }
}

/* ---- reductions ---- */

typedef struct reduction {
    ir_value x;
    int64_t axes[IR_MAX_RANK], extent;
    uint32_t axis_count;
    const char *at[IR_MAX_RANK]; /* the kept axes are filled */
    dtype type;                  /* that it accumulates in */
    const char *element;
    bool products; /* else sums; of floats in lanes */
} reduction;

static const char *element_at(exporter *e, reduction *r, const char *k) {
    spread(e, export_type(e, r->x), r->axes, r->axis_count, k, r->at);
    const char *x = export_load_wide(e, r->x, r->at);
    return export_convert(e, export_compute_type(export_type(e, r->x)->element), r->type, x);
}

static const char *zero_lanes(exporter *e, const reduction *r) {
    return export_op(e, "arith.constant dense<%s> : vector<%dx%s>", r->products ? "1.0" : "0.0",
                     LANES, r->element);
}

/* Lane `k` mod 64 gets x added. */
static const char *add_to_lane(exporter *e, const reduction *r, const char *lanes, const char *k,
                               const char *x) {
    const char *lane = export_op(e, "arith.remui %s, %s : index", k, export_index(e, LANES));
    const char *old = export_op(e, "vector.extractelement %s[%s : index] : vector<%dx%s>", lanes,
                                lane, LANES, r->element);
    const char *sum =
        export_op(e, "arith.%s %s, %s : %s", r->products ? "mulf" : "addf", old, x, r->element);
    return export_op(e, "vector.insertelement %s, %s[%s : index] : vector<%dx%s>", sum, lanes, lane,
                     LANES, r->element);
}

/* a[j] += a[j + w] for w = 32 ... 1 */
static const char *fold(exporter *e, const reduction *r, const char *lanes) {
    for (int w = LANES / 2; w > 0; w /= 2) {
        const char *half[2];
        for (int h = 0; h < 2; h++)
            half[h] = export_op(e,
                                "vector.extract_strided_slice %s {offsets = [%d], sizes = [%d], "
                                "strides = [1]} : vector<%dx%s> to vector<%dx%s>",
                                lanes, h * w, w, 2 * w, r->element, w, r->element);
        lanes = export_op(e, "arith.%s %s, %s : vector<%dx%s>", r->products ? "mulf" : "addf",
                          half[0], half[1], w, r->element);
    }
    return export_op(e, "vector.extractelement %s[%s : index] : vector<1x%s>", lanes,
                     export_index(e, 0), r->element);
}

/* One block from `first` on. */
static const char *block_sum(exporter *e, reduction *r, const char *first) {
    const char *end = least(e, export_plus(e, first, BLOCK), export_index(e, r->extent));
    const char *type = export_text(e, "vector<%dx%s>", LANES, r->element);
    loop l = open_loop(e, first, end, 1, zero_lanes(e, r), type);
    const char *k = export_op(e, "arith.subi %s, %s : index", l.index, first);
    close_loop(e, &l, add_to_lane(e, r, l.carried, k, element_at(e, r, l.index)));
    return fold(e, r, l.result);
}

static const char *lanes_sum(exporter *e, reduction *r) {
    const char *zero = export_bits(e, r->type, 0), *none = export_index(e, 0), *sum;
    if (r->extent > (int64_t)BLOCK * BLOCK)
        export_refuse(e, "a sum of more than %d elements", BLOCK * BLOCK);
    if (r->extent <= BLOCK) {
        sum = block_sum(e, r, none);
    } else {
        /* The sums of the blocks are a sequence of one block. */
        const char *type = export_text(e, "vector<%dx%s>", LANES, r->element);
        loop l = open_loop(e, none, export_index(e, r->extent), BLOCK, zero_lanes(e, r), type);
        const char *number =
            export_op(e, "arith.divui %s, %s : index", l.index, export_index(e, BLOCK));
        const char *one = block_sum(e, r, l.index);
        close_loop(e, &l, add_to_lane(e, r, l.carried, number, one));
        sum = fold(e, r, l.result);
    }
    return r->products ? sum : export_op(e, "arith.addf %s, %s : %s", sum, zero, r->element);
}

/* Any order is right: integers, and extrema. */
static const char *chain(exporter *e, reduction *r, const char *operation, uint64_t initial) {
    loop l = open_loop(e, export_index(e, 0), export_index(e, r->extent), 1,
                       export_bits(e, r->type, initial), r->element);
    const char *x = element_at(e, r, l.index);
    close_loop(e, &l, export_op(e, "%s %s, %s : %s", operation, l.carried, x, r->element));
    return l.result;
}

static uint64_t extreme_bits(dtype type, bool least_one) {
    uint64_t sign = UINT64_C(1) << (8 * dtype_size(type) - 1);
    if (type == DTYPE_F64)
        return 0x7ff0000000000000u | (least_one ? sign : 0);
    if (type == DTYPE_F32)
        return 0x7f800000u | (least_one ? sign : 0);
    return (uint64_t)(least_one ? dtype_lowest(type) : dtype_highest(type));
}

const char *export_extreme(dtype type, bool largest) {
    return dtype_is_float(type)      ? largest ? "arith.maximumf" : "arith.minimumf"
           : dtype_is_unsigned(type) ? largest ? "arith.maxui" : "arith.minui"
           : largest                 ? "arith.maxsi"
                                     : "arith.minsi";
}

static const char *reduced(exporter *e, ir_op op, const char *const *index) {
    reduction r = {.x = ir_op_get(e->m, op)->operands[0], .extent = 1};
    const ir_type_data *t = export_type(e, r.x);
    dtype result = export_type(e, ir_op_get(e->m, op)->results[0])->element;
    const char *kind = ir_op_string(e->m, op, "kind", "sum");
    r.axis_count = ir_op_ints(e->m, op, "axes", r.axes, IR_MAX_RANK);
    r.type = export_compute_type(t->element);
    if (graph_accumulate_type(e->m, op))
        r.type = graph_accumulate_type(e->m, op);
    r.element = export_element(e, r.type);
    for (int i = 0, kept = 0; i < t->rank; i++)
        if (ir_ints_hold(r.axes, r.axis_count, i))
            r.extent *= t->dims[i];
        else
            r.at[i] = index[kept++];
    bool sum = strcmp(kind, "sum") == 0, largest = strcmp(kind, "max") == 0;
    const char *value;
    if (order_is_exact(order_of(e->m, op, ORDER_ANY)))
        export_refuse(e, "the order exact, whose sums are wider than any of its types");
    r.products = strcmp(kind, "prod") == 0;
    if (r.products)
        value = dtype_is_float(r.type) ? lanes_sum(e, &r)
                                       : export_wrap(e, r.type, chain(e, &r, "arith.muli", 1));
    else if (sum)
        value = dtype_is_float(r.type) ? lanes_sum(e, &r)
                                       : export_wrap(e, r.type, chain(e, &r, "arith.addi", 0));
    else
        value = chain(e, &r, export_extreme(r.type, largest), extreme_bits(r.type, largest));
    return export_convert(e, r.type, result, value);
}

/* ---- running sums ---- */

/* Names what combines elements; `none` leaves each as it is. */
static const char *running_operation(const char *kind, dtype type, uint64_t *none) {
    const bool floats = dtype_is_float(type), largest = strcmp(kind, "max") == 0;
    if (strcmp(kind, "sum") == 0) {
        *none = floats ? UINT64_C(1) << (8 * dtype_size(type) - 1) : 0;
        return floats ? "arith.addf" : "arith.addi";
    }
    if (strcmp(kind, "prod") == 0) {
        *none = !floats ? 1 : type == DTYPE_F64 ? 0x3ff0000000000000u : 0x3f800000u;
        return floats ? "arith.mulf" : "arith.muli";
    }
    *none = extreme_bits(type, largest);
    return export_extreme(type, largest);
}

/* Each by itself, from the first element on: -0 and it are the element. */
static const char *running(exporter *e, ir_op op, const char *const *index) {
    reduction r = {.x = ir_op_get(e->m, op)->operands[0], .axis_count = 1};
    const ir_type_data *t = export_type(e, r.x);
    int axis = (int)ir_op_int(e->m, op, "axis", 0);
    dtype result = export_type(e, ir_op_get(e->m, op)->results[0])->element;
    r.axes[0] = axis;
    r.type = export_compute_type(t->element);
    if (graph_accumulate_type(e->m, op))
        r.type = graph_accumulate_type(e->m, op);
    r.element = export_element(e, r.type);
    memcpy(r.at, index, sizeof *index * (size_t)t->rank);
    bool floats = dtype_is_float(r.type);
    uint64_t none;
    const char *operation = running_operation(ir_op_string(e->m, op, "kind", "sum"), r.type, &none);
    loop l = open_loop(e, export_index(e, 0), export_plus(e, index[axis], 1), 1,
                       export_bits(e, r.type, none), r.element);
    const char *x = element_at(e, &r, l.index);
    close_loop(e, &l, export_op(e, "%s %s, %s : %s", operation, l.carried, x, r.element));
    const char *sum = floats ? l.result : export_wrap(e, r.type, l.result);
    return export_convert(e, r.type, result, sum);
}

/* ---- contractions ---- */

typedef struct contraction {
    ir_op op;
    ir_value x, y;
    int64_t x_contract[IR_MAX_RANK], y_contract[IR_MAX_RANK];
    uint32_t contracts;
    const char *x_at[IR_MAX_RANK], *y_at[IR_MAX_RANK];
    int64_t extent;
    dtype type;
    const char *element;
} contraction;

static void place_axes(exporter *e, contraction *c, const char *const *index) {
    int64_t batch[2][IR_MAX_RANK];
    const ir_type_data *x = export_type(e, c->x), *y = export_type(e, c->y);
    uint32_t batches = ir_op_ints(e->m, c->op, "x_batch", batch[0], IR_MAX_RANK);
    int next = (int)batches;
    ir_op_ints(e->m, c->op, "y_batch", batch[1], IR_MAX_RANK);
    c->contracts = ir_op_ints(e->m, c->op, "x_contract", c->x_contract, IR_MAX_RANK);
    ir_op_ints(e->m, c->op, "y_contract", c->y_contract, IR_MAX_RANK);
    for (uint32_t i = 0; i < batches; i++) {
        c->x_at[batch[0][i]] = index[i];
        c->y_at[batch[1][i]] = index[i];
    }
    for (int i = 0; i < x->rank; i++)
        if (!ir_ints_hold(batch[0], batches, i) && !ir_ints_hold(c->x_contract, c->contracts, i))
            c->x_at[i] = index[next++];
    for (int i = 0; i < y->rank; i++)
        if (!ir_ints_hold(batch[1], batches, i) && !ir_ints_hold(c->y_contract, c->contracts, i))
            c->y_at[i] = index[next++];
    c->extent = 1;
    for (uint32_t i = 0; i < c->contracts; i++)
        c->extent *= x->dims[c->x_contract[i]];
}

static const char *factor(exporter *e, const contraction *c, ir_value v, const char *const *at) {
    const char *x = export_load_wide(e, v, at);
    return export_convert(e, export_compute_type(export_type(e, v)->element), c->type, x);
}

static const char *step(exporter *e, contraction *c, const char *k, const char *carried) {
    spread(e, export_type(e, c->x), c->x_contract, c->contracts, k, c->x_at);
    spread(e, export_type(e, c->y), c->y_contract, c->contracts, k, c->y_at);
    const char *x = factor(e, c, c->x, c->x_at), *y = factor(e, c, c->y, c->y_at);
    if (dtype_is_float(c->type))
        return export_op(e, "math.fma %s, %s, %s : %s", x, y, carried, c->element);
    const char *product = export_op(e, "arith.muli %s, %s : %s", x, y, c->element);
    return export_op(e, "arith.addi %s, %s : %s", carried, product, c->element);
}

/* ---- windows ---- */

/* The place `k` of a window along axis 1 or 2, from its number: within the image, and whether it
 * was there. */
static const char *window_place(exporter *e, const contraction *c, int axis, const char *number,
                                const char *k, const char **inside) {
    int64_t stride = ir_op_int(e->m, c->op, "stride", 1),
            padding = ir_op_int(e->m, c->op, "padding", 0);
    const char *zero = export_index(e, 0),
               *length = export_index(e, export_type(e, c->x)->dims[axis]);
    const char *at = export_op(e, "arith.muli %s, %s : index", number, export_index(e, stride));
    at = export_op(e, "arith.addi %s, %s : index", at, k);
    at = export_op(e, "arith.subi %s, %s : index", at, export_index(e, padding));
    const char *from = export_op(e, "arith.cmpi sge, %s, %s : index", at, zero),
               *to = export_op(e, "arith.cmpi slt, %s, %s : index", at, length);
    const char *both = export_op(e, "arith.andi %s, %s : i1", from, to);
    *inside = *inside ? export_op(e, "arith.andi %s, %s : i1", *inside, both) : both;
    return export_op(e, "arith.select %s, %s, %s : index", both, at, zero);
}

/* A step whose place is outside of the image leaves the sum as it is. */
static const char *window_step(exporter *e, contraction *c, const char *k, const char *carried) {
    int64_t window[2] = {0}, channels = export_type(e, c->x)->dims[3];
    ir_op_ints(e->m, c->op, "window", window, 2);
    const char *across = export_index(e, window[1]), *each = export_index(e, channels);
    const char *place = export_op(e, "arith.divui %s, %s : index", k, each), *inside = NULL;
    const char *down = export_op(e, "arith.divui %s, %s : index", place, across);
    const char *right = export_op(e, "arith.remui %s, %s : index", place, across);
    const char *x_at[] = {c->x_at[0], window_place(e, c, 1, c->x_at[1], down, &inside),
                          window_place(e, c, 2, c->x_at[2], right, &inside),
                          export_op(e, "arith.remui %s, %s : index", k, each)};
    const char *y_at[] = {k, c->y_at[1]};
    const char *x = factor(e, c, c->x, x_at), *y = factor(e, c, c->y, y_at);
    const char *next = export_op(e, "math.fma %s, %s, %s : %s", x, y, carried, c->element);
    return export_op(e, "arith.select %s, %s, %s : %s", inside, next, carried, c->element);
}

static void place_windows(exporter *e, contraction *c, const char *const *index) {
    for (int i = 0; i < 3; i++)
        c->x_at[i] = index[i];
    c->y_at[1] = index[3];
    c->extent = export_type(e, c->y)->dims[0];
    for (int i = 1; i < 3; i++) /* of no places every step is outside */
        c->extent = export_type(e, c->x)->dims[i] ? c->extent : 0;
}

static const char *one_chain(exporter *e, contraction *c, const char *low, const char *high) {
    loop l = open_loop(e, low, high, 1, export_bits(e, c->type, 0), c->element);
    bool windows = ir_op_get(e->m, c->op)->opcode == GRAPH_CONVOLVE;
    close_loop(e, &l, (windows ? window_step : step)(e, c, l.index, l.carried));
    return l.result;
}

/* Steps of this row: all, or what k_count says. */
static const char *steps_of(exporter *e, contraction *c, const char *const *index) {
    const ir_op_data *d = ir_op_get(e->m, c->op);
    const char *all = export_index(e, c->extent);
    if (d->operand_count < 3)
        return all;
    const ir_type_data *t = export_type(e, d->operands[2]);
    int64_t batch[IR_MAX_RANK];
    const char *at[IR_MAX_RANK];
    /* It has the last of the row's axes: those of x's free ones. */
    int batches = (int)ir_op_ints(e->m, c->op, "x_batch", batch, IR_MAX_RANK);
    int frees = export_type(e, c->x)->rank - batches - (int)c->contracts;
    for (int i = 0; i < t->rank; i++)
        at[i] = index[batches + frees - t->rank + i];
    const char *count =
        export_op(e, "arith.index_cast %s : i32 to index", export_load(e, d->operands[2], at));
    count = export_op(e, "arith.maxsi %s, %s : index", count, export_index(e, 0));
    return least(e, count, all);
}

static const char *contracted(exporter *e, ir_op op, const char *const *index) {
    const ir_op_data *d = ir_op_get(e->m, op);
    contraction c = {.op = op, .x = d->operands[0], .y = d->operands[1]};
    dtype result = export_type(e, d->results[0])->element;
    (d->opcode == GRAPH_CONVOLVE ? place_windows : place_axes)(e, &c, index);
    c.type = export_compute_type(export_type(e, c.x)->element);
    if (!dtype_is_float(c.type))
        c.type = result;
    if (graph_accumulate_type(e->m, op))
        c.type = graph_accumulate_type(e->m, op);
    c.element = export_element(e, c.type);
    const char *none = export_index(e, 0), *steps = steps_of(e, &c, index), *sum;
    bool floats = dtype_is_float(c.type);
    order_id order = order_of(e->m, op, ORDER_CHUNK512);
    int64_t length = order_info_of(order)->chunk;
    if (order == ORDER_PAIRS512)
        export_refuse(e, "the order pairs512, whose steps flush subnormal numbers");
    if (floats && length) {
        loop l = open_loop(e, none, steps, length, export_bits(e, c.type, 0), c.element);
        const char *end = least(e, export_plus(e, l.index, length), steps);
        const char *chunk = one_chain(e, &c, l.index, end);
        close_loop(e, &l, export_op(e, "arith.addf %s, %s : %s", l.carried, chunk, c.element));
        sum = l.result;
    } else {
        sum = one_chain(e, &c, none, steps);
    }
    if (floats)
        sum = export_op(e, "arith.addf %s, %s : %s", sum, export_bits(e, c.type, 0), c.element);
    return export_convert(e, c.type, result, sum);
}

const char *export_accumulated(exporter *e, ir_op op, const char *const *index) {
    int opcode = ir_op_get(e->m, op)->opcode;
    switch (graph_op_class(opcode)) {
    case GRAPH_CLASS_DOT:
        return contracted(e, op, index);
    case GRAPH_CLASS_SCAN:
        if (opcode == GRAPH_CUMSUM)
            return running(e, op, index);
        export_refuse(e, "an order of elements, which is no loop over those of the result");
        return "%none";
    default:
        return reduced(e, op, index);
    }
}
