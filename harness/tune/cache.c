/* cache.c - reading, checking, merging and replacing the file of tuned schedules. */
#include "tune/cache.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/escape.h"
#include "base/file.h"
#include "common/build_id.h"
#include "common/json_text.h"

enum { FILE_BYTES_MAX = 256 << 20, LINE_BYTES_MAX = 1 << 20, SCHEDULE_BYTES_MAX = 2000 };
static const char header[] = "{\"schema\":\"tsr.tune/1\"}";

/* ---- entries ---- */

/* Every field of an entry, what it must be, and whether the key is made of it. */
static const struct field {
    const char *name;
    json_type type;
    bool in_key, optional; /* optional: entries of kernels without it lack it */
} fields[] = {
    {"graph", JSON_STRING, true, false},
    {"shapes", JSON_STRING, true, false},
    {"types", JSON_STRING, true, false},
    {"isa", JSON_STRING, true, false},
    {"profile", JSON_STRING, true, false},
    {"threads", JSON_INTEGER, true, false},
    {"tsr", JSON_STRING, true, false},
    {"kernel", JSON_STRING, false, false},
    {"case", JSON_STRING, false, false},
    {"cpu", JSON_STRING, false, false},
    {"schedule", JSON_STRING, false, false},
    {"space", JSON_STRING, false, true},
    {"by", JSON_STRING, false, true},
    {"default_cycles", JSON_INTEGER, false, true},
    {"tuned_cycles", JSON_INTEGER, false, true},
    {"default_ns", JSON_INTEGER, false, false},
    {"tuned_ns", JSON_INTEGER, false, false},
    {"tried", JSON_ARRAY, false, false},
    {"sha256", JSON_STRING, false, false},
};
enum { FIELDS = sizeof fields / sizeof *fields };

static void digest_of(const json_t *entry, char hex[65]) {
    json_t *copy = json_copy((json_t *)(uintptr_t)entry);
    json_object_del(copy, "sha256");
    char *words = json_dumps(copy, JSON_COMPACT | JSON_SORT_KEYS);
    sha256 digest = sha256_of(words, strlen(words));
    sha256_hex(&digest, hex);
    free(words);
    json_decref(copy);
}

void tune_seal(json_t *entry) {
    char hex[65];
    digest_of(entry, hex);
    json_object_set_new(entry, "sha256", json_string(hex));
}

double tune_amount(const json_t *entry, const char *which, text *out) {
    bool weighed = *json_text_at(entry, "by");
    char name[32];
    snprintf(name, sizeof name, "%s_%s", which, weighed ? "cycles" : "ns");
    double amount = (double)json_integer_value(json_object_get(entry, name));
    if (weighed)
        text_printf(out, "%.0f cycles by the model", amount);
    else
        text_printf(out, "%.3f us", amount * 1e-3);
    return amount;
}

static char *key_of(const json_t *entry) {
    text key;
    text_init(&key);
    for (int i = 0; i < FIELDS; i++) {
        const json_t *value = json_object_get(entry, fields[i].name);
        if (fields[i].in_key && json_is_string(value))
            text_printf(&key, "%s|", json_string_value(value));
        else if (fields[i].in_key)
            text_printf(&key, "%" JSON_INTEGER_FORMAT "|", json_integer_value(value));
    }
    char *kept = text_take(&key);
    text_release(&key);
    return kept;
}

json_t *tune_entry(compiler_instance *instance, const compiler_case *c, const char *isa,
                   const job *j) {
    text shapes, types;
    char hex[65];
    text_init(&shapes);
    text_init(&types);
    sha256_hex(compiler_instance_hash(instance), hex);
    for (uint32_t i = 0; i < c->dim_count; i++)
        text_printf(&shapes, "%s%s=%" PRId64, i ? "," : "", c->dims[i].name, c->dims[i].value);
    for (uint32_t i = 0; i < c->type_count; i++)
        text_printf(&types, "%s%s=%s", i ? "," : "", c->types[i].name,
                    dtype_name(c->types[i].type));
    json_t *entry = json_pack("{s:s, s:s, s:s, s:s, s:s, s:I, s:s, s:s, s:s}", "graph", hex,
                              "shapes", shapes.data, "types", types.data, "isa", isa, "profile",
                              j->profile, "threads", (json_int_t)j->threads, "tsr", build_id(),
                              "kernel", j->kernel, "case", j->case_name);
    text_release(&shapes);
    text_release(&types);
    return entry;
}

