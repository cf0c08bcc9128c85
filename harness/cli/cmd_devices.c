/* cmd_devices.c - tsr devices: what this machine has. */
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "capabilities.h"
#include "case/backend.h"
#include "cli/command.h"
#include "common/json_text.h"
#include "common/say.h"
#include "device/host/host.h"
#include "exec/backend_device.h"
#include "measure/host_facts.h"
#include "report/document.h"
#include "tessera/tessera.h"

/* Capabilities of its device, or of one that is not here. */
static json_t *capabilities_of(const backend *b, bool usable, uint32_t device, const char *why) {
    const backend_id id = (backend_id)(b - backend_table);
    bool runs = usable && backend_has_device(b);
    uint32_t index;
    const char *told = NULL;
    if (runs && tsrGetCapabilities(device, &told) == TSR_SUCCESS)
        return json_loads(told, 0, NULL);
    char *own = capabilities_text(id, capability_driver(id, &index), NULL, usable ? NULL : why);
    json_t *all = own ? json_loads(own, 0, NULL) : NULL;
    free(own);
    return all ? all : json_null();
}

static json_t *backend_facts(const backend *b) {
    status st = STATUS_INIT;
    uint32_t device = 0;
    tsr_device_info_t info = {.struct_size = sizeof info};
    bool usable = backend_device(b, NULL, &device, &st);
    if (usable && backend_has_device(b))
        tsrGetDeviceInfo(device, &info);
    json_t *facts =
        json_pack("{s:s, s:s, s:b, s:o, s:s, s:b}", "backend", b->name, "summary", b->summary,
                  "usable", usable, "why", json_text(usable ? NULL : st.message), "profiles",
                  b->profiles, "timed", b->timed);
    json_object_set_new(facts, "device", info.name ? json_string(info.name) : json_null());
    json_object_set_new(facts, "isa", info.isa ? json_string(info.isa) : json_null());
    json_object_set_new(facts, "compute_units",
                        info.name ? json_integer(info.compute_units) : json_null());
    json_object_set_new(facts, "memory_bytes",
                        info.name ? json_integer((json_int_t)info.memory_bytes) : json_null());
    json_object_set_new(facts, "capabilities", capabilities_of(b, usable, device, st.message));
    return facts;
}

/* ---- capabilities in words ---- */

static void put_types(const json_t *capabilities, text *line) {
    const char *type;
    json_t *how;
    size_t i;
    const json_t *profile;
    text_append(line, "all native");
    bool first = true;
    json_object_foreach(json_object_get(capabilities, "types"), type, how) {
        const char *as = json_string_value(json_object_get(how, "as"));
        if (json_is_string(how))
            continue;
        text_printf(line, "%s %s %s%s", first ? " but" : ",", type, as ? "as " : "not at all",
                    as ? as : "");
        json_array_foreach(json_object_get(how, "profiles"), i, profile)
            text_printf(line, "%s%s", i ? ", " : " under ", json_string_value(profile));
        first = false;
    }
}

static void put_units(const json_t *capabilities, text *line) {
    const char *type;
    json_t *orders;
    size_t i;
    const json_t *order;
    json_object_foreach(json_object_get(capabilities, "matrix_unit"), type, orders) {
        text_printf(line, "%s%s (", line->length ? ", " : "", type);
        json_array_foreach(orders, i, order)
            text_printf(line, "%s%s", i ? ", " : "", json_string_value(order));
        text_append(line, ")");
    }
    if (!line->length)
        text_append(line, "none");
}

static void put_workgroup(const json_t *capabilities, text *line) {
    static const char *const rows[][2] = {{"workgroup_threads", "%lld threads"},
                                          {"subgroup", "in step %lld"},
                                          {"shared_bytes", "%lld bytes shared"}};
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        const json_t *value = json_object_get(capabilities, rows[i][0]);
        char words[64];
        if (!json_is_integer(value))
            continue;
        snprintf(words, sizeof words, rows[i][1], (long long)json_integer_value(value));
        text_printf(line, "%s%s", line->length ? ", " : "", words);
    }
    text_append(line, json_is_true(json_object_get(capabilities, "async_copy"))
                          ? ", copied to without registers"
                          : "");
}

