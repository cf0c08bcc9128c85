/* say.c - see say.h. */
#include "common/say.h"

#include <stdarg.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "tessera/diagnostics.h"

void say(FILE *out, const char *format, ...) {
    va_list args;
    text words;
    text_init(&words);
    va_start(args, format);
    text_vshow(&words, format, args);
    va_end(args);
    fwrite(words.data, 1, words.length, out);
    text_release(&words);
}

void say_explain(FILE *out, const char *shown) {
    static bool said;
    const compiler_diagnostic *d = said ? NULL : compiler_diagnostic_in(shown);
    if (d)
        say(out, "for more: tsr explain %s\n", d->id);
    said |= d != NULL;
}

void say_failure(FILE *out, const char *words) {
    text lines;
    text_init(&lines);
    text_append(&lines, "tsr: ");
    text_show_lines(&lines, "     ", words);
    text_append_char(&lines, '\n');
    fwrite(lines.data, 1, lines.length, out);
    text_release(&lines);
    say_explain(out, words);
}

static void say_screened(FILE *out, const char *bytes, size_t length) {
    text screened;
    text_init(&screened);
    text_screen(&screened, bytes, length);
    fwrite(screened.data, 1, screened.length, out);
    text_release(&screened);
}

void say_text(FILE *out, const char *composed) {
    say_screened(out, composed, strlen(composed));
}

void say_diagnostics(FILE *out, const char *composed) {
    say_text(out, composed);
    say_explain(out, composed);
}

void say_data(FILE *out, const void *data, size_t size_bytes) {
    if (isatty(fileno(out)) == 1)
        say_screened(out, data, size_bytes);
    else
        fwrite(data, 1, size_bytes, out);
}

void say_orders(FILE *out, const char *lines) {
    fputs(lines, out);
}

void say_json(FILE *out, const json_t *document, unsigned digits) {
    char *dumped = json_dumps(document, JSON_INDENT(2) | JSON_REAL_PRECISION(digits));
    text screened;
    text_init(&screened);
    if (dumped)
        text_screen_json(&screened, dumped, strlen(dumped));
    text_append_char(&screened, '\n');
    fwrite(screened.data, 1, screened.length, out);
    text_release(&screened);
    free(dumped);
}
