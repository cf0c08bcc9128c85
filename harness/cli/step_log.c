/* step_log.c - see step_log.h. */
#include "cli/step_log.h"

#include <errno.h>
#include <inttypes.h>
#include <jansson.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/file.h"
#include "base/text.h"

bool step_log_takes(const struct compiler_buffer *output) {
    return output->rank == 0 && output->replaces < 0 && !output->effect &&
           output->type != DTYPE_BOOL;
}

/* ---- opening ---- */

/* The place behind the last whole line of a step before `done`. */
static long end_of_lines(FILE *file, int64_t done) {
    char *line = NULL;
    size_t room = 0;
    long at = 0, end = 0;
    for (ssize_t length; (length = getline(&line, &room, file)) > 0;) {
        json_t *one = line[length - 1] == '\n' ? json_loads(line, 0, NULL) : NULL;
        const json_t *step = json_object_get(one, "step");
        const int64_t number = json_is_integer(step) ? json_integer_value(step) : -1;
        json_decref(one);
        if (number >= done)
            break;
        at += (long)length;
        end = number >= 0 ? at : end;
    }
    free(line);
    return end;
}

/* A pipe or a device has no place to go on from. */
static bool begin_at(FILE *file, long end) {
    struct stat about;
    if (fstat(fileno(file), &about) == 0 && !S_ISREG(about.st_mode))
        return true;
    /* not fseek(), which goes no further than its buffer */
    return ftruncate(fileno(file), end) == 0 && lseek(fileno(file), end, SEEK_SET) == end;
}

static bool open_lines(step_log *log, const char *path, int64_t done, status *st) {
    FILE *file = fopen(path, done && file_exists(path) ? "r+b" : "wb");
    const long end = file && done ? end_of_lines(file, done) : 0;
    log->lines[log->line_count++] = file;
    if (file && begin_at(file, end))
        return true;
    return status_set(st, STATUS_IO, "--export jsonl=%s: %s", path, strerror(errno));
}

static const char lines_are[] = "jsonl=", metrics_are[] = "openmetrics=";

/* The file that a FORMAT=FILE names behind this format; NULL: it is of another one. */
static const char *file_of(const char *spec, const char *format) {
    const size_t length = strlen(format);
    return strncmp(spec, format, length) == 0 && spec[length] ? spec + length : NULL;
}

bool step_log_check(const options *o, status *st) {
    const string_list *specs = &o->values[OPTION_STEP_EXPORT].values;
    if (specs->count > STEP_LOGS_MAX)
        return status_set(st, STATUS_INVALID, "--export: at most %d files", STEP_LOGS_MAX);
    for (size_t i = 0; i < specs->count; i++)
        if (!file_of(specs->items[i], lines_are) && !file_of(specs->items[i], metrics_are))
            return status_set(st, STATUS_INVALID,
                              "--export %.80s: of steps, write jsonl=FILE or openmetrics=FILE",
                              specs->items[i]);
    return true;
}

static bool open_one(step_log *log, const char *spec, int64_t done, status *st) {
    const char *lines = file_of(spec, lines_are), *metrics = file_of(spec, metrics_are);
    if (!file_make_parent(lines ? lines : metrics, st))
        return false;
    if (lines)
        return open_lines(log, lines, done, st);
    log->metrics[log->metrics_count++] = metrics;
    return true;
}

/* Is there a number, and has none the name of what a line says besides? */
static bool has_numbers(const step_log *log, status *st) {
    static const char *const taken[] = {"kernel", "step", "seconds"};
    bool any = false;
    for (uint32_t o = 0; o < log->signature->output_count; o++) {
        const struct compiler_buffer *b = &log->signature->outputs[o];
        any |= step_log_takes(b);
        for (size_t i = 0; step_log_takes(b) && i < sizeof taken / sizeof *taken; i++)
            if (strcmp(b->name, taken[i]) == 0)
                return status_set(st, STATUS_INVALID,
                                  "--export: result %s of %s is called as what each line has "
                                  "besides: give it another name",
                                  b->name, log->kernel);
    }
    return any || status_set(st, STATUS_INVALID,
                             "--export: %s has no result that is one number, such as a loss, "
                             "beside its states",
                             log->kernel);
}

