/* lint.h - static checks of kernels and of their cases: what can be told from the source, the graph
 * and the schedule, and where a chip is named from its laid-out tiles, without running anything;
 * `race` alone runs what it looks at. lints.def lists them.
 *
 * Nothing is guessed: a finding holds for the kernel as written and, where the table says so, for
 * this machine's caches and memory. Files are looked at one by one; findings stand in the order of
 * their places. */
#ifndef TESSERA_HARNESS_LINT_LINT_H
#define TESSERA_HARNESS_LINT_LINT_H

#include <jansson.h>
#include <stdint.h>

#include "base/status.h"
#include "base/text.h"
#include "base/vec.h"
#include "tessera/compiler.h"
#include "tessera/diagnostics.h"

typedef enum lint_severity {
    LINT_ERROR,
    LINT_WARNING,
    LINT_NOTE,
    LINT_SEVERITY_COUNT
} lint_severity;

typedef enum lint_id {
#define LINT(id, name, severity, what, why, help) LINT_##id,
#include "lint/lints.def"
#undef LINT
    LINT_COUNT
} lint_id;

typedef struct lint_info {
    const char *name;
    lint_severity severity;
    const char *what, *why, *help;
} lint_info;
extern const lint_info lint_table[LINT_COUNT];
const char *lint_severity_name(lint_severity severity);

typedef struct lint_finding {
    lint_id id;
    const compiler_diagnostic
        *diagnostic; /* of LINT_SOURCE, where the compiler gave one, or NULL */
    char *path;
    uint32_t line, column, length; /* 1-based, in code points; length >= 1 */
    char *kernel, *case_name;      /* NULL where it is of neither */
    char *message;
    char *shown; /* the source line */
    char *more;  /* notes and help of the compiler's, as it shows them; or NULL */
} lint_finding;

typedef struct lint_report {
    bool code;         /* compile each case, and look at its machine code, too */
    const char *chip;  /* "sm_80": look at what this chip makes of each case, too; or NULL */
    const char *ptxas; /* NVIDIA's assembler, asked where `code` and a chip of theirs; or NULL */
    bool race;         /* run small cases on the emulator, whose findings are ours */
    size_t raced;      /* cases that ran there */
    /* Not NULL: instead of the cases of the source one of these values, of kernels that have just
     * these names. */
    const compiler_values *given;
    text *others; /* with `given`: lines for the kernels that have other names */
    text *unrun;  /* with `race`: lines for cases that could not be run, for say_text */
    VEC(lint_finding) findings;
    size_t counts[LINT_SEVERITY_COUNT];
    size_t files, kernels, cases;
} lint_report;

/* The diagnostic's, or the check's. */
const char *lint_finding_id(const lint_finding *f);
/* Advice of a compiler's diagnostic, without its mark; "" where it says nothing. The length is in
 * *length. */
const char *lint_finding_help(const lint_finding *f, size_t *length);

/* Adds what is found in one source. False where it cannot be read. */
bool lint_source(lint_report *r, const char *path, status *st);
/* Sorts by place: path in the order added, then line, column, table. */
void lint_sort(lint_report *r);
void lint_release(lint_report *r);

/* As the compiler shows its diagnostics: place, message, source line with carets, help. */
void lint_show(const lint_report *r, bool colour, text *out);
/* {"schema": "tsr.lint/1", ...}; owned. */
json_t *lint_json(const lint_report *r);
/* The table as docs/lint.md. */
void lint_markdown(text *out);

#endif
