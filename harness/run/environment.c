/* environment.c - see environment.h. */
#include "run/environment.h"

#include <link.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/utsname.h>
#if defined(__x86_64__)
#include <xmmintrin.h>
#endif

#include "base/escape.h"
#include "base/sha256.h"
#include "common/build_id.h"
#include "common/json_text.h"

enum { WORD_BYTES_MAX = 128, LINE_BYTES = 8192 };

/* ---- variables ---- */

typedef struct variable {
    const char *name;
    bool hashed;
} variable;

static const variable variables[] = {
#define WORD(name) {name, false},
#define HASH(name) {name, true},
#include "run/environment.def"
#undef WORD
#undef HASH
};

static json_t *variable_facts(void) {
    json_t *facts = json_object();
    for (size_t i = 0; i < sizeof variables / sizeof *variables; i++) {
        const variable *v = &variables[i];
        const char *value = getenv(v->name); // NOLINT(concurrency-mt-unsafe)
        char hex[65];
        if (!value)
            continue;
        sha256 digest = sha256_of(value, strlen(value));
        sha256_hex(&digest, hex);
        bool hashed = v->hashed || strlen(value) > WORD_BYTES_MAX;
        json_object_set_new(facts, v->name, hashed ? json_string(hex) : json_text(value));
    }
    return facts;
}

/* ---- the processor ---- */

/* The value of the first line "KEY : VALUE" of a file; "" where there is none. */
static void find_line(const char *path, const char *key, char out[LINE_BYTES]) {
    FILE *file = fopen(path, "re");
    size_t length = strlen(key);
    char line[LINE_BYTES];
    out[0] = '\0';
    while (file && !out[0] && fgets(line, sizeof line, file)) {
        const char *colon = strchr(line, ':');
        if (strncmp(line, key, length) != 0 || (key[0] && !colon))
            continue;
        const char *value = key[0] ? colon + 1 + (colon[1] == ' ') : line;
        snprintf(out, LINE_BYTES, "%.*s", (int)strcspn(value, "\n"), value);
    }
    if (file)
        (void)fclose(file);
}

static void put_line(json_t *facts, const char *name, const char *path, const char *key) {
    char value[LINE_BYTES];
    find_line(path, key, value);
    if (value[0])
        json_object_set_new(facts, name, json_text(value));
}

static json_t *cpu_facts(void) {
    static const char cpus[] = "/proc/cpuinfo";
    json_t *facts = json_object();
    put_line(facts, "name", cpus, "model name");
    put_line(facts, "family", cpus, "cpu family");
    put_line(facts, "model", cpus, "model\t");
    put_line(facts, "stepping", cpus, "stepping");
    put_line(facts, "microcode", cpus, "microcode");
    put_line(facts, "features", cpus, "flags");
    put_line(facts, "features", cpus, "Features"); /* AArch64's */
    put_line(facts, "governor", "/sys/devices/system/cpu/cpu0/cpufreq/scaling_governor", "");
    put_line(facts, "smt", "/sys/devices/system/cpu/smt/active", "");
    return facts;
}

/* Rounding, flushing of subnormals and traps; not the flags, which say what was computed. */
static json_t *float_facts(void) {
    json_t *facts = json_object();
#if defined(__x86_64__)
    enum { MXCSR_FLAGS = 0x3f };
    char word[16];
    snprintf(word, sizeof word, "0x%04x", _mm_getcsr() & ~(unsigned)MXCSR_FLAGS);
    json_object_set_new(facts, "mxcsr", json_string(word));
#elif defined(__aarch64__)
    unsigned long fpcr;
    char word[24];
    __asm__ volatile("mrs %0, fpcr" : "=r"(fpcr));
    snprintf(word, sizeof word, "0x%08lx", fpcr);
    json_object_set_new(facts, "fpcr", json_string(word));
#endif
    return facts;
}

/* ---- the system ---- */

