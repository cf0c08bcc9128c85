/* tiles.c - the frame of a random kernel of tiles: grid, parameters, statements, results. */
#include <inttypes.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>

#include "fuzz/tile_kernel.h"

enum {
    ELEMENTS_MAX = 20000,
    INSTANCES_MAX = 20,
    STATEMENTS_MAX = 8,
    OUTPUTS_MAX = 4,
    WORK_MAX = 1000000
};

/* ---- axes ---- */

int64_t tile_length(tile_kernel *k, int64_t most) {
    static const int64_t lengths[] = {1,  2,  3,  5,  7,  8,   13,  16,  17,
                                      31, 33, 64, 65, 70, 127, 130, 513, 1031};
    uint32_t n = 0;
    while (n < sizeof lengths / sizeof *lengths && lengths[n] <= most)
        n++;
    return lengths[choose_below(k->c, n ? n : 1)];
}

int tile_new_axis(tile_kernel *k, int64_t length) {
    static const char *const first[] = {"M", "N"};
    if (k->axis_count == TILE_AXES_MAX)
        return -1;
    tile_axis *a = &k->axes[k->axis_count];
    a->length = length;
    if (k->axis_count < 2)
        snprintf(a->name, sizeof a->name, "%s", first[k->axis_count]);
    else
        snprintf(a->name, sizeof a->name, "K%d", (k->axis_count - 2) % 100);
    return k->axis_count++;
}

int64_t tile_axis_length(const tile_kernel *k, int axis) {
    return k->axes[axis].length;
}

static const char *length_text(const tile_kernel *k, int axis, char out[24]) {
    if (k->numbers)
        snprintf(out, 24, "%" PRId64, k->axes[axis].length);
    else
        snprintf(out, 24, "%s", k->axes[axis].name);
    return out;
}

const char *tile_axis_text(const tile_kernel *k, int axis, char out[24]) {
    if (axis == AXIS_ROWS || (axis == AXIS_COLUMNS && k->by_columns))
        return axis == AXIS_ROWS ? "T.m" : "T.n";
    return length_text(k, axis, out);
}

static int64_t batch_elements(const tile_kernel *k, bool batched) {
    int64_t n = 1;
    for (int i = 0; i < k->batches && batched; i++)
        n *= k->batch[i];
    return n;
}

int64_t tile_elements(const tile_kernel *k, const tile_value *v) {
    int64_t n = batch_elements(k, v->batched);
    for (int i = 0; i < v->rank; i++)
        n *= k->axes[v->axes[i]].length;
    return n;
}

bool tile_affordable(tile_kernel *k, int64_t multiplications) {
    if (k->work + multiplications > WORK_MAX)
        return false;
    k->work += multiplications;
    return true;
}

/* ---- values ---- */

const tile_value *tile_any(tile_kernel *k, int rank, dtype type) {
    const tile_value *found[TILE_VALUES_MAX];
    uint32_t n = 0;
    for (uint32_t i = k->count; i-- > 0;) {
        const tile_value *v = &k->values[i];
        if (v->rank > 0 && (rank < 0 || v->rank == rank) && (!type || v->type == type))
            found[n++] = v;
    }
    return n ? found[choose_below(k->c, choose_rarely(k->c, 3) || n < 4 ? n : 4)] : NULL;
}

const tile_value *tile_like(tile_kernel *k, const tile_value *x) {
    const tile_value *found[TILE_VALUES_MAX];
    uint32_t n = 0;
    for (uint32_t i = k->count; i-- > 0;) {
        const tile_value *v = &k->values[i];
        if (v->type == x->type && v->rank == x->rank &&
            memcmp(v->axes, x->axes, sizeof *v->axes * (size_t)v->rank) == 0)
            found[n++] = v;
    }
    return n ? found[choose_below(k->c, n)] : x;
}

bool tile_is_rows(const tile_value *v) {
    return v->rank > 0 && v->axes[0] == AXIS_ROWS;
}

bool tile_has_whole_rows(const tile_kernel *k, const tile_value *v) {
    int last = v->rank ? v->axes[v->rank - 1] : AXIS_ROWS;
    return last != AXIS_ROWS && !(last == AXIS_COLUMNS && k->by_columns);
}

dtype tile_random_type(tile_kernel *k) {
    static const char *const names[] = {"f32", "bf16", "f16", "i32", "i8",
                                        "f64", "f32",  "u8",  "u32", "i16"};
    return dtype_from_name(names[choose_below(k->c, sizeof names / sizeof *names)]);
}

dtype tile_product_type(dtype type) {
    if (dtype_is_float(type))
        return dtype_size(type) < dtype_size(DTYPE_F32) ? DTYPE_F32 : type;
    return DTYPE_I32;
}

