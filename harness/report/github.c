/* github.c - annotations, and appending the summary. */
#include "report/github.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "common/json_text.h"
#include "common/say.h"
#include "job/job.h"
#include "job/result.h"
#include "report/export/export.h"

enum { ANNOTATIONS_SHOWN = 10, SUMMARY_BYTES = 1 << 20 };

/* %, CR and LF are escaped everywhere; in properties, which end at a comma or "::", more. Lines
 * stay lines. */
static void escaped(const char *words, bool property, text *out) {
    text shown;
    text_init(&shown);
    text_show_lines(&shown, "", words);
    for (const char *p = shown.data; *p; p++)
        if (*p == '%' || *p == '\r' || *p == '\n' || (property && (*p == ':' || *p == ',')))
            text_printf(out, "%%%02X", (unsigned)(unsigned char)*p);
        else
            text_append_char(out, *p);
    text_release(&shown);
}

/* Paths are shown where they are those of the repository. */
static const char *in_workspace(const char *path) {
    const char *workspace = getenv("GITHUB_WORKSPACE");
    size_t length = workspace ? strlen(workspace) : 0;
    if (length && strncmp(path, workspace, length) == 0 && path[length] == '/')
        return path + length + 1;
    return strncmp(path, "./", 2) == 0 ? path + 2 : path;
}

/* "error", "warning", "notice", or NULL for what needs no attention. */
static const char *level_of(const json_t *result) {
    const char *severity = json_text_at(result, "severity");
    if (*severity)
        return strcmp(severity, "note") == 0 ? "notice" : severity;
    const char *verdict = json_text_at(result, "verdict");
    if (!*verdict)
        return outcome_is_failure(result_outcome(result))   ? "error"
               : result_outcome(result) == OUTCOME_UNJUDGED ? "warning"
                                                            : NULL;
    if (strcmp(verdict, "REGRESSED") == 0 || strcmp(verdict, "FAILED") == 0)
        return "error";
    return strcmp(verdict, "INCONCLUSIVE") == 0 ? "warning" : NULL;
}

static const char *outcome_of(const json_t *result) {
    const char *verdict = json_text_at(result, "verdict");
    return *verdict ? verdict : result_text(result, RESULT_STATUS);
}

static void annotate(const json_t *result, const char *level, text *out) {
    const json_t *source = result_get(result, RESULT_SOURCE);
    const char *why = result_text(result, RESULT_WHY), *pack = result_text(result, RESULT_PACK);
    text title, message;
    text_init(&title);
    text_init(&message);
    export_name(result, &title);
    text_printf(&title, ": %s", outcome_of(result));
    export_change(result, &message);
    why = *why ? why : json_text_at(result, "reason");
    text_printf(&message, "%s%s", message.length && *why ? "\n" : "", why);
    if (*pack) {
        text_append_char(&message, '\n');
        result_replay(result, &message);
    }
    text_printf(out, "::%s ", level);
    if (source) {
        text_append(out, "file=");
        escaped(in_workspace(json_text_at(source, "path")), true, out);
        text_printf(out, ",line=%" JSON_INTEGER_FORMAT ",",
                    json_integer_value(json_object_get(source, "line")));
    }
    text_append(out, "title=");
    escaped(title.data, true, out);
    text_append(out, "::");
    escaped(message.length ? message.data : outcome_of(result), false, out);
    text_append_char(out, '\n');
    text_release(&title);
    text_release(&message);
}

/* A finding stands in the source by itself. */
static void annotate_finding(const json_t *finding, const char *level, text *out) {
    text_printf(out, "::%s file=", level);
    escaped(in_workspace(json_text_at(finding, "path")), true, out);
    text_printf(out, ",line=%" JSON_INTEGER_FORMAT ",col=%" JSON_INTEGER_FORMAT ",title=",
                json_integer_value(json_object_get(finding, "line")),
                json_integer_value(json_object_get(finding, "column")));
    escaped(json_text_at(finding, "id"), true, out);
    text_append(out, "::");
    escaped(json_text_at(finding, "message"), false, out);
    text_append_char(out, '\n');
}

void github_annotations(const json_t *document, text *out) {
    static const char *const levels[] = {"error", "warning", "notice"}; /* the worst first */
    size_t i, count = 0, shown = 0;
    bool lint = export_schema(document) == EXPORT_LINT;
    const json_t *list = json_object_get(document, lint ? "findings" : "results");
    json_t *result;
    json_array_foreach((json_t *)list, i, result) {
        count += level_of(result) != NULL;
    }
    size_t most = count > ANNOTATIONS_SHOWN ? ANNOTATIONS_SHOWN - 1 : ANNOTATIONS_SHOWN;
    for (int k = 0; k < 3; k++)
        json_array_foreach((json_t *)list, i, result) {
            const char *level = level_of(result);
            if (level && strcmp(level, levels[k]) == 0 && shown++ < most)
                (lint ? annotate_finding : annotate)(result, level, out);
        }
    if (count > most)
        text_printf(out, "::%s title=tsr::%zu more %s; the log has them\n",
                    lint ? "notice" : "error", count - most,
                    lint ? "findings" : "results need attention");
}

static bool append_summary(const json_t *document, const char *path, status *st) {
    struct stat info;
    size_t used = stat(path, &info) == 0 && info.st_size > 0 ? (size_t)info.st_size : 0;
    text body;
    text_init(&body);
    if (used < SUMMARY_BYTES)
        github_summary(document, SUMMARY_BYTES - used, &body);
    FILE *file = fopen(path, "ae");
    bool ok = file && fwrite(body.data, 1, body.length, file) == body.length;
    int error = errno;
    if (file && fclose(file) != 0 && ok) {
        ok = false;
        error = errno;
    }
    text_release(&body);
    return ok || status_set_errno(st, error, "cannot append the summary to %s", path);
}

bool github_report(const json_t *document, FILE *out, status *st) {
    const char *actions = getenv("GITHUB_ACTIONS"), *summary = getenv("GITHUB_STEP_SUMMARY");
    if (!actions || strcmp(actions, "true") != 0)
        return true;
    text annotations;
    text_init(&annotations);
    github_annotations(document, &annotations);
    say_orders(out, annotations.data);
    fflush(out);
    text_release(&annotations);
    return !summary || !*summary || append_summary(document, summary, st);
}