bool step_log_open(step_log *log, const options *o, int64_t done, status *st) {
    const string_list *specs = &o->values[OPTION_STEP_EXPORT].values;
    bool ok = specs->count == 0 || has_numbers(log, st);
    for (size_t i = 0; i < specs->count && ok; i++)
        ok = open_one(log, specs->items[i], done, st);
    return ok;
}

void step_log_close(step_log *log) {
    for (int i = 0; i < log->line_count; i++)
        if (log->lines[i])
            fclose(log->lines[i]);
}

/* ---- writing ---- */

/* As precise as the type. `none`: in the place of an infinity or a NaN; NULL: they have names. */
static void put_number(text *out, const tensor *t, const char *none) {
    const double value = dtype_load(t->type, t->data, 0);
    if (t->type == DTYPE_I64)
        text_printf(out, "%" PRId64, *(const int64_t *)t->data);
    else if (t->type == DTYPE_U64)
        text_printf(out, "%" PRIu64, *(const uint64_t *)t->data);
    else if (isfinite(value))
        text_printf(out, dtype_is_float(t->type) && t->type != DTYPE_F64 ? "%.9g" : "%.17g", value);
    else
        text_append(out, none ? none : isnan(value) ? "NaN" : value > 0 ? "+Inf" : "-Inf");
}

bool step_log_add(step_log *log, int64_t step, const tensor *outputs, double seconds, status *st) {
    text line;
    bool ok = true;
    log->steps++;
    log->taken_s += seconds;
    if (!log->line_count)
        return true;
    text_init(&line);
    text_printf(&line, "{\"kernel\": \"%s\", \"step\": %" PRId64, log->kernel, step);
    for (uint32_t o = 0; o < log->signature->output_count; o++)
        if (step_log_takes(&log->signature->outputs[o])) {
            text_printf(&line, ", \"%s\": ", log->signature->outputs[o].name);
            put_number(&line, &outputs[o], "null");
        }
    text_printf(&line, ", \"seconds\": %.6f}\n", seconds);
    for (int i = 0; i < log->line_count && ok; i++)
        ok = file_append(fileno(log->lines[i]), line.data, line.length);
    text_release(&line);
    return ok || status_set(st, STATUS_IO, "--export jsonl: %s", strerror(errno));
}

static void put_family(text *out, const char *name, const char *type, const char *help) {
    text_printf(out, "# TYPE %s %s\n# HELP %s %s\n", name, type, name, help);
}

static void put_metrics(const step_log *log, int64_t step, const tensor *outputs, text *out) {
    put_family(out, "tsr_steps", "gauge", "Steps of a program that were taken.");
    text_printf(out, "tsr_steps{kernel=\"%s\"} %" PRId64 "\n", log->kernel, step + 1);
    put_family(out, "tsr_step_value", "gauge", "A result of the last step.");
    for (uint32_t o = 0; o < log->signature->output_count; o++)
        if (step_log_takes(&log->signature->outputs[o])) {
            text_printf(out, "tsr_step_value{kernel=\"%s\",result=\"%s\"} ", log->kernel,
                        log->signature->outputs[o].name);
            put_number(out, &outputs[o], NULL);
            text_append_char(out, '\n');
        }
    text_append(out, "# TYPE tsr_step_seconds summary\n# UNIT tsr_step_seconds seconds\n"
                     "# HELP tsr_step_seconds Time of the steps of this process.\n");
    text_printf(out,
                "tsr_step_seconds_count{kernel=\"%s\"} %" PRId64
                "\ntsr_step_seconds_sum{kernel=\"%s\"} %.6f\n# EOF\n",
                log->kernel, log->steps, log->kernel, log->taken_s);
}

bool step_log_metrics(const step_log *log, int64_t step, const tensor *outputs, status *st) {
    text out;
    bool ok = true;
    if (!log->metrics_count)
        return true;
    text_init(&out);
    put_metrics(log, step, outputs, &out);
    for (int i = 0; i < log->metrics_count && ok; i++)
        ok = file_write_atomic(log->metrics[i], out.data, out.length, st);
    text_release(&out);
    return ok;
}
