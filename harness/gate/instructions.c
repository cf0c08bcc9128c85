/* instructions.c - counts the instructions of a launch, exactly, under valgrind's callgrind.
 *
 * One process takes all modules: it asks callgrind to count one launch of each and to write the sum
 * to a file. valgrind knows no AVX-512, so both sides are compiled again, for x86-64-v3 and one
 * thread. The runtime's own instructions are in it, the same on both sides. */
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/file.h"
#include "common/json_text.h"
#include "common/scratch_folder.h"
#include "gate/gate.h"
#include "process/program.h"

static const char LEVEL[] = "x86-64-v3";

typedef struct count_state {
    gate *gate;
    json_t *cases; /* what is counted, in order; each side one */
    VEC(int64_t *) counts;
    scratch_folder folder;
} count_state;

static bool is_counted(const gate *g, const gate_row *row) {
    if (!row->spec || row->units[0] == NULL)
        return false;
    return g->settings->always_time || strcmp(row->units[0]->hash, row->units[1]->hash) != 0;
}

static bool add_side(count_state *c, gate_row *row, int side, status *st) {
    gate_side_module made;
    uint64_t at;
    status why = STATUS_INIT;
    if (!gate_side_compile_level(c->gate->sides[side], row->units[side], c->gate->choice, LEVEL,
                                 &made, &why))
        return true; /* not counted: null, and the time decides */
    bool ok = scratch_put(&c->gate->data, made.image, made.bytes, &at, st);
    free(made.image);
    json_t *one = json_copy(row->spec);
    json_object_set_new(one, "modules",
                        json_pack("[[I, I]]", (json_int_t)at, (json_int_t)made.bytes));
    json_object_set_new(one, "kernel", json_pack("[s]", row->units[side]->kernel));
    json_array_append_new(c->cases, one);
    vec_push(&c->counts, &row->facts[side].instructions);
    return ok;
}

static bool write_manifest(const count_state *c, const char *path, status *st) {
    json_t *manifest =
        json_pack("{s:o, s:O}", "scratch", json_bytes(c->gate->data.path), "cases", c->cases);
    char *words = json_dumps(manifest, JSON_COMPACT);
    file_part part = {words, strlen(words)};
    bool ok = file_write_scratch(path, &part, 1, st);
    free(words);
    json_decref(manifest);
    return ok;
}

static bool run_valgrind(const count_state *c, const char *manifest, status *st) {
    char self[4096];
    file_own_program(self, sizeof self);
    if (!self[0])
        return status_set_errno(st, errno, "this program's own path");
    text out, said;
    text_init(&out);
    text_init(&said);
    text_printf(&out, "--callgrind-out-file=%s/out", c->folder.path);
    const char *const arguments[] = {"valgrind",       "--tool=callgrind", "--instr-atstart=no",
                                     "--quiet",        out.data,           self,
                                     "--gate-counter", manifest,           NULL};
    program p = {.arguments = arguments, .output = &said, .errors = &said};
    int code = 0;
    bool ok = program_run(&p, &code, st);
    if (ok && code != 0)
        ok = status_set(st, STATUS_UNAVAILABLE,
                        "counting under valgrind ended with code %d: %.600s", code, said.data);
    text_release(&said);
    text_release(&out);
    return ok;
}

/* "totals: N" in the file of each dump, numbered from 1. */
static bool read_count(const count_state *c, size_t index, int64_t *count, status *st) {
    char *data;
    size_t size;
    text path;
    text_init(&path);
    text_printf(&path, "%s/out.%zu", c->folder.path, index + 1);
    bool ok = file_read(path.data, 1 << 26, &data, &size, st);
    text_release(&path);
    if (!ok)
        return false;
    const char *totals = strstr(data, "\ntotals: ");
    *count = totals ? atoll(totals + strlen("\ntotals: ")) : -1;
    free(data);
    return *count > 0 ||
           status_set(st, STATUS_INTERNAL, "callgrind wrote no sum for case %zu", index);
}

static bool count_all(count_state *c, status *st) {
    text manifest;
    if (!scratch_folder_open(&c->folder, NULL, SCRATCH_FOLDER_PREFIX, st))
        return false;
    text_init(&manifest);
    text_printf(&manifest, "%s/manifest", c->folder.path);
    bool ok = write_manifest(c, manifest.data, st) && run_valgrind(c, manifest.data, st);
    for (size_t i = 0; i < c->counts.count && ok; i++)
        ok = read_count(c, i, c->counts.items[i], st);
    text_release(&manifest);
    scratch_folder_close(&c->folder);
    return ok;
}

bool gate_instructions(gate *g, status *st) {
    count_state c = {.gate = g, .cases = json_array()};
    bool ok = true;
    for (size_t i = 0; i < g->rows.count && ok; i++)
        for (int side = 0; side < 2 && ok && is_counted(g, &g->rows.items[i]); side++)
            ok = add_side(&c, &g->rows.items[i], side, st);
    ok = ok && (c.counts.count == 0 || count_all(&c, st));
    json_decref(c.cases);
    vec_release(&c.counts);
    return ok;
}
