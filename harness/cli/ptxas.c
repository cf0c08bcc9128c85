/* ptxas.c - runs ptxas on a text for what it says of it; the code that it makes is thrown away. */
#include "cli/ptxas.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/file.h"
#include "common/scratch_folder.h"
#include "process/program.h"

enum { ARCHITECTURE_BYTES = 64 };

static bool run(const char *assembler_path, const char *chip, const char *code, text *said,
                status *st) {
    char architecture[ARCHITECTURE_BYTES];
    int ended = 0;
    text made;
    text_init(&made);
    text_printf(&made, "%s.cubin", code);
    snprintf(architecture, sizeof architecture, "-arch=%s", chip);
    const char *const arguments[] = {assembler_path, architecture, "-v", code,
                                     "-o",           made.data,    NULL};
    const struct program p = {.arguments = arguments, .errors = said};
    bool ok = program_run(&p, &ended, st);
    text_release(&made);
    const char *words = said->length ? said->data : "it does not say why";
    return ok && (ended == 0 ||
                  status_set(st, STATUS_UNAVAILABLE, "%s (--ptxas) refuses code for %s: %.*s",
                             assembler_path, chip, (int)strcspn(words, "\n"), words));
}

static bool assemble(void *context, const char *chip, const text *ptx, text *messages, status *st) {
    const char *assembler_path = *(const char **)context;
    const file_part part = {ptx->data, ptx->length};
    scratch_folder folder = {0};
    text path;
    text_init(&path);
    bool ok = scratch_folder_open(&folder, NULL, SCRATCH_FOLDER_PREFIX, st);
    if (ok) {
        text_printf(&path, "%s/code.ptx", folder.path);
        ok = file_write_scratch(path.data, &part, 1, st) &&
             run(assembler_path, chip, path.data, messages, st);
    }
    scratch_folder_close(&folder);
    text_release(&path);
    return ok;
}

const compiler_assembler *ptxas_chosen(const options *o) {
    static const char *assembler_path;
    static const compiler_assembler assembler = {assemble, &assembler_path};
    assembler_path = options_text(o, OPTION_PTXAS, NULL);
    if (!assembler_path)
        assembler_path = getenv("TSR_PTXAS");
    return assembler_path && *assembler_path ? &assembler : NULL;
}
