/* tile_sums.c - statements of tiles that reduce rows and multiply, and loops over blocks. */
#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include "fuzz/tile_kernel.h"

enum { TURNS_MAX = 5, TURNS_IN_ALL = 11, EXPRESSION = TILE_TEXT * 4 };

static bool is_single(dtype type) {
    return dtype_is_float(type) && type != DTYPE_F64;
}

/* ---- of a tile that has all of its columns ---- */

/* No product of tiles is of such. */
static bool is_word(dtype type) {
    return type == DTYPE_I32 || type == DTYPE_U32;
}

static const tile_value *whole_rows(tile_kernel *k) {
    const tile_value *x = tile_any(k, 2, DTYPE_NONE);
    return x && tile_has_whole_rows(k, x) && tile_axis_length(k, x->axes[1]) ? x : NULL;
}

bool fuzz_tile_reduction(tile_kernel *k) {
    static const char *const kinds[] = {"sum", "max", "min"};
    const tile_value *x = whole_rows(k);
    if (!x || (!is_single(x->type) && x->type != DTYPE_I32))
        return false;
    const char *kind = kinds[choose_below(k->c, 3)];
    tile_value like = *x;
    like.rank = 1;
    bool kept = choose_rarely(k->c, 2);
    char tile[120], plain[120];
    snprintf(tile, sizeof tile, "%stile.reduce(%s, \"%s\"%s)", kept ? x->name : "", x->name, kind,
             kept ? ", keepdims=True" : "");
    if (!kept) {
        snprintf(plain, sizeof plain, "%s(%s, axis=-1)", kind, x->name);
        return tile_let(k, like, tile, plain) != NULL;
    }
    snprintf(tile, sizeof tile, "%s - tile.reduce(%s, \"%s\", keepdims=True)", x->name, x->name,
             kind);
    snprintf(plain, sizeof plain, "%s - %s(%s, axis=-1, keepdims=True)", x->name, kind, x->name);
    return tile_let(k, *x, tile, plain) != NULL;
}

bool fuzz_tile_rows(tile_kernel *k) {
    const tile_value *x = whole_rows(k);
    if (!x || !is_single(x->type))
        return false;
    if (choose_rarely(k->c, 2))
        return tile_let_same(k, *x, "softmax(%s)", x->name) != NULL;
    const tile_value row = *x;
    tile_memory m;
    tile_pair gain;
    if (!tile_parameter(k, row.type, 1, &row.axes[1], false, &m))
        return false;
    tile_load_text(k, &m, NULL, 0, NULL, &gain);
    char tile[TILE_TEXT + 60], plain[TILE_TEXT + 60];
    snprintf(tile, sizeof tile, "rmsnorm(%s, %s)", row.name, gain.tile);
    snprintf(plain, sizeof plain, "rmsnorm(%s, %s)", row.name, gain.tensor);
    return tile_let(k, row, tile, plain) != NULL;
}

/* Multiplies by a matrix that is there as a whole, perhaps transposed. */
bool fuzz_tile_product(tile_kernel *k) {
    const tile_value *x = tile_any(k, 2, DTYPE_NONE);
    if (!x || !tile_has_whole_rows(k, x) || is_word(x->type))
        return false;
    tile_value left = *x, like = left;
    bool turned = choose_rarely(k->c, 3);
    int columns = k->by_columns && !choose_rarely(k->c, 3) ? AXIS_COLUMNS
                                                           : tile_new_axis(k, tile_length(k, 70));
    if (columns < 0 || !tile_affordable(k, tile_elements(k, &left) * tile_axis_length(k, columns)))
        return false;
    int axes[2] = {left.axes[1], columns};
    if (turned) {
        axes[0] = columns;
        axes[1] = left.axes[1];
    }
    tile_memory m;
    tile_pair y;
    bool batched = left.batched && !choose_rarely(k->c, 3);
    if (!tile_parameter(k, left.type, 2, axes, batched, &m))
        return false;
    tile_load_text(k, &m, NULL, 0, NULL, &y);
    static const char *const orders[] = {"(1, 0)", "(0, 2, 1)", "(0, 1, 3, 2)"};
    char tile[EXPRESSION], plain[TILE_TEXT * 3], right[TILE_TEXT + 40];
    snprintf(tile, sizeof tile, "tile.dot(%s, %s%s%s)", left.name, turned ? "tile.transpose(" : "",
             y.tile, turned ? ")" : "");
    snprintf(right, sizeof right, turned ? "transpose(%s, %s)" : "%s", y.tensor,
             orders[batched ? k->batches : 0]);
    tile_product_text(left.type, left.name, right, plain);
    like.type = tile_product_type(left.type);
    like.axes[1] = columns;
    return tile_let(k, like, tile, plain) != NULL;
}

