/* named.c - see named.h. */
#include "cli/named.h"

#include "base/text.h"
#include "cli/command.h"
#include "exec/backend_device.h"
#include "implementation/implementation.h"

int named_unknown(const options *o, const char *what, const char *word, const char *const *names,
                  size_t count) {
    const char *nearest = text_nearest(word, names, count);
    if (nearest)
        return command_usage(o->command, "unknown %s '%s'; did you mean %s?", what, word, nearest);
    text list;
    text_init(&list);
    for (size_t i = 0; i < count; i++)
        text_printf(&list, "%s%s", i ? ", " : "", names[i]);
    int code = command_usage(o->command, "unknown %s '%s'; there are %s", what, word, list.data);
    text_release(&list);
    return code;
}

/* A slip of the pen is a wrong command line; another name may be a backend, but none that is here.
 */
int named_no_backend(const options *o, const char *word) {
    const char *names[BACKEND_COUNT + 1] = {[BACKEND_COUNT] = "all"};
    status st = STATUS_INIT;
    text list;
    for (int i = 0; i < BACKEND_COUNT; i++)
        names[i] = backend_table[i].name;
    if (text_nearest(word, names, BACKEND_COUNT + 1))
        return named_unknown(o, "backend", word, names, BACKEND_COUNT + 1);
    text_init(&list);
    for (int i = 0; i < BACKEND_COUNT; i++)
        text_printf(&list, "%s%s", i ? ", " : "", names[i]);
    status_set(&st, STATUS_UNAVAILABLE, "no backend is called '%s' here; there are %s", word,
               list.data);
    text_release(&list);
    return command_fail(&st);
}

int named_backend(const options *o, const char *word, const char *device, backend_id *id,
                  const char **own) {
    uint32_t ignored;
    status st = STATUS_INIT;
    *id = backend_asked(word);
    if (*id == BACKEND_COUNT)
        return named_no_backend(o, word);
    if (*id == BACKEND_IMPLEMENTATION)
        return command_usage(o->command, "an implementation is given by --with FILE");
    if (backend_device_ask(&backend_table[*id], device, &ignored, own, &st))
        return EXIT_DONE;
    return st.code == STATUS_INVALID ? command_usage(o->command, "%s", st.message)
                                     : command_fail(&st);
}
