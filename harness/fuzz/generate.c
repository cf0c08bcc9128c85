/* generate.c - the frame of a random kernel: parameters, statements, outputs. */
#include "fuzz/generate.h"

#include <inttypes.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>

#include "fuzz/productions.h"

enum {
    ELEMENTS_MAX = 200000,
    PARAMETER_ELEMENTS_MAX = 40000,
    STATEMENTS_MAX = 14,
    OUTPUTS_MAX = 12,
    WORK_MAX = 4000000
};
/* Limits of one kernel in LARGE_ONE_IN. */
enum {
    LARGE_ONE_IN = 8,
    LARGE_ELEMENTS_MAX = 4 << 20,
    LARGE_STATEMENTS_MAX = 4,
    LARGE_WORK_MAX = 48000000,
    LARGE_LENGTH = 2100,
    SMALL_LENGTH = 64 /* what is at most so long by itself stays so */
};

/* ---- values ---- */

int64_t fuzz_count(int rank, const int64_t *dims) {
    int64_t n = 1;
    for (int i = 0; i < rank; i++)
        n *= dims[i];
    return n;
}

int64_t fuzz_elements_max(const fuzz_kernel *k) {
    return k->large ? LARGE_ELEMENTS_MAX : ELEMENTS_MAX;
}

static int64_t parameter_elements_max(const fuzz_kernel *k) {
    return k->large ? LARGE_ELEMENTS_MAX : PARAMETER_ELEMENTS_MAX;
}

static int64_t length_below(fuzz_kernel *k, int64_t most) {
    static const int64_t lengths[] = {1,  2,  3,  5,  7,   13,  0,   16,  17,  31,   33,
                                      64, 65, 67, 97, 127, 130, 257, 513, 521, 1031, 4099};
    uint32_t n = 0;
    int64_t threshold = choose_rarely(k->c, k->large ? 2 : 4) ? fuzz_threshold_length(k, most) : 0;
    if (threshold)
        return threshold;
    while (n < sizeof lengths / sizeof *lengths && lengths[n] <= most)
        n++;
    return lengths[choose_below(k->c, n ? n : 1)];
}

int64_t fuzz_length(fuzz_kernel *k, int64_t most) {
    return length_below(k, k->large && most > SMALL_LENGTH ? LARGE_LENGTH : most);
}

int64_t fuzz_columns(fuzz_kernel *k, dtype type, int64_t depth, int64_t most) {
    int64_t n = k->large && choose_rarely(k->c, 2)
                    ? fuzz_threshold_columns(k, type, depth, LARGE_LENGTH)
                    : 0;
    return n ? n : fuzz_length(k, most);
}

dtype fuzz_type(fuzz_kernel *k) {
    static const char *const names[] = {"f32",      "bf16",   "f16",  "i32", "i8",  "f64",
                                        "f8e4m3fn", "f8e5m2", "tf32", "i4",  "i64", "f32",
                                        "u8",       "u32",    "u64",  "i16"};
    return dtype_from_name(names[choose_below(k->c, sizeof names / sizeof *names)]);
}

bool fuzz_is_single(dtype type) {
    return dtype_is_float(type) && type != DTYPE_F64;
}

bool fuzz_is_small_integer(dtype type) {
    return dtype_is_integer(type) && dtype_integer_bits(type) < 32;
}

bool fuzz_affordable(fuzz_kernel *k, int64_t multiplications) {
    if (k->work + multiplications > (k->large ? LARGE_WORK_MAX : WORK_MAX))
        return false;
    k->work += multiplications;
    return true;
}

const fuzz_value *fuzz_any(fuzz_kernel *k) {
    uint32_t recent = k->count < 4 ? k->count : 4;
    uint32_t from = choose_rarely(k->c, 3) ? k->count : recent;
    return &k->values[k->count - 1 - choose_below(k->c, from)];
}

static bool same_shape(const fuzz_value *a, const fuzz_value *b) {
    return a->rank == b->rank && memcmp(a->dims, b->dims, sizeof *a->dims * (size_t)a->rank) == 0;
}

