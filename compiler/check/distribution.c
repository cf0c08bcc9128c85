/* distribution.c - the inputs of a case: normal(mean, stddev), uniform(lo, hi), integers(lo, hi),
 * constant(value), special(). */
#include <math.h>
#include <string.h>

#include "check/cases.h"
#include "source/parser.h"

typedef struct distribution_row {
    const char *name;
    compiler_input_kind kind;
    const char *parameters[2];
    double defaults[2];
    uint32_t required, count;
} distribution_row;

static const distribution_row rows[] = {
    {"normal", INPUT_NORMAL, {"mean", "stddev"}, {0, 1}, 0, 2},
    {"uniform", INPUT_UNIFORM, {"lo", "hi"}, {0, 1}, 2, 2},
    {"integers", INPUT_INTEGERS, {"lo", "hi"}, {0, 1}, 2, 2},
    {"constant", INPUT_CONSTANT, {"value", ""}, {0, 0}, 1, 1},
    {"zeros", INPUT_CONSTANT, {"", ""}, {0, 0}, 0, 0},
    {"ones", INPUT_CONSTANT, {"", ""}, {1, 0}, 0, 0},
    {"special", INPUT_SPECIAL, {"", ""}, {0, 0}, 0, 0},
};
enum { ROW_COUNT = sizeof(rows) / sizeof(rows[0]) };

bool distribution_signature(size_t number, const char **name, text *out) {
    if (number >= ROW_COUNT)
        return false;
    *name = rows[number].name;
    for (uint32_t i = 0; i < rows[number].count; i++) {
        text_printf(out, "%s%s", i ? ", " : "", rows[number].parameters[i]);
        if (i >= rows[number].required)
            text_printf(out, "=%g", rows[number].defaults[i]);
    }
    return true;
}

compiler_input default_input(dtype type) {
    const int bits = dtype_integer_bits(type);
    if (dtype_is_float(type))
        return (compiler_input){INPUT_NORMAL, 0, 1};
    if (bits > 8)
        return (compiler_input){INPUT_INTEGERS, 0, 100};
    return (compiler_input){INPUT_INTEGERS, (double)dtype_lowest(type),
                            (double)dtype_highest(type) + 1};
}

static const distribution_row *find_row(case_reader *r, const node *n) {
    const char *names[ROW_COUNT];
    const char *word = n->kind == NODE_CALL && n->left->kind == NODE_NAME ? n->left->text : "";
    for (size_t i = 0; i < ROW_COUNT; i++) {
        names[i] = rows[i].name;
        if (strcmp(names[i], word) == 0)
            return &rows[i];
    }
    diagnose_error(r->report, ERROR_DISTRIBUTION, n->at, "expected a distribution");
    if (!word[0] || !diagnose_nearest(r->report, word, names, ROW_COUNT)) {
        diagnose_help(r->report, "normal(mean, stddev), uniform(lo, hi), integers(lo, hi), "
                                 "constant(value), zeros(), ones() or special()");
    }
    return NULL;
}

/* A number, or a dimension expression, quoted or not. */
static bool read_number(case_reader *r, const node *n, double *out) {
    const node *value = n;
    if (n->kind == NODE_STRING && n->at.end - n->at.start == strlen(n->text) + 2 && n->text[0]) {
        value = parse_quoted(&r->source->text, (span){n->at.start + 1, n->at.end - 1},
                             &r->source->memory, r->report);
        if (!value)
            return false;
    }
    entity e = check_expression(&r->scope, value);
    if (e.kind != ENTITY_NUMBER && e.kind != ENTITY_BOOL) {
        if (e.kind != ENTITY_BROKEN) {
            diagnose_error(r->report, ERROR_DISTRIBUTION_VALUE, n->at, "expected a number, not %s",
                           entity_describe(&e));
        }
        return false;
    }
    *out = e.kind == ENTITY_BOOL ? (double)e.integer : number_value(&e);
    return true;
}

