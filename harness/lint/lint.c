/* lint.c - opens a source, takes over the compiler's diagnostics, and hands each kernel to the
 * checks. */
#include "lint/lint.h"

#include <stdlib.h>
#include <string.h>

#include "base/arena.h"
#include "base/file.h"
#include "case/bound.h"
#include "lint/lint_kernel.h"

enum { SOURCE_BYTES_MAX = 64 << 20 };

const lint_info lint_table[LINT_COUNT] = {
#define LINT(id, name, severity, what, why, help) {name, LINT_##severity, what, why, help},
#include "lint/lints.def"
#undef LINT
};

const char *lint_severity_name(lint_severity severity) {
    static const char *const names[LINT_SEVERITY_COUNT] = {"error", "warning", "note"};
    return names[severity];
}

const char *lint_finding_id(const lint_finding *f) {
    return f->diagnostic ? f->diagnostic->id : lint_table[f->id].name;
}

/* ---- findings ---- */
static uint32_t code_points(const char *start, const char *end) {
    uint32_t count = 0;
    for (const char *p = start; p < end; p++)
        count += ((unsigned char)*p & 0xC0) != 0x80;
    return count;
}

static char *copy_of(const char *start, size_t length) {
    char *copy = base_malloc(length + 1);
    memcpy(copy, start, length);
    copy[length] = '\0';
    return copy;
}

void lint_add_at(lint_report *r, const lint_file *f, lint_id id, lint_span at,
                 const char *message) {
    size_t begin = at.start < f->size ? at.start : f->size, line = 1;
    while (begin > 0 && f->data[begin - 1] != '\n')
        begin--;
    for (size_t i = 0; i < begin; i++)
        line += f->data[i] == '\n';
    size_t end = begin + strcspn(f->data + begin, "\r\n");
    const char *from = f->data + (at.start < end ? at.start : end),
               *to = f->data + (at.end < end ? at.end : end);
    uint32_t length = code_points(from, to);
    lint_finding found = {.id = id,
                          .path = base_strdup(f->path),
                          .line = (uint32_t)line,
                          .column = code_points(f->data + begin, from) + 1,
                          .length = length ? length : 1,
                          .message = base_strdup(message),
                          .shown = copy_of(f->data + begin, end - begin)};
    vec_push(&r->findings, found);
    r->counts[lint_table[id].severity]++;
}

void lint_add(const lint_kernel *k, lint_id id, lint_span at, const compiler_case *c,
              const char *format, ...) {
    va_list args;
    text message;
    text_init(&message);
    va_start(args, format);
    text_vprintf(&message, format, args);
    va_end(args);
    lint_add_at(k->report, k->file, id, at, message.data);
    lint_finding *added = &k->report->findings.items[k->report->findings.count - 1];
    added->kernel = base_strdup(k->kernel->name);
    added->case_name = c ? base_strdup(c->name) : NULL;
    text_release(&message);
}

/* ---- the compiler's diagnostics ---- */

/* "PATH:LINE:COLUMN: error[E0301]: MESSAGE", then the source line, then the carets. */
static bool is_diagnostic(const lint_file *f, const char *line, uint32_t *number, uint32_t *column,
                          const char **message) {
    size_t length = strlen(f->path);
    if (strncmp(line, f->path, length) != 0 || line[length] != ':')
        return false;
    char *end;
    *number = (uint32_t)strtoul(line + length + 1, &end, 10);
    if (*end != ':')
        return false;
    *column = (uint32_t)strtoul(end + 1, &end, 10);
    if (strncmp(end, ": error[", 8) != 0)
        return false;
    *message = strstr(end, "]: ");
    *message += *message ? 3 : 0;
    return *message != NULL;
}

static size_t bytes_of_points(const char *start, const char *end, uint32_t points) {
    const char *p = start;
    while (p < end && points > 0) {
        p++;
        while (p < end && ((unsigned char)*p & 0xC0) == 0x80)
            p++;
        points--;
    }
    return (size_t)(p - start);
}

/* The carets stand two lines below the message: "      |             ^~". */
static uint32_t caret_length(const char *message) {
    const char *line = message;
    for (int i = 0; i < 2 && line; i++) {
        line = strchr(line, '\n');
        line = line ? line + 1 : NULL;
    }
    const char *caret = line ? memchr(line, '^', strcspn(line, "\n")) : NULL;
    return caret ? (uint32_t)(1 + strspn(caret + 1, "~")) : 1;
}

