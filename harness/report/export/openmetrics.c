/* openmetrics.c - OpenMetrics 1.0 text, for a push gateway or a textfile collector.
 *
 * One family for each quantity, with the result's name as labels. Times are in seconds, as the
 * format's base units ask for. Values that a result lacks have no sample. */
#include <math.h>
#include <string.h>

#include "common/json_text.h"
#include "job/job.h"
#include "job/result.h"
#include "report/export/export.h"

/* One sample of a family: the value of a path of keys, scaled, with a label of its own. */
typedef struct part {
    const char *label, *outer, *inner;
} part;
typedef struct family {
    const char *name, *unit, *help;
    double scale;
    const char *distinction; /* the name of the label that tells the parts apart, or NULL */
    part parts[4];
} family;

static const family bench_families[] = {
    {"tsr_time_seconds",
     "seconds",
     "Time of one launch; low and high bound the true median.",
     1e-9,
     "stat",
     {{"median", "time_ns", "median"},
      {"low", "time_ns", "low"},
      {"high", "time_ns", "high"},
      {"min", "time_ns", "min"}}},
    {"tsr_time_confidence_ratio",
     "ratio",
     "Confidence of the interval of the median.",
     1,
     NULL,
     {{"", "time_ns", "confidence"}}},
    {"tsr_arithmetic_flops_per_second",
     "flops_per_second",
     "Floating-point operations a second at the median.",
     1e9,
     NULL,
     {{"", "rate", "gflops"}}},
    {"tsr_memory_bytes_per_second",
     "bytes_per_second",
     "Bytes of inputs and outputs a second at the median.",
     1e9,
     NULL,
     {{"", "rate", "gbps"}}},
    {"tsr_roofline_ratio",
     "ratio",
     "Least possible time over the measured one.",
     1,
     NULL,
     {{"", "roofline", "fraction"}}},
    {"tsr_compile_seconds",
     "seconds",
     "From a checked graph to a module, or the time to read it from the cache.",
     1e-9,
     NULL,
     {{"", "compile_ns", NULL}}},
};

static const family gate_families[] = {
    {"tsr_gate_change_ratio",
     "ratio",
     "Relative change of the time of one launch; positive is slower.",
     1,
     "stat",
     {{"estimate", "change", "estimate"}, {"low", "change", "low"}, {"high", "change", "high"}}},
    {"tsr_gate_mde_ratio", "ratio", "Minimum detectable effect.", 1, NULL, {{"", "mde", NULL}}},
    {"tsr_gate_pairs", NULL, "Swapped pairs of processes.", 1, NULL, {{"", "pairs", NULL}}},
    {"tsr_gate_time_seconds",
     "seconds",
     "Median time of one launch of each side.",
     1e-9,
     "side",
     {{"baseline", "baseline_ns", NULL}, {"against", "against_ns", NULL}}},
};

static void label(const char *name, const char *value, text *out) {
    bool first = out->data[out->length - 1] == '{';
    text words;
    text_init(&words);
    export_words(value, &words);
    text_printf(out, "%s%s=\"", first ? "" : ",", name);
    for (const char *p = words.data; *p; p++) {
        if (*p == '\\' || *p == '"')
            text_append_char(out, '\\');
        if (*p == '\n')
            text_append(out, "\\n");
        else
            text_append_char(out, *p);
    }
    text_append_char(out, '"');
    text_release(&words);
}

/* NAME{kernel=...,threads=...; the brace stays open. */
static void begin(const char *name, const json_t *result, text *out) {
    static const char *const labels[] = {"kernel", "case", "backend", "profile"};
    text_printf(out, "%s{", name);
    for (size_t i = 0; i < sizeof labels / sizeof *labels; i++)
        label(labels[i], json_text_at(result, labels[i]), out);
    const json_t *threads = export_value(result, "threads", NULL);
    if (threads) {
        text digits;
        text_init(&digits);
        text_printf(&digits, "%" JSON_INTEGER_FORMAT, json_integer_value(threads));
        label("threads", digits.data, out);
        text_release(&digits);
    }
}

static void head(const char *name, const char *type, const char *unit, const char *help,
                 text *out) {
    text_printf(out, "# TYPE %s %s\n", name, type);
    if (unit)
        text_printf(out, "# UNIT %s %s\n", name, unit);
    text_printf(out, "# HELP %s %s\n", name, help);
}

/* Numbers of a result that is wrong are none. */
static void put_samples(const family *f, const json_t *result, text *out) {
    if (*result_text(result, RESULT_STATUS) && result_outcome(result) != OUTCOME_OK)
        return;
    for (size_t i = 0; i < sizeof f->parts / sizeof *f->parts && f->parts[i].label; i++) {
        double value = export_number(result, f->parts[i].outer, f->parts[i].inner);
        if (isnan(value))
            continue;
        begin(f->name, result, out);
        if (f->distinction)
            label(f->distinction, f->parts[i].label, out);
        text_printf(out, "} %.10g\n", value * f->scale);
    }
}

static void put_families(const json_t *document, const family *families, size_t count, text *out) {
    size_t k;
    json_t *result;
    for (size_t i = 0; i < count; i++) {
        head(families[i].name, "gauge", families[i].unit, families[i].help, out);
        json_array_foreach(json_object_get(document, "results"), k, result)
            put_samples(&families[i], result, out);
    }
}

/* Outcomes are a state set: of all states of a result exactly one is 1. */
static void put_states(const json_t *document, const char *name, const char *key,
                       const char *const *states, text *out) {
    size_t k;
    json_t *result;
    head(name, "stateset", NULL, "What came of it.", out);
    json_array_foreach(json_object_get(document, "results"), k, result) {
        for (size_t i = 0; states[i]; i++) {
            begin(name, result, out);
            label(name, states[i], out);
            text_printf(out, "} %d\n", strcmp(json_text_at(result, key), states[i]) == 0);
        }
    }
}

static void put_facts(const json_t *document, const char *name, const char *identity, text *out) {
    const json_t *program = json_object_get(document, "tsr"),
                 *host = json_object_get(document, "host");
    head(name, "info", NULL, "What was run, by what, where.", out);
    text_printf(out, "%s_info{", name);
    label(identity, json_text_at(document, identity), out);
    label("version", json_text_at(program, "version"), out);
    label("commit", json_text_at(program, "commit"), out);
    label("kernels_commit", json_text_at(json_object_get(document, "origin"), "commit"), out);
    label("build", json_text_at(program, "build"), out);
    label("llvm", json_text_at(program, "llvm"), out);
    label("cpu", json_text_at(host, "cpu"), out);
    label("isa", json_text_at(host, "isa"), out);
    label("os", json_text_at(host, "os"), out);
    text_append(out, "} 1\n");
}

void export_openmetrics(const json_t *document, text *out) {
    static const char *const outcomes[] = {
#define OUTCOME(id, name, ...) name,
#include "job/outcome.def"
#undef OUTCOME
        NULL};
    static const char *const verdicts[] = {"REGRESSED",    "IMPROVED", "EQUIVALENT",
                                           "INCONCLUSIVE", "FAILED",   NULL};
    if (export_schema(document) == EXPORT_GATE) {
        put_facts(document, "tsr_gate", "gate", out);
        put_states(document, "tsr_gate_verdict", "verdict", verdicts, out);
        put_families(document, gate_families, sizeof gate_families / sizeof *gate_families, out);
    } else {
        put_facts(document, "tsr_run", "run", out);
        put_states(document, "tsr_result", "status", outcomes, out);
        put_families(document, bench_families, sizeof bench_families / sizeof *bench_families, out);
    }
    text_append(out, "# EOF\n");
}
