/* kept_dims.c - the dimensions that operations keep: each index along them of a result is made of
 * that index of an operand alone, in the same way for all.
 *
 * The rules have the names of those of batches (ops/batching/batching.def), whose batch is such a
 * dimension; what is summed, sorted or scanned over is none. */
#include <string.h>

#include "ops/batching/batching.h"
#include "transforms/partition.h"

typedef struct keeping {
    const ir_module *m;
    ir_op op;
    uint32_t operand, result;
    const ir_type_data *x, *y; /* of the operand and the result */
    int8_t *to;
} keeping;

typedef bool (*keep_rule)(const keeping *k);

static const ir_type_data *type_of(const keeping *k, uint32_t operand) {
    return ir_type_of(k->m, ir_op_get(k->m, k->op)->operands[operand]);
}

/* A dimension goes to one of the same size. */
static void keep(const keeping *k, int from, int to) {
    if (from >= 0 && from < k->x->rank && to >= 0 && to < k->y->rank &&
        k->x->dims[from] == k->y->dims[to])
        k->to[from] = (int8_t)to;
}

static bool keep_none(const keeping *k) {
    (void)k;
    return false;
}

static bool keep_element(const keeping *k) {
    for (int i = 0; i < k->x->rank && k->x->rank == k->y->rank; i++)
        keep(k, i, i);
    return true;
}

static bool keep_adam(const keeping *k) {
    return keep_element(k);
}

static bool keep_placed(const keeping *k) {
    return keep_element(k);
}

static bool keep_exchange(const keeping *k) {
    return keep_none(k);
}

static bool keep_broadcast(const keeping *k) {
    int64_t axes[IR_MAX_RANK];
    const uint32_t count = ir_op_ints(k->m, k->op, "axes", axes, IR_MAX_RANK);
    for (uint32_t i = 0; i < count; i++)
        keep(k, (int)i, (int)axes[i]);
    return true;
}

static bool keep_transpose(const keeping *k) {
    int64_t from[IR_MAX_RANK];
    const uint32_t count = ir_op_ints(k->m, k->op, "permutation", from, IR_MAX_RANK);
    for (uint32_t i = 0; i < count; i++)
        keep(k, (int)from[i], (int)i);
    return true;
}

/* Left to kept_by_reshape(). */
static bool keep_reshape(const keeping *k) {
    return keep_none(k);
}

static bool keep_slice(const keeping *k) {
    int64_t start[IR_MAX_RANK], stop[IR_MAX_RANK], step[IR_MAX_RANK];
    const int count = (int)ir_op_ints(k->m, k->op, "start", start, IR_MAX_RANK);
    ir_op_ints(k->m, k->op, "stop", stop, IR_MAX_RANK);
    ir_op_ints(k->m, k->op, "step", step, IR_MAX_RANK);
    for (int i = 0; i < count; i++)
        if (start[i] == 0 && stop[i] == k->x->dims[i] && step[i] == 1)
            keep(k, i, i);
    return true;
}

/* All but an axis, which the result may lack; of axes behind others, `more` are put in its place.
 */
static void keep_around(const keeping *k, int axis, int more) {
    for (int i = 0; i < k->x->rank; i++)
        if (i != axis)
            keep(k, i, i < axis ? i : i + more - 1);
}

static int axis_of(const keeping *k) {
    const int axis = (int)ir_op_int(k->m, k->op, "axis", 0);
    return axis < 0 ? axis + type_of(k, 0)->rank : axis;
}

/* Windows have their place behind all others. */
static bool keep_axis(const keeping *k) {
    if (k->operand == 0)
        keep_around(k, axis_of(k), k->y->rank < k->x->rank ? 0 : 1);
    return k->operand == 0;
}

static bool keep_concat(const keeping *k) {
    keep_around(k, axis_of(k), 1);
    return true;
}

