/* cmd_devices.c - tsr devices: what this machine has. */
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "case/backend.h"
#include "cli/command.h"
#include "common/json_text.h"
#include "common/say.h"
#include "device/host.h"
#include "exec/backend_device.h"
#include "measure/host_facts.h"
#include "report/document.h"
#include "tessera/tessera.h"

static json_t *backend_facts(const backend *b) {
    status st = STATUS_INIT;
    uint32_t device = 0;
    tsr_device_info_t info = {.struct_size = sizeof info};
    bool usable = backend_device(b, &device, &st);
    if (usable && *b->driver && !backend_is_tools(b))
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
    return facts;
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
    if (!json_is_true(json_object_get(facts, "usable")))
        say(stdout, "         missing: %s\n", json_string_value(json_object_get(facts, "why")));
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