void tile_product_text(dtype type, const char *x, const char *y, char out[TILE_TEXT * 3]) {
    bool narrow = dtype_is_float(type) && tile_product_type(type) != type;
    snprintf(out, TILE_TEXT * 3, "matmul(%s, %s%s)", x, y, narrow ? ", out=f32" : "");
}

static tile_value *add_value(tile_kernel *k, char letter, tile_value like) {
    tile_value *v = &k->values[k->count++];
    *v = like;
    snprintf(v->name, sizeof v->name, "%c%u", letter, k->names++ % 1000);
    return v;
}

const tile_value *tile_let(tile_kernel *k, tile_value like, const char *tile, const char *plain) {
    if (k->count == TILE_VALUES_MAX || tile_elements(k, &like) > ELEMENTS_MAX)
        return NULL;
    tile_value *v = add_value(k, 't', like);
    text_printf(&k->body, "    %s = %s\n", v->name, tile);
    text_printf(&k->tensor_body, "    %s = %s\n", v->name, plain);
    v->made = k->body.length;
    return v;
}

const tile_value *tile_let_same(tile_kernel *k, tile_value like, const char *format, ...) {
    char expression[TILE_TEXT];
    va_list args;
    va_start(args, format);
    vsnprintf(expression, sizeof expression, format, args);
    va_end(args);
    return tile_let(k, like, expression, expression);
}

/* ---- parameters ---- */

static void put_batches(const tile_kernel *k, bool names, text *out) {
    for (int i = 0; i < k->batches; i++)
        if (names)
            text_printf(out, "\"B%d\", ", i);
        else
            text_printf(out, "%" PRId64 ", ", k->batch[i]);
}

static void put_type(const tile_kernel *k, const char *word, const tile_value *v, bool names,
                     text *out) {
    text_printf(out, "%s[", word);
    if (v->batched)
        put_batches(k, names, out);
    for (int i = 0; i < v->rank; i++)
        if (names)
            text_printf(out, "\"%s\", ", k->axes[v->axes[i]].name);
        else
            text_printf(out, "%" PRId64 ", ", k->axes[v->axes[i]].length);
    text_printf(out, "%s]", dtype_name(v->type));
}

static void put_parameter(tile_kernel *k, const char *word, const char *name, const tile_value *v,
                          const char *distribution) {
    const char *separator = k->signature.length ? ", " : "";
    text_printf(&k->signature, "%s%s: ", separator, name);
    put_type(k, word, v, !k->numbers, &k->signature);
    text_printf(&k->tensor_signature, "%s%s: ", separator, name);
    put_type(k, "Tensor", v, false, &k->tensor_signature);
    const char *words = distribution ? distribution : choose_distribution(k->c, v->type);
    if (*words)
        text_printf(&k->distributions, ", %s=%s", name, words);
}

bool tile_parameter(tile_kernel *k, dtype type, int rank, const int *axes, bool batched,
                    tile_memory *out) {
    enum { PARAMETERS_MAX = 12 };
    tile_value v = {.type = type, .rank = rank, .batched = batched && k->batches};
    memcpy(v.axes, axes, sizeof *axes * (size_t)rank);
    if (k->names > 90 || tile_elements(k, &v) > ELEMENTS_MAX)
        return false;
    *out = (tile_memory){.type = type, .rank = rank, .batched = v.batched};
    memcpy(out->axes, v.axes, sizeof v.axes);
    snprintf(out->name, sizeof out->name, "p%u", k->names++ % 1000);
    put_parameter(k, "KTile", out->name, &v, NULL);
    return true;
}

/* A number of its own, beside the tiles. */
static void add_scalar(tile_kernel *k, dtype type) {
    tile_value *v = add_value(k, 's', (tile_value){.type = type});
    put_parameter(k, "Tensor", v->name, v, NULL);
}

static const tile_loop *loop_along(const tile_loop *loops, int count, int axis) {
    for (int i = 0; i < count; i++)
        if (loops[i].axis == axis)
            return &loops[i];
    return NULL;
}