static json_t *system_facts(void) {
    struct utsname names;
    json_t *facts = json_object();
    if (uname(&names) == 0) {
        json_object_set_new(facts, "kernel", json_text(names.release));
        json_object_set_new(facts, "kernel_build", json_text(names.version));
        json_object_set_new(facts, "machine", json_text(names.machine));
    }
    put_line(facts, "nvidia", "/proc/driver/nvidia/version", "NVRM version");
    put_line(facts, "amdgpu", "/sys/module/amdgpu/version", "");
    put_line(facts, "clock", "/sys/devices/system/clocksource/clocksource0/current_clocksource",
             "");
    put_line(facts, "huge_pages", "/sys/kernel/mm/transparent_hugepage/enabled", "");
    put_line(facts, "randomised", "/proc/sys/kernel/randomize_va_space", "");
    return facts;
}

/* ---- libraries ---- */

static int put_library(struct dl_phdr_info *info, size_t size, void *context) {
    json_t *facts = context;
    char id[BUILD_ID_BYTES];
    (void)size;
    const char *slash = strrchr(info->dlpi_name, '/');
    const char *name = slash ? slash + 1 : info->dlpi_name;
    build_id_of(info, id);
    if (*name) /* the program itself stands in the manifest */
        json_object_set_new(facts, name, json_text(id[0] ? id : "no build id"));
    return 0;
}

static json_t *library_facts(void) {
    json_t *facts = json_object();
    dl_iterate_phdr(put_library, facts);
    return facts;
}

json_t *environment_facts(void) {
    return json_pack("{s:o, s:o, s:o, s:o, s:o}", "variables", variable_facts(), "cpu", cpu_facts(),
                     "floats", float_facts(), "system", system_facts(), "libraries",
                     library_facts());
}

/* ---- there and here ---- */

static bool is_sound(const json_t *facts) {
    const char *group, *name;
    json_t *values, *value;
    bool ok = json_is_object(facts);
    json_object_foreach((json_t *)(uintptr_t)facts, group, values) {
        ok = ok && json_is_object(values);
        json_object_foreach(values, name, value) ok = ok && json_is_string(value);
    }
    return ok;
}

/* Words of a list that the other one lacks: of features, all is too much to read. */
static void put_lacking(const char *have, const char *lack, text *out) {
    text words;
    text_init(&words);
    text_printf(&words, " %s ", lack);
    for (const char *at = have; *at;) {
        size_t length = strcspn(at, " ");
        text one;
        text_init(&one);
        text_printf(&one, " %.*s ", (int)length, at);
        if (length && !strstr(words.data, one.data))
            text_show(out, " %.*s", (int)length, at);
        text_release(&one);
        at += length + strspn(at + length, " ");
    }
    text_release(&words);
}

static void put_difference(const char *name, const char *there, const char *here, text *out) {
    if (strstr(name, "features")) {
        text_show(out, "  %s: there alone", name);
        put_lacking(there, here, out);
        text_append(out, "; here alone");
        put_lacking(here, there, out);
        text_append_char(out, '\n');
        return;
    }
    text_show(out, "  %s: %s there, %s here\n", name, *there ? there : "not", *here ? here : "not");
}

/* Goes through all names of one side, or those that the other one lacks. */
static void compare(const json_t *these, const json_t *those, bool both, text *out) {
    const char *group, *name;
    json_t *values, *value;
    text full;
    text_init(&full);
    json_object_foreach((json_t *)(uintptr_t)these, group, values) {
        const json_t *others = json_object_get(those, group);
        json_object_foreach(values, name, value) {
            const char *one = json_string_value(value), *other = json_text_at(others, name);
            text_clear(&full);
            text_printf(&full, "%s.%s", group, name);
            if (both && strcmp(one, other) != 0)
                put_difference(full.data, one, other, out);
            else if (!both && !json_object_get(others, name))
                put_difference(full.data, "", one, out);
        }
    }
    text_release(&full);
}

bool environment_differences(const char *recorded, size_t size_bytes, const json_t *here,
                             text *out) {
    json_error_t error;
    json_t *there = size_bytes <= ENVIRONMENT_BYTES_MAX
                        ? json_loadb(recorded, size_bytes, JSON_REJECT_DUPLICATES, &error)
                        : NULL;
    bool ok = is_sound(there);
    if (ok) {
        compare(there, here, true, out);
        compare(here, there, false, out);
    }
    json_decref(there);
    return ok;
}