/* ---- loops ---- */

static int64_t turns_of(const tile_kernel *k, const tile_loop *l) {
    return (tile_axis_length(k, l->axis) + l->size - 1) / l->size;
}

/* Along an axis of its own; rarely there is nothing to go over. */
static bool make_loop(tile_kernel *k, tile_loop *l) {
    static const int64_t sizes[] = {8, 16, 5, 64, 512, 3, 1};
    int64_t length = choose_rarely(k->c, 12) ? 0 : tile_length(k, 1031);
    *l = (tile_loop){.axis = tile_new_axis(k, length), .size = sizes[choose_below(k->c, 7)]};
    l->number = k->names++ % 1000;
    int64_t least = (length + TURNS_MAX - 1) / TURNS_MAX;
    l->size = l->size < least ? least : l->size;
    k->turns += l->axis >= 0 ? turns_of(k, l) : 0;
    return l->axis >= 0 && k->turns <= TURNS_IN_ALL;
}

/* ... of the blocks within such bounds: "", or ", stop=PLACE". */
static void begin_loop_within(tile_kernel *k, const tile_loop *l, const char *indent,
                              const char *bounds) {
    char words[24];
    text_printf(&k->body, "%s    for b%u in tile.range(%s, %" PRId64 "%s):\n", indent, l->number,
                tile_axis_text(k, l->axis, words), l->size, bounds);
}

static void begin_loop(tile_kernel *k, const tile_loop *l, const char *indent) {
    begin_loop_within(k, l, indent, "");
}

/* A tile of zeros, or of one number, that a loop will carry. */
static const tile_value *start(tile_kernel *k, tile_value like, const char *number) {
    tile_pair shape, all;
    tile_shape_text(k, &like, &shape);
    snprintf(all.tile, TILE_TEXT, "tile.full(%.300s, %s, %s)", shape.tile, number,
             dtype_name(like.type));
    snprintf(all.tensor, TILE_TEXT, "full(%.300s, %s, %s)", shape.tensor, number,
             dtype_name(like.type));
    return tile_let(k, like, all.tile, all.tensor);
}

static void made_now(tile_kernel *k, uint32_t from) {
    for (uint32_t i = from; i < k->count; i++)
        k->values[i].made = k->body.length;
}

static const char *acc_text(const tile_value *acc, const tile_memory *x, const char *left,
                            const char *right, char out[EXPRESSION]) {
    char product[TILE_TEXT * 3];
    tile_product_text(x->type, left, right, product);
    snprintf(out, EXPRESSION, "%s + %s", acc->name, product);
    return out;
}

