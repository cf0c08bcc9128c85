/* dims_from_arrays.c - solves one dimension after the other, then checks all shapes. */
#include "case/dims_from_arrays.h"

#include <ctype.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "case/formula_trend.h"
#include "formula.h"

enum { KNOWN_BY_NOTHING, KNOWN_BY_ARRAYS, KNOWN_BY_GIVEN };

/* Least and greatest value of a dimension (docs/language.md). */
#define DIMENSION_MAX (INT64_C(1) << 31)
typedef struct range {
    int64_t low, high;
} range;

typedef struct solver {
    const dims_request *request;
    int64_t *values;
    unsigned char *known; /* by what, one a name */
    range *ranges;        /* one a name: what is left by formulas that several values fit */
} solver;

/* ---- names in formulas ---- */

static size_t word_length(const char *p) {
    size_t length = 0;
    while (isalnum((unsigned char)p[length]) || p[length] == '_')
        length++;
    return length;
}

static bool is_word(const char *p, size_t length, const char *name) {
    return strlen(name) == length && memcmp(p, name, length) == 0;
}

/* Counts the name in a formula; -1: also in a quotient, which is rounded. */
static int occurrences(const char *formula, const char *name) {
    int count = 0, depth = 0, quotient = 0;
    for (const char *p = formula; *p;) {
        size_t length = word_length(p);
        if (length && is_word(p, length, name)) {
            if (quotient)
                return -1;
            count++;
        }
        bool opens = length && is_word(p, length, "floordiv") && p[length] == '(';
        p += length ? length : 1;
        if (length && !opens)
            continue;
        char c = opens ? *p++ : p[-1];
        depth += c == '(' ? 1 : c == ')' ? -1 : 0;
        if (opens && !quotient)
            quotient = depth;
        if (depth < quotient)
            quotient = 0;
    }
    return count;
}

/* The number of names of a formula that have no value yet, and the last of them. */
static uint32_t unknowns(const solver *s, const char *formula, uint32_t *last) {
    uint32_t count = 0;
    for (uint32_t i = 0; i < s->request->name_count; i++)
        if (!s->known[i] && occurrences(formula, s->request->names[i]) != 0) {
            count++;
            *last = i;
        }
    return count;
}

static bool evaluate(const solver *s, const char *formula, int64_t *out) {
    formula_names names = {s->request->names, s->values, s->request->name_count};
    return formula_evaluate(formula, &names, out) == FORMULA_OK;
}

/* ---- messages ---- */

static void append_declared(const shaped_array *a, text *out) {
    for (int axis = 0; axis < a->rank; axis++) {
        text_append(out, axis ? ", " : "");
        if (a->formulas[axis])
            text_append(out, a->formulas[axis]);
        else
            text_printf(out, "%" PRId64, a->dims[axis]);
    }
}

static bool misfit(const shaped_array *a, const char *detail, status *st) {
    text shapes;
    text_init(&shapes);
    text_append(&shapes, "[");
    append_declared(a, &shapes);
    text_append(&shapes, "], but the array is [");
    for (int axis = 0; axis < a->array->rank; axis++)
        text_printf(&shapes, "%s%" PRId64, axis ? ", " : "", a->array->dims[axis]);
    status_set(st, STATUS_INVALID, "parameter %s has shape %.500s]: %s", a->name, shapes.data,
               detail);
    text_release(&shapes);
    return false;
}

static bool misfit_at(const solver *s, const shaped_array *a, int axis, int64_t wanted,
                      status *st) {
    const char *formula = a->formulas[axis];
    bool given = false;
    text detail;
    text_init(&detail);
    for (uint32_t i = 0; formula && i < s->request->name_count; i++)
        given |= s->known[i] == KNOWN_BY_GIVEN && occurrences(formula, s->request->names[i]) != 0;
    text_printf(&detail, "axis %d must be ", axis);
    if (formula)
        text_printf(&detail, "%s = ", formula);
    text_printf(&detail, "%" PRId64, wanted);
    if (given)
        text_printf(&detail, ", by %s", s->request->given_by);
    misfit(a, detail.data, st);
    text_release(&detail);
    return false;
}

static bool is_narrowed(const range *r) {
    return r->low > 0 || r->high < DIMENSION_MAX;
}

static bool no_solution(const solver *s, const shaped_array *a, int axis, uint32_t unknown,
                        status *st) {
    text detail;
    text_init(&detail);
    const range *r = &s->ranges[unknown];
    text_printf(&detail, "no %s", s->request->names[unknown]);
    if (is_narrowed(r))
        text_printf(&detail, " of %" PRId64 " to %" PRId64, r->low, r->high);
    text_printf(&detail, " makes %s = %" PRId64, a->formulas[axis], a->array->dims[axis]);
    misfit(a, detail.data, st);
    text_release(&detail);
    return false;
}

