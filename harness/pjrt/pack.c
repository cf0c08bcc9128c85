/* pack.c - packs of calls: the program and the arrays of a call are written into a folder, from
 * which `tsr pack-repro` makes a pack that replays anywhere. The calls are those in a block of
 * tessera.pack(), and those that go wrong (TESSERA_PACK), one a program:
 *
 * nan: a call whose results have a NaN, though nothing that it reads has one. mismatch: the first
 * call of a program whose results are not, bit for bit, those of the interpreter. */
#include <errno.h>
#include <fcntl.h>
#include <spawn.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include "base/arena.h"
#include "base/file.h"
#include "base/tensor.h"
#include "base/text.h"
#include "pjrt/pack.h"
#include "pjrt/plugin.h"

extern char **environ;

/* ---- arrays ---- */

/* The array of a parameter as the kernel has it; its data are the caller's. */
static tensor array_of(const program *p, uint32_t index, void *data) {
    const char *type;
    const int64_t *dims;
    tensor t = {.data = data};
    uint32_t rank = 0;
    tsrGetKernelParameter(p->kernel, index, NULL, &type, &rank, &dims);
    t.type = dtype_from_name(type);
    t.rank = (int)rank;
    for (uint32_t i = 0; i < rank && i < TENSOR_MAX_RANK; i++)
        t.dims[i] = dims[i];
    return t;
}

static bool has_nan(const tensor *t) {
    const int64_t count = dtype_is_float(t->type) ? tensor_count(t) : 0;
    for (int64_t i = 0; i < count; i++) {
        const double x = dtype_load(t->type, t->data, (size_t)i);
        if (x != x)
            return true;
    }
    return false;
}

static bool any_nan(const program *p, void *const *arrays, uint32_t from, uint32_t to) {
    for (uint32_t i = from; i < to; i++) {
        const tensor t = array_of(p, i, arrays[i]);
        if (has_nan(&t))
            return true;
    }
    return false;
}

/* ---- words: a framework has no place for what is no error of a call ---- */

static void tell(const char *format, ...) __attribute__((format(printf, 1, 2)));
static void tell(const char *format, ...) {
    char words[2048];
    va_list args;
    va_start(args, format);
    const int length = vsnprintf(words, sizeof words, format, args);
    va_end(args);
    if (length > 0)
        file_append(STDERR_FILENO, words,
                    (size_t)length < sizeof words ? (size_t)length : sizeof words - 1);
}

/* ---- a folder with the program and its arrays ---- */

typedef struct scratch {
    char *path;
    bool made;
} scratch;

static char *in_folder(const scratch *s, const char *format, uint32_t number) {
    text path;
    text_init(&path);
    text_printf(&path, "%s/", s->path);
    text_printf(&path, format, number); // NOLINT(clang-diagnostic-format-nonliteral)
    return text_take(&path);
}

/* Makes one in $TMPDIR, else in /tmp. */
static scratch make_folder(void) {
    const char *place = getenv("TMPDIR"); // NOLINT(concurrency-mt-unsafe)
    text path;
    text_init(&path);
    text_printf(&path, "%s/tessera-call-XXXXXX", place && *place ? place : "/tmp");
    scratch s = {.path = text_take(&path)};
    s.made = mkdtemp(s.path) != NULL;
    return s;
}

static bool write_folder(const scratch *s, const program *p, void *const *inputs) {
    status st = STATUS_INIT;
    char *code = in_folder(s, "program.mlir", 0);
    bool good = file_write_scratch(code, &(file_part){p->code.data, p->code.bytes}, 1, &st);
    free(code);
    for (uint32_t i = 0; i < p->inputs && good; i++) {
        const tensor t = array_of(p, i, inputs[i]);
        char *path = in_folder(s, "a%u.npy", i);
        good = tensor_write_npy(&t, path, &st);
        free(path);
    }
    return good;
}

static void remove_folder(const scratch *s, const program *p) {
    for (uint32_t i = 0; i < p->inputs + p->outputs; i++) {
        char *path =
            in_folder(s, i < p->inputs ? "a%u.npy" : "r%u.npy", i < p->inputs ? i : i - p->inputs);
        unlink(path);
        free(path);
    }
    static const char *const others[] = {"program.mlir", "told", "messages"};
    for (size_t i = 0; i < sizeof others / sizeof *others; i++) {
        char *path = in_folder(s, others[i], 0);
        unlink(path);
        free(path);
    }
    rmdir(s->path);
    free(s->path);
}

/* ---- the program tsr ---- */

/* Runs it with its output and its messages into files of the folder. False: it could not, or ended
 * with another code than 0. */
