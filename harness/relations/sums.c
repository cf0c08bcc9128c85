/* sums.c - see sums.h: asks where the tree changes, and tells each; or asks at one shape. */
#include "relations/sums.h"

#include <stdlib.h>
#include <string.h>

#include "base/file.h"
#include "common/json_text.h"
#include "device/host/host.h"
#include "relations/attempt.h"
#include "relations/sums_source.h"

enum { NOTHING = SUMMING_NOTHING };

/* ---- what is told ---- */

static void write_dims(const shape *s, text *out) {
    for (uint32_t i = 0; i < s->c->dim_count; i++)
        text_printf(out, "%s%s=%lld", i ? "," : "", s->c->dims[i].name,
                    (long long)s->c->dims[i].value);
}

static void tell_tree(summing *s, const found_tree *t, json_t *trees) {
    text dims;
    int fused = summing_fused(s);
    text_init(&dims);
    write_dims(&s->shape, &dims);
    json_array_append_new(trees, json_pack("{s:s, s:i, s:I, s:s, s:s, s:o, s:s?}", "dims",
                                           dims.data, "threads", (int)s->threads, "elements",
                                           (json_int_t)s->cut.extent, "class", t->name.data,
                                           "digest", t->digest, "fused",
                                           fused == NOTHING ? json_null() : json_boolean(fused),
                                           "accumulator", summing_accumulator(s)));
    text_release(&dims);
}

static void tell_change(json_t *changes, const char *what, int64_t from, int64_t to) {
    json_array_append_new(changes, json_pack("{s:s, s:I, s:I}", "of", what, "from",
                                             (json_int_t)from, "to", (json_int_t)to));
}

/* ---- where it changes ---- */

/* A search along one dimension, or the threads (dim NOTHING). */
typedef struct walk {
    const compiler_case *like;
    int64_t dims[ATTEMPT_DIMS_MAX];
    int dim;
    json_t *trees, *changes; /* what was found */
} walk;

static bool tree_at(summing *s, walk *w, int64_t value, found_tree *out, status *st) {
    int64_t kept = w->dim == NOTHING ? 0 : w->dims[w->dim];
    if (w->dim == NOTHING)
        s->threads = (uint32_t)value;
    else
        w->dims[w->dim] = value;
    bool ok = summing_shape(s, w->like, w->dims, st) && summing_recover(s, out, st);
    if (w->dim != NOTHING)
        w->dims[w->dim] = kept;
    return ok;
}

static void take_over(found_tree *to, const found_tree *from) {
    memcpy(to->digest, from->digest, sizeof to->digest);
    text_clear(&to->name);
    text_append(&to->name, from->name.data);
}

typedef struct change_range {
    int64_t low, high; /* values with different trees */
} change_range;

/* Narrows the range down to the neighbours at which the tree changes; `digest`: that of the low. */
static bool bisect(summing *s, walk *w, change_range *range, const char *digest, status *st) {
    found_tree middle_tree;
    bool ok = true;
    text_init(&middle_tree.name);
    while (range->high - range->low > 1 && ok) {
        int64_t middle = range->low + (range->high - range->low) / 2;
        ok = tree_at(s, w, middle, &middle_tree, st);
        if (strcmp(middle_tree.digest, digest) == 0)
            range->low = middle;
        else
            range->high = middle;
    }
    text_release(&middle_tree.name);
    return ok;
}

