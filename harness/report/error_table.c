/* error_table.c - collects the worst errors and prints them. */
#include "report/error_table.h"

#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include "base/escape.h"
#include "common/json_text.h"
#include "job/job.h"
#include "job/result.h"

static const result_field keys[] = {RESULT_KERNEL, RESULT_BACKEND, RESULT_PROFILE, RESULT_TYPE};
enum { KEYS = 4 };

static bool same_row(const json_t *row, const json_t *result) {
    for (int i = 0; i < KEYS; i++)
        if (strcmp(result_text(row, keys[i]), result_text(result, keys[i])) != 0)
            return false;
    return true;
}

static json_t *row_of(json_t *rows, const json_t *result) {
    size_t i;
    json_t *row;
    json_array_foreach(rows, i, row) if (same_row(row, result)) return row;
    row = json_pack("{s:i, s:i, s:f}", "cases", 0, "max_ulp_f64", 0, "max_error_over_bound", 0.0);
    for (int k = 0; k < KEYS; k++)
        result_set(row, keys[k], json_string(result_text(result, keys[k])));
    json_array_append_new(rows, row);
    return row;
}

static void keep_greater(json_t *row, const json_t *result, result_field field) {
    const char *name = result_fields[field].inner;
    json_t *value = result_get(result, field);
    if (json_is_number(value) &&
        json_number_value(value) > json_number_value(json_object_get(row, name)))
        json_object_set(row, name, value);
}

json_t *error_table_json(const json_t *results) {
    json_t *rows = json_array(), *result;
    size_t i;
    json_array_foreach(results, i, result) {
        if (!json_is_number(result_get(result, RESULT_MAX_ERROR)))
            continue;
        json_t *row = row_of(rows, result), *cases = json_object_get(row, "cases");
        json_integer_set(cases, json_integer_value(cases) + 1);
        keep_greater(row, result, RESULT_MAX_ULP_F64);
        keep_greater(row, result, RESULT_MAX_ERROR);
    }
    return rows;
}

void error_table_print(const json_t *results, text *out) {
    json_t *rows = error_table_json(results), *row;
    size_t i, width = strlen("kernel");
    json_array_foreach(rows, i, row) {
        size_t length = strlen(json_text_at(row, "kernel"));
        width = length > width ? length : width;
    }
    if (json_array_size(rows))
        text_show(out,
                  "\nerror against f64 by type, the worst of all cases:\n%-*s %-7s %-13s %-9s "
                  "%5s  %10s  %s\n",
                  (int)width, "kernel", "backend", "profile", "type", "cases", "ULP",
                  "error / bound");
    json_array_foreach(rows, i, row) {
        int64_t ulp = json_integer_value(json_object_get(row, "max_ulp_f64"));
        char words[32] = "-";
        if (ulp <= ERROR_TABLE_ULP)
            snprintf(words, sizeof words, "%" PRId64, ulp);
        text_show(out, "%-*s %-7s %-13s %-9s %5" JSON_INTEGER_FORMAT "  %10s  %.3g\n", (int)width,
                  json_text_at(row, "kernel"), json_text_at(row, "backend"),
                  json_text_at(row, "profile"), json_text_at(row, "type"),
                  json_integer_value(json_object_get(row, "cases")), words,
                  json_number_value(json_object_get(row, "max_error_over_bound")));
    }
    if (json_array_size(rows))
        text_append_char(out, '\n');
    json_decref(rows);
}