static bool keep_gather(const keeping *k) {
    const int axis = axis_of(k), batches = (int)ir_op_int(k->m, k->op, "batch_dims", 0),
              places = type_of(k, 1)->rank - batches;
    if (k->operand == 0)
        keep_around(k, axis, places);
    for (int i = 0; k->operand == 1 && i < k->x->rank; i++)
        keep(k, i, i < batches ? i : axis + i - batches);
    return true;
}

static bool keep_reduce(const keeping *k) {
    int64_t axes[IR_MAX_RANK];
    const uint32_t count = ir_op_ints(k->m, k->op, "axes", axes, IR_MAX_RANK);
    for (int i = 0, to = 0; i < k->x->rank; i++)
        if (!ir_ints_hold(axes, count, i))
            keep(k, i, to++);
    return true;
}

/* Batches first, then what is free of x, then of y. */
static bool keep_dot(const keeping *k) {
    static const char *const lists[2][2] = {{"x_batch", "x_contract"}, {"y_batch", "y_contract"}};
    int64_t batch[IR_MAX_RANK], contract[IR_MAX_RANK];
    const uint32_t side = k->operand == 1;
    const uint32_t batches = ir_op_ints(k->m, k->op, lists[side][0], batch, IR_MAX_RANK),
                   contracts = ir_op_ints(k->m, k->op, lists[side][1], contract, IR_MAX_RANK);
    if (k->operand == 2) { /* counts, for the last free axis of x */
        keep(k, 0, type_of(k, 0)->rank - (int)contracts - 1);
        return true;
    }
    int to = k->operand == 0 ? (int)batches : k->y->rank - k->x->rank + (int)(batches + contracts);
    for (uint32_t i = 0; i < batches; i++)
        keep(k, (int)batch[i], (int)i);
    for (int i = 0; i < k->x->rank; i++)
        if (!ir_ints_hold(batch, batches, i) && !ir_ints_hold(contract, contracts, i))
            keep(k, i, to++);
    return true;
}

/* The last dimensions but `but` of both, from the last one on. */
static void keep_but_last(const keeping *k, int but) {
    for (int i = 0; i < k->x->rank - but; i++)
        keep(k, i, i + k->y->rank - k->x->rank);
}

static bool keep_matmul(const keeping *k) {
    if (type_of(k, 0)->rank < 2 || type_of(k, 1)->rank < 2)
        return false;
    keep_but_last(k, k->operand == 0 ? 1 : 2);
    if (k->operand == 1)
        keep(k, k->x->rank - 1, k->y->rank - 1);
    return true;
}

/* x [..., K] by w [K, N], and what there is for each column; scales of rows are behind w. */
static bool keep_linear(const keeping *k) {
    if (k->operand == 0)
        keep_but_last(k, 1);
    else if (ir_op_get(k->m, k->op)->opcode == GRAPH_SCALED_MATMUL && k->operand == 2)
        keep(k, k->x->rank - 1, k->y->rank - 2);
    else if (type_of(k, 1)->rank == 2)
        keep(k, k->x->rank - 1, k->y->rank - 1);
    return true;
}

/* Rows of the first operand, which the others do not tell apart. */
static bool keep_rows(const keeping *k) {
    int least = 1;
    for (uint32_t i = 1; i < ir_op_get(k->m, k->op)->operand_count; i++)
        least = type_of(k, i)->rank > least ? type_of(k, i)->rank : least;
    for (int i = 0; k->operand == 0 && i < k->x->rank - least; i++)
        keep(k, i, i);
    return k->operand == 0;
}

static bool keep_leading(const keeping *k) {
    bool same = true;
    for (uint32_t i = 0; i < 3; i++)
        same &= type_of(k, i)->rank == k->y->rank;
    for (int d = 0; same && d < k->x->rank - 2; d++)
        if (type_of(k, 0)->dims[d] == type_of(k, 1)->dims[d] &&
            type_of(k, 0)->dims[d] == type_of(k, 2)->dims[d])
            keep(k, d, d);
    return same;
}