static bool run_tsr(const PJRT_Client *c, const scratch *s, const char *const *arguments) {
    posix_spawn_file_actions_t files;
    pid_t pid;
    int ended = -1;
    char *output = in_folder(s, "told", 0), *messages = in_folder(s, "messages", 0);
    posix_spawn_file_actions_init(&files);
    posix_spawn_file_actions_addopen(&files, STDIN_FILENO, "/dev/null", O_RDONLY, 0);
    posix_spawn_file_actions_addopen(&files, STDOUT_FILENO, output, O_WRONLY | O_CREAT | O_TRUNC,
                                     0600);
    posix_spawn_file_actions_addopen(&files, STDERR_FILENO, messages, O_WRONLY | O_CREAT | O_TRUNC,
                                     0600);
    const bool started = posix_spawnp(&pid, c->pack.tsr, &files, NULL,
                                      (char *const *)(uintptr_t)arguments, environ) == 0;
    posix_spawn_file_actions_destroy(&files);
    free(output);
    free(messages);
    while (started && waitpid(pid, &ended, 0) < 0 && errno == EINTR) {
    }
    return started && WIFEXITED(ended) && WEXITSTATUS(ended) == 0;
}

/* ---- commands ---- */

/* The words of a command, with an option for the file of each input. */
typedef struct command {
    const char **words;
    char **owned; /* those of the inputs */
    size_t count;
} command;

static command command_of(const program *p, const char *const *head, size_t words) {
    command c = {base_calloc(words + p->inputs + 1, sizeof *c.words),
                 base_calloc((size_t)p->inputs + 1, sizeof *c.owned), 0};
    for (size_t i = 0; i < words; i++)
        c.words[c.count++] = head[i];
    return c;
}

static void add_inputs(command *c, const scratch *s, const program *p, const char *option) {
    for (uint32_t i = 0; i < p->inputs; i++) {
        const size_t room = strlen(s->path) + 64;
        c->owned[i] = base_malloc(room);
        snprintf(c->owned[i], room, "%s=a%u=%s/a%u.npy", option, i, s->path, i);
        c->words[c->count++] = c->owned[i];
    }
}

static void command_release(command *c, const program *p) {
    for (uint32_t i = 0; i < p->inputs; i++)
        free(c->owned[i]);
    free(c->owned);
    free(c->words);
}

/* ---- judging ---- */

/* Runs the interpreter on the arrays in the folder: are its results these, bit for bit? */
static bool interpreter_agrees(const scratch *s, const program *p, void *const *arrays) {
    char *code = in_folder(s, "program.mlir", 0);
    const char *const head[] = {"tsr", "run", code, "--backend=interp", "--out", s->path};
    command run = command_of(p, head, sizeof head / sizeof *head);
    add_inputs(&run, s, p, "--in");
    bool same = run_tsr(p->client, s, run.words);
    command_release(&run, p);
    for (uint32_t i = 0; i < p->outputs && same; i++) {
        const tensor got = array_of(p, p->inputs + i, arrays[p->inputs + i]);
        status st = STATUS_INIT;
        tensor wanted = {0};
        char *path = in_folder(s, "r%u.npy", i);
        same = tensor_read_npy(&wanted, path, got.type, &st) &&
               tensor_bytes(&wanted) == tensor_bytes(&got) &&
               memcmp(wanted.data, got.data, tensor_bytes(&got)) == 0;
        tensor_release(&wanted);
        free(path);
    }
    free(code);
    return same;
}

/* The first line of a file in the folder, for the caller to free; NULL: there is none. */
static char *first_line(const scratch *s, const char *name) {
    enum { LINE_MAX_BYTES = 4096 };
    char *path = in_folder(s, name, 0), *words = NULL;
    size_t size = 0;
    status st = STATUS_INIT;
    if (file_read(path, LINE_MAX_BYTES, &words, &size, &st) && size > 1) {
        words[strcspn(words, "\n")] = 0;
    } else {
        free(words);
        words = NULL;
    }
    free(path);
    return words;
}

/* Has tsr make the pack in a folder. The pack's path, or why there is none, for the caller to free.
 */
static char *make_pack(const scratch *s, const program *p, const char *folder, bool *made) {
    const PJRT_Client *c = p->client;
    char *code = in_folder(s, "program.mlir", 0);
    char profile[64], threads[64];
    snprintf(profile, sizeof profile, "--profile=%s", p->profile);
    snprintf(threads, sizeof threads, "--threads=%u", c->threads);
    const char *const head[] = {"tsr",   "pack-repro", p->name,      "--case=fixed", code,
                                profile, threads,      "--failures", folder};
    command pack = command_of(p, head, sizeof head / sizeof *head);
    add_inputs(&pack, s, p, "--inputs");
    const bool ran = run_tsr(c, s, pack.words);
    char *path = ran ? first_line(s, "told") : NULL;
    *made = path != NULL;
    if (!path) {
        char *said = first_line(s, "messages");
        text why;
        text_init(&why);
        text_printf(&why, "'%s pack-repro' made no pack of it%s%s", c->pack.tsr, said ? ": " : "",
                    said ? said : "");
        path = text_take(&why);
        free(said);
    }
    command_release(&pack, p);
    free(code);
    return path;
}