/* The array whose shape has a name that is not known; NULL: there is none. */
static const shaped_array *array_with(const solver *s, uint32_t name) {
    for (uint32_t i = 0; i < s->request->array_count; i++) {
        const shaped_array *a = &s->request->arrays[i];
        for (int axis = 0; axis < a->rank; axis++)
            if (a->formulas[axis] && occurrences(a->formulas[axis], s->request->names[name]) != 0)
                return a;
    }
    return NULL;
}

/* Appends the values that a name may have, and what to type for two of them. */
static void append_range(const char *name, const range *r, text *out) {
    text_printf(out, "%s may be %" PRId64 " %s %" PRId64, name, r->low,
                r->high - r->low == 1 ? "or" : "to", r->high);
    text_printf(out, ": say which, as in --dims %s=%" PRId64, name, r->low);
}

/* All names that nothing tells, in the line to type. */
static bool tell_unknown(const solver *s, uint32_t first, status *st) {
    const shaped_array *a = array_with(s, first);
    text detail;
    text_init(&detail);
    text_printf(&detail, "%s cannot be told from that; give it with --dims ",
                s->request->names[first]);
    if (!a) {
        text_clear(&detail);
        text_printf(&detail, "no array of kernel %s has dimension %s; give it with --dims ",
                    s->request->kernel, s->request->names[first]);
    }
    bool several = a && is_narrowed(&s->ranges[first]);
    if (several) {
        text_clear(&detail);
        append_range(s->request->names[first], &s->ranges[first], &detail);
    }
    for (uint32_t i = several ? first + 1 : first; i < s->request->name_count; i++)
        if (!s->known[i])
            text_printf(&detail, "%s%s=...", i > first ? "," : "", s->request->names[i]);
    if (a)
        misfit(a, detail.data, st);
    else
        status_set(st, STATUS_INVALID, "%.800s", detail.data);
    text_release(&detail);
    return false;
}

/* ---- solving ---- */

typedef enum solution { SOLVED, NARROWED, IMPOSSIBLE, UNTOLD } solution;

/* a + b * k, without overflow. */
static bool is_on_line(int64_t a, int64_t b, int64_t k, int64_t value) {
    int64_t at;
    return !__builtin_mul_overflow(b, k, &at) && !__builtin_add_overflow(a, at, &at) && at == value;
}

/* A formula that has the unknown n times, outside of quotients, is a polynomial in it of at most
 * that degree: n + 1 points on a line make it that line. */
static solution solve_line(solver *s, const char *formula, uint32_t unknown, int64_t wanted) {
    int count = occurrences(formula, s->request->names[unknown]);
    int64_t *x = &s->values[unknown], a, b, value;
    *x = 0;
    bool line = count > 0 && evaluate(s, formula, &a);
    *x = 1;
    line = line && evaluate(s, formula, &b) && !__builtin_sub_overflow(b, a, &b) && b != 0;
    for (*x = 2; line && *x <= count; ++*x)
        line = evaluate(s, formula, &value) && is_on_line(a, b, *x, value);
    if (!line)
        return UNTOLD;
    if (__builtin_sub_overflow(wanted, a, &value) || value % b != 0 || value / b < 0)
        return IMPOSSIBLE;
    *x = value / b;
    s->known[unknown] = KNOWN_BY_ARRAYS;
    return SOLVED;
}

/* The least value of the unknown from which on a rising formula is `wanted` or more; above all
 * where there is none. What has no value is beyond 64 bits. */
static int64_t first_from(solver *s, const char *formula, uint32_t unknown, int64_t wanted) {
    int64_t low = 0, high = DIMENSION_MAX + 1, *x = &s->values[unknown];
    while (low < high) {
        int64_t value;
        *x = low + (high - low) / 2;
        if (evaluate(s, formula, &value) && value < wanted)
            low = *x + 1;
        else
            high = *x;
    }
    return low;
}

/* One that can only grow with the unknown: it is `wanted` in one range, of which a square leaves
 * one value and a quotient several, which another formula may narrow down. */
static solution solve_rising(solver *s, const char *formula, uint32_t unknown, int64_t wanted) {
    range *r = &s->ranges[unknown], before = *r;
    int64_t value;
    s->values[unknown] = 0;
    if (!formula_rises(formula, s->request->names[unknown]) || !evaluate(s, formula, &value))
        return UNTOLD;
    int64_t low = first_from(s, formula, unknown, wanted),
            high = first_from(s, formula, unknown, wanted + 1) - 1;
    low = low > r->low ? low : r->low;
    high = high < r->high ? high : r->high;
    if (low > high)
        return IMPOSSIBLE;
    *r = (range){low, high};
    if (low < high)
        return r->low != before.low || r->high != before.high ? NARROWED : UNTOLD;
    s->values[unknown] = r->low;
    s->known[unknown] = KNOWN_BY_ARRAYS;
    return SOLVED;
}

static solution solve(solver *s, const char *formula, uint32_t unknown, int64_t wanted) {
    solution found = solve_line(s, formula, unknown, wanted);
    return found == UNTOLD ? solve_rising(s, formula, unknown, wanted) : found;
}

