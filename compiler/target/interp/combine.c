/* combine.c - reductions, sorts and scatters as pairs of elements. */
#include "target/interp/combine.h"

#include <stdlib.h>

#include "base/arena.h"

/* The axis, and all that is beside it: element k along the axis of row r is at place(). */
typedef struct combine_rows {
    int64_t count, length, stride;
} combine_rows;

static combine_rows rows_of(const combine_shape *s, int64_t length) {
    combine_rows rows = {.count = 1, .length = length, .stride = 1};
    for (int i = 0; i < s->rank; i++) {
        rows.count *= i == s->axis ? 1 : s->dims[i];
        rows.stride *= i > s->axis ? s->dims[i] : 1;
    }
    return rows;
}

static int64_t place(const combine_rows *r, int64_t row, int64_t k) {
    return (row / r->stride * r->length + k) * r->stride + row % r->stride;
}

static combine_pairs new_pairs(int64_t most) {
    size_t size = sizeof(int64_t) * ((size_t)most + 1);
    return (combine_pairs){.first = base_malloc(size), .second = base_malloc(size)};
}

static void release_pairs(combine_pairs *p) {
    free(p->first);
    free(p->second);
}

static bool reduce(const combine_shape *s, const combine_values *v) {
    combine_rows rows = rows_of(s, s->dims[s->axis]);
    combine_pairs pairs = new_pairs(rows.count);
    bool ok = true;
    pairs.count = rows.count;
    for (int64_t k = 0; k < rows.length && rows.count && ok; k++) {
        for (int64_t row = 0; row < rows.count; row++) {
            pairs.first[row] = row;
            pairs.second[row] = place(&rows, row, k);
        }
        ok = v->combine(v->self, &pairs);
    }
    release_pairs(&pairs);
    return ok;
}

static bool scatter(const combine_shape *s, const int32_t *indices, const combine_values *v) {
    combine_rows rows = rows_of(s, s->dims[s->axis]), updates = rows_of(s, s->updates);
    combine_pairs pairs = new_pairs(rows.count);
    bool ok = true;
    pairs.count = rows.count;
    for (int64_t k = 0; k < updates.length && rows.count && ok; k++) {
        if (indices[k] < 0 || indices[k] >= rows.length)
            continue;
        for (int64_t row = 0; row < rows.count; row++) {
            pairs.first[row] = place(&rows, row, indices[k]);
            pairs.second[row] = place(&updates, row, k);
        }
        ok = v->combine(v->self, &pairs);
    }
    release_pairs(&pairs);
    return ok;
}

/* ---- sorts ---- */

typedef struct sort_state {
    combine_rows rows;
    const combine_values *v;
    int64_t *stood;      /* by element: where along the axis it stood */
    combine_pairs pairs; /* of a pass: the lower places, and the upper ones */
    combine_pairs asked; /* the same: what stood later, and what stood earlier */
    bool *before;
} sort_state;

static void find_pairs(sort_state *s, const sort_pass *pass) {
    s->pairs.count = 0;
    for (int64_t row = 0; row < s->rows.count; row++)
        for (int64_t k = 0; k + pass->distance < s->rows.length; k++) {
            if ((k & pass->bits) != pass->value)
                continue;
            int64_t low = place(&s->rows, row, k), high = place(&s->rows, row, k + pass->distance),
                    at = s->pairs.count++;
            bool in_order = s->stood[low] < s->stood[high];
            s->pairs.first[at] = low;
            s->pairs.second[at] = high;
            s->asked.first[at] = in_order ? high : low;
            s->asked.second[at] = in_order ? low : high;
        }
    s->asked.count = s->pairs.count;
}

static bool run_pass(sort_state *s, const sort_pass *pass) {
    find_pairs(s, pass);
    if (s->pairs.count == 0)
        return true;
    if (!s->v->compare(s->v->self, &s->asked, s->before))
        return false;
    for (int64_t i = 0; i < s->pairs.count; i++) {
        int64_t low = s->pairs.first[i], high = s->pairs.second[i], stood = s->stood[low];
        if (s->before[i] != (s->asked.first[i] == high))
            continue;
        s->v->exchange(s->v->self, low, high);
        s->stood[low] = s->stood[high];
        s->stood[high] = stood;
    }
    return true;
}

static bool sort(const combine_shape *shape, const combine_values *v) {
    const int64_t length = shape->dims[shape->axis], passes = sort_passes(length);
    sort_state s = {.rows = rows_of(shape, length), .v = v};
    const int64_t all = s.rows.count * length;
    s.stood = base_malloc(sizeof *s.stood * ((size_t)all + 1));
    s.before = base_malloc(sizeof *s.before * ((size_t)all + 1));
    s.pairs = new_pairs(all);
    s.asked = new_pairs(all);
    for (int64_t row = 0; row < s.rows.count; row++)
        for (int64_t k = 0; k < length; k++)
            s.stood[place(&s.rows, row, k)] = k;
    sort_pass pass = sort_pass_first(length);
    bool ok = true;
    for (int64_t i = 0; i < passes && ok; i++, pass = sort_pass_next(length, &pass))
        ok = run_pass(&s, &pass);
    release_pairs(&s.pairs);
    release_pairs(&s.asked);
    free(s.stood);
    free(s.before);
    return ok;
}

bool combine_run(const ir_module *m, ir_op op, const int32_t *indices,
                 const combine_values *values) {
    const combine_shape s = combine_shape_of(m, op);
    switch (ir_op_get(m, op)->opcode) {
    case GRAPH_REDUCE_WITH:
        return reduce(&s, values);
    case GRAPH_SCATTER:
        return scatter(&s, indices, values);
    default:
        return sort(&s, values);
    }
}