static void pack_and_tell(const scratch *s, const program *p, const char *why) {
    bool made;
    char *words = make_pack(s, p, p->client->pack.folder, &made);
    tell(made ? "tessera: %s: %s; it is in %s (tsr replay shows it)\n"
              : "tessera: %s: %s, and %s\n",
         p->name, why, words);
    free(words);
}

/* ---- calls ---- */

/* The first call in the block that is open? */
static bool is_new_in_block(const program *p) {
    const unsigned number = pack_block_number();
    return number != 0 && atomic_load(&p->code.block) != number;
}

static bool is_watched(const program *p) {
    return p->client->pack.when != PACK_NEVER && p->code.data && !atomic_load(&p->code.packed);
}

bool pack_wants(const program *p) {
    return is_new_in_block(p) || is_watched(p);
}

/* Packs a call in a block, and notes what became of it there. */
static void pack_in_block(program *p, void *const *arrays) {
    const unsigned number = pack_block_number();
    char *folder = pack_block_folder(number, p->name);
    text words;
    bool made = false;
    text_init(&words);
    text_printf(&words, "%s: ", p->name);
    if (!folder || atomic_exchange(&p->code.block, number) == number) {
        text_release(&words);
        free(folder);
        return;
    }
    const scratch s = make_folder();
    if (!p->code.data) {
        text_append(&words, "it came as compiled code, without its program");
    } else if (!s.made || !write_folder(&s, p, arrays)) {
        text_printf(&words, "the arrays of its call cannot be written to %s", s.path);
    } else {
        char *told = make_pack(&s, p, folder, &made);
        if (made)
            text_clear(&words);
        text_append(&words, told);
        free(told);
    }
    pack_block_tell(number, made, words.data);
    remove_folder(&s, p);
    text_release(&words);
    free(folder);
}

static void watch(program *p, void *const *arrays) {
    const bool first = p->client->pack.when == PACK_MISMATCH;
    const uint32_t all = p->inputs + p->outputs;
    if (!first && (!any_nan(p, arrays, p->inputs, all) || any_nan(p, arrays, 0, p->inputs)))
        return;
    if (atomic_exchange(&p->code.packed, true))
        return;
    const scratch s = make_folder();
    if (!s.made || !write_folder(&s, p, arrays))
        tell("tessera: %s: the arrays of a call cannot be written to %s\n", p->name, s.path);
    else if (!first)
        pack_and_tell(&s, p, "its results have a NaN, and its arguments none");
    else if (!interpreter_agrees(&s, p, arrays))
        pack_and_tell(&s, p, "its results are not the interpreter's");
    remove_folder(&s, p);
}

void pack_look(program *p, void *const *arrays) {
    if (is_new_in_block(p))
        pack_in_block(p, arrays);
    if (is_watched(p))
        watch(p, arrays);
}

/* ---- settings ---- */

/* The program beside this library, in a wheel, an installation or a build; else the one on PATH. */
static void find_tsr(pack_settings *s) {
    static const char *const places[] = {"tsr", "../../bin/tsr", "../tessera/program/bin/tsr"};
    const char *named = getenv("TSR"); // NOLINT(concurrency-mt-unsafe)
    snprintf(s->tsr, sizeof s->tsr, "%s", named && *named ? named : "tsr");
    for (size_t i = 0; i < sizeof places / sizeof *places && !(named && *named); i++) {
        char path[sizeof s->tsr];
        if (!library_file(places[i], path, sizeof path) || access(path, X_OK) != 0)
            continue;
        snprintf(s->tsr, sizeof s->tsr, "%s", path);
        return;
    }
}

PJRT_Error *pack_read_environment(const PJRT_Client *c, pack_settings *s) {
    const char *when = getenv("TESSERA_PACK"),   // NOLINT(concurrency-mt-unsafe)
        *folder = getenv("TESSERA_PACK_FOLDER"); // NOLINT(concurrency-mt-unsafe)
    *s = (pack_settings){0};
    find_tsr(s);
    if (!when || !*when)
        return NULL;
    if (strcmp(when, "nan") == 0)
        s->when = PACK_NAN;
    else if (strcmp(when, "mismatch") == 0)
        s->when = PACK_MISMATCH;
    else
        return error_new(PJRT_Error_Code_INVALID_ARGUMENT,
                         "TESSERA_PACK is nan or mismatch, not '%.40s'", when);
    if (s->when == PACK_MISMATCH && strcmp(c->profile, "strict") != 0)
        return error_new(
            PJRT_Error_Code_INVALID_ARGUMENT,
            "TESSERA_PACK=mismatch compares bits, which TESSERA_PROFILE=%s leaves open",
            c->profile);
    snprintf(s->folder, sizeof s->folder, "%s", folder && *folder ? folder : ".tsr/failures");
    return NULL;
}
