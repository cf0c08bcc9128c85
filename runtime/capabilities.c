/* capabilities.c - what a device can do, as one document: what its driver says, and for the rest
 * the table of chips. The keys are those of capability_keys.def. */
#include "capabilities.h"

#include <jansson.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/arena.h"
#include "base/vec.h"
#include "device/host/host.h"
#include "runtime.h"

typedef struct report {
    backend_id id; /* BACKEND_COUNT: none */
    const char *driver, *family;
    const device_info *info;     /* NULL: there is no device */
    const char *why;             /* it cannot be used; NULL: it can */
    const capability_chip *chip; /* that its code is made for; NULL: several, or none */
    json_t *root, *missing;
} report;

static json_t *text_or_null(const char *words) {
    return words && *words ? json_string(words) : json_null();
}

static json_t *count_or_null(uint64_t count) {
    return count ? json_integer((json_int_t)count) : json_null();
}

/* ---- what is missing ---- */

/* `why`: what the machine says, where the table leaves it to that. */
static void add_missing(report *s, const char *what, const char *lack, const char *why) {
    const capability_lack *row = capability_lack_of(lack, s->driver, s->family);
    const char *told = row && row->why ? row->why : why;
    json_array_append_new(s->missing,
                          json_pack("{s:s, s:o, s:o}", "what", what, "why", text_or_null(told),
                                    "how", text_or_null(row ? row->how : NULL)));
}

/* ---- profiles and types ---- */

static json_t *profiles_of(const report *s) {
    json_t *list = json_array();
    const char *at = s->id < BACKEND_COUNT ? capability_profiles(s->id) : "";
    for (size_t length; *at; at += length + (at[length] == ' ')) {
        length = strcspn(at, " ");
        json_array_append_new(list, json_stringn(at, length));
    }
    return list;
}

static const char *unit_of(const report *s, dtype type, size_t index) {
    const capability_scope scope = {s->family, s->chip ? s->chip->name : NULL};
    return s->family && (s->chip || s->info) ? capability_unit_at(&scope, type, index) : NULL;
}

/* Strict code uses a unit for the orders that are named after it alone. */
static json_t *fallback_of(report *s, dtype type, const capability *c) {
    json_t *under = unit_of(s, type, 0) ? json_pack("[s]", "strict") : profiles_of(s);
    add_missing(s, dtype_name(type), dtype_name(type), c->why);
    return json_pack("{s:s, s:s, s:o}", "as", dtype_name(c->as), "why", c->why, "profiles", under);
}

static json_t *lacking_f64(report *s) {
    const capability_lack *row = capability_lack_of("f64", s->driver, s->family);
    const char *why = row && row->why ? row->why : "the device has no f64";
    add_missing(s, "f64", "f64", why);
    return json_pack("{s:n, s:s, s:o}", "as", "why", why, "profiles", profiles_of(s));
}

static json_t *type_of(report *s, dtype type) {
    const capability *c = capability_of(s->id, type);
    if (type == DTYPE_F64 && s->info && s->info->f64.fma == DEVICE_WAY_NONE)
        return lacking_f64(s);
    return c->as == DTYPE_NONE ? json_string("native") : fallback_of(s, type, c);
}

static json_t *types_of(report *s) {
    json_t *all = json_object();
    if (s->id == BACKEND_COUNT)
        return json_decref(all), json_null();
    for (int t = DTYPE_NONE + 1; t < DTYPE_COUNT; t++)
        json_object_set_new(all, dtype_name((dtype)t), type_of(s, (dtype)t));
    return all;
}

/* ---- the chip ---- */

/* Tells that the chip copies; of a device for a whole family, that any chip of it does. */
static bool copies(const report *s) {
    const capability_chip *chip = s->chip;
    for (size_t i = 0; !s->chip && (chip = capability_chip_at(i)); i++)
        if (strcmp(chip->family, s->family) == 0 && chip->copies)
            return true;
    return chip && chip->copies;
}

