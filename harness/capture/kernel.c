/* kernel.c - the source of a kernel for a call of BLAS. */
#include "capture/kernel.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "capture/again.h"
#include "capture/arguments.h"
#include "capture/solve.h"

typedef struct family {
    const char *name, *rows, *columns;
} family;

static const family families[] = {
#define FAMILY(name, rows, columns) {#name, rows, columns},
#define RULE(name, condition, body)
#include "capture/families.def"
#undef FAMILY
#undef RULE
};

typedef struct rule {
    const char *name;
    bool (*applies)(const json_t *arguments);
    const char *body;
} rule;

static const char *skip(const char *word, const char *start) {
    size_t length = strlen(start);
    return strncmp(word, start, length) == 0 ? word + length : word;
}

/* "scipy_cblas_sgemm64_", "dgemm_": the family behind prefix and letter. */
static const family *family_of(const char *function) {
    const char *word = skip(skip(function, "scipy_"), "cblas_");
    if (*word != 's' && *word != 'd')
        return NULL;
    for (size_t i = 0; i < sizeof families / sizeof *families; i++) {
        const char *rest = skip(word + 1, families[i].name);
        if (rest != word + 1 && (!*rest || strcmp(rest, "_") == 0 || strcmp(rest, "64_") == 0 ||
                                 strcmp(rest, "_64_") == 0))
            return &families[i];
    }
    return NULL;
}

/* ---- a family's own rules ---- */

static bool is_zero(const json_t *arguments, const char *name) {
    return capture_argument(arguments, name) && capture_real(arguments, name) == 0;
}

static bool applies_ALPHA_0(const json_t *arguments) {
    return is_zero(arguments, "alpha");
}

static bool applies_EMPTY(const json_t *arguments) {
    return is_zero(arguments, "m") || is_zero(arguments, "n");
}

static bool applies_BACKWARD(const json_t *arguments) {
    return capture_argument(arguments, "incx") && capture_real(arguments, "incx") <= 0;
}

static const rule rules[] = {
#define FAMILY(name, rows, columns)
#define RULE(name, condition, body) {#name, applies_##condition, body},
#include "capture/families.def"
#undef FAMILY
#undef RULE
};

static const char *body_of(const family *f, const json_t *arguments) {
    for (size_t i = 0; i < sizeof rules / sizeof *rules; i++)
        if (strcmp(rules[i].name, f->name) == 0 && rules[i].applies(arguments))
            return rules[i].body;
    return capture_in_columns(arguments) ? f->columns : f->rows;
}

/* ---- the formula ---- */

typedef struct writer_state {
    const capture_call *call;
    const json_t *arguments;
    bool columns;
    const capture_tensor *output;
    text *out;
} writer_state;

/* gemm's tensors trade places with their order, gemv's is turned by it. */
static bool is_turned(const writer_state *w, const char *name) {
    bool both = capture_argument(w->arguments, "transb") != NULL;
    char flag[8] = "trans";
    if (both)
        flag[5] = *name;
    bool said = capture_transposes(capture_argument(w->arguments, flag));
    return both ? said : said != w->columns;
}

static void put_zeros(const writer_state *w) {
    const capture_tensor *t = w->output;
    text_append(w->out, "zeros((");
    for (int axis = 0; axis < t->rank; axis++)
        text_printf(w->out, "%" PRId64 ",", t->shape[axis]);
    text_printf(w->out, "), %s)", t->dtype);
}

/* Along memory: the last axis is the one that it runs along. */
static void put_seen(const writer_state *w) {
    const capture_tensor *t = w->output;
    bool upper = t->part && strncmp(t->part, "upper", 5) == 0;
    text_printf(w->out,
                "reshape(iota((%" PRId64 ",)), (%" PRId64 ", 1)) %s reshape(iota((%" PRId64
                ",)), (1, %" PRId64 "))",
                t->shape[0], t->shape[0], upper ? "<=" : ">=", t->shape[1], t->shape[1]);
}

/* Terms that stand for no tensor; false: it is none of them. */
static bool put_named(const writer_state *w, const char *name) {
    if (strcmp(name, "seen") == 0)
        put_seen(w);
    else if (strcmp(name, "zeros") == 0)
        put_zeros(w);
    else if (strcmp(name, "type") == 0)
        text_append(w->out, w->output->dtype);
    else if (strcmp(name, "solve") == 0)
        capture_solve_write(w->call, w->arguments, w->out);
    else
        return false;
    return true;
}

static void put_term(const writer_state *w, const char *term, size_t length) {
    bool is_sum = *term == '+', is_alone = *term == '=', is_factor = term[length - 1] == '*';
    const char *end = memchr(term, '*', length);
    char name[16] = "";
    size_t begin = is_sum || is_alone, size = (size_t)((end ? end : term + length) - term) - begin;
    memcpy(name, term + begin, size < sizeof name ? size : 0);
    double factor = end ? capture_real(w->arguments, name) : 1;
    if (is_sum && factor == 0)
        return;
    if (is_alone && factor == 0) {
        put_zeros(w);
        return;
    }
    if (put_named(w, name))
        return;
    if (is_sum)
        text_append(w->out, " + ");
    if (end && factor != 1)
        capture_put_factor(factor, w->out);
    if (is_sum || is_alone)
        text_append_bytes(w->out, end + 1, length - (size_t)(end + 1 - term));
    else if (!is_factor)
        text_printf(w->out, "%s%s", name, is_turned(w, name) ? ".T" : "");
}

