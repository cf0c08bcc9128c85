/* plugin_facts.c - asks a plugin of PJRT what it is, in a process of its own: it may end that. */
#include <stdlib.h>
#include <string.h>

#include "device/foreign/foreign.h"
#include "implementation/implementation.h"
#include "process/program.h"

/* Words of the plugin for a failure: the last line of what it printed. */
static const char *last_line(text *printed) {
    while (printed->length && strchr("\n ", printed->data[printed->length - 1]))
        printed->data[--printed->length] = '\0';
    const char *line = strrchr(printed->data, '\n');
    return line ? line + 1 : printed->data;
}

static json_t *read_answer(const char *path, const text *told, text *printed, status *st) {
    json_t *facts = json_loads(told->data, 0, NULL);
    const char *why = json_string_value(json_object_get(facts, "why"));
    const json_int_t code = json_integer_value(json_object_get(facts, "code"));
    if (!facts)
        status_set(st, STATUS_UNAVAILABLE, "the plugin %s ended its process: %.300s", path,
                   last_line(printed));
    else if (why)
        status_set(st, code > 0 && code < STATUS_CODE_COUNT ? (status_code)code : STATUS_INVALID,
                   "%s", why);
    return facts;
}

json_t *implementation_plugin_facts(const char *path, const char *topology, const char *code,
                                    json_t **partly_out, status *st) {
    char guest[PATH_MAX];
    if (!foreign_guest_program(guest, st))
        return NULL;
    const char *const words[] = {guest, GUEST_PLUGIN, path, topology, code, NULL};
    text told, printed;
    json_t *facts = NULL;
    int ended = 0;
    text_init(&told);
    text_init(&printed);
    const struct program asked = {.arguments = words, .output = &told, .errors = &printed};
    if (program_run(&asked, &ended, st))
        facts = read_answer(path, &told, &printed, st);
    else
        status_context(st, "the plugin %s; it printed: %.300s", path, last_line(&printed));
    text_release(&told);
    text_release(&printed);
    if (st->code == STATUS_OK)
        return facts;
    if (partly_out)
        *partly_out = facts;
    else
        json_decref(facts);
    return NULL;
}
