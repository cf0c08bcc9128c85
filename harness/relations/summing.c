/* summing.c - see summing.h: plants, calls, counts. */
#include "relations/summing.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/arena.h"
#include "common/timer.h"
#include "relations/attempt.h"
#include "relations/tree_class.h"

enum { ELEMENTS = 997, NOTHING = SUMMING_NOTHING };

static summing_numbers numbers_of(dtype type) {
    if (type == DTYPE_F16)
        return (summing_numbers){0x1p-24, 0x1p15, 0x1p15, 0x1p-15, 0};
    double factor = type == DTYPE_F64 ? 1 + 0x1p-27 : type == DTYPE_F32 ? 1 + 0x1p-12 : 0;
    return (summing_numbers){1, 0x1p100, 0x1p30, 1, factor};
}

/* ---- one call ---- */

static void fill(tensor *t, double value) {
    int64_t count = tensor_count(t);
    for (int64_t i = 0; i < count; i++)
        dtype_store(t->type, t->data, (size_t)i, value);
}

/* Into the accumulation of the first result, or into all of them. */
static void plant_x(const summing *s, int64_t k, double value) {
    const tensor *x = &s->shape.inputs[s->cut.whole_x];
    for (int64_t row = 0; row < (s->every ? s->cut.rows : 1); row++)
        dtype_store(x->type, x->data, (size_t)compiler_cut_place(&s->cut, row, k), value);
}

static void plant_y(const summing *s, int64_t k, double value) {
    const tensor *y = &s->shape.inputs[s->cut.whole_y];
    for (int64_t e = 0; e < tensor_count(y); e++)
        if (compiler_cut_step(&s->cut, e) == k)
            dtype_store(y->type, y->data, (size_t)e, value);
}

/* All results are the first one. */
static bool are_equal(const tensor *out, status *st) {
    char index[80];
    const char *data = out->data;
    size_t size = dtype_size(out->type);
    for (int64_t i = 1; i < tensor_count(out); i++) {
        if (memcmp(data, data + (size_t)i * size, size) == 0)
            continue;
        attempt_index(out, i, index, sizeof index);
        return status_set(st, STATUS_UNAVAILABLE,
                          "element [%s] of the result is not added as the first one is: no single "
                          "order describes it",
                          index);
    }
    return true;
}

/* The first result. */
static bool call_with(summing *s, int changed, double *result, status *st) {
    tensor *outputs = tensors_new(s->shape.signature.output_count);
    const circumstances how = {
        .threads = s->threads, .before = 0xA5, .surround = 0x5A, .changed = changed};
    bool ok = runner_run(s->runner, &s->shape, &how, s->shape.inputs, outputs, st);
    const tensor *out = &outputs[s->cut.whole_output];
    if (ok)
        *result = dtype_load(out->type, out->data, 0);
    ok = ok && (!s->every || are_equal(out, st));
    tensors_free(outputs);
    return ok;
}

static bool measure(void *context, tree_pair *pairs, size_t count, status *st) {
    summing *s = context;
    int64_t n = s->cut.extent;
    bool ok = true;
    for (size_t k = 0; k < count && ok; k++) {
        double units = 0;
        tree_pair own = pairs[k];
        if (s->mirrored)
            own = (tree_pair){(int32_t)n - 1 - own.i, (int32_t)n - 1 - own.j, 0};
        plant_x(s, own.i, s->numbers.mask);
        plant_x(s, own.j, -s->numbers.mask);
        ok = call_with(s, s->pairs.count ? s->cut.whole_x : -1, &units, st);
        plant_x(s, own.i, s->numbers.unit);
        plant_x(s, own.j, s->numbers.unit);
        units /= s->numbers.unit;
        bool counted = units == floor(units) && units >= 0 && units <= (double)(n - 2);
        if (ok && !counted)
            ok = status_set(st, STATUS_INVALID,
                            "with elements %d and %d cancelled it gives %g: no sum "
                            "of the other %lld",
                            pairs[k].i, pairs[k].j, units, (long long)(n - 2));
        pairs[k].size = own.size = n - (int64_t)units;
        if (ok)
            vec_push(&s->pairs, own);
        if (ok && timer_now_ns() > s->end_ns)
            ok = status_set(st, STATUS_TIMEOUT, "there was no time left (--budget)");
    }
    return ok;
}

/* ---- a shape ---- */

static void close_shape(summing *s) {
    if (s->cut.instance)
        compiler_instance_free(s->cut.instance);
    s->cut = (compiler_cut){0};
    shape_close(&s->shape);
}

/* One accumulation of floats that hold the numbers of a probe, of inputs as they are, and nothing
 * after. */
