/* cmd_devices.c - tsr devices: what this machine has. */
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "capabilities.h"
#include "case/backend.h"
#include "cli/command.h"
#include "cli/named.h"
#include "common/json_text.h"
#include "common/say.h"
#include "device/host/host.h"
#include "exec/backend_device.h"
#include "implementation/implementation.h"
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

/* ---- plugins of PJRT ---- */

/* One without a device is told with the reason, like a backend. */
static json_t *plugin_facts(const char *name, const char *file, const char *topology) {
    status st = STATUS_INIT;
    json_t *partly = NULL;
    json_t *told = implementation_plugin_facts(file, topology, NULL, &partly, &st);
    const bool usable = told != NULL;
    json_t *facts =
        json_pack("{s:o, s:o, s:b, s:o}", "plugin", json_text(name), "file", json_text(file),
                  "usable", usable, "why", json_text(usable ? NULL : st.message));
    static const char *const keys[] = {"interface", "platform", "version", "attributes", "devices"};
    for (size_t i = 0; i < sizeof keys / sizeof *keys; i++) {
        json_t *value = json_object_get(usable ? told : partly, keys[i]);
        json_object_set(facts, keys[i], value ? value : json_null());
    }
    json_decref(told);
    json_decref(partly);
    return facts;
}

static void print_plugin(const json_t *facts) {
    static const char *const kept[] = {"platform", "version"};
    const char *interface = json_text_at(facts, "interface");
    size_t i;
    json_t *device;
    say(stdout, "%s  a plugin of PJRT%s%s: %s\n", json_text_at(facts, "plugin"),
        *interface ? " " : "", interface, json_text_at(facts, "file"));
    for (size_t k = 0; k < sizeof kept / sizeof *kept; k++)
        if (*json_text_at(facts, kept[k]))
            say(stdout, "         %s: %s\n", kept[k], json_text_at(facts, kept[k]));
    json_array_foreach(json_object_get(facts, "devices"), i, device)
        say(stdout, "         device: %s, %s\n", json_text_at(device, "name"),
            json_text_at(device, "kind"));
    if (!json_is_true(json_object_get(facts, "usable")))
        say(stdout, "         missing: %s\n", json_text_at(facts, "why"));
}

/* Those that the environment names. */
static void take_named_plugins(json_t *plugins) {
    arena memory;
    const char *name, *file;
    arena_init(&memory);
    for (size_t i = 0; implementation_plugin_at(i, &memory, &name, &file); i++)
        json_array_append_new(plugins,
                              plugin_facts(arena_printf(&memory, "pjrt:%s", name), file, NULL));
    arena_release(&memory);
}

/* ---- all, or those that were named ---- */

static int take_word(const options *o, const char *word, json_t *backends, json_t *plugins) {
    status st = STATUS_INIT;
    implementation i;
    if (!implementation_is_plugin(word)) {
        const backend_id id = backend_asked(word);
        if (id == BACKEND_COUNT)
            return named_no_backend(o, word);
        json_array_append_new(backends, backend_facts(&backend_table[id]));
        return EXIT_DONE;
    }
    const bool ok = implementation_open(&i, word, &st);
    if (ok)
        json_array_append_new(plugins, plugin_facts(i.name, i.path, i.symbol));
    implementation_release(&i);
    return ok ? EXIT_DONE : command_fail(&st);
}

static int take_words(const options *o, json_t *backends, json_t *plugins) {
    arena memory;
    string_list words = {0};
    int code = EXIT_DONE;
    arena_init(&memory);
    options_split(options_text(o, OPTION_BACKEND, ""), &memory, &words);
    for (size_t i = 0; i < words.count && !code; i++)
        code = take_word(o, words.items[i], backends, plugins);
    vec_release(&words);
    arena_release(&memory);
    return code;
}

static int take_all(json_t *backends, json_t *plugins) {
    for (int i = 0; i < BACKEND_COUNT; i++)
        json_array_append_new(backends, backend_facts(&backend_table[i]));
    take_named_plugins(plugins);
    return EXIT_DONE;
}

static void print_all(const options *o, json_t *backends, json_t *plugins) {
    json_t *host = host_facts(), *facts;
    size_t i;
    if (options_flag(o, OPTION_JSON)) {
        json_t *document = json_pack("{s:s, s:O, s:O, s:O}", "schema", "tsr.devices/1", "host",
                                     host, "backends", backends, "plugins", plugins);
        document_print(document, stdout);
        json_decref(document);
    } else {
        json_array_foreach(backends, i, facts) print_backend(facts);
        json_array_foreach(plugins, i, facts) print_plugin(facts);
        if (!options_flag(o, OPTION_BACKEND))
            print_host(host);
    }
    json_decref(host);
}

int command_devices(const options *o) {
    if (o->arguments.count)
        return command_usage(o->command, "devices takes no arguments");
    json_t *backends = json_array(), *plugins = json_array();
    int code = options_flag(o, OPTION_BACKEND) ? take_words(o, backends, plugins)
                                               : take_all(backends, plugins);
    if (!code)
        print_all(o, backends, plugins);
    json_decref(backends);
    json_decref(plugins);
    return code;
}
