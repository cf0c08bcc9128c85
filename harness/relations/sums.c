/* sums.c - see sums.h: plants, calls, counts; then asks where the tree changes. */
#include "relations/sums.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/arena.h"
#include "common/json_text.h"
#include "common/timer.h"
#include "device/host.h"
#include "probe/tree.h"
#include "relations/attempt.h"
#include "relations/runner.h"
#include "relations/tree_class.h"

enum { ELEMENTS = 997, POSITIONS_MOST = 256, NOTHING = -1 };
static const double mask = 0x1p100;

/* A kernel that is one accumulation of its inputs. */
typedef struct summing {
    const relations_request *request;
    runner *runner;
    uint64_t end_ns;
    compiler_cut cut;
    shape shape;
    uint32_t threads;
    tree_pairs pairs; /* all that were measured for the tree in hand */
    bool mirrored; /* elements are counted from the last one: such chains cost n pairs then, not n *
                      n */
    json_t *trees, *changes;
} summing;

/* What a tree is told by. */
typedef struct found_tree {
    char digest[65];
    text name;
} found_tree;

/* ---- one call ---- */

static void fill(tensor *t, double value) {
    int64_t count = tensor_count(t);
    for (int64_t i = 0; i < count; i++)
        dtype_store(t->type, t->data, (size_t)i, value);
}

static void plant_x(const summing *s, int64_t k, double value) {
    const tensor *x = &s->shape.inputs[s->cut.whole_x];
    dtype_store(x->type, x->data, (size_t)compiler_cut_place(&s->cut, 0, k), value);
}

static void plant_y(const summing *s, int64_t k, double value) {
    const tensor *y = s->cut.is_dot ? &s->shape.inputs[s->cut.whole_y] : NULL;
    for (int64_t e = 0; y && e < tensor_count(y); e++)
        if (compiler_cut_step(&s->cut, e) == k)
            dtype_store(y->type, y->data, (size_t)e, value);
}

/* The first result. */
static bool call_with(summing *s, int changed, double *result, status *st) {
    tensor outputs[COMPILER_MAX_PARAMETERS] = {{0}};
    const circumstances how = {
        .threads = s->threads, .before = 0xA5, .surround = 0x5A, .changed = changed};
    bool ok = runner_run(s->runner, &s->shape, &how, s->shape.inputs, outputs, st);
    const tensor *out = &outputs[s->cut.whole_output];
    if (ok)
        *result = dtype_load(out->type, out->data, 0);
    tensor_release_all(outputs, COMPILER_MAX_PARAMETERS);
    return ok;
}

static bool call(summing *s, double *result, status *st) {
    return call_with(s, -1, result, st);
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
        plant_x(s, own.i, mask);
        plant_x(s, own.j, -mask);
        ok = call_with(s, s->pairs.count ? s->cut.whole_x : -1, &units, st);
        plant_x(s, own.i, 1);
        plant_x(s, own.j, 1);
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
    if (s->request->subject->kernel->contract)
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
    bool wide = type == DTYPE_F32 || type == DTYPE_F64 || type == DTYPE_BF16 || type == DTYPE_TF32;
    return wide || status_set(st, STATUS_UNAVAILABLE,
                              "%s does not hold the numbers that show a tree", dtype_name(type));
}

