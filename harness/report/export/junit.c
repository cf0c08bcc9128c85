/* junit.c - JUnit XML: a suite for each kernel, a test case for each result.
 *
 * The dialect is what Jenkins, GitLab and others read: properties, then test cases, each with at
 * most one of <failure>, <error> and <skipped> and then <system-out>. Of a run, `time` is the
 * median of one launch in seconds; of a gate, that of the side that is judged. A wrong result and a
 * regression are failures; what gave no result or no verdict is an error. */
#include <math.h>
#include <string.h>

#include "common/json_text.h"
#include "job/job.h"
#include "job/result.h"
#include "report/export/export.h"
#include "report/export/xml.h"

/* status or verdict -> element; what is not listed has passed */
static const struct outcome {
    const char *name, *element;
} outcomes[] = {
    {"mismatch", "failure"},    {"unjudged", "error"},    {"error", "error"},
    {"crash", "error"},         {"timeout", "error"},     {"skipped", "skipped"},
    {"unsupported", "skipped"}, {"REGRESSED", "failure"}, {"FAILED", "error"},
    {"INCONCLUSIVE", "error"},
};

static const char *outcome_of(const json_t *result) {
    const char *verdict = json_text_at(result, "verdict");
    return *verdict ? verdict : result_text(result, RESULT_STATUS);
}

static const char *element_of(const json_t *result) {
    const char *name = outcome_of(result);
    for (size_t i = 0; i < sizeof outcomes / sizeof *outcomes; i++)
        if (strcmp(outcomes[i].name, name) == 0)
            return outcomes[i].element;
    return NULL;
}

typedef struct counts {
    size_t tests, failures, errors, skipped;
} counts;

/* Counts the results of one kernel; of all where `kernel` is NULL. */
static counts count(const json_t *results, const char *kernel) {
    counts c = {0};
    size_t i;
    json_t *result;
    json_array_foreach((json_t *)results, i, result) {
        const char *element = element_of(result);
        if (kernel && strcmp(result_text(result, RESULT_KERNEL), kernel) != 0)
            continue;
        c.tests++;
        c.failures += element && strcmp(element, "failure") == 0;
        c.errors += element && strcmp(element, "error") == 0;
        c.skipped += element && strcmp(element, "skipped") == 0;
    }
    return c;
}

static void put_counts(const counts *c, text *out) {
    text_printf(out, " tests=\"%zu\" failures=\"%zu\" errors=\"%zu\"", c->tests, c->failures,
                c->errors);
}

static void property(const char *name, const json_t *value, text *out) {
    if (!json_is_string(value))
        return;
    text_append(out, "      <property");
    xml_attribute("name", name, out);
    xml_attribute("value", json_string_value(value), out);
    text_append(out, "/>\n");
}

static void properties(const json_t *document, text *out) {
    static const struct {
        const char *name, *outer, *inner;
    } rows[] = {{"run", "run", NULL},
                {"gate", "gate", NULL},
                {"command", "origin", "command"},
                {"corpus", "origin", "corpus"},
                {"commit", "origin", "commit"},
                {"tsr.version", "tsr", "version"},
                {"tsr.commit", "tsr", "commit"},
                {"tsr.build", "tsr", "build"},
                {"tsr.llvm", "tsr", "llvm"},
                {"host.cpu", "host", "cpu"},
                {"host.isa", "host", "isa"},
                {"host.os", "host", "os"},
                {"baseline", "baseline", "name"},
                {"against", "against", "name"}};
    text_append(out, "    <properties>\n");
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++)
        property(rows[i].name, export_value(document, rows[i].outer, rows[i].inner), out);
    text_append(out, "    </properties>\n");
}

static double seconds_of(const json_t *result) {
    double ns = export_number(result, "against_ns", NULL);
    return (isnan(ns) ? export_median(result) : ns) * 1e-9;
}

/* Why it did not pass: the first line is the message, the whole the element's text. What changed in
 * a gate stands before it. */