char *tune_key(compiler_instance *instance, const compiler_case *c, const char *isa, const job *j) {
    json_t *entry = tune_entry(instance, c, isa, j);
    char *key = key_of(entry);
    json_decref(entry);
    return key;
}

static const struct field *field_named(const char *name) {
    for (int i = 0; i < FIELDS; i++)
        if (strcmp(fields[i].name, name) == 0)
            return &fields[i];
    return NULL;
}

static bool is_list_of_values(const char *words) {
    static const char allowed[] =
        "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789_.=,";
    return strlen(words) < SCHEDULE_BYTES_MAX && !words[strspn(words, allowed)];
}

/* NULL, or what is wrong with an entry. */
static const char *find_fault(json_t *entry, char why[160]) {
    const char *name;
    json_t *value;
    char hex[65];
    if (!json_is_object(entry))
        return "it is no JSON object";
    json_object_foreach(entry, name, value) {
        const struct field *f = field_named(name);
        snprintf(why, 160, "%s '%.60s'", f ? "another type is wanted for" : "unknown field", name);
        if (!f || json_typeof(value) != f->type)
            return why;
    }
    for (int i = 0; i < FIELDS; i++) {
        snprintf(why, 160, "'%s' is missing", fields[i].name);
        if (!fields[i].optional && !json_object_get(entry, fields[i].name))
            return why;
    }
    digest_of(entry, hex);
    if (strcmp(hex, json_text_at(entry, "sha256")) != 0)
        return "its checksum does not hold";
    if (!is_list_of_values(json_text_at(entry, "schedule")))
        return "its schedule is no list of NAME=NUMBER";
    return is_list_of_values(json_text_at(entry, "space"))
               ? NULL
               : "its choice of a space is no list of NAME=NUMBER";
}

/* ---- the file ---- */

/* Replaces an equal key, and becomes the newest. */
static void put_entry(tune_cache *c, json_t *entry) {
    char *key = key_of(entry);
    json_object_del(c->entries, key);
    json_object_set(c->entries, key, entry);
    free(key);
    while (json_object_size(c->entries) > TUNE_ENTRIES_MAX)
        json_object_del(c->entries, json_object_iter_key(json_object_iter(c->entries)));
}

static void read_line(tune_cache *c, const char *path, uint32_t number, const char *line,
                      size_t length) {
    char why[160];
    json_t *entry = length < LINE_BYTES_MAX ? json_loadb(line, length, 0, NULL) : NULL;
    const char *fault = find_fault(entry, why);
    if (!fault) {
        put_entry(c, entry);
    } else {
        c->refused++;
        text_show(&c->complaints, "%s:%u: entry refused%s%s%s%s: %s\n", path, number,
                  *json_text_at(entry, "kernel") ? ", of " : "", json_text_at(entry, "kernel"),
                  *json_text_at(entry, "case") ? "/" : "", json_text_at(entry, "case"), fault);
    }
    json_decref(entry);
}

static bool read_lines(tune_cache *c, const char *path, const char *data, size_t size, status *st) {
    uint32_t number = 0;
    for (const char *p = data, *end; p < data + size; p = end + 1) {
        end = memchr(p, '\n', (size_t)(data + size - p));
        end = end ? end : data + size;
        number++;
        bool is_header =
            (size_t)(end - p) == sizeof header - 1 && memcmp(p, header, sizeof header - 1) == 0;
        if (number == 1 && !is_header)
            return status_set(st, STATUS_CORRUPT,
                              "%s is no cache of schedules, or one of another version", path);
        if (number > 1 && end > p)
            read_line(c, path, number, p, (size_t)(end - p));
    }
    return number > 0 || status_set(st, STATUS_CORRUPT, "%s is empty", path);
}