/* Text between the carets of a diagnostic and the next one: notes and help. */
static char *rest_of(const lint_file *f, const char *message) {
    const char *start = message;
    for (int i = 0; i < 3 && start; i++) {
        start = strchr(start, '\n');
        start = start ? start + 1 : NULL;
    }
    if (!start)
        return NULL;
    const char *end = start, *words;
    uint32_t number, column;
    while (*end && !is_diagnostic(f, end, &number, &column, &words)) {
        end += strcspn(end, "\n");
        end += *end == '\n';
    }
    return end == start ? NULL : copy_of(start, (size_t)(end - start));
}

const char *lint_finding_help(const lint_finding *f, size_t *length) {
    static const char mark[] = "      = help: ";
    const char *found = f->more ? strstr(f->more, mark) : NULL;
    *length = found ? strcspn(found + strlen(mark), "\n") : 0;
    return found ? found + strlen(mark) : "";
}

/* Returns how many there were. */
static size_t take_diagnostics(lint_report *r, const lint_file *f, const char *shown) {
    size_t before = r->findings.count;
    for (const char *line = shown; line && *line;) {
        uint32_t number, column;
        const char *message;
        if (is_diagnostic(f, line, &number, &column, &message)) {
            lint_span whole = lint_line_span(f, number);
            while (whole.start > 0 && f->data[whole.start - 1] != '\n')
                whole.start--;
            const char *start = f->data + whole.start, *end = f->data + whole.end;
            size_t first = bytes_of_points(start, end, column - 1),
                   last = bytes_of_points(start, end, column - 1 + caret_length(message));
            char *words = copy_of(message, strcspn(message, "\n"));
            lint_add_at(r, f, LINT_SOURCE, (lint_span){whole.start + first, whole.start + last},
                        words);
            lint_finding *added = &r->findings.items[r->findings.count - 1];
            added->diagnostic = compiler_diagnostic_in(line);
            added->more = rest_of(f, message);
            free(words);
        }
        line = strchr(line, '\n');
        line = line ? line + 1 : NULL;
    }
    return r->findings.count - before;
}

void lint_add_failure(const lint_kernel *k, const compiler_case *c, const status *st) {
    if (take_diagnostics(k->report, k->file, st->message) == 0)
        lint_add(k, LINT_SOURCE, lint_case_span(k, c), c, "case %s: %.*s", c->name,
                 (int)strcspn(st->message, "\n"), st->message);
}

/* ---- kernels ---- */
static uint64_t bytes_of(const struct compiler_buffer *buffers, uint32_t count) {
    uint64_t total = 0;
    for (uint32_t i = 0; i < count; i++) {
        uint64_t elements = 1;
        for (int k = 0; k < buffers[i].rank; k++)
            if (__builtin_mul_overflow(elements, (uint64_t)buffers[i].dims[k], &elements))
                return UINT64_MAX;
        uint64_t bytes;
        if (__builtin_mul_overflow(elements, (uint64_t)dtype_size(buffers[i].type), &bytes) ||
            __builtin_add_overflow(total, bytes, &total))
            return UINT64_MAX;
    }
    return total;
}

static bool open_case(lint_kernel *k, const compiler_case *c, text *diagnostics) {
    status st = STATUS_INIT;
    lint_case made = {.c = c,
                      .instance = compiler_instance_open(k->source, k->kernel, c, diagnostics)};
    if (!made.instance)
        return false;
    made.primitives = compiler_primitives(made.instance, &st);
    if (made.primitives && compiler_signature_of(made.instance, &made.signature, &st)) {
        uint64_t in = bytes_of(made.signature.inputs, made.signature.input_count),
                 out = bytes_of(made.signature.outputs, made.signature.output_count);
        made.bytes = in > UINT64_MAX - out ? UINT64_MAX : in + out;
        k->cases[k->case_count++] = made;
        return true;
    }
    lint_add_failure(k, c, &st);
    compiler_instance_free(made.instance);
    return true;
}

/* Case of the values that were given, or of a kernel that has neither cases nor anything to bind;
 * else NULL. */
