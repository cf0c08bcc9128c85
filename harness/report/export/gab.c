/* gab.c - github-action-benchmark's customSmallerIsBetter: an array of {name, unit, value, range,
 * extra}. The value is the median in ns. What was not timed is left out. */
#include <math.h>

#include "job/job.h"
#include "job/result.h"
#include "report/export/export.h"

static json_t *entry_of(const json_t *result, double median) {
    text name, range, extra;
    text_init(&name);
    text_init(&range);
    text_init(&extra);
    export_name(result, &name);
    text_printf(&range, "%.6g to %.6g", result_number(result, RESULT_LOW),
                result_number(result, RESULT_HIGH));
    text_printf(&extra, "%g samples, confidence %.4g\nGFLOP/s %.4g, GB/s %.4g\nmodule %s",
                result_number(result, RESULT_SAMPLES), result_number(result, RESULT_CONFIDENCE),
                result_number(result, RESULT_GFLOPS), result_number(result, RESULT_GBPS),
                result_text(result, RESULT_MODULE_HASH));
    json_t *entry = json_pack("{s:s, s:s, s:f, s:s, s:s}", "name", name.data, "unit", "ns", "value",
                              median, "range", range.data, "extra", extra.data);
    text_release(&name);
    text_release(&range);
    text_release(&extra);
    return entry;
}

void export_gab(const json_t *document, text *out) {
    json_t *list = json_array(), *result;
    size_t i;
    json_array_foreach(json_object_get(document, "results"), i, result) {
        double median = export_median(result);
        if (!isnan(median))
            json_array_append_new(list, entry_of(result, median));
    }
    export_append_document(out, list);
}