bool tune_cache_read(const char *path, tune_cache *out, status *st) {
    char *data;
    size_t size;
    *out = (tune_cache){.entries = json_object()};
    text_init(&out->complaints);
    if (!file_exists(path))
        return true;
    if (!file_read(path, FILE_BYTES_MAX, &data, &size, st))
        return false;
    bool ok = read_lines(out, path, data, size, st);
    free(data);
    return ok;
}

void tune_cache_release(tune_cache *c) {
    json_decref(c->entries);
    c->entries = NULL;
    text_release(&c->complaints);
}

const json_t *tune_cache_find(const tune_cache *c, const char *key) {
    return json_object_get(c->entries, key);
}

bool tune_cache_write(const char *path, const tune_cache *c, status *st) {
    text out;
    const char *key;
    json_t *entry;
    text_init(&out);
    text_printf(&out, "%s\n", header);
    json_object_foreach(c->entries, key, entry) {
        char *line = json_dumps(entry, JSON_COMPACT | JSON_SORT_KEYS);
        text_printf(&out, "%s\n", line);
        free(line);
    }
    bool ok = file_make_parent(path, st) && file_write_atomic(path, out.data, out.length, st);
    text_release(&out);
    return ok;
}

/* Time against the default's, at best 0. */
static double gain_of(const json_t *entry) {
    text ignored;
    text_init(&ignored);
    double was = tune_amount(entry, "default", &ignored),
           is = tune_amount(entry, "tuned", &ignored);
    text_release(&ignored);
    return was > 0 ? is / was : 1;
}

static bool is_better(const json_t *a, const json_t *b) {
    bool timed[] = {!*json_text_at(a, "by"), !*json_text_at(b, "by")};
    if (timed[0] != timed[1])
        return timed[0];
    double gains[] = {gain_of(a), gain_of(b)};
    if (gains[0] < gains[1] || gains[0] > gains[1])
        return gains[0] < gains[1];
    return strcmp(json_text_at(a, "sha256"), json_text_at(b, "sha256")) < 0;
}

static bool is_same_choice(const json_t *a, const json_t *b) {
    return strcmp(json_text_at(a, "schedule"), json_text_at(b, "schedule")) == 0 &&
           strcmp(json_text_at(a, "space"), json_text_at(b, "space")) == 0;
}

static void tell_choice(const json_t *better, const json_t *other, text *complaints) {
    const json_t *both[] = {better, other};
    text_show(complaints, "%s/%s: two schedules: ", json_text_at(better, "kernel"),
              json_text_at(better, "case"));
    for (int i = 0; i < 2; i++) {
        const char *schedule = json_text_at(both[i], "schedule");
        text_show(complaints, "%s%s, %.3f of the default on %s", i ? "; instead of " : "",
                  *schedule ? schedule : "the default", gain_of(both[i]),
                  json_text_at(both[i], "cpu"));
    }
    text_append(complaints, "\n");
}

static void merge_entry(tune_cache *c, json_t *entry, text *complaints) {
    char *key = key_of(entry);
    json_t *there = json_object_get(c->entries, key);
    bool better = !there || is_better(entry, there);
    if (there && !is_same_choice(entry, there))
        tell_choice(better ? entry : there, better ? there : entry, complaints);
    if (better)
        put_entry(c, entry);
    free(key);
}

/* Changes the file under its lock. `complaints`: entries are merged, and it says of both; NULL:
 * they replace. */
static bool change(const char *path, json_t *entries, text *complaints, status *st) {
    tune_cache c;
    if (!file_make_parent(path, st))
        return false;
    int lock = file_lock_beside(path, st);
    if (lock < 0)
        return false;
    bool ok = tune_cache_read(path, &c, st);
    size_t i;
    json_t *entry;
    json_array_foreach(entries, i, entry) {
        if (ok && complaints)
            merge_entry(&c, entry, complaints);
        else if (ok)
            put_entry(&c, entry);
    }
    ok = ok && tune_cache_write(path, &c, st);
    if (complaints)
        text_append(complaints, c.complaints.data);
    tune_cache_release(&c);
    close(lock);
    return ok;
}

bool tune_cache_add(const char *path, json_t *entries, status *st) {
    return change(path, entries, NULL, st);
}

bool tune_cache_merge(const char *path, json_t *entries, text *complaints, status *st) {
    return change(path, entries, complaints, st);
}
