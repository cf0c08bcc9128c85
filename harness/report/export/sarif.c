/* sarif.c - SARIF 2.1.0 (OASIS) of a lint, for code scanning: one run, its rules, a result for each
 * finding. Paths are relative to where tsr was started (%SRCROOT%) unless they are absolute. */
#include <string.h>

#include "common/json_text.h"
#include "job/job.h"
#include "report/export/export.h"

static json_t *message_of(const char *words) {
    return json_pack("{s:s}", "text", words);
}

static json_t *rules_of(const json_t *document) {
    json_t *list = json_array(), *rule;
    size_t i;
    json_array_foreach(json_object_get(document, "rules"), i, rule) json_array_append_new(
        list, json_pack("{s:s, s:o, s:o, s:o, s:{s:s}}", "id", json_text_at(rule, "id"),
                        "shortDescription", message_of(json_text_at(rule, "what")),
                        "fullDescription", message_of(json_text_at(rule, "why")), "help",
                        message_of(json_text_at(rule, "help")), "defaultConfiguration", "level",
                        json_text_at(rule, "severity")));
    return list;
}

static int place_of_rule(const json_t *document, const char *id) {
    size_t i;
    json_t *rule;
    json_array_foreach(json_object_get(document, "rules"), i, rule) {
        if (strcmp(json_text_at(rule, "id"), id) == 0)
            return (int)i;
    }
    return -1;
}

/* A URI reference: what is neither unreserved nor a slash is escaped. */
static json_t *artifact_of(const char *path) {
    text uri;
    text_init(&uri);
    if (path[0] == '/')
        text_append(&uri, "file://");
    if (strncmp(path, "./", 2) == 0)
        path += 2;
    for (const char *p = path; *p; p++)
        if (strchr("/-._~", *p) || (*p >= '0' && *p <= '9') || (*p >= 'a' && *p <= 'z') ||
            (*p >= 'A' && *p <= 'Z'))
            text_append_char(&uri, *p);
        else
            text_printf(&uri, "%%%02X", (unsigned)(unsigned char)*p);
    json_t *made = json_pack("{s:s}", "uri", uri.data);
    if (path[0] != '/')
        json_object_set_new(made, "uriBaseId", json_string("%SRCROOT%"));
    text_release(&uri);
    return made;
}

static json_t *location_of(const json_t *finding) {
    json_t *physical = json_pack("{s:o, s:{s:O, s:O, s:O, s:o}}", "artifactLocation",
                                 artifact_of(json_text_at(finding, "path")), "region", "startLine",
                                 json_object_get(finding, "line"), "startColumn",
                                 json_object_get(finding, "column"), "endColumn",
                                 json_object_get(finding, "end_column"), "snippet",
                                 message_of(json_text_at(finding, "source")));
    json_t *location = json_pack("{s:o}", "physicalLocation", physical);
    const char *kernel = json_text_at(finding, "kernel"), *name = json_text_at(finding, "case");
    if (*kernel) {
        text full;
        text_init(&full);
        text_printf(&full, "%s%s%s", kernel, *name ? "/" : "", name);
        json_object_set_new(
            location, "logicalLocations",
            json_pack("[{s:s, s:s}]", "fullyQualifiedName", full.data, "kind", "function"));
        text_release(&full);
    }
    return location;
}

void export_sarif(const json_t *document, text *out) {
    const json_t *program = json_object_get(document, "tsr");
    json_t *results = json_array(), *finding;
    size_t i;
    json_array_foreach(json_object_get(document, "findings"), i, finding) {
        const char *id = json_text_at(finding, "id");
        json_array_append_new(results, json_pack("{s:s, s:i, s:s, s:o, s:[o]}", "ruleId", id,
                                                 "ruleIndex", place_of_rule(document, id), "level",
                                                 json_text_at(finding, "severity"), "message",
                                                 message_of(json_text_at(finding, "message")),
                                                 "locations", location_of(finding)));
    }
    json_t *driver = json_pack("{s:s, s:s, s:o}", "name", "tsr lint", "version",
                               json_text_at(program, "version"), "rules", rules_of(document));
    json_t *run = json_pack("{s:{s:o}, s:s, s:o}", "tool", "driver", driver, "columnKind",
                            "unicodeCodePoints", "results", results);
    export_append_document(out, json_pack("{s:s, s:s, s:[o]}", "$schema",
                                          "https://json.schemastore.org/sarif-2.1.0.json",
                                          "version", "2.1.0", "runs", run));
}