const fuzz_value *fuzz_like(fuzz_kernel *k, const fuzz_value *x, dtype type) {
    const fuzz_value *found[FUZZ_VALUES_MAX];
    uint32_t n = 0;
    for (uint32_t i = k->count; i-- > 0;)
        if (same_shape(&k->values[i], x) && (!type || k->values[i].type == type))
            found[n++] = &k->values[i];
    return n ? found[choose_below(k->c, n)] : NULL;
}

static fuzz_value *add_value(fuzz_kernel *k, char letter, uint32_t number, dtype type, int rank,
                             const int64_t *dims) {
    fuzz_value *v = &k->values[k->count++];
    *v = (fuzz_value){.type = type, .rank = rank};
    snprintf(v->name, sizeof v->name, "%c%u", letter, number % 1000);
    for (int i = 0; i < rank; i++)
        v->dims[i] = dims[i];
    return v;
}

const fuzz_value *fuzz_parameter(fuzz_kernel *k, dtype type, int rank, const int64_t *dims,
                                 const char *distribution) {
    if (k->parameters == FUZZ_PARAMETERS_MAX || k->count == FUZZ_VALUES_MAX ||
        fuzz_count(rank, dims) > parameter_elements_max(k))
        return NULL;
    fuzz_value *v = add_value(k, 'p', k->parameters++, type, rank, dims);
    const char *words = distribution ? distribution : choose_distribution(k->c, type);
    if (*words)
        text_printf(&k->distributions, ", %s=%s", v->name, words);
    return v;
}

/* A tensor like `v`, so many of them stacked (0: one). */
static void type_text(const fuzz_value *v, int64_t parts, const char *policies, text *out) {
    text_append(out, "Tensor[");
    if (parts)
        text_printf(out, "%" PRId64 ", ", parts);
    for (int i = 0; i < v->rank; i++)
        text_printf(out, "%" PRId64 ", ", v->dims[i]);
    text_printf(out, "%s%s]", dtype_name(v->type), policies);
}

/* A statement's left side: `n` results like `v`, with an annotation where there are policies. */
static bool begin_statement(fuzz_kernel *k, uint32_t n, const char *policies, const fuzz_value *v) {
    if (v->rank > FUZZ_RANK_MAX || k->count + n > FUZZ_VALUES_MAX ||
        fuzz_count(v->rank, v->dims) > fuzz_elements_max(k))
        return false;
    for (uint32_t i = 0; i < n; i++)
        text_printf(&k->body, "%s%s", i ? ", " : "    ",
                    add_value(k, 't', k->count, v->type, v->rank, v->dims)->name);
    if (*policies) {
        text_append(&k->body, ": ");
        type_text(v, 0, policies, &k->body);
    }
    text_append(&k->body, " = ");
    return true;
}

static void end_statement(fuzz_kernel *k, uint32_t n, const char *format, va_list args) {
    char expression[400];
    vsnprintf(expression, sizeof expression, format, args);
    text_printf(&k->body, "%s\n", expression);
    for (uint32_t i = 0; i < n; i++)
        k->values[k->count - 1 - i].made = k->body.length;
}

fuzz_value fuzz_shaped(dtype type, int rank, const int64_t *dims) {
    fuzz_value v = {.type = type, .rank = rank};
    for (int i = 0; i < rank && i < FUZZ_RANK_MAX; i++)
        v.dims[i] = dims[i];
    return v;
}

bool fuzz_let(fuzz_kernel *k, dtype type, int rank, const int64_t *dims, const char *format, ...) {
    fuzz_value like = fuzz_shaped(type, rank, dims);
    va_list args;
    va_start(args, format);
    bool ok = begin_statement(k, 1, "", &like);
    if (ok)
        end_statement(k, 1, format, args);
    va_end(args);
    return ok;
}

bool fuzz_let_as(fuzz_kernel *k, const char *policies, fuzz_value like, const char *format, ...) {
    va_list args;
    va_start(args, format);
    bool ok = begin_statement(k, 1, policies, &like);
    if (ok)
        end_statement(k, 1, format, args);
    va_end(args);
    return ok;
}

bool fuzz_let_several(fuzz_kernel *k, uint32_t n, const fuzz_value *x, const char *format, ...) {
    fuzz_value like = *x;
    va_list args;
    va_start(args, format);
    bool ok = begin_statement(k, n, "", &like);
    if (ok)
        end_statement(k, n, format, args);
    va_end(args);
    return ok;
}

