/* cmd_new.c - tsr new: a kernel with cases to begin with, or that of a Definition. */
#include <ctype.h>
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/file.h"
#include "cli/command.h"
#include "common/command_line.h"
#include "common/say.h"
#include "definition/definition.h"
#include "tessera/compiler.h"

/* Before and after the kernel's name. */
static const char before_name[] =
    "\"\"\"A kernel to begin with: docs/language.md tells what can stand in it.\"\"\"\n"
    "from tessera import *\n"
    "\n"
    "\n"
    "@cases(\n"
    "    case(\"small\", M=4, N=8),\n"
    "    case(\"ragged\", M=13, N=127, x=integers(-4, 5)),\n"
    "    case(\"usual\", M=256, N=1024),\n"
    ")\n"
    "@kernel\n"
    "def ";
static const char after_name[] =
    "(x: Tensor[\"M\", \"N\", f32], bias: Tensor[\"N\", f32]) -> Tensor[\"M\", \"N\", f32]:\n"
    "    \"\"\"Adds the bias to each row of x; what is negative becomes 0.\"\"\"\n"
    "    return relu(x + bias)\n";

static bool is_identifier(const char *word) {
    if (!isalpha((unsigned char)*word) && *word != '_')
        return false;
    for (; *word; word++)
        if (!isalnum((unsigned char)*word) && *word != '_')
            return false;
    return true;
}

/* An identifier may still be a word of the language, or too long: the compiler knows. */
static bool is_sound(const char *source) {
    text diagnostics;
    text_init(&diagnostics);
    compiler_source *s = compiler_open_text("new.tsr", source, false, &diagnostics);
    bool sound = compiler_error_count(s) == 0 && compiler_kernel_count(s) == 1;
    compiler_close(s);
    text_release(&diagnostics);
    return sound;
}

/* A file that is there, whatever it is, stays as it is. */
static bool write_new(const char *path, const text *source, status *st) {
    int fd = open(path, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0666);
    if (fd < 0 && errno == EEXIST)
        return status_set(st, STATUS_INVALID, "%s is there already", path);
    if (fd < 0)
        return status_set_errno(st, errno, "cannot write %s", path);
    bool ok = write(fd, source->data, source->length) == (ssize_t)source->length;
    int why = ok ? 0 : errno;
    ok = close(fd) == 0 && ok;
    if (ok)
        return true;
    unlink(path);
    return status_set_errno(st, why ? why : EIO, "cannot write %s", path);
}

/* FOLDER/NAME and the ending, with `content`; its path is printed, and left in `path`. */
static bool write_file(const options *o, const char *name, const char *ending, const text *content,
                       text *path, status *st) {
    const char *folder = options_text(o, OPTION_NEW_DIR, NULL);
    if (folder)
        text_printf(path, "%s/", folder);
    text_printf(path, "%s%s", name, ending);
    bool ok = (!folder || file_make_dirs(folder, st)) && write_new(path->data, content, st);
    if (ok)
        say(stdout, "%s\n", path->data);
    return ok;
}

static int write_kernel(const options *o, const char *name, const text *source) {
    text path, word;
    status st = STATUS_INIT;
    text_init(&path);
    text_init(&word);
    bool ok = write_file(o, name, ".tsr", source, &path, &st);
    if (ok)
        say(stderr, "now: tsr bench %s\n", command_line_quoted(&word, path.data));
    text_release(&path);
    text_release(&word);
    return ok ? EXIT_DONE : command_fail(&st);
}

/* ---- from a Definition ---- */

typedef struct conversion {
    const options *o;
    definition_file *files;
    size_t count;
    const json_t *definition;
    text name, kernel, notes, with, path; /* with: what a command line has for the code */
} conversion;

static bool find_definition(conversion *c, status *st) {
    for (size_t i = 0; i < c->count; i++) {
        if (c->files[i].role != DEFINITION_KERNEL)
            continue;
        if (c->definition)
            return status_set(st, STATUS_INVALID, "%s: a second Definition; one makes a kernel",
                              c->files[i].path);
        c->definition = c->files[i].content;
    }
    if (!c->definition)
        return status_set(st, STATUS_INVALID, "--from: none of these files is a Definition");
    if (c->o->arguments.count)
        text_append(&c->name, c->o->arguments.items[0]);
    else
        definition_identifier(json_string_value(json_object_get(c->definition, "name")), &c->name);
    return true;
}