void tile_load_text(const tile_kernel *k, const tile_memory *m, const tile_loop *loops, int count,
                    const int64_t *turns, tile_pair *out) {
    static const char *const words[] = {"rows", "cols"};
    int at = snprintf(out->tile, TILE_TEXT, "tile.load(%s", m->name);
    int of = snprintf(out->tensor, TILE_TEXT, "%s", m->name);
    bool cut = false;
    char places[120] = "";
    size_t length = 0;
    for (int i = 0; i < m->rank; i++) {
        const tile_loop *l = loop_along(loops, count, m->axes[i]);
        int64_t whole = k->axes[m->axes[i]].length;
        const char *block = m->axes[i] == AXIS_ROWS                       ? "T.rows"
                            : m->axes[i] == AXIS_COLUMNS && k->by_columns ? "T.cols"
                                                                          : NULL;
        if (l)
            at += snprintf(out->tile + at, TILE_TEXT - (size_t)at, ", %s=b%u", words[i], l->number);
        else if (block)
            at += snprintf(out->tile + at, TILE_TEXT - (size_t)at, ", %s=%s", words[i], block);
        int64_t from = l && turns ? turns[l - loops] * l->size : 0;
        int64_t to = l && turns && from + l->size < whole ? from + l->size : whole;
        cut |= l && turns;
        length += (size_t)snprintf(places + length, sizeof places - length,
                                   "%s%" PRId64 ":%" PRId64, i ? ", " : "", from, to);
    }
    if (m->batched && m->rank == 1)
        at += snprintf(out->tile + at, TILE_TEXT - (size_t)at, ", at=T.batch");
    snprintf(out->tile + at, TILE_TEXT - (size_t)at, ")");
    static const char *const before[] = {"", ":, ", ":, :, "};
    if (cut)
        snprintf(out->tensor + of, TILE_TEXT - (size_t)of, "[%s%s]",
                 before[m->batched ? k->batches : 0], places);
}

void tile_as_column(const tile_kernel *k, const tile_value *v, tile_pair *out) {
    static const char *const before[] = {"", ":, ", ":, :, "};
    snprintf(out->tile, TILE_TEXT, "%s[:, None]", v->name);
    snprintf(out->tensor, TILE_TEXT, "%s[%s:, None]", v->name, before[v->batched ? k->batches : 0]);
}

void tile_shape_text(const tile_kernel *k, const tile_value *v, tile_pair *out) {
    char word[24];
    int at = snprintf(out->tile, TILE_TEXT, "("), of = snprintf(out->tensor, TILE_TEXT, "(");
    for (int i = 0; i < k->batches && v->batched; i++)
        of += snprintf(out->tensor + of, TILE_TEXT - (size_t)of, "%" PRId64 ", ", k->batch[i]);
    for (int i = 0; i < v->rank; i++) {
        at += snprintf(out->tile + at, TILE_TEXT - (size_t)at, "%s, ",
                       tile_axis_text(k, v->axes[i], word));
        of += snprintf(out->tensor + of, TILE_TEXT - (size_t)of, "%" PRId64 ", ",
                       k->axes[v->axes[i]].length);
    }
    snprintf(out->tile + at, TILE_TEXT - (size_t)at, ")");
    snprintf(out->tensor + of, TILE_TEXT - (size_t)of, ")");
}

/* ---- the frame ---- */

static int64_t block_size(tile_kernel *k, int64_t length, int64_t most) {
    static const int64_t sizes[] = {64, 16, 8, 32, 5, 3, 1};
    int64_t size = sizes[choose_below(k->c, 7)];
    return (length + size - 1) / size > most ? (length + most - 1) / most : size;
}

static void make_grid(tile_kernel *k) {
    static const int batches[] = {0, 0, 0, 1, 2};
    k->by_columns = choose_rarely(k->c, 2);
    k->numbers = choose_rarely(k->c, 3);
    k->batches = batches[choose_below(k->c, 5)];
    for (int i = 0; i < k->batches; i++)
        k->batch[i] = 1 + choose_below(k->c, 3);
    int64_t room = ELEMENTS_MAX / 4 / batch_elements(k, true);
    int64_t most = INSTANCES_MAX / batch_elements(k, true), rows = tile_length(k, 130);
    tile_new_axis(k, choose_rarely(k->c, 24) ? 0 : rows);
    int64_t columns = tile_length(k, room / rows);
    tile_new_axis(k, choose_rarely(k->c, 24) ? 0 : columns);
    k->block[0] = block_size(k, k->axes[0].length, most);
    int64_t along = (k->axes[0].length + k->block[0] - 1) / k->block[0];
    int64_t left = along ? most / along : most;
    k->block[1] = block_size(k, k->axes[1].length, left ? left : 1);
}

static void first_load(tile_kernel *k) {
    static const int axes[] = {AXIS_ROWS, AXIS_COLUMNS};
    tile_memory m;
    tile_pair load;
    if (!tile_parameter(k, tile_random_type(k), 2, axes, true, &m))
        return;
    tile_load_text(k, &m, NULL, 0, NULL, &load);
    tile_let(k, (tile_value){.type = m.type, .rank = 2, .axes = {0, 1}, .batched = k->batches > 0},
             load.tile, load.tensor);
}