/* A product, so many steps at a time. */
bool fuzz_tile_steps(tile_kernel *k) {
    static const char *const around[] = {"%s", "-%s", "abs(%s)", "relu(%s)"};
    tile_loop l;
    dtype type = tile_random_type(k);
    type = is_word(type) ? DTYPE_I8 : type;
    bool batched = k->batches && !choose_rarely(k->c, 4);
    uint32_t wraps = !dtype_is_float(type) ? 1 : type == DTYPE_F64 ? 3 : 4;
    const char *wrap = around[choose_below(k->c, wraps)];
    if (!make_loop(k, &l))
        return false;
    int columns = k->by_columns ? AXIS_COLUMNS : tile_new_axis(k, tile_length(k, 33));
    tile_value like = {.type = tile_product_type(type), .rank = 2, .batched = k->batches > 0};
    like.axes[1] = columns;
    if (columns < 0 || !tile_affordable(k, tile_elements(k, &like) * tile_axis_length(k, l.axis)))
        return false;
    tile_memory x, y;
    if (!tile_parameter(k, type, 2, (int[]){AXIS_ROWS, l.axis}, k->batches > 0, &x) ||
        !tile_parameter(k, type, 2, (int[]){l.axis, columns}, batched, &y))
        return false;
    const tile_value *acc = start(k, like, "0");
    if (!acc)
        return false;
    tile_pair left, right;
    char wrapped[TILE_TEXT + 20], words[EXPRESSION];
    begin_loop(k, &l, "");
    tile_load_text(k, &x, &l, 1, NULL, &left);
    tile_load_text(k, &y, &l, 1, NULL, &right);
    const char *hole = strstr(wrap, "%s");
#define WRAP(inner)                                                                                \
    snprintf(wrapped, sizeof wrapped, "%.*s%s%s", (int)(hole - wrap), wrap, inner, hole + 2)
    WRAP(left.tile);
    text_printf(&k->body, "        %s = tile.mma(%s, %s, %s)\n", acc->name, wrapped, right.tile,
                acc->name);
    for (int64_t turn = 0; turn < turns_of(k, &l); turn++) {
        tile_load_text(k, &x, &l, 1, &turn, &left);
        tile_load_text(k, &y, &l, 1, &turn, &right);
        WRAP(left.tensor);
        text_printf(&k->tensor_body, "    %s = %s\n", acc->name,
                    acc_text(acc, &x, wrapped, right.tensor, words));
    }
#undef WRAP
    made_now(k, k->count - 1);
    return true;
}

/* Rows reduced so many columns at a time: two results that go together. */
bool fuzz_tile_blocks(tile_kernel *k) {
    tile_loop l;
    dtype type = tile_random_type(k);
    if ((!is_single(type) && type != DTYPE_I32) || !make_loop(k, &l))
        return false;
    tile_memory x;
    tile_value like = {.type = type, .rank = 1, .batched = k->batches > 0};
    if (!tile_parameter(k, type, 2, (int[]){AXIS_ROWS, l.axis}, like.batched, &x))
        return false;
    const tile_value *total = start(k, like, "0");
    const tile_value *most = total ? start(k, like, dtype_is_float(type) ? "-1.0" : "-7") : NULL;
    if (!most)
        return false;
    tile_pair load;
    tile_load_text(k, &x, &l, 1, NULL, &load);
    begin_loop(k, &l, "");
    text_printf(&k->body,
                "        a%u = %s\n        %s = %s + tile.reduce(a%u, \"sum\")\n"
                "        %s = maximum(%s, tile.reduce(a%u * a%u, \"max\"))\n",
                l.number, load.tile, total->name, total->name, l.number, most->name, most->name,
                l.number, l.number);
    for (int64_t turn = 0; turn < turns_of(k, &l); turn++) {
        tile_load_text(k, &x, &l, 1, &turn, &load);
        text_printf(&k->tensor_body,
                    "    a%u = %s\n    %s = %s + sum(a%u, axis=-1)\n"
                    "    %s = maximum(%s, max(a%u * a%u, axis=-1))\n",
                    l.number, load.tensor, total->name, total->name, l.number, most->name,
                    most->name, l.number, l.number);
    }
    made_now(k, k->count - 2);
    return true;
}