void fuzz_tuple(const int64_t *items, int n, char *out, size_t size) {
    size_t at = (size_t)snprintf(out, size, "(");
    for (int i = 0; i < n && at < size; i++)
        at += (size_t)snprintf(out + at, size - at, "%" PRId64 ", ", items[i]);
    snprintf(out + at, at < size ? size - at : 0, ")");
}

/* ---- the frame ---- */

static void statement(fuzz_kernel *k) {
    static const uint32_t weights[] = {
#define P(name, weight) weight,
#include "fuzz/productions.def"
    };
    static bool (*const productions[])(fuzz_kernel * k) = {
#define P(name, weight) fuzz_##name,
#include "fuzz/productions.def"
    };
    /* A production that does not fit makes one statement less. */
    productions[choose_weighted(k->c, weights, sizeof weights / sizeof *weights)](k);
}

static void first_parameter(fuzz_kernel *k) {
    static const int ranks[] = {1, 2, 2, 2, 3, 3, 4};
    static const int64_t longest[] = {0, 5000, 130, 33, 13};
    int64_t dims[FUZZ_RANK_MAX];
    int rank = ranks[choose_below(k->c, 7)];
    dtype type = fuzz_type(k);
    bool shaped_so =
        k->large && !choose_rarely(k->c, 3) && fuzz_threshold_shape(k, type, rank, dims);
    for (int i = 0; i < rank && !shaped_so; i++) {
        int64_t before = fuzz_count(i, dims), most = rank == 2 && i == 1 ? 1031 : longest[rank];
        most = k->large && most < LARGE_LENGTH ? LARGE_LENGTH : most;
        int64_t room = parameter_elements_max(k) / (before ? before : 1);
        dims[i] = length_below(k, most < room ? most : room);
    }
    fuzz_parameter(k, type, rank, dims, NULL);
}

/* Parameters and results of a function; of results so many, and of parameters in `stacked`. */
typedef struct signature {
    const char *name;
    const fuzz_value *const *outputs;
    uint32_t output_count;
    int64_t parts; /* 0: one */
    uint32_t stacked;
} signature;

static void put_signature(const fuzz_kernel *k, const signature *s, text *out) {
    const char *separator = "";
    text_printf(out, "def %s(", s->name);
    for (uint32_t i = 0, number = 0; i < k->count; i++) {
        if (k->values[i].name[0] != 'p')
            continue;
        text_printf(out, "%s%s: ", separator, k->values[i].name);
        type_text(&k->values[i], s->stacked >> number++ & 1 ? s->parts : 0, "", out);
        separator = ", ";
    }
    text_append(out, s->output_count > 1 ? ") -> tuple[" : ") -> ");
    for (uint32_t i = 0; i < s->output_count; i++) {
        text_append(out, i ? ", " : "");
        type_text(s->outputs[i], s->parts, "", out);
    }
    text_append(out, s->output_count > 1 ? "]:\n" : ":\n");
}

/* Does a later statement use it? */
static bool is_used(const fuzz_kernel *k, const fuzz_value *v) {
    size_t length = strlen(v->name);
    const char *at = k->body.data + v->made;
    while ((at = strstr(at, v->name)) && at[length] >= '0' && at[length] <= '9')
        at++;
    return at != NULL;
}

/* Values that no statement uses are outputs, the last first; rarely one that is used, too. A
 * parameter is no output of its own. */
static uint32_t choose_outputs(fuzz_kernel *k, const fuzz_value **outputs) {
    uint32_t n = 0;
    for (uint32_t i = k->count; i-- > 0 && n < OUTPUTS_MAX;) {
        const fuzz_value *v = &k->values[i];
        if (v->name[0] == 't' && (!is_used(k, v) || choose_rarely(k->c, 9)))
            outputs[n++] = v;
    }
    return n;
}

/* The kernel's words above a function. */
static void put_head(const fuzz_kernel *k, bool correct, text *out) {
    text_printf(out, "\n\n%s@cases(case(\"%s\"%s))\n@%s\n", correct ? "@math(\"correct\")\n" : "",
                FUZZ_CASE, k->distributions.data, k->batches ? "jit" : "kernel");
}

