/* module_text.c - the parts of a module, as text or as they are. */
#include "cli/module_text.h"

#include <stdlib.h>
#include <string.h>

#include "base/file.h"
#include "base/vec.h"
#include "cli/command.h"
#include "common/output.h"
#include "common/say.h"
#include "common/yaml_text.h"
#include "module.h"
#include "tessera/compiler.h"

enum { MODULE_BYTES_MAX = 1 << 28 };

bool module_text_metadata(const void *image, size_t size_bytes, bool yaml, text *out, status *st) {
    module_part part;
    if (!module_find(image, size_bytes, "metadata", &part))
        return status_set(st, STATUS_CORRUPT, "the module has no metadata");
    if (!yaml) {
        text_append_bytes(out, part.data, part.size_bytes);
        text_append(out, "\n");
        return true;
    }
    json_error_t error;
    json_t *document = json_loadb(part.data, part.size_bytes, 0, &error);
    bool ok = document ? yaml_of_json(document, out, st)
                       : status_set(st, STATUS_CORRUPT, "the module's metadata, line %d: %s",
                                    error.line, error.text);
    json_decref(document);
    return ok;
}

int module_text_format(const options *o, bool is_metadata, bool *yaml) {
    const char *format = options_text(o, OPTION_METADATA_FORMAT, "json");
    *yaml = strcmp(format, "yaml") == 0;
    if (!is_metadata)
        return COMMAND_REFUSE(o, "is for --emit metadata", OPTION_METADATA_FORMAT);
    return *yaml || strcmp(format, "json") == 0
               ? EXIT_DONE
               : command_usage(o->command, "unknown format '%s': json or yaml", format);
}

int module_text_write(const options *o, const text *body) {
    const char *path = options_text(o, OPTION_OUTPUT, NULL);
    status st = STATUS_INIT;
    if (!path) {
        say_data(stdout, body->data, body->length);
        return EXIT_DONE;
    }
    return output_write(path, body->data, body->length, &st) ? EXIT_DONE : command_fail(&st);
}

/* ---- a module instead of a source ---- */

/* Ways to show parts. A level of images has one part for each, which --isa chooses from. */
typedef enum show_how { SHOW_METADATA, SHOW_TEXT, SHOW_CODE, SHOW_BYTES } show_how;
static const struct shown {
    const char *level;
    show_how how;
    const char *begins; /* the kinds of its parts; "": of all images */
} shown[] = {
    {"graph", SHOW_TEXT, "graph"},   {"schedule", SHOW_TEXT, "schedule"},
    {"metadata", SHOW_METADATA, ""}, {"asm", SHOW_CODE, ""},
    {"ptx", SHOW_TEXT, "ptx/"},      {"hsaco", SHOW_BYTES, "hsaco/"},
    {"spirv", SHOW_BYTES, "spirv/"}, {"obj", SHOW_BYTES, ""},
};

/* A part that is shown; `section` names the kernel of a program that has it, NULL outside. */
typedef struct meant_part {
    module_part part;
    const char *section;
} meant_part;

typedef struct show {
    const options *o;
    const struct shown *what;
    const char *isa, *kernel; /* NULL: any */
    char *image;
    size_t size;
    VEC(meant_part) meant;
    text images, kernels; /* of all there are, the names */
    text out;
} show;

static const struct shown *shown_as(const char *level) {
    for (size_t i = 0; i < sizeof shown / sizeof *shown; i++)
        if (strcmp(shown[i].level, level) == 0)
            return &shown[i];
    return NULL;
}

/* The level that a part is of, "sm_80" of "ptx/sm_80:2" and "schedule:sm_80"; "" where it is of
 * all.
 */
static const char *level_in(const char *kind, size_t *length) {
    size_t before = strcspn(kind, "/:");
    const char *level = kind[before] ? kind + before + 1 : "";
    *length = strcspn(level, ":");
    return level;
}

static bool is_meant(const show *s, const char *kind) {
    size_t length;
    const char *level = level_in(kind, &length);
    bool of_level =
        !s->isa || !*level || (strlen(s->isa) == length && strncmp(level, s->isa, length) == 0);
    return of_level &&
           (*s->what->begins ? strncmp(kind, s->what->begins, strlen(s->what->begins)) == 0
                             : module_is_image(kind));
}

static bool show_part(show *s, const meant_part *m, bool first, status *st) {
    const module_part *part = &m->part;
    bool of_image = strcmp(part->kind, s->what->begins) != 0;
    if (s->meant.count > 1 && s->what->how != SHOW_BYTES && (of_image || m->section))
        text_printf(&s->out, "%s// %s%s%s\n", first ? "" : "\n", m->section ? m->section : "",
                    m->section ? " " : "", part->kind);
    if (s->what->how == SHOW_CODE)
        return compiler_code_text(part->kind, part->data, part->size_bytes, &s->out, st);
    text_append_bytes(&s->out, part->data, part->size_bytes);
    return true;
}

static void list_name(text *names, const char *name) {
    text_printf(names, "%s%s", names->length ? ", " : "", name);
}