static const compiler_case *only_case(const lint_report *r, compiler_source *source,
                                      const compiler_kernel *kernel, text *diagnostics) {
    const compiler_values none = {0};
    if (r->given)
        return compiler_case_bind(source, kernel, r->given, diagnostics);
    return kernel->case_count == 0 && kernel_is_fixed(kernel)
               ? compiler_case_bind(source, kernel, &none, diagnostics)
               : NULL;
}

static void check_kernel(lint_report *r, const lint_file *f, compiler_source *source,
                         const compiler_kernel *kernel) {
    lint_kernel k = {r, f, source, kernel, NULL, 0};
    text diagnostics;
    text_init(&diagnostics);
    k.cases = base_calloc(kernel->case_count + 1, sizeof *k.cases);
    r->kernels++;
    const compiler_case *fixed = only_case(r, source, kernel, &diagnostics);
    uint32_t own = r->given ? 0 : kernel->case_count;
    r->cases += fixed ? 1 : own;
    bool sound = !fixed || open_case(&k, fixed, &diagnostics);
    for (uint32_t i = 0; i < own && sound; i++)
        sound = open_case(&k, &kernel->cases[i], &diagnostics);
    take_diagnostics(r, f, diagnostics.data);
    if (kernel->case_count == 0 && !fixed && !r->given)
        lint_add(&k, LINT_NO_CASE, lint_kernel_span(&k), NULL, "kernel %s has no cases",
                 kernel->name);
    if (sound && k.case_count) {
        lint_check_cases(&k);
        lint_check_layout(&k);
    }
    if (sound && k.case_count && !kernel->contract) { /* what it is made of */
        lint_check_kernel(&k);
        lint_check_sums(&k);
        lint_check_tiles(&k);
        lint_check_space(&k);
    }
    if (sound && k.case_count && !kernel->contract && !kernel->interpreted) { /* code of it */
        lint_check_schedule(&k);
        lint_check_tile(&k);
        if (r->code && !r->chip)
            lint_check_code(&k);
        if (r->chip)
            lint_check_chip(&k);
        if (r->race)
            lint_check_race(&k);
    }
    for (size_t i = 0; i < k.case_count; i++)
        compiler_instance_free(k.cases[i].instance);
    free(k.cases);
    text_release(&diagnostics);
}

static void check_kernels(lint_report *r, const lint_file *f, compiler_source *source) {
    unbound_kernels others = {0};
    for (uint32_t i = 0; i < compiler_kernel_count(source); i++) {
        const compiler_kernel *kernel = compiler_kernel_at(source, i);
        if (kernel->broken)
            continue;
        if (r->given && !compiler_values_fit(r->given, kernel))
            vec_push(&others, kernel);
        else
            check_kernel(r, f, source, kernel);
    }
    if (others.count)
        unbound_tell(&others, "tsr lint", r->given, r->others);
    vec_release(&others);
}

bool lint_source(lint_report *r, const char *path, status *st) {
    char *data;
    size_t size;
    if (!file_read(path, SOURCE_BYTES_MAX, &data, &size, st))
        return false;
    lint_file f = {path, data, size};
    text diagnostics;
    text_init(&diagnostics);
    compiler_source *source = compiler_open(path, false, &diagnostics, st);
    bool ok = source != NULL;
    r->files++;
    take_diagnostics(r, &f, diagnostics.data);
    if (ok)
        check_kernels(r, &f, source);
    if (source)
        compiler_close(source);
    text_release(&diagnostics);
    free(data);
    return ok;
}

static int by_place(const void *a, const void *b) {
    const lint_finding *x = a, *y = b;
    int path = strcmp(x->path, y->path);
    if (path)
        return path;
    if (x->line != y->line)
        return x->line < y->line ? -1 : 1;
    if (x->column != y->column)
        return x->column < y->column ? -1 : 1;
    if (x->id != y->id)
        return x->id < y->id ? -1 : 1;
    return strcmp(x->message, y->message);
}

void lint_sort(lint_report *r) {
    if (r->findings.count)
        qsort(r->findings.items, r->findings.count, sizeof *r->findings.items, by_place);
}

void lint_release(lint_report *r) {
    for (size_t i = 0; i < r->findings.count; i++) {
        lint_finding *f = &r->findings.items[i];
        free(f->path);
        free(f->kernel);
        free(f->case_name);
        free(f->message);
        free(f->shown);
        free(f->more);
    }
    vec_release(&r->findings);
    *r = (lint_report){0};
}