static void put_formula(const writer_state *w, const char *formula) {
    while (*formula) {
        const char *close = *formula == '{' ? strchr(formula, '}') : NULL;
        if (close)
            put_term(w, formula + 1, (size_t)(close - formula - 1));
        else
            text_append_char(w->out, *formula);
        formula = close ? close + 1 : formula + 1;
    }
}

/* ---- the source ---- */

/* One symbol for each length: the call's own names cannot be wrong this way. */
static void put_type(const capture_tensor *t, text *out) {
    text_append(out, "Tensor[");
    for (int axis = 0; axis < t->rank; axis++)
        text_printf(out, "%" PRId64 ", ", t->shape[axis]);
    text_printf(out, "%s]", t->dtype);
}

static void put_parameters(const capture_kernel *k, text *out) {
    for (uint32_t i = 0; i < k->input_count; i++) {
        text_printf(out, "%s%s: ", i ? ", " : "", k->inputs[i]->name);
        put_type(k->inputs[i], out);
    }
}

static void put_about(const capture_stream *s, const capture_call *c, text *out) {
    text place;
    text_init(&place);
    capture_describe_place(s, c, &place);
    text_printf(out, "\"\"\"%s, as %s of a recorded program was.\"\"\"\n", c->function, place.data);
    text_release(&place);
}

static void put_source(const capture_stream *s, const capture_call *c, const writer_state *w,
                       const char *formula, capture_kernel *k) {
    text *out = &k->source;
    put_about(s, c, out);
    text_append(out, "from tessera import *\n\n\n@cases(case(\"" CAPTURE_CASE "\"))\n@kernel\n");
    text_printf(out, "def %s(", k->name);
    put_parameters(k, out);
    text_append(out, ") -> ");
    put_type(k->output, out);
    text_append(out, ":\n    ");
    put_formula(w, formula);
    text_append_char(out, '\n');
}

/* Names become names of the source and of the code: a stream may come from anyone. */
static bool is_plain(const char *name) {
    size_t length = strlen(name);
    return length && length <= 8 && strspn(name, "abcdefghijklmnopqrstuvwxyz") == length;
}

/* The tensors that the kernel reads, and the one that it writes. */
static bool take_tensors(const capture_call *c, capture_kernel *k) {
    for (uint32_t i = 0; i < c->tensor_count; i++) {
        const capture_tensor *t = &c->tensors[i];
        if ((t->part && t->rank != 2) || t->type == DTYPE_NONE || !is_plain(t->name))
            return false;
        if (t->role != CAPTURE_OUTPUT && k->input_count < 8)
            k->inputs[k->input_count++] = t;
        if (t->role != CAPTURE_INPUT)
            k->output = t;
    }
    return k->output != NULL;
}

bool capture_kernel_make(const capture_stream *s, const capture_call *c, capture_kernel *out,
                         status *st) {
    const family *f = family_of(c->function);
    json_t *arguments = json_loads(c->arguments, 0, NULL);
    *out = (capture_kernel){.name = c->function};
    text_init(&out->source);
    text_init(&out->code);
    bool ok = f && take_tensors(c, out);
    if (ok && strcmp(f->name, "trsm") == 0 && !capture_solve_fits(c)) {
        ok = status_set(st, STATUS_UNAVAILABLE,
                        "%s has a triangle of more than %d rows: no pack is made of it",
                        c->function, CAPTURE_SOLVE_ROWS);
    } else if (ok) {
        writer_state w = {c, arguments, capture_in_columns(arguments), out->output, &out->source};
        put_source(s, c, &w, body_of(f, arguments), out);
        capture_again_write(s, c, arguments, out);
    } else {
        status_set(st, STATUS_UNAVAILABLE,
                   "no kernel says what %s does: packs are made of calls of BLAS that are gemm, "
                   "syrk, trsm, gemv, ger, dot, nrm2, asum, axpy or scal, of f32 or f64",
                   c->function);
    }
    json_decref(arguments);
    return ok;
}

void capture_kernel_release(capture_kernel *k) {
    text_release(&k->source);
    text_release(&k->code);
}

uint32_t capture_threads(const capture_stream *s, const capture_call *c) {
    static const char *const names[] = {"OPENBLAS_NUM_THREADS", "BLIS_NUM_THREADS",
                                        "MKL_NUM_THREADS", "OMP_NUM_THREADS"};
    const json_t *environment = s->processes.items[c->process].environment;
    int most = (int)json_integer_value(json_object_get(s->head, "cores"));
    for (int i = 0; i < 4; i++) {
        const char *value = json_string_value(json_object_get(environment, names[i]));
        int number = value ? atoi(value) : 0;
        if (number > 0) {
            most = number;
            break;
        }
    }
    return most < 1 ? 1 : most > 64 ? 64 : (uint32_t)most;
}
