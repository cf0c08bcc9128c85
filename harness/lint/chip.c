/* chip.c - see chip.h. */
#include "lint/chip.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/file.h"
#include "common/scratch_folder.h"
#include "process/program.h"
#include "tessera/chip.h"

/* The number of the phase behind the last "_phase_" of a line; -1: there is none. */
static int64_t phase_in(const char *line, size_t length) {
    static const char mark[] = "_phase_";
    for (size_t i = length; i-- > 0;)
        if (i + sizeof mark - 1 <= length && strncmp(line + i, mark, sizeof mark - 1) == 0)
            return strtoll(line + i + sizeof mark - 1, NULL, 10);
    return -1;
}

static const char *line_behind(const char *line) {
    line += strcspn(line, "\n");
    return *line ? line + 1 : NULL;
}

/* ---- NVIDIA ---- */

/* The number before these words in the line; -1: they do not stand there. */
static int64_t number_before(const char *line, const char *words) {
    const char *found = strstr(line, words), *end = line + strcspn(line, "\n");
    if (!found || found > end)
        return -1;
    while (found > line && found[-1] >= '0' && found[-1] <= '9')
        found--;
    return strtoll(found, NULL, 10);
}

void chip_registers_read_ptxas(const char *words, chip_registers_list *out) {
    chip_registers now = {.unit = "bytes"};
    for (const char *line = words; line; line = line_behind(line)) {
        size_t length = strcspn(line, "\n");
        int64_t spills = number_before(line, " bytes spill stores"),
                registers = number_before(line, " registers");
        if (strstr(line, "Compiling entry function") &&
            strstr(line, "Compiling entry function") < line + length)
            now = (chip_registers){.phase = (uint32_t)phase_in(line, length), .unit = "bytes"};
        now.spills = spills >= 0 ? spills : now.spills;
        if (registers >= 0) {
            now.registers = registers;
            vec_push(out, now);
        }
    }
}

static bool ask_ptxas(const char *ptxas, const char *isa, const char *path,
                      chip_registers_list *out, status *st) {
    char arch[64];
    text words;
    int code = 0;
    snprintf(arch, sizeof arch, "-arch=%s", isa);
    const char *const arguments[] = {ptxas, "-v", arch, "-o", "/dev/null", path, NULL};
    text_init(&words);
    program p = {.arguments = arguments, .output = &words, .errors = &words};
    bool ok = program_run(&p, &code, st);
    if (ok && code)
        ok = status_set(st, STATUS_INVALID, "%s refuses the code for %s: %.*s", ptxas, isa,
                        (int)strcspn(words.data, "\n"), words.data);
    if (ok)
        chip_registers_read_ptxas(words.data, out);
    text_release(&words);
    return ok;
}

static bool assemble(const text *code, const char *ptxas, const char *isa, chip_registers_list *out,
                     status *st) {
    scratch_folder folder = {0};
    text path;
    text_init(&path);
    bool ok = scratch_folder_open(&folder, NULL, SCRATCH_FOLDER_PREFIX, st);
    if (ok) {
        text_printf(&path, "%s/kernel.ptx", folder.path);
        ok = file_write_atomic(path.data, code->data, code->length, st) &&
             ask_ptxas(ptxas, isa, path.data, out, st);
    }
    scratch_folder_close(&folder);
    text_release(&path);
    return ok;
}

/* ---- AMD ---- */

/* "    .KEY:   NUMBER" of a kernel in the list of kernels. Scalar registers are spilled to lanes of
 * vector registers, not to memory. */
static bool read_number(const char *line, const char *key, int64_t *number) {
    size_t length = strlen(key);
    if ((strncmp(line, "    .", 5) != 0 && strncmp(line, "  - .", 5) != 0) ||
        strncmp(line + 5, key, length) != 0 || line[5 + length] != ':')
        return false;
    *number = strtoll(line + 6 + length, NULL, 10);
    return true;
}

void chip_registers_read_rocm(const char *assembly, chip_registers_list *out) {
    chip_registers *now = NULL;
    int64_t number;
    const char *line = strstr(assembly, "amdhsa.kernels:");
    for (line = line ? line_behind(line) : NULL; line && (*line == ' ' || *line == '-');
         line = line_behind(line)) {
        if (strncmp(line, "  - ", 4) == 0) {
            vec_push(out, ((chip_registers){.unit = "registers"}));
            now = &out->items[out->count - 1];
        }
        if (!now)
            continue;
        if (strncmp(line + 4, ".name:", 6) == 0)
            now->phase = (uint32_t)phase_in(line, strcspn(line, "\n"));
        if (read_number(line, "vgpr_count", &number))
            now->registers = number;
        if (read_number(line, "vgpr_spill_count", &number))
            now->spills = number;
    }
}

/* ---- either ---- */

bool chip_registers_of(compiler_instance *instance, const compiler_options *options,
                       const char *ptxas, chip_registers_list *out, status *st) {
    bool is_ptx = strcmp(compiler_chip_family(options->isa), "ptx") == 0;
    text code;
    if (is_ptx && !ptxas)
        return true;
    text_init(&code);
    bool ok = compiler_emit(instance, options, "asm", &code, st);
    if (ok && is_ptx)
        ok = assemble(&code, ptxas, options->isa, out, st);
    else if (ok)
        chip_registers_read_rocm(code.data, out);
    text_release(&code);
    return ok;
}

const chip_registers *chip_registers_at(const chip_registers_list *list, uint32_t phase) {
    for (size_t i = 0; i < list->count; i++)
        if (list->items[i].phase == phase)
            return &list->items[i];
    return NULL;
}