static json_t *units_of(const report *s) {
    json_t *all = json_object();
    for (int t = DTYPE_NONE + 1; t < DTYPE_COUNT; t++) {
        json_t *list = json_array();
        const char *name;
        for (size_t i = 0; (name = unit_of(s, (dtype)t, i)); i++)
            json_array_append_new(list, json_string(name));
        if (json_array_size(list))
            json_object_set(all, dtype_name((dtype)t), list);
        json_decref(list);
    }
    return all;
}

static const char *why_no_unit(const report *s) {
    static _Thread_local char reason[HOST_REASON_BYTES];
    if (strcmp(s->family, "cpu") != 0)
        return NULL;
    const char *best = host_isa_level(0);
    *reason = '\0';
    if (best && strcmp(best, "x86-64-v4+dot") == 0)
        host_isa_why_not(best, reason);
    if (!*reason)
        snprintf(reason, sizeof reason, "code for %.40s has no such instructions", s->info->isa);
    return reason;
}

static void put_chip(report *s) {
    bool known = s->info && s->family;
    json_t *units = known ? units_of(s) : json_null();
    uint64_t subgroup = !known              ? 0
                        : s->info->subgroup ? s->info->subgroup
                        : s->chip           ? s->chip->subgroup
                                            : 0;
    bool threads = known && strcmp(s->family, "cpu") != 0; /* share a workgroup's memory */
    json_object_set_new(s->root, "matrix_unit", units);
    json_object_set_new(s->root, "subgroup", count_or_null(subgroup));
    json_object_set_new(s->root, "shared_bytes",
                        count_or_null(threads ? s->info->workgroup_memory_bytes : 0));
    json_object_set_new(s->root, "workgroup_threads",
                        count_or_null(s->info ? s->info->workgroup_threads : 0));
    json_object_set_new(s->root, "async_copy", known ? json_boolean(copies(s)) : json_null());
    if (known && json_object_size(units) == 0)
        add_missing(s, "matrix_unit", "matrix_unit", why_no_unit(s));
    if (known && !copies(s))
        add_missing(s, "async_copy", "async_copy", NULL);
}

/* ---- arithmetic ---- */

static json_t *way(report *s, const char *type, const char *name, device_way w) {
    static const char *const words[DEVICE_WAY_COUNT] = {[DEVICE_WAY_NATIVE] = "native",
                                                        [DEVICE_WAY_EMULATED] = "emulated",
                                                        [DEVICE_WAY_NONE] = "none"};
    char what[32];
    snprintf(what, sizeof what, "%s of %s", name, type);
    if (w == DEVICE_WAY_EMULATED || w == DEVICE_WAY_NONE)
        add_missing(s, what, "arithmetic", NULL);
    return text_or_null(words[w]);
}

static json_t *arithmetic_of(report *s, const char *type, const device_arithmetic *a) {
    json_t *all = json_object();
    json_object_set_new(all, "fma", way(s, type, "fma", a->fma));
    json_object_set_new(all, "divide", way(s, type, "divide", a->divide));
    json_object_set_new(all, "root", way(s, type, "root", a->root));
    return all;
}

static json_t *both_arithmetics(report *s) {
    if (!s->info || s->info->f32.fma == DEVICE_WAY_UNKNOWN)
        return json_null();
    bool wide = s->info->f64.fma != DEVICE_WAY_NONE;
    json_t *all = json_object();
    json_object_set_new(all, "f32", arithmetic_of(s, "f32", &s->info->f32));
    json_object_set_new(all, "f64", wide ? arithmetic_of(s, "f64", &s->info->f64) : json_null());
    return all;
}

/* ---- the document ---- */

