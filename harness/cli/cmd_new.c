/* cmd_new.c - tsr new: a kernel with cases to begin with. */
#include <ctype.h>
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "base/file.h"
#include "cli/command.h"
#include "common/say.h"
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

static int write_kernel(const options *o, const char *name, const text *source) {
    const char *folder = options_text(o, OPTION_NEW_DIR, NULL);
    text path;
    status st = STATUS_INIT;
    text_init(&path);
    if (folder)
        text_printf(&path, "%s/", folder);
    text_printf(&path, "%s.tsr", name);
    bool ok = (!folder || file_make_dirs(folder, &st)) && write_new(path.data, source, &st);
    if (ok) {
        say(stdout, "%s\n", path.data);
        say(stderr, "now: tsr bench %s\n", path.data);
    }
    text_release(&path);
    return ok ? EXIT_DONE : command_fail(&st);
}

int command_new(const options *o) {
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