/* Doubling from 1 to at most `most`; each change is narrowed down, and the tree behind it told. */
static bool walk_along(summing *s, walk *w, const char *what, int64_t most, const found_tree *start,
                       status *st) {
    found_tree before, now;
    int64_t last = 1;
    bool ok = true;
    text_init(&before.name);
    text_init(&now.name);
    take_over(&before, start);
    for (int64_t value = 2; value <= most && ok; value *= 2) {
        ok = tree_at(s, w, value, &now, st);
        if (ok && strcmp(now.digest, before.digest) != 0) {
            change_range range = {last, value};
            ok = bisect(s, w, &range, before.digest, st) && tree_at(s, w, range.high, &now, st);
            if (ok) {
                tell_change(w->changes, what, range.high - 1, range.high);
                tell_tree(s, &now, w->trees);
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

/* ---- a column ---- */

static bool find_all(summing *s, walk *w, status *st) {
    const compiler_kernel *k = s->request->column->kernel;
    bool batch[ATTEMPT_DIMS_MAX] = {false};
    found_tree start;
    w->like = summing_case(s->request, st);
    if (!w->like || !summing_dims(s->request, w->like, w->dims, batch, st))
        return false;
    text_init(&start.name);
    bool ok = tree_at(s, w, 1, &start, st);
    if (ok)
        tell_tree(s, &start, w->trees);
    for (uint32_t i = 0; i < k->dim_count && ok; i++) {
        w->dim = (int)i;
        ok = !batch[i] || walk_along(s, w, k->dim_names[i], SUMMING_POSITIONS, &start, st);
    }
    w->dim = NOTHING;
    int64_t each = summing_positions_most(batch, k->dim_count);
    for (uint32_t i = 0; i < k->dim_count; i++)
        w->dims[i] = batch[i] ? each : w->dims[i];
    s->threads = 1;
    char small[65];
    memcpy(small, start.digest, sizeof small);
    ok = ok && tree_at(s, w, 1, &start, st);
    if (ok && strcmp(small, start.digest) != 0)
        tell_tree(s, &start, w->trees);
    ok = ok && walk_along(s, w, "threads", 2 * (int64_t)host_usable_cores(), &start, st);
    text_release(&start.name);
    return ok;
}

json_t *sums_find(const relations_request *request) {
    status st = STATUS_INIT;
    summing s;
    walk w = {.dim = NOTHING, .trees = json_array(), .changes = json_array()};
    summing_open(&s, request);
    bool ok = find_all(&s, &w, &st);
    summing_close(&s);
    return json_pack("{s:o, s:o, s:o}", "why", ok ? json_null() : json_text(st.message), "trees",
                     w.trees, "changes", w.changes);
}

/* ---- one shape, as an order ---- */

/* The case that was chosen, or many elements and positions. */
static bool open_wanted(summing *s, const sums_writing *w, status *st) {
    bool batch[ATTEMPT_DIMS_MAX] = {false};
    int64_t dims[ATTEMPT_DIMS_MAX];
    uint32_t count = s->request->column->kernel->dim_count;
    if (w->at)
        return summing_shape(s, w->at, NULL, st);
    const compiler_case *like = summing_case(s->request, st);
    if (!like || !summing_dims(s->request, like, dims, batch, st))
        return false;
    for (uint32_t i = 0; i < count; i++)
        dims[i] = batch[i] ? summing_positions_most(batch, count) : dims[i];
    return summing_shape(s, like, dims, st);
}

json_t *sums_write(const relations_request *request, const sums_writing *w) {
    status st = STATUS_INIT;
    summing s;
    found_tree tree;
    text source;
    json_t *trees = json_array();
    text_init(&tree.name);
    text_init(&source);
    summing_open(&s, request);
    s.every = true;
    s.threads = w->threads;
    bool ok = open_wanted(&s, w, &st) && summing_recover(&s, &tree, &st);
    s.every = false;
    if (ok)
        tell_tree(&s, &tree, trees);
    s.every = true;
    ok = ok && sums_source(&s, &source, &st) && sums_confirm(&s, source.data, &st) &&
         file_write_atomic(w->path, source.data, source.length, &st);
    summing_close(&s);
    text_release(&source);
    text_release(&tree.name);
    return json_pack("{s:o, s:o, s:[], s:o}", "why", ok ? json_null() : json_text(st.message),
                     "trees", trees, "changes", "written", ok ? json_text(w->path) : json_null());
}