/* Python that --with takes. */
static bool write_code(conversion *c, const char *ending, const text *code, status *st) {
    text_clear(&c->path);
    bool ok = write_file(c->o, c->name.data, ending, code, &c->path, st);
    text_printf(&c->with, " --with %s", c->path.data);
    return ok;
}

static bool write_solutions(conversion *c, status *st) {
    bool ok = true;
    for (size_t i = 0; i < c->count && ok; i++) {
        const json_t *solution = c->files[i].content;
        const char *name = json_string_value(json_object_get(solution, "name"));
        text code, ending;
        if (c->files[i].role != DEFINITION_SOLUTION)
            continue;
        text_init(&code);
        text_init(&ending);
        text_append_char(&ending, '_');
        definition_identifier(name ? name : "solution", &ending);
        text_append(&ending, ".py");
        ok = definition_write_solution(c->definition, c->name.data, solution, &code, st) &&
             write_code(c, ending.data, &code, st);
        text_release(&code);
        text_release(&ending);
    }
    return ok;
}

static bool write_reference(conversion *c, status *st) {
    text code;
    text_init(&code);
    bool ok = definition_write_reference(c->definition, c->name.data, &code, st) &&
              write_code(c, "_reference.py", &code, st);
    text_release(&code);
    return ok;
}

/* The kernel is read before anything is written: a Definition may say what no kernel can. */
static bool write_contract(conversion *c, status *st) {
    text diagnostics;
    const definition_files files = {c->files, c->count};
    if (!definition_write_kernel(c->definition, c->name.data, files, &c->kernel, &c->notes, st))
        return false;
    text_init(&diagnostics);
    compiler_source *s = compiler_open_text("definition.tsr", c->kernel.data, false, &diagnostics);
    bool sound = compiler_error_count(s) == 0 && compiler_kernel_count(s) == 1;
    compiler_close(s);
    if (!sound)
        status_set(st, STATUS_INVALID, "what the Definition says is no kernel: %.800s",
                   diagnostics.data);
    text_release(&diagnostics);
    return sound && write_file(c->o, c->name.data, ".tsr", &c->kernel, &c->path, st);
}

static bool convert(conversion *c, status *st) {
    text kernel;
    text_init(&kernel);
    bool ok = find_definition(c, st) && write_contract(c, st);
    text_append(&kernel, c->path.data);
    ok = ok && write_reference(c, st) && write_solutions(c, st);
    if (ok) {
        say_text(stderr, c->notes.data);
        text word;
        text_init(&word);
        say(stderr, "now: tsr bench %s%s\n", command_line_quoted(&word, kernel.data), c->with.data);
        text_release(&word);
    }
    text_release(&kernel);
    return ok;
}

static int new_from(const options *o) {
    const string_list *from = &o->values[OPTION_NEW_FROM].values;
    status st = STATUS_INIT;
    conversion c = {.o = o, .files = base_calloc(from->count, sizeof *c.files)};
    text *const texts[] = {&c.name, &c.kernel, &c.notes, &c.with, &c.path};
    enum { TEXTS = sizeof texts / sizeof *texts };
    bool ok = true;
    for (size_t i = 0; i < TEXTS; i++)
        text_init(texts[i]);
    for (; c.count < from->count && ok; c.count++)
        ok = definition_file_open(&c.files[c.count], from->items[c.count], &st);
    ok = ok && convert(&c, &st);
    for (size_t i = 0; i < c.count; i++)
        definition_file_close(&c.files[i]);
    for (size_t i = 0; i < TEXTS; i++)
        text_release(texts[i]);
    free(c.files);
    return ok ? EXIT_DONE : command_fail(&st);
}

int command_new(const options *o) {
    if (options_flag(o, OPTION_NEW_FROM) && o->arguments.count <= 1)
        return new_from(o);
    if (o->arguments.count != 1)
        return command_usage(o->command, "new takes one name");
    const char *name = o->arguments.items[0];
    text source;
    text_init(&source);
    text_printf(&source, "%s%s%s", before_name, name, after_name);
    int code = is_identifier(name) && is_sound(source.data)
                   ? write_kernel(o, name, &source)
                   : command_usage(o->command,
                                   "'%s' cannot be the name of a kernel: letters, digits and _, "
                                   "not a digit first, and no word of the language",
                                   name);
    text_release(&source);
    return code;
}
