/* pack_ending.c - see pack_ending.h. */
#include "run/pack_ending.h"

#include <stdlib.h>
#include <string.h>

#include "common/build_id.h"
#include "common/own_symbol.h"
#include "run/environment.h"
#include "run/printed.h"

/* "0123456789ab+0x41b13": with the function's name, where it is this program's. */
static void put_frame(const own_symbols *symbols, const char *frame, text *out) {
    const char *plus = strchr(frame, '+');
    uint64_t within;
    bool own =
        symbols && plus && plus > frame && strncmp(frame, build_id(), (size_t)(plus - frame)) == 0;
    /* The address is behind the call, and may be past the function. */
    const char *name =
        own ? own_symbol_at(symbols, strtoull(plus + 1, NULL, 16) - 1, &within) : NULL;
    text_printf(out, "%s%s%s\n", frame, name ? " " : "", name ? name : "");
}

void pack_ending_frames(const json_t *frames, text *out) {
    size_t i;
    json_t *one;
    own_symbols *symbols = json_array_size(frames) ? own_symbols_open() : NULL;
    json_array_foreach((json_t *)(uintptr_t)frames, i, one)
        put_frame(symbols, json_string_value(one), out);
    own_symbols_close(symbols);
}

void pack_ending_printed(const char *printed, const char *why, text *out) {
    const char *others = strstr(why, "; it printed: ");
    if (printed)
        printed_lasting(printed, out);
    if (others)
        printed_lasting(others + 2, out);
}

void pack_ending_environment(text *out) {
    json_t *facts = environment_facts();
    char *dumped = json_dumps(facts, JSON_SORT_KEYS | JSON_INDENT(1));
    text_printf(out, "%s\n", dumped);
    free(dumped);
    json_decref(facts);
}

/* For a shell that stands beside the pack: it is given the pack's path, and options. */
void pack_ending_script(bool trusted, text *out) {
    text_printf(out,
                "#!/bin/sh\n# sh replay.sh PACK [OPTION...] - make the case of the pack that this "
                "is from happen again.\n"
                "[ -f \"$1\" ] || { echo 'usage: sh replay.sh PACK [OPTION...]' >&2; exit 2; }\n"
                "exec \"${TSR:-tsr}\" replay \"$@\"%s\n",
                trusted ? " --trust" : "");
}