static bool is_one_sum(summing *s, status *st) {
    static const char why[] =
        "the kernel is not one sum, or one contraction, of its inputs as they are";
    compiler_cut second;
    if (s->request->column->kernel->contract)
        return status_set(st, STATUS_UNAVAILABLE,
                          "the kernel has no formula that would tell what is summed");
    if (!compiler_cut_open(s->shape.instance, 1, &second, st))
        return false;
    bool more = second.instance != NULL;
    if (more)
        compiler_instance_free(second.instance);
    if (!compiler_cut_open(s->shape.instance, 0, &s->cut, st))
        return false;
    bool whole = s->cut.instance && !more && s->cut.whole_x >= 0 && s->cut.whole_output >= 0 &&
                 (!s->cut.is_dot || s->cut.whole_y >= 0);
    if (!whole)
        return status_set(st, STATUS_UNAVAILABLE, "%s", why);
    dtype type = s->shape.inputs[s->cut.whole_x].type;
    bool wide = type == DTYPE_F32 || type == DTYPE_F64 || type == DTYPE_BF16 ||
                type == DTYPE_TF32 || (type == DTYPE_F16 && s->cut.accumulator == DTYPE_F32);
    s->numbers = numbers_of(type);
    return wide || status_set(st, STATUS_UNAVAILABLE,
                              "%s does not hold the numbers that show a tree", dtype_name(type));
}

bool summing_shape(summing *s, const compiler_case *like, const int64_t *dims, status *st) {
    const shape_request request = {like, dims, s->request->seed, false, NULL};
    close_shape(s);
    return shape_open(&s->shape, s->request->column, &request, st) && is_one_sum(s, st);
}

/* The first element meets all others in the whole: it comes last. */
static bool choose_end(summing *s, status *st) {
    const int32_t n = (int32_t)s->cut.extent;
    tree_pair pairs[] = {{0, 1, 0}, {0, n / 2, 0}, {0, n - 1, 0}};
    if (n < 3)
        return true;
    bool ok = measure(s, pairs, 3, st);
    s->mirrored = ok && pairs[0].size == n && pairs[1].size == n && pairs[2].size == n;
    s->pairs.count = 0;
    return ok;
}

static int32_t mirrored(const summing *s, int32_t branch) {
    return branch < 0 ? ~((int32_t)s->cut.extent - 1 - ~branch) : branch;
}

static void mirror(summing *s) {
    for (size_t i = 0; i < s->nodes.count; i++) {
        tree_node *n = &s->nodes.items[i];
        *n = (tree_node){mirrored(s, n->left), mirrored(s, n->right), n->size};
    }
}

bool summing_recover(summing *s, found_tree *out, status *st) {
    sha256 digest;
    s->pairs.count = 0;
    s->mirrored = false;
    for (uint32_t i = 0; i < s->shape.signature.input_count; i++)
        fill(&s->shape.inputs[i], (int)i == s->cut.whole_x ? s->numbers.unit : 1);
    text_clear(&out->name);
    if (!choose_end(s, st) ||
        !tree_recover((int32_t)s->cut.extent, measure, s, &s->nodes, &digest, st))
        return false;
    if (s->mirrored) {
        digest = sha256_of(&digest, sizeof digest);
        mirror(s);
    }
    sha256_hex(&digest, out->digest);
    tree_class_of(s->cut.extent, &s->pairs, &out->name);
    return true;
}

/* ---- how it multiplies, and in what it adds ---- */

/* A product of element `there` that is rounded before it is added gives 0, together with one of
 * `here`, which is what it is rounded to. */
static int meets_fused(summing *s, int64_t here, int64_t there) {
    const double a = s->numbers.factor, rounded = 2 * a - 1;
    double result = 0;
    status ignored = STATUS_INIT;
    fill(&s->shape.inputs[s->cut.whole_x], 0);
    fill(&s->shape.inputs[s->cut.whole_y], 0);
    plant_x(s, here, 1);
    plant_y(s, here, -rounded);
    plant_x(s, there, a);
    plant_y(s, there, a);
    return call_with(s, -1, &result, &ignored) ? result != 0 : NOTHING;
}

/* Elements that meet as sums of their own are rounded anyway, so pairs at several distances are
 * tried. */
int summing_fused(summing *s) {
    int fused = 0;
    if (!s->cut.is_dot || s->numbers.factor == 0)
        return NOTHING;
    for (int64_t distance = 1; distance < s->cut.extent && fused == 0; distance *= 2) {
        fused = meets_fused(s, 0, distance);
        fused = fused == 0 ? meets_fused(s, distance, 0) : fused;
    }
    return fused;
}

/* Products of a factor with itself and with its opposite, of elements `there` and `here`; all
 * others are 0. The sum is 0 where both products are rounded before they are added; else it has the
 * sign of the one that is not. `first`: y holds the factor since the call before. */
