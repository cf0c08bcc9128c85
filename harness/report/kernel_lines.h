/* kernel_lines.h - a run for a person: one line for each kernel, its cases folded. Below it stand
 * the results that fail, are noisy, or took another time than in the run before. */
#ifndef TESSERA_HARNESS_REPORT_KERNEL_LINES_H
#define TESSERA_HARNESS_REPORT_KERNEL_LINES_H

#include <jansson.h>
#include <stdbool.h>

#include "base/text.h"
#include "base/vec.h"

enum { KERNEL_LINES_COLUMNS = 16, KERNEL_LINES_NAME = 256 };

typedef struct kernel_lines {
    int width; /* of the terminal */
    bool colour, unicode;
    int name_width; /* of the longest kernel to come; kernel_lines_expect */
    struct kernel_column {
        const char *backend, *profile; /* borrowed */
    } columns[KERNEL_LINES_COLUMNS];
    int column_count;
    char kernel[KERNEL_LINES_NAME]; /* in hand */
    VEC(struct kernel_kept {
        json_t *result;
        double previous_ns; /* median of the last comparable run; negative: none */
    })
    results;
} kernel_lines;

/* Before the first line: what is to come. */
void kernel_lines_expect(kernel_lines *k, const char *kernel, const char *backend,
                         const char *profile);
void kernel_lines_header(const kernel_lines *k, text *out);
/* Appends the lines of the kernel before, where this result is of another. */
void kernel_lines_add(kernel_lines *k, json_t *result, double previous_ns, text *out);
/* Appends the lines of the kernel in hand. */
void kernel_lines_end(kernel_lines *k, text *out);
void kernel_lines_release(kernel_lines *k);

#endif
