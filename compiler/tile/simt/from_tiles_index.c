/* from_tiles_index.c - dimensions of a kernel of tiles that depend on indices of its instances and
 * loops, as indices of Tile IR. */
#include <string.h>

#include "ir/dim.h"
#include "tile/simt/from_tiles.h"

/* ---- sums of indices ---- */

static bool evaluate(const tiles_lowering *t, ir_attr dim, const int64_t *at, int64_t *out) {
    const ir_attr_data *d = ir_attr_get(t->g, dim);
    ir_binding known[TILES_INDICES];
    const char *missing = NULL;
    uint32_t count = (uint32_t)t->indices.count;
    *out = d->integer;
    for (uint32_t i = 0; i < count; i++)
        known[i] = (ir_binding){t->indices.items[i].name, at[i]};
    return d->kind != IR_ATTR_DIM ||
           ir_dim_evaluate(t->g, d->integer, (ir_bindings){known, count}, out, &missing);
}

/* constant + sum of factor * index, which is tried at two more places. */
static bool find_factors(const tiles_lowering *t, ir_attr dim, int64_t *constant,
                         int64_t *factors) {
    int64_t at[TILES_INDICES] = {0}, value;
    size_t count = t->indices.count;
    if (!evaluate(t, dim, at, constant))
        return false;
    for (size_t i = 0; i < count; i++) {
        at[i] = 1;
        if (!evaluate(t, dim, at, &factors[i]))
            return false;
        factors[i] -= *constant;
        at[i] = 0;
    }
    for (int64_t step = 2; step <= 3; step++) {
        int64_t expected = *constant;
        for (size_t i = 0; i < count; i++) {
            at[i] = step + 5 * (int64_t)i;
            expected += factors[i] * at[i];
        }
        if (!evaluate(t, dim, at, &value) || value != expected)
            return false;
    }
    return true;
}

bool tiles_affine(tiles_lowering *t, ir_builder *b, ir_attr dim, ir_value *out) {
    int64_t constant, factors[TILES_INDICES];
    ir_value indices[TILES_INDICES];
    if (!find_factors(t, dim, &constant, factors))
        return false;
    for (size_t i = 0; i < t->indices.count; i++)
        indices[i] = t->indices.items[i].index;
    *out = tile_affine(b, constant, indices, factors, (int)t->indices.count);
    return true;
}

bool tiles_bounds(const tiles_lowering *t, ir_attr dim, int64_t *least, int64_t *most) {
    int64_t constant, factors[TILES_INDICES];
    if (!find_factors(t, dim, &constant, factors))
        return false;
    *least = *most = constant;
    for (size_t i = 0; i < t->indices.count; i++) {
        const tiles_index *x = &t->indices.items[i];
        *least += factors[i] * (factors[i] < 0 ? x->most : x->least);
        *most += factors[i] * (factors[i] < 0 ? x->least : x->most);
    }
    return true;
}

bool tiles_is_of_last(const tiles_lowering *t, ir_attr dim) {
    int64_t constant, factors[TILES_INDICES];
    bool found = false;
    if (!find_factors(t, dim, &constant, factors))
        return false;
    for (size_t i = 0; i < t->indices.count; i++)
        found |= t->indices.items[i].last && factors[i] != 0;
    return found;
}

bool tiles_grows(const tiles_lowering *t, ir_attr dim, size_t index) {
    int64_t at[TILES_INDICES] = {0}, first, last;
    bool known = evaluate(t, dim, at, &first);
    at[index] = t->indices.items[index].most;
    return known && evaluate(t, dim, at, &last) && last > first;
}

/* ---- any dimension ---- */

typedef struct number {
    ir_value index;
    int64_t least, most;
} number;

typedef struct numbers {
    tiles_lowering *t;
    ir_builder *b;
    VEC(number) built; /* a handle is a place in it and one */
    bool wrong;
} numbers;

static uint32_t keep(numbers *s, ir_value index, int64_t least, int64_t most) {
    const number n = {index, least, most};
    vec_push(&s->built, n);
    return (uint32_t)s->built.count;
}

static uint32_t constant(void *context, int64_t value) {
    numbers *s = context;
    return keep(s, tile_index(s->b, value), value, value);
}

static uint32_t symbol(void *context, const char *name) {
    numbers *s = context;
    const tiles_index *found = NULL;
    for (size_t i = 0; i < s->t->indices.count; i++)
        if (strcmp(s->t->indices.items[i].name, name) == 0)
            found = &s->t->indices.items[i];
    if (found)
        return keep(s, found->index, found->least, found->most);
    s->wrong = true;
    return constant(s, 0);
}

static uint32_t sum(numbers *s, const number *x, const number *y) {
    ir_value both[] = {x->index, y->index};
    int64_t once[] = {1, 1};
    return keep(s, tile_affine(s->b, 0, both, once, 2), x->least + y->least, x->most + y->most);
}

static uint32_t product(numbers *s, const number *x, const number *y) {
    const number *by = x->least == x->most ? x : y, *of = by == x ? y : x;
    int64_t factor = by->least, low = of->least * factor, high = of->most * factor;
    s->wrong |= by->least != by->most;
    return keep(s, tile_affine(s->b, 0, &of->index, &factor, 1), low < high ? low : high,
                low < high ? high : low);
}

static uint32_t quotient(numbers *s, const number *x, const number *y) {
    s->wrong |= x->least < 0 || y->least != y->most || y->least <= 0;
    return s->wrong ? constant(s, 0)
                    : keep(s, tile_index_by(s->b, TILE_INDEX_DIV, x->index, y->least),
                           x->least / y->least, x->most / y->least);
}

static int64_t lesser(int64_t x, int64_t y) {
    return x < y ? x : y;
}

static uint32_t combine(void *context, char operation, uint32_t x, uint32_t y) {
    numbers *s = context;
    const number a = s->built.items[x - 1], c = s->built.items[y - 1];
    if (operation == '+')
        return sum(s, &a, &c);
    if (operation == '*')
        return product(s, &a, &c);
    if (operation == '/')
        return quotient(s, &a, &c);
    return keep(s, tile_index_op(s->b, TILE_INDEX_MIN, a.index, c.index), lesser(a.least, c.least),
                lesser(a.most, c.most));
}

bool tiles_number_of(tiles_lowering *t, ir_builder *b, ir_attr dim, ir_value *out, int64_t *least,
                     int64_t *most) {
    const ir_attr_data *d = ir_attr_get(t->g, dim);
    numbers s = {.t = t, .b = b};
    const ir_dim_fold fold = {&s, constant, symbol, combine};
    *out = 0;
    if (tiles_bounds(t, dim, least, most))
        return *least == *most || tiles_affine(t, b, dim, out);
    uint32_t handle = ir_dim_fold_with(t->g, d->integer, &fold);
    const number n = s.built.items[handle - 1];
    *out = n.index;
    *least = n.least;
    *most = n.most;
    vec_release(&s.built);
    return !s.wrong;
}