/* The parts that are meant, those of a program's kernels among them. */
static bool collect(show *s, const void *image, size_t size, const char *section, status *st) {
    module_part part;
    for (size_t i = 0; module_part_at(image, size, i, &part); i++) {
        if (!section && module_is_kernel(part.kind)) {
            list_name(&s->kernels, part.kind);
            if ((!s->kernel || strcmp(part.kind, s->kernel) == 0) &&
                !(module_check(part.data, part.size_bytes, st) &&
                  collect(s, part.data, part.size_bytes, part.kind, st)))
                return status_set(st, st->code, "%s", part.kind);
            continue;
        }
        if (s->kernel && !section)
            continue;
        if (is_meant(s, part.kind))
            vec_push(&s->meant, ((meant_part){part, section}));
        if (module_is_image(part.kind))
            list_name(&s->images, part.kind);
    }
    return true;
}

static bool check_meant(const show *s, status *st) {
    if (s->kernel && !s->kernels.length)
        return status_set(st, STATUS_INVALID, "--kernel is for programs; the module is one kernel");
    if (s->meant.count == 0) {
        const bool no_kernel = s->kernel && !s->images.length;
        const text *there = no_kernel ? &s->kernels : &s->images;
        return status_set(st, STATUS_NOT_FOUND,
                          "the module has nothing for --emit %s%s%s%s%s; its %s are %s",
                          s->what->level, s->isa ? " --isa " : "", s->isa ? s->isa : "",
                          s->kernel ? " --kernel " : "", s->kernel ? s->kernel : "",
                          no_kernel ? "kernels" : "images", there->length ? there->data : "none");
    }
    if (s->meant.count == 1 || s->what->how != SHOW_BYTES)
        return true;
    bool kernels = s->kernels.length && !s->kernel;
    return status_set(st, STATUS_INVALID, "%zu images fit --emit %s, --%s names one: %s",
                      s->meant.count, s->what->level, kernels ? "kernel" : "isa",
                      kernels ? s->kernels.data : s->images.data);
}

static bool show_parts(show *s, status *st) {
    bool ok = collect(s, s->image, s->size, NULL, st) && check_meant(s, st);
    for (size_t i = 0; ok && i < s->meant.count; i++)
        ok = show_part(s, &s->meant.items[i], i == 0, st);
    return ok;
}

static bool show_metadata(show *s, bool yaml, status *st) {
    module_part part = {.data = s->image, .size_bytes = s->size};
    if (s->kernel &&
        !(module_is_kernel(s->kernel) && module_find(s->image, s->size, s->kernel, &part)))
        return status_set(st, STATUS_NOT_FOUND, "the module has no %s; see its metadata",
                          s->kernel);
    return module_text_metadata(part.data, part.size_bytes, yaml, &s->out, st);
}

static bool show_all(show *s, const char *path, bool yaml, status *st) {
    bool ok = file_read(path, MODULE_BYTES_MAX, &s->image, &s->size, st) &&
              module_check(s->image, s->size, st) &&
              (s->what->how == SHOW_METADATA ? show_metadata(s, yaml, st) : show_parts(s, st));
    return ok || status_set(st, st->code, "%s", path);
}

static int check_show(show *s, bool *yaml) {
    const options *o = s->o;
    int code = COMMAND_REFUSE(o, "has no say: a module is compiled already", OPTION_CASE,
                              OPTION_DIMS, OPTION_PROFILE, OPTION_THREADS, OPTION_UNOPTIMISED,
                              OPTION_SCHEDULE, OPTION_SPACE, OPTION_CONSTANTS, OPTION_TUNED,
                              OPTION_NO_TUNED, OPTION_NO_CACHE, OPTION_PTXAS, OPTION_GENERIC,
                              OPTION_CONSTANT, OPTION_SPECIALIZE, OPTION_EMIT_AFTER);
    if (code)
        return code;
    if (!s->what)
        return command_usage(o->command,
                             "a module has no --emit %s: graph, schedule, metadata, asm, obj, ptx "
                             "hsaco or spirv",
                             options_text(o, OPTION_EMIT, "graph"));
    if (s->what->how == SHOW_BYTES && !options_flag(o, OPTION_OUTPUT))
        return command_usage(o->command, "%s is binary: say where it goes with -o FILE",
                             s->what->level);
    code = module_text_format(o, s->what->how == SHOW_METADATA, yaml);
    if (!code && (s->what->how == SHOW_METADATA || strcmp(s->what->begins, "graph") == 0))
        code = COMMAND_REFUSE(o, "has no say: it is of all images", OPTION_ISA);
    return code;
}

int module_text_show(const options *o, const char *path) {
    show s = {.o = o,
              .what = shown_as(options_text(o, OPTION_EMIT, "graph")),
              .isa = options_text(o, OPTION_ISA, NULL),
              .kernel = options_text(o, OPTION_KERNEL, NULL)};
    status st = STATUS_INIT;
    bool yaml;
    int code = check_show(&s, &yaml);
    if (code)
        return code;
    text_init(&s.out);
    text_init(&s.images);
    text_init(&s.kernels);
    code = show_all(&s, path, yaml, &st) ? module_text_write(o, &s.out) : command_fail(&st);
    text_release(&s.out);
    text_release(&s.images);
    text_release(&s.kernels);
    vec_release(&s.meant);
    free(s.image);
    return code;
}