/* The same again and again, and two names that change places. */
bool fuzz_tile_turns(tile_kernel *k) {
    const tile_value *x = tile_any(k, -1, DTYPE_NONE);
    tile_loop l;
    if (!x || k->axis_count >= 3 + 5)
        return false;
    const tile_value *y = tile_like(k, x);
    tile_value like = *x;
    like.batched |= y->batched;
    l = (tile_loop){.axis = AXIS_ROWS + 1, .size = 1, .number = k->names++ % 1000};
    int64_t length = tile_axis_length(k, l.axis);
    l.size = length > 3 ? (length + 3) / 4 : 1;
    const tile_value *a = tile_let_same(k, like, "%s + %s", x->name, y->name);
    const tile_value *b = a ? tile_let_same(k, like, "%s - %s", x->name, y->name) : NULL;
    if (!b)
        return false;
    char words[24];
    snprintf(words, sizeof words, k->numbers ? "%" PRId64 : "N", length);
    text_printf(&k->body, "    for b%u in tile.range(%s, %" PRId64 "):\n", l.number, words, l.size);
    text_printf(&k->body, "        %s, %s = %s, minimum(%s, %s)\n", a->name, b->name, b->name,
                a->name, x->name);
    for (int64_t turn = 0; turn < turns_of(k, &l); turn++)
        text_printf(&k->tensor_body, "    %s, %s = %s, minimum(%s, %s)\n", a->name, b->name,
                    b->name, a->name, x->name);
    made_now(k, k->count - 2);
    return true;
}

/* ---- attention ---- */

typedef struct online {
    tile_memory q, keys, values;
    tile_loop l;
    bool causal;
    const char *acc, *m, *sum;
} online;

static void online_turns(tile_kernel *k, const online *o, const char *bounds) {
    tile_pair q, key, value;
    uint32_t n = o->l.number;
    tile_load_text(k, &o->q, NULL, 0, NULL, &q);
    tile_load_text(k, &o->keys, &o->l, 1, NULL, &key);
    tile_load_text(k, &o->values, &o->l, 1, NULL, &value);
    begin_loop_within(k, &o->l, "", bounds);
    text_printf(&k->body, "        a%u = tile.dot(%s, tile.transpose(%s))\n", n, q.tile, key.tile);
    if (o->causal)
        text_printf(&k->body,
                    "        tile.mask_causal(a%u, tile.row_index(), tile.col_index(b%u))\n", n, n);
    text_printf(&k->body,
                "        e%u, h%u, g%u = tile.softmax_online(a%u)\n"
                "        %s, %s, %s = tile.softmax_accumulate(%s, %s, %s, e%u, %s, h%u, g%u)\n",
                n, n, n, n, o->acc, o->m, o->sum, o->acc, o->m, o->sum, n, value.tile, n, n);
}

/* All turns, or those before a place and then the rest: a number, or the instance's own rows. */
static void online_tile(tile_kernel *k, const online *o) {
    char place[32], bounds[64];
    if (!choose_rarely(k->c, 3)) {
        online_turns(k, o, "");
        return;
    }
    snprintf(place, sizeof place, "%u", choose_below(k->c, 100));
    const char *at = choose_rarely(k->c, 2) ? "T.rows.start" : place;
    snprintf(bounds, sizeof bounds, ", stop=%s", at);
    online_turns(k, o, bounds);
    snprintf(bounds, sizeof bounds, ", start=%s", at);
    online_turns(k, o, bounds);
}