static void put_outcome(const json_t *result, const char *element, text *out) {
    const char *why = result_text(result, RESULT_WHY), *reason = json_text_at(result, "reason");
    why = *why ? why : reason;
    text line, whole;
    text_init(&line);
    text_init(&whole);
    export_change(result, &whole);
    text_printf(&whole, "%s%s", whole.length && *why ? ": " : "", why);
    text_append_bytes(&line, whole.data, strcspn(whole.data, "\n"));
    text_printf(out, "      <%s", element);
    if (strcmp(element, "skipped") != 0)
        xml_attribute("type", outcome_of(result), out);
    xml_attribute("message", line.data, out);
    text_append_char(out, '>');
    xml_text(whole.data, out);
    text_printf(out, "</%s>\n", element);
    text_release(&whole);
    text_release(&line);
}

/* Puts what a reader of the report would look up next. */
static void put_measurement(const json_t *result, text *out) {
    static const char *const names[] = {"time_ns", "rate",        "roofline",  "check",
                                        "change",  "mde",         "pairs",     "tier",
                                        "reason",  "baseline_ns", "against_ns"};
    text words;
    text_init(&words);
    for (size_t i = 0; i < sizeof names / sizeof *names; i++) {
        const json_t *value = export_value(result, names[i], NULL);
        if (!value)
            continue;
        text_printf(&words, "%s: ", names[i]);
        export_append_json(&words, value, JSON_COMPACT);
        text_append_char(&words, '\n');
    }
    text_append(out, "      <system-out>");
    xml_text(words.data, out);
    text_append(out, "</system-out>\n");
    text_release(&words);
}

/* The result's name without its kernel, which is the class. */
static void put_case(const json_t *result, text *out) {
    const char *kernel = result_text(result, RESULT_KERNEL), *element = element_of(result);
    double seconds = seconds_of(result);
    text name;
    text_init(&name);
    export_name(result, &name);
    text_append(out, "    <testcase");
    xml_attribute("classname", kernel, out);
    xml_attribute("name", name.data + strlen(kernel) + 1, out);
    if (!isnan(seconds))
        text_printf(out, " time=\"%.9g\"", seconds);
    text_append(out, ">\n");
    if (element)
        put_outcome(result, element, out);
    put_measurement(result, out);
    text_append(out, "    </testcase>\n");
    text_release(&name);
}

static void put_suite(const json_t *document, const char *kernel, text *out) {
    const json_t *results = json_object_get(document, "results");
    const char *started = json_text_at(document, "started");
    counts c = count(results, kernel);
    size_t i;
    json_t *result;
    text_append(out, "  <testsuite");
    xml_attribute("name", kernel, out);
    put_counts(&c, out);
    text_printf(out, " skipped=\"%zu\"", c.skipped);
    if (*started) {
        text local;
        text_init(&local);
        text_append_bytes(&local, started, strcspn(started, "Z"));
        xml_attribute("timestamp", local.data, out);
        text_release(&local);
    }
    text_append(out, ">\n");
    properties(document, out);
    json_array_foreach((json_t *)results, i, result) {
        if (strcmp(result_text(result, RESULT_KERNEL), kernel) == 0)
            put_case(result, out);
    }
    text_append(out, "  </testsuite>\n");
}

void export_junit(const json_t *document, text *out) {
    const json_t *results = json_object_get(document, "results");
    counts c = count(results, NULL);
    json_t *seen = json_object(), *result;
    size_t i;
    text_append(out, "<?xml version=\"1.0\" encoding=\"UTF-8\"?>\n<testsuites");
    xml_attribute("name", export_schema(document) == EXPORT_GATE ? "tsr gate" : "tsr bench", out);
    put_counts(&c, out);
    text_append(out, ">\n");
    json_array_foreach((json_t *)results, i, result) {
        const char *kernel = result_text(result, RESULT_KERNEL);
        if (json_object_get(seen, kernel))
            continue;
        json_object_set_new(seen, kernel, json_true());
        put_suite(document, kernel, out);
    }
    text_append(out, "</testsuites>\n");
    json_decref(seen);
}
