/* place.c - where a kernel, a case or a parameter stands in the source. */
#include <ctype.h>
#include <string.h>

#include "lint/lint_kernel.h"

lint_span lint_line_span(const lint_file *f, uint32_t line) {
    size_t start = 0;
    for (uint32_t i = 1; i < line; i++) {
        const char *end = memchr(f->data + start, '\n', f->size - start);
        if (!end)
            break;
        start = (size_t)(end - f->data) + 1;
    }
    size_t end = start + strcspn(f->data + start, "\r\n");
    while (start < end && isspace((unsigned char)f->data[start]))
        start++;
    return (lint_span){start, end};
}

static bool is_name(char c) {
    return isalnum((unsigned char)c) || c == '_';
}

/* The whole word within a part of the source; .end 0 where it is not there. */
static lint_span find_word(const lint_file *f, lint_span within, const char *word) {
    size_t length = strlen(word);
    for (size_t i = within.start; i + length <= within.end; i++) {
        bool begins = i == 0 || !is_name(f->data[i - 1]);
        if (begins && memcmp(f->data + i, word, length) == 0 && !is_name(f->data[i + length]))
            return (lint_span){i, i + length};
    }
    return (lint_span){0, 0};
}

lint_span lint_kernel_span(const lint_kernel *k) {
    lint_span line = lint_line_span(k->file, k->kernel->line), rest = {line.start, k->file->size},
              name = find_word(k->file, rest, k->kernel->name);
    return name.end ? name : line;
}

lint_span lint_case_span(const lint_kernel *k, const compiler_case *c) {
    lint_span line = lint_line_span(k->file, c->line);
    size_t length = strlen(c->name);
    for (size_t i = line.start; i + length < line.end; i++)
        if (k->file->data[i - (i > 0)] == '"' && memcmp(k->file->data + i, c->name, length) == 0 &&
            k->file->data[i + length] == '"')
            return (lint_span){i, i + length};
    return line;
}

lint_span lint_location_span(const lint_kernel *k, ir_location at) {
    const char *data = k->file->data;
    if (!at.line)
        return lint_kernel_span(k);
    size_t start = lint_line_span(k->file, at.line).start;
    while (start > 0 && data[start - 1] != '\n')
        start--;
    for (uint32_t column = 1; column < at.column && start < k->file->size; start++)
        column += ((unsigned char)data[start + 1] & 0xC0) != 0x80;
    size_t end = start;
    while (end < k->file->size && (is_name(data[end]) || data[end] == '.'))
        end++;
    return (lint_span){start, end > start ? end : start + 1};
}

/* Between the parentheses behind the kernel's name. */
lint_span lint_parameter_span(const lint_kernel *k, const char *parameter) {
    lint_span name = lint_kernel_span(k);
    size_t i = name.end;
    int depth = 0;
    do {
        depth += strchr("([", k->file->data[i]) != NULL && k->file->data[i];
        depth -= strchr(")]", k->file->data[i]) != NULL && k->file->data[i];
        i++;
    } while (i < k->file->size && depth > 0);
    lint_span found = find_word(k->file, (lint_span){name.end, i}, parameter);
    return found.end ? found : name;
}