static void statement(tile_kernel *k) {
    static const uint32_t weights[] = {
#define P(name, weight) weight,
#include "fuzz/tile_productions.def"
    };
    static bool (*const productions[])(tile_kernel * k) = {
#define P(name, weight) fuzz_tile_##name,
#include "fuzz/tile_productions.def"
    };
    /* A production that does not fit makes one statement less. */
    productions[choose_weighted(k->c, weights, sizeof weights / sizeof *weights)](k);
}

/* ---- the text ---- */

static bool is_used(const tile_kernel *k, const tile_value *v) {
    size_t length = strlen(v->name);
    const char *at = k->body.data + v->made;
    while ((at = strstr(at, v->name)) && at[length] >= '0' && at[length] <= '9')
        at++;
    return at != NULL;
}

/* A tile that is this instance's part of a result. */
static bool can_be_given(const tile_kernel *k, const tile_value *v) {
    if (v->name[0] != 't' || !tile_is_rows(v) || v->batched != (k->batches > 0))
        return false;
    return !k->by_columns || (v->rank == 2 && v->axes[1] == AXIS_COLUMNS);
}

/* The last first, a matrix before all where there are batches: its axes say how many. */
static uint32_t choose_outputs(tile_kernel *k, const tile_value **outputs) {
    uint32_t n = 0;
    for (uint32_t i = k->count; i-- > 0 && n < OUTPUTS_MAX;) {
        const tile_value *v = &k->values[i];
        bool fits = can_be_given(k, v) && (n || !k->batches || v->rank == 2);
        if (fits && (n == 0 || !is_used(k, v) || choose_rarely(k->c, 9)))
            outputs[n++] = v;
    }
    return n;
}

static void put_results(const tile_kernel *k, const tile_value *const *outputs, uint32_t n,
                        bool names, text *out) {
    text_append(out, n > 1 ? ") -> tuple[" : ") -> ");
    for (uint32_t i = 0; i < n; i++) {
        text_append(out, i ? ", " : "");
        put_type(k, "Tensor", outputs[i], names, out);
    }
    text_append(out, n > 1 ? "]:\n" : ":\n");
}

static void put_return(const tile_value *const *outputs, uint32_t n, text *out) {
    text_append(out, "    return ");
    for (uint32_t i = 0; i < n; i++)
        text_printf(out, "%s%s", i ? ", " : "", outputs[i]->name);
    text_append(out, "\n");
}

static void put_dims(const tile_kernel *k, text *out) {
    for (int i = 0; i < k->batches && !k->numbers; i++)
        text_printf(out, ", B%d=%" PRId64, i, k->batch[i]);
    for (int i = 0; i < k->axis_count && !k->numbers; i++) {
        char word[16];
        snprintf(word, sizeof word, "\"%s\"", k->axes[i].name);
        if (strstr(k->signature.data, word))
            text_printf(out, ", %s=%" PRId64, k->axes[i].name, k->axes[i].length);
    }
}

static void put_module(tile_kernel *k, text *out) {
    const tile_value *outputs[OUTPUTS_MAX];
    uint32_t n = choose_outputs(k, outputs);
    text_printf(out, "from tessera import *\n\n\n@cases(case(\"%s\"", FUZZ_CASE);
    put_dims(k, out);
    text_printf(out, "%s))\n@kernel.autotune(space=dict(BM=[%" PRId64 "], BN=[%" PRId64 "]))\n",
                k->distributions.data, k->block[0], k->block[1]);
    text_printf(out, "def %s(%s", FUZZ_KERNEL, k->signature.data);
    put_results(k, outputs, n, !k->numbers, out);
    text_printf(out, "    T = tile.context()\n%s", k->body.data);
    put_return(outputs, n, out);
    text_printf(out, "\n\n@cases(case(\"%s\"%s))\n@kernel\ndef %s(%s", FUZZ_CASE,
                k->distributions.data, FUZZ_MEANING, k->tensor_signature.data);
    put_results(k, outputs, n, false, out);
    text_append(out, k->tensor_body.data);
    put_return(outputs, n, out);
}

void fuzz_generate_tiles(choices *c, text *out) {
    tile_kernel k = {.c = c};
    text *const texts[] = {&k.signature, &k.tensor_signature, &k.distributions, &k.body,
                           &k.tensor_body};
    for (size_t i = 0; i < sizeof texts / sizeof *texts; i++)
        text_init(texts[i]);
    make_grid(&k);
    if (choose_rarely(c, 4))
        add_scalar(&k, DTYPE_F32);
    first_load(&k);
    uint32_t statements = 1 + choose_below(c, STATEMENTS_MAX);
    for (uint32_t i = 0; i < statements; i++)
        statement(&k);
    put_module(&k, out);
    for (size_t i = 0; i < sizeof texts / sizeof *texts; i++)
        text_release(texts[i]);
}
