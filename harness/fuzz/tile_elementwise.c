/* tile_elementwise.c - statements of tiles that work element by element, and loads. */
#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include "fuzz/tile_kernel.h"

#define COUNT(list) (uint32_t)(sizeof(list) / sizeof *(list))

static bool is_single(dtype type) {
    return dtype_is_float(type) && type != DTYPE_F64;
}

bool fuzz_tile_unary(tile_kernel *k) {
    static const char *const exact[] = {"abs", "-", "sqrt", "floor", "round"};
    static const char *const composites[] = {"relu", "silu", "gelu", "exp", "tanh", "rsqrt", "log"};
    const tile_value *x = tile_any(k, -1, DTYPE_NONE);
    if (!x)
        return false;
    const char *name = exact[choose_below(k->c, dtype_is_float(x->type) ? COUNT(exact) : 2)];
    if (is_single(x->type) && choose_rarely(k->c, 2))
        name = composites[choose_below(k->c, COUNT(composites))];
    return tile_let_same(k, *x, "%s(%s)", name, x->name) != NULL;
}

bool fuzz_tile_binary(tile_kernel *k) {
    static const char *const forms[] = {"%s + %s",         "%s - %s",  "%s * %s", "maximum(%s, %s)",
                                        "minimum(%s, %s)", "%s / %s",  "%s ^ %s", "%s // %s",
                                        "%s % %s",         "%s << %s", "%s >> %s"};
    const tile_value *x = tile_any(k, -1, DTYPE_NONE), *y = x ? tile_like(k, x) : NULL;
    if (!x)
        return false;
    tile_value both = *x;
    both.batched |= y->batched;
    const char *form = forms[choose_below(k->c, 6)];
    if (!dtype_is_float(x->type) && choose_rarely(k->c, 4))
        form = forms[6 + choose_below(k->c, COUNT(forms) - 6)];
    char words[64];
    const char *hole = strstr(form, "%s"), *second = strstr(hole + 2, "%s");
    snprintf(words, sizeof words, "%.*s%s%.*s%s%s", (int)(hole - form), form, x->name,
             (int)(second - hole - 2), hole + 2, y->name, second + 2);
    return tile_let_same(k, both, "%s", words) != NULL;
}

/* With a number, or with a scalar that is a parameter. */
bool fuzz_tile_scalar(tile_kernel *k) {
    static const char signs[] = "+-*/";
    const tile_value *x = tile_any(k, -1, DTYPE_NONE), *s = &k->values[0];
    if (!x)
        return false;
    const char *number = choose_number(k->c, x->type);
    if (s->name[0] == 's' && s->type == x->type && !choose_rarely(k->c, 3))
        number = s->name;
    char sign = signs[choose_below(k->c, 4)];
    bool first = choose_rarely(k->c, 3);
    return tile_let_same(k, *x, "%s %c %s", first ? number : x->name, sign,
                         first ? x->name : number) != NULL;
}

bool fuzz_tile_choice(tile_kernel *k) {
    static const char *const signs[] = {"<", "<=", "==", "!=", ">", ">="};
    const tile_value *x = tile_any(k, -1, DTYPE_NONE);
    if (!x)
        return false;
    const tile_value *y = tile_like(k, x), *z = tile_like(k, x);
    tile_value all = *x;
    all.batched |= y->batched | z->batched;
    return tile_let_same(k, all, "where(%s %s %s, %s, %s)", x->name,
                         signs[choose_below(k->c, COUNT(signs))], y->name, z->name,
                         x->name) != NULL;
}

/* Casts to floats: a float of any size as an integer is a matter of policies, left to others. */
bool fuzz_tile_cast(tile_kernel *k) {
    static const char *const names[] = {"f32", "bf16", "f16", "f64"};
    const tile_value *x = tile_any(k, -1, DTYPE_NONE);
    if (!x)
        return false;
    tile_value as = *x;
    as.type = dtype_from_name(names[choose_below(k->c, COUNT(names))]);
    char tile[40], plain[40];
    snprintf(tile, sizeof tile, "tile.cast(%s, %s)", x->name, dtype_name(as.type));
    snprintf(plain, sizeof plain, "cast(%s, %s)", x->name, dtype_name(as.type));
    return as.type != x->type && tile_let(k, as, tile, plain);
}

/* A matrix and a number for each of its rows, or for each of its columns. */
bool fuzz_tile_widening(tile_kernel *k) {
    static const char signs[] = "+-*/";
    const tile_value *x = tile_any(k, 2, DTYPE_NONE), *v = NULL;
    if (!x)
        return false;
    bool column = choose_rarely(k->c, 2);
    for (uint32_t i = k->count; i-- > 0 && !v;)
        if (k->values[i].rank == 1 && k->values[i].type == x->type &&
            k->values[i].axes[0] == x->axes[column ? 0 : 1])
            v = &k->values[i];
    /* On tensors the last axis of a batch's vector is its columns: the axis between is new. */
    bool lifted = v && !column && v->batched;
    if (!v || lifted) {
        tile_memory m;
        tile_pair load;
        tile_value like = {.type = x->type, .rank = 1, .axes = {x->axes[column ? 0 : 1]}};
        const tile_value matrix = *x;
        like.batched = column && choose_rarely(k->c, 2) && k->batches;
        if (!tile_parameter(k, like.type, 1, like.axes, like.batched, &m))
            return false;
        tile_load_text(k, &m, NULL, 0, NULL, &load);
        v = tile_let(k, like, load.tile, load.tensor);
        if (!v)
            return false;
        x = tile_like(k, &matrix);
        if (x == &matrix)
            return false;
    }
    tile_pair side;
    char tile[80], plain[80], sign = signs[choose_below(k->c, 4)];
    tile_value both = *x;
    both.batched |= v->batched;
    tile_as_column(k, v, &side);
    if (!column)
        return tile_let_same(k, both, "%s %c %s", x->name, sign, v->name) != NULL;
    snprintf(tile, sizeof tile, "%s %c %.40s", x->name, sign, side.tile);
    snprintf(plain, sizeof plain, "%s %c %.40s", x->name, sign, side.tensor);
    return tile_let(k, both, tile, plain) != NULL;
}

