/* cmd_devices.c - tsr devices and tsr roofline: what this machine is and can do. */
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "cli/choice.h"
#include "cli/command.h"
#include "device/host.h"
#include "measure/ceilings.h"
#include "report/document.h"
#include "report/host_facts.h"
#include "report/plot.h"
#include "tessera/tessera.h"

/* ---- devices ---- */
static json_t *backend_facts(const backend *b) {
    status st = STATUS_INIT;
    uint32_t device = 0;
    tsr_device_info_t info = {0};
    bool usable = backend_device(b, &device, &st);
    if (usable && *b->driver && !backend_is_tools(b))
        tsrGetDeviceInfo(device, &info);
    json_t *facts = json_pack("{s:s, s:s, s:b, s:s?, s:s, s:b}", "backend", b->name, "summary",
                              b->summary, "usable", usable, "why", usable ? NULL : st.message,
                              "profiles", b->profiles, "timed", b->timed);
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
    printf("%-8s %s\n", json_string_value(json_object_get(facts, "backend")),
           json_string_value(json_object_get(facts, "summary")));
    printf("         profiles: %s\n", json_string_value(json_object_get(facts, "profiles")));
    if (device)
        printf("         device: %s, %s, %" JSON_INTEGER_FORMAT " cores, %.1f GiB\n", device,
               json_string_value(json_object_get(facts, "isa")),
               json_integer_value(json_object_get(facts, "compute_units")),
               json_number_value(json_object_get(facts, "memory_bytes")) / 0x1p30);
    if (!json_is_true(json_object_get(facts, "usable")))
        printf("         missing: %s\n", json_string_value(json_object_get(facts, "why")));
}

static void print_host(const json_t *host) {
    const char *why = json_string_value(json_object_get(host, "counters_why"));
    printf("host     %s%s, %s\n", json_string_value(json_object_get(host, "os")),
           json_is_true(json_object_get(host, "virtualised")) ? ", virtual machine" : "",
           json_string_value(json_object_get(host, "kernel")));
    printf("         counters: %s%s%s\n", json_string_value(json_object_get(host, "counters")),
           why ? "; " : "", why ? why : "");
    for (size_t i = 0; host_isa_level(i); i++) {
        char reason[HOST_REASON_BYTES];
        host_isa_why_not(host_isa_level(i), reason);
        printf("         %-14s %s\n", host_isa_level(i), *reason ? reason : "yes");
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

/* ---- roofline ---- */
static void print_ceilings(const ceilings *c) {
    printf("%s, %s\n", host_cpu_name(), c->isa);
    for (size_t i = 0; i < c->count; i++)
        printf("  %-24s %10.1f %s%s\n", c->items[i].resource, c->items[i].value, c->items[i].unit,
               c->items[i].profile ? "  (not strict)" : "");
}

int command_roofline(const options *o) {
    job_choice choice;
    status st = STATUS_INIT;
    if (o->arguments.count)
        return command_usage(o->command, "roofline takes no arguments");
    int code = choice_make(o, "strict", 60, &choice);
    if (code)
        return code;
    /* The one-thread roofs belong to the picture unless threads were chosen. */
    if (!options_flag(o, OPTION_THREADS) && choice.threads[0] != 1) {
        choice.threads[1] = choice.threads[0];
        choice.threads[0] = 1;
        choice.thread_count = 2;
    }
    ceilings *c = base_calloc(1, sizeof *c);
    ceilings_init(c, choice.isa);
    bool ok = true;
    for (uint32_t i = 0; i < choice.thread_count && ok; i++)
        ok = ceilings_measure(c, choice.threads[i], choice.quick, &st);
    if (!ok) {
        code = command_fail(&st);
    } else if (options_flag(o, OPTION_JSON)) {
        json_t *document = json_pack("{s:s, s:o, s:o}", "schema", "tsr.roofline/1", "host",
                                     host_facts(), "ceilings", document_ceilings(c));
        document_print(document, stdout);
        json_decref(document);
    } else {
        text plot;
        text_init(&plot);
        print_ceilings(c);
        plot_roofline(c, choice.threads[choice.thread_count - 1], &plot);
        fputs(plot.data, stdout);
        text_release(&plot);
    }
    free(c);
    return code;
}