static bool open_shape(summing *s, const compiler_case *like, const int64_t *dims, status *st) {
    const shape_request request = {like, dims, s->request->seed, false};
    close_shape(s);
    return shape_open(&s->shape, s->request->subject, &request, st) && is_one_sum(s, st);
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

static bool recover(summing *s, found_tree *out, status *st) {
    sha256 digest;
    s->pairs.count = 0;
    s->mirrored = false;
    for (uint32_t i = 0; i < s->shape.signature.input_count; i++)
        fill(&s->shape.inputs[i], 1);
    text_clear(&out->name);
    if (!choose_end(s, st) || !tree_recover((int32_t)s->cut.extent, measure, s, &digest, st))
        return false;
    if (s->mirrored)
        digest = sha256_of(&digest, sizeof digest);
    sha256_hex(&digest, out->digest);
    tree_class_of(s->cut.extent, &s->pairs, &out->name);
    return true;
}

/* ---- how it multiplies, and in what it adds ---- */

/* A product of element `there` that is rounded before it is added gives 0, together with one of
 * `here`. */
static int meets_fused(summing *s, int64_t here, int64_t there) {
    const double a = 1 + 0x1p-12, rounded = 1 + 0x1p-11;
    double result = 0;
    status ignored = STATUS_INIT;
    fill(&s->shape.inputs[s->cut.whole_x], 0);
    fill(&s->shape.inputs[s->cut.whole_y], 0);
    plant_x(s, here, 1);
    plant_y(s, here, -rounded);
    plant_x(s, there, a);
    plant_y(s, there, a);
    return call(s, &result, &ignored) ? result != 0 : NOTHING;
}

/* 1: products are not rounded before they are added; 0: they are; NOTHING: it cannot be told.
 * Elements that meet as sums of their own are rounded anyway, so pairs at several distances are
 * tried. */
static int is_fused(summing *s) {
    int fused = 0;
    if (!s->cut.is_dot || s->shape.inputs[s->cut.whole_x].type != DTYPE_F32)
        return NOTHING;
    for (int64_t distance = 1; distance < s->cut.extent && fused == 0; distance *= 2) {
        fused = meets_fused(s, 0, distance);
        fused = fused == 0 ? meets_fused(s, distance, 0) : fused;
    }
    return fused;
}

/* A one beside 2^30 is lost in f32 unless the large ones meet first: in one of three places it is.
 */
static const char *accumulator(summing *s) {
    static const int places[3][3] = {{0, 1, 2}, {0, 2, 1}, {1, 2, 0}};
    bool lost = false;
    if (s->shape.inputs[s->cut.whole_x].type == DTYPE_F64 || s->cut.extent < 3)
        return NULL;
    for (int i = 0; i < 3; i++) {
        double result = 1;
        status ignored = STATUS_INIT;
        for (uint32_t k = 0; k < s->shape.signature.input_count; k++)
            fill(&s->shape.inputs[k], (int)k == s->cut.whole_x ? 0 : 1);
        plant_x(s, places[i][0], 0x1p30);
        plant_x(s, places[i][1], -0x1p30);
        plant_x(s, places[i][2], 1);
        if (!call(s, &result, &ignored))
            return NULL;
        lost |= result == 0;
    }
    return lost ? "f32" : "wider";
}

/* ---- what is told ---- */

static void write_dims(const shape *s, text *out) {
    for (uint32_t i = 0; i < s->c->dim_count; i++)
        text_printf(out, "%s%s=%lld", i ? "," : "", s->c->dims[i].name,
                    (long long)s->c->dims[i].value);
}

static void tell_tree(summing *s, const found_tree *t) {
    text dims;
    int fused = is_fused(s);
    text_init(&dims);
    write_dims(&s->shape, &dims);
    json_array_append_new(s->trees, json_pack("{s:s, s:i, s:I, s:s, s:s, s:o, s:s?}", "dims",
                                              dims.data, "threads", (int)s->threads, "elements",
                                              (json_int_t)s->cut.extent, "class", t->name.data,
                                              "digest", t->digest, "fused",
                                              fused == NOTHING ? json_null() : json_boolean(fused),
                                              "accumulator", accumulator(s)));
    text_release(&dims);
}

static void tell_change(summing *s, const char *what, int64_t from, int64_t to) {
    json_array_append_new(s->changes, json_pack("{s:s, s:I, s:I}", "of", what, "from",
                                                (json_int_t)from, "to", (json_int_t)to));
}

/* ---- where it changes ---- */

/* A search along one dimension, or the threads (dim NOTHING). */
typedef struct walk {
    const compiler_case *like;
    int64_t dims[ATTEMPT_DIMS_MAX];
    int dim;
} walk;

static bool tree_at(summing *s, walk *w, int64_t value, found_tree *out, status *st) {
    int64_t kept = w->dim == NOTHING ? 0 : w->dims[w->dim];
    if (w->dim == NOTHING)
        s->threads = (uint32_t)value;
    else
        w->dims[w->dim] = value;
    bool ok = open_shape(s, w->like, w->dims, st) && recover(s, out, st);
    if (w->dim != NOTHING)
        w->dims[w->dim] = kept;
    return ok;
}

static void take_over(found_tree *to, const found_tree *from) {
    memcpy(to->digest, from->digest, sizeof to->digest);
    text_clear(&to->name);
    text_append(&to->name, from->name.data);
}

/* Between two values with different trees: the neighbours at which it changes. */
static bool bisect(summing *s, walk *w, int64_t low, int64_t high, const char *digest, int64_t *at,
                   status *st) {
    found_tree middle_tree;
    bool ok = true;
    text_init(&middle_tree.name);
    while (high - low > 1 && ok) {
        int64_t middle = low + (high - low) / 2;
        ok = tree_at(s, w, middle, &middle_tree, st);
        if (strcmp(middle_tree.digest, digest) == 0)
            low = middle;
        else
            high = middle;
    }
    text_release(&middle_tree.name);
    *at = high;
    return ok;
}

/* Doubling from `first`; each change is narrowed down, and the tree behind it told. */
static bool walk_along(summing *s, walk *w, const char *what, int64_t first, int64_t most,
                       const found_tree *start, status *st) {
    found_tree before, now;
    int64_t last = first, at;
    bool ok = true;
    text_init(&before.name);
    text_init(&now.name);
    take_over(&before, start);
    for (int64_t value = 2 * first; value <= most && ok; value *= 2) {
        ok = tree_at(s, w, value, &now, st);
        if (ok && strcmp(now.digest, before.digest) != 0) {
            ok = bisect(s, w, last, value, before.digest, &at, st) && tree_at(s, w, at, &now, st);
            if (ok) {
                tell_change(s, what, at - 1, at);
                tell_tree(s, &now);
                ok = tree_at(s, w, value, &now, st);
                take_over(&before, &now);
            }
        }
        last = value;
    }
    text_release(&before.name);
    text_release(&now.name);
    return ok;
}

/* ---- a subject ---- */

/* What is summed over has many elements, each batch one position. */
static bool choose_dims(summing *s, walk *w, bool *batch, status *st) {
    const compiler_kernel *k = s->request->subject->kernel;
    const shape_request request = {w->like, NULL, s->request->seed, false};
    shape source;
    if (!shape_open(&source, s->request->subject, &request, st))
        return false;
    for (uint32_t i = 0; i < k->dim_count; i++) {
        compiler_independence lanes;
        batch[i] =
            compiler_independent(source.instance, k->dim_names[i], &lanes, st) && lanes.independent;
        w->dims[i] = batch[i] ? 1 : ELEMENTS;
    }
    shape_close(&source);
    return true;
}

/* So many of each batch that all together are no more than the most of two. */
static int64_t positions_each(const bool *batch, uint32_t dims) {
    uint32_t batches = 0;
    for (uint32_t i = 0; i < dims; i++)
        batches += batch[i];
    return batches < 3 ? POSITIONS_MOST
                       : (int64_t)pow((double)POSITIONS_MOST * POSITIONS_MOST, 1.0 / batches);
}

static bool find_all(summing *s, status *st) {
    const compiler_kernel *k = s->request->subject->kernel;
    bool batch[ATTEMPT_DIMS_MAX] = {false};
    walk w = {.dim = NOTHING};
    found_tree start;
    for (uint32_t i = 0; i < k->case_count && !w.like; i++)
        w.like = k->cases[i].large ? NULL : &k->cases[i];
    if (!w.like || k->dim_count == 0)
        return status_set(st, STATUS_UNAVAILABLE, "the kernel has no dimension to draw");
    if (!choose_dims(s, &w, batch, st))
        return false;
    text_init(&start.name);
    s->threads = 1;
    bool ok = tree_at(s, &w, 1, &start, st);
    if (ok)
        tell_tree(s, &start);
    for (uint32_t i = 0; i < k->dim_count && ok; i++) {
        w.dim = (int)i;
        ok = !batch[i] || walk_along(s, &w, k->dim_names[i], 1, POSITIONS_MOST, &start, st);
    }
    w.dim = NOTHING;
    int64_t each = positions_each(batch, k->dim_count);
    for (uint32_t i = 0; i < k->dim_count; i++)
        w.dims[i] = batch[i] ? each : w.dims[i];
    s->threads = 1;
    char small[65];
    memcpy(small, start.digest, sizeof small);
    ok = ok && tree_at(s, &w, 1, &start, st);
    if (ok && strcmp(small, start.digest) != 0)
        tell_tree(s, &start);
    ok = ok && walk_along(s, &w, "threads", 1, 2 * (int64_t)host_usable_cores(), &start, st);
    text_release(&start.name);
    return ok;
}

json_t *sums_find(const relations_request *request) {
    status st = STATUS_INIT;
    summing s = {.request = request,
                 .runner = runner_open(request),
                 .end_ns = timer_now_ns() + request->budget_ns,
                 .trees = json_array(),
                 .changes = json_array()};
    bool ok = find_all(&s, &st);
    close_shape(&s);
    runner_close(s.runner);
    vec_release(&s.pairs);
    return json_pack("{s:o, s:o, s:o}", "why", ok ? json_null() : json_text(st.message), "trees",
                     s.trees, "changes", s.changes);
}
