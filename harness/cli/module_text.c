/* module_text.c - the parts of a module, as text or as they are. */
#include "cli/module_text.h"

#include <stdlib.h>
#include <string.h>

#include "base/file.h"
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

/* How parts become a level. What is of images is one part for each, which --isa chooses from. */
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

typedef struct show {
    const options *o;
    const struct shown *what;
    const char *isa; /* NULL: any */
    char *image;
    size_t size;
    uint32_t parts; /* that were shown */
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

static bool show_part(show *s, const module_part *part, bool several, status *st) {
    bool of_image = strcmp(part->kind, s->what->begins) != 0;
    if (several && s->what->how != SHOW_BYTES && of_image)
        text_printf(&s->out, "%s// %s\n", s->parts ? "\n" : "", part->kind);
    s->parts++;
    if (s->what->how == SHOW_CODE)
        return compiler_code_text(part->kind, part->data, part->size_bytes, &s->out, st);
    text_append_bytes(&s->out, part->data, part->size_bytes);
    return true;
}

static uint32_t count_meant(const show *s, text *kinds) {
    module_part part;
    uint32_t count = 0;
    for (size_t i = 0; module_part_at(s->image, s->size, i, &part); i++) {
        if (is_meant(s, part.kind))
            count++;
        if (module_is_image(part.kind))
            text_printf(kinds, "%s%s", kinds->length ? ", " : "", part.kind);
    }
    return count;
}

static bool show_parts(show *s, status *st) {
    module_part part;
    text kinds;
    text_init(&kinds);
    uint32_t count = count_meant(s, &kinds);
    bool ok = count > 0 || status_set(st, STATUS_NOT_FOUND,
                                      "the module has nothing for --emit %s%s%s; its images are %s",
                                      s->what->level, s->isa ? " --isa " : "", s->isa ? s->isa : "",
                                      kinds.length ? kinds.data : "none");
    if (ok && count > 1 && s->what->how == SHOW_BYTES)
        ok = status_set(st, STATUS_INVALID, "%u images fit --emit %s, --isa names one: %s", count,
                        s->what->level, kinds.data);
    text_release(&kinds);
    for (size_t i = 0; ok && module_part_at(s->image, s->size, i, &part); i++)
        if (is_meant(s, part.kind))
            ok = show_part(s, &part, count > 1, st);
    return ok;
}

static bool show_all(show *s, const char *path, bool yaml, status *st) {
    bool ok =
        file_read(path, MODULE_BYTES_MAX, &s->image, &s->size, st) &&
        module_check(s->image, s->size, st) &&
        (s->what->how == SHOW_METADATA ? module_text_metadata(s->image, s->size, yaml, &s->out, st)
                                       : show_parts(s, st));
    return ok || status_set(st, st->code, "%s", path);
}

static int check_show(show *s, bool *yaml) {
    const options *o = s->o;
    int code = COMMAND_REFUSE(o, "has no say: a module is compiled already", OPTION_KERNEL,
                              OPTION_CASE, OPTION_DIMS, OPTION_PROFILE, OPTION_THREADS,
                              OPTION_UNOPTIMISED, OPTION_SCHEDULE, OPTION_SPACE, OPTION_TUNED,
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
              .isa = options_text(o, OPTION_ISA, NULL)};
    status st = STATUS_INIT;
    bool yaml;
    int code = check_show(&s, &yaml);
    if (code)
        return code;
    text_init(&s.out);
    code = show_all(&s, path, yaml, &st) ? module_text_write(o, &s.out) : command_fail(&st);
    text_release(&s.out);
    free(s.image);
    return code;
}
