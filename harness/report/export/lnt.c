/* lnt.c - a report for LLVM's LNT, format version 2, with the metrics of its test suite `nts`:
 * https://llvm.org/docs/lnt/importing_data.html#lnt-report-file-format
 *
 * Times are in seconds; several samples of a metric are a list. The order of runs is that of
 * `llvm_project_revision`, which here is the commit of tsr. The end of a run is not known, and is
 * its start, as the format asks for. execution_status: 0 pass, 1 fail. */
#include <math.h>
#include <string.h>

#include "common/json_text.h"
#include "job/job.h"
#include "job/result.h"
#include "report/export/export.h"

static const double s_per_ns = 1e-9;

static json_t *times_of(const json_t *document, const char *name, double median) {
    const json_t *samples = export_samples(document, name);
    if (!samples)
        return json_real(median * s_per_ns);
    json_t *list = json_array(), *value;
    size_t i;
    json_array_foreach((json_t *)samples, i, value)
        json_array_append_new(list, json_real(json_number_value(value) * s_per_ns));
    return list;
}

static json_t *test_of(const json_t *document, const json_t *result) {
    double median = export_median(result), compile_ns = result_number(result, RESULT_COMPILE);
    text name;
    text_init(&name);
    export_name(result, &name);
    json_t *test = json_pack("{s:s}", "name", name.data);
    if (!isnan(median))
        json_object_set_new(test, "execution_time", times_of(document, name.data, median));
    json_object_set_new(test, "execution_status",
                        json_integer(outcome_is_failure(result_outcome(result))));
    if (!isnan(compile_ns) && json_is_false(result_get(result, RESULT_COMPILE_CACHED)))
        json_object_set_new(test, "compile_time", json_real(compile_ns * s_per_ns));
    if (export_value(result, "module_hash", NULL))
        json_object_set(test, "hash", result_get(result, RESULT_MODULE_HASH));
    text_release(&name);
    return test;
}

static bool was_run(const json_t *result) {
    job_outcome o = result_outcome(result);
    return o != OUTCOME_SKIPPED && o != OUTCOME_UNSUPPORTED && o != OUTCOME_UNJUDGED;
}

static json_t *machine_of(const json_t *host) {
    text name;
    text_init(&name);
    text_printf(&name, "%s %s", json_text_at(host, "cpu"), json_text_at(host, "isa"));
    json_t *machine = json_pack("{s:s, s:O, s:O}", "name", name.data, "hardware",
                                json_object_get(host, "cpu"), "os", json_object_get(host, "os"));
    text_release(&name);
    return machine;
}

static json_t *run_of(const json_t *document) {
    const json_t *program = json_object_get(document, "tsr");
    const char *started = json_text_at(document, "started");
    size_t length = strcspn(started, "Z");
    return json_pack("{s:s%, s:s%, s:s, s:s, s:s, s:s}", "start_time", started, length, "end_time",
                     started, length, "llvm_project_revision", json_text_at(program, "commit"),
                     "tsr_run", json_text_at(document, "run"), "tsr_version",
                     json_text_at(program, "version"), "llvm_version",
                     json_text_at(program, "llvm"));
}

void export_lnt(const json_t *document, text *out) {
    json_t *tests = json_array(), *result;
    size_t i;
    json_array_foreach(json_object_get(document, "results"), i, result) {
        if (was_run(result))
            json_array_append_new(tests, test_of(document, result));
    }
    export_append_document(out, json_pack("{s:s, s:o, s:o, s:o}", "format_version", "2", "machine",
                                          machine_of(json_object_get(document, "host")), "run",
                                          run_of(document), "tests", tests));
}