/* Images, and channels of filters. */
static bool keep_convolve(const keeping *k) {
    if (k->operand == 0)
        keep(k, 0, 0);
    else
        keep(k, k->x->rank - 1, k->y->rank - 1);
    return true;
}

static bool keep_conv2d(const keeping *k) {
    return keep_convolve(k);
}

/* Over the shards of an axis, of each element apart; along `dim` and its like, of all. */
static bool keep_collective(const keeping *k) {
    static const char *const names[] = {"dim", "split", "concat"};
    for (int i = 0; i < k->x->rank && k->x->rank == k->y->rank; i++) {
        bool moved = false;
        for (int n = 0; n < 3; n++)
            moved |= ir_op_int(k->m, k->op, names[n], -1) == i;
        if (!moved)
            keep(k, i, i);
    }
    return true;
}

static const keep_rule rules[] = {
#define G(ENUM, name, operands, attrs, results, class, effects, shape, decompose, derive,          \
          batching, flops, summary)                                                                \
    keep_##batching,
#include "ops/graph.def"
};

bool kept_dims(const ir_module *m, ir_op op, uint32_t operand, uint32_t result, int8_t *to) {
    const ir_op_data *d = ir_op_get(m, op);
    const keeping k = {m,
                       op,
                       operand,
                       result,
                       ir_type_of(m, d->operands[operand]),
                       ir_type_of(m, d->results[result]),
                       to};
    memset(to, -1, IR_MAX_RANK);
    return rules[d->opcode](&k);
}

/* ---- reshapes ---- */

/* Groups of dimensions, whose products are equal, are the same elements. In a group the axes go to
 * dimensions in their order, as long as each one's shards divide what is left of its dimension. */
static bool next_group(const ir_type_data *t, int *end, int64_t *product) {
    if (*end == t->rank)
        return false;
    *product *= t->dims[(*end)++];
    return true;
}

typedef struct group {
    int first, last; /* dimensions, the last one is none of them */
} group;

static void keep_group(const partition *p, const placement *of, group from,
                       const ir_type_data *to_type, group in, placement *out) {
    int to = in.first;
    int64_t left = to < in.last ? to_type->dims[to] : 1;
    uint32_t at = 0;
    for (int d = from.first; d < from.last; d++)
        for (uint32_t i = 0; i < SHARDING_AXES && of->axes[d][i]; i++) {
            const int64_t shards = p->axes[of->axes[d][i] - 1].total;
            while (left == 1 && to + 1 < in.last) {
                left = to_type->dims[++to];
                at = 0;
            }
            if (to >= in.last || left % shards != 0 || at == SHARDING_AXES)
                return;
            out->axes[to][at++] = of->axes[d][i];
            left /= shards;
        }
}

/* Is a dimension the first of its group that is not 1, or is all before it cut to single rows? */
static bool is_leading(const partition *p, const placement *of, const ir_type_data *t, int from,
                       int dim) {
    for (int d = from; d < dim; d++)
        if (placement_shards(p, of, d, false) != t->dims[d])
            return false;
    return true;
}

placement kept_by_reshape(const partition *p, const placement *of, const ir_type_data *from,
                          const ir_type_data *to) {
    placement out = {0}, leading;
    int a = 0, b = 0;
    while (a < from->rank || b < to->rank) {
        const int first = a, second = b;
        int64_t x = 1, y = 1;
        if (!next_group(from, &a, &x) && !next_group(to, &b, &y))
            break;
        while (x != y)
            if (!(x < y ? next_group(from, &a, &x) : next_group(to, &b, &y)))
                return out; /* a size of 0 */
        leading = *of;
        for (int d = first; d < a; d++)
            if (!is_leading(p, of, from, first, d))
                memset(leading.axes[d], 0, sizeof leading.axes[d]);
        keep_group(p, &leading, (group){first, a}, to, (group){second, b}, &out);
    }
    return out;
}