static bool meeting(summing *s, int64_t here, int64_t there, bool first, double *result,
                    status *st) {
    if (first) {
        fill(&s->shape.inputs[s->cut.whole_x], 0);
        fill(&s->shape.inputs[s->cut.whole_y], s->numbers.factor);
    }
    plant_x(s, here, -s->numbers.factor);
    plant_x(s, there, s->numbers.factor);
    bool ok = call_with(s, first ? -1 : s->cut.whole_x, result, st);
    plant_x(s, here, 0);
    plant_x(s, there, 0);
    return ok;
}

/* Any element below a branch. */
static int32_t some_element(const tree_nodes *nodes, int32_t branch) {
    while (branch >= 0)
        branch = nodes->items[branch].left;
    return ~branch;
}

bool summing_joins(summing *s, bool exact, signed char *joins, status *st) {
    bool asks = s->cut.is_dot && s->numbers.factor != 0 && !exact, first = true;
    for (size_t i = 0; i < s->nodes.count; i++) {
        const tree_node *n = &s->nodes.items[i];
        double result = 0;
        joins[i] = tree_join(n);
        if (!asks || joins[i] == TREE_NONE)
            continue;
        if (!meeting(s, some_element(&s->nodes, n->left), some_element(&s->nodes, n->right), first,
                     &result, st))
            return false;
        first = false;
        joins[i] = result > 0 ? TREE_RIGHT : result < 0 ? TREE_LEFT : TREE_NONE;
        if ((joins[i] == TREE_RIGHT && n->right >= 0) || (joins[i] == TREE_LEFT && n->left >= 0))
            return status_set(st, STATUS_UNAVAILABLE,
                              "a sum is not rounded where it is added to element %d: no order in "
                              "f32 describes it",
                              some_element(&s->nodes, joins[i] ? n->left : n->right));
        if (timer_now_ns() > s->end_ns)
            return status_set(st, STATUS_TIMEOUT, "there was no time left (--budget)");
    }
    return true;
}

/* A small number beside a great one is lost in f32 unless the large ones meet first: in one of
 * three places it is.
 */
const char *summing_accumulator(summing *s) {
    static const int places[3][3] = {{0, 1, 2}, {0, 2, 1}, {1, 2, 0}};
    bool lost = false;
    if (s->shape.inputs[s->cut.whole_x].type == DTYPE_F64 || s->cut.extent < 3)
        return NULL;
    for (int i = 0; i < 3; i++) {
        double result = s->numbers.small;
        status ignored = STATUS_INIT;
        for (uint32_t k = 0; k < s->shape.signature.input_count; k++)
            fill(&s->shape.inputs[k], (int)k == s->cut.whole_x ? 0 : 1);
        plant_x(s, places[i][0], s->numbers.great);
        plant_x(s, places[i][1], -s->numbers.great);
        plant_x(s, places[i][2], s->numbers.small);
        if (!call_with(s, -1, &result, &ignored))
            return NULL;
        lost |= result == 0;
    }
    return lost ? "f32" : "wider";
}

/* ---- shapes to ask at ---- */

const compiler_case *summing_case(const relations_request *request, status *st) {
    const compiler_kernel *k = request->column->kernel;
    for (uint32_t i = 0; i < k->case_count; i++)
        if (!k->cases[i].large)
            return &k->cases[i];
    status_set(st, STATUS_UNAVAILABLE, "the kernel has no case that is not large");
    return NULL;
}

/* Gives what is summed over many elements, and each batch one position. */
bool summing_dims(const relations_request *request, const compiler_case *like, int64_t *dims,
                  bool *batch, status *st) {
    const compiler_kernel *k = request->column->kernel;
    const shape_request whole = {like, NULL, request->seed, false, NULL};
    shape source;
    if (!shape_open(&source, request->column, &whole, st))
        return false;
    for (uint32_t i = 0; i < k->dim_count; i++) {
        compiler_independence lanes;
        batch[i] =
            compiler_independent(source.instance, k->dim_names[i], &lanes, st) && lanes.independent;
        dims[i] = batch[i] ? 1 : ELEMENTS;
    }
    shape_close(&source);
    return true;
}

/* So many of each batch that all together are no more than the most of two. */
int64_t summing_positions_most(const bool *batch, uint32_t dims) {
    uint32_t batches = 0;
    for (uint32_t i = 0; i < dims; i++)
        batches += batch[i];
    return batches < 3 ? SUMMING_POSITIONS
                       : (int64_t)pow((double)SUMMING_POSITIONS * SUMMING_POSITIONS, 1.0 / batches);
}

void summing_open(summing *s, const relations_request *request) {
    uint64_t end_ns = timer_now_ns() + request->budget_ns;
    *s = (summing){
        .request = request, .runner = runner_open(request, end_ns), .threads = 1, .end_ns = end_ns};
}

void summing_close(summing *s) {
    close_shape(s);
    runner_close(s->runner);
    vec_release(&s->pairs);
    vec_release(&s->nodes);
}