/* Follows docs/numerics.md, "Online softmax", turn by turn. */
static void online_tensor(tile_kernel *k, const online *o, int64_t turn) {
    static const char *const orders[] = {"(1, 0)", "(0, 2, 1)", "(0, 1, 3, 2)"};
    static const char *const before[] = {"", ":, ", ":, :, "};
    int batches = o->q.batched ? k->batches : 0;
    uint32_t n = o->l.number;
    tile_pair q, key, value;
    char right[TILE_TEXT + 40], words[TILE_TEXT * 3];
    int64_t from = turn * o->l.size, to = from + o->l.size;
    to = to < tile_axis_length(k, o->l.axis) ? to : tile_axis_length(k, o->l.axis);
    tile_load_text(k, &o->q, NULL, 0, NULL, &q);
    tile_load_text(k, &o->keys, &o->l, 1, &turn, &key);
    tile_load_text(k, &o->values, &o->l, 1, &turn, &value);
    snprintf(right, sizeof right, "transpose(%s, %s)", key.tensor, orders[batches]);
    tile_product_text(o->q.type, q.tensor, right, words);
    text *out = &k->tensor_body;
    text_printf(out, "    a%u = %s\n", n, words);
    int64_t rows = tile_axis_length(k, AXIS_ROWS);
    if (o->causal)
        text_printf(out,
                    "    a%u = where(iota((%" PRId64 ", %" PRId64 "), axis=0) >= iota((%" PRId64
                    ", %" PRId64 "), axis=1) + %" PRId64 ", a%u, -inf)\n",
                    n, rows, to - from, rows, to - from, from, n);
    text_printf(out,
                "    h%u = max(a%u, axis=-1)\n"
                "    e%u = exp(a%u - where(h%u == -inf, 0.0, h%u)[%s:, None])\n"
                "    g%u = sum(e%u, axis=-1)\n"
                "    n%u = maximum(%s, h%u)\n"
                "    u%u = where(%s == -inf, 0.0, exp(%s - n%u))\n"
                "    w%u = where(h%u == -inf, 0.0, exp(h%u - n%u))\n",
                n, n, n, n, n, n, before[batches], n, n, n, o->m, n, n, o->m, o->m, n, n, n, n, n);
    snprintf(right, sizeof right, "e%u", n);
    char whole[TILE_TEXT + 20];
    snprintf(whole, sizeof whole, "cast(%s, f32)", value.tensor);
    tile_product_text(DTYPE_F32, right, o->values.type == DTYPE_F32 ? value.tensor : whole, words);
    text_printf(out,
                "    %s = fma(%s, u%u, g%u * w%u)\n"
                "    %s = %s * u%u[%s:, None] + %s * w%u[%s:, None]\n    %s = n%u\n",
                o->sum, o->sum, n, n, n, o->acc, o->acc, n, before[batches], words, n,
                before[batches], o->m, n);
}

/* Keys in blocks, rescaled whenever the maximum grows. */
bool fuzz_tile_online(tile_kernel *k) {
    static const char *const types[] = {"f32", "bf16", "f16"};
    online o = {.causal = choose_rarely(k->c, 2)};
    dtype type = dtype_from_name(types[choose_below(k->c, 3)]);
    if (!make_loop(k, &o.l))
        return false;
    int depth = tile_new_axis(k, tile_length(k, 33));
    int wide = k->by_columns ? AXIS_COLUMNS : tile_new_axis(k, tile_length(k, 33));
    bool all = k->batches > 0;
    tile_value like = {.type = DTYPE_F32, .rank = 2, .axes = {AXIS_ROWS, wide}, .batched = all};
    tile_value row = {.type = DTYPE_F32, .rank = 1, .axes = {AXIS_ROWS}, .batched = all};
    if (depth < 0 || wide < 0 ||
        !tile_affordable(k, 2 * tile_elements(k, &like) * tile_axis_length(k, o.l.axis)) ||
        !tile_affordable(k, tile_elements(k, &row) * tile_axis_length(k, depth) *
                                tile_axis_length(k, o.l.axis)) ||
        !tile_parameter(k, type, 2, (int[]){AXIS_ROWS, depth}, all, &o.q) ||
        !tile_parameter(k, type, 2, (int[]){o.l.axis, depth}, all, &o.keys) ||
        !tile_parameter(k, type, 2, (int[]){o.l.axis, wide}, all, &o.values))
        return false;
    const tile_value *acc = start(k, like, "0"), *m = acc ? start(k, row, "-inf") : NULL;
    const tile_value *sum = m ? start(k, row, "0") : NULL;
    if (!sum)
        return false;
    o.acc = acc->name;
    o.m = m->name;
    o.sum = sum->name;
    online_tile(k, &o);
    for (int64_t turn = 0; turn < turns_of(k, &o.l); turn++)
        online_tensor(k, &o, turn);
    made_now(k, k->count - 3);
    return true;
}
