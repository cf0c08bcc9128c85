/* plugin_facts.c - tells as JSON what a plugin of PJRT says of itself and of its devices; or of
 * devices that are not here, and of a program that it compiles for them. */
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/arena.h"
#include "base/clock.h"
#include "base/file.h"
#include "guest/guest.h"
#include "pjrt/client.h"

#define PROGRAM_BYTES_MAX ((size_t)4 << 30)

static json_t *words_of(const char *bytes, size_t size) {
    json_t *words = json_stringn(bytes ? bytes : "", bytes ? size : 0);
    return words ? words : json_null();
}

static json_t *value_of(const PJRT_NamedValue *v) {
    switch (v->type) {
    case PJRT_NamedValue_kString:
        return words_of(v->string_value, v->value_size);
    case PJRT_NamedValue_kInt64:
        return json_integer(v->int64_value);
    case PJRT_NamedValue_kFloat:
        return json_real((double)v->float_value);
    case PJRT_NamedValue_kBool:
        return json_boolean(v->bool_value);
    case PJRT_NamedValue_kInt64List: {
        json_t *list = json_array();
        for (size_t i = 0; i < v->value_size; i++)
            json_array_append_new(list, json_integer(v->int64_array_value[i]));
        return list;
    }
    }
    return json_null();
}

static json_t *values_of(const PJRT_NamedValue *values, size_t count) {
    json_t *object = json_object();
    for (size_t i = 0; i < count; i++) {
        char *name = strndup(values[i].name, values[i].name_size);
        json_object_set_new(object, name ? name : "", value_of(&values[i]));
        free(name);
    }
    return object;
}

/* ---- devices ---- */

static json_t *description_facts(const pjrt_plugin *p, PJRT_DeviceDescription *d, status *st) {
    PJRT_DeviceDescription_Id_Args id = PJRT_ARGS(DeviceDescription_Id, .device_description = d);
    PJRT_DeviceDescription_Kind_Args kind =
        PJRT_ARGS(DeviceDescription_Kind, .device_description = d);
    PJRT_DeviceDescription_ToString_Args words =
        PJRT_ARGS(DeviceDescription_ToString, .device_description = d);
    if (!PJRT_CALL(p, DeviceDescription_Id, &id, st) ||
        !PJRT_CALL(p, DeviceDescription_Kind, &kind, st) ||
        !PJRT_CALL(p, DeviceDescription_ToString, &words, st))
        return NULL;
    return json_pack("{s:i, s:o, s:o}", "id", id.id, "kind",
                     words_of(kind.device_kind, kind.device_kind_size), "name",
                     words_of(words.to_string, words.to_string_size));
}

static json_t *memories_of(const pjrt_plugin *p, PJRT_Device *device) {
    status ignored = STATUS_INIT;
    json_t *list = json_array();
    PJRT_Device_AddressableMemories_Args all =
        PJRT_ARGS(Device_AddressableMemories, .device = device);
    if (!PJRT_CALL(p, Device_AddressableMemories, &all, &ignored))
        return list;
    for (size_t i = 0; i < all.num_memories; i++) {
        PJRT_Memory_Kind_Args kind = PJRT_ARGS(Memory_Kind, .memory = all.memories[i]);
        if (PJRT_CALL(p, Memory_Kind, &kind, &ignored))
            json_array_append_new(list, words_of(kind.kind, kind.kind_size));
    }
    return list;
}

static bool put_devices(const pjrt_plugin *p, json_t *facts, status *st) {
    PJRT_Client_PlatformName_Args name = PJRT_ARGS(Client_PlatformName, .client = p->client);
    PJRT_Client_PlatformVersion_Args version =
        PJRT_ARGS(Client_PlatformVersion, .client = p->client);
    PJRT_Client_AddressableDevices_Args all =
        PJRT_ARGS(Client_AddressableDevices, .client = p->client);
    json_t *list = json_array();
    json_object_set_new(facts, "devices", list);
    if (!PJRT_CALL(p, Client_PlatformName, &name, st) ||
        !PJRT_CALL(p, Client_PlatformVersion, &version, st) ||
        !PJRT_CALL(p, Client_AddressableDevices, &all, st))
        return false;
    json_object_set_new(facts, "platform", words_of(name.platform_name, name.platform_name_size));
    json_object_set_new(facts, "version",
                        words_of(version.platform_version, version.platform_version_size));
    for (size_t i = 0; i < all.num_addressable_devices; i++) {
        PJRT_Device_GetDescription_Args get =
            PJRT_ARGS(Device_GetDescription, .device = all.addressable_devices[i]);
        json_t *one = PJRT_CALL(p, Device_GetDescription, &get, st)
                          ? description_facts(p, get.device_description, st)
                          : NULL;
        if (!one)
            return false;
        json_object_set_new(one, "memories", memories_of(p, all.addressable_devices[i]));
        json_array_append_new(list, one);
    }
    return true;
}

/* ---- a program for devices that are not here ---- */

/* The text `"estimated_cycles":"N"` stands in the program that libtpu optimised, once for each of
 * its operations that takes time. */
static double count_cycles(const char *code, size_t size) {
    static const char key[] = "\"estimated_cycles\":\"";
    double sum = 0;
    for (const char *at = code; (at = memmem(at, size - (size_t)(at - code), key, sizeof key - 1));)
        sum += strtod(at += sizeof key - 1, NULL);
    return sum;
}