static void print_lacks(const json_t *capabilities) {
    size_t i;
    json_t *one;
    json_array_foreach(json_object_get(capabilities, "missing"), i, one) {
        const char *why = json_string_value(json_object_get(one, "why")),
                   *how = json_string_value(json_object_get(one, "how"));
        say(stdout, "         lacks %s: %s%s%s\n", json_string_value(json_object_get(one, "what")),
            why ? why : "", how ? "; " : "", how ? how : "");
    }
}

static void print_capabilities(const json_t *capabilities) {
    static const struct {
        const char *name;
        void (*put)(const json_t *capabilities, text *line);
    } lines[] = {{"types", put_types}, {"matrix units", put_units}, {"workgroup", put_workgroup}};
    text line;
    text_init(&line);
    for (size_t i = 0; i < sizeof lines / sizeof *lines; i++) {
        text_clear(&line);
        lines[i].put(capabilities, &line);
        say(stdout, "         %s: %s\n", lines[i].name, line.data);
    }
    text_release(&line);
    print_lacks(capabilities);
}

static void print_backend(const json_t *facts) {
    const char *device = json_string_value(json_object_get(facts, "device"));
    say(stdout, "%-8s %s\n", json_string_value(json_object_get(facts, "backend")),
        json_string_value(json_object_get(facts, "summary")));
    say(stdout, "         profiles: %s\n", json_string_value(json_object_get(facts, "profiles")));
    if (device)
        say(stdout, "         device: %s, %s, %" JSON_INTEGER_FORMAT " cores, %.1f GiB\n", device,
            json_string_value(json_object_get(facts, "isa")),
            json_integer_value(json_object_get(facts, "compute_units")),
            json_number_value(json_object_get(facts, "memory_bytes")) / 0x1p30);
    const json_t *capabilities = json_object_get(facts, "capabilities"),
                 *first = json_array_get(json_object_get(capabilities, "missing"), 0);
    const char *how = json_string_value(json_object_get(first, "how"));
    if (device && json_is_string(json_object_get(capabilities, "backend")))
        print_capabilities(capabilities);
    if (json_is_true(json_object_get(facts, "usable")))
        return;
    say(stdout, "         missing: %s\n", json_string_value(json_object_get(facts, "why")));
    if (how)
        say(stdout, "         to get it: %s\n", how);
}

static void print_host(const json_t *host) {
    const char *why = json_string_value(json_object_get(host, "counters_why"));
    say(stdout, "host     %s%s, %s\n", json_string_value(json_object_get(host, "os")),
        json_is_true(json_object_get(host, "virtualised")) ? ", virtual machine" : "",
        json_string_value(json_object_get(host, "kernel")));
    say(stdout, "         counters: %s%s%s\n", json_string_value(json_object_get(host, "counters")),
        why ? "; " : "", why ? why : "");
    for (size_t i = 0; host_isa_level(i); i++) {
        char reason[HOST_REASON_BYTES];
        host_isa_why_not(host_isa_level(i), reason);
        say(stdout, "         %-14s %s\n", host_isa_level(i), *reason ? reason : "yes");
    }
}

int command_devices(const options *o) {
    if (o->arguments.count)
        return command_usage(o->command, "devices takes no arguments");
    json_t *backends = json_array(), *host = host_facts();
    for (int i = 0; i < BACKEND_COUNT; i++)
        json_array_append_new(backends, backend_facts(&backend_table[i]));
    if (options_flag(o, OPTION_JSON)) {
        json_t *document = json_pack("{s:s, s:O, s:O}", "schema", "tsr.devices/1", "host", host,
                                     "backends", backends);
        document_print(document, stdout);
        json_decref(document);
    } else {
        size_t i;
        json_t *facts;
        json_array_foreach(backends, i, facts) print_backend(facts);
        print_host(host);
    }
    json_decref(backends);
    json_decref(host);
    return EXIT_DONE;
}
