/* execute_ahead.c - a plugin of PJRT compiles for devices that are not here: what it says of the
 * code is the result, since nothing runs it. */
#include "exec/execution.h"
#include "implementation/implementation.h"
#include "job/result.h"

static json_t *facts_of(const json_t *told, const char *topology) {
    static const char *const kept[] = {"memory", "cost", "estimated_cycles"};
    const json_t *devices = json_object_get(told, "devices");
    json_t *ahead = json_pack("{s:s, s:O, s:I}", "topology", topology, "device",
                              json_object_get(json_array_get(devices, 0), "kind"), "devices",
                              (json_int_t)json_array_size(devices));
    for (size_t i = 0; i < sizeof kept / sizeof *kept; i++) {
        json_t *value = json_object_get(told, kept[i]);
        if (value && !json_is_null(value))
            json_object_set(ahead, kept[i], value);
    }
    return ahead;
}

/* In a few words, since no table has a column for it. */
static bool tell(const json_t *ahead, double seconds, status *st) {
    const json_t *code = json_object_get(json_object_get(ahead, "memory"), "code_bytes"),
                 *cycles = json_object_get(ahead, "estimated_cycles");
    text words;
    text_init(&words);
    text_printf(&words, "compiled for %s (%s) in %.2f s",
                json_string_value(json_object_get(ahead, "topology")),
                json_string_value(json_object_get(ahead, "device")), seconds);
    if (code)
        text_printf(&words, ": %" JSON_INTEGER_FORMAT " bytes of code", json_integer_value(code));
    if (cycles)
        text_printf(&words, "%s%.0f cycles by the plugin's estimate", code ? ", " : ": ",
                    json_number_value(cycles));
    status_set(st, STATUS_UNAVAILABLE, "%s; not run: no such device is here", words.data);
    text_release(&words);
    return false;
}

bool execution_compile_ahead(execution *e, const implementation_request *request, status *st) {
    text program;
    text_init(&program);
    json_t *told = NULL;
    if (implementation_plugin_program(request, e->context->instance, &program, st))
        told = implementation_plugin_facts(request->path, request->symbol, program.data, NULL, st);
    text_release(&program);
    if (!told) {
        if (st->code == STATUS_INVALID) /* the kernel is right, and not for this plugin */
            st->code = STATUS_UNAVAILABLE;
        return false;
    }
    const json_int_t ns = json_integer_value(json_object_get(told, "compile_ns"));
    json_t *ahead = facts_of(told, request->symbol);
    json_decref(told);
    result_put_COMPILE(e->result, (int64_t)ns);
    bool run = tell(ahead, (double)ns * 1e-9, st);
    result_put_AHEAD(e->result, ahead);
    return run;
}