static bool read_values(case_reader *r, const node *n, const distribution_row *row,
                        double *values) {
    bool given[2] = {false, false};
    for (uint32_t i = 0; i < n->count; i++) {
        const node *item = n->items[i];
        bool named = item->kind == NODE_KEYWORD;
        uint32_t at = i;
        for (uint32_t k = 0; named && k < 3; k++) {
            at = k;
            if (k < row->count && strcmp(row->parameters[k], item->text) == 0)
                break;
        }
        if (at >= row->count || given[at]) {
            diagnose_error(r->report, ERROR_DISTRIBUTION_ARGUMENT, item->at,
                           "%s() cannot take this argument", row->name);
            return false;
        }
        given[at] = true;
        if (!read_number(r, named ? item->left : item, &values[at]))
            return false;
    }
    for (uint32_t i = 0; i < row->required; i++) {
        if (!given[i]) {
            diagnose_error(r->report, ERROR_DISTRIBUTION_ARGUMENT, n->at, "%s() needs '%s'",
                           row->name, row->parameters[i]);
            return false;
        }
    }
    return true;
}

static bool integer_bounds(dtype type, double *lowest, double *highest) {
    const bool whole = !dtype_is_float(type);
    const dtype widest = whole && dtype_size(type) < 4 ? type : DTYPE_I32;
    *lowest = dtype_is_unsigned(type) ? 0 : (double)dtype_lowest(widest);
    *highest = (double)dtype_highest(widest);
    return whole;
}

static bool range_fits(case_reader *r, const node *n, const compiler_input *in, dtype type) {
    double lowest, highest, last = in->kind == INPUT_CONSTANT ? in->a : in->b - 1;
    bool whole = integer_bounds(type, &lowest, &highest);
    if (in->kind == INPUT_INTEGERS && (in->a != floor(in->a) || in->b != floor(in->b))) {
        diagnose_error(r->report, ERROR_DISTRIBUTION_VALUE, n->at, "integers() needs integers");
        return false;
    }
    if (in->kind == INPUT_CONSTANT && (!whole || in->a == floor(in->a)) &&
        (!whole || (in->a >= lowest && in->a <= highest)))
        return true;
    if (in->kind == INPUT_INTEGERS && in->a >= lowest && last <= highest)
        return true;
    diagnose_error(r->report, ERROR_DISTRIBUTION_TYPE, n->at, "these values do not fit %s",
                   dtype_name(type));
    return false;
}

static bool check_values(case_reader *r, const node *n, const compiler_input *in, dtype type) {
    bool continuous = in->kind == INPUT_NORMAL || in->kind == INPUT_UNIFORM;
    if (in->kind == INPUT_SPECIAL)
        return true;
    if (continuous && !dtype_is_float(type)) {
        diagnose_error(r->report, ERROR_DISTRIBUTION_TYPE, n->at,
                       "%s values do not fit a parameter of type %s",
                       in->kind == INPUT_NORMAL ? "normal" : "uniform", dtype_name(type));
        diagnose_help(r->report, "write integers(lo, hi)");
        return false;
    }
    if (in->kind != INPUT_CONSTANT && (!isfinite(in->a) || !isfinite(in->b))) {
        diagnose_error(r->report, ERROR_DISTRIBUTION_VALUE, n->at,
                       "the numbers of a distribution must be finite");
        return false;
    }
    if (in->kind == INPUT_NORMAL && in->b < 0) {
        diagnose_error(r->report, ERROR_DISTRIBUTION_VALUE, n->at,
                       "a standard deviation cannot be negative");
        return false;
    }
    if ((in->kind == INPUT_UNIFORM || in->kind == INPUT_INTEGERS) && in->a >= in->b) {
        diagnose_error(r->report, ERROR_DISTRIBUTION_VALUE, n->at,
                       "this range is empty: lo is %.17g, hi is %.17g", in->a, in->b);
        return false;
    }
    return continuous || range_fits(r, n, in, type);
}

bool distribution_read(case_reader *r, const node *n, dtype type, compiler_input *out) {
    const distribution_row *row = find_row(r, n);
    if (!row)
        return false;
    double values[2] = {row->defaults[0], row->defaults[1]};
    if (!read_values(r, n, row, values))
        return false;
    *out = (compiler_input){row->kind, values[0], values[1]};
    return check_values(r, n, out, type);
}
