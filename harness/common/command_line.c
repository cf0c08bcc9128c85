/* command_line.c - see command_line.h. */
#include "common/command_line.h"

#include <string.h>

void command_line_word(text *out, const char *word) {
    if (*word && !word[strcspn(word, " \t\n\"'$`\\*?[]{}()&;|<>#~!")]) {
        text_append(out, word);
        return;
    }
    text_append_quoted(out, word);
}

const char *command_line_quoted(text *room, const char *word) {
    text_clear(room);
    command_line_word(room, word);
    return room->data;
}

const char *command_line_replay(text *room, const char *pack, bool trusted) {
    text_clear(room);
    text_append(room, "tsr replay ");
    command_line_word(room, pack);
    text_append(room, trusted ? " --trust" : "");
    return room->data;
}
