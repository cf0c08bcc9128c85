/* bmf.c - Bencher Metric Format: benchmark -> measure -> {value, lower_value, upper_value}.
 *
 * `latency` (ns) and `throughput` (launches a second) are measures that every Bencher project has;
 * `compile-time` (ns) is one of ours, of modules that were compiled and not read from the cache.
 * What was not timed is left out. */
#include <math.h>

#include "job/result.h"
#include "report/export/export.h"

static const double ns_per_s = 1e9;

static json_t *measure(double value, double low, double high) {
    json_t *made = json_pack("{s:f}", "value", value);
    if (!isnan(low) && !isnan(high)) {
        json_object_set_new(made, "lower_value", json_real(low));
        json_object_set_new(made, "upper_value", json_real(high));
    }
    return made;
}

static json_t *measures_of(const json_t *result, double median) {
    double low = result_number(result, RESULT_LOW), high = result_number(result, RESULT_HIGH),
           compile_ns = result_number(result, RESULT_COMPILE);
    json_t *made = json_object();
    json_object_set_new(made, "latency", measure(median, low, high));
    json_object_set_new(made, "throughput",
                        measure(ns_per_s / median, ns_per_s / high, ns_per_s / low));
    if (!isnan(compile_ns) && json_is_false(result_get(result, RESULT_COMPILE_CACHED)))
        json_object_set_new(made, "compile-time", measure(compile_ns, NAN, NAN));
    return made;
}

void export_bmf(const json_t *document, text *out) {
    json_t *benchmarks = json_object(), *result;
    size_t i;
    json_array_foreach(json_object_get(document, "results"), i, result) {
        double median = export_median(result);
        if (isnan(median))
            continue;
        text name;
        text_init(&name);
        export_name(result, &name);
        json_object_set_new(benchmarks, name.data, measures_of(result, median));
        text_release(&name);
    }
    export_append_document(out, benchmarks);
}