/* Another input of a shape that is there; one in four has an axis before it, of which one place is
 * loaded, and one in four lies transposed. */
bool fuzz_tile_load(tile_kernel *k) {
    const tile_value *x = tile_any(k, -1, DTYPE_NONE);
    if (!x)
        return false;
    tile_value like = *x;
    like.batched = k->batches && !choose_rarely(k->c, 3);
    if (choose_rarely(k->c, 3))
        like.type = tile_random_type(k);
    bool turned = like.rank == 2 && choose_rarely(k->c, 4);
    int axes[2] = {like.axes[0], like.axes[1]};
    if (turned) {
        axes[0] = like.axes[1];
        axes[1] = like.axes[0];
    }
    tile_memory m;
    tile_pair load;
    if (!tile_parameter(k, like.type, like.rank, axes, like.batched, &m))
        return false;
    tile_load_text(k, &m, NULL, 0, NULL, &load);
    if (!turned)
        return tile_let(k, like, load.tile, load.tensor) != NULL;
    char tile[TILE_TEXT + 20], plain[TILE_TEXT + 40];
    static const char *const orders[] = {"(1, 0)", "(0, 2, 1)", "(0, 1, 3, 2)"};
    snprintf(tile, sizeof tile, "tile.transpose(%s)", load.tile);
    snprintf(plain, sizeof plain, "transpose(%s, %s)", load.tensor,
             orders[like.batched ? k->batches : 0]);
    return tile_let(k, like, tile, plain) != NULL;
}

/* Each element from so far off; on tensors a part of the padded whole. */
bool fuzz_tile_shift(tile_kernel *k) {
    static const int axes[] = {AXIS_ROWS, AXIS_COLUMNS};
    static const char *const others[] = {"0", "1", "-1"};
    tile_value like = {.type = tile_random_type(k), .rank = 2, .axes = {AXIS_ROWS, AXIS_COLUMNS}};
    like.batched = k->batches && !choose_rarely(k->c, 3);
    const char *other = others[choose_below(k->c, 3)];
    tile_memory m;
    tile_pair load;
    if (!tile_parameter(k, like.type, 2, axes, like.batched, &m))
        return false;
    tile_load_text(k, &m, NULL, 0, NULL, &load);
    char tile[TILE_TEXT + 60], widths[120] = "", places[120] = "";
    int w = 0, p = 0;
    for (int i = 0; i < k->batches && like.batched; i++) {
        w += snprintf(widths + w, sizeof widths - (size_t)w, "(0, 0), ");
        p += snprintf(places + p, sizeof places - (size_t)p, ":, ");
    }
    int64_t by[2];
    for (int i = 0; i < 2; i++) {
        by[i] = (int64_t)choose_below(k->c, 7) - 3;
        by[i] = choose_rarely(k->c, 8) ? by[i] * 30 : by[i];
        int64_t width = by[i] < 0 ? -by[i] : by[i];
        w += snprintf(widths + w, sizeof widths - (size_t)w, "(%" PRId64 ", %" PRId64 "), ", width,
                      width);
        p += snprintf(places + p, sizeof places - (size_t)p, "%s%" PRId64 ":%" PRId64,
                      i ? ", " : "", width + by[i], width + by[i] + k->axes[axes[i]].length);
    }
    snprintf(tile, sizeof tile, "%.*s, shift=(%" PRId64 ", %" PRId64 "), other=%s)",
             (int)strlen(load.tile) - 1, load.tile, by[0], by[1], other);
    char plain[400];
    snprintf(plain, sizeof plain, "pad(%s, (%s), %s)[%s]", m.name, widths, other, places);
    return tile_let(k, like, tile, plain) != NULL;
}

/* The places of the instance's rows, or of its columns. */
bool fuzz_tile_index(tile_kernel *k) {
    bool columns = k->by_columns && choose_rarely(k->c, 2);
    tile_value like = {.type = DTYPE_I32, .rank = 1, .axes = {columns ? 1 : 0}};
    char plain[60];
    snprintf(plain, sizeof plain, "iota((%" PRId64 ",), axis=0)", k->axes[like.axes[0]].length);
    return tile_let(k, like, columns ? "tile.col_index()" : "tile.row_index()", plain) != NULL;
}

bool fuzz_tile_mask(tile_kernel *k) {
    const tile_value *x = tile_any(k, 2, DTYPE_NONE);
    if (!x || !k->by_columns || !dtype_is_float(x->type) || x->axes[0] != AXIS_ROWS ||
        x->axes[1] != AXIS_COLUMNS)
        return false;
    char tile[100], plain[160];
    int64_t rows = k->axes[0].length, columns = k->axes[1].length;
    snprintf(tile, sizeof tile, "tile.mask_causal(%s, tile.row_index(), tile.col_index())",
             x->name);
    snprintf(plain, sizeof plain,
             "where(iota((%" PRId64 ", %" PRId64 "), axis=0) >= iota((%" PRId64 ", %" PRId64
             "), axis=1), %s, -inf)",
             rows, columns, rows, columns, x->name);
    return tile_let(k, *x, tile, plain) != NULL;
}