static void put_body(const fuzz_kernel *k, const signature *s, text *out) {
    text_append(out, k->body.data);
    text_append(out, "    return ");
    for (uint32_t i = 0; i < s->output_count; i++)
        text_printf(out, "%s%s", i ? ", " : "", s->outputs[i]->name);
    text_append(out, "\n");
}

/* ---- batches ---- */

/* Parameters that are stacked, or those that are the same for each part. */
static void put_parameters(const fuzz_kernel *k, uint32_t which, text *out) {
    text_append_char(out, '(');
    for (uint32_t i = 0; i < k->parameters; i++)
        if (which >> i & 1)
            text_printf(out, "p%u, ", i);
    text_append_char(out, ')');
}

/* The function of a part for a turn: whose parameters it finds in two tuples. */
static void put_turn(const fuzz_kernel *k, uint32_t stacked, text *out) {
    uint32_t each = 0, same = 0;
    text_append(out, "\n\ndef turn(same, each):\n    return same, part(");
    for (uint32_t i = 0; i < k->parameters; i++) {
        const bool own = stacked >> i & 1;
        text_printf(out, "%s%s[%u]", i ? ", " : "", own ? "each" : "same", own ? each++ : same++);
    }
    text_append(out, ")\n");
}

static void put_in_axes(const fuzz_kernel *k, uint32_t stacked, text *out) {
    text_append(out, "    return vmap(part, in_axes=(");
    for (uint32_t i = 0; i < k->parameters; i++)
        text_append(out, stacked >> i & 1 ? "0, " : "None, ");
    text_append(out, "))");
}

/* vmap of the function, and a scan that gives on what is the same for each part. */
static void put_batches(const fuzz_kernel *k, signature s, bool correct, text *out) {
    static const int64_t counts[] = {3, 1, 2, 5};
    const uint32_t all = (1u << k->parameters) - 1;
    s.name = "part";
    text_append(out, "\n\n");
    put_signature(k, &s, out);
    put_body(k, &s, out);
    s.parts = counts[choose_below(k->c, 4)];
    s.stacked = 1;
    for (uint32_t i = 1; i < k->parameters; i++)
        s.stacked |= choose_rarely(k->c, 3) ? 0 : 1u << i;
    put_turn(k, s.stacked, out);
    put_head(k, correct, out);
    s.name = FUZZ_KERNEL;
    put_signature(k, &s, out);
    put_in_axes(k, s.stacked, out);
    put_parameters(k, all, out);
    text_append_char(out, '\n');
    put_head(k, correct, out);
    s.name = FUZZ_MEANING;
    put_signature(k, &s, out);
    text_append(out, "    return scan(turn, ");
    put_parameters(k, all & ~s.stacked, out);
    text_append(out, ", ");
    put_parameters(k, s.stacked, out);
    text_append(out, ")[1]\n");
}

static void put_module(fuzz_kernel *k, text *out) {
    const fuzz_value *outputs[OUTPUTS_MAX];
    const signature s = {
        .name = FUZZ_KERNEL, .outputs = outputs, .output_count = choose_outputs(k, outputs)};
    const bool correct = choose_rarely(k->c, 6) && !k->specified;
    text_append(out, "from tessera import *\n");
    if (k->batches) {
        put_batches(k, s, correct, out);
        return;
    }
    put_head(k, correct, out);
    put_signature(k, &s, out);
    put_body(k, &s, out);
}

static void generate(choices *c, bool batches, text *out) {
    fuzz_kernel k = {.c = c, .batches = batches};
    text_init(&k.body);
    text_init(&k.distributions);
    k.large = !batches && choose_rarely(c, LARGE_ONE_IN);
    first_parameter(&k);
    uint32_t statements = 1 + choose_below(c, k.large ? LARGE_STATEMENTS_MAX : STATEMENTS_MAX);
    for (uint32_t i = 0; i < statements; i++)
        statement(&k);
    if (k.body.length == 0)
        fuzz_let(&k, k.values[0].type, k.values[0].rank, k.values[0].dims, "abs(%s)",
                 k.values[0].name);
    put_module(&k, out);
    text_release(&k.body);
    text_release(&k.distributions);
}

void fuzz_generate(choices *c, text *out) {
    generate(c, false, out);
}

void fuzz_generate_batches(choices *c, text *out) {
    generate(c, true, out);
}