/* Goes through the shapes once; *progress where a name got its value. */
static bool solve_each(solver *s, bool *progress, status *st) {
    for (uint32_t i = 0; i < s->request->array_count; i++) {
        const shaped_array *a = &s->request->arrays[i];
        for (int axis = 0; axis < a->rank; axis++) {
            uint32_t unknown = 0;
            if (!a->formulas[axis] || unknowns(s, a->formulas[axis], &unknown) != 1)
                continue;
            solution found = solve(s, a->formulas[axis], unknown, a->array->dims[axis]);
            *progress |= found == SOLVED || found == NARROWED;
            if (found == IMPOSSIBLE)
                return no_solution(s, a, axis, unknown, st);
        }
    }
    return true;
}

static bool check_ranks(const solver *s, status *st) {
    for (uint32_t i = 0; i < s->request->array_count; i++)
        if (s->request->arrays[i].rank != s->request->arrays[i].array->rank)
            return misfit(&s->request->arrays[i], "the ranks differ", st);
    return true;
}

/* Formulas not evaluated yet have names that are not known, which are told later. */
static bool check_shapes(const solver *s, status *st) {
    for (uint32_t i = 0; i < s->request->array_count; i++) {
        const shaped_array *a = &s->request->arrays[i];
        for (int axis = 0; axis < a->rank; axis++) {
            uint32_t last;
            int64_t value = a->dims[axis];
            if (a->formulas[axis] && unknowns(s, a->formulas[axis], &last))
                continue;
            if (a->formulas[axis] && !evaluate(s, a->formulas[axis], &value))
                return misfit(a, "a dimension has no value", st);
            if (value != a->array->dims[axis])
                return misfit_at(s, a, axis, value, st);
        }
    }
    return true;
}

static bool take_given(solver *s, status *st) {
    const dims_request *q = s->request;
    for (uint32_t i = 0; i < q->given.count; i++) {
        uint32_t at = 0;
        while (at < q->name_count && strcmp(q->names[at], q->given.items[i].name) != 0)
            at++;
        if (at < q->name_count) {
            s->values[at] = q->given.items[i].value;
            s->known[at] = KNOWN_BY_GIVEN;
            continue;
        }
        text names;
        text_init(&names);
        for (uint32_t k = 0; k < q->name_count; k++)
            text_printf(&names, "%s%s", k ? ", " : "", q->names[k]);
        status_set(st, STATUS_INVALID, "kernel %s has no dimension %.80s; it has %.600s", q->kernel,
                   q->given.items[i].name, q->name_count ? names.data : "none");
        text_release(&names);
        return false;
    }
    return true;
}

bool dims_from_arrays(const dims_request *request, int64_t *values, status *st) {
    solver s = {request, values, base_calloc(request->name_count + 1, 1),
                base_calloc(request->name_count + 1, sizeof(range))};
    for (uint32_t i = 0; i < request->name_count; i++)
        s.ranges[i] = (range){0, DIMENSION_MAX};
    bool ok = take_given(&s, st) && check_ranks(&s, st);
    for (bool progress = true; ok && progress;) {
        progress = false;
        ok = solve_each(&s, &progress, st);
    }
    ok = ok && check_shapes(&s, st);
    for (uint32_t i = 0; ok && i < request->name_count; i++)
        if (!s.known[i])
            ok = tell_unknown(&s, i, st);
    free(s.known);
    free(s.ranges);
    return ok;
}

static shaped_array declared_array(const kernel_arrays *k, uint32_t parameter) {
    ir_module *graph = k->graph;
    const ir_block_data *body = ir_kernel_body(graph);
    const ir_type_data *type = ir_type_of(graph, body->arguments[parameter]);
    shaped_array a = {.name = k->kernel->parameter_names[parameter],
                      .rank = type->rank,
                      .array = &k->arrays[parameter]};
    for (int axis = 0; axis < type->rank; axis++) {
        bool number = ir_dim_is_static(type->dims[axis]);
        a.dims[axis] = number ? type->dims[axis] : 0;
        a.formulas[axis] = number ? NULL : ir_dim_text(graph, type->dims[axis]);
    }
    return a;
}

bool dims_of_kernel(const kernel_arrays *k, ir_bindings given, const char *given_by,
                    int64_t *values, status *st) {
    shaped_array *arrays = base_calloc(k->kernel->parameter_count + 1, sizeof *arrays);
    for (uint32_t i = 0; i < k->kernel->parameter_count; i++)
        arrays[i] = declared_array(k, i);
    dims_request request = {.kernel = k->kernel->name,
                            .names = k->kernel->dim_names,
                            .name_count = k->kernel->dim_count,
                            .arrays = arrays,
                            .array_count = k->kernel->parameter_count,
                            .given = given,
                            .given_by = given_by};
    bool ok = dims_from_arrays(&request, values, st);
    free(arrays);
    return ok;
}
