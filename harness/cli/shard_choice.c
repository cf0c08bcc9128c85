/* shard_choice.c - see shard_choice.h. */
#include "cli/shard_choice.h"

#include <string.h>

#include "cli/choice.h"
#include "cli/command.h"
#include "common/say.h"

int shard_choice_name(const options *o, shard_name *out) {
    const char *words = options_text(o, OPTION_SHARD, NULL);
    status st = STATUS_INIT;
    *out = (shard_name){.index = 1, .of = 1};
    return !words || shard_read(words, out, &st) ? EXIT_DONE
                                                 : command_usage(o->command, "%s", st.message);
}

/* Goldens are the interpreter's, whatever else the environment names. */
static bool is_record(const options *o) {
    return o->command == COMMAND_GOLDEN && o->arguments.count &&
           strcmp(o->arguments.items[0], "record") == 0;
}

/* Backends by their names, so that no machine decides: not those of "all". */
static void name_costs(const options *o, shard_request *request) {
    const char *words = choice_backend_names(o);
    string_list names = {0};
    arena memory;
    arena_init(&memory);
    if (is_record(o))
        vec_push(&names, "interp");
    else if (words && option_applies(OPTION_BACKEND, o->command))
        options_split(words, &memory, &names);
    for (size_t i = 0; i < names.count; i++) {
        backend_id id = backend_asked(names.items[i]);
        if (id < BACKEND_COUNT)
            request->backends[id] = true;
    }
    vec_release(&names);
    arena_release(&memory);
}

/* Commands that check and fuzz kernels draw cases of their own. */
static shard_unit unit_of(command_id command) {
    return command == COMMAND_CHECK || command == COMMAND_FUZZ ? SHARD_KERNELS : SHARD_CASES;
}

int shard_choice_take(const options *o, corpus *c) {
    shard_request request = {.unit = unit_of(o->command)};
    if (!option_applies(OPTION_SHARD, o->command) || !options_flag(o, OPTION_SHARD))
        return EXIT_DONE;
    int code = shard_choice_name(o, &request.name);
    if (code)
        return code;
    name_costs(o, &request);
    shard_take(c, &request);
    if (c->cases.count == 0)
        say(stderr, "tsr: shard %u of %u has none of the %zu cases\n", request.name.index,
            request.name.of, c->elsewhere.count);
    return EXIT_DONE;
}
