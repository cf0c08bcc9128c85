/* gbench.c - Google Benchmark's JSON, as its reporter writes it and its tools/compare.py reads it.
 *
 * Each sample is a repetition of run_type "iteration", the median an aggregate behind them; where
 * single samples are not at hand, the median is the one repetition, too. cpu_time repeats
 * real_time: kernels are timed by the wall clock, and compare.py asks for both. compare.py wants a
 * time of every entry, so a failed result is none: it stands in context.failed with the reason. */
#include <math.h>
#include <stdlib.h>

#include "common/json_text.h"
#include "job/job.h"
#include "job/result.h"
#include "report/export/export.h"

static json_t *context_of(const json_t *document) {
    const json_t *host = json_object_get(document, "host");
    json_t *caches = json_array(), *cache;
    size_t i;
    json_array_foreach(json_object_get(host, "caches"), i, cache) {
        const char *level = json_text_at(cache, "level");
        json_array_append_new(caches, json_pack("{s:s, s:i, s:O}", "type",
                                                level[1] == '1' ? "Data" : "Unified", "level",
                                                level[0] == 'L' ? atoi(level + 1) : 0, "size",
                                                json_object_get(cache, "bytes")));
    }
    return json_pack("{s:O, s:s, s:O, s:o, s:O, s:O, s:O}", "date",
                     json_object_get(document, "started"), "executable", "tsr bench", "num_cpus",
                     json_object_get(host, "cores"), "caches", caches, "cpu",
                     json_object_get(host, "cpu"), "tsr_run", json_object_get(document, "run"),
                     "tsr", json_object_get(document, "tsr"));
}

/* Beginning that all entries of a result share. */
static json_t *entry_of(const json_t *result, const char *name, const char *suffix,
                        const char *type) {
    text full;
    text_init(&full);
    text_printf(&full, "%s%s", name, suffix);
    json_t *entry = json_pack("{s:s, s:s, s:s, s:O}", "name", full.data, "run_name", name,
                              "run_type", type, "threads", result_get(result, RESULT_THREADS));
    text_release(&full);
    return entry;
}

static void put_time(json_t *entry, const json_t *result, double ns) {
    double flops = result_number(result, RESULT_FLOPS), bytes = result_number(result, RESULT_BYTES);
    json_object_set_new(entry, "real_time", json_real(ns));
    json_object_set_new(entry, "cpu_time", json_real(ns));
    json_object_set_new(entry, "time_unit", json_string("ns"));
    if (!isnan(bytes))
        json_object_set_new(entry, "bytes_per_second", json_real(bytes / ns * 1e9));
    if (!isnan(flops))
        json_object_set_new(entry, "FLOP/s", json_real(flops / ns * 1e9));
}

static void put_samples(json_t *list, const json_t *result, const char *name,
                        const json_t *samples) {
    size_t i, count = json_array_size(samples);
    json_t *value;
    json_array_foreach((json_t *)samples, i, value) {
        json_t *entry = entry_of(result, name, "", "iteration");
        json_object_set_new(entry, "repetitions", json_integer((json_int_t)count));
        json_object_set_new(entry, "repetition_index", json_integer((json_int_t)i));
        json_object_set_new(entry, "iterations", json_integer(1));
        put_time(entry, result, json_number_value(value));
        json_array_append_new(list, entry);
    }
}

static void put_median(json_t *list, const json_t *result, const char *name, double median) {
    json_t *entry = entry_of(result, name, "_median", "aggregate"),
           *samples = (json_t *)export_value(result, "time_ns", "samples");
    json_object_set_new(entry, "aggregate_name", json_string("median"));
    json_object_set_new(entry, "aggregate_unit", json_string("time"));
    json_object_set(entry, "repetitions", samples);
    json_object_set(entry, "iterations", samples);
    put_time(entry, result, median);
    json_array_append_new(list, entry);
}

static void put_result(json_t *list, const json_t *document, const json_t *result) {
    double median = export_median(result);
    text name;
    text_init(&name);
    export_name(result, &name);
    if (!isnan(median)) {
        json_t *single = json_pack("[f]", median);
        const json_t *samples = export_samples(document, name.data);
        put_samples(list, result, name.data, samples ? samples : single);
        put_median(list, result, name.data, median);
        json_decref(single);
    }
    text_release(&name);
}

/* Name -> why. */
static json_t *failures_of(const json_t *document) {
    json_t *failed = json_object(), *result;
    size_t i;
    json_array_foreach(json_object_get(document, "results"), i, result) {
        const char *why = result_text(result, RESULT_WHY);
        if (!outcome_is_failure(result_outcome(result)))
            continue;
        text name;
        text_init(&name);
        export_name(result, &name);
        json_object_set_new(failed, name.data,
                            json_string(*why ? why : result_text(result, RESULT_STATUS)));
        text_release(&name);
    }
    return failed;
}

void export_gbench(const json_t *document, text *out) {
    json_t *list = json_array(), *context = context_of(document), *result;
    size_t i;
    json_array_foreach(json_object_get(document, "results"), i, result)
        put_result(list, document, result);
    json_object_set_new(context, "failed", failures_of(document));
    export_append_document(out, json_pack("{s:o, s:o}", "context", context, "benchmarks", list));
}