static void put_cycles(const pjrt_plugin *p, PJRT_Executable *e, json_t *facts) {
    status ignored = STATUS_INIT;
    PJRT_Program program = {.struct_size = sizeof program};
    PJRT_Executable_OptimizedProgram_Args get =
        PJRT_ARGS(Executable_OptimizedProgram, .executable = e, .program = &program);
    if (!PJRT_CALL(p, Executable_OptimizedProgram, &get, &ignored))
        return;
    program.code = base_malloc(program.code_size + 1);
    program.code[program.code_size] = '\0';
    if (PJRT_CALL(p, Executable_OptimizedProgram, &get, &ignored)) {
        const double cycles = count_cycles(program.code, program.code_size);
        json_object_set_new(facts, "estimated_cycles",
                            cycles > 0 ? json_real(cycles) : json_null());
    }
    free(program.code);
}

static void put_memory(const pjrt_plugin *p, PJRT_Executable *e, json_t *facts) {
    status ignored = STATUS_INIT;
    PJRT_Executable_GetCompiledMemoryStats_Args m =
        PJRT_ARGS(Executable_GetCompiledMemoryStats, .executable = e);
    if (PJRT_CALL(p, Executable_GetCompiledMemoryStats, &m, &ignored))
        json_object_set_new(facts, "memory",
                            json_pack("{s:I, s:I, s:I, s:I}", "code_bytes",
                                      (json_int_t)m.generated_code_size_in_bytes, "argument_bytes",
                                      (json_int_t)m.argument_size_in_bytes, "output_bytes",
                                      (json_int_t)m.output_size_in_bytes, "temporary_bytes",
                                      (json_int_t)m.temp_size_in_bytes));
}

static void put_cost(const pjrt_plugin *p, PJRT_Executable *e, json_t *facts) {
    status ignored = STATUS_INIT;
    PJRT_Executable_GetCostAnalysis_Args cost =
        PJRT_ARGS(Executable_GetCostAnalysis, .executable = e);
    if (PJRT_CALL(p, Executable_GetCostAnalysis, &cost, &ignored))
        json_object_set_new(facts, "cost", values_of(cost.properties, cost.num_properties));
}

static bool put_program(const pjrt_plugin *p, const PJRT_TopologyDescription *topology,
                        const char *path, json_t *facts, status *st) {
    char *program;
    size_t size;
    PJRT_Executable *e;
    if (!file_read(path, PROGRAM_BYTES_MAX, &program, &size, st))
        return false;
    const uint64_t begin = clock_now_ns();
    const bool ok = pjrt_compile_for(p, topology, program, size, &e, st);
    free(program);
    if (!ok)
        return false;
    json_object_set_new(facts, "compile_ns", json_integer((json_int_t)(clock_now_ns() - begin)));
    put_memory(p, e, facts);
    put_cost(p, e, facts);
    put_cycles(p, e, facts);
    return true;
}

static bool put_topology(const pjrt_plugin *p, const char *name, const char *program, json_t *facts,
                         status *st) {
    PJRT_TopologyDescription_Create_Args make = PJRT_ARGS(
        TopologyDescription_Create, .topology_name = name, .topology_name_size = strlen(name));
    if (!PJRT_CALL(p, TopologyDescription_Create, &make, st))
        return false;
    PJRT_TopologyDescription_GetDeviceDescriptions_Args all =
        PJRT_ARGS(TopologyDescription_GetDeviceDescriptions, .topology = make.topology);
    json_t *list = json_array();
    json_object_set_new(facts, "devices", list);
    if (!PJRT_CALL(p, TopologyDescription_GetDeviceDescriptions, &all, st))
        return false;
    for (size_t i = 0; i < all.num_descriptions; i++) {
        json_t *one = description_facts(p, all.descriptions[i], st);
        if (!one)
            return false;
        json_array_append_new(list, one);
    }
    return !program || put_program(p, make.topology, program, facts, st);
}

/* ---- all of it ---- */

static void put_plugin(const pjrt_plugin *p, json_t *facts) {
    status ignored = STATUS_INIT;
    PJRT_Plugin_Attributes_Args own = {.struct_size = sizeof own};
    const PJRT_Api_Version *v = &p->api->pjrt_api_version;
    json_object_set_new(facts, "interface",
                        json_sprintf("%d.%d", v->major_version, v->minor_version));
    if (PJRT_CALL(p, Plugin_Attributes, &own, &ignored))
        json_object_set_new(facts, "attributes", values_of(own.attributes, own.num_attributes));
}

/* The plugin's own output goes where its messages go, so that this one's is JSON alone. It ends
 * nothing: its threads may not be made to. */
_Noreturn void guest_tell_plugin(const char *path, const char *topology, const char *program) {
    pjrt_plugin p;
    status st = STATUS_INIT;
    json_t *facts = json_object();
    enum { SECONDS_MAX = 600 };
    const int out = dup(STDOUT_FILENO);
    (void)alarm(SECONDS_MAX); /* ends one that waits for a device for ever */
    (void)dup2(STDERR_FILENO, STDOUT_FILENO);
    bool ok = pjrt_open(&p, path, &st);
    if (ok)
        put_plugin(&p, facts);
    if (ok && topology)
        ok = put_topology(&p, topology, program, facts, &st);
    else if (ok)
        ok = pjrt_start(&p, &st) && put_devices(&p, facts, &st);
    json_object_set_new(facts, "why", ok ? json_null() : words_of(st.message, strlen(st.message)));
    json_object_set_new(facts, "code", json_integer((json_int_t)st.code));
    char *words = json_dumps(facts, JSON_COMPACT);
    ok = words && file_append(out, words, strlen(words));
    _exit(ok ? 0 : 1);
}