static json_t *memory_kinds_of(const device_info *info) {
    static const char *const names[DEVICE_MEMORY_KIND_COUNT] = {[DEVICE_MEMORY_DEVICE] = "device",
                                                                [DEVICE_MEMORY_HOST_VISIBLE] =
                                                                    "host-visible",
                                                                [DEVICE_MEMORY_PINNED] = "pinned"};
    json_t *list = json_array();
    for (int i = 0; i < DEVICE_MEMORY_KIND_COUNT; i++)
        if (info->memory_kinds >> i & 1)
            json_array_append_new(list, json_string(names[i]));
    return list;
}

static void put_device(report *s) {
    const device_info *d = s->info;
    json_object_set_new(s->root, "compute_units",
                        count_or_null(d && !d->units_unknown ? d->compute_units : 0));
    json_object_set_new(s->root, "memory_bytes", count_or_null(d ? d->memory_bytes : 0));
    json_object_set_new(s->root, "memory_kinds", d ? memory_kinds_of(d) : json_null());
    json_object_set_new(s->root, "timestamp_ns", count_or_null(d ? d->timestamp_ns : 0));
}

static void put_all(report *s) {
    enum { PROFILES = 3 };
    const device_info *d = s->info;
    json_object_set_new(s->root, "backend", text_or_null(s->family));
    json_object_set_new(s->root, "driver",
                        device_driver_find(s->driver) ? json_string(s->driver) : json_null());
    json_object_set_new(s->root, "device", text_or_null(d ? d->name : NULL));
    json_object_set_new(s->root, "isa", text_or_null(d ? d->isa : NULL));
    json_t *profiles = profiles_of(s);
    json_object_set_new(s->root, "profiles", profiles);
    if (s->why)
        add_missing(s, "device", "device", s->why);
    if (s->family && json_array_size(profiles) < PROFILES)
        add_missing(s, "profiles", "profiles", NULL);
    json_object_set_new(s->root, "types", types_of(s));
    put_chip(s);
    json_object_set_new(s->root, "arithmetic", both_arithmetics(s));
    put_device(s);
    json_object_set_new(s->root, "missing", s->missing);
}

char *capabilities_text(backend_id id, const char *driver, const device_info *info,
                        const char *why) {
    report s = {.id = id,
                .driver = driver,
                .family = id < BACKEND_COUNT ? capability_family(id) : NULL,
                .info = info,
                .why = why,
                .chip = info && info->isa ? capability_chip_find(info->isa) : NULL,
                .root = json_object(),
                .missing = json_array()};
    put_all(&s);
    char *told = json_dumps(s.root, JSON_COMPACT | JSON_ENSURE_ASCII);
    json_decref(s.root);
    return told;
}

/* ---- texts that stay ---- */

/* Devices come and go with the environment, but there are few: each text is kept once. */
static const char *keep(char *told) {
    static pthread_mutex_t mutex = PTHREAD_MUTEX_INITIALIZER;
    static VEC(char *) kept;
    size_t i = 0;
    pthread_mutex_lock(&mutex);
    while (i < kept.count && strcmp(kept.items[i], told) != 0)
        i++;
    if (i == kept.count)
        vec_push(&kept, told);
    else
        free(told);
    told = kept.items[i];
    pthread_mutex_unlock(&mutex);
    return told;
}

tsr_status_t tsrGetCapabilities(uint32_t index, const char **json) {
    status st = STATUS_INIT;
    uint32_t own_index;
    device_info info;
    if (!json)
        return error_null("json");
    const device_driver *driver = device_listed_at(index, &own_index);
    if (!driver || !driver->enumerate(own_index, &info))
        return error_set(TSR_ENOTFOUND, "device %u does not exist; there are %u", index,
                         device_listed_count());
    const char *why = info.unavailable;
    if (!why && driver->examine && !driver->examine(own_index, &info, &st))
        why = st.message;
    backend_id id = capability_backend(driver->name, own_index);
    char *told = capabilities_text(id, driver->name, &info, why);
    if (!told)
        return error_set(TSR_EOOM, "no memory for the capabilities of device %u", index);
    *json = keep(told);
    return TSR_SUCCESS;
}
